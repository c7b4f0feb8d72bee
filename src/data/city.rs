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
        assert!(of_us_state("oregon").unwrap().contains(&"portland") && of_us_state("new york").is_none());
    }
}
