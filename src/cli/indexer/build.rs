//! `indexer build`: compiles a dataset and publishes it as a release.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;
use serde::{Serialize, Serializer};
use time::OffsetDateTime;

use crate::cli::indexer::export;
use crate::cli::indexer::import::SourceArgs;
use crate::cli::indexer::progress::{CompletedStep, Steps};
use crate::cli::indexer::publishing::Publishing;
use crate::cli::indexer::stored_reviews::{self, ExportedReviews, ReviewArgs};
use crate::cli::indexer::wait::{WaitedJson, Waiting};
use crate::cli::indexer::{
    CommandError, CommandResult, DatasetArgs, DatasetFolder, IndexArgs, IndexerExit, Style, check, format, pushed,
};
use data::import::DatasetInput;
use data::{Counts, Date, Diagnostic, Progress, SnapshotVersion};
use platform::clock;
use release::remote::{Announcement, Current, Pushed, RemoteStore};
use release::{
    ExportPlace, ExportedRelease, Manifest, Policy, Publication, PublicationOutcome, ReleaseError, ReleaseStore,
    SigningKey, TableChanges, manifest,
};

#[derive(Args)]
pub(super) struct BuildArgs {
    #[command(flatten)]
    dataset: DatasetArgs,
    #[command(flatten)]
    pub(super) index: IndexArgs,
    #[command(flatten)]
    sources: SourceArgs,
    #[command(flatten)]
    pub(super) reviews: ReviewArgs,
    /// Publish even if a table lost more than a fifth of its rows
    #[arg(long)]
    force: bool,
    /// File with a private key (Ed25519, PEM) to sign the release with
    #[arg(long, value_name = "FILE", env = "VENTUREDEX_SIGN_KEY")]
    sign_key: Option<PathBuf>,
    /// Write files of every table to download, too: NDJSON, CSV and Parquet, with their descriptions
    #[arg(long)]
    bulk: bool,
    /// Folder or object store to write the release to as Parquet tables, too, as `indexer export` does
    #[arg(long, value_name = "PLACE", env = "VENTUREDEX_TABLES")]
    tables: Option<PathBuf>,
    #[command(flatten)]
    publishing: Publishing,
    #[command(flatten)]
    waiting: Waiting,
}

impl BuildArgs {
    pub(super) fn run(&self, now: OffsetDateTime, style: &Style) -> CommandResult {
        match self.reviews.open()? {
            Some(store) if self.reviews.follow => stored_reviews::follow(self, &*store, style),
            Some(store) => self.build(Some(&ExportedReviews::read(&*store)?), now, style),
            None => self.build(None, now, style),
        }
    }

    /// Builds one release. With reviews of accounts it is the next one of the day.
    pub(super) fn build(&self, reviews: Option<&ExportedReviews>, now: OffsetDateTime, style: &Style) -> CommandResult {
        let seconds = now.unix_timestamp();
        let today = Date::from_unix(seconds);
        let announcement = self.publishing.announcement()?;
        let signing_key = self.sign_key.as_deref().map(SigningKey::read).transpose()?;
        let withdrawn_reviews = reviews.map_or_else(Vec::new, |reviews| reviews.withdrawn.clone());
        let policy = Policy { is_forced: self.force, signing_key, has_bulk: self.bulk, withdrawn_reviews };
        let (releases, remote) = (self.index.releases(), self.index.remote(None)?);
        if self.publishing.recover && remote.is_none() {
            return Err(CommandError::NoObjectStore(self.index.index.clone()));
        }
        let target = remote.map(|remote| Target::sync(remote, announcement, &releases, seconds));
        let target = target.transpose()?;
        let tables = export::open(self.tables.as_deref())?;
        let view = self.sources.view(&releases, style)?;
        let given = if view.is_none() { Some(self.dataset.folder(style)?) } else { None };
        let folder = view.as_ref().map(|view| view.dataset.path()).or(given.as_ref().map(DatasetFolder::path));
        let mut input = self.dataset.input(folder.unwrap_or(&self.dataset.dataset), today);
        input.reviews = reviews.map(ExportedReviews::input);
        input.meta.is_next = reviews.is_some();
        let goal = Goal { target: target.as_ref(), tables: tables.as_ref(), waiting: &self.waiting };
        let built = run(input, &releases, policy, &goal, now, style)?;
        view.map_or(Ok(()), |view| view.keep_identities(today))?;
        Ok(built)
    }
}

/// The object store that a release is pushed to.
pub(super) struct Target {
    pub(super) remote: RemoteStore,
    pub(super) announcement: Announcement,
    /// The state of the object store before the build.
    pub(super) read: Current,
}

impl Target {
    /// Copies the current release into the folder `releases`. Fails if replicas would not follow another one.
    pub(super) fn sync(
        remote: RemoteStore,
        announcement: Announcement,
        releases: &ReleaseStore,
        now: i64,
    ) -> Result<Self, ReleaseError> {
        let read = remote.sync(releases, announcement.is_recovery)?;
        remote.check(releases, &read, &announcement, now)?;
        Ok(Self { remote, announcement, read })
    }
}

/// What becomes of a release once it is built.
struct Goal<'a> {
    target: Option<&'a Target>,
    tables: Option<&'a ExportPlace>,
    waiting: &'a Waiting,
}

/// Builds a release, pushes it to an object store, waits for servers to serve it, and exports its tables.
fn run(
    mut dataset: DatasetInput<'_>,
    releases: &ReleaseStore,
    policy: Policy,
    goal: &Goal<'_>,
    now: OffsetDateTime,
    style: &Style,
) -> CommandResult {
    let start = Instant::now();
    let steps = Steps::new(style.json);
    let building = releases.begin()?.with(policy);
    let folder = dataset.folder;
    dataset.scratch = Some(building.scratch_file()?);
    let compiled = match data::compile(dataset, &steps) {
        Ok(compiled) => compiled,
        Err(report) => {
            drop(steps);
            return Err(check::reject(&report, folder, style));
        }
    };
    let report = compiled.report.clone();
    let known_aliases = compiled.known_aliases;
    let publication = building.publish(compiled, now, &steps)?;
    let Policy { signing_key, .. } = building.end();
    let (difference, not_compared) = compare(releases, &publication, &steps);
    let manifest = &publication.manifest;
    let Goal { target, tables, waiting } = goal;
    let pushed = target.map(|Target { remote, announcement, read }| {
        steps.step("push", 0);
        // The build has taken its time: count from now.
        let key = signing_key.as_ref();
        let pushed = remote.push(releases, manifest.version, key, read, announcement, clock::now());
        steps.done();
        pushed
    });
    let pushed = pushed.transpose()?;
    let waited = if waiting.is_wanted() {
        steps.step("wait", 0);
        let waited = waiting.wait(manifest.version);
        steps.done();
        waited
    } else {
        WaitedJson::default()
    };
    let exported = tables.map(|tables| tables.add(releases, manifest.version, &steps)).transpose()?;
    let summary = SummaryJson {
        outcome: publication.outcome,
        version: manifest.version,
        place: releases.release_folder(manifest.version).display().to_string(),
        current: publication.current,
        counts: manifest.counts,
        known_aliases,
        bytes: [
            ("tables", manifest::TABLES),
            ("records", manifest::RECORDS),
            ("text", manifest::TEXT),
            ("history", manifest::HISTORY),
            ("bulk", manifest::BULK),
            ("total", ""),
        ]
        .map(|(name, prefix)| (name, manifest.bytes(prefix))),
        built_at: &manifest.built_at,
        took: start.elapsed(),
        steps: steps.completed(),
        before: publication.before,
        difference,
        not_compared,
        pushed,
        waited,
        tables: tables
            .map(ExportPlace::location)
            .zip(exported.as_ref())
            .map(|(place, release)| TablesJson { place, release }),
        warning_count: report.warnings().count(),
        warnings: style.verbose.then(|| report.warnings().collect()),
        suspicions: report.suspicions().collect(),
    };
    drop(steps);
    let failure = summary.waited.message.as_ref();
    style.print(failure.is_none(), &summary, |out| {
        check::list(&report, style, out)?;
        summary.print(manifest, check::hint(&report, style), out)
    })?;
    let Some(failure) = failure else { return Ok(IndexerExit::Success) };
    if !style.json {
        writeln!(io::stderr(), "error: {failure}")?;
    }
    Ok(IndexerExit::NotServed)
}

/// The changes compared with the previous release, or why it cannot be read. Neither if nothing new was published.
fn compare(releases: &ReleaseStore, published: &Publication, steps: &Steps) -> (Option<TableChanges>, Option<String>) {
    let version = published.manifest.version;
    let is_new = published.outcome != PublicationOutcome::Unchanged;
    let Some(before) = published.before.filter(|before| is_new && *before != version) else { return (None, None) };
    steps.step("compare", 0);
    let difference = releases.difference(before, version);
    steps.done();
    match difference {
        Ok(difference) => (Some(difference), None),
        Err(error) => (None, Some(error.to_string())),
    }
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    outcome: PublicationOutcome,
    version: SnapshotVersion,
    place: String,
    current: Option<SnapshotVersion>,
    counts: Counts,
    known_aliases: usize,
    #[serde(serialize_with = "as_map")]
    bytes: [(&'static str, u64); 6],
    built_at: &'a str,
    #[serde(rename = "took_ms", serialize_with = "format::as_milliseconds")]
    took: Duration,
    steps: Vec<CompletedStep>,
    before: Option<SnapshotVersion>,
    difference: Option<TableChanges>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed: Option<Pushed>,
    #[serde(flatten)]
    waited: WaitedJson,
    #[serde(skip_serializing_if = "Option::is_none")]
    tables: Option<TablesJson<'a>>,
    warning_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<&'a Diagnostic>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suspicions: Vec<&'a Diagnostic>,
}

#[derive(Serialize)]
struct TablesJson<'a> {
    place: &'a str,
    #[serde(flatten)]
    release: &'a ExportedRelease,
}

fn as_map<S: Serializer>(sizes: &[(&'static str, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(sizes.iter().copied())
}

impl SummaryJson<'_> {
    /// `hint` follows the number of warnings.
    fn print(&self, manifest: &Manifest, hint: &str, out: &mut dyn Write) -> io::Result<()> {
        let Self { version, place, .. } = self;
        let took = format::time(self.took);
        match self.outcome {
            PublicationOutcome::Published => writeln!(out, "published {version} in {took}: {place}")?,
            PublicationOutcome::Repaired => writeln!(out, "replaced damaged {version} in {took}: {place}")?,
            PublicationOutcome::Signed => writeln!(out, "signed {version} in {took}: {place}")?,
            PublicationOutcome::Completed => writeln!(out, "added bulk files to {version} in {took}: {place}")?,
            PublicationOutcome::Unchanged => {
                writeln!(out, "{version} is already published with the same content: {place}")?
            }
        }
        self.print_tables(out)?;
        let [tables, records, text, history, bulk, whole] = self.bytes.map(|(_, bytes)| format::size(bytes));
        let part = |is_there: bool, name: &str, size: String| {
            if is_there { format!(", {name} {size}") } else { String::new() }
        };
        let history = part(manifest.file(manifest::HISTORY).is_some(), "history", history);
        let bulk = part(manifest.bulk().next().is_some(), "bulk", bulk);
        writeln!(out, "  size: {whole} (tables {tables}, records {records}, text {text}{history}{bulk})")?;
        writeln!(out, "  known aliases added: {}", format::count(self.known_aliases))?;
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("{} {}", step.name, format::time(step.took))).collect();
        writeln!(out, "  time: {}", steps.join(", "))?;
        writeln!(out, "  {}{hint}", format::counted(self.warning_count, "warning"))?;
        if let Some(Pushed { pointer, objects, bytes }) = &self.pushed {
            let (objects, bytes) = (format::counted(*objects, "object"), format::size(*bytes));
            writeln!(out, "  pushed: {objects}, {bytes}; {}", pushed::description(pointer))?;
        }
        if let Some(TablesJson { place, release }) = &self.tables {
            write!(out, "  ")?;
            export::print(release, place, out)?;
        }
        self.waited.print(out)?;
        if self.current == Some(*version) {
            return writeln!(out, "  current: {version}");
        }
        let current = self.current.map_or("none".to_owned(), |current| current.to_string());
        writeln!(out, "  current: {current}; activate the new release with `indexer activate {version}`")
    }

    fn print_tables(&self, out: &mut dyn Write) -> io::Result<()> {
        for (table, rows) in self.counts.by_table() {
            write!(out, "  {:<16}{:>12}", table.name(), format::count(rows))?;
            if let Some(changes) = self.difference.as_ref().and_then(|changes| changes.get(&table)) {
                let [added, removed, changed] = [changes.added, changes.removed, changes.changed].map(format::count);
                write!(out, "   {added} added, {removed} removed, {changed} changed")?;
            }
            writeln!(out)?;
        }
        match (self.before, &self.difference, &self.not_compared) {
            (Some(before), Some(_), _) => writeln!(out, "  compared with: {before}"),
            (Some(before), _, Some(reason)) => writeln!(out, "  not compared with {before}: {reason}"),
            _ => Ok(()),
        }
    }
}
