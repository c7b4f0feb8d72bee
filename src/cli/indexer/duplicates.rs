//! `indexer duplicates`: records of a dataset that are probably the same.

use std::collections::BTreeMap;

use crate::cli::indexer::{CommandResult, Style, check, format};
use data::compile::NearDuplicateRecord;
use data::import::{DatasetInput, referable};

pub(crate) fn run(dataset: DatasetInput<'_>, style: &Style) -> CommandResult {
    let compiled = check::compile(dataset, style)?;
    let duplicates = referable::TABLES.map(|table| (table, compiled.near_duplicates(table)));
    let by_table: BTreeMap<_, _> = duplicates.iter().map(|(table, duplicates)| (*table, duplicates)).collect();
    style.print(true, &BTreeMap::from([("duplicates", by_table)]), |out| {
        for (table, duplicates) in &duplicates {
            for NearDuplicateRecord { record, main, reason } in duplicates {
                let noun = table.noun();
                writeln!(out, "{noun} {} ({}) of {} ({}): {reason}", record.slug, record.name, main.slug, main.name)?;
            }
        }
        for (table, duplicates) in &duplicates {
            writeln!(out, "{}: {}", table.name(), format::counted(duplicates.len(), "near-duplicate"))?;
        }
        Ok(())
    })
}
