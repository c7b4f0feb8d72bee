//! The JSON result of a tool, limited to [`MAX_RESULT_BYTES`].

use std::borrow::Cow;

use serde_json::Value;

use crate::third_party::without_links;
use data::parameter_error::shortened_to;

pub const MAX_RESULT_BYTES: usize = 32 * 1024;

/// Maximum bytes of one value, so that a single huge record does not displace all others.
pub(crate) const MAX_VALUE_BYTES: usize = 12 * 1024;

const TRUNCATED: &str = r#","truncated":true"#;

/// Builds a result from fields and lists of serialized JSON values, in the order in which they are added. Above
/// [`MAX_RESULT_BYTES`], values are dropped from the end of the largest list and `truncated` is set. Texts and lists
/// within a single value above [`MAX_VALUE_BYTES`] are shortened.
#[derive(Clone, Debug, Default)]
pub(crate) struct ToolResult {
    parts: Vec<ResultPart>,
    is_shortened: bool,
}

#[derive(Clone, Debug)]
struct ResultPart {
    name: &'static str,
    /// One value, unless it is a list.
    values: Vec<String>,
    is_list: bool,
}

impl ResultPart {
    /// Length of the values with the commas between them.
    fn size(&self) -> usize {
        self.values.iter().map(String::len).sum::<usize>() + self.values.len().saturating_sub(1)
    }
}

impl ToolResult {
    /// Adds a field; `json` must be a JSON value.
    pub(crate) fn field(mut self, name: &'static str, json: impl Into<String>) -> Self {
        let values = vec![self.bounded(json.into())];
        self.parts.push(ResultPart { name, values, is_list: false });
        self
    }

    pub(crate) fn list(mut self, name: &'static str, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let values = values.into_iter().map(|value| self.bounded(value.into())).collect();
        self.parts.push(ResultPart { name, values, is_list: true });
        self
    }

    /// Removes active links from a value, and shortens it if it is long.
    fn bounded(&mut self, json: String) -> String {
        let json = without_links(json);
        if json.len() <= MAX_VALUE_BYTES {
            return json;
        }
        self.is_shortened = true;
        let mut value = serde_json::from_str(&json).expect("fields are JSON");
        let mut limits = [1_024, 256, 64, 16, 4, 0].into_iter();
        let shortened = limits.find_map(|max_chars| {
            shorten(&mut value, max_chars);
            Some(value.to_string()).filter(|json| json.len() <= MAX_VALUE_BYTES)
        });
        shortened.expect("a record without texts and lists is short")
    }

    pub(crate) fn truncated(self) -> Self {
        Self { is_shortened: true, ..self }
    }

    pub(crate) fn kept_len(&self, list: &str) -> usize {
        let cut = if self.fits() { None } else { Some(self.clone().cut()) };
        let kept = cut.as_ref().unwrap_or(self).parts.iter().find(|part| part.name == list);
        kept.map_or(0, |part| part.values.len())
    }

    pub(crate) fn text(self) -> String {
        let result = if self.fits() { self } else { self.cut() };
        result.write(result.size(), result.is_shortened)
    }

    fn fits(&self) -> bool {
        let size = self.size();
        size <= MAX_RESULT_BYTES - TRUNCATED.len() || size <= MAX_RESULT_BYTES && !self.is_shortened
    }

    fn cut(mut self) -> Self {
        let mut size = self.size();
        let room = MAX_RESULT_BYTES - TRUNCATED.len();
        self.is_shortened = true;
        while size > room {
            let lists = self.parts.iter_mut().filter(|part| part.is_list && !part.values.is_empty());
            let Some(ResultPart { values, .. }) = lists.max_by_key(|part| part.size()) else { break };
            size -= values.pop().map_or(0, |value| value.len() + usize::from(!values.is_empty()));
        }
        self
    }

    /// Length of the text without `truncated`.
    fn size(&self) -> usize {
        let commas = self.parts.len().saturating_sub(1);
        let size = |part: &ResultPart| part.name.len() + 3 + 2 * usize::from(part.is_list) + part.size();
        2 + commas + self.parts.iter().map(size).sum::<usize>()
    }

    fn write(&self, size: usize, truncated: bool) -> String {
        let mut text = String::with_capacity(size + TRUNCATED.len());
        text.push('{');
        for ResultPart { name, values, is_list } in &self.parts {
            if text.len() > 1 {
                text.push(',');
            }
            text.push('"');
            text.push_str(name);
            text.push_str(if *is_list { "\":[" } else { "\":" });
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(value);
            }
            if *is_list {
                text.push(']');
            }
        }
        if truncated {
            text.push_str(TRUNCATED);
        }
        text.push('}');
        text
    }
}

/// Cuts texts to `max_chars` characters and lists to a quarter of their length, at every depth.
fn shorten(value: &mut Value, max_chars: usize) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(short) = shortened_to(max_chars, text) {
                *text = short;
            }
        }
        Value::Array(values) => {
            values.truncate(max_chars / 4);
            values.iter_mut().for_each(|value| shorten(value, max_chars));
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| shorten(value, max_chars)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_keep_the_order_they_are_added_in() {
        let result = ToolResult::default().field("total", "2").list("items", ["1", "{}"]).field("snapshot", "\"a\"");
        assert_eq!(result.clone().text(), r#"{"total":2,"items":[1,{}],"snapshot":"a"}"#);
        assert_eq!(result.size(), result.text().len());
        assert_eq!(ToolResult::default().text(), "{}");
        assert_eq!(ToolResult::default().list("items", [""; 0]).text(), r#"{"items":[]}"#);
    }

    #[test]
    fn a_result_that_is_too_large_loses_the_end_of_its_largest_list() {
        let value = format!("\"{}\"", "x".repeat(998));
        for count in 25..45 {
            let values: Vec<String> = (0..count).map(|index| format!("[{index},{value}]")).collect();
            let short = ["true", "false"];
            let all = ToolResult::default().list("a", short).list("b", values).field("n", "7");
            let full_size = all.size();
            let text = all.text();
            assert!(text.len() <= MAX_RESULT_BYTES, "{}", text.len());
            let read: Value = serde_json::from_str(&text).unwrap();
            let items = read["b"].as_array().unwrap();
            assert_eq!(read["a"].as_array().unwrap().len(), 2);
            assert_eq!(read.get("truncated").is_some(), full_size > MAX_RESULT_BYTES, "{count}");
            assert_eq!(items.len() < count, full_size > MAX_RESULT_BYTES);
            assert!(items.iter().enumerate().all(|(index, value)| value[0] == index));
            assert!(
                full_size <= MAX_RESULT_BYTES || text.len() > MAX_RESULT_BYTES - 2_100,
                "more was dropped than needed"
            );
        }
    }

    #[test]
    fn a_huge_value_is_shortened_and_the_others_stay() {
        let long = serde_json::json!({ "name": "a", "description": "ü".repeat(50_000), "aliases": vec!["b"; 9_000] });
        let text =
            ToolResult::default().field("profile", long.to_string()).list("items", [long.to_string(), "1".into()]);
        let text = text.text();
        assert!(text.len() <= MAX_RESULT_BYTES, "{}", text.len());
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&read["profile"]["name"], &read["truncated"]), (&"a".into(), &true.into()));
        assert_eq!((&read["items"][0]["name"], &read["items"][1]), (&"a".into(), &1.into()));
        assert!(read["profile"]["description"].as_str().is_some_and(|text| text.ends_with('…')));
    }
}
