/// Maximum number of symbols compared; the rest of a pattern or text is ignored.
pub(crate) const MAX_SYMBOLS: usize = 64;

/// Symbols of folded text: letters, digits and one for everything else.
const SYMBOLS: usize = 37;

/// A folded text to compare others with: one pass gives the distances to all of a text and to its nearest prefix.
/// Hyyrö's form of Myers' bit-parallel algorithm. The pattern's positions are one machine word, and the symbol table
/// fits in five cache lines. No crate computes the prefix distance.
#[derive(Clone, Debug)]
pub(crate) struct EditPattern {
    /// For each symbol a bit for each position of the pattern.
    positions: [u64; SYMBOLS],
    length: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PatternDistance {
    pub full: u32,
    /// The distance to the prefix of the text that is nearest to the pattern.
    pub prefix: u32,
}

fn symbol(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => usize::from(byte - b'a'),
        b'0'..=b'9' => usize::from(byte - b'0') + 26,
        _ => SYMBOLS - 1,
    }
}

impl EditPattern {
    pub(crate) fn new(text: &str) -> Self {
        let mut positions = [0; SYMBOLS];
        let mut length = 0;
        for byte in text.bytes().take(MAX_SYMBOLS) {
            positions[symbol(byte)] |= 1 << length;
            length += 1;
        }
        Self { positions, length }
    }

    pub(crate) fn len(&self) -> u32 {
        self.length
    }

    pub(crate) fn distance(&self, text: &str) -> PatternDistance {
        let Some(last) = self.length.checked_sub(1) else {
            return PatternDistance { full: text.len().min(MAX_SYMBOLS) as u32, prefix: 0 };
        };
        let mut vertical_plus = u64::MAX;
        let mut vertical_minus = 0_u64;
        let mut diagonal = 0_u64;
        let mut previous = 0_u64;
        let mut full = self.length;
        let mut prefix = full;
        for byte in text.bytes().take(MAX_SYMBOLS) {
            let matches = self.positions[symbol(byte)];
            let transposed = ((!diagonal & matches) << 1) & previous;
            diagonal = (((matches & vertical_plus).wrapping_add(vertical_plus)) ^ vertical_plus)
                | matches
                | vertical_minus
                | transposed;
            let horizontal_plus = vertical_minus | !(diagonal | vertical_plus);
            let horizontal_minus = diagonal & vertical_plus;
            full += ((horizontal_plus >> last) & 1) as u32;
            full -= ((horizontal_minus >> last) & 1) as u32;
            let horizontal_plus = (horizontal_plus << 1) | 1;
            vertical_plus = (horizontal_minus << 1) | !(diagonal | horizontal_plus);
            vertical_minus = horizontal_plus & diagonal;
            previous = matches;
            prefix = prefix.min(full);
        }
        PatternDistance { full, prefix }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The textbook algorithm: the distances of `left` to each prefix of `right`.
    fn textbook_distances(left: &[u8], right: &[u8]) -> Vec<usize> {
        let mut rows = vec![vec![0; right.len() + 1]; left.len() + 1];
        for i in 0..=left.len() {
            for j in 0..=right.len() {
                rows[i][j] = if i == 0 {
                    j
                } else if j == 0 {
                    i
                } else {
                    let cost = usize::from(left[i - 1] != right[j - 1]);
                    let mut best = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
                    if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                        best = best.min(rows[i - 2][j - 2] + 1);
                    }
                    best
                };
            }
        }
        rows.pop().unwrap()
    }

    proptest! {
        #[test]
        fn distances_equal_the_textbook(left in "[a-c0]{0,12}", right in "[a-c0]{0,12}") {
            let distance = EditPattern::new(&left).distance(&right);
            let distances = textbook_distances(left.as_bytes(), right.as_bytes());
            prop_assert_eq!(distance.full as usize, distances[right.len()]);
            prop_assert_eq!(distance.prefix as usize, *distances.iter().min().unwrap());
        }
    }

    #[test]
    fn a_long_text_is_compared_by_its_first_symbols() {
        let long = "a".repeat(500);
        assert_eq!(EditPattern::new(&long).distance(&long), PatternDistance { full: 0, prefix: 0 });
    }
}
