//! Guesses a first mapping from the headers and values of files.
//!
//! The result is TOML with remarks, to be checked and corrected before use. Headers and values decide together:
//! nothing becomes a name, a key or an investor without support in the values. What is not sure is a remark with
//! values, what it might be, and the line that would use it. A currency is never guessed, and columns that look private
//! are left out.
//!
//! Each table is outlined first: what its rows are, which column has their names, which identifies them. Then the values
//! tell how the tables refer to each other, and at last each is written.

mod csvw;
mod evidence;
mod header;
mod kinds;
pub(crate) mod package;
pub(crate) mod sample;
mod section;
mod several_rounds;
mod table;
mod values;

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::xxh3_64;

use crate::sources::convert::slug;
use crate::sources::input::archive::printable;
use crate::sources::input::{InputFormat, Member, Quote, SHEET, column_name};
use crate::sources::mapping::Mapping;
use crate::sources::money::Decimal;
use crate::sources::presets::own_export;
use crate::sources::{EntityKind, Source, SourceError};
use data::parameter_error::shortened_to;
use data::vocabulary::Vocabulary as _;
use header::{Meaning, Owner, words};
pub(crate) use header::{is_header_word, is_private, names_field, names_lead, names_records};
use sample::Sample;
pub(crate) use section::line_for;
use section::{Key, Reference, Relations, Sections, organization_kind};
use table::{Outline, RowKind, Vocabularies, stem};
pub(crate) use values::{has_firm_word, is_firm_word};

/// Tables that are described: more than a person reads.
const MAX_TABLES: usize = 200;

/// Columns that are listed if nothing of a table is sure.
const MAX_LISTED: usize = 60;

/// Share of the values of a column that another table must have if the column refers to it.
const OVERLAP: f64 = 0.5;

#[derive(Clone, Debug, Default)]
pub(crate) struct FileDescription {
    none: Vec<String>,
    /// Decimal separator of all its numbers.
    decimal: Option<Decimal>,
    key: Vec<String>,
    /// Date formats by column.
    dates: BTreeMap<String, String>,
    /// Texts of unknown values by column.
    none_of: BTreeMap<String, Vec<String>>,
    /// Name of the resource, and those to whose keys columns refer.
    resource: String,
    references: BTreeMap<String, String>,
}

/// A table that is described, with the name of its input.
pub(crate) struct Table<'m> {
    name: String,
    member: &'m Member,
    /// Meaning of the name of its file or sheet.
    file: Meaning,
    sample: Sample,
    described: FileDescription,
}

impl<'m> Table<'m> {
    fn new(name: String, member: &'m Member, file: Meaning, mut sample: Sample) -> Self {
        sample.remove_headings();
        Self { name, member, file, sample, described: FileDescription::default() }
    }

    /// Another sheet of the workbook of a table, whose outline is `known`; or why it is not a table of records, with its
    /// columns.
    fn other_sheet(&self, known: &Outline<'_>, names: &mut InputNames, sheet: &str) -> Result<Self, String> {
        let format = InputFormat { sheet: Some(sheet.to_owned()), ..InputFormat::default() };
        let sample = Sample::read_as(self.member, format).map_err(|_| "it cannot be read as a table".to_owned())?;
        let mut file = Meaning::read(sheet);
        // A sheet with the same name column has records of the same kind.
        let subject = known.subject.and_then(|subject| known.columns.get(subject));
        let is_subject =
            |header: &String| subject.is_some_and(|known| column_name(known.header) == column_name(header));
        if let Some(owner) = known.owner().filter(|_| sample.headers.iter().any(is_subject)) {
            file.owners.push(owner);
        }
        let name = names.unused(&format!("{} {sheet}", stem(&self.member.path)));
        let table = Self::new(name, self.member, file, sample);
        let outline = table.outline();
        let named = outline.all(|column| column.noun().is_some() && column.is_sure());
        let reason = match outline.rows {
            RowKind::Unknown(reason) => reason,
            _ if outline.subject.is_none() || named.len() < 2 => "it is no table of records",
            _ => return Ok(table),
        };
        Err(format!("{reason}; its columns: {}", described_columns(&outline)))
    }

    fn outline(&self) -> Outline<'_> {
        Outline::new(self.file.clone(), &self.sample, &self.described)
    }
}

/// The columns of a table, each with values.
fn described_columns(outline: &Outline<'_>) -> String {
    let columns = outline.columns.iter().take(MAX_LISTED);
    let columns: Vec<String> = columns.map(|column| format!("{} ({})", quote(column.header), shown(column))).collect();
    if columns.is_empty() { "none".to_owned() } else { columns.join(", ") }
}

pub fn mapping(inputs: &[PathBuf]) -> Result<String, SourceError> {
    let members = Member::list(inputs)?;
    // A Markdown document is a table only if it is named itself.
    let is_named = |member: &Member| inputs.iter().any(|input| input.is_file() && input.ends_with(&member.path));
    let is_table = |member: &&Member| !member.ending().is_empty() || member.is_markdown() && is_named(member);
    let given: Vec<&Member> = members.iter().filter(is_table).collect();
    if given.is_empty() {
        let given: Vec<String> = inputs.iter().map(|input| input.display().to_string()).collect();
        let problem = format!("{}: no table; give files of CSV, TSV, Excel, JSON or Parquet", given.join(", "));
        return Err(SourceError::Problems(vec![problem]));
    }
    let (mut names, mut tables, mut remarks) = (InputNames::default(), Vec::new(), Vec::new());
    for member in given.iter().take(MAX_TABLES) {
        let file = table::meaning_of_file(&member.path);
        let first = Table::new(names.unused(&member.path), member, file, Sample::read(member)?);
        let (known, mut others) = (first.outline(), Vec::new());
        for sheet in &first.sample.other_sheets {
            let remark = |reason: &str| format!("{}{SHEET}{}: left out: {reason}", comment(&member.path), quote(sheet));
            match first.other_sheet(&known, &mut names, sheet) {
                Ok(table) if tables.len() + others.len() + 1 < MAX_TABLES => others.push(table),
                Ok(_) => remarks.push(remark("it is one of too many tables")),
                Err(reason) => remarks.push(remark(&reason)),
            }
        }
        drop(known);
        tables.push(first);
        tables.append(&mut others);
    }
    let title = match inputs {
        [input] => input.file_stem().map(|stem| stem.to_string_lossy().into_owned()),
        _ => tables.first().map(|table| stem(&table.member.path).to_owned()),
    };
    let title = Some(title.unwrap_or_default()).filter(|title| !title.trim().is_empty());
    let title = title.unwrap_or_else(|| "Our list".to_owned());
    let source = format!(
        "# What the headers and values probably mean: check each line, and say where the data is from.\n\
         # Keep the id when you import the list again; another list needs another.\n\
         [source]\nid = {}\ntitle = {}\nlicense = \"LicenseRef-Own\"\n",
        quote(&source_id(&title, &tables)),
        quote(&title)
    );
    let mut text = document(&source, &members, &tables)?;
    for remark in &remarks {
        let _ = writeln!(text, "\n# {remark}");
    }
    let further = given.len().saturating_sub(MAX_TABLES);
    if further > 0 {
        let _ = writeln!(text, "\n# {further} more files are not described; give some of them at a time.");
    }
    Mapping::read("the guessed mapping", &text, Path::new(""))?;
    Ok(text)
}

/// Id of the source, from the name of a file. Names that many files have get a number that is made of the headers.
fn source_id(title: &str, tables: &[Table<'_>]) -> String {
    const COMMON: &str = "data export list table sheet sheet1 book1 untitled output results result file download report \
                          firms funds \
                          investors companies startups deals rounds people contacts new copy";
    let id = slug(title).filter(|id| Source::is_id(id));
    if let Some(id) = id.as_ref().filter(|id| !COMMON.split(' ').any(|common| common == id.as_str())) {
        return id.clone();
    }
    let headers: Vec<&str> = tables.iter().flat_map(|table| &table.sample.headers).map(String::as_str).collect();
    let number = xxh3_64(headers.join("\n").as_bytes()) & 0xffff;
    format!("{}-{number:04x}", id.as_deref().unwrap_or("list"))
}

/// Why nothing of a table is mapped, its columns with values, and what to write.
fn unknown_table(table: &Table<'_>) -> String {
    let outline = table.outline();
    let reason = match outline.rows {
        RowKind::Unknown(reason) => reason,
        RowKind::People => "it is not sure where its people work, in firms or in startups",
        _ => "no column is sure to have names",
    };
    let section = match outline.rows {
        RowKind::People => {
            "`[[person]]` with `name = \"COLUMN\"` and `organization = { kind = \"firm\", column = \"COLUMN\", \
             by = \"name\", \
             create = true }`, where `kind` is `firm` or `startup`"
        }
        _ => "such as `[[firm]]` with `name = \"COLUMN\"`",
    };
    format!(
        "{}: nothing is mapped: {reason}; its columns: {}; write a mapping with `[input.list]` \
         and a section {section}, \
         see /docs/operate/import#mapping",
        table.member.name,
        described_columns(&outline)
    )
}

/// Some values of a column; of a private one none.
fn shown(column: &table::Column<'_>) -> String {
    let is_private = column.meaning.is_private() || values::some(&column.values, values::is_email);
    if is_private { "private".to_owned() } else { examples(&column.texts) }
}

/// Names of inputs so far, each with the greatest number that was added to it.
#[derive(Default)]
struct InputNames(HashMap<String, u32>);

impl InputNames {
    /// Unused name for an input, made from its path.
    fn unused(&mut self, path: &str) -> String {
        let base = words(stem(path)).join("_");
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

/// The mapping of tables, which begins with the source.
fn document(source: &str, members: &[Member], tables: &[Table<'_>]) -> Result<String, SourceError> {
    let outlines: Vec<Outline<'_>> = tables.iter().map(Table::outline).collect();
    let relations = relations(&outlines);
    let (mut text, mut vocabularies) = (source.to_owned(), Vocabularies::new());
    for ((table, outline), relations) in tables.iter().zip(&outlines).zip(relations) {
        // Our own exports are known by their columns.
        if let Some(own) = own_export::table_of(&table.sample.headers)
            && let Ok(section) = own_export::section(&table.name, own, table.member, &table.sample)
        {
            text.push_str(&section);
            continue;
        }
        let sections = Sections::new(outline, relations, &mut vocabularies);
        let is_sure = outline.rows != RowKind::People || relations.organization.is_some();
        let mut lines = vec![String::new()];
        lines.extend(input_lines(table, outline, members));
        for section in &sections.sections {
            lines.push(String::new());
            lines.push(format!("[[{}]]", section.kind));
            lines.push(format!("from = {}", quote(&table.name)));
            let is_key = |column: &str| described_target(&outlines, outline, column).is_some();
            lines.extend(section.lines.iter().map(|line| package::described_line(line, &table.described, is_key)));
            // What a line would add belongs below its own section.
            lines.extend(sections.remarks_below(section.kind));
        }
        let reason = match outline.rows {
            RowKind::Unknown(reason) => Some(reason),
            RowKind::People if !is_sure => Some("it is not sure if its people work for firms or startups"),
            _ => sections.sections.is_empty().then_some("no column is sure to have what it needs"),
        };
        if let Some(reason) = reason {
            let path = comment(&table.member.path);
            let _ = writeln!(text, "\n# {path}: nothing is mapped: {reason}.");
            let _ = writeln!(text, "# If you know, remove the `#` of these lines and name the columns:");
            if sections.sections.is_empty() {
                lines.extend([
                    "[[firm]]".to_owned(),
                    format!("from = {}", quote(&table.name)),
                    "name = \"COLUMN\"".to_owned(),
                ]);
            }
            for line in lines.iter().filter(|line| !line.is_empty()) {
                let _ = writeln!(text, "#{line}");
            }
        } else {
            push_lines(&mut text, lines.iter().map(String::as_str));
        }
        push_lines(&mut text, sections.remarks().iter().map(String::as_str));
    }
    // A mapping without a section is of no use.
    let has_section = EntityKind::ALL.iter().any(|kind| text.contains(&format!("\n[[{kind}]]\n")));
    if !has_section {
        return Err(SourceError::Problems(tables.iter().map(unknown_table).collect()));
    }
    for (vocabulary, words) in &vocabularies {
        let remark = "What these values mean; correct it, and say it of those that are not known and so are left out.";
        let _ = writeln!(text, "\n# {remark}\n[vocabulary.{}]", quote(vocabulary));
        for (word, meaning) in words {
            let unknown = if meaning.is_empty() { "#" } else { "" };
            let _ = writeln!(text, "{unknown}{} = {}", quote(word), quote(meaning));
        }
    }
    Ok(text)
}

fn push_lines<'l>(text: &mut String, lines: impl Iterator<Item = &'l str>) {
    for line in lines {
        text.push_str(line);
        text.push('\n');
    }
}

/// The table to whose key a column refers, as the tables are described. A key that is a name refers like any name.
fn described_target(outlines: &[Outline<'_>], outline: &Outline<'_>, column: &str) -> Option<usize> {
    let resource = outline.described.references.get(column)?;
    outlines.iter().position(|other| other.described.resource == *resource && !other.described_key().is_empty())
}

/// How the tables refer to each other: by names or identifiers that they share.
fn relations(outlines: &[Outline<'_>]) -> Vec<Relations> {
    let mut relations = vec![Relations::default(); outlines.len()];
    let find = |rows: &RowKind, column: &dyn Fn(&Outline<'_>) -> Option<f64>| {
        let shared = outlines.iter().enumerate().filter(|(_, other)| other.rows == *rows);
        let shared = shared.filter_map(|(at, other)| Some((at, column(other)?))).filter(|(_, share)| *share >= OVERLAP);
        shared.max_by(|(_, left), (_, right)| left.total_cmp(right))
    };
    // Tables that are referred to, by name and by identifier.
    let (mut by_name, mut by_id) = (vec![false; outlines.len()], vec![false; outlines.len()]);
    for (at, outline) in outlines.iter().enumerate() {
        let targets: &[(RowKind, EntityKind)] = match outline.rows {
            RowKind::Rounds => &[(RowKind::Startups, EntityKind::Startup)],
            RowKind::People => &[(RowKind::Firms, EntityKind::Firm), (RowKind::Startups, EntityKind::Startup)],
            _ => continue,
        };
        let is_parent = |column: &table::Column<'_>, noun: &str| {
            let owners: &[Option<Owner>] = match outline.rows {
                RowKind::Rounds => &[Some(Owner::Startup), Some(Owner::Organization)],
                _ => &[Some(Owner::Startup), Some(Owner::Organization), Some(Owner::Firm)],
            };
            column.noun() == Some(noun) && column.is_of(owners)
        };
        let mut best: Option<(f64, Reference, usize, EntityKind)> = None;
        let ids = outline.all(|column| is_parent(column, "key")).into_iter().map(Reference::Id);
        let names = outline.all(|column| is_parent(column, "name")).into_iter().map(Reference::Name);
        for reference in ids.chain(names) {
            let column = reference.column();
            for (rows, kind) in targets {
                let with = |other: &Outline<'_>| match reference {
                    Reference::Id(_) => Some(outline.overlap(column, other, other.id?)),
                    Reference::Name(_) => Some(outline.overlap(column, other, other.subject?)),
                };
                let Some((target, share)) = find(rows, &with) else { continue };
                if best.as_ref().is_none_or(|(known, ..)| share > *known) {
                    best = Some((share, reference, target, *kind));
                }
            }
        }
        // What a description says, the values need not show.
        for (column, header) in outline.columns.iter().enumerate().map(|(at, column)| (at, column.header)) {
            let Some(target) = described_target(outlines, outline, header) else { continue };
            if let Some((_, kind)) = targets.iter().find(|(rows, _)| outlines[target].rows == *rows) {
                best = Some((1.0, Reference::Id(column), target, *kind));
                break;
            }
        }
        if let Some((_, reference, target, kind)) = best {
            match reference {
                Reference::Id(_) => by_id[target] = true,
                Reference::Name(_) => by_name[target] = true,
            }
            relations[at].parent = Some(reference);
            relations[at].organization = Some(kind);
        } else if outline.rows == RowKind::People {
            let is_label =
                |column: &table::Column<'_>| values::most(&column.values, |value| values::labelled(value).is_some());
            let organizations = outline
                .all(|column| is_parent(column, "name") && values::are_names(&column.values) && !is_label(column));
            if let Some(column) = organizations.first().copied() {
                relations[at].parent = Some(Reference::Name(column));
                relations[at].organization = organization_kind(outline, column);
                relations[at].describes_organizations = true;
            }
        }
        for column in outline.all(table::Column::has_investors) {
            let shares = |other: &Outline<'_>| Some(outline.overlap(column, other, other.subject?));
            if let (RowKind::Rounds, Some((target, _))) = (&outline.rows, find(&RowKind::Firms, &shares)) {
                by_name[target] = true;
            }
        }
    }
    let mut has_other_firms = false;
    for (at, outline) in outlines.iter().enumerate() {
        relations[at].key = match (by_id[at], by_name[at], outline.id) {
            (true, _, Some(_)) => Key::Id,
            (_, true, _) => Key::Name,
            (_, _, Some(_)) => Key::Id,
            _ => Key::Default,
        };
        has_other_firms |= by_name[at] && outline.rows == RowKind::Firms && relations[at].key == Key::Id;
    }
    // A reference by name to a table that is identified otherwise would make a second record.
    for (at, outline) in outlines.iter().enumerate() {
        relations[at].has_other_firms = has_other_firms && outline.rows == RowKind::Rounds;
    }
    relations
}

/// The input of a table: its file and how that is read.
fn input_lines(table: &Table<'_>, outline: &Outline<'_>, members: &[Member]) -> Vec<String> {
    let Table { name, member, sample, described, .. } = table;
    let file_name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_lowercase();
    // Of several files with one name the whole path tells which.
    let is_only = members.iter().filter(|other| file_name(&other.path) == file_name(&member.path)).count() < 2;
    let file = if is_only {
        format!("**/{}", member.path.rsplit('/').next().unwrap_or_default())
    } else {
        member.path.clone()
    };
    let mut lines = vec![format!("[input.{}]", quote(name)), format!("file = {}", quote(&file))];
    lines.extend(format_lines(sample));
    let once = outline.filled_down(sample);
    if !once.is_empty() {
        let columns: Vec<String> = once.iter().map(|header| quote(header)).collect();
        lines.push("# Written once for several rows: a row without any of them has those of the row above.".to_owned());
        lines.push(format!("fill_down = [{}]", columns.join(", ")));
    }
    let conditions = kinds::conditions_of_records(outline);
    if !conditions.is_empty() {
        lines.push("# Rows that are marked as deleted, as tests or as not public are no records.".to_owned());
        lines.push(format!("when = {{ {} }}", conditions.join(", ")));
    }
    let none: Vec<String> = described.none.iter().filter(|none| !none.is_empty()).map(|none| quote(none)).collect();
    if !none.is_empty() {
        lines.push(format!("none = [{}]", none.join(", ")));
    }
    if let Some(decimal) = described.decimal {
        lines.push(format!("decimal = {}", quote(&decimal.separator().to_string())));
    }
    lines
}

/// How a file is read, as far as it was detected.
fn format_lines(sample: &Sample) -> Vec<String> {
    let mut lines = sample.format.toml_lines();
    if let Some(at) = lines.iter().position(|line| line.starts_with("headings = ")) {
        lines.insert(at, "# Rows with nothing but a first cell are headings of the rows below.".to_owned());
    }
    if sample.format.quote == Some(Quote(None)) {
        lines.insert(0, "# In quotation marks a cell would go on over several rows: here they are text.".to_owned());
    }
    lines
}

/// Quotes a text as a TOML string of one line.
pub(crate) fn quote(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for char in text.chars() {
        match char {
            '"' | '\\' => quoted.extend(['\\', char]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            char if char.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(char));
            }
            char => quoted.push(char),
        }
    }
    quoted.push('"');
    quoted
}

/// A text for a remark: of one line, and not too long.
fn comment(text: &str) -> String {
    const MAX: usize = 80;
    let text = text.split(['\n', '\r', '\t']).collect::<Vec<_>>().join(" ");
    printable(&shortened_to(MAX, text.trim())).into_owned()
}

/// Three different values of a column.
fn examples(texts: &[&str]) -> String {
    let mut shown: Vec<String> = Vec::new();
    for text in texts {
        let text = quote(&comment(text));
        if shown.len() < 3 && !shown.contains(&text) {
            shown.push(text);
        }
    }
    if shown.is_empty() { "empty".to_owned() } else { shown.join(", ") }
}

#[cfg(test)]
mod tests;
