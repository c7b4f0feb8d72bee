//! Evidence of columns about cells that have two meanings.
//!
//! The first run of an import gathers it. If it decides anything, the import is run once more, so that memory stays flat and the
//! order of the rows does not matter.

use std::collections::HashMap;

use crate::sources::input::column_name;
use crate::sources::location::Codes;
use crate::sources::mapping::Value;
use crate::sources::money::Notation;

/// Evidence of the columns of one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnEvidence {
    pub notation: Notation,
    pub codes: Codes,
}

/// The evidence by input and name of the columns.
#[derive(Debug, Default)]
pub(crate) struct Evidence(HashMap<Vec<(usize, String)>, ColumnEvidence>);

fn key(value: &Value) -> Vec<(usize, String)> {
    value.columns.iter().map(|column| (column.input, column_name(&column.name))).collect()
}

impl Evidence {
    /// The evidence of the columns of a value.
    pub(crate) fn of(&self, value: &Value) -> ColumnEvidence {
        self.0.get(&key(value)).cloned().unwrap_or_default()
    }

    /// Adds evidence of the columns of a value.
    pub(crate) fn add(&mut self, value: &Value, seen: &ColumnEvidence) {
        let known = self.0.entry(key(value)).or_default();
        known.notation.merge(&seen.notation);
        known.codes.merge(&seen.codes);
    }

    /// Whether it decides more than the known evidence.
    pub(crate) fn decides_more_than(&self, known: &Self) -> bool {
        self.0.iter().any(|(columns, seen)| {
            let known = known.0.get(columns).cloned().unwrap_or_default();
            seen.notation.decides_more_than(&known.notation) || seen.codes.decide_more_than(&known.codes)
        })
    }
}
