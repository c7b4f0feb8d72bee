//! REST over HTTP: methods, headers, caching and compression, also as bytes on the wire.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use auth::quota::Tier;

use crate::pages::docs_numbers::page;
use crate::support::harness::Server;

/// A response as received.
struct Received {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

/// Sends bytes on a connection of their own and reads to the end.
fn send(server: &Server, bytes: &str) -> Received {
    let mut socket = TcpStream::connect(server.address).unwrap();
    socket.write_all(bytes.as_bytes()).unwrap();
    let mut read = Vec::new();
    socket.read_to_end(&mut read).unwrap();
    let text = String::from_utf8(read).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no response: {text}"));
    let headers = head.lines().skip(1).map(|line| {
        let (name, value) = line.split_once(": ").unwrap();
        (name.to_lowercase(), value.to_owned())
    });
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Received { status, headers: headers.collect(), body: body.to_owned() }
}

fn request(method: &str, path: &str, headers: &str) -> String {
    format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n")
}

const EVERYWHERE: [&str; 6] = [
    "x-ratelimit-limit",
    "x-ratelimit-remaining",
    "x-ratelimit-reset",
    "x-request-id",
    "access-control-allow-origin",
    "access-control-expose-headers",
];

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let server = Server::bundled();
    let key = server.client(Tier::Enterprise).key.unwrap();
    for path in [
        "/api/v1/vcs?limit=2",
        "/api/v2/reviews?limit=3",
        "/api/v3/vcs?limit=100",
        "/api/v3/vcs/alder-capital",
        "/api/v3/vcs/facets",
        "/api/v3/usage",
        "/api/v3/vcs?foo=1",
        "/api/v3/nowhere",
        "/v1/sectors",
    ] {
        for coding in ["", "Accept-Encoding: gzip\r\n"] {
            let headers = format!("Authorization: Bearer {key}\r\n{coding}");
            let mut get = TcpStream::connect(server.address).unwrap();
            get.write_all(request("GET", path, &headers).as_bytes()).unwrap();
            let mut read = Vec::new();
            get.read_to_end(&mut read).unwrap();
            let end = read.windows(4).position(|window| window == b"\r\n\r\n").unwrap();
            let length = (read.len() - end - 4).to_string();
            let head = send(&server, &request("HEAD", path, &headers));
            assert_eq!(head.body, "", "{path}");
            assert_eq!(head.headers.get("content-length"), Some(&length), "{path} {coding}");
            let got = String::from_utf8(read[..end].to_vec()).unwrap();
            let differs = |name: &str| matches!(name, "x-request-id" | "date" | "x-ratelimit-remaining" | "ratelimit");
            for line in got.lines().skip(1) {
                let (name, value) = line.split_once(": ").unwrap();
                if !differs(name) {
                    assert_eq!(head.headers.get(name).map(String::as_str), Some(value), "{path} {name}");
                }
            }
            assert_eq!(head.headers.len(), got.lines().count() - 1, "{path}: {got}");
        }
    }
}

#[test]
fn options_lists_the_methods_of_a_path_without_a_key() {
    let server = Server::bundled();
    for version in ["v1", "v2", "v3"] {
        let response =
            send(&server, &request("OPTIONS", &format!("/api/{version}/vcs"), "Origin: https://example.com\r\n"));
        assert_eq!((response.status, response.body.as_str()), (204, ""));
        assert_eq!(response.headers["allow"], "GET, HEAD, OPTIONS");
        assert_eq!(response.headers["access-control-allow-methods"], "GET, HEAD, OPTIONS");
        let allowed = &response.headers["access-control-allow-headers"];
        assert!(allowed.contains("Authorization") && allowed.contains("If-None-Match"), "{allowed}");
        for name in EVERYWHERE {
            assert!(response.headers.contains_key(name), "{version} {name}");
        }
        assert_eq!(response.headers["x-api-version"], version[1..]);
    }
}

#[test]
fn every_error_is_a_problem_with_all_headers() {
    let server = Server::bundled();
    let key = server.client(Tier::Enterprise).key.unwrap();
    let keyed = format!("Authorization: Bearer {key}\r\n");
    let long = format!("X-Long: {}\r\n", "a".repeat(40_000));
    let post = format!("{keyed}Content-Type: text/plain\r\nContent-Length: 2\r\n");
    for version in ["v1", "v2", "v3"] {
        let api = format!("/api/{version}");
        let cases = [
            (request("GET", &format!("{api}/nowhere"), &keyed), 404, "unknown_route"),
            (request("GET", &format!("{api}/vcs/nobody-at-all"), &keyed), 404, "not_found"),
            (request("GET", &format!("{api}/vcs"), ""), 401, "missing_api_key"),
            (request("GET", &format!("{api}/vcs?limit=0"), &keyed), 400, "invalid_parameter"),
            (request("GET", &format!("{api}/vcs?{key}"), &keyed), 400, "key_in_url"),
            (request("GET", &format!("{api}/vcs?q=%20{key}"), &keyed), 400, "key_in_url"),
            (request("GET", &format!("{api}/vcs/%76dx_{}", &key[4..]), &keyed), 400, "key_in_url"),
            (request("GET", &format!("{api}/vcs"), &format!("{keyed}Accept: text/html\r\n")), 406, "not_acceptable"),
            (request("DELETE", &format!("{api}/vcs"), &keyed), 405, "method_not_allowed"),
            (request("POST", &format!("{api}/vcs"), &post) + "hi", 405, "method_not_allowed"),
            (request("POST", &format!("{api}/nowhere"), &post) + "hi", 404, "unknown_route"),
            (request("GET", &format!("{api}/vcs"), &long), 431, "head_too_large"),
            (request("GET", &format!("{api}/vcs?q={}", "a".repeat(28_000)), &keyed), 414, "url_too_long"),
            (request("GET", &format!("{api}/vcs?q={}", "a".repeat(70_000)), &keyed), 414, "url_too_long"),
            (request("GET", &format!("{api}/vcs"), "Host: there\r\n"), 400, "invalid_request"),
            // Two different keys.
            (
                request("GET", &format!("{api}/vcs"), &format!("{keyed}Authorization: Bearer x\r\n")),
                401,
                "malformed_api_key",
            ),
        ];
        for (bytes, status, code) in cases {
            let what = &bytes[..bytes.len().min(80)];
            let response = send(&server, &bytes);
            assert_eq!(response.status, status, "{what}: {}", response.body);
            let problem: serde_json::Value = serde_json::from_str(&response.body).unwrap();
            assert_eq!(problem["code"], code, "{what}");
            assert_eq!(response.headers["content-type"], "application/problem+json", "{what}");
            assert_eq!(problem["request_id"].as_str(), Some(response.headers["x-request-id"].as_str()), "{what}");
            for name in EVERYWHERE {
                assert!(response.headers.contains_key(name), "{what} {name}");
            }
            assert!(!response.body.contains(&key[4..]), "{what}: {}", response.body);
            assert!(
                response.headers.values().all(|value| !value.contains(&key[4..])),
                "{what}: {:?}",
                response.headers
            );
            assert_eq!(response.headers["x-snapshot"], "2026-11-20.1", "{what}");
            let page = problem["type"].as_str().unwrap();
            assert_eq!(page, format!("{}/docs/errors#{code}", server.state.public_url), "{what}");
            assert_eq!(response.headers["x-api-version"], version[1..], "{what}");
            if status == 405 {
                assert_eq!(response.headers["allow"], "GET, HEAD, OPTIONS");
            }
        }
    }
}

#[test]
fn options_is_answered_for_the_service_and_all_that_it_has() {
    let server = Server::bundled();
    for (path, methods) in [
        ("*", "OPTIONS"),
        ("/", "GET, HEAD, OPTIONS"),
        ("/vcs", "GET, HEAD, OPTIONS"),
        ("/vcs/alder-capital", "GET, HEAD, OPTIONS"),
        ("/healthz", "GET, HEAD, OPTIONS"),
        ("/docs", "GET, HEAD, OPTIONS"),
        ("/signin", "GET, HEAD, OPTIONS, POST"),
        ("/signout", "OPTIONS, POST"),
    ] {
        let response = send(&server, &request("OPTIONS", path, "Origin: https://example.com\r\n"));
        assert_eq!((response.status, response.headers["allow"].as_str()), (204, methods), "{path}");
        assert!(response.body.is_empty() && response.headers.contains_key("x-request-id"), "{path}");
        // No other origin may send a form or read a page.
        let is_open = response.headers.contains_key("access-control-allow-origin");
        assert_eq!(is_open, path == "/docs", "{path}: {:?}", response.headers);
    }
    assert_eq!(send(&server, &request("OPTIONS", "/nowhere", "")).status, 404);
    let read = send(&server, &request("GET", "*", ""));
    assert!((400..500).contains(&read.status), "{}", read.status);
}

#[test]
fn a_request_id_of_the_caller_is_that_of_the_response() {
    let server = Server::bundled();
    let key = server.client(Tier::Enterprise).key.unwrap();
    for path in
        ["/api/v3/vcs?limit=1", "/api/v3/vcs?x=1", "/api/v3/vcs/nowhere", "/vcs", "/healthz", "/docs", "/nowhere"]
    {
        // Computed, and from the cache.
        for id in ["0193a8c4-5d6e-7f80-9a1b-2c3d4e5f6071", "b"] {
            let headers = format!("Authorization: Bearer {key}\r\nX-Request-Id: {id}\r\n");
            let response = send(&server, &request("GET", path, &headers));
            assert_eq!(response.headers["x-request-id"], id, "{path}");
            if response.headers["content-type"] == "application/problem+json" {
                assert!(response.body.contains(&format!("\"request_id\":\"{id}\"")), "{}", response.body);
            }
        }
        for ids in ["X-Request-Id: a b\r\n", "X-Request-Id: 1\r\nX-Request-Id: 2\r\n", "X-Request-Id: <b>\r\n"] {
            let response = send(&server, &request("GET", path, ids));
            let id = &response.headers["x-request-id"];
            assert!(id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{path}: {id}");
        }
    }
}

/// Sends a head and then 2 MB of body before it reads anything, as many clients do; returns the status.
fn send_large(server: &Server, head: &str) -> u16 {
    let mut socket = TcpStream::connect(server.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    socket.write_all(head.as_bytes()).unwrap();
    for _ in 0..200 {
        socket.write_all(&[b' '; 10_000]).unwrap_or_else(|error| panic!("{error}, after {head}"));
    }
    let mut read = String::new();
    socket.read_to_string(&mut read).unwrap_or_else(|error| panic!("{error}, after {head}"));
    read.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_client_that_sends_all_of_a_refused_body_reads_its_response() {
    let server = Server::bundled();
    let key = server.client(Tier::Enterprise).key.unwrap();
    let used_up = server.client(Tier::Free);
    (0..100).for_each(|_| assert_eq!(used_up.get("/api/v3/stats").status, 200));
    let used_up = used_up.key.unwrap();
    let head = |path: &str, headers: &str| {
        format!("POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{headers}\r\n")
    };
    for (path, headers, status) in [
        ("/api/v3/resolve", "Content-Length: 2000000\r\n", 401),
        ("/api/v3/resolve", "Authorization: Bearer vdx_nobody\r\nContent-Length: 2000000\r\n", 401),
        ("/api/v3/resolve", &format!("Authorization: Bearer {used_up}\r\nContent-Length: 2000000\r\n"), 429),
        ("/api/v3/vcs", &format!("Authorization: Bearer {key}\r\nContent-Length: 2000000\r\n"), 405),
        ("/api/mcp", "Content-Length: 2000000\r\n", 413),
        ("/reconcile", "Content-Length: 2000000\r\n", 413),
    ] {
        assert_eq!(send_large(&server, &head(path, headers)), status, "{path} {headers}");
    }
    // Larger than accepted; the client ends its sending side before all is sent.
    let mut socket = TcpStream::connect(server.address).unwrap();
    let headers = format!("Authorization: Bearer {key}\r\nContent-Length: 3000000\r\n");
    socket.write_all(head("/api/v3/resolve", &headers).as_bytes()).unwrap();
    socket.write_all(&vec![b' '; 2_500_000]).unwrap();
    socket.shutdown(Shutdown::Write).unwrap();
    let mut read = String::new();
    socket.read_to_string(&mut read).unwrap();
    assert!(read.starts_with("HTTP/1.1 413 "), "{read}");
}

#[test]
fn a_client_that_sends_without_end_is_cut() {
    let server = Server::bundled();
    let mut socket = TcpStream::connect(server.address).unwrap();
    socket
        .write_all(b"POST /api/v3/resolve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n")
        .unwrap();
    let part = vec![b' '; 1_000_000];
    let sent = (0..1_000).take_while(|_| socket.write_all(&part).is_ok()).count();
    // 16 MB are discarded; buffers of the system hold some more.
    assert!((16..100).contains(&sent), "{sent} MB");
}

#[test]
fn responses_are_cached_as_documented() {
    let server = Server::bundled();
    let (client, limits) = (server.client(Tier::Pro), page(&server.anonymous(), "/docs/limits"));
    for (caching, paths) in [
        (
            "private, max-age=60",
            &[
                "/api/v3/vcs?limit=1",
                "/api/v2/vcs/alder-capital",
                "/api/v3/vcs/facets",
                "/api/v3/vcs.csv?limit=1",
                "/api/v3/stats",
                "/vcs",
                "/docs/limits",
            ][..],
        ),
        (
            "no-store",
            &[
                "/api/v3/usage",
                "/api/v3/snapshots",
                "/api/v3/vcs/nobody-has-this",
                "/api/v3/nowhere",
                "/api/v3/vcs?stage=sead",
                "/signin",
            ][..],
        ),
        ("public, max-age=300", &["/api/mcp/.well-known", "/api/mcp/server-card", "/openapi/v3.json"][..]),
    ] {
        assert!(limits.contains(&format!("<code>{caching}</code>")), "{caching}");
        for path in paths {
            let reply = client.get(path);
            assert_eq!(reply.header("cache-control"), caching, "{path}: {}", reply.status);
            if path.starts_with("/api/v") {
                assert_eq!(reply.header("vary"), "Accept, Accept-Encoding", "{path}");
            }
        }
    }
    let reply = client.post("/api/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"));
}

#[test]
fn only_long_bodies_are_compressed() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let accepts = [("accept-encoding", "gzip")];
    for (path, encoding) in [("/api/v3/vcs?limit=50", "gzip"), ("/api/v3/vcs?limit=1&fields=slug", "")] {
        let reply = client.send("GET", path, &accepts);
        assert_eq!((reply.status, reply.header("content-encoding")), (200, encoding), "{path}");
        assert_eq!(reply.text.len() >= 1_024, encoding == "gzip", "{path}");
        assert_eq!(client.get(path).header("content-encoding"), "", "{path}");
    }
}

#[test]
fn every_response_has_the_common_headers() {
    let server = Server::bundled();
    let (client, nobody) = (server.client(Tier::Pro), server.anonymous());
    let etag = client.get("/api/v3/vcs").header("etag").to_owned();
    let replies = [
        client.get("/api/v3/vcs"),
        client.get("/api/v3/vcs?foo=1"),
        client.get("/api/v3/nowhere"),
        client.send("DELETE", "/api/v3/vcs", &[]),
        client.send("HEAD", "/api/v3/vcs", &[]),
        client.send("OPTIONS", "/api/v3/vcs", &[]),
        client.send("GET", "/api/v3/vcs", &[("if-none-match", &etag)]),
        client.get("/api/v3/usage"),
        nobody.get("/api/v3/vcs"),
        nobody.get("/api/v3/vcs?key=vdx_x"),
    ];
    for reply in replies {
        for name in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "x-snapshot"] {
            assert!(!reply.header(name).is_empty(), "{} without {name}", reply.status);
        }
        assert_eq!(reply.header("x-api-version"), "3");
        assert_eq!(reply.header("access-control-allow-origin"), "*");
        if reply.status >= 400 {
            assert_eq!(reply.header("content-type"), "application/problem+json");
            assert_eq!(reply.json()["request_id"], reply.header("x-request-id"));
        }
    }
    let old = client.get("/api/v1/vcs?stage=seed");
    assert!(old.header("link").ends_with("/api/v3/vcs>; rel=\"successor-version\""), "{}", old.header("link"));
    let new = client.get("/api/v3/vcs?limit=2");
    assert!(new.header("link").ends_with("rel=\"next\""));
    let next = new.header("link").split(['<', '>']).nth(1).unwrap();
    let path = &next[client.base.len()..];
    assert_eq!(client.get(path).slugs(), client.get("/api/v3/vcs?limit=4").slugs()[2..]);
}

#[test]
fn large_responses_are_compressed_on_request() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let plain = client.send("GET", "/api/v3/vcs?limit=100", &[("accept-encoding", "identity")]);
    assert!(plain.header("content-encoding").is_empty());
    let packed = client.send("GET", "/api/v3/vcs?limit=100", &[("accept-encoding", "br, gzip;q=0.8")]);
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.header("vary"), "Accept, Accept-Encoding");
    assert_eq!(packed.text, plain.text);
    let small = client.send("GET", "/api/v3/usage", &[("accept-encoding", "gzip")]);
    assert!(small.header("content-encoding").is_empty());
}

#[test]
fn options_reports_the_quota_and_is_not_counted() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    client.get("/api/v3/stats");
    let told = client.send("OPTIONS", "/api/v3/vcs", &[]);
    assert_eq!(
        (told.status, told.header("x-ratelimit-limit"), told.header("x-ratelimit-remaining")),
        (204, "100", "99")
    );
    let told = server.anonymous().send("OPTIONS", "/api/v3/vcs", &[("authorization", "Bearer vdx_nonsense")]);
    assert_eq!((told.status, told.header("x-ratelimit-limit")), (204, "0"));
    assert_eq!(client.get("/api/v3/usage").json()["data"]["used"], 1);
}
