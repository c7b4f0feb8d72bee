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

pub const CLIENTS: [ExampleClient; 4] = [
    ExampleClient {
        language: "curl",
        requirements: "curl, a POSIX shell and jq",
        file: "page_through.sh",
        command: "sh page_through.sh vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.sh"),
    },
    ExampleClient {
        language: "Python",
        requirements: "Python 3.9 or later",
        file: "page_through.py",
        command: "python3 page_through.py vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.py"),
    },
    ExampleClient {
        language: "JavaScript",
        requirements: "Node 18 or later",
        file: "page_through.mjs",
        command: "node page_through.mjs vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.mjs"),
    },
    ExampleClient {
        language: "Rust",
        requirements: "the crates ureq 3 and serde_json 1",
        file: "page_through.rs",
        command: "cargo run -- vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.rs"),
    },
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
