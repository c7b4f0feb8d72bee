//! The web pages, rendered on the server from the same catalog as REST and MCP.
//!
//! Every page works without its script. The state of a page is its URL. The parameters are those of the API, so that
//! every page can show the API URL of the same query.
#![warn(unreachable_pub)]

pub mod account;
mod alert_feed;
mod assets;
mod browse;
mod canvas;
mod card;
mod charts;
mod choice;
mod compare;
mod conditions;
mod data;
mod docs;
mod error_page;
mod feeds;
mod field_years;
mod filters;
mod firm;
mod form_data;
mod format;
mod home;
mod layout;
mod leaderboard;
mod link;
mod linked_data;
mod lists;
mod market;
mod matching;
mod moves;
mod person;
mod question;
pub mod reconcile;
mod records;
pub mod resolve;
pub mod review;
mod round_rows;
mod route;
mod sectors;
mod similar;
mod sitemap;
mod snippets;
mod stage_strip;
mod startup;
mod startup_charts;
pub mod static_pages;
mod theme;
mod twin;

pub use docs::clients::{CLIENTS, ExampleClient};
pub use docs::mcp::{CONVERSATIONS, SETUPS, Setup};

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use xxhash_rust::xxh3::xxh3_128;

use crate::error_page::PageError;
use crate::layout::{CSP, HTML};
pub use crate::market::MarketScope;
pub use crate::route::{HtmlPage, PageRoute};
use crate::theme::Theme;
use crate::twin::TwinFormat;
use auth::RetryAfter;
use catalog::Catalog;
pub use data::Table;
use service::State;
use transport::headers::{Caching, CommonHeaders, Vary, set};
use transport::negotiation::compressed;
use transport::response_cache::{CacheKey, CachedResponse};
use transport::url::{decoded, with_slug};
use transport::{Peer, RequestTrace};

#[derive(Clone, Copy)]
pub struct PageRequest<'a> {
    pub state: &'a State,
    /// Without a trailing slash.
    pub path: &'a str,
    /// Without the question mark.
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    pub peer: Peer,
    pub trace: &'a RequestTrace,
}

pub fn answer(route: PageRoute<'_>, request: PageRequest<'_>) -> Response<Vec<u8>> {
    let catalog = request.state.releases.current();
    let response = match route {
        PageRoute::Html(page) => render(page, &catalog, request).map(|html| {
            let theme = Theme::from_request(request);
            let rendered = Arc::new(cacheable_response(request, theme.apply(html).into_bytes(), HTML, Vary::Cookie));
            if page.is_cacheable() {
                request.state.response_cache.insert(cache_key(&catalog, request, theme), &rendered);
            }
            rendered.answer(request.headers).map(Vec::from)
        }),
        PageRoute::Suggest => return home::suggest(&catalog, request),
        PageRoute::OpenSearchSuggest => return home::suggest_to_browser(&catalog, request),
        PageRoute::Twin(subject, format) => twin::respond(&catalog, request, subject, format),
        PageRoute::Picture(table, slug) => card::respond(&catalog, request, table, slug),
        PageRoute::Sitemap(number) => sitemap::text(&catalog, &request.state.public_url, number)
            .map(|text| respond_unless_known(request, text.into_bytes(), "application/xml")),
        PageRoute::ReleaseFeed(format) => feeds::release_feed(request).respond(request, format),
        PageRoute::RoundFeed(format) => {
            feeds::round_feed(&catalog, request).and_then(|feed| feed.respond(request, format))
        }
        PageRoute::AlertFeed(token, format) => alert_feed::respond(request, token, format),
        // `reconcile::answer` responds to these.
        PageRoute::Reconcile(_) => Err(PageError::UnknownPage),
    };
    response.unwrap_or_else(|error| fail(&error, &catalog, request))
}

/// The cached response for a page; `None` if the page has to be rendered.
pub fn cached(route: PageRoute<'_>, request: PageRequest<'_>) -> Option<Response<Bytes>> {
    if !matches!(route, PageRoute::Html(page) if page.is_cacheable()) {
        return None;
    }
    let key = cache_key(&request.state.releases.serving(), request, Theme::from_request(request));
    Some(request.state.response_cache.get(key)?.answer(request.headers))
}

/// The 404 response for a path without a page.
pub fn unknown(request: PageRequest<'_>) -> Response<Vec<u8>> {
    fail(&PageError::UnknownPage, &request.state.releases.current(), request)
}

/// The 429 response to a client that requests too many pages.
pub fn too_many(request: PageRequest<'_>, wait: RetryAfter) -> Response<Vec<u8>> {
    fail(&PageError::RateLimited(wait), &request.state.releases.current(), request)
}

/// The 503 response for a page if the queue is full.
pub fn overloaded(request: PageRequest<'_>) -> Response<Vec<u8>> {
    fail(&PageError::Overloaded, &request.state.releases.current(), request)
}

pub fn bad_form(request: PageRequest<'_>, status: StatusCode, detail: &'static str) -> Response<Vec<u8>> {
    fail(&PageError::UnreadableForm(status, detail), &request.state.releases.current(), request)
}

/// The row of the record that has this slug.
pub(crate) fn find(catalog: &Catalog, table: Table, slug: &str) -> Result<u32, PageError> {
    let slug = decoded(slug);
    let Some(row) = catalog.find(table, &slug) else { return Err(PageError::UnknownRecord(table, slug)) };
    match catalog.moved_to(table, row, &slug) {
        Some(target) => Err(PageError::Moved(table, slug.clone(), target.to_owned())),
        None => Ok(row),
    }
}

fn render(page: HtmlPage<'_>, catalog: &Catalog, request: PageRequest<'_>) -> Result<String, PageError> {
    let find = |table: Table, slug: &str| find(catalog, table, slug);
    match page {
        HtmlPage::Home => home::page(catalog, request),
        HtmlPage::Resolve => resolve::page(catalog, request),
        HtmlPage::Releases => feeds::releases(catalog, request),
        HtmlPage::Firms => lists::firms(catalog, request),
        HtmlPage::Firm(slug) => firm::page(catalog, request, find(Table::Firms, slug)?),
        HtmlPage::FirmReviews(slug) => firm::reviews::page(catalog, request, find(Table::Firms, slug)?),
        HtmlPage::Startups => lists::startups(catalog, request),
        HtmlPage::Startup(slug) => startup::page(catalog, request, find(Table::Startups, slug)?),
        HtmlPage::People => lists::people(catalog, request),
        HtmlPage::Person(slug) => person::page(catalog, request, find(Table::People, slug)?),
        HtmlPage::Rounds => lists::rounds(catalog, request),
        HtmlPage::Sectors => sectors::page(catalog, request),
        HtmlPage::Market(market) => market::page(catalog, request, market),
        HtmlPage::Match => matching::page(catalog, request),
        HtmlPage::Compare => compare::page(catalog, request),
        HtmlPage::Leaderboard => leaderboard::page(catalog, request),
        HtmlPage::Data => data::page(catalog, request),
    }
}

/// An uncacheable redirect to a page.
pub fn redirect(path: &str) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::SEE_OTHER;
    set(response.headers_mut(), "location", path);
    CommonHeaders { caching: Some(Caching::Never), ..PAGE }.write(response.headers_mut());
    response
}

fn fail(error: &PageError, catalog: &Catalog, request: PageRequest<'_>) -> Response<Vec<u8>> {
    let (status, html) = error.page(catalog, request.path, &request.state.operator);
    if let Some(cause) = error.cause() {
        request.trace.set_failure(&cause);
    }
    let mut response = respond(request, status, html);
    if let PageError::Moved(_, from, to) = error {
        let (path, extension) = match TwinFormat::split(request.path) {
            Some((path, format)) => (path, format.extension()),
            None => (request.path, ""),
        };
        let query = if request.query.is_empty() { String::new() } else { format!("?{}", request.query) };
        let location = format!("{}{extension}{query}", with_slug(path, "", from, to));
        set(response.headers_mut(), "location", &location);
    }
    if let Some(wait) = error.retry_after() {
        set(response.headers_mut(), "retry-after", &wait.seconds.to_string());
    }
    response
}

fn respond(request: PageRequest<'_>, status: StatusCode, html: String) -> Response<Vec<u8>> {
    let html = Theme::from_request(request).apply(html);
    let mut response = respond_with(request, status, html.into_bytes(), HTML);
    CommonHeaders { varies: Some(Vary::Cookie), ..CommonHeaders::default() }.write(response.headers_mut());
    response
}

/// A response that is the same for every client, with a hash of its body as the `ETag`.
fn cacheable_response(
    request: PageRequest<'_>,
    body: Vec<u8>,
    content_type: &'static str,
    varies: Vary,
) -> CachedResponse {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    CommonHeaders { caching: Some(Caching::Private), varies: Some(varies), ..PAGE }.write(&mut headers);
    // Weak, because the compressed body has the same tag.
    set(&mut headers, ETAG, &format!("W/\"{:032x}\"", xxh3_128(&body)));
    CachedResponse::new(body, headers, request.trace.route())
}

fn respond_unless_known(request: PageRequest<'_>, body: Vec<u8>, content_type: &'static str) -> Response<Vec<u8>> {
    cacheable_response(request, body, content_type, Vary::Encoding).answer(request.headers).map(Vec::from)
}

fn cache_key<'a>(catalog: &Catalog, request: PageRequest<'a>, theme: Theme) -> CacheKey<'a> {
    CacheKey::new(catalog.identity(), request.path, request.query).in_variant(theme as u8)
}

/// A response with a page or a feed, compressed if the client accepts it.
fn respond_with(request: PageRequest<'_>, status: StatusCode, body: Vec<u8>, content_type: &str) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    if let Some(packed) = compressed(response.body(), request.headers) {
        *response.body_mut() = packed;
        set(response.headers_mut(), "content-encoding", "gzip");
    }
    set(response.headers_mut(), "content-type", content_type);
    let caching = Some(if status.is_success() { Caching::Private } else { Caching::Never });
    CommonHeaders { caching, varies: Some(Vary::Encoding), ..PAGE }.write(response.headers_mut());
    response
}

const PAGE: CommonHeaders<'static> = CommonHeaders {
    id: None,
    quota: None,
    snapshot: None,
    api_version: None,
    caching: None,
    varies: None,
    is_cross_origin: false,
    scheme: None,
    page_policy: Some(CSP),
};
