//! Keys and their daily quotas, under concurrency.

use std::sync::Barrier;

use auth::quota::Tier;
use auth::{ApiKey, AuthService, Caller, RateLimitConfig, SqliteStore};
use data::Date;

use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Server};

#[test]
fn sixty_four_clients_on_a_free_key_get_exactly_a_hundred_responses() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let start = Barrier::new(64);
    let replies: Vec<(u16, String, String)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64)
            .map(|number| {
                let (client, start) = (client.clone(), &start);
                scope.spawn(move || {
                    start.wait();
                    let path = ["/api/v1/vcs?limit=1", "/api/v2/sectors", "/api/v3/reviews"][number % 3];
                    (0..4)
                        // A busy machine may find no place in the queue in time, which costs nothing.
                        .map(|_| std::iter::repeat_with(|| client.get(path)).find(|reply| reply.status != 503).unwrap())
                        .map(|reply| {
                            let remaining = reply.header("x-ratelimit-remaining").to_owned();
                            (reply.status, remaining, reply.header("retry-after").to_owned())
                        })
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(replies.len(), 256);
    assert_eq!(replies.iter().filter(|(status, ..)| *status == 200).count(), 100);
    assert_eq!(replies.iter().filter(|(status, ..)| *status == 429).count(), 156);
    // Each admitted request reports a different remainder, down to 0.
    let mut left: Vec<u32> =
        replies.iter().filter(|(status, ..)| *status == 200).map(|(_, left, _)| left.parse().unwrap()).collect();
    left.sort_unstable();
    assert_eq!(left, (0..100).collect::<Vec<u32>>());
    assert!(
        replies.iter().filter(|(status, ..)| *status == 429).all(|(_, left, retry)| left == "0" && !retry.is_empty())
    );
}

#[test]
fn free_requests_are_served_when_the_quota_is_used_up() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let first = client.get("/api/v3/vcs?limit=1");
    let etag = first.header("etag").to_owned();
    // The first ten errors do not count.
    for _ in 0..109 {
        assert_eq!(client.get("/api/v3/nowhere").status, 404);
    }
    let rejected = client.get("/api/v3/vcs?limit=1");
    assert_eq!(rejected.status, 429);
    let problem = rejected.json();
    assert_eq!(problem["code"], "quota_exceeded");
    assert_eq!(problem["limit"], 100);
    assert_eq!(problem["tier"], "free");
    assert!(problem["resets_at"].as_str().unwrap().ends_with("T00:00:00Z"));
    assert_eq!(client.send("GET", "/api/v3/vcs?limit=1", &[("if-none-match", &etag)]).status, 304);
    assert_eq!(client.get("/api/v3/usage").status, 200);
    assert_eq!(client.send("OPTIONS", "/api/v3/vcs", &[]).status, 204);
    // Another key has a counter of its own.
    assert_eq!(server.client(Tier::Free).get("/api/v3/vcs?limit=1").status, 200);
}

#[test]
fn an_unlimited_key_is_reported_as_unlimited() {
    let server = Server::bundled();
    let reply = server.client(Tier::Enterprise).get("/api/v3/vcs?limit=1");
    assert_eq!(reply.header("x-ratelimit-limit"), "unlimited");
    assert!(reply.header("ratelimit").is_empty());
}

#[test]
fn the_addresses_of_a_pool_share_a_limit_behind_a_trusted_proxy() {
    let server = Server::bundled();
    let client = server.anonymous();
    let call = |address: &str| {
        let body =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_platform_stats","arguments":{}}}"#;
        let request = client.agent.post(format!("{}/api/mcp", client.base)).header("content-type", "application/json");
        let reply = request.header("x-forwarded-for", address).send(body).unwrap();
        let header = |name: &str| reply.headers()[name].to_str().unwrap().to_owned();
        (reply.status().as_u16(), header("x-ratelimit-limit"), header("x-ratelimit-remaining"))
    };
    let expected = |status, limit: &str, remaining: &str| (status, limit.to_owned(), remaining.to_owned());
    assert_eq!(call("192.0.2.1"), expected(200, "3", "2"));
    assert_eq!(call("2001:db8::1"), expected(200, "3", "1"));
    assert_eq!(call("198.51.100.1, 192.0.2.9"), expected(200, "3", "0"));
    assert_eq!(call("192.0.2.1"), expected(429, "3", "0"));
    assert_eq!(call("198.51.100.1"), expected(200, "100", "99"));
}

#[test]
fn tool_calls_without_a_key_are_counted_by_address() {
    let server = Server::bundled();
    let client = server.anonymous();
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_platform_stats","arguments":{}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for number in 0..100 {
        assert_eq!(client.post("/api/mcp", call).status, 200, "call {number}");
    }
    let rejected = client.post("/api/mcp", call);
    assert_eq!(rejected.status, 429);
    assert!(rejected.json()["error"]["message"].as_str().unwrap().contains("100"));
    assert_eq!(rejected.header("x-ratelimit-remaining"), "0");
    assert_eq!(client.post("/api/mcp", list).status, 200);
    // A key has the same counter as on REST.
    let keyed = server.client(Tier::Free);
    assert_eq!(keyed.post("/api/mcp", call).header("x-ratelimit-remaining"), "99");
    assert_eq!(keyed.get("/api/v3/vcs?limit=1").header("x-ratelimit-remaining"), "98");
}

#[test]
fn a_key_that_continues_the_quota_of_another_says_so() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (first, _) = browser.create_key("first");
    let client = browser.client(&first);
    for _ in 0..60 {
        assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
    }
    browser.post("/account/delete", &[("password", PASSWORD)]);
    let mut browser = Browser::signed_up(&server, "Ada@Example.com");
    let (second, _) = browser.create_key("second");
    let client = browser.client(&second);
    assert_eq!(client.get("/api/v3/vcs?limit=1").header("x-ratelimit-remaining"), "39");
    for _ in 0..39 {
        assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
    }
    let refused = client.get("/api/v3/vcs?limit=1");
    assert_eq!((refused.status, refused.header("x-ratelimit-limit")), (429, "100"));
    let others =
        "of 100 requests exceeded, 60 of them by other keys that this account replaced or deleted today; resets";
    assert!(refused.json()["detail"].as_str().unwrap().contains(others), "{}", refused.text);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_platform_stats"}}"#;
    let refused = client.post("/api/mcp", call);
    assert!(refused.status == 429 && refused.text.contains("60 of them by other keys"), "{}", refused.text);
}

#[test]
fn a_clock_that_moves_over_midnight_and_back_gives_each_day_its_quota_once() {
    let data = tempfile::tempdir().unwrap();
    let midnight = Date::from_unix(NOON).unix() + 86_400;
    let key = ApiKey::from_seed(&[5; 32]);
    let open = |now: i64| {
        let store = SqliteStore::open(data.path()).unwrap();
        AuthService::with_store(Box::new(store), RateLimitConfig::default(), now).unwrap()
    };
    let store = open(NOON);
    let account = store.store().create_account(&"ada@example.com".parse().unwrap(), Tier::Free, None, NOON).unwrap();
    store.store().create_key(account.id, &"test".parse().unwrap(), &key, None, NOON).unwrap();
    let header = format!("Bearer {}", key.reveal());
    // Requests at a time, and how many of them are admitted.
    let admitted = |service: &AuthService, now: i64, count: usize| {
        let caller: Caller = service.authenticate(Some(&header), now).unwrap();
        (0..count).filter(|_| service.take(&caller, Date::from_unix(now)).is_ok()).count()
    };
    let service = open(midnight - 9);
    assert_eq!(admitted(&service, midnight - 9, 60), 60);
    assert_eq!(admitted(&service, midnight, 30), 30);
    // No flush in between: what is not yet written of one day does not count on another.
    assert_eq!(admitted(&service, midnight - 1, 10), 10);
    service.flush(midnight + 1).unwrap();
    drop(service);
    // A restart on the new day, and a clock that is set back at once.
    let service = open(midnight + 2);
    assert_eq!(admitted(&service, midnight - 2, 50), 30, "70 of 100 were used before the restart");
    assert_eq!(admitted(&service, midnight + 3, 50), 50);
    service.flush(midnight - 1).unwrap();
    assert_eq!(admitted(&service, midnight + 4, 50), 20);
    service.flush(midnight + 4).unwrap();
    drop(service);
    // The day after next and back again; each flush may forget the days that it is far from, never their requests.
    let service = open(midnight - 5);
    for now in [midnight + 86_400, midnight + 2 * 86_400, midnight, midnight - 1, midnight + 5 * 86_400, midnight - 7] {
        service.flush(now).unwrap();
        let expected = if now <= midnight { 0 } else { 100 };
        assert_eq!(admitted(&service, now, 150), expected, "{}", Date::from_unix(now));
    }
}
