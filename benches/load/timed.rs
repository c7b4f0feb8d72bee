//! A server with one thread, whose CPU time from the start of a request to the start of a health check after it is that of
//! the request.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use futures_util::stream;
use http::HeaderMap;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

use auth::quota::Tier;
use auth::{AuthService, RateLimitConfig, SqliteStore};
use catalog::Catalog;
use mcp::{self, McpQuota};
use platform::clock::{now, thread_time};
use transport::server::{Limits, RequestBody, ResponseBody, run};
use transport::telemetry::AccessLog;
use transport::{ErrorContext, Handler, RequestParts};
use venturedex::app::Router;

use crate::client::{Connection, Reply, get};
use crate::generate::Words;
use crate::service;

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

pub struct TimedServer {
    address: SocketAddr,
    connection: Option<Connection>,
    nanos: Arc<AtomicU64>,
    pub accounts: Arc<AuthService>,
    /// A header line.
    pub key: String,
    pub words: Words,
    _folder: TempDir,
}

impl TimedServer {
    pub fn start(catalog: Catalog) -> Self {
        let nanos = Arc::new(AtomicU64::new(0));
        let words = Words::of(&catalog);
        let folder = tempfile::tempdir().expect("a folder");
        let unlimited = RateLimitConfig { pages_per_minute: u32::MAX, sign_ups_per_hour: u32::MAX };
        let store = SqliteStore::open(folder.path()).expect("a data folder");
        let accounts = AuthService::with_store(Box::new(store), unlimited, now()).expect("a service");
        let key =
            format!("authorization: Bearer {}\r\n", accounts.add_demo_key(Tier::Enterprise).expect("a key").reveal());
        let one_thread = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let address = serve(catalog, Arc::clone(&accounts), None, one_thread, &nanos);
        Self { address, connection: None, nanos, accounts, key, words, _folder: folder }
    }

    /// Microseconds of CPU, and the response.
    pub async fn send(&mut self, request: &[u8]) -> io::Result<(f64, Reply)> {
        let reply = send(self.address, &mut self.connection, request).await?;
        let start = self.nanos.load(Ordering::Relaxed);
        send(self.address, &mut self.connection, &get("/healthz", "")).await?;
        let cost = (self.nanos.load(Ordering::Relaxed) - start) as f64 / 1e3;
        Ok((cost, reply))
    }
}

/// Serves from another thread, as long as the program runs.
pub fn serve(
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

/// Sends a request, by a new connection if the server ended the former one.
pub async fn send(address: SocketAddr, connection: &mut Option<Connection>, request: &[u8]) -> io::Result<Reply> {
    let mut open = match connection.take() {
        Some(open) => open,
        None => Connection::open(address).await?,
    };
    let reply = open.send(request).await?;
    *connection = (!reply.is_last()).then_some(open);
    assert!(reply.status < 500, "{}: {}", reply.status, String::from_utf8_lossy(request));
    Ok(reply)
}
