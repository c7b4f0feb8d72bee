//! The API reference: an OpenAPI document as rows of text, to be laid out by a page.
//!
//! Texts mark code by backquotes and links as `[label](target)`; schemas are linked as `#Name`.

use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::{ArrayItems, KnownFormat, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr, Required, Schema};

use crate::openapi::schema::response_name;
use crate::openapi::vocabulary::EXTENSIBLE;
use crate::openapi::{BASE, Examples, document, example_of, tag_of};
use crate::{Route, Version};
use catalog::Catalog;
use catalog::parse::scalars::DATE_PATTERN;
use data::PartialDate;
use transport::url::encoded_segment;

pub struct ApiReference {
    /// `v1` to `v3`.
    pub version: &'static str,
    pub other_versions: Vec<&'static str>,
    pub introduction: Vec<String>,
    pub groups: Vec<EndpointGroup>,
    pub schemas: Vec<SchemaEntry>,
}

pub struct EndpointGroup {
    pub name: String,
    pub description: String,
    pub endpoints: Vec<EndpointEntry>,
}

pub struct EndpointEntry {
    /// Its operation is also its anchor.
    pub route: &'static Route,
    pub parameters: Vec<ParameterEntry>,
    pub request: ExampleRequest,
    pub responses: Vec<ResponseEntry>,
    /// Name of the schema of the records in `data`.
    pub record: &'static str,
    /// A response to a request on the bundled data, as JSON.
    pub example: Option<String>,
    version: Version,
}

/// A GET request. The example of an endpoint uses names of its first records, so that the served release answers it.
pub struct ExampleRequest {
    pub path: String,
    /// Names and values, not yet encoded.
    pub query: Vec<(String, String)>,
}

pub struct ParameterEntry {
    pub name: String,
    pub is_in_path: bool,
    pub is_required: bool,
    /// The accepted values, in words.
    pub values: String,
    /// The accepted values, if the parameter takes exactly one of few words.
    pub choices: Vec<String>,
    /// An example value as written in a query, or empty.
    pub example: String,
    pub description: String,
}

pub struct FieldEntry {
    pub name: String,
    /// The accepted values, in words.
    pub values: String,
    pub description: String,
}

pub struct ResponseEntry {
    pub status: String,
    /// Name of the schema of the body; `None` for 304 and errors.
    pub schema: Option<String>,
    /// True if the page of errors explains the status.
    pub is_error: bool,
}

pub struct SchemaEntry {
    pub name: String,
    pub description: Option<String>,
    /// The words of a vocabulary; `None` for an object.
    pub words: Option<String>,
    pub fields: Vec<FieldEntry>,
}

impl ApiReference {
    pub fn new(version: Version, base: &str, catalog: &Catalog) -> Self {
        let document = document(version, base, catalog);
        let examples = Examples::bundled();
        let groups = document.tags.iter().flatten().map(|tag| EndpointGroup {
            name: tag.name.clone(),
            description: tag.description.clone().expect("every tag has a description"),
            endpoints: Route::all(version)
                .filter(|route| tag_of(route) == tag.name)
                .map(|route| EndpointEntry::new(version, base, &document, catalog, &examples, route))
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

    /// Finds an endpoint and its group, by the id of its operation.
    pub fn endpoint(&self, id: &str) -> Option<(&EndpointGroup, &EndpointEntry)> {
        let all = self.groups.iter().flat_map(|group| group.endpoints.iter().map(move |endpoint| (group, endpoint)));
        all.into_iter().find(|(_, endpoint)| endpoint.route.operation == id)
    }

    pub fn schema(&self, name: &str) -> Option<&SchemaEntry> {
        self.schemas.iter().find(|schema| schema.name == name)
    }
}

impl EndpointEntry {
    fn new(
        version: Version,
        base: &str,
        document: &OpenApi,
        catalog: &Catalog,
        examples: &Examples,
        route: &'static Route,
    ) -> Self {
        let operation = document.paths.paths[&format!("/{}", route.path)].get.as_ref();
        let operation = operation.expect("every route has an operation");
        let parameters: Vec<&Parameter> = operation.parameters.iter().flatten().filter_map(inline).collect();
        let responses = operation.responses.responses.keys().map(|status| ResponseEntry {
            status: status.clone(),
            schema: (status == "200").then(|| response_name(&route.endpoint)),
            is_error: !["200", "304"].contains(&status.as_str()),
        });
        Self {
            route,
            request: request(version, catalog, route, &parameters),
            parameters: parameters
                .iter()
                .map(|parameter| ParameterEntry::new(document, route, parameter, catalog))
                .collect(),
            record: route.endpoint.item_name(version),
            responses: responses.collect(),
            example: examples.text(version, route).map(|text| text.replace(BASE, base)),
            version,
        }
    }

    /// The example request with these values of its parameters; a missing record in the path is that of the example.
    pub fn request_with(&self, values: &[(String, String)]) -> ExampleRequest {
        let value_of = |parameter: &ParameterEntry| {
            let given = values.iter().find(|(name, value)| *name == parameter.name && !value.trim().is_empty());
            given.map(|(_, value)| value.trim().to_owned())
        };
        let key = self.parameters.iter().find(|parameter| parameter.is_in_path);
        let key = key.map(|parameter| value_of(parameter).unwrap_or_else(|| parameter.example.clone()));
        let path = key.map_or_else(|| self.route.path.to_owned(), |key| self.route.path_of(&encoded_segment(&key)));
        let in_query = self.parameters.iter().filter(|parameter| !parameter.is_in_path);
        ExampleRequest {
            path: format!("/api/{}/{path}", self.version.segment()),
            query: in_query.filter_map(|parameter| Some((parameter.name.clone(), value_of(parameter)?))).collect(),
        }
    }
}

impl ExampleRequest {
    pub fn path_and_query(&self) -> String {
        let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        let mark = if query.is_empty() { "" } else { "?" };
        format!("{}{mark}{}", self.path, query.replace("%2C", ","))
    }
}

impl ParameterEntry {
    fn new(document: &OpenApi, route: &Route, parameter: &Parameter, catalog: &Catalog) -> Self {
        let schema = parameter.schema.as_ref();
        Self {
            name: parameter.name.clone(),
            is_in_path: parameter.parameter_in == ParameterIn::Path,
            is_required: parameter.required == Required::True,
            values: schema.map_or_else(String::new, values),
            choices: schema.map_or_else(Vec::new, |schema| choices(document, schema)),
            example: example_of(route, &parameter.name, catalog).unwrap_or_default(),
            description: parameter.description.clone().expect("every parameter has a description"),
        }
    }
}

impl FieldEntry {
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
        Self { name: name.to_owned(), values, description: description.unwrap_or_default() }
    }
}

impl SchemaEntry {
    /// `None` for a schema that is neither an object nor a vocabulary.
    fn new(name: &str, schema: &RefOr<Schema>) -> Option<Self> {
        let RefOr::T(Schema::Object(object)) = schema else { return None };
        let words = (object.enum_values.is_some() || !open_words(object).is_empty()).then(|| values(schema));
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

/// The words that a parameter accepts; none if it accepts other values too, or several at a time.
fn choices(document: &OpenApi, schema: &RefOr<Schema>) -> Vec<String> {
    let components = document.components.as_ref().expect("the schemas are components");
    let object = match schema {
        RefOr::Ref(reference) => {
            reference.ref_location.rsplit('/').next().and_then(|name| components.schemas.get(name))
        }
        schema => Some(schema),
    };
    let Some(RefOr::T(Schema::Object(object))) = object else { return Vec::new() };
    match (&object.enum_values, &object.schema_type) {
        (Some(words), _) => words.iter().filter_map(|word| word.as_str()).map(str::to_owned).collect(),
        (None, SchemaType::Type(Type::Boolean)) => vec!["true".to_owned(), "false".to_owned()],
        _ => Vec::new(),
    }
}

/// A request that works as it is: at most three parameters, with their example values.
fn request(version: Version, catalog: &Catalog, route: &Route, parameters: &[&Parameter]) -> ExampleRequest {
    let is_path = |parameter: &&&Parameter| parameter.parameter_in == ParameterIn::Path;
    let example = |parameter: &&Parameter| example_of(route, &parameter.name, catalog);
    let slug = parameters.iter().filter(is_path).find_map(example);
    let is_below_record = slug.is_some();
    let path = slug.map_or_else(|| route.path.to_owned(), |slug| route.path_of(&slug));
    let has = |name: &str| parameters.iter().any(|parameter| parameter.name == name);
    // A name combined with other filters would find nothing.
    let shown: &[&str] = match has("q") && !has("stage") && !is_below_record {
        true => &["q", "limit"],
        false => &["name", "from", "stage", "country", "metric", "since", "raise_usd", "limit"],
    };
    let is_shown =
        |parameter: &&&Parameter| parameter.required == Required::True || shown.contains(&parameter.name.as_str());
    let pairs = parameters.iter().filter(|parameter| !is_path(parameter) && is_shown(parameter));
    let pairs = pairs.filter_map(|parameter| Some((parameter.name.clone(), example(parameter)?)));
    ExampleRequest { path: format!("/api/{}/{path}", version.segment()), query: pairs.take(3).collect() }
}

fn items(words: &str, items: &ArrayItems) -> String {
    match items {
        ArrayItems::RefOrSchema(item) => format!("{words}: {}", values(item)),
        ArrayItems::False => String::new(),
    }
}

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

/// The known values of an open vocabulary; none for other schemas.
fn open_words(object: &utoipa::openapi::Object) -> Vec<&str> {
    let words = object.extensions.as_ref().and_then(|extensions| extensions.get(EXTENSIBLE)?.as_array());
    words.into_iter().flatten().filter_map(|word| word.as_str()).collect()
}

fn object_values(object: &utoipa::openapi::Object) -> String {
    let mut text = match (&object.enum_values, &object.format) {
        (_, Some(SchemaFormat::KnownFormat(KnownFormat::Date))) => "date".to_owned(),
        (_, Some(SchemaFormat::KnownFormat(KnownFormat::DateTime))) => "date-time".to_owned(),
        _ if object.pattern.as_deref() == Some(PartialDate::PATTERN) => "date, month or year".to_owned(),
        _ if object.pattern.as_deref() == Some(DATE_PATTERN) => "date, month, quarter or year".to_owned(),
        (Some(words), _) => {
            let words = words.iter().filter_map(|word| word.as_str()).map(|word| format!("`{word}`"));
            words.collect::<Vec<_>>().join(" ")
        }
        (None, _) if !open_words(object).is_empty() => {
            open_words(object).iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ")
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
