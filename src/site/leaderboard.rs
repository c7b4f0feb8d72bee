//! The leaderboard: firms ranked by a metric, with filters.

use std::collections::BTreeMap;

use askama::Template;

use crate::catalog::{Catalog, Request, Resource};
use crate::data::model::Firm;
use crate::data::vocabulary::Vocabulary;
use crate::data::{Metric, Table};
use crate::site::browse::{Pager, Warning, active_filters, at_page, page_size, parse, position_of, warnings};
use crate::site::charts::{Bars, Dot, DotAxis, Dots, Head, Interval, Unit};
use crate::site::choice::{Choice, choices};
use crate::site::error_page::PageError;
use crate::site::layout::PageLayout;
use crate::site::link::Link;
use crate::site::records::record;
use crate::site::{PageRequest, format};

/// The number of scores of a bar of the histogram.
const SCORE_BIN: u32 = 5;

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
    /// Of all scores; `None` if the metric is another one.
    histogram: Option<Bars>,
    /// `None` if no firm on the page has a score.
    axis: Option<DotAxis>,
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
    /// The score with its interval.
    dot: Option<Dot>,
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
        Ok(RankedFirm { rank: ranked.rank, value: value_text(query.metric, ranked.value), firm, dot: None })
    });
    let mut rows: Vec<RankedFirm> = rows.collect::<Result<_, PageError>>()?;
    let dots = Dots::new("Health score", &rows.iter().map(|row| interval(&row.firm)).collect::<Vec<_>>());
    let axis = dots.map(|dots| {
        for (row, dot) in rows.iter_mut().zip(dots.rows) {
            row.dot = dot;
        }
        dots.axis
    });
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
        histogram: (query.metric == Metric::HealthScore).then(|| scores(catalog)).flatten(),
        axis,
        rows,
        total: board.total,
        pager: Pager::new(&link, page, board.total),
        api: link.at(&format!("{}/api/v3/leaderboard", request.state.public_url)).href(),
    };
    Ok(page.render()?)
}

fn interval(firm: &Firm) -> Option<Interval> {
    let score = &firm.score;
    let [low, value, high] = [score.low?, score.value?, score.high?].map(f64::from);
    Some(Interval { low, value, high })
}

/// How many firms have which score.
fn scores(catalog: &Catalog) -> Option<Bars> {
    let snapshot = catalog.snapshot();
    let key = Table::Firms.sort_key("health_score");
    let count = |rank: u32| snapshot.rows_of_ranks(Table::Firms, key, rank..rank + 1).len() as u64;
    let counts = (0..).zip(snapshot.values(Table::Firms, key));
    let counts: BTreeMap<u32, u64> =
        counts.filter_map(|(rank, score)| Some((u32::try_from(*score).ok()?, count(rank)))).collect();
    let firms: u64 = counts.values().sum();
    let sum: u64 = counts.iter().map(|(score, firms)| u64::from(*score) * firms).sum();
    let summary = format!(
        "{} a score, on average {:.1} of 100. A bar leads to the firms with at least its lowest score, lowest first.",
        format::counted(firms, "firm has", "firms have"),
        sum as f64 / firms.max(1) as f64,
    );
    let head = Head::new("scores", "All health scores", summary);
    let href = |low: u32, _| Some(format!("/vcs?min_health_score={low}&sort=health_score"));
    Bars::histogram(head, ["Score", "Firms"], Unit::Count("firm", "firms"), &counts, SCORE_BIN, href)
}
