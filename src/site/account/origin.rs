//! Protection against cross-site request forgery: a form must be sent from a page of this site.
//!
//! Browsers send `Sec-Fetch-Site` or `Origin`, current ones both. A form with neither is rejected.

use http::header::{HOST, ORIGIN};

use crate::site::PageRequest;

pub(crate) fn is_same(request: PageRequest<'_>) -> bool {
    let header = |name: &str| {
        let mut values = request.headers.get_all(name).iter();
        let first = values.next().map(|value| value.to_str().unwrap_or(""));
        // Repeated headers may contradict each other: neither is used.
        if values.next().is_some() { Some("") } else { first }
    };
    let origin = header(ORIGIN.as_str());
    let is_own_origin = origin.map(|origin| {
        let (scheme, host) = origin.split_once("://").unwrap_or((origin, ""));
        let is_public_url =
            origin.eq_ignore_ascii_case(&request.state.public_url) || has_origin(&request.state.public_url, origin);
        // A local server has several names; the requested one is in `Host`.
        let is_requested_host =
            matches!(scheme, "http" | "https") && header(HOST.as_str()).is_some_and(|own| own == host);
        is_public_url || is_requested_host
    });
    match (header("sec-fetch-site"), is_own_origin) {
        (Some("same-origin"), is_own_origin) => is_own_origin != Some(false),
        (Some(_), _) => false,
        (None, is_own_origin) => is_own_origin == Some(true),
    }
}

fn has_origin(url: &str, origin: &str) -> bool {
    let rest = url.get(..origin.len()).filter(|start| start.eq_ignore_ascii_case(origin));
    rest.is_some() && url.get(origin.len()..).is_some_and(|path| path.is_empty() || path.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_the_start_of_its_urls() {
        assert!(has_origin("https://a.example/x", "https://a.example"));
        assert!(has_origin("https://A.example", "https://a.example"));
        assert!(!has_origin("https://a.example.evil.example", "https://a.example"));
        assert!(!has_origin("https://a.example", "https://a.example.evil.example"));
        assert!(!has_origin("https://a.example", "http://a.example"));
    }
}
