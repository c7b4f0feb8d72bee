//! `indexer build`: compiles a dataset and publishes it as a release.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use serde::Serialize;
use time::OffsetDateTime;

use crate::cli::indexer::progress::{CompletedStep, Steps};
use crate::cli::indexer::{CommandError, IndexerExit, Style, check, format};
use catalog::ChangeCounts;
use data::import::DatasetInput;
use data::{Counts, Diagnostic, Progress, SnapshotVersion, Table, rfc3339};
use platform::clock;
use release::remote::{Current, Pushed, RemoteStore};
use release::{Manifest, Policy, Publication, PublicationOutcome, ReleaseError, ReleaseStore, SigningKey, manifest};

/// Changes compared with the previous release, or the reason why it cannot be read. `None` if there is no previous
/// release, or the build published nothing new.
type Difference = Option<Result<BTreeMap<Table, ChangeCounts>, String>>;

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
    let report = compiled.report.clone();
    let known_aliases = compiled.known_aliases;
    let publication = building.publish(compiled, now, &steps)?;
    drop(building);
    let difference = compare(releases, &publication, &steps);
    let difference = difference.as_ref().map(Result::as_ref);
    let pushed = target.map(|target| target.push(releases, &publication, &steps)).transpose()?;
    let manifest = &publication.manifest;
    let summary = SummaryJson {
        ok: true,
        outcome: publication.outcome,
        version: manifest.version,
        place: releases.release_folder(manifest.version).display().to_string(),
        current: publication.current,
        counts: manifest.counts,
        known_aliases,
        bytes: ReleaseSizes {
            tables: manifest.bytes(manifest::TABLES),
            records: manifest.bytes(manifest::RECORDS),
            text: manifest.bytes(manifest::TEXT),
            history: manifest.bytes(manifest::HISTORY),
            bulk: manifest.bytes(manifest::BULK),
            total: manifest.bytes(""),
        },
        built_at: &manifest.built_at,
        took: start.elapsed(),
        steps: steps.completed(),
        before: publication.before,
        difference: difference.and_then(Result::ok),
        not_compared: difference.and_then(Result::err),
        pushed: pushed.as_ref(),
        warning_count: report.warnings().count(),
        warnings: style.verbose.then(|| report.warnings().collect()),
    };
    drop(steps);
    style.print(&summary, |out| {
        check::list(&report, style, out)?;
        summary.print(manifest, check::hint(&report, style), out)
    })
}

fn compare(releases: &ReleaseStore, publication: &Publication, steps: &Steps) -> Difference {
    let version = publication.manifest.version;
    let before = publication.before.filter(|before| *before != version)?;
    if publication.outcome == PublicationOutcome::Unchanged {
        return None;
    }
    steps.step("compare", 0);
    let difference = releases.difference(before, version);
    steps.done();
    Some(difference.map_err(|error| error.to_string()))
}

#[derive(Serialize)]
struct SummaryJson<'a> {
    ok: bool,
    outcome: PublicationOutcome,
    version: SnapshotVersion,
    place: String,
    current: Option<SnapshotVersion>,
    counts: Counts,
    /// Number of well-known aliases added to records.
    known_aliases: usize,
    bytes: ReleaseSizes,
    built_at: &'a str,
    #[serde(rename = "took_ms", serialize_with = "format::as_milliseconds")]
    took: Duration,
    steps: Vec<CompletedStep>,
    before: Option<SnapshotVersion>,
    difference: Option<&'a BTreeMap<Table, ChangeCounts>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_compared: Option<&'a String>,
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
        let ReleaseSizes { tables, records, text, history, bulk, total } = self.bytes;
        let [tables, records, text, whole] = [tables, records, text, total].map(format::size);
        let part = |name: &str, bytes: u64, is_there: bool| match is_there {
            true => format!(", {name} {}", format::size(bytes)),
            false => String::new(),
        };
        let history = part("history", history, manifest.file(manifest::HISTORY).is_some());
        let bulk = part("bulk", bulk, manifest.bulk().next().is_some());
        writeln!(out, "  size: {whole} (tables {tables}, records {records}, text {text}{history}{bulk})")?;
        writeln!(out, "  known aliases added: {}", format::count(self.known_aliases))?;
        let steps: Vec<String> =
            self.steps.iter().map(|step| format!("{} {}", step.name, format::time(step.took))).collect();
        writeln!(out, "  time: {}", steps.join(", "))?;
        writeln!(out, "  {}{hint}", format::counted(self.warning_count, "warning"))?;
        if let Some(Pushed { pointer, objects, bytes }) = self.pushed {
            let (objects, bytes) = (format::counted(*objects, "object"), format::size(*bytes));
            let (generation, at) = (pointer.generation, rfc3339(pointer.activate_at));
            writeln!(out, "  pushed: {objects}, {bytes}; generation {generation}, served from {at} on")?;
        }
        if self.current == Some(*version) {
            return writeln!(out, "  current: {version}");
        }
        let current = self.current.map_or("none".to_owned(), |current| current.to_string());
        writeln!(out, "  current: {current}; activate the new release with `indexer activate {version}`")
    }

    fn print_tables(&self, out: &mut dyn Write) -> io::Result<()> {
        for (table, rows) in self.counts.by_table() {
            write!(out, "  {:<16}{:>12}", table.name(), format::count(rows))?;
            if let Some(changes) = self.difference.and_then(|changes| changes.get(&table)) {
                let [added, removed, changed] = [changes.added, changes.removed, changes.changed].map(format::count);
                write!(out, "   {added} added, {removed} removed, {changed} changed")?;
            }
            writeln!(out)?;
        }
        match (self.before, self.difference, self.not_compared) {
            (Some(before), Some(_), _) => writeln!(out, "  compared with: {before}"),
            (Some(before), _, Some(reason)) => writeln!(out, "  not compared with {before}: {reason}"),
            _ => Ok(()),
        }
    }
}
