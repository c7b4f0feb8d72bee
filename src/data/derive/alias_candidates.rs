//! Names that records probably have besides their own, found in what a dataset already says: proposals for `aliases.csv`,
//! to be reviewed.

mod abbreviation;

use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::derive::Derived;
use crate::derive::alias_candidates::abbreviation::abbreviates;
use crate::fold::fold;
use crate::import::{Dataset, website};
use crate::{Country, Table};

/// Words before a former or other name in brackets.
const BEFORE_NAMES: [&str; 13] = [
    "formerly known as ",
    "formally known as ",
    "also known as ",
    "known as ",
    "formerly ",
    "previously ",
    "fka ",
    "f/k/a ",
    "f.k.a. ",
    "aka ",
    "a/k/a ",
    "a.k.a. ",
    "now ",
];

/// Texts in brackets that begin like this say what became of a company.
const STATES: &str = "acquired an a by closed company dead defunct inactive inc merged of part stealth the to was yc";

/// So many startups in common, and this share of the smaller portfolio, make two firms one house, if they never invested
/// together.
const MIN_SHARED: u32 = 4;
const MIN_SHARE: f64 = 0.6;

/// Startups with more investors say little about any of them.
const MAX_INVESTORS: usize = 60;

/// How sure it is that the alias is a name of the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sureness {
    Possible,
    Probable,
    Sure,
}

impl Sureness {
    pub fn name(self) -> &'static str {
        match self {
            Self::Possible => "possible",
            Self::Probable => "probable",
            Self::Sure => "sure",
        }
    }
}

/// A proposed line of `aliases.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AliasCandidate<'a> {
    pub kind: &'static str,
    pub slug: &'a str,
    pub alias: String,
    pub source: String,
    pub sureness: Sureness,
}

/// What is read of a firm or startup.
struct Named<'a> {
    slug: &'a str,
    name: &'a str,
    website: Option<&'a str>,
    aliases: &'a [String],
    /// Number of rounds.
    size: u32,
}

struct Proposal {
    row: u32,
    alias: String,
    source: String,
    sureness: Sureness,
    /// The record whose name it is, if the source says so.
    of: Option<u32>,
}

/// The candidates of all firms and startups: the surest first, those of records with most rounds first among equals.
pub(crate) fn alias_candidates<'a>(dataset: &'a Dataset, derived: &Derived) -> Vec<AliasCandidate<'a>> {
    let firms = dataset.firms.iter().zip(&derived.firms).map(|(firm, stats)| Named {
        slug: &firm.slug,
        name: &firm.name,
        website: firm.website.as_deref(),
        aliases: &firm.aliases,
        size: stats.investment_count,
    });
    let startups = dataset.startups.iter().zip(&derived.startups).map(|(startup, stats)| Named {
        slug: &startup.slug,
        name: &startup.name,
        website: startup.website.as_deref(),
        aliases: &startup.aliases,
        size: stats.round_count,
    });
    let firms: Vec<Named<'a>> = firms.collect();
    let portfolios = same_portfolios(dataset, derived, &firms);
    let mut found = reviewed(Table::Firms, &firms, portfolios);
    found.extend(reviewed(Table::Startups, &startups.collect::<Vec<_>>(), Vec::new()));
    found.sort_by_key(|(candidate, size)| (Reverse(candidate.sureness), Reverse(*size)));
    found.into_iter().map(|(candidate, _)| candidate).collect()
}

/// The proposals for a table with the size of their records, without names that the record has; a name of another record is
/// marked as such.
fn reviewed<'a>(table: Table, records: &[Named<'a>], mut proposals: Vec<Proposal>) -> Vec<(AliasCandidate<'a>, u32)> {
    let mut owners: HashMap<String, u32> = HashMap::with_capacity(records.len());
    let mut hosts: HashMap<String, u32> = HashMap::new();
    for (row, record) in records.iter().enumerate() {
        for name in std::iter::once(record.name).chain(record.aliases.iter().map(String::as_str)) {
            owners.entry(fold(name)).or_insert(row as u32);
        }
        if let Some(label) = record.website.and_then(host_label) {
            *hosts.entry(label).or_default() += 1;
        }
    }
    for (row, record) in records.iter().enumerate() {
        let mut propose = |alias: String, source: &str, sureness: Sureness| {
            proposals.push(Proposal { row: row as u32, alias, source: source.to_owned(), sureness, of: None });
        };
        let folded = fold(record.name);
        propose_from_brackets(record.name, &mut propose);
        propose_from_slug(record.slug, &folded, &mut propose);
        if let Some(label) = record.website.and_then(host_label).filter(|label| hosts[label] == 1) {
            propose_from_host(&label, &folded, &mut propose);
        }
    }
    let mut best: BTreeMap<(u32, String), Proposal> = BTreeMap::new();
    for mut proposal in proposals {
        let key = fold(&proposal.alias);
        let record = &records[proposal.row as usize];
        let is_own =
            std::iter::once(record.name).chain(record.aliases.iter().map(String::as_str)).any(|own| fold(own) == key);
        if is_own || key.len() < 2 {
            continue;
        }
        if let Some(owner) = owners.get(&key).filter(|owner| **owner != proposal.row && Some(**owner) != proposal.of) {
            proposal.source.push_str(&format!("; also a name of {}", records[*owner as usize].slug));
            proposal.sureness = Sureness::Possible;
        }
        match best.entry((proposal.row, key)) {
            Entry::Vacant(entry) => {
                entry.insert(proposal);
            }
            Entry::Occupied(mut entry) if proposal.sureness > entry.get().sureness => {
                entry.insert(proposal);
            }
            Entry::Occupied(_) => {}
        }
    }
    let candidate = |proposal: Proposal| {
        let record = &records[proposal.row as usize];
        let Proposal { alias, source, sureness, .. } = proposal;
        (AliasCandidate { kind: table.noun(), slug: record.slug, alias, source, sureness }, record.size)
    };
    best.into_values().map(candidate).collect()
}

fn propose_from_brackets(name: &str, propose: &mut impl FnMut(String, &str, Sureness)) {
    let Some((outer, rest)) = name.split_once(['(', '[']) else { return };
    let Some((inner, _)) = rest.split_once([')', ']']) else { return };
    let (inner, lower) = (inner.trim(), inner.trim().to_ascii_lowercase());
    // It separates aliases.
    if inner.contains('|') {
        return;
    }
    if let Some(before) = BEFORE_NAMES.into_iter().find(|before| lower.starts_with(before)) {
        return propose(inner[before.len()..].trim().to_owned(), "former or other name in brackets", Sureness::Sure);
    }
    let folded = fold(inner);
    let first = folded.split(' ').next().unwrap_or_default();
    let is_place = Country::read(inner).is_some();
    if outer.trim().is_empty() || is_place || STATES.split(' ').any(|state| state == first) {
        return;
    }
    if abbreviates(&folded, &fold(outer)) {
        propose(inner.to_owned(), "abbreviation in brackets", Sureness::Sure);
    } else if folded.split(' ').count() <= 4 {
        propose(inner.to_owned(), "text in brackets", Sureness::Possible);
    }
}

fn propose_from_slug(slug: &str, folded: &str, propose: &mut impl FnMut(String, &str, Sureness)) {
    // A number distinguishes records of one name.
    let text = slug.trim_end_matches(|char: char| char.is_ascii_digit());
    let text = if text.ends_with('-') { text.trim_end_matches('-') } else { slug };
    let words = text.replace('-', " ");
    if is_similar(&words, folded) {
        return;
    }
    let abbreviation = words.replace(' ', "");
    if abbreviates(&abbreviation, folded) {
        propose(abbreviation.to_uppercase(), "abbreviation in the slug", Sureness::Sure);
    } else if abbreviates(&folded.replace(' ', ""), &words) {
        propose(titled(&words), "full name in the slug", Sureness::Sure);
    } else {
        propose(titled(&words), "the slug has another name", Sureness::Probable);
    }
}

fn propose_from_host(label: &str, folded: &str, propose: &mut impl FnMut(String, &str, Sureness)) {
    let text = label.replace('-', "");
    if is_similar(&text, folded) {
        return;
    }
    if abbreviates(&text, folded) {
        propose(text.to_uppercase(), "abbreviation in the website", Sureness::Sure);
    } else if text.len() >= 3 {
        propose(titled(&label.replace('-', " ")), "the website has another name", Sureness::Possible);
    }
}

/// Whether two folded names are spellings of one: a search for either finds the other.
fn is_similar(left: &str, right: &str) -> bool {
    let (left, right) = (left.replace(' ', ""), right.replace(' ', ""));
    let shorter = left.len().min(right.len());
    let common = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    let end = left.bytes().rev().zip(right.bytes().rev()).take_while(|(left, right)| left == right).count();
    shorter == 0 || left.contains(&right) || right.contains(&left) || 2 * common >= shorter || 2 * end >= shorter
}

/// What a host is called, such as `alder` of `fund.alder.co.uk`.
fn host_label(url: &str) -> Option<String> {
    let host = website::host(url);
    let labels: Vec<&str> = host.split('.').collect();
    let before_last = labels.len().checked_sub(2)?;
    let is_ending = matches!(labels[before_last], "co" | "com" | "org" | "net" | "ac" | "gov" | "edu");
    let label = labels[before_last - usize::from(is_ending && before_last > 0)];
    (label.is_ascii() && label.bytes().any(|byte| byte.is_ascii_alphabetic())).then(|| label.to_owned())
}

/// The words with capital initials.
fn titled(words: &str) -> String {
    let titled = words.split_whitespace().map(|word| {
        let (initial, rest) = word.split_at(word.chars().next().map_or(0, char::len_utf8));
        initial.to_uppercase() + rest
    });
    titled.collect::<Vec<_>>().join(" ")
}

/// The names of smaller firms whose portfolios are mostly part of a larger one, although the two never invested together: a
/// round names an investor once.
fn same_portfolios(dataset: &Dataset, derived: &Derived, firms: &[Named<'_>]) -> Vec<Proposal> {
    let mut portfolios: Vec<Vec<u32>> = vec![Vec::new(); firms.len()];
    for (row, startup) in derived.startups.iter().enumerate() {
        if startup.investors.len() <= MAX_INVESTORS {
            startup.investors.iter().for_each(|investor| portfolios[investor.firm as usize].push(row as u32));
        }
    }
    let mut together: HashMap<(u32, u32), u32> = HashMap::new();
    let mut counts: HashMap<u32, u32> = HashMap::new();
    for (small, portfolio) in portfolios.iter().enumerate() {
        counts.clear();
        for startup in portfolio {
            for investor in &derived.startups[*startup as usize].investors {
                *counts.entry(investor.firm).or_default() += 1;
            }
        }
        for (large, shared) in &counts {
            let is_larger = firms[*large as usize].size > firms[small].size;
            let share = f64::from(*shared) / portfolio.len() as f64;
            if is_larger && *shared >= MIN_SHARED && share >= MIN_SHARE {
                together.insert((small as u32, *large), *shared);
            }
        }
    }
    let pairs = dataset.rounds.iter().flat_map(|round| {
        let investors = &round.investors[..round.investors.len().min(MAX_INVESTORS)];
        investors.iter().flat_map(move |small| investors.iter().map(move |large| (small.firm, large.firm)))
    });
    pairs.for_each(|pair| {
        together.remove(&pair);
    });
    let proposal = |((small, large), shared): ((u32, u32), u32)| {
        let count = portfolios[small as usize].len();
        let Named { slug, name, .. } = firms[small as usize];
        let source = format!("has {shared} of the {count} startups of {slug} and no common round");
        Proposal { row: large, alias: name.to_owned(), source, sureness: Sureness::Probable, of: Some(small) }
    };
    let mut found: Vec<((u32, u32), u32)> = together.into_iter().collect();
    found.sort_unstable();
    found.into_iter().map(proposal).collect()
}

#[cfg(test)]
mod tests;
