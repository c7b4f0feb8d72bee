//! Facets: the rows of each value of a property, and the values of each row.
//!
//! The rows of a value are a bitset if at least one row in 32 has it, and a sorted list otherwise, whichever is
//! smaller. A column has each row's value, or the position of its list of values.

use std::io;
use std::slice;
use std::sync::OnceLock;

use crate::archive::table_columns::check;
use crate::archive::writer::Sections;
use crate::archive::{Archive, NumberColumn, bounds};
use crate::{ArchiveError, NONE_U32};

/// Flag in the column of values: the other bits are the position of the row's list, which begins with its length.
const LISTED: u32 = 1 << 31;

fn is_dense(count: u32, rows: u32) -> bool {
    u64::from(count) * 32 >= u64::from(rows)
}

fn words(count: u32, rows: u32) -> usize {
    if is_dense(count, rows) { bit_words(rows) } else { (count as usize).div_ceil(2) }
}

pub fn bit_words(rows: u32) -> usize {
    (rows as usize).div_ceil(64)
}

/// Adds the sections of a facet. `each` calls back with every (value, row), in ascending order of rows, without duplicates.
pub(crate) fn write(
    out: &mut Sections,
    name: &str,
    values: usize,
    rows: usize,
    each: impl Fn(&mut dyn FnMut(u32, u32)),
) -> io::Result<()> {
    let rows = rows as u32;
    let mut counts = vec![0_u32; values];
    each(&mut |value, _| counts[value as usize] += 1);
    let mut starts = vec![0_u64];
    for (value, count) in counts.iter().enumerate() {
        starts.push(starts[value] + words(*count, rows) as u64);
    }
    let mut sets = vec![0_u64; starts[values] as usize];
    let mut filled = vec![0_u32; values];
    let mut known = vec![0_u64; bit_words(rows)];
    let mut of_rows = vec![NONE_U32; rows as usize];
    let mut lists: Vec<u32> = Vec::new();
    each(&mut |value, row| {
        known[row as usize / 64] |= 1 << (row % 64);
        match &mut of_rows[row as usize] {
            none if *none == NONE_U32 => *none = value,
            first if *first & LISTED == 0 => {
                let list = LISTED | lists.len() as u32;
                lists.extend([2, *first, value]);
                *first = list;
            }
            list => {
                lists[(*list & !LISTED) as usize] += 1;
                lists.push(value);
            }
        }
        let value = value as usize;
        let set = &mut sets[bounds(&starts, value)];
        if is_dense(counts[value], rows) {
            set[row as usize / 64] |= 1 << (row % 64);
        } else {
            let index = filled[value];
            set[index as usize / 2] |= u64::from(row) << (32 * (index % 2));
            filled[value] += 1;
        }
    });
    if values.max(lists.len()) >= LISTED as usize {
        return Err(io::Error::other(format!("too many values of {name}")));
    }
    out.add(&format!("{name}.values"), &of_rows);
    out.add(&format!("{name}.lists"), &lists);
    out.add(&format!("{name}.counts"), &counts);
    out.add(&format!("{name}.starts"), &starts);
    out.add(&format!("{name}.known"), &known);
    out.add(&format!("{name}.sets"), &sets);
    Ok(())
}

pub(crate) struct FacetColumn {
    counts: NumberColumn<u32>,
    starts: NumberColumn<u64>,
    sets: NumberColumn<u64>,
    known: NumberColumn<u64>,
    of_rows: NumberColumn<u32>,
    lists: NumberColumn<u32>,
    /// Number of rows that have a value; computed on first use.
    known_count: OnceLock<u32>,
    pub values: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct RowValues<'a> {
    of_rows: &'a [u32],
    lists: &'a [u32],
}

impl<'a> RowValues<'a> {
    pub(crate) const EMPTY: Self = Self { of_rows: &[], lists: &[] };

    /// The values of a row, in any order.
    #[inline]
    pub fn of(self, row: u32) -> &'a [u32] {
        match self.of_rows.get(row as usize) {
            None | Some(&NONE_U32) => &[],
            Some(value) if value & LISTED == 0 => slice::from_ref(value),
            Some(list) => self.list(*list).expect("checked at open"),
        }
    }

    #[inline]
    fn list(self, list: u32) -> Option<&'a [u32]> {
        let (count, values) = self.lists.get((list & !LISTED) as usize..)?.split_first()?;
        values.get(..*count as usize)
    }

    fn is_valid(self, values: usize) -> bool {
        let is_value = |value: &u32| (*value as usize) < values;
        self.of_rows.iter().all(|value| {
            is_value(value)
                || *value == NONE_U32
                || (value & LISTED != 0 && self.list(*value).is_some_and(|list| list.iter().all(is_value)))
        })
    }
}

#[derive(Clone, Copy, Debug)]
pub enum RowSet<'a> {
    /// Bit `n % 64` of word `n / 64` is set for row `n`.
    Dense(&'a [u64]),
    Sparse(&'a [u32]),
}

impl RowSet<'static> {
    pub(crate) const EMPTY: Self = Self::Sparse(&[]);
}

impl<'a> RowSet<'a> {
    #[inline]
    pub fn contains(self, row: u32) -> bool {
        match self {
            Self::Dense(words) => words.get(row as usize / 64).is_some_and(|word| word >> (row % 64) & 1 == 1),
            Self::Sparse(rows) => rows.binary_search(&row).is_ok(),
        }
    }

    pub fn count(self) -> u64 {
        match self {
            Self::Dense(words) => words.iter().map(|word| u64::from(word.count_ones())).sum(),
            Self::Sparse(rows) => rows.len() as u64,
        }
    }

    fn is_valid(self, rows: u32) -> bool {
        match self {
            Self::Dense(words) => rows.is_multiple_of(64) || words.last().is_none_or(|last| last >> (rows % 64) == 0),
            Self::Sparse(list) => {
                list.windows(2).all(|pair| pair[0] < pair[1]) && list.last().is_none_or(|last| *last < rows)
            }
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
        let bit = self.0.trailing_zeros();
        self.0 &= self.0.checked_sub(1)?;
        Some(bit)
    }
}

impl FacetColumn {
    pub(crate) fn open(archive: &Archive, name: &str, values: usize, rows: u32) -> Result<Self, ArchiveError> {
        let counts = archive.column(&format!("{name}.counts"), values)?;
        let starts = archive.column(&format!("{name}.starts"), values + 1)?;
        let sets = archive.open_column(&format!("{name}.sets"))?;
        let known: NumberColumn<u64> = archive.column(&format!("{name}.known"), bit_words(rows))?;
        let of_rows = archive.column(&format!("{name}.values"), rows as usize)?;
        let lists = archive.open_column(&format!("{name}.lists"))?;
        let column = Self { counts, starts, sets, known, of_rows, lists, known_count: OnceLock::new(), values };
        check(values < LISTED as usize, &format!("{name}.values"))?;
        Ok(column)
    }

    pub(crate) fn check(&self, archive: &Archive, name: &str, rows: u32) -> Result<(), ArchiveError> {
        check(self.row_values(archive).is_valid(self.values), &format!("{name}.values"))?;
        let mut expected = 0_u64;
        let (all_counts, all_starts) = (archive.get(&self.counts), archive.get(&self.starts));
        for (count, start) in all_counts.iter().zip(all_starts) {
            if *start != expected || *count > rows {
                return Err(ArchiveError::Damaged(format!("section {name}.starts")));
            }
            expected += words(*count, rows) as u64;
        }
        if all_starts.last() != Some(&expected) || self.sets.length as u64 != expected {
            return Err(ArchiveError::Damaged(format!("section {name}.sets")));
        }
        let is_set = |value| {
            let set = self.rows(archive, value, rows);
            set.is_valid(rows) && set.count() == u64::from(self.count(archive, value))
        };
        check((0..self.values as u32).all(is_set), &format!("{name}.sets"))?;
        check(RowSet::Dense(self.known(archive)).is_valid(rows), &format!("{name}.known"))
    }

    pub(crate) fn row_values<'a>(&self, archive: &'a Archive) -> RowValues<'a> {
        RowValues { of_rows: archive.get(&self.of_rows), lists: archive.get(&self.lists) }
    }

    /// The number of rows that have `value`; 0 for a value that the snapshot does not have.
    pub(crate) fn count(&self, archive: &Archive, value: u32) -> u32 {
        archive.get(&self.counts).get(value as usize).copied().unwrap_or(0)
    }

    pub(crate) fn known_count(&self, archive: &Archive) -> u32 {
        *self.known_count.get_or_init(|| RowSet::Dense(self.known(archive)).count() as u32)
    }

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::Checksums;
    use crate::archive::{AlignedBytes, ArchiveWriter};

    fn open(values: &[u32], lists: &[u32]) -> Result<FacetColumn, ArchiveError> {
        let mut bytes = Vec::new();
        let mut writer = ArchiveWriter::new(&mut bytes).unwrap();
        writer.section("f.values", values).unwrap();
        writer.section("f.lists", lists).unwrap();
        writer.section("f.counts", &[0_u32; 2]).unwrap();
        writer.section("f.starts", &[0_u64; 3]).unwrap();
        writer.section("f.known", &[0_u64]).unwrap();
        writer.section::<u64>("f.sets", &[]).unwrap();
        writer.finish().unwrap();
        let archive = Archive::open(Arc::new(AlignedBytes::copy(&bytes)), Checksums::Verify).unwrap();
        let rows = values.len() as u32;
        let column = FacetColumn::open(&archive, "f", 2, rows)?;
        column.check(&archive, "f", rows).map(|()| column)
    }

    #[test]
    fn values_of_rows_that_do_not_exist_are_rejected() {
        assert!(open(&[0, NONE_U32, LISTED, 1], &[2, 0, 1]).is_ok());
        for (values, lists) in [
            (&[2][..], &[][..]),
            (&[LISTED], &[]),
            (&[LISTED | 3], &[2, 0, 1]),
            (&[LISTED], &[3, 0, 1]),
            (&[LISTED], &[2, 0, 2]),
            (&[LISTED | 1], &[1, 2, 0]),
            (&[NONE_U32 - 1], &[2, 0, 1]),
        ] {
            assert!(matches!(open(values, lists), Err(ArchiveError::Damaged(_))), "{values:?} {lists:?}");
        }
    }

    #[test]
    fn sets_with_other_rows_than_they_count_are_rejected() {
        let open = |list: u64, bits: u64, known: u64| {
            let mut bytes = Vec::new();
            let mut writer = ArchiveWriter::new(&mut bytes).unwrap();
            writer.section("f.values", &[NONE_U32; 40]).unwrap();
            writer.section::<u32>("f.lists", &[]).unwrap();
            writer.section("f.counts", &[1_u32, 2]).unwrap();
            writer.section("f.starts", &[0_u64, 1, 2]).unwrap();
            writer.section("f.known", &[known]).unwrap();
            writer.section("f.sets", &[list, bits]).unwrap();
            writer.finish().unwrap();
            let archive = Archive::open(Arc::new(AlignedBytes::copy(&bytes)), Checksums::Verify).unwrap();
            FacetColumn::open(&archive, "f", 2, 40)?.check(&archive, "f", 40)
        };
        let (last, after) = (1 << 39, 1 << 40);
        assert!(open(39, last | 1, last).is_ok());
        for (list, bits, known) in [(40, last | 1, 1), (39, after | 1, 1), (39, 1, 1), (39, 7, 1), (39, 3, after)] {
            assert!(matches!(open(list, bits, known), Err(ArchiveError::Damaged(_))), "{list} {bits} {known}");
        }
    }

    proptest! {
        #[test]
        fn the_values_of_rows_and_the_rows_of_values_are_the_same_pairs(
            rows in proptest::collection::vec(proptest::collection::btree_set(0_u32..40, 0..5), 0..200),
        ) {
            let mut bytes = Vec::new();
            let mut writer = ArchiveWriter::new(&mut bytes).unwrap();
            let mut sections = Sections::default();
            let each = |each: &mut dyn FnMut(u32, u32)| {
                for (row, values) in (0..).zip(&rows) {
                    values.iter().for_each(|value| each(*value, row));
                }
            };
            write(&mut sections, "f", 40, rows.len(), each).unwrap();
            writer.append(sections).unwrap();
            writer.finish().unwrap();
            let archive = Archive::open(Arc::new(AlignedBytes::copy(&bytes)), Checksums::Verify).unwrap();
            let count = rows.len() as u32;
            let column = FacetColumn::open(&archive, "f", 40, count).unwrap();
            column.check(&archive, "f", count).unwrap();
            for (row, values) in (0..).zip(&rows) {
                prop_assert!(column.row_values(&archive).of(row).iter().eq(values));
                prop_assert_eq!(column.known(&archive)[row as usize / 64] >> (row % 64) & 1 == 1, !values.is_empty());
            }
            for value in 0..40 {
                let having = (0..).zip(&rows).filter(|(_, values)| values.contains(&value)).map(|(row, _)| row);
                prop_assert!(column.rows(&archive, value, count).iter().eq(having));
            }
        }
    }
}
