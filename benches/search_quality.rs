//! Search quality: queries with known results over the real data, a table per kind.
//!
//! `VENTUREDEX_REAL_DATA=DIR VENTUREDEX_EVAL=DIR cargo bench --bench search_quality -- [--kind firms] [--class typo1] [--misses 5]`
//!
//! In-process, but measured as by a client: a list of the compiled dataset, the first ten results without those in `also`. A class with fewer than ten
//! queries is not shown; ALL is the mean of the classes.

mod clock;
mod dataset;
mod percentiles;

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::Duration;

use catalog::{Catalog, ListPosition, ParseOptions, Query, Request, Resource};
use data::fold::fold;
use serde_json::Value;

use clock::Moment;
use percentiles::times;

const KINDS: [(&str, Resource); 3] =
    [("firms", Resource::Firms), ("startups", Resource::Startups), ("people", Resource::People)];

struct Options {
    kind: Option<String>,
    class: Option<String>,
    misses: usize,
}

fn main() {
    let (Ok(data), Ok(queries)) = (std::env::var("VENTUREDEX_REAL_DATA"), std::env::var("VENTUREDEX_EVAL")) else {
        println!("skipped: VENTUREDEX_REAL_DATA and VENTUREDEX_EVAL are not set");
        return;
    };
    let options = options();
    let start = Moment::now();
    let catalog = dataset::catalog(Path::new(&data));
    println!("compiled and indexed in {:.1?}", start.elapsed());
    for (kind, resource) in KINDS {
        if options.kind.as_deref().is_none_or(|selected| selected == kind) {
            run(kind, resource, &catalog, &Path::new(&queries).join(format!("{kind}.jsonl")), &options);
        }
    }
}

fn options() -> Options {
    let mut options = Options { kind: None, class: None, misses: 0 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--kind" => options.kind = arguments.next(),
            "--class" => options.class = arguments.next(),
            "--misses" => options.misses = arguments.next().and_then(|text| text.parse().ok()).unwrap_or(0),
            _ => {}
        }
    }
    options
}

/// The list that a client requests with a query.
fn list(resource: Resource, text: &str, filters: Option<&Value>, catalog: &Catalog) -> Query {
    let filters = filters.and_then(Value::as_object).into_iter().flatten();
    let filters = filters.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let values: Vec<(String, String)> = filters.chain([("q".to_owned(), text.to_owned())]).collect();
    let options = ParseOptions { strict: true, review_statuses: &[], other_names: &[] };
    match catalog.parse(resource, &values, options).expect("a valid query").request {
        Request::List(query) => query,
        request => panic!("{values:?} is read as {request:?}"),
    }
}

type Measures = [f64; 3];

fn score(query: &Value, names: &[(&str, &str)]) -> Measures {
    let list = |key: &str| -> HashSet<&str> {
        query[key].as_array().map(|slugs| slugs.iter().filter_map(Value::as_str).collect()).unwrap_or_default()
    };
    let (also, relevant) = (list("also"), list("relevant"));
    let found: Vec<_> = names.iter().filter(|(slug, _)| !also.contains(slug)).take(10).collect();
    let by_prefix = query["rule"] == "prefix";
    let prefix = fold(query["query"].as_str().unwrap_or_default());
    let is_right =
        |slug: &str, name: &str| if by_prefix { fold(name).starts_with(&prefix) } else { relevant.contains(slug) };
    let right: Vec<bool> = found.iter().map(|(slug, name)| is_right(slug, name)).collect();
    let total = if by_prefix { query["total"].as_u64().unwrap_or(0) as usize } else { relevant.len() };
    let first = right.iter().position(|right| *right);
    [
        if first == Some(0) { 1.0 } else { 0.0 },
        if total == 0 { 0.0 } else { right.iter().filter(|right| **right).count() as f64 / total.min(10) as f64 },
        first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
    ]
}

fn run(kind: &str, resource: Resource, catalog: &Catalog, queries: &Path, options: &Options) {
    let (snapshot, table) = (catalog.snapshot(), resource.table());
    let text = std::fs::read_to_string(queries).expect("a file of queries");
    let mut classes: BTreeMap<String, Vec<(Measures, Duration)>> = BTreeMap::new();
    for line in text.lines() {
        let query: Value = serde_json::from_str(line).expect("a query");
        let class = query["class"].as_str().unwrap_or_default();
        if options.class.as_deref().is_some_and(|selected| selected != class) {
            continue;
        }
        let text = query["query"].as_str().unwrap_or_default();
        let filters = query.get("filters");
        let request = list(resource, text, filters, catalog);
        let start = Moment::now();
        let page = catalog.list(&request, ListPosition::default(), 12);
        let took = start.elapsed();
        let names: Vec<(&str, &str)> =
            page.rows.iter().map(|row| (snapshot.slug(table, *row), snapshot.name(table, *row))).collect();
        let measures = score(&query, &names);
        let results = classes.entry(class.to_owned()).or_default();
        if measures[1] < 1.0 && results.iter().filter(|(measures, _)| measures[1] < 1.0).count() < options.misses {
            let explain = |row: u32| {
                let explained = catalog.explain(table, text, row).expect("a table with names");
                format!("{} {:.3} {}", snapshot.name(table, row), explained.score, explained.strategy)
            };
            let best: Vec<String> = page.rows.iter().take(5).map(|row| explain(*row)).collect();
            let relevant = query["relevant"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let own: Vec<String> = relevant.filter_map(|slug| catalog.find(table, slug)).map(explain).collect();
            let filters = filters.map_or(String::new(), Value::to_string);
            println!("  miss {class} {text:?} expects {own:?} {filters} found {best:?}");
        }
        results.push((measures, took));
    }
    report(kind, snapshot.rows(table), &classes);
}

fn report(kind: &str, names: u32, classes: &BTreeMap<String, Vec<(Measures, Duration)>>) {
    let mut all: Vec<Duration> = classes.values().flatten().map(|(_, took)| *took).collect();
    let (p50, p99, max) = times(&mut all);
    println!("\n{kind}: {names} names; {} queries, p50 {p50:.0} µs, p99 {p99:.0} µs, max {max:.0} µs", all.len());
    println!("  {:<14} {:>4} {:>6} {:>6} {:>6} {:>8} {:>8}", "class", "n", "r@1", "r@10", "MRR", "p50 µs", "p99 µs");
    let mut sums = [0.0; 3];
    let mut counted = 0;
    for (class, results) in classes.iter().filter(|(_, results)| results.len() >= 10) {
        let mean: Vec<f64> = (0..3)
            .map(|at| results.iter().map(|(measures, _)| measures[at]).sum::<f64>() / results.len() as f64)
            .collect();
        let (p50, p99, _) = times(&mut results.iter().map(|(_, took)| *took).collect::<Vec<_>>());
        println!(
            "  {class:<14} {:>4} {:>6.3} {:>6.3} {:>6.3} {p50:>8.0} {p99:>8.0}",
            results.len(),
            mean[0],
            mean[1],
            mean[2]
        );
        sums.iter_mut().zip(&mean).for_each(|(sum, mean)| *sum += mean);
        counted += 1;
    }
    if counted > 0 {
        let [first, recall, rank] = sums.map(|sum| sum / f64::from(counted));
        println!("  {:<14} {:>4} {first:>6.3} {recall:>6.3} {rank:>6.3}", "ALL", "");
    }
}
