//! Amounts and numbers with their bounds: `over $5m`, `between 1 and 3 million dollars`, `at least 20`.

use crate::ask::period::count_of;
use crate::ask::token::{QuestionToken, is_currency, is_other_currency};
use crate::ask::words::{is_in, meaning_of, phrase_of, phrases_from};
use crate::parse::scalars::parse_amount;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct QuestionAmount {
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
    /// True if it has a unit or a dollar sign, so that it cannot be a count.
    pub(crate) is_money: bool,
    /// True if it is in another currency.
    pub(crate) is_foreign: bool,
    pub(crate) is_percent: bool,
    /// True if it has no word for a bound.
    pub(crate) is_bare: bool,
    /// True for an amount of money with a word that leaves this amount out: `over $5m`.
    pub(crate) is_strict: bool,
}

impl QuestionAmount {
    /// The amount with `or more` (`min`) or `or less` behind it.
    pub(crate) fn with_tail(self, tail: &str) -> Self {
        let (min, max) = if tail == "min" { (self.min, None) } else { (None, self.max) };
        Self { min, max, is_bare: false, ..self }
    }
}

#[derive(Default)]
struct QuestionNumber {
    value: u64,
    unit: Option<&'static str>,
    is_money: bool,
    is_foreign: bool,
    is_percent: bool,
    is_open: bool,
}

/// `a million`, `half a billion`, `a hundred million`.
fn article_and_unit(tokens: &[QuestionToken]) -> Option<(QuestionNumber, usize)> {
    let is_at = |at: usize, word: &str| tokens.get(at).is_some_and(|token| token.is(&[word]));
    let half = usize::from(is_at(0, "half"));
    if !is_at(half, "a") {
        return None;
    }
    let hundred = usize::from(half == 0 && is_at(1, "hundred"));
    let length = half + 1 + hundred;
    let unit = tokens.get(length).and_then(|token| meaning_of("units", &token.word)).filter(|unit| unit.len() > 2)?;
    let value = parse_amount(&format!("1 {unit}"))?;
    let value = if hundred > 0 { value.checked_mul(100)? } else { value / (1 + half as u64) };
    Some((QuestionNumber { value, unit: Some(unit), is_money: true, ..Default::default() }, length + 1))
}

/// Parses a number in digits or words, with its unit and signs.
fn digits_and_unit(tokens: &[QuestionToken], unit_after: Option<&'static str>) -> Option<(QuestionNumber, usize)> {
    let word = tokens.first()?.word.as_str();
    let bare = word.trim_start_matches(['>', '<', '=', '~']);
    let is_foreign = bare.contains(is_other_currency) || bare.ends_with("eur");
    let is_dollar = bare.starts_with('$') || bare.ends_with("usd");
    let bare = bare.trim_matches(is_currency).trim_end_matches("eur").trim_end_matches("usd");
    let is_percent = bare.ends_with('%');
    let is_open = bare.ends_with('+');
    let bare = bare.trim_end_matches(['+', '%', ',', '.']);
    // `5mil`, `500mila`
    let (figures, letters) = bare.split_at(bare.find(|char: char| char.is_alphabetic()).unwrap_or(bare.len()));
    let long = meaning_of("units", letters).filter(|_| !figures.is_empty());
    let bare = &*long.map_or(bare.to_owned(), |unit| format!("{figures}{unit}"));
    let has_unit = bare.ends_with(|char: char| char.is_ascii_alphabetic())
        && bare.starts_with(|char: char| char.is_ascii_digit() || char == '.');
    let digits = match count_of(bare).filter(|_| bare.len() > 2 && !bare.contains(|char: char| char.is_ascii_digit())) {
        Some(count) => count.to_string(),
        None => bare.to_owned(),
    };
    let mut length = 1;
    let mut unit = tokens.get(1).and_then(|token| meaning_of("units", &token.word)).filter(|_| !has_unit);
    length += usize::from(unit.is_some());
    unit = unit.or(unit_after.filter(|_| !has_unit));
    let value = parse_amount(&format!("{digits} {}", unit.unwrap_or_default()))
        .or_else(|| parse_amount(&format!("{digits}{}", unit.unwrap_or_default())))?;
    let is_money = is_dollar || has_unit || unit.is_some();
    Some((QuestionNumber { value, unit, is_money, is_foreign, is_percent, is_open }, length))
}

/// Parses the number at the start; returns it with its length in words.
fn number(tokens: &[QuestionToken], unit_after: Option<&'static str>) -> Option<(QuestionNumber, usize)> {
    // `EUR 2m`, `USD 500,000`
    let is_foreign = tokens.first().is_some_and(|token| token.is_in("currencies"));
    if is_foreign || tokens.first().is_some_and(|token| token.is(&["usd"])) {
        let is_next = |token: &&QuestionToken| token.word.starts_with(|char: char| char.is_ascii_digit());
        let (mut number, length) =
            tokens.get(1).filter(is_next).and_then(|_| self::number(&tokens[1..], unit_after))?;
        (number.is_money, number.is_foreign) = (true, number.is_foreign || is_foreign);
        return Some((number, 1 + length));
    }
    let (mut number, mut length) = article_and_unit(tokens).or_else(|| digits_and_unit(tokens, unit_after))?;
    while let Some(token) = tokens.get(length) {
        match token.word.as_str() {
            word if is_in("dollars", word) => number.is_money = true,
            word if is_in("currencies", word) => number.is_foreign = true,
            "us" if tokens.get(length + 1).is_some_and(|next| next.is_in("dollar")) => {}
            "percent" => number.is_percent = true,
            _ => break,
        }
        length += 1;
    }
    number.is_money |= number.is_foreign;
    Some((number, length))
}

/// Two numbers in one word: `$1-3m`.
fn range(word: &str) -> Option<QuestionAmount> {
    let (first, last) = word.split_once('-')?;
    let is_foreign = word.contains(is_other_currency);
    let plain = |text: &str| text.trim_matches(is_currency).to_owned();
    let (first, last) = (plain(first), plain(last));
    let unit = last.trim_start_matches(|char: char| char.is_ascii_digit() || matches!(char, '.' | ','));
    let is_money = !unit.is_empty() || word.contains('$') || is_foreign;
    let has_unit = first.ends_with(|char: char| char.is_ascii_alphabetic());
    let first = if has_unit { parse_amount(&first) } else { parse_amount(&format!("{first}{unit}")) };
    let (min, max) = (first, parse_amount(&last));
    let amount = QuestionAmount { min, max, is_money, is_foreign, ..Default::default() };
    (min.is_some() && max.is_some() && is_money).then_some(amount)
}

fn between(low: &QuestionNumber, high: &QuestionNumber) -> QuestionAmount {
    QuestionAmount {
        min: Some(low.value),
        max: Some(high.value),
        is_money: low.is_money || high.is_money,
        is_foreign: low.is_foreign || high.is_foreign,
        is_percent: low.is_percent || high.is_percent,
        is_bare: false,
        is_strict: false,
    }
}

/// Parses the next amount of a question; returns it with its length in words.
pub(crate) fn amount(tokens: &[QuestionToken]) -> Option<(QuestionAmount, usize)> {
    let first = tokens.first()?;
    if let Some(amount) = range(&first.word) {
        return Some((amount, 1));
    }
    if let Some(amount) = figures(tokens) {
        return Some((amount, 2));
    }
    if first.is_in("between") {
        if let Some(amount) = tokens.get(1).and_then(|token| range(&token.word)) {
            return Some((amount, 2));
        }
        let joint = (2..6).find(|at| tokens.get(*at).is_some_and(|token| token.is_in("and to")))?;
        let (high, more) = number(&tokens[joint + 1..], None)?;
        // `between 1 and 3 million`: the unit applies to both numbers.
        let (low, length) = lower_number(&tokens[1..], &high, &tokens[joint + 1].word)?;
        return (1 + length == joint).then(|| (between(&low, &high), joint + 1 + more));
    }
    let follow = |words: &[&str]| tokens.iter().map(|token| &*token.word).take(words.len()).eq(words.iter().copied());
    let bound = phrases_from("bounds", &first.word).find(|bound| follow(&bound.words));
    let start = bound.map_or(0, |bound| bound.words.len());
    let rest = tokens.get(start..)?;
    let sign = rest.first()?.word.chars().next();
    // `more than billion`, as some languages have it
    let unit = || {
        let unit = meaning_of("units", &rest[0].word).filter(|unit| bound.is_some() && unit.len() > 2)?;
        let value = parse_amount(&format!("1 {unit}"))?;
        let number = QuestionNumber { value, unit: Some(unit), is_money: true, ..Default::default() };
        let has_sign = rest.get(1).is_some_and(|token| token.is_in("dollars"));
        Some((number, 1 + usize::from(has_sign)))
    };
    let (first, length) = number(rest, None).or_else(unit)?;
    // `$1m to $5m`
    if bound.is_none()
        && rest.get(length).is_some_and(|token| token.is(&["to"]))
        && let Some((high, more)) = rest.get(length + 1..).and_then(|rest| number(rest, None))
        && (first.is_money || high.is_money)
    {
        let low = lower_number(rest, &high, &rest[length + 1].word)?.0;
        return Some((between(&low, &high), length + 1 + more));
    }
    let number = first;
    let tail = phrase_of("after amounts", tokens.get(start + length..).unwrap_or_default());
    let (value, mut length) = (number.value, start + length);
    let mut amount = between(&number, &number);
    // `more than 3 rounds` means at least 4; of money, exactly this much counts, too, which the reading says.
    let is_count = !number.is_money && !number.is_percent;
    amount.is_strict = number.is_money && matches!(bound.map(|bound| bound.meaning), Some("above" | "below"));
    match (bound.map(|bound| bound.meaning), sign) {
        (Some("min"), _) | (None, Some('>')) => amount.max = None,
        (Some("above"), _) => (amount.min, amount.max) = (Some(value.saturating_add(u64::from(is_count))), None),
        (Some("max"), _) | (None, Some('<')) => amount.min = None,
        (Some("below"), _) => (amount.min, amount.max) = (None, Some(value.saturating_sub(u64::from(is_count)))),
        (Some("about"), _) | (None, Some('~')) => (amount.min, amount.max) = around(amount.min, amount.max),
        (Some(_), _) => {}
        (None, _) if tail.is_some() => {
            amount = amount.with_tail(tail.map_or("", |tail| tail.meaning));
            length += tail.map_or(0, |tail| tail.words.len());
        }
        (None, _) if number.is_open => amount.max = None,
        (None, _) => amount.is_bare = true,
    }
    Some((amount, length))
}

/// The lower number of a range, with the unit of the upper one: `1 to 3 million`, but not `500,000 to 2 million`.
fn lower_number(tokens: &[QuestionToken], high: &QuestionNumber, word: &str) -> Option<(QuestionNumber, usize)> {
    let with_unit = number(tokens, high.unit.or_else(|| unit_within(word)))?;
    if with_unit.0.value <= high.value { Some(with_unit) } else { number(tokens, None) }
}

/// A fifth less to a fifth more.
pub(crate) fn around(min: Option<u64>, max: Option<u64>) -> (Option<u64>, Option<u64>) {
    (min.map(|min| min - min / 5), max.map(|max| max.saturating_add(max / 5)))
}

/// `seven-figure`: the range of numbers with this many digits.
fn figures(tokens: &[QuestionToken]) -> Option<QuestionAmount> {
    let digits = count_of(&tokens.first()?.word).filter(|digits| (4..=12).contains(digits))?;
    tokens.get(1).filter(|token| token.is_in("figure"))?;
    let (min, max) = (Some(10_u64.pow(digits - 1)), Some(10_u64.pow(digits) - 1));
    Some(QuestionAmount { min, max, is_money: true, ..Default::default() })
}

fn unit_within(word: &str) -> Option<&'static str> {
    meaning_of("units", word.trim_start_matches(|char: char| !char.is_ascii_alphabetic()))
}
