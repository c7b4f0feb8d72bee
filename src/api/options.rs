//! Options: parameters other than filters, such as `limit`, `fields` and `snapshot`.
//!
//! One table, in the order of the documents. A row drives the validation of names, what a cursor carries, the OpenAPI
//! documents and the reference, and which parameters of a URL a saved search leaves out. To add a flag: a row here, and
//! the code that asks [`ListRequest::is_set`](crate::pagination::ListRequest::is_set).

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::json;
use utoipa::openapi::path::ParameterBuilder;
use utoipa::openapi::{Ref, Required};

use catalog::Resource;
use catalog::aggregate::{DEFAULT_GROUPS, MAX_GROUPS, group_bys};
use catalog::ask::{GROUP_BY, MAX_QUESTION_CHARS};
use catalog::json::fields::MAX_NAMES;
use data::Table;

use crate::asked::ASK;
use crate::changes::{FROM, TO};
use crate::include::{INCLUDE, INCLUDED_ROWS, Include};
use crate::openapi::parameter::{DocumentedOption, any_text, date, flag, integer, long};
use crate::openapi::vocabulary::{GROUP_ORDER, group_name, include_name};
use crate::pin::{AS_OF, SNAPSHOT};
use crate::saved::{AFTER, SAVED};
use crate::{DEFAULT_LIMIT, EndpointKind, MAX_LIMIT, MAX_PAID_LIMIT, Route, SUGGESTIONS, Version};

/// Explain why each record matches the search.
pub(crate) const EXPLAIN: &str = "explain";
/// Sum up the amounts of all matching rounds.
pub(crate) const AMOUNTS: &str = "amounts";

/// The effect of an option on the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OptionScope {
    /// Decides which records are returned.
    Records,
    /// Selects a part or a release of a list, or its form; must not change while a cursor is followed.
    Fixed,
    /// A cursor carries it as a default; each page may change it.
    Page,
    /// A page option that is `true` or `false`, the default.
    Flag,
}

struct RequestOption {
    name: &'static str,
    scope: OptionScope,
    /// The endpoints that take it, by version.
    is_taken: fn(Version, EndpointKind) -> bool,
    /// Its description, schema and example in the OpenAPI documents.
    document: fn(&DocumentedOption<'_>) -> ParameterBuilder,
}

const fn row(
    name: &'static str,
    scope: OptionScope,
    is_taken: fn(Version, EndpointKind) -> bool,
    document: fn(&DocumentedOption<'_>) -> ParameterBuilder,
) -> RequestOption {
    RequestOption { name, scope, is_taken, document }
}

static ALL: &[RequestOption] = &[
    row(
        FROM,
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Changes,
        |of| {
            of.release("The release that your copy has; it must be held (`/snapshots`). May be omitted with a cursor.")
                .required(Required::True)
        },
    ),
    row(
        TO,
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Changes,
        |of| of.release("The release that your copy will have. Default: the release that is served."),
    ),
    row(
        "table",
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Changes,
        |of| {
            let doc = "Tables whose changes to return (any of). Default: all.";
            of.words(doc, Ref::from_schema_name("ChangedTable"), json!(["vcs"]), None)
        },
    ),
    row(
        "op",
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Changes,
        |of| {
            let doc = "What happened to the records (any of). Default: all.";
            of.words(doc, Ref::from_schema_name("ChangeOperation"), json!(["change"]), None)
        },
    ),
    row(
        "q",
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Suggestions,
        |of| {
            of.query("The text typed so far.")
                .required(Required::True)
                .extensions(None)
                .schema(Some(any_text().pattern(Some(r"\S"))))
                .example(Some(of.catalog.example_name(Table::Firms).into()))
        },
    ),
    row(
        "kind",
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Suggestions,
        |of| {
            let doc = "Kinds of records (any of); `vc` is a firm. Default: all.";
            of.words(doc, Ref::from_schema_name("SuggestedKind"), json!(["vc"]), None)
        },
    ),
    row(
        GROUP_BY,
        OptionScope::Records,
        |_, endpoint| matches!(endpoint, EndpointKind::Aggregate(_)),
        |of| {
            let resource = of.aggregated();
            let example = json!([group_bys(resource)[0].0]);
            let names = Ref::from_schema_name(group_name(resource));
            of.words("Properties to group by, each for itself.", names, example, None)
        },
    ),
    row(
        "sort",
        OptionScope::Records,
        |_, endpoint| matches!(endpoint, EndpointKind::Aggregate(_)),
        |of| {
            let doc =
                "Order of the groups. Default: `-count`; of years, quarters and numbers `-value`, the latest first.";
            of.query(doc).schema(Some(Ref::from_schema_name(GROUP_ORDER))).example(Some("-count".into()))
        },
    ),
    row(
        SAVED,
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Alerts,
        |of| {
            of.query("The number of one saved search or list (`/saved`). Default: all.")
                .schema(Some(long(0)))
                .example(Some(1.into()))
        },
    ),
    row(
        AFTER,
        OptionScope::Records,
        |_, endpoint| endpoint == EndpointKind::Alerts,
        |of| {
            of.query("The last `id` that you have: only later alerts are returned. Default: all that are kept.")
                .schema(Some(long(0)))
                .example(Some(0.into()))
        },
    ),
    row(
        "limit",
        OptionScope::Page,
        |_, endpoint| match endpoint {
            EndpointKind::List(..) | EndpointKind::Aggregate(_) | EndpointKind::Suggestions => true,
            EndpointKind::LookUp | EndpointKind::Alerts | EndpointKind::Changes => true,
            _ => false,
        },
        document_limit,
    ),
    row(
        "offset",
        OptionScope::Fixed,
        |version, endpoint| version == Version::V1 && matches!(endpoint, EndpointKind::List(..)),
        |of| {
            of.query("Number of results to skip. Past the end, `data` is empty.")
                .schema(Some(integer(0).default(Some(0.into()))))
                .example(Some(0.into()))
        },
    ),
    row(
        "page",
        OptionScope::Fixed,
        |version, endpoint| version == Version::V2 && matches!(endpoint, EndpointKind::List(..)),
        |of| {
            of.query("The page number, from 1. Past the end, `data` is empty.")
                .schema(Some(integer(1).default(Some(1.into()))))
                .example(Some(1.into()))
        },
    ),
    row(
        "cursor",
        OptionScope::Fixed,
        |version, endpoint| match endpoint {
            EndpointKind::List(..) => version == Version::V3,
            _ => endpoint == EndpointKind::Changes,
        },
        |of| {
            let doc = format!(
                "The next page: `pagination.next_cursor` of the previous response. It contains the snapshot and the whole \
                 query, so other parameters are not needed. Filters and `sort` must not change; {} may.",
                page_options()
            );
            of.query(&doc).schema(Some(any_text().pattern(Some("^[A-Za-z0-9_-]+$"))))
        },
    ),
    row("fields", OptionScope::Page, |version, _| version == Version::V3, document_fields),
    row(
        INCLUDE,
        OptionScope::Fixed,
        |version, endpoint| {
            version == Version::V3
                && matches!(endpoint, EndpointKind::Record(table) if !Include::of_table(table).is_empty())
        },
        |of| {
            let table = of.route.subject();
            let default = if table == Table::People { " Default: all, unless `fields` is given." } else { "" };
            let doc = format!(
                "Related lists to return in `included`, each with its `total` and its first {INCLUDED_ROWS} rows.{default}"
            );
            let example = json!([Include::of_table(table)[0].name()]);
            of.words(&doc, Ref::from_schema_name(include_name(table)), example, None)
        },
    ),
    row(
        ASK,
        OptionScope::Records,
        |version, endpoint| version == Version::V3 && listed(endpoint).is_some_and(Resource::takes_questions),
        |of| {
            let doc = "A question in words, such as `AI startups in Berlin that raised over $5m`. What is understood becomes \
                       parameters of this list, which other parameters of the request override; `meta.interpreted` says \
                       which, `meta.unread` what was not understood.";
            of.query(doc)
                .schema(Some(any_text().max_length(Some(MAX_QUESTION_CHARS)).pattern(Some(r"\S"))))
                .example(Some("seed rounds in Germany since 2023".into()))
        },
    ),
    row(
        EXPLAIN,
        OptionScope::Flag,
        |version, endpoint| {
            let has_names = |resource: Resource| resource.is_searchable() && resource != Resource::Rounds;
            version == Version::V3 && listed(endpoint).is_some_and(has_names)
        },
        |of| of.query("Explain in `meta.explain` why each record matches the search (with `q`).").schema(Some(flag())),
    ),
    row(
        AMOUNTS,
        OptionScope::Flag,
        |version, endpoint| version == Version::V3 && listed(endpoint) == Some(Resource::Rounds),
        |of| of.query("Sum up the amounts of all matching rounds in `meta.amounts`.").schema(Some(flag())),
    ),
    row(SNAPSHOT, OptionScope::Fixed, is_pinned, |of| {
        of.release(
            "A release that is held (`/snapshots`), so that several requests agree while a new release is published. \
             Default: the release that is served. A cursor contains its release.",
        )
    }),
    row(AS_OF, OptionScope::Fixed, is_pinned, |of| {
        let doc = "A day: the newest release of it or before, if it is held. A month, a quarter or a year is its last day. Not \
                   together with `snapshot`.";
        of.query(doc).schema(Some(date())).example(Some(of.catalog.snapshot().released_on().to_string().into()))
    }),
];

/// The list of an endpoint.
fn listed(endpoint: EndpointKind) -> Option<Resource> {
    match endpoint {
        EndpointKind::List(resource, _) => Some(resource),
        _ => None,
    }
}

/// True for endpoints whose release a request may choose.
fn is_pinned(version: Version, endpoint: EndpointKind) -> bool {
    let has_own = matches!(endpoint, EndpointKind::Saved | EndpointKind::Alerts | EndpointKind::Changes);
    version == Version::V3 && !has_own
}

fn document_limit(of: &DocumentedOption<'_>) -> ParameterBuilder {
    let reduced = format!("Above {MAX_LIMIT} it is reduced to {MAX_LIMIT}");
    let reduced_by_tier = format!(
        "Above {MAX_LIMIT} (with keys of the tiers pro and enterprise {MAX_PAID_LIMIT}) it is reduced to that, with a warning."
    );
    let (doc, default) = match of.route.content {
        EndpointKind::Aggregate(_) => {
            let doc = format!(
                "Maximum number of groups of each property. Above {MAX_GROUPS} it is reduced to {MAX_GROUPS}, with a warning."
            );
            (doc, DEFAULT_GROUPS as u64)
        }
        EndpointKind::Suggestions => (format!("Maximum number of results. {reduced}."), SUGGESTIONS),
        EndpointKind::List(..) if of.version == Version::V3 => {
            let doc = format!(
                "Maximum number of results. {reduced_by_tier} As CSV and NDJSON there is no maximum, and by default all \
                 results are returned."
            );
            (doc, DEFAULT_LIMIT)
        }
        EndpointKind::Changes => (format!("Maximum number of changes. {reduced_by_tier}"), DEFAULT_LIMIT),
        _ => (format!("Maximum number of results. {reduced}, with a warning."), DEFAULT_LIMIT),
    };
    of.query(&doc).schema(Some(integer(1).default(Some(default.into())))).example(Some(5.into()))
}

fn document_fields(of: &DocumentedOption<'_>) -> ParameterBuilder {
    let (names, example) = of.field_names();
    let default = of.default_fields();
    let doc = format!(
        "Fields to return, in snake_case or camelCase; nested fields by their path (`score.value`); `*` for all. {default}"
    );
    of.words(&doc, Ref::from_schema_name(names), example, Some(MAX_NAMES))
}

fn find(name: &str) -> Option<&'static RequestOption> {
    ALL.iter().find(|option| option.name == name)
}

/// True for options that a cursor carries as defaults, and that each page may change.
pub fn is_page_option(name: &str) -> bool {
    find(name).is_some_and(|option| matches!(option.scope, OptionScope::Page | OptionScope::Flag))
}

/// True for options that do not decide which records a list has, such as `limit`.
pub fn is_representation(name: &str) -> bool {
    find(name).is_some_and(|option| option.scope != OptionScope::Records)
}

/// The names of the options that an endpoint takes, in the order of the documents.
pub(crate) fn names(version: Version, endpoint: EndpointKind) -> &'static [&'static str] {
    static NAMES: LazyLock<HashMap<(Version, EndpointKind), Vec<&str>>> = LazyLock::new(|| {
        let endpoints =
            Version::ALL.into_iter().flat_map(|version| Route::all(version).map(move |route| (version, route.content)));
        let taken = |version, endpoint| {
            let rows = ALL.iter().filter(|option| (option.is_taken)(version, endpoint));
            rows.map(|option| option.name).collect()
        };
        endpoints.map(|(version, endpoint)| ((version, endpoint.general()), taken(version, endpoint))).collect()
    });
    NAMES.get(&(version, endpoint.general())).map_or(&[], Vec::as_slice)
}

/// The names of the flags that a list takes.
pub(crate) fn flags(version: Version, resource: Resource) -> impl Iterator<Item = &'static str> {
    let is_flag = |name: &&&str| find(name).is_some_and(|option| option.scope == OptionScope::Flag);
    names(version, EndpointKind::List(resource, &[])).iter().filter(is_flag).copied()
}

/// Documents an option of an endpoint.
///
/// # Panics
/// If there is no option of this name.
pub(crate) fn document(of: &DocumentedOption<'_>, name: &str) -> ParameterBuilder {
    let option = find(name).unwrap_or_else(|| panic!("`{name}` is no option"));
    (option.document)(of)
}

/// The page options of lists in words.
fn page_options() -> String {
    let options = ALL.iter().map(|option| option.name).filter(|name| is_page_option(name));
    let names: Vec<String> = options.map(|name| format!("`{name}`")).collect();
    let (last, others) = names.split_last().expect("there are page options");
    format!("{} and {last}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_taken_by_an_endpoint_and_no_name_has_two_rows() {
        for (index, option) in ALL.iter().enumerate() {
            let mut endpoints =
                Version::ALL.into_iter().flat_map(|version| Route::all(version).map(move |route| (version, route)));
            assert!(
                endpoints.any(|(version, route)| names(version, route.content).contains(&option.name)),
                "{}",
                option.name
            );
            assert!(ALL[..index].iter().all(|other| other.name != option.name), "{}", option.name);
        }
    }
}
