//! Turns in the queue of searches: look-ups of many items give theirs back after each name, and a caller has a share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{available_parallelism, scope, yield_now};

use auth::quota::{KeyId, Tier, WorkCaller, WorkMeter};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::support::browser::Browser;
use crate::support::harness::{Client, Reply, Server};
use crate::support::program::{Process, run};

/// Work of others, as much as runs at a time, which ends when it is dropped.
struct Others {
    release: Arc<(Mutex<bool>, Condvar)>,
    running: Arc<AtomicUsize>,
}

/// How much runs at a time.
fn slots() -> usize {
    available_parallelism().map_or(1, usize::from).saturating_sub(1).max(1)
}

impl Others {
    /// Enters the queue, behind all who wait.
    fn enter(runtime: &Runtime, server: &Server) -> Self {
        let others = Self { release: Arc::default(), running: Arc::default() };
        let before = waiting(server) + running(server);
        for _ in 0..slots() {
            let (release, running, state) = (others.release.clone(), others.running.clone(), server.state.clone());
            runtime.spawn(async move {
                let wait = || {
                    running.fetch_add(1, Ordering::SeqCst);
                    let (is_released, changed) = &*release;
                    drop(changed.wait_while(is_released.lock().unwrap(), |is_released| !*is_released));
                };
                let caller = WorkCaller::Key(KeyId(1_000_000), Tier::Free);
                state.work.run(caller, &WorkMeter::default(), wait).await.unwrap();
            });
        }
        until(|| waiting(server) + running(server) == before + slots());
        others
    }

    fn all_run(&self) {
        until(|| self.running.load(Ordering::SeqCst) == slots());
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        *self.release.0.lock().unwrap() = true;
        self.release.1.notify_all();
    }
}

fn waiting(server: &Server) -> usize {
    server.state.work.usage().waiting
}

fn running(server: &Server) -> usize {
    server.state.work.usage().running
}

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        yield_now();
    }
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(4 * slots()).enable_all().build().unwrap()
}

const NAMES: [&str; 6] = ["Alder Capitl", "Kestrelfold", "zzqx wv", "Tidewick", "Lunar", "Brackwater"];

fn send(client: &Client, path: &str, content_type: &str, body: String) -> Reply {
    let mut request = client.agent.post(format!("{}{path}", client.base)).header("content-type", content_type);
    if let Some(key) = &client.key {
        request = request.header("authorization", format!("Bearer {key}"));
    }
    let mut response = request.send(body).unwrap();
    let text = response.body_mut().read_to_string().unwrap();
    Reply { status: response.status().as_u16(), headers: response.headers().clone(), text }
}

fn form(name: &str, value: &Value) -> String {
    form_urlencoded::Serializer::new(String::new()).append_pair(name, &value.to_string()).finish()
}

fn queries() -> Value {
    let queries = NAMES.iter().enumerate().map(|(number, name)| (number.to_string(), json!({ "query": name })));
    Value::Object(queries.collect::<Map<_, _>>())
}

fn post_items(client: &Client) -> Reply {
    let items: Vec<Value> = NAMES.iter().map(|name| json!({ "name": name })).collect();
    client.post("/api/v3/resolve", &json!({ "items": items }).to_string())
}

fn post_queries(client: &Client) -> Reply {
    send(client, "/reconcile", "application/x-www-form-urlencoded", form("queries", &queries()))
}

#[test]
fn others_have_their_turn_between_two_names() {
    let server = Server::bundled();
    let (key, visitor, runtime) = (server.client(Tier::Pro), server.anonymous(), runtime());
    let table = format!("name\n{}\n", NAMES.join("\n"));
    let parts = format!("--limit\r\nContent-Disposition: form-data; name=\"text\"\r\n\r\n{table}\r\n--limit--\r\n");
    let extend =
        json!({ "ids": ["vcs/a", "vcs/b", "vcs/c", "vcs/d", "vcs/e", "vcs/f"], "properties": [{ "id": "city" }] });
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let look_ups: [Box<dyn FnOnce() -> Reply + Send + '_>; 6] = [
        Box::new(|| post_items(&key)),
        Box::new(|| send(&key, "/api/v3/resolve", "text/csv", table.clone())),
        Box::new(|| send(&visitor, "/resolve", "multipart/form-data; boundary=limit", parts.clone())),
        Box::new(|| post_queries(&visitor)),
        Box::new(|| send(&visitor, "/reconcile", "application/x-www-form-urlencoded", form("extend", &extend))),
        Box::new(|| {
            let text = NAMES.join("\n");
            browser.post_parts("/account/saved/list", &[("name", "Mine"), ("table", "vcs"), ("text", &text)])
        }),
    ];
    for (number, look_up) in look_ups.into_iter().enumerate() {
        scope(|scope| {
            let mut others = Others::enter(&runtime, &server);
            others.all_run();
            let reply = scope.spawn(look_up);
            until(|| waiting(&server) == 1);
            // Five of its turns do not do for six names.
            for turn in 0..5 {
                let next = Others::enter(&runtime, &server);
                drop(std::mem::replace(&mut others, next));
                others.all_run();
                until(|| waiting(&server) == 1 || reply.is_finished());
                assert!(!reply.is_finished(), "look-up {number} has its next turns, too, after {turn}");
            }
            drop(others);
            let reply = reply.join().unwrap();
            assert_eq!(reply.status, 200, "look-up {number}: {}", reply.text);
        });
        until(|| running(&server) == 0);
    }
}

#[test]
fn a_fifth_look_up_of_one_caller_is_refused_and_others_are_not() {
    let server = Server::bundled();
    let (key, other_key, visitor, runtime) =
        (server.client(Tier::Free), server.client(Tier::Free), server.anonymous(), runtime());
    let search = || visitor.get("/vcs?q=lunar");
    scope(|scope| {
        let others = Others::enter(&runtime, &server);
        others.all_run();
        let mut admitted = Vec::new();
        for count in 1..=4 {
            admitted.push(scope.spawn(|| post_items(&key)));
            until(|| waiting(&server) == count);
        }
        let refused = post_items(&key);
        assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{}", refused.text);
        assert_eq!(refused.json()["code"], "overloaded");
        assert!(refused.json()["detail"].as_str().unwrap().contains("4 look-ups of this key or address"));
        assert_eq!(refused.header("x-ratelimit-remaining"), "96", "it is not counted");
        for count in 5..=8 {
            admitted.push(scope.spawn(|| post_queries(&visitor)));
            until(|| waiting(&server) == count);
        }
        let refused = post_queries(&visitor);
        assert_eq!((refused.status, refused.header("retry-after")), (503, "1"), "{}", refused.text);
        assert!(refused.text.contains("4 look-ups of this key or address"), "{}", refused.text);
        assert_eq!(send(&visitor, "/resolve", "application/x-www-form-urlencoded", String::new()).status, 503);
        // Other callers, and whoever searches, wait and have their turn.
        admitted.push(scope.spawn(|| post_items(&other_key)));
        admitted.push(scope.spawn(search));
        until(|| waiting(&server) == 10);
        drop(others);
        for reply in admitted {
            let reply = reply.join().unwrap();
            assert_eq!(reply.status, 200, "{}", reply.text);
        }
    });
    assert_eq!(post_items(&key).status, 200);
}

#[test]
fn work_above_the_price_of_the_items_is_charged_and_told() {
    let data = tempfile::tempdir().unwrap();
    run(data.path(), &["account", "create", "--email", "ada@example.com", "--tier", "pro"], "").ok();
    let key = run(data.path(), &["key", "create", "--email", "ada@example.com", "--name", "a"], "").ok();
    // A hundred names of twelve unknown words each: ten requests by their number.
    let word = |number: usize| format!("qzvkw{number:03}");
    let name = |item: usize| (0..12).map(|at| word(12 * item + at)).collect::<Vec<_>>().join(" ");
    let items: Vec<Value> = (0..100).map(|item| json!({ "name": name(item) })).collect();
    let body = json!({ "items": items }).to_string();
    for (milliseconds, is_dear) in [("60000", false), ("1", true)] {
        let server = Process::start(data.path(), &["--work-per-request", milliseconds]);
        let client = server.client(key.trim());
        let remaining = |reply: &Reply| reply.header("x-ratelimit-remaining").parse::<u64>().unwrap();
        let before = remaining(&client.get("/api/v3/usage"));
        let reply = client.post("/api/v3/resolve", &body);
        assert_eq!(reply.status, 200, "{}", reply.text);
        let cost: u64 = reply.header("x-request-cost").parse().unwrap();
        assert_eq!(before - remaining(&reply), cost);
        assert!(if is_dear { cost > 10 } else { cost == 10 }, "{milliseconds} ms a request: {cost}");
        let search = client.get("/api/v3/vcs?q=kestrelfld");
        let counted = remaining(&reply) - remaining(&search);
        assert_eq!(search.header("x-request-cost"), counted.to_string());
        assert!(counted >= 1 && (is_dear || counted == 1), "{counted}");
    }
}
