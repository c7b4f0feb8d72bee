//! Candidate rows of a page, tested one by one, or as bits once that pays off.

use std::cell::OnceCell;

use crate::RowFilter;

/// Candidate rows: the rows of a filter, or those rows of a wider set that share a value.
pub(crate) struct CandidateRows<'m> {
    /// Index of the key that orders them first.
    pub(crate) depth: usize,
    pub(crate) within: Within<'m>,
    /// Approximate number of candidates.
    pub(crate) expected: u64,
    pub(crate) bits: OnceCell<Vec<u64>>,
}

pub(crate) enum Within<'m> {
    RowFilter(&'m RowFilter<'m>),
    Group { wider: &'m CandidateRows<'m>, ranks: &'m [u32], rank: u32, rows: &'m [u32] },
}

impl CandidateRows<'_> {
    pub(crate) fn contains(&self, row: u32) -> bool {
        match self.bits.get() {
            Some(bits) => bit(bits, row) == 1,
            None => match &self.within {
                Within::RowFilter(row_filter) => row_filter.contains(row),
                Within::Group { wider, ranks, rank, .. } => ranks[row as usize] == *rank && wider.contains(row),
            },
        }
    }

    pub(crate) fn bits(&self, rows: usize) -> &[u64] {
        self.bits.get_or_init(|| match &self.within {
            Within::RowFilter(row_filter) => row_filter.bits(),
            Within::Group { wider, rows: group, .. } => {
                let wider = wider.bits(rows);
                let mut bits = vec![0; rows.div_ceil(64)];
                for row in *group {
                    bits[*row as usize / 64] |= bit(wider, *row) << (row % 64);
                }
                bits
            }
        })
    }
}

fn bit(bits: &[u64], row: u32) -> u64 {
    bits[row as usize / 64] >> (row % 64) & 1
}

/// Mask of the rows, at most 64, that are in the set.
pub(crate) fn mask(bits: &[u64], rows: &[u32]) -> u64 {
    rows.iter().enumerate().fold(0, |mask, (index, row)| mask | bit(bits, *row) << index)
}
