//! Notes on the years of a request that the data does not cover, and on dates that are known by year only. A few rounds
//! of a year that the data hardly covers say nothing about the year, and no rounds in spring mean nothing if all are
//! dated by year. Nor do a few startups founded after the last covered year of their country.

use std::collections::{BTreeMap, BTreeSet};

use crate::aggregate::Grouping;
use crate::coverage::{field_of, markets_of};
use crate::row_filter::distinct;
use crate::{Aggregate, Catalog, Filter, Query};
use data::coverage::{CountedRound, Markets, RoundCoverage, RoundField, market_names, spans};
use data::number::grouped;
use data::{Country, Date, Facet, PartialDate, Table};

/// A part of a period that the data does not cover, or for some countries only.
pub(crate) struct UncoveredPeriod {
    /// The years: `2014 to 2015 are not covered for Germany`.
    is: String,
    /// How many rounds are of these years nevertheless.
    counts: Option<String>,
    /// The years that are covered, in words.
    covers: Option<String>,
}

impl UncoveredPeriod {
    pub(crate) fn sentence(self) -> String {
        let counts: Vec<String> = self.counts.into_iter().chain(self.covers).collect();
        if counts.is_empty() { self.is } else { format!("{}: {}", self.is, counts.join("; ")) }
    }

    /// The same as a clause after a note that counts the rounds of the request.
    pub(crate) fn clause(self) -> String {
        let covers = self.covers.map_or_else(String::new, |covers| format!(": {covers}"));
        format!("; {}{covers}", self.is)
    }
}

/// Years from the first to the last one, without a bound if it is `None`, of records of some countries.
struct AskedYears<'a> {
    bounds: (Option<i32>, Option<i32>),
    field: Option<RoundField>,
    markets: &'a Markets,
}

impl AskedYears<'_> {
    fn limits(&self) -> (i32, i32) {
        (self.bounds.0.unwrap_or(i32::MIN), self.bounds.1.unwrap_or(i32::MAX))
    }
}

impl Catalog {
    /// Firms that joined a round of a year, ascending.
    pub(crate) fn active_firms(&self, year: i32) -> &[u32] {
        let active = self.cached.active_firms.get_or_init(|| {
            let snapshot = self.snapshot();
            let mut active: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
            for round in snapshot.known_rows(Table::Rounds, Facet::Investor).iter() {
                let Some(year) = snapshot.round_date(round).map(PartialDate::year) else { continue };
                active.entry(year).or_default().extend(snapshot.round_investors(round).map(|(firm, _)| firm));
            }
            active.values_mut().for_each(|firms| *firms = distinct(std::mem::take(firms)));
            active
        });
        active.get(&year).map_or(&[], Vec::as_slice)
    }

    /// The part of a period for which the data does not cover rounds of these countries, or a field of them.
    pub(crate) fn uncovered_period(
        &self,
        (min, max): (Option<Date>, Option<Date>),
        field: Option<RoundField>,
        markets: &Markets,
    ) -> Option<UncoveredPeriod> {
        let bounds = (min.map(Date::year), max.map(Date::year));
        let (records, covers) = match field {
            Some(RoundField::Investors) => ("dated funding rounds with known investors", "the data names investors of"),
            _ => ("dated funding rounds", "the data covers"),
        };
        uncovered_part(self.round_coverage(), &AskedYears { bounds, field, markets }, records, covers)
    }

    /// The coverage of startups by founding year and country, if both are known: each counts as a round of that year.
    fn founding_coverage(&self) -> &RoundCoverage {
        self.cached.founding_coverage.get_or_init(|| {
            let (snapshot, table) = (self.snapshot(), Table::Startups);
            let key = table.sort_key("founded_year");
            let (years, ranks) = (snapshot.values(table, key), snapshot.ranks(table, key));
            let countries = snapshot.row_values(table, Facet::Country);
            RoundCoverage::count((0..snapshot.rows(table)).filter_map(|row| {
                let year = u32::try_from(*years.get(ranks[row as usize] as usize)?).ok()?;
                // Startups of unknown country are of no market of their own.
                let market = Country::at(*countries.of(row).first()? as usize);
                Some(CountedRound { market, date: PartialDate::of(year, None, None)?, known: [false; 3] })
            }))
        })
    }

    /// A sentence on the founding years from `min` on that the data does not cover for these countries. Years before
    /// the first covered one have few startups, not few known ones.
    pub(crate) fn uncovered_founding(&self, min: i32, max: Option<i32>, markets: &Markets) -> Option<String> {
        let coverage = self.founding_coverage();
        let first = *coverage.years(None, markets).first()?;
        if max.is_some_and(|max| max < first) {
            return None;
        }
        let asked = AskedYears { bounds: (Some(min.max(first)), max), field: None, markets };
        let covers = "the data covers startups founded in";
        let uncovered = uncovered_part(coverage, &asked, "startups of known founding year and country", covers);
        uncovered.map(UncoveredPeriod::sentence)
    }

    /// A sentence that a period begins or ends within a year with rounds dated by year only.
    pub(crate) fn too_short_period(&self, (min, max): (Option<Date>, Option<Date>)) -> Option<String> {
        let known = self.round_coverage().years_without_days();
        let is_within = |day: Option<Date>, edge: &str| {
            day.is_some_and(|day| known.contains(&day.year()) && !day.to_string().ends_with(edge))
        };
        (is_within(min, "-01-01") || is_within(max, "-12-31")).then(|| by_year_note(&known))
    }

    /// True if rounds of a year are of the countries and within the dates of a query.
    fn may_count(&self, query: &Query, markets: &Markets, year: i32) -> bool {
        let date = Table::Rounds.sort_key("announced_on");
        let year_of = |code: i64| i32::try_from(code).ok().map(|code| PartialDate::day_of_code(code).year());
        let is_within = |filter: &Filter| match filter {
            Filter::Range { key, min, max } if *key == date => {
                year_of(*min).is_none_or(|first| first <= year) && year_of(*max).is_none_or(|last| year <= last)
            }
            _ => true,
        };
        self.round_coverage().counts(markets, year).rounds > 0 && query.filters.iter().all(is_within)
    }

    /// Sentences on the years among groups of rounds that the data does not cover, and on years without quarters.
    pub fn notes_on_years(&self, query: &Query, aggregate: &Aggregate) -> Vec<String> {
        let years_of = |grouping: &Grouping| -> BTreeSet<i32> {
            let values = grouping.values.iter().filter_map(|group| group.value.get(..4));
            values.filter_map(|year| year.parse().ok()).collect()
        };
        let by = |name: &'static str| {
            aggregate.groups.iter().filter(move |groups| groups.by == name && query.table == Table::Rounds)
        };
        let years: BTreeSet<i32> = by("year").chain(by("quarter")).flat_map(years_of).collect();
        let (field, markets) = (field_of(query.table, &query.filters), markets_of(query.table, &query.filters));
        let with = if field.is_some() { " with known investors" } else { "" };
        let mut notes =
            notes_on_groups(self.round_coverage(), field, &markets, &years, &format!("funding rounds{with}"));
        let founded = aggregate.groups.iter().filter(|groups| groups.by == "founded_year");
        let founded: BTreeSet<i32> = founded.filter(|_| query.table == Table::Startups).flat_map(years_of).collect();
        if !founded.is_empty() {
            let coverage = self.founding_coverage();
            let first = coverage.years(None, &markets).first().copied().unwrap_or(i32::MAX);
            let founded = founded.range(first..).copied().collect();
            notes.extend(notes_on_groups(coverage, None, &markets, &founded, "startups"));
        }
        if by("quarter").any(|grouping| grouping.unknown.count > 0) {
            let is_counted = |year: &i32| self.may_count(query, &markets, *year);
            let by_year = self.round_coverage().years_without_days().into_iter().filter(is_counted);
            let by_year: BTreeSet<i32> = by_year.collect();
            notes.extend((!by_year.is_empty()).then(|| by_year_note(&by_year)));
        }
        notes
    }
}

fn by_year_note(years: &BTreeSet<i32>) -> String {
    format!("most rounds of {} are dated by year only: quarters and days within it say nothing", spans(years))
}

/// The part of some years that the data does not cover, or for some countries only. `records` are counted, `covers` begins
/// the clause on the covered years.
fn uncovered_part(
    coverage: &RoundCoverage,
    asked: &AskedYears<'_>,
    records: &str,
    covers: &str,
) -> Option<UncoveredPeriod> {
    let AskedYears { bounds: (min, max), field, markets } = *asked;
    let (first, last) = asked.limits();
    let covered = coverage.years(field, markets);
    if last < first || covered.is_empty() || (min.is_none() && max.is_none()) {
        return None;
    }
    let uncovered = uncovered_years(coverage, field, markets, first, last);
    let is = match (min, max) {
        _ if covered.range(first..=last).next().is_some() => match uncovered.len() {
            0 => {
                let is = partial_period(coverage, field, markets, |year| (first..=last).contains(&year))?;
                return Some(UncoveredPeriod { is, counts: None, covers: None });
            }
            1 => format!("{} is", spans(&uncovered)),
            _ => format!("{} are", spans(&uncovered)),
        },
        (Some(min), Some(max)) if min == max => format!("{min} is"),
        (Some(min), Some(max)) => format!("{min} to {max} are"),
        (Some(min), None) => format!("years from {min} are"),
        (None, _) => format!("years up to {last} are"),
    };
    let of_years = |years: &mut dyn Iterator<Item = i32>| -> String {
        grouped(years.map(|year| coverage.counts(markets, year).with(field)).sum::<u64>())
    };
    let dated = coverage.dated_years();
    let of_period = of_years(&mut dated.range(first..=last).copied().filter(|year| !covered.contains(year)));
    let (market, there) = match markets {
        Markets::Only(countries) => {
            let names = market_names(&countries.iter().copied().map(Some).collect::<Vec<_>>());
            (format!(" for {names}"), " there")
        }
        Markets::All | Markets::Except(_) => (String::new(), ""),
    };
    let all = of_years(&mut dated.iter().copied());
    Some(UncoveredPeriod {
        is: format!("{is} not covered{market}"),
        counts: Some(format!("{of_period} of {all} {records}{there} are of then")),
        covers: Some(format!("{covers} {}", coverage.covered_text(field, markets)?)),
    })
}

/// Years of a period that are not covered, limited to the range from the first to the last covered year of the data.
fn uncovered_years(
    coverage: &RoundCoverage,
    field: Option<RoundField>,
    markets: &Markets,
    first: i32,
    last: i32,
) -> BTreeSet<i32> {
    let all = coverage.years(None, &Markets::All);
    let (Some(from), Some(to)) = (all.first(), all.last()) else { return BTreeSet::new() };
    (first.max(*from)..=last.min(*to)).filter(|year| !coverage.covers(field, markets, *year)).collect()
}

/// A sentence on the years that are covered for a part of the countries only.
fn partial_period(
    coverage: &RoundCoverage,
    field: Option<RoundField>,
    markets: &Markets,
    is_asked: impl Fn(i32) -> bool,
) -> Option<String> {
    let partial = coverage.partial_years(field, markets).into_iter().filter_map(|(countries, years)| {
        let years: BTreeSet<i32> = years.into_iter().filter(|year| is_asked(*year)).collect();
        let is = if years.len() == 1 { "is" } else { "are" };
        (!years.is_empty()).then(|| format!("{} {is} covered for {countries} only", spans(&years)))
    });
    let texts: Vec<String> = partial.collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// Sentences on the years of groups, or between them, that are not covered.
fn notes_on_groups(
    coverage: &RoundCoverage,
    field: Option<RoundField>,
    markets: &Markets,
    years: &BTreeSet<i32>,
    records: &str,
) -> Vec<String> {
    let (Some(first), Some(last)) = (years.first(), years.last()) else { return Vec::new() };
    let mut uncovered = uncovered_years(coverage, field, markets, *first, *last);
    uncovered.extend(years.iter().filter(|year| !coverage.covers(field, markets, **year)));
    let is = if uncovered.len() == 1 { "is" } else { "are" };
    let detail = || {
        let spans = spans(&uncovered);
        format!("{spans} {is} not covered: the data has few {records} of then, so that counts say little")
    };
    let whole = (!uncovered.is_empty()).then(detail);
    whole.into_iter().chain(partial_period(coverage, field, markets, |year| years.contains(&year))).collect()
}
