//! The approved reviews of accounts in the form of `reviews.csv`.

use std::io;
use std::path::Path;

use auth::review::{PublicReview, ReviewState};
use data::import::csv_table::TableRow as _;
use data::import::csv_writer::TableWriter;
use data::import::rows::DatasetReview;
use data::vocabulary::Vocabulary as _;
use data::{ReviewProof, ReviewStatus, ReviewerRole, Stage};

/// Writes `reviews.csv` into the folder. Returns the ids of reviews that were public and no longer are.
pub(crate) fn write(folder: &Path, reviews: &[PublicReview]) -> io::Result<Vec<String>> {
    let mut table = TableWriter::create::<DatasetReview>(folder)?;
    let mut withdrawn = Vec::new();
    for review in reviews {
        match review.state {
            ReviewState::Approved => table.row(&fields(review))?,
            _ => withdrawn.push(review.id.clone()),
        }
    }
    table.finish()?;
    Ok(withdrawn)
}

fn fields(review: &PublicReview) -> Vec<String> {
    DatasetReview::HEADER.split(',').map(|column| field(review, column)).collect()
}

fn field(review: &PublicReview, column: &str) -> String {
    let answers = &review.answers;
    let points = |points: Option<u8>| points.map(|points| points.to_string());
    let value = match column {
        "id" => Some(review.id.clone()),
        "firm" => Some(review.firm.clone()),
        "stage" => answers.stage.map(|stage| Stage::name(stage).to_owned()),
        "rating" => points(answers.rating),
        "responsiveness" => points(answers.responsiveness),
        "fairness" => points(answers.fairness),
        "value_add" => points(answers.value_add),
        "ghosted" => answers.ghosted.map(|ghosted| ghosted.to_string()),
        "title" => Some(answers.title.clone()),
        "body" => Some(answers.body.clone()),
        "status" => Some(ReviewStatus::Approved.name().to_owned()),
        "created_on" => Some(review.created_on.to_string()),
        "role" => answers.role.map(|role| ReviewerRole::name(role).to_owned()),
        "contact_month" => answers.contact_month.map(|month| month.to_string()),
        "proof" => Some(ReviewProof::name(review.proof).to_owned()),
        "author" => Some(review.author.clone()),
        "author_since" => review.author_since.map(|since| since.to_string()),
        "reply" => review.reply.clone(),
        "replied_on" => review.replied_on.map(|on| on.to_string()),
        "disputed_on" => review.disputed_on.map(|on| on.to_string()),
        "cleared" => Some(review.is_cleared.to_string()),
        _ => None,
    };
    value.unwrap_or_default()
}
