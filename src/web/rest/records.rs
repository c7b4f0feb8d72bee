//! Records as answered: ready-made text, cut to the fields that were asked for.

use crate::catalog::Catalog;
use crate::dataset::{Facet, Table};

use super::fields::Fields;

/// Writes one record. `full`: all fields where no selection is made, as single records do.
pub(super) fn write(out: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, fields: &Fields, full: bool) {
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
            let ready = table.fields().len();
            for (index, place) in places.iter().enumerate() {
                out.push(if index == 0 { b'{' } else { b',' });
                match place.checked_sub(ready).and_then(|place| table.composed().get(place)) {
                    Some(field) => composed(out, catalog, row, field),
                    None => out.extend_from_slice(record.field(*place)),
                }
            }
            out.push(b'}');
        }
    }
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
