//! A stored record: its values alone. Its table knows which fields it has and how they are named ([`RecordShape`]).
//!
//! First the length of each value, then the values: JSON with bytes in place of the names of members. A value is empty if
//! the field has none. A length of up to 253 is one byte; 254 and 255 announce one of two and of four bytes.

use std::borrow::Cow;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::Table;
use crate::archive::record_shape::{FieldShape, MAX_FIELDS, MemberNames, ROOM, RecordShape};
use crate::field::{Field, FieldVisitor};

const TWO_BYTES: u8 = 254;
const FOUR_BYTES: u8 = 255;

/// Bytes by which a buffer grows beyond what is needed.
const MORE_ROOM: usize = 512;

#[derive(Clone, Debug)]
pub struct RecordText<'a> {
    stored: Cow<'a, [u8]>,
    table: Table,
    /// Where each value starts, and the last ends.
    places: [u32; MAX_FIELDS + 1],
}

impl<'a> RecordText<'a> {
    /// `None` if the lengths are not those of the values.
    pub(crate) fn new(stored: Cow<'a, [u8]>, table: Table) -> Option<Self> {
        let fields = table.fields().len();
        let (lengths, _) = stored.split_at_checked(fields)?;
        let mut places = [0; MAX_FIELDS + 1];
        let (mut end, mut has_long) = (fields as u32, false);
        places[0] = end;
        for (place, length) in places[1..].iter_mut().zip(lengths) {
            has_long |= *length >= TWO_BYTES;
            end += u32::from(*length);
            *place = end;
        }
        if has_long {
            places = places_of_long(&stored, fields)?;
        }
        (places[fields] as usize == stored.len()).then_some(Self { stored, table, places })
    }

    fn shape(&self) -> &'static RecordShape {
        RecordShape::of_table(self.table)
    }

    /// The values as they are stored: equal if all values are.
    pub fn stored(&self) -> &[u8] {
        &self.stored
    }

    fn stored_value(&self, field: usize) -> &[u8] {
        &self.stored[self.places[field] as usize..self.places[field + 1] as usize]
    }

    /// The JSON of a field if it is stored in this form.
    fn plain_value(&self, field: usize) -> Result<&[u8], &'static MemberNames> {
        let (shape, stored) = (&self.shape().fields[field], self.stored_value(field));
        match (stored.is_empty(), shape.members.is_empty()) {
            (true, _) => Ok(shape.absent),
            (false, true) => Ok(stored),
            (false, false) => Err(&shape.members),
        }
    }

    /// The JSON of a field, by its index in [`Table::fields`].
    pub fn value(&self, field: usize) -> Cow<'_, [u8]> {
        self.plain_value(field).map_or_else(
            |members| {
                let mut json = Vec::new();
                members.write(&mut json, self.stored_value(field));
                json.into()
            },
            Cow::Borrowed,
        )
    }

    /// The same, written to `buffer` if it is not stored in this form.
    pub fn value_in<'v>(&'v self, field: usize, buffer: &'v mut Vec<u8>) -> &'v [u8] {
        self.plain_value(field).unwrap_or_else(|members| {
            buffer.clear();
            members.write(buffer, self.stored_value(field));
            buffer
        })
    }

    /// True if the field has neither `null` nor an empty list.
    pub fn is_known(&self, field: usize) -> bool {
        !matches!(self.stored_value(field), b"" | b"null" | b"[]")
    }

    pub fn parse<T: DeserializeOwned>(&self, field: usize) -> serde_json::Result<T> {
        serde_json::from_slice(&self.value(field))
    }

    /// The whole record as JSON.
    pub fn json(&self) -> Vec<u8> {
        let mut json = Vec::with_capacity(2 * self.stored.len());
        self.write_object(&mut json, 0..self.table.fields().len());
        json.push(b'}');
        json
    }

    /// Appends fields as JSON without the closing brace: `{"slug":…,"name":…`.
    pub fn write_object(&self, out: &mut Vec<u8>, fields: impl ExactSizeIterator<Item = usize>) {
        let start = out.len();
        self.write(out, fields, false);
        begin_object(out, start);
    }

    /// The same with each month or year as its first day.
    pub fn write_object_with_days(&self, out: &mut Vec<u8>, fields: impl ExactSizeIterator<Item = usize>) {
        let start = out.len();
        self.write(out, fields, true);
        begin_object(out, start);
    }

    /// Appends fields with their names, each after a comma: `,"slug":…,"name":…`.
    pub fn write_fields(&self, out: &mut Vec<u8>, fields: impl ExactSizeIterator<Item = usize>) {
        self.write(out, fields, false);
    }

    fn write(&self, out: &mut Vec<u8>, fields: impl ExactSizeIterator<Item = usize>, with_days: bool) {
        let (shape, stored) = (self.shape(), self.stored());
        let mut texts = ShortTexts::new(out, stored.len() + fields.len() * ROOM);
        for field in fields {
            let FieldShape { name, name_length, absent, is_partial_date, members } = &shape.fields[field];
            let place = self.places[field] as usize..self.places[field + 1] as usize;
            if place.is_empty() {
                texts.append_chunk(name, *name_length + absent.len());
                continue;
            }
            texts.append_chunk(name, *name_length);
            if !members.is_empty() {
                members.parts(&stored[place.clone()]).for_each(|part| texts.append(part));
            } else if let Some(chunk) = stored[place.start..].first_chunk().filter(|_| place.len() <= ROOM) {
                texts.append_chunk(chunk, place.len());
            } else {
                texts.append(&stored[place.clone()]);
            }
            if with_days && *is_partial_date {
                texts.complete_date(place.len());
            }
        }
    }
}

/// The places of values of which some are long.
fn places_of_long(stored: &[u8], fields: usize) -> Option<[u32; MAX_FIELDS + 1]> {
    let mut places = [0; MAX_FIELDS + 1];
    let (mut rest, mut end) = (stored, 0_u32);
    for place in &mut places[1..=fields] {
        let (first, after) = rest.split_first()?;
        let length;
        (length, rest) = match *first {
            TWO_BYTES => after.split_first_chunk().map(|(two, rest)| (u32::from(u16::from_le_bytes(*two)), rest))?,
            FOUR_BYTES => after.split_first_chunk().map(|(four, rest)| (u32::from_le_bytes(*four), rest))?,
            length => (u32::from(length), after),
        };
        end = end.checked_add(length)?;
        *place = end;
    }
    let first = u32::try_from(stored.len() - rest.len()).ok()?;
    end.checked_add(first)?;
    places[..=fields].iter_mut().for_each(|place| *place += first);
    Some(places)
}

/// Makes an object of the members from `start` on, each after a comma, and leaves it open.
pub fn begin_object(out: &mut Vec<u8>, start: usize) {
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
}

/// Appends to a buffer, mostly texts that are short.
struct ShortTexts<'b> {
    out: &'b mut Vec<u8>,
    /// Where the next text starts. The buffer is longer.
    end: usize,
}

impl<'b> ShortTexts<'b> {
    fn new(out: &'b mut Vec<u8>, expected: usize) -> Self {
        let end = out.len();
        out.resize(end + expected, 0);
        Self { out, end }
    }

    /// Appends the first `length` bytes of a chunk: copied as a whole, since a constant length is much cheaper.
    #[inline(always)]
    fn append_chunk(&mut self, chunk: &[u8; ROOM], length: usize) {
        match self.out.get_mut(self.end..).and_then(|room| room.first_chunk_mut()) {
            Some(room) => *room = *chunk,
            None => self.append_with_more_room(chunk),
        }
        self.end += length;
    }

    #[inline(always)]
    fn append(&mut self, text: &[u8]) {
        match self.out.get_mut(self.end..self.end + text.len()) {
            Some(room) => room.copy_from_slice(text),
            None => self.append_with_more_room(text),
        }
        self.end += text.len();
    }

    #[cold]
    fn append_with_more_room(&mut self, text: &[u8]) {
        self.out.truncate(self.end);
        self.out.extend_from_slice(text);
        self.out.resize(self.out.len() + MORE_ROOM, 0);
    }

    /// Makes a day of the date of this length that ends here, if it has only a year or a month.
    fn complete_date(&mut self, length: usize) {
        let rest: &[u8] = match length {
            YEAR_LENGTH => b"-01-01\"",
            MONTH_LENGTH => b"-01\"",
            _ => return,
        };
        // In place of the closing quote.
        self.end -= 1;
        self.append(rest);
    }
}

impl Drop for ShortTexts<'_> {
    fn drop(&mut self) {
        self.out.truncate(self.end);
    }
}

const YEAR_LENGTH: usize = "\"2026\"".len();
const MONTH_LENGTH: usize = "\"2026-06\"".len();

#[derive(Default)]
pub(crate) struct RecordBuffer {
    lengths: Vec<u8>,
    values: Vec<u8>,
    shape: Option<&'static RecordShape>,
    fields: usize,
}

impl RecordBuffer {
    pub(crate) fn clear(&mut self, table: Table) {
        self.lengths.clear();
        self.values.clear();
        self.shape = Some(RecordShape::of_table(table));
        self.fields = 0;
    }

    /// Appends the record as it is stored.
    pub(crate) fn append_to<'o>(&self, out: &'o mut Vec<u8>, table: Table) -> RecordText<'o> {
        let start = out.len();
        out.extend_from_slice(&self.lengths);
        out.extend_from_slice(&self.values);
        RecordText::new(out[start..].into(), table).expect("each field was added")
    }
}

/// Adds the stored fields of a record, in their order.
impl FieldVisitor for RecordBuffer {
    fn field(&mut self, field: &'static Field, value: &impl Serialize) {
        if field.is_joined {
            return;
        }
        let shape = &self.shape.expect("the buffer is of a table").fields[self.fields];
        let start = self.values.len();
        let mut json = serde_json::Serializer::with_formatter(&mut self.values, shape.members.formatter());
        value.serialize(&mut json).expect("record fields always have a JSON form");
        if self.values[start..] == *shape.absent {
            self.values.truncate(start);
        }
        let length = self.values.len() - start;
        match (u8::try_from(length), u16::try_from(length)) {
            (Ok(length @ ..TWO_BYTES), _) => self.lengths.push(length),
            (_, Ok(length)) => {
                self.lengths.push(TWO_BYTES);
                self.lengths.extend_from_slice(&length.to_le_bytes());
            }
            _ => {
                self.lengths.push(FOUR_BYTES);
                self.lengths.extend_from_slice(&(length as u32).to_le_bytes());
            }
        }
        self.fields += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn record(table: Table, values: &[Value]) -> RecordText<'static> {
        let mut buffer = RecordBuffer::default();
        buffer.clear(table);
        for (field, value) in table.fields().iter().zip(values) {
            buffer.field(field, value);
        }
        let mut stored = Vec::new();
        buffer.append_to(&mut stored, table);
        RecordText::new(stored.into(), table).unwrap()
    }

    /// The same by text.
    fn naive(table: Table, values: &[Value], fields: &[usize]) -> String {
        let fields = fields.iter().map(|index| format!(",\"{}\":{}", table.fields()[*index].name, values[*index]));
        fields.collect()
    }

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b"before".to_vec();
        write(&mut out);
        String::from_utf8(out).unwrap().strip_prefix("before").unwrap().to_owned()
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let text = "[a-z\"\\\\\u{1}\n\u{e4}]{0,40}";
        prop_oneof![
            Just(Value::Null),
            Just(json!([])),
            any::<u32>().prop_map(Value::from),
            text.prop_map(Value::from),
            prop::collection::vec(text, 0..20).prop_map(Value::from),
            text.prop_map(|name| json!([{ "slug": name, "name": null }, { "scheme": [{ "lead": name }] }, {}])),
        ]
    }

    proptest! {
        #[test]
        fn fields_are_written_as_they_were_added(
            index in 0..6_usize,
            values in prop::collection::vec(any_value(), MAX_FIELDS),
            picked in prop::collection::vec(any::<prop::sample::Index>(), 0..9),
        ) {
            let table = Table::ALL[index];
            let count = table.fields().len();
            let record = record(table, &values);
            let whole: Vec<usize> = (0..count).collect();
            let expected = naive(table, &values, &whole);
            prop_assert_eq!(String::from_utf8(record.json()).unwrap(), format!("{{{}}}", &expected[1..]));
            let picked: Vec<usize> = picked.iter().map(|index| index.index(count)).collect();
            let some = written(|out| record.write_fields(out, picked.iter().copied()));
            prop_assert_eq!(some, naive(table, &values, &picked));
            prop_assert_eq!(written(|out| record.write_object(out, 0..0)), "{");
            let head = written(|out| record.write_object(out, 0..2));
            prop_assert_eq!(head, format!("{{{}", &naive(table, &values, &[0, 1])[1..]));
            for (field, value) in values.iter().enumerate().take(count) {
                let json = value.to_string();
                prop_assert_eq!(&*record.value(field), json.as_bytes());
                let mut buffer = Vec::new();
                prop_assert_eq!(record.value_in(field, &mut buffer), json.as_bytes());
                prop_assert_eq!(record.is_known(field), !matches!(json.as_str(), "null" | "[]"));
                prop_assert_eq!(&record.parse::<Value>(field).unwrap(), value);
            }
        }
    }

    #[test]
    fn months_and_years_become_their_first_days() {
        let table = Table::Rounds;
        let date = table.field_index("announced_on");
        for (known, day) in [("2026", "2026-01-01"), ("2026-06", "2026-06-01"), ("2026-06-07", "2026-06-07")] {
            let mut values = vec![Value::Null; table.fields().len()];
            (values[0], values[date]) = (json!("2026"), json!(known));
            let record = record(table, &values);
            values[date] = json!(day);
            let fields: Vec<usize> = (0..values.len()).collect();
            let with_days = written(|out| record.write_object_with_days(out, 0..values.len()));
            assert_eq!(with_days, format!("{{{}", &naive(table, &values, &fields)[1..]));
        }
        let record = record(table, &vec![Value::Null; table.fields().len()]);
        assert!(written(|out| record.write_object_with_days(out, 0..date + 1)).ends_with("\"announced_on\":null"));
    }

    #[test]
    fn a_value_without_content_takes_one_byte_and_a_long_one_up_to_five_more_than_its_own() {
        let table = Table::Sectors;
        let stored = |length: usize| {
            let mut values = vec![Value::Null; table.fields().len()];
            values[0] = Value::from("x".repeat(length));
            record(table, &values).stored().len() - table.fields().len() - length - 2
        };
        assert_eq!([0, 251, 252, 65_533, 65_534].map(stored), [0, 0, 2, 2, 4]);
    }

    #[test]
    fn lengths_that_are_not_those_of_the_values_are_no_record() {
        let table = Table::Sectors;
        let count = table.fields().len();
        let lengths = |lengths: &[u8], length: usize| {
            let stored = [lengths, &vec![b'x'; length]].concat();
            RecordText::new(stored.into(), table).is_some()
        };
        let ones = vec![1; count];
        assert!(lengths(&ones, count));
        assert!(!lengths(&ones, count - 1) && !lengths(&ones, count + 1) && !lengths(&ones[1..], 0));
        for wide in [&[254, 1, 0][..], &[255, 1, 0, 0, 0]] {
            assert!(lengths(&[wide, &ones[1..]].concat(), count));
        }
        let last = &ones[1..];
        for cut in [&[254][..], &[254, 1], &[255, 1, 0, 0], &[255, 255, 255, 255, 255]] {
            assert!(!lengths(&[last, cut].concat(), count - 1), "{cut:?}");
        }
    }
}
