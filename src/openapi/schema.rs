//! The schemas of a version's answers: derived from Rust types, closed by the vocabularies and the tables of the code.
//!
//! v1 and v2 answer fixed sets of fields, so that each is required there. Under v3 `fields` decides which are there, and
//! none is required. Objects are left open: a client that refuses what it does not know would break with every field that
//! is added. (Tests hold answers to what is listed here, and nothing else.)
//!
//! A vocabulary is one named schema, wherever its words stand: generators make one type of it.

use std::collections::BTreeMap;

use http::StatusCode;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AnyOfBuilder, Array, ArrayItems, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

use crate::api::{EndpointKind, Route, Version};
use crate::catalog::{ParameterError, Resource};
use crate::data::Table;
use crate::http::problem::Code;
use crate::openapi::model;

use crate::openapi::{answers, vocabulary};

/// The schemas of an answer's parts, by name.
pub(crate) type Schemas = BTreeMap<String, RefOr<Schema>>;

/// All schemas of a version.
pub(crate) fn of(version: Version) -> Schemas {
    let mut schemas = Schemas::new();
    let loose = version == Version::V3;
    for (name, object) in data(version) {
        schemas.insert(name, RefOr::T(Schema::Object(holding(object, !loose))));
    }
    for (name, object) in frame(version) {
        schemas.insert(name, RefOr::T(Schema::Object(object)));
    }
    for endpoint in Route::of(version) {
        schemas.insert(answer_name(endpoint.content), answer(version, endpoint.content));
    }
    vocabulary::add(version, &mut schemas);
    schemas
}

/// The name of an endpoint's whole answer.
pub(crate) fn answer_name(content: EndpointKind) -> String {
    match content {
        EndpointKind::List(Resource::Leaderboard, _) => "RankedFirmList".to_owned(),
        EndpointKind::List(Resource::CoInvestors, _) => "CoInvestingFirmList".to_owned(),
        EndpointKind::List(Resource::Match, _) => "FittingFirmList".to_owned(),
        EndpointKind::Facets => "FacetsAnswer".to_owned(),
        EndpointKind::List(resource, _) => format!("{}List", record_name(resource.table())),
        EndpointKind::Record(table) => format!("{}Answer", record_name(table)),
        EndpointKind::Stats => "TotalsAnswer".to_owned(),
        EndpointKind::Snapshots => "ReleaseList".to_owned(),
        EndpointKind::Suggestions => "SuggestionList".to_owned(),
        EndpointKind::Usage => "UsageAnswer".to_owned(),
    }
}

/// The name of what an endpoint answers in `data`, once or many times.
pub(crate) fn item_name(version: Version, content: EndpointKind) -> String {
    match content {
        EndpointKind::List(Resource::Leaderboard, _) => "RankedFirm".to_owned(),
        EndpointKind::List(Resource::CoInvestors, _) => "CoInvestingFirm".to_owned(),
        EndpointKind::List(Resource::Match, _) => "FittingFirm".to_owned(),
        EndpointKind::Facets => "Facets".to_owned(),
        EndpointKind::List(Resource::Firms, _) if version != Version::V3 => "FirmSummary".to_owned(),
        EndpointKind::List(resource, _) => record_name(resource.table()).to_owned(),
        EndpointKind::Record(table) => record_name(table).to_owned(),
        EndpointKind::Stats => "Totals".to_owned(),
        EndpointKind::Snapshots => "Release".to_owned(),
        EndpointKind::Suggestions => "Suggestion".to_owned(),
        EndpointKind::Usage => "Usage".to_owned(),
    }
}

/// The name of a table's record.
pub(crate) fn record_name(table: Table) -> &'static str {
    match table {
        Table::Firms => "Firm",
        Table::Startups => "Startup",
        Table::Rounds => "FundingRound",
        Table::People => "Person",
        Table::Reviews => "Review",
        Table::Sectors => "Sector",
    }
}

/// A whole answer: the data in its envelope.
fn answer(version: Version, content: EndpointKind) -> RefOr<Schema> {
    let item = Ref::from_schema_name(item_name(version, content));
    let is_list = matches!(content, EndpointKind::List(..) | EndpointKind::Snapshots | EndpointKind::Suggestions);
    let doc = match is_list {
        true => format!("An answer that lists items of `{}`.", item_name(version, content)),
        false => format!("An answer that holds one `{}`.", item_name(version, content)),
    };
    let mut object = ObjectBuilder::new().schema_type(Type::Object).description(Some(doc)).required("data");
    object = match is_list {
        true => object.property("data", Array::new(item)),
        false => object.property("data", item),
    };
    if matches!(content, EndpointKind::List(..)) {
        object = object.property("pagination", Ref::from_schema_name("Pagination")).required("pagination");
    }
    object = object.property("meta", Ref::from_schema_name("Meta"));
    if version == Version::V3 {
        object = object.required("meta");
    }
    RefOr::T(Schema::Object(object.build()))
}

/// An object that has all of its properties, or at least one.
fn holding(mut object: Object, all: bool) -> Object {
    object.required = if all { object.properties.keys().cloned().collect() } else { Vec::new() };
    object.min_properties = (!all).then_some(1);
    object
}

/// A type's schema with those that it refers to.
fn derived<T: ToSchema>(named: &mut BTreeMap<String, Object>) {
    let mut schemas = vec![(T::name().into_owned(), T::schema())];
    T::schemas(&mut schemas);
    for (name, schema) in schemas {
        if let RefOr::T(Schema::Object(object)) = schema {
            named.insert(name, object);
        }
    }
}

/// What stands in `data`.
fn data(version: Version) -> BTreeMap<String, Object> {
    let mut all = BTreeMap::new();
    derived::<model::Firm>(&mut all);
    derived::<model::Review>(&mut all);
    derived::<model::Sector>(&mut all);
    if version == Version::V3 {
        derived::<model::Startup>(&mut all);
        derived::<answers::Facets>(&mut all);
        derived::<answers::Totals>(&mut all);
        derived::<answers::Release>(&mut all);
        derived::<answers::Suggestion>(&mut all);
        derived::<answers::Usage>(&mut all);
    }
    close_words(&mut all);
    if let Some(firm) = all.get("Firm").cloned() {
        extend_firm(&mut all, &firm, version);
    }
    all
}

/// Adds the forms that a firm takes in lists, each with fields of its own.
fn extend_firm(all: &mut BTreeMap<String, Object>, firm: &Object, version: Version) {
    let mut row = firm.clone();
    if version != Version::V3 {
        let defaults = Table::Firms.fields().get(..Table::Firms.default_fields()).unwrap_or_default();
        row.properties.retain(|name, _| defaults.contains(&name.as_str()));
        row.description = Some("A firm as lists show it.".to_owned());
        all.insert("FirmSummary".to_owned(), row.clone());
    }
    let mut further: BTreeMap<String, Object> = BTreeMap::new();
    derived::<answers::RankedFirm>(&mut further);
    if version == Version::V3 {
        derived::<answers::CoInvestingFirm>(&mut further);
        derived::<answers::FittingFirm>(&mut further);
        refer(&mut further, "FitReason", "name", "FitReasonName");
    }
    for (name, mut object) in further {
        if ["RankedFirm", "CoInvestingFirm", "FittingFirm"].contains(&name.as_str()) {
            let own = std::mem::take(&mut object.properties);
            object.properties.extend(row.properties.clone());
            object.properties.extend(own);
        }
        all.insert(name, object);
    }
}

/// What stands around the data.
fn frame(version: Version) -> BTreeMap<String, Object> {
    let mut all = BTreeMap::new();
    derived::<answers::Problem>(&mut all);
    let (pagination, meta) = match version {
        Version::V1 => {
            derived::<answers::PaginationV1>(&mut all);
            derived::<answers::Warnings>(&mut all);
            ("PaginationV1", "Warnings")
        }
        Version::V2 => {
            derived::<answers::PaginationV2>(&mut all);
            derived::<answers::Warnings>(&mut all);
            ("PaginationV2", "Warnings")
        }
        Version::V3 => {
            derived::<answers::PaginationV3>(&mut all);
            derived::<answers::Meta>(&mut all);
            ("PaginationV3", "Meta")
        }
    };
    for (name, to) in [(pagination, "Pagination"), (meta, "Meta")] {
        if let Some(object) = all.remove(name) {
            all.insert(to.to_owned(), object);
        }
    }
    // Codes are told and not closed: more may come.
    let mut codes: Vec<&str> = Code::ALL.into_iter().map(Code::name).collect();
    tell(&mut all, "Problem", "code", &codes);
    codes.retain(|code| Code::named(code).is_some_and(|code| code.status() == StatusCode::BAD_REQUEST));
    codes.push(Code::CursorExpired.name());
    codes.extend(ParameterError::WARNINGS);
    tell(&mut all, "ParameterError", "code", &codes);
    refer(&mut all, "Problem", "tier", "Tier");
    if let Some(pagination) = all.get_mut("Pagination") {
        pagination.required = pagination.properties.keys().cloned().collect();
    }
    all
}

/// Writes the vocabularies into the properties that hold their words.
fn close_words(all: &mut BTreeMap<String, Object>) {
    for (component, property, vocabulary) in [
        ("Firm", "kind", "FirmKind"),
        ("Firm", "stages", "Stage"),
        ("Startup", "stage", "Stage"),
        ("Startup", "status", "StartupStatus"),
        ("FundingRound", "stage", "Stage"),
        ("Review", "stage", "Stage"),
        ("Review", "status", "ReviewStatus"),
        ("Organization", "kind", "OrganizationKind"),
        ("Suggestion", "kind", "RecordKind"),
        ("Usage", "tier", "Tier"),
        ("Score", "status", "ScoreStatus"),
        ("ScoreComponent", "name", "ScoreComponentName"),
    ] {
        refer(all, component, property, vocabulary);
    }
    for component in ["Firm", "Startup", "FundingRound", "Person"] {
        refer(all, component, "country", "Country");
    }
    for object in all.values_mut() {
        for name in ["slug", "sectors", "parent"] {
            let text = match object.properties.get_mut(name) {
                Some(RefOr::T(Schema::Object(slug))) => Some(slug),
                Some(RefOr::T(Schema::Array(slugs))) => item_of(slugs),
                _ => None,
            };
            // A count of sectors has the same name.
            if let Some(text) = text.filter(|text| is_text(text)) {
                text.pattern = Some(SLUG.to_owned());
            }
        }
    }
}

fn is_text(object: &Object) -> bool {
    match &object.schema_type {
        SchemaType::Type(kind) => *kind == Type::String,
        SchemaType::Array(kinds) => kinds.contains(&Type::String),
        SchemaType::AnyValue => false,
    }
}

fn is_nullable(object: &Object) -> bool {
    matches!(&object.schema_type, SchemaType::Array(kinds) if kinds.contains(&Type::Null))
}

/// What a list's items are, where they are described in place.
fn item_of(array: &mut Array) -> Option<&mut Object> {
    match &mut array.items {
        ArrayItems::RefOrSchema(item) => match item.as_mut() {
            RefOr::T(Schema::Object(object)) => Some(object),
            _ => None,
        },
        ArrayItems::False => None,
    }
}

/// Puts a vocabulary in the place of a property, or of the items of one that is a list; null beside it where it may be.
fn refer(all: &mut BTreeMap<String, Object>, component: &str, property: &str, vocabulary: &str) {
    let words = Ref::from_schema_name(vocabulary);
    match all.get_mut(component).and_then(|object| object.properties.get_mut(property)) {
        Some(RefOr::T(Schema::Array(array))) => array.items = ArrayItems::RefOrSchema(Box::new(words.into())),
        Some(place @ RefOr::T(Schema::Object(_))) => {
            let RefOr::T(Schema::Object(object)) = &*place else { return };
            let doc = object.description.clone();
            *place = match is_nullable(object) {
                true => {
                    let null = ObjectBuilder::new().schema_type(Type::Null);
                    AnyOfBuilder::new().item(words).item(null).description(doc).into()
                }
                false => {
                    let mut words = words;
                    words.description = doc.unwrap_or_default();
                    RefOr::Ref(words)
                }
            };
        }
        _ => {}
    }
}

/// What a slug looks like in answers.
const SLUG: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";

/// Names the words that a property has now, without closing it.
fn tell(all: &mut BTreeMap<String, Object>, component: &str, property: &str, words: &[&str]) {
    if let Some(RefOr::T(Schema::Object(object))) =
        all.get_mut(component).and_then(|object| object.properties.get_mut(property))
    {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        let doc = object.description.take().unwrap_or_default();
        object.description = Some(format!("{doc} One of {}; more may come.", words.join(", ")));
    }
}
