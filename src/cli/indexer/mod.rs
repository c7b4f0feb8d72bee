//! The indexer: checks datasets, publishes them as releases, and manages these. Results go to standard output, as text
//! or with `--json` as one JSON object; progress and errors to standard error. Exit codes are part of the interface.

mod aliases;
mod build;
mod check;
mod confined;
mod duplicates;
mod export;
pub(crate) mod format;
mod generate;
mod import;
mod import_page;
mod own_files;
mod progress;
mod publishing;
mod pushed;
mod releases;
mod resolve;
mod review;
mod search;
mod side_by_side;
mod stored_reviews;
mod suppress;
mod wait;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser, Subcommand};
use serde::Serialize;
use tempfile::TempDir;
use time::OffsetDateTime;

use crate::app::settings;
use crate::cli::indexer::build::{BuildArgs, Target};
use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::publishing::{Publishing, Validity, parse_time};
use crate::cli::version::DETAILED_VERSION;
use crate::cli::wrong_turn;
use ::import::parquet_tables::ParquetTables;
use ::import::sources::SourceError;
use auth::StoreError;
use data::import::DatasetInput;
use data::import::meta::MetaValues;
use data::{Date, SnapshotVersion};
pub use import::resolve::ResolveError;
use release::remote::{RemoteStore, is_object_store};
use release::{KeyError, ReleaseError, ReleaseStore, SigningKey, TrustedKey, copy_dataset};

const CODES: &str = "\
Exit codes:
  0  success
  1  dataset rejected; release damaged, missing, not signed, of another format, already published with different content,
     or without many rows that the current one has; import without much of what its source had; input that is damaged, or
     above a limit of size or memory; folder of `generate` or `import` with files of others in the way
  2  usage error, or not a key
  3  disk error: no such index folder, no permission, no space
  4  another indexer is using the index; retry later
  5  published, but a server of --wait-for does not serve it";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum IndexerExit {
    Success = 0,
    Rejected = 1,
    Usage = 2,
    Disk = 3,
    Busy = 4,
    /// Published, but not served by all servers that were waited for.
    NotServed = 5,
}

#[derive(Parser)]
#[command(name = "indexer", version, long_version = DETAILED_VERSION.as_str())]
#[command(about = "Check datasets and publish them as releases", after_help = CODES)]
#[command(arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: IndexerCommand,
    #[command(flatten)]
    style: Style,
}

#[derive(Args)]
pub(crate) struct Style {
    /// Print the result as one JSON object
    #[arg(long, global = true)]
    json: bool,
    /// List warnings instead of only counting them
    #[arg(long, short, global = true)]
    verbose: bool,
}

impl Style {
    /// Prints the result of a command, as JSON that begins with `ok` or as the text that `text` writes.
    pub(crate) fn print(
        &self,
        ok: bool,
        result: &impl Serialize,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> CommandResult {
        self.write(&ResultJson { ok, result }, text)?;
        Ok(if ok { IndexerExit::Success } else { IndexerExit::Rejected })
    }

    fn write(&self, json: &impl Serialize, text: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        if self.json {
            return format::json(json);
        }
        let mut out = io::BufWriter::new(io::stdout().lock());
        text(&mut out)?;
        out.flush()
    }
}

#[derive(Serialize)]
struct ResultJson<'r, R> {
    ok: bool,
    #[serde(flatten)]
    result: &'r R,
}

#[derive(Args)]
struct IndexArgs {
    /// Folder of releases, or the object store that has them: s3://bucket/prefix (endpoint, region and credentials from the
    /// variables AWS_…) or file:///folder
    #[arg(long, value_name = "PLACE", env = "VENTUREDEX_INDEX", default_value = "index")]
    index: PathBuf,
    /// Folder for the releases of an object store, not that of a server
    #[arg(long, value_name = "DIR", env = "VENTUREDEX_CACHE", default_value = "cache")]
    cache: PathBuf,
}

impl IndexArgs {
    fn remote(&self, trusted: Option<&TrustedKey>) -> Result<Option<RemoteStore>, ReleaseError> {
        let is_remote = is_object_store(&self.index);
        is_remote.then(|| RemoteStore::open(&self.index, trusted.cloned())).transpose()
    }

    /// The object store, for commands that need one.
    fn object_store(&self, trusted: Option<&TrustedKey>) -> Result<RemoteStore, CommandError> {
        self.remote(trusted)?.ok_or_else(|| CommandError::NoObjectStore(self.index.clone()))
    }

    fn releases(&self) -> ReleaseStore {
        ReleaseStore::of_place(&self.index, &self.cache)
    }
}

#[derive(Args)]
struct Trust {
    /// File with the public key (Ed25519, PEM) of whoever may publish: releases that are not signed with it are refused
    #[arg(long, value_name = "FILE", env = "VENTUREDEX_TRUST_KEY")]
    trust_key: Option<PathBuf>,
}

impl Trust {
    fn key(&self) -> Result<Option<TrustedKey>, KeyError> {
        self.trust_key.as_deref().map(TrustedKey::read).transpose()
    }

    fn releases(&self, index: &IndexArgs) -> Result<ReleaseStore, KeyError> {
        let mut releases = index.releases();
        releases.trusted = self.key()?;
        Ok(releases)
    }
}

#[derive(Args)]
struct DatasetArgs {
    /// Folder with the tables as CSV or Parquet, and snapshot.toml if there is one; or an object store that has these files
    #[arg(long, value_name = "PLACE", env = "VENTUREDEX_DATASET", default_value = "dataset")]
    dataset: PathBuf,
    #[command(flatten)]
    meta: MetaArgs,
}

/// What snapshot.toml says, or is to say.
#[derive(Args, Clone)]
struct MetaArgs {
    /// Version of the release, in place of snapshot.toml's [default: the next free number of the day]
    #[arg(long, value_name = "YYYY-MM-DD.N")]
    release: Option<SnapshotVersion>,
    /// Date that ages are counted from; by default that of the version
    #[arg(long, value_name = "DATE")]
    released_on: Option<Date>,
    /// Title of the data
    #[arg(long)]
    title: Option<String>,
    /// Where the data is from
    #[arg(long)]
    source: Option<String>,
    /// License of the data
    #[arg(long)]
    license: Option<String>,
}

/// The folder of a dataset.
enum DatasetFolder {
    Given(PathBuf),
    /// A copy of what an object store has.
    Copied(TempDir),
}

impl DatasetFolder {
    fn path(&self) -> &Path {
        match self {
            Self::Given(path) => path,
            Self::Copied(folder) => folder.path(),
        }
    }
}

impl DatasetArgs {
    /// Copies the dataset to a temporary folder if it is in an object store.
    fn folder(&self, style: &Style) -> Result<DatasetFolder, ReleaseError> {
        if !is_object_store(&self.dataset) {
            return Ok(DatasetFolder::Given(self.dataset.clone()));
        }
        let folder = tempfile::tempdir();
        let folder = folder.map_err(|error| ReleaseError::Io { path: std::env::temp_dir(), error })?;
        copy_dataset(&self.dataset, folder.path(), &Steps::new(style.json))?;
        Ok(DatasetFolder::Copied(folder))
    }

    fn input<'a>(&self, folder: &'a Path, today: Date) -> DatasetInput<'a> {
        let MetaArgs { release: version, released_on, title, source, license } = self.meta.clone();
        let meta = MetaValues { version, released_on, title, source, license, today: Some(today), is_next: false };
        DatasetInput { folder, format: Some(&ParquetTables), meta, scratch: None, reviews: None }
    }
}

#[derive(Subcommand)]
enum IndexerCommand {
    /// Check a dataset; writes nothing unless an option says so
    Check {
        #[command(flatten)]
        dataset: DatasetArgs,
        /// Write dates of rounds as the year or month where nearly all have one day, which nobody knew
        #[arg(long)]
        write_dates: bool,
        /// `strict`: reviews that do not count, or count less, until a person has looked at them are errors
        #[arg(long, value_name = "HOW", default_value = "lenient")]
        reviews: check::ReviewCheck,
    },
    /// Propose lines for aliases.csv, the surest first: former names, abbreviations, other names of one portfolio
    Aliases(DatasetArgs),
    /// List the records that are probably the same as a more prominent one
    Duplicates(DatasetArgs),
    /// Find the records of one firm, startup or person, across sources or within a dataset, and review the likely ones
    Resolve(resolve::ResolveArgs),
    /// Leave a record out of all releases from now on, whatever its sources say
    Suppress(suppress::SuppressArgs),
    /// Check a dataset, publish it as a release and activate the release
    Build(BuildArgs),
    /// Write releases as Parquet tables, which Spark, Trino, ClickHouse and DuckDB query in place
    Export(export::ExportArgs),
    /// Import files of other forms: exports, spreadsheets, public data sets
    Import(import::ImportArgs),
    /// Generate an invented dataset for tests and benchmarks; by default the bundled one
    Generate(generate::GenerateArgs),
    /// List the releases, newest first
    List(IndexArgs),
    /// Activate a release: servers load and serve it
    Activate {
        /// Release to activate, such as 2026-11-20.1
        version: SnapshotVersion,
        #[command(flatten)]
        index: IndexArgs,
        /// Activate it even if a table lost more than a fifth of its rows
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        publishing: Publishing,
        #[command(flatten)]
        trust: Trust,
    },
    /// Name the keys that may sign the object `current` of an object store, in place of those named before
    Delegate {
        #[command(flatten)]
        index: IndexArgs,
        /// File with the private key (Ed25519, PEM) of releases
        #[arg(long, value_name = "FILE", env = "VENTUREDEX_SIGN_KEY")]
        sign_key: PathBuf,
        /// File with a public key (Ed25519, PEM) that may sign `current`; once for each key
        #[arg(long = "key", value_name = "FILE", required = true)]
        keys: Vec<PathBuf>,
        /// Time until the keys must be named again, such as 365d
        #[arg(long, value_name = "TIME", default_value = "365d", value_parser = parse_time)]
        valid_for: i64,
    },
    /// Sign the object `current` of an object store once more, before it is out of date
    Renew {
        #[command(flatten)]
        index: IndexArgs,
        /// File with the private key (Ed25519, PEM) to sign with
        #[arg(long, value_name = "FILE", env = "VENTUREDEX_POINTER_KEY")]
        pointer_key: PathBuf,
        #[command(flatten)]
        validity: Validity,
        #[command(flatten)]
        trust: Trust,
    },
    /// Delete old releases; the active one is never deleted
    Prune {
        /// Number of newest releases to keep
        #[arg(long, value_name = "N")]
        keep: usize,
        /// Hours for which objects of an object store stay that no release needs: they may belong to a push that is running
        #[arg(long, value_name = "HOURS", default_value_t = 168, value_parser = clap::value_parser!(u32).range(24..))]
        grace: u32,
        #[command(flatten)]
        index: IndexArgs,
    },
    /// Search the active release and explain the score of each match
    Search {
        #[command(flatten)]
        search: search::SearchArgs,
        #[command(flatten)]
        index: IndexArgs,
    },
    /// Verify the checksums of releases and run test queries on them
    Verify {
        /// Release to verify, such as 2026-11-20.1; by default all releases
        version: Option<SnapshotVersion>,
        #[command(flatten)]
        index: IndexArgs,
        #[command(flatten)]
        trust: Trust,
    },
}

/// As [`run`], for the program itself: an import runs in a process of its own, with a limit of memory.
pub fn run_program(arguments: impl IntoIterator<Item = OsString>, now: OffsetDateTime) -> IndexerExit {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let arguments = match parse(words.iter().cloned()) {
        Ok(arguments) => arguments,
        Err(exit) => return exit,
    };
    let IndexerCommand::Import(import) = &arguments.command else { return execute(&arguments, now) };
    let result = confined::run(&words, import.max_memory, || execute(&arguments, now));
    result.unwrap_or_else(|error| CommandError::from(error).print(&arguments.style))
}

/// Runs the indexer with command-line arguments, beginning with the program's name. `now` is the time of the build.
pub fn run(arguments: impl IntoIterator<Item = OsString>, now: OffsetDateTime) -> IndexerExit {
    match parse(arguments) {
        Ok(arguments) => execute(&arguments, now),
        Err(exit) => exit,
    }
}

/// Prints the message of arguments that are wrong or ask for help.
fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Arguments, IndexerExit> {
    Arguments::try_parse_from(arguments).map_err(|error| {
        let code = if error.use_stderr() { IndexerExit::Usage } else { IndexerExit::Success };
        if error.print().is_err() {
            return IndexerExit::Disk;
        }
        if let Some(hint) = wrong_turn::hint(&error, &command(), &settings::command()) {
            // The message itself is printed.
            let _ = writeln!(io::stderr(), "\n{hint}");
        }
        code
    })
}

/// The command line.
pub(crate) fn command() -> clap::Command {
    Arguments::command()
}

fn execute(arguments: &Arguments, now: OffsetDateTime) -> IndexerExit {
    let Arguments { command, style } = arguments;
    let result = run_command(command, now, style);
    warn_of_permissions(command);
    result.unwrap_or_else(|error| error.print(style))
}

fn run_command(command: &IndexerCommand, now: OffsetDateTime, style: &Style) -> CommandResult {
    let seconds = now.unix_timestamp();
    let today = Date::from_unix(seconds);
    match command {
        IndexerCommand::Check { dataset, write_dates, reviews } => {
            if *write_dates && is_object_store(&dataset.dataset) {
                return Err(CommandError::RemoteDataset(dataset.dataset.clone()));
            }
            let folder = dataset.folder(style)?;
            check::run(dataset.input(folder.path(), today), *write_dates, *reviews, style)
        }
        IndexerCommand::Aliases(dataset) => aliases::run(dataset.input(dataset.folder(style)?.path(), today), style),
        IndexerCommand::Duplicates(dataset) => {
            duplicates::run(dataset.input(dataset.folder(style)?.path(), today), style)
        }
        IndexerCommand::Build(build) => build.run(now, style),
        IndexerCommand::Export(arguments) => arguments.run(style),
        IndexerCommand::Import(arguments) => import::run(arguments, now, style),
        IndexerCommand::Resolve(arguments) => resolve::run(arguments, today, style),
        IndexerCommand::Suppress(arguments) => suppress::run(arguments, today, style),
        IndexerCommand::Generate(arguments) => generate::run(arguments, style),
        IndexerCommand::List(index) => match index.remote(None)? {
            Some(remote) => pushed::list(&remote, style),
            None => releases::list(&index.releases(), style),
        },
        IndexerCommand::Activate { version, index, force, publishing, trust } => {
            let (releases, announcement) = (trust.releases(index)?, publishing.announcement()?);
            match index.remote(releases.trusted.as_ref())? {
                Some(remote) => {
                    let target = Target::sync(remote, announcement, &releases, seconds)?;
                    pushed::activate(&target, &releases, *version, *force, seconds, style)
                }
                None if publishing.recover => Err(CommandError::NoObjectStore(index.index.clone())),
                None => releases::activate(&releases, *version, *force, style),
            }
        }
        IndexerCommand::Delegate { index, sign_key, keys, valid_for } => {
            let key = SigningKey::read(sign_key)?;
            let keys = keys.iter().map(|path| TrustedKey::read(path)).collect::<Result<_, _>>()?;
            pushed::delegate(&index.object_store(None)?, keys, &key, *valid_for, seconds, style)
        }
        IndexerCommand::Renew { index, pointer_key, validity, trust } => {
            let signing = validity.signing(SigningKey::read(pointer_key)?);
            let remote = index.object_store(trust.key()?.as_ref())?;
            pushed::renew(&remote, &signing, seconds, style)
        }
        IndexerCommand::Prune { keep, grace, index } => match index.remote(None)? {
            Some(remote) => pushed::prune(&remote, *keep, i64::from(*grace) * 3_600, seconds, style),
            None => releases::prune(&index.releases(), *keep, style),
        },
        IndexerCommand::Search { search, index } => {
            let releases = index.releases();
            if let Some(remote) = index.remote(None)? {
                remote.sync(&releases, false)?;
            }
            search::run(search, &releases, style)
        }
        IndexerCommand::Verify { version, index, trust } => {
            let releases = trust.releases(index)?;
            if let Some(remote) = index.remote(releases.trusted.as_ref())? {
                remote.sync(&releases, false)?;
                if let Some(version) = version {
                    remote.fetch(&releases, pushed::find(&remote, *version)?)?;
                }
            }
            releases::verify(&releases, *version, style)
        }
    }
}

fn warn_of_permissions(command: &IndexerCommand) {
    if let IndexerCommand::Build(BuildArgs { index, .. })
    | IndexerCommand::List(index)
    | IndexerCommand::Activate { index, .. }
    | IndexerCommand::Verify { index, .. } = command
        && let Some(problem) = index.releases().permission_problem()
    {
        // A warning that cannot be printed does not affect the result.
        let _ = writeln!(io::stderr(), "warning: {problem}");
    }
}

pub(crate) type CommandResult = Result<IndexerExit, CommandError>;

#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Release(#[from] ReleaseError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Folder(#[from] own_files::FolderError),
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error(transparent)]
    Confined(#[from] confined::ConfinedError),
    #[error(
        "--index {} is a folder of releases, in which nothing is delegated, renewed or recovered: name an object store, such as \
         s3://bucket/prefix or file:///folder",
        .0.display()
    )]
    NoObjectStore(PathBuf),
    #[error(
        "--write-dates changes files of the dataset, and --dataset {} is in an object store: copy it to a folder, and name that",
        .0.display()
    )]
    RemoteDataset(PathBuf),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "{current} is current, though {latest} was published later: reviews are published again after the next `indexer build`, or \
         once {latest} is activated"
    )]
    RolledBack { current: SnapshotVersion, latest: SnapshotVersion },
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    /// The problems of a dataset, which are printed already.
    #[error("the dataset is rejected")]
    Rejected,
}

impl CommandError {
    fn print(&self, style: &Style) -> IndexerExit {
        let (code, name) = match self {
            Self::Release(error) => code_of(error),
            Self::Key(KeyError::Io { .. }) => (IndexerExit::Disk, "io"),
            Self::Key(_) => (IndexerExit::Usage, "bad_key"),
            Self::NoObjectStore(_) => (IndexerExit::Usage, "no_object_store"),
            Self::RemoteDataset(_) => (IndexerExit::Usage, "remote_dataset"),
            Self::Folder(error) => error.code(),
            Self::Source(error) | Self::Resolve(ResolveError::Source(error)) => match error {
                SourceError::Io { .. } => (IndexerExit::Disk, "io"),
                SourceError::Shrunk { .. } => (IndexerExit::Rejected, "shrunk"),
                _ => (IndexerExit::Rejected, "bad_source"),
            },
            Self::Confined(error) => error.code(),
            Self::Resolve(ResolveError::Search(_)) => (IndexerExit::Disk, "text_index"),
            Self::Store(error) => (IndexerExit::Disk, error.code()),
            Self::RolledBack { .. } => (IndexerExit::Rejected, "rolled_back"),
            Self::Output(error) => {
                // `| head` closes the pipe after the lines it needs.
                if error.kind() != io::ErrorKind::BrokenPipe {
                    let _ = writeln!(io::stderr(), "error: {self}");
                }
                return IndexerExit::Disk;
            }
            Self::Rejected => return IndexerExit::Rejected,
        };
        let mut result = serde_json::json!({ "code": name, "message": self.to_string() });
        if let Self::Release(ReleaseError::Taken { free, .. }) = self {
            result["next_free"] = free.to_string().into();
        }
        // A message that cannot be printed cannot be reported anywhere else.
        let _ = match style.json {
            true => format::json(&ResultJson { ok: false, result: &result }),
            false => writeln!(io::stderr(), "error: {self}"),
        };
        code
    }
}

fn code_of(error: &ReleaseError) -> (IndexerExit, &'static str) {
    match error {
        ReleaseError::Missing { .. } => (IndexerExit::Rejected, "missing"),
        ReleaseError::BadCurrent { .. } => (IndexerExit::Rejected, "bad_current"),
        ReleaseError::OtherFormat { .. } => (IndexerExit::Rejected, "other_format"),
        ReleaseError::Damaged { .. } => (IndexerExit::Rejected, "damaged"),
        ReleaseError::Taken { .. } => (IndexerExit::Rejected, "version_taken"),
        ReleaseError::Shrunk { .. } => (IndexerExit::Rejected, "shrunk"),
        ReleaseError::Untrusted { .. } => (IndexerExit::Rejected, "untrusted"),
        ReleaseError::NoneActive { .. } => (IndexerExit::Rejected, "none_active"),
        ReleaseError::NothingGood { .. } => (IndexerExit::Rejected, "nothing_good"),
        ReleaseError::Bundled(_) => (IndexerExit::Rejected, "bundled"),
        ReleaseError::Busy { .. } => (IndexerExit::Busy, "busy"),
        ReleaseError::Overtaken { .. } => (IndexerExit::Busy, "overtaken"),
        ReleaseError::Unfollowable { .. } => (IndexerExit::Rejected, "unfollowable"),
        ReleaseError::Restored { .. } => (IndexerExit::Rejected, "restored"),
        ReleaseError::NotSigned { .. } => (IndexerExit::Rejected, "not_signed"),
        ReleaseError::NotDelegated { .. } => (IndexerExit::Rejected, "not_delegated"),
        ReleaseError::ExportedBefore { .. } => (IndexerExit::Rejected, "exported_before"),
        ReleaseError::ObjectStore { .. } => (IndexerExit::Disk, "object_store"),
        ReleaseError::Text { .. } => (IndexerExit::Disk, "text_index"),
        ReleaseError::NotPublic { .. } => (IndexerExit::Rejected, "not_public"),
        ReleaseError::TooLarge { .. } => (IndexerExit::Rejected, "too_large"),
        ReleaseError::Io { .. } => (IndexerExit::Disk, "io"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_valid() {
        Arguments::command().debug_assert();
    }
}
