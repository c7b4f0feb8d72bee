//! `completion/complete`: completes the arguments of prompts and of the resource template while a person types.

use std::cmp::Reverse;

use serde_json::{Map, Value, json};

use crate::backend::ToolRelease;
use crate::dispatch::invalid_params;
use crate::message::JsonRpcMessage;
use crate::resource::FIRM_TEMPLATE;
use crate::{RpcResult, prompt};
use catalog::Catalog;
use data::fold::fold;
use data::vocabulary::{Vocabulary, normal};
use data::{Country, Facet, Stage, Table};

/// Maximum number of values in a response, set by the protocol.
pub(crate) const MAX_VALUES: usize = 100;

/// True if the values are of records, and not of a vocabulary.
pub(crate) fn completes_names(message: &JsonRpcMessage) -> bool {
    let argument = message.params.get("argument").and_then(|argument| argument.get("name")).and_then(Value::as_str);
    message.method == "completion/complete" && matches!(argument, Some("slug" | "name"))
}

pub(crate) fn complete(params: &Map<String, Value>, release: &ToolRelease) -> RpcResult<Value> {
    let text = |object: &str, name: &str| params.get(object)?.get(name)?.as_str();
    let (Some(kind), Some(argument), Some(typed)) =
        (text("ref", "type"), text("argument", "name"), text("argument", "value"))
    else {
        let detail = "`params` of completion/complete need `ref` with `type`, and `argument` with `name` and `value`";
        return Err(invalid_params(detail));
    };
    let accepted: Vec<&str> = match (kind, text("ref", "name"), text("ref", "uri")) {
        ("ref/prompt", Some(name), _) => prompt::find(name)?.arguments.iter().map(|argument| argument.name).collect(),
        ("ref/resource", _, Some(FIRM_TEMPLATE)) => vec!["slug"],
        _ => {
            let detail =
                format!("`ref` must be a ref/prompt with `name`, or a ref/resource with the uri {FIRM_TEMPLATE}");
            return Err(invalid_params(detail));
        }
    };
    if !accepted.contains(&argument) {
        let detail = format!("`argument.name` must be one of {}", accepted.join(", "));
        return Err(invalid_params(detail));
    }
    let (values, total) = values(&release.catalog, argument, typed);
    Ok(json!({ "completion": { "values": values, "total": total, "hasMore": total > values.len() } }))
}

/// The first values of an argument that begin with the typed text, and the number of all such values.
fn values<'c>(catalog: &'c Catalog, argument: &str, typed: &str) -> (Vec<&'c str>, usize) {
    let mut values: Vec<&str> = match argument {
        "stage" => {
            let typed = normal(typed);
            Stage::names().into_iter().filter(|name| name.starts_with(&typed)).collect()
        }
        "country" => countries(catalog, typed),
        "sector" => return slugs(catalog, Table::Sectors, typed),
        "slug" | "name" => return slugs(catalog, Table::Firms, typed),
        _ => Vec::new(),
    };
    let total = values.len();
    values.truncate(MAX_VALUES);
    (values, total)
}

/// Countries by name or code, those with the most firms first.
fn countries(catalog: &Catalog, typed: &str) -> Vec<&'static str> {
    let folded = fold(typed);
    let begins = |country: &Country| fold(country.name()).starts_with(&folded) || fold(country.alpha2()) == folded;
    let mut found: Vec<(Reverse<u32>, &'static str)> = Country::all()
        .enumerate()
        .filter(|(_, country)| begins(country))
        .map(|(index, country)| {
            let firms = catalog.snapshot().facet_count(Table::Firms, Facet::Country, index as u32);
            (Reverse(firms), country.name())
        })
        .collect();
    found.sort_unstable();
    found.into_iter().map(|(_, name)| name).collect()
}

/// The first slugs of a table, most prominent first, and the number of all, by binary search in the order of slugs.
fn slugs<'c>(catalog: &'c Catalog, table: Table, typed: &str) -> (Vec<&'c str>, usize) {
    let snapshot = catalog.snapshot();
    let typed = fold(typed).replace(' ', "-");
    let slug = |row: u32| snapshot.slug(table, row);
    let by_slug = snapshot.by_slug(table);
    let start = by_slug.partition_point(|row| slug(*row) < typed.as_str());
    let length = by_slug[start..].partition_point(|row| slug(*row).starts_with(&typed));
    let mut rows = by_slug[start..start + length].to_vec();
    if rows.len() > MAX_VALUES {
        rows.select_nth_unstable(MAX_VALUES);
        rows.truncate(MAX_VALUES);
    }
    rows.sort_unstable();
    (rows.into_iter().map(slug).collect(), length)
}

#[cfg(test)]
mod tests {
    use super::*;
    use catalog::bundled;

    #[test]
    fn values_begin_with_what_was_typed_and_the_most_prominent_are_first() {
        let catalog = bundled().unwrap();
        let snapshot = catalog.snapshot();
        for table in [Table::Firms, Table::Sectors] {
            for typed in ["", "a", "be", "Alder C", "zzzz", "é"] {
                let prefix = fold(typed).replace(' ', "-");
                let all = (0..snapshot.rows(table)).map(|row| snapshot.slug(table, row));
                let all: Vec<&str> = all.filter(|slug| slug.starts_with(&prefix)).collect();
                let (values, total) = slugs(&catalog, table, typed);
                assert_eq!((total, values.as_slice()), (all.len(), &all[..all.len().min(MAX_VALUES)]), "{typed}");
            }
        }
        assert_eq!(values(&catalog, "stage", "Series ").0, ["series-a", "series-b", "series-c", "series-d-plus"]);
        assert_eq!(values(&catalog, "country", "germ").0, ["Germany"]);
        assert_eq!(values(&catalog, "country", "GB").0, ["United Kingdom"]);
        assert_eq!(values(&catalog, "country", "").0.len(), MAX_VALUES);
        assert_eq!(values(&catalog, "raise_usd", "1").1, 0);
    }
}
