//! `GET /suggest`: records whose names complete the text, best first.

use serde::Serialize;
use serde_json::json;
use utoipa::openapi::{Ref, Required};

use catalog::{ParameterError, Suggestion};
use data::Table;
use data::field::{Model, model};
use data::vocabulary::Vocabulary;
use transport::problem::Problem;

use crate::endpoint::{ApiOperation, Endpoint, ParsedOperation};
use crate::envelope::sorted_response;
use crate::openapi::parameter::any_text;
use crate::openapi::vocabulary::vocabulary;
use crate::request::RequestUrl;
use crate::window::{MAX_LIMIT, PageWindow, single_value};
use crate::{ApiRequest, ApiResponse};

pub(crate) const SUGGESTIONS: u64 = 10;
const KIND: &str = "SuggestedKind";

model! {
    /// A record whose name may complete the text.
    #[derive(Serialize)]
    struct SuggestedName<'a> as "Suggestion" {
        /// The type of the record.
        kind: &'a str [one_of("RecordKind")],
        /// The record's slug.
        slug: &'a str [slug],
        /// The record's name.
        name: &'a str,
        /// What tells the record from others of its name: place and rounds, or title and organization.
        note: Option<String>,
        /// How the name matches the text.
        #[serde(rename = "match")]
        matched_by: &'static str [named("match"), one_of("MatchClass")],
        /// The alias, or the initials, that match; `null` if the name does.
        alias: Option<String>,
        /// The part of the alias, or else of the name, that the text completes; `null` if there is a typo.
        matched: Option<MatchedPart>,
        /// Descending, 0–1: from 0.8 names that equal the text, from 0.55 those that begin with it, from 0.3 those with a
        /// later word that begins so, below near ones; within these by prominence.
        score: f64,
    }

    /// A part of a text, in characters (Unicode code points).
    #[derive(Serialize)]
    struct MatchedPart {
        /// The first character, from 0.
        start: u32,
        /// The character after the last one.
        end: u32,
    }
}

struct SuggestRequest {
    text: String,
    /// The kinds of records, each once.
    tables: Vec<Table>,
    window: PageWindow,
}

pub(super) const ENDPOINT: Endpoint = Endpoint {
    is_list: true,
    own: &[
        ("q", |of| {
            of.query("The text typed so far.")
                .required(Required::True)
                .extensions(None)
                .schema(Some(any_text().pattern(Some(r"\S"))))
                .example(Some(of.catalog.example_name(Table::Firms).into()))
        }),
        ("kind", |of| {
            let doc = "Kinds of records (any of); `vc` is a firm. Default: all.";
            of.words(doc, Ref::from_schema_name(KIND), json!(["vc"]), None)
        }),
        ("limit", |of| {
            let doc = format!("Maximum number of results. Above {MAX_LIMIT} it is reduced to {MAX_LIMIT}.");
            of.limit(&doc, SUGGESTIONS)
        }),
    ],
    add_schemas: |_, schemas| {
        let kinds = Suggestion::KINDS.map(|(name, _)| name);
        schemas.insert(KIND.to_owned(), vocabulary("A type of record to suggest; `vc` is a firm.", &kinds));
    },
    ..Endpoint::new(SuggestedName::DEFINITION, parse)
};

fn parse(url: &RequestUrl<'_>) -> ParsedOperation {
    url.unknown_names()?;
    let mut errors = Vec::new();
    let text = single_value(url.values, "q", &mut errors);
    if text.is_none() {
        errors.push(ParameterError::invalid("q", "`q` is required: the text typed so far"));
    }
    let kinds = single_value(url.values, "kind", &mut errors);
    let tables = Suggestion::tables(kinds.unwrap_or_default()).unwrap_or_else(|error| {
        errors.push(error);
        Vec::new()
    });
    let window = PageWindow::parse(url.version, url.values, SUGGESTIONS, MAX_LIMIT)?;
    match text {
        Some(text) if errors.is_empty() => Ok(Box::new(SuggestRequest { text: text.to_owned(), tables, window })),
        _ => Err(errors.into()),
    }
}

impl ApiOperation for SuggestRequest {
    fn searches(&self) -> bool {
        true
    }

    fn respond(&self, request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
        let snapshot = request.catalog.snapshot();
        let suggestions: Vec<SuggestedName<'_>> = request
            .catalog
            .suggest(&self.text, &self.tables, self.window.limit as usize)
            .into_iter()
            .map(|suggestion| SuggestedName {
                kind: suggestion.table.noun(),
                slug: snapshot.slug(suggestion.table, suggestion.row),
                name: snapshot.name(suggestion.table, suggestion.row),
                note: suggestion.note,
                matched_by: suggestion.matched_by.name(),
                alias: suggestion.alias,
                matched: suggestion.matched.map(|part| MatchedPart { start: part.start as u32, end: part.end as u32 }),
                score: (f64::from(suggestion.score) * 1_000.0).round() / 1_000.0,
            })
            .collect();
        sorted_response::<SuggestedName<'_>>(request, &suggestions, &self.window.warnings())
    }
}
