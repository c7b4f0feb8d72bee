//! `venturedex store`, and what commands on data folders say about a store in PostgreSQL.

use std::collections::BTreeMap;
use std::path::Path;

use crate::app::settings::StoreSettings;
use crate::cli::admin::{CommandError, print};
use auth::{CopiedTable, PostgresStore};

pub(super) fn refuse_backup(store: &StoreSettings) -> Result<(), CommandError> {
    match store.postgres()? {
        Some(settings) => Err(CommandError::BackupOfPostgres(PostgresStore::place(&settings)?)),
        None => Ok(()),
    }
}

pub(super) fn refuse_restore(store: &StoreSettings) -> Result<(), CommandError> {
    match store.postgres()? {
        Some(settings) => Err(CommandError::RestoreToPostgres(PostgresStore::place(&settings)?)),
        None => Ok(()),
    }
}

pub(super) fn copy(from: &Path, store: &StoreSettings, json: bool) -> Result<(), CommandError> {
    let settings = store.postgres()?.ok_or(CommandError::NoTarget)?;
    let place = PostgresStore::place(&settings)?;
    let copied = PostgresStore::copy_from(from, &settings)?;
    if json {
        let tables: BTreeMap<&str, u64> = copied.iter().map(|CopiedTable { name, rows }| (*name, *rows)).collect();
        return print::print_json(&serde_json::json!({ "from": from, "to": place, "rows": tables }));
    }
    let rows = copied.iter().map(|CopiedTable { name, rows }| [(*name).to_owned(), rows.to_string()]);
    print::print_table(["TABLE", "ROWS"], rows.collect())?;
    print::note(&format!(
        "copied {} to {place} and compared both row by row; start all servers with --store, and keep the folder until they serve",
        from.display()
    ));
    Ok(())
}
