//! `indexer list`, `activate`, `prune` and `verify`: looking after the releases.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::indexer::build::rows;
use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{Code, CommandError, Style, code_of, format};
use crate::data::Counts;
use crate::data::{Progress, SnapshotVersion};
use crate::release::{Manifest, ReleaseError, ReleaseStore};

/// A release for machines.
#[derive(Serialize)]
struct ReleaseJson<'a> {
    version: String,
    current: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    built_at: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<Counts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    /// Why it cannot be served.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct ListJson<'a> {
    ok: bool,
    current: Option<String>,
    /// What is wrong with `current`.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_error: Option<&'a str>,
    releases: Vec<ReleaseJson<'a>>,
}

/// Lists the releases, newest first. Damaged ones are listed as such; that is no failure of the list.
pub(crate) fn list(releases: &ReleaseStore, style: &Style) -> Result<Code, CommandError> {
    there(releases)?;
    let (current, complaint) = served(releases);
    let listed: Vec<(SnapshotVersion, Result<Manifest, ReleaseError>)> =
        releases.versions()?.into_iter().map(|version| (version, releases.manifest(version))).collect();
    if style.json {
        let releases = listed.iter().map(|(version, manifest)| release_json(*version, current, manifest)).collect();
        let current = current.map(|current| current.to_string());
        format::json(&ListJson { ok: complaint.is_none(), current, current_error: complaint.as_deref(), releases })?;
    } else {
        print_list(&listed, current, releases)?;
        if let Some(complaint) = &complaint {
            writeln!(io::stderr(), "warning: {complaint}")?;
        }
    }
    Ok(if complaint.is_some() { Code::Refused } else { Code::Done })
}

/// What `current` names, and what is wrong with it.
fn served(releases: &ReleaseStore) -> (Option<SnapshotVersion>, Option<String>) {
    match releases.current() {
        Ok(Some(current)) => match releases.manifest(current) {
            Err(error @ ReleaseError::Missing { .. }) => (Some(current), Some(format!("`current`: {error}"))),
            _ => (Some(current), None),
        },
        Ok(None) => (None, None),
        Err(error) => (None, Some(error.to_string())),
    }
}

/// Refuses an index folder that is not there: most likely it is mistyped.
fn there(releases: &ReleaseStore) -> Result<(), CommandError> {
    let path = releases.folder();
    match std::fs::read_dir(path) {
        Ok(_) => Ok(()),
        Err(error) => Err(ReleaseError::Io { path: path.to_owned(), error }.into()),
    }
}

fn release_json<'a>(
    version: SnapshotVersion,
    current: Option<SnapshotVersion>,
    manifest: &'a Result<Manifest, ReleaseError>,
) -> ReleaseJson<'a> {
    let known = manifest.as_ref().ok();
    ReleaseJson {
        version: version.to_string(),
        current: current == Some(version),
        built_at: known.map(|manifest| manifest.built_at.as_str()),
        title: known.map(|manifest| manifest.title.as_str()),
        counts: known.map(|manifest| manifest.counts),
        bytes: known.map(|manifest| manifest.bytes("")),
        error: manifest.as_ref().err().map(ToString::to_string),
    }
}

fn print_list(
    listed: &[(SnapshotVersion, Result<Manifest, ReleaseError>)],
    current: Option<SnapshotVersion>,
    releases: &ReleaseStore,
) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if listed.is_empty() {
        writeln!(out, "no releases in {}: `indexer build` publishes one", releases.folder().display())?;
    }
    for (version, manifest) in listed {
        let mark = if current == Some(*version) { '*' } else { ' ' };
        match manifest {
            Ok(manifest) => {
                let [(_, firms), (_, startups), ..] = rows(manifest.counts);
                writeln!(
                    out,
                    "{mark} {:<14} {}  {:>9}  {} firms, {} startups  {}",
                    version.to_string(),
                    manifest.built_at,
                    format::size(manifest.bytes("")),
                    format::count(firms.into()),
                    format::count(startups.into()),
                    manifest.title
                )?;
            }
            Err(error) => writeln!(out, "{mark} {:<14} {error}", version.to_string())?,
        }
    }
    out.flush()
}

#[derive(Serialize)]
struct ActivatedJson {
    ok: bool,
    current: String,
    before: Option<String>,
    changed: bool,
}

/// Makes a release the one to serve.
pub(crate) fn activate(releases: &ReleaseStore, version: SnapshotVersion, style: &Style) -> Result<Code, CommandError> {
    let before = releases.current().ok().flatten();
    let changed = releases.activate(version)?;
    if style.json {
        let before = before.map(|before| before.to_string());
        format::json(&ActivatedJson { ok: true, current: version.to_string(), before, changed })?;
    } else if changed {
        let before = before.map_or_else(|| "none".into(), |before| before.to_string());
        writeln!(io::stdout(), "current: {version}, before: {before}")?;
    } else {
        writeln!(io::stdout(), "current: {version} already")?;
    }
    Ok(Code::Done)
}

#[derive(Serialize)]
struct PrunedJson {
    ok: bool,
    removed: Vec<String>,
    freed_bytes: u64,
    kept: Vec<String>,
}

/// Removes old releases.
pub(crate) fn prune(releases: &ReleaseStore, keep: usize, style: &Style) -> Result<Code, CommandError> {
    there(releases)?;
    let removed = releases.prune(keep)?;
    let kept = releases.versions()?;
    let freed = removed.iter().map(|removed| removed.bytes).sum();
    if style.json {
        let removed = removed.iter().map(|removed| removed.version.to_string()).collect();
        let kept = kept.iter().map(ToString::to_string).collect();
        format::json(&PrunedJson { ok: true, removed, freed_bytes: freed, kept })?;
        return Ok(Code::Done);
    }
    let mut out = io::stdout().lock();
    for removed in &removed {
        writeln!(out, "removed {} ({})", removed.version, format::size(removed.bytes))?;
    }
    let gone = format::counted(removed.len(), "release");
    writeln!(out, "{gone} removed, {} kept, {} freed", kept.len(), format::size(freed))?;
    Ok(Code::Done)
}

#[derive(Serialize)]
struct VerifiedJson {
    version: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

#[derive(Serialize)]
struct AllVerifiedJson {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    current_error: Option<String>,
    releases: Vec<VerifiedJson>,
}

/// Checks every byte of releases, opens them and asks them something.
pub(crate) fn verify(
    releases: &ReleaseStore,
    version: Option<SnapshotVersion>,
    style: &Style,
) -> Result<Code, CommandError> {
    there(releases)?;
    let (versions, complaint) = match version {
        Some(version) => (vec![version], None),
        None => (releases.versions()?, served(releases).1),
    };
    let steps = Steps::new(true);
    let mut verified = Vec::new();
    for version in versions {
        let result = verify_one(releases, version, &steps);
        if !style.json {
            match &result {
                Ok(bytes) => writeln!(io::stdout(), "{version}: good, {}", format::size(*bytes))?,
                Err(error) => writeln!(io::stdout(), "{version}: refused: {error}")?,
            }
        }
        let error = result.err();
        verified.push(VerifiedJson {
            version: version.to_string(),
            ok: error.is_none(),
            code: error.as_ref().map(|error| code_of(error).1),
            error: error.map(|error| error.to_string()),
        });
    }
    drop(steps);
    let ok = verified.iter().all(|release| release.ok) && complaint.is_none();
    if style.json {
        format::json(&AllVerifiedJson { ok, current_error: complaint, releases: verified })?;
    } else if let Some(complaint) = complaint {
        writeln!(io::stdout(), "{complaint}")?;
    }
    Ok(if ok { Code::Done } else { Code::Refused })
}

/// Verifies a release; answers its size.
fn verify_one(releases: &ReleaseStore, version: SnapshotVersion, steps: &Steps) -> Result<u64, ReleaseError> {
    let release = releases.open_with_progress(version, steps)?;
    steps.step("smoke test", 0);
    let tried = release.smoke_test().map_err(|reason| ReleaseError::Damaged { version, reason });
    steps.done();
    tried.map(|()| release.manifest.bytes(""))
}
