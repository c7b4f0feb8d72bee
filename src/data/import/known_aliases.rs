//! Well-known abbreviations and former names, such as `a16z` and `KPCB`. They ship with the program, and only a record
//! that is surely meant gets them: by its slug or by the host of its website.

use std::collections::{HashMap, HashSet};

use once_cell::sync::Lazy;

use crate::fold::{fold, fold_into};
use crate::import::rows::DatasetOrganization;
use crate::import::{Dataset, website};
use crate::{Table, word_file};

static ENTRIES: Lazy<Vec<AliasEntry>> = Lazy::new(|| parse(include_str!("../known_aliases.txt")));

struct AliasEntry {
    table: Table,
    /// Slugs and hosts of its record; the first is the likeliest.
    keys: Vec<&'static str>,
    aliases: Vec<&'static str>,
}

/// Reads lines `kind|slugs and hosts|aliases`; the aliases are separated by `;`.
fn parse(text: &'static str) -> Vec<AliasEntry> {
    let entry = |line: &'static str| {
        let mut fields = line.split('|');
        let kind = fields.next()?;
        let table = [Table::Firms, Table::Startups].into_iter().find(|table| table.noun() == kind)?;
        let (keys, aliases) = (fields.next()?, fields.next()?);
        Some(AliasEntry { table, keys: keys.split(' ').collect(), aliases: aliases.split(';').collect() })
    };
    word_file::entries(text).filter_map(entry).collect()
}

/// Adds the known aliases to the records of a dataset, unless another of the kind has the name. Returns their number.
pub(crate) fn add(dataset: &mut Dataset) -> usize {
    add_to(&mut dataset.firms, &ENTRIES, Table::Firms) + add_to(&mut dataset.startups, &ENTRIES, Table::Startups)
}

fn add_to<V>(rows: &mut [DatasetOrganization<V>], entries: &[AliasEntry], table: Table) -> usize {
    let entries: Vec<&AliasEntry> = entries.iter().filter(|entry| entry.table == table).collect();
    let mut keys: HashMap<&str, (usize, usize)> = HashMap::new();
    let mut known: HashSet<String> = HashSet::new();
    for (index, entry) in entries.iter().enumerate() {
        keys.extend(entry.keys.iter().enumerate().map(|(rank, key)| (*key, (index, rank))));
        known.extend(entry.aliases.iter().map(|alias| fold(alias)));
    }
    // The record of each entry, by the rank of its key.
    let mut found: Vec<Option<(usize, usize)>> = vec![None; entries.len()];
    let mut taken: HashSet<String> = HashSet::new();
    let mut folded = String::new();
    for (row, record) in rows.iter().enumerate() {
        for name in std::iter::once(&record.name).chain(&record.aliases) {
            fold_into(name, &mut folded);
            if known.contains(&folded) {
                taken.insert(folded.clone());
            }
        }
        let host = record.website.as_deref().map(website::host);
        let own = [Some(record.slug.as_str()), host.as_deref()];
        for (entry, rank) in own.into_iter().flatten().filter_map(|key| keys.get(key)) {
            if found[*entry].is_none_or(|(best, _)| *rank < best) {
                found[*entry] = Some((*rank, row));
            }
        }
    }
    let mut added = 0;
    for (entry, found) in entries.iter().zip(found) {
        let Some((_, row)) = found else { continue };
        for alias in entry.aliases.iter().filter(|alias| taken.insert(fold(alias))) {
            rows[row].aliases.push((*alias).to_owned());
            added += 1;
        }
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::rows::DatasetFirm;

    fn firm(slug: &str, name: &str) -> DatasetFirm {
        DatasetFirm { slug: slug.into(), name: name.into(), ..DatasetFirm::default() }
    }

    fn added(firms: &mut [DatasetFirm]) -> usize {
        let entries = parse("# a comment\nfirm|alder-capital alder alder.example|AC;Alderway;Alder Cap\n");
        add_to(firms, &entries, Table::Firms)
    }

    #[test]
    fn every_line_is_read_and_no_key_or_alias_occurs_twice() {
        let lines = word_file::entries(include_str!("../known_aliases.txt")).count();
        assert_eq!(ENTRIES.len(), lines);
        assert!(lines >= 150);
        let (mut keys, mut aliases) = (HashSet::new(), HashSet::new());
        for entry in ENTRIES.iter() {
            for key in &entry.keys {
                assert!(
                    key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.".contains(&byte))
                );
                assert!(keys.insert((entry.table, *key)), "{key}");
            }
            for alias in &entry.aliases {
                assert!(!alias.trim().is_empty() && alias.trim() == *alias, "{:?}", entry.aliases);
                assert!(aliases.insert((entry.table, fold(alias))), "{alias}");
            }
        }
    }

    #[test]
    fn only_the_record_of_the_likeliest_key_gets_the_aliases() {
        let website = Some("https://www.alder.example/team".to_owned());
        let mut firms = vec![
            firm("alders", "Alders"),
            DatasetFirm { website: website.clone(), ..firm("alder-bay", "Alder Bay") },
            firm("alder-capital", "Alder Capital"),
        ];
        assert_eq!(added(&mut firms), 3);
        assert_eq!(firms[2].aliases, ["AC", "Alderway", "Alder Cap"]);
        assert!(firms[0].aliases.is_empty() && firms[1].aliases.is_empty());
        firms.pop();
        assert_eq!(added(&mut firms), 3);
        assert_eq!(firms[1].aliases.len(), 3, "by its website");
    }

    #[test]
    fn a_name_that_a_record_has_is_not_added() {
        let mut firms = vec![
            firm("alder-capital", "Alder Capital"),
            firm("anna-cole", "A.C."),
            DatasetFirm { aliases: vec!["ALDERWAY".into()], ..firm("way", "Way") },
        ];
        // `A.C.` folds to two words, so it is another name.
        assert_eq!(added(&mut firms), 2);
        assert_eq!(firms[0].aliases, ["AC", "Alder Cap"]);
        assert_eq!(added(&mut firms), 0, "they are known now");
    }
}
