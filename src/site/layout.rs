//! The layout around every page: head, navigation, footer.
//!
//! A page is an askama template that extends `layout.html` and has a [`PageLayout`]. Templates escape all text; there are
//! no inline styles or scripts, so that the content security policy needs no exception.

use once_cell::sync::Lazy;
use xxhash_rust::xxh3::xxh3_64;

use crate::assets;
use crate::twin::TwinFormat;
use data::Snapshot;
use service::{Brand, BrandColor, Operator, State};

/// The content security policy of pages.
pub(crate) const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; font-src 'self'; \
                              connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub(crate) const HTML: &str = "text/html; charset=utf-8";

const NAV_ITEMS: [(&str, &str); 6] = [
    ("/match", "Match"),
    ("/vcs", "Firms"),
    ("/startups", "Startups"),
    ("/rounds", "Rounds"),
    ("/markets", "Markets"),
    ("/docs", "Docs"),
];

/// A hash of the style sheets and scripts, part of their URLs, so that a page never loads those of another build.
static ASSET_VERSION: Lazy<String> = Lazy::new(|| {
    let content = [assets::STYLE, assets::SCRIPT, assets::DOCS_STYLE, assets::PLAYGROUND].concat();
    format!("{:08x}", xxh3_64(content.as_bytes()) >> 32)
});

#[derive(Clone, Debug)]
pub(crate) struct PageLayout {
    /// The page's title, without the name of the service; empty for the home page.
    pub title: String,
    pub description: String,
    pub path: String,
    pub is_indexed: bool,
    /// Whether the data of the release is invented.
    pub is_invented: bool,
    /// The release that the page shows, if it shows data.
    pub release: Option<ReleaseInfo>,
    /// The name of the service.
    pub brand: String,
    /// The operator's color, part of the URL of the style sheet.
    pub color: Option<BrandColor>,
    /// Links to the operator's terms and contact: URL and name.
    pub operator: Vec<(String, &'static str)>,
    /// The address of the page, if it has one for good: other addresses of it are of filters and pages of a list.
    pub canonical: Option<String>,
    /// The paths of its Markdown and JSON.
    pub twins: Option<[String; 2]>,
    /// JSON-LD about what the page shows.
    pub linked_data: Option<String>,
    /// The address of a picture for previews.
    pub picture: Option<String>,
}

/// What the footer says about the data.
#[derive(Clone, Debug)]
pub(crate) struct ReleaseInfo {
    pub version: String,
    pub title: String,
    pub license: String,
}

impl PageLayout {
    /// The layout of a page without data.
    pub(crate) fn plain(title: &str, description: &str, path: &str, is_invented: bool) -> Self {
        let [title, description, path] = [title, description, path].map(str::to_owned);
        Self {
            title,
            description,
            path,
            is_indexed: true,
            is_invented,
            release: None,
            brand: Brand::default().name.to_string(),
            color: None,
            operator: Vec::new(),
            canonical: None,
            twins: None,
            linked_data: None,
            picture: None,
        }
    }

    /// The layout of a page that shows data of a snapshot.
    pub(crate) fn of(snapshot: &Snapshot, title: &str, description: &str, path: &str) -> Self {
        let release = ReleaseInfo {
            version: snapshot.version().to_string(),
            title: snapshot.title().to_owned(),
            license: snapshot.license().to_owned(),
        };
        Self { release: Some(release), ..Self::plain(title, description, path, snapshot.is_invented()) }
    }

    /// The same layout with the name, the color and the links of the operator.
    pub(crate) fn by(self, operator: &Operator) -> Self {
        let Brand { name, color } = &operator.brand;
        Self { brand: name.to_string(), color: *color, operator: operator.links(), ..self }
    }

    /// The same layout with the address of the page.
    pub(crate) fn at(self, base: &str) -> Self {
        let path = self.path.clone();
        self.at_address(base, &path)
    }

    /// The same layout with the address of a page of a list.
    pub(crate) fn at_address(self, base: &str, href: &str) -> Self {
        Self { canonical: Some(format!("{base}{href}")), ..self }
    }

    /// The title with the name of the service.
    pub(crate) fn full_title(&self) -> String {
        match self.title.as_str() {
            "" => format!("{}: venture capital firms, rated by founders", self.brand),
            title => format!("{title} · {}", self.brand),
        }
    }

    /// The same layout for a page that has twins, of a list with its canonical query; without it also with the address of the
    /// page.
    pub(crate) fn with_twins(self, state: &State, query: &str) -> Self {
        let mark = if query.is_empty() { "" } else { "?" };
        let twin = |format: TwinFormat| format!("{}{}{mark}{query}", self.path, format.extension());
        let twins = Some([TwinFormat::Markdown, TwinFormat::Json].map(twin));
        let layout = if query.is_empty() { self.at(&state.public_url) } else { self };
        Self { twins, ..layout }.by(&state.operator)
    }

    /// The same layout with JSON-LD.
    pub(crate) fn about(self, linked_data: String) -> Self {
        Self { linked_data: Some(linked_data), ..self }
    }

    /// The same layout of a record that has a picture. Its address has the version of the release: it never changes.
    pub(crate) fn with_picture(self) -> Self {
        let (page, release) = (self.canonical.as_deref(), self.release.as_ref());
        let picture = page.zip(release).map(|(page, release)| format!("{page}.png?{}", release.version));
        Self { picture, ..self }
    }

    /// The same layout, not indexed by search engines.
    pub(crate) fn not_indexed(self) -> Self {
        Self { is_indexed: false, ..self }
    }

    /// The navigation: path, name, and whether the page is there or below.
    pub(crate) fn nav_items(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        NAV_ITEMS.into_iter().map(|(path, name)| (path, name, self.is_within(path)))
    }

    /// Whether the header has a search field: the home page has a larger one.
    pub(crate) fn has_search(&self) -> bool {
        self.path != "/"
    }

    /// Whether the page is at `path` or below it.
    pub(crate) fn is_within(&self, path: &str) -> bool {
        self.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    pub(crate) fn asset_version(&self) -> String {
        asset_version(self.color)
    }
}

/// The query of the address of an asset that never has another content, with the operator's color.
pub(crate) fn asset_version(color: Option<BrandColor>) -> String {
    let color = color.map_or_else(String::new, |color| format!("-{}", &color.light.to_string()[1..]));
    format!("{}{color}", ASSET_VERSION.as_str())
}
