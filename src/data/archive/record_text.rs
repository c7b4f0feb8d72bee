//! A record as it is kept: JSON text, any field of which is a slice.

use crate::data::Table;

/// A record's JSON text, with the end of each of its fields.
#[derive(Clone, Copy, Debug)]
pub struct RecordText<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) ends: &'a [u32],
}

impl<'a> RecordText<'a> {
    /// The record's first `fields` fields as JSON without the closing brace: `{"slug":…,"name":…`.
    #[must_use]
    pub fn head(self, fields: usize) -> &'a [u8] {
        let end = fields.checked_sub(1).and_then(|last| self.ends.get(last)).map_or(1, |end| *end as usize);
        self.text.get(..end).unwrap_or(b"{")
    }

    /// All fields, without the closing brace.
    #[must_use]
    pub fn whole(self) -> &'a [u8] {
        self.text
    }

    /// One field with its name, `"name":…`, by its place in [`Table::fields`].
    #[must_use]
    pub fn field(self, field: usize) -> &'a [u8] {
        // Before each field stands one byte: `{` before the first, `,` before any other.
        let start = field.checked_sub(1).map_or(Some(0), |last| self.ends.get(last).map(|end| *end as usize));
        let end = self.ends.get(field).map(|end| *end as usize);
        start.zip(end).and_then(|(start, end)| self.text.get(start + 1..end)).unwrap_or(b"")
    }

    /// The JSON of one field's value.
    #[must_use]
    pub fn value(self, table: Table, field: usize) -> &'a [u8] {
        let name = table.fields().get(field).map_or(0, |field| field.name.len());
        self.field(field).get(name + 3..).unwrap_or(b"null")
    }
}
