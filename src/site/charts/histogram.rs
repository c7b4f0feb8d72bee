//! A histogram above the fields of a range.

use askama::Template;

use crate::charts::{DataTable, Head, Item, Percent, Unit, round};

const HEIGHT: f64 = 52.0;
/// A bar takes this part of its column.
const SHARE: f64 = 0.84;
/// A bar of few records is visible.
const MIN_BAR: f64 = 1.5;

/// Small bars, each of which leads to the records of a range of values.
#[derive(Template)]
#[template(path = "charts/histogram.html")]
pub(crate) struct Histogram {
    head: Head,
    bars: Vec<Bar>,
    has_gaps: bool,
    is_linked: bool,
    table: DataTable,
    /// The names of the first and the last bar.
    ends: [String; 2],
}

struct Bar {
    title: String,
    href: Option<String>,
    /// Of the whole column, which a pointer hits more easily than the bar.
    left: Percent,
    step: Percent,
    x: Percent,
    width: Percent,
    y: f64,
    height: f64,
    is_covered: bool,
    /// Whether the list is limited to other ranges.
    is_outside: bool,
}

impl Histogram {
    /// Bars in the order of values, each with whether its range is one that the list shows. `None` if no value is above 0, or
    /// only one.
    pub(crate) fn new(head: Head, heads: [&str; 2], unit: Unit, mut items: Vec<(Item, bool)>) -> Option<Self> {
        let values = || items.iter().filter_map(|(item, _)| item.value).filter(|value| *value > 0);
        let max = values().max()? as f64;
        if values().count() < 2 {
            return None;
        }
        for (item, _) in &mut items {
            // A list of nothing is no use.
            item.href = item.href.take().filter(|_| item.value != Some(0));
        }
        let known: Vec<Item> = items.iter().map(|(item, _)| item.clone()).collect();
        let ends = [items.first()?, items.last()?].map(|(item, _)| item.label.clone());
        let has_gaps = items.iter().any(|(item, _)| item.value.is_none());
        let step = 1.0 / items.len() as f64;
        let bar = |(index, (item, is_inside)): (usize, (Item, bool))| {
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
            table: DataTable::of_items(heads, &known, unit),
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
            let unit = Unit::Count("round", "rounds");
            let chart = Histogram::new(check::head(), ["Year", "Rounds"], unit, items.iter().cloned().map(|item| (item, true)).collect());
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
            // Each bar and its row in the table.
            prop_assert_eq!(chart.all("a").len(), 2 * linked);
        }
    }
}
