//! Stacked vertical bars.

use askama::Template;

use crate::charts::columns::{BASE, BarColumns, HEIGHT, TOP};
use crate::charts::{ChartHead, ChartMark, ChartUnit, DataCell, DataRow, DataTable, Percent, round};

/// A series: one part of every bar.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) label: String,
    /// Number of the color in the style sheet, 1 to 11.
    pub(crate) color: usize,
}

/// Vertical bars, one per year, with parts that add up to a total.
#[derive(Template)]
#[template(path = "charts/stacked_bars.html")]
pub(crate) struct StackedBars {
    head: ChartHead,
    columns: BarColumns,
    /// Phrase of each column, and its parts from the base line up.
    marks: Vec<(String, Vec<StackRect>)>,
    /// Series with a value above zero in any bar.
    legend: Vec<Series>,
    is_linked: bool,
    table: DataTable,
}

struct StackRect {
    x: Percent,
    width: Percent,
    y: f64,
    height: f64,
    color: usize,
    title: String,
    href: Option<String>,
}

impl StackedBars {
    /// Each column has a name and a value per series, or no values if the data does not cover it. A single unknown
    /// value counts as zero. `first_head` is the heading of the names.
    pub(crate) fn new(
        head: ChartHead,
        first_head: &str,
        unit: ChartUnit,
        series: &[Series],
        columns: Vec<(String, Option<Vec<ChartMark>>)>,
    ) -> Self {
        let total = |values: &Vec<ChartMark>| values.iter().filter_map(|mark| mark.value).fold(0, u64::saturating_add);
        let totals: Vec<(&str, Option<u64>)> =
            columns.iter().map(|(name, values)| (name.as_str(), values.as_ref().map(total))).collect();
        let layout = BarColumns::new(&totals, unit);
        let is_used = |index: usize| {
            let mut values = columns.iter().filter_map(|(_, values)| values.as_ref()?.get(index)?.value);
            values.any(|value| value > 0)
        };
        let used: Vec<usize> = (0..series.len()).filter(|index| is_used(*index)).collect();
        let mut marks = Vec::with_capacity(columns.len());
        let mut rows = Vec::with_capacity(columns.len());
        for (index, (name, values)) in columns.iter().enumerate() {
            let (column, total) = (&layout.columns[index], totals[index].1);
            let mut top = BASE;
            let mut part = |(series, mark): (&Series, &ChartMark)| {
                let value = mark.value.filter(|value| *value > 0)?;
                let height = layout.scale * value as f64;
                top -= height;
                Some(StackRect {
                    x: column.x,
                    width: column.width,
                    y: round(top),
                    height: round(height),
                    color: series.color,
                    title: format!("{}, {name}: {}", series.label, unit.long(Some(value))),
                    href: mark.href.clone(),
                })
            };
            let parts = series.iter().zip(values.iter().flatten()).filter_map(&mut part).collect();
            marks.push((format!("{name}: {}", unit.long(total)), parts));
            let cell = |index: &usize| {
                let mark = values.as_ref().and_then(|values| values.get(*index));
                let text = mark.map_or_else(String::new, |mark| unit.short(mark.value.unwrap_or(0)));
                DataCell { text, href: mark.and_then(|mark| mark.href.clone()) }
            };
            let cells = used.iter().map(cell).chain([DataCell::from_value(total, unit)]).collect();
            rows.push(DataRow { label: name.clone(), href: None, cells });
        }
        let legend: Vec<Series> = used.iter().map(|index| series[*index].clone()).collect();
        let labels = legend.iter().map(|series| series.label.clone());
        let heads = [first_head.to_owned()].into_iter().chain(labels).chain(["Total".to_owned()]).collect();
        let is_linked =
            marks.iter().flat_map(|(_, parts): &(String, Vec<StackRect>)| parts).any(|part| part.href.is_some());
        Self { head, columns: layout, marks, legend, is_linked, table: DataTable { heads, rows } }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::check;

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn parts_are_proportional_and_add_up(
            columns in proptest::collection::vec((check::label(), proptest::option::weighted(0.8, check::marks(3..4))), 0..30),
        ) {
            let series = ["Seed", "Series A", "Other"].into_iter().enumerate();
            let series: Vec<Series> =
                series.map(|(index, label)| Series { label: label.to_owned(), color: index + 1 }).collect();
            let unit = ChartUnit::Count("round", "rounds");
            let html = StackedBars::new(check::head(), "Year", unit, &series, columns.clone()).render().unwrap();
            let chart = check::chart(&html);
            let totals: Vec<u64> = columns.iter().filter_map(|(_, marks)| {
                Some(marks.as_ref()?.iter().filter_map(|mark| mark.value).fold(0, u64::saturating_add))
            }).collect();
            let max = totals.iter().copied().max().unwrap_or(0).max(1) as f64;
            let mut expected: Vec<f64> = Vec::new();
            for mark in columns.iter().flat_map(|(_, marks)| marks.iter().flatten()) {
                expected.extend(mark.value.filter(|value| *value > 0).map(|value| value as f64 / max));
            }
            let found: Vec<f64> = chart.all("rect").iter().filter(|rect| rect.class().starts_with('g') && rect.class() != "gap" && rect.get("x").is_some())
                .map(|rect| rect.number("height") / (BASE - TOP)).collect();
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-3, "{} {}", found, expected);
            }
            let uncovered = columns.iter().filter(|(_, marks)| marks.is_none()).count();
            prop_assert_eq!(chart.marks("rect", "gap").len(), uncovered);
            prop_assert_eq!(chart.uncovered(), uncovered);
        }
    }
}
