//! A connection with patience: reads and writes that wait too long end with an error, which ends the connection.
//!
//! hyper has one timer for a request's head and none for an idle connection or for a client that does not read its
//! answer; here each has its own. The head's time is counted as a whole, so that a byte now and then does not help; the
//! idle time begins with the last byte of the answer; writing may take for ever as long as it goes on.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::Limits;

const HEAD: u64 = 0;
const BUSY: u64 = 1;
const IDLE: u64 = 2;

/// Where a connection stands: reading a head, busy with a request, or idle; shared by its stream and its service.
///
/// The lower two bits are the phase, the others count finished requests, so that a request that came and went between
/// two looks is noticed.
#[derive(Clone, Debug, Default)]
pub(super) struct Phase(Arc<AtomicU64>);

impl Phase {
    /// A request's head is read: from here on the request's own limits hold.
    pub(super) fn busy(&self) {
        let count = self.0.load(Ordering::Relaxed) & !3;
        self.0.store(count | BUSY, Ordering::Relaxed);
    }

    /// The request is answered.
    pub(super) fn idle(&self) {
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
pub(super) struct PatientStream<S> {
    inner: S,
    phase: Phase,
    head: Duration,
    idle: Duration,
    write: Duration,
    /// The phase that the read timer runs for; `None`: it does not run.
    timed: Option<u64>,
    read_timer: Pin<Box<Sleep>>,
    write_timer: Option<Pin<Box<Sleep>>>,
}

impl<S> PatientStream<S> {
    pub(super) fn new(inner: S, phase: Phase, limits: &Limits) -> Self {
        Self {
            inner,
            timed: Some(phase.now()),
            phase,
            head: limits.head,
            idle: limits.idle,
            write: limits.write,
            read_timer: Box::pin(tokio::time::sleep(limits.head)),
            write_timer: None,
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

impl<S: AsyncRead + Unpin> AsyncRead for PatientStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        match Pin::new(&mut this.inner).poll_read(cx, buf) {
            Poll::Pending => this.poll_patience(cx).map(Err),
            ready => {
                if this.phase.now() & 3 == IDLE {
                    this.phase.head();
                }
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for PatientStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = Pin::new(&mut this.inner).poll_write(cx, buf);
        this.poll_written(cx, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        let written = Pin::new(&mut this.inner).poll_write_vectored(cx, bufs);
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
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}
