//! One bar of labelled parts.

use askama::Template;

use crate::site::charts::{Percent, Unit};

/// What a part is, what it has and what it could have at most.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) label: String,
    /// `None` if it is unknown.
    pub(crate) value: Option<u64>,
    pub(crate) max: u64,
    pub(crate) href: Option<String>,
}

/// One horizontal bar: parts from left to right, then what is missing to the sum of the maxima; and a list of the parts,
/// which has the numbers.
#[derive(Template)]
#[template(path = "charts/segments.html")]
pub(crate) struct Segments {
    /// The numbers in a sentence: the name of the bar.
    summary: String,
    parts: Vec<Part>,
    is_linked: bool,
}

struct Part {
    x: Percent,
    width: Percent,
    color: usize,
    label: String,
    value: String,
    href: Option<String>,
}

impl Segments {
    pub(crate) fn new(summary: impl Into<String>, unit: Unit, segments: Vec<Segment>) -> Self {
        let whole = segments.iter().map(|segment| segment.max as f64).sum::<f64>().max(1.0);
        let mut x = 0.0;
        let part = |(index, segment): (usize, Segment)| {
            let width = segment.value.unwrap_or(0).min(segment.max) as f64 / whole;
            let start = x;
            x += width;
            let value = match segment.value {
                Some(value) => format!("{} of {}", unit.short(value), unit.short(segment.max)),
                None => "unknown".to_owned(),
            };
            let (x, width, color) = (Percent(start), Percent(width), index % 5 + 1);
            Part { x, width, color, label: segment.label, value, href: segment.href }
        };
        let parts: Vec<Part> = segments.into_iter().enumerate().map(part).collect();
        let is_linked = parts.iter().any(|part| part.href.is_some());
        Self { summary: summary.into(), parts, is_linked }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::site::charts::check;

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn parts_are_proportional_to_points(items in check::items(0..8), maxima in proptest::collection::vec(0..40_u64, 8)) {
            let segments: Vec<Segment> = items.into_iter().zip(maxima).map(|(item, max)| {
                let value = item.value.map(|value| value % (max + 1));
                Segment { label: item.label, value, max, href: item.href }
            }).collect();
            let html = Segments::new("68 of 100 points.", Unit::Count("point", "points"), segments.clone()).render().unwrap();
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
            prop_assert_eq!(html.matches(": unknown</span>").count(), segments.iter().filter(|segment| segment.value.is_none()).count());
        }
    }
}
