//! Fields of public types: one declaration gives the Rust struct, its JSON, field lists, documents and schemas.
//!
//! [`model!`] declares a struct as usual, with rules in brackets after a field's type, see [`crate::model`].
//!
//! Each rule is a method of [`Field`]. Records are written from borrowed text and read into owned text. A derive macro of
//! a schema crate knows nothing of default fields, and would be built for `build.rs` as well.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Date, PartialDate};

/// A public type: its name in documents, its description and its fields in the order of the JSON.
#[derive(Clone, Copy, Debug)]
pub struct Definition {
    pub name: &'static str,
    /// The description, line by line.
    pub doc: &'static [&'static str],
    pub fields: &'static [Field],
    /// Number of `fields` stored in the record; the joined ones follow.
    pub stored: usize,
    /// Number of `fields` in a list by default; the details follow.
    pub listed: usize,
}

impl Definition {
    pub const fn new(name: &'static str, doc: &'static [&'static str], fields: &'static [Field]) -> Self {
        let (mut stored, mut listed, mut index) = (0, 0, 0);
        while index < fields.len() {
            let Field { is_joined, is_detail, .. } = fields[index];
            assert!(is_joined || stored == index, "joined fields come last");
            assert!(is_joined || is_detail || listed == index, "details come after the fields of lists");
            stored += !is_joined as usize;
            listed += !(is_joined || is_detail) as usize;
            index += 1;
        }
        Self { name, doc, fields, stored, listed }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub doc: &'static [&'static str],
    pub json: JsonType,
    pub is_nullable: bool,
    pub is_optional: bool,
    pub is_detail: bool,
    /// Composed on request, from other tables or from the history of the release, not stored in the record.
    pub is_joined: bool,
    /// The fields of the object are written in place of the field.
    pub is_flat: bool,
    pub min: Option<u32>,
    pub max: Option<u32>,
    pub vocabulary: Option<&'static str>,
    pub pattern: Option<&'static str>,
    pub format: Option<TextFormat>,
}

#[derive(Clone, Copy, Debug)]
pub enum TextFormat {
    DateTime,
    Uri,
}

const SLUG: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";
/// The pattern of snapshot versions, such as `2026-11-20.1`.
pub const SNAPSHOT: &str = r"^\d{4}-\d{2}-\d{2}\.\d+$";

impl Field {
    pub const fn new<T: JsonValue>(name: &'static str, doc: &'static [&'static str]) -> Self {
        Self {
            name: plain_name(name),
            doc,
            json: T::TYPE,
            is_nullable: T::NULLABLE,
            is_optional: false,
            is_detail: false,
            is_joined: false,
            is_flat: false,
            min: None,
            max: None,
            vocabulary: None,
            pattern: None,
            format: None,
        }
    }

    /// The fields of the object, or of each object of the list; empty for other values.
    pub const fn nested(&self) -> &'static [Self] {
        match self.json.item() {
            JsonType::Object(definition) => definition.fields,
            _ => &[],
        }
    }
}

const FIRST_SEEN: &[&str] = &[" The release in which the record appeared, as far back as releases were compared; \
                               `null` if it was in the first."];
const CHANGED_IN: &[&str] =
    &[" The last release that added or changed the record; `null` if none did since the first that was compared."];

macro_rules! rules {
    ($($(#[$doc:meta])* $rule:ident($($argument:ident: $type:ty),*) { $($field:ident: $value:expr),+ })+) => {
        impl Field {
            $($(#[$doc])* pub const fn $rule(self, $($argument: $type),*) -> Self {
                Self { $($field: $value,)+ ..self }
            })+
        }
    };
}

rules! {
    range(min: u32, max: u32) { min: Some(min), max: Some(max) }
    min(min: u32) { min: Some(min) }
    max(max: u32) { max: Some(max) }
    one_of(vocabulary: &'static str) { vocabulary: Some(vocabulary) }
    pattern(pattern: &'static str) { pattern: Some(pattern) }
    slug() { pattern: Some(SLUG) }
    date_time() { format: Some(TextFormat::DateTime) }
    uri() { format: Some(TextFormat::Uri) }
    /// The name in the JSON, if it differs from that of the Rust field; the same as in `#[serde(rename)]`.
    named(json_name: &'static str) { name: json_name }
    /// Absent instead of null.
    optional() { is_optional: true, is_nullable: false }
    detail() { is_detail: true }
    joined() { is_joined: true }
    first_seen() { doc: FIRST_SEEN, pattern: Some(SNAPSHOT), is_joined: true }
    changed_in() { doc: CHANGED_IN, pattern: Some(SNAPSHOT), is_joined: true }
    flat() { is_flat: true }
}

/// The name of a field, without the `r#` of a raw identifier (`r#type`).
const fn plain_name(identifier: &'static str) -> &'static str {
    match identifier.as_bytes() {
        [b'r', b'#', ..] => identifier.split_at(2).1,
        _ => identifier,
    }
}

#[derive(Clone, Copy, Debug)]
pub enum JsonType {
    Text,
    Date,
    /// `YYYY-MM-DD`, `YYYY-MM` or `YYYY`.
    PartialDate,
    /// A whole number from 0, of at most 32 bits.
    Integer,
    Long,
    /// A whole number of at most 32 bits, which may be negative.
    Signed,
    Number,
    Boolean,
    List(&'static JsonType),
    Map(&'static JsonType),
    Object(&'static Definition),
    /// An object with fields of a record; they depend on its table.
    Record,
}

impl JsonType {
    /// The type of a list's items; of another type the type itself.
    pub const fn item(&self) -> &Self {
        match self {
            Self::List(item) => item.item(),
            _ => self,
        }
    }
}

pub trait JsonValue: Serialize {
    const TYPE: JsonType;
    const NULLABLE: bool = false;
}

macro_rules! json_values {
    ($($json:ident: $($type:ty),+;)+) => {$($(
        impl JsonValue for $type {
            const TYPE: JsonType = JsonType::$json;
        }
    )+)+};
}

json_values! {
    Text: String, str;
    Date: Date;
    PartialDate: PartialDate;
    Integer: u8, u16, u32;
    Long: u64;
    Signed: i32;
    Number: f32, f64;
    Boolean: bool;
}

impl<T: JsonValue + ?Sized> JsonValue for &T {
    const TYPE: JsonType = T::TYPE;
    const NULLABLE: bool = T::NULLABLE;
}

impl<T: JsonValue> JsonValue for Option<T> {
    const TYPE: JsonType = T::TYPE;
    const NULLABLE: bool = true;
}

impl<T: JsonValue> JsonValue for Vec<T> {
    const TYPE: JsonType = JsonType::List(&T::TYPE);
}

impl<T: JsonValue> JsonValue for BTreeMap<&'static str, T> {
    const TYPE: JsonType = JsonType::Map(&T::TYPE);
}

impl<T: JsonValue> JsonValue for [T] {
    const TYPE: JsonType = JsonType::List(&T::TYPE);
}

/// A type declared by [`model!`].
pub trait Model: JsonValue {
    const DEFINITION: &'static Definition;

    /// Passes each field with its value, in order.
    fn visit(&self, visitor: &mut impl FieldVisitor);
}

pub trait FieldVisitor {
    fn field(&mut self, field: &'static Field, value: &impl Serialize);
}

#[macro_export]
macro_rules! model {
    ($(
        $(#[doc = $doc:literal])*
        #[derive($($derive:path),+)]
        $vis:vis struct $type:ident $(<$($lifetime:lifetime)? $($text:ident = $default:ty)?>)? $(as $name:literal)? {
            $(
                $(#[doc = $field_doc:literal])*
                $(#[serde($($serde:tt)+)])?
                $field_vis:vis $field:ident: $json:ty $([$($rule:ident $(($($argument:expr),+))?),+])?
            ),+ $(,)?
        }
    )+) => {$(
        $(#[doc = $doc])*
        #[derive($($derive),+)]
        $vis struct $type $(<$($lifetime)? $($text = $default)?>)? {
            $($(#[doc = $field_doc])* $(#[serde($($serde)+)])? $field_vis $field: $json,)+
        }

        impl $(<$($lifetime)? $($text: $crate::field::JsonValue)?>)? $crate::field::JsonValue
            for $type $(<$($lifetime)? $($text)?>)?
        {
            const TYPE: $crate::field::JsonType =
                $crate::field::JsonType::Object(<Self as $crate::field::Model>::DEFINITION);
        }

        impl $(<$($lifetime)? $($text: $crate::field::JsonValue)?>)? $crate::field::Model
            for $type $(<$($lifetime)? $($text)?>)?
        {
            const DEFINITION: &'static $crate::field::Definition = &$crate::field::Definition::new(
                [$($name,)? stringify!($type)][0],
                &[$($doc),*],
                &[$(
                    $crate::field::Field::new::<$json>(stringify!($field), &[$($field_doc),*])
                    $($(.$rule($($($argument),+)?))+)?
                ),+],
            );

            fn visit(&self, visitor: &mut impl $crate::field::FieldVisitor) {
                let mut fields = <Self as $crate::field::Model>::DEFINITION.fields.iter();
                $(visitor.field(fields.next().expect("one definition for each field"), &self.$field);)+
            }
        }
    )+};
}

pub use model;

#[cfg(test)]
mod tests {
    use super::*;

    model! {
        /// A part.
        #[derive(Serialize)]
        struct Part<'a> {
            r#type: &'a str [slug],
        }

        /// A sample
        /// on two lines.
        #[derive(Serialize)]
        struct Sample<'a> as "Example" {
            /// Some text.
            text: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            count: Option<u64> [range(1, 5), optional],
            parts: Vec<Part<'a>> [detail],
            joined: Vec<u8> [joined],
        }
    }

    #[derive(Default)]
    struct VisitedFields(Vec<(&'static str, String)>);

    impl FieldVisitor for VisitedFields {
        fn field(&mut self, field: &'static Field, value: &impl Serialize) {
            self.0.push((field.name, serde_json::to_string(value).unwrap()));
        }
    }

    #[test]
    fn a_definition_describes_the_fields_of_its_struct_in_order() {
        let definition = Sample::DEFINITION;
        assert_eq!((definition.name, definition.doc), ("Example", &[" A sample", " on two lines."][..]));
        assert_eq!((definition.listed, definition.stored, definition.fields.len()), (2, 3, 4));
        let [text, count, parts, joined] = definition.fields else { panic!("there are four fields") };
        assert_eq!((text.name, text.doc, text.is_nullable), ("text", &[" Some text."][..], true));
        assert_eq!((count.min, count.max, count.is_optional, count.is_nullable), (Some(1), Some(5), true, false));
        assert_eq!((parts.nested()[0].name, parts.nested()[0].pattern), ("type", Some(SLUG)));
        assert!(joined.is_joined && joined.nested().is_empty());
    }

    #[test]
    fn a_visitor_gets_every_field_with_its_value() {
        let sample = Sample { text: None, count: Some(2), parts: vec![Part { r#type: "a" }], joined: vec![1] };
        let mut names = VisitedFields::default();
        sample.visit(&mut names);
        let expected = [("text", "null"), ("count", "2"), ("parts", r#"[{"type":"a"}]"#), ("joined", "[1]")];
        assert_eq!(names.0, expected.map(|(name, json)| (name, json.to_owned())));
    }
}
