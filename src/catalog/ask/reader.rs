//! Reads a question from left to right.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use once_cell::sync::Lazy;

use crate::ask::amount::{QuestionAmount, amount, around};
use crate::ask::language;
use crate::ask::lexicon::{Lexicon, PhraseMeaning};
use crate::ask::names::MIN_PLAIN_SIZE;
use crate::ask::period::{Period, period};
use crate::ask::sector::largest_sector;
use crate::ask::token::{QuestionToken, tokens};
use crate::ask::words::{Phrase, meaning_of, phrases, words};
use crate::ask::{GROUP_BY, Interpretation, ReadPart};
use crate::{Catalog, ParseOptions, Resource};
use data::import::website;
use data::{Date, Facet, Table};

static RECORDS: Lazy<BTreeMap<&str, Table>> = Lazy::new(|| {
    let table_named = |name: &str| Table::ALL.into_iter().find(|table| table.name() == name).expect("a table");
    phrases("records").iter().map(|phrase| (phrase.text, table_named(phrase.meaning))).collect()
});

/// Words that carry no condition of their own.
pub(super) static GLUE: Lazy<HashSet<&str>> = Lazy::new(|| include_str!("glue.txt").lines().collect());

/// Table of the first word for records, or of the verb behind `who`.
pub(crate) fn subject(text: &str, lexicon: &Lexicon) -> Table {
    let tokens = language::to_english(tokens(text), lexicon);
    let asks_who = tokens.first().is_some_and(|token| token.is(&["who"]));
    let verb = tokens.get(1).filter(|_| asks_who).and_then(|verb| meaning_of("topics", &verb.word));
    if verb == Some("investing") {
        return Table::Firms;
    }
    tokens.iter().find_map(|token| records_meant(&token.word)).unwrap_or(Table::Startups)
}

pub(super) fn records_meant(phrase: &str) -> Option<Table> {
    RECORDS.get(phrase).copied()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Founding,
    Raising,
    Investing,
}

pub(crate) struct QuestionReader<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) lexicon: &'a Lexicon,
    pub(super) table: Table,
    pub(super) resource: Resource,
    pub(super) text: &'a str,
    pub(super) tokens: Vec<QuestionToken>,
    pub(super) parts: Vec<(Range<usize>, ReadPart)>,
    pub(super) unread: Vec<Range<usize>>,
    /// The unread words that no reader knows.
    pub(super) content: Vec<Range<usize>>,
    /// Words for kinds of records in the singular.
    pub(super) kinds: Vec<Range<usize>>,
    /// True for a noun phrase alone.
    pub(super) is_phrase: bool,
    pub(super) topic: Option<Topic>,
    /// Set by a word such as `not` until the next value.
    pub(super) is_negated: bool,
}

impl<'a> QuestionReader<'a> {
    pub(crate) fn read(catalog: &Catalog, lexicon: &Lexicon, resource: Resource, text: &str) -> Interpretation {
        let mut reader = QuestionReader {
            catalog,
            lexicon,
            table: resource.table(),
            resource,
            text,
            tokens: language::to_english(tokens(text), lexicon),
            parts: Vec::new(),
            unread: Vec::new(),
            content: Vec::new(),
            kinds: Vec::new(),
            is_phrase: false,
            topic: None,
            is_negated: false,
        };
        for at in 0..reader.tokens.len() {
            if let Some(word) = reader.misspelt_part(at) {
                reader.tokens[at].word = word;
            }
        }
        if let Some(interpretation) = reader.about_one_record() {
            return interpretation;
        }
        reader.is_phrase = reader.is_noun_phrase();
        let mut at = 0;
        while at < reader.tokens.len() {
            at += reader.step(at).max(1);
            // `amount not given, series B`: the negation belongs to words that were not understood.
            reader.is_negated &= !reader.tokens.get(at - 1).is_some_and(|token| token.ends_clause);
        }
        reader.finish()
    }

    /// Reads the phrase that begins at a word; returns its length in words.
    fn step(&mut self, at: usize) -> usize {
        let readers: [fn(&mut Self, usize) -> Option<usize>; 23] = [
            Self::called,
            Self::known_field,
            Self::groups,
            Self::acquirer,
            Self::at_organizations,
            Self::portfolio,
            Self::relation,
            Self::like,
            Self::long_name,
            Self::superlative,
            Self::date,
            Self::bound,
            Self::city_of_state,
            Self::record_kind_of_firms,
            Self::record_kind,
            Self::field_name,
            Self::host,
            Self::state,
            Self::phrase,
            Self::verb,
            Self::negation,
            Self::glue,
            Self::short_name,
        ];
        if let Some(length) = readers.iter().find_map(|read| read(self, at)) {
            return length;
        }
        if let Some(word) = self.misspelt(at) {
            self.tokens[at].word = word;
            return self.step(at);
        }
        // A sign of another language than that of the question: the value next to it may be meant the other way round.
        if language::is_negation(&self.tokens[at].word) {
            let value = self.longest_meaning(at + 1).map_or(0, |(length, _)| length);
            self.unread.push(at..at + 1 + value);
            return 1 + value;
        }
        self.unread.push(at..at + 1);
        if !self.is_structural(at) {
            self.content.push(at..at + 1);
        }
        1
    }

    /// Corrects a misspelled word: one that no record uses, and that differs in a letter: `fitech`.
    fn misspelt(&self, at: usize) -> Option<String> {
        let word = self.unknown_word(at)?;
        let nearest = self.lexicon.nearest(word, RECORDS.keys().copied())?;
        (!self.is_known_word(word)).then(|| nearest.to_owned())
    }

    /// The same for a word of a phrase: `angel netwrok`.
    fn misspelt_part(&self, at: usize) -> Option<String> {
        let word = self.unknown_word(at)?;
        let word_at = |at: usize| self.tokens.get(at).map_or("", |token| token.word.as_str());
        let nearest = self.lexicon.nearest_part(word_at(at.wrapping_sub(1)), word, word_at(at + 1))?;
        (!self.is_known_word(word)).then(|| nearest.to_owned())
    }

    /// A word without a meaning that is long enough to be misspelled.
    fn unknown_word(&self, at: usize) -> Option<&str> {
        const MIN_LENGTH: usize = 6;
        let word = self.tokens[at].word.as_str();
        let is_word = word.len() >= MIN_LENGTH && word.bytes().all(|byte| byte.is_ascii_lowercase());
        (is_word && !self.is_understood(word)).then_some(word)
    }

    /// True for a word with a meaning, or with none in any question.
    pub(super) fn is_understood(&self, word: &str) -> bool {
        GLUE.contains(word) || !self.lexicon.meanings(word).is_empty() || records_meant(word).is_some()
    }

    /// True if a record has a word in its description or name.
    fn is_known_word(&self, word: &str) -> bool {
        [Table::Firms, Table::Startups, Table::People].into_iter().any(|table| {
            let index = self.catalog.text_index(table);
            index.is_some_and(|index| index.descriptions.word_frequency(word) > 0)
                || !self.catalog.rows_named(table, word).is_empty()
        })
    }

    pub(super) fn phrase_at(&self, at: usize, length: usize) -> Option<String> {
        let words = self.tokens.get(at..at + length)?;
        // A sign neither begins nor ends a phrase, and is not a word: `hardware + software`.
        if words.first()?.raw == "+" || words.last()?.raw == "+" {
            return None;
        }
        // Phrases do not extend over commas.
        let is_split = words[..length - 1].iter().any(|token| token.ends_clause);
        let words = words.iter().filter(|token| token.raw != "+");
        let words: Vec<&str> = words.map(|token| token.word.as_str()).collect();
        (!is_split).then(|| words.join(" "))
    }

    pub(super) fn is_at(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(words))
    }

    pub(super) fn is_after(&self, at: usize, words: &[&str]) -> bool {
        at > 0 && self.is_at(at - 1, words)
    }

    pub(super) fn record_at(&self, at: usize) -> Option<Table> {
        self.tokens.get(at).and_then(|token| records_meant(&token.word))
    }

    /// Table of the records that the longest such phrase names, and the number of its words.
    pub(super) fn records_at(&self, at: usize) -> Option<(Table, usize)> {
        (1..=4).rev().find_map(|length| Some((records_meant(&self.phrase_at(at, length)?)?, length)))
    }

    /// True if these words follow in order from `at` on.
    pub(super) fn starts(&self, at: usize, words: &[&str]) -> bool {
        let is_split = |index: usize| index > 0 && self.tokens[at + index - 1].ends_clause;
        words.iter().enumerate().all(|(index, word)| self.is_at(at + index, &[*word]) && !is_split(index))
    }

    pub(super) fn find_phrase<'p>(&self, at: usize, phrases: &'p [Phrase]) -> Option<&'p Phrase> {
        phrases.iter().find(|phrase| self.starts(at, &phrase.words))
    }

    pub(super) fn written(&self, range: &Range<usize>) -> String {
        let (first, last) = (&self.tokens[range.start].place, &self.tokens[range.end - 1].place);
        self.text[first.start..last.end].to_owned()
    }

    /// Adds a value if the list has the parameter and, for a parameter with a single value, none was read yet.
    pub(super) fn add(&mut self, range: Range<usize>, parameter: &str, value: impl Into<String>, why: &str) -> bool {
        let value = value.into();
        let continues = self.continues_negation(range.start, parameter);
        let prefix = if std::mem::take(&mut self.is_negated) || continues { "not_" } else { "" };
        let parameter = format!("{prefix}{parameter}");
        let is_known = parameter == "limit" || self.resource.parameter(&parameter).is_some();
        let is_list = self.resource.parameter(&parameter).is_some_and(|known| known.facet().is_some())
            || parameter.ends_with("organization");
        let is_taken = !is_list && self.parts.iter().any(|(_, part)| part.parameter == parameter);
        // A number may be too large, a range empty.
        let is_valid = || self.are_valid(&self.parts, Some((parameter.clone(), value.clone())));
        if !is_known || is_taken || !is_valid() {
            self.unread.push(range);
            return false;
        }
        let text = self.written(&range);
        self.parts.push((range, ReadPart { text, parameter, value, why: why.to_owned() }));
        true
    }

    /// Adds a value as [`QuestionReader::add`] does. Returns the number of words.
    pub(super) fn read_as(
        &mut self,
        range: Range<usize>,
        parameter: &str,
        value: impl Into<String>,
        why: &str,
    ) -> Option<usize> {
        self.add(range.clone(), parameter, value, why);
        Some(range.len())
    }

    /// Adds the known ends of a range to their parameters, if not empty. Returns the number of words if one is added.
    fn read_ends(&mut self, range: Range<usize>, ends: [(&str, Option<String>); 2], why: &str) -> Option<usize> {
        let known = ends.into_iter().filter(|(parameter, _)| !parameter.is_empty());
        let known = known.filter_map(|(parameter, value)| Some((parameter, value?)));
        let read = known.filter(|(parameter, value)| self.add(range.clone(), parameter, value.as_str(), why));
        (read.count() > 0).then_some(range.len())
    }

    /// Leaves words unread that mean something other than a condition. Returns their number.
    pub(super) fn leave(&mut self, range: Range<usize>) -> Option<usize> {
        let length = range.len();
        self.unread.push(range);
        Some(length)
    }

    /// True if the list accepts the values of some parts, and one more, together.
    fn are_valid(&self, parts: &[(Range<usize>, ReadPart)], more: Option<(String, String)>) -> bool {
        let options = ParseOptions { strict: true, review_statuses: &[], other_names: &["limit"] };
        let read = parts.iter().map(|(_, part)| part).filter(|part| part.parameter != GROUP_BY);
        let read = read.map(|part| (part.parameter.clone(), part.value.clone()));
        let values: Vec<(String, String)> = read.chain(more).collect();
        self.catalog.parse(self.resource, &values, options).is_ok()
    }

    /// True if only `and`, `or` or a comma separates an excluded value from another: `not in Germany or France`.
    fn continues_negation(&self, at: usize, parameter: &str) -> bool {
        self.parts.last().is_some_and(|(range, part)| {
            part.parameter.strip_prefix("not_") == Some(parameter)
                && (range.end < at || self.tokens[at - 1].ends_clause)
                && (range.end..at).all(|between| self.is_at(between, &["and", "or", "nor", "the", "in"]))
        })
    }

    /// Reads a word for the kind of records: `startups`, `VCs`, `deals`.
    fn record_kind(&mut self, at: usize) -> Option<usize> {
        let (table, length) = self.records_at(at)?;
        // `company cars`
        let is_own = table == self.table && self.is_at(at, &[table.noun()]);
        if self.is_phrase && !is_own && at + length < self.tokens.len() && !self.tokens[at + length - 1].ends_clause {
            return None;
        }
        // A longer phrase of the release takes precedence: `angel investors`, `corporate venture`.
        if self.longest_meaning(at).is_some_and(|(longest, _)| longest > length) {
            return None;
        }
        // People who invest, but not the people `of investors`.
        let is_of = self.is_after(at, &["of", "at", "by", "for", "from", "in", "with", "the", "other"]);
        if self.table == Table::People && self.is_at(at, &["investor", "investors"]) && !is_of {
            self.add(at..at + length, "role", "investor", "role of a person");
        }
        // `VC partners`, `startup founders`
        let is_kind = self.table == Table::People && matches!(table, Table::Firms | Table::Startups);
        let is_role = || {
            let meanings = self.longest_meaning(at + length).map_or(&[] as &[_], |(_, meanings)| meanings);
            meanings.iter().any(|meaning| matches!(meaning, PhraseMeaning::Role(_)))
        };
        if is_kind && !is_of && is_role() {
            self.add(at..at + length, "kind", table.noun(), "kind of organization");
        }
        if !self.tokens[at + length - 1].word.ends_with('s') {
            self.kinds.push(at..at + length);
        }
        Some(length)
    }

    /// Reads `angel investors`, `accelerators` among firms.
    fn record_kind_of_firms(&mut self, at: usize) -> Option<usize> {
        if !matches!(self.table, Table::Firms | Table::Rounds) {
            return None;
        }
        let (length, meanings) = self.longest_meaning(at)?;
        let kind = meanings.iter().find_map(|meaning| match meaning {
            PhraseMeaning::Kind(kind) => Some(*kind),
            _ => None,
        })?;
        // Among rounds, `bank`, `government` and the like are kinds only next to a word for firms, or as `a bank`.
        let is_firm = self.record_at(at + length) == Some(Table::Firms);
        let is_plain = matches!(kind, "bank" | "government" | "university" | "corporate" | "crowdfunding");
        let is_one = self.is_after(at, &["a", "an", "any", "some"])
            && (self.tokens.len() == at + 1
                || self.tokens[at].ends_clause
                || self.is_at(at + 1, &["as", "in", "was", "took", "joined", "invested", "participated"]));
        if self.table == Table::Rounds && is_plain && !is_firm && !is_one && length == 1 {
            return None;
        }
        self.read_as(at..at + length + usize::from(is_firm), "kind", kind, &format!("kind of firm `{kind}`"))
    }

    pub(super) fn longest_meaning(&self, at: usize) -> Option<(usize, &'a [PhraseMeaning])> {
        (1..=self.lexicon.longest).rev().find_map(|length| {
            let phrase = self.phrase_at(at, length)?;
            let meanings = self.lexicon.meanings(&phrase);
            // In a sector such as `AI startups`, the last word is the kind of records.
            let names_records = length > 1
                && records_meant(&self.tokens[at + length - 1].word).is_some()
                && meanings.iter().all(|meaning| matches!(meaning, PhraseMeaning::Sector(_)))
                && self.phrase_at(at, length - 1).is_some_and(|phrase| !self.lexicon.meanings(&phrase).is_empty());
            (!meanings.is_empty() && !names_records).then_some((length, meanings))
        })
    }

    /// Reads a value of the release: a stage, a place, a sector, a state, a role.
    fn phrase(&mut self, at: usize) -> Option<usize> {
        let (mut length, mut meanings) = self.longest_meaning(at)?;
        // `crowdfunding platforms` are firms, and `crowdfunding` is a sector.
        let is_kind = meanings.iter().all(|meaning| matches!(meaning, PhraseMeaning::Kind(_)));
        if is_kind && self.table == Table::Startups && self.is_at(at + length - 1, words("products")) {
            let shorter = |length: usize| Some((length, self.lexicon.meanings(&self.phrase_at(at, length)?)));
            let other = (1..length).rev().filter_map(shorter).find(|(_, meanings)| !meanings.is_empty());
            (length, meanings) = other.unwrap_or((length, meanings));
        }
        let is_asked = || at == 0 || self.is_after(at, &["i", "we", "to", "please"]);
        if length == 1 && self.is_at(at, &["search"]) && is_asked() {
            return Some(1);
        }
        let is_glue = || self.tokens[at].is_glue() && !self.is_country_us(at) && !self.is_glue_sector(at, meanings);
        if length == 1 && (self.is_product(at) || is_glue()) {
            return None;
        }
        let mut range = at..at + length;
        let mut values = meanings.iter().filter_map(|meaning| self.value_of(meaning, &range));
        let city = values.clone().find(|(parameter, ..)| *parameter == "city").filter(|_| self.joins_city(at));
        let (mut parameter, value, why) = city.or_else(|| values.next())?;
        // In a list of startup states, such as `acquired or IPO`, `IPO` is not a stage.
        if (self.table, parameter, value) == (Table::Startups, "stage", "ipo") {
            parameter = "status";
        }
        if parameter == "sector" {
            if self.is_owner(at, length) {
                return None;
            }
            if let Some(named) = self.unwanted_startup(at, length) {
                self.is_negated = false;
                return self.leave(at..at + named);
            }
        }
        let is_of_others = match parameter {
            "sector" => self.is_no_sector(&range),
            "country" => self.is_of_people(&range) || self.is_of_others(range.end) || self.is_of_investors(at),
            "city" => {
                const ALUMNI: &[&str] = &["graduate", "graduates", "grads", "students", "professors"];
                let is_school = self.is_doer(at) || self.is_at(range.end, ALUMNI);
                is_school || self.is_of_others(range.end) || self.is_of_investors(at)
            }
            // `managing director` is not a role of its own.
            "role" => self.is_after(at, &["managing"]),
            // `no website listed`
            "status" => {
                let is_stock = self.record_at(range.end).is_some() || self.is_after(at, &["are", "is", "were", "got"]);
                self.is_at(at, &["listed"]) && !is_stock
            }
            _ => false,
        };
        if is_of_others {
            return self.leave(range);
        }
        if parameter == "status" && self.raises_next(range.end) {
            self.topic = Some(Topic::Raising);
            return Some(length);
        }
        if parameter == "stage" {
            // `post-seed`, `post-IPO`: not the stage itself.
            if self.is_after(at, &["post"]) {
                return self.leave(range);
            }
            if let Some((stages, words)) = self.stages_beyond(value, at) {
                range.start -= words;
                self.unread.retain(|unread| unread.start < range.start);
                if stages.is_empty() {
                    return self.leave(range).map(|_| length);
                }
                self.add(range, parameter, stages, why);
                return Some(length);
            }
            let (stages, end) = self.stages(value, &range);
            return self.read_as(at..end, parameter, stages, why);
        }
        self.read_as(range, parameter, value, why)
    }

    pub(super) fn is_hyphenated(&self, at: usize) -> bool {
        let between = |next: &QuestionToken| self.text.get(self.tokens[at].place.end..next.place.start);
        self.tokens.get(at + 1).and_then(between).is_some_and(|between| between == "-")
    }

    /// Skips the acquirer of startups, which is not known: `by Google` of `acquired by Google`.
    fn acquirer(&mut self, at: usize) -> Option<usize> {
        if !self.is_at(at, &["by"]) || !self.is_after(at, &["acquired", "bought"]) {
            return None;
        }
        let written = self.tokens[at + 1..].iter().take_while(|token| token.is_capitalized()).count();
        let named = self.name_at(at + 1, &[Table::Startups, Table::Firms]).map_or(0, |(_, length)| length);
        let names = written.max(named);
        if names == 0 { None } else { self.leave(at..at + 1 + names) }
    }

    /// Reads `dropbox.com`, `the domain dropbox.com`: a website of the release.
    fn host(&mut self, at: usize) -> Option<usize> {
        let named = at + usize::from(self.is_at(at, &["domain", "website", "site", "url"]));
        let host = website::host(&self.tokens.get(named).filter(|token| token.raw.contains('.'))?.raw);
        self.catalog.snapshot().find_term(Facet::Website, &host)?;
        self.resource.parameter("website")?;
        self.read_as(at..named + 1, "website", host, "website of the release")
    }

    /// True if `closed` or `announced` refers to money: `closed a seed round`.
    fn raises_next(&self, at: usize) -> bool {
        self.tokens.get(at..).is_some_and(|rest| amount(rest).is_some_and(|(found, _)| found.is_money))
            || self.longest_meaning(at).is_some_and(|(length, _)| self.is_stage(at, at + length))
            || self.is_at(at, &["a", "an", "their", "its", "series", "round", "rounds", "funding", "on"])
    }

    fn is_stage(&self, from: usize, to: usize) -> bool {
        let phrase = self.phrase_at(from, to - from).unwrap_or_default();
        self.lexicon.meanings(&phrase).iter().any(|meaning| matches!(meaning, PhraseMeaning::Stage(_)))
    }

    pub(super) fn has_meaning(&self, at: usize, length: usize) -> bool {
        self.longest_meaning(at).is_some_and(|(longest, _)| longest >= length)
    }

    /// The parameter that a meaning is a value of, the value, and why.
    pub(super) fn value_of<'m>(
        &self,
        meaning: &'m PhraseMeaning,
        range: &Range<usize>,
    ) -> Option<(&'static str, &'m str, &'static str)> {
        let (at, token) = (range.start, &self.tokens[range.start]);
        let (parameter, value, why) = match meaning {
            // The bird is meant.
            PhraseMeaning::Country(_)
                if token.word == "turkey" && !token.is_capitalized() && !self.is_after(at, &["in", "from"]) =>
            {
                return None;
            }
            PhraseMeaning::Country(code) => ("country", code.as_str(), "country or region"),
            PhraseMeaning::City { name, is_plain, is_rare } => {
                let after_place = self.is_after(at, &["in", "from", "near", "around"]);
                let is_joined = at > 0 && (self.joins_city(at) || self.tokens[at - 1].ends_clause);
                // `LA`, but `La Rochelle`.
                let is_name = token.is_capitalized() && (token.raw.len() > 2 || token.raw.to_uppercase() == token.raw);
                if (*is_plain && !(is_name && after_place))
                    || (*is_rare && !token.is_capitalized() && !after_place && !is_joined)
                {
                    return None;
                }
                ("city", name.as_str(), "city of the release")
            }
            PhraseMeaning::Sector(slugs) => ("sector", slugs.as_str(), "sector of the release"),
            PhraseMeaning::Stage(stages) => ("stage", *stages, "stage"),
            PhraseMeaning::Status(statuses) => ("status", *statuses, "state of the startup"),
            PhraseMeaning::Role(role) => ("role", *role, "role of a person"),
            PhraseMeaning::Kind(_) | PhraseMeaning::State { .. } | PhraseMeaning::Area(_) => return None,
        };
        self.resource.parameter(parameter).is_some().then_some((parameter, value, why))
    }

    fn date(&mut self, at: usize) -> Option<usize> {
        let (mut found, length) = period(&self.tokens[at..], self.catalog.snapshot().released_on())?;
        if self.tokens[at].word.parse::<u32>().is_ok() && self.is_at(at + length, words("counted")) {
            return None;
        }
        if std::mem::take(&mut self.is_negated) {
            found = match (found.from, found.to) {
                // `not since 2008`
                (Some(from), None) => Period { from: None, to: Some(Date::from_days(from.days() - 1)) },
                (None, Some(to)) => Period { from: Some(Date::from_days(to.days() + 1)), to: None },
                // No parameter excludes a period in the middle.
                _ => return self.leave(at..at + length),
            };
        }
        // `acquired in 2013`: the date is not known.
        let has_ended = |(range, part): &(Range<usize>, ReadPart)| {
            const BETWEEN: &[&str] = &["in", "during", "within", "over", "the", "by"];
            let is_near = (range.end..at).all(|between| self.is_at(between, BETWEEN));
            is_near && part.parameter.ends_with("status") && part.value != "operating"
        };
        // `sold in 2013`: only the verb is not understood.
        let is_of_unread = self.table == Table::Startups
            && self.topic.is_none()
            && self.unread.last().is_some_and(|range| {
                let last = &self.tokens[range.end - 1];
                range.end == at && !last.is_capitalized() && last.word.ends_with('d')
            });
        if self.parts.last().is_some_and(has_ended) || is_of_unread {
            return self.leave(at..at + length);
        }
        // `with a series B in 2013`
        let is_of_stage = self.parts.last().is_some_and(|(range, part)| {
            part.parameter == "stage" && (range.end..at).all(|between| self.is_at(between, &["round", "in", "during"]))
        });
        let of_stage = Some(Topic::Raising).filter(|_| is_of_stage && self.table == Table::Startups);
        // `younger than 2010`
        let of_age = Some(Topic::Founding).filter(|_| self.is_at(at, &["younger", "older"]));
        let topic = of_age.or(self.topic).or(of_stage).or_else(|| self.topic_of(self.tokens.get(at + length)?));
        let (from, to, by_year) = match (self.table, topic) {
            (Table::Startups, Some(Topic::Raising)) => ("last_round_since", "last_round_until", false),
            (Table::Startups, _) | (Table::Firms, Some(Topic::Founding)) => ("founded_from", "founded_to", true),
            (Table::Firms, _) => ("active_since", "active_until", false),
            // `rounds of companies founded after 2011`
            (Table::Rounds, Some(Topic::Founding)) => return self.leave(at..at + length),
            (Table::Rounds, _) => ("since", "until", false),
            _ => return None,
        };
        let value = |date: Date| if by_year { date.year().to_string() } else { date.to_string() };
        let ends = [(from, found.from.map(value)), (to, found.to.map(value))];
        self.read_ends(at..at + length, ends, "period, by the day of the release")
    }

    pub(super) fn topic_of(&self, token: &QuestionToken) -> Option<Topic> {
        let word = token.word.as_str();
        // Investing in startups gives them money.
        if self.table == Table::Startups && ["invested", "backed"].contains(&word) {
            return Some(Topic::Raising);
        }
        Some(match meaning_of("topics", word)? {
            "founding" => Topic::Founding,
            "raising" => Topic::Raising,
            _ => Topic::Investing,
        })
    }

    /// Reads an amount or number, with what it counts.
    fn bound(&mut self, at: usize) -> Option<usize> {
        let (found, length) = amount(&self.tokens[at..])?;
        // A bound that another reading took away from its number: `with no more than 10 reviews`.
        let bounds = phrases("bounds")
            .iter()
            .filter(|bound| at.checked_sub(bound.words.len()).is_some_and(|from| self.starts(from, &bound.words)));
        let before = bounds.map(|bound| bound.words.len()).max().filter(|_| found.is_bare);
        let bounded = before.and_then(|words| Some(amount(self.tokens.get(at - words..)?)?.0));
        let found = bounded.unwrap_or(found);
        // `not above $20m`
        let is_opposite = self.is_negated && !found.is_bare && found.min.is_some() != found.max.is_some();
        let found = if is_opposite { QuestionAmount { min: found.max, max: found.min, ..found } } else { found };
        self.is_negated &= !is_opposite;
        let mut end = at + length;
        let noun = self.tokens.get(end).map_or("", |token| token.word.as_str());
        // `4 rounds or less`
        let is_bound = found.is_bare && !found.is_money && self.is_at(end + 1, &["or", "and"]);
        let (found, after_noun) = match self.tokens.get(end + 2).map(|token| token.word.as_str()) {
            Some("less" | "fewer" | "below" | "under") if is_bound => {
                (QuestionAmount { min: None, is_bare: false, ..found }, 2)
            }
            Some("more" | "above" | "over" | "up") if is_bound => {
                (QuestionAmount { max: None, is_bare: false, ..found }, 2)
            }
            _ => (found, 0),
        };
        let QuestionAmount { min, max, is_money, is_foreign, is_percent, is_bare } = found;
        // `pre-money`
        let is_other = |at: usize| {
            self.is_at(at, words("other amounts"))
                || (self.is_at(at, &["pre", "post"]) && self.is_at(at + 1, &["money"]) && self.is_hyphenated(at))
        };
        if is_money && let Some(first) = (at.saturating_sub(3)..at).find(|before| is_other(*before)) {
            self.unread.retain(|range| range.start < first);
            self.unread.push(first..end);
            return Some(length);
        }
        let is_of_other = is_money && self.is_at(end, words("other amounts"));
        if is_foreign || is_of_other || self.is_at(end, words("counted")) {
            return self.leave(at..end + usize::from(!is_foreign));
        }
        let of_checks = || self.mentions(&["check", "checks", "cheque", "cheques", "ticket", "tickets"]);
        let of_assets = || self.mentions(&["aum", "assets", "management", "manage", "manages", "managing"]);
        let (min_name, max_name) = match (self.table, noun) {
            (Table::Firms, _) if is_percent && is_bare => ("", "max_ghosting_rate"),
            (Table::Firms, _) if is_percent => ("min_ghosting_rate", "max_ghosting_rate"),
            (Table::Startups, "rounds" | "round" | "funding") if !is_money => ("min_rounds", "max_rounds"),
            (Table::Firms, "portfolio" | "companies" | "startups" | "investments") if !is_money => {
                ("min_portfolio", "max_portfolio")
            }
            (Table::Firms, "reviews") if !is_money => ("min_reviews", "max_reviews"),
            (Table::Firms, _) if is_money && of_checks() => ("check_usd", "check_usd"),
            (Table::Firms, _) if is_money && of_assets() => ("min_aum_usd", "max_aum_usd"),
            (Table::Firms, _) if !is_money && self.mentions(&["score", "scored", "rated"]) => {
                ("min_health_score", "max_health_score")
            }
            (Table::Startups, _) if is_money => ("min_raised_usd", "max_raised_usd"),
            (Table::Rounds, _) if is_money => ("min_amount_usd", "max_amount_usd"),
            _ => return None,
        };
        end += usize::from(!is_money && !["", "min_health_score"].contains(&min_name)) + after_noun;
        // `at most 3 rounds`: without a parameter for this end, the number has no meaning.
        let is_one_sided = !is_bare && min.is_some() != max.is_some();
        if is_one_sided && (min.is_some() && min_name.is_empty() || max.is_some() && max_name.is_empty()) {
            return self.leave(at..end.min(self.tokens.len()));
        }
        // `a $10m round`, `$5m seed rounds`
        let is_round = |at: usize| self.record_at(at) == Some(Table::Rounds);
        let is_of_rounds = || is_round(end) || (end..end + 3).any(|at| is_round(at) && self.is_stage(end, at));
        let is_about =
            is_bare && self.table == Table::Rounds && (self.is_after(at, &["a", "an", "the"]) || is_of_rounds());
        let (min, max) = if is_about { around(min, max) } else { (min, max) };
        let why = if is_bare && !is_about { "amount; taken as the least" } else { "amount" };
        // A single amount is enough if both ends use the same parameter.
        let is_one = min_name == max_name && min.is_some();
        // `checks of about 250k`
        let min = min.zip(max.filter(|_| is_one)).map(|(min, max)| min.midpoint(max)).or(min);
        let max = max.filter(|_| (!is_bare || is_about || min_name.is_empty()) && !is_one);
        let ends = [(min_name, min.map(|min| min.to_string())), (max_name, max.map(|max| max.to_string()))];
        self.read_ends(at..end.min(self.tokens.len()), ends, why)
    }

    pub(super) fn mentions(&self, words: &[&str]) -> bool {
        self.tokens.iter().any(|token| token.is(words))
    }

    fn verb(&mut self, at: usize) -> Option<usize> {
        let is_last_round = self.is_at(at, &["last", "latest"]) && self.is_at(at + 1, &["round"]);
        if is_last_round && self.table == Table::Startups {
            self.topic = Some(Topic::Raising);
            return Some(2);
        }
        let is_operating = self.is_at(at, &["active", "operating"])
            && self.table == Table::Startups
            && !self.is_after(at, &["most", "least", "more"])
            && (at + 1..at + 4).any(|at| self.record_at(at) == Some(Table::Startups));
        if is_operating {
            return self.read_as(at..at + 1, "status", "operating", "state of the startup");
        }
        // `sports betting startups`
        let is_gerund = self.tokens[at].word.ends_with("ing")
            && self.parts.last().is_some_and(|(range, part)| range.end == at && part.parameter == "sector")
            && self.record_at(at + 1).is_some();
        let topic = self.topic_of(&self.tokens[at]).filter(|_| !self.is_phrase && !is_gerund)?;
        self.topic = Some(topic);
        // `has SoftBank not invested in`
        let is_denied = self.is_negated && self.is_at(at, &["invested", "backed", "funded"]);
        let last = self.parts.pop_if(|(range, part)| is_denied && range.end + 1 == at && part.parameter == "investor");
        if let Some((range, part)) = last {
            self.add(range, "investor", part.value, &part.why);
            return Some(1);
        }
        // `never raised`, but `not raised since 2012`
        if self.is_negated && topic == Topic::Raising && !(at + 1..at + 4).any(|at| self.is_date(at)) {
            self.is_negated = false;
            // `have not raised a series C`: no parameter excludes a round of the past.
            let stages = || (at + 1..at + 4).flat_map(|from| (from + 1..from + 4).rev().map(move |to| from..to));
            let stage = stages().find(|stage| self.is_stage(stage.start, stage.end));
            let end = stage.map_or(at + 1, |stage| stage.end);
            return self.leave(at - 1..end).map(|length| length - 1);
        }
        Some(1)
    }

    pub(super) fn is_date(&self, at: usize) -> bool {
        self.tokens.get(at..).is_some_and(|rest| period(rest, Date::from_days(0)).is_some())
    }

    fn negation(&mut self, at: usize) -> Option<usize> {
        let is_but = self.is_at(at, &["all", "anything", "anywhere", "everything", "everywhere", "nothing"]);
        if self.starts(at, &["other", "than"]) || is_but && self.is_at(at + 1, &["but"]) {
            self.is_negated = true;
            return Some(2);
        }
        // `no Recife` is Portuguese for `in Recife`.
        let is_place = |meaning: &PhraseMeaning| {
            matches!(meaning, PhraseMeaning::City { .. } | PhraseMeaning::Country(_) | PhraseMeaning::State { .. })
        };
        let place = self.longest_meaning(at + 1).filter(|(_, meanings)| meanings.iter().any(is_place));
        if self.is_at(at, &["no"])
            && let Some((length, _)) = place
        {
            return self.leave(at..at + 1 + length);
        }
        // `gone quiet since 2010`; `stopped investing before 2012`, however, is just a date.
        if self.table == Table::Firms
            && self.is_at(at, &["quiet", "inactive", "dormant", "stopped", "ceased"])
            && let Some(date) = (at + 1..at + 3).find(|at| self.is_date(*at))
        {
            self.is_negated = !self.is_at(date, &["before", "until", "till", "by", "prior"]);
            return Some(1);
        }
        // `ex-Google`, `non-dilutive`: not the word itself.
        let is_value = self.longest_meaning(at + 1).is_some();
        if self.is_hyphenated(at) && (self.is_at(at, &["ex"]) || (self.is_at(at, &["non"]) && !is_value)) {
            return self.leave(at..at + 2);
        }
        let kind = meaning_of("negations", &self.tokens[at].word)?;
        if self.is_at(at + 1, &["know", "care", "mind", "matter"]) {
            return None;
        }
        let is_end = kind == "verb" && (self.tokens.len() == at + 1 || self.tokens[at].ends_clause);
        self.is_negated = true;
        // `backed by Sequoia, but Accel hasn't`
        let resource = self.resource;
        let denied = self.parts.pop_if(|(range, part)| {
            is_end && range.end == at && resource.parameter(&format!("not_{}", part.parameter)).is_some()
        });
        if let Some((range, part)) = denied {
            self.add(range, &part.parameter, part.value, &part.why);
        }
        Some(1)
    }

    fn field_name(&mut self, at: usize) -> Option<usize> {
        if self.is_phrase {
            return None;
        }
        let of_firms = if self.table == Table::Firms { phrases("fields of firms") } else { &[] };
        let field = self.find_phrase(at, phrases("fields")).or_else(|| self.find_phrase(at, of_firms));
        field.map(|field| field.words.len())
    }

    fn glue(&mut self, at: usize) -> Option<usize> {
        if self.is_at(at, &["down"]) && self.record_at(at + 1) == Some(Table::Rounds) {
            return self.leave(at..at + 1);
        }
        let is_filler = self.is_filler(at) || self.is_at(at, &["cheque", "cheques"]) && !self.is_phrase;
        (self.tokens[at].is_glue() || is_filler || self.is_product(at)).then_some(1)
    }

    pub(super) fn keep_valid(&mut self, parts: Vec<(Range<usize>, ReadPart)>) {
        if self.are_valid(&parts, None) {
            self.parts = parts;
        }
    }

    /// Requires both values after `both`, both investors joined by `and`, and both roles in the singular.
    fn require_both(&mut self) {
        let both = self.tokens.iter().position(|token| token.is(&["both"]));
        let have = |pair: &[(Range<usize>, ReadPart)], name: &str| pair.iter().all(|(_, part)| part.parameter == name);
        let by_and = |pair: &[(Range<usize>, ReadPart)]| {
            pair[1].0.start == pair[0].0.end + 1 && self.is_at(pair[0].0.end, &["and"])
        };
        let joins = |pair: &[(Range<usize>, ReadPart)]| {
            let is_plural = pair.iter().any(|(_, part)| part.text.ends_with('s'));
            by_and(pair) && (have(pair, "investor") || (have(pair, "role") && !is_plural))
        };
        // `founders who are also CEO`
        let also = |pair: &[(Range<usize>, ReadPart)]| {
            have(pair, "role") && (pair[0].0.end..pair[1].0.start).any(|at| self.is_at(at, &["also"]))
        };
        // `angels and accelerators both`
        let is_list = |part: &ReadPart| part.parameter == "stage" && part.value.contains(',');
        let of_stages = self.parts.iter().position(|(range, part)| both == Some(range.end) && is_list(part));
        if let Some(stages) = of_stages.filter(|_| self.resource.parameter("stage_all").is_some()) {
            return self.require(&[stages]);
        }
        let before_both = |pair: &[(Range<usize>, ReadPart)]| both == Some(pair[1].0.end) && by_and(pair);
        let joined = self.parts.windows(2).position(|pair| joins(pair) || also(pair) || before_both(pair));
        let after = |both: usize| self.parts.iter().position(|(range, _)| range.start > both);
        let Some(first) = joined.or_else(|| both.and_then(after)) else { return };
        let all = format!("{}_all", self.parts[first].1.parameter);
        let pair = self.parts.get(first..first + 2).filter(|pair| pair[0].1.parameter == pair[1].1.parameter);
        if pair.is_some() && self.resource.parameter(&all).is_some() {
            self.require(&[first, first + 1]);
        }
    }

    /// Requires these parts, unless that contradicts another. Of sectors that mean the same, only the largest is.
    pub(super) fn require(&mut self, places: &[usize]) {
        let mut parts = self.parts.clone();
        for place in places {
            let part = &mut parts[*place].1;
            if part.parameter == "sector" {
                part.value = largest_sector(self.catalog, &part.value);
            }
            part.parameter.push_str("_all");
        }
        self.keep_valid(parts);
    }

    /// True if the question is the name of a large record, although each word has a meaning: `500 Startups`.
    fn is_proper_name(&self) -> bool {
        let is_written = |token: &QuestionToken| token.is_capitalized() || token.word.parse::<u32>().is_ok();
        let names_records = (0..self.tokens.len()).any(|at| self.record_at(at).is_some())
            || self.phrase_at(0, 2).is_some_and(|phrase| records_meant(&phrase).is_some());
        let rows = self.catalog.rows_named(self.table, self.text);
        names_records
            && self.tokens.len() > 1
            && self.tokens.iter().all(is_written)
            && rows.iter().any(|row| self.catalog.size(self.table, *row) >= MIN_PLAIN_SIZE)
    }

    /// Returns the parts in the order of the text; a whole name takes precedence over words of it.
    fn finish(mut self) -> Interpretation {
        let is_name = !self.catalog.rows_named(self.table, self.text).is_empty();
        if is_name && (!self.unread.is_empty() || self.is_proper_name()) && self.resource.is_searchable() {
            let text = self.text.trim().to_owned();
            let (parameter, why) = ("q".to_owned(), "name of a record".to_owned());
            let part = ReadPart { text: text.clone(), parameter, value: text, why };
            return Interpretation { parts: vec![part], unread: Vec::new() };
        }
        if let Some(interpretation) = self.unread_record() {
            return interpretation;
        }
        self.parts.sort_by_key(|(range, _)| range.start);
        self.leave_qualifiers();
        self.join_cities();
        self.require_both();
        self.require_all_sectors();
        self.unread.sort_by_key(|range| range.start);
        self.unread.dedup();
        let unread = self.unread.iter().map(|range| self.written(range)).collect();
        let parts = std::mem::take(&mut self.parts).into_iter().map(|(_, part)| part).collect();
        let mut interpretation = Interpretation { parts, unread };
        self.rank_by_content(&mut interpretation);
        interpretation
    }
}
