//! Tables of funding rounds.

use crate::PageResult;
use crate::lists::amount_cell;
use crate::record_table::{RecordTable, TableCell, TableConfig, TableRow};
use crate::records::{records, sector_cell};
use catalog::Catalog;
use data::Table;
use data::model::FundingRound;
use view::columns::{number, words};
use view::format;

/// Investors named in a row, at most.
const MAX_INVESTORS: usize = 3;

pub(crate) const ROUNDS_TABLE: TableConfig = TableConfig {
    label: "Funding rounds",
    name: "Startup",
    columns: &[
        words("sectors", "Sectors", 6),
        words("country", "Country", 5),
        words("stage", "Stage", 3),
        number("amount_usd", "Amount", "-amount_usd", 1),
        number("announced_on", "Date", "-announced_on", 2),
        words("investors", "Investors", 4),
    ],
    pick: "",
};
static OF_NEWEST: TableConfig = ROUNDS_TABLE;

/// A table of rounds below charts, which is not a list of its own.
pub(crate) fn table_of(catalog: &Catalog, rounds: &[u32]) -> PageResult<RecordTable> {
    Ok(RecordTable::new(&OF_NEWEST, rows(catalog, rounds)?))
}

pub(crate) fn rows(catalog: &Catalog, rounds: &[u32]) -> PageResult<Vec<TableRow>> {
    let rounds: Vec<FundingRound> = records(catalog, Table::Rounds, rounds)?;
    Ok(rounds.into_iter().map(|round| row(catalog, round)).collect())
}

fn row(catalog: &Catalog, round: FundingRound) -> TableRow {
    let investors = round.investors.iter().take(MAX_INVESTORS).map(|firm| {
        let mark = if round.led_by(&firm.slug) { "led" } else { "" };
        (firm.name.clone(), Some(format!("/vcs/{}", firm.slug)), mark)
    });
    let country = round
        .country
        .as_ref()
        .map(|code| (format::country(code).to_owned(), Some(format!("/countries/{}", code.to_lowercase())), ""));
    let amount = amount_cell(round.amount_usd);
    TableRow {
        about: String::new(),
        remark: Vec::new(),
        cells: vec![
            sector_cell(catalog, &round.sectors),
            TableCell::names(country, 1),
            TableCell::text(round.stage.as_deref().map(format::word).unwrap_or_default()),
            if round.suspect { amount.marked("suspect") } else { amount },
            TableCell::day(round.announced_on),
            TableCell::names(investors, round.investors.len()),
        ],
        href: format!("/startups/{}", round.startup.slug),
        slug: round.id,
        name: round.startup.name,
    }
}
