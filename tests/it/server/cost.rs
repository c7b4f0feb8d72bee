//! What requests cost the server: memory, suggestions, places in the queue of searches.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use auth::quota::{KeyId, Overloaded, Tier, WorkCaller, WorkMeter};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;

use crate::support::harness::{Server, agent, resident, wants_all};
use crate::support::program::Process;

#[test]
fn passwords_are_verified_in_memory_that_is_allocated_once() {
    let data = tempfile::tempdir().unwrap();
    let server = Process::start(data.path(), &["--trusted-proxies", "127.0.0.1"]);
    let Some(before) = resident(server.id()) else {
        return eprintln!("skipped: this system does not say what memory a process uses");
    };
    let sign_ins = if wants_all() { 500 } else { 60 };
    let (next, verified) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let agent = agent();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= sign_ins {
                        break;
                    }
                    let reply = agent
                        .post(format!("{}/signin", server.base))
                        .header("content-type", "application/x-www-form-urlencoded")
                        .header("origin", &server.base)
                        .header("sec-fetch-site", "same-origin")
                        .header("x-forwarded-for", format!("192.0.2.{}", number % 100))
                        .send(format!("email=user{number}%40example.com&password=seven+quiet+herons"));
                    verified.fetch_add(usize::from(reply.unwrap().status() == 422), Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(verified.into_inner(), sign_ins, "each is verified");
    let kept = resident(server.id()).unwrap().saturating_sub(before) / 1024;
    assert!(kept <= 60, "{sign_ins} sign-ins keep {kept} MiB");
}

/// Takes all places in the queue of searches until it is dropped, each for a caller whose share is the largest.
struct FullQueue {
    release: Arc<(Mutex<bool>, Condvar)>,
    tasks: Vec<JoinHandle<()>>,
    _runtime: Runtime,
}

impl FullQueue {
    fn of(server: &Server) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let release = Arc::new((Mutex::new(false), Condvar::new()));
        let rejected = Arc::new(AtomicUsize::new(0));
        let mut tasks = Vec::new();
        while rejected.load(Ordering::SeqCst) == 0 {
            let (state, release, rejected) = (Arc::clone(&server.state), Arc::clone(&release), Arc::clone(&rejected));
            let caller = WorkCaller::Key(KeyId(1_000_000 + tasks.len() as i64), Tier::Enterprise);
            tasks.push(runtime.spawn(async move {
                let wait = || {
                    let (is_released, changed) = &*release;
                    drop(changed.wait_while(is_released.lock().unwrap(), |is_released| !*is_released));
                };
                if state.work.run(caller, &WorkMeter::default(), wait).await == Err(Overloaded) {
                    rejected.fetch_add(1, Ordering::SeqCst);
                }
            }));
            thread::yield_now();
        }
        Self { release, tasks, _runtime: runtime }
    }
}

impl Drop for FullQueue {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
        *self.release.0.lock().unwrap() = true;
        self.release.1.notify_all();
    }
}

#[test]
fn what_finds_no_place_in_the_queue_is_a_503_that_is_not_counted() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let cached = "/api/v3/vcs?q=kestrel";
    (0..2).for_each(|_| assert_eq!(client.get(cached).status, 200));
    assert_eq!(client.get("/api/v3/vcs?stage=seed").status, 200);
    let full = FullQueue::of(&server);
    for path in ["/api/v3/vcs?q=lunar", "/api/v3/match?stage=seed", "/api/v3/suggest?q=lu", "/api/v3/vcs/no-such-firm"]
    {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.header("retry-after")), (503, "1"), "{path}: {}", reply.text);
        assert_eq!((reply.json()["code"].as_str(), reply.header("x-ratelimit-remaining")), (Some("overloaded"), "97"));
    }
    let page = server.anonymous().get("/vcs?q=lunar");
    assert_eq!((page.status, page.header("retry-after")), (503, "1"));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_vcs","arguments":{"query":"lunar"}}}"#;
    let reply = server.anonymous().post("/api/mcp", call);
    assert_eq!((reply.status, reply.header("retry-after")), (503, "1"), "{}", reply.text);
    assert_eq!(reply.header("x-ratelimit-remaining"), reply.header("x-ratelimit-limit"));
    // What does not search, or is known, does not wait.
    assert_eq!(client.send("GET", cached, &[("if-none-match", "*")]).status, 304);
    let shared = ["/api/v3/vcs?q=kestrel&limit=1", "/api/v3/vcs?q=kestrel&sort=name&stage=seed"];
    for path in ["/healthz", "/readyz", "/api/v3/vcs?stage=seed", "/docs", cached].into_iter().chain(shared) {
        // Each from whatever thread of the server it comes to.
        (0..8).for_each(|_| assert_eq!(client.get(path).status, 200, "{path}"));
    }
    drop(full);
    while client.get("/api/v3/vcs?q=lunar").status == 503 {}
}

#[test]
fn a_request_gets_six_suggestions_however_many_values_are_unknown() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let many = |value: &str| (0..40).map(|number| format!("{value}{number}")).collect::<Vec<_>>().join(",");
    let (sectors, countries) = (many("fintec"), many("Germani"));
    for path in [
        format!("/api/v3/startups?sector={sectors}&country={countries}"),
        format!("/api/v3/vcs?city={}&sort={}", many("Berlim"), many("nam")),
        format!("/api/v3/vcs?{}", many("stag").replace(',', "=1&")),
        format!("/api/v1/vcs?sector={sectors}&country={countries}"),
    ] {
        let reply = client.get(&path);
        let json = reply.json();
        let errors = json["errors"].as_array().or_else(|| json["meta"]["warnings"].as_array());
        let errors = errors.unwrap_or_else(|| panic!("{}", reply.text));
        let suggestions = errors.iter().filter(|error| !error["did_you_mean"].is_null()).count();
        assert!(errors.len() >= 20 && (1..=6).contains(&suggestions), "{suggestions} of {}: {path}", errors.len());
    }
    let long = "x".repeat(2_000);
    assert_eq!(client.get(&format!("/api/v3/startups?sector={long}")).json()["errors"][0]["did_you_mean"], json!(null));
}

#[test]
fn hosts_that_are_not_ours_are_misdirected() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for path in ["/api/v3/vcs?limit=1", "/vcs", "/docs", "/signin"] {
        let reply = client.send("GET", path, &[("host", "evil.example")]);
        assert_eq!((reply.status, reply.json()["code"].as_str()), (421, Some("misdirected_request")), "{path}");
        for host in ["localhost", "127.0.0.1:1", "[::1]:8080"] {
            assert_eq!(client.send("GET", path, &[("host", host)]).status, 200, "{path} at {host}");
        }
    }
    assert_eq!(client.send("GET", "/healthz", &[("host", "10.0.0.7:8080")]).status, 200, "probes use the address");
}
