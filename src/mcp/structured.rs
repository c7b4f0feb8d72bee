//! Puts an answer into the result that rmcp wrote without it.

use bytes::Bytes;

/// What rmcp writes for a structured content of null. Within a text its quotes would be escaped, so it stands nowhere
/// else.
pub(crate) const STRUCTURED_PLACE: &[u8] = b"\"structuredContent\":null";
/// What rmcp writes for a content of an empty text; likewise.
pub(crate) const TEXT_PLACE: &[u8] = b"\"type\":\"text\",\"text\":\"\"";

/// An answer with `text` as its structured content and as its text.
pub(crate) fn structured(body: &Bytes, text: &str) -> Option<Bytes> {
    let ends_at = |place: &[u8]| Some(body.windows(place.len()).position(|window| window == place)? + place.len());
    let (text_end, value_end) = (ends_at(TEXT_PLACE)?, ends_at(STRUCTURED_PLACE)?);
    let mut whole = Vec::with_capacity(body.len() + 2 * text.len() + text.len() / 4);
    whole.extend_from_slice(body.get(..text_end - "\"\"".len())?);
    write_quoted(&mut whole, text)?;
    whole.extend_from_slice(body.get(text_end..value_end - "null".len())?);
    whole.extend_from_slice(text.as_bytes());
    whole.extend_from_slice(body.get(value_end..)?);
    Some(whole.into())
}

/// 1 for the bytes that stand behind a backslash where JSON text is quoted: it holds nothing else that a string must
/// escape, since its own strings are escaped already and no white space stands between its tokens.
static ESCAPED: [u8; 256] = {
    let mut escaped = [0; 256];
    escaped[b'"' as usize] = 1;
    escaped[b'\\' as usize] = 1;
    escaped
};

/// Writes JSON as a JSON string. Quotes stand every few bytes in it, so that a byte at a time, without a branch, is
/// faster than a search for the next one.
fn write_quoted(whole: &mut Vec<u8>, json: &str) -> Option<()> {
    // A fold looks at all bytes, many at a time.
    if json.bytes().fold(false, |found, byte| found | (byte < b' ')) {
        return serde_json::to_writer(whole, json).ok();
    }
    whole.push(b'"');
    let mut block = [0; 128];
    for chunk in json.as_bytes().chunks(64) {
        let mut end: usize = 0;
        for &byte in chunk {
            block[end & 127] = b'\\';
            end += usize::from(ESCAPED[usize::from(byte)]);
            block[end & 127] = byte;
            end += 1;
        }
        whole.extend_from_slice(block.get(..end)?);
    }
    whole.push(b'"');
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_quoted_as_a_string() {
        let long = r#"["\"\\","ü","#.repeat(40) + &r#"\""#.repeat(200);
        for json in [r#"{"a":"b\"c\\\u0007","d":[1,"ü…"]}"#, "", "{}", "{\n\t\"a\": 1}", &long] {
            let mut quoted = b"x".to_vec();
            write_quoted(&mut quoted, json).unwrap();
            assert_eq!(quoted.get(1..).unwrap(), serde_json::to_vec(json).unwrap(), "{json}");
        }
    }
}
