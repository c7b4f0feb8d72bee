//! Names of firms, startups and people, each given once.

use std::collections::HashSet;

use super::culture::{CULTURES, Culture, Word};
use super::geography::{PLACES, draw_place};
use super::random::{Purpose, Random};
use super::sectors::GROUPS;
use super::words::{capital, coined, compound, is_fit, plain};
use crate::dataset::FirmKind;
use crate::dataset::fold::fold;

/// The names given so far in one table. Only hashes are held: 8 bytes a name.
#[derive(Default)]
pub(super) struct Given(HashSet<u64>);

impl Given {
    /// Gives `name` away and answers its slug; `None` where its folded form is taken, or has no letter or digit.
    pub(super) fn claim(&mut self, name: &str) -> Option<String> {
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

/// A name with what else the thing is called, separated by `|`.
#[derive(Clone, Debug)]
pub(super) struct Naming {
    pub(super) name: String,
    pub(super) aliases: Vec<String>,
}

/// The word that tells one organization from another, in Latin letters and in the culture's own.
fn core(random: &mut Random, culture: &Culture, attempt: usize) -> Word {
    let same = |latin: String| Word { native: latin.clone(), latin };
    if attempt > 6 {
        return same(format!("{} {}", coined(random, culture.sound, 0), coined(random, culture.sound, attempt / 12)));
    }
    if attempt > 2 {
        return same(coined(random, culture.sound, 1));
    }
    match random.below(100) {
        0..44 => same(coined(random, culture.sound, 0)),
        44..66 => same(compound(random)),
        66..86 => root(random, culture, attempt),
        _ => {
            let family = family(random, culture, random_bool(attempt));
            if is_fit(&family.latin) { family } else { same(coined(random, culture.sound, 0)) }
        }
    }
}

fn random_bool(attempt: usize) -> bool {
    attempt % 2 == 1
}

/// A word of the culture, more and more often with another one beside it, so that a large table finds enough.
fn root(random: &mut Random, culture: &Culture, attempt: usize) -> Word {
    let first = &culture.roots[random.below(culture.roots.len() as u64) as usize];
    if attempt == 0 && random.chance(600) {
        return first.clone();
    }
    let second = &culture.stems[random.below(culture.stems.len() as u64) as usize];
    let second = Word { latin: second.latin.trim_end_matches('-').to_owned(), native: second.native.clone() };
    let gap = if culture.is_unspaced() && culture.has_script() { "" } else { " " };
    Word {
        latin: format!("{} {}", first.latin, capital(&second.latin)),
        native: format!("{}{gap}{}", first.native, second.native.trim_end_matches('-')),
    }
}

fn family(random: &mut Random, culture: &Culture, woman: bool) -> Word {
    let stem = &culture.stems[random.below(culture.stems.len() as u64) as usize];
    let ends = if woman { &culture.ends_women } else { &culture.ends_men };
    let end = &ends[random.below(ends.len() as u64) as usize];
    let latin = match stem.latin.strip_suffix('-') {
        Some(stem) => format!("{stem}-{}", capital(&end.latin)),
        None => format!("{}{}", stem.latin, end.latin),
    };
    Word { latin, native: format!("{}{}", stem.native, end.native) }
}

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
pub(super) const SET_FIRM_COUNTRIES: [&str; 8] = ["US", "GB", "US", "AT", "DE", "DK", "EE", "ES"];

/// Startups whose names are set: look-alikes, punctuation, symbols. The last one has no letter or digit at all.
const SET_STARTUPS: [(&str, &str); 10] = [
    ("Tidewick", "tidewick"),
    ("Tidewick Health", "tidewick-health"),
    ("Tide Wick Labs", "tide-wick-labs"),
    ("Mühlrad | Fleet Software", "muehlrad"),
    ("µ-Gauge", "m-gauge"),
    ("9¾ Platforms", "nine-and-three-quarter-platforms"),
    ("[nil]set", "nilset"),
    ("Loamkettle™", "loamkettle"),
    ("CafÃ© Lumenwick", "cafe-lumenwick"),
    ("★ ✦ ★", "three-stars"),
];

/// Where those startups are at home.
pub(super) const SET_STARTUP_COUNTRIES: [&str; 10] = ["GB", "US", "CA", "DE", "CH", "US", "NL", "IE", "PT", "US"];

/// Draws the name of firm `row`; `attempt` rises while names are refused.
pub(super) fn firm_name(seed: u64, row: u64, place: usize, kind: FirmKind, attempt: usize) -> Naming {
    if let Some((name, alias)) = SET_FIRMS.get(row as usize).filter(|_| attempt == 0) {
        let aliases = if alias.is_empty() { Vec::new() } else { vec![(*alias).to_owned()] };
        return Naming { name: (*name).to_owned(), aliases };
    }
    let mut random = Random::of(seed.wrapping_add(attempt as u64), Purpose::FirmName, row);
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
        let generic = &culture.firm_words[random.below(culture.firm_words.len() as u64) as usize];
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

/// Aliases without `|`, without the name itself, each once.
fn tidy(aliases: Vec<String>, name: &str) -> Vec<String> {
    let mut tidied: Vec<String> = Vec::new();
    for alias in aliases {
        let alias = alias.replace('|', "/");
        if alias != name && !tidied.contains(&alias) {
            tidied.push(alias);
        }
    }
    tidied
}

/// A word like that of an earlier firm: the same one, or a letter away.
fn look_alike_of(random: &mut Random, seed: u64, row: u64) -> String {
    let earlier = random.below(row);
    let mut word = if earlier < SET_FIRMS.len() as u64 {
        "Alder".to_owned()
    } else {
        let mut theirs = Random::of(seed, Purpose::FirmName, earlier);
        let place = draw_place(&mut Random::of(seed, Purpose::Firm, earlier));
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

/// Draws the name of startup `row`, which sells in `group`; `attempt` rises while names are refused.
pub(super) fn startup_name(
    seed: u64,
    row: u64,
    place: usize,
    group: usize,
    attempt: usize,
) -> (Naming, Option<&'static str>) {
    if let Some((name, slug)) = SET_STARTUPS.get(row as usize).filter(|_| attempt == 0) {
        return (Naming { name: (*name).to_owned(), aliases: Vec::new() }, Some(slug));
    }
    let mut random = Random::of(seed.wrapping_add(attempt as u64), Purpose::StartupName, row);
    let random = &mut random;
    let place = &PLACES[place];
    let culture = &CULTURES[place.culture];
    let mut word = core(random, culture, attempt);
    if row > 20 && attempt < 3 && random.chance(50) {
        let earlier = random.below(row);
        let mut theirs = Random::of(seed, Purpose::StartupName, earlier);
        let home = draw_place(&mut Random::of(seed, Purpose::Startup, earlier));
        word.latin = core(&mut theirs, &CULTURES[PLACES[home].culture], 0).latin;
        word.native = word.latin.clone();
    }
    let native = word.native != word.latin && random.chance(420);
    let own = if native { word.native.clone() } else { word.latin.clone() };
    let group = &GROUPS[group];
    let topic = random.pick(group.words);
    let generic = random.pick(&[
        "Labs",
        "Technologies",
        "Systems",
        "Group",
        "Solutions",
        "Networks",
        "Software",
        "Works",
        "Digital",
        "Global",
        "Studio",
        "Inc.",
        "Co",
    ]);
    let local = &culture.startup_words[random.below(culture.startup_words.len() as u64) as usize];
    let name = match random.below(1000) {
        0..470 => own,
        470..500 => format!("{own}{}", random.pick(&["ly", "ify", "hub", "io", "HQ", "+", "360", "AI", "X"])),
        500..515 => own.to_uppercase(),
        515..545 => own.to_lowercase(),
        545..640 => format!("{own} {topic}"),
        640..725 => format!("{own} {generic}"),
        725..790 if native => format!("{own}{}{}", if culture.is_unspaced() { "" } else { " " }, local.native),
        725..790 => format!("{own} {}", local.latin),
        790..825 => format!("{} {own}", random.pick(&["New", "Open", "Little", "Blue", "True", "Studio", "Project"])),
        825..855 => format!("{own} {}", plain(random)),
        855..885 => format!("{own} & {}", coined(random, culture.sound, 0)),
        885..930 => format!("{own} {topic} {generic}"),
        930..955 => format!("{own} {topic} {}", place.legal),
        955..985 => format!("{own} {}", place.legal),
        985..992 => format!("The {own} {topic} Company"),
        992..996 => format!("{own} ({})", coined(random, culture.sound, 0)),
        _ => format!("{own}’s {topic} {generic} {}", place.legal),
    };
    let mut aliases = Vec::new();
    if native && random.chance(800) {
        aliases.push(word.latin.clone());
    } else if word.native != word.latin && random.chance(300) {
        aliases.push(word.native.clone());
    }
    match random.below(1000) {
        0..50 => aliases.push(coined(random, culture.sound, 0)),
        50..90 => aliases.push(format!("{} {}", word.latin, place.legal)),
        90..110 => aliases.push(fold(&name).replace(' ', "")),
        _ => {}
    }
    let aliases = tidy(aliases, &name);
    (Naming { name, aliases }, None)
}

/// Draws a person's name of a culture (a place in `CULTURES`); `attempt` rises while names are refused.
pub(super) fn person_name(random: &mut Random, culture: usize, attempt: usize) -> String {
    let culture = &CULTURES[culture];
    let woman = random.chance(430);
    let list = if woman { &culture.women } else { &culture.men };
    let mut given = list[random.below(list.len() as u64) as usize].clone();
    if !culture.second.is_empty() && (given.latin.ends_with('-') || random.chance(750)) {
        let second = &culture.second[random.below(culture.second.len() as u64) as usize];
        let gap = if culture.has_script() { "" } else { " " };
        given = Word {
            latin: format!("{}{gap}{}", given.latin, second.latin),
            native: format!("{}{}", given.native, second.native),
        };
    }
    let family_name = family(random, culture, woman);
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
        let other = family(random, culture, woman).latin;
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

    #[test]
    fn a_name_is_given_once_whatever_its_spelling() {
        let mut given = Given::default();
        assert_eq!(given.claim("Ørneflukt & Söhne").as_deref(), Some("orneflukt-and-sohne"));
        assert_eq!(given.claim("ORNEFLUKT and Sohne"), None);
        assert_eq!(given.claim("★"), None);
        assert_eq!(given.claim("Facets"), None);
    }

    #[test]
    fn people_have_names_of_their_culture() {
        let mut random = Random::of(3, Purpose::Person, 1);
        for culture in 0..CULTURES.len() {
            for attempt in [0, 1, 3, 7] {
                let name = person_name(&mut random, culture, attempt);
                assert!(!name.contains(['_', '|', ':']) && !name.trim().is_empty() && !name.contains("  "), "{name:?}");
            }
        }
    }

    #[test]
    fn organizations_find_names_at_every_attempt() {
        for (row, place) in (100..).zip(0..PLACES.len()) {
            for attempt in 0..14 {
                let firm = firm_name(1, row, place, FirmKind::Vc, attempt);
                let (startup, _) = startup_name(1, row, place, attempt % GROUPS.len(), attempt);
                for name in [&firm.name, &startup.name] {
                    assert!(!name.contains(['_', ':']) && !name.contains("  ") && name.trim() == name, "{name:?}");
                }
            }
        }
    }
}
