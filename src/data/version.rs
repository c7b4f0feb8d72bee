//! The version of a snapshot: a date and a counter.

use std::fmt;
use std::str::FromStr;

use crate::Date;
use crate::date::serialize_as_text;

/// The id of a snapshot, `YYYY-MM-DD.N`: release date and counter from 1. Later versions compare greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SnapshotVersion {
    pub date: Date,
    pub counter: u32,
}

impl SnapshotVersion {
    pub fn date(self) -> Date {
        self.date
    }

    pub fn next(self) -> Self {
        Self { date: self.date, counter: self.counter.saturating_add(1) }
    }
}

impl fmt::Display for SnapshotVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.date, self.counter)
    }
}

serialize_as_text!(SnapshotVersion);

const NOT_A_VERSION: &str = "not a snapshot version of the form YYYY-MM-DD.N";

impl FromStr for SnapshotVersion {
    type Err = &'static str;

    /// A bare date means `.1`. A counter has no leading zero, so that each version has only one form.
    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (date, counter) = text.split_once('.').unwrap_or((text, "1"));
        if counter.starts_with('0') || !counter.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(NOT_A_VERSION);
        }
        let date = date.parse().map_err(|_| NOT_A_VERSION)?;
        let counter = counter.parse().map_err(|_| NOT_A_VERSION)?;
        Ok(Self { date, counter })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_date_is_the_first_release_of_its_day() {
        assert_eq!("2026-11-20".parse::<SnapshotVersion>().unwrap().to_string(), "2026-11-20.1");
        assert_eq!("2026-11-20.12".parse::<SnapshotVersion>().unwrap().counter, 12);
        for text in ["", "2026-11-20.", "2026-11-20.0", "2026-11-20.01", "2026-11-20.+1", "2026-11-20.1/..", "v1"] {
            assert_eq!(text.parse::<SnapshotVersion>(), Err(NOT_A_VERSION), "{text}");
        }
    }

    #[test]
    fn versions_compare_by_date_and_number() {
        let read = |text: &str| text.parse::<SnapshotVersion>().unwrap();
        assert!(read("2026-11-20.10") > read("2026-11-20.9"));
        assert!(read("2026-11-21") > read("2026-11-20.10"));
    }
}
