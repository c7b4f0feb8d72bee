//! The parts of JSON that this program has written: valid, and without spaces between its tokens. They are found by where
//! they end, without parsing or copying them. Of other JSON, the parts are wrong or missing.

use std::iter;

/// The items of a list, in order; none of another value.
pub(crate) fn items(list: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = list.strip_prefix(b"[").unwrap_or_default();
    iter::from_fn(move || take_value(&mut rest))
}

/// The members of an object, in order: the text of each name, and its value. None of another value.
pub(crate) fn members(object: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = object.strip_prefix(b"{").unwrap_or_default();
    iter::from_fn(move || Some((text(take_value(&mut rest)?), take_value(&mut rest)?)))
}

/// The text between the quotes, as it is escaped.
pub(crate) fn text(json: &[u8]) -> &[u8] {
    json.get(1..json.len().saturating_sub(1)).unwrap_or_default()
}

/// Removes the first value with the byte behind it: a comma, a colon or the end of the list or object.
fn take_value<'j>(rest: &mut &'j [u8]) -> Option<&'j [u8]> {
    let (value, after) = rest.split_at_checked(length_of_value(rest)?)?;
    *rest = after.get(1..).unwrap_or_default();
    Some(value)
}

fn length_of_value(json: &[u8]) -> Option<usize> {
    match json.first()? {
        b'"' => length_of_text(json),
        b'[' | b'{' => length_of_nested(json),
        b']' | b'}' => None,
        _ => json.iter().position(|byte| matches!(byte, b',' | b']' | b'}')),
    }
}

fn length_of_text(json: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match json.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

fn length_of_nested(json: &[u8]) -> Option<usize> {
    let (mut depth, mut at) = (0, 0);
    loop {
        match json.get(at)? {
            b'"' => {
                at += length_of_text(&json[at..])?;
                continue;
            }
            b'[' | b'{' => depth += 1,
            b']' | b'}' if depth == 1 => return Some(at + 1),
            b']' | b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts<'j>(parts: impl Iterator<Item = &'j [u8]>) -> Vec<&'j str> {
        parts.map(|part| std::str::from_utf8(part).unwrap()).collect()
    }

    #[test]
    fn lists_and_objects_are_cut_at_their_own_commas() {
        let list = br#"["a,\\","\"]}",[1,[]],{"b":{"c":"]"}},-0.5,null,""]"#;
        let expected = [r#""a,\\""#, r#""\"]}""#, "[1,[]]", r#"{"b":{"c":"]"}}"#, "-0.5", "null", r#""""#];
        assert_eq!(texts(items(list)), expected);
        let object = br#"{"a":1,"b":{"c":[2,"}"]},"d":"\u0001","e":true}"#;
        assert_eq!(texts(members(object).map(|(name, _)| name)), ["a", "b", "d", "e"]);
        assert_eq!(texts(members(object).map(|(_, value)| value)), ["1", r#"{"c":[2,"}"]}"#, r#""\u0001""#, "true"]);
        assert_eq!(texts(items(b"[]")).len() + members(b"{}").count(), 0);
        assert_eq!(texts(items(object)).len() + members(list).count(), 0);
    }

    #[test]
    fn json_that_ends_early_has_fewer_parts() {
        for end in 0..40 {
            let json = &br#"{"a":["b",{"c":1}],"d":{"e":"f\"g"},"h":2}"#[..end];
            assert!(members(json).count() <= 2 && items(json).count() == 0, "{end}");
        }
    }
}
