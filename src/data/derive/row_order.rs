//! The default order of each table.

use std::cmp::Reverse;

use crate::data::derive::Derived;
use crate::data::derive::sort_order::{Permutation, sort_prefix};
use crate::data::fold::fold;
use crate::data::import::rows::Dataset;
use crate::data::{ReviewStatus, Table};

/// The default order of each table. Rejected reviews are left out.
pub(crate) struct RowOrders {
    pub firms: Permutation,
    pub startups: Permutation,
    pub rounds: Permutation,
    pub people: Permutation,
    pub reviews: Permutation,
    pub sectors: Permutation,
}

impl RowOrders {
    pub(crate) fn of(dataset: &Dataset, derived: &Derived) -> Self {
        let names: Vec<String> = dataset.people.iter().map(|person| fold(&person.name)).collect();
        let (firms, startups, rounds, people, reviews, sectors) = (
            |row: usize| dataset.firms[row].slug.as_str(),
            |row: usize| dataset.startups[row].slug.as_str(),
            |row: usize| dataset.rounds[row].id.as_str(),
            |row: usize| (names[row].as_str(), dataset.people[row].slug.as_str()),
            |row: usize| dataset.reviews[row].id.as_str(),
            |row: usize| dataset.sectors[row].slug.as_str(),
        );
        let firm_key = |row: usize| {
            let value = derived.assessments[row].score.value;
            (Reverse(value), Reverse(derived.firms[row].investment_count), sort_prefix(firms(row)))
        };
        let startup_key = |row: usize| {
            let stats = &derived.startups[row];
            (Reverse(stats.total_raised_usd), Reverse(stats.round_count), sort_prefix(startups(row)))
        };
        let round_key = |row: usize| (Reverse(dataset.rounds[row].announced_on), sort_prefix(rounds(row)));
        let review_key = |row: usize| {
            (is_rejected(dataset, row), Reverse(dataset.reviews[row].created_on), sort_prefix(reviews(row)))
        };
        let sector_key = |row: usize| Reverse(derived.sectors[row].vc_count);
        let mut review_order = Permutation::by(dataset.reviews.len(), review_key, |a, b| reviews(a).cmp(reviews(b)));
        review_order.old.retain(|row| !is_rejected(dataset, *row as usize));
        Self {
            firms: Permutation::by(dataset.firms.len(), firm_key, |a, b| firms(a).cmp(firms(b))),
            startups: Permutation::by(dataset.startups.len(), startup_key, |a, b| startups(a).cmp(startups(b))),
            rounds: Permutation::by(dataset.rounds.len(), round_key, |a, b| rounds(a).cmp(rounds(b))),
            people: Permutation::by(names.len(), |row| sort_prefix(people(row).0), |a, b| people(a).cmp(&people(b))),
            reviews: review_order,
            sectors: Permutation::by(dataset.sectors.len(), sector_key, |a, b| sectors(a).cmp(sectors(b))),
        }
    }

    pub(crate) fn of_table(&self, table: Table) -> &Permutation {
        match table {
            Table::Firms => &self.firms,
            Table::Startups => &self.startups,
            Table::Rounds => &self.rounds,
            Table::People => &self.people,
            Table::Reviews => &self.reviews,
            Table::Sectors => &self.sectors,
        }
    }
}

fn is_rejected(dataset: &Dataset, review: usize) -> bool {
    dataset.reviews[review].status == ReviewStatus::Rejected
}
