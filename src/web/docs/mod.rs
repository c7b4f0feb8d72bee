//! The docs: where to begin, the reference, ready clients, and what each error means.
//!
//! Pages are plain HTML rendered on the server, with one style sheet and nothing from another host; they are made when
//! they are first asked for, and once.

mod clients;
mod errors;
mod fit;
mod frame;
mod mcp;
mod reference;
mod start;

use http::{HeaderMap, Method, Response};
use once_cell::sync::OnceCell;

use super::fixed::Fixed;
use super::headers::{set, write_cors};
use super::openapi;
use super::rest::Version;

pub use clients::CLIENTS;
pub use mcp::{CONVERSATIONS, SETUPS, Setup};
pub use start::start;

/// What a page may load: its style sheet, from here.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'self'; \
                          frame-ancestors 'none'";

const HTML: &str = "text/html; charset=utf-8";

/// How a body is made for a service at an address.
type Make = fn(&str) -> Fixed;

/// Everything that is the same for all callers, by path.
const SHELF: &[(&str, Make)] = &[
    ("/openapi/v1.json", |base| document(Version::V1, base)),
    ("/openapi/v2.json", |base| document(Version::V2, base)),
    ("/openapi/v3.json", |base| document(Version::V3, base)),
    ("/docs/style.css", |_| Fixed::new("text/css; charset=utf-8", include_str!("style.css"))),
    ("/docs/reference", |base| Fixed::new(HTML, reference::page(Version::V3, base))),
    ("/docs/reference/v1", |base| Fixed::new(HTML, reference::page(Version::V1, base))),
    ("/docs/reference/v2", |base| Fixed::new(HTML, reference::page(Version::V2, base))),
    ("/docs/reference/v3", |base| Fixed::new(HTML, reference::page(Version::V3, base))),
    ("/docs/clients", |base| Fixed::new(HTML, clients::page(base))),
    ("/docs/clients/page_through.sh", |_| clients::file(0)),
    ("/docs/clients/page_through.py", |_| clients::file(1)),
    ("/docs/clients/page_through.mjs", |_| clients::file(2)),
    ("/docs/clients/page_through.rs", |_| clients::file(3)),
    ("/docs/mcp", |base| Fixed::new(HTML, mcp::page(base))),
    ("/docs/errors", |_| Fixed::new(HTML, errors::page())),
    ("/docs", |base| Fixed::new(HTML, frame::text("Docs", "/docs", include_str!("text/index.html"), base))),
    ("/docs/paging", |base| {
        Fixed::new(HTML, frame::text("Paging", "/docs/paging", include_str!("text/paging.html"), base))
    }),
    ("/docs/limits", |base| {
        Fixed::new(HTML, frame::text("Limits", "/docs/limits", include_str!("text/limits.html"), base))
    }),
    ("/docs/versions", |base| {
        Fixed::new(HTML, frame::text("Versions", "/docs/versions", include_str!("text/versions.html"), base))
    }),
    ("/docs/search", |base| {
        Fixed::new(HTML, frame::text("Search", "/docs/search", include_str!("text/search.html"), base))
    }),
    ("/docs/match", |_| Fixed::new(HTML, fit::page())),
    ("/docs/score", |base| {
        Fixed::new(HTML, frame::text("The peer score", "/docs/score", include_str!("text/score.html"), base))
    }),
];

fn document(version: Version, base: &str) -> Fixed {
    // Texts, numbers and lists of them always have a JSON form.
    let text = serde_json::to_vec(&openapi::document(version, base)).unwrap_or_default();
    Fixed::new("application/json", text)
}

/// Everything that is the same for all callers, each made when it is first asked for.
pub struct Library {
    base: String,
    made: Vec<OnceCell<Fixed>>,
}

impl Library {
    /// The library of a service at an address, such as `https://example.org`.
    #[must_use]
    pub fn new(base: &str) -> Self {
        Self { base: base.to_owned(), made: SHELF.iter().map(|_| OnceCell::new()).collect() }
    }

    /// The paths that it answers.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        SHELF.iter().map(|(path, _)| *path)
    }

    /// The body at a path.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&Fixed> {
        let place = SHELF.iter().position(|(known, _)| *known == path)?;
        let (_, make) = SHELF.get(place)?;
        Some(self.made.get(place)?.get_or_init(|| make(&self.base)))
    }

    /// Answers a request; `None` where nothing is at the path, or the method does not read.
    #[must_use]
    pub fn answer(&self, method: &Method, path: &str, asked: &HeaderMap) -> Option<Response<Vec<u8>>> {
        let mut response = self.find(path)?.answer(method, asked)?;
        let headers = response.headers_mut();
        set(headers, "content-security-policy", POLICY);
        set(headers, "referrer-policy", "same-origin");
        if path.starts_with("/openapi/") {
            write_cors(headers);
        }
        Some(response)
    }
}
