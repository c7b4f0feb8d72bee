//! Sectors for unknown words of a question, if startups that use a word are often in one; counted on demand.

use std::collections::HashMap;

use serde::Serialize;

use crate::{Catalog, Resource};
use data::field::model;
use data::names::Names;
use data::{Facet, Table};
use platform::pause;

const MAX_WORDS: usize = 5;
/// Maximum number of startups with a word: a more frequent word says little, and takes long to count.
const MAX_STARTUPS: u64 = 20_000;
/// Minimum number of startups with the word in the sector: fewer may be chance.
const MIN_COUNT: u32 = 3;
/// Minimum share of the startups with the word that are in the sector.
const MIN_SHARE: f64 = 0.1;
/// Minimum ratio of the sector's frequency among them to its frequency among all startups.
const MIN_LIFT: f64 = 5.0;
const MAX_SECTORS: usize = 2;
/// Maximum number of startups sampled to find the sectors of those with a description.
const SAMPLE: u32 = 1_000;

model! {
    /// A sector that a word which was not understood may mean. It changes nothing.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Association as "SuggestedSector" {
        /// The word.
        pub text: String,
        /// The sector, a value of `sector`.
        pub sector: String [slug],
        /// The number of startups in the sector whose descriptions or names have the word.
        pub count: u32 [min(1)],
        /// The number of all startups that have the word.
        pub of: u32 [min(1)],
        /// How many times as frequent the sector is among them as among all startups, or as among those with a description,
        /// whichever is less: a source of descriptions may have its own sectors.
        pub lift: f64,
    }
}

/// Share of each sector among the startups with a description, from a sample.
pub(crate) type DescribedSectors = HashMap<u32, f64>;

impl Catalog {
    fn described_sectors(&self) -> DescribedSectors {
        let snapshot = self.snapshot();
        let (names, rows) = (snapshot.names(Table::Startups), snapshot.rows(Table::Startups));
        let sample = (0..rows).step_by(rows.div_ceil(SAMPLE).max(1) as usize);
        let described: Vec<u32> = sample.filter(|row| !names.description(*row).is_empty()).collect();
        let sectors = snapshot.row_values(Table::Startups, Facet::Sector);
        let mut parts: HashMap<u32, f64> = HashMap::new();
        let of_described = described.iter().flat_map(|row| sectors.of(*row));
        of_described.for_each(|sector| *parts.entry(*sector).or_default() += 1.0 / described.len() as f64);
        parts
    }

    /// Sectors that the unread words of a question about a list suggest, the most likely sector of each word first.
    pub fn associations(&self, resource: Resource, unread: &[String]) -> Vec<Association> {
        if resource.parameter("sector").is_none() {
            return Vec::new();
        }
        let words = unread.iter().flat_map(|part| part.split_whitespace()).take(MAX_WORDS);
        words.flat_map(|word| self.sectors_of_word(word)).collect()
    }

    fn sectors_of_word(&self, word: &str) -> Vec<Association> {
        let Some(index) = self.text_index(Table::Startups) else { return Vec::new() };
        let snapshot = self.snapshot();
        let described = self.cached.described_sectors.get_or_init(|| pause::without(|| self.described_sectors()));
        let sectors = snapshot.row_values(Table::Startups, Facet::Sector);
        let rows = index.descriptions.rows_with(word, MAX_STARTUPS);
        let mut counts: HashMap<u32, u32> = HashMap::new();
        rows.iter().flat_map(|row| sectors.of(*row)).for_each(|sector| *counts.entry(*sector).or_default() += 1);
        let (of, all) = (rows.len() as u32, f64::from(snapshot.rows(Table::Startups)));
        let association = |(sector, count): (u32, u32)| {
            let share = f64::from(count) / f64::from(of);
            let usual = f64::from(snapshot.facet_count(Table::Startups, Facet::Sector, sector)) / all;
            let lift = share / described.get(&sector).map_or(usual, |described| usual.max(*described));
            let is_likely = count >= MIN_COUNT && share >= MIN_SHARE && lift >= MIN_LIFT;
            is_likely.then_some((sector, count, lift))
        };
        let mut likely: Vec<(u32, u32, f64)> = counts.into_iter().filter_map(association).collect();
        // Prefers many startups and a high lift: the count, weighted by the information of the lift.
        let weight = |(_, count, lift): &(u32, u32, f64)| f64::from(*count) * lift.ln();
        likely.sort_unstable_by(|one, other| weight(other).total_cmp(&weight(one)).then(one.0.cmp(&other.0)));
        let associations = likely.into_iter().take(MAX_SECTORS).map(|(sector, count, lift)| Association {
            text: word.to_owned(),
            sector: snapshot.slug(Table::Sectors, sector).to_owned(),
            count,
            of,
            lift: (lift * 10.0).round() / 10.0,
        });
        associations.collect()
    }
}
