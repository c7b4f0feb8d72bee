//! A search text that is not a name, read as a question: each interpreted word is a removable chip.

use crate::PageResult;
use crate::browse::PageQuery;
use crate::conditions::label_of;
use crate::lists::{list_path, nouns};
use catalog::aggregate::GroupOrder;
use catalog::ask::GROUP_BY;
use catalog::{
    Catalog, Interpretation, ListParts, ListPosition, ReadingKind, Request, Resource, SearchReading, WantedPage,
};
use data::Table;
use data::fold::fold;
use view::format;
use view::link::Link;

const MAX_GROUPS: usize = 12;
const MAX_LABELS: usize = 3;

pub(crate) struct SearchQuestion {
    /// True if the text was taken as this question; false if it is only one possible meaning.
    pub is_read: bool,
    pub chips: Vec<Chip>,
    pub unread: Vec<String>,
    /// Sectors that a word may mean: each with its number of startups, and the path of the list with that condition.
    pub suggested: Vec<(String, Vec<(String, String)>)>,
    pub href: String,
    /// Number of rows in words: `12 startups`.
    pub counted: String,
    /// The sum of rounds with known amounts, and what it leaves out.
    pub sum: Option<String>,
    pub total: u64,
    pub rows: Vec<u32>,
    pub table: Table,
    pub groups: Vec<PropertyCounts>,
}

pub(crate) struct PropertyCounts {
    /// The property in words: `country`.
    pub by: String,
    /// The first values: name, number of rows, and path of their list.
    pub values: Vec<(String, String, String)>,
    pub others: u64,
}

pub(crate) struct Chip {
    pub words: String,
    /// Empty if it equals the words.
    pub meaning: String,
    pub without: String,
}

impl SearchQuestion {
    /// Loads the first `rows` records. `None` if nothing was interpreted, or if the conditions do not form a list.
    pub(crate) fn from_search(
        catalog: &Catalog,
        resource: Resource,
        search: &SearchReading,
        list: &Link,
        rows: usize,
    ) -> PageResult<Option<Self>> {
        let Some(interpretation) = &search.question else { return Ok(None) };
        let Interpretation { parts, unread, .. } = interpretation;
        let (path, (one, many)) = (list_path(resource.table()), nouns(resource.table()));
        // A list page has its own page size, so `limit` is dropped.
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
        let request = PageQuery::parse(catalog, resource, path, &link.query())?.parsed.request;
        let Request::List(query) = &request else { return Ok(None) };
        let group_by = interpretation.group_options(resource, MAX_GROUPS);
        let groups = group_by.as_ref().map(|options| (query, options));
        let wanted = ListParts { groups, amounts: resource == Resource::Rounds, ..ListParts::default() };
        let rows = WantedPage::rows(resource, &request, ListPosition::default(), rows);
        let page = catalog.answer(&WantedPage { parts: wanted, ..rows });
        let snapshot = catalog.snapshot();
        let mut suggested: Vec<(String, Vec<(String, String)>)> = Vec::new();
        for found in catalog.associations(resource, unread) {
            let Some(row) = snapshot.find(Table::Sectors, &found.sector) else { continue };
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
        let groups = page.groups.iter().flat_map(|found| &found.groups);
        let groups = groups.map(|group| {
            let values = group.values.iter().map(|value| {
                let href = with_value(&link, resource, group.by, &value.value).href();
                let sum = value.amounts.as_ref().and_then(|amounts| amounts.sum_usd.as_ref());
                let sum = sum.filter(|_| interpretation.group_order == Some(GroupOrder::SumUsd));
                (value.name.clone(), sum.map_or_else(|| format::number(value.count), format::usd), href)
            });
            let order = if interpretation.group_order.is_some() { ", the largest sums first" } else { "" };
            PropertyCounts {
                by: format!("{}{order}", group.by.replace('_', " ")),
                values: values.collect(),
                others: group.other_values,
            }
        });
        let chips = parts.iter().enumerate().map(|(index, part)| {
            let labels: Vec<String> =
                part.value.split(',').take(MAX_LABELS).map(|value| meaning(catalog, &part.parameter, value)).collect();
            let meaning =
                Some(labels.join(", ")).filter(|meaning| fold(meaning) != fold(&part.text)).unwrap_or_default();
            Chip { words: part.text.clone(), meaning, without: of_list(Some(index)).href() }
        });
        let sum = page.amounts.and_then(|amounts| {
            let (known, of) = (format::number(amounts.known), format::number(page.total));
            Some(format!("{} together, from the {known} of {of} with a known amount", format::usd(&amounts.sum_usd?)))
        });
        Ok(Some(Self {
            is_read: search.reading == ReadingKind::Question,
            chips: chips.collect(),
            unread: unread.clone(),
            suggested,
            href: link.href(),
            counted: format::counted(page.total, one, many),
            sum,
            total: page.total,
            rows: page.rows.to_vec(),
            table: resource.table(),
            groups: groups.collect(),
        }))
    }
}

/// The list with one value of a counted property as a further condition.
fn with_value(link: &Link, resource: Resource, by: &str, value: &str) -> Link {
    let all = format!("{by}_all");
    match by {
        "founded_year" => link.with("founded_from", value).with("founded_to", value),
        "year" | "quarter" => link.with("since", value).with("until", value),
        _ if link.text(by).is_empty() || resource.parameter(&all).is_none() => link.with(by, value),
        _ => link.toggled(&all, value),
    }
}

fn meaning(catalog: &Catalog, parameter: &str, value: &str) -> String {
    match parameter {
        "sort" => "order".to_owned(),
        GROUP_BY => "counts".to_owned(),
        "limit" => format!("first {value}"),
        _ => label_of(catalog, parameter, value),
    }
}
