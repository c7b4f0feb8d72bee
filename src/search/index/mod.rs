//! The text index of one table, open for searching.

mod build;
mod complete;
mod descriptions;
mod dictionary;
mod hash_multi_map;
mod tables;
mod term_index;
mod weights;

pub(crate) use build::raw_term;
pub use build::texts;
pub use complete::{Completed, Completion, typed_part};
pub use descriptions::{DescriptionIndex, DescriptionMatches, RankedRows, marks};
pub(crate) use dictionary::{Dictionary, MAX_WORD_BYTES};
pub(crate) use tables::MAX_ROWS;
pub(crate) use term_index::TermIndex;
pub(crate) use weights::{GENERIC, Weights};

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use tantivy::InvertedIndexReader;
use tantivy::schema::IndexRecordOption;

use crate::index::tables::SideTables;
use crate::query::reading::other_readings;
use crate::query::script_sounds::{Reading, sounding};
use crate::query::{NameQuery, QueryWord, lacks_vowels};
use crate::rank::candidates::{CandidateSearch, SearchStep};
use crate::rank::search_buffers::{BEGINS, BufferPool, EXACT, HINTED, KEEP, SCORED, SearchBuffers};
use crate::rank::{
    AllScores, BestScore, Explanation, MatchClass, MatchStrategy, RelaxedMatch, ScoreSink, Vocabulary, has_initials,
    prominence_bonus, put_main_records_first, score_text,
};
use crate::{CLOSE_SCORE, FORMAT, MATCH_SCORE, MAX_HITS, SURE_SCORE, SearchError, similarity};
use data::Names;
use data::archive::facet_column::{RowSet, bit_words};
use data::fold::fold;
use platform::metrics::Histogram;
use platform::pause;

pub type IndexFiles = BTreeMap<String, Vec<u8>>;

const DESCRIPTIONS: &str = "descriptions.";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPart {
    Descriptions,
    Names,
}

/// Text index over one table's names, and over the descriptions of its records. Row `n` of the table is document `n`.
pub struct TextIndex {
    terms: TermIndex,
    weights: Weights,
    rows: u32,
    buffers: BufferPool,
    pub descriptions: DescriptionIndex,
}

#[derive(Clone, Debug, Default)]
pub struct SearchResults {
    /// The matches, best first, without duplicates; at most [`MAX_HITS`]. If none is sure, a few loose ones.
    pub hits: Vec<Hit>,
    /// The query as it was read, if further rows have all of its words: [`TextIndex::rows_with_words`].
    pub further: Option<String>,
    /// True if there are matches and none is sure.
    pub is_loose: bool,
    /// True if more names may be similar than were compared.
    pub capped: bool,
    /// Further rows that may have been intended, best first, if no sure match was found.
    pub did_you_mean: Vec<u32>,
    /// The words of the query that the best match leaves out, if no sure match was found.
    pub left_out: Vec<String>,
}

impl SearchResults {
    /// The score of the best match; 0 without matches.
    pub fn best_score(&self) -> f32 {
        self.hits.first().map_or(0.0, |best| best.score)
    }

    /// With the matches of a reading that sounds alike.
    fn with_sounds(mut self, other: Self) -> Self {
        self.hits.extend(other.hits.into_iter().filter(|hit| hit.score >= WHOLE_SCORE));
        self.hits.sort_by(|left, right| right.score.total_cmp(&left.score));
        let mut known = HashSet::new();
        self.hits.retain(|hit| known.insert(hit.row));
        self
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    pub row: u32,
    /// From [`MATCH_SCORE`] to 1, plus a small prominence bonus.
    pub score: f32,
}

/// Durations of searches by name, in all indexes of the process.
pub static DURATIONS: Histogram = Histogram::new();

/// The number of candidates scored in the second and third step of a search.
const MAX_DISTANT_CANDIDATES: usize = 300;

/// The steps of a search, each with the score of a best match that makes the next one unnecessary.
const STEPS: [(SearchStep, f32); 3] =
    [(SearchStep::Near, SURE_SCORE), (SearchStep::Wide, CLOSE_SCORE), (SearchStep::Far, 0.0)];

const MAX_SUGGESTED: usize = 5;

/// The score of a name that is a reading, but for generic words.
const WHOLE_SCORE: f32 = 0.93;

/// Readings whose shares are at most this much below that of the nearest with a match sound about as much like a query.
const SOUND_RANGE: f32 = 0.02;

/// Number of the best matches that are searched for a sure one.
const MAX_CLASSIFIED: usize = 16;

/// Maximum number of candidates that are compared with a part of the query's words.
const MAX_RELAXED_CANDIDATES: usize = 120;

const MAX_LOOSE: usize = 20;

/// A word that this many descriptions have says nothing of a name.
const COMMON_WORD: f32 = 1_000.0;

/// Maximum difference between a match and the best one if none is sure.
const LOOSE_RANGE: f32 = 0.15;

impl TextIndex {
    /// Builds an index in memory, for the bundled snapshot.
    pub fn in_memory(names: &dyn Names) -> Result<Self, SearchError> {
        let mut files = Self::create(names, IndexPart::Names)?;
        files.extend(Self::create(names, IndexPart::Descriptions)?);
        Self::open(files, names)
    }

    /// Builds a part of an index as files, to be stored.
    pub fn create(names: &dyn Names, part: IndexPart) -> Result<IndexFiles, SearchError> {
        match part {
            IndexPart::Names => build::build_files(names),
            IndexPart::Descriptions => {
                let files = DescriptionIndex::create(names)?.into_iter();
                Ok(files.map(|(file, bytes)| (format!("{DESCRIPTIONS}{file}"), bytes)).collect())
            }
        }
    }

    /// Opens the index that was created for the same names.
    pub fn open(mut files: IndexFiles, names: &dyn Names) -> Result<Self, SearchError> {
        let mut take = |file: &'static str| files.remove(file).ok_or(SearchError::Missing { file });
        let format = take(build::FORMAT_FILE)?;
        let found = String::from_utf8_lossy(&format);
        if found.trim() != FORMAT.to_string() {
            return Err(SearchError::Format { found: found.trim().chars().take(20).collect() });
        }
        let tables = SideTables::read(&take(build::TABLES_FILE)?, names.len())?;
        let (descriptions, files): (IndexFiles, IndexFiles) =
            files.into_iter().partition(|(file, _)| file.starts_with(DESCRIPTIONS));
        let descriptions = descriptions.into_iter().map(|(file, bytes)| (file[DESCRIPTIONS.len()..].to_owned(), bytes));
        let descriptions = DescriptionIndex::open(descriptions.collect(), names.len())?;
        let (index, searcher) = build::open_files(files)?;
        let rows = names.len();
        let shape = |segments, documents| SearchError::Shape { segments, documents, rows };
        let fields = match searcher.segment_readers() {
            [] if rows == 0 => {
                let none = Arc::new(InvertedIndexReader::empty(IndexRecordOption::Basic));
                [Arc::clone(&none), Arc::clone(&none), none]
            }
            [segment] => {
                if segment.max_doc() != rows || segment.num_docs() != rows {
                    return Err(shape(1, segment.max_doc()));
                }
                let field = |name: &str| segment.inverted_index(index.schema().get_field(name)?);
                [field("word")?, field("raw")?, field("characters")?]
            }
            segments => return Err(shape(segments.len(), searcher.num_docs() as u32)),
        };
        let weights = Weights::parse(rows, &tables.lookups.frequent_words);
        let terms = TermIndex::new(fields, tables).ok_or(SearchError::Damaged { part: "the table of words" })?;
        Ok(Self { terms, weights, rows, buffers: BufferPool::default(), descriptions })
    }

    /// The matches of a query, best first. Deterministic. An empty query has no matches. If the query has several
    /// readings, the first with a sure match counts, otherwise the one with the best match. Filters play no part: they
    /// only remove rows from the matches.
    pub fn search(&self, names: &dyn Names, query: &str) -> SearchResults {
        pause::point();
        let started = Instant::now();
        let results = self.search_reading(names, query, &STEPS);
        let other = |reading: &Reading| {
            let mut results = self.search_reading(names, &reading.text, &STEPS[..1]);
            if reading.share < 1.0 {
                let query = NameQuery::parse(&reading.text, &self.weights);
                results.hits.retain(|hit| is_most_of(&query, names, hit.row));
                results.capped |= results.further.take().is_some();
            }
            results.hits.iter_mut().for_each(|hit| hit.score *= reading.share);
            results.hits.retain(|hit| hit.score >= MATCH_SCORE);
            results
        };
        let results = self.best_reading(query, results, other, SearchResults::best_score, SearchResults::with_sounds);
        DURATIONS.observe(started.elapsed());
        results
    }

    /// The result of the first reading with a sure match, otherwise of the one with the best score. Readings that sound about as
    /// much like the query as the nearest with a match are joined.
    fn best_reading<T>(
        &self,
        query: &str,
        mut best: T,
        read: impl Fn(&Reading) -> T,
        score: impl Fn(&T) -> f32,
        join: impl Fn(T, T) -> T,
    ) -> T {
        let mut nearest: Option<f32> = None;
        let mut others = self.other_readings(query);
        // Of several that sound alike, the more prominent record may be the one that is meant.
        let mut only_sounds = false;
        while (score(&best) < SURE_SCORE || only_sounds)
            && let Some(reading) = others.next()
        {
            only_sounds = reading.share < 1.0;
            let other = read(&reading);
            let is_match = score(&other) > 0.0;
            let is_near =
                only_sounds && is_match && reading.share >= *nearest.get_or_insert(reading.share) - SOUND_RANGE;
            best = match score(&other) > score(&best) {
                true if only_sounds => join(other, best),
                true => other,
                false if is_near => join(best, other),
                false => best,
            };
        }
        best
    }

    /// Further readings of a query, the likeliest first: those of its words, then those that only sound like it.
    fn other_readings<'a>(&'a self, query: &'a str) -> impl Iterator<Item = Reading> + 'a {
        let others = other_readings(query, &self.terms.lookups.dictionary).map(|text| Reading { text, share: 1.0 });
        let others = others.filter(move |_| !lacks_vowels(query));
        others.chain(std::iter::once_with(move || sounding(query, &self.terms)).flatten())
    }

    fn search_reading(&self, names: &dyn Names, text: &str, steps: &[(SearchStep, f32)]) -> SearchResults {
        let mut query = NameQuery::parse(text, &self.weights);
        self.buffers.with(self.rows, |buffers| {
            let mut candidates = CandidateSearch::new(&self.terms, &self.weights);
            let mut scored = Vec::new();
            let mut capped = false;
            let mut is_complete = true;
            for (step, sufficient) in steps.iter().copied() {
                let max = match step {
                    // A long query takes longer to compare, and fewer names contain all of it.
                    SearchStep::Near => MAX_HITS / (2 * query.words.len()).saturating_sub(1).max(1),
                    SearchStep::Wide | SearchStep::Far => MAX_DISTANT_CANDIDATES,
                };
                if !candidates.gather(&mut query, step, buffers) {
                    continue;
                }
                pause::point();
                let is_cut = self.score_candidates(names, &query, &candidates, max, buffers, &mut scored);
                match step {
                    SearchStep::Near => is_complete = buffers.touched.len() < max,
                    SearchStep::Wide | SearchStep::Far => capped |= is_cut,
                }
                let is_sufficient = |best: &Hit| {
                    best.score >= sufficient
                        || (best.score >= CLOSE_SCORE && candidates.is_intended(buffers.marks(best.row)))
                };
                if scored.first().is_some_and(is_sufficient) || query.joined.is_empty() {
                    break;
                }
            }
            let has_sure = |scored: &[Hit]| {
                let class = |hit: &Hit| MatchClass::of_row(&query, texts(names, hit.row));
                scored.iter().take(MAX_CLASSIFIED).any(|hit| class(hit).is_sure())
            };
            let mut is_sure = has_sure(&scored);
            // A part of a query never has a better score than this.
            let may_relax = query.words.len() > 1 && steps.len() == STEPS.len();
            if !is_sure && may_relax && scored.first().is_none_or(|best| best.score < SURE_SCORE) {
                self.relax(names, &query, &mut candidates, buffers, &mut scored);
                is_sure = has_sure(&scored);
            }
            let best = scored.first().filter(|_| !is_sure);
            let relaxation =
                best.and_then(|best| RelaxedMatch::of_row(&query, names, best.row, &self.vocabulary(&query)));
            let left_out = relaxation.map(|best| best.left_out).unwrap_or_default();
            let compared = scored.len();
            let mut hits = scored;
            let min_score = match hits.first() {
                // Only loose matches: the few that are about as likely as the best.
                Some(best) if !is_sure => (best.score - LOOSE_RANGE).max(MATCH_SCORE),
                _ => MATCH_SCORE,
            };
            let max = if is_sure { MAX_HITS } else { MAX_LOOSE };
            let matching = hits.iter().take(max).take_while(|hit| hit.score >= min_score).count();
            let rest = hits.split_off(matching);
            // Suggestions must be as similar as all others.
            let is_similar = |row: &u32| texts(names, *row).any(|text| similarity(&query.raw, text).is_some());
            let distant = rest.iter().filter(|_| !is_sure).take(MAX_SUGGESTED).map(|hit| hit.row);
            let did_you_mean = distant.filter(is_similar).collect();
            // If some of those compared do not match, the less likely candidates would not match either.
            capped &= is_sure && matching == compared;
            put_main_records_first(&mut hits, |row| names.main_of(row));
            let is_loose = !is_sure && !hits.is_empty();
            let further = (is_sure && !is_complete).then(|| text.to_owned());
            SearchResults { hits, further, is_loose, capped, did_you_mean, left_out }
        })
    }

    /// Adds the rows that match a part of the query, see [`RelaxedMatch`].
    fn relax(
        &self,
        names: &dyn Names,
        query: &NameQuery,
        candidates: &mut CandidateSearch<'_>,
        buffers: &mut SearchBuffers,
        scored: &mut Vec<Hit>,
    ) {
        candidates.gather_parts(query, buffers);
        let known = self.vocabulary(query);
        let rows = buffers.touched.iter().map(|row| (self.estimate(candidates, *row, buffers.marks(*row)), *row));
        let mut rows: Vec<(f32, u32)> = rows.collect();
        keep_best(&mut rows, MAX_RELAXED_CANDIDATES);
        let mut rows: Vec<u32> = rows.into_iter().map(|(_, row)| row).collect();
        // Those of successive words count, however many names have single words.
        rows.extend(candidates.rows_within(query));
        rows.sort_unstable();
        rows.dedup();
        for row in pause::every(32, rows) {
            if buffers.marks(row) & SCORED == 0 {
                buffers.mark(row, SCORED);
                let score = self.score(names, query, row, buffers);
                scored.push(Hit { row, score });
            }
            let Some(relaxation) = RelaxedMatch::of_row(query, names, row, &known) else { continue };
            let points = MatchStrategy::RELAXED.ceiling * relaxation.similarity;
            let score = points + prominence_bonus(points, names.prominence(row));
            scored.iter_mut().filter(|hit| hit.row == row).for_each(|hit| hit.score = hit.score.max(score));
        }
        sort(scored);
    }

    /// What is known of the words of a query.
    fn vocabulary(&self, query: &NameQuery) -> Vocabulary<'_> {
        let rarity = |word: &QueryWord| {
            let rows = self.descriptions.word_frequency(&word.text) as f32;
            (1.0 - (1.0 + rows).ln() / COMMON_WORD.ln()).max(0.0)
        };
        Vocabulary { weights: &self.weights, rarities: query.words.iter().map(rarity).collect() }
    }

    /// The rows with the characters of a query, or else with all words of it, ascending; the last word may be incomplete. If
    /// a search has [`SearchResults::further`] rows, its hits are some of them, but for names that only sound alike.
    pub fn rows_with_words(&self, query: &str) -> Vec<u32> {
        let query = NameQuery::parse(query, &self.weights);
        let with_characters = self.terms.rows_with_characters(&query.characters, u32::MAX);
        if !with_characters.is_empty() {
            return with_characters;
        }
        let dictionary = &self.terms.lookups.dictionary;
        let mut common: Option<Vec<u64>> = None;
        for (index, word) in query.words.iter().enumerate() {
            let mut bits = vec![0_u64; bit_words(self.rows)];
            let mut set = |row: u32| bits[row as usize / 64] |= 1 << (row % 64);
            let words = match query.is_typing(index) {
                true => dictionary.with_prefix(&word.text),
                false => dictionary.get(&word.text).map_or(0..0, |found| found..found + 1),
            };
            self.terms.each_rare_row(&words, |row, _| set(row));
            self.terms.rows.common_in(&words).for_each(|word| self.terms.each_row(word, u32::MAX, |row, _| set(row)));
            match &mut common {
                Some(common) => common.iter_mut().zip(&bits).for_each(|(common, bits)| *common &= bits),
                None => common = Some(bits),
            }
        }
        RowSet::Dense(&common.unwrap_or_default()).iter().collect()
    }

    pub fn name_frequency(&self, word: &str) -> u32 {
        self.terms.lookups.dictionary.get(word).map_or(0, |word| self.terms.rows.count(word))
    }

    /// Classifies rows by the reading of a query that they match best.
    pub fn match_classes(&self, names: &dyn Names, query: &str, rows: &[u32]) -> Vec<MatchClass> {
        let own = Reading { text: query.to_owned(), share: 1.0 };
        let readings = std::iter::once(own).chain(self.other_readings(query));
        let parse = |reading: Reading| (NameQuery::parse(&reading.text, &self.weights), reading.share);
        let readings: Vec<(NameQuery, f32)> = readings.map(parse).collect();
        let class = |row: &u32| {
            let of_reading =
                |(reading, share): &(NameQuery, f32)| MatchClass::of_row(reading, texts(names, *row)).of_share(*share);
            let classes = readings.iter().map(of_reading);
            classes.min().unwrap_or(MatchClass::Relaxed)
        };
        rows.iter().map(class).collect()
    }

    /// The rows with a name that has a folded text as its initials, with or without connecting words; reads at most `max`.
    pub fn rows_with_initials(&self, names: &dyn Names, folded: &str, max: usize) -> Vec<u32> {
        if folded.len() < 2 || folded.contains(' ') {
            return Vec::new();
        }
        let has_initials = |row: &u32| texts(names, *row).any(|text| has_initials(&fold(text), folded));
        self.terms.lookups.acronyms.get(folded).iter().copied().take(max).filter(has_initials).collect()
    }

    /// The parts of a row's score for a query, even if it is no match.
    pub fn explain(&self, names: &dyn Names, query: &str, row: u32) -> Explanation {
        let read = |reading: &Reading| self.explain_reading(names, reading, row);
        let own = Reading { text: query.to_owned(), share: 1.0 };
        self.best_reading(query, read(&own), read, |explanation| explanation.score, |best, _| best)
    }

    fn explain_reading(&self, names: &dyn Names, reading: &Reading, row: u32) -> Explanation {
        let query = NameQuery::parse(&reading.text, &self.weights);
        let class = MatchClass::of_row(&query, texts(names, row)).of_share(reading.share);
        let relaxed = || RelaxedMatch::of_row(&query, names, row, &self.vocabulary(&query));
        let relaxation = if class.is_sure() { None } else { relaxed() };
        let best = self.buffers.with(self.rows, |buffers| {
            let scored = texts(names, row).map(|text| {
                let mut scores = AllScores::default();
                score_text(&query, text, &self.weights, buffers, &mut scores);
                relaxation.iter().for_each(|relaxed| scores.add(MatchStrategy::RELAXED, relaxed.similarity));
                (text, scores)
            });
            scored.max_by(|(_, left), (_, right)| left.points().total_cmp(&right.points()))
        });
        let (text, mut scores) = best.expect("a row has a name");
        if reading.share < 1.0 && !is_most_of(&query, names, row) {
            scores = AllScores::default();
        }
        scores.keep_share(reading.share);
        let bonus = prominence_bonus(scores.points(), names.prominence(row));
        Explanation::new(scores.0, text.to_owned(), class, bonus)
    }

    /// Scores at most `max` of the candidates that are not scored yet, and sorts all hits; true if there were more.
    fn score_candidates(
        &self,
        names: &dyn Names,
        query: &NameQuery,
        candidates: &CandidateSearch<'_>,
        max: usize,
        buffers: &mut SearchBuffers,
        scored: &mut Vec<Hit>,
    ) -> bool {
        let marked = buffers.touched.iter().map(|row| (*row, buffers.marks(*row)));
        let open = marked.filter(|(_, marks)| marks & SCORED == 0 && candidates.may_match(*marks));
        let mut rows: Vec<(f32, u32)> = open.map(|(row, marks)| (self.estimate(candidates, row, marks), row)).collect();
        let is_capped = keep_best(&mut rows, max);
        for rows in rows.chunks(CHUNK) {
            // The names are far apart in memory. Reading the first byte of each lets the processor fetch them in parallel.
            let first_bytes = rows.iter().map(|(_, row)| names.name(*row).bytes().next().map_or(0, usize::from));
            std::hint::black_box(first_bytes.sum::<usize>());
            for (_, row) in rows {
                buffers.mark(*row, SCORED);
                let score = self.score(names, query, *row, buffers);
                scored.extend((score > 0.0).then_some(Hit { row: *row, score }));
            }
        }
        sort(scored);
        is_capped
    }

    /// Estimates a row's score without reading its name, to choose the candidates to score if there are too many.
    fn estimate(&self, candidates: &CandidateSearch<'_>, row: u32, marks: u16) -> f32 {
        let begins = if marks & (BEGINS | KEEP) == 0 { 0.0 } else { 0.2 };
        let hinted = if marks & HINTED == 0 { 0.0 } else { 0.1 };
        let exact = if marks & EXACT == 0 { 0.0 } else { 0.2 };
        let static_rank = self.terms.lookups.static_ranks[row as usize];
        candidates.coverage(marks) + begins + exact + hinted + f32::from(static_rank) / 2_550.0
    }

    fn score(&self, names: &dyn Names, query: &NameQuery, row: u32, buffers: &mut SearchBuffers) -> f32 {
        let mut best = BestScore::default();
        texts(names, row).for_each(|text| score_text(query, text, &self.weights, buffers, &mut best));
        if best.0 > 0.0 { best.0 + prominence_bonus(best.0, names.prominence(row)) } else { 0.0 }
    }
}

/// True if the words of a reading that only sounds like a query are most of a name: it is not misspelled or cut as well.
fn is_most_of(reading: &NameQuery, names: &dyn Names, row: u32) -> bool {
    texts(names, row).any(|text| reading.is_most_of(text))
}

/// Keeps the `max` rows with the best estimates, in any order; true if there were more. `max` is not 0.
fn keep_best(rows: &mut Vec<(f32, u32)>, max: usize) -> bool {
    let are_more = rows.len() > max;
    if are_more {
        rows.select_nth_unstable_by(max - 1, |left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        rows.truncate(max);
    }
    are_more
}

/// Sorts hits, best first; equal ones in the order of the table.
fn sort(hits: &mut [Hit]) {
    hits.sort_unstable_by(|left, right| right.score.total_cmp(&left.score).then(left.row.cmp(&right.row)));
}

/// The number of candidates read before they are scored.
const CHUNK: usize = 32;
