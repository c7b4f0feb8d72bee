//! The access log: one line per request, written by its own thread.
//!
//! A request never waits for the disk: beyond [`WAITING`] waiting lines, further ones are dropped and counted.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use http::Method;
use serde::Serialize;

use crate::RequestId;
use crate::telemetry::{Api, FinishedRequest, RouteLabel, milliseconds};
use auth::LogFile;
use auth::quota::Tier;
use data::rfc3339;
use data::vocabulary::{Vocabulary, vocabulary};

/// Maximum number of lines queued for the disk: a few MiB, or requests of a fraction of a second.
const WAITING: usize = 16_384;

/// Batch size in bytes at which lines are written without waiting for more.
const BATCH: usize = 64 * 1024;

vocabulary! {
    /// Format of log lines.
    #[derive(Default)]
    LogFormat, "format", {
        #[default]
        Text = "text",
        Json = "json",
    }
}

/// A finished request; the thread formats its line.
struct LogEntry {
    /// Unix seconds.
    time: i64,
    id: RequestId,
    method: &'static str,
    route: RouteLabel,
    status: u16,
    duration: Duration,
    bytes: Option<u64>,
    pub tier: Option<Tier>,
}

/// Fields of a log line. The text format has the same fields in the same order as `name=value`, without null ones.
#[derive(Serialize)]
struct LogLine {
    time: String,
    request_id: String,
    method: &'static str,
    route: String,
    status: u16,
    duration_ms: f64,
    bytes: Option<u64>,
    api: Option<&'static str>,
    tier: Option<&'static str>,
}

impl LogLine {
    fn from_entry(entry: &LogEntry) -> Self {
        Self {
            time: rfc3339(entry.time),
            request_id: entry.id.to_string(),
            method: entry.method,
            route: entry.route.to_string(),
            status: entry.status,
            duration_ms: milliseconds(entry.duration),
            bytes: entry.bytes,
            api: entry.route.api.map(Api::name),
            tier: entry.tier.map(Tier::name),
        }
    }

    fn text(&self) -> String {
        let Self { time, request_id, method, route, status, duration_ms, bytes, api, tier } = self;
        let mut text = format!(
            "time={time} request_id={request_id} method={method} route={route} status={status} duration_ms={duration_ms}"
        );
        let bytes = bytes.map(|bytes| bytes.to_string());
        for (name, value) in [("bytes", bytes.as_deref()), ("api", *api), ("tier", *tier)] {
            if let Some(value) = value {
                text.push_str(&format!(" {name}={value}"));
            }
        }
        text
    }

    fn write(&self, format: LogFormat, lines: &mut Vec<u8>) {
        match format {
            LogFormat::Text => lines.extend_from_slice(self.text().as_bytes()),
            LogFormat::Json => serde_json::to_writer(&mut *lines, self).expect("texts and numbers serialize"),
        }
        lines.push(b'\n');
    }
}

/// Returns a known method name; arbitrary methods are not logged.
fn known_method(method: Option<&Method>) -> &'static str {
    const KNOWN: [&str; 8] = ["GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE"];
    KNOWN.into_iter().find(|known| method.is_some_and(|method| method == known)).unwrap_or("other")
}

pub struct AccessLog {
    /// Current time in Unix seconds.
    clock: fn() -> i64,
    /// `None` while the log is closing.
    entries: Option<SyncSender<LogEntry>>,
    dropped: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl AccessLog {
    /// Opens the log to append to a file; `-` means stderr.
    pub fn open(path: &Path, format: LogFormat, clock: fn() -> i64) -> io::Result<Self> {
        Self::to(LogFile::open(path)?, format, clock)
    }

    fn to(file: LogFile, format: LogFormat, clock: fn() -> i64) -> io::Result<Self> {
        let (entries, received) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let thread = std::thread::Builder::new().name("access log".to_owned());
        let not_written = Arc::clone(&dropped);
        let writer = thread.spawn(move || write_lines(&received, file, format, &not_written))?;
        Ok(Self { clock, entries: Some(entries), dropped, writer: Some(writer) })
    }

    pub(super) fn write(&self, request: &FinishedRequest<'_>) {
        let entry = LogEntry {
            time: (self.clock)(),
            id: request.id,
            method: known_method(request.method),
            route: request.trace.route(),
            status: request.status.as_u16(),
            duration: request.duration,
            bytes: request.bytes,
            tier: request.trace.tier(),
        };
        if self.entries.as_ref().is_none_or(|entries| entries.try_send(entry).is_err()) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Number of lines lost because the disk is too slow or full.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.entries = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Writes lines until the log is closed, in batches if they arrive faster than the disk writes.
fn write_lines(entries: &Receiver<LogEntry>, mut file: LogFile, format: LogFormat, not_written: &AtomicU64) {
    let (mut lines, mut is_failing) = (Vec::new(), false);
    while let Ok(first) = entries.recv() {
        lines.clear();
        let mut next = Some(first);
        while let Some(entry) = next {
            LogLine::from_entry(&entry).write(format, &mut lines);
            next = if lines.len() < BATCH { entries.try_recv().ok() } else { None };
        }
        match file.append(&lines) {
            Ok(()) => is_failing = false,
            Err(failure) => {
                not_written.fetch_add(failure.lines, Ordering::Relaxed);
                if !is_failing {
                    tracing::error!(
                        "cannot write the access log: {}; lines are lost until this is fixed",
                        failure.error
                    );
                }
                is_failing = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use http::StatusCode;
    use serde_json::{Value, json};

    use super::*;
    use crate::RequestIds;
    use crate::telemetry::{RequestTrace, RouteGroup};

    #[derive(Clone, Default)]
    struct TestOutput(Arc<Mutex<Vec<u8>>>);

    impl Write for TestOutput {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(format: LogFormat, method: &Method, trace: &RequestTrace) -> String {
        let lines = TestOutput::default();
        let log = AccessLog::to(LogFile::Other(Box::new(lines.clone())), format, || 1_795_262_400).unwrap();
        let id = RequestIds::default().next();
        let duration = Duration::from_nanos(1_234_567);
        log.write(&FinishedRequest {
            id,
            method: Some(method),
            status: StatusCode::OK,
            duration,
            bytes: Some(20),
            trace,
        });
        drop(log);
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        text.strip_suffix('\n').expect("one line").replace(&id.to_string(), "ID")
    }

    #[test]
    fn a_line_has_the_documented_fields() {
        let trace = RequestTrace::default();
        let path = "vcs/{slug}";
        trace.set_route(RouteLabel { group: RouteGroup::Record, api: Some(Api::V2), path });
        trace.set_tier(Tier::Pro);
        let json: Value = serde_json::from_str(&written(LogFormat::Json, &Method::GET, &trace)).unwrap();
        let expected = json!({
            "time": "2026-11-21T12:00:00Z", "request_id": "ID", "method": "GET", "route": "/api/v2/vcs/{slug}",
            "status": 200, "duration_ms": 1.234, "bytes": 20, "api": "v2", "tier": "pro"
        });
        assert_eq!(json, expected);
        let invented = Method::from_bytes(b"A-SECRET").unwrap();
        assert_eq!(
            written(LogFormat::Text, &invented, &RequestTrace::default()),
            "time=2026-11-21T12:00:00Z request_id=ID method=other route=unknown status=200 duration_ms=1.234 bytes=20"
        );
    }

    #[test]
    fn a_disk_that_hangs_costs_lines_and_no_time() {
        struct Hung(Receiver<()>);
        impl Write for Hung {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                let _ = self.0.recv();
                Ok(bytes.len())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let (_continue, hung) = std::sync::mpsc::channel();
        let log = AccessLog::to(LogFile::Other(Box::new(Hung(hung))), LogFormat::Text, || 0).unwrap();
        let (id, trace) = (RequestIds::default().next(), RequestTrace::default());
        let request = FinishedRequest {
            id,
            method: None,
            status: StatusCode::OK,
            duration: Duration::ZERO,
            bytes: None,
            trace: &trace,
        };
        for _ in 0..3 * WAITING {
            log.write(&request);
        }
        assert!(log.dropped() >= WAITING as u64, "{}", log.dropped());
        drop(_continue);
    }
}
