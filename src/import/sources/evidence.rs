//! Evidence of whole columns about ambiguous cells. The first run of an import gathers it. If it decides anything, the
//! import runs once more, so that memory use does not grow and the order of the rows does not matter.

use std::collections::HashMap;

use crate::sources::input::column_name;
use crate::sources::location::Codes;
use crate::sources::mapping::MappedValue;
use crate::sources::money::Notation;

/// Evidence from the columns of one value.
#[derive(Clone, Debug, Default)]
pub(crate) struct ColumnEvidence {
    pub notation: Notation,
    pub codes: Codes,
}

/// Evidence of an import, by input and name of the columns.
#[derive(Debug, Default)]
pub(crate) struct ImportEvidence(HashMap<Vec<(usize, String)>, ColumnEvidence>);

fn columns_key(value: &MappedValue) -> Vec<(usize, String)> {
    value.columns.iter().map(|column| (column.input, column_name(&column.name))).collect()
}

impl ImportEvidence {
    pub(crate) fn for_value(&self, value: &MappedValue) -> ColumnEvidence {
        self.0.get(&columns_key(value)).cloned().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, value: &MappedValue, seen: &ColumnEvidence) {
        let known = self.0.entry(columns_key(value)).or_default();
        known.notation.merge(&seen.notation);
        known.codes.merge(&seen.codes);
    }

    pub(crate) fn decides_more_than(&self, known: &Self) -> bool {
        self.0.iter().any(|(columns, seen)| {
            let known = known.0.get(columns).cloned().unwrap_or_default();
            seen.notation.decides_more_than(&known.notation) || seen.codes.decide_more_than(&known.codes)
        })
    }
}
