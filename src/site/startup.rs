use std::cmp::Reverse;
use std::collections::BTreeMap;

use askama::Template;

use crate::conditions::label_of;
use crate::embed::DrawnChart;
use crate::error_page::sentence;
use crate::layout::PageLayout;
use crate::lists::{amount_cell, investors_cell};
use crate::record_table::{RecordTable, TableCell, TableConfig, TableRow};
use crate::records::{SimilarRecords, first_rows, record, records, sector_links};
use crate::{PageRequest, PageResult, PathValues, find, linked_data, render};
use catalog::matching::next_stage;
use catalog::provenance::ProvenanceStatement;
use catalog::{Catalog, Filter};
use data::model::{FundingRound, Person, Startup};
use data::vocabulary::Vocabulary;
use data::{Facet, PartialDate, Stage, Table};
use view::charts::{ChartHead, ChartItem, ChartUnit, DatedAmount, Matrix, MatrixRow, StepChart};
use view::columns::{number, words};
use view::format;
use view::link::Link;

/// Maximum number of rounds shown; charts link to them.
pub(crate) const MAX_ROUNDS: usize = 40;
const MAX_PEOPLE: usize = 25;
const MAX_SIMILAR: usize = 6;
/// Maximum numbers of rounds and investors in the matrix.
const MAX_COLUMNS: usize = 12;
const MAX_ROWS: usize = 30;

#[derive(Template)]
#[template(path = "startup.html")]
struct StartupPage {
    layout: PageLayout,
    startup: Startup,
    sectors: Vec<(String, String)>,
    rounds: Vec<FundingRound>,
    /// `None` without dated rounds, or if the page does not show all rounds.
    funding: Option<StepChart>,
    investors: Option<Matrix>,
    people: Vec<Person>,
    people_count: u64,
    similar: SimilarRecords,
    similar_startups: RecordTable,
    next_round: Option<(String, String)>,
    /// What the total leaves out or counts twice.
    limits_of_total: String,
    /// Numbers of rounds with known investors and of all.
    with_investors: Option<(usize, usize)>,
    /// Date up to which rounds of its country are known.
    rounds_until: Option<PartialDate>,
    statements: Vec<ProvenanceStatement>,
    api: String,
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, path: PathValues<'_>) -> PageResult<String> {
    let row = find(catalog, Table::Startups, path[0])?;
    let startup: Startup = record(catalog, Table::Startups, row)?;
    let of_startup = Filter::AnyOf(Facet::Startup, vec![row]);
    let (rounds, round_count) = first_rows(catalog, Table::Rounds, of_startup, MAX_ROUNDS);
    let members = Filter::MemberOf { firms: Vec::new(), startups: vec![row] };
    let (people, people_count) = first_rows(catalog, Table::People, members, MAX_PEOPLE);
    let about = linked_data::startup(&startup);
    let all_shown = round_count <= rounds.len() as u64;
    let rounds: Vec<FundingRound> = records(catalog, Table::Rounds, &rounds)?;
    let similar = SimilarRecords::load(catalog, Table::Startups, row, MAX_SIMILAR);
    let similar_startups: Vec<TableRow> = similar
        .rows
        .iter()
        .map(|(row, in_common)| Ok(similar_startup(record(catalog, Table::Startups, *row)?, in_common)))
        .collect::<PageResult<_>>()?;
    render(&StartupPage {
        layout: PageLayout::of_record(catalog, request, (Table::Startups, row), &description(&startup), about),
        sectors: sector_links(catalog, &startup.sectors, "/startups?sector=").collect(),
        funding: all_shown.then(|| funding(&rounds, &startup.slug)).flatten(),
        investors: all_shown.then(|| investors(catalog, row)).flatten(),
        rounds,
        people: records(catalog, Table::People, &people)?,
        people_count,
        similar_startups: RecordTable::new(&SIMILAR, similar_startups),
        similar,
        next_round: next_round(catalog, &startup),
        limits_of_total: sentence(&catalog.startup_total(row).to_string()),
        with_investors: with_investors(catalog, row),
        rounds_until: catalog
            .coverage_until(Table::Startups, row)
            .filter(|until| Some(*until) >= startup.last_round_on),
        statements: catalog.provenance(Table::Startups, row),
        api: request.api(&format!("startups/{}", startup.slug)),
        startup,
    })
}

static SIMILAR: TableConfig = TableConfig {
    label: "Similar startups",
    name: "Startup",
    columns: &[
        words("in_common", "In common", 1),
        number("total_raised_usd", "Raised", "", 2),
        number("last_round_on", "Last round", "", 3),
        words("investors", "Investors", 4),
    ],
    pick: "",
};

fn similar_startup(other: Startup, in_common: &str) -> TableRow {
    TableRow {
        href: format!("/startups/{}", other.slug),
        about: format::place(&other.city, &other.country),
        remark: Vec::new(),
        cells: vec![
            TableCell::text(in_common),
            amount_cell(other.total_raised_usd),
            TableCell::day(other.last_round_on),
            investors_cell(&other),
        ],
        slug: other.slug,
        name: other.name,
    }
}

/// The number of rounds with known investors, and of all rounds; `None` if investors are known for each.
fn with_investors(catalog: &Catalog, startup: u32) -> Option<(usize, usize)> {
    let snapshot = catalog.snapshot();
    let rounds: Vec<u32> = snapshot.facet_rows(Table::Rounds, Facet::Startup, startup).iter().collect();
    let known = rounds.iter().filter(|round| snapshot.round_investors(**round).next().is_some()).count();
    (known < rounds.len()).then_some((known, rounds.len()))
}

/// The possible next round in words, and the path of matching firms. `None` if unknown, or if it no longer operates.
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
    let names = ["stage", "sector", "country"].into_iter();
    let values = names.flat_map(|name| link.values(name).map(move |value| (name, value)));
    let names: Vec<String> = values.map(|(name, value)| label_of(catalog, name, value)).collect();
    Some((names.join(" · "), link.href()))
}

fn description(startup: &Startup) -> String {
    let place = format::place(&startup.city, &startup.country);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let raised =
        startup.total_raised_usd.as_ref().map_or_else(String::new, |usd| format!("{} raised in ", format::usd(usd)));
    let rounds = format::counted_known(startup.round_count, "round", "rounds");
    let investors = match startup.investors.len() {
        0 => String::new(),
        count => format!(" from {}", format::counted(count, "investor", "investors")),
    };
    format!("{}, a startup{place}: {raised}{rounds}{investors}.", startup.name)
}

/// `None` as on the page: without dated rounds, or if the page does not show all rounds.
pub(crate) fn funding_chart(catalog: &Catalog, slug: &str) -> PageResult<Option<DrawnChart>> {
    let row = find(catalog, Table::Startups, slug)?;
    let snapshot = catalog.snapshot();
    let of_startup = Filter::AnyOf(Facet::Startup, vec![row]);
    let (rounds, count) = first_rows(catalog, Table::Rounds, of_startup, MAX_ROUNDS);
    let all_shown = count <= rounds.len() as u64;
    let rounds: Vec<FundingRound> = records(catalog, Table::Rounds, &rounds)?;
    let chart = all_shown.then(|| funding(&rounds, snapshot.slug(Table::Startups, row))).flatten();
    Ok(DrawnChart::new(snapshot.name(Table::Startups, row), chart))
}

/// As [`funding_chart`].
pub(crate) fn investors_chart(catalog: &Catalog, slug: &str) -> PageResult<Option<DrawnChart>> {
    let row = find(catalog, Table::Startups, slug)?;
    let snapshot = catalog.snapshot();
    let rounds = snapshot.facet_rows(Table::Rounds, Facet::Startup, row).iter().count();
    let chart = (rounds <= MAX_ROUNDS).then(|| investors(catalog, row)).flatten();
    Ok(DrawnChart::new(snapshot.name(Table::Startups, row), chart))
}

fn funding(rounds: &[FundingRound], slug: &str) -> Option<StepChart> {
    let step = |round: &FundingRound| DatedAmount {
        label: format::round(round.stage.as_deref()),
        date: round.announced_on,
        amount: round.amount_usd,
        left_out: round.suspect.then(|| "suspect".to_owned()),
        href: Some(format!("#round-{}", round.id)),
    };
    let dated: Vec<&FundingRound> = rounds.iter().filter(|round| round.announced_on.is_some()).collect();
    let raised: u64 = dated.iter().filter(|round| !round.suspect).filter_map(|round| round.amount_usd).sum();
    let unknown = dated.iter().filter(|round| round.amount_usd.is_none()).count();
    let hollow = unknown + dated.iter().filter(|round| round.suspect).count();
    let count = format::counted(dated.len(), "round", "rounds");
    let mut summary = match hollow == dated.len() {
        true => format!("{count}."),
        false => format!("{} in {count}.", format::usd(&raised)),
    };
    if hollow > 0 {
        summary += &format!(" Of {hollow}, the amount is unknown or suspect: a hollow dot.");
    }
    if dated.len() < rounds.len() {
        let undated = format::counted(rounds.len() - dated.len(), "round", "rounds");
        summary += &format!(" Not drawn, because no date is known: {undated}.");
    }
    // The page has the newest first.
    let steps = rounds.iter().rev().map(step).collect();
    let head = ChartHead::new("funding", "Raised in total", summary).on_page(&format!("/startups/{slug}"), "");
    StepChart::new(head, ["Round", "Date", "Amount", "Total"], steps)
}

/// Investors and rounds. `None` if fewer than two rounds have known investors: the table of rounds suffices.
fn investors(catalog: &Catalog, startup: u32) -> Option<Matrix> {
    let snapshot = catalog.snapshot();
    let slug = snapshot.slug(Table::Startups, startup);
    // The oldest first. Rounds without a date have no position in time.
    let mut rounds: Vec<u32> = snapshot.facet_rows(Table::Rounds, Facet::Startup, startup).iter().collect();
    rounds.reverse();
    let all = rounds.len();
    // A column without any known investor is no use.
    rounds.retain(|round| snapshot.round_investors(*round).next().is_some());
    let known = rounds.len();
    if known < 2 {
        return None;
    }
    let left_out = known.saturating_sub(MAX_COLUMNS);
    let shown = &rounds[left_out..];
    // The rounds that each investor joined; true if it led.
    let mut joined: BTreeMap<u32, Vec<(u32, bool)>> = BTreeMap::new();
    for round in &rounds {
        snapshot.round_investors(*round).for_each(|(firm, led)| joined.entry(firm).or_default().push((*round, led)));
    }
    let (investors, several) = (joined.len(), joined.values().filter(|rounds| rounds.len() > 1).count());
    let mut firms: Vec<(u32, Vec<(u32, bool)>)> = joined.into_iter().collect();
    // Keep those with the most rounds, then the most leads; show them in the order of their first round.
    firms.sort_by_key(|(_, rounds)| Reverse((rounds.len(), rounds.iter().filter(|(_, led)| *led).count())));
    firms.retain(|(_, rounds)| rounds.iter().any(|(round, _)| shown.contains(round)));
    firms.truncate(MAX_ROWS);
    let first = |rounds: &[(u32, bool)]| shown.iter().position(|round| rounds.iter().any(|(own, _)| own == round));
    firms.sort_by_key(|(_, rounds)| first(rounds));

    let column = |round: &u32| {
        let month = snapshot.round_date(*round).map_or_else(|| "no date".to_owned(), format::month);
        let href = format!("#round-{}", snapshot.slug(Table::Rounds, *round));
        (format::round(snapshot.round_stage(*round).map(Stage::name)), month, href)
    };
    let row = |(firm, joined): &(u32, Vec<(u32, bool)>)| {
        let part = |round: &u32| match joined.iter().find(|(own, _)| own == round) {
            Some((_, true)) => "led",
            Some((_, false)) => "joined",
            None => "",
        };
        let of = snapshot.slug(Table::Firms, *firm);
        let list = format!("/rounds?startup={slug}&investor={of}");
        MatrixRow {
            label: snapshot.name(Table::Firms, *firm).to_owned(),
            href: format!("/vcs/{of}"),
            parts: shown.iter().map(part).collect(),
            total: ChartItem::linked("Rounds", Some(joined.len() as u64), list),
        }
    };
    let mut summary = format!(
        "{} in {}; {} joined more than one.",
        format::counted(investors, "investor", "investors"),
        format::counted(known, "round", "rounds"),
        format::number(several),
    );
    if known < all {
        let unknown = format::counted(all - known, "more round", "more rounds");
        summary += &format!(" The investors of {unknown} are not known.");
    }
    let lead = |round: &&u32| snapshot.round_investors(**round).any(|(_, led)| led);
    let without_lead = rounds.iter().filter(|round| !lead(round)).count();
    if without_lead > 0 {
        summary += &format!(" The lead of {} is not known.", format::counted(without_lead, "round", "rounds"));
    }
    let mut rest = Vec::new();
    if left_out > 0 {
        let text = format::counted(left_out, "earlier round", "earlier rounds");
        rest.push((text, format!("/rounds?startup={slug}")));
    }
    if firms.len() < investors {
        rest.push((format::counted(investors - firms.len(), "investor", "investors"), "#rounds".to_owned()));
    }
    let finding = match several {
        0 => format!("None of {} joined more than one round", format::counted(investors, "investor", "investors")),
        _ => format!(
            "{} of {} joined more than one round",
            format::number(several),
            format::counted(investors, "investor", "investors")
        ),
    };
    let head = ChartHead::new("investors", "Who joined which round", summary)
        .table(["Investor", "Rounds"], ChartUnit::Count("round", "rounds"))
        .found(finding)
        .on_page(&format!("/startups/{slug}"), "");
    let (columns, rows) = (shown.iter().map(column).collect(), firms.iter().map(row).collect());
    Matrix::new(head, columns, rows, rest)
}
