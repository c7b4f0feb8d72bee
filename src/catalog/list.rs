//! One page of the rows that match a query, in its order.

use data::Table;
use search::SearchResults;

use crate::param_error::search_warnings;
use crate::sort::SortedRows;
use crate::sort::keys::OrderKeys;
use crate::{Catalog, ListPosition, Order, Page, Query, RowFilter};

impl Catalog {
    pub fn list(&self, query: &Query, start: ListPosition, limit: usize) -> Page {
        let filter = RowFilter::new(self, query.table, &query.filters);
        if let Some(text) = &query.text {
            let matches = self.all_matches(query.table, text);
            let rows = matches.rows.iter().copied().filter(|row| filter.contains(*row)).collect();
            return self.page_of_matches(query, rows, &matches.found, start, limit);
        }
        let total = self.count(query.table, &query.filters, &filter);
        if start.offset >= total {
            return Page { total, ..Page::default() };
        }
        if let (Order::Relevance, Some(ranking)) = (&query.order, query.rankings().last()) {
            let ranked = self.ranked(query.table, ranking);
            let rows = ranked.rows().filter(|row| filter.contains(*row)).collect();
            let (rows, total, next) = start.page_of(rows, limit);
            return Page { rows, total, next, ..Page::default() };
        }
        let (rows, position) = match &query.order {
            Order::Keys(keys) if !keys.is_empty() => {
                let keys = OrderKeys::new(self.snapshot(), query.table, keys);
                SortedRows::new(&keys, &filter, total).page(start, limit)
            }
            _ => natural(&filter, start, limit),
        };
        let served = start.offset + rows.len() as u64;
        let next = (served < total && !rows.is_empty()).then_some(ListPosition { offset: served, position });
        Page { rows, total, next, ..Page::default() }
    }

    /// Names that the search text of a query resembles only without some of its words, regardless of filters. Empty if
    /// no name does; `None` if a name resembles all of the words, or if there is no text.
    pub(crate) fn partly_named(&self, query: &Query) -> Option<Vec<u32>> {
        let matches = self.all_matches(query.table, query.text.as_deref()?);
        matches.is_partial().then(|| matches.rows.clone())
    }

    /// Names most similar to a text.
    pub(crate) fn similar_names(&self, table: Table, text: &str) -> Vec<u32> {
        self.all_matches(table, text).found.did_you_mean.clone()
    }

    fn page_of_matches(
        &self,
        query: &Query,
        mut rows: Vec<u32>,
        found: &SearchResults,
        start: ListPosition,
        limit: usize,
    ) -> Page {
        match &query.order {
            Order::Relevance => {}
            Order::Natural => rows.sort_unstable(),
            Order::Keys(keys) => {
                let keys = OrderKeys::new(self.snapshot(), query.table, keys);
                rows.sort_unstable_by(|a, b| keys.compare(*a, *b));
            }
        }
        let (rows, total, next) = start.page_of(rows, limit);
        let notes = if total > 0 { search_warnings(found) } else { Vec::new() };
        Page { rows, total, next, did_you_mean: found.did_you_mean.clone(), notes }
    }
}

/// Rows in table order; the returned position is the first row of the next page.
fn natural(filter: &RowFilter<'_>, start: ListPosition, limit: usize) -> (Vec<u32>, Option<u32>) {
    let Some(first) = start.position.or_else(|| filter.nth(start.offset)) else { return (Vec::new(), None) };
    let rows: Vec<u32> = filter.rows_from(first).take(limit).collect();
    let position = rows.last().map(|last| last + 1);
    (rows, position)
}
