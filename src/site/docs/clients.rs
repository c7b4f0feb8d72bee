//! Ready clients that page through everything; the tests run them as they stand here.

use std::fmt::Write;

use crate::http::static_asset::StaticAsset;

use crate::site::docs::html::escaped;

/// A ready client.
pub struct Client {
    /// The language.
    pub language: &'static str,
    /// What it needs.
    pub needs: &'static str,
    /// The file's name.
    pub file: &'static str,
    /// How it is run.
    pub run: &'static str,
    /// The code.
    pub code: &'static str,
}

/// The ready clients.
pub const CLIENTS: [Client; 4] = [
    Client {
        language: "curl",
        needs: "curl, a POSIX shell and jq",
        file: "page_through.sh",
        run: "sh page_through.sh vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.sh"),
    },
    Client {
        language: "Python",
        needs: "Python 3.9 or later, nothing else",
        file: "page_through.py",
        run: "python3 page_through.py vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.py"),
    },
    Client {
        language: "JavaScript",
        needs: "Node 18 or later, nothing else",
        file: "page_through.mjs",
        run: "node page_through.mjs vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.mjs"),
    },
    Client {
        language: "Rust",
        needs: "the crates ureq 3 and serde_json 1",
        file: "page_through.rs",
        run: "cargo run -- vcs 'stage=seed&country=DE'",
        code: include_str!("clients/page_through.rs"),
    },
];

/// The file of a client, to download.
pub(crate) fn file(place: usize) -> StaticAsset {
    StaticAsset::new("text/plain; charset=utf-8", CLIENTS.get(place).map_or("", |client| client.code))
}

/// `GET /docs/clients`.
pub(crate) fn page(base: &str) -> String {
    let mut page = format!(
        "<h1>Ready clients</h1><p>Each prints every record of a list, one JSON line per record. They follow \
         <code>pagination.next_cursor</code> until it is <code>null</code>, wait where a 429 or a 503 says how long \
         (<code>Retry-After</code>; an hour at most, since a quota may only start anew at midnight), and begin again \
         where a cursor has expired (410), leaving out what they have printed already. Copy one, or take the file.</p>\
         <pre class=\"copy\">export VENTUREDEX_URL={}\nexport VENTUREDEX_KEY=vdx_…</pre>",
        escaped(base)
    );
    for client in &CLIENTS {
        let Client { language, needs, file, run, code } = client;
        // Writing to a string does not fail.
        let _ = write!(
            page,
            "<h2 id=\"{id}\">{language}</h2><p>Needs {needs}. <a href=\"/docs/clients/{file}\" download>{file}</a></p>\
             <pre class=\"copy\">{run}</pre><pre class=\"copy\">{code}</pre>",
            id = language.to_lowercase(),
            run = escaped(run),
            code = escaped(code),
        );
    }
    page
}
