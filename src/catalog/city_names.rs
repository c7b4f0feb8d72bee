//! Cities with several names: `New York City` is also `New York`, and a text written as a city may be a country. Each
//! spelling remains a value of its own; a note points to the others.

use std::collections::BTreeSet;

use crate::facets::ValueCount;
use crate::groups::MatchedRows;
use crate::param_error::shortened;
use crate::row_filter::distinct;
use crate::{Catalog, Filter, RowFilter};
use data::fold::fold;
use data::number::grouped;
use data::{Country, Facet, Table, city};

/// A text means the country rather than the city of the same name if the country has this many times its records.
const FAR_MORE: u32 = 10;

/// A text may mean the state rather than the city of the same name if the state has this many times its records.
const MORE_IN_STATE: u64 = 2;

/// Records of a city in another country from which on a note names it; fewer may be mistakes.
const MIN_IN_COUNTRY: u64 = 5;

impl Catalog {
    /// A note that records of a city are in several countries: there are cities of this name in each. People have the
    /// places of their organizations.
    pub(crate) fn note_on_countries(&self, table: Table, city: u32) -> Option<String> {
        if table == Table::People {
            return None;
        }
        let rows = self.snapshot().facet_rows(table, Facet::City, city).iter().collect();
        let mut counts = self.counts_of(table, Facet::Country, &MatchedRows::Few(rows));
        counts.retain(|counted| counted.count >= MIN_IN_COUNTRY);
        let code = |counted: &ValueCount| self.facet_label(table, Facet::Country, counted.value).0;
        let listed = counts.iter().map(|counted| format!("{} ({})", code(counted), grouped(counted.count)));
        let name = self.snapshot().city_name(city)?;
        let detail = format!("{name} is in several countries: {}", listed.collect::<Vec<_>>().join(", "));
        (counts.len() > 1).then(|| format!("{detail}; `country={}` is the first alone", code(&counts[0])))
    }

    /// Finds a city by name; returns its folded name and value, and adds a note on other meanings of the text. `strict`:
    /// also by another of its names, and with its country. `given` are the folded texts that are requested together.
    pub(crate) fn city(
        &self,
        table: Table,
        parameter: &str,
        text: &str,
        strict: bool,
        given: &BTreeSet<String>,
        notes: &mut Vec<String>,
    ) -> Option<(String, u32)> {
        let folded = fold(text);
        if let Some(value) = self.snapshot().find_term(Facet::City, &folded) {
            notes.extend(self.city_note(table, parameter, &folded, value, given));
            return Some((folded, value));
        }
        if !strict {
            return None;
        }
        let mut read_as = |value: u32, more: &str| {
            let name = self.snapshot().city_name(value).unwrap_or_default();
            notes.push(format!("`{}` was read as {name}{more}", shortened(text)));
            Some((fold(&name), value))
        };
        if let Some((_, value)) = self.other_cities(table, &folded).first() {
            return read_as(*value, "");
        }
        let (value, country) = self.city_with_country(text)?;
        read_as(value, &format!("; for its country add `{}={country}`", parameter.replace("city", "country")))
    }

    /// Finds the city and country of a text such as `Berlin, Germany`, unless the country is also the name of a city.
    pub(crate) fn city_with_country(&self, text: &str) -> Option<(u32, Country)> {
        let find = |text: &str| self.snapshot().find_term(Facet::City, &fold(text));
        let (city, country) = text.rsplit_once(',').filter(|(_, country)| find(country).is_none())?;
        Some((find(city)?, Country::read(country)?))
    }

    /// A city as a value of a list: spelled as in its first record, but folded if that spelling has a comma.
    pub(crate) fn city_value(&self, city: u32) -> String {
        let name = self.snapshot().city_name(city).filter(|name| !name.contains(','));
        name.unwrap_or_else(|| self.snapshot().term(Facet::City, city).unwrap_or_default().to_owned())
    }

    /// Finds the cities of the release in a state or province, under each of their names, and that with the state's name.
    pub(crate) fn cities_of_state(&self, folded: &str) -> Option<Vec<u32>> {
        let cities = &city::state(folded)?.cities;
        let names = cities.iter().chain(cities.iter().flat_map(|city| city::names_of(city))).copied();
        let found = distinct(names.chain([folded]).filter_map(|city| self.snapshot().find_term(Facet::City, city)));
        (!found.is_empty()).then_some(found)
    }

    /// Number of records in the cities of a state of a country.
    pub(crate) fn count_in_state(&self, table: Table, folded: &str, country: Country) -> u64 {
        let cities = self.cities_of_state(folded).unwrap_or_default();
        let filters = [Filter::AnyOf(Facet::City, cities), Filter::AnyOf(Facet::Country, vec![country.index() as u32])];
        self.count(table, &filters, &RowFilter::new(self, table, &filters))
    }

    /// Number of records in a city of this name in a country.
    pub(crate) fn count_in_city(&self, table: Table, city: u32, country: Country) -> u64 {
        let filters =
            [Filter::AnyOf(Facet::City, vec![city]), Filter::AnyOf(Facet::Country, vec![country.index() as u32])];
        self.count(table, &filters, &RowFilter::new(self, table, &filters))
    }

    fn city_note(&self, table: Table, name: &str, folded: &str, city: u32, given: &BTreeSet<String>) -> Option<String> {
        let spelled = |city: u32| self.snapshot().city_name(city).unwrap_or_default();
        let own = self.snapshot().facet_count(table, Facet::City, city);
        let counted = |(records, city): &(u32, u32)| format!("`{}` ({})", spelled(*city), grouped(*records));
        let others = self.other_cities(table, folded);
        let others = others.iter().filter(|(_, city)| !given.contains(&fold(&spelled(*city))));
        let others: Vec<String> = others.map(counted).collect();
        if !others.is_empty() {
            let own = counted(&(own, city));
            return Some(format!("{own} is also written {}; name all, separated by commas", others.join(", ")));
        }
        if let Some(note) = self.state_note(table, name, folded, own) {
            return Some(note);
        }
        let country = Country::read(folded)?;
        let records = self.snapshot().facet_count(table, Facet::Country, country.index() as u32);
        let (city, parameter) = (counted(&(own, city)), name.replace("city", "country"));
        let note = format!("{city} was read as a city; the country is `{parameter}={country}` ({})", grouped(records));
        (records >= own.saturating_mul(FAR_MORE).max(1)).then_some(note)
    }

    /// A note that a text which was read as a city with so many records is also the name of a state with more.
    fn state_note(&self, table: Table, parameter: &str, folded: &str, of_city: u32) -> Option<String> {
        let state = city::named_like_city(folded)?;
        let country = Country::from_alpha2(city::state(&state)?.country)?;
        let of_state = self.count_in_state(table, &state, country);
        let spelled = self.snapshot().city_name(self.snapshot().find_term(Facet::City, folded)?)?;
        let kind = state.rsplit(' ').next().unwrap_or_default();
        let note = format!(
            "`{spelled}` ({}) was read as a city; the {kind} ({}) is `{parameter}={spelled} {kind}` with `{}={country}`",
            grouped(of_city),
            grouped(of_state),
            parameter.replace("city", "country")
        );
        (of_state >= u64::from(of_city) * MORE_IN_STATE).then_some(note)
    }

    /// Other names of a city in the records and their record counts, most frequent first.
    fn other_cities(&self, table: Table, folded: &str) -> Vec<(u32, u32)> {
        let snapshot = self.snapshot();
        let names = city::names_of(folded).iter().filter(|name| **name != folded);
        let cities = names.filter_map(|name| snapshot.find_term(Facet::City, name));
        let counted = cities.map(|city| (snapshot.facet_count(table, Facet::City, city), city));
        let mut others: Vec<(u32, u32)> = counted.filter(|(records, _)| *records > 0).collect();
        others.sort_unstable_by(|left, right| right.cmp(left));
        others
    }
}
