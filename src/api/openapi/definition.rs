//! Schemas of the declared types ([`data::field`]).

use std::collections::BTreeMap;

use utoipa::openapi::schema::{AnyOfBuilder, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

use data::PartialDate;
use data::field::{Definition, Field, JsonType, TextFormat};

pub(crate) type SchemaObjects = BTreeMap<String, Object>;

pub(crate) fn add(objects: &mut SchemaObjects, definition: &'static Definition) {
    objects.insert(definition.name.to_owned(), object(definition.doc, definition.fields));
    add_nested(objects, definition.fields);
}

pub(crate) fn add_nested(objects: &mut SchemaObjects, fields: &'static [Field]) {
    for field in fields {
        match field.json.item() {
            JsonType::Object(definition) if field.is_flat => add_nested(objects, definition.fields),
            JsonType::Object(definition) => add(objects, definition),
            _ => {}
        }
    }
}

/// An object with these fields; those that are not optional are required.
pub(crate) fn object(doc: &[&str], fields: impl IntoIterator<Item = &'static Field>) -> Object {
    let object = ObjectBuilder::new().schema_type(Type::Object).description(text(doc));
    fields.into_iter().fold(object, |object, field| add_field(object, field, false)).build()
}

fn add_field(object: ObjectBuilder, field: &'static Field, is_optional: bool) -> ObjectBuilder {
    if field.is_flat {
        let is_optional = is_optional || field.is_nullable;
        return field.nested().iter().fold(object, |object, field| add_field(object, field, is_optional));
    }
    let object = object.property(field.name, property(field));
    if is_optional || field.is_optional { object } else { object.required(field.name) }
}

fn property(field: &Field) -> RefOr<Schema> {
    let doc = text(field.doc);
    if let JsonType::List(item) = field.json {
        let kind = schema_type(Type::Array, field.is_nullable);
        return ArrayBuilder::new().schema_type(kind).items(value(field, item, false, None)).description(doc).into();
    }
    if let JsonType::Map(item) = field.json {
        let values = value(field, item, false, None);
        let map = ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(values)).description(doc);
        return map.into();
    }
    value(field, &field.json, field.is_nullable, doc)
}

fn value(field: &Field, json: &JsonType, is_nullable: bool, doc: Option<String>) -> RefOr<Schema> {
    let named = match json {
        JsonType::Object(definition) => Some(definition.name),
        _ => field.vocabulary,
    };
    if let Some(name) = named {
        return reference(name, is_nullable, doc);
    }
    let (kind, format) = match json {
        JsonType::Text | JsonType::PartialDate => (Type::String, None),
        JsonType::Date => (Type::String, Some(KnownFormat::Date)),
        JsonType::Integer | JsonType::Signed => (Type::Integer, Some(KnownFormat::Int32)),
        JsonType::Long => (Type::Integer, Some(KnownFormat::Int64)),
        JsonType::Number => (Type::Number, Some(KnownFormat::Double)),
        JsonType::Boolean => (Type::Boolean, None),
        JsonType::Record => (Type::Object, None),
        JsonType::List(_) | JsonType::Map(_) | JsonType::Object(_) => {
            unreachable!("lists of lists and unnamed objects are not declared")
        }
    };
    let format = match field.format {
        Some(TextFormat::DateTime) => Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)),
        Some(TextFormat::Uri) => Some(SchemaFormat::Custom("uri".to_owned())),
        None => format.map(SchemaFormat::KnownFormat),
    };
    let min = match json {
        JsonType::Integer | JsonType::Long => Some(field.min.unwrap_or(0)),
        _ => field.min,
    };
    let (pattern, doc) = match json {
        JsonType::PartialDate => (Some(PartialDate::PATTERN), Some(format!("{}{AS_KNOWN}", doc.unwrap_or_default()))),
        _ => (field.pattern, doc),
    };
    let object = ObjectBuilder::new().format(format).pattern(pattern).minimum(min).maximum(field.max);
    object.schema_type(schema_type(kind, is_nullable)).description(doc).into()
}

fn schema_type(kind: Type, is_nullable: bool) -> SchemaType {
    if is_nullable { SchemaType::from_iter([kind, Type::Null]) } else { SchemaType::new(kind) }
}

/// Description of a partial date in v3, and in v1 and v2.
const AS_KNOWN: &str = " As exact as it is known: `2026-06-30`, `2026-06` or `2026`.";
const FIRST_DAY: &str = " If only its month or year is known, the first day.";

/// Describes the partial dates of an object as full dates, which they are in v1 and v2.
pub(crate) fn describe_days(object: &mut Object) {
    for property in object.properties.values_mut() {
        let RefOr::T(Schema::Object(property)) = property else { continue };
        if property.pattern.as_deref() == Some(PartialDate::PATTERN) {
            property.pattern = None;
            property.format = Some(SchemaFormat::KnownFormat(KnownFormat::Date));
            property.description = property.description.take().map(|doc| doc.replace(AS_KNOWN, FIRST_DAY));
        }
    }
}

fn reference(name: &str, is_nullable: bool, doc: Option<String>) -> RefOr<Schema> {
    let mut reference = Ref::from_schema_name(name);
    if is_nullable {
        let null = ObjectBuilder::new().schema_type(Type::Null);
        return AnyOfBuilder::new().item(reference).item(null).description(doc).into();
    }
    reference.description = doc.unwrap_or_default();
    RefOr::Ref(reference)
}

/// The lines of a doc comment as one text; `None` without any.
fn text(doc: &[&str]) -> Option<String> {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    (!lines.is_empty()).then(|| lines.join(" "))
}
