//! Likely further names of records, found in the dataset itself: proposals for `aliases.csv`, to be reviewed.

mod abbreviation;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use crate::derive::alias_candidates::abbreviation::abbreviates;
use crate::derive::{Derived, portfolios};
use crate::evidence::own_domain;
use crate::fold::fold;
use crate::import::Dataset;
use crate::import::rows::{DatasetFirm, DatasetOrganization};
use crate::vocabulary::{Vocabulary, capitalized, vocabulary};
use crate::{Country, Table};

/// Phrases before a former or other name in brackets.
const BEFORE_NAMES: &str = "formerly known as|formally known as|also known as|known as|formerly|previously|fka|f/k/a|f.k.a.|\
                            aka|a/k/a|a.k.a.|now";

/// First words of texts in brackets that say what became of a company.
const STATES: &str = "acquired an a by closed company dead defunct inactive inc merged of part stealth the to was yc";

/// Firms that never invested together are one house if they share this many startups, this part of the smaller portfolio.
const MIN_SHARED: u32 = 4;
const MIN_SHARE: f64 = 0.6;

/// A startup with more investors says little about any of them.
const MAX_INVESTORS: usize = 60;

vocabulary! {
    Sureness, "sureness", {
        Possible = "possible",
        Probable = "probable",
        Sure = "sure",
    }
}

/// A proposed line of `aliases.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AliasCandidate<'a> {
    pub kind: &'static str,
    pub slug: &'a str,
    pub alias: String,
    pub source: String,
    pub sureness: &'static str,
}

struct Proposal {
    row: u32,
    alias: String,
    source: String,
    sureness: Sureness,
    /// The record that has the alias as its name, if the source is such a record.
    of: Option<u32>,
}

/// The candidates of all firms and startups: the surest first, then those of records with the most rounds.
pub(crate) fn alias_candidates<'a>(dataset: &'a Dataset, derived: &Derived) -> Vec<AliasCandidate<'a>> {
    let investments = |row: u32| derived.firms[row as usize].investment_count;
    let portfolios = propose_from_portfolios(dataset, derived);
    let mut found = merge_proposals(Table::Firms, &dataset.firms, investments, portfolios);
    let rounds = |row: u32| derived.startups[row as usize].round_count;
    found.extend(merge_proposals(Table::Startups, &dataset.startups, rounds, Vec::new()));
    found.sort_by_key(|(_, sureness, rounds)| (Reverse(*sureness), Reverse(*rounds)));
    found.into_iter().map(|(candidate, ..)| candidate).collect()
}

/// Merges the proposals, each with the number of rounds of its record, without known names. Marks those of other records.
fn merge_proposals<'a, V>(
    table: Table,
    records: &'a [DatasetOrganization<V>],
    rounds: impl Fn(u32) -> u32,
    mut proposals: Vec<Proposal>,
) -> Vec<(AliasCandidate<'a>, Sureness, u32)> {
    let mut owners: HashMap<String, u32> = HashMap::with_capacity(records.len());
    let mut hosts: HashMap<String, u32> = HashMap::new();
    for (row, record) in records.iter().enumerate() {
        for name in std::iter::once(&record.name).chain(&record.aliases) {
            owners.entry(fold(name)).or_insert(row as u32);
        }
        if let Some(label) = record.website.as_deref().and_then(host_label) {
            *hosts.entry(label).or_default() += 1;
        }
    }
    for (row, record) in records.iter().enumerate() {
        let mut propose = |alias: String, source: &str, sureness: Sureness| {
            proposals.push(Proposal { row: row as u32, alias, source: source.to_owned(), sureness, of: None });
        };
        let folded = fold(&record.name);
        propose_from_brackets(&record.name, &mut propose);
        propose_from_slug(&record.slug, &folded, &mut propose);
        if let Some(label) = record.website.as_deref().and_then(host_label).filter(|label| hosts[label] == 1) {
            propose_from_host(&label, &folded, &mut propose);
        }
    }
    let mut best: BTreeMap<(u32, String), Proposal> = BTreeMap::new();
    for mut proposal in proposals {
        let key = fold(&proposal.alias);
        let record = &records[proposal.row as usize];
        let is_own = std::iter::once(&record.name).chain(&record.aliases).any(|own| fold(own) == key);
        if is_own || key.len() < 2 {
            continue;
        }
        if let Some(owner) = owners.get(&key).filter(|owner| **owner != proposal.row && Some(**owner) != proposal.of) {
            proposal.source.push_str(&format!("; also a name of {}", records[*owner as usize].slug));
            proposal.sureness = Sureness::Possible;
        }
        let key = (proposal.row, key);
        if best.get(&key).is_none_or(|known| proposal.sureness > known.sureness) {
            best.insert(key, proposal);
        }
    }
    let candidate = |proposal: Proposal| {
        let Proposal { row, alias, source, sureness, .. } = proposal;
        let slug = &records[row as usize].slug;
        let candidate = AliasCandidate { kind: table.noun(), slug, alias, source, sureness: sureness.name() };
        (candidate, sureness, rounds(row))
    };
    best.into_values().map(candidate).collect()
}

fn propose_from_brackets(name: &str, propose: &mut impl FnMut(String, &str, Sureness)) {
    let Some((outer, rest)) = name.split_once(['(', '[']) else { return };
    let Some((inner, _)) = rest.split_once([')', ']']) else { return };
    let (inner, lower) = (inner.trim(), inner.trim().to_ascii_lowercase());
    // `|` separates aliases.
    if inner.contains('|') {
        return;
    }
    let is_before = |before: &&str| lower.strip_prefix(before).is_some_and(|name| name.starts_with(' '));
    if let Some(before) = BEFORE_NAMES.split('|').find(is_before) {
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
    // A number distinguishes records of the same name.
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
        propose(capitalize_words(&words), "full name in the slug", Sureness::Sure);
    } else {
        propose(capitalize_words(&words), "the slug has another name", Sureness::Probable);
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
        propose(capitalize_words(&label.replace('-', " ")), "the website has another name", Sureness::Possible);
    }
}

/// True if two folded names are spellings of one: a search for either finds the other.
fn is_similar(left: &str, right: &str) -> bool {
    let (left, right) = (left.replace(' ', ""), right.replace(' ', ""));
    let shorter = left.len().min(right.len());
    let common = left.bytes().zip(right.bytes()).take_while(|(left, right)| left == right).count();
    let end = left.bytes().rev().zip(right.bytes().rev()).take_while(|(left, right)| left == right).count();
    shorter == 0 || left.contains(&right) || right.contains(&left) || 2 * common >= shorter || 2 * end >= shorter
}

/// The label of a website's domain, such as `alder` in `fund.alder.co.uk`.
fn host_label(url: &str) -> Option<String> {
    let domain = own_domain(url)?;
    let label = domain.split('.').next()?;
    (label.is_ascii() && label.bytes().any(|byte| byte.is_ascii_alphabetic())).then(|| label.to_owned())
}

fn capitalize_words(words: &str) -> String {
    words.split_whitespace().map(capitalized).collect::<Vec<_>>().join(" ")
}

/// Proposes a smaller firm's name for one with most of its portfolio, if no round names both: it names a house once.
fn propose_from_portfolios(dataset: &Dataset, derived: &Derived) -> Vec<Proposal> {
    let portfolios = portfolios(&derived.startups, derived.firms.len(), MAX_INVESTORS);
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
            let is_larger = derived.firms[*large as usize].investment_count > derived.firms[small].investment_count;
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
        let DatasetFirm { slug, name, .. } = &dataset.firms[small as usize];
        let source = format!("has {shared} of the {count} startups of {slug} and no common round");
        Proposal { row: large, alias: name.clone(), source, sureness: Sureness::Probable, of: Some(small) }
    };
    let mut found: Vec<((u32, u32), u32)> = together.into_iter().collect();
    found.sort_unstable();
    found.into_iter().map(proposal).collect()
}

#[cfg(test)]
mod tests;
