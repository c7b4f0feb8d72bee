//! Records as they are answered, as Rust types: the documents' schemas are derived from them, and pages read records by
//! them.
//!
//! Records are laid down as text when a snapshot is compiled, and lists only concatenate them; tests hold real answers
//! against the schemas. Vocabularies are filled in from the code (`super::openapi`).

use serde::Deserialize;
use utoipa::ToSchema;

use crate::catalog::Catalog;
use crate::data::Table;

/// The record of a row, as the type of its table; `None` where a record is none, which a checked snapshot never has.
pub fn read<R: serde::de::DeserializeOwned>(catalog: &Catalog, table: Table, row: u32) -> Option<R> {
    let mut text = catalog.snapshot().record(table, row).whole().to_vec();
    text.push(b'}');
    serde_json::from_slice(&text).ok()
}

/// A venture capital firm.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Firm {
    /// The firm's name in paths.
    pub slug: String,
    /// The firm's name.
    pub name: String,
    /// What kind of investor it is.
    pub kind: Option<String>,
    /// The peer score, 0–100; `null` below 3 approved reviews.
    #[schema(maximum = 100)]
    pub health_score: Option<u8>,
    /// Per cent of reviewers who never got an answer, one decimal; `null` below 3 reviews that say so.
    #[schema(minimum = 0, maximum = 100)]
    pub ghosting_rate: Option<f64>,
    /// Approved reviews.
    pub review_count: u32,
    /// Stages that it invests at.
    pub stages: Vec<String>,
    /// Slugs of the sectors that it invests in.
    pub sectors: Vec<String>,
    /// Where it sits, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// Where it sits.
    pub city: Option<String>,
    /// Its website.
    pub website: Option<String>,
    /// The smallest cheque that it writes, US dollars.
    pub check_min_usd: Option<u64>,
    /// The largest cheque that it writes, US dollars.
    pub check_max_usd: Option<u64>,
    /// Startups that it has invested in.
    pub portfolio_count: u32,
    /// The date of its last investment.
    #[schema(format = Date)]
    pub last_investment_on: Option<String>,
    /// Other names that it goes by.
    pub aliases: Vec<String>,
    /// The firm in a few sentences.
    pub description: Option<String>,
    /// The year in which it was founded.
    pub founded_year: Option<u16>,
    /// Assets under management, US dollars.
    pub aum_usd: Option<u64>,
    /// Rounds that it has joined.
    pub investment_count: u32,
    pub ratings: Ratings,
    pub score: Score,
    /// The firms that joined most rounds with it, at most 5.
    pub top_co_investors: Vec<CoInvestor>,
}

/// The firm's own weighted means, 1–5, one decimal; `null` where nobody rated.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Ratings {
    /// The whole.
    #[schema(minimum = 1, maximum = 5)]
    pub overall: Option<f64>,
    /// How fast and how well it answers.
    #[schema(minimum = 1, maximum = 5)]
    pub responsiveness: Option<f64>,
    /// How fair it is.
    #[schema(minimum = 1, maximum = 5)]
    pub fairness: Option<f64>,
    /// What it gives besides money.
    #[schema(minimum = 1, maximum = 5)]
    pub value_add: Option<f64>,
}

/// The peer score with everything that explains it.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Score {
    /// The score; the same as `health_score`.
    #[schema(maximum = 100)]
    pub value: Option<u8>,
    /// Lower end of the 90 % interval.
    #[schema(maximum = 100)]
    pub low: Option<u8>,
    /// Upper end of the 90 % interval.
    #[schema(maximum = 100)]
    pub high: Option<u8>,
    /// Whether there are reviews enough to publish one.
    pub status: String,
    /// Approved reviews.
    pub review_count: u32,
    /// The method and its version, such as `peer-score/1`.
    pub method: String,
    /// The parts, empty where no score is published; their points add up to `value`.
    pub components: Vec<ScoreComponent>,
}

/// One part of a peer score.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ScoreComponent {
    /// What was rated.
    pub name: String,
    /// Its share of the whole, 0–1.
    #[schema(minimum = 0, maximum = 1)]
    pub weight: f64,
    /// The smoothed mean, 1–5; of ghosting the smoothed share, 0–1.
    #[schema(minimum = 0, maximum = 5)]
    pub value: f64,
    /// Whole points.
    #[schema(maximum = 30)]
    pub points: u8,
    /// The most points that it can give.
    #[schema(maximum = 30)]
    pub max_points: u8,
}

/// A firm that invested beside another.
#[derive(Debug, Deserialize, ToSchema)]
pub struct CoInvestor {
    /// The firm's slug.
    pub slug: String,
    /// The firm's name.
    pub name: String,
    /// Rounds that both joined.
    #[schema(minimum = 1)]
    pub shared_rounds: u32,
}

/// A startup.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Startup {
    /// The startup's name in paths.
    pub slug: String,
    /// The startup's name.
    pub name: String,
    /// What has become of it.
    pub status: Option<String>,
    /// The stage that it has reached.
    pub stage: Option<String>,
    /// Slugs of its sectors.
    pub sectors: Vec<String>,
    /// Where it sits, ISO 3166-1 alpha-2.
    pub country: Option<String>,
    /// Where it sits.
    pub city: Option<String>,
    /// Its website.
    pub website: Option<String>,
    /// The year in which it was founded.
    pub founded_year: Option<u16>,
    /// Sum of the known amounts of its rounds, US dollars.
    pub total_raised_usd: Option<u64>,
    /// Funding rounds that are known.
    pub round_count: u32,
    /// The date of its last round.
    #[schema(format = Date)]
    pub last_round_on: Option<String>,
    /// Firms that have invested in it.
    pub investors: Vec<Investor>,
    /// Other names that it goes by.
    pub aliases: Vec<String>,
    /// The startup in a few sentences.
    pub description: Option<String>,
    /// Its funding rounds.
    #[serde(default)]
    pub rounds: Vec<FundingRound>,
    /// People who work there.
    #[serde(default)]
    pub people: Vec<Person>,
}

/// A firm that has invested in a startup.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Investor {
    /// The firm's slug.
    pub slug: String,
    /// The firm's name.
    pub name: String,
    /// Whether it led a round.
    pub lead: bool,
}

/// A funding round of a startup.
#[derive(Debug, Deserialize, ToSchema)]
pub struct FundingRound {
    /// The round's id.
    pub id: String,
    pub startup: Reference,
    /// The stage of the round.
    pub stage: String,
    /// What was raised, US dollars.
    pub amount_usd: Option<u64>,
    /// When it was announced.
    #[schema(format = Date)]
    pub announced_on: Option<String>,
    /// Firms that led it.
    pub lead_investors: Vec<Reference>,
    /// Firms that joined it, leads among them.
    pub investors: Vec<Reference>,
    /// Slugs of the startup's sectors.
    pub sectors: Vec<String>,
    /// Where the startup sits, ISO 3166-1 alpha-2.
    pub country: Option<String>,
}

impl FundingRound {
    /// Whether the firm with this slug led the round.
    #[must_use]
    pub fn led_by(&self, slug: &str) -> bool {
        self.lead_investors.iter().any(|firm| firm.slug == slug)
    }
}

/// A record by slug and name.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Reference {
    /// Its slug.
    pub slug: String,
    /// Its name.
    pub name: String,
}

/// A person of a firm or of a startup.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Person {
    /// The person's name in paths.
    pub slug: String,
    /// The person's name.
    pub name: String,
    /// What the person does there.
    pub title: Option<String>,
    pub organization: Organization,
    /// Where the person works, ISO 3166-1 alpha-2.
    pub country: Option<String>,
}

/// Where a person works.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Organization {
    /// A firm or a startup.
    pub kind: String,
    /// Its slug.
    pub slug: String,
    /// Its name.
    pub name: String,
}

/// A founder's review of a firm.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Review {
    /// The review's id.
    pub id: String,
    pub vc: Reference,
    /// Whether it was approved.
    pub status: String,
    /// The stage at which the founder talked to the firm.
    pub stage: Option<String>,
    /// The whole, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    pub rating: u8,
    /// How fast and how well the firm answered, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    pub responsiveness: Option<u8>,
    /// How fair the firm was, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    pub fairness: Option<u8>,
    /// What the firm gave besides money, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    pub value_add: Option<u8>,
    /// Whether the founder never got an answer.
    pub ghosted: Option<bool>,
    /// The headline; `null` until the review is approved.
    pub title: Option<String>,
    /// The text; `null` until the review is approved.
    pub body: Option<String>,
    /// When it was written.
    #[schema(format = Date)]
    pub created_on: String,
}

/// A sector.
#[derive(Debug, Deserialize, ToSchema)]
pub struct Sector {
    /// The sector's name in filters.
    pub slug: String,
    /// The sector's name.
    pub name: String,
    /// The slug of the sector above it.
    pub parent: Option<String>,
    /// The sector in a sentence.
    pub description: Option<String>,
    /// Firms that invest in it or below it.
    pub vc_count: u32,
    /// Startups in it or below it.
    pub startup_count: u32,
    /// The mean of the health scores published of its firms, one decimal.
    #[schema(minimum = 0, maximum = 100)]
    pub average_health_score: Option<f64>,
}
