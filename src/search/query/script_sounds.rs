//! Names in other scripts: the words of the index that sound like those of a query.
//!
//! Scripts write fewer sounds than Latin letters do, or others: Katakana has a vowel after each consonant, Arabic and Hebrew
//! leave most vowels out, Tamil writes `p` and `b` alike, and a final `r` is mute in Korean and Japanese. So words are found by
//! the [classes](class_keys) of their consonants, and chosen by how much has to change in one spelling to make the other. The
//! sounds of letters are those of the crate `any_ascii`, but for the exceptions in `letters.txt`.

use once_cell::sync::Lazy;

use crate::index::TermIndex;
use data::fold::romanized;
use data::word_file::entries;
use data::written::{WrittenName, WrittenWord};

/// Begins the keys of classes, and no phonetic key.
const MARK: char = '~';

/// Separates letters that are no digraph.
const APART: char = '_';

/// Longest word, in bytes, that has keys of classes.
const MAX_LETTERS: usize = 24;

/// Words compared with one of a query.
const MAX_COMPARED: usize = 1_000;

/// Words compared with a part of a word that may be two.
const MAX_COMPARED_PARTS: usize = 60;

/// Largest cost for each letter of a word that sounds alike.
const MAX_COST: f32 = 0.18;

/// Readings of a query.
const MAX_READINGS: usize = 6;

/// Words that each word of a longer query may be.
const MAX_WORDS: usize = 3;

/// Fewest sounds of a word that may be two words written together, and of each of them.
const MIN_JOINED: usize = 8;
const MIN_PART: usize = 3;

/// Advantage of a word over one that a tenth of its rows have.
const FREQUENCY_BONUS: f32 = 0.035;

/// What a query may mean.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Reading {
    pub text: String,
    /// Share of its score that a match keeps; below 1 if the reading only sounds like the query.
    pub share: f32,
}

/// A word of the index with the cost for each letter.
type Candidate = (f32, String);

static LETTERS: Lazy<Vec<(&str, &str)>> = Lazy::new(|| {
    let mut letters: Vec<_> = entries(include_str!("letters.txt")).filter_map(|line| line.split_once(' ')).collect();
    letters.sort_by_key(|(letters, _)| std::cmp::Reverse(letters.len()));
    letters
});

/// Readings of a query in other scripts, the likeliest first; none for one in Latin letters or with Chinese characters, which
/// are found as they are.
pub(crate) fn sounding(text: &str, terms: &TermIndex) -> Vec<Reading> {
    let is_chinese =
        |char| matches!(char, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}');
    if !text.chars().any(is_foreign) || text.chars().any(is_chinese) {
        return Vec::new();
    }
    let words = WrittenName::parse(text).words;
    let found = match &words[..] {
        [] => Vec::new(),
        [word] => {
            let mut whole = candidates(&spellings(&word.letters), terms, MAX_COMPARED);
            if whole.first().is_none_or(|(cost, _)| *cost > MAX_COST / 2.0) {
                whole.extend(spellings(&word.letters).first().and_then(|spelling| in_two(spelling, terms)));
            }
            whole
        }
        words => {
            let joined: String = words.iter().map(|word| word.letters.as_str()).collect();
            let mut joined = candidates(&spellings(&joined), terms, MAX_COMPARED);
            joined.truncate(MAX_WORDS);
            joined.extend(word_by_word(words, terms));
            joined
        }
    };
    let near = found.into_iter().filter(|(cost, _)| *cost <= MAX_COST).collect();
    let reading = |(cost, text): Candidate| Reading { text, share: 1.0 - cost.clamp(0.01, MAX_COST) / 2.0 };
    nearest(near).into_iter().map(reading).collect()
}

/// Keys by which a word of the index is found: the classes of its consonants, in each way it may be spoken.
pub(crate) fn class_keys(word: &str) -> Vec<String> {
    if word.len() > MAX_LETTERS || word.bytes().any(|byte| byte.is_ascii_digit()) {
        return Vec::new();
    }
    let mut keys: Vec<String> = LatinSounds::all(word).iter().filter_map(|sounds| class_key(sounds, false)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn is_foreign(char: char) -> bool {
    char.is_alphabetic() && !matches!(char, '\0'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{ff00}'..='\u{ff5e}')
}

/// Each word of a query replaced by words that sound alike.
fn word_by_word(words: &[WrittenWord], terms: &TermIndex) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = vec![(0.0, String::new())];
    for word in words {
        let mut options = match word.letters.chars().any(is_foreign) {
            true => candidates(&spellings(&word.letters), terms, MAX_COMPARED),
            false => vec![(0.0, word.folded.clone())],
        };
        options.truncate(MAX_WORDS);
        let with = |(cost, text): &Candidate| -> Vec<Candidate> {
            options.iter().map(|(own, word)| (cost + own / words.len() as f32, format!("{text} {word}"))).collect()
        };
        found = found.iter().flat_map(with).collect();
        found.sort_by(|one, other| one.0.total_cmp(&other.0));
        found.truncate(MAX_READINGS);
    }
    found.into_iter().map(|(cost, text)| (cost, text.trim_start().to_owned())).collect()
}

/// A word as two: scripts without spaces write both together.
fn in_two(spelling: &str, terms: &TermIndex) -> Option<Candidate> {
    if spelling.len() < MIN_JOINED {
        return None;
    }
    let best = |part: &str| candidates(&[part.to_owned()], terms, MAX_COMPARED_PARTS).into_iter().next();
    let parts = (MIN_PART..=spelling.len() - MIN_PART).filter_map(|at| {
        let ((left_cost, left), (right_cost, right)) = (best(&spelling[..at])?, best(&spelling[at..])?);
        Some(((left_cost + right_cost) / 2.0 + MAX_COST / 4.0, format!("{left} {right}")))
    });
    parts.min_by(|one, other| one.0.total_cmp(&other.0))
}

/// Latin spellings of a word: with letters that may be mute, with Greek digraphs that may have a nasal, and with the Arabic letter
/// that is a `g` in Egypt.
fn spellings(letters: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let egyptian = letters.replace('ج', "غ");
    for (letters, has_mute, has_nasals) in
        [(letters, false, false), (letters, false, true), (letters, true, false), (&egyptian, false, false)]
    {
        let spelling = romanize(letters, has_mute, has_nasals);
        if !spelling.is_empty() && !found.contains(&spelling) {
            found.push(spelling);
        }
    }
    found
}

fn romanize(letters: &str, has_mute: bool, has_nasals: bool) -> String {
    const MUTE: char = '\u{e4c}';
    let mut text: Vec<char> = letters.chars().collect();
    // In Thai, some vowels are written before the consonant after which they are spoken.
    let is_before = |char: &char| matches!(char, '\u{e40}'..='\u{e44}');
    let mut at = 1;
    while at < text.len() {
        if is_before(&text[at - 1]) && !is_before(&text[at]) {
            text.swap(at - 1, at);
            at += 1;
        }
        at += 1;
    }
    let text: String = text.into_iter().collect();
    let mut rest = text.as_str();
    let mut latin = String::new();
    while let Some(first) = rest.chars().next() {
        let special = LETTERS.iter().find(|(letters, _)| rest.starts_with(letters));
        match special.filter(|(letters, _)| !(has_nasals && matches!(*letters, "ντ" | "μπ"))) {
            Some((letters, spelling)) => {
                push_letters(&mut latin, spelling.trim_start_matches('-'));
                rest = &rest[letters.len()..];
            }
            None => {
                rest = &rest[first.len_utf8()..];
                if has_mute || !rest.starts_with(MUTE) {
                    push_letters(&mut latin, romanized(first));
                }
            }
        }
    }
    latin.retain(|char| char.is_ascii_alphabetic() || char == APART);
    latin.make_ascii_lowercase();
    latin
}

/// Adds the letters of a sound. Two sounds are not one digraph: the `t` and `s` of a word without vowels.
fn push_letters(latin: &mut String, letters: &str) {
    let is_digraph = matches!(
        (latin.bytes().last(), letters.bytes().next()),
        (Some(b't'), Some(b's' | b'z')) | (Some(b's' | b'z' | b'c' | b'p'), Some(b'h'))
    );
    if is_digraph {
        latin.push(APART);
    }
    latin.push_str(letters);
}

/// Words of the index that sound like one of the spellings, the nearest first.
fn candidates(spellings: &[String], terms: &TermIndex, max: usize) -> Vec<Candidate> {
    let is_word = |spelling: &&String| terms.lookups.dictionary.get(spelling).is_some();
    let mut found: Vec<Candidate> = spellings.iter().filter(is_word).map(|word| (0.0, word.clone())).collect();
    for spelling in spellings {
        let sounds = foreign_sounds(spelling);
        let mut keys: Vec<String> = [false, true].iter().filter_map(|skips_v| class_key(&sounds, *skips_v)).collect();
        keys.dedup();
        for key in keys {
            for number in terms.lookups.phonetic.get(&key).iter().take(max) {
                let word = terms.text(*number);
                // A bucket has words of other keys, too.
                let spoken = LatinSounds::all(&word);
                let is_alike = |other: &&Vec<u8>| class_key(other, false).as_ref() == Some(&key);
                let costs = spoken.iter().filter(is_alike).map(|other| cost_of_change(&sounds, other));
                let cost = costs.fold(f32::MAX, f32::min) / sounds.len().max(3) as f32;
                let rows = terms.rows.count(*number) as f32;
                found.push((cost - FREQUENCY_BONUS * (1.0 + rows).log10(), word));
            }
        }
    }
    nearest(found)
}

/// The nearest of the words, each once.
fn nearest(mut words: Vec<Candidate>) -> Vec<Candidate> {
    words.sort_by(|one, other| one.1.cmp(&other.1).then(one.0.total_cmp(&other.0)));
    words.dedup_by(|one, other| one.1 == other.1);
    words.sort_by(|one, other| one.0.total_cmp(&other.0));
    words.truncate(MAX_READINGS);
    words
}

/// Sounds of a romanized word: its letters, with one for each digraph and `$` for `sh`, `ch` and `j`.
fn foreign_sounds(word: &str) -> Vec<u8> {
    let letters = word.as_bytes();
    let mut sounds = Vec::with_capacity(letters.len());
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        let next = letters.get(at + 1).copied().unwrap_or(0);
        at += 1;
        let digraph = match (*letter, next) {
            (b's' | b'z' | b'c', b'h') => Some(b'$'),
            (b't', b's' | b'z') => Some(b's'),
            (b'p', b'h') => Some(b'f'),
            (b'n', b'g') if is_final(letters, at) => Some(b'n'),
            _ => None,
        };
        if let Some(sound) = digraph {
            sounds.push(sound);
            at += 1;
            continue;
        }
        match letter {
            b'h' if !sounds.is_empty() => {}
            b'_' => {}
            b'c' | b'j' => sounds.push(b'$'),
            b'q' => sounds.push(b'k'),
            b'x' => sounds.extend(b"ks"),
            letter => sounds.push(*letter),
        }
    }
    sounds
}

/// True if no vowel follows the letter at `at`: `ng` of `ring`, but not of `engine`.
fn is_final(letters: &[u8], at: usize) -> bool {
    !letters.get(at + 1).is_some_and(|after| is_vowel(*after))
}

/// How a word in Latin letters may be spoken.
struct LatinSounds {
    /// `ch` as `k`, and `g` before `e`, `i` and `y` as `j`.
    is_other: bool,
    /// Without each `r` that no vowel follows.
    is_mute: bool,
}

impl LatinSounds {
    fn all(word: &str) -> Vec<Vec<u8>> {
        let mut all: Vec<Vec<u8>> = Vec::with_capacity(4);
        for (is_other, is_mute) in [(false, false), (false, true), (true, false), (true, true)] {
            let sounds = Self { is_other, is_mute }.speak(word.as_bytes());
            if !all.contains(&sounds) {
                all.push(sounds);
            }
        }
        all
    }

    fn speak(&self, letters: &[u8]) -> Vec<u8> {
        let mut sounds: Vec<u8> = Vec::with_capacity(letters.len() + 1);
        let mut at = 0;
        while let Some(letter) = letters.get(at) {
            let next = letters.get(at + 1).copied().unwrap_or(0);
            let is_soft = matches!(next, b'e' | b'i' | b'y');
            at += 1;
            let digraph: Option<&[u8]> = match (*letter, next) {
                (b's' | b'z', b'h') => Some(b"$"),
                (b'c', b'h') if self.is_other => Some(b"k"),
                (b'c', b'h') => Some(b"$"),
                (b'p', b'h') => Some(b"f"),
                (b'n', b'g') if is_final(letters, at) => Some(b"n"),
                // Silent, except at the beginning.
                (b'g', b'h') if at > 1 => Some(b""),
                _ => None,
            };
            if let Some(spoken) = digraph {
                sounds.extend_from_slice(spoken);
                at += 1;
                continue;
            }
            match letter {
                b'h' if !sounds.is_empty() => {}
                b'c' => sounds.push(if is_soft { b's' } else { b'k' }),
                b'g' if is_soft && self.is_other => sounds.push(b'$'),
                b'j' => sounds.push(b'$'),
                b'q' => sounds.push(b'k'),
                b'x' if at == 1 => sounds.push(b'z'),
                b'x' => sounds.extend(b"ks"),
                b'r' if self.is_mute && !is_vowel(next) && sounds.last().is_some_and(|last| is_vowel(*last)) => {}
                letter => sounds.push(*letter),
            }
        }
        sounds
    }
}

fn is_vowel(sound: u8) -> bool {
    matches!(sound, b'a' | b'e' | b'i' | b'o' | b'u' | b'y' | b'w')
}

/// Class of a consonant within which scripts confuse sounds; `None` for vowels and `h`.
fn class(sound: u8) -> Option<u8> {
    Some(match sound {
        b'p' | b'b' | b'f' | b'v' => b'p',
        b't' | b'd' => b't',
        b'k' | b'g' => b'k',
        b's' | b'z' | b'$' => b's',
        b'l' | b'r' => b'l',
        b'm' | b'n' => sound,
        _ => return None,
    })
}

/// The classes of the consonants, without repetition; `None` if they are too few to find a word by. `skips_v`: of a letter
/// that may be a vowel.
fn class_key(sounds: &[u8], skips_v: bool) -> Option<String> {
    let mut key = String::from(MARK);
    for class in sounds.iter().filter(|sound| !(skips_v && **sound == b'v')).filter_map(|sound| class(*sound)) {
        // `m` and `n` are one before these.
        if matches!(class, b'p' | b'k') && key.ends_with('m') {
            key.pop();
            if !key.ends_with('n') {
                key.push('n');
            }
        }
        if !key.ends_with(char::from(class)) {
            key.push(char::from(class));
        }
    }
    (key.len() > 2).then_some(key)
}

/// What it costs to turn the sounds of another script into those of a Latin word.
fn cost_of_change(foreign: &[u8], latin: &[u8]) -> f32 {
    let before = |sounds: &[u8], at: usize| at.checked_sub(1).map(|at| sounds[at]);
    let removal = |at: usize| cost_of_sound(foreign[at], before(foreign, at), 0.22);
    // Scripts leave vowels out.
    let insertion = |at: usize| cost_of_sound(latin[at], before(latin, at), 0.15);
    let mut row: Vec<f32> = vec![0.0];
    (0..latin.len()).for_each(|at| row.push(row[at] + insertion(at)));
    for (at, sound) in foreign.iter().enumerate() {
        let mut next = Vec::with_capacity(row.len());
        next.push(row[0] + removal(at));
        for (other_at, other) in latin.iter().enumerate() {
            let replaced = row[other_at] + cost_of_replacement(*sound, *other);
            next.push(replaced.min(row[other_at + 1] + removal(at)).min(next[other_at] + insertion(other_at)));
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

fn cost_of_replacement(foreign: u8, latin: u8) -> f32 {
    let may_be_vowel = |sound: u8| sound == b'v' || sound == b'w' || sound == b'u';
    match (class(foreign), class(latin)) {
        _ if foreign == latin => 0.0,
        (None, None) if is_vowel(foreign) && is_vowel(latin) => {
            if matches!((foreign, latin), (b'i', b'y')) {
                0.05
            } else if matches!(foreign, b'w' | b'y') {
                0.12
            } else {
                0.3
            }
        }
        (Some(one), Some(other)) if one == other => 0.12,
        (Some(b'm' | b'n'), Some(b'm' | b'n')) => 0.3,
        _ if may_be_vowel(foreign) && may_be_vowel(latin) => 0.3,
        _ => 1.2,
    }
}

/// Cost of a sound that the other word lacks. `of_vowel`: that of a vowel within the word.
fn cost_of_sound(sound: u8, before: Option<u8>, of_vowel: f32) -> f32 {
    match (sound, before) {
        _ if before == Some(sound) => 0.05,
        (sound, None) if is_vowel(sound) || sound == b'h' => 0.45,
        (b'h', _) => 0.22,
        (b'r', _) => 0.4,
        (b'v', _) => 0.5,
        (sound, _) if is_vowel(sound) => of_vowel,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The cost for each letter, if the words have a key in common.
    fn cost(foreign: &str, word: &str) -> Option<f32> {
        let found = spellings(foreign).into_iter().filter_map(|spelling| {
            let sounds = foreign_sounds(&spelling);
            let keys = [false, true].map(|skips_v| class_key(&sounds, skips_v));
            let has_key = class_keys(word).into_iter().any(|key| keys.contains(&Some(key)));
            let costs = LatinSounds::all(word).into_iter().map(|latin| cost_of_change(&sounds, &latin));
            has_key.then(|| costs.fold(f32::MAX, f32::min) / sounds.len().max(3) as f32)
        });
        found.reduce(f32::min)
    }

    #[test]
    fn an_invented_name_sounds_alike_in_twelve_scripts() {
        for (script, name) in [
            ("Japanese", "ブラックウォーター"),
            ("Korean", "브랙워터"),
            ("Thai", "แบร็กวอเตอร์"),
            ("Arabic", "براكووتر"),
            ("Hebrew", "בראקווטר"),
            ("Greek", "Μπρακουότερ"),
            ("Cyrillic", "Браквотер"),
            ("Armenian", "Բրակուոթեր"),
            ("Georgian", "ბრაკუოთერ"),
            ("Devanagari", "ब्रैकवाटर"),
            ("Bengali", "ব্র্যাকওয়াটার"),
            ("Tamil", "பிராக்வாட்டர்"),
        ] {
            let name = name.to_lowercase();
            let cost = cost(&name, "brackwater");
            assert!(cost.is_some_and(|cost| cost < MAX_COST), "{script}: {name} {cost:?}");
            assert!(super::tests::cost(&name, "zyntrix").is_none(), "{script}");
        }
    }

    #[test]
    fn letters_are_spelled_as_they_are_spoken() {
        for (letters, spelling) in [
            ("ماز", "maz"),
            ("أوبر", "ubr"),
            ("جوجل", "gwgl"),
            ("אובר", "ubr"),
            ("טס", "t_s"),
            ("ज़ूम", "zum"),
            ("इंटेल", "intel"),
            ("ஃபேல்", "fel"),
            ("แอล", "ael"),
        ] {
            let letters: String = data::written::WrittenName::parse(letters).words.remove(0).letters;
            assert!(spellings(&letters).contains(&spelling.to_owned()), "{letters}: {:?}", spellings(&letters));
        }
    }

    #[test]
    fn the_nearer_word_costs_less() {
        for (foreign, near, far) in [
            ("クイロン", "quillon", "colony"),
            ("قيلون", "quillon", "cologne"),
            ("зинтрикс", "zyntrix", "centracs"),
            ("อัลเดอร์", "alder", "elathra"),
        ] {
            let [near_cost, far_cost] = [near, far].map(|word| cost(foreign, word).unwrap_or(f32::MAX));
            assert!(near_cost < far_cost && near_cost < MAX_COST, "{foreign}: {near_cost} {far_cost}");
        }
        assert_eq!((class_keys("opal"), class_keys("ober")), (vec!["~pl".to_owned()], vec!["~pl".to_owned()]));
        assert!(class_keys("a16z").is_empty() && class_keys("io").is_empty());
    }
}
