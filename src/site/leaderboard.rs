//! The leaderboard: firms by a metric, under conditions.

use askama::Template;

use crate::catalog::{Catalog, Query, Request, Resource};
use crate::data::vocabulary::Vocabulary;
use crate::data::{Country, Facet, FirmKind, Metric, Stage, Table};
use crate::openapi::model;
use crate::openapi::model::Firm;
use crate::site::layout::PageLayout;

use crate::site::browse::{PER_PAGE, Pager, RULES, Warning, chosen, place_of, read_page, told};
use crate::site::error_page::PageError;
use crate::site::link::Link;
use crate::site::{PageRequest, format};

/// Sectors that are offered: those with most firms.
const SECTORS: u32 = 150;

#[derive(Template)]
#[template(path = "board.html")]
struct LeaderboardPage {
    frame: PageLayout,
    browse: Notes,
    metrics: Vec<MetricTab>,
    metric: String,
    head: &'static str,
    about: &'static str,
    choices: Vec<Choice>,
    chosen: Vec<(String, String)>,
    clear: String,
    rows: Vec<RankedFirm>,
    total: u64,
    pager: Pager,
    api: String,
}

/// What was not understood.
struct Notes {
    warnings: Vec<Warning>,
}

struct MetricTab {
    label: &'static str,
    href: String,
    is_on: bool,
}

struct Choice {
    name: &'static str,
    label: &'static str,
    any: &'static str,
    options: Vec<(String, String, bool)>,
}

struct RankedFirm {
    rank: u64,
    value: String,
    firm: Firm,
}

/// A metric as people call it, the head of its column, and what it ranks.
fn named(metric: Metric) -> (&'static str, &'static str, &'static str) {
    match metric {
        Metric::HealthScore => (
            "Health score",
            "Cautious score",
            "By the score less its standard error, so that a firm with few reviews does not lead by chance. Firms with 5 \
             reviews or more.",
        ),
        Metric::Responsiveness => (
            "Responsiveness",
            "Mean of 5",
            "How fast and how well firms answer, smoothed. Firms with 5 reviews or more.",
        ),
        Metric::Fairness => {
            ("Fairness", "Mean of 5", "How fair firms are in terms and talks, smoothed. Firms with 5 reviews or more.")
        }
        Metric::ValueAdd => {
            ("Value added", "Mean of 5", "What firms give besides money, smoothed. Firms with 5 reviews or more.")
        }
        Metric::GhostingRate => (
            "Least ghosting",
            "Ghosted",
            "The share of founders who never got an answer, smoothed, the smallest first. Firms with 5 reviews or more.",
        ),
        Metric::Activity => {
            ("Most active", "Rounds", "Rounds joined in the year before the release; no reviews are needed.")
        }
    }
}

fn shown(metric: Metric, value: f64) -> String {
    match metric {
        Metric::HealthScore => format!("{value:.1}"),
        Metric::Responsiveness | Metric::Fairness | Metric::ValueAdd => format!("{value:.2}"),
        Metric::GhostingRate => format!("{:.1} %", 100.0 * value),
        Metric::Activity => format!("{value:.0}"),
    }
}

/// `/leaderboard`: firms in order of a metric.
pub(crate) fn page(catalog: &Catalog, visit: PageRequest<'_>) -> Result<String, PageError> {
    let (values, page) = read_page(visit.query);
    let asked = catalog.ask(Resource::Leaderboard, &values, RULES).map_err(PageError::Wrong)?;
    let Request::Board(query) = asked.request else { return Err(PageError::Broken) };
    let pairs = asked.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let link = Link::new("/leaderboard", pairs);
    let board = catalog.leaderboard(&query, place_of(page), PER_PAGE as usize);
    let metrics = Metric::ALL.iter().map(|metric| {
        let value = if *metric == Metric::HealthScore { "" } else { metric.name() };
        MetricTab { label: named(*metric).0, href: link.with("metric", value).href(), is_on: *metric == query.metric }
    });
    let rows = board.ranked.iter().filter_map(|ranked| {
        let firm = model::read(catalog, Table::Firms, ranked.row)?;
        Some(RankedFirm { rank: ranked.rank, value: shown(query.metric, ranked.value), firm })
    });
    let (title, head, about) = named(query.metric);
    let description = format!("Venture capital firms ranked by {}. {about}", title.to_lowercase());
    let page = LeaderboardPage {
        frame: PageLayout::of(catalog.snapshot(), "Leaderboard", &description, visit.path),
        browse: Notes { warnings: asked.warnings.iter().map(|warning| told(warning, &link)).collect() },
        metrics: metrics.collect(),
        metric: link.text("metric").to_owned(),
        head,
        about,
        choices: choices(catalog, &link),
        chosen: chosen(catalog, &link),
        clear: Link::new("/leaderboard", Vec::new()).with("metric", link.text("metric")).href(),
        rows: rows.collect(),
        total: board.total,
        pager: Pager::new(&link, page, board.total),
        api: link.at(&format!("{}/api/v3/leaderboard", visit.state.public_url)).href(),
    };
    Ok(page.render()?)
}

fn choices(catalog: &Catalog, link: &Link) -> Vec<Choice> {
    fn words_of<V: Vocabulary>() -> Vec<(String, String)> {
        V::names().into_iter().map(|name| (name.to_owned(), format::word(name))).collect()
    }
    let snapshot = catalog.snapshot();
    let mut sectors: Vec<(String, String)> = (0..snapshot.rows(Table::Sectors).min(SECTORS))
        .map(|row| (snapshot.slug(Table::Sectors, row).to_owned(), snapshot.name(Table::Sectors, row).to_owned()))
        .collect();
    sectors.sort_by(|a, b| a.1.cmp(&b.1));
    let counts = catalog.counts_by(&Query::all(Table::Firms), &[Facet::Country]);
    let mut countries: Vec<(String, String)> = counts
        .iter()
        .flatten()
        .filter_map(|counted| Country::at(counted.value as usize))
        .map(|country| (country.alpha2().to_owned(), country.name().to_owned()))
        .collect();
    countries.sort_by(|a, b| a.1.cmp(&b.1));
    let choice = |name, label, any, values: Vec<(String, String)>| {
        let text = link.text(name).to_owned();
        let option = |(value, label): (String, String)| {
            let is_on = value == text;
            (value, label, is_on)
        };
        let mut options: Vec<(String, String, bool)> = values.into_iter().map(option).collect();
        if !text.is_empty() && !options.iter().any(|(.., is_on)| *is_on) {
            options.push((text.clone(), text, true));
        }
        Choice { name, label, any, options }
    };
    vec![
        choice("stage", "Stage", "any stage", words_of::<Stage>()),
        choice("sector", "Sector", "any sector", sectors),
        choice("country", "Country", "any country", countries),
        choice("kind", "Kind", "any kind", words_of::<FirmKind>()),
    ]
}
