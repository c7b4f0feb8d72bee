//! Selects parts of a JSON value: only the selected keys of an object, or of each object of a list, are copied.

use data::begin_object;

use crate::json::scan;

/// The selected keys of an object, and the selected keys below each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldMask {
    /// Selected keys in alphabetical order; empty if everything is selected.
    keys: Vec<(String, FieldMask)>,
}

impl FieldMask {
    pub(crate) fn full() -> Self {
        Self::default()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.keys.is_empty()
    }

    pub(crate) fn add(&mut self, path: &[&str]) {
        let Some((first, rest)) = path.split_first() else {
            return self.keys.clear();
        };
        match self.keys.iter_mut().find(|(key, _)| key == first) {
            // A fully selected value stays fully selected.
            Some((_, nested)) if nested.is_full() => {}
            Some((_, nested)) => nested.add(rest),
            None => {
                let mut nested = Self::full();
                nested.add(rest);
                self.insert(first, nested);
            }
        }
    }

    pub(crate) fn insert(&mut self, key: &str, nested: Self) {
        self.keys.insert(self.keys.partition_point(|(known, _)| known.as_str() < key), (key.to_owned(), nested));
    }

    /// The selection below `key`; `None` if `key` is not selected.
    pub(crate) fn nested(&self, key: &str) -> Option<&Self> {
        self.keys.iter().find(|(known, _)| known == key).map(|(_, nested)| nested)
    }

    /// Writes the selected parts of a JSON value of this program, in its own order.
    pub fn write(&self, out: &mut Vec<u8>, json: &[u8]) {
        match json.first() {
            Some(b'{') if !self.is_full() => {
                let start = out.len();
                for (name, value) in scan::members(json) {
                    let Some((_, nested)) = self.keys.iter().find(|(key, _)| key.as_bytes() == name) else { continue };
                    out.extend_from_slice(b",\"");
                    out.extend_from_slice(name);
                    out.extend_from_slice(b"\":");
                    nested.write(out, value);
                }
                begin_object(out, start);
                out.push(b'}');
            }
            Some(b'[') if !self.is_full() => {
                out.push(b'[');
                for (index, item) in scan::items(json).enumerate() {
                    out.extend((index > 0).then_some(b','));
                    self.write(out, item);
                }
                out.push(b']');
            }
            _ => out.extend_from_slice(json),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn mask(paths: &[&str]) -> FieldMask {
        let mut mask = FieldMask::full();
        for path in paths {
            mask.add(&path.split('.').collect::<Vec<_>>());
        }
        mask
    }

    fn cut(json: &Value, paths: &[&str]) -> Value {
        let mut out = Vec::new();
        mask(paths).write(&mut out, &serde_json::to_vec(json).unwrap());
        serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&out)))
    }

    #[test]
    fn only_the_selected_keys_are_copied() {
        let json =
            json!({ "a": 1, "b": { "c": "x,\"}]", "d": [1, 2], "e": null }, "f": [{ "g": 1, "h": 2 }, { "g": 3 }] });
        assert_eq!(cut(&json, &["a"]), json!({ "a": 1 }));
        assert_eq!(cut(&json, &["b.c", "b.e"]), json!({ "b": { "c": "x,\"}]", "e": null } }));
        assert_eq!(cut(&json, &["f.h"]), json!({ "f": [{ "h": 2 }, {}] }));
        assert_eq!(cut(&json, &["b", "b.c"]), json!({ "b": json["b"] }));
        assert_eq!(cut(&json, &["f.g", "a"]), json!({ "a": 1, "f": [{ "g": 1 }, { "g": 3 }] }));
        assert_eq!(cut(&json!({ "b": null, "f": [] }), &["b.c", "f.g"]), json!({ "b": null, "f": [] }));
    }

    #[test]
    fn keys_keep_their_order_and_numbers_their_digits() {
        let mut out = Vec::new();
        mask(&["z", "a.x"]).write(&mut out, br#"{"z":0.10,"b":1,"a":{"y":1,"x":1e3}}"#);
        assert_eq!(String::from_utf8(out).unwrap(), r#"{"z":0.10,"a":{"x":1e3}}"#);
    }

    /// The same on parsed values.
    fn naive(value: &Value, mask: &FieldMask) -> Value {
        match value {
            _ if mask.is_full() => value.clone(),
            Value::Array(values) => values.iter().map(|value| naive(value, mask)).collect(),
            Value::Object(object) => {
                let selected = object.iter().filter_map(|(key, value)| {
                    let nested = mask.keys.iter().find(|(known, _)| known == key)?;
                    Some((key.clone(), naive(value, &nested.1)))
                });
                Value::Object(selected.collect())
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
            prop_assert_eq!(cut(&json, &paths), naive(&json, &mask(&paths)));
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
