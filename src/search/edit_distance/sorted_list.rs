use std::collections::BTreeMap;
use std::ops::Range;

use crate::edit_distance::distance_within;

/// All characters of slugs and hosts.
const ALPHABET: &[u8] = b"-.0123456789abcdefghijklmnopqrstuvwxyz";

/// Up to this many entries are compared one by one.
const FEW: usize = 8;

/// Finds the slugs at most one edit away from `text`; returns their distances and indexes. `slug` returns the slug at
/// each of `count` indexes, in sorted order. Looks up each text with one edit by binary search among the slugs that
/// share the part before the edit. These are few after the first letters, so that most of a long list is never read.
pub fn within_one_edit<'a>(
    text: &str,
    count: usize,
    slug: impl Fn(usize) -> &'a str,
) -> impl Iterator<Item = (u8, usize)> {
    let bytes = text.as_bytes();
    let at_least = |range: &Range<usize>, bound: &[u8]| first(range, |index| slug(index).as_bytes() >= bound);
    let mut found = BTreeMap::new();
    let mut range = 0..count;
    let mut position = 0;
    while range.len() > FEW && position <= bytes.len() {
        for candidate in with_edit_at(bytes, position) {
            let index = at_least(&range, &candidate);
            if index < range.end && slug(index).as_bytes() == candidate {
                found.insert(index, 1);
            }
        }
        position += 1;
        if let Some(prefix) = bytes.get(..position) {
            let start = at_least(&range, prefix);
            let end = first(&(start..range.end), |index| !slug(index).as_bytes().starts_with(prefix));
            range = start..end;
        } else {
            // All of these begin with the text; only the first can equal it.
            range.end = range.start + 1;
        }
    }
    found.extend(range.filter_map(|index| Some((index, distance_within(text, slug(index), 1)?))));
    found.into_iter().map(|(index, distance)| (distance, index))
}

/// The texts that differ from `text` by one edit that begins at `position`.
fn with_edit_at(text: &[u8], position: usize) -> Vec<Vec<u8>> {
    let (head, tail) = text.split_at(position);
    let mut texts: Vec<Vec<u8>> = ALPHABET.iter().map(|letter| [head, &[*letter], tail].concat()).collect();
    if let [current, after @ ..] = tail {
        let others = ALPHABET.iter().filter(|letter| *letter != current);
        texts.extend(others.map(|letter| [head, &[*letter], after].concat()));
        texts.push([head, after].concat());
        if let [next, after @ ..] = after
            && next != current
        {
            texts.push([head, &[*next, *current], after].concat());
        }
    }
    texts
}

/// The first index of a range for which `is_past` is true, or the end of the range. `is_past` must be monotonic.
fn first(range: &Range<usize>, is_past: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_past(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
