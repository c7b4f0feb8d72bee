use crate::catalog::sort::*;
use crate::catalog::{Catalog, Filter, bundled};
use crate::data::{Direction, Facet, Table};

/// All rows of a selection, collected and sorted with the keys as the only guide.
fn naive(catalog: &Catalog, table: Table, clauses: &[Filter], order: &[(usize, Direction)]) -> Vec<u32> {
    let snapshot = catalog.snapshot();
    let selection = RowFilter::of(snapshot, table, clauses);
    let mut rows: Vec<u32> = (0..snapshot.rows(table)).filter(|row| selection.contains(*row)).collect();
    let value = |row: u32, key: usize, direction: Direction| match snapshot.ranks(table, key)[row as usize] {
        u32::MAX => i64::MAX,
        rank if direction == Direction::Descending => -i64::from(rank),
        rank => i64::from(rank),
    };
    rows.sort_by_key(|row| {
        let values: Vec<i64> = order.iter().map(|(key, direction)| value(*row, *key, *direction)).collect();
        (values, snapshot.slug(table, *row))
    });
    rows
}

#[test]
fn every_page_of_every_order_is_that_of_a_plain_sort_however_patient_the_walk() {
    let catalog = bundled().unwrap();
    let snapshot = catalog.snapshot();
    let (up, down) = (Direction::Ascending, Direction::Descending);
    // Names differ, counts of rounds are few, money and years are sometimes unknown.
    let orders: [&[(usize, Direction)]; 7] = [
        &[(1, down)],
        &[(2, up)],
        &[(2, down), (3, up)],
        &[(3, down), (0, up)],
        &[(2, up), (4, down), (1, up)],
        &[(4, down), (2, down), (3, down)],
        &[(0, up), (1, up)],
    ];
    let frequent = |facet: Facet| {
        let values = 0..snapshot.facet_values(Table::Startups, facet);
        values.max_by_key(|value| snapshot.facet_count(Table::Startups, facet, *value)).unwrap()
    };
    let any = |facet: Facet| Filter::AnyOf(facet, vec![frequent(facet)]);
    let filters = [vec![], vec![any(Facet::Stage)], vec![any(Facet::Country), any(Facet::Status)]];
    for (clauses, order) in filters.iter().flat_map(|clauses| orders.map(|order| (clauses, order))) {
        let expected = naive(&catalog, Table::Startups, clauses, order);
        assert!(expected.len() > 50);
        let selection = RowFilter::of(snapshot, Table::Startups, clauses);
        let keys = Keys::of(snapshot, Table::Startups, order);
        for patience in [0, 5, 200, PATIENCE] {
            let total = expected.len() as u64;
            let sorted = Sorted { keys: &keys, selection: &selection, total, patience };
            for offset in (0..total + 20).step_by(17) {
                let (rows, position) = sorted.page(ListPosition::after(offset), 20);
                let rest = expected.get(offset as usize..).unwrap_or(&[]);
                assert_eq!(rows, rest[..rest.len().min(20)], "{clauses:?} {order:?} {patience} {offset}");
                let next = ListPosition { offset: offset + rows.len() as u64, position };
                if next.offset < total {
                    let rest = &expected[next.offset as usize..];
                    assert_eq!(sorted.page(next, 7).0, rest[..rest.len().min(7)], "{order:?} {patience} {next:?}");
                }
            }
        }
    }
}
