//! Countries: ISO 3166-1, from the table of the `celes` crate.

use std::collections::{HashMap, HashSet};
use std::fmt;

use celes::LookupTable;
use once_cell::sync::Lazy;

use crate::fold::{self, fold, fold_parts, spaced};
use crate::word_file;

/// A country of ISO 3166-1; displayed as its alpha-2 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country(u16);

struct CountryTable {
    /// Codes and names, in the order of the codes.
    entries: Vec<(&'static str, String)>,
    by_text: HashMap<String, Country>,
    names: Vec<(String, Country)>,
    /// Folded parts of the names of countries and regions that contain commas.
    with_commas: HashSet<Vec<String>>,
}

/// Folded names that mean less than the country they are read as: a part of it, or either it or another country.
const NARROWER: [&str; 5] = ["england", "korea", "northern ireland", "scotland", "wales"];

const USUAL_NAMES: &str = include_str!("country_names.txt");

const ARTICLES: &str = include_str!("country_articles.txt");

const ALIASES: &str = include_str!("country_aliases.txt");

/// Names in other languages: `None` for one that several countries have. Those in Latin letters are folded. Others, and
/// those of three letters, are in lower case as they are written: romanized names of several scripts have too few letters.
static TRANSLATIONS: Lazy<HashMap<String, Option<Country>>> = Lazy::new(|| {
    let mut translations: HashMap<String, Option<Country>> = HashMap::new();
    for (code, names) in
        word_file::entries(include_str!("country_translations.txt")).filter_map(|line| line.split_once('|'))
    {
        let country = Country::from_alpha2(code);
        // Three letters may mean anything, unless they are an acronym or have marks: `Đức`.
        let is_acronym = |name: &str| name.len() == 3 && name.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_clear = |name: &&str| !name.is_ascii() || name.len() > 3 || is_acronym(name);
        for name in names.split('|').filter(is_clear) {
            let name = translation_key(name);
            translations
                .entry(name)
                .and_modify(|known| *known = known.filter(|_| *known == country))
                .or_insert(country);
        }
    }
    translations
});

fn translation_key(name: &str) -> String {
    let folded = fold(name);
    if is_latin(name) && (folded.len() > 3 || name.is_ascii()) { folded } else { name.trim().to_lowercase() }
}

fn is_latin(text: &str) -> bool {
    text.chars().all(fold::is_latin)
}

fn pairs(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    word_file::entries(text).filter_map(|line| line.split_once(' '))
}

static TABLE: Lazy<CountryTable> = Lazy::new(|| {
    let mut countries: Vec<_> = celes::Country::get_countries().into_iter().collect();
    countries.sort_by_key(|country| country.alpha2);
    countries.dedup_by_key(|country| country.alpha2);
    let mut entries = Vec::with_capacity(countries.len());
    let mut by_text = HashMap::new();
    for (index, country) in countries.iter().enumerate() {
        let name = short_name(country.alpha2, country.long_name);
        for text in [country.alpha2, country.alpha3, country.long_name, plain_name(country.long_name), &name] {
            by_text.entry(fold(text)).or_insert(Country(index as u16));
        }
        entries.push((country.alpha2, name));
    }
    // An alias of one country may be the name of another: `Samoa` of American Samoa.
    for (index, country) in countries.iter().enumerate() {
        for alias in country.aliases.iter() {
            by_text.entry(fold(&spaced(alias))).or_insert(Country(index as u16));
            by_text.entry(fold(alias)).or_insert(Country(index as u16));
        }
    }
    for (alpha2, text) in pairs(ALIASES) {
        let index = countries.iter().position(|country| country.alpha2 == alpha2).expect("a code of ISO 3166-1");
        by_text.entry(fold(text)).or_insert(Country(index as u16));
    }
    let regions = region_lines().flat_map(|(names, _)| names.split('|'));
    let names = pairs(USUAL_NAMES).chain(pairs(ALIASES)).map(|(_, name)| name).chain(regions);
    let with_commas = names.filter(|name| name.contains(',')).map(fold_parts).collect();
    let codes = countries.iter().flat_map(|country| [country.alpha2, country.alpha3]).map(fold);
    let codes: HashSet<String> = codes.collect();
    let names = by_text.iter().filter(|(text, _)| !codes.contains(*text));
    let mut names: Vec<(String, Country)> = names.map(|(text, country)| (text.clone(), *country)).collect();
    names.sort_unstable();
    CountryTable { entries, by_text, names, with_commas }
});

static REGIONS: Lazy<Vec<(Vec<String>, Vec<Country>)>> = Lazy::new(|| {
    let region = |(names, codes): (&str, &str)| {
        let country = |code| Country::from_alpha2(code).expect("a code of ISO 3166-1");
        let mut names: Vec<String> = names.split('|').map(fold).collect();
        names.dedup();
        (names, codes.split(' ').map(country).collect())
    };
    region_lines().map(region).collect()
});

/// The names of each region, separated by `|`, and the codes of its countries.
fn region_lines() -> impl Iterator<Item = (&'static str, &'static str)> {
    word_file::entries(include_str!("regions.txt")).map(|line| line.split_once(": ").expect("names and codes"))
}

/// The usual name and spelling: `The United States Of America` → `United States`.
fn short_name(alpha2: &str, long_name: &'static str) -> String {
    if let Some((_, name)) = pairs(USUAL_NAMES).find(|(known, _)| *known == alpha2) {
        return name.to_owned();
    }
    let name = plain_name(long_name).to_owned();
    [" Of ", " And ", " The "].iter().fold(name, |name, word| name.replace(word, &word.to_lowercase()))
}

fn plain_name(name: &'static str) -> &'static str {
    name.strip_prefix("The ").unwrap_or(name)
}

impl Country {
    /// Reads an alpha-2 or alpha-3 code or a name in any of many languages, in any letter case. `UK` is accepted.
    pub fn read(text: &str) -> Option<Self> {
        // A name is never a code, although the Arabic one of Egypt, romanized, is that of Montserrat.
        if !is_latin(text) {
            return TRANSLATIONS.get(&translation_key(text)).copied().flatten();
        }
        let folded = fold(text);
        if folded.len() < 4 && !text.is_ascii() {
            return TRANSLATIONS.get(&translation_key(text)).copied().flatten();
        }
        let known = TABLE.by_text.get(&folded).or_else(|| TABLE.by_text.get(folded.strip_prefix("the ")?)).copied();
        known.or_else(|| TRANSLATIONS.get(&folded).copied().flatten())
    }

    pub fn is_narrower(text: &str) -> bool {
        NARROWER.contains(&fold(text).as_str())
    }

    pub fn from_alpha2(code: &str) -> Option<Self> {
        TABLE.entries.binary_search_by(|(alpha2, _)| (*alpha2).cmp(code)).ok().map(|index| Self(index as u16))
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.entries.len()).map(|index| Self(index as u16))
    }

    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    pub fn at(index: usize) -> Option<Self> {
        (index < TABLE.entries.len()).then_some(Self(index as u16))
    }

    pub fn alpha2(self) -> &'static str {
        TABLE.entries[self.index()].0
    }

    /// The short English name: `Germany`, `United States`.
    pub fn name(self) -> &'static str {
        &TABLE.entries[self.index()].1
    }

    /// The name within a sentence: `Germany`, `the United States`.
    pub fn name_in_sentence(self) -> String {
        let takes_article = word_file::entries(ARTICLES).any(|code| code == self.alpha2());
        if takes_article { format!("the {}", self.name()) } else { self.name().to_owned() }
    }

    /// The countries of a region by its name, such as `europe` or `dach`, in order of their codes.
    pub fn of_region(name: &str) -> Option<&'static [Self]> {
        let folded = fold(name);
        let name = folded.strip_prefix("the ").unwrap_or(&folded);
        let region = REGIONS.iter().find(|(names, _)| names.iter().any(|known| known == name));
        region.map(|(_, countries)| countries.as_slice())
    }

    /// True if a text is the name of a country or region with all of its commas: `Korea, South`.
    pub fn is_name_with_commas(text: &str) -> bool {
        TABLE.with_commas.contains(&fold_parts(text))
    }

    pub fn region_names() -> impl Iterator<Item = &'static [String]> {
        REGIONS.iter().map(|(names, _)| names.as_slice())
    }

    /// All English names that [`Country::read`] accepts, folded and sorted.
    pub fn names() -> impl Iterator<Item = (&'static str, Self)> {
        TABLE.names.iter().map(|(name, country)| (name.as_str(), *country))
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
    fn names_take_their_article_within_a_sentence() {
        for (code, name) in [
            ("US", "the United States"),
            ("NL", "the Netherlands"),
            ("KY", "the Cayman Islands"),
            ("CD", "the DR Congo"),
            ("DE", "Germany"),
            ("VA", "Vatican City"),
        ] {
            assert_eq!(Country::from_alpha2(code).unwrap().name_in_sentence(), name);
        }
        assert!(word_file::entries(ARTICLES).all(|code| Country::from_alpha2(code).is_some()));
    }

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
            ("Samoa", "WS"),
            ("American Samoa", "AS"),
            ("Iran, Islamic Republic of", "IR"),
            ("Virgin Islands, U.S.", "VI"),
            ("Virgin Islands, British", "VG"),
            ("Tanzania, United Republic of", "TZ"),
            ("Viet Nam", "VN"),
            ("Holy See (Vatican City State)", "VA"),
            ("Saint Martin (French part)", "MF"),
            ("Sint Maarten (Dutch part)", "SX"),
            ("U.S.", "US"),
            ("U.S.A.", "US"),
            ("U.K.", "GB"),
            ("Deutschland", "DE"),
            ("Österreich", "AT"),
            ("España", "ES"),
            ("Korea, South", "KR"),
        ] {
            assert_eq!(Country::read(text).map(Country::alpha2), Some(alpha2), "{text}");
        }
        assert_eq!(Country::read("Atlantis"), None);
        assert_eq!(Country::read(""), None);
    }

    #[test]
    fn names_are_read_in_many_languages_and_no_name_is_taken_for_a_code() {
        for (text, alpha2) in [
            ("Vereinigte Staaten", "US"),
            ("EE. UU.", "US"),
            ("États-Unis", "US"),
            ("Stany Zjednoczone", "US"),
            ("США", "US"),
            ("Großbritannien", "GB"),
            ("Royaume-Uni", "GB"),
            ("Países Bajos", "NL"),
            ("Frankreich", "FR"),
            ("Svizzera", "CH"),
            ("Szwajcaria", "CH"),
            ("Alemanha", "DE"),
            ("Niemcy", "DE"),
            ("Saksa", "DE"),
            ("Németország", "DE"),
            ("Γερμανία", "DE"),
            ("Германия", "DE"),
            ("Almanya", "DE"),
            ("Tyskland", "DE"),
            ("Österrike", "AT"),
            ("Espanha", "ES"),
            ("Česko", "CZ"),
            ("中国", "CN"),
            ("日本", "JP"),
            ("한국", "KR"),
            ("대한민국", "KR"),
            ("ドイツ", "DE"),
            ("مصر", "EG"),
            ("ישראל", "IL"),
            ("УКРАЇНА", "UA"),
            ("VAE", "AE"),
            ("HONGKONG", "HK"),
        ] {
            assert_eq!(Country::read(text).map(Country::alpha2), Some(alpha2), "{text}");
        }
        for (code, names) in
            word_file::entries(include_str!("country_translations.txt")).filter_map(|line| line.split_once('|'))
        {
            for name in names.split('|').filter(|name| !name.is_ascii() || name.len() > 3) {
                let read = Country::read(name);
                assert!(read.is_none_or(|country| country.alpha2() == code), "{name} of {code}: {read:?}");
            }
        }
    }

    #[test]
    fn regions_are_read_and_their_countries_are_in_order() {
        let codes = |name: &str| -> Vec<&str> {
            Country::of_region(name).unwrap_or_default().iter().map(|country| country.alpha2()).collect()
        };
        assert_eq!(codes("DACH"), ["AT", "CH", "DE"]);
        assert_eq!(codes("the Nordics"), codes("Nordic countries"));
        assert_eq!(codes("European Union").len(), 27);
        assert_eq!(codes("Germany"), [""; 0]);
        for (names, countries) in REGIONS.iter() {
            assert!(countries.is_sorted() && countries.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
            for name in names {
                assert_eq!((fold(name), Country::read(name)), (name.clone(), None), "{name}");
            }
        }
        // The whole includes all countries of its parts.
        let parts = [
            ("dach", "europe"),
            ("eu", "europe"),
            ("eu", "eea"),
            ("scandinavia", "nordics"),
            ("gcc", "mena"),
            ("south america", "latam"),
            ("caribbean", "latam"),
            ("sub saharan africa", "africa"),
            ("east africa", "sub saharan africa"),
            ("west africa", "africa"),
            ("europe", "emea"),
            ("mena", "emea"),
            ("africa", "emea"),
            ("latam", "americas"),
            ("asean", "apac"),
        ];
        for (part, whole) in parts {
            assert!(codes(part).iter().all(|code| codes(whole).contains(code)), "{part}");
        }
    }

    #[test]
    fn names_with_commas_are_read_and_need_theirs() {
        assert!(TABLE.with_commas.len() > 20);
        for parts in &TABLE.with_commas {
            let name = parts.join(", ");
            assert!(Country::read(&name).is_some() || Country::of_region(&name).is_some(), "{name}");
            assert!(Country::is_name_with_commas(&name.to_uppercase()), "{name}");
            assert!(!Country::is_name_with_commas(&parts.join(" ")), "{name}");
        }
        for name in
            ["Korea, Democratic People's Republic of", "Virgin Islands, U.S.", "Europe, Middle East, and Africa"]
        {
            assert!(Country::is_name_with_commas(name), "{name}");
        }
        assert!(!Country::is_name_with_commas("United, States") && !Country::is_name_with_commas("Republic, of Korea"));
    }

    #[test]
    fn countries_have_their_usual_names() {
        let name = |code: &str| Country::from_alpha2(code).map_or("", Country::name);
        for (code, called) in pairs(USUAL_NAMES) {
            assert_eq!(name(code), called);
        }
        for (code, called) in [
            ("DE", "Germany"),
            ("NL", "Netherlands"),
            ("BA", "Bosnia and Herzegovina"),
            ("VC", "Saint Vincent and the Grenadines"),
            ("AE", "United Arab Emirates"),
        ] {
            assert_eq!(name(code), called);
        }
        for country in Country::all() {
            let called = country.name();
            assert_eq!(Country::read(called), Some(country), "{called}");
            let small = ["Of", "And", "The", "Da"];
            assert!(!called.split(' ').any(|word| small.contains(&word)), "{called}");
        }
    }

    #[test]
    fn every_name_is_read_as_its_country_and_codes_are_not_names() {
        let names: Vec<(&str, Country)> = Country::names().collect();
        assert!(names.is_sorted() && names.len() > Country::all().count());
        for (name, country) in &names {
            assert_eq!(Country::read(name), Some(*country), "{name}");
        }
        for name in ["united states", "united kingdom", "south korea", "germany"] {
            assert!(names.iter().any(|(known, _)| *known == name), "{name}");
        }
        assert!(!names.iter().any(|(name, _)| ["de", "deu", "us"].contains(name)));
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
