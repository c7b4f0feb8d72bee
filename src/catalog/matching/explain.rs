//! Why a firm has its points: counts that a founder can check, its similar deals, introductions, conflicts, and what is
//! unknown.

use std::cmp::Reverse;

use data::number::{counted, grouped};
use data::snapshot::known_date;
use data::vocabulary::{Vocabulary, enumerated, word};
use data::{Country, Facet, NONE_U16, NONE_U64, Stage, StartupStatus, Table};

use crate::matching::ranking::{Condition, FirmRanking};
use crate::matching::{FirmMatch, MatchReason, ReasonPoints, amounts_near};
use crate::{Filter, RowFilter};

const MAX_DEALS: usize = 3;
const MAX_INTRODUCTIONS: usize = 5;
const MAX_CONFLICTS: usize = 5;
/// Maximum number of values named in a sentence.
const MAX_NAMED: usize = 3;
/// A sector is narrow if no sector is below it, and at most one in this many startups is in it.
const NARROW: u32 = 200;
/// Number of most similar startups that are close enough for a conflict.
const CLOSEST: usize = 20;

impl FirmRanking<'_> {
    /// Filters of the rounds that have something in common with the startup's, one for each condition.
    pub(super) fn rounds_in_common(&self) -> Vec<RowFilter<'_>> {
        let conditions = self.conditions.iter().filter(|condition| condition.reason != MatchReason::Backers);
        let filters = conditions.map(|condition| std::slice::from_ref(&condition.filter));
        filters.map(|filter| RowFilter::new(self.catalog, Table::Rounds, filter)).collect()
    }

    /// Explains the points of a firm; `in_common` has the [`FirmRanking::rounds_in_common`].
    pub(super) fn explain(&self, row: u32, in_common: &[RowFilter<'_>]) -> FirmMatch {
        let mut reasons: Vec<ReasonPoints> = Vec::with_capacity(self.conditions.len() + 1);
        let mut missing = Vec::new();
        for condition in &self.conditions {
            let points = self.points_of(condition, row);
            if points == 0 && MatchReason::REQUIRED.contains(&condition.reason) {
                missing.push(condition.reason);
            }
            reasons.push(ReasonPoints {
                name: condition.reason,
                points,
                max_points: condition.max_points,
                investments: condition.counts.of(row).map_or(0, |firm| firm.investments),
                detail: self.detail(condition, row),
            });
        }
        reasons.push(ReasonPoints {
            name: MatchReason::Activity,
            points: self.activity_points(row),
            max_points: self.max_of_activity,
            investments: self.investments[row as usize],
            detail: self.activity(row),
        });
        let (conflicts, conflict_count) = self.conflicts(row);
        FirmMatch {
            row,
            points: reasons.iter().map(|reason| reason.points).sum(),
            summary: self.summary(row),
            missing,
            deals: self.deals(row, in_common),
            introductions: self.introductions(row),
            conflicts,
            conflict_count,
            unknown: self.unknown(row),
            reasons,
        }
    }

    /// `14 of 65 investments are in Fintech, 31 in the United Kingdom, 9 at Seed, the last in March 2013`.
    fn summary(&self, row: u32) -> String {
        let all = self.investments[row as usize];
        if all == 0 {
            let own: Vec<String> = self.labels(row).collect();
            return format!("no investment is known; the firm itself is {}", enumerated(&own));
        }
        let counts = self.conditions.iter().filter_map(|condition| {
            let count = condition.counts.of(row)?.investments;
            Some((count, self.meaning(condition)))
        });
        let mut parts: Vec<String> = Vec::new();
        for (count, meaning) in counts {
            parts.push(match parts.is_empty() {
                true => {
                    let investments = if all == 1 { "investment" } else { "investments" };
                    let are = if count == 1 { "is" } else { "are" };
                    format!("{} of {} {investments} {are} {meaning}", grouped(count), grouped(all))
                }
                false => format!("{} {meaning}", grouped(count)),
            });
        }
        let last = known_date(self.catalog.snapshot().last_investments()[row as usize]);
        parts.extend(last.map(|last| format!("the last in {}", last.month_in_words())));
        parts.join(", ")
    }

    fn labels(&self, row: u32) -> impl Iterator<Item = String> {
        let own = self.conditions.iter().filter(move |condition| condition.labelled.binary_search(&row).is_ok());
        own.map(|condition| self.meaning(condition).to_owned())
    }

    fn detail(&self, condition: &Condition, row: u32) -> String {
        let (all, meaning) = (self.investments[row as usize], self.meaning(condition));
        if condition.labelled.binary_search(&row).is_ok() {
            return format!("no investment is known; the firm itself is {meaning}");
        }
        let count = condition.counts.of(row).map_or(0, |firm| firm.investments);
        let of_all = counted(all, "investment", "investments");
        let text = match (count, all) {
            (_, 0) => "no investment is known".to_owned(),
            (0, 1) => format!("its one investment is not {meaning}"),
            (0, _) => format!("none of {of_all} is {meaning}"),
            (1, _) => format!("1 of {of_all} is {meaning}"),
            (count, _) => format!("{} of {of_all} are {meaning}", grouped(count)),
        };
        let is_seat = condition.reason == MatchReason::Country && self.is_based_in(row);
        if is_seat { format!("{text}; it is based there") } else { text }
    }

    fn activity(&self, row: u32) -> String {
        let all = self.investments[row as usize];
        let Some(last) = known_date(self.catalog.snapshot().last_investments()[row as usize]) else {
            return match all {
                0 => "no investment is known".to_owned(),
                all => format!("{}, none with a date", counted(all, "investment", "investments")),
            };
        };
        let until = self.until.map(|until| format!("; investors are known until {until}"));
        format!(
            "{}, the last in {}{}",
            counted(all, "investment", "investments"),
            last.month_in_words(),
            until.unwrap_or_default()
        )
    }

    fn meaning<'c>(&self, condition: &'c Condition) -> &'c str {
        condition.meaning.get_or_init(|| self.meaning_of(condition))
    }

    /// A condition in words, as a predicate of an investment: `in Fintech`, `at Seed`.
    fn meaning_of(&self, condition: &Condition) -> String {
        let snapshot = self.catalog.snapshot();
        match &condition.filter {
            Filter::AnyOf(Facet::Stage, stages) => {
                let names = stages.iter().filter_map(|stage| Stage::at(*stage as usize));
                format!("at {}", either(names.map(|stage| word(stage.name())).collect()))
            }
            Filter::AnyOf(Facet::Sector, sectors) => {
                let names = sectors.iter().map(|sector| snapshot.name(Table::Sectors, *sector).to_owned());
                format!("in {}", either(names.collect()))
            }
            Filter::AnyOf(Facet::Country, countries) => {
                let names = countries.iter().filter_map(|country| Country::at(*country as usize));
                format!("in {}", either(names.map(Country::name_in_sentence).collect()))
            }
            Filter::AnyOf(Facet::City, cities) => {
                let names = cities.iter().take(MAX_NAMED + 1).map(|city| snapshot.city_name(*city).unwrap_or_default());
                match cities.len() {
                    0..=MAX_NAMED => format!("in {}", either(names.collect())),
                    many => format!("in one of {many} cities"),
                }
            }
            Filter::AnyOf(Facet::Investor, firms) => {
                let names = firms.iter().map(|firm| snapshot.name(Table::Firms, *firm).to_owned());
                format!("together with {}", either(names.collect()))
            }
            Filter::AnyOf(Facet::Startup, _) => "in startups like this one".to_owned(),
            _ => {
                let (min, max) = amounts_near(self.query.raise_usd.unwrap_or(0));
                format!("in rounds of {} to {} US dollars", grouped(min), grouped(max))
            }
        }
    }

    /// The firm's rounds with most in common with the startup's, the latest first among equals.
    fn deals(&self, row: u32, in_common: &[RowFilter<'_>]) -> Vec<u32> {
        let rounds = self.catalog.snapshot().facet_rows(Table::Rounds, Facet::Investor, row).iter();
        let common = |round: u32| in_common.iter().filter(|filter| filter.contains(round)).count();
        // Rows of rounds are latest first.
        let mut rounds: Vec<(Reverse<usize>, u32)> =
            rounds.map(|round| (Reverse(common(round)), round)).filter(|(common, _)| common.0 > 0).collect();
        rounds.sort_unstable();
        let mut startups = Vec::new();
        let mut is_new = |round: &u32| {
            let startup = self.catalog.snapshot().round_startup(*round);
            let is_new = !startups.contains(&startup);
            startups.push(startup);
            is_new
        };
        rounds.into_iter().map(|(_, round)| round).filter(|round| is_new(round)).take(MAX_DEALS).collect()
    }

    fn introductions(&self, row: u32) -> Vec<(u32, u32)> {
        let joined = |backer: u32| {
            let filters = [row, backer].map(|firm| Filter::AnyOf(Facet::Investor, vec![firm]));
            RowFilter::new(self.catalog, Table::Rounds, &filters).count() as u32
        };
        let backers = self.query.backers.iter().map(|backer| (*backer, joined(*backer)));
        let mut known: Vec<(u32, u32)> = backers.filter(|(_, rounds)| *rounds > 0).collect();
        known.sort_by_key(|(backer, rounds)| (Reverse(*rounds), *backer));
        known.truncate(MAX_INTRODUCTIONS);
        known
    }

    /// The first startups of the firm that are close to this one and not closed, each with a common sector, and their
    /// number. Close ones share a narrow sector and, if it is given, the country, or are among the most similar ones.
    fn conflicts(&self, firm: u32) -> (Vec<(u32, u32)>, u32) {
        let snapshot = self.catalog.snapshot();
        let startups = snapshot.rows(Table::Startups);
        let is_narrow = |sector: &u32| {
            snapshot.facet_count(Table::Sectors, Facet::Parent, *sector) == 0
                && u64::from(snapshot.facet_count(Table::Startups, Facet::Sector, *sector)) * u64::from(NARROW)
                    <= u64::from(startups)
        };
        let narrow: Vec<u32> = self.query.sectors.iter().copied().filter(is_narrow).collect();
        let closed = snapshot.facet_rows(Table::Startups, Facet::Status, StartupStatus::Closed.index() as u32);
        let sectors = snapshot.row_values(Table::Startups, Facet::Sector);
        let countries = snapshot.row_values(Table::Startups, Facet::Country);
        let closest = &self.similar[..self.similar.len().min(CLOSEST)];
        let common = |startup: u32| {
            if closed.contains(startup) || Some(startup) == self.query.startup {
                return None;
            }
            let own = sectors.of(startup);
            let is_near = self.query.countries.is_empty()
                || countries.of(startup).iter().any(|country| self.query.countries.contains(country));
            let shared = narrow.iter().find(|sector| is_near && own.contains(sector)).copied();
            let of_similar = || own.first().copied().filter(|_| closest.contains(&startup));
            Some((startup, shared.or_else(of_similar)?))
        };
        let own = snapshot.facet_rows(Table::Startups, Facet::Investor, firm).iter();
        let mut conflicts: Vec<(u32, u32)> = own.filter_map(common).collect();
        let count = conflicts.len() as u32;
        conflicts.truncate(MAX_CONFLICTS);
        (conflicts, count)
    }

    /// Fields of the firm that a founder would ask for, and that are unknown.
    fn unknown(&self, row: u32) -> Vec<&'static str> {
        let snapshot = self.catalog.snapshot();
        let lacks = |facet: Facet| snapshot.row_values(Table::Firms, facet).of(row).is_empty();
        let (min, max) = snapshot.check_sizes();
        let at = row as usize;
        let fields = [
            ("country", lacks(Facet::Country)),
            ("website", lacks(Facet::Website)),
            ("check_min_usd", min[at] == NONE_U64),
            ("check_max_usd", max[at] == NONE_U64),
            ("ghosting_rate", snapshot.ghosting_rates()[at] == NONE_U16),
        ];
        fields.into_iter().filter(|(_, is_unknown)| *is_unknown).map(|(field, _)| field).collect()
    }
}

/// Names joined by `or`; of many the first ones.
fn either(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    names.truncate(MAX_NAMED);
    match (more, names.split_last()) {
        (0, Some((last, others))) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        (0, _) => names.concat(),
        (more, _) => format!("{} or {more} more", names.join(", ")),
    }
}
