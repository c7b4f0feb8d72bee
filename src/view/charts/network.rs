use std::cmp::Reverse;

use askama::Template;

use crate::charts::labels::{CENTERED, Label, LabelPlacer};
use crate::charts::{ChartFigure, ChartHead, ChartItem, DataCell, DataRow, Datum, Percent, round, text};

const HEIGHT: f64 = 420.0;
/// Margins for half a node: a fraction of the width, and CSS pixels.
const SIDE: f64 = 0.05;
const EDGE: f64 = 28.0;
const MIN_RADIUS: f64 = 3.0;
const MAX_RADIUS: f64 = 11.0;
const THICKNESS: [f64; 2] = [0.8, 6.0];
/// Maximum number of lines, the strongest ones.
const MAX_TIES: usize = 90;
/// Longest name in CSS pixels.
const NAME: f64 = 132.0;
const STEPS: u32 = 160;

/// Records that share something, as dots with lines between them. Who shares much is close together; how far two are apart, and in
/// which direction, says nothing else.
#[derive(Template)]
#[template(path = "charts/network.html")]
pub struct Network {
    head: ChartHead,
    nodes: Vec<NetworkNode>,
    lines: Vec<NetworkLine>,
    labels: Vec<Label>,
    is_linked: bool,
    table: Vec<DataRow>,
}

/// Two items by their places, and how much they share.
pub struct NetworkTie {
    pub between: [usize; 2],
    pub shared: u32,
}

struct NetworkNode {
    x: Percent,
    y: f64,
    radius: f64,
    title: String,
    href: Option<String>,
}

struct NetworkLine {
    from: (Percent, f64),
    to: (Percent, f64),
    thickness: f64,
}

impl Network {
    /// `head` names four headings: items, their values, with whom each shares most, how much. `None` without ties.
    pub fn new(head: ChartHead, items: Vec<ChartItem>, mut ties: Vec<NetworkTie>) -> Option<Self> {
        ties.sort_by_key(|tie| (Reverse(tie.shared), tie.between));
        let most = ties.first()?.shared;
        let unit = head.unit;
        let head = head.or_found(|_| finding(&items, &ties));
        let places = laid_out(items.len(), &ties);
        let max = items.iter().filter_map(|item| item.value).max().unwrap_or(0).max(1) as f64;
        let radius_of = |item: &ChartItem| {
            let share = (item.value.unwrap_or(0) as f64 / max).sqrt();
            MIN_RADIUS + (MAX_RADIUS - MIN_RADIUS) * share
        };
        let mut labels = LabelPlacer::default();
        for (item, [x, y]) in items.iter().zip(&places) {
            let radius = radius_of(item);
            labels.block(*x, radius, y - radius, y + radius);
        }
        // Those with most come first; a name without room is only in the title and the table.
        for (item, [x, y]) in items.iter().zip(&places) {
            let name = text::shortened(&item.label, NAME);
            labels.add(&CENTERED, *x, y - radius_of(item) - 4.0, name, [false, true, true]);
        }
        let line = |NetworkTie { between: [one, other], shared }: &NetworkTie| {
            let end = |place: usize| (Percent(places[place][0]), round(places[place][1]));
            let [thin, thick] = THICKNESS;
            let thickness = round(thin + (thick - thin) * f64::from(*shared) / f64::from(most));
            NetworkLine { from: end(*one), to: end(*other), thickness }
        };
        let lines = ties.iter().take(MAX_TIES).map(line).collect();
        let row = |(place, item): (usize, &ChartItem)| {
            let strongest = ties.iter().find(|tie| tie.between.contains(&place));
            let with = strongest.map(|tie| items[tie.between[usize::from(tie.between[0] == place)]].label.clone());
            let with = DataCell::of(with.clone().unwrap_or_default(), with.map_or(Datum::Unknown, Datum::Text));
            let shared = strongest.map(|tie| u64::from(tie.shared));
            let shared = DataCell::of(shared.map_or_else(String::new, |shared| unit.short(shared)), shared.into());
            let cells = vec![DataCell::from_value(item.value, unit), with, shared];
            DataRow { label: item.label.clone(), href: item.href.clone(), cells }
        };
        let table = items.iter().enumerate().map(row).collect();
        let is_linked = items.iter().any(|item| item.href.is_some());
        let node = |(item, [x, y]): (ChartItem, [f64; 2])| NetworkNode {
            x: Percent(x),
            y: round(y),
            radius: round(radius_of(&item)),
            title: format!("{}: {}", item.label, unit.long(item.value)),
            href: item.href,
        };
        let nodes = items.into_iter().zip(places).map(node).collect();
        Some(Self { head, nodes, lines, labels: labels.labels, is_linked, table })
    }
}

/// The pair that shares most; `None` if several share as much.
fn finding(items: &[ChartItem], ties: &[NetworkTie]) -> Option<String> {
    let most = ties.first()?;
    if ties.get(1).is_some_and(|next| next.shared == most.shared) {
        return None;
    }
    let [one, other] = most.between.map(|place| items[place].label.as_str());
    Some(format!("Most often together: {one} and {other} ({})", most.shared))
}

/// Positions of the nodes: a fraction of the width, and CSS pixels. Forces move them from fixed starts (Fruchterman, Reingold:
/// "Graph drawing by force-directed placement"), so that the same ties always make the same picture.
fn laid_out(count: usize, ties: &[NetworkTie]) -> Vec<[f64; 2]> {
    let mut places: Vec<[f64; 2]> =
        (0..count as u32).map(|index| [halton(index + 1, 2), halton(index + 1, 3)]).collect();
    let ideal = (1.0 / count.max(1) as f64).sqrt();
    let most = f64::from(ties.first().map_or(1, |tie| tie.shared.max(1)));
    for step in 0..STEPS {
        let mut moves = vec![[0.0_f64; 2]; count];
        for one in 0..count {
            for other in 0..one {
                let ([dx, dy], distance) = apart(places[one], places[other]);
                let force = ideal * ideal / (distance * distance);
                for (place, sign) in [(one, 1.0), (other, -1.0)] {
                    moves[place][0] += sign * dx * force;
                    moves[place][1] += sign * dy * force;
                }
            }
            // Towards the middle, so that parts without ties do not drift away.
            moves[one][0] += (0.5 - places[one][0]) * 0.4;
            moves[one][1] += (0.5 - places[one][1]) * 0.4;
        }
        for NetworkTie { between: [one, other], shared } in ties {
            let ([dx, dy], distance) = apart(places[*one], places[*other]);
            let force = distance / ideal * (0.15 + f64::from(*shared) / most);
            for (place, sign) in [(*one, -1.0), (*other, 1.0)] {
                moves[place][0] += sign * dx * force;
                moves[place][1] += sign * dy * force;
            }
        }
        let reach = 0.1 * f64::from(STEPS - step) / f64::from(STEPS);
        for (place, [dx, dy]) in places.iter_mut().zip(moves) {
            let length = (dx * dx + dy * dy).sqrt().max(1e-9);
            let scale = reach.min(length) / length;
            *place = [place[0] + dx * scale, place[1] + dy * scale];
        }
    }
    let range = |axis: usize| {
        let ends = places.iter().map(|place| place[axis]);
        ends.fold((f64::MAX, f64::MIN), |(low, high), end| (low.min(end), high.max(end)))
    };
    let ((left, right), (top, bottom)) = (range(0), range(1));
    let fraction = |value: f64, low: f64, high: f64| if high > low { (value - low) / (high - low) } else { 0.5 };
    let fitted = |[x, y]: [f64; 2]| {
        let x = SIDE + (1.0 - 2.0 * SIDE) * fraction(x, left, right);
        [x, EDGE + (HEIGHT - 2.0 * EDGE) * fraction(y, top, bottom)]
    };
    places.iter().copied().map(fitted).collect()
}

fn apart(one: [f64; 2], other: [f64; 2]) -> ([f64; 2], f64) {
    let [dx, dy] = [one[0] - other[0], one[1] - other[1]];
    ([dx, dy], (dx * dx + dy * dy).sqrt().max(1e-3))
}

/// The number at a place of an even sequence between 0 and 1 (Halton).
fn halton(mut index: u32, base: u32) -> f64 {
    let (mut part, mut value) = (1.0, 0.0);
    while index > 0 {
        part /= f64::from(base);
        value += part * f64::from(index % base);
        index /= base;
    }
    value
}

impl ChartFigure for Network {
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
        fn names_are_apart_and_the_same_ties_make_the_same_picture(
            items in check::items(2..40),
            pairs in proptest::collection::vec((0..40_usize, 0..40_usize, 1..50_u32), 0..60),
        ) {
            let count = items.len();
            let pair = |(one, other, shared): &(usize, usize, u32)| {
                let [one, other] = [one % count, other % count];
                (one != other).then(|| NetworkTie { between: [one.min(other), one.max(other)], shared: *shared })
            };
            let draw = || {
                let head = check::head().table(["Firm", "Rounds", "Most with", "Shared"], ChartUnit::Count("round", "rounds"));
                Network::new(head, items.clone(), pairs.iter().filter_map(pair).collect())
            };
            let Some(network) = draw() else { return Ok(()) };
            let html = network.render().unwrap();
            let chart = check::chart(&html);
            prop_assert_eq!(chart.all("circle").len(), count);
            prop_assert_eq!(&draw().unwrap().render().unwrap(), &html);
            for circle in chart.all("circle") {
                prop_assert!((0.0..=100.0).contains(&circle.number("cx")) && (0.0..=HEIGHT).contains(&circle.number("cy")));
            }
        }
    }

    #[test]
    fn who_shares_much_is_close() {
        let item = |name: &str| ChartItem::new(name, Some(9));
        let items = ["A", "B", "C", "D", "E", "F"].map(item).to_vec();
        let tie = |one, other, shared| NetworkTie { between: [one, other], shared };
        let ties =
            vec![tie(0, 1, 9), tie(1, 2, 8), tie(0, 2, 8), tie(3, 4, 9), tie(4, 5, 8), tie(3, 5, 8), tie(2, 3, 1)];
        let places = laid_out(6, &ties);
        let distance = |one: usize, other: usize| {
            let [x, y] = [places[one][0] - places[other][0], (places[one][1] - places[other][1]) / HEIGHT];
            (x * x + y * y).sqrt()
        };
        assert!(distance(0, 1) < distance(0, 4) && distance(4, 5) < distance(1, 5), "{places:?}");
        assert_eq!(finding(&items, &ties[..1]).unwrap(), "Most often together: A and B (9)");
        assert_eq!(finding(&items, &[tie(0, 1, 9), tie(3, 4, 9)]), None);
    }
}
