//! Requests per second over HTTP, relative to a fixed body of the same size that a warp route of the same server sends to
//! the same clients, alternately.
//!
//! `cargo bench --bench rates -- [--index DIR] [--clients 48] [--seconds 3] [--rounds 5] [--only list] [--uncounted]`
//!
//! Without an index the bundled snapshot is served. A repeated response is cached; `uncached` sends requests that differ, so
//! that each response is computed. Both pass the same accept loop with the same request headers. The fixed body is in memory
//! and has no headers but its type and length. `--uncounted` serves without metrics and logs. Needs `wrk`.

mod release;
mod service;

use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream;
use rustix::time::{ClockId, clock_gettime};

use auth::quota::Tier;
use auth::{AuthService, RateLimitConfig, SqliteStore};
use data::Table;
use mcp::McpQuota;
use platform::clock::now;
use transport::handler::run_filter;
use transport::server::{Limits, RequestBody, ResponseBody, run};
use transport::{ErrorContext, Handler, RequestParts, Telemetry};
use venturedex::app::Router;
use warp::filters::BoxedFilter;
use warp::{Filter, Reply};

struct Options {
    index: Option<String>,
    only: Option<String>,
    uncounted: bool,
    clients: usize,
    seconds: usize,
    rounds: usize,
}

fn options() -> Options {
    let mut options = Options { index: None, only: None, uncounted: false, clients: 48, seconds: 3, rounds: 5 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = |default: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
        match argument.as_str() {
            "--clients" => options.clients = number(options.clients),
            "--seconds" => options.seconds = number(options.seconds),
            "--rounds" => options.rounds = number(options.rounds),
            "--index" => options.index = arguments.next(),
            "--only" => options.only = arguments.next(),
            "--uncounted" => options.uncounted = true,
            _ => {}
        }
    }
    options
}

fn main() {
    let options = options();
    if Command::new("wrk").arg("--version").output().is_err() {
        println!("skipped: wrk is not installed");
        return;
    }
    let catalog = release::catalog(options.index.as_deref());
    let snapshot = catalog.snapshot();
    let slug = snapshot.slug(Table::Firms, 0).to_owned();
    println!("release {}, {} firms, {} clients", catalog.version(), snapshot.counts().firms, options.clients);

    let folder = std::env::temp_dir().join(format!("venturedex-rates-{}", std::process::id()));
    let limits = RateLimitConfig { pages_per_minute: u32::MAX, ..RateLimitConfig::default() };
    let store = SqliteStore::open(&folder).expect("a data folder");
    let auth = AuthService::with_store(Box::new(store), limits, now()).expect("a service");
    let key = auth.add_demo_key(Tier::Enterprise).expect("a key").reveal().to_owned();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).expect("a port");
    let base = format!("http://{}", listener.local_addr().expect("an address"));
    let state = service::state(catalog, auth, &base, now, None);
    let quota = McpQuota { state: Arc::clone(&state), daily_limit: 100, pools: Vec::new().into() };
    let router = Router::new(&state, quota, &mcp::Settings::new(base.clone()));
    let body: &'static [u8] = vec![b'x'; 1 << 20].leak();
    let fixed = warp::path!("fixed" / usize)
        .map(|size: usize| warp::http::Response::new(body.get(..size).unwrap_or(body)).into_response());
    let limits = Limits { connections_per_address: 4_096, ..Limits::default() };
    let service = WithFixed { fixed: fixed.boxed(), router, uncounted: options.uncounted };
    runtime.spawn(run(listener, service, stream::pending(), limits));

    let subjects = [
        ("list", "/api/v3/vcs?limit=20&stage=seed&country=US&sort=-investment_count".to_owned()),
        ("list, v1", "/api/v1/vcs?limit=20&stage=seed&country=US&sort=-investment_count".to_owned()),
        ("list, any", "/api/v3/vcs?limit=20".to_owned()),
        ("single", format!("/api/v3/vcs/{slug}")),
        (
            "fields",
            "/api/v3/vcs?limit=20&stage=seed&country=US&sort=-investment_count&fields=name,slug,healthScore,country,stages"
                .to_owned(),
        ),
        ("page, list", "/vcs".to_owned()),
        ("page, firm", format!("/vcs/{slug}")),
    ];
    println!(
        "{:<14} {:>7} {:>10} {:>10} {:>9} {:>9}  ratios, in order",
        "request", "bytes", "fixed/s", "ours/s", "fixed CPU", "ours CPU"
    );
    for (name, path, uncached) in subjects.iter().flat_map(|(name, path)| [(name, path, false), (name, path, true)]) {
        if options.only.as_deref().is_some_and(|only| only != *name) {
            continue;
        }
        // A page is computed in the queue of searches, which turns most of so many clients away.
        if uncached && !path.starts_with("/api/") {
            continue;
        }
        // The second request is cached.
        let size = size_of(&base, path, &key).max(size_of(&base, path, &key));
        let mut rounds: Vec<(Load, Load)> = (0..options.rounds)
            .map(|_| {
                let fixed = rate(&options, &base, &format!("/fixed/{size}"), &key, uncached);
                (fixed, rate(&options, &base, path, &key, uncached))
            })
            .collect();
        let ratio = |(fixed, ours): &(Load, Load)| ours.rate / fixed.rate;
        rounds.sort_by(|left, right| ratio(left).total_cmp(&ratio(right)));
        let (fixed, ours) = &rounds[rounds.len() / 2];
        let ratios: Vec<String> = rounds.iter().map(|round| format!("{:.3}", ratio(round))).collect();
        let name = if uncached { format!("{name}, uncached") } else { (*name).to_owned() };
        println!(
            "{name:<14} {size:>7} {:>10.0} {:>10.0} {:>6.1} µs {:>6.1} µs  {}",
            fixed.rate,
            ours.rate,
            fixed.cost,
            ours.cost,
            ratios.join(" ")
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}

/// The service and, below `/fixed`, a warp route.
#[derive(Clone)]
struct WithFixed {
    fixed: BoxedFilter<(warp::reply::Response,)>,
    router: Router,
    uncounted: bool,
}

impl Handler for WithFixed {
    /// `None` for the warp route.
    type Pending = Option<<Router as Handler>::Pending>;

    fn respond(&self, request: &RequestParts<'_>) -> Result<http::Response<Bytes>, Self::Pending> {
        match request.path.starts_with("/fixed/") {
            true => Err(None),
            false => self.router.respond(request).map_err(Some),
        }
    }

    async fn respond_later(
        &self,
        pending: Self::Pending,
        request: http::Request<RequestBody>,
    ) -> http::Response<ResponseBody> {
        match pending {
            None => run_filter(&self.fixed, request).await,
            Some(pending) => self.router.respond_later(pending, request).await,
        }
    }

    fn telemetry(&self) -> Option<&Telemetry> {
        self.router.telemetry().filter(|_| !self.uncounted)
    }

    fn error_context(&self, path: &str) -> ErrorContext<'_> {
        self.router.error_context(path)
    }
}

/// Pages that are requested with a key are not cached; they get a header that says nothing.
fn key_header(path: &str) -> &'static str {
    if path.starts_with("/api/") { "Authorization" } else { "X-Authorization" }
}

fn size_of(base: &str, path: &str, key: &str) -> usize {
    let answer = ureq::get(format!("{base}{path}")).header(key_header(path), format!("Bearer {key}")).call();
    answer.expect("an answer").body_mut().read_to_vec().expect("a body").len()
}

/// The result of a run.
struct Load {
    /// Requests a second.
    rate: f64,
    /// CPU time of the server for a request, in microseconds.
    cost: f64,
}

/// CPU time of this process in seconds: wrk is another.
fn spent() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Sends requests for some seconds; `uncached` gives each a parameter of its own, which the service ignores.
fn rate(options: &Options, base: &str, path: &str, key: &str, uncached: bool) -> Load {
    let script = std::env::temp_dir().join(format!("venturedex-rates-{}.lua", std::process::id()));
    let mark = if path.contains('?') { '&' } else { '?' };
    let counting = format!(
        "local n = 0\nfunction request()\n n = n + 1\n return wrk.format('GET', '{path}{mark}_=' .. n .. '{}')\nend\n",
        now()
    );
    std::fs::write(&script, if uncached { counting } else { String::new() }).expect("a script");
    let before = spent();
    let output = Command::new("wrk")
        .arg("-s")
        .arg(&script)
        .args(["-t1", &format!("-c{}", options.clients), &format!("-d{}s", options.seconds)])
        .args(["-H", &format!("{}: Bearer {key}", key_header(path)), &format!("{base}{path}")])
        .output()
        .expect("wrk");
    let _ = std::fs::remove_file(script);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(!text.contains("Non-2xx"), "{path}: {text}");
    let number = |prefix: &str| {
        let line = text.lines().find_map(|line| line.trim().strip_prefix(prefix));
        line.and_then(|rest| rest.split_whitespace().next())
            .and_then(|number| number.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    let requests =
        text.lines().find(|line| line.contains("requests in")).and_then(|line| line.split_whitespace().next());
    let requests = requests.and_then(|number| number.parse::<f64>().ok()).unwrap_or(f64::NAN);
    Load { rate: number("Requests/sec:"), cost: (spent() - before) / requests * 1e6 }
}
