//! Texts that a spreadsheet takes for formulas: how CSV files mark them, and how an import removes the mark.
//!
//! Somebody who names a firm `=HYPERLINK(…)` must not run it in the spreadsheet of whoever opens an export. All CSV files
//! for download are written by this rule.

/// Beginnings of cells that spreadsheets calculate, or skip before they look for a formula. Some read the full-width
/// forms like the ASCII ones.
const STARTS: [&str; 11] = ["=", "+", "-", "@", "\t", "\r", "\n", "\u{ff1d}", "\u{ff0b}", "\u{ff0d}", "\u{ff20}"];

/// Mark in front of such a text. A text that already has marks gets another one, so that none is lost.
pub const MARK: u8 = b'\'';

/// Property of a file in our data packages: true if its texts have marks. The import reads it.
pub const MARKED_FORMULAS: &str = "venturedex:marked_formulas";

/// True if a text in UTF-8, after marks that it may have, begins like a formula.
pub fn begins_formula(text: &[u8]) -> bool {
    let marks = text.iter().take_while(|byte| **byte == MARK).count();
    STARTS.iter().any(|start| text[marks..].starts_with(start.as_bytes()))
}

/// Makes a text safe as a cell of a spreadsheet: one that begins like a formula gets a mark.
pub fn neutralize(mut text: String) -> String {
    if begins_formula(text.as_bytes()) {
        text.insert(0, char::from(MARK));
    }
    text
}

/// The text of a cell that [`neutralize`] has made.
pub fn restore(cell: &str) -> &str {
    cell.strip_prefix(char::from(MARK)).filter(|text| begins_formula(text.as_bytes())).unwrap_or(cell)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_begins_like_a_formula_is_marked() {
        for text in ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "\n=1", "＝1+1", "＋1", "－1", "＠x", "'=1", "''@x"] {
            assert_eq!(neutralize(text.to_owned()), format!("'{text}"));
        }
        for text in ["", "'", "x=1", "'x", "Alder & Co", "1-1", "–1"] {
            assert_eq!(neutralize(text.to_owned()), text);
            assert_eq!(restore(text), text);
        }
    }

    proptest! {
        #[test]
        fn every_text_is_restored(text in "['=+@\\-\t\r\n\u{ff1d}\u{ff0b}\u{ff0d}\u{ff20}a]{0,5}") {
            let cell = neutralize(text.clone());
            prop_assert_eq!(restore(&cell), text);
        }
    }
}
