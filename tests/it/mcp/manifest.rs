//! The manifest and its index.

use serde_json::json;
use venturedex::mcp::McpPath;

use super::endpoint::Endpoint;
use super::request::{Era, request};

#[tokio::test]
async fn the_manifest_is_the_same_at_all_its_paths() {
    let endpoint = Endpoint::new();
    let get = request(Era::Minimal, "", json!({})).method("GET").body("");
    let manifest = get.send_to("/api/mcp/.well-known", &endpoint).await;
    assert_eq!((manifest.status, manifest.header("content-type")), (200, "application/json"));
    assert_eq!(manifest.header("access-control-allow-origin"), "*");
    assert_eq!(manifest.header("x-ratelimit-limit"), "100");
    let card = manifest.json();
    assert_eq!(card["endpoint"], "http://127.0.0.1:8080/api/mcp");
    assert_eq!(card["protocolVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]));
    assert_eq!(card["name"], "127.0.0.1/venturedex");
    assert!(card["description"].as_str().unwrap().len() <= 100);
    assert_eq!(card["limits"]["toolCallsPerDay"], 100);
    let listed = request(Era::Minimal, "tools/list", json!({})).send(&endpoint).await.json();
    assert_eq!(card["tools"], listed["result"]["tools"]);
    for path in ["/api/mcp/server-card", "/.well-known/mcp/server-card.json"] {
        assert_eq!(get.send_to(path, &endpoint).await.body, manifest.body, "{path}");
    }
    assert_eq!(card["documentationUrl"], "http://127.0.0.1:8080/docs/mcp");
    let catalog = get.send_to("/.well-known/ai-catalog.json", &endpoint).await;
    assert_eq!(catalog.header("access-control-allow-origin"), "*");
    let conditional = get.clone().with("if-none-match", catalog.header("etag"));
    assert_eq!(conditional.send_to("/.well-known/ai-catalog.json", &endpoint).await.status, 304);
    let index = catalog.json();
    assert_eq!(index["entries"][0]["url"], "http://127.0.0.1:8080/api/mcp/server-card");
    let as_card = get.clone().with("accept", "application/mcp-server-card+json");
    let as_card = as_card.send_to("/api/mcp/server-card", &endpoint).await;
    assert_eq!(as_card.header("content-type"), "application/mcp-server-card+json");
    let known = get.clone().with("if-none-match", manifest.header("etag"));
    let known = known.send_to("/api/mcp/server-card", &endpoint).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), manifest.header("etag"));
    let posted = get.clone().method("POST").send_to("/api/mcp/.well-known", &endpoint).await;
    assert_eq!((posted.status, posted.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(McpPath::of("/api/mcp/nothing"), None);
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
