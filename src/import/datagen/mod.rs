//! Generator of invented datasets: the bundled one, and ones of any size for benchmarks.
//!
//! The same [`GenConfig`] gives the same bytes on every run and platform: integers only (see `random.rs`), a stream of random
//! numbers for each row, no iteration in hash order. A row's stream can be restarted, so startups, rounds and people are
//! written in one pass: memory holds the firms (about 200 bytes each), a hash of each used name (8 bytes) and the market's
//! firm lists, never a table.
//!
//! - A firm has a home country, a few sector groups, a band of stages, a founding year and an activity, heavy-tailed as 1/x of
//!   a uniform draw. A round finds its investors among the firms of its region and group, sometimes of another region, that
//!   invest at its stage and existed then. Half of the others are regular companions of the lead (syndicates recur), the rest
//!   earlier investors of the startup or other firms.
//! - A startup's rounds climb the ladder of stages with growing amounts. They are dated back from the release, its founding
//!   from its first round. A startup with status `ipo` has an ipo round.
//! - A firm has a hidden quality from which ratings are drawn without bias (see `quality.rs`); texts follow the ratings.
//!   Moderation and missing values are drawn independently of them.
//!
//! Names, cities and texts come from the lists in `words/`, for 36 cultures in 15 scripts. Every website is under `.example`.
//! The test that compares the bundled folder writes it: `VENTUREDEX_BLESS=1 cargo test --test it bundled`.

mod culture;
mod firms;
mod geography;
mod lists;
mod market;
mod naming;
mod people;
mod profile_text;
mod quality;
mod random;
mod reviews;
mod sectors;
mod startups;
#[cfg(test)]
mod tests;
mod words;

use std::path::Path;
use std::{fs, io};

use data::import::csv_writer::TableWriter;
use data::import::provenance::Source;
use data::import::rows::DatasetSector;
use data::{Date, SnapshotVersion};

/// Size and seed of a generated dataset. The counts are met exactly, except that a table stays empty if the one it depends on
/// is empty (rounds need startups, reviews need firms, people need either).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GenConfig {
    pub seed: u64,
    pub firms: u32,
    pub startups: u32,
    pub rounds: u32,
    pub people: u32,
    pub reviews: u32,
    /// Its date is the release date; nothing is dated later.
    pub version: SnapshotVersion,
}

impl GenConfig {
    /// The bundled `dataset/`: 400 firms and 2,000 startups.
    pub fn bundled() -> Self {
        Self::new(400, 2_000)
    }

    /// A dataset with `firms` and `startups`: two rounds and one person per startup, 15 reviews and 2.5 people per firm.
    pub fn new(firms: u32, startups: u32) -> Self {
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
}

/// Id of an invented source, also the scheme of its identifiers.
const REGISTER: &str = "demo-register";
/// Id of another invented source, which has only names in capitals.
const SURVEY: &str = "demo-survey";

/// Writes the files of the dataset into `folder`, which is created if it does not exist.
pub fn generate(config: &GenConfig, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let meta = format!(
        "# Everything in this folder is invented: no firm, startup or person in it is real.\n\
         version = \"{}\"\n\
         released_on = \"{}\"\n\
         title = \"Invented venture data\"\n\
         source = \"Made by the generator of VentureDex (seed {}): every firm, startup, person, round and review is \
         invented\"\n\
         license = \"CC0-1.0\"\n\
         invented = true\n",
        config.version, config.version.date, config.seed,
    );
    fs::write(folder.join("snapshot.toml"), meta)?;
    let mut table = TableWriter::create::<DatasetSector>(folder)?;
    for (index, sector) in sectors::SECTORS.iter().enumerate() {
        let description = if index % 17 == 16 { "" } else { sector.description };
        table.row(&[sector.slug, sector.name, sector.parent, description])?;
    }
    table.finish()?;
    let mut table = TableWriter::create::<Source>(folder)?;
    let day = config.version.date.to_string();
    table.row(&[REGISTER, "An invented register", "CC0-1.0", "https://register.example", "20", &day])?;
    table.row(&[SURVEY, "An invented survey", "CC-BY-4.0", "https://survey.example", "10", &day])?;
    table.finish()?;
    let mut people = people::People::create(config, folder)?;
    let firms = firms::write(config, folder, &mut people)?;
    reviews::write(config, folder, &firms)?;
    let market = market::FirmMarket::new(config.seed, &firms);
    startups::write(config, folder, &market, &mut people)?;
    people.finish()
}
