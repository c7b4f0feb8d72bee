//! Whether a form was sent from a page of this site: what keeps other sites from acting for somebody who is signed in here.
//!
//! Browsers tell in `Sec-Fetch-Site` how the sender is related; those that do not name its `Origin`. A form that tells
//! neither is refused: all browsers that people use tell at least one.

use http::header::{HOST, ORIGIN};

use crate::site::account::PageRequest;

/// Whether the request comes from this site.
pub(crate) fn is_own(visit: PageRequest<'_>) -> bool {
    let header = |name: &str| {
        let mut values = visit.headers.get_all(name).iter();
        let first = values.next().map(|value| value.to_str().unwrap_or(""));
        // Two of them contradict each other.
        if values.next().is_some() { Some("") } else { first }
    };
    let origin = header(ORIGIN.as_str());
    let from_here = origin.map(|origin| {
        let (scheme, host) = origin.split_once("://").unwrap_or((origin, ""));
        let is_named =
            origin.eq_ignore_ascii_case(&visit.state.public_url) || own_origin(&visit.state.public_url, origin);
        // On a machine of one's own the same server has several names: the one that was asked is right.
        let is_asked = matches!(scheme, "http" | "https") && header(HOST.as_str()).is_some_and(|own| own == host);
        is_named || is_asked
    });
    match (header("sec-fetch-site"), from_here) {
        (Some("same-origin"), from_here) => from_here != Some(false),
        (Some(_), _) => false,
        (None, from_here) => from_here == Some(true),
    }
}

/// Whether an address, which may have a path, is of an origin.
fn own_origin(address: &str, origin: &str) -> bool {
    let rest = address.get(..origin.len()).filter(|start| start.eq_ignore_ascii_case(origin));
    rest.is_some() && address.get(origin.len()..).is_some_and(|path| path.is_empty() || path.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_the_start_of_its_addresses() {
        assert!(own_origin("https://a.example/x", "https://a.example"));
        assert!(own_origin("https://A.example", "https://a.example"));
        assert!(!own_origin("https://a.example.evil.example", "https://a.example"));
        assert!(!own_origin("https://a.example", "https://a.example.evil.example"));
        assert!(!own_origin("https://a.example", "http://a.example"));
    }
}
