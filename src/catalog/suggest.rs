//! Finds the slugs, sectors and cities nearest to a mistyped one, for `did_you_mean`. Slugs one edit away are looked up
//! in the list of slugs. With two edits there are too many to look up, so the results of a name search are used.

use std::cmp::Reverse;

use crate::Catalog;
use data::fold::fold;
use data::import::csv_row::distinct;
use data::import::website;
use data::{Facet, Table, identifier};
use platform::pause;
use search::edit_distance::{distance_within, within_one_edit};
use search::{CLOSE_SCORE, FoldedCandidates};

/// Maximum length of a compared text, in bytes.
const MAX_LENGTH: usize = 128;
/// Maximum number of compared cities or titles, most frequent first; this takes about two milliseconds.
const MAX_TERMS: usize = 20_000;
/// Number of search results with slugs to compare.
const COMPARED_RESULTS: usize = 100;

impl Catalog {
    pub(crate) fn nearest_sector(&self, text: &str) -> Option<String> {
        let snapshot = self.snapshot();
        let slug = |row| snapshot.slug(Table::Sectors, row);
        let candidates =
            self.cached.sectors.get_or_init(|| FoldedCandidates::new((0..snapshot.rows(Table::Sectors)).map(slug)));
        let nearest = candidates.nearest(text).map(|row| row as u32);
        nearest.or_else(|| self.sector_names().by_initials.get(&fold(text)).copied()).map(|row| slug(row).to_owned())
    }

    /// The most similar value of a facet of [`Facet::LISTED`] that rows of the table have, among equals that of most.
    pub(crate) fn nearest_term(&self, table: Table, facet: Facet, text: &str) -> Option<String> {
        pause::point();
        match facet {
            Facet::Website => return self.nearest_exact(table, facet, &website::host(text)),
            Facet::Identifier => {
                return self.nearest_exact(table, facet, &identifier::normalize_pair(text).ok()?.to_lowercase());
            }
            _ => {}
        }
        let snapshot = self.snapshot();
        let index = Facet::LISTED.iter().position(|known| *known == facet)?;
        let (values, candidates) = self.cached.terms[table as usize][index].get_or_init(|| {
            let rows = |value: u32| snapshot.facet_count(table, facet, value);
            let mut terms: Vec<(u32, &str)> =
                (0..).zip(snapshot.terms(facet)).filter(|(value, _)| rows(*value) > 0).collect();
            terms.sort_by_key(|(value, _)| Reverse(rows(*value)));
            terms.truncate(MAX_TERMS);
            let (values, texts): (Vec<_>, Vec<_>) = terms.into_iter().unzip();
            (values, FoldedCandidates::new(texts))
        });
        self.term_name(facet, values[candidates.nearest(text)?])
    }

    /// Nearly every record has its own, so edits are looked up instead of comparing all values.
    fn nearest_exact(&self, table: Table, facet: Facet, text: &str) -> Option<String> {
        let snapshot = self.snapshot();
        let count = snapshot.facet_values(table, facet);
        let text_at = |index: usize| snapshot.term(facet, index as u32).unwrap_or_default();
        let mut near = within_one_edit(text, count as usize, text_at).filter(|_| max_edits(text) > 0);
        let is_of_table = |index: usize| snapshot.facet_count(table, facet, index as u32) > 0;
        near.find(|(_, index)| is_of_table(*index)).map(|(_, index)| text_at(index).to_owned())
    }

    fn term_name(&self, facet: Facet, value: u32) -> Option<String> {
        match facet {
            Facet::City => Some(self.city_value(value)),
            _ => self.snapshot().term(facet, value).map(str::to_owned),
        }
    }

    /// A value of a facet of [`Facet::LISTED`] for examples: the one of the most rows of the table.
    pub(crate) fn example_term(&self, table: Table, facet: Facet) -> String {
        let example = || {
            let rows = |value: u32| self.snapshot().facet_count(table, facet, value);
            let values = (0..self.snapshot().facet_values(table, facet)).filter(|value| rows(*value) > 0);
            let value = values.max_by_key(|value| (rows(*value), Reverse(*value)));
            let fallback = match facet {
                Facet::City => "London",
                Facet::Identifier => identifier::EXAMPLE,
                _ => "example.com",
            };
            value.and_then(|value| self.term_name(facet, value)).unwrap_or_else(|| fallback.to_owned())
        };
        match Facet::LISTED.iter().position(|known| *known == facet) {
            Some(index) => {
                self.cached.example_terms[table as usize][index].get_or_init(|| pause::without(example)).clone()
            }
            None => example(),
        }
    }

    /// The slugs nearest to a mistyped slug or name, each once: those few edits away, then those that a search finds.
    pub fn nearest_slugs(&self, table: Table, text: &str, max: usize) -> Vec<String> {
        pause::point();
        let snapshot = self.snapshot();
        let by_slug = snapshot.by_slug(table);
        let typed = fold(text).replace(' ', "-");
        let edits = max_edits(&typed);
        let mut near: Vec<(u8, u32)> = Vec::new();
        if edits > 0 {
            let found = within_one_edit(&typed, by_slug.len(), |index| snapshot.slug(table, by_slug[index]));
            near.extend(found.map(|(distance, index)| (distance, by_slug[index])));
        }
        let mut matches = Vec::new();
        if near.len() < max {
            let results = self.search(table, &text.replace('-', " "));
            let close = results.hits.iter().filter(|hit| hit.score >= CLOSE_SCORE).map(|hit| hit.row);
            matches.extend(close.take(COMPARED_RESULTS));
            if edits > 0 {
                let distance = |row| distance_within(&typed, snapshot.slug(table, row), edits);
                near.extend(matches.iter().filter_map(|row| Some((distance(*row)?, *row))));
            }
        }
        // Among equally near ones, the first in the table are the most prominent.
        near.sort_unstable();
        let rows = near.into_iter().map(|(_, row)| row).chain(matches);
        let published = distinct(rows.filter(|row| snapshot.is_published(table, *row)));
        published.into_iter().take(max).map(|row| snapshot.slug(table, row).to_owned()).collect()
    }
}

/// Maximum number of edits in a mistyped slug, as in a mistyped word of a name.
fn max_edits(text: &str) -> u8 {
    match text.len() {
        3..=7 => 1,
        8..=MAX_LENGTH => 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rapidfuzz::distance::osa;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn all_slugs_within_reach_are_found_and_no_others(
            mut slugs in proptest::collection::vec("[a-c-]{1,11}", 0..60),
            text in "[a-c-]{0,11}",
        ) {
            slugs.sort();
            slugs.dedup();
            let distance = |slug: &String| osa::distance(slug.bytes(), text.bytes());
            let max = max_edits(&text);
            let expected = |max: u8| {
                let all = slugs.iter().enumerate().map(|(index, slug)| (distance(slug), index));
                let near = all.filter(|(distance, _)| *distance <= usize::from(max));
                near.map(|(distance, index)| (distance as u8, index)).collect::<Vec<_>>()
            };
            let found: Vec<_> = within_one_edit(&text, slugs.len(), |index| &slugs[index]).collect();
            prop_assert_eq!(found, expected(1));
            let within = |(index, slug)| Some((distance_within(&text, slug, max)?, index));
            prop_assert_eq!(slugs.iter().map(String::as_str).enumerate().filter_map(within).collect::<Vec<_>>(), expected(max));
        }
    }

    #[test]
    fn few_slugs_are_read() {
        // Names of six letters, scattered.
        let letters = |number: u32| (0..6).map(move |digit| char::from(b'a' + (number / 26_u32.pow(digit) % 26) as u8));
        let names = (0..100_000_u32).map(|number| letters(number.wrapping_mul(2_654_435_761)).collect::<String>());
        let mut slugs: Vec<String> = names.map(|name| name + "-capital").collect();
        slugs.sort();
        let read = std::cell::Cell::new(0);
        let typed = slugs[40_000].replace("capital", "captial");
        let slug = |index: usize| {
            read.set(read.get() + 1);
            slugs[index].as_str()
        };
        let found: Vec<_> = within_one_edit(&typed, slugs.len(), slug).collect();
        assert!(found.contains(&(1, 40_000)), "{typed}: {found:?}");
        assert!(read.get() < slugs.len() / 4, "{}", read.get());
    }

    #[test]
    fn a_text_too_long_or_too_short_has_no_near_slug() {
        for text in ["", "ab", &"a".repeat(MAX_LENGTH + 1)] {
            assert_eq!(max_edits(text), 0);
        }
    }
}
