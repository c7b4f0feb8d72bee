//! The values of a column: what they look like, and how a mapping reads them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::sources::EntityKind;
use crate::sources::guess::header::{self, Owner, is_unspaced, words};
use crate::sources::guess::quote;
use crate::sources::location::{self, Codes};
use crate::sources::mapping::date_format::{DateEvidence, DateFormat, WrittenDate};
use crate::sources::mapping::list::{self, split_list};
use crate::sources::money::{self, AmountForm, MoneyCell, Notation, Sign};
use data::fold::fold;
use data::import::website;
use data::meaning::Meaning;
use data::name::{OwnName, WordKind};
use data::{Country, FirmKind, PartialDate, word_file};

/// Share of the values that must be of a form.
const MOST: f64 = 0.6;

/// Share from which a column of text is a column of something else.
const SOME: f64 = 0.3;

/// Words of `words.txt` by the name of their line.
static WORDS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let lines = word_file::entries(include_str!("words.txt")).filter_map(|line| line.split_once(": "));
    lines.map(|(name, words)| (name, words.split(", ").collect())).collect()
});

pub(super) fn word_list(name: &str) -> &'static [&'static str] {
    WORDS.get(name).map_or(&[], Vec::as_slice)
}

/// True if a text is one of a list, folded or in lower case.
pub(super) fn is_of_list(list: &str, text: &str) -> bool {
    let list = word_list(list);
    list.contains(&&*fold(text)) || list.contains(&&*text.trim().to_lowercase())
}

/// True for a flag of a list, `yes` or `no`.
pub(super) fn is_of_flag(list: &str, value: &str) -> bool {
    is_word(list, value)
}

fn is_word(list: &str, value: &str) -> bool {
    word_list(list).contains(&value.to_lowercase().as_str())
}

/// Share of the values that pass a test; 0 without values.
pub(super) fn share(values: &[&str], test: impl Fn(&str) -> bool) -> f64 {
    values.iter().filter(|value| test(value)).count() as f64 / values.len().max(1) as f64
}

pub(super) fn most(values: &[&str], test: impl Fn(&str) -> bool) -> bool {
    !values.is_empty() && share(values, test) >= MOST
}

pub(super) fn some(values: &[&str], test: impl Fn(&str) -> bool) -> bool {
    !values.is_empty() && share(values, test) >= SOME
}

pub(super) fn distinct<'v>(values: &[&'v str]) -> BTreeSet<&'v str> {
    values.iter().copied().collect()
}

/// True for a number, an amount or a share: digits, with at most a few letters of a unit or currency.
pub(super) fn is_number(value: &str) -> bool {
    let letters = value.chars().filter(|char| char.is_alphabetic()).count();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    digits > 0 && letters == 0
}

pub(super) fn is_year(value: &str) -> bool {
    let value = money::normalized(value);
    let year = value.strip_suffix(".0").unwrap_or(&value);
    year.len() == 4 && year.parse().is_ok_and(|year: u16| (1000..=2200).contains(&year))
}

pub(super) fn is_address(value: &str) -> bool {
    let host = website::host(value);
    let is_host = |host: &str| {
        let ending = host.rsplit('.').next().unwrap_or_default();
        host.contains('.') && ending.len() > 1 && ending.chars().all(char::is_alphabetic)
    };
    !value.contains([' ', '@', ',']) && is_host(&host)
}

pub(super) fn is_email(value: &str) -> bool {
    value.split_once('@').is_some_and(|(name, host)| !name.is_empty() && host.contains('.') && !value.contains("://"))
}

pub(super) fn is_flag(value: &str) -> bool {
    // Those of the members of a list in JSON are between bars.
    value.split('|').all(|value| is_word("yes", value) || is_word("no", value))
}

/// True for an abbreviated title before a name, such as `Ing.` or `prof. Dr.`: what a person is, not what it does.
pub(super) fn is_degree(value: &str) -> bool {
    let is_short = |word: &str| word.ends_with('.') && word.chars().count() <= 6;
    value.split_whitespace().all(is_short) && value.split_whitespace().count() <= 3
}

/// True if the values are words within names, such as `van der` and `de`.
pub(super) fn are_particles(values: &[&str]) -> bool {
    let is_word =
        |word: &str| word.chars().count() <= 5 && word.chars().all(|char| char.is_lowercase() || "'’".contains(char));
    let is_particle = |value: &&str| value.split_whitespace().all(is_word) && value.split_whitespace().count() <= 3;
    !values.is_empty() && values.iter().all(is_particle)
}

/// True for a code or number that identifies something, such as `677`, `D-1042` or a UUID.
pub(super) fn is_code(value: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let is_plain = value.chars().all(|char| char.is_ascii_alphanumeric() || "-_:/.".contains(char));
    is_plain && has_digit && !value.contains("://")
}

pub(super) fn is_date(value: &str) -> bool {
    let is_other = || {
        let has = |test: fn(&char) -> bool| value.chars().any(|char| test(&char));
        has(|char| char.is_numeric()) && has(|char| !char.is_numeric()) && WrittenDate::read(value).is_some()
    };
    is_iso_date(value) || FORMATS.iter().any(|format| reads(format, value)) || is_other()
}

pub(super) fn reads(format: &str, value: &str) -> bool {
    DateFormat::parse(format).is_ok_and(|format| format.read(value).is_some())
}

/// A date of any usual form in which neither number may be the day or the month.
pub(super) fn clear_date(value: &str) -> Option<PartialDate> {
    match WrittenDate::read(value) {
        Some(WrittenDate::Known(date, None)) => Some(date),
        _ => None,
    }
}

/// True for the precision of a date: `day`, `month`.
pub(super) fn is_precision(value: &str) -> bool {
    ["day", "month", "year"].contains(&value)
}

fn is_iso_date(value: &str) -> bool {
    ["%Y-%m-%d", "%Y-%m"].iter().any(|format| reads(format, value))
}

/// True for a word of the names of firms that invest, folded.
pub(crate) fn is_firm_word(word: &str) -> bool {
    word_list("firms").contains(&word)
}

/// True for a name with a word of firms that invest.
pub(crate) fn has_firm_word(value: &str) -> bool {
    let lower = value.to_lowercase();
    words(value).iter().any(|word| is_firm_word(word))
        || word_list("firm parts").iter().any(|part| lower.contains(part))
}

/// True for a text with a word of a list, in whichever script.
pub(super) fn has_word(list: &str, text: &str) -> bool {
    let (list, lower) = (word_list(list), text.to_lowercase());
    words(text).iter().any(|word| list.contains(&word.as_str()))
        || list.iter().any(|word| !word.is_ascii() && lower.contains(word))
}

/// Kind of the organization that a label of a person names: a kind of investors, or a startup and those who found it.
pub(super) fn labelled(label: &str) -> Option<EntityKind> {
    let meaning = header::Meaning::read(label);
    let is_of = |owner| meaning.owner() == Some(owner) && meaning.unknown == 0 && !meaning.has("title");
    let is_investor = !matches!(
        FirmKind::meaning(label),
        None | Some(FirmKind::Corporate | FirmKind::Bank | FirmKind::Government | FirmKind::University)
    );
    match () {
        () if is_investor || is_of(Owner::Firm) => Some(EntityKind::Firm),
        () if is_of(Owner::Startup) || has_word("founders", label) => Some(EntityKind::Startup),
        () => None,
    }
}

/// True if the values are ranges of amounts.
pub(super) fn are_ranges(values: &[&str]) -> bool {
    most(values, |value| matches!(MoneyCell::read(value), Some(MoneyCell::Range(..))))
}

/// True if the values may be names of firms, startups or people.
pub(super) fn are_names(values: &[&str]) -> bool {
    let is_name = |value: &str| {
        let length = value.chars().count();
        let words = value.split_whitespace().count();
        length <= 120
            && words <= 9
            && value.chars().any(char::is_alphabetic)
            && (!is_address(value) || !value.contains("://"))
            && !is_email(value)
            && !is_date(value)
            && !value.starts_with(['[', '{'])
    };
    let distinct = distinct(values);
    share(values, is_name) >= 0.9
        && !some(values, is_flag)
        && (values.len() <= 3 || distinct.len() > 1)
        && !most(values, is_uuid)
        && !most(values, |value| is_code(value) && is_counted(value))
        && (distinct.len() <= 1 || !most(values, |value| Country::read(value).is_some() && value.len() > 3))
        && !are_words(values)
}

/// True for a code with a number at its end: `D-1042`.
fn is_counted(value: &str) -> bool {
    value.bytes().filter(u8::is_ascii_digit).count() * 2 >= value.len()
        || value.bytes().rev().take(3).all(|byte| byte.is_ascii_digit())
}

pub(super) fn is_uuid(value: &str) -> bool {
    value.len() >= 32 && value.chars().all(|char| char.is_ascii_hexdigit() || char == '-')
}

/// True if most values are words of a closed vocabulary.
fn are_words(values: &[&str]) -> bool {
    is_vocabulary::<data::Stage>(values)
        || is_vocabulary::<data::FirmKind>(values)
        || is_vocabulary::<data::StartupStatus>(values)
}

/// True if most values are of a vocabulary. Single letters may be names.
pub(super) fn is_vocabulary<V: Meaning>(values: &[&str]) -> bool {
    most(values, |value| value.chars().count() > 1 && (V::meaning(value).is_some() || V::is_unknown(value)))
}

/// True if the values may be names of people: two to four words without one of firms.
pub(super) fn are_people(values: &[&str]) -> bool {
    let is_person = |value: &str| {
        let count = value.split_whitespace().count();
        let is_short = value.contains(is_unspaced) && (2..=6).contains(&value.chars().count());
        let is_name = |value: &str| value.chars().all(|char| char.is_alphabetic() || " .'’-".contains(char));
        let folded = fold(value);
        let words: Vec<&str> = folded.split(' ').collect();
        let is_legal =
            WordKind::classify(&words).iter().any(|kind| matches!(kind, WordKind::Legal | WordKind::Generic(_)));
        (is_short || (2..=4).contains(&count)) && is_name(value) && !has_firm_word(value) && (!is_legal || is_short)
    };
    are_names(values) && share(values, is_person) >= 0.8
}

/// True if the values are addresses of websites of their own: not of profiles on one host.
pub(super) fn are_websites(values: &[&str]) -> bool {
    let hosts: BTreeSet<String> = values.iter().map(|value| website::host(value)).collect();
    let is_own = |value: &str| is_address(value) && !OwnName::parse(&website::host(value)).is_of_profiles();
    most(values, is_own) && !most(values, is_article) && (values.len() < 3 || hosts.len() * 2 > distinct(values).len())
}

/// True for the address of a page about something: it has a title as its path.
fn is_article(value: &str) -> bool {
    let (_, rest) = value.split_once("://").unwrap_or(("", value));
    let path = rest.split_once('/').map_or("", |(_, path)| path.trim_matches('/'));
    path.len() > 12 && path.contains(['-', '_', '/'])
}

/// True if the country of most values can be read, as in `Paris, France`.
pub(super) fn are_locations(values: &[&str]) -> bool {
    let [mut known, mut seen] = [Codes::default(), Codes::default()];
    values.iter().for_each(|value| drop(location::read_country("", value, &known, &mut seen)));
    std::mem::swap(&mut known, &mut seen);
    let is_read = |value: &&&str| value.contains(',') && location::read_country("", value, &known, &mut seen).is_ok();
    values.iter().filter(is_read).count() as f64 >= values.len() as f64 * MOST
}

/// True if values begin with the number of a street.
pub(super) fn are_streets(values: &[&str]) -> bool {
    let first =
        |value: &str| value.split(',').next().is_some_and(|part| part.contains(|char: char| char.is_ascii_digit()));
    values.iter().any(|value| first(value))
}

/// Step that divides the cells of a list; `None` if the cells do not tell how. An empty text divides nothing.
pub(super) fn list_step(values: &[&str]) -> Option<&'static str> {
    let (mut lists, mut unsure) = (0, 0);
    for value in values {
        match split_list(value) {
            Ok(parts) => lists += usize::from(parts.len() > 1),
            Err(_) => unsure += 1,
        }
    }
    match (lists, unsure) {
        (0, 0) => Some(""),
        // A few cells that may be one name or two are left out by the import.
        _ if lists > 0 && unsure * 10 <= values.len() => Some("list"),
        _ => None,
    }
}

/// The parts of the cells of a list.
pub(super) fn split(values: &[&str], step: &str) -> Vec<String> {
    match step {
        "" => values.iter().map(|value| (*value).to_owned()).collect(),
        _ => values.iter().filter_map(|value| split_list(value).ok()).flatten().collect(),
    }
}

const FORMATS: [&str; 17] = [
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d.%m.%Y",
    "%d-%m-%Y",
    "%m-%d-%Y",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d-%b-%Y",
    "%d-%b-%y",
    "%B %d, %Y",
    "%d %B %Y",
    "%b %Y",
    "%m/%Y",
    "%m/%d/%y",
    "%d/%m/%y",
    "%d.%m.%y",
    "%Y年%m月%d日",
];

/// The word between names that are to be divided, such as ` and `, if it joins nothing else: the last two of a list, or names
/// that are values of their own elsewhere.
pub(super) fn joining_word(parts: &[String], cells: &[&str]) -> Option<String> {
    let ends_list =
        |part: &String| cells.iter().any(|cell| cell.len() > part.len() + 1 && cell.trim_end().ends_with(&**part));
    list::words_of("and").map(|word| format!(" {word} ")).find(|between| {
        let (joined, single): (Vec<&String>, Vec<&String>) = parts.iter().partition(|part| part.contains(between));
        let is_known = |name: &str| single.iter().any(|part| *part == name);
        // `&` is in names of one firm, too.
        let is_divided = |part: &String| match between.trim() {
            "&" => part.split(between).all(is_known),
            _ => ends_list(part) || part.split(between).any(is_known),
        };
        !joined.is_empty() && joined.iter().all(|part| is_divided(part))
    })
}

/// The notes behind or before names: true for those that say that an investor leads a round.
fn notes(values: &[&str]) -> impl Iterator<Item = bool> {
    let parts = values.iter().flat_map(|value| split_list(value).unwrap_or_default());
    parts.filter_map(|part| list::note(&part).map(|(_, is_lead)| is_lead))
}

/// True if some names have notes: an address, a person, or the role of an investor.
pub(super) fn have_notes(values: &[&str]) -> bool {
    notes(values).next().is_some()
}

/// True if some names have a note that they lead a round.
pub(super) fn have_leads(values: &[&str]) -> bool {
    notes(values).any(|is_lead| is_lead)
}

/// How dates are read: what a mapping adds to the table of the field, such as `, dates = ["%d.%m.%Y"]`.
pub(super) fn date_forms(header: &str, values: &[&str], is_year_enough: bool) -> Result<String, (String, String)> {
    if values.is_empty() {
        return Err(("has no values".to_owned(), String::new()));
    }
    // A few misprints do not hide what the others are; the import leaves them out.
    let dates: Vec<&str> = values.iter().copied().filter(|value| is_date(value) || is_year(value)).collect();
    let is_misprinted = dates.len() < values.len() && dates.len() >= 2 && dates.len() * 4 >= values.len() * 3;
    if !is_misprinted {
        return form_of_dates(header, values, is_year_enough);
    }
    let form = form_of_dates(header, &dates, is_year_enough)?;
    Ok(format!("{form}, unknown = \"drop\""))
}

/// True if a header states that days precede months, as `Date (dd/mm/yyyy)`, false for the reverse.
fn states_day_first(header: &str) -> Option<bool> {
    let words = words(header);
    let place = |names: &[&str]| words.iter().position(|word| names.contains(&word.as_str()));
    let (day, month) = (place(&["dd", "d", "tt", "jj", "дд"])?, place(&["mm", "m", "мм"])?);
    (day.abs_diff(month) == 1).then_some(day < month)
}

/// The same of values that are dates.
fn form_of_dates(header: &str, values: &[&str], is_year_enough: bool) -> Result<String, (String, String)> {
    // Years of other calendars are read as nobody means them.
    let is_common = |value: &str| match WrittenDate::read(value) {
        Some(WrittenDate::Known(date, _) | WrittenDate::Ambiguous { day_first: date, .. }) => {
            (1600..=2200).contains(&date.year())
        }
        _ => true,
    };
    if !most(values, is_common) {
        return Err(("its years are not of the common calendar; write them in it".to_owned(), String::new()));
    }
    let is_plain = |value: &str| is_iso_date(value) || (is_year_enough && value.len() == 4 && is_year(value));
    if share(values, is_plain) >= 0.9 {
        return Ok(String::new());
    }
    // Programs write whole numbers of a column with gaps as `2019.0`.
    if is_year_enough && share(values, is_year) >= 0.9 && values.iter().all(|value| value.is_ascii()) {
        return Ok(", do = [\"regex(^([0-9]{4})(?:[.]0)?$)\"]".to_owned());
    }
    let formats: Vec<&str> =
        FORMATS.into_iter().filter(|format| share(values, |value| reads(format, value)) >= 0.9).collect();
    let is_serial = |value: &str| matches!(WrittenDate::read(value), Some(WrittenDate::Serial(_)));
    if formats.is_empty() && share(values, |value| is_date(value) || is_year(value) || is_serial(value)) >= 0.9 {
        let mut evidence = DateEvidence::default();
        let written = || values.iter().filter_map(|value| Some((WrittenDate::read(value)?, *value)));
        written().for_each(|(date, value)| evidence.add(&date, 0, value));
        if written().all(|(date, _)| date.decide(None, &evidence).is_ok()) {
            return Ok(String::new());
        }
    }
    let form = |format: &str| format!(", dates = [{}]", quote(format));
    let dates = |format: &str| -> Vec<_> {
        let format = DateFormat::parse(format).ok();
        values
            .iter()
            .map(|value| format.as_ref().and_then(|format| format.read(value)))
            .map(|date| date.map(|date| date.to_string()))
            .collect()
    };
    match &*formats {
        [] => Err(("its values are not dates of a known form".to_owned(), String::new())),
        [first, others @ ..] if others.iter().all(|other| dates(other) == dates(first)) => Ok(form(first)),
        [first, ..] => {
            let is_day_first = |format: &&&str| format.find("%d") < format.find("%m");
            if let Some(stated) = states_day_first(header)
                && let Some(format) = formats.iter().find(|format| is_day_first(format) == stated)
            {
                return Ok(form(format));
            }
            Err(("its days and months may be in either order; if this is the right one".to_owned(), form(first)))
        }
    }
}

/// Currency of a column of amounts, as a mapping has it, and a remark if it is only likely. `column` has the currencies of the
/// rows. `None` if neither the header nor the cells tell.
fn currency(header: &str, cells: &[MoneyCell], column: Option<&str>) -> Option<(String, &'static str)> {
    let of = |sign: &Sign| match sign {
        Sign::Code(code) => Some((quote(code), "")),
        Sign::Shared("$", _) => Some((quote("USD"), "  # dollars of the United States?")),
        Sign::Shared(..) => None,
    };
    if let Some(sign) = money::currency_of_header(header) {
        return of(&sign);
    }
    if let Some(column) = column {
        return Some((format!("{{ column = {column} }}"), ""));
    }
    let signs: Vec<&Sign> = cells.iter().filter_map(MoneyCell::sign).collect();
    let first = *signs.first()?;
    match signs.iter().all(|sign| *sign == first) {
        true => of(first),
        // Amounts without a currency are left out by the import: nothing tells which of the others they have.
        false => (signs.len() * 2 >= cells.len()).then(|| written_currency(&signs)),
    }
}

/// The currency of a column whose cells have different ones, and a remark. A sign of several currencies, such as `Rs`, is that of
/// another cell; `$` is most likely that of the United States.
fn written_currency(signs: &[&Sign]) -> (String, &'static str) {
    let codes: BTreeSet<&str> =
        signs.iter().filter_map(|sign| if let Sign::Code(code) = sign { Some(&**code) } else { None }).collect();
    let mut meant = BTreeSet::new();
    for sign in signs {
        let Sign::Shared(sign, shared) = sign else { continue };
        let mut others = shared.iter().filter(|code| codes.contains(**code));
        match (*sign == "$", others.next(), others.next()) {
            (true, ..) => drop(meant.insert("USD")),
            (false, Some(code), None) => drop(meant.insert(*code)),
            _ => {}
        }
    }
    let remark = if meant.contains("USD") { "  # `$` is of the United States?" } else { "" };
    let meant: Vec<String> = meant.into_iter().map(quote).collect();
    match meant.is_empty() {
        true => (quote("written"), ""),
        false => (format!("{{ written = [{}] }}", meant.join(", ")), remark),
    }
}

/// How amounts are read: what a mapping adds to the table of the field. `column` has the currencies. `Err` has the reason why
/// that is not sure, and what to add if it is. A line of `titles`, above the header, may have the unit of values that are too
/// small without one.
pub(super) fn amount_form(
    header: &str,
    field: &str,
    values: &[&str],
    column: Option<&str>,
    titles: &[String],
) -> Result<String, (String, String)> {
    let cells: Vec<MoneyCell> = values.iter().filter_map(|value| MoneyCell::read(value)).collect();
    if values.is_empty() || (cells.len() as f64) < values.len() as f64 * MOST {
        return Err(("its values are not amounts of money".to_owned(), String::new()));
    }
    let currency = currency(header, &cells, column);
    let signs: Vec<&Sign> = cells.iter().filter_map(MoneyCell::sign).collect();
    let or_else = || if signs.is_empty() { (quote("USD"), "") } else { written_currency(&signs) };
    let (code, remark) = currency.clone().unwrap_or_else(or_else);
    let ranges = cells.iter().filter(|cell| matches!(cell, MoneyCell::Range(..))).count();
    let step = match field {
        _ if ranges == 0 => "",
        "check_max_usd" => ", do = [\"max\"]",
        "check_min_usd" => ", do = [\"min\"]",
        // A few are left out by the import.
        _ if ranges * 5 <= values.len() => "",
        _ => {
            let problem = "has ranges, of which one end has to be taken; if it is the lower";
            return Err((problem.to_owned(), format!(", do = [\"min\"], currency = {code}{remark}")));
        }
    };
    let line = |more: &str| format!("{step}, currency = {code}{more}{remark}");
    let unit = money::unit_of_header(header).map(|(_, unit)| unit);
    let unit_text = match unit.map(money::name_of_unit) {
        None => String::new(),
        Some(Some(name)) => format!(", unit = {}", quote(name)),
        Some(None) => return Err(("the unit of its header is written in no cell".to_owned(), String::new())),
    };
    let form = AmountForm { unit, ..AmountForm::default() };
    let mut notation = Notation::default();
    cells.iter().for_each(|cell| notation.add(cell, &form));
    if notation.has_unexplained_mil() {
        let problem = "its values have `mil`, a thousand in some languages and a million in others; write the word out";
        return Err((problem.to_owned(), String::new()));
    }
    // A comma before three digits groups in the currencies that have a decimal point.
    let is_grouped = || {
        let sign = money::currency_of_header(header).filter(Sign::has_decimal_point);
        sign.is_some() && !cells.iter().any(|cell| cell.has_separator('.'))
    };
    if notation.is_undecided() && is_grouped() {
        return Ok(line(&format!("{unit_text}, decimal = \".\"")));
    }
    if notation.is_undecided() {
        // Three digits behind a point or comma are most likely a group.
        let has = |separator| cells.iter().any(|cell| cell.has_separator(separator));
        let decimal = if has('.') && !has(',') { "," } else { "." };
        let problem = "its values have a decimal point or comma, or groups of digits; say which";
        return Err((problem.to_owned(), line(&format!("{unit_text}, decimal = {}", quote(decimal)))));
    }
    let has_unit =
        |title: &&String| money::unit_of_header(title).is_some() && money::currency_of_header(title).is_some();
    if notation.lacks_unit
        && unit.is_none()
        && let Some(title) = titles.iter().find(has_unit)
    {
        let form = amount_form(&format!("{header} ({title})"), field, values, column, &[])?;
        return Ok(format!("{form}  # as above the header: {}", quote(title)));
    }
    if notation.lacks_unit {
        let problem = "its values are too small without a unit; if they are millions";
        return Err((problem.to_owned(), line(", unit = \"million\"")));
    }
    let line = line(&unit_text);
    match currency {
        Some(_) => Ok(line),
        None if signs.is_empty() => Err(("an amount without a currency; if it is US dollars".to_owned(), line)),
        None => Err(("most of its amounts have no currency; if only the others are to be read".to_owned(), line)),
    }
}

/// Distinct values of a column of a closed vocabulary with their meanings, if one is not known.
pub(super) fn translations<V: Meaning>(
    field: &str,
    values: &[&str],
    is_japanese: bool,
) -> Option<BTreeMap<String, String>> {
    let distinct = distinct(values);
    let is_known = |value: &&str| V::meaning(value).is_some() || V::is_unknown(value);
    if distinct.len() > 100 || distinct.iter().all(is_known) {
        return None;
    }
    // `融資` is a loan in Japanese, and any financing in Chinese.
    let in_japanese = |value: &str| {
        let mut lines = word_list("in japanese").iter().filter_map(|line| line.split_once(" = "));
        lines.find_map(|(word, meaning)| {
            meaning.strip_prefix(field)?.strip_prefix(' ').filter(|_| is_japanese && word == value)
        })
    };
    let meaning =
        |value: &str| V::meaning(value).map(V::name).or_else(|| in_japanese(value)).unwrap_or_default().to_owned();
    let pairs = distinct.into_iter().map(|value| (value.to_owned(), meaning(value)));
    Some(pairs.collect())
}
