//! Rows of firms with fields computed for the request: ranks, shared rounds, the reasons of a match.

use serde::Serialize;

use crate::{Catalog, FirmMatch, RankedRow};
use data::field::{Field, FieldVisitor, JsonType, JsonValue, Model, model};
use data::model::Reference;
use data::vocabulary::Vocabulary;
use data::{Metric, PartialDate, Snapshot, Table};

use crate::json::{Fields, record};

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
        points: u8 [max(100)],
        /// Maximum number of points that the request allows.
        max_points: u8 [max(100)],
        /// Why the firm matches.
        reasons: Vec<ReasonFields<'a>>,
        /// Startups in the same narrow sector that the firm already backs, at most 5.
        conflicts: Vec<ConflictFields<'a>>,
        /// Number of such startups.
        conflict_count: u32,
    }

    /// Points for one reason.
    #[derive(Serialize)]
    pub(crate) struct ReasonFields<'a> as "FitReason" {
        /// The criterion.
        name: &'a str [one_of("FitReasonName")],
        /// Whole points.
        points: u8 [max(100)],
        /// Maximum number of points.
        max_points: u8 [max(100)],
        /// Why the firm has these points.
        detail: &'a str,
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
    pub fn new(snapshot: &'a Snapshot, fit: &'a FirmMatch, max_points: u8) -> Self {
        let reasons = fit.reasons.iter().map(|(reason, points, detail)| {
            let max_points = reason.max_points();
            ReasonFields { name: reason.name(), points: *points, max_points, detail }
        });
        let conflicts = fit.conflicts.iter().map(|(startup, sector)| {
            let (slug, name) = (snapshot.slug(Table::Startups, *startup), snapshot.name(Table::Startups, *startup));
            ConflictFields { startup: Reference { slug, name }, sector: snapshot.slug(Table::Sectors, *sector) }
        });
        let (reasons, conflicts, conflict_count) = (reasons.collect(), conflicts.collect(), fit.conflict_count);
        Self { points: fit.points, max_points, reasons, conflicts, conflict_count }
    }
}

#[derive(Default)]
struct ComputedTexts(Vec<(&'static Field, Vec<u8>)>);

impl FieldVisitor for ComputedTexts {
    fn field(&mut self, field: &'static Field, value: &impl Serialize) {
        self.0.push((field, serde_json::to_vec(value).expect("computed fields always have a JSON form")));
    }
}

/// Writes a record with computed fields, which follow its own.
pub fn write_row(out: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, fields: &Fields, computed: &impl Model) {
    let mut texts = ComputedTexts::default();
    computed.visit(&mut texts);
    record::write_with_computed(out, catalog, table, row, fields, false, &texts.0);
}
