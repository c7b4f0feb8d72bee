use askama::Template;

use crate::charts::dots::{DotAxis, IntervalDot, Point, SCORES, dots};
use crate::charts::{ChartData, ChartFigure, ChartHead, Datum, Drawing, Shapes, round_step, text};

/// Scores with their intervals below each other on one axis: for the picture and the embeddable page of what is a table on a page.
#[derive(Template)]
#[template(path = "charts/interval_rows.html")]
pub struct IntervalRows {
    head: ChartHead,
    rows: Vec<IntervalRow>,
    axis: Option<DotAxis>,
    dots: Vec<Option<IntervalDot>>,
}

pub struct IntervalRow {
    pub label: String,
    /// Low end, value, high end; `None` if it is unknown.
    pub interval: Option<[u8; 3]>,
    /// What is there in place of an unknown value.
    pub missing: &'static str,
}

impl IntervalRow {
    fn point(&self) -> Option<Point> {
        self.interval.map(|[low, value, high]| Point::of_score(low, value, high))
    }

    /// Value, low and high end.
    fn ends(&self) -> Vec<String> {
        match self.interval {
            Some([low, value, high]) => [value, low, high].map(|end| end.to_string()).into(),
            None => vec![String::new(); 3],
        }
    }
}

const NAMES: f64 = 176.0;
const VALUES: f64 = 96.0;
const HEADS: f64 = 20.0;
const ROW: f64 = 24.0;
const MAX_TICKS: f64 = 6.0;

impl IntervalRows {
    /// `head` names four headings: rows, values, low ends, high ends. `None` if no value is known.
    pub fn new(head: ChartHead, rows: Vec<IntervalRow>) -> Option<Self> {
        let (axis, dots) = dots(rows.iter().map(IntervalRow::point).collect(), Point::SCORE_AXIS);
        axis.is_some().then(|| Self { head: head.or_found(|_| None), rows, axis, dots })
    }

    fn drawn_rows(&self) -> impl Iterator<Item = (&IntervalRow, &Option<IntervalDot>)> {
        self.rows.iter().zip(&self.dots)
    }
}

impl ChartFigure for IntervalRows {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn data(&self) -> ChartData {
        let row = |row: &IntervalRow| {
            let ends = match row.interval {
                Some([low, value, high]) => [value, low, high].map(|end| Datum::Number(end.into())).to_vec(),
                None => vec![Datum::Unknown; 3],
            };
            std::iter::once(Datum::of_label(&row.label)).chain(ends).collect()
        };
        ChartData::new(&self.head.heads, self.rows.iter().map(row).collect())
    }

    fn drawing(&self) -> askama::Result<Drawing> {
        let mut shapes = Shapes::default();
        let height = HEADS + ROW * self.rows.len() as f64;
        let (low, high) = SCORES;
        let room = Drawing::WIDTH - NAMES - VALUES;
        let x_of = |value: f64| NAMES + 8.0 + (room - 16.0) * (value - low) / (high - low);
        let (step, decimals) = round_step((high - low) / MAX_TICKS);
        let ticks = (0..).map(|tick| low + step * f64::from(tick)).take_while(|tick| *tick <= high);
        for tick in ticks {
            shapes.text("small", x_of(tick), 12.0, "middle", &format!("{tick:.decimals$}"));
            shapes.line("grid", [x_of(tick), HEADS - 4.0], [x_of(tick), height]);
        }
        for (index, row) in self.rows.iter().enumerate() {
            let base = HEADS + ROW * index as f64 + 15.0;
            shapes.text("", 0.0, base, "", &text::shortened(&row.label, NAMES - 8.0));
            match row.interval {
                Some([low, value, high]) => {
                    let [left, center, right] = [low, value, high].map(|end| x_of(end.into()));
                    shapes.line("whisker", [left, base - 4.0], [right, base - 4.0]);
                    shapes.circle("fill", [center, base - 4.0], 5.0);
                    shapes.text("", Drawing::WIDTH, base, "end", &format!("{value} ({low} to {high})"));
                }
                None => shapes.text("small", Drawing::WIDTH, base, "end", row.missing),
            }
        }
        Ok(shapes.drawing(height))
    }
}
