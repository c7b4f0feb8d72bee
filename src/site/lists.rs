use askama::Template;

use crate::browse::{Browse, BrowseConfig};
use crate::filters::{Bins, FieldConfig, RangeConfig};
use crate::layout::PageLayout;
use crate::records::{records, sector_links};
use crate::round_rows::RoundRows;
use crate::stage_strip::StageStrip;
use crate::{PageRequest, PageResult, PathValues, format, render};
use catalog::{Catalog, Resource};
use data::model::{Firm, Person, Startup};
use data::{Facet, Table};

const STAGE: (&str, &str, Facet) = ("stage", "Stage", Facet::Stage);
const SECTOR: (&str, &str, Facet) = ("sector", "Sector", Facet::Sector);
const COUNTRY: (&str, &str, Facet) = ("country", "Country", Facet::Country);

const fn field(name: &'static str, label: &'static str, hint: &'static str) -> FieldConfig {
    FieldConfig { name, label, hint }
}

const fn range(label: &'static str, names: [&'static str; 2], hints: [&'static str; 2], bins: Bins) -> RangeConfig {
    let [from, to] = names;
    RangeConfig { label, from: field(from, "From", hints[0]), to: field(to, "To", hints[1]), bins }
}

const FIRMS: BrowseConfig = BrowseConfig {
    resource: Resource::Firms,
    path: "/vcs",
    nouns: ("firm", "firms"),
    about: "Venture capital firms with their peer scores, ghosting rates and investments, by stage, sector, country and \
            kind.",
    facets: &[STAGE, SECTOR, COUNTRY, ("kind", "Kind", Facet::Kind)],
    ranges: &[
        range("Year of investment", ["active_since", "active_until"], ["2021", "2026"], Bins::ActiveYears),
        range("Year founded", ["founded_from", "founded_to"], ["2015", "2026"], Bins::Years("founded_year")),
    ],
    fields: &[
        field("city", "City", "London"),
        field("check_usd", "Check size", "US dollars, 500k"),
        field("min_portfolio", "Minimum portfolio", "number of startups"),
        field("min_health_score", "Minimum health score", "0 to 100"),
        field("max_ghosting_rate", "Maximum ghosting rate", "percent"),
    ],
    sort_options: &[
        ("-health_score,-investment_count", "Health score"),
        ("ghosting_rate", "Lowest ghosting rate"),
        ("-review_count", "Most reviews"),
        ("-investment_count", "Most investments"),
        ("-last_investment_on", "Latest investment"),
        ("check_min_usd", "Smallest check size"),
        ("name", "Name"),
    ],
};

const STARTUPS: BrowseConfig = BrowseConfig {
    resource: Resource::Startups,
    path: "/startups",
    nouns: ("startup", "startups"),
    about: "Startups with their funding, investors and latest rounds.",
    facets: &[STAGE, SECTOR, COUNTRY, ("status", "Status", Facet::Status)],
    ranges: &[
        range(
            "Amount raised",
            ["min_raised_usd", "max_raised_usd"],
            ["500k", "20m"],
            Bins::Amounts("total_raised_usd"),
        ),
        range(
            "Year of the last round",
            ["last_round_since", "last_round_until"],
            ["2021", "2026"],
            Bins::RoundYears("last_round_on"),
        ),
        range("Year founded", ["founded_from", "founded_to"], ["2015", "2026"], Bins::Years("founded_year")),
    ],
    fields: &[field("city", "City", "London"), field("investor", "Investor", "name of a firm")],
    sort_options: &[
        ("-total_raised_usd,-round_count", "Most raised"),
        ("-last_round_on", "Latest round"),
        ("-round_count", "Most rounds"),
        ("-founded_year", "Newest company"),
        ("name", "Name"),
    ],
};

const PEOPLE: BrowseConfig = BrowseConfig {
    resource: Resource::People,
    path: "/people",
    nouns: ("person", "people"),
    about: "People at venture capital firms and startups, with their titles.",
    facets: &[("kind", "Works at a", Facet::Kind), COUNTRY],
    ranges: &[],
    fields: &[field("title", "Title", "partner"), field("city", "City", "London")],
    sort_options: &[("name", "Name"), ("-name", "Name, Z to A")],
};

const ROUNDS: BrowseConfig = BrowseConfig {
    resource: Resource::Rounds,
    path: "/rounds",
    nouns: ("round", "rounds"),
    about: "Funding rounds with their amounts, dates and investors, by stage, sector and country.",
    facets: &[STAGE, SECTOR, COUNTRY],
    ranges: &[
        range("Date announced", ["since", "until"], ["2021", "2026-06-30"], Bins::RoundYears("announced_on")),
        range("Amount", ["min_amount_usd", "max_amount_usd"], ["500k", "20m"], Bins::Amounts("amount_usd")),
    ],
    fields: &[field("investor", "Investor", "name of a firm"), field("city", "City", "London")],
    sort_options: &[
        ("-announced_on", "Newest"),
        ("-amount_usd", "Largest"),
        ("amount_usd", "Smallest"),
        ("announced_on", "Oldest"),
    ],
};

fn config_of(table: Table) -> &'static BrowseConfig {
    match table {
        Table::Firms => &FIRMS,
        Table::Rounds => &ROUNDS,
        Table::People => &PEOPLE,
        _ => &STARTUPS,
    }
}

pub(crate) fn list_path(table: Table) -> &'static str {
    config_of(table).path
}

/// The words for one record of a table's list, and for several.
pub(crate) fn nouns(table: Table) -> (&'static str, &'static str) {
    config_of(table).nouns
}

#[derive(Template)]
#[template(path = "rounds.html")]
struct RoundsPage {
    layout: PageLayout,
    browse: Browse,
    rounds: RoundRows,
}

#[derive(Template)]
#[template(path = "firms.html")]
struct FirmsPage {
    layout: PageLayout,
    browse: Browse,
    /// Firms, each with name and path of some of its sectors.
    firms: Vec<(Firm, Vec<(String, String)>)>,
    /// Columns that have a value in any row.
    shows_score: bool,
    shows_ghosting: bool,
    shows_sectors: bool,
    shows_check_size: bool,
}

/// Sectors shown per record in a list.
pub(crate) const SECTORS: usize = 2;

#[derive(Template)]
#[template(path = "startups.html")]
struct StartupsPage {
    layout: PageLayout,
    browse: Browse,
    startups: Vec<Startup>,
}

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    layout: PageLayout,
    browse: Browse,
    people: Vec<Person>,
}

pub(crate) fn firms(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &FIRMS)?;
    let firms: Vec<Firm> = records(catalog, Table::Firms, &rows)?;
    let has_check_size = |firm: &Firm| firm.check_min_usd.is_some() || firm.check_max_usd.is_some();
    let with_sectors = |firm: Firm| {
        let sectors = sector_links(catalog, &firm.sectors, "/sectors/").take(SECTORS).collect();
        (firm, sectors)
    };
    render(&FirmsPage {
        layout,
        browse,
        shows_score: firms.iter().any(|firm| firm.health_score.is_some()),
        shows_ghosting: firms.iter().any(|firm| firm.ghosting_rate.is_some()),
        shows_sectors: firms.iter().any(|firm| !firm.sectors.is_empty()),
        shows_check_size: firms.iter().any(has_check_size),
        firms: firms.into_iter().map(with_sectors).collect(),
    })
}

pub(crate) fn startups(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &STARTUPS)?;
    render(&StartupsPage { layout, browse, startups: records(catalog, Table::Startups, &rows)? })
}

pub(crate) fn rounds(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &ROUNDS)?;
    let rounds = RoundRows::load(catalog, &rows)?.sortable(&browse);
    render(&RoundsPage { layout, browse, rounds })
}

pub(crate) fn people(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &PEOPLE)?;
    render(&PeoplePage { layout, browse, people: records(catalog, Table::People, &rows)? })
}
