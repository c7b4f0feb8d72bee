//! Without a good release the server waits for one: it serves no invented data in place of what was published.

use std::fs;

use serde_json::{Value, json};

use crate::support::harness::{Client, agent};
use crate::support::installation::{Installation, Serving, overwrite};

fn readiness(client: &Client) -> (u16, Value) {
    let reply = client.get("/readyz");
    (reply.status, reply.json())
}

/// Checks that everything that needs data says that there is none.
fn assert_not_ready(server: &Serving, key: &str, reason: &str) {
    let client = server.client(key);
    assert_eq!(client.get("/healthz").status, 200);
    let (status, ready) = readiness(&client);
    assert_eq!((status, &ready["status"], &ready["snapshot"]), (503, &json!("not_ready"), &Value::Null));
    assert_eq!((&ready["held"], &ready["bundled"]), (&json!([]), &json!(false)));
    assert!(ready["reason"].as_str().unwrap().contains(reason), "{ready}");
    for path in
        ["/", "/vcs", "/docs", "/api/v1/vcs", "/v2/reviews", "/api/v3/stats", "/api/v3/snapshots", "/api/nothing"]
    {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.json()["code"].as_str()), (503, Some("not_ready")), "{path}");
        assert!(reply.json()["detail"].as_str().unwrap().contains("retry in some seconds"), "{}", reply.text);
        assert_eq!((reply.header("retry-after"), reply.header("cache-control")), ("5", "no-store"), "{path}");
        assert_eq!((reply.header("x-ratelimit-limit"), reply.header("x-snapshot")), ("0", ""), "{path}");
    }
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "get_platform_stats", "arguments": {} } });
    let reply = agent().post(format!("{}/api/mcp", server.base)).send_json(&call).unwrap();
    assert_eq!(reply.status(), 503);
    assert!(server.logged("not ready, waiting for a release: ") > 0);
}

#[test]
fn a_named_index_without_a_release_is_not_ready_until_one_is_published() {
    let installation = Installation::new();
    let key = installation.key();
    let server = installation.serve();
    let missing = format!("{} names no release to serve: run `indexer build", installation.index().display());
    assert_not_ready(&server, &key, &missing);

    let client = server.client(&key);
    let page = client.send("GET", "/", &[("accept", "text/html,*/*;q=0.8")]);
    assert_eq!((page.status, page.header("content-type")), (503, "text/html; charset=utf-8"));
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    assert!(page.text.contains(&installation.index().display().to_string()), "{}", page.text);
    for step in ["venturedex demo", "indexer import FILE --page", "indexer build --dataset DIR"] {
        assert!(page.text.contains(step), "{}", page.text);
    }
    let style = client.get("/assets/style.css");
    assert_eq!((style.status, style.header("content-type")), (200, "text/css; charset=utf-8"));

    installation.publish("2026-11-20.1");
    server.wait(|| readiness(&client).0 == 200);
    assert!(client.get("/").text.contains("<h2 id=\"start\">"));
    let expected = json!({ "status": "ready", "snapshot": "2026-11-20.1", "bundled": false, "held": ["2026-11-20.1"] });
    assert_eq!(readiness(&client).1, expected);
    assert_eq!(client.get("/api/v3/startups/mossworks").json()["data"]["name"], "Mossworks 2026-11-20.1");
    assert_eq!(client.get("/api/v3/stats").json()["data"]["bundled"], false);
    assert_eq!(server.logged("not ready"), 1, "what is missing is reported once");
    installation.publish("2026-11-21.1");
    server.wait(|| readiness(&client).1["snapshot"] == "2026-11-21.1");
}

#[test]
fn a_damaged_release_without_an_older_one_is_not_ready_until_it_is_fixed() {
    let installation = Installation::new();
    let key = installation.key();
    installation.publish("2026-11-20.1");
    let tables = installation.index().join("2026-11-20.1/tables.bin");
    let bytes = fs::read(&tables).unwrap();
    overwrite(&tables, &bytes[..bytes.len() / 2]);
    let server = installation.serve();
    assert_not_ready(&server, &key, "release 2026-11-20.1 is damaged: tables.bin has");
    overwrite(&tables, &bytes);
    let client = server.client(&key);
    server.wait(|| readiness(&client).0 == 200);

    installation.publish("2026-11-21.1");
    server.wait(|| readiness(&client).1["snapshot"] == "2026-11-21.1");
    drop(server);
    fs::remove_file(installation.index().join("2026-11-21.1/tables.bin")).unwrap();
    let server = installation.serve();
    let client = server.client(&key);
    assert_eq!(readiness(&client).1["snapshot"], "2026-11-20.1", "the newest older one");
}

#[test]
fn bundled_data_is_marked_and_never_held_with_published_data() {
    let installation = Installation::new();
    let key = installation.key();
    let server = installation.serve_in_folder();
    let client = server.client(&key);
    assert_eq!(readiness(&client).1["bundled"], true);
    assert_eq!(client.get("/api/v3/stats").json()["data"]["bundled"], true);
    assert_eq!(client.get("/api/v3/snapshots").json()["data"][0]["bundled"], true);
    let first = client.get("/api/v3/vcs?limit=1").json();
    let cursor = first["pagination"]["next_cursor"].as_str().unwrap();
    let bundled = first["meta"]["snapshot"].as_str().unwrap();

    // The default index, in the folder in which the server runs.
    installation.publish("2026-12-01.1");
    server.wait(|| readiness(&client).1["bundled"] == false);
    assert_eq!(readiness(&client).1["held"], json!(["2026-12-01.1"]));
    let listed = client.get("/api/v3/snapshots").json();
    assert_eq!(listed["data"].as_array().unwrap().len(), 1);
    assert_eq!((&listed["data"][0]["version"], &listed["data"][0]["bundled"]), (&json!("2026-12-01.1"), &json!(false)));
    assert_eq!(client.get(&format!("/api/v3/vcs?cursor={cursor}")).status, 410);
    assert_eq!(client.get(&format!("/api/v3/vcs?snapshot={bundled}")).status, 410);

    // Who publishes in it gets no invented data when `current` is lost.
    drop(server);
    fs::remove_file(installation.index().join("current")).unwrap();
    let server = installation.serve_in_folder();
    assert_not_ready(&server, &key, "indexer activate 2026-12-01.1");
}
