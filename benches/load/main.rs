//! What the server bears: the cost of the worst request, hostile and excess load next to an honest client, memory over
//! minutes, hostile bytes, slow connections, and restarts.
//!
//! `cargo bench --bench load -- [SUITE…] [--index DIR] [--requests 50000] [--minutes 30] [--malformed 100000] [--slow 2000] [--restarts 1000]
//! [--startups 20000]`
//!
//! Suites: `cost`, `growth`, `attack`, `endurance`, `store`, `malformed`, `slow`, `restarts`, `rolling` (needs `haproxy`);
//! without a name all run but `growth`, whose bound not every route meets. Each prints what it measured with its bound, and
//! the exit code is 1 if one is exceeded. Without an index the bundled snapshot is served. Whoever attacks is a process of
//! its own with the lowest priority: on a network its processor is not the server's.

mod attack;
mod client;
mod cost;
#[path = "../dataset/mod.rs"]
mod dataset;
mod endurance;
mod generate;
mod growth;
mod malformed;
#[path = "../random/mod.rs"]
mod random;
#[path = "../release/mod.rs"]
mod release;
mod restarts;
mod server;
#[path = "../service/mod.rs"]
mod service;
mod slow;
mod store;
mod subjects;
mod timed;

use std::future::Future;
use std::process::ExitCode;

pub struct Options {
    pub index: Option<String>,
    pub requests: usize,
    pub minutes: usize,
    pub malformed: usize,
    pub slow: usize,
    pub restarts: usize,
    /// In the smaller dataset of `growth`.
    pub startups: u32,
}

/// What was measured with its bounds.
#[derive(Default)]
pub struct Report {
    exceeded: usize,
}

impl Report {
    pub fn at_most(&mut self, what: &str, measured: f64, bound: f64, unit: &str) {
        let is_exceeded = measured.is_nan() || measured > bound;
        self.exceeded += usize::from(is_exceeded);
        let verdict = if is_exceeded { "EXCEEDED" } else { "ok" };
        println!("{what:<66} {measured:>10.3} {unit:<6} at most {bound:>8.3}  {verdict}");
    }
}

const SUITES: [&str; 9] =
    ["cost", "growth", "attack", "endurance", "store", "malformed", "slow", "restarts", "rolling"];

fn main() -> ExitCode {
    let mut options = Options {
        index: None,
        requests: 50_000,
        minutes: 30,
        malformed: 100_000,
        slow: 2_000,
        restarts: 1_000,
        startups: 20_000,
    };
    let mut chosen = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = |default: usize| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
        match argument.as_str() {
            "--requests" => options.requests = number(options.requests),
            "--minutes" => options.minutes = number(options.minutes),
            "--malformed" => options.malformed = number(options.malformed),
            "--slow" => options.slow = number(options.slow),
            "--restarts" => options.restarts = number(options.restarts),
            "--startups" => options.startups = number(options.startups as usize) as u32,
            "--index" => options.index = arguments.next(),
            attack::ATTACKER => {
                run(attack::attack(arguments.collect()));
                return ExitCode::SUCCESS;
            }
            name if SUITES.contains(&name) => chosen.push(argument),
            "--bench" => {}
            _ => {
                eprintln!("unknown argument `{argument}`; the suites are: {}", SUITES.join(" "));
                return ExitCode::from(2);
            }
        }
    }
    let mut report = Report::default();
    let is_chosen = |suite: &&str| match chosen.is_empty() {
        true => *suite != "growth",
        false => chosen.iter().any(|name| name == suite),
    };
    for suite in SUITES.into_iter().filter(is_chosen) {
        println!("== {suite}");
        match suite {
            "cost" => cost::measure(&options, &mut report),
            "growth" => growth::measure(&options, &mut report),
            "attack" => run(attack::measure(&options, &mut report)),
            "endurance" => run(endurance::measure(&options, &mut report)),
            "store" => run(store::measure(&options, &mut report)),
            "malformed" => run(malformed::measure(&options, &mut report)),
            "slow" => run(slow::measure(&options, &mut report)),
            "restarts" => run(restarts::plain(&options, &mut report)),
            _ => run(restarts::rolling(&options, &mut report)),
        }
    }
    match report.exceeded {
        0 => ExitCode::SUCCESS,
        exceeded => {
            println!("{exceeded} bounds exceeded");
            ExitCode::FAILURE
        }
    }
}

/// Clients share one thread, so that they take no more than a processor.
fn run<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(work)
}
