//! Charts: HTML and SVG without script. Each has a title, a summary sentence that is its accessible name, marks that
//! link to the list they stand for, and the same numbers as a table.
//!
//! **Width.** Horizontal positions and lengths are percentages of the chart's width, vertical ones are CSS pixels.
//! There is no view box, so that marks stretch while text keeps its 12 px, on a phone, too. Each figure is a container
//! in the style sheet, which shows the labels of one layout (class `n` below [`WIDE`], `w` below [`FULL`], `x` above)
//! and those without a class. [`labels`] places them for the minimum width of each layout. Heatmap, matrix and dots
//! with intervals are HTML tables, which scroll; parts of a bar are explained by a list.
//!
//! **Unknown values** are `None`, hatched and called "not covered"; only a known zero has a bar of height zero.
//!
//! **Colors** are classes of the style sheet, which defines them for light, dark and forced colors. The hatching is an
//! SVG pattern and needs an id: the `name` of the chart, unique on its page.

use std::fmt;

use crate::format;

mod bars;
#[cfg(test)]
mod check;
mod dots;
mod graph;
mod heatmap;
mod labels;
mod matrix;
mod ramp;
mod steps;
pub(crate) mod text;
mod tile_map;
mod timeline;
mod treemap;

pub(crate) use bars::{Bars, doubling_bins, even_bins};
pub(crate) use dots::{DotAxis, IntervalDot, Point, dots};
pub(crate) use graph::{Graph, Neighbor};
pub(crate) use heatmap::Heatmap;
pub(crate) use matrix::{Matrix, MatrixRow};
pub(crate) use steps::{DatedAmount, StepChart};
pub(crate) use tile_map::TileMap;
pub(crate) use timeline::{Timeline, TimelineEvent};
pub(crate) use treemap::Treemap;

/// Minimum width of a chart's content in CSS pixels: on a 320 px phone, inside page and card.
const NARROW: f64 = 240.0;
/// Minimum width of the wide layout in CSS pixels. The style sheet has the same number.
const WIDE: f64 = 552.0;
/// Minimum width of the layout for charts across the page in CSS pixels. The style sheet has the same number.
const FULL: f64 = 912.0;

/// Margin for half a dot on each side of a time axis, as a fraction of the width.
const SIDE: f64 = 0.03;
/// Maximum number of labelled years, since a mistyped year must not produce thousands of labels.
const MAX_TICKS: usize = 100;

const NOT_COVERED: &str = "not covered";

pub(crate) struct ChartHead {
    /// Unique on the page.
    name: &'static str,
    title: String,
    summary: String,
    heads: Vec<String>,
    unit: ChartUnit,
}

impl ChartHead {
    pub(crate) fn new(name: &'static str, title: impl Into<String>, summary: impl Into<String>) -> Self {
        let (title, summary) = (title.into(), summary.into());
        Self { name, title, summary, heads: Vec::new(), unit: ChartUnit::Count("", "") }
    }

    /// Sets the headings of the data table, and the unit of the values.
    pub(crate) fn table<const N: usize>(self, heads: [&str; N], unit: ChartUnit) -> Self {
        Self { heads: heads.map(str::to_owned).into(), unit, ..self }
    }

    fn rows(&self, items: &[ChartItem]) -> Vec<DataRow> {
        let row = |item: &ChartItem| DataRow {
            label: item.label.clone(),
            href: item.href.clone(),
            cells: vec![DataCell::from_value(item.value, self.unit)],
        };
        items.iter().map(row).collect()
    }
}

/// A value with its name, and the list that it counts.
#[derive(Clone, Debug)]
pub(crate) struct ChartItem {
    label: String,
    /// `None` if the data does not cover it.
    pub(crate) value: Option<u64>,
    /// `None` if no page lists it.
    href: Option<String>,
}

impl ChartItem {
    pub(crate) fn new(label: impl Into<String>, value: Option<u64>) -> Self {
        Self { label: label.into(), value, href: None }
    }

    pub(crate) fn linked(label: impl Into<String>, value: Option<u64>, href: impl Into<String>) -> Self {
        Self { href: Some(href.into()), ..Self::new(label, value) }
    }
}

/// A value and the list that it counts, as in [`ChartItem`].
#[derive(Clone, Debug, Default)]
pub(crate) struct ChartMark {
    pub(crate) value: Option<u64>,
    pub(crate) href: Option<String>,
}

/// A row of values: its name, path of the list of the whole row, and a value for each column.
pub(crate) struct ChartRow<C = ChartMark> {
    pub(crate) label: String,
    pub(crate) href: Option<String>,
    pub(crate) cells: Vec<C>,
}

impl<C> ChartRow<C> {
    /// True for a year or an amount, which only its heading explains.
    fn is_number(&self) -> bool {
        self.label.starts_with(|char: char| char.is_ascii_digit())
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum ChartUnit {
    /// Singular and plural noun: `round`, `rounds`.
    Count(&'static str, &'static str),
    Usd,
}

impl ChartUnit {
    /// A value as a label in a chart and a cell of a table.
    fn short(self, value: u64) -> String {
        match self {
            Self::Count(..) => format::number(value),
            Self::Usd => format::usd(&value),
        }
    }

    /// A value as a phrase: `3 rounds`.
    fn long(self, value: Option<u64>) -> String {
        match (self, value) {
            (_, None) => NOT_COVERED.to_owned(),
            (Self::Count(one, many), Some(value)) => format::counted(value, one, many),
            (Self::Usd, Some(value)) => format::usd(&value),
        }
    }
}

type DataRow = ChartRow<DataCell>;

struct DataCell {
    text: String,
    href: Option<String>,
}

impl DataCell {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), href: None }
    }

    fn from_value(value: Option<u64>, unit: ChartUnit) -> Self {
        Self::new(value.map_or_else(|| NOT_COVERED.to_owned(), |value| unit.short(value)))
    }
}

/// A dot of an event on a time axis; hollow if its amount is unknown.
struct DatedDot {
    x: Percent,
    y: f64,
    radius: f64,
    class: String,
    title: String,
    href: Option<String>,
}

/// A fraction of a chart's width, written as a percentage.
#[derive(Clone, Copy, Debug)]
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", round(100.0 * self.0))
    }
}

/// The smallest 1, 2 or 5 times a power of ten that is at least `least` and 0.01, and its number of decimals.
pub(crate) fn round_step(least: f64) -> (f64, usize) {
    let steps = [0.01, 0.1].into_iter().zip([2, 1]).chain((0..19).map(|power| (10_f64.powi(power), 0)));
    let mut steps = steps.flat_map(|(unit, decimals)| [1.0, 2.0, 5.0].map(|times| (times * unit, decimals)));
    steps.find(|(step, _)| *step >= least).unwrap_or((least, 0))
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
