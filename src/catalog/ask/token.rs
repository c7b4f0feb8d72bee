//! Splits a question into words.

use std::ops::Range;

use crate::ask::period::date_in_figures;
use crate::ask::words::{is_in, meaning_of};
use data::fold::fold;

#[derive(Clone, Debug)]
pub(crate) struct QuestionToken {
    pub(crate) place: Range<usize>,
    /// As written, without surrounding punctuation.
    pub(crate) raw: String,
    /// Folded; a number keeps its signs, in lower case: `$1.5m`, `2018-2020`, `10%`.
    pub(crate) word: String,
    /// True if it ended with `'s`.
    pub(crate) is_possessive: bool,
    /// True if a comma or the end of a sentence follows.
    pub(crate) ends_clause: bool,
}

impl QuestionToken {
    pub(crate) fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.word.as_str())
    }

    /// True if a section of the words has this one.
    pub(crate) fn is_in(&self, section: &str) -> bool {
        is_in(section, &self.word)
    }

    pub(crate) fn is_glue(&self) -> bool {
        self.is_in("glue")
    }

    pub(crate) fn is_capitalized(&self) -> bool {
        self.raw.starts_with(char::is_uppercase)
    }
}

/// Splits a text at spaces, and words also at hyphens and slashes: `Berlin-based`, `AI/ML`. Numbers keep theirs.
pub(crate) fn tokens(text: &str) -> Vec<QuestionToken> {
    let mut tokens: Vec<QuestionToken> = Vec::new();
    let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
    for part in text.split_whitespace() {
        // `US$ 20 million`: neither the country nor a word.
        let part = part.strip_prefix("US").filter(|rest| rest.starts_with('$')).unwrap_or(part);
        // `$1m - $5m`, `series A - C`
        let is_range = tokens.last().is_some_and(|last| {
            last.word.len() == 1 || last.word.starts_with(|char: char| char.is_ascii_digit() || char == '$')
        });
        // `20 %`
        if part.trim_end_matches([',', ';', '.', '?', '!', ')']) == "%"
            && let Some(last) = tokens.last_mut()
            && last.word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        {
            last.word.push('%');
            (last.place.end, last.ends_clause) = (offset(part) + 1, part.len() > 1);
            continue;
        }
        let push_sign = |tokens: &mut Vec<QuestionToken>, part: &str, sign: &str| {
            let (place, raw, word) = (offset(part)..offset(part) + part.len(), part.to_owned(), sign.to_owned());
            tokens.push(QuestionToken { place, raw, word, is_possessive: false, ends_clause: false });
        };
        // `5 M€`
        let is_unit = |unit: &&str| is_in("units before a currency", &unit.to_lowercase());
        if let Some(unit) = part.strip_suffix(is_currency).filter(is_unit)
            && let currency = &part[unit.len()..]
            && let Some(word) = meaning_of("signs", currency)
        {
            push(&mut tokens, offset(unit), unit, false);
            push_sign(&mut tokens, currency, word);
            continue;
        }
        // A sign alone is a word.
        let sign = if matches!(part, "-" | "–") { is_range.then_some("to") } else { meaning_of("signs", part) };
        if let Some(sign) = sign {
            push_sign(&mut tokens, part, sign);
            continue;
        }
        // `music / video`
        if part == "/"
            && let Some(last) = tokens.last_mut()
        {
            last.ends_clause = true;
        }
        let ends_clause = part.ends_with([',', ';', '.', '?', '!', ':', ')']);
        let is_number = part.contains(|char: char| char.is_ascii_digit()) && is_amount_like(part);
        let before = tokens.len();
        if is_number {
            push(&mut tokens, offset(part), part, true);
        } else {
            let words = part.split_inclusive(['-', '/', '–', '—', ',']);
            for word in words {
                let (elided, word) = split_elision(word);
                elided.iter().for_each(|elided| push(&mut tokens, offset(elided), elided, false));
                push(&mut tokens, offset(word), word, false);
            }
        }
        if let Some(last) = tokens[before..].last_mut() {
            last.ends_clause = ends_clause;
        }
    }
    tokens
}

/// Splits `l'Allemagne`, `d'euros`.
fn split_elision(word: &str) -> (Option<&str>, &str) {
    let split = word.find(['\'', '’']).filter(|at| meaning_of("elisions", &word[..*at].to_lowercase()).is_some());
    split.map_or((None, word), |at| {
        let rest = &word[at..];
        (Some(&word[..at]), rest.trim_start_matches(['\'', '’']))
    })
}

/// True for the sign of a currency.
pub(super) fn is_currency(char: char) -> bool {
    matches!(char, '$' | '£' | '¥' | '฿' | '\u{20a0}'..='\u{20cf}')
}

/// True for the sign of another currency than the dollar.
pub(super) fn is_other_currency(char: char) -> bool {
    char != '$' && is_currency(char)
}

/// True if a part with a digit is a number or a range of numbers, not a name such as `3D-printing`.
fn is_amount_like(part: &str) -> bool {
    let part = part.to_ascii_lowercase();
    let part = ungrouped(&part);
    let is_before = |char: char| is_currency(char) || matches!(char, '(' | '>' | '<' | '≥' | '≤' | '=' | '~' | 'q');
    let rest = part.trim_start_matches(is_before);
    let has_unit = |text: &str| {
        let unit = text.trim_start_matches(|char: char| char.is_ascii_digit() || matches!(char, '.' | ','));
        let unit = unit.trim_end_matches(|char: char| is_currency(char) || "+,.?!);:".contains(char));
        unit.is_empty() || is_in("endings of amounts", unit)
    };
    rest.starts_with(|char: char| char.is_ascii_digit())
        && (rest.split(['-', '–']).all(|end| has_unit(end.trim_start_matches(is_currency)))
            || date_in_figures(rest.trim_end_matches([',', '.', '?', '!', ')', ';', ':']), true).is_some())
}

/// A number without the apostrophes that group its digits: `1'000'000`.
fn ungrouped(number: &str) -> String {
    let mut following = number.chars().skip(1).chain([' ']);
    let is_kept = |char: &char| {
        let next = following.next();
        !(matches!(char, '\'' | '’') && next.is_some_and(|next| next.is_ascii_digit()))
    };
    number.chars().filter(is_kept).collect()
}

fn push(tokens: &mut Vec<QuestionToken>, at: usize, part: &str, is_number: bool) {
    let is_edge = |char: char| {
        !(char.is_alphanumeric()
            || (is_number && (is_currency(char) || matches!(char, '%' | '+' | '>' | '<' | '≥' | '≤' | '~'))))
    };
    let left = part.trim_start_matches(is_edge);
    let start = at + part.len() - left.len();
    let raw = left.trim_end_matches(is_edge);
    let owner = ["'s", "’s", "s'", "s’"].iter().find(|end| left.trim_end_matches([',', '?', '.']).ends_with(**end));
    let name = match owner {
        Some(end) if end.starts_with('s') => raw,
        Some(_) => raw.strip_suffix("'s").or_else(|| raw.strip_suffix("’s")).unwrap_or(raw),
        None => raw,
    };
    let word = match name {
        _ if is_number => {
            let written = || ungrouped(&raw.to_ascii_lowercase()).replace('–', "-").replace('≥', ">").replace('≤', "<");
            date_in_figures(raw, false).unwrap_or_else(written)
        }
        "IPOd" | "IPO'd" | "IPO’d" | "ipo'd" | "ipo’d" => "ipoed".to_owned(),
        _ => fold(name),
    };
    if !word.is_empty() {
        tokens.push(QuestionToken {
            place: start..start + name.len(),
            raw: name.to_owned(),
            word,
            is_possessive: owner.is_some(),
            ends_clause: !is_number && part.ends_with(['/', ',']),
        });
    }
}
