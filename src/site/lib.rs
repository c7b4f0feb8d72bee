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
use crate::feeds::FeedFormat;
use crate::layout::{CSP, HTML};
pub use crate::market::MarketScope;
use crate::reconcile::Reconcile;
use crate::theme::Theme;
use crate::twin::{TwinFormat, TwinSubject};
use auth::RetryAfter;
use catalog::{Catalog, Resource};
pub use data::Table;
use service::State;
use transport::headers::{Caching, CommonHeaders, READS, Vary, set};
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageRoute<'a> {
    Home,
    Firms,
    Firm(&'a str),
    FirmReviews(&'a str),
    Startups,
    Startup(&'a str),
    People,
    Person(&'a str),
    Rounds,
    Sectors,
    Market(MarketScope<'a>),
    Match,
    Compare,
    Leaderboard,
    Data,
    Reconcile(Reconcile),
    Resolve,
    Releases,
    ReleaseFeed(FeedFormat),
    RoundFeed(FeedFormat),
    /// The alerts of a search or list, by the token of its address.
    AlertFeed(&'a str, FeedFormat),
    /// A page's content as JSON, Markdown or CSV.
    Twin(TwinSubject<'a>, TwinFormat),
    /// The preview image of a firm or startup.
    Picture(Table, &'a str),
    /// The sitemap file of this number; `None` for `/sitemap.xml`.
    Sitemap(Option<usize>),
    Suggest,
    /// Suggestions in the form of OpenSearch.
    OpenSearchSuggest,
}

impl<'a> PageRoute<'a> {
    /// The page at a path without a trailing slash.
    pub fn parse(path: &'a str) -> Option<Self> {
        let mut segments = path.split('/').skip(1);
        let page = match (segments.next()?, segments.next(), segments.next()) {
            ("", None, None) => Self::Home,
            ("vcs", None, None) => Self::Firms,
            // A slug has no dot.
            (_, Some(name), None) | (_, Some(_), Some(name)) if name.contains('.') => return Self::parse_file(path),
            ("vcs", Some(slug), None) => Self::Firm(slug),
            ("vcs", Some(slug), Some("reviews")) => Self::FirmReviews(slug),
            ("startups", None, None) => Self::Startups,
            ("startups", Some(slug), None) => Self::Startup(slug),
            ("people", None, None) => Self::People,
            ("people", Some(slug), None) => Self::Person(slug),
            ("rounds", None, None) => Self::Rounds,
            ("match", None, None) => Self::Match,
            ("compare", None, None) => Self::Compare,
            ("sectors", None, None) => Self::Sectors,
            ("markets", None, None) => Self::Market(MarketScope::All),
            ("sectors", Some(slug), stage) => Self::Market(MarketScope::Sector(slug, stage)),
            ("countries", Some(code), stage) => Self::Market(MarketScope::Country(code, stage)),
            ("cities", Some(name), stage) => Self::Market(MarketScope::City(name, stage)),
            ("leaderboard", None, None) => Self::Leaderboard,
            ("data", None, None) => Self::Data,
            ("reconcile", first, second) => Self::Reconcile(Reconcile::from_segments(first, second)?),
            ("resolve", None, None) => Self::Resolve,
            ("releases", None, None) => Self::Releases,
            ("releases.atom", None, None) => Self::ReleaseFeed(FeedFormat::Atom),
            ("releases.json", None, None) => Self::ReleaseFeed(FeedFormat::Json),
            ("rounds.atom", None, None) => Self::RoundFeed(FeedFormat::Atom),
            ("rounds.json", None, None) => Self::RoundFeed(FeedFormat::Json),
            ("suggest", None, None) => Self::Suggest,
            ("suggest", Some("opensearch"), None) => Self::OpenSearchSuggest,
            ("sitemap.xml", None, None) => Self::Sitemap(None),
            _ => return Self::parse_file(path),
        };
        segments.next().is_none().then_some(page)
    }

    /// The value of `Allow`.
    pub fn methods(self) -> &'static str {
        match self {
            Self::Resolve | Self::Reconcile(Reconcile::Service) => "GET, HEAD, POST, OPTIONS",
            _ => READS,
        }
    }

    /// True if the page accepts a form by POST.
    pub fn takes_forms(self) -> bool {
        self.methods() != READS
    }

    /// The page at a path with a file extension, such as `.md` or `.png`.
    fn parse_file(path: &'a str) -> Option<Self> {
        if let Some(number) = path.strip_prefix("/sitemap-").and_then(|rest| rest.strip_suffix(".xml")) {
            return Some(Self::Sitemap(Some(number.parse().ok()?)));
        }
        if let Some(path) = path.strip_suffix(".png") {
            return match Self::parse(path)? {
                Self::Firm(slug) => Some(Self::Picture(Table::Firms, slug)),
                Self::Startup(slug) => Some(Self::Picture(Table::Startups, slug)),
                _ => None,
            };
        }
        if let Some(rest) = path.strip_prefix("/alerts/") {
            return match rest.split_once('.')? {
                (token, _) if token.contains('/') => None,
                (token, "atom") => Some(Self::AlertFeed(token, FeedFormat::Atom)),
                (token, "json") => Some(Self::AlertFeed(token, FeedFormat::Json)),
                _ => None,
            };
        }
        let (path, format) = TwinFormat::split(path).filter(|(path, _)| !path.contains('.'))?;
        Some(Self::Twin(Self::parse(path)?.subject()?, format))
    }

    /// The content of the page, if it has twins.
    fn subject(self) -> Option<TwinSubject<'a>> {
        Some(match self {
            Self::Firms => TwinSubject::List(Resource::Firms),
            Self::Firm(slug) => TwinSubject::Record(Table::Firms, slug),
            Self::FirmReviews(slug) => TwinSubject::Reviews(slug),
            Self::Startups => TwinSubject::List(Resource::Startups),
            Self::Startup(slug) => TwinSubject::Record(Table::Startups, slug),
            Self::People => TwinSubject::List(Resource::People),
            Self::Person(slug) => TwinSubject::Record(Table::People, slug),
            Self::Rounds => TwinSubject::List(Resource::Rounds),
            Self::Sectors => TwinSubject::List(Resource::Sectors),
            Self::Leaderboard => TwinSubject::List(Resource::Leaderboard),
            _ => return None,
        })
    }

    /// True if the page depends only on the release, path, query and theme. Other pages also depend on which other
    /// releases are loaded.
    fn is_cacheable(self) -> bool {
        matches!(
            self,
            Self::Home
                | Self::Firms
                | Self::Firm(_)
                | Self::FirmReviews(_)
                | Self::Startups
                | Self::Startup(_)
                | Self::People
                | Self::Person(_)
                | Self::Rounds
                | Self::Sectors
                | Self::Market(_)
                | Self::Match
                | Self::Compare
        )
    }

    /// The path without the slug.
    pub fn label(self) -> &'static str {
        match self {
            Self::Home => "/",
            Self::Firms => "/vcs",
            Self::Firm(_) => "/vcs/{slug}",
            Self::FirmReviews(_) => "/vcs/{slug}/reviews",
            Self::Startups => "/startups",
            Self::Startup(_) => "/startups/{slug}",
            Self::People => "/people",
            Self::Person(_) => "/people/{slug}",
            Self::Rounds => "/rounds",
            Self::Sectors => "/sectors",
            Self::Market(market) => market.label(),
            Self::Match => "/match",
            Self::Compare => "/compare",
            Self::Leaderboard => "/leaderboard",
            Self::Data => "/data",
            Self::Reconcile(part) => part.path(),
            Self::Resolve => "/resolve",
            Self::Releases => "/releases",
            Self::ReleaseFeed(FeedFormat::Atom) => "/releases.atom",
            Self::ReleaseFeed(FeedFormat::Json) => "/releases.json",
            Self::RoundFeed(FeedFormat::Atom) => "/rounds.atom",
            Self::RoundFeed(FeedFormat::Json) => "/rounds.json",
            Self::AlertFeed(_, FeedFormat::Atom) => "/alerts/{token}.atom",
            Self::AlertFeed(_, FeedFormat::Json) => "/alerts/{token}.json",
            Self::Twin(_, TwinFormat::Markdown) => "/{page}.md",
            Self::Twin(_, TwinFormat::Json) => "/{page}.json",
            Self::Twin(_, TwinFormat::Csv) => "/{page}.csv",
            Self::Picture(Table::Startups, _) => "/startups/{slug}.png",
            Self::Picture(..) => "/vcs/{slug}.png",
            Self::Sitemap(_) => "/sitemap.xml",
            Self::Suggest => "/suggest",
            Self::OpenSearchSuggest => "/suggest/opensearch",
        }
    }
}

pub fn answer(page: PageRoute<'_>, request: PageRequest<'_>) -> Response<Vec<u8>> {
    let catalog = request.state.releases.current();
    let response = match page {
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
        _ => render(page, &catalog, request).map(|html| {
            let theme = Theme::from_request(request);
            let rendered = Arc::new(cacheable_response(request, theme.apply(html).into_bytes(), HTML, Vary::Cookie));
            if page.is_cacheable() {
                request.state.response_cache.insert(cache_key(&catalog, request, theme), &rendered);
            }
            rendered.answer(request.headers).map(Vec::from)
        }),
    };
    response.unwrap_or_else(|error| fail(&error, &catalog, request))
}

/// The cached response for a page; `None` if the page has to be rendered.
pub fn cached(page: PageRoute<'_>, request: PageRequest<'_>) -> Option<Response<Bytes>> {
    if !page.is_cacheable() {
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

fn render(page: PageRoute<'_>, catalog: &Catalog, request: PageRequest<'_>) -> Result<String, PageError> {
    let find = |table: Table, slug: &str| find(catalog, table, slug);
    match page {
        PageRoute::Home
        | PageRoute::Suggest
        | PageRoute::OpenSearchSuggest
        | PageRoute::Reconcile(_)
        | PageRoute::ReleaseFeed(_)
        | PageRoute::RoundFeed(_)
        | PageRoute::AlertFeed(..)
        | PageRoute::Twin(..)
        | PageRoute::Picture(..)
        | PageRoute::Sitemap(_) => home::page(catalog, request),
        PageRoute::Resolve => resolve::page(catalog, request),
        PageRoute::Releases => feeds::releases(catalog, request),
        PageRoute::Firms => lists::firms(catalog, request),
        PageRoute::Firm(slug) => firm::page(catalog, request, find(Table::Firms, slug)?),
        PageRoute::FirmReviews(slug) => firm::reviews::page(catalog, request, find(Table::Firms, slug)?),
        PageRoute::Startups => lists::startups(catalog, request),
        PageRoute::Startup(slug) => startup::page(catalog, request, find(Table::Startups, slug)?),
        PageRoute::People => lists::people(catalog, request),
        PageRoute::Person(slug) => person::page(catalog, request, find(Table::People, slug)?),
        PageRoute::Rounds => lists::rounds(catalog, request),
        PageRoute::Sectors => sectors::page(catalog, request),
        PageRoute::Market(market) => market::page(catalog, request, market),
        PageRoute::Match => matching::page(catalog, request),
        PageRoute::Compare => compare::page(catalog, request),
        PageRoute::Leaderboard => leaderboard::page(catalog, request),
        PageRoute::Data => data::page(catalog, request),
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
