//! Detects the encoding of a file from its bytes.
//!
//! A file is UTF-8 by the share of valid sequences, so that a stray byte does not change how the rest is read. For other
//! files a detector names an encoding. Its answer counts if the decoded words look like words: a wrong table gives symbols
//! within words, capital letters behind small ones, or letters of two scripts in one word. If several tables give words, the
//! one counts whose words are of few languages, that has words of headers or months where others have none, or that is of the
//! language of the other words. If that is not clear either, the file is refused: text in the wrong letters looks right to
//! nobody but a program.

use std::collections::HashSet;
use std::io::Read;

use chardetng::EncodingDetector;
use encoding_rs::{Encoding, ISO_2022_JP, UTF_8, UTF_16BE, UTF_16LE};

use crate::sources::Result;
use crate::sources::guess::is_header_word;
use crate::sources::input::Member;
use crate::sources::input::words::{Language, languages};
use crate::sources::mapping::date_format::month_of;
use data::import::diagnostics::quoted;

/// Bytes that are read at most.
const MAX_BYTES: u64 = 16 << 20;

/// Bytes beyond ASCII, as valid sequences or invalid bytes, after which reading stops.
const MAX_EVIDENCE: u64 = 20_000;

/// Bytes of the text that is decoded to compare encodings.
const MAX_SAMPLE: usize = 1 << 18;

/// Words that must differ between encodings before the detector is trusted to choose between them.
const MIN_WORDS: usize = 3;

/// Of how many words one may look wrong in a long text.
const WORDS_PER_FAULT: usize = 100;

/// Single-byte encodings that a file without the fitting letters is easily taken for.
const RIVALS: [&str; 10] = [
    "windows-1252",
    "windows-1250",
    "iso-8859-2",
    "windows-1251",
    "windows-1254",
    "windows-1257",
    "windows-1253",
    "macintosh",
    "koi8-r",
    "x-mac-cyrillic",
];

/// Bytes of a file so far.
#[derive(Default)]
struct ByteScan {
    /// Sequences of several bytes that are valid UTF-8, and those that are not.
    valid: u64,
    invalid: u64,
    /// Line of the first invalid one.
    line: Option<u64>,
    feeds: u64,
    /// Pieces with bytes beyond ASCII.
    sample: Vec<u8>,
}

impl ByteScan {
    /// Adds a piece of the file and returns its end that may be the beginning of a sequence.
    fn add(&mut self, piece: &[u8]) -> usize {
        if piece.is_ascii() {
            self.feeds += count_feeds(piece);
            return 0;
        }
        if self.sample.len() < MAX_SAMPLE {
            self.sample.extend_from_slice(piece);
        }
        let mut rest = piece;
        loop {
            let (valid, fault) = match std::str::from_utf8(rest) {
                Ok(_) => (rest, None),
                Err(error) => (&rest[..error.valid_up_to()], Some(error.error_len())),
            };
            self.valid += valid.iter().filter(|byte| **byte >= 0xc0).count() as u64;
            self.feeds += count_feeds(valid);
            rest = &rest[valid.len()..];
            match fault {
                None => return 0,
                Some(None) => return rest.len(),
                Some(Some(length)) => {
                    self.invalid += 1;
                    self.line.get_or_insert(self.feeds + 1);
                    rest = &rest[length..];
                }
            }
        }
    }
}

fn count_feeds(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Encoding of a file. A byte order mark decides, then the share of valid UTF-8.
pub(super) fn detect(member: &Member) -> Result<&'static Encoding> {
    member.encoding.get_or_try_init(|| detect_in(member)).copied()
}

fn detect_in(member: &Member) -> Result<&'static Encoding> {
    let mut found = UTF_8;
    member.open(&mut |from: &mut dyn Read| {
        found = match scan(from) {
            Scanned::Encoding(encoding) => encoding,
            Scanned::Bytes(scan) => decide(&scan).map_err(|problem| member.error(scan.line.unwrap_or(1), problem))?,
            // The reader of rows meets the same fault, and tells its place.
            Scanned::Fault => UTF_8,
        };
        Ok(())
    })?;
    Ok(found)
}

enum Scanned {
    Encoding(&'static Encoding),
    Bytes(ByteScan),
    Fault,
}

fn scan(from: &mut dyn Read) -> Scanned {
    let mut from = from.take(MAX_BYTES);
    let (mut scan, mut buffer, mut kept) = (ByteScan::default(), vec![0; 1 << 16], 0);
    let mut is_first = true;
    loop {
        let mut end = kept;
        // A pipe within an archive may give few bytes at a time.
        while end < buffer.len() {
            match from.read(&mut buffer[end..]) {
                Ok(0) => break,
                Ok(read) => end += read,
                Err(_) => return Scanned::Fault,
            }
        }
        let piece = &buffer[..end];
        if is_first && let Some(encoding) = of_beginning(piece) {
            return Scanned::Encoding(encoding);
        }
        is_first = false;
        if end == kept {
            scan.invalid += u64::from(kept > 0);
            return Scanned::Bytes(scan);
        }
        let rest = scan.add(piece).min(end);
        buffer.copy_within(end - rest..end, 0);
        kept = rest;
        if scan.valid + scan.invalid >= MAX_EVIDENCE {
            return Scanned::Bytes(scan);
        }
    }
}

/// Encoding by a byte order mark, by zero bytes of UTF-16, or by escapes.
pub(super) fn of_beginning(bytes: &[u8]) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(bytes) {
        return Some(encoding);
    }
    // Line ends, delimiters and Latin letters of UTF-16 have a zero byte, always on the same side.
    let bytes = &bytes[..bytes.len().min(1 << 16)];
    let zeros = |side: usize| bytes.chunks_exact(2).filter(|pair| pair[side] == 0).count();
    let (high, low, pairs) = (zeros(0), zeros(1), bytes.len() / 2);
    if high.max(low) * 50 > pairs && high.max(low) >= 10 * high.min(low) {
        return Some(if low > high { UTF_16LE } else { UTF_16BE });
    }
    let has_escape = bytes.is_ascii() && bytes.windows(3).any(|part| part == b"\x1b$B" || part == b"\x1b$@");
    has_escape.then_some(ISO_2022_JP)
}

/// Encoding of a text without a mark. The error says what the words would be.
fn decide(scan: &ByteScan) -> Result<&'static Encoding, String> {
    if scan.invalid == 0 || scan.valid >= scan.invalid {
        return Ok(UTF_8);
    }
    let mut detector = EncodingDetector::new();
    detector.feed(&scan.sample, true);
    let guess = detector.guess(None, false);
    let candidates = RIVALS.iter().filter_map(|name| Encoding::for_label(name.as_bytes()));
    let candidates: Vec<Decoded> = std::iter::once(guess)
        .chain(candidates.filter(|rival| *rival != guess))
        .map(|encoding| Decoded::new(encoding, &scan.sample))
        .collect();
    let fitting: Vec<&Decoded> = candidates.iter().filter(|decoded| decoded.fits()).collect();
    // The detector's encoding is the first if it fits.
    let chosen = fitting.first().filter(|first| first.encoding == guess && !guess.is_single_byte()).or_else(|| {
        let languages: Vec<usize> = fitting.iter().map(|decoded| decoded.languages()).collect();
        let fewest = languages.iter().min()?;
        let best = languages.iter().position(|count| count == fewest)?;
        let decoded = fitting.get(best)?;
        let is_clear = |(other, count): (&&Decoded, &usize)| match decoded.differing(other) {
            0 => true,
            _ if decoded.has_clearer_signs(other) => true,
            // The detector decides between encodings with the same number of languages.
            words if decoded.encoding == guess => words >= MIN_WORDS || *count > fewest + 1,
            // The letters of one language are no chance: `MONTRÉAL` and `BENOÎT`, but `BENOĪT`.
            _ if *fewest == 1 && *count > 1 && decoded.words.len() > 1 => true,
            words => words >= MIN_WORDS && *count > fewest + 1,
        };
        fitting.iter().zip(&languages).all(is_clear).then_some(decoded)
    });
    let of_language = || {
        let language = language_of(&scan.sample)?;
        let mut of_it = fitting.iter().filter(|decoded| decoded.is_in(language));
        let first = of_it.next()?;
        of_it.all(|other| first.differing(other) == 0 || first.has_clearer_signs(other)).then_some(first)
    };
    // The one that is clearer than all others with other words.
    let find = |is_clearer: fn(&Decoded, &Decoded) -> bool| {
        let is_clear = |decoded: &&&Decoded| {
            fitting.iter().all(|other| decoded.words == other.words || is_clearer(decoded, other))
        };
        fitting.iter().find(is_clear)
    };
    // Dashes and signs of currencies decide if they are all that differs.
    let of_signs = || find(Decoded::has_clearer_signs);
    let of_known_words = || find(|decoded, other| decoded.has_known_word(other) && !other.has_known_word(decoded));
    let found = chosen.or_else(of_signs).or_else(of_known_words).or_else(of_language);
    found.map(|decoded| decoded.encoding).ok_or_else(|| {
        let shown = if fitting.is_empty() { candidates.iter().take(2).collect() } else { fitting };
        unclear(&shown)
    })
}

/// Language of a text by its words without letters beyond ASCII: clearly more of them than of any other language.
fn language_of(bytes: &[u8]) -> Option<&'static Language> {
    let words: HashSet<String> = bytes
        .split(|byte| !byte.is_ascii_alphabetic() && byte.is_ascii())
        .filter(|word| word.is_ascii() && (2..=20).contains(&word.len()))
        .map(|word| String::from_utf8_lossy(word).to_lowercase())
        .collect();
    let known = |language: &Language| language.words.iter().filter(|word| words.contains(**word)).count();
    let mut counts: Vec<(usize, &Language)> = languages().iter().map(|language| (known(language), language)).collect();
    counts.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    match &*counts {
        [(most, language), (second, _), ..] if *most >= 3 && *most >= second + 2 => Some(language),
        _ => None,
    }
}

/// The readings of a file in different encodings, by words that differ between them.
fn unclear(candidates: &[&Decoded]) -> String {
    let mut different: Vec<&Decoded> = Vec::new();
    for decoded in candidates {
        if different.iter().all(|other| other.words != decoded.words) {
            different.push(decoded);
        }
    }
    different.truncate(3);
    let read = different.iter().map(|decoded| {
        let differs = |word: &&String| different.iter().any(|other| !other.words.contains(word));
        let mut words: Vec<&String> = decoded.words.iter().filter(differs).take(1_000).collect();
        words.dedup();
        let words = words.into_iter().take(3).map(|word| quoted(word)).collect::<Vec<_>>().join(", ");
        format!("as {} it has {words}", decoded.encoding.name().to_lowercase())
    });
    let remedy = "name the encoding in the input of the mapping, such as `encoding = \"windows-1250\"`, or save the file as UTF-8";
    format!("is not UTF-8, and its encoding is not clear: {}; {remedy}", read.collect::<Vec<_>>().join("; "))
}

/// A sample in one encoding.
struct Decoded {
    encoding: &'static Encoding,
    /// Words with letters beyond ASCII.
    words: Vec<String>,
    faults: usize,
}

impl Decoded {
    fn new(encoding: &'static Encoding, bytes: &[u8]) -> Self {
        let (text, _) = encoding.decode_without_bom_handling(bytes);
        let separates = |char: char| char.is_whitespace() || char.is_ascii_punctuation();
        let words: Vec<&str> = text.split(separates).filter(|word| !word.is_ascii()).collect();
        let faults = words.iter().filter(|word| !looks_right(word)).count();
        Self { encoding, words: words.into_iter().map(str::to_owned).collect(), faults }
    }

    fn fits(&self) -> bool {
        self.faults * WORDS_PER_FAULT <= self.words.len()
    }

    /// True if both have the same words, except for some that are signs where they belong here, and letters there:
    /// `£85` and `Ł85`, or a dash between words and a letter alone.
    fn has_clearer_signs(&self, other: &Self) -> bool {
        let pairs = || self.words.iter().zip(&other.words).filter(|(own, others)| own != others);
        self.encoding.is_single_byte()
            && other.encoding.is_single_byte()
            && self.words.len() == other.words.len()
            && pairs().next().is_some()
            && pairs().all(|(own, others)| has_only_signs(own) && !has_only_signs(others))
    }

    /// Number of languages of the words, from a few that together have them all; a word of no language counts as one.
    fn languages(&self) -> usize {
        let letters = |word: &String| -> Vec<char> {
            word.to_lowercase()
                .chars()
                .filter(|char| !char.is_ascii() && script(*char) == Some(Script::Latin))
                .collect()
        };
        let mut words: Vec<Vec<char>> = self.words.iter().take(5_000).map(letters).collect();
        words.iter_mut().for_each(|word| {
            word.sort_unstable();
            word.dedup();
        });
        words.sort_unstable();
        words.dedup();
        words.retain(|word| !word.is_empty());
        let mut count = 0;
        while !words.is_empty() {
            let has = |language: &Language, word: &[char]| word.iter().all(|char| language.letters.contains(*char));
            let covered = |language: &&Language| words.iter().filter(|word| has(language, word)).count();
            let Some(best) = languages().iter().max_by_key(covered).filter(|best| covered(best) > 0) else {
                return count + words.len();
            };
            words.retain(|word| !has(best, word));
            count += 1;
        }
        count
    }

    /// True if all words have only letters of a language.
    fn is_in(&self, language: &Language) -> bool {
        let is_known = |char: char| {
            script(char).is_none() || char.is_ascii() || char.to_lowercase().all(|char| language.letters.contains(char))
        };
        self.words.iter().take(5_000).all(|word| word.chars().all(is_known))
    }

    /// True if a word of headers or the name of a month is read otherwise by another encoding. Short words may be so by chance.
    fn has_known_word(&self, other: &Self) -> bool {
        let is_known = |word: &&String| word.chars().count() >= 3 && (is_header_word(word) || month_of(word).is_some());
        self.words.iter().take(5_000).filter(is_known).any(|word| !other.words.contains(word))
    }

    /// Number of different words that another encoding reads otherwise.
    fn differing(&self, other: &Self) -> usize {
        let mut differing: Vec<&String> =
            self.words.iter().filter(|word| !other.words.contains(word)).take(1_000).collect();
        differing.sort_unstable();
        differing.dedup();
        differing.len()
    }
}

/// True if all that is not ASCII in a word is a dash, an apostrophe, a quotation mark around it, or a currency next to
/// a number.
fn has_only_signs(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let is_digit = |index: Option<usize>| index.and_then(|index| chars.get(index)).is_some_and(char::is_ascii_digit);
    let is_alone = chars.iter().all(|char| !char.is_alphanumeric());
    chars.iter().enumerate().filter(|(_, char)| !char.is_ascii()).all(|(index, char)| match char {
        '–' | '—' | '’' | '‘' | '“' | '”' | '„' | '…' | '™' | '®' | '©' => true,
        '€' | '£' | '¥' => is_alone || is_digit(index.checked_add(1)) || is_digit(index.checked_sub(1)),
        _ => false,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    FullWidth,
    Ideographic,
    Other(u32),
}

fn script(char: char) -> Option<Script> {
    if !char.is_alphabetic() || matches!(char, 'ª' | 'º' | 'µ' | 'ˆ') {
        return None;
    }
    Some(match u32::from(char) {
        0..0x250 | 0x1e00..0x1f00 => Script::Latin,
        0x370..0x400 | 0x1f00..0x2000 => Script::Other(0x370),
        0x400..0x530 => Script::Other(0x400),
        0xff00..0xfff0 => Script::FullWidth,
        0x3040..0xff00 | 0x20000.. => Script::Ideographic,
        code => Script::Other(code >> 8),
    })
}

/// True if a word could be one: no text that is decoded by the wrong table has all of its words right.
fn looks_right(word: &str) -> bool {
    let chars: Vec<char> = word.chars().collect();
    let at = |index: Option<usize>| index.and_then(|index| chars.get(index)).copied();
    let mut letters = chars.iter().filter_map(|char| script(*char)).filter(|script| *script != Script::Ideographic);
    let first = letters.next();
    if letters.any(|script| Some(script) != first) {
        return false;
    }
    chars.iter().enumerate().filter(|(_, char)| !char.is_ascii()).all(|(index, char)| {
        let (before, after) = (at(index.checked_sub(1)), at(index.checked_add(1)));
        let is_letter = |char: Option<char>| char.is_some_and(|char| script(char).is_some());
        let (follows, precedes) = (is_letter(before), is_letter(after));
        let is_ascii_letter = |char: Option<char>| char.is_some_and(|char| char.is_ascii_alphabetic());
        match *char {
            '\u{80}'..='\u{9f}' | '\u{fffd}' | '\u{e000}'..='\u{f8ff}' | '\u{2500}'..='\u{259f}' | 'ƒ' => false,
            '’' | '‘' | '·' | '–' | '—' | '´' | '•' | '\u{3000}'..='\u{303f}' | '・' => {
                !before.is_some_and(|char| "ÃÂÅÄÐÑ".contains(char))
            }
            char if script(char) == Some(Script::Ideographic) => !(is_ascii_letter(before) && is_ascii_letter(after)),
            char if char.is_uppercase() => {
                let is_small = before.is_some_and(char::is_lowercase);
                !is_small || after.is_some_and(char::is_uppercase)
            }
            char if script(char).is_some() => true,
            '®' | '™' | '©' | '°' | 'º' | 'ª' | '…' | '»' | '”' | '›' | '‰' | '€' => {
                !precedes && !before.is_some_and(|char| "ÃÂÅÄÐÑ".contains(char))
            }
            '«' | '“' | '„' | '¿' | '¡' | '‹' | '§' | '№' => !follows,
            // Combining marks, as of Arabic and Thai.
            char if u32::from(char) >= 0x300 && !matches!(char, '\u{2000}'..='\u{2bff}') => true,
            // `※` and `■` are next to characters, and never within words of letters.
            _ => [before, after]
                .into_iter()
                .flatten()
                .all(|char| matches!(script(char), None | Some(Script::Ideographic))),
        }
    })
}

/// Bytes of a cell as text, and the bytes that are not UTF-8, with the letters that they are in windows-1252. `None` if
/// one is no letter or sign of punctuation there.
pub(super) fn repair(bytes: &[u8]) -> (Option<String>, String) {
    let (mut text, mut is_clear, mut strays) = (String::new(), true, String::new());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let (decoded, _) = encoding_rs::WINDOWS_1252.decode_without_bom_handling(std::slice::from_ref(byte));
            let char = decoded.chars().next().unwrap_or('\u{fffd}');
            is_clear &= char.is_alphabetic() || matches!(char, '‘'..='”' | '–' | '—' | '…' | '€' | '\u{a0}');
            text.push(char);
            if strays.len() < 40 {
                strays.push_str(&format!("{}0x{byte:02X}", if strays.is_empty() { "" } else { ", " }));
            }
        }
    }
    (is_clear.then_some(text), strays)
}

/// Reads a label, such as `latin1`, as in the standard of the web.
pub(crate) fn named(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scanned(bytes: &[u8]) -> Result<&'static str, String> {
        match scan(&mut &*bytes) {
            Scanned::Encoding(encoding) => Ok(encoding.name()),
            Scanned::Bytes(scan) => decide(&scan).map(Encoding::name),
            Scanned::Fault => Err("fault".to_owned()),
        }
    }

    fn encoded(label: &str, text: &str) -> Vec<u8> {
        let encoding = named(label).unwrap();
        let (bytes, used, has_unmapped) = encoding.encode(text);
        assert!(!has_unmapped && used == encoding, "{label}");
        bytes.into_owned()
    }

    #[test]
    fn encodings_are_found_from_the_bytes() {
        for (label, text) in [
            ("utf-8", "Name,City\nCrème,Łódź\n"),
            ("windows-1252", "Name,City\nCrème Brûlée,Besançon\nForêt,Orléans\nOù,Nîmes\nÉlan,Lyon à côté\n"),
            ("windows-1252", "Name,City\nMüller,Köln\nGröße,Nürnberg\n"),
            ("windows-1252", "Nome,Cidade\nFundação,São Paulo\nInvenção,Brasília\nNão,Goiânia\nAções,Maringá\n"),
            ("windows-1250", "Nazwa,Miasto\nŹródło,Łódź\nDębowa Ścieżka,Wrocław\nMłyn,Gdańsk\n"),
            ("windows-1250", "Název,Město\nŽižkov,Plzeň\nPrůmysl,Kolín\nDřevo,Jičín\nŘeka,Děčín\nLíšeň,Třebíč\n"),
            ("windows-1251", "Имя,Город\nБерёзовый Капитал,Казань\nТополь Инвест,Самара\n"),
            ("windows-1253", "Όνομα,Πόλη\nΚέδρος Επενδύσεις,Αθήνα\nΔάφνη,Θεσσαλονίκη\n"),
            ("windows-1254", "Adı,Şehir\nÇınar Girişim,İstanbul\nGürgen Sermayesi,Eskişehir\nIşık,Muğla\n"),
            ("shift_jis", "名前,都市\n青葉ベンチャーズ,仙台\n白樺投資,札幌\n"),
            ("shift_jis", "資金調達一覧\n※金額の単位は百万円\n名前,都市\n青葉ベンチャーズ,仙台\n"),
            ("euc-kr", "이름,도시\n느티나무벤처스,서울\n소나무투자,부산\n"),
            ("gbk", "名称,城市\n松树资本,杭州\n银杏投资有限公司,深圳\n"),
            ("big5", "名稱,城市\n松樹資本股份有限公司,臺北\n銀杏創投,高雄\n"),
            ("windows-1252", "Nom;Ville;Montant levé\nCardère;Lille;12\nHulotte et les Autres;Lyon;3\n"),
            ("windows-1252", "denominazione;sede;data inizio dell'attività;codice\nLago;Milano;2021;1\n"),
            ("windows-1252", "Albo – Sezione\nDenominazione;Sede\nColle;Roma\n"),
            // One word that is known decides, or the language of the other words.
            ("windows-1252", "Azienda;Città;Quota\nOrto Blu;Bari;12\n"),
            ("windows-1252", "Participada;Año;Cuota\nOlmo;2021;3\n"),
            ("windows-1250", "Nazwa firmy;Źródło;Rok\nOlcha;plik;2020\n"),
            ("windows-1252", "Firma;Stand\nErle;3 März 2024\n"),
            ("windows-1252", "Voornaam;Achternaam;Plaats;Ticket\nCoen;Veld;Sint-Niklaas;€ 50\nNoël;Dam;Hoorn;€ 20\n"),
            ("windows-1252", "Cognome;Nome;Ruolo;Azienda\nNiccolò;Elio;Socio;Tre Ponti\n"),
            ("windows-1252", "Name,AUM\nAlder,€120\nBirch,£85\n"),
            ("windows-1252", "Name,AUM\nAlder,120 €\nLäufer – Söhne,85 €\n"),
            ("windows-1250", "Nazwa;Kwota\nDębowa Ścieżka – Łódź;85 €\nŹródło;12 €\nMłyn;7 €\n"),
            ("windows-1252", "Fund,Note\nAlder,the fund’s first\nBirch,“early”\n"),
            ("macintosh", "Name,City\nCafé Crème,Orléans\nForêt,Nîmes\nÉlan,Besançon\nOù,Liège\n"),
        ] {
            let found = scanned(&encoded(label, text)).map(str::to_lowercase);
            let expected = named(label).unwrap();
            let text_of = |name: &str| named(name).unwrap().decode(&encoded(label, text)).0.into_owned();
            assert_eq!(found.as_deref().map(text_of), Ok(text.to_owned()), "{} {found:?}", expected.name());
        }
        let utf16 = |to: fn(u16) -> [u8; 2]| "名,Stadt\n松,Köln\n".encode_utf16().flat_map(to).collect::<Vec<u8>>();
        assert_eq!(scanned(&utf16(u16::to_le_bytes)), Ok("UTF-16LE"));
        assert_eq!(scanned(&utf16(u16::to_be_bytes)), Ok("UTF-16BE"));
        assert_eq!(scanned(b"\xef\xbb\xbfa,\xff\n"), Ok("UTF-8"));
    }

    #[test]
    fn a_stray_byte_does_not_change_the_encoding() {
        let text = "Crème,Orléans\nForêt,Besançon\nŁódź\n".as_bytes();
        assert_eq!(scanned(&[text, b"\xe0 c\xf4t\xe9\n"].concat()), Ok("UTF-8"));
        assert_eq!(repair(b"Cha\xeene"), (Some("Chaîne".to_owned()), "0xEE".to_owned()));
        assert_eq!(repair("Łó".as_bytes()), (Some("Łó".to_owned()), String::new()));
        assert_eq!(repair(b"a\xb3\x81").0, None);
    }

    #[test]
    fn an_unclear_encoding_is_refused_with_words() {
        for bytes in [&b"Name\nPe\xf1a\n"[..], b"Name\nGda\xf1sk\n", b"a\x81\xffb\xfec\x8d\x01\xfd\n"] {
            let problem = scanned(bytes).unwrap_err();
            assert!(problem.contains("encoding = \"windows-1250\""), "{problem}");
        }
        assert!(scanned(b"Name\nPe\xf1a\n").unwrap_err().contains("Pe\u{f1}a"));
        // Words that are equal, and encodings that are, tell nothing.
        let problem = scanned(b"Name;Sum\nAlder;\x80 5\nPe\xf1a;\x80 7\n").unwrap_err();
        assert!(
            problem.contains("Pe\u{f1}a") && !problem.contains('€') && !problem.contains("windows-1254"),
            "{problem}"
        );
    }

    #[test]
    fn long_files_are_read_in_pieces() {
        let bytes = format!("{}\n", "é".repeat(100_001));
        assert_eq!(scanned(bytes.as_bytes()), Ok("UTF-8"));
        assert_eq!(scanned(&[b"x", bytes.as_bytes()].concat()), Ok("UTF-8"));
    }
}
