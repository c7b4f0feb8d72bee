//! Totals of a release and of the rows of a query.

use serde::Serialize;

use crate::data::field::{SNAPSHOT, model};
use crate::data::vocabulary::Vocabulary;
use crate::data::{Date, Facet, NONE_U64, ReviewStatus, Table};

use crate::catalog::{Catalog, Filter, RowFilter};

model! {
    /// Totals of a release.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize)]
    pub struct Totals {
        /// Number of firms.
        pub firms: u32,
        /// Number of startups.
        pub startups: u32,
        /// Number of approved reviews.
        pub reviews: u32,
        /// Number of funding rounds.
        pub funding_rounds: u32,
        /// Number of people.
        pub people: u32,
        /// Number of sectors.
        pub sectors: u32,
        /// Number of countries with at least one firm or startup.
        pub countries: u32,
        /// Number of firms with a published peer score.
        pub firms_with_health_score: u32,
        /// Sum of the known amounts of all rounds, US dollars.
        pub total_raised_usd: u64,
        /// The snapshot's version.
        pub snapshot: String [pattern(SNAPSHOT)],
        /// Date of the release.
        pub released_on: Date,
    }
}

impl Catalog {
    pub fn totals(&self) -> &Totals {
        self.totals.get_or_init(|| self.count_all())
    }

    fn count_all(&self) -> Totals {
        let snapshot = self.snapshot();
        let counts = snapshot.counts();
        let approved = ReviewStatus::Approved.index() as u32;
        let countries = (0..snapshot.facet_values(Table::Firms, Facet::Country)).filter(|country| {
            let count = |table| snapshot.facet_count(table, Facet::Country, *country);
            count(Table::Firms) > 0 || count(Table::Startups) > 0
        });
        Totals {
            firms: counts.firms,
            startups: counts.startups,
            reviews: snapshot.facet_count(Table::Reviews, Facet::Status, approved),
            funding_rounds: counts.funding_rounds,
            people: counts.people,
            sectors: counts.sectors,
            countries: countries.count() as u32,
            firms_with_health_score: snapshot.health_scores().iter().filter(|score| **score <= 100).count() as u32,
            total_raised_usd: self.raised(&[]).unwrap_or(0),
            snapshot: snapshot.version().to_string(),
            released_on: snapshot.released_on(),
        }
    }

    /// The sum of the known amounts of the rounds that match all filters, US dollars; `None` if no amount is known.
    /// Cached for the life of the release.
    pub fn raised(&self, filters: &[Filter]) -> Option<u64> {
        self.sums.get_or_insert_with(filters.to_vec(), || {
            let amounts = self.snapshot().round_amounts();
            let rows = RowFilter::of(self.snapshot(), Table::Rounds, filters);
            let known = rows.rows_from(0).map(|row| amounts[row as usize]).filter(|usd| *usd != NONE_U64);
            known.reduce(u64::saturating_add)
        })
    }
}
