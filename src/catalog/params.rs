//! The parameters of each list: one row per parameter drives parsing, error messages and the API documents.
//!
//! A new filter of an existing type takes a variant of [`Filter`], its evaluation in `row_filter`, and a row here.

use crate::data::vocabulary::Vocabulary;
use crate::data::{Date, Facet, FirmKind, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table};

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

#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub kind: ParamType,
    /// An example value; empty if it depends on the records of the snapshot, see [`Catalog::example`].
    example: &'static str,
    /// One sentence for the API documents.
    pub doc: &'static str,
}

/// The type of a parameter's values, and the filter that they make.
#[derive(Clone, Copy, Debug)]
pub enum ParamType {
    /// A name to search for, at most [`MAX_TEXT_CHARS`] characters.
    Text,
    /// Terms of a closed vocabulary, combined with OR.
    Terms(Terms, Facet),
    /// Countries by ISO 3166-1 code or English name, combined with OR.
    Countries,
    /// Cities of firms by name, combined with OR.
    Cities,
    /// Records of a table by slug or name, combined with OR.
    Records(Table, Facet),
    /// Firms or startups by slug or name, combined with OR.
    Organizations,
    Number {
        min: u64,
        max: u64,
        filter: fn(u64) -> Filter,
    },
    /// A percentage from 0 to 100; the filter takes tenths.
    Percent(fn(u16) -> Filter),
    Date(fn(Date) -> Filter),
    Bool(fn(bool) -> Filter),
    Metric,
    Sort,
}

/// A closed vocabulary as a value.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    pub noun: &'static str,
    pub names: fn() -> Vec<&'static str>,
    /// The canonical name and the index of the term that a text names.
    pub read: fn(&str) -> Option<(&'static str, u32)>,
}

impl Terms {
    const fn of<V: Vocabulary>() -> Self {
        let read = |text: &str| V::read(text).map(|term| (term.name(), term.index() as u32));
        Self { noun: V::NOUN, names: V::names, read }
    }
}

const fn text(doc: &'static str) -> Parameter {
    Parameter { name: "q", aliases: &["query", "search"], kind: ParamType::Text, example: "", doc }
}

/// Records by slug; the example is a slug of the snapshot.
const fn records(name: &'static str, table: Table, facet: Facet, doc: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind: ParamType::Records(table, facet), example: "", doc }
}

const fn param(name: &'static str, kind: ParamType, example: &'static str, doc: &'static str) -> Parameter {
    Parameter { name, aliases: &[], kind, example, doc }
}

const fn number(min: u64, max: u64, filter: fn(u64) -> Filter) -> ParamType {
    ParamType::Number { min, max, filter }
}

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
const FIRM_KIND: Parameter = param(
    "kind",
    ParamType::Terms(Terms::of::<FirmKind>(), Facet::Kind),
    "vc,corporate",
    "Filter by kind of firm (any of).",
);

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
    STAGE,
    SECTOR,
    COUNTRY,
    param("city", ParamType::Cities, "", "Filter by city (any of)."),
    FIRM_KIND,
    param(
        "min_health_score",
        number(0, 100, |min| Filter::MinHealthScore(min as u8)),
        "60",
        "Minimum health score, 0–100.",
    ),
    param(
        "max_ghosting_rate",
        ParamType::Percent(Filter::MaxGhostingRate),
        "12.5",
        "Maximum ghosting rate in percent.",
    ),
    param(
        "min_reviews",
        number(0, u32::MAX as u64, |min| Filter::MinReviews(min as u32)),
        "5",
        "Minimum number of approved reviews.",
    ),
    param(
        "check_usd",
        number(0, MAX_EXACT_INT, |usd| Filter::CheckRange { min: usd, max: usd }),
        "500000",
        "An amount in whole US dollars that the firm's check range contains.",
    ),
    param("active_since", ParamType::Date(Filter::ActiveSince), "2025-01-01", "Last investment on or after this date."),
    sort("-health_score,name"),
];

const REVIEWS: &[Parameter] = &[
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
    param(
        "min_rating",
        number(1, 5, |min| Filter::AnyOf(Facet::Rating, (min as u32..=5).collect())),
        "4",
        "Minimum rating, 1–5.",
    ),
    sort("-rating"),
];

const SECTORS: &[Parameter] = &[
    text("Search by a sector's name."),
    records("parent", Table::Sectors, Facet::Parent, "Sectors directly below these, slug or name."),
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
    STAGE,
    SECTOR,
    COUNTRY,
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
    sort("name"),
];

const ROUNDS: &[Parameter] = &[
    STAGE,
    SECTOR,
    COUNTRY,
    records("startup", Table::Startups, Facet::Startup, "Rounds of these startups, slug or name."),
    records("investor", Table::Firms, Facet::Investor, "Rounds that one of these firms joined, slug or name."),
    param("since", ParamType::Date(Filter::Since), "2025-01-01", "Announced on or after this date."),
    param("until", ParamType::Date(Filter::Until), "2026-06-30", "Announced on or before this date."),
    param(
        "min_amount_usd",
        number(0, MAX_EXACT_INT, Filter::MinAmountUsd),
        "1000000",
        "Minimum amount raised in whole US dollars.",
    ),
    sort("-amount_usd"),
];

const PEOPLE: &[Parameter] = &[
    text("Search by a person's name; tolerates typos, initials, nicknames and other word orders."),
    param(
        "kind",
        ParamType::Terms(Terms::of::<OrganizationKind>(), Facet::Kind),
        "firm",
        "People of a `firm` or of a `startup`.",
    ),
    param("organization", ParamType::Organizations, "", "People of these firms or startups, slug or name."),
    COUNTRY,
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
        number(1, MAX_EXACT_INT, |raise| Filter::CheckRange { min: raise.div_ceil(10), max: raise }),
        "2000000",
        "The amount that the startup raises, in whole US dollars.",
    ),
];

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
        self.definition().2
    }

    /// The parameter of this name or alias.
    pub fn parameter(self, name: &str) -> Option<&'static Parameter> {
        self.parameters().iter().find(|parameter| parameter.name == name || parameter.aliases.contains(&name))
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
            ParamType::Cities => {
                let city = self.snapshot().city_name(0);
                city.unwrap_or_else(|| "London".to_owned())
            }
            ParamType::Records(table, _) => self.example_slug(table),
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
