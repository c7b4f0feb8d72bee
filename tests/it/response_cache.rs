//! Cached responses: the same as computed ones except for what belongs to the caller, and never of another release.

use std::sync::Arc;

use http::HeaderMap;
use venturedex::quota::Tier;

use crate::harness::{Server, bundled_folder, catalog_of, copy_as};

/// The headers that are the same for every caller at any time.
fn constant(headers: &HeaderMap) -> Vec<(String, String)> {
    let own = ["x-request-id", "date", "x-ratelimit-remaining", "x-ratelimit-limit", "ratelimit", "ratelimit-policy"];
    let named = headers.iter().map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let mut constant: Vec<(String, String)> = named.filter(|(name, _)| !own.contains(&name.as_str())).collect();
    constant.sort();
    constant
}

#[test]
fn a_cached_response_equals_the_computed_one() {
    let server = Server::bundled();
    let (first, second) = (server.client(Tier::Enterprise), server.client(Tier::Pro));
    for path in [
        "/api/v1/vcs?limit=3&stage=seed",
        "/v2/reviews?limit=2&page=3",
        "/api/v3/vcs?limit=4&sort=-investment_count&fields=name,slug,healthScore,country,stages",
        "/api/v3/vcs?q=capitl&explain=1",
        "/api/v3/startups?country=DE&limit=50",
        "/api/v3/vcs/facets?stage=seed",
        "/api/v3/stats",
        "/api/v3/suggest?q=al",
        "/api/v3/leaderboard?limit=100",
    ] {
        let before = server.state.response_cache.bytes();
        let made = first.get(path);
        assert_eq!(made.status, 200, "{path}: {}", made.text);
        assert_eq!(server.state.response_cache.bytes(), before, "{path}: cached at its first request");
        for _ in 0..2 {
            let again = second.get(path);
            assert_eq!(again.text, made.text, "{path}");
            assert_eq!(constant(&again.headers), constant(&made.headers), "{path}");
            assert_ne!(again.header("x-request-id"), made.header("x-request-id"), "{path}");
        }
        assert!(server.state.response_cache.bytes() > before, "{path}");
        let packed = second.send("GET", path, &[("accept-encoding", "gzip")]);
        assert_eq!(packed.text, made.text, "{path}");
        let again = second.send("GET", path, &[("if-none-match", made.header("etag"))]);
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{path}");
        assert_eq!(second.send("GET", path, &[("accept", "text/html")]).status, 406, "{path}");
        assert_eq!(second.send("POST", path, &[]).status, 405, "{path}");
        let head = second.send("HEAD", path, &[]);
        assert_eq!((head.status, head.text.as_str()), (200, ""), "{path}");
        assert_eq!(head.header("content-length"), made.text.len().to_string(), "{path}");
    }
}

#[test]
fn a_cached_response_is_counted() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let remaining = |_| client.get("/api/v3/vcs?limit=1").header("x-ratelimit-remaining").to_owned();
    assert_eq!((0..3).map(remaining).collect::<Vec<_>>(), ["99", "98", "97"]);
    (0..97).for_each(|_| assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200));
    assert_eq!(client.get("/api/v3/vcs?limit=1").status, 429);
    assert_eq!(server.anonymous().get("/api/v3/vcs?limit=1").status, 401);
}

#[test]
fn a_new_release_has_its_own_responses() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let path = "/api/v3/vcs?limit=3";
    let before = client.get(path);
    assert_eq!(client.get(path).text, before.text);
    let folder = copy_as(&bundled_folder(), "2026-12-24.7");
    server.state.releases.replace(Arc::new(catalog_of(folder.path())));
    let after = client.get(path);
    assert_eq!(after.header("x-snapshot"), "2026-12-24.7");
    assert_eq!(after.json()["meta"]["snapshot"], "2026-12-24.7");
    assert_ne!(after.header("etag"), before.header("etag"));
    assert_eq!(client.send("GET", path, &[("if-none-match", before.header("etag"))]).status, 200);
}
