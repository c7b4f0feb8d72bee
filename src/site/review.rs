//! The pairs to review as a page that needs no server: it is opened from a file, and gives the decisions back as a file.

use askama::Template;

use data::Date;

/// Two entities that may be one.
pub struct ReviewPair {
    /// `source/entity`.
    pub left: String,
    pub right: String,
    /// The score and what it is made of.
    pub evidence: String,
    /// Why the pair is reviewed although it is sure by itself.
    pub held: Option<String>,
    /// The label of each value that either has, and both values.
    pub values: Vec<(&'static str, String, String)>,
}

#[derive(Template)]
#[template(path = "review_pairs.html")]
struct ReviewPage<'a> {
    pairs: &'a [ReviewPair],
    by: &'a str,
    today: Date,
    /// The columns of the file of decisions.
    columns: &'a str,
    style: &'static str,
}

/// The page with pairs in their order. `columns` is the header line of the file of decisions.
///
/// # Errors
/// The template fails only for want of memory.
pub fn page(pairs: &[ReviewPair], by: &str, today: Date, columns: &str) -> Result<String, askama::Error> {
    let style = include_str!("assets/style.css");
    ReviewPage { pairs, by, today, columns, style }.render()
}
