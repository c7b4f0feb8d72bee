//! The page that explains how firms are matched to a startup.

use askama::Template;

use crate::catalog::matching::{METHOD, Reason};
use crate::site::docs::html;

#[derive(Template)]
#[template(path = "docs/match.html")]
struct MatchPage {
    method: &'static str,
}

pub(crate) fn page() -> askama::Result<String> {
    MatchPage { method: METHOD }.render()
}
