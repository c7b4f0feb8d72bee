//! The sound of a name: its consonants, with those that are written for one another taken together.
//!
//! `Ventures`, `vanttures` and `wantures` sound alike, so do `Trifork` and `tryforc`. The key is coarse on purpose: it
//! brings candidates, and the edit distance between the names decides among them.

/// Writes the sound of a folded text to `key`, which is emptied first. Spaces are as if they were not there.
pub(crate) fn sound_into(folded: &str, key: &mut String) {
    key.clear();
    each_sound(folded, |sound| {
        key.push(char::from(sound));
        true
    });
}

/// True where a folded text has the sound `key`: told at the first sound that differs.
pub(crate) fn sounds_like(folded: &str, key: &str) -> bool {
    let mut wanted = key.bytes();
    each_sound(folded, |sound| wanted.next() == Some(sound)) && wanted.next().is_none()
}

/// Calls `heard` with each sound of a folded text until it says no; true where it never did.
fn each_sound(folded: &str, mut heard: impl FnMut(u8) -> bool) -> bool {
    let mut letters = folded.bytes().filter(|byte| *byte != b' ').peekable();
    let mut last = 0;
    let mut first = true;
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(0);
        let sound: &[u8] = match letter {
            b'a' | b'e' | b'i' | b'o' | b'u' | b'y' => {
                if first {
                    b"a"
                } else {
                    b""
                }
            }
            b'h' => b"",
            b'b' => b"b",
            b'c' if matches!(next, b'e' | b'i' | b'y') => b"s",
            b'c' if next == b'h' => b"k",
            b'c' | b'k' | b'q' => b"k",
            b'd' => b"d",
            b'p' if next == b'h' => b"f",
            b'f' => b"f",
            b'g' | b'j' => b"g",
            b'l' => b"l",
            b'm' => b"m",
            b'n' => b"n",
            b'p' => b"p",
            b'r' => b"r",
            b's' if next == b'c' => {
                // `sch` is one sound; before another letter the `c` speaks for itself.
                let mut ahead = letters.clone();
                ahead.next();
                if ahead.peek() == Some(&b'h') {
                    letters.next();
                }
                b"s"
            }
            b's' | b'z' => b"s",
            b't' => b"t",
            b'v' | b'w' => b"v",
            b'x' => b"ks",
            b'0'..=b'9' => {
                if !heard(letter) {
                    return false;
                }
                last = letter;
                first = false;
                continue;
            }
            _ => b"",
        };
        for &byte in sound {
            if byte != last {
                if !heard(byte) {
                    return false;
                }
                last = byte;
            }
        }
        first = false;
    }
    true
}

/// The sound of a folded text.
pub(crate) fn sound(folded: &str) -> String {
    let mut key = String::with_capacity(folded.len());
    sound_into(folded, &mut key);
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_sound_alike_share_their_key() {
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
            assert_eq!(sound(left), sound(right), "{left}");
            assert!(
                sounds_like(left, &sound(right)) && !sounds_like(left, "") && !sounds_like(left, &sound(right)[1..])
            );
            assert!(!sounds_like(left, &format!("{}x", sound(right))));
        }
        assert_ne!(sound("sequoia"), sound("accel"));
    }
}
