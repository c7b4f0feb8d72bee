//! Approved reviews from elsewhere than the folder of a dataset: those that people wrote in accounts.
//!
//! They outlive imports: a firm may have been merged since, or be gone. So an unknown firm is no error, as it is in
//! `reviews.csv`, and the review is left out until the firm is back.

use std::collections::HashSet;
use std::path::Path;

use crate::import::csv_table::{CsvFolder, CsvTable};
use crate::import::diagnostics::{Diagnostics, quoted};
use crate::import::redirects::Redirect;
use crate::import::rows::{DatasetFirm, DatasetReview};
use crate::import::text_store::TextStore;
use crate::{Date, Table};

#[derive(Clone, Copy, Debug)]
pub struct FurtherReviews<'a> {
    /// In the form of `reviews.csv`. Its rows replace those with the same id.
    pub file: &'a Path,
    /// Its name in messages.
    pub name: &'a str,
    /// Ids of reviews that are no longer public, wherever they are from.
    pub withdrawn: &'a [String],
}

impl FurtherReviews<'_> {
    /// Adds them to the reviews of the folder.
    pub(crate) fn add_to(
        self,
        mut reviews: Vec<DatasetReview>,
        files: &mut CsvFolder<'_>,
        texts: &mut TextStore,
        firms: &CsvTable<DatasetFirm>,
        redirects: &[Redirect],
        released_on: Option<Date>,
    ) -> Vec<DatasetReview> {
        let mut left_out = Vec::new();
        let further = CsvTable::read_file(self.file, self.name, files.report, files.progress, |row| {
            let slug = row.field("firm").to_owned();
            let merged = || {
                let found = redirects.iter().find(|redirect| redirect.table == Table::Firms && redirect.slug == slug);
                found.map(|redirect| redirect.target)
            };
            let firm = firms.find(&slug).or_else(merged);
            if firm.is_none() {
                left_out.push((row.field("id").to_owned(), slug));
            }
            DatasetReview::read(row, texts, firm, released_on)
        });
        let mut diagnostics = Diagnostics::new(self.name, files.report);
        for (id, slug) in left_out {
            let message = format!("{id} is left out until the dataset has a firm {}", quoted(&slug));
            diagnostics.warning(None, None, message);
        }
        let replaced = further.rows.iter().map(|review| &review.id).chain(self.withdrawn);
        let replaced: HashSet<&String> = replaced.collect();
        reviews.retain(|review| !replaced.contains(&review.id));
        reviews.extend(further.rows);
        reviews
    }
}
