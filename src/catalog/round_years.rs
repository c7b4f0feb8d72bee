//! The years that the rounds of a snapshot cover, and the precision of their dates. A few rounds of a year that the
//! data hardly covers say nothing about the year, and no rounds in spring mean nothing if all are dated 1 January.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregate::Grouping;
use crate::row_filter::distinct;
use crate::{Aggregate, Catalog};
use data::number::grouped;
use data::vocabulary::enumerated;
use data::{Date, Facet, PartialDate, Snapshot, Table};

/// A year is covered if it has at least one round for this many rounds of the peak year.
const MIN_SHARE_OF_PEAK: u32 = 20;
/// A year counts as dated by year only if it has this many rounds and nine of ten are dated 1 January.
const MIN_DATED: u32 = 20;

pub(crate) struct RoundYears {
    rounds: BTreeMap<i32, u32>,
    covered: BTreeSet<i32>,
    /// Years with enough rounds with known investors.
    with_investors: BTreeSet<i32>,
    /// Firms that joined a round, by year, ascending.
    active: BTreeMap<i32, Vec<u32>>,
    by_year_only: BTreeSet<i32>,
}

impl RoundYears {
    fn from_snapshot(snapshot: &Snapshot) -> Self {
        let key = Table::Rounds.sort_key("announced_on");
        let (mut rounds, mut of_year): (BTreeMap<i32, u32>, BTreeMap<i32, u32>) = (BTreeMap::new(), BTreeMap::new());
        for (rank, code) in (0..).zip(snapshot.values(Table::Rounds, key)) {
            let date = PartialDate::from_code(*code as i32);
            let count = snapshot.rows_of_ranks(Table::Rounds, key, rank..rank + 1).len() as u32;
            *rounds.entry(date.year()).or_default() += count;
            if date.quarter().is_none() || date.first_day().to_string().ends_with("-01-01") {
                *of_year.entry(date.year()).or_default() += count;
            }
        }
        let mut invested: BTreeMap<i32, u32> = BTreeMap::new();
        let mut active: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
        for round in snapshot.known_rows(Table::Rounds, Facet::Investor).iter() {
            let Some(year) = snapshot.round_date(round).map(PartialDate::year) else { continue };
            *invested.entry(year).or_default() += 1;
            active.entry(year).or_default().extend(snapshot.round_investors(round).map(|(firm, _)| firm));
        }
        active.values_mut().for_each(|firms| *firms = distinct(std::mem::take(firms)));
        let (covered, with_investors) = (covered(&rounds), covered(&invested));
        let is_by_year = |year: &i32| {
            let (of_year, all) = (of_year.get(year).copied().unwrap_or(0), rounds[year]);
            all >= MIN_DATED && u64::from(of_year) * 10 >= u64::from(all) * 9
        };
        let by_year_only = rounds.keys().copied().filter(is_by_year).collect();
        Self { rounds, covered, with_investors, active, by_year_only }
    }

    /// Uncovered years of a period, limited to the range from the first to the last covered year.
    fn uncovered(&self, first: i32, last: i32) -> BTreeSet<i32> {
        let (Some(from), Some(to)) = (self.covered.first(), self.covered.last()) else { return BTreeSet::new() };
        (first.max(*from)..=last.min(*to)).filter(|year| !self.covered.contains(year)).collect()
    }
}

fn covered(rounds: &BTreeMap<i32, u32>) -> BTreeSet<i32> {
    let peak = rounds.values().copied().max().unwrap_or(0);
    let is_covered = |rounds: u32| rounds.saturating_mul(MIN_SHARE_OF_PEAK) >= peak;
    rounds.iter().filter(|(_, rounds)| is_covered(**rounds)).map(|(year, _)| *year).collect()
}

impl Catalog {
    fn round_years(&self) -> &RoundYears {
        self.cached.round_years.get_or_init(|| RoundYears::from_snapshot(self.snapshot()))
    }

    /// Number of rounds of each year, from the first to the last covered one; `None` for an uncovered year.
    pub fn rounds_by_year(&self) -> Vec<(i32, Option<u64>)> {
        let years = self.round_years();
        let (Some(first), Some(last)) = (years.covered.first(), years.covered.last()) else { return Vec::new() };
        let rounds = |year: i32| years.covered.contains(&year).then(|| u64::from(years.rounds[&year]));
        (*first..=*last).map(|year| (year, rounds(year))).collect()
    }

    /// True if the data has enough rounds of a year to compare it with others: at least 5 % of the peak year.
    pub fn covers(&self, year: i32) -> bool {
        self.round_years().covered.contains(&year)
    }

    /// The same for rounds with known investors; without them, a firm without a round in a year means nothing.
    pub fn covers_investors(&self, year: i32) -> bool {
        self.round_years().with_investors.contains(&year)
    }

    pub fn years_without_days(&self) -> &BTreeSet<i32> {
        &self.round_years().by_year_only
    }

    pub(crate) fn active_firms(&self, year: i32) -> &[u32] {
        self.round_years().active.get(&year).map_or(&[], Vec::as_slice)
    }

    /// First and last year with covered investors of rounds.
    pub fn investor_years(&self) -> Option<(i32, i32)> {
        let years = &self.round_years().with_investors;
        Some((*years.first()?, *years.last()?))
    }

    /// Years within [`Catalog::investor_years`] without covered investors, as text.
    pub fn years_without_investors(&self) -> Option<String> {
        let (first, last) = self.investor_years()?;
        let missing: BTreeSet<i32> = (first..=last).filter(|year| !self.covers_investors(*year)).collect();
        (!missing.is_empty()).then(|| spans(&missing))
    }

    /// A sentence on the part of a period that the data does not cover with rounds.
    pub(crate) fn uncovered_period(&self, min: Option<Date>, max: Option<Date>) -> Option<String> {
        let [min, max] = [min, max].map(|day| day.map(Date::year));
        let (first, last) = (min.unwrap_or(i32::MIN), max.unwrap_or(i32::MAX));
        let years = self.round_years();
        if last < first || years.covered.is_empty() || (min.is_none() && max.is_none()) {
            return None;
        }
        let uncovered = years.uncovered(first, last);
        let is = match (min, max) {
            _ if years.covered.range(first..=last).next().is_some() => match uncovered.len() {
                0 => return None,
                1 => format!("{} is", spans(&uncovered)),
                _ => format!("{} are", spans(&uncovered)),
            },
            (Some(min), Some(max)) if min == max => format!("{min} is"),
            (Some(min), Some(max)) => format!("{min} to {max} are"),
            (Some(min), None) => format!("years from {min} are"),
            (None, _) => format!("years up to {last} are"),
        };
        let of_period = years.rounds.range(first..=last).filter(|(year, _)| !years.covered.contains(year));
        Some(format!(
            "{is} not covered: {} of {} dated funding rounds are of then; the data covers {}",
            grouped(of_period.map(|(_, rounds)| rounds).sum::<u32>()),
            grouped(years.rounds.values().sum::<u32>()),
            spans(&years.covered),
        ))
    }

    /// A sentence that a period begins or ends within a year with rounds dated by year only.
    pub(crate) fn too_short_period(&self, min: Option<Date>, max: Option<Date>) -> Option<String> {
        let known = &self.round_years().by_year_only;
        let is_within = |day: Option<Date>, edge: &str| {
            day.is_some_and(|day| known.contains(&day.year()) && !day.to_string().ends_with(edge))
        };
        (is_within(min, "-01-01") || is_within(max, "-12-31")).then(|| by_year_note(known))
    }

    /// Sentences on the years among groups of rounds that the data does not cover, and on years without quarters.
    pub fn notes_on_years(&self, table: Table, aggregate: &Aggregate) -> Vec<String> {
        let years_of = |grouping: &Grouping| -> BTreeSet<i32> {
            let values = grouping.values.iter().filter_map(|group| group.value.get(..4));
            values.filter_map(|year| year.parse().ok()).collect()
        };
        let by = |name: &'static str| {
            aggregate.groups.iter().filter(move |groups| groups.by == name && table == Table::Rounds)
        };
        let years: BTreeSet<i32> = by("year").chain(by("quarter")).flat_map(years_of).collect();
        let known = self.round_years();
        let mut notes = Vec::new();
        if let (Some(first), Some(last)) = (years.first(), years.last()) {
            let mut uncovered = known.uncovered(*first, *last);
            uncovered.extend(years.iter().filter(|year| !known.covered.contains(year)));
            if !uncovered.is_empty() {
                let is = if uncovered.len() == 1 { "is" } else { "are" };
                let detail = "the data has few funding rounds of then, so that counts say little";
                notes.push(format!("{} {is} not covered: {detail}", spans(&uncovered)));
            }
        }
        let quarters: BTreeSet<i32> = by("quarter").flat_map(years_of).collect();
        let by_year: BTreeSet<i32> = quarters.intersection(&known.by_year_only).copied().collect();
        notes.extend((!by_year.is_empty()).then(|| by_year_note(&by_year)));
        notes
    }
}

fn by_year_note(years: &BTreeSet<i32>) -> String {
    format!("most rounds of {} are dated by year only: quarters and days within it say nothing", spans(years))
}

/// Years as a text: `2004 to 2015 and 2021`.
pub fn spans(years: &BTreeSet<i32>) -> String {
    let mut spans: Vec<(i32, i32)> = Vec::new();
    for year in years.iter().copied() {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == year => *last = year,
            _ => spans.push((year, year)),
        }
    }
    let text = |(first, last): &(i32, i32)| {
        if first == last { first.to_string() } else { format!("{first} to {last}") }
    };
    enumerated(&spans.iter().map(text).collect::<Vec<_>>())
}
