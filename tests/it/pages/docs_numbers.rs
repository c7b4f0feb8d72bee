//! Numbers and names that pages of the docs have as text: those of the code.

use api::{DEFAULT_LIMIT, MAX_LIMIT, MAX_PAID_LIMIT};
use auth::RateLimitConfig;
use auth::quota::{Tier, Tiers};
use catalog::look_up::MAX_NAME_WORDS;
use data::derive::score::{DIMENSIONS, GHOSTING, METHOD, PUBLISHED_FROM, RANKED_FROM};
use data::import::csv_row::{MAX_LINE, MAX_TEXT, MAX_URL, MAX_VALUES};
use import::sources::{LIMITS, Limit, MEMORY_MIB};
use serde_json::json;

use crate::support::harness::{Client, Server, grouped};
use crate::support::html::parse;

/// A page with its tags, and a single space between words.
pub fn page(client: &Client, path: &str) -> String {
    let reply = client.get(path);
    assert_eq!(reply.status, 200, "{path}");
    parse(&reply.text).html().split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn assert_says(client: &Client, path: &str, texts: &[String]) {
    let page = page(client, path);
    for text in texts {
        assert!(page.contains(text.as_str()), "{path} does not say: {text}");
    }
}

fn or_unlimited(number: Option<u32>) -> String {
    number.map_or("unlimited".to_owned(), |number| grouped(number.into()))
}

#[test]
fn the_page_of_the_score_has_the_numbers_of_the_method() {
    let server = Server::bundled();
    let maxima = DIMENSIONS.into_iter().chain([GHOSTING]);
    let mut texts: Vec<String> =
        maxima.map(|(name, max)| format!("<tr><td><code>{name}</code></td><td>{max}</td>")).collect();
    texts.push(format!("<code>{METHOD}</code>"));
    texts.push(format!("published if <i>N</i> is at least {PUBLISHED_FROM}"));
    texts.push(format!("ranked if <i>N</i> is at least {RANKED_FROM}"));
    assert_says(&server.anonymous(), "/docs/score", &texts);
}

#[test]
fn the_docs_name_every_header_that_scripts_of_other_origins_see_and_send() {
    let server = Server::bundled();
    let (client, limits) = (server.anonymous(), page(&server.anonymous(), "/docs/limits"));
    let asks = [("origin", "https://example.com"), ("access-control-request-method", "GET")];
    let preflight = client.send("OPTIONS", "/api/v3/vcs", &asks);
    assert_eq!((preflight.status, preflight.header("access-control-max-age")), (204, "86400"));
    let reply = client.send("GET", "/api/v3/vcs", &asks[..1]);
    assert_eq!((reply.status, reply.header("access-control-allow-origin")), (401, "*"));
    for names in [preflight.header("access-control-allow-headers"), reply.header("access-control-expose-headers")] {
        assert!(!names.is_empty());
        for name in names.split(',') {
            assert!(limits.contains(&format!("<code>{}</code>", name.trim())), "{name}");
        }
    }
    assert_eq!(client.get("/vcs").header("access-control-allow-origin"), "");
}

#[test]
fn the_docs_have_the_limits_of_the_tiers() {
    let server = Server::bundled();
    let client = server.anonymous();
    let row = |cells: [&str; 3]| format!("<tr><td>{}</td><td>{}</td><td>{}</td></tr>", cells[0], cells[1], cells[2]);
    let (mut keys, mut limits) = (Vec::new(), Vec::new());
    for tier in Tier::ALL {
        let allowed = Tiers::default().of(tier);
        let (requests, allowed) = (or_unlimited(allowed.requests), or_unlimited(allowed.keys));
        keys.push(row([tier.name(), &allowed, &requests]));
        limits.push(row([tier.name(), &requests, &allowed]));
    }
    let new = Tier::Free.new_keys_per_day().unwrap();
    assert_eq!(Tier::Pro.new_keys_per_day(), Some(new));
    keys.push(format!("Free and pro accounts can create {new} keys per day"));
    let [free, pro, enterprise] = Tier::ALL.map(|tier| grouped(tier.watches().into()));
    limits.push(format!("{free} per account of the free tier, {pro} of pro, {enterprise} of enterprise"));
    let RateLimitConfig { pages_per_minute, sign_ups_per_hour } = RateLimitConfig::default();
    limits.push(format!("{pages_per_minute} requests per minute and {sign_ups_per_hour} sign-ups per hour"));
    limits.push(format!("<td>{MAX_NAME_WORDS}</td>"));
    assert_says(&client, "/docs/keys", &keys);
    assert_says(&client, "/docs/limits", &limits);
    let operation = [format!("create {new} keys per UTC day"), format!("{new} new keys per account and day")];
    assert_says(&client, "/docs/operation", &operation);
}

#[test]
fn the_docs_have_the_limits_of_lists_and_of_datasets() {
    let server = Server::bundled();
    let client = server.anonymous();
    let paging = [
        format!("A list returns {DEFAULT_LIMIT} records by default."),
        format!("up to {MAX_LIMIT}; a larger one returns {MAX_LIMIT}"),
        format!("may set it to {}.", grouped(MAX_PAID_LIMIT)),
        format!("<tr><td><code>limit</code></td><td>all</td><td>1</td><td>{DEFAULT_LIMIT}</td></tr>"),
    ];
    assert_says(&client, "/docs/paging", &paging);
    let [line, url, text, values] = [MAX_LINE, MAX_URL, MAX_TEXT, MAX_VALUES].map(|max| grouped(max as u64));
    let dataset = [
        format!("At most {line} characters in a slug"),
        format!("{url} in a website, {text} in a description"),
        format!("at most {values} values in a list"),
    ];
    assert_says(&client, "/docs/operation", &dataset);
}

#[test]
fn the_docs_have_the_limits_of_imports() {
    let server = Server::bundled();
    let row = |limit: &Limit| format!("<tr><td><code>{}</code></td><td>{}</td><td>", limit.name, limit.amount());
    let mut texts: Vec<String> = LIMITS.iter().map(|limit| row(limit)).collect();
    texts.push(format!("may use <code>--max-memory</code> MiB ({MEMORY_MIB})"));
    assert_says(&server.anonymous(), "/docs/operate/import", &texts);
    let page = page(&server.anonymous(), "/docs/operate/import");
    let table = page.split("<th>At most</th>").nth(1).unwrap().split("</table>").next().unwrap();
    assert_eq!(table.matches("<tr><td>").count(), LIMITS.len());
}

#[test]
fn the_docs_have_the_protocol_of_the_manifest() {
    let server = Server::bundled();
    let client = server.anonymous();
    let manifest = client.get("/api/mcp/.well-known").json();
    let revisions = manifest["protocolVersions"].as_array().unwrap();
    let mut texts: Vec<String> = revisions.iter().map(|revision| revision.as_str().unwrap().to_owned()).collect();
    texts.push(format!("Each network address may make {} tool calls per day", manifest["limits"]["toolCallsPerDay"]));
    for limit in ["maxRequestBytes", "maxResultTextBytes"] {
        assert!(manifest["limits"][limit].is_u64(), "{limit}");
        texts.push(format!("<code>limits.{limit}</code>"));
    }
    assert_says(&client, "/docs/mcp", &texts);
    for (status, code, body) in [
        (200, -32602, r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_tool","arguments":{}}}"#),
        (400, -32602, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[]}"#),
        (200, -32601, r#"{"jsonrpc":"2.0","id":1,"method":"tools/lst"}"#),
        (400, -32700, "{"),
        (400, -32600, "[]"),
        (400, -32600, r#"{"id":1,"method":"tools/list"}"#),
    ] {
        let reply = client.post("/api/mcp", body);
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (status, &json!(code)), "{body}");
    }
}
