//! Sectors with similar spellings: `fin tech` is `fintech`, `cybersecurity` is also `cyber-security`, and `health` and
//! `ai` have the far larger siblings `health-care` and `artificial-intelligence`.

use std::collections::{BTreeSet, HashMap};

use crate::Catalog;
use data::fold::fold;
use data::number::grouped;
use data::{Facet, Snapshot, Table};

/// A sector is far larger than another if it has this many times its startups.
const FAR_LARGER: u32 = 10;

pub(crate) struct SectorNames {
    /// The largest sector by slug without spaces.
    pub joined: HashMap<String, u32>,
    /// The largest sector by [`letters`].
    pub by_letters: HashMap<String, u32>,
    /// The largest sector by the first letters of its words.
    pub by_initials: HashMap<String, u32>,
    /// For each sector, a larger one with the same letters, or a far larger one with its word or initials.
    pub larger: Vec<Option<u32>>,
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
        for row in 0..rows {
            let slug = snapshot.slug(Table::Sectors, row);
            keep_larger(&mut joined, slug.replace('-', ""), row);
            keep_larger(&mut by_letters, letters(slug), row);
            let initials: String = slug.split('-').filter_map(|word| word.chars().next()).collect();
            if initials.len() > 1 {
                keep_larger(&mut by_initials, initials, row);
            }
            slug.split('-').for_each(|word| keep_larger(&mut by_word, word.to_owned(), row));
        }
        let larger = (0..rows).map(|row| {
            let slug = snapshot.slug(Table::Sectors, row);
            let far_larger = |other: &u32| size(*other) >= size(row).saturating_mul(FAR_LARGER).max(1);
            let of_word = [by_word.get(slug), by_initials.get(slug)].into_iter().flatten().copied().filter(far_larger);
            let of_letters = by_letters.get(&letters(slug)).copied().filter(|other| size(*other) > size(row));
            of_word.chain(of_letters).filter(|other| *other != row).max_by_key(|other| size(*other))
        });
        let larger = larger.collect();
        Self { joined, by_letters, by_initials, larger }
    }
}

impl Catalog {
    pub(crate) fn sector_names(&self) -> &SectorNames {
        self.cached.sector_names.get_or_init(|| SectorNames::from_snapshot(self.snapshot()))
    }

    /// A note that a larger sector has a similar spelling. `given` are the texts that are requested together.
    pub(crate) fn larger_sector_note(&self, parameter: &str, row: u32, given: &BTreeSet<String>) -> Option<String> {
        let other = self.sector_names().larger[row as usize]?;
        let snapshot = self.snapshot();
        let names = [snapshot.slug(Table::Sectors, other), snapshot.name(Table::Sectors, other)];
        if names.into_iter().any(|name| given.contains(&fold(name))) {
            return None;
        }
        let counted = |row: u32| {
            let startups = snapshot.facet_count(Table::Startups, Facet::Sector, row);
            format!("{} ({} startups)", snapshot.slug(Table::Sectors, row), grouped(startups))
        };
        Some(format!("`{parameter}` was read as {}; also {}", counted(row), counted(other)))
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
