//! Currency rates to US dollars.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use csv::StringRecord;

use crate::sources::SourceError;
use data::import::csv_reader::{CsvDialect, CsvReader};
use data::import::diagnostics::quoted;
use data::{Date, PartialDate};

const NO_RATES: &str = ", for which `rates` has none";

/// True for the reason of an amount that is left out because its currency has no rates.
pub(crate) fn lacks_rates(reason: &str) -> bool {
    reason.ends_with(NO_RATES)
}

/// The day by whose rate an amount is converted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RateDay {
    On(PartialDate),
    /// The record has a day, which is not known.
    Unknown,
    /// Nothing has a day of its own.
    OfImport,
}

/// US dollars per unit of a currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rate {
    pub usd: f64,
    /// The day of the import, if another one would have another rate.
    pub of_import: Option<Date>,
}

/// US dollars per unit of a currency, by day.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    by_currency: HashMap<String, Vec<(Option<Date>, f64)>>,
    /// Day of amounts without one.
    today: Option<Date>,
}

impl Rates {
    /// Reads a CSV file with the columns `currency`, `date` (empty for any day) and `usd`.
    pub(crate) fn read(path: &Path) -> Result<Self, SourceError> {
        let file = File::open(path).map_err(|error| SourceError::io(path, error))?;
        let mut csv = CsvReader::new(file, CsvDialect::COMMAS);
        let mut rates: HashMap<String, Vec<(Option<Date>, f64)>> = HashMap::new();
        let mut header = StringRecord::new();
        csv.read_text(&mut header, 0).map_err(|error| SourceError::at_line(path, csv.line(), error))?;
        let column = |name: &str| {
            let found = header.iter().position(|column| column.trim_start_matches('\u{feff}').trim() == name);
            found.ok_or_else(|| {
                SourceError::at_line(path, 1, format!("no column {name}; rates have currency, date and usd"))
            })
        };
        let [currency, date, usd] = [column("currency")?, column("date")?, column("usd")?];
        let mut record = StringRecord::new();
        while csv.read_text(&mut record, header.len()).map_err(|error| SourceError::at_line(path, csv.line(), error))? {
            let line = csv.line();
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
        Ok(Self { by_currency: rates, today: None })
    }

    /// Uses the rate of a day, that of the import, for amounts without one of their own.
    pub(crate) fn on(self, today: Date) -> Self {
        Self { today: Some(today), ..self }
    }

    /// Rate of a currency on a day, or on that of the import: the latest one up to that day.
    pub(crate) fn rate_on(&self, currency: &str, on: RateDay) -> Result<Rate, String> {
        if currency == "USD" {
            return Ok(Rate { usd: 1.0, of_import: None });
        }
        let Some(known) = self.by_currency.get(currency) else {
            let problem = format!("has the currency {currency}{NO_RATES}");
            return Err(format!("{problem}; give one with `--rates FILE` (CSV with the columns currency, date, usd)"));
        };
        let is_dated = known.iter().any(|(from, _)| from.is_some());
        let day = match on {
            RateDay::On(day) => Some(day),
            RateDay::OfImport => self.today.map(PartialDate::from),
            // By the day of the import the same amount would be another one with each import.
            RateDay::Unknown if is_dated => {
                return Err(format!(
                    "has the currency {currency}, and the day for its rate is not known; fill the date, or give a day for such \
                     amounts, as in `rate_on = {{ column = \"DATE\", default = \"2026-06-30\" }}`"
                ));
            }
            RateDay::Unknown => None,
        };
        let of_import = self.today.filter(|_| is_dated && on == RateDay::OfImport);
        let usable = known.iter().rev().find(|(from, _)| match (from, day) {
            (None, _) => true,
            (Some(from), Some(day)) => *from <= day.last_day(),
            (Some(_), None) => false,
        });
        usable.map(|(_, usd)| Rate { usd: *usd, of_import }).ok_or_else(|| match day {
            Some(day) => format!("has the currency {currency}, whose first rate is after {day}"),
            None => format!("has the currency {currency} and no date for its rate"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_last_day_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rates.csv");
        std::fs::write(&path, "currency,date,usd\nEUR,2024-01-01,1.1\nEUR,2024-02-01,1.2\nGBP,,1.5\n").unwrap();
        let rates = Rates::read(&path).unwrap();
        let of = |rates: &Rates, currency: &str, day: RateDay| rates.rate_on(currency, day).map(|rate| rate.usd);
        let day = |day: &str| day.parse().map_or(RateDay::OfImport, RateDay::On);
        let on = |currency: &str, text: &str| of(&rates, currency, day(text));
        assert_eq!(on("EUR", "2024-01-31"), Ok(1.1));
        assert_eq!(on("EUR", "2024-02"), Ok(1.2));
        assert_eq!(on("GBP", ""), Ok(1.5));
        assert_eq!(on("USD", ""), Ok(1.0));
        assert!(on("EUR", "2023-12-31").unwrap_err().contains("first rate is after 2023-12-31"));
        assert!(on("EUR", "").unwrap_err().contains("no date"));
        let today = rates.clone().on("2024-01-15".parse().unwrap());
        assert_eq!((of(&today, "EUR", RateDay::OfImport), of(&today, "EUR", day("2024-03"))), (Ok(1.1), Ok(1.2)));
        // Only the rates of days depend on the day of the import.
        let is_of_import = |currency: &str| today.rate_on(currency, RateDay::OfImport).unwrap().of_import.is_some();
        assert!(is_of_import("EUR") && !is_of_import("GBP") && !is_of_import("USD"));
        assert!(of(&today, "EUR", RateDay::Unknown).unwrap_err().contains("the day for its rate is not known; fill"));
        assert_eq!((of(&today, "GBP", RateDay::Unknown), of(&today, "USD", RateDay::Unknown)), (Ok(1.5), Ok(1.0)));
        assert!(on("CHF", "2024-01-01").unwrap_err().contains("`rates` has none"));
        std::fs::write(&path, "currency,date,usd\nEUR,1.1.2024,1.1\n").unwrap();
        assert!(Rates::read(&path).unwrap_err().to_string().contains("rates.csv:2: date: \"1.1.2024\""));
        for (text, problem) in [
            ("currency,date,usd\r\nEUR,,1.1\r\nGBP,1.1.2024,1.1\r\n", "rates.csv:3: date: \"1.1.2024\""),
            ("currency,date,usd\nEUR,,1.1\n\"GBP,,1.5\nCHF,,1.2\n", "rates.csv:3: a quotation mark opens a cell"),
            ("currency,date,usd\nEUR,,1.1\nGBP,1.5\n", "rates.csv:3: 2 fields, the header has 3"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Rates::read(&path).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
    }
}
