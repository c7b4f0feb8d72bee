//! Passwords that attackers try first: common words with decoration, leaked passwords, and patterns.

use sha2::{Digest, Sha256};

/// Words that make no password, even with digits and punctuation around them, which attackers try: `dragon12345`.
const WORDS: &str = include_str!("common_words.txt");

/// Common passwords that contain no word above and are not among the leaked ones.
const PASSWORDS: &str = include_str!("common_passwords.txt");

/// Bloom filter of 112,130 leaked passwords by `common_filter.py`, which names the sources; 1 of 8,000 others is in it.
static LEAKED: &[u8; 1 << 18] = include_bytes!("common_filter.bin");

const LEAKED_HASHES: u64 = 13;

const ROWS: [&str; 6] = ["1234567890-=", "qwertyuiop[]", "qwertzuiopü", "asdfghjkl;'", "azertyuiop", "zxcvbnm,./"];

/// A lower-case text without the digits and punctuation around it.
pub(crate) fn stem(text: &str) -> &str {
    text.trim_matches(|char: char| !char.is_alphabetic())
}

/// `text` is in lower case; its spaces are ignored.
pub(crate) fn is_common(text: &str) -> bool {
    let text: String = text.split_whitespace().collect();
    let is_decoration = |rest: &str| stem(rest).is_empty();
    PASSWORDS.lines().any(|password| password == text)
        || is_leaked(&text)
        || WORDS.lines().any(|word| {
            word == stem(&text)
                || text.strip_prefix(word).is_some_and(is_decoration)
                || text.strip_suffix(word).is_some_and(is_decoration)
        })
}

/// `text` is in lower case and without spaces.
fn is_leaked(text: &str) -> bool {
    let digest = Sha256::digest(text);
    let word = |start: usize| u64::from_le_bytes(digest[start..start + 8].try_into().expect("8 bytes"));
    let (first, step) = (word(0), word(8));
    (0..LEAKED_HASHES).all(|number| {
        let bit = first.wrapping_add(number.wrapping_mul(step)) % (8 * LEAKED.len() as u64);
        LEAKED[(bit / 8) as usize] & 1 << (bit % 8) != 0
    })
}

/// True if `text`, in lower case, repeats at most three characters, or follows the alphabet, the digits or a row of keys.
pub(crate) fn is_pattern(text: &str) -> bool {
    let chars: Vec<char> = text.chars().collect();
    let repeats = |period: usize| chars.iter().zip(chars.iter().skip(period)).all(|(a, b)| a == b);
    let steps = |step: i64| {
        let next = |pair: &[char]| match pair {
            [a, b] => {
                i64::from(u32::from(*b)) - i64::from(u32::from(*a)) == step
                    || matches!((a, b, step), ('9', '0', 1) | ('0', '9', -1))
            }
            _ => true,
        };
        chars.windows(2).all(next)
    };
    let backwards: String = chars.iter().rev().collect();
    let on_a_row = ROWS.iter().any(|row| row.contains(text) || row.contains(&backwards));
    (1..=3).any(repeats) || steps(1) || steps(-1) || on_a_row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaked_passwords_are_common() {
        for text in ["q1w2e3r4t5", "4815162342", "123456789a", "12345qwert", "manchester", "realmadrid", "terminator"] {
            assert!(is_leaked(text) && is_common(text), "{text}");
        }
        for text in ["sevenquietherons", "glacierviolinlantern", "nineloudherons", "correcthorsebatterystable"] {
            assert!(!is_common(text), "{text}");
        }
    }

    #[test]
    fn the_filter_holds_a_hundred_thousand_passwords_and_few_others() {
        let set: u32 = LEAKED.iter().map(|byte| byte.count_ones()).sum();
        let bits = 8.0 * LEAKED.len() as f64;
        let entries = -bits / LEAKED_HASHES as f64 * (1.0 - f64::from(set) / bits).ln();
        assert!((111_000.0..113_000.0).contains(&entries), "{entries}");
        // 12 are expected.
        let wrong = (0..100_000).filter(|number| is_leaked(&format!("not a leaked password {number}"))).count();
        assert!(wrong < 40, "{wrong} of 100,000");
    }
}
