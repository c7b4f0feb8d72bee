//! Guesses a first mapping from the headers and values of files.
//! The result is TOML with remarks, to be checked and corrected before use. Uncertain parts are written as remarks: a currency
//! is never guessed, and columns that look private are left out.

mod columns;
mod csvw;
pub(crate) mod package;
pub(crate) mod sample;
mod values;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::PathBuf;

use crate::sources::input::{Member, Quote};
use crate::sources::money::Decimal;
use crate::sources::presets::own_export;
use crate::sources::{EntityKind, SourceError};
use columns::guess;
use sample::Sample;

/// Tables that are described: more than a person reads.
const MAX_TABLES: usize = 200;

pub fn mapping(inputs: &[PathBuf]) -> Result<String, SourceError> {
    let members = Member::list(inputs)?;
    let tables: Vec<&Member> = members.iter().filter(|member| !member.ending().is_empty()).collect();
    if tables.is_empty() {
        let given: Vec<String> = inputs.iter().map(|input| input.display().to_string()).collect();
        let problem = format!("{}: no table; give files of CSV, TSV, Excel or JSON", given.join(", "));
        return Err(SourceError::Problems(vec![problem]));
    }
    let mut text = String::from(
        "# What the headers and values probably mean: check each line, and say where the data is from.\n\
         [source]\n\
         id = \"our-list\"\n\
         title = \"Our list\"\n\
         license = \"LicenseRef-Own\"\n",
    );
    let mut names = InputNames::default();
    for member in tables.iter().take(MAX_TABLES) {
        let name = names.unused(&member.path);
        table(&mut text, &name, member, &Sample::read(member)?, &FileDescription::default());
    }
    let further = tables.len().saturating_sub(MAX_TABLES);
    if further > 0 {
        let _ = writeln!(text, "\n# {further} more files are not described; give some of them at a time.");
    }
    Ok(text)
}

/// Names of inputs so far, each with the greatest number that was added to it.
#[derive(Default)]
struct InputNames(HashMap<String, u32>);

impl InputNames {
    /// Unused name for an input, made from its path.
    fn unused(&mut self, path: &str) -> String {
        let file = path.rsplit('/').next().unwrap_or_default();
        let base = columns::words(file.rsplit_once('.').map_or(file, |(stem, _)| stem)).join("_");
        let base = if base.is_empty() { "table".to_owned() } else { base };
        let (mut name, mut number) = (base.clone(), self.0.get(&base).copied().unwrap_or(1));
        while self.0.contains_key(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.0.insert(base, number);
        self.0.entry(name.clone()).or_insert(1);
        name
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FileDescription {
    none: Vec<String>,
    /// Decimal separator of all its numbers.
    decimal: Option<Decimal>,
    key: Vec<String>,
    /// Date formats by column.
    dates: BTreeMap<String, String>,
}

fn table(text: &mut String, name: &str, member: &Member, sample: &Sample, described: &FileDescription) {
    if let Some(own) = own_export::table_of(&sample.headers)
        && let Ok(section) = own_export::section(name, own, member, sample)
    {
        return text.push_str(&section);
    }
    let guess = guess(&member.path, sample, described);
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    line("");
    line(&format!("[input.{}]", quote(name)));
    line(&format!("file = {}", quote(&format!("**/{}", member.path.rsplit('/').next().unwrap_or_default()))));
    if let Some(delimiter) = sample.format.delimiter {
        line(&format!("delimiter = {}", quote(&char::from(delimiter).to_string())));
    }
    if sample.format.quote != Quote::default() {
        if sample.format.quote == Quote(None) {
            line("# In quotation marks a cell would go on over several rows: here they are text.");
        }
        line(&format!("quote = {}", quote(&sample.format.quote.name())));
    }
    if let Some(encoding) = sample.encoding() {
        line(&format!("encoding = {}", quote(encoding)));
    }
    if sample.format.has_marked_formulas {
        line("marked_formulas = true");
    }
    if !guess.none.is_empty() {
        line(&format!("none = [{}]", guess.none.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ")));
    }
    if let Some(decimal) = described.decimal {
        line(&format!("decimal = {}", quote(&decimal.separator().to_string())));
    }
    line("");
    line(&format!("[[{}]]", guess.kind));
    line(&format!("from = {}", quote(name)));
    let mut remarks = String::new();
    for column in &guess.columns {
        match &column.line {
            Ok(field) => line(field),
            Err(remark) => {
                let _ = writeln!(remarks, "# {}: {remark}", column.header.replace(['\n', '\r'], " "));
            }
        }
    }
    if guess.kind == EntityKind::Round && guess.header_of("stage").is_none() {
        line("stage = { value = \"other\" }");
    }
    if let (false, EntityKind::Firm | EntityKind::Startup, Some(header)) =
        (guess.header_of("key").is_some(), guess.kind, guess.header_of("name"))
    {
        // Other files can refer to it by name.
        line(&format!("key = {{ column = {}, by = \"name\" }}", quote(header)));
    }
    if guess.kind == EntityKind::Round && guess.header_of("key").is_none() {
        // Without an id, startup, day and stage identify a round.
        let parts = ["startup", "announced_on", "stage"].iter().filter_map(|field| guess.header_of(field));
        line(&format!("key = {{ columns = [{}], do = [\"fold\"] }}", parts.map(quote).collect::<Vec<_>>().join(", ")));
    }
    text.push_str(&remarks);
    for (vocabulary, words) in &guess.vocabularies {
        let _ =
            writeln!(text, "\n# Values that are not known; write what they mean, or leave them empty to drop them.");
        let _ = writeln!(text, "[vocabulary.{}]", quote(vocabulary));
        for (word, meaning) in words {
            let _ = writeln!(text, "{} = {}", quote(word), quote(meaning));
        }
    }
}

/// Quotes a text as a TOML string.
pub(crate) fn quote(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests;
