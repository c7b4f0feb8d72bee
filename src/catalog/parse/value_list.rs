//! Lists of values in one text, split at its commas, except for names of values that have commas. A name is split
//! nevertheless if all of its parts are values: `hardware,software` is two sectors, even if a third one has this name.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use crate::namesakes::is_legal_form;
use crate::param_error::shortened;
use crate::params::{MAX_VALUES, ParamType, Parameter};
use crate::{Catalog, NameMatch};
use data::fold::{fold, fold_parts};
use data::{Country, Facet, Table, identifier};

/// Maximum number of parts of a list that are searched for names; a name with commas has several parts.
const MAX_PARTS: usize = 4 * MAX_VALUES;
const MAX_PARTS_OF_NAME: usize = 6;
/// Maximum number of records of a value that are read for its spelling.
const MAX_SPELLINGS: usize = 100;

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ValueList<'t> {
    pub(super) values: Vec<&'t str>,
    /// Names with commas in the text that are not among the values.
    pub(super) split_names: Vec<&'t str>,
}

impl<'t> ValueList<'t> {
    /// `is_name` tests a text with commas for a name with these commas, `is_value` one without commas for a value.
    pub(super) fn parse(text: &'t str, is_name: impl Fn(&str) -> bool, mut is_value: impl FnMut(&str) -> bool) -> Self {
        let mut start = 0;
        let mut parts: Vec<(usize, usize)> = Vec::new();
        for part in text.split(',') {
            let first = start + part.len() - part.trim_start().len();
            if !part.trim().is_empty() {
                parts.push((first, first + part.trim().len()));
            }
            start += part.len() + 1;
        }
        let text_of = |places: &RangeInclusive<usize>| &text[parts[*places.start()].0..parts[*places.end()].1];
        let firsts = if parts.len() <= MAX_PARTS { 0..parts.len() } else { 0..0 };
        let runs = firsts.flat_map(|first| {
            let end = parts.len().min(first + MAX_PARTS_OF_NAME);
            (first + 1..end).map(move |last| first..=last)
        });
        let names: Vec<RangeInclusive<usize>> = runs.filter(|places| is_name(text_of(places))).collect();
        // Works backwards from the last part: prefer the fewest parts that are no values, then the most values.
        let mut best: Vec<(usize, usize, usize)> = vec![(0, 0, 0); parts.len() + 1];
        for first in (0..parts.len()).rev() {
            let is_unknown = names.iter().any(|name| name.contains(&first)) && !is_value(text_of(&(first..=first)));
            let (unknown, values, _) = best[first + 1];
            let single = (unknown + usize::from(is_unknown), values + 1, first);
            let of_name = |name: &RangeInclusive<usize>| {
                let (unknown, values, _) = best[name.end() + 1];
                (unknown, values + 1, *name.end())
            };
            let all = names.iter().filter(|name| *name.start() == first).map(of_name).chain([single]);
            let chosen = all.min_by_key(|(unknown, values, last)| (*unknown, Reverse(*values), Reverse(*last)));
            best[first] = chosen.unwrap_or(single);
        }
        let starts = std::iter::successors(Some(0), |first: &usize| Some(best[*first].2 + 1));
        let starts = starts.take_while(|first| *first < parts.len());
        let chosen: Vec<RangeInclusive<usize>> = starts.map(|first| first..=best[first].2).collect();
        let split_names = names.iter().filter(|name| !chosen.contains(name)).map(text_of).collect();
        Self { values: chosen.iter().map(text_of).collect(), split_names }
    }
}

fn tables_of(kind: &ParamType) -> &[Table] {
    match kind {
        ParamType::Records(table, _) | ParamType::Rows(table) | ParamType::Like(table) => std::slice::from_ref(table),
        ParamType::Organizations => &[Table::Firms, Table::Startups],
        _ => &[],
    }
}

impl Catalog {
    /// True if a text names a value of a parameter, with its commas; `with_country`: also a city with its country.
    pub(super) fn is_name_with_commas(&self, parameter: &Parameter, text: &str, with_country: bool) -> bool {
        match parameter.kind {
            ParamType::Countries => Country::is_name_with_commas(text),
            ParamType::Listed(_, Facet::City) => {
                self.is_spelled_with_commas(Facet::City, text)
                    || (with_country && self.city_with_country(text).is_some())
            }
            ParamType::Listed(_, Facet::Title) => self.is_spelled_with_commas(Facet::Title, text),
            ParamType::Listed(_, Facet::Identifier) => {
                let pair = identifier::normalize_pair(text).unwrap_or_default().to_lowercase();
                pair.contains(',') && self.snapshot().find_term(Facet::Identifier, &pair).is_some()
            }
            _ => tables_of(&parameter.kind).iter().any(|table| self.is_record_with_commas(*table, text)),
        }
    }

    fn is_record_with_commas(&self, table: Table, text: &str) -> bool {
        let is_spelled = |row: &u32| has_commas_of(self.snapshot().name(table, *row), text);
        let is_known = |name: &str| self.match_name(table, name.trim()) != NameMatch::Nothing;
        // `Alder, Inc.`
        let with_form = text.rsplit_once(',').filter(|(name, form)| !name.contains(',') && is_legal_form(form));
        self.rows_named(table, text).iter().any(is_spelled)
            || with_form.is_some_and(|(name, form)| is_known(name) && !is_known(form))
    }

    /// True if records spell a value of a facet like the text, with its commas.
    fn is_spelled_with_commas(&self, facet: Facet, text: &str) -> bool {
        let snapshot = self.snapshot();
        let Some(value) = snapshot.find_term(facet, &fold(text)) else { return false };
        let (tables, field): (&[Table], _) = match facet {
            Facet::Title => (&[Table::People], "title"),
            _ => (&[Table::Firms, Table::Startups], "city"),
        };
        tables.iter().any(|table| {
            let mut rows = snapshot.facet_rows(*table, facet, value).iter().take(MAX_SPELLINGS);
            rows.any(|row| self.text_field((*table, row), field).is_some_and(|spelling| has_commas_of(&spelling, text)))
        })
    }

    pub fn listed_names<'t>(&self, table: Table, text: &'t str) -> Vec<&'t str> {
        let is_name = |text: &str| self.is_record_with_commas(table, text);
        ValueList::parse(text, is_name, |text| self.match_name(table, text) != NameMatch::Nothing).values
    }

    pub(super) fn is_shared_name(&self, parameter: &Parameter, text: &str) -> bool {
        tables_of(&parameter.kind).iter().any(|table| matches!(self.match_name(*table, text), NameMatch::Several(_)))
    }

    pub(super) fn is_exact_name(&self, parameter: &Parameter, text: &str) -> bool {
        let snapshot = self.snapshot();
        tables_of(&parameter.kind).iter().any(|table| {
            let mut rows = self.rows_named(*table, text).into_iter();
            snapshot.find(*table, text).is_some() || rows.any(|row| snapshot.name(*table, row) == text)
        })
    }
}

fn has_commas_of(name: &str, text: &str) -> bool {
    name.contains(',') && fold_parts(name) == fold_parts(text)
}

/// A note that a name with commas was split. `canonical` is its spelling as one value.
pub(super) fn split_note(name: &str, canonical: Option<String>) -> String {
    let one = canonical.map_or_else(String::new, |canonical| format!("; the one of this name is `{canonical}`"));
    format!("`{}` was read as several values{one}", shortened(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["Alpha, Inc.", "Media, Games", "A, B", "B, C", "A, B, C"];
    const VALUES: [&str; 5] = ["Alpha", "Media", "Games", "A", "C"];

    fn parse(text: &str) -> ValueList<'_> {
        let is_name = |text: &str| NAMES.iter().any(|name| fold_parts(name) == fold_parts(text));
        ValueList::parse(text, is_name, |text| VALUES.contains(&text))
    }

    #[test]
    fn a_text_is_split_at_its_commas() {
        for (text, values) in
            [("", &[][..]), (",, ,", &[]), ("x", &["x"]), (" x ,y,, z ", &["x", "y", "z"]), ("é,\u{a0}ß", &["é", "ß"])]
        {
            assert_eq!(parse(text), ValueList { values: values.to_vec(), split_names: Vec::new() }, "{text}");
        }
    }

    #[test]
    fn a_name_with_commas_is_one_value_alone_and_next_to_others() {
        for (text, values) in [
            ("alpha,inc", &["alpha,inc"][..]),
            ("x, Alpha ,Inc. , y", &["x", "Alpha ,Inc.", "y"]),
            ("Alpha, Inc., Alpha, Inc.", &["Alpha, Inc.", "Alpha, Inc."]),
            ("A, B", &["A, B"]),
        ] {
            assert_eq!(parse(text), ValueList { values: values.to_vec(), split_names: Vec::new() }, "{text}");
        }
        // Without its commas the text is none of these names.
        assert_eq!(parse("Inc., Alpha").values, ["Inc.", "Alpha"]);
    }

    #[test]
    fn a_name_whose_parts_are_values_is_split_and_told() {
        let list = parse("x,Media, Games");
        assert_eq!((list.values, list.split_names), (vec!["x", "Media", "Games"], vec!["Media, Games"]));
        // The split into the most values, without unknown ones.
        let list = parse("A, B, C");
        assert_eq!((list.values, list.split_names), (vec!["A, B", "C"], vec!["A, B, C", "B, C"]));
    }
}
