//! Metrics, log lines and the access log: each is caused here.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread::sleep;
use std::time::{Duration, Instant};

use api::{Route, Version};
use auth::quota::Tier;
use auth::totp::TotpSecret;
use bytes::Bytes;
use catalog::{Catalog, TextIndexes};
use data::archive::AlignedBytes;
use data::{Checksums, NoProgress, RecordFile, RecordStore, Snapshot, Table, compile};
use futures_util::stream;
use http::{Request, Response};
use mcp::McpQuota;
use serde_json::{Value, json};
use site::static_pages::StaticPages;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use transport::server::{Limits, RequestBody, ResponseBody, run};
use transport::{ErrorContext, Handler, RequestParts, Telemetry};
use venturedex::app::{MetricsEndpoint, Router};

use crate::account::mail::{Sink, send_links, token, wait_for};
use crate::account::totp::{app_code, field, recovery_codes};
use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{Client, NOON, Server, agent, catalog_of, copy_as, root};
use crate::support::html::{Markup, parse};
use crate::support::program::{Process, command, run as run_command};

/// The values of all series, by name with labels.
#[derive(Debug)]
struct Metrics(BTreeMap<String, f64>);

impl Metrics {
    fn parse(text: &str) -> Self {
        assert!(text.ends_with("# EOF\n"), "{text}");
        let series = text.lines().filter(|line| !line.starts_with('#')).map(|line| {
            let (series, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("{line}"));
            (series.to_owned(), value.parse().unwrap_or_else(|_| panic!("{line}")))
        });
        let count = series.clone().count();
        let all = Self(series.collect());
        assert_eq!(all.0.len(), count, "a series occurs twice");
        all
    }

    fn of(server: &Server) -> Self {
        Self::parse(&endpoint(server).text().unwrap())
    }

    fn get(&self, series: &str) -> f64 {
        *self.0.get(series).unwrap_or_else(|| panic!("no {series} in {:#?}", self.0.keys()))
    }

    /// The sum of all series that begin so.
    fn sum(&self, start: &str) -> f64 {
        self.0.iter().filter(|(series, _)| series.starts_with(start)).map(|(_, value)| value).sum()
    }
}

fn endpoint(server: &Server) -> MetricsEndpoint {
    let state = &server.state;
    let endpoint = MetricsEndpoint::new(Arc::clone(&state.telemetry), Arc::clone(&state.auth), NOON);
    endpoint.open(Arc::clone(state));
    endpoint
}

/// The names of the documented metrics with their types.
fn documented(server: &Server) -> BTreeMap<String, String> {
    let page = parse(&server.anonymous().get("/docs/operate/metrics").text);
    let rows = page.rows("h2#metrics ~ div tbody tr").into_iter();
    rows.map(|row| (row[0].clone(), row[1].clone())).collect()
}

/// The names of metrics with their types, as Prometheus shows them.
fn exposed(text: &str) -> BTreeMap<String, String> {
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE "));
    let names = types.map(|line| {
        let (name, kind) = line.split_once(' ').unwrap();
        let suffix = match kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        (format!("{name}{suffix}"), kind.to_owned())
    });
    names.collect()
}

const TOOL_CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_vcs","arguments":{"query":"lunar"}}}"#;

/// Requests every route of the service.
fn request_all(server: &Server) {
    let client = server.client(Tier::Enterprise);
    let catalog = server.state.releases.current();
    let slug = |table: Table| catalog.snapshot().slug(table, 0).to_owned();
    for version in Version::ALL {
        for route in Route::all(version) {
            let path = route.path_of(&slug(route.subject()));
            assert_ne!(client.get(&format!("/api/{}/{path}", version.segment())).status, 404, "{path}");
        }
    }
    let anonymous = server.anonymous();
    // This service takes no reviews.
    for path in StaticPages::paths().filter(|path| *path != "/docs/reviews") {
        assert_eq!(anonymous.get(path).status, 200, "{path}");
    }
    let firm = slug(Table::Firms);
    for path in [
        "/",
        "/vcs",
        "/startups",
        "/people",
        "/data",
        "/sectors",
        "/leaderboard",
        "/resolve",
        "/suggest?q=a",
        "/signin",
        "/signup",
    ] {
        assert_eq!(anonymous.get(path).status, 200, "{path}");
    }
    for path in [format!("/vcs/{firm}"), format!("/vcs/{firm}/reviews"), "/healthz".to_owned(), "/readyz".to_owned()] {
        assert_eq!(anonymous.get(&path).status, 200, "{path}");
    }
    for path in ["/no-such-page", "/api/v9", "/api/mcp/.well-known", "/.well-known/security.txt"] {
        anonymous.get(path);
    }
    assert_eq!(anonymous.post("/api/mcp", TOOL_CALL).status, 200);
    Browser::signed_up(server, "ada@example.com").create_key("laptop");
}

#[test]
fn all_metrics_are_documented_and_there_are_fewer_than_250_series_which_exist_from_the_start() {
    let server = Server::bundled();
    let documented = documented(&server);
    let fresh = Metrics::parse(&endpoint(&server).text().unwrap());
    request_all(&server);
    let text = endpoint(&server).text().unwrap();
    assert_eq!(exposed(&text), documented);
    let used = Metrics::parse(&text);
    assert!(used.0.len() < 250, "{} series", used.0.len());
    let names = |metrics: &Metrics| metrics.0.keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(names(&fresh), names(&used));
    for group in ["rest_list", "rest_record", "rest_counts", "rest_other", "mcp", "page", "account", "static", "health"]
    {
        assert!(
            used.get(&format!("venturedex_http_requests_total{{route=\"{group}\",status=\"2xx\"}}")) > 0.0,
            "{group}"
        );
    }
}

#[test]
fn requests_are_counted_by_route_status_version_and_tier() {
    let server = Server::bundled();
    let [free, pro] = [Tier::Free, Tier::Pro].map(|tier| server.client(tier));
    let slug = server.state.releases.current().snapshot().slug(Table::Firms, 0).to_owned();
    let before = Metrics::of(&server);
    (0..5).for_each(|_| assert_eq!(free.get("/api/v3/vcs?limit=3").status, 200));
    assert_eq!(pro.get(&format!("/api/v1/vcs/{slug}")).status, 200);
    // No other test asks for it: what was searched for before is not searched again.
    assert_eq!(pro.get("/api/v3/vcs?q=lunar+telemetry").status, 200);
    assert_eq!(server.anonymous().get("/api/v2/vcs").status, 401);
    assert_eq!(pro.send("GET", "/api/v3/vcs?limit=3", &[("if-none-match", "*")]).status, 304);
    assert_eq!(server.anonymous().post("/api/mcp", TOOL_CALL).status, 200);
    let after = Metrics::of(&server);
    let rose = |series: &str| (after.get(series) - before.get(series)) as i64;
    for (series, count) in [
        ("venturedex_http_requests_total{route=\"rest_list\",status=\"2xx\"}", 6),
        ("venturedex_http_requests_total{route=\"rest_list\",status=\"3xx\"}", 1),
        ("venturedex_http_requests_total{route=\"rest_list\",status=\"4xx\"}", 1),
        ("venturedex_http_requests_total{route=\"rest_record\",status=\"2xx\"}", 1),
        ("venturedex_http_requests_total{route=\"mcp\",status=\"2xx\"}", 1),
        ("venturedex_api_requests_total{api=\"v3\",tier=\"free\"}", 5),
        ("venturedex_api_requests_total{api=\"v3\",tier=\"pro\"}", 2),
        ("venturedex_api_requests_total{api=\"v1\",tier=\"pro\"}", 1),
        ("venturedex_api_requests_total{api=\"v2\",tier=\"none\"}", 1),
        ("venturedex_api_requests_total{api=\"mcp\",tier=\"none\"}", 1),
        ("venturedex_http_request_duration_seconds_count{front_end=\"rest\"}", 9),
        ("venturedex_http_request_duration_seconds_bucket{le=\"+Inf\",front_end=\"rest\"}", 9),
        ("venturedex_http_request_duration_seconds_count{front_end=\"mcp\"}", 1),
    ] {
        assert_eq!(rose(series), count, "{series}");
    }
    // Cached at the second time; the 304 is a hit, too.
    let cached = |result: &str| rose(&format!("venturedex_response_cache_requests_total{{result=\"{result}\"}}"));
    assert_eq!((cached("hit"), cached("miss")), (4, 4));
    let cached = after.get("venturedex_response_cache_bytes");
    let [budget, used] = ["budget", "used"].map(|name| format!("venturedex_memory_{name}_bytes{{part=\"responses\"}}"));
    assert!(cached > 0.0 && after.get(&used) == cached && after.get(&budget) >= cached);
    assert!(rose("venturedex_search_duration_seconds_count") >= 1);
    assert!(after.get("venturedex_search_duration_seconds_sum") > before.get("venturedex_search_duration_seconds_sum"));
}

/// A service whose requests panic after they were routed, if they say so.
#[derive(Clone)]
struct Panicking<H>(H);

impl<H: Handler> Handler for Panicking<H> {
    /// The flag: panic later.
    type Pending = (H::Pending, bool);

    fn respond(&self, request: &RequestParts<'_>) -> Result<Response<Bytes>, Self::Pending> {
        let panics = request.headers.contains_key("x-panic");
        match self.0.respond(request) {
            Ok(_) if panics => panic!("planted at once"),
            Ok(response) => Ok(response),
            Err(pending) => Err((pending, panics)),
        }
    }

    async fn respond_later(
        &self,
        (pending, panics): Self::Pending,
        request: Request<RequestBody>,
    ) -> Response<ResponseBody> {
        let response = self.0.respond_later(pending, request).await;
        if panics {
            panic!("planted later");
        }
        response
    }

    fn telemetry(&self) -> Option<&Telemetry> {
        self.0.telemetry()
    }

    fn error_context(&self, path: &str) -> ErrorContext<'_> {
        self.0.error_context(path)
    }
}

/// Serves the routes of `server` on another port.
fn router(server: &Server) -> Router {
    let quota = McpQuota { state: Arc::clone(&server.state), daily_limit: 100, pools: Vec::new().into() };
    Router::new(&server.state, quota, &mcp::Settings::new(server.state.public_url.clone()))
}

/// Serves until the runtime is dropped.
fn serve(handler: impl Handler, limits: Limits) -> (Runtime, SocketAddr) {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(run(listener, handler, stream::pending(), limits));
    (runtime, address)
}

fn client_of(address: SocketAddr, key: Option<String>) -> Client {
    Client { base: format!("http://{address}"), key, agent: agent() }
}

#[test]
fn a_panic_in_any_route_is_a_500_with_the_headers_of_all_responses_and_is_counted() {
    let server = Server::bundled();
    let key = server.client(Tier::Free).key;
    let (_runtime, address) = serve(Panicking(router(&server)), Limits::default());
    let client = client_of(address, key);
    let planted = [("x-panic", "1")];
    let before = Metrics::of(&server);
    let failed = |path: &str, group: &str, method: &str| {
        let reply = client.send(method, path, &planted);
        assert_eq!((reply.status, reply.json()["code"].as_str()), (500, Some("internal_error")), "{path}");
        assert_eq!(reply.header("x-request-id"), reply.json()["request_id"].as_str().unwrap(), "{path}");
        for header in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-snapshot"] {
            assert_ne!(reply.header(header), "", "{path}: {header}");
        }
        assert!(!reply.text.contains("planted"), "{}", reply.text);
        group.to_owned()
    };
    let groups = [
        failed("/api/v3/vcs", "rest_list", "GET"),
        failed("/api/v3/vcs?q=lunar", "rest_list", "GET"),
        failed("/api/v3/usage", "rest_other", "GET"),
        failed("/api/mcp", "mcp", "POST"),
        failed("/api/mcp/.well-known", "mcp", "GET"),
        failed("/vcs", "page", "GET"),
        failed("/signin", "account", "GET"),
        failed("/signin", "account", "POST"),
        failed("/docs/limits", "static", "GET"),
        failed("/.well-known/security.txt", "static", "GET"),
        failed("/healthz", "health", "GET"),
        failed("/readyz", "health", "GET"),
        failed("/no-such-page", "unknown", "GET"),
    ];
    let after = Metrics::of(&server);
    for group in &groups {
        let series = format!("venturedex_http_requests_total{{route=\"{group}\",status=\"5xx\"}}");
        let count = groups.iter().filter(|other| *other == group).count() as f64;
        assert_eq!(after.get(&series) - before.get(&series), count, "{group}");
    }
    let panics = after.get("venturedex_panics_total") - before.get("venturedex_panics_total");
    assert!(panics >= groups.len() as f64, "{panics}");
    assert_eq!(client.get("/api/v3/vcs").status, 200, "the connection continues");
}

/// A small snapshot whose records are on a disk that lost them.
fn catalog_without_records() -> Catalog {
    let Ok(compiled) = compile(&root().join("tests/fixtures/small"), &NoProgress) else { panic!("it has a fault") };
    let texts = TextIndexes::in_memory(&compiled.snapshot().unwrap()).unwrap();
    let (mut tables, mut records) = (Vec::new(), Vec::new());
    compiled.write(&mut tables, &mut records, &NoProgress).unwrap();
    records.fill(0);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&records).unwrap();
    let records = RecordStore::File(RecordFile::new(file, u64::MAX).unwrap());
    let tables = Arc::new(AlignedBytes::copy(&tables));
    Catalog::new(Snapshot::open(tables, records, Checksums::Trust).unwrap(), texts)
}

#[test]
fn a_panic_in_a_tool_of_mcp_is_an_error_of_its_protocol() {
    let server = Server::of(catalog_without_records());
    let before = Metrics::of(&server);
    let profile = json!({ "name": "get_vc_profile", "arguments": { "slug": "zoe-angels" } });
    let call = json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": profile });
    let reply = server.anonymous().post("/api/mcp", &call.to_string());
    let json = reply.json();
    assert_eq!((reply.status, &json["error"]["code"], &json["id"]), (500, &(-32603).into(), &7.into()));
    assert_eq!(json["error"]["data"]["code"], "internal_error");
    assert_eq!(json["error"]["data"]["request_id"], reply.header("x-request-id"));
    assert_ne!(reply.header("x-ratelimit-limit"), "");
    let after = Metrics::of(&server);
    assert!(after.get("venturedex_panics_total") > before.get("venturedex_panics_total"));
}

#[test]
fn a_panic_while_metrics_are_read_is_a_500_and_other_paths_name_theirs() {
    let server = Server::bundled();
    let (_runtime, address) = serve(Panicking(endpoint(&server)), Limits::default());
    let client = client_of(address, None);
    assert_eq!(client.send("GET", "/metrics", &[("x-panic", "1")]).status, 500);
    let metrics = client.get("/metrics");
    assert_eq!(metrics.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8");
    Metrics::parse(&metrics.text);
    assert_eq!((client.get("/").status, client.send("DELETE", "/metrics", &[]).status), (404, 405));
    assert!(client.get("/").text.contains("/metrics"));
    assert_eq!(server.anonymous().get("/metrics").status, 404, "not on the address of the service");
}

#[test]
fn requests_above_a_limit_are_counted_by_limit() {
    let server = Server::allowing(2, 1);
    let free = server.client(Tier::Free);
    let denied =
        |limit: &str| Metrics::of(&server).get(&format!("venturedex_quota_denials_total{{limit=\"{limit}\"}}"));
    (0..103).for_each(|_| drop(free.get("/api/v3/vcs?limit=1")));
    assert_eq!(denied("key"), 3.0);
    (0..102).for_each(|_| drop(server.anonymous().post("/api/mcp", TOOL_CALL)));
    assert_eq!(denied("client"), 2.0);
    let mut browser = Browser::at(&server);
    browser.post("/signup", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    browser.post("/signup", &[("email", "eve@example.com"), ("password", PASSWORD)]);
    assert_eq!(denied("sign_ups"), 1.0);
    assert_eq!(server.anonymous().get("/vcs").status, 429);
    assert_eq!(denied("pages"), 1.0);
    let (server, sink) = (Server::bundled(), Sink::start(&[]));
    send_links(&server, &sink, || NOON);
    let denied =
        |limit: &str| Metrics::of(&server).get(&format!("venturedex_quota_denials_total{{limit=\"{limit}\"}}"));
    let mut browser = Browser::at(&server);
    (0..4).for_each(|_| drop(browser.post("/reset", &[("email", "ada@example.com")])));
    assert_eq!(denied("mails"), 1.0);
    // Each is hashed: an account has ten attempts from a network.
    (0..11).for_each(|_| drop(browser.post("/signin", &[("email", "ada@example.com"), ("password", "wrong")])));
    assert_eq!(denied("sign_ins"), 1.0);
}

#[test]
fn connections_above_the_limits_are_counted_by_limit() {
    let server = Server::bundled();
    let count = |name: &str| Metrics::of(&server).get(&format!("venturedex_connections_{name}"));
    let connect = |address| TcpStream::connect_timeout(&address, Duration::from_secs(10)).unwrap();
    let exchange = |stream: &mut TcpStream, path: &str| {
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        let mut start = [0; 12];
        // A connection that is closed has no response.
        match stream.read_exact(&mut start) {
            Ok(()) => String::from_utf8_lossy(&start).into_owned(),
            Err(_) => String::new(),
        }
    };
    let limits = Limits { connections: 1, head: Duration::from_secs(60), ..Limits::default() };
    let (runtime, address) = serve(router(&server), limits);
    let before = (count("total"), count("evicted_total"));
    let mut idle = connect(address);
    assert_eq!(exchange(&mut idle, "/healthz"), "HTTP/1.1 200");
    sleep(Duration::from_millis(300));
    let mut busy = connect(address);
    assert_eq!(exchange(&mut busy, "/healthz"), "HTTP/1.1 200");
    assert_eq!((count("total") - before.0, count("evicted_total") - before.1), (2.0, 1.0));
    busy.write_all(b"GET / HTT").unwrap();
    sleep(Duration::from_millis(300));
    // Above the limit: health checks, and a 503 for all else.
    let mut reserved = connect(address);
    assert_eq!(exchange(&mut reserved, "/docs"), "HTTP/1.1 503");
    assert_eq!(count("refused_total{limit=\"total\"}"), 1.0);
    let held: Vec<TcpStream> = (0..20).map(|_| connect(address)).collect();
    let began = Instant::now();
    while count("refused_total{limit=\"reserve\"}") == 0.0 {
        assert!(began.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(20));
    }
    assert!(count("open") >= 1.0, "{}", count("open"));
    drop((held, runtime));
    let limits = Limits { connections_per_address: 1, ..Limits::default() };
    let (_runtime, address) = serve(router(&server), limits);
    let (mut first, mut second) = (connect(address), connect(address));
    assert_eq!(exchange(&mut first, "/healthz"), "HTTP/1.1 200");
    assert_eq!(exchange(&mut second, "/docs"), "HTTP/1.1 503");
    assert_eq!(count("refused_total{limit=\"address\"}"), 1.0);
}

/// A server in a process of its own, with a log in JSON and metrics.
struct Monitored {
    process: Process,
    folder: TempDir,
    metrics: Client,
}

impl Monitored {
    fn start(settings: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("data")).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let words = [&["--metrics-listen", "127.0.0.1:0", "--log-format", "json"], settings].concat();
        let process = Process::start_with(&folder.path().join("data"), &words, log);
        Self::of(process, folder)
    }

    fn of(process: Process, folder: TempDir) -> Self {
        wait_for("metrics at ", &folder.path().join("log"));
        let line = lines(&folder.path().join("log")).into_iter().find(|line| message(line).starts_with("metrics at"));
        let url = message(&line.unwrap()).split(' ').next_back().unwrap().to_owned();
        let base = url.strip_suffix("/metrics").unwrap().to_owned();
        Self { process, folder, metrics: Client { base, key: None, agent: agent() } }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn metrics(&self) -> Metrics {
        Metrics::parse(&self.metrics.get("/metrics").text)
    }

    fn client(&self) -> Client {
        Client { base: self.process.base.clone(), key: None, agent: agent() }
    }

    /// Waits for a line with this message.
    fn line(&self, expected: &str) -> Value {
        wait_for(expected, &self.log());
        lines(&self.log()).into_iter().find(|line| message(line).contains(expected)).unwrap()
    }
}

/// The lines of a log in JSON, without the last one if it is being written.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    let complete = text.rsplit_once('\n').map_or("", |(complete, _)| complete);
    complete.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect()
}

fn message(line: &Value) -> &str {
    line["message"].as_str().unwrap()
}

#[test]
fn a_database_that_fails_and_slow_requests_are_lines_of_the_log() {
    let server = Monitored::start(&["--log-slow", "1"]);
    let began = server.metrics();
    assert_eq!(began.get("venturedex_store_degraded"), 0.0);
    let mut browser = Browser::based(&server.process.base);
    assert_eq!(browser.post("/signup", &[("email", "ada@example.com"), ("password", PASSWORD)]).status, 303);
    let slow = server.line("slow request");
    assert_eq!((&slow["route"], &slow["status"], &slow["level"]), (&"/signup".into(), &303.into(), &"WARN".into()));
    assert!(slow["duration_ms"].as_f64().unwrap() >= 1.0, "{slow}");
    for file in ["venturedex.sqlite", "venturedex.sqlite-wal", "venturedex.sqlite-shm"] {
        let _ = fs::remove_file(server.data().join(file));
    }
    let reply =
        Browser::based(&server.process.base).post("/signup", &[("email", "e@example.com"), ("password", PASSWORD)]);
    assert_eq!(reply.status, 503, "{}", reply.text);
    let refused = server.line("request refused");
    assert_eq!((&refused["route"], &refused["status"]), (&"/signup".into(), &503.into()));
    assert_eq!(refused["request_id"], reply.header("x-request-id"));
    assert!(refused["cause"].as_str().unwrap().contains("deleted or replaced"), "{refused}");
    let time = refused["timestamp"].as_str().unwrap();
    assert!(time.len() >= 20 && time.starts_with("20") && time.ends_with('Z'), "{time}");
    assert!(duration_is_plausible(&refused));
    server.line("cannot refresh the keys");
    let metrics = server.metrics();
    assert!(metrics.get("venturedex_store_failures_total") > began.get("venturedex_store_failures_total"));
    let calls = "venturedex_store_duration_seconds_count";
    assert!(metrics.get(calls) > began.get(calls));
    assert_eq!(metrics.get("venturedex_store_degraded"), 1.0);
    for series in ["process_resident_memory_bytes", "process_cpu_seconds_total", "process_open_fds", "process_max_fds"]
    {
        if cfg!(target_os = "linux") {
            assert!(metrics.get(series) > 0.0, "{series}");
        }
    }
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    assert!((now - metrics.get("process_start_time_seconds")).abs() < 3_600.0);
    assert_eq!(metrics.get(&format!("venturedex_build_info{{version=\"{}\"}}", env!("CARGO_PKG_VERSION"))), 1.0);
}

fn duration_is_plausible(line: &Value) -> bool {
    line["duration_ms"].as_f64().is_some_and(|duration| (0.0..600_000.0).contains(&duration))
}

#[test]
fn new_and_rejected_releases_are_lines_of_the_log_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small");
    let publish = |version: &str| {
        let dataset = copy_as(&small, version);
        let mut indexer = Command::new(env!("CARGO_BIN_EXE_indexer"));
        let built =
            indexer.args(["build", "--dataset"]).arg(dataset.path()).arg("--index").arg(&index).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    };
    publish("2026-01-31.1");
    let words = ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--log-format", "json", "--index"];
    let mut command = command(&folder.path().join("data"), &words);
    let log = File::create(folder.path().join("log")).unwrap();
    let server = Monitored::of(Process::spawn(command.arg(&index), log), folder);
    let first = server.metrics();
    assert_eq!(first.get("venturedex_release_info{snapshot=\"2026-01-31.1\",bundled=\"false\"}"), 1.0);
    assert_eq!(
        (first.get("venturedex_release_swaps_total"), first.get("venturedex_release_rejections_total")),
        (0.0, 0.0)
    );
    publish("2026-01-31.2");
    let line = server.line("2026-01-31.2");
    assert_eq!(line["level"], "INFO");
    let next = server.metrics();
    assert_eq!(next.get("venturedex_release_info{snapshot=\"2026-01-31.2\",bundled=\"false\"}"), 1.0);
    assert_eq!(next.get("venturedex_release_swaps_total"), 1.0);
    assert!(next.get("venturedex_releases_loaded") > first.get("venturedex_releases_loaded") - 1.0);
    assert_eq!(next.get("venturedex_release_file_changes_total"), 0.0);
    fs::remove_file(server.folder.path().join("index/2026-01-31.2/tables.bin")).unwrap();
    assert_eq!(server.line("files of release 2026-01-31.2")["level"], "WARN");
    assert_eq!(server.metrics().get("venturedex_release_file_changes_total"), 1.0);
    fs::write(server.folder.path().join("index/current"), "2030-01-01.1\n").unwrap();
    assert_eq!(server.line("2030-01-01.1")["level"], "WARN");
    assert_eq!(server.metrics().get("venturedex_release_rejections_total"), 1.0);
}

#[test]
fn a_server_that_waits_for_a_release_has_metrics_and_says_what_is_missing() {
    let server = Monitored::start(&["--index", "no-such-index"]);
    let reply = server.client().get("/api/v3/vcs");
    assert_eq!(reply.status, 503, "{}", reply.text);
    let refused = server.line("request refused");
    assert_eq!(refused["request_id"], reply.header("x-request-id"));
    assert_eq!(refused["cause"], "no release can be served yet");
    let metrics = server.metrics();
    assert_eq!(metrics.sum("venturedex_release_info"), 0.0);
    assert_eq!(metrics.get("venturedex_http_requests_total{route=\"unknown\",status=\"5xx\"}"), 1.0);
}

#[test]
fn an_in_memory_swap_changes_the_release_that_metrics_name() {
    let server = Server::bundled();
    let small = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/small");
    let catalog = catalog_of(&small);
    let version = catalog.version();
    server.state.releases.replace(Arc::new(catalog));
    let metrics = Metrics::of(&server);
    assert_eq!(metrics.get(&format!("venturedex_release_info{{snapshot=\"{version}\",bundled=\"false\"}}")), 1.0);
    assert_eq!((metrics.sum("venturedex_release_info"), metrics.get("venturedex_releases_loaded")), (1.0, 1.0));
}

#[test]
fn a_process_without_free_files_says_so_once_and_counts() {
    let folder = tempfile::tempdir().unwrap();
    let words = ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--log-format", "json"];
    let plain = command(&folder.path().join("data"), &words);
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 48 && exec \"$0\" \"$@\""]).arg(plain.get_program()).args(plain.get_args());
    limited.current_dir(folder.path());
    limited.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    for (name, value) in plain.get_envs() {
        assert!(value.is_none());
        limited.env_remove(name);
    }
    let log = File::create(folder.path().join("log")).unwrap();
    let server = Monitored::of(Process::spawn(&mut limited, log), folder);
    assert_eq!(server.metrics().get("process_max_fds"), 48.0, "and a connection to the metrics is kept");
    let address: SocketAddr = server.process.base.strip_prefix("http://").unwrap().parse().unwrap();
    let held: Vec<TcpStream> = (0..60).map(|_| TcpStream::connect(address).unwrap()).collect();
    server.line("cannot accept a connection");
    sleep(Duration::from_secs(1));
    let began = Instant::now();
    // Idle connections end after their time.
    drop(held);
    let failures = loop {
        match server.metrics.agent.get(format!("{}/metrics", server.metrics.base)).call() {
            Ok(mut reply) => break Metrics::parse(&reply.body_mut().read_to_string().unwrap()),
            Err(error) => assert!(began.elapsed() < Duration::from_secs(60), "{error}"),
        }
    };
    assert!(failures.get("venturedex_accept_failures_total") >= 2.0);
    let told = lines(&server.log()).iter().filter(|line| message(line).contains("cannot accept")).count();
    assert_eq!(told, 1, "once in ten seconds");
}

#[test]
fn the_access_log_has_one_line_for_each_request_and_no_query() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.jsonl");
    let mut server = Monitored::start(&["--access-log", path.to_str().unwrap()]);
    let mut client = server.client();
    let created = ["account", "create", "--email", "ada@example.com", "--tier", "pro"];
    run_command(&server.data(), &created, "").ok();
    let key = run_command(&server.data(), &["key", "create", "--email", "ada@example.com", "--name", "a"], "").ok();
    client.key = Some(key.trim().to_owned());
    let listed = client.get("/api/v3/vcs?limit=2&q=a-secret-query");
    assert_eq!(listed.status, 200);
    assert_eq!(client.get("/api/v3/vcs/no-such-firm").status, 404);
    client.key = None;
    assert_eq!(client.get("/vcs?q=a-secret-query").status, 200);
    assert_eq!(client.get("/a-secret-path").status, 404);
    let mut raw = TcpStream::connect(server.process.base.strip_prefix("http://").unwrap()).unwrap();
    raw.write_all(b"GET / FTP/7\r\n\r\n").unwrap();
    raw.read_to_end(&mut Vec::new()).unwrap();
    assert_eq!(server.process.terminate(), Some(0));
    let text = fs::read_to_string(&path).unwrap();
    assert!(!text.contains("secret"), "{text}");
    let written = lines(&path);
    let summary: Vec<(&str, u64, &str)> = written
        .iter()
        .map(|line| {
            (line["route"].as_str().unwrap(), line["status"].as_u64().unwrap(), line["method"].as_str().unwrap())
        })
        .collect();
    let expected = [
        ("/api/v3/vcs", 200, "GET"),
        ("/api/v3/vcs/{slug}", 404, "GET"),
        ("/vcs", 200, "GET"),
        ("unknown", 404, "GET"),
        ("unknown", 400, "other"),
    ];
    assert_eq!(summary, expected);
    assert_eq!((&written[0]["tier"], &written[0]["api"]), (&"pro".into(), &"v3".into()));
    assert_eq!(written[0]["request_id"], listed.header("x-request-id"));
    assert!(written[0]["bytes"].as_u64().unwrap() > 0 && written.iter().all(duration_is_plausible));
    let fields: BTreeSet<&str> = written[0].as_object().unwrap().keys().map(String::as_str).collect();
    let page = parse(&Server::bundled().anonymous().get("/docs/operate/metrics").text);
    let documented = page.first("h2#access-log ~ div > table").texts("td:first-child");
    assert_eq!(documented.iter().map(String::as_str).collect::<BTreeSet<_>>(), fields);
}

#[test]
fn settings_of_logs_and_metrics_are_checked() {
    let data = tempfile::tempdir().unwrap();
    for (words, expected) in [
        (["--log-format", "xml"], "json"),
        (["--log-slow", "0"], "1 to 3600000"),
        (["--metrics-listen", "here"], "9090, 127.0.0.1:9090"),
        (["--access-log", "/no/such/folder/log"], "--access-log /no/such/folder/log"),
        (["--metrics-listen", "192.0.2.1:9"], "--metrics-listen 192.0.2.1:9"),
    ] {
        let ended = run_command(data.path(), &[&["--listen", "127.0.0.1:0"], &words[..]].concat(), "");
        assert!(ended.code.is_some_and(|code| code > 0) && ended.err.contains(expected), "{words:?}: {}", ended.err);
    }
    let log = data.path().join("log");
    let settings = ["--metrics-listen", "0.0.0.0:0"];
    let _server = Process::start_with(data.path(), &settings, File::create(&log).unwrap());
    wait_for("anyone who reaches this address reads the metrics", &log);
}

/// The code of an authenticator app now.
fn totp_code(secret: &TotpSecret) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    app_code(secret, now as i64)
}

#[test]
fn no_secret_of_any_flow_is_in_a_log_in_the_metrics_or_in_the_database() {
    let sink = Sink::start(&[]);
    let (smtp, folder) = (format!("smtp://{}", sink.address), tempfile::tempdir().unwrap());
    let (access, audit) = (folder.path().join("access.log"), folder.path().join("audit.log"));
    let settings = [
        ("--smtp-url", smtp.as_str()),
        ("--mail-from", "noreply@venturedex.example"),
        ("--access-log", access.to_str().unwrap()),
        ("--audit-log", audit.to_str().unwrap()),
        ("--log-slow", "1"),
        ("--trusted-proxies", "127.0.0.1"),
    ];
    let settings: Vec<&str> = settings.iter().flat_map(|(name, value)| [*name, *value]).collect();
    let mut server = Monitored::start(&settings);
    let base = server.process.base.clone();
    let email = "grace.secret@example.com";
    let wrong = "a wrong password of hers";
    let mut browser = Browser::based(&base);
    // Each of these must be found nowhere; those of the first list, in the database neither.
    let mut secrets: Vec<String> = vec![PASSWORD.to_owned(), wrong.to_owned()];
    let mut private: Vec<String> = vec![email.to_owned(), "198.51.100.77".to_owned()];

    assert_eq!(browser.post("/signup", &[("email", email), ("password", PASSWORD)]).status, 303);
    let link = sink.link(email);
    secrets.push(token(&link).to_owned());
    browser.get(&link);
    assert_eq!(browser.post("/verify", &[("token", token(&link))]).status, 303);
    assert_eq!(Browser::based(&base).post("/signin", &[("email", email), ("password", wrong)]).status, 422);
    let (key, id) = browser.create_key("laptop-secret-name");
    private.push("laptop-secret-name".to_owned());
    let client = browser.client(&key);
    assert_eq!(client.get("/api/v3/vcs?q=query-secret-one").status, 200);
    assert_eq!(client.send("GET", "/api/v3/vcs?limit=1", &[("x-forwarded-for", "198.51.100.77")]).status, 200);
    assert_eq!(client.send("GET", "/api/v3/vcs", &[("x-request-id", &format!("my-{key}"))]).status, 200);
    assert_eq!(client.get(&format!("/api/v3/vcs?api_key={key}")).status, 400);
    assert_eq!(client.get(&format!("/{key}")).status, 404);
    client.get("/api/v3/vcs/slug-secret-one");
    client.get("/vcs/slug-secret-one?q=query-secret-two");
    client.post("/api/mcp", &TOOL_CALL.replace("lunar", "query-secret-three"));
    secrets
        .extend(["query-secret-one", "query-secret-two", "query-secret-three", "slug-secret-one"].map(str::to_owned));
    secrets.push(key.clone());
    secrets.push(key[4..34].to_owned());

    let setup = browser.post("/account/totp/setup", &[]);
    let totp = field(&setup, "secret");
    let secret: TotpSecret = totp.parse().unwrap();
    // Stored in clear, since codes are computed from it; the docs say so.
    private.push(totp.clone());
    let on = browser.post("/account/totp/enable", &[("secret", &totp), ("code", &totp_code(&secret))]);
    assert_eq!(on.status, 201, "{}", on.text);
    let codes = recovery_codes(&on);
    secrets.extend(codes.iter().cloned());
    secrets.extend(browser.cookies.values().cloned());
    let mut there = Browser::based(&base);
    let first = there.post("/signin", &[("email", email), ("password", PASSWORD)]);
    let pending = field(&first, "pending");
    assert_eq!(there.post("/signin/code", &[("pending", &pending), ("code", &codes[0])]).status, 303);
    secrets.push(pending);
    secrets.extend(there.cookies.values().cloned());

    assert_eq!(there.post("/reset", &[("email", email)]).status, 303);
    let link = sink.link(email);
    secrets.push(token(&link).to_owned());
    there.get(&link);
    let new = "eleven loud herons";
    assert_eq!(there.post("/reset/password", &[("token", token(&link)), ("new", new)]).status, 303);
    secrets.push(new.to_owned());
    browser.post(&format!("/account/keys/{id}/revoke"), &[]);
    let metrics = server.metrics.get("/metrics").text;
    assert_eq!(server.process.terminate(), Some(0));

    let mut texts = vec![("the metrics".to_owned(), metrics.into_bytes())];
    for path in [server.log(), access, audit] {
        texts.push((path.display().to_string(), fs::read(path).unwrap()));
    }
    let contains = |text: &[u8], secret: &str| text.windows(secret.len()).any(|window| window == secret.as_bytes());
    for (name, text) in &texts {
        assert!(text.len() > 300, "{name}: {}", String::from_utf8_lossy(text));
        for secret in secrets.iter().chain(&private).filter(|secret| secret.len() > 5) {
            assert!(!contains(text, secret), "{name} has {secret}: {}", String::from_utf8_lossy(text));
        }
    }
    let mut checked = 0;
    for file in fs::read_dir(server.data()).unwrap() {
        let path = file.unwrap().path();
        let content = fs::read(&path).unwrap();
        checked += content.len();
        for secret in secrets.iter().filter(|secret| secret.len() > 5) {
            assert!(!contains(&content, secret), "{} has {secret}", path.display());
        }
    }
    assert!(checked > 10_000);
}
