//! Guesses the meaning of each column of a file.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::sources::EntityKind;
use crate::sources::field::{FieldForm, SourceField};
use crate::sources::guess::sample::Sample;
use crate::sources::guess::{FileDescription, quote, values};
use crate::sources::mapping::date_format::DateFormat;
use crate::sources::money;
use data::fold::{fold, spaced};
use data::vocabulary::Vocabulary;
use data::{Country, FirmKind, Stage, StartupStatus, identifier, word_file};

pub(crate) struct Guess {
    pub kind: EntityKind,
    pub columns: Vec<ColumnGuess>,
    pub none: Vec<String>,
    /// Unknown values of closed vocabularies, by field.
    pub vocabularies: BTreeMap<String, Vec<(String, String)>>,
}

pub(crate) struct ColumnGuess {
    pub header: String,
    /// Field of the column; `None` if it is left out.
    pub field: Option<&'static str>,
    /// Line of the mapping, or the reason if there is none.
    pub line: Result<String, String>,
}

impl Guess {
    fn headers(&self, columns: &[usize]) -> String {
        columns.iter().map(|index| quote(&self.columns[*index].header)).collect::<Vec<_>>().join(", ")
    }

    /// Joins columns into one line at the first of them.
    fn join_lines(&mut self, columns: &[usize], line: String, remark: &str) {
        for index in columns {
            let column = &mut self.columns[*index];
            column.line = Ok(format!("# {} {remark}", quote(&column.header)));
        }
        self.columns[columns[0]].line = Ok(line);
    }

    fn apply(&mut self, described: &FileDescription) {
        for column in &mut self.columns {
            if let Some(format) = described.dates.get(&column.header)
                && let Some(field @ ("founded_year" | "announced_on")) = column.field
            {
                let (header, format) = (quote(&column.header), quote(format));
                column.line = Ok(format!("{field} = {{ column = {header}, dates = [{format}] }}"));
            }
            // The primary key consists of all of its columns.
            if !described.key.is_empty() && column.field == Some("key") {
                column.field = None;
                column.line = Err("not the primary key; left out".to_owned());
            }
        }
        let is_name = described.key.len() == 1 && self.header_of("name") == Some(&described.key[0]);
        if let ([first, ..], false) = (&*described.key, is_name) {
            let headers: Vec<String> = described.key.iter().map(|header| quote(header)).collect();
            let line = Ok(format!("key = {{ columns = [{}] }}", headers.join(", ")));
            self.columns.push(ColumnGuess { header: first.clone(), field: Some("key"), line });
        }
    }

    /// Header of the first column that is used for a field.
    pub(super) fn header_of(&self, field: &str) -> Option<&str> {
        let is_used = |column: &&ColumnGuess| column.line.is_ok() && column.field == Some(field);
        self.columns.iter().find(is_used).map(|column| &*column.header)
    }
}

const NONE: [&str; 12] = ["N/A", "n/a", "NA", "None", "NONE", "NULL", "null", "\\N", "-", "--", "unknown", "Unknown"];

/// Words of a header: `Entity.LegalName` becomes `entity legal name`.
pub(super) fn words(header: &str) -> Vec<String> {
    fold(&spaced(header)).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

struct HeaderPattern {
    field: &'static str,
    words: Vec<&'static str>,
    /// True if other words may come first.
    is_end: bool,
}

static PATTERNS: LazyLock<Vec<HeaderPattern>> = LazyLock::new(|| {
    let patterns = word_file::entries(include_str!("headers.txt")).filter_map(|line| line.split_once(": "));
    let patterns = patterns.flat_map(|(field, headers)| {
        headers.split(", ").map(move |header| {
            let text = header.trim_start_matches('*');
            HeaderPattern { field, words: text.split(' ').collect(), is_end: text.len() < header.len() }
        })
    });
    patterns.collect()
});

impl HeaderPattern {
    /// Score of a header's match; a whole header scores higher than an end with the same words.
    fn score(&self, header: &[String]) -> Option<usize> {
        let at = header.len().checked_sub(self.words.len())?;
        let is_match = header[at..] == self.words && (at == 0 || self.is_end);
        is_match.then(|| self.words.len() * 2 + usize::from(at == 0))
    }
}

/// Fields that a header may mean with their scores, the best first.
fn candidates(header: &[String]) -> Vec<(&'static str, usize)> {
    let scores = |header: &[String]| -> Vec<(&'static str, usize)> {
        PATTERNS.iter().filter_map(|pattern| Some((pattern.field, pattern.score(header)?))).collect()
    };
    let mut found = scores(header);
    if let [words @ .., unit] = header
        && found.is_empty()
        && ["usd", "eur", "gbp"].contains(&unit.as_str())
    {
        found = scores(words);
    }
    found.sort_by_key(|(_, score)| std::cmp::Reverse(*score));
    found
}

/// Maps the field of a pattern to a field of the kind, which may have another name; `None` if the kind has none.
fn field_of(kind: EntityKind, pattern: &'static str) -> Option<&'static str> {
    let field = match (pattern, kind) {
        ("round_stage" | "stage", EntityKind::Round) => "stage",
        ("person_name", EntityKind::Person) => "name",
        ("first_name" | "last_name", EntityKind::Person) => pattern,
        ("name", EntityKind::Round | EntityKind::Person) => return None,
        ("key", _) => "key",
        ("location", EntityKind::Firm | EntityKind::Startup) => "location",
        (id, EntityKind::Firm | EntityKind::Startup) if id.starts_with("id.") => id,
        (other, kind) => SourceField::named(kind, other)?.name,
    };
    Some(field)
}

/// Kind of a file's rows, by its name and headers.
fn kind_of(path: &str, headers: &[Vec<String>]) -> EntityKind {
    let file = words(path.rsplit('/').next().unwrap_or_default()).join(" ");
    let best: Vec<_> = headers.iter().filter_map(|header| candidates(header).first().copied()).collect();
    let has = |field: &str| best.iter().any(|(known, score)| *known == field && *score > 2);
    let names = |words: &[&str]| words.iter().any(|word| file.contains(word));
    if names(&["round", "deal", "investments", "transaction", "award"])
        || has("amount_usd") && (has("announced_on") || has("round_stage"))
    {
        EntityKind::Round
    } else if names(&["people", "person", "jobs", "team", "founders", "contacts"])
        || has("first_name") && has("last_name")
    {
        EntityKind::Person
    } else if names(&["investor", "firm", "vcs", "funds", "adviser", "advisor", "angels"])
        || ["check_min_usd", "check_max_usd", "aum_usd", "stages", "id.crd"].iter().any(|field| has(field))
        || headers.iter().any(|header| header.first().is_some_and(|word| word == "investor"))
    {
        EntityKind::Firm
    } else {
        EntityKind::Startup
    }
}

pub(crate) fn guess(path: &str, sample: &Sample, described: &FileDescription) -> Guess {
    // The unit of amounts is not part of the field's name: `AUM ($M)`.
    let bare = |header: &String| match money::unit_of_header(header) {
        Some((unit, _)) => words(&header.replace(unit, "")),
        None => words(header),
    };
    let headers: Vec<Vec<String>> = sample.headers.iter().map(bare).collect();
    let kind = kind_of(path, &headers);
    let mut guess = Guess { kind, columns: Vec::new(), none: Vec::new(), vocabularies: BTreeMap::new() };
    let described_none = described.none.iter().map(String::as_str).filter(|none| !none.is_empty());
    for none in NONE.into_iter().chain(described_none) {
        if sample.values.iter().flatten().any(|value| value == none) && !guess.none.iter().any(|known| known == none) {
            guess.none.push(none.to_owned());
        }
    }
    for (header, header_words) in sample.headers.iter().zip(&headers) {
        let line = Err("not known; left out".to_owned());
        let mut column = ColumnGuess { header: header.clone(), field: None, line };
        for (pattern, _) in candidates(header_words) {
            match pattern {
                "!" => column.line = Err("private; left out".to_owned()),
                "-" => column.line = Err("left out".to_owned()),
                _ => {
                    column.field = field_of(kind, pattern);
                    if column.field.is_none() {
                        continue;
                    }
                }
            }
            break;
        }
        guess.columns.push(column);
    }
    keep_the_best(&mut guess, &headers);
    for index in 0..guess.columns.len() {
        let Some(field) = guess.columns[index].field else { continue };
        let values = sample.values.get(index).into_iter().flatten().map(String::as_str);
        let values: Vec<&str> = values.filter(|value| !guess.none.iter().any(|none| none == value)).collect();
        let line = line_of(&mut guess, index, field, &values);
        let column = &mut guess.columns[index];
        column.field = column.field.filter(|_| line.is_ok());
        column.line = line;
    }
    merge_lines(&mut guess);
    guess.apply(described);
    guess
}

/// Keeps only the best of several columns for a field that takes one value.
fn keep_the_best(guess: &mut Guess, headers: &[Vec<String>]) {
    let score = |index: usize| candidates(&headers[index]).first().map_or(0, |(_, score)| *score);
    for index in 0..guess.columns.len() {
        let Some(field) = guess.columns[index].field else { continue };
        if field.starts_with("id.") || SourceField::named(guess.kind, field).is_some_and(|known| known.is_list) {
            continue;
        }
        let same: Vec<usize> = (0..guess.columns.len()).filter(|at| guess.columns[*at].field == Some(field)).collect();
        let best = same.iter().copied().max_by_key(|other| (score(*other), std::cmp::Reverse(*other)));
        for other in same.into_iter().filter(|other| Some(*other) != best) {
            // A second name becomes an alias.
            let is_name = field == "name" && SourceField::named(guess.kind, "aliases").is_some();
            let column = &mut guess.columns[other];
            column.field = is_name.then_some("aliases");
            column.line = Err(format!("also `{field}`; left out"));
        }
    }
}

/// Mapping line of a column; `Err` has the reason to leave it out.
fn line_of(guess: &mut Guess, index: usize, field: &str, values: &[&str]) -> Result<String, String> {
    let header = quote(&guess.columns[index].header);
    if let Some(scheme) = field.strip_prefix("id.") {
        let valid = values.iter().filter(|value| identifier::normalize(scheme, value).is_ok()).count();
        let is_weak = valid * 2 < values.len();
        let is_item = scheme == "wikidata" && values.is_empty();
        return match is_weak || is_item {
            true => Err(format!("its values are not of the scheme `{scheme}`")),
            false => Ok(format!("{field} = {{ column = {header}, unknown = \"drop\" }}")),
        };
    }
    if ["first_name", "last_name", "key"].contains(&field) {
        return Ok(format!("{field} = {header}"));
    }
    if field == "location" {
        if guess.columns.iter().any(|column| matches!(column.field, Some("country" | "city"))) {
            return Err("country and city have their own columns; left out".to_owned());
        }
        let is_street =
            |value: &str| value.split(',').next().is_some_and(|part| part.contains(|char: char| char.is_ascii_digit()));
        if !values::are_locations(values) || values.iter().any(|value| is_street(value)) {
            return Err("its values are not cities with their country".to_owned());
        }
        return Ok(format!(
            "{}\ncity = {{ column = {header}, do = [\"regex(^([^,]+),)\"] }}",
            values::country_line(&header)
        ));
    }
    let known = SourceField::named(guess.kind, field).ok_or("not a field")?;
    let separator = separator(values).filter(|_| known.is_list);
    let split = separator.map_or_else(String::new, |text| format!(", do = [{}]", quote(&format!("split({text})"))));
    let parts: Vec<&str> = match known.is_list {
        true => values.iter().flat_map(|value| value.split(separator.unwrap_or("\0"))).map(str::trim).collect(),
        false => values.to_vec(),
    };
    let share = |is_good: &dyn Fn(&str) -> bool| {
        let good = parts.iter().filter(|value| is_good(value)).count();
        parts.is_empty() || good * 10 >= parts.len() * 6
    };
    let table = |more: &str| format!("{field} = {{ column = {header}{split}{more} }}");
    let plain = || if split.is_empty() { format!("{field} = {header}") } else { table("") };
    match known.form {
        FieldForm::Line | FieldForm::Text | FieldForm::Sector => Ok(plain()),
        FieldForm::Website => match share(&|value| value.contains('.') && !value.contains(' ')) {
            true => Ok(table(", unknown = \"drop\"")),
            false => Err("its values are not web addresses".to_owned()),
        },
        FieldForm::Country => match share(&|value| Country::read(value).is_some()) {
            true => Ok(table(", unknown = \"drop\"")),
            false if values::are_locations(values) => Ok(values::country_line(&header)),
            false => Err("its values are not countries".to_owned()),
        },
        FieldForm::Year | FieldForm::Date => {
            let is_year = |value: &str| value.len() == 4 && value.bytes().all(|byte| byte.is_ascii_digit());
            let is_iso =
                |value: &str| value.get(4..5).is_none_or(|char| char == "-") && value.get(..4).is_some_and(is_year);
            if share(&is_iso) {
                return Ok(plain());
            }
            let formats = date_formats(&parts);
            if formats.is_empty() {
                return Err("its values are not dates of a known form".to_owned());
            }
            let list: Vec<String> = formats.iter().map(|format| quote(format)).collect();
            let remark = if formats.len() > 1 { "  # the first that fits: keep the right one" } else { "" };
            Ok(format!("{}{remark}", table(&format!(", dates = [{}]", list.join(", ")))))
        }
        FieldForm::Dollars => values::amount_line(&guess.columns[index].header, field, &parts, &table),
        FieldForm::Stage => Ok(word_line::<Stage>(guess, field, &parts, &table)),
        FieldForm::FirmKind => Ok(word_line::<FirmKind>(guess, field, &parts, &table)),
        FieldForm::StartupStatus => Ok(word_line::<StartupStatus>(guess, field, &parts, &table)),
        FieldForm::Reference(kinds) => {
            let is_key = !parts.is_empty()
                && parts.iter().all(|value| value.len() >= 16 && !value.contains(' ') && value.contains('-'));
            let by = if is_key { "" } else { ", by = \"name\", create = true" };
            let kind = if kinds.len() > 1 { ", kind = \"startup\"" } else { "" };
            Ok(table(&format!("{kind}{by}")))
        }
        FieldForm::Identifier | FieldForm::Rating | FieldForm::ReviewStatus | FieldForm::Slug | FieldForm::Truth => {
            Err("not a field that is guessed".to_owned())
        }
    }
}

/// Mapping line of a field with a closed vocabulary. If values are unknown, the guess gets a vocabulary of the mapping.
fn word_line<V: Vocabulary>(guess: &mut Guess, field: &str, values: &[&str], table: &dyn Fn(&str) -> String) -> String {
    let mut distinct: Vec<&str> = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    // A round must have a stage.
    let default = if guess.kind == EntityKind::Round { ", default = \"other\"" } else { "" };
    let unknown = distinct.iter().filter(|value| V::read(value).is_none()).count();
    if unknown == 0 || distinct.len() > 100 {
        return table(&format!(", unknown = \"drop\"{default}"));
    }
    let meaning = |value: &str| V::read(value).map_or("", V::name).to_owned();
    let words = distinct.iter().map(|value| ((*value).to_owned(), meaning(value)));
    guess.vocabularies.insert(field.to_owned(), words.collect());
    table(&format!(", map = {}, unknown = \"drop\"{default}", quote(field)))
}

fn separator(values: &[&str]) -> Option<&'static str> {
    let count = |separator: &str| values.iter().filter(|value| value.contains(separator)).count();
    let best = ["|", ";", ","].into_iter().rev().max_by_key(|separator| count(separator))?;
    (count(best) > 0).then_some(best)
}

fn date_formats(values: &[&str]) -> Vec<&'static str> {
    const FORMATS: &str =
        "%m/%d/%Y|%d/%m/%Y|%d.%m.%Y|%d-%m-%Y|%Y/%m/%d|%d-%b-%Y|%d-%b-%y|%B %d, %Y|%d %B %Y|%b %Y|%m/%Y|%m/%d/%y";
    let fits = |format: &&str| {
        DateFormat::parse(format).is_ok_and(|format| values.iter().all(|value| format.read(value).is_some()))
    };
    FORMATS.split('|').filter(fits).collect()
}

/// Joins the columns of one field into one line: list fields, and first and last names.
fn merge_lines(guess: &mut Guess) {
    let named = |guess: &Guess, field: &str| -> Vec<usize> {
        let has = |index: &usize| guess.columns[*index].line.is_ok() && guess.columns[*index].field == Some(field);
        (0..guess.columns.len()).filter(has).collect()
    };
    let names: Vec<usize> = [named(guess, "first_name"), named(guess, "last_name")].concat();
    if !names.is_empty() {
        let headers = guess.headers(&names);
        let line = match named(guess, "name").is_empty() {
            true => format!("name = {{ columns = [{headers}], join = \" \" }}"),
            false => format!("# {headers} is in the name"),
        };
        guess.join_lines(&names, line, "is in the name");
    }
    for field in SourceField::of_kind(guess.kind).iter().filter(|field| field.is_list) {
        let same = named(guess, field.name);
        if same.len() > 1 {
            let headers = guess.headers(&same);
            let steps = guess.columns[same[0]].line.as_ref().ok().and_then(|line| line.split_once(", do = "));
            let steps =
                steps.map_or_else(String::new, |(_, rest)| format!(", do = {}", rest.trim_end_matches('}').trim_end()));
            let line = format!("{} = {{ columns = [{headers}]{steps} }}", field.name);
            guess.join_lines(&same, line, &format!("is one of {}", field.name));
        }
    }
}
