//! `indexer generate`: an invented dataset of any size; without numbers the one that the project carries.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde::Serialize;

use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{Code, CommandError, Style, format};
use crate::data::Progress;
use crate::datagen;
use crate::datagen::GenConfig;

/// Startups for each firm where only one of the two numbers is given: the proportion of the bundled dataset.
const STARTUPS_PER_FIRM: u32 = 5;

/// Most firms or startups of a dataset: row numbers of everything that hangs on them still fit.
const MOST: i64 = 100_000_000;

#[derive(Args)]
pub(crate) struct Generate {
    /// The folder to write; empty, not there yet, or a dataset that was generated before
    #[arg(long, value_name = "DIR")]
    dataset: PathBuf,
    /// Number of firms [default: a fifth of the startups]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST))]
    firms: Option<u32>,
    /// Number of startups [default: five for each firm; with no number at all the bundled 2000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST))]
    startups: Option<u32>,
    /// Another seed gives another world [default: that of the bundled dataset]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl Generate {
    fn plan(&self) -> GenConfig {
        let bundled = GenConfig::bundled();
        let plan = match (self.firms, self.startups) {
            (None, None) => bundled,
            (Some(firms), Some(startups)) => GenConfig::of(firms, startups),
            (Some(firms), None) => GenConfig::of(firms, firms.saturating_mul(STARTUPS_PER_FIRM)),
            (None, Some(startups)) => GenConfig::of(startups.div_ceil(STARTUPS_PER_FIRM), startups),
        };
        GenConfig { seed: self.seed.unwrap_or(bundled.seed), ..plan }
    }
}

/// Why a dataset was not generated.
#[derive(Debug)]
pub(crate) enum GenerateError {
    /// The folder holds something that the generator did not make.
    Occupied(PathBuf),
    /// The disk refuses.
    Io(PathBuf, io::Error),
}

impl fmt::Display for GenerateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Occupied(folder) => {
                let folder = folder.display();
                write!(f, "{folder} is not empty and holds no generated dataset: choose an empty or a new folder")
            }
            Self::Io(folder, error) => write!(f, "{}: {error}", folder.display()),
        }
    }
}

impl GenerateError {
    /// The exit code of the error, and its name for machines.
    pub(crate) fn code(&self) -> (Code, &'static str) {
        match self {
            Self::Occupied(_) => (Code::Refused, "occupied"),
            Self::Io(..) => (Code::Disk, "io"),
        }
    }
}

/// What was generated, for machines.
#[derive(Serialize)]
struct GeneratedJson {
    ok: bool,
    dataset: String,
    version: String,
    seed: u64,
    counts: CountsJson,
    bytes: u64,
    took_ms: u64,
}

#[derive(Serialize)]
struct CountsJson {
    firms: u32,
    startups: u32,
    funding_rounds: u32,
    people: u32,
    reviews: u32,
}

pub(crate) fn run(wanted: &Generate, style: &Style) -> Result<Code, CommandError> {
    let (plan, folder) = (wanted.plan(), wanted.dataset.as_path());
    let steps = Steps::new(style.json);
    let began = Instant::now();
    steps.step("generate", 0);
    let bytes = generate(&plan, folder)?;
    steps.done();
    drop(steps);
    tell(&plan, folder, bytes, began.elapsed(), style)?;
    Ok(Code::Done)
}

/// Writes the dataset; answers its size in bytes.
fn generate(plan: &GenConfig, folder: &Path) -> Result<u64, GenerateError> {
    let at = |error| GenerateError::Io(folder.to_owned(), error);
    if is_occupied(folder).map_err(at)? {
        return Err(GenerateError::Occupied(folder.to_owned()));
    }
    datagen::generate(plan, folder).map_err(at)?;
    let mut bytes = 0;
    for file in crate::data::import::FILES {
        bytes += fs::metadata(folder.join(file)).map_err(at)?.len();
    }
    Ok(bytes)
}

/// True where the folder holds something that is no generated dataset. Real data must not be written over.
fn is_occupied(folder: &Path) -> io::Result<bool> {
    let mut entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        other => other?,
    };
    if entries.next().transpose()?.is_none() {
        return Ok(false);
    }
    Ok(!datagen::is_generated(folder)?)
}

fn tell(plan: &GenConfig, folder: &Path, bytes: u64, took: Duration, style: &Style) -> io::Result<()> {
    let GenConfig { seed, firms, startups, rounds, people, reviews, version } = *plan;
    if style.json {
        return format::json(&GeneratedJson {
            ok: true,
            dataset: folder.display().to_string(),
            version: version.to_string(),
            seed,
            counts: CountsJson { firms, startups, funding_rounds: rounds, people, reviews },
            bytes,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        });
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "generated {version} with seed {seed} in {}: {}", format::time(took), folder.display())?;
    let rows = [
        ("firms", firms),
        ("startups", startups),
        ("funding_rounds", rounds),
        ("people", people),
        ("reviews", reviews),
    ];
    for (name, rows) in rows {
        writeln!(out, "  {name:<16}{:>12}", format::count(rows.into()))?;
    }
    writeln!(out, "  size: {}", format::size(bytes))?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::data;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        generate: Generate,
    }

    fn plan(words: &[&str]) -> GenConfig {
        let words = ["generate", "--dataset", "d"].iter().chain(words);
        Line::try_parse_from(words).unwrap().generate.plan()
    }

    #[test]
    fn without_numbers_the_plan_is_the_bundled_one() {
        assert_eq!(plan(&[]), GenConfig::bundled());
        assert_eq!(plan(&["--startups", "2000"]), GenConfig::bundled());
        assert_eq!(plan(&["--firms", "400"]), GenConfig::bundled());
        assert_eq!(plan(&["--firms", "7", "--startups", "9"]), GenConfig::of(7, 9));
        assert_eq!(plan(&["--seed", "3"]), GenConfig { seed: 3, ..GenConfig::bundled() });
        for words in [["--firms", "0"], ["--startups", "-1"], ["--seed", "x"]] {
            let words = ["generate", "--dataset", "d"].into_iter().chain(words);
            assert!(Line::try_parse_from(words).is_err());
        }
    }

    #[test]
    fn what_is_generated_passes_the_check_and_can_be_generated_again() {
        let above = tempfile::tempdir().unwrap();
        let folder = above.path().join("new");
        let small = generate(&GenConfig::of(10, 40), &folder).unwrap();
        let large = generate(&GenConfig::of(12, 60), &folder).unwrap();
        assert!(small < large);
        let report = data::check(&folder, &data::NoProgress);
        assert!(!report.has_errors(), "{:?}", report.problems);
    }

    #[test]
    fn a_folder_with_anything_else_in_it_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let real = folder.path().join("snapshot.toml");
        let text = "version = \"2026-11-20.1\"\nreleased_on = \"2026-11-20\"\n";
        fs::write(&real, text).unwrap();
        let error = generate(&GenConfig::of(1, 1), folder.path()).unwrap_err();
        assert_eq!(error.code(), (Code::Refused, "occupied"));
        assert_eq!(fs::read_to_string(&real).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        fs::rename(&real, folder.path().join("notes.txt")).unwrap();
        assert!(matches!(generate(&GenConfig::of(1, 1), folder.path()), Err(GenerateError::Occupied(_))));
    }

    #[test]
    fn a_place_that_is_no_folder_is_told_of() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let error = generate(&GenConfig::of(1, 1), file.path()).unwrap_err();
        assert_eq!(error.code(), (Code::Disk, "io"));
        assert!(error.to_string().starts_with(&file.path().display().to_string()));
    }
}
