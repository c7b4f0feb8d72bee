//! Values of a Parquet column as texts, as a CSV file would have them.

use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type as PhysicalType};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::schema::types::ColumnDescriptor;

use data::Date;

/// Between the values of a list, as in a dataset.
const SEPARATOR: u8 = b'|';

/// Largest number up to which whole numbers are exact as floating-point numbers.
const EXACT: f64 = 9_007_199_254_740_992.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Text,
    Boolean,
    Integer,
    Unsigned,
    Number,
    /// Days since 1970-01-01.
    Date,
    /// Units in a second.
    Timestamp(i64),
    /// Nanoseconds of a day and a Julian day, as older programs write.
    OldTimestamp,
    /// Digits behind the point.
    Decimal(u32),
}

impl ValueKind {
    /// The error completes a sentence that begins with the column.
    pub(super) fn of(column: &ColumnDescriptor) -> Result<Self, String> {
        let depth = column.path().parts().len();
        if column.max_rep_level() > 1 || depth > 3 || (column.max_rep_level() == 0 && depth > 1) {
            return Err("is a structure, a map or a list of them: select its values as columns of their own".to_owned());
        }
        let timestamp = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => 1_000,
            TimeUnit::MICROS => 1_000_000,
            TimeUnit::NANOS => 1_000_000_000,
        };
        let has_text = column.physical_type() == PhysicalType::BYTE_ARRAY;
        Ok(match (column.logical_type_ref(), column.converted_type(), column.physical_type()) {
            (Some(LogicalType::Date), ..) | (_, ConvertedType::DATE, _) => Self::Date,
            (Some(LogicalType::Timestamp(time)), ..) => Self::Timestamp(timestamp(&time.unit)),
            (_, ConvertedType::TIMESTAMP_MILLIS, _) => Self::Timestamp(1_000),
            (_, ConvertedType::TIMESTAMP_MICROS, _) => Self::Timestamp(1_000_000),
            (Some(LogicalType::Decimal(_)), ..) | (_, ConvertedType::DECIMAL, _) => {
                Self::Decimal(u32::try_from(column.type_scale()).unwrap_or_default())
            }
            (Some(LogicalType::Integer(integer)), ..) if !integer.is_signed => Self::Unsigned,
            (
                _,
                ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64,
                _,
            ) => Self::Unsigned,
            (None | Some(LogicalType::String | LogicalType::Enum | LogicalType::Json), ..) if has_text => Self::Text,
            // A column without any value has no type.
            (
                None | Some(LogicalType::Integer(_) | LogicalType::Unknown),
                _,
                PhysicalType::INT32 | PhysicalType::INT64,
            ) => Self::Integer,
            (None, _, PhysicalType::INT96) => Self::OldTimestamp,
            (None, _, PhysicalType::FLOAT | PhysicalType::DOUBLE) => Self::Number,
            (None, _, PhysicalType::BOOLEAN) => Self::Boolean,
            (logical, _, physical) => {
                let kind = logical.map_or_else(|| format!("{physical}"), |logical| format!("{logical:?}"));
                return Err(format!(
                    "has the type {kind}, which is no text, number, boolean, date or time: convert it"
                ));
            }
        })
    }
}

/// The cells of some rows in one column.
#[derive(Default)]
pub(super) struct CellBatch {
    text: Vec<u8>,
    ends: Vec<usize>,
    /// The first value of a list that contains the separator, with its row in the batch.
    pub(super) ambiguous: Option<(usize, String)>,
}

impl CellBatch {
    pub(super) fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        self.ambiguous = None;
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, row: usize) -> &[u8] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }

    fn end(&mut self) {
        self.ends.push(self.text.len());
    }
}

/// Reads the rows of a row group in one column.
pub(super) struct ColumnCells {
    reader: ColumnReader,
    kind: ValueKind,
    /// Levels of a value that is there, and of one in a list.
    definition: i16,
    repetition: i16,
}

impl ColumnCells {
    pub(super) fn new(reader: ColumnReader, kind: ValueKind, column: &ColumnDescriptor) -> Self {
        Self { reader, kind, definition: column.max_def_level(), repetition: column.max_rep_level() }
    }

    /// Reads at most `rows` rows into `cells`; fewer at the end of the row group.
    pub(super) fn read(&mut self, rows: usize, cells: &mut CellBatch) -> Result<(), ParquetError> {
        let (kind, definition, repetition) = (self.kind, self.definition, self.repetition);
        macro_rules! read {
            ($reader:expr, |$value:ident, $out:ident| $write:expr) => {
                read_cells($reader, rows, (definition, repetition), cells, |$value, $out| $write)
            };
        }
        match &mut self.reader {
            ColumnReader::BoolColumnReader(reader) => {
                read!(reader, |value, out| out.extend_from_slice(if *value { b"true" } else { b"false" }))
            }
            ColumnReader::Int32ColumnReader(reader) => {
                read!(reader, |value, out| {
                    let value =
                        if kind == ValueKind::Unsigned { value.cast_unsigned().into() } else { i64::from(*value) };
                    write_integer(kind, value, out);
                })
            }
            ColumnReader::Int64ColumnReader(reader) => read!(reader, |value, out| write_integer(kind, *value, out)),
            ColumnReader::Int96ColumnReader(reader) => {
                read!(reader, |value, out| write_timestamp(value.to_seconds(), out))
            }
            ColumnReader::FloatColumnReader(reader) => read!(reader, |value, out| write_float(*value, out)),
            ColumnReader::DoubleColumnReader(reader) => read!(reader, |value, out| write_number(*value, out)),
            ColumnReader::ByteArrayColumnReader(reader) => {
                read!(reader, |value, out| write_bytes(kind, value.data(), out))
            }
            ColumnReader::FixedLenByteArrayColumnReader(reader) => {
                read!(reader, |value, out| write_bytes(kind, value.data(), out))
            }
        }
    }
}

fn read_cells<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    (definition, repetition): (i16, i16),
    cells: &mut CellBatch,
    write: impl Fn(&T::T, &mut Vec<u8>),
) -> Result<(), ParquetError> {
    let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
    let (read, ..) = reader.read_records(rows, Some(&mut definitions), Some(&mut repetitions), &mut values)?;
    let mut values = values.iter();
    let levels = if definition == 0 && repetition == 0 { read } else { definitions.len().max(repetitions.len()) };
    for level in 0..levels {
        if repetition > 0 && level > 0 && repetitions.get(level) == Some(&0) {
            cells.end();
        }
        let is_there = definition == 0 || definitions.get(level) == Some(&definition);
        if let Some(value) = if is_there { values.next() } else { None } {
            let cell_start = cells.ends.last().copied().unwrap_or(0);
            if repetition > 0 && cells.text.len() > cell_start {
                cells.text.push(SEPARATOR);
            }
            let start = cells.text.len();
            write(value, &mut cells.text);
            if repetition > 0 && cells.ambiguous.is_none() && cells.text[start..].contains(&SEPARATOR) {
                let value = String::from_utf8_lossy(&cells.text[start..]).into_owned();
                cells.ambiguous = Some((cells.ends.len(), value));
            }
        }
        if repetition == 0 {
            cells.end();
        }
    }
    if repetition > 0 && levels > 0 {
        cells.end();
    }
    Ok(())
}

fn push(out: &mut Vec<u8>, value: impl std::fmt::Display) {
    out.extend_from_slice(value.to_string().as_bytes());
}

fn write_integer(kind: ValueKind, value: i64, out: &mut Vec<u8>) {
    match kind {
        ValueKind::Date => push(out, Date::from_days(i32::try_from(value).unwrap_or(i32::MAX))),
        ValueKind::Timestamp(units) => write_timestamp(value.div_euclid(units), out),
        ValueKind::Decimal(scale) => write_decimal(value.into(), scale, out),
        ValueKind::Unsigned => push(out, value.cast_unsigned()),
        _ => push(out, value),
    }
}

/// A date, with the time of day if it is not midnight. Parts of a second are left out.
fn write_timestamp(seconds: i64, out: &mut Vec<u8>) {
    push(out, Date::from_unix(seconds));
    let second = seconds.rem_euclid(86_400);
    if second > 0 {
        push(out, format_args!("T{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60));
    }
}

/// A whole number without a point: programs without nullable integers write these as floating-point numbers.
fn write_number(value: f64, out: &mut Vec<u8>) {
    // An unknown number of such programs.
    if value.is_nan() {
        return;
    }
    if value.fract() == 0.0 && value.abs() <= EXACT { push(out, value as i64) } else { push(out, value) }
}

/// With the digits of its own precision.
fn write_float(value: f32, out: &mut Vec<u8>) {
    if value.fract() == 0.0 || value.is_nan() { write_number(value.into(), out) } else { push(out, value) }
}

fn write_bytes(kind: ValueKind, bytes: &[u8], out: &mut Vec<u8>) {
    let ValueKind::Decimal(scale) = kind else { return out.extend_from_slice(bytes) };
    // A signed number, the highest byte first. No amount has more than 16 bytes.
    let is_negative = bytes.first().is_some_and(|first| *first >= 0x80);
    let start = if is_negative { -1 } else { 0 };
    write_decimal(bytes.iter().fold(start, |number: i128, byte| number << 8 | i128::from(*byte)), scale, out);
}

/// The digits of a decimal without zeros at its end.
fn write_decimal(value: i128, scale: u32, out: &mut Vec<u8>) {
    let Some(unit) = 10_i128.checked_pow(scale) else { return push(out, value) };
    let (whole, part) = (value.unsigned_abs() / unit.unsigned_abs(), value.unsigned_abs() % unit.unsigned_abs());
    push(out, format_args!("{}{whole}", if value < 0 { "-" } else { "" }));
    if part > 0 {
        let digits = format!("{part:0width$}", width = scale as usize);
        push(out, format_args!(".{}", digits.trim_end_matches('0')));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_times_are_written_as_people_do() {
        let text = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            String::from_utf8(out).unwrap()
        };
        for (value, expected) in [(5.0, "5"), (-2.5, "-2.5"), (0.1, "0.1"), (f64::NAN, ""), (1e16, "10000000000000000")]
        {
            assert_eq!(text(&|out| write_number(value, out)), expected);
        }
        assert_eq!(text(&|out| write_float(0.1, out)), "0.1");
        for (value, scale, expected) in
            [(500_000_000, 2, "5000000"), (-12_345, 2, "-123.45"), (-5, 2, "-0.05"), (7, 0, "7"), (0, 4, "0")]
        {
            assert_eq!(text(&|out| write_decimal(value, scale, out)), expected);
        }
        assert_eq!(text(&|out| write_bytes(ValueKind::Decimal(1), &[0xff, 0x85], out)), "-12.3");
        for (seconds, expected) in
            [(1_795_262_400, "2026-11-21T12:00:00"), (0, "1970-01-01"), (-1, "1969-12-31T23:59:59")]
        {
            assert_eq!(text(&|out| write_timestamp(seconds, out)), expected);
        }
        assert_eq!(text(&|out| write_integer(ValueKind::Date, 20_000, out)), "2024-10-04");
        assert_eq!(text(&|out| write_integer(ValueKind::Unsigned, -1, out)), "18446744073709551615");
    }
}
