//! Flat rows as Parquet, with native types for numbers, dates and lists of texts, and statistics of each row group and page.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as PhysicalType, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use catalog::flat::{ColumnType, FlatColumn, FlatValue, table_columns, visit_values};
use data::Table;

/// Limits of a row group, which is held in memory: number of rows, and bytes of text.
const MAX_ROWS: usize = 1 << 17;
const MAX_TEXT: usize = 32 << 20;

/// Records of a table.
pub(crate) struct ParquetWriter<W: Write + Send> {
    columns: Vec<FlatColumn>,
    rows: ParquetRows<W>,
}

impl<W: Write + Send> ParquetWriter<W> {
    pub(crate) fn new(out: W, table: Table) -> io::Result<Self> {
        let columns = table_columns(table);
        let rows = columns.iter().map(|FlatColumn { name, kind, is_nullable, .. }| ParquetColumn {
            name: name.clone(),
            kind: *kind,
            is_nullable: *is_nullable,
        });
        let rows = ParquetRows::new(out, table.name(), rows.collect())?;
        Ok(Self { columns, rows })
    }

    /// Adds a record in the JSON format read by [`visit_values`].
    pub(crate) fn row(&mut self, record: &[u8]) -> io::Result<()> {
        let mut values = self.rows.values.iter_mut();
        visit_values(&self.columns, record, |column, value| {
            let values = values.next().expect("as many values as columns");
            if value == FlatValue::Null && !column.is_nullable {
                return Err(io::Error::other(format!("a record has no value of `{}`", column.name)));
            }
            values.push(value);
            Ok(())
        })?;
        self.rows.end_row(record.len())
    }

    pub(crate) fn finish(self) -> io::Result<W> {
        self.rows.finish()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct ParquetColumn {
    pub(crate) name: String,
    pub(crate) kind: ColumnType,
    pub(crate) is_nullable: bool,
}

/// Rows of a file that is sorted by its first column.
pub(crate) struct ParquetRows<W: Write + Send> {
    out: SerializedFileWriter<W>,
    columns: Vec<ParquetColumn>,
    /// Values of the current row group, by column.
    values: Vec<ColumnValues>,
    rows: usize,
    text: usize,
}

impl<W: Write + Send> ParquetRows<W> {
    pub(crate) fn new(out: W, name: &str, columns: Vec<ParquetColumn>) -> io::Result<Self> {
        let fields = columns.iter().map(schema).collect::<Result<Vec<TypePtr>, ParquetError>>()?;
        let schema = Type::group_type_builder(name).with_fields(fields).build()?;
        let key = SortingColumn { column_idx: 0, descending: false, nulls_first: false };
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("venturedex version ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_sorting_columns(Some(vec![key]));
        let out = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties.build()))?;
        let values = columns.iter().map(ColumnValues::new).collect();
        Ok(Self { out, columns, values, rows: 0, text: 0 })
    }

    /// Adds a row with a value for each column.
    pub(crate) fn row(&mut self, row: Vec<FlatValue<'_>>) -> io::Result<()> {
        self.values.iter_mut().zip(row).for_each(|(values, value)| values.push(value));
        self.end_row(0)
    }

    /// `text` is the length of the row's texts in bytes.
    fn end_row(&mut self, text: usize) -> io::Result<()> {
        self.rows += 1;
        self.text += text;
        if self.rows >= MAX_ROWS || self.text >= MAX_TEXT { Ok(self.end_row_group()?) } else { Ok(()) }
    }

    fn end_row_group(&mut self) -> Result<(), ParquetError> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.out.next_row_group()?;
        for (values, column) in self.values.iter_mut().zip(&self.columns) {
            let mut writer = group.next_column()?.expect("as many columns as in the schema");
            std::mem::replace(values, ColumnValues::new(column)).write(&mut writer)?;
            writer.close()?;
        }
        group.close()?;
        (self.rows, self.text) = (0, 0);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.end_row_group()?;
        Ok(self.out.into_inner()?)
    }
}

struct ColumnValues {
    data: ColumnData,
    /// Definition levels: 1 for a known value, 0 for an unknown one, an empty list too. Empty if all values are known.
    definition: Vec<i16>,
    /// Repetition levels, one per entry of `definition`: 0 at the start of a row. Empty if no value is a list.
    repetition: Vec<i16>,
    is_nullable: bool,
}

enum ColumnData {
    Texts(Vec<ByteArray>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Booleans(Vec<bool>),
    /// Days since 1970-01-01.
    Dates(Vec<i32>),
}

impl ColumnValues {
    fn new(column: &ParquetColumn) -> Self {
        let (data, ..) = native_type(column.kind);
        Self { data, definition: Vec::new(), repetition: Vec::new(), is_nullable: column.is_nullable }
    }

    fn push(&mut self, value: FlatValue<'_>) {
        if let (ColumnData::Texts(texts), FlatValue::Texts(list)) = (&mut self.data, &value) {
            self.definition.extend(list.iter().map(|_| 1));
            self.repetition.extend((0..list.len()).map(|index| i16::from(index > 0)));
            texts.extend(list.iter().map(|text| ByteArray::from(&**text)));
            if list.is_empty() {
                self.definition.push(0);
                self.repetition.push(0);
            }
            return;
        }
        if self.is_nullable {
            self.definition.push(i16::from(value != FlatValue::Null));
        }
        match (&mut self.data, value) {
            (_, FlatValue::Null) => {}
            (ColumnData::Texts(texts), FlatValue::Text(text)) => texts.push(ByteArray::from(&*text)),
            (ColumnData::Texts(texts), FlatValue::Json(text)) => texts.push(text.into()),
            (ColumnData::Integers(values), FlatValue::Integer(value)) => values.push(value),
            (ColumnData::Numbers(values), FlatValue::Number(value, _)) => values.push(value),
            (ColumnData::Booleans(values), FlatValue::Boolean(value)) => values.push(value),
            (ColumnData::Dates(values), FlatValue::Date(value)) => values.push(value.days()),
            (_, value) => unreachable!("{value:?} has not the type of its column"),
        }
    }

    fn write(self, writer: &mut SerializedColumnWriter<'_>) -> Result<(), ParquetError> {
        let definition = (!self.definition.is_empty()).then_some(&self.definition[..]);
        let repetition = (!self.repetition.is_empty()).then_some(&self.repetition[..]);
        let written = match self.data {
            ColumnData::Texts(values) => writer.typed::<ByteArrayType>().write_batch(&values, definition, repetition),
            ColumnData::Integers(values) => writer.typed::<Int64Type>().write_batch(&values, definition, repetition),
            ColumnData::Numbers(values) => writer.typed::<DoubleType>().write_batch(&values, definition, repetition),
            ColumnData::Booleans(values) => writer.typed::<BoolType>().write_batch(&values, definition, repetition),
            ColumnData::Dates(values) => writer.typed::<Int32Type>().write_batch(&values, definition, repetition),
        };
        written.map(drop)
    }
}

fn schema(column: &ParquetColumn) -> Result<TypePtr, ParquetError> {
    let repetition = if column.is_nullable { Repetition::OPTIONAL } else { Repetition::REQUIRED };
    let (_, physical, logical) = native_type(column.kind);
    let primitive = |name: &str, repetition: Repetition| {
        let primitive = Type::primitive_type_builder(name, physical).with_logical_type(logical);
        primitive.with_repetition(repetition).build().map(Arc::new)
    };
    if column.kind == ColumnType::Texts {
        // The Parquet specification prescribes the names of the inner groups.
        let item = primitive("element", Repetition::REQUIRED)?;
        let list = Type::group_type_builder("list").with_repetition(Repetition::REPEATED).with_fields(vec![item]);
        let group = Type::group_type_builder(&column.name)
            .with_repetition(Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::List))
            .with_fields(vec![Arc::new(list.build()?)]);
        return Ok(Arc::new(group.build()?));
    }
    primitive(&column.name, repetition)
}

/// Empty values of a column, or of the items of its lists, with their types in the file.
fn native_type(kind: ColumnType) -> (ColumnData, PhysicalType, Option<LogicalType>) {
    match kind {
        // Some programs read the JSON type as bytes, others as an extension type: use plain text.
        ColumnType::Text | ColumnType::Precision | ColumnType::Texts | ColumnType::Json => {
            (ColumnData::Texts(Vec::new()), PhysicalType::BYTE_ARRAY, Some(LogicalType::String))
        }
        ColumnType::Integer => (ColumnData::Integers(Vec::new()), PhysicalType::INT64, None),
        ColumnType::Number => (ColumnData::Numbers(Vec::new()), PhysicalType::DOUBLE, None),
        ColumnType::Boolean => (ColumnData::Booleans(Vec::new()), PhysicalType::BOOLEAN, None),
        ColumnType::Date => (ColumnData::Dates(Vec::new()), PhysicalType::INT32, Some(LogicalType::Date)),
    }
}
