//! `indexer suppress`: removes a record from all future releases.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use crate::app::settings::one_of;
use crate::cli::indexer::progress::Steps;
use crate::cli::indexer::{CommandResult, Style, import};
use ::import::sources::suppressed::{FILE, KINDS};
use ::import::sources::{EntityKind, Suppressed, view};
use data::Date;
use data::vocabulary::Vocabulary as _;
pub(super) use import::resolve;

#[derive(Args)]
pub(crate) struct SuppressArgs {
    /// Kind of the record
    #[arg(value_parser = one_of(&KINDS, EntityKind::name))]
    kind: EntityKind,
    /// Its slug, the last part of the address of its page; of a round its id
    slug: String,
    /// Folder of sources, with suppressed.csv
    #[arg(long, value_name = "DIR")]
    sources: PathBuf,
    /// Why, for suppressed.csv, such as the number of a request
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,
}

#[derive(Serialize)]
struct AddedSuppressions<'a> {
    /// Each as `source/entity`.
    entities: &'a [String],
    /// Number of those that the file did not contain before.
    added: usize,
}

pub(crate) fn run(arguments: &SuppressArgs, today: Date, style: &Style) -> CommandResult {
    let SuppressArgs { kind, slug, sources: folder, why } = arguments;
    let sources = import::sources_in(folder)?;
    let steps = Steps::new(style.json);
    let suppressed = Suppressed::read(folder)?;
    let clusters = resolve::find_clusters(folder, &sources, &steps)?;
    let entities = view::entities_of(folder, &sources, &clusters, *kind, slug)?;
    drop(steps);
    let added = suppressed.add(folder, &entities, today, why)?;
    let entities: Vec<String> = entities.iter().map(|(source, entity)| format!("{source}/{entity}")).collect();
    style.print(true, &AddedSuppressions { entities: &entities, added }, |out| {
        let (count, file) = (entities.len(), folder.join(FILE));
        writeln!(out, "{added} of {count} added to {}: {}", file.display(), entities.join(", "))?;
        let then =
            "the next `indexer build --sources` leaves them out; `indexer prune` deletes releases that have them";
        writeln!(out, "{then}")
    })
}
