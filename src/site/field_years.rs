//! Coverage of the fields of rounds by year.

use std::collections::{BTreeMap, BTreeSet};

use crate::charts::{ChartHead, ChartMark, ChartRow, ChartUnit, Heatmap};
use crate::market::aggregate;
use catalog::aggregate::MAX_GROUPS;
use catalog::round_years::spans;
use catalog::{Catalog, Filter, Property, Resource};
use data::Table;

pub(crate) struct FieldYears {
    /// Name of the field in records.
    pub(crate) field: &'static str,
    /// Name of the field as a filter.
    property: &'static str,
    known: BTreeMap<i32, u64>,
    /// Covered years without any value.
    missing: BTreeSet<i32>,
    covered: usize,
}

impl FieldYears {
    /// All fields that some rounds lack, with the best covered first.
    pub(crate) fn all(catalog: &Catalog) -> Vec<Self> {
        let years = catalog.rounds_by_year();
        let covered: BTreeSet<i32> =
            years.iter().filter(|(_, rounds)| rounds.is_some()).map(|(year, _)| *year).collect();
        let rounds = catalog.snapshot().rows(Table::Rounds);
        let fields = catalog.totals().coverage.funding_rounds.iter().filter(|(_, known)| **known < rounds);
        let fields = fields.filter_map(|(field, _)| {
            let (property, of) =
                Property::named(Table::Rounds, field).filter(|(property, _)| *property != "announced_on")?;
            let known = by_year(catalog, Filter::Known(of));
            let missing = covered.iter().copied().filter(|year| !known.contains_key(year)).collect();
            Some(Self { field, property, known, missing, covered: covered.len() })
        });
        let mut fields: Vec<Self> = fields.collect();
        fields.sort_by_key(|field| std::cmp::Reverse(field.known.values().sum::<u64>()));
        fields
    }

    /// The years without a value, as a sentence.
    pub(crate) fn gap(&self) -> Option<String> {
        if self.missing.is_empty() {
            return None;
        }
        let is_all = self.missing.len() == self.covered;
        let of = if is_all { String::new() } else { format!(" of {}", spans(&self.missing)) };
        Some(match self.property {
            "investor" => format!("No round{of} names its investors."),
            "lead" => format!("No round{of} names a lead investor."),
            "amount_usd" => format!("No round{of} has a known amount."),
            _ => format!("No round{of} has a value of {}.", self.field),
        })
    }

    /// All fields by year; `None` if no year is covered.
    pub(crate) fn heatmap(catalog: &Catalog, fields: &[Self]) -> Option<Heatmap> {
        let years = catalog.rounds_by_year();
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
                let value = rounds.and_then(|_| field.known.get(year).copied());
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
            "How many rounds of each year from {first} to {last} have a value of each field. If no round has one, the cell is \
             hatched."
        );
        let head = ChartHead::new("field-years", "Fields of rounds by year", summary)
            .table(["Field"], ChartUnit::Count("round", "rounds"));
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
