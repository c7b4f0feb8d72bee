//! A sentence that characterizes a firm as an investor, derived from its rounds.

use crate::format;
use catalog::json::computed::CoInvestorFields;
use catalog::{Catalog, History, ValueCount};
use data::vocabulary::Vocabulary;
use data::{Country, Stage, Table};

/// Minimum number of rounds or startups for a statement; fewer may be chance.
const MIN: u32 = 3;
/// Longest range of stages that is still informative.
const MAX_STAGES: usize = 3;
/// Sectors and co-investors named in the sentence.
const MAX_NAMED: usize = 2;

/// The sentence; `None` if there is nothing to say.
pub fn sentence(
    catalog: &Catalog,
    history: &History,
    countries: &[ValueCount],
    co_investors: &[(u32, CoInvestorFields)],
) -> Option<String> {
    let snapshot = catalog.snapshot();
    let counts: Vec<u32> =
        (0..=Stage::Growth.index()).map(|stage| history.rounds.values().map(|counts| counts[stage]).sum()).collect();
    let startups = history.portfolio.len() as u32;
    let unknown = history.rounds.values().map(|counts| counts[Stage::place(None)]).sum();
    let stages = stages(&counts, unknown);
    // At least 15 % of the portfolio.
    let is_usual = |(_, count): &&(u32, u32)| startups >= MIN && *count > 1 && count * 20 >= startups * 3;
    let sectors = history.sectors.iter().filter(is_usual).take(MAX_NAMED);
    let mut sectors: Vec<String> =
        sectors.map(|(sector, _)| in_sentence(snapshot.name(Table::Sectors, *sector))).collect();
    if sectors.iter().any(|name| name.contains(" and ")) {
        // It would be unclear which words are one name.
        sectors.truncate(1);
    }
    let country = country(countries, u64::from(startups));
    let others = co_investors.iter().filter(|(_, other)| other.shared_rounds >= MIN).take(MAX_NAMED);
    let others: Vec<&str> = others.map(|(row, _)| snapshot.name(Table::Firms, *row)).collect();

    if stages.is_none() && sectors.is_empty() && country.is_none() && others.is_empty() {
        return None;
    }
    let mut sentence = stages.map_or_else(|| "Investor".to_owned(), |stages| format!("{stages} investor"));
    if !sectors.is_empty() {
        sentence += &format!(" in {}", sectors.join(" and "));
    }
    sentence.extend(country.map(|(how, country)| format!(", {how}in {}", country.name_in_sentence())));
    if !others.is_empty() {
        sentence += &format!(", most often with {}", others.join(" and "));
    }
    // A name may end with a period.
    let end = if sentence.ends_with('.') { "" } else { "." };
    Some(sentence + end)
}

/// The shortest range of consecutive stages with at least 60 % of the rounds, of at most [`MAX_STAGES`]; those of unknown stage
/// may be of others.
fn stages(counts: &[u32], unknown: u32) -> Option<String> {
    let all = counts.iter().sum::<u32>() + unknown;
    let range = (1..=MAX_STAGES).find_map(|length| {
        let windows = counts.windows(length).enumerate();
        let (first, sum) =
            windows.map(|(first, window)| (first, window.iter().sum::<u32>())).max_by_key(|(_, sum)| *sum)?;
        (all >= MIN && sum * 10 >= all * 6).then_some((first, first + length - 1))
    });
    let (first, last) = range?;
    let name = |index: usize| format::word(Stage::ALL[index].name());
    Some(match (name(first), name(last)) {
        (first, last) if first == last => first,
        (first, last) => match (first.strip_prefix("Series "), last.strip_prefix("Series ")) {
            (Some(_), Some(letter)) => format!("{first}–{letter}"),
            (None, None) => format!("{first} to {}", last.to_lowercase()),
            _ => format!("{first} to {last}"),
        },
    })
}

/// The country of at least half of the startups, if half have a known one; preceded by `mostly ` unless of all.
fn country(countries: &[ValueCount], startups: u64) -> Option<(&'static str, Country)> {
    let known: u64 = countries.iter().map(|country| country.count).sum();
    let first = countries.first()?;
    let is_clear = known >= u64::from(MIN) && known * 2 >= startups && first.count * 2 >= known;
    let how = if first.count == startups { "" } else { "mostly " };
    is_clear.then_some((how, Country::at(first.value as usize)?))
}

/// The name of a sector inside a sentence: a word is lower-cased if only its first letter is a capital.
fn in_sentence(name: &str) -> String {
    let word = |word: &str| {
        let mut chars = word.chars().skip(1).peekable();
        let is_plain = chars.peek().is_some() && !chars.any(char::is_uppercase);
        if is_plain { word.to_lowercase() } else { word.to_owned() }
    };
    name.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_range_of_stages_is_named() {
        for (counts, text) in [
            ([0, 0, 5, 4, 1, 0, 0], Some("Series A–B")),
            ([0, 9, 1, 0, 0, 0, 0], Some("Seed")),
            ([2, 3, 0, 0, 0, 0, 0], Some("Seed")),
            ([4, 3, 3, 0, 0, 0, 0], Some("Pre-seed to seed")),
            ([1, 4, 4, 1, 1, 0, 0], Some("Seed to Series A")),
            ([0, 0, 0, 0, 4, 4, 1], Some("Series C–D+")),
            ([1, 1, 1, 1, 1, 1, 1], None),
            ([0, 2, 0, 0, 0, 0, 0], None),
        ] {
            assert_eq!(stages(&counts, 0).as_deref(), text, "{counts:?}");
        }
        assert_eq!(stages(&[0, 6, 0, 0, 0, 0, 0], 4).as_deref(), Some("Seed"));
        assert_eq!(stages(&[0, 6, 0, 0, 0, 0, 0], 5), None);
    }

    #[test]
    fn a_country_is_named_if_most_startups_are_known_to_be_there() {
        let country_of = Country::from_alpha2("DE").unwrap();
        let germany = country_of.index() as u32;
        let counts = |own: u64, other: u64| {
            [ValueCount { value: germany, count: own }, ValueCount { value: germany + 1, count: other }]
        };
        assert_eq!(country(&counts(6, 4), 10), Some(("mostly ", country_of)));
        assert_eq!(country(&counts(4, 5), 10), None);
        assert_eq!(country(&counts(6, 4), 21), None);
        assert_eq!(country(&counts(4, 0)[..1], 4), Some(("", country_of)));
        assert_eq!(country(&[], 10), None);
    }

    #[test]
    fn names_of_sectors_are_written_as_in_a_sentence() {
        for (name, text) in [
            ("Software", "software"),
            ("Health Care", "health care"),
            ("FinTech", "FinTech"),
            ("AI", "AI"),
            ("E-Commerce", "E-Commerce"),
            ("Internet of Things", "internet of things"),
        ] {
            assert_eq!(in_sentence(name), text);
        }
    }
}
