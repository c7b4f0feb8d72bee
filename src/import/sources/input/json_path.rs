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
        let below_array = text.strip_prefix(MEMBERS);
        let names = below_array.unwrap_or(text).split('.').filter(|name| !name.is_empty());
        let names: Vec<String> = below_array.map(|_| MEMBERS).into_iter().chain(names).map(str::to_owned).collect();
        let levels = usize::from(below_array.is_some());
        (!names[levels..].iter().any(|name| name.contains(['[', ']', '*']))).then_some(Self(names))
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
        f.write_str(&self.0.join("."))
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
/// if the document is a list or has several objects, each of which is a record. Of a list it finds the only list within that
/// has the usual name of records and is longer.
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
    if lists.last().is_some_and(|(_, names)| names.is_empty()) {
        let (outer, _) = lists.pop()?;
        let is_within = |(_, names): &&(u64, Vec<String>)| matches!(&**names, [_, name] if holds_records(name));
        let mut within = lists.iter().filter(is_within);
        let (inner, names) = within.next()?;
        return (within.next().is_none() && *inner > outer).then(|| JsonPath(names.clone()));
    }
    // Of equally long lists, the first.
    let (_, names) = lists.into_iter().rev().max_by_key(|(objects, _)| *objects)?;
    let is_known = names.first().is_some_and(|name| holds_records(name));
    (is_known || texts < MIN_TEXTS).then_some(JsonPath(names))
}

/// Adds the innermost list if it has objects, and only objects around it.
fn add_list(frames: &[Frame], lists: &mut Vec<(u64, Vec<String>)>) {
    let [above @ .., Frame::Array { objects }] = frames else { return };
    if *objects == 0 || above.len() > MAX_LEVELS {
        return;
    }
    let name = |(level, frame): (usize, &Frame)| match frame {
        Frame::Object { name } if !name.contains('.') => Some(name.clone()),
        Frame::Array { .. } if level == 0 => Some(MEMBERS.to_owned()),
        _ => None,
    };
    if let Some(names) = above.iter().enumerate().map(name).collect::<Option<Vec<String>>>() {
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
        ] {
            assert_eq!(JsonPath::parse(text).map(|path| path.to_string()).as_deref(), Some(expected));
        }
        assert_eq!(JsonPath::parse("a[0].b"), None);
    }
}
