use crate::row_filter::RowLimits;
use crate::{Filter, Property, RowFilter, bundled};
use data::archive::facet_column::RowSet;
use data::{Facet, NONE_U32, Table};

/// With the small limits, the tables of the bundled snapshot are long enough for every kind of test.
const ALL_LIMITS: [RowLimits; 3] = [
    RowLimits::DEFAULT,
    RowLimits { merged: 128, slice_cost: 2, combined: u32::MAX },
    RowLimits { merged: 8, slice_cost: 1 << 20, combined: 0 },
];

#[test]
fn a_range_of_values_has_the_rows_whose_value_is_in_it() {
    let catalog = bundled().unwrap();
    let snapshot = catalog.snapshot();
    let seed = Filter::AnyOf(Facet::Stage, vec![1, 2]);
    let numbers =
        [(Table::Startups, "total_raised_usd"), (Table::Startups, "round_count"), (Table::Rounds, "amount_usd")];
    for (table, name) in numbers {
        let key = table.sort_key(name);
        let (values, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
        let at = |tenths: usize| values[(values.len() - 1) * tenths / 10];
        let of = |row: u32| values.get(ranks[row as usize] as usize).copied();
        for (low, high) in [(0, 10), (0, 1), (1, 9), (4, 5), (9, 10), (10, 10)] {
            for filters in [vec![], vec![seed.clone()]] {
                let in_range = |row: u32| of(row).is_some_and(|value| (at(low)..=at(high)).contains(&value));
                let others = RowFilter::new(&catalog, table, &filters);
                let expected: Vec<u32> =
                    (0..snapshot.rows(table)).filter(|row| in_range(*row) && others.contains(*row)).collect();
                let range = Filter::Range { key, min: at(low), max: at(high) };
                let filters = [vec![range], filters].concat();
                for limits in ALL_LIMITS {
                    check(&RowFilter::with_limits(&catalog, table, &filters, limits), &expected);
                }
            }
        }
        let unknown: Vec<u32> = (0..snapshot.rows(table)).filter(|row| ranks[*row as usize] == NONE_U32).collect();
        for limits in ALL_LIMITS {
            let filters = [Filter::Unknown(Property::Key(key))];
            check(&RowFilter::with_limits(&catalog, table, &filters, limits), &unknown);
        }
    }
}

fn check(filter: &RowFilter<'_>, expected: &[u32]) {
    assert_eq!(filter.count(), expected.len() as u64);
    assert_eq!(filter.rows_from(0).collect::<Vec<_>>(), expected);
    assert_eq!(RowSet::Dense(&filter.bits()).iter().collect::<Vec<_>>(), expected);
    let mut each = Vec::new();
    filter.each(|row| each.push(row));
    assert_eq!(each, expected);
    let middle = expected.len() / 2;
    assert_eq!(filter.nth(middle as u64), expected.get(middle).copied());
}
