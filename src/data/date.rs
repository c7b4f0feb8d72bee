//! Calendar dates, the only times in the data, and the format of times.
//!
//! A source may know only the year or the month of an event. A [`PartialDate`] keeps the given precision, because
//! `2021` written as `2021-01-01` is a claim that nobody made.

use std::fmt;
use std::str::FromStr;

use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::{date, format_description};

const HTTP_FORMAT: &[BorrowedFormatItem<'static>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");
const FORMAT: &[BorrowedFormatItem<'static>] = format_description!("[year]-[month]-[day]");

/// Serializes a type as its `Display` form, which `FromStr` reads.
macro_rules! serialize_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'_, str> as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use serialize_as_text;

serialize_as_text!(Date);
serialize_as_text!(PartialDate);

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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Precision {
    Year,
    Month,
    Day,
}

/// A date as it was given, `2021`, `2021-03` or `2021-03-04`. The order is that of the texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartialDate {
    first_day: Date,
    precision: Precision,
}

impl PartialDate {
    pub const PATTERN: &'static str = r"^\d{4}(-\d{2}(-\d{2})?)?$";

    /// The date of these numbers, if the calendar has it. A day needs its month.
    pub fn of(year: u32, month: Option<u32>, day: Option<u32>) -> Option<Self> {
        let precision = match (month, day) {
            (None, None) => Precision::Year,
            (Some(_), None) => Precision::Month,
            (Some(_), Some(_)) => Precision::Day,
            (None, Some(_)) => return None,
        };
        let year = i32::try_from(year).ok().filter(|year| *year <= 9999)?;
        let month = u8::try_from(month.unwrap_or(1)).ok()?.try_into().ok()?;
        let day = u8::try_from(day.unwrap_or(1)).ok()?;
        let day = time::Date::from_calendar_date(year, month, day).ok()?;
        Some(Self { first_day: Date(days_of(day)), precision })
    }

    pub(crate) fn at(day: Date, precision: Precision) -> Self {
        let date = day.calendar();
        let back = match precision {
            Precision::Year => date.ordinal() - 1,
            Precision::Month => u16::from(date.day()) - 1,
            Precision::Day => 0,
        };
        Self { first_day: Date(day.0 - i32::from(back)), precision }
    }

    pub fn first_day(self) -> Date {
        self.first_day
    }

    pub fn last_day(self) -> Date {
        let date = self.first_day.calendar();
        let days = match self.precision {
            Precision::Year => time::util::days_in_year(date.year()),
            Precision::Month => u16::from(date.month().length(date.year())),
            Precision::Day => 1,
        };
        Date(self.first_day.0 + i32::from(days) - 1)
    }

    pub fn year(self) -> i32 {
        self.first_day.year()
    }

    /// Month and day of its first day.
    pub(crate) fn month_and_day(self) -> (u8, u8) {
        let date = self.first_day.calendar();
        (date.month().into(), date.day())
    }

    /// The month of the date; the year if no more is known.
    pub fn month(self) -> Self {
        Self::at(self.first_day, self.precision.min(Precision::Month))
    }

    /// The month in words, or the year if no more is known: `March 2013`.
    pub fn month_in_words(self) -> String {
        match self.precision {
            Precision::Year => self.year().to_string(),
            Precision::Month | Precision::Day => format!("{} {}", self.first_day.calendar().month(), self.year()),
        }
    }

    pub fn is_day(self) -> bool {
        self.precision == Precision::Day
    }

    pub fn is_month(self) -> bool {
        self.precision == Precision::Month
    }

    /// The quarter of the year, 1–4; `None` if only the year is known.
    pub fn quarter(self) -> Option<u8> {
        let month = u8::from(self.first_day.calendar().month());
        (self.precision > Precision::Year).then_some(month.div_ceil(3))
    }

    /// The date as a number in the order of dates, for columns.
    pub fn code(self) -> i32 {
        Self::first_code(self.first_day) + self.precision as i32
    }

    /// The date of a number that [`PartialDate::code`] returned; for any other number, a date near it.
    pub fn from_code(code: i32) -> Self {
        let precision = match code.rem_euclid(4) {
            0 => Precision::Year,
            1 => Precision::Month,
            _ => Precision::Day,
        };
        Self::at(Date::from_days(code.div_euclid(4)), precision)
    }

    /// The day of [`PartialDate::first_code`] or [`PartialDate::last_code`].
    pub fn day_of_code(code: i32) -> Date {
        Date::from_days(code.div_euclid(4))
    }

    /// The least code of the dates that begin on or after a day.
    pub fn first_code(day: Date) -> i32 {
        day.0 * 4
    }

    /// The greatest code of the dates that begin on or before a day.
    pub fn last_code(day: Date) -> i32 {
        day.0 * 4 + 3
    }

    /// The month and the year of a day, if they end after it. No other dates begin by the day and end after it.
    pub fn unfinished(day: Date) -> impl Iterator<Item = Self> {
        let periods = [Precision::Year, Precision::Month].map(|precision| Self::at(day, precision));
        periods.into_iter().filter(move |period| period.last_day() > day)
    }
}

impl From<Date> for PartialDate {
    fn from(day: Date) -> Self {
        Self { first_day: day, precision: Precision::Day }
    }
}

impl fmt::Display for PartialDate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.first_day.calendar();
        match self.precision {
            Precision::Year => write!(f, "{:04}", date.year()),
            Precision::Month => write!(f, "{:04}-{:02}", date.year(), u8::from(date.month())),
            Precision::Day => self.first_day.fmt(f),
        }
    }
}

impl FromStr for PartialDate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let (precision, rest) = match text.len() {
            4 => (Precision::Year, "-01-01"),
            7 => (Precision::Month, "-01"),
            _ => (Precision::Day, ""),
        };
        let first_day = if rest.is_empty() { text.parse() } else { format!("{text}{rest}").parse() };
        let first_day = first_day.map_err(|_| "not a date of the form YYYY-MM-DD, YYYY-MM or YYYY")?;
        Ok(Self { first_day, precision })
    }
}

const EPOCH: i32 = 2_440_588;

fn days_of(date: time::Date) -> i32 {
    date.to_julian_day() - EPOCH
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.calendar();
        let mut text = *b"0000-00-00";
        let mut put = |end: usize, mut number: u32| {
            for byte in text[..end].iter_mut().rev().take_while(|byte| **byte != b'-') {
                *byte = b'0' + (number % 10) as u8;
                number /= 10;
            }
        };
        put(4, date.year().unsigned_abs());
        put(7, u8::from(date.month()).into());
        put(10, date.day().into());
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl FromStr for Date {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        match time::Date::parse(text, FORMAT) {
            Ok(date) if text.len() == 10 => Ok(Self(days_of(date))),
            _ => Err("not a date of the form YYYY-MM-DD"),
        }
    }
}

/// Unix seconds as RFC 3339 in UTC, clamped as in [`Date::from_days`].
pub fn rfc3339(unix: i64) -> String {
    let within = unix.clamp(Date::from_days(i32::MIN).unix(), Date::from_days(i32::MAX).unix());
    let time = OffsetDateTime::from_unix_timestamp(within).expect("a time in the years of the calendar");
    time.format(&Rfc3339).expect("a year of four digits")
}

/// Unix seconds in the form of HTTP headers, clamped as in [`Date::from_days`]: `Thu, 01 Jun 2028 00:00:00 GMT`.
pub fn http_date(unix: i64) -> String {
    let within = unix.clamp(Date::from_days(i32::MIN).unix(), Date::from_days(i32::MAX).unix());
    let time = OffsetDateTime::from_unix_timestamp(within).expect("a time in the years of the calendar");
    time.format(HTTP_FORMAT).expect("a year of four digits")
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
            assert_eq!(text.parse::<Date>(), Err("not a date of the form YYYY-MM-DD"), "{text}");
        }
    }

    #[test]
    fn a_partial_date_is_written_as_it_was_read_and_has_a_first_and_a_last_day() {
        for (text, first, last, quarter) in [
            ("2021", "2021-01-01", "2021-12-31", None),
            ("2021-03", "2021-03-01", "2021-03-31", Some(1)),
            ("2024-02", "2024-02-01", "2024-02-29", Some(1)),
            ("2021-12", "2021-12-01", "2021-12-31", Some(4)),
            ("2021-03-04", "2021-03-04", "2021-03-04", Some(1)),
            ("2021-01-01", "2021-01-01", "2021-01-01", Some(1)),
            ("9999", "9999-01-01", "9999-12-31", None),
            ("0000", "0000-01-01", "0000-12-31", None),
        ] {
            let date: PartialDate = text.parse().unwrap();
            assert_eq!(date.to_string(), text);
            assert_eq!(date.month().to_string(), text[..text.len().min(7)]);
            assert_eq!(
                (date.first_day().to_string(), date.last_day().to_string()),
                (first.into(), last.into()),
                "{text}"
            );
            assert_eq!((date.quarter(), PartialDate::from_code(date.code())), (quarter, date), "{text}");
        }
        for text in
            ["", "21", "2021-3", "2021-13", "2021-00", "2021-02-29", "2021-", "2021-03-", "20210304", "+021", "２"]
        {
            let expected = "not a date of the form YYYY-MM-DD, YYYY-MM or YYYY";
            assert_eq!(text.parse::<PartialDate>(), Err(expected), "{text}");
        }
    }

    #[test]
    fn partial_dates_are_in_the_order_of_their_texts_and_of_their_codes() {
        let texts = ["2020-12-31", "2021", "2021-01", "2021-01-01", "2021-01-02", "2021-02", "2021-02-01", "2022"];
        let dates = texts.map(|text| text.parse::<PartialDate>().unwrap());
        assert!(dates.is_sorted() && texts.is_sorted() && dates.map(PartialDate::code).is_sorted());
    }

    #[test]
    fn the_dates_that_begin_by_a_day_and_end_after_it_are_its_month_and_year() {
        for (day, periods) in [
            ("2021-03-04", &["2021", "2021-03"][..]),
            ("2021-03-31", &["2021"]),
            ("2021-12-30", &["2021", "2021-12"]),
            ("2021-12-31", &[]),
        ] {
            let unfinished = PartialDate::unfinished(day.parse().unwrap());
            assert_eq!(unfinished.map(|date| date.to_string()).collect::<Vec<_>>(), periods, "{day}");
        }
    }

    #[test]
    fn times_are_rfc_3339() {
        assert_eq!(rfc3339(1_795_305_600), "2026-11-22T00:00:00Z");
        assert_eq!(rfc3339(1_795_305_600 - 1), "2026-11-21T23:59:59Z");
        assert_eq!(rfc3339(i64::MAX), "9999-12-31T00:00:00Z");
    }
}
