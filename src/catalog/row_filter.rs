//! The rows that match all filters, tested 64 at a time. A filter on the value that sorts a table is a range of rows.

pub(crate) mod ordered_bits;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ops::{Range, RangeInclusive};

use data::archive::facet_column::{Bits, RowSet, bit_words};
use data::{Direction, Facet, NONE_U32, NONE_U64, PartialDate, Table};

use crate::groups::is_row_order;
use crate::row_filter::ordered_bits::places_of_ranks;
use crate::{Catalog, Filter, Property};

#[derive(Clone, Copy)]
pub(crate) struct RowLimits {
    /// Maximum number of rows of short lists that are merged into one.
    pub(crate) merged: usize,
    /// Cost of testing a row of a range of ranks, anywhere in the table, in tests of rows that follow each other.
    pub(crate) slice_cost: usize,
    /// Number of rows of a table from which ranges of ranks are combined from bits that are kept.
    pub(crate) combined: u32,
}

impl RowLimits {
    pub(crate) const DEFAULT: Self = Self { merged: 2_048, slice_cost: 16, combined: 1 << 16 };
}

/// The rows of a table that match all filters, computed lazily except for merged short lists.
pub struct RowFilter<'a> {
    rows: u32,
    limits: RowLimits,
    /// All matching rows are in this range.
    bounds: Range<u32>,
    predicates: Vec<Predicate<'a>>,
    /// All ranges of values among the filters, including those that became bounds.
    ranges: Vec<Ranks<'a>>,
}

enum Predicate<'a> {
    Sets(Vec<RowSet<'a>>),
    /// Given rows, or the rows of several short lists, ascending.
    Merged(Vec<u32>),
    /// A range of ranks, and its rows in rank order.
    Ranks(Ranks<'a>, OrderedRows<'a>),
    CheckRange(&'a [u64], &'a [u64], RangeInclusive<u64>),
    Not(Box<Self>),
}

#[derive(Clone)]
struct Ranks<'a> {
    of_rows: &'a [u32],
    range: Range<u32>,
}

/// A part of the ascending order of a key.
struct OrderedRows<'a> {
    catalog: &'a Catalog,
    table: Table,
    key: usize,
    rows: &'a [u32],
    /// The place of the first of these rows.
    start: usize,
    /// A bit for each row of the table, once all rows are read.
    bits: OnceCell<Vec<u64>>,
}

impl<'a> OrderedRows<'a> {
    fn new(catalog: &'a Catalog, table: Table, key: usize, places: Range<usize>) -> Self {
        let rows = &catalog.snapshot().order(table, key, Direction::Ascending)[places.clone()];
        Self { catalog, table, key, rows, start: places.start, bits: OnceCell::new() }
    }

    fn bits(&self) -> &[u64] {
        let places = self.start..self.start + self.rows.len();
        self.bits.get_or_init(|| self.catalog.bits_of_places(self.table, self.key, places))
    }
}

impl<'a> RowFilter<'a> {
    pub fn new(catalog: &'a Catalog, table: Table, filters: &[Filter]) -> Self {
        Self::with_limits(catalog, table, filters, RowLimits::DEFAULT)
    }

    pub(crate) fn with_limits(catalog: &'a Catalog, table: Table, filters: &[Filter], limits: RowLimits) -> Self {
        let mut row_filter = Self::everything(catalog.snapshot().rows(table), limits);
        filters.iter().for_each(|filter| row_filter.add(catalog, table, filter));
        row_filter.bounds.end = row_filter.bounds.end.max(row_filter.bounds.start);
        row_filter
    }

    fn everything(rows: u32, limits: RowLimits) -> Self {
        Self { rows, limits, bounds: 0..rows, predicates: Vec::new(), ranges: Vec::new() }
    }

    fn add(&mut self, catalog: &'a Catalog, table: Table, filter: &Filter) {
        let snapshot = catalog.snapshot();
        let sets = |facet: Facet, values: &[u32]| -> Vec<RowSet<'a>> {
            values.iter().map(|value| snapshot.facet_rows(table, facet, *value)).collect()
        };
        let known = |facet: Facet| Predicate::Sets(vec![snapshot.known_rows(table, facet)]);
        let predicate = match filter {
            Filter::AnyOf(facet, values) => Predicate::any_of(sets(*facet, values), self.limits.merged),
            Filter::MemberOf { firms, startups } => {
                Predicate::Sets([sets(Facet::Firm, firms), sets(Facet::Startup, startups)].concat())
            }
            Filter::Rows(rows) => Predicate::Merged(rows.clone()),
            Filter::Ranked(ranking) => Predicate::Merged(catalog.ranked(table, ranking).complete.rows().collect()),
            Filter::Not(filter) => {
                let mut inner = Self::everything(self.rows, self.limits);
                inner.add(catalog, table, filter);
                self.predicates
                    .extend(inner.predicates.into_iter().map(|predicate| Predicate::Not(Box::new(predicate))));
                match **filter {
                    Filter::AnyOf(facet, _) => known(facet),
                    _ => return,
                }
            }
            Filter::HasRound(filters) => Predicate::Merged(rows_with_round(catalog, table, filters)),
            Filter::CheckRange { min, max } => {
                let (mins, maxes) = snapshot.check_sizes();
                Predicate::CheckRange(mins, maxes, *min..=*max)
            }
            Filter::Suspect(is_suspect) => {
                let rounds = Predicate::Merged(distinct(catalog.suspect_rounds().iter().map(|(_, row)| *row)));
                if *is_suspect { rounds } else { Predicate::Not(Box::new(rounds)) }
            }
            Filter::Known(Property::Facet(facet)) => known(*facet),
            Filter::Unknown(Property::Facet(facet)) => Predicate::Not(Box::new(known(*facet))),
            Filter::Unknown(Property::Key(key)) => {
                let ranks = Ranks { of_rows: snapshot.ranks(table, *key), range: NONE_U32..NONE_U32 };
                let places = places_of_ranks(snapshot, table, *key, NONE_U32..NONE_U32);
                Predicate::Ranks(ranks, OrderedRows::new(catalog, table, *key, places))
            }
            Filter::Known(Property::Key(key)) => return self.add_range(catalog, table, *key, i64::MIN, i64::MAX),
            Filter::Range { key, min, max } => return self.add_range(catalog, table, *key, *min, *max),
        };
        self.predicates.push(predicate);
    }

    fn add_range(&mut self, catalog: &'a Catalog, table: Table, key: usize, min: i64, max: i64) {
        let snapshot = catalog.snapshot();
        let (values, of_rows) = (snapshot.values(table, key), snapshot.ranks(table, key));
        let max_merged = self.limits.merged;
        let with_rows = |range: Range<u32>| {
            let rows = OrderedRows::new(catalog, table, key, places_of_ranks(snapshot, table, key, range.clone()));
            match rows.rows.len() <= max_merged {
                true => Predicate::Merged(distinct(rows.rows.iter().copied())),
                false => Predicate::Ranks(Ranks { of_rows, range }, rows),
            }
        };
        let low = values.partition_point(|value| *value < min) as u32;
        let high = values.partition_point(|value| *value <= max) as u32;
        if table.is_date(key) && max < i64::MAX {
            // A month or year that begins on or before the last day but ends after it is outside the range.
            for period in PartialDate::unfinished(PartialDate::from_code(max as i32).first_day()) {
                if let Ok(rank) = values.binary_search(&i64::from(period.code())) {
                    let rank = rank as u32;
                    self.predicates.push(Predicate::Not(Box::new(with_rows(rank..rank + 1))));
                }
            }
        }
        let high = high.max(low);
        self.ranges.push(Ranks { of_rows, range: low..high });
        // Tables are sorted by their first key, descending, so a range of its values is a range of rows.
        if is_row_order(table, key) {
            let from = |rank: u32| of_rows.partition_point(|known| *known != NONE_U32 && *known >= rank) as u32;
            self.bounds.start = self.bounds.start.max(from(high));
            self.bounds.end = self.bounds.end.min(from(low));
        } else if (low, high as usize) != (0, values.len()) || !snapshot.rows_without(table, key).is_empty() {
            self.predicates.push(with_rows(low..high));
        }
    }

    pub fn contains(&self, row: u32) -> bool {
        self.bounds.contains(&row) && self.predicates.iter().all(|predicate| predicate.contains(row))
    }

    pub(crate) fn is_everything(&self) -> bool {
        self.predicates.is_empty() && self.bounds == (0..self.rows)
    }

    pub fn count(&self) -> u64 {
        if self.predicates.is_empty() {
            return self.bounds.len() as u64;
        }
        match self.driver() {
            Some((index, rows)) => rows.iter().filter(|row| self.contains_except(**row, index)).count() as u64,
            None => match (self.predicates.as_slice(), self.short_slice()) {
                ([Predicate::Ranks(_, rows)], _) if self.bounds == (0..self.rows) => rows.rows.len() as u64,
                (_, Some(rows)) => rows.count() as u64,
                _ => self.all_words().map(|(_, word)| u64::from(word.count_ones())).sum(),
            },
        }
    }

    /// Matching rows from `first` on, ascending.
    pub fn rows_from(&self, first: u32) -> Box<dyn Iterator<Item = u32> + '_> {
        if let Some((index, rows)) = self.driver() {
            let start = rows.partition_point(|row| *row < first);
            return Box::new(rows[start..].iter().copied().filter(move |row| self.contains_except(*row, index)));
        }
        let first = first.max(self.bounds.start);
        let words = self.words_from(first as usize / 64);
        let rows = words.flat_map(|(index, word)| Bits(word).map(move |bit| index as u32 * 64 + bit));
        Box::new(rows.skip_while(move |row| *row < first))
    }

    pub(crate) fn each(&self, mut each: impl FnMut(u32)) {
        if let Some((index, rows)) = self.driver() {
            rows.iter().filter(|row| self.contains_except(**row, index)).for_each(|row| each(*row));
        } else {
            self.all_words().for_each(|(index, word)| Bits(word).for_each(|bit| each(index as u32 * 64 + bit)));
        }
    }

    pub fn nth(&self, offset: u64) -> Option<u32> {
        let mut left = offset;
        if self.predicates.is_empty() {
            let row = u32::try_from(offset).ok().and_then(|offset| self.bounds.start.checked_add(offset));
            return row.filter(|row| *row < self.bounds.end);
        }
        if self.driver().is_some() {
            return self.rows_from(0).nth(usize::try_from(offset).ok()?);
        }
        for (index, word) in self.words_from(0) {
            let ones = u64::from(word.count_ones());
            if left < ones {
                return Bits(word).nth(left as usize).map(|bit| index as u32 * 64 + bit);
            }
            left -= ones;
        }
        None
    }

    /// All words within the bounds, with their indexes.
    fn all_words(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        if self.bounds.len() >= self.limits.combined as usize {
            self.predicates.iter().for_each(Predicate::combine);
        }
        self.words_from(0)
    }

    /// The words of 64 bits from index `first` on, but not those before the bounds, with their indexes.
    fn words_from(&self, first: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        let first = first.max(self.bounds.start as usize / 64);
        let cursors = self.predicates.iter().map(|predicate| predicate.cursors(first as u32 * 64));
        let mut cursors: Vec<Vec<usize>> = cursors.collect();
        (first..bit_words(self.bounds.end)).map(move |index| {
            let mut word = self.bounds_word(index);
            for (predicate, cursors) in self.predicates.iter().zip(&mut cursors) {
                // Sparse lists advance even if no bit is left, to keep their positions in step.
                if word != 0 || !cursors.is_empty() {
                    word &= predicate.word(index, cursors);
                }
            }
            (index, word)
        })
    }

    /// Number of lists that are searched to test a row.
    pub(crate) fn lists(&self) -> usize {
        self.predicates.iter().map(Predicate::lists).sum()
    }

    pub(crate) fn bits(&self) -> Vec<u64> {
        let mut bits = vec![0; bit_words(self.rows)];
        let set = |row: u32| bits[row as usize / 64] |= 1 << (row % 64);
        match (self.driver(), self.short_slice()) {
            (Some(_), _) => self.rows_from(0).for_each(set),
            (None, Some(rows)) => rows.for_each(set),
            _ => self.all_words().for_each(|(index, word)| bits[index] = word),
        }
        bits
    }

    /// The matching rows as an ascending list, or as a bit for each row of the table if there are more than `max`.
    pub(crate) fn list_or_bits(&self, max: usize) -> Result<Vec<u32>, Vec<u64>> {
        if self.driver().is_some_and(|(_, rows)| rows.len() <= max) {
            return Ok(self.rows_from(0).collect());
        }
        let bits = self.bits();
        let set = RowSet::Dense(&bits);
        if set.count() <= max as u64 { Ok(set.iter().collect()) } else { Err(bits) }
    }

    /// The short list that holds every matching row within the bounds, if a filter is such a list.
    fn driver(&self) -> Option<(usize, &[u32])> {
        let lists = self.predicates.iter().enumerate().filter_map(|(index, predicate)| match predicate {
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
        Some((index, &rows[start..end]))
    }

    /// The range of these ranks, if a filter is one.
    pub(crate) fn rank_range(&self, of_rows: &[u32]) -> Option<Range<u32>> {
        self.ranges.iter().find(|ranks| std::ptr::eq(ranks.of_rows, of_rows)).map(|ranks| ranks.range.clone())
    }

    /// The matching rows in any order, if a filter is a range of ranks short enough to test its rows one by one.
    fn short_slice(&self) -> Option<impl Iterator<Item = u32> + '_> {
        let slices = self.predicates.iter().enumerate().filter_map(|(index, predicate)| match predicate {
            Predicate::Ranks(_, rows) => Some((index, rows.rows)),
            _ => None,
        });
        let (index, rows) = slices.min_by_key(|(_, rows)| rows.len())?;
        let matches = move |row: &u32| self.bounds.contains(row) && self.contains_except(*row, index);
        (rows.len() < self.bounds.len() / self.limits.slice_cost).then(|| rows.iter().copied().filter(matches))
    }

    fn bounds_word(&self, index: usize) -> u64 {
        let below = |row: u32| match (row as usize).saturating_sub(index * 64) {
            rows @ 0..64 => (1_u64 << rows) - 1,
            _ => u64::MAX,
        };
        below(self.bounds.end) & !below(self.bounds.start)
    }

    fn contains_except(&self, row: u32, index: usize) -> bool {
        self.predicates.iter().enumerate().all(|(other, predicate)| other == index || predicate.contains(row))
    }
}

impl<'a> Predicate<'a> {
    /// Rows in any of `sets`; short lists of at most `max_merged` rows become one.
    fn any_of(sets: Vec<RowSet<'a>>, max_merged: usize) -> Self {
        let lengths = sets.iter().map(|set| match set {
            RowSet::Dense(_) => None,
            RowSet::Sparse(rows) => Some(rows.len()),
        });
        if sets.len() < 2 || lengths.sum::<Option<usize>>().is_none_or(|rows| rows > max_merged) {
            return Self::Sets(sets);
        }
        Self::Merged(distinct(sets.iter().flat_map(|set| set.iter())))
    }

    /// Makes bits of the rows of ranges, which all rows of the table are tested by.
    fn combine(&self) {
        match self {
            Self::Ranks(_, rows) => {
                rows.bits();
            }
            Self::Not(predicate) => predicate.combine(),
            Self::Sets(_) | Self::Merged(_) | Self::CheckRange(..) => {}
        }
    }

    fn lists(&self) -> usize {
        match self {
            Self::Sets(sets) => sets.iter().filter(|set| matches!(set, RowSet::Sparse(_))).count(),
            Self::Merged(_) => 1,
            Self::Not(predicate) => predicate.lists(),
            Self::Ranks(..) | Self::CheckRange(..) => 0,
        }
    }

    /// Positions of the first row from `first` on in the lists.
    fn cursors(&self, first: u32) -> Vec<usize> {
        let cursor = |rows: &[u32]| rows.partition_point(|row| *row < first);
        match self {
            Self::Sets(sets) => {
                let of_set = |set: &RowSet<'_>| match set {
                    RowSet::Dense(_) => 0,
                    RowSet::Sparse(rows) => cursor(rows),
                };
                sets.iter().map(of_set).collect()
            }
            Self::Merged(rows) => vec![cursor(rows)],
            Self::Not(predicate) => predicate.cursors(first),
            Self::Ranks(..) | Self::CheckRange(..) => Vec::new(),
        }
    }

    fn contains(&self, row: u32) -> bool {
        let at = row as usize;
        match self {
            Self::Sets(sets) => sets.iter().any(|set| set.contains(row)),
            Self::Merged(rows) => rows.binary_search(&row).is_ok(),
            Self::Ranks(ranks, _) => ranks.of_rows.get(at).is_some_and(|rank| passes_rank(*rank, &ranks.range)),
            Self::Not(predicate) => !predicate.contains(row),
            Self::CheckRange(mins, maxes, range) => {
                mins.get(at).zip(maxes.get(at)).is_some_and(|(min, max)| passes_check(*min, *max, range))
            }
        }
    }

    /// The bits of rows `64 * index` to `64 * index + 63`; `cursors` are the positions in the sparse lists.
    fn word(&self, index: usize, cursors: &mut [usize]) -> u64 {
        match self {
            Self::Sets(sets) => sets.iter().zip(cursors).fold(0, |word, (set, cursor)| {
                word | match set {
                    RowSet::Dense(words) => words[index],
                    RowSet::Sparse(rows) => list_word(rows, index, cursor),
                }
            }),
            Self::Merged(rows) => list_word(rows, index, &mut cursors[0]),
            Self::Ranks(ranks, rows) => match rows.bits.get() {
                Some(words) => words[index],
                None => bits(chunk(ranks.of_rows, index).iter(), |rank| passes_rank(*rank, &ranks.range)),
            },
            Self::Not(predicate) => !predicate.word(index, cursors),
            Self::CheckRange(mins, maxes, range) => {
                bits(chunk(mins, index).iter().zip(chunk(maxes, index)), |(min, max)| passes_check(*min, *max, range))
            }
        }
    }
}

/// Values in ascending order, each once.
pub(crate) fn distinct<T: Ord>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Startups with a round that matches filters, or firms that joined one, ascending.
fn rows_with_round(catalog: &Catalog, table: Table, filters: &[Filter]) -> Vec<u32> {
    let snapshot = catalog.snapshot();
    let facet = if table == Table::Firms { Facet::Investor } else { Facet::Startup };
    let of_rounds = snapshot.row_values(Table::Rounds, facet);
    let mut rows = vec![0_u64; bit_words(snapshot.rows(table))];
    RowFilter::new(catalog, Table::Rounds, filters).each(|round| {
        of_rounds.of(round).iter().for_each(|row| rows[*row as usize / 64] |= 1 << (row % 64));
    });
    RowSet::Dense(&rows).iter().collect()
}

/// Bits of a list for the rows `64 * index` to `64 * index + 63`; the first of these rows is at `cursor`.
fn list_word(rows: &[u32], index: usize, cursor: &mut usize) -> u64 {
    let mut word = 0;
    while let Some(row) = rows.get(*cursor).filter(|row| **row as usize / 64 == index) {
        word |= 1 << (row % 64);
        *cursor += 1;
    }
    word
}

// Branch-free, so that the compiler vectorizes the tests.

/// The range that begins and ends with [`NONE_U32`] is the rows without a value.
fn passes_rank(rank: u32, range: &Range<u32>) -> bool {
    (rank.wrapping_sub(range.start) < range.end.wrapping_sub(range.start))
        | ((range.start == NONE_U32) & (rank == NONE_U32))
}

/// True if a check range has an amount within `range`. An unknown bound is open; with both unknown there is no match.
fn passes_check(min: u64, max: u64, range: &RangeInclusive<u64>) -> bool {
    let (no_min, no_max) = (min == NONE_U64, max == NONE_U64);
    !(no_min & no_max) & (no_min | (min <= *range.end())) & (no_max | (*range.start() <= max))
}

fn chunk<T>(values: &[T], index: usize) -> &[T] {
    let start = (index * 64).min(values.len());
    let end = (start + 64).min(values.len());
    &values[start..end]
}

fn bits<T>(values: impl Iterator<Item = T>, passes: impl Fn(T) -> bool) -> u64 {
    // Compute one byte per row first, which the compiler vectorizes; then turn eight bytes into eight bits at a time.
    let mut bytes = [0_u8; 64];
    for (byte, value) in bytes.iter_mut().zip(values) {
        *byte = u8::from(passes(value));
    }
    let (eights, _) = bytes.as_chunks::<8>();
    eights.iter().enumerate().fold(0, |word, (index, eight)| {
        let bits = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word | bits << (8 * index)
    })
}
