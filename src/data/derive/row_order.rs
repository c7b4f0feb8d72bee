//! The default order of each table. Rejected and disputed reviews are left out.

use std::cmp::Reverse;
use std::ops::Index;

use crate::Table;
use crate::derive::Derived;
use crate::derive::record::reference;
use crate::derive::sort_order::{Permutation, sort_prefix};
use crate::fold::fold;
use crate::import::Dataset;
use crate::parallel::in_parallel;

pub(crate) struct RowOrders([Permutation; 6]);

impl RowOrders {
    pub(crate) fn compute(dataset: &Dataset, derived: &Derived) -> Self {
        Self(in_parallel(Table::ALL, |table| {
            let slug = |row: usize| reference(dataset, table, row as u32).slug;
            match table {
                Table::Firms => {
                    let investments = |row: usize| derived.firms[row].investment_count;
                    let key = |row: usize| (Reverse(derived.assessments[row].score.value), Reverse(investments(row)));
                    Permutation::by_key(dataset.firms.len(), key, slug)
                }
                Table::Startups => {
                    let stats = |row: usize| &derived.startups[row];
                    let key = |row: usize| (Reverse(stats(row).total_raised_usd), Reverse(stats(row).round_count));
                    Permutation::by_key(dataset.startups.len(), key, slug)
                }
                Table::Rounds => {
                    let key = |row: usize| Reverse(dataset.rounds[row].announced_on);
                    Permutation::by_key(dataset.rounds.len(), key, slug)
                }
                Table::People => {
                    let names: Vec<String> = dataset.people.iter().map(|person| fold(&person.name)).collect();
                    let name = |row: usize| (names[row].as_str(), slug(row));
                    Permutation::by(names.len(), |row| sort_prefix(name(row).0), |a, b| name(a).cmp(&name(b)))
                }
                Table::Reviews => {
                    let is_unlisted = |row: usize| dataset.reviews[row].listed_status().is_none();
                    let key = |row: usize| (is_unlisted(row), Reverse(dataset.reviews[row].published_on()));
                    let mut order = Permutation::by_key(dataset.reviews.len(), key, slug);
                    order.old.retain(|row| !is_unlisted(*row as usize));
                    order
                }
                Table::Sectors => {
                    let key = |row: usize| Reverse(derived.sectors[row].vc_count);
                    Permutation::by_key(dataset.sectors.len(), key, slug)
                }
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
