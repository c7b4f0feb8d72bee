//! `indexer export`: releases as Parquet tables for other engines.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{CommandResult, IndexArgs, Style, Trust, format, pushed};
use data::SnapshotVersion;
use release::{ExportPlace, ExportedRelease, ReleaseError};

#[derive(Args)]
pub(super) struct ExportArgs {
    /// Folder or object store for the tables: DIR, file:///DIR or s3://bucket/prefix (as for --index)
    #[arg(value_name = "PLACE")]
    place: PathBuf,
    /// Releases to write, such as 2026-11-20.1; by default all that the index has
    #[arg(value_name = "VERSION")]
    versions: Vec<SnapshotVersion>,
    #[command(flatten)]
    index: IndexArgs,
    #[command(flatten)]
    trust: Trust,
}

#[derive(Serialize)]
struct ExportJson<'a> {
    place: &'a str,
    /// Newest first.
    releases: &'a [ExportedRelease],
    /// Releases that this program cannot read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<UnreadableJson>,
}

#[derive(Serialize)]
struct UnreadableJson {
    version: SnapshotVersion,
    error: String,
}

impl ExportArgs {
    pub(super) fn run(&self, style: &Style) -> CommandResult {
        let releases = self.trust.releases(&self.index)?;
        let remote = self.index.remote(releases.trusted.as_ref())?;
        let place = ExportPlace::open(&self.place)?;
        let wanted = match (&self.versions[..], &remote) {
            ([], Some(remote)) => remote.versions()?.iter().map(|pushed| pushed.version).collect(),
            ([], None) => releases.versions()?,
            (versions, _) => versions.to_vec(),
        };
        let steps = Steps::new(style.json);
        let (mut exported, mut unreadable) = (Vec::new(), Vec::new());
        for version in wanted {
            if let Some(remote) = &remote {
                remote.fetch(&releases, pushed::find(remote, version)?)?;
            }
            match place.add(&releases, version, &steps) {
                Ok(release) => exported.push(release),
                // Older programs built it; whoever names it wants it.
                Err(error @ ReleaseError::OtherFormat { .. }) if self.versions.is_empty() => {
                    unreadable.push(UnreadableJson { version, error: error.to_string() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        drop(steps);
        let result = ExportJson { place: place.location(), releases: &exported, unreadable };
        style.print(true, &result, |out| {
            for release in &exported {
                print(release, place.location(), out)?;
            }
            for UnreadableJson { version, error } in &result.unreadable {
                writeln!(out, "not exported: {version}: {error}")?;
            }
            if exported.is_empty() && result.unreadable.is_empty() {
                let index = self.index.index.display();
                writeln!(out, "no releases in {index}; publish one with `indexer build`")?;
            }
            Ok(())
        })
    }
}

/// Opens the place of an option, if it is given.
pub(super) fn open(place: Option<&Path>) -> Result<Option<ExportPlace>, ReleaseError> {
    place.map(ExportPlace::open).transpose()
}

pub(super) fn print(release: &ExportedRelease, place: &str, out: &mut dyn Write) -> std::io::Result<()> {
    let ExportedRelease { version, is_new, files, bytes } = release;
    let (files, size) = (format::counted(*files, "file"), format::size(*bytes));
    let verb = if *is_new { "exported" } else { "there already:" };
    writeln!(out, "{verb} {version}: {files}, {size}, in {place}/release={version}")
}
