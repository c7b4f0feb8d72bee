//! The subset of JSON Schema used by the OpenAPI documents and the tools' schemas.

use serde_json::Value;

/// The target of a `$ref`, or the schema itself.
pub fn resolved<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} is in another document"));
            document.pointer(pointer).unwrap_or_else(|| panic!("{reference} does not resolve"))
        }
        None => schema,
    }
}

/// The first violation of `schema` by `value`; `None` if it conforms.
pub fn misfit(document: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    Checker { document, exact: false }.misfit(schema, value, path)
}

/// The same, with objects limited to the described properties: documents allow others for the future, but every current
/// one is described.
pub fn misfit_exactly(document: &Value, schema: &Value, value: &Value, path: &str) -> Option<String> {
    Checker { document, exact: true }.misfit(schema, value, path)
}

struct Checker<'d> {
    document: &'d Value,
    exact: bool,
}

impl Checker<'_> {
    fn misfit(&self, schema: &Value, value: &Value, path: &str) -> Option<String> {
        let document = self.document;
        let schema = resolved(document, schema);
        if let Some(kinds) = schema.get("type") {
            let kinds: Vec<&str> = match kinds {
                Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
                kind => kind.as_str().into_iter().collect(),
            };
            if !kinds.iter().any(|kind| is(kind, value)) {
                return Some(format!("{path}: {value} is not of type {kinds:?}"));
            }
        }
        // Values may be added to an open vocabulary, but every current one is described.
        let open = schema.get("x-extensible-enum").filter(|_| self.exact);
        if let Some(values) = schema.get("enum").or(open).and_then(Value::as_array)
            && !values.contains(value)
        {
            return Some(format!("{path}: {value} is not one of {values:?}"));
        }
        if let Some(number) = value.as_f64() {
            let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
            if bound("minimum").is_some_and(|min| number < min) || bound("maximum").is_some_and(|max| number > max) {
                return Some(format!("{path}: {value} is out of range"));
            }
        }
        if let Some(alternatives) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array)
            && alternatives.iter().all(|alternative| self.misfit(alternative, value, path).is_some())
        {
            return Some(format!("{path}: {value} fits no alternative"));
        }
        if let (Some(item), Some(values)) = (schema.get("items"), value.as_array()) {
            let bound = |name: &str| schema.get(name).and_then(Value::as_u64).map(|bound| bound as usize);
            if bound("minItems").is_some_and(|min| values.len() < min)
                || bound("maxItems").is_some_and(|max| values.len() > max)
            {
                return Some(format!("{path}: {} items", values.len()));
            }
            let mut items = values.iter().enumerate();
            return items.find_map(|(index, value)| self.misfit(item, value, &format!("{path}[{index}]")));
        }
        let fields = value.as_object()?;
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
            return Some(format!("{path}: `{missing}` is missing"));
        }
        if schema.get("minProperties").and_then(Value::as_u64).is_some_and(|min| (fields.len() as u64) < min) {
            return Some(format!("{path}: too few properties"));
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        fields.iter().find_map(|(name, value)| match properties.and_then(|properties| properties.get(name)) {
            Some(schema) => self.misfit(schema, value, &format!("{path}.{name}")),
            None if schema.get("additionalProperties") == Some(&Value::Bool(false))
                || self.exact && properties.is_some() =>
            {
                Some(format!("{path}: `{name}` is not expected"))
            }
            None => None,
        })
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => false,
    }
}

#[test]
fn violations_are_found() {
    let document = serde_json::json!({ "n": { "type": ["integer", "null"], "minimum": 1, "maximum": 3 } });
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "n": { "$ref": "#/n" }, "l": { "type": "array", "items": { "type": "string", "enum": ["a"] }, "minItems": 1, "maxItems": 2 } },
        "required": ["n"],
        "additionalProperties": false,
    });
    for (value, fits) in [
        (r#"{"n":1}"#, true),
        (r#"{"n":null,"l":["a"]}"#, true),
        (r#"{"n":0}"#, false),
        (r#"{"n":4}"#, false),
        (r#"{"n":"1"}"#, false),
        (r#"{"n":1,"l":["b"]}"#, false),
        (r#"{"n":1,"l":[1]}"#, false),
        (r#"{"l":[]}"#, false),
        (r#"{"n":1,"l":[]}"#, false),
        (r#"{"n":1,"l":["a","a","a"]}"#, false),
        (r#"{"n":1,"x":1}"#, false),
        ("[]", false),
    ] {
        let value = serde_json::from_str(value).unwrap();
        assert_eq!(misfit(&document, &schema, &value, "").is_none(), fits, "{value}");
    }
}
