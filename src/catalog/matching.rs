//! Matches firms to a startup by points, without a model; [`METHOD`] and [`MatchReason::explanation`] are the rules.

pub mod scorer;

use std::collections::{BTreeMap, BinaryHeap};

use data::vocabulary::{Vocabulary, vocabulary};
use data::{Facet, Table};

use crate::matching::scorer::MatchScorer;
use crate::{Catalog, Filter, ListPosition, RowFilter};

pub const METHOD: &str = "Each firm gets whole points for each reason: for `stage`, `sector`, `country` and `raise_usd` \
    if given, and always for recent activity and responsiveness. `points` is their sum, `max_points` the most that the \
    request allows. A firm is listed if it has points for the stage and the sector given; if neither is given, if it has \
    points for country or check size. The list is in order of points, ties in the default order of `/vcs`. `conflicts` \
    names up to 5 startups of the firm that are in the same narrow sector (one without descendants) and not closed, \
    `conflict_count` is their number; conflicts do not reduce points. The same request on the same snapshot has the same \
    response.";

vocabulary! {
    MatchReason, "reason", {
        Stage = "stage",
        Sector = "sector",
        Country = "country",
        CheckSize = "check_size",
        Activity = "activity",
        Responsiveness = "responsiveness",
    }
}

impl MatchReason {
    /// Its maximum number of points, and that for a near match; 0 for reasons without one.
    pub(crate) fn points(self) -> (u8, u8) {
        match self {
            Self::Stage => (25, 10),
            Self::Sector => (30, 12),
            Self::Country => (10, 0),
            Self::CheckSize => (15, 0),
            Self::Activity => (10, 5),
            Self::Responsiveness => (10, 0),
        }
    }

    /// Maximum points; 100 in total.
    pub fn max_points(self) -> u8 {
        self.points().0
    }

    pub fn explanation(self) -> &'static str {
        match self {
            Self::Stage => {
                "25 points if the firm invests at a given stage; 10 if at an adjacent one of pre-seed, seed, series-a, \
                 series-b, series-c, series-d-plus, growth. Only if `stage` is given."
            }
            Self::Sector => {
                "30 points if one of the firm's `sectors` is a given one or below it; 12 if it is a sibling or the \
                 parent. Only if `sector` is given."
            }
            Self::Country => "10 points if the firm is in a given `country`. Only if `country` is given.",
            Self::CheckSize => {
                "15 points if the firm's check range contains an amount from a tenth of `raise_usd` to all of it; an \
                 unknown bound is open, with both unknown there are no points. Only if `raise_usd` is given."
            }
            Self::Activity => {
                "10 points if the firm's last investment is at most 365 days before the newest round of the data, 5 if at \
                 most 730 days."
            }
            Self::Responsiveness => "10 points × (1 − ghosting rate), rounded; 0 if the rate is unknown.",
        }
    }
}

/// The profile and needs of a startup; `None` is ignored, several values of a facet are combined with OR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchQuery {
    /// Its values of each of [`MatchQuery::FACETS`].
    pub profile: [Option<Vec<u32>>; 3],
    pub raise_usd: Option<u64>,
    /// Conditions that a firm must meet in addition, combined with AND.
    pub conditions: Vec<Filter>,
}

impl MatchQuery {
    /// The facets of the profile, in the order of their reasons in [`MatchReason`].
    pub const FACETS: [Facet; 3] = [Facet::Stage, Facet::Sector, Facet::Country];

    /// The query of a startup: stage, sector and country of `filters` are weighed, other filters are conditions.
    pub fn among(filters: &[Filter], raise_usd: u64) -> Self {
        let is_weighed = |filter: &Filter| matches!(filter, Filter::AnyOf(facet, _) if Self::FACETS.contains(facet));
        let (weighed, conditions): (Vec<Filter>, Vec<Filter>) = filters.iter().cloned().partition(is_weighed);
        Self { raise_usd: Some(raise_usd), conditions, ..Self::from_filters(&weighed) }
    }

    pub(crate) fn from_filters(filters: &[Filter]) -> Self {
        let values = |facet: Facet| {
            filters.iter().find_map(|filter| match filter {
                Filter::AnyOf(known, values) if *known == facet => Some(values.clone()),
                _ => None,
            })
        };
        let raise_usd = filters.iter().find_map(|filter| match filter {
            Filter::CheckRange { max, .. } => Some(*max),
            _ => None,
        });
        Self { profile: Self::FACETS.map(values), raise_usd, conditions: Vec::new() }
    }

    /// True if the reason applies to the query; activity and responsiveness always do.
    fn includes(&self, reason: MatchReason) -> bool {
        match self.profile.get(reason.index()) {
            Some(values) => values.is_some(),
            None => reason != MatchReason::CheckSize || self.raise_usd.is_some(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmMatch {
    pub row: u32,
    pub points: u8,
    /// Each reason that applies to the query, with its points and an explanation.
    pub reasons: Vec<(MatchReason, u8, String)>,
    /// The first conflicting startups, each with the common sector.
    pub conflicts: Vec<(u32, u32)>,
    pub conflict_count: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchPage {
    pub matches: Vec<FirmMatch>,
    pub total: u64,
    pub max_points: u8,
    pub by_points: BTreeMap<u8, u64>,
    pub next: Option<ListPosition>,
}

impl Catalog {
    /// One pass, 64 firms at a time. Later pages begin after the last firm of the previous one, so they cost no more.
    pub fn matches(&self, query: &MatchQuery, start: ListPosition, limit: usize) -> MatchPage {
        let scorer = MatchScorer::new(self, query);
        let conditions = RowFilter::new(self, Table::Firms, &query.conditions);
        let after = start.position.map(|row| (100 - scorer.points(row).iter().sum::<u8>(), row));
        // Without the last row of the previous page, the skipped rows are computed again.
        let skipped = if after.is_none() { usize::try_from(start.offset).unwrap_or(usize::MAX) } else { 0 };
        let limit = limit.saturating_add(skipped).min(self.snapshot().rows(Table::Firms) as usize);
        let mut best: BinaryHeap<(u8, u32)> = BinaryHeap::with_capacity(limit + 1);
        let mut by_points = [0_u64; 101];
        scorer.each(|row, points| {
            if !query.conditions.is_empty() && !conditions.contains(row) {
                return;
            }
            let points: u8 = points.iter().sum();
            by_points[usize::from(points)] += 1;
            let rank = (100 - points, row);
            let is_better = best.len() < limit || best.peek().is_some_and(|worst| rank < *worst);
            if is_better && after.is_none_or(|after| rank > after) {
                best.push(rank);
                if best.len() > limit {
                    best.pop();
                }
            }
        });
        let total = by_points.iter().sum();
        let by_points = (0..).zip(by_points).filter(|(_, firms)| *firms > 0).collect();
        let best = best.into_sorted_vec().into_iter().skip(skipped);
        let matches: Vec<FirmMatch> = best.map(|(_, row)| scorer.explain(row)).collect();
        let next = start.after_page(matches.len(), total, matches.last().map(|firm| firm.row));
        let reasons = MatchReason::ALL.iter().filter(|reason| query.includes(**reason));
        let max_points = reasons.map(|reason| reason.max_points()).sum();
        MatchPage { matches, total, max_points, by_points, next }
    }
}
