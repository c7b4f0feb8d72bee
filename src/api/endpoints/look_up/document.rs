//! The documents of `/resolve`: the values of an item as parameters and as JSON, and the operation with a body.

use serde_json::{Value, json};
use utoipa::openapi::path::{Operation, OperationBuilder, Parameter, ParameterBuilder, ParameterStyle};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::{Array, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Content, ContentBuilder, Ref, RefOr, Required, Schema};

use auth::quota::BATCHES_OF_CALLER;
use catalog::look_up::MAX_NAME_WORDS;
use catalog::params::MAX_TEXT_CHARS;
use catalog::{Catalog, Item, ItemTexts, Resource};
use data::vocabulary::Vocabulary;
use data::{LookUpStatus, Table};
use transport::problem::Code;

use super::batch::{ITEMS_PER_REQUEST, MAX_ITEMS};
use super::{CANDIDATES, MAX_CANDIDATES, table};
use crate::Version;
use crate::endpoint::OwnParameter;
use crate::openapi::Examples;
use crate::openapi::parameter::{DocumentedOption, any_text, at_most, integer, query};
use crate::openapi::schema::Schemas;
use crate::openapi::vocabulary::{accepted_name, open_vocabulary, vocabulary};
use crate::routes::Route;
use crate::submission::closed_object;

/// Names of the schemas of an item, of its kind and of many answers.
const ITEM: &str = "LookUpItem";
const KIND: &str = "LookUpKind";
const ANSWERS: &str = "LookUpList";

const VALUES: [&str; 9] = ItemTexts::NAMES;
const LIMIT: OwnParameter = ("limit", parameter);

/// The values of an item, and the number of candidates.
pub(super) const PARAMETERS: [OwnParameter; VALUES.len() + 1] = {
    let mut parameters = [LIMIT; VALUES.len() + 1];
    let mut index = 0;
    while index < VALUES.len() {
        parameters[index].0 = VALUES[index];
        index += 1;
    }
    parameters
};

fn parameter(of: &DocumentedOption<'_>) -> ParameterBuilder {
    let (doc, schema) = value(of.name);
    let parameter = of.query(&doc).schema(Some(schema)).example(Some(example(of.name, of.catalog)));
    match ItemTexts::is_list(of.name) {
        true => parameter.style(Some(ParameterStyle::Form)).explode(Some(false)),
        false => parameter,
    }
}

fn text() -> ObjectBuilder {
    any_text().pattern(Some(r"\S"))
}

fn value(name: &str) -> (String, RefOr<Schema>) {
    let short = || RefOr::from(text().max_length(Some(MAX_TEXT_CHARS)));
    let list = |item: ObjectBuilder| RefOr::from(ArrayBuilder::new().items(item).min_items(Some(1)));
    let listed = || list(any_text().pattern(Some(r"[^\s,]")));
    let (doc, schema) = match name {
        "kind" => ("What it is. Default: any of them.", Ref::from_schema_name(KIND).into()),
        "name" => {
            let doc =
                format!("Its name, an alias, or an address in place of a name, of at most {MAX_NAME_WORDS} words.");
            return (doc, short());
        }
        "website" => (
            "Its website; of a person that of the organization. Of firms and startups the domain is enough to find them.",
            text().into(),
        ),
        "country" => {
            ("Its country, ISO 3166-1 code or English name.", Ref::from_schema_name(accepted_name("Country")).into())
        }
        "city" => ("Its city; of a person that of the organization.", short()),
        "founded_year" => {
            let year = integer(1500).maximum(Some(2200)).format(Some(SchemaFormat::KnownFormat(KnownFormat::Int32)));
            ("The year in which it was founded.", year.into())
        }
        "organization" => ("The name of a person's organization.", short()),
        "id" => (
            "Identifiers as `scheme:value`. Records with another value of a strong scheme, such as `lei`, are never the match.",
            listed(),
        ),
        "exclude" => ("Slugs or ids of records that it does not mean.", listed()),
        "limit" => {
            let doc = format!("Maximum number of candidates. {}", at_most(MAX_CANDIDATES));
            return (doc, integer(1).default(Some(CANDIDATES.into())).into());
        }
        _ => unreachable!("`{name}` is no value of an item"),
    };
    (doc.to_owned(), schema)
}

fn example(name: &str, catalog: &Catalog) -> Value {
    let filter = |name: &str| {
        let values = catalog.example(Resource::Firms, Resource::Firms.parameter(name)?);
        values.split(',').next().map(str::to_owned)
    };
    match name {
        "kind" => Table::Firms.noun().into(),
        "name" | "organization" => catalog.example_name(Table::Firms).into(),
        "founded_year" => 2014.into(),
        "exclude" => json!([catalog.example_slug(Table::Startups)]),
        "limit" => 1.into(),
        "id" => json!([filter(name)]),
        name => filter(name).into(),
    }
}

pub(super) fn add_schemas(schemas: &mut Schemas) {
    let doc = "Whether an item means the first candidate, may mean several or none for sure, means no likely record, or is \
               invalid.";
    schemas.insert("LookUpStatus".to_owned(), open_vocabulary(doc, &LookUpStatus::names()));
    let kinds = Item::TABLES.map(Table::noun);
    schemas.insert(KIND.to_owned(), vocabulary("A type of record that is looked up.", &kinds));
    let item =
        closed_object().description(Some("An item to look up. At least one of `name`, `website` and `id` is given."));
    let item = ItemTexts::NAMES.into_iter().fold(item, |item, name| {
        let (doc, schema) = value(name);
        item.property(name, described(schema, doc))
    });
    schemas.insert(ITEM.to_owned(), item.into());
    let answers = ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some("The answers to items, in their order."))
        .property("data", Array::new(Ref::from_schema_name("LookUp")))
        .required("data")
        .property("meta", Ref::from_schema_name("Meta"))
        .required("meta");
    schemas.insert(ANSWERS.to_owned(), answers.into());
}

fn described(mut schema: RefOr<Schema>, doc: String) -> RefOr<Schema> {
    match &mut schema {
        RefOr::T(Schema::Object(object)) => object.description = Some(doc),
        RefOr::T(Schema::Array(array)) => array.description = Some(doc),
        RefOr::Ref(reference) => reference.description = doc,
        RefOr::T(_) => {}
    }
    schema
}

fn csv(doc: &str) -> Content {
    let text = any_text().description(Some(doc));
    ContentBuilder::new().schema(Some(text)).build()
}

/// OpenAPI cannot tie a parameter to a media type, so the description does.
fn column(name: &str) -> Parameter {
    let value = name.trim_end_matches("_column");
    let doc = format!(
        "The column of the table that has `{value}`. Default: one with a usual name. Only with `text/csv`; with a JSON body it is \
         rejected as unknown."
    );
    query(Version::V3, name, &doc).schema(Some(text())).build()
}

/// `POST /resolve`: the GET operation with a body in place of the item's parameters.
pub(super) fn post(route: &Route, get: &Operation, examples: &Examples, base: &str) -> Operation {
    let items = ArrayBuilder::new()
        .items(Ref::from_schema_name(ITEM))
        .min_items(Some(1))
        .max_items(Some(MAX_ITEMS))
        .description(Some("The items to look up."));
    let object = closed_object().property("items", items).required("items");
    let json = ContentBuilder::new()
        .schema(Some(object))
        .example(Some(json!({ "items": [{ "kind": "firm", "name": "Alder Capital", "country": "DE" }] })))
        .build();
    let body = RequestBodyBuilder::new()
        .description(Some("The items, or a table with a row for each."))
        .content("application/json", json)
        .content("text/csv", csv("Rows of items below a header row. `name_column` and its like name the columns."))
        .required(Some(Required::True));
    let own = get.parameters.iter().flatten().filter_map(|parameter| match parameter {
        RefOr::T(parameter) => Some(parameter.clone()),
        RefOr::Ref(_) => None,
    });
    let is_of_get = |name: &str| name != "kind" && ItemTexts::NAMES.contains(&name);
    let own = own.filter(|known| !is_of_get(&known.name)).map(|mut known| {
        if !table::PARAMETERS.contains(&known.name.as_str()) {
            let doc = known.description.get_or_insert_default();
            doc.push_str(" Only with a JSON body; with `text/csv` it is rejected as unknown.");
        }
        known
    });
    let mut responses = get.responses.clone();
    // Responses to POST have no `ETag`.
    responses.responses.remove("304");
    if let Some(RefOr::T(success)) = responses.responses.get_mut("200") {
        success.description = "The answers, in the order of the items".to_owned();
        success.headers.remove("ETag");
        let answer = examples.response(Version::V3, route, base).unwrap_or_default();
        let example = json!({ "data": [answer["data"]], "meta": answer["meta"] });
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name(ANSWERS))).example(Some(example)).build();
        success.content.insert("application/json".to_owned(), content.into());
        let rows = "The rows as they were sent, with added columns: `venturedex_status` and its like.";
        success.content.insert("text/csv".to_owned(), csv(rows).into());
    }
    for (status, code) in [("413", Code::BodyTooLarge), ("415", Code::UnsupportedMediaType)] {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let response = ResponseBuilder::new()
            .description(format!("{} Codes: `{}`.", code.explanation(), code.name()))
            .content("application/problem+json", content)
            .build();
        responses.responses.insert(status.to_owned(), response.into());
    }
    let columns = table::PARAMETERS.iter().filter(|name| name.ends_with("_column")).map(|name| column(name));
    let doc = format!(
        "The records that up to {MAX_ITEMS} items mean: one answer for each, in their order. A wrong item is answered as `invalid` \
         with its errors and does not fail the others. Each started {ITEMS_PER_REQUEST} items count as one request \
         (`X-Request-Cost`). Of one key {BATCHES_OF_CALLER} look-ups may be under way at a time; beyond them the answer is 503 \
         `overloaded`, which is not counted. A table (`text/csv`) of any length is answered row by row while it arrives. [How it is decided]({base}/docs/resolve)."
    );
    OperationBuilder::new()
        .operation_id(Some("resolve_many"))
        .tags(get.tags.clone())
        .summary(Some("Look up many records"))
        .description(Some(doc))
        .parameters(Some(own.chain(columns).collect::<Vec<_>>()))
        .request_body(Some(body.build()))
        .responses(responses)
        .build()
}
