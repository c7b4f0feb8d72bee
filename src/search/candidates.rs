//! Candidates: the rows that may answer a query, from the terms of the index.
//!
//! Reads as few postings as the rule of matching allows: every match holds one of the query's rarest words that together
//! make up more than half of its weight, so only their postings are read whole.

use std::sync::Arc;

use tantivy::postings::TermInfo;
use tantivy::query::FuzzyTermQuery;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocSet, InvertedIndexReader, TERMINATED, Term};

use super::build::{Fields, raw_term};
use super::query::Query;
use super::scratch::Scratch;

/// The readers of one field each.
pub(super) struct Readers {
    pub fields: Fields,
    pub word: Arc<InvertedIndexReader>,
    pub whole: Arc<InvertedIndexReader>,
    pub sound: Arc<InvertedIndexReader>,
    pub acronym: Arc<InvertedIndexReader>,
    pub raw: Arc<InvertedIndexReader>,
}

/// The most terms that one word is expanded to.
const MOST_TERMS: usize = 400;
/// The most postings that are read for a query.
const MOST_POSTINGS: u32 = 200_000;

/// How far a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// One edit in a word.
    Near,
    /// Two edits in a word, or in the whole name.
    Far,
}

/// Terms that one query word stands for.
struct Expansion {
    mask: u16,
    weight: f32,
    postings: u32,
    terms: Vec<TermInfo>,
}

impl Readers {
    /// Touches the rows that may answer the query.
    pub fn gather(&self, query: &Query, reach: Reach, scratch: &mut Scratch) {
        if query.joined.is_empty() {
            let term = raw_term(&query.raw);
            if !term.is_empty() {
                let terms = prefix_terms(&self.raw, &term);
                touch_all(&self.raw, &terms, 0, scratch);
            }
            return;
        }
        let wholes = prefix_terms(&self.whole, &query.joined);
        touch_all(&self.whole, &wholes, 0, scratch);
        if query.sound.len() > 1 {
            let terms: Vec<_> = self.sound.terms().get(&query.sound).ok().flatten().into_iter().collect();
            touch_all(&self.sound, &terms, 0, scratch);
        }
        if query.words.len() == 1 && (2..=8).contains(&query.joined.len()) {
            let terms: Vec<_> = self.acronym.terms().get(&query.joined).ok().flatten().into_iter().collect();
            touch_all(&self.acronym, &terms, 0, scratch);
        }
        if query.joined.len() >= 4 && query.joined.len() <= 40 {
            let edits = if reach == Reach::Far && query.joined.len() >= 5 { 2 } else { 1 };
            let terms = near_terms(&self.whole, self.fields.whole, &query.joined, edits, false);
            touch_all(&self.whole, &terms, 0, scratch);
            if reach == Reach::Far && query.words.len() > 1 || query.joined.len() > 4 {
                let terms = near_terms(&self.whole, self.fields.whole, &query.joined, 1, true);
                touch_all(&self.whole, &terms, 0, scratch);
            }
        }
        self.gather_words(query, reach, scratch);
    }

    fn gather_words(&self, query: &Query, reach: Reach, scratch: &mut Scratch) {
        let mut expansions: Vec<Expansion> = query
            .words
            .iter()
            .enumerate()
            .map(|(at, word)| {
                let is_last = at + 1 == query.words.len() && !query.ended;
                let mut terms: Vec<TermInfo> = Vec::new();
                terms.extend(self.word.terms().get(&word.text).ok().flatten());
                for form in &word.nicknames {
                    terms.extend(self.word.terms().get(form).ok().flatten());
                }
                if word.text.len() >= 3 {
                    if is_last {
                        terms.extend(prefix_terms(&self.word, &word.text));
                    }
                    let edits = match (word.text.len(), reach) {
                        (5.., Reach::Far) => 2,
                        _ => 1,
                    };
                    if word.text.len() <= 40 {
                        terms.extend(near_terms(&self.word, self.fields.word, &word.text, edits, false));
                        if is_last && word.text.len() >= 4 {
                            terms.extend(near_terms(&self.word, self.fields.word, &word.text, 1, true));
                        }
                    }
                }
                terms.sort_by_key(|term| term.postings_range.start);
                terms.dedup_by_key(|term| term.postings_range.start);
                Expansion {
                    mask: 1 << at,
                    weight: word.weight,
                    postings: terms.iter().map(|term| term.doc_freq).sum(),
                    terms,
                }
            })
            .filter(|expansion| !expansion.terms.is_empty())
            .collect();
        expansions.sort_by_key(|expansion| expansion.postings);
        let all: f32 = expansions.iter().map(|expansion| expansion.weight).sum();
        let mut read = 0.0;
        let mut postings = 0;
        for expansion in &expansions {
            let essential = read <= all * 0.5;
            if postings + expansion.postings > MOST_POSTINGS && read > 0.0 {
                break;
            }
            postings += expansion.postings;
            read += expansion.weight;
            for term in &expansion.terms {
                each(&self.word, term, |row| {
                    if essential { scratch.touch(row, expansion.mask) } else { scratch.mark(row, expansion.mask) }
                });
            }
        }
    }
}

fn each(reader: &InvertedIndexReader, term: &TermInfo, mut row: impl FnMut(u32)) {
    let Ok(mut postings) = reader.read_postings_from_terminfo(term, IndexRecordOption::Basic) else { return };
    let mut doc = postings.doc();
    while doc != TERMINATED {
        row(doc);
        doc = postings.advance();
    }
}

fn touch_all(reader: &InvertedIndexReader, terms: &[TermInfo], mask: u16, scratch: &mut Scratch) {
    for term in terms {
        each(reader, term, |row| scratch.touch(row, mask));
    }
}

/// Terms that begin with `prefix`, itself among them.
fn prefix_terms(reader: &InvertedIndexReader, prefix: &str) -> Vec<TermInfo> {
    let mut terms = Vec::new();
    let Ok(mut stream) = reader.terms().range().ge(prefix).into_stream() else { return terms };
    while terms.len() < 5_000 && stream.advance() && stream.key().starts_with(prefix.as_bytes()) {
        terms.push(stream.value().clone());
    }
    terms
}

/// Terms within so many edits of `text`, or that have a prefix which is.
fn near_terms(reader: &InvertedIndexReader, field: Field, text: &str, edits: u8, prefix: bool) -> Vec<TermInfo> {
    let term = Term::from_field_text(field, text);
    let query =
        if prefix { FuzzyTermQuery::new_prefix(term, edits, true) } else { FuzzyTermQuery::new(term, edits, true) };
    let mut terms = Vec::new();
    let Ok(automaton) = query.automaton() else { return terms };
    let Ok(mut stream) = reader.terms().search(automaton).into_stream() else { return terms };
    while terms.len() < MOST_TERMS && stream.advance() {
        terms.push(stream.value().clone());
    }
    terms
}
