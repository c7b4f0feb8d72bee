//! What stands around every page: its head, the way through the site, what data it shows.
//!
//! A page is an askama template that extends `layout.html` and holds a [`PageLayout`]. All texts are escaped by the template;
//! there is no inline style and no inline script, so that the policy needs no exception.

use once_cell::sync::Lazy;
use xxhash_rust::xxh3::xxh3_64;

use crate::data::Snapshot;

use crate::site::assets;

/// What a page may load and do: its style sheet, script and pictures from here, forms to here, no frame around it.
pub const CSP: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
                          base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/// The content type of pages.
pub const HTML: &str = "text/html; charset=utf-8";

/// The pages in the order of the navigation.
const NAV_ITEMS: [(&str, &str); 6] = [
    ("/vcs", "Firms"),
    ("/startups", "Startups"),
    ("/people", "People"),
    ("/leaderboard", "Leaderboard"),
    ("/sectors", "Sectors"),
    ("/docs", "Docs"),
];

/// Changes with the style sheet and the script, so that no page meets those of another version.
static EDITION: Lazy<String> = Lazy::new(|| {
    let content = [assets::STYLE, assets::SCRIPT].concat();
    format!("{:08x}", xxh3_64(content.as_bytes()) >> 32)
});

/// What stands around a page.
#[derive(Clone, Debug)]
pub struct PageLayout {
    /// The page's name, without that of the service.
    pub title: String,
    /// What the page tells, in a sentence, for those who list it.
    pub description: String,
    /// The page's path.
    pub path: String,
    /// Whether search engines may list the page.
    pub listed: bool,
    /// Whether the data is made up.
    pub invented: bool,
    /// The release that the page shows; `None` where it shows none.
    pub release: Option<Release>,
}

/// What a page says of its data.
#[derive(Clone, Debug)]
pub struct Release {
    /// The release's id.
    pub version: String,
    /// What the data is.
    pub title: String,
    /// Under which terms.
    pub license: String,
}

impl PageLayout {
    /// The frame of a page that shows no data of its own.
    #[must_use]
    pub fn plain(title: &str, description: &str, path: &str, invented: bool) -> Self {
        let [title, description, path] = [title, description, path].map(str::to_owned);
        Self { title, description, path, listed: true, invented, release: None }
    }

    /// The frame of a page that shows data of a snapshot.
    #[must_use]
    pub fn of(snapshot: &Snapshot, title: &str, description: &str, path: &str) -> Self {
        let release = Release {
            version: snapshot.version().to_string(),
            title: snapshot.title().to_owned(),
            license: snapshot.license().to_owned(),
        };
        Self { release: Some(release), ..Self::plain(title, description, path, snapshot.is_invented()) }
    }

    /// The same, kept out of search engines.
    #[must_use]
    pub fn unlisted(self) -> Self {
        Self { listed: false, ..self }
    }

    /// The ways of the navigation: path, name, and whether the page belongs there.
    pub fn ways(&self) -> impl Iterator<Item = (&'static str, &'static str, bool)> {
        NAV_ITEMS.into_iter().map(|(way, name)| (way, name, self.is_below(way)))
    }

    /// Whether the page is the one at `way` or stands below it.
    #[must_use]
    pub fn is_below(&self, way: &str) -> bool {
        self.path.strip_prefix(way).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// The mark of this version's style sheet and script in their addresses.
    #[must_use]
    pub fn edition(&self) -> &'static str {
        EDITION.as_str()
    }
}
