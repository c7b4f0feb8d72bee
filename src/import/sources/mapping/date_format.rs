//! Dates as people write them, and date formats with the codes of `strftime`, which a mapping may name.
//!
//! Which of two numbers is the day, and whether a number counts days as a spreadsheet does, only the column tells: one
//! date with a 13 or more decides for all. A column that has none is undecided, and one that has both orders
//! contradicts itself.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::sources::Reason;
use crate::sources::evidence::Opposites;
use crate::sources::money::normalized;
use data::fold::is_of_word;
use data::import::diagnostics::quoted;
use data::{Date, PartialDate, word_file};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DateOrder {
    DayFirst,
    MonthFirst,
}

#[derive(Clone, Debug)]
pub(crate) struct DateFormat {
    pub text: String,
    /// Order of day and month, if the format is any usual one with this order.
    pub order: Option<DateOrder>,
}

/// A date as far as its text tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrittenDate {
    /// A date, and the order of day and month that it proves.
    Known(PartialDate, Option<DateOrder>),
    /// Either number may be the day. With points the day is usually first.
    Ambiguous { day_first: PartialDate, month_first: PartialDate, has_points: bool },
    /// A number of days since the end of 1899.
    Serial(PartialDate),
}

/// Evidence of a column about its dates.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DateEvidence {
    /// The first date with the day first, and with the month first.
    orders: Opposites,
    has_ambiguous: bool,
    has_serials: bool,
    /// The first and the last year of the dates that are no serial numbers.
    years: Option<(i32, i32)>,
}

impl DateEvidence {
    pub(crate) fn add(&mut self, date: &WrittenDate, line: u64, text: &str) {
        match date {
            WrittenDate::Known(_, Some(order)) => self.orders.note(*order == DateOrder::DayFirst, line, text),
            WrittenDate::Known(_, None) => {}
            WrittenDate::Ambiguous { .. } => self.has_ambiguous = true,
            WrittenDate::Serial(_) => self.has_serials = true,
        }
        if let WrittenDate::Known(date, _) | WrittenDate::Ambiguous { day_first: date, .. } = date {
            self.add_years(Some((date.year(), date.year())));
        }
    }

    fn add_years(&mut self, years: Option<(i32, i32)>) {
        self.years = match (self.years, years) {
            (Some((first, last)), Some((from, to))) => Some((first.min(from), last.max(to))),
            (known, added) => known.or(added),
        };
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.orders.merge(&other.orders);
        self.has_ambiguous |= other.has_ambiguous;
        self.has_serials |= other.has_serials;
        self.add_years(other.years);
    }

    pub(crate) fn decides_more_than(&self, known: &Self) -> bool {
        self.has_ambiguous && self.order() != known.order()
            || self.orders.both().is_some() != known.orders.both().is_some()
            || self.has_serials && self.years != known.years
    }

    /// The order of day and month that the column has without a contradiction.
    pub(crate) fn order(&self) -> Option<DateOrder> {
        let one = |is_day_first| if is_day_first { DateOrder::DayFirst } else { DateOrder::MonthFirst };
        self.orders.only().map(one)
    }

    /// True if a number is the serial number of a date: nothing else is in the column, or dates of about that year.
    fn is_serial(&self, date: PartialDate) -> bool {
        const NEAR: i32 = 2;
        self.years.is_none_or(|(first, last)| (first - NEAR..=last + NEAR).contains(&date.year()))
    }
}

impl WrittenDate {
    /// Reads a date of any usual form. The text may have a time of day, which is ignored.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        // The common case.
        if let Ok(date) = text.parse() {
            return Some(Self::Known(date, None));
        }
        let text = &*normalized(text);
        if let Some(date) = read_number(text) {
            return Some(date);
        }
        let text = TIME.replace(text, " ");
        let text = with_common_era(&text).map_or(text, Cow::Owned);
        if let Some(found) = PERIOD.captures(text.trim()) {
            let year = found.name("year").or_else(|| found.name("first"))?.as_str();
            return Some(Self::Known(date_of(full_year(year)?, None, None)?, None));
        }
        read_parts(&DatePart::split(&text)?)
    }

    /// The date by all that is known of its column.
    pub(crate) fn decide(&self, order: Option<DateOrder>, column: &DateEvidence) -> Result<PartialDate, Reason> {
        let is_contradicted = || {
            let [(day_line, day), (month_line, month)] = column.orders.both()?;
            Some(format!(
                "is in a column that contradicts itself: line {day_line} has the day first ({}), line {month_line} the \
                 month ({}); correct the column, or write `dates = [\"%d/%m/%Y\"]` or `dates = [\"%m/%d/%Y\"]` in the mapping",
                quoted(day),
                quoted(month)
            ))
        };
        match (self, order.or_else(|| column.order())) {
            (Self::Known(date, None), _) => Ok(*date),
            (Self::Known(date, Some(own)), known) => match (order, is_contradicted()) {
                (None, Some(problem)) => Err(problem.into()),
                _ if known.is_none_or(|known| known == *own) => Ok(*date),
                _ => Err("contradicts the order of day and month of its column".into()),
            },
            (Self::Ambiguous { day_first, .. }, Some(DateOrder::DayFirst)) => Ok(*day_first),
            (Self::Ambiguous { month_first, .. }, Some(DateOrder::MonthFirst)) => Ok(*month_first),
            (Self::Ambiguous { day_first, has_points, .. }, None) => match is_contradicted() {
                Some(problem) => Err(problem.into()),
                None if *has_points => Ok(*day_first),
                None => Err(
                    "may have the day or the month first, and no other date of its column tells which; write `dates = \
                             [\"%d/%m/%Y\"]` or `dates = [\"%m/%d/%Y\"]` in the mapping"
                        .into(),
                ),
            },
            (Self::Serial(date), _) if column.is_serial(*date) => Ok(*date),
            (Self::Serial(date), _) => Err(format!(
                "is a number, which as a serial number of a spreadsheet means {date}, far from the other dates of its column; \
                 write the date"
            )
            .into()),
        }
    }

    /// The year, which does not depend on the order of day and month.
    pub(crate) fn year(&self, column: &DateEvidence) -> Result<i32, Reason> {
        match self {
            Self::Known(date, _) | Self::Ambiguous { day_first: date, .. } => Ok(date.year()),
            Self::Serial(_) => self.decide(None, column).map(PartialDate::year),
        }
    }
}

/// Days that programs write if they know none.
pub(crate) fn is_placeholder(date: PartialDate) -> bool {
    const DAYS: [&str; 7] =
        ["0001-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1900-01-02", "1970-01-01", "9999-12-31"];
    date.is_day() && DAYS.contains(&date.to_string().as_str())
}

/// True for a quarter or half of a year, of which [`WrittenDate::read`] has the year.
pub(crate) fn is_period(text: &str) -> bool {
    let text = normalized(text.trim());
    let text = TIME.replace(&text, " ");
    PERIOD.is_match(with_common_era(&text).as_deref().unwrap_or(&text).trim())
}

/// A time of day with its zone.
static TIME: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?ix)(?:[\s,]+|T)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?
        (?:\s*[ap]\.?m\b\.?)?(?:\s*(?:z|utc|gmt|cet|cest|est|edt|cst|pst|pdt|msk|jst|ist)\b)?(?:\s*[+-]\d{2}:?(?:\d{2})?\b)?(?:\s*\([^)]*\))?";
    Regex::new(pattern).expect("a valid expression")
});

/// A quarter or half of a year: `Q3 2019`, `2019-Q3`, `3Q19`, `III кв. 2019`.
static PERIOD: LazyLock<Regex> = LazyLock::new(|| {
    let mut words: Vec<&str> =
        name_lines().filter(|(name, _)| *name == QUARTERS).flat_map(|(_, words)| words.split(", ")).collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    let word = words.iter().map(|word| regex::escape(word)).collect::<Vec<_>>().join("|");
    let counted = format!(r"第?(?:[1-4一二三四]|i{{1,3}}|iv)[.\s-]*(?:º|ª|er|ème|e|st|nd|rd|th)?\s*(?:{word})\.?");
    let part = format!(r"(?:[qht]\s?[1-4]|[1-4]\s?[qht]|(?:{word})\.?\s*[1-4]|{counted})");
    let pattern = format!(
        r"(?i)^(?:{part}(?:\s*(?:de|of|des|del|di|do|van|roku))?[\s/'’.,-]*(?<year>\d{{4}}|\d{{2}})(?:\s*г\.?)?|(?<first>\d{{4}})[\s/.,年년-]*{part})$"
    );
    Regex::new(&pattern).expect("a valid expression")
});

fn name_lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    word_file::entries(include_str!("month_names.txt")).filter_map(|line| line.split_once(": "))
}

/// The line with the words for a quarter.
const QUARTERS: &str = "quarter";

/// Months by their names, and 0 for the other words of dates.
static NAMES: LazyLock<HashMap<&'static str, Option<u32>>> = LazyLock::new(|| {
    let lines = name_lines().filter(|(name, _)| *name != QUARTERS);
    let number = |month: &str| month.parse().unwrap_or(if month == "month" { MONTH_FOLLOWS } else { 0 });
    let lines: Vec<(u32, &str)> = lines.map(|(month, words)| (number(month), words)).collect();
    // The first two names of a month are English.
    let english = lines.iter().filter(|(month, _)| (1..=12).contains(month));
    let english = english.flat_map(|(month, words)| words.split(", ").take(2).map(|word| (word, Some(*month))));
    let english: HashMap<&str, Option<u32>> = english.collect();
    let mut names: HashMap<&str, Option<u32>> = HashMap::new();
    for (month, word) in lines.iter().flat_map(|(month, words)| words.split(", ").map(|word| (*month, word))) {
        let known = names.entry(word).or_insert(Some(month));
        // A name of a month comes before one of a day.
        if *known != Some(month) && month > 0 {
            *known = None;
        }
    }
    names.extend(english);
    names
});

/// In place of the number of a month: the next number is one, as in `3 tháng 5`.
const MONTH_FOLLOWS: u32 = 13;

/// Names with points or blanks, such as `มี.ค`, in lower case: scripts that have such names of months have no other.
static LONG_NAMES: LazyLock<Vec<(&'static str, u32)>> = LazyLock::new(|| {
    let is_long = |name: &str| !name.chars().all(is_of_word);
    NAMES.iter().filter_map(|(name, month)| Some((*name, (*month)?))).filter(|(name, _)| is_long(name)).collect()
});

/// The month with a name of any known language.
pub(crate) fn month_of(name: &str) -> Option<u32> {
    let lower = name.to_lowercase();
    NAMES.get(lower.trim_end_matches('.')).copied().flatten().filter(|month| (1..=12).contains(month))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum DatePart {
    /// A number with its count of digits, and the character before it.
    Number(u32, usize, char),
    Month(u32),
}

impl DatePart {
    /// Splits a text into numbers and the name of a month; `None` if it has anything else.
    fn split(text: &str) -> Option<Vec<Self>> {
        let mut parts = Vec::new();
        let (mut rest, mut before) = (text, ' ');
        let mut month_follows = false;
        while let Some(first) = rest.chars().next() {
            let long = || LONG_NAMES.iter().find(|(name, _)| rest.starts_with(name));
            if first.is_alphabetic()
                && let Some((name, month)) = long()
            {
                parts.extend((*month > 0).then_some(Self::Month(*month)));
                rest = &rest[name.len()..];
                before = ' ';
                continue;
            }
            let is_kind = |char: char| {
                if first.is_ascii_digit() {
                    char.is_ascii_digit()
                } else {
                    is_of_word(char) && !char.is_numeric() || matches!(char, 'º' | 'ª' | '׳' | '॰')
                }
            };
            let length = rest.find(|char| !is_kind(char)).unwrap_or(rest.len()).max(first.len_utf8());
            let (word, behind) = rest.split_at(length);
            rest = behind;
            if first.is_ascii_digit() {
                let number = word.parse().ok()?;
                parts.push(match std::mem::take(&mut month_follows) {
                    true if (1..=12).contains(&number) => Self::Month(number),
                    true => return None,
                    false => Self::Number(number, length, before),
                });
                // `2019年3月4日`
                let marks = ['年', '月', '日', '号', '년', '월', '일'];
                rest = rest.trim_start().strip_prefix(marks).unwrap_or(rest);
            } else if first.is_alphabetic() || first == 'º' || first == 'ª' {
                let lower = word.to_lowercase();
                match NAMES.get(lower.as_str()).copied().flatten()? {
                    0 => {}
                    MONTH_FOLLOWS => month_follows = true,
                    month => parts.push(Self::Month(month)),
                }
            } else if !matches!(first, ' ' | '.' | '/' | '-' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}' | '‐' | '–')
            {
                return None;
            }
            before = match first {
                char if char.is_alphanumeric() => ' ',
                // `4. 3. 2019` has points.
                ' ' | '\u{a0}' | '\u{202f}' if before != ' ' => before,
                '’' => '\'',
                separator => separator,
            };
        }
        Some(parts)
    }
}

/// Eras of Taiwan and Japan, with the year before their first.
const ERAS: [(&str, u32); 6] =
    [("民國", 1911), ("民国", 1911), ("中華民國", 1911), ("令和", 2018), ("平成", 1988), ("昭和", 1925)];

/// `2023年11月28日` for `民國112年11月28日`; `None` without an era.
fn with_common_era(text: &str) -> Option<String> {
    let (rest, before) = ERAS.iter().find_map(|(era, before)| Some((text.trim().strip_prefix(era)?, before)))?;
    let rest = rest.trim_start();
    let (year, rest) = match rest.strip_prefix('元') {
        Some(rest) => (1, rest),
        None => {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            (rest[..digits].parse().ok().filter(|year| (1..200).contains(year))?, &rest[digits..])
        }
    };
    Some(format!("{}{rest}", before + year))
}

fn read_parts(parts: &[DatePart]) -> Option<WrittenDate> {
    use DatePart::{Month, Number};
    let known = |date: Option<PartialDate>| Some(WrittenDate::Known(date?, None));
    match *parts {
        [Number(year, 4, _)] => known(date_of(year, None, None)),
        [Number(year, 4, _), Number(month, 1..=2, _)] | [Number(month, 1..=2, _), Number(year, 4, _)] => {
            known(date_of(year, Some(month), None))
        }
        [Number(year, 4, _), Number(month, 1..=2, _), Number(day, 1..=2, _)] => {
            known(date_of(year, Some(month), Some(day)))
        }
        [Number(one, 1..=2, _), Number(two, 1..=2, separator), Number(year, digits @ (2 | 4), other)] => {
            // `19-03-04` may begin with the year.
            if separator != other || (digits == 2 && !matches!(separator, '/' | '.')) {
                return None;
            }
            let year = if digits == 4 { year } else { century(year) };
            let day_first = date_of(year, Some(two), Some(one)).filter(|_| one > 0 && two > 0);
            let month_first = date_of(year, Some(one), Some(two)).filter(|_| one > 0 && two > 0);
            match (day_first, month_first) {
                (Some(day_first), Some(month_first)) if day_first == month_first => known(Some(day_first)),
                (Some(day_first), Some(month_first)) => {
                    Some(WrittenDate::Ambiguous { day_first, month_first, has_points: separator == '.' })
                }
                (Some(date), None) => Some(WrittenDate::Known(date, Some(DateOrder::DayFirst))),
                (None, Some(date)) => Some(WrittenDate::Known(date, Some(DateOrder::MonthFirst))),
                (None, None) => None,
            }
        }
        [Month(month), Number(year, 4, _)] | [Number(year, 4, _), Month(month)] => {
            known(date_of(year, Some(month), None))
        }
        [Month(month), Number(year, 2, '-' | '\'' | '/')] => known(date_of(century(year), Some(month), None)),
        [Month(month), Number(day, 1..=2, _), Number(year, 4, _)]
        | [Number(day, 1..=2, _), Month(month), Number(year, 4, _)]
        | [Number(year, 4, _), Month(month), Number(day, 1..=2, _)]
        | [Number(year, 4, _), Number(day, 1..=2, _), Month(month)] => known(date_of(year, Some(month), Some(day))),
        [Month(month), Number(day, 1..=2, _), Number(year, 2, _)]
        | [Number(day, 1..=2, _), Month(month), Number(year, 2, _)] => {
            known(date_of(century(year), Some(month), Some(day)))
        }
        _ => None,
    }
}

/// Reads a date without separators: `20190304`, `201903`, the days of a spreadsheet, seconds or milliseconds since
/// 1970.
fn read_number(text: &str) -> Option<WrittenDate> {
    let (digits, fraction) = text.split_once('.').unwrap_or((text, ""));
    if !digits.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: i64 = digits.parse().ok()?;
    let is_round = fraction.bytes().all(|byte| byte == b'0');
    let date = match digits.len() {
        4 if is_round => digits.parse().ok(),
        5 if (20_000..=60_000).contains(&number) => {
            // Day 0 of spreadsheets is 1899-12-30.
            return Some(WrittenDate::Serial(Date::from_days(i32::try_from(number).ok()? - 25_569).into()));
        }
        6 if is_round => date_of(u32::try_from(number / 100).ok()?, u32::try_from(number % 100).ok(), None),
        8 if is_round => {
            let (year, rest) = (u32::try_from(number / 10_000).ok()?, u32::try_from(number % 10_000).ok()?);
            date_of(year, Some(rest / 100), Some(rest % 100))
        }
        10 => Some(Date::from_unix(number).into()),
        13 if fraction.is_empty() => Some(Date::from_unix(number / 1_000).into()),
        _ => None,
    };
    let is_plausible = |date: &PartialDate| digits.len() == 4 || (1900..=2100).contains(&date.year());
    date.filter(is_plausible).map(|date| WrittenDate::Known(date, None))
}

/// Year of the last two digits: `69`–`99` are in the last century, as in POSIX.
fn century(two: u32) -> u32 {
    two + if two < 69 { 2000 } else { 1900 }
}

fn full_year(digits: &str) -> Option<u32> {
    let year: u32 = digits.parse().ok()?;
    Some(if digits.len() == 2 { century(year) } else { year })
}

/// A date of its parts. A month or day 0 is unknown: `2019-03-00`.
fn date_of(year: u32, month: Option<u32>, day: Option<u32>) -> Option<PartialDate> {
    let (month, day) = (month.filter(|month| *month > 0), day.filter(|day| *day > 0));
    if year == 0 && month.is_none() { None } else { PartialDate::of(year, month, day) }
}

impl DateFormat {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let order = match text {
            "day-first" => Some(DateOrder::DayFirst),
            "month-first" => Some(DateOrder::MonthFirst),
            _ => None,
        };
        if order.is_some() {
            return Ok(Self { text: text.to_owned(), order });
        }
        let mut codes = String::new();
        let mut chars = text.chars();
        while chars.any(|char| char == '%') {
            match chars.next() {
                Some(code) if "YymbBds%".contains(code) => codes.push(code),
                code => {
                    let code = code.map(String::from).unwrap_or_default();
                    return Err(format!("unknown code `%{code}` in {text:?} (known: %Y %y %m %b %d %s %%)"));
                }
            }
        }
        if !codes.contains(['Y', 'y', 's']) {
            return Err(format!(
                "{text:?} has no year; write a format such as \"%Y-%m-%d\", \"day-first\" or \"month-first\""
            ));
        }
        if codes.contains('d') && !codes.contains(['m', 'b', 'B']) {
            return Err(format!("{text:?} has a day without a month; write a format such as \"%Y-%m-%d\""));
        }
        Ok(Self { text: text.to_owned(), order: None })
    }

    /// Reads the date of a text. A time of day may follow.
    pub(crate) fn read(&self, text: &str) -> Option<PartialDate> {
        if self.order.is_some() {
            return WrittenDate::read(text)?.decide(self.order, &DateEvidence::default()).ok();
        }
        let text = normalized(text);
        let mut rest = &*text;
        let (mut year, mut month, mut day) = (None, None, None);
        let mut format = self.text.chars();
        while let Some(char) = format.next() {
            let code = if char == '%' { format.next()? } else { '\0' };
            match code {
                'Y' => year = Some(take_number(&mut rest, 4, 4)?),
                'y' => year = Some(century(take_number(&mut rest, 2, 2)?)),
                'm' => month = Some(take_number(&mut rest, 1, 2)?),
                'd' => {
                    day = Some(take_number(&mut rest, 1, 2)?);
                    // `1er mars`, `3rd March`
                    let length = rest.find(|char: char| !char.is_alphabetic() && char != 'º').unwrap_or(rest.len());
                    let is_ordinal = NAMES.get(rest[..length].to_lowercase().as_str()) == Some(&Some(0));
                    rest = if is_ordinal { &rest[length..] } else { rest };
                }
                'b' | 'B' => {
                    let length = rest.find(|char: char| !char.is_alphabetic()).unwrap_or(rest.len());
                    month = Some(month_of(&rest[..length])?);
                    let behind = &rest[length..];
                    // The point of an abbreviation.
                    rest = behind.strip_prefix('.').filter(|_| !format.as_str().starts_with('.')).unwrap_or(behind);
                }
                // Seconds since 1970.
                's' => return Some(PartialDate::from(Date::from_unix(rest.parse().ok()?))),
                _ => rest = rest.strip_prefix(char)?,
            }
        }
        let is_time =
            rest.starts_with(['T', ' ']) && rest[1..].trim_start().starts_with(|char: char| char.is_ascii_digit());
        if !(rest.is_empty() || is_time && day.is_some()) {
            return None;
        }
        date_of(year?, month, day.filter(|_| month.is_some()))
    }
}

/// Takes a number of `min` to `max` digits from the start.
fn take_number(rest: &mut &str, min: usize, max: usize) -> Option<u32> {
    let digits = rest.bytes().take(max).take_while(u8::is_ascii_digit).count();
    if digits < min {
        return None;
    }
    let (number, after) = rest.split_at(digits);
    *rest = after;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_their_format_says() {
        for (format, text, expected) in [
            ("%Y-%m-%d", "2009-03-04", Some("2009-03-04")),
            ("%Y-%m-%d", "2009-03-04T10:20:30.000", Some("2009-03-04")),
            ("%Y-%m-%d", "2009-03-04 10:20", Some("2009-03-04")),
            ("%Y-%m-%d", "2009-03-04x", None),
            ("%Y-%m-%d", "2009-02-30", None),
            ("%d-%b-%Y", "04-MAR-2009", Some("2009-03-04")),
            ("%d-%b-%y", "4-Mar-09", Some("2009-03-04")),
            ("%d-%b-%y", "4-Mar-97", Some("1997-03-04")),
            ("%B %d, %Y", "March 4, 2009", Some("2009-03-04")),
            ("%m/%d/%Y", "3/4/2009", Some("2009-03-04")),
            ("%d/%m/%Y", "3/4/2009", Some("2009-04-03")),
            ("%m/%Y", "03/2009", Some("2009-03")),
            ("%Y", "2009", Some("2009")),
            ("%Y", "20091", None),
            ("%s", "1236124800", Some("2009-03-04")),
            ("%d-%b-%Y", "04-MAX-2009", None),
        ] {
            let found = DateFormat::parse(format).unwrap().read(text).map(|date| date.to_string());
            assert_eq!(found.as_deref(), expected, "{text} as {format}");
        }
    }

    #[test]
    fn a_format_needs_a_year_and_known_codes() {
        for (format, problem) in [
            ("%d.%m.", "no year"),
            ("%Y/%d", "without a month"),
            ("day first", "no year"),
            ("%Q", "unknown code `%Q`"),
            ("%", "unknown code `%`"),
        ] {
            assert!(DateFormat::parse(format).unwrap_err().contains(problem), "{format}");
        }
    }

    #[test]
    fn a_name_means_one_month_in_all_languages() {
        let lines = word_file::entries(include_str!("month_names.txt")).filter_map(|line| line.split_once(": "));
        let names = lines.filter(|(month, _)| month.parse::<u32>().is_ok());
        let names = names.flat_map(|(month, names)| names.split(", ").map(move |name| (name, month)));
        let mut known: HashMap<&str, &str> = HashMap::new();
        for (name, month) in names {
            let other = known.insert(name, month);
            assert!(other.is_none_or(|other| other == month), "{name}: {other:?}, {month}");
        }
    }

    fn column(dates: &[&str]) -> Vec<Option<String>> {
        let mut known = DateEvidence::default();
        loop {
            let mut seen = DateEvidence::default();
            let read = |(line, text): (usize, &&str)| {
                let date = WrittenDate::read(text)?;
                seen.add(&date, line as u64 + 2, text);
                date.decide(None, &known).ok().map(|date| date.to_string())
            };
            let read = dates.iter().enumerate().map(read).collect();
            if !seen.decides_more_than(&known) {
                return read;
            }
            known = seen;
        }
    }

    #[test]
    fn dates_of_usual_forms_are_read_alone() {
        for (text, date) in [
            ("2019-03-04", "2019-03-04"),
            ("2019-03", "2019-03"),
            ("2019", "2019"),
            ("2019.0", "2019"),
            ("2019/03/04", "2019-03-04"),
            ("2019.03.04", "2019-03-04"),
            ("2019/3/4", "2019-03-04"),
            ("20190304", "2019-03-04"),
            ("201903", "2019-03"),
            ("2019-03-00", "2019-03"),
            ("2019-00-00", "2019"),
            ("04.03.2019", "2019-03-04"),
            ("4.3.2019", "2019-03-04"),
            ("4. 3. 2019", "2019-03-04"),
            ("25/4/2009", "2009-04-25"),
            ("4/25/2009", "2009-04-25"),
            ("3/3/2009", "2009-03-03"),
            ("25.4.09", "2009-04-25"),
            ("03/2019", "2019-03"),
            ("03.2019", "2019-03"),
            ("2019-03-04T10:20:30Z", "2019-03-04"),
            ("2019-03-04T23:20:30.123+02:00", "2019-03-04"),
            ("2019-03-04 10:20:30 UTC", "2019-03-04"),
            ("2019-03-04 10:20:30.000000-0500", "2019-03-04"),
            ("25/03/2019, 10:20 PM", "2019-03-25"),
            ("Mon, 04 Mar 2019 10:20:30 GMT", "2019-03-04"),
            ("Mon Mar 04 2019 10:20:30 GMT+0100 (CET)", "2019-03-04"),
            ("Mon Mar  4 10:20:30 2019", "2019-03-04"),
            ("March 4, 2019", "2019-03-04"),
            ("Mar 4th, 2019", "2019-03-04"),
            ("4 March 2019", "2019-03-04"),
            ("the 4th of March 2019", "2019-03-04"),
            ("4-Mar-2019", "2019-03-04"),
            ("04MAR2019", "2019-03-04"),
            ("4-Mar-09", "2009-03-04"),
            ("Mar-19", "2019-03"),
            ("Mar '19", "2019-03"),
            ("March 2019", "2019-03"),
            ("2019 March", "2019-03"),
            ("4. März 2019", "2019-03-04"),
            ("Mrz 2019", "2019-03"),
            ("Jänner 2019", "2019-01"),
            ("1er janv. 2019", "2019-01-01"),
            ("15 août 2019", "2019-08-15"),
            ("févr. 2019", "2019-02"),
            ("3 de marzo de 2019", "2019-03-03"),
            ("ene 2019", "2019-01"),
            ("4 marzo 2019", "2019-03-04"),
            ("luglio 2019", "2019-07"),
            ("4 de março de 2019", "2019-03-04"),
            ("4 maart 2019", "2019-03-04"),
            ("4 marca 2019 r.", "2019-03-04"),
            ("listopad 2019", "2019-11"),
            ("4 марта 2019 г.", "2019-03-04"),
            ("Октябрь 2019", "2019-10"),
            ("2019年3月4日", "2019-03-04"),
            ("民國112年11月28日", "2023-11-28"),
            ("令和元年5月7日", "2019-05-07"),
            ("平成 31年", "2019"),
            ("2019年3月", "2019-03"),
            ("2019年", "2019"),
            ("2019년 3월 4일", "2019-03-04"),
            ("4 mars 2019", "2019-03-04"),
            ("4. maj 2019", "2019-05-04"),
            ("4. maaliskuuta 2019", "2019-03-04"),
            ("4 Mart 2019", "2019-03-04"),
            ("4 березня 2019", "2019-03-04"),
            ("4 tháng 3 năm 2019", "2019-03-04"),
            ("4 มี.ค. 2019", "2019-03-04"),
            ("4 كانون الثاني 2019", "2019-01-04"),
            ("4 मार्च 2019", "2019-03-04"),
            ("2019. gada 4. marts", "2019-03-04"),
            ("2019 m. kovo 4 d.", "2019-03-04"),
            ("2019ko martxoaren 4a", "2019-03-04"),
            ("Q3 2019", "2019"),
            ("2019Q3", "2019"),
            ("2019-Q3", "2019"),
            ("3Q19", "2019"),
            ("H1 2019", "2019"),
            ("T3 2019", "2019"),
            ("3. Quartal 2019", "2019"),
            ("III кв. 2019", "2019"),
            ("1551657600", "2019-03-04"),
            ("1551657600000", "2019-03-04"),
            ("٢٥/٠٣/٢٠١٩", "2019-03-25"),
            ("۲۰۱۹", "2019"),
            ("२५-०३-२०१९", "2019-03-25"),
        ] {
            assert_eq!(column(&[text]), [Some(date.to_owned())], "{text}");
        }
        for text in [
            "",
            "3/4/2009",
            "19-03-04",
            "19-Mar",
            "March 4",
            "2019-13-04",
            "31/31/2019",
            "0000-00-00",
            "FY2019",
            "12345",
            "Alder 2019",
            "2019-03-04x",
            "1-2-3-4",
            "99999999",
            "平成300年",
        ] {
            assert_eq!(column(&[text]), [None], "{text}");
        }
    }

    #[test]
    fn the_column_tells_what_a_date_does_not() {
        for (texts, dates) in [
            (&["3/4/2009", "25/4/2009"][..], &[Some("2009-04-03"), Some("2009-04-25")][..]),
            (&["3/4/2009", "4/25/2009"], &[Some("2009-03-04"), Some("2009-04-25")]),
            (&["3/4/09", "25/4/09"], &[Some("2009-04-03"), Some("2009-04-25")]),
            (&["3/4/2009", "2/4/2009"], &[None, None]),
            (&["3/4/2009", "2009-04-25"], &[None, Some("2009-04-25")]),
            // Both orders: nothing that depends on one is read.
            (&["3/4/2009", "25/4/2009", "4/25/2009", "2009"], &[None, None, None, Some("2009")]),
            (&["43831", "43832.5"], &[Some("2020-01-01"), Some("2020-01-02")]),
            (&["43831", "2021-01-02"], &[Some("2020-01-01"), Some("2021-01-02")]),
            (&["43831", "2009-01-02"], &[None, Some("2009-01-02")]),
        ] {
            let expected: Vec<Option<String>> = dates.iter().map(|date| date.map(str::to_owned)).collect();
            assert_eq!(column(texts), expected, "{texts:?}");
            let reversed: Vec<&str> = texts.iter().rev().copied().collect();
            assert!(column(&reversed).iter().rev().eq(&expected), "{texts:?} in another order");
        }
        let mut evidence = DateEvidence::default();
        for (line, text) in [(3, "31/12/2020"), (7, "12/31/2020")] {
            evidence.add(&WrittenDate::read(text).unwrap(), line, text);
        }
        let problem = WrittenDate::read("1/2/2020").unwrap().decide(None, &evidence).unwrap_err();
        assert!(problem.contains("line 3 has the day first (\"31/12/2020\"), line 7 the month"), "{problem}");
        let format = DateFormat::parse("day-first").unwrap();
        assert_eq!(format.read("3/4/2009").map(|date| date.to_string()).as_deref(), Some("2009-04-03"));
        assert_eq!(format.read("4/25/2009"), None);
        assert!(is_placeholder("1970-01-01".parse().unwrap()) && !is_placeholder("1970".parse().unwrap()));
    }

    proptest::proptest! {
        /// A column in one notation that has a day after the 12th is read as it was written.
        #[test]
        fn a_column_with_evidence_is_read_as_written(
            days in proptest::collection::vec((2000..2060_u32, 1..=12_u32, 1..=28_u32), 1..10), form in 0..6_usize,
        ) {
            let write = |(year, month, day): (u32, u32, u32)| match form {
                0 => format!("{day}/{month}/{year}"),
                1 => format!("{month}/{day}/{year}"),
                2 => format!("{day:02}.{month:02}.{year}"),
                3 => format!("{month:02}/{day:02}/{:02}", year % 100),
                4 => format!("{year}年{month}月{day}日"),
                _ => format!("{day:02}-{month:02}-{year} 10:20"),
            };
            let days: Vec<_> = days.into_iter().chain([(2020, 3, 25)]).collect();
            let texts: Vec<String> = days.iter().copied().map(write).collect();
            let read = column(&texts.iter().map(String::as_str).collect::<Vec<_>>());
            let expected: Vec<_> = days.iter().map(|(year, month, day)| Some(format!("{year}-{month:02}-{day:02}"))).collect();
            proptest::prop_assert_eq!(read, expected);
        }
    }
}
