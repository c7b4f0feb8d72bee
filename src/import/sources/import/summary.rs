//! What an import read, what it mapped, and what it left out and why.

use std::borrow::Cow;

use serde::Serialize;

use crate::sources::convert::Dropped;
use crate::sources::input::{Member, Row};
use crate::sources::mapping::{Mapping, Unknown};
use crate::sources::update::Changes;
use crate::sources::{EntityKind, SourceError};
use data::Date;
use data::import::diagnostics::quoted;
use data::vocabulary::Vocabulary as _;

/// Different reasons that are kept for a field; further ones count as the last.
const MAX_REASONS: usize = 20;

/// Warnings that are kept for a file.
const MAX_WARNINGS: usize = 20;

/// Places of a reason that are kept in addition to the first.
const MAX_PLACES: usize = 100;

/// A field is read wrongly if at least so many values are left out, and more than one of so many.
const MIN_DROPPED: u64 = 10;
const MAX_SHARE: u64 = 5;

#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    pub files: Vec<FileSummary>,
    pub sections: Vec<SectionSummary>,
    /// Entities of each kind.
    pub entities: Vec<(&'static str, u64)>,
    /// `complete` or `increment`.
    pub extent: &'static str,
    pub statements: Changes,
    /// The latest day of an earlier import, if that is after the day of this one, which decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later_import: Option<Date>,
    /// Files that no input of the mapping reads.
    pub unused: Vec<String>,
    #[serde(skip)]
    places: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct FileSummary {
    pub input: String,
    pub file: String,
    pub rows: u64,
    /// Rows that the input's `when` leaves out.
    pub left_out: u64,
    /// Rows that cannot be read.
    pub bad: Vec<Reason>,
    /// Rows that are probably not read as they were meant, each with its place; the first [`MAX_WARNINGS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The number of further ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_warnings: u64,
    #[serde(skip)]
    index: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct SectionSummary {
    pub kind: &'static str,
    pub from: String,
    pub rows: u64,
    /// Rows that `when` leaves out.
    pub left_out: u64,
    /// Rows whose entity has no key.
    pub without_key: Vec<Reason>,
    /// Rows that were replaced by a later one of the same entity, or completed by it.
    pub replaced: u64,
    pub fields: Vec<FieldSummary>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct FieldSummary {
    pub field: String,
    pub values: u64,
    pub dropped: Vec<Reason>,
}

/// Why something was left out, how often, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reason {
    pub reason: Cow<'static, str>,
    pub count: u64,
    /// File, line and value.
    pub first: String,
    /// Of the next cases.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

fn add(reasons: &mut Vec<Reason>, reason: Cow<'static, str>, place: impl FnOnce() -> String) {
    let known = reasons.iter().position(|known| known.reason == reason);
    match known.or_else(|| (reasons.len() >= MAX_REASONS).then_some(MAX_REASONS - 1)) {
        Some(known) => {
            let Reason { count, others, .. } = &mut reasons[known];
            *count += 1;
            if others.len() < MAX_PLACES {
                others.push(place());
            }
        }
        None => reasons.push(Reason { reason, count: 1, first: place(), others: Vec::new() }),
    }
}

impl Summary {
    pub(super) fn of(mapping: &Mapping, members: &[Member], files: &[Vec<usize>]) -> Self {
        let sections = mapping.sections.iter().map(|section| SectionSummary {
            kind: section.kind.name(),
            from: mapping.inputs[section.from].name.clone(),
            fields: section
                .fields
                .iter()
                .map(|field| FieldSummary { field: field.target.name(), ..FieldSummary::default() })
                .collect(),
            ..SectionSummary::default()
        });
        let is_used = |index: &usize| files.iter().any(|files| files.contains(index));
        let unused = (0..members.len()).filter(|index| !is_used(index)).map(|index| members[index].path.clone());
        Self {
            sections: sections.collect(),
            unused: unused.collect(),
            places: members.iter().map(|member| member.name.clone()).collect(),
            ..Self::default()
        }
    }

    /// The summary of a file of an input. A file that is read in several passes is counted once.
    pub(super) fn file(&mut self, input: &str, index: usize) -> Option<&mut FileSummary> {
        let is_known = self.files.iter().any(|file| file.index == index && file.input == input);
        if is_known {
            return None;
        }
        let file = self.places[index].clone();
        self.files.push(FileSummary { input: input.to_owned(), file, index, ..FileSummary::default() });
        self.files.last_mut()
    }

    pub(super) fn drop(&mut self, section: usize, field: usize, row: &Row, dropped: Dropped) {
        let place = &self.places[row.file as usize];
        let first = || format!("{place}:{}: {}", row.line, quoted(&dropped.text));
        add(&mut self.sections[section].fields[field].dropped, dropped.reason, first);
    }

    pub(super) fn without_key(&mut self, section: usize, row: &Row, reason: Cow<'static, str>) {
        let place = &self.places[row.file as usize];
        add(&mut self.sections[section].without_key, reason, || format!("{place}:{}", row.line));
    }

    /// Rejects an import that leaves out many values of a field: then the mapping is wrong, not a few values.
    pub(super) fn check(&self, mapping: &Mapping) -> Result<(), SourceError> {
        let mut problems = Vec::new();
        for (section, summary) in mapping.sections.iter().zip(&self.sections) {
            for (field, counts) in section.fields.iter().zip(&summary.fields) {
                let dropped: u64 = counts.dropped.iter().map(|reason| reason.count).sum();
                let all = dropped + counts.values;
                if field.value.unknown == Unknown::Drop || dropped < MIN_DROPPED || dropped * MAX_SHARE <= all {
                    continue;
                }
                let Some(most) = counts.dropped.iter().max_by_key(|reason| reason.count) else { continue };
                problems.push(format!(
                    "{}:{}:{}: {}: {dropped} of {all} values cannot be used, the first at {} {}; correct the mapping, or \
                     accept it with `unknown = \"drop\"`",
                    mapping.name, field.place.line, field.place.column, counts.field, most.first, most.reason
                ));
            }
        }
        if self.sections.iter().all(|section| section.rows == section.left_out + section.without_key()) {
            problems.push(format!("{}: no row became an entity; see `when` and `key`", mapping.name));
        }
        if problems.is_empty() { Ok(()) } else { Err(SourceError::Problems(problems)) }
    }

    pub(super) fn count_entity(&mut self, kind: EntityKind) {
        match self.entities.iter_mut().find(|(known, _)| *known == kind.name()) {
            Some((_, count)) => *count += 1,
            None => self.entities.push((kind.name(), 1)),
        }
    }

    /// The rows that were read.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }
}

impl FileSummary {
    pub(super) fn bad_row(&mut self, line: u64, problem: String) {
        let place = format!("{}:{line}", self.file);
        add(&mut self.bad, problem.into(), || place);
    }

    pub(super) fn doubt(&mut self, line: u64, problem: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(format!("{}:{line}: {problem}", self.file));
        } else {
            self.more_warnings += 1;
        }
    }
}

impl SectionSummary {
    /// The number of rows whose entity has no key.
    #[must_use]
    pub fn without_key(&self) -> u64 {
        self.without_key.iter().map(|reason| reason.count).sum()
    }
}
