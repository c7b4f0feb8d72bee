//! The text index of one table, open for searching.

use std::path::Path;

use tantivy::directory::MmapDirectory;
use tantivy::{Index, IndexReader, ReloadPolicy};

use super::build::{self, Fields, texts};
use super::candidates::{Reach, Readers};
use super::explain::{Explanation, Parts};
use super::query::Query;
use super::score::{Best, score_text, whisper};
use super::scratch::{Pool, Scratch};
use super::weights::Weights;
use super::{CLOSE, FORMAT, MATCH, MOST_HITS, SearchError};
use crate::dataset::Names;

/// Text index over one table's names. Row `n` of the table is document `n`.
pub struct TextIndex {
    readers: Readers,
    weights: Weights,
    rows: u32,
    pool: Pool,
}

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// All matches, best first, each once; at most [`MOST_HITS`].
    pub hits: Vec<Hit>,
    /// True where there were more matches than [`MOST_HITS`].
    pub capped: bool,
    /// Rows whose names may have been meant, best first, where no close match was found.
    pub did_you_mean: Vec<u32>,
}

/// A row that matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The row.
    pub row: u32,
    /// Its score, from [`MATCH`] to 1 and a whisper more.
    pub score: f32,
}

impl TextIndex {
    /// Builds an index in memory, for the snapshot that is bundled with the program.
    ///
    /// # Errors
    /// [`SearchError::Index`] where tantivy fails.
    pub fn in_memory(names: &dyn Names) -> Result<Self, SearchError> {
        Self::over(build::build_in_memory(names)?, names)
    }

    /// Writes an index to `folder`, which is made. Nothing is synced beyond what tantivy does: the release does.
    ///
    /// # Errors
    /// [`SearchError::File`] and [`SearchError::Index`] where it cannot be written.
    pub fn create(names: &dyn Names, folder: &Path) -> Result<(), SearchError> {
        build::build_in_folder(names, folder)
    }

    /// Opens the index that was written to `folder` for the same names.
    ///
    /// # Errors
    /// [`SearchError::Format`] for another format, [`SearchError::Shape`] where it does not fit the table,
    /// [`SearchError::File`] and [`SearchError::Index`] where it cannot be read.
    pub fn open(folder: &Path, names: &dyn Names) -> Result<Self, SearchError> {
        let format = folder.join(build::FORMAT_FILE);
        let found = std::fs::read_to_string(&format).map_err(|cause| SearchError::File { path: format, cause })?;
        if found.trim() != FORMAT.to_string() {
            return Err(SearchError::Format { found: found.trim().chars().take(20).collect() });
        }
        let directory = MmapDirectory::open(folder).map_err(|error| SearchError::Index(Box::new(error.into())))?;
        Self::over(Index::open(directory)?, names)
    }

    fn over(index: Index, names: &dyn Names) -> Result<Self, SearchError> {
        let rows = names.len();
        let reader: IndexReader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let shape = |segments, documents| SearchError::Shape { segments, documents, rows };
        let [segment] = searcher.segment_readers() else {
            return Err(shape(
                searcher.segment_readers().len(),
                u32::try_from(searcher.num_docs()).unwrap_or(u32::MAX),
            ));
        };
        if segment.max_doc() != rows || segment.num_docs() != rows {
            return Err(shape(1, segment.max_doc()));
        }
        let schema = index.schema();
        let field = |name: &str| schema.get_field(name);
        let fields = Fields {
            word: field("word")?,
            whole: field("whole")?,
            sound: field("sound")?,
            acronym: field("acronym")?,
            raw: field("raw")?,
        };
        let readers = Readers {
            fields,
            word: segment.inverted_index(fields.word)?,
            whole: segment.inverted_index(fields.whole)?,
            sound: segment.inverted_index(fields.sound)?,
            acronym: segment.inverted_index(fields.acronym)?,
            raw: segment.inverted_index(fields.raw)?,
        };
        let weights = read_weights(&readers, rows).map_err(tantivy::TantivyError::from)?;
        Ok(Self { readers, weights, rows, pool: Pool::default() })
    }

    /// All matches that `passes`, best first, at most [`MOST_HITS`]; the same for the same index and query.
    ///
    /// An empty query finds nothing.
    pub fn search(&self, names: &dyn Names, query: &str, passes: &dyn Fn(u32) -> bool) -> Found {
        let query = Query::read(query, &self.weights);
        self.pool.with(self.rows, |scratch| {
            let mut scored = Vec::new();
            self.gather(names, &query, Reach::Near, passes, scratch, &mut scored);
            if scored.first().is_none_or(|best| best.score < CLOSE) {
                self.gather(names, &query, Reach::Far, passes, scratch, &mut scored);
            }
            let close = scored.first().is_some_and(|best| best.score >= CLOSE);
            let did_you_mean = if close { Vec::new() } else { scored.iter().take(5).map(|hit| hit.row).collect() };
            scored.retain(|hit| hit.score >= MATCH);
            let capped = scored.len() > MOST_HITS;
            scored.truncate(MOST_HITS);
            Found { hits: scored, capped, did_you_mean }
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
                    let points = |parts: &[super::Part]| parts.first().map_or(0.0, |part| part.points);
                    points(&left.1).total_cmp(&points(&right.1))
                })
        });
        let (text, parts) = best.unwrap_or_default();
        let points = parts.first().map_or(0.0, |part| part.points);
        let score = points + prominence;
        Explanation {
            score,
            matches: points > 0.0 && score >= MATCH,
            text: text.to_owned(),
            way: parts.first().map_or("nothing", |part| part.way),
            parts,
            prominence,
        }
    }

    fn gather(
        &self,
        names: &dyn Names,
        query: &Query,
        reach: Reach,
        passes: &dyn Fn(u32) -> bool,
        scratch: &mut Scratch,
        scored: &mut Vec<Hit>,
    ) {
        let before = scratch.touched.len();
        self.readers.gather(query, reach, scratch);
        for at in before..scratch.touched.len() {
            let Some(row) = scratch.touched.get(at).copied() else { break };
            if passes(row) {
                let score = self.score(names, query, row, scratch);
                if score > 0.0 {
                    scored.push(Hit { row, score });
                }
            }
        }
        scored.sort_unstable_by(|left, right| right.score.total_cmp(&left.score).then(left.row.cmp(&right.row)));
    }

    fn score(&self, names: &dyn Names, query: &Query, row: u32, scratch: &mut Scratch) -> f32 {
        let mut best = Best::default();
        for text in texts(names, row) {
            score_text(query, text, &self.weights, scratch, &mut best);
        }
        if best.score > 0.0 { best.score + whisper(names.prominence(row)) } else { 0.0 }
    }
}

fn read_weights(readers: &Readers, rows: u32) -> std::io::Result<Weights> {
    let mut common = Vec::new();
    let mut terms = readers.word.terms().stream()?;
    while let Some((word, term)) = terms.next() {
        if term.doc_freq >= Weights::common_from(rows)
            && let Ok(word) = std::str::from_utf8(word)
        {
            common.push((word.to_owned(), term.doc_freq));
        }
    }
    Ok(Weights::new(rows, common.iter().map(|(word, frequency)| (word.as_str(), *frequency))))
}
