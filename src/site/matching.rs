//! `/match`: the firms that fit a startup, with reasons. The shortlist is a parameter of the URL.

use std::collections::HashSet;

use askama::Template;

use crate::browse::{PageQuery, Pager, Warning, page_size, position_of};
use crate::charts::Bars;
use crate::choice::{Choice, choices};
use crate::compare::{self, SelectedRecord};
use crate::filters::{FieldConfig, TextField};
use crate::layout::PageLayout;
use crate::link::Link;
use crate::records::{record, records};
use crate::{PageRequest, PageResult, PathValues, format, render};
use catalog::matching::MatchReason;
use catalog::{
    Catalog, Filter, FirmMatch, ListPosition, MatchPage, MatchQuery, ParseOptions, Property, Query, Request, Resource,
    RowFilter,
};
use data::model::{Firm, FundingRound, Startup};
use data::vocabulary::Vocabulary;
use data::{Facet, Table};

const DEALS: usize = 3;
const MAX_PICKED: usize = 50;
const PICKED: &str = "pick";
const RAISE: FieldConfig = FieldConfig { name: "raise_usd", label: "Raising, US dollars", hint: "2m" };

const OPTIONS: ParseOptions = ParseOptions { strict: false, review_statuses: &[], other_names: &["page", PICKED] };

#[derive(Template)]
#[template(path = "match.html")]
struct MatchingPage {
    layout: PageLayout,
    warnings: Vec<Warning>,
    choices: Vec<Choice>,
    raise: TextField,
    is_described: bool,
    picked: String,
    shortlist: Vec<SelectedRecord>,
    shortlist_csv: String,
    compare: String,
    /// Color class and text of the reasons shared by all firms on the page.
    shared: Vec<(String, String)>,
    firms: Vec<FirmRow>,
    total: u64,
    max_points: u8,
    /// The highest number of points, and the number of firms that have it.
    most: Option<(u8, u64)>,
    /// The order of firms with equal points, in words; `None` if no firm on the page ties with another.
    order_of_equals: Option<&'static str>,
    pager: Pager,
    api: String,
}

struct FirmRow {
    firm: Firm,
    points: u8,
    /// Number of firms with the same points, on all pages; `None` if it is 1 or the previous row shows it.
    equals: Option<u64>,
    bar: Bars,
    reasons: Vec<(String, String)>,
    /// Color class and words of the reasons that are not shared by all firms on the page.
    differences: Vec<(String, String)>,
    led: Option<(u64, u64)>,
    deals: Vec<FundingRound>,
    conflicts: Vec<Startup>,
    conflict_count: u32,
    /// Path of the page with the firm added to the shortlist, or removed.
    pick: String,
    is_picked: bool,
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let asked = PageQuery::lenient(catalog, Resource::Match, "/match", request.query, OPTIONS)?;
    let PageQuery { parsed, page, given, problems, .. } = &asked;
    let Request::Match(query) = &parsed.request else { unreachable!("matches are not a list") };
    let is_described = !parsed.canonical.is_empty();
    let picked = read_shortlist(catalog, given);
    let slugs: Vec<&str> = picked.iter().map(|row| catalog.snapshot().slug(Table::Firms, *row)).collect();
    let link = Link::canonical("/match", parsed).with(PICKED, &slugs.join(","));
    let found = match is_described {
        true => catalog.matches(query, position_of(&link, *page), page_size(&link) as usize),
        false => Default::default(),
    };
    let shared = shared_reasons(&found.matches);
    let row = |fit: &FirmMatch| firm_row(catalog, query, &found, &link, &shared, fit);
    let mut firms: Vec<FirmRow> = found.matches.iter().map(row).collect::<Result<_, _>>()?;
    let has_equals = firms.iter().any(|firm| firm.equals.is_some());
    for run in firms.chunk_by_mut(|one, next| one.points == next.points) {
        run[1..].iter_mut().for_each(|firm| firm.equals = None);
    }
    let shortlisted = |row: &u32| SelectedRecord::new(catalog, Table::Firms, *row, &link, PICKED);
    let of_first = found.matches.first().into_iter().flat_map(all_reasons);
    let description =
        "Which venture capital firms fit a startup, by stage, sector, country and amount, each with its reasons.";
    render(&MatchingPage {
        layout: PageLayout::new(catalog.snapshot(), "Match", description, request.path).canonical(request.state),
        warnings: asked.warnings(&link),
        choices: choices(catalog, &link, &["stage", "sector", "country"], problems),
        raise: TextField::new(&RAISE, &asked),
        is_described,
        picked: slugs.join(","),
        shortlist: picked.iter().map(shortlisted).collect(),
        shortlist_csv: Link::new("/vcs.csv", Vec::new()).with("slug", &slugs.join(",")).href(),
        compare: Link::new("/compare", Vec::new())
            .with("firm", &slugs[..slugs.len().min(compare::MAX)].join(","))
            .href(),
        shared: of_first.filter(|(index, ..)| shared.contains(index)).map(full_reason).collect(),
        total: found.total,
        max_points: found.max_points,
        most: found.by_points.last_key_value().map(|(points, firms)| (*points, *firms)),
        order_of_equals: has_equals.then(|| order_of_equals(catalog)),
        firms,
        pager: Pager::new(&link, *page, found.total),
        api: link.with(PICKED, "").at(&request.api("match")).href(),
    })
}

/// The rows of the firms on the shortlist, without unknown ones.
fn read_shortlist(catalog: &Catalog, params: &[(String, String)]) -> Vec<u32> {
    let slugs = params.iter().filter(|(name, _)| name == PICKED).flat_map(|(_, value)| value.split(','));
    let mut seen = HashSet::new();
    let rows = slugs.filter_map(|slug| catalog.find(Table::Firms, slug.trim()));
    rows.filter(|row| seen.insert(*row)).take(MAX_PICKED).collect()
}

fn firm_row(
    catalog: &Catalog,
    query: &MatchQuery,
    found: &MatchPage,
    link: &Link,
    shared: &[usize],
    fit: &FirmMatch,
) -> PageResult<FirmRow> {
    let firm: Firm = record(catalog, Table::Firms, fit.row)?;
    // Rounds of the firm that are similar to the startup's.
    let profile = MatchQuery::FACETS.into_iter().zip(&query.profile);
    let alike = profile.filter_map(|(facet, values)| Some(Filter::AnyOf(facet, values.clone()?)));
    let joined = Filter::AnyOf(Facet::Investor, vec![fit.row]);
    let deals = Query { filters: std::iter::once(joined).chain(alike).collect(), ..Query::all(Table::Rounds) };
    let deals = catalog.list(&deals, ListPosition::default(), DEALS);
    let conflicts: Vec<u32> = fit.conflicts.iter().map(|(startup, _)| *startup).collect();
    let differs = |(index, ..): &IndexedReason<'_>| !shared.contains(index);
    let short = |(index, reason): IndexedReason<'_>| (color_class(index), short_reason(reason, &firm));
    let (points, max) = (fit.points, found.max_points);
    let numbers: Vec<String> = fit.reasons.iter().map(reason_points).collect();
    let parts = all_reasons(fit).map(|reason| (reason.1.1, full_reason(reason)));
    Ok(FirmRow {
        points,
        equals: found.by_points.get(&points).copied().filter(|firms| *firms > 1),
        bar: Bars::of_whole(&format!("{points} of {max} points: {}", numbers.join(", ")), max, parts),
        reasons: all_reasons(fit).map(full_reason).collect(),
        differences: all_reasons(fit).filter(differs).map(short).collect(),
        led: count_led(catalog, fit.row, &[]),
        deals: records(catalog, Table::Rounds, &deals.rows)?,
        conflicts: records(catalog, Table::Startups, &conflicts)?,
        conflict_count: fit.conflict_count,
        pick: link.toggled(PICKED, &firm.slug).href(),
        is_picked: link.values(PICKED).any(|slug| slug == firm.slug),
        firm,
    })
}

/// A reason with points and explanation, preceded by its index among the reasons of the query.
type IndexedReason<'a> = (usize, &'a (MatchReason, u8, String));

fn all_reasons(firm: &FirmMatch) -> impl Iterator<Item = IndexedReason<'_>> {
    firm.reasons.iter().enumerate()
}

/// Indices of the reasons that all firms share, if there are several firms. They are shown once.
fn shared_reasons(firms: &[FirmMatch]) -> Vec<usize> {
    let [first, others @ ..] = firms else { return Vec::new() };
    let is_alike =
        |(index, reason): &IndexedReason<'_>| others.iter().all(|other| other.reasons.get(*index) == Some(reason));
    if others.is_empty() { Vec::new() } else { all_reasons(first).filter(is_alike).map(|(index, _)| index).collect() }
}

/// Color class of a reason by its index; the style sheet has one for each.
fn color_class(index: usize) -> String {
    format!("s{}", index + 1)
}

/// A reason with its points: `Stage 25 of 25`.
fn reason_points((reason, points, _): &(MatchReason, u8, String)) -> String {
    let label = match reason {
        MatchReason::Responsiveness => "Responses".to_owned(),
        _ => format::word(reason.name()),
    };
    format!("{label} {points} of {}", reason.max_points())
}

/// Color class of a reason, and its points and explanation as in the API.
fn full_reason((index, reason): IndexedReason<'_>) -> (String, String) {
    (color_class(index), format!("{}: {}", reason_points(reason), reason.2))
}

/// A reason in a few words, with its points unless it has the maximum.
fn short_reason((reason, points, detail): &(MatchReason, u8, String), firm: &Firm) -> String {
    let words = match reason {
        MatchReason::Stage | MatchReason::Sector | MatchReason::Country => detail.clone(),
        MatchReason::CheckSize => match format::usd_range(&firm.check_min_usd, &firm.check_max_usd) {
            range if range.is_empty() => "check size unknown".to_owned(),
            range => format!("checks {range}"),
        },
        MatchReason::Activity => match &firm.last_investment_on {
            Some(date) => format!("last invested {}", format::on_date(date)),
            None => "no dated investment".to_owned(),
        },
        MatchReason::Responsiveness => match &firm.ghosting_rate {
            Some(rate) => format!("{} % ghosted", format::tenths(rate)),
            None => "ghosting unknown".to_owned(),
        },
    };
    let max = reason.max_points();
    if *points == max { words } else { format!("{words} ({points} of {max})") }
}

/// The default order of firms in words, without keys that no firm has a value for.
fn order_of_equals(catalog: &Catalog) -> &'static str {
    match catalog.snapshot().values(Table::Firms, Table::Firms.sort_key("health_score")).is_empty() {
        true => "those with more rounds come first",
        false => "higher health scores come first, then more rounds",
    }
}

/// Of a firm's rounds that match all filters and name their leads: those it led, and all. `None` without such rounds.
pub(crate) fn count_led(catalog: &Catalog, firm: u32, filters: &[Filter]) -> Option<(u64, u64)> {
    let count = |more: &[Filter]| {
        let filters: Vec<Filter> = filters.iter().chain(more).cloned().collect();
        RowFilter::new(catalog, Table::Rounds, &filters).count()
    };
    let joined = Filter::AnyOf(Facet::Investor, vec![firm]);
    let named = count(&[joined, Filter::Known(Property::Facet(Facet::Lead))]);
    (named > 0).then(|| (count(&[Filter::AnyOf(Facet::Lead, vec![firm])]), named))
}
