//! Profiles: records prepared for comparison, with hashes instead of texts and without values that identify nobody.
//! The weight of a shared value depends on the number of unlike names that have it, so everything is counted first: a word,
//! identifier or investor that many have identifies none of them.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::{Xxh3Builder, xxh3_64};

use crate::resolve::name::{ParsedName, Vehicle};
use crate::resolve::record::SourceRecord;
use data::evidence::{Domain, RecordTraits};
use data::fold::fold;
use data::identifier::{MAX_UNLIKE_NAMES, Strength, strength};
use data::{Country, Date, Table};

/// Names per record that are compared.
const MAX_COMPARED_NAMES: usize = 8;

/// Most names that may have a link. More common ones, such as a large accelerator, are dropped.
const MAX_LINKED: u32 = 60;

/// Cores needed to judge how rare a name is; among fewer names each is rare.
const MIN_CORES: usize = 1_000;

/// Largest share of records in a specific sector. A larger sector is shared by chance.
const MAX_SPECIFIC: f64 = 0.05;

type Map<K, V> = HashMap<K, V, Xxh3Builder>;
/// Hash of an entity by those of the ids of its records.
pub(super) type EntityHashes = Map<u64, u64>;
type Set<K> = HashSet<K, Xxh3Builder>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct HashedIdentifier {
    /// Index in [`Profiles::schemes`].
    pub scheme: u16,
    pub value: u64,
}

pub(super) struct RecordProfile {
    pub source: u32,
    pub is_gone: bool,
    /// As in [`SourceRecord::seen`].
    pub seen: Option<(Date, Date)>,
    pub names: Vec<ParsedName>,
    /// Ascending, without placeholders.
    pub identifiers: Vec<HashedIdentifier>,
    /// Without the domain if it is a placeholder.
    pub traits: RecordTraits,
    /// Ascending.
    pub sectors: Vec<u64>,
    /// Ascending.
    pub links: Vec<u64>,
}

impl RecordProfile {
    pub(super) fn vehicle(&self) -> Option<Vehicle> {
        self.names.first()?.vehicle
    }

    /// Keys of a person by the initial, surname and each organization: several of one source are not told apart by initials.
    fn initials(&self) -> impl Iterator<Item = u64> {
        let words: Option<(char, &str)> = self.names.first().and_then(|name| {
            let (first, last) = (name.words().next()?, name.words().last()?);
            Some((first.chars().next()?, last))
        });
        words.into_iter().flat_map(|(initial, surname)| {
            self.links.iter().map(move |link| link ^ xxh3_64(format!("{initial} {surname}").as_bytes()))
        })
    }

    /// Name, with the scopes in which it may have namesakes.
    fn scopes_of_name(&self) -> Option<(&ParsedName, impl Iterator<Item = NamesakeScope>)> {
        let RecordTraits { country, city, .. } = self.traits;
        let scopes = [Some(NamesakeScope::Any), country.map(NamesakeScope::Country), city.map(NamesakeScope::City)];
        Some((self.names.first()?, scopes.into_iter().flatten()))
    }
}

/// Area within which records with the same name are namesakes.
#[derive(Clone, Copy, Debug)]
pub(super) enum NamesakeScope {
    Any,
    Country(Country),
    City(u64),
}

impl NamesakeScope {
    /// Hash of the name's core and the scope.
    fn key(self, name: &ParsedName) -> u64 {
        match self {
            Self::Any => name.hash,
            Self::Country(country) => name.hash.rotate_left(7) ^ (country.index() as u64 + 1),
            Self::City(city) => name.hash.rotate_left(13) ^ city,
        }
    }
}

/// Profiles of the records of one table, with the counts of their values.
pub(super) struct Profiles {
    pub table: Table,
    pub all: Vec<RecordProfile>,
    pub schemes: Vec<(String, Strength)>,
    words: Map<u64, u32>,
    cores: usize,
    /// Keys of cores that several records of one source have, for each [`NamesakeScope`].
    namesakes: Set<u64>,
    /// Keys of initials that several people of one source have.
    colleagues: Set<u64>,
    sectors: Map<u64, u32>,
    /// Number of present records by source and domain.
    owners: Map<(u32, u64), u32>,
    /// Number of unlike names with each link; empty in a look-up.
    pub link_names: Map<u64, u32>,
}

impl Profiles {
    /// `entities`: the entity of each linked record that has several records, by the hash of its id.
    pub(super) fn new(table: Table, records: &[SourceRecord], entities: &EntityHashes) -> Self {
        let mut profiles = Self::uncounted(table, records);
        for (profile, record) in profiles.all.iter_mut().zip(records) {
            let entities = record.links.records.iter().filter_map(|id| entities.get(id)).copied();
            profile.links = sorted(std::mem::take(&mut profile.links).into_iter().chain(entities));
        }
        profiles.count_names();
        profiles.remove_placeholders();
        profiles.count_owners();
        profiles.count_links();
        profiles
    }

    /// Profiles for a look-up. The first record is the item, the others are its candidates in a release. `rows` is the number
    /// of names in the release's table, and `count` returns the number of those that contain a word.
    pub(super) fn for_look_up(table: Table, records: &[SourceRecord], rows: u32, count: impl Fn(&str) -> u32) -> Self {
        let mut profiles = Self { cores: rows as usize, ..Self::uncounted(table, records) };
        let words = profiles.all.iter().flat_map(|profile| &profile.names).flat_map(ParsedName::words);
        profiles.words = words.map(|word| (xxh3_64(word.as_bytes()), count(word))).collect();
        let mut known: Set<u64> = Set::default();
        for (name, scopes) in profiles.all.iter().skip(1).filter_map(RecordProfile::scopes_of_name) {
            profiles.namesakes.extend(scopes.map(|scope| scope.key(name)).filter(|key| !known.insert(*key)));
        }
        profiles
    }

    fn uncounted(table: Table, records: &[SourceRecord]) -> Self {
        let mut schemes = Vec::new();
        let all = records.iter().map(|record| build_profile(table, record, &mut schemes)).collect();
        let (words, sectors, link_names) = (Map::default(), Map::default(), Map::default());
        Self {
            table,
            all,
            schemes,
            words,
            cores: 0,
            namesakes: Set::default(),
            colleagues: Set::default(),
            sectors,
            owners: Map::default(),
            link_names,
        }
    }

    /// Expected number of equal cores if names were made of random words. A name with only a few identifies a record.
    pub(super) fn expected_namesakes(&self, name: &ParsedName) -> f64 {
        let cores = self.cores.max(1) as f64;
        let shares = name.words().map(|word| {
            let count = self.words.get(&xxh3_64(word.as_bytes())).copied().unwrap_or(1);
            f64::from(count.max(1)) / cores
        });
        cores * shares.product::<f64>()
    }

    /// True if several records of one source have this core within the scope.
    pub(super) fn has_namesakes(&self, name: &ParsedName, scope: NamesakeScope) -> bool {
        self.namesakes.contains(&scope.key(name))
    }

    /// True if several people of one organization, in one source, have the initial and the surname.
    pub(super) fn has_colleagues(&self, person: &RecordProfile) -> bool {
        person.initials().any(|key| self.colleagues.contains(&key))
    }

    pub(super) fn is_large(&self) -> bool {
        self.cores >= MIN_CORES
    }

    pub(super) fn is_specific(&self, sector: u64) -> bool {
        let count = self.sectors.get(&sector).copied().unwrap_or(0);
        f64::from(count) <= MAX_SPECIFIC * self.all.len() as f64
    }

    fn count_names(&mut self) {
        let mut cores: Set<u64> = Set::default();
        let mut known: Set<(u64, u32)> = Set::default();
        for profile in &self.all {
            profile.sectors.iter().for_each(|sector| *self.sectors.entry(*sector).or_default() += 1);
            // A record that its source moved to a new key is one record: the old one is gone and not a namesake.
            if let Some((name, scopes)) = profile.scopes_of_name().filter(|_| !profile.is_gone) {
                let keys = scopes.map(|scope| scope.key(name));
                self.namesakes.extend(keys.filter(|key| !known.insert((*key, profile.source))));
            }
            let names = profile.names.iter().filter(|name| cores.insert(name.hash));
            for word in names.flat_map(ParsedName::words) {
                *self.words.entry(xxh3_64(word.as_bytes())).or_default() += 1;
            }
        }
        self.cores = cores.len();
        if self.table == Table::People {
            let mut known: Set<(u64, u32)> = Set::default();
            for profile in self.all.iter().filter(|profile| !profile.is_gone) {
                self.colleagues.extend(profile.initials().filter(|key| !known.insert((*key, profile.source))));
            }
        }
    }

    /// Removes identifiers and domains that more than [`MAX_UNLIKE_NAMES`] unlike names have.
    fn remove_placeholders(&mut self) {
        const DOMAIN: u16 = u16::MAX;
        let identifier_of = |domain: Domain| HashedIdentifier { scheme: DOMAIN, value: domain.hash };
        let mut carriers: Vec<(HashedIdentifier, u32)> = Vec::new();
        for (row, profile) in (0..).zip(&self.all) {
            let domain = profile.traits.domain.map(identifier_of);
            carriers.extend(profile.identifiers.iter().copied().chain(domain).map(|identifier| (identifier, row)));
        }
        carriers.sort_unstable();
        let blocks = carriers.chunk_by(|left, right| left.0 == right.0).filter(|block| block.len() > MAX_UNLIKE_NAMES);
        let placeholders: Set<HashedIdentifier> =
            blocks.filter(|block| self.are_unlike(block)).map(|block| block[0].0).collect();
        for profile in &mut self.all {
            profile.identifiers.retain(|identifier| !placeholders.contains(identifier));
            let domain = profile.traits.domain;
            profile.traits.domain = domain.filter(|domain| !placeholders.contains(&identifier_of(*domain)));
        }
    }

    /// True if more than [`MAX_UNLIKE_NAMES`] carriers of a value have names without any agreement. Former names of a record
    /// that its source knows by its name are gone records.
    fn are_unlike(&self, carriers: &[(HashedIdentifier, u32)]) -> bool {
        let mut distinct: Vec<&RecordProfile> = Vec::new();
        let profiles = carriers.iter().map(|(_, row)| &self.all[*row as usize]);
        profiles.filter(|profile| !profile.is_gone).any(|profile| {
            let agrees = |other: &&RecordProfile| {
                profile.names.iter().any(|name| other.names.iter().any(|known| name.agreement(known).is_some()))
            };
            if !distinct.iter().any(agrees) {
                distinct.push(profile);
            }
            distinct.len() > MAX_UNLIKE_NAMES
        })
    }

    fn count_owners(&mut self) {
        for profile in self.all.iter().filter(|profile| !profile.is_gone) {
            let Some(domain) = profile.traits.domain else { continue };
            *self.owners.entry((profile.source, domain.hash)).or_default() += 1;
        }
    }

    /// True if one of two records came to their source after the other was gone, and no third record of the source has the
    /// domain of both.
    pub(super) fn is_succeeded(&self, left: &RecordProfile, right: &RecordProfile) -> bool {
        let is_before = |one: &RecordProfile, other: &RecordProfile| {
            one.is_gone && one.seen.zip(other.seen).is_some_and(|((_, last), (first, _))| last < first)
        };
        let domain = left.traits.domain.filter(|domain| right.traits.domain == Some(*domain));
        let is_only = |domain: Domain| self.owners.get(&(left.source, domain.hash)).is_none_or(|count| *count == 1);
        left.source == right.source && domain.is_some_and(is_only) && (is_before(left, right) || is_before(right, left))
    }

    fn count_links(&mut self) {
        let mut carriers: Vec<(u64, u64)> = Vec::new();
        for profile in &self.all {
            let name = profile.names.first().map_or(0, |name| name.hash);
            carriers.extend(profile.links.iter().map(|link| (*link, name)));
        }
        carriers.sort_unstable();
        carriers.dedup();
        for (link, _) in carriers {
            *self.link_names.entry(link).or_default() += 1;
        }
        for profile in &mut self.all {
            profile.links.retain(|link| self.link_names[link] <= MAX_LINKED);
        }
    }
}

fn build_profile(table: Table, record: &SourceRecord, schemes: &mut Vec<(String, Strength)>) -> RecordProfile {
    let texts = std::iter::once(&record.name).chain(&record.aliases);
    let mut names: Vec<ParsedName> = Vec::new();
    for name in texts.filter_map(|text| ParsedName::parse(table, text)).take(MAX_COMPARED_NAMES) {
        if names.iter().all(|known| !known.is_identical(&name)) {
            names.push(name);
        }
    }
    // Most records have one, and a list that grows has room for four.
    names.shrink_to_fit();
    let mut identifiers = Vec::new();
    let mut address = record.website.as_deref();
    for (name, value) in &record.identifiers {
        // A domain is compared with websites, not with identifiers.
        if name == "domain" {
            address = address.or(Some(value));
            continue;
        }
        let index = schemes.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            schemes.push((name.clone(), strength(name)));
            schemes.len() - 1
        });
        identifiers.push(HashedIdentifier { scheme: index as u16, value: xxh3_64(value.as_bytes()) });
    }
    RecordProfile {
        source: record.source,
        is_gone: record.is_gone,
        seen: record.seen,
        names,
        identifiers: sorted(identifiers.into_iter()),
        traits: RecordTraits::new(address, record.country, record.city.as_deref(), record.founded_year),
        sectors: sorted(record.sectors.iter().map(|sector| xxh3_64(fold(sector).as_bytes()))),
        links: sorted(record.links.values.iter().copied()),
    }
}

/// Values in ascending order, without duplicates.
fn sorted<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.collect();
    values.sort_unstable();
    values.dedup();
    values
}
