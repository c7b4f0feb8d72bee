//! `indexer list`, `activate`, `prune` and `verify`.

use std::io::{self, Write};
use std::path::PathBuf;

use serde::Serialize;

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{CommandError, CommandResult, Style, code_of, format};
use data::{Counts, Progress, SnapshotVersion};
use release::{Manifest, PrunedReleases, ReleaseError, ReleaseStore};

#[derive(Serialize)]
struct ReleaseJson<'a> {
    version: SnapshotVersion,
    current: bool,
    #[serde(flatten)]
    content: ContentJson<'a>,
}

/// The content of a release, or the reason why it cannot be opened.
#[derive(Serialize)]
#[serde(untagged)]
enum ContentJson<'a> {
    Readable { built_at: &'a str, title: &'a str, counts: Counts, bytes: u64 },
    Unreadable { error: String },
}

#[derive(Serialize)]
struct ReleaseListJson<'a> {
    current: Option<SnapshotVersion>,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_error: Option<&'a str>,
    releases: Vec<ReleaseJson<'a>>,
}

/// Lists the releases, newest first. Damaged ones are marked; only an invalid `current` is an error.
pub(crate) fn list(releases: &ReleaseStore, style: &Style) -> CommandResult {
    check_folder(releases)?;
    let (current, problem) = current(releases);
    let listed: Vec<(SnapshotVersion, Result<Manifest, ReleaseError>)> =
        releases.versions()?.into_iter().map(|version| (version, releases.manifest(version))).collect();
    let releases_json = listed.iter().map(|(version, manifest)| {
        let content = match manifest {
            Ok(manifest) => {
                let Manifest { built_at, title, counts, .. } = manifest;
                ContentJson::Readable { built_at, title, counts: *counts, bytes: manifest.bytes("") }
            }
            Err(error) => ContentJson::Unreadable { error: error.to_string() },
        };
        ReleaseJson { version: *version, current: current == Some(*version), content }
    });
    let releases_json = releases_json.collect();
    let result = ReleaseListJson { current, current_error: problem.as_deref(), releases: releases_json };
    let code = style.print(problem.is_none(), &result, |out| {
        if listed.is_empty() {
            writeln!(out, "no releases in {}; publish one with `indexer build`", releases.folder().display())?;
        }
        for (version, manifest) in &listed {
            let (mark, version) = (if current == Some(*version) { '*' } else { ' ' }, version.to_string());
            match manifest {
                Ok(manifest) => {
                    let Manifest { built_at, title, counts, .. } = manifest;
                    let [firms, startups, ..] = counts.by_table().map(|(_, rows)| format::count(rows));
                    let counts = format!("{firms} firms, {startups} startups");
                    let size = format::size(manifest.bytes(""));
                    writeln!(out, "{mark} {version:<14} {built_at}  {size:>9}  {counts}  {title}")?;
                }
                Err(error) => writeln!(out, "{mark} {version:<14} {error}")?,
            }
        }
        Ok(())
    })?;
    if let Some(problem) = problem.as_ref().filter(|_| !style.json) {
        writeln!(io::stderr(), "warning: {problem}")?;
    }
    Ok(code)
}

fn current(releases: &ReleaseStore) -> (Option<SnapshotVersion>, Option<String>) {
    match releases.current() {
        Ok(Some(current)) => match releases.manifest(current) {
            Err(error @ ReleaseError::Missing { .. }) => (Some(current), Some(format!("`current`: {error}"))),
            _ => (Some(current), None),
        },
        Ok(None) => (None, None),
        Err(error) => (None, Some(error.to_string())),
    }
}

/// Fails if the index folder does not exist: most likely it is mistyped.
fn check_folder(releases: &ReleaseStore) -> Result<(), CommandError> {
    let path = releases.folder();
    let opened = std::fs::read_dir(path).map(drop);
    opened.map_err(|error| ReleaseError::Io { path: path.to_owned(), error }.into())
}

#[derive(Serialize)]
struct ActivatedJson {
    current: SnapshotVersion,
    before: Option<SnapshotVersion>,
    changed: bool,
}

pub(crate) fn activate(releases: &ReleaseStore, version: SnapshotVersion, force: bool, style: &Style) -> CommandResult {
    let before = releases.current().ok().flatten();
    let changed = releases.activate(version, force)?;
    style.print(true, &ActivatedJson { current: version, before, changed }, |out| match before {
        _ if !changed => writeln!(out, "current: {version}, unchanged"),
        Some(before) => writeln!(out, "current: {version}, previously {before}"),
        None => writeln!(out, "current: {version}, previously none"),
    })
}

#[derive(Serialize)]
struct PrunedJson {
    removed: Vec<SnapshotVersion>,
    freed_bytes: u64,
    kept: Vec<SnapshotVersion>,
    /// Foreign files for which old releases were kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    foreign: Vec<PathBuf>,
}

pub(crate) fn prune(releases: &ReleaseStore, keep: usize, style: &Style) -> CommandResult {
    check_folder(releases)?;
    let PrunedReleases { removed, foreign } = releases.prune(keep)?;
    let kept = releases.versions()?;
    let result = PrunedJson {
        removed: removed.iter().map(|(version, _)| *version).collect(),
        freed_bytes: removed.iter().map(|(_, bytes)| bytes).sum(),
        kept,
        foreign,
    };
    style.print(true, &result, |out| {
        for path in result.foreign.iter().map(|path| path.display()) {
            let advice = "move it away, so that the release can be removed";
            writeln!(io::stderr(), "warning: {path} is not part of a release: {advice}")?;
        }
        for (version, bytes) in &removed {
            writeln!(out, "removed {version} ({})", format::size(*bytes))?;
        }
        let (count, freed) = (format::counted(removed.len(), "release"), format::size(result.freed_bytes));
        writeln!(out, "{count} removed, {} kept, {freed} freed", result.kept.len())
    })
}

#[derive(Serialize)]
struct VerifiedJson {
    version: SnapshotVersion,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Files in its folder that its manifest does not list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unlisted: Vec<PathBuf>,
}

#[derive(Serialize)]
struct AllVerifiedJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    current_error: Option<String>,
    releases: Vec<VerifiedJson>,
}

pub(crate) fn verify(releases: &ReleaseStore, version: Option<SnapshotVersion>, style: &Style) -> CommandResult {
    check_folder(releases)?;
    let (versions, problem) = match version {
        Some(version) => (vec![version], None),
        None => (releases.versions()?, current(releases).1),
    };
    let steps = Steps::new(true);
    let mut verified = Vec::new();
    for version in versions {
        let verify = || -> Result<(u64, Vec<PathBuf>), ReleaseError> {
            let release = releases.open_with_progress(version, &steps)?;
            releases.verify_on_disk(&release.manifest)?;
            steps.step("smoke test", 0);
            let tried = release.smoke_test();
            steps.done();
            tried?;
            Ok((release.manifest.bytes(""), releases.unlisted(version, &release.manifest)?))
        };
        let (bytes, unlisted, error) = match verify() {
            Ok((bytes, unlisted)) => (bytes, unlisted, None),
            Err(error) => (0, Vec::new(), Some(error)),
        };
        match &error {
            _ if style.json => {}
            Some(error) => writeln!(io::stdout(), "{version}: failed: {error}")?,
            None => writeln!(io::stdout(), "{version}: ok, {}", format::size(bytes))?,
        }
        for path in unlisted.iter().filter(|_| !style.json) {
            let path = releases.release_folder(version).join(path);
            writeln!(io::stderr(), "warning: {} is not part of the release: remove it", path.display())?;
        }
        let code = error.as_ref().map(|error| code_of(error).1);
        let (ok, error) = (error.is_none(), error.map(|error| error.to_string()));
        verified.push(VerifiedJson { version, ok, code, error, unlisted });
    }
    drop(steps);
    let ok = verified.iter().all(|release| release.ok) && problem.is_none();
    let result = AllVerifiedJson { current_error: problem, releases: verified };
    style.print(ok, &result, |out| result.current_error.iter().try_for_each(|problem| writeln!(out, "{problem}")))
}
