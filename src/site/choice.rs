//! Select fields of a form: the values of a condition to choose from.

use crate::browse::problem_of;
use crate::filters::value_of;
use catalog::{Catalog, ParameterError, Query};
use data::vocabulary::Vocabulary;
use data::{Facet, FirmKind, Stage, Table};
use view::link::Link;

/// Number of offered sectors; those with the most firms are kept.
const MAX_SECTORS: u32 = 150;

pub(crate) struct Choice {
    pub name: &'static str,
    pub label: &'static str,
    pub any: &'static str,
    /// Value, label; true for the selected option.
    pub options: Vec<(String, String, bool)>,
    pub error: Option<String>,
}

/// The choices for the given names (`stage`, `sector`, `country`, `kind`), with the values of `link` selected.
pub(crate) fn choices(catalog: &Catalog, link: &Link, names: &[&str], problems: &[ParameterError]) -> Vec<Choice> {
    let words = |facet: Facet, count: usize| -> Vec<(String, String)> {
        (0..count as u32).filter_map(|value| value_of(catalog, Table::Firms, facet, value)).collect()
    };
    let choice = |(name, label, any): (&'static str, &'static str, &'static str)| {
        let values = match name {
            "stage" => words(Facet::Stage, Stage::ALL.len()),
            "sector" => by_name(catalog, Facet::Sector, 0..catalog.snapshot().rows(Table::Sectors).min(MAX_SECTORS)),
            "country" => {
                let counts = catalog.counts_by(&Query::all(Table::Firms), &[Facet::Country]);
                by_name(catalog, Facet::Country, counts.iter().flatten().map(|counted| counted.value))
            }
            _ => words(Facet::Kind, FirmKind::ALL.len()),
        };
        let text = link.text(name).to_owned();
        let option = |(value, label): (String, String)| {
            let is_selected = value == text;
            (value, label, is_selected)
        };
        let mut options: Vec<(String, String, bool)> = values.into_iter().map(option).collect();
        if !text.is_empty() && !options.iter().any(|(.., is_selected)| *is_selected) {
            options.push((text.clone(), text, true));
        }
        Choice { name, label, any, options, error: problem_of(problems, name) }
    };
    let all = [
        ("stage", "Stage", "Any stage"),
        ("sector", "Sector", "Any sector"),
        ("country", "Country", "Any country"),
        ("kind", "Kind", "Any kind"),
    ];
    all.into_iter().filter(|(name, ..)| names.contains(name)).map(choice).collect()
}

fn by_name(catalog: &Catalog, facet: Facet, values: impl Iterator<Item = u32>) -> Vec<(String, String)> {
    let mut named: Vec<(String, String)> =
        values.filter_map(|value| value_of(catalog, Table::Firms, facet, value)).collect();
    named.sort_by(|a, b| a.1.cmp(&b.1));
    named
}
