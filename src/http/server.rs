//! The accept loop: connections with limits around one [`Handler`], and a shutdown with a deadline.
//!
//! warp's own server sets no timer, has no shutdown deadline and drops a connection whose route panics; hence this loop,
//! with warp behind `warp::service`. It speaks HTTP/1.1; HTTP/2 and TLS belong to the reverse proxy.

pub(crate) mod connection;
pub(crate) mod connection_error;
#[cfg(test)]
mod tests;
mod timeout_stream;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::JoinSet;

use crate::http::server::connection::Connection;
pub(crate) use crate::http::server::connection::panic_message;
pub use crate::http::server::connection::{RequestBody, ResponseBody};
use crate::http::server::connection_error::ConnectionError;
use crate::http::server::timeout_stream::{ConnectionPhase, TimeoutStream};
use crate::http::{Handler, Peer, RequestIds};

/// Timeouts and capacities of the accept loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Time for a complete request head, from its first byte (for the first request: from the start of the connection).
    pub head: Duration,
    /// Time for a complete request body.
    pub body: Duration,
    /// How long a connection may stay open between two requests.
    pub idle: Duration,
    /// How long a client may read nothing of its response.
    pub write: Duration,
    /// How long running requests may take to finish at shutdown.
    pub drain: Duration,
    /// Connections served at a time. One more gets 503 with `Retry-After` and is closed: in the backlog its client would
    /// only see a server that hangs. Keep it below the process's limit of open files.
    pub connections: usize,
    /// Bytes of a request's head (at least 8,192), above which the response is 431. The URL may take three quarters of
    /// it, above which the response is 414.
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

/// How a server ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShutdownReport {
    /// Connections aborted at the shutdown deadline.
    pub aborted: usize,
}

/// Connections above the limit that may wait for their client to read the 503; further ones are closed at once.
const MAX_REJECTIONS: usize = 64;

/// Serves `handler` on `listener` until `shutdown` is ready; then stops accepting, lets running requests finish within
/// `limits.drain`, and returns.
///
/// Every response has an `X-Request-Id`. A panic becomes a 500, and its connection continues.
///
/// # Errors
/// If the listener cannot accept at all any more. If the process has no free file descriptor, the loop waits.
pub async fn run<H: Handler>(
    listener: TcpListener,
    handler: H,
    shutdown: impl Future<Output = ()>,
    limits: Limits,
    ids: RequestIds,
) -> io::Result<ShutdownReport> {
    let mut http = http1::Builder::new();
    // The stream times heads; hyper's own timer would close idle connections after the same time.
    http.timer(TokioTimer::new()).header_read_timeout(None).max_buf_size(limits.head_bytes.max(8_192));
    let http = Arc::new(http);
    let ids = Arc::new(ids);
    let permits = Arc::new(Semaphore::new(limits.connections.min(Semaphore::MAX_PERMITS)));
    let rejections = Arc::new(Semaphore::new(MAX_REJECTIONS));
    let (stop, stopped) = watch::channel(());
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
        match Arc::clone(&permits).try_acquire_owned() {
            Ok(permit) => {
                let phase = ConnectionPhase::default();
                let connection = Connection {
                    handler: handler.clone(),
                    peer: Peer(canonical(address)),
                    phase: phase.clone(),
                    ids: Arc::clone(&ids),
                    body_timeout: limits.body,
                    head_bytes: limits.head_bytes.max(8_192),
                };
                // Responses are written at once, so waiting for more data only adds latency.
                let _ = socket.set_nodelay(true);
                let stream = TimeoutStream::new(socket, phase, Arc::clone(&ids), handler.clone(), &limits);
                running.spawn(serve_connection(Arc::clone(&http), stream, connection, stopped.clone(), permit));
            }
            Err(_) => {
                if let Ok(permit) = Arc::clone(&rejections).try_acquire_owned() {
                    let context = handler.error_context("/");
                    running.spawn(reject(socket, ConnectionError::Overloaded.bytes(ids.next(), &context), permit));
                }
            }
        }
    }

    drop(listener);
    drop(stopped);
    // Without a receiver no connection is running.
    let _ = stop.send(());
    let finished = tokio::time::timeout(limits.drain, async { while running.join_next().await.is_some() {} }).await;
    let aborted = if finished.is_ok() { 0 } else { running.len() };
    running.shutdown().await;
    Ok(ShutdownReport { aborted })
}

/// Serves one connection to its end, or at shutdown to the end of its current request.
async fn serve_connection<H: Handler>(
    http: Arc<http1::Builder>,
    stream: TimeoutStream<TcpStream, H>,
    connection: Connection<H>,
    mut stopped: watch::Receiver<()>,
    _permit: OwnedSemaphorePermit,
) {
    let mut served = std::pin::pin!(http.serve_connection(TokioIo::new(stream), connection));
    // An error here is a peer that disconnected, took too long or does not speak HTTP: there is nothing to send it.
    tokio::select! {
        _ = served.as_mut() => return,
        _ = stopped.changed() => served.as_mut().graceful_shutdown(),
    }
    let _ = served.await;
}

/// Responds on a connection above the limit, then reads what the client sent: closing a socket with unread bytes would
/// discard the response before the client sees it.
async fn reject(mut socket: TcpStream, response: Bytes, _permit: OwnedSemaphorePermit) {
    let rejected = async {
        socket.write_all(&response).await?;
        socket.shutdown().await?;
        let mut rest = [0; 4_096];
        while socket.read(&mut rest).await? > 0 {}
        io::Result::Ok(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), rejected).await;
}

/// After a failed accept: ignores connections that closed early, and waits if there is no free file descriptor.
async fn recover(error: io::Error) -> io::Result<()> {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted, InvalidInput};
    match error.kind() {
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted => Ok(()),
        InvalidInput => Err(error),
        _ => {
            tracing::error!("cannot accept a connection, retrying: {error}");
            tokio::time::sleep(Duration::from_millis(250)).await;
            Ok(())
        }
    }
}

/// The IPv4 address of an IPv4 client of a listener on `[::]`.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Ready on SIGTERM or Ctrl-C.
///
/// # Errors
/// If the system refuses a signal handler.
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

/// Ready on Ctrl-C; never fails here.
#[cfg(not(unix))]
pub fn stop_signal() -> io::Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
    })
}
