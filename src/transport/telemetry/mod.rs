//! Metrics, log and access log of requests.
//!
//! No line contains a key, an address, an e-mail address, a query or the slug of a record: paths are logged as their
//! route.

mod access_log;
mod counts;
mod log_limit;
mod trace;

use std::time::Duration;

use http::{Method, StatusCode};

pub use access_log::{AccessLog, LogFormat};
pub use counts::{ConnectionCounts, Excess, RequestCounts, STATUS_CLASSES, TIERS};
pub(crate) use log_limit::LogLimit;
pub use trace::{Api, FrontEnd, RequestTrace, RouteGroup, RouteLabel};

use crate::RequestId;
use crate::body::ClientFault;
use crate::server::streamed_body::BodyEnd;
use platform::limits::explain;
use platform::metrics::Counter;

pub(crate) struct FinishedRequest<'a> {
    pub id: RequestId,
    /// `None` if the request was not readable.
    pub method: Option<&'a Method>,
    pub status: StatusCode,
    /// Time from the end of the head to the response, before it is sent.
    pub duration: Duration,
    pub bytes: u64,
    pub trace: &'a RequestTrace,
}

pub struct Telemetry {
    pub requests: RequestCounts,
    pub connections: ConnectionCounts,
    slow: Duration,
    pub access_log: Option<AccessLog>,
    failures: LogLimit,
    /// Separate, so that refused requests, which clients can cause, do not suppress lines about failures.
    refusals: LogLimit,
    slow_requests: LogLimit,
    accept_failures: LogLimit,
    /// Responses ended early by an error of the server.
    pub aborted: Counter,
    /// Responses ended early by their clients, which left, read too slowly or sent an incomplete body.
    pub abandoned: Counter,
    aborted_lines: LogLimit,
}

impl Telemetry {
    pub fn new(slow: Duration, access_log: Option<AccessLog>) -> Self {
        Self {
            requests: RequestCounts::default(),
            connections: ConnectionCounts::default(),
            slow,
            access_log,
            failures: LogLimit::new(100),
            refusals: LogLimit::new(100),
            slow_requests: LogLimit::new(100),
            accept_failures: LogLimit::new(1),
            aborted: Counter::default(),
            abandoned: Counter::default(),
            aborted_lines: LogLimit::new(100),
        }
    }

    /// Records a request with a streamed response.
    pub(crate) fn record_streamed(&self, request: &FinishedRequest<'_>, end: BodyEnd<'_>) {
        self.record(request);
        let cause = match end {
            BodyEnd::Whole => return,
            BodyEnd::Failed(cause) if !ClientFault::caused(&**cause) => cause,
            BodyEnd::Abandoned | BodyEnd::Failed(_) => return self.abandoned.add(1),
        };
        self.aborted.add(1);
        if let Some(suppressed) = self.aborted_lines.admit() {
            let (id, route) = (request.id, request.trace.route());
            tracing::error!(request_id = %id, %route, %cause, suppressed, "response cut short");
        }
    }

    pub(crate) fn record(&self, request: &FinishedRequest<'_>) {
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
    fn log_failure(&self, request: &FinishedRequest<'_>) {
        let FinishedRequest { id, status, duration, trace, .. } = request;
        let limit = if *status == StatusCode::INTERNAL_SERVER_ERROR { &self.failures } else { &self.refusals };
        let Some(suppressed) = limit.admit() else { return };
        let (route, status, duration_ms) = (trace.route(), status.as_u16(), milliseconds(*duration));
        let cause = trace.failure().unwrap_or(if status == 503 { "overloaded" } else { "see its response" });
        if status == 500 {
            tracing::error!(request_id = %id, %route, status, duration_ms, cause, suppressed, "request failed");
        } else {
            tracing::warn!(request_id = %id, %route, status, duration_ms, cause, suppressed, "request refused");
        }
    }

    #[cold]
    fn log_slow(&self, request: &FinishedRequest<'_>) {
        let Some(suppressed) = self.slow_requests.admit() else { return };
        let FinishedRequest { id, status, duration, trace, .. } = request;
        let (route, status, duration_ms) = (trace.route(), status.as_u16(), milliseconds(*duration));
        tracing::warn!(request_id = %id, %route, status, duration_ms, suppressed, "slow request");
    }

    pub(crate) fn record_accept_failure(&self, error: &std::io::Error) {
        self.connections.failed.add(1);
        if let Some(suppressed) = self.accept_failures.admit() {
            tracing::error!(suppressed, "cannot accept a connection, retrying: {}", explain(error));
        }
    }
}

/// Milliseconds with three decimal places.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RequestIds;

    #[test]
    fn refused_requests_do_not_suppress_lines_about_failures() {
        let (telemetry, trace) = (Telemetry::new(Duration::MAX, None), RequestTrace::default());
        let id = RequestIds::default().next();
        let record = |status| {
            let (method, duration, bytes) = (Some(&Method::GET), Duration::ZERO, 0);
            telemetry.record(&FinishedRequest { id, method, status, duration, bytes, trace: &trace });
        };
        (0..200).for_each(|_| record(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(telemetry.refusals.admit(), None);
        record(StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(telemetry.failures.admit(), Some(0), "no line was left out");
    }
}
