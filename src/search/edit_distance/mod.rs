//! Edit distance, always as optimal string alignment: insertion, deletion, substitution and transposition of neighbors
//! cost one each.
//!
//! Four questions need four algorithms, each an order of magnitude faster than the next more general one:
//! - two texts: [`distance_within`] and [`nearest`], by the crate `rapidfuzz`;
//! - one query against thousands of names, with the distance to the nearest prefix: [`EditPattern`], bit-parallel;
//! - one word against a dictionary: [`FuzzyWalk`] over its transducer;
//! - one slug against a sorted list: [`within_one_edit`], by binary search.

mod fuzzy_walk;
mod nearest;
mod pattern;
mod sorted_list;

pub(crate) use fuzzy_walk::{FuzzyWalk, words_below};
pub use nearest::{FoldedCandidates, distance_within, nearest, similarity};
pub(crate) use pattern::EditPattern;
pub use sorted_list::within_one_edit;

/// The textbook algorithm, for comparison in tests: the distances of `left` to each prefix of `right`.
#[cfg(test)]
pub(crate) fn textbook_distances(left: &[u8], right: &[u8]) -> Vec<usize> {
    let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
    for i in 0..=left.len() {
        for j in 0..=right.len() {
            rows[i][j] = if i == 0 {
                j
            } else if j == 0 {
                i
            } else {
                let cost = usize::from(left[i - 1] != right[j - 1]);
                let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
                if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows.pop().unwrap()
}
