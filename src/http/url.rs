//! Keys that do not belong into an address: logs and histories keep addresses.

use crate::auth::KEY_PREFIX;

/// What is said to those whose address holds a key.
pub const HOLDS_KEY: &str = "the address holds an API key, which logs and histories keep: revoke it, and send keys in the \
                             `Authorization` header only";

/// True where a path or a query holds what begins like an API key: as a segment, a parameter's name or its value, also
/// percent-encoded, behind spaces, quotes or `Bearer`, or in a list.
#[must_use]
pub fn holds_key(path: &str, query: &str) -> bool {
    // Most addresses hold neither the prefix nor anything that could stand for it.
    let may_hold = |text: &str| text.contains(KEY_PREFIX) || text.contains('%');
    let holds =
        |form: &str| form_urlencoded::parse(form.as_bytes()).any(|(name, value)| is_key(&name) || is_key(&value));
    // Read as names of a form, segments lose their percent-encoding.
    may_hold(path) && holds(&path.replace('/', "&")) || may_hold(query) && holds(query)
}

/// A path segment without its percent-encoding.
#[must_use]
pub fn decoded(segment: &str) -> String {
    // A segment is no form: a plus stands for itself.
    let pair = format!("s={}", segment.replace('+', "%2B").replace('&', "%26"));
    form_urlencoded::parse(pair.as_bytes()).next().map_or_else(String::new, |(_, value)| value.into_owned())
}

fn is_key(text: &str) -> bool {
    text.split(',').any(|part| {
        let odd = |char: char| char.is_whitespace() || matches!(char, '"' | '\'' | '<' | '`');
        let part = part.trim_start_matches(odd);
        let scheme = part.split_at_checked(6).filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
        scheme.map_or(part, |(_, rest)| rest.trim_start_matches(odd)).starts_with(KEY_PREFIX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_noticed_wherever_it_stands_in_an_address() {
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
            assert!(holds_key(path, query), "{path}?{query}");
        }
        for (path, query) in [
            ("/api/v3/vcs", ""),
            ("/api/v3/vcs/vdx-capital", "q=vdx&name=a_vdx"),
            ("/api/v3/vcs/%C3%BC", "q=bearer"),
            ("/api/v3/vcs", "q=\u{e9}\u{e9}\u{e9}\u{e9}"),
        ] {
            assert!(!holds_key(path, query), "{path}?{query}");
        }
    }
}
