//! The leaderboard: firms by a metric, with ranks within the filtered set.

use crate::data::{Metric, Table};

use crate::catalog::Catalog;
use crate::catalog::RowFilter;
use crate::catalog::{Filter, ListPosition};

/// What the leaderboard is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaderboardQuery {
    /// What to rank by.
    pub metric: Metric,
    /// All of them hold for every firm ranked.
    pub clauses: Vec<Filter>,
}

/// A firm on the leaderboard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankedRow {
    /// The firm.
    pub row: u32,
    /// Its rank within the filtered set; ties share one (1, 2, 2, 4).
    pub rank: u64,
    /// What it is ranked by: points with one decimal, means (1–5) and the ghosting share (0–1) with six, or a number
    /// of rounds.
    pub value: f64,
}

/// One page of the leaderboard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeaderboardPage {
    /// The firms, best first.
    pub ranked: Vec<RankedRow>,
    /// How many firms are ranked under the filters.
    pub total: u64,
    /// Where the next page begins; `None` at the end.
    pub next: Option<ListPosition>,
    /// True where the values are whole numbers.
    pub whole: bool,
}

impl Catalog {
    /// One page of the leaderboard, from `place` on, of at most `limit` firms.
    #[must_use]
    pub fn leaderboard(&self, query: &LeaderboardQuery, place: ListPosition, limit: usize) -> LeaderboardPage {
        let selection = RowFilter::of(self.snapshot(), Table::Firms, &query.clauses);
        let (rows, values) = self.snapshot().leaderboard(query.metric);
        let passing = rows.iter().zip(values).filter(|(row, _)| selection.contains(**row));
        let mut page = LeaderboardPage { whole: query.metric == Metric::Activity, ..LeaderboardPage::default() };
        let mut rank = 0;
        let mut last = None;
        for (row, value) in passing {
            page.total += 1;
            if last != Some(*value) {
                rank = page.total;
                last = Some(*value);
            }
            if page.total > place.offset && page.ranked.len() < limit {
                page.ranked.push(RankedRow { row: *row, rank, value: shown(query.metric, *value) });
            }
        }
        let served = place.offset + page.ranked.len() as u64;
        page.next = (served < page.total && !page.ranked.is_empty()).then(|| ListPosition::after(served));
        page
    }
}

fn shown(metric: Metric, value: i32) -> f64 {
    let scale = match metric {
        Metric::HealthScore => 10.0,
        Metric::Responsiveness | Metric::Fairness | Metric::ValueAdd | Metric::GhostingRate => 1_000_000.0,
        Metric::Activity => 1.0,
    };
    f64::from(value) / scale
}
