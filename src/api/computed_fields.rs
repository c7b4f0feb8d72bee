//! Firms with fields that are made for the request: ranks, shared rounds, the reasons of a match.

use serde::Serialize;

use crate::catalog::{Catalog, CoInvestorPage, LeaderboardPage, MatchPage};
use crate::data::Table;

use crate::api::fields::Fields;
use crate::api::record_json;
use crate::api::schema::{Field, holding, plain};

/// What rows of the leaderboard have besides the firm's fields.
pub(crate) const RANKED: &[Field<'_>] = &[plain("rank"), plain("rank_value")];

/// What co-investors have besides the firm's fields.
pub(crate) const CO_INVESTOR: &[Field<'_>] = &[plain("shared_rounds"), plain("last_shared_on")];

/// What rows of a match have besides the firm's fields.
pub(crate) const FIT: &[Field<'_>] = &[
    plain("points"),
    plain("max_points"),
    holding("reasons", &[plain("name"), plain("points"), plain("max_points"), plain("detail")]),
    holding("conflicts", &[holding("startup", &[plain("slug"), plain("name")]), plain("sector")]),
    plain("conflict_count"),
];

/// Writes the rows of the leaderboard.
pub(crate) fn write_ranked(out: &mut Vec<u8>, catalog: &Catalog, page: &LeaderboardPage, fields: &Fields) {
    for (index, ranked) in page.ranked.iter().enumerate() {
        let value = match page.whole && ranked.value.fract() == 0.0 {
            true => json(&(ranked.value as i64)),
            false => json(&ranked.value),
        };
        let values = [json(&ranked.rank), value];
        row(out, catalog, index, ranked.row, fields, RANKED, values);
    }
}

/// Writes co-investors.
pub(crate) fn write_co_investors(out: &mut Vec<u8>, catalog: &Catalog, page: &CoInvestorPage, fields: &Fields) {
    for (index, firm) in page.firms.iter().enumerate() {
        let last = firm.last_shared_on.map(|date| date.to_string());
        row(out, catalog, index, firm.row, fields, CO_INVESTOR, [json(&firm.shared_rounds), json(&last)]);
    }
}

/// Writes firms that fit, with their reasons and conflicts.
pub(crate) fn write_fits(out: &mut Vec<u8>, catalog: &Catalog, page: &MatchPage, fields: &Fields) {
    let snapshot = catalog.snapshot();
    for (index, fit) in page.fits.iter().enumerate() {
        let reasons = fit.reasons.iter().map(|(reason, points, detail)| ReasonText {
            name: reason.name(),
            points: *points,
            max_points: reason.max_points(),
            detail,
        });
        let conflicts = fit.conflicts.iter().map(|(startup, sector)| ConflictText {
            startup: Reference {
                slug: snapshot.slug(Table::Startups, *startup),
                name: snapshot.name(Table::Startups, *startup),
            },
            sector: snapshot.slug(Table::Sectors, *sector),
        });
        let values = [
            json(&fit.points),
            json(&page.max_points),
            json(&reasons.collect::<Vec<_>>()),
            json(&conflicts.collect::<Vec<_>>()),
            json(&fit.conflict_count),
        ];
        row(out, catalog, index, fit.row, fields, FIT, values);
    }
}

#[derive(Serialize)]
struct ReasonText<'a> {
    name: &'a str,
    points: u8,
    max_points: u8,
    detail: &'a str,
}

#[derive(Serialize)]
struct ConflictText<'a> {
    startup: Reference<'a>,
    sector: &'a str,
}

#[derive(Serialize)]
struct Reference<'a> {
    slug: &'a str,
    name: &'a str,
}

/// A value as JSON text.
fn json(value: &impl Serialize) -> Vec<u8> {
    // Numbers, texts and lists of them always have a JSON form; a null stands for one that has none.
    serde_json::to_vec(value).unwrap_or_else(|_| b"null".to_vec())
}

/// Writes one firm with the values of its further fields.
fn row<const N: usize>(
    out: &mut Vec<u8>,
    catalog: &Catalog,
    index: usize,
    firm: u32,
    fields: &Fields,
    names: &[Field<'static>],
    values: [Vec<u8>; N],
) {
    if index > 0 {
        out.push(b',');
    }
    let further: Vec<(&str, Vec<u8>)> = names.iter().map(|field| field.name).zip(values).collect();
    record_json::write_with(out, catalog, firm, fields, &further);
}
