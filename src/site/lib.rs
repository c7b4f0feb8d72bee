//! The web pages, rendered on the server from the same catalog as REST and MCP.
//!
//! Every page works without its script. Its state is its URL, with the parameters of the API, whose URL it can show.
#![warn(unreachable_pub)]

mod account;
mod alert_feed;
mod assets;
mod browse;
mod card;
mod choice;
mod compare;
mod conditions;
mod data;
mod docs;
mod embed;
mod error_page;
mod feeds;
mod field_years;
mod filters;
mod firm;
mod home;
mod layout;
mod leaderboard;
mod linked_data;
mod lists;
mod market;
mod matching;
mod moves;
mod person;
mod question;
mod reconcile;
mod record_table;
mod records;
mod release_page;
mod resolve;
pub mod review;
mod round_table;
mod routes;
mod sectors;
mod sitemap;
mod startup;
pub mod static_pages;
mod theme;
mod twin;
pub mod waiting;

pub use docs::clients::{CLIENTS, ExampleClient};
pub use docs::mcp::{CONVERSATIONS, SETUPS, Setup};

use std::borrow::Cow;
use std::net::IpAddr;
use std::sync::Arc;

use askama::Template;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, ETAG};
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use xxhash_rust::xxh3::xxh3_128;

pub use crate::account::{is_signed_in, sign_in_to_return};
use crate::browse::PER_PAGE;
use crate::error_page::PageError;
use crate::layout::{CSP, HTML};
pub(crate) use crate::routes::PathValues;
pub use crate::routes::{PageCharge, PageRoute, all_paths, page_above, public_paths};
use crate::routes::{PageHandler, PageRow, list, page, path_by_other_name, raw};
use crate::theme::Theme;
use crate::twin::{TwinFormat, TwinSubject};
use ::data::Table;
use auth::RetryAfter;
use auth::quota::{Overloaded, WorkCaller};
use catalog::{Catalog, ParameterError, Resource};
use platform::pause;
use service::{Bill, State};
use transport::headers::{Caching, CommonHeaders, Vary, set};
use transport::negotiation::{compress, names_file, requests_data, requests_html};
use transport::problem::Problem;
use transport::response_cache::{CacheKey, CachedResponse};
use transport::url::{decoded, with_slug};
use transport::warnings::write_warnings;
use transport::{Peer, RequestId, RequestTrace};
use view::html::escaped;

pub(crate) type PageResult<T = Response<Vec<u8>>> = Result<T, PageError>;

#[derive(Clone, Copy)]
pub struct PageRequest<'a> {
    pub state: &'a State,
    /// Without a trailing slash.
    pub path: &'a str,
    /// Without the question mark.
    pub query: &'a str,
    pub headers: &'a HeaderMap,
    pub peer: Peer,
    pub id: RequestId,
    pub trace: &'a RequestTrace,
    /// What a program pays; `None` for a page that a person reads.
    pub bill: Option<&'a Bill>,
}

impl<'a> PageRequest<'a> {
    /// The first value of a parameter.
    fn parameter(self, name: &str) -> Option<Cow<'a, str>> {
        form_urlencoded::parse(self.query.as_bytes()).find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// A path with the query of the request.
    fn with_query(self, path: &str) -> String {
        let mark = if self.query.is_empty() { "" } else { "?" };
        format!("{path}{mark}{}", self.query)
    }

    /// Raises the price of the request, if it is one of a program.
    fn charge(self, requests: usize) -> PageResult<()> {
        let requests = u32::try_from(requests).unwrap_or(u32::MAX);
        let charged = self.bill.map_or(Ok(()), |bill| bill.charge(self.state, requests));
        charged.map_err(PageError::Refused)
    }

    /// The caller whose turn the work of the request waits for.
    fn work_caller(self, address: IpAddr) -> WorkCaller {
        self.bill.map_or(WorkCaller::Address(address), Bill::work_caller)
    }

    /// The URL of a path of the API.
    fn api(self, path: &str) -> String {
        format!("{}/api/v3/{path}", self.state.public_url)
    }
}

fn render(page: &impl Template) -> PageResult<String> {
    pause::point();
    Ok(page.render()?)
}

/// A card shows a part of one record, and costs what its page does.
const OF_CARD: PageCharge = PageCharge::Rows(PER_PAGE as u32);

/// The pages, in the order of the menu and of the sitemap. Those of [`reconcile`] and [`account`] are there.
pub(crate) const PAGES: &[PageRow] = &[
    page("/", home::page).takes(&["q"]).cached().in_sitemap(),
    page("/match", matching::page).reads_query().cached().in_menu("Match").in_sitemap(),
    list("/vcs", lists::firms, Resource::Firms).cached().in_menu("Firms"),
    page("/vcs/{slug}", firm::page).cached().with_twins(TwinSubject::Record(Table::Firms)),
    page("/vcs/{slug}/reviews", firm::reviews::page)
        .reads_query()
        .cached()
        .with_twins(TwinSubject::List(Resource::Reviews)),
    raw("/vcs/{slug}.png", |catalog, request, [slug, _]| card::respond(catalog, request, Table::Firms, slug))
        .charged(OF_CARD),
    list("/startups", lists::startups, Resource::Startups).cached().in_menu("Startups"),
    page("/startups/{slug}", startup::page).cached().with_twins(TwinSubject::Record(Table::Startups)),
    raw("/startups/{slug}.png", |catalog, request, [slug, _]| card::respond(catalog, request, Table::Startups, slug))
        .charged(OF_CARD),
    list("/rounds", lists::rounds, Resource::Rounds).cached().in_menu("Rounds"),
    raw("/rounds.atom", feeds::round_feed).reads_query(),
    raw("/rounds/feed.json", feeds::round_feed).reads_query(),
    page("/markets", market::page).cached().in_menu("Markets").in_sitemap(),
    page("/sectors/{slug}", market::page).cached(),
    page("/sectors/{slug}/{stage}", market::page).cached(),
    page("/countries/{code}", market::page).cached(),
    page("/countries/{code}/{stage}", market::page).cached(),
    page("/cities/{name}", market::page).cached(),
    page("/cities/{name}/{stage}", market::page).cached(),
    list("/leaderboard", leaderboard::page, Resource::Leaderboard).in_footer("Leaderboard"),
    list("/people", lists::people, Resource::People).cached().in_footer("People"),
    page("/people/{slug}", person::page).cached().with_twins(TwinSubject::Record(Table::People)),
    list("/sectors", sectors::page, Resource::Sectors).takes(&[]).cached().in_footer("Sectors"),
    page("/compare", compare::page).takes(&["firm", "startup"]).cached().in_footer("Compare"),
    page("/data", data::page).in_sitemap().in_footer("About the data"),
    page("/releases", feeds::releases).in_sitemap().in_footer("Releases"),
    page("/releases/{version}", release_page::page).cached(),
    raw("/releases.atom", feeds::release_feed).takes(&[]).charged(PageCharge::Nothing),
    raw("/releases.json", feeds::release_feed).takes(&[]).charged(PageCharge::Nothing),
    page("/resolve", resolve::page)
        .in_footer("Look up a list")
        .with_batch(resolve::MAX_BYTES, |request, form, address| Box::pin(resolve::answer(request, form, address))),
    raw("/suggest", |catalog, request, _| Ok(home::suggest(catalog, request)))
        .takes(&["q"])
        .charged(PageCharge::Names(home::MAX_SUGGESTIONS as u32)),
    raw("/suggest/opensearch", |catalog, request, _| Ok(home::suggest_to_browser(catalog, request)))
        .takes(&["q"])
        .charged(PageCharge::Names(home::MAX_SUGGESTIONS as u32)),
    // Their addresses are secrets.
    raw("/alerts/{token}.atom", alert_feed::respond).open().charged(PageCharge::Nothing),
    raw("/alerts/{token}.json", alert_feed::respond).open().charged(PageCharge::Nothing),
    // Search engines read the addresses, and then the pages.
    raw("/sitemap.xml", sitemap::respond).charged(PageCharge::Nothing),
    raw("/sitemap-{number}.xml", sitemap::respond).labelled("/sitemap.xml").charged(PageCharge::Nothing),
];

/// Responds with a page, or handles a form. Whatever may search or render waits for its turn.
pub async fn answer(
    route: PageRoute<'_>,
    request: PageRequest<'_>,
    form: Option<Bytes>,
    address: IpAddr,
) -> Response<Vec<u8>> {
    let values = route.values;
    if let Some(twin) = route.twin {
        return in_turn(request, address, |catalog| twin::respond(catalog, request, route, twin, values[0])).await;
    }
    match route.handler(form.is_some()) {
        Some(PageHandler::Html(render)) => {
            in_turn(request, address, |catalog| {
                let theme = Theme::from_request(request);
                let unknown = route.unknown_parameters(catalog, request.query);
                let html = theme.apply(with_notice(render(catalog, request, values)?, &unknown)).into_bytes();
                let rendered = Arc::new(cacheable_response(request, html, HTML, Vary::Cookie, &unknown));
                if route.is_cached() {
                    request.state.response_cache.insert(cache_key(catalog, request, theme), &rendered);
                }
                Ok(rendered.answer(request.headers).map(Vec::from))
            })
            .await
        }
        Some(PageHandler::Raw(respond)) => {
            in_turn(request, address, |catalog| {
                let mut response = respond(catalog, request, values)?;
                write_warnings(response.headers_mut(), &route.unknown_parameters(catalog, request.query));
                Ok(response)
            })
            .await
        }
        Some(PageHandler::Batch(respond)) => respond(request, form.as_deref().unwrap_or_default(), address).await,
        Some(PageHandler::Account(respond)) => account::answer(respond, values, request, form, address).await,
        Some(PageHandler::Chart(chart)) => {
            in_turn(request, address, |catalog| embed::page(catalog, request, route, chart)).await
        }
        None => unknown(request),
    }
}

/// Says on a page which parameters it ignored.
fn with_notice(html: String, unknown: &[ParameterError]) -> String {
    let start = html.find("<main").and_then(|main| Some(main + html[main..].find('>')? + 1));
    let (Some(start), false) = (start, unknown.is_empty()) else { return html };
    let item = |error: &ParameterError| {
        let suggestion = error.did_you_mean.as_ref();
        let suggestion = suggestion.map_or_else(String::new, |name| format!(" Did you mean “{}”?", escaped(name)));
        let name = escaped(&error.parameter);
        format!("<li>This page has no parameter “{name}”, so it was ignored.{suggestion}</li>")
    };
    let items: String = unknown.iter().map(item).collect();
    let notice = format!("\n<div class=\"notice\" role=\"status\"><p>About this query:</p><ul>{items}</ul></div>");
    format!("{}{notice}{}", &html[..start], &html[start..])
}

/// Runs work when it is the turn of `address`, and charges pages for what it takes above one.
async fn in_turn(
    request: PageRequest<'_>,
    address: IpAddr,
    work: impl FnOnce(&Catalog) -> PageResult,
) -> Response<Vec<u8>> {
    let work = || {
        let catalog = request.state.releases.current();
        work(&catalog).unwrap_or_else(|error| fail(&error, &catalog, request))
    };
    let response = request.state.work.run(request.work_caller(address), request.trace.work(), work).await;
    charge_work(request, address, 1);
    response.unwrap_or_else(|Overloaded| fail(&PageError::Overloaded, &request.state.releases.current(), request))
}

/// The cached response for a page; `None` if the page has to be rendered.
pub fn cached(route: PageRoute<'_>, request: PageRequest<'_>) -> Option<Response<Bytes>> {
    if !route.is_cached() {
        return None;
    }
    let key = cache_key(&request.state.releases.serving(), request, Theme::from_request(request));
    Some(request.state.response_cache.get(key)?.answer(request.headers))
}

pub fn unknown(request: PageRequest<'_>) -> Response<Vec<u8>> {
    fail(&PageError::UnknownPage, &request.state.releases.current(), request)
}

/// Leads to the page that the path means by another name, with the query; `None` if there is none.
pub fn redirect_by_other_name(request: PageRequest<'_>) -> Option<Response<Vec<u8>>> {
    let path = path_by_other_name(request.path)?;
    let mut response = redirect(&request.with_query(&path));
    *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
    Some(response)
}

/// The refusal of a request for the site, in the form that it requests.
pub fn refuse(request: PageRequest<'_>, problem: Problem) -> Response<Vec<u8>> {
    fail(&PageError::Refused(problem), &request.state.releases.current(), request)
}

/// True if a person reads the response: the client requests HTML, or it opens a page without saying what it wants. What refuses
/// a method or a caller is HTML only if that is requested. A feed or file is never answered with markup.
fn reads_html(error: &PageError, request: PageRequest<'_>) -> bool {
    let requests_html = requests_html(request.headers);
    let is_page = match PageRoute::parse(request.path) {
        Some(route) if matches!(error, PageError::Refused(_)) => route.is_html() && requests_html,
        Some(route) => route.is_html() && (requests_html || !requests_data(request.headers)),
        None => requests_html,
    };
    is_page && !names_file(request.path)
}

pub fn too_many(request: PageRequest<'_>, wait: RetryAfter) -> Response<Vec<u8>> {
    fail(&PageError::RateLimited(wait), &request.state.releases.current(), request)
}

pub fn bad_form(request: PageRequest<'_>, status: StatusCode, detail: &'static str) -> Response<Vec<u8>> {
    fail(&PageError::UnreadableForm(status, detail), &request.state.releases.current(), request)
}

/// Items of a batch charged as one page, and as one request.
const ITEMS_PER_PAGE: usize = 10;

fn admit_batch(request: PageRequest<'_>, address: IpAddr, items: usize) -> PageResult<()> {
    request.charge(items.div_ceil(ITEMS_PER_PAGE))?;
    admit_pages(request, address, items.div_ceil(ITEMS_PER_PAGE))
}

/// Charges pages to an address without a key, except for the first one: the request itself is charged already.
fn admit_pages(request: PageRequest<'_>, address: IpAddr, pages: usize) -> PageResult<()> {
    if request.bill.is_some_and(Bill::has_key) {
        return Ok(());
    }
    for _ in 1..pages {
        request.state.auth.admit_page(address, request.state.now()).map_err(PageError::RateLimited)?;
    }
    Ok(())
}

/// Charges an address for the work of a request with this number of items, above what the items cost. The answer is there, so
/// an address without pages left hears of it with its next request.
fn charge_work(request: PageRequest<'_>, address: IpAddr, items: usize) {
    if let Some(bill) = request.bill {
        bill.charge_work(request.state, request.trace.work().total());
    }
    let price = request.state.work_price.requests(request.trace.work().total()) as usize;
    let further = price.saturating_sub(items.div_ceil(ITEMS_PER_PAGE));
    let _ = admit_pages(request, address, further + 1);
}

pub(crate) fn find(catalog: &Catalog, table: Table, slug: &str) -> Result<u32, PageError> {
    let slug = decoded(slug);
    let Some(row) = catalog.find(table, &slug) else {
        return Err(catalog.gone(table, &slug).map_or(PageError::UnknownRecord(table, slug), PageError::Gone));
    };
    match catalog.moved_to(table, row, &slug) {
        Some(target) => Err(PageError::Moved(table, slug.clone(), target.to_owned())),
        None => Ok(row),
    }
}

/// An uncacheable redirect to a page.
pub fn redirect(path: &str) -> Response<Vec<u8>> {
    see_other(path, Caching::Never)
}

fn see_other(path: &str, caching: Caching) -> Response<Vec<u8>> {
    let mut response = Response::new(Vec::new());
    *response.status_mut() = StatusCode::SEE_OTHER;
    set(response.headers_mut(), "location", path);
    page_headers(caching).write(response.headers_mut());
    response
}

fn fail(error: &PageError, catalog: &Catalog, request: PageRequest<'_>) -> Response<Vec<u8>> {
    if let Some(cause) = error.cause() {
        request.trace.set_failure(&cause);
    }
    let mut response = if reads_html(error, request) {
        let (status, html) = error.page(catalog, request);
        respond(request, status, html)
    } else {
        let PageRequest { state, path, id, .. } = request;
        let mut response = error.problem(catalog, path).response(&state.public_url, path, id, None, state.now());
        page_headers(Caching::Never).write(response.headers_mut());
        response.map(Vec::from)
    };
    if let PageError::Refused(problem) = error {
        problem.allow.into_iter().for_each(|methods| set(response.headers_mut(), "allow", methods));
        if response.status() == StatusCode::UNAUTHORIZED {
            set(response.headers_mut(), "www-authenticate", "Bearer");
        }
    }
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
    warnings: &[ParameterError],
) -> CachedResponse {
    let mut headers = HeaderMap::new();
    write_warnings(&mut headers, warnings);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    CommonHeaders { varies: Some(varies), ..page_headers(Caching::Private) }.write(&mut headers);
    // Weak, because the compressed body has the same tag.
    set(&mut headers, ETAG, &format!("W/\"{:032x}\"", xxh3_128(&body)));
    CachedResponse::new(body, headers, request.trace.route())
}

fn respond_unless_known(request: PageRequest<'_>, body: Vec<u8>, content_type: &'static str) -> Response<Vec<u8>> {
    cacheable_response(request, body, content_type, Vary::Encoding, &[]).answer(request.headers).map(Vec::from)
}

fn cache_key<'a>(catalog: &Catalog, request: PageRequest<'a>, theme: Theme) -> CacheKey<'a> {
    CacheKey::new(catalog.identity(), request.path, request.query).in_variant(theme as u8)
}

/// A response with a page or a feed, compressed if the client accepts it.
fn respond_with(request: PageRequest<'_>, status: StatusCode, body: Vec<u8>, content_type: &str) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    compress(&mut response, request.headers);
    set(response.headers_mut(), "content-type", content_type);
    let caching = if status.is_success() { Caching::Private } else { Caching::Never };
    CommonHeaders { varies: Some(Vary::Encoding), ..page_headers(caching) }.write(response.headers_mut());
    response
}

fn response_of(body: Vec<u8>, content_type: &str, headers: CommonHeaders<'_>) -> Response<Vec<u8>> {
    let mut response = Response::new(body);
    set(response.headers_mut(), "content-type", content_type);
    headers.write(response.headers_mut());
    response
}

fn page_headers(caching: Caching) -> CommonHeaders<'static> {
    CommonHeaders { caching: Some(caching), page_policy: Some(CSP), ..CommonHeaders::default() }
}
