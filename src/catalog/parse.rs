//! From named values to a typed query: the one door for REST parameters and tool arguments.
//!
//! Every problem is told with the nearest value that would have worked. Under lenient rules an unknown parameter or an
//! unknown value of a vocabulary becomes a warning; what is no value at all (a date that is none) is refused under both.

pub mod values;

use std::cell::Cell;

use crate::data::vocabulary::{Vocabulary, normal};
use crate::data::{
    Date, Direction, Facet, FirmKind, Metric, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table,
};

use crate::catalog::ParameterError;
use crate::catalog::Resource;
use crate::catalog::param_error::{RELEVANCE, unknown_key, unknown_word};
use crate::catalog::param_schema::{LONGEST_TEXT, MOST_PARAMETERS};
use crate::catalog::params::{ParamType, Parameter};
use crate::catalog::{Catalog, Filter, LeaderboardQuery, MatchQuery, Order, Query};

/// How strictly names and values are taken, and what else a request may name.
#[derive(Clone, Copy, Debug)]
pub struct ParseOptions<'a> {
    /// Unknown parameters and values are refused, not warned of.
    pub strict: bool,
    /// States of reviews that are listed where none is asked for.
    pub review_statuses: &'a [ReviewStatus],
    /// Further parameter names that the caller reads itself (paging, fields); skipped here.
    pub others: &'a [&'a str],
}

/// A list that was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Rows of a table.
    List(Query),
    /// The leaderboard.
    Board(LeaderboardQuery),
    /// The co-investors of a firm.
    CoInvestors(u32),
    /// The firms that fit a startup.
    Match(MatchQuery),
}

/// A request that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedRequest {
    /// What to answer.
    pub request: Request,
    /// The same in canonical names and values: what a cursor carries.
    pub canonical: Vec<(&'static str, String)>,
    /// What was not understood and left out, under lenient rules.
    pub warnings: Vec<ParameterError>,
}

/// Values of a parameter that were understood: canonical texts with what they stand for.
type Values = Vec<Value>;

/// A canonical text with what it stands for: a place in a vocabulary, or a row.
type Value = (String, u32);

struct ParamParser<'a> {
    catalog: &'a Catalog,
    /// How often the nearest record was looked for.
    sought: Cell<usize>,
    rules: ParseOptions<'a>,
    clauses: Vec<Filter>,
    text: Option<String>,
    metric: Option<Metric>,
    raise_usd: Option<u64>,
    order: Option<Order>,
    canonical: Vec<(&'static str, String)>,
    errors: Vec<ParameterError>,
    warnings: Vec<ParameterError>,
}

impl Catalog {
    /// Understands named values as a request for `resource`.
    ///
    /// # Errors
    /// Everything that is wrong with the values.
    pub fn ask(
        &self,
        resource: Resource,
        values: &[(String, String)],
        rules: ParseOptions<'_>,
    ) -> Result<ParsedRequest, Vec<ParameterError>> {
        let mut reader = ParamParser {
            catalog: self,
            sought: Cell::new(0),
            rules,
            clauses: Vec::new(),
            text: None,
            metric: None,
            raise_usd: None,
            order: None,
            canonical: Vec::new(),
            errors: Vec::new(),
            warnings: Vec::new(),
        };
        for (name, _) in values.iter().take(MOST_PARAMETERS) {
            let known = resource.parameter(name).is_some() || rules.others.contains(&name.as_str());
            let ignored = name == "_" || name.starts_with("utm_");
            if !known && !ignored {
                let own = resource.parameters().iter().map(|parameter| parameter.name);
                let accepted: Vec<&str> = own.chain(rules.others.iter().copied()).collect();
                reader.complain(ParameterError::unknown_parameter(name, &accepted));
            }
        }
        for parameter in resource.parameters() {
            let given =
                values.iter().filter(|(name, _)| name == parameter.name || parameter.aliases.contains(&name.as_str()));
            // A list of nothing but commas is as empty as no text.
            let is_empty = |value: &str| match parameter.kind {
                ParamType::Text => value.is_empty(),
                _ => value.split(',').all(|part| part.trim().is_empty()),
            };
            let given: Vec<(&str, &str)> = given
                .map(|(name, value)| (name.as_str(), value.trim()))
                .filter(|(_, value)| !is_empty(value))
                .collect();
            if !given.is_empty() {
                reader.read(resource, parameter, &given);
            }
        }
        reader.finish(resource)
    }
}

impl ParamParser<'_> {
    /// Takes up what is unknown: an error under strict rules, else a warning.
    fn complain(&mut self, error: ParameterError) {
        if self.rules.strict {
            self.errors.push(error);
        } else {
            self.warnings.push(error);
        }
    }

    fn read(&mut self, resource: Resource, parameter: &'static Parameter, given: &[(&str, &str)]) {
        match parameter.kind {
            ParamType::Text => {
                if let Some((name, text)) = self.single(given) {
                    let length = text.chars().count();
                    if length > LONGEST_TEXT {
                        let detail = format!("a name has at most {LONGEST_TEXT} characters, {length} are given");
                        return self.invalid(name, detail);
                    }
                    self.text = Some(text.to_owned());
                    self.canonical.push((parameter.name, text.to_owned()));
                }
            }
            ParamType::Stages => self.words::<Stage>(parameter, Facet::Stage, given),
            ParamType::FirmKinds => self.words::<FirmKind>(parameter, Facet::Kind, given),
            ParamType::StartupStatuses => self.words::<StartupStatus>(parameter, Facet::Status, given),
            ParamType::ReviewStatuses => self.words::<ReviewStatus>(parameter, Facet::Status, given),
            ParamType::OrganizationKinds => self.words::<OrganizationKind>(parameter, Facet::Kind, given),
            ParamType::Sectors(facet) => self.sectors(parameter, facet, given),
            ParamType::Countries => self.countries(parameter, given),
            ParamType::Cities => self.cities(parameter, given),
            ParamType::Firms(facet) => {
                let values = self.rows(parameter, Table::Firms, given);
                self.any_of(parameter, facet, values);
            }
            ParamType::Startups(facet) => {
                let values = self.rows(parameter, Table::Startups, given);
                self.any_of(parameter, facet, values);
            }
            ParamType::Organizations => self.organizations(parameter, given),
            ParamType::MinHealthScore => {
                let least = self.number(parameter, given);
                self.clauses.extend(least.map(|least| Filter::MinHealthScore(least.min(100) as u8)));
            }
            ParamType::MinReviews => {
                let least = self.number(parameter, given);
                self.clauses.extend(least.map(|least| Filter::MinReviews(least as u32)));
            }
            ParamType::CheckUsd => {
                let usd = self.number(parameter, given);
                self.clauses.extend(usd.map(Filter::CheckUsd));
            }
            ParamType::MinAmountUsd => {
                let least = self.number(parameter, given);
                self.clauses.extend(least.map(Filter::MinAmountUsd));
            }
            ParamType::RaiseUsd => self.raise_usd = self.number(parameter, given),
            ParamType::MinRating => self.min_rating(parameter, given),
            ParamType::MaxGhostingRate => self.rate(parameter, given),
            ParamType::ActiveSince => self.date(parameter, given, Filter::ActiveSince),
            ParamType::Since => self.date(parameter, given, Filter::Since),
            ParamType::Until => self.date(parameter, given, Filter::Until),
            ParamType::Ghosted => self.ghosted(parameter, given),
            ParamType::Metric => self.metric(parameter, given),
            ParamType::Sort => self.sort(resource, parameter, given),
        }
    }

    fn invalid(&mut self, name: &str, detail: String) {
        self.errors.push(ParameterError::invalid(name, detail));
    }

    /// The one value of a parameter that takes one; complains where different ones are given.
    fn single<'v>(&mut self, given: &[(&'v str, &'v str)]) -> Option<(&'v str, &'v str)> {
        let first = given.first().copied()?;
        if let Some((name, _)) = given.iter().find(|(_, value)| *value != first.1) {
            self.invalid(name, format!("`{name}` takes one value, several are given"));
            return None;
        }
        Some(first)
    }

    fn number(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) -> Option<u64> {
        let (name, text) = self.single(given)?;
        let (least, most) = parameter.kind.range()?;
        let is_whole = text.bytes().all(|byte| byte.is_ascii_digit());
        // Digits too many to hold are above every range.
        let number = is_whole.then(|| text.parse::<u64>().unwrap_or(u64::MAX));
        match number.filter(|number| (least..=most).contains(number)) {
            Some(number) => {
                self.canonical.push((parameter.name, number.to_string()));
                Some(number)
            }
            None => {
                self.invalid(name, format!("`{text}` is not a whole number from {least} to {most}"));
                None
            }
        }
    }

    fn min_rating(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
        let Some((name, text)) = self.single(given) else { return };
        match text.parse::<u32>() {
            Ok(least @ 1..=5) => {
                self.canonical.push((parameter.name, least.to_string()));
                self.clauses.push(Filter::AnyOf(Facet::Rating, (least..=5).collect()));
            }
            _ => self.invalid(name, format!("`{text}` is not a rating: a whole number from 1 to 5")),
        }
    }

    fn rate(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
        let Some((name, text)) = self.single(given) else { return };
        match read_rate(text) {
            Some(tenths) => {
                self.canonical.push((parameter.name, format!("{}.{}", tenths / 10, tenths % 10)));
                self.clauses.push(Filter::MaxGhostingRate(tenths));
            }
            None => self.invalid(name, format!("`{text}` is not a per cent value from 0 to 100, such as 12.5")),
        }
    }

    fn date(&mut self, parameter: &'static Parameter, given: &[(&str, &str)], clause: impl Fn(Date) -> Filter) {
        let Some((name, text)) = self.single(given) else { return };
        match text.parse::<Date>() {
            Ok(date) => {
                self.canonical.push((parameter.name, date.to_string()));
                self.clauses.push(clause(date));
            }
            Err(_) => self.invalid(name, format!("`{text}` is not a date of the form YYYY-MM-DD")),
        }
    }

    fn ghosted(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
        let Some((name, text)) = self.single(given) else { return };
        let Some(ghosted) = read_ghosted(text) else {
            return self.invalid(name, format!("`{text}` is neither `true` nor `false`"));
        };
        self.canonical.push((parameter.name, ghosted.to_string()));
        self.clauses.push(Filter::AnyOf(Facet::Ghosted, vec![u32::from(ghosted)]));
    }

    fn metric(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
        let Some((name, text)) = self.single(given) else { return };
        match Metric::read(text) {
            Some(metric) => {
                self.metric = Some(metric);
                self.canonical.push((parameter.name, metric.name().to_owned()));
            }
            None => self.complain(unknown_word::<Metric>(name, text)),
        }
    }

    fn sort(&mut self, resource: Resource, parameter: &'static Parameter, given: &[(&str, &str)]) {
        let table = resource.table();
        let searchable = resource.parameters().iter().any(|parameter| parameter.kind == ParamType::Text);
        let mut keys: Vec<(usize, Direction)> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        let mut relevance = false;
        let parts = given.iter().flat_map(|(_, text)| text.split(','));
        for part in parts.map(str::trim).filter(|part| !part.is_empty()) {
            let (direction, name) = match part.strip_prefix('-') {
                Some(name) => (Direction::Descending, name),
                None => (Direction::Ascending, part.strip_prefix('+').unwrap_or(part)),
            };
            let plain = normal(name).replace('-', "_");
            if searchable && plain == RELEVANCE && direction == Direction::Ascending {
                relevance = true;
                continue;
            }
            match table.sort_keys().iter().position(|key| *key == plain) {
                Some(key) if keys.iter().any(|(known, _)| *known == key) => {}
                Some(key) => {
                    keys.push((key, direction));
                    names.push(if direction == Direction::Descending { format!("-{plain}") } else { plain });
                }
                None => self.complain(unknown_key(parameter.name, part, table.sort_keys(), searchable)),
            }
        }
        let text = names.join(",");
        if relevance && !keys.is_empty() {
            return self.invalid(parameter.name, "`relevance` stands alone: leave it or the other keys out".to_owned());
        }
        if relevance {
            self.canonical.push((parameter.name, RELEVANCE.to_owned()));
            self.order = Some(Order::Relevance);
        } else if text == table.default_sort() {
            self.order = Some(Order::Natural);
        } else if !keys.is_empty() {
            self.order = Some(Order::Keys(keys));
        }
        if self.order.is_some() && !relevance {
            self.canonical.push((parameter.name, text));
        }
    }

    fn finish(mut self, resource: Resource) -> Result<ParsedRequest, Vec<ParameterError>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let other = match resource {
            Resource::Leaderboard => {
                let metric = self.metric.unwrap_or(Metric::HealthScore);
                Some(Request::Board(LeaderboardQuery { metric, clauses: std::mem::take(&mut self.clauses) }))
            }
            Resource::CoInvestors => {
                let rows = self.clauses.iter().find_map(|clause| match clause {
                    Filter::AnyOf(Facet::Firm, rows) => rows.first().copied(),
                    _ => None,
                });
                // A row that no firm has: no co-investors.
                Some(Request::CoInvestors(rows.unwrap_or(u32::MAX)))
            }
            Resource::Match => Some(Request::Match(MatchQuery::of(&self.clauses, self.raise_usd))),
            _ => None,
        };
        if let Some(request) = other {
            return Ok(ParsedRequest { request, canonical: self.canonical, warnings: self.warnings });
        }
        let status_given = self.clauses.iter().any(|clause| matches!(clause, Filter::AnyOf(Facet::Status, _)));
        if resource == Resource::Reviews && !status_given {
            let statuses = self.rules.review_statuses.iter().map(|status| status.index() as u32).collect();
            self.clauses.push(Filter::AnyOf(Facet::Status, statuses));
        }
        let order = match self.order {
            // Without a text there is no relevance; the default order then is the table's own.
            Some(Order::Relevance) | None if self.text.is_some() => Order::Relevance,
            Some(Order::Relevance) | None => Order::Natural,
            Some(order) => order,
        };
        let query = Query { table: resource.table(), text: self.text, clauses: self.clauses, order };
        Ok(ParsedRequest { request: Request::List(query), canonical: self.canonical, warnings: self.warnings })
    }
}

/// A rate in per cent, as tenths.
pub(crate) fn read_rate(text: &str) -> Option<u16> {
    let rate = text.trim_end_matches('%').parse::<f64>().ok().filter(|rate| (0.0..=100.0).contains(rate))?;
    // A rate has one decimal: what lies between two tenths admits the lower one.
    Some((rate * 10.0 + 1e-9).floor() as u16)
}

/// Whether a review tells of ghosting.
pub(crate) fn read_ghosted(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}
