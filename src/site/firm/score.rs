//! The score on a firm's profile: its components as one bar, and its trend over the years.

use data::model::{Firm, Score, ScoreComponent, YearScore};
use view::charts::{ChartHead, ChartUnit, DotAxis, IntervalDot, IntervalRow, IntervalRows, Point, dots};

/// Width of one point in the score bar: the view box is 400 wide for 100 points.
const POINT_WIDTH: u32 = 4;

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
            let ScoreComponent { points, max_points, value, .. } = *component;
            let of_5 = format!("{value:.2} of 5");
            let (label, description, value) = match component.name.as_str() {
                "rating" => ("Overall rating", "how founders rate the firm as a whole", of_5),
                "responsiveness" => ("Responsiveness", "how fast and how well it responds", of_5),
                "fairness" => ("Fairness", "how fair terms and negotiations are", of_5),
                "value_add" => ("Value added", "what it contributes beyond money", of_5),
                _ => ("Not ghosting", "whether founders get a response", format!("{:.0} % ghosted", 100.0 * value)),
            };
            let length = POINT_WIDTH * u32::from(points);
            x += length;
            ComponentBar { color: index % 5 + 1, label, description, x: x - length, length, points, max_points, value }
        };
        let components = score.components.iter().enumerate().map(bar).collect();
        let [low_x, high_x] = [low, high].map(|end| POINT_WIDTH * u32::from(end));
        Some(Self { value, low, high, low_x, high_x, components })
    }
}

/// Label and mean of each rated dimension.
pub(super) fn ratings(firm: &Firm) -> Vec<(&'static str, f64)> {
    let means = &firm.ratings;
    let all = [means.overall, means.responsiveness, means.fairness, means.value_add];
    let labels = ["Overall", "Responsiveness", "Fairness", "Value added"];
    labels.into_iter().zip(all).filter_map(|(label, mean)| Some((label, mean?))).collect()
}

pub(super) struct Trend {
    /// `None` if no year has a score.
    pub(super) axis: Option<DotAxis>,
    pub(super) years: Vec<(YearScore, Option<IntervalDot>)>,
    pub(super) head: ChartHead,
}

impl Trend {
    /// `None` unless there is more than one year.
    pub(super) fn new(years: Vec<YearScore>, slug: &str) -> Option<Self> {
        let point = |year: &YearScore| Some(Point::of_score(year.low?, year.health_score?, year.high?));
        let (axis, dots) = dots(years.iter().map(point).collect(), Point::SCORE_AXIS);
        let summary = "Each score is from the reviews of its year alone, with its 90 % interval.";
        let head = ChartHead::new("score-by-year", "Health score by year", summary)
            .table(["Year", "Score", "Low", "High"], ChartUnit::Count("point", "points"))
            .found(finding(&years).unwrap_or_default())
            .on_page(&format!("/vcs/{slug}/reviews"), "");
        (years.len() > 1).then(|| Self { axis, years: years.into_iter().zip(dots).collect(), head })
    }

    /// The same as one chart, for its picture.
    pub(super) fn figure(self) -> Option<IntervalRows> {
        let row = |(year, _): (YearScore, Option<IntervalDot>)| IntervalRow {
            label: year.year.to_string(),
            interval: year.low.zip(year.health_score).zip(year.high).map(|((low, value), high)| [low, value, high]),
            missing: "too few reviews",
        };
        IntervalRows::new(self.head, self.years.into_iter().map(row).collect())
    }
}

/// The last score, and the years over which scores are known. `None` without any.
fn finding(years: &[YearScore]) -> Option<String> {
    let last = years.iter().filter(|year| year.health_score.is_some()).max_by_key(|year| year.year)?;
    let (score, low, high) = (last.health_score?, last.low?, last.high?);
    Some(format!("Health score of {}: {score} of 100, between {low} and {high}", last.year))
}
