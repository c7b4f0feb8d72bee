//! The leaderboard: firms ranked by a metric, with filters.

use askama::Template;

use crate::catalog::{Catalog, Request, Resource};
use crate::data::model::Firm;
use crate::data::vocabulary::Vocabulary;
use crate::data::{Metric, Table};
use crate::site::browse::{Pager, Warning, active_filters, at_page, page_size, parse, position_of, warnings};
use crate::site::choice::{Choice, choices};
use crate::site::error_page::PageError;
use crate::site::layout::PageLayout;
use crate::site::link::Link;
use crate::site::records::record;
use crate::site::{PageRequest, format};

#[derive(Template)]
#[template(path = "leaderboard.html")]
struct LeaderboardPage {
    layout: PageLayout,
    warnings: Vec<Warning>,
    metrics: Vec<MetricTab>,
    metric: String,
    column: &'static str,
    description: &'static str,
    choices: Vec<Choice>,
    active_filters: Vec<(String, String)>,
    clear: String,
    rows: Vec<RankedFirm>,
    total: u64,
    pager: Pager,
    api: String,
}

struct MetricTab {
    label: &'static str,
    href: String,
    is_selected: bool,
}

struct RankedFirm {
    rank: u64,
    value: String,
    firm: Firm,
}

/// The label of a metric, the heading of its column, and what it ranks by.
fn named(metric: Metric) -> (&'static str, &'static str, &'static str) {
    match metric {
        Metric::HealthScore => (
            "Health score",
            "Cautious score",
            "Ranked by the score minus its standard error, so that a firm with few reviews does not lead by chance. Firms \
             with at least 5 reviews.",
        ),
        Metric::Responsiveness => (
            "Responsiveness",
            "Rating of 5",
            "How fast and how well firms respond, smoothed. Firms with at least 5 reviews.",
        ),
        Metric::Fairness => {
            ("Fairness", "Rating of 5", "How fair terms and negotiations are, smoothed. Firms with at least 5 reviews.")
        }
        Metric::ValueAdd => (
            "Value added",
            "Rating of 5",
            "What firms contribute beyond money, smoothed. Firms with at least 5 reviews.",
        ),
        Metric::GhostingRate => (
            "Lowest ghosting rate",
            "Ghosting rate",
            "The share of founders who never got a response, smoothed, lowest first. Firms with at least 5 reviews.",
        ),
        Metric::Activity => {
            ("Most active", "Rounds", "Rounds joined in the year before the release. No reviews are required.")
        }
    }
}

fn value_text(metric: Metric, value: f64) -> String {
    match metric {
        Metric::HealthScore => format!("{value:.1}"),
        Metric::Responsiveness | Metric::Fairness | Metric::ValueAdd => format!("{value:.2}"),
        Metric::GhostingRate => format!("{:.1} %", 100.0 * value),
        Metric::Activity => format!("{value:.0}"),
    }
}

/// `/leaderboard`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>) -> Result<String, PageError> {
    let (parsed, link, page) = parse(catalog, Resource::Leaderboard, "/leaderboard", request.query)?;
    let Request::Leaderboard(query) = parsed.request else { unreachable!("the leaderboard is not a list") };
    let board = catalog.leaderboard(&query, position_of(&link, page), page_size(&link) as usize);
    let metrics = Metric::ALL.iter().map(|metric| {
        let value = if *metric == Metric::HealthScore { "" } else { metric.name() };
        MetricTab {
            label: named(*metric).0,
            href: link.with("metric", value).href(),
            is_selected: *metric == query.metric,
        }
    });
    let rows = board.ranked.iter().map(|ranked| {
        let firm = record(catalog, Table::Firms, ranked.row)?;
        Ok(RankedFirm { rank: ranked.rank, value: value_text(query.metric, ranked.value), firm })
    });
    let rows: Result<Vec<RankedFirm>, PageError> = rows.collect();
    let (title, column, about) = named(query.metric);
    let meta = format!("Venture capital firms ranked by {}. {about}", title.to_lowercase());
    let page = LeaderboardPage {
        layout: PageLayout::of(catalog.snapshot(), "Leaderboard", &meta, request.path)
            .with_twins(request.state, &at_page(&link, page).query()),
        warnings: warnings(catalog, &parsed.warnings, &parsed.notes, &link),
        metrics: metrics.collect(),
        metric: link.text("metric").to_owned(),
        column,
        description: about,
        choices: choices(catalog, &link, &["stage", "sector", "country", "kind"]),
        active_filters: active_filters(catalog, &link),
        clear: Link::new("/leaderboard", Vec::new()).with("metric", link.text("metric")).href(),
        rows: rows?,
        total: board.total,
        pager: Pager::new(&link, page, board.total),
        api: link.at(&format!("{}/api/v3/leaderboard", request.state.public_url)).href(),
    };
    Ok(page.render()?)
}
