//! The parameters of each list: one row per parameter ([`rows`]) drives parsing, error messages, the API documents and the
//! arguments of the tools. A new kind of condition also takes a variant of [`Filter`] and its evaluation in `row_filter`.
//! Parameters that require all of several values (`stage_all`) or exclude values (`not_stage`) are derived from the rows.

mod rows;

use foldhash::HashMap;
use once_cell::sync::Lazy;

use data::vocabulary::{Vocabulary, normal, vocabulary};
use data::{Facet, Table};

use crate::params::rows::{CO_INVESTORS, FIRMS, LEADERBOARD, MATCH, PEOPLE, REVIEWS, ROUNDS, SECTORS, STARTUPS};
use crate::parse::scalars::Bound;
use crate::{Catalog, Filter};

/// Maximum number of values of one parameter; each may cost a look-up by name.
pub const MAX_VALUES: usize = 100;
const MAX_TITLES: usize = 10;
/// Maximum number of parameters of one request, repeated ones counted each time.
pub const MAX_PARAMETERS: usize = 200;
/// The largest integer that JSON readers represent exactly.
pub const MAX_EXACT_INT: u64 = (1 << 53) - 1;
/// The name of the release that answers.
pub const LATEST: &str = "latest";
/// Maximum length of a search text in characters; no name is longer.
pub const MAX_TEXT_CHARS: usize = 200;

vocabulary! {
    Resource, "list", {
        Firms = "vcs",
        Reviews = "reviews",
        Sectors = "sectors",
        Leaderboard = "leaderboard",
        Startups = "startups",
        Rounds = "funding-rounds",
        People = "people",
        CoInvestors = "co-investors",
        Match = "match",
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Any,
    All,
    /// A row has none of the values, and has another one.
    Not,
    /// A condition on the rounds of a startup: one round meets all of these.
    Round,
}

#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub kind: ParamType,
    pub mode: Mode,
    /// An example value, valid with any data; empty if it depends on the records, see [`Catalog::example`].
    pub example: &'static str,
    /// One sentence for the API documents.
    pub doc: &'static str,
}

impl Parameter {
    /// Maximum number of values. It is lower for titles, because their words are searched in all titles.
    pub fn max_values(&self) -> usize {
        match self.kind {
            ParamType::Like(_) => 1,
            _ if self.facet() == Some(Facet::Title) => MAX_TITLES,
            _ => MAX_VALUES,
        }
    }

    /// Name of the parameter that includes any of its values.
    pub(crate) fn included(&self) -> &'static str {
        let included = match self.mode {
            Mode::Any | Mode::Round => None,
            Mode::All => self.name.strip_suffix("_all"),
            Mode::Not => self.name.strip_prefix("not_"),
        };
        included.unwrap_or(self.name)
    }

    /// The table that its condition is on.
    pub fn table(&self, resource: Resource) -> Table {
        if self.mode == Mode::Round { Table::Rounds } else { resource.table() }
    }

    /// The facet of the listed records that it filters by.
    pub(crate) fn facet(&self) -> Option<Facet> {
        self.facet_of_values().filter(|_| self.mode != Mode::Round)
    }

    pub(crate) fn facet_of_values(&self) -> Option<Facet> {
        match self.kind {
            ParamType::Terms(_, facet) | ParamType::Listed(_, facet) | ParamType::Records(_, facet) => Some(facet),
            ParamType::Countries => Some(Facet::Country),
            _ => None,
        }
    }

    /// The derived parameters that require all of its values and that exclude them, if its values can be combined.
    fn derived(&self, table: Table) -> Vec<Self> {
        // A host or an identifier belongs to one record, so it is not a property of several.
        let is_property = |facet: Facet| !matches!(facet, Facet::Website | Facet::Identifier);
        let excludes = self.facet().is_some_and(is_property) || matches!(self.kind, ParamType::Organizations);
        let has_several = matches!(
            (table, self.facet()),
            (Table::Firms, Some(Facet::Stage | Facet::Sector))
                | (Table::Startups, Some(Facet::Sector | Facet::Investor))
                | (Table::Rounds, Some(Facet::Sector | Facet::Investor | Facet::Lead | Facet::Kind))
                | (Table::People, Some(Facet::Role))
        );
        let name = self.name;
        let derived = |mode: Mode, name: String, doc: String| {
            let (name, doc) = (name.leak(), doc.leak());
            Self { name, aliases: &[], mode, doc, ..*self }
        };
        let all = has_several.then(|| {
            derived(Mode::All, format!("{name}_all"), format!("As `{name}`, but all of the values are required."))
        });
        let not = excludes.then(|| {
            let doc = format!("Excludes these values of `{name}`. Rows whose value is unknown do not match either.");
            derived(Mode::Not, format!("not_{name}"), doc)
        });
        all.into_iter().chain(not).collect()
    }
}

#[derive(Clone, Copy, Debug)]
pub enum ParamType {
    /// A name to search for, at most [`MAX_TEXT_CHARS`] characters.
    Text,
    /// Words of descriptions, sectors, places and titles, at most [`MAX_TEXT_CHARS`] characters.
    Words,
    Terms(ClosedVocabulary, Facet),
    /// Countries by ISO 3166-1 code or English name.
    Countries,
    /// Texts of a facet of [`Facet::LISTED`]: cities, job titles by their words, hosts, identifiers as `scheme:value`.
    Listed(Table, Facet),
    /// Records of a table by slug or name.
    Records(Table, Facet),
    /// One record of the list, by slug or name; the list has records like it.
    Like(Table),
    /// Firms or startups by slug or name.
    Organizations,
    /// Rows of the list by slug or id.
    Rows(Table),
    Range {
        key: &'static str,
        bound: Bound,
        unit: BoundUnit,
    },
    Number {
        min: u64,
        max: u64,
        filter: fn(u64) -> Filter,
    },
    Bool(fn(bool) -> Filter),
    /// Names of properties that are known (`true`) or unknown.
    Known(Table, bool),
    Metric,
    /// A release in which records appeared, or [`LATEST`].
    Release,
    Sort,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundUnit {
    Number {
        min: u64,
        max: u64,
    },
    /// A percentage from 0 to 100 with one decimal, stored as tenths.
    Percent,
    /// A day; a year, quarter or month counts as its first or last day.
    Date,
}

#[derive(Clone, Copy, Debug)]
pub struct ClosedVocabulary {
    pub noun: &'static str,
    pub names: fn() -> Vec<&'static str>,
    /// Parses a text to the canonical name and index of its term.
    pub read: fn(&str) -> Option<(&'static str, u32)>,
    /// True if a text means less than the term it names.
    pub is_narrower: fn(&str) -> bool,
}

impl ClosedVocabulary {
    const fn of<V: Vocabulary>() -> Self {
        let read = |text: &str| V::read(text).map(|term| (term.name(), term.index() as u32));
        Self { noun: V::NOUN, names: V::names, read, is_narrower: |text| V::is_narrower(&normal(text)) }
    }
}

/// The parameters of each list, in the order of [`Resource::ALL`], each followed by its derived parameters.
static PARAMETERS: Lazy<Vec<Vec<Parameter>>> = Lazy::new(|| {
    let parameters = |resource: &Resource| -> Vec<Parameter> {
        let (table, rows) = resource.definition();
        let has_derived = !matches!(resource, Resource::CoInvestors | Resource::Match);
        let derived = |row: &Parameter| if has_derived { row.derived(table) } else { Vec::new() };
        rows.iter().flat_map(|row| std::iter::once(*row).chain(derived(row))).collect()
    };
    Resource::ALL.iter().map(parameters).collect()
});

impl Resource {
    const fn definition(self) -> (Table, &'static [Parameter]) {
        match self {
            Self::Firms => (Table::Firms, FIRMS),
            Self::Reviews => (Table::Reviews, REVIEWS),
            Self::Sectors => (Table::Sectors, SECTORS),
            Self::Leaderboard => (Table::Firms, LEADERBOARD),
            Self::Startups => (Table::Startups, STARTUPS),
            Self::Rounds => (Table::Rounds, ROUNDS),
            Self::People => (Table::People, PEOPLE),
            Self::CoInvestors => (Table::Firms, CO_INVESTORS),
            Self::Match => (Table::Firms, MATCH),
        }
    }

    pub fn of_table(table: Table) -> Self {
        let mut lists = Self::ALL.iter().copied();
        lists.find(|resource| resource.table() == table).expect("every table has a list")
    }

    /// Last segment of its path.
    pub fn path(self) -> &'static str {
        self.name()
    }

    pub const fn table(self) -> Table {
        self.definition().0
    }

    /// Its filters and `sort`, without the parameters of paging and field selection.
    pub fn parameters(self) -> &'static [Parameter] {
        &PARAMETERS[self as usize]
    }

    pub fn parameter(self, name: &str) -> Option<&'static Parameter> {
        self.parameters().get(self.place_of(name)?)
    }

    /// The place of a parameter among those of the resource.
    pub(crate) fn place_of(self, name: &str) -> Option<usize> {
        static PLACES: Lazy<HashMap<(Resource, &str), usize>> = Lazy::new(|| {
            let mut places = HashMap::default();
            for resource in Resource::ALL.iter().copied() {
                for (place, parameter) in resource.parameters().iter().enumerate() {
                    let names = std::iter::once(&parameter.name).chain(parameter.aliases);
                    for name in names {
                        places.entry((resource, *name)).or_insert(place);
                    }
                }
            }
            places
        });
        let places: &HashMap<(Self, &str), usize> = &PLACES;
        places.get(&(self, name)).copied()
    }

    /// True if it accepts questions in words ([`Catalog::interpret`]).
    pub fn takes_questions(self) -> bool {
        matches!(self, Self::Firms | Self::Startups | Self::Rounds | Self::People)
    }

    pub fn is_searchable(self) -> bool {
        self.parameter("q").is_some()
    }
}

impl Catalog {
    /// An example value of a parameter that has matches in this snapshot.
    pub fn example(&self, resource: Resource, parameter: &Parameter) -> String {
        match (parameter.kind, resource.table()) {
            (ParamType::Text, table) => self.example_name(table),
            // Words of a title, for others of a sector.
            (ParamType::Words, Table::People) => self.example_term(Table::People, Facet::Title),
            (ParamType::Words, _) => self.example_name(Table::Sectors),
            _ => self.example_value(parameter),
        }
    }

    pub(crate) fn example_value(&self, parameter: &Parameter) -> String {
        match parameter.kind {
            ParamType::Listed(table, facet) => self.example_term(table, facet),
            ParamType::Rows(table) | ParamType::Records(table, _) | ParamType::Like(table) => self.example_slug(table),
            ParamType::Organizations => self.example_slug(Table::Firms),
            _ => parameter.example.to_owned(),
        }
    }

    /// Slug or id of the table's first published row, the most prominent one; a placeholder if there is none.
    pub fn example_slug(&self, table: Table) -> String {
        let first = (0..self.snapshot().rows(table)).find(|row| self.snapshot().is_published(table, *row));
        let placeholder = || format!("some-{}", table.noun().replace(' ', "-"));
        first.map_or_else(placeholder, |row| self.snapshot().slug(table, row).to_owned())
    }

    pub fn example_name(&self, table: Table) -> String {
        if self.snapshot().rows(table) == 0 { "name".to_owned() } else { self.snapshot().name(table, 0).to_lowercase() }
    }
}
