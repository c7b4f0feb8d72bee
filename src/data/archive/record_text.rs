//! A stored record: the end of each field, then the JSON text. Each field is a slice of the text.

use std::borrow::Cow;

use serde::Serialize;

use crate::Table;
use crate::field::{Field, FieldVisitor};

const END: usize = size_of::<u32>();

#[derive(Clone, Debug)]
pub struct RecordText<'a> {
    stored: Cow<'a, [u8]>,
    fields: usize,
}

impl<'a> RecordText<'a> {
    /// `None` if the ends of the fields do not ascend within the text.
    pub(crate) fn new(stored: Cow<'a, [u8]>, table: Table) -> Option<Self> {
        let fields = table.fields().len();
        let length = stored.len().checked_sub(END * fields)?;
        let record = Self { stored, fields };
        let mut start = 0;
        // One byte precedes each field.
        let ascend = (0..fields).all(|field| record.end(field) > std::mem::replace(&mut start, record.end(field)));
        (ascend && start <= length).then_some(record)
    }

    /// The end of a field in the text, by its index in [`Table::fields`].
    pub fn end(&self, field: usize) -> usize {
        let end = &self.stored[END * field..][..END];
        u32::from_le_bytes(end.try_into().expect("four bytes")) as usize
    }

    pub(crate) fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// The record's first `fields` fields as JSON without the closing brace: `{"slug":…,"name":…`.
    pub fn head(&self, fields: usize) -> &[u8] {
        &self.whole()[..fields.checked_sub(1).map_or(1, |last| self.end(last))]
    }

    pub fn whole(&self) -> &[u8] {
        &self.stored[END * self.fields..]
    }

    /// One field with its name, `"name":…`, by its index in [`Table::fields`].
    pub fn field(&self, field: usize) -> &[u8] {
        // One byte precedes each field: `{` the first, `,` any other.
        let start = field.checked_sub(1).map_or(0, |last| self.end(last));
        &self.whole()[start + 1..self.end(field)]
    }

    pub fn value(&self, table: Table, field: usize) -> &[u8] {
        let name = table.fields().get(field).map_or(0, |field| field.name.len());
        self.field(field).get(name + 3..).unwrap_or(b"null")
    }
}

#[derive(Default)]
pub(crate) struct RecordBuffer {
    stored: Vec<u8>,
    text: usize,
    fields: usize,
}

impl RecordBuffer {
    pub(crate) fn clear(&mut self, table: Table) {
        self.text = END * table.fields().len();
        self.stored.clear();
        self.stored.resize(self.text, 0);
        self.fields = 0;
    }

    pub(crate) fn record(&self, table: Table) -> RecordText<'_> {
        RecordText::new(self.stored.as_slice().into(), table).expect("each field was added")
    }
}

/// Adds the stored fields of a record, in their order.
impl FieldVisitor for RecordBuffer {
    fn field(&mut self, field: &'static Field, value: &impl Serialize) {
        if field.is_joined {
            return;
        }
        self.stored.push(if self.fields == 0 { b'{' } else { b',' });
        self.stored.push(b'"');
        self.stored.extend_from_slice(field.name.as_bytes());
        self.stored.extend_from_slice(b"\":");
        serde_json::to_writer(&mut self.stored, value).expect("record fields always have a JSON form");
        let end = (self.stored.len() - self.text) as u32;
        self.stored[END * self.fields..][..END].copy_from_slice(&end.to_le_bytes());
        self.fields += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_slices_of_the_text() {
        let table = Table::Sectors;
        let mut buffer = RecordBuffer::default();
        for value in [10, 2_000_000] {
            buffer.clear(table);
            for field in table.fields() {
                buffer.field(field, &value);
            }
            let record = buffer.record(table);
            let fields: Vec<String> =
                table.fields().iter().map(|field| format!("\"{}\":{value}", field.name)).collect();
            assert_eq!(record.whole(), format!("{{{}", fields.join(",")).as_bytes());
            assert_eq!(record.head(2), format!("{{{},{}", fields[0], fields[1]).as_bytes());
            assert_eq!(record.head(0), b"{");
            for (index, field) in fields.iter().enumerate() {
                assert_eq!(record.field(index), field.as_bytes());
                assert_eq!(record.value(table, index), value.to_string().as_bytes());
            }
        }
    }

    #[test]
    fn the_fields_of_a_record_are_within_its_text() {
        let table = Table::Sectors;
        let count = table.fields().len() as u32;
        let stored = |ends: &[u32], length: usize| {
            let mut stored: Vec<u8> = ends.iter().flat_map(|end| end.to_le_bytes()).collect();
            stored.resize(stored.len() + length, b'x');
            RecordText::new(stored.into(), table).is_some()
        };
        let ends: Vec<u32> = (1..=count).collect();
        assert!(stored(&ends, count as usize));
        assert!(!stored(&ends, count as usize - 1));
        assert!(!stored(&ends[1..], 0));
        for (index, end) in [(0, 0), (1, 1), (2, 9)] {
            let mut changed = ends.clone();
            changed[index] = end;
            assert!(!stored(&changed, count as usize), "{index}: {end}");
        }
    }
}
