//! Paths to the records of a JSON document, such as `data`, `response.results`, or `[*].data` if objects of an array around
//! them say what they are.

use std::fmt;

use crate::sources::input::words::holds_records;

/// A level of a path: the members of an array.
pub(super) const MEMBERS: &str = "[*]";

/// Names of members from the top to the list of records. Without a name, the document is the list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonPath(Vec<String>);

/// Levels of objects in which records are looked for.
const MAX_LEVELS: usize = 6;

/// Members with texts from which an object without a known name for its list is a record itself.
const MIN_TEXTS: u64 = 3;

impl JsonPath {
    /// Reads a path such as `data`, `data[*]`, `$.response.results` or `[*].data`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix('$').unwrap_or(text);
        let text = text.strip_suffix(MEMBERS).or_else(|| text.strip_suffix("[]")).unwrap_or(text);
        let levels = text.replace(MEMBERS, ".[*].");
        let names: Vec<String> = levels.split('.').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let is_name = |name: &String| name == MEMBERS || !name.contains(['[', ']', '*']);
        names.iter().all(is_name).then_some(Self(names))
    }

    pub(super) fn names(&self) -> &[String] {
        &self.0
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Depth of the list of records; `None` without a path.
    pub(super) fn depth(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.0.len() as u64 + 1)
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(".").replace(".[*]", MEMBERS))
    }
}

/// An object or an array around the current place.
enum Frame {
    Object {
        name: String,
    },
    /// Objects of the array so far.
    Array {
        objects: u64,
    },
}

/// Finds the longest list of objects in the beginning of a document that is an object. `None` if there is no such list, and
/// if the document is a list or has several objects, each of which is a record. In both it goes on to the only list within
/// that has the usual name of records and is longer: the `hits` of one of the `results`.
pub(super) fn find(beginning: &[u8]) -> Option<JsonPath> {
    let mut lists: Vec<(u64, Vec<String>)> = Vec::new();
    let (mut frames, mut texts, mut values) = (Vec::<Frame>::new(), 0_u64, 0_u64);
    let mut bytes = beginning.iter().copied().enumerate();
    let mut is_name = false;
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => {
                let (mut is_escaped, mut end) = (false, beginning.len());
                for (at, byte) in bytes.by_ref() {
                    match byte {
                        _ if is_escaped => is_escaped = false,
                        b'\\' => is_escaped = true,
                        b'"' => {
                            end = at;
                            break;
                        }
                        _ => {}
                    }
                }
                let level = frames.len();
                match frames.last_mut() {
                    Some(Frame::Object { name }) if is_name => {
                        let text = beginning.get(at..=end).and_then(|text| serde_json::from_slice(text).ok());
                        *name = text.unwrap_or_default();
                        is_name = false;
                    }
                    Some(Frame::Object { .. }) if level == 1 => texts += 1,
                    _ => {}
                }
            }
            b',' => is_name = matches!(frames.last(), Some(Frame::Object { .. })),
            b'{' | b'[' => {
                match frames.last_mut() {
                    None => values += 1,
                    Some(Frame::Array { objects }) => *objects += u64::from(byte == b'{'),
                    Some(Frame::Object { .. }) => {}
                }
                if frames.len() > 100 {
                    break;
                }
                is_name = byte == b'{';
                frames.push(match byte {
                    b'{' => Frame::Object { name: String::new() },
                    _ => Frame::Array { objects: 0 },
                });
            }
            b'}' | b']' => {
                add_list(&frames, &mut lists);
                frames.pop();
                is_name = false;
            }
            _ => {}
        }
    }
    // Lists that the beginning does not close.
    while !frames.is_empty() {
        add_list(&frames, &mut lists);
        frames.pop();
    }
    if values != 1 {
        return None;
    }
    let is_array = lists.last().is_some_and(|(_, names)| names.is_empty());
    let is_plain = |(_, names): &&(u64, Vec<String>)| !names.iter().any(|name| name == MEMBERS);
    let (outer, names) = match is_array {
        true => lists.last()?,
        // Of equally long lists, the first.
        false => lists.iter().rev().filter(is_plain).max_by_key(|(objects, _)| *objects)?,
    };
    let is_within = |(_, inner): &&(u64, Vec<String>)| {
        let below = inner.strip_prefix(&**names);
        matches!(below, Some([members, name]) if members == MEMBERS && holds_records(name))
    };
    let within: Vec<&(u64, Vec<String>)> = lists.iter().filter(is_within).collect();
    if let [(inner, names)] = &*within
        && inner > outer
    {
        return Some(JsonPath(names.clone()));
    }
    let is_known = names.first().is_some_and(|name| holds_records(name));
    (!is_array && (is_known || texts < MIN_TEXTS)).then(|| JsonPath(names.clone()))
}

/// Adds the innermost list if it has objects.
fn add_list(frames: &[Frame], lists: &mut Vec<(u64, Vec<String>)>) {
    let [above @ .., Frame::Array { objects }] = frames else { return };
    if *objects == 0 || above.len() > MAX_LEVELS {
        return;
    }
    let name = |frame: &Frame| match frame {
        Frame::Object { name } if !name.contains('.') => Some(name.clone()),
        Frame::Array { .. } => Some(MEMBERS.to_owned()),
        _ => None,
    };
    if let Some(names) = above.iter().map(name).collect::<Option<Vec<String>>>() {
        lists.push((*objects, names));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_list_of_objects_has_the_records() {
        for (text, expected) in [
            (r#"{"data": [{"name": "A"}, {"name": "B"}], "meta": {"pages": [1, 2, 3]}}"#, Some("data")),
            (
                r#"{"meta": {"links": [{"u": "x"}]}, "response": {"hits": [{"a": [{}, {}]}, {}]}}"#,
                Some("response.hits"),
            ),
            (r#"{"status": "ok", "x\"y": [{"a": 1}, {"a"#, Some("x\"y")),
            (r#"{"name": "A", "city": "B", "web": "C", "investors": [{"name": "x"}, {"name": "y"}]}"#, None),
            (r#"{"a": "A", "b": "B", "c": "C", "results": [{"name": "x"}]}"#, Some("results")),
            (r#"{"name": "A", "rounds": [{}]}{"name": "B"}"#, None),
            (r#"[{"data": [{}, {}]}]"#, Some("[*].data")),
            (r#"{"results": [{"hits": [{"a": [{}, {}, {}]}, {}], "page": 0}]}"#, Some("results[*].hits")),
            (r#"{"results": [{"hits": [{}, {}]}, {"hits": [{}, {}, {}]}]}"#, Some("results")),
            (r#"{"companies": [{"rounds": [{}, {}, {}]}, {}]}"#, Some("companies")),
            (r#"[{"type": "header"}, {"type": "table", "data": [{"a": [{}, {}, {}, {}]}, {}, {}, {"#, Some("[*].data")),
            (r#"[{"data": [{}, {}, {}]}, {"data": [{}, {}, {}]}]"#, None),
            (r#"[{"rounds": [{}, {}]}]"#, None),
            (r#"[{"name": "A", "data": [{}]}, {"name": "B"}]"#, None),
            (r#"[{"name": "A"}]"#, None),
            (r#"{"name": "A", "tags": ["x"]}"#, None),
            ("", None),
        ] {
            assert_eq!(find(text.as_bytes()).map(|path| path.to_string()).as_deref(), expected, "{text}");
        }
        let deep = find("{\"a\":[".repeat(10_000).as_bytes()).map(|path| path.to_string());
        assert_eq!(deep.as_deref(), Some("a"));
    }

    #[test]
    fn paths_are_written_in_several_ways() {
        for (text, expected) in [
            ("data[*]", "data"),
            ("$.a.b[]", "a.b"),
            ("$", ""),
            ("a.b", "a.b"),
            ("$[*]", ""),
            ("[*].data[*]", "[*].data"),
            ("results[*].hits", "results[*].hits"),
            ("$.results.[*].hits[*]", "results[*].hits"),
        ] {
            assert_eq!(JsonPath::parse(text).map(|path| path.to_string()).as_deref(), Some(expected));
        }
        assert_eq!(JsonPath::parse("a[0].b"), None);
    }
}
