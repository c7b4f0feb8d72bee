//! Vertical bars.

use std::collections::BTreeMap;

use askama::Template;

use crate::charts::columns::{BASE, BarColumns, HEIGHT, TOP};
use crate::charts::{ChartHead, ChartItem, ChartUnit, DataTable};

/// Vertical bars, one for each year, day or range of values.
#[derive(Template)]
#[template(path = "charts/bars.html")]
pub(crate) struct Bars {
    head: ChartHead,
    columns: BarColumns,
    /// Phrase and link of each column.
    marks: Vec<(String, Option<String>)>,
    is_linked: bool,
    table: DataTable,
}

impl Bars {
    /// `heads` are the column headings of the data table.
    pub(crate) fn new(head: ChartHead, heads: [&str; 2], unit: ChartUnit, items: Vec<ChartItem>) -> Self {
        let values: Vec<(&str, Option<u64>)> = items.iter().map(|item| (item.label.as_str(), item.value)).collect();
        Self {
            columns: BarColumns::new(&values, unit),
            is_linked: items.iter().any(|item| item.href.is_some()),
            table: DataTable::from_items(heads, &items, unit),
            marks: items
                .into_iter()
                .map(|item| (format!("{}: {}", item.label, unit.long(item.value)), item.href))
                .collect(),
            head,
        }
    }

    /// A histogram with a bar for each bin. `counts` has the number of records by value, a bin is its first and last
    /// value. `name` formats a value, `href` returns the path of a bin's list. `None` without values.
    pub(crate) fn histogram(
        head: ChartHead,
        heads: [&str; 2],
        unit: ChartUnit,
        counts: &BTreeMap<u32, u64>,
        bins: &[(u32, u32)],
        name: impl Fn(u32) -> String,
        href: impl Fn(u32, u32) -> Option<String>,
    ) -> Option<Self> {
        counts.first_key_value()?;
        let item = |(low, high): (u32, u32)| {
            let count = counts.range(low..=high).map(|(_, count)| *count).sum();
            let label = if low == high { name(low) } else { format!("{}–{}", name(low), name(high)) };
            ChartItem { label, value: Some(count), href: href(low, high).filter(|_| count > 0) }
        };
        Some(Self::new(head, heads, unit, bins.iter().copied().map(item).collect()))
    }
}

/// Bins of `size` values that start at multiples of `size` and cover all values.
pub(crate) fn even_bins(counts: &BTreeMap<u32, u64>, size: u32) -> Vec<(u32, u32)> {
    let index = |end: Option<(&u32, &u64)>| end.map(|(value, _)| value / size);
    let (Some(first), Some(last)) = (index(counts.first_key_value()), index(counts.last_key_value())) else {
        return Vec::new();
    };
    (first..=last).map(|index| (index * size, index * size + (size - 1))).collect()
}

/// Bins of 1, 2, 3 to 4, 5 to 8 … that cover all values, for mostly small values. The last bin ends at the largest
/// value.
pub(crate) fn doubling_bins(counts: &BTreeMap<u32, u64>) -> Vec<(u32, u32)> {
    let (Some((first, _)), Some((last, _))) = (counts.first_key_value(), counts.last_key_value()) else {
        return Vec::new();
    };
    let ends = (0..u32::BITS).map(|power| 1_u32 << power);
    let bins = ends.map(|end| if end == 1 { (0, 1) } else { (end / 2 + 1, end) });
    let bins = bins.filter(|(low, high)| high >= first && low <= last);
    bins.map(|(low, high)| (low.max(*first), high.min(*last))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::check;

    const ROUNDS: ChartUnit = ChartUnit::Count("round", "rounds");

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn bars_are_proportional_and_their_labels_apart(items in check::items(0..61)) {
            let html = Bars::new(check::head(), ["Year", "Rounds"], ROUNDS, items.clone()).render().unwrap();
            let chart = check::chart(&html);
            let bars = chart.marks("rect", "fill");
            let values: Vec<u64> = items.iter().filter_map(|item| item.value).collect();
            prop_assert_eq!(bars.len(), values.len());
            let max = values.iter().copied().max().unwrap_or(0).max(1) as f64;
            for (bar, value) in bars.iter().zip(values) {
                prop_assert!((bar.number("height") / (BASE - TOP) - value as f64 / max).abs() < 1e-4);
                prop_assert!((bar.number("y") + bar.number("height") - BASE).abs() < 0.02);
            }
            // Unknown values are hatched, never bars.
            let unknown = items.iter().filter(|item| item.value.is_none()).count();
            prop_assert_eq!(chart.marks("rect", "gap").len(), unknown);
            prop_assert_eq!(chart.uncovered(), unknown);
        }
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn a_histogram_has_every_record_in_one_bar(
            counts in proptest::collection::btree_map(0..101_u32, 1..50_u64, 0..40),
            bin in 2..20_u32,
        ) {
            let bins = even_bins(&counts, bin);
            let href = |low: u32, _| Some(format!("/vcs?min_health_score={low}"));
            let chart = Bars::histogram(check::head(), ["Score", "Firms"], ChartUnit::Count("firm", "firms"), &counts, &bins, |score| score.to_string(), href);
            prop_assert_eq!(chart.is_some(), !counts.is_empty());
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::chart(&html);
            let cells = chart.all("td");
            let sum: u64 = cells.iter().map(|cell| cell.text().parse::<u64>().unwrap()).sum();
            prop_assert_eq!(sum, counts.values().sum::<u64>());
            for (score, count) in &counts {
                let low = score / bin * bin;
                let row = chart.all("tr").into_iter().find(|row| row.text().starts_with(&format!("{low}–"))).unwrap();
                let in_bin: u64 = counts.range(low..low + bin).map(|(_, count)| *count).sum();
                prop_assert!(row.text().ends_with(&in_bin.to_string()) && in_bin >= *count);
            }
        }
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn doubling_bins_have_every_value_once(counts in proptest::collection::btree_map(0..5_000_u32, 1..50_u64, 1..40)) {
            let bins = doubling_bins(&counts);
            for value in counts.keys() {
                prop_assert_eq!(bins.iter().filter(|(low, high)| (low..=high).contains(&value)).count(), 1);
            }
            let (least, most) = (counts.first_key_value().unwrap().0, counts.last_key_value().unwrap().0);
            prop_assert_eq!((bins[0].0, bins[bins.len() - 1].1), (*least, *most));
        }
    }

    #[test]
    fn bins_double() {
        let counts = BTreeMap::from([(1, 990), (29, 1)]);
        assert_eq!(doubling_bins(&counts), [(1, 1), (2, 2), (3, 4), (5, 8), (9, 16), (17, 29)]);
    }

    #[test]
    fn amounts_are_in_dollars() {
        let items = vec![ChartItem::new("2020", Some(12_500_000)), ChartItem::new("2021", None)];
        let html = Bars::new(check::head(), ["Year", "Raised"], ChartUnit::Usd, items).render().unwrap();
        let titles: Vec<String> =
            check::chart(&html).all("title").iter().map(|title| title.text().to_owned()).collect();
        assert_eq!(titles, ["2020: $12.5M", "2021: not covered"]);
    }

    #[test]
    fn a_chart_with_space_shows_all_values_and_one_without_shows_the_largest() {
        let items = (0..20).map(|year| ChartItem::new((2000 + year).to_string(), Some(1_000 + year))).collect();
        let html = Bars::new(check::head(), ["Year", "Rounds"], ROUNDS, items).render().unwrap();
        let chart = check::chart(&html);
        assert_eq!(chart.texts(240.0).iter().filter(|text| text.contains(',')).count(), 1);
        assert!(chart.texts(240.0).contains(&"1,019".to_owned()) && chart.texts(240.0).contains(&"2019".to_owned()));
        let years = ["2001", "2003", "2019"].map(str::to_owned);
        assert!(years.iter().all(|year| chart.texts(552.0).contains(year)), "{:?}", chart.texts(552.0));
    }
}
