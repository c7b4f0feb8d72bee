//! The announced end of a version of the API: the headers `Deprecation` (RFC 9745) and `Sunset` (RFC 8594).

use std::str::FromStr;

use data::{Date, http_date};

/// The versions that can end: all but the newest.
const OLDER: [&str; 2] = ["v1", "v2"];
/// Minimum number of days from the deprecation of a version to its end.
pub const MIN_NOTICE_DAYS: i32 = 365;

/// The ends that the program announces, in the form of the setting. The operator can name others.
const ANNOUNCED: &[&str] = &[];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VersionEnd {
    pub version: &'static str,
    pub deprecated_on: Date,
    pub ends_on: Date,
}

impl VersionEnd {
    /// The ends that the operator announces, and those of the program for other versions.
    pub fn with_announced(mut own: Vec<Self>) -> Vec<Self> {
        let announced = ANNOUNCED.iter().filter_map(|text| text.parse::<Self>().ok());
        let others: Vec<Self> = announced.filter(|end| own.iter().all(|own| own.version != end.version)).collect();
        own.extend(others);
        own
    }

    /// The value of the header `Deprecation`.
    pub fn deprecation(&self) -> String {
        format!("@{}", self.deprecated_on.unix())
    }

    /// The value of the header `Sunset`.
    pub fn sunset(&self) -> String {
        http_date(self.ends_on.unix())
    }
}

impl FromStr for VersionEnd {
    type Err = String;

    /// Parses `v1=2027-06-01/2028-06-01`: the day from which the version is deprecated, and the day on which it ends.
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.trim().split_once('=').and_then(|(version, days)| Some((version, days.split_once('/')?)));
        let Some((version, (from, end))) = parts else {
            return Err("is not a version with two days, such as v1=2027-06-01/2028-06-01".to_owned());
        };
        let Some(version) = OLDER.into_iter().find(|known| *known == version.trim()) else {
            return Err(format!("names a version that cannot end; those that can are {}", OLDER.join(" and ")));
        };
        let [from, end] = [from, end].map(|day| day.trim().parse::<Date>());
        let (Ok(deprecated_on), Ok(ends_on)) = (from, end) else {
            return Err("has a day that is not of the form YYYY-MM-DD, such as 2027-06-01".to_owned());
        };
        if ends_on.days() - deprecated_on.days() < MIN_NOTICE_DAYS {
            return Err(format!(
                "ends the version less than {MIN_NOTICE_DAYS} days after its deprecation, which is too soon"
            ));
        }
        Ok(Self { version, deprecated_on, ends_on })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_needs_a_year_of_notice() {
        let end: VersionEnd = "v1=2027-06-01/2028-06-01".parse().unwrap();
        assert_eq!((end.version, end.deprecation().as_str()), ("v1", "@1811808000"));
        assert_eq!(end.sunset(), "Thu, 01 Jun 2028 00:00:00 GMT");
        for (text, detail) in [
            ("v3=2027-06-01/2028-06-01", "v1 and v2"),
            ("v1=2027-06-01/2028-05-30", "365 days"),
            ("v1=2027-06-01/2026-06-01", "365 days"),
            ("v1=2027-06/2028-06", "YYYY-MM-DD"),
            ("v1=2027-06-01", "two days"),
            ("", "two days"),
        ] {
            let error = text.parse::<VersionEnd>().unwrap_err();
            assert!(error.contains(detail), "{text}: {error}");
        }
    }

    #[test]
    fn the_operator_can_replace_what_the_program_announces() {
        assert_eq!(ANNOUNCED.iter().filter(|text| text.parse::<VersionEnd>().is_err()).count(), 0);
        let own: VersionEnd = "v2=2027-06-01/2028-06-01".parse().unwrap();
        assert!(VersionEnd::with_announced(vec![own]).contains(&own));
    }
}
