//! A histogram above the fields of a range.

use askama::Template;

use crate::charts::{ChartHead, ChartItem, ChartUnit, DataTable, Percent, round};

const HEIGHT: f64 = 52.0;
/// Width of a bar as a share of its column.
const SHARE: f64 = 0.84;
/// Minimum height of a bar above zero, in CSS pixels, so that it is visible.
const MIN_BAR: f64 = 1.5;

/// Small bars that link to the records of their range of values.
#[derive(Template)]
#[template(path = "charts/histogram.html")]
pub(crate) struct RangeHistogram {
    head: ChartHead,
    bars: Vec<Bar>,
    has_gaps: bool,
    is_linked: bool,
    table: DataTable,
    /// Labels of the first and the last bar.
    ends: [String; 2],
}

struct Bar {
    title: String,
    href: Option<String>,
    /// Left edge of the whole column, which is easier to click than the bar.
    left: Percent,
    /// Width of the whole column.
    step: Percent,
    x: Percent,
    width: Percent,
    y: f64,
    height: f64,
    is_covered: bool,
    /// True if the filters of the list exclude this range.
    is_outside: bool,
}

impl RangeHistogram {
    /// Bars in the order of values; true marks a bar inside the range that the list shows. `None` unless at least two
    /// values are above 0.
    pub(crate) fn new(
        head: ChartHead,
        heads: [&str; 2],
        unit: ChartUnit,
        mut items: Vec<(ChartItem, bool)>,
    ) -> Option<Self> {
        let values = || items.iter().filter_map(|(item, _)| item.value).filter(|value| *value > 0);
        let max = values().max()? as f64;
        if values().count() < 2 {
            return None;
        }
        for (item, _) in &mut items {
            // No link to an empty list.
            item.href = item.href.take().filter(|_| item.value != Some(0));
        }
        let known: Vec<ChartItem> = items.iter().map(|(item, _)| item.clone()).collect();
        let ends = [items.first()?, items.last()?].map(|(item, _)| item.label.clone());
        let has_gaps = items.iter().any(|(item, _)| item.value.is_none());
        let step = 1.0 / items.len() as f64;
        let bar = |(index, (item, is_inside)): (usize, (ChartItem, bool))| {
            let height = match item.value {
                Some(0) => 0.0,
                Some(value) => (HEIGHT * value as f64 / max).max(MIN_BAR),
                None => HEIGHT,
            };
            let left = step * index as f64;
            Bar {
                title: format!("{}: {}", item.label, unit.long(item.value)),
                href: item.href,
                left: Percent(left),
                step: Percent(step),
                x: Percent(left + step * (1.0 - SHARE) / 2.0),
                width: Percent(step * SHARE),
                y: round(HEIGHT - height),
                height: round(height),
                is_covered: item.value.is_some(),
                is_outside: !is_inside,
            }
        };
        Some(Self {
            head,
            has_gaps,
            is_linked: known.iter().any(|item| item.href.is_some()),
            table: DataTable::from_items(heads, &known, unit),
            bars: items.into_iter().enumerate().map(bar).collect(),
            ends,
        })
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
        fn bars_are_proportional_and_lead_to_what_they_count(items in check::items(0..30)) {
            let unit = ChartUnit::Count("round", "rounds");
            let chart = RangeHistogram::new(check::head(), ["Year", "Rounds"], unit, items.iter().cloned().map(|item| (item, true)).collect());
            let known: Vec<u64> = items.iter().filter_map(|item| item.value).collect();
            let max = known.iter().copied().max().unwrap_or(0);
            prop_assert_eq!(chart.is_some(), known.iter().filter(|value| **value > 0).count() > 1);
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::fragment(&html);
            let bars = chart.marks("rect", "fill");
            prop_assert_eq!(bars.len(), known.len());
            for (bar, value) in bars.iter().zip(known) {
                let height = if value == 0 { 0.0 } else { (HEIGHT * value as f64 / max as f64).max(MIN_BAR) };
                prop_assert!((bar.number("height") - height).abs() < 0.01);
                prop_assert!((bar.number("y") + bar.number("height") - HEIGHT).abs() < 0.02);
            }
            let unknown = items.iter().filter(|item| item.value.is_none()).count();
            prop_assert_eq!(chart.marks("rect", "gap").len(), unknown);
            let linked = items.iter().filter(|item| item.href.is_some() && item.value != Some(0)).count();
            // One link per bar and one per row of the table.
            prop_assert_eq!(chart.all("a").len(), 2 * linked);
        }
    }
}
