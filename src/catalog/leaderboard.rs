//! The leaderboard: firms ordered by a metric, with ranks within the filtered set.

use std::collections::{HashMap, HashSet};

use data::{Metric, Table};

use crate::row_filter::distinct;
use crate::{Catalog, Filter, ListPosition, Page, RowFilter};

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeaderboardQuery {
    pub metric: Metric,
    pub filters: Vec<Filter>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RankedRow {
    pub row: u32,
    /// Rank within the filtered set; ties share a rank (1, 2, 2, 4).
    pub rank: u64,
    /// Points with one decimal, means (1–5) and the ghosting rate (0–1) with six decimals, or a number of rounds.
    pub value: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankChange {
    /// `None` if the firm is not in this release.
    pub row: Option<u32>,
    pub former_row: Option<u32>,
    /// `None` if the firm is not ranked.
    pub rank: Option<u64>,
    pub former_rank: Option<u64>,
}

impl Catalog {
    pub fn leaderboard(&self, query: &LeaderboardQuery, position: ListPosition, limit: usize) -> Page<RankedRow> {
        let mut page = Page::default();
        self.each_ranked(query, |row, rank, value| {
            page.total += 1;
            if page.total > position.offset && page.rows.len() < limit {
                page.rows.push(RankedRow { row, rank, value: public_value(query.metric, value) });
            }
        });
        page.next = position.after_page(page.rows.len(), page.total, None);
        page
    }

    pub fn leaderboard_values(&self, metric: Metric) -> impl Iterator<Item = f64> {
        self.snapshot().leaderboard(metric).1.iter().map(move |value| public_value(metric, *value))
    }

    /// Passes each ranked row with its rank and its stored value, best first.
    fn each_ranked(&self, query: &LeaderboardQuery, mut ranked: impl FnMut(u32, u64, i32)) {
        let selection = RowFilter::new(self, Table::Firms, &query.filters);
        let (rows, values) = self.snapshot().leaderboard(query.metric);
        let passing = rows.iter().zip(values).filter(|(row, _)| selection.contains(**row));
        let (mut rank, mut last) = (0, None);
        for ((row, value), position) in passing.zip(1..) {
            if last != Some(*value) {
                (rank, last) = (position, Some(*value));
            }
            ranked(*row, rank, *value);
        }
    }

    /// Ranks of firms within a filtered set; unranked firms are left out.
    fn ranks(&self, query: &LeaderboardQuery, rows: impl Iterator<Item = u32>) -> HashMap<u32, u64> {
        let wanted: HashSet<u32> = rows.collect();
        let mut ranks = HashMap::new();
        self.each_ranked(query, |row, rank, _| ranks.extend(wanted.contains(&row).then_some((row, rank))));
        ranks
    }

    /// Ranks, then and now, of the rows of a page and of the first firms of either release. `former` is the query there.
    pub fn rank_changes(
        &self,
        query: &LeaderboardQuery,
        before: &Self,
        former: &LeaderboardQuery,
        page: &[RankedRow],
        first: usize,
    ) -> Vec<RankChange> {
        let top = |catalog: &Self, query| catalog.leaderboard(query, ListPosition::default(), first).rows;
        let (now, then) = (self.snapshot(), before.snapshot());
        // A firm may have had the slug of a record that was merged into it since.
        let with_former = |row: u32| {
            let mut slugs = now.merged_slugs(Table::Firms, row);
            let same = then.find(Table::Firms, now.slug(Table::Firms, row));
            (Some(row), same.or_else(|| slugs.find_map(|slug| then.find(Table::Firms, slug))))
        };
        let (shown, first_then) = (top(self, query), top(before, former));
        let shown = page.iter().chain(&shown).map(|ranked| with_former(ranked.row));
        let first_then = first_then.iter().map(|ranked| {
            self.find(Table::Firms, then.slug(Table::Firms, ranked.row)).map_or((None, Some(ranked.row)), with_former)
        });
        let firms: Vec<(Option<u32>, Option<u32>)> = distinct(shown.chain(first_then));
        let ranks = self.ranks(query, firms.iter().filter_map(|(row, _)| *row));
        let former_ranks = before.ranks(former, firms.iter().filter_map(|(_, row)| *row));
        let rank = |row: Option<u32>, ranks: &HashMap<u32, u64>| ranks.get(&row?).copied();
        let change = |(row, former_row)| {
            let (rank, former_rank) = (rank(row, &ranks), rank(former_row, &former_ranks));
            RankChange { row, former_row, rank, former_rank }
        };
        firms.into_iter().map(change).collect()
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
