//! `indexer build`: compiles a dataset and publishes it as a release.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;
use time::OffsetDateTime;

use crate::cli::indexer::check;
use crate::cli::indexer::progress::{CompletedStep, Steps};
use crate::cli::indexer::{CommandError, IndexerExit, Style, format};
use catalog::ChangeCounts;
use data::import::DatasetInput;
use data::rfc3339;
use data::{Counts, Diagnostic, DiagnosticReport, Progress, SnapshotVersion, Table};
use platform::clock;
use release::remote::{Current, Pushed, RemoteStore};
use release::{Policy, Publication, PublicationOutcome, ReleaseError, ReleaseStore, SigningKey, manifest};

struct BuildSummary<'a> {
    pushed: Option<&'a Pushed>,
    publication: &'a Publication,
    report: &'a DiagnosticReport,
    known_aliases: usize,
    difference: Difference,
    steps: Vec<CompletedStep>,
    took: Duration,
    folder: &'a Path,
}

/// Changes compared with the previous release.
enum Difference {
    /// There is no previous release, or the build published nothing new.
    None,
    Of(SnapshotVersion, BTreeMap<Table, ChangeCounts>),
    /// The previous release cannot be read.
    Unknown(SnapshotVersion, String),
}

/// The object store to push a release to.
pub(crate) struct PushTarget<'r> {
    pub remote: &'r RemoteStore,
    /// Its `current` before the build.
    pub read: Current,
    pub sign_key: Option<SigningKey>,
    /// Seconds from the push to the switch.
    pub activate_in: i64,
}

impl PushTarget<'_> {
    fn push(&self, releases: &ReleaseStore, publication: &Publication, steps: &Steps) -> Result<Pushed, ReleaseError> {
        steps.step("push", 0);
        // The build has taken its time: count from now.
        let now = clock::now();
        let (version, key) = (publication.manifest.version, self.sign_key.as_ref());
        let pushed = self.remote.push(releases, version, key, &self.read, now + self.activate_in, now);
        steps.done();
        pushed
    }
}

pub(crate) fn run(
    mut dataset: DatasetInput<'_>,
    releases: &ReleaseStore,
    policy: Policy,
    target: Option<PushTarget<'_>>,
    now: OffsetDateTime,
    style: &Style,
) -> Result<IndexerExit, CommandError> {
    let start = Instant::now();
    let steps = Steps::new(style.json);
    let building = releases.begin()?.with(policy);
    let folder = dataset.folder;
    dataset.scratch = Some(building.scratch_file()?);
    let compiled = match data::compile(dataset, &steps) {
        Ok(compiled) => compiled,
        Err(report) => {
            drop(steps);
            return check::reject(&report, folder, style);
        }
    };
    let report = compiled.report().clone();
    let known_aliases = compiled.known_aliases();
    let publication = building.publish(compiled, now, &steps)?;
    drop(building);
    let difference = compare(releases, &publication, &steps);
    let release_folder = releases.release_folder(publication.manifest.version);
    let pushed = target.map(|target| target.push(releases, &publication, &steps)).transpose()?;
    let summary = BuildSummary {
        pushed: pushed.as_ref(),
        publication: &publication,
        report: &report,
        known_aliases,
        difference,
        steps: steps.completed(),
        took: start.elapsed(),
        folder: &release_folder,
    };
    drop(steps);
    style.print(&SummaryJson::new(&summary, style), |out| summary.print(style, out))
}

fn compare(releases: &ReleaseStore, publication: &Publication, steps: &Steps) -> Difference {
    let version = publication.manifest.version;
    let Some(before) = publication.before.filter(|before| *before != version) else { return Difference::None };
    if publication.outcome == PublicationOutcome::Unchanged {
        return Difference::None;
    }
    steps.step("compare", 0);
    let difference = releases.difference(before, version);
    steps.done();
    match difference {
        Ok(changes) => Difference::Of(before, changes),
        Err(error) => Difference::Unknown(before, error.to_string()),
    }
}

impl BuildSummary<'_> {
    fn print(&self, style: &Style, out: &mut dyn Write) -> io::Result<()> {
        check::list(self.report, style, out)?;
        let manifest = &self.publication.manifest;
        let (version, folder, took) = (manifest.version, self.folder.display(), format::time(self.took));
        match self.publication.outcome {
            PublicationOutcome::Published => writeln!(out, "published {version} in {took}: {folder}")?,
            PublicationOutcome::Repaired => writeln!(out, "replaced damaged {version} in {took}: {folder}")?,
            PublicationOutcome::Signed => writeln!(out, "signed {version} in {took}: {folder}")?,
            PublicationOutcome::Completed => writeln!(out, "added bulk files to {version} in {took}: {folder}")?,
            PublicationOutcome::Unchanged => {
                writeln!(out, "{version} is already published with the same content: {folder}")?
            }
        }
        self.print_tables(out)?;
        let size = |prefix: &str| format::size(manifest.bytes(prefix));
        let [tables, records, text, bulk] =
            [manifest::TABLES, manifest::RECORDS, manifest::TEXT, manifest::BULK].map(size);
        let bulk = if manifest.bulk().next().is_some() { format!(", bulk {bulk}") } else { String::new() };
        let history = manifest.file(manifest::HISTORY);
        let history = history.map_or_else(String::new, |file| format!(", history {}", format::size(file.bytes)));
        let whole = size("");
        writeln!(out, "  size: {whole} (tables {tables}, records {records}, text {text}{history}{bulk})")?;
        writeln!(out, "  known aliases added: {}", format::count(self.known_aliases))?;
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("{} {}", step.name, format::time(step.took))).collect();
        writeln!(out, "  time: {}", steps.join(", "))?;
        let warnings = format::counted(self.report.warnings().count(), "warning");
        writeln!(out, "  {warnings}{}", check::hint(self.report, style))?;
        if let Some(Pushed { pointer, objects, bytes }) = self.pushed {
            let (objects, bytes) = (format::counted(*objects, "object"), format::size(*bytes));
            let (generation, at) = (pointer.generation, rfc3339(pointer.activate_at));
            writeln!(out, "  pushed: {objects}, {bytes}; generation {generation}, served from {at} on")?;
        }
        let current = self.publication.current.map_or("none".to_owned(), |current| current.to_string());
        if self.publication.current == Some(version) {
            return writeln!(out, "  current: {version}");
        }
        writeln!(out, "  current: {current}; activate the new release with `indexer activate {version}`")
    }

    fn print_tables(&self, out: &mut dyn Write) -> io::Result<()> {
        let changes = if let Difference::Of(_, changes) = &self.difference { Some(changes) } else { None };
        for (table, rows) in self.publication.manifest.counts.by_table() {
            let name = table.name();
            write!(out, "  {name:<16}{:>12}", format::count(rows))?;
            if let Some(changes) = changes.and_then(|changes| changes.get(&table)) {
                let [added, removed, changed] = [changes.added, changes.removed, changes.changed].map(format::count);
                write!(out, "   {added} added, {removed} removed, {changed} changed")?;
            }
            writeln!(out)?;
        }
        match &self.difference {
            Difference::None => Ok(()),
            Difference::Of(before, _) => writeln!(out, "  compared with: {before}"),
            Difference::Unknown(before, reason) => writeln!(out, "  not compared with {before}: {reason}"),
        }
    }
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    ok: bool,
    outcome: PublicationOutcome,
    version: SnapshotVersion,
    place: String,
    /// The active release.
    current: Option<SnapshotVersion>,
    counts: Counts,
    /// Number of well-known aliases added to records.
    known_aliases: usize,
    bytes: ReleaseSizes,
    built_at: &'a str,
    #[serde(rename = "took_ms", serialize_with = "format::as_milliseconds")]
    took: Duration,
    steps: &'a [CompletedStep],
    before: Option<SnapshotVersion>,
    difference: Option<&'a BTreeMap<Table, ChangeCounts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<&'a str>,
    /// Result of the push to the object store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed: Option<&'a Pushed>,
    warning_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    warnings: Option<Vec<&'a Diagnostic>>,
}

#[derive(Serialize)]
struct ReleaseSizes {
    tables: u64,
    records: u64,
    text: u64,
    history: u64,
    bulk: u64,
    total: u64,
}

impl<'a> SummaryJson<'a> {
    fn new(summary: &'a BuildSummary<'a>, style: &Style) -> Self {
        let publication = summary.publication;
        let manifest = &publication.manifest;
        let (difference, not_compared) = match &summary.difference {
            Difference::None => (None, None),
            Difference::Of(_, changes) => (Some(changes), None),
            Difference::Unknown(_, reason) => (None, Some(reason.as_str())),
        };
        Self {
            ok: true,
            outcome: publication.outcome,
            version: manifest.version,
            place: summary.folder.display().to_string(),
            current: publication.current,
            counts: manifest.counts,
            known_aliases: summary.known_aliases,
            bytes: ReleaseSizes {
                tables: manifest.bytes(manifest::TABLES),
                records: manifest.bytes(manifest::RECORDS),
                text: manifest.bytes(manifest::TEXT),
                history: manifest.bytes(manifest::HISTORY),
                bulk: manifest.bytes(manifest::BULK),
                total: manifest.bytes(""),
            },
            built_at: &manifest.built_at,
            took: summary.took,
            steps: &summary.steps,
            before: publication.before,
            difference,
            not_compared,
            pushed: summary.pushed,
            warning_count: summary.report.warnings().count(),
            warnings: style.verbose.then(|| summary.report.warnings().collect()),
        }
    }
}
