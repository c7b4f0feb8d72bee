//! Edit distance, bit-parallel: one pass gives the distance to a whole text and to its nearest prefix.
//!
//! Hyyrö's form of Myers' algorithm for optimal string alignment (insert, delete, substitute, transpose neighbours). A
//! pattern of up to 64 symbols is one machine word; folded text has 36 symbols, so that its table fits in five lines of
//! cache. The prefix distance is why this is not a crate's.

/// The longest pattern, in symbols; longer ones are compared by their first so many.
pub(crate) const LONGEST: usize = 64;

/// A folded text to compare others with.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    places: [u64; 37],
    length: u32,
}

/// What a text is from a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Edits {
    /// Edits from the pattern to the whole text.
    pub whole: u32,
    /// Edits from the pattern to the prefix of the text that is nearest to it.
    pub prefix: u32,
}

/// The place of a folded letter or digit in a table; everything else shares the last.
fn place(byte: u8) -> usize {
    match byte {
        b'a'..=b'z' => usize::from(byte - b'a'),
        b'0'..=b'9' => usize::from(byte - b'0') + 26,
        _ => 36,
    }
}

impl Pattern {
    /// A pattern of the first [`LONGEST`] letters and digits of a folded text.
    pub fn new(text: &[u8]) -> Self {
        let mut places = [0; 37];
        let mut length = 0;
        for &byte in text.iter().take(LONGEST) {
            if let Some(set) = places.get_mut(place(byte)) {
                *set |= 1 << length;
            }
            length += 1;
        }
        Self { places, length }
    }

    /// Number of symbols compared.
    pub fn len(&self) -> u32 {
        self.length
    }

    /// Compares the first [`LONGEST`] letters and digits of a folded text.
    pub fn edits(&self, text: &[u8]) -> Edits {
        let Some(last) = self.length.checked_sub(1) else {
            return Edits { whole: u32::try_from(text.len().min(LONGEST)).unwrap_or(u32::MAX), prefix: 0 };
        };
        let mut up = u64::MAX;
        let mut down = 0_u64;
        let mut diagonal = 0_u64;
        let mut before = 0_u64;
        let mut whole = self.length;
        let mut prefix = whole;
        for &byte in text.iter().take(LONGEST) {
            let here = self.places.get(place(byte)).copied().unwrap_or(0);
            let swapped = ((!diagonal & here) << 1) & before;
            diagonal = (((here & up).wrapping_add(up)) ^ up) | here | down | swapped;
            let right = down | !(diagonal | up);
            let left = diagonal & up;
            whole += u32::try_from((right >> last) & 1).unwrap_or(0);
            whole -= u32::try_from((left >> last) & 1).unwrap_or(0);
            let right = (right << 1) | 1;
            up = (left << 1) | !(diagonal | right);
            down = right & diagonal;
            before = here;
            prefix = prefix.min(whole);
        }
        Edits { whole, prefix }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The textbook table, for comparison.
    fn table(left: &[u8], right: &[u8]) -> Vec<usize> {
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
        rows.pop().unwrap_or_default()
    }

    proptest! {
        #[test]
        fn edits_are_those_of_the_textbook(left in "[a-c0]{0,12}", right in "[a-c0]{0,12}") {
            let edits = Pattern::new(left.as_bytes()).edits(right.as_bytes());
            let row = table(left.as_bytes(), right.as_bytes());
            prop_assert_eq!(edits.whole as usize, row[right.len()]);
            prop_assert_eq!(edits.prefix as usize, *row.iter().min().unwrap());
        }
    }

    #[test]
    fn a_long_text_is_compared_by_its_beginning() {
        let long = "a".repeat(500);
        assert_eq!(Pattern::new(long.as_bytes()).edits(long.as_bytes()), Edits { whole: 0, prefix: 0 });
    }
}
