//! The reference, made from the OpenAPI document.

use std::fmt::Write;

use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{ArrayItems, SchemaType, Type};
use utoipa::openapi::{OpenApi, RefOr, Required, Response, Schema};

use crate::api::{Route, Version};
use crate::openapi;
use crate::openapi::{BASE, Examples};

use crate::site::docs::html::{escaped, marked};

/// `GET /docs/reference`: every endpoint of a version.
pub(crate) fn page(version: Version, base: &str) -> String {
    let document = openapi::document(version, base);
    let examples = Examples::bundled();
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write!(
        page,
        "<h1>REST reference, {segment}</h1><p>Made from the <a href=\"/openapi/{segment}.json\">OpenAPI 3.1 document</a>. \
         Other versions: {others}.</p>",
        segment = version.segment(),
        others = others(version),
    );
    for paragraph in document.info.description.as_deref().unwrap_or_default().split("\n\n") {
        let _ = write!(page, "<p>{}</p>", linked(paragraph, base));
    }
    contents(&mut page, version, &document);
    for tag in document.tags.iter().flatten() {
        let _ = write!(page, "<h2 id=\"{}\">{}</h2>", anchor(&tag.name), escaped(&tag.name));
        let _ = write!(page, "<p>{}</p>", marked(tag.description.as_deref().unwrap_or_default()));
        for (endpoint, operation) in operations(version, &document, &tag.name) {
            section(&mut page, version, base, endpoint, operation);
            if let Some(text) = examples.text(version, endpoint) {
                let text = indented(&text.replace(BASE, base));
                let _ = write!(page, "<details><summary>An answer</summary><pre>{}</pre></details>", escaped(&text));
            }
        }
    }
    schemas(&mut page, &document);
    page
}

fn others(version: Version) -> String {
    let others = Version::ALL.into_iter().filter(|other| *other != version);
    let links = others.map(|other| format!("<a href=\"/docs/reference/{0}\">{0}</a>", other.segment()));
    links.collect::<Vec<_>>().join(", ")
}

/// The operations of a tag, in the order of the table of endpoints.
fn operations<'d>(version: Version, document: &'d OpenApi, tag: &str) -> Vec<(&'static Route, &'d Operation)> {
    let all = Route::of(version).filter_map(|endpoint| {
        let operation = document.paths.paths.get(&format!("/{}", endpoint.path))?.get.as_ref()?;
        Some((endpoint, operation))
    });
    all.filter(|(_, operation)| operation.tags.iter().flatten().any(|known| known == tag)).collect()
}

fn contents(page: &mut String, version: Version, document: &OpenApi) {
    page.push_str("<ul class=\"contents\">");
    for endpoint in document.tags.iter().flatten().flat_map(|tag| operations(version, document, &tag.name)) {
        let (endpoint, _) = endpoint;
        let _ = write!(page, "<li><a href=\"#{}\">/{}</a></li>", endpoint.operation, escaped(endpoint.path));
    }
    page.push_str("<li><a href=\"#records\">Records and answers</a></li></ul>");
}

fn section(page: &mut String, version: Version, base: &str, endpoint: &Route, operation: &Operation) {
    let _ = write!(
        page,
        "<h3 id=\"{id}\">{summary}</h3><p><span class=\"method\">GET</span><code>/api/{version}/{path}</code></p><p>{doc}</p>",
        id = endpoint.operation,
        summary = escaped(endpoint.summary),
        version = version.segment(),
        path = escaped(endpoint.path),
        doc = linked(endpoint.description, base),
    );
    let parameters: Vec<&Parameter> = operation.parameters.iter().flatten().filter_map(plain).collect();
    if !parameters.is_empty() {
        page.push_str(
            "<div class=\"scroll\"><table><thead><tr><th>Parameter</th><th>Takes</th><th></th></tr></thead><tbody>",
        );
        for parameter in &parameters {
            row(page, parameter);
        }
        page.push_str("</tbody></table></div>");
    }
    let _ = write!(page, "<pre class=\"copy\">{}</pre>", escaped(&line(base, version, endpoint, &parameters)));
    page.push_str("<p class=\"quiet\">Answers: ");
    for (place, (status, response)) in operation.responses.responses.iter().enumerate() {
        let before = if place > 0 { ", " } else { "" };
        let _ = match response {
            RefOr::T(response) => match schema_name(response) {
                Some(name) => write!(page, "{before}{status} <a href=\"#{name}\">{name}</a>"),
                None => write!(page, "{before}{status}"),
            },
            RefOr::Ref(_) if status == "304" => write!(page, "{before}304"),
            RefOr::Ref(_) => write!(page, "{before}<a href=\"/docs/errors#{0}\">{0}</a>", status),
        };
    }
    page.push_str("</p>");
}

fn schema_name(response: &Response) -> Option<&str> {
    response.content.values().find_map(|content| match content {
        RefOr::T(content) => match content.schema.as_ref()? {
            RefOr::Ref(reference) => reference.ref_location.rsplit('/').next(),
            RefOr::T(_) => None,
        },
        RefOr::Ref(_) => None,
    })
}

fn plain(parameter: &RefOr<Parameter>) -> Option<&Parameter> {
    match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    }
}

fn row(page: &mut String, parameter: &Parameter) {
    let kind = parameter.schema.as_ref().map_or_else(String::new, takes);
    let required = if parameter.required == Required::True { " <span class=\"quiet\">required</span>" } else { "" };
    let _ = write!(
        page,
        "<tr><td><code>{name}</code>{required}</td><td>{kind}</td><td>{doc}</td></tr>",
        name = escaped(&parameter.name),
        doc = marked(parameter.description.as_deref().unwrap_or_default()),
    );
}

/// A request to copy: the path with the example of its first parameters.
fn line(base: &str, version: Version, endpoint: &Route, parameters: &[&Parameter]) -> String {
    let example = |parameter: &&Parameter| openapi::example_of(endpoint, &parameter.name);
    let slug = parameters.iter().filter(|parameter| parameter.parameter_in == ParameterIn::Path).find_map(example);
    let path = endpoint.path.replace("{slug}", slug.unwrap_or_default());
    let asked = parameters.iter().filter(|parameter| parameter.parameter_in == ParameterIn::Query);
    let has_stage = parameters.iter().any(|parameter| parameter.name == "stage");
    // A name and other conditions together would find nothing.
    let shown = [if has_stage { "stage" } else { "q" }, "country", "metric", "since", "raise_usd", "limit"];
    let asked = asked.filter(|parameter| shown.contains(&parameter.name.as_str()));
    let asked = asked.filter_map(|parameter| Some(format!("{}={}", parameter.name, example(parameter)?))).take(3);
    let query = asked.collect::<Vec<_>>().join("&");
    let mark = if query.is_empty() { "" } else { "?" };
    format!(
        "curl -H \"Authorization: Bearer $VENTUREDEX_KEY\" '{base}/api/{}/{path}{mark}{}'",
        version.segment(),
        query.replace(' ', "+")
    )
}

/// The values that a schema takes, in words.
fn takes(schema: &RefOr<Schema>) -> String {
    let schema = match schema {
        RefOr::Ref(reference) => {
            let name = reference.ref_location.rsplit('/').next().unwrap_or_default();
            return format!("<a href=\"#{name}\">{name}</a>");
        }
        RefOr::T(schema) => schema,
    };
    match schema {
        Schema::Object(object) => {
            let mut text = match &object.enum_values {
                Some(words) => {
                    let words = words.iter().filter_map(|word| word.as_str());
                    words.map(|word| format!("<code>{}</code>", escaped(word))).collect::<Vec<_>>().join(" ")
                }
                None => type_name(&object.schema_type),
            };
            if let Some(utoipa::openapi::schema::SchemaFormat::KnownFormat(format)) = &object.format
                && let Ok(serde_json::Value::String(format)) = serde_json::to_value(format)
                && format.starts_with("date")
            {
                text = format;
            }
            let number =
                |number: &Option<utoipa::Number>| number.as_ref().and_then(|number| serde_json::to_string(number).ok());
            // Ends that only the machine has say nothing.
            let most = number(&object.maximum).filter(|most| most.len() < 10);
            match (number(&object.minimum), most) {
                (Some(least), Some(most)) => text.push_str(&format!(", {least}–{most}")),
                (Some(least), None) => text.push_str(&format!(" from {least}")),
                (None, Some(most)) => text.push_str(&format!(" to {most}")),
                (None, None) => {}
            }
            if let Some(default) = &object.default {
                text.push_str(&format!("; default <code>{}</code>", escaped(default.to_string().trim_matches('"'))));
            }
            text
        }
        Schema::Array(array) => match &array.items {
            ArrayItems::RefOrSchema(item) => format!("any of: {}", takes(item)),
            ArrayItems::False => String::new(),
        },
        Schema::AnyOf(any) => any.items.iter().map(takes).collect::<Vec<_>>().join(" or "),
        Schema::OneOf(_) | Schema::AllOf(_) => String::new(),
        _ => String::new(),
    }
}

fn type_name(kind: &SchemaType) -> String {
    let name = |kind: &Type| match kind {
        Type::Object => "object",
        Type::String => "text",
        Type::Integer => "whole number",
        Type::Number => "number",
        Type::Boolean => "<code>true</code> or <code>false</code>",
        Type::Array => "list",
        Type::Null => "<code>null</code>",
    };
    match kind {
        SchemaType::Type(kind) => name(kind).to_owned(),
        SchemaType::Array(kinds) => kinds.iter().map(name).collect::<Vec<_>>().join(" or "),
        SchemaType::AnyValue => "anything".to_owned(),
    }
}

fn schemas(page: &mut String, document: &OpenApi) {
    page.push_str("<h2 id=\"records\">Records and answers</h2>");
    for (name, schema) in document.components.iter().flat_map(|components| &components.schemas) {
        let RefOr::T(Schema::Object(object)) = schema else { continue };
        let _ = write!(page, "<h3 id=\"{name}\">{name}</h3>");
        if let Some(doc) = &object.description {
            let _ = write!(page, "<p>{}</p>", marked(doc));
        }
        if object.enum_values.is_some() {
            let _ = write!(page, "<p>{}</p>", takes(schema));
            continue;
        }
        page.push_str("<div class=\"scroll\"><table><tbody>");
        for (field, schema) in &object.properties {
            let doc = match schema {
                RefOr::T(Schema::Object(object)) => object.description.as_deref(),
                RefOr::T(Schema::Array(array)) => array.description.as_deref(),
                RefOr::T(Schema::AnyOf(any)) => any.description.as_deref(),
                RefOr::Ref(reference) => Some(reference.description.as_str()),
                _ => None,
            };
            let kind = match schema {
                RefOr::T(Schema::Array(array)) => match &array.items {
                    ArrayItems::RefOrSchema(item) => format!("list of: {}", takes(item)),
                    ArrayItems::False => String::new(),
                },
                schema => takes(schema),
            };
            let _ = write!(
                page,
                "<tr><td><code>{field}</code></td><td>{kind}</td><td>{}</td></tr>",
                marked(doc.unwrap_or_default())
            );
        }
        page.push_str("</tbody></table></div>");
    }
}

fn anchor(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

/// Text with `code` and [links](/to) as HTML; `base` is the address of the service.
fn linked(text: &str, base: &str) -> String {
    let html = marked(text);
    let mut whole = String::new();
    let mut rest = html.as_str();
    while let Some((head, after)) = rest.split_once("](") {
        let Some((before, label)) = head.rsplit_once('[') else { break };
        let Some((target, tail)) = after.split_once(')') else { break };
        let target = target.strip_prefix(base).unwrap_or(target);
        // Writing to a string does not fail.
        let _ = write!(whole, "{before}<a href=\"{target}\">{label}</a>");
        rest = tail;
    }
    whole + rest
}

/// JSON text with line breaks and indentation; its fields stay in their order.
fn indented(json: &str) -> String {
    let mut text = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let (mut quoted, mut escaped) = (false, false);
    let mut chars = json.chars().peekable();
    while let Some(char) = chars.next() {
        if quoted {
            text.push(char);
            quoted = escaped || char != '"';
            escaped = !escaped && char == '\\';
            continue;
        }
        match char {
            '"' => {
                quoted = true;
                text.push(char);
            }
            '{' | '[' if matches!(chars.peek(), Some('}' | ']')) => text.push(char),
            '{' | '[' => {
                depth += 1;
                text.push(char);
                new_line(&mut text, depth);
            }
            '}' | ']' if text.ends_with(['{', '[']) => text.push(char),
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut text, depth);
                text.push(char);
            }
            ',' => {
                text.push(char);
                new_line(&mut text, depth);
            }
            ':' => text.push_str(": "),
            other => text.push(other),
        }
    }
    text
}

fn new_line(text: &mut String, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_indented_in_its_own_order() {
        let text = indented(r#"{"b":[1,{"a":"x\",:{"}],"c":{},"d":[]}"#);
        assert_eq!(
            text,
            "{\n  \"b\": [\n    1,\n    {\n      \"a\": \"x\\\",:{\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}"
        );
    }

    #[test]
    fn links_lead_to_this_service() {
        let html = linked("a `[0]` [b](https://here/docs) c", "https://here");
        assert_eq!(html, "a <code>[0]</code> <a href=\"/docs\">b</a> c");
        assert_eq!(linked("a[0] b", ""), "a[0] b");
    }
}
