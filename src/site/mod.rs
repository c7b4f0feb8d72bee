//! The pages that people see, rendered on the server. They ask the same catalog as REST and MCP.
//!
//! No page needs its script. What a visitor asks for stands in the address, in the words of the API, so that every page
//! can show the same query as JSON.

pub mod account;
pub mod assets;
pub mod browse;
pub mod charts;
pub mod docs;
pub mod error_page;
pub mod firm;
pub mod format;
pub mod home;
pub mod layout;
pub mod leaderboard;
pub mod link;
pub mod lists;
pub mod person;
pub mod sectors;
pub mod startup;
pub mod static_pages;

pub use docs::clients::CLIENTS;
pub use docs::mcp::{CONVERSATIONS, SETUPS, Setup};

use http::{HeaderMap, Response, StatusCode};

use crate::catalog::Catalog;
use crate::data::Table;
use crate::quota::RetryAfter;

use crate::http::State;
use crate::http::headers::{Caching, CommonHeaders, set};
use crate::http::negotiation::compressed;
use crate::http::url::decoded;
use crate::site::error_page::PageError;
use crate::site::layout::{CSP, HTML};

/// A request for a page.
#[derive(Clone, Copy)]
pub struct PageRequest<'a> {
    /// What the pages are made from.
    pub state: &'a State,
    /// The path, without a slash at its end.
    pub path: &'a str,
    /// The query, without the question mark.
    pub query: &'a str,
    /// The request's headers.
    pub headers: &'a HeaderMap,
}

/// A page of the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page<'a> {
    Home,
    Firms,
    Firm(&'a str),
    FirmReviews(&'a str),
    Startups,
    Startup(&'a str),
    People,
    Person(&'a str),
    Sectors,
    Leaderboard,
    Suggest,
}

impl<'a> Page<'a> {
    /// The page at a path without a slash at its end.
    pub fn of(path: &'a str) -> Option<Self> {
        let mut segments = path.split('/').skip(1);
        let page = match (segments.next()?, segments.next(), segments.next()) {
            ("", None, None) => Self::Home,
            ("vcs", None, None) => Self::Firms,
            ("vcs", Some(slug), None) => Self::Firm(slug),
            ("vcs", Some(slug), Some("reviews")) => Self::FirmReviews(slug),
            ("startups", None, None) => Self::Startups,
            ("startups", Some(slug), None) => Self::Startup(slug),
            ("people", None, None) => Self::People,
            ("people", Some(slug), None) => Self::Person(slug),
            ("sectors", None, None) => Self::Sectors,
            ("leaderboard", None, None) => Self::Leaderboard,
            ("suggest", None, None) => Self::Suggest,
            _ => return None,
        };
        segments.next().is_none().then_some(page)
    }
}

/// Responds to a request for a page.
pub fn answer(page: Page<'_>, visit: PageRequest<'_>) -> Response<Vec<u8>> {
    let catalog = visit.state.live.current();
    if page == Page::Suggest {
        return home::suggest(&catalog, visit);
    }
    match render(page, &catalog, visit) {
        Ok(html) => respond(visit, StatusCode::OK, html),
        Err(failure) => fail(&failure, &catalog, visit),
    }
}

/// The page for a path that nothing has.
#[must_use]
pub fn unknown(visit: PageRequest<'_>) -> Response<Vec<u8>> {
    fail(&PageError::NoPage, &visit.state.live.current(), visit)
}

/// The page for those who ask for too many.
#[must_use]
pub fn too_many(visit: PageRequest<'_>, wait: RetryAfter) -> Response<Vec<u8>> {
    fail(&PageError::TooMany(wait), &visit.state.live.current(), visit)
}

/// The page for a form that cannot be read.
#[must_use]
pub fn bad_form(visit: PageRequest<'_>, status: StatusCode, detail: &'static str) -> Response<Vec<u8>> {
    fail(&PageError::BadForm(status, detail), &visit.state.live.current(), visit)
}

fn render(page: Page<'_>, catalog: &Catalog, visit: PageRequest<'_>) -> Result<String, PageError> {
    let find = |table: Table, slug: &str| {
        let slug = decoded(slug);
        catalog.find(table, &slug).ok_or(PageError::NoRecord(table, slug))
    };
    match page {
        Page::Home | Page::Suggest => home::page(catalog, visit),
        Page::Firms => lists::firms(catalog, visit),
        Page::Firm(slug) => firm::page(catalog, visit, find(Table::Firms, slug)?),
        Page::FirmReviews(slug) => firm::reviews(catalog, visit, find(Table::Firms, slug)?),
        Page::Startups => lists::startups(catalog, visit),
        Page::Startup(slug) => startup::page(catalog, visit, find(Table::Startups, slug)?),
        Page::People => lists::people(catalog, visit),
        Page::Person(slug) => person::page(catalog, visit, find(Table::People, slug)?),
        Page::Sectors => sectors::page(catalog, visit),
        Page::Leaderboard => leaderboard::page(catalog, visit),
    }
}

fn fail(failure: &PageError, catalog: &Catalog, visit: PageRequest<'_>) -> Response<Vec<u8>> {
    let (status, html) = failure.page(catalog, visit.path);
    let mut response = respond(visit, status, html);
    if let Some(wait) = failure.retry_after() {
        set(response.headers_mut(), "retry-after", &wait.seconds.to_string());
    }
    response
}

/// A page as an answer, compressed where the visitor takes that.
fn respond(visit: PageRequest<'_>, status: StatusCode, html: String) -> Response<Vec<u8>> {
    let mut response = Response::new(html.into_bytes());
    *response.status_mut() = status;
    if let Some(packed) = compressed(response.body(), visit.headers) {
        *response.body_mut() = packed;
        set(response.headers_mut(), "content-encoding", "gzip");
    }
    set(response.headers_mut(), "content-type", HTML);
    let caching = Some(if status.is_success() { Caching::Private } else { Caching::Never });
    CommonHeaders { caching, varies: true, ..PAGE }.write(response.headers_mut());
    response
}

/// The headers of every page.
const PAGE: CommonHeaders<'static> = CommonHeaders {
    id: None,
    quota: None,
    snapshot: None,
    api_version: None,
    caching: None,
    varies: false,
    is_cross_origin: false,
    nosniff: true,
    page_policy: Some(CSP),
};
