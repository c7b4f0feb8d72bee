//! Pages of operators: nobody else finds them, and what operators change is logged with their account.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use auth::account::AccountId;
use auth::audit::AuditLog;
use auth::quota::Tier;
use data::{NoProgress, Table, compile};
use serde_json::{Value, json};

use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Reply, Server, bundled_folder, catalog_of, copy_as, next_release};
use crate::support::html::{Markup, parse};
use crate::support::installation::small;
use crate::support::program::run;

const READ: [&str; 5] =
    ["/admin", "/admin/accounts", "/admin/accounts?q=ada", "/admin/accounts/1", "/admin/duplicates"];
const CHANGES: [&str; 6] = [
    "/admin",
    "/admin/accounts/1/tier",
    "/admin/accounts/1/verification",
    "/admin/accounts/1/keys/1/revoke",
    "/admin/accounts/1/block",
    "/admin/accounts/1/unblock",
];

fn id(server: &Server, email: &str) -> AccountId {
    server.state.auth.store().account(&email.parse().unwrap()).unwrap().id
}

/// As if the passwords of all sessions had been entered so many seconds ago.
fn age_sessions(server: &Server, seconds: i64) {
    let database = rusqlite::Connection::open(server.data().join("venturedex.sqlite")).unwrap();
    database.execute("UPDATE sessions SET authenticated_at = ?", [NOON - seconds]).unwrap();
}

fn asks(reply: &Reply) -> bool {
    reply.text.contains("<h1>Confirm your password</h1>")
}

/// An account with a key, whose number is 1, and the browser of an operator.
fn service() -> (Server, Browser, Browser) {
    let server = Server::bundled();
    let mut ada = Browser::signed_up(&server, "ada@example.com");
    ada.create_key("laptop");
    let operator = Browser::signed_up(&server, "ops@example.com");
    make_operator(&server, "ops@example.com", true);
    (server, ada, operator)
}

fn make_operator(server: &Server, email: &str, is_operator: bool) {
    server.state.auth.store().set_operator(id(server, email), is_operator).unwrap();
}

#[test]
fn nobody_but_an_operator_finds_the_pages() {
    let (server, mut ada, mut operator) = service();
    for (name, browser) in [("a visitor", &mut Browser::at(&server)), ("an account", &mut ada)] {
        for path in READ {
            let reply = browser.get(path);
            assert_eq!(reply.status, 404, "{name}: {path}");
            assert!(!reply.text.contains("ada@example.com") && reply.text.contains("noindex"), "{name}: {path}");
        }
        for path in CHANGES {
            assert_eq!(
                browser.post(path, &[("tier", "pro"), ("confirmation", PASSWORD)]).status,
                404,
                "{name}: {path}"
            );
        }
    }
    for path in READ {
        let reply = operator.get(path);
        assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"), "{path}");
        assert!(reply.text.contains("<meta name=\"robots\" content=\"noindex\">"), "{path}");
    }
    let ada = server.state.auth.store().account_by_id(AccountId(1)).unwrap();
    assert_eq!((ada.tier, ada.verified_at, ada.active_keys), (Tier::Free, None, 1));
    assert!(operator.get("/account").text.contains("href=\"/admin\""));
    assert!(!Browser::signed_up(&server, "bob@example.com").get("/account").text.contains("/admin"));
    // The role ends at once, in the sessions that there are.
    make_operator(&server, "ops@example.com", false);
    assert!(READ.iter().all(|path| operator.get(path).status == 404));
    assert!(CHANGES.iter().all(|path| operator.post(path, &[]).status == 404));
    make_operator(&server, "ops@example.com", true);
    operator.post("/signout", &[]);
    assert!(READ.iter().all(|path| operator.get(path).status == 404));
}

#[test]
fn the_duplicates_to_review_are_those_that_the_indexer_lists() {
    let (_server, _, mut operator) = service();
    let compiled = compile(&bundled_folder(), &NoProgress).unwrap_or_else(|_| panic!("the bundled data is sound"));
    let mut all = 0;
    for (table, name, path) in [
        (Table::Firms, "firms", "/vcs/"),
        (Table::Startups, "startups", "/startups/"),
        (Table::People, "people", "/people/"),
    ] {
        let expected: BTreeSet<(String, String)> = compiled
            .near_duplicates(table)
            .into_iter()
            .map(|pair| (pair.record.slug.to_owned(), pair.main.slug.to_owned()))
            .collect();
        let mut shown = BTreeSet::new();
        for page in 1..=expected.len() / 25 + 1 {
            let page = parse(&operator.get(&format!("/admin/duplicates?table={name}&page={page}")).text);
            for row in page.all("tbody tr") {
                let hrefs = row.links();
                let [record, main] = [hrefs[0], hrefs[1]].map(|href| href.strip_prefix(path).unwrap().to_owned());
                assert_eq!(
                    hrefs.get(2).is_some_and(|href| href.starts_with("/compare?")),
                    name != "people",
                    "{hrefs:?}"
                );
                shown.insert((record, main));
            }
        }
        assert_eq!(shown, expected, "{name}");
        all += expected.len();
    }
    assert!(all > 1, "{all}");
    assert!(operator.get("/admin").text.contains(&format!("<a href=\"/admin/duplicates\">{all} records</a>")));
}

#[test]
fn a_form_of_another_site_changes_nothing() {
    let (server, _, mut operator) = service();
    server.state.auth.store().verify_account(AccountId(1), NOON).unwrap();
    let form = ("content-type", "application/x-www-form-urlencoded");
    for headers in [
        vec![form, ("sec-fetch-site", "cross-site"), ("origin", "https://evil.example")],
        vec![form, ("origin", "https://evil.example")],
        vec![form, ("sec-fetch-site", "same-site")],
        vec![form],
    ] {
        for path in &CHANGES[1..] {
            assert_eq!(operator.send("POST", path, &headers, &[("tier", "pro")]).status, 403, "{path}: {headers:?}");
        }
    }
    let ada = server.state.auth.store().account_by_id(AccountId(1)).unwrap();
    assert_eq!((ada.tier, ada.active_keys), (Tier::Free, 1));
    // Links change nothing either.
    for path in &CHANGES[1..] {
        assert_eq!(operator.send("GET", path, &[], &[]).status, 405, "{path}");
    }
}

#[test]
fn the_password_is_required_again_after_some_hours() {
    let (server, mut ada, mut operator) = service();
    server.state.auth.store().verify_account(AccountId(1), NOON).unwrap();
    age_sessions(&server, 12 * 3_600 - 1);
    assert!(READ.iter().all(|path| !asks(&operator.get(path))));
    let reply = operator.post(CHANGES[1], &[("tier", "pro")]);
    assert!(asks(&reply) && reply.text.contains("name=\"tier\" value=\"pro\""), "{}", reply.text);
    age_sessions(&server, 12 * 3_600);
    for path in READ {
        let reply = operator.get(path);
        assert!(asks(&reply) && reply.text.contains("action=\"/admin\""), "{path}: {}", reply.text);
        assert!(!reply.text.contains("ada@example.com"), "{path}");
        assert_eq!(ada.get(path).status, 404, "{path}");
    }
    let wrong = operator.post("/admin", &[("confirmation", "not that one")]);
    assert_eq!((wrong.status, asks(&wrong)), (422, true));
    let right = operator.post("/admin", &[("confirmation", PASSWORD)]);
    assert_eq!((right.status, right.header("location")), (303, "/admin"));
    assert!(!asks(&operator.get("/admin")));
    assert_eq!(server.state.auth.store().account_by_id(AccountId(1)).unwrap().tier, Tier::Free);
}

#[test]
fn changes_take_effect_and_are_logged_with_the_operator() {
    let (server, mut ada, mut operator) = service();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    server.state.auth.log_to(AuditLog::open(&log, || NOON).unwrap());
    let (key, number) = ada.create_key("second");
    let client = ada.client(&key);
    let account = || server.state.auth.store().account_by_id(AccountId(1)).unwrap();

    let refused = operator.post("/admin/accounts/1/tier", &[("tier", "pro")]);
    assert!(refused.status == 422 && refused.text.contains("unverified"), "{}", refused.text);
    let done = operator.post("/admin/accounts/1/verification", &[]);
    assert_eq!((done.status, done.header("location")), (303, "/admin/accounts/1"));
    assert_eq!(account().verified_at, Some(NOON));
    assert_eq!(operator.post("/admin/accounts/1/tier", &[("tier", "gold")]).status, 422);
    assert_eq!(operator.post("/admin/accounts/1/tier", &[("tier", "pro")]).status, 303);
    assert_eq!(
        (account().tier, client.get("/api/v3/usage").json()["data"]["limit"].as_u64()),
        (Tier::Pro, Some(5_000))
    );
    // More keys than the lower tier allows.
    for name in ["third", "fourth"] {
        ada.create_key(name);
    }
    let refused = operator.post("/admin/accounts/1/tier", &[("tier", "free")]);
    assert!(refused.status == 422 && refused.text.contains("role=\"alert\""), "{}", refused.text);
    assert_eq!(account().tier, Tier::Pro);

    // A key of another account.
    let of_ops = id(&server, "ops@example.com").0;
    assert_eq!(operator.post(&format!("/admin/accounts/{of_ops}/keys/{number}/revoke"), &[]).status, 404);
    assert_eq!(client.get("/api/v3/usage").status, 200);
    assert_eq!(operator.post(&format!("/admin/accounts/1/keys/{number}/revoke"), &[]).status, 303);
    assert_eq!(client.get("/api/v3/usage").json()["code"], "revoked_api_key");
    assert_eq!(operator.post("/admin/accounts/99/tier", &[("tier", "pro")]).status, 404);

    let text = fs::read_to_string(&log).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let seen: Vec<Value> = lines
        .filter(|line| line["by"] == "operator")
        .map(|line| json!([line["event"], line["outcome"], line["account"], line["key"], line["operator"]]))
        .collect();
    let expected = [
        json!(["account_verification", "ok", 1, null, of_ops]),
        json!(["tier_change", "ok", 1, null, of_ops]),
        json!(["tier_change", "store_failed", 1, null, of_ops]),
        json!(["key_revocation", "no_such_key", of_ops, number, of_ops]),
        json!(["key_revocation", "ok", 1, number, of_ops]),
    ];
    assert_eq!(seen, expected);
    assert!(!text.contains("example.com") && !text.contains(&key), "{text}");
}

#[test]
fn a_blocked_account_is_locked_out_until_it_is_unblocked() {
    let (server, mut ada, mut operator) = service();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit.jsonl");
    server.state.auth.log_to(AuditLog::open(&log, || NOON).unwrap());
    let (key, _) = ada.create_key("second");
    let client = ada.client(&key);
    let sign_in =
        |password| Browser::at(&server).post("/signin", &[("email", "ada@example.com"), ("password", password)]);

    assert_eq!(operator.post("/admin/accounts/1/block", &[]).header("location"), "/admin/accounts/1");
    let rejected = client.get("/api/v3/usage");
    assert_eq!((rejected.status, &rejected.json()["code"]), (401, &"revoked_api_key".into()));
    assert_eq!(ada.get("/account").header("location"), "/signin");
    let refused = sign_in(PASSWORD);
    assert!(refused.status == 422 && refused.text.contains("This account is blocked"), "{}", refused.text);
    // Only who knows the password learns it.
    assert!(!sign_in("not that one").text.contains("blocked"));
    let page = operator.get("/admin/accounts/1").text;
    assert!(page.contains("Blocked since 21 Nov 2026") && page.contains("Unblock account"), "{page}");
    assert!(operator.get("/admin/accounts").text.contains(">blocked<"));

    let own = id(&server, "ops@example.com").0;
    let refused = operator.post(&format!("/admin/accounts/{own}/block"), &[]);
    assert!(refused.status == 422 && refused.text.contains("your own account"), "{}", refused.text);
    assert_eq!(operator.post("/admin/accounts/99/block", &[]).status, 404);

    assert_eq!(operator.post("/admin/accounts/1/unblock", &[]).status, 303);
    assert_eq!(client.get("/api/v3/usage").status, 200);
    assert_eq!(sign_in(PASSWORD).header("location"), "/account");
    assert_eq!(ada.get("/account").header("location"), "/signin", "ended sessions stay ended");

    let text = fs::read_to_string(&log).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let seen: Vec<Value> = lines
        .filter(|line| line["by"] == "operator" || line["outcome"] == "blocked")
        .map(|line| json!([line["event"], line["outcome"], line["account"], line["operator"]]))
        .collect();
    let expected = [
        json!(["account_block", "ok", 1, own]),
        json!(["sign_in", "blocked", 1, null]),
        json!(["account_unblock", "ok", 1, own]),
    ];
    assert_eq!(seen, expected);
}

#[test]
fn accounts_are_found_with_their_keys_and_usage() {
    let (server, mut ada, mut operator) = service();
    let (key, _) = ada.create_key("second");
    for number in 0..30 {
        let email = format!("user{number:02}@example.org").parse().unwrap();
        server.state.auth.store().create_account(&email, Tier::Free, None, NOON).unwrap();
    }
    let client = ada.client(&key);
    (0..7).for_each(|_| assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200));
    server.state.auth.flush(NOON).unwrap();

    let all = operator.get("/admin/accounts").text;
    assert!(all.contains("<strong class=\"number\">32 accounts</strong>"), "{all}");
    assert_eq!(parse(&all).all("th[scope=row]").len(), 25);
    let second = parse(&operator.get("/admin/accounts?page=2").text);
    assert_eq!(second.all("th[scope=row]").len(), 7);
    let found = operator.get("/admin/accounts?q=%20ADA%40ex").text;
    assert!(found.contains("1 account<") && found.contains("href=\"/admin/accounts/1\">ada@example.com"), "{found}");
    assert_eq!(parse(&found).texts("td[data-name='Requests in 30 days']"), ["7"]);
    assert!(operator.get("/admin/accounts?q=%3Cb%3E").text.contains("value=\"&#60;b&#62;\""));

    let page = operator.get("/admin/accounts/1").text;
    assert!(page.contains("vdx_") && !page.contains(&key), "{page}");
    assert!(page.contains("<dt>Verified</dt><dd>no</dd>") && page.contains("7 requests in 30 days."), "{page}");
    let home = operator.get("/admin").text;
    assert!(
        home.contains("<dt>Accounts</dt><dd>32</dd>") && home.contains("<dt>Requests today</dt><dd>7</dd>"),
        "{home}"
    );
    assert!(home.contains("7 requests of 1 account in 30 days"), "{home}");
    assert!(
        home.contains("<a href=\"/admin/accounts/1\">ada@example.com</a></th><td class=\"right\">7</td>"),
        "{home}"
    );
    for path in ["/admin/accounts/99", "/admin/accounts/01", "/admin/nothing"] {
        assert_eq!(operator.send("GET", path, &[("accept", "text/html")], &[]).status, 404, "{path}");
    }
}

#[test]
fn the_releases_are_listed_with_what_happened_to_them() {
    let (server, _, mut operator) = service();
    let page = operator.get("/admin").text;
    assert!(page.contains("0 swaps, 0 rejected releases") && !page.contains("Last rejection"), "{page}");
    let releases = &server.state.releases;
    releases.replace(Arc::new(catalog_of(copy_as(&small(), "2026-11-19.1").path())));
    releases.replace(next_release());
    let page = operator.get("/admin").text;
    assert!(page.contains("2 swaps, 0 rejected releases"), "{page}");
    let rows = parse(&page).rows("[aria-label=Releases] tbody tr");
    assert_eq!(rows.len(), 2, "{rows:?}");
    assert!(rows[0][0] == "2026-11-21.1" && rows[0][2].starts_with("served"), "{rows:?}");
    assert!(rows[1][0] == "2026-11-19.1" && rows[1][2].starts_with("in memory"), "{rows:?}");
    assert!(page.contains("href=\"/admin/duplicates\""), "{page}");
}

#[test]
fn commands_block_and_unblock_an_account() {
    let server = Server::bundled();
    let mut ada = Browser::signed_up(&server, "ada@example.com");
    let (key, _) = ada.create_key("laptop");
    let client = ada.client(&key);
    let log = server.data().join("commands.jsonl");
    let command = |word: &str| {
        let words = ["account", word, "--email", "ada@example.com", "--audit-log", log.to_str().unwrap()];
        let done = run(server.data(), &words, "").err;
        server.state.auth.refresh().unwrap();
        done
    };
    assert!(command("unblock").contains("is not blocked"));
    assert!(command("block").contains("is blocked now"));
    assert!(command("block").contains("is blocked already"));
    assert_eq!(client.get("/api/v3/usage").json()["code"], "revoked_api_key");
    assert_eq!(ada.get("/account").header("location"), "/signin");
    let list = run(server.data(), &["account", "list", "--json"], "").ok();
    assert!(list.contains("\"blocked_at\":\"20"), "{list}");
    assert!(command("unblock").contains("is no longer blocked"));
    assert_eq!(client.get("/api/v3/usage").status, 200);
    let text = fs::read_to_string(log).unwrap();
    let events: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(events, ["account_block", "account_unblock"]);
}

#[test]
fn a_command_makes_an_operator_of_a_verified_account() {
    let data = tempfile::tempdir().unwrap();
    let log = data.path().join("audit.jsonl");
    let log = log.to_str().unwrap();
    let command = |words: &[&str]| {
        let words = [&["account"], words, &["--email", "ops@example.com", "--audit-log", log]].concat();
        run(data.path(), &words, PASSWORD)
    };
    assert!(command(&["set-operator"]).err.contains("no account"));
    command(&["create", "--password-stdin"]).ok();
    assert!(command(&["set-operator", "--revoke"]).err.contains("is no operator"));
    assert!(command(&["set-operator"]).err.contains("is an operator now"));
    assert!(command(&["set-operator"]).err.contains("is an operator already"));
    let list = run(data.path(), &["account", "list", "--json"], "").ok();
    assert!(list.contains("\"is_operator\":true"), "{list}");
    assert!(command(&["set-operator", "--revoke"]).err.contains("is an operator no longer"));
    let text = fs::read_to_string(log).unwrap();
    let events: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(events, ["account_creation", "operator_grant", "operator_revocation"]);

    let server = Server::bundled();
    Browser::signed_up(&server, "eve@example.com");
    let refused = run(server.data(), &["account", "set-operator", "--email", "eve@example.com"], "");
    assert!(refused.code == Some(1) && refused.err.contains("account verify"), "{}", refused.err);
    assert!(!server.state.auth.store().account_by_id(id(&server, "eve@example.com")).unwrap().is_operator);
}
