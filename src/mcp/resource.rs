//! Resources: JSON documents that an assistant may read without a question.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::backend::{ToolRelease, json};
use crate::dispatch::invalid_params;
use crate::error::INVALID_PARAMS;
use crate::{JsonRpcError, RpcResult, Tool, ToolCall};
use catalog::Catalog;
use data::{Facet, Table};

const JSON: &str = "application/json";
const SECTORS: &str = "venturedex://sectors";
const ABOUT: &str = "venturedex://about";
const FIRMS: &str = "venturedex://vcs/";
pub(crate) const FIRM_TEMPLATE: &str = "venturedex://vcs/{slug}";

/// The code of an unknown resource up to 2025-11-25.
const RESOURCE_NOT_FOUND: i32 = -32002;

const MAX_DEPTH: usize = 16;

pub(crate) fn firm_of(uri: &str) -> Option<&str> {
    uri.strip_prefix(FIRMS).filter(|slug| !slug.is_empty())
}

pub(crate) fn list() -> Value {
    json!({ "resources": [
        {
            "uri": SECTORS,
            "name": "sectors",
            "title": "Sectors",
            "description": "The sectors that filters accept, as a tree, with their numbers of firms and startups.",
            "mimeType": JSON,
        },
        {
            "uri": ABOUT,
            "name": "about",
            "title": "About the data",
            "description": "Title, source, license, size and dates of the data, and whether it is invented.",
            "mimeType": JSON,
        },
    ] })
}

pub(crate) fn templates() -> Value {
    json!({ "resourceTemplates": [{
        "uriTemplate": FIRM_TEMPLATE,
        "name": "vc",
        "title": "Venture capital firm",
        "description": "The profile of a firm, as get_vc_profile returns it.",
        "mimeType": JSON,
    }] })
}

pub(crate) fn read(params: &Map<String, Value>, release: &ToolRelease, is_stateless: bool) -> RpcResult<Value> {
    let Some(uri) = params.get("uri").and_then(Value::as_str) else {
        return Err(invalid_params(format!("`params` of resources/read need `uri` (text), such as {SECTORS}")));
    };
    let text = match (uri, firm_of(uri)) {
        (SECTORS, _) => Ok(sectors(&release.catalog).to_string()),
        (ABOUT, _) => Ok(json(release.catalog.totals())),
        (_, Some(slug)) => firm(release, slug),
        _ => Err(format!("there is no resource of this URI; resources: {SECTORS}, {ABOUT}, {FIRM_TEMPLATE}")),
    };
    let text = text.map_err(|message| {
        let code = if is_stateless { INVALID_PARAMS } else { RESOURCE_NOT_FOUND };
        JsonRpcError::new(StatusCode::OK, code, message).with_data(json!({ "code": "not_found", "uri": uri }))
    })?;
    Ok(json!({ "contents": [{ "uri": uri, "mimeType": JSON, "text": text }] }))
}

fn firm(release: &ToolRelease, slug: &str) -> Result<String, String> {
    let catalog = &release.catalog;
    let Some(row) = catalog.find(Table::Firms, slug) else {
        let nearest = catalog.nearest_slugs(Table::Firms, slug, 1);
        return Err(match nearest.first() {
            Some(nearest) => format!("no firm has this slug; did you mean {FIRMS}{nearest}?"),
            None => "no firm has this slug; search_vcs finds slugs by name".to_owned(),
        });
    };
    let arguments = Map::from_iter([("slug".to_owned(), catalog.snapshot().slug(Table::Firms, row).into())]);
    let call = ToolCall::parse(Tool::GetVcProfile, &arguments).expect("a slug is a valid argument");
    Ok(release.call(&call).expect("a firm of the snapshot has a profile"))
}

fn sectors(catalog: &Catalog) -> Value {
    let snapshot = catalog.snapshot();
    let top = (0..snapshot.rows(Table::Sectors)).filter(|row| snapshot.sector_parent(*row).is_none());
    let top: Vec<Value> = top.map(|row| sector(catalog, row, MAX_DEPTH)).collect();
    json!({ "snapshot": snapshot.version().to_string(), "sectors": top })
}

fn sector(catalog: &Catalog, row: u32, depth: usize) -> Value {
    let snapshot = catalog.snapshot();
    let (slug, name) = (snapshot.slug(Table::Sectors, row), snapshot.name(Table::Sectors, row));
    let count = |table| snapshot.facet_count(table, Facet::Sector, row);
    let mut sector = json!({
        "slug": slug, "name": name, "vc_count": count(Table::Firms), "startup_count": count(Table::Startups),
    });
    let below = snapshot.facet_rows(Table::Sectors, Facet::Parent, row);
    let below: Vec<Value> = match depth.checked_sub(1) {
        Some(depth) => below.iter().map(|row| self::sector(catalog, row, depth)).collect(),
        None => Vec::new(),
    };
    if !below.is_empty() {
        sector["sectors"] = below.into();
    }
    sector
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::bundled;

    #[test]
    fn the_tree_has_every_sector_once_with_the_counts_of_its_record() {
        fn add(sectors: &Value, parent: Option<&str>, seen: &mut Vec<(String, Option<String>, u64)>) {
            for sector in sectors.as_array().into_iter().flatten() {
                let slug = sector["slug"].as_str().unwrap();
                seen.push((slug.to_owned(), parent.map(str::to_owned), sector["startup_count"].as_u64().unwrap()));
                add(&sector["sectors"], Some(slug), seen);
            }
        }
        let catalog = bundled().unwrap();
        let snapshot = catalog.snapshot();
        let mut seen = Vec::new();
        add(&sectors(&catalog)["sectors"], None, &mut seen);
        seen.sort();
        let mut expected: Vec<_> = (0..snapshot.rows(Table::Sectors))
            .map(|row| {
                let record = snapshot.record(Table::Sectors, row);
                let value = |name| -> Value {
                    let index = Table::Sectors.field_index(name);
                    record.parse(index).unwrap()
                };
                let slug = value("slug").as_str().unwrap().to_owned();
                (slug, value("parent").as_str().map(str::to_owned), value("startup_count").as_u64().unwrap())
            })
            .collect();
        expected.sort();
        assert_eq!(seen, expected);
    }
}
