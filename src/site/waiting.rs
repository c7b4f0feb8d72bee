//! The page of a server without a release, which says what its operator can do next.

use askama::Template;

pub use crate::layout::{CSP, HTML};
use view::format;
pub use view::style_sheet::STYLE;

/// Path of [`STYLE`], the only other file that such a server sends.
pub const STYLE_PATH: &str = "/assets/style.css";

#[derive(Template)]
#[template(path = "waiting.html")]
struct WaitingPage<'a> {
    reason: &'a str,
}

/// `reason`: why there is no release, as `/readyz` says.
pub fn page(reason: &str) -> String {
    // Writing to a string cannot fail, and neither can the value.
    WaitingPage { reason }.render().unwrap_or_default()
}
