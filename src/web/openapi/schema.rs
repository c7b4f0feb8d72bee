//! The schemas of a version's answers: derived from Rust types, closed by the vocabularies and the tables of the code.
//!
//! v1 and v2 answer fixed sets of fields, so that each is required there. Under v3 `fields` decides which are there:
//! none is required, and none that is not listed may occur.

use std::collections::BTreeMap;

use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, Array, ArrayItems, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

use crate::catalog::fit::Reason;
use crate::catalog::{ParameterError, Resource, Texts};
use crate::dataset::score::{DIMENSIONS, GHOSTING, METHOD};
use crate::dataset::vocabulary::Vocabulary;
use crate::dataset::{Country, FirmKind, OrganizationKind, ReviewStatus, Stage, StartupStatus, Table};
use crate::web::problem::Code;
use crate::web::records;
use crate::web::rest::{Content, Route, Version};

use super::answers;

/// The schemas of an answer's parts, by name.
pub(super) type Schemas = BTreeMap<String, RefOr<Schema>>;

/// All schemas of a version.
pub(super) fn of(version: Version) -> Schemas {
    let mut schemas = Schemas::new();
    let loose = version == Version::V3;
    for (name, object) in data(version) {
        schemas.insert(name, RefOr::T(Schema::Object(closed(object, !loose))));
    }
    for (name, mut object) in frame(version) {
        object.additional_properties = nothing_else();
        schemas.insert(name, RefOr::T(Schema::Object(object)));
    }
    for endpoint in Route::of(version) {
        schemas.insert(answer_name(endpoint.content), answer(version, endpoint.content));
    }
    let countries = Country::all().map(|country| Value::from(country.alpha2()));
    let country = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some("A country, ISO 3166-1 alpha-2. Requests may also name it by alpha-3 or in English."))
        .enum_values(Some(countries));
    schemas.insert("Country".to_owned(), country.into());
    schemas
}

/// The name of an endpoint's whole answer.
pub(super) fn answer_name(content: Content) -> String {
    match content {
        Content::List(Resource::Leaderboard, _) => "RankedFirmList".to_owned(),
        Content::List(Resource::CoInvestors, _) => "CoInvestingFirmList".to_owned(),
        Content::List(Resource::Match, _) => "FittingFirmList".to_owned(),
        Content::Facets => "FacetsAnswer".to_owned(),
        Content::List(resource, _) => format!("{}List", record_name(resource.table())),
        Content::Record(table) => format!("{}Answer", record_name(table)),
        Content::Stats => "TotalsAnswer".to_owned(),
        Content::Snapshots => "ReleaseList".to_owned(),
        Content::Suggestions => "SuggestionList".to_owned(),
        Content::Usage => "UsageAnswer".to_owned(),
    }
}

/// The name of what an endpoint answers in `data`, once or many times.
pub(super) fn item_name(version: Version, content: Content) -> String {
    match content {
        Content::List(Resource::Leaderboard, _) => "RankedFirm".to_owned(),
        Content::List(Resource::CoInvestors, _) => "CoInvestingFirm".to_owned(),
        Content::List(Resource::Match, _) => "FittingFirm".to_owned(),
        Content::Facets => "Facets".to_owned(),
        Content::List(Resource::Firms, _) if version != Version::V3 => "FirmSummary".to_owned(),
        Content::List(resource, _) => record_name(resource.table()).to_owned(),
        Content::Record(table) => record_name(table).to_owned(),
        Content::Stats => "Totals".to_owned(),
        Content::Snapshots => "Release".to_owned(),
        Content::Suggestions => "Suggestion".to_owned(),
        Content::Usage => "Usage".to_owned(),
    }
}

/// The name of a table's record.
pub(super) fn record_name(table: Table) -> &'static str {
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
fn answer(version: Version, content: Content) -> RefOr<Schema> {
    let item = Ref::from_schema_name(item_name(version, content));
    let is_list = matches!(content, Content::List(..) | Content::Snapshots | Content::Suggestions);
    let mut object = ObjectBuilder::new().schema_type(Type::Object).required("data");
    object = match is_list {
        true => object.property("data", Array::new(item)),
        false => object.property("data", item),
    };
    if matches!(content, Content::List(..)) {
        object = object.property("pagination", Ref::from_schema_name("Pagination")).required("pagination");
    }
    object = object.property("meta", Ref::from_schema_name("Meta"));
    if version == Version::V3 {
        object = object.required("meta");
    }
    let mut object = object.build();
    object.additional_properties = nothing_else();
    RefOr::T(Schema::Object(object))
}

fn nothing_else() -> Option<Box<AdditionalProperties<Schema>>> {
    Some(Box::new(AdditionalProperties::FreeForm(false)))
}

/// An object that has nothing but its properties; all of them, or at least one.
fn closed(mut object: Object, all: bool) -> Object {
    object.required = if all { object.properties.keys().cloned().collect() } else { Vec::new() };
    object.min_properties = (!all).then_some(1);
    object.additional_properties = nothing_else();
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
    derived::<records::Firm>(&mut all);
    derived::<records::Review>(&mut all);
    derived::<records::Sector>(&mut all);
    if version == Version::V3 {
        derived::<records::Startup>(&mut all);
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
        let reasons: Vec<&str> = Reason::ALL.into_iter().map(Reason::name).collect();
        close(&mut further, "FitReason", "name", &reasons);
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
    let mut codes: Vec<&str> = Code::ALL.into_iter().map(Code::name).collect();
    close(&mut all, "Problem", "code", &codes);
    codes.retain(|code| Code::named(code).is_some_and(|code| code.status() == http::StatusCode::BAD_REQUEST));
    codes.extend(ParameterError::WARNINGS);
    close(&mut all, "ParameterError", "code", &codes);
    close(&mut all, "Problem", "tier", &tiers());
    all
}

fn tiers() -> Vec<&'static str> {
    crate::access::Tier::ALL.into_iter().map(crate::access::Tier::name).collect()
}

/// Writes the vocabularies into the properties that hold their words.
fn close_words(all: &mut BTreeMap<String, Object>) {
    let stages = Stage::names();
    for (component, property, words) in [
        ("Firm", "kind", &FirmKind::names()),
        ("Firm", "stages", &stages),
        ("Startup", "stage", &stages),
        ("Startup", "status", &StartupStatus::names()),
        ("FundingRound", "stage", &stages),
        ("Review", "stage", &stages),
        ("Organization", "kind", &OrganizationKind::names()),
        // Rejected reviews are never served.
        ("Review", "status", &vec![ReviewStatus::Pending.name(), ReviewStatus::Approved.name()]),
        ("Score", "status", &vec!["published", "insufficient_reviews"]),
        ("Score", "method", &vec![METHOD]),
        ("ScoreComponent", "name", &DIMENSIONS.iter().chain([&GHOSTING]).map(|(name, _)| *name).collect()),
        ("Suggestion", "kind", &Texts::TABLES.map(Table::noun).to_vec()),
        ("Usage", "tier", &tiers()),
    ] {
        close(all, component, property, words);
    }
    for object in all.values_mut() {
        if let Some(RefOr::T(Schema::Object(country))) = object.properties.get_mut("country") {
            country.pattern = Some("^[A-Z]{2}$".to_owned());
        }
        for name in ["slug", "sectors", "parent"] {
            match object.properties.get_mut(name) {
                Some(RefOr::T(Schema::Object(slug))) => slug.pattern = Some(SLUG.to_owned()),
                Some(RefOr::T(Schema::Array(slugs))) => {
                    if let ArrayItems::RefOrSchema(item) = &mut slugs.items
                        && let RefOr::T(Schema::Object(slug)) = item.as_mut()
                    {
                        slug.pattern = Some(SLUG.to_owned());
                    }
                }
                _ => {}
            }
        }
    }
}

/// What a slug looks like in answers.
const SLUG: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";

/// Allows a property, or the items of one that is a list, nothing but `words`, and null where it may be null.
fn close(all: &mut BTreeMap<String, Object>, component: &str, property: &str, words: &[&str]) {
    let property = all.get_mut(component).and_then(|object| object.properties.get_mut(property));
    let object = match property {
        Some(RefOr::T(Schema::Object(object))) => object,
        Some(RefOr::T(Schema::Array(array))) => match &mut array.items {
            ArrayItems::RefOrSchema(item) => match item.as_mut() {
                RefOr::T(Schema::Object(object)) => object,
                _ => return,
            },
            ArrayItems::False => return,
        },
        _ => return,
    };
    let nullable = matches!(&object.schema_type, SchemaType::Array(types) if types.contains(&Type::Null));
    let null = nullable.then_some(Value::Null);
    object.enum_values = Some(words.iter().map(|word| Value::from(*word)).chain(null).collect());
}

/// The fields that `fields` can name, nested ones by their path, in both spellings.
pub(super) fn selectable(schemas: &Schemas, item: &str) -> Vec<String> {
    let mut paths = Vec::new();
    walk(schemas, item, "", &mut paths);
    let camel: Vec<String> = paths.iter().map(|path| camel_case(path)).filter(|path| !paths.contains(path)).collect();
    paths.extend(camel);
    paths.push("*".to_owned());
    paths
}

fn walk(schemas: &Schemas, item: &str, before: &str, paths: &mut Vec<String>) {
    let Some(RefOr::T(Schema::Object(object))) = schemas.get(item) else { return };
    for (name, schema) in &object.properties {
        let path = format!("{before}{name}");
        let below = match schema {
            RefOr::Ref(reference) => Some(reference),
            RefOr::T(Schema::Array(array)) => match &array.items {
                ArrayItems::RefOrSchema(item) => match item.as_ref() {
                    RefOr::Ref(reference) => Some(reference),
                    RefOr::T(_) => None,
                },
                ArrayItems::False => None,
            },
            RefOr::T(_) => None,
        };
        paths.push(path.clone());
        if let Some(below) = below.and_then(|reference| reference.ref_location.rsplit('/').next()) {
            walk(schemas, below, &format!("{path}."), paths);
        }
    }
}

/// `health_score` → `healthScore`.
fn camel_case(path: &str) -> String {
    let mut camel = String::with_capacity(path.len());
    let mut raise = false;
    for char in path.chars() {
        match char {
            '_' => raise = true,
            char if raise => {
                camel.push(char.to_ascii_uppercase());
                raise = false;
            }
            char => camel.push(char),
        }
    }
    camel
}
