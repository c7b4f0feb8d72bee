//! The access log: one line per request, written by its own thread.
//!
//! A request never waits for the disk: beyond [`WAITING`] waiting lines, further ones are dropped and counted.

use std::fmt::Display;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use http::Method;
use serde::{Serialize, Serializer};

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

/// A finished request, which the thread formats. The text format has the same fields in the same order as `name=value`,
/// without null ones.
#[derive(Serialize)]
struct LogLine {
    /// Unix seconds; logged as a date and time.
    #[serde(serialize_with = "write_time")]
    time: i64,
    #[serde(serialize_with = "write_text")]
    request_id: RequestId,
    method: &'static str,
    #[serde(serialize_with = "write_text")]
    route: RouteLabel,
    status: u16,
    duration_ms: f64,
    bytes: u64,
    api: Option<&'static str>,
    tier: Option<&'static str>,
    /// Processor time of the pieces of work that the request queued for, and of the longest one.
    work_ms: Option<f64>,
    piece_ms: Option<f64>,
}

fn write_time<S: Serializer>(time: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*time))
}

fn write_text<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

impl LogLine {
    fn text(&self) -> String {
        let Self { time, request_id, method, route, status, duration_ms, bytes, api, tier, work_ms, piece_ms } = self;
        let mut text = format!(
            "time={} request_id={request_id} method={method} route={route} status={status} \
             duration_ms={duration_ms} bytes={bytes}",
            rfc3339(*time)
        );
        for (name, value) in [("api", api), ("tier", tier)] {
            if let Some(value) = value {
                text.push_str(&format!(" {name}={value}"));
            }
        }
        for (name, value) in [("work_ms", work_ms), ("piece_ms", piece_ms)] {
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
    /// Returns Unix seconds.
    clock: fn() -> i64,
    /// `None` while the log is closing.
    lines: Option<SyncSender<LogLine>>,
    dropped: Arc<AtomicU64>,
    writer: Option<JoinHandle<()>>,
}

impl AccessLog {
    /// Opens the log to append to a file; `-` means stderr.
    pub fn open(path: &Path, format: LogFormat, clock: fn() -> i64) -> io::Result<Self> {
        Self::to(LogFile::open("access log", path)?, format, clock)
    }

    fn to(file: LogFile, format: LogFormat, clock: fn() -> i64) -> io::Result<Self> {
        let (lines, received) = sync_channel(WAITING);
        let dropped = Arc::new(AtomicU64::new(0));
        let thread = std::thread::Builder::new().name("access log".to_owned());
        let not_written = Arc::clone(&dropped);
        let writer = thread.spawn(move || write_lines(&received, file, format, &not_written))?;
        Ok(Self { clock, lines: Some(lines), dropped, writer: Some(writer) })
    }

    pub(super) fn write(&self, request: &FinishedRequest<'_>) {
        let route = request.trace.route();
        let (work, piece) = request.trace.measured_work().unzip();
        let line = LogLine {
            time: (self.clock)(),
            request_id: request.id,
            method: known_method(request.method),
            route,
            status: request.status.as_u16(),
            duration_ms: milliseconds(request.duration),
            bytes: if request.method == Some(&Method::HEAD) { 0 } else { request.bytes },
            api: route.api.map(Api::name),
            tier: request.trace.tier().map(Tier::name),
            work_ms: work.map(milliseconds),
            piece_ms: piece.map(milliseconds),
        };
        if self.lines.as_ref().is_none_or(|lines| lines.try_send(line).is_err()) {
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
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

/// Writes lines until the log is closed, in batches if they arrive faster than the disk writes.
fn write_lines(received: &Receiver<LogLine>, mut file: LogFile, format: LogFormat, not_written: &AtomicU64) {
    let mut lines = Vec::new();
    while let Ok(first) = received.recv() {
        lines.clear();
        let mut next = Some(first);
        while let Some(line) = next {
            line.write(format, &mut lines);
            next = if lines.len() < BATCH { received.try_recv().ok() } else { None };
        }
        not_written.fetch_add(file.append(&lines), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;
    use std::time::Duration;

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
        let log = AccessLog::to(LogFile::to("access log", lines.clone()), format, || 1_795_262_400).unwrap();
        let id = RequestIds::default().next();
        let (method, duration) = (Some(method), Duration::from_nanos(1_234_567));
        log.write(&FinishedRequest { id, method, status: StatusCode::OK, duration, bytes: 20, trace });
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
        [2, 3].into_iter().for_each(|milliseconds| trace.work().add(Duration::from_millis(milliseconds)));
        let json: Value = serde_json::from_str(&written(LogFormat::Json, &Method::GET, &trace)).unwrap();
        let expected = json!({
            "time": "2026-11-21T12:00:00Z", "request_id": "ID", "method": "GET", "route": "/api/v2/vcs/{slug}",
            "status": 200, "duration_ms": 1.234, "bytes": 20, "api": "v2", "tier": "pro", "work_ms": 5.0, "piece_ms": 3.0
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
        let log = AccessLog::to(LogFile::to("access log", Hung(hung)), LogFormat::Text, || 0).unwrap();
        let (id, trace) = (RequestIds::default().next(), RequestTrace::default());
        let request = FinishedRequest {
            id,
            method: None,
            status: StatusCode::OK,
            duration: Duration::ZERO,
            bytes: 0,
            trace: &trace,
        };
        for _ in 0..3 * WAITING {
            log.write(&request);
        }
        assert!(log.dropped() >= WAITING as u64, "{}", log.dropped());
        drop(_continue);
    }
}
