//! The pages that answers lead to: where to begin, and what each error means.

use std::fmt::Write;

use super::State;
use super::problem::Code;

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
    <style>:root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;max-width:46rem;margin:3rem auto;\
    padding:0 1rem}code,pre{font-family:ui-monospace,monospace;font-size:.92em}pre{overflow-x:auto;padding:1rem;\
    border:1px solid #8884;border-radius:.4rem}h2{margin-top:2.5rem}dt{margin-top:1.5rem;font-weight:600}\
    dd{margin:0}.status{opacity:.7;font-weight:400}</style>";

/// `GET /`: what is served, and how to ask.
#[must_use]
pub fn start(state: &State) -> String {
    let catalog = state.live.current();
    let snapshot = catalog.snapshot();
    let counts = snapshot.counts();
    let (base, title) = (escaped(&state.public_url), escaped(snapshot.title()));
    format!(
        "{HEAD}<title>VentureDex</title><h1>VentureDex</h1><p>Ratings, peer scores, ghosting rates and profiles of \
         venture capital firms. Snapshot {version}: {firms} firms, {startups} startups, {rounds} funding rounds, {people} \
         people, {reviews} reviews.</p><p>{title}</p><h2>REST</h2><pre>curl -H \"Authorization: Bearer \
         $VENTUREDEX_KEY\" \"{base}/api/v3/vcs?q=capital&amp;limit=3\"</pre><p>Lists: \
         <code>/api/v3/vcs</code>, <code>reviews</code>, <code>sectors</code>, <code>leaderboard</code>, \
         <code>startups</code>, <code>funding-rounds</code>, <code>people</code>; v1 and v2 have the first four. \
         <a href=\"/docs/errors\">Errors</a>.</p><h2>MCP</h2><p>Endpoint <code>{base}/api/mcp</code>, no key needed; \
         <a href=\"/api/mcp/.well-known\">manifest</a>.</p>",
        version = snapshot.version(),
        firms = counts.firms,
        startups = counts.startups,
        rounds = counts.funding_rounds,
        people = counts.people,
        reviews = catalog.totals().reviews,
    )
}

/// `GET /docs/errors`: every error code, its status and its mend; each has an anchor of its name.
#[must_use]
pub fn errors() -> String {
    let mut page = format!(
        "{HEAD}<title>Errors · VentureDex</title><h1>Errors</h1><p>Errors are <code>application/problem+json</code> (RFC \
         9457): <code>type</code>, <code>title</code>, <code>status</code>, <code>detail</code>, <code>instance</code>, a \
         stable <code>code</code>, the <code>request_id</code>, and <code>errors</code> where parameters are at fault.\
         </p><dl>"
    );
    for code in Code::ALL {
        // Writing to a string does not fail.
        let _ = write!(
            page,
            "<dt id=\"{name}\"><code>{name}</code> <span class=\"status\">{status}</span></dt><dd>{text}</dd>",
            name = code.name(),
            status = code.status().as_u16(),
            text = marked(code.explanation()),
        );
    }
    page.push_str("</dl>");
    page
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text with `code` in backquotes as HTML.
fn marked(text: &str) -> String {
    let mut html = String::new();
    for (index, part) in text.split('`').enumerate() {
        if index % 2 == 1 {
            let _ = write!(html, "<code>{}</code>", escaped(part));
        } else {
            html.push_str(&escaped(part));
        }
    }
    html
}
