//! Invariants of the search, over the names of the generated data.

use std::collections::HashSet;

use catalog::Catalog;
use data::fold::{fold, is_latin};
use data::{Names, Table};
use search::{CLOSE_SCORE, MatchClass};
use serde_json::Value;

use crate::support::harness::{bundled, cases, real_catalog};

const TABLES: [Table; 4] = [Table::Firms, Table::Startups, Table::People, Table::Sectors];

/// A name without one letter, a different one each turn.
fn mistyped(name: &str, turn: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    let removed = turn % letters.len();
    letters.iter().enumerate().filter(|(position, _)| *position != removed).map(|(_, letter)| *letter).collect()
}

#[test]
fn the_exact_name_of_every_record_finds_it_its_main_record_or_another_of_this_name_first() {
    let catalog = bundled();
    for table in TABLES {
        let snapshot = catalog.snapshot();
        for row in 0..snapshot.rows(table) {
            let name = snapshot.name(table, row);
            let found = catalog.search(table, name);
            let position = found.hits.iter().position(|hit| hit.row == row);
            let before = &found.hits[..position.unwrap_or_else(|| panic!("{name} is not found"))];
            let aliases = |row: u32| String::from_utf8(snapshot.record(table, row).json()).unwrap();
            for hit in before {
                let other = snapshot.name(table, hit.row);
                let has_same_name = fold(other) == fold(name) || aliases(hit.row).contains(name);
                let is_main = snapshot.names(table).main_of(row) == Some(hit.row);
                assert!(has_same_name || is_main, "{other} is before {name}");
            }
        }
    }
}

#[test]
fn a_query_and_its_folded_form_find_the_same() {
    let catalog = bundled();
    for table in TABLES {
        let snapshot = catalog.snapshot();
        for row in (0..snapshot.rows(table)).step_by(5) {
            let query = mistyped(snapshot.name(table, row), row as usize);
            let folded = fold(&query);
            // A name that contains the characters of a query is found by them only, one in another script also by its sounds.
            if folded.is_empty() || !data::written::characters(&query).is_empty() || !query.chars().all(is_latin) {
                continue;
            }
            let rows =
                |text: &str| -> HashSet<u32> { catalog.search(table, text).hits.iter().map(|hit| hit.row).collect() };
            assert_eq!(rows(&query), rows(&folded), "{query}");
        }
    }
}

#[test]
fn results_are_in_order_and_have_no_duplicates() {
    let catalog = bundled();
    for table in [Table::Firms, Table::Startups] {
        let snapshot = catalog.snapshot();
        for row in (0..snapshot.rows(table)).step_by(3) {
            let query = mistyped(snapshot.name(table, row), row as usize);
            let found = catalog.search(table, &query);
            let once: HashSet<u32> = found.hits.iter().map(|hit| hit.row).collect();
            assert_eq!(once.len(), found.hits.len(), "{query}");
            assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "{query}");
            assert!(found.did_you_mean.iter().all(|row| !once.contains(row)), "{query}");
        }
    }
}

/// Of queries derived from names, the share whose best close match is found. The best match is
/// determined by scoring every name.
fn share_found(catalog: &Catalog, table: Table, queries: usize) -> f64 {
    let snapshot = catalog.snapshot();
    let (index, names) = (catalog.text_index(table).unwrap(), snapshot.names(table));
    let (mut close, mut found) = (0.0, 0.0);
    for number in 0..queries {
        let from = [Table::Firms, Table::Startups, Table::People][number % 3];
        let row = number * 7_919 % snapshot.rows(from) as usize;
        let name = snapshot.name(from, row as u32);
        let query = match number % 4 {
            0 => name.to_owned(),
            1 => name.chars().take(1 + number % name.chars().count()).collect(),
            2 => mistyped(name, number),
            _ => mistyped(&mistyped(name, number), number / 2),
        };
        let best = (0..snapshot.rows(table)).map(|row| index.explain(&names, &query, row).score).fold(0.0, f32::max);
        if best >= CLOSE_SCORE {
            close += 1.0;
            let hits = catalog.search(table, &query).hits;
            let is_found = hits.first().is_some_and(|hit| hit.score > best - 0.03);
            if !is_found {
                eprintln!("{query:?}: {best} missed");
            }
            found += f64::from(u8::from(is_found));
        }
    }
    assert!(close > queries as f64 / 10.0, "{close} of {queries} queries have a close match");
    found / close
}

#[test]
fn the_best_close_match_is_found() {
    let catalog = bundled();
    // Each query is compared with every name.
    for (table, few) in [(Table::Firms, 12), (Table::Startups, 4), (Table::People, 4)] {
        let share = share_found(&catalog, table, cases(600, few) as usize);
        assert!(share > 0.97, "{table:?}: {share}");
    }
}

#[test]
fn the_best_close_match_is_found_in_real_data() {
    let Some(catalog) = real_catalog() else { return };
    for table in [Table::Firms, Table::People] {
        let share = share_found(&catalog, table, cases(200, 4) as usize);
        assert!(share > 0.95, "{table:?}: {share}");
    }
}

#[test]
fn people_are_found_by_title_and_organization() {
    let catalog = bundled();
    let snapshot = catalog.snapshot();
    let mut found = 0;
    for row in (0..snapshot.rows(Table::People)).step_by(41) {
        let record = snapshot.record(Table::People, row).json();
        let person: Value = serde_json::from_slice(&record).unwrap();
        let (Some(title), Some(organization)) = (person["title"].as_str(), person["organization"]["name"].as_str())
        else {
            continue;
        };
        let word = fold(title).split(' ').next().unwrap_or_default().to_owned();
        for text in [format!("{organization} {word}"), format!("{word} of {organization}")] {
            let results = catalog.search(Table::People, &text);
            let explained = catalog.explain(Table::People, &text, row).unwrap();
            // The text may also be like the name of a person.
            if explained.strategy != "organization" {
                continue;
            }
            assert!(results.is_loose && results.hits.iter().any(|hit| hit.row == row), "{text}: {results:?}");
            assert!(explained.matches && explained.text == organization, "{text}: {explained:?}");
            let classes = catalog.match_classes(Table::People, &text, &[row]);
            assert_eq!(classes, [MatchClass::Relaxed], "{text}");
            found += 1;
        }
    }
    assert!(found > 50, "{found}");
    for text in ["founder", "founder of", "of stonecrop", "nobody of nothing"] {
        assert!(catalog.search(Table::People, text).hits.iter().all(|hit| hit.score != 0.65), "{text}");
    }
}
