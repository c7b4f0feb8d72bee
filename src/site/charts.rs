//! Charts, made on the server as SVG, each with its numbers as a table.

use askama::Template;

use crate::site::format;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 190.0;
/// Room for values above the bars and labels below them.
const TOP: f64 = 18.0;
const BOTTOM: f64 = 22.0;
/// Room for the halves of the outer labels.
const SIDE: f64 = 22.0;
/// Labels that have room side by side.
const LABELS: usize = 12;
const LABELS_SMALL: usize = 5;

/// Upright bars, one for each step of time.
#[derive(Template)]
#[template(path = "bars.html")]
pub(crate) struct BarChart {
    title: String,
    summary: String,
    /// What the steps are and what is counted, as the heads of the table.
    heads: (&'static str, &'static str),
    bars: Vec<Bar>,
    base: f64,
    width: f64,
}

struct Bar {
    label: String,
    value: u64,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    middle: f64,
    is_labelled: bool,
    /// On a small screen, where letters are larger beside the bars.
    is_labelled_small: bool,
    has_value: bool,
    has_value_small: bool,
}

impl BarChart {
    /// Bars for values in order; `summary` says in a sentence what they show.
    pub(crate) fn new(
        title: impl Into<String>,
        summary: impl Into<String>,
        heads: (&'static str, &'static str),
        values: &[(String, u64)],
    ) -> Self {
        let most = values.iter().map(|(_, value)| *value).max().unwrap_or(0).max(1) as f64;
        let step = (WIDTH - 2.0 * SIDE) / values.len().max(1) as f64;
        let every = values.len().div_ceil(LABELS).max(1);
        let every_small = every * values.len().div_ceil(every * LABELS_SMALL).max(1);
        let room = HEIGHT - TOP - BOTTOM;
        let bars = values.iter().enumerate().map(|(place, (label, value))| {
            let height = room * *value as f64 / most;
            let width = (step * 0.72).min(56.0);
            let middle = SIDE + step * (place as f64 + 0.5);
            Bar {
                label: label.clone(),
                value: *value,
                x: tenth(middle - width / 2.0),
                y: tenth(HEIGHT - BOTTOM - height),
                width: tenth(width),
                height: tenth(height),
                middle: tenth(middle),
                // The last step is always told.
                is_labelled: (values.len() - 1 - place).is_multiple_of(every),
                is_labelled_small: (values.len() - 1 - place).is_multiple_of(every_small),
                has_value: *value > 0 && step >= 20.0,
                has_value_small: step >= 60.0,
            }
        });
        Self {
            title: title.into(),
            summary: summary.into(),
            heads,
            bars: bars.collect(),
            base: HEIGHT - BOTTOM,
            width: WIDTH,
        }
    }
}

fn tenth(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// A line of small bars beside a number that says the same.
#[derive(Template)]
#[template(
    source = r#"<svg class="spark" viewBox="0 0 {{ bars.len() * 4 }} 20" aria-hidden="true">{% for (x, y, height) in bars %}<rect class="fill" x="{{ x }}" y="{{ y }}" width="3" height="{{ height }}"/>{% endfor %}</svg>"#,
    ext = "html"
)]
pub(crate) struct Sparkline {
    bars: Vec<(usize, f64, f64)>,
}

impl Sparkline {
    /// Bars for values in order; what is not 0 can be seen.
    pub(crate) fn new(values: &[u64]) -> Self {
        let most = values.iter().copied().max().unwrap_or(0).max(1) as f64;
        let bar = |(place, value): (usize, &u64)| {
            let height = if *value == 0 { 0.0 } else { (20.0 * *value as f64 / most).max(1.5) };
            (place * 4, tenth(20.0 - height), tenth(height))
        };
        Self { bars: values.iter().enumerate().map(bar).collect() }
    }
}

/// What a whole is made of: a table whose rows have bars against the most frequent one.
#[derive(Template)]
#[template(path = "mix.html")]
pub(crate) struct BreakdownChart {
    title: &'static str,
    /// What the rows are and what is counted.
    heads: (&'static str, &'static str),
    shares: Vec<Share>,
}

struct Share {
    label: String,
    href: String,
    count: u64,
    /// The length of its bar, per cent of the longest one.
    width: f64,
}

impl BreakdownChart {
    /// A mix of things, each with its name, the address where it leads and how many there are; `None` of nothing.
    pub(crate) fn new(
        title: &'static str,
        heads: (&'static str, &'static str),
        values: impl IntoIterator<Item = (String, String, u64)>,
    ) -> Option<Self> {
        let values: Vec<_> = values.into_iter().collect();
        let most = values.iter().map(|(.., count)| *count).max().filter(|most| *most > 0)? as f64;
        let share = |(label, href, count): (String, String, u64)| {
            let width = tenth(100.0 * count as f64 / most);
            Share { label, href, count, width }
        };
        Some(Self { title, heads, shares: values.into_iter().map(share).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_keep_their_proportions_and_stay_inside() {
        let values: Vec<(String, u64)> = (0..30).map(|year| ((1990 + year).to_string(), year as u64 * 3)).collect();
        let chart = BarChart::new("Rounds", "", ("Year", "Rounds"), &values);
        let most = chart.bars.last().unwrap();
        assert!(chart.bars.iter().all(|bar| bar.x >= 0.0 && bar.x + bar.width <= WIDTH && bar.y >= TOP - 0.1));
        for bar in &chart.bars {
            assert!((bar.height / most.height - bar.value as f64 / most.value as f64).abs() < 0.01);
        }
        assert!(most.is_labelled);
        assert!(chart.bars.iter().filter(|bar| bar.is_labelled).count() <= LABELS);
        assert!(chart.render().unwrap().contains("<td class=\"right\">87</td>"));
        // Nothing at all is no division by zero.
        assert!(BarChart::new("", "", ("", ""), &[]).render().unwrap().contains("<svg"));
    }

    #[test]
    fn the_most_frequent_share_has_the_longest_bar() {
        let value = |count| (String::new(), String::new(), count);
        let mix = BreakdownChart::new("", ("", ""), [value(4), value(1), value(0)]).unwrap();
        assert_eq!(mix.shares.iter().map(|share| share.width).collect::<Vec<_>>(), [100.0, 25.0, 0.0]);
        assert!(BreakdownChart::new("", ("", ""), [value(0)]).is_none());
    }
}
