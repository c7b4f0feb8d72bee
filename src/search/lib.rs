//! Text search: typo-tolerant search for names, and full-text search over descriptions. Each index covers one table.
//!
//! Tantivy builds the inverted index: one segment, in which document `n` is row `n` of the table and nothing is stored but
//! the terms. At search time it reads the postings of words that more than 128 rows contain, of characters of names in
//! Chinese, Japanese, Korean and Thai, and the raw names without letters or digits. Everything else comes from our own tables next to the segment ([`index`]): the rows of rarer words,
//! full names, acronyms, phonetic keys, a static rank per row, and the dictionary as a transducer that is walked node by
//! node. They exist for speed: tantivy shows its dictionary only through an automaton, and its `FuzzyTermQuery` is an
//! order of magnitude slower (`benches/search_speed.rs` measures both). [`query`] expands the words of a query, and
//! [`rank`] scores each candidate by its name, read from the table itself. [`edit_distance`] serves all of them.
//!
//! A row matches if its name or one of its aliases scores at least [`MATCH_SCORE`]. Names that need more edits are
//! looked up only if no close match was found, and words are left out of the query only if no match is sure
//! ([`MatchClass`]). Every step is bounded, so that no query takes more than a few milliseconds. The best [`MAX_HITS`]
//! are ranked; further rows are those that have all words.
#![warn(unreachable_pub)]

pub mod edit_distance;
mod error;
mod index;
mod query;
mod rank;
#[cfg(test)]
mod tests;

pub use edit_distance::{FoldedCandidates, nearest, similarity};
pub use error::SearchError;
pub use index::{
    Completed, Completion, DURATIONS, DescriptionIndex, DescriptionMatches, Hit, IndexFiles, IndexPart, RankedRows,
    SearchResults, TextIndex, marks, texts, typed_part,
};
pub use query::nickname::forms;
pub use query::phonetic::phonetic_key;
pub use rank::{Explanation, MatchClass, ScorePart};

/// The version of the index files. A program opens its own format only.
pub const FORMAT: u32 = 7;

/// The score from which a row is a match.
pub const MATCH_SCORE: f32 = 0.6;

/// The score of an exact match with the highest prominence.
pub const MAX_SCORE: f32 = 1.0 + rank::MAX_PROMINENCE_BONUS;

/// The score of a close match. Names with two typos are looked up only without such a match.
pub const CLOSE_SCORE: f32 = 0.8;

/// The score of a match that is surely intended. Names that sound or begin alike are looked up only without such a match.
pub(crate) const SURE_SCORE: f32 = 0.9;

/// The maximum number of matches of a search, the best ones.
pub const MAX_HITS: usize = 1_000;

/// The maximum length of a query in bytes; the rest is ignored.
pub(crate) const MAX_QUERY_BYTES: usize = 256;

/// The maximum number of query words that are looked up one by one; full names are compared with the entire query.
pub(crate) const MAX_QUERY_WORDS: usize = 8;
