//! The rows of words with their scores, read from tantivy's postings.

use std::collections::BTreeSet;
use std::sync::Arc;

use tantivy::fieldnorm::FieldNormReader;
use tantivy::postings::{Postings, SegmentPostings, TermInfo};
use tantivy::query::Bm25Weight;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, SegmentReader, TERMINATED, TantivyError, Term};

use crate::index::descriptions::ranked_rows::BestKeys;
use data::archive::facet_column::{RowSet, bit_words};

const ROWS_AT_A_TIME: u32 = 4_096;
/// Allows for rounding errors in an upper bound of scores.
const SLACK: f32 = 1.0001;

/// The postings of all stems.
pub(super) struct StemPostings {
    field: Field,
    stems: Arc<InvertedIndexReader>,
    lengths: FieldNormReader,
    rows: u64,
    /// Mean number of words of a row.
    mean_length: f32,
}

/// The stems of a word, ascending, each with the place of its postings; `None` if no row has it.
#[derive(Clone, Debug)]
pub(super) struct LocatedWord(Vec<(String, Option<TermInfo>)>);

/// A word of a query: the postings of its stems with their weights, and the logarithm of how few rows have the word.
pub(super) struct WeighedWord {
    stems: Vec<(TermInfo, Bm25Weight)>,
    rarity: f32,
}

impl LocatedWord {
    /// Number of rows with the word; a row counts once for each of several stems.
    pub(super) fn rows(&self) -> u64 {
        self.0.iter().filter_map(|(_, place)| place.as_ref()).map(|place| u64::from(place.doc_freq)).sum()
    }

    pub(super) fn stems(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(stem, _)| stem.as_str())
    }
}

impl StemPostings {
    /// Reads all files of the field, so that a missing one is noticed now.
    pub(super) fn open(segment: &SegmentReader, field: Field) -> Result<Self, TantivyError> {
        let (stems, lengths) = (segment.inverted_index(field)?, segment.get_fieldnorms_reader(field)?);
        let rows = u64::from(segment.max_doc());
        let mean_length = stems.total_num_tokens() as f32 / rows as f32;
        Ok(Self { field, stems, lengths, rows, mean_length })
    }

    pub(super) fn locate(&self, stems: &BTreeSet<String>) -> LocatedWord {
        let place = |stem: &str| readable(self.stems.get_term_info(&Term::from_field_text(self.field, stem)))?;
        LocatedWord(stems.iter().map(|stem| (stem.clone(), place(stem))).collect())
    }

    pub(super) fn weigh(&self, words: &[LocatedWord]) -> Vec<WeighedWord> {
        let weigh = |word: &LocatedWord| {
            let stem = |(stem, place): &(String, Option<TermInfo>)| {
                let place = place.clone()?;
                let rows = u64::from(place.doc_freq);
                let weight = Bm25Weight::for_one_term_without_explain(rows, self.rows, self.mean_length);
                // A compound is one word, though it has both words of a query.
                let sharing = words.iter().filter(|word| word.stems().any(|other| other == stem)).count();
                Some((place, weight.boost_by(1.0 / sharing as f32)))
            };
            let rarity = (1.0 + self.rows as f32 / word.rows().max(1) as f32).ln();
            WeighedWord { stems: word.0.iter().filter_map(stem).collect(), rarity }
        };
        words.iter().map(weigh).collect()
    }

    pub(super) fn rows_of(&self, word: &WeighedWord) -> WordRows<'_> {
        let stem = |(place, weight): &(TermInfo, Bm25Weight)| {
            let postings = readable(self.stems.read_postings_from_terminfo(place, IndexRecordOption::WithFreqs))?;
            Some(StemRows { postings, scorer: self.scorer(weight) })
        };
        let stems: Vec<StemRows<'_>> = word.stems.iter().filter_map(stem).collect();
        let row = stems.iter().map(|stem| stem.postings.doc()).min().unwrap_or(TERMINATED);
        WordRows { stems, rarity: word.rarity, row }
    }

    fn scorer(&self, weight: &Bm25Weight) -> StemScorer<'_> {
        StemScorer { lengths: &self.lengths, weight: weight.clone() }
    }

    /// Adds the best rows that have any of the words. `add` is given a row, the share of its words in the rarity of all, and
    /// the sum of their scores; the score that it adds is that sum times the root of the share times at most `max_factor`.
    ///
    /// The rows of the rarest word come first. Of a more frequent one, rows are skipped, block by block, whose scores are
    /// too low even with all words that follow; those with an earlier word were found before.
    pub(super) fn add_best_with_any(
        &self,
        words: &[WeighedWord],
        max_factor: f32,
        best: &mut BestKeys,
        add: impl Fn(&mut BestKeys, u32, f32, f32),
    ) {
        let total: f32 = words.iter().map(|word| word.rarity).sum();
        for (index, word) in words.iter().enumerate() {
            let (own, later) = (word.rarity / total, &words[index + 1..]);
            // All words that follow, as if each had its highest score.
            let max_later: f32 = later.iter().map(WeighedWord::max_score).sum();
            let max_rarity = (later.iter().map(|word| word.rarity / total).sum::<f32>() + own).min(1.0);
            let factor = max_rarity.sqrt() * max_factor * SLACK;
            for (place, weight) in &word.stems {
                let postings = self.stems.read_block_postings_from_terminfo(place, IndexRecordOption::WithFreqs);
                let Some(mut blocks) = readable(postings) else { continue };
                let scorer = self.scorer(weight);
                let mut of_later: Vec<Option<WordRows<'_>>> = later.iter().map(|_| None).collect();
                while !blocks.docs().is_empty() {
                    let max_score = blocks.block_max_score(&self.lengths, &scorer.weight);
                    if (max_score + max_later) * factor >= best.least_score() {
                        for (row, frequency) in blocks.docs().iter().zip(blocks.freqs()) {
                            let (mut score, mut rarity) = (scorer.score(*row, *frequency), own);
                            if (score + max_later) * factor < best.least_score() {
                                continue;
                            }
                            for (word, rows) in later.iter().zip(&mut of_later) {
                                let rows = rows.get_or_insert_with(|| self.rows_of(word));
                                if rows.seek(*row) == *row {
                                    score += rows.score();
                                    rarity += word.rarity / total;
                                }
                            }
                            add(best, *row, rarity, score);
                        }
                    }
                    blocks.advance();
                }
            }
        }
    }
}

impl WeighedWord {
    fn max_score(&self) -> f32 {
        self.stems.iter().map(|(_, weight)| weight.max_score()).fold(0.0, f32::max)
    }
}

/// Only reading a file can fail, and the files are in memory.
fn readable<T, E: std::fmt::Debug>(read: Result<T, E>) -> Option<T> {
    debug_assert!(read.is_ok(), "a file cannot be read: {:?}", read.err());
    read.ok()
}

struct StemScorer<'a> {
    lengths: &'a FieldNormReader,
    weight: Bm25Weight,
}

impl StemScorer<'_> {
    fn score(&self, row: u32, frequency: u32) -> f32 {
        self.weight.score(self.lengths.fieldnorm_id(row), frequency)
    }
}

struct StemRows<'a> {
    postings: SegmentPostings,
    scorer: StemScorer<'a>,
}

/// The rows that have one of the stems of a word, ascending.
pub(super) struct WordRows<'a> {
    stems: Vec<StemRows<'a>>,
    rarity: f32,
    /// The current row; [`TERMINATED`] after the last one.
    row: u32,
}

impl WordRows<'_> {
    /// Moves to the first row from `row` on.
    fn seek(&mut self, row: u32) -> u32 {
        let seek = |StemRows { postings, .. }: &mut StemRows<'_>| match row.saturating_sub(postings.doc()) {
            0 => postings.doc(),
            1 => postings.advance(),
            _ => postings.seek(row),
        };
        if self.row < row {
            self.row = self.stems.iter_mut().map(seek).min().unwrap_or(TERMINATED);
        }
        self.row
    }

    /// The score of the current row: that of its best stem.
    fn score(&self) -> f32 {
        let stems = self.stems.iter().filter(|stem| stem.postings.doc() == self.row);
        stems.map(|stem| stem.scorer.score(self.row, stem.postings.term_freq())).fold(0.0, f32::max)
    }
}

/// Calls `each` with at most the first `max` rows that have all words, ascending, and the sum of the words' scores.
pub(super) fn each_row_with_all(mut words: Vec<WordRows<'_>>, max: usize, mut each: impl FnMut(u32, f32)) {
    // The rarest word leads, and the others are sought in its rows.
    words.sort_by_key(|word| word.stems.iter().map(|stem| stem.postings.size_hint()).sum::<u32>());
    let Some((first, others)) = words.split_first_mut() else { return };
    let mut found = 0;
    while first.row != TERMINATED && found < max {
        match others.iter_mut().map(|word| word.seek(first.row)).find(|row| *row != first.row) {
            Some(next) => first.seek(next),
            None => {
                each(first.row, first.score() + others.iter().map(WordRows::score).sum::<f32>());
                found += 1;
                first.seek(first.row + 1)
            }
        };
    }
}

/// Calls `each` with the rows that have any of the words, ascending, the share of their words in the rarity of all, and
/// the sum of their scores.
pub(super) fn each_row_with_any(mut words: Vec<WordRows<'_>>, mut each: impl FnMut(u32, f32, f32)) {
    let total: f32 = words.iter().map(|word| word.rarity).sum();
    // The words are read one after the other over some rows at a time, whose sums stay in the processor's cache.
    let mut sums = vec![(0.0, 0.0); ROWS_AT_A_TIME as usize];
    let mut found = vec![0_u64; bit_words(ROWS_AT_A_TIME)];
    while let Some(first) = words.iter().map(|word| word.row).min().filter(|row| *row != TERMINATED) {
        let end = first.saturating_add(ROWS_AT_A_TIME).min(TERMINATED);
        for word in &mut words {
            while word.row < end {
                let place = word.row - first;
                let (rarity, score) = &mut sums[place as usize];
                *rarity += word.rarity / total;
                *score += word.score();
                found[place as usize / 64] |= 1 << (place % 64);
                word.seek(word.row + 1);
            }
        }
        for place in RowSet::Dense(&found).iter() {
            let (rarity, score) = std::mem::take(&mut sums[place as usize]);
            each(first + place, rarity, score);
        }
        found.fill(0);
    }
}
