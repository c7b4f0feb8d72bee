//! `venturedex backup` and `restore`: accounts, keys and usage of a data folder and, on request, the current release.
//!
//! A backup is a folder with the database, `backup.json` and maybe a release; it gets its name when all is verified.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::app::settings::{BackupOptions, RestoreOptions};
use crate::cli::admin::{AdminError, print};
use crate::cli::indexer::format;
use auth::{DataLock, DatabaseFile, StoreCounts, StoreError, has_database, install_database, private_files};
use data::{SnapshotVersion, rfc3339};
use platform::PROGRAM;
use platform::clock::now;
use release::{Checksum, ReleaseStore};

/// Describes the backup; written last.
const DESCRIPTION: &str = "backup.json";
const INDEX: &str = "index";
/// Bytes.
const MAX_DESCRIPTION: u64 = 64 * 1024;

#[derive(Debug, Serialize, Deserialize)]
struct Description {
    program: String,
    /// Time of the backup, RFC 3339 in UTC.
    made_at: String,
    database: BackedUpDatabase,
    /// The current release at that time; null if there was none.
    release: Option<BackedUpRelease>,
}

#[derive(Debug, Serialize, Deserialize)]
struct BackedUpDatabase {
    bytes: u64,
    sha256: Checksum,
    /// Version of its schema.
    version: i64,
    #[serde(flatten)]
    counts: StoreCounts,
}

#[derive(Debug, Serialize, Deserialize)]
struct BackedUpRelease {
    version: SnapshotVersion,
    /// Size of its files in bytes, if they are in the backup.
    bytes: Option<u64>,
}

struct UnfinishedBackup(PathBuf);

impl Drop for UnfinishedBackup {
    fn drop(&mut self) {
        // After the final rename there is nothing to remove.
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) fn backup(data: &Path, options: &BackupOptions) -> Result<(), AdminError> {
    let to = &options.to;
    let is_free = match fs::read_dir(to) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let (Some(name), true) = (to.file_name(), is_free) else { return Err(AdminError::BackupExists(to.clone())) };
    // Before anything is written: a wrong --data is the likeliest mistake.
    let database = DatabaseFile::open_shared(data)?;
    let draft = to.with_file_name(format!(".{}.partial", name.to_string_lossy()));
    let above = to.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    private_files::create_folder(above)?;
    private_files::folder().create(&draft).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => AdminError::BackupRunning(draft.clone()),
        _ => io_error_at(&draft)(error).into(),
    })?;
    let draft = UnfinishedBackup(draft);
    let description = write_backup(&draft.0, &database, options)?;
    fs::rename(&draft.0, to).and_then(|()| private_files::sync_folder(above)).map_err(io_error_at(to))?;
    if options.json {
        return print::print_json(&serde_json::json!({ "backup": to, "description": description }));
    }
    print::print(&format!("backup of {}: {}\n{}", data.display(), to.display(), describe(&description)))
}

fn write_backup(draft: &Path, database: &DatabaseFile, options: &BackupOptions) -> Result<Description, AdminError> {
    let made_at = rfc3339(now());
    database.copy_to(draft)?;
    let copy = DatabaseFile::open(draft)?;
    copy.check()?;
    let path = private_files::database_path(draft);
    let (bytes, sha256) = Checksum::of_file(&path).map_err(io_error_at(&path))?;
    let releases = ReleaseStore::at(&options.index);
    let release = match releases.current()? {
        Some(version) => {
            let to = ReleaseStore::at(draft.join(INDEX));
            let bytes = options.with_index.then(|| releases.copy(version, &to)).transpose()?;
            Some(BackedUpRelease { version, bytes })
        }
        None if options.with_index => return Err(AdminError::NothingCurrent(options.index.clone())),
        None => None,
    };
    let (version, _) = copy.versions();
    let (counts, _) = copy.inspect()?;
    let description = Description {
        program: PROGRAM.to_owned(),
        made_at,
        database: BackedUpDatabase { bytes, sha256, version, counts },
        release,
    };
    let path = draft.join(DESCRIPTION);
    let mut text = serde_json::to_vec_pretty(&description).map_err(|error| io_error_at(&path)(error.into()))?;
    text.push(b'\n');
    let file = private_files::owner_only().create_new(true).open(&path);
    let written = file.and_then(|mut file| file.write_all(&text).and_then(|()| file.sync_all()));
    written.and_then(|()| private_files::sync_folder(draft)).map_err(io_error_at(&path))?;
    Ok(description)
}

pub(super) fn restore(data: &Path, options: &RestoreOptions) -> Result<(), AdminError> {
    let from = &options.from;
    let (description, stored) = read_verified(from)?;
    let release = description.release.as_ref().filter(|release| release.bytes.is_some());
    if options.with_index && release.is_none() {
        return Err(AdminError::NoReleaseInBackup(from.clone()));
    }
    let _lock = DataLock::acquire(data)?;
    if has_database(data) && !options.force {
        return Err(AdminError::DataExists(data.to_owned()));
    }
    if let Some(release) = release.filter(|_| options.with_index) {
        stored.copy(release.version, &ReleaseStore::at(&options.index))?;
    }
    let name = format!("replaced-{}", rfc3339(now()).replace(':', "-"));
    let names = std::iter::once(name.clone()).chain((2..).map(|number| format!("{name}-{number}")));
    let unused = names.map(|name| data.join(name)).find(|path| path.symlink_metadata().is_err());
    let aside = unused.expect("the names do not end");
    let replaced = install_database(from, data, &aside)?.then_some(aside);
    if options.json {
        return print::print_json(&serde_json::json!({
            "data": data, "replaced": replaced, "index": options.with_index.then_some(&options.index),
            "description": description,
        }));
    }
    let mut text = format!("restored to {}: {}\n{}", data.display(), from.display(), describe(&description));
    if let Some(replaced) = replaced {
        text.push_str(&format!("\nthe replaced database is in {}", replaced.display()));
    }
    print::print(&text)?;
    if release.is_some() && !options.with_index {
        print::note("the release was not restored; add --with-index to restore it and make it current");
    }
    print::note(&format!(
        "what changed after {} is lost: keys that were revoked since are valid again, and the audit log lists them; \
         start the server, then check it with `venturedex doctor`",
        description.made_at
    ));
    Ok(())
}

fn read_verified(from: &Path) -> Result<(Description, ReleaseStore), AdminError> {
    let path = from.join(DESCRIPTION);
    let damaged = |reason: String| AdminError::BackupDamaged { path: from.to_owned(), reason };
    let file = fs::File::open(&path).map_err(|error| AdminError::NotABackup { path: path.clone(), error })?;
    let read = serde_json::from_reader(io::Read::take(file, MAX_DESCRIPTION));
    let description: Description = read.map_err(|error| damaged(format!("{DESCRIPTION}: {error}")))?;
    let path = private_files::database_path(from);
    let (bytes, sha256) = Checksum::of_file(&path).map_err(|error| damaged(io_error_at(&path)(error).to_string()))?;
    if (sha256, bytes) != (description.database.sha256, description.database.bytes) {
        return Err(damaged("the database has another checksum than when it was written".to_owned()));
    }
    // A newer database is not damaged, and its error says what to do.
    DatabaseFile::open(from)?.check()?;
    let releases = ReleaseStore::at(from.join(INDEX));
    if let Some(BackedUpRelease { version, bytes: Some(_) }) = description.release {
        releases.open(version).map_err(|error| damaged(error.to_string()))?;
    }
    Ok((description, releases))
}

fn describe(description: &Description) -> String {
    let Description { database: BackedUpDatabase { bytes, version, counts, .. }, release, .. } = description;
    let mut text = format!("  database  {}, {counts}, store version {version}, verified", format::size(*bytes));
    text.push_str(&match release {
        Some(BackedUpRelease { version, bytes: Some(bytes) }) => {
            format!("\n  release   {}, {version}, verified", format::size(*bytes))
        }
        Some(BackedUpRelease { version, bytes: None }) => {
            format!("\n  release   {version} is current and not part of the backup; --with-index adds it")
        }
        None => "\n  release   none is published".to_owned(),
    });
    text
}

fn io_error_at(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::File { path: path.to_owned(), source }
}
