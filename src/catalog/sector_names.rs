//! Sectors with similar names: `fin tech` is `fintech`, `cybersecurity` is also `cyber-security`, `health` and `ai` have
//! the far larger siblings `health-care` and `artificial-intelligence`, and `residential-solar` is apart from `solar`.

use std::collections::{BTreeSet, HashMap};

use crate::Catalog;
use data::fold::fold;
use data::{Facet, Snapshot, Table};

/// A sector is far larger than another if it has this many times its startups.
const FAR_LARGER: u32 = 10;

/// Sectors of longer names are worth a note if together they have at least this part of the startups more.
const WORTH_A_NOTE: u64 = 10;

pub(crate) struct SectorNames {
    /// The largest sector by slug without spaces.
    pub joined: HashMap<String, u32>,
    /// The largest sector by [`letters`].
    pub by_letters: HashMap<String, u32>,
    /// The largest sector by the first letters of its words.
    pub by_initials: HashMap<String, u32>,
    /// For each sector, a larger one with the same letters, or a far larger one with its word or initials.
    pub larger: Vec<Option<u32>>,
    /// For each sector, those whose names contain its own and whose startups it does not include; largest first. Empty if
    /// they have few more startups.
    longer: Vec<Vec<u32>>,
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
        let longer = (0..rows).map(|row| longer_names(snapshot, row, &with_word)).collect();
        Self { joined, by_letters, by_initials, larger, longer }
    }
}

/// Finds the sectors for [`SectorNames::longer`] among those with a word.
fn longer_names(snapshot: &Snapshot, row: u32, with_word: &HashMap<&str, Vec<u32>>) -> Vec<u32> {
    let slug = |row: u32| snapshot.slug(Table::Sectors, row);
    let startups = |row: u32| snapshot.facet_rows(Table::Startups, Facet::Sector, row);
    let words: BTreeSet<&str> = slug(row).split('-').collect();
    let own = startups(row);
    let others = words.first().and_then(|word| with_word.get(word)).into_iter().flatten();
    let others = others.filter(|other| {
        let more: BTreeSet<&str> = slug(**other).split('-').collect();
        more.len() > words.len() && more.is_superset(&words)
    });
    let apart = others.map(|other| (*other, startups(*other).iter().filter(|startup| !own.contains(*startup))));
    let mut more = BTreeSet::new();
    let mut longer: Vec<u32> = Vec::new();
    for (other, startups) in apart {
        let before = more.len();
        more.extend(startups);
        if more.len() > before {
            longer.push(other);
        }
    }
    if (more.len() as u64) * WORTH_A_NOTE < own.count().max(1) {
        return Vec::new();
    }
    longer.sort_by_key(|other| std::cmp::Reverse(startups(*other).count()));
    longer
}

impl Catalog {
    pub(crate) fn sector_names(&self) -> &SectorNames {
        self.cached.sector_names.get_or_init(|| SectorNames::from_snapshot(self.snapshot()))
    }

    /// A note that a larger sector has a similar spelling, or that others of longer names are apart. `given` are the texts
    /// that are requested together.
    pub(crate) fn similar_sectors_note(&self, parameter: &str, row: u32, given: &BTreeSet<String>) -> Option<String> {
        let (names, snapshot) = (self.sector_names(), self.snapshot());
        let is_given = |other: &u32| {
            [snapshot.slug(Table::Sectors, *other), snapshot.name(Table::Sectors, *other)]
                .into_iter()
                .any(|name| given.contains(&fold(name)))
        };
        let size = |row: u32| u64::from(self.size(Table::Sectors, row));
        let larger = names.larger[row as usize];
        let is_other = |other: &u32| larger != Some(*other) && !is_given(other);
        let longer: Vec<u32> = names.longer[row as usize].iter().copied().filter(is_other).collect();
        // Next to other sectors, a few more startups are not worth a note.
        let together = given.iter().filter_map(|text| self.find(Table::Sectors, &text.replace(' ', "-")));
        let together: u64 = together.chain([row]).map(size).max().unwrap_or_default();
        let more: u64 = longer.iter().map(|other| size(*other)).sum();
        let longer = longer.into_iter().filter(|_| more * WORTH_A_NOTE >= together);
        let others: Vec<u32> = larger.filter(|other| !is_given(other)).into_iter().chain(longer).collect();
        self.others_note(parameter, Table::Sectors, row, &others)
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
