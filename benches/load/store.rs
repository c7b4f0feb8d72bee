//! The account page and revocation in a store with thousands of keys of others, while strangers sign in and keys are used.

use std::time::Duration;

use auth::account::KeyRef;
use auth::{ApiKey, AuthService, RateLimitConfig, SqliteStore};
use futures_util::future::join;
use tokio::time::Instant;

use crate::client::{Connection, Times, get, post};
use crate::server::{Data, Server};
use crate::{Options, Report};

const USED: usize = 5_000;
const REVOKED: usize = 3_600;
const PASSWORD: &str = "seven quiet herons";
const SECONDS: u64 = 10;

pub async fn measure(options: &Options, report: &mut Report) {
    let data = Data::new();
    let others = fill(&data).await;
    data.run(&["account", "create", "--email", "owner@example.com", "--password-stdin"], PASSWORD);
    let owned = data.run(&["key", "create", "--email", "owner@example.com", "--name", "own"], "");
    let server = Server::start(
        &data,
        options.index.as_deref(),
        &["--trusted-proxies", "127.0.0.1", "--pages-per-minute", "1000000"],
    );

    let mut owner = Connection::open(server.address).await.expect("a connection");
    let form = format!("email=owner%40example.com&password={}", PASSWORD.replace(' ', "+"));
    let headers = "origin: http://localhost\r\nsec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n";
    let reply = owner.send(&post("/signin", headers, &form)).await.expect("a response");
    let cookie = format!("cookie: {}\r\n", reply.cookies());

    for key in &others {
        let used = get("/api/v3/vcs?limit=1", &format!("authorization: Bearer {}\r\n", key.reveal()));
        let reply = owner.send(&used).await.expect("a response");
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    let until = Instant::now() + Duration::from_secs(SECONDS);
    let attack = async {
        let mut number = 0;
        let mut connection = Connection::open(server.address).await.expect("a connection");
        while Instant::now() < until {
            let key = &others[number % others.len()];
            number += 1;
            let request = match number % 8 {
                0 => {
                    let from = format!("x-forwarded-for: 203.0.113.{}\r\n", number / 8 % 250);
                    post(
                        "/signin",
                        &format!("{from}{headers}"),
                        "email=nobody%40example.com&password=wrong+wrong+wrong",
                    )
                }
                _ => get("/api/v3/vcs?limit=1", &format!("authorization: Bearer {}\r\n", key.reveal())),
            };
            connection.send(&request).await.expect("a response");
        }
        number
    };
    let page = async {
        let mut times = Times::default();
        while Instant::now() < until {
            let start = Instant::now();
            let reply = owner.send(&get("/account", &cookie)).await.expect("a response");
            assert_eq!(reply.status, 200);
            times.add(start);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        times
    };
    let (requests, pages) = join(attack, page).await;
    println!("{USED} used and {REVOKED} revoked keys, {requests} requests of others");
    println!("/account: p50 {:.2} ms, p99 {:.2} ms of {}", pages.at(0.5), pages.at(0.99), pages.count());
    report.at_most("median of /account", pages.at(0.5), 5.0, "ms");

    let own = get("/api/v3/vcs?limit=1", &format!("authorization: Bearer {owned}\r\n"));
    assert_eq!(owner.send(&own).await.expect("a response").status, 200);
    data.run(&["key", "revoke", "-"], &owned);
    let start = Instant::now();
    while owner.send(&own).await.expect("a response").status != 401 {}
    report.at_most("a revoked key is rejected after", start.elapsed().as_secs_f64(), 1.0, "s");
}

/// Makes the keys of others; returns those that are not revoked.
async fn fill(data: &Data) -> Vec<ApiKey> {
    data.run(&["account", "create", "--email", "others@example.com", "--tier", "enterprise"], "");
    let now = platform::clock::now();
    let store = SqliteStore::open(data.path()).expect("a data folder");
    let service = AuthService::with_store(Box::new(store), RateLimitConfig::default(), now).expect("a service");
    let account = service.store().accounts().expect("accounts")[0].id;
    let mut keys = Vec::new();
    for number in 0..REVOKED + USED {
        let name = format!("key {number}").parse().expect("a name");
        let new = service.create_key(account, name, None, now).await.expect("a key");
        match number < REVOKED {
            true => drop(service.store().revoke_key(KeyRef::Of(account, new.record.id), now).expect("the key")),
            false => keys.push(new.key),
        }
    }
    keys
}
