//! An answer as JSON text that never grows too long to be read.

use serde_json::Value;

/// Bytes of an answer's text.
pub const LONGEST: usize = 32 * 1024;

/// Bytes of one value in it: a record with a text beyond reason must not push all others out.
const LONGEST_VALUE: usize = 12 * 1024;

const TRUNCATED: &str = r#","truncated":true"#;

/// One answer being put together: fields and lists of ready-made JSON values, in the order they are added.
///
/// Where the whole would pass [`LONGEST`], values are dropped from the end of the list that takes most room, and
/// `truncated` says so. A single value beyond reason has its texts and lists cut.
#[derive(Clone, Debug, Default)]
pub struct ToolResult {
    parts: Vec<(&'static str, ResultPart)>,
    cut: bool,
}

#[derive(Clone, Debug)]
enum ResultPart {
    Field(String),
    List(Vec<String>),
}

impl ResultPart {
    fn size(&self) -> usize {
        match self {
            Self::Field(json) => json.len(),
            Self::List(values) => 2 + size_of_list(values),
        }
    }
}

fn size_of_list(values: &[String]) -> usize {
    values.iter().map(String::len).sum::<usize>() + values.len().saturating_sub(1)
}

impl ToolResult {
    /// An answer with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field; `json` must be a JSON value.
    #[must_use]
    pub fn field(mut self, name: &'static str, json: impl Into<String>) -> Self {
        let json = self.bounded(json.into());
        self.parts.push((name, ResultPart::Field(json)));
        self
    }

    /// Adds a list of JSON values.
    #[must_use]
    pub fn list(mut self, name: &'static str, values: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let values = values.into_iter().map(|value| self.bounded(value.into())).collect();
        self.parts.push((name, ResultPart::List(values)));
        self
    }

    fn bounded(&mut self, json: String) -> String {
        if json.len() <= LONGEST_VALUE {
            return json;
        }
        self.cut = true;
        let Ok(mut value) = serde_json::from_str(&json) else { return "null".to_owned() };
        let mut most = 1_024;
        while most > 1 {
            shorten(&mut value, most);
            let text = value.to_string();
            if text.len() <= LONGEST_VALUE {
                return text;
            }
            most /= 2;
        }
        "null".to_owned()
    }

    /// The JSON text.
    #[must_use]
    pub fn text(mut self) -> String {
        let mut size = self.size();
        if size <= LONGEST - TRUNCATED.len() {
            return self.written(size, self.cut);
        }
        if size <= LONGEST && !self.cut {
            return self.written(size, false);
        }
        let room = LONGEST - TRUNCATED.len();
        while size > room {
            let lists = self.parts.iter_mut().filter_map(|(_, part)| match part {
                ResultPart::List(values) if !values.is_empty() => Some(values),
                _ => None,
            });
            let Some(longest) = lists.max_by_key(|values| size_of_list(values)) else { break };
            size -= longest.pop().map_or(0, |value| value.len() + usize::from(!longest.is_empty()));
        }
        self.written(size, true)
    }

    /// The length of the text without `truncated`.
    fn size(&self) -> usize {
        let commas = self.parts.len().saturating_sub(1);
        2 + commas + self.parts.iter().map(|(name, part)| name.len() + 3 + part.size()).sum::<usize>()
    }

    fn written(&self, size: usize, truncated: bool) -> String {
        let mut text = String::with_capacity(size + TRUNCATED.len());
        text.push('{');
        for (name, part) in &self.parts {
            if text.len() > 1 {
                text.push(',');
            }
            text.push('"');
            text.push_str(name);
            text.push_str("\":");
            match part {
                ResultPart::Field(json) => text.push_str(json),
                ResultPart::List(values) => {
                    text.push('[');
                    for (index, value) in values.iter().enumerate() {
                        if index > 0 {
                            text.push(',');
                        }
                        text.push_str(value);
                    }
                    text.push(']');
                }
            }
        }
        if truncated {
            text.push_str(TRUNCATED);
        }
        text.push('}');
        text
    }
}

/// Cuts texts to `most` characters and lists to a quarter as many values, at every depth.
fn shorten(value: &mut Value, most: usize) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(most) {
                text.truncate(end);
                text.push('…');
            }
        }
        Value::Array(values) => {
            values.truncate(most / 4);
            values.iter_mut().for_each(|value| shorten(value, most));
        }
        Value::Object(fields) => fields.values_mut().for_each(|value| shorten(value, most)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_stand_in_the_order_they_are_added() {
        let document = ToolResult::new().field("total", "2").list("items", ["1", "{}"]).field("snapshot", "\"a\"");
        assert_eq!(document.clone().text(), r#"{"total":2,"items":[1,{}],"snapshot":"a"}"#);
        assert_eq!(document.size(), document.text().len());
        assert_eq!(ToolResult::new().text(), "{}");
        assert_eq!(ToolResult::new().list("items", [""; 0]).text(), r#"{"items":[]}"#);
    }

    #[test]
    fn what_is_too_long_loses_values_from_the_end_of_its_longest_list() {
        let value = format!("\"{}\"", "x".repeat(998));
        for count in 25..45 {
            let values: Vec<String> = (0..count).map(|index| format!("[{index},{value}]")).collect();
            let short = ["true", "false"];
            let all = ToolResult::new().list("a", short).list("b", values).field("n", "7");
            let whole = all.size();
            let text = all.text();
            assert!(text.len() <= LONGEST, "{}", text.len());
            let read: Value = serde_json::from_str(&text).unwrap();
            let kept = read["b"].as_array().unwrap();
            assert_eq!(read["a"].as_array().unwrap().len(), 2);
            assert_eq!(read.get("truncated").is_some(), whole > LONGEST, "{count}");
            assert_eq!(kept.len() < count, whole > LONGEST);
            assert!(kept.iter().enumerate().all(|(index, value)| value[0] == index));
            assert!(whole <= LONGEST || text.len() > LONGEST - 2_100, "more was dropped than needed");
        }
    }

    #[test]
    fn a_value_beyond_reason_is_cut_and_the_rest_stays() {
        let long = serde_json::json!({ "name": "a", "description": "ü".repeat(50_000), "aliases": vec!["b"; 9_000] });
        let text = ToolResult::new().field("profile", long.to_string()).list("items", [long.to_string(), "1".into()]);
        let text = text.text();
        assert!(text.len() <= LONGEST, "{}", text.len());
        let read: Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&read["profile"]["name"], &read["truncated"]), (&"a".into(), &true.into()));
        assert_eq!((&read["items"][0]["name"], &read["items"][1]), (&"a".into(), &1.into()));
        assert!(read["profile"]["description"].as_str().is_some_and(|text| text.ends_with('…')));
    }
}
