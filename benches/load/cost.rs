//! The cost of generated requests, one path after the other: CPU time of the server's only thread from the start of a
//! request to the start of a health check after it.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use tokio::net::TcpListener;

use auth::quota::Tier;
use auth::{AuthService, RateLimitConfig, SqliteStore};
use mcp::{self, McpQuota};
use platform::clock::now;
use transport::server::{Limits, RequestBody, ResponseBody, run};
use transport::{ErrorContext, Handler, RequestParts};
use venturedex::app::Router;

use crate::client::{Connection, encoded, get, post, tool_call};
use crate::generate::{Param, Words};
use crate::random::Random;
use crate::{Options, Report, release, service};

/// The dearest requests of a path, which are measured again: other programs take caches and time from the first run.
const CANDIDATES: usize = 25;
const REPETITIONS: usize = 5;

/// A request costs at most this many times the median of its path, or of a search for a misspelt name: a list without an
/// error takes some microseconds, and the suggestions for unknown values are searches.
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
        let time = clock_gettime(ClockId::ThreadCPUTime);
        self.nanos.store(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64, Ordering::Relaxed);
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
}

/// A server on a thread of its own, with a key.
fn serve(index: Option<&str>, nanos: &Arc<AtomicU64>) -> (SocketAddr, String, Words) {
    let catalog = release::catalog(index);
    let words = Words::of(&catalog);
    println!("release {}, {} firms", catalog.version(), catalog.snapshot().counts().firms);
    let data = tempfile::tempdir().expect("a folder");
    let unlimited = RateLimitConfig { pages_per_minute: u32::MAX, sign_ups_per_hour: u32::MAX };
    let store = SqliteStore::open(data.path()).expect("a data folder");
    let auth = AuthService::with_store(Box::new(store), unlimited, now()).expect("a service");
    let key = format!("authorization: Bearer {}\r\n", auth.add_demo_key(Tier::Enterprise).expect("a key").reveal());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let base = format!("http://{address}");
    let state = service::state(catalog, auth, &base, now);
    let quota = McpQuota { state: Arc::clone(&state), daily_limit: u32::MAX, pools: Vec::new().into() };
    let router = Router::new(&state, quota, &mcp::Settings::new(base));
    let handler = Measured { router, nanos: Arc::clone(nanos) };
    std::thread::spawn(move || {
        let _data = data;
        crate::run(async {
            listener.set_nonblocking(true).expect("a socket");
            let listener = TcpListener::from_std(listener).expect("a socket");
            run(listener, handler, stream::pending(), Limits::default()).await.expect("a server");
        });
    });
    (address, key, words)
}

type Generator = dyn Fn(&Words, &mut Random) -> Vec<u8>;

/// A path whose requests are generated.
struct Subject {
    name: String,
    request: Box<Generator>,
}

pub fn measure(options: &Options, report: &mut Report) {
    let nanos = Arc::new(AtomicU64::new(0));
    let (address, key, words) = serve(options.index.as_deref(), &nanos);
    crate::run(async {
        let mut client = Client { connection: Connection::open(address).await.expect("a connection"), address, nanos };
        println!("{:<44} {:>9} {:>9} {:>9} {:>7}", "path", "p50, µs", "p99, µs", "max, µs", "ratio");
        let search = client.path(&misspelt_names(&key), &words, options.requests.min(2_000)).await.0;
        let (mut dearest, mut steepest) = ((0.0, String::new()), (0.0, String::new()));
        for subject in subjects(&mut client, &key).await {
            let (middle, worst) = client.path(&subject, &words, options.requests).await;
            let ratio = worst / middle.max(search);
            if worst > dearest.0 {
                dearest = (worst, subject.name.clone());
            }
            if ratio > steepest.0 {
                steepest = (ratio, subject.name);
            }
        }
        report.at_most(&format!("dearest request: {}", dearest.1), dearest.0 / 1e3, MAX_COST_MS, "ms");
        report.at_most(
            &format!("dearest in relation to its path or a search: {}", steepest.1),
            steepest.0,
            TIMES_THE_MEDIAN,
            "x",
        );
    });
}

struct Client {
    connection: Connection,
    address: SocketAddr,
    nanos: Arc<AtomicU64>,
}

impl Client {
    /// Microseconds of CPU, and the body.
    async fn send(&mut self, request: &[u8]) -> io::Result<(f64, String)> {
        let reply = self.connection.send(request).await?;
        let start = self.nanos.load(Ordering::Relaxed);
        if reply.is_last() {
            self.connection = Connection::open(self.address).await?;
        }
        self.connection.send(&get("/healthz", "")).await?;
        let cost = (self.nanos.load(Ordering::Relaxed) - start) as f64 / 1e3;
        assert!(reply.status < 500, "{}: {}", reply.status, String::from_utf8_lossy(request));
        Ok((cost, reply.body))
    }

    /// Median and maximum of a path in microseconds; prints them.
    async fn path(&mut self, subject: &Subject, words: &Words, requests: usize) -> (f64, f64) {
        let mut costs = Vec::with_capacity(requests);
        let mut candidates: Vec<(f64, Vec<u8>)> = Vec::new();
        let mut random = Random(0x5eed_cafe_f00d_1234);
        for _ in 0..requests {
            let request = (subject.request)(words, &mut random);
            let (cost, _) = self.send(&request).await.expect("a response");
            costs.push(cost);
            if candidates.len() < CANDIDATES || cost > candidates[CANDIDATES - 1].0 {
                candidates.insert(candidates.partition_point(|(dearer, _)| *dearer > cost), (cost, request));
                candidates.truncate(CANDIDATES);
            }
        }
        let mut worst = (0.0, &Vec::new());
        for (first, request) in &candidates {
            let mut least = *first;
            for number in 0..REPETITIONS {
                least = least.min(self.send(&repeated(request, number)).await.expect("a response").0);
            }
            if least > worst.0 {
                worst = (least, request);
            }
        }
        costs.sort_by(f64::total_cmp);
        let at = |share: f64| costs[((costs.len() - 1) as f64 * share) as usize];
        let (middle, worst, request) = (at(0.5), worst.0, worst.1);
        println!("{:<44} {middle:>9.1} {:>9.1} {worst:>9.1} {:>7.1}", subject.name, at(0.99), worst / middle);
        if worst > MAX_COST_MS * 1e3 / 2.0 {
            println!(
                "  {}",
                String::from_utf8_lossy(request).replace("\r\n", " ").chars().take(600).collect::<String>()
            );
        }
        (middle, worst)
    }
}

/// The same request with a parameter that the service ignores: the response must not come from the cache.
fn repeated(request: &[u8], number: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(request);
    let mark = if text.lines().next().is_some_and(|line| line.contains('?')) { '&' } else { '?' };
    text.replacen(" HTTP/1.1", &format!("{mark}_={number} HTTP/1.1"), 1).into_bytes()
}

/// Every path of the three documents, every page and every tool.
async fn subjects(client: &mut Client, key: &str) -> Vec<Subject> {
    let mut subjects = Vec::new();
    let mut document = Value::Null;
    for version in ["v1", "v2", "v3"] {
        let text = client.send(&get(&format!("/openapi/{version}.json"), "")).await.expect("a document").1;
        document = serde_json::from_str(&text).expect("JSON");
        for (path, operations) in document["paths"].as_object().expect("paths") {
            if let Some(operation) = operations.get("get") {
                subjects.push(list(&format!("/api/{version}{path}"), Param::of(operation, &document), key));
            }
        }
    }
    // Pages take the parameters of the lists that they show.
    for page in ["/", "/suggest", "/vcs", "/startups", "/people", "/leaderboard", "/sectors"] {
        let shown = if page == "/" { "/suggest" } else { page };
        subjects.push(list(page, Param::of(&document["paths"][shown]["get"], &document), ""));
    }
    for page in ["/vcs/{slug}", "/startups/{slug}", "/people/{slug}"] {
        subjects.push(list(page, Vec::new(), ""));
    }
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let call = post("/api/mcp", "content-type: application/json\r\naccept: application/json\r\n", call);
    let tools: Value = serde_json::from_str(&client.send(&call).await.expect("the tools").1).expect("JSON");
    for tool in tools["result"]["tools"].as_array().expect("tools") {
        let name = tool["name"].as_str().expect("a name").to_owned();
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        let params: Vec<Param> = properties.into_iter().map(|(name, schema)| Param { name, schema }).collect();
        let (called, required) = (name.clone(), schema["required"].clone());
        let request = move |words: &Words, random: &mut Random| {
            tool_call("", &called, &words.arguments(&params, &required, random))
        };
        subjects.push(Subject { name, request: Box::new(request) });
    }
    subjects
}

fn misspelt_names(key: &str) -> Subject {
    let key = key.to_owned();
    let request = move |words: &Words, random: &mut Random| {
        get(&format!("/api/v3/startups?q={}", encoded(&words.misspelt_name(random))), &key)
    };
    Subject { name: "a misspelt name".to_owned(), request: Box::new(request) }
}

fn list(path: &str, params: Vec<Param>, headers: &str) -> Subject {
    let (template, headers) = (path.to_owned(), headers.to_owned());
    let request = move |words: &Words, random: &mut Random| {
        let mut path = template.clone();
        while let (Some(start), Some(end)) = (path.find('{'), path.find('}')) {
            path.replace_range(start..=end, &encoded(&words.slug(random)).replace('+', "%20"));
        }
        let query = words.query(&params, random);
        get(&if query.is_empty() { path } else { format!("{path}?{query}") }, &headers)
    };
    Subject { name: path.to_owned(), request: Box::new(request) }
}
