//! Names of firms.

use crate::datagen::culture::{CULTURES, Culture, ScriptedWord};
use crate::datagen::geography::{HOMES, draw_home};
use crate::datagen::naming::{NAME_LISTS, Naming, draw_core, fixed_organization, person_name, tidy};
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::words::coin_word;
use data::FirmKind;
use data::fold::fold;
use data::vocabulary::Vocabulary;

/// Draws the name of firm `row`. `attempt` rises while the name is already used.
pub(crate) fn firm_name(seed: u64, row: u64, home: usize, kind: FirmKind, attempt: usize) -> Naming {
    if let Some([name, alias, _]) = fixed_organization("fixed firms", row).filter(|_| attempt == 0) {
        let aliases = if alias.is_empty() { Vec::new() } else { vec![alias.to_owned()] };
        return Naming { name: name.to_owned(), aliases };
    }
    let mut random = Random::new(seed.wrapping_add(attempt as u64), RandomStream::FirmName, row);
    let home = &HOMES[home];
    let culture = &CULTURES[home.culture];
    if kind == FirmKind::Angel {
        return Naming { name: person_name(&mut random, home.culture, attempt), aliases: Vec::new() };
    }
    let mut word = draw_core(&mut random, culture, attempt);
    let look_alike = row > 20 && attempt < 3 && random.chance(75);
    if look_alike {
        let latin = look_alike_of(&mut random, seed, row);
        word = ScriptedWord { native: latin.clone(), latin };
    }
    let native = word.native != word.latin && random.chance(450);
    let local = native || random.chance(300);
    let (name, other) = if local && matches!(kind, FirmKind::Vc | FirmKind::PrivateEquity | FirmKind::Other) {
        let generic = random.one(&culture.firm_words);
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
    Naming { name, aliases }
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
        220..320 => aliases.push(format!(
            "{} {}",
            coin_word(random, culture.syllables, 0),
            random.pick(&["Capital", "Fund", "Ventures"])
        )),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_firm_finds_a_name_at_every_attempt() {
        for (row, home) in (100..).zip(0..HOMES.len()) {
            for attempt in 0..14 {
                let name = firm_name(1, row, home, FirmKind::Vc, attempt).name;
                assert!(!name.contains(['_', ':', '~']) && !name.contains("  ") && name.trim() == name, "{name:?}");
            }
        }
    }
}
