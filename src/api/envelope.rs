//! The envelope of a response: pagination and `meta`.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Serialize;

use crate::{ApiRequest, ApiResponse, Version};
use catalog::ask::association::Association;
use catalog::json::{FieldSet, Fields};
use catalog::similar::Similarity;
use catalog::snippet::Snippet;
use catalog::{Amounts, ParameterError, ReadPart};
use data::Snapshot;
use data::field::{Model, SNAPSHOT, model};
use search::Explanation;
use transport::problem::Problem;

model! {
    /// The position in the list.
    #[derive(Serialize)]
    pub(crate) struct PaginationV1 as "Pagination" {
        /// Number of matching records.
        pub total: u64,
        /// Maximum number of records in this response.
        pub limit: u64 [range(1, 100)],
        /// Number of records before this response.
        pub offset: u64,
    }

    /// The position in the list.
    #[derive(Serialize)]
    pub(crate) struct PaginationV2 as "Pagination" {
        /// The page number, from 1.
        pub page: u64 [min(1)],
        /// Number of pages; 0 if nothing matches.
        pub total_pages: u64,
        /// Number of matching records.
        pub total: u64,
        /// Maximum number of records on a page.
        pub limit: u64 [range(1, 100)],
    }

    /// The position in the list.
    #[derive(Serialize)]
    pub(crate) struct PaginationV3 as "Pagination" {
        /// The `cursor` of the next request; `null` on the last page.
        pub next_cursor: Option<String>,
        /// Whether there are more records.
        pub has_more: bool,
        /// Number of matching records.
        pub total: u64,
        /// Maximum number of records in this response.
        pub limit: u64 [range(1, 1000)],
    }

    /// The data's snapshot, and notes on the request.
    #[derive(Serialize)]
    pub(crate) struct Meta<'a> {
        /// The snapshot of the data.
        pub snapshot: String [pattern(SNAPSHOT)],
        /// Whether the data is invented: no firm, startup, person or review is real.
        pub invented: bool,
        /// Where the data comes from.
        #[serde(skip_serializing_if = "str::is_empty")]
        pub source: &'a str [optional],
        /// Terms of use of the data.
        #[serde(skip_serializing_if = "str::is_empty")]
        pub license: &'a str [optional],
        /// Parts of the request that were ignored or changed.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        pub warnings: &'a [ParameterError] [optional],
        /// Records with similar names, if a search finds nothing or little.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        pub did_you_mean: &'a [Suggested] [optional],
        /// Why each record matches the search (`explain=true`).
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        pub explain: &'a [ExplainedRow] [optional],
        /// The amounts of all matching rounds (`amounts=true`).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub amounts: Option<Amounts> [optional],
        /// What the descriptions of the records say of the words of `text`.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        pub snippets: &'a [Snippet] [optional],
        /// What each record has in common with that of `like`.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        pub similar: &'a [Similarity<'a>] [optional],
        /// What was understood of the question (`ask`).
        #[serde(flatten)]
        pub asked: Option<Asked<'a>> [flat],
    }

    /// What was understood of a question (`ask`).
    #[derive(Serialize)]
    pub(crate) struct Asked<'a> {
        /// The words that were read as parameters, in their order.
        pub interpreted: &'a [ReadPart] [optional],
        /// The words of which nothing was understood; they change nothing.
        pub unread: &'a [String] [optional],
        /// Sectors that these words may mean, by the startups that use them; they change nothing.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub suggested: Vec<Association> [optional],
        /// The same request without a question.
        pub url: String [optional, uri],
        /// The counts of the matches, if the question asks for them: `by country`, `per year`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub groups_url: Option<String> [optional, uri],
        /// The same request as arguments of the tool of this list.
        pub arguments: BTreeMap<&'static str, String> [optional],
    }

    /// Notes on the request.
    #[derive(Serialize)]
    pub(crate) struct Warnings<'a> as "Meta" {
        /// Parts of the request that were ignored or changed.
        pub warnings: &'a [ParameterError],
    }

    /// A record with a similar name.
    #[derive(Serialize)]
    pub(crate) struct Suggested as "Meant" {
        /// The record's slug.
        pub slug: String,
        /// The record's name.
        pub name: String,
    }

    /// Why a record matches a search: the parts of its score.
    #[derive(Serialize)]
    pub(crate) struct ExplainedRow as "Explanation" {
        /// The record's slug.
        pub slug: String,
        #[serde(flatten)]
        pub explanation: Explanation [flat],
    }
}

impl<'a> Meta<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, warnings: &'a [ParameterError]) -> Self {
        Self {
            snapshot: snapshot.version().to_string(),
            invented: snapshot.is_invented(),
            source: snapshot.source(),
            license: snapshot.license(),
            warnings,
            did_you_mean: &[],
            explain: &[],
            amounts: None,
            snippets: &[],
            similar: &[],
            asked: None,
        }
    }
}

/// Ends a body with `meta`; v1 and v2 have it only for warnings. Returns the bytes that name the release, if any.
pub(crate) fn append_meta(body: &mut Vec<u8>, version: Version, meta: &Meta<'_>) -> Range<usize> {
    let mut release = 0..0;
    match version {
        Version::V1 | Version::V2 if meta.warnings.is_empty() => {}
        Version::V1 | Version::V2 => append_member(body, "meta", &Warnings { warnings: meta.warnings }),
        Version::V3 => {
            let start = body.len() + br#","meta":{"snapshot":""#.len();
            append_member(body, "meta", meta);
            release = start..start + meta.snapshot.len();
        }
    }
    body.push(b'}');
    release
}

/// Appends `,"name":value`.
pub(crate) fn append_member(body: &mut Vec<u8>, name: &str, value: &impl Serialize) {
    body.extend_from_slice(b",\"");
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(b"\":");
    append(body, value);
}

pub(crate) fn append(body: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(body, value).expect("response types always have a JSON form");
}

/// The response with `data`, reduced to the selected fields.
pub(crate) fn json_response<M: Model>(
    request: &ApiRequest<'_>,
    data: &impl Serialize,
    warnings: &[ParameterError],
) -> Result<ApiResponse, Problem> {
    let set = FieldSet::of_definition(M::DEFINITION);
    let fields = Fields::parse(request.values, set).map_err(Problem::of_parameters)?;
    let mut body = Vec::with_capacity(1024);
    body.extend_from_slice(b"{\"data\":");
    match fields.mask(set) {
        Some(mask) => {
            let mut json = Vec::new();
            append(&mut json, data);
            mask.write(&mut body, &json);
        }
        None => append(&mut body, data),
    }
    Ok(finish_response(request, body, warnings))
}

/// The same with the keys of `data` in alphabetical order, which some endpoints have always had.
pub(crate) fn sorted_response<M: Model>(
    request: &ApiRequest<'_>,
    data: &impl Serialize,
    warnings: &[ParameterError],
) -> Result<ApiResponse, Problem> {
    let sorted = serde_json::to_value(data).expect("response types always have a JSON form");
    json_response::<M>(request, &sorted, warnings)
}

pub(crate) fn finish_response(request: &ApiRequest<'_>, mut body: Vec<u8>, warnings: &[ParameterError]) -> ApiResponse {
    let snapshot = request.catalog.version();
    let release = append_meta(&mut body, request.version, &Meta::new(request.catalog.snapshot(), warnings));
    ApiResponse { body, release, snapshot, next_link: None }
}
