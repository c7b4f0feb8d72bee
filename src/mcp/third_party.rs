//! Texts by third parties, such as reviews: marked in each result, and stripped of active links. A client may render a
//! result as markdown. An image then reports to its host that the text was read, and a link hides its target behind its
//! text. So destinations of links and images are dropped and their texts kept. A visible URL stays: it is its target.

/// Marks of markdown links and images, reference definitions and reference links. In JSON, two brackets, or a bracket
/// and one of these characters, are adjacent only inside a text.
const MARKS: [&str; 3] = ["](", "]:", "]["];

/// Removes active markdown links, images and HTML from the texts of a JSON value. Linear in its length.
pub(crate) fn without_links(json: String) -> String {
    if !json.contains('<') && !MARKS.iter().any(|mark| json.contains(mark)) {
        return json;
    }
    let bytes = json.as_bytes();
    let mut plain = String::with_capacity(json.len() + 64);
    let mut start = 0;
    // No destination that starts before this position is closed.
    let mut unclosed_until = 0;
    while let Some(found) = json[start..].find(['<', ']']) {
        let next = start + found + 1;
        plain.push_str(&json[start..next]);
        start = next;
        match (bytes[next - 1], bytes.get(next)) {
            (b']', Some(b'(')) if next >= unclosed_until => match destination_end(bytes, next) {
                Ok(end) => start = end,
                Err(end) => {
                    unclosed_until = end;
                    plain.push(' ');
                }
            },
            (b']', Some(b'(' | b'[' | b':')) => plain.push(' '),
            (b'<', Some(byte)) if byte.is_ascii_alphabetic() || b"/!?".contains(byte) => plain.push(' '),
            _ => {}
        }
    }
    plain.push_str(&json[start..]);
    plain
}

/// Finds the position after the destination that starts at `start`; if it is not closed, the end of its text.
fn destination_end(json: &[u8], start: usize) -> Result<usize, usize> {
    let mut at = start;
    loop {
        match json.get(at) {
            Some(b')') => return Ok(at + 1),
            Some(b'"') | None => return Err(at),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn plain(text: &str) -> String {
        let value: Value = serde_json::from_str(&without_links(json!([text, 1]).to_string())).unwrap();
        value[0].as_str().unwrap().to_owned()
    }

    #[test]
    fn links_and_images_lose_their_destinations_and_keep_their_texts() {
        for (text, expected) in [
            ("See [our \"terms\"](https://evil.example/?q=1 \"title\").", "See [our \"terms\"]."),
            ("![logo](https://evil.example/p.png)!", "![logo]!"),
            ("[![a](b)](c) d", "[![a]] d"),
            ("[a](b(c)d)", "[a]d)"),
            ("[a](b\nc)", "[a]"),
            ("[a](never closed", "[a] (never closed"),
            ("[a][b]\n[b]: https://evil.example", "[a] [b]\n[b] : https://evil.example"),
            ("<https://evil.example> <img src=x> </a> <!--", "< https://evil.example> < img src=x> < /a> < !--"),
            ("[24]7 at 3 < 4, [a] (b), https://alder.example", "[24]7 at 3 < 4, [a] (b), https://alder.example"),
        ] {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn other_values_stay_and_a_destination_ends_with_its_text() {
        let value = json!({ "a": ["x](y", "z)"], "b": [[1], [2]], "c": { "d]": [] }, "e": "\\](f\\\")" });
        let expected = json!({ "a": ["x] (y", "z)"], "b": [[1], [2]], "c": { "d]": [] }, "e": "\\]" });
        assert_eq!(serde_json::from_str::<Value>(&without_links(value.to_string())).unwrap(), expected);
    }
}
