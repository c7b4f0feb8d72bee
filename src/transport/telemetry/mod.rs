//! What is recorded of each request: metrics, and lines in the log and the access log.
//!
//! No line contains a key, an address, an e-mail address, a query or the slug of a record: a path is shown as its route.

mod access_log;
mod counts;
mod log_limit;
mod trace;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{Method, StatusCode};

pub use access_log::{AccessLog, LogFormat};
pub use counts::{ConnectionCounts, Excess, RequestCounts, STATUS_CLASSES, TIERS};
pub(crate) use log_limit::LogLimit;
pub use trace::{Api, FrontEnd, RequestTrace, RouteGroup, RouteLabel};

use crate::RequestId;
use crate::body::BodyError;

/// A request that has its response.
pub struct Finished<'a> {
    pub id: RequestId,
    /// `None` if the request was not readable.
    pub method: Option<&'a Method>,
    pub status: StatusCode,
    /// From the end of the head to the response, before it is sent.
    pub duration: Duration,
    /// Of the response's body as sent.
    pub bytes: Option<u64>,
    pub trace: &'a RequestTrace,
}

/// Records requests and connections.
pub struct Telemetry {
    pub requests: RequestCounts,
    pub connections: ConnectionCounts,
    /// Requests that take as long are logged.
    slow: Duration,
    pub access_log: Option<AccessLog>,
    failures: LogLimit,
    slow_requests: LogLimit,
    accept_failures: LogLimit,
    cut: AtomicU64,
    cut_responses: LogLimit,
}

impl Telemetry {
    pub fn new(slow: Duration, access_log: Option<AccessLog>) -> Self {
        Self {
            requests: RequestCounts::default(),
            connections: ConnectionCounts::default(),
            slow,
            access_log,
            failures: LogLimit::new(100),
            slow_requests: LogLimit::new(100),
            accept_failures: LogLimit::new(1),
            cut: AtomicU64::new(0),
            cut_responses: LogLimit::new(100),
        }
    }

    /// Records a request whose response was sent while it was made; `cut` is why the server ended it early.
    pub(crate) fn streamed(&self, request: &Finished<'_>, cut: Option<&BodyError>) {
        self.finished(request);
        let Some(cause) = cut else { return };
        self.cut.fetch_add(1, Ordering::Relaxed);
        if let Some(suppressed) = self.cut_responses.admit() {
            let (id, route) = (request.id, request.trace.route());
            tracing::error!(request_id = %id, %route, %cause, suppressed, "response cut short");
        }
    }

    /// Responses that the server ended early, because the rest of them could not be made.
    pub fn cut(&self) -> u64 {
        self.cut.load(Ordering::Relaxed)
    }

    pub(crate) fn finished(&self, request: &Finished<'_>) {
        self.requests.add(request);
        if let Some(log) = &self.access_log {
            log.write(request);
        }
        if request.status.is_server_error() {
            self.log_failure(request);
        } else if request.duration >= self.slow {
            self.log_slow(request);
        }
    }

    #[cold]
    fn log_failure(&self, request: &Finished<'_>) {
        let Some(suppressed) = self.failures.admit() else { return };
        let Finished { id, status, duration, trace, .. } = request;
        let (route, status, duration_ms) = (trace.route(), status.as_u16(), milliseconds(*duration));
        let cause = trace.failure().unwrap_or(if status == 503 { "overloaded" } else { "see its response" });
        if status == 500 {
            tracing::error!(request_id = %id, %route, status, duration_ms, cause, suppressed, "request failed");
        } else {
            tracing::warn!(request_id = %id, %route, status, duration_ms, cause, suppressed, "request refused");
        }
    }

    #[cold]
    fn log_slow(&self, request: &Finished<'_>) {
        let Some(suppressed) = self.slow_requests.admit() else { return };
        let Finished { id, status, duration, trace, .. } = request;
        let (route, status, duration_ms) = (trace.route(), status.as_u16(), milliseconds(*duration));
        tracing::warn!(request_id = %id, %route, status, duration_ms, suppressed, "slow request");
    }

    /// Records that the system did not hand over a connection.
    pub(crate) fn accept_failed(&self, error: &std::io::Error) {
        self.connections.failed();
        if let Some(suppressed) = self.accept_failures.admit() {
            tracing::error!(suppressed, "cannot accept a connection, retrying: {error}");
        }
    }
}

/// The default of the shortest slow request.
pub const SLOW: Duration = Duration::from_secs(1);

impl Default for Telemetry {
    fn default() -> Self {
        Self::new(SLOW, None)
    }
}

/// With three decimal places.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e3
}
