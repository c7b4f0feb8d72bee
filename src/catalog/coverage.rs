//! How much of the data is known: values by field, rounds by year.
//!
//! Counts of known values are made when a snapshot is compiled. A filter on a field that is unknown for most records says
//! so, because few matches then mean little.

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

use crate::catalog::{Catalog, Filter, RowFilter};
use crate::data::field::{JsonType, model};
use crate::data::vocabulary::Vocabulary;
use crate::data::{Date, Direction, Facet, NONE_I32, NONE_U32, Snapshot, Table};

/// A year is covered if it has at least this part of the rounds of the year with most.
const MIN_SHARE_OF_PEAK: u32 = 20;

/// Numbers of records by name of the field that they have a value of.
type Known = BTreeMap<&'static str, u32>;

model! {
    /// For each field that may be unknown, how many records have a value.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Coverage {
        /// Firms with a value, by field.
        pub firms: Known,
        /// Startups with a value, by field.
        pub startups: Known,
        /// Funding rounds with a value, by field.
        pub funding_rounds: Known,
        /// People with a value, by field.
        pub people: Known,
    }
}

impl Coverage {
    pub(crate) fn of(snapshot: &Snapshot) -> Self {
        let known = |table: Table| -> Known {
            let fields = table.fields().iter().enumerate();
            let optional = fields.filter(|(_, field)| field.is_nullable || matches!(field.json, JsonType::List(_)));
            optional.map(|(index, field)| (field.name, snapshot.known_values(table, index))).collect()
        };
        Self {
            firms: known(Table::Firms),
            startups: known(Table::Startups),
            funding_rounds: known(Table::Rounds),
            people: known(Table::People),
        }
    }
}

impl Catalog {
    /// What a filter cannot see, as a sentence: its field is unknown for more than half of the records. `parameter` is the
    /// one that made the filter.
    pub(crate) fn low_coverage(&self, table: Table, parameter: &str, filter: &Filter) -> Option<String> {
        let snapshot = self.snapshot();
        let (name, known) = match filter {
            Filter::Not(excluded) => return self.low_coverage(table, parameter, excluded),
            // These are known of all records: a sector without a parent is a top-level one.
            Filter::AnyOf(Facet::Parent, _) | Filter::MemberOf { .. } | Filter::Rows(_) => return None,
            Filter::Known(_) | Filter::Unknown(_) => return None,
            Filter::AnyOf(facet, _) => (facet.name(), snapshot.known_count(table, *facet)),
            Filter::Range { key, .. } => {
                let (order, ranks) = (snapshot.order(table, *key, Direction::Ascending), snapshot.ranks(table, *key));
                let known = order.partition_point(|row| ranks[*row as usize] != NONE_U32);
                (table.sort_keys()[*key], known as u32)
            }
            // A firm with either bound has a check range.
            Filter::CheckRange { .. } => {
                let filters = [Filter::CheckRange { min: 0, max: u64::MAX }];
                (parameter, self.count(table, &filters, &RowFilter::of(snapshot, table, &filters)) as u32)
            }
        };
        let total = snapshot.rows(table);
        let is_low = u64::from(known) * 2 < u64::from(total);
        is_low.then(|| format!("`{name}` is known for {} of {} {}", grouped(known), grouped(total), plural(table)))
    }

    /// Whether the data has enough rounds of a year to compare it with others: at least 5 % of the year with most.
    pub fn covers(&self, year: i32) -> bool {
        let years = self.rounds_by_year.get_or_init(|| {
            let mut years: BTreeMap<i32, u32> = BTreeMap::new();
            for day in self.snapshot().round_dates().iter().filter(|day| **day != NONE_I32) {
                *years.entry(Date::from_days(*day).year()).or_default() += 1;
            }
            years
        });
        let peak = years.values().copied().max().unwrap_or(0);
        years.get(&year).is_some_and(|rounds| rounds.saturating_mul(MIN_SHARE_OF_PEAK) >= peak)
    }
}

fn plural(table: Table) -> &'static str {
    match table {
        Table::Firms => "firms",
        Table::Startups => "startups",
        Table::Rounds => "funding rounds",
        Table::People => "people",
        Table::Reviews => "reviews",
        Table::Sectors => "sectors",
    }
}

/// An integer with separators between thousands: `12,345`.
pub(crate) fn grouped(number: impl Display) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
