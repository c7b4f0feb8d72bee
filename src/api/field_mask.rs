//! Parts of a JSON text: the text is copied piece by piece and never made into values.

/// Which keys of an object are kept, and of those which keys below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMask {
    /// Keys with what is kept of their values; without any, all is kept.
    keys: Vec<(String, FieldMask)>,
}

impl FieldMask {
    /// All that is there.
    #[must_use]
    pub fn whole() -> Self {
        Self::default()
    }

    fn is_whole(&self) -> bool {
        self.keys.is_empty()
    }

    /// Keeps what lies at the end of `path` too.
    pub fn add(&mut self, path: &[&str]) {
        let Some((first, rest)) = path.split_first() else {
            return self.keys.clear();
        };
        match self.keys.iter_mut().find(|(key, _)| key == first) {
            // What is kept as a whole stays whole.
            Some((_, below)) if below.is_whole() => {}
            Some((_, below)) => below.add(rest),
            None => {
                let mut below = Self::whole();
                below.add(rest);
                self.put(first, below);
            }
        }
    }

    /// Keeps `part` of the value of `key`.
    pub fn put(&mut self, key: &str, part: Self) {
        let place = self.keys.partition_point(|(known, _)| known.as_str() < key);
        self.keys.insert(place, (key.to_owned(), part));
    }

    /// Keeps what lies at the end of `path` in the field at `place` too.
    pub(crate) fn add_to(parts: &mut Vec<(usize, Self)>, place: usize, path: &[&str]) {
        match parts.iter_mut().find(|(known, _)| *known == place) {
            Some((_, tree)) if tree.is_whole() => {}
            Some((_, tree)) => tree.add(path),
            None => {
                let mut tree = Self::whole();
                tree.add(path);
                parts.push((place, tree));
            }
        }
    }

    /// Writes what is kept of a JSON text, in the text's own order. A list is gone through, any other value is copied.
    pub fn write(&self, out: &mut Vec<u8>, json: &[u8]) {
        let mut reader = JsonScanner { json, at: 0 };
        reader.value(out, self);
    }
}

/// A JSON text without spaces between its parts, as it is made here; of any other text it reads some part or nothing.
struct JsonScanner<'a> {
    json: &'a [u8],
    at: usize,
}

impl<'a> JsonScanner<'a> {
    fn peek(&self) -> Option<u8> {
        self.json.get(self.at).copied()
    }

    /// Steps over `byte`, where it comes next.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, out: &mut Vec<u8>, tree: &FieldMask) {
        match self.peek() {
            Some(b'{') if !tree.is_whole() => self.object(out, tree),
            Some(b'[') if !tree.is_whole() => self.list(out, tree),
            _ => out.extend_from_slice(self.skip()),
        }
    }

    fn object(&mut self, out: &mut Vec<u8>, tree: &FieldMask) {
        self.at += 1;
        out.push(b'{');
        let mut first = true;
        while self.peek() == Some(b'"') {
            let key = self.skip();
            self.takes(b':');
            let name = key.get(1..key.len().saturating_sub(1)).unwrap_or(b"");
            match tree.keys.iter().find(|(known, _)| known.as_bytes() == name) {
                Some((_, below)) => {
                    if !std::mem::take(&mut first) {
                        out.push(b',');
                    }
                    out.extend_from_slice(key);
                    out.push(b':');
                    self.value(out, below);
                }
                None => {
                    self.skip();
                }
            }
            if !self.takes(b',') {
                break;
            }
        }
        self.takes(b'}');
        out.push(b'}');
    }

    fn list(&mut self, out: &mut Vec<u8>, tree: &FieldMask) {
        self.at += 1;
        out.push(b'[');
        while !matches!(self.peek(), None | Some(b']')) {
            self.value(out, tree);
            if !self.takes(b',') {
                break;
            }
            out.push(b',');
        }
        self.takes(b']');
        out.push(b']');
    }

    /// Steps over one value or key and answers its text.
    fn skip(&mut self) -> &'a [u8] {
        let start = self.at;
        let mut depth = 0_u32;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => self.skip_text(),
                b'{' | b'[' => {
                    depth += 1;
                    self.at += 1;
                }
                b'}' | b']' if depth == 0 => break,
                b'}' | b']' => {
                    depth -= 1;
                    self.at += 1;
                }
                b',' | b':' if depth == 0 => break,
                _ => self.at += 1,
            }
        }
        self.json.get(start..self.at).unwrap_or(b"")
    }

    fn skip_text(&mut self) {
        self.at += 1;
        while let Some(byte) = self.peek() {
            self.at += if byte == b'\\' { 2 } else { 1 };
            if byte == b'"' {
                break;
            }
        }
        self.at = self.at.min(self.json.len());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn tree(paths: &[&str]) -> FieldMask {
        let mut tree = FieldMask::whole();
        for path in paths {
            tree.add(&path.split('.').collect::<Vec<_>>());
        }
        tree
    }

    fn cut(json: &Value, paths: &[&str]) -> Value {
        let mut out = Vec::new();
        tree(paths).write(&mut out, &serde_json::to_vec(json).unwrap());
        serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
    }

    #[test]
    fn what_is_named_is_kept_and_nothing_else() {
        let json =
            json!({ "a": 1, "b": { "c": "x,\"}]", "d": [1, 2], "e": null }, "f": [{ "g": 1, "h": 2 }, { "g": 3 }] });
        assert_eq!(cut(&json, &["a"]), json!({ "a": 1 }));
        assert_eq!(cut(&json, &["b.c", "b.e"]), json!({ "b": { "c": "x,\"}]", "e": null } }));
        assert_eq!(cut(&json, &["f.h"]), json!({ "f": [{ "h": 2 }, {}] }));
        assert_eq!(cut(&json, &["b", "b.c"]), json!({ "b": json["b"] }));
        assert_eq!(cut(&json, &["f.g", "a"]), json!({ "a": 1, "f": [{ "g": 1 }, { "g": 3 }] }));
        assert_eq!(cut(&json!({ "b": null, "f": [] }), &["b.c", "f.g"]), json!({ "b": null, "f": [] }));
    }

    /// The same on values.
    fn naive(value: &Value, tree: &FieldMask) -> Value {
        match value {
            _ if tree.is_whole() => value.clone(),
            Value::Array(values) => values.iter().map(|value| naive(value, tree)).collect(),
            Value::Object(object) => {
                let kept = object.iter().filter_map(|(key, value)| {
                    let below = tree.keys.iter().find(|(known, _)| known == key)?;
                    Some((key.clone(), naive(value, &below.1)))
                });
                Value::Object(kept.collect())
            }
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn any_text_is_cut_as_its_values_are(
            json in any_json(), paths in prop::collection::vec("[a-c](\\.[a-c]){0,2}", 1..5)
        ) {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            prop_assert_eq!(cut(&json, &paths), naive(&json, &tree(&paths)));
        }

        #[test]
        fn no_text_makes_it_fail(text in any::<Vec<u8>>(), tail in "[\\[{\"\\\\:,a-c]{0,20}") {
            let mut out = Vec::new();
            tree(&["a.b", "c"]).write(&mut out, &text);
            tree(&["a.b", "c"]).write(&mut out, tail.as_bytes());
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf =
            prop_oneof![Just(Value::Null), any::<i32>().prop_map(Value::from), "\\PC{0,6}".prop_map(Value::from)];
        leaf.prop_recursive(4, 40, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d]", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }
}
