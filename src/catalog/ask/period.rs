//! Periods of time in words, relative to the day of the release: `since March 2021`, `last year`, `Q3 2014`.

use crate::ask::token::QuestionToken;
use crate::ask::words::{meaning_of, phrases};
use data::Date;
use data::name::numerals::up_to_twenty;

/// A period from a first to a last day; either may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) from: Option<Date>,
    pub(crate) to: Option<Date>,
}

/// A count in digits or as a word.
pub(crate) fn count_of(word: &str) -> Option<u32> {
    up_to_twenty(word).or_else(|| word.parse().ok())
}

fn day(year: i32, month: i32, day: i32) -> Option<Date> {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    (1..=day).rev().take(4).find_map(|day| format!("{year:04}-{month:02}-{day:02}").parse().ok())
}

/// The period from the first day of one month to the last day of another.
fn months(year: i32, first: i32, last: i32) -> Option<Period> {
    Some(Period { from: day(year, first, 1), to: day(year, last, 31) })
}

fn year_of(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..2100).contains(year))
}

/// Parses a named period: a year, a quarter, a month, a decade. Returns it with its length in words.
fn named(tokens: &[QuestionToken]) -> Option<(Period, usize)> {
    const OF: &[&str] = &["of", "in"];
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let year_at = |at: usize| year_of(word(at));
    let (first, second) = (word(0), word(1));
    let on = |date: Date| Period { from: Some(date), to: Some(date) };
    if let Some(year) = year_at(0) {
        return match quarter(second) {
            Some(quarter) => Some((months(year, quarter * 3 - 2, quarter * 3)?, 2)),
            None => Some((months(year, 1, 12)?, 1)),
        };
    }
    // `2014+`
    if let Some(year) = first.strip_suffix('+').and_then(year_of) {
        return Some((Period { from: day(year, 1, 1), to: None }, 1));
    }
    if let Some((year, month)) = first.split_once('-')
        && let (Some(year), Some(month)) = (year_of(year), month.parse().ok().filter(|_| month.len() == 2))
        && (1..=12).contains(&month)
    {
        return Some((months(year, month, month)?, 1));
    }
    // `15 March 2014`, `March 15, 2014`
    let day_of = |word: &str| {
        let number = word.trim_end_matches("st").trim_end_matches("nd").trim_end_matches("rd").trim_end_matches("th");
        number.parse().ok().filter(|day| (1..=31).contains(day))
    };
    let dated = day_of(first).zip(month_named(second)).or_else(|| day_of(second).zip(month_named(first)));
    if let (Some((number, month)), Some(year)) = (dated, year_at(2))
        && let Some(date) = day(year, month, number)
    {
        return Some((on(date), 3));
    }
    if let Some(date) = first.parse().ok().filter(|_| first.len() == 10) {
        return Some((on(date), 1));
    }
    // `the 2010s`, `the 90s`
    if let Some(decade) = first.strip_suffix('s') {
        let short = decade.parse().ok().filter(|year| decade.len() == 2 && (50..100).contains(year));
        let decade = year_of(decade).or(short.map(|year: i32| 1900 + year)).filter(|year| year % 10 == 0)?;
        return Some((Period { from: day(decade, 1, 1), to: day(decade + 9, 12, 31) }, 1));
    }
    // A part of a year: its first and last month, its length in words, and words that may follow before the year.
    let (from, to, length, joints): (i32, i32, usize, &[&str]) = match (first, second) {
        ("first", "quarter") => (1, 3, 2, OF),
        ("second", "quarter") => (4, 6, 2, OF),
        ("third", "quarter") => (7, 9, 2, OF),
        ("fourth" | "last", "quarter") => (10, 12, 2, OF),
        ("first", "half") => (1, 6, 2, OF),
        ("second" | "last", "half") => (7, 12, 2, OF),
        ("h1", _) => (1, 6, 1, OF),
        ("h2", _) => (7, 12, 1, OF),
        ("first", "month") if OF.contains(&word(2)) => (1, 1, 3, &[]),
        ("last", "month") if OF.contains(&word(2)) => (12, 12, 3, &[]),
        // `mid-2013`: a third of the year.
        ("early", _) => (1, 4, 1, &[]),
        ("mid", _) => (5, 8, 1, &[]),
        ("late", _) => (9, 12, 1, &[]),
        // A winter spans two years, so it is not a season here.
        ("spring", _) => (3, 5, 1, &["of"]),
        ("summer", _) => (6, 8, 1, &["of"]),
        ("autumn" | "fall", _) => (9, 11, 1, &["of"]),
        _ => match quarter(first) {
            Some(quarter) => (quarter * 3 - 2, quarter * 3, 1, &[]),
            None => month_named(first).map(|month| (month, month, 1, &[] as &[_]))?,
        },
    };
    let at = length + usize::from(joints.contains(&word(length)));
    Some((months(year_at(at)?, from, to)?, at + 1))
}

fn month_named(word: &str) -> Option<i32> {
    meaning_of("months", word)?.parse().ok()
}

fn quarter(word: &str) -> Option<i32> {
    word.strip_prefix('q')?.parse().ok().filter(|quarter| (1..=4).contains(quarter))
}

/// Two years in one word: `2018-2020`.
fn years(word: &str) -> Option<Period> {
    let (first, last) = word.split_once('-')?;
    Some(Period { from: day(year_of(first)?, 1, 1), to: day(year_of(last)?, 12, 31) })
}

/// `last year`, `past three months`, `this quarter`.
fn relative(tokens: &[QuestionToken], today: Date) -> Option<(Period, usize)> {
    let (year, month) = (today.year(), month_of(today));
    let words: Vec<&str> = tokens.iter().take(3).map(|token| token.word.as_str()).collect();
    let quarter = (month - 1) / 3 + 1;
    let of_quarter = |quarter: i32| months(year, quarter * 3 - 2, quarter * 3);
    // `last quarter of 2013`, `last month of 2014`
    if matches!(words.get(1), Some(&"quarter" | &"month"))
        && words.get(2).is_some_and(|word| ["of", "in"].contains(word))
    {
        return None;
    }
    let period = match words.as_slice() {
        ["last" | "previous", "year", ..] => months(year - 1, 1, 12)?,
        ["this" | "current", "year", ..] => months(year, 1, 12)?,
        ["last" | "previous", "month", ..] => months(year, month - 1, month - 1)?,
        ["this" | "current", "month", ..] => months(year, month, month)?,
        ["last" | "previous", "quarter", ..] => of_quarter(quarter - 1)?,
        ["this" | "current", "quarter", ..] => of_quarter(quarter)?,
        ["past" | "last", "decade", ..] => Period { from: day_before(today, 120), to: None },
        ["past", "year", ..] => Period { from: day_before(today, 12), to: None },
        ["last" | "past", number, unit, ..] => {
            let number = count_of(number)? as i32;
            let length = match *unit {
                "years" | "year" | "yrs" | "yr" => number.checked_mul(12)?,
                "quarters" => number.checked_mul(3)?,
                "months" | "month" => number,
                "weeks" | "days" => {
                    let days = if *unit == "weeks" { number.checked_mul(7)? } else { number };
                    let from = Date::from_days(today.days() - days.min(36_500));
                    return Some((Period { from: Some(from), to: None }, 3));
                }
                _ => return None,
            };
            return Some((Period { from: day_before(today, length.min(1_200)), to: None }, 3));
        }
        _ => return None,
    };
    Some((period, 2))
}

fn month_of(date: Date) -> i32 {
    date.to_string().get(5..7).and_then(|month| month.parse().ok()).unwrap_or(1)
}

/// The same day this many months earlier.
fn day_before(today: Date, months: i32) -> Option<Date> {
    let of_month = today.to_string().get(8..10).and_then(|day| day.parse().ok()).unwrap_or(1);
    day(today.year(), month_of(today) - months, of_month)
}

/// An age: `older than 5 years`, `less than 3 years old`, `more than ten years ago`.
fn age(words: &[&str], today: Date) -> Option<(Period, usize)> {
    let age = phrases("ages").iter().find(|age| words.starts_with(&age.words))?;
    let (number, length) = match (age.meaning, &words[age.words.len()..]) {
        ("older" | "younger", [number, "years" | "year", ..]) => (number, 2),
        ("longer ago" | "shorter ago", [number, "years", "ago" | "old", ..]) => (number, 3),
        _ => return None,
    };
    let day = day_before(today, i32::try_from(count_of(number)?).ok()?.checked_mul(12)?.min(1_200))?;
    let period = match age.meaning {
        "older" | "longer ago" => Period { from: None, to: Some(day) },
        _ => Period { from: Some(day), to: None },
    };
    Some((period, age.words.len() + length))
}

/// Parses the next period of a question; returns it with its length in words.
pub(crate) fn period(tokens: &[QuestionToken], today: Date) -> Option<(Period, usize)> {
    let words: Vec<&str> = tokens.iter().take(5).map(|token| token.word.as_str()).collect();
    if let Some(period) = age(&words, today) {
        return Some(period);
    }
    let after = |skip: usize| tokens.get(skip..).and_then(|rest| relative(rest, today).or_else(|| named(rest)));
    let bounded =
        |skip: usize, bound: fn(Period) -> Period| after(skip).map(|(period, length)| (bound(period), skip + length));
    let later = |period: Period| Period { from: period.to.map(|date| Date::from_days(date.days() + 1)), to: None };
    let earlier = |period: Period| Period { from: None, to: period.from.map(|date| Date::from_days(date.days() - 1)) };
    let skip_the = |at: usize| at + usize::from(tokens.get(at).is_some_and(|token| token.is(&["the"])));
    match words.as_slice() {
        ["between" | "from", ..] => {
            if let Some(period) = tokens.get(1).and_then(|token| years(&token.word)) {
                return Some((period, 2));
            }
            // `January` in `between January and April 2015` takes the year of the other month.
            let month_before_year = || {
                let (month, year) = (month_named(&tokens.get(1)?.word)?, year_of(&tokens.get(4)?.word)?);
                Some((months(year, month, month)?, 1))
            };
            let (first, length) = after(1).or_else(month_before_year)?;
            let joint = 1 + length;
            if !tokens.get(joint)?.is(&["and", "to", "until", "till", "through"]) {
                return (words[0] == "from").then(|| with_later(first, joint, tokens));
            }
            let (last, more) = after(joint + 1)?;
            Some((Period { from: first.from, to: last.to }, joint + 1 + more))
        }
        ["in" | "on", "or" | "and", "before", ..] => bounded(3, |period| Period { from: None, to: period.to }),
        ["in" | "on", "or" | "and", "after", ..] => bounded(3, |period| Period { from: period.from, to: None }),
        ["since" | "starting", ..] => bounded(skip_the(1), |period| Period { from: period.from, to: None }),
        ["after" | "post", ..] => bounded(1, later),
        ["younger" | "newer" | "later", "than", ..] => bounded(2, later),
        ["before" | "pre", ..] => bounded(1, earlier),
        ["older" | "earlier", "than", ..] | ["prior", "to", ..] => bounded(2, earlier),
        ["until" | "till" | "by" | "through", ..] => bounded(1, |period| Period { from: None, to: period.to }),
        ["in" | "during" | "within" | "over" | "of" | "for" | "on", ..] => {
            let at = skip_the(1);
            if let Some(period) = tokens.get(at).and_then(|token| years(&token.word)) {
                return Some((period, at + 1));
            }
            let (period, length) = after(at)?;
            Some(with_later(period, at + length, tokens))
        }
        ["the", ..] => {
            let (period, length) = relative(tokens.get(1..)?, today)?;
            Some((period, 1 + length))
        }
        [first, ..] => {
            if let Some(period) = years(first) {
                return Some((period, 1));
            }
            let (period, length) = after(0)?;
            Some(with_later(period, length, tokens))
        }
        [] => None,
    }
}

/// `2019 or later`, `2019 to 2021`, `2020+`.
fn with_later(period: Period, length: usize, tokens: &[QuestionToken]) -> (Period, usize) {
    let words: Vec<&str> = tokens.iter().skip(length).take(2).map(|token| token.word.as_str()).collect();
    match words.as_slice() {
        ["or" | "and", "later" | "after" | "newer" | "onwards", ..] => (Period { to: None, ..period }, length + 2),
        ["or" | "and", "earlier" | "before" | "older", ..] => (Period { from: None, ..period }, length + 2),
        ["onwards" | "onward", ..] => (Period { to: None, ..period }, length + 1),
        ["to" | "until" | "through" | "till" | "or" | "and", next]
            if year_of(next).is_some() || words[0].len() > 3 || words[0] == "to" =>
        {
            match named(&tokens[length + 1..]) {
                Some((last, more)) => (Period { from: period.from, to: last.to }, length + 1 + more),
                None => (period, length),
            }
        }
        _ => (period, length),
    }
}
