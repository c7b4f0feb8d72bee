//! Typical requests for startups: the page that is found, with the records of its 25 rows. CPU time of the thread, so that other
//! load matters little; each request is new, as one that is repeated comes from a cache.

use std::hint::black_box;

use catalog::{Catalog, ListPosition, Order, Query};
use data::{Facet, Table};

use crate::clock::Moment;
use crate::queries::Queries;

const REQUESTS: u64 = 2_000;
const LIMIT: usize = 25;

pub fn run(catalog: &Catalog) {
    println!("requests: microseconds of CPU, with the records of {LIMIT} rows");
    println!("  {:<40}{:>9}{:>9}{:>9}", "", "p50", "p99", "max");
    let table = Table::Startups;
    let rows = u64::from(catalog.snapshot().rows(table));
    let mut queries = Queries::over(catalog, 7);
    measure("list in its default order, anywhere", |_| {
        let start = ListPosition::after(queries.random.below(rows));
        present(catalog, &Query::all(table), start);
    });
    measure("list by a sort key, anywhere", |_| {
        let query = Query { filters: Vec::new(), ..queries.query(table, 1) };
        present(catalog, &query, ListPosition::after(queries.random.below(rows)));
    });
    measure("list with filters", |_| present(catalog, &queries.query(table, 0), ListPosition::default()));
    measure("list with filters by a sort key", |_| present(catalog, &queries.query(table, 1), ListPosition::default()));
    measure("facets with filters", |_| {
        let query = queries.query(table, 0);
        black_box(catalog.counts_by(&query, &[Facet::Stage, Facet::Sector, Facet::Country, Facet::Status]));
    });
    let mut name = |misspelt: bool| {
        let name = catalog.snapshot().name(table, queries.random.below(rows) as u32);
        let letters = name.chars().count() as u64;
        let left_out = if misspelt && letters > 4 { queries.random.below(letters) } else { letters };
        (0..).zip(name.chars()).filter(|(place, _)| *place != left_out).map(|(_, letter)| letter).collect::<String>()
    };
    let search = |text: String| {
        let query = Query { text: Some(text), order: Order::Natural, ..Query::all(table) };
        present(catalog, &query, ListPosition::default());
    };
    measure("search for a name", |_| search(name(false)));
    measure("search for a name without a letter", |_| search(name(true)));
    measure("search for a word of a name", |_| {
        let name = name(false);
        search(name.split(' ').next().unwrap_or(&name).to_owned());
    });
    measure("one record", |_| {
        let row = queries.random.below(rows) as u32;
        let slug = catalog.snapshot().slug(table, row);
        black_box(catalog.find(table, slug).map(|row| catalog.snapshot().record(table, row).json()));
    });
}

fn present(catalog: &Catalog, query: &Query, start: ListPosition) {
    let mut body = Vec::new();
    for row in catalog.list(query, start, LIMIT).rows {
        body.extend(catalog.snapshot().record(query.table, row).json());
    }
    black_box(body);
}

fn measure(name: &str, mut request: impl FnMut(u64)) {
    let timed = |number| {
        let start = Moment::now();
        request(number);
        start.elapsed()
    };
    let mut times: Vec<_> = (0..REQUESTS).map(timed).collect();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
    println!("  {name:<40}{:>9.0}{:>9.0}{:>9.0}", at(0.5), at(0.99), at(1.0));
}
