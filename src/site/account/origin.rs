//! Protection against cross-site request forgery: a form must be sent from a page of this site.
//!
//! Browsers send `Sec-Fetch-Site` or `Origin`; current ones send both. A form with neither is rejected. The origin must
//! be that of the public URL, if the operator set one.

use http::header::{HOST, ORIGIN};

use crate::PageRequest;
use transport::origin::Origin;

pub(crate) fn is_same(request: PageRequest<'_>) -> bool {
    let header = |name: &str| {
        let mut values = request.headers.get_all(name).iter();
        let first = values.next().map(|value| value.to_str().unwrap_or(""));
        // Repeated headers may contradict each other, so none of them is used.
        if values.next().is_some() { Some("") } else { first }
    };
    let is_own_origin = header(ORIGIN.as_str()).map(|origin| match request.state.has_public_url {
        // Behind a proxy, the client chooses the `Host` header.
        true => Origin::from_header(origin)
            .is_some_and(|origin| Origin::from_url(&request.state.public_url) == Some(origin)),
        // A local server has several names; the requested one is in `Host`.
        false => origin.strip_prefix("http://").is_some_and(|host| header(HOST.as_str()) == Some(host)),
    });
    match (header("sec-fetch-site"), is_own_origin) {
        (Some("same-origin"), is_own_origin) => is_own_origin != Some(false),
        (Some(_), _) => false,
        (None, is_own_origin) => is_own_origin == Some(true),
    }
}
