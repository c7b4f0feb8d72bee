//! Completions: names that a text may become while it is typed. A search scores names one by one; a completion keeps
//! the most prominent rows of the words that begin with the text. As more is typed, none is added, so that a name in a
//! list is only overtaken by names, aliases and initials that equal the text.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::ops::Range;

use crate::MAX_QUERY_WORDS;
use crate::index::{MAX_WORD_BYTES, TermIndex, TextIndex, texts};
use crate::query::{lacks_vowels, limited, may_mean};
use crate::rank::has_initials;
use crate::rank::search_buffers::SearchBuffers;
use data::Names;
use data::fold::{fold, fold_into};
use data::written::{characters, find_characters};

/// Completeness of a text compared with a name, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Completion {
    /// It equals the text, except for letter case, diacritics, punctuation and spaces.
    Equal,
    Begins,
    /// It begins with the text except for spaces, or has its words, with the last one possibly unfinished, or its characters, in
    /// a script without spaces between words.
    Includes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completed {
    pub row: u32,
    pub completion: Completion,
    /// The name (0) or the alias (from 1) that completes the text.
    pub text: usize,
    /// True if the initials of that name equal the text: they count as a beginning.
    pub by_initials: bool,
    /// In units of 1 / [`data::MAX_PROMINENCE`].
    pub prominence: u32,
}

/// The maximum number of rows that are compared with the text, the most prominent ones.
const MAX_COMPARED: usize = 1_000;
const MAX_READ: u32 = 50_000;

pub(crate) struct TypedText {
    folded: String,
    words: Vec<String>,
    joined: String,
    characters: String,
    lacks_vowels: bool,
}

impl TypedText {
    /// `None` if there is no letter or digit.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let folded = fold(limited(text));
        let words: Vec<String> = folded.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        let (joined, folded, characters) = (words.concat(), words.join(" "), characters(limited(text)));
        let lacks_vowels = lacks_vowels(text);
        (!words.is_empty()).then_some(Self { joined, folded, words, characters, lacks_vowels })
    }

    /// True for one word of two to eight letters, and for single letters (`N.E.A.`).
    fn may_be_initials(&self) -> bool {
        let is_one = self.words.len() == 1 || self.words.iter().all(|word| word.len() == 1);
        is_one && !self.lacks_vowels && (2..=8).contains(&self.joined.len())
    }

    /// Compares a folded text with the typed one; `joined` is the text without spaces.
    fn completed_by(&self, folded: &str, joined: &str) -> Option<Completion> {
        match joined.strip_prefix(self.joined.as_str()) {
            Some("") => Some(Completion::Equal),
            Some(_) if folded.starts_with(&self.folded) => Some(Completion::Begins),
            Some(_) => Some(Completion::Includes),
            None => self.is_included_in(folded).then_some(Completion::Includes),
        }
    }

    /// Compares a text with the characters that were typed.
    fn completed_by_characters(&self, text: &str) -> Option<Completion> {
        let at = (!self.characters.is_empty()).then(|| characters(text).find(&self.characters))??;
        Some(if at == 0 { Completion::Begins } else { Completion::Includes })
    }

    fn is_included_in(&self, folded: &str) -> bool {
        let Some((last, complete)) = self.words.split_last() else { return false };
        let mut words = folded.split(' ');
        words.any(|word| word.starts_with(last.as_str()))
            && complete.iter().all(|typed| folded.split(' ').any(|word| word == typed))
    }

    /// The typed part of a text, as positions of its characters: from the beginning of the text or of a word, or else
    /// the word that begins with the last word typed.
    fn part_of(&self, text: &str) -> Option<Range<usize>> {
        if let Some(found) = find_characters(text, &self.characters) {
            return Some(found);
        }
        let mut folded = String::new();
        // The folded text without spaces, its length after each character, and the beginnings of its words in both.
        let mut joined = String::new();
        let (mut ends, mut starts) = (Vec::new(), Vec::new());
        let mut in_word = false;
        for (at, char) in text.chars().enumerate() {
            fold_into(char.encode_utf8(&mut [0; 4]), &mut folded);
            let ends_word = fold(&format!("a{char}b")).contains(' ');
            starts.extend((!folded.is_empty() && (ends_word || !in_word)).then_some((at, joined.len())));
            in_word = !ends_word && (in_word || !folded.is_empty());
            folded.split(' ').for_each(|part| joined.push_str(part));
            ends.push(joined.len());
        }
        let find = |typed: &str| {
            let (start, length) = starts.iter().find(|(_, length)| joined[*length..].starts_with(typed))?;
            let last = ends.iter().position(|end| *end >= length + typed.len())?;
            Some(*start..last + 1)
        };
        find(&self.joined).or_else(|| find(self.words.last()?))
    }
}

/// The typed part of a name or alias, as positions of its characters (not bytes).
pub fn typed_part(typed: &str, text: &str) -> Option<Range<usize>> {
    TypedText::parse(typed)?.part_of(text)
}

impl TextIndex {
    /// The rows that complete a text, the surest and most prominent first; `max` or a few more.
    pub fn complete(&self, names: &dyn Names, text: &str, max: usize) -> Vec<Completed> {
        let Some(typed) = TypedText::parse(text) else { return Vec::new() };
        self.buffers.with(self.rows, |buffers| {
            let mut run = CompletionRun { terms: &self.terms, names, typed: &typed, buffers, found: Vec::new() };
            run.add(&run.rows_with_characters(), Completion::Includes, MAX_COMPARED);
            if !run.found.is_empty() {
                sort(&mut run.found);
                run.found.truncate(max);
                return run.found;
            }
            for row in run.rows_of_full_name() {
                let completed = run.completed(row);
                run.found.extend(completed.filter(|completed| completed.completion == Completion::Equal));
            }
            sort(&mut run.found);
            run.found.truncate(max);
            run.add_initials(max);
            let beginning = run.rows_beginning(max + run.found.len());
            run.add(&beginning, Completion::Begins, max);
            if run.found.len() < max {
                let including = run.rows_including();
                run.add(&including, Completion::Includes, max - run.found.len());
            }
            sort(&mut run.found);
            run.found
        })
    }

    /// The rows with a name or alias that equals a text except for letter case, diacritics, punctuation and spaces, ascending.
    pub fn rows_called(&self, names: &dyn Names, text: &str) -> Vec<u32> {
        let Some(typed) = TypedText::parse(text) else { return Vec::new() };
        self.buffers.with(self.rows, |buffers| {
            let mut run = CompletionRun { terms: &self.terms, names, typed: &typed, buffers, found: Vec::new() };
            let rows = run.rows_of_full_name().into_iter();
            let completed = rows.filter_map(|row| run.completed(row));
            completed.filter(|row| row.completion == Completion::Equal).map(|row| row.row).collect()
        })
    }

    pub fn completion(&self, names: &dyn Names, text: &str, row: u32) -> Option<Completed> {
        let typed = TypedText::parse(text)?;
        self.buffers.with(self.rows, |buffers| completed(names, &typed, row, buffers))
    }
}

struct CompletionRun<'a> {
    terms: &'a TermIndex,
    names: &'a dyn Names,
    typed: &'a TypedText,
    buffers: &'a mut SearchBuffers,
    found: Vec<Completed>,
}

impl<'a> CompletionRun<'a> {
    /// The rows with this name, without spaces, and some others.
    fn rows_of_full_name(&self) -> Vec<u32> {
        let joined = self.typed.joined.as_str();
        let mut rows = self.terms.lookups.full_names.get(joined).to_vec();
        // The map has no names of one word that is not common.
        if let Some(word) = self.terms.lookups.dictionary.get(joined).filter(|word| !self.terms.rows.is_common(*word)) {
            self.terms.each_row(word, u32::MAX, |row, _| rows.push(row));
        }
        rows.sort_unstable();
        rows.dedup();
        rows.truncate(MAX_COMPARED);
        rows
    }

    /// The most prominent rows with the characters of the text: names that only sound alike are no completions of it.
    fn rows_with_characters(&self) -> Vec<u32> {
        let mut best = self.most_prominent(MAX_COMPARED);
        let rows = self.terms.rows_with_characters(&self.typed.characters, MAX_READ);
        rows.into_iter().for_each(|row| best.add(row));
        best.rows()
    }

    fn add_initials(&mut self, max: usize) {
        if !self.typed.may_be_initials() {
            return;
        }
        let joined = self.typed.joined.as_str();
        let mut best = self.most_prominent(MAX_COMPARED);
        self.terms.lookups.acronyms.get(joined).iter().for_each(|row| best.add(*row));
        let known = self.found.len();
        for row in best.rows() {
            if self.found.len() == known + max {
                return;
            }
            let with_initials = texts(self.names, row).position(|text| has_initials(&fold(text), joined));
            let Some(text) = with_initials.filter(|_| self.found[..known].iter().all(|known| known.row != row)) else {
                continue;
            };
            let begins = self.completed(row).filter(|row| row.completion <= Completion::Begins);
            let prominence = self.names.prominence(row);
            let by_initials = Completed { row, completion: Completion::Begins, text, by_initials: true, prominence };
            self.found.push(begins.unwrap_or(by_initials));
        }
    }

    /// The most prominent rows with a name or alias that begins with the text, and some others.
    fn rows_beginning(&mut self, max: usize) -> Vec<u32> {
        let ranges = self.ranges();
        let Some((first, others)) = ranges.split_first() else { return Vec::new() };
        let mut best = self.most_prominent(if others.is_empty() { max } else { MAX_COMPARED });
        if others.is_empty() {
            self.terms.each_first_row(first, |row| best.add(row));
        } else {
            let mut rows = Vec::new();
            self.terms.each_first_row(first, |row| rows.push(row));
            self.retain_with(&mut rows, others);
            rows.into_iter().for_each(|row| best.add(row));
        }
        best.rows()
    }

    /// The most prominent rows with all words of the text, or with a name that may begin with it except for spaces.
    fn rows_including(&mut self) -> Vec<u32> {
        let mut ranges = self.ranges();
        ranges.sort_by_key(|range| self.terms.rows.estimate(range));
        let mut with_words = self.most_prominent(MAX_COMPARED);
        if let Some((rarest, others)) = ranges.split_first() {
            let mut rows = Vec::new();
            self.terms.each_rare_row(rarest, |row, _| rows.push(row));
            let mut budget = MAX_READ;
            for word in self.terms.rows.common_in(rarest) {
                self.terms.each_row(word, budget, |row, _| rows.push(row));
                budget = budget.saturating_sub(self.terms.rows.count(word));
            }
            self.retain_with(&mut rows, others);
            rows.into_iter().for_each(|row| with_words.add(row));
        }
        let mut joined = self.most_prominent(MAX_COMPARED);
        let (dictionary, text) = (&self.terms.lookups.dictionary, self.typed.joined.as_str());
        self.terms.each_first_row(&dictionary.with_prefix(text), |row| joined.add(row));
        let begun = (1..text.len().min(MAX_WORD_BYTES)).filter_map(|end| dictionary.get(&text[..end]));
        begun.for_each(|word| self.terms.each_first_row(&(word..word + 1), |row| joined.add(row)));
        let mut rows = with_words.entries();
        rows.extend(joined.entries());
        rows.sort_unstable();
        rows.dedup();
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Each typed word, or for the last one all words that begin with it; empty if one is in no name.
    fn ranges(&self) -> Vec<Range<u32>> {
        let (dictionary, words) = (&self.terms.lookups.dictionary, &self.typed.words);
        let last = words.len() - 1;
        let range = |(index, word): (usize, &String)| match index == last {
            true => Some(dictionary.with_prefix(word)).filter(|range| !range.is_empty()),
            false => dictionary.get(word).map(|word| word..word + 1),
        };
        let ranges: Option<_> = words.iter().enumerate().take(MAX_QUERY_WORDS).map(range).collect();
        ranges.unwrap_or_default()
    }

    /// Removes rows without a word of each range, until reading the names of the others costs less.
    fn retain_with(&mut self, rows: &mut Vec<u32>, ranges: &[Range<u32>]) {
        let Self { terms, buffers, .. } = self;
        rows.sort_unstable();
        rows.dedup();
        for range in ranges {
            if rows.len() <= MAX_COMPARED / 4 || terms.rows.estimate(range) > MAX_READ {
                continue;
            }
            buffers.clear_bits();
            terms.each_rare_row(range, |row, _| buffers.set_bit(row));
            terms.rows.common_in(range).for_each(|word| terms.each_row_among(word, rows, |row| buffers.set_bit(row)));
            rows.retain(|row| buffers.has_bit(*row));
        }
    }

    fn most_prominent(&self, max: usize) -> MostProminent<'a> {
        let (names, ranks) = (self.names, self.terms.lookups.static_ranks.as_slice());
        MostProminent { names, ranks, max: max.max(1), min_rank: 0, worst: None, rows: Vec::new() }
    }

    /// Adds at most `max` rows, in order, that complete the text at least as well as `worst` and are not found yet.
    fn add(&mut self, rows: &[u32], worst: Completion, max: usize) {
        let known = self.found.len();
        for row in rows {
            if self.found.len() == known + max {
                return;
            }
            if self.found[..known].iter().all(|found| found.row != *row) {
                let completed = self.completed(*row);
                self.found.extend(completed.filter(|row| row.completion <= worst));
            }
        }
    }

    fn completed(&mut self, row: u32) -> Option<Completed> {
        completed(self.names, self.typed, row, self.buffers)
    }
}

fn sort(found: &mut [Completed]) {
    found.sort_unstable_by_key(|row| (row.completion, Reverse(row.prominence), row.row));
}

fn completed(names: &dyn Names, typed: &TypedText, row: u32, buffers: &mut SearchBuffers) -> Option<Completed> {
    let SearchBuffers { folded, joined, .. } = buffers;
    let completions = texts(names, row).enumerate().filter_map(|(index, text)| {
        fold_into(text, folded);
        joined.clear();
        folded.split(' ').for_each(|word| joined.push_str(word));
        let by_letters = typed.completed_by(folded, joined).filter(|_| may_mean(typed.lacks_vowels, text));
        Some((by_letters.into_iter().chain(typed.completed_by_characters(text)).min()?, index))
    });
    let (completion, text) = completions.min()?;
    Some(Completed { row, completion, text, by_initials: false, prominence: names.prominence(row) })
}

struct MostProminent<'a> {
    names: &'a dyn Names,
    ranks: &'a [u8],
    max: usize,
    /// The static rank and the entry of the worst row that is kept, once there are enough.
    min_rank: u8,
    worst: Option<(Reverse<u32>, u32)>,
    /// At most twice `max`.
    rows: Vec<(Reverse<u32>, u32)>,
}

impl MostProminent<'_> {
    fn add(&mut self, row: u32) {
        let rank = self.ranks[row as usize];
        if rank < self.min_rank {
            return;
        }
        let entry = (Reverse(self.names.prominence(row)), row);
        if self.worst.is_none_or(|worst| entry < worst) {
            self.rows.push(entry);
            if self.rows.len() >= 2 * self.max {
                self.cut();
            }
        }
    }

    fn cut(&mut self) {
        self.rows.sort_unstable();
        self.rows.dedup();
        if self.rows.len() >= self.max {
            self.rows.truncate(self.max);
            self.worst = self.rows.last().copied();
            self.min_rank = self.worst.map_or(0, |(_, row)| self.ranks[row as usize]);
        }
    }

    /// The rows with their prominence, the most prominent first.
    fn entries(mut self) -> Vec<(Reverse<u32>, u32)> {
        self.cut();
        self.rows
    }

    fn rows(self) -> Vec<u32> {
        self.entries().into_iter().map(|(_, row)| row).collect()
    }
}
