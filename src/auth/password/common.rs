//! Passwords that attackers try first: a short list of common ones, and patterns.

/// Words that make no password, even with digits and punctuation around them: `dragon12345` is found by trying the most common
/// words with the most common endings.
const WORDS: &str = include_str!("common_words.txt");

/// Common passwords that contain no word above.
const PASSWORDS: &str = include_str!("common_passwords.txt");

/// Rows of common keyboards.
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
        || WORDS.lines().any(|word| {
            word == stem(&text)
                || text.strip_prefix(word).is_some_and(is_decoration)
                || text.strip_suffix(word).is_some_and(is_decoration)
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
