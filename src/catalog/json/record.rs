//! Records as JSON: slices of the stored text, by the selected fields.

use crate::Catalog;
use data::field::{Field, JsonType};
use data::{Facet, RecordText, SnapshotVersion, Table};

use crate::json::{FieldMask, Fields};

const YEAR_LENGTH: usize = "\"2026\"".len();
const MONTH_LENGTH: usize = "\"2026-06\"".len();

/// Writes one record. `full`: without a selection, write all fields, as for single records.
pub fn write(out: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, fields: &Fields, full: bool) {
    write_with_computed(out, catalog, table, row, fields, full, &[]);
}

/// The same with `computed` fields as JSON texts, indexed after the record's own. Optional ones that are null are omitted.
pub(crate) fn write_with_computed(
    out: &mut Vec<u8>,
    catalog: &Catalog,
    table: Table,
    row: u32,
    fields: &Fields,
    full: bool,
    computed: &[(&'static Field, Vec<u8>)],
) {
    let record = catalog.snapshot().record(table, row);
    let listed = if full { table.fields().len() } else { table.default_fields().len() };
    let is_absent = |field: &Field, json: &[u8]| field.is_optional && json == b"null";
    let start = out.len();
    let separate = |out: &mut Vec<u8>| out.push(if out.len() == start { b'{' } else { b',' });
    match fields {
        Fields::DefaultWithDays => write_with_days(out, table, &record, listed),
        Fields::Default if !full => out.extend_from_slice(record.head(listed)),
        Fields::Default | Fields::All => {
            out.extend_from_slice(record.whole());
            for field in table.joined_fields() {
                out.push(b',');
                write_joined(out, catalog, table, row, field.name);
            }
        }
        Fields::Some(parts) => {
            let own = table.model().fields.len();
            for (index, mask) in parts {
                match index.checked_sub(own).map(|index| &computed[index]) {
                    Some((field, json)) if is_absent(field, json) => {}
                    Some((field, json)) => {
                        separate(out);
                        write_named(out, field.name, json, mask);
                    }
                    None => {
                        separate(out);
                        let begin = out.len();
                        match index.checked_sub(table.fields().len()) {
                            Some(joined) => write_joined(out, catalog, table, row, table.joined_fields()[joined].name),
                            None => out.extend_from_slice(record.field(*index)),
                        }
                        if !mask.is_full() {
                            let whole = out.split_off(begin);
                            let name = table.model().fields[*index].name;
                            // The value follows `"name":`.
                            write_named(out, name, &whole[name.len() + 3..], mask);
                        }
                    }
                }
            }
            out.extend((out.len() == start).then_some(b'{'));
            return out.push(b'}');
        }
    }
    for (field, json) in computed.iter().filter(|(field, json)| !is_absent(field, json)) {
        separate(out);
        write_named(out, field.name, json, &FieldMask::full());
    }
    out.push(b'}');
}

/// Writes the first `fields` fields without the closing brace, and each month or year as its first day.
fn write_with_days(out: &mut Vec<u8>, table: Table, record: &RecordText<'_>, fields: usize) {
    let text = record.head(fields);
    let mut start = 0;
    for (index, field) in table.fields()[..fields].iter().enumerate() {
        if !matches!(field.json, JsonType::PartialDate) {
            continue;
        }
        let rest = match record.value(table, index).len() {
            YEAR_LENGTH => "-01-01",
            MONTH_LENGTH => "-01",
            _ => continue,
        };
        // Before the closing quote.
        let end = record.end(index) - 1;
        out.extend_from_slice(&text[start..end]);
        out.extend_from_slice(rest.as_bytes());
        start = end;
    }
    out.extend_from_slice(&text[start..]);
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

fn write_joined(out: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, field: &str) {
    write_name(out, field);
    let mut write_release = |release: Option<SnapshotVersion>| {
        out.extend_from_slice(release.map_or_else(|| "null".to_owned(), |release| format!("\"{release}\"")).as_bytes());
    };
    match field {
        "coverage_until" => {
            let until = catalog.coverage_until(table, row);
            out.extend_from_slice(until.map_or_else(|| "null".to_owned(), |date| format!("\"{date}\"")).as_bytes());
        }
        "first_seen" => write_release(catalog.first_seen(table, row)),
        "changed_in" => write_release(catalog.changed_in(table, row)),
        "rounds" => write_rows_of_startup(out, catalog, row, Table::Rounds),
        _ => write_rows_of_startup(out, catalog, row, Table::People),
    }
}

fn write_rows_of_startup(out: &mut Vec<u8>, catalog: &Catalog, startup: u32, table: Table) {
    out.push(b'[');
    for (index, row) in catalog.snapshot().facet_rows(table, Facet::Startup, startup).iter().enumerate() {
        out.extend((index > 0).then_some(b','));
        write(out, catalog, table, row, &Fields::Default, true);
    }
    out.push(b']');
}
