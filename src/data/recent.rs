//! The period of recent activity: days up to the newest round of the data, or whole years if the data knows no days then.

use crate::{Date, PartialDate};

/// Days that count as recent; twice as many count as fairly recent.
const RECENT_DAYS: i32 = 365;

/// The period that recent activity is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecentPeriod {
    /// The days up to a date, by its first day.
    Days(PartialDate),
    /// The first and the last year.
    Years(i32, i32),
}

impl RecentPeriod {
    /// `dates` are those of all rounds. One after the release is planned or has a mistyped year. If most rounds of the
    /// newest year have no day, it counts as a whole, and a year that had not ended at the release together with the one
    /// before.
    pub fn new(dates: impl Iterator<Item = PartialDate> + Clone, released_on: Date) -> Self {
        let past = dates.filter(|date| date.first_day() <= released_on);
        let Some(newest) = past.clone().max() else { return Self::Days(released_on.into()) };
        let (mut rounds, mut by_year) = (0_u64, 0_u64);
        for date in past.filter(|date| date.year() == newest.year()) {
            rounds += 1;
            by_year += u64::from(date.quarter().is_none());
        }
        match by_year * 2 > rounds {
            true if newest.year() == released_on.year() => Self::Years(newest.year() - 1, newest.year()),
            true => Self::Years(newest.year(), newest.year()),
            false => Self::Days(newest),
        }
    }

    pub fn contains(self, date: PartialDate) -> bool {
        self.has(date, 1)
    }

    /// True for a date within the period or one as long before it.
    pub fn nearly_contains(self, date: PartialDate) -> bool {
        self.has(date, 2)
    }

    fn has(self, date: PartialDate, times: i32) -> bool {
        match self {
            Self::Days(until) => {
                let age = until.first_day().days() - date.first_day().days();
                (0..=times * RECENT_DAYS).contains(&age)
            }
            Self::Years(first, last) => (last - (last - first + 1) * times + 1..=last).contains(&date.year()),
        }
    }

    /// The period in words: `in 2021`, `in the 365 days up to 4 Mar 2021`. `day` formats a date.
    pub fn in_words(self, day: impl Fn(PartialDate) -> String) -> String {
        match self {
            Self::Days(until) => format!("in the {RECENT_DAYS} days up to {}", day(until)),
            Self::Years(first, last) if first == last => format!("in {last}"),
            Self::Years(first, last) => format!("in {first} and {last}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> PartialDate {
        text.parse().unwrap()
    }

    #[test]
    fn recent_are_days_up_to_the_newest_round_or_years_that_have_no_days() {
        let period = |dates: &[&str], released_on: &str| {
            let dates: Vec<PartialDate> = dates.iter().map(|text| date(text)).collect();
            RecentPeriod::new(dates.into_iter(), released_on.parse().unwrap())
        };
        let days = period(&["2020-03-01", "2021-03-04", "2021", "2099"], "2022-01-01");
        assert_eq!(days, RecentPeriod::Days(date("2021-03-04")));
        for (day, recent, nearly) in [
            ("2021-03-04", true, true),
            ("2020-03-04", true, true),
            ("2020-03-03", false, true),
            ("2019-03-04", false, false),
            ("2021-03-05", false, false),
        ] {
            assert_eq!((days.contains(date(day)), days.nearly_contains(date(day))), (recent, nearly), "{day}");
        }
        let year = period(&["2021", "2021", "2021-02-03", "2020"], "2026-11-21");
        assert_eq!(year, RecentPeriod::Years(2021, 2021));
        for (day, recent, nearly) in
            [("2021-02-03", true, true), ("2021", true, true), ("2020", false, true), ("2019", false, false)]
        {
            assert_eq!((year.contains(date(day)), year.nearly_contains(date(day))), (recent, nearly), "{day}");
        }
        // A year that had hardly begun.
        assert_eq!(period(&["2021", "2021", "2020"], "2021-02-01"), RecentPeriod::Years(2020, 2021));
        assert_eq!(period(&[], "2021-02-01"), RecentPeriod::Days(date("2021-02-01")));
        let words = [days, year, RecentPeriod::Years(2020, 2021)].map(|period| period.in_words(|day| day.to_string()));
        assert_eq!(words, ["in the 365 days up to 2021-03-04", "in 2021", "in 2020 and 2021"]);
    }
}
