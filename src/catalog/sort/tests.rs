use crate::row_filter::RowLimits;
use crate::sort::*;
use crate::{Catalog, Filter, bundled};
use data::{Direction, Facet, Table};

/// So small that the filters of this test are of every kind.
const SMALL: RowLimits = RowLimits { merged: 128, slice_cost: 2, combined: 0 };

/// All rows of a filter, sorted by their keys.
fn naive(catalog: &Catalog, table: Table, filters: &[Filter], order: &[(usize, Direction)]) -> Vec<u32> {
    let snapshot = catalog.snapshot();
    let row_filter = RowFilter::new(catalog, table, filters);
    let mut rows: Vec<u32> = (0..snapshot.rows(table)).filter(|row| row_filter.contains(*row)).collect();
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
fn every_page_of_every_order_equals_that_of_a_plain_sort_for_any_budget() {
    let catalog = bundled().unwrap();
    let snapshot = catalog.snapshot();
    let (up, down) = (Direction::Ascending, Direction::Descending);
    // Names are distinct, counts of rounds have few values, amounts and years are sometimes unknown.
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
    // Half of the known values of a key, which an order by this key has in its middle. Rows follow the first key.
    let middle = |key: usize| {
        let values = snapshot.values(Table::Startups, key);
        Filter::Range { key, min: values[values.len() / 4], max: values[values.len() * 3 / 4] }
    };
    let filters = [
        vec![],
        vec![any(Facet::Stage)],
        vec![any(Facet::Country), any(Facet::Status)],
        vec![middle(1)],
        vec![middle(3), any(Facet::Status)],
    ];
    for (filters, order) in filters.iter().flat_map(|filters| orders.map(|order| (filters, order))) {
        let expected = naive(&catalog, Table::Startups, filters, order);
        assert!(expected.len() > 50);
        let row_filter = RowFilter::with_limits(&catalog, Table::Startups, filters, SMALL);
        let keys = OrderKeys::new(snapshot, Table::Startups, order);
        for budget in [0, 5, 200, TEST_BUDGET] {
            let total = expected.len() as u64;
            let sorted = SortedRows { keys: &keys, row_filter: &row_filter, total, limit: 20, budget };
            for offset in (0..total + 20).step_by(17) {
                let (rows, position) = sorted.page(ListPosition::after(offset));
                let rest = expected.get(offset as usize..).unwrap_or(&[]);
                assert_eq!(rows, rest[..rest.len().min(20)], "{filters:?} {order:?} {budget} {offset}");
                let next = ListPosition { offset: offset + rows.len() as u64, position };
                if next.offset < total {
                    let rest = &expected[next.offset as usize..];
                    assert_eq!(
                        SortedRows { limit: 7, ..sorted }.page(next).0,
                        rest[..rest.len().min(7)],
                        "{order:?} {budget} {next:?}"
                    );
                }
            }
        }
    }
}
