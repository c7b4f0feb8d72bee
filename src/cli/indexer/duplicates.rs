//! `indexer duplicates`: records of a dataset that are probably the same.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use crate::cli::indexer::{CommandError, IndexerExit, Style, check, format};
use data::Table;
use data::compile::NearDuplicateRecord;
use data::import::{DatasetInput, referable};

#[derive(Serialize)]
struct Duplicates<'a> {
    ok: bool,
    duplicates: BTreeMap<Table, Vec<NearDuplicateRecord<'a>>>,
}

pub(crate) fn run(dataset: DatasetInput<'_>, style: &Style) -> Result<IndexerExit, CommandError> {
    let compiled = match check::compile(dataset, style)? {
        Ok(compiled) => compiled,
        Err(code) => return Ok(code),
    };
    let duplicates = referable::TABLES.map(|table| (table, compiled.near_duplicates(table)));
    if style.json {
        format::json(&Duplicates { ok: true, duplicates: BTreeMap::from(duplicates) })?;
        return Ok(IndexerExit::Success);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (table, duplicates) in &duplicates {
        for NearDuplicateRecord { record, main, reason } in duplicates {
            let noun = table.noun();
            writeln!(out, "{noun} {} ({}) of {} ({}): {reason}", record.slug, record.name, main.slug, main.name)?;
        }
    }
    for (table, duplicates) in &duplicates {
        writeln!(out, "{}: {}", table.name(), format::counted(duplicates.len(), "near-duplicate"))?;
    }
    out.flush()?;
    Ok(IndexerExit::Success)
}
