//! `/match`: the firms that fit a startup, with reasons. The shortlist is a parameter of the URL.

use std::collections::HashSet;

use askama::Template;

use crate::browse::{PageQuery, Pager, Warning, page_size, position_of};
use crate::choice::{Choice, choices};
use crate::compare::{self, SelectedRecord};
use crate::filters::{FieldConfig, TextField};
use crate::layout::PageLayout;
use crate::records::{record, records};
use crate::{PageRequest, PageResult, PathValues, render};
use catalog::{
    Catalog, Filter, FirmMatch, MatchPage, ParseOptions, Property, ReasonPoints, Request, Resource, RowFilter,
};
use data::model::{Firm, FundingRound, Startup};
use data::vocabulary::{Vocabulary, enumerated};
use data::{Facet, Table};
use view::charts::Bars;
use view::format;
use view::link::Link;

const MAX_PICKED: usize = 50;
const PICKED: &str = "pick";
const RAISE: FieldConfig = FieldConfig { name: "raise_usd", label: "Raising, US dollars", hint: "2m" };
/// Fields of the form below the first ones.
const DETAILS: [FieldConfig; 5] = [
    FieldConfig { name: "city", label: "City", hint: "London" },
    FieldConfig { name: "startup", label: "The startup, if the data has it", hint: "name" },
    FieldConfig { name: "text", label: "What it does", hint: "payments for farmers" },
    FieldConfig { name: "backer", label: "Its investors", hint: "names" },
    FieldConfig { name: "not_firm", label: "Firms to leave out", hint: "names" },
];

const OPTIONS: ParseOptions = ParseOptions { strict: false, review_statuses: &[], other_names: &["page", PICKED] };

#[derive(Template)]
#[template(path = "match.html")]
struct MatchingPage {
    layout: PageLayout,
    warnings: Vec<Warning>,
    choices: Vec<Choice>,
    raise: TextField,
    /// Further choices and fields; open if one of them is given.
    more: Vec<Choice>,
    details: Vec<TextField>,
    has_details: bool,
    is_described: bool,
    picked: String,
    shortlist: Vec<SelectedRecord>,
    shortlist_csv: String,
    compare: String,
    firms: Vec<FirmRow>,
    total: u64,
    complete: u64,
    max_points: u16,
    pager: Pager,
    api: String,
}

struct FirmRow {
    firm: Firm,
    fit: FirmMatch,
    /// True for the first firm of the page that lacks a condition, unless it is the first of all.
    is_first_incomplete: bool,
    bar: Bars,
    /// Color class and text of each reason.
    reasons: Vec<(String, String)>,
    missing: String,
    led: Option<(u64, u64)>,
    /// The most similar rounds; true if the firm led.
    deals: Vec<(FundingRound, bool)>,
    /// Slugs, names and numbers of shared rounds of backers.
    introductions: Vec<(String, String, u32)>,
    conflicts: Vec<Startup>,
    unknown: String,
    /// Path of the page with the firm added to the shortlist, or removed.
    pick: String,
    is_picked: bool,
}

pub(crate) fn page(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let asked = PageQuery::lenient(catalog, Resource::Match, "/match", request.query, OPTIONS)?;
    let PageQuery { parsed, page, given, problems, .. } = &asked;
    let Request::Match(query) = &parsed.request else { unreachable!("matches are not a list") };
    let is_described = !query.is_empty();
    let picked = read_shortlist(catalog, given);
    let slugs: Vec<&str> = picked.iter().map(|row| catalog.snapshot().slug(Table::Firms, *row)).collect();
    let link = Link::canonical("/match", parsed).with(PICKED, &slugs.join(","));
    let found = match is_described {
        true => catalog.matches(query, position_of(&link, *page), page_size(&link) as usize),
        false => Default::default(),
    };
    let row = |fit: &FirmMatch| firm_row(catalog, &found, &link, fit);
    let mut firms: Vec<FirmRow> = found.matches.iter().map(row).collect::<Result<_, _>>()?;
    if let Some(first) = firms.iter_mut().find(|firm| !firm.fit.missing.is_empty()) {
        first.is_first_incomplete = found.complete > 0;
    }
    let shortlisted = |row: &u32| SelectedRecord::new(catalog, Table::Firms, *row, &link, PICKED);
    let description = "Which venture capital firms fit a startup, by what they invested in, each with its reasons.";
    let details: Vec<TextField> = DETAILS.iter().map(|config| TextField::new(config, &asked)).collect();
    render(&MatchingPage {
        layout: PageLayout::new(catalog.snapshot(), "Match", description, request.path).canonical(request.state),
        warnings: asked.warnings(&link),
        choices: choices(catalog, &link, &["stage", "sector", "country"], problems),
        raise: TextField::new(&RAISE, &asked),
        more: choices(catalog, &link, &["kind"], problems),
        has_details: details.iter().any(|field| !field.value.is_empty()) || !link.text("kind").is_empty(),
        details,
        is_described,
        picked: slugs.join(","),
        shortlist: picked.iter().map(shortlisted).collect(),
        shortlist_csv: Link::new("/vcs.csv", Vec::new()).with("slug", &slugs.join(",")).href(),
        compare: Link::new("/compare", Vec::new())
            .with("firm", &slugs[..slugs.len().min(compare::MAX)].join(","))
            .href(),
        total: found.total,
        complete: found.complete,
        max_points: found.max_points,
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

fn firm_row(catalog: &Catalog, found: &MatchPage, link: &Link, fit: &FirmMatch) -> PageResult<FirmRow> {
    let (firm, snapshot): (Firm, _) = (record(catalog, Table::Firms, fit.row)?, catalog.snapshot());
    let conflicts: Vec<u32> = fit.conflicts.iter().map(|(startup, _)| *startup).collect();
    let (points, max) = (fit.points, found.max_points);
    let numbers: Vec<String> = fit.reasons.iter().map(reason_points).collect();
    let parts = (0..).zip(&fit.reasons).map(|reason| (reason.1.points, full_reason(reason)));
    let words = |texts: Vec<String>| enumerated(&texts);
    let introduction = |(backer, rounds): &(u32, u32)| {
        (snapshot.slug(Table::Firms, *backer).to_owned(), snapshot.name(Table::Firms, *backer).to_owned(), *rounds)
    };
    let deals: Vec<FundingRound> = records(catalog, Table::Rounds, &fit.deals)?;
    let led_by_firm = |round: FundingRound| {
        let is_led = round.lead_investors.iter().flatten().any(|lead| lead.slug == firm.slug);
        (round, is_led)
    };
    Ok(FirmRow {
        is_first_incomplete: false,
        bar: Bars::of_whole(&format!("{points} of {max} points: {}", numbers.join(", ")), max, parts),
        reasons: (0..).zip(&fit.reasons).map(full_reason).collect(),
        missing: words(fit.missing.iter().map(|reason| reason.name().to_owned()).collect()),
        led: count_led(catalog, fit.row, &[]),
        deals: deals.into_iter().map(led_by_firm).collect(),
        introductions: fit.introductions.iter().map(introduction).collect(),
        conflicts: records(catalog, Table::Startups, &conflicts)?,
        unknown: words(fit.unknown.iter().map(|field| unknown_field(field).to_owned()).collect()),
        pick: link.toggled(PICKED, &firm.slug).href(),
        is_picked: link.values(PICKED).any(|slug| slug == firm.slug),
        fit: fit.clone(),
        firm,
    })
}

/// A field of a firm in words.
fn unknown_field(field: &str) -> &str {
    match field {
        "check_min_usd" => "smallest check",
        "check_max_usd" => "largest check",
        "ghosting_rate" => "how many founders got no answer",
        field => field,
    }
}

/// A reason with its points: `Stage 25 of 90`.
fn reason_points(reason: &ReasonPoints) -> String {
    format!("{} {} of {}", format::word(reason.name.name()), reason.points, reason.max_points)
}

/// Color class of a reason by its index, and its points and explanation as in the API. The style sheet has a color for
/// each reason.
fn full_reason((index, reason): (usize, &ReasonPoints)) -> (String, String) {
    (format!("s{}", index + 1), format!("{}: {}", reason_points(reason), reason.detail))
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
