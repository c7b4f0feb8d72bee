//! Releases as Parquet tables that other engines query in place, all releases at one place.
//!
//! | path | content |
//! |---|---|
//! | `release={version}/table={table}/part-{number}.parquet` | rows with the columns of the [bulk files](crate::bulk), ordered by slug or id |
//! | `release={version}/table=releases/part-00000.parquet` | a row about the release, by which releases are ordered |
//! | `release={version}/_manifest.json` | tables, columns, and files with their checksums |
//!
//! A release is written once and never changed. In a folder it appears as a whole. In a bucket its table `releases` is
//! written after the others and the manifest last: a query that takes its releases from this table finds whole ones only.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::bulk::parquet::{ParquetColumn, ParquetRows, ParquetWriter};
use crate::bulk::table::each_record;
use crate::bulk::table_name;
use crate::error::{At, existing};
use crate::file_system::{Fs, OsFs};
use crate::remote::objects::RemoteObjects;
use crate::{Checksum, Manifest, ReleaseError, ReleaseResult, ReleaseStore, lock, manifest, permissions};
use catalog::flat::{ColumnType, FlatColumn, FlatValue, table_columns};
use data::{Progress, Snapshot, SnapshotVersion, Table};
use platform::PROGRAM;

/// Format of the layout. Tables and columns may be added without another one.
const FORMAT: u32 = 1;

/// Engines ignore files whose names begin with an underscore or a dot.
const MANIFEST: &str = "_manifest.json";

const MAX_MANIFEST: u64 = 1 << 24;

/// Name prefix of a release that is being written.
const WRITING: &str = ".writing-";

/// Name of the table with a row about each release.
const RELEASES: &str = "releases";

/// Bytes of records after which a part ends. A part is written in memory; Parquet makes about an eighth of them.
const PART: usize = 256 << 20;

/// A folder or an object store with exported releases.
pub struct ExportPlace {
    place: String,
    target: ExportTarget,
    part: usize,
}

enum ExportTarget {
    Folder(PathBuf),
    Bucket(RemoteObjects),
}

/// A release that is at the place after an export.
#[derive(Clone, Debug, Serialize)]
pub struct ExportedRelease {
    pub version: SnapshotVersion,
    /// False if it was there before.
    pub is_new: bool,
    pub files: usize,
    pub bytes: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExportManifest {
    format: u32,
    version: SnapshotVersion,
    /// Checksum of the checksums of the tables and records in the release.
    content: Checksum,
    program: String,
    released_on: String,
    title: String,
    source: String,
    license: String,
    tables: Vec<ExportedTable>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExportedTable {
    name: String,
    /// Column by which its rows are sorted.
    key: String,
    rows: u64,
    files: Vec<manifest::File>,
    columns: Vec<ExportedColumn>,
}

#[derive(Debug, Serialize, Deserialize)]
struct ExportedColumn {
    name: String,
    r#type: String,
    nullable: bool,
    description: String,
}

impl ExportedColumn {
    fn new(name: &str, kind: ColumnType, nullable: bool, description: &str) -> Self {
        let r#type = match kind {
            ColumnType::Text | ColumnType::Precision => "text",
            ColumnType::Integer => "integer",
            ColumnType::Number => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Date => "date",
            ColumnType::Texts => "list of texts",
            ColumnType::Json => "JSON text",
        };
        Self { name: name.to_owned(), r#type: r#type.to_owned(), nullable, description: description.to_owned() }
    }
}

/// The columns of the table `releases`, each with its description.
const RELEASE_COLUMNS: [(&str, ColumnType, &str); 6] = [
    ("version_date", ColumnType::Date, "Date of the version: `2026-11-20` of `2026-11-20.1`."),
    ("version_number", ColumnType::Integer, "Number of the version on its date: `1` of `2026-11-20.1`."),
    ("released_on", ColumnType::Date, "Date that ages in the release are counted from."),
    ("title", ColumnType::Text, "Title of the data."),
    ("source", ColumnType::Text, "Where the data is from."),
    ("license", ColumnType::Text, "License of the data."),
];

impl ExportPlace {
    /// Opens a folder, which is created if missing, `file:///folder` or `s3://bucket/prefix`, configured as
    /// [`RemoteStore`](crate::remote::RemoteStore) is.
    pub fn open(place: &Path) -> ReleaseResult<Self> {
        let text = place.to_string_lossy();
        if text.starts_with("s3://") {
            let bucket = RemoteObjects::open(&text)?;
            return Ok(Self { place: bucket.place.clone(), target: ExportTarget::Bucket(bucket), part: PART });
        }
        let folder = match text.strip_prefix("file://") {
            Some(folder) if folder.starts_with('/') => PathBuf::from(folder),
            Some(_) => {
                let error = "name a folder by its whole path, such as file:///srv/tables".to_owned();
                return Err(ReleaseError::ObjectStore { place: text.into_owned(), error });
            }
            None => place.to_owned(),
        };
        permissions::create_folder(&folder, true).at(&folder)?;
        let place = folder.display().to_string();
        Ok(Self { place, target: ExportTarget::Folder(folder), part: PART })
    }

    pub fn location(&self) -> &str {
        &self.place
    }

    /// Writes the tables of a release, unless they are there. [`ReleaseError::ExportedBefore`] if they are there with other
    /// content; [`ReleaseError::Busy`] if another indexer writes into the folder.
    pub fn add(
        &self,
        releases: &ReleaseStore,
        version: SnapshotVersion,
        progress: &dyn Progress,
    ) -> ReleaseResult<ExportedRelease> {
        let content = content(&releases.manifest(version)?)?;
        if let Some(found) = self.find(version, content)? {
            return Ok(found.summary(false));
        }
        let snapshot = releases.open_tables(version)?;
        let folder = release_folder(version);
        let written = match &self.target {
            ExportTarget::Bucket(bucket) => {
                let put = |path: &str, bytes: Vec<u8>| bucket.put(&format!("{folder}/{path}"), bytes);
                self.write(&snapshot, content, put, progress)?
            }
            ExportTarget::Folder(place) => {
                let _lock = lock::build(place)?;
                // Another indexer may have written it meanwhile.
                if let Some(found) = self.find(version, content)? {
                    return Ok(found.summary(false));
                }
                let (draft, release) = (place.join(format!("{WRITING}{version}")), place.join(&folder));
                OsFs.remove(&draft).at(&draft)?;
                let written =
                    self.write(&snapshot, content, |path, bytes| put_file(&draft.join(path), &bytes), progress)?;
                sync_folders(&draft).at(&draft)?;
                // Without a manifest, it was never whole.
                OsFs.remove(&release).at(&release)?;
                OsFs.rename(&draft, &release).at(&release)?;
                OsFs.sync_folder(place).at(place)?;
                written
            }
        };
        Ok(written.summary(true))
    }

    /// The release that is there with this content.
    fn find(&self, version: SnapshotVersion, content: Checksum) -> ReleaseResult<Option<ExportManifest>> {
        let name = format!("{}/{MANIFEST}", release_folder(version));
        let json = match &self.target {
            ExportTarget::Folder(folder) => {
                let path = folder.join(&name);
                existing(std::fs::read(&path)).at(&path)?
            }
            ExportTarget::Bucket(bucket) => bucket.get(&name, MAX_MANIFEST)?.map(|object| object.bytes),
        };
        let Some(json) = json else { return Ok(None) };
        match serde_json::from_slice::<ExportManifest>(&json) {
            Ok(found) if found.format == FORMAT && found.content == content => Ok(Some(found)),
            _ => Err(ReleaseError::ExportedBefore { place: self.place.clone(), version }),
        }
    }

    fn write(
        &self,
        snapshot: &Snapshot,
        content: Checksum,
        mut put: impl FnMut(&str, Vec<u8>) -> ReleaseResult<()>,
        progress: &dyn Progress,
    ) -> ReleaseResult<ExportManifest> {
        let mut tables = Vec::new();
        for table in Table::ALL {
            progress.step(&format!("export/{}", table_name(table)), 0);
            tables.push(self.write_table(snapshot, table, &mut put)?);
            progress.done();
        }
        tables.push(write_release(snapshot, &mut put)?);
        let manifest = ExportManifest {
            format: FORMAT,
            version: snapshot.version(),
            content,
            program: PROGRAM.to_owned(),
            released_on: snapshot.released_on().to_string(),
            title: snapshot.title().to_owned(),
            source: snapshot.source().to_owned(),
            license: snapshot.license().to_owned(),
            tables,
        };
        let mut json = serde_json::to_vec_pretty(&manifest).expect("texts and numbers serialize");
        json.push(b'\n');
        put(MANIFEST, json)?;
        Ok(manifest)
    }

    fn write_table(
        &self,
        snapshot: &Snapshot,
        table: Table,
        mut put: impl FnMut(&str, Vec<u8>) -> ReleaseResult<()>,
    ) -> ReleaseResult<ExportedTable> {
        let name = table_name(table);
        let at = |error: io::Error| ReleaseError::Io { path: self.place.clone().into(), error };
        let new_part = || ParquetWriter::new(Vec::new(), table);
        let (mut files, mut rows, mut bytes) = (Vec::new(), 0, 0);
        let mut part = new_part().map_err(at)?;
        let mut failure = None;
        let written = each_record(snapshot, table, |record| {
            let record = record.json();
            // The last part may be smaller, but a table without rows has one, too: it has the columns.
            if bytes >= self.part {
                let full = std::mem::replace(&mut part, new_part()?).finish()?;
                if let Err(error) = put_part(name, full, &mut files, &mut put) {
                    failure = Some(error);
                    return Err(io::ErrorKind::Other.into());
                }
                bytes = 0;
            }
            rows += 1;
            bytes += record.len();
            part.row(&record)
        });
        if let Some(failure) = failure {
            return Err(failure);
        }
        written.map_err(at)?;
        put_part(name, part.finish().map_err(at)?, &mut files, &mut put)?;
        let columns = table_columns(table);
        let columns = columns.iter().map(|FlatColumn { name, kind, is_nullable, description, .. }| {
            ExportedColumn::new(name, *kind, *is_nullable, description)
        });
        Ok(ExportedTable {
            name: name.to_owned(),
            key: table.key().to_owned(),
            rows,
            files,
            columns: columns.collect(),
        })
    }
}

impl ExportManifest {
    fn summary(&self, is_new: bool) -> ExportedRelease {
        let files = || self.tables.iter().flat_map(|table| &table.files);
        let bytes = files().map(|file| file.bytes).sum();
        ExportedRelease { version: self.version, is_new, files: files().count(), bytes }
    }
}

fn release_folder(version: SnapshotVersion) -> String {
    format!("release={version}")
}

/// Identifies the tables and records of a release.
fn content(manifest: &Manifest) -> ReleaseResult<Checksum> {
    let mut checksums = Vec::new();
    for file in [manifest::TABLES, manifest::RECORDS] {
        checksums.extend_from_slice(&manifest.needed_file(file)?.sha256.0);
    }
    Ok(Checksum::of(&checksums))
}

fn put_part(
    table: &str,
    bytes: Vec<u8>,
    files: &mut Vec<manifest::File>,
    mut put: impl FnMut(&str, Vec<u8>) -> ReleaseResult<()>,
) -> ReleaseResult<()> {
    let path = format!("table={table}/part-{:05}.parquet", files.len());
    files.push(manifest::File::new(&*path, bytes.len() as u64, Checksum::of(&bytes)));
    put(&path, bytes)
}

/// Writes the row about a release.
fn write_release(
    snapshot: &Snapshot,
    put: impl FnMut(&str, Vec<u8>) -> ReleaseResult<()>,
) -> ReleaseResult<ExportedTable> {
    let columns =
        RELEASE_COLUMNS.map(|(name, kind, _)| ParquetColumn { name: name.to_owned(), kind, is_nullable: false });
    let version = snapshot.version();
    let row = vec![
        FlatValue::Date(version.date()),
        FlatValue::Integer(version.counter.into()),
        FlatValue::Date(snapshot.released_on()),
        FlatValue::Text(snapshot.title().into()),
        FlatValue::Text(snapshot.source().into()),
        FlatValue::Text(snapshot.license().into()),
    ];
    let written = ParquetRows::new(Vec::new(), RELEASES, columns.into()).and_then(|mut rows| {
        rows.row(row)?;
        rows.finish()
    });
    let mut files = Vec::new();
    put_part(RELEASES, written.at(Path::new(RELEASES))?, &mut files, put)?;
    let columns = RELEASE_COLUMNS.map(|(name, kind, text)| ExportedColumn::new(name, kind, false, text)).into();
    Ok(ExportedTable { name: RELEASES.to_owned(), key: RELEASE_COLUMNS[0].0.to_owned(), rows: 1, files, columns })
}

fn put_file(path: &Path, bytes: &[u8]) -> ReleaseResult<()> {
    if let Some(folder) = path.parent() {
        permissions::create_folder(folder, true).at(folder)?;
    }
    let mut file: File = OsFs.create(path).at(path)?;
    file.write_all(bytes).and_then(|()| file.sync_all()).at(path)
}

/// Flushes the entries of a folder and of the folders in it to disk.
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    OsFs.sync_folder(folder)
}
