//! Records as pages read them.

use serde::de::DeserializeOwned;

use crate::catalog::Catalog;
use crate::data::Table;

pub use crate::data::model::*;

/// The record of a row, as the type of its table; `None` if it does not fit, which a checked snapshot excludes.
pub fn read<R: DeserializeOwned>(catalog: &Catalog, table: Table, row: u32) -> Option<R> {
    let mut text = catalog.snapshot().record(table, row).whole().to_vec();
    text.push(b'}');
    serde_json::from_slice(&text).ok()
}
