//! The folder of releases: the current release, the integrity of its files, and its age.

use std::fmt::Display;
use std::path::Path;

use crate::app::settings::ServeSettings;
use crate::cli::doctor::finding::{Findings, Status};
use crate::cli::doctor::machine;
use crate::cli::indexer::format;
use data::{Date, SnapshotVersion, rfc3339};
use platform::memory::MemoryBudget;
use release::remote::{Examination, Pointer, RemoteStore};
use release::{Release, ReleaseError, ReleaseStore};

/// Data is published weekly or monthly; after this many days somebody should find out why it is not.
const OLD_DAYS: i64 = 35;

const POINTER: &str = "index.pointer";
const DAY: i64 = 86_400;
/// Remaining days of a delegation below which the key of releases should be fetched from its safe.
const DELEGATION_DAYS: i64 = 30;

#[derive(Default)]
pub(super) struct IndexState {
    pub current: Option<SnapshotVersion>,
    /// Size of the releases that a server holds in memory, in bytes.
    pub loaded_bytes: u64,
    /// The smallest budget of memory with which the current release can be replaced.
    pub needed_memory: Option<MemoryBudget>,
    pub built_at: Option<String>,
}

pub(super) fn check_object_store(place: &Path, findings: &mut Findings) {
    const CHECK: &str = "object_store.writes";
    match RemoteStore::open(place, None).and_then(|remote| remote.probe()) {
        Ok(wrong) if wrong.is_empty() => {
            let right = "creates if absent, replaces if unchanged, refuses conflicts, reads what was written";
            findings.ok(CHECK, format!("{}: {right}", place.display()));
        }
        Ok(wrong) => wrong.into_iter().for_each(|problem| {
            let remedy =
                "upgrade the store, or use one with conditional writes: otherwise two indexers at once may both win";
            findings.problem(CHECK, format!("{}: {problem}", place.display()), remedy);
        }),
        Err(error) => findings.problem(
            CHECK,
            error.to_string(),
            "check the URL, AWS_ENDPOINT_URL, AWS_REGION and the credentials, and that they may read, write and delete",
        ),
    }
}

pub(super) fn check(settings: &ServeSettings, now: i64, findings: &mut Findings) -> IndexState {
    let mut index = IndexState::default();
    let releases = match settings.releases() {
        Ok(releases) => releases,
        Err(error) => {
            return failed("index.trust_key", &error, "name the file of the public key with --trust-key", findings);
        }
    };
    check_pointer(settings, &releases, now, findings);
    let folder = releases.folder();
    let current = match releases.current() {
        Ok(Some(current)) => current,
        Ok(None) => {
            let (status, effect) = match settings.index {
                Some(_) => (Status::Problem, "the server is not ready"),
                None => (Status::Warning, "the bundled, invented data is served"),
            };
            let detail = format!("no release is current in {}: {effect}", folder.display());
            let remedy = "check --index and that the disk is mounted; publish a release with `indexer build`";
            findings.add("index.current", status, detail, remedy);
            return index;
        }
        Err(error) => return failed("index.current", &error, "indexer activate VERSION", findings),
    };
    let versions = match releases.versions() {
        Ok(versions) => versions,
        Err(error) => return failed("index.current", &error, "run the doctor as the user of the server", findings),
    };
    let mut public = releases.clone();
    public.needs_public_license = settings.needs_public_license(settings.listen);
    if let Ok(manifest) = releases.manifest(current) {
        match public.check_license(&manifest) {
            Ok(()) => findings.ok("index.license", format!("the license of the data: {}", manifest.license)),
            Err(error) => {
                let remedy = "set --access and --sign-up, or --may-publish on if you may publish the data";
                findings.problem("index.license", error.to_string(), remedy);
            }
        }
    }
    match open(&releases, current) {
        Ok(Release { manifest, catalog }) => {
            let (size, program) = (format::size(manifest.bytes("")), &manifest.program);
            let detail = format!("{current}, {size}, built by {program}; checksums and test queries are right");
            findings.ok("index.current", detail);
            age(catalog.snapshot().released_on(), Date::from_unix(now), findings);
            index.current = Some(current);
            index.needed_memory = Some(releases.needed_memory(&manifest));
            index.built_at = Some(manifest.built_at);
        }
        Err(error) => findings.problem("index.current", error.to_string(), remedy(&error, current, &versions)),
    }
    let others: Vec<SnapshotVersion> = versions.iter().copied().filter(|version| *version != current).collect();
    index.loaded_bytes = releases.bytes_to_load(settings.keep_releases as usize);
    let kept_bytes = index.loaded_bytes.saturating_sub(releases.bytes_to_load(0));
    check_others(&releases, &others, settings.keep_releases, kept_bytes, findings);
    match releases.permission_problem() {
        Some(problem) => {
            findings.warning("index.permissions", problem, format!("chmod -R go-w {}", folder.display()));
        }
        None => findings.ok("index.permissions", "only the owner may write to it"),
    }
    // The next release is written before an old one is removed.
    let bytes = releases.manifest(current).map_or(0, |manifest| manifest.bytes(""));
    machine::check_disk("index.disk", folder, 2 * bytes, findings);
    index
}

/// Reads what names the current release in an object store, as a replica with this cache would.
fn check_pointer(settings: &ServeSettings, releases: &ReleaseStore, now: i64, findings: &mut Findings) {
    let place = settings.index.as_deref().and_then(Path::to_str).unwrap_or_default();
    // Opening the store would create it.
    if let Some(folder) = place.strip_prefix("file://").filter(|folder| !Path::new(folder).is_dir()) {
        findings.problem(POINTER, format!("{folder} does not exist"), "check --index and that the disk is mounted");
        return;
    }
    let replica = match settings.replica(releases) {
        Ok(Some(replica)) => replica,
        Ok(None) => return,
        Err(error) => {
            findings.problem(POINTER, error.to_string(), "check --index and the variables AWS_…");
            return;
        }
    };
    match replica.examine(now) {
        Ok(found) => judge_pointer(&found, releases.trusted.is_some(), now, findings),
        Err(error) => findings.problem(
            POINTER,
            error.to_string(),
            "check the network and the credentials; replace a damaged `current` with `indexer build --recover`",
        ),
    }
}

fn judge_pointer(found: &Examination, has_key: bool, now: i64, findings: &mut Findings) {
    let Examination { pointer, fault, delegation, .. } = found;
    if let Some(fault) = fault {
        return findings.problem(POINTER, &fault.detail, fault.remedy());
    }
    let Some(Pointer { release, generation, not_before, not_after, .. }) = pointer else {
        return findings.problem(POINTER, "the object store names no release", "publish one with `indexer build`");
    };
    let until = not_after.map_or_else(String::new, |until| format!(", valid until {}", rfc3339(until)));
    let detail = format!("{release}, generation {generation}{until}");
    // Renewals come when at most half of the time is over.
    let is_late = not_before
        .zip(*not_after)
        .is_some_and(|(from, until)| until.saturating_sub(now) < until.saturating_sub(from) / 4);
    match delegation {
        _ if is_late => findings.warning(POINTER, detail, "check the job that runs `indexer renew`"),
        Some(delegation) if delegation.not_after.saturating_sub(now) < DELEGATION_DAYS * DAY => findings.warning(
            POINTER,
            format!("{detail}; the delegation ends at {}", rfc3339(delegation.not_after)),
            "run `indexer delegate` with the key of releases",
        ),
        None if has_key => findings.warning(
            POINTER,
            format!("{detail}; it is not signed, so whoever may write there can bring an older release back"),
            "name a key with `indexer delegate`, and publish with --pointer-key",
        ),
        _ => findings.ok(POINTER, detail),
    }
}

fn failed(check: &'static str, error: &dyn Display, remedy: &str, findings: &mut Findings) -> IndexState {
    findings.problem(check, error.to_string(), remedy);
    IndexState::default()
}

fn open(releases: &ReleaseStore, version: SnapshotVersion) -> Result<Release, ReleaseError> {
    let release = releases.open(version)?;
    release.smoke_test()?;
    Ok(release)
}

/// Checks the other releases, for cursors and rollbacks. The newest `keep`, of `bytes` together, are loaded.
fn check_others(releases: &ReleaseStore, others: &[SnapshotVersion], keep: u32, bytes: u64, findings: &mut Findings) {
    let mut bad = 0;
    for version in others {
        if let Err(error) = open(releases, *version) {
            bad += 1;
            let remedy =
                format!("build it again, or remove the folder {}", releases.release_folder(*version).display());
            findings.warning("index.releases", error.to_string(), remedy);
        }
    }
    if bad == 0 && !others.is_empty() {
        let (all, kept) = (format::counted(others.len(), "release"), others.len().min(keep as usize));
        let held = format!("the server holds {kept} of them ({}, --keep-releases {keep})", format::size(bytes));
        findings.ok("index.releases", format!("{all} older or newer, all whole; {held}"));
    }
}

fn remedy(error: &ReleaseError, current: SnapshotVersion, versions: &[SnapshotVersion]) -> String {
    let older = versions.iter().find(|version| **version < current);
    match (error, older) {
        (ReleaseError::OtherFormat { .. }, _) => {
            "indexer build --dataset DIR, with the indexer of this version".to_owned()
        }
        (_, Some(older)) => format!("indexer activate {older}, or build the release again"),
        (_, None) => "build the release again, or restore it with `venturedex restore --with-index`".to_owned(),
    }
}

fn age(released: Date, today: Date, findings: &mut Findings) {
    let days = i64::from(today.days()) - i64::from(released.days());
    let detail = format!("the data is of {released}, {days} days ago");
    let status = if days > OLD_DAYS { Status::Warning } else { Status::Ok };
    findings.add("index.age", status, detail, "publish new data with `indexer build`; check the job that does");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::doctor::finding::status_of;

    #[test]
    fn data_is_old_after_35_days() {
        let released: Date = "2026-10-01".parse().unwrap();
        for (today, status) in [("2026-09-30", Status::Ok), ("2026-11-05", Status::Ok), ("2026-11-06", Status::Warning)]
        {
            let mut findings = Findings::default();
            age(released, today.parse().unwrap(), &mut findings);
            assert_eq!(status_of(findings, "index.age"), Some(status), "{today}");
        }
    }
}
