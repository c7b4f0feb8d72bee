//! Questions about one record: a name, next to words for what records have. They list that record only.

use std::ops::Range;

use crate::ask::language;
use crate::ask::lexicon::PhraseMeaning;
use crate::ask::names::{MAX_NAME_WORDS, MIN_BEGUN_SIZE, MIN_NAMED_SIZE};
use crate::ask::path::Path;
use crate::ask::question::records_meant;
use crate::ask::words::{phrases, phrases_from};
use crate::ask::{Interpretation, ReadPart};
use crate::{Catalog, NameMatch, ParseOptions};
use data::{Facet, Table};

/// Number of words on each side of an unknown word that may belong to the same name.
const MAX_AROUND: usize = 1;
/// Maximum number of records of the same name that are listed together.
const MAX_NAMESAKES: usize = 20;
/// Cost of each phrase that is unread next to the name of a record.
const UNREAD_NEXT_TO_NAME: u32 = 400;
const NONE: &str = "-";

impl Path<'_, '_> {
    /// Reads `how much has Acme raised`: all words but the name are those for fields, or mean nothing.
    pub(super) fn about_one_record(&self) -> Option<Interpretation> {
        self.resource.parameter("slug")?;
        let fields: Vec<Option<&str>> = (0..self.tokens.len()).map(|at| self.field_asked(at)).collect();
        let is_counting = |at: usize| self.find_phrase(at, "counting").is_some();
        let is_name = |at: &usize| fields[*at].is_none() && !self.tokens[*at].is_glue() && !is_counting(*at);
        if (0..self.tokens.len()).any(|at| self.is_in(at, "together")) {
            return None;
        }
        let first = (0..self.tokens.len()).find(is_name)?;
        let last = (0..self.tokens.len()).rfind(is_name)?;
        if last - first >= MAX_NAME_WORDS {
            return None;
        }
        let starts = first.saturating_sub(MAX_AROUND)..=first;
        let ranges =
            starts.flat_map(|from| (last + 1..=self.tokens.len().min(last + 1 + MAX_AROUND)).map(move |to| from..to));
        let mut ranges: Vec<Range<usize>> = ranges.filter(|range| range.len() < self.tokens.len()).collect();
        ranges.sort_by_key(|range| std::cmp::Reverse(range.len()));
        let (range, rows) = ranges.into_iter().find_map(|range| Some((range.clone(), self.records_named(&range)?)))?;
        if self.is_object(&range) || self.names_others(range.start) {
            return None;
        }
        let others = (0..self.tokens.len()).filter(|at| !range.contains(at));
        let asked: Vec<(usize, &str)> = others.filter_map(|at| Some((at, fields[at]?))).collect();
        if asked.is_empty() || (asked.len() == 1 && self.is_of_larger_investor(&range, rows[0])) {
            return None;
        }
        if self.is_about_startups(&range) {
            return None;
        }
        let unread = asked.iter().filter(|(_, field)| *field == NONE).map(|(at, _)| *at..*at + 1).collect();
        let field = self.answering(asked.iter().copied());
        Some(self.one_record(&range, &rows, field, unread))
    }

    /// Reads `Uber vs Lyft`, `Acme or Blink, which raised more?`: two names, next to words for what records have.
    pub(super) fn compared_records(&self) -> Option<Interpretation> {
        self.resource.parameter("slug")?;
        // `Acme and Blink rounds`, `founders of Acme and Blink`, `what Acme and Blink have in common`
        let is_list = |at: usize| {
            let is_word = !self.follows(at, "comparatives of records") && !self.tokens[at].is_capitalized();
            let is_plural = self.record_at(at).is_some() && self.tokens[at].word.ends_with('s');
            let meanings = self.lexicon.meanings(&self.tokens[at].word);
            let is_role = || meanings.iter().any(|meaning| matches!(meaning, PhraseMeaning::Role(_)));
            is_word && (is_plural || is_role()) || self.is_in(at, "together")
        };
        let count = self.tokens.len();
        if (0..count).any(is_list) {
            return None;
        }
        let is_joint =
            |at: &usize| self.is_in(*at, "joints") || self.is_in(*at, "versus") || self.is_in(*at, "against");
        let named = |range: Range<usize>| Some((range.clone(), self.records_named(&range)?));
        let pair = |joint: usize| {
            let (from, to) = (joint.saturating_sub(MAX_NAME_WORDS), joint + 1);
            // `did Acme raise more than Blink`
            let is_name = |at: &usize| {
                !self.tokens[*at].is_glue()
                    && self.field_asked(*at).is_none()
                    && !self.is_in(*at, "comparatives of records")
            };
            let end = if self.is_at(joint, &["than"]) { (from..joint).rfind(is_name)? + 1 } else { joint };
            let left = (from..end).find_map(|from| named(from..end))?;
            let from = (to..count).find(|at| !self.tokens[*at].is_glue())?;
            let right = (from + 1..=count.min(from + MAX_NAME_WORDS)).rev().find_map(|to| named(from..to))?;
            Some((left, right))
        };
        let ((left, one), (right, other)) = (1..count.saturating_sub(1)).filter(is_joint).find_map(pair)?;
        let slug = |rows: &[u32]| self.catalog.snapshot().slug(self.table, rows[0]);
        let is_compared = |at: usize| self.is_in(at, "versus") || self.is_in(at, "comparing");
        let others = || (0..count).filter(|at| !left.contains(at) && !right.contains(at));
        // `Music and Games`
        let plain = [&left, &right].into_iter().filter(|range| self.has_meaning(range.start, range.len())).count();
        if slug(&one) == slug(&other)
            || plain > usize::from(others().any(is_compared))
            || self.is_object(&left)
            || self.names_others(left.start)
            || others().any(|at| self.has_meaning(at, 1) && self.field_asked(at).is_none())
        {
            return None;
        }
        let is_known = |at: usize| self.tokens[at].is_glue() || self.is_structural(at) || is_compared(at);
        let unread: Vec<_> =
            others().filter(|at| !is_known(*at) && self.field_asked(*at).is_none_or(|field| field == NONE)).collect();
        let why = format!("names of {}", self.table.plural());
        let value = format!("{},{}", slug(&one), slug(&other));
        let names = ReadPart { text: self.written(&(left.start..right.end)), parameter: "slug".to_owned(), value, why };
        // `who raised more rounds`
        let more = others().find(|at| self.is_in(*at, "comparatives of records"));
        let behind = more.and_then(|more| self.field_asked(others().find(|at| *at == more + 1)?));
        let asked = others().filter(|_| more.is_some()).filter_map(|at| Some((at, self.field_asked(at)?)));
        let field = behind.filter(|field| *field != NONE).or_else(|| self.answering(asked));
        let sort = field.map(|field| format!("-{field}")).filter(|sort| {
            let options = ParseOptions { strict: true, review_statuses: &[], other_names: &[] };
            self.catalog.accepts(self.resource, &[("sort".to_owned(), sort.clone())], options)
        });
        let part = |value: String| {
            let (parameter, why) = ("sort".to_owned(), "order".to_owned());
            ReadPart { text: self.text.trim().to_owned(), parameter, value, why }
        };
        let cost = UNREAD_NEXT_TO_NAME * unread.len() as u32;
        let unread = unread.iter().map(|at| self.written(&(*at..at + 1))).collect();
        let parts = [names].into_iter().chain(sort.map(part)).collect();
        Some(Interpretation { parts, unread, cost, ..Interpretation::default() })
    }

    /// The record that the unread words name, if the question lists no others: `flipkart yearly profit in Asia`.
    pub(super) fn unread_record(&self) -> Option<Interpretation> {
        self.resource.parameter("slug")?;
        if (0..self.tokens.len()).any(|at| self.is_list_word(at) || self.is_in(at, "together")) {
            return None;
        }
        let is_unread = |at: usize| self.unread.iter().any(|range| range.contains(&at)) && !self.is_structural(at);
        let named = (0..self.tokens.len()).filter(|at| is_unread(*at)).filter_map(|at| {
            let (_, length) = self.name_at(at, &[self.table])?;
            (at..at + length).all(is_unread).then_some(at..at + length)
        });
        let is_subject = |range: &Range<usize>| !self.is_object(range) && !self.names_others(range.start);
        let mut named: Vec<Range<usize>> = named.filter(is_subject).collect();
        named.sort_by_key(|range| std::cmp::Reverse(range.len()));
        let (range, rows) = named.into_iter().find_map(|range| Some((range.clone(), self.records_named(&range)?)))?;
        if self.is_about_startups(&range) {
            return None;
        }
        let is_other = |at: &usize| {
            !range.contains(at)
                && !self.tokens[*at].is_glue()
                && self.field_asked(*at).is_none_or(|field| field == NONE)
        };
        let mut unread: Vec<Range<usize>> = Vec::new();
        for at in (0..self.tokens.len()).filter(is_other) {
            match unread.last_mut().filter(|last| last.end == at) {
                Some(last) => last.end = at + 1,
                None => unread.push(at..at + 1),
            }
        }
        let others = (0..self.tokens.len()).filter(|at| !range.contains(at));
        let field = self.answering(others.filter_map(|at| Some((at, self.field_asked(at)?))));
        Some(self.one_record(&range, &rows, field, unread))
    }

    /// The field that answers, of those that words ask for: `when` and the like only if no other does.
    fn answering<'f>(&self, asked: impl Iterator<Item = (usize, &'f str)>) -> Option<&'f str> {
        let known: Vec<(usize, &str)> = asked.filter(|(_, field)| *field != NONE).collect();
        let is_sure = |(at, _): &&(usize, &str)| !self.is_in(*at, "vague fields");
        known.iter().find(is_sure).or(known.first()).map(|(_, field)| *field)
    }

    /// True if a name is that of another record than those listed: `backed by Acme`, `portfolio of Acme`.
    fn is_object(&self, range: &Range<usize>) -> bool {
        let mut relations = phrases("relations").iter();
        let is_here = |words: &[&str]| range.start >= words.len() && self.starts(range.start - words.len(), words);
        self.is_after(range.start, &["by"])
            || relations.any(|relation| self.resource.parameter(relation.meaning).is_some() && is_here(&relation.words))
    }

    /// True if the startups of a firm answer: `Accel's portfolio`.
    fn is_about_startups(&self, range: &Range<usize>) -> bool {
        let mut others = (0..self.tokens.len()).filter(|at| !range.contains(at));
        self.table == Table::Firms && others.any(|at| self.is_at(at, &["portfolio"])) && !self.asks_for_count()
    }

    /// True if a word for other records is in front of a name: `rounds that Acme did not lead`, but not `investors of Acme`.
    fn names_others(&self, at: usize) -> bool {
        let is_list = |before: usize| {
            let is_plural = self.record_at(before).is_some() && self.tokens[before].word.ends_with('s');
            is_plural && self.field_asked(before).is_none()
        };
        (0..at).any(is_list)
    }

    /// The field of the listed records that a word asks for; `-` for one that no record has.
    fn field_asked(&self, at: usize) -> Option<&'static str> {
        if self.is_measure(at) {
            return Some(NONE);
        }
        // `did Acme Capital invest in Blink`: `capital` is a word of a name.
        if at > 0 && self.tokens[at].is_capitalized() && self.is_name_of_firm(at - 1, 2) {
            return None;
        }
        let word = &self.tokens[at].word;
        let mut fields = phrases_from("about a record", word).filter(|field| field.text == word);
        let field = fields.find_map(|field| field.meaning.strip_prefix(self.table.name())?.strip_prefix(' '))?;
        // `who founded Acme`
        Some(if field == "founded_year" && self.is_at(0, &["who"]) { "people" } else { field })
    }

    /// True for a word in the plural for the kind of records that are listed.
    fn is_list_word(&self, at: usize) -> bool {
        let word = self.tokens[at].word.as_str();
        records_meant(word) == Some(self.table) && (word.ends_with('s') || self.table == Table::Rounds)
    }

    /// The rows with the name that some words are, the largest first; `None` if they may as well be plain words.
    fn records_named(&self, range: &Range<usize>) -> Option<Vec<u32>> {
        let tokens = &self.tokens[range.clone()];
        if tokens[..tokens.len() - 1].iter().any(|token| token.ends_clause)
            || tokens.iter().all(|token| token.is_glue())
            || matches!(tokens, [token] if !token.is_capitalized() && language::is_function_word(&token.word))
        {
            return None;
        }
        let text = self.written(range);
        let size = |row: &u32| self.catalog.size(self.table, *row);
        let mut rows = match self.catalog.match_name(self.table, &text) {
            NameMatch::One(row) => vec![row],
            NameMatch::Several(rows) => rows,
            NameMatch::Nothing => vec![self.row_of_name(self.table, &text)?],
        };
        rows.sort_by_key(|row| std::cmp::Reverse(size(row)));
        let largest = size(&rows[0]);
        let meanings = self.phrase_at(range.start, range.len()).map(|phrase| self.lexicon.meanings(&phrase));
        let means_more = meanings.is_some_and(|meanings| {
            let is_plain =
                |meaning: &PhraseMeaning| !matches!(meaning, PhraseMeaning::Sector(slug) if self.is_rare_sector(slug));
            meanings.iter().any(is_plain)
        });
        let is_first =
            range.start == 0 && range.len() == 1 && self.text.chars().filter(|char| char.is_uppercase()).count() == 1;
        let is_written = tokens.iter().all(|token| token.is_capitalized() || token.is_glue()) && !is_first;
        let is_rare = || tokens.iter().any(|token| self.is_coined(&token.word));
        let is_place = meanings
            .is_some_and(|meanings| meanings.iter().any(|meaning| !matches!(meaning, PhraseMeaning::Sector(_))));
        let is_sure = match (means_more, is_written) {
            (true, true) => !is_place && largest >= MIN_NAMED_SIZE,
            (true, false) => !is_place && largest >= MIN_BEGUN_SIZE,
            (false, true) => true,
            // In another language it may be an ordinary word.
            (false, false) => !self.is_foreign && (largest >= MIN_NAMED_SIZE || is_rare()),
        };
        if let [row] = rows[..]
            && is_sure
        {
            rows.splice(0..0, self.far_larger(self.table, &text, row));
        }
        is_sure.then_some(rows)
    }

    /// True if a name belongs to a far larger firm, among startups: `Sequoia funding`. With a verb it is the startup.
    fn is_of_larger_investor(&self, range: &Range<usize>, row: u32) -> bool {
        let is_noun = range.start == 0 && self.table == Table::Startups;
        let firm = is_noun.then(|| self.row_of_name(Table::Firms, &self.written(range))).flatten();
        firm.is_some_and(|firm| self.catalog.size(Table::Firms, firm) >= 10 * self.catalog.size(self.table, row).max(1))
    }

    fn one_record(
        &self,
        range: &Range<usize>,
        rows: &[u32],
        field: Option<&str>,
        unread: Vec<Range<usize>>,
    ) -> Interpretation {
        let text = self.written(range);
        let noun = self.table.noun();
        let index_of = |field: &str| self.table.fields().iter().position(|known| known.name == field);
        let is_known = |index: usize| self.catalog.snapshot().record(self.table, rows[0]).is_known(index);
        let answer = field.map_or_else(String::new, |field| match index_of(field) {
            Some(index) if rows.len() == 1 && !is_known(index) => format!("; `{field}` would answer, but is not known"),
            Some(index) if !self.table.fields()[index].is_detail => format!("; `{field}` answers"),
            _ => format!("; `{field}` of the record itself, which lists leave out, answers"),
        });
        let others = if let [row] = rows { self.catalog.other_records(self.table, &text, *row) } else { None };
        let others = others.map_or_else(String::new, |others| format!("; it may also mean {others}"));
        let fact = if rows.len() == 1 { self.catalog.fact(self.table, rows[0]) } else { None };
        let fact = fact.map_or_else(String::new, |fact| format!(": {fact}"));
        let slug = |row: &u32| self.catalog.snapshot().slug(self.table, *row);
        let (parameter, value) = match rows.len() {
            1 => ("slug", slug(&rows[0]).to_owned()),
            2..=MAX_NAMESAKES if !self.resource.is_searchable() => {
                ("slug", rows.iter().map(slug).collect::<Vec<_>>().join(","))
            }
            // The name as it is written is that of the smallest: `Sequoia`, for Sequoia Capital.
            2..=MAX_NAMESAKES => ("q", self.catalog.snapshot().name(self.table, rows[rows.len() - 1]).to_owned()),
            _ => ("q", text.clone()),
        };
        let why = format!("name of a {noun}{answer}{fact}{others}");
        let part = ReadPart { text, parameter: parameter.to_owned(), value, why };
        let unread: Vec<String> = unread.iter().map(|range| self.written(range)).collect();
        let cost = UNREAD_NEXT_TO_NAME * unread.len() as u32;
        Interpretation { parts: vec![part], unread, cost, ..Interpretation::default() }
    }
}

impl Catalog {
    /// What the release knows of a startup's rounds: `raised $2,400,000 in 14 rounds; investors of 5 of them known`.
    fn fact(&self, table: Table, row: u32) -> Option<String> {
        if table != Table::Startups || self.size(table, row) == 0 {
            return None;
        }
        let snapshot = self.snapshot();
        let rounds = snapshot.facet_rows(Table::Rounds, Facet::Startup, row);
        let investors = snapshot.row_values(Table::Rounds, Facet::Investor);
        let known = rounds.iter().filter(|round| !investors.of(*round).is_empty()).count();
        let total = self.startup_total(row);
        let limits = if total.is_exact() { String::new() } else { format!("; {total}") };
        Some(format!("{}{limits}; investors of {known} of them known", total.raised()))
    }
}
