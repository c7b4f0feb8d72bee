//! Records that are probably the same: `Alder`, with two rounds, next to `Alder Partners`, with forty.
//!
//! A near-duplicate stays a separate record, but never precedes its main record in a search. Its name must therefore
//! say nothing that the name of the main record does not: a search for `Alder India` does not mean `Alder`. The two
//! must also agree in a place, a website or an investment.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;

use crate::derive::row_order::RowOrders;
use crate::derive::{Derived, portfolios};
use crate::evidence::{Evidence, RecordTraits};
use crate::import::Dataset;
use crate::import::rows::DatasetOrganization;
use crate::name::CoreName;
use crate::parallel::all_in_parallel;
use crate::written::{WrittenName, are_same_letters};
use crate::{Country, OrganizationKind, Table};

/// Minimum letters of a core that identifies a record without other known values.
const MIN_IDENTIFYING: usize = 4;

/// Minimum ratio of sizes if only the name of the smaller record is known.
const FAR_LARGER: u32 = 10;

/// Largest records of a similar name that a record is compared with, so that a name of many records costs little.
const MAX_COMPARED: usize = 32;

#[derive(Clone, Default)]
struct NamedRecord<'a> {
    name: &'a str,
    city: Option<&'a str>,
    country: Option<Country>,
    website: Option<&'a str>,
    /// Rows of another table, ascending: the portfolio of a firm, the investors of a startup, the organization of a person.
    links: Cow<'a, [u32]>,
    /// True if a common link identifies a record. Investors do not: a startup shares them with many others.
    has_own_links: bool,
    /// Number of rounds.
    size: u32,
}

impl<'a> NamedRecord<'a> {
    fn of_organization<V>(of: &'a DatasetOrganization<V>, size: u32) -> Self {
        let (city, website) = (of.city.as_deref(), of.website.as_deref());
        Self { name: &of.name, city, country: of.country, website, size, ..Self::default() }
    }
}

/// The main record of a near-duplicate, and their common traits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NearDuplicate {
    pub main: u32,
    name: Evidence,
    /// The strongest evidence next to that of the names, or that again if nothing else is known.
    strongest: Evidence,
}

impl fmt::Display for NearDuplicate {
    /// `same name; same city`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.name {
            Evidence::NameBegins => "beginning of the name",
            Evidence::MisspelledName => "name misspelled",
            _ => "same name",
        };
        let strongest = match self.strongest {
            Evidence::Link => "common investments or organization",
            Evidence::SameDomain => "same website",
            Evidence::SameCity => "same city",
            Evidence::SameCountry => "same country, a city is unknown",
            _ => "nothing else is known of it, and the main record is far larger",
        };
        write!(f, "{name}; {strongest}")
    }
}

/// The near-duplicates of a table, by the rows of the dataset; none for tables other than firms, startups and people.
pub(crate) fn of_table(
    dataset: &Dataset,
    derived: &Derived,
    orders: &RowOrders,
    table: Table,
) -> Vec<Option<NearDuplicate>> {
    let size = |row: usize| match table {
        Table::Firms => derived.firms[row].investment_count,
        Table::Startups => derived.startups[row].round_count,
        _ => 0,
    };
    let mut order: Vec<u32> = (0..orders[table].new.len() as u32).collect();
    order.sort_unstable_by_key(|row| (Reverse(size(*row as usize)), orders.new_row(table, *row)));
    let of_firms = || portfolios(&derived.startups, derived.firms.len(), usize::MAX);
    let portfolios = if table == Table::Firms { of_firms() } else { Vec::new() };
    let record = |row: usize| match table {
        Table::Firms => NamedRecord {
            links: portfolios[row].as_slice().into(),
            has_own_links: true,
            ..NamedRecord::of_organization(&dataset.firms[row], size(row))
        },
        Table::Startups => {
            let mut links: Vec<u32> = derived.startups[row].investors.iter().map(|investor| investor.firm).collect();
            links.sort_unstable();
            NamedRecord { links: links.into(), ..NamedRecord::of_organization(&dataset.startups[row], size(row)) }
        }
        _ => {
            let person = &dataset.people[row];
            let is_of_firm = person.organization_kind == OrganizationKind::Firm;
            // Two people of the same name are one person only if they are in the same organization.
            let links = vec![person.organization << 1 | u32::from(is_of_firm)].into();
            NamedRecord { name: &person.name, links, has_own_links: true, ..NamedRecord::default() }
        }
    };
    match table {
        Table::Firms | Table::Startups | Table::People => near_duplicates(record, &order),
        Table::Rounds | Table::Reviews | Table::Sectors => vec![None; order.len()],
    }
}

/// Finds the main record of each near-duplicate; it is none itself. `order` lists all records, the most prominent first.
/// Names are taken apart again for each key, because all of them at once would take more memory than the table.
fn near_duplicates<'a>(record: impl Fn(usize) -> NamedRecord<'a> + Sync, order: &[u32]) -> Vec<Option<NearDuplicate>> {
    let mut keyed = compute_keys(&record, order);
    keyed.sort_unstable();
    keyed.dedup();
    let pairs = all_in_parallel(&split_by_key(&keyed), |part| {
        let blocks = part.chunk_by(|left, right| left.0 == right.0).filter(|block| block.len() > 1);
        blocks.flat_map(|block| find_pairs(&record, order, block)).collect::<Vec<_>>()
    });
    // The most prominent record that each record duplicates, with its rank.
    let mut best: Vec<Option<(u32, NearDuplicate)>> = vec![None; order.len()];
    for (row, rank, duplicate) in pairs.into_iter().flatten() {
        let best = &mut best[row as usize];
        if best.is_none_or(|(known, _)| rank < known) {
            *best = Some((rank, duplicate));
        }
    }
    let mut found: Vec<Option<NearDuplicate>> = vec![None; order.len()];
    for record in order {
        let Some((_, duplicate)) = best[*record as usize] else { continue };
        let main = found[duplicate.main as usize].map_or(duplicate.main, |main| main.main);
        found[*record as usize] = Some(NearDuplicate { main, ..duplicate });
    }
    found
}

/// Number of records or keys that a thread processes at a time.
const PART: usize = 1 << 16;

/// The keys of all names, each with the rank of its record.
fn compute_keys<'a>(record: &(impl Fn(usize) -> NamedRecord<'a> + Sync), order: &[u32]) -> Vec<(u64, u32)> {
    let ranked: Vec<(usize, &[u32])> = (0..).step_by(PART).zip(order.chunks(PART)).collect();
    let parts = all_in_parallel(&ranked, |(first, rows)| {
        let mut keyed = Vec::with_capacity(rows.len() * 3);
        for (rank, row) in (*first..).zip(*rows) {
            CoreName::parse(record(*row as usize).name).each_key(|key| keyed.push((key, rank as u32)));
        }
        keyed
    });
    parts.concat()
}

/// Splits sorted keys into parts that do not share a key.
fn split_by_key(mut keyed: &[(u64, u32)]) -> Vec<&[(u64, u32)]> {
    let mut parts = Vec::new();
    while let Some((last, _)) = keyed.get(PART).or(keyed.last()) {
        let (part, rest) = keyed.split_at(keyed.partition_point(|(key, _)| key <= last));
        parts.push(part);
        keyed = rest;
    }
    parts
}

/// The rows of the duplicates in a block, each with the rank of the most prominent record that it duplicates.
fn find_pairs<'a>(
    record: &impl Fn(usize) -> NamedRecord<'a>,
    order: &[u32],
    block: &[(u64, u32)],
) -> Vec<(u32, u32, NearDuplicate)> {
    let mut pairs = Vec::new();
    // The largest records, which all are compared with.
    let mut mains: Vec<(u32, CoreName, NamedRecord<'a>)> = Vec::new();
    for (_, rank) in block {
        let row = order[*rank as usize];
        let named = record(row as usize);
        let name = CoreName::parse(named.name);
        pairs.extend(mains.iter().find_map(|(larger, main_name, main)| {
            let agreement = name.repeats(main_name)?;
            // Either of two equally large records may be the misspelled one.
            if agreement == Evidence::MisspelledName && main.size == named.size {
                return None;
            }
            let strongest = find_evidence(&named, main, &name, agreement)?;
            if !has_same_writing(named.name, main.name) {
                return None;
            }
            Some((row, *larger, NearDuplicate { main: order[*larger as usize], name: agreement, strongest }))
        }));
        if mains.len() < MAX_COMPARED {
            mains.push((*rank, name, named));
        }
    }
    pairs
}

/// True unless the words and symbols of two names that sound alike are written otherwise: 右东 and 右动, C and C++.
fn has_same_writing(own: &str, main: &str) -> bool {
    let (own, main) = (WrittenName::parse(own), WrittenName::parse(main));
    // The words of both, as each name has them: marks are those of a whole name.
    let (mut letters, mut main_letters) = (String::new(), String::new());
    for word in &own.words {
        let mut alike = main.words.iter().filter(|of_main| of_main.folded == word.folded);
        if let Some(first) = alike.clone().next() {
            letters.push_str(&word.letters);
            let same = alike.find(|of_main| of_main.letters == word.letters);
            main_letters.push_str(&same.unwrap_or(first).letters);
        }
    }
    own.symbols == main.symbols && are_same_letters(&letters, &main_letters)
}

/// The strongest evidence that two records whose names agree are the same; `None` if they contradict each other.
fn find_evidence(own: &NamedRecord<'_>, main: &NamedRecord<'_>, name: &CoreName, agreed: Evidence) -> Option<Evidence> {
    let (few, many) = match own.links.len() < main.links.len() {
        true => (&own.links, &main.links),
        false => (&main.links, &own.links),
    };
    let mut found = Vec::new();
    if few.iter().any(|link| many.binary_search(link).is_ok()) {
        if main.has_own_links {
            return Some(Evidence::Link);
        }
        found.push(Evidence::Link);
    }
    let [traits, main_traits] =
        [own, main].map(|record| RecordTraits::new(record.website, record.country, record.city, None));
    traits.compare(&main_traits, &mut found);
    let is_contradiction = |found: &Evidence| {
        matches!(found, Evidence::SameLabel | Evidence::OtherDomain | Evidence::OtherCity | Evidence::OtherCountry)
    };
    if !found.contains(&Evidence::SameDomain) && found.iter().any(is_contradiction) {
        return None;
    }
    let known = [Evidence::SameDomain, Evidence::SameCity, Evidence::Link, Evidence::SameCountry];
    known.into_iter().find(|known| found.contains(known)).or_else(|| {
        let is_known = traits.city.is_some() || traits.country.is_some() || own.website.is_some();
        let is_far_larger = main.size >= own.size.max(1).saturating_mul(FAR_LARGER);
        (!is_known && is_far_larger && name.joined().len() >= MIN_IDENTIFYING).then_some(agreed)
    })
}

#[cfg(test)]
mod tests;
