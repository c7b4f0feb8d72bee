//! From settings to a server that runs: the releases, the callers, the routes, and what happens beside them.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::MissedTickBehavior;

use crate::app::Router;
use crate::app::settings::ServeSettings;
use crate::auth::{AuthService, StoreError};
use crate::catalog::Catalog;
use crate::data::Table;
use crate::http::RequestIds;
use crate::http::ResponseCache;
use crate::http::State;
use crate::mcp::McpQuota;
use crate::mcp::{OriginPolicyError, Settings};
use crate::quota::Tier;
use crate::release::{self, ActiveRelease, ReleaseError, ReleaseStore};

use crate::http::server::{Limits, run, stop_signal};

/// How often keys are looked for that another process made or revoked.
const REFRESH: Duration = Duration::from_millis(250);
/// How often usage is written to the store: where the process is killed, at most the last second's is lost, the time that
/// a write takes included.
const FLUSH: Duration = Duration::from_millis(500);

/// Why the server cannot run.
#[derive(Debug)]
pub enum ServeError {
    /// The address cannot be listened on.
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// There is nothing to serve.
    Release(ReleaseError),
    /// The data folder cannot be used.
    AuthService(StoreError),
    /// A setting of the tool endpoint is wrong.
    OriginPolicy(OriginPolicyError),
    /// The system refuses something the server needs.
    System(io::Error),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listen { address, source } if source.kind() == io::ErrorKind::AddrInUse => write!(
                f,
                "--listen {address}: another program listens there: end it, or choose another port, such as --listen {}:0 \
                 for a free one",
                address.ip()
            ),
            Self::Listen { address, source } => write!(f, "--listen {address}: {source}"),
            Self::Release(error) => write!(f, "--index: {error}"),
            Self::AuthService(error) => write!(f, "--data: {error}"),
            Self::OriginPolicy(error) => write!(f, "{error}"),
            Self::System(error) => write!(f, "{error}"),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves until SIGTERM or Ctrl-C, then lets what runs finish.
///
/// # Errors
/// [`ServeError`] where it cannot begin.
pub async fn serve(settings: ServeSettings) -> Result<(), ServeError> {
    let listen = settings.listen;
    let listener = TcpListener::bind(listen).await.map_err(|source| ServeError::Listen { address: listen, source })?;
    let bound = listener.local_addr().map_err(ServeError::System)?;
    let stop = stop_signal().map_err(ServeError::System)?;

    let index = settings.index.clone();
    let started = off_runtime(move || {
        release::start(ReleaseStore::at(index), release::DEFAULT_KEEP, |event| eprintln!("{event}"))
    })
    .await?;
    let watcher = started.map_err(ServeError::Release)?;
    let live = watcher.active();
    let data = settings.data.clone();
    let allowances = settings.allowances();
    let access = off_runtime(move || AuthService::open_with(&data, allowances, now()))
        .await?
        .map_err(ServeError::AuthService)?;

    let public_url = settings.base_url(bound);
    let ids = || -> Result<RequestIds, ServeError> {
        let seed = getrandom::u64().map_err(|error| ServeError::System(io::Error::other(error)))?;
        Ok(RequestIds::new(seed))
    };
    let state = Arc::new(State {
        live: Arc::clone(&live),
        access: Arc::clone(&access),
        public_url: public_url.clone(),
        kept: ResponseCache::default(),
        trusted_proxies: settings.trusted_proxies.clone(),
        clock: now,
    });
    let tool_endpoint = Settings {
        on_loopback: bound.ip().is_loopback(),
        allowed_origins: settings.allowed_origins.clone(),
        calls_per_day: Some(settings.mcp_daily_limit),
        ..Settings::new(public_url.clone())
    };
    let callers = McpQuota {
        state: Arc::clone(&state),
        daily_limit: settings.mcp_daily_limit,
        pools: settings.mcp_pools.clone().into(),
    };
    let router = Router::new(&state, callers, &tool_endpoint).map_err(ServeError::OriginPolicy)?;

    let demo_key = match bound.ip().is_loopback() {
        true => Some(access.add_demo_key(Tier::Free).map_err(ServeError::AuthService)?),
        false => None,
    };
    println!("{}", greeting(&live, &public_url, demo_key.as_ref().map(crate::auth::ApiKey::reveal)));

    let beside = [
        tokio::spawn(watcher.run(release::POLL_INTERVAL)),
        every(REFRESH, "keys were not looked for", &access, |access| access.refresh().map(|_| ())),
        every(FLUSH, "usage was not written", &access, |access| access.flush(now()).map(|_| ())),
    ];
    let limits =
        Limits { connections: settings.max_connections as usize, drain: settings.drain(), ..Limits::default() };
    let report = run(listener, router, stop, limits, ids()?).await.map_err(ServeError::System)?;
    for task in beside {
        task.abort();
    }
    let counted = off_runtime(move || last_flush(&access)).await?;
    if report.aborted > 0 {
        eprintln!("{} connections aborted at the shutdown deadline", report.aborted);
    }
    counted.map(|_| ()).map_err(ServeError::AuthService)
}

/// Writes what was counted, the last time; a store that another process holds is waited for.
fn last_flush(access: &AuthService) -> Result<usize, StoreError> {
    let mut tries = 3;
    loop {
        match access.flush(now()) {
            Err(StoreError::Busy) if tries > 1 => tries -= 1,
            ended => return ended,
        }
    }
}

/// Unix seconds now.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

async fn off_runtime<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ServeError> {
    spawn_blocking(work).await.map_err(|error| ServeError::System(io::Error::other(error)))
}

/// Does `work` on a blocking thread again and again; what goes wrong is told once, until it goes right again.
fn every(
    period: Duration,
    failure: &'static str,
    access: &Arc<AuthService>,
    work: fn(&AuthService) -> Result<(), StoreError>,
) -> JoinHandle<()> {
    let access = Arc::clone(access);
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = false;
        loop {
            ticks.tick().await;
            let access = Arc::clone(&access);
            let done = spawn_blocking(move || work(&access)).await;
            match done {
                Ok(Ok(())) => told = false,
                Ok(Err(error)) if !told => {
                    eprintln!("{failure}: {error}");
                    told = true;
                }
                Ok(Err(_)) => {}
                Err(_) => return,
            }
        }
    })
}

/// What the start prints: what is served, where, and a line to try it with.
fn greeting(live: &ActiveRelease<Catalog>, base: &str, demo_key: Option<&str>) -> String {
    let catalog = live.current();
    let snapshot = catalog.snapshot();
    let counts = snapshot.counts();
    let mut text = format!("VentureDex {}, snapshot {}", env!("CARGO_PKG_VERSION"), snapshot.version());
    if !snapshot.title().is_empty() {
        text.push_str(&format!(": {}", snapshot.title()));
    }
    text.push_str(&format!(
        "\n{} firms, {} startups, {} funding rounds, {} people, {} reviews, {} sectors\n\n",
        counts.firms,
        counts.startups,
        counts.funding_rounds,
        counts.people,
        catalog.totals().reviews,
        counts.sectors
    ));
    text.push_str(&format!(
        "  Pages  {base}/\n  REST   {base}/api/v3\n  MCP    {base}/api/mcp   (six tools, no key needed)\n"
    ));
    if let Some(key) = demo_key {
        let name = if counts.firms > 0 { snapshot.name(Table::Firms, 0) } else { "" };
        let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("q", name).finish();
        text.push_str(&format!(
            "\nTry it with this key, which was made for this run (100 requests a day):\n\n  curl -H 'Authorization: Bearer \
             {key}' '{base}/api/v3/vcs?{query}&limit=3'\n"
        ));
    } else {
        text.push_str(
            "\nMake a key: venturedex account create --email you@example.com, then venturedex key create …\n",
        );
    }
    text
}
