//! What is counted, and what is told of it.

use std::sync::atomic::Ordering;

use serde_json::json;

use super::ask::{Era, ask, call, initialize};
use super::sample::{LIMIT, endpoint};

#[tokio::test]
async fn only_calls_of_tools_are_counted_and_faults_of_ours_are_given_back() {
    let (endpoint, used) = endpoint();
    for (ask, count) in [
        (ask(Era::ConnectionError, "tools/list", json!({})), 0),
        (ask(Era::ConnectionError, "initialize", initialize("2025-11-25")), 0),
        (ask(Era::ConnectionError, "tools/call", call("search_vcs", json!({}))).replaced(r#""id":7,"#, ""), 0),
        (ask(Era::ConnectionError, "tools/call", call("search_vcs", json!({}))).with("host", "evil.test"), 0),
        (ask(Era::ConnectionError, "tools/call", call("search_vcs", json!({}))), 1),
        (ask(Era::ConnectionError, "tools/call", call("search_vcs", json!({ "limit": 0 }))), 2),
        (ask(Era::ConnectionError, "tools/call", call("no_such_tool", json!({}))), 3),
        (ask(Era::July2026, "tools/call", call("search_vcs", json!({}))), 4),
    ] {
        let reply = ask.send(&endpoint).await;
        assert_eq!(used.load(Ordering::Relaxed), count, "{ask:?}");
        assert_eq!(reply.header("x-ratelimit-remaining"), (LIMIT - count).to_string(), "{ask:?}");
    }
    let params = call("search_vcs", json!({ "query": "panic" }));
    let reply = ask(Era::ConnectionError, "tools/call", params).send(&endpoint).await;
    assert_eq!((reply.status, &reply.json()["error"]["code"]), (500, &json!(-32603)));
    assert_eq!(reply.json()["id"], 7);
    assert_eq!(reply.header("x-ratelimit-remaining"), "96");
    assert_eq!(used.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_used_up_quota_is_told_and_other_methods_stay_free() {
    let (endpoint, used) = endpoint();
    used.store(LIMIT - 1, Ordering::Relaxed);
    let ask_stats = ask(Era::ConnectionError, "tools/call", call("get_platform_stats", json!({})));
    assert_eq!(ask_stats.send(&endpoint).await.status, 200);
    let refused = ask_stats.send(&endpoint).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    let error = refused.json();
    assert_eq!((&error["id"], &error["error"]["data"]["code"]), (&json!(7), &json!("quota_exceeded")));
    assert_eq!(ask(Era::ConnectionError, "tools/list", json!({})).send(&endpoint).await.status, 200);
}
