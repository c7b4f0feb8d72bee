//! Warnings in the header `X-Warnings`, for files, which have no `meta`.

use http::{HeaderMap, HeaderName};
use serde::Serialize;

use crate::headers::set;
use data::ParameterError;

const WARNINGS: HeaderName = HeaderName::from_static("x-warnings");
/// Maximum length of the header in bytes: proxies reject responses with long headers.
pub const MAX_HEADER: usize = 2 * 1024;

/// A warning without its potentially long fields.
#[derive(Serialize)]
struct ShortWarning<'a> {
    parameter: &'a str,
    code: &'a str,
}

/// Writes any warnings as an ASCII JSON array, without details if they would make the header too long.
pub fn write_warnings(headers: &mut HeaderMap, warnings: &[ParameterError]) {
    if warnings.is_empty() {
        return;
    }
    let full = ascii(&serde_json::to_string(warnings).expect("warnings have a JSON form"));
    if full.len() <= MAX_HEADER {
        return set(headers, WARNINGS, &full);
    }
    let short: Vec<ShortWarning<'_>> =
        warnings.iter().map(|warning| ShortWarning { parameter: &warning.parameter, code: warning.code }).collect();
    set(headers, WARNINGS, &ascii(&serde_json::to_string(&short).expect("warnings have a JSON form")));
}

/// Escapes all non-ASCII characters of JSON.
fn ascii(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for unit in json.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() && byte != 0x7f => text.push(char::from(byte)),
            _ => text.push_str(&format!("\\u{unit:04x}")),
        }
    }
    text
}
