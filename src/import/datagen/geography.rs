//! Regions, countries and their cities.

use once_cell::sync::Lazy;

use crate::datagen::culture::CULTURES;
use crate::datagen::random::Random;
use data::word_file;

/// Parts of the world in which firms mostly invest.
pub(crate) const REGIONS: [&str; 8] =
    ["North America", "Latin America", "Europe", "the Middle East", "Africa", "South Asia", "East Asia", "Oceania"];

pub(crate) struct Home {
    /// ISO 3166-1 alpha-2.
    pub(crate) code: &'static str,
    /// Index in [`REGIONS`].
    pub(crate) region: usize,
    /// Relative number of startups.
    weight: u32,
    /// Index in `CULTURES`.
    pub(crate) culture: usize,
    /// Legal form of companies, such as `GmbH`.
    pub(crate) legal: &'static str,
    /// Larger cities first.
    pub(crate) cities: Vec<&'static str>,
}

/// A line is `code region weight culture legal form|city;city`.
const COUNTRIES: &str = include_str!("words/countries.txt");

pub(crate) static HOMES: Lazy<Vec<Home>> = Lazy::new(|| {
    let lines = word_file::entries(COUNTRIES);
    lines.map(|line| parse_home(line).expect("a country with five values and cities")).collect()
});

fn parse_home(line: &'static str) -> Option<Home> {
    let (head, cities) = line.split_once('|')?;
    let mut words = head.splitn(5, ' ');
    Some(Home {
        code: words.next()?,
        region: words.next()?.parse().ok()?,
        weight: words.next()?.parse().ok()?,
        culture: words.next().and_then(|tag| CULTURES.iter().position(|culture| culture.tag == tag))?,
        legal: words.next()?,
        cities: cities.split(';').collect(),
    })
}

static WEIGHTS: Lazy<Vec<u32>> = Lazy::new(|| HOMES.iter().map(|home| home.weight).collect());

/// Draws a country; returns its index in [`HOMES`].
pub(crate) fn draw_home(random: &mut Random) -> usize {
    random.weighted(&WEIGHTS)
}

impl Home {
    /// Draws a city of the country, the larger ones more often.
    pub(crate) fn draw_city(&self, random: &mut Random) -> &'static str {
        self.cities[random.early(self.cities.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use data::Country;

    #[test]
    fn every_line_is_a_country_with_cities_and_a_culture() {
        assert_eq!(HOMES.len(), word_file::entries(COUNTRIES).count());
        for (home, line) in HOMES.iter().zip(word_file::entries(COUNTRIES)) {
            assert!(Country::from_alpha2(home.code).is_some(), "{line}");
            assert!(home.region < REGIONS.len(), "{line}");
            assert!(line.contains(&format!(" {} ", CULTURES[home.culture].tag)), "{line}");
            assert!(home.cities.iter().all(|city| !city.is_empty()), "{line}");
        }
        let regions = HOMES.iter().map(|home| home.region).collect::<std::collections::BTreeSet<_>>();
        assert_eq!(regions.len(), REGIONS.len());
    }
}
