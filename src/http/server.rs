//! The accept loop: connections with limits around one set of routes, and an orderly end.
//!
//! warp's own server sets no timer, ends without a deadline and drops a connection whose route panics; so the loop is
//! ours and warp answers through `warp::service`. It speaks HTTP/1.1; HTTP/2 and TLS are the reverse proxy's.

pub mod connection;
pub mod connection_error;
#[cfg(test)]
mod tests;
pub mod timeout_stream;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::app::Routes;
use crate::http::request_info::{Peer, RequestIds};
use crate::http::server::connection::{BodyError, Connection, TimedBody};
use crate::http::server::connection_error::ConnectionError;
use crate::http::server::timeout_stream::{ConnectionPhase, TimeoutStream};

/// How long the server waits for whom, and how many it serves at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time for a request's head as a whole, from its first byte (of the first request: from the connection on).
    pub head: Duration,
    /// Time for a request's body as a whole.
    pub body: Duration,
    /// How long a connection may stay open between two requests.
    pub idle: Duration,
    /// How long a client may take nothing of its answer.
    pub write: Duration,
    /// How long what runs may take to finish when the server ends.
    pub drain: Duration,
    /// Connections served at a time. One more is answered 503 with `Retry-After` and closed: a client that is told can
    /// wait or go elsewhere, one that is kept in the backlog only sees a server that hangs. Keep it below the process's
    /// limit of open files.
    pub connections: usize,
    /// Bytes of a request's head; above it the answer is 431. At least 8,192. An address alone may have three quarters of it; above
    /// that the answer is 414.
    pub head_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(15),
            idle: Duration::from_secs(75),
            write: Duration::from_secs(30),
            drain: Duration::from_secs(20),
            connections: 4_096,
            head_bytes: 32 * 1024,
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ending {
    /// Connections that were still busy when the time to finish was over, and were cut.
    pub cut: usize,
}

/// Refusals that may wait for their client to read them; further ones are closed at once.
const REFUSALS: usize = 64;

/// Serves `routes` on `listener` until `shutdown` is ready; then stops accepting, lets what runs finish within
/// `limits.drain`, and returns.
///
/// Each request carries its [`Peer`] and its [`RequestId`] (from `ids`) as extensions; each answer carries
/// `X-Request-Id`. A route that panics answers 500, and its connection goes on.
///
/// # Errors
/// Where the listener cannot accept any more at all; running out of open files is no such case, the loop waits.
pub async fn run(
    listener: TcpListener,
    routes: Routes,
    shutdown: impl Future<Output = ()>,
    limits: Limits,
    ids: RequestIds,
) -> io::Result<Ending> {
    let Routes { filter, entrance } = routes;
    let routes = TowerToHyperService::new(warp::service(filter));
    let mut http = http1::Builder::new();
    // The stream counts the time of heads; hyper's own timer would end idle connections as early.
    http.timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(limits.head_bytes.max(8_192));
    let http = Arc::new(http);
    let ids = Arc::new(ids);
    let places = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let (end, ended) = watch::channel(());
    let mut running = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);

    loop {
        let accepted = tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = running.join_next() => continue,
            accepted = listener.accept() => accepted,
        };
        let (socket, address) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                recover(error).await?;
                continue;
            }
        };
        match Arc::clone(&places).try_acquire_owned() {
            Ok(place) => {
                let phase = ConnectionPhase::default();
                let connection = Connection {
                    routes: routes.clone(),
                    entrance: entrance.clone(),
                    peer: Peer(plain(address)),
                    phase: phase.clone(),
                    ids: Arc::clone(&ids),
                    body: limits.body,
                    head_bytes: limits.head_bytes.max(8_192),
                };
                // Answers are written whole, so waiting for more to send only adds time.
                let _ = socket.set_nodelay(true);
                let stream = TimeoutStream::new(socket, phase, Arc::clone(&ids), entrance.clone(), &limits);
                running.spawn(attend(Arc::clone(&http), stream, connection, ended.clone(), place));
            }
            Err(_) => {
                if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                    running.spawn(refuse(socket, ConnectionError::Overloaded.whole("/", ids.next(), &entrance), place));
                }
            }
        }
    }

    drop(listener);
    drop(ended);
    // Nobody listening means that nothing runs.
    let _ = end.send(());
    let finished = tokio::time::timeout(limits.drain, async { while running.join_next().await.is_some() {} }).await;
    let cut = if finished.is_ok() { 0 } else { running.len() };
    running.shutdown().await;
    Ok(Ending { cut })
}

/// Serves one connection to its end, or to the end of its current request once the server ends.
async fn attend<S, B>(
    http: Arc<http1::Builder>,
    stream: TimeoutStream<TcpStream>,
    connection: Connection<S>,
    mut ended: watch::Receiver<()>,
    _place: OwnedSemaphorePermit,
) where
    S: hyper::service::Service<
            http::Request<TimedBody<hyper::body::Incoming>>,
            Response = http::Response<B>,
            Error = Infallible,
        > + Clone
        + Send
        + 'static,
    S::Future: Send,
    B: hyper::body::Body<Data = Bytes> + Send + Sync + 'static,
    B::Error: Into<BodyError>,
{
    let mut served = std::pin::pin!(http.serve_connection(TokioIo::new(stream), connection));
    // An error here is a peer that went away, took too long or does not speak HTTP: nothing is left to tell it.
    tokio::select! {
        _ = served.as_mut() => return,
        _ = ended.changed() => served.as_mut().graceful_shutdown(),
    }
    let _ = served.await;
}

/// Answers a connection above the cap, then reads a little of what it sent: closing a socket with unread bytes would
/// throw the answer away before the client sees it.
async fn refuse(mut socket: TcpStream, answer: Bytes, _place: OwnedSemaphorePermit) {
    let refused = async {
        socket.write_all(&answer).await?;
        socket.shutdown().await?;
        let mut rest = [0; 4_096];
        while socket.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), refused).await;
}

/// After a failed accept: a connection that went away is nothing; without free files the loop waits for some.
async fn recover(error: io::Error) -> io::Result<()> {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, InvalidInput};
    match error.kind() {
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted => Ok(()),
        InvalidInput => Err(error),
        _ => {
            eprintln!("cannot accept a connection, trying again: {error}");
            tokio::time::sleep(Duration::from_millis(250)).await;
            Ok(())
        }
    }
}

/// An IPv4 client of a listener on `[::]` is the IPv4 client that it is.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Ready on SIGTERM or Ctrl-C.
///
/// # Errors
/// Where the system refuses a signal handler.
#[cfg(unix)]
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}

/// Ready on Ctrl-C.
///
/// # Errors
/// None here; other systems can refuse a signal handler.
#[cfg(not(unix))]
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
