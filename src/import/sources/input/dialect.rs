//! Detects delimiter and quotation mark of delimited text from its beginning.

use std::io::{self, Read};

use csv::{ByteRecord, ReaderBuilder};

use crate::sources::input::csv_rows::CsvReader;
use crate::sources::input::header::SAMPLE_ROWS;
use crate::sources::input::{InputFormat, Quote};
use data::import::csv_reader::CsvDialect;

/// Bytes from which the layout of a file is detected.
pub(super) const SAMPLE: u64 = 1 << 18;

/// Delimiters that exporters write, the most frequent first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// The beginning of a file, as UTF-8.
pub(super) struct Beginning {
    bytes: Vec<u8>,
    fault: Option<io::Error>,
}

impl Beginning {
    pub(super) fn read(from: &mut dyn Read) -> Self {
        let (mut from, mut bytes) = (from.take(SAMPLE), Vec::new());
        let fault = from.read_to_end(&mut bytes).err();
        Self { bytes, fault }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The lines that are whole.
    fn lines(&self) -> &[u8] {
        let bytes = self.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.bytes);
        let is_cut = self.bytes.len() as u64 >= SAMPLE || self.fault.is_some();
        match bytes.iter().rposition(|byte| *byte == b'\n' || *byte == b'\r') {
            Some(end) if is_cut => &bytes[..end],
            _ => bytes,
        }
    }

    /// The whole file: the beginning, the fault that ended it, or else the rest.
    pub(super) fn chain<'a>(&'a mut self, rest: &'a mut dyn Read) -> impl Read + 'a {
        let fault = FaultReader(self.fault.take());
        self.bytes.as_slice().chain(fault).chain(rest)
    }

    /// Delimiter and quotation mark. What the format states is kept.
    pub(super) fn dialect(&self, format: &InputFormat, default: u8) -> CsvDialect {
        let lines = self.lines();
        let stated = format.delimiter.or_else(|| separator_line(lines));
        let delimiter = stated.unwrap_or_else(|| delimiter(lines, default));
        let quote = format.quote.unwrap_or_else(|| quote(lines, delimiter));
        CsvDialect { delimiter, quote: quote.0 }
    }

    /// The first rows.
    pub(super) fn rows(&self, dialect: CsvDialect) -> Vec<Vec<String>> {
        let text = |record: ByteRecord| record.iter().map(|cell| String::from_utf8_lossy(cell).into_owned()).collect();
        records(self.lines(), dialect).map(text).collect()
    }
}

struct FaultReader(Option<io::Error>);

impl Read for FaultReader {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

fn records(text: &[u8], dialect: CsvDialect) -> impl Iterator<Item = ByteRecord> + '_ {
    let mut builder = ReaderBuilder::new();
    builder.delimiter(dialect.delimiter).has_headers(false).flexible(true);
    match dialect.quote {
        Some(quote) => builder.quote(quote),
        None => builder.quoting(false),
    };
    builder.from_reader(text).into_byte_records().map_while(Result::ok).take(SAMPLE_ROWS)
}

/// Delimiter that Excel reads from a line `sep=;` above the header.
fn separator_line(text: &[u8]) -> Option<u8> {
    let line = text.split(|byte| *byte == b'\n' || *byte == b'\r').next()?;
    match line {
        [quote @ b'"', line @ .., end] if quote == end => separator(line),
        line => separator(line),
    }
}

fn separator(line: &[u8]) -> Option<u8> {
    match line {
        [name @ .., b'=', delimiter] if name.eq_ignore_ascii_case(b"sep") && delimiter.is_ascii() => Some(*delimiter),
        _ => None,
    }
}

/// True for the first record of a file if it is a line `sep=;`.
pub(super) fn is_separator_row(row: &[String], delimiter: u8) -> bool {
    match row {
        [only] => separator(only.as_bytes()).is_some(),
        [name, rest @ ..] => {
            let written = [name.as_bytes(), &[delimiter]].concat();
            rest.iter().all(String::is_empty) && separator(&written).is_some()
        }
        [] => false,
    }
}

/// The delimiter by which most rows have the same number of cells. Of equal ones, the one with more cells, then `default`.
fn delimiter(text: &[u8], default: u8) -> u8 {
    let mut best = (0.0, 1, default);
    for delimiter in std::iter::once(default).chain(DELIMITERS.into_iter().filter(|known| *known != default)) {
        let dialect = CsvDialect { delimiter, quote: Quote::default().0 };
        let is_filled = |record: &ByteRecord| record.iter().any(|cell| !cell.trim_ascii().is_empty());
        let widths: Vec<usize> = records(text, dialect).filter(is_filled).map(|record| record.len()).collect();
        let (share, width) = agreement(&widths);
        if width > 1 && (share, width) > (best.0, best.1) {
            best = (share, width, delimiter);
        }
    }
    best.2
}

/// The most frequent width above 1, and the share of rows that have it.
fn agreement(widths: &[usize]) -> (f64, usize) {
    let mut sorted: Vec<usize> = widths.iter().copied().filter(|width| *width > 1).collect();
    sorted.sort_unstable();
    let most = sorted.chunk_by(|left, right| left == right).max_by_key(|alike| alike.len()).unwrap_or_default();
    (most.len() as f64 / widths.len().max(1) as f64, most.first().copied().unwrap_or(1))
}

/// Quotation mark of the rows: `'` if most texts are within a pair of them, none if marks are parts of texts.
fn quote(text: &[u8], delimiter: u8) -> Quote {
    let (mut texts, mut within) = (0, 0);
    let plain = CsvDialect { delimiter, quote: None };
    for record in records(text, plain).skip(1) {
        for cell in record.iter().map(<[u8]>::trim_ascii).filter(|cell| cell.iter().any(u8::is_ascii_alphabetic)) {
            texts += 1;
            within += usize::from(matches!(cell, [b'\'', _, .., b'\'']));
        }
    }
    if within * 2 > texts {
        return Quote(Some(b'\''));
    }
    let quote = Quote::default();
    // Exports of databases do not quote cells between tabs. Elsewhere a mark that is never closed is more likely an error.
    let is_doubtful = || is_doubtful(text, CsvDialect { delimiter, quote: quote.0 });
    if delimiter == b'\t' && is_unquoted(text, delimiter) && is_doubtful() {
        return Quote(None);
    }
    quote
}

/// True if a quoted cell goes on over lines that look like rows.
fn is_doubtful(text: &[u8], dialect: CsvDialect) -> bool {
    let mut csv = CsvReader::new(text, dialect);
    let (mut record, mut width) = (ByteRecord::new(), 0);
    loop {
        match csv.read(&mut record, width) {
            Ok(true) if csv.doubt().is_none() => width = if width == 0 { record.len() } else { width },
            Ok(false) => return false,
            Ok(true) | Err(_) => return true,
        }
    }
}

/// True if the lines are rows without quoting: all have as many cells as the first, and no cell is in quotation marks.
fn is_unquoted(text: &[u8], delimiter: u8) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let lines = lines.filter(|line| !line.is_empty());
    let mut rows = lines.map(|line| line.split(|byte| *byte == delimiter));
    let width = rows.next().map_or(0, Iterator::count);
    rows.all(|cells| {
        let is_quoted = |cell: &[u8]| matches!(cell.trim_ascii(), [b'"', .., b'"']);
        cells.clone().count() == width && !cells.clone().any(is_quoted)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(text: &str, default: u8) -> (char, Option<char>) {
        let beginning = Beginning::read(&mut text.as_bytes());
        let CsvDialect { delimiter, quote } = beginning.dialect(&InputFormat::default(), default);
        (char::from(delimiter), quote.map(char::from))
    }

    #[test]
    fn delimiters_and_marks_are_those_that_give_even_rows() {
        let double = Some('"');
        for (text, expected) in [
            ("a,b,c\n1,2,3\n", (',', double)),
            ("Name;Betrag;Land\nA;1,5;DE\nB;2,5;FR\n", (';', double)),
            ("a\tb\nx, y\t1\nz\t2\n", ('\t', double)),
            ("a|b\nx|1\n", ('|', double)),
            ("name,stages\nA,seed;series-a\nB,seed;series-b\n", (',', double)),
            ("name,about\nA,\"x; y; z\"\nB,\"p; q; r\"\n", (',', double)),
            ("Report; of today\n\na,b,c\n1,2,3\n4,5,6\n", (',', double)),
            ("sep=|\na,b|c\n", ('|', double)),
            ("\"sep=;\"\na;b\n", (';', double)),
            ("name\nAlder\nBirch\n", (',', double)),
            ("", (',', double)),
            ("id;name\n'a';'Alder; x'\n'b';'Birch'\n", (';', Some('\''))),
            ("a\tb\nx\t\"open\ny\tz\n", ('\t', None)),
            ("a,b\nx,\"open\ny,\"z, w\"\n", (',', double)),
            ("a,b\nO'Hara,'t Veen\n", (',', double)),
        ] {
            assert_eq!(dialect(text, b','), expected, "{text:?}");
        }
        assert_eq!(dialect("name\nAlder, Birch\n", b'\t').0, ',');
        assert_eq!(dialect("name\nAlder\n", b'\t').0, '\t');
    }

    #[test]
    fn a_fault_of_the_beginning_comes_again_at_its_place() {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        let mut beginning = Beginning::read(&mut b"a,b\n1,".as_slice().chain(Broken));
        let (mut bytes, mut rest) = (Vec::new(), io::repeat(b'x'));
        let error = beginning.chain(&mut rest).read_to_end(&mut bytes).unwrap_err();
        assert_eq!((bytes.as_slice(), error.to_string().as_str()), (&b"a,b\n1,"[..], "broken"));
    }
}
