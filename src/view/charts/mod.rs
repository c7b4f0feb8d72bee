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

use askama::DynTemplate;
use serde::Serialize;

use crate::format;

mod bars;
#[cfg(test)]
mod check;
mod dots;
mod drawing;
mod graph;
mod heatmap;
mod interval_rows;
mod labels;
mod matrix;
mod network;
mod ramp;
mod steps;
pub mod text;
mod tile_map;
mod timeline;
mod treemap;

pub use bars::{Bars, doubling_bins, even_bins};
pub use dots::{AxisRange, DotAxis, IntervalDot, Point, dots};
pub use drawing::{Drawing, KeyItem, Shapes, swatch};
pub use graph::{Graph, Neighbor};
pub use heatmap::Heatmap;
pub use interval_rows::{IntervalRow, IntervalRows};
pub use matrix::{Matrix, MatrixRow};
pub use network::{Network, NetworkTie};
pub use steps::{DatedAmount, StepChart};
pub use tile_map::TileMap;
pub use timeline::{Timeline, TimelineEvent};
pub use treemap::Treemap;

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

pub struct ChartHead {
    /// Unique on the page.
    name: &'static str,
    title: String,
    summary: String,
    heads: Vec<String>,
    unit: ChartUnit,
    /// What the chart shows, as a sentence without a stop; charts write it unless they are given one.
    finding: String,
    /// Why values are unknown, and of which countries; empty if that is not known.
    gap_reason: String,
    /// Path and query of the page that has the chart; `None` for a chart that has no files.
    page: Option<(String, String)>,
}

impl ChartHead {
    pub fn new(name: &'static str, title: impl Into<String>, summary: impl Into<String>) -> Self {
        let (title, summary) = (title.into(), summary.into());
        let (finding, gap_reason) = (String::new(), String::new());
        let unit = ChartUnit::Count("", "");
        Self { name, title, summary, heads: Vec::new(), unit, finding, gap_reason, page: None }
    }

    /// Names the page of the chart, below which its files are; `query` selects what the chart shows.
    pub fn on_page(self, path: &str, query: &str) -> Self {
        Self { page: Some((path.to_owned(), query.to_owned())), ..self }
    }

    pub fn found(self, finding: impl Into<String>) -> Self {
        Self { finding: finding.into(), ..self }
    }

    pub fn with_gap_reason(self, reason: impl Into<String>) -> Self {
        Self { gap_reason: reason.into(), ..self }
    }

    /// Sets the finding unless there is one.
    fn or_found(self, finding: impl FnOnce(&Self) -> Option<String>) -> Self {
        if !self.finding.is_empty() {
            return self;
        }
        let finding = finding(&self).unwrap_or_else(|| self.title.clone());
        Self { finding, ..self }
    }

    pub fn title(&self) -> &str {
        &self.title
    }

    pub fn summary(&self) -> &str {
        &self.summary
    }

    pub fn finding(&self) -> &str {
        &self.finding
    }

    fn not_covered(&self) -> String {
        match self.gap_reason.as_str() {
            "" => NOT_COVERED.to_owned(),
            reason => format!("{NOT_COVERED}: {reason}"),
        }
    }

    /// The path of the picture of the chart as its page shows it without parameters; `None` if it has no files.
    pub fn picture_path(&self) -> Option<String> {
        let (path, _) = self.page.as_ref()?;
        Some(format!("{}.png", chart_path(path, self.name)))
    }

    /// The links to the chart's files and to its embeddable page: name and path. Empty for a chart that has none.
    pub fn files(&self) -> Vec<(&'static str, String)> {
        let Some((path, query)) = &self.page else { return Vec::new() };
        let mark = if query.is_empty() { "" } else { "?" };
        let address = chart_path(path, self.name);
        let forms = [("SVG", ".svg"), ("PNG", ".png"), ("CSV", ".csv"), ("JSON", ".json"), ("Embed", "")];
        forms.map(|(name, extension)| (name, format!("{address}{extension}{mark}{query}"))).into()
    }

    /// Sets the headings of the data table, and the unit of the values.
    pub fn table<const N: usize>(self, heads: [&str; N], unit: ChartUnit) -> Self {
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
pub struct ChartItem {
    label: String,
    /// `None` if the data does not cover it.
    pub value: Option<u64>,
    /// `None` if no page lists it.
    href: Option<String>,
}

impl ChartItem {
    pub fn new(label: impl Into<String>, value: Option<u64>) -> Self {
        Self { label: label.into(), value, href: None }
    }

    pub fn linked(label: impl Into<String>, value: Option<u64>, href: impl Into<String>) -> Self {
        Self { href: Some(href.into()), ..Self::new(label, value) }
    }
}

/// A value and the list that it counts, as in [`ChartItem`].
#[derive(Clone, Debug, Default)]
pub struct ChartMark {
    pub value: Option<u64>,
    pub href: Option<String>,
}

/// A row of values: its name, path of the list of the whole row, and a value for each column.
pub struct ChartRow<C = ChartMark> {
    pub label: String,
    pub href: Option<String>,
    pub cells: Vec<C>,
}

impl<C> ChartRow<C> {
    /// True for a year or an amount, which only its heading explains.
    fn is_number(&self) -> bool {
        self.label.starts_with(|char: char| char.is_ascii_digit())
    }
}

#[derive(Clone, Copy, Debug)]
pub enum ChartUnit {
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

pub struct DataCell {
    text: String,
    href: Option<String>,
    datum: Datum,
}

impl DataCell {
    fn new(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { datum: Datum::Text(text.clone()), text, href: None }
    }

    /// A text with the value that it shows.
    fn of(text: impl Into<String>, datum: Datum) -> Self {
        Self { text: text.into(), href: None, datum }
    }

    fn from_value(value: Option<u64>, unit: ChartUnit) -> Self {
        Self::of(value.map_or_else(|| NOT_COVERED.to_owned(), |value| unit.short(value)), value.into())
    }
}

/// A value in the CSV and JSON of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Datum {
    Unknown,
    Number(u64),
    Text(String),
}

impl Datum {
    /// A number if the text is one, such as a year.
    fn of_label(label: &str) -> Self {
        label.parse().map_or_else(|_| Self::Text(label.to_owned()), Self::Number)
    }
}

impl From<Option<u64>> for Datum {
    fn from(value: Option<u64>) -> Self {
        value.map_or(Self::Unknown, Self::Number)
    }
}

/// The data of a chart as a table.
#[derive(Debug, PartialEq)]
pub struct ChartData {
    /// Names in lower case, each one once.
    pub columns: Vec<String>,
    pub rows: Vec<Vec<Datum>>,
}

impl ChartData {
    fn new(heads: impl IntoIterator<Item = impl AsRef<str>>, rows: Vec<Vec<Datum>>) -> Self {
        let mut columns: Vec<String> = Vec::new();
        for head in heads {
            let letters = head.as_ref().chars().map(|char| if char.is_alphanumeric() { char } else { ' ' });
            let words: String = letters.flat_map(char::to_lowercase).collect();
            let name = words.split_whitespace().collect::<Vec<_>>().join("_");
            let taken = |name: &String| name.is_empty() || columns.contains(name);
            let numbered = (2..).map(|number| format!("{name}_{number}"));
            let name = std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name));
            columns.extend(name);
        }
        Self { columns, rows }
    }

    fn from_rows(head: &ChartHead, rows: &[DataRow]) -> Self {
        let row = |row: &DataRow| {
            let cells = row.cells.iter().map(|cell| cell.datum.clone());
            std::iter::once(Datum::of_label(&row.label)).chain(cells).collect()
        };
        Self::new(&head.heads, rows.iter().map(row).collect())
    }
}

/// A chart with its picture and its data, apart from a page.
pub trait ChartFigure: DynTemplate {
    fn head(&self) -> &ChartHead;

    /// The rows of the table below it; empty if it shows its values itself.
    fn table(&self) -> &[DataRow] {
        &[]
    }

    fn html(&self) -> askama::Result<String> {
        self.dyn_render()
    }

    fn data(&self) -> ChartData {
        ChartData::from_rows(self.head(), self.table())
    }

    /// What the colors and the hatching mean.
    fn key(&self) -> Vec<KeyItem> {
        Vec::new()
    }

    fn drawing(&self) -> askama::Result<Drawing> {
        Ok(Drawing::of_html(&self.html()?))
    }
}

/// The path of a chart's embeddable page, and of its files without their extensions.
pub fn chart_path(page: &str, name: &str) -> String {
    format!("{EMBED}{}/{name}", page.trim_end_matches('/'))
}

/// The first part of the paths of charts.
pub const EMBED: &str = "/embed";

/// "Most rounds in 2014 (1,234)": the largest of named values. `None` if none is above zero, or if several are as large.
fn largest<'i>(unit: ChartUnit, values: impl IntoIterator<Item = (&'i str, Option<u64>)>) -> Option<String> {
    let (mut max, mut names) = (0, Vec::new());
    for (name, value) in values {
        let value = value.unwrap_or(0);
        if value > max {
            (max, names) = (value, vec![name]);
        } else if value == max && value > 0 {
            names.push(name);
        }
    }
    let [name] = names[..] else { return None };
    let what = match unit {
        ChartUnit::Count(_, many) => many,
        ChartUnit::Usd => "money",
    };
    let value = unit.short(max);
    Some(match name.parse::<u64>() {
        Ok(_) => format!("Most {what} in {name} ({value})"),
        Err(_) => format!("Most {what}: {name} ({value})"),
    })
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
pub fn round_step(least: f64) -> (f64, usize) {
    let steps = [0.01, 0.1].into_iter().zip([2, 1]).chain((0..19).map(|power| (10_f64.powi(power), 0)));
    let mut steps = steps.flat_map(|(unit, decimals)| [1.0, 2.0, 5.0].map(|times| (times * unit, decimals)));
    steps.find(|(step, _)| *step >= least).unwrap_or((least, 0))
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
