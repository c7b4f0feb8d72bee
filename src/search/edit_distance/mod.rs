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

pub(crate) use fuzzy_walk::FuzzyWalk;
pub use nearest::{FoldedCandidates, distance_within, nearest, similarity};
pub(crate) use pattern::EditPattern;
pub use sorted_list::within_one_edit;
