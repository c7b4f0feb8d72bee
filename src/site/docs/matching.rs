//! The pages that explain how firms are matched to a startup, and how records are compared.

use askama::Template;

use crate::docs::html;
use catalog::matching::{self, Reason};
use catalog::similar::{self, Common};
use data::Table;

#[derive(Template)]
#[template(path = "docs/match.html")]
struct MatchPage {
    method: &'static str,
}

#[derive(Template)]
#[template(path = "docs/similar.html")]
struct SimilarPage {
    method: &'static str,
}

pub(crate) fn page() -> askama::Result<String> {
    MatchPage { method: matching::METHOD }.render()
}

pub(crate) fn similar() -> askama::Result<String> {
    SimilarPage { method: similar::METHOD }.render()
}
