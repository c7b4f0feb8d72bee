//! The part of JSON Schema that the tools' schemas use.

use serde_json::Value;

/// Where `value` does not fit `schema`; `None` where it does.
pub fn misfit(schema: &Value, value: &Value, path: &str) -> Option<String> {
    if let Some(kinds) = schema.get("type") {
        let kinds: Vec<&str> = match kinds {
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            kind => kind.as_str().into_iter().collect(),
        };
        if !kinds.iter().any(|kind| is(kind, value)) {
            return Some(format!("{path}: {value} is no {kinds:?}"));
        }
    }
    if let Some(words) = schema.get("enum").and_then(Value::as_array)
        && !words.contains(value)
    {
        return Some(format!("{path}: {value} is none of {words:?}"));
    }
    if let Some(least) = schema.get("minimum").and_then(Value::as_i64)
        && value.as_i64().is_some_and(|value| value < least)
    {
        return Some(format!("{path}: {value} is below {least}"));
    }
    if let Some(ways) = schema.get("anyOf").and_then(Value::as_array)
        && ways.iter().all(|way| misfit(way, value, path).is_some())
    {
        return Some(format!("{path}: {value} fits no alternative"));
    }
    if let (Some(item), Some(values)) = (schema.get("items"), value.as_array()) {
        let mut places = values.iter().enumerate();
        return places.find_map(|(index, value)| misfit(item, value, &format!("{path}[{index}]")));
    }
    let fields = value.as_object()?;
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    if let Some(missing) = required.into_iter().find(|name| !fields.contains_key(*name)) {
        return Some(format!("{path}: `{missing}` is missing"));
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    fields.iter().find_map(|(name, value)| match properties.and_then(|properties| properties.get(name)) {
        Some(schema) => misfit(schema, value, &format!("{path}.{name}")),
        None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
            Some(format!("{path}: `{name}` is not expected"))
        }
        None => None,
    })
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
fn what_does_not_fit_is_found() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "n": { "type": ["integer", "null"], "minimum": 1 }, "l": { "type": "array", "items": { "type": "string" } } },
        "required": ["n"],
        "additionalProperties": false,
    });
    for (value, fits) in [
        (r#"{"n":1}"#, true),
        (r#"{"n":null,"l":["a"]}"#, true),
        (r#"{"n":0}"#, false),
        (r#"{"n":"1"}"#, false),
        (r#"{"n":1,"l":[1]}"#, false),
        (r#"{"l":[]}"#, false),
        (r#"{"n":1,"x":1}"#, false),
        ("[]", false),
    ] {
        let value = serde_json::from_str(value).unwrap();
        assert_eq!(misfit(&schema, &value, "").is_none(), fits, "{value}");
    }
}
