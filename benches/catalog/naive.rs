//! The reference: plain columns, scanned row by row, and a sort of all matching rows.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use catalog::aggregate::GroupBy;
use catalog::{Catalog, Filter, Order, Query};
use data::vocabulary::Vocabulary;
use data::{Direction, Facet, PartialDate, Snapshot, Table};

/// The values of a facet for each row, one list after the other.
struct Values {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Values {
    fn of(snapshot: &Snapshot, table: Table, facet: Facet) -> Self {
        let rows = snapshot.rows(table) as usize;
        let mut starts = vec![0_u32; rows + 1];
        let values = snapshot.facet_values(table, facet);
        for value in 0..values {
            snapshot.facet_rows(table, facet, value).iter().for_each(|row| starts[row as usize + 1] += 1);
        }
        for row in 0..rows {
            starts[row + 1] += starts[row];
        }
        let mut next = starts.clone();
        let mut all = vec![0; starts[rows] as usize];
        for value in 0..values {
            for row in snapshot.facet_rows(table, facet, value).iter() {
                all[next[row as usize] as usize] = value;
                next[row as usize] += 1;
            }
        }
        Self { starts, values: all }
    }

    fn row(&self, row: u32) -> &[u32] {
        &self.values[self.starts[row as usize] as usize..self.starts[row as usize + 1] as usize]
    }
}

/// A table as plain columns.
pub struct Naive<'c> {
    snapshot: &'c Snapshot,
    table: Table,
    facets: HashMap<&'static str, Values>,
}

impl<'c> Naive<'c> {
    pub fn of(catalog: &'c Catalog, table: Table) -> Self {
        let snapshot = catalog.snapshot();
        let facets = table.facets().iter().map(|facet| (facet.name(), Values::of(snapshot, table, *facet)));
        Self { snapshot, table, facets: facets.collect() }
    }

    /// All rows of a query, in order.
    pub fn list(&self, query: &Query) -> Vec<u32> {
        let mut rows: Vec<u32> = (0..self.snapshot.rows(self.table)).filter(|row| self.passes(*row, query)).collect();
        if let Order::Keys(keys) = &query.order {
            let slugs = self.snapshot.slug_ranks(self.table);
            let keys: Vec<(&[u32], Direction)> =
                keys.iter().map(|(key, direction)| (self.snapshot.ranks(self.table, *key), *direction)).collect();
            rows.sort_unstable_by(|a, b| {
                let (a, b) = (*a as usize, *b as usize);
                let by_keys = keys.iter().map(|(ranks, direction)| compare(ranks[a], ranks[b], *direction));
                by_keys.fold(Ordering::Equal, Ordering::then).then(slugs[a].cmp(&slugs[b]))
            });
        }
        rows
    }

    /// The number of `rows` with each value; years, quarters and numbers ascend.
    pub fn counts(&self, rows: &[u32], by: GroupBy) -> Vec<u64> {
        let key = match by {
            GroupBy::Facet(facet) => {
                let mut counts = vec![0; self.snapshot.facet_values(self.table, facet) as usize];
                let values = rows.iter().flat_map(|row| self.facets[facet.name()].row(*row));
                values.for_each(|value| counts[*value as usize] += 1);
                return counts;
            }
            GroupBy::Year(key) | GroupBy::Quarter(key) | GroupBy::Number(key) => key,
        };
        let (values, ranks) = (self.snapshot.values(self.table, key), self.snapshot.ranks(self.table, key));
        let mut counts = BTreeMap::new();
        for value in rows.iter().filter_map(|row| values.get(ranks[*row as usize] as usize)) {
            let date = PartialDate::from_code(*value as i32);
            let group = match by {
                GroupBy::Year(_) => Some(i64::from(date.year())),
                GroupBy::Quarter(_) => date.quarter().map(|quarter| i64::from(date.year()) * 4 + i64::from(quarter)),
                _ => Some(*value),
            };
            group.into_iter().for_each(|group| *counts.entry(group).or_insert(0) += 1);
        }
        counts.into_values().collect()
    }

    fn passes(&self, row: u32, query: &Query) -> bool {
        let at = row as usize;
        query.filters.iter().all(|filter| match filter {
            Filter::AnyOf(facet, wanted) => {
                self.facets[facet.name()].row(row).iter().any(|value| wanted.contains(value))
            }
            Filter::CheckRange { min: low, max: high } => {
                let (min, max) = self.snapshot.check_sizes();
                let (min, max) = (known(min[at]), known(max[at]));
                (min.is_some() || max.is_some()) && min.unwrap_or(0) <= *high && *low <= max.unwrap_or(u64::MAX)
            }
            Filter::Range { key, min, max } => {
                let number = |days: i32| Some(i64::from(days)).filter(|_| days != i32::MIN);
                let value = match self.table.sort_keys()[*key] {
                    "health_score" => Some(self.snapshot.health_scores()[at]).filter(|n| *n <= 100).map(i64::from),
                    "ghosting_rate" => Some(self.snapshot.ghosting_rates()[at]).filter(|n| *n <= 1_000).map(i64::from),
                    "last_investment_on" => number(self.snapshot.last_investments()[at]),
                    "announced_on" => number(self.snapshot.round_dates()[at]),
                    "amount_usd" => known(self.snapshot.round_amounts()[at]).map(|usd| usd as i64),
                    key => unreachable!("`{key}` is not among the queries of this bench"),
                };
                value.is_some_and(|value| (*min..=*max).contains(&value))
            }
            _ => unreachable!("not among the queries of this bench"),
        })
    }
}

fn known(usd: u64) -> Option<u64> {
    (usd != u64::MAX).then_some(usd)
}

fn compare(a: u32, b: u32, direction: Direction) -> Ordering {
    match (a == u32::MAX, b == u32::MAX) {
        (false, false) if direction == Direction::Descending => b.cmp(&a),
        (false, false) => a.cmp(&b),
        (a, b) => a.cmp(&b),
    }
}
