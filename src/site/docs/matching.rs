//! The pages that explain how firms are matched to a startup, and how similar records are found.

use askama::Template;

use crate::docs::html;
use catalog::matching::{self, MatchReason};
use catalog::similar::{self, Common};
use data::Table;

#[derive(Template)]
#[template(path = "docs/match.html")]
struct MatchDocsPage;

#[derive(Template)]
#[template(path = "docs/similar.html")]
struct SimilarDocsPage;

pub(crate) fn page() -> askama::Result<String> {
    MatchDocsPage.render()
}

pub(crate) fn similar() -> askama::Result<String> {
    SimilarDocsPage.render()
}
