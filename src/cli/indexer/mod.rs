//! The indexer: checks a dataset, publishes it as a release, and looks after the releases.
//!
//! Results go to standard output, as text or with `--json` as one JSON object; progress and complaints go to standard
//! error, so that a script can read the one and a person the other. The exit codes are part of the interface.

pub mod build;
pub mod check;
pub mod format;
pub mod generate;
pub mod progress;
pub mod releases;
pub mod search;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use serde::Serialize;
use time::OffsetDateTime;

use crate::data::SnapshotVersion;
use crate::release::{ReleaseError, ReleaseStore};

const CODES: &str = "\
Exit codes:
  0  done
  1  the dataset is refused; a release is damaged, missing, of another format, or published with other content;
     a folder to generate into holds something else
  2  wrong usage
  3  the disk refuses: no such index folder, no permission, no space
  4  another indexer is working on the index; try again later";

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// Done.
    Done = 0,
    /// The data or a release is refused.
    Refused = 1,
    /// Wrong usage.
    Usage = 2,
    /// The disk refuses.
    Disk = 3,
    /// Another indexer is at work.
    Busy = 4,
}

#[derive(Parser)]
#[command(name = "indexer", version, about = "Checks datasets and publishes them as releases", after_help = CODES)]
#[command(arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    style: Style,
}

#[derive(Args)]
pub(crate) struct Style {
    /// Print one JSON object for machines
    #[arg(long, global = true)]
    json: bool,
    /// List the warnings, not only their number
    #[arg(long, short, global = true)]
    verbose: bool,
}

#[derive(Args)]
struct Index {
    /// The folder of releases
    #[arg(long, value_name = "DIR", env = "VENTUREDEX_INDEX", default_value = "index")]
    index: PathBuf,
}

#[derive(Args)]
struct Dataset {
    /// The folder of CSV files and snapshot.toml
    #[arg(long, value_name = "DIR", env = "VENTUREDEX_DATASET", default_value = "dataset")]
    dataset: PathBuf,
}

#[derive(Subcommand)]
enum Command {
    /// Check a dataset and write nothing
    Check {
        #[command(flatten)]
        dataset: Dataset,
    },
    /// Check a dataset, publish it as a release and make it the one to serve
    Build {
        #[command(flatten)]
        dataset: Dataset,
        #[command(flatten)]
        index: Index,
    },
    /// Invent a dataset for trials and benchmarks; without numbers the one that the project carries
    Generate(generate::Generate),
    /// List the releases
    List {
        #[command(flatten)]
        index: Index,
    },
    /// Make a release the one to serve, newer or older
    Activate {
        /// The release, YYYY-MM-DD.N
        version: SnapshotVersion,
        #[command(flatten)]
        index: Index,
    },
    /// Remove old releases; the one to serve stays
    Prune {
        /// How many of the newest releases stay
        #[arg(long, value_name = "N")]
        keep: usize,
        #[command(flatten)]
        index: Index,
    },
    /// Search the release to serve, and explain each match
    Search {
        #[command(flatten)]
        wanted: search::Wanted,
        #[command(flatten)]
        index: Index,
    },
    /// Check the checksums of releases and try a query on each
    Verify {
        /// The release, YYYY-MM-DD.N; without it all of them
        version: Option<SnapshotVersion>,
        #[command(flatten)]
        index: Index,
    },
}

/// Runs the indexer with the words of a command line, the program's name first. `now` is the time of the build.
pub fn run(words: impl IntoIterator<Item = OsString>, now: OffsetDateTime) -> Code {
    let arguments = match Arguments::try_parse_from(words) {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = if error.use_stderr() { Code::Usage } else { Code::Done };
            return if error.print().is_ok() { code } else { Code::Disk };
        }
    };
    let style = &arguments.style;
    let ended = match &arguments.command {
        Command::Check { dataset } => check::run(&dataset.dataset, style),
        Command::Build { dataset, index } => build::run(&dataset.dataset, &releases_at(index), now, style),
        Command::Generate(wanted) => generate::run(wanted, style),
        Command::List { index } => releases::list(&releases_at(index), style),
        Command::Activate { version, index } => releases::activate(&releases_at(index), *version, style),
        Command::Prune { keep, index } => releases::prune(&releases_at(index), *keep, style),
        Command::Search { wanted, index } => search::run(wanted, &releases_at(index), style),
        Command::Verify { version, index } => releases::verify(&releases_at(index), *version, style),
    };
    match ended {
        Ok(code) => code,
        Err(failure) => failure.tell(style),
    }
}

fn releases_at(index: &Index) -> ReleaseStore {
    ReleaseStore::at(&index.index)
}

/// Why a command ended early.
pub(crate) enum CommandError {
    Release(ReleaseError),
    Generate(generate::GenerateError),
    /// Nobody reads what is printed, or it cannot be written.
    Output(io::Error),
}

impl From<ReleaseError> for CommandError {
    fn from(error: ReleaseError) -> Self {
        Self::Release(error)
    }
}

impl From<generate::GenerateError> for CommandError {
    fn from(error: generate::GenerateError) -> Self {
        Self::Generate(error)
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// What a failed command prints for machines.
#[derive(Serialize)]
struct Failed {
    ok: bool,
    code: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_free: Option<String>,
}

impl CommandError {
    fn tell(self, style: &Style) -> Code {
        let (code, word, message, next_free) = match self {
            Self::Release(error) => {
                let (code, word) = code_of(&error);
                let next_free = match &error {
                    ReleaseError::Taken { free, .. } => Some(free.to_string()),
                    _ => None,
                };
                (code, word, error.to_string(), next_free)
            }
            Self::Generate(error) => {
                let (code, word) = error.code();
                (code, word, error.to_string(), None)
            }
            // A closed pipe is how `| head` says that it has seen enough.
            Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return Code::Disk,
            Self::Output(error) => {
                let _ = writeln!(io::stderr(), "error: standard output: {error}");
                return Code::Disk;
            }
        };
        // Standard error is the last place to say anything: what fails there stays unsaid.
        if style.json {
            let _ = format::json(&Failed { ok: false, code: word, message, next_free });
        } else {
            let _ = writeln!(io::stderr(), "error: {message}");
        }
        code
    }
}

/// The exit code of an error, and its name for machines.
fn code_of(error: &ReleaseError) -> (Code, &'static str) {
    match error {
        ReleaseError::Missing { .. } => (Code::Refused, "missing"),
        ReleaseError::BadCurrent { .. } => (Code::Refused, "bad_current"),
        ReleaseError::OtherFormat { .. } => (Code::Refused, "other_format"),
        ReleaseError::Damaged { .. } => (Code::Refused, "damaged"),
        ReleaseError::Taken { .. } => (Code::Refused, "version_taken"),
        ReleaseError::NothingGood { .. } => (Code::Refused, "nothing_good"),
        ReleaseError::Bundled(_) => (Code::Refused, "bundled"),
        ReleaseError::Busy { .. } => (Code::Busy, "busy"),
        ReleaseError::Text { .. } => (Code::Disk, "text_index"),
        ReleaseError::Io { .. } => (Code::Disk, "io"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Arguments::command().debug_assert();
    }
}
