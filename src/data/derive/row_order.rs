//! The default order of each table.

use std::cmp::Reverse;
use std::ops::Index;

use crate::derive::Derived;
use crate::derive::sort_order::{Permutation, sort_prefix};
use crate::fold::fold;
use crate::import::Dataset;
use crate::{ReviewStatus, Table};

/// The default order of each table. Rejected reviews are left out.
pub(crate) struct RowOrders([Permutation; 6]);

impl RowOrders {
    pub(crate) fn compute(dataset: &Dataset, derived: &Derived) -> Self {
        let names: Vec<String> = dataset.people.iter().map(|person| fold(&person.name)).collect();
        Self(Table::ALL.map(|table| match table {
            Table::Firms => {
                let slug = |row: usize| dataset.firms[row].slug.as_str();
                let key = |row: usize| {
                    let investments = derived.firms[row].investment_count;
                    (Reverse(derived.assessments[row].score.value), Reverse(investments), sort_prefix(slug(row)))
                };
                Permutation::by(dataset.firms.len(), key, |a, b| slug(a).cmp(slug(b)))
            }
            Table::Startups => {
                let slug = |row: usize| dataset.startups[row].slug.as_str();
                let key = |row: usize| {
                    let stats = &derived.startups[row];
                    (Reverse(stats.total_raised_usd), Reverse(stats.round_count), sort_prefix(slug(row)))
                };
                Permutation::by(dataset.startups.len(), key, |a, b| slug(a).cmp(slug(b)))
            }
            Table::Rounds => {
                let id = |row: usize| dataset.rounds[row].id.as_str();
                let key = |row: usize| (Reverse(dataset.rounds[row].announced_on), sort_prefix(id(row)));
                Permutation::by(dataset.rounds.len(), key, |a, b| id(a).cmp(id(b)))
            }
            Table::People => {
                let name = |row: usize| (names[row].as_str(), dataset.people[row].slug.as_str());
                Permutation::by(names.len(), |row| sort_prefix(name(row).0), |a, b| name(a).cmp(&name(b)))
            }
            Table::Reviews => {
                let id = |row: usize| dataset.reviews[row].id.as_str();
                let is_rejected = |row: usize| dataset.reviews[row].status == ReviewStatus::Rejected;
                let key =
                    |row: usize| (is_rejected(row), Reverse(dataset.reviews[row].published_on()), sort_prefix(id(row)));
                let mut order = Permutation::by(dataset.reviews.len(), key, |a, b| id(a).cmp(id(b)));
                order.old.retain(|row| !is_rejected(*row as usize));
                order
            }
            Table::Sectors => {
                let slug = |row: usize| dataset.sectors[row].slug.as_str();
                let key = |row: usize| Reverse(derived.sectors[row].vc_count);
                Permutation::by(dataset.sectors.len(), key, |a, b| slug(a).cmp(slug(b)))
            }
        }))
    }

    pub(crate) fn new_row(&self, table: Table, old: u32) -> u32 {
        self[table].new[old as usize]
    }
}

impl Index<Table> for RowOrders {
    type Output = Permutation;

    fn index(&self, table: Table) -> &Permutation {
        &self.0[table as usize]
    }
}
