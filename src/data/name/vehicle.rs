//! Pooled vehicles by their names: `Alder Fund III, L.P.`, `Alder SPV`.

use crate::name::numerals::parse_roman;
use crate::name::words::WordList;

/// An entity that holds investments, and neither a firm nor an operating company.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vehicle {
    /// `Fund III`: 3; `Fund 2019`: 2019.
    pub number: Option<u16>,
}

/// The vehicle that the words of a folded name describe, and the index of the word that is its number, with the number.
pub fn find_vehicle(words: &[&str]) -> (Option<Vehicle>, Option<(usize, u16)>) {
    let is_fund = words.iter().any(|word| matches!(*word, "fund" | "funds" | "lp"));
    let numbered = words.windows(2).enumerate().find_map(|(at, pair)| {
        let digits = pair[1].parse::<u16>().ok();
        let number = digits.or_else(|| parse_roman(pair[1])).filter(|_| WordList::BeforeNumbers.contains(pair[0]))?;
        // A first firm is not numbered: only a fund is `I`.
        (is_fund || number > 1 && digits.is_none()).then_some((at + 1, number))
    });
    let is_series = words.windows(3).skip(1).any(|three| three == ["a", "series", "of"]);
    let has_word = words.iter().any(|word| WordList::Vehicles.contains(word));
    let vehicle = match numbered {
        Some((_, number)) => Some(Vehicle { number: Some(number) }),
        None => (is_series || has_word).then_some(Vehicle { number: None }),
    };
    (vehicle, numbered)
}
