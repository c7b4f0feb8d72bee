//! How fast aggregates are, next to a plain sum of the amounts of all rounds in the same run.

use std::cmp::Reverse;
use std::hint::black_box;
use std::time::Instant;

use catalog::{AggregateOptions, Catalog, Filter, Query, Resource};
use data::{Facet, Table};

use crate::clock::Moment;
use crate::queries::Queries;

const AGAIN: usize = 9;
const QUERIES: usize = 60;

/// Prints the time of each grouping: of all rows, and of those of random filters.
pub fn run(catalog: &Catalog) {
    let sum = median(AGAIN, || {
        let known = catalog.snapshot().round_amounts().iter().filter(|usd| **usd != u64::MAX);
        black_box(known.fold(0_u64, |sum, usd| sum.wrapping_add(*usd)));
    });
    println!("aggregates: microseconds, median; a plain sum of all amounts takes {sum:.1}");
    println!("  {:<40}{:>12}{:>12}{:>12}{:>12}", "", "all rows", "/ sum", "filtered", "/ sum");
    for (resource, by) in [
        (Resource::Rounds, "stage"),
        (Resource::Rounds, "year"),
        (Resource::Rounds, "country"),
        (Resource::Rounds, "sector"),
        (Resource::Rounds, "investor"),
        (Resource::Startups, "stage"),
        (Resource::Startups, "country"),
        (Resource::Startups, "sector"),
        (Resource::Firms, "kind"),
    ] {
        let values = [("group_by".to_owned(), by.to_owned())];
        let options = AggregateOptions::parse(resource, &values).expect("a property of the list");
        let table = resource.table();
        let all = median(AGAIN, || drop(black_box(catalog.compute_aggregate(&Query::all(table), &options))));
        let mut queries = Queries::over(catalog, 3);
        let mut filtered: Vec<f64> = (0..QUERIES)
            .map(|_| filtered(&mut queries, table))
            .map(|query| median(3, || drop(black_box(catalog.compute_aggregate(&query, &options)))))
            .collect();
        filtered.sort_by(f64::total_cmp);
        let filtered = filtered[filtered.len() / 2];
        let name = format!("{} by {by}", table.name());
        println!("  {name:<40}{all:>12.1}{:>12.2}{filtered:>12.1}{:>12.2}", all / sum, filtered / sum);
    }
    ranges(catalog, sum);
}

/// Prints the times of rounds by year, of a country and from an amount on: each request is new, so nothing of it is cached.
fn ranges(catalog: &Catalog, sum: f64) {
    let (snapshot, table) = (catalog.snapshot(), Table::Rounds);
    let options = AggregateOptions::parse(Resource::Rounds, &[("group_by".to_owned(), "year".to_owned())]);
    let options = options.expect("a property of the list");
    let rounds_of = |country: &u32| snapshot.facet_count(table, Facet::Country, *country);
    let mut countries: Vec<u32> = (0..snapshot.facet_values(table, Facet::Country)).collect();
    countries.sort_by_key(|country| Reverse(rounds_of(country)));
    let key = table.sort_key("amount_usd");
    let amounts = snapshot.values(table, key);
    println!(
        "  {:<40}{:>12}{:>12}{:>12}{:>12}",
        "rounds by year, country, smallest amount", "rows", "median", "/ sum", "max"
    );
    for countries in [&countries[..1], &countries[..countries.len().min(20)]] {
        let mut queries = Queries::over(catalog, 5);
        let (mut took, mut rows) = (Vec::new(), 0);
        for _ in 0..QUERIES {
            let country = countries[queries.random.below(countries.len() as u64) as usize];
            let min = amounts[queries.random.below(amounts.len().max(2) as u64 / 2) as usize];
            let filters = vec![Filter::AnyOf(Facet::Country, vec![country]), Filter::Range { key, min, max: i64::MAX }];
            let query = Query { filters, ..Query::all(table) };
            let began = Moment::now();
            rows += black_box(catalog.compute_aggregate(&query, &options)).0.total;
            took.push(began.elapsed().as_secs_f64() * 1e6);
        }
        took.sort_by(f64::total_cmp);
        let (median, max) = (took[took.len() / 2], took[took.len() - 1]);
        let name = if countries.len() == 1 { "the largest country" } else { "one of the largest" };
        println!("  {name:<40}{:>12}{median:>12.1}{:>12.2}{max:>12.1}", rows / QUERIES as u64, median / sum);
    }
}

/// A random query with at least one filter.
fn filtered(queries: &mut Queries<'_>, table: Table) -> Query {
    let mut query = queries.query(table, 0);
    if query.filters.is_empty() {
        query.filters.push(Filter::AnyOf(Facet::Country, vec![0, 1, 2]));
    }
    query
}

/// The median time in microseconds.
fn median(times: usize, work: impl Fn()) -> f64 {
    let mut took: Vec<f64> = (0..times)
        .map(|_| {
            let began = Instant::now();
            work();
            began.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    took.sort_by(f64::total_cmp);
    took[took.len() / 2]
}
