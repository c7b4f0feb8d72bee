use askama::Template;

use crate::browse::{Browse, Heading};
use crate::lists::SECTORS;
use crate::records::{records, sector_links};
use crate::{PageResult, format};
use catalog::Catalog;
use data::Table;
use data::model::FundingRound;

/// A table of rounds, without columns that have no value.
#[derive(Template)]
#[template(path = "round_rows.html")]
pub(crate) struct RoundRows {
    /// Rounds, each with name and path of some sectors of the startup.
    rounds: Vec<(FundingRound, Vec<(String, String)>)>,
    shows_sectors: bool,
    shows_country: bool,
    headings: Option<[Heading; 2]>,
}

impl RoundRows {
    pub(crate) fn load(catalog: &Catalog, rows: &[u32]) -> PageResult<Self> {
        let rounds: Vec<FundingRound> = records(catalog, Table::Rounds, rows)?;
        let with_sectors = |round: FundingRound| {
            let sectors = sector_links(catalog, &round.sectors, "/sectors/").take(SECTORS).collect();
            (round, sectors)
        };
        let rounds: Vec<(FundingRound, Vec<_>)> = rounds.into_iter().map(with_sectors).collect();
        Ok(Self {
            shows_sectors: rounds.iter().any(|(_, sectors)| !sectors.is_empty()),
            shows_country: rounds.iter().any(|(round, _)| round.country.is_some()),
            rounds,
            headings: None,
        })
    }

    /// Adds headings that sort the list.
    pub(crate) fn sortable(self, list: &Browse) -> Self {
        let headings = [list.heading("Amount", "right", "-amount_usd"), list.heading("Date", "", "-announced_on")];
        Self { headings: Some(headings), ..self }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rounds.is_empty()
    }
}
