//! The meaning of a header: whose field it is, and which, by the words of `headers.txt`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::sources::money;
use data::fold::{fold, fold_letters, is_latin, is_of_word, spaced};
use data::word_file;

/// Whose field a column is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Startup,
    Firm,
    /// A startup or a firm.
    Organization,
    Person,
    Round,
    Holder,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Meaning {
    pub owners: Vec<Owner>,
    nouns: Vec<&'static str>,
    /// Words that nothing is known of.
    pub unknown: usize,
    /// True if it is a number of things.
    pub is_count: bool,
    /// True if it is a state of things, true or false.
    pub is_flag: bool,
    /// True if another field is meant, such as the last or total amount.
    pub is_other: bool,
    /// True if it is part of the management of sales.
    pub is_sales: bool,
    /// True for the firm that manages a fund.
    pub is_manager: bool,
    /// True if it is the main one of several.
    is_main: bool,
}

/// Nouns that say little next to another.
const WEAK: [&str; 11] =
    ["name", "location", "region", "url", "year", "month", "quarter", "size", "type", "round", "date"];

/// Words in a term, at most.
const MAX_TERM: usize = 8;

/// The meanings of terms.
struct Terms {
    /// As they are written, in lower case: `tür` is a type and `tur` a round.
    written: HashMap<String, Vec<&'static str>>,
    /// Folded, as people write them who leave marks out. A term that is written so comes before one that loses its marks; what
    /// terms of different meanings fold to is left out.
    folded: HashMap<String, Vec<&'static str>>,
    /// Texts of scripts without blanks.
    joined: HashMap<String, Vec<&'static str>>,
}

impl Terms {
    /// The meanings of words that follow each other. `LinkedIn` is one word.
    fn get(&self, words: &[Word]) -> Option<&Vec<&'static str>> {
        let term = |form: fn(&Word) -> &str, between: &str| words.iter().map(form).collect::<Vec<_>>().join(between);
        let written = |between| self.written.get(&term(|word| &word.written, between));
        let folded = |between| self.folded.get(&term(|word| &word.folded, between));
        written(" ").or_else(|| folded(" ")).or_else(|| written("")).or_else(|| folded(""))
    }
}

/// A word of a header.
#[derive(Debug)]
struct Word {
    written: String,
    folded: String,
}

impl Word {
    fn all(text: &str) -> Vec<Self> {
        let written = written_form(&spaced(text));
        let word = |written: &str| Self { written: written.to_owned(), folded: without_marks(written) };
        written.split(' ').filter(|word| !word.is_empty()).map(word).collect()
    }
}

/// The written form without the article in front of words in Arabic and Hebrew.
fn written_form(text: &str) -> String {
    let bare = |word: &str| {
        let is_long = |rest: &&str| rest.chars().count() > 2;
        let rest = word.strip_prefix("ال").or_else(|| word.strip_prefix('ה')).filter(is_long);
        rest.unwrap_or(word).to_owned()
    };
    fold_letters(text).split(' ').map(bare).collect::<Vec<_>>().join(" ")
}

/// What a written form is without the marks of Latin letters. Other scripts stay: romanized, their words would be others.
fn without_marks(written: &str) -> String {
    if written.chars().all(is_latin) { fold(written) } else { written.to_owned() }
}

/// The lines of terms with their meanings.
fn term_lines() -> impl Iterator<Item = (Vec<&'static str>, &'static str)> {
    let lines = word_file::entries(include_str!("headers.txt")).filter_map(|line| line.split_once(": "));
    lines.flat_map(|(meanings, words)| words.split(", ").map(move |word| (meanings.split(' ').collect(), word)))
}

static TERMS: LazyLock<Terms> = LazyLock::new(|| {
    let (mut written, mut joined) = (HashMap::new(), HashMap::new());
    for (meanings, word) in term_lines() {
        let word = word.to_lowercase();
        if word.contains(is_without_blanks) {
            joined.entry(word.replace(' ', "")).or_insert(meanings);
            continue;
        }
        // `ім'я` and `імя`
        for form in [written_form(&word.replace(['\'', '’'], " ")), written_form(&word)] {
            written.entry(form).or_insert_with(|| meanings.clone());
        }
    }
    let mut folded: HashMap<String, Option<Vec<&'static str>>> = HashMap::new();
    for (term, meanings) in &written {
        // German is also written without umlauts.
        let spelled = [("ä", "ae"), ("ö", "oe"), ("ü", "ue")]
            .iter()
            .fold(term.clone(), |term, (umlaut, letters)| term.replace(umlaut, letters));
        for form in [without_marks(term), without_marks(&spelled)] {
            if !written.contains_key(&form) {
                let known = folded.entry(form).or_insert_with(|| Some(meanings.clone()));
                *known = known.take().filter(|known| known == meanings);
            }
        }
    }
    // Databases leave small words out: `data do anúncio` is `data_anuncio`.
    let mut all: Vec<(String, Vec<&'static str>)> = written.clone().into_iter().collect();
    all.extend(folded.iter().filter_map(|(term, meanings)| Some((term.clone(), meanings.clone()?))));
    all.sort_unstable();
    for (term, meanings) in all {
        let is_plain = |word: &&str| written.get(*word).is_some_and(|of| *of == ["@plain"]);
        let words = term.split(' ').enumerate().filter(|(at, word)| *at == 0 || !is_plain(word));
        let short = words.map(|(_, word)| word).collect::<Vec<_>>().join(" ");
        if short.contains(' ') && short != term && !written.contains_key(&short) {
            folded.entry(short).or_insert(Some(meanings));
        }
    }
    let folded = folded.into_iter().filter_map(|(term, meanings)| Some((term, meanings?))).collect();
    Terms { written, folded, joined }
});

/// The part that the headers begin with, such as `Person - ` or `company.`: of at least four of five.
pub(super) fn shared_prefix(headers: &[String]) -> Option<&str> {
    let named: Vec<&str> = headers.iter().map(String::as_str).filter(|header| !header.trim().is_empty()).collect();
    let ends = |header: &&'_ str| [" - ", ": ", "."].iter().find_map(|end| Some(header.find(end)? + end.len()));
    let prefix = named.iter().find_map(|header| header.get(..ends(header)?))?;
    let count = named.iter().filter(|header| header.starts_with(prefix)).count();
    (named.len() >= 3 && count * 5 >= named.len() * 4).then_some(prefix)
}

/// True for a character of a script that is written without blanks between words, or nearly so.
pub(super) fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// The same, and of Thai, Lao, Khmer and Burmese, whose names of people have blanks.
fn is_without_blanks(char: char) -> bool {
    is_unspaced(char) || matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

/// Words of a header: `Entity.LegalName` becomes `entity legal name`.
pub(super) fn words(header: &str) -> Vec<String> {
    fold(&spaced(header)).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// A header without its unit and currency.
pub(super) fn without_unit(header: &str) -> String {
    money::money_part_of_header(header)
        .map_or_else(|| header.to_owned(), |unit| header.replace(unit, " "))
        .trim()
        .to_owned()
}

/// True if the header is one of private data.
pub(crate) fn is_private(header: &str) -> bool {
    Meaning::read(header).is_private()
}

/// True for a word with letters beyond ASCII in the terms of headers, in any letter case: `Società`.
pub(crate) fn is_header_word(word: &str) -> bool {
    static WORDS: LazyLock<HashSet<String>> = LazyLock::new(|| {
        let terms = term_lines().map(|(_, term)| term.to_lowercase());
        let words = terms.flat_map(|term| term.split(|char| !is_of_word(char)).map(str::to_owned).collect::<Vec<_>>());
        words.filter(|word| !word.is_ascii()).collect()
    });
    WORDS.contains(&word.to_lowercase())
}

/// True for words that say only that an investor leads a round: `Lead`, `chef de file`, `领投`.
pub(crate) fn names_lead(text: &str) -> bool {
    let meaning = Meaning::read(text);
    meaning.nouns == ["lead"] && meaning.unknown == 0 && meaning.is_plain()
}

/// True for a word for records, such as `Deals`.
pub(crate) fn names_records(text: &str) -> bool {
    let meaning = Meaning::read(text);
    meaning.owner().is_some() && meaning.nouns.is_empty() && meaning.unknown == 0
}

/// True if a header is that of a field, and no word of it is unknown.
pub(crate) fn names_field(text: &str) -> bool {
    let meaning = Meaning::read(text);
    meaning.noun().is_some() && meaning.unknown == 0
}

/// True for names of startups that may also be firms: `Company/Fund`.
fn names_startups_or_firms(header: &str) -> bool {
    let Some((first, second)) = header.split_once('/') else { return false };
    let is_of = |part: &str, owner| {
        let meaning = Meaning::of_chunks(part);
        meaning.owners == [owner] && meaning.nouns.is_empty() && meaning.unknown == 0
    };
    is_of(first, Owner::Startup) && is_of(second, Owner::Firm)
}

impl Meaning {
    pub(super) fn read(header: &str) -> Self {
        let meaning =
            Self { is_count: header.trim_start().starts_with('#'), is_other: header.contains('%'), ..Self::default() };
        // Neither unit nor currency is part of the field's name: `AUM ($M)`. A word that says something is neither.
        let says = |unit: &str| {
            let words = Word::all(unit);
            (0..words.len()).any(|at| TERMS.get(&words[at..=at]).is_some_and(|of| *of != ["@plain"]))
        };
        let unit = money::money_part_of_header(header).filter(|unit| !says(unit));
        let bare = unit.map_or_else(|| header.to_owned(), |unit| header.replace(unit, " "));
        // Blanks are between words, or anywhere: `주도 투자자`.
        let joined = Self::of_chunks(&bare.split([' ', '\u{a0}', '\u{3000}']).collect::<String>());
        let is_joined = bare.trim().contains(' ') && bare.chars().all(|char| char == ' ' || is_without_blanks(char));
        let found = Some(joined).filter(|joined| is_joined && joined.unknown == 0);
        let found = found.unwrap_or_else(|| Self::of_chunks(&bare));
        let mut meaning =
            Self { is_count: meaning.is_count | found.is_count, is_other: meaning.is_other | found.is_other, ..found };
        if meaning.nouns.is_empty() && names_startups_or_firms(&bare) {
            meaning.owners = vec![Owner::Organization];
        }
        // The main investor of a round leads it.
        if meaning.is_main && meaning.nouns.is_empty() && meaning.owner() == Some(Owner::Firm) {
            meaning.nouns.push("lead");
        }
        meaning
    }

    fn of_chunks(text: &str) -> Self {
        let mut meaning = Self::default();
        let mut words: Vec<Word> = Vec::new();
        for chunk in text.split(|char: char| !is_of_word(char)) {
            if chunk.contains(is_without_blanks) {
                meaning.add_words(&std::mem::take(&mut words));
                meaning.add_unspaced(&chunk.to_lowercase());
            } else {
                words.extend(Word::all(chunk));
            }
        }
        meaning.add_words(&words);
        meaning
    }

    /// Meaning of a header below a prefix that the others have, too. The prefix tells whose field it is if the rest does
    /// not.
    pub(super) fn read_below(prefix: &str, header: &str) -> Self {
        let whole = Self::read(header);
        let Some(rest) = header.strip_prefix(prefix).filter(|rest| !rest.trim().is_empty()) else { return whole };
        let mut meaning = Self::read(rest);
        if meaning.owners.is_empty() {
            meaning.owners = Self::read(prefix).owners;
        }
        meaning.is_count |= whole.is_count;
        meaning.is_flag |= whole.is_flag;
        meaning.is_other |= whole.is_other;
        meaning.is_sales |= whole.is_sales;
        meaning
    }

    fn add_words(&mut self, words: &[Word]) {
        let mut at = 0;
        while at < words.len() {
            let lengths = (1..=MAX_TERM.min(words.len() - at)).rev();
            let found = lengths.filter_map(|length| {
                let term = words.get(at..at + length)?;
                // `INVESTOR1`, `INVESTOR2`
                let numbered = || match term {
                    [word] => TERMS.get(&Word::all(word.written.trim_end_matches(|char: char| char.is_ascii_digit()))),
                    _ => None,
                };
                Some((length, TERMS.get(term).or_else(numbered)?))
            });
            match found.into_iter().next() {
                Some((length, meanings)) => {
                    self.add(meanings);
                    at += length;
                }
                None => {
                    let is_number = words[at].written.bytes().all(|byte| byte.is_ascii_digit());
                    self.unknown += usize::from(!is_number);
                    at += 1;
                }
            }
        }
    }

    fn add_unspaced(&mut self, text: &str) {
        let mut rest = text;
        let mut was_known = true;
        while let Some(first) = rest.chars().next() {
            let ends = rest.char_indices().map(|(at, char)| at + char.len_utf8()).collect::<Vec<_>>();
            let found = ends.iter().rev().find_map(|end| Some((end, TERMS.joined.get(rest.get(..*end)?)?)));
            if let Some((end, meanings)) = found {
                self.add(meanings);
                rest = &rest[*end..];
                was_known = true;
                continue;
            }
            // Several unknown characters are one word.
            self.unknown += usize::from(was_known && first.is_alphabetic());
            was_known = false;
            rest = &rest[first.len_utf8()..];
        }
    }

    fn add(&mut self, meanings: &[&'static str]) {
        for meaning in meanings {
            match *meaning {
                "@startup" => self.owners.push(Owner::Startup),
                "@firm" => self.owners.push(Owner::Firm),
                "@org" => self.owners.push(Owner::Organization),
                "@person" => self.owners.push(Owner::Person),
                "@round" => self.owners.push(Owner::Round),
                "@holder" => self.owners.push(Owner::Holder),
                "@count" => self.is_count = true,
                "@flag" => self.is_flag = true,
                "@other" => self.is_other = true,
                "@crm" => self.is_sales = true,
                "@main" => self.is_main = true,
                "@manager" => self.is_manager = true,
                "@plain" => {}
                noun if self.nouns.contains(&noun) => {}
                noun => self.nouns.push(noun),
            }
        }
    }

    /// Whose field it is; of several the one that restricts the most.
    pub(super) fn owner(&self) -> Option<Owner> {
        let order = [Owner::Person, Owner::Holder, Owner::Firm, Owner::Round, Owner::Startup, Owner::Organization];
        // A round has no name: `Deal Company Name`.
        let is_name = self.nouns.is_empty() || self.has("name");
        let is_other = |owner: &Owner| self.owners.contains(owner) && !(is_name && *owner == Owner::Round);
        // `Stages of investment` are those of a firm.
        if self.nouns == ["stage"] && self.owners.iter().all(|owner| *owner == Owner::Round) {
            return None;
        }
        order.into_iter().find(is_other).or_else(|| self.owners.contains(&Owner::Round).then_some(Owner::Round))
    }

    pub(super) fn has(&self, noun: &str) -> bool {
        self.nouns.contains(&noun)
    }

    pub(super) fn is_private(&self) -> bool {
        self.has("!")
    }

    /// True if it says only that it is of a round: `Investment`.
    pub(super) fn is_of_round(&self) -> bool {
        self.nouns.is_empty() && self.unknown == 0 && self.owner() == Some(Owner::Round) && self.is_plain()
    }

    /// True if it is neither a number of things, nor a state, nor another field.
    pub(super) fn is_plain(&self) -> bool {
        !(self.is_count || self.is_flag || self.is_other || self.is_sales || self.is_private())
    }

    /// The field that the header names; `None` if it names none, or several.
    pub(super) fn noun(&self) -> Option<&'static str> {
        // An owner alone is its name: `Company`. A round has none.
        if self.nouns.is_empty() {
            return self.owner().filter(|owner| *owner != Owner::Round).map(|_| "name");
        }
        let strong: Vec<&str> = self
            .nouns
            .iter()
            .copied()
            .filter(|noun| !WEAK.contains(noun) && *noun != "min" && *noun != "max")
            .collect();
        let weak: Vec<&str> = self.nouns.iter().copied().filter(|noun| WEAK.contains(noun)).collect();
        let owner = self.owner();
        match (&*strong, &*weak) {
            (["key", ..] | [_, "key"], _) => Some("key"),
            _ if self.has("city") && (self.has("country") || self.has("region")) => Some("location"),
            (["country"], _) if self.has("year") => None,
            ([noun], _) => Some(noun),
            ([], ["round", "type"] | ["type", "round"]) => Some("round"),
            ([], ["type"]) if owner == Some(Owner::Round) => Some("round"),
            ([], ["size"]) if owner == Some(Owner::Round) => Some("amount"),
            ([], ["size"]) if owner == Some(Owner::Firm) => Some("aum"),
            // `Month announced` is a part of a date, and `Year/Month` is one.
            ([], parts @ ([_] | [_, _])) if parts.contains(&"month") && !parts.contains(&"year") => Some("month"),
            ([], parts @ ([_] | [_, _])) if parts.contains(&"quarter") && !parts.contains(&"year") => Some("quarter"),
            ([], ["year", "month" | "quarter"] | ["month" | "quarter", "year"]) => Some("date"),
            (
                [],
                ["year"]
                | ["round", "date" | "year"]
                | ["date" | "year", "round"]
                | ["date", "year"]
                | ["year", "date"],
            ) => Some("date"),
            ([], ["round", "size"] | ["size", "round"]) => Some("amount"),
            ([], ["location", "region"] | ["region", "location"]) => Some("region"),
            ([], ["name", "url"] | ["url", "name"]) => Some("url"),
            // `Round name`, `Deal name`
            ([], ["name", "round"] | ["round", "name"]) => None,
            ([], ["name"]) if owner == Some(Owner::Round) => None,
            ([], [noun]) => Some(noun),
            ([], ["name", noun] | [noun, "name"]) => Some(noun),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_divided_into_known_words() {
        use Owner::*;
        for (header, owner, noun) in [
            ("Company", Some(Startup), Some("name")),
            ("Investors Name", Some(Firm), Some("name")),
            ("Founder Name", Some(Person), Some("name")),
            ("Name der Gesellschaft", Some(Organization), Some("name")),
            ("Gruendungsjahr", None, Some("founded")),
            ("Gründungsjahr", None, Some("founded")),
            ("Industry Vertical", None, Some("sectors")),
            ("City  Location", None, Some("city")),
            ("Country/Region", None, Some("country")),
            ("City, Country", None, Some("location")),
            ("Investment Type", Some(Round), Some("round")),
            ("Type of investor", Some(Firm), Some("type")),
            ("raised_amount_usd", None, Some("amount")),
            ("Importe (USD)", None, Some("amount")),
            ("company_id", Some(Startup), Some("key")),
            ("Entity.LegalName", Some(Organization), Some("legal")),
            ("机构名称", Some(Firm), Some("name")),
            ("投资阶段", None, Some("stage")),
            ("融资金额（万元）", None, Some("amount")),
            ("資金調達額", None, Some("amount")),
            ("Тип инвестора", Some(Firm), Some("type")),
            ("Nom de l'entreprise", Some(Startup), Some("name")),
            ("Zorblax", None, None),
            ("Deal Name", Some(Round), None),
            ("FIRM TYPE", Some(Firm), Some("type")),
            ("LinkedIn", None, Some("id.linkedin")),
            ("announced_month", None, Some("month")),
            ("Jahr/Monat", None, Some("date")),
            ("月份", None, Some("month")),
            ("Year announced", None, Some("date")),
            ("Company/Fund", Some(Organization), Some("name")),
            ("Empresa / Fondo", Some(Organization), Some("name")),
            ("Fund/Company", Some(Firm), Some("name")),
        ] {
            let meaning = Meaning::read(header);
            assert_eq!((meaning.owner(), meaning.noun()), (owner, noun), "{header}: {meaning:?}");
        }
    }

    #[test]
    fn counts_flags_and_other_fields_are_recognized() {
        for (header, is_plain) in [
            ("Investors", true),
            ("# Investors", false),
            ("n_investors", false),
            ("Number of investors", false),
            ("Anzahl der Investoren", false),
            ("is_lead_investor", false),
            ("Valuation ($B)", false),
            ("Total Funding", false),
            ("Last Funding Date", false),
            ("Lifecycle Stage", false),
            ("投资方数量", false),
            ("E-Mail", false),
        ] {
            assert_eq!(Meaning::read(header).is_plain(), is_plain, "{header}");
        }
    }

    #[test]
    fn words_of_headers_are_written_once_in_a_line() {
        for line in word_file::entries(include_str!("headers.txt")) {
            let (_, words) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
            assert!(words.split(", ").all(|word| !word.trim().is_empty() && word.trim() == word), "{line}");
        }
    }

    #[test]
    fn a_word_has_one_meaning_in_all_languages() {
        let (mut known, mut twice) = (HashMap::new(), Vec::new());
        for (meanings, word) in term_lines() {
            if let Some(other) = known.insert(written_form(word), meanings.clone()) {
                twice.push(format!("{word}: {other:?}, {meanings:?}"));
            }
        }
        assert!(twice.is_empty(), "{}", twice.join("\n"));
        let lost = TERMS.written.keys().filter(|term| !TERMS.folded.contains_key(&without_marks(term)));
        let lost = lost.filter(|term| !TERMS.written.contains_key(&without_marks(term)));
        let lost: HashSet<String> = lost.map(|term| without_marks(term)).collect();
        assert!(lost.len() < 60, "without marks they mean several things: {lost:?}");
    }
}
