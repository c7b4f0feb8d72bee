//! Cities under several names, and those of states and provinces.

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

/// A state or province of a country that has them.
pub(crate) struct State {
    /// The ISO 3166-1 code of its country.
    pub(crate) country: &'static str,
    /// The folded names of its cities.
    pub(crate) cities: Vec<&'static str>,
}

/// The states by each of their names.
static STATES: Lazy<HashMap<&'static str, State>> = Lazy::new(|| {
    let lines = include_str!("states.txt").lines().filter(|line| !line.starts_with('#'));
    let states = lines.filter_map(|line| {
        let (country, line) = line.split_once('|')?;
        let (names, cities) = line.split_once('|')?;
        Some(names.split(',').map(move |name| (name, State { country, cities: cities.split('|').collect() })))
    });
    states.flatten().collect()
});

/// The state of a folded name. New York, Ontario and others are cities, too; as states they have `state` or `province` behind.
pub(crate) fn state(folded: &str) -> Option<&'static State> {
    STATES.get(folded)
}

/// The state of a folded name behind that of a city: `New York` of `Buffalo, New York`.
pub(crate) fn state_of_city(folded: &str) -> Option<&'static State> {
    state(folded).or_else(|| ["state", "province"].iter().find_map(|kind| state(&format!("{folded} {kind}"))))
}

/// The states with their folded names.
pub(crate) fn states() -> impl Iterator<Item = (&'static str, &'static State)> {
    STATES.iter().map(|(name, state)| (*name, state))
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
    use crate::data::Country;
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
    fn a_city_is_of_one_state_of_a_country() {
        let mut known = HashMap::new();
        for (name, state) in states() {
            assert!(fold(name) == name && !state.cities.is_empty(), "{name}");
            assert!(Country::from_alpha2(state.country).is_some(), "{name}");
            for city in &state.cities {
                // Names of a state have the same cities.
                let other = known.insert((state.country, city), &state.cities);
                assert!(fold(city) == *city && other.is_none_or(|other| *other == state.cities), "{city} of {name}");
            }
        }
        assert_eq!(states().filter(|(_, state)| state.country == "US").count(), 50);
        let mut of_codes: Vec<&str> = CODES.iter().filter_map(|known| us_state_of_code(&known[..2])).collect();
        of_codes.sort_unstable();
        of_codes.dedup();
        assert!(of_codes.len() == 50 && of_codes.iter().all(|code| state(code).is_some()), "{of_codes:?}");
        assert!(state("oregon").unwrap().cities.contains(&"portland") && state("new york").is_none());
        assert!(state_of_city("new york").unwrap().cities.contains(&"buffalo"));
        assert!(state("bayern").unwrap().cities.contains(&"munich") && state("bavaria").unwrap().country == "DE");
    }
}
