//! Probable duplicates among the records of the served release, for review.

use askama::Template;

use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::browse::{PER_PAGE, Pager, read_page};
use crate::error_page::{PageError, path_of};
use crate::layout::PageLayout;
use crate::records::record;
use catalog::Catalog;
use data::model::{Firm, Person, Startup};
use data::{Names, Table};
use view::format;
use view::link::Link;

/// Tables with detection of near-duplicates, and their headings.
const TABLES: [(Table, &str); 3] = [(Table::Firms, "Firms"), (Table::Startups, "Startups"), (Table::People, "People")];

#[derive(Template)]
#[template(path = "admin_duplicates.html")]
struct DuplicatesPage {
    layout: PageLayout,
    /// Label, number of pairs, path; true for the table shown.
    tables: Vec<(&'static str, usize, String, bool)>,
    pairs: Vec<DuplicatePair>,
    pager: Pager,
}

/// A record and the more prominent record that it probably duplicates.
struct DuplicatePair {
    record: DuplicateRecord,
    main: DuplicateRecord,
    /// Path of the comparison; `None` for people, who cannot be compared.
    compare: Option<String>,
}

struct DuplicateRecord {
    name: String,
    href: String,
    /// Facts that tell records of the same name apart.
    facts: String,
}

impl DuplicateRecord {
    fn new(catalog: &Catalog, table: Table, row: u32) -> Result<Self, PageError> {
        let (name, facts) = match table {
            Table::Firms => {
                let firm: Firm = record(catalog, table, row)?;
                let rounds = format::counted(firm.investment_count, "round", "rounds");
                (firm.name, [format::place(&firm.city, &firm.country), firm.website.unwrap_or_default(), rounds])
            }
            Table::Startups => {
                let startup: Startup = record(catalog, table, row)?;
                let rounds = format::counted(startup.round_count, "round", "rounds");
                (
                    startup.name,
                    [format::place(&startup.city, &startup.country), startup.website.unwrap_or_default(), rounds],
                )
            }
            _ => {
                let person: Person = record(catalog, table, row)?;
                (person.name, [person.title.unwrap_or_default(), person.organization.name, String::new()])
            }
        };
        let known: Vec<&str> = facts.iter().map(String::as_str).filter(|fact| !fact.is_empty()).collect();
        Ok(Self { name, href: path_of(table, catalog.snapshot().slug(table, row)), facts: known.join(" · ") })
    }
}

/// Pairs of main record and near-duplicate, sorted.
fn pairs_of(catalog: &Catalog, table: Table) -> Vec<(u32, u32)> {
    let names = catalog.snapshot().names(table);
    let rows = 0..catalog.snapshot().rows(table);
    let mut pairs: Vec<(u32, u32)> = rows.filter_map(|row| Some((names.main_of(row)?, row))).collect();
    pairs.sort_unstable();
    pairs
}

pub(super) fn count(catalog: &Catalog) -> usize {
    TABLES.iter().map(|(table, _)| pairs_of(catalog, *table).len()).sum()
}

/// `GET /admin/duplicates`: the pairs of one table.
pub(super) async fn page(request: AccountRequest<'_>) -> AccountResult {
    let catalog = request.page.state.releases.current();
    let (_, page) = read_page(request.page.query);
    let found = TABLES.map(|(table, label)| (table, label, pairs_of(&catalog, table)));
    let given = request.page.parameter("table");
    // Without a valid table, the first one with pairs.
    let shown = found
        .iter()
        .find(|(table, ..)| Some(table.name()) == given.as_deref())
        .or_else(|| found.iter().find(|(.., pairs)| !pairs.is_empty()))
        .unwrap_or(&found[0]);
    let (table, _, pairs) = shown;
    let link = |table: Table| Link::new("/admin/duplicates", Vec::new()).with("table", table.name());
    let start = usize::try_from((page - 1).saturating_mul(PER_PAGE)).unwrap_or(usize::MAX);
    let of_page = pairs.iter().skip(start).take(PER_PAGE as usize).map(|(main, row)| {
        let slugs = [*main, *row].map(|row| catalog.snapshot().slug(*table, row));
        let compare = Link::new("/compare", Vec::new()).with(table.noun(), &slugs.join(",")).href();
        Ok(DuplicatePair {
            record: DuplicateRecord::new(&catalog, *table, *row)?,
            main: DuplicateRecord::new(&catalog, *table, *main)?,
            compare: (*table != Table::People).then_some(compare),
        })
    });
    AccountReply::shown(&DuplicatesPage {
        layout: request.layout("Likely duplicates", "Records that are probably one and the same."),
        pairs: of_page.collect::<Result<_, PageError>>()?,
        tables: found
            .iter()
            .map(|(other, label, pairs)| (*label, pairs.len(), link(*other).href(), other == table))
            .collect(),
        pager: Pager::new(&link(*table), page, pairs.len() as u64),
    })
}
