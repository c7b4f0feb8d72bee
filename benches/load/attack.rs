//! Honest clients and a health check, alone and next to attackers at the default limits.

use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;
use tokio::time::Instant;

use crate::client::{Connection, Times, encoded, get, post, steady, tool_call};
use crate::generate::Words;
use crate::random::Random;
use crate::server::{Data, Server};
use crate::{Options, Report, release};

/// The argument that makes this program an attacker.
pub const ATTACKER: &str = "attacker";

const SECONDS: u64 = 15;
/// Connections of an address: as many as it may have.
const CONNECTIONS: usize = 64;
const SEARCHING: usize = 1_000;
/// Look-ups of a visitor at once: the pages of a minute, of ten names each.
const BATCHES: usize = 12;
/// Connections of one key that searches.
const OF_KEY: usize = 40;
/// Milliseconds that a caller may add to the p99 of others.
const DELAY: f64 = 20.0;

pub async fn measure(options: &Options, report: &mut Report) {
    let data = Data::new();
    let key = data.key();
    // Otherwise all attackers were one: they are on this machine.
    let server = Server::start(&data, options.index.as_deref(), &["--trusted-proxies", "127.0.0.1"]);
    let (quiet, quiet_health) = honest(server.address, &key).await;
    println!(
        "quiet: p50 {:.2} ms, p99 {:.2} ms; /healthz p99 {:.2} ms",
        quiet.at(0.5),
        quiet.at(0.99),
        quiet_health.at(0.99)
    );
    for (kind, what) in [("visitors", "two attackers"), ("searches", "1,000 searching connections")] {
        let attackers = Attackers::start(kind, server.address, options.index.as_deref(), &key);
        let (times, health) = honest(server.address, &key).await;
        print!("{}", attackers.end());
        println!("{what}: p50 {:.2} ms, {} requests", times.at(0.5), times.count());
        let added = |with: &Times, without: &Times| with.at(0.99) - without.at(0.99);
        report.at_most(&format!("{what}: added to an honest client's p99"), added(&times, &quiet), DELAY, "ms");
        report.at_most(&format!("{what}: added to the p99 of /healthz"), added(&health, &quiet_health), DELAY, "ms");
    }
    let words = Words::of(&release::catalog(options.index.as_deref()));
    let (quiet, refused) = visitors(server.address, &words).await;
    report.at_most("visitors who search alone: refused", refused as f64, 0.0, "");
    let kinds =
        [("batches", "a visitor who looks up 12 × 100 names"), ("key", "a key that searches on 40 connections")];
    for (kind, what) in kinds {
        let attackers = Attackers::start(kind, server.address, options.index.as_deref(), &key);
        let (times, refused) = visitors(server.address, &words).await;
        print!("{}", attackers.end());
        println!("{what}: p50 {:.2} ms, p99 {:.2} ms, alone {:.2} ms", times.at(0.5), times.at(0.99), quiet.at(0.99));
        report.at_most(&format!("{what}: added to others' p99"), times.at(0.99) - quiet.at(0.99), DELAY, "ms");
        report.at_most(&format!("{what}: others who are refused"), refused as f64, 0.0, "");
    }
}

/// New searches of visitors without a key, each from an address of its own; the times, and the number of those that failed.
async fn visitors(server: SocketAddr, words: &Words) -> (Times, usize) {
    let until = Instant::now() + Duration::from_secs(SECONDS);
    let names: Vec<String> = {
        let mut random = Random(0x5eed_0002);
        (0..SECONDS * 100 + 100).map(|_| words.misspelt_name(&mut random)).collect()
    };
    let search = |number: usize| {
        let from = format!("x-forwarded-for: 203.0.{}.{}\r\n", number / 250, number % 250);
        get(&format!("/vcs?q={}", encoded(&names[number % names.len()])), &from)
    };
    steady(server, until, search).await
}

/// Lists that are not cached, and health checks, for some seconds.
async fn honest(server: SocketAddr, key: &str) -> (Times, Times) {
    let until = Instant::now() + Duration::from_secs(SECONDS);
    let list = |number| get(&format!("/api/v3/vcs?limit=5&check_usd={}", 1_000 + number), key);
    let (lists, health) = join(steady(server, until, list), steady(server, until, |_| get("/healthz", ""))).await;
    assert_eq!((lists.1, health.1), (0, 0), "requests of the honest client failed");
    (lists.0, health.0)
}

struct Attackers(Child);

impl Attackers {
    fn start(kind: &str, server: SocketAddr, index: Option<&str>, key: &str) -> Self {
        let program = std::env::current_exe().expect("this program");
        let mut command = Command::new("nice");
        command.args(["-n", "19"]).arg(program).args([ATTACKER, kind, &server.to_string(), key, index.unwrap_or("")]);
        let child = command.stdout(Stdio::piped()).spawn().expect("nice");
        // They are at work when the measurement begins.
        std::thread::sleep(Duration::from_secs(2));
        Self(child)
    }

    /// What they print at the end.
    fn end(self) -> String {
        String::from_utf8(self.0.wait_with_output().expect("its output").stdout).expect("text")
    }
}

/// Runs as an attacker; `arguments` are those of [`Attackers::start`].
pub async fn attack(arguments: Vec<String>) {
    let [kind, server, key, index] = arguments.try_into().expect("kind, server, key and index");
    let server: SocketAddr = server.parse().expect("an address");
    let words = Words::of(&release::catalog(Some(index.as_str()).filter(|index| !index.is_empty())));
    let until = Instant::now() + Duration::from_secs(SECONDS + 4);
    let connections = match kind.as_str() {
        "visitors" => 2 * CONNECTIONS,
        "batches" => BATCHES,
        "key" => OF_KEY,
        _ => SEARCHING,
    };
    let work = (0..connections).map(|number| {
        let (words, key, kind) = (&words, &key, &kind);
        async move {
            let mut random = Random(0x5eed + number as u64 * 7_919);
            let mut connection = None;
            let mut statuses = Vec::new();
            while Instant::now() < until {
                let request = match kind.as_str() {
                    "visitors" => visit(number % 2, words, &mut random),
                    "batches" => {
                        crate::generate::reconciliation(words, "x-forwarded-for: 198.51.100.9\r\n", &mut random)
                    }
                    _ => search(key, words, &mut random),
                };
                let mut open = match connection.take() {
                    Some(open) => open,
                    None => match Connection::open(server).await {
                        Ok(open) => open,
                        Err(_) => continue,
                    },
                };
                if let Ok(reply) = open.send(&request).await {
                    statuses.push(reply.status);
                    connection = (!reply.is_last()).then_some(open);
                    // Searching clients are many, but not hostile: they wait as the 503 says.
                    if kind == "searches" && reply.status == 503 {
                        tokio::time::sleep(reply.retry_after()).await;
                    }
                }
            }
            statuses
        }
    });
    let mut counts = std::collections::BTreeMap::new();
    for status in join_all(work).await.into_iter().flatten() {
        *counts.entry(status).or_insert(0) += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(status, count)| format!("{count} × {status}")).collect();
    println!("attackers got {}", counts.join(", "));
}

/// The dearest things that a visitor without a key may ask for.
fn visit(visitor: usize, words: &Words, random: &mut Random) -> Vec<u8> {
    let from = format!("x-forwarded-for: 198.51.100.{visitor}\r\n");
    let mut unknown = |count: usize| {
        let values: Vec<String> = (0..count).map(|_| words.slug(random) + "x").collect();
        encoded(&values.join(","))
    };
    match unknown(1).len() % 6 {
        0 => get(&format!("/startups?sector={}&country={}&investor={}", unknown(90), unknown(90), unknown(90)), &from),
        1 => get(&format!("/leaderboard?sector={}&country={}", unknown(90), unknown(90)), &from),
        2 => get(&format!("/vcs?city={}&q={}", unknown(90), unknown(9)), &from),
        3 => get(&format!("/?q={}", unknown(12)), &from),
        4 => tool_call(&from, "search_vcs", &json!({ "query": unknown(12), "sectors": vec![unknown(1); 100] })),
        _ => {
            let form = format!("email={}%40example.com&password=seven+quiet+herons", unknown(1));
            let origin = "origin: http://localhost\r\nsec-fetch-site: same-origin\r\n";
            post("/signin", &format!("{from}{origin}content-type: application/x-www-form-urlencoded\r\n"), &form)
        }
    }
}

fn search(key: &str, words: &Words, random: &mut Random) -> Vec<u8> {
    let name = words.slug(random).replace('-', " ") + "x";
    get(&format!("/api/v3/startups?limit=5&q={}", encoded(&name)), key)
}
