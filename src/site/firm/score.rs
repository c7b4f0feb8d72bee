//! The score on a firm's profile: its components as one bar, and its trend over the years.

use crate::charts::{DotAxis, Dots, IntervalDot, Point};
use data::model::{Firm, Score, ScoreComponent, YearScore};

/// Width of one point in the score bar: the view box is 400 wide for 100 points.
const POINT_WIDTH: u32 = 4;

/// The components of a score as one bar.
pub(super) struct ScoreBar {
    pub(super) value: u8,
    pub(super) low: u8,
    pub(super) high: u8,
    pub(super) low_x: u32,
    pub(super) high_x: u32,
    pub(super) components: Vec<ComponentBar>,
}

pub(super) struct ComponentBar {
    /// Number of the color in the style sheet, 1 to 5.
    pub(super) color: usize,
    pub(super) label: &'static str,
    pub(super) description: &'static str,
    pub(super) x: u32,
    pub(super) length: u32,
    pub(super) points: u8,
    pub(super) max_points: u8,
    pub(super) value: String,
}

impl ScoreBar {
    /// `None` if no score is published.
    pub(super) fn new(score: &Score) -> Option<Self> {
        let (value, low, high) = (score.value?, score.low?, score.high?);
        let mut x = 0;
        let bar = |(index, component): (usize, &ScoreComponent)| {
            let (label, description) = label_and_description(&component.name);
            let value = if component.name == "ghosting" {
                format!("{:.0} % ghosted", 100.0 * component.value)
            } else {
                format!("{:.2} of 5", component.value)
            };
            let length = POINT_WIDTH * u32::from(component.points);
            let start = x;
            x += length;
            let (points, max_points) = (component.points, component.max_points);
            ComponentBar { color: index % 5 + 1, label, description, x: start, length, points, max_points, value }
        };
        let components = score.components.iter().enumerate().map(bar).collect();
        let (low_x, high_x) = (POINT_WIDTH * u32::from(low), POINT_WIDTH * u32::from(high));
        Some(Self { value, low, high, low_x, high_x, components })
    }
}

/// Label and description of a score component.
fn label_and_description(component: &str) -> (&'static str, &'static str) {
    match component {
        "rating" => ("Overall rating", "how founders rate the firm as a whole"),
        "responsiveness" => ("Responsiveness", "how fast and how well it responds"),
        "fairness" => ("Fairness", "how fair terms and negotiations are"),
        "value_add" => ("Value added", "what it contributes beyond money"),
        _ => ("Not ghosting", "whether founders get a response"),
    }
}

/// Label and mean of each rated dimension.
pub(super) fn ratings(firm: &Firm) -> Vec<(&'static str, f64)> {
    let means = &firm.ratings;
    let all = [
        ("Overall", means.overall),
        ("Responsiveness", means.responsiveness),
        ("Fairness", means.fairness),
        ("Value added", means.value_add),
    ];
    all.into_iter().filter_map(|(label, mean)| Some((label, mean?))).collect()
}

/// Scores by year, with their intervals on one axis.
pub(super) struct Trend {
    /// `None` if no year has a score.
    pub(super) axis: Option<DotAxis>,
    pub(super) years: Vec<(YearScore, Option<IntervalDot>)>,
}

impl Trend {
    /// `None` unless there is more than one year.
    pub(super) fn new(years: Vec<YearScore>) -> Option<Self> {
        let point = |year: &YearScore| Some(Point::of_score(year.low?, year.health_score?, year.high?));
        let dots = Dots::new(years.iter().map(point).collect());
        let (axis, dots) = dots.map_or((None, Vec::new()), |dots| (Some(dots.axis), dots.rows));
        let is_trend = years.len() > 1;
        let dots = dots.into_iter().chain(std::iter::repeat_with(|| None));
        is_trend.then(|| Self { axis, years: years.into_iter().zip(dots).collect() })
    }
}
