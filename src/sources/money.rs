//! Amounts of money as people write them, and rates to US dollars. A currency is never guessed.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use crate::data::import::diagnostics::quoted;
use crate::data::{Date, PartialDate};
use crate::sources::SourceError;

/// An amount, and the currency that is written next to it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Money {
    pub amount: f64,
    pub currency: Option<Sign>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// `$`, which dollars of several countries have.
    Dollar,
    /// An ISO 4217 code.
    Code(String),
}

const SIGNS: [(&str, &str); 6] = [("US$", "USD"), ("€", "EUR"), ("£", "GBP"), ("₹", "INR"), ("₩", "KRW"), ("₪", "ILS")];

const UNITS: [(&str, f64); 12] = [
    ("thousand", 1e3),
    ("million", 1e6),
    ("billion", 1e9),
    ("mio", 1e6),
    ("mln", 1e6),
    ("bln", 1e9),
    ("mm", 1e6),
    ("mn", 1e6),
    ("bn", 1e9),
    ("k", 1e3),
    ("m", 1e6),
    ("b", 1e9),
];

impl Money {
    /// Reads `1,500,000`, `$1.5M`, `EUR 250k` or `2 million €`.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let mut currency = None;
        for (sign, code) in SIGNS {
            if let Some(stripped) = rest.strip_prefix(sign).or_else(|| rest.strip_suffix(sign)) {
                (rest, currency) = (stripped.trim(), Some(Sign::Code(code.to_owned())));
                break;
            }
        }
        if let Some(stripped) = rest.strip_prefix('$').or_else(|| rest.strip_suffix('$')) {
            (rest, currency) = (stripped.trim(), Some(Sign::Dollar));
        }
        if currency.is_none() {
            let is_code = |code: &&str| code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
            if let Some(code) = rest.get(..3).filter(is_code) {
                (rest, currency) = (rest[3..].trim(), Some(Sign::Code(code.to_owned())));
            } else if let Some(code) = rest.len().checked_sub(3).and_then(|at| rest.get(at..)).filter(is_code) {
                (rest, currency) = (rest[..rest.len() - 3].trim(), Some(Sign::Code(code.to_owned())));
            }
        }
        let lower = rest.to_ascii_lowercase();
        let (number, unit) =
            UNITS.iter().find_map(|(unit, factor)| Some((lower.strip_suffix(unit)?, *factor))).unwrap_or((&lower, 1.0));
        let amount = decimal(number.trim())? * unit;
        (amount < 9e15).then_some(Self { amount, currency })
    }
}

/// Reads a number with separators of thousands. Of a point and a comma the last is the decimal separator; a single comma
/// before three digits separates thousands, a single point before three digits does not.
fn decimal(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|char| !matches!(char, ' ' | '\u{a0}' | '\u{202f}' | '\'' | '_')).collect();
    if !text.starts_with(|char: char| char.is_ascii_digit()) {
        return None;
    }
    if !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.' || byte == b',') {
        return None;
    }
    let (points, commas) = (text.matches('.').count(), text.matches(',').count());
    let decimal = match (points, commas) {
        (0, 0) => None,
        (0, 1) => (text.len() - text.find(',')? != 4).then_some(','),
        (1, 0) => Some('.'),
        (_, 0) | (0, _) => None,
        _ if text.rfind('.') > text.rfind(',') => Some('.'),
        _ => Some(','),
    };
    let (whole, fraction) = match decimal {
        Some(separator) => text.rsplit_once(separator)?,
        None => (&*text, ""),
    };
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let mut groups = whole.split(['.', ',']);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();
    if !rest.is_empty() && (first.len() > 3 || rest.iter().any(|group| group.len() != 3 && group.len() != 2)) {
        return None;
    }
    format!("{first}{}.{fraction}0", rest.concat()).parse().ok()
}

/// The two ends of a range such as `$250K – $2M` or `1 to 5 million`; a single amount is both.
pub(crate) fn range(text: &str) -> (&str, &str) {
    for separator in ["–", "—", " - ", " to ", "-"] {
        if let Some((low, high)) = text.split_once(separator) {
            let (low, high) = (low.trim(), high.trim());
            if !low.is_empty() && !high.is_empty() {
                return (low, high);
            }
        }
    }
    (text, text)
}

/// US dollars for one unit of a currency, by day.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates(HashMap<String, Vec<(Option<Date>, f64)>>);

impl Rates {
    /// Reads a CSV file with the columns `currency`, `date` (empty: any day) and `usd`.
    pub(crate) fn read(path: &Path) -> Result<Self, SourceError> {
        let file = File::open(path).map_err(|error| SourceError::io(path, error))?;
        let mut csv = csv::Reader::from_reader(BufReader::new(file));
        let mut rates: HashMap<String, Vec<(Option<Date>, f64)>> = HashMap::new();
        let header = csv.headers().map_err(|error| SourceError::at_line(path, 1, error))?.clone();
        let column = |name: &str| {
            let found = header.iter().position(|column| column.trim_start_matches('\u{feff}').trim() == name);
            found.ok_or_else(|| {
                SourceError::at_line(path, 1, format!("no column {name}; rates have currency, date and usd"))
            })
        };
        let [currency, date, usd] = [column("currency")?, column("date")?, column("usd")?];
        for record in csv.records() {
            let record = record.map_err(|error| {
                let line = error.position().map_or(1, csv::Position::line);
                SourceError::at_line(path, line, error)
            })?;
            let line = record.position().map_or(1, csv::Position::line);
            let field = |index: usize| record.get(index).unwrap_or_default().trim();
            let problem = |problem: String| SourceError::at_line(path, line, problem);
            let day = match field(date) {
                "" => None,
                text => Some(text.parse().map_err(|_| {
                    problem(format!("date: {} is not a date of the form YYYY-MM-DD, nor empty", quoted(text)))
                })?),
            };
            let rate = field(usd).parse::<f64>().ok().filter(|rate| rate.is_finite() && *rate > 0.0);
            let rate = rate.ok_or_else(|| {
                problem(format!("usd: {} is not a number of dollars, such as 1.0956", quoted(field(usd))))
            })?;
            rates.entry(field(currency).to_ascii_uppercase()).or_default().push((day, rate));
        }
        for known in rates.values_mut() {
            known.sort_by_key(|(day, _)| *day);
        }
        Ok(Self(rates))
    }

    /// The rate of a currency on a day, which is that of the last day with one.
    pub(crate) fn on(&self, currency: &str, day: Option<PartialDate>) -> Result<f64, String> {
        if currency == "USD" {
            return Ok(1.0);
        }
        let Some(known) = self.0.get(currency) else {
            return Err(format!("has the currency {currency}, for which `rates` has none"));
        };
        let usable = known.iter().rev().find(|(from, _)| match (from, day) {
            (None, _) => true,
            (Some(from), Some(day)) => *from <= day.last_day(),
            (Some(_), None) => false,
        });
        usable.map(|(_, rate)| *rate).ok_or_else(|| match day {
            Some(day) => format!("has the currency {currency}, whose first rate is after {day}"),
            None => format!("has the currency {currency} and no date for its rate"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        for (text, amount, currency) in [
            ("1500000", 1_500_000.0, None),
            ("1,500,000.50", 1_500_000.5, None),
            ("1.500.000,50", 1_500_000.5, None),
            ("1,500", 1_500.0, None),
            ("1,5", 1.5, None),
            ("1.500", 1.5, None),
            ("1 500 000", 1_500_000.0, None),
            ("15,00,000", 1_500_000.0, None),
            ("2.0", 2.0, None),
            ("$1.5M", 1_500_000.0, Some("$")),
            ("US$ 250k", 250_000.0, Some("USD")),
            ("€2 million", 2_000_000.0, Some("EUR")),
            ("EUR 2mn", 2_000_000.0, Some("EUR")),
            ("2bn GBP", 2_000_000_000.0, Some("GBP")),
        ] {
            let found = Money::read(text);
            let found = found.unwrap_or_else(|| panic!("{text} is not read"));
            let sign = found.currency.as_ref().map(|sign| match sign {
                Sign::Dollar => "$",
                Sign::Code(code) => code,
            });
            assert_eq!((found.amount, sign), (amount, currency), "{text}");
        }
        for text in ["", "Indefinite", "-5", "1.2.3.4,5,6", "5x", "1e9", "$", "$10M+", "99999999999999999"] {
            assert_eq!(Money::read(text), None, "{text}");
        }
    }

    #[test]
    fn a_rate_is_that_of_the_last_day_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.csv");
        std::fs::write(&path, "currency,date,usd\nEUR,2024-01-01,1.1\nEUR,2024-02-01,1.2\nGBP,,1.5\n").unwrap();
        let rates = Rates::read(&path).unwrap();
        let on = |currency: &str, day: &str| rates.on(currency, day.parse().ok());
        assert_eq!(on("EUR", "2024-01-31"), Ok(1.1));
        assert_eq!(on("EUR", "2024-02"), Ok(1.2));
        assert_eq!(on("GBP", ""), Ok(1.5));
        assert_eq!(on("USD", ""), Ok(1.0));
        assert!(on("EUR", "2023-12-31").unwrap_err().contains("first rate is after 2023-12-31"));
        assert!(on("EUR", "").unwrap_err().contains("no date"));
        assert!(on("CHF", "2024-01-01").unwrap_err().contains("`rates` has none"));
        std::fs::write(&path, "currency,date,usd\nEUR,1.1.2024,1.1\n").unwrap();
        assert!(Rates::read(&path).unwrap_err().to_string().contains("rates.csv:2: date: \"1.1.2024\""));
    }
}
