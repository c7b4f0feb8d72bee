use askama::Template;

use crate::charts::ramp::Ramp;
use crate::charts::{ChartHead, ChartRow};

/// Rows and columns of shaded counts: an HTML table whose cells have the numbers, so that it needs no data table.
/// Adjacent columns without a known value are merged: `2014–2018`. Without space for all, the last ones show at first.
#[derive(Template)]
#[template(path = "charts/heatmap.html")]
pub(crate) struct Heatmap {
    head: ChartHead,
    columns: Vec<String>,
    rows: Vec<ChartRow>,
    ramp: Ramp,
    has_gaps: bool,
    /// True if any value has more than five characters.
    has_long_values: bool,
}

impl Heatmap {
    /// `head` names one heading, for the column of row names; `columns` are the others.
    pub(crate) fn new(head: ChartHead, columns: Vec<String>, mut rows: Vec<ChartRow>) -> Self {
        let values = || rows.iter().flat_map(|row| &row.cells).map(|cell| cell.value);
        let ramp = Ramp::new(values().flatten(), 2);
        let has_gaps = values().any(|value| value.is_none());
        let has_long_values = values().flatten().any(|value| head.unit.short(value).len() > 5);
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
        Self { head, columns, rows, ramp, has_gaps, has_long_values }
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
        self.head.unit.short(row.cells.iter().filter_map(|cell| cell.value).fold(0, u64::saturating_add))
    }
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
