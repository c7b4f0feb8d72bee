//! The differences between two releases, for clients that keep a copy: storing each added or changed record under its
//! slug or id, and deleting each removed or merged one, turns the records of the first release into the second one's.

use std::cmp::Ordering;
use std::io;
use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::json::fields::{self, MAX_NAMES};
use crate::json::{FieldMask, FieldSet, Fields, write_named};
use crate::param_error::wrong_term;
use crate::row_filter::distinct;
use crate::{Catalog, ParameterError, Resource};
use data::field::{JsonType, JsonValue, model};
use data::vocabulary::{Vocabulary, normal, vocabulary};
use data::{RecordText, Snapshot, Table};

vocabulary! {
    Operation, "operation", {
        Add = "add",
        Change = "change",
        Remove = "remove",
        /// Merged into another record of its table; its slug now leads there.
        Merge = "merge",
    }
}

/// The change of a record between two releases, with its rows there; `into` is a row of the second one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowChange {
    Added { after: u32 },
    Changed { before: u32, after: u32 },
    Removed { before: u32 },
    Merged { before: u32, into: u32 },
}

impl RowChange {
    pub fn operation(self) -> Operation {
        match self {
            Self::Added { .. } => Operation::Add,
            Self::Changed { .. } => Operation::Change,
            Self::Removed { .. } => Operation::Remove,
            Self::Merged { .. } => Operation::Merge,
        }
    }

    /// The change of a record with these rows in the two releases; `None` if it is in neither.
    pub(crate) fn of_rows(table: Table, before: &Snapshot, after: &Snapshot, rows: RowPair) -> Option<Self> {
        Some(match rows {
            (Some(before), Some(after)) => Self::Changed { before, after },
            (Some(row), None) => match after.merged_into(table, before.slug(table, row)) {
                Some(into) => Self::Merged { before: row, into },
                None => Self::Removed { before: row },
            },
            (None, after) => Self::Added { after: after? },
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ChangeCounts {
    pub added: u64,
    /// Includes the merged records.
    pub removed: u64,
    pub changed: u64,
}

impl ChangeCounts {
    pub fn from_changes(changes: &[RowChange]) -> Self {
        let mut counts = Self::default();
        for change in changes {
            match change {
                RowChange::Added { .. } => counts.added += 1,
                RowChange::Changed { .. } => counts.changed += 1,
                RowChange::Removed { .. } | RowChange::Merged { .. } => counts.removed += 1,
            }
        }
        counts
    }
}

/// The rows that differ, by slug or id, computed fields included. Reads all records of both releases.
pub fn row_changes(table: Table, before: &Snapshot, after: &Snapshot) -> io::Result<Vec<RowChange>> {
    let mut changes = Vec::new();
    for rows in paired_rows(table, before, after) {
        if let (Some(old), Some(new)) = rows
            && before.read_record(table, old)?.stored() == after.read_record(table, new)?.stored()
        {
            continue;
        }
        changes.extend(RowChange::of_rows(table, before, after, rows));
    }
    Ok(changes)
}

type RowPair = (Option<u32>, Option<u32>);

/// The published rows of two releases, paired by slug or id, in its order.
pub(crate) fn paired_rows(table: Table, before: &Snapshot, after: &Snapshot) -> impl Iterator<Item = RowPair> {
    let (mut olds, mut news) = (before.published(table).peekable(), after.published(table).peekable());
    std::iter::from_fn(move || {
        let order = match (olds.peek(), news.peek()) {
            (None, None) => return None,
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(old), Some(new)) => before.slug(table, *old).cmp(after.slug(table, *new)),
        };
        Some((if order.is_le() { olds.next() } else { None }, if order.is_ge() { news.next() } else { None }))
    })
}

pub(crate) type AllChanges = [Vec<RowChange>; Table::ALL.len()];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeFilter {
    /// Tables in the order of [`Table::ALL`].
    tables: Vec<(Table, Fields)>,
    /// Selected operations; all if empty.
    operations: Vec<Operation>,
}

pub struct ChangePage {
    pub changes: Vec<Vec<u8>>,
    pub total: u64,
    /// Start of the next page; `None` on the last one.
    pub next: Option<u64>,
}

#[derive(Serialize)]
#[serde(transparent)]
pub struct RecordJson(Box<RawValue>);

impl JsonValue for RecordJson {
    const TYPE: JsonType = JsonType::Record;
}

model! {
    /// A record that differs between two releases.
    #[derive(Serialize)]
    pub struct ChangeFields<'a> as "Change" {
        /// The table of the record: the last segment of the path of its list.
        table: &'a str [one_of("ChangedTable")],
        /// What happened to the record.
        op: &'a str [one_of("ChangeOperation")],
        /// Its slug or, in a table without slugs, its id.
        key: &'a str,
        /// The slug of the record that it was merged into; `null` unless `op` is `merge`.
        merged_into: Option<&'a str>,
        /// The fields that differ; empty unless `op` is `change`.
        fields: Vec<&'a str>,
        /// The former values of these fields; `null` unless `op` is `change`.
        before: Option<RecordJson>,
        /// The record in the later release; `null` if it is no longer there.
        record: Option<RecordJson>,
    }
}

impl ChangeFilter {
    /// Parses `table`, `op` and `fields`. Each field must be in a table; tables without any of the fields are left out.
    pub fn parse(values: &[(String, String)]) -> Result<Self, Vec<ParameterError>> {
        let mut errors = Vec::new();
        let table = |text: &str| {
            let is_named = |table: &Table| {
                let names = [Resource::of_table(*table).path(), table.name(), table.noun()];
                names.into_iter().any(|name| normal(name) == normal(text))
            };
            Table::ALL.into_iter().find(is_named)
        };
        let mut tables = words(values, "table", &paths(), table, &mut errors);
        let operations = words(values, "op", &Operation::names(), Operation::read, &mut errors);
        if tables.is_empty() {
            tables = Table::ALL.to_vec();
        }
        let tables = fields_of(values, &tables).map_err(|unknown| errors.extend(unknown)).unwrap_or_default();
        if errors.is_empty() { Ok(Self { tables, operations }) } else { Err(errors) }
    }

    pub fn canonical(&self) -> Vec<(&'static str, String)> {
        let tables: Vec<&str> = self.tables.iter().map(|(table, _)| Resource::of_table(*table).path()).collect();
        let operations: Vec<&str> = self.operations.iter().map(|operation| operation.name()).collect();
        let tables = (tables.len() < Table::ALL.len()).then(|| ("table", tables.join(",")));
        tables.into_iter().chain((!operations.is_empty()).then(|| ("op", operations.join(",")))).collect()
    }
}

pub fn paths() -> Vec<&'static str> {
    Table::ALL.map(|table| Resource::of_table(table).path()).to_vec()
}

/// Parses the words of a parameter, each once and in order; unknown ones are errors.
fn words<T: Copy + Ord>(
    values: &[(String, String)],
    name: &str,
    accepted: &[&'static str],
    read: impl Fn(&str) -> Option<T>,
    errors: &mut Vec<ParameterError>,
) -> Vec<T> {
    let given = values.iter().filter(|(known, _)| known == name).flat_map(|(_, value)| value.split(','));
    let mut words = Vec::new();
    for text in given.map(str::trim).filter(|text| !text.is_empty()) {
        match read(text) {
            Some(word) => words.push(word),
            // Further errors are not reported.
            None if errors.len() >= accepted.len() => {}
            None => errors.push(wrong_term(name, text, name, accepted.to_vec())),
        }
    }
    distinct(words)
}

fn fields_of(values: &[(String, String)], tables: &[Table]) -> Result<Vec<(Table, Fields)>, Vec<ParameterError>> {
    let names: Vec<&str> = fields::names(values.iter().map(|(name, value)| (name.as_str(), value.as_str()))).collect();
    let parse = |names: &str, table: Table| {
        let fields = Fields::parse(&[("fields".to_owned(), names.to_owned())], FieldSet::stored(table));
        fields.map(|fields| (table, fields))
    };
    if names.is_empty() || names.len() > MAX_NAMES {
        // Without names, everything is selected; too many names are one error.
        return tables.iter().map(|table| parse(&names.join(","), *table)).collect();
    }
    let names_of =
        |table: &Table| -> Vec<&str> { names.iter().copied().filter(|name| parse(name, *table).is_ok()).collect() };
    let names_of_tables: Vec<Vec<&str>> = tables.iter().map(names_of).collect();
    let is_unknown = |name: &&str| names_of_tables.iter().all(|known| !known.contains(name));
    let unknown: Vec<&str> = names.iter().copied().filter(is_unknown).collect();
    if !unknown.is_empty() {
        return Err(parse(&unknown.join(","), tables[0]).err().unwrap_or_default());
    }
    let selected = tables.iter().zip(names_of_tables).filter(|(_, names)| !names.is_empty());
    selected.map(|(table, names)| parse(&names.join(","), *table)).collect()
}

/// Passes the JSON of every change from one release to another, in the order of `/changes`.
pub fn each_change<E: From<io::Error>>(
    before: &Snapshot,
    after: &Snapshot,
    mut write: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<(), E> {
    for table in Table::ALL {
        let reader = ChangeReader { table, fields: &Fields::Default, before, after };
        for change in row_changes(table, before, after)? {
            write(&reader.json(change, &reader.differing(change)?)?)?;
        }
    }
    Ok(())
}

impl Catalog {
    fn all_changes(&self, before: &Self) -> Arc<AllChanges> {
        self.cached.changes.get_or_insert_with((before.version(), before.snapshot().content()), || {
            Arc::new(Table::ALL.map(|table| readable(row_changes(table, before.snapshot(), self.snapshot()))))
        })
    }

    pub fn change_counts(&self, before: &Self) -> [(Table, ChangeCounts); Table::ALL.len()] {
        let all = self.all_changes(before);
        Table::ALL.map(|table| (table, ChangeCounts::from_changes(&all[table as usize])))
    }

    /// True if the changes from `before` are already computed, which takes reading all records of both releases.
    pub fn has_changes_from(&self, before: &Self) -> bool {
        self.cached.changes.contains(&(before.version(), before.snapshot().content()))
    }

    /// Returns at most `limit` of the selected changes from `before` to this release, from position `start` on.
    pub fn changes(&self, before: &Self, filter: &ChangeFilter, start: u64, limit: usize) -> ChangePage {
        let all = self.all_changes(before);
        let mut page = ChangePage { changes: Vec::new(), total: 0, next: None };
        let mut position = 0;
        for (table, fields) in &filter.tables {
            let reader = ChangeReader { table: *table, fields, before: before.snapshot(), after: self.snapshot() };
            let is_selected =
                |change: &&RowChange| filter.operations.is_empty() || filter.operations.contains(&change.operation());
            for change in all[*table as usize].iter().filter(is_selected) {
                let differing = readable(reader.differing(*change));
                if matches!(change, RowChange::Changed { .. }) && differing.is_empty() {
                    continue;
                }
                if position >= start {
                    match page.changes.len() < limit {
                        true => page.changes.push(readable(reader.json(*change, &differing))),
                        false => page.next = page.next.or(Some(position)),
                    }
                }
                position += 1;
            }
        }
        page.total = position;
        page
    }
}

/// Unwraps a read of records on disk. Panics on an error, as [`Snapshot::record`] does, which fails the request.
pub(super) fn readable<T>(read: io::Result<T>) -> T {
    read.unwrap_or_else(|error| panic!("{error}"))
}

pub(super) struct ChangeReader<'a> {
    pub table: Table,
    pub fields: &'a Fields,
    pub before: &'a Snapshot,
    pub after: &'a Snapshot,
}

impl<'a> ChangeReader<'a> {
    /// The selected fields that differ, each with its selected part; none unless the record was changed.
    pub(super) fn differing(&self, change: RowChange) -> io::Result<Vec<(usize, FieldMask)>> {
        let RowChange::Changed { before, after } = change else { return Ok(Vec::new()) };
        let (old, new) = (self.before.read_record(self.table, before)?, self.after.read_record(self.table, after)?);
        let differs = |(index, mask): &(usize, FieldMask)| {
            let (before, after) = (old.value(*index), new.value(*index));
            before != after && (mask.is_full() || masked(mask, &before) != masked(mask, &after))
        };
        Ok(match self.fields {
            Fields::Some(parts) => parts.iter().filter(|part| differs(part)).cloned().collect(),
            _ => (0..self.table.fields().len()).map(|index| (index, FieldMask::full())).filter(differs).collect(),
        })
    }

    fn json(&self, change: RowChange, differing: &[(usize, FieldMask)]) -> io::Result<Vec<u8>> {
        let (table, fields) = (self.table, self.table.fields());
        let read_old = |row: u32| self.before.read_record(table, row);
        let read_new = |row: u32| self.after.read_record(table, row);
        let (key, merged_into, before, record) = match change {
            RowChange::Added { after } => (self.after.slug(table, after), None, None, Some(read_new(after)?)),
            RowChange::Changed { before, after } => {
                (self.after.slug(table, after), None, Some(read_old(before)?), Some(read_new(after)?))
            }
            RowChange::Removed { before } => (self.before.slug(table, before), None, None, None),
            RowChange::Merged { before, into } => {
                (self.before.slug(table, before), Some(self.after.slug(table, into)), None, None)
            }
        };
        let selected = if let Fields::Some(parts) = self.fields { Some(parts.as_slice()) } else { None };
        let fields = ChangeFields {
            table: Resource::of_table(table).path(),
            op: change.operation().name(),
            key,
            merged_into,
            fields: differing.iter().map(|(index, _)| fields[*index].name).collect(),
            before: before.map(|record| RecordJson::new(table, &record, Some(differing))),
            record: record.map(|record| RecordJson::new(table, &record, selected)),
        };
        Ok(serde_json::to_vec(&fields).expect("stored records are JSON"))
    }
}

impl RecordJson {
    fn new(table: Table, record: &RecordText<'_>, parts: Option<&[(usize, FieldMask)]>) -> Self {
        let Some(parts) = parts else { return Self::from_json(record.json()) };
        let mut json = vec![b'{'];
        for (count, (index, mask)) in parts.iter().enumerate() {
            json.extend((count > 0).then_some(b','));
            write_named(&mut json, table.fields()[*index].name, &record.value(*index), mask);
        }
        json.push(b'}');
        Self::from_json(json)
    }

    pub(crate) fn from_json(json: Vec<u8>) -> Self {
        Self(RawValue::from_string(String::from_utf8(json).expect("JSON is UTF-8")).expect("stored records are JSON"))
    }
}

fn masked(mask: &FieldMask, json: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    mask.write(&mut out, json);
    out
}
