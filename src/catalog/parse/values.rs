//! Values of parameters that take several: words, sectors, countries, cities, and records by slug or name.

use std::cmp::Reverse;

use crate::catalog::Filter;
use crate::catalog::ParameterError;
use crate::catalog::param_error::unknown_word;
use crate::catalog::param_schema::MOST_VALUES;
use crate::catalog::params::Parameter;
use crate::data::fold::fold;
use crate::data::vocabulary::{Vocabulary, normal};
use crate::data::{Country, Facet, Table};
use crate::search::nearest;

use crate::catalog::parse::{ParamParser, Value, Values};

/// Unknown records of a request whose nearest one is looked for: each is a search of a whole table.
const MOST_SOUGHT: usize = 6;

impl ParamParser<'_> {
    /// Sectors by slug or name; each stands for all below it.
    pub(crate) fn sectors(&mut self, parameter: &'static Parameter, facet: Facet, given: &[(&str, &str)]) {
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

    /// Countries by code or name.
    pub(crate) fn countries(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
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

    /// Cities by name.
    pub(crate) fn cities(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
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

    /// Reads a list of values: each whole value is tried before it is split at commas.
    fn values(
        &mut self,
        parameter: &Parameter,
        given: &[(&str, &str)],
        read: impl Fn(&Self, &str) -> Option<Value>,
        unknown: impl Fn(&Self, &str, &str) -> ParameterError,
    ) -> Values {
        let mut values = Values::new();
        if self.refuses_many(parameter, given) {
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

    /// Whether more values are given than a parameter takes, which is an error.
    fn refuses_many(&mut self, parameter: &Parameter, given: &[(&str, &str)]) -> bool {
        let parts = given.iter().map(|(_, text)| text.split(',').count()).sum::<usize>();
        if parts > MOST_VALUES {
            let detail = format!("`{}` takes at most {MOST_VALUES} values, {parts} are given", parameter.name);
            self.invalid(parameter.name, detail);
        }
        parts > MOST_VALUES
    }

    pub(crate) fn any_of(&mut self, parameter: &'static Parameter, facet: Facet, values: Values) {
        let (names, rows): (Vec<String>, Vec<u32>) = values.into_iter().unzip();
        self.canonical.push((parameter.name, names.join(",")));
        self.clauses.push(Filter::AnyOf(facet, rows));
    }

    pub(crate) fn words<V: Vocabulary>(&mut self, parameter: &'static Parameter, facet: Facet, given: &[(&str, &str)]) {
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

    pub(crate) fn rows(&mut self, parameter: &Parameter, table: Table, given: &[(&str, &str)]) -> Values {
        let read = |reader: &Self, value: &str| reader.row(table, value);
        self.values(parameter, given, read, |reader, name, value| {
            let meant = reader.nearest_slug(table, value);
            ParameterError::unknown_value(name, value, table.noun(), meant)
        })
    }

    pub(crate) fn organizations(&mut self, parameter: &'static Parameter, given: &[(&str, &str)]) {
        if self.refuses_many(parameter, given) {
            return;
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
        self.clauses.push(Filter::MemberOf { firms, startups });
    }

    fn organization(&self, text: &str) -> (Option<Value>, Option<Value>) {
        (self.row(Table::Firms, text), self.row(Table::Startups, text))
    }
}
