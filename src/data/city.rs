//! Cities with several names, and the cities of states and provinces.

use std::collections::HashMap;

use once_cell::sync::Lazy;

use crate::word_file;

static NAMES: Lazy<HashMap<&'static str, Vec<&'static str>>> = Lazy::new(|| {
    let groups = word_file::entries(include_str!("cities.txt")).map(|line| line.split('|').collect::<Vec<_>>());
    groups.flat_map(|names| names.clone().into_iter().map(move |name| (name, names.clone()))).collect()
});

/// All folded names of the city with this folded name, including the given one; empty if it has only one name.
pub fn names_of(folded: &str) -> &'static [&'static str] {
    NAMES.get(folded).map_or(&[], Vec::as_slice)
}

pub struct Subdivision {
    /// The ISO 3166-1 code of its country.
    pub country: &'static str,
    pub cities: Vec<&'static str>,
}

static STATES: Lazy<HashMap<&'static str, Subdivision>> = Lazy::new(|| {
    let states = word_file::entries(include_str!("states.txt")).filter_map(|line| {
        let (country, line) = line.split_once('|')?;
        let (names, cities) = line.split_once('|')?;
        Some(names.split(',').map(move |name| (name, Subdivision { country, cities: cities.split('|').collect() })))
    });
    states.flatten().collect()
});

/// Finds a state by its folded name, which ends in `state` or `province` if a city has it, too, as New York.
pub fn state(folded: &str) -> Option<&'static Subdivision> {
    STATES.get(folded)
}

/// Finds a state by the folded name that follows a city: `New York` in `Buffalo, New York`.
pub fn state_of_city(folded: &str) -> Option<&'static Subdivision> {
    state(folded).or_else(|| state(&named_like_city(folded)?))
}

/// The name of the state that has that of a city, too: `ontario province` for `ontario`.
pub fn named_like_city(folded: &str) -> Option<String> {
    ["state", "province"].iter().map(|kind| format!("{folded} {kind}")).find(|name| state(name).is_some())
}

/// All states, once for each of their folded names.
pub fn states() -> impl Iterator<Item = (&'static str, &'static Subdivision)> {
    STATES.iter().map(|(name, state)| (*name, state))
}

/// Country and folded name of each state, by the state's codes in lower case.
static CODES: Lazy<HashMap<&'static str, Vec<(&'static str, &'static str)>>> = Lazy::new(|| {
    let mut codes: HashMap<&str, Vec<_>> = HashMap::new();
    for line in word_file::entries(include_str!("state_codes.txt")) {
        let [country, known, name] = line.split('|').collect::<Vec<_>>()[..] else { continue };
        known.split(',').for_each(|code| codes.entry(code).or_default().push((country, name)));
    }
    codes
});

/// The states that a folded text after a city names by code, abbreviation or name, each with its country: `wa` is
/// Washington and Western Australia. `None` for a state without known cities.
pub fn states_called(text: &str) -> Vec<(&'static str, Option<&'static Subdivision>)> {
    match CODES.get(text) {
        Some(states) => states.iter().map(|(country, name)| (*country, state(name))).collect(),
        None => state_of_city(text).map(|state| (state.country, Some(state))).into_iter().collect(),
    }
}

/// The folded name of the US state with this code in lower case.
pub fn us_state_of_code(code: &str) -> Option<&'static str> {
    CODES.get(code)?.iter().find_map(|(country, name)| (*country == "US").then_some(*name))
}

/// Countries, each with the cities that a code may follow.
type CitiesByCountry = Vec<(&'static str, Vec<&'static str>)>;

static CITIES_OF_CODES: Lazy<HashMap<&'static str, CitiesByCountry>> = Lazy::new(|| {
    let mut codes: HashMap<&str, Vec<_>> = HashMap::new();
    for line in word_file::entries(include_str!("city_codes.txt")) {
        if let [code, country, cities @ ..] = &line.split('|').collect::<Vec<_>>()[..] {
            codes.entry(*code).or_default().push((*country, cities.to_vec()));
        }
    }
    codes
});

/// The countries that a folded city may be in by the folded text after it: `US` for `wilmington` and `de`.
pub fn countries_of(city: &str, behind: &str) -> Vec<&'static str> {
    let is_one = |cities: &[&str]| cities.contains(&city) || names_of(city).iter().any(|name| cities.contains(name));
    let states =
        states_called(behind).into_iter().filter(|(_, state)| state.is_some_and(|state| is_one(&state.cities)));
    let listed = CITIES_OF_CODES.get(behind).into_iter().flatten().filter(|(_, cities)| is_one(cities));
    let mut countries: Vec<&str> =
        states.map(|(country, _)| country).chain(listed.map(|(country, _)| *country)).collect();
    countries.sort_unstable();
    countries.dedup();
    countries
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::Country;
    use crate::fold::fold;

    #[test]
    fn names_are_folded_and_each_is_of_one_city() {
        let names: Vec<&str> =
            word_file::entries(include_str!("cities.txt")).flat_map(|line| line.split('|')).collect();
        assert!(names.iter().all(|name| fold(name) == *name && !name.is_empty()), "{names:?}");
        assert_eq!(names.len(), NAMES.len());
        assert!(NAMES.values().all(|names| names.len() > 1));
    }

    #[test]
    fn a_city_is_of_one_state_of_a_country() {
        let mut known = HashMap::new();
        for (name, state) in states() {
            assert!(fold(name) == name && !state.cities.is_empty(), "{name}");
            assert!(Country::from_alpha2(state.country).is_some(), "{name}");
            for city in &state.cities {
                // All names of a state list the same cities.
                let other = known.insert((state.country, city), &state.cities);
                assert!(fold(city) == *city && other.is_none_or(|other| *other == state.cities), "{city} of {name}");
            }
        }
        assert_eq!(states().filter(|(_, state)| state.country == "US").count(), 50);
        let of_codes = CODES.values().flatten().filter(|(country, name)| *country == "US" && state(name).is_some());
        let of_codes: HashSet<&str> = of_codes.map(|(_, name)| *name).collect();
        assert_eq!(of_codes.len(), 50, "{of_codes:?}");
        assert!(state("oregon").unwrap().cities.contains(&"portland") && state("new york").is_none());
        assert!(state_of_city("new york").unwrap().cities.contains(&"buffalo"));
        assert!(state("bayern").unwrap().cities.contains(&"munich") && state("bavaria").unwrap().country == "DE");
    }

    #[test]
    fn a_city_with_a_code_is_in_one_country() {
        for (city, code, country) in [
            ("atlanta", "ga", "US"),
            ("berlin", "de", "DE"),
            ("koeln", "de", "DE"),
            ("wilmington", "de", "US"),
            ("toronto", "ca", "CA"),
            ("san francisco", "ca", "US"),
            ("gurgaon", "hr", "IN"),
            ("perth", "wa", "AU"),
            ("geneve", "ge", "CH"),
            ("atlanta", "georgia", "US"),
            ("tbilisi", "georgia", "GE"),
            ("buffalo", "new york", "US"),
        ] {
            assert_eq!(countries_of(city, code), [country], "{city}, {code}");
        }
        assert!(countries_of("berlin", "ga").is_empty() && countries_of("paris", "fr").is_empty());
        for (code, lists) in CITIES_OF_CODES.iter() {
            for (country, cities) in lists {
                assert!(Country::from_alpha2(country).is_some(), "{code} {country}");
                for city in cities {
                    assert_eq!((fold(city).as_str(), countries_of(city, code)), (*city, vec![*country]), "{code}");
                }
            }
            for (country, state) in states_called(code) {
                for city in state.iter().flat_map(|state| &state.cities) {
                    assert_eq!(countries_of(city, code), [country], "{city}, {code}");
                }
            }
        }
        for (code, states) in CODES.iter() {
            assert!(fold(code) == *code && states.iter().all(|(country, _)| Country::from_alpha2(country).is_some()));
        }
    }
}
