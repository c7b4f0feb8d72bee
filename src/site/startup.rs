//! A startup's profile.

use askama::Template;

use crate::catalog::provenance::Statement;
use crate::catalog::{Catalog, Filter, ListPosition, Query};
use crate::data::model::{FundingRound, Person, Startup};
use crate::data::{Facet, Table};
use crate::site::charts::{Head, Step, Steps};
use crate::site::error_page::PageError;
use crate::site::layout::PageLayout;
use crate::site::records::{record, records};
use crate::site::{PageRequest, format, linked_data};

const MAX_ROUNDS: usize = 40;
const MAX_PEOPLE: usize = 25;

#[derive(Template)]
#[template(path = "startup.html")]
struct StartupPage {
    layout: PageLayout,
    startup: Startup,
    /// The name of each sector and the path of its startups.
    sectors: Vec<(String, String)>,
    rounds: Vec<FundingRound>,
    /// `None` without dated rounds, or if there are more rounds than on the page.
    funding: Option<Steps>,
    people: Vec<Person>,
    people_count: u64,
    statements: Vec<Statement>,
    api: String,
}

/// `/startups/{slug}`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let startup: Startup = record(catalog, Table::Startups, row)?;
    let list = |table: Table, filter: Filter, max: usize| {
        catalog.list(&Query { filters: vec![filter], ..Query::all(table) }, ListPosition::default(), max)
    };
    let rounds = list(Table::Rounds, Filter::AnyOf(Facet::Startup, vec![row]), MAX_ROUNDS);
    let people = list(Table::People, Filter::MemberOf { firms: Vec::new(), startups: vec![row] }, MAX_PEOPLE);
    let sector = |slug: &String| {
        let row = snapshot.find(Table::Sectors, slug)?;
        Some((snapshot.name(Table::Sectors, row).to_owned(), format!("/startups?sector={slug}")))
    };
    let (base, path) = (&request.state.public_url, format!("/startups/{}", startup.slug));
    let about = linked_data::startup(&startup, snapshot.is_invented());
    let all_shown = rounds.total <= rounds.rows.len() as u64;
    let rounds: Vec<FundingRound> = records(catalog, Table::Rounds, &rounds.rows)?;
    let page = StartupPage {
        layout: PageLayout::of(snapshot, &startup.name, &description(&startup), &path)
            .with_twins(request.state, "")
            .about(linked_data::of_record(base, ("/startups", "Startups"), &path, &about)),
        sectors: startup.sectors.iter().filter_map(sector).collect(),
        funding: all_shown.then(|| funding(&rounds)).flatten(),
        rounds,
        people: records(catalog, Table::People, &people.rows)?,
        people_count: people.total,
        statements: catalog.provenance(Table::Startups, row),
        api: format!("{}/api/v3/startups/{}", request.state.public_url, startup.slug),
        startup,
    };
    Ok(page.render()?)
}

/// How the sum of its rounds grew.
fn funding(rounds: &[FundingRound]) -> Option<Steps> {
    let step = |round: &FundingRound| Step {
        label: format::word(&round.stage),
        date: round.announced_on,
        amount: round.amount_usd,
        left_out: round.suspect.then(|| "suspect".to_owned()),
        href: Some(format!("#round-{}", round.id)),
    };
    let raised: u64 = rounds
        .iter()
        .filter(|round| round.announced_on.is_some() && !round.suspect)
        .filter_map(|round| round.amount_usd)
        .sum();
    let dated = rounds.iter().filter(|round| round.announced_on.is_some()).count();
    let unknown = rounds.iter().filter(|round| round.announced_on.is_some() && round.amount_usd.is_none()).count();
    let suspect = rounds.iter().filter(|round| round.announced_on.is_some() && round.suspect).count();
    let mut summary = format!("{} in {}.", format::usd(&raised), format::counted(dated, "round", "rounds"));
    if unknown + suspect > 0 {
        summary.push_str(&format!(" Of {}, the amount is unknown or suspect: a hollow dot.", unknown + suspect));
    }
    if dated < rounds.len() {
        let undated = format::counted(rounds.len() - dated, "round", "rounds");
        summary.push_str(&format!(" Not drawn, because no date is known: {undated}."));
    }
    // The page has the newest first.
    let steps = rounds.iter().rev().map(step).collect();
    Steps::new(Head::new("funding", "Raised in total", summary), ["Round", "Date", "Amount", "Total"], steps)
}

fn description(startup: &Startup) -> String {
    let place = format::place(&startup.city, &startup.country);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let raised =
        startup.total_raised_usd.as_ref().map_or_else(String::new, |usd| format!("{} raised in ", format::usd(usd)));
    let rounds = format::counted(startup.round_count, "round", "rounds");
    let investors = format::counted(startup.investors.len(), "investor", "investors");
    format!("{}, a startup{place}: {raised}{rounds} from {investors}.", startup.name)
}
