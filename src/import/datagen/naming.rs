//! Names of people, firms and startups, their parts, and the names already used.

use std::collections::HashSet;

use once_cell::sync::Lazy;
use xxhash_rust::xxh3::xxh3_64;

use crate::datagen::culture::{CULTURES, Culture, ScriptedWord};
use crate::datagen::geography::{HOMES, draw_home};
use crate::datagen::lists::Lists;
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::sectors::GROUPS;
use crate::datagen::words::{coin_compound, coin_word, is_fit, plain_word};
use data::FirmKind;
use data::fold::fold;
use data::import::csv_row::distinct;
use data::vocabulary::{Vocabulary, capitalized};

pub(crate) static NAME_LISTS: Lazy<Lists> = Lazy::new(|| Lists::parse(include_str!("words/names.txt")));

/// Row `row` of a list of organizations that occur in every dataset: the name, the alias or slug, and the country.
fn fixed_organization(list: &str, row: u64) -> Option<[&'static str; 3]> {
    let mut values = NAME_LISTS[list].get(row as usize)?.split(';');
    Some([values.next()?, values.next()?, values.next()?])
}

/// Index in `HOMES` of the country of a fixed organization.
pub(crate) fn fixed_home(list: &str, row: u32) -> Option<usize> {
    let [_, _, country] = fixed_organization(list, u64::from(row))?;
    HOMES.iter().position(|home| home.code == country)
}

/// Names used so far in one table, as hashes of 8 bytes each.
#[derive(Default)]
pub(crate) struct UsedNames(HashSet<u64>);

impl UsedNames {
    /// Marks `name` as used and returns its slug; `None` if its folded form is used already or has no letter or digit.
    pub(crate) fn claim(&mut self, name: &str) -> Option<String> {
        let folded = fold(name);
        if folded.is_empty() || folded == "facets" || !self.0.insert(xxh3_64(folded.as_bytes())) {
            return None;
        }
        Some(folded.replace(' ', "-"))
    }
}

pub(crate) struct Naming {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    /// Slug of a fixed startup.
    pub(crate) slug: Option<&'static str>,
}

/// Draws the distinctive word of an organization's name, in Latin letters and in the native script.
fn draw_core(random: &mut Random, culture: &Culture, attempt: usize) -> ScriptedWord {
    let coin = |random: &mut Random, extra: usize| coin_word(random, culture.syllables, extra);
    if attempt > 6 {
        return format!("{} {}", coin(random, 0), coin(random, attempt / 12)).into();
    }
    if attempt > 2 {
        return coin(random, 1).into();
    }
    match random.below(100) {
        0..44 => coin(random, 0).into(),
        44..66 => coin_compound(random).into(),
        66..86 => draw_root(random, culture, attempt),
        _ => {
            let family = draw_family_name(random, culture, attempt % 2 == 1);
            if is_fit(&family.latin) { family } else { coin(random, 0).into() }
        }
    }
}

/// Draws a word of the culture. A second word follows more often after the first attempt, so that a large table finds enough.
fn draw_root(random: &mut Random, culture: &Culture, attempt: usize) -> ScriptedWord {
    let first = random.one(&culture["roots"]);
    if attempt == 0 && random.chance(600) {
        return first.clone();
    }
    if culture.tag == "en" {
        return format!("{} {}", first.latin, plain_word(random)).into();
    }
    let second = random.one(&culture["stems"]);
    let second = ScriptedWord { latin: second.latin.trim_end_matches('-').to_owned(), native: second.native.clone() };
    let gap = if culture.is_unspaced() && culture.has_script() { "" } else { " " };
    ScriptedWord {
        latin: format!("{} {}", first.latin, capitalized(&second.latin)),
        native: format!("{}{gap}{}", first.native, second.native.trim_end_matches('-')),
    }
}

fn draw_family_name(random: &mut Random, culture: &Culture, woman: bool) -> ScriptedWord {
    let stem = random.one(&culture["stems"]);
    let end = random.one(&culture[if woman { "ends_women" } else { "ends_men" }]);
    let latin = match stem.latin.strip_suffix('-') {
        Some(stem) => format!("{stem}-{}", capitalized(&end.latin)),
        None => format!("{}{}", stem.latin, end.latin),
    };
    ScriptedWord { latin, native: format!("{}{}", stem.native, end.native) }
}

/// Aliases without `|`, without the name itself, without duplicates.
fn tidy(aliases: Vec<String>, name: &str) -> Vec<String> {
    distinct(aliases.into_iter().map(|alias| alias.replace('|', "/")).filter(|alias| alias != name))
}

/// Draws a person's name of a culture (an index in `CULTURES`). `attempt` rises while the name is already used.
pub(crate) fn person_name(random: &mut Random, culture: usize, attempt: usize) -> String {
    let culture = &CULTURES[culture];
    let woman = random.chance(430);
    let mut given = random.one(&culture[if woman { "women" } else { "men" }]).clone();
    if !culture["second"].is_empty() && (given.latin.ends_with('-') || random.chance(750)) {
        let second = random.one(&culture["second"]);
        let gap = if culture.has_script() { "" } else { " " };
        given = ScriptedWord {
            latin: format!("{}{gap}{}", given.latin, second.latin),
            native: format!("{}{}", given.native, second.native),
        };
    }
    let family_name = draw_family_name(random, culture, woman);
    if attempt == 0 && culture.has_script() && random.chance(220) {
        let gap = if culture.is_unspaced() { "" } else { " " };
        let (family, given) = (family_name.native, given.native);
        return if culture.family_first { format!("{family}{gap}{given}") } else { format!("{given}{gap}{family}") };
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

/// Draws the name of firm `row`. `attempt` rises while the name is already used.
pub(crate) fn firm_name(seed: u64, row: u64, home: usize, kind: FirmKind, attempt: usize) -> Naming {
    if let Some([name, alias, _]) = fixed_organization("fixed firms", row).filter(|_| attempt == 0) {
        let aliases = if alias.is_empty() { Vec::new() } else { vec![alias.to_owned()] };
        return Naming { name: name.to_owned(), aliases, slug: None };
    }
    let mut random = Random::new(seed.wrapping_add(attempt as u64), RandomStream::FirmName, row);
    let home = &HOMES[home];
    let culture = &CULTURES[home.culture];
    if kind == FirmKind::Angel {
        return Naming { name: person_name(&mut random, home.culture, attempt), aliases: Vec::new(), slug: None };
    }
    let mut word = draw_core(&mut random, culture, attempt);
    if row > 20 && attempt < 3 && random.chance(75) {
        word = look_alike_of(&mut random, seed, row).into();
    }
    let native = word.native != word.latin && random.chance(450);
    let local = native || random.chance(300);
    let (name, other) = if local && matches!(kind, FirmKind::Vc | FirmKind::PrivateEquity | FirmKind::Other) {
        let generic = random.one(&culture["firm_words"]);
        let gap = if culture.is_unspaced() && generic.native != generic.latin { "" } else { " " };
        let latin = format!("{} {}", word.latin, generic.latin);
        let own = format!("{}{gap}{}", word.native, generic.native);
        if native { (own, latin) } else { (latin, own) }
    } else if native {
        (add_kind_words(&mut random, kind, &word.native), add_kind_words(&mut random, kind, &word.latin))
    } else {
        (add_kind_words(&mut random, kind, &word.latin), word.native.clone())
    };
    let aliases = firm_aliases(&mut random, culture, &name, other, &word.latin);
    Naming { name, aliases, slug: None }
}

fn firm_aliases(random: &mut Random, culture: &Culture, name: &str, other: String, short: &str) -> Vec<String> {
    let mut aliases = Vec::new();
    if other != name && random.chance(700) {
        aliases.push(other);
    }
    let initials: String = fold(name).split(' ').filter_map(|word| word.chars().next()).collect();
    if initials.len() >= 3 && random.chance(500) {
        aliases.push(initials.to_uppercase());
    }
    match random.below(1000) {
        0..140 => aliases.push(short.to_owned()),
        140..220 => aliases.push(fold(name).replace(' ', "")),
        220..320 => {
            let word = coin_word(random, culture.syllables, 0);
            aliases.push(format!("{word} {}", random.pick(&["Capital", "Fund", "Ventures"])));
        }
        320..360 => {
            let folded = fold(short);
            let short_form = folded.chars().next().zip(folded.chars().last());
            if let Some((first, last)) = short_form.filter(|_| folded.len() > 4 && folded.is_ascii()) {
                aliases.push(format!("{first}{}{last}", folded.len() - 2));
            }
        }
        _ => {}
    }
    tidy(aliases, name)
}

/// A word similar to that of an earlier firm: the same, or one letter different.
fn look_alike_of(random: &mut Random, seed: u64, row: u64) -> String {
    let earlier = random.below(row);
    let mut word = if earlier < NAME_LISTS["fixed firms"].len() as u64 {
        "Alder".to_owned()
    } else {
        let mut theirs = Random::new(seed, RandomStream::FirmName, earlier);
        let home = draw_home(&mut Random::new(seed, RandomStream::Firm, earlier));
        draw_core(&mut theirs, &CULTURES[HOMES[home].culture], 0).latin
    };
    match random.below(5) {
        0 => word.push_str(random.pick(&["a", "e", "n", "s", "o"])),
        1 => drop(word.pop()),
        2 => word.push_str(random.pick(&["gate", "field", "point", "stone"])),
        _ => {}
    }
    word
}

fn add_kind_words(random: &mut Random, kind: FirmKind, word: &str) -> String {
    let kind = if kind == FirmKind::Angel { FirmKind::Other } else { kind };
    random.pick(&NAME_LISTS[kind.name()]).replace('~', word)
}

/// Draws the name of startup `row`. `attempt` rises while the name is already used.
pub(crate) fn startup_name(seed: u64, row: u64, home: usize, group: usize, attempt: usize) -> Naming {
    if let Some([name, slug, _]) = fixed_organization("fixed startups", row).filter(|_| attempt == 0) {
        return Naming { name: name.to_owned(), aliases: Vec::new(), slug: Some(slug) };
    }
    let mut random = Random::new(seed.wrapping_add(attempt as u64), RandomStream::StartupName, row);
    let random = &mut random;
    let home = &HOMES[home];
    let culture = &CULTURES[home.culture];
    let mut word = draw_core(random, culture, attempt);
    if row > 20 && attempt < 3 && random.chance(50) {
        let earlier = random.below(row);
        let mut theirs = Random::new(seed, RandomStream::StartupName, earlier);
        let their_home = draw_home(&mut Random::new(seed, RandomStream::Startup, earlier));
        word = draw_core(&mut theirs, &CULTURES[HOMES[their_home].culture], 0).latin.into();
    }
    let native = word.native != word.latin && random.chance(420);
    let own = if native { word.native.clone() } else { word.latin.clone() };
    let group = &GROUPS[group];
    let topic = random.pick(&group.words);
    let generic = random.pick(&NAME_LISTS["startup generic"]);
    let local = random.one(&culture["startup_words"]);
    let name = match random.below(1000) {
        0..470 => own,
        470..500 => format!("{own}{}", random.pick(&NAME_LISTS["startup ending"])),
        500..515 => own.to_uppercase(),
        515..545 => own.to_lowercase(),
        545..640 => format!("{own} {topic}"),
        640..725 => format!("{own} {generic}"),
        725..790 if native => format!("{own}{}{}", if culture.is_unspaced() { "" } else { " " }, local.native),
        725..790 => format!("{own} {}", local.latin),
        790..825 => format!("{} {own}", random.pick(&NAME_LISTS["startup beginning"])),
        825..855 => format!("{own} {}", plain_word(random)),
        855..885 => format!("{own} & {}", coin_word(random, culture.syllables, 0)),
        885..930 => format!("{own} {topic} {generic}"),
        930..955 => format!("{own} {topic} {}", home.legal),
        955..985 => format!("{own} {}", home.legal),
        985..992 => format!("The {own} {topic} Company"),
        992..996 => format!("{own} ({})", coin_word(random, culture.syllables, 0)),
        _ => format!("{own}’s {topic} {generic} {}", home.legal),
    };
    let mut aliases = Vec::new();
    if native && random.chance(800) {
        aliases.push(word.latin.clone());
    } else if word.native != word.latin && random.chance(300) {
        aliases.push(word.native.clone());
    }
    match random.below(1000) {
        0..50 => aliases.push(coin_word(random, culture.syllables, 0)),
        50..90 => aliases.push(format!("{} {}", word.latin, home.legal)),
        90..110 => aliases.push(fold(&name).replace(' ', "")),
        _ => {}
    }
    let aliases = tidy(aliases, &name);
    Naming { name, aliases, slug: None }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn a_firm_finds_a_name_at_every_attempt() {
        for (row, home) in (100..).zip(0..HOMES.len()) {
            for attempt in 0..14 {
                let name = firm_name(1, row, home, FirmKind::Vc, attempt).name;
                assert!(!name.contains(['_', ':', '~']) && !name.contains("  ") && name.trim() == name, "{name:?}");
            }
        }
    }

    #[test]
    fn a_startup_finds_a_name_at_every_attempt() {
        for (row, home) in (100..).zip(0..HOMES.len()) {
            for attempt in 0..14 {
                let name = startup_name(1, row, home, attempt % GROUPS.len(), attempt).name;
                assert!(!name.contains(['_', ':', '~']) && !name.contains("  ") && name.trim() == name, "{name:?}");
            }
        }
    }
}
