//! The order and number of the records that a question asks for, and the properties to count them by.

use std::ops::Range;
use std::rc::Rc;

use crate::Resource;
use crate::aggregate::group_bys;
use crate::ask::lexicon::PhraseMeaning;
use crate::ask::path::Path;
use crate::ask::period::count_of;
use crate::ask::question::Topic;
use crate::ask::token::QuestionToken;
use crate::ask::words::{Phrase, meaning_of, phrases_from};
use crate::ask::{GROUP_BY, ReadPart};
use data::Table;

const COUNTED: &str = "what records are counted by";

/// The property of `group_by` for a word.
pub(super) fn group_by(resource: Resource, word: &str) -> Option<&'static str> {
    let name = match word {
        "year" | "years" if resource != Resource::Rounds => "founded_year",
        word => meaning_of("properties", word).or(word.strip_suffix('s')).unwrap_or(word),
    };
    group_bys(resource).into_iter().map(|(known, _)| known).find(|known| *known == name || *known == word)
}

impl Path<'_, '_> {
    /// Reads groups: `by country`, `per year and stage`, `for each sector`, `which cities have the most`.
    pub(super) fn groups(&mut self, at: usize) -> Option<usize> {
        if let Some(end) = self.investors_behind(at) {
            self.topic = Some(Topic::Raising);
            return self.count_by(at..end, "investor", COUNTED);
        }
        // `Berlin vs Paris`
        let last = self.parts.last().filter(|(range, _)| range.end == at && self.is_in(at, "versus"));
        let compared = last.and_then(|(_, part)| group_by(self.resource, &part.parameter));
        if let Some(compared) = compared.filter(|_| at + 1 < self.tokens.len() && self.has_meaning(at + 1, 1)) {
            return self.count_by(at..at + 1, compared, COUNTED);
        }
        let property = |at: usize| self.property_at(at);
        // `by founding year`
        let founded = |at: usize| self.is_in(at, "foundation") && property(at + 1) == Some("founded_year");
        let is_every = |at: usize| {
            self.is_at(at, &["every"]) && matches!(property(at + 1), Some("year" | "quarter" | "founded_year"))
        };
        // `have the most`
        let most = |at: usize| {
            let is_the = self.is_at(at + 1, &["the"]);
            let verbs = ["have", "has", "had", "with", "did", "do", "made", "got", "get", "raised", "received"];
            let is_most = self.is_at(at, &verbs) && self.is_at(at + 1 + usize::from(is_the), &["most"]);
            if is_most { 2 + usize::from(is_the) } else { 0 }
        };
        // `which city in Germany has the most`
        if most(at) > 0 && self.parts.iter().any(|(_, part)| part.parameter == GROUP_BY) {
            return Some(most(at));
        }
        let start = at + usize::from(self.is_in(at, "grouped"));
        // `how many a year`
        let is_yearly =
            self.is_at(at, &["a"]) && self.follows(at, "before a year") && self.is_in(at + 1, "year or quarter");
        let first = if self.is_in(start, "per") || is_every(start) || is_yearly {
            // `backed by investors`, `sorted by year`
            let before = self.tokens.get(at.wrapping_sub(1)).filter(|_| start == at);
            let verb = before.and_then(|token| meaning_of("by", &token.word));
            let is_who = !matches!(property(start + 1), Some("sector" | "country" | "city" | "stage" | "founded_year"));
            // `by investors in Berlin`
            let is_whose = property(start + 1) == Some("investor") && self.is_in(start + 2, "of a place");
            let is_other = self.is_at(start, &["by"])
                && (verb == Some("sorted") || (verb == Some("done") && is_who) || is_whose)
                && !(at > 0 && self.tokens[at - 1].ends_clause);
            // The date of an acquisition is not known.
            let is_end =
                before.is_some_and(|token| token.is_in("ended")) && property(start + 1) == Some("founded_year");
            if is_other || is_end {
                return None;
            }
            start + 1 + usize::from(self.is_at(start + 1, &["each"]))
        } else {
            // `top 3 cities`
            let is_top = self.is_at(at, &["top"]);
            let is_number = is_top && self.tokens.get(at + 1).is_some_and(|token| count_of(&token.word).is_some());
            // `the most common sectors`
            let is_common = self.is_at(at, &["most"]) && self.is_in(at + 1, "frequent");
            let is_top = is_top || is_common;
            let first = at + usize::from(is_top || self.is_in(at, "which")) + usize::from(is_number || is_common);
            let is_place = matches!(property(first)?, "country" | "city" | "sector" | "stage");
            let is_asked = self.is_in(at, "which") && matches!(property(first)?, "investor" | "year" | "quarter");
            // `which city in Germany has the most`
            let end = (first..self.tokens.len()).find(|at| self.tokens[*at].ends_clause).unwrap_or(self.tokens.len());
            let is_most = |at: usize| most(at) > 0;
            let has_most = most(first + 1) > 0 || self.is_in(at, "which") && is_place && (first + 2..end).any(is_most);
            if !(has_most || is_top) || !(is_place || is_asked) {
                return None;
            }
            first
        };
        let first = first + usize::from(founded(first));
        let mut properties = vec![property(first)?];
        let mut end = first + 1;
        while self.is_in(end, "and per")
            && let Some(further) = property(end + 1).filter(|further| !properties.contains(further))
        {
            properties.push(further);
            end += 2;
        }
        end += most(end);
        self.count_by(at..end, &properties.join(","), COUNTED)
    }

    /// The word behind those for the investors of startups at a place, if only words for an order precede these.
    fn investors_behind(&self, at: usize) -> Option<usize> {
        let (first, end) = self.investors.filter(|(first, _)| self.table == Table::Startups && at <= *first)?;
        // Groups begin with the largest.
        let is_order = |at: usize| {
            let token = &self.tokens[at];
            token.is_in("which") || token.is(&["the", "top", "most", "active"]) || count_of(&token.word).is_some()
        };
        (at..first).all(is_order).then_some(end)
    }

    pub(super) fn count_by(&mut self, range: Range<usize>, properties: &str, why: &str) -> Option<usize> {
        if self.parts.iter().any(|(_, part)| part.parameter == GROUP_BY) {
            return None;
        }
        let (text, value) = (self.written(&range), properties.to_owned());
        let (length, why) = (range.len(), why.to_owned());
        self.parts.push((range, Rc::new(ReadPart { text, parameter: GROUP_BY.to_owned(), value, why })));
        Some(length)
    }

    /// Reads `the 10 largest`, `newest`, `most active`, `top 5`.
    pub(super) fn superlative(&mut self, at: usize) -> Option<usize> {
        let count = |at: usize| {
            self.tokens.get(at).and_then(|token| count_of(&token.word)).filter(|count| (1..=100).contains(count))
        };
        // `raised their first round`
        if self.is_in(at, "first or last") && self.follows(at, "possessives") {
            return None;
        }
        let start = at + usize::from(self.is_at(at, &["the"]));
        let is_single = self.is_at(start, &["single"]) && self.sort_at(start + 1).is_some();
        let start = start + usize::from(is_single);
        if self.is_in(start, "top")
            && let Some(number) = count(start + 1)
        {
            return self.read_as(at..start + 2, "limit", number.to_string(), "that many records");
        }
        // `the last 20 rounds`
        if self.table == Table::Rounds
            && self.is_in(start, "last")
            && let Some(number) = count(start + 1).filter(|_| self.counts_records(start + 2))
        {
            self.add(at..start + 2, "sort", "-announced_on", "order");
            return self.read_as(at..start + 2, "limit", number.to_string(), "that many records");
        }
        // `limit 20`, and in a clause of its own at the end `max 50` or `15 please`
        let is_limit = self.is_in(at, "before a limit");
        let to = at + usize::from(is_limit);
        let to = to + usize::from(is_limit && self.is_in(to, "to or of"));
        let is_apart =
            || at > 0 && self.tokens[at - 1].ends_clause && self.tokens[to + 1..].iter().all(|it| it.is_glue());
        if let Some(number) = count(to).filter(|_| self.is_at(at, &["limit"]) || is_apart()) {
            return self.read_as(at..to + 1, "limit", number.to_string(), "that many records");
        }
        let before = count(start);
        let from = start + usize::from(before.is_some());
        let Some((sort, length)) = self.sort_at(from) else {
            let number = before.filter(|_| self.counts_records(from))?;
            return self.read_as(at..from, "limit", number.to_string(), "that many records");
        };
        let after = count(from + length).filter(|_| before.is_none());
        let end = from + length + usize::from(after.is_some());
        // `oldest first`
        let end = end + usize::from(self.is_at(end, &["first"]) && count(end + 1).is_none());
        let is_of_all = matches!(sort, "-investment_count" | "-portfolio_count");
        self.add(at..end, "sort", sort, if is_of_all { "order, by all investments of a firm" } else { "order" });
        if let Some(number) = before.or(after) {
            self.add(at..end, "limit", number.to_string(), "that many records");
        } else if is_single || self.asks_for_one() || ((start > at || at == 0) && self.is_singular(end)) {
            self.add(at..end, "limit", "1", "a single record");
        }
        Some(end - at)
    }

    /// True if a number before a word counts the records to list: `10 fintech companies in Berlin`.
    fn counts_records(&self, at: usize) -> bool {
        let is_plain = |token: &QuestionToken| token.is_glue() || token.is_in("last");
        let is_first = self.tokens[..at - 1].iter().all(is_plain);
        // `15 accelerators`, `30 founders`
        let is_own = |meaning: &PhraseMeaning| match meaning {
            PhraseMeaning::Kind(_) => self.table == Table::Firms,
            PhraseMeaning::Role(_) => self.table == Table::People,
            _ => false,
        };
        let is_listed = |at: usize| match self.records_at(at) {
            Some((table, _)) => Some(table == self.table),
            None => self.longest_meaning(at)?.1.iter().any(is_own).then_some(true),
        };
        // Skip phrases that are understood, up to the word for the records.
        let mut until = at;
        while is_listed(until).is_none()
            && let Some(token) = self.tokens.get(until).filter(|token| !token.ends_clause)
            && let length = self.longest_meaning(until).map_or(usize::from(token.is_glue()), |(length, _)| length)
            && length > 0
        {
            until += length;
        }
        is_first && is_listed(until) == Some(true) && !self.is_in(at, "after no count of records")
    }

    /// True if the next word for records is in the singular: `the largest fintech round`, but not `funding rounds`.
    fn is_singular(&self, at: usize) -> bool {
        let mut ends = (at..at + 4).filter_map(|at| Some(at + self.records_at(at)?.1));
        ends.next().is_some_and(|end| !self.tokens[end - 1].word.ends_with('s'))
    }

    /// True if the question asks for a single record: `which VC has the largest portfolio`.
    fn asks_for_one(&self) -> bool {
        self.is_in(0, "which") && self.record_at(1) == Some(self.table) && !self.tokens[1].word.ends_with('s')
    }

    /// The order that words state, and the number of these words.
    fn sort_at(&self, at: usize) -> Option<(&'static str, usize)> {
        // `by the number of deals`
        let article = usize::from(self.starts(at, &["by", "the"]));
        let fits = |phrase: &Phrase| {
            phrase.words.iter().enumerate().all(|(offset, word)| {
                self.is_at(at + offset + if offset > 0 { article } else { 0 }, &[word.trim_start_matches('+')])
            })
        };
        let first = self.tokens.get(at)?.word.as_str();
        phrases_from("orders", first).filter(|order| fits(order)).find_map(|order| {
            let (tables, sort) = order.meaning.split_once(' ')?;
            let is_own = tables == "all" || tables.split(',').any(|table| table == self.table.name());
            let length = order.words.iter().filter(|word| !word.starts_with('+')).count();
            is_own.then_some((sort, length + article))
        })
    }
}
