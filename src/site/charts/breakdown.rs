//! The distribution of a total, and sparklines next to a number.

use askama::Template;

use crate::charts::{ChartItem, Percent, round};
use crate::format;

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
            (index * 4, round(20.0 - height), round(height))
        };
        Self { bars: values.iter().enumerate().map(bar).collect() }
    }
}

/// The distribution of a total: a table with a bar per row, relative to the largest.
#[derive(Template)]
#[template(path = "charts/breakdown.html")]
pub(crate) struct Breakdown {
    title: &'static str,
    heads: [&'static str; 2],
    /// Rows with the length of their bars.
    shares: Vec<(ChartItem, Percent)>,
    /// Omitted rows in words, and the path of a list that has them.
    rest: Option<(String, String)>,
}

impl Breakdown {
    /// `None` if no value is above 0.
    pub(crate) fn new(title: &'static str, heads: [&'static str; 2], items: Vec<ChartItem>) -> Option<Self> {
        let max = items.iter().filter_map(|item| item.value).max().filter(|max| *max > 0)? as f64;
        let share = |item: ChartItem| {
            let length = Percent(item.value.unwrap_or(0) as f64 / max);
            (item, length)
        };
        Some(Self { title, heads, shares: items.into_iter().map(share).collect(), rest: None })
    }

    pub(crate) fn with_rest(self, rest: Option<(String, String)>) -> Self {
        Self { rest, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::check;

    #[test]
    fn the_largest_count_has_the_longest_bar() {
        let item = |value| ChartItem::linked("Seed", value, "/vcs?stage=seed");
        let items = vec![item(Some(4)), item(Some(1)), item(Some(0)), item(None)];
        let html = Breakdown::new("", ["", ""], items).unwrap().render().unwrap();
        let chart = check::fragment(&html);
        let lengths: Vec<&str> = chart.all("rect").iter().filter_map(|bar| bar.get("width")).collect();
        assert_eq!(lengths, ["100%", "25%", "0%"]);
        assert_eq!(chart.uncovered(), 1);
        assert!(Breakdown::new("", ["", ""], vec![item(Some(0)), item(None)]).is_none());
    }

    #[test]
    fn small_values_of_a_sparkline_are_visible() {
        let html = Sparkline::new(&[0, 1, 1_000]).render().unwrap();
        assert!(
            ["height=\"0\"", "height=\"1.5\"", "height=\"20\""].iter().all(|height| html.contains(height)),
            "{html}"
        );
    }
}
