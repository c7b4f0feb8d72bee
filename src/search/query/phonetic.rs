//! Phonetic keys: the consonants of a name, with those that are often confused merged.
//!
//! `Ventures`, `vanttures` and `wantures` have the same key, and so do `Trifork` and `tryforc`. The key is coarse on purpose:
//! it finds candidates, and the edit distance of the names decides among them.

use std::slice;

/// Replaces `key` by the phonetic key of a folded text. Spaces are ignored.
pub(crate) fn phonetic_key_into(folded: &str, key: &mut String) {
    key.clear();
    each_sound(folded, |sound| {
        key.push(char::from(sound));
        true
    });
}

/// True if a folded text has this phonetic key; stops at the first difference.
pub(crate) fn has_phonetic_key(folded: &str, key: &str) -> bool {
    let mut expected = key.bytes();
    each_sound(folded, |sound| expected.next() == Some(sound)) && expected.next().is_none()
}

/// Calls `accept` with each sound of a folded text until it returns false; true if it never does.
fn each_sound(folded: &str, mut accept: impl FnMut(u8) -> bool) -> bool {
    let mut letters = folded.bytes().filter(|byte| *byte != b' ').peekable();
    let mut last = 0;
    let mut first = true;
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(0);
        let sound: &[u8] = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' | b'y' if first => b"a",
            b'c' if matches!(next, b'e' | b'i' | b'y') => b"s",
            b'c' | b'k' | b'q' => b"k",
            b'p' if next == b'h' => b"f",
            b'g' | b'j' => b"g",
            b's' if next == b'c' => {
                // `sch` is one sound; before another letter the `c` is one of its own.
                let mut ahead = letters.clone();
                ahead.next();
                if ahead.peek() == Some(&b'h') {
                    letters.next();
                }
                b"s"
            }
            b's' | b'z' => b"s",
            b'v' | b'w' => b"v",
            b'x' => b"ks",
            b'b' | b'd' | b'f' | b'l' | b'm' | b'n' | b'p' | b'r' | b't' | b'0'..=b'9' => slice::from_ref(&letter),
            _ => b"",
        };
        for &byte in sound {
            if byte != last || byte.is_ascii_digit() {
                if !accept(byte) {
                    return false;
                }
                last = byte;
            }
        }
        first = false;
    }
    true
}

pub(crate) fn phonetic_key(folded: &str) -> String {
    let mut key = String::with_capacity(folded.len());
    phonetic_key_into(folded, &mut key);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_alike_have_the_same_key() {
        for (left, right) in [
            ("aroa vanttures", "aroa ventures"),
            ("radius wantures", "radius ventures"),
            ("security jrowth partnners", "security growth partners"),
            ("pakrim venture partnors", "pacrim venture partners"),
            ("tryforc", "trifork"),
            ("true phlloat", "true float"),
            ("konark scharma", "konark sharma"),
            ("te treazury", "the treasury"),
        ] {
            assert_eq!(phonetic_key(left), phonetic_key(right), "{left}");
            assert!(
                has_phonetic_key(left, &phonetic_key(right))
                    && !has_phonetic_key(left, "")
                    && !has_phonetic_key(left, &phonetic_key(right)[1..])
            );
            assert!(!has_phonetic_key(left, &format!("{}x", phonetic_key(right))));
        }
        assert_ne!(phonetic_key("sequoia"), phonetic_key("accel"));
    }
}
