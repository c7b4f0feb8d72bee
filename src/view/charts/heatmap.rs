use askama::Template;

use crate::charts::ramp::Ramp;
use crate::charts::{ChartData, ChartFigure, ChartHead, ChartRow, Datum, Drawing, KeyItem, Shapes, largest, text};

/// Rows and columns of shaded counts: an HTML table whose cells have the numbers, so that it needs no data table.
/// Adjacent columns without a known value are merged: `2014–2018`. Without space for all, the last ones show at first.
#[derive(Template)]
#[template(path = "charts/heatmap.html")]
pub struct Heatmap {
    head: ChartHead,
    columns: Vec<String>,
    rows: Vec<ChartRow>,
    ramp: Ramp,
    has_gaps: bool,
    /// True if any value has more than five characters.
    has_long_values: bool,
    data: ChartData,
}

/// Room for the names of rows and for their sums, and heights of the rows, in a picture.
const NAMES: f64 = 132.0;
const SUMS: f64 = 56.0;
const HEADS: f64 = 20.0;
const ROW: f64 = 24.0;

impl Heatmap {
    /// `head` names one heading, for the column of row names; `columns` are the others.
    pub fn new(head: ChartHead, columns: Vec<String>, mut rows: Vec<ChartRow>) -> Self {
        let values = || rows.iter().flat_map(|row| &row.cells).map(|cell| cell.value);
        let ramp = Ramp::new(values().flatten(), 2);
        let has_gaps = values().any(|value| value.is_none());
        let has_long_values = values().flatten().any(|value| head.unit.short(value).len() > 5);
        let data = data(&head, &columns, &rows);
        let head = head.or_found(|head| finding(head, &columns, &rows));
        let is_gap = |column: usize| rows.iter().all(|row| row.cells[column].value.is_none());
        let mut shown: Vec<(usize, String)> = Vec::with_capacity(columns.len());
        for (column, label) in columns.iter().enumerate() {
            match shown.last_mut() {
                Some((first, merged)) if is_gap(*first) && is_gap(column) => {
                    *merged = format!("{}–{label}", columns[*first]);
                }
                _ => shown.push((column, label.clone())),
            }
        }
        for row in &mut rows {
            row.cells = shown.iter().map(|(column, _)| row.cells[*column].clone()).collect();
        }
        let columns = shown.into_iter().map(|(_, label)| label).collect();
        Self { head, columns, rows, ramp, has_gaps, has_long_values, data }
    }

    fn is_linked(&self) -> bool {
        self.rows.iter().any(|row| row.href.is_some() || row.cells.iter().any(|cell| cell.href.is_some()))
    }

    fn shade(&self, value: &u64) -> u64 {
        self.ramp.shade(*value)
    }

    fn text(&self, value: &u64) -> String {
        self.head.unit.short(*value)
    }

    fn phrase(&self, value: &u64) -> String {
        self.head.unit.long(Some(*value))
    }

    fn total(&self, row: &ChartRow) -> String {
        self.head.unit.short(sum(row))
    }
}

fn sum(row: &ChartRow) -> u64 {
    row.cells.iter().filter_map(|cell| cell.value).fold(0, u64::saturating_add)
}

fn data(head: &ChartHead, columns: &[String], rows: &[ChartRow]) -> ChartData {
    let heads = head.heads.iter().chain(columns).map(String::as_str).chain(["Sum"]);
    let row = |row: &ChartRow| {
        let values = row.cells.iter().map(|cell| Datum::from(cell.value));
        std::iter::once(Datum::Text(row.label.clone())).chain(values).chain([Datum::Number(sum(row))]).collect()
    };
    ChartData::new(heads, rows.iter().map(row).collect())
}

/// The largest value, with the names of its row and its column.
fn finding(head: &ChartHead, columns: &[String], rows: &[ChartRow]) -> Option<String> {
    let named = |row: &ChartRow| -> Vec<(String, Option<u64>)> {
        let cells = row.cells.iter().zip(columns);
        cells.map(|(cell, column)| (format!("{}, {column}", row.label), cell.value)).collect()
    };
    let values: Vec<(String, Option<u64>)> = rows.iter().flat_map(named).collect();
    largest(head.unit, values.iter().map(|(name, value)| (name.as_str(), *value)))
}

impl ChartFigure for Heatmap {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn data(&self) -> ChartData {
        ChartData { columns: self.data.columns.clone(), rows: self.data.rows.clone() }
    }

    fn key(&self) -> Vec<KeyItem> {
        let shades = self.ramp.legend().into_iter().map(|(shade, text)| (format!("h{shade}"), text));
        shades.chain(self.has_gaps.then(|| ("gap".to_owned(), self.head.not_covered()))).collect()
    }

    /// A value without room in its cell is left to its shade and the data.
    fn drawing(&self) -> askama::Result<Drawing> {
        let mut shapes = Shapes::default();
        let width = (Drawing::WIDTH - NAMES - SUMS) / self.columns.len().max(1) as f64;
        let left = |column: usize| NAMES + width * column as f64;
        let widest = self.columns.iter().map(|column| small_width(column)).fold(0.0, f64::max);
        let every = ((widest + 6.0) / width).ceil().max(1.0) as usize;
        // The last column is always named, as on an axis.
        for (column, label) in self.columns.iter().enumerate().rev().step_by(every) {
            shapes.text("small", left(column) + width / 2.0, 12.0, "middle", label);
        }
        for (index, row) in self.rows.iter().enumerate() {
            let top = HEADS + ROW * index as f64;
            shapes.text("", 0.0, top + 16.0, "", &text::shortened(&row.label, NAMES - 8.0));
            for (column, cell) in row.cells.iter().enumerate() {
                let class = cell.value.map_or_else(|| "gap".to_owned(), |value| format!("h{}", self.shade(&value)));
                shapes.rectangle(&class, [left(column) + 1.0, top + 1.0], [width - 2.0, ROW - 2.0]);
                let value = cell.value.map(|value| (value, self.text(&value)));
                if let Some((value, text)) = value.filter(|(_, text)| small_width(text) <= width - 2.0) {
                    let class = format!("small on{}", self.shade(&value));
                    shapes.text(&class, left(column) + width / 2.0, top + 15.5, "middle", &text);
                }
            }
            shapes.text("strong", Drawing::WIDTH, top + 16.0, "end", &self.total(row));
        }
        Ok(shapes.drawing(HEADS + ROW * self.rows.len() as f64))
    }
}

/// The estimated width of a text of class `small`, which has ten pixels instead of twelve.
fn small_width(text: &str) -> f64 {
    text::width(text) * 10.0 / 12.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{ChartMark, ChartUnit, check};

    fn head() -> ChartHead {
        check::head().table(["Stage"], ChartUnit::Count("round", "rounds"))
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn cells_have_their_counts(
            columns in proptest::collection::vec(check::label(), 4..5),
            rows in proptest::collection::vec((check::label(), check::marks(4..5)), 0..12),
        ) {
        let is_gap = |column: usize| rows.iter().all(|(_, cells)| cells[column].value.is_none());
            let is_shown = |column: usize| column == 0 || !is_gap(column - 1) || !is_gap(column);
            let marks = |(_, cells): &(String, Vec<ChartMark>)| -> Vec<ChartMark> {
                cells.iter().enumerate().filter(|(column, _)| is_shown(*column)).map(|(_, mark)| mark.clone()).collect()
            };
            let marks: Vec<ChartMark> = rows.iter().flat_map(marks).collect();
            let rows = rows.into_iter().map(|(label, cells)| ChartRow { label, href: None, cells }).collect();
            let html = Heatmap::new(head(), columns, rows).render().unwrap();
            let chart = check::chart(&html);
            let cells: Vec<_> = chart.all("td").into_iter().filter(|cell| cell.class() != "right").collect();
            prop_assert_eq!(cells.len(), marks.len());
            let max = marks.iter().filter_map(|mark| mark.value).max();
            for (cell, mark) in cells.into_iter().zip(&marks) {
                match mark.value {
                    None => prop_assert_eq!((cell.class(), cell.text()), ("gap", "not covered")),
                    Some(value) => {
                        prop_assert_eq!(cell.text().replace(',', ""), value.to_string());
                        prop_assert_eq!(cell.class() == "h0", value == 0);
                        prop_assert!(mark.value != max || value == 0 || cell.class() == "h5");
                    }
                }
            }
        }
    }

    #[test]
    fn years_that_are_not_covered_take_one_column() {
        let years = 2012..=2019;
        let mark = |year: i32| {
            let value = (![2012, 2015, 2016, 2017].contains(&year)).then_some(1);
            ChartMark { value, href: None }
        };
        let row = ChartRow { label: "Seed".to_owned(), href: None, cells: years.clone().map(mark).collect() };
        let columns = years.map(|year| year.to_string()).collect();
        let chart = Heatmap::new(head(), columns, vec![row]);
        assert_eq!(chart.columns, ["2012", "2013", "2014", "2015–2017", "2018", "2019"]);
        let shades: Vec<bool> = chart.rows[0].cells.iter().map(|cell| cell.value.is_some()).collect();
        assert_eq!(shades, [false, true, true, false, true, true]);
    }
}
