//! Reads the country and the city of a location such as `Austin, TX`, `Paris, France` or `Toronto, ON, Canada`.
//!
//! A city is followed by a country or a state, and a two-letter code may be either: `GA` is Georgia or Gabon. A country is
//! read only if something decides: the name of a country, a postcode, an unambiguous code, the city itself, or else the
//! other locations of the column, provided that all of their codes are states, or all are countries.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;

use crate::sources::{Reason, missing};
use data::fold::fold;
use data::{Country, city, word_file};

/// Countries that usually have a state's code after the city. Those of other countries count only after their cities.
const WITH_STATES: [&str; 3] = ["US", "CA", "AU"];

/// Postcode at the end: of the United States, of Canada, or of an unknown country.
static POSTCODE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"[\s,]+(?:(?<US>\d{5}(?:-\d{4})?)|(?<CA>[A-Za-z]\d[A-Za-z]\s?\d[A-Za-z]\d)|\d{4,6})$";
    Regex::new(pattern).expect("a valid expression")
});

/// Leading digits of ZIP codes in states whose codes are also those of countries with five-digit postcodes.
const ZIP_CODES: [(&str, &[&str]); 8] = [
    ("de", &["197", "198", "199"]),
    ("id", &["83"]),
    ("la", &["70", "71"]),
    ("ma", &["01", "02"]),
    ("me", &["03", "04"]),
    ("mn", &["55", "56"]),
    ("nc", &["27", "28"]),
    ("sd", &["57"]),
];

const SEVERAL: &str = "may be in several countries; write the country out, as in `Atlanta, GA, USA`";

/// Unambiguous codes that follow cities in a column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Codes {
    /// Countries that codes of their states indicate.
    states: BTreeSet<Country>,
    countries: BTreeSet<String>,
    /// Codes that follow unknown cities.
    unproven: BTreeSet<String>,
    /// Codes of neither a state nor a country.
    unknown: BTreeSet<String>,
    /// True if the column has codes of states that several countries have, such as `NT`.
    has_shared_states: bool,
    has_names: bool,
    /// True if the column has locations that only its other locations can explain.
    has_ambiguous: bool,
}

/// Meaning of the last part of a location.
enum LocationMeaning {
    Country(Country),
    /// Code with one meaning after an unknown city; of a state perhaps with another country that has a state of this code.
    Unproven(Country, Option<Country>),
    Ambiguous(StateOrCountry),
    Contradictory,
    Nothing,
}

/// A code or name of both a state and a country.
struct StateOrCountry {
    state: Country,
    country: Country,
    is_name: bool,
    /// True if no city comes before it.
    is_alone: bool,
}

impl Codes {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.states.extend(other.states.iter().copied());
        self.countries.extend(other.countries.iter().cloned());
        self.unproven.extend(other.unproven.iter().cloned());
        self.unknown.extend(other.unknown.iter().cloned());
        self.has_shared_states |= other.has_shared_states;
        self.has_names |= other.has_names;
        self.has_ambiguous |= other.has_ambiguous;
    }

    pub(crate) fn decide_more_than<'c>(&'c self, known: &'c Self) -> bool {
        let for_ambiguous =
            |codes: &'c Self| (&codes.states, codes.has_shared_states, &codes.countries, codes.has_names);
        self.are_others() != known.are_others() || (self.has_ambiguous && for_ambiguous(self) != for_ambiguous(known))
    }

    /// True if the codes are of another kind, such as Swiss cantons or Italian provinces.
    fn are_others(&self) -> bool {
        self.unknown.len() >= 2 && self.unknown.len() * 2 >= self.unproven.len()
    }

    fn country(&self, meaning: &LocationMeaning) -> Result<Country, Reason> {
        let has_rival = |rival: &Option<Country>| rival.is_some_and(|rival| self.states.contains(&rival));
        Err(match meaning {
            LocationMeaning::Unproven(..) if self.are_others() => {
                "has a code of two letters behind the city, and other codes of its column are those of no country; write \
                 the country out, as in `Bern, Switzerland`"
            }
            LocationMeaning::Unproven(_, rival) if has_rival(rival) => SEVERAL,
            LocationMeaning::Country(country) | LocationMeaning::Unproven(country, _) => return Ok(*country),
            LocationMeaning::Ambiguous(code) => match self.decide_ambiguous(code) {
                Some(country) => return Ok(country),
                None => {
                    "is the code or name of a state and of a country, and the other locations of its column do not tell \
                     which; write the country out, as in `Atlanta, GA, USA`"
                }
            },
            LocationMeaning::Contradictory => SEVERAL,
            LocationMeaning::Nothing => "is not a country of ISO 3166-1, such as `DE`",
        }
        .into())
    }

    /// Decides an ambiguous code by the other codes of the column; `None` if they do not agree.
    fn decide_ambiguous(&self, code: &StateOrCountry) -> Option<Country> {
        let StateOrCountry { state, country, is_name, is_alone } = *code;
        let has_countries = !self.countries.is_empty() || (is_name && self.has_names);
        let has_states = self.has_shared_states || !self.states.is_empty();
        if !has_states && (is_alone || (has_countries && !self.are_others())) {
            return Some(country);
        }
        let are_states = !is_alone && !has_countries && !self.are_others() && self.states.contains(&state);
        are_states.then_some(state)
    }
}

/// Reads the country of a location. `text` may be cut out of a longer location that begins with `before`. The `known` codes
/// of the column decide ambiguous ones; the codes of this location are added to `seen`.
pub(crate) fn read_country(before: &str, text: &str, known: &Codes, seen: &mut Codes) -> Result<Country, Reason> {
    known.country(&LocationMeaning::parse(before, text, seen))
}

/// Separators between the parts of a location.
const BETWEEN_PARTS: [char; 13] = [',', '(', ')', '[', ']', '/', '，', '、', '،', '（', '）', '\t', '›'];

/// Parts of a location, from the city to the country.
fn parts(location: &str) -> impl Iterator<Item = &str> {
    location.split(BETWEEN_PARTS).map(str::trim).filter(|part| !part.is_empty())
}

/// Countries of areas around cities, by their folded names.
static AREAS: LazyLock<HashMap<&'static str, Country>> = LazyLock::new(|| {
    let lines = word_file::entries(include_str!("areas.txt")).filter_map(|line| line.split_once('|'));
    let areas = lines.filter_map(|(code, names)| Some((Country::from_alpha2(code)?, names)));
    areas.flat_map(|(country, names)| names.split('|').map(move |name| (name, country))).collect()
});

fn is_area(folded: &str) -> bool {
    let ends = [" area", " region", " metroplex", " metropolitan", " metro", " county"];
    AREAS.contains_key(folded) || folded.starts_with("greater ") || ends.iter().any(|end| folded.ends_with(end))
}

/// The first of several locations.
pub(crate) fn first_location(cell: &str) -> &str {
    cell.split([';', '|', '\n']).map(str::trim).find(|location| !location.is_empty()).unwrap_or_default()
}

/// True if a part of a location names a street or a building.
fn is_street(part: &str) -> bool {
    static WORDS: LazyLock<Vec<&str>> = LazyLock::new(|| {
        word_file::entries(include_str!("street_words.txt")).flat_map(|line| line.split(' ')).collect()
    });
    let is_street = |word: &str| {
        WORDS.iter().any(|known| known.strip_prefix('*').map_or(*known == word, |end| word.ends_with(end)))
    };
    part.contains(|char: char| char.is_ascii_digit()) && fold(part).split(' ').any(is_street)
}

/// Countries that are cities.
const CITY_STATES: [&str; 5] = ["SG", "HK", "MO", "MC", "LU"];

/// Reads the city of a location, or of the first of several; `None` for one that has only a country or a state.
/// Streets, postcodes and districts are no cities, nor is `Greater Boston Area` or `Remote`.
pub(crate) fn read_city(cell: &str) -> Result<Option<String>, Reason> {
    let location = first_location(cell);
    if let Some(country) = Country::read(location) {
        return Ok(CITY_STATES.contains(&country.alpha2()).then(|| location.to_owned()));
    }
    let is_postcode = |part: &&str| {
        !part.chars().any(char::is_alphabetic)
            || POSTCODE.find(&format!(" {part}")).is_some_and(|found| found.start() == 0)
    };
    let mut parts: Vec<&str> = parts(location).filter(|part| !is_postcode(part)).map(without_state).collect();
    let (mut country, mut has_state) = (None, false);
    while let [.., before, last] = parts[..] {
        let folded = words(last);
        let both = format!("{before}, {last}");
        // `Peru, IN` may end with a state.
        let may_be_state = folded.len() == 2 && !city::states_called(&folded).is_empty();
        if let Some(known) = Country::read(&both).filter(|_| parts.len() > 2) {
            country = Some(known);
            parts.pop();
        } else if Country::read(&folded)
            .is_some_and(|known| !has_state && country.is_none_or(|country| country == known))
        {
            country = Country::read(&folded).filter(|_| !may_be_state);
            has_state = may_be_state;
        } else if !has_state && !city::states_called(&folded).is_empty() {
            has_state = true;
        } else if !(country.is_some() && is_area(&folded)) {
            break;
        }
        parts.pop();
    }
    // `USA, New York, NY`, but not `Peru, IN`.
    if let [first, _, ..] = parts[..]
        && country.is_none()
        && let Some(first) =
            Country::read(first).filter(|_| words(first).len() > 2 || ["us", "uk"].contains(&words(first).as_str()))
        && (!has_state || WITH_STATES.contains(&first.alpha2()))
    {
        parts.remove(0);
    }
    let has_digit = |part: &&str| part.contains(|char: char| char.is_ascii_digit());
    let behind_street =
        parts.iter().rposition(|part| is_street(part) || has_digit(&&*town(part))).map_or(0, |street| street + 1);
    let Some(city) = parts.get(behind_street).map(|part| town(part)) else {
        let is_street = !parts.is_empty();
        return if is_street { Err("is a street, and has no city".into()) } else { Ok(None) };
    };
    let folded = words(&city);
    // `TX, USA`; but NY is also a city.
    let is_code = country.is_some() && city.len() == 2 && city::names_of(&folded).is_empty();
    let is_code = is_code && !city::states_called(&folded).is_empty();
    let is_state = is_code || city::state(&folded).is_some_and(|state| !state.cities.contains(&folded.as_str()));
    let is_region = Country::of_region(&folded).is_some();
    if missing::is_nowhere(&city) || is_area(&folded) || is_region {
        return Err("is no city; leave it out, or write the city".into());
    }
    let names_country = |known: Country| !CITY_STATES.contains(&known.alpha2()) && country.is_none() && !has_state;
    let is_country = folded.len() > 2 && Country::read(&folded).is_some_and(names_country);
    Ok(Some(city.into_owned()).filter(|_| !(is_state || is_country)))
}

/// A part of a location without the country or the code of a state behind its city: `Austin TX`, `Berlin Germany`.
fn without_state(part: &str) -> &str {
    let text = POSTCODE.find(part).map_or(part, |found| &part[..found.start()]);
    let Some((city, last)) = text.rsplit_once(' ').filter(|_| city::states_called(&words(text)).is_empty()) else {
        return part;
    };
    let is_code = last.len() < 4 && last.bytes().all(|byte| byte.is_ascii_uppercase());
    let is_state = is_code && !city::states_called(&last.to_lowercase()).is_empty();
    let is_country =
        Country::read(text).is_none() && Country::read(last).is_some() && (is_code || last.chars().count() > 4);
    if is_state || is_country { city.trim_end() } else { part }
}

/// A city without its postcode: `10115 Berlin`, `SW1A 1AA London`.
fn town(part: &str) -> Cow<'_, str> {
    let is_code = |word: &&str| {
        let digits = word.bytes().filter(u8::is_ascii_digit).count();
        digits >= 4 && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
            || word.len() == 2 && digits == 0 && word.bytes().all(|byte| byte.is_ascii_uppercase())
    };
    let mut words: Vec<&str> = part.split_whitespace().collect();
    if !part.contains(|char: char| char.is_ascii_digit()) {
        return Cow::Borrowed(part);
    }
    while words.last().is_some_and(is_code) {
        words.pop();
    }
    let first = words.iter().position(|word| !is_code(word)).unwrap_or(words.len());
    Cow::Owned(words[first..].join(" "))
}

/// Splits a location into the rest and a text that was cut out of it, as whole words, with its postcode.
pub(crate) fn split_around<'c>(cell: &'c str, text: &str) -> Option<(Cow<'c, str>, &'c str)> {
    let is_end = |rest: Option<char>| rest.is_none_or(|char| !char.is_alphanumeric());
    let lower = cell.to_ascii_lowercase();
    let start = lower
        .rmatch_indices(&text.to_ascii_lowercase())
        .map(|(at, _)| at)
        .find(|at| is_end(cell[..*at].chars().next_back()) && is_end(cell[at + text.len()..].chars().next()))?;
    let (before, behind) = (&cell[..start], &cell[start + text.len()..]);
    if behind.chars().any(char::is_alphabetic) && !POSTCODE.is_match(behind) {
        return Some((Cow::Owned(format!("{before},{behind}")), &cell[start..start + text.len()]));
    }
    Some((Cow::Borrowed(before), &cell[start..]))
}

/// True if a location also names another country, as a list of countries does.
pub(crate) fn names_others(location: &str, country: Country) -> bool {
    let mut others = parts(location).map(words).filter(|part| !is_state_of(part, country));
    others.any(|part| Country::read(&part).is_some_and(|other| other != country))
}

/// Folded words of a part without numbers: `N.C.` becomes `nc`, `10115 Berlin` becomes `berlin`.
fn words(part: &str) -> String {
    // Romanized, names in other scripts look like codes.
    let country = (!part.is_ascii()).then(|| Country::read(part)).flatten();
    let folded = country.map_or_else(|| fold(part), |country| fold(country.name()));
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let words: Vec<&str> = folded.split(' ').filter(|word| !is_number(word)).collect();
    words.join(if words.iter().all(|word| word.len() == 1) { "" } else { " " })
}

impl LocationMeaning {
    /// Adds the codes of the location to `seen`.
    fn parse(before: &str, text: &str, seen: &mut Codes) -> Self {
        let text = format!(" {text}");
        let postcode = POSTCODE.captures(&text);
        let end = postcode.as_ref().map_or(text.len(), |found| found.get_match().start());
        let mut earlier: Vec<String> = parts(before).map(words).filter(|part| !part.is_empty()).collect();
        match &text[..end] {
            // `Korea (the Republic of)` is one part.
            country if Country::read(country).is_some() => earlier.push(words(country)),
            location => earlier.extend(parts(location).map(words).filter(|part| !part.is_empty())),
        }
        let Some(last) = earlier.pop() else { return Self::Nothing };
        let country = Country::read(&last).or_else(|| AREAS.get(last.as_str()).copied());
        let is_code = last.len() == 2 && !["us", "uk"].contains(&&*last);
        let states = city::states_called(&last).into_iter().filter_map(|(code, _)| Country::from_alpha2(code));
        let states: Vec<Country> = states.filter(|of| Some(*of) != country).collect();
        if let Some(country) = country.filter(|_| states.is_empty() && (!is_code || earlier.is_empty())) {
            // `Austin, TX, USA` shows that the column has state codes.
            if let [_, .., state] = &*earlier
                && is_state_of(state, country)
            {
                seen.states.insert(country);
            }
            seen.has_names |= !is_code && !earlier.is_empty();
            return Self::Country(country);
        }
        let mut proven = BTreeSet::new();
        for part in &earlier {
            proven.extend(city::countries_of(part, &last).into_iter().filter_map(Country::from_alpha2));
            // `USA, GA`
            proven.extend(Country::read(part).filter(|of| (part.len() > 2 || part == "us") && states.contains(of)));
        }
        // `Toronto, ON, CA` and `Ontario, CA`
        if let (Some(country), Some(part)) = (country, earlier.last())
            && (earlier.len() > 1 || part.len() > 3)
            && is_state_of(part, country)
        {
            proven.insert(country);
        }
        if let (true, Some(postcode)) = (proven.is_empty(), &postcode) {
            let zip_codes = ZIP_CODES.iter().find(|(code, _)| *code == last);
            let is_zip =
                |digits: &str| zip_codes.is_none_or(|(_, firsts)| firsts.iter().any(|first| digits.starts_with(first)));
            let is_of = |of: &&Country| {
                postcode.name(of.alpha2()).is_some_and(|digits| of.alpha2() != "US" || is_zip(digits.as_str()))
            };
            proven.extend(states.iter().find(is_of));
        }
        let mut usual = states.iter().filter(|of| !is_code || WITH_STATES.contains(&of.alpha2())).copied();
        let (usual, rival) = (usual.next(), usual.next());
        if proven.len() > 1 {
            return Self::Contradictory;
        }
        match proven.pop_first() {
            Some(proven) if Some(proven) != country => {
                seen.states.insert(proven);
                return Self::Country(proven);
            }
            Some(country) if is_code => {
                seen.countries.insert(last);
                return Self::Country(country);
            }
            Some(country) => {
                seen.has_names = true;
                return Self::Country(country);
            }
            None => {}
        }
        let is_alone = earlier.is_empty();
        match (usual, country) {
            (Some(state), Some(country)) => {
                seen.has_ambiguous = true;
                Self::Ambiguous(StateOrCountry { state, country, is_name: !is_code, is_alone })
            }
            // Without a city, the code or name of a state gives no country.
            (Some(state), None) if is_alone => {
                seen.states.extend(is_code.then_some(state));
                Self::Nothing
            }
            (Some(country), None) if is_code => {
                seen.unproven.insert(last);
                match rival {
                    None => drop(seen.states.insert(country)),
                    Some(_) => (seen.has_shared_states, seen.has_ambiguous) = (true, true),
                }
                Self::Unproven(country, rival)
            }
            (Some(state), None) => {
                seen.states.insert(state);
                Self::Country(state)
            }
            (None, Some(country)) => {
                seen.unproven.insert(last.clone());
                seen.countries.insert(last);
                Self::Unproven(country, None)
            }
            (None, None) => {
                seen.unknown.extend((is_code && !is_alone).then_some(last));
                Self::Nothing
            }
        }
    }
}

/// True if a folded text is the code or name of a state of the country.
fn is_state_of(text: &str, country: Country) -> bool {
    city::states_called(text).iter().any(|(code, _)| *code == country.alpha2())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Countries of a column, read as an import does: once more if its codes decide something.
    fn column(locations: &[&str]) -> Vec<Option<&'static str>> {
        let mut known = Codes::default();
        loop {
            let mut seen = Codes::default();
            let read: Vec<_> = locations
                .iter()
                .map(|location| read_country("", location, &known, &mut seen).ok().map(Country::alpha2))
                .collect();
            if !seen.decide_more_than(&known) {
                return read;
            }
            known = seen;
        }
    }

    #[test]
    fn a_location_that_tells_its_country_is_read_alone() {
        for (location, country) in [
            ("Paris, France", "FR"),
            ("Bath, United Kingdom", "GB"),
            ("Austin, TX", "US"),
            ("Austin, Texas", "US"),
            ("Washington, D.C.", "US"),
            ("Atlanta, GA", "US"),
            ("Atlanta, Ga.", "US"),
            ("Atlanta, Georgia", "US"),
            ("Tbilisi, Georgia", "GE"),
            ("Smallville, GA 30301", "US"),
            ("Smallville, GA, 30301-1234", "US"),
            ("Smallville, DE 19801", "US"),
            ("Smallville, NL A1B 2C3", "CA"),
            ("Smallville, IN, USA", "US"),
            ("Smallville, IN, US", "US"),
            ("USA, GA", "US"),
            ("Gary, Ind.", "US"),
            ("Berlin, DE", "DE"),
            ("10115 Berlin, DE", "DE"),
            ("Berlin, DE 10115", "DE"),
            ("Köln (DE)", "DE"),
            ("Wilmington, DE", "US"),
            ("Toronto, ON", "CA"),
            ("Toronto, CA", "CA"),
            ("Smallville, ON, CA", "CA"),
            ("San Francisco, CA", "US"),
            ("San Francisco, CA, USA", "US"),
            ("Tel Aviv, IL", "IL"),
            ("Chicago, IL", "US"),
            ("Amsterdam, NL", "NL"),
            ("Perth, WA", "AU"),
            ("Seattle, WA", "US"),
            ("Adelaide, SA", "AU"),
            ("Sydney, NSW", "AU"),
            ("München, Bayern", "DE"),
            ("München, BY", "DE"),
            ("Minsk, BY", "BY"),
            ("Mumbai, MH", "IN"),
            ("Chennai, TN", "IN"),
            ("Tunis, TN", "TN"),
            ("Milano, MI", "IT"),
            ("Detroit, MI", "US"),
            ("Bern, BE", "CH"),
            ("Gent, BE", "BE"),
            ("London, UK", "GB"),
            ("DE", "DE"),
            ("GA", "GA"),
            ("Georgia", "GE"),
            ("Korea", "KR"),
            ("Korea, South", "KR"),
            ("Virgin Islands, U.S.", "VI"),
            ("Saint Martin (French part)", "MF"),
        ] {
            assert_eq!(column(&[location]), [Some(country)], "{location}");
        }
        for location in [
            "Smallville, GA",
            "Smallville, DE",
            "Smallville, Georgia",
            "Ontario, CA",
            "TX",
            "Texas",
            "Smallville",
            "",
            "12345",
        ] {
            assert_eq!(column(&[location]), [None], "{location}");
        }
    }

    #[test]
    fn a_part_of_a_location_is_read_with_the_rest() {
        for (cell, text, country) in [
            ("Atlanta, GA", "GA", Some("US")),
            ("Atlanta, GA", "ga", Some("US")),
            ("Atlanta (GA)", "GA", Some("US")),
            ("Atlanta, GA 30301", "GA", Some("US")),
            ("Smallville, GA 30301", "GA 30301", Some("US")),
            ("GA, Atlanta", "GA", Some("US")),
            ("Berlin, DE, Europe", "DE", Some("DE")),
            ("Atlanta GA", "GA", Some("US")),
            ("Smallville GA", "GA", None),
            ("Berlin Germany", "Germany", Some("DE")),
            ("US-GA", "GA", Some("US")),
            ("GA", "GA", Some("GA")),
            ("Germany, Berlin", "Germany", Some("DE")),
            ("Seoul, Korea (the Republic of)", "Korea (the Republic of)", Some("KR")),
            ("Smallville, GA, 30301", "30301", Some("US")),
            ("Kingshill, Virgin Islands, U.S.", "Virgin Islands, U.S.", Some("VI")),
        ] {
            let (before, part) = split_around(cell, text).unwrap();
            let [known, mut seen] = [Codes::default(), Codes::default()];
            let read = super::read_country(&before, part, &known, &mut seen).ok().map(Country::alpha2);
            assert_eq!(read, country, "{text} of {cell}: {part} behind {before}");
        }
        assert_eq!((split_around("Agadir", "GA"), split_around("US", "DE")), (None, None));
        let [france, us] = ["FR", "US"].map(|code| Country::from_alpha2(code).unwrap());
        assert!(names_others("Germany, France", france) && names_others("DE/FR", france));
        assert!(!names_others("Paris, France", france) && !names_others("Georgia, USA", us));
    }

    #[test]
    fn the_other_locations_of_a_column_decide_if_they_agree() {
        for (locations, countries) in [
            (&["Smallville, GA", "Austin, TX"][..], &[Some("US"), Some("US")][..]),
            (&["Smallville, GA", "Atlanta, GA"], &[Some("US"), Some("US")]),
            (&["Smallville, GA", "Reno, NV, USA", "London, UK"], &[Some("US"), Some("US"), Some("GB")]),
            (&["Smallville, GA", "Oslo, NO"], &[Some("GA"), Some("NO")]),
            (&["Smallville, GA", "Oslo, NO", "Austin, TX"], &[None, Some("NO"), Some("US")]),
            (&["Smallville, GA", "Toronto, ON"], &[None, Some("CA")]),
            (&["Smallville, GA", "Oslo, Norway"], &[None, Some("NO")]),
            (&["Smallville, Georgia", "Oslo, Norway"], &[Some("GE"), Some("NO")]),
            (&["Smallville, Georgia", "Austin, TX"], &[Some("US"), Some("US")]),
            (&["Smallville, WA", "Sydney, NSW"], &[None, Some("AU")]),
            (&["Smallville, TN", "Smallville, NT", "Smallville, BA"], &[None, Some("CA"), Some("BA")]),
            // Codes of states and countries without a city.
            (&["DE", "GA", "FR"], &[Some("DE"), Some("GA"), Some("FR")]),
            (&["DE", "GA", "TX"], &[None, None, None]),
            (&["DE", "Austin, TX"], &[None, Some("US")]),
            // Swiss cantons.
            (&["Dorf, ZH", "Dorf, VD", "Dorf, SG"], &[None, None, None]),
        ] {
            assert_eq!(column(locations), countries, "{locations:?}");
            let reversed: Vec<&str> = locations.iter().rev().copied().collect();
            assert!(column(&reversed).iter().rev().eq(countries), "{locations:?} in another order");
        }
    }

    #[test]
    fn a_code_of_two_meanings_is_never_read_without_evidence() {
        for country in Country::all() {
            let code = country.alpha2();
            let states: Vec<&str> =
                city::states_called(&code.to_lowercase()).into_iter().map(|(country, _)| country).collect();
            let is_both = states.iter().any(|state| WITH_STATES.contains(state));
            let expected = if is_both { None } else { Some(code) };
            assert_eq!(column(&[&format!("Smallville, {code}")]), [expected], "{code}");
            assert_eq!(column(&[code]), [Some(code)], "a column of countries");
        }
    }

    #[test]
    fn the_city_of_a_location_is_read_without_the_rest() {
        for (location, city) in [
            ("Austin, TX", "Austin"),
            ("Austin, TX, USA", "Austin"),
            ("Austin, Texas, United States", "Austin"),
            ("Austin TX", "Austin"),
            ("Austin, TX 78701", "Austin"),
            ("Austin, TX, 78701", "Austin"),
            ("123 Main St, Austin, TX 78701", "Austin"),
            ("123 Main St, Suite 400, Austin, TX", "Austin"),
            ("New York, NY", "New York"),
            ("New York, New York, United States", "New York"),
            ("New York", "New York"),
            ("NYC", "NYC"),
            ("Washington, D.C.", "Washington"),
            ("Toronto, ON, Canada", "Toronto"),
            ("Toronto, Ontario", "Toronto"),
            ("Québec, QC", "Québec"),
            ("Paris, France", "Paris"),
            ("Paris, Île-de-France, France", "Paris"),
            ("Paris", "Paris"),
            ("75002 Paris, France", "Paris"),
            ("Berlin, Germany", "Berlin"),
            ("Berlin, Berlin, Germany", "Berlin"),
            ("Berlin, DE", "Berlin"),
            ("Berlin (Deutschland)", "Berlin"),
            ("Berlin Germany", "Berlin"),
            ("Hauptstr. 5, 10115 Berlin, Deutschland", "Berlin"),
            ("München, Bayern", "München"),
            ("Germany, Berlin", "Berlin"),
            ("USA, New York, NY", "New York"),
            ("Peru, IN", "Peru"),
            ("London, England, United Kingdom", "London"),
            ("London, Greater London, United Kingdom", "London"),
            ("London, UK", "London"),
            ("Bengaluru, Karnataka, India", "Bengaluru"),
            ("São Paulo, SP, Brazil", "São Paulo"),
            ("Seoul, Korea, Republic of", "Seoul"),
            ("Seoul, South Korea", "Seoul"),
            ("Singapore", "Singapore"),
            ("Singapore, Singapore", "Singapore"),
            ("Hong Kong", "Hong Kong"),
            ("Sydney NSW 2000, Australia", "Sydney"),
            ("Sydney, NSW", "Sydney"),
            ("Москва, Россия", "Москва"),
            ("東京, 日本", "東京"),
            ("北京，中国", "北京"),
            ("القاهرة، مصر", "القاهرة"),
            ("Austin, TX; Berlin, Germany", "Austin"),
            ("Berlin/London", "Berlin"),
            ("Tel Aviv-Yafo, Israel", "Tel Aviv-Yafo"),
            ("Rio de Janeiro, Brasil", "Rio de Janeiro"),
            ("Warszawa, Polska", "Warszawa"),
            ("Mexico City, Mexico", "Mexico City"),
            ("Winston-Salem, North Carolina", "Winston-Salem"),
        ] {
            assert_eq!(read_city(location), Ok(Some(city.to_owned())), "{location}");
        }
        for location in ["Germany", "Deutschland", "California, United States", "Texas", "USA", "10115", "", "TX, USA"]
        {
            assert_eq!(read_city(location), Ok(None), "{location}");
        }
        for location in [
            "Remote",
            "Remote, US",
            "Greater Boston Area",
            "San Francisco Bay Area",
            "Worldwide",
            "Europe",
            "5 Main St",
        ] {
            assert!(read_city(location).is_err(), "{location}");
        }
    }

    #[test]
    fn countries_of_other_languages_and_of_areas_are_read() {
        for (location, country) in [
            ("Berlin, Deutschland", "DE"),
            ("Paris, Francia", "FR"),
            ("Madrid, Espagne", "ES"),
            ("Wien, Österreich", "AT"),
            ("Zürich, Schweiz", "CH"),
            ("Lisboa, Portugal", "PT"),
            ("Amsterdam, Pays-Bas", "NL"),
            ("Warszawa, Polska", "PL"),
            ("Москва, Россия", "RU"),
            ("北京，中国", "CN"),
            ("東京、日本", "JP"),
            ("서울, 대한민국", "KR"),
            ("القاهرة، مصر", "EG"),
            ("תל אביב, ישראל", "IL"),
            ("Αθήνα, Ελλάδα", "GR"),
            ("San Francisco Bay Area", "US"),
            ("Greater London", "GB"),
            ("Delhi NCR, India", "IN"),
        ] {
            assert_eq!(column(&[location]), [Some(country)], "{location}");
        }
    }

    proptest! {
        /// After an unknown city, a code is read as its state only if no other cell has a country code, and as its country
        /// only if no other cell has a state code.
        #[test]
        fn a_column_never_gives_another_country(codes in proptest::collection::vec("[A-Z]{2}", 1..12)) {
            let locations: Vec<String> = codes.iter().map(|code| format!("Smallville, {code}")).collect();
            let locations: Vec<&str> = locations.iter().map(String::as_str).collect();
            let called = |code: &str| {
                let usual = city::states_called(&code.to_lowercase()).into_iter().map(|(country, _)| country);
                usual.filter(|country| WITH_STATES.contains(country)).collect::<Vec<_>>()
            };
            let has_state = codes.iter().any(|code| Country::from_alpha2(code).is_none() && !called(code).is_empty());
            let has_country = codes.iter().any(|code| Country::from_alpha2(code).is_some() && called(code).is_empty());
            for (code, read) in codes.iter().zip(column(&locations)) {
                let Some(read) = read else { continue };
                let country = Country::read(code).map(Country::alpha2);
                match (country, &*called(code)) {
                    (Some(country), []) => prop_assert_eq!(read, country),
                    (Some(country), states) if read == country => prop_assert!(has_country && !has_state, "{states:?}"),
                    (Some(_), states) => prop_assert!(states.contains(&read) && has_state && !has_country),
                    (None, states) => prop_assert!(states.contains(&read)),
                }
            }
        }
    }
}
