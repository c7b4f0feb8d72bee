//! The log: one line per event on stderr, as text or JSON, with an RFC 3339 time stamp and a level.

use std::io;

use tracing::level_filters::LevelFilter;

use platform::metrics::panics;
use transport::telemetry::LogFormat;

/// Names of the levels, from fewest to most events.
pub(crate) const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts logging. Call it once, before the server starts.
pub(crate) fn init(level: LevelFilter, format: LogFormat) {
    let log = tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level).with_target(false);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).with_span_list(false).init(),
    }
    panics::log_panics();
}
