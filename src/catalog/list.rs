//! Listing: one page of the rows that a query asks for, in its order.

use crate::search::SearchResults;

use crate::catalog::Catalog;
use crate::catalog::RowFilter;
use crate::catalog::sort::Sorted;
use crate::catalog::sort::keys::Keys;
use crate::catalog::{ListPosition, Order, Page, Query};

impl Catalog {
    /// One page of a query's list, from `place` on, of at most `limit` rows.
    #[must_use]
    pub fn list(&self, query: &Query, place: ListPosition, limit: usize) -> Page {
        let selection = RowFilter::of(self.snapshot(), query.table, &query.clauses);
        if let Some(text) = &query.text {
            let found = self.search(query.table, text, &|row| selection.contains(row));
            return self.page_of_matches(query, found, place, limit);
        }
        let total = self.count(query.table, &query.clauses, &selection);
        if place.offset >= total {
            return Page { total, ..Page::default() };
        }
        let (rows, position) = match &query.order {
            Order::Keys(keys) if !keys.is_empty() => {
                let keys = Keys::of(self.snapshot(), query.table, keys);
                Sorted::new(&keys, &selection, total).page(place, limit)
            }
            _ => natural(&selection, place, limit),
        };
        let served = place.offset + rows.len() as u64;
        let next = (served < total && !rows.is_empty()).then_some(ListPosition { offset: served, position });
        Page { rows, total, next, ..Page::default() }
    }

    fn page_of_matches(&self, query: &Query, found: SearchResults, place: ListPosition, limit: usize) -> Page {
        let mut rows: Vec<u32> = found.hits.iter().map(|hit| hit.row).collect();
        match &query.order {
            Order::Relevance => {}
            Order::Natural => rows.sort_unstable(),
            Order::Keys(keys) => {
                let keys = Keys::of(self.snapshot(), query.table, keys);
                rows.sort_unstable_by(|a, b| keys.compare(*a, *b));
            }
        }
        let (rows, total, next) = place.page_of(rows, limit);
        Page { rows, total, next, capped: found.capped, did_you_mean: found.did_you_mean }
    }
}

/// Rows in table order; the position is the row to go on from.
fn natural(selection: &RowFilter<'_>, place: ListPosition, limit: usize) -> (Vec<u32>, Option<u32>) {
    let Some(first) = place.position.or_else(|| selection.nth(place.offset)) else { return (Vec::new(), None) };
    let rows: Vec<u32> = selection.rows_from(first).take(limit).collect();
    let position = rows.last().map(|last| last + 1);
    (rows, position)
}
