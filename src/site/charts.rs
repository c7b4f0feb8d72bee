//! Charts as SVG, each with its numbers as a table.

use askama::Template;

use crate::site::format;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 190.0;
/// Space for values above the bars.
const TOP: f64 = 18.0;
/// Space for labels below the bars.
const BOTTOM: f64 = 22.0;
/// Space for half of the outermost labels.
const SIDE: f64 = 22.0;
/// Labels that fit on a wide screen.
const LABELS: usize = 12;
/// Labels that fit on a narrow screen.
const LABELS_SMALL: usize = 5;

/// Vertical bars, one for each year or day.
#[derive(Template)]
#[template(path = "bars.html")]
pub(crate) struct BarChart {
    title: String,
    summary: String,
    /// The column headings of the table.
    heads: (&'static str, &'static str),
    bars: Vec<Bar>,
    base: f64,
    width: f64,
}

struct Bar {
    label: String,
    /// `None` if the data does not cover it.
    value: Option<u64>,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    center: f64,
    is_labelled: bool,
    /// On a narrow screen, where text is larger relative to the bars.
    is_labelled_small: bool,
    has_value: bool,
    has_value_small: bool,
}

impl BarChart {
    /// `summary` describes the values in a sentence. A value is `None` if the data does not cover it.
    pub(crate) fn new(
        title: impl Into<String>,
        summary: impl Into<String>,
        heads: (&'static str, &'static str),
        values: &[(String, Option<u64>)],
    ) -> Self {
        let max = values.iter().filter_map(|(_, value)| *value).max().unwrap_or(0).max(1) as f64;
        let step = (WIDTH - 2.0 * SIDE) / values.len().max(1) as f64;
        let every = values.len().div_ceil(LABELS).max(1);
        let every_small = every * values.len().div_ceil(every * LABELS_SMALL).max(1);
        let max_height = HEIGHT - TOP - BOTTOM;
        let bars = values.iter().enumerate().map(|(index, (label, value))| {
            let height = max_height * value.unwrap_or(0) as f64 / max;
            let width = (step * 0.72).min(56.0);
            let center = SIDE + step * (index as f64 + 0.5);
            Bar {
                label: label.clone(),
                value: *value,
                x: tenth(center - width / 2.0),
                y: tenth(HEIGHT - BOTTOM - height),
                width: tenth(width),
                height: tenth(height),
                center: tenth(center),
                // The last bar always has a label.
                is_labelled: (values.len() - 1 - index).is_multiple_of(every),
                is_labelled_small: (values.len() - 1 - index).is_multiple_of(every_small),
                has_value: value.is_some_and(|value| value > 0) && step >= 20.0,
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

/// Small bars next to a number, without labels.
#[derive(Template)]
#[template(
    source = r#"<svg class="spark" viewBox="0 0 {{ bars.len() * 4 }} 20" aria-hidden="true">{% for (x, y, height) in bars %}<rect class="fill" x="{{ x }}" y="{{ y }}" width="3" height="{{ height }}"/>{% endfor %}</svg>"#,
    ext = "html"
)]
pub(crate) struct Sparkline {
    bars: Vec<(usize, f64, f64)>,
}

impl Sparkline {
    /// A value above 0 has a visible height.
    pub(crate) fn new(values: &[u64]) -> Self {
        let max = values.iter().copied().max().unwrap_or(0).max(1) as f64;
        let bar = |(index, value): (usize, &u64)| {
            let height = if *value == 0 { 0.0 } else { (20.0 * *value as f64 / max).max(1.5) };
            (index * 4, tenth(20.0 - height), tenth(height))
        };
        Self { bars: values.iter().enumerate().map(bar).collect() }
    }
}

/// How a total is distributed: a table with a bar per row, relative to the largest.
#[derive(Template)]
#[template(path = "breakdown.html")]
pub(crate) struct BreakdownChart {
    title: &'static str,
    heads: (&'static str, &'static str),
    shares: Vec<Share>,
}

struct Share {
    label: String,
    href: String,
    count: u64,
    /// The length of its bar, in percent of the longest.
    width: f64,
}

impl BreakdownChart {
    /// Each value has a label, a link and a count; `None` if all counts are 0.
    pub(crate) fn new(
        title: &'static str,
        heads: (&'static str, &'static str),
        values: impl IntoIterator<Item = (String, String, u64)>,
    ) -> Option<Self> {
        let values: Vec<_> = values.into_iter().collect();
        let max = values.iter().map(|(.., count)| *count).max().filter(|max| *max > 0)? as f64;
        let share = |(label, href, count): (String, String, u64)| {
            let width = tenth(100.0 * count as f64 / max);
            Share { label, href, count, width }
        };
        Some(Self { title, heads, shares: values.into_iter().map(share).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_proportional_and_inside_the_chart() {
        let values: Vec<(String, Option<u64>)> =
            (0..30).map(|year| ((1990 + year).to_string(), (year > 2).then_some(year as u64 * 3))).collect();
        let chart = BarChart::new("Rounds", "", ("Year", "Rounds"), &values);
        let tallest = chart.bars.last().unwrap();
        assert!(chart.bars.iter().all(|bar| bar.x >= 0.0 && bar.x + bar.width <= WIDTH && bar.y >= TOP - 0.1));
        for bar in &chart.bars {
            assert!(
                (bar.height / tallest.height - bar.value.unwrap_or(0) as f64 / tallest.value.unwrap() as f64).abs()
                    < 0.01
            );
        }
        assert!(tallest.is_labelled);
        assert!(chart.bars.iter().filter(|bar| bar.is_labelled).count() <= LABELS);
        assert!(chart.render().unwrap().contains("<td class=\"right\">87</td>"));
        assert_eq!(chart.render().unwrap().matches("not covered").count(), 3);
        // No values must not divide by zero.
        assert!(BarChart::new("", "", ("", ""), &[]).render().unwrap().contains("<svg"));
    }

    #[test]
    fn the_largest_count_has_the_longest_bar() {
        let value = |count| (String::new(), String::new(), count);
        let chart = BreakdownChart::new("", ("", ""), [value(4), value(1), value(0)]).unwrap();
        assert_eq!(chart.shares.iter().map(|share| share.width).collect::<Vec<_>>(), [100.0, 25.0, 0.0]);
        assert!(BreakdownChart::new("", ("", ""), [value(0)]).is_none());
    }
}
