//! The slugs that come nearest to a mistyped one, by edits.
//!
//! Slugs in order are a tree of their beginnings: one table of distances is kept along the way, and all slugs of a
//! beginning that is too far already are passed over at once. One edit is looked for among all slugs, which reads few of
//! them; two would read a good part. Those two edits away are taken from what a search finds.

use crate::data::Table;
use crate::data::fold::fold;

use crate::catalog::Catalog;

/// The longest text that is compared, in bytes.
const LONGEST: usize = 128;
/// Names found by a search whose slugs are compared.
const COMPARED: usize = 100;

impl Catalog {
    /// The slugs nearest to a mistyped slug or name, each once: those a few edits away, nearest first, then those whose
    /// names a search finds.
    #[must_use]
    pub fn nearest_slugs(&self, table: Table, text: &str, most: usize) -> Vec<String> {
        let snapshot = self.snapshot();
        let order = snapshot.by_slug(table);
        let slug_at = |place: usize| order.get(place).map_or("", |row| snapshot.slug(table, *row));
        let typed = fold(text).replace(' ', "-");
        let near = near(&typed, order.len(), slug_at).into_iter();
        let mut near: Vec<(u8, u32)> = near.filter_map(|(edits, place)| Some((edits, *order.get(place)?))).collect();
        let mut found = Vec::new();
        if near.len() < most {
            let matches = self.search(table, &text.replace('-', " "), &|_| true);
            found.extend(matches.hits.iter().map(|hit| hit.row).chain(matches.did_you_mean).take(COMPARED));
            let compared = found.iter().map(|row| (edits(&typed, snapshot.slug(table, *row)), *row));
            near.extend(compared.filter_map(|(edits, row)| Some((edits?, row))));
        }
        // Of equally near ones, those that stand first in the table are the better known.
        near.sort_unstable();
        let mut rows: Vec<u32> = Vec::with_capacity(most);
        for row in near.into_iter().map(|(_, row)| row).chain(found) {
            if rows.len() < most && !rows.contains(&row) {
                rows.push(row);
            }
        }
        rows.into_iter().map(|row| snapshot.slug(table, row).to_owned()).collect()
    }
}

/// Edits that a mistyped slug may be away, as a mistyped word of a name may.
fn most_edits(text: &str) -> u8 {
    match text.len() {
        3..=7 => 1,
        8..=LONGEST => 2,
        _ => 0,
    }
}

/// The edits from `text` to a slug, where they are few enough.
fn edits(text: &str, slug: &str) -> Option<u8> {
    let most = Some(most_edits(text)).filter(|most| *most > 0)?;
    let edits = Distances::new(text.as_bytes(), most).read(slug.as_bytes(), 0).ok();
    edits.filter(|edits| *edits <= most)
}

/// The places of the slugs that are at most one edit away from `text`, with their edits. `slug` tells the slug at each
/// of `count` places, which are in order.
fn near<'a>(text: &str, count: usize, slug: impl Fn(usize) -> &'a str) -> Vec<(u8, usize)> {
    let most = most_edits(text).min(1);
    let mut near = Vec::new();
    if most == 0 {
        return near;
    }
    let mut distances = Distances::new(text.as_bytes(), most);
    let (mut place, mut before): (usize, &[u8]) = (0, b"");
    while place < count {
        let here = slug(place).as_bytes();
        let shared = here.iter().zip(before).take_while(|(a, b)| a == b).count();
        match distances.read(here, shared) {
            Ok(edits) => {
                near.extend((edits <= most).then_some((edits, place)));
                place += 1;
            }
            Err(length) => {
                let dead = here.get(..length).unwrap_or(here);
                place = first(place, count, |place| {
                    let other = slug(place).as_bytes();
                    other.get(..length).unwrap_or(other) > dead
                });
            }
        }
        before = here;
    }
    near
}

/// The first place after `from` that `is_past`, or `end`: in steps that double, for it is often not far.
fn first(from: usize, end: usize, is_past: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut step) = (from + 1, 1);
    while low < end && !is_past(low) {
        let next = (low + step).min(end);
        if next == end || is_past(next) {
            let (mut left, mut right) = (low + 1, next);
            while left < right {
                let middle = left + (right - left) / 2;
                if is_past(middle) { right = middle } else { left = middle + 1 }
            }
            return left;
        }
        (low, step) = (next, step * 2);
    }
    low
}

/// How far each beginning of a slug is from each beginning of a text, in edits (transpositions of neighbours count one).
struct Distances<'t> {
    text: &'t [u8],
    most: u8,
    /// One row for each beginning of the slug read last, the empty one first; what is above `most` is `most + 1`.
    rows: Vec<u8>,
}

impl<'t> Distances<'t> {
    fn new(text: &'t [u8], most: u8) -> Self {
        let empty = (0..=text.len()).map(|length| u8::try_from(length).unwrap_or(u8::MAX).min(most + 1));
        Self { text, most, rows: empty.collect() }
    }

    /// Reads a slug whose first `shared` bytes are those of the slug read before: its edits, or the length of its first
    /// beginning from which the text cannot be reached any more.
    fn read(&mut self, slug: &[u8], shared: usize) -> Result<u8, usize> {
        let width = self.text.len() + 1;
        let known = shared.min(self.rows.len() / width - 1);
        self.rows.truncate((known + 1) * width);
        for length in known + 1..=slug.len() {
            if !self.push(slug, length) {
                return Err(length);
            }
        }
        Ok(self.rows.last().copied().unwrap_or(u8::MAX))
    }

    /// Makes the row of the slug's first `length` bytes; false where no slug that begins so is near enough.
    fn push(&mut self, slug: &[u8], length: usize) -> bool {
        let (width, far, reach) = (self.text.len() + 1, self.most + 1, usize::from(self.most));
        let start = self.rows.len();
        self.rows.resize(start + width, far);
        let (above, row) = self.rows.split_at_mut(start);
        let last = &above[start - width..];
        row[0] = u8::try_from(length).unwrap_or(u8::MAX).min(far);
        let mut least = row[0];
        // Lengths that differ by more than the edits allowed are out of reach.
        for at in length.saturating_sub(reach).max(1)..=(length + reach).min(self.text.len()) {
            let (byte, other) = (slug[length - 1], self.text[at - 1]);
            let mut edits = (last[at - 1] + u8::from(byte != other)).min(last[at] + 1).min(row[at - 1] + 1);
            if length > 1 && at > 1 && byte == self.text[at - 2] && slug[length - 2] == other {
                edits = edits.min(above[start - 2 * width + at - 2] + 1);
            }
            row[at] = edits.min(far);
            least = least.min(row[at]);
        }
        least <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The textbook table of optimal string alignment, for comparison.
    fn table(left: &[u8], right: &[u8]) -> usize {
        let mut table = vec![vec![0; right.len() + 1]; left.len() + 1];
        for i in 0..=left.len() {
            for j in 0..=right.len() {
                table[i][j] = match (i, j) {
                    (0, _) => j,
                    (_, 0) => i,
                    _ => {
                        let changed = table[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
                        let mut best = changed.min(table[i - 1][j] + 1).min(table[i][j - 1] + 1);
                        if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                            best = best.min(table[i - 2][j - 2] + 1);
                        }
                        best
                    }
                };
            }
        }
        table[left.len()][right.len()]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn all_slugs_within_reach_are_found_and_no_other(
            mut slugs in proptest::collection::vec("[a-c-]{1,11}", 0..60),
            text in "[a-c-]{0,11}",
        ) {
            slugs.sort();
            slugs.dedup();
            let far = |slug: &String| table(slug.as_bytes(), text.as_bytes());
            let most = usize::from(most_edits(&text));
            let within = |most: usize| {
                let all = slugs.iter().enumerate().map(|(place, slug)| (far(slug), place));
                let near = all.filter(|(edits, _)| most > 0 && *edits <= most);
                near.map(|(edits, place)| (edits as u8, place)).collect::<Vec<_>>()
            };
            prop_assert_eq!(near(&text, slugs.len(), |place| &slugs[place]), within(most.min(1)));
            let compared = slugs.iter().enumerate().filter_map(|(place, slug)| Some((edits(&text, slug)?, place)));
            prop_assert_eq!(compared.collect::<Vec<_>>(), within(most));
        }
    }

    #[test]
    fn few_slugs_are_read() {
        // Names of six letters, scattered.
        let letters = |number: u32| (0..6).map(move |place| char::from(b'a' + (number / 26_u32.pow(place) % 26) as u8));
        let names = (0..100_000_u32).map(|number| letters(number.wrapping_mul(2_654_435_761)).collect::<String>());
        let mut slugs: Vec<String> = names.map(|name| name + "-capital").collect();
        slugs.sort();
        let read = std::cell::Cell::new(0);
        let typed = slugs[40_000].replace("capital", "captial");
        let found = near(&typed, slugs.len(), |place| {
            read.set(read.get() + 1);
            &slugs[place]
        });
        assert!(found.contains(&(1, 40_000)), "{typed}: {found:?}");
        assert!(read.get() < slugs.len() / 4, "{}", read.get());
    }

    #[test]
    fn a_text_too_long_or_too_short_is_near_to_nothing() {
        for text in ["", "ab", &"a".repeat(LONGEST + 1)] {
            assert_eq!((near(text, 1, |_| text), edits(text, text)), (Vec::new(), None));
        }
    }
}
