//! Listing: one page of the rows that a query asks for, in its order.

use std::cmp::Ordering;

use crate::dataset::{Direction, Snapshot, Table};
use crate::search::Found;

use super::Catalog;
use super::query::{Order, Page, Place, Query};
use super::selection::Selection;

impl Catalog {
    /// One page of a query's list, from `place` on, of at most `limit` rows.
    #[must_use]
    pub fn list(&self, query: &Query, place: Place, limit: usize) -> Page {
        let selection = Selection::of(self.snapshot(), query.table, &query.clauses);
        if let Some(text) = &query.text {
            let found = self.search(query.table, text, &|row| selection.contains(row));
            return self.page_of_matches(query, found, place, limit);
        }
        let total = self.count(query.table, &query.clauses, &selection);
        if place.offset >= total {
            return Page { total, ..Page::default() };
        }
        let listing = Listing { snapshot: self.snapshot(), table: query.table, selection: &selection, total };
        let (rows, position) = match &query.order {
            Order::Natural | Order::Relevance => listing.natural(place, limit),
            Order::Keys(keys) => listing.by_keys(keys, place, limit),
        };
        let served = place.offset + rows.len() as u64;
        let next = (served < total && !rows.is_empty()).then_some(Place { offset: served, position });
        Page { rows, total, next, did_you_mean: Vec::new() }
    }

    fn page_of_matches(&self, query: &Query, found: Found, place: Place, limit: usize) -> Page {
        let mut rows: Vec<u32> = found.hits.iter().map(|hit| hit.row).collect();
        match &query.order {
            Order::Relevance => {}
            Order::Natural => rows.sort_unstable(),
            Order::Keys(keys) => {
                let comparison = Comparison::of(self.snapshot(), query.table, keys);
                rows.sort_unstable_by(|a, b| comparison.of_rows(*a, *b));
            }
        }
        let total = rows.len() as u64;
        let start = place.offset.min(total) as usize;
        let end = start.saturating_add(limit).min(rows.len());
        let next = (end < rows.len() && end > start).then(|| Place::after(end as u64));
        Page { rows: rows[start..end].to_vec(), total, next, did_you_mean: found.did_you_mean }
    }
}

/// Compares rows by several keys: ranks, then slugs.
struct Comparison<'a> {
    keys: Vec<(&'a [u32], Direction)>,
    slug_ranks: &'a [u32],
}

impl<'a> Comparison<'a> {
    fn of(snapshot: &'a Snapshot, table: Table, keys: &[(usize, Direction)]) -> Self {
        let keys = keys.iter().map(|(key, direction)| (snapshot.ranks(table, *key), *direction)).collect();
        Self { keys, slug_ranks: snapshot.slug_ranks(table) }
    }

    fn of_rows(&self, a: u32, b: u32) -> Ordering {
        for (ranks, direction) in &self.keys {
            let (a, b) = (rank(ranks, a), rank(ranks, b));
            let ordering = match direction {
                // A row without a value has the highest rank of all: last when ascending, and when descending too.
                Direction::Ascending => a.cmp(&b),
                Direction::Descending => (a == u32::MAX).cmp(&(b == u32::MAX)).then_with(|| b.cmp(&a)),
            };
            if ordering.is_ne() {
                return ordering;
            }
        }
        rank(self.slug_ranks, a).cmp(&rank(self.slug_ranks, b))
    }
}

fn rank(ranks: &[u32], row: u32) -> u32 {
    ranks.get(row as usize).copied().unwrap_or(u32::MAX)
}

struct Listing<'a> {
    snapshot: &'a Snapshot,
    table: Table,
    selection: &'a Selection<'a>,
    total: u64,
}

impl Listing<'_> {
    /// Rows in table order; the position is the row to go on from.
    fn natural(&self, place: Place, limit: usize) -> (Vec<u32>, Option<u32>) {
        let first = match place.position {
            Some(position) => Some(position),
            None if self.selection.is_everything() => u32::try_from(place.offset).ok(),
            None => self.selection.nth(place.offset),
        };
        let Some(first) = first else { return (Vec::new(), None) };
        let rows: Vec<u32> = self.selection.rows_from(first).take(limit).collect();
        let position = rows.last().map(|last| last + 1);
        (rows, position)
    }

    /// Rows by keys: along the first key's sort order where matches are many, by selecting among them where they are few.
    fn by_keys(&self, keys: &[(usize, Direction)], place: Place, limit: usize) -> (Vec<u32>, Option<u32>) {
        let Some((first_key, direction)) = keys.first().copied() else { return self.natural(place, limit) };
        let order = self.snapshot.order(self.table, first_key, direction);
        let wanted = (place.offset + limit as u64).min(self.total);
        let steps = match place.position {
            Some(_) => limit as u64 * order.len() as u64 / self.total.max(1),
            None => wanted * order.len() as u64 / self.total.max(1),
        };
        if steps > self.total * 4 {
            return (self.select(keys, place.offset as usize, wanted as usize), None);
        }
        if keys.len() == 1 {
            self.along(order, place, limit)
        } else {
            (self.in_groups(keys, order, place.offset as usize, wanted as usize), None)
        }
    }

    /// Walks a sort order; the position is the place in it to go on from.
    fn along(&self, order: &[u32], place: Place, limit: usize) -> (Vec<u32>, Option<u32>) {
        let (start, skip) = match place.position {
            Some(position) => (position as usize, 0),
            None if self.selection.is_everything() => (place.offset as usize, 0),
            None => (0, place.offset as usize),
        };
        let places = order.iter().enumerate().skip(start);
        let passing = places.filter(|(_, row)| self.selection.contains(**row)).skip(skip).take(limit);
        let mut position = None;
        let rows = passing.map(|(at, row)| {
            position = Some(at as u32 + 1);
            *row
        });
        (rows.collect(), position)
    }

    /// Walks the first key's order and sorts only the groups of equal first keys that the page touches.
    fn in_groups(&self, keys: &[(usize, Direction)], order: &[u32], start: usize, end: usize) -> Vec<u32> {
        let comparison = Comparison::of(self.snapshot, self.table, keys);
        let first_ranks = keys.first().map_or(&[] as &[u32], |(key, _)| self.snapshot.ranks(self.table, *key));
        let mut passing = order.iter().copied().filter(|row| self.selection.contains(*row)).peekable();
        let mut page = Vec::new();
        let mut seen = 0;
        let mut group: Vec<u32> = Vec::new();
        while seen < end
            && let Some(row) = passing.next()
        {
            group.push(row);
            let goes_on = passing.peek().is_some_and(|next| rank(first_ranks, *next) == rank(first_ranks, row));
            if goes_on {
                continue;
            }
            if seen + group.len() > start {
                group.sort_unstable_by(|a, b| comparison.of_rows(*a, *b));
                let from = start.saturating_sub(seen);
                let to = (end - seen).min(group.len());
                page.extend_from_slice(group.get(from..to).unwrap_or(&[]));
            }
            seen += group.len();
            group.clear();
        }
        page
    }

    /// Collects all matches and sorts those of the page.
    fn select(&self, keys: &[(usize, Direction)], start: usize, end: usize) -> Vec<u32> {
        let comparison = Comparison::of(self.snapshot, self.table, keys);
        let mut rows: Vec<u32> = self.selection.rows_from(0).collect();
        let (start, end) = (start.min(rows.len()), end.min(rows.len()));
        if start > 0 && start < rows.len() {
            rows.select_nth_unstable_by(start, |a, b| comparison.of_rows(*a, *b));
        }
        let mut rest = rows.split_off(start);
        let length = end - start;
        if length > 0 && length < rest.len() {
            rest.select_nth_unstable_by(length - 1, |a, b| comparison.of_rows(*a, *b));
        }
        rest.truncate(length);
        rest.sort_unstable_by(|a, b| comparison.of_rows(*a, *b));
        rest
    }
}
