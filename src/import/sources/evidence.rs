//! Evidence of whole columns about ambiguous cells. The first run of an import gathers it. If it decides anything, the
//! import runs once more, so that memory use does not grow and the order of the rows does not matter.

use std::collections::HashMap;

use crate::sources::input::column_name;
use crate::sources::location::Codes;
use crate::sources::mapping::MappedValue;
use crate::sources::mapping::date_format::DateEvidence;
use crate::sources::money::Notation;

/// Evidence from the columns of one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnEvidence {
    pub notation: Notation,
    /// Amounts that prove a decimal point, and a decimal comma.
    pub decimals: Opposites,
    pub codes: Codes,
    pub dates: DateEvidence,
}

/// The first cells of a column that prove two opposite notations, each with its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opposites([Option<(u64, String)>; 2]);

impl Opposites {
    /// Notes a cell that proves the first or the second notation.
    pub(crate) fn note(&mut self, is_first: bool, line: u64, text: &str) {
        let known = &mut self.0[usize::from(!is_first)];
        known.get_or_insert_with(|| (line, text.to_owned()));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (known, other) in self.0.iter_mut().zip(&other.0) {
            *known = known.take().or_else(|| other.clone());
        }
    }

    /// True for the first notation, false for the second; `None` if the column proves neither or both.
    pub(crate) fn only(&self) -> Option<bool> {
        match &self.0 {
            [Some(_), None] => Some(true),
            [None, Some(_)] => Some(false),
            _ => None,
        }
    }

    /// A cell of each notation, if the column contradicts itself.
    pub(crate) fn both(&self) -> Option<[(u64, &str); 2]> {
        match &self.0 {
            [Some(one), Some(other)] => Some([one, other].map(|(line, text)| (*line, text.as_str()))),
            _ => None,
        }
    }
}

/// Evidence of an import, by input and name of the columns.
#[derive(Debug, Default)]
pub(crate) struct ImportEvidence(HashMap<Vec<(usize, String)>, ColumnEvidence>);

fn columns_key(value: &MappedValue) -> Vec<(usize, String)> {
    value.columns.iter().map(|column| (column.input, column_name(&column.name))).collect()
}

impl ColumnEvidence {
    fn merge(&mut self, other: &Self) {
        self.notation.merge(&other.notation);
        self.decimals.merge(&other.decimals);
        self.codes.merge(&other.codes);
        self.dates.merge(&other.dates);
    }

    fn decides_more_than(&self, known: &Self) -> bool {
        self.notation.decides_more_than(&known.notation)
            || self.decimals.both().is_some() != known.decimals.both().is_some()
            || self.codes.decide_more_than(&known.codes)
            || self.dates.decides_more_than(&known.dates)
    }
}

impl ImportEvidence {
    pub(crate) fn for_value(&self, value: &MappedValue) -> ColumnEvidence {
        self.0.get(&columns_key(value)).cloned().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, value: &MappedValue, seen: &ColumnEvidence) {
        self.0.entry(columns_key(value)).or_default().merge(seen);
    }

    /// Adds evidence about the dates of a value that is no field.
    pub(crate) fn add_dates(&mut self, value: &MappedValue, seen: &DateEvidence) {
        self.0.entry(columns_key(value)).or_default().dates.merge(seen);
    }

    pub(crate) fn decides_more_than(&self, known: &Self) -> bool {
        self.0.iter().any(|(columns, seen)| {
            let known = known.0.get(columns).cloned().unwrap_or_default();
            seen.decides_more_than(&known)
        })
    }
}
