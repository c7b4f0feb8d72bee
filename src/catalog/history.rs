//! A summary of a firm's investments by year, stage and sector.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use data::{Facet, PartialDate, Stage, Table};

use crate::Catalog;

/// Number of rounds by stage, at [`Stage::place`].
pub type StageCounts = [u32; Stage::PLACES];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Number of rounds joined per year (`None`: date unknown), by stage, see [`Stage::place`].
    pub rounds: BTreeMap<Option<i32>, StageCounts>,
    /// Sectors with their number of startups in the portfolio, most frequent first; a startup counts for each.
    pub sectors: Vec<(u32, u32)>,
    /// Startups, latest investment first, each with the last round that the firm joined.
    pub portfolio: Vec<(u32, u32)>,
}

impl Catalog {
    /// The cost grows with the firm's own rounds, not with the table.
    pub fn history(&self, firm: u32) -> History {
        let snapshot = self.snapshot();
        let mut seen = BTreeSet::new();
        let mut history = History::default();
        for round in snapshot.facet_rows(Table::Rounds, Facet::Investor, firm).iter() {
            let year = snapshot.round_date(round).map(PartialDate::year);
            history.rounds.entry(year).or_default()[Stage::place(snapshot.round_stage(round))] += 1;
            let startup = snapshot.round_startup(round);
            history.portfolio.extend(seen.insert(startup).then_some((startup, round)));
        }
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let field = Table::Startups.field_index("sectors");
        for (startup, _) in &history.portfolio {
            let record = snapshot.record(Table::Startups, *startup);
            let value = record.value(field);
            for slug in serde_json::from_slice::<Vec<&str>>(&value).expect("`sectors` is a list of slugs") {
                match counts.get_mut(slug) {
                    Some(count) => *count += 1,
                    None => drop(counts.insert(slug.to_owned(), 1)),
                }
            }
        }
        let found = counts.into_iter().filter_map(|(slug, count)| Some((snapshot.find(Table::Sectors, &slug)?, count)));
        history.sectors = found.collect();
        // Ties keep the slug order.
        history.sectors.sort_by_key(|(_, count)| Reverse(*count));
        history
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_history_counts_what_the_records_say() {
        let catalog = crate::bundled().unwrap();
        let snapshot = catalog.snapshot();
        for firm in 0..snapshot.rows(Table::Firms) {
            let history = catalog.history(firm);
            let field = |name: &str| {
                let index = Table::Firms.field_index(name);
                snapshot.record(Table::Firms, firm).parse::<u32>(index).unwrap()
            };
            assert_eq!(history.rounds.values().flatten().sum::<u32>(), field("investment_count"));
            assert_eq!(history.portfolio.len() as u32, field("portfolio_count"));
            assert!(history.sectors.windows(2).all(|pair| pair[0].1 >= pair[1].1));
            let startups: HashSet<u32> = history.portfolio.iter().map(|(startup, _)| *startup).collect();
            assert_eq!(startups.len(), history.portfolio.len());
        }
    }
}
