//! Similar firms as short cards: what tells them apart, since all of them have sectors and stages in common with the firm.

use std::collections::BTreeSet;

use crate::PageResult;
use crate::records::{SimilarRecords, record};
use catalog::{Catalog, Filter, ListPosition, Query};
use data::model::Firm;
use data::{Facet, Table};
use view::format;
use view::stage_strip::StageStrip;

/// Shared startups that an example is chosen from.
const MAX_EXAMPLES: usize = 8;

pub(super) struct SimilarFirm {
    pub(super) slug: String,
    pub(super) name: String,
    pub(super) strip: StageStrip,
    /// Number of startups in both portfolios, and the name of one that no card before names; empty without such a startup.
    pub(super) shared: u64,
    pub(super) example: String,
    /// Place, portfolio and check size, as far as known, in words.
    pub(super) facts: Vec<String>,
}

impl SimilarFirm {
    /// The cards of the firms that are similar to the one of `row`.
    pub(super) fn all(catalog: &Catalog, row: u32, firm: &Firm, similar: &SimilarRecords) -> PageResult<Vec<Self>> {
        let mut named = BTreeSet::new();
        let card = |(other, _): &(u32, String)| Self::new(catalog, (row, firm), *other, &mut named);
        similar.rows.iter().map(card).collect()
    }

    fn new(catalog: &Catalog, (row, firm): (u32, &Firm), other: u32, named: &mut BTreeSet<u32>) -> PageResult<Self> {
        let filters = [row, other].map(|firm| Filter::AnyOf(Facet::Investor, vec![firm])).into();
        let query = Query { filters, ..Query::all(Table::Startups) };
        let shared = catalog.list(&query, ListPosition::default(), MAX_EXAMPLES);
        let example = shared.rows.iter().find(|startup| named.insert(**startup));
        let example = example.map_or("", |startup| catalog.snapshot().name(Table::Startups, *startup));
        let other: Firm = record(catalog, Table::Firms, other)?;
        Ok(Self {
            strip: StageStrip::of(&other.stages),
            shared: shared.total,
            example: example.to_owned(),
            facts: facts(firm, &other),
            slug: other.slug,
            name: other.name,
        })
    }
}

fn facts(firm: &Firm, other: &Firm) -> Vec<String> {
    let place = match format::place(&other.city, &other.country) {
        place if place.is_empty() => None,
        _ if other.city.is_some() && other.city == firm.city => {
            other.city.as_ref().map(|city| format!("also in {city}"))
        }
        place => Some(place),
    };
    let check = |firm: &Firm| format::usd_range(&firm.check_min_usd, &firm.check_max_usd);
    let check = match check(other) {
        size if size.is_empty() => None,
        size if size == check(firm) => Some("same check size".to_owned()),
        size => Some(format!("checks {size}")),
    };
    let portfolio = (other.portfolio_count > 0)
        .then(|| format!("{} in all", format::counted(other.portfolio_count, "startup", "startups")));
    place.into_iter().chain(check.or(portfolio)).collect()
}
