//! Parses named values to a typed query, for all interfaces alike. Strict parsing rejects unknown names and values of a
//! vocabulary; lenient parsing warns. Invalid values are errors in both. Suggestions come after the quota is charged.

mod contradictions;
mod rounds_meant;
pub mod scalars;
mod value_list;
mod values;

use std::borrow::Cow;
use std::ops::Range;
use std::slice;
use std::sync::Arc;

use data::vocabulary::{Vocabulary, normal};
use data::{Direction, Facet, Metric, PartialDate, ReviewStatus, SnapshotVersion, Table};

use crate::coverage::{NotedShare, field_of, is_last_investment, markets_of};
use crate::json::fields::snake_case;
use crate::param_error::{Issue, Issues, ParameterError, RELEVANCE, shortened};
use crate::params::{BoundUnit, LATEST, MAX_PARAMETERS, MAX_TEXT_CHARS, Mode, ParamType, Parameter};
use crate::parse::scalars::{Bound, parse_amount, parse_bool, parse_date, parse_percent};
use crate::{Catalog, Filter, LeaderboardQuery, MatchQuery, Order, Property, Query, Ranking, Resource};

#[derive(Clone, Copy, Debug)]
pub struct ParseOptions {
    /// True if unknown parameters and values are errors instead of warnings.
    pub strict: bool,
    /// Review statuses that are listed without the parameter `status`; an exclusion applies to these.
    pub review_statuses: &'static [ReviewStatus],
    /// Names of parameters that the caller parses itself, such as those of paging.
    pub other_names: &'static [&'static str],
}

impl ParseOptions {
    /// Canonical default value of a parameter; `None` if it has no default condition.
    pub fn default_of(self, resource: Resource, name: &str, has_text: bool) -> Option<String> {
        match name {
            "sort" if has_text => Some(RELEVANCE.to_owned()),
            "sort" => Some(resource.table().default_sort().to_owned()),
            "metric" => Some(Metric::HealthScore.name().to_owned()),
            "status" if resource == Resource::Reviews => {
                let mut names: Vec<&str> = self.review_statuses.iter().map(|status| status.name()).collect();
                names.sort_unstable();
                Some(names.join(","))
            }
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    List(Query),
    Leaderboard(LeaderboardQuery),
    CoInvestors(u32),
    Match(MatchQuery),
}

#[derive(Clone, Debug)]
pub struct ParsedRequest {
    pub request: Request,
    /// The request in canonical names and values. All spellings of a request share it.
    pub canonical: Vec<(&'static str, String)>,
    pub warnings: Issues,
    pub notes: Vec<ParameterError>,
}

/// The values of one parameter, each with the name under which it was given.
type NamedValues<'v> = [(&'v str, &'v str)];

struct ParamParser<'a> {
    catalog: &'a Catalog,
    resource: Resource,
    options: ParseOptions,
    filters: Vec<Filter>,
    text: Option<String>,
    metric: Option<Metric>,
    order: Option<Order>,
    /// The given parameters, each with the range of its filters.
    conditions: Vec<(&'static Parameter, Range<usize>)>,
    /// Given sort keys.
    sorted_by: Vec<usize>,
    canonical: Vec<(&'static str, String)>,
    errors: Vec<Issue>,
    warnings: Vec<Issue>,
    notes: Vec<ParameterError>,
    /// Notes on how many of the rounds have known investors.
    notes_on_investors: Vec<ParameterError>,
}

impl Catalog {
    /// Parses named values as a request for `resource`. The error lists everything that is wrong with them.
    pub fn parse(
        &self,
        resource: Resource,
        values: &[(String, String)],
        options: ParseOptions,
    ) -> Result<ParsedRequest, Issues> {
        self.read_values(resource, values, options).finish()
    }

    /// True if a request for `resource` may have these values. It costs less than [`Catalog::parse`], which adds notes.
    pub(crate) fn accepts(&self, resource: Resource, values: &[(String, String)], options: ParseOptions) -> bool {
        let parser = self.read_values(resource, values, options);
        parser.errors.is_empty() && parser.contradictions().is_empty()
    }

    fn read_values(&self, resource: Resource, values: &[(String, String)], options: ParseOptions) -> ParamParser<'_> {
        let mut parser = ParamParser {
            catalog: self,
            resource,
            options,
            filters: Vec::new(),
            text: None,
            metric: None,
            order: None,
            conditions: Vec::new(),
            sorted_by: Vec::new(),
            canonical: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            notes_on_investors: Vec::new(),
        };
        let parameters = resource.parameters();
        let mut given: Vec<(usize, &str, &str)> = Vec::with_capacity(values.len());
        for (place, (name, value)) in values.iter().enumerate() {
            if let Some(parameter) = resource.place_of(name) {
                given.push((parameter, name.as_str(), value.trim()));
                continue;
            }
            let is_other = options.other_names.contains(&name.as_str()) || is_ignored(name);
            // Further parameters are not reported.
            if !is_other && place < MAX_PARAMETERS {
                let own = resource.parameters().iter().map(|parameter| parameter.name);
                let others = options.other_names.iter().filter(|name| resource.parameter(name).is_none());
                let accepted = own.chain(others.copied()).collect();
                parser.unknown(Issue::UnknownParameter { name: name.clone(), accepted });
            }
        }
        // In the order of the parameters, and the values of one as they were given.
        given.sort_by_key(|(parameter, ..)| *parameter);
        for named in given.chunk_by(|one, other| one.0 == other.0) {
            let parameter = &parameters[named[0].0];
            let is_empty = |value: &str| match parameter.kind {
                ParamType::Text | ParamType::Words => value.is_empty(),
                _ => is_empty_list(value),
            };
            let named = named.iter().map(|(_, name, value)| (*name, *value));
            let values: Vec<(&str, &str)> = named.filter(|(_, value)| !is_empty(value)).collect();
            if !values.is_empty() {
                let before = parser.filters.len();
                parser.parse_parameter(parameter, &values);
                parser.conditions.push((parameter, before..parser.filters.len()));
            }
        }
        parser
    }
}

/// True if a value has no list items: nothing but commas counts as an empty text.
pub fn is_empty_list(value: &str) -> bool {
    value.split(',').all(|part| part.trim().is_empty())
}

/// True if a parameter is ignored in every request: cache busters and campaign tags.
pub fn is_ignored(name: &str) -> bool {
    name == "_" || name.starts_with("utm_")
}

impl ParamParser<'_> {
    /// Records an unknown name or value: an error in strict parsing, otherwise a warning.
    fn unknown(&mut self, issue: Issue) {
        if self.options.strict { self.errors.push(issue) } else { self.warnings.push(issue) }
    }

    fn invalid(&mut self, name: &str, detail: String) {
        self.errors.push(Issue::Invalid(ParameterError::invalid(name, detail)));
    }

    /// The notes on coverage. They count records, and are those of each further request with the same conditions and order.
    fn coverage_notes(&mut self) -> Arc<[ParameterError]> {
        let (catalog, resource) = (self.catalog, self.resource);
        let of_search = |(name, _): &&(&str, String)| *name != "q";
        let key = (resource, self.canonical.iter().filter(of_search).cloned().collect::<Vec<_>>());
        let mut compute = || -> Arc<[ParameterError]> {
            let before = std::mem::take(&mut self.notes);
            self.note_rounds_meant();
            self.note_coverage();
            self.note_uncovered_years();
            self.note_uncovered_founding();
            self.notes.append(&mut self.notes_on_investors);
            std::mem::replace(&mut self.notes, before).into()
        };
        // Which reviews are listed depends on who asks.
        if resource == Resource::Reviews { compute() } else { catalog.cached.notes.get_or_insert_with(key, compute) }
    }

    /// Adds notes on fields that are unknown for some of the records that the other conditions leave.
    fn note_coverage(&mut self) {
        if self.resource == Resource::Match {
            return self.note_known_investors();
        }
        let table = self.resource.table();
        let mut notes: Vec<(&str, String)> = Vec::new();
        let status = self.default_statuses();
        for (parameter, own) in std::mem::take(&mut self.conditions) {
            // All filters of one parameter use the same field.
            let Some(filter) = self.filters[own.clone()].first() else { continue };
            let absent = match (filter, parameter.kind) {
                (Filter::AnyOf(facet, values), ParamType::Terms(..)) => {
                    self.catalog.absent_values(table, *facet, values)
                }
                _ => None,
            };
            let places = (0..).zip(&self.filters).filter(|(place, _)| !own.contains(place));
            let others: Vec<Filter> = places.map(|(_, filter)| filter.clone()).chain(status.clone()).collect();
            let low = || match filter {
                Filter::HasRound(filters) => self.catalog.low_coverage_of_rounds(parameter.name, filters, &others),
                filter => self.catalog.low_coverage(table, parameter.name, filter, &others),
            };
            let detail = absent.or_else(low);
            let note = detail.map(|detail| ParameterError::warning("low_coverage", parameter.name, detail));
            let reads_investors = table == Table::Rounds && field_of(table, slice::from_ref(filter)).is_some();
            let notes = if reads_investors { &mut self.notes_on_investors } else { &mut self.notes };
            // Conditions on the investors and on their kind have the same rounds.
            notes.extend(note.filter(|note| notes.iter().all(|known| known.detail != note.detail)));
        }
        if self.resource == Resource::People {
            let is_named = |filter: &Filter| matches!(filter, Filter::MemberOf { .. } | Filter::Rows(_));
            let is_listed = self.filters.is_empty() || self.filters.iter().any(is_named);
            let detail = if is_listed { None } else { self.catalog.note_on_people(&self.filters) };
            notes.extend(detail.map(|detail| ("organization", detail)));
        }
        if self.resource == Resource::Rounds {
            let detail = self.catalog.investors_of_startups(&self.filters);
            self.notes_on_investors
                .extend(detail.map(|detail| ParameterError::warning("low_coverage", "startup", detail)));
        }
        for key in std::mem::take(&mut self.sorted_by) {
            // Suspect amounts have an order of their own.
            let is_of_suspect = self.filters.contains(&Filter::Suspect(true)) && table.sort_keys()[key] == "amount_usd";
            let of_key = || self.catalog.low_coverage_of(table, Property::Key(key), &self.filters, NotedShare::Some);
            let of_key = if is_of_suspect { None } else { of_key() };
            let is_activity = table == Table::Firms && is_last_investment(key);
            let until = if is_activity { self.catalog.investors_until() } else { None };
            notes.extend(of_key.into_iter().chain(until).map(|detail| ("sort", detail)));
        }
        let is_activity = self.resource == Resource::Leaderboard && self.metric == Some(Metric::Activity);
        let until = if is_activity { self.catalog.investors_until() } else { None };
        notes.extend(until.map(|detail| ("metric", detail)));
        let note = |(name, detail)| ParameterError::warning("low_coverage", name, detail);
        self.notes.extend(notes.into_iter().map(note));
    }

    /// Notes on a match: it counts rounds with known investors and amounts, of which there may be few.
    fn note_known_investors(&mut self) {
        for (parameter, own) in std::mem::take(&mut self.conditions) {
            let filter = self.filters[own].first();
            let (property, others) = match filter {
                Some(Filter::AnyOf(Facet::Sector | Facet::Country, _)) => (Property::Facet(Facet::Investor), filter),
                Some(Filter::CheckRange { .. }) => (Property::Key(Table::Rounds.sort_key("amount_usd")), None),
                _ => continue,
            };
            let others = others.map_or(&[][..], slice::from_ref);
            let detail = self.catalog.low_coverage_of(Table::Rounds, property, others, NotedShare::Most);
            self.notes.extend(detail.map(|detail| ParameterError::warning("low_coverage", parameter.name, detail)));
        }
    }

    fn note_uncovered_years(&mut self) {
        let table = self.resource.table();
        if !matches!(self.resource, Resource::Firms | Resource::Startups | Resource::Rounds) {
            return;
        }
        let date = self.canonical.iter().find_map(|(name, _)| {
            let parameter = self.resource.parameter(name)?;
            match parameter.kind {
                ParamType::Range { key, unit: BoundUnit::Date, .. } => Some((parameter, key)),
                _ => None,
            }
        });
        let Some((parameter, key)) = date else { return };
        let (name, (min, max)) = (parameter.name, self.bounds_of(parameter, key));
        let investors = if table == Table::Firms { self.catalog.investors_of_period(min, max) } else { None };
        let day = |code: i64| i32::try_from(code).ok().map(PartialDate::day_of_code);
        let period = (day(min), day(max));
        let (field, markets) = (field_of(table, &self.filters), markets_of(table, &self.filters));
        let note = |detail: String| ParameterError::warning("low_coverage", name, detail);
        self.notes_on_investors.extend(investors.map(note));
        let uncovered = self.catalog.uncovered_period(period, field, &markets);
        match (uncovered, self.notes_on_investors.last_mut()) {
            // One note on investors says how many are known, and why.
            (Some(uncovered), Some(known)) => known.detail += &uncovered.clause(),
            (Some(uncovered), None) => self.notes.push(note(uncovered.sentence())),
            (None, _) => {}
        }
        self.notes.extend(self.catalog.too_short_period(period).map(note));
    }

    /// A note on founding years after those that the data covers.
    fn note_uncovered_founding(&mut self) {
        let given = |name: &str| self.canonical.iter().any(|(known, _)| *known == name);
        let lower = self.resource.parameter("founded_from").filter(|lower| given(lower.name));
        let Some(lower) = lower.filter(|_| self.resource == Resource::Startups) else { return };
        let (min, max) = self.bounds_of(lower, "founded_year");
        let year = |bound: i64| i32::try_from(bound).ok();
        let markets = markets_of(Table::Startups, &self.filters);
        let detail = year(min).and_then(|min| self.catalog.uncovered_founding(min, year(max), &markets));
        self.notes.extend(detail.map(|detail| ParameterError::warning("low_coverage", lower.name, detail)));
    }

    fn parse_parameter(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        match parameter.kind {
            ParamType::Terms(terms, _) => self.terms(parameter, terms, values),
            ParamType::Countries => self.countries(parameter, values),
            ParamType::Listed(_, facet) => self.listed(parameter, facet, values),
            ParamType::Rows(_) => self.rows(parameter, values),
            ParamType::Known(_, known) => self.known(parameter, known, values),
            ParamType::Records(table, _) | ParamType::Like(table) => self.records(parameter, table, values),
            ParamType::Organizations => self.organizations(parameter, values),
            ParamType::Sort => self.sort(parameter, values),
            _ => match values.iter().find(|(_, value)| *value != values[0].1) {
                Some((name, _)) => self.invalid(name, format!("`{name}` takes one value, several are given")),
                None => self.read_single(parameter, values[0]),
            },
        }
    }

    fn read_single(&mut self, parameter: &'static Parameter, (name, text): (&str, &str)) {
        if matches!(parameter.kind, ParamType::Metric) {
            self.metric = Metric::read(text);
            return match self.metric {
                Some(metric) => self.canonical.push((parameter.name, metric.name().to_owned())),
                None => self.unknown(Issue::UnknownValue { parameter, value: text.to_owned() }),
            };
        }
        if matches!(parameter.kind, ParamType::Release) {
            return self.first_seen(parameter, text);
        }
        match single_condition(parameter, parameter.table(self.resource), text) {
            Ok((filter, canonical)) => {
                match filter {
                    Some(filter) if parameter.mode == Mode::Round => self.filters.push(Filter::HasRound(vec![filter])),
                    Some(filter) => self.filters.push(filter),
                    None => self.text = Some(canonical.clone()),
                }
                self.canonical.push((parameter.name, canonical));
            }
            Err(detail) => self.invalid(name, detail),
        }
    }

    /// Records that a release added. It is unknown which these are of a release that was not compared with an earlier one.
    fn first_seen(&mut self, parameter: &'static Parameter, text: &str) {
        let (catalog, table) = (self.catalog, self.resource.table());
        let is_latest = normal(text) == LATEST;
        let release = if is_latest { Some(catalog.version()) } else { text.parse::<SnapshotVersion>().ok() };
        let releases = catalog.compared_releases();
        match release.filter(|release| is_latest || releases.contains(release)) {
            None => self.unknown(Issue::UnknownValue { parameter, value: text.to_owned() }),
            Some(release) => {
                self.filters.push(Filter::Rows(catalog.first_seen_in(table, release).collect()));
                self.canonical.push((parameter.name, release.to_string()));
                if !releases.contains(&release) {
                    let detail = format!(
                        "release {release} was not compared with an earlier one, so it is unknown which records it added"
                    );
                    self.notes.push(ParameterError::warning("low_coverage", parameter.name, detail));
                }
            }
        }
    }

    fn sort(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        let table = self.resource.table();
        let mut keys: Vec<(usize, Direction)> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut relevance = false;
        let parts = values.iter().flat_map(|(_, text)| text.split(','));
        for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
            let (direction, name) = match part.strip_prefix('-') {
                Some(name) => (Direction::Descending, name),
                None => (Direction::Ascending, part.strip_prefix('+').unwrap_or(part)),
            };
            // Fields may be written in camelCase, and so may sort keys of the same names.
            let camel = Some(snake_case(name)).filter(|key| self.options.strict && table.sort_keys().contains(&&**key));
            let name = camel.map_or_else(|| normal(name).replace('-', "_"), Cow::into_owned);
            if self.resource.is_searchable() && name == RELEVANCE && direction == Direction::Ascending {
                relevance = true;
                continue;
            }
            match table.sort_keys().iter().position(|key| *key == name) {
                Some(key) if keys.contains(&(key, direction)) => {}
                Some(key) if keys.iter().any(|(known, _)| *known == key) => {
                    let detail = format!("`{name}` is given in both directions; keep one, such as `sort=-{name}`");
                    self.unknown(Issue::Invalid(ParameterError::invalid(parameter.name, detail)));
                }
                Some(key) => {
                    self.sorted_by.push(key);
                    keys.push((key, direction));
                    names.push(if direction == Direction::Descending { format!("-{name}") } else { name });
                }
                None => {
                    let resource = self.resource;
                    self.unknown(Issue::UnknownSortKey { parameter: parameter.name, key: part.to_owned(), resource });
                }
            }
        }
        if relevance && !keys.is_empty() {
            let detail = "`relevance` cannot be combined with other sort keys; use `sort=relevance` or omit it";
            return self.invalid(parameter.name, detail.to_owned());
        }
        let canonical = if relevance { RELEVANCE.to_owned() } else { names.join(",") };
        self.order = match canonical.as_str() {
            RELEVANCE => Some(Order::Relevance),
            text if text == table.default_sort() => {
                // Without `sort` the order is the same, and has no note.
                self.sorted_by.clear();
                Some(Order::Natural)
            }
            "" => return,
            _ => Some(Order::Keys(keys)),
        };
        self.canonical.push((parameter.name, canonical));
    }

    fn finish(mut self) -> Result<ParsedRequest, Issues> {
        self.contradictions().into_iter().for_each(|issue| self.unknown(issue));
        if self.errors.is_empty() {
            let known: Vec<ParameterError> = self.coverage_notes().to_vec();
            let is_new = |note: &ParameterError| self.notes.iter().all(|known| known.detail != note.detail);
            let new: Vec<ParameterError> = known.into_iter().filter(is_new).collect();
            self.notes.extend(new);
        }
        self.note_excluded_statuses();
        let request = match self.resource {
            Resource::Leaderboard => Request::Leaderboard(LeaderboardQuery {
                metric: self.metric.unwrap_or(Metric::HealthScore),
                filters: std::mem::take(&mut self.filters),
            }),
            Resource::CoInvestors => match self.filters.as_slice() {
                [Filter::AnyOf(Facet::Firm, rows)] if rows.len() == 1 => Request::CoInvestors(rows[0]),
                _ => {
                    if self.errors.is_empty() {
                        self.invalid("vc", "`vc` must name exactly one firm".to_owned());
                    }
                    return Err(Issues(self.errors));
                }
            },
            Resource::Match => Request::Match(MatchQuery::from_filters(self.catalog, &self.filters)),
            _ => Request::List(self.query()),
        };
        if !self.errors.is_empty() {
            return Err(Issues(self.errors));
        }
        Ok(ParsedRequest { request, canonical: self.canonical, warnings: Issues(self.warnings), notes: self.notes })
    }

    /// Adds a note if an exclusion leaves no status of those listed without `status`.
    fn note_excluded_statuses(&mut self) {
        let Some(Filter::AnyOf(_, listed)) = self.default_statuses() else { return };
        let is_all = |filter: &Filter| match filter {
            Filter::Not(excluded) => matches!(&**excluded, Filter::AnyOf(Facet::Status, values)
                if listed.iter().all(|status| values.contains(status))),
            _ => false,
        };
        if !listed.is_empty() && self.filters.iter().any(is_all) {
            let default = self.options.default_of(self.resource, "status", false).unwrap_or_default();
            let detail = format!(
                "without `status` only {default} reviews are listed, which `not_status` excludes; name with `status` those \
                 to list"
            );
            self.notes.push(ParameterError::warning("no_match", "not_status", detail));
        }
    }

    /// The condition on the status of reviews, unless the request names reviews itself.
    fn default_statuses(&self) -> Option<Filter> {
        let is_status = |filter: &Filter| matches!(filter, Filter::AnyOf(Facet::Status, _));
        let has_default = self.resource == Resource::Reviews && !self.filters.iter().any(is_status);
        let statuses = self.options.review_statuses.iter().map(|status| status.index() as u32);
        has_default.then(|| Filter::AnyOf(Facet::Status, statuses.collect()))
    }

    fn query(&mut self) -> Query {
        self.filters.extend(self.default_statuses());
        self.join_active_bounds();
        self.join_conditions_on_rounds();
        let filters = std::mem::take(&mut self.filters);
        let mut query = Query { text: self.text.take(), filters, ..Query::all(self.resource.table()) };
        query.order = match self.order.take() {
            // Without anything to match there is no relevance; then the table's own order is the default.
            Some(Order::Relevance) | None if query.is_ranked() => Order::Relevance,
            Some(Order::Relevance) | None => Order::Natural,
            Some(order) => order,
        };
        query
    }

    /// A firm active in 2012 has a round of that year, even if its last round is later: both bounds are one filter.
    fn join_active_bounds(&mut self) {
        if self.resource != Resource::Firms {
            return;
        }
        let active = Table::Firms.sort_key("last_investment_on");
        let is_bound = |filter: &Filter| matches!(filter, Filter::Range { key, .. } if *key == active);
        let bounds: Vec<Filter> = self.filters.extract_if(.., |filter| is_bound(filter)).collect();
        self.filters.extend(match bounds.as_slice() {
            [Filter::Range { min: low, max: high, .. }, Filter::Range { min, max, .. }] => {
                let (min, max) = (*low.max(min), *high.min(max));
                vec![Filter::HasRound(vec![Filter::Range { key: Table::Rounds.sort_key("announced_on"), min, max }])]
            }
            _ => bounds,
        });
    }

    /// One round meets the conditions on its stage and on its date together.
    fn join_conditions_on_rounds(&mut self) {
        let is_of_rounds = |filter: &mut Filter| matches!(filter, Filter::HasRound(_));
        let of_rounds: Vec<Filter> = self.filters.extract_if(.., is_of_rounds).collect();
        if !of_rounds.is_empty() {
            let filters = of_rounds.into_iter().flat_map(|filter| match filter {
                Filter::HasRound(filters) => filters,
                filter => vec![filter],
            });
            self.filters.push(Filter::HasRound(filters.collect()));
        }
    }
}

/// The filter of a single value, and the value's canonical text. A name to search for is no filter.
fn single_condition(parameter: &Parameter, table: Table, text: &str) -> Result<(Option<Filter>, String), String> {
    let integer = |min: u64, max: u64| {
        parse_amount(text).filter(|number| (min..=max).contains(number)).ok_or_else(|| {
            let (text, example) = (shortened(text), parameter.example);
            let short = if parameter.name.ends_with("_usd") { ", 500k or $1.5m" } else { "" };
            format!("`{text}` is not an integer from {min} to {max}, such as {example}{short}")
        })
    };
    let (filter, canonical) = match parameter.kind {
        ParamType::Text | ParamType::Words if text.chars().count() > MAX_TEXT_CHARS => {
            let chars = text.chars().count();
            return Err(format!("the search text has {chars} characters; the maximum is {MAX_TEXT_CHARS}"));
        }
        ParamType::Text => return Ok((None, text.to_owned())),
        ParamType::Words => (Filter::Ranked(Ranking::Described(text.to_owned())), text.to_owned()),
        ParamType::Number { min, max, filter } => {
            let number = integer(min, max)?;
            (filter(number), number.to_string())
        }
        ParamType::Bool(filter) => {
            let value =
                parse_bool(text).ok_or_else(|| format!("`{}` is neither `true` nor `false`", shortened(text)))?;
            (filter(value), value.to_string())
        }
        ParamType::Range { key, bound, unit } => {
            let (value, canonical) = match unit {
                BoundUnit::Number { min, max } => {
                    let number = integer(min, max)?;
                    (i64::try_from(number).unwrap_or(i64::MAX), number.to_string())
                }
                BoundUnit::Percent => {
                    let tenths = parse_percent(text).ok_or_else(|| {
                        format!("`{}` is not a percentage from 0 to 100, such as 12.5", shortened(text))
                    })?;
                    (i64::from(tenths), format!("{}.{}", tenths / 10, tenths % 10))
                }
                BoundUnit::Date => {
                    let day = parse_date(text, bound).map_err(|detail| format!("`{}` {detail}", shortened(text)))?;
                    let code = match bound {
                        Bound::Min => PartialDate::first_code(day),
                        Bound::Max => PartialDate::last_code(day),
                    };
                    (i64::from(code), day.to_string())
                }
            };
            let (min, max) = if bound == Bound::Min { (value, i64::MAX) } else { (i64::MIN, value) };
            (Filter::Range { key: table.sort_key(key), min, max }, canonical)
        }
        _ => unreachable!("parameters with several values are parsed elsewhere"),
    };
    Ok((Some(filter), canonical))
}
