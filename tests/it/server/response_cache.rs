//! Cached responses: the same as computed ones except for what belongs to the caller, and never of another release.

use std::sync::Arc;

use auth::quota::Tier;
use http::HeaderMap;

use crate::support::harness::{Server, catalog_of, copy_as};
use crate::support::installation::small;

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
fn a_cached_page_equals_the_rendered_one() {
    let server = Server::bundled();
    let client = server.anonymous();
    for path in [
        "/",
        "/?q=aldr",
        "/vcs?stage=seed&page=2",
        "/vcs/alder-capital",
        "/vcs/alder-capital/reviews",
        "/startups",
        "/people",
        "/rounds?country=DE",
        "/sectors",
        "/markets",
        "/countries/de/seed",
        "/match?stage=seed&country=US",
        "/compare?firm=alder-capital",
    ] {
        let colors = ["", "theme=dark", "theme=light"];
        let made: Vec<_> = colors.iter().map(|theme| client.send("GET", path, &[("cookie", theme)])).collect();
        let before = server.state.response_cache.hits();
        for _ in 0..2 {
            for (theme, made) in colors.iter().zip(&made) {
                assert_eq!(made.status, 200, "{path}");
                let again = client.send("GET", path, &[("cookie", theme)]);
                assert_eq!(again.text, made.text, "{path} {theme}");
                assert_eq!(constant(&again.headers), constant(&made.headers), "{path} {theme}");
                let packed = client.send("GET", path, &[("cookie", theme), ("accept-encoding", "gzip")]);
                assert_eq!(packed.text, made.text, "{path} {theme}");
                let known = client.send("GET", path, &[("cookie", theme), ("if-none-match", made.header("etag"))]);
                assert_eq!((known.status, known.text.as_str()), (304, ""), "{path} {theme}");
                assert_eq!(client.send("HEAD", path, &[("cookie", theme)]).text, "", "{path} {theme}");
            }
        }
        assert!(server.state.response_cache.hits() >= before + 15, "{path} is not cached");
        assert_ne!(made[0].header("etag"), made[1].header("etag"), "{path}");
    }
}

#[test]
fn a_page_of_a_new_release_and_one_over_the_limit_are_not_those_of_the_cache() {
    let server = Server::allowing(30, 1);
    let client = server.anonymous();
    let before = (0..3).map(|_| client.get("/vcs").text).next_back().unwrap();
    let folder = copy_as(&small(), "2026-12-24.7");
    server.state.releases.replace(Arc::new(catalog_of(folder.path())));
    let after = client.get("/vcs").text;
    assert!(after.contains("2026-12-24.7") && !before.contains("2026-12-24.7"));
    // A cached page counts as any other.
    let statuses: Vec<u16> = (0..30).map(|_| client.get("/vcs").status).collect();
    assert_eq!((statuses[0], statuses[29]), (200, 429));
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
    let folder = copy_as(&small(), "2026-12-24.7");
    server.state.releases.replace(Arc::new(catalog_of(folder.path())));
    let after = client.get(path);
    assert_eq!(after.header("x-snapshot"), "2026-12-24.7");
    assert_eq!(after.json()["meta"]["snapshot"], "2026-12-24.7");
    assert_ne!(after.header("etag"), before.header("etag"));
    assert_eq!(client.send("GET", path, &[("if-none-match", before.header("etag"))]).status, 200);
}
