//! Parts of names, the names already used, and the names of people.

use std::collections::HashSet;

use once_cell::sync::Lazy;

use crate::datagen::culture::{CULTURES, Culture, ScriptedWord};
use crate::datagen::geography::home_index;
use crate::datagen::lists::Lists;
use crate::datagen::random::Random;
use crate::datagen::words::{coin_compound, coin_word, is_fit, plain_word};
use data::fold::fold;
use data::vocabulary::capitalized;

pub(crate) static NAME_LISTS: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/names.txt")));

/// Row `row` of a list of organizations that occur in every dataset: the name, the alias or slug, and the country.
pub(crate) fn fixed_organization(list: &str, row: u64) -> Option<[&'static str; 3]> {
    let mut values = NAME_LISTS[list].get(row as usize)?.split(';');
    Some([values.next()?, values.next()?, values.next()?])
}

/// Index in `HOMES` of the country of a fixed organization.
pub(crate) fn fixed_home(list: &str, row: u32) -> Option<usize> {
    fixed_organization(list, u64::from(row)).map(|[_, _, country]| home_index(country))
}

/// Names used so far in one table, as hashes of 8 bytes each.
#[derive(Default)]
pub(crate) struct UsedNames(HashSet<u64>);

impl UsedNames {
    /// Marks `name` as used and returns its slug; `None` if its folded form is used already or has no letter or digit.
    pub(crate) fn claim(&mut self, name: &str) -> Option<String> {
        let folded = fold(name);
        if folded.is_empty() || folded == "facets" || !self.0.insert(fnv(&folded)) {
            return None;
        }
        Some(folded.replace(' ', "-"))
    }
}

/// FNV-1a.
fn fnv(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

#[derive(Clone, Debug)]
pub(crate) struct Naming {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
}

/// Draws the distinctive word of an organization's name, in Latin letters and in the native script.
pub(crate) fn draw_core(random: &mut Random, culture: &Culture, attempt: usize) -> ScriptedWord {
    let same = |latin: String| ScriptedWord { native: latin.clone(), latin };
    if attempt > 6 {
        return same(format!(
            "{} {}",
            coin_word(random, culture.syllables, 0),
            coin_word(random, culture.syllables, attempt / 12)
        ));
    }
    if attempt > 2 {
        return same(coin_word(random, culture.syllables, 1));
    }
    match random.below(100) {
        0..44 => same(coin_word(random, culture.syllables, 0)),
        44..66 => same(coin_compound(random)),
        66..86 => draw_root(random, culture, attempt),
        _ => {
            let family = draw_family_name(random, culture, attempt % 2 == 1);
            if is_fit(&family.latin) { family } else { same(coin_word(random, culture.syllables, 0)) }
        }
    }
}

/// Draws a word of the culture. A second word follows more often after the first attempt, so that a large table finds enough.
fn draw_root(random: &mut Random, culture: &Culture, attempt: usize) -> ScriptedWord {
    let first = random.one(&culture.roots);
    if attempt == 0 && random.chance(600) {
        return first.clone();
    }
    if culture.tag == "en" {
        let latin = format!("{} {}", first.latin, plain_word(random));
        return ScriptedWord { native: latin.clone(), latin };
    }
    let second = random.one(&culture.stems);
    let second = ScriptedWord { latin: second.latin.trim_end_matches('-').to_owned(), native: second.native.clone() };
    let gap = if culture.is_unspaced() && culture.has_script() { "" } else { " " };
    ScriptedWord {
        latin: format!("{} {}", first.latin, capitalized(&second.latin)),
        native: format!("{}{gap}{}", first.native, second.native.trim_end_matches('-')),
    }
}

fn draw_family_name(random: &mut Random, culture: &Culture, woman: bool) -> ScriptedWord {
    let stem = random.one(&culture.stems);
    let ends = if woman { &culture.ends_women } else { &culture.ends_men };
    let end = random.one(ends);
    let latin = match stem.latin.strip_suffix('-') {
        Some(stem) => format!("{stem}-{}", capitalized(&end.latin)),
        None => format!("{}{}", stem.latin, end.latin),
    };
    ScriptedWord { latin, native: format!("{}{}", stem.native, end.native) }
}

/// Aliases without `|`, without the name itself, without duplicates.
pub(crate) fn tidy(aliases: Vec<String>, name: &str) -> Vec<String> {
    let mut tidied: Vec<String> = Vec::new();
    for alias in aliases {
        let alias = alias.replace('|', "/");
        if alias != name && !tidied.contains(&alias) {
            tidied.push(alias);
        }
    }
    tidied
}

/// Draws a person's name of a culture (an index in `CULTURES`). `attempt` rises while the name is already used.
pub(crate) fn person_name(random: &mut Random, culture: usize, attempt: usize) -> String {
    let culture = &CULTURES[culture];
    let woman = random.chance(430);
    let list = if woman { &culture.women } else { &culture.men };
    let mut given = random.one(list).clone();
    if !culture.second.is_empty() && (given.latin.ends_with('-') || random.chance(750)) {
        let second = random.one(&culture.second);
        let gap = if culture.has_script() { "" } else { " " };
        given = ScriptedWord {
            latin: format!("{}{gap}{}", given.latin, second.latin),
            native: format!("{}{}", given.native, second.native),
        };
    }
    let family_name = draw_family_name(random, culture, woman);
    if attempt == 0 && culture.has_script() && random.chance(220) {
        let gap = if culture.is_unspaced() { "" } else { " " };
        return if culture.family_first {
            format!("{}{gap}{}", family_name.native, given.native)
        } else {
            format!("{}{gap}{}", given.native, family_name.native)
        };
    }
    let mut family_latin = family_name.latin;
    let two = matches!(culture.tag, "es" | "pt") && random.chance(420);
    if two || attempt > 4 || random.chance(15) {
        let other = draw_family_name(random, culture, woman).latin;
        family_latin = if two { format!("{family_latin} {other}") } else { format!("{family_latin}-{other}") };
    }
    let initials = attempt.min(2) + usize::from(attempt == 0 && random.chance(60));
    let mut middle = String::new();
    for _ in 0..initials {
        middle.push(char::from(b'A' + random.below(26) as u8));
        middle.push_str(". ");
    }
    if culture.family_first && !culture.is_unspaced() && random.chance(600) {
        return format!("{family_latin} {middle}{}", given.latin);
    }
    format!("{} {middle}{family_latin}", given.latin)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datagen::random::RandomStream;

    #[test]
    fn a_name_is_used_once_regardless_of_spelling() {
        let mut used_names = UsedNames::default();
        assert_eq!(used_names.claim("Ørneflukt & Söhne").as_deref(), Some("orneflukt-and-sohne"));
        assert_eq!(used_names.claim("ORNEFLUKT and Sohne"), None);
        assert_eq!(used_names.claim("★"), None);
        assert_eq!(used_names.claim("Facets"), None);
    }

    #[test]
    fn people_have_names_of_their_culture() {
        let mut random = Random::new(3, RandomStream::Person, 1);
        for culture in 0..CULTURES.len() {
            for attempt in [0, 1, 3, 7] {
                let name = person_name(&mut random, culture, attempt);
                assert!(!name.contains(['_', '|', ':']) && !name.trim().is_empty() && !name.contains("  "), "{name:?}");
            }
        }
    }
}
