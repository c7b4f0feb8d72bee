//! Everything that is the same for all callers: the docs, the documents of the API, the files beside the pages.
//!
//! Each is made when it is first asked for, and once; the docs twice at most, with and without the word that the data
//! served is made up.

use askama::Template;
use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use once_cell::sync::OnceCell;

use crate::http::headers::CommonHeaders;
use crate::http::static_asset::StaticAsset;
use crate::site::assets;
use crate::site::docs;
use crate::site::layout::{CSP, HTML, PageLayout};

/// How something on the shelf is made for a service at an address, such as `https://example.org`.
pub(crate) enum StaticEntry {
    /// A whole body.
    File(fn(&str) -> StaticAsset),
    /// A page of the docs.
    Page {
        /// Its name.
        title: &'static str,
        /// What it tells, in a sentence.
        description: &'static str,
        /// What stands in it, as HTML.
        body: fn(&str) -> String,
    },
}

/// A page of the docs in its frame.
#[derive(Template)]
#[template(path = "docs.html")]
struct DocsPage<'a> {
    frame: PageLayout,
    ways: &'a [(&'static str, &'static str)],
    body: &'a str,
}

/// Everything that is the same for all callers, each made when it is first asked for.
pub struct StaticPages {
    base: String,
    made: Vec<[OnceCell<StaticAsset>; 2]>,
}

fn shelf() -> impl Iterator<Item = &'static (&'static str, StaticEntry)> {
    docs::PAGES.iter().chain(assets::FILES)
}

impl StaticPages {
    /// The library of a service at an address, such as `https://example.org`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        Self { base: base.to_owned(), made: shelf().map(|_| Default::default()).collect() }
    }

    /// The paths that it answers.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        shelf().map(|(path, _)| *path)
    }

    /// The number of the entry at a path.
    pub(crate) fn position(path: &str) -> Option<usize> {
        Self::paths().position(|known| known == path)
    }

    fn make(&self, path: &str, shelved: &StaticEntry, invented: bool) -> StaticAsset {
        match shelved {
            StaticEntry::File(make) => make(&self.base),
            StaticEntry::Page { title, description, body } => {
                let frame = PageLayout::plain(title, description, path, invented);
                // What can be scrolled must be within reach of the keyboard.
                let body = body(&self.base).replace("<pre", "<pre tabindex=\"0\"");
                let body = body.replace("<div class=\"scroll\"", "<div class=\"scroll\" tabindex=\"0\"");
                let page = DocsPage { frame, ways: docs::NAV_ITEMS, body: &body };
                // Writing to a string does not fail.
                StaticAsset::new(HTML, page.render().unwrap_or_default())
            }
        }
    }

    /// Responds with the entry at a [`position`](Self::position); `None` if the method is not GET, HEAD or OPTIONS.
    /// `invented` is true if the data served is invented.
    pub(crate) fn answer(
        &self,
        position: usize,
        method: &Method,
        asked: &HeaderMap,
        invented: bool,
    ) -> Option<Response<Bytes>> {
        let (path, entry) = shelf().nth(position)?;
        let made = self.made.get(position)?.get(usize::from(invented))?;
        let mut response = made.get_or_init(|| self.make(path, entry, invented)).answer(method, asked)?;
        let common = CommonHeaders {
            page_policy: Some(CSP),
            is_cross_origin: path.starts_with("/openapi/"),
            ..CommonHeaders::default()
        };
        common.write(response.headers_mut());
        Some(response)
    }
}
