//! A connection with timeouts: reads and writes that take too long fail with an error, which closes the connection.
//!
//! hyper has one timer for the head of a request, and none for an idle connection or a client that does not read its
//! response; here each has its own. The time for a head counts from its first byte, so a byte now and then does not
//! extend it. The idle time starts with the last byte of the response. A write may take any time as long as it makes
//! progress.
//!
//! If a socket with unread bytes is closed, the system resets the connection, and many clients, which read only after
//! sending everything, would never see the response. So if a request was answered before it was read, the connection
//! only shuts down its sending side, and discards incoming bytes, within limits of time and size, until the client
//! closes it.
//!
//! A head whose lines do not end with CR LF is rejected, see [`HeadScanner`].
//!
//! hyper's own error responses (malformed or oversized heads) have neither our body nor our headers. They are
//! recognized by the missing `X-Request-Id` and replaced.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::server::Limits;
use crate::server::connection::{ConnectionService, record};
use crate::server::connection_error::ConnectionError;
use crate::server::head_scanner::HeadScanner;
use crate::telemetry::FinishedRequest;
use crate::{Handler, RequestIds, RequestTrace};

const HEAD: u64 = 0;
const BUSY: u64 = 1;
const IDLE: u64 = 2;

/// The phase of a connection, shared by its stream and its service: reading a head, busy with a request, or idle.
///
/// The lower two bits are the phase. The others count finished requests, so that a request that started and finished
/// between two polls is noticed.
#[derive(Clone)]
pub(crate) struct ConnectionPhase(Arc<PhaseState>);

struct PhaseState {
    phase: AtomicU64,
    opened: Instant,
    /// Microseconds from opening to the last written response; the maximum if that is not yet written.
    idle_since: AtomicU64,
    /// True if the body of the request has not been read to its end.
    has_unread_body: AtomicBool,
}

impl Default for ConnectionPhase {
    fn default() -> Self {
        Self(Arc::new(PhaseState {
            phase: AtomicU64::default(),
            opened: Instant::now(),
            idle_since: AtomicU64::default(),
            has_unread_body: AtomicBool::default(),
        }))
    }
}

impl ConnectionPhase {
    /// Notes that a head has been read: from now on the limits of the request itself apply.
    pub(crate) fn set_busy(&self) {
        self.0.phase.store((self.now() & !3) | BUSY, Ordering::Relaxed);
    }

    pub(crate) fn set_idle(&self) {
        self.0.idle_since.store(u64::MAX, Ordering::Relaxed);
        self.0.phase.store(((self.now() & !3) + 4) | IDLE, Ordering::Relaxed);
    }

    pub(crate) fn set_unread_body(&self, is_unread: bool) {
        self.0.has_unread_body.store(is_unread, Ordering::Relaxed);
    }

    pub(crate) fn has_unread_body(&self) -> bool {
        self.0.has_unread_body.load(Ordering::Relaxed)
    }

    fn set_written(&self) {
        if self.now() & 3 == IDLE && self.0.idle_since.load(Ordering::Relaxed) == u64::MAX {
            self.0.idle_since.store(self.age(), Ordering::Relaxed);
        }
    }

    /// Time for which the connection has been idle; `None` if it is not.
    pub(crate) fn idle_time(&self) -> Option<Duration> {
        let since = self.0.idle_since.load(Ordering::Relaxed);
        let age = (self.now() & 3 == IDLE).then(|| self.age().checked_sub(since))??;
        Some(Duration::from_micros(age))
    }

    /// Microseconds since the connection was opened.
    fn age(&self) -> u64 {
        self.0.opened.elapsed().as_micros() as u64
    }

    fn set_reading_head(&self) {
        self.0.phase.store((self.now() & !3) | HEAD, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.0.phase.load(Ordering::Relaxed)
    }
}

type PollWritten = Poll<io::Result<usize>>;

/// A stream that gives up on a slow peer.
pub(crate) struct TimeoutStream<S, H> {
    inner: S,
    phase: ConnectionPhase,
    head: Duration,
    limits: Arc<Limits>,
    /// Phase timed by the read timer; `None` if the timer is not running.
    timed: Option<u64>,
    read_timer: Pin<Box<Sleep>>,
    write_timer: Option<Pin<Box<Sleep>>>,
    head_start: HeadStart,
    scanner: HeadScanner,
    /// Bytes for hyper that the client did not send.
    injected: &'static [u8],
    ids: Arc<RequestIds>,
    handler: H,
    /// The rest of our response in place of one of hyper's.
    replacement: Option<Bytes>,
    linger: Option<Linger>,
}

/// The first bytes of a head: enough to recognize the API version of a rejected request.
#[derive(Default)]
struct HeadStart {
    bytes: [u8; 24],
    length: usize,
    line_ended: bool,
}

impl HeadStart {
    fn extend(&mut self, bytes: &[u8]) {
        if self.line_ended {
            return;
        }
        for (slot, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *slot = *byte;
        }
        self.length = (self.length + bytes.len()).min(self.bytes.len());
        self.line_ended = bytes.contains(&b'\n');
    }

    /// The start of the request's path; empty if it is missing or not text.
    fn path(&self) -> &str {
        let text = std::str::from_utf8(&self.bytes[..self.length]).unwrap_or("");
        let target = text.split([' ', '\r', '\n']).nth(1).unwrap_or("");
        target.split_once('?').map_or(target, |(path, _)| path)
    }
}

/// Remaining time and bytes for a client that keeps sending after its response.
struct Linger {
    timer: Pin<Box<Sleep>>,
    bytes_left: usize,
}

/// Time to keep sending after the response to an unreadable head; for a body, it is the timeout of one that is read.
const LINGER: Duration = Duration::from_secs(1);
/// Maximum number of discarded bytes: several times the largest body that is read as a whole.
const MAX_DISCARDED: usize = 16 * 1024 * 1024;

/// The error reported by `bytes`, if they start a response of hyper itself: it has no request id, all of ours do. hyper
/// does not report which part of a head is too long; if its first line has not ended, it is the URL.
fn hyper_error(bytes: &[u8], line_ended: bool) -> Option<ConnectionError> {
    let status = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let error = match status {
        b"400" => ConnectionError::NotHttp,
        b"431" if line_ended => ConnectionError::HeadTooLarge,
        b"414" | b"431" => ConnectionError::UrlTooLong,
        _ => return None,
    };
    let has_id = bytes.windows(13).any(|window| window.eq_ignore_ascii_case(b"x-request-id:"));
    (!has_id).then_some(error)
}

impl<S, H: Handler> TimeoutStream<S, H> {
    /// `head` is the timeout of request heads on this connection.
    pub(crate) fn new(inner: S, connection: &ConnectionService<H>, head: Duration) -> Self {
        let ConnectionService { handler, phase, ids, limits, .. } = connection;
        Self {
            inner,
            timed: Some(phase.now()),
            phase: phase.clone(),
            head,
            limits: Arc::clone(limits),
            read_timer: Box::pin(tokio::time::sleep(head)),
            write_timer: None,
            head_start: HeadStart::default(),
            scanner: HeadScanner::default(),
            injected: &[],
            ids: Arc::clone(ids),
            handler: handler.clone(),
            replacement: None,
            linger: None,
        }
    }

    /// Ready with an error once a read has taken longer than the phase allows.
    fn poll_read_timeout(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let now = self.phase.now();
        let allowed = match now & 3 {
            BUSY => {
                self.timed = None;
                return Poll::Pending;
            }
            IDLE => self.limits.idle,
            _ => self.head,
        };
        if self.timed != Some(now) {
            self.timed = Some(now);
            self.read_timer.as_mut().reset(Instant::now() + allowed);
        }
        self.read_timer.as_mut().poll(cx).map(|()| io::ErrorKind::TimedOut.into())
    }

    /// Passes on the result of a write, or fails once writing has made no progress for too long.
    fn poll_write_timeout(&mut self, cx: &mut Context<'_>, written: PollWritten) -> PollWritten {
        if written.is_pending() {
            let write = self.limits.write;
            let timer = self.write_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(write)));
            return timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        self.write_timer = None;
        self.timed = None;
        written
    }
}

impl<S, H> TimeoutStream<S, H> {
    /// Makes hyper reject a head with a bare line feed in the bytes of `buf` from `before` on, in its turn after the
    /// requests before it: a byte that is invalid anywhere in a head, then its end, without which hyper would wait.
    fn end_at_bare_line_feed(&mut self, buf: &mut ReadBuf<'_>, before: usize) {
        if let Some(at) = self.scanner.find_bare_line_feed(&buf.filled()[before..]) {
            buf.filled_mut()[before + at] = b'\0';
            buf.set_filled(before + at + 1);
            self.injected = b"\n\n";
        }
    }
}

impl<S: AsyncWrite + Unpin, H: Handler> TimeoutStream<S, H> {
    /// Replaces `bytes` by our response if they are an error response of hyper; otherwise returns `None`.
    fn poll_replacement(&mut self, cx: &mut Context<'_>, bytes: &[u8], length: usize) -> Option<PollWritten> {
        if self.replacement.is_none() {
            let error = hyper_error(bytes, self.head_start.line_ended)?;
            let context = self.handler.error_context(self.head_start.path());
            let id = self.ids.next();
            let response = error.bytes(id, &context);
            let (status, trace) = (error.status(), &RequestTrace::default());
            let (duration, bytes) = (Duration::ZERO, response.len() as u64);
            record(&self.handler, &FinishedRequest { id, method: None, status, duration, bytes, trace });
            self.replacement = Some(response);
        }
        let replacement = self.replacement.as_mut()?;
        while !replacement.is_empty() {
            match Pin::new(&mut self.inner).poll_write(cx, replacement) {
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into()))),
                Poll::Ready(Ok(written)) => replacement.advance(written),
                other => return Some(other),
            }
        }
        Some(Poll::Ready(Ok(length)))
    }
}

impl<S: AsyncRead + Unpin, H: Handler> AsyncRead for TimeoutStream<S, H> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.injected.is_empty() {
            let (now, later) = this.injected.split_at(this.injected.len().min(buf.remaining()));
            buf.put_slice(now);
            this.injected = later;
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        match Pin::new(&mut this.inner).poll_read(cx, buf) {
            Poll::Pending => this.poll_read_timeout(cx).map(Err),
            ready => {
                if this.phase.now() & 3 == IDLE {
                    this.phase.set_reading_head();
                    this.head_start = HeadStart::default();
                }
                this.head_start.extend(&buf.filled()[before..]);
                this.end_at_bare_line_feed(buf, before);
                ready
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin, H: Handler> AsyncWrite for TimeoutStream<S, H> {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> PollWritten {
        self.poll_write_vectored(cx, &[io::IoSlice::new(buf)])
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bufs: &[io::IoSlice<'_>]) -> PollWritten {
        let this = &mut *self;
        let (first, length) = (bufs.first().map_or(&[][..], |buf| buf), bufs.iter().map(|buf| buf.len()).sum());
        let written = match this.poll_replacement(cx, first, length) {
            Some(written) => written,
            None => Pin::new(&mut this.inner).poll_write_vectored(cx, bufs),
        };
        this.poll_write_timeout(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    /// Flushes and starts the idle time: after a response, hyper waits for bytes without polling again.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.poll_read_timeout(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        let flushed = Pin::new(&mut self.inner).poll_flush(cx);
        if flushed.is_ready() {
            self.phase.set_written();
        }
        flushed
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        std::task::ready!(Pin::new(&mut this.inner).poll_shutdown(cx))?;
        let allowed = match (&this.replacement, this.phase.has_unread_body()) {
            (Some(_), _) => LINGER,
            (None, true) => this.limits.body,
            (None, false) => return Poll::Ready(Ok(())),
        };
        // Mark it as not idle: a new connection could not take over its slot at once.
        this.phase.set_busy();
        let start = || Linger { timer: Box::pin(tokio::time::sleep(allowed)), bytes_left: MAX_DISCARDED };
        let linger = this.linger.get_or_insert_with(start);
        let mut discarded = [0; 16 * 1024];
        while linger.bytes_left > 0 && linger.timer.as_mut().poll(cx).is_pending() {
            let mut discarded = ReadBuf::new(&mut discarded);
            match std::task::ready!(Pin::new(&mut this.inner).poll_read(cx, &mut discarded)) {
                Ok(()) if !discarded.filled().is_empty() => {
                    linger.bytes_left = linger.bytes_left.saturating_sub(discarded.filled().len());
                }
                _ => break,
            }
        }
        Poll::Ready(Ok(()))
    }
}
