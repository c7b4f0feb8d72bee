//! Sample of a file: its first rows, encoding and delimiter.

use std::io::{BufRead, BufReader, Read};

use crate::sources::SourceError;
use crate::sources::input::{self, Encoding, InputFormat, InputRow, Member, Quote, RowReceiver};
use data::NoProgress;

const MAX_ROWS: usize = 1_000;

/// Bytes of values in a sample: those of all tables are kept.
const MAX_SAMPLE: usize = 2 << 20;

/// Bytes from which encoding and delimiter are detected.
const MAX_BYTES: u64 = 1 << 18;

#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub headers: Vec<String>,
    /// Non-empty values of each column.
    pub values: Vec<Vec<String>>,
    pub format: InputFormat,
    /// Bytes of all values.
    pub bytes: usize,
    /// True if a quoted cell is suspicious.
    pub is_doubtful: bool,
}

impl Sample {
    pub(crate) fn read(member: &Member) -> Result<Self, SourceError> {
        if !["csv", "tsv", "tab", "txt"].contains(&member.ending()) {
            return Self::read_as(member, InputFormat::default());
        }
        let (format, beginning) = sniff(member)?;
        let sample = Self::read_as(member, format.clone());
        if sample.as_ref().is_ok_and(|sample| !sample.is_doubtful)
            || !is_unquoted(&beginning, format.dialect(member).delimiter)
        {
            return sample;
        }
        Self::read_as(member, InputFormat { quote: Quote(None), ..format })
    }

    pub(crate) fn read_as(member: &Member, format: InputFormat) -> Result<Self, SourceError> {
        let mut sample = Self { format: format.clone(), ..Self::default() };
        let result = input::read_rows(member, &format, &NoProgress, &mut sample);
        // A full sample stops the reader with an error.
        if sample.is_full() { Ok(sample) } else { result.map(|()| sample) }
    }

    /// Name of the encoding, if a mapping has to name it.
    pub(crate) fn encoding(&self) -> Option<&'static str> {
        let mut named = Encoding::ALL.into_iter().filter(|(_, known)| *known != Encoding::Utf8);
        named.find(|(_, known)| *known == self.format.encoding).map(|(name, _)| name)
    }

    fn is_full(&self) -> bool {
        self.bytes >= MAX_SAMPLE || self.values.iter().any(|values| values.len() >= MAX_ROWS)
    }
}

/// Detects the encoding and the delimiter of a file. Also returns its first lines.
fn sniff(member: &Member) -> Result<(InputFormat, Vec<u8>), SourceError> {
    let mut bytes = Vec::new();
    member.open(&mut |from: &mut dyn Read| {
        bytes.clear();
        let mut from = BufReader::new(from.take(MAX_BYTES));
        from.fill_buf().map_err(|error| member.fault(1, error))?;
        from.read_to_end(&mut bytes).map(drop).map_err(|error| member.fault(1, error))
    })?;
    let mut format = InputFormat::default();
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        format.encoding = Encoding::Utf16;
        bytes.retain(|byte| *byte != 0);
    } else if let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_some()
    {
        format.encoding = Encoding::Windows1252;
    }
    let default = format.dialect(member).delimiter;
    let mut is_quoted = false;
    let header = bytes.split(|byte| {
        is_quoted ^= *byte == b'"';
        *byte == b'\n' && !is_quoted
    });
    let header: Vec<u8> = header.take(1).flatten().copied().collect();
    let count = |delimiter: &u8| header.iter().filter(|byte| **byte == *delimiter).count();
    let most = [b',', b';', b'\t', b'|'].into_iter().rev().max_by_key(count).unwrap_or(default);
    if most != default && count(&most) > 0 {
        format.delimiter = Some(most);
    }
    if bytes.len() as u64 == MAX_BYTES {
        // Drop the last line, which is incomplete.
        bytes.truncate(bytes.iter().rposition(|byte| *byte == b'\n').unwrap_or(0));
    }
    Ok((format, bytes))
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

impl RowReceiver for Sample {
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>, SourceError> {
        self.headers = names.to_vec();
        self.values = vec![Vec::new(); names.len()];
        Ok((0..names.len()).map(Some).collect())
    }

    fn row(&mut self, row: &InputRow) -> Result<(), SourceError> {
        for (index, values) in self.values.iter_mut().enumerate() {
            let value = row.get(index);
            self.bytes += size_of::<String>();
            if !value.is_empty() {
                self.bytes += value.len();
                values.push(value.to_owned());
            }
        }
        if self.is_full() { Err(SourceError::Problems(Vec::new())) } else { Ok(()) }
    }

    fn doubt(&mut self, _line: u64, _problem: String) {
        self.is_doubtful = true;
    }
}
