//! Writes the rows of a table in all formats.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::panic::resume_unwind;
use std::thread;

use flate2::{Compression, GzBuilder};
use zstd::stream::write::Encoder;

use crate::bulk::BulkFormat;
use crate::bulk::parquet::ParquetWriter;
use crate::checksum::{Checksum, HashingWriter};
use catalog::flat::{CsvWriter, table_columns};
use data::{RecordText, Snapshot, Table};

/// Higher levels make files hardly smaller, but writing takes twice as long.
const ZSTD_LEVEL: i32 = 6;

/// Size in bytes from which rows of CSV are compressed.
const PART: usize = 1 << 16;

type Out = HashingWriter<BufWriter<File>>;

/// Writes the rows of a table into `files`, one for each of [`BulkFormat::ALL`], in a thread per file: nearly all of
/// the work is compression. Returns their sizes in bytes and their checksums.
pub(super) fn write(snapshot: &Snapshot, table: Table, files: Vec<File>) -> io::Result<Vec<(u64, Checksum)>> {
    thread::scope(|scope| {
        let write = |(format, file)| {
            thread::Builder::new().spawn_scoped(scope, move || write_format(snapshot, table, format, file))
        };
        let threads = BulkFormat::ALL.into_iter().zip(files).map(write).collect::<io::Result<Vec<_>>>()?;
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

fn write_format(snapshot: &Snapshot, table: Table, format: BulkFormat, file: File) -> io::Result<(u64, Checksum)> {
    let out = HashingWriter::new(BufWriter::with_capacity(1 << 18, file));
    let mut out = match format {
        BulkFormat::NdjsonGzip => write_ndjson(snapshot, table, gzip(out))?.finish()?,
        BulkFormat::NdjsonZstd => {
            let mut out = Encoder::new(out, ZSTD_LEVEL)?;
            out.include_checksum(true)?;
            write_ndjson(snapshot, table, out)?.finish()?
        }
        BulkFormat::CsvGzip => {
            let columns = table_columns(table);
            let (mut csv, mut out) = (CsvWriter::new(&columns), gzip(out));
            csv.header();
            each_record(snapshot, table, |record| {
                csv.row(record);
                csv.write_part(&mut out, PART)
            })?;
            csv.write_part(&mut out, 0)?;
            out.finish()?
        }
        BulkFormat::Parquet => {
            let mut rows = ParquetWriter::new(out, table)?;
            each_record(snapshot, table, |record| rows.row(&record.json()))?;
            rows.finish()?
        }
    };
    out.flush()?;
    Ok(out.finish())
}

/// A compressor that writes neither a time nor a file name, so that its output is reproducible.
pub(super) fn gzip(out: Out) -> flate2::write::GzEncoder<Out> {
    GzBuilder::new().mtime(0).operating_system(255).write(out, Compression::default())
}

fn write_ndjson<W: Write>(snapshot: &Snapshot, table: Table, mut out: W) -> io::Result<W> {
    each_record(snapshot, table, |record| {
        let mut line = record.json();
        line.push(b'\n');
        out.write_all(&line)
    })?;
    Ok(out)
}

/// Passes each record to `write`, ordered by slug or id.
pub(crate) fn each_record(
    snapshot: &Snapshot,
    table: Table,
    mut write: impl FnMut(&RecordText<'_>) -> io::Result<()>,
) -> io::Result<()> {
    snapshot.published(table).try_for_each(|row| write(&snapshot.read_record(table, row)?))
}
