//! Totals of a release and of the rows of a query.

use serde::Serialize;

use data::field::{SNAPSHOT, model};
use data::import::provenance::Source;
use data::vocabulary::Vocabulary;
use data::{Date, Facet, PartialDate, ReviewStatus, Table};
use platform::pause;

use crate::{Catalog, Coverage};

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
        /// Sum of the known amounts of all rounds, US dollars; `null` if none is known.
        pub total_raised_usd: Option<u64>,
        /// Date of the first round; `null` if no date is known.
        pub rounds_from: Option<PartialDate>,
        /// Date of the last round; `null` if no date is known.
        pub rounds_until: Option<PartialDate>,
        pub coverage: Coverage,
        /// The snapshot's version.
        pub snapshot: String [pattern(SNAPSHOT)],
        /// Date of the release.
        pub released_on: Date,
        /// A short description of the data.
        pub title: String,
        /// Where the data comes from.
        pub source: String,
        /// Terms of use.
        pub license: String,
        /// The sources of the data; empty if the operator names none.
        pub sources: Vec<Source>,
        /// Whether the data is invented: no firm, startup, person or review is real.
        pub invented: bool,
        /// Whether it is the snapshot in the program, because no release is published.
        pub bundled: bool,
    }
}

impl Catalog {
    pub fn totals(&self) -> &Totals {
        self.cached.totals.get_or_init(|| pause::without(|| self.count_all()))
    }

    fn count_all(&self) -> Totals {
        let snapshot = self.snapshot();
        let counts = snapshot.counts();
        let approved = ReviewStatus::Approved.index() as u32;
        let countries = (0..snapshot.facet_values(Table::Firms, Facet::Country)).filter(|country| {
            let count = |table| snapshot.facet_count(table, Facet::Country, *country);
            count(Table::Firms) > 0 || count(Table::Startups) > 0
        });
        let range = snapshot.round_range();
        Totals {
            firms: counts.firms,
            startups: counts.startups,
            reviews: snapshot.facet_count(Table::Reviews, Facet::Status, approved),
            funding_rounds: counts.funding_rounds,
            people: counts.people,
            sectors: counts.sectors,
            countries: countries.count() as u32,
            firms_with_health_score: snapshot.health_scores().iter().filter(|score| **score <= 100).count() as u32,
            total_raised_usd: self.amounts(&[]).sum_usd,
            rounds_from: range.map(|(first, _)| first),
            rounds_until: range.map(|(_, last)| last),
            coverage: Coverage::from_snapshot(snapshot),
            snapshot: snapshot.version().to_string(),
            released_on: snapshot.released_on(),
            title: snapshot.title().to_owned(),
            source: snapshot.source().to_owned(),
            license: snapshot.license().to_owned(),
            sources: snapshot.sources().to_vec(),
            invented: snapshot.is_invented(),
            bundled: self.is_bundled(),
        }
    }
}
