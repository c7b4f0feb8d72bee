//! Sort orders, computed when a snapshot is compiled.

use std::cmp::Ordering;

/// Rank of a row without a value; it is last in both directions.
const NO_RANK: u32 = u32::MAX;

pub(crate) struct SortOrder {
    /// Rows by ascending value, ties by slug, rows without a value last.
    pub ascending: Vec<u32>,
    pub descending: Vec<u32>,
    /// For each row the number of distinct smaller values; [`NO_RANK`]: no value.
    pub ranks: Vec<u32>,
}

impl SortOrder {
    pub(crate) fn by<V: Ord + Copy>(slug_ranks: &[u32], value: impl Fn(usize) -> Option<V>) -> Self {
        // Compared values are contiguous in memory: at a million rows that dominates the time.
        let mut valued: Vec<(V, u32, u32)> = Vec::with_capacity(slug_ranks.len());
        let mut others: Vec<(u32, u32)> = Vec::new();
        for (row, slug_rank) in slug_ranks.iter().enumerate() {
            match value(row) {
                Some(value) => valued.push((value, *slug_rank, row as u32)),
                None => others.push((*slug_rank, row as u32)),
            }
        }
        valued.sort_unstable();
        others.sort_unstable();
        let mut ranks = vec![NO_RANK; slug_ranks.len()];
        let groups = || valued.chunk_by(|left, right| left.0 == right.0);
        for (rank, equal) in groups().enumerate() {
            equal.iter().for_each(|(_, _, row)| ranks[*row as usize] = rank as u32);
        }
        let others = others.iter().map(|(_, row)| *row);
        let ascending = valued.iter().map(|(_, _, row)| *row).chain(others.clone()).collect();
        let descending = groups().rev().flatten().map(|(_, _, row)| *row).chain(others).collect();
        Self { ascending, descending, ranks }
    }
}

/// Maps rows of the dataset (old) to rows of a sorted table (new).
pub(crate) struct Permutation {
    pub old: Vec<u32>,
    pub new: Vec<u32>,
}

impl Permutation {
    /// Sorts rows by `key`, and rows with equal keys by `rest`. Keys are contiguous in memory, and computed once.
    pub(crate) fn by<K: Ord>(rows: usize, key: impl Fn(usize) -> K, rest: impl Fn(usize, usize) -> Ordering) -> Self {
        let mut keyed: Vec<(K, u32)> = (0..rows).map(|row| (key(row), row as u32)).collect();
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| rest(a.1 as usize, b.1 as usize)));
        let old: Vec<u32> = keyed.into_iter().map(|(_, row)| row).collect();
        let mut new = vec![0; old.len()];
        for (index, row) in old.iter().enumerate() {
            new[*row as usize] = index as u32;
        }
        Self { old, new }
    }

    /// As [`Permutation::by`], with a text that decides between equal keys.
    pub(crate) fn by_key<'t, K: Ord>(rows: usize, key: impl Fn(usize) -> K, text: impl Fn(usize) -> &'t str) -> Self {
        Self::by(rows, |row| (key(row), sort_prefix(text(row))), |a, b| text(a).cmp(text(b)))
    }

    pub(crate) fn by_text<'t>(rows: usize, text: impl Fn(usize) -> &'t str) -> Self {
        Self::by_key(rows, |_| (), text)
    }
}

/// The first 16 bytes of a text as a key: it compares like the text, except for texts that differ only later.
pub(crate) fn sort_prefix(text: &str) -> [u64; 2] {
    let mut bytes = [0; 16];
    let length = text.len().min(16);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    [0, 8].map(|start| u64::from_be_bytes(std::array::from_fn(|index| bytes[start + index])))
}

/// For each text the number of distinct smaller texts.
pub(crate) fn ranks_of_texts(texts: &[String]) -> Vec<u32> {
    let sorted = Permutation::by_text(texts.len(), |row| &texts[row]).old;
    let mut ranks = vec![0; texts.len()];
    let equal = sorted.chunk_by(|left, right| texts[*left as usize] == texts[*right as usize]);
    for (rank, rows) in equal.enumerate() {
        rows.iter().for_each(|row| ranks[*row as usize] = rank as u32);
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_without_a_value_are_last_in_both_directions_and_ties_are_ordered_by_slug() {
        let values = [Some(5), None, Some(9), Some(5), None];
        let order = SortOrder::by(&[4, 3, 2, 1, 0], |row| values[row]);
        assert_eq!(order.ascending, [3, 0, 2, 4, 1]);
        assert_eq!(order.descending, [2, 3, 0, 4, 1]);
        assert_eq!(order.ranks, [0, NO_RANK, 1, 0, NO_RANK]);
    }

    #[test]
    fn texts_sort_by_their_bytes_regardless_of_their_common_prefix() {
        let texts =
            ["b", "", "a", "a\0", "aaaaaaaaaaaaaaaab", "aaaaaaaaaaaaaaaa", "ä", "aaaaaaaaaaaaaaaab", "aaaaaaaaa"];
        let texts = texts.map(str::to_owned);
        let permutation = Permutation::by_text(texts.len(), |row| &texts[row]);
        let mut expected = texts.to_vec();
        expected.sort();
        assert!(permutation.old.iter().map(|row| &texts[*row as usize]).eq(&expected));
        assert!(permutation.new.iter().enumerate().all(|(old, new)| permutation.old[*new as usize] == old as u32));
        assert_eq!(ranks_of_texts(&texts), [6, 0, 1, 2, 5, 4, 7, 5, 3]);
    }
}
