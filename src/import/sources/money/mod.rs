//! Reads amounts of money as people write them. Neither the currency nor the meaning of a point or comma is ever guessed: the
//! number itself decides, or the other amounts of its column, or the mapping.

mod number;
mod rates;
mod words;

use std::borrow::Cow;

use crate::sources::Reason;
pub(crate) use number::Decimal;
use number::ParsedNumber;
pub(crate) use rates::{RateDay, Rates, lacks_rates};
use words::{BETWEEN, Bound, ends_between, is_joined, read_words, without_from, without_mil};
pub(crate) use words::{
    Sign, currency_named, currency_of_header, is_currency, money_part_of_header, name_of_unit, unit, unit_of_header,
};

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WrittenAmount {
    /// The number read with a decimal point, and with a decimal comma. At least one is present.
    numbers: [Option<ParsedNumber>; 2],
    unit: Option<f64>,
    sign: Option<Sign>,
    bound: Option<Bound>,
    is_negative: bool,
    /// The meaning of `mil` if that is the unit, which then is not known from the words alone.
    mil: Option<Mil>,
    /// The separators of the number.
    separators: String,
}

/// Meaning of `mil`, which depends on the language: known by the currency of the amount, or that of the column.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mil {
    Known(f64),
    OfColumn,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum MoneyCell {
    One(WrittenAmount),
    Range(WrittenAmount, WrittenAmount),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Low,
    High,
}

/// Notation of a field's amounts, as far as the mapping defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct AmountForm {
    pub decimal: Option<Decimal>,
    /// Separator of groups.
    pub group: Option<char>,
    /// Unit of amounts without one.
    pub unit: Option<f64>,
    /// True if the header of the column has a unit that the mapping does not repeat.
    pub lacks_unit: bool,
    pub end: Option<End>,
}

/// Evidence from a column about the notation of its amounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Notation {
    has_point: bool,
    has_comma: bool,
    /// True if there are ambiguous numbers, which only others can decide.
    has_ambiguous: bool,
    /// True if there are numbers that lack their unit: they are too small to be complete.
    pub lacks_unit: bool,
    /// Numbers without a unit below 1,000, and others below a million.
    bare: [u32; 2],
    /// True if there are amounts in which `mil` is a thousand, and a million.
    mils: [bool; 2],
    /// True if there are amounts with a `mil` that only others can explain.
    has_unknown_mil: bool,
}

const THOUSAND: f64 = 1e3;
const MILLION: f64 = 1e6;

/// Upper bound of numbers that may lack their unit.
const SMALL: f64 = 1_000.0;

/// Numbers from this one on do not share the unit of the other end of their range: `500k – 1000000`.
const IN_FULL: f64 = 10_000.0;

const MAX: f64 = 9e15;

impl Notation {
    pub(crate) fn add(&mut self, cell: &MoneyCell, form: &AmountForm) {
        let (amounts, is_range) = match cell {
            MoneyCell::One(amount) => (vec![amount], false),
            MoneyCell::Range(low, high) => (vec![low, high], true),
        };
        let has_unit =
            form.unit.is_some() || form.lacks_unit || (is_range && amounts.iter().any(|amount| amount.unit.is_some()));
        for amount in amounts {
            match (amount.decimal(), amount.numbers) {
                (Some(Decimal::Point), _) => self.has_point = true,
                (Some(Decimal::Comma), _) => self.has_comma = true,
                (None, [Some(point), Some(comma)]) => self.has_ambiguous |= point != comma,
                (None, _) => {}
            }
            let number = amount.number(form.decimal).filter(|_| !has_unit && amount.unit.is_none());
            self.lacks_unit |= number.is_some_and(|number| number.lacks_unit(is_range));
            if let Some(number) = number.filter(|number| number.value > 0.0 && number.value < MILLION) {
                self.bare[usize::from(number.value >= SMALL)] += 1;
            }
            match amount.mil {
                Some(Mil::Known(unit)) => self.mils[usize::from(unit == MILLION)] = true,
                Some(Mil::OfColumn) => self.has_unknown_mil = true,
                None => {}
            }
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.has_point |= other.has_point;
        self.has_comma |= other.has_comma;
        self.has_ambiguous |= other.has_ambiguous;
        self.lacks_unit |= other.lacks_unit;
        self.bare.iter_mut().zip(other.bare).for_each(|(known, other)| *known += other);
        self.mils.iter_mut().zip(other.mils).for_each(|(known, other)| *known |= other);
        self.has_unknown_mil |= other.has_unknown_mil;
    }

    /// Meaning of `mil` in the column, if all amounts in which it is known agree.
    fn mil(&self) -> Option<f64> {
        match self.mils {
            [true, false] => Some(THOUSAND),
            [false, true] => Some(MILLION),
            _ => None,
        }
    }

    /// True if there is a `mil` that no other amount explains.
    pub(crate) fn has_unexplained_mil(&self) -> bool {
        self.has_unknown_mil && self.mil().is_none()
    }

    /// Decimal separator of the unambiguous numbers, if all agree.
    fn decimal(&self) -> Option<Decimal> {
        match (self.has_point, self.has_comma) {
            (true, false) => Some(Decimal::Point),
            (false, true) => Some(Decimal::Comma),
            _ => None,
        }
    }

    pub(crate) fn decides_more_than(&self, known: &Self) -> bool {
        let is_decided = self.has_ambiguous && self.decimal() != known.decimal();
        let is_explained = self.has_unknown_mil && self.mil() != known.mil();
        is_decided || is_explained || self.bare != [0; 2] && self.complete_from() != known.complete_from()
    }

    /// Numbers without a unit below this one are not complete. If most numbers are too small to be complete, larger ones lack
    /// the same unit.
    fn complete_from(&self) -> f64 {
        match self.bare {
            _ if !self.lacks_unit => 0.0,
            [small, others] if small > others => MILLION,
            _ => SMALL,
        }
    }

    /// True if there are ambiguous numbers that no other number decides.
    pub(crate) fn is_undecided(&self) -> bool {
        self.has_ambiguous && self.decimal().is_none()
    }
}

impl WrittenAmount {
    /// Reads `1,500,000`, `$1.5M`, `EUR 250k`, `2,5 Mio. €`, `750'000.-`, `~2M` or `1億5000万円`. Negative amounts are
    /// marked as such.
    fn read(text: &str) -> Option<Self> {
        let in_brackets = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
        let text = in_brackets.unwrap_or(text);
        let start = text.find(|char: char| char.is_ascii_digit())?;
        let end = text.rfind(|char: char| char.is_ascii_digit())? + 1;
        let is_minus = ['-', '−', '–'];
        let before = text[..start].trim();
        let unsigned = before.strip_suffix(is_minus).or_else(|| before.strip_prefix(is_minus));
        // A dash may stand for the cents.
        let behind = text[end..].trim_start();
        let dashes = behind.strip_prefix(['.', ',']).filter(|rest| rest.starts_with(['-', '–', '—']));
        let behind = dashes.map_or(behind, |rest| rest.trim_start_matches(['-', '–', '—']));
        let is_minus_last = behind.trim() == "-" && dashes.is_none();
        let is_negative = in_brackets.is_some() || unsigned.is_some() || is_minus_last;
        let before = read_words(unsigned.unwrap_or(before))?;
        let behind = read_words(if is_minus_last { "" } else { behind })?;
        // A unit comes before the number only together with a currency: `TEUR 250`, `milioni 2.5 euro`.
        let unit = match (before.unit, behind.unit) {
            (Some(_), Some(_)) => return None,
            (Some(_), None) if before.sign.is_none() && behind.sign.is_none() => return None,
            (before, behind) => before.or(behind),
        };
        let bound = match (before.bound, behind.bound) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        let sign = Sign::combine(before.sign, behind.sign).ok()?.map(|sign| sign.of_yuan(text));
        let digits: Option<String> = text[start..end].chars().map(digit_or_separator).collect();
        let (numbers, unit) = match &digits {
            Some(digits) => {
                let [point, comma] = Decimal::ALL.map(|decimal| decimal.read(digits));
                // `1,500万` has a group of digits.
                let has_point = point.is_some() && unit.is_some() && text[end..].trim_start().starts_with(is_joined);
                ([point, comma.filter(|_| !has_point)], unit)
            }
            None => {
                let value = read_compound(&text[start..end], unit.unwrap_or(1.0))?;
                ([Some(ParsedNumber { value, decimals: 0 }); 2], Some(1.0))
            }
        };
        let is_amount = numbers.iter().flatten().any(|number| number.value * unit.unwrap_or(1.0) < MAX);
        let separators = digits.unwrap_or_default().chars().filter(|char| !char.is_ascii_digit()).collect();
        is_amount.then_some(Self { numbers, unit, sign, bound, is_negative, mil: None, separators })
    }

    /// Decimal separator, if the form of the number implies it. Three digits after a comma are never cents of a dollar.
    fn decimal(&self) -> Option<Decimal> {
        match self.numbers {
            [Some(point), Some(comma)] if point.decimals == 0 && comma.decimals > 0 && self.unit.is_none() => {
                self.sign.as_ref().is_some_and(Sign::has_decimal_point).then_some(Decimal::Point)
            }
            [Some(_), Some(_)] => None,
            [Some(_), None] => Some(Decimal::Point),
            [None, _] => Some(Decimal::Comma),
        }
    }

    /// The unit by all available evidence.
    fn unit(&self, column: &Notation) -> Result<Option<f64>, Reason> {
        match self.mil {
            None => Ok(self.unit),
            Some(Mil::Known(unit)) => Ok(Some(unit)),
            Some(Mil::OfColumn) => column.mil().map(Some).ok_or_else(|| {
                "has `mil`, a thousand in some languages and a million in others; write the word out".into()
            }),
        }
    }

    /// The number in the given notation, or in the one that its form implies.
    fn number(&self, decimal: Option<Decimal>) -> Option<ParsedNumber> {
        let [point, comma] = self.numbers;
        match decimal.or_else(|| self.decimal()) {
            Some(Decimal::Point) => point,
            Some(Decimal::Comma) => comma,
            None if point == comma => point,
            None => None,
        }
    }

    /// The number by all available evidence. `other` is the other end of its range.
    fn known_number(&self, other: Option<&Self>, form: &AmountForm, column: &Notation) -> Result<ParsedNumber, Reason> {
        let decimal = form.decimal.or_else(|| self.decimal()).or_else(|| other?.decimal());
        let decimal = decimal.or_else(|| column.decimal());
        let is_group = |char| Some(char) == form.group || decimal.is_some_and(|decimal| decimal.separator() == char);
        if let Some(group) = form.group.filter(|_| !self.separators.chars().all(is_group)) {
            return Err(format!("contradicts the group separator `{group}` of its column").into());
        }
        self.number(decimal).ok_or_else(|| match form.decimal {
            Some(decimal) => {
                format!("contradicts the decimal separator `{}` of its column", decimal.separator()).into()
            }
            None if column.has_point && column.has_comma => "is ambiguous: other amounts of its column have a \
                decimal point, and others a comma; write `decimal = \".\"` or `decimal = \",\"` in the mapping"
                .into(),
            None => "is ambiguous: it has a decimal point or comma, or groups of digits, and no other amount of its \
                column tells which; write `decimal = \".\"` or `decimal = \",\"` in the mapping"
                .into(),
        })
    }
}

/// Normalizes a character of a number: all kinds of spaces and apostrophes become one. `None` for other characters.
fn digit_or_separator(char: char) -> Option<char> {
    match char {
        '0'..='9' | '.' | ',' | '_' => Some(char),
        ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}' => Some(' '),
        '\'' | '’' | '‘' | '´' => Some('\''),
        _ => None,
    }
}

/// Reads the separator of groups of a mapping.
pub(crate) fn group(text: &str) -> Option<char> {
    let mut chars = text.chars();
    chars.next().and_then(digit_or_separator).filter(|char| chars.next().is_none() && !char.is_ascii_digit())
}

/// Reads the numbers of `1億5000万`, whose last unit, that of `5000`, is given.
fn read_compound(text: &str, last: f64) -> Option<f64> {
    let (mut rest, mut total, mut above) = (text, 0.0, f64::INFINITY);
    loop {
        let length = rest.find(|char: char| !matches!(char, '0'..='9' | ',' | '.')).unwrap_or(rest.len());
        let number = Decimal::Point.read(&rest[..length])?.value;
        rest = rest[length..].trim_start();
        let word = rest.chars().next().map(|char| &rest[..char.len_utf8()]);
        let factor = word.map_or(Some(last), |word| unit(word).filter(|_| !word.is_ascii()))?;
        if factor >= above || (word.is_none() && number * factor >= above) {
            return None;
        }
        total += number * factor;
        above = factor;
        match word {
            Some(word) => rest = rest[word.len()..].trim_start(),
            None => return Some(total),
        }
    }
}

/// The text with full-width forms, and digits of Arabic, Persian, Indian and Thai scripts, in ASCII.
pub(crate) fn normalized(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let zeros = ['\u{660}', '\u{6f0}', '\u{966}', '\u{9e6}', '\u{ae6}', '\u{be6}', '\u{c66}', '\u{e50}'];
    let digit = |char: char| {
        zeros.into_iter().filter_map(|zero| u32::from(char).checked_sub(u32::from(zero))).find(|digit| *digit < 10)
    };
    let ascii = |char: char| match char {
        '\u{3000}' => ' ',
        '٫' => '.',
        '٬' => ',',
        '\u{ff01}'..='\u{ff5d}' => char::from_u32(u32::from(char) - 0xfee0).unwrap_or(char),
        char => digit(char).and_then(|digit| char::from_digit(digit, 10)).unwrap_or(char),
    };
    Cow::Owned(text.chars().map(ascii).collect())
}

/// Digits of a number that a program wrote with an exponent, such as `1.5e+06`.
fn scientific(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once('+')?;
    let mantissa = mantissa.strip_suffix(['e', 'E'])?;
    let is_plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let exponent: i32 = exponent.parse().ok().filter(|exponent| (0..=15).contains(exponent))?;
    let number: f64 = mantissa.parse().ok().filter(|_| is_plain(mantissa))?;
    Some((number * 10_f64.powi(exponent)).to_string())
}

/// Both ends of a range such as `1 to 5 million`. A text that is no range is returned twice.
pub(crate) fn range_ends(text: &str) -> (&str, &str) {
    let splits = BETWEEN.iter().filter_map(|between| text.split_once(between.as_str()));
    let mut splits = ends_between(text).into_iter().chain(splits);
    let ends = splits.find(|(low, high)| !low.trim().is_empty() && !high.trim().is_empty());
    ends.map_or((text, text), |(low, high)| (low.trim(), high.trim()))
}

impl MoneyCell {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let text = normalized(text.trim());
        let text = scientific(&text).map_or(text, Cow::Owned);
        Self::read_normal(&text).or_else(|| {
            let (text, meaning) = without_mil(&text)?;
            let mil = meaning.map_or(Mil::OfColumn, Mil::Known);
            let marked = |amount: WrittenAmount| WrittenAmount { mil: amount.unit.map(|_| mil), ..amount };
            Some(match Self::read_normal(&text)? {
                Self::One(amount) => Self::One(marked(amount)),
                Self::Range(low, high) => Self::Range(marked(low), marked(high)),
            })
        })
    }

    fn read_normal(text: &str) -> Option<Self> {
        if let Some(amount) = WrittenAmount::read(text) {
            return Some(Self::One(amount));
        }
        let splits = BETWEEN.iter().filter_map(|between| text.split_once(between.as_str()));
        ends_between(text).into_iter().chain(splits).find_map(|(low, high)| {
            let [low, high] = [without_from(low), high]
                .map(|end| WrittenAmount::read(end.trim()).filter(|amount| !amount.is_negative));
            Some(Self::Range(low?, high?))
        })
    }

    /// Decimal separator that a cell proves by its number alone, without a unit or a currency.
    pub(crate) fn proven_decimal(&self) -> Option<Decimal> {
        let Self::One(amount) = self else { return None };
        amount.decimal().filter(|_| amount.unit.is_none() && amount.sign.is_none() && !amount.separators.is_empty())
    }

    pub(crate) fn has_separator(&self, separator: char) -> bool {
        match self {
            Self::One(amount) => amount.separators.contains(separator),
            Self::Range(low, high) => [low, high].into_iter().any(|end| end.separators.contains(separator)),
        }
    }

    /// Currency that is written in the cell.
    pub(crate) fn sign(&self) -> Option<&Sign> {
        match self {
            Self::One(amount) => amount.sign.as_ref(),
            Self::Range(low, high) => high.sign.as_ref().or(low.sign.as_ref()),
        }
    }

    /// What is lost if the amount is taken as it is written; `None` if that is all that the cell says.
    pub(crate) fn inexact(&self, form: &AmountForm) -> Option<&'static str> {
        match (self, form.end) {
            (Self::One(WrittenAmount { bound: Some(Bound::About), .. }), _) => Some("is approximate"),
            (Self::One(WrittenAmount { bound: Some(Bound::Least), .. }), None) => Some("is a smallest amount"),
            _ => None,
        }
    }

    /// True if the amount is zero, which means that it is unknown.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self, Self::One(amount) if amount.numbers.iter().flatten().all(|number| number.value == 0.0))
    }

    /// Amount for a field, and its currency. `notation` is the evidence of the column.
    pub(crate) fn amount(&self, form: &AmountForm, notation: &Notation) -> Result<(f64, Option<Sign>), Reason> {
        match (self, form.end) {
            (Self::One(amount), _) if amount.is_negative => Err("is negative, which no amount is".into()),
            (Self::One(WrittenAmount { bound: Some(Bound::Most), .. }), Some(End::Low) | None) => {
                Err("has only an upper bound; take it for the greatest amount with `do = [\"max\"]`".into())
            }
            (Self::One(WrittenAmount { bound: Some(Bound::Least), .. }), Some(End::High)) => {
                Err("has only a lower bound; take it for the smallest amount with `do = [\"min\"]`".into())
            }
            (Self::Range(_, WrittenAmount { bound: Some(Bound::Least), .. }), Some(End::High)) => {
                Err("is a range without an upper bound".into())
            }
            (Self::One(amount), _) => {
                let number = amount.known_number(None, form, notation)?;
                Ok((number.in_full(amount.unit(notation)?.or(form.unit), false, form, notation)?, amount.sign.clone()))
            }
            (Self::Range(..), None) => {
                Err("is a range; take an end of it with `do = [\"min\"]` or `do = [\"max\"]`".into())
            }
            (Self::Range(low, high), Some(end)) => {
                let sign = Sign::combine(low.sign.clone(), high.sign.clone())
                    .map_err(|()| "is a range of two currencies; give both ends one")?;
                let [low, high] = [(low, high), (high, low)].map(|(amount, other)| {
                    let number = amount.known_number(Some(other), form, notation)?;
                    let unit = shared_unit(number, amount.unit(notation)?, other.unit(notation)?)?.or(form.unit);
                    number.in_full(unit, true, form, notation)
                });
                let (low, high) = (low?, high?);
                match end {
                    _ if low > high => {
                        Err("is a range whose first end is above the second; write the unit of both".into())
                    }
                    End::Low if low == 0.0 => Err("begins at 0, which is no smallest amount".into()),
                    End::Low => Ok((low, sign)),
                    End::High => Ok((high, sign)),
                }
            }
        }
    }
}

/// Unit of one end of a range, which it may share with the other end: `0.5–2M`.
fn shared_unit(number: ParsedNumber, own: Option<f64>, other: Option<f64>) -> Result<Option<f64>, Reason> {
    match (own, other) {
        (None, Some(_)) if number.value >= IN_FULL => Ok(Some(1.0)),
        (None, Some(_)) if number.value >= SMALL => {
            Err("is a range with one unit, which its other end may have or not; write the unit of both".into())
        }
        (own, other) => Ok(own.or(other)),
    }
}

impl ParsedNumber {
    /// True if a number without a unit cannot be dollars: nobody invests 1.5 dollars, or 5 to 10.
    fn lacks_unit(self, is_range: bool) -> bool {
        let is_unusual = self.value.fract() != 0.0 || self.decimals > 2 || (is_range && self.value > 0.0);
        self.value < SMALL && is_unusual
    }

    /// The amount. Refuses one that lacks its unit.
    fn in_full(self, unit: Option<f64>, is_range: bool, form: &AmountForm, column: &Notation) -> Result<f64, Reason> {
        let is_small = self.value > 0.0 && self.value < column.complete_from();
        Err(match unit {
            None if form.lacks_unit => {
                "has no unit, but the header of its column has one; write it, such as `unit = \"million\"`, in the \
                 mapping"
            }
            None if self.lacks_unit(is_range) => {
                "is below 1,000 and lacks its unit; write it, as in `1.5M`, or `unit = \"million\"` in the mapping"
            }
            None if is_small => {
                "has no unit, and other amounts of its column, which are below 1,000, lack theirs; write it, as in `1.5M`, or \
                 `unit = \"million\"` in the mapping"
            }
            _ => return Ok(self.value * unit.unwrap_or(1.0)),
        }
        .into())
    }
}

#[cfg(test)]
mod tests;
