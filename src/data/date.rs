//! Calendar dates as whole days, the only notion of time that the data has.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

const FORMAT: &[BorrowedFormatItem<'static>] = format_description!("[year]-[month]-[day]");

/// A calendar date (UTC), written `YYYY-MM-DD`, held as days since 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    /// The date `days` after 1970-01-01 (negative: before it). Days outside the years 0–9999 are moved to the nearest
    /// that can be written.
    #[must_use]
    pub fn from_days(days: i32) -> Self {
        let first = days_of(time::Date::from_calendar_date(0, time::Month::January, 1));
        let last = days_of(time::Date::from_calendar_date(9999, time::Month::December, 31));
        Self(days.clamp(first, last))
    }

    /// Days since 1970-01-01.
    #[must_use]
    pub fn days(self) -> i32 {
        self.0
    }

    /// The date of a Unix time in seconds.
    #[must_use]
    pub fn from_unix(seconds: i64) -> Self {
        Self::from_days(i32::try_from(seconds.div_euclid(86_400)).unwrap_or(i32::MAX))
    }

    /// Unix seconds of this date's first instant, 00:00 UTC.
    #[must_use]
    pub fn unix(self) -> i64 {
        i64::from(self.0) * 86_400
    }

    /// The date's year.
    #[must_use]
    pub fn year(self) -> i32 {
        self.calendar().year()
    }

    fn calendar(self) -> time::Date {
        time::OffsetDateTime::from_unix_timestamp(self.unix()).unwrap_or(time::OffsetDateTime::UNIX_EPOCH).date()
    }
}

fn days_of(date: Result<time::Date, time::error::ComponentRange>) -> i32 {
    date.map_or(0, |date| date.to_julian_day() - 2_440_588)
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.calendar();
        write!(f, "{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
    }
}

impl Serialize for Date {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Date {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

/// The text is not a date of the form `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseDateError;

impl fmt::Display for ParseDateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a date of the form YYYY-MM-DD")
    }
}

impl std::error::Error for ParseDateError {}

impl FromStr for Date {
    type Err = ParseDateError;

    fn from_str(text: &str) -> Result<Self, ParseDateError> {
        if text.len() != 10 {
            return Err(ParseDateError);
        }
        let date = time::Date::parse(text, FORMAT).map_err(|_| ParseDateError)?;
        Ok(Self(date.to_julian_day() - 2_440_588))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_read_and_written_alike() {
        for text in ["1970-01-01", "2026-11-21", "2024-02-29", "1900-03-01", "0001-01-01", "9999-12-31"] {
            assert_eq!(text.parse::<Date>().unwrap().to_string(), text);
        }
        assert_eq!("1970-01-02".parse::<Date>().unwrap().days(), 1);
        assert_eq!(Date::from_unix(1_795_305_600).to_string(), "2026-11-22");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in ["", "2026-02-29", "2026-2-1", "21.11.2026", "2026-11-21T00:00", "+026-11-21", "２026-11-2"] {
            assert_eq!(text.parse::<Date>(), Err(ParseDateError), "{text}");
        }
    }
}
