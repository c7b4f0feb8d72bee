//! Coverage of rounds by year, as charts and sentences show it.

use std::collections::{BTreeMap, BTreeSet};

use crate::market::aggregate;
use catalog::aggregate::MAX_GROUPS;
use catalog::{Catalog, Filter, Resource};
use data::Table;
use data::coverage::{CoverageClass, Markets, RoundCoverage, RoundField, spans};
use view::charts::{ChartHead, ChartMark, ChartRow, ChartUnit, Heatmap};
use view::format;

/// The years that are covered for rounds of some countries, or for a field of these rounds.
#[derive(Clone)]
pub(crate) struct CoveredYears<'a> {
    coverage: &'a RoundCoverage,
    field: Option<RoundField>,
    markets: Markets,
}

impl<'a> CoveredYears<'a> {
    pub(crate) fn new(catalog: &'a Catalog, field: Option<RoundField>, markets: Markets) -> Self {
        Self { coverage: catalog.round_coverage(), field, markets }
    }

    /// Of all countries.
    pub(crate) fn of_rounds(catalog: &'a Catalog) -> Self {
        Self::new(catalog, None, Markets::All)
    }

    pub(crate) fn of_investors(catalog: &'a Catalog) -> Self {
        Self::new(catalog, Some(RoundField::Investors), Markets::All)
    }

    pub(crate) fn covers(&self, year: i32) -> bool {
        self.coverage.covers(self.field, &self.markets, year)
    }

    /// True if only a part of the countries is covered.
    pub(crate) fn is_part(&self, year: i32) -> bool {
        self.covers(year) && self.coverage.only(&self.markets, year).is_some()
    }

    /// As [`CoveredYears::is_part`], of the name of a year.
    pub(crate) fn is_part_named(&self, year: &str) -> bool {
        year.parse().is_ok_and(|year| self.is_part(year))
    }

    /// The first and the last covered year.
    pub(crate) fn period(&self) -> Option<(i32, i32)> {
        let years = self.coverage.years(self.field, &self.markets);
        Some((*years.first()?, *years.last()?))
    }

    /// Number of rounds of each year, from the first to the last covered one; `None` for an uncovered year.
    pub(crate) fn rounds(&self) -> Vec<(i32, Option<u64>)> {
        let rounds = |year: i32| self.coverage.counts(&self.markets, year).with(self.field);
        let years = self.period().into_iter().flat_map(|(first, last)| first..=last);
        years.map(|year| (year, self.covers(year).then(|| rounds(year)))).collect()
    }

    /// Why a year is not covered, and for whom: the reason for hatching.
    pub(crate) fn gap_reason(&self) -> String {
        let what = match self.field {
            None => "too few rounds are known",
            Some(RoundField::Investors) => "too few rounds name their investors",
            Some(RoundField::Leads) => "too few rounds name a lead investor",
            Some(RoundField::Amounts) => "too few rounds have a known amount",
        };
        match &self.markets {
            Markets::Only(countries) if countries.len() <= 2 => {
                let names: Vec<&str> = countries.iter().map(|country| country.name()).collect();
                format!("{what} in {}", names.join(" and "))
            }
            _ => what.to_owned(),
        }
    }

    /// Sentences on years that are not covered, and on those that are for a part of the countries; each with a space.
    pub(crate) fn gaps(&self, first: i32, last: i32) -> String {
        let missing: BTreeSet<i32> = (first..=last).filter(|year| !self.covers(*year)).collect();
        let mut text = String::new();
        if !missing.is_empty() {
            text += &format!(" Not covered by the data: {}.", spans(&missing));
        }
        for (countries, years) in self.coverage.partial_years(self.field, &self.markets) {
            let years: BTreeSet<i32> = years.range(first..=last).copied().collect();
            if !years.is_empty() {
                text += &format!(" Covered for {countries} only: {}.", spans(&years));
            }
        }
        text
    }
}

/// A sentence on the end of known investors, if the data has later rounds.
pub(crate) fn investors_until(catalog: &Catalog) -> Option<String> {
    let horizon = catalog.round_coverage().investors_until(&Markets::All)?;
    Some(format!("Investors are known up to {}{}.", format::day(horizon.until), horizon.later()))
}

pub(crate) struct FieldYears {
    /// Name of the field in records.
    pub(crate) field: &'static str,
    /// Name of the field as a filter.
    property: &'static str,
    of: RoundField,
    known: BTreeMap<i32, u64>,
    /// Covered years without any value, and with hardly any.
    missing: BTreeSet<i32>,
    rare: BTreeSet<i32>,
    covered: usize,
}

impl FieldYears {
    /// All fields that some rounds lack, with the best covered first.
    pub(crate) fn all(catalog: &Catalog) -> Vec<Self> {
        let rounds = catalog.snapshot().rows(Table::Rounds);
        let fields = [
            ("investors", "investor", RoundField::Investors),
            ("lead_investors", "lead", RoundField::Leads),
            ("amount_usd", "amount_usd", RoundField::Amounts),
        ];
        let is_incomplete =
            |field: &str| catalog.totals().coverage.funding_rounds.get(field).is_some_and(|known| *known < rounds);
        let coverage = catalog.round_coverage();
        let years = coverage.years(None, &Markets::All);
        let of_field = |(field, property, of): (&'static str, &'static str, RoundField)| {
            let count = |year: i32| coverage.counts(&Markets::All, year).with(Some(of));
            let known: BTreeMap<i32, u64> = years.iter().map(|year| (*year, count(*year))).collect();
            let is_rare = |year: i32| coverage.class(Some(of), &Markets::All, year) == CoverageClass::None;
            let (missing, rare) = years.iter().filter(|year| is_rare(**year)).partition(|year| known[*year] == 0);
            Self { field, property, of, known, missing, rare, covered: years.len() }
        };
        let fields = fields.into_iter().filter(|(field, ..)| is_incomplete(field));
        let mut fields: Vec<Self> = fields.map(of_field).collect();
        fields.sort_by_key(|field| std::cmp::Reverse(field.known.values().sum::<u64>()));
        fields
    }

    /// The years without a value or with hardly any, as sentences.
    pub(crate) fn gaps(&self) -> Vec<String> {
        let of = |years: &BTreeSet<i32>| {
            if years.len() == self.covered { String::new() } else { format!(" of {}", spans(years)) }
        };
        let gap = |(start, years): (&str, &BTreeSet<i32>)| {
            let of = of(years);
            match self.of {
                RoundField::Investors => format!("{start}{of} names its investors."),
                RoundField::Leads => format!("{start}{of} names a lead investor."),
                RoundField::Amounts => format!("{start}{of} has a known amount."),
            }
        };
        let gaps = [("No round", &self.missing), ("Hardly any round", &self.rare)];
        gaps.into_iter().filter(|(_, years)| !years.is_empty()).map(gap).collect()
    }

    /// All fields by year; `None` if no year is covered.
    pub(crate) fn heatmap(catalog: &Catalog, fields: &[Self]) -> Option<Heatmap> {
        let covered = CoveredYears::of_rounds(catalog);
        let years = covered.rounds();
        let (first, last) = (years.first()?.0, years.last()?.0);
        let cell = |year: i32, value: Option<u64>, known: &str| ChartMark {
            href: value.map(|_| format!("/rounds?since={year}&until={year}{known}")),
            value,
        };
        let all = ChartRow {
            label: "all rounds".to_owned(),
            href: Some("/rounds".to_owned()),
            cells: years.iter().map(|(year, rounds)| cell(*year, *rounds, "")).collect(),
        };
        let row = |field: &Self| {
            let known = format!("known={}", field.property);
            let of_year = |(year, rounds): &(i32, Option<u64>)| {
                let is_known = !field.missing.contains(year) && !field.rare.contains(year);
                let value = rounds.filter(|_| is_known).and_then(|_| field.known.get(year).copied());
                cell(*year, value, &format!("&{known}"))
            };
            ChartRow {
                label: field.field.to_owned(),
                href: Some(format!("/rounds?{known}")),
                cells: years.iter().map(of_year).collect(),
            }
        };
        let rows = std::iter::once(all).chain(fields.iter().map(row)).collect();
        let summary = format!(
            "How many rounds of each year from {first} to {last} have a value of each field. If none or hardly any has one, the \
             cell is hatched.{}",
            covered.gaps(first, last)
        );
        let known = |field: &Self| field.known.values().sum::<u64>();
        let all_rounds: u64 = years.iter().filter_map(|(_, rounds)| *rounds).sum();
        let best = fields.first().map(|field| (field.field, format::number(known(field)), format::number(all_rounds)));
        let finding = best.map(|(field, known, all)| format!("{known} of {all} rounds have a value of {field}"));
        let head = ChartHead::new("fields-by-year", "Fields of rounds by year", summary)
            .table(["Field"], ChartUnit::Count("round", "rounds"))
            .with_gap_reason("no round, or hardly any, has a value")
            .found(finding.unwrap_or_default())
            .on_page("/data", "");
        let columns = years.iter().map(|(year, _)| year.to_string()).collect();
        Some(Heatmap::new(head, columns, rows))
    }
}

/// The number of rounds that match a filter, for each year that has any.
pub(crate) fn by_year(catalog: &Catalog, filter: Filter) -> BTreeMap<i32, u64> {
    let aggregate = aggregate(catalog, Resource::Rounds, &[filter], &["year"], MAX_GROUPS);
    let groups = aggregate.groups.iter().flat_map(|grouping| &grouping.values);
    groups.filter_map(|group| Some((group.value.parse().ok()?, group.count))).collect()
}
