//! Lists in the order of keys. The order of each over the full table is computed when the snapshot is compiled. A page
//! scans that of the first key and tests the rows; those that share a value are ordered by the next key, or sorted if
//! few. A scan that finds few rows gives up after a budget of tests and continues with bits, 64 rows at a time.

pub(crate) mod keys;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::ops::Range;

use data::NONE_U32;
use data::archive::facet_column::{Bits, RowSet};

use crate::{ListPosition, RowFilter};

use crate::sort::keys::{OrderKey, OrderKeys};

/// Rows tested one by one before the matching rows are converted into bits; fewer if a test searches lists.
const TEST_BUDGET: u64 = 2_048;

/// Cost of finding a row in a list, in tests of a bit.
const LIST_LOOKUP_COST: u64 = 12;

/// Cost of collecting and sorting a row, in tests of a row.
const COLLECT_COST: u64 = 12;

/// Cost of rejecting a row that is not among the best.
const REJECT_COST: u64 = 2;

/// Maximum number of rows before an early page.
const EARLY: u64 = 2_048;

pub(crate) struct SortedRows<'a> {
    keys: &'a OrderKeys<'a>,
    row_filter: &'a RowFilter<'a>,
    total: u64,
    limit: usize,
    budget: u64,
}

impl<'a> SortedRows<'a> {
    /// The `total` rows of a filter, at least one, in the order of `keys`.
    pub(crate) fn new(keys: &'a OrderKeys<'a>, row_filter: &'a RowFilter<'a>, total: u64, limit: usize) -> Self {
        let budget = TEST_BUDGET / (1 + LIST_LOOKUP_COST * row_filter.lists() as u64);
        Self { keys, row_filter, total, limit, budget }
    }

    /// One page; the returned position is its last row.
    pub(crate) fn page(&self, start: ListPosition) -> (Vec<u32>, Option<u32>) {
        let within = Within::RowFilter(self.row_filter);
        let all = CandidateRows { depth: 0, within, expected: self.total, bits: OnceCell::new() };
        let mut page = Vec::with_capacity(self.limit.min(self.total as usize));
        self.fill(&all, start, &mut page);
        let position = page.last().copied();
        (page, position)
    }

    /// Adds members to the page, in order: those after the row of `start` or, if it has none, after `offset` others.
    fn fill(&self, members: &CandidateRows<'_>, start: ListPosition, page: &mut Vec<u32>) {
        let key = &self.keys.keys[members.depth];
        let missing = (self.limit - page.len()) as u64;
        let skip = if start.position.is_some() { 0 } else { start.offset };
        let from_here = missing + skip.min(members.expected.saturating_sub(skip));
        let steps = from_here.saturating_mul(key.order.len() as u64) / members.expected.max(1);
        let reading = match &members.within {
            Within::RowFilter(_) => key.order.len() as u64 / 64,
            Within::Group { rows, .. } => rows.len() as u64,
        };
        if reading + members.expected * COLLECT_COST < steps {
            return self.collect(members, start, page);
        }
        let initial_len = page.len();
        let last = members.depth + 1 == self.keys.keys.len();
        let mut at = match (start.position, skip) {
            // If a filter is a range of the key's values, the order has no member before it.
            (None, 0) => match members.within {
                Within::RowFilter(rows) => rows.rank_range(key.ranks).map_or(0, |range| key.start_of_range(&range)),
                Within::Group { .. } => 0,
            },
            (None, skip) => match self.locate(key, members, skip) {
                Some(index) if last => index,
                Some(index) => self.add_rest(members, index, false, page),
                None => return,
            },
            (Some(row), _) if last => {
                key.order.partition_point(|other| self.keys.compare_from(members.depth, *other, row).is_le())
            }
            (Some(row), _) => {
                let index = key.group_start(row);
                let end = key.group_end(row, index);
                self.group(members, index..end, start, page);
                end
            }
        };
        let mut budget = self.budget;
        let mut has_declined = false;
        while page.len() < self.limit {
            let index = match self.scan(members, at, &mut budget) {
                Ok(index) => index,
                Err(index) => {
                    // The members come late in this order, so testing each of them once may be cheaper.
                    let rest = (key.order.len() - index) as u64;
                    if skip < EARLY && !has_declined && reading + members.expected * REJECT_COST < rest {
                        page.truncate(initial_len);
                        members.bits(key.order.len());
                        return self.collect(members, start, page);
                    }
                    has_declined = true;
                    self.scan_bits(key, members, index)
                }
            };
            let Some(index) = index else { break };
            at = if last {
                page.push(key.order[index]);
                index + 1
            } else {
                self.add_rest(members, index, true, page)
            };
        }
    }

    /// Adds the group from the member at `index`, its first if `is_first`, and returns the end of the group.
    fn add_rest(&self, members: &CandidateRows<'_>, index: usize, is_first: bool, page: &mut Vec<u32>) -> usize {
        let key = &self.keys.keys[members.depth];
        let row = key.order[index];
        let end = key.group_end(row, index);
        let start = if is_first { index } else { key.group_start(row) };
        let before = &key.order[start..index];
        self.prepare_bits(members, before.len(), key);
        let skip = before.iter().filter(|row| members.contains(**row)).count() as u64;
        self.group(members, start..end, ListPosition::after(skip), page);
        end
    }

    /// Adds members that share a value; `range` is their range in the order of the key, and not empty.
    fn group(&self, members: &CandidateRows<'_>, range: Range<usize>, start: ListPosition, page: &mut Vec<u32>) {
        let key = &self.keys.keys[members.depth];
        let rows = &key.order[range];
        let expected = (rows.len() as u64 * members.expected / key.order.len().max(1) as u64).max(1);
        let within = Within::Group { wider: members, ranks: key.ranks, rank: key.ranks[rows[0] as usize], rows };
        let group = CandidateRows { depth: members.depth + 1, within, expected, bits: OnceCell::new() };
        if rows.len() as u64 <= self.budget {
            self.collect(&group, start, page);
        } else {
            self.fill(&group, start, page);
        }
    }

    /// Converts the members into bits if enough rows must be tested for that to pay off.
    fn prepare_bits(&self, members: &CandidateRows<'_>, tests: usize, key: &OrderKey<'_>) {
        if tests as u64 > self.budget {
            members.bits(key.order.len());
        }
    }

    /// Index in the key's order of the member after `skip` others.
    fn locate(&self, key: &OrderKey<'_>, members: &CandidateRows<'_>, skip: u64) -> Option<usize> {
        let length = key.order.len() as u64;
        if skip.saturating_mul(length) / members.expected.max(1) <= self.budget {
            let mut budget = self.budget;
            let mut find = |from: usize| {
                self.scan(members, from, &mut budget).unwrap_or_else(|index| self.scan_bits(key, members, index))
            };
            let mut index = find(0)?;
            for _ in 0..skip {
                index = find(index + 1)?;
            }
            return Some(index);
        }
        if self.row_filter.is_everything() && matches!(members.within, Within::RowFilter(_)) {
            return usize::try_from(skip).ok().filter(|index| *index < key.order.len());
        }
        let bits = members.bits(key.order.len());
        let count: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        let behind = count.checked_sub(skip + 1)?;
        // Search from the nearer end.
        let (is_far, mut left) = (skip > behind, skip.min(behind));
        let order = key.order;
        let chunks: Box<dyn Iterator<Item = &[u32]>> =
            if is_far { Box::new(order.rchunks(64)) } else { Box::new(order.chunks(64)) };
        let mut passed = 0;
        for rows in chunks {
            let mask = mask(bits, rows);
            let ones = u64::from(mask.count_ones());
            if left < ones {
                let (start, nth) =
                    if is_far { (order.len() - passed - rows.len(), ones - 1 - left) } else { (passed, left) };
                return Bits(mask).nth(nth as usize).map(|bit| start + bit as usize);
            }
            left -= ones;
            passed += rows.len();
        }
        None
    }

    /// Index of the first member from `from` on; an error has the index at which the budget ended.
    fn scan(&self, members: &CandidateRows<'_>, from: usize, budget: &mut u64) -> Result<Option<usize>, usize> {
        let key = &self.keys.keys[members.depth];
        for (index, row) in key.order.iter().enumerate().skip(from) {
            if *budget == 0 {
                return Err(index);
            }
            *budget -= 1;
            if members.contains(*row) {
                return Ok(Some(index));
            }
        }
        Ok(None)
    }

    fn scan_bits(&self, key: &OrderKey<'_>, members: &CandidateRows<'_>, from: usize) -> Option<usize> {
        let bits = members.bits(key.order.len());
        let mut masks = key.order.get(from..)?.chunks(64).enumerate().map(|(index, rows)| (index, mask(bits, rows)));
        let (index, mask) = masks.find(|(_, mask)| *mask != 0)?;
        Some(from + index * 64 + mask.trailing_zeros() as usize)
    }

    /// Estimates from a sample of the members a rank that at least `count` of those after `after` reach.
    fn rank_estimate(&self, depth: usize, bits: &[u64], count: usize, after: Option<u32>) -> u32 {
        let floor = after.map_or(0, |after| self.keys.directed_rank(depth, after));
        // Sample one row in 64, at a different bit of each word, to avoid patterns in the rows.
        let sampled = bits.iter().enumerate().map(|(index, word)| {
            let bit = index * 29 % 64;
            (word >> bit & 1 == 1).then_some((index * 64 + bit) as u32)
        });
        let ranks = sampled.flatten().map(|row| self.keys.directed_rank(depth, row));
        let mut sample: Vec<u32> = ranks.filter(|rank| *rank >= floor).collect();
        let index = count / 64 + 12;
        if index >= sample.len() {
            return NONE_U32;
        }
        *sample.select_nth_unstable(index).1
    }

    /// Tests every member once and adds those of the page.
    fn collect(&self, members: &CandidateRows<'_>, start: ListPosition, page: &mut Vec<u32>) {
        let depth = members.depth;
        let compare = |a: &u32, b: &u32| self.keys.compare_from(depth, *a, *b);
        let after = start.position;
        let skip = if after.is_some() { 0 } else { usize::try_from(start.offset).unwrap_or(usize::MAX) };
        let end = skip.saturating_add(self.limit - page.len());
        let mut best: Vec<u32> = Vec::new();
        let is_after = |row: &u32| after.is_none_or(|after| compare(row, &after).is_gt());
        match (&members.within, members.bits.get()) {
            (_, Some(bits)) => {
                // A sample estimates the worst rank on the page, so that few rows are sorted; all are if too few reach it.
                let max_rank = self.rank_estimate(depth, bits, end, after);
                let reaches = |row: &u32| self.keys.directed_rank(depth, *row) <= max_rank && is_after(row);
                RowSet::Dense(bits).iter().filter(reaches).for_each(|row| best.push(row));
                if best.len() < end && max_rank < NONE_U32 {
                    best.clear();
                    RowSet::Dense(bits).iter().filter(is_after).for_each(|row| best.push(row));
                }
            }
            (Within::RowFilter(row_filter), None) => row_filter.each(|row| {
                if is_after(&row) {
                    best.push(row);
                }
            }),
            (Within::Group { wider, rows, .. }, None) => {
                self.prepare_bits(wider, rows.len(), &self.keys.keys[0]);
                best.extend(rows.iter().copied().filter(|row| wider.contains(*row) && is_after(row)));
            }
        }
        let (skip, end) = (skip.min(best.len()), end.min(best.len()));
        if end > 0 && end < best.len() {
            best.select_nth_unstable_by(end - 1, compare);
        }
        best.truncate(end);
        if skip > 0 && skip < best.len() {
            best.select_nth_unstable_by(skip, compare);
        }
        let mut rest = best.split_off(skip);
        rest.sort_unstable_by(compare);
        page.append(&mut rest);
    }
}

/// Candidate rows: the rows of a filter, or those rows of a wider set that share a value.
struct CandidateRows<'m> {
    /// Index of the key that orders them first.
    depth: usize,
    within: Within<'m>,
    /// Approximate number of candidates.
    expected: u64,
    bits: OnceCell<Vec<u64>>,
}

enum Within<'m> {
    RowFilter(&'m RowFilter<'m>),
    Group { wider: &'m CandidateRows<'m>, ranks: &'m [u32], rank: u32, rows: &'m [u32] },
}

impl CandidateRows<'_> {
    fn contains(&self, row: u32) -> bool {
        match self.bits.get() {
            Some(bits) => bit(bits, row) == 1,
            None => match &self.within {
                Within::RowFilter(row_filter) => row_filter.contains(row),
                Within::Group { wider, ranks, rank, .. } => ranks[row as usize] == *rank && wider.contains(row),
            },
        }
    }

    fn bits(&self, rows: usize) -> &[u64] {
        self.bits.get_or_init(|| match &self.within {
            Within::RowFilter(row_filter) => row_filter.bits(),
            Within::Group { wider, rows: group, .. } => {
                let wider = wider.bits(rows);
                let mut bits = vec![0; rows.div_ceil(64)];
                group.iter().for_each(|row| bits[*row as usize / 64] |= bit(wider, *row) << (row % 64));
                bits
            }
        })
    }
}

fn bit(bits: &[u64], row: u32) -> u64 {
    bits[row as usize / 64] >> (row % 64) & 1
}

/// Mask of the rows, at most 64, that are in the set.
fn mask(bits: &[u64], rows: &[u32]) -> u64 {
    rows.iter().enumerate().fold(0, |mask, (index, row)| mask | bit(bits, *row) << index)
}
