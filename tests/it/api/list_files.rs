//! Lists as CSV and NDJSON files: their parts, what they cost, and how they end.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use auth::quota::Tier;
use serde_json::Value;
use tokio::net::TcpSocket;
use transport::telemetry::RouteGroup;

use crate::support::harness::{Client, Server, catalog_of, code, copy_as};
use crate::support::installation::small;

#[test]
fn the_parts_of_a_file_make_the_whole() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let whole = client.get("/api/v3/funding-rounds.ndjson?stage=seed&sort=amount_usd");
    for limit in [1, 700, 1_000, 1_001, 100_000] {
        let mut path = format!("/api/v3/funding-rounds.ndjson?stage=seed&sort=amount_usd&limit={limit}");
        let (mut parts, mut text) = (0, String::new());
        loop {
            let part = client.get(&path);
            let rows = part.text.lines().count();
            assert_eq!((part.status, part.header("x-request-cost")), (200, &*rows.div_ceil(1_000).to_string()));
            assert!(rows <= limit);
            text.push_str(&part.text);
            parts += 1;
            let link = part.header("link");
            // One is enough to see that the first part is right.
            let Some((next, _)) = link.split_once(">; rel=\"next\"").filter(|_| limit > 1) else { break };
            path = next.strip_prefix(&format!("<{}", client.base)).unwrap().to_owned();
        }
        assert!(whole.text.starts_with(&text) && (limit == 1 || text.len() == whole.text.len()), "{limit}");
        assert!(limit != 700 || parts > 1);
    }
    assert_eq!(whole.header("link"), "");
    // A cursor of the JSON list is one of the file; its `limit` is the length of pages.
    let page = client.get("/api/v3/funding-rounds?stage=seed&sort=amount_usd&limit=10&fields=id").json();
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let rest = client.get(&format!("/api/v3/funding-rounds.ndjson?cursor={cursor}"));
    assert_eq!(rest.text.lines().count() + 10, whole.text.lines().count());
}

#[test]
fn a_file_is_paid_for_exactly_or_not_at_all() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let path = "/api/v3/people.ndjson";
    let cost: u64 = client.send("HEAD", path, &[]).header("x-request-cost").parse().unwrap();
    assert!(cost > 1);
    assert_eq!(client.used(), 1, "HEAD counts as one request");
    for _ in 0..100 - cost {
        assert_eq!(client.get("/api/v3/stats").status, 200);
    }
    assert_eq!(client.used(), 101 - cost);
    let refused = client.get(path);
    let problem = refused.json();
    assert_eq!(code(&refused), (429, "quota_exceeded".to_owned()));
    assert_eq!((problem["needed"].as_u64(), problem["limit"].as_u64()), (Some(cost), Some(100)));
    assert!(problem["detail"].as_str().unwrap().contains(&format!("`limit={}`", (cost - 1) * 1_000)), "{problem}");
    assert_eq!(refused.header("x-ratelimit-remaining"), (cost - 1).to_string());
    assert!(!refused.header("retry-after").is_empty());
    assert_eq!(client.used(), 101 - cost, "a refusal is not counted");
    let part = client.get(&format!("{path}?limit={}", (cost - 1) * 1_000));
    assert_eq!((part.status, part.header("x-ratelimit-remaining")), (200, "0"));
    assert_eq!(part.text.lines().count() as u64, (cost - 1) * 1_000);
    let refused = client.get(path);
    assert_eq!((refused.status, refused.json().get("needed")), (429, None));
    // An exact fit.
    let client = server.client(Tier::Free);
    for _ in 0..100 - cost {
        client.get("/api/v3/stats");
    }
    assert_eq!((client.get(path).status, client.used()), (200, 100));
}

#[test]
fn files_at_the_same_time_share_a_quota_exactly() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let path = "/api/v3/people.ndjson?fields=slug";
    let cost: usize = client.send("HEAD", path, &[]).header("x-request-cost").parse().unwrap();
    let sent = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let reply = client.get(path);
                    assert!(matches!(reply.status, 200 | 429 | 503), "{}", reply.text);
                    sent.fetch_add(usize::from(reply.status == 200), Ordering::Relaxed);
                }
            });
        }
    });
    let used = client.used() as usize;
    assert_eq!(used, 1 + sent.into_inner() * cost);
    assert!(used + cost > 100, "{used}");
}

#[test]
fn formats_have_their_own_etags_and_errors_are_problems() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    let paths = ["/api/v3/vcs", "/api/v3/vcs.csv", "/api/v3/vcs.ndjson", "/api/v3/vcs.ndjson?limit=20"];
    let etags: Vec<String> = paths.iter().map(|path| client.get(path).header("etag").to_owned()).collect();
    for (index, path) in paths.iter().enumerate() {
        for (other, etag) in etags.iter().enumerate() {
            let status = client.send("GET", path, &[("if-none-match", etag)]).status;
            assert_eq!(status, if index == other { 304 } else { 200 }, "{path}");
        }
    }
    // The response cache is not confused by formats.
    for _ in 0..3 {
        let json = client.get("/api/v3/vcs");
        assert_eq!((json.header("content-type"), json.header("vary")), ("application/json", "Accept, Accept-Encoding"));
        let table = client.send("GET", "/api/v3/vcs", &[("accept", "text/csv, application/json;q=0.5")]);
        assert_eq!(
            (table.text.lines().next().unwrap().split(',').next(), table.header("etag")),
            (Some("slug"), &*etags[1])
        );
        assert_eq!(table.header("content-disposition"), "attachment; filename=\"vcs-2026-11-20.1.csv\"");
    }
    let packed = client.send("GET", "/api/v3/vcs.csv", &[("accept-encoding", "gzip")]);
    assert_eq!(packed.header("content-encoding"), "gzip");
    assert_eq!(packed.text, client.get("/api/v3/vcs.csv").text);
    for (path, accept, expected) in [
        ("/api/v3/vcs.csv?stage=sed", "*/*", (400, "unknown_value")),
        ("/api/v3/vcs.csv?fields=nme", "*/*", (400, "unknown_field")),
        ("/api/v3/vcs.csv?q=a&explain=true", "*/*", (400, "invalid_parameter")),
        ("/api/v3/funding-rounds.csv?amounts=true", "*/*", (400, "invalid_parameter")),
        ("/api/v3/vcs.csv?limit=0", "*/*", (400, "invalid_parameter")),
        ("/api/v3/match.csv", "*/*", (400, "invalid_parameter")),
        ("/api/v3/vcs/none/portfolio.csv", "*/*", (404, "not_found")),
        ("/api/v3/stats.csv", "*/*", (404, "unknown_route")),
        ("/api/v2/vcs.csv", "*/*", (404, "unknown_route")),
        ("/api/v3/stats", "text/csv", (406, "not_acceptable")),
        ("/api/v2/vcs", "text/csv", (406, "not_acceptable")),
    ] {
        let reply = client.send("GET", path, &[("accept", accept)]);
        assert_eq!(code(&reply), (expected.0, expected.1.to_owned()), "{path}");
        assert_eq!(reply.header("content-type"), "application/problem+json");
    }
    assert_eq!(client.send("POST", "/api/v3/vcs.csv", &[]).status, 405);
    assert_eq!(client.send("GET", "/api/v3/vcs.csv", &[("if-match", "\"x\"")]).status, 412);
}

#[test]
fn warnings_of_a_file_are_in_a_header() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut seen = 0;
    for query in ["q=zzqqxx", "q=cl%C3%BCblqx", "q=capital+partners", "stage=seed&country=AQ", "q=capitl"] {
        let json = client.get(&format!("/api/v3/vcs?{query}")).json();
        let file = client.get(&format!("/api/v3/vcs.ndjson?{query}"));
        let header = file.header("x-warnings");
        assert!(header.is_ascii());
        let warnings: Vec<Value> = if header.is_empty() { Vec::new() } else { serde_json::from_str(header).unwrap() };
        let expected = json["meta"]["warnings"].as_array().cloned().unwrap_or_default();
        assert!(expected.iter().all(|warning| warnings.contains(warning)), "{query}: {warnings:?}");
        let is_empty_search = query.starts_with("q=") && json["pagination"]["total"] == 0;
        assert_eq!(warnings.len(), expected.len() + usize::from(is_empty_search), "{query}");
        seen += warnings.len();
    }
    assert!(seen > 2);
}

#[test]
fn paid_tiers_have_longer_pages_and_responses_are_not_mixed() {
    let server = Server::bundled();
    let (free, pro) = (server.client(Tier::Free), server.client(Tier::Pro));
    let lengths = |client: &Client, path: &str| {
        let json = client.get(path).json();
        let warnings = json["meta"]["warnings"].as_array().map_or(0, Vec::len);
        (json["data"].as_array().unwrap().len(), json["pagination"]["limit"].as_u64().unwrap(), warnings)
    };
    for _ in 0..3 {
        for path in ["/api/v3/startups?limit=101", "/api/v3/startups?limit=500", "/api/v3/startups?limit=5000"] {
            let expected = path.rsplit_once('=').unwrap().1.parse::<u64>().unwrap().min(1_000);
            assert_eq!(lengths(&pro, path), (expected as usize, expected, usize::from(path.ends_with("5000"))));
            assert_eq!(lengths(&free, path), (100, 100, 1));
        }
        assert_eq!(lengths(&pro, "/api/v2/startups?limit=500".replace("startups", "vcs").as_str()).1, 100);
    }
    for (one, other) in [(&free, &pro), (&pro, &free)] {
        for limit in [101, 500, 5_000] {
            let path = format!("/api/v3/startups?limit={limit}");
            let etag = one.get(&path).header("etag").to_owned();
            assert_eq!(other.send("GET", &path, &[("if-none-match", &etag)]).status, 200);
            assert_eq!(one.send("GET", &path, &[("if-none-match", &etag)]).status, 304);
        }
    }
    // A cursor of a long page goes on with short ones.
    let page = pro.get("/api/v3/startups?limit=500&fields=slug");
    let cursor = page.json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let next = free.get(&format!("/api/v3/startups?cursor={cursor}"));
    assert_eq!(next.slugs().len(), 100);
    assert_eq!(next.json()["meta"]["warnings"][0]["code"], "limit_clamped");
    let after = pro.get("/api/v3/startups?limit=600&fields=slug").slugs();
    assert_eq!(next.slugs(), after[500..]);
}

/// Requests a file on a connection that holds little of it: the others would be sent whole into the buffers of the system.
fn begin(server: &Server, key: &str, path: &str) -> TcpStream {
    let connect = async {
        let socket = TcpSocket::new_v4()?;
        socket.set_recv_buffer_size(4_096)?;
        socket.connect(server.address).await?.into_std()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let mut socket = runtime.block_on(connect).unwrap();
    socket.set_nonblocking(false).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\r\n",
        server.address
    );
    socket.write_all(head.as_bytes()).unwrap();
    socket
}

#[test]
fn a_file_stays_on_its_release_and_slow_readers_take_no_place() {
    const PATH: &str = "/api/v3/startups.ndjson?fields=*";
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let whole = client.get(PATH);
    let key = client.key.clone().unwrap();
    let work = &server.state.work;
    // More than the queue has places; none of them reads more than its first bytes.
    let mut sockets = Vec::new();
    for _ in 0..48 {
        let mut socket = begin(&server, &key, PATH);
        let mut first = [0; 64];
        socket.read_exact(&mut first).unwrap();
        assert!(first.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&first));
        sockets.push(socket);
        // A file takes turns until the buffers of its connection are full; then it waits for its reader without a place.
        let started = Instant::now();
        while work.usage().running + work.usage().waiting > 0 {
            assert!(started.elapsed() < Duration::from_secs(60), "{:?}", work.usage());
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let [ended, ..] = server.state.telemetry.requests.by_status(RouteGroup::List);
    assert!(ended <= 1, "{} files were sent although nobody reads them", ended - 1);
    assert_eq!(client.get("/api/v3/vcs?q=capital").status, 200);
    let copy = copy_as(&small(), "2026-11-20.2");
    server.state.releases.replace(Arc::new(catalog_of(copy.path())));
    assert_eq!(client.get("/api/v3/stats").header("x-snapshot"), "2026-11-20.2");
    for mut socket in sockets {
        let mut rest = Vec::new();
        socket.read_to_end(&mut rest).unwrap();
        assert!(rest.ends_with(b"\r\n0\r\n\r\n"), "it ends properly");
        assert!(rest.len() > whole.text.len(), "with chunks it is longer");
    }
}
