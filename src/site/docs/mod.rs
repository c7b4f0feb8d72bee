//! The docs: where to begin, the reference, ready clients, and what each error means.
//!
//! Each page is HTML made once, when it is first asked for; the library puts it into its frame.

pub mod clients;
pub mod errors;
pub mod html;
pub mod matching;
pub mod mcp;
pub mod reference;

use crate::api::Version;
use crate::http::static_asset::StaticAsset;
use crate::openapi;
use crate::site::static_pages::StaticEntry;

/// The docs in the order of their navigation.
pub(crate) const NAV_ITEMS: &[(&str, &str)] = &[
    ("/docs", "Begin"),
    ("/docs/keys", "Keys"),
    ("/docs/reference", "REST reference"),
    ("/docs/clients", "Ready clients"),
    ("/docs/mcp", "AI assistants"),
    ("/docs/paging", "Paging"),
    ("/docs/search", "Search"),
    ("/docs/score", "Peer score"),
    ("/docs/match", "Match"),
    ("/docs/limits", "Limits"),
    ("/docs/versions", "Versions"),
    ("/docs/errors", "Errors"),
];

const REFERENCE: &str = "Every endpoint, parameter and field of the REST API, with real answers.";

/// All pages of the docs, and the documents that the reference is made from, by path.
pub(crate) const PAGES: &[(&str, StaticEntry)] = &[
    ("/openapi/v1.json", StaticEntry::File(|base| document(Version::V1, base))),
    ("/openapi/v2.json", StaticEntry::File(|base| document(Version::V2, base))),
    ("/openapi/v3.json", StaticEntry::File(|base| document(Version::V3, base))),
    ("/docs/reference", page("Reference", REFERENCE, |base| reference::page(Version::V3, base))),
    ("/docs/reference/v1", page("Reference, v1", REFERENCE, |base| reference::page(Version::V1, base))),
    ("/docs/reference/v2", page("Reference, v2", REFERENCE, |base| reference::page(Version::V2, base))),
    ("/docs/reference/v3", page("Reference, v3", REFERENCE, |base| reference::page(Version::V3, base))),
    (
        "/docs/clients",
        page("Ready clients", "Programs in curl, Python, JavaScript and Rust that page through a list.", clients::page),
    ),
    ("/docs/clients/page_through.sh", StaticEntry::File(|_| clients::file(0))),
    ("/docs/clients/page_through.py", StaticEntry::File(|_| clients::file(1))),
    ("/docs/clients/page_through.mjs", StaticEntry::File(|_| clients::file(2))),
    ("/docs/clients/page_through.rs", StaticEntry::File(|_| clients::file(3))),
    (
        "/docs/mcp",
        page("AI assistants", "How to connect an AI assistant or editor by MCP; no key is needed.", mcp::page),
    ),
    ("/docs/errors", page("Errors", "Every error code, what it means and how to mend it.", |_| errors::page())),
    (
        "/docs",
        page("Docs", "How to ask VentureDex by REST and by MCP.", |base| text(include_str!("text/index.html"), base)),
    ),
    (
        "/docs/keys",
        page("Keys", "How to get an API key, how to send it, and what to do with a lost one.", |base| {
            text(include_str!("text/keys.html"), base)
        }),
    ),
    (
        "/docs/paging",
        page("Paging", "How to read a whole list, in each version.", |base| {
            text(include_str!("text/paging.html"), base)
        }),
    ),
    (
        "/docs/limits",
        page("Limits", "Requests a day, rows a page, and what else has a limit.", |base| {
            text(include_str!("text/limits.html"), base)
        }),
    ),
    (
        "/docs/versions",
        page("Versions", "How v1, v2 and v3 differ, and how to move on.", |base| {
            text(include_str!("text/versions.html"), base)
        }),
    ),
    (
        "/docs/search",
        page("Search", "What a search by name forgives, and how its results are ordered.", |base| {
            text(include_str!("text/search.html"), base)
        }),
    ),
    ("/docs/match", page("Match", "How firms that fit a startup are found and explained.", |_| matching::page())),
    (
        "/docs/score",
        page("The peer score", "How the peer score is computed, so that anyone can do it again.", |base| {
            text(include_str!("text/score.html"), base)
        }),
    ),
];

const fn page(title: &'static str, description: &'static str, body: fn(&str) -> String) -> StaticEntry {
    StaticEntry::Page { title, description, body }
}

/// A page that is a file; `{base}` in it stands for the address of the service.
fn text(body: &str, base: &str) -> String {
    body.replace("{base}", &html::escaped(base))
}

fn document(version: Version, base: &str) -> StaticAsset {
    // Texts, numbers and lists of them always have a JSON form.
    let text = serde_json::to_vec(&openapi::document(version, base)).unwrap_or_default();
    StaticAsset::new("application/json", text)
}
