//! The firms that fit a startup, with reasons: a form, ranked cards, a shortlist in the address.

use askama::Template;

use crate::catalog::matching::Reason;
use crate::catalog::{
    Catalog, Filter, FirmMatch, ListPosition, MatchQuery, ParseOptions, Property, Query, Request, Resource, RowFilter,
};
use crate::data::model::{Firm, FundingRound, Startup};
use crate::data::{Facet, Table};
use crate::site::browse::{Pager, Understood, Warning, page_size, position_of, problem_of};
use crate::site::charts::{Segment, Segments, Unit};
use crate::site::choice::{Choice, choices, marked};
use crate::site::error_page::PageError;
use crate::site::layout::PageLayout;
use crate::site::link::Link;
use crate::site::records::{record, records};
use crate::site::{PageRequest, format};

/// Deals like the startup's that a card names.
const DEALS: usize = 3;
/// Firms on a shortlist.
const MAX_PICKED: usize = 50;
/// Firms that can be compared.
const MAX_COMPARED: usize = 4;
const PICKED: &str = "pick";
const RAISE: &str = "raise_usd";

const OPTIONS: ParseOptions = ParseOptions { strict: false, review_statuses: &[], other_names: &["page", PICKED] };

#[derive(Template)]
#[template(path = "match.html")]
struct MatchingPage {
    layout: PageLayout,
    warnings: Vec<Warning>,
    choices: Vec<Choice>,
    raise: String,
    /// What is wrong with it.
    raise_error: Option<String>,
    /// Whether the form says anything of the startup.
    is_described: bool,
    /// Kept by the form.
    picked: String,
    shortlist: Vec<Picked>,
    shortlist_csv: String,
    compare: String,
    cards: Vec<Card>,
    total: u64,
    max_points: u8,
    pager: Pager,
    api: String,
}

/// A firm on the shortlist.
struct Picked {
    slug: String,
    name: String,
    /// The page without it.
    remove: String,
}

struct Card {
    firm: Firm,
    points: u8,
    reasons: Segments,
    /// How many of the rounds that name their leads it led, and how many do; `None` if none does.
    led: Option<(u64, u64)>,
    deals: Vec<FundingRound>,
    conflicts: Vec<Startup>,
    conflict_count: u32,
    /// The page with the firm on the shortlist, or without it.
    pick: String,
    is_picked: bool,
}

/// `/match`.
pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>) -> Result<String, PageError> {
    let understood = Understood::read(catalog, Resource::Match, OPTIONS, request.query)?;
    let Understood { parsed, page, given: params, problems } = &understood;
    let Request::Match(query) = &parsed.request else { unreachable!("matches are not a list") };
    let mut pairs: Vec<(String, String)> =
        parsed.canonical.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let picked = picked(catalog, params);
    let is_described = !pairs.is_empty();
    let slugs: Vec<&str> = picked.iter().map(|row| catalog.snapshot().slug(Table::Firms, *row)).collect();
    if !slugs.is_empty() {
        pairs.push((PICKED.to_owned(), slugs.join(",")));
    }
    let link = Link::new("/match", pairs);
    let found = match is_described {
        true => catalog.matches(query, position_of(&link, *page), page_size(&link) as usize),
        false => Default::default(),
    };
    let cards = found.matches.iter().map(|found| card(catalog, query, found, &link, &slugs));
    let cards: Result<Vec<Card>, PageError> = cards.collect();
    let api = link.with(PICKED, "");
    let raise_error = problem_of(problems, RAISE);
    let description =
        "Which venture capital firms fit a startup, by stage, sector, country and amount, each with its reasons.";
    let page = MatchingPage {
        layout: PageLayout::of(catalog.snapshot(), "Match", description, request.path)
            .at(&request.state.public_url)
            .by(&request.state.operator),
        warnings: understood.warnings(&link),
        choices: marked(choices(catalog, &link, &["stage", "sector", "country"]), problems),
        raise: match &raise_error {
            Some(_) => params.iter().find(|(name, _)| name == RAISE).map_or_else(String::new, |(_, text)| text.clone()),
            None => link.text(RAISE).to_owned(),
        },
        raise_error,
        is_described,
        picked: slugs.join(","),
        shortlist: slugs
            .iter()
            .zip(&picked)
            .map(|(slug, row)| Picked {
                slug: (*slug).to_owned(),
                name: catalog.snapshot().name(Table::Firms, *row).to_owned(),
                remove: link.toggled(PICKED, slug).href(),
            })
            .collect(),
        shortlist_csv: Link::new("/vcs.csv", Vec::new()).with("slug", &slugs.join(",")).href(),
        compare: Link::new("/compare", Vec::new())
            .with("firm", &slugs[..slugs.len().min(MAX_COMPARED)].join(","))
            .href(),
        cards: cards?,
        total: found.total,
        max_points: found.max_points,
        pager: Pager::new(&link, *page, found.total),
        api: api.at(&format!("{}/api/v3/match", request.state.public_url)).href(),
    };
    Ok(page.render()?)
}

/// The firms on the shortlist; unknown ones are left out.
fn picked(catalog: &Catalog, params: &[(String, String)]) -> Vec<u32> {
    let slugs = params.iter().filter(|(name, _)| name == PICKED).flat_map(|(_, value)| value.split(','));
    let mut rows = Vec::new();
    for row in slugs.filter_map(|slug| catalog.find(Table::Firms, slug.trim())) {
        if !rows.contains(&row) && rows.len() < MAX_PICKED {
            rows.push(row);
        }
    }
    rows
}

fn card(
    catalog: &Catalog,
    query: &MatchQuery,
    found: &FirmMatch,
    link: &Link,
    picked: &[&str],
) -> Result<Card, PageError> {
    let firm: Firm = record(catalog, Table::Firms, found.row)?;
    let joined = Filter::AnyOf(Facet::Investor, vec![found.row]);
    let alike = [(Facet::Stage, &query.stages), (Facet::Sector, &query.sectors), (Facet::Country, &query.countries)];
    let alike = alike.into_iter().filter_map(|(facet, values)| Some(Filter::AnyOf(facet, values.clone()?)));
    let deals = Query { filters: std::iter::once(joined).chain(alike).collect(), ..Query::all(Table::Rounds) };
    let deals = catalog.list(&deals, ListPosition::default(), DEALS);
    let conflicts: Vec<u32> = found.conflicts.iter().map(|(startup, _)| *startup).collect();
    let segment = |(reason, points, detail): &(Reason, u8, String)| Segment {
        label: format!("{}: {detail}", label(*reason)),
        value: Some(u64::from(*points)),
        max: u64::from(reason.max_points()),
        href: None,
    };
    let segments = found.reasons.iter().map(segment).collect();
    let points = format!("{} of 100 points", found.points);
    Ok(Card {
        points: found.points,
        reasons: Segments::new(points, Unit::Count("point", "points"), segments),
        led: led(catalog, found.row, &[]),
        deals: records(catalog, Table::Rounds, &deals.rows)?,
        conflicts: records(catalog, Table::Startups, &conflicts)?,
        conflict_count: found.conflict_count,
        pick: link.toggled(PICKED, &firm.slug).href(),
        is_picked: picked.contains(&firm.slug.as_str()),
        firm,
    })
}

fn label(reason: Reason) -> &'static str {
    match reason {
        Reason::Stage => "Stage",
        Reason::Sector => "Sector",
        Reason::Country => "Country",
        Reason::CheckSize => "Check size",
        Reason::Activity => "Activity",
        Reason::Responsiveness => "Responses",
    }
}

/// Of the rounds that a firm joined, that match all filters and that name their leads: how many it led, and how many there are;
/// `None` without any.
pub(crate) fn led(catalog: &Catalog, firm: u32, filters: &[Filter]) -> Option<(u64, u64)> {
    let count = |more: &[Filter]| {
        let filters: Vec<Filter> = filters.iter().chain(more).cloned().collect();
        RowFilter::of(catalog.snapshot(), Table::Rounds, &filters).count()
    };
    let joined = Filter::AnyOf(Facet::Investor, vec![firm]);
    let named = count(&[joined, Filter::Known(Property::Facet(Facet::Lead))]);
    (named > 0).then(|| (count(&[Filter::AnyOf(Facet::Lead, vec![firm])]), named))
}
