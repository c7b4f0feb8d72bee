//! Baselines of the back-test: firms by their number of investments, and naive Bayes over the same inputs.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::brief::Brief;
use crate::history::Round;

/// Investments that a prior is worth.
const PRIOR: f64 = 2.0;

/// The investments of firms in earlier rounds.
pub struct Rivals<'a> {
    firms: Vec<&'a str>,
    investments: Vec<Vec<Deal<'a>>>,
}

struct Deal<'a> {
    round: &'a Round,
    /// The startup's sectors and all above them.
    sectors: BTreeSet<&'a str>,
}

impl<'a> Rivals<'a> {
    pub fn new(rounds: &[&'a Round], parents: &'a BTreeMap<String, String>) -> Self {
        let mut of_firms: HashMap<&str, Vec<Deal<'a>>> = HashMap::new();
        for round in rounds.iter().copied() {
            for firm in &round.investors {
                let sectors = lineage(&round.sectors, parents);
                of_firms.entry(firm).or_default().push(Deal { round, sectors });
            }
        }
        let mut of_firms: Vec<(&str, Vec<Deal<'a>>)> = of_firms.into_iter().collect();
        of_firms.sort_by_key(|(firm, deals)| (std::cmp::Reverse(deals.len()), *firm));
        let (firms, investments) = of_firms.into_iter().unzip();
        Self { firms, investments }
    }

    /// All firms, those with most investments first.
    pub fn by_popularity(&self) -> &[&'a str] {
        &self.firms
    }

    /// All firms by the product of their size and their shares of stage, country, city and each sector.
    pub fn by_naive_bayes(&self, brief: &Brief) -> Vec<&'a str> {
        let meets = |deal: &Deal<'_>| -> Vec<bool> {
            let own = [
                deal.round.stage == brief.stage,
                deal.round.country == brief.country,
                deal.round.country == brief.country && deal.round.city == brief.city && !brief.city.is_empty(),
            ];
            own.into_iter().chain(brief.sectors.iter().map(|sector| deal.sectors.contains(sector.as_str()))).collect()
        };
        let conditions = 3 + brief.sectors.len();
        let counts: Vec<Vec<u32>> = self
            .investments
            .iter()
            .map(|deals| {
                let mut counts = vec![0; conditions];
                for deal in deals {
                    for (count, met) in counts.iter_mut().zip(meets(deal)) {
                        *count += u32::from(met);
                    }
                }
                counts
            })
            .collect();
        let all: f64 = self.investments.iter().map(|deals| deals.len() as f64).sum();
        let shares: Vec<f64> = (0..conditions)
            .map(|at| (counts.iter().map(|counts| f64::from(counts[at])).sum::<f64>() + 0.5) / (all + 1.0))
            .collect();
        let score = |firm: usize| {
            let size = self.investments[firm].len() as f64;
            let part = |(count, share): (&u32, &f64)| ((f64::from(*count) + PRIOR * share) / (size + PRIOR)).ln();
            size.ln() + counts[firm].iter().zip(&shares).map(part).sum::<f64>()
        };
        let mut order: Vec<(f64, usize)> = (0..self.firms.len()).map(|firm| (score(firm), firm)).collect();
        order.sort_by(|(one, a), (other, b)| other.total_cmp(one).then(a.cmp(b)));
        order.into_iter().map(|(_, firm)| self.firms[firm]).collect()
    }

    pub fn knows(&self, firm: &str) -> bool {
        self.firms.contains(&firm)
    }
}

fn lineage<'a>(sectors: &'a [String], parents: &'a BTreeMap<String, String>) -> BTreeSet<&'a str> {
    let above = |sector: &'a String| std::iter::successors(Some(sector), |sector| parents.get(*sector));
    sectors.iter().flat_map(above).map(String::as_str).collect()
}
