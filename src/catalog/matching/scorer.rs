//! The points of a firm, from the sets and columns of the snapshot.

use data::archive::facet_column::Bits;
use data::snapshot::known_date;
use data::vocabulary::Vocabulary;
use data::{Facet, NONE_U64, PartialDate, RecentPeriod, Stage, StartupStatus, Table};

use crate::matching::MatchReason;
use crate::row_filter::distinct;
use crate::{Catalog, Filter, FirmMatch, MatchQuery, RowFilter};

/// Stages in the order of a startup's growth; neighbors are adjacent stages.
const LADDER: [Stage; 7] =
    [Stage::PreSeed, Stage::Seed, Stage::SeriesA, Stage::SeriesB, Stage::SeriesC, Stage::SeriesDPlus, Stage::Growth];
/// A check is at least the round divided by this number.
const MAX_ROUND_PER_CHECK: u64 = 10;
const MAX_CONFLICTS: usize = 5;

/// Points of a firm, in the order of [`MatchReason::ALL`]; together at most 100.
pub(crate) type Points = [u8; 6];

/// For each of stage, sector and country: true if a firm matches it, and if it nearly does.
type Facts = [(bool, bool); 3];

struct QueryPart<'a> {
    facet: Facet,
    values: &'a [u32],
    near_values: Vec<u32>,
    full: RowFilter<'a>,
    near: RowFilter<'a>,
}

impl<'a> QueryPart<'a> {
    fn new(catalog: &'a Catalog, facet: Facet, values: &'a [u32], near_values: Vec<u32>) -> Self {
        let select = |values: &[u32]| RowFilter::new(catalog, Table::Firms, &[Filter::AnyOf(facet, values.to_vec())]);
        Self { facet, values, full: select(values), near: select(&near_values), near_values }
    }
}

pub(crate) struct MatchScorer<'a> {
    catalog: &'a Catalog,
    query: &'a MatchQuery,
    recent: RecentPeriod,
    parts: [Option<QueryPart<'a>>; 3],
}

impl<'a> MatchScorer<'a> {
    pub(crate) fn new(catalog: &'a Catalog, query: &'a MatchQuery) -> Self {
        let snapshot = catalog.snapshot();
        let matching = |facet, values: &'a Option<Vec<u32>>, near: &dyn Fn(&[u32]) -> Vec<u32>| {
            values.as_deref().map(|values| QueryPart::new(catalog, facet, values, near(values)))
        };
        let parents = |sectors: &[u32]| distinct(sectors.iter().filter_map(|sector| snapshot.sector_parent(*sector)));
        let [stages, sectors, countries] = &query.profile;
        Self {
            catalog,
            query,
            recent: snapshot.recent_period(),
            parts: [
                matching(Facet::Stage, stages, &adjacent_stages),
                matching(Facet::Sector, sectors, &parents),
                matching(Facet::Country, countries, &|_| Vec::new()),
            ],
        }
    }

    /// Calls `each` with every matching firm and its points, in table order.
    pub(crate) fn each(&self, mut each: impl FnMut(u32, Points)) {
        let given = self.parts.each_ref().map(Option::as_ref);
        let mut words = given.map(|part| part.map(|part| (part.full.words(), part.near.words())));
        let everything = RowFilter::new(self.catalog, Table::Firms, &[]);
        let [stage, sector, _] = given.map(|part| part.is_some());
        for (index, mut candidates) in everything.words().enumerate() {
            let next = words.each_mut().map(|words| match words {
                Some((full, near)) => (full.next().unwrap_or(0), near.next().unwrap_or(0)),
                None => (0, 0),
            });
            for ((full, near), _) in next.into_iter().zip([stage, sector]).filter(|(_, is_given)| *is_given) {
                candidates &= full | near;
            }
            for bit in Bits(candidates) {
                let has = |word: u64| word >> bit & 1 == 1;
                let row = index as u32 * 64 + bit;
                let points = self.points_of(row, next.map(|(full, near)| (has(full), has(near))));
                let [_, _, country, check_size, ..] = points;
                if stage || sector || country + check_size > 0 {
                    each(row, points);
                }
            }
        }
    }

    pub(crate) fn points(&self, row: u32) -> Points {
        self.points_of(row, self.facts(row))
    }

    fn facts(&self, row: u32) -> Facts {
        let fact = |part: &QueryPart<'_>| (part.full.contains(row), part.near.contains(row));
        self.parts.each_ref().map(|part| part.as_ref().map_or((false, false), fact))
    }

    fn points_of(&self, row: u32, [stage, sector, country]: Facts) -> Points {
        let graded = |reason: MatchReason, fact: (bool, bool)| match fact {
            (true, _) => reason.max_points(),
            (false, true) => reason.points().1,
            (false, false) => 0,
        };
        let last = self.last_investment(row);
        let is_recent = last.is_some_and(|last| self.recent.contains(last));
        let is_nearly_recent = last.is_some_and(|last| self.recent.nearly_contains(last));
        let answered = self.answered(row).map_or(0, u32::from);
        [
            graded(MatchReason::Stage, stage),
            graded(MatchReason::Sector, sector),
            graded(MatchReason::Country, country),
            graded(MatchReason::CheckSize, (self.check_fits(row), false)),
            graded(MatchReason::Activity, (is_recent, is_nearly_recent)),
            ((answered * u32::from(MatchReason::Responsiveness.max_points()) + 500) / 1_000) as u8,
        ]
    }

    fn last_investment(&self, row: u32) -> Option<PartialDate> {
        known_date(self.catalog.snapshot().last_investments()[row as usize])
    }

    /// Share of reviewers who got an answer, in tenths of a percent.
    fn answered(&self, row: u32) -> Option<u16> {
        1_000_u16.checked_sub(self.catalog.snapshot().ghosting_rates()[row as usize])
    }

    fn checks(&self, row: u32) -> (Option<u64>, Option<u64>) {
        let (min, max) = self.catalog.snapshot().check_sizes();
        let known = |checks: &[u64]| Some(checks[row as usize]).filter(|usd| *usd != NONE_U64);
        (known(min), known(max))
    }

    fn check_fits(&self, row: u32) -> bool {
        let Some(raise) = self.query.raise_usd else { return false };
        let (min, max) = self.checks(row);
        // Rounded up to a whole dollar.
        (min.is_some() || max.is_some())
            && min.is_none_or(|min| min <= raise)
            && max.is_none_or(|max| max >= raise.div_ceil(MAX_ROUND_PER_CHECK))
    }

    pub(crate) fn explain(&self, row: u32) -> FirmMatch {
        let facts = self.facts(row);
        let points = self.points_of(row, facts);
        let included = MatchReason::ALL.iter().copied().zip(points).filter(|(reason, _)| self.query.includes(*reason));
        let reasons = included.map(|(reason, points)| (reason, points, self.detail(reason, row, facts))).collect();
        let (conflicts, conflict_count) = self.conflicts(row);
        FirmMatch { row, points: points.iter().sum(), reasons, conflicts, conflict_count }
    }

    fn detail(&self, reason: MatchReason, row: u32, facts: Facts) -> String {
        let snapshot = self.catalog.snapshot();
        match reason {
            MatchReason::Stage => {
                let name = |stage: u32| {
                    Stage::at(stage as usize).expect("a facet has no values beyond its vocabulary").name().to_owned()
                };
                self.grade(reason.index(), row, facts, name, "invests at", "next to")
            }
            MatchReason::Sector => {
                let name = |sector: u32| snapshot.slug(Table::Sectors, sector).to_owned();
                self.grade(reason.index(), row, facts, name, "invests in", "above")
            }
            MatchReason::Country => match snapshot.firm_country(row) {
                Some(country) => format!("is in {country}"),
                None => "country unknown".to_owned(),
            },
            MatchReason::CheckSize => match self.checks(row) {
                (Some(min), Some(max)) => format!("writes checks of {min} to {max} US dollars"),
                (Some(min), None) => format!("writes checks of at least {min} US dollars"),
                (None, Some(max)) => format!("writes checks of up to {max} US dollars"),
                (None, None) => "check size unknown".to_owned(),
            },
            MatchReason::Activity => match self.last_investment(row) {
                Some(date) => {
                    let on = if date.is_day() { "on" } else { "in" };
                    let until = match self.recent {
                        RecentPeriod::Days(until) => until.to_string(),
                        RecentPeriod::Years(_, last) => last.to_string(),
                    };
                    format!("last invested {on} {date}; the newest round of the data is of {until}")
                }
                None => "no dated investment known".to_owned(),
            },
            MatchReason::Responsiveness => match self.answered(row) {
                Some(answered) => format!("{}.{} % of reviewers got an answer", answered / 10, answered % 10),
                None => "too few reviews say whether founders got an answer".to_owned(),
            },
        }
    }

    fn grade(&self, at: usize, row: u32, facts: Facts, name: impl Fn(u32) -> String, verb: &str, near: &str) -> String {
        let Some(part) = &self.parts[at] else { return String::new() };
        let list = |values: &[u32], is_own: bool| {
            let has = |value: u32| self.catalog.snapshot().facet_rows(Table::Firms, part.facet, value).contains(row);
            let names: Vec<String> = values.iter().copied().filter(|value| !is_own || has(*value)).map(&name).collect();
            names.join(", ")
        };
        match facts[at] {
            (true, _) => format!("{verb} {}", list(part.values, true)),
            (false, true) => format!("{verb} {}, {near} {}", list(&part.near_values, true), list(part.values, false)),
            (false, false) => format!("no sign that it {verb} {}", list(part.values, false)),
        }
    }

    /// The first startups of the firm in a requested narrow sector, each with that sector, and their number.
    fn conflicts(&self, firm: u32) -> (Vec<(u32, u32)>, u32) {
        let snapshot = self.catalog.snapshot();
        let sectors = self.query.profile[MatchReason::Sector.index()].iter().flatten().copied();
        let narrow: Vec<u32> =
            sectors.filter(|sector| snapshot.facet_count(Table::Sectors, Facet::Parent, *sector) == 0).collect();
        let closed = snapshot.facet_rows(Table::Startups, Facet::Status, StartupStatus::Closed.index() as u32);
        let common = |startup: u32| {
            let is_in = |sector: &&u32| snapshot.facet_rows(Table::Startups, Facet::Sector, **sector).contains(startup);
            Some((startup, *narrow.iter().find(is_in).filter(|_| !closed.contains(startup))?))
        };
        let startups = snapshot.facet_rows(Table::Startups, Facet::Investor, firm).iter();
        let mut conflicts: Vec<(u32, u32)> = startups.filter_map(common).collect();
        let count = conflicts.len() as u32;
        conflicts.truncate(MAX_CONFLICTS);
        (conflicts, count)
    }
}

/// The stage that usually follows; `None` after the last one and for stages that are no step of growth.
pub fn next_stage(stage: Stage) -> Option<Stage> {
    LADDER.get(LADDER.iter().position(|known| *known == stage)? + 1).copied()
}

/// Stages adjacent to the given ones, without the given ones.
fn adjacent_stages(stages: &[u32]) -> Vec<u32> {
    let has = |place: usize| LADDER.get(place).is_some_and(|stage| stages.contains(&(stage.index() as u32)));
    let is_near = |place: &usize| !has(*place) && (has(*place + 1) || place.checked_sub(1).is_some_and(has));
    (0..LADDER.len()).filter(is_near).map(|place| LADDER[place].index() as u32).collect()
}
