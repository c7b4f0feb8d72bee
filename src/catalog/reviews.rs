//! The reviews of a firm that are published.

use crate::data::vocabulary::Vocabulary;
use crate::data::{Facet, ReviewStatus, Table};

use crate::catalog::{Catalog, Filter, ListPosition, Order, Query};

impl Query {
    /// The approved reviews of a firm, the newest first.
    #[must_use]
    pub fn approved_reviews(firm: u32) -> Self {
        let approved = Filter::AnyOf(Facet::Status, vec![ReviewStatus::Approved.index() as u32]);
        let clauses = vec![Filter::AnyOf(Facet::Firm, vec![firm]), approved];
        Self { table: Table::Reviews, text: None, clauses, order: Order::Natural }
    }
}

impl Catalog {
    /// How many approved reviews of a firm fulfil one more condition.
    #[must_use]
    pub fn approved_reviews_with(&self, firm: u32, condition: Filter) -> u64 {
        let mut query = Query::approved_reviews(firm);
        query.clauses.push(condition);
        self.list(&query, ListPosition::default(), 0).total
    }

    /// How many approved reviewers of a firm say that they never got an answer, and how many that they got one.
    #[must_use]
    pub fn ghosted_and_answered(&self, firm: u32) -> (u64, u64) {
        let said =
            |ghosted: bool| self.approved_reviews_with(firm, Filter::AnyOf(Facet::Ghosted, vec![u32::from(ghosted)]));
        (said(true), said(false))
    }
}
