//! Whole requests to a running service with the bundled dataset: none may be a 5xx, and each error says what is wrong.

use std::io::ErrorKind;
use std::sync::OnceLock;

use auth::quota::Tier;
use catalog::{ParseOptions, Resource};
use data::ReviewStatus;
use http::HeaderValue;
use serde_json::Value;

use super::split;
use crate::support::harness::{Client, Reply, Server, agent_without_redirects};

const PASSWORD: &str = "seven quiet herons";

struct Service {
    server: Server,
    client: Client,
}

fn running() -> &'static Service {
    static SERVICE: OnceLock<Service> = OnceLock::new();
    SERVICE.get_or_init(|| {
        let server = Server::bundled();
        let client = server.client(Tier::Enterprise);
        Service { client: Client { agent: agent_without_redirects(), ..client }, server }
    })
}

/// The service that all targets send requests to.
pub(super) fn service() -> &'static Server {
    &running().server
}

/// Sends a request with an unlimited key, unless it has an `Authorization` of its own. A 5xx fails.
pub(super) fn ask(method: &str, path: &str, headers: &[(&'static str, HeaderValue)], body: &[u8]) -> Reply {
    let Service { client, .. } = running();
    let mut request = http::Request::builder().method(method).uri(format!("{}{path}", client.base));
    if !headers.iter().any(|(name, _)| *name == "authorization" || *name == "cookie") {
        request = request.header("authorization", format!("Bearer {}", client.key.as_deref().unwrap_or_default()));
    }
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let request = request.body(body).expect("a request");
    let send = || -> Result<Reply, ureq::Error> {
        let mut response = client.agent.run(request.clone())?;
        let bytes = response.body_mut().with_config().limit(64 << 20).read_to_vec()?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Reply { status: response.status().as_u16(), headers: response.headers().clone(), text })
    };
    let reply = loop {
        match send() {
            // By the timer of libFuzzer.
            Err(ureq::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => {}
            sent => break sent.expect("a response"),
        }
    };
    assert!(reply.status < 500, "{method} {path}: {} {}", reply.status, reply.text);
    reply
}

/// Bytes as a part of a URL; what separates parameters and values stays.
pub(super) fn encoded(bytes: &[u8]) -> String {
    let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~=&+%,:;@!$'()*/?".contains(&byte);
    bytes
        .iter()
        .map(|byte| if is_kept(*byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

const PATHS: [&str; 24] = [
    "v3/vcs",
    "v3/startups",
    "v3/funding-rounds",
    "v3/people",
    "v3/reviews",
    "v3/sectors",
    "v3/leaderboard",
    "v3/match",
    "v3/suggest",
    "v3/stats",
    "v3/vcs/facets",
    "v3/vcs/aggregate",
    "v3/funding-rounds/aggregate",
    "v3/startups/aggregate",
    "v2/vcs",
    "v2/startups",
    "v2/reviews",
    "v2/leaderboard",
    "v1/vcs",
    "v1/startups",
    "v1/people",
    "v1/funding-rounds",
    "vcs",
    "startups",
];

/// The first byte chooses a list, an aggregate or a page; the others are its query.
pub fn parameters(bytes: &[u8]) {
    let (place, query) = split(bytes);
    let path = PATHS[place % PATHS.len()];
    let api = if path.starts_with('v') && path.as_bytes()[1].is_ascii_digit() { "/api" } else { "" };
    let query = encoded(&query[..query.len().min(6_000)]);
    let reply = ask("GET", &format!("{api}/{path}?{query}"), &[], &[]);
    if !api.is_empty() {
        let json = reply.json();
        if reply.status >= 400 {
            assert!(
                json["code"].is_string() || json["error"].is_object() || json["error"].is_string(),
                "{path}?{query}: {json}"
            );
        } else if let Some(rows) = json["data"].as_array().filter(|_| path.starts_with("v3/")) {
            let total = json["meta"]["total"].as_u64().or(json["pagination"]["total"].as_u64());
            assert!(total.is_none_or(|total| rows.len() as u64 <= total), "{path}?{query}: {total:?} < {}", rows.len());
        }
    }
    canonical_parameters_mean_the_same(place, &query);
}

/// Every list.
pub(super) const LISTS: [Resource; 6] =
    [Resource::Firms, Resource::Startups, Resource::Rounds, Resource::People, Resource::Reviews, Resource::Sectors];

/// What is parsed prints itself as canonical names and values, which parse to the same request and print the same again.
fn canonical_parameters_mean_the_same(place: usize, query: &str) {
    let resource = LISTS[place % LISTS.len()];
    let options = ParseOptions { strict: true, review_statuses: &[ReviewStatus::Approved], other_names: &[] };
    let catalog = service().state.releases.current();
    let values: Vec<(String, String)> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let Ok(parsed) = catalog.parse(resource, &values, options) else { return };
    let printed: Vec<_> = parsed.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    match catalog.parse(resource, &printed, options) {
        Ok(again) => {
            assert_eq!(again.canonical, parsed.canonical, "{resource:?} {query}");
            assert_eq!(again.request, parsed.request, "{resource:?} {query}");
        }
        Err(_) => panic!("{resource:?} {query}: {printed:?} is refused"),
    }
}

/// A body of the MCP endpoint.
pub fn json_rpc(body: &[u8]) {
    let headers = [("content-type", HeaderValue::from_static("application/json"))];
    let reply = ask("POST", "/api/mcp", &headers, body);
    if reply.status == 202 {
        assert_eq!(reply.text, "");
        return;
    }
    let json = reply.json();
    // The responses to a batch are a list.
    for json in json.as_array().unwrap_or(&vec![json.clone()]) {
        assert_eq!(json["jsonrpc"], "2.0", "{json}");
        assert!(json["error"].is_object() != json.get("result").is_some(), "{json}");
        assert_ne!(json["error"]["code"], -32603, "{json}");
    }
    // A response has the id of its request.
    if let Ok(Value::Object(sent)) = serde_json::from_slice(body)
        && json.get("result").is_some()
    {
        assert_eq!(sent.get("id"), json.get("id"), "{json}");
    }
}

const FORMS: [&str; 16] = [
    "/signin",
    "/signup",
    "/signin/code",
    "/signin/link",
    "/signin/open",
    "/account/keys",
    "/account/password",
    "/account/totp/setup",
    "/account/totp/enable",
    "/account/totp/codes",
    "/account/keys/1/rotate",
    "/account/keys/1/revoke",
    "/account/sessions/9/end",
    "/verify",
    "/reset",
    "/reset/password",
];

/// The cookie of an account that is signed in.
fn session() -> &'static HeaderValue {
    static SESSION: OnceLock<HeaderValue> = OnceLock::new();
    SESSION.get_or_init(|| {
        let body = format!("email=ada@example.com&password={}", PASSWORD.replace(' ', "+"));
        let reply = post_form("/signup", &service_origin(), "a=b", body.as_bytes());
        let cookie = reply.headers["set-cookie"].to_str().expect("ASCII").split(';').next().unwrap_or_default();
        HeaderValue::from_str(cookie).expect("a cookie")
    })
}

fn service_origin() -> String {
    running().client.base.clone()
}

fn post_form(path: &str, origin: &str, cookie: &str, body: &[u8]) -> Reply {
    let header = |text: &str| HeaderValue::from_str(text).expect("ASCII");
    let headers = [
        ("content-type", header("application/x-www-form-urlencoded")),
        ("origin", header(origin)),
        ("cookie", header(cookie)),
    ];
    ask("POST", path, &headers, body)
}

/// The first byte chooses a form and whether a page of another site sends it, which is refused whatever it says.
pub fn form(bytes: &[u8]) {
    let (place, body) = split(bytes);
    let cookie = session().to_str().expect("ASCII");
    let path = FORMS[place % FORMS.len()];
    if place / FORMS.len() % 4 == 3 {
        let reply = post_form(path, "https://evil.example", cookie, body);
        assert_eq!(reply.status, 403, "{path}");
        return;
    }
    let reply = post_form(path, &service_origin(), cookie, body);
    assert!(!reply.text.contains(PASSWORD), "{path} repeats a password");
}
