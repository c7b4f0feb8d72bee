//! A firm's profile and its reviews.

use askama::Template;

use crate::catalog::provenance::Statement;
use crate::catalog::{Catalog, Filter, ListPosition, Query, Request, Resource};
use crate::data::model::{Firm, Person, Review, Score, ScoreComponent, Startup, YearScore};
use crate::data::vocabulary::Vocabulary;
use crate::data::{NONE_U64, Table};
use crate::site::browse::{Pager, Warning, at_page, page_size, parse, position_of, warnings};
use crate::site::charts::{Breakdown, Graph, Heatmap, Item, StackedBars};
use crate::site::error_page::PageError;
use crate::site::firm_charts::{Rounds, co_investors};
use crate::site::layout::PageLayout;
use crate::site::matching::led;
use crate::site::records::{record, records};
use crate::site::{PageRequest, format, linked_data};

const MAX_PORTFOLIO: usize = 15;
const MAX_CO_INVESTORS: usize = 12;
const MAX_PEOPLE: usize = 12;
const MAX_REVIEWS: usize = 5;
const MAX_SECTORS: usize = 10;
/// The width of a point in the score bar; its view box is 400 wide for 100 points.
const POINT_WIDTH: u32 = 4;

#[derive(Template)]
#[template(path = "firm.html")]
struct FirmPage {
    layout: PageLayout,
    firm: Firm,
    /// `None` if no score is published.
    score: Option<ScoreBar>,
    score_years: Vec<YearScore>,
    /// Of the rounds that name their leads those that it led, and how many these are; `None` if none names them.
    led: Option<(u64, u64)>,
    responses: ResponseCounts,
    /// The label and mean of each dimension that is rated.
    ratings: Vec<(&'static str, f64)>,
    /// The name of each sector and the path of its firms.
    sectors: Vec<(String, String)>,
    years: Option<StackedBars>,
    stages: Option<Heatmap>,
    portfolio_sectors: Option<Breakdown>,
    portfolio: Vec<PortfolioRow>,
    graph: Option<Graph>,
    co_investors: Vec<CoInvestor>,
    co_investor_count: u64,
    people: Vec<Person>,
    people_count: u64,
    reviews: Vec<Review>,
    review_count: u64,
    statements: Vec<Statement>,
    api: String,
}

#[derive(Template)]
#[template(path = "firm_reviews.html")]
struct ReviewsPage {
    layout: PageLayout,
    slug: String,
    name: String,
    warnings: Vec<Warning>,
    /// The label and path of each order, and whether it is the current one.
    orders: [(&'static str, String, bool); 3],
    reviews: Vec<Review>,
    review_count: u64,
    pager: Pager,
    api: String,
}

/// How many reviewers report that they got a response, and how many that they did not.
struct ResponseCounts {
    missing: u64,
    received: u64,
}

/// A startup of the portfolio with the last round that the firm joined.
struct PortfolioRow {
    slug: String,
    name: String,
    stage: String,
    date: Option<String>,
    amount_usd: Option<u64>,
    led: bool,
    status: Option<String>,
}

struct CoInvestor {
    slug: String,
    name: String,
    shared_rounds: u32,
    last_shared_on: Option<String>,
}

/// The components of a score as one bar.
struct ScoreBar {
    value: u8,
    low: u8,
    high: u8,
    low_x: u32,
    high_x: u32,
    components: Vec<ComponentBar>,
}

struct ComponentBar {
    /// The index of a color in the style sheet, 1 to 5.
    color: usize,
    label: &'static str,
    description: &'static str,
    x: u32,
    length: u32,
    points: u8,
    max_points: u8,
    value: String,
}

impl ScoreBar {
    fn new(score: &Score) -> Option<Self> {
        let (value, low, high) = (score.value?, score.low?, score.high?);
        let mut x = 0;
        let bar = |(index, component): (usize, &ScoreComponent)| {
            let (label, description) = named(&component.name);
            let value = if component.name == "ghosting" {
                format!("{:.0} % ghosted", 100.0 * component.value)
            } else {
                format!("{:.2} of 5", component.value)
            };
            let length = POINT_WIDTH * u32::from(component.points);
            let start = x;
            x += length;
            let (points, max_points) = (component.points, component.max_points);
            ComponentBar { color: index % 5 + 1, label, description, x: start, length, points, max_points, value }
        };
        let components = score.components.iter().enumerate().map(bar).collect();
        let (low_x, high_x) = (POINT_WIDTH * u32::from(low), POINT_WIDTH * u32::from(high));
        Some(Self { value, low, high, low_x, high_x, components })
    }
}

/// The label and description of a component of the score.
fn named(component: &str) -> (&'static str, &'static str) {
    match component {
        "rating" => ("Overall rating", "how founders rate the firm as a whole"),
        "responsiveness" => ("Responsiveness", "how fast and how well it responds"),
        "fairness" => ("Fairness", "how fair terms and negotiations are"),
        "value_add" => ("Value added", "what it contributes beyond money"),
        _ => ("Not ghosting", "whether founders get a response"),
    }
}

/// `/vcs/{slug}`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let firm: Firm = record(catalog, Table::Firms, row)?;
    let history = catalog.history(row);
    let (missing, received) = catalog.ghosted_and_answered(row);
    let sector = |slug: &String| {
        let name = snapshot.find(Table::Sectors, slug).map(|row| snapshot.name(Table::Sectors, row).to_owned());
        Some((name?, format!("/vcs?sector={slug}")))
    };
    let shared = catalog.co_investors(row, ListPosition::default(), MAX_CO_INVESTORS);
    let members = Filter::MemberOf { firms: vec![row], startups: Vec::new() };
    let members = catalog.list(
        &Query { filters: vec![members], ..Query::all(Table::People) },
        ListPosition::default(),
        MAX_PEOPLE,
    );
    let latest = catalog.list(&Query::approved_reviews(row), ListPosition::default(), MAX_REVIEWS);
    let rounds = Rounds::new(catalog, row, &history);
    let sector_item = |(sector, count): &(u32, u32)| {
        let href = format!("/vcs?sector={}", snapshot.slug(Table::Sectors, *sector));
        Item::linked(snapshot.name(Table::Sectors, *sector), Some(u64::from(*count)), href)
    };
    let path = format!("/vcs/{}", firm.slug);
    let about = linked_data::firm(&firm, snapshot.is_invented());
    let layout = PageLayout::of(snapshot, &firm.name, &description(&firm), &path)
        .with_twins(request.state, "")
        .about(linked_data::of_record(&request.state.public_url, ("/vcs", "Firms"), &path, &about));
    let page = FirmPage {
        score: ScoreBar::new(&firm.score),
        score_years: catalog.score_by_year(row),
        responses: ResponseCounts { missing, received },
        ratings: ratings(&firm),
        sectors: firm.sectors.iter().filter_map(sector).collect(),
        years: rounds.by_year(),
        stages: rounds.by_stage(),
        portfolio_sectors: Breakdown::new(
            "Portfolio by sector",
            ["Sector", "Startups"],
            history.sectors.iter().take(MAX_SECTORS).map(sector_item).collect(),
        ),
        portfolio: history
            .portfolio
            .iter()
            .take(MAX_PORTFOLIO)
            .map(|(startup, round)| portfolio_row(catalog, row, *startup, *round))
            .collect::<Result<_, _>>()?,
        graph: co_investors(catalog, &shared.firms),
        co_investors: shared
            .firms
            .iter()
            .map(|other| CoInvestor {
                slug: snapshot.slug(Table::Firms, other.row).to_owned(),
                name: snapshot.name(Table::Firms, other.row).to_owned(),
                shared_rounds: other.shared_rounds,
                last_shared_on: other.last_shared_on.map(format::day),
            })
            .collect(),
        co_investor_count: shared.total,
        people: records(catalog, Table::People, &members.rows)?,
        people_count: members.total,
        led: led(catalog, row, &[]),
        reviews: records(catalog, Table::Reviews, &latest.rows)?,
        review_count: latest.total,
        statements: catalog.provenance(Table::Firms, row),
        api: format!("{}/api/v3/vcs/{}", request.state.public_url, firm.slug),
        layout,
        firm,
    };
    Ok(page.render()?)
}

fn description(firm: &Firm) -> String {
    let kind = firm.kind.as_deref().map_or_else(|| "Investor".to_owned(), format::word);
    let place = format::place(&firm.city, &firm.country);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let score = match firm.health_score {
        Some(score) => format!("health score {score} of 100"),
        None => "not enough reviews for a score".to_owned(),
    };
    let startups = format::counted(firm.portfolio_count, "startup", "startups");
    format!("{kind}{place}: {score}, {startups} in its portfolio.")
}

fn ratings(firm: &Firm) -> Vec<(&'static str, f64)> {
    let means = &firm.ratings;
    let all = [
        ("Overall", means.overall),
        ("Responsiveness", means.responsiveness),
        ("Fairness", means.fairness),
        ("Value added", means.value_add),
    ];
    all.into_iter().filter_map(|(label, mean)| Some((label, mean?))).collect()
}

fn portfolio_row(catalog: &Catalog, firm: u32, startup: u32, round: u32) -> Result<PortfolioRow, PageError> {
    let snapshot = catalog.snapshot();
    let record: Startup = record(catalog, Table::Startups, startup)?;
    let amount = Some(snapshot.round_amounts()[round as usize]).filter(|usd| *usd != NONE_U64);
    Ok(PortfolioRow {
        slug: record.slug,
        name: record.name,
        stage: format::word(snapshot.round_stage(round).name()),
        date: snapshot.round_date(round).map(format::day),
        amount_usd: amount,
        led: snapshot.round_investors(round).any(|(investor, lead)| investor == firm && lead),
        status: record.status.filter(|status| status != "operating").map(|status| format::word(&status)),
    })
}

/// The orders of the reviews, with the value of `sort`.
const REVIEW_ORDERS: [(&str, &str); 3] =
    [("newest first", ""), ("lowest rating first", "rating"), ("highest rating first", "-rating")];

/// `/vcs/{slug}/reviews`, with the filters and orders of `/reviews`.
pub(crate) fn reviews(catalog: &Catalog, request: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let (slug, name) = (snapshot.slug(Table::Firms, row), snapshot.name(Table::Firms, row));
    let path = format!("/vcs/{slug}/reviews");
    let (parsed, link, page) = parse(catalog, Resource::Reviews, &path, request.query)?;
    let Request::List(mut query) = parsed.request else { unreachable!("reviews are a list") };
    query.filters.extend(Query::approved_reviews(row).filters);
    let found = catalog.list(&query, position_of(&link, page), page_size(&link) as usize);
    let description = format!("What founders say about {name}: {}.", format::counted(found.total, "review", "reviews"));
    let order =
        |(label, sort): (&'static str, &str)| (label, link.with("sort", sort).href(), link.text("sort") == sort);
    let page = ReviewsPage {
        layout: PageLayout::of(snapshot, &format!("Reviews of {name}"), &description, &path)
            .with_twins(request.state, &at_page(&link, page).query()),
        slug: slug.to_owned(),
        name: name.to_owned(),
        warnings: warnings(catalog, &parsed.warnings, &parsed.notes, &link),
        orders: REVIEW_ORDERS.map(order),
        reviews: records(catalog, Table::Reviews, &found.rows)?,
        review_count: found.total,
        pager: Pager::new(&link, page, found.total),
        api: link.at(&format!("{}/api/v3/vcs/{slug}/reviews", request.state.public_url)).href(),
    };
    Ok(page.render()?)
}
