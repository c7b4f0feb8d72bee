//! Rows of firms with fields computed for the request: ranks, shared rounds, the reasons of a match.

use serde::Serialize;

use crate::{FirmMatch, RankedRow};
use data::field::{JsonType, JsonValue, model};
use data::model::Reference;
use data::vocabulary::Vocabulary;
use data::{Metric, PartialDate, Snapshot, Stage, Table};

model! {
    /// A firm with its rank.
    #[derive(Serialize)]
    pub struct RankFields as "RankedFirm" {
        /// The rank; firms with the same value share one.
        rank: u32 [min(1)],
        /// The value that the firm is ranked by.
        rank_value: RankValue,
    }

    /// A firm that shares rounds with another firm.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct CoInvestorFields as "CoInvestingFirm" {
        /// Number of rounds that both firms joined.
        pub shared_rounds: u32 [min(1)],
        /// Date of the latest shared round.
        pub last_shared_on: Option<PartialDate>,
    }

    /// A firm with how well it matches a startup.
    #[derive(Serialize)]
    pub struct MatchFields<'a> as "FittingFirm" {
        /// Sum of the points of all reasons.
        points: u16 [max(1000)],
        /// Maximum number of points that the request allows.
        max_points: u16 [max(1000)],
        /// Counts of the firm's investments that have something in common with the startup's round.
        summary: &'a str,
        /// Why the firm matches.
        reasons: Vec<ReasonFields<'a>>,
        /// The conditions among `stage`, `sector` and `country` that no investment of the firm meets.
        missing: Vec<&'a str> [one_of("FitReasonName")],
        /// The firm's investments that are most similar to the startup's round, at most 3.
        deals: Vec<DealFields<'a>>,
        /// Those of `backer` that joined rounds with the firm, at most 5, and could introduce the startup.
        introductions: Vec<IntroductionFields<'a>>,
        /// Close startups that the firm already backs, at most 5.
        conflicts: Vec<ConflictFields<'a>>,
        /// Number of such startups.
        conflict_count: u32,
        /// Fields of the firm that a founder would ask for, and that are unknown.
        unknown: Vec<&'static str>,
    }

    /// Points for one reason.
    #[derive(Serialize)]
    pub(crate) struct ReasonFields<'a> as "FitReason" {
        /// The criterion.
        name: &'a str [one_of("FitReasonName")],
        /// Whole points.
        points: u16 [max(1000)],
        /// Maximum number of points.
        max_points: u16 [max(1000)],
        /// Number of the firm's investments that count.
        investments: u32,
        /// Why the firm has these points.
        detail: &'a str,
    }

    /// An investment of the firm.
    #[derive(Serialize)]
    pub(crate) struct DealFields<'a> as "FitDeal" {
        /// The round's id.
        id: &'a str,
        startup: Reference<&'a str>,
        /// The stage of the round; `null` if no source names it.
        stage: Option<&'static str> [one_of("Stage")],
        /// Amount raised, US dollars.
        amount_usd: Option<u64>,
        /// Date of the announcement.
        announced_on: Option<PartialDate>,
        /// True if the firm led the round; `null` if the round names no lead.
        led: Option<bool>,
    }

    /// A firm that backs the startup and joined rounds with the listed firm.
    #[derive(Serialize)]
    pub(crate) struct IntroductionFields<'a> as "FitIntroduction" {
        firm: Reference<&'a str>,
        /// Number of rounds that both firms joined.
        shared_rounds: u32 [min(1)],
    }

    /// A startup that the firm already backs.
    #[derive(Serialize)]
    pub(crate) struct ConflictFields<'a> as "FitConflict" {
        startup: Reference<&'a str>,
        /// Slug of the narrow sector of both startups.
        sector: &'a str,
    }
}

/// The value of a metric, written without decimals if the metric has none.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(crate) enum RankValue {
    Integer(i64),
    Decimal(f64),
}

impl JsonValue for RankValue {
    const TYPE: JsonType = JsonType::Number;
}

impl RankFields {
    pub(crate) fn new(ranked: &RankedRow, metric: Metric) -> Self {
        let rank = u32::try_from(ranked.rank).expect("ranks are at most the number of rows");
        let is_integer = metric == Metric::Activity;
        let value = if is_integer { RankValue::Integer(ranked.value as i64) } else { RankValue::Decimal(ranked.value) };
        Self { rank, rank_value: value }
    }
}

impl<'a> MatchFields<'a> {
    pub fn new(snapshot: &'a Snapshot, fit: &'a FirmMatch, max_points: u16) -> Self {
        let reference =
            |table: Table, row: u32| Reference { slug: snapshot.slug(table, row), name: snapshot.name(table, row) };
        let reasons = fit.reasons.iter().map(|reason| ReasonFields {
            name: reason.name.name(),
            points: reason.points,
            max_points: reason.max_points,
            investments: reason.investments,
            detail: &reason.detail,
        });
        let deals = fit.deals.iter().map(|round| DealFields {
            id: snapshot.slug(Table::Rounds, *round),
            startup: reference(Table::Startups, snapshot.round_startup(*round)),
            stage: snapshot.round_stage(*round).map(Stage::name),
            amount_usd: snapshot.round_amount(*round),
            announced_on: snapshot.round_date(*round),
            led: led(snapshot, *round, fit.row),
        });
        let introductions = fit.introductions.iter().map(|(firm, shared_rounds)| IntroductionFields {
            firm: reference(Table::Firms, *firm),
            shared_rounds: *shared_rounds,
        });
        let conflicts = fit.conflicts.iter().map(|(startup, sector)| ConflictFields {
            startup: reference(Table::Startups, *startup),
            sector: snapshot.slug(Table::Sectors, *sector),
        });
        Self {
            points: fit.points,
            max_points,
            summary: &fit.summary,
            reasons: reasons.collect(),
            missing: fit.missing.iter().map(|reason| reason.name()).collect(),
            deals: deals.collect(),
            introductions: introductions.collect(),
            conflicts: conflicts.collect(),
            conflict_count: fit.conflict_count,
            unknown: fit.unknown.clone(),
        }
    }
}

/// True if a firm led a round; `None` if the round names no lead.
fn led(snapshot: &Snapshot, round: u32, firm: u32) -> Option<bool> {
    let mut leads = snapshot.round_investors(round).filter(|(_, is_lead)| *is_lead).map(|(lead, _)| lead).peekable();
    leads.peek()?;
    Some(leads.any(|lead| lead == firm))
}
