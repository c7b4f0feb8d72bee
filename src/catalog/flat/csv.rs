//! Flat rows as CSV: RFC 4180 in UTF-8, lines end with a line feed. An unknown value is an empty cell, a list of texts a
//! cell that is itself CSV, separated by `;`: nearly always `fintech;payments`, and nothing is lost if a text has a `;`.
//! A text that a spreadsheet would take for a formula is marked, see [`formula`].

use std::io::{self, Write};

use crate::flat::{ColumnType, FlatColumn, PRECISIONS};
use crate::json::{FieldValues, scan};
use data::formula;

pub struct CsvWriter<'c> {
    columns: &'c [FlatColumn],
    text: Vec<u8>,
    /// A value that is not stored as it is written.
    value: Vec<u8>,
    selected: Vec<u8>,
}

impl<'c> CsvWriter<'c> {
    pub fn new(columns: &'c [FlatColumn]) -> Self {
        Self::with_capacity(columns, 0)
    }

    pub fn with_capacity(columns: &'c [FlatColumn], bytes: usize) -> Self {
        Self { columns, text: Vec::with_capacity(bytes), value: Vec::new(), selected: Vec::new() }
    }

    /// Length in bytes of the text.
    pub fn len(&self) -> usize {
        self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub fn into_text(self) -> Vec<u8> {
        self.text
    }

    /// Moves the text to `out` if it has at least `length` bytes.
    pub fn write_part(&mut self, out: &mut impl Write, length: usize) -> io::Result<()> {
        if self.text.len() >= length {
            out.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    pub fn header(&mut self) {
        let start = self.text.len();
        for column in self.columns {
            write_quoted(&mut self.text, column.name.as_bytes());
            self.text.push(b',');
        }
        self.end_line(start);
    }

    /// Writes the row of a record that has the fields of the columns.
    pub fn row(&mut self, record: &impl FieldValues) {
        let start = self.text.len();
        for columns in self.columns.chunk_by(|left, right| left.index == right.index) {
            let value = record.value(columns[0].index, &mut self.value);
            for column in columns {
                let value = member(value, &column.path[1..]);
                if column.mask.is_full() {
                    write_cell(&mut self.text, column.kind, value);
                } else {
                    self.selected.clear();
                    column.mask.write(&mut self.selected, value);
                    write_cell(&mut self.text, column.kind, &self.selected);
                }
                self.text.push(b',');
            }
        }
        self.end_line(start);
    }

    /// Ends the line from `start` on, whose cells each end with a comma.
    fn end_line(&mut self, start: usize) {
        self.text.pop();
        if self.text.len() <= start {
            // Readers skip an empty line.
            self.text.extend_from_slice(b"\"\"");
        }
        self.text.push(b'\n');
    }
}

/// The value at a path within an object; `null` if there is none.
fn member<'j>(object: &'j [u8], path: &[&str]) -> &'j [u8] {
    path.iter().fold(object, |object, name| {
        let mut members = scan::members(object);
        members.find(|(known, _)| *known == name.as_bytes()).map_or(b"null", |(_, value)| value)
    })
}

fn write_cell(out: &mut Vec<u8>, kind: ColumnType, json: &[u8]) {
    if json == b"null" {
        return;
    }
    match kind {
        ColumnType::Text => write_text(out, json),
        ColumnType::Integer | ColumnType::Number | ColumnType::Boolean => out.extend_from_slice(json),
        ColumnType::Date => {
            let date = scan::text(json);
            out.extend_from_slice(date);
            out.extend_from_slice(["-01-01", "-01", ""][precision(date)].as_bytes());
        }
        ColumnType::Precision => out.extend_from_slice(PRECISIONS[precision(scan::text(json))].as_bytes()),
        ColumnType::Texts => write_texts(out, json),
        ColumnType::Json => write_quoted(out, json),
    }
}

/// The index of the precision of a date.
pub(super) fn precision(date: &[u8]) -> usize {
    // The lengths of `2026`, `2026-06` and `2026-06-01` differ by 3.
    (date.len().saturating_sub("2026".len()) / 3).min(2)
}

fn write_text(out: &mut Vec<u8>, json: &[u8]) {
    let text = scan::text(json);
    // JSON escapes quotes and the ends of lines.
    if text.contains(&b'\\') {
        let text: String = serde_json::from_slice(json).expect("a stored text is JSON");
        return write_marked(out, text.as_bytes());
    }
    let is_quoted = text.contains(&b',');
    out.extend(is_quoted.then_some(b'"'));
    out.extend(formula::begins_formula(text).then_some(formula::MARK));
    out.extend_from_slice(text);
    out.extend(is_quoted.then_some(b'"'));
}

fn write_texts(out: &mut Vec<u8>, json: &[u8]) {
    let is_plain = |text: &[u8]| !text.is_empty() && !text.iter().any(|byte| matches!(byte, b'\\' | b';' | b','));
    if json.contains(&b'\\') || !scan::items(json).all(|item| is_plain(scan::text(item))) {
        let texts: Vec<String> = serde_json::from_slice(json).expect("a stored list of texts is JSON");
        let mut cell = Vec::new();
        texts.iter().enumerate().for_each(|(index, text)| write_item(&mut cell, index, text));
        return write_marked(out, &cell);
    }
    for (index, item) in scan::items(json).map(scan::text).enumerate() {
        out.extend((index > 0).then_some(b';'));
        out.extend((index == 0 && formula::begins_formula(item)).then_some(formula::MARK));
        out.extend_from_slice(item);
    }
}

/// Writes a text of a list; quotes it as in CSV unless it is plain.
fn write_item(cell: &mut Vec<u8>, index: usize, text: &str) {
    cell.extend((index > 0).then_some(b';'));
    if text.is_empty() || text.contains([';', '"', '\r', '\n']) {
        cell.push(b'"');
        cell.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        cell.push(b'"');
    } else {
        cell.extend_from_slice(text.as_bytes());
    }
}

/// Writes a text of a cell, with a mark if it begins like a formula.
fn write_marked(out: &mut Vec<u8>, text: &[u8]) {
    if formula::begins_formula(text) {
        return write_quoted(out, &[&[formula::MARK], text].concat());
    }
    write_quoted(out, text);
}

/// Writes the content of a cell, with quotes if it needs them.
fn write_quoted(out: &mut Vec<u8>, content: &[u8]) {
    if !content.iter().any(|byte| matches!(byte, b',' | b'"' | b'\r' | b'\n')) {
        return out.extend_from_slice(content);
    }
    let start = out.len();
    out.resize(start + 2 * content.len() + 2, b'"');
    // The rest of the buffer is quotes: each is doubled by leaving out the next one.
    let mut end = start + 1;
    for byte in content {
        out[end] = *byte;
        end += 1 + usize::from(*byte == b'"');
    }
    out.truncate(end + 1);
}

#[cfg(test)]
mod tests {
    use csv::{ReaderBuilder, WriterBuilder};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::Resource;
    use crate::flat::{FlatValue, list_columns, table_columns, visit_values};
    use crate::json::{ComposedRecord, FieldSet, Fields};
    use data::Table;

    /// A record as a whole.
    struct Values<'v>(&'v serde_json::Value);

    impl FieldValues for Values<'_> {
        fn value<'v>(&'v self, field: usize, buffer: &'v mut Vec<u8>) -> &'v [u8] {
            *buffer = self.0[Table::Rounds.fields()[field].name].to_string().into_bytes();
            buffer
        }
    }

    fn cells(record: &serde_json::Value) -> Vec<String> {
        let columns = table_columns(Table::Rounds);
        let mut csv = CsvWriter::new(&columns);
        csv.row(&Values(record));
        let text = csv.into_text();
        let mut reader = ReaderBuilder::new().has_headers(false).from_reader(&text[..]);
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), 1, "{}", String::from_utf8_lossy(&text));
        rows[0].iter().map(str::to_owned).collect()
    }

    /// Parses the texts of a cell, by the rule of the documentation.
    fn items(cell: &str) -> Vec<String> {
        let mut reader = ReaderBuilder::new().has_headers(false).delimiter(b';').from_reader(cell.as_bytes());
        reader.records().next().map_or_else(Vec::new, |row| row.unwrap().iter().map(str::to_owned).collect())
    }

    fn round(id: &str, sectors: &[String]) -> serde_json::Value {
        json!({
            "id": id, "startup": { "slug": "a", "name": id }, "stage": "seed", "amount_usd": null,
            "announced_on": "2026-06", "lead_investors": null, "investors": [{ "slug": "-b", "name": "B;\"B\"" }],
            "sectors": sectors, "country": null, "suspect": false,
        })
    }

    #[test]
    fn a_row_has_a_cell_for_each_column() {
        let cells = cells(&round("r1", &["x".to_owned(), "y".to_owned()]));
        let investors = r#"[{"name":"B;\"B\"","slug":"-b"}]"#;
        assert_eq!(cells, ["r1", "a", "r1", "seed", "", "2026-06-01", "month", "", investors, "x;y", "", "false"]);
    }

    #[test]
    fn texts_that_begin_like_formulas_are_marked() {
        for text in ["=1+1", "@x", "\tx", "＝1+1"] {
            let cells = cells(&round(text, &[text.to_owned()]));
            let marked = format!("'{text}");
            assert_eq!((&cells[0], &cells[2], &cells[9]), (&marked, &marked, &marked));
        }
        assert_eq!(cells(&round("x=1", &[]))[0], "x=1");
    }

    /// The line of a record by its parsed values and by the writer of the crate `csv`.
    fn naive_line(columns: &[FlatColumn], record: &[u8]) -> String {
        let mut out = WriterBuilder::new().from_writer(Vec::new());
        let text = |texts: &[&str], is_list: bool| {
            let mut cell = Vec::new();
            match is_list {
                true => texts.iter().enumerate().for_each(|(index, text)| write_item(&mut cell, index, text)),
                false => cell.extend_from_slice(texts[0].as_bytes()),
            }
            formula::neutralize(String::from_utf8(cell).unwrap())
        };
        let cells = |_: &FlatColumn, value: FlatValue<'_>| {
            let cell = match value {
                FlatValue::Null => String::new(),
                FlatValue::Text(one) => text(&[&one], false),
                FlatValue::Texts(texts) => text(&texts.iter().map(|one| &**one).collect::<Vec<_>>(), true),
                FlatValue::Integer(number) => number.to_string(),
                FlatValue::Number(_, digits) => digits.to_owned(),
                FlatValue::Boolean(value) => value.to_string(),
                FlatValue::Date(date) => date.to_string(),
                FlatValue::Json(json) => json.to_owned(),
            };
            Ok(out.write_field(cell)?)
        };
        visit_values(columns, record, cells).unwrap();
        out.write_record(None::<&[u8]>).unwrap();
        String::from_utf8(out.into_inner().unwrap()).unwrap()
    }

    #[test]
    fn lines_are_those_of_parsed_values() {
        let catalog = crate::bundled().unwrap();
        for table in Table::ALL {
            let resource = Resource::of_table(table);
            let parse = |fields: &str| {
                let values = [("fields".to_owned(), fields.to_owned())];
                Fields::parse(&values, FieldSet::of_list(resource)).unwrap()
            };
            let nested = match table {
                Table::Firms => "top_co_investors.slug,score.low,score.components.points,city",
                Table::Startups => "rounds.investors.name,investors.lead,city",
                _ => "first_seen",
            };
            for fields in [Fields::Default, Fields::All, parse(nested)] {
                let columns = list_columns(resource, &fields);
                for row in 0..catalog.snapshot().rows(table) {
                    let record = ComposedRecord::new(&catalog, table, row);
                    let (mut json, mut csv) = (Vec::new(), CsvWriter::new(&columns));
                    record.write(&mut json, &fields, false);
                    csv.row(&record);
                    assert_eq!(String::from_utf8(csv.into_text()).unwrap(), naive_line(&columns, &json));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            id in "[a-z;,\"'\r\n =\t\u{e4}\u{1f600}]{1,12}",
            sectors in prop::collection::vec("[a-z;,\"'\r\n =\t\u{e4}]{0,6}", 0..4),
        ) {
            let cells = cells(&round(&id, &sectors));
            prop_assert_eq!(formula::restore(&cells[0]), &id);
            prop_assert_eq!(formula::restore(&cells[2]), &id);
            prop_assert_eq!(items(formula::restore(&cells[9])), sectors);
        }
    }
}
