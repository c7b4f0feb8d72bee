//! Phonetic keys: the consonants of a name, with those that are often confused merged: `Ventures`, `wantures`. Coarse
//! on purpose: they find candidates, and the edit distance of the names decides among them.

/// The phonetic key of a folded text. Spaces are ignored.
pub fn phonetic_key(folded: &str) -> String {
    let mut key = String::with_capacity(folded.len());
    each_sound(folded, |sound| {
        key.push(char::from(sound));
        true
    });
    key
}

/// The phonetic key of a folded query; empty if it cannot be spoken, because none of its letters is a vowel: `zzzzqq` sounds
/// like nothing.
pub(crate) fn spoken_key(folded: &str) -> String {
    let letters: Vec<u8> = folded.bytes().filter(u8::is_ascii_lowercase).collect();
    // `y` is a vowel by itself: `lynx`.
    let is_vowel = |run: &[u8]| b"aeiou".contains(&run[0]) || run == b"y";
    match letters.is_empty() || letters.chunk_by(|left, right| left == right).any(is_vowel) {
        true => phonetic_key(folded),
        false => String::new(),
    }
}

/// True if a folded text has this phonetic key; stops at the first difference.
pub(crate) fn has_phonetic_key(folded: &str, key: &str) -> bool {
    let mut expected = key.bytes();
    each_sound(folded, |sound| expected.next() == Some(sound)) && expected.next().is_none()
}

/// Calls `accept` with each sound of a folded text until it returns false; true if it never does.
fn each_sound(folded: &str, mut accept: impl FnMut(u8) -> bool) -> bool {
    let bytes = folded.as_bytes();
    let mut last = 0;
    let mut first = true;
    let mut at = 0;
    while let Some(letter) = bytes.get(at) {
        let (before, rest) = bytes.split_at(at);
        at += 1;
        if *letter == b' ' {
            continue;
        }
        let sound = match silent_letters(before, rest) {
            0 => sound(before, rest, first),
            silent => {
                at += silent - 1;
                b""
            }
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

/// The number of letters that are not heard at the beginning of `rest`, given what is before.
fn silent_letters(before: &[u8], rest: &[u8]) -> usize {
    let is_word_start = before.last().is_none_or(|byte| *byte == b' ');
    let is_word_end = rest.get(1).is_none_or(|byte| *byte == b' ');
    match rest {
        // `knight`, `gnome`, `psyche`, `write`.
        [b'k' | b'g' | b'p', b'n', ..] | [b'p', b's', ..] | [b'w', b'r', ..] if is_word_start => 1,
        // `night`, `dough`.
        [b'g', b'h', b't', ..] => 2,
        [b'g', b'h', ..] if before.ends_with(b"u") => 2,
        // The first of two, `match`, `bridge`, `bomb`.
        [b't', b't', ..] | [b't', b'c', b'h', ..] | [b'd', b'g', b'e' | b'i' | b'y', ..] => 1,
        [b'b', ..] if is_word_end && before.ends_with(b"m") => 1,
        // `kwora` sounds like `quora`.
        [b'w', ..] if before.ends_with(b"k") => 1,
        _ => 0,
    }
}

fn sound<'a>(before: &[u8], rest: &'a [u8], first: bool) -> &'a [u8] {
    let next = rest[1..].iter().copied().find(|byte| *byte != b' ').unwrap_or(0);
    let is_word_start = before.last().is_none_or(|byte| *byte == b' ');
    match rest[0] {
        b'a' | b'e' | b'i' | b'o' | b'u' | b'y' if first => b"a",
        // `sch` is one sound.
        b'c' if before.ends_with(b"s") && next == b'h' => b"",
        b'c' if matches!(next, b'e' | b'i' | b'y') => b"s",
        b'c' | b'k' | b'q' => b"k",
        b'p' if next == b'h' => b"f",
        b'g' | b'j' => b"g",
        b's' | b'z' => b"s",
        // `nation`; `venture` as `ch`.
        b't' if !first && rest.starts_with(b"tion") => b"s",
        b't' if !first && rest.starts_with(b"ture") => b"k",
        b'v' | b'w' => b"v",
        // `xiaomi`, `xerox`.
        b'x' if is_word_start => b"s",
        b'x' => b"ks",
        b'b' | b'd' | b'f' | b'l' | b'm' | b'n' | b'p' | b'r' | b't' | b'0'..=b'9' => &rest[..1],
        _ => b"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_without_a_vowel_has_no_sound() {
        for query in ["zzzzqq", "xxyyzq", "flckr", "zz 2"] {
            assert_eq!(spoken_key(query), "", "{query}");
        }
        for query in ["aksel", "lynx", "zzz ooo", "42"] {
            assert_eq!(spoken_key(query), phonetic_key(query), "{query}");
        }
    }

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
            ("kwora", "quora"),
            ("shaomi", "xiaomi"),
            ("zerox", "xerox"),
            ("fedecs", "fedex"),
            ("axel", "accel"),
            ("doenuts", "doughnuts"),
            ("jp ren", "jp wren"),
            ("nite frank", "knight frank"),
            ("brij", "bridge"),
            ("vencherz", "ventures"),
            ("stashun", "station"),
            ("pum", "pumb"),
            ("sikology", "psychology"),
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
