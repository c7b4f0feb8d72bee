//! The cost of generated requests, one route after the other: CPU time, and the longest piece of work, as the access log of
//! a second server has it. That one has several threads, since work gives its turn back only where others can run
//! meanwhile.

use std::collections::HashMap;
use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::runtime::Builder;

use platform::clock::now;
use transport::telemetry::{AccessLog, LogFormat};

use crate::client::Connection;
use crate::random::Random;
use crate::subjects::{Subject, misspelt_names, subjects};
use crate::timed::{TimedServer, send, serve};
use crate::{Options, Report, release};

/// The dearest requests of a route, which are measured again: other programs take caches and time from the first run.
const CANDIDATES: usize = 25;
const REPETITIONS: usize = 5;

/// No further requests are generated for a route after this time: a file of all rounds takes a quarter of a second.
const ROUTE_TIME: Duration = Duration::from_secs(15);

/// Requests with longer pieces are printed; microseconds.
const SHOWN_PIECE: f64 = 2_500.0;

/// Of so many requests, one is taken for an outlier, the first time it is sent.
const OUTLIERS_IN: usize = 50;

/// A request with many items is generated as often as a hundredth of the others.
const MANY_ITEMS: usize = 100;

/// A piece of work costs at most this many times the median of a search for a misspelt name.
const PIECE_TIMES_SEARCH: f64 = 3.0;

/// A request that is one piece costs at most this many times the median of its route, or of such a search: a list without
/// an error takes some microseconds, and the suggestions for unknown values are searches.
const TIMES_THE_MEDIAN: f64 = 20.0;
const MAX_COST_MS: f64 = 15.0;

/// In microseconds.
struct Cost {
    median: f64,
    dearest: f64,
    longest_piece: f64,
}

pub fn measure(options: &Options, report: &mut Report) {
    let catalog = || release::catalog(options.index.as_deref());
    println!("release {}, {} firms", catalog().version(), catalog().snapshot().counts().firms);
    let timed = TimedServer::start(catalog());
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("access.log");
    let access_log = AccessLog::open(&log, LogFormat::Json, now).expect("a log");
    let several_threads = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    let pausing =
        serve(catalog(), Arc::clone(&timed.accounts), Some(access_log), several_threads, &Arc::new(AtomicU64::new(0)));
    crate::run(async {
        let mut client = Client { timed, pausing, connection: None, log, tagged: 0 };
        println!(
            "{:<44} {:>8} {:>9} {:>9} {:>9} {:>9} {:>7}",
            "route", "requests", "p50, µs", "p99, µs", "max, µs", "piece, µs", "ratio"
        );
        let search =
            client.measure(&misspelt_names(&client.timed.key.clone()), options.requests.min(2_000)).await.median;
        let (mut dearest, mut steepest, mut longest) =
            ((0.0, String::new()), (0.0, String::new()), (0.0, String::new()));
        let note = |worst: &mut (f64, String), value: f64, name: &str| {
            if value > worst.0 {
                *worst = (value, name.to_owned());
            }
        };
        for subject in subjects(&mut client.timed).await {
            let requests = if subject.is_batch { options.requests.div_ceil(MANY_ITEMS) } else { options.requests };
            let cost = client.measure(&subject, requests).await;
            note(&mut longest, cost.longest_piece / search, &subject.name);
            if !subject.is_batch {
                note(&mut dearest, cost.dearest, &subject.name);
                note(&mut steepest, cost.dearest / cost.median.max(search), &subject.name);
            }
        }
        let of = |what: &str, worst: &(f64, String)| format!("{what}: {}", worst.1);
        report.at_most(&of("longest piece, in searches", &longest), longest.0, PIECE_TIMES_SEARCH, "x");
        report.at_most(&of("dearest request of one piece", &dearest), dearest.0 / 1e3, MAX_COST_MS, "ms");
        report.at_most(
            &of("dearest in relation to its route or a search", &steepest),
            steepest.0,
            TIMES_THE_MEDIAN,
            "x",
        );
    });
}

struct Client {
    timed: TimedServer,
    /// Works in pieces.
    pausing: SocketAddr,
    connection: Option<Connection>,
    /// The access log of the latter.
    log: PathBuf,
    /// Requests with an id of ours so far.
    tagged: usize,
}

impl Client {
    /// Sends a request with an id, by which the access log has its longest piece.
    async fn send_tagged(&mut self, request: &[u8]) -> String {
        self.tagged += 1;
        let id = format!("tagged-{}", self.tagged);
        let text = String::from_utf8_lossy(request);
        let request = text.replacen("\r\n", &format!("\r\nx-request-id: {id}\r\n"), 1);
        send(self.pausing, &mut self.connection, request.as_bytes()).await.expect("a response");
        id
    }

    /// Measures a route and prints its costs.
    async fn measure(&mut self, subject: &Subject, requests: usize) -> Cost {
        let mut costs = Vec::with_capacity(requests);
        let mut candidates: Vec<(f64, Vec<u8>)> = Vec::new();
        let mut random = Random(0x5eed_cafe_f00d_1234);
        let mut sent = Vec::with_capacity(requests);
        let started = Instant::now();
        for _ in 0..requests {
            if started.elapsed() > ROUTE_TIME {
                break;
            }
            let request = (subject.request)(&self.timed.words, &mut random);
            sent.push((self.send_tagged(&request).await, request.clone()));
            let (cost, reply) = self.timed.send(&request).await.expect("a response");
            assert!(!subject.name.starts_with("POST") || reply.status == 200, "{}: {}", subject.name, reply.body);
            costs.push(cost);
            if candidates.len() < CANDIDATES || cost > candidates[CANDIDATES - 1].0 {
                candidates.insert(candidates.partition_point(|(dearer, _)| *dearer > cost), (cost, request));
                candidates.truncate(CANDIDATES);
            }
        }
        let (mut worst, mut repeated_ids, mut last) = ((0.0, &Vec::new()), Vec::new(), String::new());
        for (first, candidate) in &candidates {
            let (mut least, mut ids) = (*first, Vec::new());
            for number in 0..REPETITIONS {
                let request = repeated(candidate, number);
                least = least.min(self.timed.send(&request).await.expect("a response").0);
                last = self.send_tagged(&request).await;
                ids.push(last.clone());
            }
            repeated_ids.push((ids, candidate));
            if least > worst.0 {
                worst = (least, candidate);
            }
        }
        let pieces = self.pieces(&last).await;
        let least = |ids: &[String]| ids.iter().filter_map(|id| pieces.get(id)).copied().reduce(f64::min);
        // The repetitions find pictures and similar records in a cache. The first requests do not, but have outliers.
        let first = sent.iter().filter_map(|(id, request)| Some((pieces.get(id).copied()?, request)));
        let mut first: Vec<(f64, &Vec<u8>)> = first.collect();
        first.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        let repeated = repeated_ids.iter().filter_map(|(ids, request)| Some((least(ids)?, *request)));
        let longest = first.get(first.len() / OUTLIERS_IN).copied().into_iter().chain(repeated);
        let longest = longest.max_by(|(one, _), (other, _)| one.total_cmp(other)).unwrap_or((0.0, worst.1));
        costs.sort_by(f64::total_cmp);
        let at = |share: f64| costs[((costs.len() - 1) as f64 * share) as usize];
        let median = at(0.5);
        println!(
            "{:<44} {:>8} {median:>9.1} {:>9.1} {:>9.1} {:>9.1} {:>7.1}",
            subject.name,
            costs.len(),
            at(0.99),
            worst.0,
            longest.0,
            worst.0 / median
        );
        let shown = [(worst, MAX_COST_MS * 1e3 / 2.0), (longest, SHOWN_PIECE)];
        for ((_, request), _) in shown.into_iter().filter(|((cost, _), bound)| !subject.is_batch && cost > bound) {
            let text = String::from_utf8_lossy(request).replace("\r\n", " ");
            println!("  {}", text.chars().take(600).collect::<String>());
        }
        Cost { median, dearest: worst.0, longest_piece: longest.0 }
    }

    /// Microseconds of the longest piece by the ids of requests; waits for the line of the last one.
    async fn pieces(&self, last: &str) -> HashMap<String, f64> {
        loop {
            let text = fs::read_to_string(&self.log).expect("a log");
            let lines = text.lines().filter(|line| line.contains("tagged-"));
            let lines = lines.filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let id = |line: &Value| line["request_id"].as_str().unwrap_or_default().to_owned();
            let all: HashMap<String, Option<f64>> = lines.map(|line| (id(&line), line["piece_ms"].as_f64())).collect();
            if all.contains_key(last) {
                // Lines that were read.
                fs::File::options().write(true).open(&self.log).and_then(|log| log.set_len(0)).expect("a log");
                return all.into_iter().filter_map(|(id, piece)| Some((id, piece? * 1e3))).collect();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// The same request with a parameter that the service ignores: the response must not come from the cache.
fn repeated(request: &[u8], number: usize) -> Vec<u8> {
    let text = String::from_utf8_lossy(request);
    let mark = if text.lines().next().is_some_and(|line| line.contains('?')) { '&' } else { '?' };
    text.replacen(" HTTP/1.1", &format!("{mark}_={number} HTTP/1.1"), 1).into_bytes()
}
