//! The parameters of each list: one table drives parsing, the names an error offers, and the documents of the API.

use crate::data::{Facet, Table};

/// A list that can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    /// Firms.
    Firms,
    /// Reviews.
    Reviews,
    /// Sectors.
    Sectors,
    /// Firms in order of a metric.
    Leaderboard,
    /// Startups.
    Startups,
    /// Funding rounds.
    Rounds,
    /// People.
    People,
    /// Firms that joined rounds with one firm.
    CoInvestors,
    /// Firms in order of how well they fit a startup.
    Match,
}

/// A parameter: its names, what it takes and what it does.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Other names for the same.
    pub aliases: &'static [&'static str],
    /// What values it takes.
    pub kind: ParamType,
    /// What it does, in one sentence.
    pub doc: &'static str,
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// A name to search for.
    Text,
    /// Stages.
    Stages,
    /// Kinds of firms.
    FirmKinds,
    /// States of startups.
    StartupStatuses,
    /// States of reviews.
    ReviewStatuses,
    /// `firm` or `startup`.
    OrganizationKinds,
    /// Sectors, by slug or name.
    Sectors(Facet),
    /// Countries.
    Countries,
    /// Cities of firms.
    Cities,
    /// Firms, by slug or exact name.
    Firms(Facet),
    /// Startups, by slug or exact name.
    Startups(Facet),
    /// Firms or startups, by slug or exact name.
    Organizations,
    /// A score from 0 to 100.
    MinHealthScore,
    /// Per cent from 0 to 100.
    MaxGhostingRate,
    /// A whole number.
    MinReviews,
    /// Whole US dollars inside a firm's cheque range.
    CheckUsd,
    /// Whole US dollars that a startup raises.
    RaiseUsd,
    /// Whole US dollars a round raised at least.
    MinAmountUsd,
    /// A rating from 1 to 5.
    MinRating,
    /// The earliest last investment.
    ActiveSince,
    /// The earliest announcement.
    Since,
    /// The latest announcement.
    Until,
    /// `true` or `false`.
    Ghosted,
    /// What the leaderboard ranks by.
    Metric,
    /// Keys to sort by.
    Sort,
}

const fn parameter(name: &'static str, kind: ParamType, doc: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind, doc }
}

const fn text(doc: &'static str) -> Parameter {
    Parameter { name: "q", aliases: &["query", "search"], kind: ParamType::Text, doc }
}

const STAGE: Parameter = parameter("stage", ParamType::Stages, "Stages, any of them.");
const SECTOR: Parameter = parameter(
    "sector",
    ParamType::Sectors(Facet::Sector),
    "Sectors by slug or name, any of them; each with all below it.",
);
const COUNTRY: Parameter =
    parameter("country", ParamType::Countries, "Countries by ISO 3166-1 code or English name, any of them.");
const FIRM_KIND: Parameter = parameter("kind", ParamType::FirmKinds, "Kinds of firms, any of them.");
const SORT: Parameter = parameter(
    "sort",
    ParamType::Sort,
    "Keys to sort by, `-` before one for descending; rows without a value stand last.",
);

const FIRMS: &[Parameter] = &[
    text("A firm's name or alias; typos, missing words and other spellings are tolerated."),
    STAGE,
    SECTOR,
    COUNTRY,
    parameter("city", ParamType::Cities, "Cities, any of them."),
    FIRM_KIND,
    parameter("min_health_score", ParamType::MinHealthScore, "Health score at least this, 0–100."),
    parameter("max_ghosting_rate", ParamType::MaxGhostingRate, "Ghosting rate at most this, per cent."),
    parameter("min_reviews", ParamType::MinReviews, "At least so many approved reviews."),
    parameter("check_usd", ParamType::CheckUsd, "An amount in whole US dollars that the firm's cheque range contains."),
    parameter("active_since", ParamType::ActiveSince, "Last investment on this date or later."),
    SORT,
];

const REVIEWS: &[Parameter] = &[
    parameter("vc", ParamType::Firms(Facet::Firm), "Firms by slug, any of them."),
    parameter("status", ParamType::ReviewStatuses, "States of reviews, any of them; rejected ones are never served."),
    STAGE,
    parameter("ghosted", ParamType::Ghosted, "Whether the reviewer never got an answer."),
    parameter("min_rating", ParamType::MinRating, "Rating at least this, 1–5."),
    SORT,
];

const SECTORS: &[Parameter] = &[
    text("A sector's name."),
    parameter("parent", ParamType::Sectors(Facet::Parent), "Sectors directly below these."),
    SORT,
];

const LEADERBOARD: &[Parameter] =
    &[STAGE, SECTOR, COUNTRY, FIRM_KIND, parameter("metric", ParamType::Metric, "What firms are ranked by.")];

const STARTUPS: &[Parameter] = &[
    text("A startup's name or alias; typos, missing words and other spellings are tolerated."),
    STAGE,
    SECTOR,
    COUNTRY,
    parameter("status", ParamType::StartupStatuses, "States of startups, any of them."),
    parameter("investor", ParamType::Firms(Facet::Investor), "Startups that one of these firms backs, by slug."),
    SORT,
];

const ROUNDS: &[Parameter] = &[
    STAGE,
    SECTOR,
    COUNTRY,
    parameter("startup", ParamType::Startups(Facet::Startup), "Rounds of these startups, by slug."),
    parameter("investor", ParamType::Firms(Facet::Investor), "Rounds that one of these firms joined, by slug."),
    parameter("since", ParamType::Since, "Announced on this date or later."),
    parameter("until", ParamType::Until, "Announced on this date or earlier."),
    parameter("min_amount_usd", ParamType::MinAmountUsd, "Whole US dollars raised at least."),
    SORT,
];

const PEOPLE: &[Parameter] = &[
    text("A person's name; typos, initials, nicknames and other orders are tolerated."),
    parameter("kind", ParamType::OrganizationKinds, "People of a `firm` or of a `startup`."),
    parameter("organization", ParamType::Organizations, "People of these firms or startups, by slug."),
    COUNTRY,
    SORT,
];

const CO_INVESTORS: &[Parameter] =
    &[parameter("vc", ParamType::Firms(Facet::Firm), "The firm whose co-investors are listed; the path says which.")];

const MATCH: &[Parameter] = &[
    parameter("stage", ParamType::Stages, "The stage of the round that the startup raises; of several, any."),
    parameter("sector", ParamType::Sectors(Facet::Sector), "The startup's sector, by slug or name; of several, any."),
    parameter(
        "country",
        ParamType::Countries,
        "The startup's country, by ISO 3166-1 code or English name; of several, any.",
    ),
    parameter("raise_usd", ParamType::RaiseUsd, "The amount that the startup raises, whole US dollars."),
];

impl Resource {
    /// All lists.
    pub const ALL: [Self; 9] = [
        Self::Firms,
        Self::Reviews,
        Self::Sectors,
        Self::Leaderboard,
        Self::Startups,
        Self::Rounds,
        Self::People,
        Self::CoInvestors,
        Self::Match,
    ];

    /// The last segment of its path.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::Firms => "vcs",
            Self::Reviews => "reviews",
            Self::Sectors => "sectors",
            Self::Leaderboard => "leaderboard",
            Self::Startups => "startups",
            Self::Rounds => "funding-rounds",
            Self::People => "people",
            Self::CoInvestors => "co-investors",
            Self::Match => "match",
        }
    }

    /// The table it lists.
    #[must_use]
    pub fn table(self) -> Table {
        match self {
            Self::Firms | Self::Leaderboard | Self::CoInvestors | Self::Match => Table::Firms,
            Self::Reviews => Table::Reviews,
            Self::Sectors => Table::Sectors,
            Self::Startups => Table::Startups,
            Self::Rounds => Table::Rounds,
            Self::People => Table::People,
        }
    }

    /// Its parameters, besides those of paging and field selection.
    #[must_use]
    pub fn parameters(self) -> &'static [Parameter] {
        match self {
            Self::Firms => FIRMS,
            Self::Reviews => REVIEWS,
            Self::Sectors => SECTORS,
            Self::Leaderboard => LEADERBOARD,
            Self::Startups => STARTUPS,
            Self::Rounds => ROUNDS,
            Self::People => PEOPLE,
            Self::CoInvestors => CO_INVESTORS,
            Self::Match => MATCH,
        }
    }

    /// The parameter of this name or alias.
    #[must_use]
    pub fn parameter(self, name: &str) -> Option<&'static Parameter> {
        self.parameters().iter().find(|parameter| parameter.name == name || parameter.aliases.contains(&name))
    }
}
