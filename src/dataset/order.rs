//! Sort orders, laid down when a snapshot is compiled.

use std::cmp::Ordering;

/// Rank of a row that has no value; it stands last in both directions.
pub const NO_RANK: u32 = u32::MAX;

/// One sort key over a table.
pub(super) struct SortOrder {
    /// Rows by ascending value, ties by slug, rows without a value last.
    pub ascending: Vec<u32>,
    /// Rows by descending value, ties by slug, rows without a value last.
    pub descending: Vec<u32>,
    /// For each row the number of smaller values that occur; equal values share one. [`NO_RANK`]: no value.
    pub ranks: Vec<u32>,
}

impl SortOrder {
    /// Sorts rows by `value`; `slug_ranks` breaks ties.
    pub(super) fn by<V: Ord>(slug_ranks: &[u32], value: impl Fn(usize) -> Option<V>) -> Self {
        let values: Vec<Option<V>> = (0..slug_ranks.len()).map(value).collect();
        let mut ascending: Vec<u32> = (0..slug_ranks.len() as u32).collect();
        ascending.sort_unstable_by(|a, b| {
            let (a, b) = (*a as usize, *b as usize);
            nulls_last(&values[a], &values[b]).then_with(|| slug_ranks[a].cmp(&slug_ranks[b]))
        });
        let mut ranks = vec![NO_RANK; values.len()];
        let mut rank = 0;
        let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
        for (place, row) in ascending.iter().enumerate() {
            let value = &values[*row as usize];
            if value.is_none() {
                break;
            }
            let begins = place == 0 || values[ascending[place - 1] as usize] != *value;
            if begins {
                rank = groups.len() as u32;
                groups.push(place..place);
            }
            if let Some(group) = groups.last_mut() {
                group.end = place + 1;
            }
            ranks[*row as usize] = rank;
        }
        let valued = groups.last().map_or(0, |group| group.end);
        let mut descending = Vec::with_capacity(ascending.len());
        for group in groups.into_iter().rev() {
            descending.extend_from_slice(&ascending[group]);
        }
        descending.extend_from_slice(&ascending[valued..]);
        Self { ascending, descending, ranks }
    }
}

fn nulls_last<V: Ord>(a: &Option<V>, b: &Option<V>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => a.cmp(b),
        (None, None) => Ordering::Equal,
        (None, Some(_)) => Ordering::Greater,
        (Some(_), None) => Ordering::Less,
    }
}

/// The order in which old rows stand in a sorted table, and where each went.
pub(super) struct Placement {
    /// Old row at each new place.
    pub old: Vec<u32>,
    /// New place of each old row.
    pub new: Vec<u32>,
}

impl Placement {
    pub(super) fn by(rows: usize, compare: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut old: Vec<u32> = (0..rows as u32).collect();
        old.sort_unstable_by(|a, b| compare(*a as usize, *b as usize));
        let mut new = vec![0; rows];
        for (place, row) in old.iter().enumerate() {
            new[*row as usize] = place as u32;
        }
        Self { old, new }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_value_stand_last_in_both_directions_and_ties_go_by_slug() {
        let values = [Some(5), None, Some(9), Some(5), None];
        let order = SortOrder::by(&[4, 3, 2, 1, 0], |row| values[row]);
        assert_eq!(order.ascending, [3, 0, 2, 4, 1]);
        assert_eq!(order.descending, [2, 3, 0, 4, 1]);
        assert_eq!(order.ranks, [0, NO_RANK, 1, 0, NO_RANK]);
    }
}
