//! `indexer list`, `activate` and `prune` for an object store; `delegate` and `renew`.

use serde::Serialize;
use serde_json::json;

use crate::cli::indexer::build::Target;
use crate::cli::indexer::{CommandResult, IndexerExit, Style, format};
use data::{SnapshotVersion, rfc3339};
use release::remote::{Pointer, PointerSigning, PushedRelease, RemoteStore};
use release::{ReleaseError, ReleaseStore, SigningKey, TrustedKey};

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
            let served = named.map_or_else(String::new, |pointer| format!("  {}", description(pointer)));
            writeln!(out, "{mark} {:<14} {manifest}{served}", version.to_string())?;
        }
        Ok(())
    })
}

/// When a pointer takes effect, and until when it is valid.
pub(super) fn description(pointer: &Pointer) -> String {
    let (generation, at) = (pointer.generation, rfc3339(pointer.activate_at));
    let until = pointer.not_after.map_or_else(String::new, |until| format!(", valid until {}", rfc3339(until)));
    format!("generation {generation}, served from {at} on{until}")
}

pub(crate) fn find(remote: &RemoteStore, version: SnapshotVersion) -> Result<PushedRelease, ReleaseError> {
    let found = remote.versions()?.into_iter().find(|pushed| pushed.version == version);
    found.ok_or_else(|| ReleaseError::Missing { version, index: remote.location().into() })
}

/// Makes a pushed release current after verifying and testing it here. `now` is in Unix seconds.
pub(super) fn activate(
    target: &Target,
    releases: &ReleaseStore,
    version: SnapshotVersion,
    is_forced: bool,
    now: i64,
    style: &Style,
) -> CommandResult {
    let Target { remote, announcement, read } = target;
    let pushed = find(remote, version)?;
    remote.fetch(releases, pushed)?;
    let before = read.pointer.as_ref().map(|pointer| pointer.release);
    let is_rollback = before.is_some_and(|before| version < before);
    if !is_forced && !is_rollback {
        releases.check_rows(releases.open(version)?.catalog.snapshot(), &[])?;
    }
    let pointer = remote.point(releases, read, pushed, announcement, now)?;
    style.write(&json!({ "ok": true, "current": pointer, "before": before }), |out| {
        let before = before.map_or_else(|| "none".into(), |before| before.to_string());
        writeln!(out, "current: {version} ({}), previously {before}", description(&pointer))
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

/// Lets keys sign `current`.
pub(super) fn delegate(
    remote: &RemoteStore,
    keys: Vec<TrustedKey>,
    key: &SigningKey,
    valid_for: i64,
    now: i64,
    style: &Style,
) -> CommandResult {
    let delegation = remote.delegate(keys, key, valid_for, now)?;
    style.print(true, &json!({ "delegation": delegation }), |out| {
        for key in &delegation.pointer_keys {
            writeln!(out, "{key} may sign `current` until {}", rfc3339(delegation.not_after))?;
        }
        Ok(())
    })
}

/// Signs `current` once more.
pub(super) fn renew(remote: &RemoteStore, signing: &PointerSigning, now: i64, style: &Style) -> CommandResult {
    let pointer = remote.renew(signing, now)?;
    style.print(true, &json!({ "current": pointer }), |out| {
        writeln!(out, "renewed: {} ({})", pointer.release, description(&pointer))
    })
}
