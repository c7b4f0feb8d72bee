//! Memory and descriptors over minutes of mixed requests from a million addresses.

use std::cell::Cell;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::{join, join_all};
use serde_json::json;
use tokio::time::{Instant, sleep_until};

use crate::client::{Connection, encoded, get, post, tool_call};
use crate::generate::Words;
use crate::random::Random;
use crate::server::{Data, Server};
use crate::{Options, Report, release};

const ADDRESSES: usize = 1_000_000;
const CONNECTIONS: usize = 8;
/// Megabytes a minute. Full caches replace small entries by larger ones for a while, and the allocator keeps the difference; a
/// leak of four bytes a request exceeds it.
const MAX_GROWTH: f64 = 0.5;
/// The first minutes fill caches and tables, and each address comes once: a million of them take six minutes on two cores.
const FIRST_MINUTE: usize = 20;
const SAMPLES_PER_MINUTE: usize = 12;

pub async fn measure(options: &Options, report: &mut Report) {
    let data = Data::new();
    let key = data.key();
    let server = Server::start(&data, options.index.as_deref(), &["--trusted-proxies", "127.0.0.1"]);
    let words = Words::of(&release::catalog(options.index.as_deref()));
    fill_cache(server.address, &key).await;
    println!("cache filled: {:.1} MB", server.resident());
    let start = Instant::now();
    let until = start + Duration::from_secs(60 * options.minutes as u64);
    let (sent, failed) = (Cell::new(0_usize), Cell::new(0_usize));
    let load = (0..CONNECTIONS).map(|number| {
        let (sent, failed, words, key) = (&sent, &failed, &words, key.as_str());
        async move {
            let mut random = Random(0x5eed + number as u64 * 7_919);
            let mut connection = None;
            while Instant::now() < until {
                let request = mixed(sent.get(), key, words, &mut random);
                sent.set(sent.get() + 1);
                match exchange(&mut connection, server.address, &request).await {
                    // The queue may be full: the load is closed-loop, the processors few.
                    Ok(status) if status < 500 || status == 503 => {}
                    _ => failed.set(failed.get() + 1),
                }
            }
        }
    });
    let samples = async {
        let mut samples = Vec::new();
        for number in 1..=options.minutes * SAMPLES_PER_MINUTE {
            sleep_until(start + Duration::from_secs(60) * number as u32 / SAMPLES_PER_MINUTE as u32).await;
            let minute = number as f64 / SAMPLES_PER_MINUTE as f64;
            samples.push((minute, server.resident(), server.descriptors()));
            if number % SAMPLES_PER_MINUTE == 0 {
                println!(
                    "minute {minute}: {} requests, {:.1} MB, {} descriptors",
                    sent.get(),
                    server.resident(),
                    server.descriptors()
                );
            }
        }
        samples
    };
    let (_, samples) = join(join_all(load), samples).await;
    let late: Vec<_> = samples.into_iter().filter(|(minute, ..)| *minute >= FIRST_MINUTE as f64).collect();
    let growth =
        |of: fn(&(f64, f64, f64)) -> f64| slope(&late.iter().map(|sample| (sample.0, of(sample))).collect::<Vec<_>>());
    report.at_most("requests that failed", failed.get() as f64, 0.0, "");
    report.at_most("growth of memory from the twentieth minute on", growth(|sample| sample.1), MAX_GROWTH, "MB/min");
    report.at_most("growth of descriptors from the twentieth minute on", growth(|sample| sample.2), 0.5, "/min");
}

/// Fills the response cache with lists asked twice, which the mixed requests would do within half an hour.
async fn fill_cache(to: SocketAddr, key: &str) {
    let mut connection = None;
    for offset in 0..4_000 {
        let request = get(&format!("/api/v1/vcs?limit=100&offset={offset}"), key);
        for _ in 0..2 {
            assert_eq!(exchange(&mut connection, to, &request).await.expect("a response"), 200);
        }
    }
}

async fn exchange(connection: &mut Option<Connection>, to: SocketAddr, request: &[u8]) -> std::io::Result<u16> {
    let mut open = match connection.take() {
        Some(open) => open,
        None => Connection::open(to).await?,
    };
    let reply = open.send(request).await?;
    if !reply.is_last() {
        *connection = Some(open);
    }
    Ok(reply.status)
}

/// Tool calls, pages, lists, forms and unknown keys; each address once before one comes again.
fn mixed(number: usize, key: &str, words: &Words, random: &mut Random) -> Vec<u8> {
    let address = (number % ADDRESSES) as u32;
    let from = match address % 2 {
        0 => format!("x-forwarded-for: {}\r\n", std::net::Ipv4Addr::from(0x0b00_0000 + address)),
        _ => format!("x-forwarded-for: 2001:db8:{:x}:{:x}::1\r\n", address >> 8, address & 0xff),
    };
    let name = encoded(&words.slug(random).replace('-', " "));
    match random.below(20) {
        0..=7 => tool_call(&from, "search_vcs", &json!({ "query": name })),
        8..=11 => get(&format!("/vcs?q={name}"), &from),
        12 => get(&format!("/vcs/{}", words.slug(random).replace(' ', "%20")), &from),
        13..=15 => get(&format!("/api/v3/startups?limit=20&q={name}"), &format!("{from}{key}")),
        16 | 17 => get(&format!("/api/v3/vcs?limit={}", 1 + random.below(50)), &format!("{from}{key}")),
        18 => get("/api/v3/vcs", &format!("{from}authorization: Bearer vdx_{:032x}\r\n", random.next())),
        _ => {
            let form = format!("email={name}%40example.com&password=seven+quiet+herons");
            let headers = "origin: http://localhost\r\nsec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n";
            post("/signin", &format!("{from}{headers}"), &form)
        }
    }
}

/// Of the line with the least squares.
fn slope(points: &[(f64, f64)]) -> f64 {
    let count = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
    let products: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    products / points.iter().map(|point| (point.0 - x).powi(2)).sum::<f64>()
}
