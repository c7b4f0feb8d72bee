//! Records prepared for comparison: hashes instead of texts, without values that say nothing.
//!
//! How much a common value says depends on how many unlike names have it. So everything is counted first: a word, an
//! identifier or an investor that many have identifies none of them.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::{Xxh3Builder, xxh3_64};

use crate::resolve::name::{ParsedName, Vehicle};
use crate::resolve::record::{Record, own_domain};
use data::city;
use data::fold::fold;
use data::identifier::{MAX_UNLIKE_NAMES, Strength, strength};
use data::{Country, Table};

/// Names of a record that are compared.
const MAX_COMPARED_NAMES: usize = 8;

/// A link that more names have is not counted: a large accelerator says nothing.
const MAX_LINKED: u32 = 60;

/// Of fewer names each is rare.
const MIN_CORES: usize = 1_000;

/// A sector of a larger share of the records is common to many by chance.
const MAX_SPECIFIC: f64 = 0.05;

type Map<K, V> = HashMap<K, V, Xxh3Builder>;
type Set<K> = HashSet<K, Xxh3Builder>;

/// A value of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Identifier {
    /// The index of the scheme in [`Profiles::schemes`].
    pub scheme: u16,
    pub value: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Domain {
    pub hash: u64,
    /// Of its first label: `alder` of `alder.com` and `alder.io`.
    pub label: u64,
}

/// Something that a record is connected with, and how many unlike names are, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub hash: u64,
    pub names: u32,
}

/// What is compared of a record.
#[derive(Debug)]
pub(super) struct Profile {
    pub source: u32,
    pub is_gone: bool,
    pub names: Vec<ParsedName>,
    /// Ascending, without placeholders.
    pub identifiers: Vec<Identifier>,
    /// `None` also for a placeholder.
    pub domain: Option<Domain>,
    pub country: Option<Country>,
    pub city: Option<u64>,
    pub founded_year: Option<u16>,
    /// Ascending.
    pub sectors: Vec<u64>,
    /// Ascending.
    pub links: Vec<Link>,
}

impl Profile {
    pub(super) fn vehicle(&self) -> Option<Vehicle> {
        self.names.first()?.vehicle
    }

    /// The name, and the places in which it may have namesakes.
    fn places_of_name(&self) -> Option<(&ParsedName, impl Iterator<Item = Place>)> {
        let places = [Some(Place::Any), self.country.map(Place::Country), self.city.map(Place::City)];
        Some((self.names.first()?, places.into_iter().flatten()))
    }
}

/// Where namesakes are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Any,
    Country(Country),
    City(u64),
}

impl Place {
    /// Of a core in this place.
    fn key(self, name: &ParsedName) -> u64 {
        match self {
            Self::Any => name.hash,
            Self::Country(country) => name.hash.rotate_left(7) ^ (country.index() as u64 + 1),
            Self::City(city) => name.hash.rotate_left(13) ^ city,
        }
    }
}

/// The profiles of the records of one table, and what was counted in them.
pub(super) struct Profiles {
    pub table: Table,
    /// Of each record, in its order.
    pub all: Vec<Profile>,
    pub schemes: Vec<(String, Strength)>,
    /// The number of cores that have a word.
    words: Map<u64, u32>,
    cores: usize,
    /// Cores of several records of one source, alone and with a country or city.
    namesakes: Set<u64>,
    /// The number of records of each sector.
    sectors: Map<u64, u32>,
}

impl Profiles {
    pub(super) fn of(table: Table, records: &[&Record]) -> Self {
        let mut schemes: Vec<(String, Strength)> = Vec::new();
        let mut all = Vec::with_capacity(records.len());
        for record in records {
            all.push(read(table, record, &mut schemes));
        }
        let mut profiles = Self {
            table,
            all,
            schemes,
            words: Map::default(),
            cores: 0,
            namesakes: Set::default(),
            sectors: Map::default(),
        };
        profiles.count_names();
        profiles.remove_placeholders();
        profiles.count_links();
        profiles
    }

    /// The profiles of an item that is looked up, which is the first, and of its candidates in a release. `rows` is the
    /// number of names of the table there, and `count_of` the number of those that have a word.
    pub(super) fn of_look_up(table: Table, records: &[Record], rows: u32, count_of: impl Fn(&str) -> u32) -> Self {
        let mut schemes = Vec::new();
        let all: Vec<Profile> = records.iter().map(|record| read(table, record, &mut schemes)).collect();
        let words = all.iter().flat_map(|profile| &profile.names).flat_map(ParsedName::words);
        let words = words.map(|word| (xxh3_64(word.as_bytes()), count_of(word))).collect();
        let (namesakes, sectors) = (Set::default(), Map::default());
        let mut profiles = Self { table, all, schemes, words, cores: rows as usize, namesakes, sectors };
        let mut known: Set<u64> = Set::default();
        for (name, places) in profiles.all.iter().skip(1).filter_map(Profile::places_of_name) {
            profiles.namesakes.extend(places.map(|place| place.key(name)).filter(|key| !known.insert(*key)));
        }
        profiles
    }

    /// How many cores would be equal to this one if names were made of random words: a few at most identify a record.
    pub(super) fn expected_namesakes(&self, name: &ParsedName) -> f64 {
        let cores = self.cores.max(1) as f64;
        let shares = name.words().map(|word| {
            let count = self.words.get(&xxh3_64(word.as_bytes())).copied().unwrap_or(1);
            f64::from(count.max(1)) / cores
        });
        cores * shares.product::<f64>()
    }

    /// Whether several records of one source have this core, in the same place if one is given.
    pub(super) fn has_namesakes(&self, name: &ParsedName, place: Place) -> bool {
        self.namesakes.contains(&place.key(name))
    }

    /// Whether there are enough names to see how rare one is.
    pub(super) fn is_large(&self) -> bool {
        self.cores >= MIN_CORES
    }

    /// Whether few records are of this sector.
    pub(super) fn is_specific(&self, sector: u64) -> bool {
        let count = self.sectors.get(&sector).copied().unwrap_or(0);
        f64::from(count) <= MAX_SPECIFIC * self.all.len() as f64
    }

    fn count_names(&mut self) {
        let mut cores: Set<u64> = Set::default();
        let mut known: Set<(u64, u32)> = Set::default();
        for profile in &self.all {
            profile.sectors.iter().for_each(|sector| *self.sectors.entry(*sector).or_default() += 1);
            // A source that has a record under a new key has one record of the name.
            if let Some((name, places)) = profile.places_of_name().filter(|_| !profile.is_gone) {
                for key in places.map(|place| place.key(name)) {
                    if !known.insert((key, profile.source)) {
                        self.namesakes.insert(key);
                    }
                }
            }
            for name in &profile.names {
                if cores.insert(name.hash) {
                    for word in name.words() {
                        *self.words.entry(xxh3_64(word.as_bytes())).or_default() += 1;
                    }
                }
            }
        }
        self.cores = cores.len();
    }

    /// Removes identifiers and domains that more than [`MAX_UNLIKE_NAMES`] unlike names have.
    fn remove_placeholders(&mut self) {
        const DOMAIN: u16 = u16::MAX;
        let mut carriers: Vec<(Identifier, u32)> = Vec::new();
        for (row, profile) in self.all.iter().enumerate() {
            carriers.extend(profile.identifiers.iter().map(|identifier| (*identifier, row as u32)));
            let domain = profile.domain.map(|domain| Identifier { scheme: DOMAIN, value: domain.hash });
            carriers.extend(domain.map(|identifier| (identifier, row as u32)));
        }
        carriers.sort_unstable();
        let blocks = carriers.chunk_by(|left, right| left.0 == right.0).filter(|block| block.len() > MAX_UNLIKE_NAMES);
        let placeholders: Set<Identifier> =
            blocks.filter(|block| self.are_unlike(block)).map(|block| block[0].0).collect();
        for profile in &mut self.all {
            profile.identifiers.retain(|identifier| !placeholders.contains(identifier));
            profile.domain = profile
                .domain
                .filter(|domain| !placeholders.contains(&Identifier { scheme: DOMAIN, value: domain.hash }));
        }
    }

    /// Whether more than [`MAX_UNLIKE_NAMES`] of the carriers of a value have names that agree in nothing.
    fn are_unlike(&self, carriers: &[(Identifier, u32)]) -> bool {
        let mut distinct: Vec<&Profile> = Vec::new();
        for (_, row) in carriers {
            let profile = &self.all[*row as usize];
            let agrees = |other: &&Profile| {
                profile.names.iter().any(|name| other.names.iter().any(|known| name.agreement(known).is_some()))
            };
            if !distinct.iter().any(agrees) {
                distinct.push(profile);
            }
            if distinct.len() > MAX_UNLIKE_NAMES {
                return true;
            }
        }
        false
    }

    fn count_links(&mut self) {
        let name_of = |profile: &Profile| profile.names.first().map_or(0, |name| name.hash);
        let mut carriers: Vec<(u64, u64)> = Vec::new();
        for profile in &self.all {
            carriers.extend(profile.links.iter().map(|link| (link.hash, name_of(profile))));
        }
        carriers.sort_unstable();
        carriers.dedup();
        let mut counts: Map<u64, u32> = Map::default();
        for (link, _) in carriers {
            *counts.entry(link).or_default() += 1;
        }
        for profile in &mut self.all {
            profile.links.retain_mut(|link| {
                link.names = counts[&link.hash];
                link.names <= MAX_LINKED
            });
        }
    }
}

fn read(table: Table, record: &Record, schemes: &mut Vec<(String, Strength)>) -> Profile {
    let texts = std::iter::once(&record.name).chain(&record.aliases);
    let mut names: Vec<ParsedName> = Vec::new();
    for name in texts.filter_map(|text| ParsedName::of(table, text)).take(MAX_COMPARED_NAMES) {
        if names.iter().all(|known| !known.is_identical(&name)) {
            names.push(name);
        }
    }
    let mut identifiers = Vec::new();
    let mut address = record.website.as_deref();
    for (name, value) in &record.identifiers {
        // A domain is compared with websites.
        if name == "domain" {
            address = address.or(Some(value));
            continue;
        }
        let index = schemes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            schemes.push((name.clone(), strength(name)));
            schemes.len() - 1
        });
        identifiers.push(Identifier { scheme: index as u16, value: xxh3_64(value.as_bytes()) });
    }
    identifiers.sort_unstable();
    identifiers.dedup();
    let domain = address.and_then(own_domain).map(|domain| {
        let label = domain.split('.').next().unwrap_or_default();
        Domain { hash: xxh3_64(domain.as_bytes()), label: xxh3_64(label.as_bytes()) }
    });
    let mut sectors: Vec<u64> = record.sectors.iter().map(|sector| xxh3_64(fold(sector).as_bytes())).collect();
    sectors.sort_unstable();
    sectors.dedup();
    let mut links = record.links.hashes().to_vec();
    links.sort_unstable();
    links.dedup();
    Profile {
        source: record.source,
        is_gone: record.is_gone,
        names,
        identifiers,
        domain,
        country: record.country,
        city: record.city.as_deref().and_then(city_hash),
        founded_year: record.founded_year,
        sectors,
        links: links.into_iter().map(|hash| Link { hash, names: 0 }).collect(),
    }
}

/// Equal for all names of a city, with or without its country or state: `Bengaluru`, `Bangalore, India`.
fn city_hash(city: &str) -> Option<u64> {
    let name = fold(city.split(',').next().unwrap_or(city));
    let first = city::names_of(&name).first().copied().unwrap_or(&name);
    (!first.is_empty()).then(|| xxh3_64(first.as_bytes()))
}
