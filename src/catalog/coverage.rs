//! Coverage of the records of a request. A condition or order by a field that is unknown for more than one in five of the
//! records that the other conditions leave adds a note, as those may match, too. Groups count unknown values themselves:
//! they add one if the field is unknown for most. Coverage by year is that of [`data::coverage`].

use std::collections::BTreeMap;

use serde::Serialize;

use crate::aggregate::GroupBy;
use crate::{Catalog, Filter, ListPosition, ParameterError, Property, Query, RowFilter};
use data::coverage::{Markets, RoundCoverage, RoundField, market_names};
use data::field::{JsonType, model};
use data::number::{counted, grouped};
use data::vocabulary::Vocabulary;
use data::{Country, Direction, Facet, NONE_U32, PartialDate, Snapshot, Table};
use platform::pause;

/// A note counts unknown values if more than one in this many is.
pub(crate) const MIN_NOTED: u64 = 5;
/// Maximum number of existing values listed if no record has a requested one.
const MAX_LISTED: usize = 6;

/// From which share of unknown values on a note counts them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotedShare {
    /// More than one in five: they may change a count, an empty answer or the first of an order.
    Some,
    Most,
}

type KnownCounts = BTreeMap<&'static str, u32>;

model! {
    /// For each field that may be unknown, how many records have a value.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Coverage {
        /// Firms with a value, by field.
        pub firms: KnownCounts,
        /// Startups with a value, by field.
        pub startups: KnownCounts,
        /// Funding rounds with a value, by field.
        pub funding_rounds: KnownCounts,
        /// People with a value, by field.
        pub people: KnownCounts,
    }
}

impl Coverage {
    pub(crate) fn from_snapshot(snapshot: &Snapshot) -> Self {
        let known = |table: Table| -> KnownCounts {
            let fields = table.fields().iter().enumerate();
            let optional = fields.filter(|(_, field)| field.is_nullable || matches!(field.json, JsonType::List(_)));
            optional.map(|(index, field)| (field.name, snapshot.known_values(table, index))).collect()
        };
        let tables = [Table::Firms, Table::Startups, Table::Rounds, Table::People];
        let [firms, startups, funding_rounds, people] = tables.map(known);
        Self { firms, startups, funding_rounds, people }
    }
}

/// The countries of startups by which filters choose startups or rounds.
pub fn markets_of(table: Table, filters: &[Filter]) -> Markets {
    let countries = |values: &[u32]| values.iter().filter_map(|value| Country::at(*value as usize)).collect();
    let market = |filter: &Filter| match filter {
        Filter::AnyOf(Facet::Country, values) => Some(Markets::Only(countries(values))),
        Filter::Not(excluded) => match &**excluded {
            Filter::AnyOf(Facet::Country, values) => Some(Markets::Except(countries(values))),
            _ => None,
        },
        _ => None,
    };
    let has_markets = matches!(table, Table::Rounds | Table::Startups);
    filters.iter().filter(|_| has_markets).find_map(market).unwrap_or_default()
}

/// The property that a condition reads.
pub(crate) fn property_of(filter: &Filter) -> Option<Property> {
    match filter {
        Filter::AnyOf(facet, _) => Some(Property::Facet(*facet)),
        Filter::Range { key, .. } => Some(Property::Key(*key)),
        Filter::Not(excluded) => property_of(excluded),
        _ => None,
    }
}

/// True if a property of rounds is one of their investors.
fn is_of_investors(table: Table, property: Property) -> bool {
    table == Table::Rounds && matches!(property, Property::Facet(Facet::Investor | Facet::Lead | Facet::Kind))
}

/// The field of rounds whose coverage decides what a query finds: that of investors, if it reads them.
pub fn field_of(table: Table, filters: &[Filter]) -> Option<RoundField> {
    let reads_investors = |filter: &Filter| property_of(filter).is_some_and(|of| is_of_investors(table, of));
    (table == Table::Firms || filters.iter().any(reads_investors)).then_some(RoundField::Investors)
}

impl Catalog {
    /// The coverage of rounds by year and country.
    pub fn round_coverage(&self) -> &RoundCoverage {
        let compute = || pause::without(|| RoundCoverage::from_snapshot(self.snapshot()));
        self.cached.round_coverage.get_or_init(compute)
    }

    /// A sentence if a filter reads a field that is unknown for some of the records that the other conditions leave, which
    /// may match, too; or if it excludes some of an unknown value.
    pub(crate) fn low_coverage(
        &self,
        table: Table,
        parameter: &str,
        filter: &Filter,
        others: &[Filter],
    ) -> Option<String> {
        let is_exclusion = matches!(filter, Filter::Not(_));
        // Known for all records: a sector without a parent is a top-level one.
        let property = property_of(filter).filter(|property| *property != Property::Facet(Facet::Parent));
        let known = match (property, filter) {
            // What is known of investments is known of rounds, see `Catalog::investors_of_period`.
            (Some(Property::Key(key)), _) if table == Table::Firms && is_last_investment(key) => return None,
            (Some(property), _) => Filter::Known(property),
            // A firm with either bound has a check range, which is not a field of its own.
            (None, Filter::CheckRange { .. }) => Filter::CheckRange { min: 0, max: u64::MAX },
            (None, _) => return None,
        };
        let is_required = |other: &Filter| !matches!(other, Filter::Not(_)) && property_of(other) == property;
        // Without a value a record does not meet a condition on the same field either.
        if is_exclusion && others.iter().any(is_required) {
            return None;
        }
        let found = self.count_known(table, property, known, others);
        let unknown = found.total - found.known;
        if is_exclusion && unknown > 0 && unknown < found.known {
            let records = counted(unknown, table.noun(), table.plural());
            let name = property.map_or("", |property| property.name(table));
            return Some(format!("`{parameter}` also leaves out {records} of unknown `{name}`"));
        }
        found.note(self, table, property, NotedShare::Some)
    }

    /// The same for a filter on rounds of startups, among filters of startups.
    pub(crate) fn low_coverage_of_rounds(
        &self,
        parameter: &str,
        filters: &[Filter],
        others: &[Filter],
    ) -> Option<String> {
        let filter = filters.first()?;
        // The places and sectors of startups are those of their rounds.
        let of_rounds = |other: &Filter| match other {
            Filter::HasRound(filters) => filters.clone(),
            Filter::AnyOf(Facet::Country | Facet::City | Facet::Sector, _) => vec![other.clone()],
            _ => Vec::new(),
        };
        let others: Vec<Filter> = others.iter().flat_map(of_rounds).collect();
        self.low_coverage(Table::Rounds, parameter, filter, &others)
    }

    /// A sentence if a field is unknown for such a share of the records that match filters.
    pub(crate) fn low_coverage_of(
        &self,
        table: Table,
        property: Property,
        others: &[Filter],
        share: NotedShare,
    ) -> Option<String> {
        self.count_known(table, Some(property), Filter::Known(property), others).note(
            self,
            table,
            Some(property),
            share,
        )
    }

    /// A sentence if investors are unknown for some rounds of startups that a request names, and it has no condition on
    /// investors: it is made to see them.
    pub(crate) fn investors_of_startups(&self, filters: &[Filter]) -> Option<String> {
        let is_named = |filter: &Filter| matches!(filter, Filter::AnyOf(Facet::Startup, _));
        if !filters.iter().any(is_named) || field_of(Table::Rounds, filters).is_some() {
            return None;
        }
        let investor = Property::Facet(Facet::Investor);
        let counted = self.count_known(Table::Rounds, Some(investor), Filter::Known(investor), filters);
        (counted.known < counted.total).then(|| {
            let (known, total) = (grouped(counted.known), grouped(counted.total));
            let rounds = if counted.total == 1 { "round" } else { "rounds" };
            format!("investors are known for {known} of the {total} {rounds}")
        })
    }

    /// Counts the records that other conditions leave, and those of them with a known value of a property.
    fn count_known(&self, table: Table, property: Option<Property>, known: Filter, others: &[Filter]) -> KnownOfRows {
        let of_investors = |of: Property| is_of_investors(table, of);
        let is_activity = |filter: &Filter| match filter {
            Filter::Range { key, .. } => table == Table::Firms && is_last_investment(*key),
            _ => false,
        };
        // Both bounds together mean a round between them.
        let is_joined = others.iter().filter(|filter| is_activity(filter)).count() > 1;
        let is_other = |other: &&Filter| match (property_of(other), property) {
            // Neither computed for each request nor a condition of the same field.
            _ if matches!(other, Filter::Ranked(_) | Filter::HasRound(_)) => false,
            _ if is_joined && is_activity(other) => false,
            (Some(other), Some(own)) => other != own && !(of_investors(other) && of_investors(own)),
            _ => true,
        };
        let base: Vec<Filter> = others.iter().filter(is_other).cloned().collect();
        let of_filters = |filters: &[Filter]| self.count(table, filters, &RowFilter::new(self, table, filters));
        let total = if base.is_empty() { self.rows_with_values(table).into() } else { of_filters(&base) };
        let known = of_filters(&base.iter().cloned().chain([known]).collect::<Vec<_>>());
        KnownOfRows { known: known.min(total), total, base }
    }

    /// A sentence if investors are unknown for most rounds of a period: then few firms, or none, say little.
    pub(crate) fn investors_of_period(&self, min: i64, max: i64) -> Option<String> {
        let period = Filter::Range { key: Table::Rounds.sort_key("announced_on"), min, max };
        let investor = Property::Facet(Facet::Investor);
        let counted = self.count_known(Table::Rounds, Some(investor), Filter::Known(investor), &[period]);
        let (known, total) = (grouped(counted.known), grouped(counted.total));
        let newest = || self.newest_with_investors(investor, &counted.base);
        counted
            .is_worth(NotedShare::Most)
            .then(|| format!("investors are known for {known} of the {total} rounds of this period{}", newest()))
    }

    /// A clause on the newest round with investors among those that match filters but for their period, if newer rounds
    /// have none, or only those of some countries.
    fn newest_with_investors(&self, property: Property, filters: &[Filter]) -> String {
        let date = Table::Rounds.sort_key("announced_on");
        let of_any_date = filters.iter().filter(|filter| property_of(filter) != Some(Property::Key(date)));
        let base: Vec<Filter> = of_any_date.cloned().collect();
        let newest = |more: &[Filter]| {
            let filters = [base.as_slice(), more].concat();
            let round =
                *self.list(&Query { filters, ..Query::all(Table::Rounds) }, ListPosition::default(), 1).rows.first()?;
            self.snapshot().round_date(round)
        };
        let what = noun_of(property);
        let known = Filter::Known(property);
        let Some(newest_known) = newest(std::slice::from_ref(&known)) else { return String::new() };
        let (coverage, markets) = (self.round_coverage(), markets_of(Table::Rounds, filters));
        if let Some(only) = coverage.only(&markets, newest_known.year()) {
            let countries: Vec<u32> = only.iter().flatten().map(|country| country.index() as u32).collect();
            let elsewhere = Filter::Not(Box::new(Filter::AnyOf(Facet::Country, countries)));
            let names = market_names(&only.iter().copied().collect::<Vec<_>>());
            return match newest(&[known, elsewhere]) {
                Some(newest) => format!("; the newest with known {what} outside {names} is of {newest}"),
                None => format!("; all with known {what} are of {names}"),
            };
        }
        match newest(&[]) {
            Some(newest) if newest.year() > newest_known.year() => {
                format!("; the newest with known {what} is of {newest_known}")
            }
            _ => String::new(),
        }
    }

    /// For each property of `group_by`, a warning if it is unknown for most of the matching records.
    pub fn group_coverage(&self, query: &Query, group_by: &[(&str, GroupBy)]) -> Vec<ParameterError> {
        let note = |(_, by): &(&str, GroupBy)| match *by {
            GroupBy::Facet(facet) if query.text.is_none() => {
                self.low_coverage_of(query.table, Property::Facet(facet), &query.filters, NotedShare::Most)
            }
            _ => None,
        };
        let notes = group_by.iter().filter_map(note);
        let notes = notes.map(|detail| ParameterError::warning("low_coverage", "group_by", detail));
        let is_of_kind = |filter: &Filter| property_of(filter) == Some(Property::Facet(Facet::Kind));
        let is_of_investors = |(_, by): &(&str, GroupBy)| matches!(by, GroupBy::Facet(Facet::Investor | Facet::Lead));
        let has_others = query.table == Table::Rounds
            && group_by.iter().any(is_of_investors)
            && query.filters.iter().any(is_of_kind);
        let others = has_others.then(|| {
            let detail = "`kind` chooses rounds with at least one such investor; the groups are all investors of these rounds, \
                          of any kind";
            ParameterError::warning("value_interpreted", "group_by", detail)
        });
        notes.chain(others).collect()
    }

    /// A sentence on the end of known investors, if rounds follow it: until when a last investment can be known.
    pub fn investors_until(&self) -> Option<String> {
        let horizon = self.round_coverage().investors_until(&Markets::All)?;
        Some(format!("investors are known for rounds up to {}{}", horizon.until, horizon.later()))
    }

    /// Until when the last investment of a firm, or the last round of a startup, can be known.
    pub fn coverage_until(&self, table: Table, row: u32) -> Option<PartialDate> {
        let coverage = self.round_coverage();
        match table {
            Table::Firms => *self
                .cached
                .investors_until
                .get_or_init(|| coverage.known_until(Some(RoundField::Investors), &Markets::All)),
            _ => {
                let countries = self.snapshot().row_values(table, Facet::Country);
                let country = countries.of(row).first().and_then(|country| Country::at(*country as usize));
                coverage.rounds_until(country)
            }
        }
    }

    /// Number of records that may have values: all but unapproved reviews.
    fn rows_with_values(&self, table: Table) -> u32 {
        match table {
            Table::Reviews => self.totals().reviews,
            table => self.snapshot().rows(table),
        }
    }

    /// Number of records that have a property: the total of a list that requires it by `known`.
    pub fn known_rows(&self, table: Table, property: Property) -> u32 {
        let snapshot = self.snapshot();
        match property {
            Property::Facet(facet) => snapshot.known_count(table, facet),
            Property::Key(key) => {
                let (order, ranks) = (snapshot.order(table, key, Direction::Ascending), snapshot.ranks(table, key));
                order.partition_point(|row| ranks[*row as usize] != NONE_U32) as u32
            }
        }
    }

    /// A sentence with the values that records have for a facet, if none has any of `values`.
    pub(crate) fn absent_values(&self, table: Table, facet: Facet, values: &[u32]) -> Option<String> {
        let snapshot = self.snapshot();
        let count = |value: u32| snapshot.facet_count(table, facet, value);
        if values.is_empty() || values.iter().any(|value| count(*value) > 0) {
            return None;
        }
        let counted = (0..snapshot.facet_values(table, facet)).map(|value| (count(value), value));
        let mut known: Vec<(u32, u32)> = counted.filter(|(records, _)| *records > 0).collect();
        known.sort_unstable_by(|left, right| right.cmp(left));
        let first = known.iter().take(MAX_LISTED);
        let listed = first.map(|(records, value)| (self.facet_label(table, facet, *value).0, grouped(*records)));
        let listed = listed.map(|(value, records)| format!("`{value}` ({records})")).collect::<Vec<_>>().join(", ");
        let name = facet.name();
        match known.is_empty() {
            true => self.low_coverage_of(table, Property::Facet(facet), &[], NotedShare::Most),
            false => Some(format!("no record of this data has such a `{name}`; the most frequent are {listed}")),
        }
    }
}

pub(crate) fn is_last_investment(key: usize) -> bool {
    key == Table::Firms.sort_key("last_investment_on")
}

/// What a property of a round's investors is called.
fn noun_of(property: Property) -> &'static str {
    if property == Property::Facet(Facet::Lead) { "leads" } else { "investors" }
}

/// How many records of a request have a known value, and the conditions that leave them.
struct KnownOfRows {
    known: u64,
    total: u64,
    base: Vec<Filter>,
}

impl KnownOfRows {
    /// True if the value is unknown for such a share of the records.
    fn is_worth(&self, share: NotedShare) -> bool {
        let one_in = match share {
            NotedShare::Some => MIN_NOTED,
            NotedShare::Most => 2,
        };
        (self.total - self.known) * one_in > self.total
    }

    fn note(&self, catalog: &Catalog, table: Table, property: Option<Property>, share: NotedShare) -> Option<String> {
        if !self.is_worth(share) {
            return None;
        }
        let subject = match property {
            Some(property) => format!("`{}` is", property.name(table)),
            None => "check sizes are".to_owned(),
        };
        let these = if self.total < u64::from(catalog.rows_with_values(table)) { "these " } else { "" };
        let of_investors = property.filter(|property| is_of_investors(table, *property));
        let newest = of_investors
            .filter(|_| self.is_worth(NotedShare::Most))
            .map_or_else(String::new, |of| catalog.newest_with_investors(of, &self.base));
        let (known, total) = (grouped(self.known), grouped(self.total));
        Some(match of_investors.filter(|_| !these.is_empty()) {
            Some(property) => format!("{} are known for {known} of these {total} rounds{newest}", noun_of(property)),
            None => format!("{subject} known for {known} of {these}{total} {}{newest}", table.plural()),
        })
    }
}
