//! Health and readiness.

use crate::support::harness::Server;

#[test]
fn health_and_readiness_are_reported() {
    let server = Server::bundled();
    let nobody = server.anonymous();
    assert_eq!(nobody.get("/healthz").text, "ok\n");
    assert_eq!(nobody.get("/readyz").json()["snapshot"], "2026-11-20.1");
    assert!(nobody.get("/").text.contains("/api/mcp"));
    assert_eq!(nobody.send("POST", "/healthz", &[]).status, 405);
}
