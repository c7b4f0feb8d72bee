//! Bars of amounts: vertical or horizontal, single or in parts, relative to the largest amount or to a whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use askama::Template;

use crate::charts::labels::{CENTERED, GAP, Label, LabelPlacer, WIDTHS};
use crate::charts::{
    ChartData, ChartFigure, ChartHead, ChartItem, ChartMark, ChartRow, ChartUnit, DataCell, DataRow, Datum, Drawing,
    KeyItem, NOT_COVERED, Percent, Shapes, largest, round, text,
};

/// Height of a figure, in CSS pixels as all heights.
const HEIGHT: f64 = 184.0;
const BASE: f64 = 160.0;
/// Upper end of the highest bar of a figure; its value is above it.
const TOP: f64 = 20.0;
/// Height of the hatching of a figure's unknown values: lower than most bars, so that it is not mistaken for one.
const GAP_HEIGHT: f64 = 32.0;
/// Minimum height of a bar above zero, so that it is visible.
const MIN_HEIGHT: f64 = 1.5;
const THICKNESS: f64 = 12.0;

/// What surrounds the bars.
enum BarForm {
    /// Title, names and values, data table.
    Figure,
    /// Names of the first and the last bar, data table.
    Range,
    /// A table with a bar per row.
    Rows,
    /// Nothing: one bar in parts.
    Whole,
    /// Nothing: small bars next to a number.
    Spark,
}

#[derive(Template)]
#[template(path = "charts/bars.html")]
pub struct Bars {
    form: BarForm,
    head: ChartHead,
    height: f64,
    marks: Vec<BarMark>,
    labels: Vec<Label>,
    /// Color class and name of each series.
    legend: Vec<(String, String)>,
    table: Vec<DataRow>,
    /// Names of the bars of which only a part is covered.
    parts: Vec<String>,
    /// Omitted rows in words, and the path of a list that has them.
    rest: Option<(String, String)>,
}

struct BarMark {
    title: String,
    href: Option<String>,
    /// Left edge and width of the whole column, which is easier to click than the bar; `None` for parts.
    column: Option<(Percent, Percent)>,
    /// Empty if the parts of the bar are drawn instead.
    class: String,
    x: Percent,
    width: Percent,
    y: f64,
    height: f64,
}

impl BarMark {
    /// Positions are fractions of the chart's width across, CSS pixels down.
    fn new(class: &str, title: String, [x, width]: [f64; 2], [y, height]: [f64; 2]) -> Self {
        let (x, width, y, height) = (Percent(x), Percent(width), round(y), round(height));
        Self { title, href: None, column: None, class: class.to_owned(), x, width, y, height }
    }

    fn is_gap(&self) -> bool {
        self.class.starts_with("gap")
    }
}

impl Bars {
    /// A bar for each year, day or range of values. `heads` are the column headings of the data table.
    pub fn new(head: ChartHead, heads: [&str; 2], unit: ChartUnit, items: Vec<ChartItem>) -> Self {
        Self::vertical(BarForm::Figure, head.table(heads, unit), &items, &[])
    }

    /// `counts` has records by value, a bin its first and last value; `name` formats a value. `None` without values.
    pub fn histogram(
        head: ChartHead,
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
        let items: Vec<ChartItem> = bins.iter().copied().map(item).collect();
        Some(Self::vertical(BarForm::Figure, head, &items, &[]))
    }

    /// Bars in parts: a column for each name, a series for each row. Series have the colors of the style sheet in their
    /// order, and those without a value above 0 are left out. A column without any known value is not covered.
    pub fn stacked(head: ChartHead, columns: Vec<String>, rows: Vec<ChartRow>) -> Self {
        let item = |(index, label): (usize, String)| {
            let values = rows.iter().filter_map(|row| row.cells[index].value);
            ChartItem::new(label, values.reduce(u64::saturating_add))
        };
        let items: Vec<ChartItem> = columns.into_iter().enumerate().map(item).collect();
        let series = (1..).zip(rows).map(|(color, row)| (format!("g{color}"), row));
        let is_used = |(_, row): &(String, ChartRow)| row.cells.iter().any(|cell| cell.value > Some(0));
        Self::vertical(BarForm::Figure, head, &items, &series.filter(is_used).collect::<Vec<_>>())
    }

    /// Makes the bars pale for which `is_part` is true of their names: only a part of what they count is covered.
    pub fn partly_covered(mut self, is_part: impl Fn(&str) -> bool) -> Self {
        let mut names = self.table.iter().map(|row| row.label.as_str());
        let mut is_pale = false;
        for mark in &mut self.marks {
            if mark.column.is_some() {
                is_pale = names.next().is_some_and(&is_part);
            }
            if is_pale && !mark.class.is_empty() && !mark.is_gap() {
                mark.class.push_str(" part");
                mark.title.push_str(", others may be missing");
            }
        }
        let is_known = |row: &&DataRow| row.cells.last().is_some_and(|cell| cell.datum != Datum::Unknown);
        let parts = self.table.iter().filter(is_known).filter(|row| is_part(&row.label));
        self.parts = parts.map(|row| row.label.clone()).collect();
        self
    }

    /// Small bars above the fields of a range, in the order of values; true marks a bar inside the range that the list
    /// shows. Bars of zero have no link. `None` unless at least two values are above 0.
    pub fn range(head: ChartHead, items: impl Iterator<Item = (ChartItem, bool)>) -> Option<Self> {
        let (mut items, is_inside): (Vec<ChartItem>, Vec<bool>) = items.unzip();
        items.iter_mut().filter(|item| item.value == Some(0)).for_each(|item| item.href = None);
        if items.iter().filter(|item| item.value > Some(0)).count() < 2 {
            return None;
        }
        let mut bars = Self::vertical(BarForm::Range, head, &items, &[]);
        let outside = bars.marks.iter_mut().zip(is_inside).filter(|(_, is_inside)| !is_inside);
        outside.for_each(|(mark, _)| mark.class.push_str(" outside"));
        Some(bars)
    }

    pub fn spark(values: &[u64]) -> Self {
        let items: Vec<ChartItem> = values.iter().map(|value| ChartItem::new("", Some(*value))).collect();
        Self::vertical(BarForm::Spark, ChartHead::new("", "", ""), &items, &[])
    }

    /// A table with a bar per row, relative to the largest value. `None` if no value is above 0.
    pub fn breakdown(head: ChartHead, items: &[ChartItem], rest: Option<(String, String)>) -> Option<Self> {
        let max = items.iter().filter_map(|item| item.value).max().filter(|max| *max > 0)? as f64;
        let mark = |item: &ChartItem| {
            let class = if item.value.is_some() { "fill" } else { "gap" };
            let width = item.value.unwrap_or(0) as f64 / max;
            BarMark::new(class, String::new(), [0.0, width], [0.0, THICKNESS])
        };
        let marks = items.iter().map(mark).collect();
        let table = head.rows(items);
        let head = head.or_found(|head| largest(head.unit, items.iter().map(|item| (item.label.as_str(), item.value))));
        Some(Self { rest, ..Self::horizontal(BarForm::Rows, head, marks, table) })
    }

    /// One bar: parts of a whole, each a number, a class of the style sheet and a title. `name` is its accessible name.
    pub fn of_whole(name: &str, whole: u16, parts: impl Iterator<Item = (u16, (String, String))>) -> Self {
        let mut end = 0.0;
        let mark = |(number, (class, title)): (u16, (String, String))| {
            let (x, width) = (end, f64::from(number) / f64::from(whole.max(1)));
            end += width;
            BarMark::new(&class, title, [x, width], [0.0, THICKNESS])
        };
        Self::horizontal(BarForm::Whole, ChartHead::new("", name, ""), parts.map(mark).collect(), Vec::new())
    }

    fn horizontal(form: BarForm, head: ChartHead, marks: Vec<BarMark>, table: Vec<DataRow>) -> Self {
        Self {
            form,
            head,
            height: THICKNESS,
            marks,
            labels: Vec::new(),
            legend: Vec::new(),
            table,
            parts: Vec::new(),
            rest: None,
        }
    }

    /// Bars of `items`, or of the parts that `series` add up to: a class and the value in each bar.
    fn vertical(form: BarForm, mut head: ChartHead, items: &[ChartItem], series: &[(String, ChartRow)]) -> Self {
        let unit = head.unit;
        head = head.or_found(|_| largest(unit, items.iter().map(|item| (item.label.as_str(), item.value))));
        // Share of a column that its bar takes, limited to `widest` of the chart.
        let [height, base, top, gap_height, share, widest] = match form {
            BarForm::Figure => [HEIGHT, BASE, TOP, GAP_HEIGHT, 0.74, 0.08],
            BarForm::Range => [52.0, 52.0, 0.0, 52.0, 0.84, 1.0],
            _ => [16.0, 16.0, 0.0, 16.0, 0.75, 1.0],
        };
        let max = items.iter().filter_map(|item| item.value).max().unwrap_or(0);
        let scale = (base - top) / max.max(1) as f64;
        let step = 1.0 / items.len().max(1) as f64;
        let width = (step * share).min(widest);
        let mut table = head.rows(items);
        for (place, (_, row)) in series.iter().enumerate() {
            head.heads.insert(place + 1, row.label.clone());
            for (of_item, cell) in table.iter_mut().zip(&row.cells) {
                let text = cell.value.map_or_else(String::new, |value| unit.short(value));
                let datum = cell.value.into();
                of_item.cells.insert(place, DataCell { text, href: cell.href.clone(), datum });
            }
        }
        let mut marks = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let left = step * index as f64;
            let across = [left + (step - width) / 2.0, width];
            let (class, height) = match item.value {
                None => ("gap", gap_height),
                Some(_) if !series.is_empty() => ("", 0.0),
                Some(0) => ("fill", 0.0),
                Some(value) => ("fill", (scale * value as f64).max(MIN_HEIGHT)),
            };
            let title = format!("{}: {}", item.label, unit.long(item.value));
            let bar = BarMark::new(class, title, across, [base - height, height]);
            let column = Some((Percent(left), Percent(step)));
            marks.push(BarMark { href: item.href.clone(), column, ..bar });
            let mut y = base;
            for (class, row) in series {
                let ChartMark { value, href } = &row.cells[index];
                let Some(value) = value.filter(|value| *value > 0) else { continue };
                let height = scale * value as f64;
                y -= height;
                let title = format!("{}, {}: {}", row.label, item.label, unit.long(Some(value)));
                marks.push(BarMark { href: href.clone(), ..BarMark::new(class, title, across, [y, height]) });
            }
        }
        let labels = if matches!(form, BarForm::Figure) { figure_labels(items, unit, scale) } else { Vec::new() };
        let legend = series.iter().map(|(class, row)| (class.clone(), row.label.clone())).collect();
        Self { form, head, height, marks, labels, legend, table, parts: Vec::new(), rest: None }
    }

    fn is_linked(&self) -> bool {
        self.marks.iter().any(|mark| mark.href.is_some())
    }

    fn has_gaps(&self) -> bool {
        self.marks.iter().any(BarMark::is_gap)
    }

    /// The series, and what hatching and pale bars mean if the reason is known.
    fn page_key(&self) -> Vec<KeyItem> {
        let explains = |class: &str| class != "gap" || !self.head.gap_reason.is_empty();
        self.key().into_iter().filter(|(class, _)| explains(class)).collect()
    }

    /// Bars below each other. On pages they are the rows of a table.
    fn rows_drawing(&self) -> Drawing {
        let mut shapes = Shapes::default();
        let bars = Drawing::WIDTH - NAMES - VALUES;
        for (index, (row, mark)) in self.table.iter().zip(&self.marks).enumerate() {
            let base = ROW * index as f64 + 16.0;
            shapes.text("", 0.0, base, "", &text::shortened(&row.label, NAMES - 8.0));
            shapes.rectangle(
                &mark.class,
                [NAMES, base - 11.0],
                [(bars * mark.width.0).max(MIN_HEIGHT), THICKNESS + 2.0],
            );
            if let Some(cell) = row.cells.last() {
                shapes.text("", Drawing::WIDTH, base, "end", &cell.text);
            }
        }
        shapes.drawing(ROW * self.table.len() as f64)
    }
}

/// Room for names and values, and height of a row, of bars below each other in a picture.
const NAMES: f64 = 176.0;
const VALUES: f64 = 72.0;
const ROW: f64 = 22.0;

impl ChartFigure for Bars {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn table(&self) -> &[DataRow] {
        &self.table
    }

    /// With a column for the coverage of each value, if it is not the same for all.
    fn data(&self) -> ChartData {
        let mut data = ChartData::from_rows(&self.head, &self.table);
        let coverage = |row: &DataRow| match row.cells.last().map(|cell| &cell.datum) {
            Some(Datum::Unknown) => "none",
            _ if self.parts.contains(&row.label) => "part",
            _ => "known",
        };
        if self.table.iter().any(|row| coverage(row) != "known") {
            data.columns.push("coverage".to_owned());
            let rows = data.rows.iter_mut().zip(&self.table);
            rows.for_each(|(values, row)| values.push(Datum::Text(coverage(row).to_owned())));
        }
        data
    }

    fn key(&self) -> Vec<KeyItem> {
        let series = self.legend.iter().map(|(class, text)| (class.clone(), text.clone()));
        let gap = self.has_gaps().then(|| ("gap".to_owned(), self.head.not_covered()));
        let part = (!self.parts.is_empty()).then(|| ("fill part".to_owned(), PARTLY_COVERED.to_owned()));
        series.chain(gap).chain(part).collect()
    }

    fn drawing(&self) -> askama::Result<Drawing> {
        match self.form {
            BarForm::Rows => Ok(self.rows_drawing()),
            _ => Ok(Drawing::of_html(&self.html()?)),
        }
    }
}

const PARTLY_COVERED: &str = "pale: others may be missing";

/// Names below the bars of a figure, values above them, words above hatching. `scale` is the height of one unit.
fn figure_labels(items: &[ChartItem], unit: ChartUnit, scale: f64) -> Vec<Label> {
    let step = 1.0 / items.len().max(1) as f64;
    let center = |index: usize| step * (index as f64 + 0.5);
    let mut labels = LabelPlacer::default();
    let names = items.iter().enumerate().map(|(index, item)| (center(index), Cow::Borrowed(item.label.as_str())));
    labels.add_axis(HEIGHT - 6.0, names);
    let values = || items.iter().filter_map(|item| item.value);
    let widest = values().map(|value| text::width(&unit.short(value))).fold(0.0, f64::max);
    let all_fit = WIDTHS.map(|width| widest + GAP <= step * width);
    let max = values().max();
    let highest = items.iter().rposition(|item| item.value == max);
    for (index, item) in items.iter().enumerate() {
        let Some(value) = item.value else { continue };
        // Without space for all values, only the largest is shown: no other bar can reach its label.
        let is_shown = all_fit.map(|all_fit| all_fit || highest == Some(index));
        labels.add(&CENTERED, center(index), BASE - scale * value as f64 - 5.0, unit.short(value), is_shown);
    }
    let mut first = 0;
    for run in items.chunk_by(|one, next| one.value.is_some() == next.value.is_some()) {
        let end = first + run.len();
        if run[0].value.is_none() {
            labels.add_if_fits(step * first as f64, step * end as f64, BASE - GAP_HEIGHT - 5.0, NOT_COVERED);
        }
        first = end;
    }
    labels.labels
}

/// Bins of `size` values that start at multiples of `size` and cover all values.
pub fn even_bins(counts: &BTreeMap<u32, u64>, size: u32) -> Vec<(u32, u32)> {
    let Some((first, last)) = counts.keys().next().zip(counts.keys().next_back()) else { return Vec::new() };
    (first / size..=last / size).map(|index| (index * size, index * size + (size - 1))).collect()
}

/// Bins of 1, 2, 3 to 4, 5 to 8 … up to the largest value, for mostly small values.
pub fn doubling_bins(counts: &BTreeMap<u32, u64>) -> Vec<(u32, u32)> {
    let Some((first, last)) = counts.keys().next().zip(counts.keys().next_back()) else { return Vec::new() };
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

    /// The height of a bar, of `full` for the largest value.
    fn height(full: f64, value: u64, max: u64) -> f64 {
        if value == 0 { 0.0 } else { (full * value as f64 / max as f64).max(MIN_HEIGHT) }
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn bars_are_proportional_and_their_labels_apart(items in check::items(0..61)) {
            let html = Bars::new(check::head(), ["Year", "Rounds"], ROUNDS, items.clone()).render().unwrap();
            let chart = check::chart(&html);
            let bars = chart.marks("rect", "fill");
            let values: Vec<u64> = items.iter().filter_map(|item| item.value).collect();
            prop_assert_eq!(bars.len(), values.len());
            let max = values.iter().copied().max().unwrap_or(0).max(1);
            for (bar, value) in bars.iter().zip(values) {
                prop_assert!((bar.number("height") - height(BASE - TOP, value, max)).abs() < 0.01);
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
            let head = check::head().table(["Score", "Firms"], ChartUnit::Count("firm", "firms"));
            let chart = Bars::histogram(head, &counts, &bins, |score| score.to_string(), href);
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

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn parts_are_proportional_and_add_up(
            columns in proptest::collection::vec((check::label(), proptest::option::weighted(0.8, check::marks(3..4))), 0..30),
        ) {
            let column = |(name, marks): (String, Option<Vec<ChartMark>>)| {
                (name, marks.unwrap_or_else(|| vec![ChartMark::default(); 3]))
            };
            let (names, columns): (Vec<String>, Vec<Vec<ChartMark>>) = columns.into_iter().map(column).unzip();
            let row = |(index, label): (usize, &str)| {
                let cells = columns.iter().map(|marks| marks[index].clone()).collect();
                ChartRow { label: label.to_owned(), href: None, cells }
            };
            let rows = ["Seed", "Series A", "Other"].into_iter().enumerate().map(row).collect();
            let html = Bars::stacked(check::head().table(["Year", "Total"], ROUNDS), names, rows).render().unwrap();
            let chart = check::chart(&html);
            let total = |marks: &Vec<ChartMark>| marks.iter().filter_map(|mark| mark.value).reduce(u64::saturating_add);
            let totals: Vec<Option<u64>> = columns.iter().map(total).collect();
            let max = totals.iter().copied().flatten().max().unwrap_or(0).max(1) as f64;
            let values = columns.iter().flatten().filter_map(|mark| mark.value).filter(|value| *value > 0);
            let expected: Vec<f64> = values.map(|value| value as f64 / max).collect();
            let found: Vec<f64> = chart.all("rect").iter().filter(|rect| rect.class().starts_with('g') && rect.class() != "gap" && rect.get("x").is_some())
                .map(|rect| rect.number("height") / (BASE - TOP)).collect();
            prop_assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                prop_assert!((found - expected).abs() < 1e-3, "{} {}", found, expected);
            }
            let uncovered = totals.iter().filter(|total| total.is_none()).count();
            prop_assert_eq!(chart.marks("rect", "gap").len(), uncovered);
            prop_assert_eq!(html.matches("<td>not covered</td>").count(), uncovered);
        }
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn bars_of_a_range_are_proportional_and_lead_to_what_they_count(items in check::items(0..30)) {
            const HEIGHT: f64 = 52.0;
            let is_inside = |index: usize| !index.is_multiple_of(3);
            let marked = items.iter().cloned().enumerate().map(|(index, item)| (item, is_inside(index)));
            let chart = Bars::range(check::head().table(["Year", "Rounds"], ROUNDS), marked);
            let known: Vec<(usize, u64)> = items.iter().enumerate().filter_map(|(index, item)| Some((index, item.value?))).collect();
            let max = known.iter().map(|(_, value)| *value).max().unwrap_or(0);
            prop_assert_eq!(chart.is_some(), known.iter().filter(|(_, value)| *value > 0).count() > 1);
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::fragment(&html);
            let bars: Vec<_> = chart.all("rect").into_iter().filter(|bar| bar.class().starts_with("fill")).collect();
            prop_assert_eq!(bars.len(), known.len());
            for (bar, (index, value)) in bars.iter().zip(known) {
                prop_assert!((bar.number("height") - height(HEIGHT, value, max)).abs() < 0.01);
                prop_assert!((bar.number("y") + bar.number("height") - HEIGHT).abs() < 0.02);
                prop_assert_eq!(bar.class() == "fill", is_inside(index));
            }
            let unknown = items.iter().filter(|item| item.value.is_none()).count();
            prop_assert_eq!(chart.all("rect").iter().filter(|bar| bar.class().starts_with("gap")).count(), unknown);
            let linked = items.iter().filter(|item| item.href.is_some() && item.value != Some(0)).count();
            // One link per bar and one per row of the table.
            prop_assert_eq!(chart.all("a").len(), 2 * linked);
        }
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn parts_of_a_whole_are_proportional_to_points(
            parts in proptest::collection::vec((0..30_u16, check::label()), 0..8),
            rest in 0..40_u16,
        ) {
            let whole = parts.iter().map(|(points, _)| points).sum::<u16>() + rest;
            let classed = parts.iter().map(|(points, title)| (*points, ("s1".to_owned(), title.clone())));
            let html = Bars::of_whole("68 of 100 points", whole, classed).render().unwrap();
            let chart = check::fragment(&html);
            let bars = chart.marks("rect", "s1");
            prop_assert_eq!(bars.len(), parts.len());
            let mut end = 0.0;
            for (bar, (points, _)) in bars.iter().zip(&parts) {
                let share = f64::from(*points) / f64::from(whole.max(1));
                prop_assert!((bar.number("width") - 100.0 * share).abs() < 0.01);
                prop_assert!((bar.number("x") - end).abs() < 0.1);
                end = bar.number("x") + bar.number("width");
            }
            prop_assert!(end < 100.1);
            let titles: Vec<&str> = chart.all("title").iter().map(|title| title.text()).collect();
            let expected: Vec<&str> = parts.iter().map(|(_, title)| title.as_str()).collect();
            prop_assert_eq!(titles, expected);
        }
    }

    #[test]
    fn the_largest_count_has_the_longest_bar() {
        let item = |value| ChartItem::linked("Seed", value, "/vcs?stage=seed");
        let items = [item(Some(4)), item(Some(1)), item(Some(0)), item(None)];
        let head = || ChartHead::new("", "", "").table(["", ""], ROUNDS);
        let html = Bars::breakdown(head(), &items, None).unwrap().render().unwrap();
        let lengths: Vec<&str> = html.split("width=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(lengths, ["100%", "25%", "0%"]);
        assert_eq!(html.matches(">not covered<").count(), 1);
        assert!(Bars::breakdown(head(), &[item(Some(0)), item(None)], None).is_none());
    }

    #[test]
    fn small_values_next_to_a_number_are_visible() {
        let html = Bars::spark(&[0, 1, 1_000]).render().unwrap();
        let heights: Vec<f64> =
            check::fragment(&html).marks("rect", "fill").iter().map(|bar| bar.number("height")).collect();
        assert_eq!(heights, [0.0, 1.5, 16.0]);
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
