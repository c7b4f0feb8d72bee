//! Malformed requests, each on a connection of its own: none may get a 5xx or no answer for long, and an honest client
//! next to them gets all its responses.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use futures_util::future::{join, join_all};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::{Instant, timeout};

use crate::client::{Connection, get, post, steady};
use crate::random::Random;
use crate::server::{Data, Server};
use crate::{Options, Report};

const AT_ONCE: usize = 16;

pub async fn measure(options: &Options, report: &mut Report) {
    let data = Data::new();
    let key = data.key();
    let server = Server::start(&data, options.index.as_deref(), &[]);
    let outcomes = RefCell::new(BTreeMap::<String, usize>::new());
    let longest = RefCell::new(Duration::ZERO);
    let seeds = seeds(&key);
    let done = RefCell::new(0);
    let attack = join_all((0..AT_ONCE).map(|number| {
        let (outcomes, longest, seeds, done) = (&outcomes, &longest, &seeds, &done);
        async move {
            let mut random = Random(0x5eed + number as u64 * 7_919);
            while *done.borrow() < options.malformed {
                *done.borrow_mut() += 1;
                let request = mutated(&seeds[random.below(seeds.len())], &mut random);
                let start = Instant::now();
                let outcome = outcome(server.address, &request).await;
                let took = start.elapsed();
                if took > *longest.borrow() {
                    *longest.borrow_mut() = took;
                }
                if outcome.starts_with('5') || outcome == "hangs" {
                    println!("{outcome}: {:?}", String::from_utf8_lossy(&request[..request.len().min(400)]));
                }
                *outcomes.borrow_mut().entry(outcome).or_default() += 1;
            }
        }
    }));
    let until = Instant::now() + Duration::from_secs(3);
    let (_, (times, failed)) = join(attack, steady(server.address, until, |_| get("/api/v3/vcs?limit=5", &key))).await;
    println!("{:?}; the longest took {:.1} s", outcomes.borrow(), longest.borrow().as_secs_f64());
    println!("honest client next to them: p99 {:.2} ms of {}", times.at(0.99), times.count());
    let of = |what: &str| {
        outcomes.borrow().iter().filter(|(name, _)| name.starts_with(what)).map(|(_, n)| *n).sum::<usize>()
    };
    report.at_most("malformed requests with a 5xx", of("5") as f64, 0.0, "");
    report.at_most("malformed requests without an end", of("hangs") as f64, 0.0, "");
    report.at_most("failed requests of the honest client", failed as f64, 0.0, "");
    report.at_most("panics in the log", data.log().matches("panic").count() as f64, 0.0, "");
}

/// The status of the first response, or how the connection ended without one.
async fn outcome(server: SocketAddr, request: &[u8]) -> String {
    let exchange = async {
        let mut connection = Connection::open(server).await?;
        connection.stream.write_all(request).await?;
        // Otherwise the server would rightly wait for the rest.
        connection.stream.shutdown().await?;
        let mut response = Vec::new();
        connection.stream.read_to_end(&mut response).await?;
        std::io::Result::Ok(response)
    };
    match timeout(Duration::from_secs(30), exchange).await {
        Err(_) => "hangs".to_owned(),
        Ok(Err(error)) => error.kind().to_string(),
        Ok(Ok(response)) => match response.get(9..12) {
            Some(status) => String::from_utf8_lossy(status).into_owned(),
            None => "closed".to_owned(),
        },
    }
}

fn seeds(key: &str) -> Vec<Vec<u8>> {
    let json = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n";
    let form = "origin: http://localhost\r\nsec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_vcs","arguments":{"query":"alder","stages":["seed"],"limit":5}}}"#;
    vec![
        get("/api/v3/vcs?stage=seed&sort=-investment_count&fields=name,slug&limit=20", key),
        get("/api/v3/startups?q=alder&amount_min=1000&cursor=eyJhIjoxfQ", key),
        get("/v1/vcs?limit=10&offset=5", &format!("{key}if-none-match: \"abc\"\r\naccept-encoding: gzip\r\n")),
        get("/api/v3/match?stage=seed&sector=fintech&raise_usd=2000000", key),
        get("/vcs?country=DE&q=capital", "cookie: session=0123456789abcdef0123456789abcdef\r\n"),
        get("/account", "cookie: session=x\r\nx-forwarded-for: 1.2.3.4, 5.6.7.8\r\n"),
        post("/api/mcp", json, call),
        post("/api/mcp", json, r#"{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}"#),
        post("/signin", form, "email=a%40example.com&password=wrong+wrong+wrong"),
        b"POST /api/mcp HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\ncontent-type: application/json\r\n\r\n5\r\n{\"id\"\r\n3\r\n:1}\r\n0\r\n\r\n".to_vec(),
        b"OPTIONS /api/v3/vcs HTTP/1.1\r\nhost: localhost\r\norigin: https://a.example\r\naccess-control-request-method: GET\r\n\r\n".to_vec(),
    ]
}

/// A request with one to six faults.
fn mutated(seed: &[u8], random: &mut Random) -> Vec<u8> {
    const PARTS: [&[u8]; 22] = [
        b"\r\n",
        b"\n",
        b"\r",
        b"\0",
        b"%",
        b"%00",
        b"%ff",
        b"..",
        b"//",
        b"\xff\xfe",
        b"\"",
        b"{",
        b"[[[[[[[[",
        b"null",
        b"1e999",
        b"-1",
        b"content-length: 5\r\n",
        b"transfer-encoding: chunked\r\n",
        b"host: evil\r\n",
        b" HTTP/9.9",
        b"\xf0\x9f\xa7\xa8",
        b"expect: 100-continue\r\n",
    ];
    let mut request = seed.to_vec();
    for _ in 0..1 + random.below(6) {
        let at = random.below(request.len());
        match random.below(7) {
            0 => request.truncate(at),
            1 => {
                if let Some(byte) = request.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 => drop(request.splice(at..at, random.pick(&PARTS).iter().copied())),
            3 => {
                let end = (at + random.below(40)).min(request.len());
                request.drain(at..end);
            }
            4 => {
                let end = (at + random.below(60)).min(request.len());
                let copy = request[at..end].repeat(1 + random.below(4));
                drop(request.splice(at..at, copy));
            }
            5 => drop(request.splice(at..at, std::iter::repeat_n(b'a', random.below(20_000)))),
            _ => drop(request.splice(at..at, (0..random.below(20)).map(|_| random.next() as u8).collect::<Vec<_>>())),
        }
    }
    request
}
