//! Names of startups.

use crate::datagen::culture::CULTURES;
use crate::datagen::geography::{HOMES, draw_home};
use crate::datagen::naming::{NAME_LISTS, Naming, draw_core, fixed_organization, tidy};
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::sectors::GROUPS;
use crate::datagen::words::{coin_word, plain_word};
use data::fold::fold;

/// Draws the name of startup `row` in sector group `group`, and its slug if it is a fixed one. `attempt` rises while the name
/// is already used.
pub(crate) fn startup_name(
    seed: u64,
    row: u64,
    home: usize,
    group: usize,
    attempt: usize,
) -> (Naming, Option<&'static str>) {
    if let Some([name, slug, _]) = fixed_organization("fixed startups", row).filter(|_| attempt == 0) {
        return (Naming { name: name.to_owned(), aliases: Vec::new() }, Some(slug));
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
        word.latin = draw_core(&mut theirs, &CULTURES[HOMES[their_home].culture], 0).latin;
        word.native = word.latin.clone();
    }
    let native = word.native != word.latin && random.chance(420);
    let own = if native { word.native.clone() } else { word.latin.clone() };
    let group = &GROUPS[group];
    let topic = random.pick(&group.words);
    let generic = random.pick(&NAME_LISTS["startup generic"]);
    let local = random.one(&culture.startup_words);
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
    (Naming { name, aliases }, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_startup_finds_a_name_at_every_attempt() {
        for (row, home) in (100..).zip(0..HOMES.len()) {
            for attempt in 0..14 {
                let name = startup_name(1, row, home, attempt % GROUPS.len(), attempt).0.name;
                assert!(!name.contains(['_', ':', '~']) && !name.contains("  ") && name.trim() == name, "{name:?}");
            }
        }
    }
}
