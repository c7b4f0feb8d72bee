//! `indexer aliases`: proposals for `aliases.csv`, found in a dataset.

use std::io::{self, Write};

use serde::Serialize;

use crate::cli::indexer::{CommandError, IndexerExit, Style, check, format};
use data::derive::alias_candidates::AliasCandidate;
use data::import::{DatasetInput, aliases};

#[derive(Serialize)]
struct AliasProposals<'a> {
    ok: bool,
    total: usize,
    /// The surest first.
    candidates: Vec<AliasCandidate<'a>>,
}

pub(crate) fn run(dataset: DatasetInput<'_>, style: &Style) -> Result<IndexerExit, CommandError> {
    let compiled = match check::compile(dataset, style)? {
        Ok(compiled) => compiled,
        Err(code) => return Ok(code),
    };
    let candidates = compiled.alias_candidates();
    if style.json {
        format::json(&AliasProposals { ok: true, total: candidates.len(), candidates })?;
        return Ok(IndexerExit::Success);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    aliases::write(&candidates, &mut out)?;
    out.flush()?;
    Ok(IndexerExit::Success)
}
