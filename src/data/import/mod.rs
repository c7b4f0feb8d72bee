//! Reading a dataset's folder: CSV → checked rows, with every problem told.
//!
//! Files are read in the order of their references, so that each reference is resolved on the line that makes it.

pub mod csv_table;
pub mod csv_writer;
pub mod diagnostics;
pub mod meta;
pub mod rows;

use std::collections::HashMap;
use std::path::Path;

use crate::data::import::csv_table::{CsvRow, Diagnostics};
use crate::data::import::diagnostics::quoted;
use crate::data::import::rows::{Dataset, Firm, Investor, Person, Review, Round, Sector, Startup};
use crate::data::{OrganizationKind, ReviewStatus, Stage};
use crate::data::{Progress, Report};

/// The file names of a dataset, in the order they are read.
pub const FILES: [&str; 7] =
    [meta::FILE, "sectors.csv", "firms.csv", "startups.csv", "funding_rounds.csv", "people.csv", "reviews.csv"];

/// Columns of `sectors.csv`.
pub const SECTOR_COLUMNS: &[&str] = &["slug", "name", "parent", "description"];
/// Columns of `firms.csv`.
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
/// Columns of `startups.csv`.
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
/// Columns of `funding_rounds.csv`.
pub const ROUND_COLUMNS: &[&str] =
    &["id", "startup", "stage", "amount_usd", "announced_on", "lead_investors", "investors"];
/// Columns of `people.csv`.
pub const PERSON_COLUMNS: &[&str] = &["slug", "name", "title", "organization_kind", "organization", "country"];
/// Columns of `reviews.csv`.
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

/// The rows of one table by their slug or id, with the line that holds each.
struct Index {
    rows: HashMap<String, (u32, u64)>,
    names: HashMap<String, u64>,
    /// False where the table could not be read: its rows are not known, and a reference to one is not judged.
    known: bool,
}

impl Index {
    fn new() -> Self {
        Self { rows: HashMap::new(), names: HashMap::new(), known: true }
    }

    fn get(&self, key: &str) -> Option<u32> {
        self.rows.get(key).map(|(row, _)| *row)
    }

    /// Takes up the key in `column` of the next row; complains where another row has it.
    fn insert(&mut self, line: &mut CsvRow<'_, '_>, column: usize, key: &str, row: usize) {
        if key.is_empty() {
            return;
        }
        match self.rows.get(key) {
            Some((_, first)) => {
                line.error(column, format!("{} is already used in line {first}", quoted(key)));
            }
            None => {
                self.rows.insert(key.to_owned(), (row as u32, line.number()));
            }
        }
    }

    /// Warns where another row has the same name.
    fn note_name(&mut self, line: &mut CsvRow<'_, '_>, column: usize, name: &str) {
        match self.names.get(name) {
            Some(first) => line.warning(column, format!("{} is also the name in line {first}", quoted(name))),
            None => {
                self.names.insert(name.to_owned(), line.number());
            }
        }
    }
}

/// Resolves one reference; complains of one that leads nowhere.
fn reference(line: &mut CsvRow<'_, '_>, column: usize, index: &Index, noun: &str, key: &str) -> Option<u32> {
    let found = index.get(key);
    if found.is_none() && index.known {
        line.error(column, format!("no {noun} has the slug {}", quoted(key)));
    }
    found
}

/// Reads and checks the dataset in `folder`. `None` where an error was found; the report has all problems either way.
pub fn read(folder: &Path, progress: &dyn Progress) -> (Option<Dataset>, Report) {
    let mut report = Report::default();
    if !folder.is_dir() {
        Diagnostics::of(meta::FILE, &mut report).error(None, None, format!("no folder {}", folder.display()));
        return (None, report);
    }
    let meta = meta::read(folder, &mut report);
    let released_on = meta.as_ref().map(|meta| meta.released_on);
    let release_year = released_on.map_or(u16::MAX, |date| date.year() as u16);

    let (sectors, sector_index) = sectors(folder, &mut report, progress);

    let mut firms = Vec::new();
    let mut firm_index = Index::new();
    let known = csv_table::read(folder, "firms.csv", FIRM_COLUMNS, &mut report, progress, |line| {
        let slug = line.slug(0);
        if slug == "facets" {
            line.error(0, "`facets` is a path of the API; choose another slug".into());
        }
        firm_index.insert(line, 0, &slug, firms.len());
        let name = line.name(1);
        firm_index.note_name(line, 1, &name);
        let firm = Firm {
            slug,
            name,
            aliases: line.values(2),
            kind: line.word(3),
            website: line.phrase(4),
            description: line.text(5),
            country: line.country(6),
            city: line.phrase(7),
            founded_year: founded(line, 8, release_year),
            stages: line.words(9),
            sectors: sector_list(line, 10, &sector_index),
            check_min_usd: line.dollars(11),
            check_max_usd: line.dollars(12),
            aum_usd: line.dollars(13),
        };
        if let (Some(min), Some(max)) = (firm.check_min_usd, firm.check_max_usd)
            && min > max
        {
            line.warning(11, format!("{min} is above check_max_usd, {max}"));
        }
        firms.push(firm);
    });
    firm_index.known = known;

    let mut startups = Vec::new();
    let mut startup_index = Index::new();
    let known = csv_table::read(folder, "startups.csv", STARTUP_COLUMNS, &mut report, progress, |line| {
        let slug = line.slug(0);
        startup_index.insert(line, 0, &slug, startups.len());
        let name = line.name(1);
        startup_index.note_name(line, 1, &name);
        startups.push(Startup {
            slug,
            name,
            aliases: line.values(2),
            website: line.phrase(3),
            description: line.text(4),
            country: line.country(5),
            city: line.phrase(6),
            founded_year: founded(line, 7, release_year),
            stage: line.word(8),
            sectors: sector_list(line, 9, &sector_index),
            status: line.word(10),
        });
    });
    startup_index.known = known;

    let rounds = rounds(folder, &startups, &startup_index, &firm_index, &mut report, progress);
    let people = people(folder, &startup_index, &firm_index, &mut report, progress);
    let reviews = reviews(folder, &firm_index, released_on, &mut report, progress);

    let dataset = match meta {
        Some(meta) if !report.is_refused() => Some(Dataset { meta, sectors, firms, startups, rounds, people, reviews }),
        _ => None,
    };
    (dataset, report)
}

fn founded(line: &mut CsvRow<'_, '_>, column: usize, release_year: u16) -> Option<u16> {
    let year = line.year(column)?;
    if year > release_year {
        line.warning(column, format!("{year} is after the release"));
    }
    Some(year)
}

fn sector_list(line: &mut CsvRow<'_, '_>, column: usize, index: &Index) -> Vec<u32> {
    line.values(column).iter().filter_map(|slug| reference(line, column, index, "sector", slug)).collect()
}

fn sectors(folder: &Path, report: &mut Report, progress: &dyn Progress) -> (Vec<Sector>, Index) {
    let mut sectors: Vec<Sector> = Vec::new();
    let mut parents: Vec<(String, u64)> = Vec::new();
    let mut index = Index::new();
    let known = csv_table::read(folder, "sectors.csv", SECTOR_COLUMNS, report, progress, |line| {
        let slug = line.slug(0);
        index.insert(line, 0, &slug, sectors.len());
        let name = line.name(1);
        index.note_name(line, 1, &name);
        parents.push((line.field(2).to_owned(), line.number()));
        sectors.push(Sector { slug, name, parent: None, description: line.text(3) });
    });
    index.known = known;
    let mut complaints = Diagnostics::of("sectors.csv", report);
    for (row, (parent, line)) in parents.iter().enumerate() {
        if parent.is_empty() {
            continue;
        }
        match index.get(parent) {
            Some(parent) => sectors[row].parent = Some(parent),
            None => {
                complaints.error(Some(*line), Some("parent"), format!("no sector has the slug {}", quoted(parent)));
            }
        }
    }
    for row in circles(&sectors) {
        let slug = &sectors[row].slug;
        complaints.error(Some(parents[row].1), Some("parent"), format!("{} is its own ancestor", quoted(slug)));
    }
    (sectors, index)
}

/// The sectors that are their own ancestors.
fn circles(sectors: &[Sector]) -> Vec<usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Seen {
        Not,
        OnPath(u32),
        Done,
    }
    let mut seen = vec![Seen::Not; sectors.len()];
    let mut circles = Vec::new();
    for start in 0..sectors.len() {
        let mut path: Vec<usize> = Vec::new();
        let mut at = Some(start);
        while let Some(row) = at {
            match seen[row] {
                Seen::Done => break,
                Seen::OnPath(place) => {
                    circles.extend_from_slice(&path[place as usize..]);
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
    circles.sort_unstable();
    circles
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
    csv_table::read(folder, "funding_rounds.csv", ROUND_COLUMNS, report, progress, |line| {
        let id = line.id(0);
        index.insert(line, 0, &id, rounds.len());
        line.required(1);
        let startup = match line.field(1).to_owned() {
            slug if slug.is_empty() => None,
            slug => reference(line, 1, startup_index, "startup", &slug),
        };
        line.required(2);
        let stage: Option<Stage> = line.word(2);
        let amount_usd = line.dollars(3);
        let announced_on = line.date(4);
        let mut investors: Vec<Investor> = Vec::new();
        for (column, lead) in [(5, true), (6, false)] {
            for slug in line.values(column) {
                if let Some(firm) = reference(line, column, firm_index, "firm", &slug)
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
            line.warning(4, format!("{date} is before the startup was founded, {founded}"));
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
    csv_table::read(folder, "people.csv", PERSON_COLUMNS, report, progress, |line| {
        let slug = line.slug(0);
        index.insert(line, 0, &slug, people.len());
        let name = line.name(1);
        index.note_name(line, 1, &name);
        let title = line.phrase(2);
        line.required(3);
        let kind: Option<OrganizationKind> = line.word(3);
        line.required(4);
        let organization = line.field(4).to_owned();
        let organization = match kind {
            Some(_) if organization.is_empty() => None,
            Some(OrganizationKind::Firm) => reference(line, 4, firm_index, "firm", &organization),
            Some(OrganizationKind::Startup) => reference(line, 4, startup_index, "startup", &organization),
            None => None,
        };
        let country = line.country(5);
        let (Some(organization_kind), Some(organization)) = (kind, organization) else { return };
        people.push(Person { slug, name, title, organization_kind, organization, country });
    });
    people
}

fn reviews(
    folder: &Path,
    firm_index: &Index,
    released_on: Option<crate::data::Date>,
    report: &mut Report,
    progress: &dyn Progress,
) -> Vec<Review> {
    let mut reviews = Vec::new();
    let mut index = Index::new();
    csv_table::read(folder, "reviews.csv", REVIEW_COLUMNS, report, progress, |line| {
        let id = line.id(0);
        index.insert(line, 0, &id, reviews.len());
        line.required(1);
        let firm = match line.field(1).to_owned() {
            slug if slug.is_empty() => None,
            slug => reference(line, 1, firm_index, "firm", &slug),
        };
        let stage = line.word(2);
        line.required(3);
        let rating = line.rating(3);
        let responsiveness = line.rating(4);
        let fairness = line.rating(5);
        let value_add = line.rating(6);
        let ghosted = line.truth(7);
        let title = line.phrase(8);
        let body = line.text(9);
        line.required(10);
        let status: Option<ReviewStatus> = line.word(10);
        line.required(11);
        let created_on = line.date(11);
        let (Some(firm), Some(rating), Some(status), Some(created_on)) = (firm, rating, status, created_on) else {
            return;
        };
        if let Some(released_on) = released_on
            && created_on > released_on
        {
            line.warning(11, format!("{created_on} is after the release, {released_on}"));
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
