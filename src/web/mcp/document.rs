//! An answer as JSON text that never grows too long to be read.

/// Bytes of an answer's text.
pub const LONGEST: usize = 32 * 1024;

const TRUNCATED: &str = r#","truncated":true"#;

/// One answer being put together: lists of ready-made JSON values, and fields that follow them.
///
/// Where the whole would pass [`LONGEST`], values are dropped from the end of the list that takes most room, and
/// `truncated` says so.
#[derive(Clone, Debug, Default)]
pub struct Document<'a> {
    lists: Vec<(&'static str, Vec<&'a str>)>,
    fields: Vec<(&'static str, String)>,
}

impl<'a> Document<'a> {
    /// An answer with nothing in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a field; `json` must be a JSON value. Fields stand in the order they are added, after all lists.
    #[must_use]
    pub fn field(mut self, name: &'static str, json: impl Into<String>) -> Self {
        self.fields.push((name, json.into()));
        self
    }

    /// Adds a list of JSON values.
    #[must_use]
    pub fn list(mut self, name: &'static str, values: impl IntoIterator<Item = &'a str>) -> Self {
        self.lists.push((name, values.into_iter().collect()));
        self
    }

    /// The JSON text.
    #[must_use]
    pub fn text(mut self) -> String {
        let mut size = self.size();
        if size <= LONGEST {
            return self.written(size, false);
        }
        let room = LONGEST - TRUNCATED.len();
        while size > room {
            let lists = self.lists.iter_mut().map(|(_, values)| values).filter(|values| !values.is_empty());
            let Some(longest) = lists.max_by_key(|values| values.iter().map(|value| value.len()).sum::<usize>()) else {
                break;
            };
            size -= longest.pop().map_or(0, |value| value.len() + usize::from(!longest.is_empty()));
        }
        self.written(size, true)
    }

    /// The length of the text without `truncated`.
    fn size(&self) -> usize {
        let lists = self.lists.iter().map(|(name, values)| {
            name.len() + 5 + values.iter().map(|value| value.len()).sum::<usize>() + values.len().saturating_sub(1)
        });
        let fields = self.fields.iter().map(|(name, json)| name.len() + 3 + json.len());
        let commas = (self.lists.len() + self.fields.len()).saturating_sub(1);
        2 + commas + lists.chain(fields).sum::<usize>()
    }

    fn written(&self, size: usize, truncated: bool) -> String {
        let mut text = String::with_capacity(size + TRUNCATED.len());
        text.push('{');
        for (name, values) in &self.lists {
            push_name(&mut text, name);
            text.push('[');
            for (index, value) in values.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                text.push_str(value);
            }
            text.push(']');
        }
        for (name, json) in &self.fields {
            push_name(&mut text, name);
            text.push_str(json);
        }
        if truncated {
            text.push_str(TRUNCATED);
        }
        text.push('}');
        text
    }
}

fn push_name(text: &mut String, name: &str) {
    if text.len() > 1 {
        text.push(',');
    }
    text.push('"');
    text.push_str(name);
    text.push_str("\":");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_come_before_fields() {
        let document = Document::new().field("total", "2").list("items", ["1", "{}"]).field("snapshot", "\"a\"");
        assert_eq!(document.clone().text(), r#"{"items":[1,{}],"total":2,"snapshot":"a"}"#);
        assert_eq!(document.size(), document.text().len());
        assert_eq!(Document::new().text(), "{}");
        assert_eq!(Document::new().list("items", []).text(), r#"{"items":[]}"#);
    }

    #[test]
    fn what_is_too_long_loses_values_from_the_end_of_its_longest_list() {
        let value = format!("\"{}\"", "x".repeat(998));
        for count in 25..45 {
            let values: Vec<String> = (0..count).map(|index| format!("[{index},{value}]")).collect();
            let short = ["true", "false"];
            let all = Document::new().list("a", short).list("b", values.iter().map(String::as_str)).field("n", "7");
            let whole = all.size();
            let text = all.text();
            assert!(text.len() <= LONGEST, "{}", text.len());
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            let kept = read["b"].as_array().unwrap();
            assert_eq!(read["a"].as_array().unwrap().len(), 2);
            assert_eq!(read.get("truncated").is_some(), whole > LONGEST, "{count}");
            assert_eq!(kept.len() < count, whole > LONGEST);
            assert!(kept.iter().enumerate().all(|(index, value)| value[0] == index));
            assert!(whole <= LONGEST || text.len() > LONGEST - 2_100, "more was dropped than needed");
        }
    }
}
