//! What the records of a table have in common, and is thus stored in none of them: which fields they have, how these and the
//! members of their objects are named, and how a field without a value is written.
//!
//! Within a value, each name of a member is one byte below 0x20, which JSON never contains: it is short for the name with
//! its quotes, the colon and what precedes the name, such as `{"slug":` or `,"name":`.

use std::io::{self, Write};
use std::iter;
use std::sync::LazyLock;

use serde_json::ser::{CharEscape, CompactFormatter, Formatter};

use crate::Table;
use crate::field::{Field, JsonType};

/// Number of fields of the table with most of them.
pub(crate) const MAX_FIELDS: usize = {
    let (mut most, mut index) = (0, 0);
    while index < Table::ALL.len() {
        let stored = Table::ALL[index].model().stored;
        most = if stored > most { stored } else { most };
        index += 1;
    }
    most
};

/// Bytes in place of names are below this.
const FIRST_OF_TEXT: u8 = 0x20;

/// Size in bytes of a chunk that holds the name of a field.
pub(crate) const ROOM: usize = 32;

pub(crate) struct RecordShape {
    pub(crate) fields: Vec<FieldShape>,
}

pub(crate) struct FieldShape {
    /// `,"name":` and what is written if no value is stored, then anything.
    pub(crate) name: [u8; ROOM],
    pub(crate) name_length: usize,
    /// The JSON of a value that takes no bytes.
    pub(crate) absent: &'static [u8],
    pub(crate) is_partial_date: bool,
    pub(crate) members: MemberNames,
}

/// The names of the members of a field's objects, at any depth. The byte of a name is its index and one.
#[derive(Default)]
pub(crate) struct MemberNames(Vec<Vec<u8>>);

static SHAPES: LazyLock<[RecordShape; 6]> = LazyLock::new(|| Table::ALL.map(RecordShape::new));

impl RecordShape {
    pub(crate) fn of_table(table: Table) -> &'static Self {
        &SHAPES[table as usize]
    }

    fn new(table: Table) -> Self {
        Self { fields: table.fields().iter().map(FieldShape::new).collect() }
    }
}

impl FieldShape {
    fn new(field: &Field) -> Self {
        let is_list = matches!(field.json, JsonType::List(_)) && !field.is_nullable;
        let absent = if is_list { "[]" } else { "null" };
        let text = format!(",\"{}\":{absent}", field.name);
        let mut name = [0; ROOM];
        name[..text.len()].copy_from_slice(text.as_bytes());
        let mut members = MemberNames::default();
        members.add_nested(field);
        Self {
            name,
            name_length: text.len() - absent.len(),
            absent: absent.as_bytes(),
            is_partial_date: matches!(field.json, JsonType::PartialDate),
            members,
        }
    }
}

impl MemberNames {
    fn add_nested(&mut self, field: &Field) {
        for (index, member) in field.nested().iter().enumerate() {
            let text = name_of_member(index == 0, member.name).into_bytes();
            // Names without a byte of their own are stored as they are.
            if self.byte_of(&text).is_none() && self.0.len() + 1 < usize::from(FIRST_OF_TEXT) {
                self.0.push(text);
            }
            self.add_nested(member);
        }
    }

    fn byte_of(&self, text: &[u8]) -> Option<u8> {
        Some(self.0.iter().position(|known| known == text)? as u8 + 1)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends a stored value as JSON.
    pub(crate) fn write(&self, out: &mut Vec<u8>, stored: &[u8]) {
        self.parts(stored).for_each(|part| out.extend_from_slice(part));
    }

    /// The JSON of a stored value in parts: texts and names in turn.
    pub(crate) fn parts<'v>(&'v self, mut stored: &'v [u8]) -> impl Iterator<Item = &'v [u8]> {
        let mut name: Option<&[u8]> = None;
        iter::from_fn(move || {
            if let Some(name) = name.take() {
                return Some(name);
            }
            let length = stored.iter().position(|byte| *byte < FIRST_OF_TEXT).unwrap_or(stored.len());
            let (text, rest) = stored.split_at(length);
            let (byte, rest) = rest.split_first().unzip();
            name = byte.map(|byte| self.0.get(usize::from(*byte).wrapping_sub(1)).map_or(&[][..], Vec::as_slice));
            stored = rest.unwrap_or_default();
            (!text.is_empty() || name.is_some()).then_some(text)
        })
    }

    /// The format in which [`MemberNames::write`] reads a value.
    pub(crate) fn formatter(&self) -> impl Formatter {
        StoredNames { names: self, name: Vec::new(), is_in_name: false, has_no_member: false }
    }
}

fn name_of_member(is_first: bool, name: &str) -> String {
    format!("{}\"{name}\":", if is_first { '{' } else { ',' })
}

/// Compact JSON with bytes in place of known names.
struct StoredNames<'n> {
    names: &'n MemberNames,
    name: Vec<u8>,
    is_in_name: bool,
    /// True between the beginning of an object and its first member.
    has_no_member: bool,
}

impl Formatter for StoredNames<'_> {
    fn begin_object<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_no_member = true;
        Ok(())
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let is_empty = std::mem::take(&mut self.has_no_member);
        out.write_all(if is_empty { b"{}" } else { b"}" })
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, _: &mut W, is_first: bool) -> io::Result<()> {
        (self.is_in_name, self.has_no_member) = (true, false);
        self.name.clear();
        self.name.push(if is_first { b'{' } else { b',' });
        Ok(())
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.is_in_name = false;
        self.name.push(b':');
        match self.names.byte_of(&self.name) {
            Some(byte) => out.write_all(&[byte]),
            None => out.write_all(&self.name),
        }
    }

    fn begin_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.write(out, "\"")
    }

    fn end_string<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.write(out, "\"")
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        self.write(out, fragment)
    }

    fn write_char_escape<W: ?Sized + Write>(&mut self, out: &mut W, escape: CharEscape) -> io::Result<()> {
        match self.is_in_name {
            true => CompactFormatter.write_char_escape(&mut self.name, escape),
            false => CompactFormatter.write_char_escape(out, escape),
        }
    }
}

impl StoredNames<'_> {
    fn write<W: ?Sized + Write>(&mut self, out: &mut W, text: &str) -> io::Result<()> {
        match self.is_in_name {
            true => self.name.write_all(text.as_bytes()),
            false => out.write_all(text.as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Serialize;
    use serde_json::json;

    use super::*;

    fn stored(names: &MemberNames, value: &impl Serialize) -> Vec<u8> {
        let mut out = Vec::new();
        value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, names.formatter())).unwrap();
        out
    }

    #[test]
    fn names_of_members_are_stored_as_bytes_and_written_as_they_were() {
        let score = &RecordShape::of_table(Table::Firms).fields[Table::Firms.field_index("score")];
        let names = &score.members;
        assert_eq!(names.0[0], br#"{"value":"#);
        assert_eq!(names.0[1], br#","low":"#);
        let any = json!([{}, [], "{\"value\":\u{1}", { "value": { "value": "\"low\":" } }, { "other \"é\"": [{ "low": 1 }] }]);
        let nested = BTreeMap::from([("a", json!([1, {}])), ("low", json!(null)), ("value", any.clone())]);
        for value in [any, json!(nested), json!(null), json!(true), json!(0.5), json!("\u{1}\u{1f}\n")] {
            let stored = stored(names, &value);
            let mut written = Vec::new();
            names.write(&mut written, &stored);
            assert_eq!(String::from_utf8(written).unwrap(), value.to_string());
        }
        let known = stored(names, &json!({ "value": 1 }));
        assert_eq!(known, b"\x011}");
    }

    #[test]
    fn every_name_of_a_member_has_a_byte() {
        fn check(names: &MemberNames, field: &Field) {
            for (index, member) in field.nested().iter().enumerate() {
                assert!(names.byte_of(name_of_member(index == 0, member.name).as_bytes()).is_some(), "{}", member.name);
                check(names, member);
            }
        }
        for table in Table::ALL {
            let shape = RecordShape::of_table(table);
            assert!(shape.fields.len() <= MAX_FIELDS);
            for (shape, field) in shape.fields.iter().zip(table.fields()) {
                assert_eq!(shape.name[..shape.name_length], *format!(",\"{}\":", field.name).as_bytes());
                check(&shape.members, field);
            }
        }
    }
}
