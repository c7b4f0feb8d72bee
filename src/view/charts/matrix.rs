use std::collections::BTreeSet;

use askama::Template;

use crate::charts::{ChartData, ChartFigure, ChartHead, ChartItem, Datum, Drawing, KeyItem, Shapes, text};

/// Rows and columns of marks. It is an HTML table, and its cells have text, so no separate data table is needed.
#[derive(Template)]
#[template(path = "charts/matrix.html")]
pub struct Matrix {
    head: ChartHead,
    /// Label, second line and path of each heading.
    columns: Vec<(String, String, String)>,
    rows: Vec<MatrixRow>,
    legend: BTreeSet<&'static str>,
    /// Omitted rows and columns in words, and the path of a list that has them.
    rest: Vec<(String, String)>,
}

pub struct MatrixRow {
    pub label: String,
    pub href: String,
    /// `joined` or `led`, as CSS class and text; empty if absent.
    pub parts: Vec<&'static str>,
    /// Number of participations, including columns that are not shown, and their list.
    pub total: ChartItem,
}

impl Matrix {
    /// `head` names two headings, for row names and totals. `None` without rows.
    pub fn new(
        head: ChartHead,
        columns: Vec<(String, String, String)>,
        rows: Vec<MatrixRow>,
        rest: Vec<(String, String)>,
    ) -> Option<Self> {
        let legend = rows.iter().flat_map(|row| &row.parts).copied().filter(|part| !part.is_empty()).collect();
        (!rows.is_empty()).then(|| Self { head: head.or_found(|_| None), columns, rows, legend, rest })
    }
}

/// Room for the names of rows and columns and for the totals, and height of a row, in a picture.
const NAMES: f64 = 184.0;
const HEADS: f64 = 108.0;
const TOTALS: f64 = 48.0;
const ROW: f64 = 22.0;

impl ChartFigure for Matrix {
    fn head(&self) -> &ChartHead {
        &self.head
    }

    fn data(&self) -> ChartData {
        let [names, totals] = [0, 1].map(|index| self.head.heads.get(index).map_or("", String::as_str));
        let columns = self.columns.iter().map(|(label, detail, _)| format!("{label} {detail}"));
        let heads = std::iter::once(names.to_owned()).chain(columns).chain([totals.to_owned()]);
        let row = |row: &MatrixRow| {
            let part = |part: &&str| if part.is_empty() { Datum::Unknown } else { Datum::Text((*part).to_owned()) };
            let parts = row.parts.iter().map(part);
            std::iter::once(Datum::Text(row.label.clone())).chain(parts).chain([row.total.value.into()]).collect()
        };
        ChartData::new(heads, self.rows.iter().map(row).collect())
    }

    fn key(&self) -> Vec<KeyItem> {
        self.legend.iter().map(|part| ((*part).to_owned(), (*part).to_owned())).collect()
    }

    fn drawing(&self) -> askama::Result<Drawing> {
        let mut shapes = Shapes::default();
        let width = ((Drawing::WIDTH - NAMES - TOTALS) / self.columns.len().max(1) as f64).min(60.0);
        let left = |column: usize| NAMES + width * column as f64;
        for (column, (label, detail, _)) in self.columns.iter().enumerate() {
            let name = if detail.is_empty() { label.clone() } else { format!("{label}, {detail}") };
            let name = text::shortened(&name, (HEADS - 10.0) * 12.0 / 10.0);
            shapes.upright_text("small", left(column) + width / 2.0 + 4.0, HEADS - 6.0, &name);
        }
        for (index, row) in self.rows.iter().enumerate() {
            let top = HEADS + ROW * index as f64;
            shapes.text("", 0.0, top + 15.0, "", &text::shortened(&row.label, NAMES - 8.0));
            for (column, part) in row.parts.iter().enumerate() {
                shapes.rectangle("h0", [left(column) + 1.0, top + 1.0], [width - 2.0, ROW - 2.0]);
                if !part.is_empty() {
                    shapes.circle(part, [left(column) + width / 2.0, top + ROW / 2.0], 5.0);
                }
            }
            let total = row.total.value.map(|value| value.to_string()).unwrap_or_default();
            shapes.text("strong", left(self.columns.len()) + TOTALS - 8.0, top + 15.0, "end", &total);
        }
        Ok(shapes.drawing(HEADS + ROW * self.rows.len() as f64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::charts::{ChartUnit, check};

    fn part() -> impl Strategy<Value = &'static str> {
        prop_oneof![Just("joined"), Just("led"), Just("")]
    }

    proptest! {
        #![proptest_config(check::config())]

        #[test]
        fn every_part_has_its_mark_and_every_mark_its_meaning(
            columns in proptest::collection::vec(check::label(), 3..4),
            rows in proptest::collection::vec((check::label(), proptest::collection::vec(part(), 3..4)), 0..9),
        ) {
            let parts: Vec<&str> = rows.iter().flat_map(|(_, parts)| parts.clone()).collect();
            let count = rows.len();
            let column = |label: String| (label, "2021".to_owned(), "#round-r-1".to_owned());
            let row = |(label, parts): (String, Vec<&'static str>)| {
                let href = "/vcs/alder".to_owned();
                MatrixRow { label, href, parts, total: ChartItem::linked("Rounds", Some(3), "/rounds?investor=alder") }
            };
            let rest = vec![("2 earlier rounds".to_owned(), "/rounds?startup=a".to_owned())];
            let columns = columns.into_iter().map(column).collect();
            let head = check::head().table(["Investor", "Rounds"], ChartUnit::Count("round", "rounds"));
            let chart = Matrix::new(head, columns, rows.into_iter().map(row).collect(), rest);
            prop_assert_eq!(chart.is_some(), count > 0);
            let Some(chart) = chart else { return Ok(()) };
            let html = chart.render().unwrap();
            let chart = check::chart(&html);
            let cells: Vec<_> = chart.all("td").into_iter().filter(|cell| cell.class() != "right").collect();
            prop_assert_eq!(cells.len(), parts.len());
            for (cell, part) in cells.into_iter().zip(&parts) {
                prop_assert_eq!((cell.class(), cell.text()), (*part, *part));
            }
            for key in chart.all("span").iter().filter_map(|span| span.class().strip_prefix("key ")) {
                prop_assert!(parts.contains(&key), "no cell is {}", key);
            }
            prop_assert_eq!(chart.all("a").len(), 3 + 2 * count + 1);
        }
    }
}
