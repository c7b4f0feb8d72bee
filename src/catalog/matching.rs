//! Which firms fit a startup, and why.
//!
//! No model and no chance: points for reasons that anyone can check against the records. [`METHOD`] and
//! [`Reason::explanation`] are the public text of the rules.

pub mod scorer;

use std::collections::BinaryHeap;

use crate::data::Facet;

use crate::catalog::Catalog;
use crate::catalog::matching::scorer::MatchScorer;
use crate::catalog::{Filter, ListPosition};

/// How firms are matched to a startup, for the docs.
pub const METHOD: &str = "Each firm gets whole points for each reason: for `stage`, `sector`, `country` and `raise_usd` \
    where they are given, for its recent activity and its responsiveness always. `points` is their sum, `max_points` the \
    most that the request allows. A firm is listed if it has points for the stage and for the sector asked for; where \
    neither is given, if it has points for the country or the cheque size. The list is in order of points, firms of \
    equal points in the default order of `/vcs`. `conflicts` names up to 5 startups of the firm that are in the same \
    narrow sector (one that has no other below it) and not closed, `conflict_count` says how many there are; conflicts \
    take no points away. The same request on the same snapshot has the same answer.";

/// Why a firm fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It invests at the stage.
    Stage,
    /// It invests in the sector.
    Sector,
    /// It sits in the country.
    Country,
    /// It writes cheques of the size.
    CheckSize,
    /// It has invested lately.
    Activity,
    /// It answers.
    Responsiveness,
}

impl Reason {
    /// All reasons, in the order in which they are told.
    pub const ALL: [Self; 6] =
        [Self::Stage, Self::Sector, Self::Country, Self::CheckSize, Self::Activity, Self::Responsiveness];

    /// The name in answers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stage => "stage",
            Self::Sector => "sector",
            Self::Country => "country",
            Self::CheckSize => "check_size",
            Self::Activity => "activity",
            Self::Responsiveness => "responsiveness",
        }
    }

    /// The most points it gives; together 100.
    #[must_use]
    pub fn max_points(self) -> u8 {
        match self {
            Self::Sector => 30,
            Self::Stage => 25,
            Self::CheckSize => 15,
            Self::Country | Self::Activity | Self::Responsiveness => 10,
        }
    }

    /// The points where the firm comes near; only of those that know a near.
    fn near_points(self) -> u8 {
        match self {
            Self::Sector => 12,
            Self::Stage => 10,
            Self::Activity => 5,
            _ => 0,
        }
    }

    /// How its points are given, for the docs.
    #[must_use]
    pub fn explanation(self) -> &'static str {
        match self {
            Self::Stage => {
                "25 points if one of the firm's `stages` is asked for; 10 if one stands next to it on the way pre-seed, \
                 seed, series-a, series-b, series-c, series-d-plus, growth. Only where `stage` is given."
            }
            Self::Sector => {
                "30 points if one of the firm's `sectors` is asked for or lies below one that is; 12 if one lies below \
                 the same parent or is the parent. Only where `sector` is given."
            }
            Self::Country => "10 points if the firm sits in a `country` asked for. Only where `country` is given.",
            Self::CheckSize => {
                "15 points if the firm's cheque range has an amount between a tenth of `raise_usd` and the whole of it; \
                 an unknown bound is open, with both unknown there are none. Only where `raise_usd` is given."
            }
            Self::Activity => {
                "10 points if the firm's last investment is at most 365 days older than the release, 5 if it is at most \
                 730 days older."
            }
            Self::Responsiveness => {
                "10 points times the share of reviewers who got an answer (1 less the ghosting rate), rounded; none \
                 where the rate is not known."
            }
        }
    }
}

/// What a startup looks for. What is not given is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchQuery {
    /// Stages, any of them: places in the vocabulary.
    pub stages: Option<Vec<u32>>,
    /// Sectors, any of them: rows.
    pub sectors: Option<Vec<u32>>,
    /// Countries, any of them: places in the table.
    pub countries: Option<Vec<u32>>,
    /// What the startup raises, US dollars.
    pub raise_usd: Option<u64>,
}

impl MatchQuery {
    /// The query that clauses on stage, sector and country make.
    pub(crate) fn of(clauses: &[Filter], raise_usd: Option<u64>) -> Self {
        let values = |wanted: Facet| {
            clauses.iter().find_map(|clause| match clause {
                Filter::AnyOf(facet, values) if *facet == wanted => Some(values.clone()),
                _ => None,
            })
        };
        Self {
            stages: values(Facet::Stage),
            sectors: values(Facet::Sector),
            countries: values(Facet::Country),
            raise_usd,
        }
    }

    /// True where the query asks for what the reason is about; the firm's own conduct always counts.
    fn asks(&self, reason: Reason) -> bool {
        match reason {
            Reason::Stage => self.stages.is_some(),
            Reason::Sector => self.sectors.is_some(),
            Reason::Country => self.countries.is_some(),
            Reason::CheckSize => self.raise_usd.is_some(),
            Reason::Activity | Reason::Responsiveness => true,
        }
    }
}

/// A firm that fits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmMatch {
    /// The firm.
    pub row: u32,
    /// The sum of its reasons' points.
    pub points: u8,
    /// Each reason that the query asks for, with its points and the fact behind them.
    pub reasons: Vec<(Reason, u8, String)>,
    /// The first startups of the firm that stand against each other, with the sector that both are in.
    pub conflicts: Vec<(u32, u32)>,
    /// How many there are.
    pub conflict_count: u32,
}

/// One page of the firms that fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchPage {
    /// The firms, best first.
    pub fits: Vec<FirmMatch>,
    /// How many fit at all.
    pub total: u64,
    /// The most points that the query allows.
    pub max_points: u8,
    /// Where the next page begins; `None` at the end.
    pub next: Option<ListPosition>,
}

impl Catalog {
    /// One page of the firms that fit, from `place` on, of at most `limit`.
    ///
    /// One pass over the sets and columns, 64 firms at a time; what is kept is the page. A later page is that of the
    /// firms that come after the last one of the page before, so that deep pages cost no more.
    #[must_use]
    pub fn fits(&self, query: &MatchQuery, place: ListPosition, limit: usize) -> MatchPage {
        let judge = MatchScorer::new(self.snapshot(), query);
        let after = place.position.map(|row| (100 - judge.points(row).sum(), row));
        let mut best: BinaryHeap<(u8, u32)> = BinaryHeap::with_capacity(limit + 1);
        let mut total = 0;
        judge.each(|row, points| {
            total += 1;
            let standing = (100 - points.sum(), row);
            let is_better = best.len() < limit || best.peek().is_some_and(|worst| standing < *worst);
            if is_better && after.is_none_or(|after| standing > after) {
                best.push(standing);
                if best.len() > limit {
                    best.pop();
                }
            }
        });
        let fits: Vec<FirmMatch> = best.into_sorted_vec().into_iter().map(|(_, row)| judge.explain(row)).collect();
        let served = place.offset.saturating_add(fits.len() as u64);
        let position = fits.last().map(|fit| fit.row);
        let next = (served < total && position.is_some()).then_some(ListPosition { offset: served, position });
        let max_points = Reason::ALL.into_iter().filter(|reason| query.asks(*reason)).map(Reason::max_points).sum();
        MatchPage { fits, total, max_points, next }
    }
}
