//! Reads rows of delimited text.

use std::io::Read;

use csv::ByteRecord;
use encoding_rs_io::DecodeReaderBytesBuilder;

use crate::sources::Result;
use crate::sources::input::limits::LimitExceeded;
use crate::sources::input::{Encoding, InputFormat, InputRow, Member, RowReceiver};
use data::formula;
pub(super) use data::import::csv_reader::{CsvError, CsvReader};

pub(super) fn read(member: &Member, from: &mut dyn Read, format: &InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let encoding = match format.encoding {
        // Without decoding, a field that is not UTF-8 can be reported with its line.
        Encoding::Utf8 => return read_bytes(member, from, format, to),
        Encoding::Windows1252 => encoding_rs::WINDOWS_1252,
        Encoding::Utf16 => encoding_rs::UTF_16LE,
    };
    // A byte order mark may name another encoding.
    let mut decoded = DecodeReaderBytesBuilder::new().encoding(Some(encoding)).build(from);
    read_bytes(member, &mut decoded, format, to)
}

fn read_bytes(member: &Member, from: &mut dyn Read, format: &InputFormat, to: &mut dyn RowReceiver) -> Result<()> {
    let mut csv = CsvReader::new(from, format.dialect(member));
    let mut raw = ByteRecord::new();
    for _ in 0..=format.skip {
        if !read_row(&mut csv, &mut raw, 0, member, to)? {
            return Err(member.error(1, "file is empty; the header line is missing"));
        }
    }
    let names: Vec<String> = raw.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let (width, positions) = (raw.len(), to.header(&names)?);
    let mut row = InputRow { file: member.index, ..InputRow::default() };
    while read_row(&mut csv, &mut raw, width, member, to)? {
        let line = csv.line();
        // Spreadsheets omit empty fields at the end, and write empty lines. Only extra values are an error.
        if raw.len() > width && raw.iter().skip(width).any(|field| !field.is_empty()) {
            to.bad_row(line, format!("{} fields, the header has {width}", raw.len()));
            continue;
        }
        if to.is_sampling() {
            for (_, (name, field)) in
                names.iter().zip(&raw).enumerate().filter(|(at, _)| !positions.contains(&Some(*at)))
            {
                to.sample(name, &String::from_utf8_lossy(field));
            }
            to.end_sample();
        }
        row.clear(line);
        let read = positions.iter().try_for_each(|position| {
            let field = position.and_then(|position| raw.get(position)).unwrap_or_default();
            let text = |field| if format.has_marked_formulas { formula::restore(field) } else { field };
            std::str::from_utf8(field).map(|field| row.push(text(field))).map_err(|_| {
                let name = position.and_then(|position| names.get(position)).map_or("", String::as_str);
                format!("{name}: is not UTF-8; name the encoding of the input, such as `windows-1252`")
            })
        });
        match read {
            Ok(()) => to.row(&row)?,
            Err(problem) => to.bad_row(line, problem),
        }
    }
    Ok(())
}

/// Reads the next row and reports suspicious quoting; false at the end.
fn read_row<R: Read>(
    csv: &mut CsvReader<R>,
    raw: &mut ByteRecord,
    width: usize,
    member: &Member,
    to: &mut dyn RowReceiver,
) -> Result<bool> {
    let is_read = csv.read(raw, width).map_err(|error| {
        let line = csv.line();
        match error {
            CsvError::Io(error) => member.fault(line, error),
            CsvError::TooLarge(limit) => member.error(line, LimitExceeded::from(limit)),
            CsvError::Unclosed | CsvError::Torn => {
                let remedy = "an input that quotes no cell needs `quote = \"none\"` in its mapping";
                member.error(line, format!("{error}; {remedy}"))
            }
            CsvError::Width { .. } | CsvError::NotUtf8 => member.error(line, error),
        }
    })?;
    if let Some((line, doubt)) = csv.doubt().filter(|_| is_read) {
        to.doubt(line, doubt.to_string());
    }
    Ok(is_read)
}
