//! Lists in the order of one or more keys.
//!
//! Each key's order over the whole table is laid down when the snapshot is compiled. A page walks the first key's order
//! and tests the rows; where several rows share a value it walks the next key's order among them, or sorts them where
//! they are few. A walk that finds little is patient for a while, then turns the rows that pass into bits and goes on 64
//! rows at a time.

use std::cell::OnceCell;
use std::cmp::Ordering;

use crate::dataset::facet::Bits;
use crate::dataset::{Direction, Snapshot, Table};

use super::query::Place;
use super::selection::Selection;

/// Rows tested one by one before the rows that pass are turned into bits; fewer where a test looks through lists.
const PATIENCE: u64 = 2_048;

/// What it costs to look a row up in a list, in tests of a bit.
const LOOKING_UP: u64 = 12;

/// What it costs to put a row into a list and the list in order, in tests of a row.
const GATHERING: u64 = 12;

/// The rank of a row that has no value.
const NO_RANK: u32 = u32::MAX;

/// One key of an order.
pub(super) struct Key<'a> {
    order: &'a [u32],
    ranks: &'a [u32],
    direction: Direction,
}

impl<'a> Key<'a> {
    fn rank(&self, row: u32) -> u32 {
        self.ranks.get(row as usize).copied().unwrap_or(NO_RANK)
    }

    /// Where a row's value stands in this direction; rows without a value stand last in both.
    fn standing(&self, row: u32) -> u32 {
        match (self.rank(row), self.direction) {
            (NO_RANK, _) => NO_RANK,
            (rank, Direction::Ascending) => rank,
            (rank, Direction::Descending) => NO_RANK - 1 - rank,
        }
    }

    /// Where the rows that share the value of `row` begin in the order.
    fn group_start(&self, row: u32) -> usize {
        let standing = self.standing(row);
        self.order.partition_point(|other| self.standing(*other) < standing)
    }

    /// Where they end; `from` is the place of one of them.
    fn group_end(&self, row: u32, from: usize) -> usize {
        let standing = self.standing(row);
        let within = |place: usize| self.order.get(place).is_some_and(|other| self.standing(*other) <= standing);
        let mut step = 1;
        while within(from + step) {
            step *= 2;
        }
        let (start, end) = (from + step / 2, (from + step).min(self.order.len()));
        let rest = self.order.get(start..end).unwrap_or(&[]);
        start + rest.partition_point(|other| self.standing(*other) <= standing)
    }
}

/// The keys of an order; ties go by slug.
pub(super) struct Keys<'a> {
    keys: Vec<Key<'a>>,
    slug_ranks: &'a [u32],
}

impl<'a> Keys<'a> {
    pub(super) fn of(snapshot: &'a Snapshot, table: Table, keys: &[(usize, Direction)]) -> Self {
        let key = |(key, direction): &(usize, Direction)| Key {
            order: snapshot.order(table, *key, *direction),
            ranks: snapshot.ranks(table, *key),
            direction: *direction,
        };
        Self { keys: keys.iter().map(key).collect(), slug_ranks: snapshot.slug_ranks(table) }
    }

    /// Compares two rows by the keys from the one at `depth` on.
    fn compare_from(&self, depth: usize, a: u32, b: u32) -> Ordering {
        for key in self.keys.get(depth..).unwrap_or(&[]) {
            let ordering = key.standing(a).cmp(&key.standing(b));
            if ordering.is_ne() {
                return ordering;
            }
        }
        let slug = |row: u32| self.slug_ranks.get(row as usize).copied().unwrap_or(NO_RANK);
        slug(a).cmp(&slug(b))
    }

    /// Compares two rows by all keys.
    pub(super) fn compare(&self, a: u32, b: u32) -> Ordering {
        self.compare_from(0, a, b)
    }
}

/// A list in the order of keys.
pub(super) struct Sorted<'a> {
    keys: &'a Keys<'a>,
    selection: &'a Selection<'a>,
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

/// Rows that may stand on the page: the selection, or those of a wider set that share a value.
struct Members<'m> {
    within: Within<'m>,
    /// How many there are, more or less.
    expected: u64,
    bits: OnceCell<Vec<u64>>,
}

enum Within<'m> {
    Selection(&'m Selection<'m>),
    Group { wider: &'m Members<'m>, ranks: &'m [u32], rank: u32, rows: &'m [u32] },
}

impl Members<'_> {
    fn contains(&self, row: u32) -> bool {
        match self.bits.get() {
            Some(bits) => bit(bits, row) == 1,
            None => self.passes(row),
        }
    }

    fn passes(&self, row: u32) -> bool {
        match &self.within {
            Within::Selection(selection) => selection.contains(row),
            Within::Group { wider, ranks, rank, .. } => {
                ranks.get(row as usize).is_some_and(|known| known == rank) && wider.contains(row)
            }
        }
    }

    /// A bit for each row of the table.
    fn bits(&self, rows: usize) -> &[u64] {
        self.bits.get_or_init(|| match &self.within {
            Within::Selection(selection) => selection.bits(),
            Within::Group { wider, rows: group, .. } => {
                let wider = wider.bits(rows);
                let mut bits = vec![0; rows.div_ceil(64)];
                for row in *group {
                    if let Some(word) = bits.get_mut(*row as usize / 64) {
                        *word |= bit(wider, *row) << (row % 64);
                    }
                }
                bits
            }
        })
    }
}

fn bit(bits: &[u64], row: u32) -> u64 {
    bits.get(row as usize / 64).map_or(0, |word| word >> (row % 64) & 1)
}

/// Which of at most 64 rows are in the set.
fn mask(bits: &[u64], rows: &[u32]) -> u64 {
    rows.iter().enumerate().fold(0, |mask, (place, row)| mask | bit(bits, *row) << place)
}

impl<'a> Sorted<'a> {
    /// The `total` rows of a selection in the order of `keys`, which are not none.
    pub(super) fn new(keys: &'a Keys<'a>, selection: &'a Selection<'a>, total: u64) -> Self {
        let patience = PATIENCE / (1 + LOOKING_UP * selection.lists() as u64);
        Self { keys, selection, total, patience }
    }

    /// One page; a place's position is the row that was served last.
    pub(super) fn page(&self, place: Place, limit: usize) -> (Vec<u32>, Option<u32>) {
        let all = Members { within: Within::Selection(self.selection), expected: self.total, bits: OnceCell::new() };
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
            Within::Selection(_) => key.order.len() as u64 / 64,
            Within::Group { rows, .. } => rows.len() as u64,
        };
        if reading + members.expected * GATHERING < steps {
            return self.gather(depth, members, start, limit, page);
        }
        let last = depth + 1 == self.keys.keys.len();
        let mut at = match start {
            Start::Skip(skip) => match self.locate(key, members, skip) {
                Some(place) if last => place,
                Some(place) => self.rest_of_group(depth, key, members, place, skip == 0, limit, page),
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
        while page.len() < limit
            && let Some(place) = self.next(key, members, at, &mut patience)
        {
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
            let mut place = self.next(key, members, 0, &mut patience)?;
            for _ in 0..skip {
                place = self.next(key, members, place + 1, &mut patience)?;
            }
            return Some(place);
        }
        if self.selection.is_everything() && matches!(members.within, Within::Selection(_)) {
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

    /// The place of the first member from the place `from` on.
    fn next(&self, key: &Key<'_>, members: &Members<'_>, from: usize, patience: &mut u64) -> Option<usize> {
        let rest = key.order.get(from..)?;
        let mut tested = 0;
        for row in rest.iter().take(usize::try_from(*patience).unwrap_or(usize::MAX)) {
            tested += 1;
            if members.contains(*row) {
                *patience = patience.saturating_sub(tested as u64);
                return Some(from + tested - 1);
            }
        }
        *patience = 0;
        let bits = members.bits(key.order.len());
        let mut at = from + tested;
        for rows in key.order.get(at..)?.chunks(64) {
            let mask = mask(bits, rows);
            if mask != 0 {
                return Some(at + mask.trailing_zeros() as usize);
            }
            at += rows.len();
        }
        None
    }

    /// Collects the members and sorts those of the page.
    fn gather(&self, depth: usize, members: &Members<'_>, start: Start, limit: usize, page: &mut Vec<u32>) {
        let compare = |a: &u32, b: &u32| self.keys.compare_from(depth, *a, *b);
        let mut rows: Vec<u32> = match &members.within {
            Within::Selection(selection) => selection.rows_from(0).collect(),
            Within::Group { wider, rows, .. } => {
                if let Some(key) = self.keys.keys.first() {
                    self.prepare(wider, rows.len(), key);
                }
                rows.iter().copied().filter(|row| wider.contains(*row)).collect()
            }
        };
        let skip = match start {
            Start::Skip(skip) => usize::try_from(skip).map_or(rows.len(), |skip| skip.min(rows.len())),
            Start::After(row) => {
                rows.retain(|other| compare(other, &row).is_gt());
                0
            }
        };
        if skip > 0 && skip < rows.len() {
            rows.select_nth_unstable_by(skip, compare);
        }
        let mut rest = rows.split_off(skip);
        let wanted = limit - page.len();
        if wanted > 0 && wanted < rest.len() {
            rest.select_nth_unstable_by(wanted - 1, compare);
        }
        rest.truncate(wanted);
        rest.sort_unstable_by(compare);
        page.append(&mut rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, Clause, bundled};
    use crate::dataset::Facet;

    /// All rows of a selection, collected and sorted with the keys as the only guide.
    fn naive(catalog: &Catalog, table: Table, clauses: &[Clause], order: &[(usize, Direction)]) -> Vec<u32> {
        let snapshot = catalog.snapshot();
        let selection = Selection::of(snapshot, table, clauses);
        let mut rows: Vec<u32> = (0..snapshot.rows(table)).filter(|row| selection.contains(*row)).collect();
        let value = |row: u32, key: usize, direction: Direction| match snapshot.ranks(table, key)[row as usize] {
            u32::MAX => i64::MAX,
            rank if direction == Direction::Descending => -i64::from(rank),
            rank => i64::from(rank),
        };
        rows.sort_by_key(|row| {
            let values: Vec<i64> = order.iter().map(|(key, direction)| value(*row, *key, *direction)).collect();
            (values, snapshot.slug(table, *row))
        });
        rows
    }

    #[test]
    fn every_page_of_every_order_is_that_of_a_plain_sort_however_patient_the_walk() {
        let catalog = bundled().unwrap();
        let snapshot = catalog.snapshot();
        let (up, down) = (Direction::Ascending, Direction::Descending);
        // Names differ, counts of rounds are few, money and years are sometimes unknown.
        let orders: [&[(usize, Direction)]; 7] = [
            &[(1, down)],
            &[(2, up)],
            &[(2, down), (3, up)],
            &[(3, down), (0, up)],
            &[(2, up), (4, down), (1, up)],
            &[(4, down), (2, down), (3, down)],
            &[(0, up), (1, up)],
        ];
        let frequent = |facet: Facet| {
            let values = 0..snapshot.facet_values(Table::Startups, facet);
            values.max_by_key(|value| snapshot.facet_count(Table::Startups, facet, *value)).unwrap()
        };
        let any = |facet: Facet| Clause::AnyOf(facet, vec![frequent(facet)]);
        let filters = [vec![], vec![any(Facet::Stage)], vec![any(Facet::Country), any(Facet::Status)]];
        for (clauses, order) in filters.iter().flat_map(|clauses| orders.map(|order| (clauses, order))) {
            let expected = naive(&catalog, Table::Startups, clauses, order);
            assert!(expected.len() > 50);
            let selection = Selection::of(snapshot, Table::Startups, clauses);
            let keys = Keys::of(snapshot, Table::Startups, order);
            for patience in [0, 5, 200, PATIENCE] {
                let total = expected.len() as u64;
                let sorted = Sorted { keys: &keys, selection: &selection, total, patience };
                for offset in (0..total + 20).step_by(17) {
                    let (rows, position) = sorted.page(Place::after(offset), 20);
                    let rest = expected.get(offset as usize..).unwrap_or(&[]);
                    assert_eq!(rows, rest[..rest.len().min(20)], "{clauses:?} {order:?} {patience} {offset}");
                    let next = Place { offset: offset + rows.len() as u64, position };
                    if next.offset < total {
                        let rest = &expected[next.offset as usize..];
                        assert_eq!(sorted.page(next, 7).0, rest[..rest.len().min(7)], "{order:?} {patience} {next:?}");
                    }
                }
            }
        }
    }
}
