use std::collections::BTreeSet;

use askama::Template;

use crate::charts::{ChartHead, ChartItem};

/// Rows and columns of marks. It is an HTML table, and its cells have text, so no separate data table is needed.
#[derive(Template)]
#[template(path = "charts/matrix.html")]
pub(crate) struct Matrix {
    head: ChartHead,
    /// Label, second line and path of each heading.
    columns: Vec<(String, String, String)>,
    rows: Vec<MatrixRow>,
    legend: BTreeSet<&'static str>,
    /// Omitted rows and columns in words, and the path of a list that has them.
    rest: Vec<(String, String)>,
}

pub(crate) struct MatrixRow {
    pub(crate) label: String,
    pub(crate) href: String,
    /// `joined` or `led`, as CSS class and text; empty if absent.
    pub(crate) parts: Vec<&'static str>,
    /// Number of participations, including columns that are not shown, and their list.
    pub(crate) total: ChartItem,
}

impl Matrix {
    /// `head` names two headings, for row names and totals. `None` without rows.
    pub(crate) fn new(
        head: ChartHead,
        columns: Vec<(String, String, String)>,
        rows: Vec<MatrixRow>,
        rest: Vec<(String, String)>,
    ) -> Option<Self> {
        let legend = rows.iter().flat_map(|row| &row.parts).copied().filter(|part| !part.is_empty()).collect();
        (!rows.is_empty()).then_some(Self { head, columns, rows, legend, rest })
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
