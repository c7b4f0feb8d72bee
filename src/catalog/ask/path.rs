//! A reading of the first words of a question: what they set, and what is unread.

use std::ops::{Deref, Range};
use std::rc::Rc;

use crate::ParseOptions;
use crate::ask::lattice::{Costs, cheapest};
use crate::ask::names::{MIN_PLAIN_SIZE, NAME};
use crate::ask::question::{Question, Topic, records_meant};
use crate::ask::sector::largest_sector;
use crate::ask::token::QuestionToken;
use crate::ask::words::meaning_of;
use crate::ask::{GROUP_BY, Interpretation, ReadPart};
use data::Table;

/// Maximum number of words between a value of an enumeration and the joint before its last one: `France, Spain or Italy`.
const MAX_LISTED: usize = 6;

/// A word such as `not`. It governs the next value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sign {
    pub(super) at: usize,
    /// True if a word that no reader knows follows, so that its value is not known either.
    pub(super) is_unclear: bool,
}

/// A part with the range of its words.
pub(super) type PathPart = (Range<usize>, Rc<ReadPart>);

pub(super) struct Path<'q, 'a> {
    pub(super) question: &'q Question<'a>,
    pub(super) parts: Vec<PathPart>,
    pub(super) unread: Vec<Range<usize>>,
    /// The unread words that no reader knows.
    pub(super) content: Vec<Range<usize>>,
    /// Words for kinds of records in the singular.
    pub(super) kinds: Vec<Range<usize>>,
    pub(super) topic: Option<Topic>,
    pub(super) sign: Option<Sign>,
    /// Number of content words that nothing covers.
    pub(super) uncovered: u32,
    /// Number of words that a reader knows as no condition.
    pub(super) left: u32,
    /// Number of values that the list does not take.
    pub(super) refused: u32,
    pub(super) cost: u32,
}

impl<'a> Deref for Path<'_, 'a> {
    type Target = Question<'a>;

    fn deref(&self) -> &Question<'a> {
        self.question
    }
}

impl Clone for Path<'_, '_> {
    fn clone(&self) -> Self {
        let mut path = Path::new(self.question);
        path.clone_from(self);
        path
    }

    /// Keeps the memory of the lists.
    fn clone_from(&mut self, other: &Self) {
        self.parts.clone_from(&other.parts);
        self.unread.clone_from(&other.unread);
        self.content.clone_from(&other.content);
        self.kinds.clone_from(&other.kinds);
        (self.topic, self.sign) = (other.topic, other.sign);
        (self.uncovered, self.left) = (other.uncovered, other.left);
        (self.refused, self.cost) = (other.refused, other.cost);
    }
}

impl<'q, 'a> Path<'q, 'a> {
    pub(super) fn new(question: &'q Question<'a>) -> Self {
        Path {
            question,
            parts: Vec::new(),
            unread: Vec::new(),
            content: Vec::new(),
            kinds: Vec::new(),
            topic: None,
            sign: None,
            uncovered: 0,
            left: 0,
            refused: 0,
            cost: 0,
        }
    }

    /// True after a word such as `not`, until the next value.
    pub(super) fn is_negated(&self) -> bool {
        self.sign.is_some()
    }

    /// Leaves the next value unread: what excludes it is not understood.
    pub(super) fn deny(&mut self, at: usize) {
        self.sign = Some(Sign { at, is_unclear: true });
    }

    pub(super) fn negate(&mut self, at: usize) {
        self.sign = Some(Sign { at, is_unclear: false });
    }

    /// The state that readers of later words depend on.
    pub(super) fn outlook(&self) -> (Option<Sign>, Option<Topic>, Option<(usize, &str)>) {
        let last = self.parts.last().map(|(range, part)| (range.end, part.parameter.as_str()));
        (self.sign, self.topic, last)
    }

    /// Drops a sign without a value at the end of its clause: `amount not given, series B`. True if there was one.
    pub(super) fn end_clause(&mut self, end: usize) -> bool {
        let is_end = end == self.tokens.len() || self.tokens[end - 1].ends_clause;
        let Some(sign) = self.sign.take_if(|_| is_end) else { return false };
        self.report(sign);
        true
    }

    /// Leaves a sign unread, unless a phrase with it is.
    fn report(&mut self, sign: Sign) {
        if !self.unread.iter().any(|unread| unread.contains(&sign.at)) {
            self.unread.push(sign.at..sign.at + 1);
        }
    }

    /// Reads a question in words; those beyond [`MAX_WORDS`](crate::ask::question::MAX_WORDS) are unread.
    pub(super) fn read(question: Question<'a>, costs: &Costs) -> Interpretation {
        let rest = question.rest.map(str::to_owned);
        let mut interpretation = Self::read_words(question, costs);
        interpretation.unread.extend(rest);
        interpretation
    }

    fn read_words(question: Question<'a>, costs: &Costs) -> Interpretation {
        let path = Path::new(&question);
        if let Some(interpretation) = path.compared_records().or_else(|| path.about_one_record()) {
            return interpretation;
        }
        let path = cheapest(&question, costs);
        // A word without a meaning may be misspelled.
        let words = path.content.iter().filter_map(|range| Some((range.start, question.misspelt(range.start)?)));
        let words: Vec<(usize, String)> = words.collect();
        if words.is_empty() {
            return path.finish();
        }
        drop(path);
        let question = question.corrected(words);
        cheapest(&question, costs).finish()
    }

    /// Adds a value if the list has the parameter and, for a parameter with a single value, none was read yet.
    pub(super) fn add(&mut self, range: Range<usize>, parameter: &str, value: impl Into<String>, why: &str) -> bool {
        let value = value.into();
        if self.sign.is_some_and(|sign| sign.is_unclear) {
            self.leave(range);
            return false;
        }
        let continues = self.continues_negation(&range, parameter);
        let sign = self.sign.take();
        let prefix = if sign.is_some() || continues { "not_" } else { "" };
        let parameter = format!("{prefix}{parameter}");
        let is_known = parameter == "limit" || self.resource.parameter(&parameter).is_some();
        let is_list = self.resource.parameter(&parameter).is_some_and(|known| known.facet().is_some())
            || parameter.ends_with("organization");
        let is_taken = !is_list && self.parts.iter().any(|(_, part)| part.parameter == parameter);
        // A number may be too large, a range empty.
        let is_valid = || self.are_valid(&self.parts, Some((parameter.clone(), value.clone())));
        if !is_known || is_taken || !is_valid() {
            sign.into_iter().for_each(|sign| self.report(sign));
            self.unread.push(range);
            self.refused += 1;
            return false;
        }
        let text = self.written(&range);
        let why = match self.misspelling(&range) {
            Some((written, word)) => format!("{why}; `{written}` was taken for `{word}`"),
            None => why.to_owned(),
        };
        self.parts.push((range, Rc::new(ReadPart { text, parameter, value, why })));
        true
    }

    /// Adds a value as [`Path::add`] does. Returns the number of words.
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
    pub(super) fn read_ends(
        &mut self,
        range: Range<usize>,
        ends: [(&str, Option<String>); 2],
        why: &str,
    ) -> Option<usize> {
        let known = ends.into_iter().filter(|(parameter, _)| !parameter.is_empty());
        let known = known.filter_map(|(parameter, value)| Some((parameter, value?)));
        let read = known.filter(|(parameter, value)| self.add(range.clone(), parameter, value.as_str(), why));
        (read.count() > 0).then_some(range.len())
    }

    /// Leaves words unread that mean something other than a condition, with the sign that governs them. Returns their
    /// number.
    pub(super) fn leave(&mut self, range: Range<usize>) -> Option<usize> {
        let length = range.len();
        self.left += length as u32;
        if let Some(sign) = self.sign.take().filter(|sign| !range.contains(&sign.at)) {
            self.report(sign);
        }
        self.unread.push(range);
        Some(length)
    }

    /// True if the list accepts the values of some parts, and one more, together.
    fn are_valid(&self, parts: &[PathPart], more: Option<(String, String)>) -> bool {
        let options = ParseOptions { strict: true, review_statuses: &[], other_names: &["limit"] };
        let read = parts.iter().map(|(_, part)| part).filter(|part| part.parameter != GROUP_BY);
        let read = read.map(|part| (part.parameter.clone(), part.value.clone()));
        let values: Vec<(String, String)> = read.chain(more).collect();
        self.catalog.accepts(self.resource, &values, options)
    }

    /// True if only `and`, `or` or a comma separates an excluded value from another: `not in Germany or France`. A comma
    /// alone, as in `not mobile, gaming startups`, ends the exclusion in front of a word for the listed records.
    fn continues_negation(&self, range: &Range<usize>, parameter: &str) -> bool {
        let at = range.start;
        let Some((last, _)) =
            self.parts.last().filter(|(_, part)| part.parameter.strip_prefix("not_") == Some(parameter))
        else {
            return false;
        };
        let is_joint = |at: usize| self.is_in(at, "joints of exclusions");
        let is_enumerated = || (range.end..self.tokens.len()).take(MAX_LISTED).any(is_joint);
        let is_list = || !self.follows(at, "in or from") && self.record_at(range.end).is_none() || is_enumerated();
        let is_comma = last.end > 0 && self.text[self.tokens[last.end - 1].place.end..].starts_with(',');
        (last.end..at).all(|between| self.is_in(between, "between exclusions"))
            && ((last.end..at).any(is_joint) || is_comma && is_list())
    }

    pub(super) fn keep_valid(&mut self, parts: Vec<PathPart>) {
        if self.are_valid(&parts, None) {
            self.parts = parts;
        }
    }

    /// Requires both values after `both`, both investors joined by `and`, and both roles in the singular.
    fn require_both(&mut self) {
        let both = self.tokens.iter().position(|token| token.is(&["both"]));
        let have = |pair: &[PathPart], name: &str| pair.iter().all(|(_, part)| part.parameter == name);
        let by_and = |pair: &[PathPart]| pair[1].0.start == pair[0].0.end + 1 && self.is_at(pair[0].0.end, &["and"]);
        let joins = |pair: &[PathPart]| {
            let is_plural = pair.iter().any(|(_, part)| part.text.ends_with('s'));
            by_and(pair) && (have(pair, "investor") || (have(pair, "role") && !is_plural))
        };
        // `founders who are also CEO`
        let also = |pair: &[PathPart]| {
            have(pair, "role") && (pair[0].0.end..pair[1].0.start).any(|at| self.is_at(at, &["also"]))
        };
        // `angels and accelerators both`
        let is_list = |part: &ReadPart| part.parameter == "stage" && part.value.contains(',');
        let of_stages = self.parts.iter().position(|(range, part)| both == Some(range.end) && is_list(part));
        if let Some(stages) = of_stages.filter(|_| self.resource.parameter("stage_all").is_some()) {
            return self.require(&[stages]);
        }
        let before_both = |pair: &[PathPart]| both == Some(pair[1].0.end) && by_and(pair);
        let joined = self.parts.windows(2).position(|pair| joins(pair) || also(pair) || before_both(pair));
        let after = |both: usize| self.parts.iter().position(|(range, _)| range.start > both);
        let Some(first) = joined.or_else(|| both.and_then(after)) else { return };
        let all = format!("{}_all", self.parts[first].1.parameter);
        let pair = self.parts.get(first..first + 2).filter(|pair| pair[0].1.parameter == pair[1].1.parameter);
        if pair.is_some() && self.resource.parameter(&all).is_some() {
            self.require(&[first, first + 1]);
        }
    }

    /// Requires all investors of a question that no `or` separates: `backed by Acme and later also by Accel`. A list with
    /// commas has any of them.
    fn require_investors(&mut self) {
        let is_one = |(_, part): &PathPart| part.parameter == "investor" && !part.value.contains(',');
        let places: Vec<usize> = (0..self.parts.len()).filter(|place| is_one(&self.parts[*place])).collect();
        let separates = |pair: &[usize]| {
            let (from, to) = (self.parts[pair[0]].0.end, self.parts[pair[1]].0.start);
            let is_listed = from == to && self.tokens[from - 1].ends_clause;
            is_listed || (from..to).any(|at| self.is_in(at, "any of"))
        };
        let is_any = self.tokens.iter().any(|token| token.is_in("any of"));
        if places.len() > 1 && !is_any && !places.windows(2).any(separates) {
            self.require(&places);
        }
    }

    /// Leaves `both` unread if no parameter requires two values: `who backed both Dropbox and Airbnb`.
    fn report_both(&mut self) {
        let both = self.tokens.iter().position(|token| token.is(&["both"]));
        let is_required = self.parts.iter().any(|(_, part)| part.parameter.ends_with("_all"));
        self.unread.extend(both.filter(|_| !is_required && !self.parts.is_empty()).map(|at| at..at + 1));
    }

    /// Makes one round of a firm, a stage and a period that one clause joins: `a series A from Accel in 2012`, `companies
    /// that Accel backed in 2012`.
    fn join_rounds(&mut self) {
        const OF_ROUND: [&str; 5] = ["investor", "raised_stage", "raised_since", "raised_until", "stage"];
        let mut parts = self.parts.clone();
        let of_round = (0..parts.len()).filter(|index| OF_ROUND.contains(&parts[*index].1.parameter.as_str()));
        let of_round: Vec<usize> = of_round.collect();
        let joins = |one: &usize, other: &usize| self.is_same_round(&self.parts[*one], &self.parts[*other]);
        for places in of_round.chunk_by(joins) {
            let firm = places.iter().find(|place| parts[**place].1.parameter == "investor");
            let (Some(_), 2..) = (firm, places.len()) else { continue };
            for place in places {
                let part = Rc::make_mut(&mut parts[*place].1);
                let parameter = match part.parameter.as_str() {
                    "investor" => "raised_from",
                    "stage" => "raised_stage",
                    parameter => parameter,
                };
                part.parameter = parameter.to_owned();
            }
        }
        self.keep_valid(parts);
    }

    /// True if nothing begins another clause between two parts, and no verb follows the first, except that of a firm.
    fn is_same_round(&self, (one, part): &PathPart, (other, next): &PathPart) -> bool {
        let between = one.end..other.start;
        let is_verb = |at: &usize| {
            meaning_of("topics", &self.tokens[*at].word).is_some() && self.record_at(*at) != Some(Table::Rounds)
        };
        let verbs: Vec<usize> = between.clone().filter(is_verb).collect();
        let is_verb_of_firm = matches!(verbs[..], [verb] if part.parameter == "investor" && verb < one.end + 2);
        let ends = |at: usize| {
            self.is_in(at, "between clauses")
                || matches!(self.record_at(at), Some(table) if table != Table::Rounds)
                    && meaning_of("topics", &self.tokens[at].word).is_none()
        };
        let is_stage = |part: &ReadPart| part.parameter == "stage";
        let is_stage_of_firm = || between.clone().any(|at| self.is_in(at, "before others"));
        one == other
            || !between.clone().any(ends)
                && !(one.end - 1..other.start).any(|at| self.tokens[at].ends_clause)
                && (verbs.is_empty() || is_verb_of_firm)
                && (!is_stage(part) || is_stage_of_firm())
                && (!is_stage(next) || part.parameter != "investor" || is_verb_of_firm)
    }

    /// Requires these parts, unless that contradicts another. Of sectors that mean the same, only the largest is.
    pub(super) fn require(&mut self, places: &[usize]) {
        let mut parts = self.parts.clone();
        for place in places {
            let part = Rc::make_mut(&mut parts[*place].1);
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

    /// A sentence on an amount in another currency, by which the list is not limited.
    fn note_on_currency(&self) -> Option<String> {
        let is_foreign = |at: usize| self.amount_at(at).is_some_and(|(found, _)| found.is_foreign);
        let unread = self.unread.iter().find(|range| (*range).clone().any(is_foreign))?;
        let written = self.written(unread);
        Some(format!("amounts are in US dollars; `{written}` is in another currency and does not limit the list"))
    }

    /// Returns the parts in the order of the text; a whole name takes precedence over words of it.
    pub(super) fn finish(mut self) -> Interpretation {
        let is_name = !self.catalog.rows_named(self.table, self.text).is_empty();
        if is_name && (!self.unread.is_empty() || self.is_proper_name()) && self.resource.is_searchable() {
            let text = self.text.trim().to_owned();
            let (parameter, why) = ("q".to_owned(), NAME.to_owned());
            let part = ReadPart { text: text.clone(), parameter, value: text, why };
            return Interpretation { parts: vec![part], ..Interpretation::default() };
        }
        if let Some(interpretation) = self.unread_record() {
            return interpretation;
        }
        self.parts.sort_by_key(|(range, _)| range.start);
        self.tell_namesakes_apart();
        self.explain_names();
        self.leave_qualifiers();
        self.join_cities();
        self.require_investors();
        self.join_rounds();
        self.require_both();
        self.report_both();
        self.require_all_sectors();
        self.unread.sort_by_key(|range| range.start);
        self.unread.dedup();
        let unread = self.unread.iter().map(|range| self.written(range)).collect();
        let parts = std::mem::take(&mut self.parts).into_iter().map(|(_, part)| Rc::unwrap_or_clone(part)).collect();
        let notes = self.note_on_currency().into_iter().collect();
        let mut interpretation = Interpretation { parts, unread, notes, cost: self.cost, ..Interpretation::default() };
        self.rank_by_content(&mut interpretation);
        interpretation
    }
}
