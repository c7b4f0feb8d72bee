//! The published reviews of a firm.

use data::derive::score::{self, RatedReview};
use data::model::YearScore;
use data::vocabulary::Vocabulary;
use data::{Facet, ReviewStatus, Table};

use crate::{Catalog, Filter, ListPosition, Order, Query};

impl Query {
    /// The approved reviews of a firm, newest first.
    pub fn approved_reviews(firm: u32) -> Self {
        let approved = Filter::AnyOf(Facet::Status, vec![ReviewStatus::Approved.index() as u32]);
        let filters = vec![Filter::AnyOf(Facet::Firm, vec![firm]), approved];
        Self { table: Table::Reviews, text: None, filters, order: Order::Natural }
    }
}

impl Catalog {
    pub fn approved_reviews_with(&self, firm: u32, filter: Filter) -> u64 {
        let mut query = Query::approved_reviews(firm);
        query.filters.push(filter);
        self.list(&query, ListPosition::default(), 0).total
    }

    /// Scores of a firm by year, without gaps, from its first approved review to its latest.
    pub fn score_by_year(&self, firm: u32) -> Vec<YearScore> {
        let snapshot = self.snapshot();
        let reviews = snapshot.reviews_of(firm).map(|row| -> RatedReview {
            serde_json::from_slice(&snapshot.record(Table::Reviews, row).json())
                .expect("a stored review has ratings and a date")
        });
        score::by_year(reviews, snapshot.score_priors())
    }

    /// Number of approved reviewers of a firm who state that they were ghosted, and who state that they were not.
    pub fn ghosted_and_answered(&self, firm: u32) -> (u64, u64) {
        [1, 0].map(|ghosted| self.approved_reviews_with(firm, Filter::AnyOf(Facet::Ghosted, vec![ghosted]))).into()
    }
}
