//! Flat rows as CSV: RFC 4180 in UTF-8, lines end with a line feed. An unknown value is an empty cell, a list of texts a
//! cell that is itself CSV, separated by `;`: nearly always `fintech;payments`, and nothing is lost if a text has a `;`.
//! A text that a spreadsheet would take for a formula is marked, see [`formula`].

use std::io::{self, Write};

use csv::{QuoteStyle, WriterBuilder};

use crate::flat::{FlatColumn, FlatValue, visit_values};
use data::formula;

pub struct CsvWriter<'c, W: Write> {
    out: csv::Writer<W>,
    columns: &'c [FlatColumn],
    cell: Vec<u8>,
}

impl<'c, W: Write> CsvWriter<'c, W> {
    pub fn new(out: W, columns: &'c [FlatColumn]) -> Self {
        let out = WriterBuilder::new().quote_style(QuoteStyle::Necessary).from_writer(out);
        Self { out, columns, cell: Vec::new() }
    }

    pub fn header(&mut self) -> io::Result<()> {
        Ok(self.out.write_record(self.columns.iter().map(|column| &column.name))?)
    }

    pub fn row(&mut self, record: &[u8]) -> io::Result<()> {
        let (out, cell) = (&mut self.out, &mut self.cell);
        visit_values(self.columns, record, |_, value| {
            cell.clear();
            write_cell(cell, &value)?;
            // JSON begins with a bracket.
            let is_text = matches!(value, FlatValue::Text(_) | FlatValue::Texts(_));
            if is_text && formula::begins_formula(cell) {
                cell.insert(0, formula::MARK);
            }
            Ok(out.write_field(&cell[..])?)
        })?;
        Ok(self.out.write_record(None::<&[u8]>)?)
    }

    pub fn finish(self) -> io::Result<W> {
        self.out.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

fn write_cell(cell: &mut Vec<u8>, value: &FlatValue<'_>) -> io::Result<()> {
    match value {
        FlatValue::Null => Ok(()),
        FlatValue::Text(text) => cell.write_all(text.as_bytes()),
        FlatValue::Integer(number) => write!(cell, "{number}"),
        FlatValue::Number(_, text) | FlatValue::Json(text) => cell.write_all(text.as_bytes()),
        FlatValue::Boolean(value) => write!(cell, "{value}"),
        FlatValue::Date(date) => write!(cell, "{date}"),
        FlatValue::Texts(texts) => {
            texts.iter().enumerate().for_each(|(index, text)| write_item(cell, index, text));
            Ok(())
        }
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

#[cfg(test)]
mod tests {
    use csv::ReaderBuilder;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::flat::table_columns;
    use data::Table;

    fn cells(record: &serde_json::Value) -> Vec<String> {
        let columns = table_columns(Table::Rounds);
        let mut out = CsvWriter::new(Vec::new(), &columns);
        out.row(record.to_string().as_bytes()).unwrap();
        let text = out.finish().unwrap();
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

    #[test]
    fn a_record_that_is_not_one_is_an_error() {
        let columns = table_columns(Table::Sectors);
        let mut out = CsvWriter::new(Vec::new(), &columns);
        assert!(out.row(b"{\"slug\":").is_err());
        assert!(out.row(b"{\"slug\":1}").is_err());
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
