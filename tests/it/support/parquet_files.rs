//! Parquet files of tests.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use data::Date;

/// The type of a column, whose cells are texts as in a CSV file. Empty cells are null.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Date,
    /// Texts separated by `|`.
    List,
}

/// Writes rows as a Parquet file with row groups of `group` rows.
pub fn write(path: &Path, columns: &[(&str, Kind)], rows: &[Vec<String>], group: usize) {
    let field = |(name, kind): &(&str, Kind)| match kind {
        Kind::Text => format!("optional binary {name} (utf8);"),
        Kind::Integer => format!("optional int64 {name};"),
        Kind::Date => format!("optional int32 {name} (date);"),
        Kind::List => {
            format!("optional group {name} (list) {{ repeated group list {{ optional binary element (utf8); }} }}")
        }
    };
    let schema = format!("message table {{ {} }}", columns.iter().map(field).collect::<String>());
    let schema = Arc::new(parse_message_type(&schema).unwrap());
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut out = SerializedFileWriter::new(File::create(path).unwrap(), schema, Arc::new(properties)).unwrap();
    for rows in rows.chunks(group) {
        let mut group = out.next_row_group().unwrap();
        for (index, (_, kind)) in columns.iter().enumerate() {
            let cells: Vec<&str> = rows.iter().map(|row| row[index].as_str()).collect();
            write_column(&mut group, *kind, &cells);
        }
        group.close().unwrap();
    }
    out.close().unwrap();
}

fn write_column(group: &mut SerializedRowGroupWriter<'_, File>, kind: Kind, cells: &[&str]) {
    let mut column = group.next_column().unwrap().unwrap();
    let known: Vec<&str> = cells.iter().copied().filter(|cell| !cell.is_empty()).collect();
    let is_known: Vec<i16> = cells.iter().map(|cell| i16::from(!cell.is_empty())).collect();
    match kind {
        Kind::Text => {
            let values: Vec<ByteArray> = known.into_iter().map(ByteArray::from).collect();
            column.typed::<ByteArrayType>().write_batch(&values, Some(&is_known), None).unwrap();
        }
        Kind::Integer => {
            let values: Vec<i64> = known.iter().map(|cell| cell.parse().unwrap()).collect();
            column.typed::<Int64Type>().write_batch(&values, Some(&is_known), None).unwrap();
        }
        Kind::Date => {
            let values: Vec<i32> = known.iter().map(|cell| cell.parse::<Date>().unwrap().days()).collect();
            column.typed::<Int32Type>().write_batch(&values, Some(&is_known), None).unwrap();
        }
        Kind::List => {
            let (mut values, mut definitions, mut repetitions) = (Vec::new(), Vec::new(), Vec::new());
            for cell in cells {
                let texts: Vec<&str> = cell.split('|').filter(|text| !text.is_empty()).collect();
                // 0: no list, 1: an empty one, 3: a text in one.
                definitions.extend(if texts.is_empty() { vec![0] } else { vec![3; texts.len()] });
                repetitions.extend((0..texts.len().max(1)).map(|index| i16::from(index > 0)));
                values.extend(texts.into_iter().map(ByteArray::from));
            }
            column.typed::<ByteArrayType>().write_batch(&values, Some(&definitions), Some(&repetitions)).unwrap();
        }
    }
    column.close().unwrap();
}
