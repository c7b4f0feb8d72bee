//! What sums of amounts leave out or count twice: unknown amounts, suspect ones, and rounds that are equal in startup, date,
//! stage and amount, of which the data may have one twice. One rule for lists, records and questions.

use std::cmp::Reverse;
use std::fmt;

use once_cell::sync::OnceCell;

use crate::amounts::amount_field;
use crate::coverage::property_of;
use crate::{Catalog, Filter, Order, ParameterError, Property, Query, RowFilter};
use data::number::{counted, grouped};
use data::{Direction, Facet, PartialDate, Snapshot, Table};
use platform::pause;

/// Rows whose records are read before other requests get their turn.
const ROWS_OF_PIECE: usize = 4_096;
/// Maximum number of suspect amounts that a note names.
const MAX_SUSPECT: usize = 10;
/// Maximum number of startups whose totals a note explains.
const MAX_STARTUPS: usize = 3;
/// Equal rounds are worth a note if one in this many rounds of a list is one, or more.
const WORTH_A_NOTE: usize = 100;
/// Two rounds of a startup may be one if they are so many days apart at most, and their amounts one in so many of the larger.
const NEAR_DAYS: i32 = 45;
const NEAR_AMOUNT: u64 = 10;

/// What the total of a startup's rounds is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartupTotal {
    pub total_usd: Option<u64>,
    pub rounds: usize,
    /// Rounds with an amount that the total counts.
    pub counted: usize,
    /// Suspect amounts, which it leaves out, the largest first.
    pub suspect: Vec<u64>,
    /// Amounts of rounds that are equal to an earlier one.
    pub equal: Vec<u64>,
    /// Amounts of rounds that are near another in date and amount.
    pub near: Vec<u64>,
}

impl StartupTotal {
    /// What was raised, as the beginning of a sentence: `raised at least $1,500,000 in 2 of 3 rounds`.
    pub(crate) fn raised(&self) -> String {
        let rounds = counted(self.rounds as u64, "round", "rounds");
        match self.total_usd {
            None if self.suspect.is_empty() => format!("{rounds}, amounts unknown"),
            None => format!("{rounds}, none of a credible amount"),
            Some(usd) if self.counted == self.rounds => format!("raised ${} in {rounds}", grouped(usd)),
            Some(usd) => format!("raised at least ${} in {} of {rounds}", grouped(usd), self.counted),
        }
    }

    /// True if the total says all that is to say.
    pub fn is_exact(&self) -> bool {
        self.to_string().is_empty()
    }
}

impl fmt::Display for StartupTotal {
    /// What the total leaves out or counts twice, as clauses: `the amounts of 2 of 5 rounds are unknown; …`. Empty if nothing.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rounds = || counted(self.rounds as u64, "round", "rounds");
        let mut clauses: Vec<String> = Vec::new();
        clauses.extend(match self.rounds - self.counted - self.suspect.len() {
            0 => None,
            1 => Some(format!("the amount of 1 of {} is unknown", rounds())),
            unknown => Some(format!("the amounts of {} of {} are unknown", grouped(unknown as u64), rounds())),
        });
        clauses.extend(match self.suspect[..] {
            [] => None,
            [usd] => Some(format!("a suspect amount of ${} is left out", grouped(usd))),
            [largest, ..] => {
                let count = self.suspect.len() as u64;
                Some(format!("{} suspect amounts are left out, the largest of ${}", grouped(count), grouped(largest)))
            }
        });
        clauses.extend(equal_rounds(&self.equal));
        clauses.extend(near_rounds(&self.near));
        f.write_str(&clauses.join("; "))
    }
}

/// A clause on rounds that are near others.
fn near_rounds(amounts: &[u64]) -> Option<String> {
    let rounds = counted(amounts.len(), "round", "rounds");
    let is = if amounts.len() == 1 { "is" } else { "are" };
    (!amounts.is_empty()).then(|| {
        format!(
            "{rounds} of ${} {is} within {NEAR_DAYS} days and a tenth of the amount of another, and may be the same",
            grouped(amounts.iter().sum::<u64>())
        )
    })
}

/// A clause on rounds that are equal to others.
fn equal_rounds(amounts: &[u64]) -> Option<String> {
    let usd = grouped(amounts.iter().sum::<u64>());
    match amounts.len() {
        0 => None,
        1 => Some(format!(
            "1 round equals another in startup, date, stage and amount; if they are one, ${usd} is counted twice"
        )),
        count => Some(format!(
            "{} rounds equal another in startup, date, stage and amount; if they are one, ${usd} are counted twice",
            grouped(count as u64)
        )),
    }
}

impl Catalog {
    /// What the total of a startup is made of.
    pub fn startup_total(&self, startup: u32) -> StartupTotal {
        let snapshot = self.snapshot();
        let rounds: Vec<u32> = snapshot.facet_rows(Table::Rounds, Facet::Startup, startup).iter().collect();
        let mut suspect: Vec<u64> = rounds.iter().filter_map(|round| suspect_amount(snapshot, *round)).collect();
        suspect.sort_unstable_by_key(|usd| Reverse(*usd));
        let amounts: Vec<(u32, u64)> =
            rounds.iter().filter_map(|round| Some((*round, snapshot.round_amount(*round)?))).collect();
        let equal = groups_of_equal(snapshot, rounds.iter().copied());
        let is_equal = |round: u32| equal.iter().any(|rounds| rounds[1..].contains(&round));
        let single = amounts.iter().filter(|(round, _)| !is_equal(*round));
        let dated = single.filter_map(|(round, usd)| {
            let date = snapshot.round_date(*round).filter(|date| date.is_day())?;
            Some((date.first_day().days(), *usd))
        });
        let mut dated: Vec<(i32, u64)> = dated.collect();
        dated.sort_unstable();
        let near = dated.iter().enumerate().filter(|(at, (day, usd))| {
            let before = dated[..*at].iter().rev().take_while(|(other, _)| day - other <= NEAR_DAYS);
            before.into_iter().any(|(_, other)| usd.abs_diff(*other) <= usd.max(other) / NEAR_AMOUNT)
        });
        let near = near.map(|(_, (_, usd))| *usd).collect();
        StartupTotal {
            total_usd: snapshot
                .record(Table::Startups, startup)
                .parse(Table::Startups.field_index("total_raised_usd"))
                .ok()
                .flatten(),
            rounds: rounds.len(),
            counted: amounts.len(),
            suspect,
            equal: amounts.iter().filter(|(round, _)| is_equal(*round)).map(|(_, usd)| *usd).collect(),
            near,
        }
    }

    /// The notes on a record itself, wherever it is shown alone.
    pub fn notes_on_record(&self, table: Table, row: u32) -> Vec<ParameterError> {
        let total = if table == Table::Startups { self.note_on_totals(&[row]) } else { None };
        total.into_iter().collect()
    }

    /// A note on startups whose totals leave something out or count it twice: of records that a request names.
    pub(crate) fn note_on_totals(&self, startups: &[u32]) -> Option<ParameterError> {
        let totals = startups.iter().map(|row| (*row, self.startup_total(*row))).filter(|(_, total)| !total.is_exact());
        let mut notes: Vec<String> =
            totals.map(|(row, total)| format!("`{}`: {total}", self.snapshot().slug(Table::Startups, row))).collect();
        let more = notes.len().saturating_sub(MAX_STARTUPS);
        notes.truncate(MAX_STARTUPS);
        notes.extend(
            (more > 0).then(|| format!("and so for {}", counted(more as u64, "startup more", "startups more"))),
        );
        let detail = format!("`total_raised_usd` of {}", notes.join("; of "));
        (!notes.is_empty()).then(|| ParameterError::warning("low_coverage", "total_raised_usd", detail))
    }

    /// Notes on amounts that the sums, bounds and orders of a query leave out or count twice.
    pub fn notes_on_amounts(&self, query: &Query) -> Vec<ParameterError> {
        self.suspect_note(query).into_iter().chain(self.note_on_equal_rounds(query)).collect()
    }

    /// A note on equal rounds among those that match a query, if there are many, and on near ones among all of a startup.
    fn note_on_equal_rounds(&self, query: &Query) -> Option<ParameterError> {
        if query.table != Table::Rounds {
            return None;
        }
        if let [Filter::AnyOf(Facet::Startup, startups)] = &query.filters[..]
            && let [startup] = startups[..]
        {
            let StartupTotal { equal, near, .. } = self.startup_total(startup);
            let clauses: Vec<String> = [equal_rounds(&equal), near_rounds(&near)].into_iter().flatten().collect();
            let detail = clauses.join("; ");
            return (!detail.is_empty()).then(|| ParameterError::warning("low_coverage", "amount_usd", detail));
        }
        let rows = RowFilter::new(self, Table::Rounds, &query.filters);
        let matching = |rounds: &[u32]| rounds.iter().filter(|round| rows.contains(**round)).count();
        let amounts = self.equal_rounds().iter().flat_map(|rounds| {
            let usd = self.snapshot().round_amount(rounds[0]).unwrap_or_default();
            std::iter::repeat_n(usd, matching(rounds).saturating_sub(1))
        });
        let amounts: Vec<u64> = amounts.collect();
        let detail = equal_rounds(&amounts)?;
        let total = usize::try_from(self.count(Table::Rounds, &query.filters, &rows)).unwrap_or(usize::MAX);
        let is_worth = amounts.len().saturating_mul(WORTH_A_NOTE) >= total;
        is_worth.then(|| ParameterError::warning("low_coverage", "amount_usd", detail))
    }

    /// The rounds that are equal to others, in groups.
    fn equal_rounds(&self) -> &[Vec<u32>] {
        let snapshot = self.snapshot();
        found_once(&self.cached.equal_rounds, || groups_of_equal(snapshot, rounds_in_pieces(snapshot)))
    }

    /// A note on the rounds that match the filters of a query, or are of startups that do, apart from filters on amounts, and
    /// whose amounts are suspect: sums, bounds and orders leave these out.
    fn suspect_note(&self, query: &Query) -> Option<ParameterError> {
        let (table, field) = (query.table, amount_field(query.table)?);
        let (snapshot, amount) = (self.snapshot(), Property::Key(table.sort_key(field)));
        let suspect = self.suspect_rounds();
        if suspect.is_empty() {
            return None;
        }
        let others: Vec<Filter> = query.filters.iter().filter(|of| property_of(of) != Some(amount)).cloned().collect();
        let rows = RowFilter::new(self, table, &others);
        let row_of = |round: u32| if table == Table::Rounds { round } else { snapshot.round_startup(round) };
        let found: Vec<(u64, u32)> =
            suspect.iter().filter(|(_, round)| rows.contains(row_of(*round))).copied().collect();
        let named = found
            .iter()
            .take(MAX_SUSPECT)
            .map(|(usd, row)| format!("${} (`{}`)", grouped(*usd), snapshot.slug(Table::Rounds, *row)));
        let named = named.collect::<Vec<_>>().join(", ");
        let more = if found.len() > MAX_SUSPECT { ", …; `suspect=true` lists the rounds" } else { "" };
        let places = match table {
            Table::Rounds if query.filters.contains(&Filter::Suspect(true)) => "sums and bounds",
            Table::Rounds => "sums, bounds and orders",
            _ => "`total_raised_usd`",
        };
        let detail = match found.len() {
            0 => return None,
            1 => format!("a suspect amount is left out of {places}: {named}"),
            count => format!("{} suspect amounts are left out of {places}: {named}{more}", grouped(count)),
        };
        Some(ParameterError::warning("low_coverage", field, detail))
    }

    /// The rounds of a list that asks for suspect amounts and orders them by amount: their order has no other values.
    pub(crate) fn suspect_in_order(&self, query: &Query, filter: &RowFilter<'_>) -> Option<Vec<u32>> {
        let Order::Keys(keys) = &query.order else { return None };
        let amount = Table::Rounds.sort_key("amount_usd");
        let direction = keys.first().filter(|(key, _)| *key == amount).map(|(_, direction)| *direction)?;
        if query.table != Table::Rounds || !query.filters.contains(&Filter::Suspect(true)) {
            return None;
        }
        let suspect = self.suspect_rounds().iter().filter(|(_, round)| filter.contains(*round));
        let mut found: Vec<(u64, u32)> = suspect.copied().collect();
        let slug = |round: &u32| self.snapshot().slug(Table::Rounds, *round);
        match direction {
            Direction::Ascending => found.sort_by_key(|(usd, round)| (*usd, slug(round))),
            Direction::Descending => found.sort_by_key(|(usd, round)| (Reverse(*usd), slug(round))),
        }
        Some(found.into_iter().map(|(_, round)| round).collect())
    }

    /// The rounds with suspect amounts and these, the largest first.
    pub(crate) fn suspect_rounds(&self) -> &[(u64, u32)] {
        let snapshot = self.snapshot();
        found_once(&self.cached.suspect_rounds, || suspect_rounds(snapshot, rounds_in_pieces(snapshot)))
    }
}

/// What is kept for the life of a release. It is found before the cell is locked: a pause there would let others wait for it.
fn found_once<T>(cell: &OnceCell<Vec<T>>, find: impl FnOnce() -> Vec<T>) -> &[T] {
    match cell.get() {
        Some(known) => known,
        None => {
            let found = find();
            cell.get_or_init(|| found)
        }
    }
}

/// All rounds, with pauses in which other requests get their turn.
fn rounds_in_pieces(snapshot: &Snapshot) -> impl Iterator<Item = u32> {
    pause::every(ROWS_OF_PIECE, 0..snapshot.rows(Table::Rounds))
}

/// Groups of rounds that are equal in startup, date, stage and amount; the amount and the date are known.
fn groups_of_equal(snapshot: &Snapshot, rounds: impl Iterator<Item = u32>) -> Vec<Vec<u32>> {
    let stages = snapshot.row_values(Table::Rounds, Facet::Stage);
    let keyed = rounds.filter_map(|round| {
        let date: PartialDate = snapshot.round_date(round)?;
        let key =
            (snapshot.round_startup(round), date, stages.of(round).first().copied(), snapshot.round_amount(round)?);
        Some((key, round))
    });
    let mut keyed: Vec<_> = keyed.collect();
    keyed.sort_unstable();
    let groups = keyed.chunk_by(|(one, _), (other, _)| one == other).filter(|group| group.len() > 1);
    groups.map(|group| group.iter().map(|(_, round)| *round).collect()).collect()
}

/// The rounds whose amounts are known and suspect, the largest first.
fn suspect_rounds(snapshot: &Snapshot, rounds: impl Iterator<Item = u32>) -> Vec<(u64, u32)> {
    let mut found: Vec<(u64, u32)> =
        rounds.filter_map(|round| Some((suspect_amount(snapshot, round)?, round))).collect();
    found.sort_unstable_by(|left, right| right.cmp(left));
    found
}

/// The amount of a round if it is suspect, so that sums and orders leave it out.
fn suspect_amount(snapshot: &Snapshot, round: u32) -> Option<u64> {
    let table = Table::Rounds;
    if snapshot.round_amount(round).is_some() {
        return None;
    }
    let record = snapshot.record(table, round);
    let is_suspect = *record.value(table.field_index("suspect")) == *b"true";
    if is_suspect { record.parse(table.field_index("amount_usd")).ok() } else { None }
}
