//! News about a firm in the served release.

use crate::format;
use catalog::Catalog;
use data::vocabulary::Vocabulary;
use data::{Facet, SnapshotVersion, Table};

const MAX_ROUNDS: usize = 5;

/// Additions to a firm in the served release.
pub(super) struct FirmNews {
    pub(super) release: SnapshotVersion,
    pub(super) is_new: bool,
    pub(super) round_count: usize,
    /// Startup, stage and path of the first new rounds.
    pub(super) rounds: Vec<(String, String, String)>,
    pub(super) review_count: usize,
}

impl FirmNews {
    /// `None` if the release was not compared with an earlier one, or has no news about the firm.
    pub(super) fn new(catalog: &Catalog, firm: u32) -> Option<Self> {
        let (snapshot, release) = (catalog.snapshot(), catalog.version());
        let is_new = |table: Table| move |row: &u32| catalog.first_seen(table, *row) == Some(release);
        let rounds = snapshot.facet_rows(Table::Rounds, Facet::Investor, firm).iter();
        let rounds: Vec<u32> = rounds.filter(is_new(Table::Rounds)).collect();
        let reviews = snapshot.facet_rows(Table::Reviews, Facet::Firm, firm).iter();
        let reviews = reviews.filter(|row| catalog.is_published(Table::Reviews, *row)).filter(is_new(Table::Reviews));
        let named = |round: &u32| {
            let startup = snapshot.round_startup(*round);
            let of = snapshot.slug(Table::Startups, startup);
            (
                snapshot.name(Table::Startups, startup).to_owned(),
                format::word(snapshot.round_stage(*round).name()),
                format!("/startups/{of}#round-{}", snapshot.slug(Table::Rounds, *round)),
            )
        };
        let review_count = reviews.count();
        let is_changed = catalog.changed_in(Table::Firms, firm) == Some(release);
        (is_changed || !rounds.is_empty() || review_count > 0).then(|| Self {
            release,
            is_new: is_new(Table::Firms)(&firm),
            round_count: rounds.len(),
            rounds: rounds.iter().take(MAX_ROUNDS).map(named).collect(),
            review_count,
        })
    }
}
