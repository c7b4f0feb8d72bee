//! What lists call the values of a vocabulary, in many languages. Only imports read texts so: requests and datasets
//! have the names of [`Vocabulary`].

use std::collections::{HashMap, HashSet};

use once_cell::sync::Lazy;

use crate::fold::{fold, is_of_word};
use crate::vocabulary::Vocabulary;
use crate::{FirmKind, Stage, StartupStatus, word_file};

/// A vocabulary with lists of words that mean its values.
pub trait Meaning: Vocabulary {
    /// The value that a text of a list means; `None` if none or several.
    fn meaning(text: &str) -> Option<Self>;

    /// True if a text of a list says that the value is not known: `Series Unknown`.
    fn is_unknown(_text: &str) -> bool {
        false
    }
}

#[derive(Default)]
struct Names {
    /// Folded names of values.
    values: HashMap<String, &'static str>,
    /// Folded words that may be left out of a name.
    extra: HashSet<String>,
    /// Folded names of a value that is not known.
    unknown: HashSet<String>,
}

impl Names {
    /// The words of a folded text that say something.
    fn telling<'t>(&self, folded: &'t str) -> Vec<&'t str> {
        folded.split(' ').filter(|word| !self.extra.contains(*word)).collect()
    }
}

fn names(text: &'static str) -> Names {
    let mut names = Names::default();
    for (value, words) in word_file::entries(text).filter_map(|line| line.split_once(": ")) {
        if value.starts_with("+letter ") {
            continue;
        }
        let words = words.split(", ").map(folded);
        match value.strip_prefix('+') {
            Some("unknown") => names.unknown.extend(words),
            Some(_) => names.extra.extend(words),
            None => names.values.extend(words.map(|word| (word, value))),
        }
    }
    names
}

static STAGES: Lazy<Names> = Lazy::new(|| names(include_str!("stage_words.txt")));

static KINDS: Lazy<Names> = Lazy::new(|| names(include_str!("kind_words.txt")));

static STATUSES: Lazy<Names> = Lazy::new(|| names(include_str!("status_words.txt")));

/// Letters of series as other scripts write them, in lower case.
static LETTERS: Lazy<HashMap<&str, &str>> = Lazy::new(|| {
    let lines = word_file::entries(include_str!("stage_words.txt")).filter_map(|line| line.split_once(": "));
    let letters = lines.filter_map(|(value, words)| Some((value.strip_prefix("+letter ")?, words)));
    letters.flat_map(|(letter, words)| words.split(", ").map(move |word| (word, letter))).collect()
});

/// Folds a text. A letter of a series is a word of its own: `A轮` is `a` and the word for a round.
fn folded(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 4);
    let mut last = None;
    for char in text.chars() {
        let is_ascii = is_of_word(char).then_some(char.is_ascii());
        let is_other_script =
            |last: bool| Some(!last) == is_ascii && !(is_accented(char) || spaced.ends_with(is_accented));
        if last.is_some_and(is_other_script) {
            spaced.push(' ');
        }
        spaced.push(char);
        last = is_ascii;
    }
    let spaced = spaced.to_lowercase();
    let letter = |word| LETTERS.get(str::trim_end_matches(word, ['\'', '’'])).copied().unwrap_or(word);
    fold(&spaced.split_whitespace().map(letter).collect::<Vec<&str>>().join(" "))
}

/// True for a letter of a Latin alphabet that is not in ASCII.
fn is_accented(char: char) -> bool {
    matches!(char, '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{300}'..='\u{36f}')
}

fn named<V: Vocabulary>(names: &Names, text: &str) -> Option<V> {
    let name = names.values.get(text)?;
    V::ALL.iter().copied().find(|value| value.name() == *name)
}

/// The common meaning of all parts of a text, such as `Individual/Angel`; `None` if they differ.
fn of_parts<V: PartialEq>(text: &str, one: impl Fn(&str) -> Option<V>) -> Option<V> {
    let mut values = text.split(['/', ',', ';', '|', '(', ')']).filter(|part| !part.trim().is_empty()).map(one);
    let first = values.next()??;
    values.all(|value| value.as_ref() == Some(&first)).then_some(first)
}

impl Meaning for Stage {
    /// A text with several names, such as `Growth Capital/Expansion`, means their stage if they have one.
    fn meaning(text: &str) -> Option<Self> {
        let one = |text: &str| {
            let folded = folded(text);
            let known = Self::read(text).or_else(|| named(&STAGES, &folded));
            known.or_else(|| inner_name(&folded)).or_else(|| {
                let words = STAGES.telling(&folded);
                match words[..] {
                    [] => None,
                    ["pre", "seed"] => Some(Self::PreSeed),
                    // A round before the first one with a letter.
                    ["pre", "a"] => Some(Self::Seed),
                    ["pre", letter] => series(previous(letter)?),
                    [word] => series(word).or_else(|| named(&STAGES, word)),
                    [word, number] if is_number(number) => series(word).or_else(|| named(&STAGES, word)),
                    _ => named(&STAGES, &words.join(" ")),
                }
            })
        };
        // Letters alone are no names: `m/d` says nothing.
        let is_name = |part: &str| part.trim().chars().nth(1).is_some();
        one(text).or_else(|| of_parts(text, |part| Some(part).filter(|part| is_name(part)).and_then(one)))
    }

    fn is_unknown(text: &str) -> bool {
        let folded = folded(text);
        STAGES.unknown.contains(&folded) || STAGES.unknown.contains(&STAGES.telling(&folded).join(" "))
    }
}

fn is_number(word: &str) -> bool {
    word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit()) || word == "i"
}

/// The stage that a folded text names between words that say nothing: `Private Equity Round`.
fn inner_name(folded: &str) -> Option<Stage> {
    let is_extra = |word: &&str| STAGES.extra.contains(*word);
    let mut rest = folded;
    loop {
        let [first, last] = [rest.split_once(' '), rest.rsplit_once(' ')];
        rest = match (first.filter(|(first, _)| is_extra(first)), last.filter(|(_, last)| is_extra(last))) {
            (_, Some((begin, _))) => begin,
            (Some((_, end)), None) => end,
            (None, None) => return None,
        };
        if let Some(stage) = named(&STAGES, rest) {
            return Some(stage);
        }
    }
}

/// The letter of the series before.
fn previous(letter: &str) -> Option<&'static str> {
    ["a", "b", "c", "d", "e"].windows(2).find_map(|pair| (pair[1] == letter).then_some(pair[0]))
}

/// The stage of a letter, which a number may follow: `a1`.
fn series(word: &str) -> Option<Stage> {
    match word.trim_end_matches(|char: char| char.is_ascii_digit()) {
        "a" => Some(Stage::SeriesA),
        "b" => Some(Stage::SeriesB),
        "c" => Some(Stage::SeriesC),
        "d" | "e" | "f" | "g" | "h" | "i" | "j" | "k" | "l" | "m" => Some(Stage::SeriesDPlus),
        _ => None,
    }
}

impl Meaning for FirmKind {
    /// A text with several names, such as `Individual/Angel`, means their kind if they have one.
    fn meaning(text: &str) -> Option<Self> {
        let one = |text: &str| {
            let folded = folded(text);
            let mut rest = folded.as_str();
            loop {
                let singular = || rest.strip_suffix('s').and_then(|singular| named(&KINDS, singular));
                if let Some(kind) = Self::read(text).or_else(|| named(&KINDS, rest)).or_else(singular) {
                    return Some(kind);
                }
                let (begin, last) = rest.rsplit_once(' ')?;
                let is_extra = |word: &str| KINDS.extra.contains(word);
                if !is_extra(last) && !last.strip_suffix('s').is_some_and(is_extra) {
                    return None;
                }
                rest = begin;
            }
        };
        one(text).or_else(|| of_parts(text, one))
    }
}

impl Meaning for StartupStatus {
    /// A note in parentheses after the end of a startup says how or when it ended: `Listed (AIM)`. After another status, it
    /// may say the opposite.
    fn meaning(text: &str) -> Option<Self> {
        let one = |text: &str| Self::read(text).or_else(|| named(&STATUSES, &folded(text)));
        one(text).or_else(|| {
            let (state, note) = text.trim().strip_suffix([')', '）'])?.rsplit_once(['(', '（'])?;
            let state = one(state.trim()).filter(|state| *state != Self::Operating)?;
            one(note).is_none_or(|note| note == state).then_some(state)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_meaning_of_the_vocabulary() {
        fn check<V: Meaning>(text: &'static str) {
            let mut known = HashMap::new();
            for (value, words) in word_file::entries(text).filter_map(|line| line.split_once(": ")) {
                assert!(V::names().contains(&value) || value.starts_with('+'), "{value}");
                for word in words.split(", ").filter(|_| !value.starts_with('+')) {
                    assert!(!folded(word).is_empty(), "{word}");
                    let other = known.insert(folded(word), value);
                    assert!(other.is_none_or(|other| other == value), "{word}: {other:?}");
                }
            }
        }
        check::<Stage>(include_str!("stage_words.txt"));
        check::<FirmKind>(include_str!("kind_words.txt"));
        check::<StartupStatus>(include_str!("status_words.txt"));
    }

    #[test]
    fn rounds_are_stages() {
        for (stage, texts) in [
            (
                Stage::PreSeed,
                &["Pre-Seed Round", "Angel Round", "天使轮", "エンジェル", "Business Angels", "pré-amorçage"][..],
            ),
            (
                Stage::Seed,
                &[
                    "Seed Funding",
                    "Seed Round",
                    "Seed VC",
                    "Seed II",
                    "Series Seed",
                    "种子轮",
                    "シード",
                    "Посевной раунд",
                ],
            ),
            (
                Stage::Seed,
                &["Pre-Series A", "Pre-A轮", "Pre A Round", "Ronda semilla", "amorçage", "Late Seed", "Seed extension"],
            ),
            (
                Stage::SeriesA,
                &["Series A1", "Series A-2", "Serie A", "A-Runde", "A轮", "A+轮", "シリーズA", "시리즈 A", "Раунд A"],
            ),
            (
                Stage::SeriesA,
                &["Série A", "Round A", "Series A (extension)", "A round", "Seria A", "Pre-Series B", "A轮融资"],
            ),
            (
                Stage::SeriesA,
                &[
                    "SER_A",
                    "الجولة أ",
                    "جولة تمويل أ",
                    "سلسلة أ",
                    "السلسلة أ",
                    "Серия А",
                    "Раунд А",
                    "Σειρά Α",
                    "סבב א'",
                    "ซีรีส์ เอ",
                    "सीरीज ए",
                    "சீரிஸ் ஏ",
                    "சீரிஸ் A",
                ],
            ),
            (Stage::SeriesC, &["Серия С", "ซีรีส์ ซี", "جولة ج"]),
            (Stage::SeriesB, &["Серия Б", "Serie B", "B2轮", "Series B Prime", "Late Series B", "Rodada Série B"]),
            (Stage::SeriesDPlus, &["Series F", "D轮", "Series D+", "Series H-1"]),
            (
                Stage::Growth,
                &[
                    "Growth Equity",
                    "Private Equity Round",
                    "PE Growth/Expansion",
                    "Growth Capital/Expansion",
                    "Wachstumsfinanzierung",
                ],
            ),
            (Stage::Debt, &["Debt Financing", "Convertible Note", "Venture Debt", "Debt - General", "Wandeldarlehen"]),
            (Stage::Grant, &["Grant", "Förderung", "subvención"]),
            (Stage::Ipo, &["Post-IPO Equity", "Börsengang", "上市"]),
            (
                Stage::Other,
                &["Venture Round", "Private Placement", "Bridge", "Corporate Round", "战略投资", "Early Stage VC"],
            ),
        ] {
            for text in texts {
                assert_eq!(Stage::meaning(text), Some(stage), "{text}");
            }
        }
        for text in [
            "",
            "Series",
            "Series A/B",
            "Seed, Series A",
            "Series Z",
            "early stage",
            "Zebra",
            "A B",
            "Angel/Series A",
            "Серия В",
        ] {
            assert_eq!(Stage::meaning(text), None, "{text}");
            assert!(!Stage::is_unknown(text), "{text}");
        }
    }

    #[test]
    fn a_stage_that_a_list_does_not_know_is_none() {
        for text in [
            "Unknown",
            "series_unknown",
            "Venture - Series Unknown",
            "Undisclosed round",
            "Unspecified",
            "unattributed",
            "Неизвестно",
            "未公开",
        ] {
            assert!(Stage::is_unknown(text) && Stage::meaning(text).is_none(), "{text}");
        }
        for text in ["Seed", "Other", "Corporate Round", "Venture", "Bridge", "Kickoff"] {
            assert!(!Stage::is_unknown(text), "{text}");
        }
    }

    #[test]
    fn types_of_investors_are_kinds() {
        for (kind, texts) in [
            (
                FirmKind::Vc,
                &[
                    "Venture Capital",
                    "VC",
                    "Venture Capital Firms",
                    "Micro VC",
                    "VC Fund",
                    "Capital-risque",
                    "风险投资",
                ][..],
            ),
            (FirmKind::Corporate, &["Corporate Venture Capital", "CVC", "Corporate VC", "Strategic Investor"]),
            (
                FirmKind::Angel,
                &["Individual/Angel", "Business Angels", "Angel (individual)", "Solo angel", "anioł biznesu"],
            ),
            (FirmKind::AngelNetwork, &["Angel Group", "Angel Networks", "Syndicate"]),
            (
                FirmKind::Accelerator,
                &["Accelerator/Incubator", "Incubator, Accelerator", "Venture Builder", "акселератор"],
            ),
            (FirmKind::PrivateEquity, &["Private Equity Firm", "PE/Buyout", "Growth Equity"]),
            (FirmKind::FamilyOffice, &["Family Investment Office", "Family Office", "Multi-Family Office"]),
        ] {
            for text in texts {
                assert_eq!(FirmKind::meaning(text), Some(kind), "{text}");
            }
        }
        for text in ["", "Fund", "Venture Capital, Accelerator", "Limited Partner", "Zebra"] {
            assert_eq!(FirmKind::meaning(text), None, "{text}");
        }
    }

    #[test]
    fn states_of_companies_are_read() {
        for (text, status) in [
            ("Active", Some(StartupStatus::Operating)),
            ("Listed (AIM)", Some(StartupStatus::Ipo)),
            ("Active (in liquidation)", None),
            ("Acquired (closed)", None),
            ("M&A", Some(StartupStatus::Acquired)),
            ("börsennotiert", Some(StartupStatus::Ipo)),
            ("已上市", Some(StartupStatus::Ipo)),
            ("Out of Business", Some(StartupStatus::Closed)),
            ("ликвидирована", Some(StartupStatus::Closed)),
            ("Private", None),
        ] {
            assert_eq!(StartupStatus::meaning(text), status, "{text}");
        }
    }
}
