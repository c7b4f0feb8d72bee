//! Bulk files: every table of a release as files for download, in the folder `bulk/` of the release.
//!
//! | file | content |
//! |---|---|
//! | `{table}.ndjson.gz`, `{table}.ndjson.zst` | a record on each line, as the API returns it |
//! | `{table}.csv.gz`, `{table}.parquet` | the same as flat rows, see [`flat`](catalog::flat) |
//! | `datapackage.json`, `croissant.json`, `dcat.json` | the files with their checksums, columns, keys, licenses, sources |
//! | `changes-since-{version}.ndjson.gz` | changes since each of the last ten releases, as `/changes` returns them |
//! | `views.sql` | views for DuckDB |
//!
//! Tables are named as in the paths of the API. Rows are ordered by slug or id. No file contains the time or place of
//! its creation, so two builds of a dataset give the same bytes.

mod catalog_files;
mod package;
pub(crate) mod parquet;
pub(crate) mod table;
mod views;

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::bulk::package::{Package, TableFile};
use crate::checksum::{Checksum, HashingWriter};
use crate::manifest::{self, BULK};
use catalog::Resource;
use catalog::changes::each_change;
use data::{Progress, Snapshot, Table};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BulkFormat {
    NdjsonGzip,
    NdjsonZstd,
    CsvGzip,
    Parquet,
}

impl BulkFormat {
    const ALL: [Self; 4] = [Self::CsvGzip, Self::Parquet, Self::NdjsonGzip, Self::NdjsonZstd];

    /// The ending of file names, and the media types of the file and of its uncompressed content.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::NdjsonGzip => ["ndjson.gz", "application/gzip", "application/x-ndjson"],
            Self::NdjsonZstd => ["ndjson.zst", "application/zstd", "application/x-ndjson"],
            Self::CsvGzip => ["csv.gz", "application/gzip", "text/csv"],
            Self::Parquet => ["parquet", "application/vnd.apache.parquet", "application/vnd.apache.parquet"],
        }
    }

    fn file_name(self, table: Table) -> String {
        format!("{}.{}", table_name(table), self.names()[0])
    }
}

/// Name of a table in file names: that of its list in the API.
pub(crate) fn table_name(table: Table) -> &'static str {
    Resource::of_table(table).path()
}

/// Writes the changes since an earlier release, each as `/changes` returns it.
pub(crate) fn write_changes(
    before: &Snapshot,
    after: &Snapshot,
    create: impl Fn(&str) -> io::Result<File>,
) -> io::Result<manifest::File> {
    let name = format!("changes-since-{}.ndjson.gz", before.version());
    let mut out = table::gzip(HashingWriter::new(BufWriter::new(create(&name)?)));
    each_change(before, after, |change| {
        out.write_all(change)?;
        out.write_all(b"\n")
    })?;
    let mut out = out.finish()?;
    out.flush()?;
    Ok(listed(&name, out.finish()))
}

fn listed(name: &str, (bytes, sha256): (u64, Checksum)) -> manifest::File {
    manifest::File::new(format!("{BULK}/{name}"), bytes, sha256)
}

/// Writes all bulk files of a snapshot and lists them. `create` creates a file with the given name.
pub(crate) fn write(
    snapshot: &Snapshot,
    create: impl Fn(&str) -> io::Result<File>,
    progress: &dyn Progress,
) -> io::Result<Vec<manifest::File>> {
    let mut files = Vec::new();
    for table in Table::ALL {
        progress.step(&format!("{BULK}/{}", table_name(table)), 0);
        let created = BulkFormat::ALL.into_iter().map(|format| create(&format.file_name(table)));
        let written = table::write(snapshot, table, created.collect::<io::Result<_>>()?)?;
        let written = BulkFormat::ALL.into_iter().zip(written);
        files.extend(written.map(|(format, (bytes, sha256))| TableFile { table, format, bytes, sha256 }));
        progress.done();
    }
    let mut all: Vec<_> = files.iter().map(|file| listed(&file.path(), (file.bytes, file.sha256))).collect();
    let package = Package { snapshot, files };
    let descriptions = [
        ("datapackage.json", package.data_package()),
        ("croissant.json", package.croissant()),
        ("dcat.json", package.dcat()),
        ("views.sql", views::sql().into_bytes()),
    ];
    for (name, text) in descriptions {
        create(name)?.write_all(&text)?;
        all.push(listed(name, (text.len() as u64, Checksum::of(&text))));
    }
    Ok(all)
}
