//! The API reference: an OpenAPI document as rows of text, for a page to lay out.
//!
//! Texts mark code by backquotes and links as `[label](target)`; schemas are linked as `#Name`.

use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{ArrayItems, KnownFormat, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr, Required, Response, Schema};

use crate::api::{Route, Version};
use crate::catalog::Catalog;
use crate::data::PartialDate;
use crate::openapi::{BASE, Examples, document, example_of};

pub(crate) struct Reference {
    /// `v1` to `v3`.
    pub version: &'static str,
    pub other_versions: Vec<&'static str>,
    pub introduction: Vec<String>,
    pub groups: Vec<Group>,
    pub schemas: Vec<SchemaEntry>,
}

/// The endpoints of one tag.
pub(crate) struct Group {
    pub name: String,
    pub description: String,
    pub endpoints: Vec<EndpointEntry>,
}

pub(crate) struct EndpointEntry {
    /// The operation's id, which is also its anchor.
    pub id: &'static str,
    pub summary: &'static str,
    /// The path below the version.
    pub path: &'static str,
    pub description: &'static str,
    pub parameters: Vec<FieldEntry>,
    /// A path and query that the served release answers, with names of its first records.
    pub request: String,
    pub responses: Vec<ResponseEntry>,
    /// A response to a request on the bundled data, as JSON.
    pub example: Option<String>,
}

/// A parameter of an endpoint or a field of a schema.
pub(crate) struct FieldEntry {
    pub name: String,
    pub is_required: bool,
    /// The values that it takes, in words.
    pub values: String,
    pub description: String,
}

pub(crate) struct ResponseEntry {
    pub status: String,
    /// The name of the body's schema; `None` for 304 and errors.
    pub schema: Option<String>,
    /// Whether the page of errors explains the status.
    pub is_error: bool,
}

pub(crate) struct SchemaEntry {
    pub name: String,
    pub description: Option<String>,
    /// The words of a vocabulary; `None` for an object.
    pub words: Option<String>,
    pub fields: Vec<FieldEntry>,
}

impl Reference {
    pub(crate) fn new(version: Version, base: &str, catalog: &Catalog) -> Self {
        let document = document(version, base, catalog);
        let examples = Examples::bundled();
        let groups = document.tags.iter().flatten().map(|tag| Group {
            name: tag.name.clone(),
            description: tag.description.clone().expect("every tag has a description"),
            endpoints: operations(version, &document, &tag.name)
                .map(|(route, operation)| EndpointEntry::new(version, base, catalog, &examples, route, operation))
                .collect(),
        });
        let introduction = document.info.description.iter().flat_map(|text| text.split("\n\n"));
        let schemas = document.components.iter().flat_map(|components| &components.schemas);
        let others = Version::ALL.into_iter().filter(|other| *other != version);
        Self {
            version: version.segment(),
            other_versions: others.map(Version::segment).collect(),
            introduction: introduction.map(str::to_owned).collect(),
            groups: groups.collect(),
            schemas: schemas.filter_map(|(name, schema)| SchemaEntry::new(name, schema)).collect(),
        }
    }
}

/// The operations of a tag, in the order of the route table.
fn operations<'d>(
    version: Version,
    document: &'d OpenApi,
    tag: &'d str,
) -> impl Iterator<Item = (&'static Route, &'d Operation)> {
    let all = Route::of(version).filter_map(|route| {
        let operation = document.paths.paths.get(&format!("/{}", route.path))?.get.as_ref()?;
        Some((route, operation))
    });
    all.filter(move |(_, operation)| operation.tags.iter().flatten().any(|known| known == tag))
}

impl EndpointEntry {
    fn new(
        version: Version,
        base: &str,
        catalog: &Catalog,
        examples: &Examples,
        route: &'static Route,
        operation: &Operation,
    ) -> Self {
        let parameters: Vec<&Parameter> = operation.parameters.iter().flatten().filter_map(inline).collect();
        let responses = operation.responses.responses.iter().map(|(status, response)| ResponseEntry {
            status: status.clone(),
            schema: inline(response).and_then(schema_name).map(str::to_owned),
            is_error: matches!(response, RefOr::Ref(_)) && status != "304",
        });
        Self {
            id: route.operation,
            summary: route.summary,
            path: route.path,
            description: route.description,
            request: request(version, catalog, route, &parameters),
            parameters: parameters.into_iter().map(FieldEntry::of_parameter).collect(),
            responses: responses.collect(),
            example: examples.text(version, route).map(|text| text.replace(BASE, base)),
        }
    }
}

impl FieldEntry {
    fn of_parameter(parameter: &Parameter) -> Self {
        Self {
            name: parameter.name.clone(),
            is_required: parameter.required == Required::True,
            values: parameter.schema.as_ref().map_or_else(String::new, values),
            description: parameter.description.clone().expect("every parameter has a description"),
        }
    }

    fn of_property(name: &str, schema: &RefOr<Schema>) -> Self {
        let description = match schema {
            RefOr::T(Schema::Object(object)) => object.description.clone(),
            RefOr::T(Schema::Array(array)) => array.description.clone(),
            RefOr::T(Schema::AnyOf(any)) => any.description.clone(),
            RefOr::Ref(reference) => Some(reference.description.clone()),
            _ => None,
        };
        let values = match schema {
            RefOr::T(Schema::Array(array)) => items("list of", &array.items),
            schema => values(schema),
        };
        Self { name: name.to_owned(), is_required: false, values, description: description.unwrap_or_default() }
    }
}

impl SchemaEntry {
    /// `None` for a schema that is neither an object nor a vocabulary.
    fn new(name: &str, schema: &RefOr<Schema>) -> Option<Self> {
        let RefOr::T(Schema::Object(object)) = schema else { return None };
        let words = object.enum_values.is_some().then(|| values(schema));
        let fields = object.properties.iter().map(|(name, schema)| FieldEntry::of_property(name, schema));
        Some(Self { name: name.to_owned(), description: object.description.clone(), words, fields: fields.collect() })
    }
}

fn inline<T>(item: &RefOr<T>) -> Option<&T> {
    match item {
        RefOr::T(item) => Some(item),
        RefOr::Ref(_) => None,
    }
}

fn schema_name(response: &Response) -> Option<&str> {
    response.content.values().find_map(|content| match inline(content)?.schema.as_ref()? {
        RefOr::Ref(reference) => reference.ref_location.rsplit('/').next(),
        RefOr::T(_) => None,
    })
}

/// The path and query of a request that can be sent as it is: at most three parameters, with their examples.
fn request(version: Version, catalog: &Catalog, route: &Route, parameters: &[&Parameter]) -> String {
    let is_path = |parameter: &&&Parameter| parameter.parameter_in == ParameterIn::Path;
    let example = |parameter: &&Parameter| example_of(route, &parameter.name, catalog);
    let slug = parameters.iter().filter(is_path).find_map(example);
    let is_below_record = slug.is_some();
    let path = slug.map_or_else(|| route.path.to_owned(), |slug| route.path_of(&slug));
    let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    // A name together with other filters would find nothing.
    let shown: &[&str] = match has("q") && !has("stage") && !is_below_record {
        true => &["q", "limit"],
        false => &["name", "from", "stage", "country", "metric", "since", "raise_usd", "limit"],
    };
    let pairs = parameters.iter().filter(|parameter| !is_path(parameter) && shown.contains(&parameter.name.as_str()));
    let pairs = pairs.filter_map(|parameter| Some((&parameter.name, example(parameter)?))).take(3);
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish().replace("%2C", ",");
    let mark = if query.is_empty() { "" } else { "?" };
    format!("/api/{}/{path}{mark}{query}", version.segment())
}

fn items(words: &str, items: &ArrayItems) -> String {
    match items {
        ArrayItems::RefOrSchema(item) => format!("{words}: {}", values(item)),
        ArrayItems::False => String::new(),
    }
}

/// The values that a schema takes, in words.
fn values(schema: &RefOr<Schema>) -> String {
    match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.trim_start_matches("#/components/schemas/");
            format!("[{name}](#{name})")
        }
        RefOr::T(Schema::Object(object)) => object_values(object),
        RefOr::T(Schema::Array(array)) => items("any of", &array.items),
        RefOr::T(Schema::AnyOf(any)) => any.items.iter().map(values).collect::<Vec<_>>().join(" or "),
        RefOr::T(_) => String::new(),
    }
}

fn object_values(object: &utoipa::openapi::Object) -> String {
    let mut text = match (&object.enum_values, &object.format) {
        (_, Some(SchemaFormat::KnownFormat(KnownFormat::Date))) => "date".to_owned(),
        (_, Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))) => "date-time".to_owned(),
        _ if object.pattern.as_deref() == Some(PartialDate::PATTERN) => "date, month or year".to_owned(),
        (Some(words), _) => {
            let words = words.iter().filter_map(|word| word.as_str()).map(|word| format!("`{word}`"));
            words.collect::<Vec<_>>().join(" ")
        }
        (None, _) => type_name(&object.schema_type),
    };
    let number = |bound: &utoipa::Number| match bound {
        utoipa::Number::Int(bound) => bound.to_string(),
        utoipa::Number::UInt(bound) => bound.to_string(),
        utoipa::Number::Float(bound) => bound.to_string(),
    };
    // A maximum of ten digits or more is a limit of the number type and says nothing about the value.
    let max = object.maximum.as_ref().map(number).filter(|max| max.len() < 10);
    match (object.minimum.as_ref().map(number), max) {
        (Some(min), Some(max)) => text.push_str(&format!(", {min}–{max}")),
        (Some(min), None) => text.push_str(&format!(" from {min}")),
        (None, Some(max)) => text.push_str(&format!(" up to {max}")),
        (None, None) => {}
    }
    if let Some(default) = &object.default {
        text.push_str(&format!("; default `{}`", default.to_string().trim_matches('"')));
    }
    text
}

fn type_name(kind: &SchemaType) -> String {
    let name = |kind: &Type| match kind {
        Type::Object => "object",
        Type::String => "text",
        Type::Integer => "integer",
        Type::Number => "number",
        Type::Boolean => "`true` or `false`",
        Type::Array => "list",
        Type::Null => "`null`",
    };
    match kind {
        SchemaType::Type(kind) => name(kind).to_owned(),
        SchemaType::Array(kinds) => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
        SchemaType::AnyValue => "anything".to_owned(),
    }
}
