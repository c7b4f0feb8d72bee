//! A filter only removes rows from a search: the matches, their number, facets, walks and orders agree for every text.

use std::collections::BTreeSet;

use catalog::{AggregateOptions, Catalog, Filter, ListPosition, Order, Query, Resource};
use data::fold::fold;
use data::{Direction, Facet, Table};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::harness::{Dice, bundled, cases, real_catalog};

const TABLES: [(Resource, Table); 3] =
    [(Resource::Firms, Table::Firms), (Resource::Startups, Table::Startups), (Resource::People, Table::People)];

/// Numbers to make a search and a filter of: a table, a record, what to do with its name, and the filter.
type Draw = (usize, u32, u8, usize, u32, usize);

/// A text that a person may search for, made of a name of the table.
fn text_of(catalog: &Catalog, table: Table, row: u32, change: u8) -> String {
    let snapshot = catalog.snapshot();
    let name = snapshot.name(table, row % snapshot.rows(table)).to_owned();
    let words: Vec<&str> = name.split_whitespace().collect();
    let letters = |text: &str, count: usize| text.chars().take(count).collect::<String>();
    let longest = words.iter().max_by_key(|word| word.len()).copied().unwrap_or_default();
    match change {
        0 => name.clone(),
        1 => longest.to_owned(),
        2 => words.last().copied().unwrap_or_default().to_owned(),
        3 => letters(&name, 1),
        4 => letters(&name, 2),
        5 => letters(&name, 4),
        6 => longest.chars().skip(1).collect(),
        7 => format!("{name} london"),
        8 => words.iter().map(|word| letters(word, 4)).collect::<Vec<_>>().join(" "),
        _ => format!("{longest} capital"),
    }
}

/// All rows of a query, page by page.
fn walk(catalog: &Catalog, query: &Query, limit: usize) -> (Vec<u32>, u64) {
    let mut rows = Vec::new();
    let mut position = ListPosition::default();
    loop {
        let page = catalog.list(query, position, limit);
        rows.extend(page.rows);
        match page.next {
            Some(next) => position = next,
            None => return (rows, page.total),
        }
    }
}

fn check(catalog: &Catalog, (kind, row, change, facet, value, key): Draw) -> Result<(), TestCaseError> {
    let (resource, table) = TABLES[kind];
    let snapshot = catalog.snapshot();
    let text = text_of(catalog, table, row, change);
    let facets: Vec<Facet> =
        table.facets().iter().copied().filter(|facet| snapshot.facet_values(table, *facet) > 0).collect();
    let facet = facets[facet % facets.len()];
    // A value that occurs: that of a row, if it has one.
    let values = 0..snapshot.facet_values(table, facet);
    let of_row = |value: &u32| snapshot.facet_rows(table, facet, *value).contains(row % snapshot.rows(table));
    let values: Vec<u32> = match values.len() < 2_000 {
        true => values.clone().find(of_row).into_iter().chain([value % values.end]).collect(),
        false => vec![value % values.end],
    };
    let all = Query { text: Some(text.clone()), order: Order::Relevance, ..Query::all(table) };
    let (ranked, total) = walk(catalog, &all, 10_000);
    let matches: BTreeSet<u32> = ranked.iter().copied().collect();
    prop_assert_eq!(matches.len(), ranked.len(), "a row is listed twice: {:?}", &text);
    prop_assert_eq!(total, ranked.len() as u64, "{:?}", &text);
    let filter = Filter::AnyOf(facet, values.clone());
    let passes = |row: u32| values.iter().any(|value| snapshot.facet_rows(table, facet, *value).contains(row));
    let expected: Vec<u32> = ranked.iter().copied().filter(|row| passes(*row)).collect();

    let filtered = Query { filters: vec![filter], ..all.clone() };
    prop_assert_eq!(&walk(catalog, &filtered, 97).0, &expected, "{:?} with {:?}", &text, &filtered.filters);
    let keys = vec![(key % table.sort_keys().len(), Direction::Descending)];
    let sorted = Query { order: Order::Keys(keys), ..filtered.clone() };
    let in_order: BTreeSet<u32> = walk(catalog, &sorted, 1_000).0.into_iter().collect();
    prop_assert_eq!(&in_order, &expected.iter().copied().collect::<BTreeSet<u32>>(), "{:?} sorted", &text);
    let options = AggregateOptions::parse(resource, &[("group_by".to_owned(), "country".to_owned())]).expect("options");
    for (query, rows) in [(&all, &ranked), (&filtered, &expected)] {
        let (aggregate, _) = catalog.compute_aggregate(query, &options);
        prop_assert_eq!(aggregate.total, rows.len() as u64, "{:?}", &text);
        for group in &aggregate.groups[0].values {
            let country = data::Country::from_alpha2(&group.value).expect("a country").index() as u32;
            let own = rows.iter().filter(|row| snapshot.facet_rows(table, Facet::Country, country).contains(**row));
            prop_assert_eq!(group.count, own.count() as u64, "{:?} in {}", &text, &group.value);
        }
    }
    Ok(())
}

fn check_many(catalog: &Catalog, cases: u32) {
    let draw = (0_usize..3, any::<u32>(), 0_u8..10, any::<usize>(), any::<u32>(), any::<usize>());
    let mut runner = TestRunner::new(Config { cases, ..Config::default() });
    runner.run(&draw, |draw| check(catalog, draw)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn a_filter_only_removes_rows_from_a_search() {
    check_many(&bundled(), cases(600, 40));
}

#[test]
fn a_filter_only_removes_rows_from_a_search_of_the_real_data() {
    let Some(catalog) = real_catalog() else { return };
    check_many(&catalog, cases(5_000, 60));

    // A walk gives every firm that has the word, far more than are ranked.
    let query = Query { text: Some("capital".to_owned()), order: Order::Relevance, ..Query::all(Table::Firms) };
    let rows: BTreeSet<u32> = walk(&catalog, &query, 100).0.into_iter().collect();
    let snapshot = catalog.snapshot();
    let has_word = |row: &u32| {
        let name = snapshot.name(Table::Firms, *row).to_lowercase();
        name.split(|char: char| !char.is_alphanumeric()).any(|word| word == "capital")
    };
    let missing: Vec<&str> = (0..snapshot.rows(Table::Firms))
        .filter(|row| has_word(row) && !rows.contains(row))
        .map(|row| snapshot.name(Table::Firms, row))
        .collect();
    assert!(missing.is_empty() && rows.len() > 1_000, "{} found, missing: {missing:?}", rows.len());
}

/// Ordinary words to make names of.
const WORDS: &str = "amber anchor apple arrow autumn badge bakery balcony banjo barrel basket beacon bicycle blanket bottle \
    branch bridge bronze brush bucket button cabin candle canyon carpet castle cellar chapel cherry chimney clover \
    cobbler comet copper cotton cradle crystal curtain dagger desert dolphin donkey drawer eagle ember engine falcon \
    farmer feather fiddle forest fountain galaxy garden garlic ginger glacier goblet granite hammer harbor harvest \
    hazel helmet hollow honey horizon island ivory jacket jasmine jungle kettle kitchen ladder lantern lemon lily \
    linen lobster magnet maple marble meadow melon mirror mitten monsoon mustard needle nutmeg oasis olive orchard \
    otter oyster paddle palace parrot pebble pepper pillow pirate planet pocket puzzle quartz rabbit ribbon river \
    rocket saddle salmon scarlet shadow shelter silver sparrow spiral stable summer sunset temple thimble thunder \
    timber trumpet tulip tunnel turtle valley velvet violin walnut whistle willow window winter wizard yellow";

/// The share of names that are not in the data of which a search surely finds another.
fn share_of_wrong_names(catalog: &Catalog) -> f64 {
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let snapshot = catalog.snapshot();
    let known_names = TABLES.map(|(_, table)| -> String {
        (0..snapshot.rows(table)).map(|row| fold(snapshot.name(table, row)) + "\n").collect()
    });
    let endings = ["", "capital", "ventures", "labs", "health", "bank", "partners", "systems"];
    let mut dice = Dice(0x5eed);
    let (mut wrong, mut count) = (0, 0);
    while count < 300 {
        let (_, table) = TABLES[count % 3];
        let ending = if table == Table::People { "" } else { endings[dice.below(endings.len())] };
        let [first, second] = [0; 2].map(|_| words[dice.below(words.len())]);
        let name = format!("{first} {second} {ending}").trim().to_owned();
        if known_names[count % 3].contains(&name) {
            continue;
        }
        count += 1;
        let rows: Vec<u32> = catalog.search(table, &name).hits.iter().map(|hit| hit.row).collect();
        let sure: Vec<&str> = catalog
            .match_classes(table, &name, &rows)
            .into_iter()
            .zip(&rows)
            .filter(|(class, _)| class.is_sure())
            .map(|(_, row)| snapshot.name(table, *row))
            .collect();
        if !sure.is_empty() {
            eprintln!("{name}: {sure:?}");
            wrong += 1;
        }
    }
    f64::from(wrong) / count as f64
}

#[test]
fn a_name_that_is_not_in_the_data_surely_matches_no_other() {
    let share = share_of_wrong_names(&bundled());
    assert!(share <= 0.03, "{share}");
    let Some(catalog) = real_catalog() else { return };
    let share = share_of_wrong_names(&catalog);
    assert!(share <= 0.03, "{share}");
}
