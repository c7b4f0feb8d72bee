//! Periods of time in words, relative to the day of the release: `since March 2021`, `last year`, `Q3 2014`.

use crate::ask::token::QuestionToken;
use crate::ask::words::{is_in, meaning_of, phrase_of};
use data::Date;
use data::name::numerals::up_to_twenty;

/// A period from a first to a last day; either may be open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Period {
    pub(crate) from: Option<Date>,
    pub(crate) to: Option<Date>,
}

/// A period and the number of its words.
type Found = Option<(Period, usize)>;

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

/// A date or a month in figures, as `2014-06-15` or `2014-06`: `15/06/2014`, `15.6.2014`, `06/2014`. If both the day and
/// the month are at most 12, their order must be known.
pub(super) fn date_in_figures(text: &str, is_day_first: bool) -> Option<String> {
    let sign = text.chars().find(|char| !char.is_ascii_digit()).filter(|sign| matches!(sign, '/' | '.' | '-'))?;
    let parts: Vec<&str> = text.split(sign).collect();
    let numbers: Option<Vec<u32>> = parts.iter().map(|part| part.parse().ok()).collect();
    let (year, month, day) = match (&*numbers?, parts.iter().map(|part| part.len()).collect::<Vec<_>>().as_slice()) {
        (&[first, second, year], [1..=2, 1..=2, 4]) => {
            let is_month_first = second > 12;
            if !(is_day_first || is_month_first || first > 12 || first == second) {
                return None;
            }
            if is_month_first { (year, first, Some(second)) } else { (year, second, Some(first)) }
        }
        (&[year, month, day], [4, 1..=2, 1..=2]) => (year, month, Some(day)),
        (&[month, year], [1..=2, 4]) if sign != '.' => (year, month, None),
        (&[year, month], [4, 2]) if sign == '/' => (year, month, None),
        _ => return None,
    };
    let of_month = format!("{year:04}-{month:02}");
    year_of(&format!("{year:04}"))?;
    let date = format!("{of_month}-{:02}", day.unwrap_or(1));
    let is_date = date.parse::<Date>().is_ok();
    is_date.then_some(if day.is_some() { date } else { of_month })
}

fn year_of(word: &str) -> Option<i32> {
    word.parse().ok().filter(|year| word.len() == 4 && (1900..2100).contains(year))
}

fn month_named(word: &str) -> Option<i32> {
    meaning_of("months", word)?.parse().ok()
}

/// The first and the last month of a part of a year, and the number of its words: `second half`, `Q3`, `March`,
/// `first 3 months`.
fn part_of_year(tokens: &[QuestionToken]) -> Option<(i32, i32, usize)> {
    if let Some(month) = tokens.first().and_then(|token| month_named(&token.word)) {
        return Some((month, month, 1));
    }
    if let Some(part) = phrase_of("parts of a year", tokens) {
        let (first, last) = part.meaning.split_once(' ')?;
        return Some((first.parse().ok()?, last.parse().ok()?, part.words.len()));
    }
    // `first 6 months`, `last two quarters`, and in other languages `6 first months`
    let [end, number, unit, ..] = tokens else { return None };
    let (end, number) = if count_of(&end.word).is_some() { (number, end) } else { (end, number) };
    let months: i32 = meaning_of("spans of time", &unit.word)?.strip_prefix("months ")?.parse().ok()?;
    let length =
        i32::try_from(count_of(&number.word)?).ok()?.checked_mul(months).filter(|all| (1..=12).contains(all))?;
    let (is_begin, is_end) = (end.is_in("first of a year"), end.is_in("past"));
    let first = if is_begin { 1 } else { 13 - length };
    (is_begin || is_end).then_some((first, first + length - 1, 3))
}

/// Parses a named period: a year, a quarter, a month, a decade.
fn named(tokens: &[QuestionToken]) -> Found {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let year_at = |at: usize| year_of(word(at));
    let first = word(0);
    let on = |date: Date| Period { from: Some(date), to: Some(date) };
    if let Some(year) = year_at(0) {
        // `2014 Q3`
        let quarter = tokens.get(1).filter(|_| word(1).starts_with('q')).and_then(|_| part_of_year(&tokens[1..]));
        let (from, to, length) = quarter.map_or((1, 12, 1), |(from, to, _)| (from, to, 2));
        return Some((months(year, from, to)?, length));
    }
    // `2018-2020`, `2014+`, `2014-03`
    if let Some((first, last)) = first.split_once('-')
        && let (Some(first), Some(last)) = (year_of(first), year_of(last))
    {
        return Some((Period { from: day(first, 1, 1), to: day(last, 12, 31) }, 1));
    }
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
    let dated = day_of(first).zip(month_named(word(1))).or_else(|| day_of(word(1)).zip(month_named(first)));
    if let (Some((number, month)), Some(year)) = (dated, year_at(2))
        && let Some(date) = day(year, month, number)
    {
        return Some((on(date), 3));
    }
    if let Some(date) = first.parse().ok().filter(|_| first.len() == 10) {
        return Some((on(date), 1));
    }
    // `the 2010s`, `the 90s`
    if let Some(decade) = first.strip_suffix('s').filter(|decade| decade.parse::<u32>().is_ok()) {
        let short = decade.parse().ok().filter(|year| decade.len() == 2 && (50..100).contains(year));
        let decade = year_of(decade).or(short.map(|year: i32| 1900 + year)).filter(|year| year % 10 == 0)?;
        return Some((Period { from: day(decade, 1, 1), to: day(decade + 9, 12, 31) }, 1));
    }
    let (from, to, length) = part_of_year(tokens)?;
    let at = length + usize::from(is_in("of a year", word(length)));
    Some((months(year_at(at)?, from, to)?, at + 1))
}

/// `last year`, `past three months`, `this quarter`.
fn relative(tokens: &[QuestionToken], today: Date) -> Found {
    let (year, month) = (today.year(), month_of(today));
    if let Some(phrase) = phrase_of("relative periods", tokens) {
        let (unit, count) = phrase.meaning.split_once(' ')?;
        let count: i32 = count.parse().ok()?;
        let period = match unit {
            "year" => months(year + count, 1, 12)?,
            "month" => months(year, month + count, month + count)?,
            "quarter" => {
                let last = ((month - 1) / 3 + 1 + count) * 3;
                months(year, last - 2, last)?
            }
            _ => Period { from: months_before(today, count), to: None },
        };
        return Some((period, phrase.words.len()));
    }
    let [past, number, unit, ..] = tokens else { return None };
    let number = i32::try_from(count_of(&number.word).filter(|_| is_in("past", &past.word))?).ok()?;
    let (unit, times) = meaning_of("spans of time", &unit.word)?.split_once(' ')?;
    let length = number.checked_mul(times.parse().ok()?)?;
    let from = match unit {
        "months" => months_before(today, length.min(1_200)),
        _ => Some(Date::from_days(today.days() - length.min(36_500))),
    };
    Some((Period { from, to: None }, 3))
}

fn month_of(date: Date) -> i32 {
    date.to_string().get(5..7).and_then(|month| month.parse().ok()).unwrap_or(1)
}

/// The same day this many months earlier.
fn months_before(today: Date, months: i32) -> Option<Date> {
    let of_month = today.to_string().get(8..10).and_then(|day| day.parse().ok()).unwrap_or(1);
    day(today.year(), month_of(today) - months, of_month)
}

/// An age: `older than 5 years`, `less than 3 years old`, `more than ten years ago`.
fn age(tokens: &[QuestionToken], today: Date) -> Found {
    let age = phrase_of("ages", tokens)?;
    let words: Vec<&str> = tokens[age.words.len()..].iter().take(3).map(|token| token.word.as_str()).collect();
    let is_years = |word: &str| meaning_of("spans of time", word) == Some("months 12");
    let (number, length) = match (age.meaning, words.as_slice()) {
        ("older" | "younger", [number, years, ..]) if is_years(years) => (number, 2),
        ("longer ago" | "shorter ago", [number, years, ago]) if is_years(years) && is_in("ago", ago) => (number, 3),
        _ => return None,
    };
    let day = months_before(today, i32::try_from(count_of(number)?).ok()?.checked_mul(12)?.min(1_200))?;
    let period = match age.meaning {
        "older" | "longer ago" => Period { from: None, to: Some(day) },
        _ => Period { from: Some(day), to: None },
    };
    Some((period, age.words.len() + length))
}

/// Parses the next period of a question; returns it with its length in words.
pub(crate) fn period(tokens: &[QuestionToken], today: Date) -> Found {
    if let Some(period) = age(tokens, today) {
        return Some(period);
    }
    let after = |skip: usize| tokens.get(skip..).and_then(|rest| named(rest).or_else(|| relative(rest, today)));
    let word = |at: usize| tokens.get(at).map_or("", |token| token.word.as_str());
    let bound = phrase_of("bounds of time", tokens);
    let start = bound.map_or(0, |bound| bound.words.len());
    let meaning = bound.map_or("", |bound| bound.meaning);
    if matches!(meaning, "between" | "between or from") {
        // `January` in `between January and April 2015` takes the year of the other month.
        let month_before_year = || {
            let (month, year) = (month_named(word(1))?, year_of(word(4))?);
            Some((months(year, month, month)?, 1))
        };
        let (first, length) = after(start).or_else(month_before_year)?;
        let joint = start + length;
        // `between 2018-2020`
        if !is_in("to a date", word(joint)) {
            let is_range = word(start).contains('-') && length == 1;
            return (meaning != "between" || is_range).then(|| with_later(first, joint, tokens));
        }
        let (last, more) = after(joint + 1)?;
        return Some((Period { from: first.from, to: last.to }, joint + 1 + more));
    }
    let start = start + usize::from(word(start) == "the");
    let (period, length) = after(start)?;
    let end = start + length;
    let next = |date: Date, days: i32| Date::from_days(date.days() + days);
    Some(match meaning {
        "from" => (Period { to: None, ..period }, end),
        "to" => (Period { from: None, ..period }, end),
        "later" => (Period { from: period.to.map(|date| next(date, 1)), to: None }, end),
        "earlier" => (Period { from: None, to: period.from.map(|date| next(date, -1)) }, end),
        _ => with_later(period, end, tokens),
    })
}

/// `2019 or later`, `2019 to 2021`, `2020+`.
fn with_later(period: Period, length: usize, tokens: &[QuestionToken]) -> (Period, usize) {
    let rest = &tokens[length.min(tokens.len())..];
    // `du 1er mars au 30 juin 2013`, in which `au` is also `in`.
    let is_day = |period: &Period| period.from.is_some() && period.from == period.to;
    if let Some((last, more)) = rest.get(1..).filter(|_| is_day(&period) && rest[0].is(&["in"])).and_then(named)
        && is_day(&last)
    {
        return (Period { from: period.from, to: last.to }, length + 1 + more);
    }
    let Some(tail) = phrase_of("after dates", rest) else { return (period, length) };
    let end = length + tail.words.len();
    let next = &tokens[end.min(tokens.len())..];
    let is_year = || next.first().is_some_and(|token| year_of(&token.word).is_some());
    match tail.meaning {
        "from" => (Period { to: None, ..period }, end),
        "to" => (Period { from: None, ..period }, end),
        meaning if meaning == "range" || is_year() => match named(next) {
            Some((last, more)) => (Period { from: period.from, to: last.to }, end + more),
            None => (period, length),
        },
        _ => (period, length),
    }
}
