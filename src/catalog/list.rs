//! One page of the rows that match a query, in its order.

use search::MatchClass;

use crate::param_error::{partial_names_warning, relaxed_text_warning, search_warnings, similar_names_warning};
use crate::search_cache::TextMatches;
use crate::sort::SortedRows;
use crate::sort::keys::OrderKeys;
use crate::{Catalog, Filter, ListPosition, Order, Page, Query, Ranking, RowFilter};
use platform::pause;

/// Records with a part of the words of a text, on its first page.
const MAX_RELAXED: usize = 20;

impl Catalog {
    pub fn list(&self, query: &Query, start: ListPosition, limit: usize) -> Page {
        pause::point();
        if let (None, Order::Relevance, Some(ranking)) = (&query.text, &query.order, query.rankings().last()) {
            return self.page_of_ranking(query, ranking, start, limit);
        }
        let filter = RowFilter::new(self, query.table, &query.filters);
        if let Some(text) = &query.text {
            let matches = self.all_matches(query.table, text);
            let rows = matches.rows.iter().copied().filter(|row| filter.contains(*row)).collect();
            return self.page_of_matches(query, rows, &matches, start, limit);
        }
        let total = self.count(query.table, &query.filters, &filter);
        if start.offset >= total {
            return Page { total, ..Page::default() };
        }
        if let Some(rows) = self.suspect_in_order(query, &filter) {
            return start.page_of(rows, limit);
        }
        let (rows, position) = match &query.order {
            Order::Keys(keys) if !keys.is_empty() => {
                SortedRows::new(&OrderKeys::new(self.snapshot(), query.table, keys), &filter, total, limit).page(start)
            }
            // In table order; the position is the first row of the next page.
            _ => {
                let first = start.position.or_else(|| filter.nth(start.offset));
                let rows: Vec<u32> = first.into_iter().flat_map(|first| filter.rows_from(first)).take(limit).collect();
                let position = rows.last().map(|last| last + 1);
                (rows, position)
            }
        };
        Page { next: start.after_page(rows.len(), total, position), rows, total, ..Page::default() }
    }

    /// The rows that fit a text or a record best, of those that match all other conditions. The first page of a text is
    /// filled up with records that have a part of its words, which no total counts.
    fn page_of_ranking(&self, query: &Query, ranking: &Ranking, start: ListPosition, limit: usize) -> Page {
        let is_other = |filter: &&Filter| !matches!(filter, Filter::Ranked(known) if known == ranking);
        let others: Vec<Filter> = query.filters.iter().filter(is_other).cloned().collect();
        let filter = RowFilter::new(self, query.table, &others);
        let ranked = self.ranked(query.table, ranking);
        let offset = usize::try_from(start.offset).unwrap_or(usize::MAX);
        let (rows, total) = ranked.complete.page(offset, limit, |row| filter.contains(row));
        let mut page = Page { next: start.after_page(rows.len(), total, None), rows, total, ..Page::default() };
        let (complete, max) = (page.rows.len(), limit.min(MAX_RELAXED));
        if start.offset == 0 && complete < max {
            let partial = ranked.partial.iter().copied().filter(|row| filter.contains(*row));
            page.rows.extend(partial.take(max - complete));
            page.notes.extend((page.rows.len() > complete).then(|| relaxed_text_warning(complete)));
        }
        page
    }

    fn page_of_matches(
        &self,
        query: &Query,
        mut rows: Vec<u32>,
        matches: &TextMatches,
        start: ListPosition,
        limit: usize,
    ) -> Page {
        let found = &matches.found;
        let text = query.text.as_deref().filter(|_| !found.is_loose);
        let best = text.and_then(|text| self.best_class(query.table, text, matches, &rows));
        let is_similar = matches!(best, Some(MatchClass::Typo | MatchClass::Sound));
        match &query.order {
            Order::Relevance => {}
            Order::Natural => rows.sort_unstable(),
            Order::Keys(keys) => {
                let keys = OrderKeys::new(self.snapshot(), query.table, keys);
                rows.sort_unstable_by(|a, b| keys.compare_from(0, *a, *b));
            }
        }
        let page = start.page_of(rows, limit);
        let mut notes = if page.total > 0 { search_warnings(found) } else { Vec::new() };
        let partial = query.text.as_deref().filter(|_| page.total > 0);
        notes.extend(partial.and_then(|text| partial_names_warning(query.table, found, text)));
        notes.extend(is_similar.then(|| similar_names_warning(query.table)));
        Page { did_you_mean: found.did_you_mean.clone(), notes, ..page }
    }
}
