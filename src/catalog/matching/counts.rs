//! How many investments of each firm meet conditions on rounds, counted through the inverted facets.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use data::{Facet, Table};

use crate::matching::model::{MatchWeights, WEIGHTS};
use crate::{Catalog, Filter, Property, RowFilter};

/// The investments of a firm that meet conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FirmCount {
    pub firm: u32,
    pub investments: u32,
    /// Row of the latest of these rounds.
    pub latest: u32,
}

/// The firms with at least one investment that meets conditions, ascending.
#[derive(Debug, Default)]
pub struct FirmCounts {
    pub firms: Vec<FirmCount>,
    /// Investments of all firms.
    pub total: u64,
    /// The evidence of each firm by [`WEIGHTS`], once it is known: equal for the life of the release.
    evidence: OnceLock<Vec<f64>>,
}

impl FirmCounts {
    /// The evidence of each firm, in their order: `all` are all investments by firm, `share` the share of them that count.
    pub(crate) fn evidence(&self, weights: &MatchWeights, all: &[u32], share: f64) -> Cow<'_, [f64]> {
        let of_firm = |firm: &FirmCount| weights.evidence(firm.investments, all[firm.firm as usize], share);
        let of_all = || self.firms.iter().map(of_firm).collect();
        match std::ptr::eq(weights, &*WEIGHTS) {
            true => Cow::Borrowed(self.evidence.get_or_init(of_all).as_slice()),
            false => Cow::Owned(of_all()),
        }
    }

    pub fn of(&self, firm: u32) -> Option<&FirmCount> {
        let index = self.firms.binary_search_by_key(&firm, |known| known.firm).ok()?;
        Some(&self.firms[index])
    }
}

impl Catalog {
    /// The investments of firms in the rounds that match all filters; cached for the life of the release.
    pub fn investments(&self, rounds: &[Filter]) -> Arc<FirmCounts> {
        self.cached.investments.get_or_insert_with(rounds.to_vec(), || Arc::new(self.count_investments(rounds)))
    }

    fn count_investments(&self, rounds: &[Filter]) -> FirmCounts {
        let snapshot = self.snapshot();
        let investors = snapshot.row_values(Table::Rounds, Facet::Investor);
        let known = Filter::Known(Property::Facet(Facet::Investor));
        let filters: Vec<Filter> = rounds.iter().cloned().chain([known]).collect();
        let mut counts = vec![(0_u32, 0_u32); snapshot.rows(Table::Firms) as usize];
        // Rounds are sorted latest first.
        RowFilter::new(self, Table::Rounds, &filters).each(|round| {
            for firm in investors.of(round) {
                let (investments, latest) = &mut counts[*firm as usize];
                if *investments == 0 {
                    *latest = round;
                }
                *investments += 1;
            }
        });
        let counted = (0..).zip(counts).filter(|(_, (investments, _))| *investments > 0);
        let firms: Vec<FirmCount> =
            counted.map(|(firm, (investments, latest))| FirmCount { firm, investments, latest }).collect();
        let total = firms.iter().map(|firm| u64::from(firm.investments)).sum();
        FirmCounts { firms, total, evidence: OnceLock::new() }
    }
}
