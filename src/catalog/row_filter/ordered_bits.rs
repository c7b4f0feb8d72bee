//! The rows of a range of a sort key as bits. A few ranges from the start of its order are kept, so that the bits of any range
//! are the difference of two of these, except for the rows between their ends and its own.

use std::ops::Range;
use std::sync::Arc;

use data::archive::facet_column::bit_words;
use data::{Direction, NONE_U32, Snapshot, Table};
use platform::pause;

use crate::Catalog;

/// Number of ranges that are kept of a key, each with a bit for every row: two bytes a row together.
const KEPT: usize = 16;

/// Bits of the first rows in the ascending order of a key.
pub(crate) struct OrderedBits {
    /// Range `n` has the first `ends[n]` rows; the ends ascend from 0.
    ends: Vec<usize>,
    ranges: Vec<Vec<u64>>,
}

impl OrderedBits {
    /// Number of bytes for a table with so many rows.
    pub(crate) fn bytes(rows: u64) -> u64 {
        (KEPT as u64 + 1) * rows.div_ceil(8)
    }

    /// One of the ranges ends with the last of the `known` rows, which have a value.
    fn new(order: &[u32], known: usize) -> Self {
        let step = known.div_ceil(KEPT - 1).max(1);
        let ends: Vec<usize> = (0..known).step_by(step).chain([known]).collect();
        let mut bits = vec![0; bit_words(order.len() as u32)];
        let mut start = 0;
        let range = |end: &usize| {
            pause::point();
            toggle(&mut bits, &order[start..*end]);
            start = *end;
            bits.clone()
        };
        let ranges = ends.iter().map(range).collect();
        Self { ends, ranges }
    }

    /// Bits of the rows at these places of the order.
    fn bits(&self, order: &[u32], places: Range<usize>) -> Vec<u64> {
        let [start, end] = [places.start, places.end].map(|place| self.nearest(place));
        let mut bits: Vec<u64> = self.ranges[start].iter().zip(&self.ranges[end]).map(|(a, b)| a ^ b).collect();
        for (place, range) in [(places.start, start), (places.end, end)] {
            let end = self.ends[range];
            toggle(&mut bits, &order[place.min(end)..place.max(end)]);
        }
        bits
    }

    /// The range with the end that is nearest to a place.
    fn nearest(&self, place: usize) -> usize {
        let after = self.ends.partition_point(|end| *end < place).min(self.ends.len() - 1);
        let before = after.saturating_sub(1);
        if place.abs_diff(self.ends[before]) < place.abs_diff(self.ends[after]) { before } else { after }
    }
}

fn toggle(bits: &mut [u64], rows: &[u32]) {
    rows.iter().for_each(|row| bits[*row as usize / 64] ^= 1 << (row % 64));
}

/// The places of the rows with ranks in a range in the ascending order of a key. The range that begins and ends with
/// [`NONE_U32`] is the rows without a value.
pub(super) fn places_of_ranks(snapshot: &Snapshot, table: Table, key: usize, range: Range<u32>) -> Range<usize> {
    let (order, ranks) = (snapshot.order(table, key, Direction::Ascending), snapshot.ranks(table, key));
    let start_of = |rank: u32| order.partition_point(|row| ranks[*row as usize] < rank);
    let end = if range.start == NONE_U32 { order.len() } else { start_of(range.end) };
    start_of(range.start)..end
}

impl Catalog {
    /// Bits of the rows at some places of the ascending order of a key.
    pub(super) fn bits_of_places(&self, table: Table, key: usize, places: Range<usize>) -> Vec<u64> {
        let order = self.snapshot().order(table, key, Direction::Ascending);
        let known = places_of_ranks(self.snapshot(), table, key, NONE_U32..NONE_U32).start;
        let kept =
            self.cached.ordered_bits.get_or_insert_with((table, key), || Arc::new(OrderedBits::new(order, known)));
        kept.bits(order, places)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_those_of_the_rows(
            order in (1_u32..400).prop_flat_map(|rows| Just((0..rows).collect::<Vec<u32>>()).prop_shuffle()),
            places in prop::array::uniform3(any::<prop::sample::Index>()),
        ) {
            let [known, one, other] = places.map(|place| place.index(order.len() + 1));
            let kept = OrderedBits::new(&order, known);
            let places = one.min(other)..one.max(other);
            let mut expected = vec![0_u64; bit_words(order.len() as u32)];
            order[places.clone()].iter().for_each(|row| expected[*row as usize / 64] |= 1 << (row % 64));
            prop_assert_eq!(kept.bits(&order, places), expected);
        }
    }
}
