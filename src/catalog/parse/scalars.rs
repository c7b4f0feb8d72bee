//! Single values: amounts and counts, percentages, dates and truth values, as people and programs write them.

use data::Date;

/// The end of a range that a value sets: a year or a month counts as its first or its last day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Min,
    Max,
}

/// Parses decimal digits, saturating at `u64::MAX`.
pub fn parse_uint(text: &str) -> Option<u64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_digits.then(|| text.parse().unwrap_or(u64::MAX))
}

/// Parses a whole number in any notation of JSON, saturating: `100000`, `100000.0`, `1e+05`. Rejects `500.000`, which
/// may mean 500 or 500,000. The plus of an exponent may be a space, which it is in a URL.
pub fn parse_whole(text: &str) -> Option<u64> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        None => (text, None),
        Some((mantissa, exponent)) => {
            let digits = exponent.strip_prefix(['+', '-', ' ']).unwrap_or(exponent);
            let size = i64::try_from(parse_uint(digits)?).unwrap_or(i64::MAX);
            (mantissa, Some(if exponent.starts_with('-') { -size } else { size }))
        }
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    parse_uint(whole).and(parse_uint(fraction))?;
    if exponent.is_none() && fraction.len() == 3 {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some(0);
    }
    let zeros = exponent.unwrap_or(0).saturating_sub(fraction.len() as i64);
    match usize::try_from(zeros) {
        // More digits than any number has.
        Ok(zeros) => parse_uint(&format!("{digits}{}", "0".repeat(zeros.min(20)))),
        Err(_) => {
            let places = usize::try_from(zeros.unsigned_abs()).ok().filter(|places| *places < digits.len())?;
            let (whole, rest) = digits.split_at(digits.len() - places);
            rest.bytes().all(|digit| digit == b'0').then(|| parse_uint(whole)).flatten()
        }
    }
}

/// Units after a number, as a number of zeros.
const UNITS: [(usize, &[&str]); 4] =
    [(0, &[""]), (3, &["k", "thousand"]), (6, &["m", "mn", "mm", "million"]), (9, &["b", "bn", "billion"])];

/// Parses a whole number, saturating: `1,000,000`, `500k`, `$1.5m`, and all that [`parse_whole`] does.
pub fn parse_amount(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let number = ["us$", "usd", "$"].iter().find_map(|sign| text.strip_prefix(sign)).unwrap_or(&text).trim_start();
    if let Some(number) = parse_whole(number) {
        return Some(number);
    }
    let unit_start = number.find(|char: char| char.is_ascii_alphabetic()).unwrap_or(number.len());
    let (number, unit) = number.split_at(unit_start);
    let (zeros, _) = UNITS.iter().find(|(_, names)| names.contains(&unit))?;
    let number = number.trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    // `1.5` dollars, or `0.0005k`, is not a whole number.
    let fraction_digits = fraction.trim_end_matches('0');
    let is_ambiguous = *zeros == 0 && fraction.len() == 3;
    if (number.contains('.') && fraction.is_empty()) || fraction_digits.len() > *zeros || is_ambiguous {
        return None;
    }
    let is_grouped = whole.split_once(',').is_none_or(|(first, groups)| {
        (1..=3).contains(&first.len()) && groups.split(',').all(|group| group.len() == 3)
    });
    let digits = whole.replace(',', "");
    let padding = "0".repeat(zeros - fraction_digits.len());
    if digits.is_empty() || !is_grouped || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    parse_uint(&(digits + fraction_digits + &padding))
}

/// Parses a percentage as tenths of a percent.
pub(crate) fn parse_percent(text: &str) -> Option<u16> {
    let number = text.trim_end_matches('%').trim_end().replace("e ", "e+");
    let percent = number.parse::<f64>().ok().filter(|rate| (0.0..=100.0).contains(rate))?;
    // Rates have one decimal: a maximum between two tenths admits the lower tenth.
    Some((percent * 10.0 + 1e-9).floor() as u16)
}

pub(crate) fn parse_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Some(true),
        "false" | "no" | "0" => Some(false),
        _ => None,
    }
}

/// The forms of a date as a pattern: a day, a month, a year or a quarter. [`parse_date`] reads further spellings.
pub const DATE_PATTERN: &str = r"^[0-9]{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12][0-9]|3[01]))?|-Q[1-4])?$";

/// Parses a day, also with a time, a month, a year or a quarter (`2014-Q3`). An error has an example, but not the text.
pub fn parse_date(text: &str, bound: Bound) -> Result<Date, String> {
    let form =
        "is not a date of the form YYYY-MM-DD, YYYY-MM, YYYY or YYYY-Qn, such as 2026-06-30, 2026-06, 2026 or 2026-Q2";
    if let Some((year, quarter)) = parse_quarter(text) {
        let month = if bound == Bound::Min { quarter * 3 - 2 } else { quarter * 3 };
        return parse_date(&format!("{year:04}-{month:02}"), bound);
    }
    let day = match text.split_once(['T', 't', ' ']) {
        Some((day, time)) if day.len() == 10 && is_time(time) => day,
        Some(_) => return Err(form.to_owned()),
        None => text,
    };
    let parts: Vec<(Option<u64>, usize)> = day.split('-').map(|part| (parse_uint(part), part.len())).collect();
    let (year, month, day) = match parts.as_slice() {
        [(Some(year), 4)] => (*year, None, None),
        [(Some(year), 4), (Some(month), 2)] => (*year, Some(*month), None),
        [(Some(year), 4), (Some(month), 2), (Some(day), 2)] => (*year, Some(*month), Some(*day)),
        _ => return Err(form.to_owned()),
    };
    let month = month.unwrap_or(if bound == Bound::Min { 1 } else { 12 });
    let date = |day: u64| format!("{year:04}-{month:02}-{day:02}").parse::<Date>().ok();
    let Some(last) = (28..=31).rev().find(|day| date(*day).is_some()) else {
        return Err(format!("is not a date: months are 01 to 12, such as {year:04}-12"));
    };
    let day = day.unwrap_or(if bound == Bound::Min { 1 } else { last });
    date(day).ok_or_else(|| {
        format!("is not a date: that month has the days 01 to {last}, such as {year:04}-{month:02}-{last}")
    })
}

/// Parses a quarter of a year: `2014-Q3`, `2014 Q3`, `2014Q3`, `Q3 2014`.
fn parse_quarter(text: &str) -> Option<(u64, u64)> {
    let text = text.to_ascii_lowercase();
    let is_space = |char: char| matches!(char, ' ' | '-');
    let (year, quarter) = match text.strip_prefix('q') {
        Some(rest) => rest.split_once(is_space).map(|(quarter, year)| (year, quarter))?,
        None => text.split_once('q').map(|(year, quarter)| (year.trim_end_matches(is_space), quarter))?,
    };
    let quarter = parse_uint(quarter).filter(|quarter| (1..=4).contains(quarter))?;
    Some((parse_uint(year).filter(|_| year.len() == 4)?, quarter))
}

/// True if a text is a time of day, perhaps with an offset: `12:00`, `12:00:00.000Z`, `12:00+02:00`.
fn is_time(text: &str) -> bool {
    let is_part = |char: char| char.is_ascii_digit() || matches!(char, ':' | '.' | '+' | '-' | 'z' | 'Z');
    matches!(text.as_bytes(), [b'0'..=b'9', b'0'..=b'9', b':', b'0'..=b'9', b'0'..=b'9', ..])
        && text.chars().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, amount) in [
            ("500000", 500_000),
            ("1,000,000", 1_000_000),
            ("500k", 500_000),
            ("500 K", 500_000),
            ("$1.5m", 1_500_000),
            ("$5", 5),
            ("2.5bn", 2_500_000_000),
            ("USD 2.50 Million", 2_500_000),
            ("1,250.5k", 1_250_500),
            ("7.0", 7),
            ("7.00", 7),
            ("1.125m", 1_125_000),
            ("1.500k", 1_500),
            ("0", 0),
            ("1e6", 1_000_000),
            ("$1e+05", 100_000),
            ("99999999999999999999999", u64::MAX),
        ] {
            assert_eq!(parse_amount(text), Some(amount), "{text}");
        }
        for text in [
            "", "m", "$", "-5", "+5", "1.5", "1e", "1e6m", "5x", "1,00", "1000,000", ",000", "1.", ".5m", "1.2.3m",
            "½", "500.000", "$1.000",
        ] {
            assert_eq!(parse_amount(text), None, "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_read_in_any_notation_of_json() {
        for (text, number) in [
            ("100000", 100_000),
            ("100000.0", 100_000),
            ("1e5", 100_000),
            ("1E+05", 100_000),
            ("1e 05", 100_000),
            ("1.5e3", 1_500),
            ("1.500e3", 1_500),
            ("2500e-2", 25),
            ("0e9", 0),
            ("0.0", 0),
            ("1e400", u64::MAX),
            ("1e99999999999999999999", u64::MAX),
        ] {
            assert_eq!(parse_whole(text), Some(number), "{text}");
        }
        for text in [
            "", "e5", "1e", "1e+", "1e--5", "1.5", "1.25e1", "25e-2", "1e-400", "1.e5", ".5e1", "+1", "500.000", "1e5 ",
        ] {
            assert_eq!(parse_whole(text), None, "{text}");
        }
        assert_eq!(parse_percent("1.25e+1"), Some(125));
        assert_eq!(parse_percent("1e 1 %"), Some(100));
    }

    #[test]
    fn a_year_a_quarter_or_a_month_is_its_first_or_last_day() {
        for (text, first, last) in [
            ("2014", "2014-01-01", "2014-12-31"),
            ("2014-05", "2014-05-01", "2014-05-31"),
            ("2024-02", "2024-02-01", "2024-02-29"),
            ("2014-05-04", "2014-05-04", "2014-05-04"),
            ("2014-05-04T12:00:00Z", "2014-05-04", "2014-05-04"),
            ("2014-05-04 23:59", "2014-05-04", "2014-05-04"),
            ("2014-Q1", "2014-01-01", "2014-03-31"),
            ("2014 q3", "2014-07-01", "2014-09-30"),
            ("2014Q4", "2014-10-01", "2014-12-31"),
            ("Q2 2014", "2014-04-01", "2014-06-30"),
        ] {
            let read = |bound| parse_date(text, bound).unwrap().to_string();
            assert_eq!((read(Bound::Min).as_str(), read(Bound::Max).as_str()), (first, last), "{text}");
        }
    }

    #[test]
    fn a_date_that_does_not_exist_gets_one_that_does() {
        for (text, detail) in [
            ("2014-02-30", "such as 2014-02-28"),
            ("2014-13", "such as 2014-12"),
            ("2014-00-10", "such as 2014-12"),
            ("2014-04-00", "such as 2014-04-30"),
            ("31.01.2014", "YYYY-MM-DD"),
            ("2014-1-1", "YYYY-MM-DD"),
            ("14", "YYYY-MM-DD"),
            ("yesterday", "YYYY-MM-DD"),
            ("2014 Q5", "2026-Q2"),
            ("2014 H1", "YYYY-MM-DD"),
            ("2014 or later", "YYYY-MM-DD"),
            ("2014-05 Tuesday", "YYYY-MM-DD"),
            ("2014-05-04 Sunday", "YYYY-MM-DD"),
            ("14Q3", "YYYY-MM-DD"),
        ] {
            let error = parse_date(text, Bound::Min).unwrap_err();
            assert!(error.contains(detail), "{text}: {error}");
        }
    }
}
