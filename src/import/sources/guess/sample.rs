//! Sample of a file: its first rows, and the format in which they are written.

use crate::sources::SourceError;
use crate::sources::input::{self, InputFormat, InputRow, Member, RowReceiver};
use data::NoProgress;

const MAX_ROWS: usize = 1_000;

/// Bytes of values in a sample: those of all tables are kept.
const MAX_SAMPLE: usize = 2 << 20;

#[derive(Clone, Debug, Default)]
pub(crate) struct Sample {
    pub headers: Vec<String>,
    /// Non-empty values of each column.
    pub values: Vec<Vec<String>>,
    /// Rows of these values.
    pub rows: Vec<Vec<usize>>,
    /// Number of rows.
    pub height: usize,
    pub format: InputFormat,
    /// Lines above the header.
    pub titles: Vec<String>,
    /// Bytes of all values.
    pub bytes: usize,
}

impl Sample {
    pub(crate) fn read(member: &Member) -> Result<Self, SourceError> {
        Self::read_as(member, InputFormat::default())
    }

    pub(crate) fn read_as(member: &Member, format: InputFormat) -> Result<Self, SourceError> {
        let mut sample = Self { format: format.clone(), ..Self::default() };
        let result = input::read_rows(member, &format, &NoProgress, &mut sample);
        // A full sample stops the reader with an error.
        if sample.is_full() { Ok(sample) } else { result.map(|()| sample) }
    }

    fn is_full(&self) -> bool {
        self.bytes >= MAX_SAMPLE || self.values.iter().any(|values| values.len() >= MAX_ROWS)
    }
}

impl RowReceiver for Sample {
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>, SourceError> {
        self.headers = names.to_vec();
        self.values = vec![Vec::new(); names.len()];
        self.rows = vec![Vec::new(); names.len()];
        Ok((0..names.len()).map(Some).collect())
    }

    fn row(&mut self, row: &InputRow) -> Result<(), SourceError> {
        for (index, (values, rows)) in self.values.iter_mut().zip(&mut self.rows).enumerate() {
            let value = row.get(index);
            self.bytes += size_of::<String>();
            if !value.is_empty() {
                self.bytes += value.len();
                values.push(value.to_owned());
                rows.push(self.height);
            }
        }
        self.height += 1;
        if self.is_full() { Err(SourceError::Problems(Vec::new())) } else { Ok(()) }
    }

    fn titles(&mut self, titles: Vec<String>) {
        self.titles = titles;
    }

    fn doubt(&mut self, _line: u64, _problem: String) {}

    fn format(&mut self, format: &InputFormat) {
        self.format = format.clone();
    }
}
