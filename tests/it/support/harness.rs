//! What tests are played on: catalogs made from folders, servers on free ports, and a client.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use auth::account::KeyName;
use auth::quota::{AnonymousLimits, Tier, Tiers, WorkPrice};
use auth::watch::{Evaluation, NewWatch};
use auth::{AuthService, RateLimitConfig, SqliteStore};
use catalog::{Catalog, TextIndexes};
use data::{NoProgress, Table, compile};
use futures_util::stream;
use mcp::McpQuota;
use release::ActiveRelease;
use service::alerts::Alerts;
use service::alerts::webhook::Networks;
use service::{BulkAccess, Operator, State};
use tempfile::TempDir;
use tokio::sync::oneshot;
use transport::ResponseCache;
use transport::origin_policy::Hosts;
use transport::server::Limits;
use venturedex::app::Router;

/// The folder of the real data. `None` skips a test; fails if all tests must run.
pub fn real_data() -> Option<PathBuf> {
    let folder = std::env::var_os("VENTUREDEX_REAL_DATA").map(PathBuf::from).filter(|folder| folder.is_dir());
    if folder.is_none() {
        assert!(!wants_all(), "VENTUREDEX_REAL_DATA names no folder, and VENTUREDEX_TEST_ALL=1 wants it");
        eprintln!("skipped: VENTUREDEX_REAL_DATA names no folder of real data");
    }
    folder
}

/// The compiled real data, of which all tests share one copy. `None` as of [`real_data`].
pub fn real_catalog() -> Option<Arc<Catalog>> {
    static CATALOG: OnceLock<Arc<Catalog>> = OnceLock::new();
    let folder = real_data()?;
    Some(Arc::clone(CATALOG.get_or_init(|| Arc::new(catalog_of(&folder)))))
}

/// Whether a piece that is missing fails its test.
pub fn wants_all() -> bool {
    std::env::var_os("VENTUREDEX_TEST_ALL").is_some_and(|all| all == "1")
}

/// An integer with separators between thousands: `5,000`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Number of random inputs of a property: `all` if all tests must run, otherwise a `few`. Each run draws others.
pub fn cases(all: u32, few: u32) -> u32 {
    if wants_all() { all } else { few }
}

/// For `step_by`: each item if all tests must run, otherwise one of `few`.
pub fn one_of(few: usize) -> usize {
    if wants_all() { 1 } else { few }
}

/// Whether tests that take long run, as far as shorter ones hold nearly the same. `false` skips a test.
pub fn runs_long_tests() -> bool {
    if !wants_all() {
        eprintln!("skipped: it takes long; VENTUREDEX_TEST_ALL=1 runs it");
    }
    wants_all()
}

/// How often something is repeated: `all` times as `.ci/full releases` does it, otherwise a `few` times.
pub fn rounds(all: usize, few: usize) -> usize {
    if wants_rounds() { all } else { few }
}

/// Whether tests that repeat something do it as often as the project promises.
pub fn wants_rounds() -> bool {
    std::env::var_os("VENTUREDEX_TEST_ROUNDS").is_some_and(|rounds| rounds == "all")
}

/// Whether a program of the system runs with these arguments. `false` skips a test; fails if all rounds must run.
pub fn runs(program: &str, arguments: &[&str]) -> bool {
    let runs = Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success());
    if !runs {
        assert!(!wants_rounds(), "`{program}` does not run here, and all rounds want it");
        eprintln!("skipped: `{program}` does not run here");
    }
    runs
}

/// Pseudo-random numbers, the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn upto(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    /// An index of a list of this length.
    pub fn below(&mut self, length: usize) -> usize {
        self.upto(length as u64) as usize
    }
}

/// A fixed sequence of numbers for each seed (SplitMix64).
pub struct Numbers(pub u64);

impl Numbers {
    /// A number below `bound`; 0 if that is 0.
    pub fn upto(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }

    /// An index of a list of this length; 0 if that is 0.
    pub fn below(&mut self, length: usize) -> usize {
        self.upto(length as u64) as usize
    }

    pub fn pick<'v, T>(&mut self, values: &'v [T]) -> &'v T {
        &values[self.below(values.len())]
    }
}

/// Resident memory of a process in KiB; `None` if the system does not say.
pub fn resident(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// The folder of the bundled dataset.
pub fn bundled_folder() -> PathBuf {
    root().join("dataset")
}

/// The folder of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Compiles a dataset and opens it in memory.
pub fn catalog_of(folder: &Path) -> Catalog {
    let compiled = match compile(folder, &NoProgress) {
        Ok(compiled) => compiled,
        Err(report) => panic!("{}", report.errors().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
    };
    let snapshot = compiled.snapshot().unwrap();
    let texts = TextIndexes::in_memory(&snapshot).unwrap();
    Catalog::new(snapshot, texts)
}

/// Copies a dataset to a temporary folder with another version.
pub fn copy_as(folder: &Path, version: &str) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    let place = copy.path().join("snapshot.toml");
    let text = fs::read_to_string(&place).unwrap();
    let changed: Vec<String> = text
        .lines()
        .map(|line| if line.starts_with("version") { format!("version = \"{version}\"") } else { line.to_owned() })
        .collect();
    fs::write(place, changed.join("\n")).unwrap();
    copy
}

/// The bundled dataset as another version, with one of eight reviews: these take half of the time in which its release is
/// compiled, for tests that look at something else.
pub fn copy_with_few_reviews(version: &str) -> TempDir {
    let copy = copy_as(&bundled_folder(), version);
    let path = copy.path().join("reviews.csv");
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let header = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let mut writer = csv::Writer::from_path(path).unwrap();
    writer.write_record(&header).unwrap();
    rows.iter().step_by(8).for_each(|row| writer.write_record(row).unwrap());
    writer.flush().unwrap();
    copy
}

/// All servers of this process share it, and so the texts that one of them has searched for.
pub fn bundled() -> Arc<Catalog> {
    static CATALOG: OnceLock<Arc<Catalog>> = OnceLock::new();
    Arc::clone(CATALOG.get_or_init(|| Arc::new(catalog::bundled().unwrap())))
}

/// The bundled dataset as if it were published, so that it is held when another release replaces it. All tests share it.
pub fn published() -> Arc<Catalog> {
    static CATALOG: OnceLock<Arc<Catalog>> = OnceLock::new();
    Arc::clone(CATALOG.get_or_init(|| Arc::new(catalog_of(&bundled_folder()))))
}

/// The bundled dataset as the release of the next day. All tests share it.
pub fn next_release() -> Arc<Catalog> {
    static CATALOG: OnceLock<Arc<Catalog>> = OnceLock::new();
    let compiled = || Arc::new(catalog_of(copy_as(&bundled_folder(), "2026-11-21.1").path()));
    Arc::clone(CATALOG.get_or_init(compiled))
}

/// All tests come from one address.
const PLENTY: RateLimitConfig = RateLimitConfig { pages_per_minute: 1_000_000, sign_ups_per_hour: 1_000 };

/// The default limits, but for clients without a key.
fn plenty_without_key() -> Tiers {
    let mut tiers = Tiers::default();
    tiers.anonymous = AnonymousLimits { requests: 1_000_000, rows: 1_000_000_000 };
    tiers
}

/// A running server; it ends when this is dropped.
pub struct Server {
    pub address: SocketAddr,
    pub state: Arc<State>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
    data: TempDir,
}

impl Server {
    /// Serves a catalog on a free port.
    pub fn of(catalog: impl Into<Arc<Catalog>>) -> Self {
        Self::serving(catalog.into(), None, Operator::default(), PLENTY, plenty_without_key(), BulkAccess::Open)
    }

    /// Serves the bundled snapshot as the service at an address.
    pub fn named(public_url: &str) -> Self {
        Self::run_by(public_url, Operator::default())
    }

    /// As [`Server::named`], with an operator.
    pub fn run_by(public_url: &str, operator: Operator) -> Self {
        Self::serving(bundled(), Some(public_url), operator, PLENTY, plenty_without_key(), BulkAccess::Open)
    }

    /// Serves the bundled snapshot for an operator, at its own address.
    pub fn of_operator(operator: Operator) -> Self {
        Self::serving(bundled(), None, operator, PLENTY, plenty_without_key(), BulkAccess::Open)
    }

    /// Serves a catalog whose bulk files only some may download.
    pub fn offering(catalog: Catalog, bulk: BulkAccess) -> Self {
        Self::serving(Arc::new(catalog), None, Operator::default(), PLENTY, plenty_without_key(), bulk)
    }

    /// The folder of accounts and keys.
    pub fn data(&self) -> &Path {
        self.data.path()
    }

    /// Serves the bundled snapshot to clients that may have so many pages a minute and sign-ups an hour.
    pub fn allowing(pages_per_minute: u32, sign_ups_per_hour: u32) -> Self {
        let rate_limits = RateLimitConfig { pages_per_minute, sign_ups_per_hour };
        Self::serving(bundled(), None, Operator::default(), rate_limits, plenty_without_key(), BulkAccess::Open)
    }

    /// Serves the bundled snapshot with these limits of callers.
    pub fn with_tiers(tiers: Tiers) -> Self {
        Self::serving(bundled(), None, Operator::default(), PLENTY, tiers, BulkAccess::Key)
    }

    fn serving(
        catalog: Arc<Catalog>,
        public_url: Option<&str>,
        operator: Operator,
        rate_limits: RateLimitConfig,
        tiers: Tiers,
        bulk: BulkAccess,
    ) -> Self {
        let data = tempfile::tempdir().unwrap();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let own_url = format!("http://{address}");
        let state = state_with(catalog, data.path(), public_url.ok_or(&own_url), operator, rate_limits, tiers, bulk);
        let mcp_quota = McpQuota {
            state: Arc::clone(&state),
            daily_limit: 100,
            pools: ["hosted=3@192.0.2.0/24+2001:db8::/32"].map(|pool| pool.parse().unwrap()).into(),
        };
        let router = Router::new(&state, mcp_quota, &mcp::Settings::new(state.public_url.clone()));
        let (stop, stopped) = oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let stops = stream::once(async {
                let _ = stopped.await;
            });
            runtime.block_on(transport::server::run(listener, router, stops, Limits::default())).unwrap();
        });
        Self { address, state, stop: Some(stop), thread: Some(thread), data }
    }

    /// Serves the bundled snapshot.
    pub fn bundled() -> Self {
        Self::of(bundled())
    }

    /// A client with a fresh key of `tier`.
    pub fn client(&self, tier: Tier) -> Client {
        let key = self.state.auth.add_demo_key(tier).unwrap().reveal().to_owned();
        Client { base: format!("http://{}", self.address), key: Some(key), agent: agent() }
    }

    /// A client with a key of an account, which has a saved search (1), a list (2) and an alert of each.
    pub fn account_client(&self, tier: Tier) -> Client {
        let auth = &self.state.auth;
        let email = "saver@example.com".parse().unwrap();
        let account = auth.store().create_account(&email, tier, None, NOON).unwrap().id;
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let name: KeyName = "saved".parse().unwrap();
        let created = runtime.block_on(auth.create_key(account, name.clone(), None, NOON)).unwrap();
        let served = self.state.releases.current().version();
        let store = auth.store();
        for query in [Some("stage=seed"), None] {
            let records = ["alder-capital".to_owned()];
            let watch = NewWatch { name: &name, table: Table::Firms, query, records: &records, served };
            let watch = store.add_watch(account, watch, NOON).unwrap();
            let (reason, fields) = if query.is_some() { ("match", "") } else { ("change", "\"city\"") };
            let entry = format!(
                "{{\"reason\":\"{reason}\",\"key\":\"alder-capital\",\"name\":\"Alder Capital\",\
                 \"page\":\"/vcs/alder-capital\",\"fields\":[{fields}],\"merged_into\":null}}"
            );
            let evaluation = Evaluation {
                watch: watch.id,
                evaluated: served,
                since: served,
                problem: None,
                news: Some((1, format!("[{entry}]"))),
                moved: Vec::new(),
            };
            assert_eq!(store.add_evaluations("2026-11-21.1".parse().unwrap(), &[evaluation], NOON).unwrap(), 1);
        }
        Client { base: format!("http://{}", self.address), key: Some(created.key.reveal().to_owned()), agent: agent() }
    }

    /// A client without a key.
    pub fn anonymous(&self) -> Client {
        Client { base: format!("http://{}", self.address), key: None, agent: agent() }
    }
}

/// What the routes of a service share; `data` is the folder of accounts and keys.
pub fn state(catalog: impl Into<Arc<Catalog>>, data: &Path, public_url: &str) -> Arc<State> {
    state_with(
        catalog.into(),
        data,
        Ok(public_url),
        Operator::default(),
        PLENTY,
        plenty_without_key(),
        BulkAccess::Open,
    )
}

/// `public_url` is `Err` if the operator chose none: the address on which the server listens.
fn state_with(
    catalog: Arc<Catalog>,
    data: &Path,
    public_url: Result<&str, &String>,
    operator: Operator,
    limits: RateLimitConfig,
    tiers: Tiers,
    bulk: BulkAccess,
) -> Arc<State> {
    let has_public_url = public_url.is_ok();
    let public_url = public_url.unwrap_or_else(|own| own);
    let store = SqliteStore::open(data).unwrap().with_tiers(tiers);
    let auth = AuthService::with_store(Box::new(store), limits, NOON).unwrap();
    Arc::new(State {
        releases: Arc::new(ActiveRelease::new(catalog, 3)),
        index: None,
        alerts: Arc::new(Alerts::new(auth.cursor_secret(), Some(Networks::default()))),
        auth,
        public_url: public_url.to_owned(),
        has_public_url,
        operator,
        well_known: Default::default(),
        bulk,
        response_cache: ResponseCache::new(64 << 20),
        memory: Default::default(),
        trusted_proxies: vec!["127.0.0.1".parse().unwrap()],
        clock: noon,
        stopping: Default::default(),
        work: Default::default(),
        // Tests run slow code.
        work_price: WorkPrice { of_request: Duration::from_secs(1) },
        telemetry: Arc::new(transport::Telemetry::new(std::time::Duration::from_secs(1), None)),
        hosts: Hosts::new(public_url, false).expect("a URL"),
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Unix seconds of 2026-11-21T12:00:00Z: the clock of every server that a test runs in its own process, so that no result
/// depends on the day, and no quota resets during a test.
pub const NOON: i64 = 1_795_262_400;

fn noon() -> i64 {
    NOON
}

fn unpacked(bytes: &[u8]) -> String {
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes), &mut text).unwrap();
    text
}

pub fn agent() -> ureq::Agent {
    agent_with(10)
}

/// A client that returns redirects as they are.
pub fn agent_without_redirects() -> ureq::Agent {
    agent_with(0)
}

fn agent_with(max_redirects: u32) -> ureq::Agent {
    let config = ureq::Agent::config_builder().http_status_as_error(false).max_redirects(max_redirects);
    // A new connection fills its buffers with zeros, which takes long in code that is not optimized. The longest URL has 28 KB.
    let config = config.input_buffer_size(32 << 10).output_buffer_size(48 << 10);
    // The server closes idle connections after 15 seconds: a kept one must not be used when that is near.
    config.max_idle_age(Duration::from_secs(5)).build().new_agent()
}

/// Asks a server as its users do.
#[derive(Clone)]
pub struct Client {
    pub base: String,
    pub key: Option<String>,
    pub agent: ureq::Agent,
}

/// What came back.
pub struct Reply {
    pub status: u16,
    pub headers: http::HeaderMap,
    pub text: String,
}

/// The status and the error code; the code is empty if the response is not an error.
pub fn code(reply: &Reply) -> (u16, String) {
    (reply.status, reply.json()["code"].as_str().unwrap_or("").to_owned())
}

impl Reply {
    /// The body as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// A header's text; empty if the header is absent.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The slugs (or ids) of a list.
    pub fn slugs(&self) -> Vec<String> {
        let json = self.json();
        let rows = json["data"].as_array().unwrap_or_else(|| panic!("no list: {}", self.text)).clone();
        let key = |row: &serde_json::Value| row.get("slug").or(row.get("id")).unwrap().as_str().unwrap().to_owned();
        rows.iter().map(key).collect()
    }
}

impl Client {
    /// A client of a server in another process, with a key.
    pub fn at(base: &str, key: &str) -> Self {
        Self { base: base.to_owned(), key: Some(key.to_owned()), agent: agent() }
    }

    /// What is used of the key's quota today.
    pub fn used(&self) -> u64 {
        self.get("/api/v3/usage").json()["data"]["used"].as_u64().unwrap()
    }

    /// `GET`s a path with its query.
    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[])
    }

    /// Sends a request without a body.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = http::Request::builder().method(method).uri(format!("{}{path}", self.base));
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(()).unwrap();
        let mut response = self.agent.run(request).unwrap();
        let bytes = response.body_mut().read_to_vec().unwrap();
        let header = |name: &str| response.headers().get(name).map_or("", |value| value.to_str().unwrap());
        let text = match header("content-type") {
            // Their letters say nothing; that they are there and how long is enough.
            "font/woff2" | "image/png" | "application/octet-stream" => String::from_utf8_lossy(&bytes).into_owned(),
            _ if header("content-encoding") == "gzip" => unpacked(&bytes),
            _ => String::from_utf8(bytes).unwrap(),
        };
        Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
    }

    /// `POST`s JSON.
    pub fn post(&self, path: &str, json: &str) -> Reply {
        self.post_with(path, json, &[])
    }

    pub fn post_with(&self, path: &str, json: &str, headers: &[(&str, &str)]) -> Reply {
        let mut request = self.agent.post(format!("{}{path}", self.base)).header("content-type", "application/json");
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.send(json).unwrap();
        let text = response.body_mut().read_to_string().unwrap();
        Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
    }

    /// `GET`s a list with parameters that need encoding.
    pub fn list(&self, path: &str, parameters: &[(&str, &str)]) -> Reply {
        let mut query = form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters);
        self.get(&format!("{path}?{}", query.finish()))
    }
}
