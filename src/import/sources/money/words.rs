//! Reads units and currencies next to amounts.

use std::collections::HashSet;
use std::sync::LazyLock;

use data::word_file;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// ISO 4217 code.
    Code(String),
    /// A sign of several currencies, such as `$`, with their codes.
    Shared(&'static str, &'static [&'static str]),
}

impl Sign {
    /// Combines two currencies next to one amount, or at the ends of a range: `$1.5M USD`. An error if they disagree.
    pub(super) fn combine(one: Option<Self>, other: Option<Self>) -> Result<Option<Self>, ()> {
        match (one, other) {
            (one, None) => Ok(one),
            (None, other) => Ok(other),
            (Some(one), Some(other)) if one == other => Ok(Some(one)),
            (Some(Self::Shared(sign, one)), Some(Self::Shared(_, other))) if one == other => {
                Ok(Some(Self::Shared(sign, one)))
            }
            (Some(Self::Code(code)), Some(Self::Shared(_, codes)))
            | (Some(Self::Shared(_, codes)), Some(Self::Code(code)))
                if codes.contains(&&*code) =>
            {
                Ok(Some(Self::Code(code)))
            }
            _ => Err(()),
        }
    }

    /// The currency of `元` in the text of an amount or a header: of the mainland, unless it has traditional characters.
    pub(super) fn of_yuan(self, text: &str) -> Self {
        match self {
            Self::Shared("元", _) if !text.contains(['萬', '億', '資', '額']) => Self::Code("CNY".to_owned()),
            other => other,
        }
    }

    /// True if its users write amounts with a decimal point.
    pub(crate) fn has_decimal_point(&self) -> bool {
        match self {
            Self::Code(code) => {
                "USD GBP JPY CNY KRW INR HKD SGD TWD AUD NZD ILS THB PHP".split(' ').any(|known| known == code)
            }
            Self::Shared(sign, _) => *sign == "$" || sign.starts_with("dollar"),
        }
    }
}

enum MoneyWord {
    Unit(f64),
    Currency(Vec<&'static str>),
    Bound(Bound),
}

/// What an inexact amount says of the exact one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    About,
    Least,
    Most,
}

/// Words with their meanings, the longest first.
static WORDS: LazyLock<Vec<(&'static str, MoneyWord)>> = LazyLock::new(|| {
    let meaning_of = |text: &'static str| match (text, text.parse()) {
        (_, Ok(unit)) => MoneyWord::Unit(unit),
        ("about", _) => MoneyWord::Bound(Bound::About),
        ("least", _) => MoneyWord::Bound(Bound::Least),
        ("most", _) => MoneyWord::Bound(Bound::Most),
        _ => MoneyWord::Currency(text.split(' ').collect()),
    };
    let is_other =
        |meaning: &str| ["to", "from", "between", "and", "codes"].contains(&meaning) || meaning.starts_with(MIL);
    let words = sections().filter(|(meaning, _)| !is_other(meaning));
    let words = words.flat_map(|(meaning, words)| words.split(", ").map(move |word| (word, meaning_of(meaning))));
    let mut words: Vec<_> = words.collect();
    words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
    words
});

fn sections() -> impl Iterator<Item = (&'static str, &'static str)> {
    word_file::entries(include_str!("words.txt")).filter_map(|line| line.split_once(": "))
}

const MIL: &str = "mil ";

/// The text without `mil`, which is a thousand next to some currencies and a million next to others, and what it is if the
/// currency tells. In place of the word is one for a thousand.
pub(super) fn without_mil(text: &str) -> Option<(String, Option<f64>)> {
    let lower = text.to_lowercase();
    let is_end = |char: Option<char>| char.is_none_or(|char| !char.is_alphabetic());
    let has = |word: &str| {
        lower.match_indices(word).find(|(at, _)| {
            let (before, behind) = (lower[..*at].chars().next_back(), lower[at + word.len()..].chars().next());
            is_end(before) && is_end(behind)
        })
    };
    let (at, mil) = has(MIL.trim())?;
    let mut meanings = sections().filter_map(|(name, currencies)| Some((name.strip_prefix(MIL)?, currencies)));
    let meaning = meanings.find(|(_, currencies)| currencies.split(", ").any(|word| has(word).is_some()));
    // Currency codes are recognized in capitals.
    let text = if lower.len() == text.len() { text } else { &lower };
    let (before, behind) = (text.get(..at)?, text.get(at + mil.len()..)?);
    Some((format!("{before}k{behind}"), meaning.and_then(|(name, _)| unit(name))))
}

/// The words of a section about ranges, each with a blank where other words have to end.
fn range_words(name: &str) -> Vec<String> {
    let words = sections().filter(|(section, _)| *section == name).flat_map(|(_, words)| words.split(", "));
    words.map(|word| if word.chars().any(is_joined) { word.to_owned() } else { format!(" {word} ") }).collect()
}

/// Words between the ends of a range, in the order in which it is looked for.
pub(super) static BETWEEN: LazyLock<Vec<String>> = LazyLock::new(|| {
    let signs = ["–", "—", "‒", "−", "〜", "～", " - ", "..."].map(str::to_owned).into_iter();
    signs.chain(range_words("to")).chain(["-", "~"].map(str::to_owned)).collect()
});

/// The ends of a range such as `between 1 and 3 million`.
pub(super) fn ends_between(text: &str) -> Option<(&str, &str)> {
    static WORDS: LazyLock<[Vec<String>; 2]> = LazyLock::new(|| ["between", "and"].map(range_words));
    let [between, and] = &*WORDS;
    let first = text.find(' ')?;
    let is_between = between.iter().any(|word| word.trim() == text[..first].to_lowercase());
    is_between.then(|| and.iter().find_map(|and| text[first..].split_once(and.as_str()))).flatten()
}

/// The first end of a range without the word before it: `de 1` in `de 1 à 3 millions`.
pub(super) fn without_from(low: &str) -> &str {
    static FROM: LazyLock<Vec<String>> = LazyLock::new(|| range_words("from"));
    FROM.iter().find_map(|from| low.strip_prefix(from.trim_start())).unwrap_or(low)
}

/// True for a letter of a script without blanks between words.
pub(super) fn is_joined(char: char) -> bool {
    matches!(char, '\u{2e80}'..='\u{d7ff}' | '\u{ff00}'..='\u{ffef}')
}

/// True if a word at the beginning of a text is a whole one.
fn is_whole(word: &str, rest: &str) -> bool {
    let is_letter = |char: char| char.is_alphabetic() && !is_joined(char);
    !word.ends_with(is_letter) || !rest.starts_with(is_letter)
}

#[derive(Debug, Default, PartialEq)]
pub(super) struct Words {
    pub unit: Option<f64>,
    pub sign: Option<Sign>,
    pub bound: Option<Bound>,
}

/// Reads at most one unit, at most one bound, and currencies that agree; `None` if there is anything else.
pub(super) fn read_words(text: &str) -> Option<Words> {
    let lower = text.to_lowercase();
    // Currency codes are recognized in capitals. If lowercasing shifts positions, only the lowercase text is used.
    let text = if lower.len() == text.len() { text } else { &lower };
    let mut at = lower.len() - lower.trim_start().len();
    let mut words = Words::default();
    while at < lower.trim_end().len() {
        let (length, Words { unit, sign, bound }) = next_word(&lower[at..], text.get(at..)?)?;
        if (unit.is_some() && words.unit.is_some()) || (bound.is_some() && words.bound.is_some()) {
            return None;
        }
        words.unit = words.unit.or(unit);
        words.bound = words.bound.or(bound);
        words.sign = Sign::combine(words.sign, sign).ok()?;
        let is_word = lower[at..at + length].ends_with(char::is_alphabetic);
        at += length;
        // Skip the point of an abbreviation.
        at += usize::from(is_word && lower[at..].starts_with('.'));
        at += lower[at..].len() - lower[at..].trim_start().len();
    }
    Some(words)
}

/// Reads the first word of a text, with its length. `lower` is the text in lowercase.
fn next_word(lower: &str, text: &str) -> Option<(usize, Words)> {
    let unit = WORDS.iter().find_map(|(word, meaning)| match meaning {
        MoneyWord::Unit(unit) => lower.starts_with(word).then_some((*word, *unit)),
        _ => None,
    });
    let ends = |word: &str| is_whole(word, &lower[word.len()..]);
    let currency_here = read_currency(lower, text);
    // `b$` is not a billion.
    let is_longer = |word: &str| currency_here.as_ref().is_some_and(|(length, _)| *length > word.len());
    let bound = WORDS.iter().find_map(|(word, meaning)| match meaning {
        MoneyWord::Bound(bound) if lower.starts_with(word) && ends(word) => Some((*word, *bound)),
        _ => None,
    });
    let is_unit_longer = |word: &str| unit.is_some_and(|(unit, _)| unit.len() > word.len() && ends(unit));
    if let Some((word, bound)) = bound.filter(|(word, _)| !is_longer(word) && !is_unit_longer(word)) {
        return Some((word.len(), Words { bound: Some(bound), ..Words::default() }));
    }
    let with_unit = |unit| Words { unit: Some(unit), ..Words::default() };
    match (unit, &currency_here) {
        (Some((word, unit)), _) if ends(word) && !is_longer(word) => Some((word.len(), with_unit(unit))),
        (_, Some((length, sign))) => Some((*length, Words { sign: Some(sign.clone()), ..Words::default() })),
        // `M€`, `MEUR` and `万元` consist of a unit and a currency.
        (_, None) => {
            let units = WORDS.iter().filter_map(|(word, meaning)| match meaning {
                MoneyWord::Unit(unit) => lower.starts_with(word).then_some((*word, *unit)),
                _ => None,
            });
            let units = units.chain(lower.starts_with('t').then_some(("t", 1e3)));
            let is_joined = |word: &str| {
                text.get(word.len()..).is_some_and(|text| read_currency(&lower[word.len()..], text).is_some())
            };
            { units }.find(|(word, _)| is_joined(word)).map(|(word, unit)| (word.len(), with_unit(unit)))
        }
    }
}

/// Reads the currency at the beginning of a text, with the length of its word.
fn read_currency(lower: &str, text: &str) -> Option<(usize, Sign)> {
    let is_end = |rest: &str| !rest.starts_with(|char: char| char.is_alphabetic() && !is_joined(char));
    let known = WORDS.iter().find_map(|(word, meaning)| {
        let MoneyWord::Currency(codes) = meaning else { return None };
        let rest = lower.strip_prefix(word)?;
        is_whole(word, rest).then_some((*word, codes))
    });
    if let Some((word, codes)) = known {
        let sign = match &**codes {
            [code] => Sign::Code((*code).to_owned()),
            codes => Sign::Shared(word, codes),
        };
        return Some((word.len(), sign));
    }
    let code = text.get(..3).filter(|code| code.bytes().all(|byte| byte.is_ascii_uppercase()))?;
    is_end(&text[3..]).then(|| (3, Sign::Code(code.to_owned())))
}

pub(crate) fn unit(text: &str) -> Option<f64> {
    read_words(text).filter(|words| words.sign.is_none() && words.bound.is_none())?.unit
}

/// Parts of a header that may have the unit or the currency of its column, with their words: `($M)` in `AUM ($M)`, `USD mn`
/// in `AUM USD mn`.
fn words_of_header(header: &str) -> impl Iterator<Item = (&str, Words)> {
    let read = |part: &str| {
        let text = part.trim_matches(|char: char| !char.is_alphanumeric() && !CURRENCY_SIGNS.contains(&char));
        // `(million, USD)`, `(USD in millions)`
        let text = text.trim_start_matches("in ").replace(['_', ','], " ").replace(" of ", " ").replace(" in ", " ");
        // `$000`, `000s`
        let thousands = || text.replace("000s", "000").replace("'000", "000").replace("000", "thousand");
        let words = read_words(&text).or_else(|| read_words(&thousands()))?;
        (words.bound.is_none() && !is_other_word(&words)).then_some(words)
    };
    let in_brackets = [('(', ')'), ('[', ']'), ('（', '）')].into_iter().filter_map(move |(open, close)| {
        let part = &header[header.find(open)?..];
        let part = &part[..part.find(close)? + close.len_utf8()];
        Some((part, read(part)?))
    });
    let tails = header.char_indices().filter(|(_, char)| !char.is_alphanumeric()).map(|(at, _)| &header[at..]);
    let tails = tails.filter_map(move |part| {
        let words = read(part)?;
        // A single letter may mean anything.
        let is_letter = words.sign.is_none() && part.chars().filter(|char| char.is_alphanumeric()).count() < 2;
        (!is_letter).then_some((part, words))
    });
    in_brackets.chain(tails)
}

const CURRENCY_SIGNS: [char; 9] = ['$', '€', '£', '¥', '￥', '₹', '₽', '₩', '₺'];

/// Part of a header with the unit of its column, or in parentheses with its currency alone: `(R$)`.
pub(crate) fn money_part_of_header(header: &str) -> Option<&str> {
    let is_bracketed = |part: &str| part.starts_with(['(', '[', '（']);
    let currency = || words_of_header(header).find(|(part, words)| words.sign.is_some() && is_bracketed(part));
    unit_of_header(header).map(|(part, _)| part).or_else(|| currency().map(|(part, _)| part))
}

/// Part of a header with the unit of its column, and the factor.
pub(crate) fn unit_of_header(header: &str) -> Option<(&str, f64)> {
    words_of_header(header).find_map(|(part, words)| words.unit.map(|unit| (part, unit)))
}

/// The currency that a text names: its code, its sign or its name, such as `EUR`, `€` and `Euro`.
pub(crate) fn currency_named(text: &str) -> Option<Sign> {
    let text = text.trim();
    let code = text.to_uppercase();
    if is_currency(&code) {
        return Some(Sign::Code(code));
    }
    let words = read_words(text).filter(|words| words.unit.is_none() && words.bound.is_none())?;
    words.sign.filter(|sign| !matches!(sign, Sign::Code(code) if !is_currency(code)))
}

/// True for an ISO 4217 code, such as `EUR`.
pub(crate) fn is_currency(text: &str) -> bool {
    static CODES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        sections().filter(|(name, _)| *name == "codes").flat_map(|(_, codes)| codes.split(", ")).collect()
    });
    CODES.contains(text)
}

/// Currency that a header names: `Amount (EUR)`, `raised_usd`, `融资额（万元）`.
pub(crate) fn currency_of_header(header: &str) -> Option<Sign> {
    let first = || {
        let (word, _) = header.split_once(|char: char| !char.is_alphanumeric())?;
        read_words(word).filter(|words| !is_other_word(words))?.sign
    };
    // Scripts without blanks have no parts.
    let joined = || {
        let at = header.char_indices().filter(|(_, char)| is_joined(*char)).map(|(at, _)| &header[at..]);
        at.filter_map(read_words).find_map(|words| words.sign)
    };
    let sign = words_of_header(header).find_map(|(_, words)| words.sign).or_else(first).or_else(joined);
    sign.map(|sign| sign.of_yuan(header))
}

/// True for a word in capitals that only looks like a unit with a currency: `TYPE`, `KIND`, `MAIN`.
fn is_other_word(words: &Words) -> bool {
    let Some(Sign::Code(code)) = &words.sign else { return false };
    let is_known = |meaning: &MoneyWord| matches!(meaning, MoneyWord::Currency(codes) if codes.contains(&&**code));
    !WORDS.iter().any(|(_, meaning)| is_known(meaning))
}

pub(crate) fn name_of_unit(factor: f64) -> Option<&'static str> {
    ["cents", "thousand", "lakh", "million", "crore", "billion"].into_iter().find(|name| unit(name) == Some(factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_one_meaning() {
        let mut words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        words.sort_unstable();
        assert!(words.windows(2).all(|pair| pair[0] != pair[1]), "{words:?}");
        for (word, meaning) in WORDS.iter() {
            assert_eq!(*word, word.to_lowercase());
            match (meaning, read_words(word).unwrap_or_else(|| panic!("{word} is not read"))) {
                (MoneyWord::Unit(factor), Words { unit, sign: None, bound: None }) => {
                    assert_eq!(unit, Some(*factor), "{word}");
                }
                (MoneyWord::Currency(codes), Words { unit: None, sign: Some(Sign::Code(code)), bound: None }) => {
                    assert_eq!(*codes, [code], "{word}");
                }
                (MoneyWord::Currency(codes), Words { unit: None, sign: Some(Sign::Shared(_, known)), bound: None }) => {
                    assert_eq!(codes, known, "{word}");
                }
                (MoneyWord::Bound(known), Words { unit: None, sign: None, bound }) => {
                    assert_eq!(bound, Some(*known), "{word}");
                }
                (_, words) => panic!("{word}: {words:?}"),
            }
        }
    }

    #[test]
    fn a_header_may_say_the_unit_of_its_column() {
        for (header, part, unit) in [
            ("AUM ($M)", "($M)", 1e6),
            ("Fund size (in millions)", "(in millions)", 1e6),
            ("Volumen [Mio. €]", "[Mio. €]", 1e6),
            ("Check size (k)", "(k)", 1e3),
            ("Amount ($000s)", "($000s)", 1e3),
            ("Amount (USD '000)", "(USD '000)", 1e3),
            ("AUM in billions", " in billions", 1e9),
            ("AUM USD mn", " USD mn", 1e6),
            ("aum_usd_m", "_usd_m", 1e6),
            ("Fonds, Mrd. EUR", ", Mrd. EUR", 1e9),
            ("Ticket (INR crore)", "(INR crore)", 1e7),
            ("AUM (ZAR m)", "(ZAR m)", 1e6),
            ("AUM MPLN", " MPLN", 1e6),
            ("Deal Size (million, USD)", "(million, USD)", 1e6),
            ("raised_cents", "_cents", 1e-2),
        ] {
            assert_eq!(unit_of_header(header), Some((part, unit)), "{header}");
        }
        for header in [
            "AUM",
            "AUM USD",
            "Amount (EUR)",
            "5F(2)(c)",
            "Check size (min)",
            "Raised M",
            "Series B",
            "FIRM TYPE",
            "FUND (MAIN)",
            "",
        ] {
            assert_eq!(unit_of_header(header), None, "{header}");
        }
    }
}
