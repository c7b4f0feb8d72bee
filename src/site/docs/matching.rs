//! The pages that explain how firms are matched to a startup, and how similar records are found.

use askama::Template;

use crate::docs::html;
use catalog::matching::{self, MatchReason};
use catalog::similar::{self, Common};
use data::Table;
use data::vocabulary::Vocabulary;

#[derive(Template)]
#[template(path = "docs/match.html")]
struct MatchDocsPage {
    method: &'static str,
}

#[derive(Template)]
#[template(path = "docs/similar.html")]
struct SimilarDocsPage {
    method: &'static str,
}

pub(crate) fn page() -> askama::Result<String> {
    MatchDocsPage { method: matching::METHOD }.render()
}

pub(crate) fn similar() -> askama::Result<String> {
    SimilarDocsPage { method: similar::METHOD }.render()
}
