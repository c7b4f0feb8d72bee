//! Initials with dots: `N.E.A.` is `NEA.`.

use std::borrow::Cow;

/// Removes the dots between single letters: `U.S. Venture` is `US. Venture`.
pub fn join_initials(text: &str) -> Cow<'_, str> {
    if !text.contains('.') {
        return Cow::Borrowed(text);
    }
    let mut joined = String::with_capacity(text.len());
    let mut rest = text;
    let mut is_word_start = true;
    while let Some(first) = rest.chars().next() {
        let letters = if is_word_start { initials(rest) } else { 0 };
        if letters > 1 {
            let mut read = rest.chars();
            joined.extend(read.by_ref().filter(|char| *char != '.').take(letters));
            rest = read.as_str();
            is_word_start = false;
        } else {
            joined.push(first);
            rest = &rest[first.len_utf8()..];
            is_word_start = !first.is_alphanumeric();
        }
    }
    Cow::Owned(joined)
}

/// The number of single letters with dots between them at the beginning of a text.
fn initials(text: &str) -> usize {
    let mut chars = text.chars();
    let mut letters = 0;
    while chars.next().is_some_and(char::is_alphabetic) {
        let rest = chars.clone().next();
        if rest == Some('.') {
            chars.next();
            letters += 1;
        } else {
            return letters + usize::from(!rest.is_some_and(char::is_alphanumeric));
        }
    }
    letters
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dots_between_initials_are_removed() {
        for (text, joined) in [
            ("N.E.A.", "NEA."),
            ("U.S. Venture Partners", "US. Venture Partners"),
            ("J.P.Morgan", "JP.Morgan"),
            ("the E.U", "the EU"),
            ("É.L.F. Beauty", "ÉLF. Beauty"),
            ("A.T.&T.", "AT.&T."),
        ] {
            assert_eq!(join_initials(text), joined);
        }
        for text in
            ["Robert J. Smith", "e.ventures", "Booking.com", "St. Jude", "No. 5.", "v2.0", "J. R. Smith", "...", ""]
        {
            assert_eq!(join_initials(text), text);
        }
    }

    proptest! {
        #[test]
        fn joining_initials_removes_dots_only(text in "[a-cA.& é0]{0,12}") {
            let joined = join_initials(&text);
            prop_assert_eq!(joined.replace('.', ""), text.replace('.', ""));
            prop_assert_eq!(join_initials(&joined), &*joined);
        }
    }
}
