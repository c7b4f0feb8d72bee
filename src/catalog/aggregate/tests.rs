use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::bundled;
use data::PartialDate;

static CATALOG: LazyLock<Catalog> = LazyLock::new(|| bundled().unwrap());

/// Every property of a table: all facets, dates and years of foundation.
fn properties(table: Table) -> Vec<(&'static str, GroupBy)> {
    let facets = table.facets().iter().map(|facet| (facet.name(), GroupBy::Facet(*facet)));
    let keys = table.sort_keys().iter().enumerate().flat_map(|(key, name)| match *name {
        _ if table.is_date(key) => vec![("year", GroupBy::Year(key)), ("quarter", GroupBy::Quarter(key))],
        "founded_year" => vec![("number", GroupBy::Number(key))],
        _ => Vec::new(),
    });
    facets.chain(keys).collect()
}

/// Aggregates the same rows twice: as a list, and as bits of the table.
fn both_ways(table: Table, rows: &[u32], options: &AggregateOptions) -> [Aggregate; 2] {
    let mut bits = vec![0; (CATALOG.snapshot().rows(table) as usize).div_ceil(64)];
    rows.iter().for_each(|row| bits[*row as usize / 64] |= 1 << (row % 64));
    [MatchedRows::Few(rows.to_vec()), MatchedRows::Many(bits)].map(|rows| CATALOG.aggregate_rows(table, &rows, options))
}

fn options_of(table: Table, order: Option<GroupOrder>, limit: usize) -> AggregateOptions {
    AggregateOptions { group_by: properties(table), order, limit, is_clamped: false }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn few_and_many_rows_are_grouped_alike(
        table in proptest::sample::select(Table::ALL.to_vec()),
        chosen in proptest::collection::vec(any::<proptest::sample::Index>(), 0..300),
        order in proptest::option::of(proptest::sample::select(GroupOrder::ALL)),
        limit in 1_usize..=MAX_GROUPS,
    ) {
        let count = CATALOG.snapshot().rows(table) as usize;
        let mut rows: Vec<u32> = chosen.iter().map(|index| index.index(count) as u32).collect();
        rows.sort_unstable();
        rows.dedup();
        let [few, many] = both_ways(table, &rows, &options_of(table, order, limit));
        prop_assert_eq!(few.total, rows.len() as u64);
        prop_assert_eq!(few, many);
    }
}

#[test]
fn all_rows_are_grouped_alike_in_every_way() {
    for table in Table::ALL {
        let rows: Vec<u32> = (0..CATALOG.snapshot().rows(table)).collect();
        for order in GroupOrder::ALL.iter().copied() {
            let options = options_of(table, Some(order), DEFAULT_GROUPS);
            let all = CATALOG.aggregate_rows(table, &MatchedRows::All, &options);
            assert_eq!(both_ways(table, &rows, &options), [all.clone(), all], "{table:?} {order:?}");
        }
    }
}

/// The values of a row that a property groups by, read from the rows of each value and from the record's own numbers.
fn values_of(table: Table, by: GroupBy, row: u32) -> Vec<u32> {
    let snapshot = CATALOG.snapshot();
    let value =
        |key: usize| snapshot.values(table, key).get(snapshot.ranks(table, key)[row as usize] as usize).copied();
    let date = |key: usize| value(key).map(|code| PartialDate::from_code(code as i32));
    match by {
        GroupBy::Facet(facet) => {
            let has = |value: &u32| snapshot.facet_rows(table, facet, *value).contains(row);
            (0..snapshot.facet_values(table, facet)).filter(has).collect()
        }
        GroupBy::Year(key) => date(key).map(|date| date.year() as u32).into_iter().collect(),
        GroupBy::Quarter(key) => {
            let quarter = |date: PartialDate| Some(date.year() as u32 * 4 + u32::from(date.quarter()?) - 1);
            date(key).and_then(quarter).into_iter().collect()
        }
        GroupBy::Number(key) => value(key).map(|number| number as u32).into_iter().collect(),
    }
}

/// The amounts of some rows, from a sorted list of them.
fn amounts_of(table: Table, rows: &[u32]) -> Option<Amounts> {
    let snapshot = CATALOG.snapshot();
    let key = match table {
        Table::Rounds => table.sort_key("amount_usd"),
        Table::Startups => table.sort_key("total_raised_usd"),
        _ => return None,
    };
    let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
    let mut known: Vec<u64> =
        rows.iter().filter_map(|row| values.get(ranks[*row as usize] as usize)).map(|usd| *usd as u64).collect();
    known.sort_unstable();
    let count = known.len() as u64;
    let sum: u64 = known.iter().sum();
    let middle = |first: usize, second: usize| Some((known.get(first)? + known.get(second)?) / 2);
    Some(Amounts {
        known: count,
        unknown: rows.len() as u64 - count,
        sum_usd: (count > 0).then_some(sum),
        median_usd: middle(known.len().saturating_sub(1) / 2, known.len() / 2),
        mean_usd: (sum + count / 2).checked_div(count),
        max_usd: known.last().copied(),
    })
}

/// What a scan of the rows says of groups: without their names, and in the order of their counts or of their values.
fn scan(table: Table, by: GroupBy, rows: &[u32], order: GroupOrder, limit: usize) -> Vec<(u64, Option<Amounts>)> {
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let (mut unknown, mut known) = (Vec::new(), Vec::new());
    for row in rows {
        let values = values_of(table, by, *row);
        if values.is_empty() {
            unknown.push(*row)
        } else {
            known.push((*row, values.clone()))
        }
        values.into_iter().for_each(|value| groups.entry(value).or_default().push(*row));
    }
    let mut groups: Vec<(u32, Vec<u32>, Option<Amounts>)> = groups
        .into_iter()
        .map(|(value, rows)| {
            let amounts = amounts_of(table, &rows);
            (value, rows, amounts)
        })
        .collect();
    let usd = |of: fn(&Amounts) -> Option<u64>| {
        move |(_, rows, amounts): &(u32, Vec<u32>, Option<Amounts>)| {
            (Reverse(amounts.as_ref().and_then(of)), Reverse(rows.len()))
        }
    };
    match order {
        GroupOrder::Count => groups.sort_by_key(|(_, rows, _)| Reverse(rows.len())),
        GroupOrder::SumUsd => groups.sort_by_key(usd(|amounts| amounts.sum_usd)),
        GroupOrder::MedianUsd => groups.sort_by_key(usd(|amounts| amounts.median_usd)),
        GroupOrder::Value => groups.reverse(),
        GroupOrder::ValueAscending => {}
    }
    let first: BTreeSet<u32> = groups.iter().take(limit).map(|(value, ..)| *value).collect();
    let is_other = |(_, values): &&(u32, Vec<u32>)| values.iter().all(|value| !first.contains(value));
    let other: Vec<u32> = known.iter().filter(is_other).map(|(row, _)| *row).collect();
    let shown = groups.into_iter().take(limit).map(|(_, rows, amounts)| (rows.len() as u64, amounts));
    let rest = [other, unknown].map(|rows| (rows.len() as u64, amounts_of(table, &rows)));
    shown.chain(rest).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn groups_are_those_of_a_scan(
        table in proptest::sample::select(vec![Table::Rounds, Table::Startups, Table::Firms, Table::People]),
        chosen in proptest::collection::vec(any::<proptest::sample::Index>(), 0..600),
        property in any::<proptest::sample::Index>(),
        order in proptest::sample::select(GroupOrder::ALL),
        limit in 1_usize..=MAX_GROUPS,
    ) {
        let count = CATALOG.snapshot().rows(table) as usize;
        let rows: BTreeSet<u32> = chosen.iter().map(|index| index.index(count) as u32).collect();
        let rows: Vec<u32> = rows.into_iter().collect();
        let properties = properties(table);
        let (name, by) = properties[property.index(properties.len())];
        // Names of places and records are ordered by their texts, which the scan does not know.
        let is_ordered = !matches!(by, GroupBy::Facet(facet) if !matches!(facet, Facet::Stage | Facet::Rating));
        prop_assume!(is_ordered || !matches!(order, GroupOrder::Value | GroupOrder::ValueAscending));
        let options = AggregateOptions { group_by: vec![(name, by)], order: Some(order), limit, is_clamped: false };
        let expected = scan(table, by, &rows, order, limit);
        for found in both_ways(table, &rows, &options) {
            prop_assert_eq!(found.total, rows.len() as u64);
            prop_assert_eq!(found.amounts, amounts_of(table, &rows));
            let groups = &found.groups[0];
            let rest = [&groups.other, &groups.unknown].map(|rest| (rest.count, rest.amounts));
            let shown = groups.values.iter().map(|group| (group.count, group.amounts));
            prop_assert_eq!(shown.chain(rest).collect::<Vec<_>>(), expected.clone(), "{:?} by {}", table, name);
        }
    }
}
