//! Keys that expire, and keys that are rotated: pages, requests and commands.

use auth::account::KeyId;
use serde_json::Value;

use crate::support::browser::{Browser, shown_key};
use crate::support::harness::{NOON, Server, code};
use crate::support::html::{Markup, parse};
use crate::support::program::run;

const DAY: i64 = 86_400;

#[test]
fn a_key_expires_on_the_day_that_its_owner_chose() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let page = browser.get("/account").text;
    assert!(page.contains("<option value=\"\" selected>never</option>"), "{page}");
    let reply = browser.post("/account/keys", &[("name", "laptop"), ("expires", "90")]);
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert!(reply.text.contains("It expires on 19 Feb 2027"), "{}", reply.text);
    assert!(browser.get("/account").text.contains("data-name=\"Expires\" class=\"nowrap\">19 Feb 2027"));
    for days in ["0", "3651", "-1", "soon"] {
        let reply = browser.post("/account/keys", &[("name", "laptop"), ("expires", days)]);
        assert_eq!(reply.status, 422, "{days}");
        assert!(reply.text.contains("Invalid number of days; use 1 to 3650"), "{}", reply.text);
    }

    // The clock of the server is always noon: these expire then, and a second later.
    let store = server.state.auth.store();
    let account = store.account(&"ada@example.com".parse().unwrap()).unwrap().id;
    let (_, ending) = browser.create_key("ending");
    store.revoke_key(auth::account::KeyRef::Id(KeyId(ending)), NOON).unwrap();
    let create = |name: &str, expires_at| {
        let key = auth::ApiKey::from_seed(&[name.len() as u8; 32]);
        store.create_key(account, &name.parse().unwrap(), &key, Some(expires_at), NOON - 1).unwrap();
        server.state.auth.refresh().unwrap();
        key.reveal().to_owned()
    };
    let (expired, valid) = (create("expired", NOON), create("valid", NOON + 1));
    let refused = browser.client(&expired).get("/api/v3/vcs?limit=1");
    assert_eq!(code(&refused), (401, "expired_api_key".to_owned()));
    assert!(refused.json()["detail"].as_str().unwrap().contains("has expired"), "{}", refused.text);
    assert_eq!(browser.client(&valid).get("/api/v3/vcs?limit=1").status, 200);
    // Also for a cached response, and on MCP.
    assert_eq!(browser.client(&valid).get("/api/v3/vcs?limit=1").status, 200);
    assert_eq!(code(&browser.client(&expired).get("/api/v3/vcs?limit=1")), (401, "expired_api_key".to_owned()));
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_vcs","arguments":{}}}"#;
    assert_eq!(browser.client(&expired).post("/api/mcp", call).status, 401);
    let page = browser.get("/account").text;
    assert!(page.contains("2 of 3") && !page.contains("expired"), "{page}");
}

#[test]
fn a_rotated_key_works_until_the_overlap_ends_and_does_not_count() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (_, id) = browser.create_key("production");
    browser.create_key("laptop");
    browser.create_key("spare");
    let path = format!("/account/keys/{id}/rotate");
    let page = browser.get(&path).text;
    assert!(page.contains("Rotate this key?") && page.contains("production"), "{page}");
    assert!(page.contains("<option value=\"24\" selected>works for 24 more hours</option>"), "{page}");
    let reply = browser.post(&path, &[("overlap", "24"), ("expires", "30")]);
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert!(reply.text.contains("is accepted until 22 Nov 2026, 12:00"), "{}", reply.text);
    assert!(reply.text.contains("It expires on 21 Dec 2026"), "{}", reply.text);
    let page = browser.get("/account").text;
    let parsed = parse(&page);
    let same = parsed.texts("th[scope=row] > a").into_iter().filter(|name| name == "production");
    assert!(page.contains("3 of 3") && same.count() == 2, "{page}");
    assert_eq!(parsed.texts("td[data-name=Expires] > span"), ["rotated"]);
    assert!(!page.contains(&path), "a rotated key has a successor already");
    let again = browser.post(&path, &[]);
    assert_eq!(again.status, 422);
    assert!(again.text.contains("both keys are still accepted"), "{}", again.text);
    assert_eq!(browser.post("/account/keys", &[("name", "a fourth")]).status, 422);
    assert_eq!(browser.client(&shown_key(&reply.text)).get("/api/v3/usage").status, 200);

    let mut eve = Browser::signed_up(&server, "eve@example.com");
    for path in [path.as_str(), "/account/keys/4711/rotate"] {
        assert_eq!((eve.get(path).status, eve.post(path, &[]).status), (404, 404), "{path}");
    }
    assert_eq!(Browser::at(&server).post(&path, &[]).header("location"), "/signin");
}

#[test]
fn a_rotation_keeps_the_lifetime_and_can_end_the_key_at_once() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let reply = browser.post("/account/keys", &[("name", "laptop"), ("expires", "90")]);
    let old = browser.client(&shown_key(&reply.text));
    assert_eq!(old.get("/api/v3/usage").status, 200);
    let page = browser.get("/account/keys/1/rotate").text;
    assert!(page.contains("<option value=\"90\" selected>in 90 days</option>"), "{page}");
    let reply = browser.post("/account/keys/1/rotate", &[("overlap", "0"), ("expires", "90")]);
    assert_eq!(reply.status, 201);
    assert_eq!(code(&old.get("/api/v3/usage")), (401, "expired_api_key".to_owned()));
    assert_eq!(browser.client(&shown_key(&reply.text)).get("/api/v3/usage").status, 200);
}

#[test]
fn an_operator_creates_keys_that_expire_and_rotates_them() {
    let data = tempfile::tempdir().unwrap();
    let json = |words: &[&str], input: &str| -> Value {
        serde_json::from_str(&run(data.path(), &[words, &["--json"]].concat(), input).ok()).unwrap()
    };
    let seconds = |time: &Value| {
        let time = time.as_str().unwrap();
        let day: data::Date = time[..10].parse().unwrap();
        let part = |range: std::ops::Range<usize>| time[range].parse::<i64>().unwrap();
        day.unix() + part(11..13) * 3_600 + part(14..16) * 60 + part(17..19)
    };
    run(data.path(), &["account", "create", "--email", "ada@example.com"], "").ok();
    let create = ["key", "create", "--email", "ada@example.com", "--name", "laptop", "--expires-in"];
    let key = json(&[&create[..], &["7"]].concat(), "");
    assert_eq!(seconds(&key["expires_at"]) - seconds(&key["created_at"]), 7 * DAY);
    for days in ["0", "-1", "3651", "week"] {
        let refused = run(data.path(), &[&create[..], &[days]].concat(), "");
        assert_eq!(refused.code, Some(2), "{days}");
        assert!(refused.err.contains("--expires-in") && refused.err.contains("from 1 to 3650"), "{}", refused.err);
    }
    // The key itself is read from standard input, so that nobody sees it among the processes.
    let rotated = json(&["key", "rotate", "-", "--overlap", "1"], key["key"].as_str().unwrap());
    assert_eq!((&rotated["name"], &rotated["rotated"]["id"]), (&key["name"], &key["id"]));
    assert_eq!(seconds(&rotated["rotated"]["expires_at"]) - seconds(&rotated["created_at"]), 3_600);
    assert_eq!(seconds(&rotated["expires_at"]) - seconds(&rotated["created_at"]), 7 * DAY, "the same lifetime");
    let again = run(data.path(), &["key", "rotate", "1", "--json"], "");
    assert!(again.err.contains("key_overlaps"), "{}", again.err);
    let listed = json(&["key", "list"], "");
    assert_eq!(listed["keys"].as_array().unwrap().len(), 2);
    assert_eq!(json(&["account", "list"], "")["accounts"][0]["active_keys"], 1);
    assert!(run(data.path(), &["key", "list"], "").ok().contains("EXPIRES"));
    let at_once = run(data.path(), &["key", "rotate", "2", "--overlap", "0"], "");
    assert!(at_once.err.contains("key_overlaps") || at_once.err.contains("both keys"), "{}", at_once.err);
    run(data.path(), &["key", "revoke", "1"], "").ok();
    let at_once = run(data.path(), &["key", "rotate", "2", "--overlap", "0", "--expires-in", "30"], "");
    assert!(at_once.out.starts_with("vdx_") && at_once.err.contains("it replaces key 2"), "{}", at_once.err);
    assert!(run(data.path(), &["key", "revoke", "2"], "").err.contains("has already expired at"));
}
