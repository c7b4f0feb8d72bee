//! The keys of an order: they compare rows, and find rows that share a value.

use std::cmp::Ordering;
use std::ops::Range;

use data::{Direction, NONE_U32, Snapshot, Table};

pub(crate) struct OrderKey<'a> {
    pub(crate) order: &'a [u32],
    pub(crate) ranks: &'a [u32],
    direction: Direction,
}

impl<'a> OrderKey<'a> {
    /// Rank of a row's value in this direction; rows without a value come last in both directions.
    fn directed_rank(&self, row: u32) -> u32 {
        self.directed(self.ranks[row as usize])
    }

    fn directed(&self, rank: u32) -> u32 {
        match (rank, self.direction) {
            (NONE_U32, _) => NONE_U32,
            (rank, Direction::Ascending) => rank,
            (rank, Direction::Descending) => NONE_U32 - 1 - rank,
        }
    }

    /// Index in the order of the first row with the value of `row`.
    pub(crate) fn group_start(&self, row: u32) -> usize {
        self.start_of(self.directed_rank(row))
    }

    /// Index in the order of the first row with a rank within or after a range.
    pub(crate) fn start_of_range(&self, range: &Range<u32>) -> usize {
        let first = match self.direction {
            Direction::Ascending => range.start,
            Direction::Descending => range.end.saturating_sub(1),
        };
        self.start_of(self.directed(first))
    }

    fn start_of(&self, directed_rank: u32) -> usize {
        self.order.partition_point(|row| self.directed_rank(*row) < directed_rank)
    }

    /// Index after the last row with the value of `row`; `from` is the index of one of these rows.
    pub(crate) fn group_end(&self, row: u32, from: usize) -> usize {
        let rank = self.directed_rank(row);
        let within = |index: usize| self.order.get(index).is_some_and(|other| self.directed_rank(*other) <= rank);
        let mut step = 1;
        while within(from + step) {
            step *= 2;
        }
        let (start, end) = (from + step / 2, (from + step).min(self.order.len()));
        start + self.order[start..end].partition_point(|other| self.directed_rank(*other) <= rank)
    }
}

/// Keys of an order; ties are ordered by slug.
pub(crate) struct OrderKeys<'a> {
    pub(crate) keys: Vec<OrderKey<'a>>,
    slug_ranks: &'a [u32],
}

impl<'a> OrderKeys<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, table: Table, keys: &[(usize, Direction)]) -> Self {
        let key = |(key, direction): &(usize, Direction)| OrderKey {
            order: snapshot.order(table, *key, *direction),
            ranks: snapshot.ranks(table, *key),
            direction: *direction,
        };
        Self { keys: keys.iter().map(key).collect(), slug_ranks: snapshot.slug_ranks(table) }
    }

    /// Rank of a row by the key at `depth`; after the last key, by its slug.
    pub(crate) fn directed_rank(&self, depth: usize, row: u32) -> u32 {
        self.keys.get(depth).map_or_else(|| self.slug_ranks[row as usize], |key| key.directed_rank(row))
    }

    pub(crate) fn compare_from(&self, depth: usize, a: u32, b: u32) -> Ordering {
        for key in &self.keys[depth..] {
            let ordering = key.directed_rank(a).cmp(&key.directed_rank(b));
            if ordering.is_ne() {
                return ordering;
            }
        }
        self.slug_ranks[a as usize].cmp(&self.slug_ranks[b as usize])
    }
}
