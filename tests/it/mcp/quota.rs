//! What is counted, and what the responses report.

use serde_json::json;

use super::endpoint::{Endpoint, LIMIT};
use super::request::{Era, call, initialize, request};

#[tokio::test]
async fn only_tool_calls_are_counted() {
    let endpoint = Endpoint::new();
    let search = || call("search_vcs", json!({}));
    for (request, count) in [
        (request(Era::Minimal, "tools/list", json!({})), 0),
        (request(Era::Minimal, "initialize", initialize("2025-11-25")), 0),
        (request(Era::Minimal, "tools/call", search()).replaced(r#""id":7,"#, ""), 0),
        (request(Era::Minimal, "tools/call", search()).with("host", "evil.test"), 0),
        (request(Era::Minimal, "tools/call", search()), 1),
        (request(Era::Minimal, "tools/call", call("search_vcs", json!({ "limit": 0 }))), 2),
        (request(Era::Minimal, "tools/call", call("no_such_tool", json!({}))), 3),
        (request(Era::July2026, "tools/call", search()), 4),
        (request(Era::Minimal, "tools/list", json!({})), 4),
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
        assert_eq!((reply.status, reply.header("x-ratelimit-remaining")), (200, &*(LIMIT - used).to_string()));
    }
    let rejected = stats.send(&endpoint).await;
    assert_eq!(rejected.status, 429);
    assert_eq!(rejected.header("x-ratelimit-remaining"), "0");
    assert_ne!(rejected.header("retry-after"), "");
    let error = rejected.json();
    assert_eq!((&error["id"], &error["error"]["data"]["code"]), (&json!(7), &json!("quota_exceeded")));
    assert_eq!(request(Era::Minimal, "tools/list", json!({})).send(&endpoint).await.status, 200);
}
