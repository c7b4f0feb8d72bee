//! The records, as the API returns them and as pages read them. All other lists of fields (stored records, field
//! selection, OpenAPI, MCP schemas) are generated from these declarations; see [`crate::field`].
//!
//! A new field takes a line here and its value in `derive::record`; one from CSV also takes a column in `import::rows`.

use serde::{Deserialize, Serialize};

use crate::PartialDate;
use crate::field::model;

model! {
    /// A venture capital firm.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Firm<S = String> {
        /// The firm's id in paths.
        pub slug: S [slug],
        /// The firm's name.
        pub name: S,
        /// The kind of investor.
        pub kind: Option<S> [one_of("FirmKind")],
        /// The peer score, 0–100; `null` if its reviews count as fewer than 3.
        pub health_score: Option<u8> [max(100)],
        /// Weighted percentage of reviewers who never got an answer, one decimal; `null` if the reviews that report it count as
        /// fewer than 3.
        pub ghosting_rate: Option<f64> [range(0, 100)],
        /// Number of approved reviews.
        pub review_count: u32,
        /// Stages that the firm invests at.
        pub stages: Vec<S> [one_of("Stage")],
        /// Slugs of the sectors that the firm invests in.
        pub sectors: Vec<S> [slug],
        /// Country of the headquarters, ISO 3166-1 alpha-2.
        pub country: Option<S> [one_of("Country")],
        /// City of the headquarters.
        pub city: Option<S>,
        /// The firm's website.
        pub website: Option<S>,
        /// Smallest check, US dollars.
        pub check_min_usd: Option<u64>,
        /// Largest check, US dollars.
        pub check_max_usd: Option<u64>,
        /// Number of startups that the firm has invested in.
        pub portfolio_count: u32,
        /// Date of the latest investment.
        pub last_investment_on: Option<PartialDate>,
        /// Other names of the firm.
        pub aliases: Vec<S> [detail],
        /// The firm in a few sentences.
        pub description: Option<S> [detail],
        /// Year of foundation.
        pub founded_year: Option<u16> [detail],
        /// Assets under management, US dollars.
        pub aum_usd: Option<u64> [detail],
        /// Number of funding rounds that the firm has joined.
        pub investment_count: u32 [detail],
        pub ratings: Ratings [detail],
        pub score: Score<S> [detail],
        /// The firms that share most rounds with this one, at most 5.
        pub top_co_investors: Vec<CoInvestor<S>> [detail],
        /// Identifiers in registers and on the web.
        pub identifiers: Vec<Identifier<S>> [detail],
        /// Date up to which `last_investment_on` can be known: investors of later rounds are unknown, or known for some
        /// countries only. `null` if the data has no known investors.
        pub coverage_until: Option<PartialDate> [joined],
        pub first_seen: Option<S> [first_seen],
        pub changed_in: Option<S> [changed_in],
    }

    /// The firm's own weighted means, 1–5, one decimal; `null` without ratings.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Ratings {
        /// Overall rating.
        pub overall: Option<f64> [range(1, 5)],
        /// How fast and how well the firm answers.
        pub responsiveness: Option<f64> [range(1, 5)],
        /// Fairness of terms and conduct.
        pub fairness: Option<f64> [range(1, 5)],
        /// Help beyond money.
        pub value_add: Option<f64> [range(1, 5)],
    }

    /// The peer score with everything that explains it.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Score<S = String> {
        /// The score; the same as `health_score`.
        pub value: Option<u8> [max(100)],
        /// Lower end of the 90 % interval.
        pub low: Option<u8> [max(100)],
        /// Upper end of the 90 % interval.
        pub high: Option<u8> [max(100)],
        /// Whether there are enough reviews to publish a score.
        pub status: S [one_of("ScoreStatus")],
        /// Number of approved reviews.
        pub review_count: u32,
        /// How many reviews of today they count as: the sum of their weights, rounded down to one decimal. A score requires 3, a
        /// rank 5.
        pub effective_reviews: f64 [min(0)],
        /// The approved reviews that do not count until a person has looked at them, by reason; empty if all count.
        pub held: Vec<HeldReviews<S>>,
        /// The method and its version, such as `peer-score/2`.
        pub method: S,
        /// The parts of the score; their points add up to `value`. Empty if no score is published.
        pub components: Vec<ScoreComponent<S>>,
    }

    /// Approved reviews that do not count for one reason.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct HeldReviews<S = String> {
        /// Why they do not count.
        pub reason: S [one_of("HoldReason")],
        /// Number of these reviews.
        pub review_count: u32 [min(1)],
    }

    /// One part of a peer score.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct ScoreComponent<S = String> {
        /// The rated dimension.
        pub name: S [one_of("ScoreComponentName")],
        /// Share of the total, 0–1.
        pub weight: f64 [range(0, 1)],
        /// The smoothed mean, 1–5; for ghosting the smoothed share, 0–1. Two decimals.
        pub value: f64 [range(0, 5)],
        /// Whole points.
        pub points: u8 [max(30)],
        /// Maximum number of points.
        pub max_points: u8 [max(30)],
    }

    /// The peer score of a firm in one year: from its approved reviews of that year alone.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct YearScore {
        /// The calendar year.
        pub year: u16,
        /// Number of approved reviews of the year.
        pub review_count: u32,
        /// How many of them count, by their weights without their age, rounded down to one decimal.
        pub effective_reviews: f64 [min(0)],
        /// The score, 0–100; `null` if fewer than 3 count.
        pub health_score: Option<u8> [max(100)],
        /// Lower end of the 90 % interval.
        pub low: Option<u8> [max(100)],
        /// Upper end of the 90 % interval.
        pub high: Option<u8> [max(100)],
        /// Percentage of reviewers who never got an answer, one decimal; `null` if fewer than 3 that count report it.
        pub ghosting_rate: Option<f64> [range(0, 100)],
    }

    /// A firm that shares rounds with another firm.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct CoInvestor<S = String> {
        /// The firm's slug.
        pub slug: S [slug],
        /// The firm's name.
        pub name: S,
        /// Number of rounds that both firms joined.
        pub shared_rounds: u32 [min(1)],
    }

    /// A startup.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Startup<S = String> {
        /// The startup's id in paths.
        pub slug: S [slug],
        /// The startup's name.
        pub name: S,
        /// Whether it operates, was acquired, went public or closed.
        pub status: Option<S> [one_of("StartupStatus")],
        /// The stage it has reached.
        pub stage: Option<S> [one_of("Stage")],
        /// Slugs of its sectors.
        pub sectors: Vec<S> [slug],
        /// Country of the headquarters, ISO 3166-1 alpha-2.
        pub country: Option<S> [one_of("Country")],
        /// City of the headquarters.
        pub city: Option<S>,
        /// The startup's website.
        pub website: Option<S>,
        /// Year of foundation.
        pub founded_year: Option<u16>,
        /// Sum of the known amounts of its rounds, US dollars.
        pub total_raised_usd: Option<u64>,
        /// Number of known funding rounds.
        pub round_count: u32,
        /// Date of the latest round.
        pub last_round_on: Option<PartialDate>,
        /// Firms that have invested in it.
        pub investors: Vec<Investor<S>>,
        /// Other names of the startup.
        pub aliases: Vec<S> [detail],
        /// The startup in a few sentences.
        pub description: Option<S> [detail],
        /// Identifiers in registers and on the web.
        pub identifiers: Vec<Identifier<S>> [detail],
        /// Date up to which `last_round_on` can be known: later rounds of the startup's country are unknown. `null` if the
        /// data covers no rounds of the country.
        pub coverage_until: Option<PartialDate> [joined],
        /// Its funding rounds.
        #[serde(default)]
        pub rounds: Vec<FundingRound<S>> [joined],
        /// People who work there.
        #[serde(default)]
        pub people: Vec<Person<S>> [joined],
        pub first_seen: Option<S> [first_seen],
        pub changed_in: Option<S> [changed_in],
    }

    /// A firm that has invested in a startup.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Investor<S = String> {
        /// The firm's slug.
        pub slug: S [slug],
        /// The firm's name.
        pub name: S,
        /// Whether it led a round; `null` if none of its rounds names it as lead and one of them names no lead.
        pub lead: Option<bool>,
    }

    /// A funding round of a startup.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct FundingRound<S = String> {
        /// The round's id.
        pub id: S,
        pub startup: Reference<S>,
        /// The stage of the round; `null` if no source names it.
        pub stage: Option<S> [one_of("Stage")],
        /// Amount raised, US dollars.
        pub amount_usd: Option<u64>,
        /// Date of the announcement.
        pub announced_on: Option<PartialDate>,
        /// Firms that led the round; `null` if the round names none.
        pub lead_investors: Option<Vec<Reference<S>>>,
        /// Firms that joined the round, including leads.
        pub investors: Vec<Reference<S>>,
        /// Slugs of the startup's sectors.
        pub sectors: Vec<S> [slug],
        /// Country of the startup, ISO 3166-1 alpha-2.
        pub country: Option<S> [one_of("Country")],
        /// Whether the amount is probably wrong: over ten times the 99th percentile of its stage, or of all rounds if the
        /// stage is unknown. Sums, orders and bounds leave it out.
        pub suspect: bool,
        pub first_seen: Option<S> [first_seen],
        pub changed_in: Option<S> [changed_in],
    }

    /// A record by slug and name.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Reference<S = String> {
        /// The record's slug.
        pub slug: S [slug],
        /// The record's name.
        pub name: S,
    }

    /// A person who works at a firm or a startup.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Person<S = String> {
        /// The person's id in paths.
        pub slug: S [slug],
        /// The person's name.
        pub name: S,
        /// Job title.
        pub title: Option<S>,
        pub organization: Organization<S>,
        /// Country of the workplace, ISO 3166-1 alpha-2; if it is unknown, that of the organization.
        pub country: Option<S> [one_of("Country")],
        /// Whether the country is the person's own or that of the organization; `null` if neither is known.
        pub country_source: Option<S> [one_of("CountrySource")],
        /// Identifiers in registers and on the web.
        pub identifiers: Vec<Identifier<S>> [detail],
        pub first_seen: Option<S> [first_seen],
        pub changed_in: Option<S> [changed_in],
    }

    /// Another record with a person's name that has something in common with it: probably the same person.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct RelatedRole<S = String> {
        /// The other record's id in paths.
        pub slug: S [slug],
        /// The job title there.
        pub title: Option<S>,
        pub organization: Organization<S>,
        /// What both records have in common: `organization`, `round` or `place`.
        pub reason: S,
        /// The reason in words.
        pub detail: S,
    }

    /// An identifier of a record in a register or on the web.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Identifier<S = String> {
        /// The scheme, such as `lei`, `cik` or `wikidata`.
        pub scheme: S,
        /// The value in its normal form.
        pub value: S,
        /// How sure it is that two records with this value are the same.
        pub strength: S [one_of("IdentifierStrength")],
        /// The page about the record there; `null` if the scheme has none.
        pub url: Option<String> [uri],
    }

    /// The firm or startup that a person works at.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Organization<S = String> {
        /// Whether it is a firm or a startup.
        pub kind: S [one_of("OrganizationKind")],
        /// Its slug.
        pub slug: S [slug],
        /// Its name.
        pub name: S,
    }

    /// A founder's review of a firm.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Review<S = String> {
        /// The review's id.
        pub id: S,
        pub vc: Reference<S>,
        /// Whether the review is approved.
        pub status: S [one_of("ReviewStatus")],
        /// The stage at which the founder talked to the firm.
        pub stage: Option<S> [one_of("Stage")],
        /// Overall rating, 1–5; like all that the review says, `null` until it is approved.
        pub rating: Option<u8> [range(1, 5)],
        /// How fast and how well the firm answered, 1–5.
        pub responsiveness: Option<u8> [range(1, 5)],
        /// Fairness of terms and conduct, 1–5.
        pub fairness: Option<u8> [range(1, 5)],
        /// Help beyond money, 1–5.
        pub value_add: Option<u8> [range(1, 5)],
        /// Whether the founder never got an answer.
        pub ghosted: Option<bool>,
        /// The headline; `null` until the review is approved.
        pub title: Option<S>,
        /// The text; `null` until the review is approved.
        pub body: Option<S>,
        /// The date it was written; only the month until the review is approved and its firm has five approved reviews.
        pub created_on: PartialDate,
        /// What the author is in their company.
        pub role: Option<S> [one_of("ReviewerRole")],
        /// The month of the author's contact with the firm.
        pub contact_month: Option<PartialDate>,
        /// What shows that the author had to do with the firm.
        pub proof: Option<S> [one_of("ReviewProof")],
        /// Whether the review counts for the firm's score, rates and ratings.
        pub counted: Option<bool>,
        /// Why it does not count until a person has looked at it.
        pub held_as: Option<S> [one_of("HoldReason")],
        /// The share of a review that it counts as, without its age: 1, less for an account that was created around a burst of
        /// reviews, 0 if it does not count.
        pub weight: Option<f64> [range(0, 1)],
        /// The firm's public answer.
        pub reply: Option<S>,
        /// The date of the answer; only the month as long as `created_on` is one.
        pub replied_on: Option<PartialDate>,
        pub first_seen: Option<S> [first_seen],
        pub changed_in: Option<S> [changed_in],
    }

    /// A sector.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    pub struct Sector<S = String> {
        /// The sector's id in filters.
        pub slug: S [slug],
        /// The sector's name.
        pub name: S,
        /// Slug of the parent sector.
        pub parent: Option<S> [slug],
        /// The sector in one sentence.
        pub description: Option<S>,
        /// Number of firms that invest in the sector or in one of its subsectors.
        pub vc_count: u32,
        /// Number of startups in the sector or in one of its subsectors.
        pub startup_count: u32,
        /// Mean of the published health scores of its firms, one decimal.
        pub average_health_score: Option<f64> [range(0, 100)],
        pub first_seen: Option<S> [first_seen],
        pub changed_in: Option<S> [changed_in],
    }
}

impl FundingRound {
    /// True if the firm with this slug led the round.
    pub fn led_by(&self, slug: &str) -> bool {
        self.lead_investors.iter().flatten().any(|firm| firm.slug == slug)
    }
}
