//! Database of a data folder or a backup, opened for reading by `doctor`, `backup` and `restore`.
//!
//! Creates and migrates nothing, and does not disturb a server or command that uses the database.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{fmt, io};

use rusqlite::{Connection, OpenFlags};
use serde::{Deserialize, Serialize};

use crate::sql::{SqlResult, inspect, last_clock_jump};
use crate::sqlite::{BUSY_TIMEOUT, database_error, files, open_error, schema};
use crate::{ClockJump, StoreError, StoreResult};
use data::number::counted;

pub struct DatabaseFile {
    path: PathBuf,
    connection: Connection,
    version: i64,
}

/// Displayed as in `1 account and 2 keys`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoreCounts {
    pub accounts: u64,
    /// Includes ended keys.
    pub keys: u64,
}

impl fmt::Display for StoreCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (accounts, keys) = (counted(self.accounts, "account", "accounts"), counted(self.keys, "key", "keys"));
        write!(f, "{accounts} and {keys}")
    }
}

impl DatabaseFile {
    /// Opens the database in the folder `data` and changes no file in it.
    /// [`StoreError::File`] if there is none, [`StoreError::ForeignDatabase`], [`StoreError::NewerDatabase`].
    pub fn open(data: &Path) -> StoreResult<Self> {
        let path = files::database_path(data);
        // Without a log nobody uses the database, and SQLite need not create the files that coordinate processes.
        let mode = if files::log_path(&path).exists() { "?mode=ro" } else { "?mode=ro&immutable=1" };
        Self::open_uri(path, mode)
    }

    /// Opens the database to copy it, also while others write to it. Errors as [`DatabaseFile::open`].
    pub fn open_shared(data: &Path) -> StoreResult<Self> {
        Self::open_uri(files::database_path(data), "?mode=rw")
    }

    fn open_uri(path: PathBuf, parameters: &str) -> StoreResult<Self> {
        // SQLite reports only that it cannot open the file, not why.
        File::open(&path).map_err(StoreError::file(&path))?;
        let mut uri = OsString::from("file:");
        uri.push(escaped(&path));
        uri.push(parameters);
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let opened = || -> SqlResult<_> {
            let connection = Connection::open_with_flags(uri, flags)?;
            connection.busy_timeout(BUSY_TIMEOUT)?;
            let found = (schema::application(&connection)?, schema::version(&connection)?);
            Ok((connection, found))
        };
        let (connection, (application, version)) = opened().map_err(open_error(&path))?;
        let supported = schema::STEPS.len() as i64;
        if application != schema::APPLICATION {
            return Err(StoreError::ForeignDatabase(path));
        }
        if version > supported {
            return Err(StoreError::NewerDatabase { path, found: version, supported });
        }
        Ok(Self { path, connection, version })
    }

    /// The version of its tables, and the version to which this program migrates them.
    pub fn versions(&self) -> (i64, i64) {
        (self.version, schema::STEPS.len() as i64)
    }

    /// Checks the structure of all tables; reads the whole file. [`StoreError::Damaged`].
    pub fn check(&self) -> StoreResult<()> {
        let found: Result<String, _> = self.connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0));
        let reason = match found {
            Ok(found) if found == "ok" => return Ok(()),
            Ok(found) => found.lines().last().unwrap_or_default().to_owned(),
            Err(error) => match error.sqlite_error_code() {
                Some(rusqlite::ErrorCode::DatabaseCorrupt | rusqlite::ErrorCode::NotADatabase) => error.to_string(),
                _ => return Err(database_error("check the database")(error)),
            },
        };
        Err(StoreError::Damaged { path: self.path.clone(), reason })
    }

    pub fn inspect(&self) -> StoreResult<(StoreCounts, Option<i64>)> {
        inspect(&self.connection).map_err(|error| error.into_store_error("count accounts and keys"))
    }

    /// The last jump of the clock of a server that used the database; `None` also if its tables are too old to have it.
    pub fn last_clock_jump(&self) -> StoreResult<Option<ClockJump>> {
        if self.version < schema::WITH_CLOCK_JUMP {
            return Ok(None);
        }
        last_clock_jump(&self.connection).map_err(|error| error.into_store_error("read the last jump of the clock"))
    }

    /// Writes all current content to the folder `to`, for its owner only and without deleted data, and syncs it. One
    /// transaction reads it, so the copy is consistent.
    pub fn copy_to(&self, to: &Path) -> StoreResult<()> {
        let path = files::database_path(to);
        // SQLite fills an empty file; the file that it would create has other permissions.
        files::owner_only().create_new(true).open(&path).map_err(StoreError::file(&path))?;
        let uri = format!("file:{}", escaped(&path));
        self.connection.execute("VACUUM INTO ?", [uri]).map_err(database_error("copy the database"))?;
        File::open(&path).and_then(|file| file.sync_all()).map_err(StoreError::file(&path))
    }
}

/// True if the folder `data` has a database, or the remains of one.
pub fn has_database(data: &Path) -> bool {
    !existing(data).is_empty()
}

fn existing(data: &Path) -> Vec<PathBuf> {
    files::all_paths(&files::database_path(data)).into_iter().filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// Copies the database file of `from` into `data`, whose lock is required. Existing files are first moved into the
/// folder `aside`, which is created only then. The database appears as a whole or not at all.
pub fn install_database(from: &Path, data: &Path, aside: &Path) -> StoreResult<bool> {
    let (path, draft) = (files::database_path(data), files::database_path(data).with_extension("restoring"));
    let copied = || -> io::Result<()> {
        let mut file = files::owner_only().create(true).truncate(true).open(&draft)?;
        io::copy(&mut File::open(files::database_path(from))?, &mut file)?;
        file.sync_all()
    };
    copied().map_err(StoreError::file(&draft))?;
    // The log belongs to the old database; left in place, it would be applied to the new one.
    let old = existing(data);
    if !old.is_empty() {
        files::create_folder(aside)?;
    }
    for file in &old {
        let name = file.file_name().expect("a file of the database has a name");
        fs::rename(file, aside.join(name)).map_err(StoreError::file(file))?;
    }
    fs::rename(&draft, &path).map_err(StoreError::file(&path))?;
    files::sync_folder(data).map_err(StoreError::file(data))?;
    Ok(!old.is_empty())
}

fn escaped(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    let escape = |byte: &u8| if is_plain(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02x}") };
    bytes.iter().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SqliteStore;
    use crate::quota::Tier;

    /// Names and contents of the files in a folder, except for memory that processes share.
    fn content(folder: &Path) -> Vec<(OsString, Vec<u8>)> {
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap())
            .filter(|entry| !entry.file_name().to_string_lossy().ends_with("-shm"))
            .map(|entry| (entry.file_name(), fs::read(entry.path()).unwrap()))
            .collect();
        files.sort();
        files
    }

    #[test]
    fn reading_changes_no_file_whether_the_store_is_open_or_not() {
        let parent = tempfile::tempdir().unwrap();
        let data = parent.path().join("100% of ?data#");
        let store = SqliteStore::open(&data).unwrap();
        store.create_account(&"ada@example.com".parse().unwrap(), Tier::Free, None, 1_700_000_000).unwrap();
        let read = || {
            let before = content(&data);
            let file = DatabaseFile::open(&data).unwrap();
            file.check().unwrap();
            assert_eq!(file.inspect().unwrap(), (StoreCounts { accounts: 1, keys: 0 }, Some(1_700_000_000)));
            drop(file);
            assert!(content(&data) == before);
        };
        assert!(files::log_path(&files::database_path(&data)).exists());
        read();
        drop(store);
        assert!(!files::log_path(&files::database_path(&data)).exists());
        read();
        assert_eq!(fs::read_dir(&data).unwrap().count(), 1);
    }

    #[test]
    fn the_file_of_another_program_and_a_missing_one_are_refused() {
        let data = tempfile::tempdir().unwrap();
        assert!(matches!(DatabaseFile::open(data.path()), Err(StoreError::File { .. })));
        fs::write(files::database_path(data.path()), "not a database, and longer than the header of one".repeat(9))
            .unwrap();
        assert!(matches!(DatabaseFile::open(data.path()), Err(StoreError::ForeignDatabase(_))));
        fs::write(files::database_path(data.path()), "").unwrap();
        assert!(matches!(DatabaseFile::open(data.path()), Err(StoreError::ForeignDatabase(_))));
    }

    #[test]
    fn a_page_of_garbage_is_found_by_the_check() {
        let data = tempfile::tempdir().unwrap();
        drop(SqliteStore::open(data.path()).unwrap());
        let path = files::database_path(data.path());
        let mut bytes = fs::read(&path).unwrap();
        bytes[4096 * 3..4096 * 4].fill(0x5a);
        fs::write(&path, bytes).unwrap();
        let found = DatabaseFile::open(data.path()).and_then(|file| file.check());
        assert!(matches!(found, Err(StoreError::Damaged { .. })), "{found:?}");
    }
}
