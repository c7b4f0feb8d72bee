//! Options: parameters other than filters that several endpoints take, such as `limit`, `fields` and `snapshot`.
//!
//! One table, in the order of the documents. A row drives the validation of names, what a cursor carries, the OpenAPI
//! documents and the reference, and which parameters of a URL a saved search leaves out. To add a flag: a row here, and
//! the code that asks [`ListRequest::is_set`](crate::pagination::ListRequest::is_set).

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::json;
use utoipa::openapi::Ref;
use utoipa::openapi::path::ParameterBuilder;

use catalog::Resource;
use catalog::ask::MAX_QUESTION_CHARS;
use catalog::json::fields::MAX_NAMES;
use data::Table;
use data::vocabulary::Vocabulary;

use crate::asked::ASK;
use crate::endpoint::Endpoint;
use crate::include::{INCLUDE, INCLUDED_ROWS};
use crate::openapi::parameter::{DocumentedOption, any_text, date, flag, integer, max_by_tier};
use crate::openapi::vocabulary::include_name;
use crate::pin::{AS_OF, SNAPSHOT};
use crate::{DEFAULT_LIMIT, MAX_LIMIT, Route, Version};

pub(crate) const EXPLAIN: &str = "explain";
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
    is_taken: fn(Version, &Endpoint) -> bool,
    /// Its description, schema and example in the OpenAPI documents.
    document: fn(&DocumentedOption<'_>) -> ParameterBuilder,
}

const fn row(
    name: &'static str,
    scope: OptionScope,
    is_taken: fn(Version, &Endpoint) -> bool,
    document: fn(&DocumentedOption<'_>) -> ParameterBuilder,
) -> RequestOption {
    RequestOption { name, scope, is_taken, document }
}

static ALL: &[RequestOption] = &[
    // Lists have this one. Other endpoints have a `limit` of their own.
    row(
        "limit",
        OptionScope::Page,
        |_, endpoint| endpoint.list.is_some(),
        |of| {
            let doc = match of.version {
                Version::V1 | Version::V2 => format!("Above {MAX_LIMIT} it is reduced to {MAX_LIMIT}, with a warning."),
                Version::V3 => {
                    let of_files = "As CSV and NDJSON there is no maximum, and by default all results are returned.";
                    format!("{} {of_files}", max_by_tier())
                }
            };
            of.limit(&format!("Maximum number of results. {doc}"), DEFAULT_LIMIT)
        },
    ),
    row(
        "offset",
        OptionScope::Fixed,
        |version, endpoint| version == Version::V1 && endpoint.list.is_some(),
        |of| {
            of.query("Number of results to skip. Past the end, `data` is empty.")
                .schema(Some(integer(0).default(Some(0.into()))))
                .example(Some(0.into()))
        },
    ),
    row(
        "page",
        OptionScope::Fixed,
        |version, endpoint| version == Version::V2 && endpoint.list.is_some(),
        |of| {
            of.query("The page number, from 1. Past the end, `data` is empty.")
                .schema(Some(integer(1).default(Some(1.into()))))
                .example(Some(1.into()))
        },
    ),
    row(
        "cursor",
        OptionScope::Fixed,
        |version, endpoint| version == Version::V3 && endpoint.is_paged,
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
        |version, endpoint| version == Version::V3 && !endpoint.includes().is_empty(),
        |of| {
            let table = of.route.subject();
            let default = if table == Table::People { " Default: all, unless `fields` is given." } else { "" };
            let doc = format!(
                "Related lists to return in `included`, each with its `total` and its first {INCLUDED_ROWS} rows.{default}"
            );
            let example = json!([of.route.endpoint.includes()[0].name()]);
            of.words(&doc, Ref::from_schema_name(include_name(table)), example, None)
        },
    ),
    row(
        ASK,
        OptionScope::Records,
        |version, endpoint| version == Version::V3 && endpoint.list.is_some_and(Resource::takes_questions),
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
            version == Version::V3 && endpoint.list.is_some_and(has_names)
        },
        |of| of.query("Explain in `meta.explain` why each record matches the search (with `q`).").schema(Some(flag())),
    ),
    row(
        AMOUNTS,
        OptionScope::Flag,
        |version, endpoint| version == Version::V3 && endpoint.list == Some(Resource::Rounds),
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

/// True for endpoints whose release a request may choose.
fn is_pinned(version: Version, endpoint: &Endpoint) -> bool {
    version == Version::V3 && endpoint.takes_release
}

fn document_fields(of: &DocumentedOption<'_>) -> ParameterBuilder {
    let (names, example) = of.field_names();
    let (_, default) = (of.route.endpoint.fields)(&of.route.endpoint);
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
fn is_representation(name: &str) -> bool {
    find(name).is_some_and(|option| option.scope != OptionScope::Records)
}

/// True for parameters of the API and of pages that do not decide which records a list has.
pub fn is_presentation(name: &str) -> bool {
    is_representation(name) || ["view", "format"].contains(&name)
}

/// The names of a route's parameters other than filters, in the order of the documents: its own, then the options.
pub fn names(version: Version, route: &Route) -> &'static [&'static str] {
    static NAMES: LazyLock<HashMap<(Version, &str), Vec<&str>>> = LazyLock::new(|| {
        let routes =
            Version::ALL.into_iter().flat_map(|version| Route::all(version).map(move |route| (version, route)));
        let names = routes.map(|(version, route)| {
            let taken = ALL.iter().filter(|option| (option.is_taken)(version, &route.endpoint));
            let own = route.endpoint.own.iter().map(|(name, _)| *name);
            ((version, route.operation), own.chain(taken.map(|option| option.name)).collect())
        });
        names.collect()
    });
    NAMES.get(&(version, route.operation)).map_or(&[], Vec::as_slice)
}

pub(crate) fn flags(version: Version, route: &Route) -> impl Iterator<Item = &'static str> + use<> {
    let is_flag = |name: &&&str| find(name).is_some_and(|option| option.scope == OptionScope::Flag);
    names(version, route).iter().filter(is_flag).copied()
}

/// Documents an option of an endpoint. Panics if there is no option of this name.
pub(crate) fn document(of: &DocumentedOption<'_>) -> ParameterBuilder {
    let option = find(of.name).unwrap_or_else(|| panic!("`{}` is no option", of.name));
    (option.document)(of)
}

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
            assert!(endpoints.any(|(version, route)| names(version, route).contains(&option.name)), "{}", option.name);
            assert!(ALL[..index].iter().all(|other| other.name != option.name), "{}", option.name);
        }
    }
}
