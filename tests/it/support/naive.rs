//! A dataset as a naive reader of its CSV files sees it, with which answers are compared.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use catalog::{Catalog, ListPosition, ParseOptions, Request, Resource};
use data::ReviewStatus;

/// A CSV file, each line as a map from column to text.
pub fn rows_of(folder: &Path, file: &str) -> Vec<HashMap<String, String>> {
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// A dataset recomputed from its CSV files in the slow and simple way, independent of the program.
pub struct Naive {
    pub firms: Vec<NaiveFirm>,
    /// Each sector with all its ancestors.
    pub lineage: HashMap<String, BTreeSet<String>>,
    /// The parent of each sector; empty without one.
    pub parents: HashMap<String, String>,
}

/// The values of a firm that filters use.
pub struct NaiveFirm {
    pub slug: String,
    pub stages: BTreeSet<String>,
    /// With all ancestors.
    pub sectors: BTreeSet<String>,
    pub country: String,
    pub kind: String,
    pub check: (Option<u64>, Option<u64>),
    pub founded: Option<u64>,
    pub rounds: u64,
    pub last: Option<String>,
    pub startups: u64,
    pub reviews: u64,
}

impl Naive {
    pub fn read(folder: &Path) -> Self {
        let sectors = rows_of(folder, "sectors.csv");
        let parents: HashMap<&str, &str> =
            sectors.iter().map(|row| (row["slug"].as_str(), row["parent"].as_str())).collect();
        let lineage: HashMap<String, BTreeSet<String>> = parents
            .keys()
            .map(|slug| {
                let line =
                    std::iter::successors(Some(*slug), |at| parents.get(at).copied().filter(|up| !up.is_empty()));
                ((*slug).to_owned(), line.map(str::to_owned).collect())
            })
            .collect();
        let startups: HashMap<String, Vec<String>> = rows_of(folder, "startups.csv")
            .into_iter()
            .map(|row| (row["slug"].clone(), split(&row["sectors"])))
            .collect();
        let mut stages: HashMap<String, BTreeSet<String>> = HashMap::new();
        let mut backed: HashMap<String, BTreeSet<String>> = HashMap::new();
        let mut joined: HashMap<String, u64> = HashMap::new();
        let mut last: HashMap<String, String> = HashMap::new();
        for row in rows_of(folder, "funding_rounds.csv") {
            let investors: BTreeSet<String> =
                split(&row["lead_investors"]).into_iter().chain(split(&row["investors"])).collect();
            for firm in investors {
                stages.entry(firm.clone()).or_default().extend(split(&row["stage"]));
                backed.entry(firm.clone()).or_default().insert(row["startup"].clone());
                *joined.entry(firm.clone()).or_default() += 1;
                let date = last.entry(firm).or_default();
                *date = row["announced_on"].clone().max(date.clone());
            }
        }
        let mut reviews: HashMap<String, u64> = HashMap::new();
        for row in published_reviews(folder) {
            *reviews.entry(row["firm"].clone()).or_default() += 1;
        }
        let firms = rows_of(folder, "firms.csv")
            .into_iter()
            .map(|row| {
                let slug = row["slug"].clone();
                let mut own_sectors = split(&row["sectors"]);
                if own_sectors.is_empty() {
                    let mut counts: BTreeMap<&String, u64> = BTreeMap::new();
                    for startup in backed.get(&slug).into_iter().flatten() {
                        startups[startup].iter().for_each(|sector| *counts.entry(sector).or_default() += 1);
                    }
                    let mut counts: Vec<_> = counts.into_iter().collect();
                    counts.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
                    own_sectors = counts.into_iter().take(8).map(|(sector, _)| sector.clone()).collect();
                }
                let own_stages: BTreeSet<String> = split(&row["stages"]).into_iter().collect();
                NaiveFirm {
                    stages: match own_stages.is_empty() {
                        true => stages.get(&slug).cloned().unwrap_or_default(),
                        false => own_stages,
                    },
                    sectors: own_sectors.iter().flat_map(|sector| lineage[sector].clone()).collect(),
                    country: row["country"].clone(),
                    kind: row["kind"].clone(),
                    check: (row["check_min_usd"].parse().ok(), row["check_max_usd"].parse().ok()),
                    founded: row["founded_year"].parse().ok(),
                    rounds: joined.get(&slug).copied().unwrap_or(0),
                    last: last.get(&slug).cloned().filter(|date| !date.is_empty()),
                    startups: backed.get(&slug).map_or(0, |startups| startups.len() as u64),
                    reviews: reviews.get(&slug).copied().unwrap_or(0),
                    slug,
                }
            })
            .collect();
        let parents = sectors.iter().map(|row| (row["slug"].clone(), row["parent"].clone())).collect();
        Self { firms, lineage, parents }
    }

    /// The slugs of the firms that `passes`, sorted by what `key` gives (`None` last, descending if `down`), then slug.
    pub fn sorted<K: Ord + Clone>(
        &self,
        passes: impl Fn(&NaiveFirm) -> bool,
        key: impl Fn(&NaiveFirm) -> Option<K>,
        down: bool,
    ) -> Vec<String> {
        let mut firms: Vec<&NaiveFirm> = self.firms.iter().filter(|firm| passes(firm)).collect();
        firms.sort_by(|a, b| {
            let order = match (key(a), key(b)) {
                (Some(a), Some(b)) if down => b.cmp(&a),
                (Some(a), Some(b)) => a.cmp(&b),
                (a, b) => a.is_none().cmp(&b.is_none()),
            };
            order.then_with(|| a.slug.cmp(&b.slug))
        });
        firms.into_iter().map(|firm| firm.slug.clone()).collect()
    }
}

/// The values of a field that `|` separates.
pub fn split(text: &str) -> Vec<String> {
    text.split('|').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Queries the catalog: the slugs of the first `limit` rows from `offset`, and the total.
pub fn asked(
    catalog: &Catalog,
    resource: Resource,
    values: &[(&str, String)],
    offset: u64,
    limit: usize,
) -> (Vec<String>, u64) {
    let values: Vec<(String, String)> =
        values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let rules = ParseOptions { strict: true, review_statuses: &[ReviewStatus::Approved], other_names: &[] };
    let asked = catalog.parse(resource, &values, rules).unwrap_or_else(|errors| panic!("{errors:?}"));
    let Request::List(query) = asked.request else { panic!("no list") };
    let page = catalog.list(&query, ListPosition::after(offset), limit);
    let slug = |row: &u32| catalog.snapshot().slug(query.table, *row).to_owned();
    (page.rows.iter().map(slug).collect(), page.total)
}

/// The approved reviews of a dataset as a release has them: none that is disputed, and months until a firm has five.
pub fn published_reviews(folder: &Path) -> Vec<HashMap<String, String>> {
    let mut rows = rows_of(folder, "reviews.csv");
    rows.retain(|row| row["status"] == "approved" && row.get("disputed_on").is_none_or(String::is_empty));
    let mut counts: HashMap<String, usize> = HashMap::new();
    rows.iter().for_each(|row| *counts.entry(row["firm"].clone()).or_default() += 1);
    for row in &mut rows {
        if counts[&row["firm"]] < 5 {
            row.get_mut("created_on").unwrap().truncate("2026-06".len());
        }
    }
    rows
}

/// Days since 1970-01-01 (the civil calendar of Howard Hinnant).
pub fn days(date: &str) -> i64 {
    let part = |range: std::ops::Range<usize>| date[range].parse::<i64>().unwrap();
    let (year, month, day) = (part(0..4), part(5..7), part(8..10));
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year - era * 400;
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}
