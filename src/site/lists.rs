//! The lists: firms, startups, people.

use askama::Template;

use crate::catalog::{Catalog, Resource};
use crate::data::{Facet, Table};
use crate::openapi::model;
use crate::openapi::model::{Firm, Person, Startup};
use crate::site::layout::PageLayout;

use crate::site::browse::{Browse, BrowseConfig};
use crate::site::error_page::PageError;
use crate::site::{PageRequest, format};

const STAGE: (&str, &str, Facet) = ("stage", "Stage", Facet::Stage);
const SECTOR: (&str, &str, Facet) = ("sector", "Sector", Facet::Sector);
const COUNTRY: (&str, &str, Facet) = ("country", "Country", Facet::Country);

const FIRMS: BrowseConfig = BrowseConfig {
    resource: Resource::Firms,
    path: "/vcs",
    facets: &[STAGE, SECTOR, COUNTRY, ("kind", "Kind", Facet::Kind)],
    bounds: &[
        ("min_health_score", "Health score from", "0 to 100"),
        ("max_ghosting_rate", "Ghosting rate up to", "per cent"),
        ("check_usd", "Writes a cheque of", "US dollars, 500000"),
        ("active_since", "Invested since", "2026-01-31"),
    ],
    orders: &[
        ("-health_score,-investment_count", "Health score"),
        ("ghosting_rate", "Least ghosting"),
        ("-review_count", "Most reviews"),
        ("-investment_count", "Most investments"),
        ("-last_investment_on", "Latest investment"),
        ("check_min_usd", "Smallest cheque"),
        ("name", "Name"),
    ],
};

const STARTUPS: BrowseConfig = BrowseConfig {
    resource: Resource::Startups,
    path: "/startups",
    facets: &[STAGE, SECTOR, COUNTRY, ("status", "Status", Facet::Status)],
    bounds: &[],
    orders: &[
        ("-total_raised_usd,-round_count", "Most raised"),
        ("-last_round_on", "Latest round"),
        ("-round_count", "Most rounds"),
        ("-founded_year", "Youngest"),
        ("name", "Name"),
    ],
};

const PEOPLE: BrowseConfig = BrowseConfig {
    resource: Resource::People,
    path: "/people",
    facets: &[("kind", "Works at a", Facet::Kind), COUNTRY],
    bounds: &[],
    orders: &[("name", "Name"), ("-name", "Name, from Z")],
};

#[derive(Template)]
#[template(path = "firms.html")]
struct FirmsPage {
    frame: PageLayout,
    browse: Browse,
    firms: Vec<Firm>,
}

#[derive(Template)]
#[template(path = "startups.html")]
struct StartupsPage {
    frame: PageLayout,
    browse: Browse,
    startups: Vec<Startup>,
}

#[derive(Template)]
#[template(path = "people.html")]
struct PeoplePage {
    frame: PageLayout,
    browse: Browse,
    people: Vec<Person>,
}

fn records<R: serde::de::DeserializeOwned>(catalog: &Catalog, table: Table, rows: &[u32]) -> Vec<R> {
    rows.iter().filter_map(|row| model::read(catalog, table, *row)).collect()
}

/// `/vcs`: firms.
pub(crate) fn firms(catalog: &Catalog, visit: PageRequest<'_>) -> Result<String, PageError> {
    let (browse, rows) = Browse::read(visit.state, catalog, &FIRMS, visit.query)?;
    let about = "Venture capital firms with their peer scores, ghosting rates and investments; filter by stage, sector, \
                 country and kind.";
    let frame = PageLayout::of(catalog.snapshot(), "Firms", about, visit.path);
    Ok(FirmsPage { frame, browse, firms: records(catalog, Table::Firms, &rows) }.render()?)
}

/// `/startups`: startups.
pub(crate) fn startups(catalog: &Catalog, visit: PageRequest<'_>) -> Result<String, PageError> {
    let (browse, rows) = Browse::read(visit.state, catalog, &STARTUPS, visit.query)?;
    let about = "Startups with what they have raised, from whom and when.";
    let frame = PageLayout::of(catalog.snapshot(), "Startups", about, visit.path);
    Ok(StartupsPage { frame, browse, startups: records(catalog, Table::Startups, &rows) }.render()?)
}

/// `/people`: people of firms and startups.
pub(crate) fn people(catalog: &Catalog, visit: PageRequest<'_>) -> Result<String, PageError> {
    let (browse, rows) = Browse::read(visit.state, catalog, &PEOPLE, visit.query)?;
    let about = "People of venture capital firms and startups, with what they do there.";
    let frame = PageLayout::of(catalog.snapshot(), "People", about, visit.path);
    Ok(PeoplePage { frame, browse, people: records(catalog, Table::People, &rows) }.render()?)
}
