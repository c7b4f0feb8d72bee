//! Summary of an import: rows read, values mapped, and omissions with their reasons.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::sources::SourceError;
use crate::sources::convert::{ConvertedValue, Dropped};
use crate::sources::input::archive::printable;
use crate::sources::input::{InputRow, Member};
use crate::sources::mapping::{Mapping, Unknown};
use crate::sources::update::StatementChanges;
use data::Date;
use data::import::diagnostics::quoted;
use data::vocabulary::Vocabulary as _;

/// Maximum number of reasons per field; further ones count towards the last.
const MAX_REASONS: usize = 20;

pub(super) const MAX_WARNINGS: usize = 20;

/// Maximum number of places per reason, in addition to the first.
const MAX_PLACES: usize = 100;

/// Maximum number of files with places and warnings of their own; of further ones only the first place of a reason is kept.
const MAX_DETAILED: usize = 1_000;

/// A mapping is wrong if a field drops at least this many values, and more than one in `MAX_SHARE`.
const MIN_DROPPED: u64 = 10;
const MAX_SHARE: u64 = 5;

#[derive(Clone, Debug, Default, Serialize)]
pub struct ImportSummary {
    pub source: String,
    /// Fields without a value, such as `firms.aum_usd`.
    pub not_filled: Vec<String>,
    pub files: Vec<FileSummary>,
    pub sections: Vec<SectionSummary>,
    pub entities: Vec<(&'static str, u64)>,
    /// `complete` or `increment`.
    pub extent: &'static str,
    pub statements: StatementChanges,
    /// Latest day of an earlier import, if it is after the day of this one. This import decides anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later_import: Option<Date>,
    /// Files that no input of the mapping reads.
    pub unused: Vec<String>,
    #[serde(skip)]
    places: Vec<String>,
    /// Index and input of the files that are added.
    #[serde(skip)]
    added: HashSet<(usize, String)>,
    /// What became of the rows of a preview, by file and line; empty in other imports.
    #[serde(skip)]
    pub(crate) sampled: SampledRows,
    /// True if a preview left out the further rows of a file.
    #[serde(skip)]
    pub is_part: bool,
}

pub(crate) type SampledRows = HashMap<(u32, u64), Vec<RowEvent>>;

/// Part of what became of a row. Sections and fields are indexes of the mapping.
#[derive(Clone, Debug)]
pub(crate) enum RowEvent {
    /// The input's `when`, or that of a section, leaves the row out.
    Unused {
        section: Option<usize>,
    },
    WithoutKey {
        section: usize,
        reason: Cow<'static, str>,
    },
    Entity {
        section: usize,
    },
    Value {
        section: usize,
        field: usize,
        value: ConvertedValue,
    },
    Dropped {
        section: usize,
        field: usize,
        text: String,
        reason: Cow<'static, str>,
    },
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct FileSummary {
    pub input: String,
    pub file: String,
    pub rows: u64,
    /// Rows that the input's `when` leaves out.
    pub left_out: u64,
    pub bad: Vec<Omission>,
    /// Rows that are probably misread, each with its place. At most [`MAX_WARNINGS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub more_warnings: u64,
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
    pub left_out: u64,
    pub without_key: Vec<Omission>,
    /// Rows that a later row of the same entity replaced or completed.
    pub replaced: u64,
    pub fields: Vec<FieldSummary>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct FieldSummary {
    pub field: String,
    pub values: u64,
    pub dropped: Vec<Omission>,
}

/// Reason for leaving something out, with the number of cases and their places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Omission {
    pub reason: Cow<'static, str>,
    pub count: u64,
    /// File, line and value of the first case.
    pub first: String,
    /// Same for the next cases, at most `MAX_PLACES`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

pub(super) fn add_omission(reasons: &mut Vec<Omission>, reason: Cow<'static, str>, place: impl FnOnce() -> String) {
    let known = reasons.iter().position(|known| known.reason == reason);
    match known.or_else(|| (reasons.len() >= MAX_REASONS).then_some(MAX_REASONS - 1)) {
        Some(known) => {
            let Omission { count, others, .. } = &mut reasons[known];
            *count += 1;
            if others.len() < MAX_PLACES {
                others.push(place());
            }
        }
        None => reasons.push(Omission { reason, count: 1, first: place(), others: Vec::new() }),
    }
}

impl ImportSummary {
    pub(super) fn new(mapping: &Mapping, members: &[Member], files: &[Vec<usize>]) -> Self {
        let named = |field: String| FieldSummary { field, ..FieldSummary::default() };
        let sections = mapping.sections.iter().map(|section| SectionSummary {
            kind: section.kind.name(),
            from: mapping.inputs[section.from].name.clone(),
            fields: section.fields.iter().map(|field| named(field.target.name())).collect(),
            ..SectionSummary::default()
        });
        let used: HashSet<usize> = files.iter().flatten().copied().collect();
        let is_used = |index: &usize| used.contains(index);
        let unused = (0..members.len())
            .filter(|index| !is_used(index))
            .map(|index| printable(&members[index].path).into_owned());
        let places = members.iter().map(|member| member.name.clone()).collect();
        Self { sections: sections.collect(), unused: unused.collect(), places, ..Self::default() }
    }

    /// Adds the summary of a file, unless an earlier pass added it already, so that it is counted once.
    pub(super) fn add_file(&mut self, input: &str, index: usize, counts: FileSummary) {
        if !self.added.insert((index, input.to_owned())) {
            return;
        }
        let mut counts = FileSummary { input: input.to_owned(), ..counts };
        if self.files.len() >= MAX_DETAILED {
            counts.more_warnings += counts.warnings.len() as u64;
            counts.warnings.clear();
            counts.bad.iter_mut().for_each(|omission| omission.others.clear());
        }
        self.files.push(counts);
    }

    /// Notes what became of a row of a preview.
    pub(super) fn note(&mut self, row: &InputRow, event: impl FnOnce() -> RowEvent) {
        if !self.sampled.is_empty()
            && let Some(events) = self.sampled.get_mut(&(row.file, row.line))
        {
            events.push(event());
        }
    }

    pub(super) fn add_value(&mut self, section: usize, field: usize, row: &InputRow, value: &ConvertedValue) {
        self.sections[section].fields[field].values += 1;
        self.note(row, || RowEvent::Value { section, field, value: value.clone() });
    }

    pub(super) fn add_dropped(&mut self, section: usize, field: usize, row: &InputRow, dropped: Dropped) {
        let (text, reason) = (&dropped.text, &dropped.reason);
        self.note(row, || RowEvent::Dropped { section, field, text: text.clone(), reason: reason.clone() });
        let place = &self.places[row.file as usize];
        let first = || format!("{place}:{}: {}", row.line, quoted(&dropped.text));
        add_omission(&mut self.sections[section].fields[field].dropped, dropped.reason, first);
    }

    pub(super) fn without_key(&mut self, section: usize, row: &InputRow, reason: Cow<'static, str>) {
        self.note(row, || RowEvent::WithoutKey { section, reason: reason.clone() });
        let place = &self.places[row.file as usize];
        add_omission(&mut self.sections[section].without_key, reason, || format!("{place}:{}", row.line));
    }

    /// Rejects an import that drops many values of a field, because then the mapping is wrong.
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
                    mapping.name, field.position.line, field.position.column, counts.field, most.first, most.reason
                ));
            }
        }
        let without_key = |section: &SectionSummary| section.without_key.iter().map(|reason| reason.count).sum::<u64>();
        if self.sections.iter().all(|section| section.rows == section.left_out + without_key(section)) {
            problems.push(format!("{}: no row became an entity; see `when` and `key`", mapping.name));
        }
        if problems.is_empty() { Ok(()) } else { Err(SourceError::Problems(problems)) }
    }

    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }
}
