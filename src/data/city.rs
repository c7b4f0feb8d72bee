//! Cities under several names.

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
}
