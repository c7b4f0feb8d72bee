//! The OpenAPI 3.1 documents of the REST API, generated from the code.
//!
//! Paths come from the route table, parameters from the table that drives their parsing, schemas from the types that are
//! serialized, examples from real responses.

pub mod definition;
pub mod example;
pub mod parameter;
pub mod reference;
pub mod response;
pub mod schema;
pub mod snippets;
pub mod vocabulary;

pub use example::{BASE, Examples};
pub use parameter::example_of;

pub use crate::Version;

use utoipa::openapi::info::{ContactBuilder, InfoBuilder, LicenseBuilder};
use utoipa::openapi::path::{HttpMethod, OperationBuilder, PathItem, PathsBuilder};
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::server::ServerBuilder;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{ComponentsBuilder, Deprecated, OpenApi, OpenApiBuilder};

use crate::Route;
use crate::endpoint::PostDocument;
use crate::endpoints::submit_review;
use catalog::Catalog;
use data::Table;
use service::Operator;

const TAGS: [(Option<Table>, &str, &str); 7] = [
    (Some(Table::Firms), "Firms", "Venture capital firms, their peer scores and ghosting rates, and rankings."),
    (Some(Table::Reviews), "Reviews", "Founders' reviews of firms."),
    (Some(Table::Sectors), "Sectors", "The sectors of firms and startups."),
    (Some(Table::Startups), "Startups", "Startups and their investors."),
    (Some(Table::Rounds), "Funding rounds", "Funding rounds with their investors, amounts and dates."),
    (Some(Table::People), "People", "People who work at firms and startups."),
    (None, "Service", "The service itself: totals, releases, suggestions, and your quota."),
];

fn tag_of(route: &Route) -> &'static str {
    let tag = TAGS.iter().find(|(table, ..)| *table == route.table());
    tag.expect("every table has a tag").1
}

fn introduction(version: Version, base: &str) -> String {
    let own = match version {
        Version::V1 | Version::V2 => format!(
            "{} paginates by `limit` and `{}`. It remains available; [v3](/openapi/v3.json) adds cursors, field selection and \
             more endpoints.",
            version.segment(),
            if version == Version::V1 { "offset" } else { "page" },
        ),
        Version::V3 => {
            "v3 paginates by `limit` and `cursor`: follow `pagination.next_cursor` until it is `null`, and every record is \
             returned exactly once, even if a new release is activated meanwhile. `fields` selects fields. Unknown parameters \
             and values are rejected with the nearest accepted ones."
                .to_owned()
        }
    };
    format!(
        "Ratings, peer scores, ghosting rates and profiles of venture capital firms.\n\n{own}\n\nEvery request carries \
         `Authorization: Bearer <key>`. The data is read-only: HEAD works like GET, OPTIONS returns 204, and any other \
         method 405 with `Allow`; only {writes}. The same paths are served without `/api`. Errors are `application/problem+json` (RFC \
         9457); [each code is explained]({base}/docs/errors).",
        own = absolute(&own, base),
        writes = if version == Version::V3 {
            "`/resolve` and `/saved` take POST, and `/saved` DELETE"
        } else {
            "`/resolve` of v3 takes POST"
        },
    )
}

/// Text with its [links](/to) made absolute.
fn absolute(text: &str, base: &str) -> String {
    text.replace("](/", &format!("]({base}/"))
}

/// Adds what the operator decides: contact, terms, the end of the version, and whether reviews can be submitted. `base` is the base
/// URL of the service.
pub fn name_operator(document: &mut OpenApi, version: Version, base: &str, operator: &Operator) {
    if version == Version::V3 && operator.takes_reviews() {
        submit_review::document(document, base);
    }
    if operator.version_end(version.segment()).is_some() {
        let operations = document.paths.paths.values_mut().filter_map(|path| path.get.as_mut());
        operations.for_each(|operation| operation.deprecated = Some(Deprecated::True));
    }
    let info = &mut document.info;
    info.terms_of_service.clone_from(&operator.terms_url);
    if let (Some(contact), Some(url)) = (&mut info.contact, &operator.contact) {
        match url.strip_prefix("mailto:") {
            Some(email) => contact.email = Some(email.to_owned()),
            None => contact.url = Some(url.clone()),
        }
    }
    if let (Some(description), Some(url)) = (&mut info.description, &operator.privacy_url) {
        description.push_str(&format!("\n\n[Privacy policy]({url})."));
    }
}

/// The document of a version. `base` is the base URL of the service.
pub fn document(version: Version, base: &str, catalog: &Catalog) -> OpenApi {
    let examples = Examples::bundled();
    let schemas = schema::of_version(version);
    let mut paths = PathsBuilder::new();
    for route in Route::all(version) {
        let parameters = parameter::of_route(version, route, &schemas, catalog);
        let responses = response::of_route(version, route, &parameters, &examples, base);
        let operation = OperationBuilder::new()
            .operation_id(Some(route.operation))
            .tag(tag_of(route))
            .summary(Some(route.summary))
            .description(Some(absolute(route.description, base)))
            .parameters(Some(parameters))
            .responses(responses)
            .build();
        let of_method = |document: PostDocument| document(route, &operation, &examples, base);
        let (post, delete) = (route.endpoint.post.map(of_method), route.endpoint.delete.map(of_method));
        let mut item = PathItem::new(HttpMethod::Get, operation);
        (item.post, item.delete) = (post, delete);
        paths = paths.path(format!("/{}", route.path), item);
    }
    let key = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .bearer_format("API key")
        .description(Some("An API key: `vdx_` and 36 letters and digits."))
        .build();
    let mut components =
        ComponentsBuilder::new().schemas_from_iter(schemas).security_scheme("key", SecurityScheme::Http(key));
    for (name, response) in response::shared(version, &examples, base) {
        if version == Version::V3 || !["Gone", "AccountRequired"].contains(&name) {
            components = components.response(name, response);
        }
    }
    for (name, header) in response::headers(version) {
        components = components.header(name, header);
    }
    let used: Vec<&str> = Route::all(version).map(tag_of).collect();
    let tags = TAGS.iter().filter(|(_, name, _)| used.contains(name));
    let license = LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build();
    let info = InfoBuilder::new()
        .title(format!("VentureDex API {}", version.segment()))
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some(introduction(version, base)))
        .contact(Some(ContactBuilder::new().name(Some("VentureDex")).url(Some(base)).build()))
        .license(Some(license));
    let server = ServerBuilder::new().url(format!("{base}/api/{}", version.segment()));
    OpenApiBuilder::new()
        .info(info.build())
        .servers(Some([server.description(Some("This service.")).build()]))
        .tags(Some(tags.map(|(_, name, doc)| TagBuilder::new().name(*name).description(Some(*doc)).build())))
        .security(Some([SecurityRequirement::new("key", [] as [&str; 0])]))
        .paths(paths)
        .components(Some(components.build()))
        .build()
}
