//! The parameters of an endpoint, from the table that also drives their parsing.

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Required, Schema};

use crate::api::{DEFAULT_LIMIT, EndpointKind, MAX_LIMIT, Route, SUGGESTIONS, Version};
use crate::catalog::param_schema::{LONGEST_TEXT, MOST_VALUES, ParamSchema, example_slug};
use crate::catalog::{Resource, params};
use crate::data::Metric;
use crate::data::vocabulary::Vocabulary;

use crate::openapi::schema::{Schemas, item_name};
use crate::openapi::vocabulary::{directed, field_name, sort_name, vocabulary_of};

/// The parameters of an endpoint, those of the path first.
pub(crate) fn of(version: Version, endpoint: &Route, schemas: &Schemas) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if endpoint.path.contains("{slug}") {
        parameters.push(slug(endpoint));
    }
    for name in endpoint.parameters(version) {
        let own = match endpoint.content {
            EndpointKind::List(resource, _) => resource.parameter(name).map(|parameter| (resource, parameter)),
            EndpointKind::Facets => Resource::Firms.parameter(name).map(|parameter| (Resource::Firms, parameter)),
            _ => None,
        };
        parameters.push(match own {
            Some((resource, parameter)) => filter(version, resource, parameter),
            None => other(version, endpoint, name, schemas),
        });
    }
    parameters
}

fn query(name: &str, doc: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(doc))
        .extensions(Some(empty_is_absent()))
}

/// Forms send what was left empty as well: an empty value is as none. The builder has no setter for that field.
fn empty_is_absent() -> Extensions {
    [("allowEmptyValue".to_owned(), Value::from(true))].into_iter().collect()
}

fn slug(endpoint: &Route) -> Parameter {
    let table = endpoint.subject();
    let schema = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$"));
    ParameterBuilder::new()
        .name("slug")
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .description(Some(format!("The slug of the {}, in any letter case.", table.noun())))
        .schema(Some(schema))
        .example(Some(example_slug(table).into()))
        .build()
}

/// A value that stands in examples, as it is written in a query.
#[must_use]
pub fn example_of(endpoint: &Route, name: &str) -> Option<&'static str> {
    let own = match endpoint.content {
        EndpointKind::List(resource, _) => resource.parameter(name).map(|parameter| parameter.kind.example(resource)),
        EndpointKind::Facets => {
            Resource::Firms.parameter(name).map(|parameter| parameter.kind.example(Resource::Firms))
        }
        _ => None,
    };
    own.or(match name {
        "slug" => Some(example_slug(endpoint.subject())),
        "q" => Some("kestrel"),
        "limit" => Some("5"),
        _ => None,
    })
}

/// A parameter of a list's own.
fn filter(version: Version, resource: Resource, parameter: &params::Parameter) -> Parameter {
    let mut doc = parameter.doc.to_owned();
    if !parameter.aliases.is_empty() {
        let aliases: Vec<String> = parameter.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        doc.push_str(&format!(" Also understood: {}.", aliases.join(", ")));
    }
    let form = parameter.kind.form(resource);
    let example = parameter.kind.example(resource);
    let builder = query(parameter.name, "");
    let listed = |builder: ParameterBuilder| builder.style(Some(ParameterStyle::Form)).explode(Some(false));
    let values = || Value::from(example.split(',').collect::<Vec<_>>());
    let (builder, schema, example): (ParameterBuilder, RefOr<Schema>, Value) = match form {
        ParamSchema::Text => {
            let text = ObjectBuilder::new().schema_type(Type::String).max_length(Some(LONGEST_TEXT));
            (builder, text.into(), example.into())
        }
        ParamSchema::Words(words) => {
            if resource == Resource::Reviews && parameter.name == "status" {
                let default: Vec<String> =
                    version.review_statuses().iter().map(|status| format!("`{}`", status.name())).collect();
                doc.push_str(&format!(" Without it: {}.", default.join(" and ")));
            }
            (listed(builder), many(word(version, &words)), values())
        }
        ParamSchema::Word(words) => {
            // Not as the schema's default: clients that send defaults would send it beside a cursor of another metric.
            doc.push_str(&format!(" Without it: `{}`.", Metric::HealthScore.name()));
            (builder, word(version, &words), example.into())
        }
        ParamSchema::Countries => {
            let codes = match version.is_strict() {
                true => Ref::from_schema_name("Country").into(),
                false => any_text().into(),
            };
            (listed(builder), many(codes), values())
        }
        ParamSchema::Names => (listed(builder), many(any_text().into()), values()),
        ParamSchema::Number(least, most) => {
            let number = long(least).maximum(Some(most as f64 as i64));
            (builder, number.into(), example.parse::<u64>().unwrap_or(least).into())
        }
        ParamSchema::Rate => {
            let rate = ObjectBuilder::new()
                .schema_type(Type::Number)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
                .minimum(Some(0))
                .maximum(Some(100));
            (builder, rate.into(), example.parse::<f64>().unwrap_or(0.0).into())
        }
        ParamSchema::Date => {
            let date = ObjectBuilder::new()
                .schema_type(Type::String)
                .format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)));
            (builder, date.into(), example.into())
        }
        ParamSchema::Truth => {
            (builder, ObjectBuilder::new().schema_type(Type::Boolean).into(), (example == "true").into())
        }
        ParamSchema::Sort { keys, relevance, default } => {
            let directed = directed(&keys, relevance);
            let key = match version.is_strict() {
                true => Ref::from_schema_name(sort_name(resource)).into(),
                false => RefOr::from(any_text()),
            };
            let schema = ArrayBuilder::new().items(key).into();
            if !version.is_strict() {
                doc.push_str(&known(&directed));
            }
            doc.push_str(&match relevance {
                true => {
                    format!(" Without it: `relevance` where `q` is given, else `{default}`. `relevance` stands alone.")
                }
                false => format!(" Without it: `{default}`."),
            });
            (listed(builder), schema, values())
        }
    };
    if let ParamSchema::Words(words) | ParamSchema::Word(words) = &parameter.kind.form(resource)
        && !version.is_strict()
    {
        doc.push_str(&known(words));
    }
    if !version.is_strict() && takes_words(parameter, resource) {
        doc.push_str(" A value that is unknown is left out, with a warning.");
    }
    builder.description(Some(doc)).schema(Some(schema)).example(Some(example)).build()
}

fn takes_words(parameter: &params::Parameter, resource: Resource) -> bool {
    use ParamSchema::{Countries, Names, Sort, Word, Words};
    matches!(parameter.kind.form(resource), Words(_) | Word(_) | Countries | Names | Sort { .. })
}

/// A parameter that is not of the list's table: of paging, of fields, or of an answer about the service.
fn other(version: Version, endpoint: &Route, name: &str, schemas: &Schemas) -> Parameter {
    match name {
        "limit" => {
            let default = if endpoint.content == EndpointKind::Suggestions { SUGGESTIONS } else { DEFAULT_LIMIT };
            let told = if endpoint.content == EndpointKind::Suggestions { "" } else { ", with a warning" };
            let doc = format!("At most so many. Above {MAX_LIMIT}, {MAX_LIMIT} are given{told}.");
            query(name, &doc).schema(Some(whole(1).default(Some(default.into())))).example(Some(5.into())).build()
        }
        "offset" => query(name, "How many come before. Past the end, `data` is empty.")
            .schema(Some(whole(0).default(Some(0.into()))))
            .example(Some(0.into()))
            .build(),
        "page" => query(name, "The page, from 1. Past the end, `data` is empty.")
            .schema(Some(whole(1).default(Some(1.into()))))
            .example(Some(1.into()))
            .build(),
        "cursor" => query(
            name,
            "Where to go on: `pagination.next_cursor` of the answer before. It carries its release and the whole query; leave \
             the rest out beside it. Filters and `sort` may only be given as they were; `limit`, `fields` and `explain` may \
             change.",
        )
        .schema(Some(ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_-]+$"))))
        .build(),
        "explain" => query(name, "Whether to tell in `meta.explain` why each record answers the search, where `q` is given.")
            .schema(Some(ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into()))))
            .build(),
        "q" => query(name, "What has been typed so far.")
            .required(Required::True)
            .extensions(None)
            .schema(Some(ObjectBuilder::new().schema_type(Type::String).pattern(Some(r"\S"))))
            .example(Some("kestrel".into()))
            .build(),
        _ => fields(version, endpoint, schemas),
    }
}

fn fields(version: Version, endpoint: &Route, schemas: &Schemas) -> Parameter {
    let names = field_name(&item_name(version, endpoint.content));
    let example: Vec<&Value> = match schemas.get(&names) {
        Some(RefOr::T(Schema::Object(words))) => words.enum_values.iter().flatten().take(2).collect(),
        _ => Vec::new(),
    };
    let without = match endpoint.content {
        EndpointKind::List(resource, _) => {
            let table = resource.table();
            let defaults = table.fields().get(..table.default_fields()).unwrap_or_default();
            let ranks = match resource {
                Resource::Leaderboard => ", `rank`, `rank_value`",
                Resource::CoInvestors => ", `shared_rounds`, `last_shared_on`",
                Resource::Match => ", `points`, `max_points`, `reasons`, `conflicts`, `conflict_count`",
                _ => "",
            };
            let defaults: Vec<String> = defaults.iter().map(|field| format!("`{field}`")).collect();
            format!("Without it: {}{ranks}.", defaults.join(", "))
        }
        _ => "Without it: all.".to_owned(),
    };
    let doc = format!(
        "The fields to answer, in snake_case or camelCase, with a point before what lies below one; `*` for all. {without}"
    );
    query("fields", &doc)
        .style(Some(ParameterStyle::Form))
        .explode(Some(false))
        .schema(Some(ArrayBuilder::new().items(Ref::from_schema_name(names))))
        .example(Some(json!(example)))
        .build()
}

fn whole(least: u64) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(least as i64))
}

/// A whole number that may be above what 32 bits hold.
fn long(least: u64) -> ObjectBuilder {
    whole(least).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// A word of a vocabulary; any text in v1 and v2, which warn of what is unknown: a client that knew no others would be
/// stricter than they are.
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

/// The words that are known, as a sentence.
fn known(words: &[impl std::fmt::Display]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!(" Known: {}.", words.join(", "))
}

/// Values separated by commas, any of which holds.
fn many(item: RefOr<Schema>) -> RefOr<Schema> {
    ArrayBuilder::new().items(item).max_items(Some(MOST_VALUES)).into()
}
