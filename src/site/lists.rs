use askama::Template;

use crate::browse::{Browse, BrowseConfig};
use crate::filters::{Bins, FieldConfig, RangeConfig};
use crate::layout::PageLayout;
use crate::record_table::{RecordTable, TableCell, TableConfig, TableRow};
use crate::records::{records, sector_cell};
use crate::round_table::{self, ROUNDS_TABLE};
use crate::{PageRequest, PageResult, PathValues, render};
use catalog::{Catalog, Resource};
use data::model::{Firm, Person, Startup};
use data::{Facet, Table};
use view::columns::{number, words};
use view::format;
use view::stage_strip::{self, StageStrip};

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
    table: TableConfig {
        label: "Firms",
        name: "Firm",
        columns: &[
            words("health_score", "Health score", 1).sorted_by("-health_score").with_note("of 100"),
            number("ghosting_rate", "Ghosting", "ghosting_rate", 8).with_note("no answer"),
            words("stages", "Stages", 6).with_legend(stage_strip::letters, stage_strip::WORDS),
            words("sectors", "Sectors", 7),
            number("check_usd", "Check size", "check_min_usd", 5),
            number("portfolio_count", "Portfolio", "-portfolio_count", 4).with_note("startups"),
            number("investment_count", "Rounds", "-investment_count", 2).with_note("joined"),
            number("last_investment_on", "Last investment", "-last_investment_on", 3),
            words("kind", "Kind", 9),
        ],
        pick: "firm",
    },
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
    table: TableConfig {
        label: "Startups",
        name: "Startup",
        columns: &[
            words("stage", "Stage", 5),
            number("total_raised_usd", "Raised", "-total_raised_usd", 1),
            number("round_count", "Rounds", "-round_count", 3),
            number("last_round_on", "Last round", "-last_round_on", 2),
            words("investors", "Investors", 4),
        ],
        pick: "startup",
    },
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
    table: TableConfig {
        label: "People",
        name: "Person",
        columns: &[
            words("title", "Title", 2),
            words("organization", "Organization", 1),
            words("country", "Country", 3),
        ],
        pick: "",
    },
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
    table: ROUNDS_TABLE,
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
#[template(path = "browse.html")]
struct ListPage {
    layout: PageLayout,
    browse: Browse,
    table: RecordTable,
}

fn render_list(layout: PageLayout, browse: Browse, rows: Vec<TableRow>) -> PageResult<String> {
    let table = RecordTable::of_list(rows, &browse);
    render(&ListPage { layout, browse, table })
}

pub(crate) fn firms(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &FIRMS)?;
    let firms: Vec<Firm> = records(catalog, Table::Firms, &rows)?;
    let rows = firms.iter().map(|firm| firm_row(catalog, firm, &browse)).collect::<PageResult<_>>()?;
    render_list(layout, browse, rows)
}

/// The score with its bar, and the number of reviews.
#[derive(Template)]
#[template(path = "score.html")]
struct ScoreDrawing<'a> {
    firm: &'a Firm,
}

/// The least width of a [`ScoreDrawing`] in rem.
const SCORE_ROOM: f64 = 5.4;

fn firm_row(catalog: &Catalog, firm: &Firm, browse: &Browse) -> PageResult<TableRow> {
    let check_size = format::usd_range(&firm.check_min_usd, &firm.check_max_usd);
    let has_rounds = firm.investment_count > 0;
    let counted = |count: u32| if has_rounds { TableCell::number(format::number(count)) } else { TableCell::default() };
    let is_reviewed = firm.health_score.is_some() || firm.review_count > 0;
    let cells = vec![
        if is_reviewed { TableCell::drawn(render(&ScoreDrawing { firm })?, SCORE_ROOM) } else { TableCell::default() },
        firm.ghosting_rate.map_or_else(TableCell::default, |rate| TableCell::number(format!("{rate:.1} %"))),
        if firm.stages.is_empty() {
            TableCell::default()
        } else {
            TableCell::drawn(render(&StageStrip::of(&firm.stages))?, stage_strip::ROOM)
        },
        sector_cell(catalog, &firm.sectors),
        TableCell::text(check_size),
        counted(firm.portfolio_count),
        counted(firm.investment_count),
        TableCell::day(firm.last_investment_on),
        TableCell::text(firm.kind.as_deref().filter(|kind| *kind != "other").map(format::word).unwrap_or_default()),
    ];
    Ok(TableRow {
        slug: firm.slug.clone(),
        name: firm.name.clone(),
        href: format!("/vcs/{}", firm.slug),
        about: format::place(&firm.city, &firm.country),
        remark: browse.remark(&firm.slug).to_vec(),
        cells,
    })
}

pub(crate) fn startups(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &STARTUPS)?;
    let startups: Vec<Startup> = records(catalog, Table::Startups, &rows)?;
    let rows = startups.iter().map(|startup| startup_row(startup, &browse)).collect();
    render_list(layout, browse, rows)
}

fn startup_row(startup: &Startup, browse: &Browse) -> TableRow {
    let status = startup.status.as_deref().filter(|status| *status != "operating").map(format::word);
    let about = [status.unwrap_or_default(), format::place(&startup.city, &startup.country)];
    TableRow {
        slug: startup.slug.clone(),
        name: startup.name.clone(),
        href: format!("/startups/{}", startup.slug),
        about: about.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" · "),
        remark: browse.remark(&startup.slug).to_vec(),
        cells: vec![
            TableCell::text(startup.stage.as_deref().map(format::word).unwrap_or_default()),
            amount_cell(startup.total_raised_usd),
            TableCell::number(format::number(startup.round_count)),
            TableCell::day(startup.last_round_on),
            investors_cell(startup),
        ],
    }
}

pub(crate) fn amount_cell(usd: Option<u64>) -> TableCell {
    usd.map_or_else(TableCell::default, |usd| TableCell::number(format::usd(&usd)))
}

/// The first investors of a startup.
pub(crate) fn investors_cell(startup: &Startup) -> TableCell {
    let named = startup.investors.iter().map(|firm| (firm.name.clone(), Some(format!("/vcs/{}", firm.slug)), ""));
    TableCell::names(named.take(3), startup.investors.len())
}

pub(crate) fn rounds(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &ROUNDS)?;
    let rows = round_table::rows(catalog, &rows)?;
    render_list(layout, browse, rows)
}

pub(crate) fn people(catalog: &Catalog, request: PageRequest<'_>, _: PathValues<'_>) -> PageResult<String> {
    let (layout, browse, rows) = Browse::load(catalog, request, &PEOPLE)?;
    let people: Vec<Person> = records(catalog, Table::People, &rows)?;
    let rows = people.iter().map(person_row).collect();
    render_list(layout, browse, rows)
}

fn person_row(person: &Person) -> TableRow {
    let above = if person.organization.kind == "firm" { "/vcs/" } else { "/startups/" };
    let organization = format!("{above}{}", person.organization.slug);
    TableRow {
        slug: person.slug.clone(),
        name: person.name.clone(),
        href: format!("/people/{}", person.slug),
        about: String::new(),
        remark: Vec::new(),
        cells: vec![
            TableCell::text(person.title.clone().unwrap_or_default()),
            TableCell::names([(person.organization.name.clone(), Some(organization), "")], 1),
            TableCell::text(person.country.as_deref().map(format::country).unwrap_or_default()),
        ],
    }
}
