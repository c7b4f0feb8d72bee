//! Sample of a file: its first rows, and the format in which they are written.

use std::collections::HashSet;

use crate::sources::SourceError;
use crate::sources::input::{self, InputFormat, InputRow, Member, RowReceiver, is_value, may_be_heading};
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
    /// Sheets of the workbook that may be tables, but for this one.
    pub other_sheets: Vec<String>,
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

    /// Takes out the headings of groups of rows, such as a month, and notes that there are some: the first row is one, a row
    /// that fills the columns follows each, and no record has such a name.
    pub(crate) fn remove_headings(&mut self) {
        let width = self.headers.len();
        let mut shapes = vec![SampledRow::default(); self.height];
        for (column, (values, rows)) in self.values.iter().zip(&self.rows).enumerate() {
            for (value, row) in values.iter().zip(rows) {
                let Some(shape) = shapes.get_mut(*row) else { continue };
                if shape.filled == 0 {
                    (shape.column, shape.first) = (column, value);
                }
                shape.filled += 1;
                shape.texts += usize::from(!is_value(value));
            }
        }
        let (headings, others): (Vec<usize>, Vec<usize>) = (0..self.height)
            .partition(|row| shapes.get(*row).is_some_and(|shape| may_be_heading(shape.filled, shape.texts, width)));
        let Some(SampledRow { column, .. }) = shapes.first().cloned() else { return };
        let at = |row: &usize| shapes.get(*row);
        let is_same = |row: &usize| at(row).is_some_and(|shape| shape.column == column);
        let is_followed = |row: &usize| others.binary_search(&(row + 1)).is_ok();
        let names: HashSet<&str> = headings.iter().filter_map(at).map(|shape| shape.first).collect();
        let of_column = self.values.get(column).into_iter().flatten().filter(|value| names.contains(value.as_str()));
        let is_dense = |rows: &&Vec<usize>| {
            let filled = rows.iter().filter(|row| others.binary_search(row).is_ok()).count();
            filled * 10 >= others.len() * 9 && headings.iter().all(|row| rows.binary_search(row).is_err())
        };
        let has_headings = headings.first() == Some(&0)
            && headings.iter().all(|row| is_same(row) && is_followed(row))
            && names.len() == headings.len()
            && of_column.count() == headings.len()
            && headings.len() < others.len()
            && others.len() >= if headings.len() > 1 { 3 } else { 5 }
            && self.rows.iter().filter(is_dense).count() >= 3;
        if !has_headings {
            return;
        }
        let place = |row: &usize| others.binary_search(row).ok();
        for (values, rows) in self.values.iter_mut().zip(&mut self.rows) {
            let kept = std::mem::take(values).into_iter().zip(std::mem::take(rows));
            (*values, *rows) = kept.filter_map(|(value, row)| Some((value, place(&row)?))).unzip();
        }
        self.height = others.len();
        self.format.has_headings = true;
    }

    /// True if the file may have further rows.
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= MAX_SAMPLE || self.values.iter().any(|values| values.len() >= MAX_ROWS)
    }
}

/// The cells of a row.
#[derive(Clone, Default)]
struct SampledRow<'s> {
    filled: usize,
    texts: usize,
    /// Column and value of the first cell.
    column: usize,
    first: &'s str,
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

    fn other_sheets(&mut self, names: Vec<String>) {
        self.other_sheets = names;
    }

    fn doubt(&mut self, _line: u64, _problem: String) {}

    fn format(&mut self, format: &InputFormat) {
        self.format = format.clone();
    }
}
