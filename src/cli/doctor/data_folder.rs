//! The data folder and its database.

use std::io::ErrorKind;
use std::path::Path;

use crate::cli::doctor::finding::{Findings, Status};
use crate::cli::doctor::machine;
use crate::cli::indexer::format;
use auth::{ClockJump, DataLock, DatabaseFile, LockHolder, StoreError, private_files};
use data::rfc3339;

/// Write-ahead log size, in bytes, that shows that it is no longer moved into the database.
const LARGE_LOG: u64 = 64 << 20;

const AS_OWNER: &str =
    "run the doctor as the user of the server; if it is, make that user the owner: chown -R USER DIR";

#[derive(Default)]
pub(super) struct DataFolderState {
    pub holder: Option<LockHolder>,
    pub newest_time: Option<i64>,
    pub clock_jump: Option<ClockJump>,
}

/// Checks the data folder. `is_shared`: accounts are not in the folder, but in a database shared by servers.
pub(super) fn check(folder: &Path, is_shared: bool, findings: &mut Findings) -> DataFolderState {
    let mut data = DataFolderState::default();
    let wrong = match folder.metadata() {
        Ok(metadata) if metadata.is_dir() => None,
        Ok(_) => Some((Status::Problem, "is not a folder".to_owned(), "name a folder with --data")),
        Err(error) if error.kind() == ErrorKind::NotFound => Some((
            Status::Warning,
            "does not exist".to_owned(),
            "check --data and that the disk is mounted; for a new service nothing is to be done, `serve` creates it",
        )),
        Err(error) => Some((Status::Problem, format!("cannot be opened: {error}"), AS_OWNER)),
    };
    if let Some((status, what, remedy)) = wrong {
        findings.add("data.folder", status, format!("--data {} {what}", folder.display()), remedy);
        machine::check_disk("data.disk", folder, 0, findings);
        return data;
    }
    match machine::is_writable(folder) {
        true => findings.ok("data.folder", folder.display().to_string()),
        false => findings.problem(
            "data.folder",
            format!("{} is not writable by the user who runs this", folder.display()),
            AS_OWNER,
        ),
    }
    permissions(folder, findings);
    match DataLock::holder(folder) {
        Ok(holder) => {
            let detail = match &holder {
                Some(LockHolder { process: Some(process) }) => format!("running (process {process})"),
                Some(LockHolder { process: None }) => "running".to_owned(),
                None => "not running".to_owned(),
            };
            findings.ok("data.server", detail);
            data.holder = holder;
        }
        Err(error) => findings.warning("data.server", error.to_string(), "run the doctor as the user of the server"),
    }
    let bytes = if is_shared { 0 } else { database(folder, &mut data, findings) };
    machine::check_disk("data.disk", folder, 2 * bytes, findings);
    data
}

fn permissions(folder: &Path, findings: &mut Findings) {
    let database = private_files::database_path(folder);
    let paths = [(folder, 0o700), (database.as_path(), 0o600)];
    let wrong = paths.into_iter().find(|(path, _)| machine::is_open_to_others(path));
    match wrong {
        Some((path, right)) => findings.warning(
            "data.permissions",
            format!("other users of this machine may open {}, which contains secrets", path.display()),
            format!("chmod {right:o} {}", path.display()),
        ),
        None => findings.ok("data.permissions", "only the owner may open it"),
    }
}

/// Checks the database and returns its size in bytes.
fn database(folder: &Path, data: &mut DataFolderState, findings: &mut Findings) -> u64 {
    const CHECK: &str = "data.database";
    let path = private_files::database_path(folder);
    if !path.exists() {
        let remedy = "for a new service nothing is to be done; otherwise check --data, or restore a backup with `venturedex restore`";
        findings.warning(CHECK, format!("{} has no database", folder.display()), remedy);
        return 0;
    }
    let log = private_files::log_path(&path);
    let [bytes, log] = [path, log].map(|path| path.metadata().map_or(0, |file| file.len()));
    let mut read = || -> Result<String, StoreError> {
        let file = DatabaseFile::open(folder)?;
        file.check()?;
        let (version, supported) = file.versions();
        let (counts, newest_time) = file.inspect()?;
        data.newest_time = newest_time;
        data.clock_jump = file.last_clock_jump()?;
        let mut detail = format!("whole; {}, {}, store version {version}", format::size(bytes), counts);
        if version < supported {
            detail.push_str(&format!(", which `serve` migrates to {supported}"));
        }
        if let Some(newest) = data.newest_time {
            detail.push_str(&format!(", last used {}", rfc3339(newest)));
        }
        Ok(detail)
    };
    match read() {
        Ok(detail) => findings.ok(CHECK, detail),
        Err(error) => {
            let remedy = match &error {
                StoreError::Damaged { .. } => "stop the server, then `venturedex restore BACKUP --force`",
                StoreError::NewerDatabase { .. } => {
                    "run the newer program, or restore a backup from before the upgrade"
                }
                StoreError::ForeignDatabase(_) => "check --data, or restore a backup with `venturedex restore`",
                StoreError::Busy => "run the doctor again; if that fails, end the process that holds the database",
                _ => "run the doctor as the user of the server, and check the permissions of the file",
            };
            findings.problem(CHECK, error.to_string(), remedy);
        }
    }
    if log > LARGE_LOG {
        let detail = format!("changes of {} are not in the database file yet", format::size(log));
        let remedy = "end other programs that read the database; `serve` moves them into it";
        findings.warning("data.log", detail, remedy);
    }
    bytes
}
