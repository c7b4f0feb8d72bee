//! Sectors with similar names: `fin tech` is `fintech`, `cybersecurity` is also `cyber-security`, `health` and `ai` have
//! the far larger siblings `health-care` and `artificial-intelligence`, `residential-solar` is apart
//! from `solar`, and `security` is of one field with `cybersecurity`.

use std::collections::{BTreeSet, HashMap};
use std::slice;

use crate::row_filter::distinct;
use crate::{Catalog, Filter, ParameterError, Query, RowFilter};
use data::fold::fold;
use data::number::{counted, grouped};
use data::{Facet, Snapshot, Table, sector_field};

/// A sector is far larger than another if it has this many times its startups.
const FAR_LARGER: u32 = 10;

/// Related sectors are worth a note if they have one in so many of the records of a list, or more.
const WORTH_A_NOTE: u64 = 10;

/// Firms that invested in an excluded sector are worth a note if one in so many of a list did.
const WORTH_AN_EXCEPTION: u64 = 20;

/// Number of sectors that a note or an error names.
const MAX_LISTED: usize = 5;

/// Letters that a misspelled name may lack.
const MAX_SLIP: usize = 2;

/// Fewest letters of a text that names of sectors are searched for.
const MIN_PART: usize = 4;

pub(crate) struct SectorNames {
    /// The largest sector by slug without spaces.
    pub joined: HashMap<String, u32>,
    /// The largest sector by [`letters`].
    pub by_letters: HashMap<String, u32>,
    /// The largest sector by the first letters of its words.
    pub by_initials: HashMap<String, u32>,
    /// For each sector, a larger one with the same letters, or a far larger one with its word or initials.
    pub larger: Vec<Option<u32>>,
    /// For each sector, those of one field with it, or whose names contain its own, and whose startups it does not include.
    related: Vec<Vec<u32>>,
}

/// The letters of a folded name or slug in which spellings agree: `clean technologies` and `cleantech`.
pub(crate) fn letters(name: &str) -> String {
    let word = |word: &str| match word {
        "and" => String::new(),
        "technology" | "technologies" => "tech".to_owned(),
        word => word.strip_suffix("technology").map_or_else(|| word.to_owned(), |first| format!("{first}tech")),
    };
    name.split([' ', '-']).map(word).collect()
}

impl SectorNames {
    pub(crate) fn from_snapshot(snapshot: &Snapshot) -> Self {
        let rows = snapshot.rows(Table::Sectors);
        let size = |row: u32| snapshot.facet_count(Table::Startups, Facet::Sector, row);
        let keep_larger = |map: &mut HashMap<String, u32>, key: String, row: u32| {
            let known = map.entry(key).or_insert(row);
            *known = if size(row) > size(*known) { row } else { *known };
        };
        let (mut joined, mut by_letters) = (HashMap::new(), HashMap::new());
        let (mut by_word, mut by_initials) = (HashMap::new(), HashMap::new());
        let mut with_word: HashMap<&str, Vec<u32>> = HashMap::new();
        for row in 0..rows {
            let slug = snapshot.slug(Table::Sectors, row);
            keep_larger(&mut joined, slug.replace('-', ""), row);
            keep_larger(&mut by_letters, letters(slug), row);
            let initials: String = slug.split('-').filter_map(|word| word.chars().next()).collect();
            if initials.len() > 1 {
                keep_larger(&mut by_initials, initials, row);
            }
            for word in slug.split('-') {
                keep_larger(&mut by_word, word.to_owned(), row);
                with_word.entry(word).or_default().push(row);
            }
        }
        let larger = (0..rows).map(|row| {
            let slug = snapshot.slug(Table::Sectors, row);
            let far_larger = |other: &u32| size(*other) >= size(row).saturating_mul(FAR_LARGER).max(1);
            let of_word = [by_word.get(slug), by_initials.get(slug)].into_iter().flatten().copied().filter(far_larger);
            let of_letters = by_letters.get(&letters(slug)).copied().filter(|other| size(*other) > size(row));
            of_word.chain(of_letters).filter(|other| *other != row).max_by_key(|other| size(*other))
        });
        let larger = larger.collect();
        let related = (0..rows).map(|row| related_sectors(snapshot, row, &with_word)).collect();
        Self { joined, by_letters, by_initials, larger, related }
    }
}

/// Finds the sectors for [`SectorNames::related`] by a list of fields, and among those with a word.
fn related_sectors(snapshot: &Snapshot, row: u32, with_word: &HashMap<&str, Vec<u32>>) -> Vec<u32> {
    let slug = |row: u32| snapshot.slug(Table::Sectors, row);
    let startups = |row: u32| snapshot.facet_rows(Table::Startups, Facet::Sector, row);
    let words: BTreeSet<&str> = slug(row).split('-').collect();
    let own = startups(row);
    let named = words.first().and_then(|word| with_word.get(word)).into_iter().flatten().copied();
    let named = named.filter(|other| {
        let more: BTreeSet<&str> = slug(*other).split('-').collect();
        more.len() > words.len() && more.is_superset(&words)
    });
    let of_field = sector_field::related(slug(row)).filter_map(|other| snapshot.find(Table::Sectors, other));
    let others = of_field.chain(named).filter(|other| *other != row);
    distinct(others.filter(|other| startups(*other).iter().any(|startup| !own.contains(startup))))
}

/// The sectors that a query filters by, and the place of their filter.
fn sectors_of(query: &Query) -> Option<(usize, &Vec<u32>)> {
    query.filters.iter().enumerate().find_map(|(at, filter)| match filter {
        Filter::AnyOf(Facet::Sector, sectors) => Some((at, sectors)),
        _ => None,
    })
}

/// The filter of the sectors that a query excludes.
fn excluded_sectors(query: &Query) -> Option<&Filter> {
    query.filters.iter().find_map(|filter| match filter {
        Filter::Not(excluded) if matches!(**excluded, Filter::AnyOf(Facet::Sector, _)) => Some(&**excluded),
        _ => None,
    })
}

impl Catalog {
    pub(crate) fn sector_names(&self) -> &SectorNames {
        self.cached.sector_names.get_or_init(|| SectorNames::from_snapshot(self.snapshot()))
    }

    /// A note that a larger sector has a similar spelling. `given` are the texts that are requested together.
    pub(crate) fn larger_sector_note(&self, parameter: &str, row: u32, given: &BTreeSet<String>) -> Option<String> {
        let snapshot = self.snapshot();
        let is_given = |other: &u32| {
            [snapshot.slug(Table::Sectors, *other), snapshot.name(Table::Sectors, *other)]
                .into_iter()
                .any(|name| given.contains(&fold(name)))
        };
        let larger = self.sector_names().larger[row as usize].filter(|other| !is_given(other));
        self.others_note(parameter, Table::Sectors, row, larger.as_slice())
    }

    /// A note that related sectors have many records more that meet the other conditions.
    pub(crate) fn related_sectors_note(&self, query: &Query, total: u64) -> Option<ParameterError> {
        let (at, given) = sectors_of(query)?;
        let is_counted = matches!(query.table, Table::Startups | Table::Rounds | Table::Firms) && query.text.is_none();
        let related = given.iter().filter(|_| is_counted).flat_map(|row| &self.sector_names().related[*row as usize]);
        // The note on a larger sector names that one.
        let is_named = |other: &u32| given.iter().any(|row| self.sector_names().larger[*row as usize] == Some(*other));
        let others: Vec<u32> = distinct(related.copied().filter(|other| !given.contains(other) && !is_named(other)));
        if others.is_empty() {
            return None;
        }
        let mut filters = query.filters.clone();
        let without = Filter::Not(Box::new(Filter::AnyOf(Facet::Sector, given.clone())));
        filters[at] = Filter::AnyOf(Facet::Sector, others.clone());
        filters.push(without);
        // The count is kept, so that most lists count once for all of their pages.
        let more = self.count(query.table, &filters, &RowFilter::new(self, query.table, &filters));
        if more == 0 || more * WORTH_A_NOTE < total {
            return None;
        }
        let (rows, _) = self.rows_of(&Query { filters, ..Query::all(query.table) });
        let mut counts = self.counts_of(query.table, Facet::Sector, &rows);
        counts.retain(|counted| others.contains(&counted.value));
        let slug = |row: u32| self.snapshot().slug(Table::Sectors, row);
        let mut listed: Vec<String> = counts
            .iter()
            .take(MAX_LISTED)
            .map(|counted| format!("{} ({})", slug(counted.value), grouped(counted.count)))
            .collect();
        if counts.len() > MAX_LISTED {
            listed.push(format!("{} more", counts.len() - MAX_LISTED));
        }
        let records = counted(more, query.table.noun(), query.table.plural());
        let verb = if more == 1 { "is" } else { "are" };
        let detail = format!(
            "{records} more {verb} in related sectors, which a given one does not include: {}",
            listed.join(", ")
        );
        Some(ParameterError::warning("value_interpreted", "sector", detail))
    }

    /// A note that firms beyond those of a list, which meet its other conditions, invested in one of its sectors: those of a
    /// firm are only the most frequent ones.
    pub(crate) fn sector_investors_note(&self, query: &Query, total: u64) -> Option<ParameterError> {
        if query.table == Table::Firms
            && let Some(excluded) = excluded_sectors(query)
        {
            return self.excluded_investors_note(query, excluded, total);
        }
        let (at, given) = sectors_of(query).filter(|_| query.table == Table::Firms)?;
        let invested = self.investments(&[query.filters[at].clone()]);
        let mut filters = query.filters.clone();
        filters[at] = Filter::Not(Box::new(query.filters[at].clone()));
        let others = RowFilter::new(self, Table::Firms, &filters);
        let more = invested.firms.iter().filter(|firm| others.contains(firm.firm)).count() as u64;
        if more == 0 || more * WORTH_A_NOTE < total {
            return None;
        }
        let slugs: Vec<&str> = given.iter().map(|row| self.snapshot().slug(Table::Sectors, *row)).collect();
        let (firms, verb) = (counted(more, "firm", "firms"), if more == 1 { "has" } else { "have" });
        let detail = format!(
            "{firms} more {verb} invested in startups of `{}`, but not among the firm's own sectors, which are its main ones; \
             the rounds of this `sector`, counted by `investor`, name all",
            slugs.join(",")
        );
        Some(ParameterError::warning("low_coverage", "sector", detail))
    }

    /// The same for firms of a list that invested in one of the sectors that it excludes.
    fn excluded_investors_note(&self, query: &Query, excluded: &Filter, total: u64) -> Option<ParameterError> {
        let invested = self.investments(slice::from_ref(excluded));
        let listed = RowFilter::new(self, Table::Firms, &query.filters);
        let count = invested.firms.iter().filter(|firm| listed.contains(firm.firm)).count() as u64;
        let sectors = if let Filter::AnyOf(_, sectors) = excluded { sectors.as_slice() } else { &[] };
        if count == 0 || count * WORTH_AN_EXCEPTION < total || query.text.is_some() {
            return None;
        }
        let slugs: Vec<&str> = sectors.iter().map(|row| self.snapshot().slug(Table::Sectors, *row)).collect();
        let verb = if count == 1 { "has" } else { "have" };
        let detail = format!(
            "{} of these {verb} invested in startups of `{}`, which is not among the firm's own sectors, its main ones; the \
             rounds of this `sector`, counted by `investor`, name all",
            counted(count, "firm", "firms"),
            slugs.join(",")
        );
        Some(ParameterError::warning("low_coverage", "not_sector", detail))
    }

    /// The sectors whose names contain a text, with their sizes; largest first. None for a short text.
    pub(crate) fn sectors_with(&self, text: &str) -> Vec<u32> {
        let part = fold(text).replace(' ', "-");
        if part.len() < MIN_PART {
            return Vec::new();
        }
        let slug = |row: u32| self.snapshot().slug(Table::Sectors, row);
        let mut found: Vec<u32> =
            (0..self.snapshot().rows(Table::Sectors)).filter(|row| slug(*row).contains(&part)).collect();
        // `climat` is misspelled.
        if let [only] = found[..]
            && slug(only).len() <= part.len() + MAX_SLIP
        {
            return Vec::new();
        }
        found.sort_by_key(|row| std::cmp::Reverse(self.size(Table::Sectors, *row)));
        found.truncate(MAX_LISTED);
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_a_sector_agree_in_their_letters() {
        for (one, other) in [
            ("cleantech", "clean-technology"),
            ("cleantech", "clean technologies"),
            ("biotech", "biotechnology"),
            ("fin tech", "fintech"),
            ("food-and-beverages", "food beverages"),
        ] {
            assert_eq!(letters(one), letters(other), "{one}");
        }
        assert_ne!(letters("technology"), letters("technical"));
    }
}
