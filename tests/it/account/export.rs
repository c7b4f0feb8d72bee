//! The page of a key, its usage as CSV, and the copy of an account's data, which has no secret.

use std::fs;

use auth::audit::AuditLog;
use auth::session::SessionToken;
use serde_json::Value;

use crate::alerts::save;
use crate::support::browser::{Browser, PASSWORD, shown_key};
use crate::support::harness::{NOON, Server};
use crate::support::html::{Markup, parse, text_of};

#[test]
fn the_page_of_a_key_says_whether_it_was_used() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let created = browser.post("/account/keys", &[("name", "laptop")]);
    let key = shown_key(&created.text);
    let page = parse(&created.text);
    for language in ["curl", "python", "javascript", "rust", "mcp"] {
        let code = text_of(page.first(&format!("pre[data-language={language}]")));
        assert!(code.contains(&format!("Bearer {key}")), "{language}: {code}");
    }
    let path = page.first("main a.button").attr("href").unwrap();
    let page = browser.get(path).text;
    assert!(page.contains("No call seen yet") && !page.contains(&key), "{page}");
    assert!(browser.get("/account").text.contains(&format!("<a href=\"{path}\">laptop</a>")));
    let client = browser.client(&key);
    for _ in 0..3 {
        assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
    }
    // At once, although the usage is written later.
    let page = browser.get(path).text;
    assert!(page.contains("First call seen</strong> on 21 Nov 2026. Last used: just now."), "{page}");
    assert!(page.contains("3 requests in 30 days."), "{page}");
    server.state.auth.flush(NOON).unwrap();
    assert!(browser.get(path).text.contains("Last used: 21 Nov 2026, 12:00"));
    assert!(browser.get("/account").text.contains("first on 21 Nov 2026"));
    let csv = browser.get("/account/usage.csv");
    let id = path.rsplit('/').next().unwrap();
    assert_eq!(csv.text, format!("day,key,name,requests\r\n2026-11-21,{id},\"laptop\",3\r\n"));
    assert_eq!(csv.header("content-type"), "text/csv; charset=utf-8; header=present");
    // Of other accounts, and without a session.
    let mut other = Browser::signed_up(&server, "bob@example.com");
    assert_eq!(other.get(path).status, 404);
    assert_eq!(other.get("/account/usage.csv").text, "day,key,name,requests\r\n");
    for path in [path, "/account/usage.csv", "/account/export.json"] {
        assert_eq!(Browser::at(&server).get(path).header("location"), "/signin", "{path}");
    }
}

#[test]
fn names_of_keys_are_no_formulas_in_csv() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (key, id) = browser.create_key("=1+\"1\",2");
    browser.client(&key).get("/api/v3/stats");
    assert!(browser.get("/account/usage.csv").text.ends_with(&format!("2026-11-21,{id},\"'=1+\"\"1\"\",2\",1\r\n")));
}

#[test]
fn the_copy_of_an_account_has_its_data_and_no_secret() {
    let server = Server::bundled();
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("audit");
    server.state.auth.log_to(AuditLog::open(&log, || NOON).unwrap());
    let mut other = Browser::signed_up(&server, "bob@example.com");
    other.create_key("of bob");
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (key, id) = browser.create_key("laptop");
    browser.client(&key).get("/api/v3/stats");
    server.state.auth.flush(NOON).unwrap();
    let form = browser.get("/account/saved/new?table=vcs&stage=seed");
    let search = save(&mut browser, &form, "Seed firms");
    let hook = browser.post("/account/webhooks", &[("url", "https://hooks.example.com/a")]);
    assert!(hook.status < 400, "{}", hook.text);
    let reply = browser.get("/account/export.json");
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"));
    assert!(reply.header("content-disposition").contains("venturedex-account.json"));
    let copy: Value = serde_json::from_str(&reply.text).unwrap();
    assert_eq!((&copy["account"]["email"], &copy["account"]["tier"]), (&"ada@example.com".into(), &"free".into()));
    assert_eq!((&copy["keys"][0]["id"], &copy["keys"][0]["name"]), (&id.into(), &"laptop".into()));
    assert_eq!(copy["keys"].as_array().unwrap().len(), 1);
    assert_eq!(copy["usage"][0], serde_json::json!({ "day": "2026-11-21", "key": id, "requests": 1 }));
    assert_eq!(copy["sessions"][0]["is_current"], true);
    assert_eq!((&copy["saved"][0]["name"], &copy["saved"][0]["query"]), (&"Seed firms".into(), &"stage=seed".into()));
    assert_eq!(copy["webhooks"][0]["url"], "https://hooks.example.com/a");
    let events: Vec<&str> =
        copy["audit_log"].as_array().unwrap().iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert!(events.contains(&"sign_up") && events.contains(&"key_creation"), "{events:?}");
    let own = &copy["account"]["id"];
    assert!(copy["audit_log"].as_array().unwrap().iter().all(|line| line["account"] == *own));
    assert!(fs::read_to_string(&log).unwrap().lines().count() > events.len(), "the log has lines of bob, too");
    // Nothing that lets somebody in.
    let session: SessionToken = browser.cookies["session"].parse().unwrap();
    let digest: String = session.digest().bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let mut secrets = vec![key, PASSWORD.to_owned(), digest, "argon2".to_owned()];
    secrets.extend(browser.cookies.values().cloned());
    // The secret of the webhook and the address of the feed, which the pages show.
    let shown = [
        hook.text.clone(),
        browser.get("/account/webhooks").text,
        browser.get(&format!("/account/saved/{search}")).text,
    ]
    .concat();
    let words = shown.split(|char: char| !(char.is_ascii_alphanumeric() || "_-+/=".contains(char)));
    secrets.extend(words.filter(|word| word.starts_with("whsec_") || word.starts_with("/alerts/")).map(str::to_owned));
    assert!(secrets.iter().any(|secret| secret.starts_with("whsec_")), "{shown}");
    for secret in secrets {
        assert!(!reply.text.contains(&secret), "{secret}");
    }
    assert!(!reply.text.contains("bob"));
}
