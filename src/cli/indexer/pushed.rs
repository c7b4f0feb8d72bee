//! `indexer list`, `activate`, `prune` and `verify` for an object store.

use serde::Serialize;
use serde_json::json;

use crate::cli::indexer::{CommandResult, IndexerExit, Style, format};
use data::{SnapshotVersion, rfc3339};
use release::remote::{Pointer, PushedRelease, RemoteStore};
use release::{ReleaseError, ReleaseStore};

#[derive(Serialize)]
struct PushedListJson {
    current: Option<Pointer>,
    /// Newest first.
    releases: Vec<SnapshotVersion>,
}

pub(crate) fn list(remote: &RemoteStore, style: &Style) -> CommandResult {
    let current = remote.current()?.pointer;
    let found = remote.versions()?;
    let releases = found.iter().map(|pushed| pushed.version).collect();
    let result = PushedListJson { current, releases };
    style.print(true, &result, |out| {
        if found.is_empty() {
            writeln!(out, "no releases in {}; push one with `indexer build`", remote.location())?;
        }
        for pushed in found {
            let PushedRelease { version, manifest } = pushed;
            let named = result.current.as_ref().filter(|current| current.pushed() == pushed);
            let mark = if named.is_some() { '*' } else { ' ' };
            let served = named.map_or_else(String::new, |pointer| {
                format!("  generation {}, served from {} on", pointer.generation, rfc3339(pointer.activate_at))
            });
            writeln!(out, "{mark} {:<14} {manifest}{served}", version.to_string())?;
        }
        Ok(())
    })
}

pub(crate) fn find(remote: &RemoteStore, version: SnapshotVersion) -> Result<PushedRelease, ReleaseError> {
    let found = remote.versions()?.into_iter().find(|pushed| pushed.version == version);
    found.ok_or_else(|| ReleaseError::Missing { version, index: remote.location().into() })
}

/// Makes a pushed release current after verifying and testing it here.
pub(crate) fn activate(
    remote: &RemoteStore,
    releases: &ReleaseStore,
    version: SnapshotVersion,
    is_forced: bool,
    activate_at: i64,
    style: &Style,
) -> CommandResult {
    let read = remote.sync(releases)?;
    let pushed = find(remote, version)?;
    remote.fetch(releases, pushed)?;
    let before = read.pointer.as_ref().map(|pointer| pointer.release);
    if !is_forced {
        releases.check_rows(version, releases.manifest(version)?.counts)?;
    }
    let pointer = remote.point(&read, pushed, activate_at)?;
    style.write(&json!({ "ok": true, "current": pointer, "before": before }), |out| {
        let before = before.map_or_else(|| "none".into(), |before| before.to_string());
        let (generation, at) = (pointer.generation, rfc3339(pointer.activate_at));
        writeln!(out, "current: {version} (generation {generation}), served from {at} on, previously {before}")
    })?;
    Ok(IndexerExit::Success)
}

pub(crate) fn prune(remote: &RemoteStore, keep: usize, grace: i64, now: i64, style: &Style) -> CommandResult {
    let pruned = remote.prune(keep, grace, now)?;
    style.print(true, &json!({ "pruned": pruned }), |out| {
        for version in &pruned.releases {
            writeln!(out, "removed {version}")?;
        }
        let (objects, freed) = (format::counted(pruned.objects, "object"), format::size(pruned.bytes));
        writeln!(out, "{}, {objects} removed, {freed} freed", format::counted(pruned.releases.len(), "release"))
    })
}
