//! A comparison of two releases for saved searches and lists: the records that match now but did not before, and the
//! changes of given records.

use std::sync::Arc;

use once_cell::sync::OnceCell;

use crate::changes::{ChangeReader, RowChange, readable};
use crate::json::Fields;
use crate::{Catalog, Issues, ParseOptions, Query, Request, Resource, RowFilter};
use data::archive::facet_column::{Bits, bit_words};
use data::{NONE_U32, Snapshot, Table};

/// Maximum number of matches that are looked up one by one; more are compared as bits.
const FEW: usize = 4_096;

/// Parse options for the query of a saved search: unknown names and values are errors, because nobody reads its
/// warnings.
pub const SAVED: ParseOptions = ParseOptions { strict: true, review_statuses: &[], other_names: &[] };

/// An earlier release and a later one.
pub struct ReleaseComparison {
    before: Arc<Catalog>,
    after: Arc<Catalog>,
    /// Maps each row of the later release to its row in the earlier one.
    former_rows: [OnceCell<Vec<u32>>; Table::ALL.len()],
}

/// The change of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordChange {
    pub change: RowChange,
    /// Fields that differ, if the record was changed.
    pub fields: Vec<&'static str>,
}

impl ReleaseComparison {
    pub fn new(before: Arc<Catalog>, after: Arc<Catalog>) -> Self {
        Self { before, after, former_rows: Default::default() }
    }

    pub fn before(&self) -> &Catalog {
        &self.before
    }

    pub fn after(&self) -> &Catalog {
        &self.after
    }

    /// Finds the rows of the later release that match a query and did not match it in the earlier one, in table order.
    /// A value that the earlier release does not have matched nothing there.
    ///
    /// # Errors
    /// Errors of the query in the later release.
    pub fn new_matches(&self, resource: Resource, values: &[(String, String)]) -> Result<Vec<u32>, Issues> {
        let after = rows(&self.after, &parse(&self.after, resource, values)?);
        let former = self.former_rows(resource.table());
        let Ok(query) = parse(&self.before, resource, values) else { return Ok(after.list()) };
        let was_there = |row: &u32| former[*row as usize] != NONE_U32;
        Ok(match (after, query.text.is_some()) {
            (RowSelection::Few(rows), false) => {
                let filter = RowFilter::new(&self.before, query.table, &query.filters);
                rows.into_iter().filter(|row| !was_there(row) || !filter.contains(former[*row as usize])).collect()
            }
            (rows_after, _) => {
                let bits = rows(&self.before, &query).bits(self.before.snapshot().rows(query.table));
                let matched = |row: u32| bits[row as usize / 64] >> (row % 64) & 1 == 1;
                let is_new = |row: &u32| !was_there(row) || !matched(former[*row as usize]);
                rows_after.iter().filter(is_new).collect()
            }
        })
    }

    /// Finds the change of a record, by slug or id; `None` if it is unchanged, or in neither release.
    pub fn change_of(&self, table: Table, key: &str) -> Option<RecordChange> {
        let (before, after) = (self.before.snapshot(), self.after.snapshot());
        let change = match (before.find(table, key), after.find(table, key)) {
            (Some(before), Some(after)) => RowChange::Changed { before, after },
            (None, Some(after)) => RowChange::Added { after },
            (Some(before), None) => match after.merged_into(table, key) {
                Some(into) => RowChange::Merged { before, into },
                None => RowChange::Removed { before },
            },
            (None, None) => return None,
        };
        let reader = ChangeReader { table, fields: &Fields::Default, before, after };
        let fields: Vec<&str> =
            readable(reader.differing(change)).into_iter().map(|(index, _)| table.fields()[index].name).collect();
        let is_unchanged = matches!(change, RowChange::Changed { .. }) && fields.is_empty();
        (!is_unchanged).then_some(RecordChange { change, fields })
    }

    fn former_rows(&self, table: Table) -> &[u32] {
        self.former_rows[table as usize]
            .get_or_init(|| former_rows(self.before.snapshot(), self.after.snapshot(), table))
    }
}

fn parse(catalog: &Catalog, resource: Resource, values: &[(String, String)]) -> Result<Query, Issues> {
    match catalog.parse(resource, values, SAVED)?.request {
        Request::List(query) => Ok(query),
        _ => unreachable!("saved searches are plain lists"),
    }
}

/// Matches rows by slug, in one pass over both releases. A record with a changed slug is the one that its former slug
/// leads to.
fn former_rows(before: &Snapshot, after: &Snapshot, table: Table) -> Vec<u32> {
    let mut former = vec![NONE_U32; after.rows(table) as usize];
    let mut news = after.published(table).peekable();
    let mut gone = Vec::new();
    for old in before.published(table) {
        let slug = before.slug(table, old);
        while news.next_if(|new| after.slug(table, *new) < slug).is_some() {}
        match news.next_if(|new| after.slug(table, *new) == slug) {
            Some(new) => former[new as usize] = old,
            None => gone.push(old),
        }
    }
    for old in gone {
        if let Some(into) = after.merged_into(table, before.slug(table, old)) {
            let known = &mut former[into as usize];
            *known = if *known == NONE_U32 { old } else { *known };
        }
    }
    former
}

/// Rows of a table, ascending.
enum RowSelection {
    Few(Vec<u32>),
    Many(Vec<u64>),
}

/// Selects the rows that match a query.
fn rows(catalog: &Catalog, query: &Query) -> RowSelection {
    let filter = RowFilter::new(catalog, query.table, &query.filters);
    match &query.text {
        None => filter.list_or_bits(FEW).map_or_else(RowSelection::Many, RowSelection::Few),
        Some(text) => {
            // The search cache is not used: it is kept for visitors.
            let matches = catalog.find_all_matches(query.table, text).rows;
            let mut rows: Vec<u32> = matches.into_iter().filter(|row| filter.contains(*row)).collect();
            rows.sort_unstable();
            RowSelection::Few(rows)
        }
    }
}

impl RowSelection {
    fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Self::Few(rows) => Box::new(rows.iter().copied()),
            Self::Many(words) => Box::new(
                words.iter().enumerate().flat_map(|(index, word)| Bits(*word).map(move |bit| index as u32 * 64 + bit)),
            ),
        }
    }

    fn list(self) -> Vec<u32> {
        match self {
            Self::Few(rows) => rows,
            many => many.iter().collect(),
        }
    }

    /// A bit for each row of the table.
    fn bits(self, rows: u32) -> Vec<u64> {
        match self {
            Self::Many(words) => words,
            Self::Few(few) => {
                let mut bits = vec![0; bit_words(rows)];
                few.iter().for_each(|row| bits[*row as usize / 64] |= 1 << (row % 64));
                bits
            }
        }
    }
}
