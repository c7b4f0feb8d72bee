//! The meaning of a header: whose field it is, and which, by the words of `headers.txt`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::sources::money;
use data::fold::{fold, spaced};
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
}

/// Nouns that say little next to another.
const WEAK: [&str; 9] = ["name", "location", "region", "url", "year", "size", "type", "round", "date"];

/// Words in a term, at most.
const MAX_TERM: usize = 8;

/// The meanings of each term: in one table folded words, in the other texts without blanks.
static TERMS: LazyLock<[HashMap<String, Vec<&'static str>>; 2]> = LazyLock::new(|| {
    let mut terms = [HashMap::new(), HashMap::new()];
    for (meanings, words) in word_file::entries(include_str!("headers.txt")).filter_map(|line| line.split_once(": ")) {
        let meanings: Vec<&str> = meanings.split(' ').collect();
        for word in words.split(", ") {
            let word = word.to_lowercase().replace(['\'', '’'], " ");
            if word.contains(is_unspaced) {
                terms[1].entry(word.replace(' ', "")).or_insert_with(|| meanings.clone());
                continue;
            }
            // German is also written without umlauts.
            let spelled = [("ä", "ae"), ("ö", "oe"), ("ü", "ue")]
                .iter()
                .fold(word.clone(), |word, (umlaut, letters)| word.replace(umlaut, letters));
            for form in [fold(&word), fold(&spelled)] {
                terms[0].entry(form).or_insert_with(|| meanings.clone());
            }
        }
    }
    // Databases leave small words out: `data do anúncio` is `data_anuncio`.
    let is_plain = |word: &&str| terms[0].get(*word).is_some_and(|of| *of == ["@plain"]);
    let short = |term: &String| {
        let words = term.split(' ').enumerate().filter(|(at, word)| *at == 0 || !is_plain(word));
        words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
    };
    let shorter: Vec<_> = terms[0].iter().map(|(term, of)| (short(term), term, of.clone())).collect();
    let shorter = shorter.into_iter().filter(|(short, term, _)| short.contains(' ') && short != *term);
    let mut shorter: Vec<_> = shorter.map(|(short, term, of)| (short, term.clone(), of)).collect();
    shorter.sort_unstable();
    for (short, _, of) in shorter {
        terms[0].entry(short).or_insert(of);
    }
    terms
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

/// Words of a header: `Entity.LegalName` becomes `entity legal name`.
pub(super) fn words(header: &str) -> Vec<String> {
    fold(&spaced(header)).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// True if the header is one of private data.
pub(crate) fn is_private(header: &str) -> bool {
    Meaning::read(header).is_private()
}

/// True for words that say only that an investor leads a round: `Lead`, `chef de file`, `领投`.
pub(crate) fn names_lead(text: &str) -> bool {
    let meaning = Meaning::read(text);
    meaning.nouns == ["lead"] && meaning.unknown == 0 && meaning.is_plain()
}

/// True if a header is that of a field, and no word of it is unknown.
pub(crate) fn names_field(text: &str) -> bool {
    let meaning = Meaning::read(text);
    meaning.noun().is_some() && meaning.unknown == 0
}

impl Meaning {
    pub(super) fn read(header: &str) -> Self {
        let mut meaning =
            Self { is_count: header.trim_start().starts_with('#'), is_other: header.contains('%'), ..Self::default() };
        // Neither unit nor currency is part of the field's name: `AUM ($M)`. A word that says something is neither.
        let says = |unit: &str| words(unit).iter().any(|word| TERMS[0].get(word).is_some_and(|of| *of != ["@plain"]));
        let unit = money::money_part_of_header(header).filter(|unit| !says(unit));
        let bare = unit.map_or_else(|| header.to_owned(), |unit| header.replace(unit, " "));
        let mut spaced_words: Vec<String> = Vec::new();
        for chunk in bare.split(|char: char| !char.is_alphanumeric()) {
            if chunk.contains(is_unspaced) {
                meaning.add_words(&std::mem::take(&mut spaced_words));
                meaning.add_unspaced(&chunk.to_lowercase());
            } else {
                spaced_words.extend(words(chunk));
            }
        }
        meaning.add_words(&spaced_words);
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

    fn add_words(&mut self, words: &[String]) {
        let mut at = 0;
        while at < words.len() {
            let lengths = (1..=MAX_TERM.min(words.len() - at)).rev();
            let found = lengths.filter_map(|length| {
                let term = words.get(at..at + length)?;
                // `LinkedIn` is one word.
                let meanings = TERMS[0].get(&term.join(" ")).or_else(|| TERMS[0].get(&term.concat()));
                // `INVESTOR1`, `INVESTOR2`
                let numbered = || match term {
                    [word] => TERMS[0].get(word.trim_end_matches(|char: char| char.is_ascii_digit())),
                    _ => None,
                };
                Some((length, meanings.or_else(numbered)?))
            });
            match found.into_iter().next() {
                Some((length, meanings)) => {
                    self.add(meanings);
                    at += length;
                }
                None => {
                    let is_number = words[at].bytes().all(|byte| byte.is_ascii_digit());
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
            let found = ends.iter().rev().find_map(|end| Some((end, TERMS[1].get(rest.get(..*end)?)?)));
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
        order.into_iter().find(is_other).or_else(|| self.owners.contains(&Owner::Round).then_some(Owner::Round))
    }

    pub(super) fn has(&self, noun: &str) -> bool {
        self.nouns.contains(&noun)
    }

    pub(super) fn is_private(&self) -> bool {
        self.has("!")
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
            ([], ["year"] | ["round", "date" | "year"] | ["date" | "year", "round"] | ["date", "year"]) => Some("date"),
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
}
