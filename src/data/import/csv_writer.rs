//! Writing a dataset: one CSV file after the other, row by row.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

/// A CSV file that is being written: a header line, then rows of as many fields; `\n` ends a line on every platform.
pub struct TableWriter {
    csv: csv::Writer<BufWriter<File>>,
    columns: usize,
}

impl TableWriter {
    /// Creates `folder/file` (over an older one) and writes its header line.
    ///
    /// # Errors
    /// Where the file cannot be created or written.
    pub fn create(folder: &Path, file: &str, columns: &[&str]) -> io::Result<Self> {
        let out = BufWriter::with_capacity(1 << 16, File::create(folder.join(file))?);
        let csv = csv::WriterBuilder::new().terminator(csv::Terminator::Any(b'\n')).from_writer(out);
        let mut table = Self { csv, columns: columns.len() };
        table.row(columns)?;
        Ok(table)
    }

    /// Writes one row; fields are quoted where they need it.
    ///
    /// # Errors
    /// Where the file cannot be written, or the row has not as many fields as the header.
    pub fn row<F: AsRef<[u8]>>(&mut self, fields: &[F]) -> io::Result<()> {
        if fields.len() != self.columns {
            return Err(io::Error::other(format!("{} fields, the header has {}", fields.len(), self.columns)));
        }
        self.csv.write_record(fields).map_err(io::Error::from)
    }

    /// Writes out what is still in memory.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.csv.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_quoted_where_they_need_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut table = TableWriter::create(folder.path(), "a.csv", &["slug", "name"]).unwrap();
        table.row(&["a", "say \"hi\", twice\nand again"]).unwrap();
        assert!(table.row(&["b"]).is_err(), "a row of another length is refused");
        table.finish().unwrap();
        let text = std::fs::read_to_string(folder.path().join("a.csv")).unwrap();
        assert_eq!(text, "slug,name\na,\"say \"\"hi\"\", twice\nand again\"\n");
    }
}
