//! The account of an import: counts what becomes of each row and value, and collects what is left out.
//!
//! The parts of each sum are counted where they happen, so that [`Account::finish`] can prove that nothing is missing.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use serde::Serialize;

use crate::sources::convert::{Dropped, NOT_FIRST, NOT_KEPT, OTHERS};
use crate::sources::field::{FieldForm, SourceField};
use crate::sources::import::rejects::{Reject, Rejects, quoted_if_shown};
use crate::sources::import::summary::{
    FileRows, FileSummary, ImportSummary, JoinSummary, MAX_DETAILED, MAX_SHARE, MIN_DROPPED, MostRows, Omission,
    RowEvent, SectionSummary, UnusedColumn, add_omission, total,
};
use crate::sources::input::{InputRow, Member, Place};
use crate::sources::mapping::{Condition, FieldValue, MappedValue, Mapping, Unknown};
use crate::sources::money::lacks_rates;
use crate::sources::{EntityKind, SourceError};
use data::import::diagnostics::quoted;
use data::vocabulary::Vocabulary as _;

/// What became of the rows of a file in a section. A row is one of the other four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RowCounts {
    pub rows: u64,
    /// Rows that `when` leaves out.
    pub left_out: u64,
    pub without_key: u64,
    /// First rows of their entities.
    pub kept: u64,
    /// Further rows of entities.
    pub merged: u64,
}

impl RowCounts {
    fn add(&mut self, other: Self) {
        self.rows += other.rows;
        self.left_out += other.left_out;
        self.without_key += other.without_key;
        self.kept += other.kept;
        self.merged += other.merged;
    }

    /// Rows that `when` lets through.
    fn taken(self) -> u64 {
        self.rows.saturating_sub(self.left_out)
    }

    fn is_balanced(self) -> bool {
        self.rows == self.left_out + self.without_key + self.kept + self.merged
    }
}

pub(super) struct Account<'a> {
    mapping: &'a Mapping,
    pub summary: ImportSummary,
    /// Rows of each section and file.
    rows: Vec<Vec<RowCounts>>,
    /// Names of the files.
    places: Vec<String>,
    /// Index and input of the files that are added.
    added: HashSet<(usize, String)>,
    /// Entities that lack a required field, by kind and field.
    lacking: BTreeMap<(&'static str, &'static str), u64>,
    rejects: Option<Rejects>,
}

/// A value that another row of its entity replaced.
pub(super) struct Lost<'a> {
    pub section: usize,
    /// Index of the field in the section.
    pub field: usize,
    pub place: Place,
    pub value: &'a str,
    pub name: &'a str,
    pub key: &'a str,
    /// True if the mapping's `latest_by` decides.
    pub is_older: bool,
}

const REPLACED: &str = "is replaced by that of a later row of the same key";
const FURTHER_NAME: &str = "is a further name for the key of another row";
const OTHER_VALUE: &str = "is not the value that another row of the same key has";
const DIFFERENT: &str = "if they are different, give their rows a `key` that tells them apart, such as their websites";

impl<'a> Account<'a> {
    /// `rejects` is the folder in which rejects are sorted, if they are wanted.
    pub(super) fn new(mapping: &'a Mapping, members: &[Member], files: &[Vec<usize>], rejects: Option<&Path>) -> Self {
        Self {
            mapping,
            summary: ImportSummary::new(mapping, members, files),
            rows: vec![vec![RowCounts::default(); members.len()]; mapping.sections.len()],
            places: members.iter().map(|member| member.name.clone()).collect(),
            added: HashSet::new(),
            lacking: BTreeMap::new(),
            rejects: rejects.map(Rejects::new),
        }
    }

    pub(super) fn rows(&mut self, section: usize, file: u32) -> &mut RowCounts {
        &mut self.rows[section][file as usize]
    }

    pub(super) fn reject(&mut self, reject: &Reject<'_>) {
        if let Some(rejects) = &mut self.rejects {
            rejects.push(reject);
        }
    }

    /// Adds the summary of a file, unless an earlier pass added it already, so that it is counted once.
    pub(super) fn add_file(&mut self, input: &str, index: usize, counts: FileSummary, unused: Vec<UnusedColumn>) {
        if !self.added.insert((index, input.to_owned())) {
            return;
        }
        let mut counts = FileSummary { input: input.to_owned(), index, ..counts };
        if self.summary.files.len() >= MAX_DETAILED {
            counts.more_warnings += counts.warnings.len() as u64;
            counts.notes.clear();
            counts.warnings.clear();
            counts.bad.iter_mut().for_each(|omission| omission.others.clear());
        }
        self.summary.files.push(counts);
        for column in unused {
            let is_same = |known: &&mut UnusedColumn| known.input == column.input && known.column == column.column;
            match self.summary.not_used.iter_mut().find(is_same) {
                Some(known) => column.values.iter().for_each(|value| known.add(value)),
                None => self.summary.not_used.push(column),
            }
        }
    }

    /// Counts a row that the `when` of every section leaves out.
    pub(super) fn left_out(&mut self, row: &InputRow, condition: &Condition, kind: EntityKind) {
        let reason = format!("is left out by `when` of {kind}");
        let (place, column) = (row.place(), &*condition.column.name);
        let value = row.get(condition.column.index);
        self.reject(&Reject { place, column, value, reason: &reason, remedy: "correct `when` if the row is wanted" });
    }

    pub(super) fn without_key(&mut self, section: usize, row: &InputRow, reason: &str) {
        self.rows(section, row.file).without_key += 1;
        let of_section = &self.mapping.sections[section];
        let name = || of_section.fields.iter().find(|field| field.target.name() == "name").map(|field| &field.value);
        self.summary.note(row, || RowEvent::WithoutKey { section, reason: reason.to_owned().into() });
        let value = of_section.key.as_ref().map(|(value, _)| value).or_else(name);
        let column = value.and_then(|value| value.columns.first());
        let (name, text) = column.map_or(("", ""), |column| (&*column.name, row.get(column.index)));
        let default = "fill the cell, or leave such rows out with `when`";
        let (reason, remedy) = split_remedy(reason, default);
        self.reject(&Reject { place: row.place(), column: name, value: text, reason, remedy });
        let place = format!("{}:{}", self.places[row.file as usize], row.line);
        add_omission(&mut self.summary.sections[section].without_key, reason, remedy, || place);
    }

    pub(super) fn dropped(&mut self, section: usize, field: usize, row: &InputRow, dropped: &Dropped) {
        let (text, reason) = (&dropped.text, &dropped.reason);
        self.summary.note(row, || RowEvent::Dropped { section, field, text: text.clone(), reason: reason.clone() });
        let of_section = &self.mapping.sections[section];
        let value = &of_section.fields[field].value;
        let column = column_of(value, row, &dropped.text);
        let (reason, remedy) = split_remedy(&dropped.reason, remedy_of(&of_section.fields[field]));
        self.reject(&Reject { place: row.place(), column, value: &dropped.text, reason, remedy });
        let place = || place_text(&self.places, row.place(), column, &dropped.text);
        add_omission(&mut self.summary.sections[section].fields[field].dropped, reason, remedy, place);
    }

    /// Counts a value that is kept, though its text says something else or more.
    pub(super) fn noted(&mut self, section: usize, field: usize, row: &InputRow, noted: &Dropped) {
        let of_section = &self.mapping.sections[section];
        let column = column_of(&of_section.fields[field].value, row, &noted.text);
        let (reason, remedy) = split_remedy(&noted.reason, "none, if that is right");
        self.reject(&Reject { place: row.place(), column, value: &noted.text, reason, remedy });
        let place = || place_text(&self.places, row.place(), column, &noted.text);
        add_omission(&mut self.summary.sections[section].fields[field].noted, reason, remedy, place);
    }

    /// Counts a reference to an entity that neither the files nor the source have.
    pub(super) fn dangling(&mut self, section: usize, field: usize, place: Place, text: &str) {
        let of_section = &self.mapping.sections[section];
        let Some(known) = of_section.fields.get(field) else { return };
        let kind = known.reference.as_ref().map_or("record", |reference| reference.kind.name());
        let column = known.value.columns.first().map_or("", |column| &*column.name);
        let reason = format!("refers to a {kind} that neither the files nor the source have by name");
        let remedy = format!("add the {kind} to the files, or create it with `create = true`");
        self.reject(&Reject { place, column, value: text, reason: &reason, remedy: &remedy });
        let first = || place_text(&self.places, place, column, text);
        let counts = &mut self.summary.sections[section].fields[field];
        counts.values = counts.values.saturating_sub(1);
        add_omission(&mut counts.dropped, &reason, &remedy, first);
        counts.dangling += 1;
    }

    /// Counts an entity that lacks a required field, which leaves its record out.
    pub(super) fn incomplete(&mut self, kind: EntityKind, field: &'static str, place: Option<Place>, key: &str) {
        *self.lacking.entry((kind.name(), field)).or_default() += 1;
        let reason = format!("is a {kind} without `{field}`, which is not published");
        let remedy = format!("map a column to `{field}`, or fill the cell");
        if let Some(place) = place {
            self.reject(&Reject { place, column: "", value: key, reason: &reason, remedy: &remedy });
        }
        let first = || place_text(&self.places, place.unwrap_or_default(), "", key);
        add_omission(&mut self.summary.incomplete, &reason, &remedy, first);
    }

    /// Counts a value that another row of the entity replaced.
    pub(super) fn lost(&mut self, lost: &Lost<'_>) {
        let Lost { section, field, place, value, name, key, is_older } = *lost;
        let Some(known) = self.mapping.sections[section].fields.get(field) else { return };
        let is_name = known.target.name() == "name";
        let column = known.value.columns.first().map_or("", |column| &*column.name);
        let into = format!("merged into {name} (its key {})", quoted(key));
        let (what, reason, remedy) = match (is_older, is_name) {
            (true, _) => {
                ("a later row of which has another value", REPLACED, "none, if `latest_by` names the right column")
            }
            (_, true) => ("which has another name", FURTHER_NAME, DIFFERENT),
            (_, false) => ("which has another value", OTHER_VALUE, DIFFERENT),
        };
        self.reject(&Reject { place, column, value, reason: &format!("{into}, {what}"), remedy });
        let first = || format!("{}, {into}", place_text(&self.places, place, column, value));
        add_omission(&mut self.summary.sections[section].fields[field].merged, reason, remedy, first);
    }

    /// Counts the first row of an entity in a section, or a further one.
    pub(super) fn grouped(&mut self, section: usize, place: Place, rows_of_entity: u64, key: &str) {
        let Some(counts) = self.rows.get_mut(section).and_then(|files| files.get_mut(place.file as usize)) else {
            return;
        };
        if rows_of_entity == 1 {
            counts.kept += 1;
            return;
        }
        counts.merged += 1;
        let most = &mut self.summary.sections[section].most;
        if most.as_ref().is_none_or(|most| most.rows < rows_of_entity) {
            *most = Some(MostRows { rows: rows_of_entity, key: key.to_owned() });
        }
    }

    pub(super) fn joined(&mut self, counts: JoinSummary) {
        self.summary.joined.push(counts);
    }

    /// Writes the file of the rejects.
    pub(super) fn write_rejects(&mut self, to: &Path) -> Result<(), SourceError> {
        let Some(rejects) = self.rejects.take() else { return Ok(()) };
        rejects.write(to, &self.places).map_err(|error| SourceError::io(to, error))
    }

    /// Completes the summary, and checks that its sums are right.
    pub(super) fn finish(&mut self) -> Result<(), SourceError> {
        let mut wrong = Vec::new();
        for file in &mut self.summary.files {
            if file.rows != file.left_out + file.blank + total(&file.bad) + file.used {
                wrong.push(format!("rows of {}", file.file));
            }
            for (section, files) in self.mapping.sections.iter().zip(&self.rows) {
                if self.mapping.inputs[section.from].name == file.input {
                    file.sections.push(FileRows { kind: section.kind.name(), counts: files[file.index] });
                }
            }
        }
        let sections = self.mapping.sections.iter().zip(&mut self.summary.sections).zip(&self.rows);
        for ((section, summary), files) in sections {
            files.iter().for_each(|counts| summary.counts.add(*counts));
            let from = &self.mapping.inputs[section.from].name;
            let used: u64 = self.summary.files.iter().filter(|file| file.input == *from).map(|file| file.used).sum();
            let counts = summary.counts;
            if !counts.is_balanced() || counts.without_key != total(&summary.without_key) || counts.rows != used {
                wrong.push(format!("rows of {} from {from}", section.kind));
            }
            for field in &summary.fields {
                if field.values + total(&field.dropped) != field.read {
                    wrong.push(format!("values of {} from {from}", field.field));
                }
            }
        }
        for join in &self.summary.joined {
            let used: u64 =
                self.summary.files.iter().filter(|file| file.input == join.input).map(|file| file.used).sum();
            if used != join.used + join.unmatched + join.repeated {
                wrong.push(format!("rows of {}", join.input));
            }
        }
        if wrong.is_empty() {
            return Ok(());
        }
        let wrong = wrong.join(", ");
        let problem = format!("the account of the import does not add up ({wrong}), which is a fault of the indexer");
        Err(SourceError::Problems(vec![problem]))
    }

    /// Rejects an import of which nearly nothing is kept, or a field of which drops many values: its mapping is wrong.
    pub(super) fn check(&self) -> Result<(), SourceError> {
        let name = &self.mapping.name;
        let mut problems = Vec::new();
        for (section, summary) in self.mapping.sections.iter().zip(&self.summary.sections) {
            let kind = section.kind;
            for (field, counts) in section.fields.iter().zip(&summary.fields) {
                // Neither what the mapping leaves out nor a currency without rates shows that the mapping is wrong.
                let is_own = |reason: &str| [NOT_KEPT, NOT_FIRST, OTHERS].contains(&reason) || lacks_rates(reason);
                let is_wrong = |reason: &&Omission| !is_own(&reason.reason);
                let all: u64 = counts.values + total(&counts.dropped);
                let wrong = || counts.dropped.iter().filter(is_wrong);
                let dropped: u64 = wrong().map(|reason| reason.count).sum::<u64>() - counts.dangling;
                if field.value.unknown == Unknown::Drop || dropped < MIN_DROPPED || dropped * MAX_SHARE <= all {
                    continue;
                }
                let Some(most) = wrong().max_by_key(|reason| reason.count) else { continue };
                problems.push(format!(
                    "{name}:{}:{}: {}: {dropped} of {all} values cannot be used, the first at {} {}; correct the mapping, \
                     or accept it with `unknown = \"drop\"`",
                    field.position.line, field.position.column, counts.field, most.first, most.reason
                ));
            }
            let taken = summary.counts.taken();
            for Omission { reason, remedy, count, first, .. } in &summary.without_key {
                if count * 2 > taken {
                    let from = &summary.from;
                    problems.push(format!(
                        "{name}: {kind} from {from}: {count} of {taken} rows are left out, the first at {first}: {reason}; \
                         {remedy}, or correct the mapping"
                    ));
                }
            }
            for (field, counts) in section.fields.iter().zip(&summary.fields) {
                let is_required = SourceField::required(kind).contains(&&*counts.field);
                if is_required && counts.dangling * 2 > summary.counts.kept + summary.counts.merged {
                    let most = counts.dropped.iter().max_by_key(|reason| reason.count);
                    let (first, reason) = most.map_or(("", ""), |most| (&most.first, &most.reason));
                    problems.push(format!(
                        "{name}:{}:{}: {}: {} values are useless, the first at {first}, which {reason}; add the missing file, \
                         or write `create = true`",
                        field.position.line, field.position.column, counts.field, counts.dangling
                    ));
                }
            }
        }
        for FileSummary { bad, rows, .. } in &self.summary.files {
            for Omission { reason, count, first, .. } in bad.iter().filter(|bad| bad.count * 2 > *rows) {
                problems.push(format!(
                    "{first}: {reason}, and {count} of {rows} rows of the file cannot be read; check delimiter, quote and \
                     encoding of the input"
                ));
            }
        }
        for ((kind, field), count) in &self.lacking {
            let all = self.summary.entities.iter().find(|(known, _)| known == kind).map_or(0, |(_, count)| *count);
            let sentence = format!("is a {kind} without `{field}`");
            let first = self.summary.incomplete.iter().find(|known| known.reason.starts_with(&sentence));
            if count * 2 > all {
                let first = first.map_or("", |known| &known.first);
                problems.push(format!(
                    "{name}: {count} of {all} records of kind {kind} have no `{field}`, without which they are not \
                     published, the first: {first}; map a column to `{field}`"
                ));
            }
        }
        problems.extend(self.empty_inputs());
        if problems.is_empty() { Ok(()) } else { Err(SourceError::Problems(problems)) }
    }

    /// A problem for each input with rows of which none is in a record, or one if there is no record at all.
    fn empty_inputs(&self) -> Vec<String> {
        let name = &self.mapping.name;
        let kept = |section: &SectionSummary| section.counts.kept;
        if self.summary.sections.iter().all(|section| kept(section) == 0) {
            return vec![format!("{name}: no row became an entity; see `when` and `key`")];
        }
        let mut problems = Vec::new();
        for input in &self.mapping.inputs {
            let sections = || self.summary.sections.iter().filter(|section| section.from == input.name);
            let rows: u64 =
                self.summary.files.iter().filter(|file| file.input == input.name).map(|file| file.rows).sum();
            if rows > 0 && sections().count() > 0 && sections().all(|section| kept(section) == 0) {
                let kinds: Vec<&str> = sections().map(|section| section.kind).collect();
                let left_out: u64 = sections().map(|section| section.counts.left_out).max().unwrap_or_default();
                let file = self.summary.files.iter().find(|file| file.input == input.name && file.rows > 0);
                let file = file.map_or("", |file| &file.file);
                problems.push(format!(
                    "{name}:{}:{}: input {}: none of its {rows} rows ({file}) became a {}; `when` leaves out {left_out}: \
                     compare it with the values of the file, and see `key`",
                    input.position.line,
                    input.position.column,
                    input.name,
                    kinds.join(" or ")
                ));
            }
        }
        problems
    }
}

/// Column of a value's text: the first that contains it.
fn column_of<'v>(value: &'v MappedValue, row: &InputRow, text: &str) -> &'v str {
    let found = value.columns.iter().find(|column| row.get(column.index).contains(text));
    found.or(value.columns.first()).map_or("", |column| &column.name)
}

/// `f.csv:5: "Atlantis" in Country`.
fn place_text(files: &[String], place: Place, column: &str, value: &str) -> String {
    let file = files.get(place.file as usize).map_or("", |file| file);
    let value = quoted_if_shown(column, value);
    let column = if column.is_empty() { Cow::Borrowed("") } else { format!(" in {column}").into() };
    format!("{file}:{}: {value}{column}", place.line)
}

/// Splits a reason such as ``is not a stage; translate it with `map` `` from its remedy.
pub(super) fn split_remedy<'r>(reason: &'r str, default: &'r str) -> (&'r str, &'r str) {
    reason.split_once("; ").unwrap_or((reason, default))
}

/// Remedy for a value that does not fit its field, if the reason names none.
fn remedy_of(field: &FieldValue) -> &'static str {
    match field.target.form() {
        FieldForm::Line | FieldForm::Text | FieldForm::Sector => "correct the cell, or map another column",
        FieldForm::Website => "write it as `https://alder.example`, or accept the loss with `unknown = \"drop\"`",
        FieldForm::Country => "write the country, such as `DE` or `Germany`, or translate it with `map`",
        FieldForm::Year => "write a year such as `2019`, or name the format of dates in `dates`",
        FieldForm::Date | FieldForm::Month => "write it as `2026-06-30`, or name its format in `dates`",
        FieldForm::Dollars => "write digits, or say `currency`, `unit` or `decimal` in the mapping",
        FieldForm::Stage | FieldForm::FirmKind | FieldForm::StartupStatus => "translate it with `map`",
        FieldForm::Reference(_) => "correct the key in the cell",
        FieldForm::ReviewStatus => "write `approved`, `pending` or `rejected`, or translate it with `map`",
        FieldForm::ReviewerRole => "write `founder`, `executive` or `other`, or translate it with `map`",
        FieldForm::ReviewProof => "write `none`, `email` or `confirmed`, or translate it with `map`",
        FieldForm::KeyedHash => "write a keyed hash of the account, never a name or an address",
        FieldForm::Rating => "write a whole number from 1 to 5",
        FieldForm::Truth => "write `true` or `false`, or translate it with `map`",
        FieldForm::Slug => "write lowercase letters, digits and single `-`, such as `alder-capital`",
        FieldForm::Identifier => "correct it, or accept the loss with `unknown = \"drop\"`",
    }
}
