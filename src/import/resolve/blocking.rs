//! Blocking: selects the pairs of records that are worth comparing, by keys that both have.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::resolve::name::sorted_words;
use crate::resolve::profile::RecordProfile;
use crate::resolve::record::SourceRecord;
use data::Table;
use data::name::CoreName;
use search::phonetic_key;

/// Largest block. A key that more records have is ignored: it says too little, and they have rarer keys as well.
const MAX_BLOCK: usize = 64;

/// Pairs of key and row, ascending.
pub(super) struct Blocks(Vec<(u64, u32)>);

impl Blocks {
    pub(super) fn new(table: Table, records: &[SourceRecord], profiles: &[RecordProfile]) -> Self {
        let mut keys: Vec<(u64, u32)> = Vec::with_capacity(records.len() * 8);
        for (row, (record, profile)) in records.iter().zip(profiles).enumerate() {
            each_key(table, &record.name, profile, |key| keys.push((key, row as u32)));
        }
        keys.sort_unstable();
        keys.dedup();
        let blocks = keys.chunk_by(|left, right| left.0 == right.0);
        let kept: Vec<&[(u64, u32)]> = blocks.filter(|block| (2..=MAX_BLOCK).contains(&block.len())).collect();
        Self(kept.concat())
    }

    /// Adds the rows after `row` that share a key with it.
    pub(super) fn later_rows(&self, table: Table, name: &str, profile: &RecordProfile, row: u32, found: &mut Vec<u32>) {
        each_key(table, name, profile, |key| {
            let start = self.0.partition_point(|entry| *entry <= (key, row));
            found.extend(self.0[start..].iter().take_while(|entry| entry.0 == key).map(|(_, other)| *other));
        });
    }
}

fn each_key(table: Table, full_name: &str, profile: &RecordProfile, mut each: impl FnMut(u64)) {
    let hash = |seed: u64, text: &str| xxh3_64_with_seed(text.as_bytes(), seed);
    for identifier in &profile.identifiers {
        each(identifier.value ^ u64::from(identifier.scheme).rotate_left(48));
    }
    if let Some(domain) = profile.traits.domain {
        each(domain.hash.rotate_left(1));
        each(domain.label.rotate_left(2));
    }
    for name in &profile.names {
        each(hash(1, &name.joined));
        if let Some(country) = profile.traits.country {
            each(hash(2 + country.index() as u64, &name.joined));
        }
        if let Some(city) = profile.traits.city {
            each(hash(city, &name.joined));
        }
        for link in &profile.links {
            // A shared round, investor or person needs only a few letters of the name, a shared organization one word.
            if table == Table::People {
                name.words().filter(|word| word.len() > 1).for_each(|word| each(hash(*link, word)));
            } else {
                let beginning: String = name.joined.chars().take(3).collect();
                each(hash(*link, &beginning));
            }
        }
        if name.joined.len() > 4 {
            each(hash(1_000, &phonetic_key(&name.joined)));
        }
    }
    if table == Table::People {
        let words = profile.names.first().map_or_else(Vec::new, sorted_words);
        each(hash(1_001, &words.join(" ")));
    } else {
        CoreName::parse(full_name).each_key(&mut each);
    }
}
