//! Values derived from the rows: counts, totals, dates, co-investors, and the stages and sectors of firms that publish none.

pub mod alias_candidates;
pub(crate) mod near_duplicates;
pub(crate) mod outliers;
pub(crate) mod prominence;
pub(crate) mod record;
pub(crate) mod review_weight;
pub(crate) mod row_order;
pub mod score;
pub(crate) mod sort_order;

use crate::derive::outliers::AmountLimits;
use crate::derive::prominence::Prominence;
use crate::derive::review_weight::ReviewWeight;
use crate::derive::score::{FirmScore, Priors};
use crate::derive::sort_order::Permutation;
use crate::import::Dataset;
use crate::import::rows::{DatasetInvestor, DatasetPerson};
use crate::parallel::both;
use crate::vocabulary::Vocabulary;
use crate::{Country, CountrySource, OrganizationKind, PartialDate, RecentPeriod, Stage};

/// Maximum number of derived sectors of a firm that publishes none.
const DERIVED_SECTORS: usize = 8;
const TOP_CO_INVESTORS: usize = 5;

#[derive(Clone, Debug, Default)]
pub(crate) struct FirmStats {
    pub stages: Vec<Stage>,
    pub sectors: Vec<u32>,
    pub investment_count: u32,
    pub recent_investments: u32,
    pub portfolio_count: u32,
    pub last_investment_on: Option<PartialDate>,
    /// Firms with the number of shared rounds, highest first.
    pub top_co_investors: Vec<(u32, u32)>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct StartupStats {
    pub total_raised_usd: Option<u64>,
    pub round_count: u32,
    pub last_round_on: Option<PartialDate>,
    /// In order of their first round, without duplicates. `lead` is true if the firm led any round, and `None` if it is
    /// not known to have led one and a round names no lead.
    pub investors: Vec<DatasetInvestor>,
}

/// Counts include the descendants of the sector.
#[derive(Clone, Debug, Default)]
pub(crate) struct SectorStats {
    pub vc_count: u32,
    pub startup_count: u32,
    /// Mean of the published scores, in tenths.
    pub average_health_tenths: Option<u32>,
}

pub(crate) struct Derived {
    /// By the rows of reviews.
    pub review_weights: Vec<ReviewWeight>,
    pub assessments: Vec<FirmScore>,
    pub priors: Priors,
    pub firms: Vec<FirmStats>,
    pub startups: Vec<StartupStats>,
    pub sectors: Vec<SectorStats>,
    pub prominence: Prominence,
    pub lineage: Vec<Vec<u32>>,
    pub limits: AmountLimits,
}

impl Derived {
    pub(crate) fn compute(dataset: &Dataset) -> Self {
        let of_reviews = || {
            let review_weights = review_weight::weights(dataset);
            let (assessments, priors) = score::assess(dataset, &review_weights);
            (review_weights, assessments, priors)
        };
        let of_rounds = || {
            let limits = AmountLimits::compute(&dataset.rounds);
            let startups = startups(dataset, &limits);
            let firms = firms(dataset, &startups);
            (limits, startups, firms)
        };
        let ((review_weights, assessments, priors), (limits, startups, firms)) = both(of_reviews, of_rounds);
        let lineage = lineage(dataset);
        let sectors = sectors(dataset, &firms, &assessments, &lineage);
        let prominence = Prominence::compute(dataset, &assessments, &firms, &startups, &sectors);
        Self { review_weights, assessments, priors, firms, startups, sectors, prominence, lineage, limits }
    }
}

/// The startups of each firm, ascending, except those with more than `max` investors.
fn portfolios(startups: &[StartupStats], firms: usize, max: usize) -> Vec<Vec<u32>> {
    let mut portfolios: Vec<Vec<u32>> = vec![Vec::new(); firms];
    for (row, startup) in (0..).zip(startups).filter(|(_, startup)| startup.investors.len() <= max) {
        startup.investors.iter().for_each(|investor| portfolios[investor.firm as usize].push(row));
    }
    portfolios
}

/// The country of a person, or else that of the organization.
pub(crate) fn country_of(dataset: &Dataset, person: &DatasetPerson) -> Option<(Country, CountrySource)> {
    let row = person.organization as usize;
    let of_organization = || match person.organization_kind {
        OrganizationKind::Firm => dataset.firms[row].country,
        OrganizationKind::Startup => dataset.startups[row].country,
    };
    let own = person.country.map(|country| (country, CountrySource::Person));
    own.or_else(|| Some((of_organization()?, CountrySource::Organization)))
}

/// Calls `each` with the sectors and all their ancestors, without duplicates.
pub(crate) fn each_ancestor(lineage: &[Vec<u32>], sectors: &[u32], mut each: impl FnMut(u32)) {
    for (index, sector) in sectors.iter().enumerate() {
        for ancestor in &lineage[*sector as usize] {
            // Lists are short: searching the previous sectors costs less than a set.
            if !sectors[..index].iter().any(|previous| lineage[*previous as usize].contains(ancestor)) {
                each(*ancestor);
            }
        }
    }
}

fn lineage(dataset: &Dataset) -> Vec<Vec<u32>> {
    let sectors = &dataset.sectors;
    let ancestors = |sector: u32| std::iter::successors(Some(sector), move |at| sectors[*at as usize].parent);
    (0..sectors.len() as u32).map(|sector| ancestors(sector).take(sectors.len()).collect()).collect()
}

fn startups(dataset: &Dataset, limits: &AmountLimits) -> Vec<StartupStats> {
    let rounds = &dataset.rounds;
    let key = |row: usize| (rounds[row].announced_on.is_none(), rounds[row].announced_on);
    let order = Permutation::by_key(rounds.len(), key, |row| &rounds[row].id).old;
    let mut startups = vec![StartupStats::default(); dataset.startups.len()];
    for row in order {
        let round = &rounds[row as usize];
        let stats = &mut startups[round.startup as usize];
        stats.round_count += 1;
        if let Some(amount) = limits.credible(round) {
            stats.total_raised_usd = Some(stats.total_raised_usd.unwrap_or(0).saturating_add(amount));
        }
        stats.last_round_on = stats.last_round_on.max(round.announced_on);
        for investor in &round.investors {
            match stats.investors.iter_mut().find(|known| known.firm == investor.firm) {
                Some(known) if known.lead == Some(true) || investor.lead == Some(true) => known.lead = Some(true),
                Some(known) => known.lead = known.lead.and(investor.lead),
                None => stats.investors.push(*investor),
            }
        }
    }
    startups.iter_mut().for_each(|stats| stats.investors.shrink_to_fit());
    startups
}

fn firms(dataset: &Dataset, startups: &[StartupStats]) -> Vec<FirmStats> {
    let dates = dataset.rounds.iter().filter_map(|round| round.announced_on);
    let recent = RecentPeriod::new(dates, dataset.meta.released_on);
    let mut firms = vec![FirmStats::default(); dataset.firms.len()];
    let mut stages = vec![0_u16; dataset.firms.len()];
    let mut joined: Vec<Vec<u32>> = vec![Vec::new(); dataset.firms.len()];
    for (row, round) in dataset.rounds.iter().enumerate() {
        for investor in &round.investors {
            let stats = &mut firms[investor.firm as usize];
            stats.investment_count += 1;
            stats.last_investment_on = stats.last_investment_on.max(round.announced_on);
            stats.recent_investments += u32::from(round.announced_on.is_some_and(|date| recent.contains(date)));
            stages[investor.firm as usize] |= round.stage.map_or(0, |stage| 1 << stage.index());
            joined[investor.firm as usize].push(row as u32);
        }
    }
    let portfolio = portfolios(startups, dataset.firms.len(), usize::MAX);
    for (row, stats) in firms.iter_mut().enumerate() {
        let firm = &dataset.firms[row];
        stats.portfolio_count = portfolio[row].len() as u32;
        let is_own = |stage: &Stage| match firm.own.stages.is_empty() {
            true => stages[row] & (1 << stage.index()) != 0,
            false => firm.own.stages.contains(stage),
        };
        stats.stages = Stage::ALL.iter().copied().filter(is_own).collect();
        stats.sectors.clone_from(&firm.sectors);
        if firm.sectors.is_empty() {
            let portfolio = portfolio[row].iter().flat_map(|startup| &dataset.startups[*startup as usize].sectors);
            let by_slug = |sector: u32| dataset.sectors[sector as usize].slug.as_str();
            let sectors = top(portfolio.copied(), DERIVED_SECTORS, by_slug);
            stats.sectors = sectors.into_iter().map(|(sector, _)| sector).collect();
        }
        let others = joined[row].iter().flat_map(|round| &dataset.rounds[*round as usize].investors);
        let others = others.map(|investor| investor.firm).filter(|other| *other as usize != row);
        stats.top_co_investors = top(others, TOP_CO_INVESTORS, |firm| dataset.firms[firm as usize].slug.as_str());
    }
    firms
}

/// The `max` most frequent values with their counts, ties by name.
fn top<'n>(values: impl Iterator<Item = u32>, max: usize, name: impl Fn(u32) -> &'n str) -> Vec<(u32, u32)> {
    let mut values: Vec<u32> = values.collect();
    values.sort_unstable();
    let equal = values.chunk_by(|left, right| left == right);
    let mut counted: Vec<(u32, u32)> = equal.map(|equal| (equal[0], equal.len() as u32)).collect();
    counted.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| name(a.0).cmp(name(b.0))));
    counted.truncate(max);
    counted
}

fn sectors(dataset: &Dataset, firms: &[FirmStats], assessed: &[FirmScore], lineage: &[Vec<u32>]) -> Vec<SectorStats> {
    let mut sectors = vec![SectorStats::default(); dataset.sectors.len()];
    let mut scores = vec![(0_u32, 0_u32); dataset.sectors.len()];
    for (stats, assessment) in firms.iter().zip(assessed) {
        each_ancestor(lineage, &stats.sectors, |sector| {
            sectors[sector as usize].vc_count += 1;
            if let Some(value) = assessment.score.value {
                let (sum, count) = &mut scores[sector as usize];
                *sum += u32::from(value);
                *count += 1;
            }
        });
    }
    for startup in &dataset.startups {
        each_ancestor(lineage, &startup.sectors, |sector| sectors[sector as usize].startup_count += 1);
    }
    for (stats, (sum, count)) in sectors.iter_mut().zip(scores) {
        stats.average_health_tenths = (count > 0).then(|| (20 * sum + count) / (2 * count));
    }
    sectors
}
