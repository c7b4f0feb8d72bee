//! The documents of the REST API: OpenAPI 3.1, made from the code.
//!
//! Paths come from the table of endpoints, parameters from the table that drives their parsing, schemas from Rust types
//! that tests hold against real answers, examples from real answers.

pub mod answer;
pub mod answers;
pub mod example;
pub mod model;
pub mod parameter;
pub mod schema;
pub mod vocabulary;

pub use example::{BASE, Examples};
pub use parameter::example_of;

use utoipa::openapi::info::{ContactBuilder, InfoBuilder, LicenseBuilder};
use utoipa::openapi::path::{HttpMethod, OperationBuilder, PathItem, PathsBuilder};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, OpenApi, OpenApiBuilder};

use crate::api::{EndpointKind, Route, Version};
use crate::data::Table;

/// Groups of endpoints, with what they hold.
const TAGS: [(&str, &str); 7] = [
    ("Firms", "Venture capital firms, their peer scores and ghosting rates, and how they compare."),
    ("Reviews", "What founders say about firms."),
    ("Sectors", "The sectors that firms and startups are sorted into."),
    ("Startups", "Startups and who has invested in them."),
    ("Funding rounds", "Who gave how much to whom, and when."),
    ("People", "People of firms and startups."),
    ("Service", "The service itself: what it holds, and what your key may ask for."),
];

fn tag(content: EndpointKind) -> &'static str {
    match content.table() {
        Some(Table::Firms) => TAGS[0].0,
        Some(Table::Reviews) => TAGS[1].0,
        Some(Table::Sectors) => TAGS[2].0,
        Some(Table::Startups) => TAGS[3].0,
        Some(Table::Rounds) => TAGS[4].0,
        Some(Table::People) => TAGS[5].0,
        None => TAGS[6].0,
    }
}

fn introduction(version: Version, base: &str) -> String {
    let own = match version {
        Version::V1 => {
            "v1 pages by `limit` and `offset`. It stays available; [v3](/openapi/v3.json) adds cursors, field selection and \
             further endpoints."
        }
        Version::V2 => {
            "v2 pages by `limit` and `page`. It stays available; [v3](/openapi/v3.json) adds cursors, field selection and \
             further endpoints."
        }
        Version::V3 => {
            "v3 pages by `limit` and `cursor`: follow `pagination.next_cursor` until it is `null`, and every record comes \
             exactly once, also while a new release is taken up. `fields` selects what is answered. Unknown parameters and \
             values are refused, with the nearest that would have worked."
        }
    };
    format!(
        "Ratings, peer scores, ghosting rates and profiles of venture capital firms.\n\n{own}\n\nEvery request carries \
         `Authorization: Bearer <key>`. The API only reads: HEAD is answered as GET is, OPTIONS with 204, and any other \
         method with 405 and `Allow`. The same paths are served without `/api`. Errors are `application/problem+json` (RFC \
         9457); [each code is explained]({base}/docs/errors).",
        own = absolute(own, base),
    )
}

/// Text whose [links](/to) lead to the service from anywhere.
fn absolute(text: &str, base: &str) -> String {
    text.replace("](/", &format!("]({base}/"))
}

/// The document of a version. `base` is the address of the service.
#[must_use]
pub fn document(version: Version, base: &str) -> OpenApi {
    let examples = Examples::bundled();
    let schemas = schema::of(version);
    let mut paths = PathsBuilder::new();
    for endpoint in Route::of(version) {
        let operation = OperationBuilder::new()
            .operation_id(Some(endpoint.operation))
            .tag(tag(endpoint.content))
            .summary(Some(endpoint.summary))
            .description(Some(absolute(endpoint.description, base)))
            .parameters(Some(parameter::of(version, endpoint, &schemas)))
            .responses(answer::of(version, endpoint, &examples, base))
            .build();
        paths = paths.path(format!("/{}", endpoint.path), PathItem::new(HttpMethod::Get, operation));
    }
    let key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("API key")
        .description(Some("An API key: `vdx_` and 36 letters and digits."))
        .build();
    let mut components =
        ComponentsBuilder::new().schemas_from_iter(schemas).security_scheme("key", SecurityScheme::Http(key));
    for (name, response) in answer::shared(version, &examples, base) {
        if version == Version::V3 || name != "CursorExpired" {
            components = components.response(name, response);
        }
    }
    for (name, header) in answer::headers() {
        components = components.header(name, header);
    }
    let used: Vec<&str> = Route::of(version).map(|endpoint| tag(endpoint.content)).collect();
    let tags = TAGS.iter().filter(|(name, _)| used.contains(name));
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title(format!("VentureDex API {}", version.segment()))
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(introduction(version, base)))
                .contact(Some(ContactBuilder::new().name(Some("VentureDex")).url(Some(base)).build()))
                .license(Some(
                    LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build(),
                ))
                .build(),
        )
        .servers(Some([ServerBuilder::new()
            .url(format!("{base}/api/{}", version.segment()))
            .description(Some("This service."))
            .build()]))
        .tags(Some(tags.map(|(name, doc)| TagBuilder::new().name(*name).description(Some(*doc)).build())))
        .security(Some([SecurityRequirement::new("key", [] as [&str; 0])]))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}
