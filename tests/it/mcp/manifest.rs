//! The manifest and its index.

use mcp::McpPath;
use serde_json::json;

use super::endpoint::Endpoint;
use super::request::{Era, request};

#[tokio::test]
async fn the_manifest_and_the_card_describe_the_endpoint() {
    let endpoint = Endpoint::new();
    let get = request(Era::Minimal, "", json!({})).method("GET").body("");
    let manifest = get.send_to("/api/mcp/.well-known", &endpoint).await;
    assert_eq!((manifest.status, manifest.header("content-type")), (200, "application/json"));
    assert_eq!(manifest.header("access-control-allow-origin"), "*");
    assert_eq!(manifest.header("x-ratelimit-limit"), "100");
    let described = manifest.json();
    assert_eq!(described["endpoint"], "http://127.0.0.1:8080/api/mcp");
    assert_eq!(described["protocolVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]));
    assert_eq!(described["limits"]["toolCallsPerDay"], 100);
    let listed = request(Era::Minimal, "tools/list", json!({})).send(&endpoint).await.json();
    assert_eq!(described["tools"], listed["result"]["tools"]);
    assert_eq!(described["documentationUrl"], "http://127.0.0.1:8080/docs/mcp");

    let card = get.send_to("/api/mcp/server-card", &endpoint).await;
    assert_eq!(get.send_to("/.well-known/mcp/server-card.json", &endpoint).await.body, card.body);
    let described = card.json();
    let schema = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";
    assert_eq!((&described["$schema"], &described["name"]), (&json!(schema), &json!("127.0.0.1/venturedex")));
    assert!(described["description"].as_str().unwrap().len() <= 100);
    assert_eq!(described["remotes"][0]["url"], "http://127.0.0.1:8080/api/mcp");
    assert!(described.get("tools").is_none() && described.get("limits").is_none(), "{described}");
    let catalog = get.send_to("/.well-known/ai-catalog.json", &endpoint).await;
    assert_eq!(catalog.header("access-control-allow-origin"), "*");
    let conditional = get.clone().with("if-none-match", catalog.header("etag"));
    assert_eq!(conditional.send_to("/.well-known/ai-catalog.json", &endpoint).await.status, 304);
    let index = catalog.json();
    assert_eq!(index["entries"][0]["url"], "http://127.0.0.1:8080/api/mcp/server-card");
    let as_card = get.clone().with("accept", "application/mcp-server-card+json");
    let as_card = as_card.send_to("/api/mcp/server-card", &endpoint).await;
    assert_eq!(as_card.header("content-type"), "application/mcp-server-card+json");
    let known = get.clone().with("if-none-match", card.header("etag"));
    let known = known.send_to("/api/mcp/server-card", &endpoint).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), card.header("etag"));
    let posted = get.clone().method("POST").send_to("/api/mcp/.well-known", &endpoint).await;
    assert_eq!((posted.status, posted.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(McpPath::parse("/api/mcp/nothing"), None);
}

#[tokio::test]
async fn browsers_may_send_a_preflight() {
    let endpoint = Endpoint::new();
    let preflight =
        request(Era::Minimal, "", json!({})).method("OPTIONS").body("").with("origin", "https://inspector.test");
    let reply = preflight.send(&endpoint).await;
    assert_eq!((reply.status, reply.header("allow")), (204, "POST, OPTIONS"));
    assert!(reply.header("access-control-allow-headers").contains("MCP-Protocol-Version"));
    assert!(reply.header("access-control-expose-headers").contains("X-RateLimit-Remaining"));
}
