//! Names of firms, startups and people in questions, and their relation to the listed records.

use std::ops::Range;
use std::rc::Rc;

use crate::NameMatch;
use crate::ask::ReadPart;
use crate::ask::language;
use crate::ask::path::{Path, PathPart};
use crate::ask::question::{NameAt, OwnName, Topic, records_meant};
use crate::ask::token::QuestionToken;
use crate::ask::words::phrases_from;
use data::Table;
use data::fold::fold;
use data::written::spelled_out;

/// Minimum size of a record, by [`Catalog::size`], for its name to be read in lower case.
pub(super) const MIN_PLAIN_SIZE: u32 = 20;

/// The same for a name that the words around it mark as one.
pub(super) const MIN_NAMED_SIZE: u32 = 3;

/// Maximum number of records with a word in their descriptions for it to count as a coined name.
const MAX_COINED: u64 = 5;

/// Minimum number of letters of a word that a name is recognized by.
const MIN_BEGUN: usize = 5;

/// Minimum size of a record for the first word of its name to mean it.
pub(super) const MIN_BEGUN_SIZE: u32 = 10;

/// Size ratio from which the beginning of a record's name means it, although another record has exactly that name.
const FAR_LARGER: u32 = 10;

pub(super) const MAX_NAME_WORDS: usize = 6;

/// Why words are the name of a record.
pub(super) const NAME: &str = "name of a record";

const PERSON: &str = "name of a person";

/// Why words are those that the names of the listed records have.
pub(super) const SEARCHED: &str = "name to search for";

impl Path<'_, '_> {
    /// Reads `called Blink`, `who is Jane Doe`: a name to search for, up to the end of the clause.
    pub(super) fn called(&mut self, at: usize) -> Option<usize> {
        let is_marked = self.is_in(at, "called");
        let is_person = self.table == Table::People && self.is_at(at, &["who"]) && self.is_at(at + 1, &["is"]);
        let from = at + if is_marked { 1 } else { 2 };
        if !(is_marked || is_person) || !self.resource.is_searchable() || from >= self.tokens.len() {
            return None;
        }
        let mut ends = from + 1..self.tokens.len();
        let end = ends.find(|end| self.tokens[end - 1].ends_clause || self.tokens[*end].is_glue());
        let end = end.unwrap_or(self.tokens.len());
        let name = self.written(&(from..end));
        if is_person && self.catalog.rows_named(self.table, &name).is_empty() {
            return None;
        }
        self.add(from..end, "q", name, if is_marked { SEARCHED } else { PERSON }).then_some(end - at)
    }

    /// Reads `at startups`, `at VCs` among people.
    pub(super) fn at_organizations(&mut self, at: usize) -> Option<usize> {
        let works = self.is_at(at, &["for"]) && self.follows(at, "works");
        if self.table != Table::People || !(works || self.is_in(at, "at")) {
            return None;
        }
        let from = at + 1 + usize::from(self.is_in(at + 1, "articles"));
        let (table, length) = self.records_at(from)?;
        if !matches!(table, Table::Firms | Table::Startups) {
            return None;
        }
        self.add(at..from + length, "kind", table.noun(), "kind of organization").then_some(from + length - at)
    }

    /// Reads `invested in Facebook` among firms. No parameter finds them, but `funding-rounds?startup=facebook` does.
    pub(super) fn portfolio(&mut self, at: usize) -> Option<usize> {
        if self.table != Table::Firms {
            return None;
        }
        let mut end = at + self.find_phrase(at, "portfolio")?.words.len();
        let named = |at: usize| {
            let is_name = self.tokens.get(at)?.is_capitalized() || self.is_rare_sector(&self.tokens[at].word);
            let (slug, length) = self.name_at(at, &[Table::Startups]).filter(|_| is_name)?;
            let row = self.catalog.snapshot().find(Table::Startups, &slug)?;
            (self.catalog.size(Table::Startups, row) >= MIN_NAMED_SIZE).then_some(length)
        };
        end += named(end)?;
        while self.is_in(end, "joints")
            && let Some(length) = named(end + 1)
        {
            end += 1 + length;
        }
        self.leave(at..end)
    }

    /// Reads `backed by Sequoia and Accel`, `led by …`, `founders of …`.
    pub(super) fn relation(&mut self, at: usize) -> Option<usize> {
        // Startups can be filtered by their investors, but not by lead investors.
        let own = |parameter: &'static str| match (parameter, self.table) {
            ("lead", Table::Startups) => "investor",
            _ => parameter,
        };
        // `average check of Acme` asks for no people.
        let is_of_unread = self.unread.last().is_some_and(|range| range.end == at)
            || at > 0 && (self.record_at(at - 1) == Some(Table::Rounds) || self.is_after(at, &["portfolio"]));
        if self.table == Table::People && is_of_unread && self.is_in(at, "at or from") {
            return None;
        }
        let relation = phrases_from("relations", &self.tokens[at].word).find(|relation| {
            self.starts(at, &relation.words) && self.resource.parameter(own(relation.meaning)).is_some()
        })?;
        let parameter = own(relation.meaning);
        let tables: &[Table] = match parameter {
            "startup" => &[Table::Startups],
            "organization" => &[Table::Firms, Table::Startups],
            _ => &[Table::Firms],
        };
        let mut from = at + relation.words.len();
        let is_both = self.is_at(from, &["both"]);
        from += usize::from(is_both);
        let (mut names, mut end) = (Vec::new(), from);
        let (mut joint, mut start) = (is_both, at);
        let is_expected = self.table == Table::People || !self.is_in(at, "at or from");
        while let Some((slug, length)) =
            self.name_at(end, tables).or_else(|| self.begun_name(end, tables).filter(|_| is_expected))
        {
            // A name in lower case may be anything: `backed by angels`, `at a bank`, `rounds of between 5m and 10m`.
            let word = self.tokens[end].word.as_str();
            let is_word = (self.has_meaning(end, length) && !(length == 1 && self.is_rare_sector(word)))
                || (length == 1 && self.tokens[end].is_glue())
                || self.is_at(end, &["between"]);
            if !self.tokens[end].is_capitalized() && is_word {
                break;
            }
            names.push(slug);
            end += length;
            // `Facebook, Twitter and LinkedIn`: `Twitter` is also a sector of the release. `Berlin` is no name.
            let listed = self.tokens.get(end).filter(|token| token.is_capitalized());
            let is_listed = self.tokens[end - 1].ends_clause
                && listed.is_some_and(|token| !self.has_meaning(end, 1) || self.is_rare_sector(&token.word));
            let between = usize::from(!is_listed);
            let follows = is_listed || self.is_in(end, "joints");
            if !follows || self.name_at(end + between, tables).is_none() {
                break;
            }
            joint |= self.is_at(end, &["and"]);
            end += between;
        }
        // `rounds of First Round` are those of the investor, not of the startup `First`.
        let may_be_firm = tables == [Table::Startups] && self.resource.parameter("investor").is_some();
        let firm = || self.name_at(from, &[Table::Firms]);
        let is_of_firm = || {
            let (slug, length) = firm()?;
            // `rounds of Techstars`: a firm with many, and hardly a startup. What one raised is its own.
            let rows = [(Table::Firms, &slug), (Table::Startups, names.first()?)];
            let [firm, startup] = rows.map(|(table, slug)| self.catalog.snapshot().find(table, slug));
            let size = |table: Table, row: Option<u32>| row.map_or(0, |row| self.catalog.size(table, row));
            let is_larger = self.is_in(at, "round")
                && names.len() == 1
                && size(Table::Firms, firm) >= size(Table::Startups, startup).max(1).saturating_mul(FAR_LARGER);
            Some(from + length > end || from + length == end && is_larger)
        };
        if names.is_empty() || (may_be_firm && is_of_firm() == Some(true)) {
            return None;
        }
        if names.len() == 1 && self.portfolio_of(from, end - from).is_some() {
            return None;
        }
        // `Sequoia alongside Accel`
        let is_joint = self.is_in(at, "jointly");
        // `the rounds that Sequoia did together with Accel`
        let is_next = |end: usize| (end..at).all(|between| self.question.tokens[between].is_glue());
        let partner = self.parts.pop_if(|(range, part)| is_joint && is_next(range.end) && part.parameter == parameter);
        if let Some((range, part)) = partner {
            names.insert(0, part.value.clone());
            start = range.start;
            joint = true;
        }
        let all = format!("{parameter}_all");
        let has_all = joint && names.len() > 1 && self.resource.parameter(&all).is_some();
        let parameter = if has_all { all.as_str() } else { parameter };
        let is_founding = self.is_in(at, "founds");
        self.add(start..end, parameter, names.join(","), NAME);
        // `backed by Sequoia in 2012`
        if self.table == Table::Startups && parameter.starts_with("investor") {
            self.topic = Some(Topic::Raising);
        }
        if is_founding {
            self.add(at..at + 1, "role", "founder", "role of a person");
        }
        Some(end - at)
    }

    /// Reads `like Stripe`, `similar to Stripe`, `Stripe competitors`.
    pub(super) fn like(&mut self, at: usize) -> Option<usize> {
        let before = self.find_phrase(at, "like").map_or(0, |phrase| phrase.words.len());
        if before == 0 && !self.mentions("behind like") && !self.mentions("like alone") {
            return None;
        }
        // `companies like mine`, `Airbnb-like startups`
        if before == 1 && (self.record_at(at + 1).is_some() || self.tokens.len() == at + 1) {
            return None;
        }
        if self.is_in(at + before, "pronouns") {
            return None;
        }
        let begun = || self.begun_name(at + before, &[self.table]).filter(|_| before > 0);
        let (slug, length) = self.name_at(at + before, &[self.table]).or_else(begun)?;
        // `Stripe competitors`, `does Stripe have any competitors`
        let mut named = at + before + length;
        named += usize::from(self.is_in(named, "have"));
        named += usize::from(named > at + before + length && self.is_at(named, &["any"]));
        let is_like = before == 0 && self.is_at(named, &["like"]) && self.record_at(named + 1).is_some();
        let after = if is_like || self.is_in(named, "behind like") { named + 1 - (at + before + length) } else { 0 };
        if before + after == 0 {
            return None;
        }
        self.read_as(at..at + before + length + after, "like", slug, "records like this one")
    }

    /// Reads a name of several words, unless the words have a longer meaning: `Founders Fund deals`.
    pub(super) fn long_name(&mut self, at: usize) -> Option<usize> {
        if self.table == Table::People
            && self.tokens[at].is_capitalized()
            && let Some((_, length)) = self.name_at(at, &[Table::People]).filter(|(_, length)| *length > 1)
        {
            let name = self.written(&(at..at + length));
            return self.add(at..at + length, "q", name, PERSON).then_some(length);
        }
        let (parameter, slug, length) = self.own_name(at)?;
        if self.table == Table::People && self.is_backer(at) {
            return None;
        }
        if let Some(words) = self.portfolio_of(at, length) {
            return self.leave(at..at + words);
        }
        let is_longer = |(longest, _): (usize, _)| length > longest;
        // In lower case it means a large record, but `the first round` is not a name.
        let is_plain = |token: &QuestionToken| {
            token.is_glue() || token.is_in("first or last") || records_meant(&token.word).is_some()
        };
        let tokens = &self.tokens[at..at + length];
        let is_name = tokens.iter().all(QuestionToken::is_capitalized) || !tokens.iter().all(is_plain);
        if length < 2 || !is_name || !self.longest_meaning(at).is_none_or(is_longer) {
            return None;
        }
        self.add_name(at..at + length, parameter, slug)
    }

    /// Reads a name without another reading: `Sequoia deals`, `stripe founders`.
    pub(super) fn short_name(&mut self, at: usize) -> Option<usize> {
        let (parameter, slug, length) = self.own_name(at)?;
        let is_place = self.follows(at, "in or near") && self.tokens[at].raw.len() <= 3;
        if is_place || (self.table == Table::People && self.is_backer(at)) {
            return self.leave(at..at + length);
        }
        if let Some(words) = self.portfolio_of(at, length) {
            return self.leave(at..at + words);
        }
        self.add_name(at..at + length, parameter, slug)
    }

    /// Number of words for the startups of a firm among people, which no parameter finds: `founders of Acme startups`.
    fn portfolio_of(&self, at: usize, length: usize) -> Option<usize> {
        let is_of_firm = self.table == Table::People && self.record_at(at + length) == Some(Table::Startups);
        let is_firm = || self.name_at(at, &[Table::Firms]).is_some_and(|(_, named)| named == length);
        (is_of_firm && is_firm()).then_some(length + 1)
    }

    /// Adds to the reasons of names which other records they may mean.
    pub(super) fn explain_names(&mut self) {
        for index in 0..self.parts.len() {
            let (range, part) = &self.parts[index];
            let of_names = range.clone().filter(|_| part.why == NAME).filter_map(|at| self.others_named(at, part));
            if let Some(others) = of_names.max_by_key(String::len) {
                Rc::make_mut(&mut self.parts[index].1).why = format!("{NAME}; it may also mean {others}");
            }
        }
    }

    /// Other records of the name that begins at a word of a part.
    fn others_named(&self, at: usize, part: &ReadPart) -> Option<String> {
        let tables: &[Table] = match part.parameter.trim_start_matches("not_") {
            "startup" => &[Table::Startups],
            "organization" => &[Table::Firms, Table::Startups],
            _ => &[Table::Firms],
        };
        let (slug, length) = self.name_at(at, tables).or_else(|| self.begun_name(at, tables))?;
        let row_of = |table: &Table| Some((*table, self.catalog.snapshot().find(*table, &slug)?));
        let (table, row) = tables.iter().find_map(row_of).filter(|_| part.value.split(',').any(|it| it == slug))?;
        self.catalog.other_records(table, &self.written(&(at..at + length)), row)
    }

    /// True if a name is an investor in the organizations of people, not an organization: `backed by Sequoia`.
    fn is_backer(&self, at: usize) -> bool {
        self.is_after(at, &["by"]) && self.follows(at - 1, "backs")
    }

    fn add_name(&mut self, range: Range<usize>, parameter: &'static str, slug: String) -> Option<usize> {
        let length = range.len();
        let leads = self.is_in(range.end, "leads")
            || (self.is_in(range.end, "before lead")
                && self.tokens.iter().skip(range.end).take(4).any(|token| token.is(&["lead"])));
        let parameter = if leads && self.resource.parameter("lead").is_some() { "lead" } else { parameter };
        self.add(range, parameter, slug, NAME).then_some(length)
    }

    /// Finds the record with a name that begins at a word, and its parameter: an investor or an organization.
    fn own_name(&self, at: usize) -> OwnName {
        // `Sequoia and Greylock`
        let is_joined = |(range, part): &PathPart| range.end + 1 == at && part.parameter == "investor";
        let continues = self.parts.last().is_some_and(is_joined) && self.follows(at, "joints");
        self.of_list[at].own_names[usize::from(continues)].get_or_init(|| self.find_own_name(at, continues)).clone()
    }

    fn find_own_name(&self, at: usize, continues: bool) -> OwnName {
        // `Uber's first round` is not one of the firm First Round.
        if at > 0 && self.tokens[at - 1].is_possessive && !self.tokens[at].is_capitalized() {
            return None;
        }
        // `whose first round was over 10m`
        let is_plain = |token: &QuestionToken| {
            !token.is_capitalized() && (token.is_in("first or last") || records_meant(&token.word).is_some())
        };
        if self.tokens.get(at..at + 2).is_some_and(|words| words.iter().all(is_plain)) {
            return None;
        }
        // `avg deal size`, although a firm has this alias.
        if self.is_measure(at) && !self.tokens[at].is_capitalized() || self.is_compared(at) {
            return None;
        }
        let (parameter, tables): (_, &[Table]) = match self.table {
            Table::Startups => ("investor", &[Table::Firms]),
            Table::Rounds if self.mentions("both") => ("investor", &[Table::Firms]),
            Table::Rounds => ("investor", &[Table::Firms, Table::Startups]),
            Table::People => ("organization", &[Table::Firms, Table::Startups]),
            _ => return None,
        };
        let is_expected = continues || self.names_record(at, 1);
        let found: Vec<_> = tables.iter().map(|table| (*table, self.name_at(at, &[*table]))).collect();
        let may_begin = is_expected && found.iter().all(|(_, found)| found.is_none());
        let named = found.into_iter().filter_map(|(table, found)| {
            let begun = || if may_begin { self.begun_name(at, &[table]) } else { None };
            let (slug, length) = found.or_else(begun)?;
            let size = self.catalog.size(table, self.catalog.snapshot().find(table, &slug)?);
            // A word in lower case is a name only of a well-known record.
            let tokens = &self.tokens[at..at + length];
            let is_word = |token: &QuestionToken| token.is_glue() || language::is_function_word(&token.word);
            if tokens.iter().all(|token| !token.is_capitalized() && is_word(token)) {
                return None;
            }
            let is_sure = tokens[length - 1].is_possessive
                || (tokens.iter().all(|token| token.is_capitalized() || token.is_glue())
                    && tokens.iter().any(QuestionToken::is_capitalized));
            let is_coined = || self.table != Table::Startups && self.is_coined(&self.tokens[at].word);
            let is_name = self.names_record(at, length) || (length == 1 && is_coined());
            let least = if is_name { MIN_NAMED_SIZE } else { MIN_PLAIN_SIZE };
            (is_sure || size >= least).then_some((table, slug, length, size))
        });
        let (table, slug, length, _) = named.max_by_key(|(_, _, length, size)| (*length, *size))?;
        let parameter = if self.table == Table::Rounds && table == Table::Startups { "startup" } else { parameter };
        Some((parameter, slug, length))
    }

    /// True if the words around a phrase mark it as a record: `what did zomato raise`, `solarcity rounds`.
    pub(super) fn names_record(&self, at: usize, length: usize) -> bool {
        self.tokens[at + length - 1].is_possessive
            || self.is_in(at + length, "of a record")
            || self.follows(at, "before a record")
    }

    /// True if a value of the release or a written name begins at a word.
    pub(super) fn names_value(&self, at: usize) -> bool {
        self.has_meaning(at, 1)
            || self.tokens[at].is_capitalized() && self.name_at(at, &[Table::Firms, Table::Startups]).is_some()
    }

    /// True if hardly any description has a word: `zomato`, but not `bridge`.
    pub(super) fn is_coined(&self, word: &str) -> bool {
        let index = self.catalog.text_index(Table::Startups);
        index.is_some_and(|index| index.descriptions.word_frequency(word) <= MAX_COINED)
    }

    /// Finds a record with a name that begins with several capitalized words, or a large one by a word that is
    /// capitalized or rare in descriptions: `Rocket Internet` is Rocket Internet AG, `Greylock` is Greylock Partners.
    pub(super) fn begun_name(&self, at: usize, tables: &[Table]) -> Option<(String, usize)> {
        let words = self.tokens.get(at..)?.iter().take(MAX_NAME_WORDS).take_while(|word| word.is_capitalized()).count();
        (2..=words).rev().find_map(|length| self.record_begun(at, length, tables, MIN_NAMED_SIZE)).or_else(|| {
            let token = self.tokens.get(at).filter(|token| token.word.len() >= MIN_BEGUN)?;
            if token.is_glue() || self.has_meaning(at, 1) {
                return None;
            }
            let is_written = token.is_capitalized() && self.table != Table::People;
            let is_coined = self.is_coined(&token.word);
            let least = if is_coined { Some(MIN_BEGUN_SIZE) } else { is_written.then_some(MIN_PLAIN_SIZE) };
            self.record_begun(at, 1, tables, least?)
        })
    }

    /// Finds the largest record of at least this size with a name that begins with this many words.
    fn record_begun(&self, at: usize, length: usize, tables: &[Table], least: u32) -> Option<(String, usize)> {
        let phrase = self.phrase_at(at, length)?;
        let snapshot = self.catalog.snapshot();
        let mut begun = Vec::new();
        for table in tables {
            for row in self.catalog.names_from(*table, &phrase) {
                let name = fold(snapshot.name(*table, *row));
                let Some(rest) = name.strip_prefix(&phrase) else { break };
                // The phrase must end with a whole word of the name.
                if rest.is_empty() || rest.starts_with(' ') {
                    begun.push((self.catalog.size(*table, *row), *table, *row));
                }
            }
        }
        let (_, table, row) = begun.into_iter().filter(|(size, ..)| *size >= least).max()?;
        Some((snapshot.slug(table, row).to_owned(), length))
    }

    /// Slug of the record with a name that begins at a word, and the number of words: the longest of these tables.
    pub(super) fn name_at(&self, at: usize, tables: &[Table]) -> NameAt {
        let named = |table: &Table| {
            self.memory.get(at)?.names[*table as usize].get_or_init(|| self.name_of_table(at, *table)).as_ref()
        };
        // The first of those with the most words.
        tables.iter().rev().filter_map(named).max_by_key(|(_, length)| *length).cloned()
    }

    fn name_of_table(&self, at: usize, table: Table) -> NameAt {
        // A sign alone neither begins nor ends a name.
        let is_word = |at: usize| self.tokens.get(at).is_some_and(|token| token.raw.contains(char::is_alphanumeric));
        if !is_word(at) {
            return None;
        }
        let longest = MAX_NAME_WORDS.min(self.tokens.len().saturating_sub(at));
        let lengths = (1..=longest).take_while(|length| self.phrase_at(at, *length).is_some());
        let texts: Vec<String> = lengths.map(|length| self.written(&(at..at + length))).collect();
        // A text that does not begin a name cannot begin one with more words either. Without a space it may be a slug.
        let begins = |text: &str| self.catalog.begins_name(table, &fold(text));
        let begins = |text: &&String| begins(text) || spelled_out(text).is_some_and(|spelled| begins(&spelled));
        let reach = texts.iter().take_while(begins).count();
        texts.iter().enumerate().rev().filter(|(index, _)| is_word(at + index)).find_map(|(index, text)| {
            let row = if index < reach || !text.contains(' ') { self.row_of_name(table, text)? } else { return None };
            Some((self.catalog.snapshot().slug(table, row).to_owned(), index + 1))
        })
    }

    /// The record of a name. A far larger one with a name that begins with it goes first: `Sequoia` is Sequoia Capital.
    pub(super) fn row_of_name(&self, table: Table, text: &str) -> Option<u32> {
        let size = |row: &u32| self.catalog.size(table, *row);
        let row = match self.catalog.match_name(table, text) {
            NameMatch::One(row) => row,
            NameMatch::Several(rows) => rows.into_iter().max_by_key(size)?,
            NameMatch::Nothing => return None,
        };
        Some(self.far_larger(table, text, row).unwrap_or(row))
    }

    /// A far larger record that the name of another may mean, too: Sequoia Capital, for Sequoia.
    pub(super) fn far_larger(&self, table: Table, text: &str, row: u32) -> Option<u32> {
        let size = |row: &u32| self.catalog.size(table, *row);
        let name = self.catalog.snapshot().name(table, row);
        let of_name = || self.catalog.namesakes(table, name, row).into_iter().max_by_key(size);
        let larger = self.catalog.namesakes(table, text, row).into_iter().max_by_key(size).or_else(of_name)?;
        (size(&larger) >= size(&row).max(1).saturating_mul(FAR_LARGER)).then_some(larger)
    }
}
