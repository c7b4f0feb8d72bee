//! Matches firms to a startup's round by what they invested in, without a language model; [`METHOD`] and
//! [`MatchReason::explanation`] are the rules.

pub mod counts;
mod explain;
pub mod model;
mod ranking;

use data::vocabulary::{Vocabulary, vocabulary};
use data::{Facet, Stage, Table};

use crate::matching::model::{MatchWeights, WEIGHTS, Weight};
use crate::matching::ranking::FirmRanking;
use crate::row_filter::distinct;
use crate::{Catalog, Filter, ListPosition, Ranking};

pub const METHOD: &str = "Each firm gets whole points for its investments: the rounds that it joined. For each reason that the \
    request allows they follow from a count that `/funding-rounds` lists, too: how many of the firm's investments are at \
    the `stage`, in the `sector` and so on. A higher share gives more points, the same share of more investments is surer, \
    and what few investments have in common counts more. `max_points` is 1,000 in total, divided among the reasons by how \
    much they can say in this request. Firms with an investment that meets each of `stage`, `sector` and `country` come \
    first, then the others, whose `missing` names what they lack; both in order of points, ties in the default order of \
    `/vcs`. A firm without any known investment counts by its own stages, sectors and country, as if it had made one. Of \
    firms that are probably the same, the most prominent one is listed. The same request on the same snapshot has the same \
    response.";

/// Stages in the order of a startup's growth.
const LADDER: [Stage; 7] =
    [Stage::PreSeed, Stage::Seed, Stage::SeriesA, Stage::SeriesB, Stage::SeriesC, Stage::SeriesDPlus, Stage::Growth];
/// A round of a similar amount has from a third of it to three times as much.
const AMOUNT_RATIO: u64 = 3;
/// Number of startups like the one of the request whose investors count.
const MAX_SIMILAR: usize = 200;

vocabulary! {
    MatchReason, "reason", {
        Stage = "stage",
        Sector = "sector",
        Country = "country",
        City = "city",
        Amount = "amount",
        SimilarStartups = "similar_startups",
        Backers = "backers",
        Activity = "activity",
    }
}

impl MatchReason {
    /// The conditions that a firm must meet to come first.
    pub const REQUIRED: [Self; 3] = [Self::Stage, Self::Sector, Self::Country];

    /// The weights of its evidence; the first one is that of the count.
    pub fn weights(self) -> &'static [Weight] {
        match self {
            Self::Stage => &[Weight::Stage],
            Self::Sector => &[Weight::Sector],
            Self::Country => &[Weight::Country, Weight::Seat],
            Self::City => &[Weight::City],
            Self::Amount => &[Weight::Amount],
            Self::SimilarStartups => &[Weight::SimilarStartups],
            Self::Backers => &[Weight::Backers],
            Self::Activity => &[Weight::Volume, Weight::Recency],
        }
    }

    pub fn explanation(self) -> &'static str {
        match self {
            Self::Stage => "Investments in rounds of a given `stage`.",
            Self::Sector => {
                "Investments in startups of a given `sector` or one below it. Of several sectors each counts by itself, rare \
                 ones more."
            }
            Self::Country => "Investments in startups of a given `country`; more if the firm is based there, too.",
            Self::City => "Investments in startups of the `city`.",
            Self::Amount => "Investments in rounds of a third of `raise_usd` to three times as much.",
            Self::SimilarStartups => {
                "Investments in the 200 startups that are most like `startup`, or whose descriptions fit `text` best."
            }
            Self::Backers => "Investments in rounds that a `backer` joined. Backers themselves are not listed.",
            Self::Activity => {
                "All investments, and how long before the end of what is known of the given countries the last one was; \
                 half as much for each year."
            }
        }
    }
}

/// The profile and needs of a startup; what is empty is ignored, several values of a list are combined with OR.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchQuery {
    pub stages: Vec<u32>,
    pub sectors: Vec<u32>,
    pub countries: Vec<u32>,
    pub cities: Vec<u32>,
    pub raise_usd: Option<u64>,
    /// Descriptions of the startup: a text, or a startup like it.
    pub similarity: Vec<Ranking>,
    /// The startup itself.
    pub startup: Option<u32>,
    /// Firms that back it.
    pub backers: Vec<u32>,
    /// Conditions that a firm must meet in addition, combined with AND.
    pub conditions: Vec<Filter>,
}

impl MatchQuery {
    /// The query of a startup: stage, sector and country of `filters` are weighed, other filters are conditions.
    pub fn among(catalog: &Catalog, filters: &[Filter], raise_usd: u64) -> Self {
        let is_weighed =
            |filter: &Filter| matches!(filter, Filter::AnyOf(Facet::Stage | Facet::Sector | Facet::Country, _));
        let (weighed, conditions): (Vec<Filter>, Vec<Filter>) = filters.iter().cloned().partition(is_weighed);
        Self { raise_usd: Some(raise_usd), conditions, ..Self::from_filters(catalog, &weighed) }
    }

    pub(crate) fn from_filters(catalog: &Catalog, filters: &[Filter]) -> Self {
        let mut query = Self::default();
        for filter in filters {
            match filter {
                Filter::AnyOf(Facet::Stage, stages) => query.stages.clone_from(stages),
                Filter::AnyOf(Facet::Sector, sectors) => query.sectors.clone_from(sectors),
                Filter::AnyOf(Facet::Country, countries) => query.countries.clone_from(countries),
                Filter::AnyOf(Facet::City, cities) => query.cities.clone_from(cities),
                Filter::AnyOf(Facet::Investor, firms) => query.backers.clone_from(firms),
                Filter::CheckRange { max, .. } => query.raise_usd = Some(*max),
                Filter::Ranked(ranking) => query.similarity.push(ranking.clone()),
                // Firms to leave out; firms have no such facet.
                Filter::Not(excluded) => match &**excluded {
                    Filter::AnyOf(Facet::Firm, firms) => query.leave_out(firms.clone()),
                    _ => query.conditions.push(filter.clone()),
                },
                _ => query.conditions.push(filter.clone()),
            }
        }
        let startup = query.similarity.iter().find_map(|ranking| match ranking {
            Ranking::Like(row) => Some(*row),
            Ranking::Described(_) => None,
        });
        if let Some(startup) = startup {
            query.complete(catalog, startup);
        }
        query.leave_out(query.backers.clone());
        query
    }

    /// Adds what is known of the startup where the request says nothing.
    fn complete(&mut self, catalog: &Catalog, startup: u32) {
        let snapshot = catalog.snapshot();
        let values = |facet: Facet| snapshot.row_values(Table::Startups, facet).of(startup).to_vec();
        let fill = |own: &mut Vec<u32>, known: Vec<u32>| {
            if own.is_empty() {
                *own = known;
            }
        };
        self.startup = Some(startup);
        let stage = values(Facet::Stage).first().and_then(|stage| Stage::at(*stage as usize));
        let stage = stage.and_then(|stage| next_stage(stage).or(Some(stage)));
        fill(&mut self.stages, stage.map(|stage| stage.index() as u32).into_iter().collect());
        let all = values(Facet::Sector);
        let is_above = |sector: &u32| all.iter().any(|other| snapshot.sector_parent(*other) == Some(*sector));
        fill(&mut self.sectors, all.iter().copied().filter(|sector| !is_above(sector)).collect());
        if self.countries.is_empty() && self.cities.is_empty() {
            self.countries = values(Facet::Country);
            self.cities = values(Facet::City);
        }
        let investors = distinct(values(Facet::Investor));
        fill(&mut self.backers, investors.clone());
        self.leave_out(investors);
    }

    fn leave_out(&mut self, firms: Vec<u32>) {
        if !firms.is_empty() {
            self.conditions.push(Filter::Not(Box::new(Filter::Rows(distinct(firms)))));
        }
    }

    /// True if nothing of the startup is given.
    pub fn is_empty(&self) -> bool {
        let Self { stages, sectors, countries, cities, raise_usd, similarity, backers, .. } = self;
        [stages, sectors, countries, cities, backers].into_iter().all(Vec::is_empty)
            && raise_usd.is_none()
            && similarity.is_empty()
    }

    /// The startups like the one of the request, the most similar first.
    pub(crate) fn similar_startups(&self, catalog: &Catalog) -> Vec<u32> {
        let mut similar: Vec<u32> = Vec::new();
        for ranking in &self.similarity {
            let ranked = catalog.ranked(Table::Startups, ranking);
            similar.extend(ranked.first(MAX_SIMILAR));
        }
        similar.retain(|row| Some(*row) != self.startup);
        similar
    }

    /// The conditions on rounds of each reason that applies, except for activity.
    fn conditions_on_rounds(&self, similar: &[u32]) -> Vec<(MatchReason, Filter)> {
        let any_of = |reason, facet, values: &[u32]| {
            (!values.is_empty()).then(|| (reason, Filter::AnyOf(facet, values.to_vec())))
        };
        let amount = self.raise_usd.map(|raise| {
            let amount = |usd: u64| i64::try_from(usd).unwrap_or(i64::MAX);
            let (min, max) = amounts_near(raise);
            let key = Table::Rounds.sort_key("amount_usd");
            (MatchReason::Amount, Filter::Range { key, min: amount(min), max: amount(max) })
        });
        let all = [
            any_of(MatchReason::Stage, Facet::Stage, &self.stages),
            any_of(MatchReason::Sector, Facet::Sector, &self.sectors),
            any_of(MatchReason::Country, Facet::Country, &self.countries),
            any_of(MatchReason::City, Facet::City, &self.cities),
            amount,
            any_of(MatchReason::SimilarStartups, Facet::Startup, &distinct(similar.iter().copied())),
            any_of(MatchReason::Backers, Facet::Investor, &self.backers),
        ];
        all.into_iter().flatten().collect()
    }
}

/// The smallest and the largest amount that are similar to one.
pub(crate) fn amounts_near(raise: u64) -> (u64, u64) {
    (raise.div_ceil(AMOUNT_RATIO), raise.saturating_mul(AMOUNT_RATIO))
}

/// The points of a firm for a reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonPoints {
    pub name: MatchReason,
    pub points: u16,
    pub max_points: u16,
    /// Number of the firm's investments that count.
    pub investments: u32,
    pub detail: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirmMatch {
    pub row: u32,
    pub points: u16,
    /// Each reason that applies to the query.
    pub reasons: Vec<ReasonPoints>,
    /// The counts in one sentence.
    pub summary: String,
    /// Those of [`MatchReason::REQUIRED`] that the firm lacks.
    pub missing: Vec<MatchReason>,
    /// Rows of its rounds, the most similar first.
    pub deals: Vec<u32>,
    /// Backers with the number of rounds that they joined together with the firm, most first.
    pub introductions: Vec<(u32, u32)>,
    /// The first conflicting startups, each with the common sector.
    pub conflicts: Vec<(u32, u32)>,
    pub conflict_count: u32,
    /// Fields of the firm that are unknown.
    pub unknown: Vec<&'static str>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatchPage {
    pub matches: Vec<FirmMatch>,
    pub total: u64,
    /// Number of firms that lack nothing that is required.
    pub complete: u64,
    pub max_points: u16,
    pub next: Option<ListPosition>,
}

impl Catalog {
    pub fn matches(&self, query: &MatchQuery, start: ListPosition, limit: usize) -> MatchPage {
        let ranking = FirmRanking::new(self, query, &WEIGHTS);
        let found = ranking.page(start, limit);
        let rounds = ranking.rounds_in_common();
        let matches: Vec<FirmMatch> = found.rows.iter().map(|row| ranking.explain(*row, &rounds)).collect();
        let next = start.after_page(matches.len(), found.total, found.rows.last().copied());
        let max_points = if query.is_empty() { 0 } else { model::MAX_POINTS };
        MatchPage { matches, total: found.total, complete: found.complete, max_points, next }
    }

    /// The firms that fit best by other weights, best first; the back-test compares weights.
    pub fn matches_by(&self, query: &MatchQuery, weights: &MatchWeights, limit: usize) -> Vec<u32> {
        FirmRanking::new(self, query, weights).page(ListPosition::default(), limit).rows
    }
}

/// The stage that usually follows; `None` after the last one and for stages that are no step of growth.
pub fn next_stage(stage: Stage) -> Option<Stage> {
    LADDER.get(LADDER.iter().position(|known| *known == stage)? + 1).copied()
}
