//! Logs: one line per event on stderr, with an RFC 3339 time stamp and a level.

use std::io;

use tracing::level_filters::LevelFilter;

/// The names of the levels, from the fewest events to the most.
pub(crate) const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Starts logging. Call it once, before the server starts.
pub(crate) fn init(level: LevelFilter) {
    tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(level).with_target(false).init();
}
