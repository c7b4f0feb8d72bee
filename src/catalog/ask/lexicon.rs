//! The vocabulary of a release: its sectors, cities, countries and regions, and the terms of the closed vocabularies.

use foldhash::{HashMap, HashSet};
use once_cell::sync::Lazy;

use crate::ask::question::has_other_letter;
use crate::ask::words::{Phrase, phrases};
use crate::sector_names::SectorNames;
use data::fold::fold;
use data::import::csv_row::distinct;
use data::vocabulary::Vocabulary;
use data::{Country, Facet, Role, Snapshot, Stage, Table, city, word_file};
use search::edit_distance::distance_within;

/// Minimum number of records of a city in a table: a rarer one is more often a typo.
const MIN_CITY_RECORDS: u32 = 2;

/// Number of startups of the sectors for a phrase below which broader sectors are included.
pub(super) const MIN_STARTUPS: u32 = 20;

/// Minimum number of records of a city in lower case, unless it follows a preposition of place.
const MIN_PLAIN_RECORDS: u32 = 20;

/// Cities that are also plain words; read as cities only if capitalized after a preposition of place.
static PLAIN_CITIES: Lazy<HashSet<&str>> = Lazy::new(|| include_str!("plain_cities.txt").lines().collect());

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PhraseMeaning {
    /// Values of `country`: codes or a region.
    Country(String),
    /// Names of a city, as a value of `city`. `is_plain`: also a plain word. `is_rare`: few records, so that the word may
    /// mean another.
    City {
        names: String,
        is_plain: bool,
        is_rare: bool,
    },
    /// States or provinces of a country, as a value of `city`.
    State {
        country: &'static str,
        names: String,
    },
    /// Cities of an area of the USA, as a value of `city`.
    Area(String),
    /// Slugs of sectors, separated by commas as in a value of `sector`.
    Sector(String),
    /// Stages, separated by commas.
    Stage(&'static str),
    Kind(&'static str),
    /// States of startups, separated by commas.
    Status(&'static str),
    Role(&'static str),
}

impl PhraseMeaning {
    /// True for a city, a state or a country.
    pub(crate) fn is_place(&self) -> bool {
        matches!(self, Self::City { .. } | Self::State { .. } | Self::Country(_))
    }
}

pub(crate) struct Lexicon {
    phrases: HashMap<String, Vec<PhraseMeaning>>,
    /// Phrases of one word, by their first byte.
    words: HashMap<u8, Vec<String>>,
    /// Words of longer phrases, by their first byte.
    parts: HashMap<u8, HashSet<String>>,
    pub(crate) longest: usize,
}

impl Lexicon {
    pub(crate) fn from_snapshot(snapshot: &Snapshot, sectors: &SectorNames) -> Self {
        let mut lexicon =
            Self { phrases: HashMap::default(), words: HashMap::default(), parts: HashMap::default(), longest: 1 };
        phrases("stages").iter().for_each(|phrase| lexicon.add(phrase.text, PhraseMeaning::Stage(phrase.meaning)));
        let stages = Stage::ALL.iter().filter(|stage| **stage != Stage::Other);
        stages.for_each(|stage| lexicon.add(&fold(stage.name()), PhraseMeaning::Stage(stage.name())));
        let kinds = phrases("kinds").iter();
        kinds.for_each(|phrase| lexicon.add_with_plural(phrase.text, &PhraseMeaning::Kind(phrase.meaning)));
        phrases("statuses").iter().for_each(|phrase| lexicon.add(phrase.text, PhraseMeaning::Status(phrase.meaning)));
        let roles = phrases("roles").iter();
        roles.for_each(|phrase| lexicon.add_with_plural(phrase.text, &PhraseMeaning::Role(phrase.meaning)));
        let roles = Role::ALL.iter().filter(|role| !matches!(role, Role::Other | Role::Investor));
        roles.for_each(|role| lexicon.add_with_plural(&fold(role.name()), &PhraseMeaning::Role(role.name())));
        lexicon.add_places(snapshot);
        lexicon.add_sectors(snapshot, sectors);
        lexicon
    }

    fn add(&mut self, phrase: &str, meaning: PhraseMeaning) {
        if phrase.is_empty() {
            return;
        }
        self.longest = self.longest.max(phrase.split(' ').count());
        if !phrase.contains(' ') && !self.phrases.contains_key(phrase) {
            self.words.entry(phrase.as_bytes()[0]).or_default().push(phrase.to_owned());
        }
        for word in phrase.split(' ').filter(|_| phrase.contains(' ')) {
            self.parts.entry(word.as_bytes()[0]).or_default().insert(word.to_owned());
        }
        let meanings = self.phrases.entry(phrase.to_owned()).or_default();
        if !meanings.contains(&meaning) {
            meanings.push(meaning);
        }
    }

    fn add_with_plural(&mut self, phrase: &str, meaning: &PhraseMeaning) {
        self.add(phrase, meaning.clone());
        let plural = phrase.strip_suffix('y').map_or_else(|| format!("{phrase}s"), |stem| format!("{stem}ies"));
        self.add(&plural, meaning.clone());
    }

    fn add_places(&mut self, snapshot: &Snapshot) {
        for (name, country) in Country::names() {
            // `Scotland` means its cities rather than the United Kingdom.
            if city::state(name).is_none_or(|state| state.country != country.alpha2()) {
                self.add(name, PhraseMeaning::Country(country.alpha2().to_owned()));
            }
        }
        for names in Country::region_names() {
            for name in names.iter().filter(|name| *name != "sea") {
                self.add(name, PhraseMeaning::Country(names[0].clone()));
            }
        }
        for line in word_file::entries(include_str!("demonyms.txt")) {
            let regions = Country::region_names().flatten().map(String::as_str);
            let states = city::states().map(|(state, _)| state);
            let regions = regions.chain(states).filter(|region| line.ends_with(&format!(" {region}")));
            let region = regions.max_by_key(|region| region.len());
            let place = region.or_else(|| line.rsplit(' ').next()).unwrap_or_default();
            let meaning = match city::state(place) {
                Some(state) => PhraseMeaning::State { country: state.country, names: place.to_owned() },
                None => PhraseMeaning::Country(place.to_owned()),
            };
            self.add(line[..line.len() - place.len()].trim_end(), meaning);
        }
        for (name, state) in city::states() {
            let meaning = PhraseMeaning::State { country: state.country, names: name.to_owned() };
            // `Ontario` is also a city, but hardly ever meant.
            name.strip_suffix(" province").into_iter().for_each(|name| self.add(name, meaning.clone()));
            self.add(name, meaning);
        }
        let region = |phrase: &Phrase| PhraseMeaning::State { country: "US", names: phrase.meaning.to_owned() };
        phrases("regions").iter().for_each(|phrase| self.add(phrase.text, region(phrase)));
        for &Phrase { text, meaning, .. } in phrases("areas") {
            let known = meaning.split('|').filter(|city| snapshot.find_term(Facet::City, city).is_some());
            let known = known.collect::<Vec<_>>().join(",");
            if known.contains(',') {
                self.add(text, PhraseMeaning::Area(known));
            }
        }
        let records = |name: &str| {
            let value = snapshot.find_term(Facet::City, name);
            let of_table = |table: Table| value.map_or(0, |value| snapshot.facet_count(table, Facet::City, value));
            of_table(Table::Firms) + of_table(Table::Startups)
        };
        for name in snapshot.terms(Facet::City) {
            let own = records(name);
            let is_short = name.chars().count() < 3 && city::names_of(name).is_empty();
            let is_no_city = city::state(name).is_some() || name.ends_with(" area") || is_short;
            if own < MIN_CITY_RECORDS || is_no_city {
                continue;
            }
            let meaning = |spelled: &str, names: String| PhraseMeaning::City {
                is_plain: PLAIN_CITIES.contains(spelled),
                is_rare: names.split(',').map(records).sum::<u32>() < MIN_PLAIN_RECORDS,
                names,
            };
            let others = city::names_of(name);
            // Records may have the name in most records, too: `NYC` is also New York.
            let main = others.iter().copied().max_by_key(|other| records(other)).unwrap_or(name);
            let with_main = |other: &str| if records(other) > 0 { format!("{main},{other}") } else { main.to_owned() };
            self.add(name, meaning(name, if main == name { main.to_owned() } else { with_main(name) }));
            // Names of the city that hardly any record has.
            others.iter().filter(|other| main == name && records(other) < MIN_CITY_RECORDS).for_each(|other| {
                self.add(other, meaning(other, with_main(other)));
            });
        }
    }

    fn add_sectors(&mut self, snapshot: &Snapshot, sectors: &SectorNames) {
        // Each once, in this order.
        let slugs = |rows: Vec<u32>| {
            let slugs = distinct(rows.into_iter()).into_iter().map(|row| snapshot.slug(Table::Sectors, row));
            PhraseMeaning::Sector(slugs.collect::<Vec<_>>().join(","))
        };
        let size = |row: &u32| snapshot.facet_count(Table::Startups, Facet::Sector, *row);
        let mut by_name: HashMap<String, Vec<u32>> = HashMap::default();
        for row in 0..snapshot.rows(Table::Sectors) {
            let names = [fold(snapshot.name(Table::Sectors, row)), fold(snapshot.slug(Table::Sectors, row))];
            distinct(names.into_iter()).into_iter().for_each(|name| by_name.entry(name).or_default().push(row));
        }
        let pairs = word_file::entries(include_str!("sector_words.txt")).filter_map(|line| line.split_once(" = "));
        for (words, names) in pairs {
            let named = |names: &'static str| names.split('|').filter_map(|name| by_name.get(name)).flatten().copied();
            let (names, broader) = names.split_once(" > ").unwrap_or((names, ""));
            let mut known: Vec<u32> = named(names).collect();
            if known.iter().map(size).sum::<u32>() < MIN_STARTUPS {
                known.extend(named(broader));
            }
            known.extend(by_name.get(words).into_iter().flatten());
            if !known.is_empty() {
                let meaning = slugs(known);
                // `education technology`
                if let Some(stem) = words.strip_suffix(" tech") {
                    self.add(&format!("{stem} technology"), meaning.clone());
                }
                self.add(words, meaning);
            }
        }
        for (name, rows) in &by_name {
            let is_known = |meaning: &PhraseMeaning| matches!(meaning, PhraseMeaning::Sector(_));
            if self.phrases.get(name).is_some_and(|meanings| meanings.iter().any(is_known)) {
                continue;
            }
            let mut rows = rows.clone();
            // `medical device` and `medical devices` are two sectors.
            let singular = name.strip_suffix("ies").map(|stem| format!("{stem}y"));
            let singular = singular.or_else(|| name.strip_suffix('s').map(str::to_owned));
            let plural = name.strip_suffix('y').map(|stem| format!("{stem}ies"));
            let forms = [singular, plural, Some(format!("{name}s"))].into_iter().flatten();
            rows.extend(forms.filter_map(|form| by_name.get(&form)).flatten());
            rows.sort_by_key(|row| std::cmp::Reverse(size(row)));
            let larger: Vec<u32> = rows.iter().filter_map(|row| sectors.larger[*row as usize]).collect();
            rows.extend(larger);
            self.add(name, slugs(rows));
        }
    }

    /// Finds the only word that is a slip away. A replaced letter often makes another word: `hiking`, `hiring`.
    pub(crate) fn nearest<'a>(&'a self, word: &str, others: impl Iterator<Item = &'a str>) -> Option<&'a str> {
        let is_near = |known: &&str| {
            let is_rare = |meaning: &PhraseMeaning| matches!(meaning, PhraseMeaning::City { is_rare: true, .. });
            let meanings = self.meanings(known);
            is_slip(word, known) && (meanings.is_empty() || !meanings.iter().all(is_rare))
        };
        let first = *word.as_bytes().first()?;
        let words = self.words.get(&first).into_iter().flatten().map(String::as_str);
        let mut near = words.chain(others.filter(|other| other.as_bytes()[0] == first)).filter(is_near);
        let first = near.next()?;
        near.all(|other| self.meanings(other) == self.meanings(first)).then_some(first)
    }

    /// Finds the word that a word of a two-word phrase was meant to be, as [`Lexicon::nearest`] does: `angel netwrok`.
    /// Another letter counts in the name of a place: `Belo Horisonte`.
    pub(crate) fn nearest_part(&self, before: &str, word: &str, after: &str, next: &str) -> Option<&str> {
        let parts = self.parts.get(word.as_bytes().first()?).filter(|parts| !parts.contains(word))?;
        let phrases = |part: &str| {
            let phrases = [format!("{before} {part}"), format!("{part} {after}"), format!("{part} {after} {next}")];
            phrases.into_iter().filter_map(|phrase| self.phrases.get(&phrase))
        };
        let fits = |part: &&String| {
            let is_place = |meanings: &Vec<PhraseMeaning>| meanings.iter().any(PhraseMeaning::is_place);
            let is_other = || has_other_letter(word, part) && phrases(part).any(is_place);
            is_slip(word, part) && phrases(part).next().is_some() || is_other()
        };
        parts.iter().filter(fits).min().map(String::as_str)
    }

    /// True if the release or the vocabularies have exactly this phrase.
    pub(crate) fn has(&self, phrase: &str) -> bool {
        self.phrases.contains_key(phrase)
    }

    /// The meanings of a phrase, also in the plural or the singular.
    pub(crate) fn meanings(&self, phrase: &str) -> &[PhraseMeaning] {
        let find = |phrase: &str| self.phrases.get(phrase).map(Vec::as_slice);
        if let Some(known) = find(phrase) {
            return known;
        }
        // Places have no plural.
        let is_place = |meaning: &PhraseMeaning| meaning.is_place() || matches!(meaning, PhraseMeaning::Area(_));
        let find = |phrase: &str| find(phrase).filter(|known| !known.iter().all(is_place));
        let singular = |end: &str, replacement: &str| {
            let stem = phrase.strip_suffix(end).filter(|stem| stem.len() > 2)?;
            find(&format!("{stem}{replacement}"))
        };
        let found = singular("ies", "y").or_else(|| singular("es", "")).or_else(|| singular("s", ""));
        let found = found.or_else(|| find(&format!("{phrase}s")).filter(|_| phrase.len() > 3));
        // `nanotech`, `biotech`.
        found.or_else(|| find(&format!("{phrase}nology")).filter(|_| phrase.ends_with("tech"))).unwrap_or_default()
    }
}

/// True if a word has one letter more or less than another, or two adjacent letters swapped.
pub(super) fn is_slip(word: &str, known: &str) -> bool {
    let sorted = |word: &str| {
        let mut letters = word.as_bytes().to_vec();
        letters.sort_unstable();
        letters
    };
    known.len().abs_diff(word.len()) <= 1
        && !known.contains(' ')
        && distance_within(word, known, 1).is_some()
        && (known.len() != word.len() || sorted(known) == sorted(word))
}
