//! The layout around every page: head, navigation, footer.
//!
//! A page is an askama template that extends `layout.html` and has a [`PageLayout`]. Templates escape all text; there
//! are no inline styles or scripts, so that the content security policy needs no exception.

use once_cell::sync::Lazy;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use crate::account::cookie;
use crate::error_page::path_of;
use crate::lists::{list_path, nouns};
use crate::twin::TwinFormat;
use crate::{PAGES, PageRequest, assets, card, linked_data};
use auth::session::SessionToken;
use catalog::Catalog;
use data::{Snapshot, Table};
use service::{Brand, BrandColor, Operator, SignUp, State};
use view::charts::ChartHead;
use view::format;
use view::style_sheet;

pub const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; \
                              connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub const HTML: &str = "text/html; charset=utf-8";

/// A hash of the style sheets and scripts. It is part of their URLs, so that a page never loads those of another build.
static ASSET_VERSION: Lazy<String> = Lazy::new(|| {
    let content = [style_sheet::STYLE, assets::SCRIPT, assets::DOCS_STYLE, assets::PLAYGROUND].concat();
    format!("{:08x}", xxh3_64(content.as_bytes()) >> 32)
});

#[derive(Default)]
pub(crate) struct PageLayout {
    /// The page's title, without the name of the service; empty for the home page.
    pub title: String,
    pub description: String,
    pub path: String,
    pub is_indexed: bool,
    pub is_invented: bool,
    /// The release shown on the page; `None` for a page without data.
    pub release: Option<ReleaseInfo>,
    pub brand: String,
    /// The operator's color, part of the URL of the style sheet.
    pub color: Option<BrandColor>,
    /// True if everybody can create an account.
    pub offers_sign_up: bool,
    /// True for a stranger of a private service, to whom no other page is open.
    pub is_closed: bool,
    /// Links to the operator's terms and contact: URL and name.
    pub operator: Vec<(String, &'static str)>,
    /// The canonical URL, if there is one. Other URLs of the page have filters or page numbers.
    pub canonical: Option<String>,
    pub twins: Option<[String; 2]>,
    pub linked_data: Option<String>,
    pub picture: Option<String>,
    /// Width and height of the picture in pixels, if they are always the same.
    pub picture_size: Option<(u16, u16)>,
}

pub(crate) struct ReleaseInfo {
    pub version: String,
    pub title: String,
    pub license: String,
}

impl PageLayout {
    /// The layout of a page without data.
    pub(crate) fn plain(title: &str, description: &str, path: &str, is_invented: bool) -> Self {
        let [title, description, path] = [title, description, path].map(str::to_owned);
        let brand = Brand::default().name.to_string();
        Self { title, description, path, is_indexed: true, is_invented, brand, ..Self::default() }
    }

    pub(crate) fn new(snapshot: &Snapshot, title: &str, description: &str, path: &str) -> Self {
        let release = ReleaseInfo {
            version: snapshot.version().to_string(),
            title: snapshot.title().to_owned(),
            license: snapshot.license().to_owned(),
        };
        Self { release: Some(release), ..Self::plain(title, description, path, snapshot.is_invented()) }
    }

    /// The layout of a record's page, with its twins, its preview image (people have none) and JSON-LD `about` it.
    pub(crate) fn of_record(
        catalog: &Catalog,
        request: PageRequest<'_>,
        (table, row): (Table, u32),
        description: &str,
        about: Value,
    ) -> Self {
        let snapshot = catalog.snapshot();
        let path = path_of(table, snapshot.slug(table, row));
        let list = (list_path(table), format::capitalized(nouns(table).1));
        let base = &request.state.public_url;
        let linked_data = Some(linked_data::graph(base, list, &path, about, snapshot.is_invented()));
        // The URL has the version of the release, so the image never changes.
        let picture = (table != Table::People).then(|| format!("{base}{path}.png?{}", snapshot.version()));
        let layout = Self::new(snapshot, snapshot.name(table, row), description, &path);
        let picture_size = picture.as_ref().map(|_| (card::WIDTH, card::HEIGHT));
        Self { picture, picture_size, linked_data, ..layout.with_twins(request.state, "") }
    }

    /// Makes the picture of a chart that of previews of the page. The URL has the version of the release, so it never changes.
    pub(crate) fn with_chart(self, state: &State, head: Option<&ChartHead>) -> Self {
        let Some(path) = head.and_then(ChartHead::picture_path) else { return self };
        let version = self.release.as_ref().map_or("", |release| release.version.as_str());
        Self { picture: Some(format!("{}{path}?{version}", state.public_url)), ..self }
    }

    pub(crate) fn with_operator(self, operator: &Operator) -> Self {
        let Brand { name, color } = &operator.brand;
        let offers_sign_up = operator.sign_up == SignUp::Open;
        Self { brand: name.to_string(), color: *color, operator: operator.links(), offers_sign_up, ..self }
    }

    /// Leaves out links to pages that a stranger of a private service cannot open.
    pub(crate) fn closed_to(self, request: PageRequest<'_>) -> Self {
        Self { is_closed: is_stranger(request), ..self }
    }

    /// Sets the canonical URL to the page's own path, and the name, the color and the links of the operator.
    pub(crate) fn canonical(self, state: &State) -> Self {
        let path = self.path.clone();
        self.with_canonical(&state.public_url, &path).with_operator(&state.operator)
    }

    /// Sets the canonical URL to `href`, such as a page of a list.
    pub(crate) fn with_canonical(self, base: &str, href: &str) -> Self {
        Self { canonical: Some(format!("{base}{href}")), ..self }
    }

    pub(crate) fn full_title(&self) -> String {
        match self.title.as_str() {
            "" => format!("{}: venture capital firms, rated by founders", self.brand),
            title => format!("{title} · {}", self.brand),
        }
    }

    /// Sets the operator and the twins; without the canonical `query` of a list, also the canonical URL.
    pub(crate) fn with_twins(self, state: &State, query: &str) -> Self {
        let mark = if query.is_empty() { "" } else { "?" };
        let twin = |format: TwinFormat| format!("{}{}{mark}{query}", self.path, format.extension());
        let twins = Some([TwinFormat::Markdown, TwinFormat::Json].map(twin));
        let layout = if query.is_empty() { self.canonical(state) } else { self.with_operator(&state.operator) };
        Self { twins, ..layout }
    }

    pub(crate) fn not_indexed(self) -> Self {
        Self { is_indexed: false, ..self }
    }

    /// The navigation: path, name, and true if the current page is at the path or below it.
    pub(crate) fn nav_items(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        let pages = PAGES.iter().filter_map(|page| Some((page.path, page.menu?)));
        pages.chain([("/docs", "Docs")]).map(|(path, name)| (path, name, self.is_within(path)))
    }

    /// The pages that the footer links: path and name.
    pub(crate) fn footer_items(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        PAGES.iter().filter_map(|page| Some((page.path, page.footer?)))
    }

    pub(crate) fn is_within(&self, path: &str) -> bool {
        self.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    pub(crate) fn asset_version(&self) -> String {
        asset_version(self.color)
    }
}

/// True if the service is private, and the request has no session.
pub(crate) fn is_stranger(request: PageRequest<'_>) -> bool {
    request.state.operator.access.is_private() && cookie::find::<SessionToken>(request, cookie::SESSION).is_none()
}

/// The version query of asset URLs, which depends on the operator's color. The content at such a URL never changes.
pub(crate) fn asset_version(color: Option<BrandColor>) -> String {
    let color = color.map_or_else(String::new, |color| format!("-{}", &color.light.to_string()[1..]));
    format!("{}{color}", ASSET_VERSION.as_str())
}
