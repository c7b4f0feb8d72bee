//! Cities under several names, and those of the states of the USA.

use std::collections::HashMap;

use once_cell::sync::Lazy;

/// The names of the same city, by each of them.
static NAMES: Lazy<HashMap<&'static str, Vec<&'static str>>> = Lazy::new(|| {
    let lines = include_str!("cities.txt").lines().filter(|line| !line.starts_with('#'));
    let groups = lines.map(|line| line.split('|').collect::<Vec<_>>());
    groups.flat_map(|names| names.clone().into_iter().map(move |name| (name, names.clone()))).collect()
});

/// The folded names of the city with this folded name, which is among them; none if it is known by one name only.
pub(crate) fn names_of(folded: &str) -> &'static [&'static str] {
    NAMES.get(folded).map_or(&[], Vec::as_slice)
}

/// The cities of each state of the USA.
static US_STATES: Lazy<HashMap<&'static str, Vec<&'static str>>> = Lazy::new(|| {
    let lines = include_str!("us_states.txt").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| line.split_once('|')).map(|(state, cities)| (state, cities.split('|').collect())).collect()
});

/// The folded names of the cities of a state of the USA. New York and Washington are cities; their states have `state` behind.
pub(crate) fn of_us_state(folded: &str) -> Option<&'static [&'static str]> {
    US_STATES.get(folded).map(Vec::as_slice)
}

/// The folded names of the states of the USA.
pub(crate) fn us_states() -> impl Iterator<Item = &'static str> {
    US_STATES.keys().copied()
}

/// The states of the USA by their codes of two letters (ANSI INCITS 38).
const CODES: &[&str] = &[
    "al alabama",
    "ak alaska",
    "az arizona",
    "ar arkansas",
    "ca california",
    "co colorado",
    "ct connecticut",
    "de delaware",
    "fl florida",
    "ga georgia",
    "hi hawaii",
    "id idaho",
    "il illinois",
    "in indiana",
    "ia iowa",
    "ks kansas",
    "ky kentucky",
    "la louisiana",
    "me maine",
    "md maryland",
    "ma massachusetts",
    "mi michigan",
    "mn minnesota",
    "ms mississippi",
    "mo missouri",
    "mt montana",
    "ne nebraska",
    "nv nevada",
    "nh new hampshire",
    "nj new jersey",
    "nm new mexico",
    "ny new york state",
    "nc north carolina",
    "nd north dakota",
    "oh ohio",
    "ok oklahoma",
    "or oregon",
    "pa pennsylvania",
    "ri rhode island",
    "sc south carolina",
    "sd south dakota",
    "tn tennessee",
    "tx texas",
    "ut utah",
    "vt vermont",
    "va virginia",
    "wa washington state",
    "wv west virginia",
    "wi wisconsin",
    "wy wyoming",
];

/// The state of the USA of a code in lower case, by its folded name.
pub(crate) fn us_state_of_code(code: &str) -> Option<&'static str> {
    CODES.iter().find_map(|known| known.strip_prefix(code)?.strip_prefix(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::fold::fold;

    #[test]
    fn names_are_folded_and_each_is_of_one_city() {
        let lines = include_str!("cities.txt").lines().filter(|line| !line.starts_with('#'));
        let names: Vec<&str> = lines.flat_map(|line| line.split('|')).collect();
        assert!(names.iter().all(|name| fold(name) == *name && !name.is_empty()), "{names:?}");
        assert_eq!(names.len(), NAMES.len());
        assert!(NAMES.values().all(|names| names.len() > 1));
    }

    #[test]
    fn a_city_is_of_one_state() {
        let mut known = std::collections::HashSet::new();
        for (state, cities) in US_STATES.iter() {
            assert!(fold(state) == *state && !cities.is_empty(), "{state}");
            for city in cities {
                assert!(fold(city) == *city && known.insert(city), "{city} of {state}");
            }
        }
        assert_eq!(US_STATES.len(), 50);
        let mut of_codes: Vec<&str> = CODES.iter().filter_map(|known| us_state_of_code(&known[..2])).collect();
        of_codes.sort_unstable();
        of_codes.dedup();
        assert!(of_codes.len() == 50 && of_codes.iter().all(|state| of_us_state(state).is_some()), "{of_codes:?}");
        assert!(of_us_state("oregon").unwrap().contains(&"portland") && of_us_state("new york").is_none());
    }
}
