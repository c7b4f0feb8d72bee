//! Facets: for each value of a property the rows that have it.
//!
//! A value that at least one row in 32 has is stored as a bitset, any other as a sorted list: whichever is smaller.

use std::io;

use crate::data::ArchiveError;
use crate::data::archive::{Archive, Column, Writer, bounds};

/// True if `count` of `rows` rows are stored as a bitset.
fn is_dense(count: u32, rows: u32) -> bool {
    u64::from(count) * 32 >= u64::from(rows)
}

fn words(count: u32, rows: u32) -> usize {
    if is_dense(count, rows) { bit_words(rows) } else { (count as usize).div_ceil(2) }
}

/// The number of words with a bit for each row.
pub(crate) fn bit_words(rows: u32) -> usize {
    (rows as usize).div_ceil(64)
}

/// Writes a facet: `each` calls back with every (value, row), in ascending order of rows, without duplicates.
pub(crate) fn write(
    writer: &mut Writer<'_>,
    name: &str,
    values: usize,
    rows: usize,
    each: impl Fn(&mut dyn FnMut(u32, u32)),
) -> io::Result<()> {
    let rows = rows as u32;
    let mut counts = vec![0_u32; values];
    each(&mut |value, _| counts[value as usize] += 1);
    let mut starts = Vec::with_capacity(values + 1);
    let mut start = 0_u64;
    for count in &counts {
        starts.push(start);
        start += words(*count, rows) as u64;
    }
    starts.push(start);
    let mut sets = vec![0_u64; start as usize];
    let mut filled = vec![0_u32; values];
    let mut known = vec![0_u64; bit_words(rows)];
    each(&mut |value, row| {
        known[row as usize / 64] |= 1 << (row % 64);
        let value = value as usize;
        let set = &mut sets[starts[value] as usize..starts[value + 1] as usize];
        if is_dense(counts[value], rows) {
            set[row as usize / 64] |= 1 << (row % 64);
        } else {
            let index = filled[value];
            set[index as usize / 2] |= u64::from(row) << (32 * (index % 2));
            filled[value] += 1;
        }
    });
    writer.section(&format!("{name}.counts"), &counts)?;
    writer.section(&format!("{name}.starts"), &starts)?;
    writer.section(&format!("{name}.known"), &known)?;
    writer.section(&format!("{name}.sets"), &sets)
}

#[derive(Debug)]
pub(crate) struct FacetColumn {
    counts: Column<u32>,
    starts: Column<u64>,
    sets: Column<u64>,
    known: Column<u64>,
    /// Number of rows that have a value.
    known_count: u32,
    values: usize,
}

/// The rows that have one value.
#[derive(Clone, Copy, Debug)]
pub enum RowSet<'a> {
    /// Bit `n % 64` of word `n / 64` is set for row `n`.
    Dense(&'a [u64]),
    /// The rows in ascending order.
    Sparse(&'a [u32]),
}

impl RowSet<'static> {
    pub const EMPTY: Self = Self::Sparse(&[]);
}

impl<'a> RowSet<'a> {
    pub fn contains(self, row: u32) -> bool {
        match self {
            Self::Dense(words) => words.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1),
            Self::Sparse(rows) => rows.binary_search(&row).is_ok(),
        }
    }

    /// The number of rows.
    pub fn count(self) -> u64 {
        match self {
            Self::Dense(words) => words.iter().map(|word| u64::from(word.count_ones())).sum(),
            Self::Sparse(rows) => rows.len() as u64,
        }
    }

    pub fn iter(self) -> impl Iterator<Item = u32> + 'a {
        let (words, rows): (&[u64], &[u32]) = match self {
            Self::Dense(words) => (words, &[]),
            Self::Sparse(rows) => (&[], rows),
        };
        let from_words =
            words.iter().enumerate().flat_map(|(index, word)| Bits(*word).map(move |bit| index as u32 * 64 + bit));
        from_words.chain(rows.iter().copied())
    }
}

/// The set bits of a word, lowest first.
#[derive(Clone, Copy, Debug)]
pub struct Bits(pub u64);

impl Iterator for Bits {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        if self.0 == 0 {
            return None;
        }
        let bit = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(bit)
    }
}

impl FacetColumn {
    pub(crate) fn open(archive: &Archive, name: &str, values: usize, rows: u32) -> Result<Self, ArchiveError> {
        let counts = archive.column(&format!("{name}.counts"), values)?;
        let starts = archive.column(&format!("{name}.starts"), values + 1)?;
        let sets = archive.open_column(&format!("{name}.sets"))?;
        let known: Column<u64> = archive.column(&format!("{name}.known"), bit_words(rows))?;
        let known_count = RowSet::Dense(archive.get(&known)).count() as u32;
        let column = Self { counts, starts, sets, known, known_count, values };
        let mut expected = 0_u64;
        let (all_counts, all_starts) = (archive.get(&column.counts), archive.get(&column.starts));
        for (count, start) in all_counts.iter().zip(all_starts) {
            if *start != expected || *count > rows {
                return Err(ArchiveError::Damaged(format!("section {name}.starts")));
            }
            expected += words(*count, rows) as u64;
        }
        if all_starts.last() != Some(&expected) || archive.get(&column.sets).len() as u64 != expected {
            return Err(ArchiveError::Damaged(format!("section {name}.sets")));
        }
        Ok(column)
    }

    pub(crate) fn values(&self) -> usize {
        self.values
    }

    /// The number of rows that have `value`; 0 for a value that the snapshot does not have.
    pub(crate) fn count(&self, archive: &Archive, value: u32) -> u32 {
        archive.get(&self.counts).get(value as usize).copied().unwrap_or(0)
    }

    pub(crate) fn known_count(&self) -> u32 {
        self.known_count
    }

    /// A bit for each row that has a value.
    pub(crate) fn known<'a>(&self, archive: &'a Archive) -> &'a [u64] {
        archive.get(&self.known)
    }

    /// The rows that have `value`; empty for a value that the snapshot does not have.
    pub(crate) fn rows<'a>(&self, archive: &'a Archive, value: u32, rows: u32) -> RowSet<'a> {
        if value as usize >= self.values {
            return RowSet::EMPTY;
        }
        let set = &archive.get(&self.sets)[bounds(archive.get(&self.starts), value as usize)];
        let count = self.count(archive, value);
        if is_dense(count, rows) {
            RowSet::Dense(set)
        } else {
            let list: &[u32] = bytemuck::cast_slice(set);
            RowSet::Sparse(&list[..count as usize])
        }
    }
}
