//! Firms that rounds answer, counted by investor: those that invest together with one, and those that invested most.

use std::ops::Range;

use crate::ask::names::NAME;
use crate::ask::path::{Path, PathPart};
use crate::ask::question::QuestionWords;
use data::Table;

const OF_ROUNDS: &str = "firms by the rounds that they took part in";
const WITH_FIRM: &str = "the investors of its rounds; the firm itself is the first";

impl QuestionWords<'_> {
    fn asks_for_firms(&self) -> bool {
        self.is_at(0, &["who"]) || self.subject_words().is_some_and(|(table, _)| table == Table::Firms)
    }

    /// True for the sign of `funds that do not invest in German startups`: which firms did not is no condition on other
    /// records.
    pub(super) fn denies_investing(&self, at: usize) -> bool {
        let end = (at..self.tokens.len()).find(|at| self.tokens[*at].ends_clause).unwrap_or(self.tokens.len() - 1);
        let firms = || self.subject_words().filter(|(table, _)| *table == Table::Firms);
        (at..=end).any(|verb| self.is_investing(verb))
            && firms().is_some_and(|(_, range)| range.end <= at && !(range.end..at).any(|verb| self.is_investing(verb)))
    }
}

impl Path<'_, '_> {
    /// Reads `co-investors of Accel`, `who co-invests with Accel`, `Accel's co-investors`.
    pub(super) fn co_investors(&mut self, at: usize) -> Option<usize> {
        if self.table != Table::Rounds {
            return None;
        }
        let follows_firm = |(range, part): &PathPart| range.end == at && part.parameter == "investor";
        if let Some(phrase) = self
            .find_phrase(at, "co-investors")
            .filter(|_| self.parts.last().is_some_and(follows_firm) && self.asks_for_firms())
        {
            return self.count_by(at..at + phrase.words.len(), "investor", WITH_FIRM);
        }
        let from = at + self.find_phrase(at, "co-investors of").filter(|_| self.asks_for_firms())?.words.len();
        let begun = || self.begun_name(from, &[Table::Firms]);
        let (slug, length) = self.name_at(from, &[Table::Firms]).or_else(begun)?;
        let range = at..from + length;
        let is_read = self.add(range.clone(), "investor", slug, NAME);
        if is_read { self.count_by(range, "investor", WITH_FIRM) } else { Some(range.len()) }
    }

    /// Reads `most active`, `invested the most` among rounds, in a question for firms: `the most active investors in biotech`.
    pub(super) fn most_active(&mut self, at: usize) -> Option<usize> {
        if self.table != Table::Rounds {
            return None;
        }
        let phrase = self.find_phrase(at, "most active")?;
        let range: Range<usize> = at..at + phrase.words.len();
        // What a firm paid is not known.
        if self.is_money(range.end) && self.record_at(range.end + 1).is_none() {
            return None;
        }
        match phrase.meaning {
            "lead" => self.count_by(range, "lead", "firms by the rounds that they led"),
            _ if self.asks_for_firms() => self.count_by(range, "investor", OF_ROUNDS),
            _ => None,
        }
    }
}
