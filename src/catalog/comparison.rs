//! A comparison of two releases for saved searches and lists: records that match only now, changes of given records.

use std::sync::Arc;

use once_cell::sync::OnceCell;

use crate::changes::{ChangeReader, RowChange, paired_rows, readable};
use crate::json::Fields;
use crate::{Catalog, Issues, ParseOptions, Query, Request, Resource, RowFilter};
use data::archive::facet_column::RowSet;
use data::{NONE_U32, Snapshot, Table};

/// Maximum number of matches that are looked up one by one; more are compared as bits.
const FEW: usize = 4_096;

/// For saved searches: unknown names and values are errors, because nobody reads warnings.
pub const SAVED: ParseOptions = ParseOptions { strict: true, review_statuses: &[], other_names: &[] };

pub struct ReleaseComparison {
    pub before: Arc<Catalog>,
    pub after: Arc<Catalog>,
    /// Maps each row of the later release to its row in the earlier one.
    former_rows: [OnceCell<Vec<u32>>; Table::ALL.len()],
}

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

    /// Finds the rows of the later release that match a query and did not match it in the earlier one, in table order.
    /// A value that the earlier release does not have matched nothing there. Fails if the later one rejects the query.
    pub fn new_matches(&self, resource: Resource, values: &[(String, String)]) -> Result<Vec<u32>, Issues> {
        let after = rows(&self.after, &parse(&self.after, resource, values)?);
        let former = self.former_rows(resource.table());
        let Ok(query) = parse(&self.before, resource, values) else { return Ok(set_of(&after).iter().collect()) };
        let new_unless = |matched: &dyn Fn(u32) -> bool| -> Vec<u32> {
            let is_new = |row: &u32| former[*row as usize] == NONE_U32 || !matched(former[*row as usize]);
            set_of(&after).iter().filter(is_new).collect()
        };
        Ok(if after.is_ok() && query.text.is_none() {
            let filter = RowFilter::new(&self.before, query.table, &query.filters);
            new_unless(&|row: u32| filter.contains(row))
        } else {
            let before = rows(&self.before, &query);
            new_unless(&|row: u32| set_of(&before).contains(row))
        })
    }

    /// Finds the change of a record, by slug or id; `None` if it is unchanged, or in neither release.
    pub fn change_of(&self, table: Table, key: &str) -> Option<RecordChange> {
        let (before, after) = (self.before.snapshot(), self.after.snapshot());
        let change = RowChange::of_rows(table, before, after, (before.find(table, key), after.find(table, key)))?;
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

/// Matches rows by slug. A record with a changed slug is the one that its former slug leads to.
fn former_rows(before: &Snapshot, after: &Snapshot, table: Table) -> Vec<u32> {
    let mut former = vec![NONE_U32; after.rows(table) as usize];
    let mut gone = Vec::new();
    for rows in paired_rows(table, before, after) {
        match rows {
            (Some(old), Some(new)) => former[new as usize] = old,
            (old, _) => gone.extend(old),
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

/// Selects the rows that match a query: `Ok` has a list of few rows, `Err` a bit for each row of the table.
fn rows(catalog: &Catalog, query: &Query) -> Result<Vec<u32>, Vec<u64>> {
    let filter = RowFilter::new(catalog, query.table, &query.filters);
    match &query.text {
        None => filter.list_or_bits(FEW),
        Some(text) => {
            // The search cache is not used: it is kept for visitors.
            let matches = catalog.find_all_matches(query.table, text).rows;
            let mut rows: Vec<u32> = matches.into_iter().filter(|row| filter.contains(*row)).collect();
            rows.sort_unstable();
            Ok(rows)
        }
    }
}

fn set_of(rows: &Result<Vec<u32>, Vec<u64>>) -> RowSet<'_> {
    match rows {
        Ok(list) => RowSet::Sparse(list),
        Err(bits) => RowSet::Dense(bits),
    }
}
