//! Invented datasets: the bundled one, and ones of any size for benchmarks.
//!
//! The same [`GenConfig`] gives the same bytes on every run and every platform: integers only (see `random.rs`), a stream of
//! random numbers for each row, and no map is ever walked in the order of its hashes. A row's stream also lets the
//! generator write startups, rounds and people in one pass: it holds the firms (about 200 bytes each), the hashes of
//! the names it has given (8 bytes each) and the market's firm lists, never a table.
//!
//! What hangs together:
//! - A firm has a home, a few groups of sectors, a band of stages, a founding year and an activity. Activities are
//!   heavy-tailed, as 1/x of a uniform draw. A round finds its investors among the firms of its region and group,
//!   at times of another region, which invest at its stage and existed then.
//! - A round's other investors are to one half old companions of the lead (syndicates recur), else earlier investors
//!   of the startup, else strangers.
//! - A startup's rounds climb the ladder of stages with growing amounts; its last round is drawn back from the release
//!   date, its founding from its first round. `ipo` has an ipo round.
//! - A firm has a hidden [`Quality`]; ratings are drawn from it without bias (see `quality.rs`), words follow the
//!   ratings. Moderation and gaps are drawn without looking at the ratings.
//!
//! Names, cities and texts come from the word lists of this room, for firms and people of 36 cultures in 15 scripts.
//! Every website is under `.example`. The bundled folder is made anew by `indexer generate --dataset dataset`, or by
//! the test that compares it: `VENTUREDEX_BLESS=1 cargo test --test it bundled`.

pub mod culture;
pub mod culture_east;
pub mod culture_west;
pub mod firm_names;
pub mod firms;
pub mod geography;
pub mod market;
pub mod naming;
pub mod people;
pub mod profile_text;
pub mod quality;
pub mod random;
pub mod review_text;
pub mod review_words;
pub mod review_words_abroad;
pub mod reviews;
pub mod rounds;
pub mod sectors;
pub mod share;
pub mod startup_names;
pub mod startups;
#[cfg(test)]
mod tests;
pub mod words;
pub use quality::Quality;

use std::fs;
use std::io;
use std::path::Path;

use crate::data::import::csv_writer::TableWriter;
use crate::data::{Date, SnapshotVersion};

/// What to invent. The counts are met exactly, except that a table stays empty where the one it hangs on is
/// (rounds need startups, reviews need firms, people need either).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenConfig {
    /// Another seed gives another world.
    pub seed: u64,
    /// Rows of `firms.csv`.
    pub firms: u32,
    /// Rows of `startups.csv`.
    pub startups: u32,
    /// Rows of `funding_rounds.csv`.
    pub rounds: u32,
    /// Rows of `people.csv`.
    pub people: u32,
    /// Rows of `reviews.csv`.
    pub reviews: u32,
    /// The snapshot's version; its date is the release date, and nothing is dated later.
    pub version: SnapshotVersion,
}

impl GenConfig {
    /// The dataset that the project carries in `dataset/`: 400 firms and 2,000 startups.
    #[must_use]
    pub fn bundled() -> Self {
        Self::of(400, 2_000)
    }

    /// `firms` and `startups`, with two rounds for each startup, 15 reviews for each firm, and as many people as
    /// startups and two and a half for each firm.
    #[must_use]
    pub fn of(firms: u32, startups: u32) -> Self {
        Self {
            seed: 20_261_120,
            firms,
            startups,
            rounds: startups.saturating_mul(2),
            people: startups.saturating_add(firms.saturating_mul(5) / 2),
            reviews: firms.saturating_mul(15),
            // 2026-11-20
            version: SnapshotVersion { date: Date::from_days(20_777), counter: 1 },
        }
    }

    fn release(&self) -> Date {
        self.version.date
    }
}

/// Invents the dataset of `plan` and writes its seven files into `folder`, which is made if it is not there.
///
/// # Errors
/// Where a file cannot be written.
pub fn generate(plan: &GenConfig, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("snapshot.toml"), snapshot(plan))?;
    write_sectors(folder)?;
    let mut people = people::People::create(plan, folder)?;
    let firms = firms::write(plan, folder, &mut people)?;
    let quality = quality::of_firms(plan);
    reviews::write(plan, folder, &firms, &quality)?;
    let market = market::Market::of(plan.seed, &firms);
    startups::write(plan, folder, &market, &mut people)?;
    people.finish()
}

/// Begins the `snapshot.toml` of every generated dataset.
const MARK: &str = "# Everything in this folder is invented";

/// True where the folder holds a generated dataset, which may be written over.
///
/// # Errors
/// Where its `snapshot.toml` is there and cannot be read.
pub fn is_generated(folder: &Path) -> io::Result<bool> {
    match fs::read(folder.join("snapshot.toml")) {
        Ok(text) => Ok(text.starts_with(MARK.as_bytes())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// The hidden quality of each firm, in the order of `firms.csv`, beside its slug: the expected values that its reviews
/// are drawn from. A test can hold the score's interval against them.
#[must_use]
pub fn hidden_quality(plan: &GenConfig) -> Vec<(String, Quality)> {
    let firms = firms::draw_all(plan);
    firms.into_iter().map(|firm| firm.slug).zip(quality::of_firms(plan)).collect()
}

fn snapshot(plan: &GenConfig) -> String {
    format!(
        "{MARK}: no firm, startup or person in it is real.\n\
         version = \"{}\"\n\
         released_on = \"{}\"\n\
         title = \"Invented venture data\"\n\
         source = \"Made by the generator of VentureDex (seed {}): every firm, startup, person, round and review is \
         invented\"\n\
         license = \"CC0-1.0\"\n\
         invented = true\n",
        plan.version,
        plan.release(),
        plan.seed,
    )
}

fn write_sectors(folder: &Path) -> io::Result<()> {
    let mut table = TableWriter::create(folder, "sectors.csv", crate::data::import::SECTOR_COLUMNS)?;
    for (place, sector) in sectors::SECTORS.iter().enumerate() {
        let description = if place % 17 == 16 { "" } else { sector.description };
        table.row(&[sector.slug, sector.name, sector.parent, description])?;
    }
    table.finish()
}
