//! The docs and the OpenAPI documents.

pub(super) mod clients;
mod errors;
mod html;
mod matching;
pub(super) mod mcp;
mod reference;

use form_urlencoded::byte_serialize;

use crate::data::Table;
use crate::http::static_asset::StaticAsset;
use crate::openapi;
use crate::openapi::Version;
use crate::site::docs::clients::CLIENTS;
use crate::site::static_pages::{DocsContext, StaticEntry};

/// The docs in the order of their navigation.
pub(crate) const NAV_ITEMS: &[(&str, &str)] = &[
    ("/docs", "Getting started"),
    ("/docs/keys", "API keys"),
    ("/docs/reference", "REST reference"),
    ("/docs/clients", "Example clients"),
    ("/docs/mcp", "AI assistants"),
    ("/docs/paging", "Paging"),
    ("/docs/search", "Search"),
    ("/docs/score", "Peer score"),
    ("/docs/match", "Match"),
    ("/docs/limits", "Limits"),
    ("/docs/versions", "Versions"),
    ("/docs/errors", "Errors"),
    ("/docs/operation", "Operation"),
];

const REFERENCE: &str = "Every endpoint, parameter and field of the REST API, with example responses.";

/// All pages of the docs, and the documents that the reference is generated from, by path.
pub(crate) const PAGES: &[(&str, StaticEntry)] = &[
    ("/openapi/v1.json", StaticEntry::File(|context| document(Version::V1, context))),
    ("/openapi/v2.json", StaticEntry::File(|context| document(Version::V2, context))),
    ("/openapi/v3.json", StaticEntry::File(|context| document(Version::V3, context))),
    ("/docs/reference", page("REST reference", REFERENCE, |context| reference::page(Version::V3, context))),
    ("/docs/reference/v1", page("REST reference, v1", REFERENCE, |context| reference::page(Version::V1, context))),
    ("/docs/reference/v2", page("REST reference, v2", REFERENCE, |context| reference::page(Version::V2, context))),
    ("/docs/reference/v3", page("REST reference, v3", REFERENCE, |context| reference::page(Version::V3, context))),
    (
        "/docs/clients",
        page(
            "Example clients",
            "Programs in curl, Python, JavaScript and Rust that page through a list.",
            clients::page,
        ),
    ),
    ("/docs/clients/page_through.sh", StaticEntry::File(|_| clients::file(&CLIENTS[0]))),
    ("/docs/clients/page_through.py", StaticEntry::File(|_| clients::file(&CLIENTS[1]))),
    ("/docs/clients/page_through.mjs", StaticEntry::File(|_| clients::file(&CLIENTS[2]))),
    ("/docs/clients/page_through.rs", StaticEntry::File(|_| clients::file(&CLIENTS[3]))),
    (
        "/docs/mcp",
        page(
            "AI assistants",
            "How to connect an AI assistant or an editor through MCP. No key is required.",
            mcp::page,
        ),
    ),
    ("/docs/errors", page("Errors", "Every error code, what it means and how to fix it.", |_| errors::page())),
    (
        "/docs",
        page("Docs", "How to use the VentureDex REST API and MCP endpoint.", |c| {
            text(include_str!("text/index.html"), c)
        }),
    ),
    (
        "/docs/keys",
        page("API keys", "How to get an API key, how to send it, and what to do if you lose it.", |c| {
            text(include_str!("text/keys.html"), c)
        }),
    ),
    (
        "/docs/paging",
        page("Paging", "How to read a full list in each version of the API.", |c| {
            text(include_str!("text/paging.html"), c)
        }),
    ),
    (
        "/docs/limits",
        page("Limits", "Daily quotas, page sizes and other limits.", |c| text(include_str!("text/limits.html"), c)),
    ),
    (
        "/docs/versions",
        page("Versions", "How v1, v2 and v3 differ, and how to migrate.", |c| {
            text(include_str!("text/versions.html"), c)
        }),
    ),
    (
        "/docs/search",
        page("Search", "What a search by name tolerates, and how its results are ordered.", |c| {
            text(include_str!("text/search.html"), c)
        }),
    ),
    (
        "/docs/operation",
        page("Operation", "How to publish releases, manage accounts and keys, and run the server.", |c| {
            text(include_str!("text/operation.html"), c)
        }),
    ),
    ("/docs/match", page("Match", "How the firms that fit a startup are found and explained.", |_| matching::page())),
    (
        "/docs/score",
        page("Peer score", "How the peer score is computed, so that anyone can recompute it.", |c| {
            text(include_str!("text/score.html"), c)
        }),
    ),
];

const fn page(
    title: &'static str,
    description: &'static str,
    body: fn(&DocsContext<'_>) -> askama::Result<String>,
) -> StaticEntry {
    StaticEntry::Page { title, description, body }
}

/// A page that is a file: `{base}` is the address of the service, `{firm_query}` a firm's name to search for.
fn text(body: &str, context: &DocsContext<'_>) -> askama::Result<String> {
    let firm = context.catalog.example_name(Table::Firms);
    let query: String = byte_serialize(firm.as_bytes()).collect();
    Ok(body.replace("{base}", &html::escaped(context.base)).replace("{firm_query}", &query))
}

fn document(version: Version, context: &DocsContext<'_>) -> StaticAsset {
    let document = openapi::document(version, context.base, context.catalog);
    StaticAsset::new("application/json", serde_json::to_vec(&document).expect("an OpenAPI document has a JSON form"))
}
