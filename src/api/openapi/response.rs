//! The responses of an endpoint: bodies, headers and errors.

use serde_json::Value;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::link::Link;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::response::{Response, ResponseBuilder, Responses, ResponsesBuilder};
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{ContentBuilder, Ref, Required};

use crate::{Route, Version};
use data::Table;
use transport::negotiation::Format;
use transport::problem::Code;

use crate::openapi::Examples;
use crate::openapi::parameter::{any_text, long};
use crate::openapi::schema::response_name;

/// Number of rows at the start of [`HEADERS`] that every response has; only keys with a daily quota get `RateLimit`.
const ALWAYS: usize = 12;
const CACHEABLE: [&str; 2] = ["ETag", "Vary"];
/// Headers of lists as CSV and NDJSON.
const FILE: [&str; 2] = ["X-Warnings", "Content-Disposition"];
/// Headers of the versions before the newest.
const OLDER: [&str; 3] = ["Link", "Deprecation", "Sunset"];

/// A header, what it says, and its schema.
type HeaderRow = (&'static str, &'static str, fn() -> ObjectBuilder);

static HEADERS: [HeaderRow; 22] = [
    ("X-RateLimit-Limit", "Requests per day, or `unlimited`; 0 without a key.", count),
    ("X-RateLimit-Remaining", "Requests left today, or `unlimited`.", count),
    ("X-RateLimit-Reset", "When the quota resets: Unix seconds of the next 00:00 UTC.", number),
    ("RateLimit-Policy", "The quota (IETF draft), if there is one.", any_text),
    ("RateLimit", "The remaining quota (IETF draft), if there is one.", any_text),
    (
        "X-Request-Cost",
        "What the request counts as in requests of the quota, 0 if it does not count: mostly 1. A list as CSV or NDJSON counts as \
         one for each started thousand of its rows (HEAD, which counts as one, has the same number), items of a look-up as one \
         for each started ten; other requests as more if their work takes long.",
        number,
    ),
    (
        "X-Request-Id",
        "The request's own `X-Request-Id`, or else an id of ours; quote it in support requests.",
        any_text,
    ),
    ("X-Snapshot", "The snapshot of the data.", any_text),
    ("X-API-Version", "The version of the API.", any_text),
    ("Cache-Control", "How long the response may be cached.", any_text),
    ("Access-Control-Allow-Origin", "Scripts of any origin may read the response.", any_text),
    ("Access-Control-Expose-Headers", "The headers that scripts of other origins may read.", any_text),
    (
        "ETag",
        "Validator: send it as `If-None-Match`; an unchanged response is a 304, which does not count against the quota.",
        any_text,
    ),
    ("Vary", "Request headers that the response depends on.", any_text),
    (
        "Link",
        "`rel=\"next\"`: the next page of a list, or the next part of a file (v3), unless longer than 2 KB. `rel=\"successor-version\"`: the same path in v3 (v1, v2).",
        any_text,
    ),
    ("Deprecation", "From when the version is deprecated (RFC 9745), if its end is announced.", any_text),
    ("Sunset", "When the version ends (RFC 8594), if that is announced.", any_text),
    (
        "X-Warnings",
        "The warnings of a list as CSV or NDJSON: a JSON array of what `meta.warnings` has, other characters than ASCII \
         escaped. Beyond 2 KB each has only `parameter` and `code`.",
        any_text,
    ),
    ("Content-Disposition", "The file name of a list as CSV or NDJSON.", any_text),
    ("Location", "Where the response is.", any_text),
    ("Retry-After", "Seconds to wait before the next request.", number),
    ("WWW-Authenticate", "How to authenticate.", any_text),
];

fn number() -> ObjectBuilder {
    long(0)
}

fn count() -> ObjectBuilder {
    any_text().pattern(Some(r"^(\d+|unlimited)$"))
}

pub(crate) fn headers(version: Version) -> impl Iterator<Item = (&'static str, Header)> {
    let headers = HEADERS.into_iter().filter(move |(name, ..)| match version {
        Version::V3 => *name == "Link" || !OLDER.contains(name),
        Version::V1 | Version::V2 => !FILE.contains(name),
    });
    let header = |doc, schema| HeaderBuilder::new().schema(Some(schema)).description(Some(doc)).build();
    headers.map(move |(name, doc, schema)| (name, header(doc, schema())))
}

/// Shared error responses: name, status, additional headers, description.
const ERRORS: [(&str, u16, &[&str], &str); 13] = [
    ("Moved", 301, &["Location"], "The record was merged into another: `Location` is the same request with its slug."),
    ("BadRequest", 400, &[], "The request is invalid: the body names each faulty parameter and what it accepts."),
    ("Unauthorized", 401, &["WWW-Authenticate"], "The API key is missing, malformed, unknown, revoked or expired."),
    ("AccountRequired", 403, &[], "The key belongs to no account."),
    ("NotFound", 404, &[], "No record has this slug or id; `did_you_mean` has the nearest."),
    ("NotAcceptable", 406, &[], "The request accepts no type of the response."),
    (
        "Gone",
        410,
        &[],
        "The snapshot of the cursor or of `snapshot` is not held: restart without it. Or the record is no longer in the data.",
    ),
    ("PreconditionFailed", 412, &[], "The request has an `If-Match` other than `*`."),
    ("UrlTooLong", 414, &[], "The URL is longer than 24 KB, or its filters are too long for a cursor."),
    ("QuotaExceeded", 429, &["Retry-After"], "The daily quota of the key is exceeded."),
    ("HeadTooLarge", 431, &[], "URL and headers together are longer than 32 KB."),
    ("InternalError", 500, &[], "An internal error. The request does not count against the quota."),
    ("Unavailable", 503, &["Retry-After"], "The service is starting or overloaded."),
];

pub(crate) fn shared(version: Version, examples: &Examples, base: &str) -> Vec<(&'static str, Response)> {
    let link: &[&str] = if version == Version::V3 { &[] } else { &OLDER };
    let mut shared = Vec::new();
    for (name, status, extra, doc) in ERRORS {
        let codes: Vec<String> = Code::ALL
            .into_iter()
            .filter(|code| code.status() == status && code.is_of_rest())
            .map(|code| format!("`{}`", code.name()))
            .collect();
        let content = ContentBuilder::new()
            .schema(Some(Ref::from_schema_name("Problem")))
            .example(examples.problem(status, base))
            .build();
        let response = ResponseBuilder::new()
            .description(format!("{doc} Codes: {}.", codes.join(", ")))
            .content("application/problem+json", content);
        // These are sent before the path is parsed, so they cannot link to its successor.
        let (vary, link): (&[&str], _) = if matches!(status, 414 | 431) { (&[], &[][..]) } else { (&["Vary"], link) };
        let names = extra.iter().chain(vary).chain(link);
        shared.push((name, with_headers(response, names).build()));
    }
    let not_modified = ResponseBuilder::new()
        .description("The response is still the one that `If-None-Match` names. Does not count against the quota.");
    shared.push(("NotModified", with_headers(not_modified, CACHEABLE.iter().chain(link)).build()));
    shared
}

/// Adds the headers of every response, and `names`.
fn with_headers<'a>(response: ResponseBuilder, names: impl Iterator<Item = &'a &'a str>) -> ResponseBuilder {
    let names = HEADERS[..ALWAYS].iter().map(|(name, ..)| name).chain(names);
    names.fold(response, |response, name| response.header_ref(*name, Ref::new(format!("#/components/headers/{name}"))))
}

pub(crate) fn of_route(
    version: Version,
    route: &Route,
    parameters: &[Parameter],
    examples: &Examples,
    base: &str,
) -> Responses {
    let endpoint = &route.endpoint;
    let success = success(version, route, parameters, examples, base);
    let mut responses = ResponsesBuilder::new().response("200", success);
    for (name, status, ..) in ERRORS {
        let applies = match status {
            301 => {
                let is_kept = matches!(endpoint.record, Some(Table::Sectors | Table::Reviews));
                route.placeholder().is_some() && !is_kept
            }
            403 => endpoint.is_of_account,
            404 => route.placeholder().is_some(),
            410 => version == Version::V3,
            429 => endpoint.is_counted,
            _ => true,
        };
        if applies {
            responses = responses.response(status.to_string(), Ref::from_response_name(name));
        }
    }
    if endpoint.is_cacheable {
        responses = responses.response("304", Ref::from_response_name("NotModified"));
    }
    responses.build()
}

fn success(version: Version, route: &Route, parameters: &[Parameter], examples: &Examples, base: &str) -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(response_name(&route.endpoint))))
        .example(examples.response(version, route, base))
        .build();
    let response = ResponseBuilder::new().description(route.summary).content("application/json", content);
    let cache: &[&str] = if route.endpoint.is_cacheable { &CACHEABLE } else { &["Vary"] };
    let is_paged = route.endpoint.is_paged;
    let link: &[&str] = match version {
        Version::V1 | Version::V2 => &OLDER,
        Version::V3 if is_paged => &["Link"],
        Version::V3 => &[],
    };
    let has_files = is_paged && version == Version::V3;
    let file: &[&str] = if has_files { &FILE } else { &[] };
    let mut response = with_headers(response, cache.iter().chain(link).chain(file));
    if has_files {
        for format in [Format::Csv, Format::Ndjson] {
            let text = any_text().description(Some(match format {
                Format::Csv => "Rows with a header line: the fields of the records as flat columns.",
                _ => "The records of the list, each as JSON on a line of its own.",
            }));
            let content = ContentBuilder::new().schema(Some(text)).build();
            response = response.content(format.media_type(), content);
        }
        let cursor = Value::from("$response.body#/pagination/next_cursor");
        let next = Link::builder()
            .operation_id(route.operation)
            .parameter("cursor", cursor)
            .description("The next page, while `has_more` is true.");
        let required = parameters.iter().filter(|parameter| parameter.required == Required::True);
        let next = required.fold(next, |next, Parameter { name, parameter_in, .. }| {
            let place = if *parameter_in == ParameterIn::Path { "path" } else { "query" };
            next.parameter(name.as_str(), Value::from(format!("$request.{place}.{name}")))
        });
        response = response.link("next", next.build());
    }
    response.build()
}
