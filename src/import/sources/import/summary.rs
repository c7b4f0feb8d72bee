//! Summary of an import: rows read, values mapped, and omissions with their reasons and remedies.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::Serialize;

use crate::sources::convert::ConvertedValue;
use crate::sources::import::account::RowCounts;
use crate::sources::import::rejects::shown;
use crate::sources::input::archive::printable;
use crate::sources::input::{InputRow, Member};
use crate::sources::mapping::Mapping;
use crate::sources::update::StatementChanges;
use data::Date;
use data::import::suspicions::Suspicion;
use data::vocabulary::Vocabulary as _;

/// Maximum number of reasons per field; further ones count towards the last.
const MAX_REASONS: usize = 20;

pub(super) const MAX_WARNINGS: usize = 20;

/// Maximum number of places per reason, in addition to the first.
const MAX_PLACES: usize = 100;

/// Maximum number of files with places and warnings of their own; of further ones only the first place of a reason is kept.
pub(super) const MAX_DETAILED: usize = 1_000;

/// A mapping is wrong if a field drops at least this many values, and more than one in `MAX_SHARE`.
pub(super) const MIN_DROPPED: u64 = 10;
pub(super) const MAX_SHARE: u64 = 5;

/// Number of values of a column that are shown, and of characters of each.
const MAX_SHOWN: usize = 3;
const MAX_SHOWN_TEXT: usize = 40;

#[derive(Clone, Debug, Default, Serialize)]
pub struct ImportSummary {
    pub source: String,
    /// Fields without a value, such as `firms.aum_usd`.
    pub not_filled: Vec<String>,
    pub files: Vec<FileSummary>,
    pub sections: Vec<SectionSummary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub joined: Vec<JoinSummary>,
    /// Entities that lack a required field, and are not published for it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub incomplete: Vec<Omission>,
    pub entities: Vec<(&'static str, u64)>,
    /// `complete` or `increment`.
    pub extent: &'static str,
    pub statements: StatementChanges,
    /// Latest day of an earlier import, if it is after the day of this one. This import decides anyway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub later_import: Option<Date>,
    /// Files that no input of the mapping reads.
    pub unused: Vec<String>,
    /// Columns that no section reads.
    pub not_used: Vec<UnusedColumn>,
    pub suspicions: Vec<Suspicion>,
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
    /// No column of the input that is used has a value.
    Blank {
        input: usize,
    },
    /// The input's `when`, or that of a section, leaves the row out.
    Unused {
        input: usize,
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
    #[serde(skip)]
    pub(super) index: usize,
    /// All rows: those below, and the bad ones.
    pub rows: u64,
    /// Rows that are used by sections or joins.
    pub used: u64,
    /// Rows that the input's `when` leaves out.
    pub left_out: u64,
    /// Rows without a value in the columns that are used.
    pub blank: u64,
    pub bad: Vec<Omission>,
    /// What was detected about the file, and what of it is not read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What became of the rows in each section.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub sections: Vec<FileRows>,
    /// Rows that are probably misread, each with its place. At most [`MAX_WARNINGS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    #[serde(skip_serializing_if = "is_zero")]
    pub more_warnings: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FileRows {
    pub kind: &'static str,
    #[serde(flatten)]
    pub counts: RowCounts,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct SectionSummary {
    pub kind: &'static str,
    pub from: String,
    #[serde(flatten)]
    pub counts: RowCounts,
    /// The entity of most rows, if it has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<MostRows>,
    #[serde(rename = "without_key_reasons")]
    pub without_key: Vec<Omission>,
    pub fields: Vec<FieldSummary>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct MostRows {
    pub rows: u64,
    pub key: String,
}

/// What became of the rows of an input that is read for joins only.
#[derive(Clone, Debug, Default, Serialize)]
pub struct JoinSummary {
    pub input: String,
    pub used: u64,
    /// Rows to whose key no row refers.
    pub unmatched: u64,
    /// Rows with the key of an earlier one.
    pub repeated: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct FieldSummary {
    pub field: String,
    pub values: u64,
    pub dropped: Vec<Omission>,
    /// Values that another row of the same entity replaced, which are counted as values, too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<Omission>,
    /// Values that are kept, though their texts say something else or more, such as a quarter of which the year is kept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub noted: Vec<Omission>,
    #[serde(skip)]
    pub(super) dangling: u64,
    /// Texts of the cells, each of which is a value or dropped.
    #[serde(skip)]
    pub(super) read: u64,
}

/// Reason for leaving something out, with the number of cases and their places.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Omission {
    pub reason: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    pub count: u64,
    /// File, line and value of the first case.
    pub first: String,
    /// Same for the next cases, at most `MAX_PLACES`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<String>,
}

/// A column that no section reads, with its first distinct values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UnusedColumn {
    pub input: String,
    pub column: String,
    pub values: Vec<String>,
    /// True if it has values that are not shown.
    pub is_private: bool,
}

impl UnusedColumn {
    /// Adds a value, unless there are enough.
    pub(super) fn add(&mut self, value: &str) {
        let value = value.trim();
        if value.is_empty() || self.is_private || self.values.len() >= MAX_SHOWN {
            return;
        }
        let Some(value) = shown(&self.column, value) else {
            self.is_private = true;
            return self.values.clear();
        };
        let value = data::parameter_error::shortened_to(MAX_SHOWN_TEXT, value);
        if !self.values.iter().any(|known| *known == value) {
            self.values.push(value.into_owned());
        }
    }
}

pub(super) fn add_omission(reasons: &mut Vec<Omission>, reason: &str, remedy: &str, place: impl FnOnce() -> String) {
    let known = reasons.iter().position(|known| known.reason == reason);
    match known.or_else(|| (reasons.len() >= MAX_REASONS).then_some(MAX_REASONS - 1)) {
        Some(known) => {
            let Omission { count, others, .. } = &mut reasons[known];
            *count += 1;
            if others.len() < MAX_PLACES {
                others.push(place());
            }
        }
        None => reasons.push(Omission {
            reason: reason.to_owned(),
            remedy: remedy.to_owned(),
            count: 1,
            first: place(),
            others: Vec::new(),
        }),
    }
}

/// Number of cases of all reasons.
pub fn total(reasons: &[Omission]) -> u64 {
    reasons.iter().map(|reason| reason.count).sum()
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
        Self { sections: sections.collect(), unused: unused.collect(), ..Self::default() }
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

    pub fn rows(&self) -> u64 {
        self.files.iter().map(|file| file.rows).sum()
    }
}
