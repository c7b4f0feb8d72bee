//! What holds of every search, over the names of the generated data.

use std::collections::HashSet;

use venturedex::dataset::fold::fold;
use venturedex::dataset::{Facet, Table};

use crate::stage::{bundled_folder, catalog_of};

const TABLES: [Table; 4] = [Table::Firms, Table::Startups, Table::People, Table::Sectors];

/// A name with one letter lost, by turns another one.
fn mistyped(name: &str, turn: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    let lost = turn % letters.len();
    letters.iter().enumerate().filter(|(place, _)| *place != lost).map(|(_, letter)| *letter).collect()
}

#[test]
fn the_exact_name_of_every_record_finds_it_first_or_its_namesakes() {
    let catalog = catalog_of(&bundled_folder());
    for table in TABLES {
        let snapshot = catalog.snapshot();
        for row in 0..snapshot.rows(table) {
            let name = snapshot.name(table, row);
            let found = catalog.search(table, name, &|_| true);
            let place = found.hits.iter().position(|hit| hit.row == row);
            let before = &found.hits[..place.unwrap_or_else(|| panic!("{name} is not found"))];
            let aliases = |row: u32| String::from_utf8_lossy(snapshot.record(table, row).whole()).into_owned();
            for hit in before {
                let other = snapshot.name(table, hit.row);
                let namesake = fold(other) == fold(name) || aliases(hit.row).contains(name);
                assert!(namesake, "{other} stands before {name}");
            }
        }
    }
}

#[test]
fn a_query_and_its_folded_form_answer_the_same() {
    let catalog = catalog_of(&bundled_folder());
    for table in TABLES {
        let snapshot = catalog.snapshot();
        for row in (0..snapshot.rows(table)).step_by(5) {
            let query = mistyped(snapshot.name(table, row), row as usize);
            let folded = fold(&query);
            if folded.is_empty() {
                continue;
            }
            let rows = |text: &str| -> HashSet<u32> {
                catalog.search(table, text, &|_| true).hits.iter().map(|hit| hit.row).collect()
            };
            assert_eq!(rows(&query), rows(&folded), "{query}");
        }
    }
}

#[test]
fn a_filter_lets_in_only_what_passes_and_nothing_comes_twice() {
    let catalog = catalog_of(&bundled_folder());
    for table in [Table::Firms, Table::Startups] {
        let snapshot = catalog.snapshot();
        for row in (0..snapshot.rows(table)).step_by(3) {
            let query = mistyped(snapshot.name(table, row), row as usize);
            let stage = snapshot.facet_rows(table, Facet::Stage, row % 6);
            let all = catalog.search(table, &query, &|_| true);
            let some = catalog.search(table, &query, &|row| stage.contains(row));
            for found in [&all, &some] {
                let once: HashSet<u32> = found.hits.iter().map(|hit| hit.row).collect();
                assert_eq!(once.len(), found.hits.len(), "{query}");
                assert!(found.hits.windows(2).all(|pair| pair[0].score >= pair[1].score), "{query}");
            }
            assert!(some.hits.iter().all(|hit| stage.contains(hit.row)), "{query}");
            if stage.contains(row) && all.hits.first().is_some_and(|hit| hit.row == row) {
                assert_eq!(some.hits.first().map(|hit| hit.row), Some(row), "{query}");
            }
        }
    }
}
