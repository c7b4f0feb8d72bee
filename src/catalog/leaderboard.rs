//! The leaderboard: firms by a metric, with ranks within the filtered set.

use crate::data::{Metric, Table};

use crate::catalog::{Catalog, Filter, ListPosition, RowFilter};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaderboardQuery {
    pub metric: Metric,
    /// Combined with AND.
    pub filters: Vec<Filter>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedRow {
    pub row: u32,
    /// Rank within the filtered set; ties share a rank (1, 2, 2, 4).
    pub rank: u64,
    /// Points with one decimal, means (1–5) and the ghosting rate (0–1) with six decimals, or a number of rounds.
    pub value: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaderboardPage {
    pub ranked: Vec<RankedRow>,
    pub total: u64,
    /// `None` on the last page.
    pub next: Option<ListPosition>,
    pub is_integer: bool,
}

impl Catalog {
    pub fn leaderboard(&self, query: &LeaderboardQuery, position: ListPosition, limit: usize) -> LeaderboardPage {
        let selection = RowFilter::of(self.snapshot(), Table::Firms, &query.filters);
        let (rows, values) = self.snapshot().leaderboard(query.metric);
        let passing = rows.iter().zip(values).filter(|(row, _)| selection.contains(**row));
        let mut page = LeaderboardPage { is_integer: query.metric == Metric::Activity, ..LeaderboardPage::default() };
        let mut rank = 0;
        let mut last = None;
        for (row, value) in passing {
            page.total += 1;
            if last != Some(*value) {
                rank = page.total;
                last = Some(*value);
            }
            if page.total > position.offset && page.ranked.len() < limit {
                page.ranked.push(RankedRow { row: *row, rank, value: public_value(query.metric, *value) });
            }
        }
        let served = position.offset + page.ranked.len() as u64;
        page.next = (served < page.total && !page.ranked.is_empty()).then(|| ListPosition::after(served));
        page
    }
}

fn public_value(metric: Metric, value: i32) -> f64 {
    let scale = match metric {
        Metric::HealthScore => 10.0,
        Metric::Responsiveness | Metric::Fairness | Metric::ValueAdd | Metric::GhostingRate => 1_000_000.0,
        Metric::Activity => 1.0,
    };
    f64::from(value) / scale
}
