//! Typed queries: the rows to list and their order.

use crate::ParameterError;
use data::vocabulary::{Vocabulary, normal};
use data::{Direction, Facet, Table};

/// A condition on a row. It never matches a row with an unknown value, except [`Filter::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The row has at least one of these values of a facet. An empty list matches nothing.
    AnyOf(Facet, Vec<u32>),
    /// The row is a person in one of these organizations, given as rows of firms and of startups.
    MemberOf {
        firms: Vec<u32>,
        startups: Vec<u32>,
    },
    /// The row is one of these, ascending.
    Rows(Vec<u32>),
    /// The row is one of those that fit best.
    Ranked(Ranking),
    /// The row does not match the filter, a list of values, and has a known value.
    Not(Box<Filter>),
    /// The value of a sort key, an index in [`Table::sort_keys`], is within these bounds, in the unit of
    /// [`values`](data::Snapshot::values). A month or a year is within them if all of its days are.
    Range {
        key: usize,
        min: i64,
        max: i64,
    },
    /// One round of the startup, or one that the firm joined, matches all of these filters of rounds.
    HasRound(Vec<Filter>),
    /// The firm's check range contains an amount from `min` to `max`, US dollars. An unknown bound is open; a firm
    /// without any bound does not match.
    CheckRange {
        min: u64,
        max: u64,
    },
    Known(Property),
    Unknown(Property),
    /// The round has an amount that is suspect, or none that is.
    Suspect(bool),
}

/// A property of a row that may be known or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Property {
    /// Index in [`Table::sort_keys`].
    Key(usize),
    Facet(Facet),
}

impl Property {
    /// Properties of a table with their names: the names of the parameters that filter by them, or of sort keys.
    pub fn all(table: Table) -> impl Iterator<Item = (&'static str, Self)> {
        let facets = table.facets().iter().map(|facet| (facet.name(), Self::Facet(*facet)));
        let keys = table.sort_keys().iter().enumerate().map(|(index, key)| (*key, Self::Key(index)));
        facets.chain(keys.filter(|(key, _)| *key != "name" && *key != "rating"))
    }

    /// The name of the parameter that filters by it, or of the sort key.
    pub fn name(self, table: Table) -> &'static str {
        match self {
            Self::Key(key) => table.sort_keys()[key],
            Self::Facet(facet) => facet.name(),
        }
    }

    /// Finds a property by name; accepts the plural of a record's field, such as `sectors`.
    pub fn named(table: Table, name: &str) -> Option<(&'static str, Self)> {
        let name = normal(name).replace('-', "_");
        let name = match name.as_str() {
            "lead_investors" => "lead",
            "id" => "identifier",
            name => name,
        };
        Self::all(table).find(|(known, _)| *known == name || name.strip_suffix('s') == Some(*known))
    }
}

/// A text or record that rows fit more or less; [`Catalog::ranked`](crate::Catalog::ranked) returns the best ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Ranking {
    /// Rows by how well their descriptions match a text.
    Described(String),
    /// Rows by what they have in common with a row of the table.
    Like(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The row order of the table, which is its default order.
    Natural,
    /// Best match first: of the search text or, without one, of the last [`Filter::Ranked`].
    Relevance,
    /// By keys of [`Table::sort_keys`]. Ties are ordered by slug, rows without a value come last.
    Keys(Vec<(usize, Direction)>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Query {
    pub table: Table,
    pub text: Option<String>,
    /// Combined with AND.
    pub filters: Vec<Filter>,
    pub order: Order,
}

impl Query {
    pub fn all(table: Table) -> Self {
        Self { table, text: None, filters: Vec::new(), order: Order::Natural }
    }

    /// True if a condition or the order reads a sort key.
    pub(crate) fn reads(&self, name: &str) -> bool {
        let is_own = |key: usize| self.table.sort_keys().get(key) == Some(&name);
        let in_order = matches!(&self.order, Order::Keys(keys) if keys.iter().any(|(key, _)| is_own(*key)));
        in_order || self.filters.iter().any(|filter| matches!(filter, Filter::Range { key, .. } if is_own(*key)))
    }

    pub(crate) fn rankings(&self) -> impl Iterator<Item = &Ranking> {
        self.filters.iter().filter_map(|filter| if let Filter::Ranked(ranking) = filter { Some(ranking) } else { None })
    }

    pub(crate) fn like(&self) -> Option<u32> {
        self.rankings().find_map(|ranking| if let Ranking::Like(row) = ranking { Some(*row) } else { None })
    }

    pub(crate) fn described(&self) -> Option<&str> {
        self.rankings().find_map(|ranking| if let Ranking::Described(text) = ranking { Some(&**text) } else { None })
    }

    pub fn is_ranked(&self) -> bool {
        self.text.is_some() || self.rankings().next().is_some()
    }

    pub fn reads_rounds(&self) -> bool {
        self.filters.iter().any(|filter| matches!(filter, Filter::HasRound(_)))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListPosition {
    pub offset: u64,
    /// Position in the sort order, so that a late page costs no more than the first.
    pub position: Option<u32>,
}

impl ListPosition {
    pub fn after(offset: u64) -> Self {
        Self { offset, position: None }
    }

    /// The position after a page of `shown` rows; `None` if no rows follow it, or it has none itself.
    pub(crate) fn after_page(self, shown: usize, total: u64, position: Option<u32>) -> Option<Self> {
        let offset = self.offset.saturating_add(shown as u64);
        (shown > 0 && offset < total).then_some(Self { offset, position })
    }

    pub(crate) fn page_of<T: Default>(self, rows: Vec<T>, limit: usize) -> Page<T> {
        let (total, start) = (rows.len() as u64, usize::try_from(self.offset).unwrap_or(usize::MAX));
        let rows: Vec<T> = rows.into_iter().skip(start).take(limit).collect();
        Page { next: self.after_page(rows.len(), total, None), rows, total, ..Page::default() }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page<T = u32> {
    pub rows: Vec<T>,
    pub total: u64,
    /// `None` on the last page.
    pub next: Option<ListPosition>,
    /// Rows with similar names, if a search has no sure match.
    pub did_you_mean: Vec<u32>,
    pub notes: Vec<ParameterError>,
}
