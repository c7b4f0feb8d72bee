//! A firm's profile, and its reviews.

use askama::Template;

use crate::catalog::{Catalog, Filter, History, ListPosition, Query};
use crate::data::vocabulary::Vocabulary;
use crate::data::{Date, Table};
use crate::openapi::model;
use crate::openapi::model::{Firm, Person, Review, Score, Startup};
use crate::site::layout::PageLayout;

use crate::site::browse::{PER_PAGE, Pager, place_of, read_page};
use crate::site::charts::{BarChart, BreakdownChart};
use crate::site::error_page::PageError;
use crate::site::link::Link;
use crate::site::{PageRequest, format};

/// Startups, co-investors, people and reviews that a profile shows.
const PORTFOLIO: usize = 15;
const CO_INVESTORS: usize = 10;
const PEOPLE: u64 = 12;
const REVIEWS: u64 = 5;
/// Sectors of the mix.
const MIX: usize = 10;
/// Width of a point in the bar of the score.
const SCALE: u32 = 4;
/// Years of a chart.
const YEARS: usize = 20;

#[derive(Template)]
#[template(path = "firm.html")]
struct FirmPage {
    frame: PageLayout,
    firm: Firm,
    /// The parts of the score as one bar; `None` where no score is published.
    score: Option<ScoreBar>,
    ghosted: Ghosted,
    /// Its own means, those that are known.
    ratings: Vec<(&'static str, f64)>,
    sectors: Vec<(String, String)>,
    years: Option<BarChart>,
    stages: Option<BreakdownChart>,
    sector_mix: Option<BreakdownChart>,
    portfolio: Vec<Backed>,
    co_investors: Vec<CoInvestor>,
    co_investor_count: u64,
    people: Vec<Person>,
    people_count: u64,
    reviews: Vec<Review>,
    review_count: u64,
    api: String,
}

#[derive(Template)]
#[template(path = "firm_reviews.html")]
struct ReviewsPage {
    frame: PageLayout,
    slug: String,
    name: String,
    reviews: Vec<Review>,
    review_count: u64,
    pager: Pager,
    api: String,
}

/// How many reviewers say whether they got an answer.
struct Ghosted {
    never_answered: u64,
    answered: u64,
}

/// A startup of the portfolio with the round that the firm joined last.
struct Backed {
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

/// The parts of a score side by side, [`SCALE`] for each of 100 points.
struct ScoreBar {
    value: u8,
    low: u8,
    high: u8,
    low_x: u32,
    high_x: u32,
    parts: Vec<ScorePart>,
}

struct ScorePart {
    /// 1 to 5.
    color: usize,
    label: &'static str,
    about: &'static str,
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
        let part = |(place, component): (usize, &model::ScoreComponent)| {
            let (label, about) = named(&component.name);
            let share = component.name == "ghosting";
            let value = if share {
                format!("{:.0} % ghosted", 100.0 * component.value)
            } else {
                format!("{:.2} of 5", component.value)
            };
            let length = SCALE * u32::from(component.points);
            let begins = x;
            x += length;
            let (points, max_points) = (component.points, component.max_points);
            ScorePart { color: place % 5 + 1, label, about, x: begins, length, points, max_points, value }
        };
        let parts = score.components.iter().enumerate().map(part).collect();
        let (low_x, high_x) = (SCALE * u32::from(low), SCALE * u32::from(high));
        Some(Self { value, low, high, low_x, high_x, parts })
    }
}

/// A part of the score as people call it, and what it looks at.
fn named(component: &str) -> (&'static str, &'static str) {
    match component {
        "rating" => ("Overall rating", "how founders rate the firm as a whole"),
        "responsiveness" => ("Responsiveness", "how fast and how well it answers"),
        "fairness" => ("Fairness", "how fair it is in terms and talks"),
        "value_add" => ("Value added", "what it gives besides money"),
        _ => ("Not ghosting", "whether founders get an answer at all"),
    }
}

fn reviews_of(catalog: &Catalog, firm: u32, place: ListPosition, most: u64) -> (Vec<Review>, u64) {
    let page = catalog.list(&Query::approved_reviews(firm), place, most as usize);
    (page.rows.iter().filter_map(|row| model::read(catalog, Table::Reviews, *row)).collect(), page.total)
}

/// `/vcs/{slug}`: a firm.
pub(crate) fn page(catalog: &Catalog, visit: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let firm: Firm = model::read(catalog, Table::Firms, row).ok_or(PageError::Broken)?;
    let history = catalog.history(row);
    let (never_answered, answered) = catalog.ghosted_and_answered(row);
    let ghosted = Ghosted { never_answered, answered };
    let sector = |slug: &String| {
        let name = snapshot.find(Table::Sectors, slug).map(|row| snapshot.name(Table::Sectors, row).to_owned());
        Some((name?, format!("/vcs?sector={slug}")))
    };
    let shared = catalog.co_investors(row, ListPosition::default(), CO_INVESTORS);
    let members = Filter::MemberOf { firms: vec![row], startups: Vec::new() };
    let members = catalog.list(
        &Query { clauses: vec![members], ..Query::all(Table::People) },
        ListPosition::default(),
        PEOPLE as usize,
    );
    let (reviews, review_count) = reviews_of(catalog, row, ListPosition::default(), REVIEWS);
    let frame = PageLayout::of(snapshot, &firm.name, &about(&firm), &format!("/vcs/{}", firm.slug));
    let page = FirmPage {
        score: ScoreBar::new(&firm.score),
        ghosted,
        ratings: ratings(&firm),
        sectors: firm.sectors.iter().filter_map(sector).collect(),
        years: years(&history),
        stages: BreakdownChart::new(
            "Rounds by stage",
            ("Stage", "Rounds"),
            history.stages.iter().map(|(stage, count)| {
                let href = format!("/vcs?stage={}", stage.name());
                (format::word(stage.name()), href, u64::from(*count))
            }),
        ),
        sector_mix: BreakdownChart::new(
            "Portfolio by sector",
            ("Sector", "Startups"),
            history.sectors.iter().take(MIX).map(|(sector, count)| {
                let href = format!("/vcs?sector={}", snapshot.slug(Table::Sectors, *sector));
                (snapshot.name(Table::Sectors, *sector).to_owned(), href, u64::from(*count))
            }),
        ),
        portfolio: history
            .portfolio
            .iter()
            .take(PORTFOLIO)
            .filter_map(|(startup, round)| backed(catalog, row, *startup, *round))
            .collect(),
        co_investors: shared
            .firms
            .iter()
            .map(|other| CoInvestor {
                slug: snapshot.slug(Table::Firms, other.row).to_owned(),
                name: snapshot.name(Table::Firms, other.row).to_owned(),
                shared_rounds: other.shared_rounds,
                last_shared_on: other.last_shared_on.map(|date| format::day(&date.to_string())),
            })
            .collect(),
        co_investor_count: shared.total,
        people: members.rows.iter().filter_map(|row| model::read(catalog, Table::People, *row)).collect(),
        people_count: members.total,
        reviews,
        review_count,
        api: format!("{}/api/v3/vcs/{}", visit.state.public_url, firm.slug),
        frame,
        firm,
    };
    Ok(page.render()?)
}

/// What a search engine is told of a firm.
fn about(firm: &Firm) -> String {
    let kind = firm.kind.as_deref().map(format::word).unwrap_or_else(|| "Investor".to_owned());
    let place = format::place(&firm.city, &firm.country);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let score = match firm.health_score {
        Some(score) => format!("health score {score} of 100"),
        None => "too few reviews for a score".to_owned(),
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

fn years(history: &History) -> Option<BarChart> {
    let (first, last) = (history.years.first()?, history.years.last()?);
    let skipped = history.years.len().saturating_sub(YEARS);
    let shown = history.years.get(skipped..)?;
    let values: Vec<(String, u64)> = shown.iter().map(|(year, count)| (year.to_string(), u64::from(*count))).collect();
    let sum: u64 = values.iter().map(|(_, count)| count).sum();
    let mut summary = format!("{} from {} to {}.", format::counted(sum, "round", "rounds"), shown.first()?.0, last.0);
    if skipped > 0 {
        summary.push_str(&format!(" The first was in {}.", first.0));
    }
    Some(BarChart::new("Rounds joined per year", summary, ("Year", "Rounds"), &values))
}

fn backed(catalog: &Catalog, firm: u32, startup: u32, round: u32) -> Option<Backed> {
    let snapshot = catalog.snapshot();
    let record: Startup = model::read(catalog, Table::Startups, startup)?;
    let day = snapshot.round_dates().get(round as usize).filter(|day| **day != crate::data::NONE_I32);
    let amount = snapshot.round_amounts().get(round as usize).copied().filter(|usd| *usd != u64::MAX);
    Some(Backed {
        slug: record.slug,
        name: record.name,
        stage: format::word(snapshot.round_stage(round).name()),
        date: day.map(|day| format::day(&Date::from_days(*day).to_string())),
        amount_usd: amount,
        led: snapshot.round_investors(round).any(|(investor, lead)| investor == firm && lead),
        status: record.status.filter(|status| status != "operating").map(|status| format::word(&status)),
    })
}

/// `/vcs/{slug}/reviews`: all reviews of a firm.
pub(crate) fn reviews(catalog: &Catalog, visit: PageRequest<'_>, row: u32) -> Result<String, PageError> {
    let snapshot = catalog.snapshot();
    let (slug, name) = (snapshot.slug(Table::Firms, row), snapshot.name(Table::Firms, row));
    let (_, page) = read_page(visit.query);
    let (reviews, review_count) = reviews_of(catalog, row, place_of(page), PER_PAGE);
    let path = format!("/vcs/{slug}/reviews");
    let about = format!("What founders say of {name}: {}.", format::counted(review_count, "review", "reviews"));
    let page = ReviewsPage {
        frame: PageLayout::of(snapshot, &format!("Reviews of {name}"), &about, &path),
        slug: slug.to_owned(),
        name: name.to_owned(),
        reviews,
        review_count,
        pager: Pager::new(&Link::new(&path, Vec::new()), page, review_count),
        api: format!("{}/api/v3/vcs/{slug}/reviews", visit.state.public_url),
    };
    Ok(page.render()?)
}
