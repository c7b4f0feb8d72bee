//! The answers of an endpoint: bodies, headers and errors.

use serde_json::Value;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::link::Link;
use utoipa::openapi::response::{Response, ResponseBuilder, Responses, ResponsesBuilder};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{ContentBuilder, Ref};

use crate::api::{EndpointKind, Route, Version};
use crate::http::problem::Code;

use crate::openapi::Examples;
use crate::openapi::schema::answer_name;

/// Headers that every answer carries.
const ALWAYS: [&str; 9] = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Request-Id",
    "X-Snapshot",
    "X-API-Version",
    "Cache-Control",
    "Access-Control-Allow-Origin",
    "Access-Control-Expose-Headers",
];
/// Headers of limited keys.
const LIMITED: [&str; 2] = ["RateLimit-Policy", "RateLimit"];
/// Headers of what can be kept.
const KEPT: [&str; 2] = ["ETag", "Vary"];

/// What each header says.
const HEADERS: [(&str, &str, HeaderSchema); 16] = [
    ("X-RateLimit-Limit", "Requests a day, or `unlimited`; 0 without a key.", HeaderSchema::Count),
    ("X-RateLimit-Remaining", "Requests left today after this one, or `unlimited`.", HeaderSchema::Count),
    ("X-RateLimit-Reset", "When the quota starts anew: Unix seconds of the next 00:00 UTC.", HeaderSchema::Number),
    ("RateLimit-Policy", "The quota (IETF), where there is one.", HeaderSchema::Text),
    ("RateLimit", "What is left of the quota (IETF), where there is one.", HeaderSchema::Text),
    ("X-Request-Id", "The request's id; name it when you ask for help.", HeaderSchema::Text),
    ("X-Snapshot", "The release of the data that was answered from.", HeaderSchema::Text),
    ("X-API-Version", "The version of the API.", HeaderSchema::Text),
    (
        "ETag",
        "Validator: send it as `If-None-Match`, and an unchanged answer is a 304, which costs nothing.",
        HeaderSchema::Text,
    ),
    ("Cache-Control", "How long the answer may be kept.", HeaderSchema::Text),
    ("Access-Control-Allow-Origin", "Scripts of any origin may read the answer.", HeaderSchema::Text),
    ("Access-Control-Expose-Headers", "The headers that scripts of other origins may read.", HeaderSchema::Text),
    ("Vary", "Request headers that the answer depends on.", HeaderSchema::Text),
    (
        "Link",
        "`rel=\"next\"`: the next page of a list (v3). `rel=\"successor-version\"`: the path in v3 (v1, v2).",
        HeaderSchema::Text,
    ),
    ("Retry-After", "Seconds to wait before the next request.", HeaderSchema::Number),
    ("WWW-Authenticate", "How to authenticate.", HeaderSchema::Text),
];

#[derive(Clone, Copy)]
enum HeaderSchema {
    Text,
    Number,
    Count,
}

/// All headers, by name.
pub(crate) fn headers() -> impl Iterator<Item = (&'static str, Header)> {
    HEADERS.into_iter().map(|(name, doc, form)| {
        let schema = match form {
            HeaderSchema::Text => ObjectBuilder::new().schema_type(Type::String),
            HeaderSchema::Number => ObjectBuilder::new()
                .schema_type(Type::Integer)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
                .minimum(Some(0)),
            HeaderSchema::Count => ObjectBuilder::new().schema_type(Type::String).pattern(Some(r"^(\d+|unlimited)$")),
        };
        (name, HeaderBuilder::new().schema(Some(schema)).description(Some(doc)).build())
    })
}

/// Errors that answers refer to: name, status, further headers, codes.
const ERRORS: [(&str, u16, &[&str], &str); 10] = [
    (
        "BadRequest",
        400,
        &[],
        "The request is not understood: the body says which parameter is at fault and what would work.",
    ),
    ("Unauthorized", 401, &["WWW-Authenticate"], "The API key is missing, malformed, unknown or revoked."),
    ("NotFound", 404, &[], "No record has this slug; the nearest are named."),
    ("NotAcceptable", 406, &[], "The request accepts no JSON."),
    (
        "CursorExpired",
        410,
        &[],
        "The release that the cursor was made on is not held any more: begin again without it.",
    ),
    ("UrlTooLong", 414, &[], "The address is above 24 KB, or its filters are too long for a cursor to carry."),
    ("QuotaExceeded", 429, &["Retry-After"], "The key has made all its requests of this day."),
    ("HeadTooLarge", 431, &[], "The address and the headers are above 32 KB together."),
    ("InternalError", 500, &[], "Something went wrong here. The request was not counted."),
    ("Unavailable", 503, &["Retry-After"], "The service is starting, or has too much to do."),
];

/// The errors and the 304, by name.
pub(crate) fn shared(version: Version, examples: &Examples, base: &str) -> Vec<(&'static str, Response)> {
    let link: &[&str] = if version == Version::V3 { &[] } else { &["Link"] };
    let mut shared = Vec::new();
    for (name, status, further, doc) in ERRORS {
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
        // Where the address was not read, its path in another version is not told.
        let (vary, link): (&[&str], _) = if matches!(status, 414 | 431) { (&[], &[][..]) } else { (&["Vary"], link) };
        let names = ALWAYS.iter().chain(&LIMITED).chain(further).chain(vary).chain(link);
        shared.push((name, with_headers(response, names).build()));
    }
    let unchanged = ResponseBuilder::new().description("What `If-None-Match` names is still so. Costs nothing.");
    shared
        .push(("NotModified", with_headers(unchanged, ALWAYS.iter().chain(&KEPT).chain(&LIMITED).chain(link)).build()));
    shared
}

fn with_headers<'a>(response: ResponseBuilder, names: impl Iterator<Item = &'a &'a str>) -> ResponseBuilder {
    names.fold(response, |response, name| response.header_ref(*name, Ref::new(format!("#/components/headers/{name}"))))
}

/// The answers of an endpoint.
pub(crate) fn of(version: Version, endpoint: &Route, examples: &Examples, base: &str) -> Responses {
    let mut responses = ResponsesBuilder::new().response("200", good(version, endpoint, examples, base));
    let is_list = matches!(endpoint.content, EndpointKind::List(..));
    let takes_cursor = is_list && version == Version::V3;
    for (name, status, ..) in ERRORS {
        let applies = match status {
            404 => endpoint.path.contains("{slug}"),
            410 => takes_cursor,
            // The quota itself costs nothing.
            429 => endpoint.content != EndpointKind::Usage,
            _ => true,
        };
        if applies {
            responses = responses.response(status.to_string(), Ref::from_response_name(name));
        }
    }
    if endpoint.content.is_cacheable() {
        responses = responses.response("304", Ref::from_response_name("NotModified"));
    }
    responses.build()
}

fn good(version: Version, endpoint: &Route, examples: &Examples, base: &str) -> Response {
    let content = ContentBuilder::new()
        .schema(Some(Ref::from_schema_name(answer_name(endpoint.content))))
        .example(examples.answer(version, endpoint, base))
        .build();
    let response = ResponseBuilder::new().description(endpoint.summary).content("application/json", content);
    let kept: &[&str] = if endpoint.content.is_cacheable() { &KEPT } else { &["Vary"] };
    let is_list = matches!(endpoint.content, EndpointKind::List(..));
    let link: &[&str] = if version != Version::V3 || is_list { &["Link"] } else { &[] };
    let names = ALWAYS.iter().chain(&LIMITED).chain(kept).chain(link);
    let mut response = with_headers(response, names);
    if is_list && version == Version::V3 {
        let cursor = Value::from("$response.body#/pagination/next_cursor");
        let next = Link::builder()
            .operation_id(endpoint.operation)
            .parameter("cursor", cursor)
            .description("The next page, while `has_more` is true.");
        let next = match endpoint.path.contains("{slug}") {
            true => next.parameter("slug", Value::from("$request.path.slug")),
            false => next,
        };
        response = response.link("next", next.build());
    }
    response.build()
}
