//! Positions of the columns that every table has: records, slugs, names, sort orders, facets.

use crate::archive::facet_column::FacetColumn;
use crate::archive::{Archive, NumberColumn, TextColumn};
use crate::vocabulary::Vocabulary;
use crate::{
    ArchiveError, Country, Facet, FirmKind, NONE_U32, OrganizationKind, ReviewStatus, Role, Stage, StartupStatus, Table,
};

pub(crate) struct TableColumns {
    pub rows: u32,
    /// Start of each row's record in the records, and end of the last.
    pub starts: NumberColumn<u64>,
    pub known: NumberColumn<u32>,
    pub slugs: TextColumn,
    pub by_slug: NumberColumn<u32>,
    pub slug_rank: NumberColumn<u32>,
    pub names: Option<NameColumns>,
    pub orders: Vec<OrderColumns>,
    pub facets: Vec<(Facet, FacetColumn)>,
    /// The statements about each row; `None` if the table has none.
    pub statements: Option<TextColumn>,
    /// Slugs of merged records, ascending, and the rows that replace them.
    pub merged: (TextColumn, NumberColumn<u32>),
    /// Slugs of records that are gone, ascending, and their last names; `None` if the table has none.
    pub gone: Option<(TextColumn, TextColumn)>,
}

pub(crate) struct NameColumns {
    pub names: TextColumn,
    pub aliases: TextColumn,
    pub prominence: NumberColumn<u32>,
    /// The main record of each near-duplicate; [`NONE_U32`] for other rows.
    pub main: NumberColumn<u32>,
}

pub(crate) struct OrderColumns {
    pub ascending: NumberColumn<u32>,
    pub descending: NumberColumn<u32>,
    pub ranks: NumberColumn<u32>,
    /// The distinct values, ascending; none for names.
    pub values: Option<NumberColumn<i64>>,
}

impl TableColumns {
    pub(crate) fn open(archive: &Archive, table: Table, rows: u32, counts: &[u32; 6]) -> Result<Self, ArchiveError> {
        let name = table.name();
        let n = rows as usize;
        let names = match table {
            Table::Rounds | Table::Reviews => None,
            _ => Some(NameColumns {
                names: archive.texts(&format!("{name}/name"), n)?,
                aliases: archive.texts(&format!("{name}/aliases"), n)?,
                prominence: archive.column(&format!("{name}/prominence"), n)?,
                main: archive.column(&format!("{name}/main"), n)?,
            }),
        };
        let orders = table.sort_keys().iter().map(|sort_key| -> Result<_, ArchiveError> {
            let key = format!("{name}/sort/{sort_key}");
            let column = |sign: char| archive.column::<u32>(&format!("{key}{sign}"), n);
            let (ascending, descending, ranks) = (column('+')?, column('-')?, column('=')?);
            let values = (*sort_key != "name").then(|| archive.open_column(&format!("{key}#"))).transpose()?;
            Ok(OrderColumns { ascending, descending, ranks, values })
        });
        let facets = table.facets().iter().map(|facet| -> Result<_, ArchiveError> {
            let values = match facet {
                Facet::Stage => Stage::ALL.len(),
                Facet::Sector | Facet::Parent => counts[Table::Sectors as usize] as usize,
                Facet::Country => Country::all().count(),
                Facet::City | Facet::Title | Facet::Website | Facet::Identifier => {
                    archive.open_texts(&format!("{facet}/terms"))?.rows() as usize
                }
                Facet::Role => Role::ALL.len(),
                Facet::Kind if table == Table::People => OrganizationKind::ALL.len(),
                Facet::Kind => FirmKind::ALL.len(),
                Facet::Status if table == Table::Reviews => ReviewStatus::ALL.len(),
                Facet::Status => StartupStatus::ALL.len(),
                Facet::Investor | Facet::Lead | Facet::Firm => counts[Table::Firms as usize] as usize,
                Facet::Startup => counts[Table::Startups as usize] as usize,
                Facet::Ghosted => 2,
                Facet::Rating => 6,
            };
            Ok((*facet, FacetColumn::open(archive, &format!("{name}/{facet}"), values, rows)?))
        });
        let statements = format!("{name}/statements");
        let covered = archive.open_column::<u64>(&format!("{statements}#"))?.length > 1;
        let statements = covered.then(|| archive.texts(&statements, n)).transpose()?;
        let targets = archive.open_column::<u32>(&format!("{name}/merged="))?;
        let merged = (archive.texts(&format!("{name}/merged"), targets.length)?, targets);
        let gone = format!("{name}/gone");
        let gone = archive.has(&gone).then(|| {
            let slugs = archive.open_texts(&gone)?;
            let names = archive.texts(&format!("{gone}_names"), slugs.rows() as usize)?;
            Ok::<_, ArchiveError>((slugs, names))
        });
        Ok(Self {
            rows,
            starts: archive.column(&format!("{name}/starts"), n + 1)?,
            known: archive.column(&format!("{name}/known"), table.fields().len())?,
            slugs: archive.texts(&format!("{name}/slug"), n)?,
            by_slug: archive.column(&format!("{name}/by_slug"), n)?,
            slug_rank: archive.column(&format!("{name}/slug_rank"), n)?,
            names,
            orders: orders.collect::<Result<_, _>>()?,
            facets: facets.collect::<Result<_, _>>()?,
            statements,
            merged,
            gone: gone.transpose()?,
        })
    }

    pub(crate) fn check(&self, archive: &Archive, table: Table) -> Result<(), ArchiveError> {
        let name = table.name();
        let n = self.rows as usize;
        if let Some(NameColumns { names, aliases, main, .. }) = &self.names {
            archive.check_texts(names)?;
            archive.check_texts(aliases)?;
            let is_valid = |main: &u32| *main == NONE_U32 || *main < self.rows;
            check(archive.get(main).iter().all(is_valid), &format!("{name}/main"))?;
        }
        for (sort_key, OrderColumns { ascending, descending, ranks, values }) in
            table.sort_keys().iter().zip(&self.orders)
        {
            let key = format!("{name}/sort/{sort_key}");
            archive.check_rows(ascending, n, &key)?;
            archive.check_rows(descending, n, &key)?;
            // The value of a row is at its rank.
            let distinct = values.as_ref().map_or(n, |values| values.length);
            let is_rank = |rank: &u32| *rank == NONE_U32 || (*rank as usize) < distinct;
            check(archive.get(ranks).iter().all(is_rank), &key)?;
        }
        for (facet, column) in &self.facets {
            column.check(archive, &format!("{name}/{facet}"), self.rows)?;
        }
        self.statements.iter().try_for_each(|statements| archive.check_texts(statements))?;
        let (merged, targets) = &self.merged;
        archive.check_texts(merged)?;
        archive.check_rows(targets, n, &format!("{name}/merged="))?;
        let gone = self.gone.iter().flat_map(|(slugs, names)| [slugs, names]);
        gone.into_iter().try_for_each(|texts| archive.check_texts(texts))?;
        archive.check_texts(&self.slugs)?;
        archive.check_rows(&self.by_slug, n, &format!("{name}/by_slug"))?;
        archive.check_rows(&self.slug_rank, n, &format!("{name}/slug_rank"))?;
        check(archive.get(&self.starts).is_sorted(), &format!("{name}/starts"))
    }
}

pub(crate) fn check(is_valid: bool, name: &str) -> Result<(), ArchiveError> {
    if is_valid { Ok(()) } else { Err(ArchiveError::Damaged(format!("section {name} has invalid values"))) }
}
