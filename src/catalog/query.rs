//! Typed queries: what to list, under which conditions, in which order.

use crate::data::{Date, Direction, Facet, Table};

/// One condition on a row. A condition on a value that a row does not know does not match it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The row has at least one of these values of a facet; with no value given nothing matches.
    AnyOf(Facet, Vec<u32>),
    /// The row is a person of one of these organizations: firms, then startups.
    MemberOf {
        /// Rows of firms.
        firms: Vec<u32>,
        /// Rows of startups.
        startups: Vec<u32>,
    },
    /// A firm's health score is at least this.
    MinHealthScore(u8),
    /// A firm's ghosting rate is at most this, in tenths of a per cent.
    MaxGhostingRate(u16),
    /// A firm has at least so many approved reviews.
    MinReviews(u32),
    /// A firm's cheque range contains this amount, US dollars.
    CheckUsd(u64),
    /// A firm's last investment is of this date or later.
    ActiveSince(Date),
    /// A round raised at least this amount, US dollars.
    MinAmountUsd(u64),
    /// A round was announced on this date or later.
    Since(Date),
    /// A round was announced on this date or earlier.
    Until(Date),
}

/// The order of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// As the rows stand in the table: its default order.
    Natural,
    /// Best match first; only where a text is searched for.
    Relevance,
    /// By keys of [`Table::sort_keys`], one after the other; ties by slug, rows without a value last.
    Keys(Vec<(usize, Direction)>),
}

/// What is asked of one table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    /// The table.
    pub table: Table,
    /// A name to search for.
    pub text: Option<String>,
    /// All of them hold for every row listed.
    pub clauses: Vec<Filter>,
    /// How the list is ordered.
    pub order: Order,
}

impl Query {
    /// All rows of a table in its default order.
    #[must_use]
    pub fn all(table: Table) -> Self {
        Self { table, text: None, clauses: Vec::new(), order: Order::Natural }
    }
}

/// A place in a list where a page begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListPosition {
    /// How many rows of the list come before.
    pub offset: u64,
    /// Where to go on in the sort order itself, so that a page deep in a list costs no more than the first.
    pub position: Option<u32>,
}

impl ListPosition {
    /// The place after `offset` rows.
    #[must_use]
    pub fn after(offset: u64) -> Self {
        Self { offset, position: None }
    }

    /// The page of `rows` that begins here: its rows, how many there are in all, and where the next page begins.
    pub fn page_of<T>(self, rows: Vec<T>, limit: usize) -> (Vec<T>, u64, Option<ListPosition>) {
        let total = rows.len();
        let start = usize::try_from(self.offset).map_or(total, |offset| offset.min(total));
        let end = start.saturating_add(limit).min(total);
        let next = (start < end && end < total).then(|| Self::after(end as u64));
        let page = rows.into_iter().skip(start).take(end - start).collect();
        (page, total as u64, next)
    }
}

/// One page of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The rows, in order.
    pub rows: Vec<u32>,
    /// How many rows the whole list has.
    pub total: u64,
    /// Where the next page begins; `None` at the end.
    pub next: Option<ListPosition>,
    /// True where more rows match a search than are given: `total` is then the number given.
    pub capped: bool,
    /// Rows whose names come nearest, where a search found nothing or only distant matches.
    pub did_you_mean: Vec<u32>,
}
