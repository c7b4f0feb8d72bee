//! A review page for pairs that needs no server: it is opened as a file and saves the decisions to a file.

use askama::Template;

use crate::assets::STYLE;
use data::Date;

/// Two entities that may be the same.
pub struct ReviewPair {
    /// `source/entity`.
    pub left: String,
    pub right: String,
    pub evidence: String,
    /// The reason for which a pair is reviewed although its score alone is conclusive.
    pub held: Option<String>,
    /// Values of both sides: label, left, right. Labels that neither side has a value for are left out.
    pub values: Vec<(&'static str, String, String)>,
}

#[derive(Template)]
#[template(path = "review_pairs.html")]
struct ReviewPage<'a> {
    pairs: &'a [ReviewPair],
    by: &'a str,
    today: Date,
    columns: &'a str,
    style: &'static str,
}

/// The page with pairs in the given order. `columns` is the header line of the file of decisions.
pub fn page(pairs: &[ReviewPair], by: &str, today: Date, columns: &str) -> Result<String, askama::Error> {
    ReviewPage { pairs, by, today, columns, style: STYLE }.render()
}
