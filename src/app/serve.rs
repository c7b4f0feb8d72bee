//! Runs the server: settings, releases, accounts, the router, background tasks, shutdown.

use std::fs;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use listenfd::ListenFd;
use serde_json::json;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::MissedTickBehavior;
use tracing::level_filters::LevelFilter;

use crate::app::alerting::{self, Threads, log_failures};
use crate::app::limits::{lacks_address_space, lacks_files};
use crate::app::router::{Gate, is_own_path};
use crate::app::settings::ServeSettings;
use crate::app::{MetricsEndpoint, Router, memory};
use api::openapi::snippets::shell_word;
use auth::audit::AuditLog;
use auth::mail::{MailSender, MailTransport};
use auth::quota::{Tier, WorkPrice};
use auth::{ApiKey, AuthService, DataLock, StoreError};
use catalog::Catalog;
use data::{Counts, Table};
use mcp::{McpQuota, Settings};
use platform::clock::now;
use platform::limits::Limit;
use platform::memory::MemoryPart;
use platform::metrics::panics;
use release::remote::Replica;
use release::{ActiveRelease, KeyError, ReleaseError, ReleaseEvent, ReleaseStore, Starting};
use service::alerts::Alerts;
use service::alerts::webhook::Networks;
use service::well_known::{WellKnown, WellKnownError};
use service::{Brand, Operator, SignUp, State, VersionEnd};
use transport::origin_policy::{Hosts, PublicUrlError};
use transport::server::{run, stop_signals};
use transport::telemetry::{AccessLog, LogFormat};
use transport::{ResponseCache, Telemetry};

/// Interval at which the store is read for keys created or revoked by other processes.
const REFRESH: Duration = Duration::from_millis(250);
/// Interval at which usage is written to the store. A killed process loses at most a second, including a write.
const FLUSH: Duration = Duration::from_millis(500);

/// Reason why the server cannot run. Each message starts with the setting at fault.
#[derive(Debug, Error)]
pub enum ServeError {
    #[error(
        "--listen {0}: the address is in use: stop the other program, or choose another port, such as --listen {ip}:0 \
         for a free one", ip = .0.ip()
    )]
    AddressInUse(SocketAddr),
    #[error("--listen {0}: {1}")]
    Listen(SocketAddr, io::Error),
    #[error("--trust-key: {0}")]
    TrustKey(#[from] KeyError),
    #[error("--metrics-listen {0}: {1}; choose another port, such as {ip}:0 for a free one", ip = .0.ip())]
    MetricsListen(SocketAddr, io::Error),
    #[error("{setting} {}: {error}: name a file in a folder that the server may write to", path.display())]
    LogFile { setting: &'static str, path: PathBuf, error: io::Error },
    #[error("--well-known: {0}")]
    WellKnown(#[from] WellKnownError),
    #[error("--smtp-password-file {}: {error}", path.display())]
    SmtpPassword { path: PathBuf, error: io::Error },
    #[error(
        "--smtp-url contains a password, which others see: store it in a file and name it with --smtp-password-file"
    )]
    SmtpPasswordInUrl,
    #[error("--smtp-url names a user: store the password in a file and name it with --smtp-password-file")]
    NoSmtpPassword,
    #[error("--data: {0}")]
    Store(#[source] StoreError),
    /// An error of a PostgreSQL store; some of these errors name the setting themselves.
    #[error("{}{}", if .0.to_string().starts_with("--store") { "" } else { "--store: " }, .0)]
    SharedStore(#[source] StoreError),
    #[error(transparent)]
    PublicUrl(#[from] PublicUrlError),
    #[error("--index: {0}")]
    Releases(#[from] ReleaseError),
    #[error("{0}")]
    AddressSpace(String),
    #[error(transparent)]
    System(#[from] io::Error),
}

impl ServeError {
    fn log_file(setting: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::LogFile { setting, path: path.to_owned(), error }
    }
}

/// Serves until SIGTERM or Ctrl-C, then lets running requests finish.
pub async fn serve(settings: ServeSettings) -> Result<(), ServeError> {
    start_log(settings.log, settings.log_format);
    if let Err(error) = memory::keep_private() {
        tracing::warn!("other processes of this user may read the memory of the server: {error}");
    }
    let listener = listener(settings.listen).await?;
    let metrics_listener = metrics_listener(settings.metrics_listen).await?;
    let bound = listener.local_addr()?;
    let stop = stop_signals()?;

    let mut store = settings.releases()?;
    store.needs_public_license = settings.needs_public_license(bound);
    check_limits(&settings, &store)?;
    if let Some(problem) = store.permission_problem() {
        tracing::warn!("--index: {problem}");
    }
    let replica = settings.replica(&store)?.map(Arc::new);
    if let Some(replica) = &replica {
        follow(Arc::clone(replica), Duration::from_millis(settings.poll_interval.into()))?;
    }
    let starting = Starting::new(store, settings.keep_releases as usize, |event| match event {
        ReleaseEvent::Serving { .. } | ReleaseEvent::Verified { .. } => tracing::info!("{event}"),
        _ => tracing::warn!("{event}"),
    });
    let first = starting.clone();
    let started = blocking(move || first.start()).await?;
    let (data, store) = (settings.data.clone(), settings.store.clone());
    let store_error = if store.store.is_some() { ServeError::SharedStore } else { ServeError::Store };
    let rate_limits = settings.rate_limits();
    let opened = blocking(move || {
        // Each server has its own data folder, even if it shares the store with others.
        let lock = DataLock::acquire(&data).map_err(ServeError::Store)?;
        let opened = store.open(&data).and_then(|store| AuthService::with_store(store, rate_limits, now()));
        let auth = opened.map_err(store_error)?;
        auth.note_leases(&data);
        Ok::<_, ServeError>((lock, auth))
    });
    // Held until the last usage counts are written.
    let (_lock, auth) = opened.await??;

    if let Some(path) = &settings.audit_log {
        auth.log_to(AuditLog::open(path, now).map_err(ServeError::log_file("--audit-log", path))?);
    }

    let public_url = settings.base_url(bound);
    let mail = mail_transport(&settings)?;
    // Without a public URL, the address by which clients reach the machine is unknown.
    let any_address = settings.public_url.is_none() && !bound.ip().is_loopback();
    let hosts = Hosts::new(&public_url, any_address)?;
    let access_log = settings.access_log.as_ref().map(|path| {
        AccessLog::open(path, settings.log_format, now).map_err(ServeError::log_file("--access-log", path))
    });
    let slow = Duration::from_millis(u64::from(settings.log_slow));
    let telemetry = Arc::new(Telemetry::new(slow, access_log.transpose()?));
    let gate = Gate::new(hosts.clone(), public_url.clone(), Arc::clone(&telemetry), replica.clone());
    let metrics = MetricsEndpoint::new(Arc::clone(&telemetry), Arc::clone(&auth), now());
    if let Some(listener) = metrics_listener {
        let address = listener.local_addr()?;
        tracing::info!("metrics at http://{address}/metrics");
        if !address.ip().is_loopback() {
            tracing::warn!(
                "--metrics-listen {address}: anyone who reaches this address reads the metrics; allow only Prometheus to \
                 reach it, or listen on loopback"
            );
        }
        metrics.clone().serve(listener);
    }
    let well_known = match &settings.well_known {
        Some(folder) => WellKnown::load(folder, is_own_path)?,
        None => WellKnown::default(),
    };
    if settings.access.is_private() && settings.sign_up() == SignUp::Open {
        tracing::warn!(
            "--access {}: --sign-up is open, so that strangers can create an account and see everything; set it to invite or off",
            settings.access
        );
    }
    if settings.is_unaware_of_proxies(bound) {
        tracing::warn!(
            "--public-url is https, so a proxy is in front of this server, but --trusted-proxies names none: all visitors \
             count as one; set it to the proxy's address, such as 127.0.0.1"
        );
    }
    // Elsewhere the key would end up in a log, which only that of a demo may. A person also reads what is piped on.
    let is_terminal = [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
    let is_seen = settings.is_demo || is_terminal.contains(&true);
    let is_tried = bound.ip().is_loopback() && settings.public_url.is_none() && is_seen;
    // Without a quota: who tries the service is the operator.
    let demo_key = is_tried.then(|| auth.add_demo_key(Tier::Enterprise)).transpose().map_err(store_error)?;
    // Nobody else reaches such a server, but for a proxy that it knows nothing of.
    if bound.ip().is_loopback() && settings.public_url.is_none() && settings.trusted_proxies.is_empty() {
        auth.spare_local();
    }
    let needs_key = mcp_needs_key(&settings);
    let memory = settings.memory();
    let limits = settings.limits(bound);
    let drain = limits.drain;
    // Empty until the server is ready.
    let alerting = Arc::new(OnceLock::<Threads>::new());
    let (opening, alerting_threads) = (gate.clone(), Arc::clone(&alerting));
    let (base, owner) = (public_url.clone(), Arc::clone(&auth));
    // Builds the router once there is a release, and starts the threads that evaluate searches and send messages.
    let open = move |releases: Arc<ActiveRelease>| {
        let greeting = greeting(&settings, &releases.current(), &base, demo_key.as_ref().map(ApiKey::reveal));
        let index = settings.releases().ok();
        if let Some(replica) = replica {
            releases.follow(replica);
        }
        let (sign_up, bulk) = (settings.sign_up(), settings.bulk());
        let networks = settings.webhooks.then_some(Networks { further: settings.webhook_networks });
        let alerts = Arc::new(Alerts::new(owner.cursor_secret(), networks));
        let state = Arc::new(State {
            hosts,
            releases,
            index,
            auth: owner,
            public_url: base.clone(),
            has_public_url: settings.public_url.is_some(),
            operator: Operator {
                access: settings.access,
                sign_up,
                reviews: settings.reviews,
                brand: Brand { name: settings.brand_name, color: settings.brand_color },
                contact: settings.contact,
                imprint_url: settings.imprint_url,
                privacy_url: settings.privacy_url,
                terms_url: settings.terms_url,
                review_url: settings.review_url,
                version_ends: VersionEnd::with_announced(settings.version_end),
            },
            well_known,
            alerts,
            bulk,
            response_cache: ResponseCache::new(memory.part(MemoryPart::Responses)),
            memory,
            trusted_proxies: settings.trusted_proxies,
            clock: now,
            stopping: AtomicBool::new(false),
            work: Default::default(),
            work_price: WorkPrice { of_request: Duration::from_millis(settings.work_per_request.into()) },
            telemetry,
        });
        metrics.open(Arc::clone(&state));
        let threads = alerting::start(&state, mail);
        let mcp_settings = Settings {
            on_loopback: bound.ip().is_loopback(),
            allowed_origins: settings.allowed_origins,
            calls_per_day: Some(settings.mcp_daily_limit),
            ..Settings::new(base)
        };
        let mcp_quota = McpQuota {
            state: Arc::clone(&state),
            daily_limit: settings.mcp_daily_limit,
            pools: settings.mcp_pools.into(),
        };
        opening.open(Router::new(&state, mcp_quota, &mcp_settings));
        let _ = alerting_threads.set(threads);
        // Whoever reads the greeting finds the server ready.
        greet(&greeting);
    };
    let watching = match started {
        Ok(watcher) => {
            open(watcher.active());
            tokio::spawn(watcher.run(release::POLL_INTERVAL))
        }
        // Waiting would not help, and would look like a service that lacks data.
        Err(error) if error.needs_restart() => return Err(error.into()),
        Err(error) => {
            let (program, addresses) = (env!("CARGO_PKG_VERSION"), addresses(&public_url, needs_key));
            greet(&format!(
                "VentureDex {program}, waiting for a release\n\n{addresses}\nThe page above says how to publish one. `venturedex \
                 demo` serves invented data.\n"
            ));
            gate.refuse(error.to_string());
            let gate = gate.clone();
            tokio::spawn(async move {
                let refused = move |error: &ReleaseError| gate.refuse(error.to_string());
                let watcher = starting.wait(release::POLL_INTERVAL, refused).await;
                open(watcher.active());
                watcher.run(release::POLL_INTERVAL).await;
            })
        }
    };
    let background = [
        watching,
        run_every(REFRESH, "cannot refresh the keys", &auth, |auth| auth.refresh().map(|_| ())),
        run_every(FLUSH, "cannot write usage", &auth, |auth| auth.flush(now()).map(|_| ())),
    ];
    let aborted = run(listener, gate, stop, limits).await?;
    for task in background {
        task.abort();
    }
    blocking(move || alerting.get().map(|threads| threads.finish(drain))).await?;
    let flushed = blocking(move || last_flush(&auth)).await?;
    if aborted > 0 {
        tracing::warn!("{aborted} connections aborted at the shutdown deadline");
    }
    flushed.map(|_| ()).map_err(store_error)
}

/// Warns if connections may exceed the limit of open files; an error if the process would run out of address space.
fn check_limits(settings: &ServeSettings, releases: &ReleaseStore) -> Result<(), ServeError> {
    const THIS: &str = "this process";
    let connections = u64::from(settings.max_connections);
    let files = Limit::OpenFiles.of_process("self").and_then(|limit| lacks_files(THIS, limit, connections));
    if let Some(shortage) = files {
        tracing::warn!("--max-connections {connections}: {shortage}");
    }
    let space = Limit::AddressSpace.of_process("self").and_then(|limit| {
        let bytes = releases.bytes_to_load(settings.keep_releases as usize);
        lacks_address_space(THIS, limit, bytes)
    });
    space.map_or(Ok(()), |shortage| Err(ServeError::AddressSpace(shortage.to_string())))
}

pub(crate) fn mail_transport(settings: &ServeSettings) -> Result<Option<MailTransport>, ServeError> {
    let (Some(server), Some(from)) = (&settings.smtp_url, &settings.mail_from) else { return Ok(None) };
    let password = match &settings.smtp_password_file {
        _ if server.has_password => return Err(ServeError::SmtpPasswordInUrl),
        None if server.user.is_some() => return Err(ServeError::NoSmtpPassword),
        None => None,
        Some(path) => {
            let text = fs::read_to_string(path);
            let text = text.map_err(|error| ServeError::SmtpPassword { path: path.clone(), error })?;
            Some(text.trim_end_matches(['\r', '\n']).to_owned())
        }
    };
    let sender = MailSender { name: settings.brand_name.to_string(), address: from.as_str().to_owned() };
    Ok(Some(MailTransport::new(server, password, sender)))
}

/// Starts the log: one line per event on stderr, as text or JSON, with an RFC 3339 time stamp and a level.
fn start_log(level: LevelFilter, format: LogFormat) {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level).with_target(false);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).with_span_list(false).init(),
    }
    panics::log_panics();
}

/// The socket of a service manager (see `sd_listen_fds(3)`), so that a restart refuses no connection, or a new one.
async fn listener(listen: SocketAddr) -> Result<TcpListener, ServeError> {
    if let Some(passed) = ListenFd::from_env().take_tcp_listener(0)? {
        passed.set_nonblocking(true)?;
        return Ok(TcpListener::from_std(passed)?);
    }
    TcpListener::bind(listen).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => ServeError::AddressInUse(listen),
        _ => ServeError::Listen(listen, error),
    })
}

async fn metrics_listener(address: Option<SocketAddr>) -> Result<Option<TcpListener>, ServeError> {
    let Some(address) = address else { return Ok(None) };
    TcpListener::bind(address).await.map(Some).map_err(|error| ServeError::MetricsListen(address, error))
}

/// Prints a text, ignoring errors: a closed output is no reason to stop.
fn greet(text: &str) {
    let _ = writeln!(io::stdout(), "{text}");
}

/// Follows the object store, read once in each `interval`, as long as the program runs. While it cannot be read, the time
/// between attempts grows. Logs when the store fails or is not believed, and when it is followed again.
fn follow(replica: Arc<Replica>, interval: Duration) -> io::Result<()> {
    const LONGEST: Duration = Duration::from_secs(10);
    const TICK: Duration = Duration::from_millis(100);
    let run = move || {
        let (mut next, mut pause, mut is_failing) = (Instant::now(), interval, false);
        let (mut reported, mut is_warned) = (None, false);
        loop {
            if Instant::now() >= next {
                let polled = panics::catch(|| replica.poll(now()));
                match &polled {
                    Ok(Ok(())) if is_failing => tracing::info!("{} is followed again", replica.location()),
                    Ok(Err(error)) if !is_failing => {
                        tracing::warn!("cannot follow the object store, what is here stays in service: {error}");
                    }
                    _ => {}
                }
                is_failing = !matches!(polled, Ok(Ok(())));
                let fault = replica.fault();
                let kind = fault.as_ref().map(|fault| fault.kind);
                match &fault {
                    Some(fault) if kind != reported => {
                        tracing::warn!("the object store is not believed, what is here stays in service: {fault}");
                    }
                    None if reported.is_some() => tracing::info!("{} is believed again", replica.location()),
                    _ => {}
                }
                reported = kind;
                if !is_warned && replica.accepts_unsigned() {
                    is_warned = true;
                    tracing::warn!(
                        "--trust-key: releases must be signed, but `current` in {} is followed without a signature, because no \
                         delegation was seen: whoever may write there can bring an older release back; see `indexer delegate`",
                        replica.location()
                    );
                }
                pause = if is_failing { (pause * 2).min(LONGEST) } else { interval };
                next = Instant::now() + pause;
            }
            if let Err(error) = replica.activate(now()) {
                tracing::warn!("cannot activate the release of the object store: {error}");
                thread::sleep(interval);
            }
            thread::sleep(TICK.min(interval));
        }
    };
    thread::Builder::new().name("replica".into()).spawn(run).map(|_| ())
}

/// Writes the last usage counts; retries if another process has locked the store.
fn last_flush(auth: &AuthService) -> Result<usize, StoreError> {
    let mut tries = 3;
    loop {
        match auth.close(now()) {
            Err(StoreError::Busy) if tries > 1 => tries -= 1,
            result => return result,
        }
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ServeError> {
    Ok(spawn_blocking(work).await.map_err(io::Error::other)?)
}

/// Runs `work` periodically on a blocking thread. Logs the first of consecutive failures.
fn run_every(
    period: Duration,
    failure: &'static str,
    auth: &Arc<AuthService>,
    work: fn(&AuthService) -> Result<(), StoreError>,
) -> JoinHandle<()> {
    let auth = Arc::clone(auth);
    let mut work = log_failures(failure, move || work(&auth));
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let done = spawn_blocking(move || {
                work();
                work
            });
            let Ok(done) = done.await else { return };
            work = done;
        }
    })
}

fn mcp_needs_key(settings: &ServeSettings) -> bool {
    settings.access.is_private() || settings.mcp_daily_limit == 0
}

fn addresses(base: &str, needs_key: bool) -> String {
    let key = if needs_key { "with a key" } else { "no key required" };
    format!("  Pages  {base}/\n  REST   {base}/api/v3\n  MCP    {base}/api/mcp   (six tools, {key})\n")
}

/// The commands that print a first key, with the data folder of this server. The address of a database may have a password and
/// is not printed: they find it where the server did.
fn account_commands(settings: &ServeSettings) -> String {
    let place = match settings.store.store.is_none() && settings.data != Path::new("data") {
        true => format!(" --data {}", shell_word(&settings.data.to_string_lossy())),
        false => String::new(),
    };
    format!(
        "  venturedex account create --email you@example.com{place}\n  venturedex key create --email you@example.com --name \
         first{place}"
    )
}

fn greeting(settings: &ServeSettings, catalog: &Catalog, base: &str, demo_key: Option<&str>) -> String {
    let snapshot = catalog.snapshot();
    let Counts { firms, startups, funding_rounds: rounds, people, sectors, .. } = snapshot.counts();
    let title = if snapshot.title().is_empty() { String::new() } else { format!(": {}", snapshot.title()) };
    let (program, version, reviews) = (env!("CARGO_PKG_VERSION"), snapshot.version(), catalog.totals().reviews);
    let name = if firms > 0 { snapshot.name(Table::Firms, 0) } else { "" };
    let example = if let Some(key) = demo_key {
        let query: String = form_urlencoded::Serializer::new(String::new()).append_pair("q", name).finish();
        format!(
            "Try it with this key, which is valid for this run and has no quota:\n\n  curl -H 'Authorization: Bearer \
             {key}' '{base}/api/v3/vcs?{query}&limit=3'\n"
        )
    } else if mcp_needs_key(settings) {
        format!("Create an account and a key:\n\n{}\n", account_commands(settings))
    } else {
        let arguments = json!({ "query": name, "limit": 3 });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": { "name": "search_vcs", "arguments": arguments } });
        let call = shell_word(&call.to_string());
        let key = match catalog.is_bundled() && settings.sign_up() == SignUp::Open {
            true => format!("{base}/signup"),
            false => format!("\n\n{}", account_commands(settings)),
        };
        format!(
            "Try it without a key:\n\n  curl -H 'Content-Type: application/json' {base}/api/mcp -d {call}\n\n\
             For REST, create a key: {key}\n"
        )
    };
    let next = match catalog.is_bundled() {
        true => format!("\nThis data is invented. To import a file or connect an assistant: {base}/#next\n"),
        false => String::new(),
    };
    format!(
        "VentureDex {program}, snapshot {version}{title}\n{firms} firms, {startups} startups, {rounds} funding rounds, \
         {people} people, {reviews} reviews, {sectors} sectors\n\n{}\n{example}{next}",
        addresses(base, mcp_needs_key(settings))
    )
}
