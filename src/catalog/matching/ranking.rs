//! The points of all firms for a query, added up in columns with a number for each firm.

use std::cell::OnceCell;
use std::collections::BinaryHeap;
use std::sync::Arc;

use data::coverage::{Markets, RoundField};
use data::snapshot::known_date;
use data::{Country, Date, Facet, Names, Table};

use crate::matching::counts::FirmCounts;
use crate::matching::model::{MAX_POINTS, MatchWeights, Weight};
use crate::matching::{MatchQuery, MatchReason};
use crate::{Catalog, Filter, ListPosition, RowFilter};

/// A reason with the investments that count for it.
pub(super) struct Condition {
    pub(super) reason: MatchReason,
    pub(super) filter: Filter,
    pub(super) counts: Arc<FirmCounts>,
    /// Sums that make up the evidence: a weight, the share of all investments, and the counts.
    parts: Vec<(f64, f64, Arc<FirmCounts>)>,
    most_evidence: f64,
    pub(super) max_points: u16,
    /// The condition in words, as a predicate of an investment.
    pub(super) meaning: OnceCell<String>,
    /// Firms without any known investment that name the same stage, sector or place as theirs, ascending.
    pub(super) labelled: Vec<u32>,
}

pub(super) struct FirmRanking<'a> {
    pub(super) catalog: &'a Catalog,
    pub(super) query: &'a MatchQuery,
    weights: &'a MatchWeights,
    pub(super) conditions: Vec<Condition>,
    /// All investments by firm.
    pub(super) investments: Vec<u32>,
    /// The day until which investors are known in the markets of the query.
    pub(super) until: Option<Date>,
    pub(super) max_of_activity: u16,
    most_activity: f64,
    /// Points for a unit of evidence.
    scale: f64,
    pub(super) similar: Vec<u32>,
}

pub(super) struct RankedFirms {
    pub(super) rows: Vec<u32>,
    pub(super) total: u64,
    pub(super) complete: u64,
}

/// Points of all firms for the conditions, and how many of the required ones each lacks.
struct Columns {
    points: Vec<u16>,
    lacking: Vec<u8>,
}

impl<'a> FirmRanking<'a> {
    pub(super) fn new(catalog: &'a Catalog, query: &'a MatchQuery, weights: &'a MatchWeights) -> Self {
        let snapshot = catalog.snapshot();
        let all = catalog.investments(&[]);
        let mut investments = vec![0; snapshot.rows(Table::Firms) as usize];
        all.firms.iter().for_each(|firm| investments[firm.firm as usize] = firm.investments);
        let similar = query.similar_startups(catalog);
        let condition = |(reason, filter): (MatchReason, Filter)| {
            let parts = parts_of(catalog, weights, &all, reason, &filter);
            let seat = if reason == MatchReason::Country { weights.of(Weight::Seat) } else { 0.0 };
            let most_evidence =
                parts.iter().map(|(weight, share, _)| weight * weights.most_evidence(*share)).sum::<f64>() + seat;
            let labelled = labelled(catalog, &filter, &investments);
            let counts = catalog.investments(std::slice::from_ref(&filter));
            Condition {
                reason,
                filter,
                counts,
                parts,
                most_evidence,
                max_points: 0,
                meaning: OnceCell::new(),
                labelled,
            }
        };
        let mut conditions: Vec<Condition> = query.conditions_on_rounds(&similar).into_iter().map(condition).collect();
        let largest = investments.iter().copied().max().unwrap_or(0);
        let most_activity = weights.volume(largest) + weights.recency(0);
        let most = conditions.iter().map(|condition| condition.most_evidence).sum::<f64>() + most_activity;
        let scale = f64::from(MAX_POINTS) / most;
        // The rounded maxima add up to that of the request.
        let (mut sum, mut before) = (0.0, 0);
        for condition in &mut conditions {
            sum += condition.most_evidence;
            let until = (sum * scale).round() as u16;
            condition.max_points = until - before;
            before = until;
        }
        let countries = query.countries.iter().filter_map(|country| Country::at(*country as usize)).collect();
        let markets = if query.countries.is_empty() { Markets::All } else { Markets::Only(countries) };
        let known_until = |markets| catalog.round_coverage().known_until(Some(RoundField::Investors), markets);
        let until = known_until(&markets).or_else(|| known_until(&Markets::All)).map(|date| date.last_day());
        let max_of_activity = MAX_POINTS - before;
        Self { catalog, query, weights, conditions, investments, until, max_of_activity, most_activity, scale, similar }
    }

    /// The best firms after `start`, and how many there are.
    pub(super) fn page(&self, start: ListPosition, limit: usize) -> RankedFirms {
        let columns = self.columns();
        let rank = |row: u32, points: u16| (columns.lacking[row as usize] > 0, MAX_POINTS.saturating_sub(points), row);
        let filter = RowFilter::new(self.catalog, Table::Firms, &self.query.conditions);
        let total_points = |row: u32| columns.points[row as usize] + self.activity_points(row);
        let after = start.position.map(|row| rank(row, total_points(row)));
        // Without the last row of the previous page, the skipped rows are computed again.
        let skipped = if after.is_none() { usize::try_from(start.offset).unwrap_or(usize::MAX) } else { 0 };
        let limit = limit.saturating_add(skipped).min(columns.points.len());
        let names = self.catalog.snapshot().names(Table::Firms);
        // Whether two firms are the same does not depend on the conditions.
        let is_same = |row: u32| names.main_of(row).is_some_and(|main| columns.points[main as usize] > 0);
        let mut best: BinaryHeap<(bool, u16, u32)> = BinaryHeap::with_capacity(limit + 1);
        let (mut total, mut complete) = (0, 0);
        for row in (0..).zip(&columns.points).filter(|(_, points)| **points > 0).map(|(row, _)| row) {
            if !filter.contains(row) || is_same(row) {
                continue;
            }
            total += 1;
            complete += u64::from(columns.lacking[row as usize] == 0);
            // Most firms are behind the last one of the page whatever their activity is.
            let at_best = rank(row, columns.points[row as usize] + self.max_of_activity);
            if best.len() == limit && best.peek().is_none_or(|worst| at_best >= *worst) {
                continue;
            }
            let rank = rank(row, total_points(row));
            let is_better = best.len() < limit || best.peek().is_some_and(|worst| rank < *worst);
            if is_better && after.is_none_or(|after| rank > after) {
                best.push(rank);
                if best.len() > limit {
                    best.pop();
                }
            }
        }
        let rows = best.into_sorted_vec().into_iter().skip(skipped).map(|(.., row)| row).collect();
        RankedFirms { rows, total, complete }
    }

    fn columns(&self) -> Columns {
        let firms = self.investments.len();
        let required = |condition: &&Condition| MatchReason::REQUIRED.contains(&condition.reason);
        let lacking = self.conditions.iter().filter(required).count() as u8;
        let mut columns = Columns { points: vec![0; firms], lacking: vec![lacking; firms] };
        let mut evidence = vec![0.0; firms];
        for condition in &self.conditions {
            for (weight, share, counts) in &condition.parts {
                let of_firms = counts.evidence(self.weights, &self.investments, *share);
                for (firm, of_firm) in counts.firms.iter().zip(&*of_firms) {
                    evidence[firm.firm as usize] += weight * of_firm;
                }
            }
            let is_required = MatchReason::REQUIRED.contains(&condition.reason);
            let counted = condition.counts.firms.iter().map(|firm| firm.firm);
            for row in counted {
                let of_firm = std::mem::take(&mut evidence[row as usize]);
                columns.points[row as usize] += self.points(condition, row, of_firm);
                columns.lacking[row as usize] -= u8::from(is_required);
            }
            for row in condition.labelled.iter().copied() {
                columns.points[row as usize] += self.points(condition, row, self.labelled_evidence(condition));
                columns.lacking[row as usize] -= u8::from(is_required);
            }
        }
        columns
    }

    /// The points of a firm for a condition, at least 1 if an investment meets it.
    pub(super) fn points_of(&self, condition: &Condition, firm: u32) -> u16 {
        if condition.labelled.binary_search(&firm).is_ok() {
            return self.points(condition, firm, self.labelled_evidence(condition));
        }
        if condition.counts.of(firm).is_none() {
            return 0;
        }
        let all = self.investments[firm as usize];
        let evidence = condition.parts.iter().filter_map(|(weight, share, counts)| {
            Some(weight * self.weights.evidence(counts.of(firm)?.investments, all, *share))
        });
        // In the order of `columns`, so that both round alike.
        self.points(condition, firm, evidence.fold(0.0, |sum, part| sum + part))
    }

    fn points(&self, condition: &Condition, firm: u32, evidence: f64) -> u16 {
        let seat = if condition.reason == MatchReason::Country && self.is_based_in(firm) {
            self.weights.of(Weight::Seat)
        } else {
            0.0
        };
        (((evidence + seat) * self.scale).round() as u16).clamp(1, condition.max_points.max(1))
    }

    /// The evidence of a firm that names a value itself: that of one investment.
    fn labelled_evidence(&self, condition: &Condition) -> f64 {
        condition.parts.iter().map(|(weight, share, _)| weight * self.weights.evidence(1, 1, *share)).sum()
    }

    pub(super) fn is_based_in(&self, firm: u32) -> bool {
        let country = self.catalog.snapshot().firm_country(firm);
        country.is_some_and(|country| self.query.countries.contains(&(country.index() as u32)))
    }

    pub(super) fn activity_points(&self, firm: u32) -> u16 {
        let days = self.days_since_last(firm);
        let recency = days.map_or(0.0, |days| self.weights.recency(days));
        let evidence = (self.weights.volume(self.investments[firm as usize]) + recency).min(self.most_activity);
        ((evidence * self.scale).round() as u16).min(self.max_of_activity)
    }

    /// Days from the last investment to the end of what is known; 0 for a later one.
    fn days_since_last(&self, firm: u32) -> Option<i32> {
        let last = known_date(self.catalog.snapshot().last_investments()[firm as usize])?;
        Some((self.until?.days() - last.last_day().days()).max(0))
    }
}

/// The parts of the evidence of a reason: of several sectors, each is one, and rare ones weigh more.
fn parts_of(
    catalog: &Catalog,
    weights: &MatchWeights,
    all: &FirmCounts,
    reason: MatchReason,
    filter: &Filter,
) -> Vec<(f64, f64, Arc<FirmCounts>)> {
    let snapshot = catalog.snapshot();
    let weight = weights.of(reason.weights()[0]);
    let of_filter = |filter: &Filter, weight: f64| {
        let counts = catalog.investments(std::slice::from_ref(filter));
        (weight, counts.total.max(1) as f64 / all.total.max(1) as f64, counts)
    };
    match filter {
        Filter::AnyOf(Facet::Sector, sectors) if sectors.len() > 1 => {
            let startups = f64::from(snapshot.rows(Table::Startups));
            let rarity = |sector: &u32| {
                let count = snapshot.facet_count(Table::Startups, Facet::Sector, *sector).max(1);
                (startups / f64::from(count)).ln_1p()
            };
            let sum: f64 = sectors.iter().map(rarity).sum();
            let part =
                |sector: &u32| of_filter(&Filter::AnyOf(Facet::Sector, vec![*sector]), weight * rarity(sector) / sum);
            sectors.iter().map(part).collect()
        }
        filter => vec![of_filter(filter, weight)],
    }
}

/// Firms without any known investment whose own stages, sectors, country or city are among the values of a condition.
fn labelled(catalog: &Catalog, filter: &Filter, investments: &[u32]) -> Vec<u32> {
    let Filter::AnyOf(Facet::Stage | Facet::Sector | Facet::Country | Facet::City, _) = filter else {
        return Vec::new();
    };
    let mut rows = Vec::new();
    RowFilter::new(catalog, Table::Firms, std::slice::from_ref(filter)).each(|row| {
        if investments[row as usize] == 0 {
            rows.push(row);
        }
    });
    rows
}
