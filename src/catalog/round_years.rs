//! Which years the rounds of a snapshot cover, and how exactly they are dated. Few rounds of a year that the data hardly
//! covers say nothing about the year, and none in spring says nothing if all are dated 1 January.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregate::Grouping;
use crate::{Aggregate, Catalog};
use data::number::grouped;
use data::vocabulary::enumerated;
use data::{Date, Facet, PartialDate, Snapshot, Table};

/// A year is covered if it has at least this part of the rounds of the year with most.
const MIN_SHARE_OF_PEAK: u32 = 20;
/// A year whose rounds are dated by year only has at least so many, and of ten at least nine on 1 January.
const MIN_DATED: u32 = 20;

/// Made when years are first needed.
pub(crate) struct RoundYears {
    /// The number of rounds of each year.
    rounds: BTreeMap<i32, u32>,
    covered: BTreeSet<i32>,
    /// Years of which the investors of rounds are covered.
    with_investors: BTreeSet<i32>,
    /// The firms that joined a round of each year, ascending.
    active: BTreeMap<i32, Vec<u32>>,
    /// Years whose rounds are dated by year only.
    by_year_only: BTreeSet<i32>,
}

impl RoundYears {
    fn of(snapshot: &Snapshot) -> Self {
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
        for firms in active.values_mut() {
            firms.sort_unstable();
            firms.dedup();
        }
        let (covered, with_investors) = (covered(&rounds), covered(&invested));
        let is_by_year = |year: &i32| {
            let (of_year, all) = (of_year.get(year).copied().unwrap_or(0), rounds[year]);
            all >= MIN_DATED && u64::from(of_year) * 10 >= u64::from(all) * 9
        };
        let by_year_only = rounds.keys().copied().filter(is_by_year).collect();
        Self { rounds, covered, with_investors, active, by_year_only }
    }

    /// The years of a period that are not covered, from the first to the last that is.
    fn uncovered(&self, first: i32, last: i32) -> BTreeSet<i32> {
        let (Some(from), Some(to)) = (self.covered.first(), self.covered.last()) else { return BTreeSet::new() };
        (first.max(*from)..=last.min(*to)).filter(|year| !self.covered.contains(year)).collect()
    }
}

/// The years with enough of these rounds.
fn covered(rounds: &BTreeMap<i32, u32>) -> BTreeSet<i32> {
    let peak = rounds.values().copied().max().unwrap_or(0);
    let is_covered = |rounds: u32| rounds.saturating_mul(MIN_SHARE_OF_PEAK) >= peak;
    rounds.iter().filter(|(_, rounds)| is_covered(**rounds)).map(|(year, _)| *year).collect()
}

impl Catalog {
    fn round_years(&self) -> &RoundYears {
        self.round_years.get_or_init(|| RoundYears::of(self.snapshot()))
    }

    /// The number of rounds of each year, from the first to the last that is covered; `None` for a year that is not.
    pub fn rounds_by_year(&self) -> Vec<(i32, Option<u64>)> {
        let years = self.round_years();
        let (Some(first), Some(last)) = (years.covered.first(), years.covered.last()) else { return Vec::new() };
        let rounds = |year: i32| years.covered.contains(&year).then(|| u64::from(years.rounds[&year]));
        (*first..=*last).map(|year| (year, rounds(year))).collect()
    }

    /// Whether the data has enough rounds of a year to compare it with others: at least 5 % of the year with most.
    pub fn covers(&self, year: i32) -> bool {
        self.round_years().covered.contains(&year)
    }

    /// The same of rounds whose investors are known: without them, that a firm has no round of a year says nothing.
    pub fn covers_investors(&self, year: i32) -> bool {
        self.round_years().with_investors.contains(&year)
    }

    /// The years whose rounds are dated by year only.
    pub fn years_without_days(&self) -> &BTreeSet<i32> {
        &self.round_years().by_year_only
    }

    /// The firms that joined a round of a year, ascending.
    pub(crate) fn active_firms(&self, year: i32) -> &[u32] {
        self.round_years().active.get(&year).map_or(&[], Vec::as_slice)
    }

    /// The first and the last year of the rounds whose investors are covered.
    pub fn investor_years(&self) -> Option<(i32, i32)> {
        let years = &self.round_years().with_investors;
        Some((*years.first()?, *years.last()?))
    }

    /// The years between the first and the last of [`Catalog::investor_years`] whose investors are not covered, as text.
    pub fn years_without_investors(&self) -> Option<String> {
        let (first, last) = self.investor_years()?;
        let missing: BTreeSet<i32> = (first..=last).filter(|year| !self.covers_investors(*year)).collect();
        (!missing.is_empty()).then(|| spans(&missing))
    }

    /// What the data does not cover of a period of rounds, as a sentence.
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

    /// That a period begins or ends within a year whose rounds are dated by year only, as a sentence.
    pub(crate) fn too_short_period(&self, min: Option<Date>, max: Option<Date>) -> Option<String> {
        let known = &self.round_years().by_year_only;
        let is_within = |day: Option<Date>, edge: &str| {
            day.filter(|day| known.contains(&day.year()) && !day.to_string().ends_with(edge))
        };
        let cut = [is_within(min, "-01-01"), is_within(max, "-12-31")];
        cut.iter().any(Option::is_some).then(|| by_year_note(known))
    }

    /// The years among groups of rounds that the data does not cover, and those without quarters, as sentences.
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
    let texts = spans.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first} to {last}"),
    });
    enumerated(&texts.collect::<Vec<_>>())
}
