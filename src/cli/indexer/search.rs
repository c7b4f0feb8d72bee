//! `indexer search`: matches of a name in the active release, with the components of each score.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use crate::app::settings::one_of;
use crate::cli::indexer::{CommandResult, IndexerExit, Style};
use catalog::TextIndexes;
use data::import::diagnostics::did_you_mean;
use data::{SnapshotVersion, Table, number};
use release::ReleaseStore;
use search::Explanation;

#[derive(Args)]
pub(crate) struct SearchArgs {
    /// Name to search for
    query: String,
    /// Records to search
    #[arg(long, value_parser = one_of(&TextIndexes::TABLES, Table::name), default_value = Table::Firms.name())]
    kind: Table,
    /// Maximum number of matches to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: usize,
    /// Explain the record with this slug, even if it does not match
    #[arg(long, value_name = "SLUG")]
    slug: Option<String>,
}

#[derive(Serialize)]
struct SearchMatch<'a> {
    slug: &'a str,
    name: &'a str,
    #[serde(flatten)]
    explanation: Explanation,
}

#[derive(Serialize)]
struct SearchMatches<'a> {
    snapshot: SnapshotVersion,
    total: usize,
    matches: Vec<SearchMatch<'a>>,
}

pub(crate) fn run(arguments: &SearchArgs, releases: &ReleaseStore, style: &Style) -> CommandResult {
    let Some(version) = releases.current()? else {
        let folder = releases.folder().display();
        writeln!(io::stderr(), "error: no active release in {folder}; run `indexer build` first")?;
        return Ok(IndexerExit::Rejected);
    };
    let release = releases.open(version)?;
    let catalog = &release.catalog;
    let table = arguments.kind;
    let snapshot = catalog.snapshot();
    let found = catalog.search(table, &arguments.query);
    let rows: Vec<u32> = match &arguments.slug {
        Some(slug) => match catalog.find(table, slug) {
            Some(row) => vec![row],
            None => {
                let hint = did_you_mean(catalog.nearest_slugs(table, slug, 1).into_iter().next());
                writeln!(io::stderr(), "error: no {} has the slug `{slug}`{hint}", table.noun())?;
                return Ok(IndexerExit::Rejected);
            }
        },
        None => found.hits.iter().take(arguments.limit).map(|hit| hit.row).collect(),
    };
    let matches: Vec<SearchMatch<'_>> = rows
        .into_iter()
        .filter_map(|row| {
            let explanation = catalog.explain(table, &arguments.query, row)?;
            Some(SearchMatch { slug: snapshot.slug(table, row), name: snapshot.name(table, row), explanation })
        })
        .collect();
    let result = SearchMatches { snapshot: version, total: found.hits.len(), matches };
    style.print(true, &result, |out| {
        for SearchMatch { slug, name, explanation } in &result.matches {
            let Explanation { score, strategy, text, prominence_bonus, parts, .. } = explanation;
            writeln!(out, "{score:.3}  {name}  ({slug})")?;
            writeln!(out, "       by {strategy} of {text:?}, prominence {prominence_bonus:.4}")?;
            for part in parts {
                writeln!(
                    out,
                    "       {:<12} {:.3} × {:.3} = {:.3}",
                    part.strategy, part.ceiling, part.similarity, part.points
                )?;
            }
        }
        writeln!(out, "{}", number::counted(result.total, "match", "matches"))
    })
}
