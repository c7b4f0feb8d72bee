//! Dates with a day that nobody knew. A source that knows the years of its rounds, and must write days, writes one day of
//! the year for all; one that knows months writes their first days. Such dates are read as the year or the month, unless an
//! operator settles that the days are right: a day that nobody knew is printed, sorted by and counted from otherwise.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::{fs, io};

use crate::coverage::Market;
use crate::date::Precision;
use crate::import::Dataset;
use crate::import::csv_table::TableRow;
use crate::import::csv_writer::lines;
use crate::import::diagnostics::Diagnostics;
use crate::import::rows::DatasetRound;
use crate::import::suspicions::{Settled, Suspicion, SuspicionRule};
use crate::{DiagnosticReport, PartialDate};

/// Minimum number of rounds of a country and year, since a few may have been on one day.
const MIN_ROUNDS: u32 = 20;
/// Nine of ten rounds share a day.
const MIN_SHARE: (u32, u32) = (9, 10);
/// Month and day that stand for a year by convention. Another day does if most rounds of several years have it.
const CONVENTIONAL: [(u8, u8); 4] = [(1, 1), (6, 30), (7, 1), (12, 31)];

#[derive(Default)]
struct DaysOfYear {
    rounds: u32,
    by_day: HashMap<(u8, u8), u32>,
}

impl DaysOfYear {
    fn add(&mut self, day: (u8, u8)) {
        self.rounds += 1;
        *self.by_day.entry(day).or_default() += 1;
    }

    fn is_most(&self, rounds: u32) -> bool {
        self.rounds >= MIN_ROUNDS && rounds * MIN_SHARE.1 >= self.rounds * MIN_SHARE.0
    }

    /// The day that nearly all rounds have.
    fn only_day(&self) -> Option<(u8, u8)> {
        self.by_day.iter().find(|(_, rounds)| self.is_most(**rounds)).map(|(day, _)| *day)
    }

    fn is_by_month(&self) -> bool {
        let firsts = self.by_day.iter().filter(|((_, day), _)| *day == 1).map(|(_, rounds)| rounds);
        self.is_most(firsts.sum())
    }
}

/// All countries, or one.
type Scope = Option<Market>;

/// The dates of the rounds as far as they are known, where that is less than they say.
struct KnownDates {
    groups: BTreeMap<(Scope, i32), DaysOfYear>,
    /// Days that stand for the year in several years of a country.
    repeated: BTreeSet<(Scope, (u8, u8))>,
}

impl KnownDates {
    fn new(dataset: &Dataset) -> Self {
        let mut groups: BTreeMap<(Scope, i32), DaysOfYear> = BTreeMap::new();
        for (market, date) in dataset.rounds.iter().filter_map(|round| dated(dataset, round)) {
            for scope in [None, Some(market)] {
                groups.entry((scope, date.year())).or_default().add(date.month_and_day());
            }
        }
        let mut years: BTreeMap<(Scope, (u8, u8)), u32> = BTreeMap::new();
        for ((scope, _), days) in &groups {
            days.only_day().into_iter().for_each(|day| *years.entry((*scope, day)).or_default() += 1);
        }
        let repeated = years.into_iter().filter(|(_, years)| *years > 1).map(|(key, _)| key).collect();
        Self { groups, repeated }
    }

    /// The known part of a date; `None` if it is known as it is.
    fn of(&self, market: Market, date: PartialDate) -> Option<PartialDate> {
        // A country with few rounds of a year is judged by all rounds of it.
        let own = self.groups.get(&(Some(market), date.year())).filter(|days| days.rounds >= MIN_ROUNDS);
        let (scope, days) = match own {
            Some(days) => (Some(market), days),
            None => (None, self.groups.get(&(None, date.year()))?),
        };
        let day = date.month_and_day();
        let means_year = |only: &(u8, u8)| CONVENTIONAL.contains(only) || self.repeated.contains(&(scope, *only));
        let precision = match days.only_day().filter(means_year) {
            Some(only) if only == day => Precision::Year,
            Some(_) => return None,
            None if day.1 == 1 && days.only_day().is_none() && days.is_by_month() => Precision::Month,
            None => return None,
        };
        Some(PartialDate::at(date.first_day(), precision))
    }
}

/// The country of a round and its date, if it is a day.
fn dated(dataset: &Dataset, round: &DatasetRound) -> Option<(Market, PartialDate)> {
    let date = round.announced_on.filter(|date| date.is_day())?;
    Some((dataset.startups[round.startup as usize].country, date))
}

/// Reduces dates to what is known of them, and reports it once for all.
pub(crate) fn reduce(dataset: &mut Dataset, settled: &Settled, report: &mut DiagnosticReport) {
    let known = KnownDates::new(dataset);
    let reduced = |round: &DatasetRound| {
        let (market, date) = dated(dataset, round)?;
        let known = known.of(market, date)?;
        (!settled.covers(SuspicionRule::AssumedDay, &date.to_string())).then_some((date, known))
    };
    let reduced: Vec<Option<(PartialDate, PartialDate)>> = dataset.rounds.iter().map(reduced).collect();
    let days: BTreeSet<PartialDate> = reduced.iter().flatten().map(|(day, _)| *day).collect();
    for (round, reduced) in dataset.rounds.iter_mut().zip(reduced) {
        round.announced_on = reduced.map_or(round.announced_on, |(_, known)| Some(known));
    }
    if !days.is_empty() {
        let suspicion = Suspicion::new::<DatasetRound>(SuspicionRule::AssumedDay, "announced_on", days.iter());
        Diagnostics::new(DatasetRound::FILE, report).suspicion("announced_on", suspicion.to_string());
    }
}

/// Writes the dates of the rounds of a dataset as they are known, by their ids. Returns how many it changed.
pub(crate) fn write(folder: &Path, dates: &HashMap<&str, PartialDate>) -> io::Result<usize> {
    let path = folder.join(DatasetRound::FILE);
    if !dates.is_empty() && !path.exists() {
        let message = format!("dates are only written into {}, and the dataset has no such file", DatasetRound::FILE);
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    let mut rows = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_path(&path)?;
    let mut out = lines(Vec::new());
    let mut columns: Option<(usize, usize)> = None;
    let mut changed = 0;
    for row in rows.records() {
        let row = row?;
        let mut cells: Vec<&str> = row.iter().collect();
        let column = |name: &str| row.iter().position(|cell| cell.trim_start_matches('\u{feff}').trim() == name);
        let known: Option<String> = match columns {
            None => {
                columns = column("id").zip(column("announced_on"));
                None
            }
            Some((id, date)) => {
                let known = cells.get(id).and_then(|id| dates.get(id.trim())).map(ToString::to_string);
                known.filter(|known| cells.get(date).is_some_and(|cell| cell.trim().len() > known.len()))
            }
        };
        if let (Some(known), Some((_, date))) = (&known, columns) {
            cells[date] = known;
            changed += 1;
        }
        out.write_record(&cells)?;
    }
    if changed > 0 {
        let text = out.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        let next = path.with_extension("csv.next");
        fs::write(&next, text)?;
        fs::rename(&next, &path)?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A dataset with rounds: startup, date, number.
    fn folder(rounds: &[(&str, &str, u32)], settled: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: String| fs::write(folder.path().join(file), text).unwrap();
        write("snapshot.toml", "version = \"2026-11-20.1\"\nreleased_on = \"2026-11-20\"\n".to_owned());
        write("firms.csv", "slug,name\nalder,Alder\n".to_owned());
        write("startups.csv", "slug,name,country\nin,In,IN\nde,De,DE\n".to_owned());
        let line = |(startup, date, count): &(&str, &str, u32)| -> String {
            (0..*count).map(|n| format!("{startup}-{date}-{n},{startup},seed,{date}\n")).collect()
        };
        let rounds = rounds.iter().map(line).collect::<String>();
        write("funding_rounds.csv", format!("id,startup,stage,announced_on\n{rounds}"));
        write("settled.csv", format!("warning,value,note\n{settled}"));
        folder
    }

    /// The dates that rounds are read with.
    fn read(rounds: &[(&str, &str, u32)], settled: &str) -> Vec<String> {
        let (dataset, report) = crate::import::read(folder(rounds, settled).path(), &crate::NoProgress);
        let dataset = dataset.unwrap_or_else(|| panic!("{report:?}"));
        let mut dates: Vec<String> =
            dataset.rounds.iter().filter_map(|round| Some(round.announced_on?.to_string())).collect();
        dates.sort_unstable();
        dates.dedup();
        assert_eq!(report.suspicions().count(), usize::from(dates.iter().any(|date| date.len() < 10)), "{report:?}");
        dates
    }

    #[test]
    fn dates_are_written_as_they_are_known() {
        let folder = folder(&[("in", "2021-01-01", 40), ("in", "2021-03-04", 2)], "");
        let compile =
            || crate::compile(folder.path(), &crate::NoProgress).unwrap_or_else(|report| panic!("{report:?}"));
        assert_eq!(compile().write_known_dates(folder.path()).unwrap(), 40);
        let text = fs::read_to_string(folder.path().join("funding_rounds.csv")).unwrap();
        assert!(text.contains("in-2021-01-01-7,in,seed,2021\n") && text.contains(",2021-03-04\n"), "{text}");
        let again = compile();
        assert_eq!((again.write_known_dates(folder.path()).unwrap(), again.report.suspicions().count()), (0, 0));
    }

    #[test]
    fn a_day_that_nearly_all_rounds_of_a_year_have_is_the_year() {
        let of_year = |day: &'static str| [("in", day, 40), ("in", "2021-03-04", 2), ("de", "2021-05-06", 30)];
        for day in ["2021-01-01", "2021-12-31", "2021-07-01"] {
            assert_eq!(read(&of_year(day), ""), ["2021", "2021-03-04", "2021-05-06"], "{day}");
            assert!(read(&of_year(day), &format!("assumed-day,{day},\n")).contains(&day.to_owned()), "settled");
        }
        // Another day may be that of one event, but not year after year.
        assert_eq!(read(&[("in", "2021-03-04", 40)], ""), ["2021-03-04"]);
        assert_eq!(read(&[("in", "2020-03-04", 40), ("in", "2021-03-04", 40)], ""), ["2020", "2021"]);
        // Too few, or too many others.
        assert_eq!(read(&[("in", "2021-01-01", 19)], ""), ["2021-01-01"]);
        assert_eq!(read(&[("in", "2021-01-01", 40), ("in", "2021-02-05", 5)], ""), ["2021-01-01", "2021-02-05"]);
        // Few rounds of a country are judged by all.
        assert_eq!(read(&[("in", "2021-01-01", 40), ("de", "2021-01-01", 1)], ""), ["2021"]);
    }

    #[test]
    fn first_days_of_months_are_months_if_nearly_all_days_are() {
        let months = ["2021-01-01", "2021-02-01", "2021-05-01", "2021-09-01"].map(|day| ("in", day, 10));
        let read_as = read(&months, "");
        assert_eq!(read_as, ["2021-01", "2021-02", "2021-05", "2021-09"]);
    }
}
