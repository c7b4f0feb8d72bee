//! Converts the texts of a row to the values of a field. Texts that do not fit the field are dropped, with a reason.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::sources::evidence::{ColumnEvidence, ImportEvidence};
use crate::sources::field::FieldForm;
use crate::sources::input::InputRow;
use crate::sources::location::{self, Codes};
use crate::sources::mapping::date_format::DateFormat;
use crate::sources::mapping::transform::MappedText;
use crate::sources::mapping::{
    CellTest, Condition, Currency, FieldTarget, FieldValue, KeyForm, MappedValue, MappingVocabulary, Unknown,
};
use crate::sources::money::{MoneyCell, Rates, Sign};
use data::fold::fold;
use data::identifier;
use data::import::clean::{clean, clean_line};
use data::import::csv_row::{MAX_LINE, MAX_TEXT, MAX_URL};
use data::import::website;
use data::parameter_error::shortened_to;
use data::vocabulary::{Vocabulary, with_article};
use data::{Country, FirmKind, PartialDate, ReviewStatus, Stage, StartupStatus};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConvertedValue {
    pub value: String,
    /// Value as the source has it; empty if it is the same.
    pub original: String,
}

/// A text that is left out, with a reason such as `is not a country`.
pub(crate) struct Dropped {
    pub text: String,
    pub reason: Cow<'static, str>,
}

const MAX_MEMO: usize = 10_000;

pub(crate) struct Converter<'a> {
    pub field: &'a FieldValue,
    rates: &'a Rates,
    /// Cache of converted texts, for columns with few distinct ones.
    memo: Option<HashMap<String, Vec<ConvertedValue>>>,
    /// Evidence about the columns from an earlier run.
    known: ColumnEvidence,
    pub seen: ColumnEvidence,
}

impl CellTest {
    fn passes(&self, text: &str) -> bool {
        let is_one = |texts: &[String]| {
            texts.iter().any(|known| known.eq_ignore_ascii_case(text) || *known == text.to_lowercase())
        };
        match self {
            Self::OneOf(texts) => is_one(texts),
            Self::NoneOf(texts) => !is_one(texts),
            Self::Present(is_present) => *is_present != text.is_empty(),
            Self::Matches(pattern) => pattern.is_match(text),
            Self::MatchesNot(pattern) => !pattern.is_match(text),
        }
    }
}

pub(crate) fn meets(row: &InputRow, conditions: &[Condition]) -> bool {
    conditions.iter().all(|condition| condition.test.passes(row.get(condition.column.index)))
}

impl MappedValue {
    pub(crate) fn texts<'r>(&'r self, row: &'r InputRow, dropped: &mut Vec<Dropped>) -> Vec<MappedText<'r>> {
        let mut texts = if meets(row, &self.when) { self.read_columns(row, dropped) } else { Vec::new() };
        if let Some(default) = self.default.as_ref().filter(|_| texts.is_empty()) {
            texts.push(MappedText { value: Cow::Borrowed(default), original: Cow::Borrowed("") });
        }
        texts
    }

    fn read_columns<'r>(&'r self, row: &'r InputRow, dropped: &mut Vec<Dropped>) -> Vec<MappedText<'r>> {
        let mut texts = Vec::new();
        let is_none = |text: &str| text.is_empty() || self.none.iter().any(|none| none.eq_ignore_ascii_case(text));
        let columns = self.columns.iter().map(|column| row.get(column.index)).filter(|text| !is_none(text));
        match &self.join {
            Some(join) => {
                let joined = columns.collect::<Vec<_>>().join(join);
                texts.extend(Some(joined).filter(|joined| !joined.is_empty()).map(MappedText::from));
            }
            None => texts.extend(columns.map(MappedText::from)),
        }
        if let Some(constant) = &self.constant {
            texts.push(MappedText { value: Cow::Borrowed(constant), original: Cow::Borrowed("") });
        }
        for step in &self.steps {
            step.apply(&mut texts);
        }
        if !self.steps.is_empty() && !self.none.is_empty() {
            texts.retain(|text| !is_none(&text.value));
        }
        if let Some(vocabulary) = &self.vocabulary {
            let mut mapped = Vec::with_capacity(texts.len());
            for text in texts {
                match vocabulary.get(&text.value.to_lowercase()) {
                    Some(words) => mapped.extend(words.iter().map(|word| {
                        let original = text.original.clone();
                        MappedText { value: Cow::Borrowed(word), original }
                    })),
                    None if self.unknown == Unknown::Keep => mapped.push(text),
                    None => {
                        let reason = "is not in the vocabulary".into();
                        dropped.push(Dropped { text: text.value.into_owned(), reason });
                    }
                }
            }
            texts = mapped;
        }
        texts
    }

    pub(crate) fn text(&self, row: &InputRow) -> Option<String> {
        self.texts(row, &mut Vec::new()).into_iter().next().map(|text| text.value.into_owned())
    }

    fn date(&self, row: &InputRow) -> Option<PartialDate> {
        self.texts(row, &mut Vec::new()).iter().find_map(|text| self.read_date(&text.value))
    }

    /// Sort key for the rows of an entity. Dates become `YYYY-MM-DD`.
    pub(crate) fn order(&self, row: &InputRow) -> String {
        let text = self.text(row).unwrap_or_default();
        self.read_date(&text).map_or(text, |date| date.to_string())
    }

    fn formats(&self) -> &[DateFormat] {
        if self.dates.is_empty() { &ISO } else { &self.dates }
    }

    fn read_date(&self, text: &str) -> Option<PartialDate> {
        self.formats().iter().find_map(|format| format.read(text))
    }
}

static ISO: LazyLock<Vec<DateFormat>> =
    LazyLock::new(|| ["%Y-%m-%d", "%Y-%m", "%Y"].iter().filter_map(|text| DateFormat::parse(text).ok()).collect());

impl KeyForm {
    pub(crate) fn make_key(&self, text: &str) -> Result<String, Cow<'static, str>> {
        let key = match self {
            Self::Plain => clean_line(text),
            Self::Scheme(scheme) => format!("{scheme}:{}", identifier::normalize(scheme, text)?),
            Self::Name => fold(text),
        };
        check_length(&key, MAX_URL)?;
        if key.is_empty() { Err("has no letter or digit".into()) } else { Ok(key) }
    }
}

/// Slug of a name: its folded words, joined by `-`. `None` if nothing is left.
pub(crate) fn slug(name: &str) -> Option<String> {
    let slug = fold(name).replace(' ', "-");
    // Folded names are ASCII.
    let slug = slug.get(..MAX_SLUG).unwrap_or(&slug).trim_end_matches('-');
    (!slug.is_empty()).then(|| slug.to_owned())
}

/// Maximum bytes of a slug made from a name, which leaves room for a number.
const MAX_SLUG: usize = 100;

impl<'a> Converter<'a> {
    pub(crate) fn new(field: &'a FieldValue, rates: &'a Rates, evidence: &ImportEvidence) -> Self {
        let has_few = matches!(
            field.target.form(),
            FieldForm::Country | FieldForm::Stage | FieldForm::FirmKind | FieldForm::StartupStatus | FieldForm::Sector
        );
        let depends_on_one = field.value.columns.len() == 1 && field.value.when.is_empty();
        let memo = (has_few && depends_on_one).then(HashMap::new);
        Self { field, rates, memo, known: evidence.for_value(&field.value), seen: ColumnEvidence::default() }
    }

    pub(crate) fn values(&mut self, row: &InputRow, values: &mut Vec<ConvertedValue>, dropped: &mut Vec<Dropped>) {
        let field = self.field;
        let key = self.memo.as_ref().map(|_| row.get(field.value.columns[0].index));
        if let (Some(memo), Some(key)) = (&self.memo, key)
            && let Some(known) = memo.get(key)
        {
            values.extend_from_slice(known);
            return;
        }
        let (first, before) = (values.len(), dropped.len());
        for text in field.value.texts(row, dropped) {
            // A field with one value takes the first usable text.
            if !field.target.is_list() && values.len() > first {
                break;
            }
            match self.convert(&text.value, row) {
                Ok((value, is_private)) => {
                    let is_same = value == text.original || is_private;
                    // `shortened_to` adds a character.
                    let cut = || shortened_to(MAX_TEXT - 1, &clean(&text.original)).into_owned();
                    let original = if is_same { String::new() } else { cut() };
                    values.push(ConvertedValue { value, original });
                }
                Err(reason) => {
                    // Report the whole location: its last part alone tells nothing.
                    let cell = field.value.columns.first().filter(|_| field.target.form() == FieldForm::Country);
                    let text = cell.map_or(&*text.value, |column| row.get(column.index));
                    dropped.push(Dropped { text: text.to_owned(), reason });
                }
            }
        }
        if let (Some(memo), Some(key)) = (&mut self.memo, key)
            && dropped.len() == before
            && memo.len() < MAX_MEMO
        {
            memo.insert(key.to_owned(), values[first..].to_vec());
        }
    }

    /// Converts a text. The flag is true if the original contains private data.
    fn convert(&mut self, text: &str, row: &InputRow) -> Result<(String, bool), Cow<'static, str>> {
        let value = match self.field.target.form() {
            FieldForm::Line | FieldForm::Sector => convert_line(text)?,
            FieldForm::Text => {
                let has_email = text.contains('@') && EMAIL.is_match(text);
                let text = if has_email { EMAIL.replace_all(text, "") } else { Cow::Borrowed(text) };
                let text = clean(&text);
                check_length(&text, MAX_TEXT)?;
                if text.is_empty() {
                    return Err(IS_EMAIL.into());
                }
                return Ok((text, has_email));
            }
            FieldForm::Website => web_address(text)?,
            FieldForm::Country => self.country(text, row)?.alpha2().to_owned(),
            FieldForm::Year => self.year(text)?,
            FieldForm::Date => {
                let date = self.field.value.read_date(text).ok_or_else(|| {
                    let formats: Vec<&str> = self.field.value.formats().iter().map(|format| &*format.text).collect();
                    format!("is not a date of the form {}; name its format in `dates`", formats.join(", "))
                })?;
                date.to_string()
            }
            FieldForm::Dollars => self.dollars(text, row)?,
            FieldForm::Stage => read_word::<Stage>(text)?,
            FieldForm::FirmKind => read_word::<FirmKind>(text)?,
            FieldForm::StartupStatus => read_word::<StartupStatus>(text)?,
            FieldForm::ReviewStatus => read_word::<ReviewStatus>(text)?,
            FieldForm::Rating => match text.strip_suffix(".0").unwrap_or(text) {
                rating @ ("1" | "2" | "3" | "4" | "5") => rating.to_owned(),
                _ => return Err("is not a rating: a whole number from 1 to 5".into()),
            },
            FieldForm::Truth => match &*text.to_lowercase() {
                "true" | "yes" | "1" => "true".to_owned(),
                "false" | "no" | "0" => "false".to_owned(),
                _ => return Err("is neither `true` nor `false`; translate it with `map`".into()),
            },
            FieldForm::Slug => match text.chars().any(char::is_whitespace) {
                true => return Err("is not a slug: it contains a space".into()),
                false => convert_line(text)?,
            },
            FieldForm::Reference(_) => {
                let Some(reference) = &self.field.reference else { return Err("refers to nothing".into()) };
                format!("{}:{}", reference.kind, reference.key.make_key(text)?)
            }
            FieldForm::Identifier => match &self.field.target {
                FieldTarget::Identifier(scheme) => identifier::normalize(scheme, text)?,
                FieldTarget::Field(_) => return Err("is not an identifier".into()),
            },
        };
        Ok((value, false))
    }

    /// Reads the country of a text. A text that was cut out of a location is read together with the rest of it.
    fn country(&mut self, text: &str, row: &InputRow) -> Result<Country, Cow<'static, str>> {
        let field = self.field;
        let is_mapped = |vocabulary: &MappingVocabulary| vocabulary.values().flatten().any(|known| known == text);
        if field.value.vocabulary.as_deref().is_some_and(is_mapped) {
            return location::read_country("", text, &Codes::default(), &mut Codes::default());
        }
        let cells = field.value.columns.iter().map(|column| row.get(column.index));
        let location =
            cells.flat_map(|cell| cell.split([';', '|', '\n'])).find_map(|cell| location::split_around(cell, text));
        let (before, part) = location.unwrap_or((Cow::Borrowed(""), text));
        let country = location::read_country(&before, part, &self.known.codes, &mut self.seen.codes)?;
        if Country::read(text).is_none() && location::names_others(text, country) {
            return Err("names several countries".into());
        }
        Ok(country)
    }

    fn dollars(&mut self, text: &str, row: &InputRow) -> Result<String, Cow<'static, str>> {
        let field = self.field;
        let cell = MoneyCell::read(text).ok_or("is not an amount of money, such as `1500000` or `$1.5M`")?;
        self.seen.notation.add(&cell, &field.amount);
        let (amount, sign) = cell.amount(&field.amount, &self.known.notation)?;
        let stated = match &field.currency {
            Some(Currency::Code(code)) => Some(code.clone()),
            Some(Currency::Of(value)) => value.text(row).map(|code| code.to_uppercase()),
            None => None,
        };
        let currency = match (sign, stated) {
            (Some(Sign::Code(code)), _) => code,
            (Some(Sign::Shared(_, codes)), Some(stated)) if codes.contains(&&*stated) => stated,
            (Some(Sign::Shared(sign, _)), Some(stated)) => {
                return Err(format!("has the sign `{sign}`, the currency is {stated}").into());
            }
            (None, Some(stated)) => stated,
            (Some(Sign::Shared(..)) | None, None) => return Err("has no currency, which is never guessed".into()),
        };
        let day = field.rate_on.as_ref().and_then(|value| value.date(row));
        let dollars = (amount * self.rates.rate_on(&currency, day)?).round();
        Ok(format!("{dollars:.0}"))
    }

    fn year(&self, text: &str) -> Result<String, Cow<'static, str>> {
        let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        let year = if is_year { text.parse().ok() } else { self.field.value.read_date(text).map(PartialDate::year) };
        // No company is older; an earlier year is a placeholder or a typing error.
        let year = year.filter(|year| (1000..=9999).contains(year));
        year.map(|year| year.to_string()).ok_or_else(|| "is not a year from 1000 to 9999".into())
    }
}

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+").expect("a valid expression"));

const IS_EMAIL: &str = "is an e-mail address, which is private";

fn refuse_email(text: &str) -> Result<(), Cow<'static, str>> {
    if text.contains('@') && EMAIL.is_match(text) { Err(IS_EMAIL.into()) } else { Ok(()) }
}

fn check_length(text: &str, max: usize) -> Result<(), Cow<'static, str>> {
    let is_long = text.len() > max && text.chars().count() > max;
    if is_long { Err(format!("has more than {max} characters").into()) } else { Ok(()) }
}

fn convert_line(text: &str) -> Result<String, Cow<'static, str>> {
    let line = clean_line(text);
    if line.is_empty() {
        return Err("is empty without invisible characters".into());
    }
    refuse_email(&line)?;
    check_length(&line, MAX_LINE)?;
    Ok(line)
}

/// Normalizes a web address: lowercase scheme and host, `https` if there is no scheme.
fn web_address(text: &str) -> Result<String, Cow<'static, str>> {
    let text = clean_line(text);
    refuse_email(&text)?;
    let (scheme, rest) = text.split_once("://").unwrap_or(("https", &text));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let url = format!("{}://{}{path}", scheme.to_lowercase(), host.to_lowercase());
    if !host.contains('.') {
        return Err("is not a web address, such as `https://www.example.com`".into());
    }
    check_length(&url, MAX_URL)?;
    match website::check(&url) {
        Ok(()) => Ok(url),
        Err(website::WebsiteProblem::Invalid(problem)) => Err(problem.into()),
        Err(website::WebsiteProblem::HasUserName) => Err("has a user name before `@`; remove it".into()),
    }
}

fn read_word<V: Vocabulary>(text: &str) -> Result<String, Cow<'static, str>> {
    V::read(text).map(|word| word.name().to_owned()).ok_or_else(|| {
        let noun = with_article(V::NOUN);
        format!("is not {noun}: {}; translate it with `map`", V::names().join(", ")).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn web_addresses_get_a_scheme_and_small_letters() {
        for (text, expected) in [
            ("alder.example", "https://alder.example"),
            ("WWW.Alder.EXAMPLE/Team", "https://www.alder.example/Team"),
            ("HTTP://ALDER.EXAMPLE", "http://alder.example"),
            ("https://blog.example/@alder", "https://blog.example/@alder"),
        ] {
            assert_eq!(web_address(text).as_deref(), Ok(expected), "{text}");
        }
        for (text, reason) in [
            ("n/a", "is not a web address"),
            ("ana@alder.example", "e-mail"),
            ("https://ana:pw@alder.example", "e-mail"),
            ("alder .example", "contains a space"),
        ] {
            assert!(web_address(text).unwrap_err().contains(reason), "{text}");
        }
    }

    #[test]
    fn e_mail_addresses_are_not_names() {
        assert_eq!(convert_line(" Alder\nCapital "), Ok("Alder Capital".to_owned()));
        assert!(convert_line("Write to ana.reed+x@alder.example").unwrap_err().contains("private"));
        assert_eq!(EMAIL.replace_all("Ask ana@alder.example, not @alder", ""), "Ask , not @alder");
        assert!(convert_line(&"x".repeat(201)).unwrap_err().contains("more than 200"));
    }

    #[test]
    fn slugs_are_folded_words_of_bounded_length() {
        assert_eq!(slug("Ünïcorn & Söhne").as_deref(), Some("unicorn-and-sohne"));
        assert_eq!(slug("★"), None);
        assert!(slug(&"word ".repeat(50)).unwrap().len() <= MAX_SLUG);
    }
}
