//! Converts the texts of a row to the values of a field. Texts that do not fit the field are dropped, with a reason.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use crate::sources::evidence::{ColumnEvidence, ImportEvidence};
use crate::sources::field::FieldForm;
use crate::sources::input::InputRow;
use crate::sources::location::{self, Codes};
use crate::sources::mapping::date_format::{self, DateEvidence, DateFormat, WrittenDate};
use crate::sources::mapping::list::{split_clear, split_list, without_others};
use crate::sources::mapping::transform::{MappedText, Transform};
use crate::sources::mapping::{
    CellTest, Condition, Currency, FieldTarget, FieldValue, KeyForm, MappedValue, MappingVocabulary, Unknown,
};
use crate::sources::missing::{self, MissingIn};
use crate::sources::money::{self, Decimal, MoneyCell, RateDay, Rates, Sign};
use data::fold::fold;
use data::identifier;
use data::import::clean::{clean, clean_line};
use data::import::csv_row::{MAX_LINE, MAX_TEXT, MAX_URL, NOT_KEYED_HASH, is_keyed_hash};
use data::import::diagnostics::quoted;
use data::import::website;
use data::meaning::Meaning;
use data::parameter_error::shortened_to;
use data::vocabulary::{Vocabulary, with_article};
use data::written::identity;
use data::{Country, FirmKind, PartialDate, ReviewProof, ReviewStatus, ReviewerRole, Stage, StartupStatus};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ConvertedValue {
    pub value: String,
    /// Value as the source has it; empty if it is the same.
    pub original: String,
}

/// A text that is left out, with a reason such as `is not a country`; or one that is kept, though it says something else than its
/// value does.
pub(crate) struct Dropped {
    pub text: String,
    pub reason: Cow<'static, str>,
}

/// Reason for a text that the steps of a mapping drop.
pub(crate) const NOT_KEPT: &str = "has nothing that `do` keeps";

/// Reason for the texts after the first one of a field with one value.
pub(crate) const NOT_FIRST: &str = "is not the first value of a field that has one";

/// Reason for words at the end of a list such as `and others`.
pub(crate) const OTHERS: &str = "means further values, which the list does not name";

const MAX_MEMO: usize = 10_000;

pub(crate) struct Converter<'a> {
    pub field: &'a FieldValue,
    rates: &'a Rates,
    /// Cache of converted texts, for columns with few distinct ones.
    memo: Option<HashMap<String, Vec<ConvertedValue>>>,
    /// Evidence about the columns from an earlier run.
    known: ColumnEvidence,
    /// The same about the column with the day of the rate.
    known_days: DateEvidence,
    missing: MissingIn,
    pub seen: ColumnEvidence,
    pub seen_days: DateEvidence,
    /// True for the name of one person.
    pub is_of_person: bool,
    /// Texts of the row that are kept with a remark.
    pub noted: Vec<Dropped>,
}

impl CellTest {
    fn passes(&self, text: &str) -> bool {
        let is_same =
            |known: &String| known.eq_ignore_ascii_case(text) || !text.is_ascii() && *known == text.to_lowercase();
        let is_one = |texts: &[String]| texts.iter().any(is_same);
        match self {
            Self::OneOf(texts) => is_one(texts),
            Self::NoneOf(texts) => !is_one(texts),
            Self::Present(is_present) => *is_present != text.is_empty(),
            Self::Matches(pattern) => pattern.is_match(text),
            Self::MatchesNot(pattern) => !pattern.is_match(text),
        }
    }
}

/// The first condition that a row does not meet.
pub(crate) fn first_unmet<'c>(row: &InputRow, conditions: &'c [Condition]) -> Option<&'c Condition> {
    conditions.iter().find(|condition| !condition.test.passes(row.get(condition.column.index)))
}

impl MappedValue {
    pub(crate) fn texts<'r>(&'r self, row: &'r InputRow, dropped: &mut Vec<Dropped>) -> Vec<MappedText<'r>> {
        let mut texts =
            if first_unmet(row, &self.when).is_none() { self.read_columns(row, dropped) } else { Vec::new() };
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
            if let Transform::Capture(pattern) = step {
                let without = texts.iter().filter(|text| !pattern.is_match(&text.value));
                let reason = || Cow::Borrowed(NOT_KEPT);
                dropped.extend(without.map(|text| Dropped { text: text.value.clone().into_owned(), reason: reason() }));
            }
            step.apply(&mut texts, dropped);
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
                    // The field's own words stay known.
                    None if self.unknown == Unknown::Keep || self.extends_words => mapped.push(text),
                    None => {
                        let reason = "is not in the vocabulary; add it to the table that `map` names".into();
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

    /// The date of a row; the evidence of the column gets what the row adds.
    fn date(&self, row: &InputRow, column: &DateEvidence, seen: &mut DateEvidence) -> Option<PartialDate> {
        let texts = self.texts(row, &mut Vec::new());
        let mut dates = texts.iter().filter_map(|text| self.read_date(&text.value, row, column, seen));
        dates.find(|date| !date_format::is_placeholder(*date))
    }

    /// Sort key for the rows of an entity. Dates become `YYYY-MM-DD`. The evidence of the column gets what the row
    /// adds.
    pub(crate) fn order(&self, row: &InputRow, known: &DateEvidence, seen: &mut DateEvidence) -> String {
        let text = self.text(row).unwrap_or_default();
        self.read_date(&text, row, known, seen).map_or(text, |date| date.to_string())
    }

    /// Reads a date in the formats of the mapping, or in any that the column's evidence allows, which gets what the text adds.
    fn read_date(
        &self,
        text: &str,
        row: &InputRow,
        known: &DateEvidence,
        seen: &mut DateEvidence,
    ) -> Option<PartialDate> {
        match &*self.dates {
            [] => {
                let date = WrittenDate::read(text)?;
                seen.add(&date, row.line, text);
                date.decide(None, known).ok()
            }
            formats => formats.iter().find_map(|format| format.read(text)),
        }
    }
}

impl KeyForm {
    pub(crate) fn make_key(&self, text: &str) -> Result<String, Cow<'static, str>> {
        if matches!(self, Self::Name) && (MissingIn::Name.is_missing(text) || missing::is_placeholder(text)) {
            return Err(IS_PLACEHOLDER.into());
        }
        let key = match self {
            Self::Plain => clean_line(text),
            Self::Scheme(scheme) => [scheme, ":", &*identifier::normalize(scheme, text)?].concat(),
            Self::Name => identity(text),
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

/// Dollars that no round and no check has: a full amount in a column of millions comes to more.
const MAX_DOLLARS: f64 = 2e11;

impl<'a> Converter<'a> {
    pub(crate) fn new(field: &'a FieldValue, rates: &'a Rates, evidence: &ImportEvidence) -> Self {
        let has_few = matches!(
            field.target.form(),
            FieldForm::Country | FieldForm::Stage | FieldForm::FirmKind | FieldForm::StartupStatus | FieldForm::Sector
        );
        let depends_on_one = field.value.columns.len() == 1 && field.value.when.is_empty();
        let memo = (has_few && depends_on_one).then(HashMap::new);
        let known_days = field.rate_on.as_ref().map(|value| evidence.for_value(value).dates).unwrap_or_default();
        let missing = MissingIn::field(&field.target.name(), field.target.form());
        let known = evidence.for_value(&field.value);
        let (seen, seen_days) = (ColumnEvidence::default(), DateEvidence::default());
        Self { field, rates, memo, known, known_days, missing, seen, seen_days, is_of_person: false, noted: Vec::new() }
    }

    /// True if a text means that the value is missing: an amount of 0, too, unless amounts are added up.
    fn is_missing(&self, text: &str) -> bool {
        let may_be_zero = self.missing == MissingIn::Amount && !self.field.is_sum;
        let is_zero = || {
            !text.contains(|char| matches!(char, '1'..='9')) && MoneyCell::read(text).is_some_and(|cell| cell.is_zero())
        };
        self.missing.is_missing(text) || (may_be_zero && is_zero())
    }

    /// Splits lists of a field that takes several values and has no steps, as far as the text alone tells that it is a
    /// list.
    fn split<'t>(&self, texts: Vec<MappedText<'t>>, dropped: &mut Vec<Dropped>) -> Vec<MappedText<'t>> {
        let FieldValue { target, value, reference, .. } = self.field;
        let is_named = self.missing == MissingIn::Investor && value.vocabulary.is_none();
        let is_key = reference.as_ref().is_some_and(|reference| !matches!(reference.key, KeyForm::Name));
        let is_identifier = target.form() == FieldForm::Identifier;
        if !target.is_list() || is_key || is_identifier || !value.steps.is_empty() || value.vocabulary.is_some() {
            return texts;
        }
        let is_stage = |part: &String| Stage::meaning(part).is_some() || Stage::is_unknown(part);
        let split = |text: &str| match split_clear(text) {
            None if target.form() == FieldForm::Stage && Stage::meaning(text).is_none() => {
                split_list(text).map(|parts| Some(parts).filter(|parts| parts.iter().all(is_stage)))
            }
            parts => Ok(parts),
        };
        let mut all = Vec::with_capacity(texts.len());
        for mut text in texts {
            // One name in each cell, and those of others that are not told.
            if is_named && let Some(rest) = without_others(&text.value) {
                let (rest, others) = (rest.to_owned(), text.value.trim()[rest.len()..].trim().to_owned());
                dropped.push(Dropped { text: others, reason: OTHERS.into() });
                text = MappedText::from(rest);
            }
            match split(&text.value) {
                Ok(Some(parts)) => all.extend(parts.into_iter().map(MappedText::from)),
                Ok(None) => all.push(text),
                Err(reason) => dropped.push(Dropped { text: text.value.into_owned(), reason }),
            }
        }
        all
    }

    /// Adds the values of a row. Returns the number of its texts, each of which is a value or dropped.
    pub(crate) fn values(
        &mut self,
        row: &InputRow,
        values: &mut Vec<ConvertedValue>,
        dropped: &mut Vec<Dropped>,
    ) -> u64 {
        let field = self.field;
        let key = self.memo.as_ref().map(|_| row.get(field.value.columns[0].index));
        if let (Some(memo), Some(key)) = (&self.memo, key)
            && let Some(known) = memo.get(key)
        {
            values.extend_from_slice(known);
            return known.len() as u64;
        }
        let (first, before) = (values.len(), dropped.len());
        let texts = field.value.texts(row, dropped);
        let mut texts = self.split(texts, dropped);
        texts.retain(|text| !self.is_missing(&text.value));
        let mut read = texts.len() + dropped.len() - before;
        // The default also takes the place of texts that are no values.
        let default = field.value.default.as_deref().map(MappedText::from);
        let count = texts.len();
        for (at, text) in texts.into_iter().chain(default).enumerate() {
            if at >= count {
                if values.len() > first {
                    break;
                }
                read += 1;
            }
            // A field with one value takes the first usable text; further columns stand in for it.
            if !field.target.is_list() && values.len() > first {
                match field.value.columns.len() {
                    1 => dropped.push(Dropped { text: text.value.into_owned(), reason: NOT_FIRST.into() }),
                    _ => read -= 1,
                }
                continue;
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
        read as u64
    }

    /// Converts a text. The flag is true if the original contains private data.
    fn convert(&mut self, text: &str, row: &InputRow) -> Result<(String, bool), Cow<'static, str>> {
        let value = match self.field.target.form() {
            FieldForm::Line | FieldForm::Sector => {
                if self.missing == MissingIn::Name && missing::is_placeholder(text) {
                    return Err(IS_PLACEHOLDER.into());
                }
                if self.is_of_person && split_clear(text).is_some_and(|names| names.len() > 1) {
                    return Err("has the names of several people; give each a row of its own".into());
                }
                convert_line(text)?
            }
            FieldForm::Text => {
                let has_email = has_email(text);
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
            FieldForm::Year => self.year(text, row)?,
            FieldForm::Date => self.date(text, row)?.to_string(),
            FieldForm::Month => Some(self.date(text, row)?.month())
                .filter(|date| date.is_month())
                .ok_or("is not a month: only the year is known")?
                .to_string(),
            FieldForm::Dollars => self.dollars(text, row)?,
            FieldForm::Stage => read_word(Stage::meaning(text))?,
            FieldForm::FirmKind => read_word(FirmKind::meaning(text))?,
            FieldForm::StartupStatus => read_word(StartupStatus::meaning(text))?,
            FieldForm::ReviewStatus => read_word(ReviewStatus::read(text))?,
            FieldForm::ReviewerRole => read_word(ReviewerRole::read(text))?,
            FieldForm::ReviewProof => read_word(ReviewProof::read(text))?,
            FieldForm::KeyedHash if is_keyed_hash(text) => text.to_owned(),
            FieldForm::KeyedHash => return Err(NOT_KEYED_HASH.into()),
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
        if let Some(decimal) = cell.proven_decimal().filter(|_| field.amount.decimal.is_none()) {
            self.seen.decimals.note(decimal == Decimal::Point, row.line, text);
            if let Some([(line, point), (other, comma)]) = self.known.decimals.both() {
                return Err(format!(
                    "is in a column that contradicts itself: line {line} has a decimal point ({}), line {other} a \
                     decimal comma ({}); correct the column, or write `decimal = \".\"` or `decimal = \",\"` in the mapping",
                    quoted(point),
                    quoted(comma)
                )
                .into());
            }
        }
        self.seen.notation.add(&cell, &field.amount);
        let (amount, sign) = cell.amount(&field.amount, &self.known.notation)?;
        let stated = match &field.currency {
            Some(Currency::Code(code)) => Some(code.clone()),
            Some(Currency::Of(value)) => value.text(row).map(|text| match money::currency_named(&text) {
                Some(Sign::Code(code)) => code,
                Some(Sign::Shared(..)) | None => text.to_uppercase(),
            }),
            Some(Currency::Written(_)) | None => None,
        };
        let of_signs = match &field.currency {
            Some(Currency::Written(codes)) => codes.as_slice(),
            _ => &[],
        };
        let meant = |shared: &[&str]| {
            let mut codes = of_signs.iter().filter(|code| shared.contains(&code.as_str()));
            codes.next().filter(|_| codes.next().is_none()).cloned()
        };
        let currency = match (sign, stated) {
            (Some(Sign::Code(code)), _) => code,
            (Some(Sign::Shared(_, codes)), Some(stated)) if codes.contains(&&*stated) => stated,
            (Some(Sign::Shared(_, codes)), None) if meant(codes).is_some() => meant(codes).unwrap_or_default(),
            (Some(Sign::Shared(sign, _)), Some(stated)) => {
                return Err(format!("has the sign `{sign}`, the currency is {stated}").into());
            }
            (None, Some(stated)) => stated,
            (Some(Sign::Shared(..)) | None, None) => {
                return Err("has no currency, which is never guessed; name it in the mapping with `currency`".into());
            }
        };
        let day = match &field.rate_on {
            Some(value) => value.date(row, &self.known_days, &mut self.seen_days).map_or(RateDay::Unknown, RateDay::On),
            None => RateDay::OfImport,
        };
        let rate = self.rates.rate_on(&currency, day)?;
        let dollars = (amount * rate.usd).round();
        let is_bounded = || !matches!(field.target, FieldTarget::Field(known) if known.name == "aum_usd");
        if dollars >= MAX_DOLLARS && is_bounded() {
            return Err("would be more than any round or check; is its unit also that of the column?".into());
        }
        if let Some(day) = rate.of_import {
            self.note(
                text,
                format!(
                    "is converted by the rate of the day of the import, {day}; name a column with its day in `rate_on`"
                ),
            );
        }
        if let Some(inexact) = cell.inexact(&field.amount) {
            self.note(text, format!("{inexact}, and kept as if it were exact; none, if that is right"));
        }
        Ok(format!("{dollars:.0}"))
    }

    fn note(&mut self, text: &str, reason: impl Into<Cow<'static, str>>) {
        self.noted.push(Dropped { text: text.to_owned(), reason: reason.into() });
    }

    /// Reads the date as far as it is written, in the formats of the mapping or in any usual one.
    fn date(&mut self, text: &str, row: &InputRow) -> Result<PartialDate, Cow<'static, str>> {
        let date = match &*self.field.value.dates {
            [] => {
                let written = self.written_date(text, row)?;
                written.decide(None, &self.known.dates)?
            }
            formats => formats.iter().find_map(|format| format.read(text)).ok_or_else(|| not_a_date(formats))?,
        };
        if date_format::is_placeholder(date) {
            return Err("is a day that is written if the real one is unknown".into());
        }
        let is_year = !date.is_day() && !date.is_month();
        if is_year && self.field.value.dates.is_empty() && date_format::is_period(text) {
            self.note(text, "is a part of a year, of which the year is kept; write a month if it is known");
        }
        Ok(date)
    }

    fn written_date(&mut self, text: &str, row: &InputRow) -> Result<WrittenDate, Cow<'static, str>> {
        let written = WrittenDate::read(text).ok_or_else(|| not_a_date(&[]))?;
        self.seen.dates.add(&written, row.line, text);
        Ok(written)
    }

    fn year(&mut self, text: &str, row: &InputRow) -> Result<String, Cow<'static, str>> {
        let is_year = text.len() == 4 && text.bytes().all(|byte| byte.is_ascii_digit());
        let year = match (is_year, &*self.field.value.dates) {
            (true, _) => text.parse().map_err(|_| IS_NO_YEAR)?,
            (_, []) => self.written_date(text, row)?.year(&self.known.dates)?,
            _ => self.date(text, row)?.year(),
        };
        // No company is older; an earlier year is a placeholder or a typing error.
        if (1000..=9999).contains(&year) { Ok(year.to_string()) } else { Err(IS_NO_YEAR.into()) }
    }
}

const IS_NO_YEAR: &str = "is not a year from 1000 to 9999";

const IS_PLACEHOLDER: &str = "is a placeholder, not a name";

fn not_a_date(formats: &[DateFormat]) -> Cow<'static, str> {
    match formats {
        [] => "is not a date, such as `2026-11-20`; name its format in `dates`, as in `dates = [\"%d %m %Y\"]`".into(),
        formats => {
            let formats: Vec<&str> = formats.iter().map(|format| &*format.text).collect();
            format!("is not a date of the form {}; name its format in `dates`", formats.join(", ")).into()
        }
    }
}

static EMAIL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+").expect("a valid expression"));

const IS_EMAIL: &str = "is an e-mail address, which is private";

pub(crate) fn has_email(text: &str) -> bool {
    text.contains('@') && EMAIL.is_match(text)
}

fn refuse_email(text: &str) -> Result<(), Cow<'static, str>> {
    if has_email(text) { Err(IS_EMAIL.into()) } else { Ok(()) }
}

fn check_length(text: &str, max: usize) -> Result<(), Cow<'static, str>> {
    let is_long = text.len() > max && text.chars().count() > max;
    if is_long { Err(format!("has more than {max} characters").into()) } else { Ok(()) }
}

/// A formula of a spreadsheet, with the text that a link shows.
static FORMULA: LazyLock<Regex> = LazyLock::new(|| {
    let link = r#"HYPERLINK\(\s*"[^"]*"\s*[,;]\s*"(?<text>[^"]+)"\s*\)"#;
    Regex::new(&format!(r"(?i)^=(?:{link}$|[@+-]?[\p{{Lu}}\p{{Ll}}.]+\d*[(:+*/&!-]|[\p{{Lu}}]{{1,3}}\d+$|['\(])"))
        .expect("a valid expression")
});

fn convert_line(text: &str) -> Result<String, Cow<'static, str>> {
    let shown = match Some(text.trim()).filter(|text| text.starts_with('=')).and_then(|text| FORMULA.captures(text)) {
        Some(found) => found.name("text").ok_or("is a formula; save the values of the sheet")?.as_str(),
        None => text,
    };
    let mut line = clean_line(shown);
    if line.contains("  ") || line.contains(|char: char| char.is_whitespace() && char != ' ') {
        line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    }
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

fn read_word<V: Vocabulary>(word: Option<V>) -> Result<String, Cow<'static, str>> {
    word.map(|word| word.name().to_owned()).ok_or_else(|| {
        let noun = with_article(V::NOUN);
        format!("is not {noun}: {}; translate it with `map`", V::names().join(", ")).into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::{EntityKind, Statement};

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
    fn names_are_cleaned_and_formulas_are_none() {
        for (text, name) in [
            ("Alder  \u{a0}Capital", Some("Alder Capital")),
            ("\u{3000}Alder\u{202f}Labs ", Some("Alder Labs")),
            (r#"=HYPERLINK("https://alder.example";"Alder")"#, Some("Alder")),
            ("=VLOOKUP(A2;B:C;2)", None),
            ("=A2&B2", None),
            ("=B7", None),
            ("='Sheet 1'!A2", None),
            ("+1 Ventures", Some("+1 Ventures")),
            ("= Equal", Some("= Equal")),
        ] {
            assert_eq!(convert_line(text).ok().as_deref(), name, "{text}");
        }
    }

    #[test]
    fn slugs_are_folded_words_of_bounded_length() {
        assert_eq!(slug("Ünïcorn & Söhne").as_deref(), Some("unicorn-and-sohne"));
        assert_eq!(slug("★"), None);
        assert!(slug(&"word ".repeat(50)).unwrap().len() <= MAX_SLUG);
    }

    /// The values of a table after an import, as `key field value`, and what was left out.
    fn imported(mapping: &str, table: &str) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let source = "[source]\nid = \"s\"\ntitle = \"S\"\nlicense = \"CC0-1.0\"\n[input.t]\nfile = \"t.csv\"\n";
        std::fs::write(path("map.toml"), format!("{source}{mapping}")).unwrap();
        std::fs::write(path("t.csv"), table).unwrap();
        let import = crate::sources::import::Import::mapping(&path("map.toml"), vec![path("t.csv")]).unwrap();
        let to = tempfile::tempdir().unwrap();
        let summary = import.run(to.path(), "2026-11-20".parse().unwrap(), &data::NoProgress).unwrap();
        let sources = crate::sources::Source::list(to.path()).unwrap();
        let statements = sources[0].statements(to.path()).unwrap().map(Result::unwrap);
        let is_needed = |statement: &Statement| {
            statement.entity.kind == EntityKind::Round && ["startup", "stage"].contains(&&*statement.field)
        };
        let values = statements.filter(|statement| statement.field != "name" && !is_needed(statement));
        let values = values
            .map(|one| format!("{} {} {}", one.entity.to_string().split_once(':').unwrap().1, one.field, one.value));
        let fields = summary.sections.iter().flat_map(|section| &section.fields);
        let dropped =
            fields.flat_map(|field| &field.dropped).map(|dropped| format!("{} {}", dropped.first, dropped.reason));
        let named = dropped.map(|text| text.rsplit_once("t.csv:").unwrap().1.to_owned());
        (values.collect(), named.collect())
    }

    #[test]
    fn a_vocabulary_adds_to_the_words_of_a_field_and_a_default_replaces_what_is_unknown() {
        let mapping = "[[startup]]\nkey = \"Id\"\nname = \"Id\"\n\
                       stage = { column = \"Stage\", map = \"stages\", default = \"other\", unknown = \"drop\" }\n\
                       status = { column = \"State\", unknown = \"drop\" }\n[vocabulary.stages]\n\"Kickoff\" = \"seed\"\n";
        let (values, dropped) = imported(mapping, "Id,Stage,State\na,Kickoff,Active\nb,A轮,N/A\nc,Zebra,Private\n");
        assert_eq!(values, ["a stage seed", "a status operating", "b stage series-a", "c stage other"]);
        assert!(
            dropped[0].starts_with("4: \"Zebra\" in Stage is not a stage")
                && dropped[1].starts_with("4: \"Private\" in State"),
            "{dropped:?}"
        );
    }

    #[test]
    fn a_stage_that_the_source_does_not_know_is_missing_and_a_word_that_is_not_known_is_reported() {
        let mapping = "[[startup]]\nkey = \"Id\"\nname = \"Id\"\nstage = { column = \"Stage\", unknown = \"drop\" }\n";
        let table =
            "Id,Stage\na,Undisclosed\nb,Venture - Series Unknown\nc,Corporate Round\nd,Kickoff\ne,confidential\n";
        let (values, dropped) = imported(mapping, table);
        assert_eq!(values, ["c stage other"]);
        assert!(dropped.len() == 1 && dropped[0].starts_with("5: \"Kickoff\" in Stage is not a stage"), "{dropped:?}");
    }

    #[test]
    fn columns_are_read_by_all_of_their_cells() {
        let mapping = "[[startup]]\nkey = \"Id\"\nname = \"Id\"\ncountry = { column = \"C\", unknown = \"drop\" }\n\
                       city = { column = \"P\", do = [\"place(city)\"], unknown = \"drop\" }\n\
                       founded_year = \"F\"\naliases = \"A\"\nsectors = { column = \"S\", do = [\"list\"] }\n\
                       [[round]]\nkey = \"Id\"\nstartup = { column = \"Id\", by = \"name\", create = true }\n\
                       stage = { value = \"seed\" }\nannounced_on = { column = \"D\", unknown = \"drop\" }\n\
                       amount_usd = { column = \"M\", currency = \"USD\", unknown = \"drop\" }\n";
        let table = "Id,C,P,F,A,S,D,M\na,NA,\"Austin, TX\",2019.0,None,\"['x', 'y']\",3/4/2009,250.000\n\
                     b,n/a,Remote,23831,X; Y,\"x, y\",25/4/2009,\"1.500.000,00\"\nc,DE,-,nan,-,-,1970-01-01,0\n";
        let (values, dropped) = imported(mapping, table);
        let has = |value: &str| values.iter().any(|known| known == value);
        for value in [
            "a country NA",
            "a city Austin",
            "a founded_year 2019",
            "a aliases None",
            "a announced_on 2009-04-03",
            "a amount_usd 250000",
            "b aliases X",
            "b aliases Y",
            "b announced_on 2009-04-25",
            "b amount_usd 1500000",
            "c country DE",
        ] {
            assert!(has(value), "{value}: {values:#?}");
        }
        assert_eq!(values.iter().filter(|value| value.contains(" sectors ")).count(), 4);
        assert!(!values.iter().any(|value| value.starts_with("c ") && !value.contains("country")), "{values:?}");
        for text in [
            "3: \"Remote\" in P is no city",
            "3: \"23831\" in F is a number",
            "4: \"1970-01-01\" in D is a day that is written",
        ] {
            assert!(dropped.iter().any(|known| known.starts_with(text)), "{text}: {dropped:#?}");
        }
    }

    #[test]
    fn a_column_that_contradicts_itself_is_left_out_with_its_lines() {
        let mapping = "[[round]]\nkey = \"Id\"\nstartup = { column = \"Id\", by = \"name\", create = true }\n\
                       stage = { value = \"seed\" }\nannounced_on = { column = \"D\", unknown = \"drop\" }\n\
                       amount_usd = { column = \"M\", currency = \"USD\", unknown = \"drop\" }\n";
        let (values, dropped) = imported(
            mapping,
            "Id,D,M\na,31/12/2020,\"1.500.000,00\"\nb,12/31/2020,\"1,500,000.00\"\nc,1/2/2020,2000000\n",
        );
        assert_eq!(values, ["c amount_usd 2000000"]);
        for text in [
            "line 2 has the day first (\"31/12/2020\"), line 3",
            "line 3 has a decimal point (\"1,500,000.00\"), line 2",
        ] {
            assert!(dropped.iter().any(|known| known.contains(text)), "{text}: {dropped:#?}");
        }
    }

    #[test]
    fn the_latest_row_is_that_of_the_latest_date_in_any_order_of_day_and_month() {
        let mapping = "[[startup]]\nkey = \"Id\"\nlatest_by = \"D\"\nname = \"Id\"\nfounded_year = \"F\"\n";
        let (values, _) =
            imported(mapping, "Id,D,F\na,2/12/2020,2001\na,13/1/2020,2002\nb,3/2/2020,2003\nb,1/3/2020,2004\n");
        assert_eq!(values, ["a founded_year 2001", "b founded_year 2004"]);
    }
}
