//! Briefs of founders, made from rounds that the catalog does not know.

use std::collections::BTreeSet;

use catalog::{Catalog, MatchQuery, ParseOptions, Request, Resource};
use data::{Date, PartialDate};

use crate::history::Round;

/// Stages of rounds for which founders look for firms.
const STAGES: [&str; 4] = ["pre-seed", "seed", "series-a", "series-b"];

pub struct Brief {
    pub stage: String,
    pub sectors: Vec<String>,
    pub country: String,
    pub city: String,
    pub raise_usd: u64,
    /// Slugs of the firms that joined the round and had joined an earlier one.
    pub investors: BTreeSet<String>,
}

impl Brief {
    /// The brief of a round; `None` if too little is known of it, or no earlier investor joined it.
    pub fn of(round: &Round, is_known: impl Fn(&str) -> bool) -> Option<Self> {
        let is_described =
            STAGES.contains(&round.stage.as_str()) && !round.sectors.is_empty() && !round.country.is_empty();
        let investors: BTreeSet<String> = round.investors.iter().filter(|firm| is_known(firm)).cloned().collect();
        (is_described && !investors.is_empty()).then_some(Self {
            stage: round.stage.clone(),
            sectors: round.sectors.clone(),
            country: round.country.clone(),
            city: round.city.clone(),
            raise_usd: round.amount_usd.filter(|usd| *usd > 0)?,
            investors,
        })
    }

    pub fn query(&self, catalog: &Catalog) -> MatchQuery {
        let values = [
            ("stage", self.stage.clone()),
            ("sector", self.sectors.join(",")),
            ("country", self.country.clone()),
            ("city", self.city.clone()),
            ("raise_usd", self.raise_usd.to_string()),
        ];
        let values: Vec<(String, String)> = values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let options = ParseOptions { strict: false, review_statuses: &[], other_names: &[] };
        match catalog.parse(Resource::Match, &values, options).expect("values of a dataset").request {
            Request::Match(query) => query,
            request => panic!("{values:?} is read as {request:?}"),
        }
    }
}

/// The rounds from one day until before another.
pub fn between(rounds: &[Round], from: Date, until: Date) -> impl Iterator<Item = &Round> {
    let is_within = move |date: PartialDate| date.first_day() >= from && date.last_day() < until;
    rounds.iter().filter(move |round| round.date.is_some_and(is_within))
}
