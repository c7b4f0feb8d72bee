//! The clock of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

/// Current time in Unix seconds; 0 if the clock is set to a time before 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}
