//! The parameters of each list: one row per parameter drives parsing, error messages, the API documents and the arguments
//! of the tools.
//!
//! A new filter takes a row here; only a new kind of condition takes a variant of [`Filter`] and its evaluation in
//! `row_filter`. The parameters that require all of several values (`stage_all`) and that exclude values (`not_stage`)
//! derive from the rows.

use once_cell::sync::Lazy;

use crate::data::vocabulary::{Vocabulary, normal};
use crate::data::{Facet, FirmKind, OrganizationKind, ReviewStatus, Role, Stage, StartupStatus, Table};

use crate::catalog::parse::scalars::Bound;
use crate::catalog::{Catalog, Filter};

/// Maximum number of values of one parameter: each may cost a look-up by name.
pub const MAX_VALUES: usize = 100;
/// Maximum number of parameters of one request, repeated ones counted each time.
pub const MAX_PARAMETERS: usize = 200;
/// The largest integer that JSON readers represent exactly.
pub const MAX_EXACT_INT: u64 = (1 << 53) - 1;
/// Maximum length of a search text in characters; no name is longer.
pub const MAX_TEXT_CHARS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Resource {
    Firms,
    Reviews,
    Sectors,
    Leaderboard,
    Startups,
    Rounds,
    People,
    CoInvestors,
    Match,
}

/// How the values of one parameter combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A row has any of the values.
    Any,
    /// A row has all of the values.
    All,
    /// A row has none of the values, and has another one.
    Not,
}

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub kind: ParamType,
    pub mode: Mode,
    /// An example value; empty if it depends on the records of the snapshot, see [`Catalog::example`].
    example: &'static str,
    /// One sentence for the API documents.
    pub doc: &'static str,
}

impl Parameter {
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }

    /// The example of a number, with a shorter spelling if it is an amount.
    pub(crate) fn example_number(&self) -> String {
        let short = if self.name.ends_with("_usd") { ", 500k or $1.5m" } else { "" };
        format!("{}{short}", self.example)
    }

    /// The parameter that includes any of its values.
    pub(crate) fn included(&self) -> &'static str {
        let included = match self.mode {
            Mode::Any => None,
            Mode::All => self.name.strip_suffix("_all"),
            Mode::Not => self.name.strip_prefix("not_"),
        };
        included.unwrap_or(self.name)
    }

    /// The facet whose values it filters by.
    pub fn facet(&self) -> Option<Facet> {
        match self.kind {
            ParamType::Terms(_, facet) | ParamType::Listed(_, facet) | ParamType::Records(_, facet) => Some(facet),
            ParamType::Countries => Some(Facet::Country),
            _ => None,
        }
    }

    /// The parameters that require all of its values and that exclude them, if it has values to combine.
    fn derived(&self, table: Table) -> Vec<Self> {
        // A host is one record, not a property of several.
        let excludes =
            self.facet().is_some_and(|facet| facet != Facet::Website) || matches!(self.kind, ParamType::Organizations);
        let has_several = match (table, self.facet()) {
            (Table::Firms, Some(facet)) => matches!(facet, Facet::Stage | Facet::Sector),
            (Table::Startups, Some(facet)) => matches!(facet, Facet::Sector | Facet::Investor),
            (Table::Rounds, Some(facet)) => {
                matches!(facet, Facet::Sector | Facet::Investor | Facet::Lead | Facet::Kind)
            }
            (Table::People, Some(facet)) => facet == Facet::Role,
            _ => false,
        };
        let derived = |mode: Mode, name: String, doc: String| Self {
            name: name.leak(),
            aliases: &[],
            mode,
            doc: doc.leak(),
            ..*self
        };
        let name = self.name;
        let all = has_several.then(|| {
            let doc = format!("As `{name}`, but all of the values are required.");
            derived(Mode::All, format!("{name}_all"), doc)
        });
        let not = excludes.then(|| {
            let doc = format!("Excludes these values of `{name}`. Rows whose value is unknown do not match either.");
            derived(Mode::Not, format!("not_{name}"), doc)
        });
        all.into_iter().chain(not).collect()
    }
}

/// The type of a parameter's values, and the filter that they make.
#[derive(Clone, Copy, Debug)]
pub enum ParamType {
    /// A name to search for, at most [`MAX_TEXT_CHARS`] characters.
    Text,
    /// Terms of a closed vocabulary.
    Terms(Terms, Facet),
    /// Countries by ISO 3166-1 code or English name.
    Countries,
    /// Texts of a facet of [`Facet::LISTED`]: cities by name, job titles by their words, websites by host.
    Listed(Table, Facet),
    /// Records of a table by slug or name.
    Records(Table, Facet),
    /// Firms or startups by slug or name.
    Organizations,
    /// Rows of the list by slug or id.
    Rows(Table),
    /// A bound of the value of a sort key.
    Range {
        key: &'static str,
        bound: Bound,
        unit: Unit,
    },
    Number {
        min: u64,
        max: u64,
        filter: fn(u64) -> Filter,
    },
    Bool(fn(bool) -> Filter),
    /// Names of properties of a table that are known (`true`) or unknown.
    Known(Table, bool),
    Metric,
    Sort,
}

/// The unit of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// An integer from `min` to `max`.
    Number { min: u64, max: u64 },
    /// A percentage from 0 to 100 with one decimal, stored as tenths.
    Percent,
    /// A day; a year, a quarter or a month is its first or last day.
    Date,
}

/// A closed vocabulary as a value.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub noun: &'static str,
    pub names: fn() -> Vec<&'static str>,
    /// The canonical name and the index of the term that a text names.
    pub read: fn(&str) -> Option<(&'static str, u32)>,
    /// Whether a text means less than the term that it names.
    pub is_narrower: fn(&str) -> bool,
}

impl Terms {
    const fn of<V: Vocabulary>() -> Self {
        let read = |text: &str| V::read(text).map(|term| (term.name(), term.index() as u32));
        Self { noun: V::NOUN, names: V::names, read, is_narrower: |text| V::is_narrower(&normal(text)) }
    }
}

const fn text(doc: &'static str) -> Parameter {
    Parameter { aliases: &["query", "search"], ..param("q", ParamType::Text, "", doc) }
}

/// Records by slug; the example is a slug of the snapshot.
const fn records(name: &'static str, table: Table, facet: Facet, doc: &'static str) -> Parameter {
    param(name, ParamType::Records(table, facet), "", doc)
}

const fn param(name: &'static str, kind: ParamType, example: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind, mode: Mode::Any, example, doc }
}

const fn bound(
    name: &'static str,
    key: &'static str,
    bound: Bound,
    unit: Unit,
    example: &'static str,
    doc: &'static str,
) -> Parameter {
    param(name, ParamType::Range { key, bound, unit }, example, doc)
}

use Bound::{Max, Min};

const SCORE: Unit = Unit::Number { min: 0, max: 100 };
const COUNT: Unit = Unit::Number { min: 0, max: u32::MAX as u64 };
const USD: Unit = Unit::Number { min: 0, max: MAX_EXACT_INT };
const YEAR: Unit = Unit::Number { min: 1, max: 9_999 };
const RATING: Unit = Unit::Number { min: 1, max: 5 };
const DATE: Unit = Unit::Date;

const STAGES: ParamType = ParamType::Terms(Terms::of::<Stage>(), Facet::Stage);
const STAGE: Parameter = param("stage", STAGES, "seed,series-a", "Filter by stage (any of).");
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
    param("website", ParamType::Listed(table, Facet::Website), "", "Filter by the host of the website (any of).")
}

const FIRM_KINDS: ParamType = ParamType::Terms(Terms::of::<FirmKind>(), Facet::Kind);
const FIRM_KIND: Parameter = param("kind", FIRM_KINDS, "vc,corporate", "Filter by kind of firm (any of).");
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

const fn known(table: Table, example: &'static str) -> Parameter {
    let doc = "Rows of which all of these are known: names of filters by value and of sort keys.";
    param("known", ParamType::Known(table, true), example, doc)
}

const fn unknown(table: Table, example: &'static str) -> Parameter {
    let doc = "Rows of which none of these is known: names of filters by value and of sort keys.";
    param("unknown", ParamType::Known(table, false), example, doc)
}

const fn sort(example: &'static str) -> Parameter {
    param(
        "sort",
        ParamType::Sort,
        example,
        "Sort keys, comma-separated; `-` before a key for descending. Rows without a value come last.",
    )
}

const FIRMS: &[Parameter] = &[
    text("Search by a firm's name or alias; tolerates typos, missing words and other spellings."),
    slug(Table::Firms),
    STAGE,
    SECTOR,
    COUNTRY,
    city(Table::Firms, "Filter by city (any of)."),
    FIRM_KIND,
    website(Table::Firms),
    bound("min_health_score", "health_score", Min, SCORE, "60", "Minimum health score, 0–100."),
    bound("max_ghosting_rate", "ghosting_rate", Max, Unit::Percent, "12.5", "Maximum ghosting rate in percent."),
    bound("min_reviews", "review_count", Min, COUNT, "5", "Minimum number of approved reviews."),
    bound("min_portfolio", "portfolio_count", Min, COUNT, "10", "Minimum number of startups in the portfolio."),
    param(
        "check_usd",
        ParamType::Number { min: 0, max: MAX_EXACT_INT, filter: |usd| Filter::CheckRange { min: usd, max: usd } },
        "500000",
        "An amount in whole US dollars that the firm's check range contains.",
    ),
    bound("min_aum_usd", "aum_usd", Min, USD, "100000000", "Minimum assets under management in whole US dollars."),
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
    known(Table::Firms, "health_score"),
    unknown(Table::Firms, "aum_usd"),
    sort("-health_score,name"),
];

const REVIEWS: &[Parameter] = &[
    id(Table::Reviews),
    records("vc", Table::Firms, Facet::Firm, "Filter by firm, slug or name (any of)."),
    param(
        "status",
        ParamType::Terms(Terms::of::<ReviewStatus>(), Facet::Status),
        "approved",
        "Filter by review status (any of); rejected reviews are never served.",
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
    known(Table::Reviews, "ghosted"),
    unknown(Table::Reviews, "stage"),
    sort("-rating"),
];

const SECTORS: &[Parameter] = &[
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

const LEADERBOARD: &[Parameter] = &[
    STAGE,
    SECTOR,
    COUNTRY,
    FIRM_KIND,
    param("metric", ParamType::Metric, "responsiveness", "The metric that firms are ranked by."),
];

const STARTUPS: &[Parameter] = &[
    text("Search by a startup's name or alias; tolerates typos, missing words and other spellings."),
    slug(Table::Startups),
    STAGE,
    SECTOR,
    COUNTRY,
    city(Table::Startups, "Filter by city (any of)."),
    param(
        "status",
        ParamType::Terms(Terms::of::<StartupStatus>(), Facet::Status),
        "operating",
        "Filter by status (any of).",
    ),
    records(
        "investor",
        Table::Firms,
        Facet::Investor,
        "Startups that one of these firms has invested in, slug or name.",
    ),
    website(Table::Startups),
    FOUNDED_FROM,
    FOUNDED_TO,
    bound("min_raised_usd", "total_raised_usd", Min, USD, "1000000", "Minimum total raised in whole US dollars."),
    bound("max_raised_usd", "total_raised_usd", Max, USD, "50000000", "Maximum total raised in whole US dollars."),
    bound("last_round_since", "last_round_on", Min, DATE, "2025-01-01", "Last round on or after this date."),
    bound("last_round_until", "last_round_on", Max, DATE, "2025-12-31", "Last round on or before this date."),
    bound("min_rounds", "round_count", Min, COUNT, "2", "Minimum number of known rounds."),
    known(Table::Startups, "total_raised_usd"),
    unknown(Table::Startups, "investor"),
    sort("name"),
];

const ROUNDS: &[Parameter] = &[
    id(Table::Rounds),
    STAGE,
    SECTOR,
    COUNTRY,
    city(Table::Rounds, "Filter by the startup's city (any of)."),
    records("startup", Table::Startups, Facet::Startup, "Rounds of these startups, slug or name."),
    records("investor", Table::Firms, Facet::Investor, "Rounds that one of these firms joined, slug or name."),
    records("lead", Table::Firms, Facet::Lead, "Rounds that one of these firms led, slug or name."),
    param("kind", FIRM_KINDS, "vc,corporate", "Rounds that a firm of one of these kinds joined."),
    bound("since", "announced_on", Min, DATE, "2025-01-01", "Announced on or after this date."),
    bound("until", "announced_on", Max, DATE, "2026-06-30", "Announced on or before this date."),
    bound("min_amount_usd", "amount_usd", Min, USD, "1000000", "Minimum amount raised in whole US dollars."),
    bound("max_amount_usd", "amount_usd", Max, USD, "50000000", "Maximum amount raised in whole US dollars."),
    known(Table::Rounds, "amount_usd,announced_on"),
    unknown(Table::Rounds, "lead"),
    sort("-amount_usd"),
];

const PEOPLE: &[Parameter] = &[
    text("Search by a person's name; tolerates typos, initials, nicknames and other word orders."),
    slug(Table::People),
    param(
        "kind",
        ParamType::Terms(Terms::of::<OrganizationKind>(), Facet::Kind),
        "firm",
        "People of a `firm` or of a `startup`.",
    ),
    param("organization", ParamType::Organizations, "", "People of these firms or startups, slug or name."),
    param("role", ParamType::Terms(Terms::of::<Role>(), Facet::Role), "founder,ceo", "Filter by role (any of)."),
    param(
        "title",
        ParamType::Listed(Table::People, Facet::Title),
        "",
        "Filter by job title: all words of one of these, in any order.",
    ),
    param(
        "country",
        ParamType::Countries,
        "DE,GB",
        "Filter by country, or by that of the organization if the person's is unknown; ISO 3166-1 code or English name \
         (any of).",
    ),
    city(Table::People, "Filter by the city of the organization (any of)."),
    known(Table::People, "title"),
    unknown(Table::People, "country"),
    sort("-name"),
];

const CO_INVESTORS: &[Parameter] =
    &[records("vc", Table::Firms, Facet::Firm, "The firm whose co-investors are listed; set by the path.")];

const MATCH: &[Parameter] = &[
    param("stage", STAGES, "seed", "Stage of the round that the startup raises (any of)."),
    records("sector", Table::Sectors, Facet::Sector, "The startup's sector, slug or name (any of)."),
    param("country", ParamType::Countries, "DE,GB", "The startup's country, ISO 3166-1 code or English name (any of)."),
    // A check is at least a tenth of the round.
    param(
        "raise_usd",
        ParamType::Number {
            min: 1,
            max: MAX_EXACT_INT,
            filter: |raise| Filter::CheckRange { min: raise.div_ceil(10), max: raise },
        },
        "2000000",
        "The amount that the startup raises, in whole US dollars.",
    ),
];

/// The parameters of each list, in the order of [`Resource::ALL`], each followed by those that derive from it.
static PARAMETERS: Lazy<[Vec<Parameter>; Resource::ALL.len()]> = Lazy::new(|| {
    Resource::ALL.map(|resource| {
        let (_, table, rows) = resource.definition();
        let has_derived = !matches!(resource, Resource::CoInvestors | Resource::Match);
        let derived = |row: &Parameter| if has_derived { row.derived(table) } else { Vec::new() };
        rows.iter().flat_map(|row| std::iter::once(*row).chain(derived(row))).collect()
    })
});

impl Resource {
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

    const fn definition(self) -> (&'static str, Table, &'static [Parameter]) {
        match self {
            Self::Firms => ("vcs", Table::Firms, FIRMS),
            Self::Reviews => ("reviews", Table::Reviews, REVIEWS),
            Self::Sectors => ("sectors", Table::Sectors, SECTORS),
            Self::Leaderboard => ("leaderboard", Table::Firms, LEADERBOARD),
            Self::Startups => ("startups", Table::Startups, STARTUPS),
            Self::Rounds => ("funding-rounds", Table::Rounds, ROUNDS),
            Self::People => ("people", Table::People, PEOPLE),
            Self::CoInvestors => ("co-investors", Table::Firms, CO_INVESTORS),
            Self::Match => ("match", Table::Firms, MATCH),
        }
    }

    /// The last segment of its path.
    pub fn path(self) -> &'static str {
        self.definition().0
    }

    /// The table whose rows it lists.
    pub fn table(self) -> Table {
        self.definition().1
    }

    /// Its filters and `sort`, without the parameters of paging and field selection.
    pub fn parameters(self) -> &'static [Parameter] {
        &PARAMETERS[self as usize]
    }

    /// The parameter of this name or alias.
    pub fn parameter(self, name: &str) -> Option<&'static Parameter> {
        self.parameters().iter().find(|parameter| parameter.is_named(name))
    }

    /// Whether it can be searched by name (`q`).
    pub fn is_searchable(self) -> bool {
        self.parameter("q").is_some()
    }
}

impl Catalog {
    /// An example value of a parameter, which finds something in this snapshot.
    pub fn example(&self, resource: Resource, parameter: &Parameter) -> String {
        match parameter.kind {
            ParamType::Text => self.example_name(resource.table()),
            _ => self.example_value(parameter),
        }
    }

    /// The same of a parameter that is no search.
    pub(crate) fn example_value(&self, parameter: &Parameter) -> String {
        match parameter.kind {
            ParamType::Listed(table, facet) => self.example_term(table, facet),
            ParamType::Rows(table) | ParamType::Records(table, _) => self.example_slug(table),
            ParamType::Organizations => self.example_slug(Table::Firms),
            _ => parameter.example.to_owned(),
        }
    }

    /// The slug of the table's first row, the most prominent one; a placeholder if the table is empty.
    pub fn example_slug(&self, table: Table) -> String {
        match self.snapshot().rows(table) {
            0 => format!("some-{}", table.noun().replace(' ', "-")),
            _ => self.snapshot().slug(table, 0).to_owned(),
        }
    }

    /// The name of the table's first row, in lower case.
    pub fn example_name(&self, table: Table) -> String {
        match self.snapshot().rows(table) {
            0 => "name".to_owned(),
            _ => self.snapshot().name(table, 0).to_lowercase(),
        }
    }
}
