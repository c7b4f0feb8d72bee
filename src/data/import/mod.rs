//! Reading a dataset folder: CSV → checked rows, with diagnostics for every problem.
//!
//! Files are read in the order of their references, so that each reference is resolved on its own line.

pub(crate) mod clean;
pub(crate) mod csv_table;
pub(crate) mod csv_writer;
pub mod diagnostics;
mod index;
pub mod meta;
pub mod rows;

use std::path::Path;

use crate::data::import::csv_table::{CsvRow, Diagnostics};
use crate::data::import::diagnostics::quoted;
use crate::data::import::index::Index;
use crate::data::import::rows::{Dataset, Firm, Investor, Person, Review, Round, Sector, Startup};
use crate::data::{Date, OrganizationKind, ReviewStatus, Stage};
use crate::data::{Progress, Report};

/// The files of a dataset, in reading order.
pub const FILES: [&str; 7] =
    [meta::FILE, "sectors.csv", "firms.csv", "startups.csv", "funding_rounds.csv", "people.csv", "reviews.csv"];

pub const SECTOR_COLUMNS: &[&str] = &["slug", "name", "parent", "description"];
pub const FIRM_COLUMNS: &[&str] = &[
    "slug",
    "name",
    "aliases",
    "kind",
    "website",
    "description",
    "country",
    "city",
    "founded_year",
    "stages",
    "sectors",
    "check_min_usd",
    "check_max_usd",
    "aum_usd",
];
pub const STARTUP_COLUMNS: &[&str] = &[
    "slug",
    "name",
    "aliases",
    "website",
    "description",
    "country",
    "city",
    "founded_year",
    "stage",
    "sectors",
    "status",
];
pub const ROUND_COLUMNS: &[&str] =
    &["id", "startup", "stage", "amount_usd", "announced_on", "lead_investors", "investors"];
pub const PERSON_COLUMNS: &[&str] = &["slug", "name", "title", "organization_kind", "organization", "country"];
pub const REVIEW_COLUMNS: &[&str] = &[
    "id",
    "firm",
    "stage",
    "rating",
    "responsiveness",
    "fairness",
    "value_add",
    "ghosted",
    "title",
    "body",
    "status",
    "created_on",
];

/// Reads and checks the dataset in `folder`. `None` if there are errors; the report always has all problems.
pub fn read(folder: &Path, progress: &dyn Progress) -> (Option<Dataset>, Report) {
    let mut report = Report::default();
    if !folder.is_dir() {
        let message = format!("folder {} does not exist", folder.display());
        Diagnostics::of(meta::FILE, &mut report).error(None, None, message);
        return (None, report);
    }
    let meta = meta::read(folder, &mut report);
    let released_on = meta.as_ref().map(|meta| meta.released_on);
    let release_year = released_on.map_or(u16::MAX, |date| date.year() as u16);

    let (sectors, sector_index) = sectors(folder, &mut report, progress);

    let mut firms = Vec::new();
    let mut firm_index = Index::new();
    let known = csv_table::read(folder, "firms.csv", FIRM_COLUMNS, &mut report, progress, |row| {
        let slug = row.slug("slug");
        if slug == "facets" {
            row.error("slug", "`facets` is a path of the API; choose another slug".into());
        }
        firm_index.insert(row, "slug", &slug, firms.len());
        let name = row.name("name");
        firm_index.insert_name(row, "name", &name);
        let firm = Firm {
            slug,
            name,
            aliases: row.values("aliases"),
            kind: row.word("kind"),
            website: row.phrase("website"),
            description: row.text("description"),
            country: row.country("country"),
            city: row.phrase("city"),
            founded_year: founded_year(row, release_year),
            stages: row.words("stages"),
            sectors: sector_list(row, &sector_index),
            check_min_usd: row.dollars("check_min_usd"),
            check_max_usd: row.dollars("check_max_usd"),
            aum_usd: row.dollars("aum_usd"),
        };
        if let (Some(min), Some(max)) = (firm.check_min_usd, firm.check_max_usd)
            && min > max
        {
            row.warning("check_min_usd", format!("{min} is above check_max_usd, {max}"));
        }
        firms.push(firm);
    });
    firm_index.known = known;

    let mut startups = Vec::new();
    let mut startup_index = Index::new();
    let known = csv_table::read(folder, "startups.csv", STARTUP_COLUMNS, &mut report, progress, |row| {
        let slug = row.slug("slug");
        startup_index.insert(row, "slug", &slug, startups.len());
        let name = row.name("name");
        startup_index.insert_name(row, "name", &name);
        startups.push(Startup {
            slug,
            name,
            aliases: row.values("aliases"),
            website: row.phrase("website"),
            description: row.text("description"),
            country: row.country("country"),
            city: row.phrase("city"),
            founded_year: founded_year(row, release_year),
            stage: row.word("stage"),
            sectors: sector_list(row, &sector_index),
            status: row.word("status"),
        });
    });
    startup_index.known = known;

    let rounds = rounds(folder, &startups, &startup_index, &firm_index, &mut report, progress);
    let people = people(folder, &startup_index, &firm_index, &mut report, progress);
    let reviews = reviews(folder, &firm_index, released_on, &mut report, progress);

    let dataset = match meta {
        Some(meta) if !report.has_errors() => Some(Dataset { meta, sectors, firms, startups, rounds, people, reviews }),
        _ => None,
    };
    (dataset, report)
}

fn founded_year(row: &mut CsvRow<'_, '_>, release_year: u16) -> Option<u16> {
    let year = row.year("founded_year")?;
    if year > release_year {
        row.warning("founded_year", format!("{year} is after the release"));
    }
    Some(year)
}

fn sector_list(row: &mut CsvRow<'_, '_>, index: &Index) -> Vec<u32> {
    row.values("sectors").iter().filter_map(|slug| index.resolve(row, "sectors", "sector", slug)).collect()
}

fn sectors(folder: &Path, report: &mut Report, progress: &dyn Progress) -> (Vec<Sector>, Index) {
    let mut sectors: Vec<Sector> = Vec::new();
    let mut parents: Vec<(String, u64)> = Vec::new();
    let mut index = Index::new();
    let known = csv_table::read(folder, "sectors.csv", SECTOR_COLUMNS, report, progress, |row| {
        let slug = row.slug("slug");
        index.insert(row, "slug", &slug, sectors.len());
        let name = row.name("name");
        index.insert_name(row, "name", &name);
        parents.push((row.field("parent").to_owned(), row.line()));
        sectors.push(Sector { slug, name, parent: None, description: row.text("description") });
    });
    index.known = known;
    let mut diagnostics = Diagnostics::of("sectors.csv", report);
    for (row, (parent, line)) in parents.iter().enumerate() {
        if parent.is_empty() {
            continue;
        }
        match index.get(parent) {
            Some(parent) => sectors[row].parent = Some(parent),
            None => {
                diagnostics.error(Some(*line), Some("parent"), format!("no sector has the slug {}", quoted(parent)));
            }
        }
    }
    for row in cycles(&sectors) {
        let slug = &sectors[row].slug;
        diagnostics.error(Some(parents[row].1), Some("parent"), format!("{} is its own ancestor", quoted(slug)));
    }
    (sectors, index)
}

/// The sectors that are their own ancestors.
fn cycles(sectors: &[Sector]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnPath(u32),
        Done,
    }
    let mut seen = vec![Seen::Not; sectors.len()];
    let mut cycles = Vec::new();
    for start in 0..sectors.len() {
        let mut path: Vec<usize> = Vec::new();
        let mut at = Some(start);
        while let Some(row) = at {
            match seen[row] {
                Seen::Done => break,
                Seen::OnPath(index) => {
                    cycles.extend_from_slice(&path[index as usize..]);
                    break;
                }
                Seen::Not => {
                    seen[row] = Seen::OnPath(path.len() as u32);
                    path.push(row);
                    at = sectors[row].parent.map(|parent| parent as usize);
                }
            }
        }
        for row in path {
            seen[row] = Seen::Done;
        }
    }
    cycles.sort_unstable();
    cycles
}

fn rounds(
    folder: &Path,
    startups: &[Startup],
    startup_index: &Index,
    firm_index: &Index,
    report: &mut Report,
    progress: &dyn Progress,
) -> Vec<Round> {
    let mut rounds = Vec::new();
    let mut index = Index::new();
    csv_table::read(folder, "funding_rounds.csv", ROUND_COLUMNS, report, progress, |row| {
        let id = row.id("id");
        index.insert(row, "id", &id, rounds.len());
        row.required("startup");
        let startup = match row.field("startup").to_owned() {
            slug if slug.is_empty() => None,
            slug => startup_index.resolve(row, "startup", "startup", &slug),
        };
        row.required("stage");
        let stage: Option<Stage> = row.word("stage");
        let amount_usd = row.dollars("amount_usd");
        let announced_on = row.date("announced_on");
        let mut investors: Vec<Investor> = Vec::new();
        for (column, lead) in [("lead_investors", true), ("investors", false)] {
            for slug in row.values(column) {
                if let Some(firm) = firm_index.resolve(row, column, "firm", &slug)
                    && !investors.iter().any(|investor| investor.firm == firm)
                {
                    investors.push(Investor { firm, lead });
                }
            }
        }
        let (Some(startup), Some(stage)) = (startup, stage) else { return };
        if let (Some(date), Some(founded)) = (announced_on, startups.get(startup as usize).and_then(|s| s.founded_year))
            && date.year() < i32::from(founded)
        {
            row.warning("announced_on", format!("{date} is before the startup was founded, {founded}"));
        }
        rounds.push(Round { id, startup, stage, amount_usd, announced_on, investors });
    });
    rounds
}

fn people(
    folder: &Path,
    startup_index: &Index,
    firm_index: &Index,
    report: &mut Report,
    progress: &dyn Progress,
) -> Vec<Person> {
    let mut people = Vec::new();
    let mut index = Index::new();
    csv_table::read(folder, "people.csv", PERSON_COLUMNS, report, progress, |row| {
        let slug = row.slug("slug");
        index.insert(row, "slug", &slug, people.len());
        let name = row.name("name");
        index.insert_name(row, "name", &name);
        let title = row.phrase("title");
        row.required("organization_kind");
        let kind: Option<OrganizationKind> = row.word("organization_kind");
        row.required("organization");
        let organization = row.field("organization").to_owned();
        let organization = match kind {
            Some(_) if organization.is_empty() => None,
            Some(OrganizationKind::Firm) => firm_index.resolve(row, "organization", "firm", &organization),
            Some(OrganizationKind::Startup) => startup_index.resolve(row, "organization", "startup", &organization),
            None => None,
        };
        let country = row.country("country");
        let (Some(organization_kind), Some(organization)) = (kind, organization) else { return };
        people.push(Person { slug, name, title, organization_kind, organization, country });
    });
    people
}

fn reviews(
    folder: &Path,
    firm_index: &Index,
    released_on: Option<Date>,
    report: &mut Report,
    progress: &dyn Progress,
) -> Vec<Review> {
    let mut reviews = Vec::new();
    let mut index = Index::new();
    csv_table::read(folder, "reviews.csv", REVIEW_COLUMNS, report, progress, |row| {
        let id = row.id("id");
        index.insert(row, "id", &id, reviews.len());
        row.required("firm");
        let firm = match row.field("firm").to_owned() {
            slug if slug.is_empty() => None,
            slug => firm_index.resolve(row, "firm", "firm", &slug),
        };
        let stage = row.word("stage");
        row.required("rating");
        let rating = row.rating("rating");
        let responsiveness = row.rating("responsiveness");
        let fairness = row.rating("fairness");
        let value_add = row.rating("value_add");
        let ghosted = row.truth("ghosted");
        let title = row.phrase("title");
        let body = row.text("body");
        row.required("status");
        let status: Option<ReviewStatus> = row.word("status");
        row.required("created_on");
        let created_on = row.date("created_on");
        let (Some(firm), Some(rating), Some(status), Some(created_on)) = (firm, rating, status, created_on) else {
            return;
        };
        if let Some(released_on) = released_on
            && created_on > released_on
        {
            row.warning("created_on", format!("{created_on} is after the release, {released_on}"));
        }
        reviews.push(Review {
            id,
            firm,
            stage,
            rating,
            responsiveness,
            fairness,
            value_add,
            ghosted,
            title,
            body,
            status,
            created_on,
        });
    });
    reviews
}
