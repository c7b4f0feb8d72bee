//! Bodies that are the same for every caller: the docs, the OpenAPI documents, the assets.
//!
//! Each is rendered on first request and cached until another release is served, because the docs show names of the
//! release and whether its data is invented. A page that cannot be rendered is an error and is not cached.

use std::sync::{Arc, PoisonError, RwLock};

use askama::Template;
use bytes::Bytes;
use form_urlencoded::byte_serialize;
use http::{Method, Response, StatusCode};
use once_cell::sync::OnceCell;

use crate::error_page::PageError;
use crate::layout::{CSP, HTML, PageLayout, asset_version};
use crate::theme::Theme;
use crate::{PageRequest, PageResult, assets, docs, render};
use api::openapi::Version;
use api::openapi::reference::{ApiReference, EndpointGroup};
use auth::quota::{NETWORK_MULTIPLE, Tier, Tiers};
use catalog::Catalog;
use data::number::grouped;
use data::{SnapshotVersion, Table};
use platform::pause;
use service::{Operator, State, VersionEnd};
use transport::headers::{Caching, CommonHeaders, Vary};
use transport::static_asset::StaticAsset;
use view::html::escaped;

pub(crate) struct DocsContext<'a> {
    /// The address of the service, such as `https://example.org`.
    pub base: &'a str,
    pub catalog: &'a Catalog,
    pub operator: &'a Operator,
    pub tiers: &'a Tiers,
    reference: &'a OnceCell<ApiReference>,
}

impl DocsContext<'_> {
    /// The reference of v3, generated on first use; many pages show parts of it.
    pub(crate) fn reference(&self) -> &ApiReference {
        self.reference.get_or_init(|| pause::without(|| ApiReference::new(Version::V3, self.base, self.catalog)))
    }
}

pub(crate) type SiteEntry = (&'static str, StaticEntry);
pub(crate) type DocsTemplate = fn(&DocsContext<'_>) -> askama::Result<String>;

pub(crate) enum StaticEntry {
    File(fn(&DocsContext<'_>) -> StaticAsset),
    Page { title: &'static str, description: &'static str, body: PageBody },
}

pub(crate) enum PageBody {
    /// HTML with placeholders: `{base}` of the service, its `{brand}`, `{firm}`, `{firm_name}` and `{firm_query}` for a firm's
    /// slug, its name and that within a URL, `{contact}`, `{version_ends}`; `{free.requests}`, `{free.keys}` and so on of the tiers, `{anonymous.requests}`,
    /// `{anonymous.rows}`, and `{network.requests}`, `{network.rows}` of a network without a key; what is between `{reviews}` and `{/reviews}` is there only if the service takes reviews.
    Text(&'static str),
    Template(DocsTemplate),
    /// An endpoint, by operation. The page also shows the request that its form describes.
    Endpoint(&'static str),
}

impl PageBody {
    fn render(&self, context: &DocsContext<'_>, query: &str) -> askama::Result<String> {
        match self {
            Self::Text(html) => {
                let firm = context.catalog.example_name(Table::Firms);
                let query: String = byte_serialize(firm.as_bytes()).collect();
                let html = about_reviews(html, context.operator.takes_reviews());
                let html = html.replace("{base}", &escaped(context.base)).replace("{firm_query}", &query);
                let html = html.replace("{firm}", &context.catalog.example_slug(Table::Firms));
                let html = html.replace("{firm_name}", &escaped(&firm));
                let html = html.replace("{brand}", &escaped(context.operator.brand.name.as_str()));
                let html = html.replace("{version_ends}", &version_ends(&context.operator.version_ends));
                let html = with_limits(html, context.tiers);
                Ok(html.replace("{contact}", &contact(context.operator.contact.as_deref())))
            }
            Self::Template(template) => template(context),
            Self::Endpoint(operation) => docs::reference::endpoint(context, operation, query),
        }
    }
}

/// The text with the limits of the tiers in place of their placeholders.
fn with_limits(mut html: String, tiers: &Tiers) -> String {
    if !html.contains(".requests}") && !html.contains(".keys}") && !html.contains(".rows}") {
        return html;
    }
    let number = |number: Option<u32>| number.map_or_else(|| "unlimited".to_owned(), grouped);
    for tier in Tier::ALL {
        let limits = tiers.of(tier);
        html = html.replace(&format!("{{{tier}.requests}}"), &number(limits.requests));
        html = html.replace(&format!("{{{tier}.keys}}"), &number(limits.keys));
    }
    for (name, multiple) in [("anonymous", 1), ("network", NETWORK_MULTIPLE)] {
        for (limit, count) in [("requests", tiers.anonymous.requests), ("rows", tiers.anonymous.rows)] {
            html = html.replace(&format!("{{{name}.{limit}}}"), &number(Some(count.saturating_mul(multiple))));
        }
    }
    html
}

/// The text with what it says of reviews, or without it.
fn about_reviews(html: &str, is_kept: bool) -> String {
    let mut kept = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, part)) = rest.split_once("{reviews}") {
        let (part, after) = part.split_once("{/reviews}").unwrap_or((part, ""));
        kept.push_str(before);
        kept.push_str(if is_kept { part } else { "" });
        rest = after;
    }
    kept + rest
}

fn version_ends(ends: &[VersionEnd]) -> String {
    let sentence = |end: &VersionEnd| {
        let VersionEnd { version, deprecated_on, ends_on } = end;
        format!("{version} is deprecated from {deprecated_on} and ends on {ends_on}.")
    };
    match ends {
        [] => "The end of no version is announced.".to_owned(),
        ends => ends.iter().map(sentence).collect::<Vec<_>>().join(" "),
    }
}

fn contact(url: Option<&str>) -> String {
    match url.map(escaped) {
        Some(url) => format!("<a href=\"{url}\">{}</a>", url.trim_start_matches("mailto:")),
        None => "the operator of this service, who has published no address here".to_owned(),
    }
}

#[derive(Template)]
#[template(path = "docs.html")]
struct DocsPage<'a> {
    layout: PageLayout,
    nav_items: Vec<(&'static str, &'static str)>,
    groups: &'a [EndpointGroup],
    is_endpoint: bool,
    body: &'a str,
}

pub struct StaticPages {
    base: String,
    operator: Operator,
    tiers: Tiers,
    entries: Vec<&'static SiteEntry>,
    cache: RwLock<Arc<ReleaseCache>>,
}

struct ReleaseCache {
    version: SnapshotVersion,
    reference: OnceCell<ApiReference>,
    /// In the order of the entries, one per theme.
    bodies: Vec<[OnceCell<Arc<StaticAsset>>; Theme::ALL.len()]>,
}

impl ReleaseCache {
    fn new(version: SnapshotVersion, len: usize) -> Arc<Self> {
        Arc::new(Self { version, reference: OnceCell::new(), bodies: (0..len).map(|_| Default::default()).collect() })
    }
}

impl StaticPages {
    pub fn new(state: &State) -> Self {
        let entries: Vec<_> = entries().collect();
        let cache = RwLock::new(ReleaseCache::new(state.releases.current().version(), entries.len()));
        Self {
            base: state.public_url.clone(),
            operator: state.operator.clone(),
            tiers: *state.auth.tiers(),
            entries,
            cache,
        }
    }

    pub fn paths() -> impl Iterator<Item = &'static str> {
        entries().map(|(path, _)| *path)
    }

    /// The path of the entry at a [position](Self::position).
    pub fn path(position: usize) -> &'static str {
        Self::paths().nth(position).expect("a position of an entry")
    }

    pub fn position(path: &str) -> Option<usize> {
        Self::paths().position(|known| known == path)
    }

    /// True if a private service shows the entry to strangers: files without data, and the privacy page.
    pub fn is_open(position: usize) -> bool {
        position >= docs::pages().count() || Self::path(position) == "/docs/privacy"
    }

    /// True if the entry is only there where the service takes reviews.
    pub fn is_of_reviews(position: usize) -> bool {
        docs::is_of_reviews(Self::path(position))
    }

    /// The response for the entry at a [position](Self::position); `None` if the method is not GET, HEAD or OPTIONS.
    pub fn answer(&self, position: usize, method: &Method, request: PageRequest<'_>) -> Option<Response<Bytes>> {
        let catalog = request.state.releases.current();
        let failed = |error: PageError| Some(crate::fail(&error, &catalog, request).map(Bytes::from));
        let has_form = matches!(self.entries[position].1, StaticEntry::Page { body: PageBody::Endpoint(_), .. });
        if has_form && !request.query.is_empty() && matches!(*method, Method::GET | Method::HEAD) {
            // Rendered for the query of its form, without the cache.
            let (path, entry) = self.entries[position];
            let cache = self.cache_of(catalog.version());
            return match entry.page(path, &self.context(&cache, &catalog), request.query) {
                Ok(html) => Some(crate::respond(request, StatusCode::OK, html).map(Bytes::from)),
                Err(error) => failed(error),
            };
        }
        let is_page = matches!(self.entries[position].1, StaticEntry::Page { .. });
        let theme = if is_page { Theme::from_request(request) } else { Theme::System };
        let mut response = match self.asset(position, &catalog, theme) {
            Ok(asset) => asset.answer(method, request.headers)?,
            Err(error) => return failed(error),
        };
        // The typeface has its version in its name.
        let is_asset = request.path.starts_with("/assets/");
        let has_version = request.query == asset_version(self.operator.brand.color) || request.path.ends_with(".woff2");
        let common = CommonHeaders {
            page_policy: Some(CSP),
            is_cross_origin: request.path.starts_with("/openapi/"),
            // Private, so that no shared cache mixes up the themes of visitors.
            caching: match (is_page, is_asset && has_version) {
                (true, _) => Some(Caching::Private),
                (_, true) => Some(Caching::Forever),
                _ => None,
            },
            varies: is_page.then_some(Vary::Cookie),
            ..CommonHeaders::default()
        };
        common.write(response.headers_mut());
        Some(response)
    }

    fn asset(&self, position: usize, catalog: &Catalog, theme: Theme) -> PageResult<Arc<StaticAsset>> {
        let (path, entry) = self.entries[position];
        let cache = self.cache_of(catalog.version());
        let context = self.context(&cache, catalog);
        let render = || match entry {
            StaticEntry::File(file) => Ok::<_, PageError>(Arc::new(file(&context))),
            page => Ok(Arc::new(StaticAsset::new(HTML, theme.apply(page.page(path, &context, "")?)))),
        };
        cache.bodies[position][theme as usize].get_or_try_init(|| pause::without(render)).cloned()
    }

    fn context<'a>(&'a self, cache: &'a ReleaseCache, catalog: &'a Catalog) -> DocsContext<'a> {
        let (base, operator, tiers) = (&*self.base, &self.operator, &self.tiers);
        DocsContext { base, catalog, operator, tiers, reference: &cache.reference }
    }

    fn cache_of(&self, version: SnapshotVersion) -> Arc<ReleaseCache> {
        let cache = Arc::clone(&self.cache.read().unwrap_or_else(PoisonError::into_inner));
        if cache.version == version {
            return cache;
        }
        let cache = ReleaseCache::new(version, self.entries.len());
        *self.cache.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&cache);
        cache
    }
}

fn entries() -> impl Iterator<Item = &'static SiteEntry> {
    docs::pages().chain(assets::FILES)
}

impl StaticEntry {
    fn page(&self, path: &str, context: &DocsContext<'_>, query: &str) -> PageResult<String> {
        let Self::Page { title, description, body } = self else { return Err(PageError::UnknownPage) };
        let layout = PageLayout::plain(title, description, path, context.catalog.snapshot().is_invented())
            .with_canonical(context.base, path)
            .with_operator(context.operator);
        let layout = if query.is_empty() { layout } else { layout.not_indexed() };
        // Elements that scroll must be reachable by keyboard.
        let text = body.render(context, query)?.replace("<pre>", "<pre tabindex=\"0\">");
        let text = text.replace("<pre class", "<pre tabindex=\"0\" class");
        let text = text.replace("<div class=\"scroll\"", "<div class=\"scroll\" tabindex=\"0\"");
        let is_there =
            |(path, _): &(&'static str, &'static str)| !docs::is_of_reviews(path) || context.operator.takes_reviews();
        let nav_items = docs::NAV_ITEMS.iter().copied().filter(is_there);
        render(&DocsPage {
            groups: if layout.is_within("/docs/reference") { &context.reference().groups } else { &[] },
            layout,
            nav_items: nav_items.collect(),
            is_endpoint: matches!(body, PageBody::Endpoint(_)),
            body: &text,
        })
    }
}
