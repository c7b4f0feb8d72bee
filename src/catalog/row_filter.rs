//! The rows that fulfil all conditions, tested 64 at a time.
//!
//! Funding rounds stand in order of their dates, so that a condition on the date is a range of rows.

use std::ops::Range;

use crate::data::archive::facet_column::{Bits, RowSet};
use crate::data::{Direction, Facet, Snapshot, Table};
use crate::data::{NONE_I32, NONE_U8, NONE_U16, NONE_U32, NONE_U64};

use crate::catalog::Filter;

/// Most rows of short lists that are merged to one.
const MERGED: usize = 2_048;

/// The rows of a table that fulfil all clauses; but for short lists, nothing is computed before it is asked for.
pub struct RowFilter<'a> {
    /// Rows of the table.
    rows: u32,
    /// No row outside of this range is in the selection.
    bounds: Range<u32>,
    parts: Vec<Predicate<'a>>,
}

/// One clause over the columns it reads.
enum Predicate<'a> {
    Sets(Vec<RowSet<'a>>),
    /// The rows of several short lists, ascending.
    Merged(Vec<u32>),
    AtLeastU8(&'a [u8], u8),
    AtMostU16(&'a [u16], u16),
    AtLeastU32(&'a [u32], u32),
    /// Rows with at least this rank, which is not [`NONE_U32`]; those have no value.
    RankFrom(&'a [u32], u32),
    AtLeastI32(&'a [i32], i32),
    Check(&'a [u64], &'a [u64], u64),
}

impl<'a> RowFilter<'a> {
    /// The rows of `table` that fulfil `clauses`.
    #[must_use]
    pub fn of(snapshot: &'a Snapshot, table: Table, clauses: &[Filter]) -> Self {
        let sets = |facet: Facet, values: &[u32]| -> Vec<RowSet<'a>> {
            values.iter().map(|value| snapshot.facet_rows(table, facet, *value)).collect()
        };
        let rows = snapshot.rows(table);
        let mut bounds = 0..rows;
        let parts = clauses.iter().filter_map(|clause| {
            Some(match clause {
                Filter::AnyOf(facet, values) => Predicate::of(sets(*facet, values)),
                Filter::MemberOf { firms, startups } => {
                    let mut all = sets(Facet::Firm, firms);
                    all.extend(sets(Facet::Startup, startups));
                    Predicate::Sets(all)
                }
                Filter::MinHealthScore(least) => Predicate::AtLeastU8(snapshot.health_scores(), *least),
                Filter::MaxGhostingRate(most) => Predicate::AtMostU16(snapshot.ghosting_rates(), *most),
                Filter::MinReviews(least) => Predicate::AtLeastU32(snapshot.review_counts(), *least),
                Filter::CheckUsd(usd) => {
                    let (min, max) = snapshot.check_sizes();
                    Predicate::Check(min, max, *usd)
                }
                Filter::ActiveSince(date) => Predicate::AtLeastI32(snapshot.last_investments(), date.days()),
                // Latest first, rounds without a date last.
                Filter::Since(date) => {
                    let end = snapshot.round_dates().partition_point(|day| *day >= date.days());
                    bounds.end = bounds.end.min(end as u32);
                    return None;
                }
                Filter::Until(date) => {
                    let start = snapshot.round_dates().partition_point(|day| *day > date.days());
                    let known = snapshot.round_dates().partition_point(|day| *day != NONE_I32);
                    bounds.start = bounds.start.max(start as u32);
                    bounds.end = bounds.end.min(known as u32);
                    return None;
                }
                Filter::MinAmountUsd(least) => amounts_from(snapshot, *least),
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
            None => BitWords::from(self, 0).map(|(_, word)| u64::from(word.count_ones())).sum(),
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
        let words = BitWords::from(self, first as usize / 64);
        Box::new(
            words
                .flat_map(|(index, word)| Bits(word).map(move |bit| index as u32 * 64 + bit))
                .skip_while(move |row| *row < first),
        )
    }

    /// Calls `each` with every row, ascending.
    pub(crate) fn each(&self, mut each: impl FnMut(u32)) {
        match self.driver() {
            Some((index, rows)) => {
                rows.iter().filter(|row| self.contains_besides(**row, index)).for_each(|row| each(*row));
            }
            None => BitWords::from(self, 0)
                .for_each(|(index, word)| Bits(word).for_each(|bit| each(index as u32 * 64 + bit))),
        }
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
        for (index, word) in BitWords::from(self, 0) {
            let ones = u64::from(word.count_ones());
            if left < ones {
                return Bits(word).nth(left as usize).map(|bit| index as u32 * 64 + bit);
            }
            left -= ones;
        }
        None
    }

    /// How many lists are looked through to test a row.
    pub(crate) fn lists(&self) -> usize {
        let lists = self.parts.iter().map(|part| match part {
            Predicate::Sets(sets) => sets.iter().filter(|set| matches!(set, RowSet::Sparse(_))).count(),
            Predicate::Merged(_) => 1,
            _ => 0,
        });
        lists.sum()
    }

    /// The bits of all rows, 64 at a time, in order.
    pub(crate) fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let first = self.bounds.start as usize / 64;
        std::iter::repeat_n(0, first).chain(BitWords::from(self, 0).map(|(_, word)| word))
    }

    /// A bit for each row of the table.
    pub(crate) fn bits(&self) -> Vec<u64> {
        let mut bits = vec![0; (self.rows as usize).div_ceil(64)];
        match self.driver() {
            Some(_) => self.rows_from(0).for_each(|row| bits[row as usize / 64] |= 1 << (row % 64)),
            None => BitWords::from(self, 0).for_each(|(index, word)| bits[index] = word),
        }
        bits
    }

    /// A single short list, within the bounds, that holds every row of the selection, where a clause is one.
    fn driver(&self) -> Option<(usize, &[u32])> {
        let lists = self.parts.iter().enumerate().filter_map(|(index, part)| match part {
            Predicate::Sets(sets) => match sets.as_slice() {
                [] => Some((index, &[] as &[u32])),
                [RowSet::Sparse(rows)] => Some((index, *rows)),
                _ => None,
            },
            Predicate::Merged(rows) => Some((index, rows.as_slice())),
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

impl<'a> Predicate<'a> {
    /// The rows of any of `sets`.
    fn of(sets: Vec<RowSet<'a>>) -> Self {
        let mut rows = 0;
        for set in &sets {
            rows += match set {
                RowSet::Dense(_) => usize::MAX / 2,
                RowSet::Sparse(rows) => rows.len(),
            };
            if rows > MERGED {
                return Self::Sets(sets);
            }
        }
        if sets.len() < 2 {
            return Self::Sets(sets);
        }
        let mut rows: Vec<u32> = sets.iter().flat_map(|set| set.iter()).collect();
        rows.sort_unstable();
        rows.dedup();
        Self::Merged(rows)
    }

    fn contains(&self, row: u32) -> bool {
        let at = row as usize;
        match self {
            Self::Sets(sets) => sets.iter().any(|set| set.contains(row)),
            Self::Merged(rows) => rows.binary_search(&row).is_ok(),
            Self::AtLeastU8(values, least) => values.get(at).is_some_and(|v| passes_u8(*v, *least)),
            Self::AtMostU16(values, most) => values.get(at).is_some_and(|v| passes_u16(*v, *most)),
            Self::AtLeastU32(values, least) => values.get(at).is_some_and(|v| v >= least),
            Self::RankFrom(ranks, least) => ranks.get(at).is_some_and(|rank| passes_rank(*rank, *least)),
            Self::AtLeastI32(values, least) => values.get(at).is_some_and(|v| v >= least),
            Self::Check(min, max, usd) => {
                min.get(at).zip(max.get(at)).is_some_and(|(min, max)| passes_check(*min, *max, *usd))
            }
        }
    }

    /// The bits of rows `64 * index` to `64 * index + 63`; `places` remembers where the sparse lists stand.
    fn word(&self, index: usize, places: &mut [usize]) -> u64 {
        match self {
            Self::Sets(sets) => sets.iter().zip(places).fold(0, |word, (set, place)| {
                word | match set {
                    RowSet::Dense(words) => words.get(index).copied().unwrap_or(0),
                    RowSet::Sparse(rows) => list_word(rows, index, place),
                }
            }),
            Self::Merged(rows) => places.first_mut().map_or(0, |place| list_word(rows, index, place)),
            Self::AtLeastU8(values, least) => bits(chunk(values, index).iter(), |v| passes_u8(*v, *least)),
            Self::AtMostU16(values, most) => bits(chunk(values, index).iter(), |v| passes_u16(*v, *most)),
            Self::AtLeastU32(values, least) => bits(chunk(values, index).iter(), |v| v >= least),
            Self::RankFrom(ranks, least) => bits(chunk(ranks, index).iter(), |rank| passes_rank(*rank, *least)),
            Self::AtLeastI32(values, least) => bits(chunk(values, index).iter(), |v| v >= least),
            Self::Check(min, max, usd) => {
                let ranges = chunk(min, index).iter().zip(chunk(max, index));
                bits(ranges, |(min, max)| passes_check(*min, *max, *usd))
            }
        }
    }
}

/// The bits of a list for the rows `64 * index` to `64 * index + 63`, the first of which stands at `place`.
fn list_word(rows: &[u32], index: usize, place: &mut usize) -> u64 {
    let mut word = 0;
    while let Some(row) = rows.get(*place).filter(|row| **row as usize / 64 == index) {
        word |= 1 << (row % 64);
        *place += 1;
    }
    word
}

// Without branches, so that 64 rows are tested by a few vector instructions.

fn passes_u8(value: u8, least: u8) -> bool {
    (value != NONE_U8) & (value >= least)
}

fn passes_u16(value: u16, most: u16) -> bool {
    (value != NONE_U16) & (value <= most)
}

fn passes_rank(rank: u32, least: u32) -> bool {
    rank.wrapping_sub(least) < NONE_U32 - least
}

/// An unknown end of the range is open; with both unknown nothing fits.
fn passes_check(min: u64, max: u64, usd: u64) -> bool {
    let (no_min, no_max) = (min == NONE_U64, max == NONE_U64);
    !(no_min & no_max) & (no_min | (min <= usd)) & (no_max | (usd <= max))
}

/// The rounds that raised at least `least`: those of the ranks from that of the smallest such amount on.
fn amounts_from(snapshot: &Snapshot, least: u64) -> Predicate<'_> {
    const TABLE: Table = Table::Rounds;
    let Some(key) = TABLE.sort_keys().iter().position(|key| *key == "amount_usd") else {
        return Predicate::Sets(Vec::new());
    };
    let (amounts, ranks) = (snapshot.round_amounts(), snapshot.ranks(TABLE, key));
    let order = snapshot.order(TABLE, key, Direction::Ascending);
    // Unknown amounts stand last, and are the largest number.
    let first = order.partition_point(|row| amounts.get(*row as usize).is_some_and(|usd| *usd < least));
    let rank = order.get(first).and_then(|row| ranks.get(*row as usize)).filter(|rank| **rank != NONE_U32);
    rank.map_or(Predicate::Sets(Vec::new()), |rank| Predicate::RankFrom(ranks, *rank))
}

fn chunk<T>(values: &[T], index: usize) -> &[T] {
    let start = (index * 64).min(values.len());
    let end = (start + 64).min(values.len());
    &values[start..end]
}

fn bits<T>(values: impl Iterator<Item = T>, passes: impl Fn(T) -> bool) -> u64 {
    // One byte for each row first: that loop becomes vector instructions. Then eight bytes at a time become eight bits.
    let mut bytes = [0_u8; 64];
    for (byte, value) in bytes.iter_mut().zip(values) {
        *byte = u8::from(passes(value));
    }
    let (eights, _) = bytes.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |word, (place, eight)| {
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word | bits << (8 * place)
    })
}

/// The words of a selection, one after the other, with their indexes.
struct BitWords<'s, 'a> {
    selection: &'s RowFilter<'a>,
    places: Vec<Vec<usize>>,
    next: usize,
    end: usize,
}

impl<'s, 'a> BitWords<'s, 'a> {
    fn from(selection: &'s RowFilter<'a>, first: usize) -> Self {
        let bounds = &selection.bounds;
        let first = first.max(bounds.start as usize / 64);
        let place = |set: &RowSet<'_>| match set {
            RowSet::Dense(_) => 0,
            RowSet::Sparse(rows) => rows.partition_point(|row| (*row as usize) < first * 64),
        };
        let places = selection.parts.iter().map(|part| match part {
            Predicate::Sets(sets) => sets.iter().map(place).collect(),
            Predicate::Merged(rows) => vec![place(&RowSet::Sparse(rows))],
            _ => Vec::new(),
        });
        let places = places.collect();
        Self { selection, places, next: first, end: (bounds.end as usize).div_ceil(64) }
    }
}

impl Iterator for BitWords<'_, '_> {
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
