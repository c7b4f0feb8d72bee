//! A review page for pairs that needs no server: it is opened as a file and saves the decisions to a file.

use askama::Template;
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use data::Date;
use view::style_sheet::STYLE;

const SCRIPT: &str = include_str!("assets/review_pairs.js");

/// Everything that the script of the page reads.
#[derive(Serialize)]
pub struct Review<'a> {
    pub by: &'a str,
    pub on: Date,
    /// Header line of the file of decisions.
    pub columns: &'a str,
    /// Pairs to see before the rest of a batch can be decided, and of how many of them one may differ.
    pub sample: usize,
    pub one_may_differ_of: usize,
    /// Shares in percent to which a larger sample lowers the error.
    pub shares: [usize; 2],
    /// What a sample says, what a larger one would say, and the reason of decisions without a look, with placeholders.
    pub offer: &'a str,
    pub larger: &'a str,
    pub reason: &'a str,
    pub batches: Vec<ReviewBatch>,
    /// Groups of entities that known decisions keep apart.
    pub apart: Vec<[u32; 2]>,
}

/// Pairs with equal evidence.
#[derive(Serialize)]
pub struct ReviewBatch {
    pub title: String,
    /// Most pairs of the rest that may differ: by the size of the sample, and by how many of it differ.
    pub bounds: Vec<Vec<usize>>,
    /// In the order of sampling.
    pub pairs: Vec<ReviewPair>,
}

/// Two entities that may be the same.
#[derive(Serialize)]
pub struct ReviewPair {
    /// `source/entity`.
    pub left: String,
    pub right: String,
    /// Groups of entities that are known to be the same.
    pub groups: [u32; 2],
    pub evidence: String,
    /// The reason for which a pair is reviewed although its score alone is conclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    pub rows: Vec<ReviewRow>,
}

/// Values of both sides under a label.
#[derive(Serialize)]
pub struct ReviewRow {
    pub label: &'static str,
    pub sides: [ReviewSide; 2],
}

#[derive(Default, Serialize)]
pub struct ReviewSide {
    /// Values that both sides have, in one order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub common: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other: Vec<String>,
    /// Number of values that are not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

#[derive(Template)]
#[template(path = "review_pairs.html")]
struct ReviewPage<'a> {
    pairs: usize,
    batches: usize,
    /// Under which a browser keeps the decisions of this page.
    id: String,
    json: &'a str,
    style: String,
    script: &'static str,
}

pub fn page(review: &Review<'_>) -> Result<String, askama::Error> {
    let json = serde_json::to_string(review).map_err(|error| askama::Error::Custom(error.into()))?;
    // No value ends the element.
    let json = json.replace('<', "\\u003c");
    let (pairs, batches) = (review.batches.iter().map(|batch| batch.pairs.len()).sum(), review.batches.len());
    let id = format!("{:016x}", xxh3_64(json.as_bytes()));
    // The page loads nothing, not even the font.
    let style: Vec<&str> = STYLE.lines().filter(|line| !line.starts_with("@font-face")).collect();
    ReviewPage { pairs, batches, id, json: &json, style: style.join("\n"), script: SCRIPT }.render()
}
