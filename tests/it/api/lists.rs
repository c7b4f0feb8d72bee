//! Lists against a naive scan over the CSV: same rows, same order, same total.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use catalog::{Catalog, ListPosition, ParseOptions, Request, Resource};
use data::ReviewStatus;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::support::harness::{bundled_folder, cases, catalog_of};

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
                stages.entry(firm.clone()).or_default().insert(row["stage"].clone());
                backed.entry(firm.clone()).or_default().insert(row["startup"].clone());
                *joined.entry(firm.clone()).or_default() += 1;
                let date = last.entry(firm).or_default();
                *date = row["announced_on"].clone().max(date.clone());
            }
        }
        let mut reviews: HashMap<String, u64> = HashMap::new();
        for row in rows_of(folder, "reviews.csv").iter().filter(|row| row["status"] == "approved") {
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

#[test]
fn every_list_equals_that_of_a_naive_scan() {
    let folder = bundled_folder();
    let (catalog, naive) = (catalog_of(&folder), Naive::read(&folder));
    let options = |of: fn(&NaiveFirm) -> Vec<String>| -> Vec<String> {
        naive.firms.iter().flat_map(of).filter(|value| !value.is_empty()).collect::<BTreeSet<_>>().into_iter().collect()
    };
    let stages = options(|firm| firm.stages.iter().cloned().collect());
    let sectors = options(|firm| firm.sectors.iter().cloned().collect());
    let countries = options(|firm| vec![firm.country.clone()]);
    let kinds = options(|firm| vec![firm.kind.clone()]);
    let some = |values: Vec<String>| prop::option::of(prop::sample::subsequence(values, 1..4));
    let strategy = (
        some(stages),
        some(sectors),
        some(countries),
        some(kinds),
        prop::option::weighted(0.3, 0_u64..40),
        prop::option::weighted(0.3, prop::sample::select(vec![1_u64, 50_000, 500_000, 5_000_000, 50_000_000])),
        prop::option::weighted(0.3, prop::sample::select(vec!["2015-01-01", "2022-06-30", "2025-01-01"])),
        (0_usize..7, any::<bool>(), 0_u64..60, 1_usize..50),
    );
    let mut runner = TestRunner::new(Config { cases: cases(400, 80), failure_persistence: None, ..Config::default() });
    runner
        .run(&strategy, |(stage, sector, country, kind, reviews, check, since, (key, down, offset, limit))| {
            let mut values: Vec<(&str, String)> = Vec::new();
            for (name, given) in [("stage", &stage), ("sector", &sector), ("country", &country), ("kind", &kind)] {
                values.extend(given.iter().map(|given| (name, given.join(","))));
            }
            values.extend(reviews.iter().map(|least| ("min_reviews", least.to_string())));
            values.extend(check.iter().map(|usd| ("check_usd", usd.to_string())));
            values.extend(since.iter().map(|date| ("active_since", (*date).to_owned())));
            let passes = |firm: &NaiveFirm| {
                let any = |given: &Option<Vec<String>>, of: &dyn Fn(&String) -> bool| {
                    given.as_ref().is_none_or(|given| given.iter().any(of))
                };
                let fits = |usd: &u64| {
                    let (min, max) = firm.check;
                    (min.is_some() || max.is_some())
                        && min.is_none_or(|min| min <= *usd)
                        && max.is_none_or(|max| *usd <= max)
                };
                any(&stage, &|stage| firm.stages.contains(stage))
                    && any(&sector, &|sector| firm.sectors.contains(sector))
                    && any(&country, &|country| firm.country == *country)
                    && any(&kind, &|kind| firm.kind == *kind)
                    && reviews.is_none_or(|least| firm.reviews >= least)
                    && check.as_ref().is_none_or(fits)
                    && since.is_none_or(|date| firm.last.as_deref().is_some_and(|last| last >= date))
            };
            let names = [
                "review_count",
                "portfolio_count",
                "investment_count",
                "check_min_usd",
                "founded_year",
                "last_investment_on",
            ];
            let number = |firm: &NaiveFirm| match key {
                0 => Some(firm.reviews),
                1 => Some(firm.startups),
                2 => Some(firm.rounds),
                3 => firm.check.0,
                _ => firm.founded,
            };
            let expected = match key {
                5 => naive.sorted(passes, |firm| firm.last.clone(), down),
                6 => {
                    // Two keys: the second breaks the ties of the first.
                    values.push(("sort", format!("{}portfolio_count,-investment_count", if down { "-" } else { "" })));
                    let both = |firm: &NaiveFirm| {
                        let first = if down { u64::MAX - firm.startups } else { firm.startups };
                        Some((first, u64::MAX - firm.rounds))
                    };
                    naive.sorted(passes, both, false)
                }
                _ => naive.sorted(passes, number, down),
            };
            if key < 6 {
                values.push(("sort", format!("{}{}", if down { "-" } else { "" }, names[key])));
            }
            let (slugs, total) = asked(&catalog, Resource::Firms, &values, offset, limit);
            prop_assert_eq!(total, expected.len() as u64, "{:?}", values);
            let window: Vec<String> = expected.into_iter().skip(offset as usize).take(limit).collect();
            prop_assert_eq!(slugs, window, "{:?}", values);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_sector_includes_its_descendants() {
    let folder = bundled_folder();
    let naive = Naive::read(&folder);
    let deepest = naive.lineage.values().map(BTreeSet::len).max().unwrap();
    assert!(deepest >= 2, "the bundled sectors make a tree");
    let catalog = catalog_of(&folder);
    for sector in naive.lineage.keys() {
        let expected = naive.firms.iter().filter(|firm| firm.sectors.contains(sector)).count() as u64;
        assert_eq!(asked(&catalog, Resource::Firms, &[("sector", sector.clone())], 0, 1).1, expected, "{sector}");
    }
}
