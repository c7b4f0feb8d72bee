//! The rows of the table of parameters.

use data::vocabulary::Vocabulary;
use data::{Facet, FirmKind, OrganizationKind, ReviewStatus, Role, Stage, StartupStatus, Table};

use crate::Filter;
use crate::params::{BoundUnit, ClosedVocabulary, MAX_EXACT_INT, Mode, ParamType, Parameter};
use crate::parse::scalars::Bound::{self, Max, Min};

const fn text(doc: &'static str) -> Parameter {
    Parameter { aliases: &["query", "search"], ..param("q", ParamType::Text, "", doc) }
}

const fn words(doc: &'static str) -> Parameter {
    param("text", ParamType::Words, "", doc)
}

const fn like(table: Table, doc: &'static str) -> Parameter {
    param("like", ParamType::Like(table), "", doc)
}

const fn records(name: &'static str, table: Table, facet: Facet, doc: &'static str) -> Parameter {
    param(name, ParamType::Records(table, facet), "", doc)
}

const fn terms<V: Vocabulary>(name: &'static str, facet: Facet, example: &'static str, doc: &'static str) -> Parameter {
    param(name, ParamType::Terms(ClosedVocabulary::of::<V>(), facet), example, doc)
}

const fn param(name: &'static str, kind: ParamType, example: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind, mode: Mode::Any, example, doc }
}

const fn bound(
    name: &'static str,
    key: &'static str,
    bound: Bound,
    unit: BoundUnit,
    example: &'static str,
    doc: &'static str,
) -> Parameter {
    param(name, ParamType::Range { key, bound, unit }, example, doc)
}

/// A condition on the rounds of startups.
const fn of_rounds(parameter: Parameter) -> Parameter {
    Parameter { mode: Mode::Round, ..parameter }
}

const SCORE: BoundUnit = BoundUnit::Number { min: 0, max: 100 };
const COUNT: BoundUnit = BoundUnit::Number { min: 0, max: u32::MAX as u64 };
const USD: BoundUnit = BoundUnit::Number { min: 0, max: MAX_EXACT_INT };
const YEAR: BoundUnit = BoundUnit::Number { min: 1_000, max: 9_999 };
const RATING: BoundUnit = BoundUnit::Number { min: 1, max: 5 };
const DATE: BoundUnit = BoundUnit::Date;

const STAGE: Parameter = terms::<Stage>("stage", Facet::Stage, "seed,series-a", "Filter by stage (any of).");
const SECTOR: Parameter = records(
    "sector",
    Table::Sectors,
    Facet::Sector,
    "Filter by sector, slug or name (any of); a sector includes all its descendants.",
);
const COUNTRY: Parameter =
    param("country", ParamType::Countries, "DE,GB", "Filter by country, ISO 3166-1 code or English name (any of).");
const fn city(table: Table, doc: &'static str) -> Parameter {
    param("city", ParamType::Listed(table, Facet::City), "", doc)
}

const fn website(table: Table) -> Parameter {
    let doc = "Filter by the host of the website (any of); takes a host, a web address or an e-mail address.";
    Parameter { aliases: &["domain"], ..param("website", ParamType::Listed(table, Facet::Website), "", doc) }
}

const fn identifier(table: Table) -> Parameter {
    let doc = "Filter by identifier (any of), as `scheme:value`: `lei:…`, `cik:…`, `wikidata:Q…`.";
    param("id", ParamType::Listed(table, Facet::Identifier), "", doc)
}

const FIRM_KIND: Parameter = terms::<FirmKind>("kind", Facet::Kind, "vc,corporate", "Filter by kind of firm (any of).");
const FOUNDED_FROM: Parameter =
    bound("founded_from", "founded_year", Min, YEAR, "2015", "Founded in this year or later.");
const FOUNDED_TO: Parameter =
    bound("founded_to", "founded_year", Max, YEAR, "2024", "Founded in this year or earlier.");

const fn slug(table: Table) -> Parameter {
    param("slug", ParamType::Rows(table), "", "The records with these slugs, at most 100.")
}

const fn id(table: Table) -> Parameter {
    param("id", ParamType::Rows(table), "", "The records with these ids, at most 100.")
}

const FIRST_SEEN: Parameter = param(
    "first_seen",
    ParamType::Release,
    "latest",
    "Records that this release added, by its version; `latest` is the release that answers.",
);

const fn known(table: Table, example: &'static str) -> Parameter {
    let doc = "Rows of which all of these are known: names of filters by value and of sort keys.";
    param("known", ParamType::Known(table, true), example, doc)
}

const fn unknown(table: Table, example: &'static str) -> Parameter {
    let doc = "Rows of which none of these is known: names of filters by value and of sort keys.";
    param("unknown", ParamType::Known(table, false), example, doc)
}

const fn sort(example: &'static str) -> Parameter {
    let doc = "Sort keys, comma-separated; `-` before a key for descending. Rows without a value come last.";
    param("sort", ParamType::Sort, example, doc)
}

pub(super) const FIRMS: &[Parameter] = &[
    text("Search by a firm's name or alias; tolerates typos, missing words and other spellings."),
    words("Firms whose description, sectors, place or name have these words, best first."),
    like(
        Table::Firms,
        "Firms like this one, slug or name, the most similar first: shared startups, sectors, stages, place, description. \
         Of each, `meta.similar` has what both have in common.",
    ),
    slug(Table::Firms),
    STAGE,
    SECTOR,
    COUNTRY,
    city(Table::Firms, "Filter by city or state of the USA (any of)."),
    FIRM_KIND,
    website(Table::Firms),
    identifier(Table::Firms),
    bound("min_health_score", "health_score", Min, SCORE, "60", "Minimum health score, 0–100."),
    bound("max_health_score", "health_score", Max, SCORE, "40", "Maximum health score, 0–100."),
    bound("min_ghosting_rate", "ghosting_rate", Min, BoundUnit::Percent, "50", "Minimum ghosting rate in percent."),
    bound("max_ghosting_rate", "ghosting_rate", Max, BoundUnit::Percent, "12.5", "Maximum ghosting rate in percent."),
    bound("min_reviews", "review_count", Min, COUNT, "5", "Minimum number of approved reviews."),
    bound("max_reviews", "review_count", Max, COUNT, "10", "Maximum number of approved reviews."),
    bound("min_portfolio", "portfolio_count", Min, COUNT, "10", "Minimum number of startups in the portfolio."),
    bound("max_portfolio", "portfolio_count", Max, COUNT, "50", "Maximum number of startups in the portfolio."),
    param(
        "check_usd",
        ParamType::Number { min: 0, max: MAX_EXACT_INT, filter: |usd| Filter::CheckRange { min: usd, max: usd } },
        "500000",
        "An amount in whole US dollars that the firm's check range contains.",
    ),
    bound("min_aum_usd", "aum_usd", Min, USD, "100000000", "Minimum assets under management in whole US dollars."),
    bound("max_aum_usd", "aum_usd", Max, USD, "500000000", "Maximum assets under management in whole US dollars."),
    bound(
        "active_since",
        "last_investment_on",
        Min,
        DATE,
        "2025-01-01",
        "Last investment on or after this date. With `active_until`: an investment between the two dates.",
    ),
    bound(
        "active_until",
        "last_investment_on",
        Max,
        DATE,
        "2025-12-31",
        "Last investment on or before this date. With `active_since`: an investment between the two dates.",
    ),
    FOUNDED_FROM,
    FOUNDED_TO,
    FIRST_SEEN,
    known(Table::Firms, "health_score"),
    unknown(Table::Firms, "aum_usd"),
    sort("-health_score,name"),
];

pub(super) const REVIEWS: &[Parameter] = &[
    id(Table::Reviews),
    records("vc", Table::Firms, Facet::Firm, "Filter by firm, slug or name (any of)."),
    terms::<ReviewStatus>(
        "status",
        Facet::Status,
        "pending",
        "Filter by review status (any of). Of a pending review only `id`, `vc`, `status` and the month are known; rejected \
         reviews are never served.",
    ),
    STAGE,
    param(
        "ghosted",
        ParamType::Bool(|ghosted| Filter::AnyOf(Facet::Ghosted, vec![ghosted as u32])),
        "false",
        "Whether the reviewer never got an answer.",
    ),
    bound("min_rating", "rating", Min, RATING, "4", "Minimum rating, 1–5."),
    bound("max_rating", "rating", Max, RATING, "2", "Maximum rating, 1–5."),
    bound("since", "created_on", Min, DATE, "2025-01-01", "Written on or after this date."),
    bound("until", "created_on", Max, DATE, "2026-06-30", "Written on or before this date."),
    FIRST_SEEN,
    known(Table::Reviews, "ghosted"),
    unknown(Table::Reviews, "stage"),
    sort("-rating"),
];

pub(super) const SECTORS: &[Parameter] = &[
    text("Search by a sector's name."),
    slug(Table::Sectors),
    records(
        "parent",
        Table::Sectors,
        Facet::Parent,
        "Sectors directly below these, slug or name. `unknown=parent` lists the top-level sectors.",
    ),
    known(Table::Sectors, "parent"),
    unknown(Table::Sectors, "parent"),
    sort("name"),
];

pub(super) const LEADERBOARD: &[Parameter] = &[
    STAGE,
    SECTOR,
    COUNTRY,
    FIRM_KIND,
    param("metric", ParamType::Metric, "responsiveness", "The metric that firms are ranked by."),
];

pub(super) const STARTUPS: &[Parameter] = &[
    text("Search by a startup's name or alias; tolerates typos, missing words and other spellings."),
    words("Startups whose description, sectors, place or name have these words, best first."),
    like(
        Table::Startups,
        "Startups like this one, slug or name, the most similar first: sectors, description, investors, stage, year and \
         place. Of each, `meta.similar` has what both have in common.",
    ),
    slug(Table::Startups),
    STAGE,
    SECTOR,
    COUNTRY,
    city(Table::Startups, "Filter by city or state of the USA (any of)."),
    terms::<StartupStatus>("status", Facet::Status, "operating", "Filter by status (any of)."),
    records(
        "investor",
        Table::Firms,
        Facet::Investor,
        "Startups that one of these firms has invested in, slug or name.",
    ),
    website(Table::Startups),
    identifier(Table::Startups),
    FOUNDED_FROM,
    FOUNDED_TO,
    bound("min_raised_usd", "total_raised_usd", Min, USD, "1000000", "Minimum total raised in whole US dollars."),
    bound("max_raised_usd", "total_raised_usd", Max, USD, "50000000", "Maximum total raised in whole US dollars."),
    bound("last_round_since", "last_round_on", Min, DATE, "2025-01-01", "Last round on or after this date."),
    bound("last_round_until", "last_round_on", Max, DATE, "2025-12-31", "Last round on or before this date."),
    of_rounds(terms::<Stage>(
        "raised_stage",
        Facet::Stage,
        "seed,series-a",
        "A known round has one of these stages, whatever the stage now. With `raised_since` and `raised_until`: one \
         round of such a stage between the two dates.",
    )),
    of_rounds(records(
        "raised_from",
        Table::Firms,
        Facet::Investor,
        "One of these firms, slug or name, joined a known round. With `raised_stage`, `raised_since` and `raised_until`: one \
         round that meets all of them.",
    )),
    of_rounds(bound("raised_since", "announced_on", Min, DATE, "2025-01-01", "A round on or after this date.")),
    of_rounds(bound("raised_until", "announced_on", Max, DATE, "2025-12-31", "A round on or before this date.")),
    bound("min_rounds", "round_count", Min, COUNT, "2", "Minimum number of known rounds."),
    bound("max_rounds", "round_count", Max, COUNT, "3", "Maximum number of known rounds."),
    FIRST_SEEN,
    known(Table::Startups, "total_raised_usd"),
    unknown(Table::Startups, "investor"),
    sort("name"),
];

pub(super) const ROUNDS: &[Parameter] = &[
    id(Table::Rounds),
    STAGE,
    SECTOR,
    COUNTRY,
    city(Table::Rounds, "Filter by the startup's city (any of)."),
    records("startup", Table::Startups, Facet::Startup, "Rounds of these startups, slug or name."),
    records("investor", Table::Firms, Facet::Investor, "Rounds that one of these firms joined, slug or name."),
    records("lead", Table::Firms, Facet::Lead, "Rounds that one of these firms led, slug or name."),
    Parameter { doc: "Rounds that a firm of one of these kinds joined.", ..FIRM_KIND },
    bound("since", "announced_on", Min, DATE, "2025-01-01", "Announced on or after this date."),
    bound("until", "announced_on", Max, DATE, "2026-06-30", "Announced on or before this date."),
    bound("min_amount_usd", "amount_usd", Min, USD, "1000000", "Minimum amount raised in whole US dollars."),
    bound("max_amount_usd", "amount_usd", Max, USD, "50000000", "Maximum amount raised in whole US dollars."),
    param("suspect", ParamType::Bool(Filter::Suspect), "false", "Whether the amount is suspect."),
    FIRST_SEEN,
    known(Table::Rounds, "amount_usd,announced_on"),
    unknown(Table::Rounds, "lead"),
    sort("-amount_usd"),
];

pub(super) const PEOPLE: &[Parameter] = &[
    text("Search by a person's name; tolerates typos, initials, nicknames and other word orders."),
    words("People whose title, organization or country has these words, best first."),
    slug(Table::People),
    terms::<OrganizationKind>("kind", Facet::Kind, "firm", "People of a `firm` or of a `startup`."),
    param("organization", ParamType::Organizations, "", "People of these firms or startups, slug or name."),
    terms::<Role>("role", Facet::Role, "founder,ceo", "Filter by role (any of)."),
    param(
        "title",
        ParamType::Listed(Table::People, Facet::Title),
        "",
        "Filter by job title: all words of one of these, at most 10, in any order.",
    ),
    identifier(Table::People),
    Parameter {
        doc: "Filter by country, or by that of the organization if the person's is unknown; ISO 3166-1 code or English \
              name (any of).",
        ..COUNTRY
    },
    city(Table::People, "Filter by the city of the organization (any of)."),
    FIRST_SEEN,
    known(Table::People, "title"),
    unknown(Table::People, "country"),
    sort("-name"),
];

pub(super) const CO_INVESTORS: &[Parameter] =
    &[records("vc", Table::Firms, Facet::Firm, "The firm whose co-investors are listed; set by the path.")];

pub(super) const MATCH: &[Parameter] = &[
    terms::<Stage>("stage", Facet::Stage, "seed", "Stage of the round that the startup raises (any of)."),
    records("sector", Table::Sectors, Facet::Sector, "The startup's sectors, slug or name."),
    Parameter { doc: "The startup's country, ISO 3166-1 code or English name (any of).", ..COUNTRY },
    city(Table::Startups, "The startup's city, or its state of the USA (any of)."),
    param(
        "raise_usd",
        ParamType::Number { min: 1, max: MAX_EXACT_INT, filter: |raise| Filter::CheckRange { min: raise, max: raise } },
        "2000000",
        "The amount that the startup raises, in whole US dollars.",
    ),
    words("What the startup does, in words: investors of startups with such descriptions count."),
    param(
        "startup",
        ParamType::Like(Table::Startups),
        "",
        "The startup, slug or name: its next stage, sectors, country and city count if they are not given, and so do the \
         investors of startups like it. Its own investors count as `backer`, if none is given, and are not listed.",
    ),
    records(
        "backer",
        Table::Firms,
        Facet::Investor,
        "Firms that back the startup already, slug or name: their co-investors count.",
    ),
    FIRM_KIND,
    Parameter {
        name: "not_kind",
        mode: Mode::Not,
        example: "bank,angel",
        doc: "Kinds of firms to leave out.",
        ..FIRM_KIND
    },
    Parameter {
        mode: Mode::Not,
        ..records("not_firm", Table::Firms, Facet::Firm, "Firms to leave out, slug or name.")
    },
];
