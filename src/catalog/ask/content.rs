//! Words that carry content: those that no filter reads rank the list by descriptions, and what qualifies them is no filter.

use std::ops::Range;

use crate::ask::lexicon::PhraseMeaning;
use crate::ask::path::Path;
use crate::ask::question::QuestionWords;
use crate::ask::words::{is_in, meaning_of};
use crate::ask::{GROUP_BY, Interpretation, ReadPart};
use crate::{ListPosition, ParseOptions, Request};
use data::Table;

/// Sections of words that connect others.
const GRAMMAR: [&str; 3] = ["grammar", "negations", "units"];

/// Parameters whose values qualify the noun behind them, as an adjective does.
const QUALIFIERS: [&str; 6] = ["sector", "status", "stage", "kind", "role", "known"];

/// Cost of a value that turns out to qualify an unread noun.
const UNREAD_QUALIFIER: u32 = 700;

impl QuestionWords<'_> {
    /// True for a noun phrase alone, such as `phone repair`, in which each word is content.
    pub(super) fn is_noun_phrase(&self) -> bool {
        let is_structural = |at: usize| {
            let token = &self.tokens[at];
            let is_number = token.word.contains(|char: char| char.is_ascii_digit());
            let is_verb = || {
                meaning_of("topics", &token.word).is_some()
                    && self.tokens.get(at + 1).is_some_and(|next| next.is_glue())
            };
            let is_role = || {
                let meanings = self.lexicon.meanings(&token.word);
                meanings.iter().any(|meaning| matches!(meaning, PhraseMeaning::Role(_)))
            };
            let is_plural = || token.word.ends_with('s') && (self.record_at(at).is_some() || is_role());
            let is_grammar = || GRAMMAR.iter().any(|section| meaning_of(section, &token.word).is_some());
            let is_glue = || token.is_glue() && !token.is_in("no glue of phrases");
            is_number || is_plural() || is_glue() || is_verb() || is_grammar()
        };
        !(0..self.tokens.len()).any(is_structural) && self.tokens.len() > 1
    }

    /// True if a word connects others rather than being content itself.
    pub(super) fn is_structural(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let has_number = || token.word.contains(|char: char| char.is_ascii_digit());
        let word = token.word.as_str();
        // `their first round`
        let is_ordinal = || self.is_in(at, "first or last") && self.record_at(at + 1) == Some(Table::Rounds);
        token.is_glue()
            || has_number()
            || is_ordinal()
            || self.record_at(at).is_some()
            || ["fillers", "topics", "by"].iter().chain(&GRAMMAR).any(|section| meaning_of(section, word).is_some())
    }
}

impl Path<'_, '_> {
    /// True for a word without a condition in its place: `startups building robots`, `the AI space`, but not `space tourism`.
    pub(super) fn is_filler(&self, at: usize) -> bool {
        let word = self.tokens[at].word.as_str();
        let is_head = meaning_of("heads", word).is_some();
        if self.is_phrase || !(is_head || meaning_of("fillers", word).is_some()) {
            return false;
        }
        let left = at.checked_sub(1).filter(|left| !self.tokens[*left].ends_clause);
        let right = Some(at + 1).filter(|right| *right < self.tokens.len() && !self.tokens[at].ends_clause);
        let is_open = |side: Option<usize>| side.is_none_or(|at| self.is_structural(at));
        let follows_value = self.parts.last().is_some_and(|(range, _)| range.end == at);
        let is_verb = left.is_some_and(|left| self.record_at(left).is_some() || self.tokens[left].is_glue());
        (is_open(left) && is_open(right)) || (is_head && follows_value && is_open(right)) || (!is_head && is_verb)
    }

    /// Moves what qualifies an unread noun to the unread words: `public` of `public transport`, `deal` of `deal coupons`.
    pub(super) fn leave_qualifiers(&mut self) {
        let mut heads: Vec<usize> = self.content.iter().map(|range| range.start).collect();
        let is_noun = |at: &usize| {
            let token = &self.tokens[*at];
            !token.is_capitalized()
                && !self.is_structural(*at)
                && !is_in("companies", &token.word)
                && token.word.starts_with(|char: char| char.is_alphabetic())
        };
        heads.retain(is_noun);
        while let Some(head) = heads.pop() {
            let qualifies = |range: &Range<usize>| range.end == head && head > 0 && !self.tokens[head - 1].ends_clause;
            let part = self.parts.iter().position(|(range, part)| {
                let name = part.parameter.as_str();
                qualifies(range) && QUALIFIERS.contains(&name.strip_suffix("_all").unwrap_or(name))
            });
            let range = match part {
                Some(part) => Some(self.parts.remove(part).0),
                None => self.kinds.iter().position(qualifies).map(|kind| self.kinds.remove(kind)),
            };
            if let Some(range) = range {
                heads.push(range.start);
                self.cost += UNREAD_QUALIFIER;
                self.unread.push(range.clone());
                self.content.push(range);
            }
        }
    }

    /// Ranks by the content words that no filter reads, as far as records that the filters leave have them. Without any filter
    /// the list has only records with the words.
    pub(super) fn rank_by_content(&self, interpretation: &mut Interpretation) {
        let has_filters = !interpretation.parts.is_empty();
        let mut words: Vec<&Range<usize>> = self.content.iter().filter(|range| self.unread.contains(range)).collect();
        if words.is_empty() || self.resource.parameter("text").is_none() {
            return;
        }
        words.sort_by_key(|range| range.start);
        let value = words.iter().map(|range| self.written(range)).collect::<Vec<_>>().join(" ");
        // From the first of them to the last.
        let text = self.written(&(words[0].start..words[words.len() - 1].end));
        let why = "words that no filter reads: only records whose texts have them, best first".to_owned();
        let part = ReadPart { text, parameter: "text".to_owned(), value, why };
        let text = (part.parameter.clone(), part.value.clone());
        if !has_filters || self.lists_any(interpretation.values().chain([text]).collect()) {
            interpretation.parts.push(part);
        }
    }

    /// The values of the parts, without groups.
    pub(super) fn values(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let parts = self.parts.iter().map(|(_, part)| part).filter(|part| part.parameter != GROUP_BY);
        parts.map(|part| (part.parameter.clone(), part.value.clone()))
    }

    /// True if the list has records with these values.
    pub(super) fn lists_any(&self, values: Vec<(String, String)>) -> bool {
        let options = ParseOptions { strict: true, review_statuses: &[], other_names: &["limit"] };
        let parsed = self.catalog.parse(self.resource, &values, options);
        let Ok(Request::List(query)) = parsed.map(|parsed| parsed.request) else { return false };
        !self.catalog.list(&query, ListPosition::default(), 1).rows.is_empty()
    }
}
