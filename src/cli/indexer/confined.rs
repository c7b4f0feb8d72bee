//! Runs an import in a process of its own with a limit of memory, since its files may be those of strangers.
//!
//! The standard library aborts a process that cannot allocate. The process that waits for it then says which file was
//! read, and how to raise the limit.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::process::{Command, ExitStatus};

use crate::cli::indexer::IndexerExit;
use crate::cli::indexer::progress::Steps;
use data::Progress;
use data::parameter_error::shortened_to;

/// Variable of the importing process: the file in which it notes what it reads.
const NOTE: &str = "VENTUREDEX_IMPORT_NOTE";

/// SIGABRT: the standard library aborts a process whose allocation fails.
const ABORTED: i32 = 6;

/// SIGKILL: perhaps the system wants memory, perhaps a person ended the process.
const KILLED: i32 = 9;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ConfinedError {
    #[error("the import cannot be started in a process of its own: {0}")]
    Start(#[from] io::Error),
    #[error(
        "{read}: the import was stopped because it needed more memory than {max_memory} MiB; import fewer files at a time, \
         save workbooks as CSV, or raise `--max-memory`"
    )]
    Memory { read: String, max_memory: u32 },
    #[error(
        "{read}: the import was killed; the system kills the largest process when its memory is used up, so lower \
         `--max-memory`, import fewer files at a time, or use a machine with more memory"
    )]
    Killed { read: String },
    #[error("{read}: the import was stopped by the signal {signal}; run it again")]
    Signal { read: String, signal: i32 },
}

impl ConfinedError {
    pub(crate) fn code(&self) -> (IndexerExit, &'static str) {
        match self {
            Self::Start(_) => (IndexerExit::Disk, "io"),
            Self::Memory { .. } => (IndexerExit::Rejected, "memory"),
            Self::Killed { .. } => (IndexerExit::Rejected, "killed"),
            Self::Signal { .. } => (IndexerExit::Rejected, "stopped"),
        }
    }
}

/// Runs `import` in a process that repeats the arguments, which begin with the name of the program.
pub(super) fn run(
    arguments: &[OsString],
    max_memory: u32,
    import: impl FnOnce() -> IndexerExit,
) -> Result<IndexerExit, ConfinedError> {
    if std::env::var_os(NOTE).is_some() || !cfg!(unix) {
        limit_memory(max_memory)?;
        return Ok(import());
    }
    let mut note = tempfile::NamedTempFile::new()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.args(arguments.iter().skip(1)).env(NOTE, note.path());
    // Otherwise the allocator takes a gigabyte at once, and the limit ends in the middle of its second one.
    const COMMIT: &str = "MIMALLOC_ARENA_EAGER_COMMIT";
    if std::env::var_os(COMMIT).is_none() {
        command.env(COMMIT, "0");
    }
    let status = command.status()?;
    if let Some(code) = status.code() {
        return Ok(exit_of(code));
    }
    let mut read = String::new();
    // Without a note, the message lacks the file.
    let _ = note.read_to_string(&mut read);
    let read = if read.is_empty() { "the inputs".to_owned() } else { shortened_to(300, &read).into_owned() };
    Err(match signal_of(status) {
        ABORTED => ConfinedError::Memory { read, max_memory },
        KILLED => ConfinedError::Killed { read },
        signal => ConfinedError::Signal { read, signal },
    })
}

fn exit_of(code: i32) -> IndexerExit {
    use IndexerExit::{Busy, Disk, Rejected, Success, Usage};
    [Success, Usage, Disk, Busy].into_iter().find(|exit| *exit as i32 == code).unwrap_or(Rejected)
}

#[cfg(unix)]
fn signal_of(status: ExitStatus) -> i32 {
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0)
}

#[cfg(not(unix))]
fn signal_of(_status: ExitStatus) -> i32 {
    0
}

/// Limits the memory of this process, and ends it with the one that started it.
#[cfg(unix)]
fn limit_memory(mebibytes: u32) -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let set = |resource: Resource, bytes: u64| {
        let maximum = getrlimit(resource).maximum;
        let current = maximum.map_or(bytes, |maximum| maximum.min(bytes));
        setrlimit(resource, Rlimit { current: Some(current), maximum })
    };
    set(Resource::Data, u64::from(mebibytes) << 20)?;
    // A process without memory leaves no image of it on the disk.
    set(Resource::Core, 0)?;
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
    Ok(())
}

#[cfg(not(unix))]
fn limit_memory(_mebibytes: u32) -> io::Result<()> {
    Ok(())
}

/// Progress of an import, whose steps are noted for the process that waits.
pub(super) struct NotedSteps {
    steps: Steps,
    note: Option<File>,
}

impl NotedSteps {
    pub(super) fn new(steps: Steps) -> Self {
        let note = std::env::var_os(NOTE).and_then(|path| OpenOptions::new().write(true).open(path).ok());
        Self { steps, note }
    }

    fn note(&self, name: &str) -> io::Result<()> {
        let Some(mut file) = self.note.as_ref() else { return Ok(()) };
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(name.as_bytes())
    }
}

impl Progress for NotedSteps {
    fn step(&self, name: &str, bytes: u64) {
        // The note is only for a message.
        let _ = self.note(name);
        self.steps.step(name, bytes);
    }

    fn step_of_rows(&self, name: &str, rows: u64) {
        let _ = self.note(name);
        self.steps.step_of_rows(name, rows);
    }

    fn advance(&self, done: u64) {
        self.steps.advance(done);
    }

    fn done(&self) {
        self.steps.done();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_of_the_process_are_passed_on() {
        for exit in
            [IndexerExit::Success, IndexerExit::Rejected, IndexerExit::Usage, IndexerExit::Disk, IndexerExit::Busy]
        {
            assert_eq!(exit_of(exit as i32), exit);
        }
        assert_eq!(exit_of(101), IndexerExit::Rejected);
    }
}
