//! Shows what an import would make of its files, before it is made: the first rows, what each of their cells becomes, and
//! why the others are left out.
//!
//! A preview is an import into a temporary folder that notes what becomes of the rows that are shown. So it cannot say
//! anything else than the import.

pub mod edit;
pub mod meaning;
pub mod outline;
#[cfg(test)]
mod tests;
mod value;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::sources::field::FieldForm;
use crate::sources::guess::sample::Sample;
use crate::sources::guess::{is_private, line_for};
use crate::sources::import::{Import, ImportSummary, Omission, RowEvent, SampledRows, SourceChanges, assign_files};
use crate::sources::input::{self, InputFormat, InputRow, Member, RowReceiver, column_name};
use crate::sources::mapping::{ColumnRef, FieldTarget, KeyForm, Mapping, MappingInput};
use crate::sources::preview::meaning::{KEY, Meaning};
use crate::sources::{Result, SourceError};
use data::import::diagnostics::quoted;
use data::vocabulary::Vocabulary as _;
use data::{Date, NoProgress, number};

/// Files that are shown: more than a person looks at.
const MAX_TABLES: usize = 20;

/// Characters of a cell that are shown.
pub const MAX_CELL: usize = 200;

#[derive(Clone, Copy, Debug)]
pub struct PreviewSize {
    /// Rows of each file that are shown.
    pub rows: usize,
    /// Rows of each file that are counted.
    pub most: u64,
}

#[derive(Debug, Default)]
pub struct Preview {
    pub tables: Vec<PreviewTable>,
    /// Why the import would be refused.
    pub problems: Vec<String>,
    /// Sections of the mapping, each with its input. Their fields are empty.
    pub sections: Vec<(Meaning, String)>,
    /// Comments of a guess about sheets that it left out.
    pub sheets: Vec<String>,
    /// Missing if the files cannot be read with this mapping.
    pub summary: Option<ImportSummary>,
}

/// The first rows of an input.
#[derive(Debug, Default)]
pub struct PreviewTable {
    /// Name of the input in the mapping; empty if the mapping cannot be read.
    pub input: String,
    pub file: String,
    /// Files of the input that are not shown.
    pub more_files: usize,
    pub is_workbook: bool,
    pub columns: Vec<PreviewColumn>,
    pub rows: Vec<PreviewRow>,
    /// Why the file cannot be read.
    pub problem: Option<String>,
}

#[derive(Debug, Default)]
pub struct PreviewColumn {
    pub name: String,
    /// True if the header is one of private data, such as an e-mail address.
    pub is_private: bool,
    /// False if the mapping names a column that the file does not have.
    pub is_there: bool,
    pub meanings: Vec<ColumnMeaning>,
    /// True if a condition or another part of the mapping reads it, too.
    pub is_read: bool,
    /// Comment of the mapping about a column without a meaning, in the form of a guess; empty if there is none.
    pub remark: String,
}

#[derive(Debug)]
pub struct ColumnMeaning {
    pub meaning: Meaning,
    /// Values of the field and those left out, of all rows that were counted.
    pub values: u64,
    pub left_out: Vec<Omission>,
}

#[derive(Debug, Default)]
pub struct PreviewRow {
    pub line: u64,
    pub cells: Vec<PreviewCell>,
    /// Kinds of the records that the row is part of.
    pub records: Vec<&'static str>,
    /// Why the row, or a record of it, is left out.
    pub left_out: Vec<String>,
}

#[derive(Debug, Default)]
pub struct PreviewValue {
    /// Name of its field for people.
    pub field: String,
    pub text: String,
}

#[derive(Debug, Default)]
pub struct PreviewCell {
    pub text: String,
    /// What it becomes.
    pub values: Vec<PreviewValue>,
    /// Why it, or parts of it, are left out.
    pub left_out: Vec<String>,
}

/// Reads the first rows of the inputs by a mapping, which is the text of `file`. `changes` go before what it says.
pub fn preview(
    inputs: &[PathBuf],
    file: &Path,
    text: &str,
    changes: &SourceChanges,
    on: Date,
    size: PreviewSize,
) -> Result<Preview> {
    let members = Member::list(inputs)?;
    let sheets = text.lines().filter_map(|line| line.strip_prefix("# ")).filter(|line| line.contains(input::SHEET));
    let mut preview = Preview { sheets: sheets.map(str::to_owned).collect(), ..Preview::default() };
    let folder = file.parent().unwrap_or(Path::new(""));
    let mapping = match Mapping::read_with_problems(&file.display().to_string(), text, folder) {
        Ok((mapping, problem)) => {
            preview.problems = problem.into_iter().flat_map(problems).collect();
            mapping
        }
        Err(error) => {
            preview.problems = problems(error);
            let tables = members.iter().filter(|member| !member.ending().is_empty()).take(MAX_TABLES);
            let read = |member| FirstRows::read(member, &InputFormat::default(), size.rows).table(member);
            preview.tables = tables.map(read).collect();
            return Ok(preview);
        }
    };
    let input_of = |index: usize| mapping.inputs[mapping.sections[index].from].name.clone();
    preview.sections = numbered(&mapping).into_iter().map(|(index, section)| (section, input_of(index))).collect();
    let files = match assign_files(&mapping, &members) {
        Ok(files) => files,
        Err(error) => {
            preview.problems.extend(problems(error));
            Vec::new()
        }
    };
    let mut sampled = SampledRows::default();
    let mut shown = Vec::new();
    for ((index, input), files) in mapping.inputs.iter().enumerate().zip(&files) {
        let Some(member) = files.first().and_then(|file| members.get(*file)).filter(|_| shown.len() < MAX_TABLES)
        else {
            continue;
        };
        let first = FirstRows::read(member, &input.format, size.rows);
        sampled.extend(first.rows.iter().map(|row| ((member.index, row.line), Vec::new())));
        let mut table = first.table(member);
        table.input.clone_from(&input.name);
        table.file = input.format.name_in(&member.name);
        table.more_files = files.len() - 1;
        shown.push((index, member.index, table));
    }
    if preview.problems.is_empty() {
        let to = tempfile::tempdir().map_err(|error| SourceError::io(&std::env::temp_dir(), error))?;
        let import = Import::mapping_text(file, text, inputs.to_vec())?;
        let import = import.with(SourceChanges { rejects: None, ..changes.clone() })?;
        match import.run_sample(to.path(), on, &NoProgress, &sampled, size.most) {
            Ok((summary, problem)) => {
                preview.problems.extend(problem.into_iter().flat_map(problems));
                preview.summary = Some(summary);
            }
            Err(error) => preview.problems = problems(error),
        }
    }
    let summary = preview.summary.as_ref();
    for (input, file, mut table) in shown {
        explain(&mut table, &mapping, input, file, summary);
        for column in table.columns.iter_mut().filter(|column| column.meanings.is_empty()) {
            let remark = |line| str::strip_prefix(line, "# ")?.strip_prefix(&*column.name)?.strip_prefix(": ");
            column.remark = text.lines().find_map(remark).unwrap_or_default().to_owned();
        }
        preview.tables.push(table);
    }
    Ok(preview)
}

/// Checks that a mapping can be read.
pub fn check(file: &Path, text: &str) -> Result<()> {
    Mapping::read(&file.display().to_string(), text, file.parent().unwrap_or(Path::new(""))).map(drop)
}

/// A line of a mapping that gives a column this meaning, by its values; empty if they do not fit.
pub fn suggest(inputs: &[PathBuf], file: &Path, text: &str, input: &str, column: &str, meaning: &Meaning) -> String {
    let line = || {
        let members = Member::list(inputs).ok()?;
        let folder = file.parent().unwrap_or(Path::new(""));
        let (mapping, _) = Mapping::read_with_problems(&file.display().to_string(), text, folder).ok()?;
        let at = mapping.inputs.iter().position(|known| known.name == input)?;
        let files = assign_files(&mapping, &members).ok()?;
        let member = members.get(*files.get(at)?.first()?)?;
        let sample = Sample::read_as(member, mapping.inputs[at].format.clone()).ok()?;
        let name = column_name(column);
        let column = sample.headers.iter().position(|header| column_name(header) == name)?;
        line_for(&sample, column, meaning.kind, &meaning.field)
    };
    line().unwrap_or_default()
}

fn problems(error: SourceError) -> Vec<String> {
    match error {
        SourceError::Problems(problems) => problems,
        other => vec![other.to_string()],
    }
}

/// The first rows of a file, with all columns.
struct FirstRows {
    most: usize,
    headers: Vec<String>,
    rows: Vec<PreviewRow>,
    problem: Option<String>,
}

impl FirstRows {
    fn push(&mut self, row: &InputRow, left_out: Vec<String>) {
        let cells = row.cells().map(|text| PreviewCell { text: text.to_owned(), ..PreviewCell::default() });
        self.rows.push(PreviewRow { line: row.line, cells: cells.collect(), left_out, ..PreviewRow::default() });
    }

    fn read(member: &Member, format: &InputFormat, most: usize) -> Self {
        let mut first = Self { most, headers: Vec::new(), rows: Vec::new(), problem: None };
        let is_read = input::read_rows(member, format, &NoProgress, &mut first);
        // Enough rows stop the reader with an error.
        first.problem = is_read.err().filter(|_| first.rows.len() < most).map(|error| error.to_string());
        first
    }

    fn table(self, member: &Member) -> PreviewTable {
        let columns = self.headers.iter().map(|name| PreviewColumn {
            name: name.clone(),
            is_private: is_private(name),
            is_there: true,
            ..PreviewColumn::default()
        });
        PreviewTable {
            file: member.name.clone(),
            is_workbook: ["xlsx", "xlsm", "xlsb", "xls", "ods"].contains(&member.ending()),
            columns: columns.collect(),
            rows: self.rows,
            problem: self.problem,
            ..PreviewTable::default()
        }
    }
}

impl RowReceiver for FirstRows {
    fn header(&mut self, names: &[String]) -> Result<Vec<Option<usize>>> {
        self.headers = names.to_vec();
        Ok((0..names.len()).map(Some).collect())
    }

    fn row(&mut self, row: &InputRow) -> Result<()> {
        self.push(row, Vec::new());
        if self.rows.len() < self.most { Ok(()) } else { Err(SourceError::Problems(Vec::new())) }
    }

    fn bad_row(&mut self, row: &InputRow, problem: String) {
        if self.rows.len() < self.most {
            self.push(row, vec![problem]);
        }
    }

    fn doubt(&mut self, _line: u64, _problem: String) {}
}

/// Adds what the columns of a table mean, and what became of its rows.
fn explain(table: &mut PreviewTable, mapping: &Mapping, input: usize, file: u32, summary: Option<&ImportSummary>) {
    let mut headers: HashMap<String, usize> = HashMap::new();
    for (at, column) in table.columns.iter().enumerate() {
        headers.entry(column_name(&column.name)).or_insert(at);
    }
    for (index, meaning) in numbered(mapping) {
        let section = &mapping.sections[index];
        let mut place = |column: &ColumnRef| {
            (column.input == input).then(|| position(table, &mut headers, &mapping.inputs[input], &column.name))
        };
        let named = |field: &str| Meaning { field: field.to_owned(), ..meaning.clone() };
        let name_columns: Vec<&ColumnRef> = section
            .fields
            .iter()
            .filter(|field| field.target.name() == "name")
            .flat_map(|field| &field.value.columns)
            .collect();
        let mut found = Vec::new();
        let mut others = section.when.iter().map(|condition| &condition.column).collect::<Vec<_>>();
        if let Some((key, form)) = &section.key {
            // A key by name goes with the name.
            let is_name = |column: &&ColumnRef| {
                matches!(form, KeyForm::Name) && name_columns.iter().any(|known| known.name == column.name)
            };
            let shown = key.columns.iter().filter(|column| !is_name(column)).filter_map(&mut place);
            found.extend(shown.map(|at| (at, ColumnMeaning { meaning: named(KEY), values: 0, left_out: Vec::new() })));
        }
        others.extend(section.latest_by.iter().chain(&section.source_key).flat_map(|value| &value.columns));
        for (at, field) in section.fields.iter().enumerate() {
            let is_key = matches!((&section.key, &field.target),
                (Some((_, KeyForm::Scheme(key))), FieldTarget::Identifier(scheme)) if key == scheme);
            others.extend(field.value.when.iter().map(|condition| &condition.column));
            others.extend(field.read_for_amount());
            if is_key {
                continue;
            }
            let counts = summary.and_then(|summary| summary.sections.get(index)?.fields.get(at));
            for column in field.value.columns.iter().filter_map(&mut place) {
                let values = counts.map_or(0, |counts| counts.values);
                let left_out = counts.map(|counts| counts.dropped.clone()).unwrap_or_default();
                found.push((column, ColumnMeaning { meaning: named(&field_name(&field.target)), values, left_out }));
            }
        }
        let read: Vec<usize> = others.into_iter().filter_map(&mut place).collect();
        for (at, meaning) in found {
            table.columns[at].meanings.push(meaning);
        }
        read.into_iter().for_each(|at| table.columns[at].is_read = true);
    }
    let Some(summary) = summary else { return };
    for row in &mut table.rows {
        let Some(events) = summary.sampled.get(&(file, row.line)) else { continue };
        let events = events.iter().filter(|event| is_of_input(event, mapping, input));
        events.for_each(|event| explain_row(row, event, mapping, input, &headers));
    }
}

/// True if an event is that of a row of the input, and not of the same row of another sheet.
fn is_of_input(event: &RowEvent, mapping: &Mapping, input: usize) -> bool {
    let section = |index: usize| mapping.sections.get(index);
    let of_section = |index: usize| section(index).is_some_and(|section| section.from == input);
    let of_field = |index: usize, field: usize| {
        let columns = section(index).and_then(|section| section.fields.get(field)).map(|field| &field.value.columns);
        columns.is_some_and(|columns| columns.iter().any(|column| column.input == input))
    };
    match event {
        RowEvent::Blank { input: of } | RowEvent::Unused { input: of, .. } => *of == input,
        RowEvent::WithoutKey { section, .. } | RowEvent::Entity { section } => of_section(*section),
        RowEvent::Value { section, field, .. } | RowEvent::Dropped { section, field, .. } => {
            of_section(*section) || of_field(*section, *field)
        }
    }
}

/// Name of a field in mappings.
fn field_name(target: &FieldTarget) -> String {
    match target {
        FieldTarget::Field(field) => field.name.to_owned(),
        FieldTarget::Identifier(scheme) => format!("id.{scheme}"),
    }
}

/// The sections of a mapping by index, with their numbers within their kinds.
fn numbered(mapping: &Mapping) -> Vec<(usize, Meaning)> {
    let mut sections: Vec<(usize, Meaning)> = Vec::new();
    for (index, section) in mapping.sections.iter().enumerate() {
        let number = sections.iter().filter(|(_, known)| known.kind == section.kind).count();
        sections.push((index, Meaning { kind: section.kind, section: number, field: String::new() }));
    }
    sections
}

/// Position of a column in a table. A column that the file does not have is added, so that its meaning can be removed.
fn position(table: &mut PreviewTable, headers: &mut HashMap<String, usize>, input: &MappingInput, name: &str) -> usize {
    let wanted = column_name(name);
    let others = input.names.iter().filter(|(known, _)| column_name(known) == wanted).flat_map(|(_, others)| others);
    let mut accepted = std::iter::once(wanted.clone()).chain(others.map(|other| column_name(other)));
    if let Some(known) = accepted.find_map(|name| headers.get(&name)) {
        return *known;
    }
    table.columns.push(PreviewColumn { name: name.to_owned(), ..PreviewColumn::default() });
    headers.insert(wanted, table.columns.len() - 1);
    table.columns.len() - 1
}

fn explain_row(
    row: &mut PreviewRow,
    event: &RowEvent,
    mapping: &Mapping,
    input: usize,
    headers: &HashMap<String, usize>,
) {
    let kind = |section: usize| mapping.sections.get(section).map_or("", |section| section.kind.name());
    let field = |section: usize, field: usize| mapping.sections.get(section)?.fields.get(field);
    match event {
        RowEvent::Blank { .. } => row.left_out.push("it has no value in a column that is used".to_owned()),
        RowEvent::Unused { section: None, .. } => row.left_out.push("`when` of the input does not take it".to_owned()),
        RowEvent::Unused { section: Some(section), .. } => {
            row.left_out.push(format!("not a {}: its `when` does not take the row", kind(*section)));
        }
        RowEvent::WithoutKey { section, reason } => row.left_out.push(format!("not a {}: {reason}", kind(*section))),
        RowEvent::Entity { section } => row.records.push(kind(*section)),
        RowEvent::Value { section, field: at, value } => {
            let Some(field) = field(*section, *at) else { return };
            let text = match field.target.form() {
                FieldForm::Reference(_) if !value.original.is_empty() => value.original.as_str(),
                FieldForm::Reference(_) => value.value.split_once(':').map_or(&*value.value, |(_, key)| key),
                _ => &value.value,
            };
            let original = if value.original.is_empty() { text } else { &value.original };
            let dollars = match field.target.form() {
                FieldForm::Dollars => text.parse().ok().map(|dollars: u64| format!("${}", number::grouped(dollars))),
                _ => None,
            };
            let text = dollars.as_deref().unwrap_or(text);
            if let Some(cell) = cell_of(row, &field.value.columns, input, headers, original) {
                let field = meaning::field_label(&field_name(&field.target));
                cell.values.push(PreviewValue { field, text: text.to_owned() });
            }
        }
        RowEvent::Dropped { section, field: at, text, reason } => {
            let Some(field) = field(*section, *at) else { return };
            let name = meaning::field_label(&field_name(&field.target));
            match cell_of(row, &field.value.columns, input, headers, text) {
                Some(cell) if cell.text == *text => cell.left_out.push(reason.to_string()),
                Some(cell) => cell.left_out.push(format!("{} {reason}", quoted(text))),
                None => row.left_out.push(format!("{name}: {} {reason}", quoted(text))),
            }
        }
    }
}

/// The cell from which a value is: of several columns the one that has its text.
fn cell_of<'r>(
    row: &'r mut PreviewRow,
    columns: &[ColumnRef],
    input: usize,
    headers: &HashMap<String, usize>,
    text: &str,
) -> Option<&'r mut PreviewCell> {
    let places = columns.iter().filter(|column| column.input == input);
    let places: Vec<usize> = places.filter_map(|column| headers.get(&column_name(&column.name)).copied()).collect();
    let has = |at: &&usize| row.cells.get(**at).is_some_and(|cell| !cell.text.is_empty() && cell.text.contains(text));
    let at = *places.iter().find(has).or_else(|| places.first())?;
    row.cells.get_mut(at)
}
