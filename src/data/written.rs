//! The spelling of names, by which records are identified: names that fold alike may be one name, or only sound alike.
//!
//! [`fold`] transliterates all scripts to Latin, so that a search finds a name by its sound. Names that fold alike may
//! still differ: 凯石 and 凯实 in a character, An Phát and Ân Phật in marks, C and C++ in symbols.

use std::collections::HashMap;
use std::ops::Range;

use hanconv::RawDictionary;
use once_cell::sync::Lazy;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::fold::{fold, is_silent};

#[derive(Debug, Default, PartialEq, Eq)]
pub struct WrittenName {
    /// The words of the folded name, without signs such as `™`.
    pub words: Vec<WrittenWord>,
    /// Its symbols in order, such as `++`, without punctuation.
    pub symbols: String,
}

#[derive(Debug, PartialEq, Eq)]
pub struct WrittenWord {
    pub folded: String,
    /// In lowercase, with marks and in its script.
    pub letters: String,
}

impl WrittenName {
    pub fn parse(name: &str) -> Self {
        let mut written = Self::default();
        let mut word = String::new();
        let chars = name.chars().filter(|char| !is_ornament(*char)).nfkc();
        for char in chars.filter(|char| !is_silent(*char)) {
            if char.is_alphanumeric() || is_combining_mark(char) {
                word.extend(char.to_lowercase());
            } else {
                written.push(std::mem::take(&mut word));
                if char == '&' {
                    written.push("and".to_owned());
                } else if is_symbol(char) {
                    written.symbols.push(char);
                }
            }
        }
        written.push(word);
        written
    }

    fn push(&mut self, letters: String) {
        match fold(&letters) {
            // These letters fold to nothing: no search sees them.
            folded if folded.is_empty() => self.symbols.push_str(&letters),
            folded => self.words.push(WrittenWord { folded, letters }),
        }
    }
}

/// The form of a name that identifies its record: without letter case, punctuation and spaces between signs, but with marks,
/// in its script, and with the symbols that distinguish names. Names that only sound alike have different forms. German
/// umlauts are as they are spelled without marks.
///
/// `Ünïcorn & Söhne GmbH` → `uenïcorn and soehne gmbh`; `C++` → `c++`; `凯石投资` → `凯石投资`.
pub fn identity(name: &str) -> String {
    // The common case, as in `fold`.
    if name.is_ascii() {
        return identity_of(name.chars());
    }
    let is_turkish = name.contains(['ı', 'İ', 'ş', 'Ş', 'ğ', 'Ğ']);
    let lowercase = |char: char| if is_turkish && char == 'I' { 'ı' } else { char };
    let chars = name.chars().filter(|char| !is_ornament(*char)).nfkc().filter(|char| !is_vowel_mark(*char));
    identity_of(chars.map(lowercase))
}

fn identity_of(chars: impl Iterator<Item = char>) -> String {
    let mut form = String::new();
    let mut is_apart = false;
    for char in chars.filter(|char| !is_silent(*char)) {
        let is_word = char.is_alphanumeric() || is_combining_mark(char) || is_symbol(char);
        is_apart |= !is_word;
        if (is_word || char == '&') && std::mem::take(&mut is_apart) && !form.is_empty() && !form.ends_with(' ') {
            form.push(' ');
        }
        if char == '&' {
            if !form.is_empty() && !form.ends_with(' ') {
                form.push(' ');
            }
            form.push_str("and");
            is_apart = true;
        } else if is_word {
            for lower in char.to_lowercase() {
                match (without_umlaut(lower), lower) {
                    (Some(letters), _) => form.push_str(letters),
                    // `İ` is a capital Turkish `i`.
                    (None, '\u{307}') if form.ends_with('i') => {}
                    (None, letter) => form.push(letter),
                }
            }
        }
    }
    form
}

/// The characters of a text that are written without spaces between words: Chinese, Japanese, Korean and Thai. Chinese
/// ones are in their simplified forms. A text without them is empty.
///
/// `紅杉 Capital 中国` → `红杉中国`
pub fn characters(text: &str) -> String {
    if text.is_ascii() {
        return String::new();
    }
    text.nfkc().filter(|char| is_character(*char)).map(simplified).collect()
}

/// A character as it is written in mainland China, by itself: in a longer text, it may have another simple form.
fn simplified(char: char) -> char {
    // The tables of OpenCC: new forms of Japan to traditional ones, and these to simplified ones.
    static FORMS: Lazy<[HashMap<char, char>; 2]> = Lazy::new(|| {
        let pair = |(from, to): (&str, &str)| Some((from.parse().ok()?, to.parse().ok()?));
        let japanese = RawDictionary::JPVariants.inv_iter().filter_map(pair).collect();
        [japanese, RawDictionary::TSCharacters.iter().filter_map(pair).collect()]
    });
    FORMS.iter().fold(char, |char, forms| forms.get(&char).copied().unwrap_or(char))
}

/// The place of the characters of a text in another one, as positions of characters.
pub fn find_characters(text: &str, characters: &str) -> Option<Range<usize>> {
    if characters.is_empty() {
        return None;
    }
    // The characters of the text, and for each of their bytes the position in the text.
    let (mut written, mut places) = (String::new(), Vec::new());
    for (place, char) in text.chars().enumerate() {
        written.push_str(&self::characters(char.encode_utf8(&mut [0; 4])));
        places.resize(written.len(), place);
    }
    let start = written.find(characters)?;
    Some(*places.get(start)?..places.get(start + characters.len() - 1)? + 1)
}

fn is_character(char: char) -> bool {
    matches!(char,
        '々' | '〇' | '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | 'ー' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{e01}'..='\u{e4e}')
}

/// The usual spelling without an umlaut.
fn without_umlaut(letter: char) -> Option<&'static str> {
    match letter {
        'ä' => Some("ae"),
        'ö' => Some("oe"),
        'ü' => Some("ue"),
        'ß' => Some("ss"),
        _ => None,
    }
}

/// A text with the usual spellings of its umlauts, as names of firms have them in place of those; `None` without umlauts.
///
/// `Gründerfonds` → `Gruenderfonds`
pub fn spelled_out(text: &str) -> Option<String> {
    let letters_of = |char: char| char.to_lowercase().next().and_then(without_umlaut);
    let first = text.find(|char| letters_of(char).is_some())?;
    let mut spelled = text[..first].to_owned();
    for char in text[first..].chars() {
        match letters_of(char) {
            Some(letters) => spelled.push_str(letters),
            None => spelled.push(char),
        }
    }
    Some(spelled)
}

/// Marks of vowels in Arabic and Hebrew, and the stroke that lengthens Arabic words: most texts leave them out.
fn is_vowel_mark(char: char) -> bool {
    matches!(char, '\u{64b}'..='\u{652}' | '\u{670}' | '\u{640}' | '\u{591}'..='\u{5bd}' | '\u{5bf}'..='\u{5c7}')
}

/// Marks of protection that owners add to names, and selectors of a character's look.
fn is_ornament(char: char) -> bool {
    matches!(char, '™' | '®' | '©' | '℠' | '℗' | '\u{fe00}'..='\u{fe0f}')
}

/// Signs that distinguish names, unlike punctuation.
fn is_symbol(char: char) -> bool {
    "+#@$%*=^~<>°±×÷".contains(char)
        || matches!(char, '\u{a2}'..='\u{a5}' | '\u{20a0}'..='\u{20cf}' | '\u{2100}'..='\u{2bff}' | '\u{1f000}'..)
}

/// True if two texts in the form of [`WrittenWord::letters`] have the same letters. One of them may lack all marks of its
/// Latin or Greek letters, because keyboards may. Who writes some marks means the letters without one, too.
pub fn are_same_letters(left: &str, right: &str) -> bool {
    left == right || !(left.is_ascii() && right.is_ascii()) && (is_bare_form(left, right) || is_bare_form(right, left))
}

fn is_bare_form(typed: &str, marked: &str) -> bool {
    if typed.chars().any(has_mark) {
        return false;
    }
    let bare_form = |text: &str| text.chars().map(|letter| bare(letter).unwrap_or(letter.into())).collect::<String>();
    bare_form(typed) == bare_form(marked)
}

fn has_mark(letter: char) -> bool {
    // At the end of a word, sigma has another form.
    letter != 'ς' && bare(letter).is_some()
}

/// A letter as typed without its marks: `é` → `e`, `ß` → `ss`; `None` if it has none.
fn bare(letter: char) -> Option<String> {
    match Script::from_char(letter)? {
        _ if letter.is_ascii() => None,
        Script::Latin => {
            let ascii = any_ascii::any_ascii_char(letter).chars().filter(char::is_ascii_alphanumeric);
            Some(ascii.map(|letter| letter.to_ascii_lowercase()).collect())
        }
        Script::Greek if letter == 'ς' => Some("σ".to_owned()),
        Script::Greek => std::iter::once(letter).nfd().next().filter(|bare| *bare != letter).map(String::from),
        Script::Cyrillic | Script::Other => None,
    }
}

/// The script of a letter, as far as spelling depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Script {
    Latin,
    Greek,
    Cyrillic,
    /// Characters that may be words or syllables, vowels left out, tones: the folded name tells the sound only.
    Other,
}

impl Script {
    /// `None` for an ASCII digit.
    fn from_char(char: char) -> Option<Self> {
        Some(match char {
            '0'..='9' => return None,
            '\0'..='\u{36f}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' => {
                Self::Latin
            }
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Self::Greek,
            '\u{400}'..='\u{52f}' => Self::Cyrillic,
            _ => Self::Other,
        })
    }
}

/// True if both names are of the same alphabet, so that a letter of the folded names that differs may be mistyped.
pub fn are_spelled_alike(left: &str, right: &str) -> bool {
    let alphabet = |text: &str| {
        let mut scripts = text.chars().filter_map(Script::from_char);
        let first = scripts.next();
        (first != Some(Script::Other) && scripts.all(|script| Some(script) == first)).then_some(first)
    };
    alphabet(left).is_some_and(|known| alphabet(right) == Some(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(name: &str) -> String {
        WrittenName::parse(name).words.iter().map(|word| word.letters.as_str()).collect()
    }

    #[test]
    fn umlauts_have_a_usual_spelling() {
        assert_eq!(spelled_out("High-Tech Gründerfonds").as_deref(), Some("High-Tech Gruenderfonds"));
        assert_eq!(spelled_out("ÄRA Straße").as_deref(), Some("aeRA Strasse"));
        assert_eq!(spelled_out("Alder"), None);
    }

    #[test]
    fn names_that_are_written_otherwise_are_others() {
        for (one, other) in [
            ("ALDER  CAPITAL", "Alder-Capital"),
            ("Trümpler", "TRUEMPLER"),
            ("Straße", "Strasse"),
            ("Alder & Söhne", "Alder and Soehne"),
            ("ＡＢＣ投資", "ABC投資"),
            ("Alder™", "Alder"),
            ("O’Neill", "ONeill"),
            ("İzmir Girişim", "izmir girişim"),
            ("IŞIK", "ışık"),
            ("KIRIM", "Kirim"),
            ("مُحَمَّد", "محمد"),
        ] {
            assert_eq!(identity(one), identity(other), "{one} {other}");
        }
        for (one, other) in [
            ("凯石投资", "凯实投资"),
            ("林婷", "林庭"),
            ("سيف", "صيف"),
            ("An Phát", "Ân Phật"),
            ("Kırım", "Kirim"),
            ("Kış", "Kiş"),
            ("ดาว", "ด้าว"),
            ("C", "C++"),
            ("C++", "C#"),
            ("+ND", "ND+"),
            ("C+ Capital", "C Capital"),
            ("@Ventures", "Ventures"),
            ("🚀 Ventures", "Ventures"),
            ("Яндекс", "Yandeks"),
            ("Alder 2", "Alder"),
            ("★", "★ ★"),
        ] {
            assert_ne!(identity(one), identity(other), "{one} {other}");
        }
        assert_eq!(identity(" ... "), "");
    }

    #[test]
    fn characters_are_those_of_scripts_without_spaces() {
        for (text, expected) in [
            ("红杉 Capital 中国", "红杉中国"),
            ("紅杉資本 樂天", "红杉资本乐天"),
            ("楽天経済", "乐天经济"),
            ("ﾗｸﾃﾝ・乐天㈱", "ラクテン乐天株"),
            ("토스 Labs 2", "토스"),
            ("Алдер Çınar", ""),
            ("Alder", ""),
        ] {
            assert_eq!(characters(text), expected, "{text}");
        }
        for (text, characters, place) in [
            ("凯石 红杉 中国", "红杉", Some(3..5)),
            ("A紅 杉B", "红杉", Some(1..4)),
            ("红红杉", "红杉", Some(1..3)),
            ("红", "红杉", None),
            ("红B杉", "红杉", Some(0..3)),
            ("Alder", "红", None),
            ("红", "", None),
        ] {
            assert_eq!(find_characters(text, characters), place, "{text}");
        }
    }

    #[test]
    fn the_words_are_those_of_the_folded_name() {
        for name in [
            "Ünïcorn & Söhne GmbH",
            "L'Oréal—Ventures, Inc.",
            "51wofang 无忧我房",
            "  A.B. &C++ ",
            "सत्व Capital",
            "½ Price",
            "Sequoia 🚀",
            "L´Oréal",
            "İstanbul",
            "㈱楽天",
            "O\u{200b}ne",
            "สยาม",
            "",
            "★",
        ] {
            let written = WrittenName::parse(name);
            let words: Vec<&str> = written.words.iter().map(|word| word.folded.as_str()).collect();
            assert_eq!(words.join(" "), fold(name), "{name}");
        }
    }

    #[test]
    fn names_are_the_same_but_for_case_punctuation_and_marks_that_one_of_them_lacks() {
        for (left, right) in [
            ("Société Générale", "SOCIETE GENERALE"),
            ("Łódź Straße", "Lodz Strasse"),
            ("Ørsted", "orsted"),
            ("SEQUOİA", "sequoia"),
            ("ΕΘΝΙΚΗ ΤΡΑΠΕΖΑΣ", "Εθνική Τράπεζας"),
            ("Hawaiʻi", "Hawaii"),
            ("Ａｌｄｅｒ", "Alder"),
            ("Yahoo!", "Yahoo"),
            ("ﾗｸﾃﾝ", "ラクテン"),
        ] {
            assert!(are_same_letters(&letters(left), &letters(right)), "{left}, {right}");
            assert!(are_same_letters(&letters(right), &letters(left)), "{right}, {left}");
            assert_eq!(WrittenName::parse(left).symbols, WrittenName::parse(right).symbols, "{left}, {right}");
        }
        for (left, right) in [
            ("An Phát", "Ân Phật"),
            ("Thanh Sơn", "Thành Sơn"),
            ("Νόμος", "Νομός"),
            ("Sąd Żółty", "Sad Żółty"),
            ("Kış", "Kiş"),
            ("凯石投资", "凯实投资"),
            ("سيف", "صيف"),
            ("Май", "Маи"),
            ("ใหม่", "ไหม"),
            ("か", "が"),
            ("Яндекс", "Yandeks"),
            ("Alder", "Alders"),
            ("Alder", ""),
        ] {
            assert!(!are_same_letters(&letters(left), &letters(right)), "{left}, {right}");
            assert!(!are_same_letters(&letters(right), &letters(left)), "{right}, {left}");
        }
        for (name, symbols) in
            [("C", ""), ("C++", "++"), ("C#", "#"), ("@Alder", "@"), ("Alder, Inc. (US)", ""), ("🚀", "🚀")]
        {
            assert_eq!(WrittenName::parse(name).symbols, symbols, "{name}");
        }
    }

    #[test]
    fn letters_compare_within_one_alphabet() {
        for (left, right, expected) in [
            ("alder", "aldér", true),
            ("яндекс", "яндкс", true),
            ("3i", "4i", true),
            ("яндекс", "yandeks", false),
            ("凯石", "凯实", false),
            ("سيف", "صيف", false),
            ("51wofang无忧", "51wofang无忧", false),
        ] {
            assert_eq!(are_spelled_alike(left, right), expected, "{left}, {right}");
        }
    }
}
