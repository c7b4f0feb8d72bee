//! Reads a question from left to right.

use std::collections::HashSet;
use std::ops::Range;

use once_cell::sync::Lazy;

use crate::catalog::ask::amount::{Amount, amount};
use crate::catalog::ask::lexicon::{Lexicon, Meaning};
use crate::catalog::ask::period::{Period, count_of, period};
use crate::catalog::ask::token::{Token, tokens};
use crate::catalog::ask::{Interpretation, ReadPart};
use crate::catalog::{Catalog, Named, ParseOptions, Resource};
use crate::data::fold::fold;
use crate::data::{Date, Facet, Table};

/// Size of a record, by [`Catalog::size`], from which its name in lower case is read.
const MIN_PLAIN_SIZE: u32 = 20;

/// How many times as large a record must be to be meant by the beginning of its name, although that is the name of another.
const FAR_LARGER: u32 = 10;

/// Maximum number of words of a name.
const MAX_NAME_WORDS: usize = 6;

/// Words that say which records are meant; they come before sectors, one of which may have the same name.
const KINDS_OF_RECORDS: [(Table, &[&str]); 4] = [
    (
        Table::Firms,
        &[
            "vc",
            "vcs",
            "investor",
            "investors",
            "fund",
            "funds",
            "firm",
            "firms",
            "venture capital",
            "venture capitalist",
            "venture capitalists",
            "vc firm",
            "vc firms",
            "vc fund",
            "vc funds",
            "venture firm",
            "venture firms",
            "venture fund",
            "venture funds",
            "venture capital firm",
            "venture capital firms",
            "venture capital fund",
            "venture capital funds",
            "backer",
            "backers",
            "investment firm",
            "investment firms",
        ],
    ),
    (
        Table::Startups,
        &["startup", "startups", "start up", "start ups", "company", "companies", "scaleup", "scaleups", "businesses"],
    ),
    (
        Table::Rounds,
        &[
            "round",
            "rounds",
            "deal",
            "deals",
            "funding round",
            "funding rounds",
            "financing",
            "financings",
            "financing round",
            "financing rounds",
            "investment",
            "investments",
            "raise",
            "raises",
            "funding",
            "fundings",
        ],
    ),
    (Table::People, &["people", "person", "team", "team members", "staff", "employees"]),
];

/// Words that carry no condition of their own.
static GLUE: Lazy<HashSet<&str>> = Lazy::new(|| include_str!("glue.txt").lines().collect());

/// Names of fields, next to which their value is.
const FIELDS: &[&[&str]] = &[
    &["health", "score"],
    &["peer", "score"],
    &["ghosting", "rate"],
    &["check", "size"],
    &["check", "sizes"],
    &["assets", "under", "management"],
];

/// What an amount may be of that no parameter has.
const OTHER_AMOUNTS: &[&str] =
    &["valuation", "valuations", "valued", "revenue", "revenues", "arr", "profit", "sales", "turnover"];

/// Verbs that say what a date or an amount is of.
const FOUNDING: &[&str] =
    &["founded", "established", "started", "launched", "created", "incorporated", "formed", "born"];
const RAISING: &[&str] =
    &["raised", "raising", "funded", "closed", "announced", "secured", "got", "received", "fundraised", "financed"];
const INVESTING: &[&str] = &[
    "active",
    "invested",
    "invest",
    "invests",
    "investing",
    "backed",
    "backing",
    "back",
    "backs",
    "funding",
    "fund",
    "funds",
    "bet",
    "betting",
];

/// The table of the first word for records.
pub(crate) fn subject(text: &str) -> Table {
    let tokens = tokens(text);
    tokens.iter().find_map(|token| records_meant(&token.word)).unwrap_or(Table::Startups)
}

/// Of several sectors that mean the same, the one with the most startups.
fn largest_sector(catalog: &Catalog, slugs: &str) -> String {
    let snapshot = catalog.snapshot();
    let size = |slug: &&str| {
        snapshot.find(Table::Sectors, slug).map(|row| snapshot.facet_count(Table::Startups, Facet::Sector, row))
    };
    slugs.split(',').max_by_key(size).unwrap_or_default().to_owned()
}

/// The table of the records that a phrase is a word for.
fn records_meant(phrase: &str) -> Option<Table> {
    KINDS_OF_RECORDS.iter().find(|(_, words)| words.contains(&phrase)).map(|(table, _)| *table)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Founding,
    Raising,
    Investing,
}

pub(crate) struct Reader<'a> {
    catalog: &'a Catalog,
    lexicon: &'a Lexicon,
    table: Table,
    resource: Resource,
    text: &'a str,
    tokens: Vec<Token>,
    parts: Vec<(Range<usize>, ReadPart)>,
    unread: Vec<(Range<usize>, String)>,
    topic: Option<Topic>,
    /// Set by a word such as `not` until the next value.
    is_negated: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(catalog: &'a Catalog, lexicon: &'a Lexicon, resource: Resource, text: &'a str) -> Self {
        Self {
            catalog,
            lexicon,
            table: resource.table(),
            resource,
            text,
            tokens: tokens(text),
            parts: Vec::new(),
            unread: Vec::new(),
            topic: None,
            is_negated: false,
        }
    }

    pub(crate) fn read(mut self) -> Interpretation {
        let mut at = 0;
        while at < self.tokens.len() {
            at += self.step(at).max(1);
        }
        self.finish()
    }

    /// Reads what begins at a word and returns its length in words.
    fn step(&mut self, at: usize) -> usize {
        let readers: [fn(&mut Self, usize) -> Option<usize>; 16] = [
            Self::called,
            Self::at_organizations,
            Self::relation,
            Self::like,
            Self::long_name,
            Self::superlative,
            Self::date,
            Self::bound,
            Self::record_kind_of_firms,
            Self::record_kind,
            Self::field_name,
            Self::phrase,
            Self::verb,
            Self::negation,
            Self::glue,
            Self::short_name,
        ];
        if let Some(length) = readers.iter().find_map(|read| read(self, at)) {
            return length;
        }
        let token = &self.tokens[at];
        self.unread.push((at..at + 1, token.raw.clone()));
        1
    }

    fn phrase_at(&self, at: usize, length: usize) -> Option<String> {
        let words = self.tokens.get(at..at + length)?;
        // A comma is within no phrase.
        let is_split = words[..length - 1].iter().any(|token| token.ends_clause);
        let words: Vec<&str> = words.iter().map(|token| token.word.as_str()).collect();
        (!is_split).then(|| words.join(" "))
    }

    fn is_at(&self, at: usize, words: &[&str]) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(words))
    }

    /// Whether these words follow each other from `at`.
    fn starts(&self, at: usize, words: &[&str]) -> bool {
        words.iter().enumerate().all(|(index, word)| self.is_at(at + index, &[*word]))
    }

    fn written(&self, range: &Range<usize>) -> String {
        let (first, last) = (&self.tokens[range.start].place, &self.tokens[range.end - 1].place);
        self.text[first.start..last.end].to_owned()
    }

    /// Adds a value, if the list has the parameter and, of a parameter with one value, no other was read.
    fn add(&mut self, range: Range<usize>, parameter: &str, value: String, why: impl Into<String>) -> bool {
        let continues = self.continues_negation(range.start, parameter);
        let parameter = match std::mem::take(&mut self.is_negated) || continues {
            true => format!("not_{parameter}"),
            false => parameter.to_owned(),
        };
        let text = self.written(&range);
        let is_known = parameter == "limit" || self.resource.parameter(&parameter).is_some();
        let is_list = self.resource.parameter(&parameter).is_some_and(|known| known.facet().is_some())
            || parameter.ends_with("organization");
        let is_taken = !is_list && self.parts.iter().any(|(_, part)| part.parameter == parameter);
        if !is_known || is_taken || !self.is_valid(&parameter, &value) {
            self.unread.push((range, text));
            return false;
        }
        self.parts.push((range, ReadPart { text, parameter, value, why: why.into() }));
        true
    }

    /// Whether the list takes the value next to the others: a number may be too large, a range empty.
    fn is_valid(&self, parameter: &str, value: &str) -> bool {
        self.are_valid(&self.parts, Some((parameter.to_owned(), value.to_owned())))
    }

    /// Whether the list takes the values of some parts, and one more, together.
    fn are_valid(&self, parts: &[(Range<usize>, ReadPart)], more: Option<(String, String)>) -> bool {
        let options = ParseOptions { strict: true, review_statuses: &[], other_names: &["limit"] };
        let read = parts.iter().map(|(_, part)| (part.parameter.clone(), part.value.clone()));
        let values: Vec<(String, String)> = read.chain(more).collect();
        self.catalog.parse(self.resource, &values, options).is_ok()
    }

    /// Whether only `and`, `or` or a comma is between a value that is excluded and another: `not in Germany or France`.
    fn continues_negation(&self, at: usize, parameter: &str) -> bool {
        self.parts.last().is_some_and(|(range, part)| {
            part.parameter.strip_prefix("not_") == Some(parameter)
                && (range.end..at).all(|between| self.is_at(between, &["and", "or", "nor", "the", "in"]))
        })
    }

    /// `startups`, `VCs`, `deals`: which records are meant.
    fn record_kind(&mut self, at: usize) -> Option<usize> {
        let length = (1..=4)
            .rev()
            .find(|length| self.phrase_at(at, *length).is_some_and(|phrase| records_meant(&phrase).is_some()))?;
        // A longer phrase of the release goes first: `angel investors`, `corporate venture`.
        (self.longest_meaning(at).is_none_or(|(longest, _)| longest <= length)).then_some(length)
    }

    /// `angel investors`, `accelerators` among firms.
    fn record_kind_of_firms(&mut self, at: usize) -> Option<usize> {
        if !matches!(self.table, Table::Firms | Table::Rounds) {
            return None;
        }
        let (length, meanings) = self.longest_meaning(at)?;
        let kind = meanings.iter().find_map(|meaning| match meaning {
            Meaning::Kind(kind) => Some(*kind),
            _ => None,
        })?;
        // Of rounds, `bank`, `government` and the like are kinds of firms only next to a word for firms.
        let is_firm = self.tokens.get(at + length).and_then(|token| records_meant(&token.word)) == Some(Table::Firms);
        let is_plain = matches!(kind, "bank" | "government" | "university" | "corporate" | "crowdfunding");
        if self.table == Table::Rounds && is_plain && !is_firm && length == 1 {
            return None;
        }
        let range = at..at + length + usize::from(is_firm);
        let why = format!("kind of firm `{kind}`");
        self.add(range.clone(), "kind", kind.to_owned(), why);
        Some(range.len())
    }

    fn longest_meaning(&self, at: usize) -> Option<(usize, &'a [Meaning])> {
        (1..=self.lexicon.longest).rev().find_map(|length| {
            let phrase = self.phrase_at(at, length)?;
            let meanings = self.lexicon.meanings(&phrase);
            // Of a sector such as `AI startups` the last word says which records are meant.
            let names_records = length > 1
                && records_meant(&self.tokens[at + length - 1].word).is_some()
                && meanings.iter().all(|meaning| matches!(meaning, Meaning::Sector(_)))
                && self.phrase_at(at, length - 1).is_some_and(|phrase| !self.lexicon.meanings(&phrase).is_empty());
            (!meanings.is_empty() && !names_records).then_some((length, meanings))
        })
    }

    /// A value of the release: a stage, a place, a sector, a state, a role.
    fn phrase(&mut self, at: usize) -> Option<usize> {
        let (length, meanings) = self.longest_meaning(at)?;
        if length == 1 && GLUE.contains(self.tokens[at].word.as_str()) && !self.is_country_us(at) {
            return None;
        }
        let mut range = at..at + length;
        let (parameter, mut value, why) = meanings.iter().find_map(|meaning| self.value_of(meaning, &range))?;
        if parameter == "status" && self.raises_next(range.end) {
            self.topic = Some(Topic::Raising);
            return Some(length);
        }
        if matches!(parameter, "country" | "city") && self.is_of_others(range.end) {
            self.unread.push((range.clone(), self.written(&range)));
            return Some(length);
        }
        if parameter == "stage" && self.is_at(at, &["series"]) {
            let (more, end) = self.more_series(range.end);
            for stage in more {
                if value.split(',').all(|known| known != stage) {
                    value = format!("{value},{stage}");
                }
            }
            range.end = end;
        }
        let length = range.len();
        self.add(range, parameter, value, why);
        Some(length)
    }

    /// The stages of the letters that follow a series, and where they end: `series A or B`.
    fn more_series(&self, mut at: usize) -> (Vec<&'static str>, usize) {
        let mut stages = Vec::new();
        loop {
            let letter = at + usize::from(self.is_at(at, &["and", "or"]));
            let phrase = match self.tokens.get(letter) {
                Some(token) if token.word.len() == 1 && token.word != "a" => format!("series {}", token.word),
                _ => return (stages, at),
            };
            let stage = self.lexicon.meanings(&phrase).iter().find_map(|meaning| match meaning {
                Meaning::Stage(stages) => stages.first().copied(),
                _ => None,
            });
            let Some(stage) = stage else { return (stages, at) };
            stages.push(stage);
            at = letter + 1;
        }
    }

    /// Whether `closed` or `announced` is about money: `closed a seed round`.
    fn raises_next(&self, at: usize) -> bool {
        let is_money =
            self.tokens.get(at..).is_some_and(|rest| amount(rest).is_some_and(|(amount, _)| amount.is_money));
        let is_stage = self
            .longest_meaning(at)
            .is_some_and(|(_, meanings)| meanings.iter().any(|meaning| matches!(meaning, Meaning::Stage(_))));
        is_money
            || is_stage
            || self.is_at(at, &["a", "an", "their", "its", "series", "round", "rounds", "funding", "on"])
    }

    /// Whether a place is that of other records than those of the list: `German` in `VCs that invest in German startups`.
    fn is_of_others(&self, at: usize) -> bool {
        let other = if self.table == Table::Firms { Table::Startups } else { Table::Firms };
        for length in 0..3 {
            let Some(token) = self.tokens.get(at + length) else { return false };
            if let Some(table) = records_meant(&token.word) {
                return table == other;
            }
            let is_break = self.tokens[at + length - 1].ends_clause;
            if is_break || GLUE.contains(token.word.as_str()) {
                return false;
            }
        }
        false
    }

    /// A capitalized name of several words, unless the words mean something longer: `Founders Fund deals`.
    fn long_name(&mut self, at: usize) -> Option<usize> {
        if !self.tokens[at].is_capitalized() {
            return None;
        }
        let (parameter, slug, length) = self.own_name(at)?;
        let is_longer = |(longest, _): (usize, _)| length > longest;
        let all_capitalized = self.tokens[at..at + length].iter().all(Token::is_capitalized);
        if length < 2 || !all_capitalized || !self.longest_meaning(at).is_none_or(is_longer) {
            return None;
        }
        self.add_name(at..at + length, parameter, slug)
    }

    /// A name that no other reading has: `Sequoia deals`, `stripe founders`.
    fn short_name(&mut self, at: usize) -> Option<usize> {
        let (parameter, slug, length) = self.own_name(at)?;
        self.add_name(at..at + length, parameter, slug)
    }

    fn add_name(&mut self, range: Range<usize>, parameter: &'static str, slug: String) -> Option<usize> {
        let length = range.len();
        let leads = self.is_at(range.end, &["led", "leads", "lead", "leading"])
            || (self.is_at(range.end, &["was", "is", "as"])
                && self.tokens.iter().skip(range.end).take(4).any(|token| token.is(&["lead"])));
        let parameter = if leads && self.resource.parameter("lead").is_some() { "lead" } else { parameter };
        self.add(range, parameter, slug, "name of a record").then_some(length)
    }

    /// The record whose name begins at a word, with the parameter that it is a value of: an investor or an organization.
    fn own_name(&self, at: usize) -> Option<(&'static str, String, usize)> {
        let (parameter, tables): (_, &[Table]) = match self.table {
            Table::Startups => ("investor", &[Table::Firms]),
            Table::Rounds => ("investor", &[Table::Firms, Table::Startups]),
            Table::People => ("organization", &[Table::Firms, Table::Startups]),
            _ => return None,
        };
        let named = tables.iter().filter_map(|table| {
            let (slug, length) = self.name_at(at, &[*table])?;
            let row = self.catalog.snapshot().find(*table, &slug)?;
            let size = self.catalog.size(*table, row);
            // A word in lower case is a name only of a record that many know.
            let tokens = &self.tokens[at..at + length];
            let is_sure = tokens[length - 1].is_possessive
                || tokens.iter().all(|token| token.is_capitalized() || GLUE.contains(token.word.as_str()));
            (is_sure || size >= MIN_PLAIN_SIZE).then_some((*table, slug, length, size))
        });
        let (table, slug, length, _) = named.max_by_key(|(_, _, length, size)| (*length, *size))?;
        let parameter = if self.table == Table::Rounds && table == Table::Startups { "startup" } else { parameter };
        Some((parameter, slug, length))
    }

    fn has_meaning(&self, at: usize, length: usize) -> bool {
        self.longest_meaning(at).is_some_and(|(longest, _)| longest >= length)
    }

    /// `us` is a country after `in the`, or in capital letters.
    fn is_country_us(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        token.word == "us"
            && (token.raw == "US" || token.raw == "U.S" || (at > 0 && self.is_at(at - 1, &["the", "in", "from"])))
    }

    fn value_of(&self, meaning: &Meaning, range: &Range<usize>) -> Option<(&'static str, String, String)> {
        let has = |parameter: &str| self.resource.parameter(parameter).is_some();
        let joined = |names: &[String]| names.join(",");
        let (parameter, value, why) = match meaning {
            Meaning::Country(code) => ("country", code.clone(), "country or region".to_owned()),
            Meaning::City { name, is_plain } => {
                let token = &self.tokens[range.start];
                let after_place = range.start > 0 && self.is_at(range.start - 1, &["in", "from", "near", "around"]);
                if *is_plain && !(token.is_capitalized() && after_place) {
                    return None;
                }
                ("city", name.clone(), "city of the release".to_owned())
            }
            Meaning::Sector(slugs) => ("sector", joined(slugs), "sector of the release".to_owned()),
            Meaning::Stage(stages) => {
                let names: Vec<String> = stages.iter().map(|stage| (*stage).to_owned()).collect();
                ("stage", joined(&names), "stage".to_owned())
            }
            Meaning::Status(status) => ("status", (*status).to_owned(), "state of the startup".to_owned()),
            Meaning::Role(role) => ("role", (*role).to_owned(), "role of a person".to_owned()),
            Meaning::Kind(_) => return None,
        };
        has(parameter).then_some((parameter, value, why))
    }

    /// `backed by Sequoia and Accel`, `led by …`, `founders of …`.
    fn relation(&mut self, at: usize) -> Option<usize> {
        const MARKERS: &[(&[&str], &str)] = &[
            (&["portfolio", "companies", "of"], "investor"),
            (&["investment", "from"], "investor"),
            (&["money", "from"], "investor"),
            (&["funding", "from"], "investor"),
            (&["capital", "from"], "investor"),
            (&["portfolio", "of"], "investor"),
            (&["invested", "in", "by"], "investor"),
            (&["backed", "by"], "investor"),
            (&["funded", "by"], "investor"),
            (&["financed", "by"], "investor"),
            (&["joined", "by"], "investor"),
            (&["led", "by"], "lead"),
            (&["raised", "by"], "startup"),
            (&["rounds", "of"], "startup"),
            (&["investors", "in"], "startup"),
            (&["investors", "of"], "startup"),
            (&["invested", "in"], "startup"),
            (&["backed"], "startup"),
            (&["funded"], "startup"),
            (&["founded"], "organization"),
            (&["started"], "organization"),
            (&["runs"], "organization"),
            (&["work", "for"], "organization"),
            (&["works", "for"], "organization"),
            (&["working", "for"], "organization"),
            (&["at"], "organization"),
            (&["of"], "organization"),
            (&["from"], "organization"),
        ];
        // Startups are filtered by who invested, not by who led.
        let own = |parameter: &'static str| match (parameter, self.table) {
            ("lead", Table::Startups) => "investor",
            _ => parameter,
        };
        let mut markers = MARKERS.iter().map(|(words, parameter)| (*words, own(parameter)));
        let (words, parameter) = markers
            .find(|(words, parameter)| self.starts(at, words) && self.resource.parameter(parameter).is_some())?;
        let tables: &[Table] = match parameter {
            "startup" => &[Table::Startups],
            "organization" => &[Table::Firms, Table::Startups],
            _ => &[Table::Firms],
        };
        let mut from = at + words.len();
        let is_both = self.is_at(from, &["both"]);
        from += usize::from(is_both);
        let (mut names, mut end) = (Vec::new(), from);
        let mut joint = is_both;
        while let Some((slug, length)) = self.name_at(end, tables) {
            // A name that is not capitalized may be anything: `backed by angels`.
            if !self.tokens[end].is_capitalized() && self.has_meaning(end, length) {
                break;
            }
            names.push(slug);
            end += length;
            let follows = self.is_at(end, &["and", "or"]);
            if !follows || self.name_at(end + 1, tables).is_none() {
                break;
            }
            joint |= self.is_at(end, &["and"]);
            end += 1;
        }
        if names.is_empty() {
            return None;
        }
        let all = format!("{parameter}_all");
        let has_all = joint && names.len() > 1 && self.resource.parameter(&all).is_some();
        let parameter = if has_all { all.as_str() } else { parameter };
        let is_founding = self.is_at(at, &["founded", "started"]);
        self.add(at..end, parameter, names.join(","), "name of a record");
        if is_founding {
            self.add(at..at + 1, "role", "founder".to_owned(), "role of a person");
        }
        Some(end - at)
    }

    /// `called Blink`, `who is Jane Doe`: a name to search for, to the end of the clause.
    fn called(&mut self, at: usize) -> Option<usize> {
        let is_marked = self.is_at(at, &["called", "named"]);
        let is_person = self.table == Table::People && self.is_at(at, &["who"]) && self.is_at(at + 1, &["is"]);
        let from = at + if is_marked { 1 } else { 2 };
        if !(is_marked || is_person) || !self.resource.is_searchable() || from >= self.tokens.len() {
            return None;
        }
        let mut end = from + 1;
        while end < self.tokens.len()
            && !self.tokens[end - 1].ends_clause
            && !GLUE.contains(self.tokens[end].word.as_str())
        {
            end += 1;
        }
        let name = self.written(&(from..end));
        if is_person && self.catalog.rows_named(self.table, &name).is_empty() {
            return None;
        }
        self.add(from..end, "q", name, "name to search for").then_some(end - at)
    }

    /// `at startups`, `at VCs` among people.
    fn at_organizations(&mut self, at: usize) -> Option<usize> {
        if self.table != Table::People || !self.is_at(at, &["at"]) {
            return None;
        }
        let kind = match records_meant(&self.tokens.get(at + 1)?.word)? {
            Table::Firms => "firm",
            Table::Startups => "startup",
            _ => return None,
        };
        self.add(at..at + 2, "kind", kind.to_owned(), "kind of organization").then_some(2)
    }

    /// `like Stripe`, `similar to Stripe`, `Stripe competitors`.
    fn like(&mut self, at: usize) -> Option<usize> {
        const BEFORE: &[&[&str]] = &[
            &["like"],
            &["similar", "to"],
            &["comparable", "to"],
            &["competitors", "of"],
            &["competitors", "to"],
            &["alternatives", "to"],
        ];
        const AFTER: &[&str] = &["competitors", "competitor", "alternatives", "alternative"];
        let before = BEFORE.iter().find(|words| self.starts(at, words)).map_or(0, |words| words.len());
        if before == 0 && !self.mentions(AFTER) {
            return None;
        }
        let (slug, length) = self.name_at(at + before, &[self.table])?;
        let after = usize::from(self.is_at(at + before + length, AFTER));
        if before + after == 0 {
            return None;
        }
        let range = at..at + before + length + after;
        self.add(range.clone(), "like", slug, "records like this one");
        Some(range.len())
    }

    /// The slug of the record whose name begins at a word, with the number of words.
    fn name_at(&self, at: usize, tables: &[Table]) -> Option<(String, usize)> {
        let longest = MAX_NAME_WORDS.min(self.tokens.len().saturating_sub(at));
        (1..=longest).rev().find_map(|length| {
            self.phrase_at(at, length)?;
            let text = self.written(&(at..at + length));
            let (table, row) = tables.iter().find_map(|table| Some((*table, self.row_of_name(*table, &text)?)))?;
            Some((self.catalog.snapshot().slug(table, row).to_owned(), length))
        })
    }

    /// The record of a name; a far larger one whose name begins with it goes first: `Sequoia` is Sequoia Capital.
    fn row_of_name(&self, table: Table, text: &str) -> Option<u32> {
        let size = |row: &u32| self.catalog.size(table, *row);
        let row = match self.catalog.named(table, text) {
            Named::One(row) => row,
            Named::Several(rows) => rows.into_iter().max_by_key(size)?,
            Named::Nothing => return self.numeronym(table, text),
        };
        let larger = self.catalog.namesakes(table, text, row).into_iter().max_by_key(size);
        Some(larger.filter(|larger| size(larger) >= size(&row).max(1).saturating_mul(FAR_LARGER)).unwrap_or(row))
    }

    /// A name by its first and last letter and the number of those between: `a16z`.
    fn numeronym(&self, table: Table, text: &str) -> Option<u32> {
        let mut chars = text.chars();
        let (first, last) = (chars.next()?.to_ascii_lowercase(), chars.next_back()?.to_ascii_lowercase());
        let between: usize =
            chars.as_str().parse().ok().filter(|_| first.is_ascii_alphabetic() && last.is_ascii_alphabetic())?;
        let snapshot = self.catalog.snapshot();
        let is_meant = |row: &u32| {
            let name: String = fold(snapshot.name(table, *row)).split(' ').collect();
            name.len() == between + 2 && name.starts_with(first) && name.ends_with(last)
        };
        (0..snapshot.rows(table)).filter(is_meant).max_by_key(|row| self.catalog.size(table, *row))
    }

    /// `the 10 largest`, `newest`, `most active`, `top 5`.
    fn superlative(&mut self, at: usize) -> Option<usize> {
        let count = |at: usize| {
            self.tokens.get(at).and_then(|token| count_of(&token.word)).filter(|count| (1..=100).contains(count))
        };
        let start = at + usize::from(self.is_at(at, &["the"]));
        if self.is_at(start, &["top", "first"])
            && let Some(number) = count(start + 1)
        {
            self.add(at..start + 2, "limit", number.to_string(), "that many records");
            return Some(start + 2 - at);
        }
        let before = count(start);
        let from = start + usize::from(before.is_some());
        let (sort, length) = self.sort_at(from)?;
        let after = count(from + length).filter(|_| before.is_none());
        let end = from + length + usize::from(after.is_some());
        self.add(at..end, "sort", sort.to_owned(), "order");
        if let Some(number) = before.or(after) {
            self.add(at..end, "limit", number.to_string(), "that many records");
        } else if (start > at || at == 0) && self.is_singular(end) {
            self.add(at..end, "limit", "1".to_owned(), "a single record");
        }
        Some(end - at)
    }

    /// Whether the next word for a kind of record is in the singular: `the largest fintech round`.
    fn is_singular(&self, at: usize) -> bool {
        let kind = self.tokens.iter().skip(at).take(4).find(|token| records_meant(&token.word).is_some());
        kind.is_some_and(|kind| !kind.word.ends_with('s'))
    }

    fn sort_at(&self, at: usize) -> Option<(&'static str, usize)> {
        let word = |offset: usize| self.tokens.get(at + offset).map_or("", |token| token.word.as_str());
        let words = (word(0), word(1), word(2));
        Some(match (self.table, words) {
            (Table::Firms, ("most", "active" | "prolific", _)) => ("-investment_count", 2),
            (Table::Firms, ("busiest", _, _)) => ("-investment_count", 1),
            (Table::Firms, ("most", "responsive", _)) => ("-responsiveness", 2),
            (Table::Firms, ("best" | "top" | "highest", "rated" | "scored", _)) => ("-health_score", 2),
            (Table::Firms, ("by", "portfolio", "size")) => ("-portfolio_count", 3),
            (Table::Firms, ("by", "portfolio", _)) => ("-portfolio_count", 2),
            (Table::Firms, ("by", "investments" | "deals" | "rounds" | "activity", _)) => ("-investment_count", 2),
            (Table::Startups, ("by", "funding" | "money", "raised")) => ("-total_raised_usd", 3),
            (Table::Startups, ("by", "funding", _)) => ("-total_raised_usd", 2),
            (Table::Rounds, ("by", "amount" | "size", _)) => ("-amount_usd", 2),
            (Table::Rounds, ("first", "round", _)) => ("announced_on", 1),
            (Table::Firms, ("most", "investments" | "deals" | "rounds", _)) => ("-investment_count", 2),
            (Table::Firms, ("most", "companies" | "startups", _)) => ("-portfolio_count", 2),
            (Table::Firms, ("most", "portfolio", "companies")) => ("-portfolio_count", 3),
            (Table::Firms, ("largest" | "biggest", "portfolio" | "portfolios", _)) => ("-portfolio_count", 2),
            (Table::Firms, ("largest" | "biggest", _, _)) => ("-portfolio_count", 1),
            (Table::Startups, ("most", "money" | "funding" | "capital", _)) => ("-total_raised_usd", 2),
            (Table::Startups, ("raised" | "raising", "most", _)) => ("-total_raised_usd", 2),
            (Table::Startups, ("raised" | "raising", "the", "most")) => ("-total_raised_usd", 3),
            (Table::Firms | Table::Startups, ("newest" | "youngest", _, _)) => ("-founded_year", 1),
            (Table::Firms | Table::Startups, ("oldest", _, _)) => ("founded_year", 1),
            (Table::Startups, ("most" | "best" | "highest" | "top", "funded", _)) => ("-total_raised_usd", 2),
            (Table::Startups, ("most", "recently", "funded")) => ("-last_round_on", 3),
            (Table::Startups, ("recently" | "newly", "funded", _)) => ("-last_round_on", 2),
            (Table::Startups, ("most", "recently", "founded")) => ("-founded_year", 3),
            (Table::Startups, ("recently" | "newly", "founded", _)) => ("-founded_year", 2),
            (Table::Startups, ("highest", "total" | "funding" | "raised", _)) => ("-total_raised_usd", 2),
            (Table::Startups, ("most", "rounds", _)) => ("-round_count", 2),
            (Table::Startups, ("largest" | "biggest", _, _)) => ("-total_raised_usd", 1),
            (Table::Rounds, ("largest" | "biggest" | "highest", _, _)) => ("-amount_usd", 1),
            (Table::Rounds, ("smallest", _, _)) => ("amount_usd", 1),
            (Table::Rounds, ("most", "recent", _)) => ("-announced_on", 2),
            (Table::Rounds, ("newest" | "latest" | "recent", _, _)) => ("-announced_on", 1),
            (Table::Rounds, ("oldest" | "earliest", _, _)) => ("announced_on", 1),
            _ => return None,
        })
    }

    fn date(&mut self, at: usize) -> Option<usize> {
        let today = self.catalog.snapshot().released_on();
        let (mut found, length) = period(&self.tokens[at..], today)?;
        if let Some(from) = found.from.filter(|_| self.is_negated && found.to.is_none()) {
            // `not since 2008`
            self.is_negated = false;
            found = Period { from: None, to: Some(Date::from_days(from.days() - 1)) };
        }
        let topic = self.topic.or_else(|| self.topic_of(self.tokens.get(at + length)?));
        let (from, to, by_year) = match (self.table, topic) {
            (Table::Startups, Some(Topic::Raising)) => ("last_round_since", "last_round_until", false),
            (Table::Startups, _) | (Table::Firms, Some(Topic::Founding)) => ("founded_from", "founded_to", true),
            (Table::Firms, _) => ("active_since", "active_until", false),
            (Table::Rounds, _) => ("since", "until", false),
            _ => return None,
        };
        let Period { from: first, to: last } = found;
        let value = |date: Date| if by_year { date.year().to_string() } else { date.to_string() };
        let range = at..at + length;
        let mut read = false;
        for (name, date) in [(from, first), (to, last)] {
            if let Some(date) = date {
                read |= self.add(range.clone(), name, value(date), "period, by the day of the release");
            }
        }
        read.then_some(length)
    }

    fn topic_of(&self, token: &Token) -> Option<Topic> {
        let word = token.word.as_str();
        let topics = [(FOUNDING, Topic::Founding), (RAISING, Topic::Raising), (INVESTING, Topic::Investing)];
        topics.into_iter().find(|(words, _)| words.contains(&word)).map(|(_, topic)| topic)
    }

    /// An amount or a number with what it counts.
    fn bound(&mut self, at: usize) -> Option<usize> {
        let (found, length) = amount(&self.tokens[at..])?;
        let Amount { min, max, is_money, is_foreign, is_percent, is_bare } = found;
        let mut end = at + length;
        let noun = self.tokens.get(end).map_or("", |token| token.word.as_str());
        if is_money && let Some(first) = (at.saturating_sub(3)..at).find(|before| self.is_at(*before, OTHER_AMOUNTS)) {
            self.unread.retain(|(range, _)| range.start < first);
            self.unread.push((first..end, self.written(&(first..end))));
            return Some(length);
        }
        if is_foreign {
            self.unread.push((at..end, self.written(&(at..end))));
            return Some(length);
        }
        let names: (Option<&str>, Option<&str>) = match (self.table, noun) {
            _ if is_percent && self.table == Table::Firms => (None, Some("max_ghosting_rate")),
            (Table::Startups, "rounds" | "round" | "funding") if !is_money => (Some("min_rounds"), None),
            (Table::Firms, "portfolio" | "companies" | "startups" | "investments") if !is_money => {
                (Some("min_portfolio"), None)
            }
            (Table::Firms, "reviews") if !is_money => (Some("min_reviews"), None),
            (Table::Firms, _)
                if is_money && self.mentions(&["check", "checks", "cheque", "cheques", "ticket", "tickets"]) =>
            {
                (Some("check_usd"), Some("check_usd"))
            }
            (Table::Firms, _) if is_money && self.mentions(&["aum", "assets", "management"]) => {
                (Some("min_aum_usd"), None)
            }
            (Table::Firms, _) if !is_money && self.mentions(&["score", "scored", "rated"]) => {
                (Some("min_health_score"), None)
            }
            (Table::Startups, _) if is_money => (Some("min_raised_usd"), Some("max_raised_usd")),
            (Table::Rounds, _) if is_money => (Some("min_amount_usd"), Some("max_amount_usd")),
            _ => return None,
        };
        end += usize::from(!is_money && names.0.is_some_and(|name| name != "min_health_score"));
        let why = if is_bare { "amount; taken as the least" } else { "amount" };
        let max = max.filter(|_| !is_bare || names.0.is_none());
        let mut read = false;
        for (name, value) in [(names.0, min), (names.1, max)] {
            if let (Some(name), Some(value)) = (name, value) {
                read |= self.add(at..end.min(self.tokens.len()), name, value.to_string(), why);
            }
        }
        read.then(|| end.min(self.tokens.len()) - at)
    }

    fn mentions(&self, words: &[&str]) -> bool {
        self.tokens.iter().any(|token| token.is(words))
    }

    fn verb(&mut self, at: usize) -> Option<usize> {
        let is_last_round = self.is_at(at, &["last", "latest"]) && self.is_at(at + 1, &["round"]);
        if is_last_round && self.table == Table::Startups {
            self.topic = Some(Topic::Raising);
            return Some(2);
        }
        let topic = self.topic_of(&self.tokens[at])?;
        self.topic = Some(topic);
        Some(1)
    }

    fn negation(&mut self, at: usize) -> Option<usize> {
        let is_word = self.is_at(at, &["not", "non", "except", "excluding", "without", "outside", "no"]);
        self.is_negated |= is_word;
        is_word.then_some(1)
    }

    /// The name of a field, next to which its value is.
    fn field_name(&mut self, at: usize) -> Option<usize> {
        FIELDS.iter().find(|words| self.starts(at, words)).map(|words| words.len())
    }

    fn glue(&mut self, at: usize) -> Option<usize> {
        let is_glue = GLUE.contains(self.tokens[at].word.as_str()) || self.is_at(at, &["cheque", "cheques"]);
        is_glue.then_some(1)
    }

    /// Two values of a list are required after `both`, `both mobile and payments`, and investors that `and` joins.
    fn require_both(&mut self) {
        let both = self.tokens.iter().position(|token| token.is(&["both"]));
        let joins = |pair: &[(Range<usize>, ReadPart)]| {
            pair.iter().all(|(_, part)| part.parameter == "investor")
                && pair[1].0.start == pair[0].0.end + 1
                && self.is_at(pair[0].0.end, &["and"])
        };
        let joined = self.parts.windows(2).position(joins);
        let after = |both: usize| self.parts.iter().position(|(range, _)| range.start > both);
        let Some(first) = joined.or_else(|| both.and_then(after)) else { return };
        let all = format!("{}_all", self.parts[first].1.parameter);
        let pair = self.parts.get(first..first + 2).filter(|pair| pair[0].1.parameter == pair[1].1.parameter);
        if pair.is_some() && self.resource.parameter(&all).is_some() {
            self.require(&[first, first + 1]);
        }
    }

    /// Makes these parts required, unless that contradicts another part: of sectors that mean the same, the largest.
    fn require(&mut self, places: &[usize]) {
        let mut parts = self.parts.clone();
        for place in places {
            let part = &mut parts[*place].1;
            if part.parameter == "sector" {
                part.value = largest_sector(self.catalog, &part.value);
            }
            part.parameter.push_str("_all");
        }
        if self.are_valid(&parts, None) {
            self.parts = parts;
        }
    }

    /// Sectors that qualify each other are all required, `AI startups for dentists`; `AI or fintech` is any of the two.
    fn require_all_sectors(&mut self) {
        let of_sector = |part: &(Range<usize>, ReadPart)| part.1.parameter == "sector";
        let places: Vec<usize> = (0..self.parts.len()).filter(|index| of_sector(&self.parts[*index])).collect();
        let is_joined = |pair: &[usize]| {
            let (from, to) = (self.parts[pair[0]].0.end, self.parts[pair[1]].0.start);
            self.tokens[from - 1].ends_clause || (from..to).any(|between| self.is_at(between, &["and", "or"]))
        };
        if places.len() < 2 || places.windows(2).any(is_joined) || self.resource.parameter("sector_all").is_none() {
            return;
        }
        self.require(&places);
    }

    /// Parts in the order of the text; a name as a whole goes before words of it.
    fn finish(mut self) -> Interpretation {
        let is_name = !self.catalog.rows_named(self.table, self.text).is_empty();
        if is_name && !self.unread.is_empty() && self.resource.is_searchable() {
            let text = self.text.trim().to_owned();
            let part = ReadPart {
                text: text.clone(),
                parameter: "q".to_owned(),
                value: text,
                why: "name of a record".to_owned(),
            };
            return Interpretation { parts: vec![part], unread: Vec::new() };
        }
        self.parts.sort_by_key(|(range, _)| range.start);
        self.require_both();
        self.require_all_sectors();
        self.unread.sort_by_key(|(range, _)| range.start);
        Interpretation {
            parts: self.parts.into_iter().map(|(_, part)| part).collect(),
            unread: self.unread.into_iter().map(|(_, words)| words).collect(),
        }
    }
}
