use askama::Template;

use crate::charts::labels::{ASCENT, Anchor, DESCENT, LAYOUTS, Label, LabelPlacer, WIDTHS};
use crate::charts::{ChartFigure, ChartHead, ChartItem, DataRow, Percent, largest, round, text};

const HEIGHT: f64 = 300.0;
/// Chart width that the layout is optimized for, in CSS pixels.
const USUAL_WIDTH: f64 = 760.0;
/// Padding between the edge of a rectangle and its text, in CSS pixels.
const PADDING: f64 = 6.0;
/// Minimum space for a shortened name, in CSS pixels; with less, a name that does not fit is left out.
const MIN_ROOM: f64 = 56.0;
const LINE: f64 = ASCENT + DESCENT + 2.0;
/// Items below this share of the total are merged.
const MIN_SHARE: f64 = 0.012;
const OTHER: &str = "Other";

/// Rectangles with areas proportional to values. Small items are merged into one rectangle, "Other".
#[derive(Template)]
#[template(path = "charts/treemap.html")]
pub struct Treemap {
    head: ChartHead,
    tiles: Vec<TreemapTile>,
    labels: Vec<Label>,
    /// Number of items that are not drawn because their values are unknown.
    unknown: usize,
    is_linked: bool,
    table: Vec<DataRow>,
}

struct TreemapTile {
    x: Percent,
    y: f64,
    width: Percent,
    height: f64,
    title: String,
    href: Option<String>,
}

/// A rectangle, in fractions of the chart.
#[derive(Clone, Copy, Debug)]
struct Area {
    /// From the left and from the top.
    start: [f64; 2],
    /// Width and height.
    size: [f64; 2],
}

impl Treemap {
    /// Unknown values appear only in the table. `None` if no value is above 0.
    pub fn new(head: ChartHead, mut items: Vec<ChartItem>) -> Option<Self> {
        items.sort_by_key(|item| std::cmp::Reverse(item.value));
        let (unit, table) = (head.unit, head.rows(&items));
        let head = head.or_found(|_| largest(unit, items.iter().map(|item| (item.label.as_str(), item.value))));
        let unknown = items.iter().filter(|item| item.value.is_none()).count();
        let total: f64 = items.iter().filter_map(|item| item.value).map(|value| value as f64).sum();
        items.retain(|item| item.value.is_some_and(|value| value > 0));
        let is_small = |item: &ChartItem| (item.value.unwrap_or(0) as f64) < MIN_SHARE * total;
        let small = items.iter().position(is_small).unwrap_or(items.len());
        // A single small item keeps its name.
        if items.len() - small > 1 {
            let others = items.split_off(small);
            let sum = others.iter().filter_map(|item| item.value).fold(0, u64::saturating_add);
            items.push(ChartItem::new(format!("{OTHER} ({})", others.len()), Some(sum)));
        }
        let values: Vec<f64> = items.iter().map(|item| item.value.unwrap_or(0) as f64).collect();
        let mut labels = LabelPlacer::default();
        let tile = |(Area { start: [x, y], size: [width, height] }, item): (Area, ChartItem)| {
            let value = item.value.map_or_else(String::new, |value| unit.short(value));
            let rooms = WIDTHS.map(|all| width * all - 2.0 * PADDING);
            // A value is shown only below a name.
            let lines = (height * HEIGHT - 2.0 * PADDING) / LINE;
            let name = rooms.map(|room| {
                let is_readable = text::width(&item.label) <= room || room >= MIN_ROOM;
                (is_readable && lines >= 1.0).then(|| text::shortened(&item.label, room))
            });
            let value = LAYOUTS.map(|layout| {
                let fits = name[layout].is_some() && text::width(&value) <= rooms[layout] && lines >= 2.0;
                fits.then(|| value.clone())
            });
            for (text, line) in [(name, 1.0), (value, 2.0)] {
                let base = y * HEIGHT + PADDING + line * LINE - DESCENT;
                labels.add_at(x, PADDING, base, text, Anchor::Start);
            }
            TreemapTile {
                x: Percent(x),
                y: round(y * HEIGHT),
                width: Percent(width),
                height: round(height * HEIGHT),
                title: format!("{}: {}", item.label, unit.long(item.value)),
                href: item.href,
            }
        };
        let tiles: Vec<TreemapTile> = squarified(&values).into_iter().zip(items).map(tile).collect();
        let is_linked = tiles.iter().any(|tile| tile.href.is_some());
        (!tiles.is_empty()).then_some(Self { head, tiles, labels: labels.labels, unknown, is_linked, table })
    }
}

/// Lays out areas for positive values in descending order (Bruls, Huizing, van Wijk: "Squarified treemaps"). Fills rows
/// along the shorter side of the remaining area; a row grows as long as its rectangles get closer to squares.
fn squarified(values: &[f64]) -> Vec<Area> {
    let mut left = Area { start: [0.0; 2], size: [1.0; 2] };
    let mut areas = Vec::with_capacity(values.len());
    let mut rest = values;
    let mut sum_left: f64 = values.iter().sum();
    while !rest.is_empty() {
        // In CSS pixels of a chart of the usual width.
        let (width, height) = (left.size[0] * USUAL_WIDTH, left.size[1] * HEIGHT);
        let (across, along) = if width >= height { (0, 1) } else { (1, 0) };
        let side = width.min(height);
        let scale = width * height / sum_left;
        // The worst aspect ratio in a row of `count` rectangles.
        let worst = |count: usize| {
            let sum: f64 = rest[..count].iter().sum::<f64>() * scale;
            let (largest, smallest) = (rest[0] * scale, rest[count - 1] * scale);
            (side * side * largest / (sum * sum)).max(sum * sum / (side * side * smallest))
        };
        let mut count = 1;
        while count < rest.len() && worst(count + 1) <= worst(count) {
            count += 1;
        }
        let sum: f64 = rest[..count].iter().sum();
        let is_last = count == rest.len();
        let share = if is_last { 1.0 } else { sum / sum_left };
        let mut offset = 0.0;
        for value in &rest[..count] {
            let part = value / sum;
            let mut area = left;
            area.start[along] += left.size[along] * offset;
            area.size[along] *= part;
            area.size[across] *= share;
            areas.push(area);
            offset += part;
        }
        left.start[across] += left.size[across] * share;
        left.size[across] *= 1.0 - share;
        sum_left -= sum;
        rest = &rest[count..];
    }
    areas
}

impl ChartFigure for Treemap {
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
        fn areas_are_proportional_and_fill_the_chart(items in check::items(0..60)) {
            let unit = ChartUnit::Count("startup", "startups");
            let chart = Treemap::new(check::head().table(["Sector", "Startups"], unit), items.clone());
            let values: Vec<f64> = items.iter().filter_map(|item| item.value).map(|value| value as f64).collect();
            let total: f64 = values.iter().sum();
            prop_assert_eq!(chart.is_some(), total > 0.0);
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::chart(&html);
            let tiles: Vec<[f64; 4]> = chart.all("rect").iter()
                .map(|tile| ["x", "y", "width", "height"].map(|name| tile.number(name)))
                .collect();
            let share = |tile: &[f64; 4]| tile[2] / 100.0 * tile[3] / HEIGHT;
            let large: Vec<f64> = {
                let mut large: Vec<f64> = values.iter().copied().filter(|value| *value >= MIN_SHARE * total).collect();
                large.sort_by(|left, right| right.total_cmp(left));
                large
            };
            for (tile, value) in tiles.iter().zip(&large) {
                prop_assert!((share(tile) - value / total).abs() < 1e-3, "{} {}", share(tile), value / total);
            }
            prop_assert!((tiles.iter().map(share).sum::<f64>() - 1.0).abs() < 5e-3);
            for (index, tile) in tiles.iter().enumerate() {
                prop_assert!(tile[0] + tile[2] < 100.02 && tile[1] + tile[3] < HEIGHT + 0.02);
                for other in &tiles[..index] {
                    let overlap = |from: usize| (tile[from] + tile[from + 2]).min(other[from] + other[from + 2]) - tile[from].max(other[from]);
                    prop_assert!(overlap(0) < 0.03 || overlap(1) < 0.03, "{:?} covers {:?}", tile, other);
                }
            }
            prop_assert_eq!(chart.uncovered(), items.len() - values.len());
        }
    }

    #[test]
    fn rectangles_are_nearly_square_and_small_items_are_summed_up() {
        let mut items: Vec<ChartItem> =
            (1..=40).map(|index| ChartItem::new(format!("Sector {index}"), Some(1))).collect();
        items.push(ChartItem::new("Fintech", Some(960)));
        items.push(ChartItem::new("Health", Some(500)));
        let head = check::head().table(["", ""], ChartUnit::Count("startup", "startups"));
        let html = Treemap::new(head, items).unwrap().render().unwrap();
        let titles: Vec<String> =
            check::chart(&html).all("title").iter().map(|title| title.text().to_owned()).collect();
        assert_eq!(titles, ["Fintech: 960 startups", "Health: 500 startups", "Other (40): 40 startups"]);
        for area in squarified(&[6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0]) {
            let ratio = area.size[0] * USUAL_WIDTH / (area.size[1] * HEIGHT);
            assert!((0.3..3.0).contains(&ratio), "{area:?}");
        }
    }
}
