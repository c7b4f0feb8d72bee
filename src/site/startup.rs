//! A startup's profile.

use askama::Template;

use crate::catalog::{Catalog, Filter, ListPosition, Query};
use crate::data::{Facet, Table};
use crate::openapi::model;
use crate::openapi::model::{FundingRound, Person, Startup};
use crate::site::layout::PageLayout;

use crate::site::error_page::PageError;
use crate::site::{PageRequest, format};

/// Rounds and people that a profile shows.
const ROUNDS: usize = 40;
const PEOPLE: usize = 25;

#[derive(Template)]
#[template(path = "startup.html")]
struct StartupPage {
    frame: PageLayout,
    startup: Startup,
    sectors: Vec<(String, String)>,
    rounds: Vec<FundingRound>,
    people: Vec<Person>,
    people_count: u64,
    api: String,
}

/// `/startups/{slug}`: a startup.
pub(crate) fn page(catalog: &Catalog, visit: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let startup: Startup = model::read(catalog, Table::Startups, row).ok_or(PageError::Broken)?;
    let list = |table: Table, clause: Filter, most: usize| {
        catalog.list(&Query { clauses: vec![clause], ..Query::all(table) }, ListPosition::default(), most)
    };
    let rounds = list(Table::Rounds, Filter::AnyOf(Facet::Startup, vec![row]), ROUNDS);
    let people = list(Table::People, Filter::MemberOf { firms: Vec::new(), startups: vec![row] }, PEOPLE);
    let sector = |slug: &String| {
        let row = snapshot.find(Table::Sectors, slug)?;
        Some((snapshot.name(Table::Sectors, row).to_owned(), format!("/startups?sector={slug}")))
    };
    let page = StartupPage {
        frame: PageLayout::of(snapshot, &startup.name, &about(&startup), &format!("/startups/{}", startup.slug)),
        sectors: startup.sectors.iter().filter_map(sector).collect(),
        rounds: rounds.rows.iter().filter_map(|row| model::read(catalog, Table::Rounds, *row)).collect(),
        people: people.rows.iter().filter_map(|row| model::read(catalog, Table::People, *row)).collect(),
        people_count: people.total,
        api: format!("{}/api/v3/startups/{}", visit.state.public_url, startup.slug),
        startup,
    };
    Ok(page.render()?)
}

/// What a search engine is told of a startup.
fn about(startup: &Startup) -> String {
    let place = format::place(&startup.city, &startup.country);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let raised = startup.total_raised_usd.map_or_else(String::new, |usd| format!("{} raised in ", format::usd(usd)));
    let rounds = format::counted(startup.round_count, "round", "rounds");
    let investors = format::counted(startup.investors.len(), "investor", "investors");
    format!("{}, a startup{place}: {raised}{rounds} from {investors}.", startup.name)
}
