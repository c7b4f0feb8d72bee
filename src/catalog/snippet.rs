//! Excerpts of descriptions around the words of a text.

use std::ops::Range;

use serde::Serialize;

use crate::{Catalog, Query};
use data::Names;
use data::field::model;
use search::marks;

/// Approximate length of an excerpt in characters; it ends between words.
const LENGTH: usize = 160;
/// Number of characters before the first word of the text.
const BEFORE: usize = 40;

model! {
    /// The part of a record's description that has words of `text`.
    #[derive(Serialize)]
    pub struct Snippet {
        /// The record's slug.
        pub slug: String,
        /// The part; `…` is in place of what is left out.
        pub text: String,
        /// The words: from the first character, counted from 0 in Unicode code points, to before the last.
        pub marks: Vec<Mark>,
    }

    /// A part of a text.
    #[derive(Serialize)]
    pub(crate) struct Mark {
        /// The first character.
        pub start: u32,
        /// The character after the last one.
        pub end: u32,
    }
}

impl Snippet {
    /// Splits the text; each part has a flag that is true for a word of the search.
    pub fn parts(&self) -> Vec<(String, bool)> {
        let (mut chars, mut at) = (self.text.chars(), 0);
        let ends = self.marks.iter().flat_map(|mark| [(mark.start, false), (mark.end, true)]);
        let part = |(end, is_word): (u32, bool)| {
            let part = chars.by_ref().take(end.saturating_sub(at) as usize).collect();
            at = end;
            (part, is_word)
        };
        ends.chain([(u32::MAX, false)]).map(part).collect()
    }
}

impl Catalog {
    /// Excerpts for the rows with words of the query's text in their descriptions, around the first of these words.
    pub fn snippets_of(&self, query: &Query, rows: &[u32]) -> Vec<Snippet> {
        let Some(text) = query.described() else { return Vec::new() };
        let names = self.snapshot().names(query.table);
        let descriptions: Vec<String> = rows.iter().map(|row| names.description(*row)).collect();
        let of_rows = rows.iter().zip(&descriptions).zip(marks(text, &descriptions));
        let snippets = of_rows.filter_map(|((row, description), marks)| {
            let (text, marks) = cut(description, marks)?;
            Some(Snippet { slug: self.snapshot().slug(query.table, *row).to_owned(), text, marks })
        });
        snippets.collect()
    }
}

/// Cuts the part of a description around the first of some words in it; `None` if it has none.
fn cut(description: &str, marks: Vec<Range<usize>>) -> Option<(String, Vec<Mark>)> {
    let first = marks.first()?.start;
    let is_end = |at: usize| description[at..].starts_with(char::is_whitespace) || at == description.len();
    // Starts at a word at most this many characters before, and ends with a word at most this many characters after it.
    let before = description[..first].char_indices().rev().take(BEFORE).map(|(at, _)| at);
    let start = before.filter(|at| *at == 0 || is_end(*at)).last().unwrap_or(first);
    let after = description[start..].char_indices().map(|(at, _)| start + at).chain([description.len()]);
    let end = after.take(LENGTH).filter(|at| *at > first && is_end(*at)).last().unwrap_or(description.len());
    let part = description[start..end].trim_start();
    let start = end - part.len();
    let lead = if start > 0 { "…" } else { "" };
    let tail = if end < description.len() { "…" } else { "" };
    let count = |from: usize, to: usize| description[from..to].chars().count();
    let position = |at: usize| (lead.chars().count() + count(start, at)) as u32;
    let within = marks.into_iter().filter(|mark| mark.start >= start && mark.end <= end);
    let marks = within.map(|mark| Mark { start: position(mark.start), end: position(mark.end) }).collect();
    Some((format!("{lead}{part}{tail}"), marks))
}
