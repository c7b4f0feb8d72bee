use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::bundled;

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
