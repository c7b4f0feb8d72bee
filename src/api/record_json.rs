//! Records as answered: ready-made text, cut to the fields that were asked for.

use crate::catalog::Catalog;
use crate::data::{Facet, RecordText, Table};

use crate::api::field_mask::FieldMask;
use crate::api::fields::Fields;

/// Writes one record. `full`: all fields where no selection is made, as single records do.
pub(crate) fn write(out: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, fields: &Fields, full: bool) {
    let record = catalog.snapshot().record(table, row);
    match fields {
        Fields::Default if !full => {
            out.extend_from_slice(record.head(table.default_fields()));
            out.push(b'}');
        }
        Fields::Default | Fields::All => {
            out.extend_from_slice(record.whole());
            for field in table.composed() {
                out.push(b',');
                composed(out, catalog, row, field);
            }
            out.push(b'}');
        }
        Fields::Some(places) => {
            for (index, place) in places.iter().enumerate() {
                out.push(if index == 0 { b'{' } else { b',' });
                field(out, catalog, table, row, record, *place);
            }
            out.push(b'}');
        }
        Fields::Parts(parts) => {
            for (index, (place, tree)) in parts.iter().enumerate() {
                out.push(if index == 0 { b'{' } else { b',' });
                part(out, catalog, table, row, *place, tree);
            }
            out.push(b'}');
        }
    }
}

/// Writes a firm with `further` fields, names with JSON texts, whose places stand after the firm's own.
pub(crate) fn write_with(
    out: &mut Vec<u8>,
    catalog: &Catalog,
    firm: u32,
    fields: &Fields,
    further: &[(&str, Vec<u8>)],
) {
    let own = Table::Firms.fields().len();
    let record = catalog.snapshot().record(Table::Firms, firm);
    let start = out.len();
    let separate = |out: &mut Vec<u8>| out.push(if out.len() == start { b'{' } else { b',' });
    match fields {
        Fields::Default | Fields::All => {
            write(out, catalog, Table::Firms, firm, fields, false);
            out.pop();
            for (name, json) in further {
                separate(out);
                named(out, name, json, &FieldMask::whole());
            }
        }
        Fields::Some(places) => {
            for place in places {
                separate(out);
                match place.checked_sub(own).and_then(|place| further.get(place)) {
                    Some((name, json)) => named(out, name, json, &FieldMask::whole()),
                    None => field(out, catalog, Table::Firms, firm, record, *place),
                }
            }
        }
        Fields::Parts(parts) => {
            for (place, tree) in parts {
                separate(out);
                match place.checked_sub(own).and_then(|place| further.get(place)) {
                    Some((name, json)) => named(out, name, json, tree),
                    None => part(out, catalog, Table::Firms, firm, *place, tree),
                }
            }
        }
    }
    out.push(b'}');
}

/// Writes the whole of one field with its name.
fn field(out: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, record: RecordText<'_>, place: usize) {
    match place.checked_sub(table.fields().len()).and_then(|place| table.composed().get(place)) {
        Some(field) => composed(out, catalog, row, field),
        None => out.extend_from_slice(record.field(place)),
    }
}

/// Writes what is kept of one field, with its name.
fn part(out: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, place: usize, tree: &FieldMask) {
    let mut text = Vec::new();
    field(&mut text, catalog, table, row, catalog.snapshot().record(table, row), place);
    let name = table.fields().iter().chain(table.composed()).nth(place).copied().unwrap_or("");
    named(out, name, text.get(name.len() + 3..).unwrap_or(b"null"), tree);
}

fn named(out: &mut Vec<u8>, name: &str, json: &[u8], tree: &FieldMask) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    tree.write(out, json);
}

/// Writes a field of a startup that is put together from other tables.
fn composed(out: &mut Vec<u8>, catalog: &Catalog, startup: u32, field: &str) {
    let table = if field == "rounds" { Table::Rounds } else { Table::People };
    out.push(b'"');
    out.extend_from_slice(field.as_bytes());
    out.extend_from_slice(b"\":[");
    for (index, row) in catalog.snapshot().facet_rows(table, Facet::Startup, startup).iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, catalog, table, row, &Fields::Default, false);
    }
    out.push(b']');
}
