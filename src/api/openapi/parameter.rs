//! The parameters of an endpoint, from the table that also drives their parsing.

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Required, Schema};

use crate::asked::ASK;
use crate::changes::{FROM, TO};
use crate::include::{INCLUDE, INCLUDED_ROWS, Include};
use crate::pin::{AS_OF, SNAPSHOT};
use crate::saved::{AFTER, SAVED};
use crate::{DEFAULT_LIMIT, EndpointKind, MAX_LIMIT, MAX_PAID_LIMIT, Route, SUGGESTIONS, Version};
use catalog::aggregate::{DEFAULT_GROUPS, MAX_GROUPS, group_bys};
use catalog::ask::MAX_QUESTION_CHARS;
use catalog::json::FieldSet;
use catalog::json::fields::MAX_NAMES;
use catalog::params::{MAX_TEXT_CHARS, ParamType, BoundUnit};
use catalog::parse::scalars::Bound;
use catalog::{Catalog, Property, Resource, params};
use data::vocabulary::Vocabulary;
use data::{self, Metric, Table};

use crate::openapi::look_up;
use crate::openapi::schema::{Schemas, item_name};
use crate::openapi::vocabulary::{
    GROUP_ORDER, field_name, group_name, include_name, property_name, sort_name, sort_values, vocabulary_of,
};

const ASK_DOC: &str = "A question in words, such as `AI startups in Berlin that raised over $5m`. What is understood becomes \
     parameters of this list, which other parameters of the request override; `meta.interpreted` says which, `meta.unread` what \
     was not understood.";

/// The parameters of an endpoint, path parameters first.
pub(crate) fn of_route(version: Version, route: &Route, schemas: &Schemas, catalog: &Catalog) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if let Some(name) = route.placeholder() {
        parameters.push(path_parameter(route, name, catalog));
    }
    for name in route.parameters(version) {
        parameters.push(match filter_of(route, name) {
            Some((resource, parameter)) => filter(version, resource, parameter, catalog),
            None => other(version, route, name, schemas, catalog),
        });
    }
    parameters
}

fn query(version: Version, name: &str, doc: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(doc))
        .extensions((!version.is_strict() || name == "q").then(empty_is_absent))
}

/// Marks an empty value as absent, because forms also send empty fields; in v3 only an empty search. The builder has no
/// setter for this.
fn empty_is_absent() -> Extensions {
    [("allowEmptyValue".to_owned(), Value::from(true))].into_iter().collect()
}

/// The slug or id in the path.
fn path_parameter(route: &Route, name: &str, catalog: &Catalog) -> Parameter {
    let table = route.subject();
    let schema = match table.key() {
        "slug" => any_text().pattern(Some("^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$")),
        _ => any_text(),
    };
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(format!("The {name} of the {}, case-insensitive.", table.noun())))
        .schema(Some(schema))
        .example(Some(catalog.example_slug(table).into()))
        .build()
}

/// Example value of a parameter, as written in a query.
pub fn example_of(route: &Route, name: &str, catalog: &Catalog) -> Option<String> {
    match (filter_of(route, name), name) {
        (_, name) if route.placeholder() == Some(name) => Some(catalog.example_slug(route.subject())),
        (Some((resource, parameter)), _) => Some(catalog.example(resource, parameter)),
        (None, "q" | "name") => Some(catalog.example_name(Table::Firms)),
        (None, "limit") => Some("5".to_owned()),
        (None, "group_by") => {
            let EndpointKind::Aggregate(resource) = route.content else { return None };
            Some(group_bys(resource)[0].0.to_owned())
        }
        (None, "sort") => Some("-count".to_owned()),
        (None, FROM | TO) => Some(catalog.version().to_string()),
        _ => None,
    }
}

/// The list that has a filter or sort parameter of this name.
fn filter_of(route: &Route, name: &str) -> Option<(Resource, &'static params::Parameter)> {
    let resource = match route.content {
        EndpointKind::List(resource, _) => resource,
        EndpointKind::Facets => Resource::Firms,
        // Groups have another order than records.
        EndpointKind::Aggregate(resource) if name != "sort" => resource,
        _ => return None,
    };
    Some((resource, resource.parameter(name)?))
}

/// A filter or sort parameter of a list.
fn filter(version: Version, resource: Resource, parameter: &params::Parameter, catalog: &Catalog) -> Parameter {
    let mut doc = parameter.doc.to_owned();
    if !parameter.aliases.is_empty() {
        let aliases: Vec<String> = parameter.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        doc.push_str(&format!(" Aliases: {}.", aliases.join(", ")));
    }
    let example = catalog.example(resource, parameter);
    let builder = query(version, parameter.name, "");
    let listed = |builder: ParameterBuilder| builder.style(Some(ParameterStyle::Form)).explode(Some(false));
    let values = |example: &str| Value::from(example.split(',').collect::<Vec<_>>());
    let (builder, schema, example): (ParameterBuilder, RefOr<Schema>, Value) = match parameter.kind {
        ParamType::Text => (builder, any_text().max_length(Some(MAX_TEXT_CHARS)).into(), example.into()),
        ParamType::Words => {
            (builder, any_text().max_length(Some(MAX_TEXT_CHARS)).pattern(Some(r"\S")).into(), example.into())
        }
        ParamType::Terms(terms, _) => {
            if resource == Resource::Reviews && parameter.name == "status" {
                let default: Vec<String> =
                    version.review_statuses().iter().map(|status| format!("`{}`", status.name())).collect();
                doc.push_str(&format!(" Default: {}.", default.join(" and ")));
            }
            (listed(builder), many(version, word(version, &(terms.names)()), parameter.max_values()), values(&example))
        }
        ParamType::Metric => {
            // The default is not in the schema: clients that send defaults would send it with a cursor of another
            // metric.
            doc.push_str(&format!(" Default: `{}`.", Metric::HealthScore.name()));
            (builder, word(version, &Metric::names()), example.into())
        }
        ParamType::Countries => {
            let codes = match version.is_strict() {
                true => Ref::from_schema_name("Country").into(),
                false => any_text().into(),
            };
            (listed(builder), many(version, codes, parameter.max_values()), values(&example))
        }
        ParamType::Listed(..) | ParamType::Records(..) | ParamType::Organizations | ParamType::Rows(_) => {
            // Rejects a text of only commas and spaces, which counts as empty.
            let name = any_text().pattern(version.is_strict().then_some(r"[^\s,]"));
            (listed(builder), many(version, name.into(), parameter.max_values()), values(&example))
        }
        ParamType::Like(_) => (builder, any_text().pattern(Some(r"[^\s,]")).into(), example.into()),
        ParamType::Number { min, max, .. } => {
            let number = long(min).maximum(Some(max as f64 as i64));
            (builder, number.into(), example.parse::<u64>().expect("an example of a number is a number").into())
        }
        ParamType::Range { unit: BoundUnit::Number { min, max }, .. } => {
            let number = long(min).maximum(Some(max as f64 as i64));
            (builder, number.into(), example.parse::<u64>().expect("an example of a number is a number").into())
        }
        ParamType::Range { unit: BoundUnit::Percent, .. } => {
            let rate = ObjectBuilder::new()
                .schema_type(Type::Number)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
                .minimum(Some(0))
                .maximum(Some(100));
            (builder, rate.into(), example.parse::<f64>().expect("an example of a rate is a number").into())
        }
        ParamType::Range { unit: BoundUnit::Date, bound, .. } => {
            let date = any_text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)));
            let end = if bound == Bound::Min { "first" } else { "last" };
            doc.push_str(&format!(" A year, a quarter (`2026-Q2`) or a month is its {end} day."));
            (builder, date.into(), example.into())
        }
        ParamType::Known(table, _) => {
            let name = match version.is_strict() {
                true => Ref::from_schema_name(property_name(table)).into(),
                false => {
                    doc.push_str(&known(&Property::all(table).map(|(name, _)| name).collect::<Vec<_>>()));
                    any_text().into()
                }
            };
            (listed(builder), many(version, name, parameter.max_values()), values(&example))
        }
        ParamType::Bool(_) => {
            (builder, ObjectBuilder::new().schema_type(Type::Boolean).into(), (example == "true").into())
        }
        ParamType::Sort => {
            let (relevance, default) = (resource.is_searchable(), resource.table().default_sort());
            let sorts = sort_values(resource.table().sort_keys(), relevance);
            let key = match version.is_strict() {
                true => Ref::from_schema_name(sort_name(resource)).into(),
                false => RefOr::from(any_text()),
            };
            let schema = many(version, key, None);
            if !version.is_strict() {
                doc.push_str(&known(&sorts));
            }
            doc.push_str(&match relevance {
                true => {
                    format!(
                        " Default: `relevance` with `q`, otherwise `{default}`. `relevance` cannot be combined with other keys."
                    )
                }
                false => format!(" Default: `{default}`."),
            });
            (listed(builder), schema, values(&example))
        }
    };
    if !version.is_strict() {
        match parameter.kind {
            ParamType::Terms(terms, _) => doc.push_str(&known(&(terms.names)())),
            ParamType::Metric => doc.push_str(&known(&Metric::names())),
            _ => {}
        }
        if takes_words(parameter) {
            doc.push_str(" Unknown values are ignored with a warning.");
        }
    }
    builder.description(Some(doc)).schema(Some(schema)).example(Some(example)).build()
}

fn takes_words(parameter: &params::Parameter) -> bool {
    use ParamType::{Countries, Known, Listed, Metric, Organizations, Records, Rows, Sort, Terms};
    matches!(
        parameter.kind,
        Terms(..) | Metric | Countries | Listed(..) | Records(..) | Organizations | Rows(_) | Known(..) | Sort
    )
}

/// A parameter other than the filters and the order of a list.
fn other(version: Version, route: &Route, name: &str, schemas: &Schemas, catalog: &Catalog) -> Parameter {
    if route.content == EndpointKind::LookUp
        && let Some(parameter) = look_up::parameter(name, catalog)
    {
        return parameter;
    }
    match (name, route.content) {
        ("group_by", EndpointKind::Aggregate(resource)) => {
            let names: Vec<&str> = group_bys(resource).into_iter().map(|(name, _)| name).collect();
            query(version, name, "Properties to group by, each for itself.")
                .style(Some(ParameterStyle::Form))
                .explode(Some(false))
                .schema(Some(many(version, Ref::from_schema_name(group_name(resource)).into(), None)))
                .example(Some(json!([names[0]])))
                .build()
        }
        ("sort", EndpointKind::Aggregate(_)) => {
            let doc =
                "Order of the groups. Default: `-count`; of years, quarters and numbers `-value`, the latest first.";
            query(version, name, doc)
                .schema(Some(Ref::from_schema_name(GROUP_ORDER)))
                .example(Some("-count".into()))
                .build()
        }
        ("limit", EndpointKind::Aggregate(_)) => {
            let doc = format!(
                "Maximum number of groups of each property. Above {MAX_GROUPS} it is reduced to {MAX_GROUPS}, with a warning."
            );
            let schema = integer(1).default(Some(DEFAULT_GROUPS.into()));
            query(version, name, &doc).schema(Some(schema)).example(Some(5.into())).build()
        }
        (FROM | TO, _) => {
            let doc = match name {
                FROM => "The release that your copy has; it must be held (`/snapshots`). May be omitted with a cursor.",
                _ => "The release that your copy will have. Default: the release that is served.",
            };
            query(version, name, doc)
                .required(if name == FROM { Required::True } else { Required::False })
                .schema(Some(any_text().pattern(Some(data::field::SNAPSHOT))))
                .example(Some(catalog.version().to_string().into()))
                .build()
        }
        ("table" | "op", EndpointKind::Changes) => {
            let (schema, doc, example) = match name {
                "table" => ("ChangedTable", "Tables whose changes to return (any of). Default: all.", "vcs"),
                _ => ("ChangeOperation", "What happened to the records (any of). Default: all.", "change"),
            };
            query(version, name, doc)
                .style(Some(ParameterStyle::Form))
                .explode(Some(false))
                .schema(Some(many(version, Ref::from_schema_name(schema).into(), None)))
                .example(Some(json!([example])))
                .build()
        }
        _ => paging(version, route, name, schemas, catalog),
    }
}

/// A parameter of pagination, field selection or a service route.
fn paging(version: Version, route: &Route, name: &str, schemas: &Schemas, catalog: &Catalog) -> Parameter {
    match name {
        "limit" => {
            let default = if route.content == EndpointKind::Suggestions { SUGGESTIONS } else { DEFAULT_LIMIT };
            let warning = if route.content == EndpointKind::Suggestions { "" } else { ", with a warning" };
            let mut doc = format!("Maximum number of results. Above {MAX_LIMIT} it is reduced to {MAX_LIMIT}{warning}.");
            if version == Version::V3 && matches!(route.content, EndpointKind::List(..)) {
                doc = format!(
                    "Maximum number of results. Above {MAX_LIMIT} (with keys of the tiers pro and enterprise {MAX_PAID_LIMIT}) it \
                     is reduced to that{warning}. As CSV and NDJSON there is no maximum, and by default all results are returned."
                );
            }
            if route.content == EndpointKind::Changes {
                doc = format!(
                    "Maximum number of changes. Above {MAX_LIMIT} (with keys of the tiers pro and enterprise {MAX_PAID_LIMIT}) it \
                     is reduced to that{warning}."
                );
            }
            query(version, name, &doc).schema(Some(integer(1).default(Some(default.into())))).example(Some(5.into())).build()
        }
        SAVED => query(version, name, "The number of one saved search or list (`/saved`). Default: all.")
            .schema(Some(long(0)))
            .example(Some(1.into()))
            .build(),
        AFTER => query(version, name, "The last `id` that you have: only later alerts are returned. Default: all that are kept.")
            .schema(Some(long(0)))
            .example(Some(0.into()))
            .build(),
        "offset" => query(version, name, "Number of results to skip. Past the end, `data` is empty.")
            .schema(Some(integer(0).default(Some(0.into()))))
            .example(Some(0.into()))
            .build(),
        "page" => query(version, name, "The page number, from 1. Past the end, `data` is empty.")
            .schema(Some(integer(1).default(Some(1.into()))))
            .example(Some(1.into()))
            .build(),
        "cursor" => query(
            version,
            name,
            "The next page: `pagination.next_cursor` of the previous response. It contains the snapshot and the whole query, \
             so other parameters are not needed. Filters and `sort` must not change; `limit`, `fields`, `explain` and `amounts` may.",
        )
        .schema(Some(any_text().pattern(Some("^[A-Za-z0-9_-]+$"))))
        .build(),
        INCLUDE => {
            let table = route.subject();
            let included = Include::of_table(table)[0];
            let default = if table == Table::People { " Default: all, unless `fields` is given." } else { "" };
            let doc = format!(
                "Related lists to return in `included`, each with its `total` and its first {INCLUDED_ROWS} rows.{default}"
            );
            query(version, name, &doc)
                .style(Some(ParameterStyle::Form))
                .explode(Some(false))
                .schema(Some(many(version, Ref::from_schema_name(include_name(table)).into(), None)))
                .example(Some(json!([included.name()])))
                .build()
        }
        AS_OF => query(
            version,
            name,
            "A day: the newest release of it or before, if it is held. A month, a quarter or a year is its last day. Not together \
             with `snapshot`.",
        )
        .schema(Some(any_text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))))
        .example(Some(catalog.snapshot().released_on().to_string().into()))
        .build(),
        SNAPSHOT => query(
            version,
            name,
            "A release that is held (`/snapshots`), so that several requests agree while a new release is published. \
             Default: the release that is served. A cursor contains its release.",
        )
        .schema(Some(any_text().pattern(Some(data::field::SNAPSHOT))))
        .example(Some(catalog.version().to_string().into()))
        .build(),
        ASK => query(version, name, ASK_DOC)
            .schema(Some(any_text().max_length(Some(MAX_QUESTION_CHARS)).pattern(Some(r"\S"))))
            .example(Some("seed rounds in Germany since 2023".into()))
            .build(),
        "explain" => query(version, name, "Explain in `meta.explain` why each record matches the search (with `q`).")
            .schema(Some(ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into()))))
            .build(),
        "amounts" => query(version, name, "Sum up the amounts of all matching rounds in `meta.amounts`.")
            .schema(Some(ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into()))))
            .build(),
        "kind" => {
            let doc = "Kinds of records (any of); `vc` is a firm. Default: all.";
            query(version, name, doc)
                .style(Some(ParameterStyle::Form))
                .explode(Some(false))
                .schema(Some(many(version, Ref::from_schema_name("SuggestedKind").into(), None)))
                .example(Some(json!(["vc"])))
                .build()
        }
        "q" => query(version, name, "The text typed so far.")
            .required(Required::True)
            .extensions(None)
            .schema(Some(any_text().pattern(Some(r"\S"))))
            .example(Some(catalog.example_name(Table::Firms).into()))
            .build(),
        _ => fields(version, route, schemas),
    }
}

fn fields(version: Version, route: &Route, schemas: &Schemas) -> Parameter {
    let names = field_name(item_name(version, route.content));
    let example: Vec<&Value> = match schemas.get(&names) {
        Some(RefOr::T(Schema::Object(words))) => words.enum_values.iter().flatten().take(2).collect(),
        _ => Vec::new(),
    };
    let default = match route.content {
        EndpointKind::List(resource, _) => {
            let computed = FieldSet::of_list(resource).computed();
            let defaults = resource.table().default_fields().iter().chain(computed);
            let defaults: Vec<String> = defaults.map(|field| format!("`{}`", field.name)).collect();
            format!("Default: {}.", defaults.join(", "))
        }
        EndpointKind::Changes => {
            "Default: all. A change of none of these fields, and a table that has none, is left out.".to_owned()
        }
        _ => "Default: all.".to_owned(),
    };
    let doc = format!(
        "Fields to return, in snake_case or camelCase; nested fields by their path (`score.value`); `*` for all. {default}"
    );
    query(version, "fields", &doc)
        .style(Some(ParameterStyle::Form))
        .explode(Some(false))
        .schema(Some(many(version, Ref::from_schema_name(names).into(), MAX_NAMES)))
        .example(Some(json!(example)))
        .build()
}

fn integer(min: u64) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(min as i64))
}

/// An integer that may exceed 32 bits.
fn long(min: u64) -> ObjectBuilder {
    integer(min).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// A value of a vocabulary. In v1 and v2 any text, because they accept unknown values with a warning: a client with a
/// closed type would be stricter than the service.
fn word(version: Version, known: &[&str]) -> RefOr<Schema> {
    match vocabulary_of(known) {
        _ if !version.is_strict() => any_text().into(),
        Some(vocabulary) => Ref::from_schema_name(vocabulary).into(),
        None => any_text().enum_values(Some(known.iter().copied())).into(),
    }
}

fn any_text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// Lists the known values in a sentence.
fn known(words: &[impl std::fmt::Display]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!(" Known values: {}.", words.join(", "))
}

/// Several values separated by commas; in v3 at least one.
fn many(version: Version, item: RefOr<Schema>, max: impl Into<Option<usize>>) -> RefOr<Schema> {
    let min = version.is_strict().then_some(1);
    ArrayBuilder::new().items(item).min_items(min).max_items(max.into()).into()
}
