//! The checked rows of a dataset, before anything is derived.
//!
//! References between rows are indexes into these lists. Amounts are whole US dollars, ratings 1–5.

use crate::data::{Country, Date, FirmKind, OrganizationKind, ReviewStatus, SnapshotVersion, Stage, StartupStatus};

/// `snapshot.toml`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    pub version: SnapshotVersion,
    /// Ages are counted from this date.
    pub released_on: Date,
    pub title: String,
    pub source: String,
    pub license: String,
    /// Firms, people and reviews are invented; pages mark them.
    pub invented: bool,
}

/// A row of `sectors.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sector {
    pub slug: String,
    pub name: String,
    pub parent: Option<u32>,
    pub description: Option<String>,
}

/// A row of `firms.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Firm {
    pub slug: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub kind: Option<FirmKind>,
    pub website: Option<String>,
    pub description: Option<String>,
    pub country: Option<Country>,
    pub city: Option<String>,
    pub founded_year: Option<u16>,
    /// Stages published by the firm; if empty, they are derived from its rounds.
    pub stages: Vec<Stage>,
    /// Sectors published by the firm; if empty, they are derived from its portfolio.
    pub sectors: Vec<u32>,
    pub check_min_usd: Option<u64>,
    pub check_max_usd: Option<u64>,
    pub aum_usd: Option<u64>,
}

/// A row of `startups.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Startup {
    pub slug: String,
    pub name: String,
    pub aliases: Vec<String>,
    pub website: Option<String>,
    pub description: Option<String>,
    pub country: Option<Country>,
    pub city: Option<String>,
    pub founded_year: Option<u16>,
    pub stage: Option<Stage>,
    pub sectors: Vec<u32>,
    pub status: Option<StartupStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Investor {
    pub firm: u32,
    pub lead: bool,
}

/// A row of `funding_rounds.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    pub id: String,
    pub startup: u32,
    pub stage: Stage,
    pub amount_usd: Option<u64>,
    pub announced_on: Option<Date>,
    /// Leads first, without duplicates.
    pub investors: Vec<Investor>,
}

/// A row of `people.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub slug: String,
    pub name: String,
    pub title: Option<String>,
    pub organization_kind: OrganizationKind,
    pub organization: u32,
    pub country: Option<Country>,
}

/// A row of `reviews.csv`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Review {
    pub id: String,
    pub firm: u32,
    /// The stage at which the reviewer met the firm.
    pub stage: Option<Stage>,
    pub rating: u8,
    pub responsiveness: Option<u8>,
    pub fairness: Option<u8>,
    pub value_add: Option<u8>,
    pub ghosted: Option<bool>,
    pub title: Option<String>,
    pub body: Option<String>,
    pub status: ReviewStatus,
    pub created_on: Date,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dataset {
    pub meta: Meta,
    pub sectors: Vec<Sector>,
    pub firms: Vec<Firm>,
    pub startups: Vec<Startup>,
    pub rounds: Vec<Round>,
    pub people: Vec<Person>,
    pub reviews: Vec<Review>,
}
