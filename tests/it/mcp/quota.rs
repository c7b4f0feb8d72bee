//! What is counted, and what the responses report.

use serde_json::json;

use super::endpoint::{Endpoint, LIMIT};
use super::request::{Era, call, initialize, request};

#[tokio::test]
async fn only_tool_calls_are_counted() {
    let endpoint = Endpoint::new();
    let read = |uri: &str| request(Era::Minimal, "resources/read", json!({ "uri": uri }));
    let search = || call("search_vcs", json!({}));
    for (request, count) in [
        (request(Era::Minimal, "tools/list", json!({})), 0),
        (request(Era::Minimal, "initialize", initialize("2025-11-25")), 0),
        (request(Era::Minimal, "tools/call", search()).replaced(r#""id":7,"#, ""), 0),
        (request(Era::Minimal, "tools/call", search()).with("host", "evil.test"), 0),
        (request(Era::Minimal, "tools/call", search()), 1),
        // Refused arguments, unknown tools and invalid parameters.
        (request(Era::Minimal, "tools/call", call("search_vcs", json!({ "limit": "many" }))), 1),
        (request(Era::Minimal, "tools/call", call("search_vcs", json!({ "sector": "fintec" }))), 1),
        (request(Era::Minimal, "tools/call", call("no_such_tool", json!({}))), 1),
        (request(Era::Minimal, "tools/call", call("search_vcs", json!([1]))), 1),
        (request(Era::July2026, "tools/call", search()), 2),
        (request(Era::Minimal, "tools/list", json!({})), 2),
        // Reading a firm is the work of a tool.
        (read("venturedex://sectors"), 2),
        (read("venturedex://vcs/alder-capital"), 3),
        (read("venturedex://vcs/no-such-firm"), 3),
    ] {
        let reply = request.send(&endpoint).await;
        assert_eq!(reply.header("x-ratelimit-remaining"), (LIMIT - count).to_string(), "{request:?}");
    }
}

#[tokio::test]
async fn an_exceeded_quota_is_an_error_and_other_methods_stay_free() {
    let endpoint = Endpoint::new();
    let stats = request(Era::Minimal, "tools/call", call("get_platform_stats", json!({})));
    for used in 1..=LIMIT {
        let reply = stats.send(&endpoint).await;
        let left = LIMIT - used;
        assert_eq!((reply.status, reply.header("x-ratelimit-remaining")), (200, &*left.to_string()));
        let result = &reply.json()["result"]["structuredContent"];
        let note = (left <= 10).then(|| result["notes"][0].as_str().unwrap().to_owned());
        assert_eq!(result.get("notes").is_some(), note.is_some(), "{left}");
        if let Some(note) = note {
            assert!(note.starts_with(&format!("{left} tool call")) && note.contains("/account"), "{note}");
        }
    }
    let rejected = stats.send(&endpoint).await;
    assert_eq!(rejected.status, 429);
    assert_eq!(rejected.header("x-ratelimit-remaining"), "0");
    assert_ne!(rejected.header("retry-after"), "");
    let error = rejected.json();
    assert_eq!(error["error"]["code"], 1429);
    assert_eq!(error["error"]["data"]["account_url"], "http://127.0.0.1:8080/account");
    let message = error["error"]["message"].as_str().unwrap();
    assert!(
        message.contains("http://127.0.0.1:8080/account") && message.contains("Authorization: Bearer"),
        "{message}"
    );
    assert_eq!((&error["id"], &error["error"]["data"]["code"]), (&json!(7), &json!("quota_exceeded")));
    assert_eq!(request(Era::Minimal, "tools/list", json!({})).send(&endpoint).await.status, 200);
}

#[tokio::test]
async fn long_responses_are_compressed_for_clients_that_accept_it() {
    let endpoint = Endpoint::new();
    let search = request(Era::Minimal, "tools/call", call("search_vcs", json!({})));
    let plain = search.send(&endpoint).await;
    assert_eq!((plain.header("content-encoding"), plain.header("vary")), ("", "Accept-Encoding"));
    let packed = search.clone().with("accept-encoding", "gzip, br").send(&endpoint).await;
    assert_eq!((packed.header("content-encoding"), packed.json()), ("gzip", plain.json()));
    let short = request(Era::Minimal, "ping", json!({})).with("accept-encoding", "gzip").send(&endpoint).await;
    assert_eq!((short.status, short.header("content-encoding")), (200, ""));
}
