//! Lists in the order of one or more keys.
//!
//! Each key's order over the whole table is laid down when the snapshot is compiled. A page walks the first key's order
//! and tests the rows; where several rows share a value it walks the next key's order among them, or sorts them where
//! they are few. A walk that finds little is patient for a while, then turns the rows that pass into bits and goes on 64
//! rows at a time.

pub mod keys;
pub mod members;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;

use crate::data::archive::facet_column::Bits;

use crate::catalog::ListPosition;
use crate::catalog::RowFilter;

use crate::catalog::sort::keys::Keys;
use crate::catalog::sort::keys::{Key, NO_RANK};
use crate::catalog::sort::members::{Members, Within, each_bit, mask};

/// Rows tested one by one before the rows that pass are turned into bits; fewer where a test looks through lists.
const PATIENCE: u64 = 2_048;

/// What it costs to look a row up in a list, in tests of a bit.
const LOOKING_UP: u64 = 12;

/// What it costs to put a row into a list and the list in order, in tests of a row.
const GATHERING: u64 = 12;

/// What it costs to see that a row is not among the best.
const PASSING_OVER: u64 = 2;

/// Most rows before a page that does not begin deep in its list.
const EARLY: u64 = 2_048;

/// A list in the order of keys.
pub(crate) struct Sorted<'a> {
    keys: &'a Keys<'a>,
    selection: &'a RowFilter<'a>,
    total: u64,
    patience: u64,
}

/// Where to begin among some rows.
#[derive(Clone, Copy)]
enum Start {
    /// After so many of them.
    Skip(u64),
    /// After this row, one of them.
    After(u32),
}

impl<'a> Sorted<'a> {
    /// The `total` rows of a selection in the order of `keys`, which are not none.
    pub(crate) fn new(keys: &'a Keys<'a>, selection: &'a RowFilter<'a>, total: u64) -> Self {
        let patience = PATIENCE / (1 + LOOKING_UP * selection.lists() as u64);
        Self { keys, selection, total, patience }
    }

    /// One page; a place's position is the row that was served last.
    pub(crate) fn page(&self, place: ListPosition, limit: usize) -> (Vec<u32>, Option<u32>) {
        let all = Members { within: Within::RowFilter(self.selection), expected: self.total, bits: OnceCell::new() };
        let start = place.position.map_or(Start::Skip(place.offset), Start::After);
        let mut page = Vec::with_capacity(limit.min(self.total as usize));
        self.fill(0, &all, start, limit, &mut page);
        let position = page.last().copied();
        (page, position)
    }

    /// Adds members to the page in the order of the keys from the one at `depth` on.
    fn fill(&self, depth: usize, members: &Members<'_>, start: Start, limit: usize, page: &mut Vec<u32>) {
        let Some(key) = self.keys.keys.get(depth) else { return };
        let wanted = (limit - page.len()) as u64;
        let from_here = match start {
            Start::Skip(skip) => wanted + skip.min(members.expected.saturating_sub(skip)),
            Start::After(_) => wanted,
        };
        let steps = from_here.saturating_mul(key.order.len() as u64) / members.expected.max(1);
        let reading = match &members.within {
            Within::RowFilter(_) => key.order.len() as u64 / 64,
            Within::Group { rows, .. } => rows.len() as u64,
        };
        if reading + members.expected * GATHERING < steps {
            return self.gather(depth, members, start, limit, page);
        }
        let begun = page.len();
        let last = depth + 1 == self.keys.keys.len();
        let mut at = match start {
            Start::Skip(0) => 0,
            Start::Skip(skip) => match self.locate(key, members, skip) {
                Some(place) if last => place,
                Some(place) => self.rest_of_group(depth, key, members, place, false, limit, page),
                None => return,
            },
            Start::After(row) if last => {
                key.order.partition_point(|other| self.keys.compare_from(depth, *other, row).is_le())
            }
            Start::After(row) => {
                let place = key.group_start(row);
                let end = key.group_end(row, place);
                self.group(depth, key, members, place..end, start, limit, page);
                end
            }
        };
        let mut patience = self.patience;
        let mut is_stubborn = false;
        while page.len() < limit {
            let place = match self.near(key, members, at, &mut patience) {
                Near::At(place) => Some(place),
                Near::None => None,
                Near::Tired(place) => {
                    // The members stand far off in this order: it may cost less to look at each of them once.
                    let rest = (key.order.len() - place) as u64;
                    let is_early = matches!(start, Start::After(_) | Start::Skip(0..EARLY));
                    if is_early && !is_stubborn && reading + members.expected * PASSING_OVER < rest {
                        page.truncate(begun);
                        members.bits(key.order.len());
                        return self.gather(depth, members, start, limit, page);
                    }
                    is_stubborn = true;
                    self.far(key, members, place)
                }
            };
            let Some(place) = place else { break };
            at = if last {
                page.extend(key.order.get(place));
                place + 1
            } else {
                self.rest_of_group(depth, key, members, place, true, limit, page)
            };
        }
    }

    /// Adds the group at `place` to the page, from the member on that stands there; answers where the group ends.
    /// `is_first`: no other member of the group stands before `place`.
    #[allow(clippy::too_many_arguments)]
    fn rest_of_group(
        &self,
        depth: usize,
        key: &Key<'_>,
        members: &Members<'_>,
        place: usize,
        is_first: bool,
        limit: usize,
        page: &mut Vec<u32>,
    ) -> usize {
        let Some(row) = key.order.get(place).copied() else { return place };
        let end = key.group_end(row, place);
        let start = if is_first { place } else { key.group_start(row) };
        let before = key.order.get(start..place).unwrap_or(&[]);
        self.prepare(members, before.len(), key);
        let skip = before.iter().filter(|row| members.contains(**row)).count() as u64;
        self.group(depth, key, members, start..end, Start::Skip(skip), limit, page);
        end
    }

    /// Adds members that share a value of the key at `depth` to the page; they stand at `places` of its order.
    #[allow(clippy::too_many_arguments)]
    fn group(
        &self,
        depth: usize,
        key: &Key<'_>,
        members: &Members<'_>,
        places: std::ops::Range<usize>,
        start: Start,
        limit: usize,
        page: &mut Vec<u32>,
    ) {
        let rows = key.order.get(places).unwrap_or(&[]);
        let Some(first) = rows.first() else { return };
        let expected = (rows.len() as u64 * members.expected / key.order.len().max(1) as u64).max(1);
        let within = Within::Group { wider: members, ranks: key.ranks, rank: key.rank(*first), rows };
        let group = Members { within, expected, bits: OnceCell::new() };
        if rows.len() as u64 <= self.patience {
            self.gather(depth + 1, &group, start, limit, page);
        } else {
            self.fill(depth + 1, &group, start, limit, page);
        }
    }

    /// Turns the members into bits where so many rows are to be tested that it pays.
    fn prepare(&self, members: &Members<'_>, tests: usize, key: &Key<'_>) {
        if tests as u64 > self.patience {
            members.bits(key.order.len());
        }
    }

    /// The place in the key's order of the member that stands after `skip` others.
    fn locate(&self, key: &Key<'_>, members: &Members<'_>, skip: u64) -> Option<usize> {
        let length = key.order.len() as u64;
        if skip.saturating_mul(length) / members.expected.max(1) <= self.patience {
            let mut patience = self.patience;
            let mut find = |from: usize| match self.near(key, members, from, &mut patience) {
                Near::At(place) => Some(place),
                Near::None => None,
                Near::Tired(place) => self.far(key, members, place),
            };
            let mut place = find(0)?;
            for _ in 0..skip {
                place = find(place + 1)?;
            }
            return Some(place);
        }
        if self.selection.is_everything() && matches!(members.within, Within::RowFilter(_)) {
            return usize::try_from(skip).ok().filter(|place| *place < key.order.len());
        }
        let bits = members.bits(key.order.len());
        let count: u64 = bits.iter().map(|word| u64::from(word.count_ones())).sum();
        let behind = count.checked_sub(skip + 1)?;
        let mut left = skip.min(behind);
        // From the end that is nearer.
        if skip <= behind {
            for (index, rows) in key.order.chunks(64).enumerate() {
                let mask = mask(bits, rows);
                let ones = u64::from(mask.count_ones());
                if left < ones {
                    return Bits(mask).nth(left as usize).map(|bit| index * 64 + bit as usize);
                }
                left -= ones;
            }
        } else {
            let mut start = key.order.len();
            for rows in key.order.rchunks(64) {
                start -= rows.len();
                let mask = mask(bits, rows);
                let ones = u64::from(mask.count_ones());
                if left < ones {
                    return Bits(mask).nth((ones - 1 - left) as usize).map(|bit| start + bit as usize);
                }
                left -= ones;
            }
        }
        None
    }

    /// The place of the first member from the place `from` on, as far as patience goes.
    fn near(&self, key: &Key<'_>, members: &Members<'_>, from: usize, patience: &mut u64) -> Near {
        let mut place = from;
        while let Some(row) = key.order.get(place) {
            if *patience == 0 {
                return Near::Tired(place);
            }
            *patience -= 1;
            if members.contains(*row) {
                return Near::At(place);
            }
            place += 1;
        }
        Near::None
    }

    /// The place of the first member from the place `from` on, by bits.
    fn far(&self, key: &Key<'_>, members: &Members<'_>, from: usize) -> Option<usize> {
        let bits = members.bits(key.order.len());
        let chunks = key.order.get(from..)?.chunks(64).enumerate();
        let mut masks = chunks.map(|(index, rows)| (index, mask(bits, rows)));
        let (index, mask) = masks.find(|(_, mask)| *mask != 0)?;
        Some(from + index * 64 + mask.trailing_zeros() as usize)
    }

    /// A standing that, going by a sample of the members, at least `wanted` of those after `after` reach.
    fn bar(&self, depth: usize, bits: &[u64], wanted: usize, after: Option<u32>) -> u32 {
        let floor = after.map_or(0, |after| self.keys.standing(depth, after));
        // One row in 64, each word another, so that no pattern in the rows is followed.
        let sampled = bits.iter().enumerate().map(|(index, word)| {
            let bit = index * 29 % 64;
            (word >> bit & 1 == 1).then_some((index * 64 + bit) as u32)
        });
        let standings = sampled.flatten().map(|row| self.keys.standing(depth, row));
        let mut sample: Vec<u32> = standings.filter(|standing| *standing >= floor).collect();
        let place = wanted / 64 + 12;
        if place >= sample.len() {
            return NO_RANK;
        }
        *sample.select_nth_unstable(place).1
    }

    /// Looks at every member once and adds those of the page.
    fn gather(&self, depth: usize, members: &Members<'_>, start: Start, limit: usize, page: &mut Vec<u32>) {
        let compare = |a: &u32, b: &u32| self.keys.compare_from(depth, *a, *b);
        let (skip, after) = match start {
            Start::Skip(skip) => (usize::try_from(skip).unwrap_or(usize::MAX), None),
            Start::After(row) => (0, Some(row)),
        };
        let end = skip.saturating_add(limit - page.len());
        let mut best: Vec<u32> = Vec::new();
        let is_after = |row: u32| after.is_none_or(|after| compare(&row, &after).is_gt());
        match (&members.within, members.bits.get()) {
            (_, Some(bits)) => {
                // A sample tells how good a row must be at least; few others are then to be put in order. Where it
                // promised too little, all of them are.
                let bar = self.bar(depth, bits, end, after);
                each_bit(bits, |row| {
                    if self.keys.standing(depth, row) <= bar && is_after(row) {
                        best.push(row);
                    }
                });
                if best.len() < end && bar < NO_RANK {
                    best.clear();
                    each_bit(bits, |row| {
                        if is_after(row) {
                            best.push(row);
                        }
                    });
                }
            }
            (Within::RowFilter(selection), None) => selection.each(|row| {
                if is_after(row) {
                    best.push(row);
                }
            }),
            (Within::Group { wider, rows, .. }, None) => {
                if let Some(key) = self.keys.keys.first() {
                    self.prepare(wider, rows.len(), key);
                }
                best.extend(rows.iter().copied().filter(|row| wider.contains(*row) && is_after(*row)));
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

/// What a patient look along an order found.
enum Near {
    /// A member stands at this place.
    At(usize),
    /// There is none to the end.
    None,
    /// Patience ended before this place.
    Tired(usize),
}
