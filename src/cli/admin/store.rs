//! `venturedex store`, and the errors of data folder commands if the store is in PostgreSQL.

use std::collections::BTreeMap;
use std::path::Path;

use crate::app::settings::StoreSettings;
use crate::cli::admin::{AdminError, print};
use auth::PostgresStore;

pub(super) fn refuse_postgres(store: &StoreSettings, error: fn(String) -> AdminError) -> Result<(), AdminError> {
    match store.postgres()? {
        Some(settings) => Err(error(PostgresStore::display_url(&settings)?)),
        None => Ok(()),
    }
}

pub(super) fn copy(from: &Path, store: &StoreSettings, json: bool) -> Result<(), AdminError> {
    let settings = store.postgres()?.ok_or(AdminError::NoTarget)?;
    let place = PostgresStore::display_url(&settings)?;
    let copied = PostgresStore::copy_from(from, &settings)?;
    if json {
        let tables: BTreeMap<&str, u64> = copied.into_iter().collect();
        return print::print_json(&serde_json::json!({ "from": from, "to": place, "rows": tables }));
    }
    let rows = copied.iter().map(|(name, rows)| [(*name).to_owned(), rows.to_string()]);
    print::print_table(["TABLE", "ROWS"], rows.collect())?;
    print::note(&format!(
        "copied {} to {place} and compared both row by row; start all servers with --store, and keep the folder until they serve",
        from.display()
    ));
    Ok(())
}
