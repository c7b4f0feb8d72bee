//! The leaderboard: firms ranked by a metric, with filters.

use std::collections::BTreeMap;

use askama::Template;

use crate::browse::{PARSE_OPTIONS, PER_PAGE, PageQuery, Pager, Warning, at_page, page_size, position_of};
use crate::choice::{Choice, choices};
use crate::conditions::{active_filters, label_of};
use crate::embed::DrawnChart;
use crate::error_page::PageError;
use crate::field_years::investors_until;
use crate::filters::total;
use crate::layout::PageLayout;
use crate::moves::{Move, Moves};
use crate::records::records;
use crate::{PageRequest, PageResult, PathValues, render};
use catalog::{Catalog, ParseOptions, RankedRow, Request, Resource};
use data::model::Firm;
use data::vocabulary::Vocabulary;
use data::{Metric, Table};
use platform::pause;
use view::charts::{
    AxisRange, Bars, ChartFigure, ChartHead, ChartUnit, DotAxis, IntervalDot, Point, dots, doubling_bins, even_bins,
    round_step,
};
use view::format;
use view::link::Link;

/// Scores per bar of the histogram of health scores.
const SCORE_BIN: u32 = 5;
/// Approximate number of bars in the histogram of any other metric.
const BARS: u32 = 12;
const FIRMS: ChartUnit = ChartUnit::Count("firm", "firms");
const CONDITIONS: [&str; 4] = ["stage", "sector", "country", "kind"];

#[derive(Template)]
#[template(path = "leaderboard.html")]
struct RankingPage {
    layout: PageLayout,
    warnings: Vec<Warning>,
    /// Label and path of each ranking; true for the current one.
    metrics: Vec<(&'static str, String, bool)>,
    metric: String,
    column: &'static str,
    description: String,
    choices: Vec<Choice>,
    active_filters: Vec<(String, String)>,
    clear: String,
    missing: Option<String>,
    /// For a board without firms: a condition, the path of the board without it, and the number of firms there.
    relaxed: Vec<(String, String, u64)>,
    histogram: Option<Bars>,
    /// Heading and axis of the dots; `None` if no firm on the page has a dot.
    axis: Option<(&'static str, DotAxis)>,
    rows: Vec<RankedFirm>,
    moves: Option<Moves>,
    total: u64,
    pager: Pager,
    api: String,
}

struct RankedFirm {
    rank: u64,
    moved: Option<Move>,
    value: String,
    firm: Firm,
    dot: Option<IntervalDot>,
    /// The data behind the value, such as the number of reviews.
    basis: String,
}

struct MetricText {
    label: &'static str,
    column: &'static str,
    /// The heading of the dots.
    axis: &'static str,
    /// Shown values are multiplied by this, have these decimals and end with this unit.
    factor: f64,
    decimals: usize,
    unit: &'static str,
}

impl MetricText {
    fn new(metric: Metric) -> Self {
        let (label, column, axis, factor, decimals, unit) = match metric {
            Metric::HealthScore => ("Health score", "Cautious score", "Health score, 90 % interval", 1.0, 1, ""),
            Metric::Responsiveness => ("Responsiveness", "Rating of 5", "Responsiveness", 1.0, 2, ""),
            Metric::Fairness => ("Fairness", "Rating of 5", "Fairness", 1.0, 2, ""),
            Metric::ValueAdd => ("Value added", "Rating of 5", "Value added", 1.0, 2, ""),
            Metric::GhostingRate => ("Lowest ghosting rate", "Ghosting rate", "Ghosting rate, percent", 100.0, 1, " %"),
            Metric::Activity => ("Most active", "Rounds", "Rounds joined", 1.0, 0, ""),
        };
        Self { label, column, axis, factor, decimals, unit }
    }

    fn value(&self, value: f64) -> String {
        format!("{:.*}{}", self.decimals, self.factor * value, self.unit)
    }
}

fn description(catalog: &Catalog, metric: Metric) -> String {
    let what = match metric {
        Metric::HealthScore => {
            "Ranked by the cautious score: the health score minus its standard error, so that a firm with few reviews does \
             not lead by chance. Where intervals overlap, the order may be chance."
        }
        Metric::Responsiveness => "How fast and how well firms respond, smoothed.",
        Metric::Fairness => "How fair terms and negotiations are, smoothed.",
        Metric::ValueAdd => "What firms contribute beyond money, smoothed.",
        Metric::GhostingRate => "The share of founders who never got a response, smoothed, lowest first.",
        Metric::Activity => {
            let period = catalog.snapshot().recent_period().in_words(format::day);
            return format!(
                "Rounds joined {period}, the newest of the data. No reviews are required.{}",
                investors_until(catalog).map(|text| format!(" {text}")).unwrap_or_default()
            );
        }
    };
    format!("{what} Firms whose reviews count as at least 5 of today.")
}

fn has_board(catalog: &Catalog, metric: Metric) -> bool {
    !catalog.snapshot().leaderboard(metric).0.is_empty()
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let asked = PageQuery::lenient(catalog, Resource::Leaderboard, "/leaderboard", request.query, PARSE_OPTIONS)?;
    let (mut link, page) = (asked.link.clone(), asked.page);
    let Request::Leaderboard(mut query) = asked.parsed.request.clone() else {
        unreachable!("the leaderboard is not a list")
    };
    // Without reviews, the default is a board that needs none.
    let shown = shown_metric(catalog, query.metric);
    if link.text("metric").is_empty() && shown != query.metric {
        query.metric = shown;
        link = link.with("metric", shown.name());
    }
    let metric = query.metric;
    let board = catalog.leaderboard(&query, position_of(&link, page), page_size(&link) as usize);
    let shown = Metric::ALL.iter().filter(|tab| has_board(catalog, **tab) || **tab == metric);
    let metrics = shown.map(|tab| {
        let value = if *tab == Metric::HealthScore { "" } else { tab.name() };
        (MetricText::new(*tab).label, link.with("metric", value).href(), *tab == metric)
    });
    pause::point();
    let moves = Moves::compare(catalog, request.state, &query, &link, &board.rows);
    let firms: Vec<Firm> = records(catalog, Table::Firms, board.rows.iter().map(|ranked| &ranked.row))?;
    let points = board.rows.iter().zip(&firms).map(|(ranked, firm)| point(metric, ranked.value, firm));
    pause::point();
    let (axis, dots) = dots(points.collect(), axis_range(metric));
    let text = MetricText::new(metric);
    let row = |((ranked, firm), dot): ((&RankedRow, Firm), Option<IntervalDot>)| RankedFirm {
        rank: ranked.rank,
        moved: moves.as_ref().and_then(|moves| moves.move_of(ranked.row)),
        value: text.value(ranked.value),
        basis: basis(metric, &firm),
        firm,
        dot,
    };
    let rows = board.rows.iter().zip(firms).zip(dots).map(row).collect();
    let about = description(catalog, metric);
    let meta = format!("Venture capital firms ranked by {}. {about}", text.label.to_lowercase());
    let histogram = histogram(catalog, metric);
    let layout = PageLayout::new(catalog.snapshot(), "Leaderboard", &meta, request.path)
        .with_twins(request.state, &at_page(&link, page).query());
    render(&RankingPage {
        layout: layout.with_chart(request.state, histogram.as_ref().map(ChartFigure::head)),
        warnings: asked.warnings(&link),
        metrics: metrics.collect(),
        metric: link.text("metric").to_owned(),
        column: text.column,
        description: about,
        choices: choices(catalog, &link, &CONDITIONS, &asked.problems),
        active_filters: active_filters(catalog, &link),
        clear: Link::new("/leaderboard", Vec::new()).with("metric", link.text("metric")).href(),
        missing: (!has_board(catalog, metric)).then(|| missing(catalog, metric)),
        relaxed: if board.total == 0 { relaxed(catalog, &link) } else { Vec::new() },
        histogram,
        axis: axis.map(|axis| (text.axis, axis)),
        rows,
        moves,
        total: board.total,
        pager: Pager::new(&link, page, board.total),
        api: link.at(&request.api("leaderboard")).href(),
    })
}

fn missing(catalog: &Catalog, metric: Metric) -> String {
    match metric {
        Metric::Activity => {
            let period = catalog.snapshot().recent_period().in_words(format::day);
            format!("The data names no firm that joined a round {period}.")
        }
        _ => "This ranking takes reviews of a firm that count as 5 of today, and no firm in the data has as many."
            .to_owned(),
    }
}

/// For each condition: the leaderboard without it, if that has firms.
fn relaxed(catalog: &Catalog, link: &Link) -> Vec<(String, String, u64)> {
    let relaxed = CONDITIONS.into_iter().filter(|name| !link.text(name).is_empty()).map(|name| {
        let without = link.with(name, "");
        let values: Vec<String> = link.values(name).map(|value| label_of(catalog, name, value)).collect();
        let total = total(catalog, Resource::Leaderboard, &without, PARSE_OPTIONS);
        (values.join(" or "), without.href(), total)
    });
    relaxed.filter(|(.., total)| *total > 0).collect()
}

/// Scores and ratings have one axis on all pages.
fn axis_range(metric: Metric) -> AxisRange {
    match metric {
        Metric::HealthScore => Point::SCORE_AXIS,
        Metric::Responsiveness | Metric::Fairness | Metric::ValueAdd => Some((1.0, 5.0)),
        Metric::GhostingRate | Metric::Activity => None,
    }
}

/// The distribution of the metric that the query names.
pub(crate) fn distribution_chart(catalog: &Catalog, request: PageRequest<'_>) -> PageResult<Option<DrawnChart>> {
    let metric = request.parameter("metric").map(|metric| ("metric".to_owned(), metric.into_owned()));
    let metric: Vec<(String, String)> = metric.into_iter().collect();
    let parsed = catalog.parse(Resource::Leaderboard, &metric, ParseOptions { strict: true, ..PARSE_OPTIONS });
    let parsed = parsed.map_err(|issues| PageError::InvalidQuery(issues.report(catalog)))?;
    let Request::Leaderboard(query) = parsed.request else { unreachable!("the leaderboard is not a list") };
    let metric = if metric.is_empty() { shown_metric(catalog, query.metric) } else { query.metric };
    Ok(DrawnChart::new("Leaderboard", histogram(catalog, metric)))
}

/// The metric, or without reviews the first one that needs none.
fn shown_metric(catalog: &Catalog, metric: Metric) -> Metric {
    let known = || Metric::ALL.iter().copied().find(|metric| has_board(catalog, *metric));
    if has_board(catalog, metric) { metric } else { known().unwrap_or(metric) }
}

fn point(metric: Metric, value: f64, firm: &Firm) -> Option<Point> {
    if metric == Metric::HealthScore {
        return Some(Point::of_score(firm.score.low?, firm.score.value?, firm.score.high?));
    }
    let MetricText { axis, factor, .. } = MetricText::new(metric);
    let (value, decimals) = (factor * value, if metric == Metric::Activity { 0 } else { 2 });
    Some(Point { value, interval: None, name: format!("{axis} {value:.decimals$}") })
}

fn basis(metric: Metric, firm: &Firm) -> String {
    let reviews = || format::counted(firm.review_count, "review", "reviews");
    match (metric, &firm.score) {
        (Metric::Activity, _) => {
            firm.last_investment_on.map_or_else(String::new, |date| format!("last {}", format::on_date(&date)))
        }
        (Metric::HealthScore, score) => match (score.value, score.low, score.high) {
            (Some(value), Some(low), Some(high)) => format!("{value} ({low} to {high}), {}", reviews()),
            _ => reviews(),
        },
        (_, score) => {
            let health = score.value.map(|value| format!(", health score {value}"));
            format!("{}{}", reviews(), health.unwrap_or_default())
        }
    }
}

fn histogram(catalog: &Catalog, metric: Metric) -> Option<Bars> {
    if metric == Metric::HealthScore {
        return scores(catalog);
    }
    let text = MetricText::new(metric);
    let MetricText { factor, decimals, unit, .. } = text;
    // Hundredths of a rating, tenths of a percent.
    let parts = 10_f64.powi(decimals as i32);
    let scale = factor * parts;
    let name = |value: u32| format!("{:.decimals$}", f64::from(value) / parts);
    let mut values: Vec<u32> =
        catalog.leaderboard_values(metric).map(|value| (value * scale).floor().max(0.0) as u32).collect();
    values.sort_unstable();
    let counts: BTreeMap<u32, u64> =
        values.chunk_by(|one, next| one == next).map(|equal| (equal[0], equal.len() as u64)).collect();
    let (least, most) = (*values.first()?, *values.last()?);
    let middle = values[values.len() / 2];
    let bins = match metric {
        // Most firms join few rounds, so that nearly all would be in the first of bins of equal size.
        Metric::Activity => doubling_bins(&counts),
        _ => even_bins(&counts, round_step(f64::from(most - least) / f64::from(BARS)).0.max(1.0) as u32),
    };
    let summary = format!(
        "{} ranked, from {} to {}{unit}; the median is {}{unit}. A bar leads to its firms in the ranking.",
        format::counted(values.len(), "firm is", "firms are"),
        name(least),
        name(most),
        name(middle),
    );
    let head = ChartHead::new("distribution", format!("All ranked firms by {}", text.axis.to_lowercase()), summary)
        .table([text.axis, "Firms"], FIRMS)
        .on_page("/leaderboard", &format!("metric={}", metric.name()));
    // A bar links to its first firm in the unfiltered ranking.
    let board = Link::new("/leaderboard", vec![("metric".to_owned(), metric.name().to_owned())]);
    let (ranked, _) = catalog.snapshot().leaderboard(metric);
    let href = |low: u32, high: u32| {
        let better: u64 = match metric {
            Metric::GhostingRate => counts.range(..low).map(|(_, firms)| firms).sum(),
            _ => counts.range(high + 1..).map(|(_, firms)| firms).sum(),
        };
        let first = catalog.snapshot().slug(Table::Firms, *ranked.get(better as usize)?);
        Some(format!("{}#{first}", at_page(&board, better / PER_PAGE + 1).href()))
    };
    Bars::histogram(head, &counts, &bins, name, href)
}

/// The distribution of health scores, including firms with too few reviews to be ranked.
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
        "{} a score, on average {:.1} of 100. Firms with too few reviews to be ranked are included. A bar \
         leads to the firms with this score or a higher one, lowest first.",
        format::counted(firms, "firm has", "firms have"),
        sum as f64 / firms.max(1) as f64,
    );
    let head = ChartHead::new("distribution", "All health scores", summary)
        .table(["Score", "Firms"], FIRMS)
        .on_page("/leaderboard", &format!("metric={}", Metric::HealthScore.name()));
    let href = |low: u32, _| Some(format!("/vcs?min_health_score={low}&sort=health_score"));
    let bins = even_bins(&counts, SCORE_BIN);
    Bars::histogram(head, &counts, &bins, |score| score.to_string(), href)
}
