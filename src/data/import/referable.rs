//! The records that the optional files of a dataset refer to, by kind and slug.

use crate::Table;
use crate::import::csv_row::CsvRow;
use crate::import::csv_table::CsvTable;
use crate::import::diagnostics::quoted;
use crate::import::rows::{DatasetFirm, DatasetPerson, DatasetRound, DatasetStartup};

/// The tables with aliases and identifiers.
pub const TABLES: [Table; 3] = [Table::Firms, Table::Startups, Table::People];

/// The same and rounds, with ids for slugs.
pub(crate) const TABLES_WITH_ROUNDS: [Table; 4] = [Table::Firms, Table::Startups, Table::Rounds, Table::People];

/// The table in the column `kind`, one of `tables`; reports another value.
pub(crate) fn kind(row: &mut CsvRow<'_, '_>, tables: &[Table]) -> Option<Table> {
    let kind_of = |table: &Table| if *table == Table::Rounds { "round" } else { table.noun() };
    row.required("kind", |row, column| {
        let text = row.field(column).to_lowercase();
        let table = tables.iter().find(|table| kind_of(table) == text).copied();
        if table.is_none() {
            let kinds: Vec<&str> = tables.iter().map(kind_of).collect();
            row.error(column, format!("{} is not one of {}", quoted(&text), kinds.join(", ")));
        }
        table
    })
}

pub(crate) struct Referable<'a> {
    pub firms: &'a CsvTable<DatasetFirm>,
    pub startups: &'a CsvTable<DatasetStartup>,
    pub people: &'a CsvTable<DatasetPerson>,
    pub rounds: &'a CsvTable<DatasetRound>,
}

impl Referable<'_> {
    /// Finds the record by the columns `kind` and `slug`; reports an unknown one.
    pub(crate) fn reference(&self, row: &mut CsvRow<'_, '_>) -> Option<(Table, u32)> {
        let table = kind(row, &TABLES)?;
        Some((table, self.row(row, table, "slug")?))
    }

    /// Finds a record of any of [`TABLES_WITH_ROUNDS`] by the slug in a column; reports an unknown one.
    pub(crate) fn row(&self, row: &mut CsvRow<'_, '_>, table: Table, column: &'static str) -> Option<u32> {
        match table {
            Table::Firms => self.firms.reference(row, column),
            Table::Startups => self.startups.reference(row, column),
            Table::Rounds => self.rounds.reference(row, column),
            _ => self.people.reference(row, column),
        }
    }

    pub(crate) fn find(&self, table: Table, slug: &str) -> Option<u32> {
        match table {
            Table::Firms => self.firms.find(slug),
            Table::Startups => self.startups.find(slug),
            Table::Rounds => self.rounds.find(slug),
            _ => self.people.find(slug),
        }
    }

    /// Name and aliases of a record; `None` for one that has a slug but could not be used.
    pub(crate) fn names(&self, table: Table, row: u32) -> Option<(&str, &[String])> {
        let row = row as usize;
        let (name, aliases) = match table {
            Table::Firms => self.firms.rows.get(row).map(|firm| (&firm.name, &firm.aliases)),
            Table::Startups => self.startups.rows.get(row).map(|startup| (&startup.name, &startup.aliases)),
            _ => self.people.rows.get(row).map(|person| (&person.name, &person.aliases)),
        }?;
        Some((name.as_str(), aliases.as_slice()))
    }
}
