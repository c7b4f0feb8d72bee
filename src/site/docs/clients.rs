//! Example clients that page through a full list. The tests run these files unchanged.

use askama::Template;

use crate::static_pages::DocsContext;
use transport::static_asset::StaticAsset;

pub struct ExampleClient {
    pub language: &'static str,
    pub requirements: &'static str,
    pub file: &'static str,
    pub command: &'static str,
    pub code: &'static str,
}

/// A client whose file is named by its extension.
macro_rules! client {
    ($language:literal, $requirements:literal, $run:literal, $extension:literal) => {
        ExampleClient {
            language: $language,
            requirements: $requirements,
            file: concat!("page_through.", $extension),
            command: concat!($run, " vcs 'stage=seed&country=DE'"),
            code: include_str!(concat!("clients/page_through.", $extension)),
        }
    };
}

pub const CLIENTS: [ExampleClient; 4] = [
    client!("curl", "curl, a POSIX shell and jq", "sh page_through.sh", "sh"),
    client!("Python", "Python 3.9 or later", "python3 page_through.py", "py"),
    client!("JavaScript", "Node 18 or later", "node page_through.mjs", "mjs"),
    client!("Rust", "the crates ureq 3 and serde_json 1", "cargo run --", "rs"),
];

#[derive(Template)]
#[template(path = "docs/clients.html")]
struct ClientsPage<'a> {
    base: &'a str,
    clients: &'a [ExampleClient],
}

pub(crate) fn file(client: &'static ExampleClient) -> StaticAsset {
    StaticAsset::new("text/plain; charset=utf-8", client.code)
}

pub(crate) fn page(context: &DocsContext<'_>) -> askama::Result<String> {
    ClientsPage { base: context.base, clients: &CLIENTS }.render()
}
