//! Steps that transform a text between a column and a field. The set is closed: a mapping contains no code.

use std::borrow::Cow;

use regex::Regex;

use crate::sources::convert::{Dropped, OTHERS};
use crate::sources::location;
use crate::sources::mapping::document::unknown;
use crate::sources::mapping::list::{self, split_list};
use crate::sources::money;
use data::fold::fold;
use data::import::website;

/// A text with its original in the source: a column, or a part of it that was split off.
pub(crate) struct MappedText<'a> {
    pub value: Cow<'a, str>,
    pub original: Cow<'a, str>,
}

impl<'a> From<&'a str> for MappedText<'a> {
    fn from(text: &'a str) -> Self {
        Self { value: Cow::Borrowed(text), original: Cow::Borrowed(text.trim()) }
    }
}

impl From<String> for MappedText<'_> {
    fn from(text: String) -> Self {
        Self { original: Cow::Owned(text.trim().to_owned()), value: Cow::Owned(text) }
    }
}

/// Changes a text, by the argument of the transform; `None` if it stays as it is.
type Change = fn(&str, &str) -> Option<String>;

#[derive(Clone, Debug)]
pub(crate) enum Transform {
    Split(String),
    /// Splits a list as its text shows it.
    List,
    /// Names without the notes behind them.
    Names,
    /// Names of the values with a note that they lead a round.
    Leads,
    /// City of a location.
    City,
    /// First of several locations, which the field reads as a country.
    Country,
    /// Items of a cell that is itself a row of CSV: `a;"b;c"`.
    Items(u8),
    /// Text of a member of each object in a JSON list; of those with a certain other member, if there is a condition.
    Json(String, Option<(String, String)>),
    First,
    Last,
    /// First group of the expression, or the whole match. A text without a match is dropped.
    Capture(Regex),
    /// Lower amount of a range: `$250K – $2M` → `$250K`.
    Min,
    Max,
    /// Any other, with its argument.
    Change(Change, String),
}

type MakeTransform = fn(&str) -> Result<Transform, String>;

/// Names of the transforms; true if they take an argument.
const TRANSFORMS: [(&str, bool, MakeTransform); 21] = [
    // Lowercase letters a–z and digits, with single spaces.
    ("fold", false, |_| Ok(changing(|text, _| Some(fold(text)), ""))),
    ("lower", false, |_| Ok(changing(|text, _| Some(text.to_lowercase()), ""))),
    ("upper", false, |_| Ok(changing(|text, _| Some(text.to_uppercase()), ""))),
    // `NEW YORK` → `New York`; a text with lowercase letters stays unchanged.
    ("title", false, |_| Ok(changing(|text, _| change_words(text, title_word), ""))),
    // Like `title`, for company names: `ALDER LABS LLC` → `Alder Labs LLC`.
    ("legal_case", false, |_| Ok(changing(|text, _| change_words(text, company_word), ""))),
    ("split", true, |separator| Ok(Transform::Split(separator.to_owned()))),
    // An array, lines, or a text with `;`, `|` or `,` between its values.
    ("list", false, |_| Ok(Transform::List)),
    // Names without notes: `Alder (lead)` → `Alder`; of investors those that lead.
    ("names", false, |_| Ok(Transform::Names)),
    ("leads", false, |_| Ok(Transform::Leads)),
    ("place", true, |part| match part {
        "city" => Ok(Transform::City),
        "country" => Ok(Transform::Country),
        _ => Err(unknown("part of a place", part, ["city", "country"])),
    }),
    ("items", true, |separator| match separator.as_bytes() {
        [byte] => Ok(Transform::Items(*byte)),
        _ => Err(format!("{separator:?} is not one character, as in `items(;)`")),
    }),
    ("json", true, |argument| {
        let (member, condition) =
            argument.split_once(',').map_or((argument, None), |(member, rest)| (member, Some(rest)));
        let pair =
            |text: &str| text.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()));
        let condition =
            condition.map(|text| pair(text).ok_or("`json` takes a condition such as `json(value, scheme=lei)`"));
        Ok(Transform::Json(member.trim().to_owned(), condition.transpose()?))
    }),
    ("first", false, |_| Ok(Transform::First)),
    ("last", false, |_| Ok(Transform::Last)),
    ("prefix", true, |prefix| Ok(changing(|text, prefix| Some(format!("{prefix}{text}")), prefix))),
    // Removes this text from the start, if present.
    ("strip_prefix", true, |prefix| Ok(changing(|text, prefix| text.strip_prefix(prefix).map(str::to_owned), prefix))),
    // Removes these characters from the start.
    ("strip_left", true, |chars| {
        let change: Change = |text, chars| Some(text.trim_start_matches(|char| chars.contains(char)).to_owned());
        Ok(changing(change, chars))
    }),
    ("regex", true, |pattern| match Regex::new(pattern) {
        Ok(pattern) => Ok(Transform::Capture(pattern)),
        Err(error) => Err(format!("{pattern:?} is not a regular expression: {error}")),
    }),
    // Host of a web address, without `www.`.
    ("domain", false, |_| Ok(changing(|text, _| Some(website::host(text)), ""))),
    ("min", false, |_| Ok(Transform::Min)),
    ("max", false, |_| Ok(Transform::Max)),
];

fn changing(change: Change, argument: &str) -> Transform {
    Transform::Change(change, argument.to_owned())
}

impl Transform {
    /// Reads `title`, `split(;)` or `regex(([0-9]{4}))`.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, argument) = match text.split_once('(') {
            Some((name, rest)) => match rest.strip_suffix(')') {
                Some(argument) => (name.trim(), Some(argument)),
                None => return Err(format!("{text:?} has no closing parenthesis; write it as in `split(;)`")),
            },
            None => (text.trim(), None),
        };
        let Some((_, has_argument, make)) = TRANSFORMS.iter().find(|(known, ..)| *known == name) else {
            return Err(unknown("transform", name, TRANSFORMS.map(|(name, ..)| name)));
        };
        match (has_argument, argument) {
            (true, Some(argument)) if !argument.is_empty() => make(argument),
            (true, _) => Err(format!("`{name}` needs an argument, as in `split(;)`")),
            (false, None) => make(""),
            (false, Some(_)) => Err(format!("`{name}` takes no argument; write it without parentheses")),
        }
    }

    /// Changes the texts. What is not understood goes to `dropped`.
    pub(crate) fn apply(&self, values: &mut Vec<MappedText<'_>>, dropped: &mut Vec<Dropped>) {
        match self {
            Self::List => {
                for text in std::mem::take(values) {
                    if let Some(rest) = list::without_others(&text.value) {
                        let others = text.value.trim()[rest.len()..].trim().to_owned();
                        dropped.push(Dropped { text: others, reason: OTHERS.into() });
                    }
                    match split_list(&text.value) {
                        Ok(parts) if parts.len() == 1 && parts[0] == text.value => values.push(text),
                        Ok(parts) => values.extend(parts.into_iter().map(MappedText::from)),
                        Err(reason) => dropped.push(Dropped { text: text.value.into_owned(), reason }),
                    }
                }
            }
            Self::City => values.retain_mut(|text| match location::read_city(&text.value) {
                Ok(city) => {
                    let is_city = city.is_some();
                    text.value = Cow::Owned(city.unwrap_or_default());
                    is_city
                }
                Err(reason) => {
                    dropped.push(Dropped { text: text.value.to_string(), reason });
                    false
                }
            }),
            Self::Leads => {
                // Others do not lead.
                dropped.retain(|known| known.reason != OTHERS);
                values.retain(|text| list::note(&text.value).is_some_and(|(_, is_lead)| is_lead));
                values.iter_mut().for_each(remove_note);
            }
            Self::Names => values.iter_mut().for_each(remove_note),
            Self::Country => change_each(values, |text| Some(location::first_location(text).to_owned())),
            Self::Split(separator) => {
                for text in std::mem::take(values) {
                    match text.value {
                        Cow::Borrowed(value) => values.extend(value.split(&**separator).map(MappedText::from)),
                        Cow::Owned(value) => {
                            values.extend(value.split(&**separator).map(|one| MappedText::from(one.to_owned())));
                        }
                    }
                }
            }
            Self::Items(separator) => {
                for text in std::mem::take(values) {
                    let mut reader = csv::ReaderBuilder::new();
                    let mut reader = reader.has_headers(false).delimiter(*separator).from_reader(text.value.as_bytes());
                    match reader.records().next() {
                        Some(Ok(items)) => values.extend(items.iter().map(|item| MappedText::from(item.to_owned()))),
                        _ => values.push(text),
                    }
                }
            }
            Self::Json(member, condition) => {
                for text in std::mem::take(values) {
                    // A text that is not a list stays as it is, so that it is reported.
                    let Ok(items) = serde_json::from_str::<Vec<serde_json::Value>>(&text.value) else {
                        values.push(text);
                        continue;
                    };
                    let is_wanted = |item: &&serde_json::Value| {
                        condition.as_ref().is_none_or(|(name, value)| item[name.as_str()] == value.as_str())
                    };
                    let members = items.iter().filter(is_wanted).filter_map(|item| item[member.as_str()].as_str());
                    values.extend(members.map(|member| MappedText::from(member.to_owned())));
                }
            }
            Self::First => values.truncate(1),
            Self::Last => drop(values.drain(..values.len().saturating_sub(1))),
            Self::Capture(pattern) => {
                values.retain_mut(|text| {
                    let Some(found) = pattern.captures(&text.value) else { return false };
                    let group = found.get(1).or_else(|| found.get(0)).map_or("", |group| group.as_str());
                    text.value = Cow::Owned(group.to_owned());
                    true
                });
            }
            Self::Min => change_each(values, |text| Some(money::range_ends(text).0.to_owned())),
            Self::Max => change_each(values, |text| Some(money::range_ends(text).1.to_owned())),
            Self::Change(change, argument) => change_each(values, |text| change(text, argument)),
        }
        values.retain_mut(|text| {
            if text.value.trim().len() != text.value.len() {
                text.value = Cow::Owned(text.value.trim().to_owned());
            }
            !text.value.is_empty()
        });
    }
}

/// Removes the note behind a name, also from the original: records that are created have their names from it.
fn remove_note(text: &mut MappedText<'_>) {
    if let Some((name, _)) = list::note(&text.value) {
        let name = name.to_owned();
        *text = MappedText { value: Cow::Owned(name.clone()), original: Cow::Owned(name) };
    }
}

fn change_each(texts: &mut [MappedText<'_>], change: impl Fn(&str) -> Option<String>) {
    for text in texts {
        if let Some(changed) = change(&text.value) {
            text.value = Cow::Owned(changed);
        }
    }
}

/// Changes the words of a text in capitals.
fn change_words(text: &str, change: fn(&str, bool) -> String) -> Option<String> {
    let words = text.split_whitespace().enumerate().map(|(at, word)| change(word, at == 0));
    let is_capitals = text.chars().any(char::is_uppercase) && !text.chars().any(char::is_lowercase);
    is_capitals.then(|| words.collect::<Vec<_>>().join(" "))
}

/// Words that are lowercase within a title.
const SMALL: [&str; 12] = ["OF", "AND", "THE", "FOR", "IN", "ON", "DE", "LA", "DU", "DES", "UND", "VAN"];

fn title_word(word: &str, is_first: bool) -> String {
    if SMALL.contains(&word) && !is_first {
        return word.to_lowercase();
    }
    let mut title = String::with_capacity(word.len());
    let mut starts = true;
    for char in word.chars() {
        if starts {
            title.extend(char.to_uppercase());
        } else {
            title.extend(char.to_lowercase());
        }
        // `O'NEILL-SMITH` keeps three capitals, `LEVI'S` one.
        starts = match char {
            '-' | '.' | '(' | '/' | '&' => true,
            '\'' | '’' => title.chars().count() == 2,
            char => starts && !char.is_alphanumeric(),
        };
    }
    title
}

/// Legal forms and other words of company names that do not follow title case.
const FORMS: [&str; 31] = [
    "LLC", "L.L.C.", "LLP", "LP", "L.P.", "PLC", "PLLC", "GP", "SPV", "Inc", "Inc.", "Corp", "Corp.", "Co", "Co.",
    "Ltd", "Ltd.", "GmbH", "AG", "SA", "SAS", "BV", "NV", "Pty", "USA", "US", "UK", "AI", "IT", "VC", "IP",
];

fn company_word(word: &str, is_first: bool) -> String {
    let (word, comma) = word.strip_suffix(',').map_or((word, ""), |word| (word, ","));
    let bare = word.trim_end_matches('.');
    let is_roman = !bare.is_empty() && bare.chars().all(|char| "IVX".contains(char));
    // A word without vowels is an abbreviation: `QRS`.
    let is_short = bare.len() <= 4 && !bare.contains(['A', 'E', 'I', 'O', 'U', 'Y']);
    let has_digit = bare.bytes().any(|byte| byte.is_ascii_digit());
    let mut changed = match FORMS.iter().find(|form| form.eq_ignore_ascii_case(word)) {
        Some(form) => (*form).to_owned(),
        None if is_roman || is_short || has_digit => word.to_owned(),
        None => title_word(word, is_first),
    };
    changed.push_str(comma);
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(step: &str, text: &str) -> String {
        let mut values = vec![MappedText::from(text)];
        Transform::parse(step).unwrap().apply(&mut values, &mut Vec::new());
        values.iter().map(|text| &*text.value).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn each_transform_changes_its_text() {
        for (step, text, expected) in [
            ("fold", "Ünïcorn & Söhne", "unicorn and sohne"),
            ("lower", "AbC", "abc"),
            ("upper", "AbC", "ABC"),
            ("title", "NEW YORK", "New York"),
            ("title", "SAINT-OUEN", "Saint-Ouen"),
            ("title", "McLean", "McLean"),
            ("legal_case", "ALDER LABS LLC", "Alder Labs LLC"),
            ("legal_case", "BIRCH & ASH FUND III, L.P.", "Birch & Ash Fund III, L.P."),
            ("legal_case", "THE BANK OF O'NEILL, INC.", "The Bank of O'Neill, Inc."),
            ("legal_case", "QRS 3D PRINTING GMBH", "QRS 3D Printing GmbH"),
            ("legal_case", "Alder LABS", "Alder LABS"),
            ("split(;)", "a; b;;c ", "a|b|c"),
            ("split( - )", "a - b", "a|b"),
            ("items(;)", r#"a;"b; ""c""";d"#, r#"a|b; "c"|d"#),
            ("json(slug)", r#"[{"slug":"a","name":"A"},{"slug":"b"},{"name":"C"}]"#, "a|b"),
            ("json(value, scheme=lei)", r#"[{"scheme":"cik","value":"1"},{"scheme":"lei","value":"2"}]"#, "2"),
            ("json(slug)", "[]", ""),
            ("json(slug)", "Alder", "Alder"),
            ("prefix(https://)", "a.example", "https://a.example"),
            ("strip_prefix(EX-)", "EX-7", "7"),
            ("strip_prefix(EX-)", "7", "7"),
            ("strip_left(0)", "00070", "70"),
            ("regex(([0-9]{4}))", "Over Five Years Ago (2009)", "2009"),
            ("regex([a-z]+)", "12ab3", "ab"),
            ("regex([a-z]+)", "123", ""),
            ("names", "Alder Capital (lead)", "Alder Capital"),
            ("names", "苇舟资本（领投）", "苇舟资本"),
            ("names", "Alder (https://wiki.example/alder?v=1)", "Alder"),
            ("names", "Alder (Berlin)", "Alder (Berlin)"),
            ("names", "Alder Labs (written off)", "Alder Labs"),
            ("names", "Alder (Investors/Alder%20c0ffee.md)", "Alder"),
            ("names", "Alder Inc.*", "Alder Inc."),
            ("names", "Alder (lead)[a]", "Alder"),
            ("names", "Alder [Labs]", "Alder [Labs]"),
            ("names", "*", "*"),
            ("names", "Alder Capital ($6M)", "Alder Capital"),
            ("names", "Alder Capital [lead]", "Alder Capital"),
            ("leads", "Alder Capital – lead", "Alder Capital"),
            ("names", "Alder - Birch Capital", "Alder - Birch Capital"),
            ("names", "Alder Capital(Ada Quill)", "Alder Capital"),
            ("names", "Chef de file : Alder Capital", "Alder Capital"),
            ("leads", "Chef de file : Alder Capital", "Alder Capital"),
            ("leads", "Alder Capital (Lead)", "Alder Capital"),
            ("leads", "Alder Capital (existing)", ""),
            ("leads", "Led by Alder Capital", "Alder Capital"),
            ("names", "with Alder Capital", "Alder Capital"),
            ("names", "With Grace", "With Grace"),
            ("list", "['a', 'b']", "a|b"),
            ("list", "Acme, Inc.", "Acme, Inc."),
            ("place(city)", "Austin, TX, USA", "Austin"),
            ("place(city)", "Germany", ""),
            ("place(city)", "Remote", ""),
            ("place(country)", "Austin, TX; Berlin", "Austin, TX"),
            ("domain", "https://www.Alder.example/x", "alder.example"),
            ("min", "$250K – $2M", "$250K"),
            ("max", "$250K - $2M", "$2M"),
            ("max", "$1M", "$1M"),
        ] {
            assert_eq!(applied(step, text), expected, "{step} of {text}");
        }
        let mut values = vec![MappedText::from("a"), MappedText::from("b, C")];
        for step in ["last", "split(,)", "lower"] {
            Transform::parse(step).unwrap().apply(&mut values, &mut Vec::new());
        }
        let pairs: Vec<_> = values.iter().map(|text| (&*text.value, &*text.original)).collect();
        assert_eq!(pairs, [("b", "b"), ("c", "C")]);
    }

    #[test]
    fn a_mistake_is_explained() {
        for (step, problem) in [
            ("titel", "did you mean `title`?"),
            ("split", "needs an argument"),
            ("split()", "needs an argument"),
            ("title(x)", "takes no argument"),
            ("place(street)", "unknown part of a place"),
            ("split(;", "no closing parenthesis"),
            ("regex([)", "is not a regular expression"),
            ("items(ab)", "is not one character"),
            ("json(value, lei)", "a condition such as"),
        ] {
            let error = Transform::parse(step).unwrap_err();
            assert!(error.contains(problem), "{error}");
        }
    }
}
