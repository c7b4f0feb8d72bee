//! The schemas of a version's responses, generated from the declared types ([`data::field`]) and the route table.
//!
//! v1 and v2 return fixed sets of fields, so each field is required. In v3 `fields` selects fields, and none is
//! required. Objects allow other properties: a client that rejects unknown ones would break with every added field.
//! (Tests check responses against exactly the described properties.)
//!
//! Each vocabulary is one named schema, so that generators create one type for it.

use std::collections::BTreeMap;

use http::StatusCode;
use utoipa::openapi::schema::{Array, ObjectBuilder, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

use crate::endpoint::Endpoint;
use crate::envelope::{Meta, PaginationV1, PaginationV2, PaginationV3, Warnings};
use crate::include::Include;
use crate::openapi::definition::{self, SchemaObjects};
use crate::openapi::parameter::long;
use crate::openapi::vocabulary;
use crate::{Route, Version};
use catalog::ParameterError;
use catalog::json::computed::{CoInvestorFields, MatchFields, RankFields};
use data::Table;
use data::field::{Definition, Model};
use data::vocabulary::Vocabulary;
use transport::problem::{Code, ProblemBody};

pub(crate) type Schemas = BTreeMap<String, RefOr<Schema>>;

pub(crate) fn of_version(version: Version) -> Schemas {
    let mut schemas = Schemas::new();
    for (name, object) in envelope(version) {
        schemas.insert(name, RefOr::T(Schema::Object(object)));
    }
    // A type that is also in the envelope (`Amounts`) gets the schema that `fields` may cut.
    for (name, object) in data(version) {
        schemas.insert(name, RefOr::T(Schema::Object(selectable(object, version))));
    }
    for route in Route::all(version) {
        schemas.insert(response_name(&route.endpoint), response(version, &route.endpoint));
        if version == Version::V3 {
            (route.endpoint.add_schemas)(&route.endpoint, &mut schemas);
        }
    }
    vocabulary::add(version, &mut schemas);
    schemas
}

pub(crate) fn response_name(endpoint: &Endpoint) -> String {
    let suffix = if endpoint.is_list { "List" } else { "Answer" };
    format!("{}{suffix}", endpoint.item_name(Version::V3))
}

/// A firm with the default fields of lists.
pub(crate) const FIRM_SUMMARY: &str = "FirmSummary";

fn response(version: Version, endpoint: &Endpoint) -> RefOr<Schema> {
    let name = endpoint.item_name(version);
    let item = Ref::from_schema_name(name);
    let object = ObjectBuilder::new().schema_type(Type::Object).required("data");
    let mut object = match endpoint.is_list {
        true => object.description(Some(format!("A list of `{name}`."))).property("data", Array::new(item)),
        false => object.description(Some(format!("One `{name}`."))).property("data", item),
    };
    if endpoint.is_paged {
        object = object.property("pagination", Ref::from_schema_name("Pagination")).required("pagination");
    }
    if version == Version::V3 && !endpoint.includes().is_empty() {
        object = object.property("included", included(&endpoint.includes()));
    }
    object = object.property("meta", Ref::from_schema_name("Meta"));
    if version == Version::V3 {
        object = object.required("meta");
    }
    RefOr::T(Schema::Object(object.build()))
}

fn included(includes: &[Include]) -> Object {
    let lists = ObjectBuilder::new().schema_type(Type::Object).description(Some("The lists that `include` names."));
    let lists = includes.iter().fold(lists, |lists, include| {
        let total = long(0).description(Some("Number of all rows of the list."));
        let list = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(format!("The first rows of `{include}`.")))
            .property("total", total)
            .required("total")
            .property("data", Array::new(Ref::from_schema_name(include.item().name)))
            .required("data");
        lists.property(include.name(), list)
    });
    lists.build()
}

/// An object in `data`. In v1 and v2 it has all of its properties; in v3 the selected ones, at least one unless the
/// object may be absent.
fn selectable(mut object: Object, version: Version) -> Object {
    match version {
        Version::V1 | Version::V2 => {
            object.required = object.properties.keys().cloned().collect();
            definition::describe_days(&mut object);
        }
        Version::V3 => {
            let is_always_whole = object.required.len() == object.properties.len();
            object.required = Vec::new();
            object.min_properties = is_always_whole.then_some(1);
        }
    }
    object
}

fn data(version: Version) -> SchemaObjects {
    let mut objects = SchemaObjects::new();
    let mut types: Vec<&'static Definition> = Route::all(version).map(|route| route.endpoint.item).collect();
    if version == Version::V3 {
        types.extend(Include::ALL.iter().map(|include| include.item()));
    }
    types.iter().for_each(|definition| definition::add(&mut objects, definition));
    if version != Version::V3 {
        for definition in types {
            let object = objects.get_mut(definition.name).expect("the type was added");
            let stored = &definition.fields[..definition.stored];
            object.properties.retain(|name, _| stored.iter().any(|field| field.name == name));
        }
    }
    add_firm_rows(&mut objects, version);
    objects
}

/// Adds the firms of lists, each with its computed fields.
fn add_firm_rows(objects: &mut SchemaObjects, version: Version) {
    let firm = match version {
        Version::V1 | Version::V2 => Table::Firms.default_fields(),
        Version::V3 => Table::Firms.model().fields,
    };
    let rows: &[&'static Definition] = match version {
        Version::V1 | Version::V2 => {
            objects.insert(FIRM_SUMMARY.to_owned(), definition::object(&["A firm in a list."], firm));
            &[RankFields::DEFINITION]
        }
        Version::V3 => &[RankFields::DEFINITION, CoInvestorFields::DEFINITION, MatchFields::DEFINITION],
    };
    for row in rows {
        let object = definition::object(row.doc, firm.iter().chain(row.fields));
        objects.insert(row.name.to_owned(), object);
        definition::add_nested(objects, row.fields);
    }
}

fn envelope(version: Version) -> SchemaObjects {
    let mut objects = SchemaObjects::new();
    let (pagination, meta) = match version {
        Version::V1 => (PaginationV1::DEFINITION, Warnings::DEFINITION),
        Version::V2 => (PaginationV2::DEFINITION, Warnings::DEFINITION),
        Version::V3 => (PaginationV3::DEFINITION, Meta::DEFINITION),
    };
    for definition in [pagination, meta, ProblemBody::DEFINITION] {
        definition::add(&mut objects, definition);
    }
    // Described, not enumerated: codes may be added.
    let mut codes: Vec<&str> = Code::ALL.into_iter().map(Code::name).collect();
    describe_values(&mut objects, ProblemBody::DEFINITION, "code", &codes);
    codes.retain(|code| Code::named(code).is_some_and(|code| code.status() == StatusCode::BAD_REQUEST));
    codes.extend([Code::Gone, Code::CursorExpired, Code::SnapshotNotHeld].map(Code::name));
    codes.extend(ParameterError::WARNINGS);
    describe_values(&mut objects, ParameterError::DEFINITION, "code", &codes);
    objects
}

/// Lists the current values of a property in its description.
fn describe_values(objects: &mut SchemaObjects, definition: &Definition, property: &str, values: &[&str]) {
    let object = objects.get_mut(definition.name).expect("the type was added");
    let Some(RefOr::T(Schema::Object(property))) = object.properties.get_mut(property) else {
        panic!("{} has no property `{property}` of its own type", definition.name);
    };
    let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
    let doc = property.description.take().expect("the property is described");
    property.description = Some(format!("{doc} Currently one of {}.", values.join(", ")));
}
