//! A startup's profile.

use askama::Template;

use crate::charts::{Matrix, StepChart};
use crate::conditions::label_of;
use crate::error_page::PageError;
use crate::layout::PageLayout;
use crate::link::Link;
use crate::records::{SimilarRecords, first_rows, record, records, sector_links};
use crate::routes::PathValues;
use crate::startup_charts::{funding, investors};
use crate::{PageRequest, find, format, linked_data};
use catalog::matching::scorer::next_stage;
use catalog::provenance::ProvenanceStatement;
use catalog::{Catalog, Filter};
use data::model::{FundingRound, Person, Startup};
use data::vocabulary::Vocabulary;
use data::{Facet, Stage, Table};

/// Maximum number of rounds shown; charts link to them.
pub(crate) const MAX_ROUNDS: usize = 40;
const MAX_PEOPLE: usize = 25;
const MAX_SIMILAR: usize = 6;

#[derive(Template)]
#[template(path = "startup.html")]
struct StartupPage {
    layout: PageLayout,
    startup: Startup,
    /// Name of each sector, and path of its startups.
    sectors: Vec<(String, String)>,
    rounds: Vec<FundingRound>,
    /// `None` without dated rounds, or if the page does not show all rounds.
    funding: Option<StepChart>,
    investors: Option<Matrix>,
    people: Vec<Person>,
    people_count: u64,
    similar: SimilarRecords,
    /// Startups, each with what it has in common with this one, in words.
    similar_startups: Vec<(Startup, String)>,
    /// The next round in words, and the path of matching firms.
    next_round: Option<(String, String)>,
    statements: Vec<ProvenanceStatement>,
    api: String,
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, path: PathValues<'_>) -> Result<String, PageError> {
    let row = find(catalog, Table::Startups, path[0])?;
    let startup: Startup = record(catalog, Table::Startups, row)?;
    let of_startup = Filter::AnyOf(Facet::Startup, vec![row]);
    let (rounds, round_count) = first_rows(catalog, Table::Rounds, of_startup, MAX_ROUNDS);
    let members = Filter::MemberOf { firms: Vec::new(), startups: vec![row] };
    let (people, people_count) = first_rows(catalog, Table::People, members, MAX_PEOPLE);
    let about = linked_data::startup(&startup, catalog.snapshot().is_invented());
    let all_shown = round_count <= rounds.len() as u64;
    let rounds: Vec<FundingRound> = records(catalog, Table::Rounds, &rounds)?;
    let similar = SimilarRecords::load(catalog, Table::Startups, row, MAX_SIMILAR);
    let similar_startup =
        |(row, in_common): &(u32, String)| Ok::<(Startup, String), PageError>((record(catalog, Table::Startups, *row)?, in_common.clone()));
    let similar_startups = similar.rows.iter().map(similar_startup).collect::<Result<_, PageError>>()?;
    let page = StartupPage {
        layout: PageLayout::of_record(catalog, request, (Table::Startups, row), &description(&startup), about)
            .with_picture(),
        sectors: sector_links(catalog, &startup.sectors, "/startups?sector=").collect(),
        funding: all_shown.then(|| funding(&rounds)).flatten(),
        investors: all_shown.then(|| investors(catalog, row)).flatten(),
        rounds,
        people: records(catalog, Table::People, &people)?,
        people_count,
        similar_startups,
        similar,
        next_round: next_round(catalog, &startup),
        statements: catalog.provenance(Table::Startups, row),
        api: format!("{}/api/v3/startups/{}", request.state.public_url, startup.slug),
        startup,
    };
    Ok(page.render()?)
}

/// The startup's possible next round in words, and the path of matching firms. `None` if neither stage nor sectors are
/// known, or if the startup no longer operates.
fn next_round(catalog: &Catalog, startup: &Startup) -> Option<(String, String)> {
    if startup.status.as_deref().is_some_and(|status| status != "operating") {
        return None;
    }
    let stage = startup.stage.as_deref().and_then(Stage::read);
    let stage = stage.and_then(|stage| next_stage(stage).or((stage == Stage::Growth).then_some(stage)));
    let (stage, sectors) = (stage.map_or("", Stage::name), startup.sectors.join(","));
    if stage.is_empty() && sectors.is_empty() {
        return None;
    }
    let link = Link::new("/match", Vec::new()).with("stage", stage).with("sector", &sectors);
    let link = link.with("country", startup.country.as_deref().unwrap_or_default());
    let values = ["stage", "sector", "country"].into_iter().flat_map(|name| link.values(name).map(move |value| (name, value)));
    let names: Vec<String> = values.map(|(name, value)| label_of(catalog, name, value)).collect();
    Some((names.join(" · "), link.href()))
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
