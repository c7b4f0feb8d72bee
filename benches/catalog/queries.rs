//! Random queries in every combination of filters and orders.

use catalog::{Catalog, Filter, Order, Query};
use data::{Direction, Facet, Table};

/// A stream of random numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn chance(&mut self, one_in: u64) -> bool {
        self.below(one_in) == 0
    }
}

/// A generator of queries over a catalog.
pub struct Queries<'c> {
    catalog: &'c Catalog,
    pub random: Random,
}

impl<'c> Queries<'c> {
    pub fn over(catalog: &'c Catalog, seed: u64) -> Self {
        Self { catalog, random: Random(seed) }
    }

    /// A query on `table` with up to three filters, sorted by `keys` keys; 0: in the default order.
    pub fn query(&mut self, table: Table, keys: usize) -> Query {
        let mut filters = Vec::new();
        for _ in 0..self.random.below(4) {
            let filter = self.filter(table);
            let same_kind = |known: &Filter| match (known, &filter) {
                (Filter::AnyOf(known, _), Filter::AnyOf(facet, _)) => known == facet,
                (known, filter) => std::mem::discriminant(known) == std::mem::discriminant(filter),
            };
            if !filters.iter().any(same_kind) {
                filters.push(filter);
            }
        }
        Query { table, text: None, filters, order: self.order(table, keys) }
    }

    fn order(&mut self, table: Table, keys: usize) -> Order {
        let mut left: Vec<usize> = (0..table.sort_keys().len()).collect();
        let mut order = Vec::new();
        while order.len() < keys && !left.is_empty() {
            let key = left.swap_remove(self.random.below(left.len() as u64) as usize);
            order.push((key, if self.random.chance(2) { Direction::Ascending } else { Direction::Descending }));
        }
        if order.is_empty() { Order::Natural } else { Order::Keys(order) }
    }

    fn filter(&mut self, table: Table) -> Filter {
        let kinds = table.facets().len() as u64;
        let range = |key: &str, min: i64, max: i64| Filter::Range { key: table.sort_key(key), min, max };
        match (table, self.random.below(kinds + 4)) {
            (_, kind) if kind < kinds => self.facet(table, table.facets()[kind as usize]),
            (Table::Rounds, kind) if kind < kinds + 2 => range("announced_on", self.day(), i64::MAX),
            (Table::Rounds, kind) if kind < kinds + 3 => range("announced_on", i64::MIN, self.day()),
            (Table::Rounds, _) => range("amount_usd", 10_i64.pow(5 + self.random.below(4) as u32), i64::MAX),
            (Table::Firms, kind) if kind == kinds => range("health_score", self.random.below(100) as i64, i64::MAX),
            (Table::Firms, kind) if kind == kinds + 1 => {
                range("ghosting_rate", i64::MIN, self.random.below(1000) as i64)
            }
            (Table::Firms, kind) if kind == kinds + 2 => {
                let usd = 10_u64.pow(4 + self.random.below(4) as u32);
                Filter::CheckRange { min: usd, max: usd }
            }
            (Table::Firms, _) => range("last_investment_on", self.day(), i64::MAX),
            _ => self.facet(table, Facet::Country),
        }
    }

    /// A day of the twelve years before the release.
    fn day(&mut self) -> i64 {
        i64::from(self.catalog.snapshot().released_on().days()) - self.random.below(4_400) as i64
    }

    /// One to three occurring values of a facet: half of the time the most frequent, else any.
    fn facet(&mut self, table: Table, facet: Facet) -> Filter {
        let snapshot = self.catalog.snapshot();
        let values = u64::from(snapshot.facet_values(table, facet).max(1));
        let mut wanted = Vec::new();
        let many = if self.random.chance(3) { 1 + self.random.below(3) } else { 1 };
        for _ in 0..many {
            // The best of many draws is a frequent one.
            let draws = if self.random.chance(2) { 16 } else { 2 };
            let drawn = (0..draws).map(|_| self.random.below(values) as u32);
            wanted.extend(drawn.max_by_key(|value| snapshot.facet_count(table, facet, *value)));
        }
        wanted.sort_unstable();
        wanted.dedup();
        Filter::AnyOf(facet, wanted)
    }
}
