//! Writes a dataset row by row.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::import::csv_table::TableRow;

pub struct TableWriter(csv::Writer<BufWriter<File>>);

impl TableWriter {
    /// Creates or replaces the file in `folder` and writes its header line.
    pub fn create<T: TableRow>(folder: &Path) -> io::Result<Self> {
        let mut csv = lines(BufWriter::with_capacity(1 << 16, File::create(folder.join(T::FILE))?));
        csv.write_record(T::HEADER.split(','))?;
        Ok(Self(csv))
    }

    /// Writes one row; fails if it does not have as many fields as the header.
    pub fn row<F: AsRef<[u8]>>(&mut self, fields: &[F]) -> io::Result<()> {
        self.0.write_record(fields).map_err(io::Error::from)
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// The text of a table: cells are quoted if necessary, lines end in `\n`.
pub fn document<F: AsRef<[u8]>>(rows: impl IntoIterator<Item = Vec<F>>) -> Vec<u8> {
    let mut csv = builder().flexible(true).from_writer(Vec::new());
    rows.into_iter().for_each(|row| csv.write_record(row).expect("memory takes rows of any length"));
    csv.into_inner().expect("memory is flushed")
}

pub(crate) fn lines<W: Write>(out: W) -> csv::Writer<W> {
    builder().from_writer(out)
}

/// Lines end in `\n` on every platform.
fn builder() -> csv::WriterBuilder {
    let mut builder = csv::WriterBuilder::new();
    builder.terminator(csv::Terminator::Any(b'\n'));
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    struct SampleRow;

    impl TableRow for SampleRow {
        const NOUN: &'static str = "row";
        const FILE: &'static str = "a.csv";
        const HEADER: &'static str = "slug,name";
        const REQUIRED: &'static str = "slug";
    }

    #[test]
    fn fields_are_quoted_if_necessary() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = TableWriter::create::<SampleRow>(folder.path()).unwrap();
        table.row(&["a", "say \"hi\", twice\nand again"]).unwrap();
        table.finish().unwrap();
        let text = std::fs::read_to_string(folder.path().join("a.csv")).unwrap();
        assert_eq!(text, "slug,name\na,\"say \"\"hi\"\", twice\nand again\"\n");
        let mut table = TableWriter::create::<SampleRow>(folder.path()).unwrap();
        assert!(table.row(&["b"]).is_err(), "a row of another length is rejected");
    }
}
