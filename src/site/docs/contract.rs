//! `/docs/contract`: what a client may rely on, as tables from the code, and the same as text for programs.
//!
//! The text is a file of the repository, which a test compares with the tables. Its first line is the day of its last
//! change.

use askama::Template;

use crate::static_pages::DocsContext;
use api::openapi::reference::ApiReference;
use api::{MAX_LIMIT, MAX_PAID_LIMIT, Route, Version, request_limits};
use auth::quota::{Tier, TierLimits, Tiers};
use catalog::{ParameterError, Resource};
use data::Table;
use data::number::grouped;
use data::vocabulary::Vocabulary;
use transport::problem::Code;
use transport::static_asset::StaticAsset;
use view::html;

/// The text as it was when it last changed.
const WRITTEN: &str = include_str!("contract.txt");

struct ContractTable {
    id: &'static str,
    title: &'static str,
    note: &'static str,
    columns: &'static [&'static str],
    /// Cells with `code` and [links](/to).
    rows: Vec<Vec<String>>,
}

#[derive(Template)]
#[template(path = "docs/contract.html")]
struct ContractPage<'a> {
    changed_on: &'a str,
    version: &'a str,
    tables: Vec<ContractTable>,
    base: &'a str,
}

pub(crate) fn page(context: &DocsContext<'_>) -> askama::Result<String> {
    let changed_on = WRITTEN.lines().next().unwrap_or_default();
    let version = env!("CARGO_PKG_VERSION");
    ContractPage { changed_on, version, tables: tables(context), base: context.base }.render()
}

/// The tables as lines of cells, separated by ` | `.
pub(crate) fn text(context: &DocsContext<'_>) -> StaticAsset {
    let mut text = WRITTEN.lines().next().unwrap_or_default().to_owned();
    for table in tables(context) {
        text.push_str(&format!("\n\n{}: {}", table.title, table.columns.join(" | ")));
        table.rows.iter().for_each(|row| text.push_str(&format!("\n{}", html::plain(&row.join(" | ")))));
    }
    text.push('\n');
    StaticAsset::new("text/plain; charset=utf-8", text)
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

fn codes<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    texts.into_iter().map(code).collect::<Vec<_>>().join(" ")
}

fn or_unlimited(number: Option<u32>) -> String {
    number.map_or_else(|| "unlimited".to_owned(), grouped)
}

fn tables(context: &DocsContext<'_>) -> Vec<ContractTable> {
    let reference = context.reference();
    vec![
        ContractTable {
            id: "paths",
            title: "Paths",
            note: "Below `/api/v1`, `/api/v2` and `/api/v3`, and without `/api`.",
            columns: &["Path", "Versions", "Methods", "Returns"],
            rows: Route::all(Version::V3).map(path).collect(),
        },
        ContractTable {
            id: "parameters",
            title: "Parameters",
            note: "Of v3. Filters and `sort` are the same in v1 and v2, which page by `offset` and `page` in place of \
                   `cursor`. Values of a list are separated by commas: any of them applies.",
            columns: &["Path", "Parameter", "Values and default"],
            rows: parameters(reference),
        },
        ContractTable {
            id: "lists",
            title: "Orders and fields of lists",
            note: "A single record has all fields.",
            columns: &["List", "Order", "Other sort keys", "Fields", "Further fields"],
            rows: Resource::ALL.iter().filter(|list| **list == Resource::of_table(list.table())).map(list).collect(),
        },
        ContractTable {
            id: "limits",
            title: "Limits and defaults",
            note: "",
            columns: &["Of", "Default", "At most", "Beyond it"],
            rows: request_limits().iter().map(|limit| limit.cells().to_vec()).collect(),
        },
        ContractTable {
            id: "tiers",
            title: "Tiers",
            note: "",
            columns: &[
                "Tier",
                "Requests per key and day",
                "Keys",
                "Records on a page of v3",
                "Saved searches and lists",
            ],
            rows: Tier::ALL.into_iter().map(|tier| row_of_tier(tier, context.tiers)).collect(),
        },
        ContractTable {
            id: "values",
            title: "Values",
            note: "Of parameters and responses. Values may be added to those of responses.",
            columns: &["Type", "Values"],
            rows: reference
                .schemas
                .iter()
                .filter_map(|schema| Some(vec![code(&schema.name), schema.words.clone()?]))
                .collect(),
        },
        ContractTable {
            id: "errors",
            title: "Errors",
            note: "[What each means](/docs/errors).",
            columns: &["Status", "Code", "Title"],
            rows: Code::ALL
                .into_iter()
                .map(|error| vec![error.status().as_u16().to_string(), code(error.name()), error.title().to_owned()])
                .collect(),
        },
        ContractTable {
            id: "warnings",
            title: "Warnings",
            note: "Codes in `meta.warnings`, next to those of errors that v1 and v2 only warn of.",
            columns: &["Code"],
            rows: ParameterError::WARNINGS.iter().map(|warning| vec![code(warning)]).collect(),
        },
    ]
}

fn path(route: &Route) -> Vec<String> {
    let versions = Version::ALL.into_iter().filter(|version| route.since <= *version).map(Version::segment);
    vec![code(&format!("/{}", route.path)), codes(versions), route.methods().to_owned(), route.summary.to_owned()]
}

fn parameters(reference: &ApiReference) -> Vec<Vec<String>> {
    let endpoints = reference.groups.iter().flat_map(|group| &group.endpoints);
    let rows = endpoints.flat_map(|endpoint| {
        let path = code(&format!("/{}", endpoint.route.path));
        let in_query = endpoint.parameters.iter().filter(|parameter| !parameter.is_in_path);
        in_query.map(move |parameter| {
            let required = if parameter.is_required { "required; " } else { "" };
            let values = parameter.values.replace("](#", "](/docs/reference/schemas#");
            vec![path.clone(), code(&parameter.name), format!("{required}{values}")]
        })
    });
    rows.collect()
}

fn list(list: &Resource) -> Vec<String> {
    let table: Table = list.table();
    let (own, all) = (table.default_fields(), table.model().fields);
    let names = |fields: &'static [data::field::Field]| codes(fields.iter().map(|field| field.name));
    vec![
        code(&format!("/{}", list.path())),
        code(table.default_sort()),
        codes(table.sort_keys().iter().copied()),
        names(own),
        names(&all[own.len()..]),
    ]
}

fn row_of_tier(tier: Tier, tiers: &Tiers) -> Vec<String> {
    let TierLimits { requests, keys } = tiers.of(tier);
    let page = if tier == Tier::Free { MAX_LIMIT } else { MAX_PAID_LIMIT };
    vec![code(tier.name()), or_unlimited(requests), or_unlimited(keys), grouped(page), grouped(tier.watches())]
}
