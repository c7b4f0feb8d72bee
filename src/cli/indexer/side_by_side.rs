//! Two records side by side, for people who decide whether they are one.

use std::collections::HashSet;

use data::Country;
use data::evidence::own_domain;
use data::written::WrittenName;
use import::resolve::SourceRecord;
use import::resolve::connections::Connections;
use site::review::{ReviewRow, ReviewSide};

/// Values of each side that are listed under one label.
const MAX_LISTED: usize = 8;

/// The values of two records that at least one of them has, those that both have first.
pub(crate) fn compare(records: [&SourceRecord; 2], connections: [&Connections; 2]) -> Vec<ReviewRow> {
    let values = |of: &dyn Fn(&SourceRecord) -> Vec<String>| records.map(of);
    let connected = |of: &dyn Fn(&Connections) -> Vec<String>| connections.map(of);
    let identifiers =
        |record: &SourceRecord| record.identifiers.iter().map(|(scheme, value)| format!("{scheme}:{value}")).collect();
    let unpublished = |record: &SourceRecord| match (record.is_suppressed, record.is_gone) {
        (true, _) => vec!["no: suppressed".to_owned()],
        (_, true) => vec!["no: its source does not have it any more".to_owned()],
        _ => Vec::new(),
    };
    let country = |record: &SourceRecord| record.country.map(Country::name).map(str::to_owned).into_iter().collect();
    let rows = [
        ("name", values(&|record| vec![record.name.clone()])),
        ("aliases", values(&|record| record.aliases.clone())),
        ("website", values(&|record| record.website.iter().cloned().collect())),
        ("country", values(&country)),
        ("city", values(&|record| record.city.iter().cloned().collect())),
        ("founded", values(&|record| record.founded_year.map(|year| year.to_string()).into_iter().collect())),
        ("sectors", values(&|record| record.sectors.clone())),
        ("identifiers", values(&identifiers)),
        ("organization", connected(&|known| known.organizations.clone())),
        ("investors", connected(&|known| known.investors.clone())),
        ("startups", connected(&|known| known.startups.clone())),
        ("people", connected(&|known| known.people.clone())),
        ("rounds", connected(&|known| known.rounds.clone())),
        ("published", values(&unpublished)),
    ];
    let rows = rows.into_iter().filter(|(_, sides)| sides.iter().any(|side| !side.is_empty()));
    rows.map(|(label, sides)| row(label, sides)).collect()
}

fn row(label: &'static str, sides: [Vec<String>; 2]) -> ReviewRow {
    let keyed = sides.map(|values| {
        let mut seen = HashSet::new();
        let values = values.into_iter().map(|text| (key(label, &text), text));
        let mut values: Vec<(String, String)> = values.filter(|(key, _)| seen.insert(key.clone())).collect();
        // Common values get one order on both sides.
        values.sort();
        values
    });
    let has = |side: &[(String, String)], key: &str| side.iter().any(|(other, _)| other == key);
    let [left, right] = &keyed;
    let sides = [(left, right), (right, left)].map(|(own, other)| {
        let (common, rest): (Vec<_>, Vec<_>) = own.iter().cloned().partition(|(key, _)| has(other, key));
        let texts =
            |values: Vec<(String, String)>, most: usize| values.into_iter().map(|value| value.1).take(most).collect();
        let common: Vec<String> = texts(common, MAX_LISTED);
        let listed: Vec<String> = texts(rest, MAX_LISTED - common.len());
        ReviewSide { more: own.len() - common.len() - listed.len(), common, other: listed }
    });
    ReviewRow { label, sides }
}

/// Values with one key are equal: websites of one domain, and texts that differ only in case and punctuation.
fn key(label: &str, text: &str) -> String {
    if label == "website" {
        return own_domain(text).unwrap_or_else(|| text.to_owned());
    }
    let WrittenName { words, symbols } = WrittenName::parse(text);
    let words: Vec<&str> = words.iter().map(|word| word.letters.as_str()).collect();
    // Texts of nothing but punctuation are what they are.
    if words.is_empty() && symbols.is_empty() { text.to_owned() } else { format!("{} {symbols}", words.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Table;

    #[test]
    fn equal_values_are_first_and_in_one_order_and_long_lists_are_cut() {
        let record = |id: &str, name: &str, website: &str, year| SourceRecord {
            name: name.to_owned(),
            website: Some(website.to_owned()),
            founded_year: year,
            ..SourceRecord::new(Table::Startups, id.to_owned(), 0)
        };
        let left = record("a/startup:1", "Zyntrix", "https://zyntrix.example", Some(2019));
        let right = record("b/startup:1", "ZYNTRIX", "http://www.zyntrix.example/about", None);
        let names = |range: std::ops::Range<u32>| range.map(|number| format!("Investor {number:02}")).collect();
        let investors = |range| Connections { investors: names(range), ..Connections::default() };
        let rows = compare([&left, &right], [&investors(0..30), &investors(28..31)]);
        let labels: Vec<&str> = rows.iter().map(|row| row.label).collect();
        assert_eq!(labels, ["name", "website", "founded", "investors"]);
        assert!(
            rows[..2].iter().all(|row| row.sides.iter().all(|side| side.common.len() == 1 && side.other.is_empty()))
        );
        let [left, right] = &rows[3].sides;
        assert_eq!((&left.common, left.other.len(), left.more), (&right.common, 6, 22));
        assert_eq!(
            (right.common.as_slice(), right.other.as_slice()),
            (names(28..30).as_slice(), names(30..31).as_slice())
        );
    }

    #[test]
    fn symbols_and_characters_are_not_ignored() {
        assert_ne!(key("name", "C"), key("name", "C++"));
        assert_ne!(key("name", "凯石"), key("name", "凯实"));
        assert_eq!(key("city", "SAO PAULO"), key("city", "Sao Paulo"));
    }
}
