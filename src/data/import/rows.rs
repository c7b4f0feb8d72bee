//! The rows of a dataset as they are read and checked, before anything is derived.
//!
//! References between rows are positions in these lists, resolved while reading.

use crate::data::{Country, Date, FirmKind, OrganizationKind, ReviewStatus, SnapshotVersion, Stage, StartupStatus};

/// `snapshot.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// The snapshot's id.
    pub version: SnapshotVersion,
    /// The date of release, from which ages are counted.
    pub released_on: Date,
    /// What the data is.
    pub title: String,
    /// Where it comes from.
    pub source: String,
    /// Under which terms.
    pub license: String,
    /// Whether firms, people and reviews are made up; pages then say so.
    pub invented: bool,
}

/// A line of `sectors.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sector {
    /// The sector's id in paths and filters.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// The sector it is part of.
    pub parent: Option<u32>,
    /// What it covers.
    pub description: Option<String>,
}

/// A line of `firms.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firm {
    /// The firm's id in paths.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// What kind of investor it is.
    pub kind: Option<FirmKind>,
    /// Its website.
    pub website: Option<String>,
    /// A description.
    pub description: Option<String>,
    /// Where it sits.
    pub country: Option<Country>,
    /// The city it sits in.
    pub city: Option<String>,
    /// The year it was founded.
    pub founded_year: Option<u16>,
    /// The stages it says it invests at; empty: derived from its rounds.
    pub stages: Vec<Stage>,
    /// The sectors it says it invests in; empty: derived from its portfolio.
    pub sectors: Vec<u32>,
    /// Smallest cheque, US dollars.
    pub check_min_usd: Option<u64>,
    /// Largest cheque, US dollars.
    pub check_max_usd: Option<u64>,
    /// Assets under management, US dollars.
    pub aum_usd: Option<u64>,
}

/// A line of `startups.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startup {
    /// The startup's id in paths.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// Other names.
    pub aliases: Vec<String>,
    /// Its website.
    pub website: Option<String>,
    /// A description.
    pub description: Option<String>,
    /// Where it sits.
    pub country: Option<Country>,
    /// The city it sits in.
    pub city: Option<String>,
    /// The year it was founded.
    pub founded_year: Option<u16>,
    /// The stage it has reached.
    pub stage: Option<Stage>,
    /// What it works in.
    pub sectors: Vec<u32>,
    /// What became of it.
    pub status: Option<StartupStatus>,
}

/// One investor of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Investor {
    /// The firm.
    pub firm: u32,
    /// Whether it led the round.
    pub lead: bool,
}

/// A line of `funding_rounds.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    /// The round's id.
    pub id: String,
    /// The startup that raised it.
    pub startup: u32,
    /// Its stage.
    pub stage: Stage,
    /// Its size, US dollars.
    pub amount_usd: Option<u64>,
    /// When it was announced.
    pub announced_on: Option<Date>,
    /// Who took part, leads first, each once.
    pub investors: Vec<Investor>,
}

/// A line of `people.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    /// The person's id in paths.
    pub slug: String,
    /// Their name.
    pub name: String,
    /// Their title.
    pub title: Option<String>,
    /// What they belong to.
    pub organization_kind: OrganizationKind,
    /// The firm or the startup they belong to.
    pub organization: u32,
    /// Their country.
    pub country: Option<Country>,
}

/// A line of `reviews.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    /// The review's id.
    pub id: String,
    /// The firm it is about.
    pub firm: u32,
    /// The stage at which the reviewer met the firm.
    pub stage: Option<Stage>,
    /// Overall rating, 1–5.
    pub rating: u8,
    /// Rating of responsiveness, 1–5.
    pub responsiveness: Option<u8>,
    /// Rating of fairness, 1–5.
    pub fairness: Option<u8>,
    /// Rating of value added, 1–5.
    pub value_add: Option<u8>,
    /// Whether the reviewer never got an answer.
    pub ghosted: Option<bool>,
    /// Headline.
    pub title: Option<String>,
    /// Text.
    pub body: Option<String>,
    /// Where it stands in moderation.
    pub status: ReviewStatus,
    /// When it was written.
    pub created_on: Date,
}

/// A dataset that was read and checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    /// `snapshot.toml`.
    pub meta: Meta,
    /// `sectors.csv`.
    pub sectors: Vec<Sector>,
    /// `firms.csv`.
    pub firms: Vec<Firm>,
    /// `startups.csv`.
    pub startups: Vec<Startup>,
    /// `funding_rounds.csv`.
    pub rounds: Vec<Round>,
    /// `people.csv`.
    pub people: Vec<Person>,
    /// `reviews.csv`.
    pub reviews: Vec<Review>,
}
