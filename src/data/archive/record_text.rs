//! A stored record: JSON text, each field of which is a slice.

use crate::data::Table;

/// A record's JSON text and the end of each of its fields.
#[derive(Clone, Copy, Debug)]
pub struct RecordText<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) ends: &'a [u32],
}

impl<'a> RecordText<'a> {
    /// The record's first `fields` fields as JSON without the closing brace: `{"slug":…,"name":…`.
    pub fn head(self, fields: usize) -> &'a [u8] {
        let end = fields.checked_sub(1).map_or(1, |last| self.ends[last] as usize);
        &self.text[..end]
    }

    /// All fields, without the closing brace.
    pub fn whole(self) -> &'a [u8] {
        self.text
    }

    /// One field with its name, `"name":…`, by its index in [`Table::fields`].
    pub fn field(self, field: usize) -> &'a [u8] {
        // One byte precedes each field: `{` the first, `,` any other.
        let start = field.checked_sub(1).map_or(0, |last| self.ends[last] as usize);
        &self.text[start + 1..self.ends[field] as usize]
    }

    pub fn value(self, table: Table, field: usize) -> &'a [u8] {
        let name = table.fields().get(field).map_or(0, |field| field.name.len());
        self.field(field).get(name + 3..).unwrap_or(b"null")
    }
}
