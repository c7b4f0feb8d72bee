//! `indexer aliases`: proposals for `aliases.csv`, found in a dataset.

use serde::Serialize;

use crate::cli::indexer::{CommandResult, Style, check};
use data::derive::alias_candidates::AliasCandidate;
use data::import::{DatasetInput, aliases};

#[derive(Serialize)]
struct AliasProposals<'a> {
    total: usize,
    /// The surest first.
    candidates: Vec<AliasCandidate<'a>>,
}

pub(crate) fn run(dataset: DatasetInput<'_>, style: &Style) -> CommandResult {
    let compiled = check::compile(dataset, style)?;
    let candidates = compiled.alias_candidates();
    let result = AliasProposals { total: candidates.len(), candidates };
    style.print(true, &result, |out| aliases::write(&result.candidates, out))
}
