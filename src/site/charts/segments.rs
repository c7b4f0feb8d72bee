//! One horizontal bar of labelled parts.

use askama::Template;

use crate::charts::{ChartUnit, Percent};

/// Number of part colors in the style sheet.
const COLORS: usize = 6;

/// A part with its value and its maximum.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) label: String,
    /// Explanation of the value.
    pub(crate) detail: String,
    /// `None` if unknown.
    pub(crate) value: Option<u64>,
    pub(crate) max: u64,
}

impl Segment {
    /// Value and maximum: `Stage 25 of 25`.
    fn short(&self, unit: ChartUnit) -> String {
        match self.value {
            Some(value) => format!("{} {} of {}", self.label, unit.short(value), unit.short(self.max)),
            None => format!("{} unknown", self.label),
        }
    }

    /// Value, maximum and explanation.
    pub(crate) fn long(&self, unit: ChartUnit) -> String {
        format!("{}: {}", self.short(unit), self.detail)
    }
}

/// One horizontal bar: parts from left to right, then the rest up to the sum of the maxima. [`SegmentList`] is its
/// legend, for one bar or for several with the same parts.
#[derive(Template)]
#[template(path = "charts/segments.html")]
pub(crate) struct Segments {
    /// Accessible name of the bar: the numbers in a sentence.
    name: String,
    parts: Vec<SegmentRect>,
}

struct SegmentRect {
    x: Percent,
    width: Percent,
    color: usize,
    name: String,
}

impl Segments {
    pub(crate) fn new(summary: &str, unit: ChartUnit, segments: &[Segment]) -> Self {
        let whole = segments.iter().map(|segment| segment.max as f64).sum::<f64>().max(1.0);
        let mut x = 0.0;
        let part = |(index, segment): (usize, &Segment)| {
            let width = segment.value.unwrap_or(0).min(segment.max) as f64 / whole;
            let start = x;
            x += width;
            SegmentRect {
                x: Percent(start),
                width: Percent(width),
                color: segment_color(index),
                name: segment.long(unit),
            }
        };
        let parts = segments.iter().enumerate().map(part).collect();
        let numbers: Vec<String> = segments.iter().map(|segment| segment.short(unit)).collect();
        Self { name: format!("{summary}: {}", numbers.join(", ")), parts }
    }
}

/// Parts with their colors and numbers.
#[derive(Template)]
#[template(path = "charts/segment_list.html")]
pub(crate) struct SegmentList {
    keys: Vec<(usize, String)>,
}

impl SegmentList {
    /// Each key is a color and a text.
    pub(crate) fn new(keys: Vec<(usize, String)>) -> Self {
        Self { keys }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

/// The color of a part by its position.
pub(crate) fn segment_color(index: usize) -> usize {
    index % COLORS + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::check;

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn parts_are_proportional_to_points(items in check::items(0..8), maxima in proptest::collection::vec(0..40_u64, 8)) {
            let segments: Vec<Segment> = items.into_iter().zip(maxima).map(|(item, max)| {
                let value = item.value.map(|value| value % (max + 1));
                Segment { label: item.label, detail: "why".to_owned(), value, max }
            }).collect();
            let unit = ChartUnit::Count("point", "points");
            let html = Segments::new("68 of 100 points", unit, &segments).render().unwrap();
            let chart = check::fragment(&html);
            let whole: u64 = segments.iter().map(|segment| segment.max).sum();
            let bars: Vec<_> = chart.all("rect").into_iter().filter(|bar| bar.get("x").is_some()).collect();
            prop_assert_eq!(bars.len(), segments.len());
            let mut end = 0.0;
            for (bar, segment) in bars.iter().zip(&segments) {
                let share = segment.value.unwrap_or(0) as f64 / whole.max(1) as f64;
                prop_assert!((bar.number("width") - 100.0 * share).abs() < 0.01);
                prop_assert!((bar.number("x") - end).abs() < 0.1);
                end = bar.number("x") + bar.number("width");
            }
            prop_assert!(end < 100.1);
            let unknown = segments.iter().filter(|segment| segment.value.is_none()).count();
            let titles = chart.all("title").into_iter().filter(|title| title.text().ends_with(" unknown: why"));
            prop_assert_eq!(titles.count(), unknown);
        }
    }
}
