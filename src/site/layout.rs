//! The layout around every page: head, navigation, footer.
//!
//! A page is an askama template that extends `layout.html` and has a [`PageLayout`]. Templates escape all text; there are
//! no inline styles or scripts, so that the content security policy needs no exception.

use once_cell::sync::Lazy;
use xxhash_rust::xxh3::xxh3_64;

use crate::data::Snapshot;
use crate::http::Operator;
use crate::site::assets;

/// The content security policy of pages.
pub(crate) const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                              base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

pub(crate) const HTML: &str = "text/html; charset=utf-8";

const NAV_ITEMS: [(&str, &str); 6] = [
    ("/vcs", "Firms"),
    ("/startups", "Startups"),
    ("/people", "People"),
    ("/leaderboard", "Leaderboard"),
    ("/sectors", "Sectors"),
    ("/docs", "Docs"),
];

/// A hash of the style sheet and the script, part of their URLs, so that a page never loads those of another build.
static ASSET_VERSION: Lazy<String> = Lazy::new(|| {
    let content = [assets::STYLE, assets::SCRIPT].concat();
    format!("{:08x}", xxh3_64(content.as_bytes()) >> 32)
});

#[derive(Clone, Debug)]
pub(crate) struct PageLayout {
    /// The page's title, without the name of the service.
    pub title: String,
    pub description: String,
    pub path: String,
    pub is_indexed: bool,
    /// Whether the data of the release is invented.
    pub is_invented: bool,
    /// The release that the page shows, if it shows data.
    pub release: Option<ReleaseInfo>,
    /// Links to the operator's terms and contact: URL and name.
    pub operator: Vec<(String, &'static str)>,
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
        Self { title, description, path, is_indexed: true, is_invented, release: None, operator: Vec::new() }
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

    /// The same layout with the links of the operator in the footer.
    pub(crate) fn by(self, operator: &Operator) -> Self {
        Self { operator: operator.links(), ..self }
    }

    /// The same layout, not indexed by search engines.
    pub(crate) fn not_indexed(self) -> Self {
        Self { is_indexed: false, ..self }
    }

    /// The navigation: path, name, and whether the page is there or below.
    pub(crate) fn nav_items(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        NAV_ITEMS.into_iter().map(|(path, name)| (path, name, self.is_within(path)))
    }

    /// Whether the page is at `path` or below it.
    pub(crate) fn is_within(&self, path: &str) -> bool {
        self.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    pub(crate) fn asset_version(&self) -> &'static str {
        ASSET_VERSION.as_str()
    }
}
