//! Values with their intervals on one axis.

use askama::Template;

use crate::site::charts::Percent;
use crate::site::charts::labels::{Label, Labels};

const HEIGHT: f64 = 24.0;
/// Space for half of a dot at either side, as a fraction of the width.
const SIDE: f64 = 0.04;
/// Between two labels of the axis.
const TICK: f64 = 10.0;

/// A value and the ends of its interval, which has the value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interval {
    pub(crate) low: f64,
    pub(crate) value: f64,
    pub(crate) high: f64,
}

/// A dot and its interval for each row of a table, all on one axis, which is drawn into the head of the column. The table
/// has the numbers.
pub(crate) struct Dots {
    pub(crate) axis: DotAxis,
    /// `None` if the value is unknown.
    pub(crate) rows: Vec<Option<Dot>>,
}

/// Numbers along the axis, with their lines.
#[derive(Template)]
#[template(path = "charts/dot_axis.html")]
pub(crate) struct DotAxis {
    labels: Vec<Label>,
}

#[derive(Template)]
#[template(path = "charts/dot.html")]
pub(crate) struct Dot {
    /// The numbers in words.
    name: String,
    low: Percent,
    x: Percent,
    high: Percent,
    ticks: Vec<Percent>,
}

impl Dots {
    /// The axis has all intervals and ends at tens. `None` if no value is known.
    pub(crate) fn new(what: &str, intervals: &[Option<Interval>]) -> Option<Self> {
        let known = || intervals.iter().flatten();
        known().next()?;
        let ends = known().flat_map(|interval| [interval.low, interval.value, interval.high]);
        let (min, max) = ends.fold((f64::MAX, f64::MIN), |(min, max), end| (min.min(end), max.max(end)));
        let start = (min / TICK).floor() * TICK;
        let end = ((max / TICK).ceil() * TICK).max(start + TICK);
        let x_of = |value: f64| SIDE + (1.0 - 2.0 * SIDE) * (value - start) / (end - start);
        let ticks: Vec<f64> =
            (0..=((end - start) / TICK).round() as usize).map(|step| start + TICK * step as f64).collect();
        let mut labels = Labels::default();
        labels.add_axis(HEIGHT - 8.0, ticks.iter().map(|tick| (x_of(*tick), tick.to_string().into())));
        let dot = |interval: &Interval| Dot {
            name: format!("{what} {}, 90 % interval {} to {}", interval.value, interval.low, interval.high),
            low: Percent(x_of(interval.low)),
            x: Percent(x_of(interval.value)),
            high: Percent(x_of(interval.high)),
            ticks: ticks.iter().map(|tick| Percent(x_of(*tick))).collect(),
        };
        let rows = intervals.iter().map(|interval| interval.as_ref().map(dot)).collect();
        Some(Self { axis: DotAxis { labels: labels.into_list() }, rows })
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
        fn all_rows_have_the_same_axis(
            scores in proptest::collection::vec(proptest::option::weighted(0.8, proptest::array::uniform3(0..101_u8)), 0..30),
        ) {
            let interval = |mut ends: [u8; 3]| {
                ends.sort_unstable();
                let [low, value, high] = ends.map(f64::from);
                Interval { low, value, high }
            };
            let intervals: Vec<Option<Interval>> = scores.into_iter().map(|ends| ends.map(interval)).collect();
            let dots = Dots::new("Score", &intervals);
            prop_assert_eq!(dots.is_some(), intervals.iter().any(Option::is_some));
            let Some(dots) = dots else { return Ok(()) };
            check::fragment(&dots.axis.render().unwrap());
            let mut points: Vec<(f64, f64)> = Vec::new();
            for (dot, interval) in dots.rows.iter().zip(&intervals) {
                prop_assert_eq!(dot.is_some(), interval.is_some());
                let (Some(dot), Some(interval)) = (dot, interval) else { continue };
                let chart = check::fragment(&dot.render().unwrap());
                let (line, circle) = (chart.marks("line", "whisker")[0], chart.all("circle")[0]);
                points.extend([
                    (interval.low, line.number("x1")), (interval.value, circle.number("cx")), (interval.high, line.number("x2")),
                ]);
            }
            // One straight line from values to positions.
            let (least, most) = points.iter().fold((points[0], points[0]), |(least, most), point| {
                (if point.0 < least.0 { *point } else { least }, if point.0 > most.0 { *point } else { most })
            });
            for (value, x) in &points {
                prop_assert!((0.0..=100.0).contains(x));
                let share = if most.0 > least.0 { (value - least.0) / (most.0 - least.0) } else { 0.0 };
                prop_assert!((x - (least.1 + share * (most.1 - least.1))).abs() < 0.02);
            }
        }
    }
}
