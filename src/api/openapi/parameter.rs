//! The parameters of an endpoint, from the table that also drives their parsing.

use serde_json::{Value, json};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn, ParameterStyle};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Required, Schema};

use crate::{MAX_LIMIT, MAX_PAID_LIMIT, Route, Version, options};
use catalog::aggregate::group_bys;
use catalog::ask::GROUP_BY;
use catalog::params::{BoundUnit, LATEST, MAX_TEXT_CHARS, ParamType};
use catalog::parse::scalars::{Bound, DATE_PATTERN};
use catalog::{Catalog, Property, Resource, params};
use data::Table;
use data::field::SNAPSHOT;
use data::vocabulary::Vocabulary;

use crate::openapi::schema::Schemas;
use crate::openapi::vocabulary::{accepted_name, field_name, property_name, sort_name, sort_values, vocabulary_of};

/// The parameters of an endpoint, path parameters first.
pub(crate) fn of_route(version: Version, route: &Route, schemas: &Schemas, catalog: &Catalog) -> Vec<Parameter> {
    let mut parameters = Vec::new();
    if let Some(name) = route.placeholder() {
        parameters.push(path_parameter(route, name, catalog));
    }
    for name in route.parameters(version) {
        parameters.push(match filter_of(route, name) {
            Some((resource, parameter)) => filter(version, resource, parameter, catalog),
            None => {
                let of = DocumentedOption { version, route, catalog, name, schemas };
                let own = route.endpoint.own.iter().find(|(own, _)| *own == name);
                own.map_or_else(|| options::document(&of), |(_, document)| document(&of)).build()
            }
        });
    }
    parameters
}

pub(crate) fn query(version: Version, name: &str, doc: &str) -> ParameterBuilder {
    // Forms also send empty fields; in v3 only an empty search is absent. The builder has no setter for this.
    let may_be_empty = !version.is_strict() || name == "q";
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .description(Some(doc))
        .extensions(may_be_empty.then(|| [("allowEmptyValue".to_owned(), Value::from(true))].into_iter().collect()))
}

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
        (None, "limit") => Some("5".to_owned()),
        (None, name) if route.endpoint.own.iter().all(|(own, _)| *own != name) => None,
        (None, "from" | "to") => Some(catalog.version().to_string()),
        (None, "q" | "name") => Some(catalog.example_name(Table::Firms)),
        (None, GROUP_BY) => Some(group_bys(route.endpoint.filters?)[0].0.to_owned()),
        (None, "sort") => Some("-count".to_owned()),
        (None, _) => None,
    }
}

/// The list that has a filter or sort parameter of this name.
fn filter_of(route: &Route, name: &str) -> Option<(Resource, &'static params::Parameter)> {
    let resource = route.endpoint.filters?;
    let is_own = route.endpoint.own.iter().any(|(own, _)| *own == name);
    Some((resource, resource.parameter(name).filter(|_| !is_own)?))
}

fn filter(version: Version, resource: Resource, parameter: &params::Parameter, catalog: &Catalog) -> Parameter {
    use ParamType::{
        Bool, Countries, Known, Like, Listed, Metric, Number, Organizations, Range, Records, Release, Rows, Sort,
        Terms, Text, Words,
    };
    let is_strict = version.is_strict();
    // In v1 and v2 any text, as in `word`.
    let named = |name: &str| -> RefOr<Schema> {
        if is_strict { Ref::from_schema_name(name).into() } else { any_text().into() }
    };
    let mut doc = parameter.doc.to_owned();
    if !parameter.aliases.is_empty() {
        let aliases: Vec<String> = parameter.aliases.iter().map(|alias| format!("`{alias}`")).collect();
        doc.push_str(&format!(" Aliases: {}.", aliases.join(", ")));
    }
    let schema: RefOr<Schema> = match parameter.kind {
        Text => any_text().max_length(Some(MAX_TEXT_CHARS)).into(),
        Words => any_text().max_length(Some(MAX_TEXT_CHARS)).pattern(Some(r"\S")).into(),
        Terms(terms, _) => {
            if resource == Resource::Reviews && parameter.name == "status" {
                let default: Vec<String> =
                    version.review_statuses().iter().map(|status| format!("`{}`", status.name())).collect();
                doc.push_str(&format!(" Default: {}.", default.join(" and ")));
            }
            word(version, &(terms.names)(), &mut doc)
        }
        Metric => {
            // Not in the schema: clients that send defaults would send it with a cursor of another metric.
            doc.push_str(&format!(" Default: `{}`.", data::Metric::HealthScore.name()));
            word(version, &data::Metric::names(), &mut doc)
        }
        Countries => named(&accepted_name("Country")),
        // Rejects a text of only commas and spaces, which counts as empty.
        Listed(..) | Records(..) | Organizations | Rows(_) => any_text().pattern(is_strict.then_some(r"[^\s,]")).into(),
        Like(_) => any_text().pattern(Some(r"[^\s,]")).into(),
        Number { min, max, .. } | Range { unit: BoundUnit::Number { min, max }, .. } => {
            long(min).maximum(Some(max as f64 as i64)).into()
        }
        Range { unit: BoundUnit::Percent, .. } => {
            let rate = ObjectBuilder::new().schema_type(Type::Number).minimum(Some(0)).maximum(Some(100));
            rate.format(Some(SchemaFormat::KnownFormat(KnownFormat::Double))).into()
        }
        Range { unit: BoundUnit::Date, bound, .. } => {
            let end = if bound == Bound::Min { "first" } else { "last" };
            doc.push_str(&format!(" A year, a quarter (`2026-Q2`) or a month is its {end} day."));
            date().into()
        }
        Known(table, _) => {
            if !is_strict {
                doc.push_str(&known(&Property::all(table).map(|(name, _)| name).collect::<Vec<_>>()));
            }
            named(&property_name(table))
        }
        Bool(_) => ObjectBuilder::new().schema_type(Type::Boolean).into(),
        Release => any_text().pattern(is_strict.then(|| format!("^{LATEST}$|{SNAPSHOT}"))).into(),
        Sort => {
            let (relevance, default) = (resource.is_searchable(), resource.table().default_sort());
            if !is_strict {
                doc.push_str(&known(&sort_values(resource.table().sort_keys(), relevance)));
            }
            doc.push_str(&match relevance {
                true => format!(
                    " Default: `relevance` with `q`, otherwise `{default}`. `relevance` cannot be combined with other keys."
                ),
                false => format!(" Default: `{default}`."),
            });
            named(&sort_name(resource))
        }
    };
    let is_listed = matches!(
        parameter.kind,
        Terms(..) | Countries | Listed(..) | Records(..) | Organizations | Rows(_) | Known(..) | Sort
    );
    if !is_strict && (is_listed || matches!(parameter.kind, Metric | Release)) {
        doc.push_str(" Unknown values are ignored with a warning.");
    }
    let example = catalog.example(resource, parameter);
    let number = "an example of a number is a number";
    let example: Value = match parameter.kind {
        _ if is_listed => example.split(',').collect::<Vec<_>>().into(),
        Number { .. } | Range { unit: BoundUnit::Number { .. }, .. } => example.parse::<u64>().expect(number).into(),
        Range { unit: BoundUnit::Percent, .. } => example.parse::<f64>().expect(number).into(),
        Bool(_) => (example == "true").into(),
        _ => example.into(),
    };
    let builder = query(version, parameter.name, &doc).example(Some(example));
    let builder = match is_listed {
        true => {
            let max = (!matches!(parameter.kind, Sort)).then(|| parameter.max_values());
            let schema = many(version, schema, max);
            builder.style(Some(ParameterStyle::Form)).explode(Some(false)).schema(Some(schema))
        }
        false => builder.schema(Some(schema)),
    };
    builder.build()
}

pub(crate) struct DocumentedOption<'a> {
    pub(crate) version: Version,
    pub(crate) route: &'a Route,
    pub(crate) catalog: &'a Catalog,
    pub(crate) name: &'a str,
    schemas: &'a Schemas,
}

impl DocumentedOption<'_> {
    pub(crate) fn query(&self, doc: &str) -> ParameterBuilder {
        query(self.version, self.name, doc)
    }

    pub(crate) fn words(&self, doc: &str, names: Ref, example: Value, max: Option<usize>) -> ParameterBuilder {
        self.query(doc)
            .style(Some(ParameterStyle::Form))
            .explode(Some(false))
            .schema(Some(many(self.version, names.into(), max)))
            .example(Some(example))
    }

    pub(crate) fn release(&self, doc: &str) -> ParameterBuilder {
        self.query(doc)
            .schema(Some(any_text().pattern(Some(data::field::SNAPSHOT))))
            .example(Some(self.catalog.version().to_string().into()))
    }

    pub(crate) fn limit(&self, doc: &str, default: u64) -> ParameterBuilder {
        self.query(doc).schema(Some(integer(1).default(Some(default.into())))).example(Some(5.into()))
    }

    /// The vocabulary of the fields of the endpoint, and two of them.
    pub(crate) fn field_names(&self) -> (String, Value) {
        let names = field_name(self.route.endpoint.item_name(self.version));
        let example: Vec<&Value> = match self.schemas.get(&names) {
            Some(RefOr::T(Schema::Object(words))) => words.enum_values.iter().flatten().take(2).collect(),
            _ => Vec::new(),
        };
        (names, json!(example))
    }
}

/// A maximum of `limit` as a sentence.
pub(crate) fn at_most(max: u64) -> String {
    format!("Above {max} it is reduced to {max}, with a warning.")
}

/// The maximum of `limit` as a sentence, if it depends on the tier.
pub(crate) fn max_by_tier() -> String {
    format!(
        "Above {MAX_LIMIT} (with keys of the tiers pro and enterprise {MAX_PAID_LIMIT}) it is reduced to that, with a warning."
    )
}

pub(crate) fn flag() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into()))
}

/// A day, a month, a quarter or a year. A client that knows it as a date could send days only.
pub(crate) fn date() -> ObjectBuilder {
    any_text().pattern(Some(DATE_PATTERN))
}

pub(crate) fn integer(min: u64) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(min as i64))
}

/// An integer that may exceed 32 bits.
pub(crate) fn long(min: u64) -> ObjectBuilder {
    integer(min).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int64)))
}

/// In v1 and v2 any text: a client with a closed type would be stricter than the service, which only warns.
fn word(version: Version, words: &[&str], doc: &mut String) -> RefOr<Schema> {
    match vocabulary_of(words) {
        _ if !version.is_strict() => {
            doc.push_str(&known(words));
            any_text().into()
        }
        Some(vocabulary) => Ref::from_schema_name(&vocabulary).into(),
        None => any_text().enum_values(Some(words.iter().copied())).into(),
    }
}

pub(crate) fn any_text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

fn known(words: &[impl std::fmt::Display]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!(" Known values: {}.", words.join(", "))
}

/// Several values separated by commas; in v3 at least one.
fn many(version: Version, item: RefOr<Schema>, max: Option<usize>) -> RefOr<Schema> {
    let min = version.is_strict().then_some(1);
    ArrayBuilder::new().items(item).min_items(min).max_items(max).into()
}
