//! Percent-decoding of URLs, and detection of API keys in them. Keys in URLs are rejected because logs and browser
//! histories store URLs.

use http::Uri;

use auth::KEY_PREFIX;

pub const KEY_IN_URL: &str = "the URL contains an API key, and logs and histories store URLs: revoke the key, and send \
                                     keys only in the `Authorization` header";

/// True if a path or query has something that starts like an API key, percent-encoded or in a list as well.
pub fn has_key(path: &str, query: &str) -> bool {
    // Fast path: most URLs contain neither the prefix nor an escape that could encode it.
    let may_have = |text: &str| text.contains(KEY_PREFIX) || text.contains('%');
    let has = |form: &str| form_urlencoded::parse(form.as_bytes()).any(|(name, value)| is_key(&name) || is_key(&value));
    // Parsing segments as form names decodes their escapes.
    may_have(path) && has(&path.replace('/', "&")) || may_have(query) && has(query)
}

/// Decodes the percent-encoding of a path segment.
pub fn decoded(segment: &str) -> String {
    // Unlike in a form, a plus in a segment is a literal plus.
    let pair = format!("s={}", segment.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes()).next().expect("one pair").1.into_owned()
}

/// A path and query without escapes of unreserved characters in the path: `%7E` and `~` are the same (RFC 3986,
/// 6.2.2.2). `None` if there are none.
pub(crate) fn normal_uri(uri: &Uri) -> Option<Uri> {
    let path = uri.path();
    let mut normal = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let (before, escape) = rest.split_at(at);
        normal.push_str(before);
        let byte = escape.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(byte)) {
            Some(byte) => {
                normal.push(char::from(byte));
                rest = &escape[3..];
            }
            None => {
                normal.push('%');
                rest = &escape[1..];
            }
        }
    }
    if rest.len() == path.len() || normal.len() + rest.len() == path.len() {
        return None;
    }
    normal.push_str(rest);
    let query = uri.query().map_or_else(String::new, |query| format!("?{query}"));
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(format!("{normal}{query}").parse().ok()?);
    Uri::from_parts(parts).ok()
}

pub fn encoded_segment(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>().replace('+', "%20")
}

/// The URL of the same request for another record: path and query, with slug `from` replaced by `to`.
pub fn with_slug(path: &str, query: &str, from: &str, to: &str) -> String {
    let segments = path.split('/').map(|segment| if decoded(segment) == from { to } else { segment });
    let path = segments.collect::<Vec<&str>>().join("/");
    if query.is_empty() { path } else { format!("{path}?{query}") }
}

fn is_key(text: &str) -> bool {
    text.split(',').any(|part| {
        let is_quote = |char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '<' | '`');
        let part = part.trim_start_matches(is_quote);
        let scheme = part.split_at_checked(6).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        scheme.map_or(part, |(_, rest)| rest.trim_start_matches(is_quote)).starts_with(KEY_PREFIX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slug_of_an_address_is_replaced() {
        assert_eq!(
            with_slug("/api/v3/vcs/old/rounds", "limit=5&q=old", "old", "new"),
            "/api/v3/vcs/new/rounds?limit=5&q=old"
        );
        assert_eq!(with_slug("/vcs/%6fld", "", "old", "new"), "/vcs/new");
    }

    #[test]
    fn unreserved_characters_of_a_path_are_not_escaped() {
        for (uri, normal) in [
            ("/%76cs/a%2Db%7e?q=%41", Some("/vcs/a-b~?q=%41")),
            ("http://host.example/%61?x", Some("http://host.example/a?x")),
            ("/a%2Fb%2525%20", None),
            ("/a%2F%2e%25", Some("/a%2F.%25")),
            ("/%+1a", None),
            ("/100%", None),
            ("/%e4%", None),
            ("/vcs", None),
            ("*", None),
        ] {
            let found = normal_uri(&uri.parse().unwrap()).map(|uri| uri.to_string());
            assert_eq!(found.as_deref(), normal, "{uri}");
        }
    }

    #[test]
    fn a_key_is_found_anywhere_in_a_url() {
        for (path, query) in [
            ("/api/v3/vcs", "key=vdx_abc"),
            ("/api/v3/vcs", "vdx_abc"),
            ("/api/v3/vcs", "vdx_abc=1"),
            ("/api/v3/vcs", "a=1&q=%20vdx_abc"),
            ("/api/v3/vcs", "a=+vdx_abc"),
            ("/api/v3/vcs", "a=%76%64%78%5Fabc"),
            ("/api/v3/vcs", "%76dx_abc"),
            ("/api/v3/vcs", "token=Bearer%20vdx_abc"),
            ("/api/v3/vcs", "authorization=bearer+%22vdx_abc%22"),
            ("/api/v3/vcs", "fields=name,vdx_abc"),
            ("/api/v3/vcs/vdx_abc", ""),
            ("/api/v3/vcs/%76dx_abc", ""),
        ] {
            assert!(has_key(path, query), "{path}?{query}");
        }
        for (path, query) in [
            ("/api/v3/vcs", ""),
            ("/api/v3/vcs/vdx-capital", "q=vdx&name=a_vdx"),
            ("/api/v3/vcs/%C3%BC", "q=bearer"),
            ("/api/v3/vcs", "q=\u{e9}\u{e9}\u{e9}\u{e9}"),
        ] {
            assert!(!has_key(path, query), "{path}?{query}");
        }
    }
}
