//! Countries: ISO 3166-1, from the table of the `celes` crate.

use std::collections::HashMap;
use std::fmt;

use celes::LookupTable;
use once_cell::sync::Lazy;

use super::fold::fold;

/// A country of ISO 3166-1, written as its alpha-2 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country(u16);

struct Entry {
    alpha2: &'static str,
    name: &'static str,
}

struct Table {
    entries: Vec<Entry>,
    by_text: HashMap<String, Country>,
}

/// Folded English names that the crate's table lacks: those in common use, and the standard's own that put the form of
/// the state behind a comma.
const COMMON: [(&str, &str); 38] = [
    ("uk", "GB"),
    ("britain", "GB"),
    ("england", "GB"),
    ("america", "US"),
    ("south korea", "KR"),
    ("korea", "KR"),
    ("north korea", "KP"),
    ("russia", "RU"),
    ("vietnam", "VN"),
    ("czech republic", "CZ"),
    ("czechia", "CZ"),
    ("turkey", "TR"),
    ("turkiye", "TR"),
    ("ivory coast", "CI"),
    ("uae", "AE"),
    ("holland", "NL"),
    ("bolivia plurinational state of", "BO"),
    ("bonaire sint eustatius and saba", "BQ"),
    ("congo democratic republic of the", "CD"),
    ("congo the democratic republic of the", "CD"),
    ("dr congo", "CD"),
    ("iran islamic republic of", "IR"),
    ("korea democratic peoples republic of", "KP"),
    ("korea republic of", "KR"),
    ("korea the republic of", "KR"),
    ("macedonia the former yugoslav republic of", "MK"),
    ("macedonia", "MK"),
    ("micronesia federated states of", "FM"),
    ("moldova republic of", "MD"),
    ("netherlands kingdom of the", "NL"),
    ("palestine state of", "PS"),
    ("saint helena ascension and tristan da cunha", "SH"),
    ("taiwan province of china", "TW"),
    ("tanzania united republic of", "TZ"),
    ("venezuela bolivarian republic of", "VE"),
    ("virgin islands british", "VG"),
    ("virgin islands us", "VI"),
    ("virgin islands u s", "VI"),
];

static TABLE: Lazy<Table> = Lazy::new(|| {
    let mut countries: Vec<_> = celes::Country::get_countries().into_iter().collect();
    countries.sort_by_key(|country| country.alpha2);
    countries.dedup_by_key(|country| country.alpha2);
    let mut entries = Vec::with_capacity(countries.len());
    let mut by_text = HashMap::new();
    for (index, country) in countries.iter().enumerate() {
        let id = Country(index as u16);
        entries.push(Entry { alpha2: country.alpha2, name: plain_name(country.long_name) });
        for text in [country.alpha2, country.alpha3, country.long_name, plain_name(country.long_name)] {
            by_text.entry(fold(text)).or_insert(id);
        }
        for alias in country.aliases.iter() {
            by_text.entry(fold(&spaced(alias))).or_insert(id);
            by_text.entry(fold(alias)).or_insert(id);
        }
    }
    for (text, alpha2) in COMMON {
        if let Some(index) = countries.iter().position(|country| country.alpha2 == alpha2) {
            by_text.entry(text.to_owned()).or_insert(Country(index as u16));
        }
    }
    Table { entries, by_text }
});

/// `The United States Of America` → `United States Of America`.
fn plain_name(name: &'static str) -> &'static str {
    name.strip_prefix("The ").unwrap_or(name)
}

/// `UnitedKingdom` → `United Kingdom`.
fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 4);
    let mut after_lower = false;
    for char in name.chars() {
        if after_lower && char.is_uppercase() {
            spaced.push(' ');
        }
        after_lower = char.is_lowercase();
        spaced.push(char);
    }
    spaced
}

impl Country {
    /// Reads an alpha-2 or alpha-3 code or an English name, in any letter case; `UK` is understood.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let folded = fold(text);
        let found = TABLE.by_text.get(&folded).or_else(|| TABLE.by_text.get(folded.strip_prefix("the ")?));
        found.copied()
    }

    /// Reads an alpha-2 code in capitals, as a dataset must write it.
    #[must_use]
    pub fn from_alpha2(code: &str) -> Option<Self> {
        let index = TABLE.entries.binary_search_by(|entry| entry.alpha2.cmp(code)).ok()?;
        Some(Self(index as u16))
    }

    /// All countries, in order of their alpha-2 codes.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.entries.len()).map(|index| Self(index as u16))
    }

    /// The country's place in [`Country::all`].
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The country at `index` of [`Country::all`].
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        (index < TABLE.entries.len()).then_some(Self(index as u16))
    }

    /// The alpha-2 code, such as `DE`.
    #[must_use]
    pub fn alpha2(self) -> &'static str {
        TABLE.entries.get(self.index()).map_or("", |entry| entry.alpha2)
    }

    /// The English name, such as `Germany`.
    #[must_use]
    pub fn name(self) -> &'static str {
        TABLE.entries.get(self.index()).map_or("", |entry| entry.name)
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.alpha2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_names_and_common_names_are_read() {
        for (text, alpha2) in [
            ("DE", "DE"),
            ("de", "DE"),
            ("DEU", "DE"),
            ("Germany", "DE"),
            ("UK", "GB"),
            ("United Kingdom", "GB"),
            ("united states", "US"),
            ("USA", "US"),
            ("South Korea", "KR"),
            ("Netherlands", "NL"),
            ("the netherlands", "NL"),
            ("Czech Republic", "CZ"),
            ("Côte d'Ivoire", "CI"),
            ("Russia", "RU"),
            ("Vietnam", "VN"),
            ("Hong Kong", "HK"),
            ("Taiwan", "TW"),
            ("Iran", "IR"),
            ("Tanzania", "TZ"),
            ("Bolivia", "BO"),
            ("Venezuela", "VE"),
            ("Moldova", "MD"),
            ("Laos", "LA"),
            ("Syria", "SY"),
            ("Palestine", "PS"),
            ("UAE", "AE"),
            ("Korea, Republic of", "KR"),
            ("Korea (the Republic of)", "KR"),
            ("Korea, Democratic People's Republic of", "KP"),
            ("Congo, Democratic Republic of the", "CD"),
            ("Congo", "CG"),
            ("Iran, Islamic Republic of", "IR"),
            ("Virgin Islands, U.S.", "VI"),
            ("Virgin Islands, British", "VG"),
            ("Tanzania, United Republic of", "TZ"),
        ] {
            assert_eq!(Country::read(text).map(Country::alpha2), Some(alpha2), "{text}");
        }
        assert_eq!(Country::read("Atlantis"), None);
        assert_eq!(Country::read(""), None);
    }

    #[test]
    fn a_country_is_found_at_its_own_index() {
        assert!(Country::all().count() >= 249);
        for country in Country::all() {
            assert_eq!(Country::at(country.index()), Some(country));
            assert_eq!(Country::from_alpha2(country.alpha2()), Some(country));
        }
    }
}
