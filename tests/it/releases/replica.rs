//! Replicas that follow an object store, of which one is behind.

use std::fs;

use serde_json::{Value, json};

use crate::commands::doctor::copy_folder;
use crate::support::harness::{Client, copy_as};
use crate::support::installation::{Installation, Serving, small};

/// Pushes the small dataset as `version`, to be served in `seconds`.
fn push(installation: &Installation, place: &str, version: &str, seconds: &str) {
    let dataset = copy_as(&small(), version);
    let mut command = installation.command(env!("CARGO_BIN_EXE_indexer"));
    command.args(["build", "--index", place, "--activate-in", seconds, "--dataset"]).arg(dataset.path());
    let pushed = command.env("VENTUREDEX_CACHE", installation.index().join("pushed")).output().unwrap();
    assert!(pushed.status.success(), "{}", String::from_utf8_lossy(&pushed.stderr));
}

fn call(client: &Client, arguments: &Value) -> Value {
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "search_startups", "arguments": arguments } });
    client.agent.post(format!("{}/api/mcp", client.base)).send_json(&call).unwrap().body_mut().read_json().unwrap()
}

fn serves(server: &Serving, version: &str) -> bool {
    server.client("").get("/readyz").json()["snapshot"] == version
}

#[test]
fn a_replica_that_is_behind_refuses_nothing_for_good_and_says_when_it_cannot_follow() {
    let [ahead, behind] = [(); 2].map(|()| Installation::new());
    let store = tempfile::tempdir().unwrap();
    let place = format!("file://{}", store.path().display());
    let key = ahead.key();
    // One secret signs the cursors of both.
    copy_folder(&ahead.data(), &behind.data());
    let serve = |installation: &Installation| {
        let cache = installation.index().join("replica");
        let environment = [("VENTUREDEX_INDEX", &*place), ("VENTUREDEX_CACHE", cache.to_str().unwrap())];
        installation.serve_in(&environment, &["--poll-interval", "100"])
    };
    // One that has nothing yet says where a release is missing.
    let empty = Installation::new();
    let waiting = serve(&empty);
    let missing = format!("{place} names no release to serve: run `indexer build --dataset DIR --index {place}`");
    waiting.wait(|| waiting.logged(&missing) > 0);
    drop(waiting);
    push(&behind, &place, "2026-11-20.1", "0");
    let behind = serve(&behind);
    behind.wait(|| serves(&behind, "2026-11-20.1"));
    push(&ahead, &place, "2026-11-20.2", "3600");
    // It has nothing else to serve until then.
    let ahead = serve(&ahead);
    ahead.wait(|| serves(&ahead, "2026-11-20.2"));

    let (first, second) = (ahead.client(&key), behind.client(&key));
    let cursor = first.get("/api/v3/startups?limit=1").json()["pagination"]["next_cursor"].as_str().unwrap().to_owned();
    let next = format!("/api/v3/startups?limit=1&cursor={cursor}");
    let of_next = "/api/v3/startups?snapshot=2026-11-20.2";
    // A cursor is signed and waits at once; a version may be a mistake until it is announced.
    assert_eq!(second.get(&next).status, 503);
    behind.wait(|| second.get(of_next).status == 503);
    for path in [&*next, of_next] {
        let reply = second.get(path);
        assert_eq!((reply.status, reply.json()["code"].as_str()), (503, Some("not_ready")), "{path}");
        assert_eq!(reply.header("retry-after"), "1");
        assert_eq!(first.get(path).status, 200);
    }
    // While `current` was not read for a moment, it may be one that others serve already.
    let later = || second.get("/api/v3/startups?snapshot=2026-11-20.3");
    behind.wait(|| later().status == 410);
    let later = later();
    assert_eq!(later.json()["code"].as_str(), Some("snapshot_not_held").filter(|_| later.status == 410));
    let page = call(&first, &json!({ "limit": 1 }));
    let arguments = json!({ "limit": 1, "cursor": page["result"]["structuredContent"]["next_cursor"] });
    let refused = call(&second, &arguments);
    assert_eq!(refused["result"]["isError"], true);
    let text = refused["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("2026-11-20.2 is not loaded here yet; send the same call again"), "{text}");
    assert_eq!(call(&first, &arguments)["result"]["isError"], false);

    // Without the object store it goes on, and says so.
    let current = store.path().join("current");
    let bytes = fs::read(&current).unwrap();
    fs::write(&current, "{").unwrap();
    let degraded = json!("new releases cannot be read from the object store");
    behind.wait(|| second.get("/readyz").json()["reason"] == degraded);
    let ready = second.get("/readyz");
    assert_eq!((ready.status, ready.json()["status"].as_str()), (200, Some("degraded")));
    assert_eq!(second.get("/api/v3/startups").status, 200);
    fs::write(&current, bytes).unwrap();
    behind.wait(|| second.get("/readyz").json()["status"] == "ready");
}
