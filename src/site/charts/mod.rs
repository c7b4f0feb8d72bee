//! Charts: HTML and SVG without script, each with a title, a sentence that sums it up and is its accessible name, marks
//! that link to the list they stand for, and the same numbers as a table.
//!
//! **Width.** Horizontal positions and lengths are percentages of a chart's width, vertical ones CSS pixels, and there is no
//! view box: marks are stretched, text is not, so that it has 12 px on a phone, too. Each figure is a container of the
//! style sheet: it shows the labels of its layout, class `n` below [`WIDE`], `w` below [`FULL`], `x` above, and those without a
//! class. [`labels`] places them for the least width of each layout. A heatmap, a matrix and dots with
//! intervals are HTML tables, which scroll; parts of a bar are explained by a list.
//!
//! **Unknown values** are `None`. They are hatched and called "not covered"; only a known zero has a bar of height zero.
//!
//! **Colors** are classes of the style sheet, which has them for light, dark and forced colors. The hatching is an SVG
//! pattern and needs an id: the `name` of a chart, unique on its page.

use std::fmt;

use crate::format;

mod bars;
mod breakdown;
#[cfg(test)]
mod check;
mod columns;
mod dots;
mod graph;
mod heatmap;
mod histogram;
mod labels;
mod matrix;
mod ramp;
mod segments;
mod stacked_bars;
mod steps;
mod text;
mod tile_map;
mod timeline;
mod treemap;

pub(crate) use bars::{Bars, doubling_bins, even_bins};
pub(crate) use breakdown::{Breakdown, Sparkline};
pub(crate) use dots::{Dot, DotAxis, Dots, Point};
pub(crate) use graph::{Graph, Neighbor};
pub(crate) use heatmap::{HeatRow, Heatmap};
pub(crate) use histogram::Histogram;
pub(crate) use matrix::{Column, Matrix, MatrixRow, Part};
pub(crate) use segments::{Segment, SegmentList, Segments, segment_color};
pub(crate) use stacked_bars::{Series, StackedBars};
pub(crate) use steps::{Step, Steps};
pub(crate) use tile_map::TileMap;
pub(crate) use timeline::{Event, Timeline};
pub(crate) use treemap::Treemap;

/// The least width of a chart's content, in CSS pixels: on a phone of 320 px, within page and card.
const NARROW: f64 = 240.0;
/// The least width of the wide layout, in CSS pixels; the style sheet has it, too.
const WIDE: f64 = 552.0;
/// The least width of the layout of a chart across the page, in CSS pixels; the style sheet has it, too.
const FULL: f64 = 912.0;

/// What every chart has.
pub(crate) struct Head {
    /// Unique on the page.
    name: &'static str,
    title: String,
    /// The numbers in a sentence or two.
    summary: String,
}

impl Head {
    pub(crate) fn new(name: &'static str, title: impl Into<String>, summary: impl Into<String>) -> Self {
        Self { name, title: title.into(), summary: summary.into() }
    }
}

/// A value with its name and the list that it counts.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    label: String,
    /// `None` if the data does not cover it.
    value: Option<u64>,
    /// `None` if no page lists it.
    href: Option<String>,
}

impl Item {
    pub(crate) fn new(label: impl Into<String>, value: Option<u64>) -> Self {
        Self { label: label.into(), value, href: None }
    }

    pub(crate) fn linked(label: impl Into<String>, value: Option<u64>, href: impl Into<String>) -> Self {
        Self { href: Some(href.into()), ..Self::new(label, value) }
    }

    pub(crate) fn value(&self) -> Option<u64> {
        self.value
    }
}

/// A value and the list that it counts.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    /// `None` if the data does not cover it.
    pub(crate) value: Option<u64>,
    /// `None` if no page lists it.
    pub(crate) href: Option<String>,
}

impl Mark {
    pub(crate) fn new(value: Option<u64>) -> Self {
        Self { value, href: None }
    }
}

/// What values count.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// One and several: `round`, `rounds`.
    Count(&'static str, &'static str),
    /// US dollars.
    Usd,
}

impl Unit {
    /// As a label in a chart and a cell of a table.
    fn short(self, value: u64) -> String {
        match self {
            Self::Count(..) => format::number(value),
            Self::Usd => format::usd(&value),
        }
    }

    /// As a phrase: `3 rounds`.
    fn long(self, value: Option<u64>) -> String {
        match (self, value) {
            (_, None) => columns::NOT_COVERED.to_owned(),
            (Self::Count(one, many), Some(value)) => format::counted(value, one, many),
            (Self::Usd, Some(value)) => format::usd(&value),
        }
    }
}

/// The table of a chart's numbers.
struct DataTable {
    /// Of all columns.
    heads: Vec<String>,
    rows: Vec<DataRow>,
}

struct DataRow {
    label: String,
    href: Option<String>,
    cells: Vec<DataCell>,
}

struct DataCell {
    text: String,
    href: Option<String>,
}

impl DataCell {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), href: None }
    }

    fn of(value: Option<u64>, unit: Unit) -> Self {
        Self::new(value.map_or_else(|| columns::NOT_COVERED.to_owned(), |value| unit.short(value)))
    }
}

impl DataTable {
    /// One column of values; a label links to the list.
    fn of_items(heads: [&str; 2], items: &[Item], unit: Unit) -> Self {
        let row = |item: &Item| DataRow {
            label: item.label.clone(),
            href: item.href.clone(),
            cells: vec![DataCell::of(item.value, unit)],
        };
        Self { heads: heads.map(str::to_owned).into(), rows: items.iter().map(row).collect() }
    }
}

/// A fraction of a chart's width, written as a percentage.
#[derive(Clone, Copy, Debug)]
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}%", round(100.0 * self.0))
    }
}

/// The least round number (1, 2 or 5 with zeros) from `least` and .01 on, and its number of decimals.
pub(crate) fn round_step(least: f64) -> (f64, usize) {
    let steps = [0.01, 0.1].into_iter().zip([2, 1]).chain((0..19).map(|power| (10_f64.powi(power), 0)));
    let mut steps = steps.flat_map(|(unit, decimals)| [1.0, 2.0, 5.0].map(|times| (times * unit, decimals)));
    steps.find(|(step, _)| *step >= least).unwrap_or((least, 0))
}

/// To two decimals.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
