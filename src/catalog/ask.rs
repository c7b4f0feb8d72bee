//! From named values to a typed query: the one door for REST parameters and tool arguments.
//!
//! Every problem is told with the nearest value that would have worked. Under lenient rules an unknown parameter or an
//! unknown value of a vocabulary becomes a warning; what is no value at all (a date that is none) is refused under both.

use std::cell::Cell;
use std::cmp::Reverse;

use crate::dataset::fold::fold;
use crate::dataset::vocabulary::{Vocabulary, normal};
use crate::dataset::{
    Country, Date, Direction, Facet, FirmKind, Metric, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table,
};
use crate::search::nearest;

use super::complaint::{ParameterError, RELEVANCE, unknown_key, unknown_word};
use super::form::{LONGEST_TEXT, MOST_PARAMETERS, MOST_VALUES};
use super::parameter::{Kind, Parameter, Resource};
use super::{BoardQuery, Catalog, Clause, FitQuery, Order, Query};

/// How strictly names and values are taken, and what else a request may name.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
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
    Board(BoardQuery),
    /// The co-investors of a firm.
    CoInvestors(u32),
    /// The firms that fit a startup.
    Match(FitQuery),
}

/// A request that was understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
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

/// Unknown records of a request whose nearest one is looked for: each is a search of a whole table.
const MOST_SOUGHT: usize = 6;

struct Reader<'a> {
    catalog: &'a Catalog,
    /// How often the nearest record was looked for.
    sought: Cell<usize>,
    rules: Rules<'a>,
    clauses: Vec<Clause>,
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
        rules: Rules<'_>,
    ) -> Result<Asked, Vec<ParameterError>> {
        let mut reader = Reader {
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
                Kind::Text => value.is_empty(),
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

impl Reader<'_> {
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
            Kind::Text => {
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
            Kind::Stages => self.words::<Stage>(parameter, Facet::Stage, given),
            Kind::FirmKinds => self.words::<FirmKind>(parameter, Facet::Kind, given),
            Kind::StartupStatuses => self.words::<StartupStatus>(parameter, Facet::Status, given),
            Kind::ReviewStatuses => self.words::<ReviewStatus>(parameter, Facet::Status, given),
            Kind::OrganizationKinds => self.words::<OrganizationKind>(parameter, Facet::Kind, given),
            Kind::Sectors(facet) => {
                let values = self.values(
                    parameter,
                    given,
                    |reader, value| reader.sector(value),
                    |reader, name, value| {
                        let slugs = reader.slugs(Table::Sectors);
                        let meant = nearest(value, slugs.iter().copied()).map(str::to_owned);
                        ParameterError::unknown_value(name, value, "sector", meant)
                    },
                );
                self.any_of(parameter, facet, values);
            }
            Kind::Countries => {
                let read = |_: &Self, value: &str| {
                    Country::read(value).map(|country| (country.alpha2().to_owned(), country.index() as u32))
                };
                let values = self.values(parameter, given, read, |_, name, value| {
                    let names = Country::names().map(|(name, _)| name);
                    let meant = nearest(value, names).and_then(Country::read);
                    let meant = meant.map(|country| country.alpha2().to_owned());
                    let mut error = ParameterError::unknown_value(name, value, "country", meant);
                    error.detail = format!("`{value}` is not a country: give its ISO 3166-1 code or English name");
                    error
                });
                self.any_of(parameter, Facet::Country, values);
            }
            Kind::Cities => {
                let read = |reader: &Self, value: &str| {
                    let folded = fold(value);
                    reader.catalog.snapshot().city(&folded).map(|city| (folded, city))
                };
                let values = self.values(parameter, given, read, |reader, name, value| {
                    let snapshot = reader.catalog.snapshot();
                    let mut cities: Vec<(u32, &str)> = (0..).zip(snapshot.cities()).collect();
                    // Of equally near ones, that with most firms.
                    cities.sort_by_key(|(city, _)| Reverse(snapshot.facet_count(Table::Firms, Facet::City, *city)));
                    let meant = nearest(value, cities.into_iter().map(|(_, name)| name));
                    let meant = meant.and_then(|name| snapshot.city_name(snapshot.city(name)?));
                    ParameterError::unknown_value(name, value, "city", meant)
                });
                self.any_of(parameter, Facet::City, values);
            }
            Kind::Firms(facet) => {
                let values = self.rows(parameter, Table::Firms, given);
                self.any_of(parameter, facet, values);
            }
            Kind::Startups(facet) => {
                let values = self.rows(parameter, Table::Startups, given);
                self.any_of(parameter, facet, values);
            }
            Kind::Organizations => self.organizations(parameter, given),
            Kind::MinHealthScore => {
                let least = self.number(parameter, given);
                self.clauses.extend(least.map(|least| Clause::MinHealthScore(least.min(100) as u8)));
            }
            Kind::MinReviews => {
                let least = self.number(parameter, given);
                self.clauses.extend(least.map(|least| Clause::MinReviews(least as u32)));
            }
            Kind::CheckUsd => {
                let usd = self.number(parameter, given);
                self.clauses.extend(usd.map(Clause::CheckUsd));
            }
            Kind::MinAmountUsd => {
                let least = self.number(parameter, given);
                self.clauses.extend(least.map(Clause::MinAmountUsd));
            }
            Kind::RaiseUsd => self.raise_usd = self.number(parameter, given),
            Kind::MinRating => self.min_rating(parameter, given),
            Kind::MaxGhostingRate => self.rate(parameter, given),
            Kind::ActiveSince => self.date(parameter, given, Clause::ActiveSince),
            Kind::Since => self.date(parameter, given, Clause::Since),
            Kind::Until => self.date(parameter, given, Clause::Until),
            Kind::Ghosted => self.ghosted(parameter, given),
            Kind::Metric => self.metric(parameter, given),
            Kind::Sort => self.sort(resource, parameter, given),
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

    /// Reads a list of values: each whole value is tried before it is split at commas.
    fn values(
        &mut self,
        parameter: &Parameter,
        given: &[(&str, &str)],
        read: impl Fn(&Self, &str) -> Option<Value>,
        unknown: impl Fn(&Self, &str, &str) -> ParameterError,
    ) -> Values {
        let mut values = Values::new();
        let parts = given.iter().map(|(_, text)| text.split(',').count()).sum::<usize>();
        if parts > MOST_VALUES {
            let detail = format!("`{}` takes at most {MOST_VALUES} values, {parts} are given", parameter.name);
            self.invalid(parameter.name, detail);
            return values;
        }
        for (_, text) in given {
            if let Some(value) = read(self, text) {
                values.push(value);
                continue;
            }
            for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                match read(self, part) {
                    Some(value) => values.push(value),
                    None => {
                        let error = unknown(self, parameter.name, part);
                        self.complain(error);
                    }
                }
            }
        }
        values.sort_unstable();
        values.dedup();
        values
    }

    fn any_of(&mut self, parameter: &'static Parameter, facet: Facet, values: Values) {
        let (names, rows): (Vec<String>, Vec<u32>) = values.into_iter().unzip();
        self.canonical.push((parameter.name, names.join(",")));
        self.clauses.push(Clause::AnyOf(facet, rows));
    }

    fn words<V: Vocabulary>(&mut self, parameter: &'static Parameter, facet: Facet, given: &[(&str, &str)]) {
        let read = |_: &Self, value: &str| V::read(value).map(|word| (word.name().to_owned(), word.index() as u32));
        let values = self.values(parameter, given, read, |_, name, value| unknown_word::<V>(name, value));
        self.any_of(parameter, facet, values);
    }

    fn slugs(&self, table: Table) -> Vec<&str> {
        let snapshot = self.catalog.snapshot();
        (0..snapshot.rows(table)).map(|row| snapshot.slug(table, row)).collect()
    }

    fn sector(&self, value: &str) -> Option<Value> {
        let snapshot = self.catalog.snapshot();
        let by_slug = self.catalog.find(Table::Sectors, &normal(value));
        let row = by_slug.or_else(|| {
            let folded = fold(value);
            let mut rows = 0..snapshot.rows(Table::Sectors);
            (!folded.is_empty()).then(|| rows.find(|row| fold(snapshot.name(Table::Sectors, *row)) == folded)).flatten()
        })?;
        Some((snapshot.slug(Table::Sectors, row).to_owned(), row))
    }

    /// A row by its slug, or by its name where exactly one row has that name.
    fn row(&self, table: Table, value: &str) -> Option<Value> {
        let snapshot = self.catalog.snapshot();
        let row = self.catalog.find(table, value).or_else(|| self.catalog.named(table, value))?;
        Some((snapshot.slug(table, row).to_owned(), row))
    }

    /// The slug nearest to one that no row has; of many in a request only the first are looked for.
    fn nearest_slug(&self, table: Table, value: &str) -> Option<String> {
        let sought = self.sought.replace(self.sought.get() + 1);
        if sought < MOST_SOUGHT { self.catalog.nearest_slugs(table, value, 1).into_iter().next() } else { None }
    }

    fn rows(&mut self, parameter: &Parameter, table: Table, given: &[(&str, &str)]) -> Values {
        let read = |reader: &Self, value: &str| reader.row(table, value);
        self.values(parameter, given, read, |reader, name, value| {
            let meant = reader.nearest_slug(table, value);
            ParameterError::unknown_value(name, value, table.noun(), meant)
        })
    }

    fn organizations(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
        let count = given.iter().map(|(_, text)| text.split(',').count()).sum::<usize>();
        if count > MOST_VALUES {
            let detail = format!("`{}` takes at most {MOST_VALUES} values, {count} are given", parameter.name);
            return self.invalid(parameter.name, detail);
        }
        let mut names = Vec::new();
        let (mut firms, mut startups) = (Vec::new(), Vec::new());
        let parts = given.iter().flat_map(|(_, text)| match self.organization(text) {
            (None, None) => text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect(),
            _ => vec![*text],
        });
        for part in parts.collect::<Vec<_>>() {
            let (firm, startup) = self.organization(part);
            if firm.is_none() && startup.is_none() {
                let near = [Table::Firms, Table::Startups].into_iter();
                let near: Vec<String> = near.filter_map(|table| self.nearest_slug(table, part)).collect();
                let nearest = nearest(part, near.iter().map(String::as_str)).map(str::to_owned);
                let meant = nearest.or_else(|| near.into_iter().next());
                self.complain(ParameterError::unknown_value(parameter.name, part, "firm or startup", meant));
            }
            names.extend(firm.iter().chain(&startup).map(|(slug, _)| slug.clone()));
            firms.extend(firm.map(|(_, row)| row));
            startups.extend(startup.map(|(_, row)| row));
        }
        for rows in [&mut firms, &mut startups] {
            rows.sort_unstable();
            rows.dedup();
        }
        names.sort_unstable();
        names.dedup();
        self.canonical.push((parameter.name, names.join(",")));
        self.clauses.push(Clause::MemberOf { firms, startups });
    }

    fn organization(&self, text: &str) -> (Option<Value>, Option<Value>) {
        (self.row(Table::Firms, text), self.row(Table::Startups, text))
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
                self.clauses.push(Clause::AnyOf(Facet::Rating, (least..=5).collect()));
            }
            _ => self.invalid(name, format!("`{text}` is not a rating: a whole number from 1 to 5")),
        }
    }

    fn rate(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
        let Some((name, text)) = self.single(given) else { return };
        match read_rate(text) {
            Some(tenths) => {
                self.canonical.push((parameter.name, format!("{}.{}", tenths / 10, tenths % 10)));
                self.clauses.push(Clause::MaxGhostingRate(tenths));
            }
            None => self.invalid(name, format!("`{text}` is not a per cent value from 0 to 100, such as 12.5")),
        }
    }

    fn date(&mut self, parameter: &'static Parameter, given: &[(&str, &str)], clause: impl Fn(Date) -> Clause) {
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
        self.clauses.push(Clause::AnyOf(Facet::Ghosted, vec![u32::from(ghosted)]));
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
        let searchable = resource.parameters().iter().any(|parameter| parameter.kind == Kind::Text);
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

    fn finish(mut self, resource: Resource) -> Result<Asked, Vec<ParameterError>> {
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let other = match resource {
            Resource::Leaderboard => {
                let metric = self.metric.unwrap_or(Metric::HealthScore);
                Some(Request::Board(BoardQuery { metric, clauses: std::mem::take(&mut self.clauses) }))
            }
            Resource::CoInvestors => {
                let rows = self.clauses.iter().find_map(|clause| match clause {
                    Clause::AnyOf(Facet::Firm, rows) => rows.first().copied(),
                    _ => None,
                });
                // A row that no firm has: no co-investors.
                Some(Request::CoInvestors(rows.unwrap_or(u32::MAX)))
            }
            Resource::Match => Some(Request::Match(FitQuery::of(&self.clauses, self.raise_usd))),
            _ => None,
        };
        if let Some(request) = other {
            return Ok(Asked { request, canonical: self.canonical, warnings: self.warnings });
        }
        let status_given = self.clauses.iter().any(|clause| matches!(clause, Clause::AnyOf(Facet::Status, _)));
        if resource == Resource::Reviews && !status_given {
            let statuses = self.rules.review_statuses.iter().map(|status| status.index() as u32).collect();
            self.clauses.push(Clause::AnyOf(Facet::Status, statuses));
        }
        let order = match self.order {
            // Without a text there is no relevance; the default order then is the table's own.
            Some(Order::Relevance) | None if self.text.is_some() => Order::Relevance,
            Some(Order::Relevance) | None => Order::Natural,
            Some(order) => order,
        };
        let query = Query { table: resource.table(), text: self.text, clauses: self.clauses, order };
        Ok(Asked { request: Request::List(query), canonical: self.canonical, warnings: self.warnings })
    }
}

/// A rate in per cent, as tenths.
pub(super) fn read_rate(text: &str) -> Option<u16> {
    let rate = text.trim_end_matches('%').parse::<f64>().ok().filter(|rate| (0.0..=100.0).contains(rate))?;
    // A rate has one decimal: what lies between two tenths admits the lower one.
    Some((rate * 10.0 + 1e-9).floor() as u16)
}

/// Whether a review tells of ghosting.
pub(super) fn read_ghosted(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}
