//! Records as JSON: slices of the stored values, by the selected fields.

use serde::Serialize;

use crate::Catalog;
use data::field::{Field, FieldVisitor, Model};
use data::{Facet, RecordText, SnapshotVersion, Table, begin_object};

use crate::json::{FieldMask, Fields};

/// Gives the JSON of fields by their indexes in a [`FieldSet`](crate::json::FieldSet).
pub trait FieldValues {
    /// The JSON of a field, which may be composed in `buffer`.
    fn value<'v>(&'v self, field: usize, buffer: &'v mut Vec<u8>) -> &'v [u8];
}

impl FieldValues for RecordText<'_> {
    fn value<'v>(&'v self, field: usize, buffer: &'v mut Vec<u8>) -> &'v [u8] {
        self.value_in(field, buffer)
    }
}

/// A record with the fields that are composed on request: from other tables, and for the list that it is in.
pub struct ComposedRecord<'c> {
    catalog: &'c Catalog,
    table: Table,
    row: u32,
    stored: RecordText<'c>,
    computed: ComputedTexts,
}

/// Computed fields as JSON; their indexes follow those of the record's own.
#[derive(Default)]
struct ComputedTexts(Vec<(&'static Field, Vec<u8>)>);

impl FieldVisitor for ComputedTexts {
    fn field(&mut self, field: &'static Field, value: &impl Serialize) {
        self.0.push((field, serde_json::to_vec(value).expect("computed fields always have a JSON form")));
    }
}

impl<'c> ComposedRecord<'c> {
    pub fn new(catalog: &'c Catalog, table: Table, row: u32) -> Self {
        let stored = catalog.snapshot().record(table, row);
        Self { catalog, table, row, stored, computed: ComputedTexts::default() }
    }

    /// Adds computed fields. Optional ones that are null are not written.
    pub fn with_computed(mut self, fields: &impl Model) -> Self {
        fields.visit(&mut self.computed);
        self
    }

    /// Appends the record as JSON. `full`: without a selection, write all fields, as for single records.
    pub fn write(&self, out: &mut Vec<u8>, fields: &Fields, full: bool) {
        let (table, stored) = (self.table, &self.stored);
        let listed = if full { table.fields().len() } else { table.default_fields().len() };
        match fields {
            Fields::Some(parts) => return self.write_parts(out, parts),
            Fields::DefaultWithDays => stored.write_object_with_days(out, 0..listed),
            Fields::Default if !full => stored.write_object(out, 0..listed),
            Fields::Default | Fields::All => {
                stored.write_object(out, 0..table.fields().len());
                for field in table.joined_fields() {
                    out.push(b',');
                    write_name(out, field.name);
                    self.write_joined(out, field.name);
                }
            }
        }
        for (field, json) in self.computed.0.iter().filter(|(field, json)| !is_absent(field, json)) {
            out.push(b',');
            write_named(out, field.name, json, &FieldMask::full());
        }
        out.push(b'}');
    }

    fn write_parts(&self, out: &mut Vec<u8>, parts: &[(usize, FieldMask)]) {
        let (stored, start) = (self.table.fields().len(), out.len());
        if parts.iter().all(|(index, mask)| *index < stored && mask.is_full()) {
            self.stored.write_fields(out, parts.iter().map(|(index, _)| *index));
        } else {
            let mut buffer = Vec::new();
            for (index, mask) in parts {
                let computed = index.checked_sub(self.table.model().fields.len()).map(|index| &self.computed.0[index]);
                if computed.is_some_and(|(field, json)| is_absent(field, json)) {
                    continue;
                }
                let field = computed.map_or_else(|| &self.table.model().fields[*index], |(field, _)| *field);
                out.push(b',');
                write_named(out, field.name, self.value(*index, &mut buffer), mask);
            }
        }
        begin_object(out, start);
        out.push(b'}');
    }

    fn write_joined(&self, out: &mut Vec<u8>, field: &str) {
        let (catalog, table, row) = (self.catalog, self.table, self.row);
        let mut write_release = |release: Option<SnapshotVersion>| {
            let json = release.map_or_else(|| "null".to_owned(), |release| format!("\"{release}\""));
            out.extend_from_slice(json.as_bytes());
        };
        match field {
            "coverage_until" => {
                let until = catalog.coverage_until(table, row);
                let json = until.map_or_else(|| "null".to_owned(), |date| format!("\"{date}\""));
                out.extend_from_slice(json.as_bytes());
            }
            "first_seen" => write_release(catalog.first_seen(table, row)),
            "changed_in" => write_release(catalog.changed_in(table, row)),
            "rounds" => write_rows_of_startup(out, catalog, row, Table::Rounds),
            _ => write_rows_of_startup(out, catalog, row, Table::People),
        }
    }
}

impl FieldValues for ComposedRecord<'_> {
    fn value<'v>(&'v self, field: usize, buffer: &'v mut Vec<u8>) -> &'v [u8] {
        let fields = self.table.model().fields;
        if field < self.table.fields().len() {
            return self.stored.value_in(field, buffer);
        }
        if let Some(computed) = field.checked_sub(fields.len()) {
            return &self.computed.0[computed].1;
        }
        buffer.clear();
        self.write_joined(buffer, fields[field].name);
        buffer
    }
}

fn is_absent(field: &Field, json: &[u8]) -> bool {
    field.is_optional && json == b"null"
}

pub(crate) fn write_named(out: &mut Vec<u8>, name: &str, json: &[u8], mask: &FieldMask) {
    write_name(out, name);
    mask.write(out, json);
}

fn write_name(out: &mut Vec<u8>, name: &str) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
}

fn write_rows_of_startup(out: &mut Vec<u8>, catalog: &Catalog, startup: u32, table: Table) {
    out.push(b'[');
    for (index, row) in catalog.snapshot().facet_rows(table, Facet::Startup, startup).iter().enumerate() {
        out.extend((index > 0).then_some(b','));
        ComposedRecord::new(catalog, table, row).write(out, &Fields::Default, true);
    }
    out.push(b']');
}
