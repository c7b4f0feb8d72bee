//! Parameters that take several values: terms, countries, cities, and records by slug or name.

use crate::data::fold::fold;
use crate::data::vocabulary::normal;
use crate::data::{Country, Facet, Table};

use crate::catalog::Filter;
use crate::catalog::param_error::Issue;
use crate::catalog::params::{MAX_VALUES, Parameter};
use crate::catalog::parse::{NamedValues, ParamParser};

/// The rows of a firm and of a startup that one text names.
type Organization = (Option<u32>, Option<u32>);

impl ParamParser<'_> {
    pub(super) fn countries(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        self.any_of(parameter, Facet::Country, values, |text| {
            Country::read(text).map(|country| (country.alpha2().to_owned(), country.index() as u32))
        });
    }

    pub(super) fn cities(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        let snapshot = self.catalog.snapshot();
        self.any_of(parameter, Facet::City, values, |text| {
            let folded = fold(text);
            snapshot.city(&folded).map(|city| (folded, city))
        });
    }

    pub(super) fn records(
        &mut self,
        parameter: &'static Parameter,
        table: Table,
        facet: Facet,
        values: &NamedValues<'_>,
    ) {
        let catalog = self.catalog;
        self.any_of(parameter, facet, values, |text| {
            let row = match table {
                Table::Sectors => {
                    catalog.find(table, &normal(text)).or_else(|| catalog.rows_named(table, text).into_iter().min())
                }
                _ => catalog.find(table, text).or_else(|| catalog.find_by_name(table, text)),
            };
            row.map(|row| (catalog.snapshot().slug(table, row).to_owned(), row))
        });
    }

    pub(super) fn organizations(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        let catalog = self.catalog;
        let row = |table: Table, text: &str| catalog.find(table, text).or_else(|| catalog.find_by_name(table, text));
        let read = |text: &str| -> Option<(String, Organization)> {
            let (firm, startup) = (row(Table::Firms, text), row(Table::Startups, text));
            let slug = match (firm, startup) {
                (Some(row), _) => catalog.snapshot().slug(Table::Firms, row),
                (None, Some(row)) => catalog.snapshot().slug(Table::Startups, row),
                (None, None) => return None,
            };
            Some((slug.to_owned(), (firm, startup)))
        };
        let Some(found) = self.parse_values(parameter, values, read) else { return };
        let (mut firms, mut startups) = (Vec::new(), Vec::new());
        let mut slugs: Vec<&str> = Vec::new();
        for (_, (firm, startup)) in &found {
            slugs.extend(firm.map(|row| catalog.snapshot().slug(Table::Firms, row)));
            slugs.extend(startup.map(|row| catalog.snapshot().slug(Table::Startups, row)));
            firms.extend(firm);
            startups.extend(startup);
        }
        for rows in [&mut firms, &mut startups] {
            rows.sort_unstable();
            rows.dedup();
        }
        slugs.sort_unstable();
        slugs.dedup();
        self.canonical.push((parameter.name, slugs.join(",")));
        self.filters.push(Filter::MemberOf { firms, startups });
    }

    /// Parses values and adds the filter that a facet has one of them.
    pub(super) fn any_of(
        &mut self,
        parameter: &'static Parameter,
        facet: Facet,
        values: &NamedValues<'_>,
        read: impl Fn(&str) -> Option<(String, u32)>,
    ) {
        let Some(found) = self.parse_values(parameter, values, read) else { return };
        let (names, indexes): (Vec<String>, Vec<u32>) = found.into_iter().unzip();
        self.canonical.push((parameter.name, names.join(",")));
        self.filters.push(Filter::AnyOf(facet, indexes));
    }

    /// Parses a list of values to canonical texts with what they stand for, in order and each once. A text is read as
    /// one value before it is split at commas. `None` if there are too many values.
    fn parse_values<T: Ord>(
        &mut self,
        parameter: &'static Parameter,
        values: &NamedValues<'_>,
        read: impl Fn(&str) -> Option<(String, T)>,
    ) -> Option<Vec<(String, T)>> {
        let count = values.iter().map(|(_, text)| text.split(',').count()).sum::<usize>();
        if count > MAX_VALUES {
            let detail = format!("`{}` takes at most {MAX_VALUES} values, {count} are given", parameter.name);
            self.invalid(parameter.name, detail);
            return None;
        }
        let mut found = Vec::new();
        for (_, text) in values {
            if let Some(value) = read(text) {
                found.push(value);
                continue;
            }
            for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
                match read(part) {
                    Some(value) => found.push(value),
                    None => self.unknown(Issue::UnknownValue { parameter, value: part.to_owned() }),
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}
