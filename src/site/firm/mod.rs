pub(crate) mod charts;
pub(crate) mod portfolio;
pub(crate) mod reviews;
mod score;
mod similar;

use askama::Template;
use view::firm_sentence;

use crate::embed::DrawnChart;
use crate::field_years::{CoveredYears, investors_until};
use crate::firm::charts::{Rounds, co_investors};
use crate::firm::portfolio::{PORTFOLIO, PortfolioCounts, PortfolioProperty, portfolio_row};
use crate::firm::score::{ScoreBar, Trend, ratings};
use crate::firm::similar::SimilarFirm;
use crate::layout::PageLayout;
use crate::matching::count_led;
use crate::record_table::RecordTable;
use crate::records::{SimilarRecords, first_rows, record, records, sector_links};
use crate::release_page::round_href;
use crate::{PageRequest, PageResult, PathValues, compare, find, linked_data, render};
use catalog::provenance::ProvenanceStatement;
use catalog::{Catalog, Filter, ListPosition, Query};
use data::model::{Firm, Person, Review};
use data::vocabulary::Vocabulary;
use data::{Facet, SnapshotVersion, Stage, Table};
use view::charts::{Bars, ChartFigure, Graph, Heatmap, Timeline};
use view::format;

const MAX_PORTFOLIO: usize = 6;
const MAX_CO_INVESTORS: usize = 12;
const MAX_SIMILAR: usize = 5;
const MAX_PEOPLE: usize = 8;
const MAX_REVIEWS: usize = 2;
const MAX_ROUNDS: usize = 5;

#[derive(Template)]
#[template(path = "firm.html")]
struct FirmPage {
    layout: PageLayout,
    firm: Firm,
    sentence: Option<String>,
    news: Option<FirmNews>,
    score: Option<ScoreBar>,
    trend: Option<Trend>,
    led: Option<(u64, u64)>,
    /// Numbers of reviewers who got no response, and who got one.
    responses: (u64, u64),
    ratings: Vec<(&'static str, f64)>,
    stage_words: String,
    sectors: Vec<(String, String)>,
    years: Option<Bars>,
    stages: Option<Heatmap>,
    timeline: Option<Timeline>,
    portfolio_sectors: Option<Bars>,
    portfolio_countries: Option<Bars>,
    portfolio: RecordTable,
    portfolio_properties: Vec<PortfolioProperty>,
    graph: Option<Graph>,
    co_investor_count: u64,
    similar: SimilarRecords,
    similar_firms: Vec<SimilarFirm>,
    /// The path of the comparison with the first of them.
    compare: String,
    people: Vec<Person>,
    people_count: u64,
    reviews: Vec<Review>,
    review_count: u64,
    review_url: Option<String>,
    /// True if a review can be reported here.
    takes_reviews: bool,
    /// The years for which the data does not know investors, or those of some countries only, as sentences.
    gaps: Option<String>,
    /// Until when investors are known, if the data has later rounds.
    investors_until: Option<String>,
    statements: Vec<ProvenanceStatement>,
    api: String,
}

impl FirmPage {
    fn has_focus(&self) -> bool {
        !self.firm.stages.is_empty() || !self.sectors.is_empty()
    }

    fn sections(&self) -> Vec<(&'static str, &'static str)> {
        let sections = [
            (self.has_focus() || self.firm.investment_count > 0, "investments", "How it invests"),
            (!self.portfolio.is_empty(), "portfolio", "Portfolio"),
            (self.graph.is_some(), "co-investors", "Co-investors"),
            (!self.similar_firms.is_empty(), "similar", "Similar firms"),
            (!self.people.is_empty(), "people", "People"),
            (self.firm.review_count > 0, "score", "Score"),
            (true, "reviews", "Reviews"),
            (true, "coverage", "Coverage"),
        ];
        sections.into_iter().filter(|(is_there, ..)| *is_there).map(|(_, id, name)| (id, name)).collect()
    }
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, path: PathValues<'_>) -> PageResult<String> {
    let row = find(catalog, Table::Firms, path[0])?;
    let firm: Firm = record(catalog, Table::Firms, row)?;
    let history = catalog.history(row);
    let shared = catalog.co_investors(row, ListPosition::default(), MAX_CO_INVESTORS);
    let members = Filter::MemberOf { firms: vec![row], startups: Vec::new() };
    let (people, people_count) = first_rows(catalog, Table::People, members, MAX_PEOPLE);
    let latest = catalog.list(&Query::approved_reviews(row), ListPosition::default(), MAX_REVIEWS);
    let rounds = Rounds::new(catalog, row, &history);
    let counts = PortfolioCounts::new(catalog, row);
    let about = linked_data::firm(&firm);
    let similar = SimilarRecords::load(catalog, Table::Firms, row, MAX_SIMILAR);
    let similar_firms = SimilarFirm::all(catalog, row, &firm, &similar)?;
    let latest_round = |(startup, round): &(u32, u32)| portfolio_row(catalog, row, *startup, *round);
    let portfolio: Vec<_> = history.portfolio.iter().take(MAX_PORTFOLIO).map(latest_round).collect::<Result<_, _>>()?;
    render(&FirmPage {
        layout: PageLayout::of_record(catalog, request, (Table::Firms, row), &description(&firm), about),
        sentence: firm_sentence::sentence(catalog, &history, counts.counts_of(Facet::Country).1, &shared.rows),
        news: FirmNews::new(catalog, row),
        score: ScoreBar::new(&firm.score),
        trend: Trend::new(catalog.score_by_year(row), catalog.snapshot().slug(Table::Firms, row)),
        responses: catalog.ghosted_and_answered(row),
        ratings: ratings(&firm),
        stage_words: firm.stages.iter().map(|stage| format::word(stage)).collect::<Vec<_>>().join(", "),
        sectors: sector_links(catalog, &firm.sectors, "/sectors/").collect(),
        years: rounds.by_year(),
        stages: rounds.by_stage(),
        timeline: rounds.timeline(),
        portfolio_sectors: counts.by_sector(),
        portfolio_countries: counts.by_country(),
        portfolio: RecordTable::new(&PORTFOLIO, portfolio),
        portfolio_properties: counts.properties(),
        graph: co_investors(catalog, row, &shared.rows),
        co_investor_count: shared.total,
        compare: compare_with(&firm, &similar_firms),
        similar_firms,
        similar,
        people: records(catalog, Table::People, &people)?,
        people_count,
        led: count_led(catalog, row, &[]),
        reviews: records(catalog, Table::Reviews, &latest.rows)?,
        review_count: latest.total,
        review_url: request.state.operator.review_url(&firm.slug),
        takes_reviews: request.state.operator.takes_reviews(),
        gaps: gaps(catalog),
        investors_until: investors_until(catalog),
        statements: catalog.provenance(Table::Firms, row),
        api: request.api(&format!("vcs/{}", firm.slug)),
        firm,
    })
}

/// A chart of the rounds of a firm.
pub(crate) fn rounds_chart(
    catalog: &Catalog,
    slug: &str,
    draw: impl FnOnce(&Rounds<'_>) -> Option<Box<dyn ChartFigure>>,
) -> PageResult<Option<DrawnChart>> {
    let row = find(catalog, Table::Firms, slug)?;
    let history = catalog.history(row);
    let chart = draw(&Rounds::new(catalog, row, &history));
    Ok(chart.map(|chart| DrawnChart { subject: catalog.snapshot().name(Table::Firms, row).to_owned(), chart }))
}

/// A chart of the startups of a firm.
pub(crate) fn portfolio_chart(
    catalog: &Catalog,
    slug: &str,
    draw: impl FnOnce(&PortfolioCounts<'_>) -> Option<Bars>,
) -> PageResult<Option<DrawnChart>> {
    let row = find(catalog, Table::Firms, slug)?;
    let chart = draw(&PortfolioCounts::new(catalog, row));
    Ok(DrawnChart::new(catalog.snapshot().name(Table::Firms, row), chart))
}

pub(crate) fn co_investors_chart(catalog: &Catalog, slug: &str) -> PageResult<Option<DrawnChart>> {
    let row = find(catalog, Table::Firms, slug)?;
    let shared = catalog.co_investors(row, ListPosition::default(), MAX_CO_INVESTORS);
    Ok(DrawnChart::new(catalog.snapshot().name(Table::Firms, row), co_investors(catalog, row, &shared.rows)))
}

pub(crate) fn score_chart(catalog: &Catalog, slug: &str) -> PageResult<Option<DrawnChart>> {
    let row = find(catalog, Table::Firms, slug)?;
    let (slug, name) = (catalog.snapshot().slug(Table::Firms, row), catalog.snapshot().name(Table::Firms, row));
    Ok(DrawnChart::new(name, Trend::new(catalog.score_by_year(row), slug).and_then(Trend::figure)))
}

fn compare_with(firm: &Firm, others: &[SimilarFirm]) -> String {
    let others = others.iter().map(|other| other.slug.as_str());
    let slugs: Vec<&str> = [firm.slug.as_str()].into_iter().chain(others).take(compare::MAX).collect();
    format!("/compare?firm={}", slugs.join(","))
}

/// Sentences on the years, from the first with known investors to the last with rounds, that may miss rounds of a firm.
fn gaps(catalog: &Catalog) -> Option<String> {
    let covered = CoveredYears::of_investors(catalog);
    let (first, last) = (covered.period()?.0, CoveredYears::of_rounds(catalog).period()?.1);
    Some(covered.gaps(first, last)).filter(|text| !text.is_empty())
}

fn description(firm: &Firm) -> String {
    let kind = format::firm_kind(&firm.kind);
    let place = format::place(&firm.city, &firm.country);
    let place = if place.is_empty() { place } else { format!(" in {place}") };
    let score = match firm.health_score {
        Some(score) => format!("health score {score} of 100"),
        None => "not enough reviews for a score".to_owned(),
    };
    let startups = format::counted_known(firm.portfolio_count, "startup", "startups");
    format!("{kind}{place}: {score}, {startups} in its portfolio.")
}

struct FirmNews {
    release: SnapshotVersion,
    is_new: bool,
    round_count: usize,
    /// Startup, stage and path of the first new rounds.
    rounds: Vec<(String, String, String)>,
    review_count: usize,
}

impl FirmNews {
    /// `None` if the release was not compared with an earlier one, or has no news about the firm.
    fn new(catalog: &Catalog, firm: u32) -> Option<Self> {
        let (snapshot, release) = (catalog.snapshot(), catalog.version());
        let is_new = |table: Table| move |row: &u32| catalog.first_seen(table, *row) == Some(release);
        let rounds = snapshot.facet_rows(Table::Rounds, Facet::Investor, firm).iter();
        let rounds: Vec<u32> = rounds.filter(is_new(Table::Rounds)).collect();
        let reviews = snapshot.reviews_of(firm).filter(is_new(Table::Reviews));
        let named = |round: &u32| {
            (
                snapshot.name(Table::Startups, snapshot.round_startup(*round)).to_owned(),
                format::round(snapshot.round_stage(*round).map(Stage::name)),
                round_href(catalog, *round),
            )
        };
        let review_count = reviews.count();
        let is_changed = catalog.changed_in(Table::Firms, firm) == Some(release);
        (is_changed || !rounds.is_empty() || review_count > 0).then(|| Self {
            release,
            is_new: is_new(Table::Firms)(&firm),
            round_count: rounds.len(),
            rounds: rounds.iter().take(MAX_ROUNDS).map(named).collect(),
            review_count,
        })
    }
}
