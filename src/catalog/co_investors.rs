//! Firms that joined rounds together.

use std::cmp::Reverse;
use std::collections::HashMap;

use data::snapshot::known_date;
use data::{Facet, NONE_I32, Table};

use crate::json::computed::CoInvestorFields;
use crate::row_filter::distinct;
use crate::{Catalog, ListPosition, Page};

impl Catalog {
    /// The firms that joined a round of a startup, ascending.
    pub fn investors_of(&self, startup: u32) -> Vec<u32> {
        let snapshot = self.snapshot();
        let rounds = snapshot.facet_rows(Table::Rounds, Facet::Startup, startup).iter();
        distinct(rounds.flat_map(|round| snapshot.round_investors(round).map(|(firm, _)| firm)))
    }

    /// The firms that joined rounds with `firm`, by shared rounds, then slug. The cost grows with its own rounds.
    pub fn co_investors(&self, firm: u32, position: ListPosition, limit: usize) -> Page<(u32, CoInvestorFields)> {
        let snapshot = self.snapshot();
        let dates = snapshot.round_dates();
        let mut shared: HashMap<u32, (u32, i32)> = HashMap::new();
        for round in snapshot.facet_rows(Table::Rounds, Facet::Investor, firm).iter() {
            let date = dates[round as usize];
            for (other, _) in snapshot.round_investors(round).filter(|(other, _)| *other != firm) {
                let (rounds, last) = shared.entry(other).or_insert((0, NONE_I32));
                *rounds += 1;
                *last = date.max(*last);
            }
        }
        let slugs = snapshot.slug_ranks(Table::Firms);
        let fields = |(shared_rounds, day)| CoInvestorFields { shared_rounds, last_shared_on: known_date(day) };
        let mut firms: Vec<_> = shared.into_iter().map(|(row, shared)| (row, fields(shared))).collect();
        firms.sort_unstable_by_key(|(row, shared)| (Reverse(shared.shared_rounds), slugs[*row as usize]));
        position.page_of(firms, limit)
    }
}
