//! Everything that is the same for all callers: the docs, the documents of the API, the files beside the pages.
//!
//! Each is made when it is first asked for, and once; the docs twice at most, with and without the word that the data
//! served is made up.

use askama::Template;
use http::{HeaderMap, Method, Response};
use once_cell::sync::OnceCell;

use super::assets;
use super::docs;
use super::fixed::Fixed;
use super::frame::{Frame, HTML, POLICY};
use super::headers::{set, write_cors};

/// How something on the shelf is made for a service at an address, such as `https://example.org`.
pub(super) enum Shelved {
    /// A whole body.
    File(fn(&str) -> Fixed),
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
    frame: Frame,
    ways: &'a [(&'static str, &'static str)],
    body: &'a str,
}

/// Everything that is the same for all callers, each made when it is first asked for.
pub struct Library {
    base: String,
    made: Vec<[OnceCell<Fixed>; 2]>,
}

fn shelf() -> impl Iterator<Item = &'static (&'static str, Shelved)> {
    docs::PAGES.iter().chain(assets::FILES)
}

impl Library {
    /// The library of a service at an address, such as `https://example.org`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        Self { base: base.to_owned(), made: shelf().map(|_| Default::default()).collect() }
    }

    /// The paths that it answers.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        shelf().map(|(path, _)| *path)
    }

    /// The body at a path; `invented`: where the data served is made up.
    #[must_use]
    pub fn find(&self, path: &str, invented: bool) -> Option<&Fixed> {
        let (place, (path, shelved)) = shelf().enumerate().find(|(_, (known, _))| *known == path)?;
        let made = self.made.get(place)?.get(usize::from(invented))?;
        Some(made.get_or_init(|| self.make(path, shelved, invented)))
    }

    fn make(&self, path: &str, shelved: &Shelved, invented: bool) -> Fixed {
        match shelved {
            Shelved::File(make) => make(&self.base),
            Shelved::Page { title, description, body } => {
                let frame = Frame::plain(title, description, path, invented);
                // What can be scrolled must be within reach of the keyboard.
                let body = body(&self.base).replace("<pre", "<pre tabindex=\"0\"");
                let body = body.replace("<div class=\"scroll\"", "<div class=\"scroll\" tabindex=\"0\"");
                let page = DocsPage { frame, ways: docs::WAYS, body: &body };
                // Writing to a string does not fail.
                Fixed::new(HTML, page.render().unwrap_or_default())
            }
        }
    }

    /// Answers a request; `None` where nothing is at the path, or the method does not read.
    #[must_use]
    pub fn answer(&self, method: &Method, path: &str, asked: &HeaderMap, invented: bool) -> Option<Response<Vec<u8>>> {
        let mut response = self.find(path, invented)?.answer(method, asked)?;
        let headers = response.headers_mut();
        set(headers, "content-security-policy", POLICY);
        set(headers, "referrer-policy", "same-origin");
        if path.starts_with("/openapi/") {
            write_cors(headers);
        }
        Some(response)
    }
}
