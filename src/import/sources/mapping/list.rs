//! Splits a cell with several values, in whichever way an exporter or a person wrote them.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::Value;

use crate::sources::Reason;
use crate::sources::guess::{has_firm_word, is_firm_word, names_lead};
use crate::sources::money::MoneyCell;
use data::fold::fold;
use data::meaning::Meaning as _;
use data::name::WordList;
use data::{StartupStatus, word_file};

/// Separators that no name has.
const CLEAR: [char; 10] = ['،', '؛', '\n', ';', '|', '；', '｜', '、', '•', '\u{2028}'];

/// The words of a line of `list_words.txt`.
pub(crate) fn words_of(name: &'static str) -> impl Iterator<Item = &'static str> {
    static WORDS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
        let lines = word_file::entries(include_str!("list_words.txt")).filter_map(|line| line.split_once(": "));
        lines.map(|(name, words)| (name, words.split(", ").collect())).collect()
    });
    WORDS.get(name).into_iter().flatten().copied()
}

/// Name of `Led by Alder`. A word alone begins with a small letter: `With Grace` is a name.
fn after_words<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let (begin, rest) = (text.get(..words.len())?, text.get(words.len()..)?);
    let is_same = if words.contains(' ') { begin.to_lowercase() == words } else { begin == words };
    rest.strip_prefix(' ').map(str::trim).filter(|name| !name.is_empty() && is_same)
}

/// A text without the mark of a footnote behind it, such as `*` or `[a]`.
fn without_mark(text: &str) -> Option<&str> {
    let rest = text.trim_end_matches(['*', '†', '‡']);
    let is_mark = |mark: &&str| (1..=2).contains(&mark.len()) && mark.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let bracketed = || text.strip_suffix(']')?.rsplit_once('[').filter(|(_, mark)| is_mark(mark)).map(|(rest, _)| rest);
    let rest = if rest == text { bracketed()? } else { rest }.trim_end();
    rest.ends_with(|char: char| char.is_alphanumeric() || matches!(char, '.' | ')')).then_some(rest)
}

/// Name of `Alder (lead)`, `led by Alder`, `Lead: Alder`, `Alder (https://wiki.example/alder)`, `Alder*`, or of a firm with its
/// partner directly behind it, `Alder(Ada Quill)`, and true if the note says that it leads a round; `None` without such a
/// note. Other words in parentheses may be part of the name.
pub(crate) fn note<'t>(text: &'t str) -> Option<(&'t str, bool)> {
    let text = text.trim();
    if let Some(rest) = without_mark(text) {
        return note(rest).or(Some((rest, false)));
    }
    if let Some((role, name)) = text.split_once([':', '：'])
        && let Some(is_lead) = role_of(role.trim())
        && !name.trim().is_empty()
    {
        return Some((name.trim(), is_lead));
    }
    let before = |name, is_lead| words_of(name).find_map(|words| Some((after_words(text, words)?, is_lead)));
    if let Some(found) = before("leads", true).or_else(|| before("with", false)) {
        return Some(found);
    }
    // `Alder – lead`
    let behind_dash = [" – ", " — ", " - "].iter().filter_map(|dash| text.rsplit_once(dash));
    let with_role = |(name, role): (&'t str, &str)| Some((name.trim_end(), role_of(role.trim())?));
    if let Some(found) = behind_dash.filter_map(with_role).next() {
        return Some(found);
    }
    let (before, note) = in_parentheses(text)?;
    let name = before.trim_end();
    // Notion writes the path of the page of a record behind its name.
    let is_address = note.starts_with("https://") || note.starts_with("http://") || note.ends_with(".md");
    let is_person = || {
        let is_name =
            |word: &str| word.starts_with(char::is_uppercase) && !word.contains(|char: char| char.is_ascii_digit());
        before.ends_with(char::is_alphanumeric) && note.contains(' ') && note.split(' ').all(is_name)
    };
    // What it paid: `Alder ($6M)`
    let is_amount = || {
        note.contains(|char: char| char.is_ascii_digit())
            && MoneyCell::read(note).is_some_and(|cell| cell.sign().is_some())
    };
    let is_other = || is_address || is_amount() || is_person() || is_status(note);
    let is_lead = role_of(note).or_else(|| is_other().then_some(false))?;
    (!name.is_empty()).then_some((name, is_lead))
}

/// The text before the last opening parenthesis or bracket, and what is in it, if it is closed at the end.
fn in_parentheses(text: &str) -> Option<(&str, &str)> {
    let (before, inner) = text.strip_suffix([')', '）', ']'])?.rsplit_once(['(', '（', '['])?;
    Some((before, inner.trim()))
}

/// True if a note is the status of a startup.
fn is_status(note: &str) -> bool {
    note.chars().count() > 1 && StartupStatus::meaning(note).is_some()
}

/// True if the note behind a name is the status of the startup: `Kelpworks (written off)`.
pub(crate) fn has_status(text: &str) -> bool {
    in_parentheses(text.trim()).is_some_and(|(_, note)| is_status(note))
}

/// True if the role of an investor is to lead, `None` for another text. The words for those that lead are those of headers.
fn role_of(note: &str) -> Option<bool> {
    let folded = fold(note);
    let follows = |text: &str| words_of("follows").any(|role| role == text);
    match names_lead(note) {
        true => Some(true),
        false => (follows(note) || !folded.is_empty() && follows(&folded)).then_some(false),
    }
}

/// Splits an array of JSON, Python or PostgreSQL; `None` for another text.
fn split_array(text: &str) -> Option<Vec<String>> {
    let name = |value: Value| match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Object(object) => object.get("name").and_then(Value::as_str).map(str::to_owned),
        _ => None,
    };
    let inner = |open, close| text.strip_prefix(open).and_then(|text: &str| text.strip_suffix(close));
    if let Some(inner) = inner('[', ']') {
        let parsed =
            serde_json::from_str::<Vec<Value>>(text).ok().map(|values| values.into_iter().filter_map(name).collect());
        return parsed.or_else(|| split_quoted(inner));
    }
    let inner = inner('{', '}')?;
    let parsed = serde_json::from_str::<Value>(text).ok().map(|value| name(value).into_iter().collect());
    parsed.or_else(|| split_quoted(inner))
}

/// Splits at the commas outside of quotation marks; `None` if the marks are not in order.
fn split_quoted(text: &str) -> Option<Vec<String>> {
    let mut values = Vec::new();
    let mut chars = text.chars().peekable();
    while chars.peek().is_some() {
        while chars.next_if(|char| char.is_whitespace()).is_some() {}
        let mut value = String::new();
        let quote = chars.next_if(|char| matches!(char, '"' | '\''));
        if let Some(quote) = quote {
            loop {
                match chars.next()? {
                    '\\' => value.push(chars.next()?),
                    char if char == quote => match chars.next_if(|char| *char == quote) {
                        Some(doubled) => value.push(doubled),
                        None => break,
                    },
                    char => value.push(char),
                }
            }
            while chars.next_if(|char| char.is_whitespace()).is_some() {}
        } else {
            while let Some(char) = chars.next_if(|char| *char != ',') {
                value.push(char);
            }
            if matches!(value.trim(), "None" | "null" | "NULL" | "nan") {
                value.clear();
            }
        }
        if chars.next().is_some_and(|char| char != ',') {
            return None;
        }
        values.push(value);
    }
    Some(values)
}

/// Between the values and the numbers of a look-up field of SharePoint: `Alder;#3;#Birch;#8`.
const LOOK_UP: &str = ";#";

/// Splits a text with separators that no name has: an array, lines, `;` or `|`. `None` if it has none.
pub(crate) fn split_clear(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    if text.contains(LOOK_UP) {
        let values = text.split(LOOK_UP).map(str::trim);
        let is_value = |value: &&str| value.contains(|char: char| !char.is_ascii_digit());
        return Some(values.filter(is_value).map(str::to_owned).collect());
    }
    let values = split_array(text).or_else(|| {
        text.contains(CLEAR)
            .then(|| text.split(CLEAR).map(|part| part.trim_start_matches(['-', '*', ' ']).to_owned()).collect())
    })?;
    let values = values.into_iter().map(|value| value.trim().to_owned());
    Some(values.filter(|value| !value.is_empty()).collect())
}

/// A list without the words at its end that say that it is not complete; `None` if it has none.
pub(crate) fn without_others(text: &str) -> Option<&str> {
    /// The words by their last letter, or `#` for a number.
    static BY_END: LazyLock<HashMap<char, Vec<&'static str>>> = LazyLock::new(|| {
        let mut words: HashMap<char, Vec<&'static str>> = HashMap::new();
        let ends = words_of("others").filter_map(|word| Some((word.chars().next_back()?, word)));
        ends.for_each(|(end, word)| words.entry(end).or_default().push(word));
        words
    });
    let text = text.trim();
    let end = text.chars().next_back()?;
    let end = if end.is_ascii_digit() { '#' } else { end.to_ascii_lowercase() };
    let words = BY_END.get(&end)?;
    // Positions in small letters are those in the text.
    let lower = text.to_lowercase();
    let lower = if lower.len() == text.len() { &*lower } else { text };
    // `#` is in the place of a number.
    let before_number = |others: &str| match others.split_once('#') {
        Some((words, unit)) => {
            let number = lower.strip_suffix(unit)?.trim_end();
            let rest = number.trim_end_matches(|char: char| char.is_ascii_digit());
            (rest.len() < number.len()).then(|| rest.trim_end().strip_suffix(words.trim_end()))?
        }
        None => lower.strip_suffix(others),
    };
    let before = |others: &&'static str| match others.strip_prefix('_') {
        Some(others) => before_number(others)?.strip_suffix(' '),
        None => before_number(others),
    };
    let length = words.iter().filter_map(before).map(str::len).min()?;
    let rest = text.get(..length)?.trim_end().trim_end_matches([',', '，', ';', '、']).trim_end();
    // `平等` is a word, `红杉资本等` a firm and others.
    (!rest.is_empty() && (!text.ends_with('等') || has_firm_word(rest))).then_some(rest)
}

/// Splits a list. Commas and the word *and* separate too, except in names: `Acme, Inc.`, `Johnson & Johnson`. An error
/// if a text may be one name or two.
pub(crate) fn split_list(text: &str) -> Result<Vec<String>, Reason> {
    let text = text.trim();
    let text = without_others(text).unwrap_or(text);
    if let Some(values) = split_clear(text) {
        return Ok(values);
    }
    // `Alder,"Birch, Dorn & Co"`, as a row of CSV.
    let is_quoted = |text: &&str| text.starts_with('"') || text.contains(",\"");
    if let Some(values) = Some(text).filter(is_quoted).and_then(split_quoted) {
        return Ok(values.into_iter().filter(|value| !value.is_empty()).collect());
    }
    let mut values: Vec<String> = Vec::new();
    for part in text.split(" / ").flat_map(split_at_commas).map(str::trim).filter(|part| !part.is_empty()) {
        match values.last_mut() {
            Some(last) if belongs_to_name(part) => {
                last.push_str(", ");
                last.push_str(part);
            }
            _ => values.push(part.to_owned()),
        }
    }
    let count = values.len();
    let mut split = Vec::with_capacity(count + 1);
    for (at, value) in values.into_iter().enumerate() {
        let without_and = words_of("and").find_map(|and| value.strip_prefix(and)?.strip_prefix(' '));
        let is_partnership = |value: &str| {
            let (_, last) = value.rsplit_once(" & ").or_else(|| value.rsplit_once(" and "))?;
            Some(words_of("partners").any(|word| word == fold(last)))
        };
        let is_after_word = at > 0 && split.last().is_some_and(|last: &String| !last.contains(' '));
        match (without_and, split_at_and(&value)) {
            (Some(value), _) if count > 1 => split.push(value.to_owned()),
            (_, Some((one, other))) => split.extend([one.to_owned(), other.to_owned()]),
            _ if is_after_word && is_partnership(&value) == Some(true) => {
                return Err("may have the name of one firm or of two before `&`; separate the names with `;`".into());
            }
            _ => split.push(value),
        }
    }
    Ok(split)
}

/// Splits at the commas outside of parentheses, but not at those of numbers.
fn split_at_commas(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    text.split(move |char| {
        match char {
            '(' | '（' => depth += 1,
            ')' | '）' => depth -= 1,
            _ => {}
        }
        matches!(char, ',' | '，') && depth <= 0
    })
}

/// True for what follows a comma in a name: a legal form, `The`, `Jr.`.
fn belongs_to_name(part: &str) -> bool {
    let folded = fold(part);
    let is_initials = folded.split(' ').all(|word| word.len() == 1);
    let joined = if is_initials { folded.replace(' ', "") } else { folded };
    let is_of_name = |word: &str| {
        WordList::LegalForms.contains(word)
            || ["the", "jr", "sr", "ii", "iii", "phd", "md", "mbh", "sab", "cv", "de"].contains(&word)
    };
    !joined.is_empty() && joined.split(' ').all(is_of_name)
}

/// Splits `Alder Capital and Birch Ventures`: both sides end as names of firms do, and are more than that.
fn split_at_and(text: &str) -> Option<(&str, &str)> {
    let is_firm = |name: &str| {
        let folded = fold(name);
        let words: Vec<&str> = folded.split(' ').collect();
        let is_generic = |word: &str| {
            WordList::GenericWords.contains(word)
                || is_firm_word(word)
                || WordList::GenericWords.contains(word.strip_suffix('s').unwrap_or(word))
        };
        let is_legal = |word: &str| WordList::LegalForms.contains(word);
        words.last().is_some_and(|last| is_generic(last) || is_legal(last))
            && !words.iter().all(|word| is_generic(word) || is_legal(word))
    };
    // In other languages than English `and` is rare within names: two of two words or more are two.
    let is_long =
        |name: &str| name.contains(' ') && name.starts_with(|char: char| char.is_alphabetic() && !char.is_lowercase());
    let is_english = |and: &str| ["and", "&"].contains(&and);
    words_of("and").find_map(|and| {
        let (one, other) = text.split_once(&format!(" {and} "))?;
        let are_two = is_firm(one) && is_firm(other) || !is_english(and) && is_long(one) && is_long(other);
        are_two.then_some((one, other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_split_as_they_were_written() {
        for (text, values) in [
            ("Alder", &["Alder"][..]),
            ("", &[]),
            ("Alder Ventures, Birch Capital", &["Alder Ventures", "Birch Capital"]),
            ("Alder; Birch;; Cedar ;", &["Alder", "Birch", "Cedar"]),
            ("Alder|Birch", &["Alder", "Birch"]),
            ("Alder;#3;#Birch & Dorn;#8", &["Alder", "Birch & Dorn"]),
            (";#Alder;#Birch;#", &["Alder", "Birch"]),
            ("14;#Alder", &["Alder"]),
            ("Alder; Birch | Cedar", &["Alder", "Birch", "Cedar"]),
            ("Alder\nBirch\r\nCedar", &["Alder", "Birch", "Cedar"]),
            ("- Alder\n- Birch", &["Alder", "Birch"]),
            ("• Alder • Birch", &["Alder", "Birch"]),
            ("Alder；Birch", &["Alder", "Birch"]),
            ("红杉资本、经纬创投", &["红杉资本", "经纬创投"]),
            ("红杉资本，经纬创投", &["红杉资本", "经纬创投"]),
            (r#"["Alder Hill","Birch, Dorn & Co"]"#, &["Alder Hill", "Birch, Dorn & Co"]),
            (r#"[{"name":"Alder"},{"name":"Birch"}]"#, &["Alder", "Birch"]),
            (r#"{"name":"Alder"}"#, &["Alder"]),
            ("[1, 2]", &["1", "2"]),
            ("[]", &[]),
            ("['Fintech', 'SaaS']", &["Fintech", "SaaS"]),
            (r#"['Alder', "D'Angelo", None]"#, &["Alder", "D'Angelo"]),
            (r"['O\'Neill']", &["O'Neill"]),
            ("[Alder, Birch]", &["Alder", "Birch"]),
            ("{Alder,Birch}", &["Alder", "Birch"]),
            (r#"{Alder,"Birch, Inc.",NULL}"#, &["Alder", "Birch, Inc."]),
            ("Alder Capital, Birch u. a.", &["Alder Capital", "Birch"]),
            ("Slezský Zárodek a Hradčanský fond", &["Slezský Zárodek", "Hradčanský fond"]),
            ("Krebs Söhne und Töchter", &["Krebs Söhne und Töchter"]),
            ("红杉资本、经纬创投等", &["红杉资本", "经纬创投"]),
            ("教育平等", &["教育平等"]),
            ("からまつパートナーズほか", &["からまつパートナーズ"]),
            ("솔바람벤처스, 너울캐피탈 외 2곳", &["솔바람벤처스", "너울캐피탈"]),
            ("Oak Capital; Elm Ventures and 12 others", &["Oak Capital", "Elm Ventures"]),
            ("からまつパートナーズ、とび松 他3社", &["からまつパートナーズ", "とび松"]),
            ("Studio 54", &["Studio 54"]),
            ("Boğaz Sermaye ve Çam Girişim", &["Boğaz Sermaye", "Çam Girişim"]),
            (r#""Alder, Inc.", "Birch""#, &["Alder, Inc.", "Birch"]),
            (r#"Alder,"Birch, Dorn & Co""#, &["Alder", "Birch, Dorn & Co"]),
            (r#"Alder "The Fund""#, &[r#"Alder "The Fund""#]),
            ("Alder (https://wiki.example/a,b), Birch", &["Alder (https://wiki.example/a,b)", "Birch"]),
            ("Acme, Inc., Foo, LLC, Bar", &["Acme, Inc.", "Foo, LLC", "Bar"]),
            ("Acme, L.L.C., Foo S.A.", &["Acme, L.L.C.", "Foo S.A."]),
            ("Acme Co., Ltd., Birch", &["Acme Co., Ltd.", "Birch"]),
            ("Alder (Berlin, Germany), Birch", &["Alder (Berlin, Germany)", "Birch"]),
            ("Alder / Birch", &["Alder", "Birch"]),
            ("AI/ML, SaaS", &["AI/ML", "SaaS"]),
            ("Johnson & Johnson", &["Johnson & Johnson"]),
            ("Alder, Johnson & Johnson", &["Alder", "Johnson & Johnson"]),
            ("Procter and Gamble", &["Procter and Gamble"]),
            ("Food & Beverage, Health and Wellness", &["Food & Beverage", "Health and Wellness"]),
            ("Alder, Birch, and Cedar", &["Alder", "Birch", "Cedar"]),
            ("Alder Capital and Birch Ventures", &["Alder Capital", "Birch Ventures"]),
            ("Alder Fund, Birch Capital & Cedar Partners", &["Alder Fund", "Birch Capital", "Cedar Partners"]),
            (
                "Alder Capital, Verjus Partenaires et Halte Ventures",
                &["Alder Capital", "Verjus Partenaires", "Halte Ventures"],
            ),
            ("Venture and Growth Capital", &["Venture and Growth Capital"]),
            ("Alder Fund, Dorn & Co", &["Alder Fund", "Dorn & Co"]),
        ] {
            assert_eq!(split_list(text).unwrap(), values, "{text}");
        }
        assert!(split_list("Dorn, Elm & Co").unwrap_err().contains("one firm or of two"));
        assert_eq!(split_clear("Acme, Inc."), None);
        assert_eq!(split_clear("['a"), None);
    }
}
