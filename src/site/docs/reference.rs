//! The API reference, of the OpenAPI document: an index and a page per endpoint for v3, one page for each older version.

use askama::Template;
use form_urlencoded::parse;
use once_cell::sync::Lazy;

use crate::static_pages::{DocsContext, PageBody, SiteEntry, StaticEntry};
use api::openapi::reference::{
    ApiReference, EndpointEntry, EndpointGroup, ExampleRequest, ParameterEntry, SchemaEntry,
};
use api::openapi::snippets::{self, CodeSnippet};
use api::{Route, Version};
use transport::url::has_key;
use view::html;

const FOLDER: &str = "/docs/reference/";
const SCHEMAS: &str = "/docs/reference/schemas";

/// The pages of the endpoints of v3, by path. Their texts are leaked to be `'static` like those of other pages.
pub(crate) static ENDPOINT_PAGES: Lazy<Vec<SiteEntry>> = Lazy::new(|| {
    let page = |route: &'static Route| {
        let (path, description) = (format!("{FOLDER}{}", route.operation), html::plain(route.description));
        let body = PageBody::Endpoint(route.operation);
        (&*path.leak(), StaticEntry::Page { title: route.summary, description: description.leak(), body })
    };
    Route::all(Version::V3).map(page).collect()
});

#[derive(Template)]
#[template(path = "docs/reference.html")]
struct OlderPage<'a> {
    reference: ApiReference,
    base: &'a str,
}

impl OlderPage<'_> {
    fn curl(&self, endpoint: &EndpointEntry) -> String {
        let [curl, ..] = snippets::for_request(self.base, &endpoint.request, None);
        curl.code
    }
}

pub(crate) fn older_page(version: Version, context: &DocsContext<'_>) -> askama::Result<String> {
    let DocsContext { base, catalog, .. } = *context;
    OlderPage { reference: ApiReference::new(version, base, catalog), base }.render()
}

#[derive(Template)]
#[template(path = "docs/reference_index.html")]
struct IndexPage<'a> {
    reference: &'a ApiReference,
    base: &'a str,
}

pub(crate) fn index(context: &DocsContext<'_>) -> askama::Result<String> {
    IndexPage { reference: context.reference(), base: context.base }.render()
}

#[derive(Template)]
#[template(path = "docs/schemas.html")]
struct SchemasPage<'a> {
    schemas: &'a [SchemaEntry],
    base: &'a str,
}

pub(crate) fn schemas(context: &DocsContext<'_>) -> askama::Result<String> {
    SchemasPage { schemas: &context.reference().schemas, base: context.base }.render()
}

#[derive(Template)]
#[template(path = "docs/endpoint.html")]
struct EndpointPage<'a> {
    group: &'a EndpointGroup,
    endpoint: &'a EndpointEntry,
    /// Parameters with their values in the shown request.
    inputs: Vec<(&'a ParameterEntry, String)>,
    address: String,
    snippets: [CodeSnippet; 4],
    record: Option<&'a SchemaEntry>,
    base: &'a str,
}

impl EndpointPage<'_> {
    /// Text as HTML, with links to schemas pointing to their own page.
    fn linked(&self, text: &str) -> String {
        html::linked(&text.replace("](#", &format!("]({SCHEMAS}#")), self.base)
    }
}

/// The page of an endpoint. It shows the request from its form if `query` has one, otherwise an example.
pub(crate) fn endpoint(context: &DocsContext<'_>, operation: &str, query: &str) -> askama::Result<String> {
    let reference = context.reference();
    let (group, endpoint) = reference.endpoint(operation).expect("the reference has every route");
    // The page must not repeat a key that was typed into the wrong field.
    let query = if has_key("", query) { "" } else { query };
    let values: Vec<(String, String)> = parse(query.as_bytes()).into_owned().collect();
    let request = (!values.is_empty()).then(|| endpoint.request_with(&values));
    let request = request.as_ref().unwrap_or(&endpoint.request);
    let inputs = endpoint.parameters.iter().map(|parameter| (parameter, value_of(request, &values, parameter)));
    let page = EndpointPage {
        group,
        endpoint,
        inputs: inputs.collect(),
        address: request.path_and_query(),
        snippets: snippets::for_request(context.base, request, None),
        record: reference.schema(endpoint.record),
        base: context.base,
    };
    page.render()
}

fn value_of(request: &ExampleRequest, given: &[(String, String)], parameter: &ParameterEntry) -> String {
    let find = |pairs: &[(String, String)]| {
        let pair = pairs.iter().find(|(name, value)| *name == parameter.name && !value.trim().is_empty());
        pair.map(|(_, value)| value.trim().to_owned())
    };
    match parameter.is_in_path {
        true => find(given).unwrap_or_else(|| parameter.example.clone()),
        false => find(&request.query).unwrap_or_default(),
    }
}
