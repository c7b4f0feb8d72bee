//! The leaderboard: firms by a metric, with ranks within the filtered set.

use crate::dataset::{Metric, Table};

use super::Catalog;
use super::query::{Clause, Place};
use super::selection::Selection;

/// What the leaderboard is asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct BoardQuery {
    /// What to rank by.
    pub metric: Metric,
    /// All of them hold for every firm ranked.
    pub clauses: Vec<Clause>,
}

/// A firm on the leaderboard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ranked {
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
pub struct BoardPage {
    /// The firms, best first.
    pub ranked: Vec<Ranked>,
    /// How many firms are ranked under the filters.
    pub total: u64,
    /// Where the next page begins; `None` at the end.
    pub next: Option<Place>,
    /// True where the values are whole numbers.
    pub whole: bool,
}

impl Catalog {
    /// One page of the leaderboard, from `place` on, of at most `limit` firms.
    #[must_use]
    pub fn leaderboard(&self, query: &BoardQuery, place: Place, limit: usize) -> BoardPage {
        let selection = Selection::of(self.snapshot(), Table::Firms, &query.clauses);
        let (rows, values) = self.snapshot().board(query.metric);
        let passing = rows.iter().zip(values).filter(|(row, _)| selection.contains(**row));
        let mut page = BoardPage { whole: query.metric == Metric::Activity, ..BoardPage::default() };
        let mut rank = 0;
        let mut last = None;
        for (row, value) in passing {
            page.total += 1;
            if last != Some(*value) {
                rank = page.total;
                last = Some(*value);
            }
            if page.total > place.offset && page.ranked.len() < limit {
                page.ranked.push(Ranked { row: *row, rank, value: shown(query.metric, *value) });
            }
        }
        let served = place.offset + page.ranked.len() as u64;
        page.next = (served < page.total && !page.ranked.is_empty()).then(|| Place::after(served));
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
