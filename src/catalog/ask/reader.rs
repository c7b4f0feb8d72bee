//! Readers of values, dates, amounts, verbs and signs.

use std::ops::Range;

use crate::ask::amount::{QuestionAmount, around};
use crate::ask::language;
use crate::ask::lexicon::PhraseMeaning;
use crate::ask::path::{Path, PathPart, Sign};
use crate::ask::period::Period;
use crate::ask::question::{Topic, records_meant};
use crate::ask::words::{meaning_of, phrases, phrases_from};
use data::import::website;
use data::vocabulary::Vocabulary;
use data::{Date, Facet, FirmKind, Table};

const RAISED: &str = "stage of a round";

impl Path<'_, '_> {
    /// Reads a word for the kind of records: `startups`, `VCs`, `deals`.
    pub(super) fn record_kind(&mut self, at: usize) -> Option<usize> {
        let (table, length) = self.records_at(at).filter(|_| !self.is_verb_of_investor(at))?;
        // `company cars`
        let is_own = table == self.table && self.is_at(at, &[table.noun()]);
        if self.is_phrase && !is_own && at + length < self.tokens.len() && !self.tokens[at + length - 1].ends_clause {
            return None;
        }
        // A longer phrase of the release takes precedence: `angel investors`, `corporate venture`.
        if self.longest_meaning(at).is_some_and(|(longest, _)| longest > length) {
            return None;
        }
        if self.sign.is_some_and(|sign| !sign.is_unclear)
            && let Some(length) = self.excluded_records(table, at..at + length)
        {
            return Some(length);
        }
        // People who invest, but not the people `of investors`.
        let is_of = self.follows(at, "of investors");
        if self.table == Table::People && self.is_in(at, "investor") && !is_of {
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
        // `how much did startups raise in 2014`
        if (self.table, table) == (Table::Startups, Table::Rounds) {
            self.topic = Some(Topic::Raising);
        }
        Some(length)
    }

    /// Reads a word for records that a sign excludes: `startups without rounds`, `investors that are not VCs`. The values
    /// behind it are not excluded, unless they are those of the listed records: `apart from startups in Berlin`.
    fn excluded_records(&mut self, table: Table, range: Range<usize>) -> Option<usize> {
        // `startups that are not funds`
        let is_predicate = (range.start.saturating_sub(2)..range.start).any(|at| self.is_in(at, "forms of be"));
        match (self.table, table) {
            (Table::Firms, Table::Firms) if range.clone().any(|at| self.is_in(at, "venture capital")) => {
                self.read_as(range, "kind", FirmKind::Vc.name(), "kind of firm `vc`")
            }
            // `did not raise more than $5m`
            (Table::Startups, Table::Rounds) if self.is_in(range.start, "raised") => None,
            (Table::Startups, Table::Rounds) => self.no_rounds(range),
            _ if !is_predicate && (table == self.table || (self.table, table) == (Table::Rounds, Table::Startups)) => {
                None
            }
            _ => {
                let (at, end) = (range.start, range.end);
                let length = self.leave(range);
                if (self.table, table) == (Table::Firms, Table::Startups) || self.is_in(end, "before others") {
                    self.deny(at);
                }
                length
            }
        }
    }

    /// Reads `no rounds`: none is known. A date may follow: `no rounds since 2012`.
    pub(super) fn no_rounds(&mut self, range: Range<usize>) -> Option<usize> {
        let end = range.end + usize::from(self.is_in(range.end, "before known fields"));
        let is_condition = |at: usize| {
            self.is_in(at, "before others")
                || self.amount_at(at).is_some()
                || (1..3).any(|length| self.is_stage(at, at + length))
        };
        if self.is_date(end) {
            self.topic = Some(Topic::Raising);
        } else if is_condition(end) {
            self.leave(range.clone());
            self.deny(range.start);
        } else {
            self.sign = None;
            self.add(range.start..end, "max_rounds", "0", "no known round");
        }
        Some(end - range.start)
    }

    /// Reads `angel investors`, `accelerators` among firms.
    pub(super) fn record_kind_of_firms(&mut self, at: usize) -> Option<usize> {
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
        let is_one = self.follows(at, "some")
            && (self.tokens.len() == at + 1 || self.tokens[at].ends_clause || self.is_in(at + 1, "after an investor"));
        if self.table == Table::Rounds && is_plain && !is_firm && !is_one && length == 1 {
            return None;
        }
        self.read_as(at..at + length + usize::from(is_firm), "kind", kind, &format!("kind of firm `{kind}`"))
    }

    /// Reads a value of the release: a stage, a place, a sector, a state, a role.
    pub(super) fn phrase(&mut self, at: usize) -> Option<usize> {
        let (mut length, mut meanings) = self.longest_meaning(at)?;
        // `crowdfunding platforms` are firms, and `crowdfunding` is a sector.
        let is_kind = meanings.iter().all(|meaning| matches!(meaning, PhraseMeaning::Kind(_)));
        if is_kind && self.table == Table::Startups && self.is_in(at + length - 1, "products") {
            let shorter = |length: usize| Some((length, self.lexicon.meanings(&self.phrase_at(at, length)?)));
            let other = (1..length).rev().filter_map(shorter).find(|(_, meanings)| !meanings.is_empty());
            (length, meanings) = other.unwrap_or((length, meanings));
        }
        let is_asked = || at == 0 || self.follows(at, "asks");
        if length == 1 && self.is_at(at, &["search"]) && is_asked() {
            return Some(1);
        }
        let is_glue = || self.tokens[at].is_glue() && !self.is_country_us(at) && !self.is_glue_sector(at, meanings);
        if length == 1 && (self.is_product(at) || self.is_verb_of_investor(at) || is_glue()) {
            return None;
        }
        // `do not invest in startups`, although a sector has this name.
        if self.is_negated() && self.record_at(at + length - 1).is_some() && self.records_at(at).is_some() {
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
            // `but not by Google`
            let is_backer = self.is_negated() && self.is_after(at, &["by"]) && self.tokens[at].is_capitalized();
            if self.is_owner(at, length) || is_backer && self.name_at(at, &[Table::Firms]).is_some() {
                return None;
            }
            if let Some(named) = self.unwanted_startup(at, length) {
                self.sign = None;
                return self.leave(at..at + named);
            }
        }
        let is_of_others = match parameter {
            "sector" => self.is_no_sector(&range),
            "country" | "city" if self.is_compared(at) => true,
            "country" => self.is_of_people(&range) || self.is_of_others(range.end) || self.is_of_investors(at),
            "city" => {
                let is_studied = self.is_in(at.wrapping_sub(1), "at or from")
                    && (at.saturating_sub(4)..at).any(|before| self.is_in(before, "before a school"));
                let is_school = self.is_doer(at) || is_studied || self.is_in(range.end, "alumni");
                is_school || self.is_of_others(range.end) || self.is_of_investors(at)
            }
            // `managing director` is not a role of its own.
            "role" => self.is_after(at, &["managing"]),
            // `no website listed`
            "status" => {
                let is_stock = self.record_at(range.end).is_some() || self.follows(at, "becomes");
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
                // `no later than series A`
                let is_negated = self.sign.take_if(|sign| sign.at + 1 == range.start).is_some();
                let stages = if is_negated { stages.1 } else { stages.0 };
                self.unread.retain(|unread| unread.start < range.start);
                if stages.is_empty() {
                    return self.leave(range).map(|_| length);
                }
                self.add(range, parameter, stages, why);
                return Some(length);
            }
            let (stages, end) = self.stages(value, &range);
            // `no series A yet`, `a seed but not a series A`: of a past round, which no parameter excludes.
            let is_past = self.is_in(at.wrapping_sub(1), "no round before") || self.is_in(end, "yet");
            if self.is_negated() && is_past && self.table == Table::Startups {
                return self.leave(at..end);
            }
            // `grants for biotech`, but `startups with grants`
            let is_of_rounds = self.is_stage_of_rounds(&stages);
            if is_of_rounds && self.subject().is_none_or(|(table, _)| table != Table::Startups) {
                return self.leave(at..end);
            }
            return match is_of_rounds || self.is_raised(at) {
                true => self.read_as(at..end, "raised_stage", stages, RAISED),
                false => self.read_as(at..end, parameter, stages, why),
            };
        }
        self.read_as(range, parameter, value, why)
    }

    /// True for a verb behind an investor, which may also be a noun: `which startups did Acme fund in 2012`.
    fn is_verb_of_investor(&self, at: usize) -> bool {
        let is_next = |(range, part): &PathPart| range.end == at && part.parameter.starts_with("investor");
        matches!(self.table, Table::Startups | Table::Rounds)
            && self.is_in(at, "invested")
            && !self.tokens[at].word.ends_with('s')
            && self.parts.last().is_some_and(is_next)
            && (0..at).any(|before| self.is_in(before, "before a verb of firms"))
    }

    /// True if a stage is that of a round of startups, whatever their stage now: `raised a series A`.
    fn is_raised(&self, at: usize) -> bool {
        let verb = (0..at).rev().find(|at| !self.is_in(*at, "before stages"));
        let topic = verb.and_then(|verb| meaning_of("topics", &self.tokens[verb].word));
        self.table == Table::Startups && topic == Some("raising")
    }

    /// Skips the acquirer of startups, which is not known: `by Google` of `acquired by Google`.
    pub(super) fn acquirer(&mut self, at: usize) -> Option<usize> {
        if !self.is_at(at, &["by"]) || !self.follows(at, "acquired") {
            return None;
        }
        let written = self.tokens[at + 1..].iter().take_while(|token| token.is_capitalized()).count();
        let named = self.name_at(at + 1, &[Table::Startups, Table::Firms]).map_or(0, |(_, length)| length);
        let names = written.max(named);
        if names == 0 { None } else { self.leave(at..at + 1 + names) }
    }

    /// Reads `dropbox.com`, `the domain dropbox.com`: a website of the release.
    pub(super) fn host(&mut self, at: usize) -> Option<usize> {
        let named = at + usize::from(self.is_in(at, "website"));
        let host = website::host(&self.tokens.get(named).filter(|token| token.raw.contains('.'))?.raw);
        self.catalog.snapshot().find_term(Facet::Website, &host)?;
        self.resource.parameter("website")?;
        self.read_as(at..named + 1, "website", host, "website of the release")
    }

    /// True if `closed` or `announced` refers to money: `closed a seed round`.
    pub(super) fn raises_next(&self, at: usize) -> bool {
        self.amount_at(at).is_some_and(|(found, _)| found.is_money)
            || self.longest_meaning(at).is_some_and(|(length, _)| self.is_stage(at, at + length))
            || self.is_in(at, "after raised")
            // `closed exactly two rounds`
            || (at..at + 4).any(|at| self.record_at(at) == Some(Table::Rounds))
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
                if token.word == "turkey" && !token.is_capitalized() && !self.follows(at, "in or from") =>
            {
                return None;
            }
            // French `eu` is `had`, and Portuguese `eu` is `I`.
            PhraseMeaning::Country(_) if token.word == "eu" && token.raw != "EU" && self.is_foreign => return None,
            PhraseMeaning::Country(code) => {
                let is_firm = self.table == Table::Firms;
                ("country", code.as_str(), if is_firm { "country or region of the firm" } else { "country or region" })
            }
            PhraseMeaning::City { names, is_plain, is_rare } => {
                let after_place = self.follows(at, "before a city");
                let is_joined = at > 0 && (self.joins_city(at) || self.tokens[at - 1].ends_clause);
                // `LA`, but `La Rochelle`.
                let is_name = token.is_capitalized() && (token.raw.len() > 2 || token.raw.to_uppercase() == token.raw);
                if (*is_plain && !(is_name && after_place))
                    || (*is_rare && !token.is_capitalized() && !after_place && !is_joined)
                {
                    return None;
                }
                ("city", names.as_str(), "city of the release")
            }
            PhraseMeaning::Sector(slugs) if self.is_without_records(slugs) => return None,
            PhraseMeaning::Sector(slugs) => ("sector", slugs.as_str(), "sector of the release"),
            PhraseMeaning::Stage(stages) => ("stage", *stages, "stage"),
            PhraseMeaning::Status(statuses) => ("status", *statuses, "state of the startup"),
            PhraseMeaning::Role(role) => ("role", *role, "role of a person"),
            PhraseMeaning::Kind(_) | PhraseMeaning::State { .. } | PhraseMeaning::Area(_) => return None,
        };
        self.resource.parameter(parameter).is_some().then_some((parameter, value, why))
    }

    pub(super) fn date(&mut self, at: usize) -> Option<usize> {
        let (mut found, length) = self.period_at(at)?;
        if self.tokens[at].word.parse::<u32>().is_ok() && self.is_in(at + length, "counted") {
            return None;
        }
        let is_negated = self.sign.is_some();
        if is_negated {
            found = match (found.from, found.to) {
                // `not since 2008`
                (Some(from), None) => Period { from: None, to: Some(Date::from_days(from.days() - 1)) },
                (None, Some(to)) => Period { from: Some(Date::from_days(to.days() + 1)), to: None },
                // No parameter excludes a period in the middle.
                _ => return self.leave(at..at + length),
            };
            if self.sign.take_if(|sign| !sign.is_unclear).is_none() {
                return self.leave(at..at + length);
            }
        }
        // `acquired in 2013`: the date is not known.
        let has_ended = |(range, part): &PathPart| {
            let is_near = (range.end..at).all(|between| self.is_in(between, "between state and date"));
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
            let is_stage = matches!(part.parameter.as_str(), "stage" | "raised_stage");
            is_stage && (range.end..at).all(|between| self.is_in(between, "between stage and date"))
        });
        let is_of_stage = is_of_stage && self.table == Table::Startups;
        if let Some((range, part)) = self.parts.pop_if(|(_, part)| is_of_stage && part.parameter == "stage") {
            self.add(range, "raised_stage", part.value.clone(), RAISED);
        }
        let of_stage = Some(Topic::Raising).filter(|_| is_of_stage);
        // `younger than 2010`
        let of_age = Some(Topic::Founding).filter(|_| self.is_in(at, "ages of founding"));
        let topic = of_age.or(self.topic).or(of_stage).or_else(|| self.topic_of(self.tokens.get(at + length)?));
        let (from, to, by_year) = match (self.table, topic) {
            (Table::Startups, Some(Topic::Raising)) if !is_negated => ("raised_since", "raised_until", false),
            // None since a day: the last one was before.
            (Table::Startups, Some(Topic::Raising | Topic::LastRound)) => {
                ("last_round_since", "last_round_until", false)
            }
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

    /// Reads an amount or number, with what it counts.
    pub(super) fn bound(&mut self, at: usize) -> Option<usize> {
        let (found, length) = self.amount_at(at)?;
        // A bound that another reading took away from its number: `with no more than 10 reviews`.
        let bounds = phrases("bounds")
            .iter()
            .filter(|bound| at.checked_sub(bound.words.len()).is_some_and(|from| self.starts(from, &bound.words)));
        let before = bounds.map(|bound| bound.words.len()).max().filter(|_| found.is_bare);
        let bounded = before.and_then(|words| Some(self.amount_at(at - words)?.0));
        let found = bounded.unwrap_or(found);
        // `with zero rounds`
        let is_none = found.is_bare && !found.is_money && found.min == Some(0);
        let found = if is_none { QuestionAmount { min: None, is_bare: false, ..found } } else { found };
        // `not above $20m`
        if self.sign.is_some_and(|sign| sign.is_unclear) {
            return self.leave(at..at + length);
        }
        let is_opposite = self.is_negated() && !found.is_bare && found.min.is_some() != found.max.is_some();
        let found = if is_opposite {
            QuestionAmount { min: found.max, max: found.min, is_strict: false, ..found }
        } else {
            found
        };
        if is_opposite {
            self.sign = None;
        }
        let mut end = at + length;
        let noun = self.tokens.get(end).map_or("", |token| token.word.as_str());
        // `4 rounds or less`
        let tail = self.find_phrase(end + 1, "after amounts").filter(|_| found.is_bare && !found.is_money);
        let (found, after_noun) = tail.map_or((found, 0), |tail| (found.with_tail(tail.meaning), tail.words.len()));
        let QuestionAmount { min, max, is_money, is_foreign, is_percent, is_bare, is_strict } = found;
        // `pre-money`
        let is_other = |at: usize| {
            self.is_in(at, "other amounts")
                || (self.is_in(at, "pre or post") && self.is_at(at + 1, &["money"]) && self.is_hyphenated(at))
        };
        if is_money && let Some(first) = (at.saturating_sub(3)..at).find(|before| is_other(*before)) {
            self.unread.retain(|range| range.start < first);
            self.unread.push(first..end);
            return Some(length);
        }
        let is_of_other = is_money && self.is_in(end, "other amounts");
        if is_foreign || is_of_other || self.is_in(end, "counted") {
            return self.leave(at..end + usize::from(!is_foreign));
        }
        // The bounds of what the number counts.
        let counts = phrases_from("counts", noun).filter_map(|count| count.meaning.strip_prefix(self.table.name()));
        let of_noun = counts.filter_map(|names| names.trim_start().split_once(' ')).next().filter(|_| !is_money);
        let (min_name, max_name) = match self.table {
            Table::Firms if is_percent && is_bare => ("", "max_ghosting_rate"),
            Table::Firms if is_percent => ("min_ghosting_rate", "max_ghosting_rate"),
            _ if of_noun.is_some() => of_noun.unwrap_or_default(),
            Table::Firms if is_money && self.mentions("check") => ("check_usd", "check_usd"),
            // `investors who put $500k into`
            Table::Firms if is_money && is_bare && self.topic == Some(Topic::Investing) => ("check_usd", "check_usd"),
            Table::Firms if is_money && self.mentions("aum") => ("min_aum_usd", "max_aum_usd"),
            Table::Firms if !is_money && self.mentions("score") => ("min_health_score", "max_health_score"),
            // What a founder looks for is the amount of a round, not of a check.
            Table::Firms if is_money || self.is_sought(at) => return self.leave(at..end.min(self.tokens.len())),
            Table::Startups if is_money && self.is_amount_of_round(at..end) => return self.leave(at..end),
            Table::Startups if is_money => ("min_raised_usd", "max_raised_usd"),
            Table::Rounds if is_money => ("min_amount_usd", "max_amount_usd"),
            // `more than 10 investors`: not counted among rounds.
            _ if !is_money && records_meant(noun).is_some_and(|table| table != self.table) => {
                return self.leave(at..end + 1);
            }
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
        let is_about = is_bare && self.table == Table::Rounds && (self.follows(at, "all articles") || is_of_rounds());
        let (min, max) = if is_about { around(min, max) } else { (min, max) };
        let why = match (is_bare && !is_about, is_strict) {
            _ if min_name == "min_portfolio" => "number; of all startups of the firm, whatever the other conditions",
            (true, _) => "amount; taken as the least",
            (false, true) => "amount; exactly this much counts, too",
            (false, false) => "amount",
        };
        // A single amount is enough if both ends use the same parameter.
        let is_one = min_name == max_name && min.is_some();
        // `checks of about 250k`
        let min = min.zip(max.filter(|_| is_one)).map(|(min, max)| min.midpoint(max)).or(min);
        let max = max.filter(|_| (!is_bare || is_about || min_name.is_empty()) && !is_one);
        // No parameter sums up the rounds of a period.
        let why = match (min_name, self.topic) {
            ("min_raised_usd", Some(Topic::Raising)) if (0..self.tokens.len()).any(|at| self.is_date(at)) => {
                "amount of all rounds, of any year"
            }
            _ => why,
        };
        let ends = [(min_name, min.map(|min| min.to_string())), (max_name, max.map(|max| max.to_string()))];
        self.read_ends(at..end.min(self.tokens.len()), ends, why)
    }

    pub(super) fn verb(&mut self, at: usize) -> Option<usize> {
        let is_last_round = self.is_in(at, "last") && (self.is_at(at + 1, &["round"]) || self.is_in(at + 1, "raised"));
        if is_last_round && self.table == Table::Startups {
            self.topic = Some(Topic::LastRound);
            return Some(2);
        }
        let is_operating = self.is_in(at, "operating")
            && self.table == Table::Startups
            && !self.follows(at, "degrees")
            && (at + 1..at + 4).any(|at| self.record_at(at) == Some(Table::Startups));
        if is_operating {
            return self.read_as(at..at + 1, "status", "operating", "state of the startup");
        }
        // `sports betting startups`
        let is_gerund = self.tokens[at].word.ends_with("ing")
            && self.parts.last().is_some_and(|(range, part)| range.end == at && part.parameter == "sector")
            && self.record_at(at + 1).is_some();
        // `that are not funds` has no verb.
        let is_noun = self.is_negated()
            && self.record_at(at) == Some(Table::Firms)
            && (self.is_foreign || (at.saturating_sub(2)..at).any(|before| self.is_in(before, "forms of be")));
        let is_of_investor = self.is_verb_of_investor(at);
        let topic = self.topic_of(&self.tokens[at]).or(is_of_investor.then_some(Topic::Raising));
        // `startups closed in 2012` are no more; `closed a seed round`, however, is about money.
        let is_end = self.table == Table::Startups && self.is_in(at, "ended") && !self.raises_next(at + 1);
        let topic = topic.filter(|_| !self.is_phrase && !is_gerund && !is_noun && !is_end)?;
        self.topic = Some(topic);
        // `has SoftBank not invested in`, `SoftBank did not back`
        let is_denied = self.is_negated() && self.is_in(at, "invested");
        let is_between = |between: usize| {
            self.tokens[between].is_glue() || meaning_of("negations", &self.tokens[between].word).is_some()
        };
        let denies = |(range, part): &PathPart| part.parameter == "investor" && (range.end..at).all(is_between);
        let is_last_denied = is_denied && self.parts.last().is_some_and(denies);
        if let Some((range, part)) = self.parts.pop_if(|_| is_last_denied) {
            self.add(range, "investor", part.value.clone(), &part.why);
            return Some(1);
        }
        // `never raised`, but `not raised since 2012`, `did not raise more than $1m`
        let is_bound = |at: usize| self.amount_at(at).is_some_and(|(found, _)| found.is_money && !found.is_bare);
        let governs = |at: usize| self.is_date(at) || is_bound(at);
        let is_negated = self.sign.is_some_and(|sign| !sign.is_unclear);
        if is_negated && topic == Topic::Raising && !(at + 1..at + 4).any(governs) {
            self.sign = None;
            // `have not raised a series C`: no parameter excludes a round of the past.
            let stages = || (at + 1..at + 4).flat_map(|from| (from + 1..from + 4).rev().map(move |to| from..to));
            let stage = stages().find(|stage| self.is_stage(stage.start, stage.end));
            let end = stage.as_ref().map_or(at + 1, |stage| stage.end);
            // `have never raised money`
            let is_none = end == self.tokens.len() || self.tokens[at].ends_clause || self.is_in(end, "after no raise");
            if stage.is_none() && self.table == Table::Startups && is_none {
                return self.read_as(at..at + 1, "max_rounds", "0", "no known round");
            }
            let length = self.leave(at - 1..end).map(|length| length - 1);
            // `not funded by banks`
            if self.is_at(end, &["by"]) {
                self.deny(at);
            }
            return length;
        }
        Some(1)
    }

    pub(super) fn negation(&mut self, at: usize) -> Option<usize> {
        let is_but = self.is_in(at, "before but");
        if let Some(exclusion) = self.find_phrase(at, "exclusions") {
            self.negate(at);
            return Some(exclusion.words.len());
        }
        if is_but && self.is_at(at + 1, &["but"]) {
            self.negate(at);
            return Some(2);
        }
        // `no Recife` is Portuguese for `in Recife`.
        let has_place = |meanings: &[PhraseMeaning]| meanings.iter().any(PhraseMeaning::is_place);
        let place = self.longest_meaning(at + 1).filter(|(_, meanings)| has_place(meanings));
        if self.is_at(at, &["no"])
            && let Some((length, _)) = place
        {
            return self.leave(at..at + 1 + length);
        }
        // `gone quiet since 2010`; `stopped investing before 2012`, however, is just a date.
        if self.table == Table::Firms
            && self.is_in(at, "quiet")
            && let Some(date) = (at + 1..at + 3).find(|at| self.is_date(*at))
        {
            self.sign = None;
            if !self.is_in(date, "until") {
                self.negate(at);
            }
            return Some(1);
        }
        // `ex-Google`, `non-dilutive`: not the word itself.
        let is_value = self.longest_meaning(at + 1).is_some();
        if self.is_hyphenated(at) && (self.is_at(at, &["ex"]) || (self.is_at(at, &["non"]) && !is_value)) {
            return self.leave(at..at + 2);
        }
        // `startups in France, Paris excluded`, `where Accel was absent`, but `excluded: Paris`
        if self.is_in(at, "behind an exclusion") {
            let question = self.question;
            // `startup italiane escluso Milano`: in front of what it excludes.
            let next = (at + 1..self.tokens.len()).filter(|next| !self.tokens[*next].is_glue()).take(2);
            let next: Vec<usize> = next.take_while(|next| !self.tokens[next - 1].ends_clause).collect();
            let is_front = next.iter().any(|next| self.names_value(*next));
            let is_next = |end: usize| {
                !is_front
                    && !question.tokens[at - 1].ends_clause
                    && (end..at).all(|between| question.is_in(between, "forms of be"))
            };
            let excluded = self.parts.pop_if(|(range, _)| is_next(range.end));
            self.negate(at);
            if let Some((range, part)) = excluded {
                self.add(range, &part.parameter, part.value.clone(), &part.why);
            }
            return Some(1);
        }
        let kind = meaning_of("negations", &self.tokens[at].word)?;
        if self.is_in(at + 1, "no sign") {
            return None;
        }
        // `n'investissent pas` negates once.
        let is_open = self.sign.is_some_and(|sign| sign.is_unclear);
        if is_open || self.table != Table::Firms && self.denies_investing(at) {
            self.deny(at);
            return Some(1);
        }
        // `but Accel did not`
        let is_two_words = kind == "before" && self.follows(at, "before not");
        let is_end = (kind == "verb" || is_two_words) && (self.tokens.len() == at + 1 || self.tokens[at].ends_clause);
        self.negate(at);
        // `backed by Sequoia, but Accel hasn't`
        let (resource, verb) = (self.resource, at - usize::from(is_two_words));
        let denied = self.parts.pop_if(|(range, part)| {
            is_end && range.end == verb && resource.parameter(&format!("not_{}", part.parameter)).is_some()
        });
        if let Some((range, part)) = denied {
            self.add(range, &part.parameter, part.value.clone(), &part.why);
        }
        Some(1)
    }

    pub(super) fn field_name(&mut self, at: usize) -> Option<usize> {
        if self.is_phrase {
            return None;
        }
        let of_firms = || self.find_phrase(at, "fields of firms");
        if self.table != Table::Firms {
            // Rounds have amounts, but no check size.
            let length = self.find_phrase(at, "fields")?.words.len();
            return self.leave(at..at + length);
        }
        self.find_phrase(at, "fields").or_else(of_firms).map(|field| field.words.len())
    }

    pub(super) fn glue(&mut self, at: usize) -> Option<usize> {
        // The amounts of rounds have their sum, mean and median.
        let sum = self.find_phrase(at, "sums").filter(|_| self.table == Table::Rounds && self.asks_for_sum());
        if let Some(sum) = sum {
            return Some(sum.words.len());
        }
        if self.is_measure(at) {
            return self.leave(at..at + 1);
        }
        if self.is_at(at, &["down"]) && self.record_at(at + 1) == Some(Table::Rounds) {
            return self.leave(at..at + 1);
        }
        let is_filler = self.is_filler(at) || self.is_in(at, "british checks") && !self.is_phrase;
        let is_glue = self.tokens[at].is_glue() && !self.is_country_us(at);
        // `Acme Capital's portfolio`
        let is_of_firm = |(range, part): &PathPart| range.end == at && part.parameter == "investor";
        let is_portfolio = self.is_at(at, &["portfolio"]) && self.parts.last().is_some_and(is_of_firm);
        (is_glue || is_filler || is_portfolio || self.is_product(at)).then_some(1)
    }

    /// Leaves a word that no other reader covers.
    pub(super) fn unread_word(&mut self, at: usize) -> Option<usize> {
        // A sign of another language than that of the question: the value next to it may be meant the other way round.
        if language::is_negation(&self.tokens[at].word) {
            let value = self.longest_meaning(at + 1).map_or(0, |(length, _)| length);
            self.unread.push(at..at + 1 + value);
            return Some(1 + value);
        }
        self.unread.push(at..at + 1);
        // A word such as `not` cannot be skipped.
        if meaning_of("negations", &self.tokens[at].word).is_some() {
            self.deny(at);
        } else if !self.is_structural(at) {
            self.uncovered += 1;
            // What a sign excludes is not searched for either. No text says which startups are unicorns.
            if self.sign.is_none() && !self.is_in(at, "companies") {
                self.content.push(at..at + 1);
            }
            self.sign = self.sign.map(|sign| Sign { is_unclear: true, ..sign });
        }
        Some(1)
    }
}
