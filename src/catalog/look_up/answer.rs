//! The published form of the result of a look-up.

use serde::Serialize;

use crate::look_up::ParsedItem;
use crate::{Catalog, Item, LookedUp, ParameterError, Resource};
use data::field::model;
use data::vocabulary::Vocabulary;
use data::{Country, Facet, LookUpStatus, Table};
use import::resolve::look_up::ScoredCandidate;

model! {
    /// What an item means.
    #[derive(Clone, Debug, Serialize)]
    pub struct LookUpAnswer as "LookUp" {
        /// Whether the item means the first candidate (`match`), may mean several or none for sure (`ambiguous`), means no
        /// likely record (`none`), or cannot be read (`invalid`, with `errors`).
        pub status: &'static str [one_of("LookUpStatus")],
        /// The likely records, best first.
        pub candidates: Vec<LookUpCandidate>,
        /// What is wrong with the item; empty unless it is invalid.
        pub errors: Vec<ParameterError>,
    }

    /// A record that an item may mean.
    #[derive(Clone, Debug, Serialize)]
    pub struct LookUpCandidate {
        /// Identifies the record among all kinds: the path of its page.
        pub id: String,
        /// The type of the record.
        pub kind: &'static str [one_of("RecordKind")],
        /// The record's slug.
        pub slug: String [slug],
        /// The record's name.
        pub name: String,
        /// The record's page.
        pub url: String [uri],
        /// Country (ISO 3166-1 alpha-2).
        pub country: Option<String> [one_of("Country")],
        /// The city; of a person that of the organization.
        pub city: Option<String>,
        /// The website; of a person that of the organization.
        pub website: Option<String>,
        /// The name of a person's organization; `null` for firms and startups.
        pub organization: Option<String>,
        /// The sum of the points of `reasons`, at most 100.
        pub score: u8 [max(100)],
        /// The evidence for and against it.
        pub reasons: Vec<LookUpReason>,
        /// Why the item cannot mean the record, whatever its score; `null` if it can.
        pub veto: Option<String>,
    }

    /// A piece of evidence.
    #[derive(Clone, Debug, Serialize)]
    pub struct LookUpReason {
        /// What was found, in words.
        pub evidence: &'static str,
        /// Points, negative if it speaks against the record.
        pub points: i32,
    }
}

/// Id of a record among all tables, which is also the path of its page: `vcs/alder-capital`.
pub fn id_of(catalog: &Catalog, table: Table, row: u32) -> String {
    format!("{}/{}", Resource::of_table(table).path(), catalog.snapshot().slug(table, row))
}

pub fn row_of_id(catalog: &Catalog, id: &str) -> Option<(Table, u32)> {
    let (segment, slug) = id.trim_start_matches('/').split_once('/')?;
    let table = Item::TABLES.into_iter().find(|table| Resource::of_table(*table).path() == segment)?;
    Some((table, catalog.find(table, slug)?))
}

/// The answer to an item, with at most `limit` candidates. `base` is the URL of the service, without a trailing slash.
pub fn answer(catalog: &Catalog, found: &LookedUp, base: &str, limit: usize) -> LookUpAnswer {
    let best = found.candidates.iter().take(limit);
    let candidates = best.map(|(table, row, scored)| candidate(catalog, *table, *row, scored, base)).collect();
    LookUpAnswer { status: found.status.name(), candidates, errors: Vec::new() }
}

/// Answers an item, or says what is wrong with its values. `base` and `limit` are those of [`answer`].
pub fn answer_to(catalog: &Catalog, item: ParsedItem, base: &str, limit: usize) -> LookUpAnswer {
    match item {
        Ok(item) => answer(catalog, &catalog.look_up(&item), base, limit),
        Err(errors) => LookUpAnswer { status: LookUpStatus::Invalid.name(), candidates: Vec::new(), errors },
    }
}

fn candidate(catalog: &Catalog, table: Table, row: u32, scored: &ScoredCandidate, base: &str) -> LookUpCandidate {
    let snapshot = catalog.snapshot();
    let id = id_of(catalog, table, row);
    let country = snapshot.row_values(table, Facet::Country).of(row).first();
    let country = country.and_then(|country| Country::at(*country as usize));
    let employer = (table == Table::People).then(|| catalog.organization_of(row));
    let place = employer.as_ref().map_or((table, row), |(_, place)| *place);
    let reasons = scored.evidence.iter().map(|found| LookUpReason { evidence: found.name(), points: found.points() });
    let excess = Some(scored.excess()).filter(|excess| *excess > 0);
    let reasons = reasons.chain(excess.map(|over| LookUpReason { evidence: "a score is at most 100", points: -over }));
    LookUpCandidate {
        url: format!("{base}/{id}"),
        id,
        kind: table.noun(),
        slug: snapshot.slug(table, row).to_owned(),
        name: snapshot.name(table, row).to_owned(),
        country: country.map(|country| country.alpha2().to_owned()),
        city: catalog.text_field(place, "city"),
        website: catalog.text_field(place, "website"),
        organization: employer.map(|(organization, _)| organization.name),
        score: u8::try_from(scored.score).expect("a score is from 0 to 100"),
        reasons: reasons.collect(),
        veto: scored.veto.as_ref().map(ToString::to_string),
    }
}
