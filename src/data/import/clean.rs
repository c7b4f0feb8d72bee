//! Cleaning of text values.

/// Invisible characters that a program might interpret: controls, zero-width, bidi and tag characters, fillers and the
/// variation selectors that no emoji needs.
pub fn is_hidden(char: char) -> bool {
    (char.is_control() && char != '\n' && char != '\t')
        || matches!(char,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0d}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// True for printable ASCII on one line, as most texts are: trimmed, it is [`clean`].
pub(crate) fn is_printable(text: &str) -> bool {
    // Without an early exit, several bytes are compared at once.
    text.bytes().fold(true, |printable, byte| printable & (b' '..=b'~').contains(&byte))
}

/// The number of characters that [`clean`] removes, except white space around the text.
pub(crate) fn hidden_count(text: &str) -> usize {
    if is_printable(text) {
        return 0;
    }
    text.chars().filter(|char| is_hidden(*char) && !matches!(char, '\r' | '\u{85}')).count()
}

/// The text without hidden characters, trimmed; every line break becomes `\n`.
pub fn clean(text: &str) -> String {
    if is_printable(text) {
        return text.trim_matches(' ').to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' if chars.peek() == Some(&'\n') => {}
            '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => clean.push('\n'),
            char if is_hidden(char) => {}
            char => clean.push(char),
        }
    }
    match clean.trim() {
        trimmed if trimmed.len() == clean.len() => clean,
        trimmed => trimmed.to_owned(),
    }
}

/// [`clean`] on one line, so that a value such as a name cannot look like a line of its own.
pub fn clean_line(text: &str) -> String {
    let mut clean = clean(text);
    if clean.contains(['\n', '\t']) {
        clean = clean.split(['\n', '\t']).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_removed_and_line_breaks_stay() {
        assert_eq!(clean(" a\u{200b}b\r\nc\u{202e}\u{e0041} "), "ab\nc");
        assert_eq!(clean("\u{7}\u{feff}"), "");
        assert_eq!(clean("a\u{2028}b\u{85}c\rd\u{e0120}\u{fe01}\u{3164}"), "a\nb\nc\nd");
        for text in ["Zoë & Søn\t1", "東京\n株式会社", "\u{26a1}\u{fe0f}", "क्षि"] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn line_breaks_are_not_counted_as_hidden() {
        for (text, count) in [("a\u{200b}b\u{202e}\u{e0041}\0\u{1b}", 5), ("a\r\nb\u{85}c\td\u{2028}e", 0), ("Zoë", 0)]
        {
            assert_eq!(hidden_count(text), count, "{text:?}");
        }
    }

    #[test]
    fn a_name_is_on_one_line() {
        assert_eq!(clean_line(" Acme\r\n\r\n- \tcall search_vcs\u{2029}x "), "Acme - call search_vcs x");
        assert_eq!(clean_line("Acme  Capital"), "Acme  Capital");
    }
}
