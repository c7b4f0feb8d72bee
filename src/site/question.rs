//! A search text that is no name, as a question: each word that was read is a chip that can be removed.

use crate::browse::parse;
use crate::conditions::label_of;
use crate::error_page::PageError;
use crate::format;
use crate::link::Link;
use catalog::ask::GROUP_BY;
use catalog::{
    AggregateOptions, Catalog, Interpretation, ListPosition, Query, Reading, Request, Resource, SearchReading,
};
use data::Table;
use data::fold::fold;

/// Values of a property that rows are counted by.
const MAX_GROUPS: usize = 12;
/// Values that a chip lists.
const MAX_LABELS: usize = 3;

pub(crate) struct Question {
    /// Whether the text was read so; else it only may mean this.
    pub is_read: bool,
    /// What was read: the words, their meaning and the list without them.
    pub chips: Vec<Chip>,
    pub unread: Vec<String>,
    /// Sectors that these may mean: the word, and of each sector its name with the number of startups, and the list with it as
    /// a condition.
    pub suggested: Vec<(String, Vec<(String, String)>)>,
    /// The list.
    pub href: String,
    /// Its rows in words: `12 startups`.
    pub counted: String,
    pub total: u64,
    /// Its first rows.
    pub rows: Vec<u32>,
    pub table: Table,
    /// What its rows are counted by.
    pub groups: Vec<Counts>,
}

/// How many rows have each value of a property.
pub(crate) struct Counts {
    /// In words: `country`.
    pub by: String,
    /// The first values: their name, the number of rows, and the list of these.
    pub values: Vec<(String, String, String)>,
    /// The number of further values.
    pub others: u64,
}

pub(crate) struct Chip {
    pub words: String,
    /// Empty if the words say it.
    pub meaning: String,
    pub without: String,
}

impl Question {
    pub(crate) fn noun(&self) -> &'static str {
        self.table.noun()
    }

    /// What was understood of a text, next to the conditions of a list, and the first `rows` records. `None` if nothing was, or if
    /// these conditions make no list.
    pub(crate) fn read(
        catalog: &Catalog,
        resource: Resource,
        search: &SearchReading,
        list: &Link,
        rows: usize,
    ) -> Result<Option<Self>, PageError> {
        let Some(interpretation) = &search.question else { return Ok(None) };
        let group_by = interpretation.groups();
        let Interpretation { parts, unread } = interpretation;
        let (path, one, many) = list_of(resource.table());
        // A page of a list has its own number of rows.
        let of_list = |left_out: Option<usize>| {
            let parts = parts.iter().enumerate().filter(|(index, part)| {
                Some(*index) != left_out && !matches!(part.parameter.as_str(), "limit" | GROUP_BY)
            });
            parts.fold(list.clone(), |link, (_, part)| {
                let values: Vec<&str> = link.values(&part.parameter).chain(part.value.split(',')).collect();
                let joined = values.join(",");
                link.with(&part.parameter, &joined)
            })
        };
        let link = of_list(None);
        let (parsed, ..) = parse(catalog, resource, path, &link.query())?;
        let Request::List(query) = parsed.request else { return Ok(None) };
        let page = catalog.list(&query, ListPosition::default(), rows);
        let snapshot = catalog.snapshot();
        let mut suggested: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for found in catalog.associations(resource, unread) {
            let Some(row) = snapshot.find(Table::Sectors, &found.sector) else { continue };
            // The list has this condition already.
            if link.values("sector").any(|known| known == found.sector) {
                continue;
            }
            let counted = format!("{} ({} of {})", snapshot.name(Table::Sectors, row), found.count, found.of);
            let sector = (counted, link.toggled("sector", &found.sector).href());
            match suggested.last_mut() {
                Some((word, sectors)) if *word == found.text => sectors.push(sector),
                _ => suggested.push((found.text, vec![sector])),
            }
        }
        let groups = group_by.map(|names| counts(catalog, resource, &query, names, &link)).unwrap_or_default();
        let chips = parts.iter().enumerate().map(|(index, part)| {
            let labels: Vec<String> =
                part.value.split(',').take(MAX_LABELS).map(|value| meaning(catalog, &part.parameter, value)).collect();
            let meaning =
                Some(labels.join(", ")).filter(|meaning| fold(meaning) != fold(&part.text)).unwrap_or_default();
            Chip { words: part.text.clone(), meaning, without: of_list(Some(index)).href() }
        });
        Ok(Some(Self {
            is_read: search.reading == Reading::Question,
            chips: chips.collect(),
            unread: unread.clone(),
            suggested,
            href: link.href(),
            counted: format::counted(page.total, one, many),
            total: page.total,
            rows: page.rows,
            table: resource.table(),
            groups,
        }))
    }
}

/// The counts of a query's rows by some properties, as in `group_by`.
fn counts(catalog: &Catalog, resource: Resource, query: &Query, names: &str, link: &Link) -> Vec<Counts> {
    let options = [(GROUP_BY.to_owned(), names.to_owned()), ("limit".to_owned(), MAX_GROUPS.to_string())];
    let Ok(options) = AggregateOptions::parse(resource, &options) else { return Vec::new() };
    let (found, _) = catalog.aggregate(query, &options);
    let counts = found.groups.iter().map(|group| Counts {
        by: group.by.replace('_', " "),
        values: group
            .values
            .iter()
            .map(|value| {
                let href = with_value(link, resource, group.by, &value.value).href();
                (value.name.clone(), format::number(value.count), href)
            })
            .collect(),
        others: group.other_values,
    });
    counts.collect()
}

/// A list with a value of a property that its rows are counted by as a further condition.
fn with_value(link: &Link, resource: Resource, by: &str, value: &str) -> Link {
    let all = format!("{by}_all");
    match by {
        "founded_year" => link.with("founded_from", value).with("founded_to", value),
        "year" | "quarter" => link.with("since", value).with("until", value),
        _ if link.text(by).is_empty() || resource.parameter(&all).is_none() => link.with(by, value),
        _ => link.toggled(&all, value),
    }
}

/// The path of a table's list, and what one and several of its records are called.
pub(crate) fn list_of(table: Table) -> (&'static str, &'static str, &'static str) {
    match table {
        Table::Firms => ("/vcs", "firm", "firms"),
        Table::Rounds => ("/rounds", "round", "rounds"),
        Table::People => ("/people", "person", "people"),
        _ => ("/startups", "startup", "startups"),
    }
}

/// What a value means, in words.
fn meaning(catalog: &Catalog, parameter: &str, value: &str) -> String {
    match parameter {
        "sort" => "order".to_owned(),
        GROUP_BY => "counts".to_owned(),
        "limit" => format!("first {value}"),
        "sector_all" => label_of(catalog, "sector", value),
        _ => match parameter.strip_prefix("not_") {
            Some(parameter) => format!("not {}", label_of(catalog, parameter, value)),
            None => label_of(catalog, parameter, value),
        },
    }
}
