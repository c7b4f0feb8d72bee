//! The cost of generated requests, one route after the other: CPU time of the server's only thread from the start of a
//! request to the start of a health check after it, and the longest piece of work, as the access log of a second server
//! has it. That one has several threads, since work gives its turn back only where others can run meanwhile.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use auth::quota::Tier;
use auth::{AuthService, RateLimitConfig, SqliteStore};
use catalog::Catalog;
use mcp::{self, McpQuota};
use platform::clock::{now, thread_time};
use transport::server::{Limits, RequestBody, ResponseBody, run};
use transport::telemetry::{AccessLog, LogFormat};
use transport::{ErrorContext, Handler, RequestParts};
use venturedex::app::Router;

use crate::client::{Connection, Reply, encoded, get, post, tool_call};
use crate::generate::{Param, Words, reconciliation};
use crate::random::Random;
use crate::{Options, Report, release, service};

/// The dearest requests of a route, which are measured again: other programs take caches and time from the first run.
const CANDIDATES: usize = 25;
const REPETITIONS: usize = 5;

/// No further requests are generated for a route after this time: a file of all rounds takes a quarter of a second.
const ROUTE_TIME: Duration = Duration::from_secs(15);

/// Requests with longer pieces are printed; microseconds.
const SHOWN_PIECE: f64 = 2_500.0;

/// Of so many requests, one is taken for an outlier, the first time it is sent.
const OUTLIERS_IN: usize = 50;

/// A request with many items is generated as often as a hundredth of the others.
const MANY_ITEMS: usize = 100;

/// A piece of work costs at most this many times the median of a search for a misspelt name.
const PIECE_TIMES_SEARCH: f64 = 3.0;

/// A request that is one piece costs at most this many times the median of its route, or of such a search: a list without
/// an error takes some microseconds, and the suggestions for unknown values are searches.
const TIMES_THE_MEDIAN: f64 = 20.0;
const MAX_COST_MS: f64 = 15.0;

/// Notes the CPU time at the start of each request.
#[derive(Clone)]
struct Measured {
    router: Router,
    nanos: Arc<AtomicU64>,
}

impl Handler for Measured {
    type Pending = <Router as Handler>::Pending;

    fn respond(&self, request: &RequestParts<'_>) -> Result<http::Response<Bytes>, Self::Pending> {
        self.nanos.store(thread_time().as_nanos() as u64, Ordering::Relaxed);
        self.router.respond(request)
    }

    async fn respond_later(
        &self,
        pending: Self::Pending,
        request: http::Request<RequestBody>,
    ) -> http::Response<ResponseBody> {
        self.router.respond_later(pending, request).await
    }

    fn admits_host(&self, path: &str, headers: &HeaderMap) -> bool {
        self.router.admits_host(path, headers)
    }

    fn error_context(&self, path: &str) -> ErrorContext<'_> {
        self.router.error_context(path)
    }

    fn telemetry(&self) -> Option<&transport::Telemetry> {
        self.router.telemetry()
    }
}

/// Two servers with the same data and accounts.
struct Servers {
    /// Has one thread, whose time is measured.
    timed: SocketAddr,
    /// Works in pieces.
    pausing: SocketAddr,
    /// The access log of the latter.
    log: PathBuf,
    /// A header line.
    key: String,
    words: Words,
    _folder: TempDir,
}

fn servers(index: Option<&str>, nanos: &Arc<AtomicU64>) -> Servers {
    let catalog = || release::catalog(index);
    let words = Words::of(&catalog());
    println!("release {}, {} firms", catalog().version(), catalog().snapshot().counts().firms);
    let folder = tempfile::tempdir().expect("a folder");
    let unlimited = RateLimitConfig { pages_per_minute: u32::MAX, sign_ups_per_hour: u32::MAX };
    let store = SqliteStore::open(folder.path()).expect("a data folder");
    let auth = AuthService::with_store(Box::new(store), unlimited, now()).expect("a service");
    let key = format!("authorization: Bearer {}\r\n", auth.add_demo_key(Tier::Enterprise).expect("a key").reveal());
    let log = folder.path().join("access.log");
    let access_log = AccessLog::open(&log, LogFormat::Json, now).expect("a log");
    let one_thread = Builder::new_current_thread().enable_all().build().expect("a runtime");
    let several_threads = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    Servers {
        timed: serve(catalog(), Arc::clone(&auth), None, one_thread, nanos),
        pausing: serve(catalog(), auth, Some(access_log), several_threads, nanos),
        log,
        key,
        words,
        _folder: folder,
    }
}

/// Serves from another thread, as long as the program runs.
fn serve(
    catalog: Catalog,
    auth: Arc<AuthService>,
    access_log: Option<AccessLog>,
    runtime: Runtime,
    nanos: &Arc<AtomicU64>,
) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let base = format!("http://{address}");
    let state = service::state(catalog, auth, &base, now, access_log);
    let quota = McpQuota { state: Arc::clone(&state), daily_limit: u32::MAX, pools: Vec::new().into() };
    let router = Router::new(&state, quota, &mcp::Settings::new(base));
    let handler = Measured { router, nanos: Arc::clone(nanos) };
    std::thread::spawn(move || {
        runtime.block_on(async {
            listener.set_nonblocking(true).expect("a socket");
            let listener = TcpListener::from_std(listener).expect("a socket");
            run(listener, handler, stream::pending(), Limits::default()).await.expect("a server");
        });
    });
    address
}

type Generator = dyn Fn(&Words, &mut Random) -> Vec<u8>;

/// A route whose requests are generated.
struct Subject {
    name: String,
    request: Box<Generator>,
    /// True if a request has many items, and each is a piece of work.
    is_batch: bool,
}

/// In microseconds.
struct Cost {
    median: f64,
    dearest: f64,
    longest_piece: f64,
}

pub fn measure(options: &Options, report: &mut Report) {
    let nanos = Arc::new(AtomicU64::new(0));
    let servers = servers(options.index.as_deref(), &nanos);
    crate::run(async {
        let mut client = Client { servers: &servers, timed: None, pausing: None, nanos, tagged: 0 };
        println!(
            "{:<44} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7}",
            "route", "requests", "p50, µs", "p99, µs", "max, µs", "piece, µs", "ratio"
        );
        let search = client.measure(&misspelt_names(&servers.key), options.requests.min(2_000)).await.median;
        let (mut dearest, mut steepest, mut longest) =
            ((0.0, String::new()), (0.0, String::new()), (0.0, String::new()));
        let note = |worst: &mut (f64, String), value: f64, name: &str| {
            if value > worst.0 {
                *worst = (value, name.to_owned());
            }
        };
        for subject in subjects(&mut client).await {
            let requests = if subject.is_batch { options.requests.div_ceil(MANY_ITEMS) } else { options.requests };
            let cost = client.measure(&subject, requests).await;
            note(&mut longest, cost.longest_piece / search, &subject.name);
            if !subject.is_batch {
                note(&mut dearest, cost.dearest, &subject.name);
                note(&mut steepest, cost.dearest / cost.median.max(search), &subject.name);
            }
        }
        let of = |what: &str, worst: &(f64, String)| format!("{what}: {}", worst.1);
        report.at_most(&of("longest piece, in searches", &longest), longest.0, PIECE_TIMES_SEARCH, "x");
        report.at_most(&of("dearest request of one piece", &dearest), dearest.0 / 1e3, MAX_COST_MS, "ms");
        report.at_most(
            &of("dearest in relation to its route or a search", &steepest),
            steepest.0,
            TIMES_THE_MEDIAN,
            "x",
        );
    });
}

struct Client<'a> {
    servers: &'a Servers,
    timed: Option<Connection>,
    pausing: Option<Connection>,
    nanos: Arc<AtomicU64>,
    /// Requests with an id of ours so far.
    tagged: usize,
}

impl Client<'_> {
    /// Microseconds of CPU, and the response.
    async fn send(&mut self, request: &[u8]) -> io::Result<(f64, Reply)> {
        let reply = send(self.servers.timed, &mut self.timed, request).await?;
        let start = self.nanos.load(Ordering::Relaxed);
        send(self.servers.timed, &mut self.timed, &get("/healthz", "")).await?;
        let cost = (self.nanos.load(Ordering::Relaxed) - start) as f64 / 1e3;
        Ok((cost, reply))
    }

    /// Sends a request with an id, by which the access log has its longest piece.
    async fn send_tagged(&mut self, request: &[u8]) -> String {
        self.tagged += 1;
        let id = format!("tagged-{}", self.tagged);
        let text = String::from_utf8_lossy(request);
        let request = text.replacen("\r\n", &format!("\r\nx-request-id: {id}\r\n"), 1);
        send(self.servers.pausing, &mut self.pausing, request.as_bytes()).await.expect("a response");
        id
    }

    /// Measures a route and prints its costs.
    async fn measure(&mut self, subject: &Subject, requests: usize) -> Cost {
        let mut costs = Vec::with_capacity(requests);
        let mut candidates: Vec<(f64, Vec<u8>)> = Vec::new();
        let mut random = Random(0x5eed_cafe_f00d_1234);
        let mut sent = Vec::with_capacity(requests);
        let started = Instant::now();
        for _ in 0..requests {
            if started.elapsed() > ROUTE_TIME {
                break;
            }
            let request = (subject.request)(&self.servers.words, &mut random);
            sent.push((self.send_tagged(&request).await, request.clone()));
            let (cost, reply) = self.send(&request).await.expect("a response");
            assert!(!subject.name.starts_with("POST") || reply.status == 200, "{}: {}", subject.name, reply.body);
            costs.push(cost);
            if candidates.len() < CANDIDATES || cost > candidates[CANDIDATES - 1].0 {
                candidates.insert(candidates.partition_point(|(dearer, _)| *dearer > cost), (cost, request));
                candidates.truncate(CANDIDATES);
            }
        }
        let (mut worst, mut repeated_ids, mut last) = ((0.0, &Vec::new()), Vec::new(), String::new());
        for (first, candidate) in &candidates {
            let (mut least, mut ids) = (*first, Vec::new());
            for number in 0..REPETITIONS {
                let request = repeated(candidate, number);
                least = least.min(self.send(&request).await.expect("a response").0);
                last = self.send_tagged(&request).await;
                ids.push(last.clone());
            }
            repeated_ids.push((ids, candidate));
            if least > worst.0 {
                worst = (least, candidate);
            }
        }
        let pieces = self.pieces(&last).await;
        let least = |ids: &[String]| ids.iter().filter_map(|id| pieces.get(id)).copied().reduce(f64::min);
        // The repetitions find pictures and similar records in a cache. The first requests do not, but have outliers.
        let first = sent.iter().filter_map(|(id, request)| Some((pieces.get(id).copied()?, request)));
        let mut first: Vec<(f64, &Vec<u8>)> = first.collect();
        first.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let repeated = repeated_ids.iter().filter_map(|(ids, request)| Some((least(ids)?, *request)));
        let longest = first.get(first.len() / OUTLIERS_IN).copied().into_iter().chain(repeated);
        let longest = longest.max_by(|(one, _), (other, _)| one.total_cmp(other)).unwrap_or((0.0, worst.1));
        costs.sort_by(f64::total_cmp);
        let at = |share: f64| costs[((costs.len() - 1) as f64 * share) as usize];
        let median = at(0.5);
        println!(
            "{:<44} {:>8} {median:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>7.1}",
            subject.name,
            costs.len(),
            at(0.99),
            worst.0,
            longest.0,
            worst.0 / median
        );
        let shown = [(worst, MAX_COST_MS * 1e3 / 2.0), (longest, SHOWN_PIECE)];
        for ((_, request), _) in shown.into_iter().filter(|((cost, _), bound)| !subject.is_batch && cost > bound) {
            let text = String::from_utf8_lossy(request).replace("\r\n", " ");
            println!("  {}", text.chars().take(600).collect::<String>());
        }
        Cost { median, dearest: worst.0, longest_piece: longest.0 }
    }

    /// Microseconds of the longest piece by the ids of requests; waits for the line of the last one.
    async fn pieces(&self, last: &str) -> HashMap<String, f64> {
        loop {
            let text = fs::read_to_string(&self.servers.log).expect("a log");
            let lines = text.lines().filter(|line| line.contains("tagged-"));
            let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let id = |line: &Value| line["request_id"].as_str().unwrap_or_default().to_owned();
            let all: HashMap<String, Option<f64>> = lines.map(|line| (id(&line), line["piece_ms"].as_f64())).collect();
            if all.contains_key(last) {
                // Lines that were read.
                fs::File::options().write(true).open(&self.servers.log).and_then(|log| log.set_len(0)).expect("a log");
                return all.into_iter().filter_map(|(id, piece)| Some((id, piece? * 1e3))).collect();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// Sends a request, by a new connection if the server ended the former one.
async fn send(address: SocketAddr, connection: &mut Option<Connection>, request: &[u8]) -> io::Result<Reply> {
    let mut open = match connection.take() {
        Some(open) => open,
        None => Connection::open(address).await?,
    };
    let reply = open.send(request).await?;
    *connection = (!reply.is_last()).then_some(open);
    assert!(reply.status < 500, "{}: {}", reply.status, String::from_utf8_lossy(request));
    Ok(reply)
}

/// The same request with a parameter that the service ignores: the response must not come from the cache.
fn repeated(request: &[u8], number: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(request);
    let mark = if text.lines().next().is_some_and(|line| line.contains('?')) { '&' } else { '?' };
    text.replacen(" HTTP/1.1", &format!("{mark}_={number} HTTP/1.1"), 1).into_bytes()
}

/// Every path of the three documents, every public page, every tool, and every form with many items.
async fn subjects(client: &mut Client<'_>) -> Vec<Subject> {
    let key = client.servers.key.clone();
    let mut subjects = Vec::new();
    let mut document = Value::Null;
    for version in ["v1", "v2", "v3"] {
        let text = client.send(&get(&format!("/openapi/{version}.json"), "")).await.expect("a document").1.body;
        document = serde_json::from_str(&text).expect("JSON");
        for (path, operations) in document["paths"].as_object().expect("paths") {
            let Some(operation) = operations.get("get") else { continue };
            subjects.push(list(&format!("/api/{version}{path}"), Param::of(operation, &document), &key));
            let types = operation.pointer("/responses/200/content").and_then(Value::as_object);
            if types.is_some_and(|types| types.contains_key("text/csv")) {
                for extension in ["csv", "ndjson"] {
                    let path = format!("/api/{version}{path}.{extension}");
                    subjects.push(Subject { is_batch: true, ..list(&path, Vec::new(), &key) });
                }
            }
        }
    }
    // Pages take the parameters of the lists that they show.
    for page in site::public_paths() {
        let shown = match page {
            "/" => "/suggest",
            "/rounds" => "/funding-rounds",
            page => page,
        };
        subjects.push(list(page, Param::of(&document["paths"][shown]["get"], &document), ""));
    }
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = post("/api/mcp", "content-type: application/json\r\naccept: application/json\r\n", call);
    let tools: Value = serde_json::from_str(&client.send(&call).await.expect("the tools").1.body).expect("JSON");
    for tool in tools["result"]["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name").to_owned();
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let params: Vec<Param> = properties.into_iter().map(|(name, schema)| Param { name, schema }).collect();
        let (called, required) = (name.clone(), schema["required"].clone());
        let request = move |words: &Words, random: &mut Random| {
            tool_call("", &called, &words.arguments(&params, &required, random))
        };
        subjects.push(Subject { name, request: Box::new(request), is_batch: false });
    }
    subjects.extend(batches(&key));
    subjects
}

/// Look-ups of as many items as they take.
fn batches(key: &str) -> [Subject; 5] {
    const FORM: &str = "content-type: application/x-www-form-urlencoded\r\n";
    let batch = |name: &str, request: Box<Generator>| Subject { name: name.to_owned(), request, is_batch: true };
    let (json_key, csv_key) = (key.to_owned(), key.to_owned());
    let names = |words: &Words, random: &mut Random, count: usize| -> Vec<String> {
        (0..count).map(|_| words.looked_up_name(random)).collect()
    };
    let items = move |words: &Words, random: &mut Random| {
        let items: Vec<Value> = names(words, random, 500).into_iter().map(|name| json!({ "name": name })).collect();
        let headers = format!("{json_key}content-type: application/json\r\n");
        post("/api/v3/resolve", &headers, &json!({ "items": items }).to_string())
    };
    let table = move |words: &Words, random: &mut Random| {
        let headers = format!("{csv_key}content-type: text/csv\r\naccept: text/csv\r\n");
        post("/api/v3/resolve", &headers, &format!("name\n{}\n", names(words, random, 500).join("\n")))
    };
    let page = move |words: &Words, random: &mut Random| {
        let text = names(words, random, 100).join("\n");
        let part = format!("--part\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n{text}\r\n--part--\r\n");
        post("/resolve", "content-type: multipart/form-data; boundary=part\r\n", &part)
    };
    let queries = |words: &Words, random: &mut Random| reconciliation(words, "", random);
    let extension = |words: &Words, random: &mut Random| {
        let ids: Vec<String> = (0..100).map(|_| format!("vcs/{}", words.slug(random))).collect();
        let properties =
            ["name", "aliases", "stages", "sectors", "country", "investment_count", "identifiers", "website"];
        let properties: Vec<Value> = properties.iter().map(|id| json!({ "id": id })).collect();
        let extend = json!({ "ids": ids, "properties": properties }).to_string();
        post("/reconcile", FORM, &format!("extend={}", encoded(&extend)))
    };
    [
        batch("POST /api/v3/resolve", Box::new(items)),
        batch("POST /api/v3/resolve, a table", Box::new(table)),
        batch("POST /resolve", Box::new(page)),
        batch("POST /reconcile, queries", Box::new(queries)),
        batch("POST /reconcile, extend", Box::new(extension)),
    ]
}

fn misspelt_names(key: &str) -> Subject {
    let key = key.to_owned();
    let request = move |words: &Words, random: &mut Random| {
        get(&format!("/api/v3/startups?q={}", encoded(&words.misspelt_name(random))), &key)
    };
    Subject { name: "a misspelt name".to_owned(), request: Box::new(request), is_batch: false }
}

fn list(path: &str, params: Vec<Param>, headers: &str) -> Subject {
    let (template, headers) = (path.to_owned(), headers.to_owned());
    let request = move |words: &Words, random: &mut Random| {
        let mut path = template.clone();
        while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
            let value = words.path_value(&path[start + 1..end], &template, random);
            path.replace_range(start..=end, &encoded(&value).replace('+', "%20"));
        }
        let query = words.query(&params, random);
        get(&if query.is_empty() { path } else { format!("{path}?{query}") }, &headers)
    };
    Subject { name: path.to_owned(), request: Box::new(request), is_batch: false }
}
