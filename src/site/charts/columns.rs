//! Shared layout of charts of vertical bars: columns, labels, hatching of columns that are not covered.

use std::borrow::Cow;

use crate::charts::labels::{Label, LabelPlacer, WIDTHS};
use crate::charts::{ChartUnit, Percent, round, text};

pub(super) const HEIGHT: f64 = 184.0;
/// Vertical position of the base line.
pub(super) const BASE: f64 = 160.0;
/// Upper end of the highest bar; its value is above it.
pub(super) const TOP: f64 = 20.0;

/// Width of a bar as a share of its column, limited to [`MAX_BAR`] of the chart.
const SHARE: f64 = 0.74;
const MAX_BAR: f64 = 0.08;
/// Minimum space between the values of two columns, in CSS pixels.
const GAP: f64 = 4.0;
/// Height of the hatching of a column that is not covered: lower than most bars, so that it is not mistaken for one.
const UNCOVERED_HEIGHT: f64 = 32.0;

pub(super) struct BarColumn {
    /// Left edge of the bar.
    pub x: Percent,
    pub width: Percent,
    pub y: f64,
    pub height: f64,
    /// Left edge of the whole column, which is easier to click than the bar.
    pub left: Percent,
    /// Width of the whole column.
    pub step: Percent,
    pub is_covered: bool,
}

pub(super) struct BarColumns {
    pub columns: Vec<BarColumn>,
    pub labels: Vec<Label>,
    pub has_gaps: bool,
    /// CSS pixels per unit.
    pub scale: f64,
}

impl BarColumns {
    /// Lays out columns, given as name and value.
    pub(super) fn new(values: &[(&str, Option<u64>)], unit: ChartUnit) -> Self {
        let max = values.iter().filter_map(|(_, value)| *value).max().unwrap_or(0);
        let scale = (BASE - TOP) / max.max(1) as f64;
        let step = 1.0 / values.len().max(1) as f64;
        let bar = (step * SHARE).min(MAX_BAR);
        let center = |index: usize| step * (index as f64 + 0.5);
        let column = |(index, (_, value)): (usize, &(&str, Option<u64>))| {
            let height = value.map_or(UNCOVERED_HEIGHT, |value| scale * value as f64);
            BarColumn {
                x: Percent(center(index) - bar / 2.0),
                width: Percent(bar),
                y: round(BASE - height),
                height: round(height),
                left: Percent(step * index as f64),
                step: Percent(step),
                is_covered: value.is_some(),
            }
        };
        let mut labels = LabelPlacer::default();
        labels.add_axis(
            HEIGHT - 6.0,
            values.iter().enumerate().map(|(index, (name, _))| (center(index), Cow::from(*name))),
        );
        let texts: Vec<Option<String>> = values.iter().map(|(_, value)| value.map(|value| unit.short(value))).collect();
        let widest = texts.iter().flatten().map(|text| text::width(text)).fold(0.0, f64::max);
        let all_fit = WIDTHS.map(|width| widest + GAP <= step * width);
        let highest = values.iter().rposition(|(_, value)| *value == Some(max));
        for (index, text) in texts.into_iter().enumerate() {
            let Some((text, value)) = text.zip(values[index].1) else { continue };
            // Without space for all values, only the largest is shown: no other bar can reach its label.
            let is_shown = all_fit.map(|all_fit| all_fit || highest == Some(index));
            labels.add(center(index), BASE - scale * value as f64 - 5.0, text, is_shown);
        }
        for (first, last) in gaps(values) {
            let run = step * (last - first + 1) as f64;
            let fits = WIDTHS.map(|width| text::width(NOT_COVERED) + GAP <= run * width);
            labels.add((center(first) + center(last)) / 2.0, BASE - UNCOVERED_HEIGHT - 5.0, NOT_COVERED, fits);
        }
        Self {
            columns: values.iter().enumerate().map(column).collect(),
            labels: labels.into_list(),
            has_gaps: values.iter().any(|(_, value)| value.is_none()),
            scale,
        }
    }
}

pub(super) const NOT_COVERED: &str = "not covered";

/// First and last index of each run of columns without a value.
fn gaps(values: &[(&str, Option<u64>)]) -> Vec<(usize, usize)> {
    let mut gaps: Vec<(usize, usize)> = Vec::new();
    for (index, _) in values.iter().enumerate().filter(|(_, (_, value))| value.is_none()) {
        match gaps.last_mut() {
            Some((_, last)) if *last + 1 == index => *last = index,
            _ => gaps.push((index, index)),
        }
    }
    gaps
}
