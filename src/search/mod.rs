//! Finding a name that is half remembered: a text index over the names of one table.
//!
//! Tantivy's one segment says *which* rows a word, a whole name, a sound or an acronym belongs to; document `n` is row
//! `n` of the table, and nothing is stored but the terms. What is found that way is ranked by [`score`], one function of a
//! query and a name, read from the table itself. Every step is bounded, so that no query costs more than a few
//! milliseconds, whatever it says.
//!
//! # What matches
//! A row is a match when its name or one of its aliases scores at least [`MATCH_SCORE`] of 1. Names that need more edits than
//! the closest step allows are looked for only where no close match was found. At most [`MAX_HITS`] matches are
//! given, the best ones.

pub mod error;
pub mod index;
pub mod nearest;
pub mod query;
pub mod rank;
#[cfg(test)]
mod tests;
pub use error::SearchError;
pub use index::{Hit, SearchResults, TextIndex};
pub use nearest::{nearest, similarity};
pub use rank::explain::{Explanation, Part};

/// The version of the files that an index is written to.
pub const FORMAT: u32 = 1;

/// The score from which a row is a match.
pub const MATCH_SCORE: f32 = 0.6;

/// The score from which a match is a close one: where there is none, names are looked for that need more edits.
pub const CLOSE_SCORE: f32 = 0.8;

/// The score from which a match is what was meant: where there is none, names that sound alike or begin alike are looked
/// for too.
pub const SURE_SCORE: f32 = 0.9;

/// The most matches that a search gives, the best ones.
pub const MAX_HITS: usize = 1_000;

/// The most bytes of a query that are looked at; the rest is cut off at a letter.
pub const MAX_QUERY_BYTES: usize = 256;

/// The most words of a query that are looked up one by one; all of it counts for the comparison of whole names.
pub const MAX_QUERY_WORDS: usize = 8;
