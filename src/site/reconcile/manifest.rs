//! The manifest of the service, and its types.

use serde_json::{Value, json};

use catalog::{Catalog, Item};
use data::{Names, Table};
use service::BrandName;

use super::{MAX_BATCH, PREVIEW, PROPERTIES, Parameters, SUGGEST_ENTITY, SUGGEST_PROPERTY, SUGGEST_TYPE, VIEW, extension};

/// A type by the noun of its records: `firm`.
pub(super) fn kind(noun: &str) -> Value {
    json!({ "id": noun, "name": extension::label(noun) })
}

pub(super) fn manifest(catalog: &Catalog, service: &BrandName, base: &str) -> Value {
    let endpoint = |path: &str| json!({ "service_url": base, "service_path": path });
    let used = Item::TABLES.into_iter().filter(|table| catalog.snapshot().names(*table).len() > 0);
    json!({
        "versions": ["0.1", "0.2"],
        "name": format!("{service} ({})", catalog.version()),
        "identifierSpace": format!("{base}/"),
        "schemaSpace": format!("{base}/docs/resolve#reconcile"),
        "documentation": format!("{base}/docs/resolve#reconcile"),
        "defaultTypes": used.map(|table| kind(table.noun())).collect::<Vec<_>>(),
        "batchSize": MAX_BATCH,
        "view": { "url": format!("{base}{}?id={{{{id}}}}", VIEW) },
        "preview": { "url": format!("{base}{}?id={{{{id}}}}", PREVIEW), "width": 430, "height": 300 },
        "suggest": {
            "entity": endpoint(SUGGEST_ENTITY),
            "type": endpoint(SUGGEST_TYPE),
            "property": endpoint(SUGGEST_PROPERTY),
        },
        "extend": { "propose_properties": endpoint(PROPERTIES), "property_settings": [] },
    })
}

/// Suggests types by the beginning of their names.
pub(super) fn suggest_types(parameters: &Parameters) -> Value {
    let prefix = parameters.text("prefix").to_lowercase();
    let found = Item::TABLES.map(Table::noun).into_iter().filter(|noun| noun.starts_with(&prefix));
    json!({ "result": found.map(kind).collect::<Vec<_>>() })
}
