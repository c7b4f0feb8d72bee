//! How fast aggregates are, next to a plain sum of the amounts of all rounds in the same run.

use std::hint::black_box;
use std::time::Instant;

use catalog::{AggregateOptions, Catalog, Filter, Query, Resource};
use data::{Facet, Table};

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
