//! How fast a filter, its groups and its first page are together: random queries with at least one filter that were not
//! made before, each grouped by a random property, a sample of them against the naive scan. Queries before the measured
//! ones map the columns into memory.

use std::collections::HashSet;

use catalog::aggregate::{AggregateGroup, GroupBy, group_bys};
use catalog::{AggregateOptions, Catalog, Filter, ListPosition, Query, Resource};
use data::Table;

use crate::lists::{quantile, timed};
use crate::naive::Naive;
use crate::queries::Queries;

const UNMEASURED: usize = 400;
const QUERIES: usize = 800;
const CHECKED: usize = 16;
const LIMIT: usize = 20;

/// Nanoseconds of one query, and the rows that it found.
struct Sample {
    groups: u64,
    page: u64,
    found: u64,
}

pub fn title() {
    println!(
        "  {:<40}{:>9}{:>9}{:>9}{:>9}{:>9}{:>11}{:>9}{:>11}",
        "filter, group and page; microseconds", "p50", "p99", "max", "groups", "page", "rows p50", "naive", "naive/p50"
    );
}

/// Prints the times of one list, and those of the queries that found rows.
pub fn run(
    catalog: &Catalog,
    naive: &Naive<'_>,
    seen: &mut HashSet<(Table, Vec<Filter>)>,
    resource: Resource,
    slowest: bool,
) {
    let table = resource.table();
    let properties = group_bys(resource);
    let mut queries = Queries::over(catalog, 1_000 + table as u64);
    let mut samples = Vec::new();
    let mut scans = Vec::new();
    let mut worst = (0, String::new());
    let mut unmeasured = 0;
    while samples.len() < QUERIES {
        let keys = queries.random.below(2) as usize;
        let query = queries.query(table, keys);
        let (name, by) = properties[queries.random.below(properties.len() as u64) as usize];
        if query.filters.is_empty() || !seen.insert((table, query.filters.clone())) {
            continue;
        }
        let values = [("group_by".to_owned(), name.to_owned())];
        let options = AggregateOptions::parse(resource, &values).expect("a property of the list");
        let ((aggregate, _), groups) = timed(|| catalog.compute_aggregate(&query, &options));
        let (page, took) = timed(|| catalog.list(&query, ListPosition::default(), LIMIT));
        if unmeasured < UNMEASURED {
            unmeasured += 1;
            continue;
        }
        if samples.len() % (QUERIES / CHECKED) == 0 {
            let (counts, took) = timed(|| reference(naive, &query, by));
            scans.push(took);
            assert_eq!((page.total, aggregate.total), (counts.0, counts.0), "{query:?}");
            check(&counts.1, &aggregate.groups[0].values, &query, name);
        }
        if groups + took > worst.0 {
            worst = (groups + took, format!("{:?} {:?} by {name} of {}", query.filters, query.order, page.total));
        }
        samples.push(Sample { groups, page: took, found: page.total });
    }
    scans.sort_unstable();
    let scan = quantile(&scans, 0.5).unwrap_or(0);
    report(table.name(), &samples, scan);
    samples.retain(|sample| sample.found > 0);
    report(&format!("{}, with rows", table.name()), &samples, scan);
    if slowest {
        println!("      slowest: {}", worst.1);
    }
}

fn report(name: &str, samples: &[Sample], scan: u64) {
    let at = |share: f64, of: fn(&Sample) -> u64| {
        let mut numbers: Vec<u64> = samples.iter().map(of).collect();
        numbers.sort_unstable();
        quantile(&numbers, share).unwrap_or(0)
    };
    let whole = |sample: &Sample| sample.groups + sample.page;
    let micros = |time: u64| format!("{:.1}", time as f64 / 1e3);
    println!(
        "  {name:<40}{:>9}{:>9}{:>9}{:>9}{:>9}{:>11}{:>9}{:>11.0}",
        micros(at(0.5, whole)),
        micros(at(0.99, whole)),
        micros(at(1.0, whole)),
        micros(at(0.5, |sample| sample.groups)),
        micros(at(0.5, |sample| sample.page)),
        at(0.5, |sample| sample.found),
        micros(scan),
        scan as f64 / at(0.5, whole).max(1) as f64,
    );
}

/// The number of rows of a query, and of those with each value.
fn reference(naive: &Naive<'_>, query: &Query, by: GroupBy) -> (u64, Vec<u64>) {
    let rows = naive.list(query);
    (rows.len() as u64, naive.counts(&rows, by))
}

/// Checks that the groups are the most frequent values, or of years, quarters and numbers the latest.
fn check(counts: &[u64], groups: &[AggregateGroup], query: &Query, name: &str) {
    let mut expected: Vec<u64> = counts.iter().copied().filter(|count| *count > 0).collect();
    match name {
        "year" | "quarter" | "founded_year" => expected.reverse(),
        _ => expected.sort_unstable_by(|a, b| b.cmp(a)),
    }
    expected.truncate(groups.len().max(LIMIT));
    let found = groups.iter().map(|group| group.count);
    assert!(found.eq(expected), "{query:?} by {name}");
}
