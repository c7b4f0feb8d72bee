//! Known values by field. A filter on a field unknown for most records adds a note, as few matches then mean little.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::aggregate::GroupBy;
use crate::{Catalog, Filter, ListPosition, Order, ParameterError, Property, Query, RowFilter};
use data::field::{JsonType, model};
use data::number::grouped;
use data::vocabulary::Vocabulary;
use data::{Direction, Facet, NONE_U32, Snapshot, Table};

/// An exclusion notes that it leaves out records with an unknown value if they are at least one in this many records.
const MIN_SHARE_LEFT_OUT: u32 = 20;
/// Maximum number of existing values listed if no record has a requested one.
const MAX_LISTED: usize = 6;

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

impl Catalog {
    /// A sentence if a filter cannot match most records, because its field is unknown, or excludes many unknown ones.
    pub(crate) fn low_coverage(&self, table: Table, parameter: &str, filter: &Filter) -> Option<String> {
        let (is_exclusion, filter) = match filter {
            Filter::Not(excluded) => (true, &**excluded),
            filter => (false, filter),
        };
        let snapshot = self.snapshot();
        let (name, known) = match filter {
            // Known for all records: a sector without a parent is a top-level one.
            Filter::AnyOf(Facet::Parent, _) => return None,
            Filter::AnyOf(facet, _) => (facet.name(), snapshot.known_count(table, *facet)),
            Filter::Range { key, .. } => return self.low_coverage_of_key(table, *key),
            // A firm with either bound has a check range, which is not a field of its own.
            Filter::CheckRange { .. } => {
                let filters = [Filter::CheckRange { min: 0, max: u64::MAX }];
                let known = self.count(table, &filters, &RowFilter::new(self, table, &filters)) as u32;
                return known_for("check sizes are", known, snapshot.rows(table), table);
            }
            _ => return None,
        };
        let total = self.rows_with_values(table);
        let unknown = total.saturating_sub(known);
        if is_exclusion && unknown < known && unknown >= total.div_ceil(MIN_SHARE_LEFT_OUT) {
            let records = table.plural();
            return Some(format!("`{parameter}` also leaves out {} {records} of unknown `{name}`", grouped(unknown)));
        }
        known_for(&format!("`{name}` is"), known, total, table)
    }

    /// A warning if the records of a query are chosen or grouped by investors, and these are unknown for most rounds of its
    /// period: then few records, or none, say little.
    pub fn investor_coverage(&self, query: &Query, group_by: &[(&str, GroupBy)]) -> Option<ParameterError> {
        let is_facet = |facet: &Facet| matches!(facet, Facet::Investor | Facet::Lead);
        let is_of_investors = |filter: &Filter| match filter {
            Filter::Not(excluded) => matches!(&**excluded, Filter::AnyOf(facet, _) if is_facet(facet)),
            filter => matches!(filter, Filter::AnyOf(facet, _) if is_facet(facet)),
        };
        let is_grouped = group_by.iter().any(|(_, by)| matches!(by, GroupBy::Facet(facet) if is_facet(facet)));
        let (date, last) = (Table::Rounds.sort_key("announced_on"), Table::Firms.sort_key("last_investment_on"));
        let of_period = |filter: &Filter| match *filter {
            Filter::Range { key, min, max } if key == last => Some(Filter::Range { key: date, min, max }),
            Filter::JoinedRound { min, max } => Some(Filter::Range { key: date, min, max }),
            _ => None,
        };
        let filters = &query.filters;
        let (parameter, rounds): (_, Vec<Filter>) = match query.table {
            Table::Rounds if is_grouped => ("group_by", filters.clone()),
            Table::Rounds if filters.iter().any(is_of_investors) => {
                ("investor", filters.iter().filter(|filter| !is_of_investors(filter)).cloned().collect())
            }
            Table::Firms => ("active_since", filters.iter().filter_map(of_period).collect()),
            _ => return None,
        };
        let is_period = |filter: &Filter| matches!(filter, Filter::Range { key, .. } if *key == date);
        if !rounds.iter().any(is_period) {
            return None;
        }
        let with_investors = |filters: Vec<Filter>| {
            let known = Filter::Known(Property::Facet(Facet::Investor));
            Query { filters: filters.into_iter().chain([known]).collect(), ..Query::all(Table::Rounds) }
        };
        let count = |query: &Query| self.list(query, ListPosition::default(), 0).total;
        let total = count(&Query { filters: rounds.clone(), ..Query::all(Table::Rounds) });
        let known = count(&with_investors(rounds.clone()));
        // Of all rounds, the note on the parameter says it.
        if known * 2 >= total || total == u64::from(self.snapshot().rows(Table::Rounds)) {
            return None;
        }
        // Without the period.
        let others = with_investors(rounds.into_iter().filter(|filter| !is_period(filter)).collect());
        let newest = Query { order: Order::Keys(vec![(date, Direction::Descending)]), ..others };
        let newest = self.list(&newest, ListPosition::default(), 1).rows.first().copied();
        let newest = newest.and_then(|round| self.snapshot().round_date(round));
        let newest = newest.map(|date| format!("; the newest with investors is of {date}")).unwrap_or_default();
        let (known, total) = (grouped(known), grouped(total));
        let detail = match query.table {
            Table::Firms => format!("investors are known for {known} of the {total} rounds of this period{newest}"),
            _ => format!("investors are known for {known} of these {total} rounds{newest}"),
        };
        Some(ParameterError::warning("low_coverage", parameter, detail))
    }

    pub(crate) fn low_coverage_of_key(&self, table: Table, key: usize) -> Option<String> {
        let known = self.known_rows(table, Property::Key(key));
        known_for(&format!("`{}` is", table.sort_keys()[key]), known, self.rows_with_values(table), table)
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
            true => known_for(&format!("`{name}` is"), 0, self.rows_with_values(table), table),
            false => Some(format!("no record of this data has such a `{name}`; the most frequent are {listed}")),
        }
    }
}

/// A sentence that a field is known for few records; `None` if it is known for at least half of them.
fn known_for(subject: &str, known: u32, total: u32, table: Table) -> Option<String> {
    let is_low = u64::from(known) * 2 < u64::from(total);
    is_low.then(|| format!("{subject} known for {} of {} {}", grouped(known), grouped(total), table.plural()))
}
