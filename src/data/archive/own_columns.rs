//! Positions of the columns that only firms or only funding rounds have.

use crate::archive::table_columns::check;
use crate::archive::{Archive, NumberColumn, are_offsets};
use crate::vocabulary::Vocabulary;
use crate::{ArchiveError, Country, Metric, NONE_U8, NONE_U16, Stage, Table};

pub(crate) struct FirmNumberColumns {
    pub health_score: NumberColumn<u8>,
    pub ghosting_rate: NumberColumn<u16>,
    pub check_min_usd: NumberColumn<u64>,
    pub check_max_usd: NumberColumn<u64>,
    pub last_investment_on: NumberColumn<i32>,
    pub country: NumberColumn<u16>,
    pub leaderboards: Vec<(NumberColumn<u32>, NumberColumn<i32>)>,
}

pub(crate) struct RoundColumns {
    pub amount_usd: NumberColumn<u64>,
    pub announced_on: NumberColumn<i32>,
    pub startup: NumberColumn<u32>,
    pub stage: NumberColumn<u8>,
    pub investors: NumberColumn<u32>,
    pub investor_starts: NumberColumn<u64>,
}

impl FirmNumberColumns {
    pub(crate) fn open(archive: &Archive, rows: usize) -> Result<Self, ArchiveError> {
        let leaderboards = Metric::ALL.iter().map(|metric| -> Result<_, ArchiveError> {
            let name = format!("firms/leaderboard/{metric}");
            let ranked: NumberColumn<u32> = archive.open_column(&name)?;
            let values = archive.column(&format!("{name}="), ranked.length)?;
            Ok((ranked, values))
        });
        Ok(Self {
            leaderboards: leaderboards.collect::<Result<_, _>>()?,
            health_score: archive.column("firms/health_score", rows)?,
            ghosting_rate: archive.column("firms/ghosting_rate", rows)?,
            check_min_usd: archive.column("firms/check_min_usd", rows)?,
            check_max_usd: archive.column("firms/check_max_usd", rows)?,
            last_investment_on: archive.column("firms/last_investment_on", rows)?,
            country: archive.column("firms/country", rows)?,
        })
    }

    pub(crate) fn check(&self, archive: &Archive) -> Result<(), ArchiveError> {
        for (metric, (ranked, _)) in Metric::ALL.iter().zip(&self.leaderboards) {
            archive.check_rows(ranked, self.country.length, &format!("firms/leaderboard/{metric}"))?;
        }
        let countries = Country::all().count();
        let is_known = |country: &u16| *country == NONE_U16 || usize::from(*country) < countries;
        check(archive.get(&self.country).iter().all(is_known), "firms/country")
    }
}

impl RoundColumns {
    pub(crate) fn open(archive: &Archive, rows: usize) -> Result<Self, ArchiveError> {
        Ok(Self {
            amount_usd: archive.column("funding_rounds/amount_usd", rows)?,
            announced_on: archive.column("funding_rounds/announced_on", rows)?,
            startup: archive.column("funding_rounds/startup", rows)?,
            stage: archive.column("funding_rounds/stage", rows)?,
            investors: archive.open_column("funding_rounds/investors")?,
            investor_starts: archive.column("funding_rounds/investors#", rows + 1)?,
        })
    }

    pub(crate) fn check(&self, archive: &Archive, counts: &[u32; 6]) -> Result<(), ArchiveError> {
        archive.check_rows(&self.startup, counts[Table::Startups as usize] as usize, "funding_rounds/startup")?;
        let is_stage = |stage: &u8| *stage == NONE_U8 || usize::from(*stage) < Stage::ALL.len();
        check(archive.get(&self.stage).iter().all(is_stage), "funding_rounds/stage")?;
        let investors = archive.get(&self.investors);
        let is_firm = |packed: &u32| packed >> 1 < counts[Table::Firms as usize];
        check(investors.iter().all(is_firm), "funding_rounds/investors")?;
        let starts = archive.get(&self.investor_starts);
        check(are_offsets(starts, investors.len()), "funding_rounds/investors#")
    }
}
