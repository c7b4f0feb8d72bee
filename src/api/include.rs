//! `include` on single records (v3): the first rows of related lists, each with its total.
//!
//! The rows are those of the first page of the list of the same name: with its default fields, order and limit.

use std::cell::OnceCell;

use serde::Serialize;

use catalog::json::computed::CoInvestorFields;
use catalog::json::fields::{Fields, snake_case};
use catalog::param_error::shortened;
use catalog::provenance::ProvenanceStatement;
use catalog::{Catalog, Filter, ListPosition, ParameterError, Query, RelatedRoles, Request, Resource, WantedPage};
use data::field::{Definition, Model};
use data::import::provenance::Source;
use data::model::{RelatedRole, YearScore};
use data::vocabulary::{Vocabulary, vocabulary};
use data::{Facet, Table};
use search::nearest;

use crate::envelope::append;
use crate::window::DEFAULT_LIMIT;

pub(crate) const INCLUDE: &str = "include";
const WITH_SOURCES: [Table; 4] = [Table::Firms, Table::Startups, Table::Rounds, Table::People];
pub(crate) const INCLUDED_ROWS: usize = DEFAULT_LIMIT as usize;

vocabulary! {
    /// Something that is included in a single record.
    Include, "include", {
        Portfolio = "portfolio",
        Rounds = "rounds",
        People = "people",
        Reviews = "reviews",
        CoInvestors = "co_investors",
        ScoreByYear = "score_by_year",
        Investors = "investors",
        OtherRoles = "other_roles",
        ProbableSame = "probable_same",
        Sources = "sources",
        Provenance = "provenance",
    }
}

impl Include {
    /// The tables whose records can include it, and the type of its items.
    fn definition(self) -> (&'static [Table], &'static Definition) {
        match self {
            Self::Portfolio => (&[Table::Firms], Table::Startups.model()),
            Self::Rounds => (&[Table::Firms, Table::Startups], Table::Rounds.model()),
            Self::People => (&[Table::Firms, Table::Startups], Table::People.model()),
            Self::Reviews => (&[Table::Firms], Table::Reviews.model()),
            Self::CoInvestors => (&[Table::Firms], CoInvestorFields::DEFINITION),
            Self::ScoreByYear => (&[Table::Firms], YearScore::DEFINITION),
            Self::Investors => (&[Table::Startups], Table::Firms.model()),
            Self::OtherRoles | Self::ProbableSame => (&[Table::People], <RelatedRole>::DEFINITION),
            Self::Sources => (&WITH_SOURCES, Source::DEFINITION),
            Self::Provenance => (&WITH_SOURCES, ProvenanceStatement::DEFINITION),
        }
    }

    pub(crate) fn item(self) -> &'static Definition {
        self.definition().1
    }

    pub(crate) fn of_table(table: Table) -> Vec<Self> {
        Self::ALL.iter().copied().filter(|include| include.definition().0.contains(&table)).collect()
    }
}

/// Parses the lists to include in a record of a table, each once, in the order of [`Include::of_table`]. A person
/// includes the other roles unless the request selects something, because a role alone may mislead.
pub(crate) fn parse(values: &[(String, String)], table: Table) -> Result<Vec<Include>, Vec<ParameterError>> {
    let names = values.iter().filter(|(name, _)| name == INCLUDE).flat_map(|(_, value)| value.split(','));
    let names: Vec<&str> = names.map(str::trim).filter(|name| !name.is_empty()).collect();
    if names.is_empty() {
        let is_whole = table == Table::People && !values.iter().any(|(name, _)| name == "fields");
        return Ok(if is_whole { vec![Include::OtherRoles, Include::ProbableSame] } else { Vec::new() });
    }
    let accepted = Include::of_table(table);
    let mut included = Vec::new();
    let mut errors = Vec::new();
    for name in names {
        let normal = snake_case(name);
        match accepted.iter().find(|include| include.name() == normal) {
            Some(include) => included.push(*include),
            // Further errors are not reported.
            None if errors.len() >= Include::ALL.len() => {}
            None => errors.push(unknown(name, &normal, table, &accepted)),
        }
    }
    included.sort_unstable();
    included.dedup();
    if errors.is_empty() { Ok(included) } else { Err(errors) }
}

fn unknown(name: &str, normal: &str, table: Table, accepted: &[Include]) -> ParameterError {
    let accepted: Vec<&str> = accepted.iter().map(|include| include.name()).collect();
    let detail = format!("a {} cannot include `{}`", table.noun(), shortened(name));
    let near = nearest(normal, accepted.iter().copied()).map(str::to_owned);
    ParameterError::unknown_value(INCLUDE, detail, near, Some(accepted))
}

/// Appends `,"included":{…}` to a body, if anything is included.
pub(crate) fn append_to(body: &mut Vec<u8>, catalog: &Catalog, table: Table, row: u32, included: &[Include]) {
    let related = OnceCell::new();
    for (index, include) in included.iter().enumerate() {
        let opening = if index == 0 { ",\"included\":{" } else { "," };
        body.extend_from_slice(format!("{opening}\"{include}\":").as_bytes());
        write(body, catalog, table, row, *include, &related);
    }
    if !included.is_empty() {
        body.push(b'}');
    }
}

/// Writes one included list. `related` caches the roles of a person, which two of the lists are parts of.
fn write(
    out: &mut Vec<u8>,
    catalog: &Catalog,
    table: Table,
    row: u32,
    include: Include,
    related: &OnceCell<RelatedRoles>,
) {
    let related_roles = || related.get_or_init(|| catalog.related_roles(row));
    let facet = if table == Table::Startups { Facet::Startup } else { Facet::Firm };
    let with_filter = |table: Table, filter: Filter| Query { filters: vec![filter], ..Query::all(table) };
    let related = |table: Table, facet: Facet| with_filter(table, Filter::AnyOf(facet, vec![row]));
    let query = match include {
        Include::Portfolio => related(Table::Startups, Facet::Investor),
        Include::Rounds if table == Table::Firms => related(Table::Rounds, Facet::Investor),
        Include::Rounds => related(Table::Rounds, Facet::Startup),
        Include::People => related(Table::People, facet),
        Include::Reviews => Query::approved_reviews(row),
        Include::Investors => with_filter(Table::Firms, Filter::Rows(catalog.investors_of(row))),
        Include::CoInvestors => return write_list(out, catalog, Table::Firms, &Request::CoInvestors(row)),
        Include::ScoreByYear => return write_all(out, &catalog.score_by_year(row)),
        Include::OtherRoles => return write_all(out, &related_roles().other_roles),
        Include::ProbableSame => return write_all(out, &related_roles().probable_same),
        Include::Sources => return write_all(out, &catalog.sources_of(table, row)),
        Include::Provenance => return write_all(out, &catalog.provenance(table, row)),
    };
    write_list(out, catalog, query.table, &Request::List(query));
}

fn write_list(out: &mut Vec<u8>, catalog: &Catalog, table: Table, request: &Request) {
    let wanted = WantedPage::rows(Resource::of_table(table), request, ListPosition::default(), INCLUDED_ROWS);
    let found = catalog.answer(&wanted);
    out.extend_from_slice(format!("{{\"total\":{},\"data\":[", found.total).as_bytes());
    found.rows.write_all(out, catalog, table, &Fields::Default);
    out.extend_from_slice(b"]}");
}

/// Writes a short list as a whole.
fn write_all(out: &mut Vec<u8>, items: &[impl Serialize]) {
    out.extend_from_slice(format!("{{\"total\":{},\"data\":", items.len()).as_bytes());
    append(out, &items);
    out.push(b'}');
}
