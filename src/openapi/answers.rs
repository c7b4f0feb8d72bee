//! What stands around records, and the answers about the service itself, as Rust types: what the documents' schemas are
//! derived from.
#![expect(dead_code, reason = "only the shape is used")]

use utoipa::ToSchema;

use crate::openapi::model::Reference;

/// Where a list stands.
#[derive(ToSchema)]
pub(crate) struct PaginationV1 {
    /// Records that match.
    total: u64,
    /// Records that this answer holds at most.
    #[schema(minimum = 1, maximum = 100)]
    limit: u64,
    /// Records that come before this answer's.
    offset: u64,
}

/// Where a list stands.
#[derive(ToSchema)]
pub(crate) struct PaginationV2 {
    /// The page, from 1.
    #[schema(minimum = 1)]
    page: u64,
    /// Pages that there are; 0 where nothing matches.
    total_pages: u64,
    /// Records that match.
    total: u64,
    /// Records that a page holds at most.
    #[schema(minimum = 1, maximum = 100)]
    limit: u64,
}

/// Where a list stands.
#[derive(ToSchema)]
pub(crate) struct PaginationV3 {
    /// The `cursor` of the next request; `null` at the end.
    next_cursor: Option<String>,
    /// Whether there is more.
    has_more: bool,
    /// Records that match.
    total: u64,
    /// Records that this answer holds at most.
    #[schema(minimum = 1, maximum = 100)]
    limit: u64,
}

/// What the answer was made from, and what the caller should know of it.
#[derive(ToSchema)]
pub(crate) struct Meta {
    /// The release of the data.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}\.\d+$")]
    snapshot: String,
    /// What was not taken as it was given.
    #[schema(required = false)]
    warnings: Vec<ParameterError>,
    /// Records whose names come near a search that found nothing, or little.
    #[schema(required = false)]
    did_you_mean: Vec<Meant>,
    /// Why each record answers the search (`explain=true`).
    #[schema(required = false)]
    explain: Vec<Explanation>,
}

/// What the caller should know of the answer.
#[derive(ToSchema)]
pub(crate) struct Warnings {
    /// What was not taken as it was given.
    warnings: Vec<ParameterError>,
}

/// A record that was probably meant.
#[derive(ToSchema)]
pub(crate) struct Meant {
    /// Its slug.
    slug: String,
    /// Its name.
    name: String,
}

/// Why a record answers a search: the parts of its score.
#[derive(ToSchema)]
pub(crate) struct Explanation {
    /// The record's slug.
    slug: String,
    /// The score, from 0 to 1 and a whisper more.
    score: f64,
    /// Whether the score makes the record a match.
    matches: bool,
    /// The name or alias that did best.
    text: String,
    /// The way in which it did best.
    way: String,
    /// Every way that was tried on it, the best first.
    parts: Vec<ExplanationPart>,
    /// What prominence adds.
    prominence: f64,
}

/// One way in which a name was compared with a search.
#[derive(ToSchema)]
pub(crate) struct ExplanationPart {
    /// The way.
    way: String,
    /// The score of a perfect answer in this way.
    ceiling: f64,
    /// How well the name does in this way, from 0 to 1.
    likeness: f64,
    /// Their product.
    points: f64,
}

/// What is wrong with one parameter.
#[derive(ToSchema)]
pub(crate) struct ParameterError {
    /// The parameter's name as it was given.
    parameter: String,
    /// What kind of mistake it is.
    code: String,
    /// What is wrong and how to mend it.
    detail: String,
    /// The nearest name or value that would have worked.
    #[schema(required = false, nullable = false)]
    did_you_mean: String,
    /// What would have been accepted, where that is a short list.
    #[schema(required = false)]
    accepted: Vec<String>,
}

/// An error (RFC 9457).
#[derive(ToSchema)]
pub(crate) struct Problem {
    /// Where the docs explain the code.
    #[schema(format = "uri")]
    r#type: String,
    /// The code in words.
    title: String,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What is wrong here, and how to mend it.
    detail: String,
    /// The path that was asked for.
    instance: String,
    /// The stable code.
    code: String,
    /// The request's id; the same as `X-Request-Id`.
    request_id: String,
    /// Which parameters are at fault.
    #[schema(required = false)]
    errors: Vec<ParameterError>,
    /// The nearest slugs, where a record was not found; the nearest path below the version, where a path was not.
    #[schema(required = false)]
    did_you_mean: Vec<String>,
    /// Requests a day, where the quota is used up.
    #[schema(required = false)]
    limit: u32,
    /// When the quota starts anew.
    #[schema(required = false, format = DateTime)]
    resets_at: String,
    /// The key's tier, where the quota is used up.
    #[schema(required = false)]
    tier: String,
}

/// How many firms have what.
#[derive(ToSchema)]
pub(crate) struct Facets {
    /// Firms that fulfil all filters.
    total: u64,
    /// By stage, the most frequent first.
    stage: Vec<CountedWord>,
    /// By sector with all below it, the most frequent first.
    sector: Vec<CountedName>,
    /// By country, the most frequent first.
    country: Vec<CountedName>,
    /// By kind, the most frequent first.
    kind: Vec<CountedWord>,
}

/// How many firms have a value.
#[derive(ToSchema)]
pub(crate) struct CountedWord {
    /// The value, as the parameter of that name takes it.
    value: String,
    /// Firms that have it.
    #[schema(minimum = 1)]
    count: u64,
}

/// How many firms have a value that has a name.
#[derive(ToSchema)]
pub(crate) struct CountedName {
    /// The value, as the parameter of that name takes it.
    value: String,
    /// The value's name.
    name: String,
    /// Firms that have it.
    #[schema(minimum = 1)]
    count: u64,
}

/// Totals of a release.
#[derive(ToSchema)]
pub(crate) struct Totals {
    /// Firms.
    firms: u32,
    /// Startups.
    startups: u32,
    /// Approved reviews.
    reviews: u32,
    /// Funding rounds.
    funding_rounds: u32,
    /// People.
    people: u32,
    /// Sectors.
    sectors: u32,
    /// Countries that at least one firm or startup sits in.
    countries: u32,
    /// Firms whose peer score is published.
    firms_with_health_score: u32,
    /// Sum of all known amounts of rounds, US dollars.
    total_raised_usd: u64,
    /// The release's id.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}\.\d+$")]
    snapshot: String,
    /// Its date.
    #[schema(format = Date)]
    released_on: String,
}

/// A release that is held.
#[derive(ToSchema)]
pub(crate) struct Release {
    /// Its id.
    #[schema(pattern = r"^\d{4}-\d{2}-\d{2}\.\d+$")]
    version: String,
    /// Its date.
    #[schema(format = Date)]
    released_on: String,
    /// What it holds, in a few words.
    title: String,
    /// Where the data comes from.
    source: String,
    /// On which terms it may be used.
    license: String,
    /// Whether it is the one that is served.
    serving: bool,
    /// The checksum of its content.
    #[schema(pattern = "^[0-9a-f]{16}$")]
    checksum: String,
    counts: Counts,
}

/// How many records a release has.
#[derive(ToSchema)]
pub(crate) struct Counts {
    /// Firms.
    firms: u32,
    /// Startups.
    startups: u32,
    /// Funding rounds.
    funding_rounds: u32,
    /// People.
    people: u32,
    /// Approved reviews.
    reviews: u32,
    /// Sectors.
    sectors: u32,
}

/// A name that a text may become.
#[derive(ToSchema)]
pub(crate) struct Suggestion {
    /// What it names.
    kind: String,
    /// The record's slug.
    slug: String,
    /// The name.
    name: String,
    /// How well it fits, from 0 to 1 and a whisper more.
    score: f64,
}

/// A key's quota.
#[derive(ToSchema)]
pub(crate) struct Usage {
    /// The account's tier.
    tier: Option<String>,
    /// Requests a day; `null`: unlimited.
    limit: Option<u32>,
    /// Requests made today.
    used: u32,
    /// Requests left today; `null`: unlimited.
    remaining: Option<u32>,
    /// When the quota starts anew.
    #[schema(format = DateTime)]
    resets_at: String,
}

/// A firm with its place in the ranking.
#[derive(ToSchema)]
pub(crate) struct RankedFirm {
    /// Its place; firms of the same value share one.
    #[schema(minimum = 1)]
    rank: u32,
    /// What it is ranked by.
    rank_value: f64,
}

/// A firm that invested beside another.
#[derive(ToSchema)]
pub(crate) struct CoInvestingFirm {
    /// Rounds that both joined.
    #[schema(minimum = 1)]
    shared_rounds: u32,
    /// The date of the last one.
    #[schema(format = Date)]
    last_shared_on: Option<String>,
}

/// A firm with how well it fits a startup.
#[derive(ToSchema)]
pub(crate) struct FittingFirm {
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
pub(crate) struct FitReason {
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
pub(crate) struct FitConflict {
    startup: Reference,
    /// The slug of the narrow sector that both are in.
    sector: String,
}
