//! A search that is no name, read as a question: each word that was read is a chip that can be removed.

use crate::catalog::{Catalog, Interpretation, ListPosition, Request, Resource};
use crate::data::Table;
use crate::data::fold::fold;
use crate::site::browse::parse;
use crate::site::conditions::label_of;
use crate::site::error_page::PageError;
use crate::site::format;
use crate::site::link::Link;

/// Values that a chip lists.
const MAX_LABELS: usize = 3;

pub(crate) struct Question {
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

    /// `None` if nothing but a name was read.
    pub(crate) fn read(
        catalog: &Catalog,
        resource: Resource,
        text: &str,
        rows: usize,
    ) -> Result<Option<Self>, PageError> {
        let interpretation = catalog.interpret(resource, text);
        if interpretation.filters() == 0 {
            return Ok(None);
        }
        let Interpretation { parts, unread } = interpretation;
        let (path, one, many) = list_of(resource.table());
        // A page of a list has its own number of rows.
        let of_list = |left_out: Option<usize>| {
            let parts =
                parts.iter().enumerate().filter(|(index, part)| Some(*index) != left_out && part.parameter != "limit");
            parts.fold(Link::new(path, Vec::new()), |link, (_, part)| {
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
        for found in catalog.associations(resource, &unread) {
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
        let chips = parts.iter().enumerate().map(|(index, part)| {
            let labels: Vec<String> =
                part.value.split(',').take(MAX_LABELS).map(|value| meaning(catalog, &part.parameter, value)).collect();
            let meaning =
                Some(labels.join(", ")).filter(|meaning| fold(meaning) != fold(&part.text)).unwrap_or_default();
            Chip { words: part.text.clone(), meaning, without: of_list(Some(index)).href() }
        });
        Ok(Some(Self {
            chips: chips.collect(),
            unread,
            suggested,
            href: link.href(),
            counted: format::counted(page.total, one, many),
            total: page.total,
            rows: page.rows,
            table: resource.table(),
        }))
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
        "limit" => format!("first {value}"),
        "sector_all" => label_of(catalog, "sector", value),
        _ => match parameter.strip_prefix("not_") {
            Some(parameter) => format!("not {}", label_of(catalog, parameter, value)),
            None => label_of(catalog, parameter, value),
        },
    }
}
