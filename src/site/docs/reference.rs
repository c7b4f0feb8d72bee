//! The API reference, generated from the OpenAPI document.

use askama::Template;

use crate::openapi::Version;
use crate::openapi::reference::Reference;
use crate::site::docs::html;
use crate::site::static_pages::DocsContext;

#[derive(Template)]
#[template(path = "docs/reference.html")]
struct ReferencePage<'a> {
    reference: Reference,
    base: &'a str,
}

pub(crate) fn page(version: Version, context: &DocsContext<'_>) -> askama::Result<String> {
    let DocsContext { base, catalog, .. } = *context;
    ReferencePage { reference: Reference::new(version, base, catalog), base }.render()
}
