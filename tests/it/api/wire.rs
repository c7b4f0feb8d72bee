//! REST as bytes on the wire: HEAD, OPTIONS, and the headers of errors.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use auth::quota::Tier;

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
