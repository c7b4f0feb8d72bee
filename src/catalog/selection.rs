//! The rows that fulfil all conditions, tested 64 at a time.
//!
//! Funding rounds stand in order of their dates, so that a condition on the date is a range of rows.

use std::ops::Range;

use crate::dataset::compile::unknown;
use crate::dataset::facet::{Bits, RowSet};
use crate::dataset::{Facet, Snapshot, Table};

use super::query::Clause;

/// The rows of a table that fulfil all clauses; nothing is computed before it is asked for.
pub struct Selection<'a> {
    /// Rows of the table.
    rows: u32,
    /// No row outside of this range is in the selection.
    bounds: Range<u32>,
    parts: Vec<Part<'a>>,
}

/// One clause over the columns it reads.
enum Part<'a> {
    Sets(Vec<RowSet<'a>>),
    AtLeastU8(&'a [u8], u8),
    AtMostU16(&'a [u16], u16),
    AtLeastU32(&'a [u32], u32),
    AtLeastU64(&'a [u64], u64),
    AtLeastI32(&'a [i32], i32),
    Check(&'a [u64], &'a [u64], u64),
}

impl<'a> Selection<'a> {
    /// The rows of `table` that fulfil `clauses`.
    #[must_use]
    pub fn of(snapshot: &'a Snapshot, table: Table, clauses: &[Clause]) -> Self {
        let sets = |facet: Facet, values: &[u32]| -> Vec<RowSet<'a>> {
            values.iter().map(|value| snapshot.facet_rows(table, facet, *value)).collect()
        };
        let rows = snapshot.rows(table);
        let mut bounds = 0..rows;
        let parts = clauses.iter().filter_map(|clause| {
            Some(match clause {
                Clause::AnyOf(facet, values) => Part::Sets(sets(*facet, values)),
                Clause::MemberOf { firms, startups } => {
                    let mut all = sets(Facet::Firm, firms);
                    all.extend(sets(Facet::Startup, startups));
                    Part::Sets(all)
                }
                Clause::MinHealthScore(least) => Part::AtLeastU8(snapshot.health_scores(), *least),
                Clause::MaxGhostingRate(most) => Part::AtMostU16(snapshot.ghosting_rates(), *most),
                Clause::MinReviews(least) => Part::AtLeastU32(snapshot.review_counts(), *least),
                Clause::CheckUsd(usd) => {
                    let (min, max) = snapshot.checks();
                    Part::Check(min, max, *usd)
                }
                Clause::ActiveSince(date) => Part::AtLeastI32(snapshot.last_investments(), date.days()),
                // Latest first, rounds without a date last.
                Clause::Since(date) => {
                    let end = snapshot.round_dates().partition_point(|day| *day >= date.days());
                    bounds.end = bounds.end.min(end as u32);
                    return None;
                }
                Clause::Until(date) => {
                    let start = snapshot.round_dates().partition_point(|day| *day > date.days());
                    let known = snapshot.round_dates().partition_point(|day| *day != unknown::I32);
                    bounds.start = bounds.start.max(start as u32);
                    bounds.end = bounds.end.min(known as u32);
                    return None;
                }
                Clause::MinAmountUsd(least) => Part::AtLeastU64(snapshot.round_amounts(), *least),
            })
        });
        let parts = parts.collect();
        bounds.end = bounds.end.max(bounds.start);
        Self { rows, bounds, parts }
    }

    /// True where `row` fulfils all clauses.
    #[must_use]
    pub fn contains(&self, row: u32) -> bool {
        self.bounds.contains(&row) && self.parts.iter().all(|part| part.contains(row))
    }

    /// True where every row of the table is in it.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.parts.is_empty() && self.bounds == (0..self.rows)
    }

    /// How many rows fulfil all clauses.
    #[must_use]
    pub fn count(&self) -> u64 {
        if self.parts.is_empty() {
            return self.bounds.len() as u64;
        }
        match self.driver() {
            Some((index, rows)) => rows.iter().filter(|row| self.contains_besides(**row, index)).count() as u64,
            None => Words::from(self, 0).map(|(_, word)| u64::from(word.count_ones())).sum(),
        }
    }

    /// The rows from `first` on, ascending.
    pub fn rows_from(&self, first: u32) -> Box<dyn Iterator<Item = u32> + '_> {
        if let Some((index, rows)) = self.driver() {
            let start = rows.partition_point(|row| *row < first);
            let rows = rows.get(start..).unwrap_or(&[]).iter().copied();
            return Box::new(rows.filter(move |row| self.contains_besides(*row, index)));
        }
        let first = first.max(self.bounds.start);
        let words = Words::from(self, first as usize / 64);
        Box::new(
            words
                .flat_map(|(index, word)| Bits(word).map(move |bit| index as u32 * 64 + bit))
                .skip_while(move |row| *row < first),
        )
    }

    /// The first row after `offset` rows of the selection; `None` past its end.
    #[must_use]
    pub fn nth(&self, offset: u64) -> Option<u32> {
        let mut left = offset;
        if self.parts.is_empty() {
            let row = u32::try_from(offset).ok().and_then(|offset| self.bounds.start.checked_add(offset));
            return row.filter(|row| *row < self.bounds.end);
        }
        if self.driver().is_some() {
            return self.rows_from(0).nth(usize::try_from(offset).ok()?);
        }
        for (index, word) in Words::from(self, 0) {
            let ones = u64::from(word.count_ones());
            if left < ones {
                return Bits(word).nth(left as usize).map(|bit| index as u32 * 64 + bit);
            }
            left -= ones;
        }
        None
    }

    /// A bit for each row of the table.
    pub(super) fn bits(&self) -> Vec<u64> {
        let mut bits = vec![0; (self.rows as usize).div_ceil(64)];
        match self.driver() {
            Some(_) => self.rows_from(0).for_each(|row| bits[row as usize / 64] |= 1 << (row % 64)),
            None => Words::from(self, 0).for_each(|(index, word)| bits[index] = word),
        }
        bits
    }

    /// A single short list, within the bounds, that holds every row of the selection, where a clause is one.
    fn driver(&self) -> Option<(usize, &'a [u32])> {
        let lists = self.parts.iter().enumerate().filter_map(|(index, part)| match part {
            Part::Sets(sets) => match sets.as_slice() {
                [] => Some((index, &[] as &[u32])),
                [RowSet::Sparse(rows)] => Some((index, *rows)),
                _ => None,
            },
            _ => None,
        });
        let (index, rows) = lists.min_by_key(|(_, rows)| rows.len())?;
        let start = rows.partition_point(|row| *row < self.bounds.start);
        let end = rows.partition_point(|row| *row < self.bounds.end);
        Some((index, rows.get(start..end).unwrap_or(&[])))
    }

    /// The bits of those of 64 rows that are within the bounds.
    fn bounds_word(&self, index: usize) -> u64 {
        let below = |row: u32| match (row as usize).saturating_sub(index * 64) {
            rows @ 0..64 => (1_u64 << rows) - 1,
            _ => u64::MAX,
        };
        below(self.bounds.end) & !below(self.bounds.start)
    }

    fn contains_besides(&self, row: u32, index: usize) -> bool {
        self.parts.iter().enumerate().all(|(other, part)| other == index || part.contains(row))
    }
}

impl Part<'_> {
    fn contains(&self, row: u32) -> bool {
        let at = row as usize;
        match self {
            Self::Sets(sets) => sets.iter().any(|set| set.contains(row)),
            Self::AtLeastU8(values, least) => values.get(at).is_some_and(|v| passes_u8(*v, *least)),
            Self::AtMostU16(values, most) => values.get(at).is_some_and(|v| *v != unknown::U16 && v <= most),
            Self::AtLeastU32(values, least) => values.get(at).is_some_and(|v| v >= least),
            Self::AtLeastU64(values, least) => values.get(at).is_some_and(|v| *v != unknown::U64 && v >= least),
            Self::AtLeastI32(values, least) => values.get(at).is_some_and(|v| v >= least),
            Self::Check(min, max, usd) => {
                min.get(at).zip(max.get(at)).is_some_and(|(min, max)| passes_check(*min, *max, *usd))
            }
        }
    }

    /// The bits of rows `64 * index` to `64 * index + 63`; `places` remembers where the sparse lists stand.
    fn word(&self, index: usize, places: &mut [usize]) -> u64 {
        match self {
            Self::Sets(sets) => {
                let mut word = 0;
                for (set, place) in sets.iter().zip(places) {
                    match set {
                        RowSet::Dense(words) => word |= words.get(index).copied().unwrap_or(0),
                        RowSet::Sparse(rows) => {
                            while let Some(row) = rows.get(*place) {
                                if *row as usize / 64 != index {
                                    break;
                                }
                                word |= 1 << (row % 64);
                                *place += 1;
                            }
                        }
                    }
                }
                word
            }
            Self::AtLeastU8(values, least) => bits(chunk(values, index), |v| passes_u8(*v, *least)),
            Self::AtMostU16(values, most) => bits(chunk(values, index), |v| *v != unknown::U16 && v <= most),
            Self::AtLeastU32(values, least) => bits(chunk(values, index), |v| v >= least),
            Self::AtLeastU64(values, least) => bits(chunk(values, index), |v| *v != unknown::U64 && v >= least),
            Self::AtLeastI32(values, least) => bits(chunk(values, index), |v| v >= least),
            Self::Check(min, max, usd) => {
                let mut word = 0;
                for (bit, (min, max)) in chunk(min, index).iter().zip(chunk(max, index)).enumerate() {
                    word |= u64::from(passes_check(*min, *max, *usd)) << bit;
                }
                word
            }
        }
    }
}

fn passes_u8(value: u8, least: u8) -> bool {
    value != unknown::U8 && value >= least
}

/// An unknown end of the range is open; with both unknown nothing fits.
fn passes_check(min: u64, max: u64, usd: u64) -> bool {
    let (no_min, no_max) = (min == unknown::U64, max == unknown::U64);
    !(no_min && no_max) && (no_min || min <= usd) && (no_max || usd <= max)
}

fn chunk<T>(values: &[T], index: usize) -> &[T] {
    let start = (index * 64).min(values.len());
    let end = (start + 64).min(values.len());
    &values[start..end]
}

fn bits<T>(values: &[T], passes: impl Fn(&T) -> bool) -> u64 {
    let mut word = 0;
    for (bit, value) in values.iter().enumerate() {
        word |= u64::from(passes(value)) << bit;
    }
    word
}

/// The words of a selection, one after the other, with their indexes.
struct Words<'s, 'a> {
    selection: &'s Selection<'a>,
    places: Vec<Vec<usize>>,
    next: usize,
    end: usize,
}

impl<'s, 'a> Words<'s, 'a> {
    fn from(selection: &'s Selection<'a>, first: usize) -> Self {
        let bounds = &selection.bounds;
        let first = first.max(bounds.start as usize / 64);
        let place = |set: &RowSet<'_>| match set {
            RowSet::Dense(_) => 0,
            RowSet::Sparse(rows) => rows.partition_point(|row| (*row as usize) < first * 64),
        };
        let places = selection.parts.iter().map(|part| match part {
            Part::Sets(sets) => sets.iter().map(place).collect(),
            _ => Vec::new(),
        });
        let places = places.collect();
        Self { selection, places, next: first, end: (bounds.end as usize).div_ceil(64) }
    }
}

impl Iterator for Words<'_, '_> {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        self.next += 1;
        let mut word = self.selection.bounds_word(index);
        for (part, places) in self.selection.parts.iter().zip(&mut self.places) {
            // Sparse lists step forward even where nothing is left, or they would lose their places.
            let sparse = !places.is_empty();
            if word != 0 || sparse {
                word &= part.word(index, places);
            }
        }
        Some((index, word))
    }
}
