//! Records as they are answered, as Rust types: what the documents' schemas are derived from.
//!
//! Records are laid down as text when a snapshot is compiled and are never built from these types; tests hold real
//! answers against the schemas. Vocabularies are filled in from the code (`super::schema`).
#![expect(dead_code, reason = "only the shape is used")]

use utoipa::ToSchema;

/// A venture capital firm.
#[derive(ToSchema)]
pub(super) struct Firm {
    /// The firm's name in paths.
    slug: String,
    /// The firm's name.
    name: String,
    /// What kind of investor it is.
    kind: Option<String>,
    /// The peer score, 0–100; `null` below 3 approved reviews.
    #[schema(maximum = 100)]
    health_score: Option<u8>,
    /// Per cent of reviewers who never got an answer, one decimal; `null` below 3 reviews that say so.
    #[schema(minimum = 0, maximum = 100)]
    ghosting_rate: Option<f64>,
    /// Approved reviews.
    review_count: u32,
    /// Stages that it invests at.
    stages: Vec<String>,
    /// Slugs of the sectors that it invests in.
    sectors: Vec<String>,
    /// Where it sits, ISO 3166-1 alpha-2.
    country: Option<String>,
    /// Where it sits.
    city: Option<String>,
    /// Its website.
    website: Option<String>,
    /// The smallest cheque that it writes, US dollars.
    check_min_usd: Option<u64>,
    /// The largest cheque that it writes, US dollars.
    check_max_usd: Option<u64>,
    /// Startups that it has invested in.
    portfolio_count: u32,
    /// The date of its last investment.
    #[schema(format = Date)]
    last_investment_on: Option<String>,
    /// Other names that it goes by.
    aliases: Vec<String>,
    /// The firm in a few sentences.
    description: Option<String>,
    /// The year in which it was founded.
    founded_year: Option<u16>,
    /// Assets under management, US dollars.
    aum_usd: Option<u64>,
    /// Rounds that it has joined.
    investment_count: u32,
    ratings: Ratings,
    score: Score,
    /// The firms that joined most rounds with it, at most 5.
    top_co_investors: Vec<CoInvestor>,
}

/// The firm's own weighted means, 1–5, one decimal; `null` where nobody rated.
#[derive(ToSchema)]
pub(super) struct Ratings {
    /// The whole.
    #[schema(minimum = 1, maximum = 5)]
    overall: Option<f64>,
    /// How fast and how well it answers.
    #[schema(minimum = 1, maximum = 5)]
    responsiveness: Option<f64>,
    /// How fair it is.
    #[schema(minimum = 1, maximum = 5)]
    fairness: Option<f64>,
    /// What it gives besides money.
    #[schema(minimum = 1, maximum = 5)]
    value_add: Option<f64>,
}

/// The peer score with everything that explains it.
#[derive(ToSchema)]
pub(super) struct Score {
    /// The score; the same as `health_score`.
    #[schema(maximum = 100)]
    value: Option<u8>,
    /// Lower end of the 90 % interval.
    #[schema(maximum = 100)]
    low: Option<u8>,
    /// Upper end of the 90 % interval.
    #[schema(maximum = 100)]
    high: Option<u8>,
    /// Whether there are reviews enough to publish one.
    status: String,
    /// Approved reviews.
    review_count: u32,
    /// The method and its version.
    method: String,
    /// The parts, empty where no score is published; their points add up to `value`.
    components: Vec<ScoreComponent>,
}

/// One part of a peer score.
#[derive(ToSchema)]
pub(super) struct ScoreComponent {
    /// What was rated.
    name: String,
    /// Its share of the whole, 0–1.
    #[schema(minimum = 0, maximum = 1)]
    weight: f64,
    /// The smoothed mean, 1–5; of ghosting the smoothed share, 0–1.
    #[schema(minimum = 0, maximum = 5)]
    value: f64,
    /// Whole points.
    #[schema(maximum = 30)]
    points: u8,
    /// The most points that it can give.
    #[schema(maximum = 30)]
    max_points: u8,
}

/// A firm that invested beside another.
#[derive(ToSchema)]
pub(super) struct CoInvestor {
    /// The firm's slug.
    slug: String,
    /// The firm's name.
    name: String,
    /// Rounds that both joined.
    #[schema(minimum = 1)]
    shared_rounds: u32,
}

/// A startup.
#[derive(ToSchema)]
pub(super) struct Startup {
    /// The startup's name in paths.
    slug: String,
    /// The startup's name.
    name: String,
    /// What has become of it.
    status: Option<String>,
    /// The stage that it has reached.
    stage: Option<String>,
    /// Slugs of its sectors.
    sectors: Vec<String>,
    /// Where it sits, ISO 3166-1 alpha-2.
    country: Option<String>,
    /// Where it sits.
    city: Option<String>,
    /// Its website.
    website: Option<String>,
    /// The year in which it was founded.
    founded_year: Option<u16>,
    /// Sum of the known amounts of its rounds, US dollars.
    total_raised_usd: Option<u64>,
    /// Funding rounds that are known.
    round_count: u32,
    /// The date of its last round.
    #[schema(format = Date)]
    last_round_on: Option<String>,
    /// Firms that have invested in it.
    investors: Vec<Investor>,
    /// Other names that it goes by.
    aliases: Vec<String>,
    /// The startup in a few sentences.
    description: Option<String>,
    /// Its funding rounds.
    rounds: Vec<FundingRound>,
    /// People who work there.
    people: Vec<Person>,
}

/// A firm that has invested in a startup.
#[derive(ToSchema)]
pub(super) struct Investor {
    /// The firm's slug.
    slug: String,
    /// The firm's name.
    name: String,
    /// Whether it led a round.
    lead: bool,
}

/// A funding round of a startup.
#[derive(ToSchema)]
pub(super) struct FundingRound {
    /// The round's id.
    id: String,
    startup: Reference,
    /// The stage of the round.
    stage: String,
    /// What was raised, US dollars.
    amount_usd: Option<u64>,
    /// When it was announced.
    #[schema(format = Date)]
    announced_on: Option<String>,
    /// Firms that led it.
    lead_investors: Vec<Reference>,
    /// Firms that joined it, leads among them.
    investors: Vec<Reference>,
    /// Slugs of the startup's sectors.
    sectors: Vec<String>,
    /// Where the startup sits, ISO 3166-1 alpha-2.
    country: Option<String>,
}

/// A record by slug and name.
#[derive(ToSchema)]
pub(super) struct Reference {
    /// Its slug.
    slug: String,
    /// Its name.
    name: String,
}

/// A person of a firm or of a startup.
#[derive(ToSchema)]
pub(super) struct Person {
    /// The person's name in paths.
    slug: String,
    /// The person's name.
    name: String,
    /// What the person does there.
    title: Option<String>,
    organization: Organization,
    /// Where the person works, ISO 3166-1 alpha-2.
    country: Option<String>,
}

/// Where a person works.
#[derive(ToSchema)]
pub(super) struct Organization {
    /// A firm or a startup.
    kind: String,
    /// Its slug.
    slug: String,
    /// Its name.
    name: String,
}

/// A founder's review of a firm.
#[derive(ToSchema)]
pub(super) struct Review {
    /// The review's id.
    id: String,
    vc: Reference,
    /// Whether it was approved.
    status: String,
    /// The stage at which the founder talked to the firm.
    stage: Option<String>,
    /// The whole, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    rating: u8,
    /// How fast and how well the firm answered, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    responsiveness: Option<u8>,
    /// How fair the firm was, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    fairness: Option<u8>,
    /// What the firm gave besides money, 1–5.
    #[schema(minimum = 1, maximum = 5)]
    value_add: Option<u8>,
    /// Whether the founder never got an answer.
    ghosted: Option<bool>,
    /// The headline; `null` until the review is approved.
    title: Option<String>,
    /// The text; `null` until the review is approved.
    body: Option<String>,
    /// When it was written.
    #[schema(format = Date)]
    created_on: String,
}

/// A sector.
#[derive(ToSchema)]
pub(super) struct Sector {
    /// The sector's name in filters.
    slug: String,
    /// The sector's name.
    name: String,
    /// The slug of the sector above it.
    parent: Option<String>,
    /// The sector in a sentence.
    description: Option<String>,
    /// Firms that invest in it or below it.
    vc_count: u32,
    /// Startups in it or below it.
    startup_count: u32,
    /// The mean of the health scores published of its firms, one decimal.
    #[schema(minimum = 0, maximum = 100)]
    average_health_score: Option<f64>,
}

/// A firm with its place in the ranking.
#[derive(ToSchema)]
pub(super) struct RankedFirm {
    /// Its place; firms of the same value share one.
    #[schema(minimum = 1)]
    rank: u32,
    /// What it is ranked by.
    rank_value: f64,
}

/// A firm that invested beside another.
#[derive(ToSchema)]
pub(super) struct CoInvestingFirm {
    /// Rounds that both joined.
    #[schema(minimum = 1)]
    shared_rounds: u32,
    /// The date of the last one.
    #[schema(format = Date)]
    last_shared_on: Option<String>,
}

/// A firm with how well it fits a startup.
#[derive(ToSchema)]
pub(super) struct FittingFirm {
    /// The sum of the points of its reasons.
    #[schema(maximum = 100)]
    points: u8,
    /// The most points that the request allows.
    #[schema(maximum = 100)]
    max_points: u8,
    /// What speaks for it.
    reasons: Vec<FitReason>,
    /// Startups that it backs already in the same narrow sector, at most 5.
    conflicts: Vec<FitConflict>,
    /// How many such startups there are.
    conflict_count: u32,
}

/// Points for one reason.
#[derive(ToSchema)]
pub(super) struct FitReason {
    /// What was looked at.
    name: String,
    /// Whole points.
    #[schema(maximum = 100)]
    points: u8,
    /// The most points that it can give.
    #[schema(maximum = 100)]
    max_points: u8,
    /// Why it has them.
    detail: String,
}

/// A startup that the firm backs already.
#[derive(ToSchema)]
pub(super) struct FitConflict {
    startup: Reference,
    /// The slug of the narrow sector that both are in.
    sector: String,
}
