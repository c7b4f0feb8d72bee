//! Text as HTML.

pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Text with `code` in backquotes as HTML.
pub fn marked(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for (index, part) in text.split('`').enumerate() {
        match index % 2 {
            0 => html.push_str(&escaped(part)),
            _ => html.extend(["<code>", &escaped(part), "</code>"]),
        }
    }
    html
}

/// Text with `code` and [links](/to) as HTML; links to the service at `base` become relative.
pub fn linked(text: &str, base: &str) -> String {
    let marked = marked(text);
    let mut html = String::with_capacity(marked.len());
    let mut rest = marked.as_str();
    while let Some((head, after)) = rest.split_once("](") {
        let Some((before, label)) = head.rsplit_once('[') else { break };
        let Some((target, tail)) = after.split_once(')') else { break };
        let target = target.strip_prefix(base).unwrap_or(target);
        html.extend([before, "<a href=\"", target, "\">", label, "</a>"]);
        rest = tail;
    }
    html + rest
}

/// Text with `code` and [links](/to) as plain text.
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        plain.push_str(before);
        rest = after.split_once(')').map_or("", |(_, tail)| tail);
    }
    plain.push_str(rest);
    plain.replace(['`', '['], "")
}

pub fn anchor(name: &str) -> String {
    name.to_lowercase().replace(' ', "-")
}

/// JSON text with line breaks and indentation, fields in their original order.
pub fn indented(json: &str) -> String {
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
        if matches!(char, '}' | ']') && !text.ends_with(['{', '[']) {
            depth = depth.saturating_sub(1);
            new_line(&mut text, depth);
        }
        text.push(char);
        match char {
            '"' => quoted = true,
            '{' | '[' if !matches!(chars.peek(), Some('}' | ']')) => {
                depth += 1;
                new_line(&mut text, depth);
            }
            ',' => new_line(&mut text, depth),
            ':' => text.push(' '),
            _ => {}
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
    fn indented_json_keeps_the_order_of_its_fields() {
        let text = indented(r#"{"b":[1,{"a":"x\",:{"}],"c":{},"d":[]}"#);
        assert_eq!(
            text,
            "{\n  \"b\": [\n    1,\n    {\n      \"a\": \"x\\\",:{\"\n    }\n  ],\n  \"c\": {},\n  \"d\": []\n}"
        );
    }

    #[test]
    fn links_to_the_service_become_relative() {
        let html = linked("a `[0]` [b](https://here/docs) c", "https://here");
        assert_eq!(html, "a <code>[0]</code> <a href=\"/docs\">b</a> c");
        assert_eq!(linked("a[0] b", ""), "a[0] b");
        assert_eq!(plain("a `b` [c](/docs) d"), "a b c d");
    }
}
