//! `indexer generate`: invented datasets of any size; by default the bundled one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::cli::indexer::own_files::{FolderError, OwnFiles};
use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{CommandResult, Style, format};
use data::import::FileList;
use data::{Progress, SnapshotVersion, Table};
use import::datagen::{self, GenConfig};

/// Startups per firm if only one of the two numbers is specified, as in the bundled dataset.
const STARTUPS_PER_FIRM: u32 = 5;

/// Maximum number of firms or startups: row numbers of the other tables still fit into `u32`.
const MAX: i64 = 100_000_000;

#[derive(Args)]
pub(crate) struct GenerateArgs {
    /// Folder to write: new, empty, or with a previously generated dataset that nobody changed
    #[arg(long, value_name = "DIR")]
    dataset: PathBuf,
    /// Number of firms [default: startups / 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX))]
    firms: Option<u32>,
    /// Number of startups [default: firms × 5; without --firms 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MAX))]
    startups: Option<u32>,
    /// Seed; different seeds generate different datasets [default: seed of the bundled dataset]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl GenerateArgs {
    fn config(&self) -> GenConfig {
        let bundled = GenConfig::bundled();
        let config = match (self.firms, self.startups) {
            (None, None) => bundled,
            (Some(firms), Some(startups)) => GenConfig::new(firms, startups),
            (Some(firms), None) => GenConfig::new(firms, firms.saturating_mul(STARTUPS_PER_FIRM)),
            (None, Some(startups)) => GenConfig::new(startups.div_ceil(STARTUPS_PER_FIRM), startups),
        };
        GenConfig { seed: self.seed.unwrap_or(bundled.seed), ..config }
    }
}

#[derive(Serialize)]
struct GeneratedJson {
    dataset: String,
    version: SnapshotVersion,
    seed: u64,
    counts: BTreeMap<Table, u32>,
    bytes: u64,
    #[serde(rename = "took_ms", serialize_with = "format::as_milliseconds")]
    took: Duration,
}

pub(crate) fn run(arguments: &GenerateArgs, style: &Style) -> CommandResult {
    let (config, folder) = (arguments.config(), arguments.dataset.as_path());
    let steps = Steps::new(style.json);
    let start = Instant::now();
    steps.step("generate", 0);
    let bytes = generate(&config, folder)?;
    steps.done();
    drop(steps);
    let GenConfig { seed, firms, startups, rounds, people, reviews, version } = config;
    let counts = [
        (Table::Firms, firms),
        (Table::Startups, startups),
        (Table::Rounds, rounds),
        (Table::People, people),
        (Table::Reviews, reviews),
    ];
    let (dataset, counts, took) = (folder.display().to_string(), BTreeMap::from(counts), start.elapsed());
    let result = GeneratedJson { dataset, version, seed, counts, bytes, took };
    style.print(true, &result, |out| {
        writeln!(out, "generated {version} with seed {seed} in {}: {}", format::time(took), result.dataset)?;
        for (table, rows) in &result.counts {
            writeln!(out, "  {:<16}{:>12}", table.name(), format::count(rows))?;
        }
        writeln!(out, "  size: {}", format::size(bytes))
    })
}

/// Writes the dataset; returns its size in bytes.
fn generate(config: &GenConfig, folder: &Path) -> Result<u64, FolderError> {
    let own = OwnFiles::open(folder, FileList::GENERATED)?;
    let scratch = own.scratch()?;
    let at = FolderError::io(folder);
    datagen::generate(config, scratch.path()).map_err(&at)?;
    let mut bytes = 0;
    for entry in fs::read_dir(scratch.path()).map_err(&at)? {
        bytes += entry.and_then(|entry| entry.metadata()).map_err(&at)?.len();
    }
    own.replace(scratch.path())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::cli::indexer::IndexerExit;
    use data;

    #[derive(Parser)]
    struct TestArguments {
        #[command(flatten)]
        generate: GenerateArgs,
    }

    fn config(words: &[&str]) -> GenConfig {
        let words = ["generate", "--dataset", "d"].iter().chain(words);
        TestArguments::try_parse_from(words).unwrap().generate.config()
    }

    #[test]
    fn without_numbers_the_configuration_is_the_bundled_one() {
        assert_eq!(config(&[]), GenConfig::bundled());
        assert_eq!(config(&["--startups", "2000"]), GenConfig::bundled());
        assert_eq!(config(&["--firms", "400"]), GenConfig::bundled());
        assert_eq!(config(&["--firms", "7", "--startups", "9"]), GenConfig::new(7, 9));
        assert_eq!(config(&["--seed", "3"]), GenConfig { seed: 3, ..GenConfig::bundled() });
        for words in [["--firms", "0"], ["--startups", "-1"], ["--seed", "x"]] {
            let words = ["generate", "--dataset", "d"].into_iter().chain(words);
            assert!(TestArguments::try_parse_from(words).is_err());
        }
    }

    #[test]
    fn a_generated_dataset_passes_the_check_and_can_be_overwritten() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("new");
        let small = generate(&GenConfig::new(10, 40), &folder).unwrap();
        let large = generate(&GenConfig::new(12, 60), &folder).unwrap();
        assert!(small < large);
        // A change by somebody else is not lost.
        fs::write(folder.join("aliases.csv"), "kind,slug,alias,source\n").unwrap();
        generate(&GenConfig::new(10, 40), &folder).unwrap();
        assert!(folder.join("aliases.csv").exists());
        let firms = fs::read_to_string(folder.join("firms.csv")).unwrap();
        fs::write(folder.join("firms.csv"), format!("{firms}mine,Mine,,,,,,,,,,,,\n")).unwrap();
        let error = generate(&GenConfig::new(12, 60), &folder).unwrap_err();
        assert!(error.to_string().contains("firms.csv: was changed since `indexer generate` wrote it"), "{error}");
        fs::write(folder.join("firms.csv"), firms).unwrap();
        let report = data::check(&folder, &data::NoProgress);
        assert!(!report.has_errors(), "{:?}", report.problems);
    }

    #[test]
    fn a_folder_with_other_files_is_not_changed() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("snapshot.toml");
        let text = "version = \"2026-11-20.1\"\nreleased_on = \"2026-11-20\"\n";
        fs::write(&real, text).unwrap();
        let error = generate(&GenConfig::new(1, 1), folder.path()).unwrap_err();
        assert_eq!(error.code(), (IndexerExit::Rejected, "occupied"));
        assert_eq!(fs::read_to_string(&real).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        fs::rename(&real, folder.path().join("notes.txt")).unwrap();
        assert!(matches!(generate(&GenConfig::new(1, 1), folder.path()), Err(FolderError::Occupied { .. })));
    }

    #[test]
    fn a_path_that_is_not_a_folder_is_reported() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = generate(&GenConfig::new(1, 1), file.path()).unwrap_err();
        assert_eq!(error.code(), (IndexerExit::Disk, "io"));
        assert!(error.to_string().starts_with(&file.path().display().to_string()));
    }
}
