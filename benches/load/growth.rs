//! What grows with the release: the median CPU time of generated requests, one route after the other, on invented data and
//! on ten times as much. A route that grows by more than a tenth is listed here with its reason and its limit.

use std::path::Path;

use import::datagen::{self, GenConfig};

use crate::dataset;
use crate::random::Random;
use crate::subjects::{Subject, subjects};
use crate::timed::TimedServer;
use crate::{Options, Report};

const TIMES: u32 = 10;
const REQUESTS: usize = 300;
const ROUNDS: u64 = 3;
/// Growth of a route that does not depend on the number of records: caches of the processor hold less of the larger
/// release, and numbers have a digit more.
const MAX_GROWTH: f64 = 1.1;
/// Differences below it are the clock's.
const MIN_MICROS: f64 = 20.0;

/// A route that grows, by a part of its name, with the growth it may have and the reason.
const GROWING: [(&str, f64, &str); 0] = [];

pub fn measure(options: &Options, report: &mut Report) {
    let mut small = server(options.startups);
    let mut large = server(options.startups * TIMES);
    crate::run(async {
        let pairs = subjects(&mut small).await.into_iter().zip(subjects(&mut large).await);
        for (one, other) in pairs.filter(|(subject, _)| !subject.is_batch) {
            assert_eq!(one.name, other.name);
            let mut growth = f64::MAX;
            let mut medians = (0.0, 0.0);
            // The least growth of some rounds: other programs take caches and time. No request is sent twice.
            for round in 0..ROUNDS {
                let before = median(&mut small, &one, round).await;
                let after = median(&mut large, &other, round).await;
                let ratio = if after < before + MIN_MICROS { 1.0 } else { after / before };
                if ratio < growth {
                    (growth, medians) = (ratio, (before, after));
                }
            }
            let listed = GROWING.iter().find(|(part, ..)| one.name.contains(part));
            let limit = listed.map_or(MAX_GROWTH, |(_, limit, _)| *limit);
            let what = format!("{}: {:.0} and {:.0} µs", one.name, medians.0, medians.1);
            report.at_most(&what, growth, limit, "x");
            listed.iter().for_each(|(.., reason)| println!("  {reason}"));
        }
    });
}

fn server(startups: u32) -> TimedServer {
    let folder = tempfile::tempdir().expect("a folder");
    let path: &Path = folder.path();
    datagen::generate(&GenConfig::new(startups.div_ceil(5), startups), path).expect("a dataset");
    let catalog = dataset::catalog(path);
    println!("{startups} startups, {} firms", catalog.snapshot().counts().firms);
    TimedServer::start(catalog)
}

/// Microseconds of CPU of the median request.
async fn median(server: &mut TimedServer, subject: &Subject, round: u64) -> f64 {
    let mut random = Random(0x5eed_cafe_f00d_1234 + round);
    let mut costs = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let request = (subject.request)(&server.words, &mut random);
        costs.push(server.send(&request).await.expect("a response").0);
    }
    costs.sort_by(f64::total_cmp);
    costs[costs.len() / 2]
}
