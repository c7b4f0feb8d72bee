//! Parameters that take several values: terms, countries, cities and other texts, records by slug or name, properties.

use std::collections::BTreeSet;

use data::fold::fold;
use data::import::website;
use data::number::counted;
use data::vocabulary::normal;
use data::{Country, Facet, Snapshot, Table, city, identifier};
use platform::pause;

use crate::param_error::{Issue, ParameterError, shortened};
use crate::params::{ClosedVocabulary, Mode, ParamType, Parameter};
use crate::parse::value_list::{ValueList, split_note};
use crate::parse::{NamedValues, ParamParser};
use crate::row_filter::distinct;
use crate::sector_names::letters;
use crate::{Catalog, Filter, NameMatch, Property, Ranking};

impl ParamParser<'_> {
    pub(super) fn terms(&mut self, parameter: &'static Parameter, terms: ClosedVocabulary, values: &NamedValues<'_>) {
        let read = |text: &str, notes: &mut Vec<String>| {
            let (name, index) = (terms.read)(text)?;
            if (terms.is_narrower)(text) {
                notes.push(wider_note(text, name));
            }
            Some((name.to_owned(), index))
        };
        self.any_of(parameter, values, read);
    }

    /// Countries; regions stand for all of their countries.
    pub(super) fn countries(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        // A region keeps its name, because a cursor carries at most `MAX_VALUES` texts.
        let read = |text: &str, notes: &mut Vec<String>| -> Vec<(String, u32)> {
            if let Some(country) = Country::read(text) {
                if Country::is_narrower(text) {
                    notes.push(wider_note(text, &format!("{country} ({})", country.name())));
                }
                return vec![(country.alpha2().to_owned(), country.index() as u32)];
            }
            let Some(countries) = Country::of_region(text) else { return Vec::new() };
            let codes: Vec<&str> = countries.iter().map(|country| country.alpha2()).collect();
            notes.push(format!("`{}` was read as {} countries: {}", shortened(text), codes.len(), codes.join(", ")));
            countries.iter().map(|country| (fold(text), country.index() as u32)).collect()
        };
        self.any_of(parameter, values, read);
    }

    /// Cities by name, websites by host, identifiers by scheme and value, titles by their words: one may name several.
    pub(super) fn listed(&mut self, parameter: &'static Parameter, facet: Facet, values: &NamedValues<'_>) {
        if facet == Facet::City {
            return self.cities(parameter, values);
        }
        let snapshot = self.catalog.snapshot();
        let read = |text: &str, _: &mut Vec<String>| {
            let folded = match facet {
                Facet::Website => website::host(text),
                Facet::Identifier => identifier::normalize_pair(text).unwrap_or_default().to_lowercase(),
                _ => fold(text),
            };
            let found = match facet {
                Facet::Title => titles_with(snapshot, &folded),
                _ => snapshot.find_term(facet, &folded).into_iter().collect(),
            };
            (!found.is_empty()).then_some((folded, found))
        };
        if let Some((names, indexes)) = self.parse_values(parameter, values, read) {
            self.add_values(parameter, names, Filter::AnyOf(facet, distinct(indexes.concat())));
        }
    }

    /// Cities by any of their names, also with their country; states and provinces stand for all of their cities.
    fn cities(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        let (catalog, strict) = (self.catalog, self.options.strict);
        // The city of a match is that of the startup.
        let table = match parameter.kind {
            ParamType::Listed(table, _) => table,
            _ => self.resource.table(),
        };
        let given = folded_texts(values);
        let country = self.required_country();
        // The country of a state, unless the request requires it.
        let other_country = |folded: &str| {
            let of_country = city::state(folded).and_then(|state| Country::from_alpha2(state.country));
            of_country.filter(|of_country| country != Some(*of_country))
        };
        let city_of = |folded: &str| catalog.snapshot().find_term(Facet::City, folded);
        let read = |text: &str, notes: &mut Vec<String>| -> Vec<(String, u32)> {
            let mut folded = fold(text);
            // `Ontario` is a city of California: in Canada it is the province.
            if let (Some(state), Some(country)) = (city::named_like_city(&folded), country)
                && city::state(&state).is_some_and(|state| Country::from_alpha2(state.country) == Some(country))
                && city_of(&folded).is_none_or(|city| catalog.count_in_city(table, city, country) == 0)
            {
                folded = state;
            }
            // Without its country, a state is read as the city of this name if records have one: facets list it.
            let other = other_country(&folded);
            if let (Some(of_country), Some(city)) = (other, other.and_then(|_| city_of(&folded))) {
                let of_city = catalog.snapshot().facet_count(table, Facet::City, city);
                let of_state = catalog.count_in_state(table, &folded, of_country);
                let [of_city, of_state] =
                    [of_city.into(), of_state].map(|rows| counted(rows, table.noun(), table.plural()));
                let text = shortened(text);
                notes.push(format!(
                    "`{text}` was read as a city ({of_city}); for the state ({of_state}) add `country={of_country}`"
                ));
                return vec![(folded, city)];
            }
            // A state keeps its name, like a region.
            if let Some(state) = catalog.cities_of_state(&folded) {
                let cities = if state.len() == 1 { "city" } else { "cities" };
                notes.push(format!(
                    "`{}` was read as {} {cities} of the state; towns whose names other states have, too, are left out: name \
                     them, with `country`",
                    shortened(text),
                    state.len()
                ));
                return state.into_iter().map(|city| (folded.clone(), city)).collect();
            }
            catalog.city(table, parameter.name, text, strict, &given, notes).into_iter().collect()
        };
        let Some((names, cities)) = self.parse_values(parameter, values, read) else { return };
        let mut states = names.iter().filter(|name| city_of(name).is_none());
        if let Some((state, country)) = states.find_map(|name| Some((name, other_country(name)?))) {
            let detail = format!(
                "`{state}` is a state of {}, and other countries have cities of the same names as its cities; add `country={country}`",
                country.name()
            );
            self.unknown(Issue::Invalid(ParameterError::invalid(parameter.name, detail)));
        }
        if country.is_none() && parameter.mode != Mode::Not {
            let several = distinct(cities.iter().copied()).into_iter().take(MAX_NOTES);
            let several = several.filter_map(|city| catalog.note_on_countries(table, city));
            self.notes.extend(several.map(|note| ParameterError::warning("value_interpreted", parameter.name, note)));
        }
        self.add_values(parameter, names, Filter::AnyOf(Facet::City, distinct(cities)));
    }

    pub(super) fn rows(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        let (catalog, table) = (self.catalog, self.resource.table());
        let read = |text: &str, notes: &mut Vec<String>| {
            let row = catalog.find(table, text)?;
            notes.extend(catalog.moved_note(table, row, text));
            Some((catalog.snapshot().slug(table, row).to_owned(), row))
        };
        if let Some((slugs, rows)) = self.parse_values(parameter, values, read) {
            self.add_values(parameter, slugs, Filter::Rows(distinct(rows)));
        }
    }

    pub(super) fn known(&mut self, parameter: &'static Parameter, known: bool, values: &NamedValues<'_>) {
        let table = self.resource.table();
        let read = |text: &str, _: &mut Vec<String>| {
            Property::named(table, text).map(|(name, property)| (name.to_owned(), property))
        };
        if let Some((names, properties)) = self.parse_values(parameter, values, read) {
            self.canonical.push((parameter.name, names.join(",")));
            self.filters.extend(properties.into_iter().map(if known { Filter::Known } else { Filter::Unknown }));
        }
    }

    pub(super) fn records(&mut self, parameter: &'static Parameter, table: Table, values: &NamedValues<'_>) {
        let (catalog, strict) = (self.catalog, self.options.strict);
        let given = folded_texts(values);
        let read = |text: &str, notes: &mut Vec<String>| {
            let row = if table == Table::Sectors {
                let found = catalog.find(table, &normal(text));
                let found = found.or_else(|| catalog.rows_named(table, text).into_iter().min());
                let names = catalog.sector_names();
                let found = found.or_else(|| names.joined.get(&fold(text).replace(' ', "")).copied());
                let row = found.or_else(|| names.by_letters.get(&letters(&fold(text))).copied())?;
                notes.extend(catalog.larger_sector_note(parameter.name, row, &given));
                row
            } else {
                one_of(catalog, strict, parameter, table, text, notes)?
            };
            Some((catalog.snapshot().slug(table, row).to_owned(), row))
        };
        if !matches!(parameter.kind, ParamType::Like(_)) {
            self.any_of(parameter, values, read);
        } else if let Some((slugs, rows)) = self.parse_values(parameter, values, read) {
            // Nothing is like a missing record.
            let like = rows.first().map(|row| Filter::Ranked(Ranking::Like(*row)));
            self.add_values(parameter, slugs, like.unwrap_or_else(|| Filter::Rows(Vec::new())));
        }
    }

    pub(super) fn organizations(&mut self, parameter: &'static Parameter, values: &NamedValues<'_>) {
        let (catalog, strict) = (self.catalog, self.options.strict);
        let slug = |table: Table, row: u32| catalog.snapshot().slug(table, row).to_owned();
        let read = |text: &str, notes: &mut Vec<String>| {
            let [firm, startup] =
                [Table::Firms, Table::Startups].map(|table| one_of(catalog, strict, parameter, table, text, notes));
            let name = firm.map(|row| slug(Table::Firms, row)).or_else(|| Some(slug(Table::Startups, startup?)))?;
            Some((name, (firm, startup)))
        };
        let Some((_, found)) = self.parse_values(parameter, values, read) else { return };
        let (firms, startups): (Vec<Option<u32>>, Vec<Option<u32>>) = found.into_iter().unzip();
        let [firms, startups] = [firms, startups].map(|rows| distinct(rows.into_iter().flatten()));
        let of_firms = firms.iter().map(|row| slug(Table::Firms, *row));
        let slugs = distinct(of_firms.chain(startups.iter().map(|row| slug(Table::Startups, *row))));
        if !slugs.is_empty() && parameter.mode != Mode::Not {
            let note = catalog.note_without_people(&firms, &startups);
            self.notes.extend(note.map(|note| ParameterError::warning("low_coverage", parameter.name, note)));
        }
        self.add_values(parameter, slugs, Filter::MemberOf { firms, startups });
    }

    fn any_of<I: IntoIterator<Item = (String, u32)>>(
        &mut self,
        parameter: &'static Parameter,
        values: &NamedValues<'_>,
        read: impl FnMut(&str, &mut Vec<String>) -> I,
    ) {
        let found = self.parse_values(parameter, values, read);
        if let (Some((names, indexes)), Some(facet)) = (found, parameter.facet_of_values()) {
            self.add_values(parameter, names, Filter::AnyOf(facet, distinct(indexes)));
        }
    }

    fn add_values(&mut self, parameter: &'static Parameter, mut names: Vec<String>, filter: Filter) {
        names.dedup();
        self.canonical.push((parameter.name, names.join(",")));
        match (parameter.mode, filter) {
            (Mode::All, Filter::AnyOf(facet, values)) if !values.is_empty() => {
                self.filters.extend(values.into_iter().map(|value| Filter::AnyOf(facet, vec![value])));
            }
            (Mode::Any | Mode::All, filter) => self.filters.push(filter),
            (Mode::Not, filter) => self.filters.push(Filter::Not(Box::new(filter))),
            (Mode::Round, filter) => self.filters.push(Filter::HasRound(vec![filter])),
        }
    }

    /// The canonical texts and meanings of values, sorted, each pair once; `read` adds notes. `None` for too many.
    fn parse_values<T: Ord, I: IntoIterator<Item = (String, T)>>(
        &mut self,
        parameter: &'static Parameter,
        values: &NamedValues<'_>,
        mut read: impl FnMut(&str, &mut Vec<String>) -> I,
    ) -> Option<(Vec<String>, Vec<T>)> {
        let (catalog, strict) = (self.catalog, self.options.strict);
        let max = parameter.max_values();
        let mut notes: Vec<String> = Vec::new();
        let mut given: Vec<&str> = Vec::new();
        for (_, text) in pause::every(1, values.iter()) {
            let is_name = |text: &str| {
                !has_sign(catalog, parameter, text) && catalog.is_name_with_commas(parameter, text, strict)
            };
            let mut first_of = |text: &str| read(text, &mut Vec::new()).into_iter().next().map(|(value, _)| value);
            let is_value = |text: &str| first_of(text).is_some() || catalog.is_shared_name(parameter, text);
            let list = ValueList::parse(text, is_name, is_value);
            notes.extend(list.split_names.into_iter().map(|name| split_note(name, first_of(name))));
            given.extend(list.values);
        }
        let count = given.len();
        if count > max {
            let values = if max == 1 { "value" } else { "values" };
            let detail = format!("`{}` takes at most {max} {values}, {count} are given", parameter.name);
            self.invalid(parameter.name, detail);
            return None;
        }
        let mut found = Vec::new();
        for text in pause::every(1, given) {
            if has_sign(catalog, parameter, text) {
                self.report_sign(parameter, text.trim_start_matches(SIGNS).trim_start(), text);
                if strict {
                    continue;
                }
            }
            let before = found.len();
            found.extend(read(text, &mut notes));
            if found.len() == before {
                let negated = text.get(..NOT.len()).filter(|word| word.eq_ignore_ascii_case(NOT));
                if strict && negated.is_some() && read(&text[NOT.len()..], &mut notes).into_iter().next().is_some() {
                    self.report_sign(parameter, &text[NOT.len()..], text);
                } else {
                    self.unknown(Issue::UnknownValue { parameter, value: text.to_owned() });
                }
            }
        }
        // In each order of the values the same.
        notes.sort_unstable();
        notes.dedup();
        let note = |detail: String| ParameterError::warning("value_interpreted", parameter.name, detail);
        self.notes.extend(notes.into_iter().map(note));
        Some(distinct(found).into_iter().unzip())
    }

    fn report_sign(&mut self, parameter: &'static Parameter, value: &str, text: &str) {
        let (name, included) = (parameter.name, parameter.included());
        let value = shortened(value);
        let exclusion = format!("not_{included}");
        let correction = match self.resource.parameter(&exclusion) {
            Some(_) => format!("write `{exclusion}={value}` to exclude it, `{included}={value}` to include it"),
            None => format!("write `{name}={value}` to include it; it cannot be excluded"),
        };
        let lenient = if self.options.strict { "" } else { "the sign was ignored; " };
        let detail = format!("`{}`: `{name}` takes no sign or operator; {lenient}{correction}", shortened(text));
        self.unknown(Issue::Invalid(ParameterError::invalid(name, detail)));
    }
}

/// True if a value that is no name begins with a sign, which would be lost with the punctuation: `-US` is not `US`.
fn has_sign(catalog: &Catalog, parameter: &Parameter, text: &str) -> bool {
    text.starts_with(SIGNS) && !catalog.is_exact_name(parameter, text)
}

/// Maximum number of different words of a job title.
const MAX_TITLE_WORDS: usize = 20;
/// Maximum number of values of a parameter that are checked for namesakes; each takes a look-up of names.
const MAX_NOTES: usize = 5;

/// Signs and operators of other query languages.
const SIGNS: [char; 6] = ['-', '!', '<', '>', '~', '='];

/// A word before a value that a caller wants to exclude.
const NOT: &str = "not ";

fn wider_note(text: &str, read_as: &str) -> String {
    format!("`{}` was read as {read_as}", shortened(text))
}

/// Folded texts of a parameter; given texts need no note.
fn folded_texts(values: &NamedValues<'_>) -> BTreeSet<String> {
    values.iter().flat_map(|(_, text)| text.split(',')).map(fold).collect()
}

/// Finds the row of a slug or name, with a note. Lenient parsing reads a shared name as the slug of the same spelling, and
/// a name as that of its own record, however small.
fn one_of(
    catalog: &Catalog,
    strict: bool,
    parameter: &Parameter,
    table: Table,
    text: &str,
    notes: &mut Vec<String>,
) -> Option<u32> {
    let row = match catalog.match_name(table, text) {
        NameMatch::One(row) if strict => catalog.meant_by(table, text, row),
        NameMatch::One(row) => row,
        NameMatch::Several(_) if !strict => catalog.find(table, text)?,
        NameMatch::Several(_) | NameMatch::Nothing => return None,
    };
    if notes.len() < MAX_NOTES {
        notes.extend(catalog.moved_note(table, row, text));
        notes.extend(catalog.namesake_note(parameter.name, table, text, row));
    }
    Some(row)
}

/// Values of [`Facet::Title`] that have all words of a folded text.
fn titles_with(snapshot: &Snapshot, folded: &str) -> Vec<u32> {
    let words: BTreeSet<&str> = folded.split(' ').filter(|word| !word.is_empty()).collect();
    // No title has more words.
    if words.is_empty() || words.len() > MAX_TITLE_WORDS {
        return Vec::new();
    }
    let has_all = |title: &str| words.iter().all(|word| title.split(' ').any(|known| known == *word));
    (0..).zip(snapshot.terms(Facet::Title)).filter(|(_, title)| has_all(title)).map(|(value, _)| value).collect()
}
