//! The first page.

use crate::web::State;

use super::frame::{escaped, framed};

/// `GET /`: what is served, and how to ask.
#[must_use]
pub fn start(state: &State) -> String {
    let catalog = state.live.current();
    let snapshot = catalog.snapshot();
    let counts = snapshot.counts();
    let (base, title) = (escaped(&state.public_url), escaped(snapshot.title()));
    let body = format!(
        "<h1>VentureDex</h1><p>Ratings, peer scores, ghosting rates and profiles of \
         venture capital firms. Snapshot {version}: {firms} firms, {startups} startups, {rounds} funding rounds, {people} \
         people, {reviews} reviews.</p><p>{title}</p><h2>REST</h2><pre>curl -H \"Authorization: Bearer \
         $VENTUREDEX_KEY\" \"{base}/api/v3/vcs?q=capital&amp;limit=3\"</pre><p>Lists: \
         <code>/api/v3/vcs</code>, <code>reviews</code>, <code>sectors</code>, <code>leaderboard</code>, \
         <code>startups</code>, <code>funding-rounds</code>, <code>people</code>; v1 and v2 have the first four. \
         <a href=\"/docs\">Docs</a>, <a href=\"/docs/reference\">reference</a>, <a href=\"/docs/clients\">ready \
         clients</a>, <a href=\"/docs/errors\">errors</a>.</p><h2>MCP</h2><p>Endpoint <code>{base}/api/mcp</code>, no key needed; \
         <a href=\"/docs/mcp\">how to connect an assistant</a>, <a href=\"/api/mcp/.well-known\">manifest</a>.</p>",
        version = snapshot.version(),
        firms = counts.firms,
        startups = counts.startups,
        rounds = counts.funding_rounds,
        people = counts.people,
        reviews = catalog.totals().reviews,
    );
    framed("VentureDex", "/", &body)
}
