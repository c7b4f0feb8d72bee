//! Names of firms.

use crate::data::FirmKind;
use crate::data::fold::fold;
use crate::datagen::culture::{CULTURES, Culture, Word};
use crate::datagen::geography::{PLACES, draw_place};
use crate::datagen::naming::{Naming, core, person_name, tidy};
use crate::datagen::random::{Random, RandomStream};
use crate::datagen::words::coined;

/// Firms whose names are set in every dataset of their size: look-alikes and the dirt of the real world.
const SET_FIRMS: [(&str, &str); 8] = [
    ("Alder Capital", "ACAP"),
    ("Alder Capital Partners", "ACP"),
    ("Aldern Ventures", ""),
    ("Karst | Venture Studio", "Karst"),
    ("\"Fernlicht\" Beteiligungen GmbH & Co. KG", "Fernlicht"),
    ("Holmqvist, Brandauer & Sønner", "HBS"),
    ("q7k", "Quarter Seven Kite"),
    ("¡Adelante! Capital", "Adelante"),
];

/// Where those firms are at home.
pub(crate) const SET_FIRM_COUNTRIES: [&str; 8] = ["US", "GB", "US", "AT", "DE", "DK", "EE", "ES"];

/// Draws the name of firm `row`; `attempt` rises while names are refused.
pub(crate) fn firm_name(seed: u64, row: u64, place: usize, kind: FirmKind, attempt: usize) -> Naming {
    if let Some((name, alias)) = SET_FIRMS.get(row as usize).filter(|_| attempt == 0) {
        let aliases = if alias.is_empty() { Vec::new() } else { vec![(*alias).to_owned()] };
        return Naming { name: (*name).to_owned(), aliases };
    }
    let mut random = Random::of(seed.wrapping_add(attempt as u64), RandomStream::FirmName, row);
    let place = &PLACES[place];
    let culture = &CULTURES[place.culture];
    if kind == FirmKind::Angel {
        return Naming { name: person_name(&mut random, place.culture, attempt), aliases: Vec::new() };
    }
    let mut word = core(&mut random, culture, attempt);
    let look_alike = row > 20 && attempt < 3 && random.chance(75);
    if look_alike {
        let latin = look_alike_of(&mut random, seed, row);
        word = Word { native: latin.clone(), latin };
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
        (dress(&mut random, kind, &word.native), dress(&mut random, kind, &word.latin))
    } else {
        (dress(&mut random, kind, &word.latin), word.native.clone())
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
            coined(random, culture.sound, 0),
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

/// A word like that of an earlier firm: the same one, or a letter away.
fn look_alike_of(random: &mut Random, seed: u64, row: u64) -> String {
    let earlier = random.below(row);
    let mut word = if earlier < SET_FIRMS.len() as u64 {
        "Alder".to_owned()
    } else {
        let mut theirs = Random::of(seed, RandomStream::FirmName, earlier);
        let place = draw_place(&mut Random::of(seed, RandomStream::Firm, earlier));
        core(&mut theirs, &CULTURES[PLACES[place].culture], 0).latin
    };
    match random.below(5) {
        0 => word.push(random.pick(&["a", "e", "n", "s", "o"]).chars().next().unwrap_or('a')),
        1 => {
            word.pop();
        }
        2 => word.push_str(random.pick(&["gate", "field", "point", "stone"])),
        _ => {}
    }
    word
}

/// Puts the words of a kind of firm around its own word.
fn dress(random: &mut Random, kind: FirmKind, word: &str) -> String {
    let pick = |random: &mut Random, forms: &[&str]| random.pick(forms).replace('~', word);
    match kind {
        FirmKind::Vc => {
            let forms = [
                "~ Capital",
                "~ Ventures",
                "~ Partners",
                "~ Capital Partners",
                "~ Venture Partners",
                "~ Fund",
                "~ VC",
                "~",
                "~ Growth",
                "~ Seed Fund",
                "~ Investments",
                "~ & Company",
                "~ Venture Capital",
                "The ~ Fund",
                "~ Early Stage Fund II",
                "~ Equity",
                "~ Growth Capital Management",
            ];
            let weights = [26, 26, 18, 9, 6, 7, 3, 8, 2, 3, 3, 1, 3, 1, 1, 2, 1];
            forms[random.weighted(&weights)].replace('~', word)
        }
        FirmKind::AngelNetwork => pick(
            random,
            &["~ Angels", "~ Angel Network", "~ Business Angels", "Band of ~", "~ Angel Club", "~ Syndicate"],
        ),
        FirmKind::Accelerator => {
            pick(random, &["~ Accelerator", "~ Launchpad", "~ Foundry", "Start ~", "~ Incubator", "~ Lab", "~ Camp"])
        }
        FirmKind::Corporate => pick(
            random,
            &[
                "~ Corporate Ventures",
                "~ Industries",
                "~ Group",
                "~ Next",
                "~ Holding Ventures",
                "~ Strategic Investments",
            ],
        ),
        FirmKind::PrivateEquity => pick(
            random,
            &["~ Equity Partners", "~ Private Equity", "~ Buyout Partners", "~ Capital Management", "~ Growth Equity"],
        ),
        FirmKind::FamilyOffice => {
            pick(random, &["~ Family Office", "~ Holdings", "~ & Sons", "~ Family Holding", "House of ~"])
        }
        FirmKind::Bank => {
            pick(random, &["Bank of ~", "~ Bank", "Banque ~", "Banco ~", "~ Savings Bank", "~ Securities"])
        }
        FirmKind::University => pick(
            random,
            &[
                "University of ~",
                "~ University",
                "~ Institute of Technology",
                "~ University Endowment",
                "~ Polytechnic Fund",
            ],
        ),
        FirmKind::Government => pick(
            random,
            &[
                "~ Innovation Agency",
                "~ Development Fund",
                "Invest in ~",
                "~ Regional Growth Fund",
                "Office for ~ Enterprise",
            ],
        ),
        FirmKind::Crowdfunding => pick(random, &["~crowd", "Crowd~", "~ Crowdfunding", "~ Backers", "Back ~"]),
        FirmKind::Other | FirmKind::Angel => {
            pick(random, &["~", "~ Foundation", "~ Trust", "~ Advisors", "~ Associates", "~ International"])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_firm_finds_a_name_at_every_attempt() {
        for (row, place) in (100..).zip(0..PLACES.len()) {
            for attempt in 0..14 {
                let name = firm_name(1, row, place, FirmKind::Vc, attempt).name;
                assert!(!name.contains(['_', ':', '~']) && !name.contains("  ") && name.trim() == name, "{name:?}");
            }
        }
    }
}
