//! Errors and warnings about request parameters, with suggestions.

use data::fold::fold;
pub use data::parameter_error::{ParameterError, shortened};
use data::vocabulary::{Vocabulary, normal, with_article};
use data::{Country, Facet, Metric, Table, identifier};
use platform::pause;
use search::{SearchResults, nearest};

use crate::coverage::NotedShare;
use crate::params::{LATEST, ParamType, Parameter};
use crate::{Catalog, NameMatch, Property, Relaxation, Resource};

/// The sort key for the quality of name matches.
pub(crate) const RELEVANCE: &str = "relevance";

/// Maximum number of slugs of records with the same name, in a message and in `accepted`.
const MAX_EXAMPLES: usize = 5;
const MAX_ACCEPTED: usize = 20;

/// Maximum number of suggestions for unknown names and values of one request.
const MAX_SUGGESTIONS: usize = 6;
/// Maximum number of searches by name among them: each costs as much as a list of names with `q`.
const MAX_SEARCHES: usize = 2;

/// Spends one unit of a budget; false if none is left.
fn spend(left: &mut usize) -> bool {
    left.checked_sub(1).map(|rest| *left = rest).is_some()
}

pub fn too_narrow(relaxation: &Relaxation) -> ParameterError {
    let parameter = relaxation.parameter;
    ParameterError { code: "no_match", ..ParameterError::invalid(parameter, relaxation.detail(parameter)) }
}

pub(crate) fn search_warnings(found: &SearchResults) -> Vec<ParameterError> {
    let relaxed = found.is_loose.then(|| {
        let left_out: Vec<String> = found.left_out.iter().map(|word| format!("`{}`", shortened(word))).collect();
        let detail = match left_out.as_slice() {
            [] => "no name surely matches; those found are only similar".to_owned(),
            words => format!("no name has all words; the best match leaves out {}", words.join(", ")),
        };
        ParameterError { code: "relaxed", ..ParameterError::invalid("q", detail) }
    });
    let capped = found.capped.then(|| {
        let detail = "more names may be similar than were compared; use a longer text";
        ParameterError { code: "total_capped", ..ParameterError::invalid("q", detail) }
    });
    relaxed.into_iter().chain(capped).collect()
}

/// The warning for names that are found only by typos or their sound.
pub(crate) fn similar_names_warning(table: Table) -> ParameterError {
    let noun = table.noun();
    let detail =
        format!("no {noun} has a name with these words as they are written; those listed are spelled or sound alike");
    ParameterError::warning("similar", "q", detail)
}

/// The warning for names that have at most half of the words of a text, which is probably no name.
pub(crate) fn partial_names_warning(table: Table, found: &SearchResults, text: &str) -> Option<ParameterError> {
    let words = fold(text).split(' ').count();
    let is_partial = found.is_loose && found.left_out.len() * 2 >= words;
    let noun = table.noun();
    let detail = format!(
        "no {noun} is named so, and those listed have at most half of its words: if it is a question, they do not answer it"
    );
    is_partial.then(|| ParameterError::warning("similar", "q", detail))
}

/// The warning for a text of which `complete` records have all words, and others are listed after them.
pub(crate) fn relaxed_text_warning(complete: usize) -> ParameterError {
    let detail = match complete {
        0 => "no record has all words; those listed have some of them, and are not counted".to_owned(),
        1 => "only the first record has all words; the others have some of them, and are not counted".to_owned(),
        count => {
            format!("only the first {count} records have all words; the others have some of them, and are not counted")
        }
    };
    ParameterError { code: "relaxed", ..ParameterError::invalid("text", detail) }
}

/// A problem with one parameter. Its suggestions cost a search, and are computed only after the quota is charged.
#[derive(Clone, Debug)]
pub enum Issue {
    Invalid(ParameterError),
    UnknownParameter { name: String, accepted: Vec<&'static str> },
    UnknownValue { parameter: &'static Parameter, value: String },
    UnknownSortKey { parameter: &'static str, key: String, resource: Resource },
}

#[derive(Clone, Debug, Default)]
pub struct Issues(pub(crate) Vec<Issue>);

impl Issues {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn report(&self, catalog: &Catalog) -> Vec<ParameterError> {
        let (mut suggestions, mut searches) = (MAX_SUGGESTIONS, MAX_SEARCHES);
        let report = |issue: &Issue| {
            let mut suggest = || spend(&mut suggestions);
            match issue {
                Issue::Invalid(error) => error.clone(),
                Issue::UnknownParameter { name, accepted } => unknown_parameter(name, accepted, suggest()),
                Issue::UnknownValue { parameter, value } => {
                    unknown_value(catalog, parameter, value, suggest(), &mut searches)
                }
                Issue::UnknownSortKey { parameter, key, resource } => unknown_key(parameter, key, *resource, suggest()),
            }
        };
        pause::every(1, &self.0).map(report).collect()
    }

    pub fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }

    /// The value of a result; adds an error to the issues.
    pub fn collect<T>(&mut self, result: Result<T, impl Into<Self>>) -> Option<T> {
        result.map_err(|error| self.extend(error.into())).ok()
    }

    /// Those that would remain with any other release: names of records and places may be known in one and unknown in
    /// another.
    pub fn of_any_release(mut self) -> Self {
        self.0.retain(|issue| match issue {
            Issue::UnknownValue { parameter, .. } => matches!(
                parameter.kind,
                ParamType::Terms(..) | ParamType::Countries | ParamType::Metric | ParamType::Known(..)
            ),
            _ => true,
        });
        self
    }

    pub fn not_accepting(mut self, names: &[&str]) -> Self {
        for issue in &mut self.0 {
            if let Issue::UnknownParameter { accepted, .. } = issue {
                accepted.retain(|name| !names.contains(name));
            }
        }
        self
    }
}

impl FromIterator<Issue> for Issues {
    fn from_iter<I: IntoIterator<Item = Issue>>(issues: I) -> Self {
        Self(issues.into_iter().collect())
    }
}

impl From<Vec<ParameterError>> for Issues {
    fn from(errors: Vec<ParameterError>) -> Self {
        Self(errors.into_iter().map(Issue::Invalid).collect())
    }
}

fn unknown_parameter(name: &str, accepted: &[&str], suggest: bool) -> ParameterError {
    let near = || (nearest(name, accepted.iter().copied().filter(|_| suggest)), "");
    let (suggestion, hint) = known_by_other_name(name, accepted).map_or_else(near, |(known, hint)| (Some(known), hint));
    let detail = format!("unknown parameter `{}`{hint}", shortened(name));
    let did_you_mean = suggestion.map(str::to_owned);
    let accepted = Some(accepted.iter().map(|name| (*name).to_owned()).collect());
    let error = ParameterError::invalid(&shortened(name), detail);
    ParameterError { code: "unknown_parameter", did_you_mean, accepted, ..error }
}

/// Tables of the records that a parameter names, if several records may share a name.
fn tables_of(parameter: &Parameter) -> &'static [Table] {
    match parameter.kind {
        ParamType::Records(Table::Firms, _) => &[Table::Firms],
        ParamType::Records(Table::Startups, _) => &[Table::Startups],
        ParamType::Organizations => &[Table::Firms, Table::Startups],
        _ => &[],
    }
}

/// The error for a name that several records share, none of them as its slug.
fn ambiguous_value(catalog: &Catalog, parameter: &Parameter, value: &str) -> Option<ParameterError> {
    let of_table = |table: &Table| match catalog.match_name(*table, value) {
        NameMatch::Several(rows) => rows.into_iter().map(|row| (*table, row)).collect(),
        _ => Vec::new(),
    };
    let found: Vec<(Table, u32)> = tables_of(parameter).iter().flat_map(of_table).collect();
    if found.is_empty() {
        return None;
    }
    let examples = found.iter().take(MAX_EXAMPLES).map(|(table, row)| catalog.slug_and_size(*table, *row));
    let examples = examples.collect::<Vec<_>>().join(", ");
    let (value, count) = (shortened(value), found.len());
    let detail = format!("`{value}` is ambiguous: {count} records have this name; use a slug: {examples}");
    let slugs = found.iter().take(MAX_ACCEPTED).map(|(table, row)| catalog.snapshot().slug(*table, *row)).collect();
    let error = ParameterError::unknown_value(parameter.name, detail, None, Some(slugs));
    Some(ParameterError { code: "ambiguous_value", ..error })
}

/// The error for the first words or the initials of names: `NEA` for New Enterprise Associates.
fn short_name(catalog: &Catalog, parameter: &Parameter, value: &str) -> Option<ParameterError> {
    let folded = fold(value);
    let of_table = |table: Table| catalog.short_for(table, &folded).into_iter().map(move |row| (table, row));
    let found: Vec<(Table, u32)> = tables_of(parameter).iter().copied().flat_map(of_table).collect();
    may_mean(catalog, parameter, value, "a name", &found)
}

/// The error for a part of the names of sectors: `space` for aerospace and space travel.
fn part_of_sectors(catalog: &Catalog, parameter: &Parameter, value: &str) -> Option<ParameterError> {
    let found = match parameter.kind {
        ParamType::Records(Table::Sectors, _) => catalog.sectors_with(value),
        _ => Vec::new(),
    };
    let found: Vec<(Table, u32)> = found.into_iter().map(|row| (Table::Sectors, row)).collect();
    may_mean(catalog, parameter, value, "a sector", &found)
}

/// `found`: the records that a value may mean, the largest first.
fn may_mean(
    catalog: &Catalog,
    parameter: &Parameter,
    value: &str,
    noun: &str,
    found: &[(Table, u32)],
) -> Option<ParameterError> {
    let slug = |(table, row): &(Table, u32)| catalog.snapshot().slug(*table, *row);
    let listed = found.iter().take(MAX_EXAMPLES).map(|(table, row)| catalog.slug_and_size(*table, *row));
    let listed: Vec<String> = listed.collect();
    let value = shortened(value);
    let detail = format!("`{value}` is not {noun} of this snapshot; it may mean {}", listed.join(", "));
    let accepted = found.iter().take(MAX_ACCEPTED).map(slug).collect();
    let largest = slug(found.first()?).to_owned();
    Some(ParameterError::unknown_value(parameter.name, detail, Some(largest), Some(accepted)))
}

/// `suggest`: look for the nearest value. `searches`: remaining searches for a name.
fn unknown_value(
    catalog: &Catalog,
    parameter: &Parameter,
    value: &str,
    suggest: bool,
    searches: &mut usize,
) -> ParameterError {
    use ParamType::{Bool, Number, Range, Sort, Text, Words};
    if parameter.facet() == Some(Facet::Identifier)
        && let Err(problem) = identifier::normalize_pair(value)
    {
        return ParameterError::unknown_value(parameter.name, format!("`{}` {problem}", shortened(value)), None, None);
    }
    let short = || suggest.then(|| short_name(catalog, parameter, value)).flatten();
    let part = || suggest.then(|| part_of_sectors(catalog, parameter, value)).flatten();
    if let Some(error) = ambiguous_value(catalog, parameter, value).or_else(short).or_else(part) {
        return error;
    }
    let mut nearest_slug = |table: Table| {
        let found = (suggest && spend(searches)).then(|| catalog.nearest_slugs(table, value, 1));
        found.and_then(|slugs| slugs.into_iter().next())
    };
    let (noun, suggestion) = match parameter.kind {
        ParamType::Terms(terms, _) => return unknown_term(parameter.name, value, terms.noun, (terms.names)(), suggest),
        ParamType::Metric => return unknown_term(parameter.name, value, Metric::NOUN, Metric::names(), suggest),
        ParamType::Countries => return unknown_country(parameter.name, value, suggest),
        ParamType::Release => return unknown_release(catalog, parameter.name, value),
        ParamType::Listed(table, facet) => {
            (facet.name(), suggest.then(|| catalog.nearest_term(table, facet, value)).flatten())
        }
        ParamType::Rows(table) => (table.noun(), nearest_slug(table)),
        ParamType::Known(table, _) => {
            let names = Property::all(table).map(|(name, _)| name).collect();
            return unknown_term(parameter.name, value, "property", names, suggest);
        }
        ParamType::Records(Table::Sectors, _) => ("sector", suggest.then(|| catalog.nearest_sector(value)).flatten()),
        ParamType::Records(table, _) | ParamType::Like(table) => (table.noun(), nearest_slug(table)),
        ParamType::Organizations => {
            let slugs: Vec<String> = [Table::Firms, Table::Startups].into_iter().filter_map(nearest_slug).collect();
            let best = nearest(value, slugs.iter().map(String::as_str)).map(str::to_owned);
            ("firm or startup", best.or_else(|| slugs.into_iter().next()))
        }
        Text | Words | Number { .. } | Range { .. } | Bool(_) | Sort => {
            unreachable!("`{}` has no unknown values, only invalid ones", parameter.name)
        }
    };
    let example = suggestion.is_none().then(|| format!("use one such as `{}`", catalog.example_value(parameter)));
    let coverage = match parameter.kind {
        ParamType::Listed(table, facet) => {
            catalog.low_coverage_of(table, Property::Facet(facet), &[], NotedShare::Most)
        }
        _ => None,
    };
    let hints: String = example.into_iter().chain(coverage).map(|hint| format!("; {hint}")).collect();
    let detail = format!("`{}` is not {} of this snapshot{hints}", shortened(value), with_article(noun));
    ParameterError::unknown_value(parameter.name, detail, suggestion, None)
}

pub(crate) fn wrong_term(parameter: &str, value: &str, noun: &str, names: Vec<&'static str>) -> ParameterError {
    unknown_term(parameter, value, noun, names, true)
}

pub(crate) fn unknown_country(parameter: &str, value: &str, suggest: bool) -> ParameterError {
    let country = nearest(value, Country::names().map(|(name, _)| name).filter(|_| suggest)).and_then(Country::read);
    let value = shortened(value);
    let detail = format!("`{value}` is not a country; use an ISO 3166-1 code or English name, such as `DE`");
    ParameterError::unknown_value(parameter, detail, country.map(|country| country.alpha2().to_owned()), None)
}

fn unknown_release(catalog: &Catalog, parameter: &str, value: &str) -> ParameterError {
    let known: Vec<String> =
        catalog.compared_releases().iter().rev().take(MAX_ACCEPTED).map(ToString::to_string).collect();
    let accepted: Vec<&str> = std::iter::once(LATEST).chain(known.iter().map(String::as_str)).collect();
    let value_shown = shortened(value);
    let detail = format!(
        "`{value_shown}` is not a release of which it is known which records it added; use one such as `{LATEST}`"
    );
    let suggestion = nearest(value, known.iter().map(String::as_str)).map(str::to_owned);
    ParameterError::unknown_value(parameter, detail, suggestion, Some(accepted))
}

fn unknown_term(parameter: &str, value: &str, noun: &str, names: Vec<&'static str>, suggest: bool) -> ParameterError {
    let detail = format!("`{}` is not {}", shortened(value), with_article(&noun.replace('_', " ")));
    let suggestion = nearest(value, names.iter().copied().filter(|_| suggest)).map(str::to_owned);
    ParameterError::unknown_value(parameter, detail, suggestion, Some(names))
}

fn unknown_key(parameter: &str, key: &str, resource: Resource, suggest: bool) -> ParameterError {
    let is_searchable = resource.is_searchable();
    let name = key.trim_start_matches(['-', '+']);
    let sign = if key.starts_with('-') { "-" } else { "" };
    let relevance = is_searchable.then_some(RELEVANCE);
    let accepted: Vec<&str> = relevance.into_iter().chain(resource.table().sort_keys().iter().copied()).collect();
    let detail = match normal(name) == RELEVANCE && is_searchable {
        true => format!("`{key}`: `{RELEVANCE}` cannot be reversed; use `sort={RELEVANCE}`"),
        false => format!("`{}` is not a sort key of this list", shortened(key)),
    };
    let suggestion = nearest(name, accepted.iter().copied().filter(|_| suggest));
    let suggestion = suggestion.map(|key| if key == RELEVANCE { key.to_owned() } else { format!("{sign}{key}") });
    ParameterError::unknown_value(parameter, detail, suggestion, Some(accepted))
}

/// Names of other APIs, separated by spaces, the parameters that they mean (the first accepted one), and a hint.
const OTHER_NAMES: &[(&str, &str, &str)] = &[
    (
        "page offset page_number pagenumber skip start from p",
        "cursor",
        "; page through lists with `cursor` (from `pagination.next_cursor`) and `limit`",
    ),
    ("after starting_after next next_cursor nextcursor page_token cursor page offset skip", "cursor page offset", ""),
    ("per_page perpage page_size pagesize size count max_results max rows first take", "limit", ""),
    (
        "order order_by orderby sort_by sortby ordering sorting direction sort_order",
        "sort",
        "; `sort=-name` sorts by a key, descending",
    ),
    ("name keyword keywords term title search query", "q", ""),
    ("industry industries category categories vertical", "sector", ""),
    ("round round_type series funding_stage", "stage", ""),
    ("country_code nation region", "country", ""),
    ("hq headquarters location place town", "city country", "; a place is a `city` or a `country`"),
    ("firm fund investor vc slug", "vc investor organization", ""),
    ("company portfolio_company", "startup organization", ""),
    ("select include columns properties attributes", "fields", ""),
    ("check check_size cheque cheque_size ticket ticket_size amount", "check_usd raise_usd", ""),
    ("score min_score rating", "min_health_score min_rating", ""),
];

fn known_by_other_name<'a>(name: &str, accepted: &[&'a str]) -> Option<(&'a str, &'static str)> {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let mut entries = OTHER_NAMES.iter().filter(|(names, ..)| names.split(' ').any(|known| known == name));
    entries.find_map(|(_, parameters, hint)| {
        let known = parameters.split(' ').find_map(|name| accepted.iter().find(|accepted| **accepted == name))?;
        Some((*known, *hint))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::{FirmKind, OrganizationKind};

    #[test]
    fn nouns_have_their_article() {
        let detail = |noun: &str, names: Vec<&'static str>| unknown_term("kind", "x", noun, names, true).detail;
        assert_eq!(detail(OrganizationKind::NOUN, OrganizationKind::names()), "`x` is not an organization kind");
        assert_eq!(detail(FirmKind::NOUN, FirmKind::names()), "`x` is not a kind");
    }

    #[test]
    fn an_unknown_sort_key_is_reported_as_given_with_a_suggestion() {
        for (key, searchable, suggestion) in [
            ("-relevance", true, Some("relevance")),
            ("--Relevance", true, Some("relevance")),
            ("-relevence", true, Some("relevance")),
            ("-relevance", false, None),
            ("--name", true, Some("-name")),
            ("-+name", true, Some("-name")),
            ("nmae", false, Some("name")),
            ("-healthscore", false, Some("-health_score")),
            ("-", true, None),
        ] {
            let resource = if searchable { Resource::Firms } else { Resource::Leaderboard };
            let error = unknown_key("sort", key, resource, true);
            assert_eq!(error.did_you_mean.as_deref(), suggestion, "{key}");
            assert!(error.detail.starts_with(&format!("`{key}`")), "{}", error.detail);
            let is_explained = error.detail.contains("cannot be reversed");
            assert_eq!(is_explained, searchable && key.to_lowercase().contains("relevance"), "{}", error.detail);
        }
    }

    #[test]
    fn parameter_names_of_other_apis_are_recognized() {
        let v3 = ["q", "stage", "sector", "country", "check_usd", "sort", "limit", "cursor", "fields"];
        for (name, suggestion) in [
            ("page", "cursor"),
            ("offset", "cursor"),
            ("per_page", "limit"),
            ("pageSize", "limit"),
            ("order", "sort"),
            ("order_by", "sort"),
            ("name", "q"),
            ("industry", "sector"),
            ("secotr", "sector"),
            ("check-size", "check_usd"),
        ] {
            let error = unknown_parameter(name, &v3, true);
            assert_eq!(error.did_you_mean.as_deref(), Some(suggestion), "{name}");
        }
        let paging = unknown_parameter("page", &v3, true).detail;
        assert!(paging.contains("`cursor`") && paging.contains("`limit`"), "{paging}");
        let v1 = unknown_parameter("page", &["limit", "offset"], true);
        assert_eq!((v1.did_you_mean.as_deref(), v1.detail.contains("cursor")), (Some("offset"), false));
        let v2 = unknown_parameter("offset", &["limit", "page"], true);
        assert_eq!(v2.did_you_mean.as_deref(), Some("page"));
    }
}
