//! Stages in questions: several stages, ranges, and all stages from one on.

use std::ops::Range;

use crate::ask::amount::QuestionAmount;
use crate::ask::lexicon::PhraseMeaning;
use crate::ask::path::Path;
use crate::ask::question::QuestionWords;
use crate::ask::words::{Phrase, phrases};
use data::vocabulary::Vocabulary;
use data::{Facet, Stage, Table};

/// Stages that follow each other.
const LADDER: [Stage; 6] =
    [Stage::PreSeed, Stage::Seed, Stage::SeriesA, Stage::SeriesB, Stage::SeriesC, Stage::SeriesDPlus];

fn ladder_index(stage: Stage) -> Option<usize> {
    LADDER.iter().position(|known| *known == stage)
}

fn names(stages: &[Stage]) -> String {
    stages.iter().map(|stage| stage.name()).collect::<Vec<_>>().join(",")
}

impl QuestionWords<'_> {
    /// True for the amount of a single round: `a series A of more than $10m`, `$10m in one round`.
    pub(super) fn is_amount_of_round(&self, range: Range<usize>) -> bool {
        let joins = |mut between: Range<usize>, section: &str| between.all(|at| self.is_in(at, section));
        let is_one = |range: Range<usize>| range.clone().all(|at| !self.tokens[at].ends_clause);
        let is_round = |from: usize, to: usize| match to - from {
            1 if self.is_in(from, "round") => true,
            _ => self.is_stage(from, to) && !self.is_in(to - 1, "stage"),
        };
        let is_after = |end: usize| {
            joins(end..range.start, "between stage and amount")
                && is_one(end - 1..range.start)
                && (end.saturating_sub(3)..end).any(|from| is_round(from, end))
        };
        let is_before = |from: usize| {
            let mut ends = (from + 1..from + 3).rev().filter(|end| *end <= self.tokens.len());
            joins(range.end..from, "between amount and stage")
                && is_one(range.end - 1..from)
                && ends.any(|end| is_round(from, end) && self.record_at(end) != Some(Table::Startups))
        };
        (range.start.saturating_sub(4)..=range.start).any(|end| end > 0 && is_after(end))
            || (range.end..range.end + 4).any(is_before)
    }

    /// True if a stage or an amount is that of startups, although no word names them: `seed stage`, `under $1m raised`.
    pub(super) fn states_startups(&self) -> bool {
        (1..self.tokens.len()).any(|at| {
            let is_stage = |from: usize| self.is_stage(from, at + 1);
            let is_amount =
                |(found, length): (QuestionAmount, usize)| found.is_money && self.is_in(at + length, "raised");
            self.is_in(at, "stage") && (at.saturating_sub(2)..at).any(is_stage)
                || self.amount_at(at).is_some_and(is_amount)
        })
    }

    /// True if the question is about the amount of a single round, other than the last. Of a startup, only the sum of all
    /// rounds is known.
    pub(super) fn sizes_a_round(&self) -> bool {
        !self.mentions("last")
            && (0..self.tokens.len()).any(|at| {
                self.amount_at(at)
                    .is_some_and(|(found, length)| found.is_money && self.is_amount_of_round(at..at + length))
            })
    }
}

impl Path<'_, '_> {
    /// Stage of a phrase; a letter alone is a series.
    fn stage_at(&self, at: usize) -> Option<(Stage, usize)> {
        let meant = |phrase: &str| {
            self.lexicon.meanings(phrase).iter().find_map(|meaning| match meaning {
                PhraseMeaning::Stage(stages) => stages.split(',').next().and_then(Stage::read),
                _ => None,
            })
        };
        let letter = self.tokens.get(at).filter(|token| token.word.len() == 1);
        if let Some(stage) = letter.and_then(|letter| meant(&format!("series {}", letter.word))) {
            return Some((stage, 1));
        }
        (1..=2).rev().find_map(|length| Some((meant(&self.phrase_at(at, length)?)?, length)))
    }

    /// True if rounds, but none of the listed startups, have such a stage: grants, debt.
    pub(super) fn is_stage_of_rounds(&self, stages: &str) -> bool {
        let has = |table: Table| {
            let mut stages = stages.split(',').filter_map(Stage::read);
            stages.any(|stage| self.catalog.snapshot().facet_count(table, Facet::Stage, stage.index() as u32) > 0)
        };
        self.table == Table::Startups && !has(Table::Startups) && has(Table::Rounds)
    }

    /// Stages before or after one, by the words in front of it, the other stages, and the number of words: `beyond series B`.
    pub(super) fn stages_beyond(&self, value: &str, at: usize) -> Option<((String, String), usize)> {
        let is_before = |phrase: &&Phrase| {
            let words = phrase.words.len();
            at >= words && self.starts(at - words, &phrase.words)
        };
        let place = ladder_index(Stage::read(value)?)?;
        let beyond = phrases("beyond").iter().find(is_before)?;
        let (before, after) = LADDER.split_at(place + usize::from(beyond.meaning == "after"));
        let (before, after) = (names(before), names(after));
        let stages = if beyond.meaning == "after" { (after, before) } else { (before, after) };
        Some((stages, beyond.words.len()))
    }

    /// Stages from a phrase on, and the end of the phrase: `series A or B`, `seed to series B`, `series B and later`.
    pub(super) fn stages(&self, value: &str, range: &Range<usize>) -> (String, usize) {
        let mut end = range.end;
        let is_series = self.is_at(range.start, &["series"]);
        if let Some(first) = Stage::read(value).and_then(ladder_index) {
            if self.text[self.tokens[end - 1].place.end..].starts_with('+') {
                return (names(&LADDER[first..]), end);
            }
            // `series C rounds and later`
            let end = end + usize::from(self.is_in(end, "round") && self.is_in(end + 1, "joints"));
            let joint = self.is_in(end, "joints");
            let after = end + usize::from(joint);
            if (joint || self.is_at(end, &["onwards"])) && self.is_in(after, "and later") {
                return (names(&LADDER[first..]), after + 1);
            }
            if joint && self.is_in(after, "and earlier") {
                return (names(&LADDER[..=first]), after + 1);
            }
            let is_between = self.is_after(range.start, &["between"]) && self.is_at(end, &["and"]);
            let is_range = is_between || self.is_in(end, "through");
            let from = end + usize::from(is_range);
            if (is_range || (is_series && self.is_hyphenated(end - 1)))
                && let Some((last, length)) = self.stage_at(from)
                && let Some(last) = ladder_index(last).filter(|last| *last > first)
            {
                return (names(&LADDER[first..=last]), from + length);
            }
        }
        let mut stages = value.to_owned();
        // `a` is more often an article.
        let letter_at = |at: usize| {
            let letter = at + usize::from(self.is_in(at, "joints"));
            let is_letter = self.tokens.get(letter).is_some_and(|token| token.word.len() == 1 && token.word != "a");
            Some((self.stage_at(letter).filter(|_| is_letter && is_series)?.0, letter + 1))
        };
        while let Some((stage, after)) = letter_at(end) {
            if stages.split(',').all(|known| known != stage.name()) {
                stages = format!("{stages},{}", stage.name());
            }
            end = after;
        }
        (stages, end)
    }
}
