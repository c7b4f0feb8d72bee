//! The text index of one table, open for searching.

pub mod build;
pub mod dictionary;
pub mod hash_multi_map;
pub mod read_only_directory;
pub mod tables;
pub mod term_index;
pub mod weights;

use std::path::Path;
use std::sync::Arc;

use tantivy::schema::IndexRecordOption;
use tantivy::{Index, IndexReader, InvertedIndexReader, ReloadPolicy};

use crate::data::Names;
use crate::search::Explanation;
use crate::search::index::build::{split, texts};
use crate::search::index::read_only_directory::ReadOnlyDirectory;
use crate::search::index::tables::Tables;
use crate::search::index::term_index::TermIndex;
use crate::search::index::weights::Weights;
use crate::search::query::Query;
use crate::search::rank::candidates::{CandidateLimits, Candidates};
use crate::search::rank::explain::Parts;
use crate::search::rank::search_buffers::{BEGINS, HINTED, KEEP, Pool, SCORED, SURELY, SearchBuffers};
use crate::search::rank::{Best, score_text, whisper};
use crate::search::{CLOSE_SCORE, FORMAT, MATCH_SCORE, MAX_HITS, SURE_SCORE, SearchError};

/// Text index over one table's names. Row `n` of the table is document `n`.
pub struct TextIndex {
    lexicon: TermIndex,
    weights: Weights,
    rows: u32,
    pool: Pool,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// All matches, best first, each once; at most [`MAX_HITS`].
    pub hits: Vec<Hit>,
    /// True where there were more matches than [`MAX_HITS`].
    pub capped: bool,
    /// Rows whose names may have been meant, best first, where no close match was found.
    pub did_you_mean: Vec<u32>,
}

/// A row that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The row.
    pub row: u32,
    /// Its score, from [`MATCH_SCORE`] to 1 and a whisper more.
    pub score: f32,
}

impl TextIndex {
    /// Builds an index in memory, for the snapshot that is bundled with the program.
    ///
    /// # Errors
    /// [`SearchError::Index`] where tantivy fails, [`SearchError::TooMany`] for a table of more than a billion rows.
    pub fn in_memory(names: &dyn Names) -> Result<Self, SearchError> {
        let (index, tables) = build::build_in_memory(names)?;
        Self::over(&index, tables, names)
    }

    /// Writes an index to `folder`, which is made. Nothing is synced beyond what tantivy does: the release does.
    ///
    /// # Errors
    /// [`SearchError::File`] and [`SearchError::Index`] where it cannot be written, [`SearchError::TooMany`] for a table
    /// of more than a billion rows.
    pub fn create(names: &dyn Names, folder: &Path) -> Result<(), SearchError> {
        build::build_in_folder(names, folder)
    }

    /// Opens the index that was written to `folder` for the same names.
    ///
    /// # Errors
    /// [`SearchError::Format`] for another format, [`SearchError::Shape`] where it does not fit the table,
    /// [`SearchError::Damaged`], [`SearchError::File`] and [`SearchError::Index`] where it cannot be read.
    pub fn open(folder: &Path, names: &dyn Names) -> Result<Self, SearchError> {
        let format = folder.join(build::FORMAT_FILE);
        let found = std::fs::read_to_string(&format).map_err(|cause| SearchError::File { path: format, cause })?;
        if found.trim() != FORMAT.to_string() {
            return Err(SearchError::Format { found: found.trim().chars().take(20).collect() });
        }
        let tables = Tables::read(&folder.join(build::TABLES_FILE), names.len())?;
        let directory = ReadOnlyDirectory::open(folder).map_err(|error| SearchError::Index(Box::new(error.into())))?;
        Self::over(&Index::open(directory)?, tables, names)
    }

    fn over(index: &Index, tables: Tables, names: &dyn Names) -> Result<Self, SearchError> {
        let rows = names.len();
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let shape = |segments, documents| SearchError::Shape { segments, documents, rows };
        let (words, raw) = match searcher.segment_readers() {
            [] if rows == 0 => (Arc::new(no_words()), Arc::new(no_words())),
            [segment] => {
                if segment.max_doc() != rows || segment.num_docs() != rows {
                    return Err(shape(1, segment.max_doc()));
                }
                let field = |name: &str| index.schema().get_field(name);
                (segment.inverted_index(field("word")?)?, segment.inverted_index(field("raw")?)?)
            }
            segments => return Err(shape(segments.len(), u32::try_from(searcher.num_docs()).unwrap_or(u32::MAX))),
        };
        let weights = Weights::read(rows, &tables.weighed);
        let lexicon = TermIndex::new(words, raw, tables).ok_or(SearchError::Damaged { part: "the table of words" })?;
        Ok(Self { lexicon, weights, rows, pool: Pool::default() })
    }

    /// All matches that `passes`, best first, at most [`MAX_HITS`]; the same for the same index and query.
    ///
    /// An empty query finds nothing.
    pub fn search(&self, names: &dyn Names, query: &str, passes: &dyn Fn(u32) -> bool) -> SearchResults {
        let mut query = Query::read(query, &self.weights);
        self.pool.with(self.rows, |scratch| {
            let mut candidates = Candidates::new(&self.lexicon, passes);
            let mut scored = Vec::new();
            let mut capped = false;
            // A long query takes longer to compare, and fewer names hold all of it.
            let near = MAX_HITS / query.words.len().max(1);
            for (reach, enough, most) in [
                (CandidateLimits::Near, SURE_SCORE, near),
                (CandidateLimits::Wide, CLOSE_SCORE, 300),
                (CandidateLimits::Far, 0.0, 300),
            ] {
                if !candidates.gather(&mut query, &self.weights, reach, scratch) {
                    continue;
                }
                capped |= self.score_all(names, &query, &candidates, most, scratch, &mut scored);
                let is_enough = |best: &Hit| {
                    best.score >= enough || (best.score >= CLOSE_SCORE && candidates.is_meant(scratch.marks(best.row)))
                };
                if scored.first().is_some_and(is_enough) || query.joined.is_empty() {
                    break;
                }
            }
            let close = scored.first().is_some_and(|best| best.score >= CLOSE_SCORE);
            let did_you_mean = if close { Vec::new() } else { scored.iter().take(5).map(|hit| hit.row).collect() };
            let compared = scored.len();
            scored.retain(|hit| hit.score >= MATCH_SCORE);
            // Where some that were compared do not match, the less likely ones that were not would not either.
            capped = (capped && scored.len() == compared) || scored.len() > MAX_HITS;
            scored.truncate(MAX_HITS);
            SearchResults { hits: scored, capped, did_you_mean }
        })
    }

    /// The names that a query being typed may become: as [`TextIndex::search`], the best `limit`.
    pub fn suggest(&self, names: &dyn Names, query: &str, limit: usize, passes: &dyn Fn(u32) -> bool) -> Vec<Hit> {
        let mut hits = self.search(names, query, passes).hits;
        hits.truncate(limit);
        hits
    }

    /// The parts of a row's score for a query, whether it is a match or not.
    pub fn explain(&self, names: &dyn Names, query: &str, row: u32) -> Explanation {
        let query = Query::read(query, &self.weights);
        let prominence = whisper(names.prominence(row));
        let best = self.pool.with(self.rows, |scratch| {
            texts(names, row)
                .map(|text| {
                    let mut parts = Parts::default();
                    score_text(&query, text, &self.weights, scratch, &mut parts);
                    (text, parts.0)
                })
                .max_by(|left, right| {
                    let points = |parts: &[crate::search::Part]| parts.first().map_or(0.0, |part| part.points);
                    points(&left.1).total_cmp(&points(&right.1))
                })
        });
        let (text, parts) = best.unwrap_or_default();
        let points = parts.first().map_or(0.0, |part| part.points);
        let score = points + prominence;
        Explanation {
            score,
            matches: points > 0.0 && score >= MATCH_SCORE,
            text: text.to_owned(),
            way: parts.first().map_or("nothing", |part| part.way),
            parts,
            prominence,
        }
    }

    /// Scores the candidates that were not yet, and puts all in order; true where there were more than `most`.
    fn score_all(
        &self,
        names: &dyn Names,
        query: &Query,
        candidates: &Candidates<'_>,
        most: usize,
        scratch: &mut SearchBuffers,
        scored: &mut Vec<Hit>,
    ) -> bool {
        let mut rows: Vec<(f32, u32)> = Vec::new();
        for row in &scratch.touched {
            let marks = scratch.marks(*row);
            if marks & SCORED == 0 && candidates.may_answer(marks) {
                rows.push((self.rough(candidates, *row, marks), *row));
            }
        }
        let are_more = rows.len() > most;
        if are_more {
            rows.select_nth_unstable_by(most - 1, |left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
            rows.truncate(most);
        }
        let mut chunk = Vec::with_capacity(CHUNK);
        for rows in rows.chunks(CHUNK) {
            chunk.clear();
            chunk.extend(rows.iter().map(|(_, row)| Candidate::read(names, *row)));
            // The names lie far apart: asked for together, they arrive together.
            let firsts =
                chunk.iter().map(|candidate| usize::from(candidate.name.as_bytes().first().copied().unwrap_or(0)));
            std::hint::black_box(firsts.sum::<usize>());
            for candidate in &chunk {
                scratch.mark(candidate.row, SCORED);
                let score = self.score(query, candidate, scratch);
                if score > 0.0 {
                    scored.push(Hit { row: candidate.row, score });
                }
            }
        }
        scored.sort_unstable_by(|left, right| right.score.total_cmp(&left.score).then(left.row.cmp(&right.row)));
        are_more
    }

    /// What a row's score may be, without a look at its name: chooses which of too many candidates are scored.
    fn rough(&self, candidates: &Candidates<'_>, row: u32, marks: u16) -> f32 {
        let begins = if marks & (BEGINS | KEEP) == 0 { 0.0 } else { 0.2 };
        let hinted = if marks & HINTED == 0 { 0.0 } else { 0.1 };
        let surely = if marks & SURELY == 0 { 0.0 } else { 0.2 };
        let standing = self.lexicon.tables.standing(row);
        candidates.cover(marks) + begins + surely + hinted + f32::from(standing) / 2_550.0
    }

    fn score(&self, query: &Query, candidate: &Candidate<'_>, scratch: &mut SearchBuffers) -> f32 {
        let mut best = Best::default();
        for text in split(candidate.name, candidate.aliases) {
            score_text(query, text, &self.weights, scratch, &mut best);
        }
        if best.score > 0.0 { best.score + whisper(candidate.prominence) } else { 0.0 }
    }
}

/// So many candidates are read before they are scored.
const CHUNK: usize = 32;

/// What is known of a row that is to be scored.
struct Candidate<'a> {
    row: u32,
    name: &'a str,
    aliases: &'a str,
    prominence: u32,
}

impl<'a> Candidate<'a> {
    fn read(names: &'a dyn Names, row: u32) -> Self {
        Self { row, name: names.name(row), aliases: names.aliases(row), prominence: names.prominence(row) }
    }
}

fn no_words() -> InvertedIndexReader {
    InvertedIndexReader::empty(IndexRecordOption::Basic)
}
