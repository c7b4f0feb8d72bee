use askama::Template;

use crate::charts::labels::{Label, LabelPlacer};
use crate::charts::{Percent, round_step};

const HEIGHT: f64 = 24.0;
/// Margin for half a dot on each side, as a fraction of the width.
const SIDE: f64 = 0.04;
/// Maximum number of lines on the axis.
const MAX_TICKS: f64 = 6.0;

/// Ends of an axis that is the same for all charts of a value; `None` for one that covers what it shows.
pub type AxisRange = Option<(f64, f64)>;

/// The lowest and the highest score.
pub const SCORES: (f64, f64) = (0.0, 100.0);

/// A value with the ends of its 90 % interval, if it has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub value: f64,
    pub interval: Option<(f64, f64)>,
    pub name: String,
}

impl Point {
    /// The axis of all scores, so that those of two pages can be compared.
    pub const SCORE_AXIS: AxisRange = Some(SCORES);

    pub fn of_score(low: u8, value: u8, high: u8) -> Self {
        let name = format!("Health score {value}, 90 % interval {low} to {high}");
        Self { value: value.into(), interval: Some((low.into(), high.into())), name }
    }
}

#[derive(Template)]
#[template(path = "charts/dot_axis.html")]
pub struct DotAxis {
    labels: Vec<Label>,
}

#[derive(Template)]
#[template(path = "charts/dot.html")]
pub struct IntervalDot {
    name: String,
    x: Percent,
    interval: Option<(Percent, Percent)>,
    ticks: Vec<Percent>,
}

/// A dot and its interval for each known value of a table, whose header has the axis and whose cells have the numbers.
/// The axis covers its range and all intervals, and ends at round numbers; `None` if no value is known.
pub fn dots(points: Vec<Option<Point>>, range: AxisRange) -> (Option<DotAxis>, Vec<Option<IntervalDot>>) {
    let ends = points.iter().flatten().flat_map(|point| {
        let (low, high) = point.interval.unwrap_or((point.value, point.value));
        [low, point.value, high]
    });
    let (min, max) = ends.fold((f64::MAX, f64::MIN), |(min, max), end| (min.min(end), max.max(end)));
    if min > max {
        return (None, points.iter().map(|_| None).collect());
    }
    let (min, max) = range.map_or((min, max), |(low, high)| (min.min(low), max.max(high)));
    let (step, decimals) = round_step((max - min) / MAX_TICKS);
    let start = (min / step).floor() as i64;
    let end = ((max / step).ceil() as i64).max(start + 1);
    let x_of = |value: f64| SIDE + (1.0 - 2.0 * SIDE) * (value / step - start as f64) / (end - start) as f64;
    let ticks: Vec<f64> = (start..=end).map(|tick| tick as f64 * step).collect();
    let mut labels = LabelPlacer::default();
    labels.add_axis(HEIGHT - 8.0, ticks.iter().map(|tick| (x_of(*tick), format!("{tick:.decimals$}").into())));
    let dot = |point: Point| IntervalDot {
        name: point.name,
        x: Percent(x_of(point.value)),
        interval: point.interval.map(|(low, high)| (Percent(x_of(low)), Percent(x_of(high)))),
        ticks: ticks.iter().map(|tick| Percent(x_of(*tick))).collect(),
    };
    let dots = points.into_iter().map(|point| point.map(dot)).collect();
    (Some(DotAxis { labels: labels.labels }), dots)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::check;

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn all_rows_have_the_same_axis(
            scores in proptest::collection::vec(proptest::option::weighted(0.8, proptest::array::uniform3(0..10_001_u32)), 0..30),
            scale in 0..4_usize,
            has_interval: bool,
        ) {
            let point = |mut ends: [u32; 3]| {
                ends.sort_unstable();
                let [low, value, high] = ends.map(|end| f64::from(end) / [1.0, 100.0, 10_000.0, 1_000_000.0][scale]);
                Point { value, interval: has_interval.then_some((low, high)), name: "Score".to_owned() }
            };
            let points: Vec<Option<Point>> = scores.into_iter().map(|ends| ends.map(point)).collect();
            let (axis, dots) = dots(points.clone(), None);
            prop_assert_eq!(axis.is_some(), points.iter().any(Option::is_some));
            prop_assert_eq!(dots.len(), points.len());
            let Some(axis) = axis else { return Ok(()) };
            check::fragment(&axis.render().unwrap());
            let mut places: Vec<(f64, f64)> = Vec::new();
            for (dot, point) in dots.iter().zip(&points) {
                prop_assert_eq!(dot.is_some(), point.is_some());
                let (Some(dot), Some(point)) = (dot, point) else { continue };
                let chart = check::fragment(&dot.render().unwrap());
                places.push((point.value, chart.all("circle")[0].number("cx")));
                let lines = chart.marks("line", "whisker");
                prop_assert_eq!(lines.len(), usize::from(has_interval));
                if let Some((low, high)) = point.interval {
                    places.extend([(low, lines[0].number("x1")), (high, lines[0].number("x2"))]);
                }
            }
            // Positions are a linear function of values.
            let (least, most) = places.iter().fold((places[0], places[0]), |(least, most), place| {
                (if place.0 < least.0 { *place } else { least }, if place.0 > most.0 { *place } else { most })
            });
            for (value, x) in &places {
                prop_assert!((0.0..=100.0).contains(x));
                let share = if most.0 > least.0 { (value - least.0) / (most.0 - least.0) } else { 0.0 };
                prop_assert!((x - (least.1 + share * (most.1 - least.1))).abs() < 0.02);
            }
        }
    }

    #[test]
    fn the_axis_has_round_numbers() {
        let labels = |values: &[f64]| -> Vec<String> {
            let points = values.iter().map(|value| Some(Point { value: *value, interval: None, name: String::new() }));
            let axis = dots(points.collect(), None).0.unwrap();
            let labels = axis.labels.into_iter().filter(|label| label.class != "n");
            labels.map(|label| label.text).collect()
        };
        assert_eq!(labels(&[61.0, 92.0]), ["60", "70", "80", "90", "100"]);
        assert_eq!(labels(&[3.31, 4.27]), ["3.2", "3.4", "3.6", "3.8", "4.0", "4.2", "4.4"]);
        assert_eq!(labels(&[5.0]), ["5.00", "5.01"]);
    }

    #[test]
    fn scores_of_all_pages_have_one_axis() {
        let ends = |low: u8, value: u8, high: u8| {
            let (axis, dots) = dots(vec![Some(Point::of_score(low, value, high))], Point::SCORE_AXIS);
            let (low, high) = dots[0].as_ref().unwrap().interval.unwrap();
            (axis.unwrap().labels.iter().map(|label| label.text.clone()).collect::<Vec<_>>(), high.0 - low.0)
        };
        assert_eq!(ends(88, 90, 93).0, ends(10, 50, 90).0);
        assert!((ends(10, 50, 90).1 / ends(88, 90, 93).1 - 16.0).abs() < 0.01);
    }
}
