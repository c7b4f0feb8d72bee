//! Single records, and the responses about the service itself.

use serde::Serialize;

use catalog::json::{self, FieldSet, Fields};
use catalog::param_error::shortened;
use catalog::{Catalog, Issues, ParameterError, Totals};
use data::field::{Model, SNAPSHOT, model};
use data::vocabulary::Vocabulary;
use data::{Counts, Date, Table, rfc3339};
use search::nearest;
use transport::problem::{Code, Problem};

use crate::envelope::{Meta, append, append_meta};
use crate::include::{self, Include};
use crate::routes::Route;
use crate::window::{MAX_LIMIT, PageWindow};
use crate::{ApiRequest, ApiResponse, Version};

/// The error that no record has a slug or id, with the most similar ones.
pub(crate) fn not_found(catalog: &Catalog, table: Table, slug: &str) -> Problem {
    let (noun, key) = (table.noun(), table.key());
    let did_you_mean = catalog.nearest_slugs(table, slug, 3);
    let slug = shortened(slug);
    let detail = match did_you_mean.first() {
        Some(nearest) => format!("no {noun} has the {key} `{slug}`; did you mean `{nearest}`?"),
        None => format!("no {noun} has the {key} `{slug}`"),
    };
    Problem { did_you_mean, ..Problem::new(Code::NotFound, detail) }
}

pub(crate) fn answer(
    request: &ApiRequest<'_>,
    table: Table,
    row: u32,
    included: &[Include],
    warnings: &Issues,
) -> Result<ApiResponse, Problem> {
    let v3 = request.version == Version::V3;
    let fields = match v3 {
        true => Fields::parse(request.values, FieldSet::of_table(table)).map_err(Problem::of_parameters)?,
        false => Fields::DefaultWithDays,
    };
    let mut body = Vec::with_capacity(4 * 1024);
    body.extend_from_slice(b"{\"data\":");
    json::record::write(&mut body, &request.catalog, table, row, &fields, true);
    include::append_to(&mut body, &request.catalog, table, row, included);
    Ok(finish(request, body, &warnings.report(&request.catalog)))
}

/// The response with `data`, cut to the selected fields.
pub(crate) fn json_response<M: Model>(
    request: &ApiRequest<'_>,
    data: &impl Serialize,
    warnings: &[ParameterError],
) -> Result<ApiResponse, Problem> {
    let set = FieldSet::of_model::<M>();
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
    Ok(finish(request, body, warnings))
}

fn finish(request: &ApiRequest<'_>, mut body: Vec<u8>, warnings: &[ParameterError]) -> ApiResponse {
    let snapshot = request.catalog.version();
    let release = append_meta(&mut body, request.version, &Meta::of(request.catalog.snapshot(), warnings));
    ApiResponse { body, release, snapshot, next_link: None }
}

/// The same with the keys of `data` in alphabetical order, as in all releases of these endpoints.
fn sorted_response<M: Model>(
    request: &ApiRequest<'_>,
    data: &impl Serialize,
    warnings: &[ParameterError],
) -> Result<ApiResponse, Problem> {
    let sorted = serde_json::to_value(data).expect("response types always have a JSON form");
    json_response::<M>(request, &sorted, warnings)
}

/// `GET /stats`: totals of the snapshot.
pub(crate) fn stats(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    sorted_response::<Totals>(request, request.catalog.totals(), &[])
}

/// Default number of suggestions.
pub(crate) const SUGGESTIONS: u64 = 10;

model! {
    /// A record whose name may complete the text.
    #[derive(Serialize)]
    pub(crate) struct SuggestedName<'a> as "Suggestion" {
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
    pub(crate) struct MatchedPart {
        /// The first character, from 0.
        start: u32,
        /// The character after the last one.
        end: u32,
    }

    /// An available release of the data.
    #[derive(Serialize)]
    pub(crate) struct Release<'a> {
        /// The snapshot's version.
        version: String [pattern(SNAPSHOT)],
        /// Date of the release.
        released_on: Date,
        /// A short description of the data.
        title: &'a str,
        /// Where the data comes from.
        source: &'a str,
        /// Terms of use.
        license: &'a str,
        /// Whether requests without a cursor are answered from it.
        serving: bool,
        /// Whether it is the snapshot in the program, because no release is published.
        bundled: bool,
        /// Checksum of the content.
        checksum: String [pattern("^[0-9a-f]{16}$")],
        counts: Counts,
    }

    /// The quota of an API key.
    #[derive(Serialize)]
    pub(crate) struct Usage {
        /// The account's tier.
        tier: Option<&'static str> [one_of("Tier")],
        /// Requests per day; `null`: unlimited.
        limit: Option<u32>,
        /// Requests made today.
        used: u32,
        /// Requests left today; `null`: unlimited.
        remaining: Option<u32>,
        /// When the quota resets.
        resets_at: String [date_time],
    }
}

/// `GET /suggest?q=`: records whose names complete the text, best first.
pub(crate) fn suggest(
    request: &ApiRequest<'_>,
    text: &str,
    tables: &[Table],
    window: &PageWindow,
) -> Result<ApiResponse, Problem> {
    let warnings: Vec<ParameterError> =
        window.clamped.then(|| ParameterError::limit_clamped(MAX_LIMIT)).into_iter().collect();
    let snapshot = request.catalog.snapshot();
    let suggestions: Vec<SuggestedName<'_>> = request
        .catalog
        .suggest(text, tables, window.limit as usize)
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
    sorted_response::<SuggestedName<'_>>(request, &suggestions, &warnings)
}

/// `GET /snapshots`: the available releases, newest first.
pub(crate) fn snapshots(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let catalogs = request.state.releases.all();
    let serving = request.state.releases.serving().version();
    let releases = catalogs.iter().map(|catalog| {
        let snapshot = catalog.snapshot();
        Release {
            version: snapshot.version().to_string(),
            released_on: snapshot.released_on(),
            title: snapshot.title(),
            source: snapshot.source(),
            license: snapshot.license(),
            serving: snapshot.version() == serving,
            bundled: catalog.is_bundled(),
            checksum: format!("{:016x}", snapshot.content()),
            counts: Counts { reviews: catalog.totals().reviews, ..snapshot.counts() },
        }
    });
    sorted_response::<Release<'_>>(request, &releases.collect::<Vec<_>>(), &[])
}

/// `GET /usage`: the caller's quota; not counted.
pub(crate) fn usage(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let quota = &request.quota;
    let usage = Usage {
        tier: quota.tier.map(|tier| tier.name()),
        limit: quota.limit,
        used: quota.used,
        remaining: quota.remaining,
        resets_at: rfc3339(quota.resets_at),
    };
    sorted_response::<Usage>(request, &usage, &[])
}

/// The error for a path that the version does not have, with the nearest one.
pub(crate) fn unknown_route(request: &ApiRequest<'_>) -> Problem {
    let (version, path) = (request.version.number(), request.path);
    let shown = shortened(path);
    let routes: Vec<&str> = Route::of(request.version).map(|route| route.path).collect();
    let suggestion = Route::suggest(request.version, path);
    let near = suggestion.as_deref().or_else(|| nearest(path, routes.iter().copied()));
    let detail = match near {
        Some(near) => format!("v{version} has no path `/{shown}`; did you mean `/{near}`?"),
        None => format!("v{version} has no path `/{shown}`: it has {}", routes.join(", ")),
    };
    let did_you_mean = suggestion.map(|path| format!("/{path}")).into_iter().collect();
    Problem { did_you_mean, ..Problem::new(Code::UnknownRoute, detail) }
}
