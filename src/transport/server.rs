//! The accept loop: connections with limits around one [`Handler`], and a shutdown that loses no request.
//!
//! warp's own server sets no timer, has no shutdown deadline and drops a connection whose route panics; hence this
//! loop, with warp behind `warp::service`. It speaks HTTP/1.1; HTTP/2 and TLS are the job of the reverse proxy.

pub(crate) mod connection;
pub mod connection_error;
mod head_scanner;
mod open_connections;
pub(crate) mod streamed_body;
#[cfg(test)]
mod tests;
mod timeout_stream;

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, watch};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::server::connection::ConnectionService;
pub use crate::server::connection::{RequestBody, ResponseBody};
use crate::server::open_connections::{ConnectionSlot, OpenConnections};
use crate::server::timeout_stream::{ConnectionPhase, TimeoutStream};
use crate::telemetry::ConnectionCounts;
use crate::{Handler, Peer, RequestIds};
use auth::quota::IpRange;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Timeout for a request head, from its first byte; for the first request, from the start of the connection.
    pub head: Duration,
    pub body: Duration,
    /// Timeout for an open connection between two requests.
    pub idle: Duration,
    /// Timeout for a client that reads nothing of its response.
    pub write: Duration,
    /// Time during which connections are still accepted after the stop signal, so that a load balancer notices.
    pub drain_delay: Duration,
    /// Time from its last response for which a connection stays open after `drain_delay`: its client may be sending.
    pub last_request: Duration,
    /// Time for running requests to finish after `drain_delay`.
    pub drain: Duration,
    /// Maximum number of open connections. If all are in use, the one idle for longest is closed in favor of a new one.
    /// If none is idle, the new one gets 503 with `Retry-After`, unless it asks for a health check; left in the
    /// backlog, its client would only see a server that hangs. Keep this below the process's limit of open files.
    pub connections: usize,
    /// Maximum number per address that is not a trusted proxy (IPv6: per /64; multiples for larger networks).
    pub connections_per_address: usize,
    pub trusted_proxies: Vec<IpRange>,
    /// Maximum size of a request head in bytes (at least 8,192); larger heads get 431. The URL may take three quarters
    /// of it; longer URLs get 414.
    pub head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(5),
            body: Duration::from_secs(10),
            idle: Duration::from_secs(15),
            write: Duration::from_secs(30),
            drain_delay: Duration::ZERO,
            last_request: Duration::from_secs(1),
            drain: Duration::from_secs(20),
            connections: 4_096,
            connections_per_address: 64,
            trusted_proxies: Vec::new(),
            head_bytes: 32 * 1024,
        }
    }
}

/// Timeout for a request head on a connection above the limits.
const RESERVED_HEAD: Duration = Duration::from_secs(1);

/// Serves `handler` on `listener` until `stops` yields an item. It then keeps accepting for `limits.drain_delay` with
/// `Connection: close` on each response, serves every connection made by then, lets running requests finish within
/// `limits.drain`, and returns the number of connections aborted then. A second item ends it at once.
///
/// Every response has an `X-Request-Id`. A panic becomes a 500, and its connection continues. Without a free file
/// descriptor, the loop waits; it ends with an error if the listener fails for good.
pub async fn run<H: Handler>(
    listener: TcpListener,
    handler: H,
    stops: impl Stream<Item = ()>,
    limits: Limits,
) -> io::Result<usize> {
    let mut stops = std::pin::pin!(stops.fuse());
    let mut server = Server::new(handler, limits);
    server.accept_until(&listener, next_stop(&mut stops)).await?;

    server.stopping.store(true, Ordering::Relaxed);
    server.handler.begin_shutdown();
    let delay = server.limits.drain_delay;
    let mut is_killed = false;
    if !delay.is_zero() {
        let until = async { is_killed = timeout(delay, next_stop(&mut stops)).await.is_ok() };
        server.accept_until(&listener, until).await?;
    }
    // Connections in the backlog would be lost with the listener, and the runtime may not know of them yet.
    let listener = listener.into_std()?;
    while let Ok((socket, address)) = listener.accept() {
        socket.set_nonblocking(true)?;
        server.serve(TcpStream::from_std(socket)?, address);
    }
    drop(listener);
    // This fails if there is no receiver, thus no running connection.
    let _ = server.stop.send(());
    if !is_killed {
        tokio::select! {
            _ = timeout(server.limits.drain, async { while server.running.join_next().await.is_some() {} }) => {}
            () = next_stop(&mut stops) => {}
        }
    }
    let aborted = server.running.len();
    server.running.shutdown().await;
    Ok(aborted)
}

/// Waits for the next item; forever if there are no more.
async fn next_stop<S: Stream<Item = ()>>(stops: &mut Pin<&mut S>) {
    if stops.next().await.is_none() {
        std::future::pending().await
    }
}

struct Server<H> {
    http: Arc<http1::Builder>,
    handler: H,
    limits: Arc<Limits>,
    ids: Arc<RequestIds>,
    running: JoinSet<()>,
    open: OpenConnections,
    /// If set, responses close their connection.
    stopping: Arc<AtomicBool>,
    /// Tells connections to end.
    stop: watch::Sender<()>,
}

impl<H: Handler> Server<H> {
    fn new(handler: H, mut limits: Limits) -> Self {
        limits.head_bytes = limits.head_bytes.max(8_192);
        let mut http = http1::Builder::new();
        // The stream times heads itself; hyper's timer would also close idle connections. With half-close, a client
        // that closes its sending side (`nc -N`) still gets its response.
        http.timer(TokioTimer::new()).header_read_timeout(None).half_close(true);
        http.max_buf_size(limits.head_bytes);
        Self {
            http: Arc::new(http),
            handler,
            open: OpenConnections::new(limits.connections, limits.connections_per_address),
            limits: Arc::new(limits),
            ids: Arc::default(),
            running: JoinSet::new(),
            stopping: Arc::default(),
            stop: watch::Sender::default(),
        }
    }

    async fn accept_until(&mut self, listener: &TcpListener, end: impl Future<Output = ()>) -> io::Result<()> {
        let mut end = std::pin::pin!(end);
        loop {
            let accepted = tokio::select! {
                biased;
                () = &mut end => return Ok(()),
                Some(ended) = self.running.join_next_with_id() => {
                    self.open.remove(ended.map_or_else(|error| error.id(), |(id, ())| id));
                    self.count(|counts| counts.closed.add(1));
                    continue;
                }
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((socket, address)) => self.serve(socket, address),
                Err(error) => self.recover(error).await?,
            }
        }
    }

    fn count(&self, count: impl FnOnce(&ConnectionCounts)) {
        if let Some(telemetry) = self.handler.telemetry() {
            count(&telemetry.connections);
        }
    }

    /// Handles a failed accept: ignores the errors of one connection, which its client or the network caused (see
    /// `accept(2)`), and waits if there is no free file descriptor.
    async fn recover(&self, error: io::Error) -> io::Result<()> {
        use io::ErrorKind::{
            ConnectionAborted, ConnectionRefused, ConnectionReset, HostUnreachable, Interrupted, InvalidInput,
            NetworkDown, NetworkUnreachable, PermissionDenied, TimedOut,
        };
        match error.kind() {
            ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted => Ok(()),
            HostUnreachable | NetworkDown | NetworkUnreachable | PermissionDenied | TimedOut => Ok(()),
            InvalidInput => Err(error),
            _ => {
                if let Some(telemetry) = self.handler.telemetry() {
                    telemetry.record_accept_failure(&error);
                }
                tokio::time::sleep(Duration::from_millis(250)).await;
                Ok(())
            }
        }
    }

    fn serve(&mut self, socket: TcpStream, address: SocketAddr) {
        // A listener on `[::]` reports IPv4 clients as mapped IPv6 addresses.
        let peer = SocketAddr::new(address.ip().to_canonical(), address.port());
        let is_trusted = self.limits.trusted_proxies.iter().any(|range| range.contains(peer.ip()));
        let slot = self.open.admit(peer.ip(), is_trusted);
        self.count(|counts| match slot {
            Ok(ConnectionSlot { excess, evicts, .. }) => {
                counts.accepted.add(1);
                excess.into_iter().for_each(|excess| counts.refused[excess as usize].add(1));
                counts.evicted.add(evicts.into());
            }
            Err(excess) => counts.refused[excess as usize].add(1),
        });
        let Ok(slot) = slot else { return };
        let is_reserved = slot.excess.is_some();
        let head = if is_reserved { self.limits.head.min(RESERVED_HEAD) } else { self.limits.head };
        let phase = ConnectionPhase::default();
        let connection = ConnectionService {
            handler: self.handler.clone(),
            peer: Peer(peer),
            phase: phase.clone(),
            ids: Arc::clone(&self.ids),
            limits: Arc::clone(&self.limits),
            is_reserved,
            stopping: Arc::clone(&self.stopping),
        };
        // Responses are written in one piece, so Nagle's algorithm would only add latency.
        let _ = socket.set_nodelay(true);
        let stream = TimeoutStream::new(socket, &connection, head);
        let (http, evicted) = (Arc::clone(&self.http), Arc::new(Notify::new()));
        let stopped = stopped(self.stop.subscribe(), phase.clone(), self.limits.last_request);
        let served = serve_connection(http, stream, connection, stopped, Arc::clone(&evicted));
        let id = self.running.spawn(served).id();
        self.open.insert(id, slot, phase, evicted);
    }
}

/// Serves one connection to its end; once `stopped` or `evicted`, to the end of its current request.
async fn serve_connection<H: Handler>(
    http: Arc<http1::Builder>,
    stream: TimeoutStream<TcpStream, H>,
    connection: ConnectionService<H>,
    stopped: impl Future<Output = ()>,
    evicted: Arc<Notify>,
) {
    let phase = connection.phase.clone();
    let mut served = std::pin::pin!(http.serve_connection(TokioIo::new(stream), connection));
    // An error here means a peer that disconnected, was too slow or does not speak HTTP: there is nothing to send it.
    tokio::select! {
        _ = served.as_mut() => return,
        () = stopped => {}
        () = evicted.notified() => {}
    }
    if phase.idle_time().is_some() {
        // The client has its response and has sent its whole request.
        phase.set_unread_body(false);
    }
    served.as_mut().graceful_shutdown();
    let _ = served.await;
}

/// Ready when the server has stopped and no request is expected; hyper's shutdown ignores one that may have arrived.
async fn stopped(mut stop: watch::Receiver<()>, phase: ConnectionPhase, last_request: Duration) {
    // An error means that the server was dropped.
    let _ = stop.changed().await;
    let idle = phase.idle_time().unwrap_or_default();
    tokio::time::sleep(last_request.saturating_sub(idle)).await;
}

/// A stream with an item for each SIGTERM, SIGQUIT or Ctrl-C; an error if the system refuses a signal handler. From now
/// on no SIGUSR1, SIGUSR2 or SIGHUP ends the process.
#[cfg(unix)]
pub fn stop_signals() -> io::Result<impl Stream<Item = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    // A handler stays for the life of the process, even if nobody receives its signal. A watcher of releases receives
    // SIGHUP, but only after the first release was read.
    for ignored in [SignalKind::user_defined1(), SignalKind::user_defined2(), SignalKind::hangup()] {
        drop(signal(ignored)?);
    }
    let stops = [SignalKind::terminate(), SignalKind::quit(), SignalKind::interrupt()];
    let [terminate, quit, interrupt] = stops.map(signal);
    let stops = (terminate?, quit?, interrupt?);
    Ok(futures_util::stream::unfold(stops, |(mut terminate, mut quit, mut interrupt)| async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = quit.recv() => {}
            _ = interrupt.recv() => {}
        }
        Some(((), (terminate, quit, interrupt)))
    }))
}

/// A stream with an item for each Ctrl-C; never fails on this platform.
#[cfg(not(unix))]
pub fn stop_signals() -> io::Result<impl Stream<Item = ()>> {
    Ok(futures_util::stream::repeat(()).then(|()| async {
        let _ = tokio::signal::ctrl_c().await;
    }))
}
