//! A startup's profile.

use askama::Template;

use crate::catalog::{Catalog, Clause, Place, Query};
use crate::dataset::{Facet, Table};
use crate::web::frame::Frame;
use crate::web::records::{self, FundingRound, Person, Startup};

use super::failure::Failure;
use super::{Visit, words};

/// Rounds and people that a profile shows.
const ROUNDS: usize = 40;
const PEOPLE: usize = 25;

#[derive(Template)]
#[template(path = "startup.html")]
struct StartupPage {
    frame: Frame,
    startup: Startup,
    sectors: Vec<(String, String)>,
    rounds: Vec<FundingRound>,
    people: Vec<Person>,
    people_count: u64,
    api: String,
}

/// `/startups/{slug}`: a startup.
pub(super) fn page(catalog: &Catalog, visit: Visit<'_>, row: u32) -> Result<String, Failure> {
    let snapshot = catalog.snapshot();
    let startup: Startup = records::read(catalog, Table::Startups, row).ok_or(Failure::Broken)?;
    let list = |table: Table, clause: Clause, most: usize| {
        catalog.list(&Query { clauses: vec![clause], ..Query::all(table) }, Place::default(), most)
    };
    let rounds = list(Table::Rounds, Clause::AnyOf(Facet::Startup, vec![row]), ROUNDS);
    let people = list(Table::People, Clause::MemberOf { firms: Vec::new(), startups: vec![row] }, PEOPLE);
    let sector = |slug: &String| {
        let row = snapshot.find(Table::Sectors, slug)?;
        Some((snapshot.name(Table::Sectors, row).to_owned(), format!("/startups?sector={slug}")))
    };
    let page = StartupPage {
        frame: Frame::of(snapshot, &startup.name, &about(&startup), &format!("/startups/{}", startup.slug)),
        sectors: startup.sectors.iter().filter_map(sector).collect(),
        rounds: rounds.rows.iter().filter_map(|row| records::read(catalog, Table::Rounds, *row)).collect(),
        people: people.rows.iter().filter_map(|row| records::read(catalog, Table::People, *row)).collect(),
        people_count: people.total,
        api: format!("{}/api/v3/startups/{}", visit.state.public_url, startup.slug),
        startup,
    };
    Ok(page.render()?)
}

/// What a search engine is told of a startup.
fn about(startup: &Startup) -> String {
    let place = words::place(&startup.city, &startup.country);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let raised = startup.total_raised_usd.map_or_else(String::new, |usd| format!("{} raised in ", words::usd(usd)));
    let rounds = words::counted(startup.round_count, "round", "rounds");
    let investors = words::counted(startup.investors.len(), "investor", "investors");
    format!("{}, a startup{place}: {raised}{rounds} from {investors}.", startup.name)
}
