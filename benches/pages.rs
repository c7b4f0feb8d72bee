//! CPU time of the thread and bytes for each kind of page, and for profiles of firms and startups that nobody opened before.
//! The ratio is relative to parsing the JSON records of 25 firms in the same run.
//!
//! `cargo bench --bench pages -- [--index DIR]`; without an index the bundled snapshot is served.

mod clock;
mod release;
mod service;

use ::service::State;
use auth::{AuthService, RateLimitConfig, SqliteStore};
use catalog::Catalog;
use data::{Facet, Table};
use http::HeaderMap;
use site::{PageRequest, PageRoute};
use tokio::runtime::Builder;
use transport::{Peer, RequestIds, RequestTrace};

use clock::Moment;

const RUNS: usize = 7;
/// Profiles of each kind that are opened, spread over all.
const MAX_PROFILES: usize = 1_000;

fn micros(start: &Moment) -> f64 {
    start.elapsed().as_secs_f64() * 1e6
}

/// Microseconds for parsing the records of 25 firms.
fn reference(catalog: &Catalog) -> f64 {
    let read = || {
        let start = Moment::now();
        for row in 0..25.min(catalog.snapshot().rows(Table::Firms)) {
            let text = catalog.snapshot().record(Table::Firms, row).json();
            std::hint::black_box(serde_json::from_slice::<serde_json::Value>(&text).expect("a record"));
        }
        micros(&start)
    };
    (0..50).map(|_| read()).fold(f64::MAX, f64::min)
}

/// Microseconds and bytes of a page, the minimum of some runs: other load only adds. The first run fills the caches.
fn cost(state: &State, address: &str, headers: &HeaderMap, runs: usize) -> (f64, usize) {
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let mut best = f64::MAX;
    let mut bytes = 0;
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    for _ in 0..runs {
        let start = Moment::now();
        let page = PageRoute::parse(path).expect("a page");
        let peer = Peer("127.0.0.1:1".parse().expect("an address"));
        let (id, trace) = (RequestIds::default().next(), RequestTrace::default());
        let request = PageRequest { state, path, query, headers, peer, id, trace: &trace, bill: None };
        let answer = runtime.block_on(site::answer(page, request, None, peer.0.ip()));
        best = best.min(micros(&start));
        assert_eq!(answer.status(), 200, "{address}");
        bytes = answer.body().len();
    }
    (best, bytes)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let index = arguments.iter().position(|name| name == "--index").and_then(|index| arguments.get(index + 1));
    let catalog = release::catalog(index.map(String::as_str));
    let folder = std::env::temp_dir().join(format!("venturedex-pages-{}", std::process::id()));
    let store = SqliteStore::open(&folder).expect("a data folder");
    let auth = AuthService::with_store(Box::new(store), RateLimitConfig::default(), 0).expect("a service");
    let state = service::state(catalog, auth, "http://127.0.0.1:8080", || 0, None);
    let catalog = state.releases.current();
    let snapshot = catalog.snapshot();
    println!("release {}, {} firms", catalog.version(), snapshot.counts().firms);

    let plain = HeaderMap::new();
    let packed = HeaderMap::from_iter([(http::header::ACCEPT_ENCODING, "gzip".parse().expect("a value"))]);
    let busiest = (0..snapshot.rows(Table::Firms))
        .max_by_key(|firm| snapshot.facet_count(Table::Rounds, Facet::Investor, *firm))
        .expect("a firm");
    let largest = (0..snapshot.rows(Table::Sectors))
        .max_by_key(|sector| snapshot.facet_count(Table::Startups, Facet::Sector, *sector))
        .expect("a sector");
    let slug = |table| snapshot.slug(table, 0).to_owned();
    let name = snapshot.name(Table::Firms, 0).replace(' ', "+");
    let reference = reference(&catalog);
    println!("parsing 25 firms: {reference:.0} µs");
    println!("{:44} {:>9} {:>9} {:>9} {:>12}", "page", "µs", "ratio", "µs, gzip", "bytes, gzip");
    for address in [
        "/".to_owned(),
        format!("/?q={name}"),
        format!("/suggest?q={name}"),
        "/vcs".to_owned(),
        "/vcs?stage=seed&country=US&sort=name".to_owned(),
        format!("/vcs?q={name}"),
        format!("/vcs/{}", snapshot.slug(Table::Firms, busiest)),
        "/startups".to_owned(),
        format!("/startups/{}", slug(Table::Startups)),
        "/people".to_owned(),
        format!("/people/{}", slug(Table::People)),
        format!("/people?organization={}", snapshot.slug(Table::Firms, busiest)),
        "/rounds".to_owned(),
        "/rounds?country=US&stage=seed".to_owned(),
        "/markets".to_owned(),
        format!("/sectors/{}", snapshot.slug(Table::Sectors, largest)),
        "/countries/us/seed".to_owned(),
        "/match?stage=seed&country=US".to_owned(),
        format!("/compare?firm={},{}", snapshot.slug(Table::Firms, busiest), slug(Table::Firms)),
        "/sectors".to_owned(),
        "/leaderboard?metric=activity".to_owned(),
        "/data".to_owned(),
    ] {
        let (micros, _) = cost(&state, &address, &plain, RUNS);
        let (micros_packed, bytes) = cost(&state, &address, &packed, RUNS);
        println!("{address:44} {micros:9.0} {:9.1} {micros_packed:9.0} {bytes:12}", micros / reference);
    }

    for (table, path) in [(Table::Firms, "vcs"), (Table::Startups, "startups")] {
        let rows = snapshot.rows(table);
        let some = (0..rows).step_by((rows as usize / MAX_PROFILES).max(1));
        let mut profiles: Vec<(f64, usize)> =
            some.map(|row| cost(&state, &format!("/{path}/{}", snapshot.slug(table, row)), &plain, 1)).collect();
        profiles.sort_by(|a, b| a.0.total_cmp(&b.0));
        let at = |share: f64| profiles[((profiles.len() - 1) as f64 * share) as usize].0;
        let mean = profiles.iter().map(|(micros, _)| micros).sum::<f64>() / profiles.len() as f64;
        let longest = profiles.iter().map(|(_, bytes)| bytes).max().expect("a profile");
        println!(
            "{} profiles of {rows} below /{path}, each for the first time: mean {mean:.0} µs ({:.1} × the reference), p50 {:.0} µs, \
             p99 {:.0} µs, max {:.0} µs; the longest {longest} bytes",
            profiles.len(),
            mean / reference,
            at(0.5),
            at(0.99),
            at(1.0)
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}
