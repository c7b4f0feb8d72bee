//! The parameters of an endpoint, from the table that also drives their parsing.

use serde_json::{Value, json};
use utoipa::openapi::extensions::Extensions;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Required, Schema};

use crate::changes::{FROM, TO};
use crate::{EndpointKind, Route, Version, options};
use catalog::aggregate::group_bys;
use catalog::json::FieldSet;
use catalog::params::{MAX_TEXT_CHARS, ParamType, BoundUnit};
use catalog::parse::scalars::Bound;
use catalog::{Catalog, Property, Resource, params};
use data::vocabulary::Vocabulary;
use data::{self, Metric, Table};

use crate::openapi::look_up;
use crate::openapi::schema::{Schemas, item_name};
use crate::openapi::vocabulary::{
    field_name, property_name, sort_name, sort_values, vocabulary_of,
};

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
            let date = date();
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

/// An option of an endpoint that is documented.
pub(crate) struct DocumentedOption<'a> {
    pub(crate) version: Version,
    pub(crate) route: &'a Route,
    pub(crate) catalog: &'a Catalog,
    name: &'a str,
    schemas: &'a Schemas,
}

impl DocumentedOption<'_> {
    pub(crate) fn query(&self, doc: &str) -> ParameterBuilder {
        query(self.version, self.name, doc)
    }

    /// Several values of a vocabulary.
    pub(crate) fn words(&self, doc: &str, names: Ref, example: Value, max: Option<usize>) -> ParameterBuilder {
        self.query(doc)
            .style(Some(ParameterStyle::Form))
            .explode(Some(false))
            .schema(Some(many(self.version, names.into(), max)))
            .example(Some(example))
    }

    /// The version of a release.
    pub(crate) fn release(&self, doc: &str) -> ParameterBuilder {
        self.query(doc)
            .schema(Some(any_text().pattern(Some(data::field::SNAPSHOT))))
            .example(Some(self.catalog.version().to_string().into()))
    }

    /// The list whose records an aggregate counts.
    pub(crate) fn aggregated(&self) -> Resource {
        match self.route.content {
            EndpointKind::Aggregate(resource) => resource,
            _ => unreachable!("only aggregates have groups"),
        }
    }

    /// The vocabulary of the fields of the endpoint, and two of them.
    pub(crate) fn field_names(&self) -> (String, Value) {
        let names = field_name(item_name(self.version, self.route.content));
        let example: Vec<&Value> = match self.schemas.get(&names) {
            Some(RefOr::T(Schema::Object(words))) => words.enum_values.iter().flatten().take(2).collect(),
            _ => Vec::new(),
        };
        (names, json!(example))
    }

    /// The fields without the parameter `fields` as a sentence.
    pub(crate) fn default_fields(&self) -> String {
        match self.route.content {
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
        }
    }
}

/// A parameter of an endpoint other than a filter or the order of a list.
fn other(version: Version, route: &Route, name: &'static str, schemas: &Schemas, catalog: &Catalog) -> Parameter {
    if route.content == EndpointKind::LookUp
        && let Some(parameter) = look_up::parameter(name, catalog)
    {
        return parameter;
    }
    options::document(&DocumentedOption { version, route, catalog, name, schemas }, name).build()
}

pub(crate) fn flag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into()))
}

pub(crate) fn date() -> ObjectBuilder {
    any_text().format(Some(SchemaFormat::KnownFormat(KnownFormat::Date)))
}

pub(crate) fn integer(min: u64) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(min as i64))
}

/// An integer that may exceed 32 bits.
pub(crate) fn long(min: u64) -> ObjectBuilder {
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

pub(crate) fn any_text() -> ObjectBuilder {
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
