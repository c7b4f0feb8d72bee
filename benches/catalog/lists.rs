//! How fast lists are: many random queries of each class, a sample of them against the naive scan.

use std::collections::HashSet;
use std::hint::black_box;
use std::time::{Duration, Instant};

use catalog::{Catalog, Filter, ListPosition, Query, Resource};
use data::Table;

use crate::groups;
use crate::naive::Naive;
use crate::queries::Queries;

const QUERIES: usize = 400;
const PAGES_OF_A_WALK: usize = 4;
const CHECKED: usize = 8;
/// Repetitions of a query; the best time counts, which reduces the influence of other load.
const AGAIN: usize = 3;

/// Where a page begins.
#[derive(Clone, Copy, PartialEq)]
enum From {
    Start,
    /// At a random offset, as in v1 and v2.
    Offset,
    /// After a page at a random offset, as with a cursor of v3.
    Cursor,
}

/// Times of one class, in nanoseconds.
#[derive(Default)]
struct Times {
    /// With filters whose total is not cached.
    cold: Vec<u64>,
    /// The same query again.
    warm: Vec<u64>,
    /// The naive scan with its sort.
    naive: Vec<u64>,
    /// The slowest query.
    slowest: Option<(u64, String)>,
}

/// Runs all classes; with `slowest` prints the slowest query of each.
pub fn run(catalog: &Catalog, slowest: bool) {
    let mut seen = HashSet::new();
    let resources = [Resource::Firms, Resource::Startups, Resource::Rounds];
    let tables = resources.map(|resource| (resource.table(), Naive::of(catalog, resource.table())));
    groups::title();
    for (resource, (_, naive)) in resources.into_iter().zip(&tables) {
        groups::run(catalog, naive, &mut seen, resource, slowest);
    }
    let copy = copy(catalog);
    println!("lists: microseconds; cold: with the count, warm: counted before; a bare copy of 20 rows takes {copy} ns");
    println!(
        "  {:<40}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>11}{:>10}",
        "", "cold p50", "p99", "warm p50", "p99", "max", "naive", "naive/warm", "warm/copy"
    );
    for (table, naive) in &tables {
        let table = *table;
        for from in [From::Start, From::Offset, From::Cursor] {
            for keys in 0..=3_usize.min(table.sort_keys().len()) {
                let seed = table as u64 * 100 + from as u64 * 10 + keys as u64;
                let mut queries = Queries::over(catalog, seed);
                let times = class(catalog, naive, &mut queries, &mut seen, table, from, keys);
                report(table, from, keys, times, copy, slowest);
            }
        }
    }
}

fn class(
    catalog: &Catalog,
    naive: &Naive<'_>,
    queries: &mut Queries<'_>,
    seen: &mut HashSet<(Table, Vec<Filter>)>,
    table: Table,
    from: From,
    keys: usize,
) -> Times {
    let mut times = Times::default();
    for number in 0..QUERIES {
        let query = queries.query(table, keys);
        let limit = if queries.random.below(4) == 0 { 100 } else { 20 };
        let is_new = seen.insert((table, query.filters.clone()));
        let deep = queries.random.next();
        if from == From::Start && is_new {
            times.cold.push(timed(|| catalog.list(&query, ListPosition::default(), limit)).1);
        }
        let total = catalog.list(&query, ListPosition::default(), 0).total;
        let mut place = match from {
            From::Start => ListPosition::default(),
            From::Offset | From::Cursor => ListPosition::after(deep % total.max(1)),
        };
        if from == From::Cursor {
            match catalog.list(&query, place, limit).next {
                Some(next) => place = next,
                None => continue,
            }
        }
        let (page, took) = best(|| catalog.list(&query, place, limit));
        times.warm.push(took);
        if times.slowest.as_ref().is_none_or(|(slowest, _)| took > *slowest) {
            times.slowest =
                Some((took, format!("{:?} {:?} of {total} from {}", query.filters, query.order, place.offset)));
        }
        let mut next = page.next;
        let mut rows = page.rows;
        if from == From::Cursor {
            for _ in 1..PAGES_OF_A_WALK {
                let Some(at) = next else { break };
                let (page, took) = best(|| catalog.list(&query, at, limit));
                times.warm.push(took);
                rows.extend(page.rows);
                next = page.next;
            }
        }
        if number % (QUERIES / CHECKED) == 0 {
            let (all, took) = timed(|| naive.list(&query));
            times.naive.push(took);
            check(&query, place, total, &rows, &all);
        }
    }
    times
}

fn check(query: &Query, place: ListPosition, total: u64, rows: &[u32], all: &[u32]) {
    assert_eq!(total, all.len() as u64, "{query:?}");
    let expected = all.iter().skip(place.offset as usize).take(rows.len());
    assert!(rows.iter().eq(expected), "{query:?} from {place:?}");
}

pub fn timed<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let began = Instant::now();
    let done = black_box(work());
    (done, nanoseconds(began.elapsed()))
}

fn best<T>(work: impl Fn() -> T) -> (T, u64) {
    let (done, first) = timed(&work);
    (done, (1..AGAIN).map(|_| timed(&work).1).fold(first, u64::min))
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds for copying the row numbers of a page from random positions.
fn copy(catalog: &Catalog) -> u64 {
    const COPIES: u64 = 200_000;
    let rows: Vec<u32> = (0..catalog.snapshot().rows(Table::Startups).max(20)).collect();
    let mut random = crate::queries::Random(1);
    let took = timed(|| {
        for _ in 0..COPIES {
            let start = random.below(rows.len() as u64 - 19) as usize;
            black_box(rows[start..start + 20].to_vec());
        }
    });
    (took.1 / COPIES).max(1)
}

/// The value that the share `share` of the sorted `times` does not exceed.
pub fn quantile(times: &[u64], share: f64) -> Option<u64> {
    let last = times.len().checked_sub(1)?;
    times.get((last as f64 * share).round() as usize).copied()
}

fn report(table: Table, from: From, keys: usize, mut times: Times, copy: u64, slowest: bool) {
    let from = match from {
        From::Start => "first page",
        From::Offset => "random offset",
        From::Cursor => "by cursor",
    };
    let order = match keys {
        0 => "default order".to_owned(),
        1 => "1 key".to_owned(),
        keys => format!("{keys} keys"),
    };
    for list in [&mut times.cold, &mut times.warm, &mut times.naive] {
        list.sort_unstable();
    }
    let micros = |time: Option<u64>| time.map_or_else(|| "-".into(), |time| format!("{:.1}", time as f64 / 1e3));
    let (warm, naive) = (quantile(&times.warm, 0.5), quantile(&times.naive, 0.5));
    let ratio = |over: Option<u64>, under: Option<u64>| {
        over.zip(under).map_or_else(|| "-".into(), |(over, under)| format!("{:.0}", over as f64 / under.max(1) as f64))
    };
    println!(
        "  {:<40}{:>9}{:>9}{:>9}{:>9}{:>9}{:>9}{:>11}{:>10}",
        format!("{}, {from}, {order}", table.name()),
        micros(quantile(&times.cold, 0.5)),
        micros(quantile(&times.cold, 0.99)),
        micros(warm),
        micros(quantile(&times.warm, 0.99)),
        micros(times.warm.last().copied()),
        micros(naive),
        ratio(naive, warm),
        ratio(warm, Some(copy)),
    );
    if let Some((_, question)) = times.slowest.filter(|_| slowest) {
        println!("      slowest: {question}");
    }
}
