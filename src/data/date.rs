//! Calendar dates, the only times in the data, and how times are written.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::{date, format_description};

const FORMAT: &[BorrowedFormatItem<'static>] = format_description!("[year]-[month]-[day]");

/// A calendar date (UTC), stored as days since 1970-01-01 and written `YYYY-MM-DD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date(i32);

impl Date {
    /// The date `days` after 1970-01-01 (negative: before it), clamped to the years 0–9999.
    pub fn from_days(days: i32) -> Self {
        Self(days.clamp(days_of(date!(0000 - 01 - 01)), days_of(date!(9999 - 12 - 31))))
    }

    pub fn days(self) -> i32 {
        self.0
    }

    /// The date of a Unix time in seconds, clamped as in [`Date::from_days`].
    pub fn from_unix(seconds: i64) -> Self {
        Self::from_days(i32::try_from(seconds.div_euclid(86_400)).unwrap_or(i32::MAX))
    }

    /// Unix seconds of this date at 00:00 UTC.
    pub fn unix(self) -> i64 {
        i64::from(self.0) * 86_400
    }

    pub fn year(self) -> i32 {
        self.calendar().year()
    }

    fn calendar(self) -> time::Date {
        time::Date::from_julian_day(self.0 + EPOCH).expect("a date has a year from 0 to 9999")
    }
}

/// The Julian day of 1970-01-01.
const EPOCH: i32 = 2_440_588;

fn days_of(date: time::Date) -> i32 {
    date.to_julian_day() - EPOCH
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
        deserialize_text(deserializer)
    }
}

/// Reads a value from its text form.
pub(crate) fn deserialize_text<'de, D: Deserializer<'de>, T>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: fmt::Display>,
{
    Cow::<str>::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a date of the form YYYY-MM-DD")]
pub struct ParseDateError;

impl FromStr for Date {
    type Err = ParseDateError;

    fn from_str(text: &str) -> Result<Self, ParseDateError> {
        if text.len() != 10 {
            return Err(ParseDateError);
        }
        let date = time::Date::parse(text, FORMAT).map_err(|_| ParseDateError)?;
        Ok(Self(days_of(date)))
    }
}

/// Unix seconds as RFC 3339 in UTC, clamped as in [`Date::from_days`].
pub fn rfc3339(unix: i64) -> String {
    let within = unix.clamp(Date::from_days(i32::MIN).unix(), Date::from_days(i32::MAX).unix());
    let time = OffsetDateTime::from_unix_timestamp(within).expect("a time in the years of the calendar");
    time.format(&Rfc3339).expect("a year of four digits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_written_as_it_was_read() {
        for text in ["1970-01-01", "2026-11-21", "2024-02-29", "1900-03-01", "0001-01-01", "9999-12-31"] {
            assert_eq!(text.parse::<Date>().unwrap().to_string(), text);
        }
        assert_eq!("1970-01-02".parse::<Date>().unwrap().days(), 1);
        assert_eq!(Date::from_unix(1_795_305_600).to_string(), "2026-11-22");
    }

    #[test]
    fn text_that_is_not_a_date_is_rejected() {
        for text in ["", "2026-02-29", "2026-2-1", "21.11.2026", "2026-11-21T00:00", "+026-11-21", "２026-11-2"] {
            assert_eq!(text.parse::<Date>(), Err(ParseDateError), "{text}");
        }
    }

    #[test]
    fn times_are_rfc_3339() {
        assert_eq!(rfc3339(1_795_305_600), "2026-11-22T00:00:00Z");
        assert_eq!(rfc3339(1_795_305_600 - 1), "2026-11-21T23:59:59Z");
        assert_eq!(rfc3339(i64::MAX), "9999-12-31T00:00:00Z");
    }
}
