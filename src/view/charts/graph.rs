use askama::Template;

use crate::charts::labels::{Anchor, LAYOUTS, Label, LabelPlacer, PerLayout, WIDTHS};
use crate::charts::{ChartFigure, ChartHead, ChartItem, DataCell, DataRow, Datum, Percent, WIDE, largest, round, text};

const MAX: usize = 12;
/// Distance between two names on one side, and height of their links, in CSS pixels.
const ROW: f64 = 30.0;
/// Largest horizontal distance of a node from the center, as a fraction of the width.
const REACH: f64 = 0.13;
/// Distance from a node to its name, in CSS pixels.
const OFFSET: f64 = 11.0;
const THINNEST: f64 = 1.0;
const THICKEST: f64 = 9.0;

/// One record in the middle and its neighbors around it. Thicker lines mean that two share more.
#[derive(Template)]
#[template(path = "charts/graph.html")]
pub struct Graph {
    head: ChartHead,
    nodes: Vec<GraphNode>,
    height: f64,
    center: f64,
    is_linked: bool,
    table: Vec<DataRow>,
}

pub struct Neighbor {
    pub item: ChartItem,
    /// Path of the list of what the two share.
    pub shared: String,
    pub detail: String,
}

struct GraphNode {
    x: Percent,
    y: f64,
    thickness: f64,
    /// The clickable area, from the node to its name.
    left: Percent,
    width: Percent,
    title: String,
    href: Option<String>,
    labels: Vec<Label>,
}

impl Graph {
    /// Draws the first 12 neighbors, on two sides from top to bottom. `None` without neighbors.
    pub fn new(head: ChartHead, mut neighbors: Vec<Neighbor>) -> Option<Self> {
        let unit = head.unit;
        neighbors.truncate(MAX);
        let row = |Neighbor { item, shared, detail }: &Neighbor| {
            let shared = DataCell { href: Some(shared.clone()), ..DataCell::from_value(item.value, unit) };
            let detail_datum = if detail.is_empty() { Datum::Unknown } else { Datum::Text(detail.clone()) };
            let cells = vec![shared, DataCell::of(detail.as_str(), detail_datum)];
            DataRow { label: item.label.clone(), href: item.href.clone(), cells }
        };
        let table: Vec<DataRow> = neighbors.iter().map(row).collect();
        let items: Vec<ChartItem> = neighbors.into_iter().map(|neighbor| neighbor.item).collect();
        let head = head.or_found(|_| largest(unit, items.iter().map(|item| (item.label.as_str(), item.value))));
        let max = items.iter().filter_map(|item| item.value).max().unwrap_or(0).max(1) as f64;
        // Every other neighbor is on the left side.
        let rows = items.len().div_ceil(2);
        let height = ROW * rows.max(2) as f64;
        let center = height / 2.0;
        let node = |(index, item): (usize, ChartItem)| {
            let is_right = index % 2 == 0;
            let on_side = if is_right { rows } else { table.len() - rows };
            let y = center + ROW * ((index / 2) as f64 - (on_side as f64 - 1.0) / 2.0);
            // On an ellipse a little higher than the chart, so that the outermost nodes are not at the center.
            let reach = REACH * (1.0 - ((y - center) / (height / 2.0 + ROW / 2.0)).powi(2)).max(0.0).sqrt();
            let (x, dx, anchor, left) = match is_right {
                true => (0.5 + reach, OFFSET, Anchor::Start, 0.5 + reach),
                false => (0.5 - reach, -OFFSET, Anchor::End, 0.0),
            };
            let count = item.value.map_or_else(String::new, |value| format!(" {}", unit.short(value)));
            let name: PerLayout<Option<String>> = LAYOUTS.map(|layout| {
                let room = WIDTHS[layout] * (0.5 - reach) - OFFSET;
                // A count that does not fit is only in the title and the table.
                let count =
                    if WIDTHS[layout] >= WIDE && text::width(&count) <= room / 2.0 { count.as_str() } else { "" };
                Some(format!("{}{count}", text::shortened(&item.label, room - text::width(count))))
            });
            let mut labels = LabelPlacer::default();
            labels.add_at(x, dx, y + 4.0, name, anchor);
            let thickness = match item.value {
                Some(value) => (THICKEST * value as f64 / max).max(THINNEST),
                None => THINNEST,
            };
            GraphNode {
                x: Percent(x),
                y: round(y),
                thickness: round(thickness),
                left: Percent(left),
                width: Percent(0.5 - reach),
                title: format!("{}: {}", item.label, unit.long(item.value)),
                href: item.href,
                labels: labels.labels,
            }
        };
        let is_linked = items.iter().any(|item| item.href.is_some());
        let nodes: Vec<GraphNode> = items.into_iter().enumerate().map(node).collect();
        (!nodes.is_empty()).then_some(Self { head, nodes, height, center, is_linked, table })
    }
}

impl ChartFigure for Graph {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn table(&self) -> &[DataRow] {
        &self.table
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{ChartUnit, check};

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn names_are_apart_and_lines_as_thick_as_what_is_shared(items in check::items(0..20)) {
            let unit = ChartUnit::Count("round", "rounds");
            let neighbor = |item: &ChartItem| Neighbor { item: item.clone(), shared: "/rounds".into(), detail: "2021".into() };
            let neighbors = items.iter().map(neighbor).collect();
            let chart = Graph::new(check::head().table(["Firm", "Shared rounds", "Last"], unit), neighbors);
            prop_assert_eq!(chart.is_some(), !items.is_empty());
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::chart(&html);
            let shown = &items[..items.len().min(MAX)];
            let lines = chart.all("line");
            prop_assert_eq!(lines.len(), shown.len());
            let max = shown.iter().filter_map(|item| item.value).max().unwrap_or(0).max(1) as f64;
            for (line, item) in lines.iter().zip(shown) {
                let thickness = THICKEST * item.value.unwrap_or(0) as f64 / max;
                prop_assert!((line.number("stroke-width") - thickness.max(THINNEST)).abs() < 0.01);
            }
            // Each neighbor has its name in both layouts, and the full name in its title.
            for width in [240.0, 900.0] {
                prop_assert_eq!(chart.texts(width).len(), shown.len());
            }
            for (title, item) in chart.all("title").iter().zip(shown) {
                prop_assert!(title.text().starts_with(&item.label));
            }
        }
    }
}
