//! A connection with patience: reads and writes that wait too long end with an error, which ends the connection.
//!
//! hyper has one timer for a request's head and none for an idle connection or for a client that does not read its
//! answer; here each has its own. hyper's own refusals (a head that is none, or too large) have neither body nor headers
//! of ours; they are told by what they lack, and replaced. The head's time is counted as a whole, so that a byte now and then does not help; the
//! idle time begins with the last byte of the answer; writing may take for ever as long as it goes on.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use crate::app::router::FastPath;
use crate::http::RequestIds;
use crate::http::server::Limits;
use crate::http::server::connection_error::ConnectionError;

const HEAD: u64 = 0;
const BUSY: u64 = 1;
const IDLE: u64 = 2;

/// Where a connection stands: reading a head, busy with a request, or idle; shared by its stream and its service.
///
/// The lower two bits are the phase, the others count finished requests, so that a request that came and went between
/// two looks is noticed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConnectionPhase(Arc<AtomicU64>);

impl ConnectionPhase {
    /// A request's head is read: from here on the request's own limits hold.
    pub(crate) fn busy(&self) {
        let count = self.0.load(Ordering::Relaxed) & !3;
        self.0.store(count | BUSY, Ordering::Relaxed);
    }

    /// The request is answered.
    pub(crate) fn idle(&self) {
        let count = self.0.load(Ordering::Relaxed) & !3;
        self.0.store((count + 4) | IDLE, Ordering::Relaxed);
    }

    /// The first bytes of a head have come.
    fn head(&self) {
        let count = self.0.load(Ordering::Relaxed) & !3;
        self.0.store(count | HEAD, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A stream that gives up on a peer that lets it wait.
pub(crate) struct TimeoutStream<S> {
    inner: S,
    phase: ConnectionPhase,
    head: Duration,
    idle: Duration,
    write: Duration,
    /// The phase that the read timer runs for; `None`: it does not run.
    timed: Option<u64>,
    read_timer: Pin<Box<Sleep>>,
    write_timer: Option<Pin<Box<Sleep>>>,
    beginning: Beginning,
    ids: Arc<RequestIds>,
    entrance: FastPath,
    refusal: Option<Refusal>,
}

/// How a head begins: what can be told of one that is refused.
#[derive(Default)]
struct Beginning {
    bytes: [u8; 24],
    length: usize,
    /// Whether the first line was seen to its end.
    line_ended: bool,
}

impl Beginning {
    /// Takes up bytes of the head.
    fn read(&mut self, bytes: &[u8]) {
        if self.line_ended {
            return;
        }
        for (place, byte) in self.bytes.iter_mut().skip(self.length).zip(bytes) {
            *place = *byte;
        }
        self.length = (self.length + bytes.len()).min(self.bytes.len());
        self.line_ended = bytes.contains(&b'\n');
    }

    /// The path that is asked for, as far as it was taken up.
    fn path(&self) -> &str {
        let text = self.bytes.get(..self.length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default();
        let target = text.split([' ', '\r', '\n']).nth(1).unwrap_or_default();
        target.split('?').next().unwrap_or_default()
    }
}

/// An answer of ours in the place of one of hyper's.
struct Refusal {
    answer: Bytes,
    written: usize,
    /// How long the client may go on sending: closing a socket with unread bytes would throw the answer away.
    linger: Pin<Box<Sleep>>,
}

/// How long a client that is refused may go on sending.
const LINGER: Duration = Duration::from_secs(1);

/// What an answer of hyper's own is, where `bytes` begin one: it has no request id, which every answer of ours has. hyper
/// does not tell which part of a head is too long: where its first line has not ended, it is the address.
fn refused(bytes: &[u8], line_ended: bool) -> Option<ConnectionError> {
    let status = bytes.strip_prefix(b"HTTP/1.1 ")?.get(..3)?;
    let refused = match status {
        b"400" => ConnectionError::NoRequest,
        b"431" if line_ended => ConnectionError::HeadTooLarge,
        b"414" | b"431" => ConnectionError::UrlTooLong,
        _ => return None,
    };
    let named = bytes.windows(13).any(|window| window.eq_ignore_ascii_case(b"x-request-id:"));
    (!named).then_some(refused)
}

impl<S> TimeoutStream<S> {
    pub(crate) fn new(
        inner: S,
        phase: ConnectionPhase,
        ids: Arc<RequestIds>,
        entrance: FastPath,
        limits: &Limits,
    ) -> Self {
        Self {
            inner,
            timed: Some(phase.now()),
            phase,
            head: limits.head,
            idle: limits.idle,
            write: limits.write,
            read_timer: Box::pin(tokio::time::sleep(limits.head)),
            write_timer: None,
            beginning: Beginning::default(),
            ids,
            entrance,
            refusal: None,
        }
    }

    /// Waits for bytes no longer than the phase allows.
    fn poll_patience(&mut self, cx: &mut Context<'_>) -> Poll<io::Error> {
        let now = self.phase.now();
        let allowed = match now & 3 {
            BUSY => {
                self.timed = None;
                return Poll::Pending;
            }
            IDLE => self.idle,
            _ => self.head,
        };
        if self.timed != Some(now) {
            self.timed = Some(now);
            self.read_timer.as_mut().reset(Instant::now() + allowed);
        }
        self.read_timer.as_mut().poll(cx).map(|()| io::ErrorKind::TimedOut.into())
    }

    fn poll_written(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_pending() {
            let write = self.write;
            let timer = self.write_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(write)));
            return timer.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()));
        }
        self.write_timer = None;
        self.timed = None;
        written
    }
}

impl<S: AsyncWrite + Unpin> TimeoutStream<S> {
    /// Writes an answer of ours in the place of `bytes`, where they are a refusal of hyper's; `None` where not.
    fn poll_refusal(&mut self, cx: &mut Context<'_>, bytes: &[u8], length: usize) -> Option<Poll<io::Result<usize>>> {
        if self.refusal.is_none() {
            let refused = refused(bytes, self.beginning.line_ended)?;
            let answer = refused.whole(self.beginning.path(), self.ids.next(), &self.entrance);
            self.refusal = Some(Refusal { answer, written: 0, linger: Box::pin(tokio::time::sleep(LINGER)) });
        }
        let refusal = self.refusal.as_mut()?;
        while let Some(rest) = refusal.answer.get(refusal.written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut self.inner).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => return Some(Poll::Ready(Err(io::ErrorKind::WriteZero.into()))),
                Poll::Ready(Ok(written)) => refusal.written += written,
                other => return Some(other),
            }
        }
        Some(Poll::Ready(Ok(length)))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimeoutStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let before = buf.filled().len();
        match Pin::new(&mut this.inner).poll_read(cx, buf) {
            Poll::Pending => this.poll_patience(cx).map(Err),
            ready => {
                if this.phase.now() & 3 == IDLE {
                    this.phase.head();
                    this.beginning = Beginning::default();
                }
                this.beginning.read(buf.filled().get(before..).unwrap_or_default());
                ready
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for TimeoutStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = match this.poll_refusal(cx, buf, buf.len()) {
            Some(refused) => refused,
            None => Pin::new(&mut this.inner).poll_write(cx, buf),
        };
        this.poll_written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let (first, length) = (bufs.first().map_or(&[][..], |buf| buf), bufs.iter().map(|buf| buf.len()).sum());
        let written = match this.poll_refusal(cx, first, length) {
            Some(refused) => refused,
            None => Pin::new(&mut this.inner).poll_write_vectored(cx, bufs),
        };
        this.poll_written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    /// Flushes, and starts the idle time: after an answer hyper waits for bytes without asking for them again.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.poll_patience(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        std::task::ready!(Pin::new(&mut this.inner).poll_shutdown(cx))?;
        let Some(refusal) = &mut this.refusal else { return Poll::Ready(Ok(())) };
        let mut dropped = [0; 4_096];
        loop {
            if refusal.linger.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut dropped = ReadBuf::new(&mut dropped);
            match std::task::ready!(Pin::new(&mut this.inner).poll_read(cx, &mut dropped)) {
                Ok(()) if !dropped.filled().is_empty() => {}
                _ => return Poll::Ready(Ok(())),
            }
        }
    }
}
