//! Account pages: sign-up to the first request, cross-site forms, keys of other accounts, secrets in the data folder.

mod admin;
mod audit;
mod export;
mod keys;
mod known_browser;
pub mod mail;
mod password_confirmation;
pub mod totp;

use std::fs;

use auth::account::{AccountId, KeyId};
use auth::quota::Tier;
use auth::session::SessionToken;

use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{NOON, Reply, Server, one_of};
use crate::support::html::{Markup, parse};

#[test]
fn a_visitor_signs_up_creates_and_revokes_a_key_and_signs_out() {
    let server = Server::bundled();
    let mut browser = Browser::at(&server);
    assert_eq!(browser.get("/account").header("location"), "/signin");
    let reply = browser.post("/signup", &[("email", " Ada@Example.com "), ("password", PASSWORD)]);
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
    let cookie = reply.header("set-cookie");
    for part in ["session=", "; Path=/", "; HttpOnly", "; SameSite=Lax", "; Max-Age=2592000"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let page = browser.get("/account").text;
    assert!(page.contains("ada@example.com") && page.contains("You have no key yet."), "{page}");

    let (key, id) = browser.create_key("laptop");
    let client = browser.client(&key);
    assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
    let page = browser.get("/account").text;
    assert!(page.contains("laptop") && page.contains(&format!("{}…{}", &key[..8], &key[36..])), "{page}");
    assert!(!page.contains(&key), "a key is shown once");
    assert!(
        page.contains("data-name=\"Today\" class=\"right nowrap\">1 <span class=\"quiet small\">99 left</span>"),
        "{page}"
    );
    assert!(page.contains("1 request in 30 days."), "{page}");

    let confirmation = browser.get(&format!("/account/keys/{id}/revoke"));
    assert!(confirmation.text.contains("Revoke this key?") && confirmation.text.contains("laptop"));
    let reply = browser.post(&format!("/account/keys/{id}/revoke"), &[]);
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
    let refused = client.get("/api/v3/vcs?limit=1");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (401, Some("revoked_api_key")));

    let reply = browser.post("/signout", &[]);
    assert_eq!((reply.status, reply.header("location")), (303, "/"));
    assert!(reply.header("set-cookie").contains("Max-Age=0"));
    assert_eq!(reply.header("clear-site-data"), "\"cache\", \"storage\"");
    assert_eq!(browser.get("/account").header("clear-site-data"), "");
    assert_eq!(browser.get("/account").status, 303);
    let reply = browser.post("/signin", &[("email", "ada@example.com"), ("password", "not that one")]);
    assert_eq!(reply.status, 422);
    let unknown = browser.post("/signin", &[("email", "nobody@example.com"), ("password", "not that one")]);
    let same = |reply: &Reply| reply.text.replace("ada@example.com", "…").replace("nobody@example.com", "…");
    assert_eq!(
        (unknown.status, same(&unknown)),
        (reply.status, same(&reply)),
        "an unknown user gets the same response as a known one"
    );
    let reply = browser.post("/signin", &[("email", "ADA@example.com"), ("password", PASSWORD)]);
    assert_eq!((reply.status, reply.header("location")), (303, "/account"));
}

#[test]
fn a_new_password_ends_the_other_sessions() {
    let server = Server::bundled();
    let mut here = Browser::signed_up(&server, "ada@example.com");
    let mut there = Browser::at(&server);
    there.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    assert_eq!(there.get("/account").status, 200);
    for (current, new, advice) in [
        (PASSWORD, "short", "5 of at least 10 characters"),
        ("not that one", "nine loud herons", "not your current password"),
        (PASSWORD, PASSWORD, "choose another"),
    ] {
        let reply = here.post("/account/password", &[("current", current), ("new", new)]);
        assert_eq!(reply.status, 422, "{new}");
        assert!(reply.text.contains(advice), "{new}: {}", reply.text);
    }
    assert_eq!(there.get("/account").status, 200);
    let reply = here.post("/account/password", &[("current", PASSWORD), ("new", "nine loud herons")]);
    assert_eq!(reply.status, 200);
    assert!(reply.text.contains("all other sessions are ended"));
    assert_eq!((here.get("/account").status, there.get("/account").status), (200, 303));
    let reply = there.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    assert_eq!(reply.status, 422, "the old password is rejected");
}

#[test]
fn a_copied_session_ends_with_the_next_sign_in_or_password() {
    let server = Server::bundled();
    let mut here = Browser::signed_up(&server, "ada@example.com");
    let copy_of = |browser: &Browser| Browser { cookies: browser.cookies.clone(), ..Browser::at(&server) };
    let mut copy = copy_of(&here);
    assert_eq!(copy.get("/account").status, 200);
    let reply = here.post("/account/password", &[("current", PASSWORD), ("new", "nine loud herons")]);
    assert!(reply.status == 200 && reply.header("set-cookie").contains("; HttpOnly"), "{}", reply.text);
    assert_ne!(here.cookies["session"], copy.cookies["session"]);
    assert_eq!((here.get("/account").status, copy.get("/account").status), (200, 303));

    let mut copy = copy_of(&here);
    let reply = here.post("/signin", &[("email", "ada@example.com"), ("password", "nine loud herons")]);
    assert_eq!(reply.status, 303);
    assert_eq!((here.get("/account").status, copy.get("/account").status), (200, 303));
    let page = here.get("/account").text;
    assert!(page.contains("This browser") && !page.contains("/account/sessions/"), "{page}");
}

#[test]
fn sessions_are_listed_and_can_be_ended_by_their_owner_only() {
    let server = Server::bundled();
    let mut here = Browser::signed_up(&server, "ada@example.com");
    let mut there = Browser::at(&server);
    there.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    let page = parse(&here.get("/account").text);
    let path = page.first("form[action^='/account/sessions/']").attr("action").unwrap().to_owned();
    assert_eq!(page.texts("td > span.quiet").iter().filter(|text| *text == "This browser").count(), 1);
    let mut eve = Browser::signed_up(&server, "eve@example.com");
    for path in [path.as_str(), "/account/sessions/999/end"] {
        let reply = eve.post(path, &[]);
        assert_eq!(
            (reply.status, reply.header("location")),
            (303, "/account"),
            "unknown and foreign sessions look alike"
        );
    }
    assert_eq!(there.get("/account").status, 200);
    assert_eq!(here.post(&path, &[]).status, 303);
    assert_eq!((here.get("/account").status, there.get("/account").status), (200, 303));
    assert!(!here.get("/account").text.contains(&path));
    assert_eq!(here.send("GET", &path, &[], &[]).header("allow"), "OPTIONS, POST");
    assert_eq!(here.post("/account/sessions/01/end", &[]).status, 404);
}

#[test]
fn a_deleted_account_is_removed_and_its_keys_are_rejected() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let mut there = Browser::at(&server);
    there.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    let (key, _) = browser.create_key("laptop");
    assert_eq!(browser.post("/account/delete", &[("password", "not that one")]).status, 422);
    assert_eq!(browser.client(&key).get("/api/v3/usage").status, 200);
    let reply = browser.post("/account/delete", &[("password", PASSWORD)]);
    assert_eq!((reply.status, reply.header("location")), (303, "/"));
    assert_eq!(reply.header("clear-site-data"), "\"cache\", \"storage\"");
    let refused = browser.client(&key).get("/api/v3/usage");
    assert_eq!((refused.status, refused.json()["code"].as_str()), (401, Some("revoked_api_key")));
    assert_eq!((browser.get("/account").status, there.get("/account").status), (303, 303));
    Browser::signed_up(&server, "ada@example.com");
}

#[test]
fn the_number_of_keys_is_limited_by_the_tier() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let ids: Vec<i64> = ["one", "two", "three"].iter().map(|name| browser.create_key(name).1).collect();
    let page = browser.get("/account").text;
    assert!(page.contains("3 of 3") && !page.contains("Name of a new key"), "{page}");
    let reply = browser.post("/account/keys", &[("name", "four")]);
    assert_eq!(reply.status, 422);
    assert!(reply.text.contains("revoke one that you no longer need"), "{}", reply.text);
    browser.post(&format!("/account/keys/{}/revoke", ids[0]), &[]);
    let (_, mut id) = browser.create_key("four");
    for _ in 5..=30 {
        browser.post(&format!("/account/keys/{id}/revoke"), &[]);
        id = browser.create_key("again").1;
    }
    browser.post(&format!("/account/keys/{id}/revoke"), &[]);
    let reply = browser.post("/account/keys", &[("name", "the thirty-first")]);
    assert_eq!(reply.status, 422);
    assert!(
        reply.text.contains("You created 30 keys today") && reply.text.contains("after 00:00 UTC"),
        "{}",
        reply.text
    );
    for (name, advice) in [("", "1 to 100 visible characters"), ("two\nlines", "on one line")] {
        let reply = browser.post("/account/keys", &[("name", name)]);
        assert_eq!(reply.status, 422);
        assert!(reply.text.contains(advice), "{}", reply.text);
    }
}

#[test]
fn keys_of_other_accounts_are_not_distinguishable_from_unknown_keys() {
    let server = Server::bundled();
    let mut ada = Browser::signed_up(&server, "ada@example.com");
    let mut eve = Browser::signed_up(&server, "eve@example.com");
    let (key, id) = ada.create_key("submarine");
    eve.create_key("mine");
    let unknown =
        [id.to_string(), "4711".to_owned(), "0".to_owned(), "-1".to_owned(), "x".to_owned(), format!("0{id}")];
    for number in unknown {
        let path = format!("/account/keys/{number}/revoke");
        let (read, sent) = (eve.send("GET", &path, &[("accept", "text/html")], &[]), eve.post(&path, &[]).status);
        assert_eq!((read.status, sent), (404, 404), "{path}");
        assert!(!read.text.contains("submarine") && !read.text.contains("ada@"), "{path}");
    }
    let page = eve.get("/account").text;
    assert!(!page.contains("submarine") && !page.contains("ada@example.com"), "{page}");
    assert_eq!(ada.client(&key).get("/api/v3/usage").status, 200, "the key still works");
    // Without a session every page redirects to sign-in.
    let mut nobody = Browser::at(&server);
    for path in ["/account", "/account/delete", &format!("/account/keys/{id}/revoke")] {
        assert_eq!(nobody.get(path).header("location"), "/signin", "{path}");
    }
    for path in ["/account/keys", "/account/password", "/account/delete", &format!("/account/keys/{id}/revoke")] {
        assert_eq!(
            nobody.post(path, &[("name", "x"), ("new", "ten letters and more")]).header("location"),
            "/signin",
            "{path}"
        );
    }
}

#[test]
fn forms_are_accepted_only_from_pages_of_this_site() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (_, id) = browser.create_key("laptop");
    let own = browser.base.clone();
    let port = server.address.port();
    let (by_name, foreign) = (format!("http://localhost:{port}"), "https://evil.example".to_owned());
    let other_port = format!("http://127.0.0.1:{}", port.wrapping_add(1));
    let longer = format!("{own}.evil.example");
    let origins: [(Option<&str>, bool); 8] = [
        (None, false),
        (Some(&own), true),
        (Some(&by_name), false),
        (Some(&foreign), false),
        (Some(&other_port), false),
        (Some(&longer), false),
        (Some("null"), false),
        (Some(""), false),
    ];
    let sites = [None, Some("same-origin"), Some("same-site"), Some("cross-site"), Some("none"), Some("odd")];
    let forms = [
        "/signup",
        "/signin",
        "/signout",
        "/account/keys",
        "/account/password",
        "/account/delete",
        &format!("/account/keys/{id}/revoke"),
        &format!("/account/keys/{id}/rotate"),
        "/account/sessions/999/end",
        "/signin/code",
        "/signin/link",
        "/signin/open",
        "/account/totp/enable",
        "/account/totp/disable",
        "/account/totp/codes",
        "/account/verification",
        "/verify",
        "/reset",
        "/reset/password",
    ];
    // The gate tries a third of the forms with each of these, and all forms with what is accepted.
    let (mut checked, mut tried) = (0, 0);
    for site in sites {
        for (origin, is_own) in origins {
            let some = forms.into_iter().skip(tried % one_of(3)).step_by(one_of(3));
            tried += 1;
            let accepted = match (site, origin) {
                (Some("same-origin"), None) => true,
                (Some("same-origin") | None, Some(_)) => is_own,
                _ => false,
            };
            for form in some {
                for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"] {
                    let mut headers = vec![("content-type", "application/x-www-form-urlencoded")];
                    headers.extend(site.map(|site| ("sec-fetch-site", site)));
                    headers.extend(origin.map(|origin| ("origin", origin)));
                    // An accepted form is rejected for its content, so that nothing changes.
                    let mut visitor = Browser::at(&server);
                    if form.starts_with("/account") && !form.ends_with("/revoke") && !form.ends_with("/rotate") {
                        visitor.cookies.clone_from(&browser.cookies);
                    }
                    let reply = visitor.send(method, form, &headers, &[("email", "none"), ("name", ""), ("new", "")]);
                    let expected: &[u16] = match method {
                        "POST" if accepted => &[422, 303, 404],
                        "POST" => &[403],
                        "GET" | "HEAD" => &[200, 303, 404, 405],
                        _ => &[405],
                    };
                    assert!(expected.contains(&reply.status), "{method} {form} {site:?} {origin:?}: {}", reply.status);
                    checked += 1;
                }
            }
        }
    }
    assert_eq!(checked, 6 * 8 * 19 * 6 / one_of(3));
    // The origin is compared with the host name of the request.
    let headers =
        [("content-type", "application/x-www-form-urlencoded"), ("host", &by_name[7..]), ("origin", &by_name)];
    assert_eq!(Browser::at(&server).send("POST", "/signin", &headers, &[]).status, 422);
    assert_eq!(browser.get("/account").status, 200, "nothing was changed");
    assert!(browser.get("/account").text.contains("1 of 3"));
}

#[test]
fn with_a_public_url_forms_come_from_its_pages_only() {
    let server = Server::named("https://venturedex.example");
    let own = "https://venturedex.example";
    let local = server.address.to_string();
    for (host, origin, status) in [
        ("venturedex.example", own, 422),
        (&local, own, 422),
        ("venturedex.example", "https://venturedex.example:443", 422),
        ("venturedex.example", "http://venturedex.example", 403),
        ("venturedex.example", "https://venturedex.example.evil.example", 403),
        ("localhost:8080", "http://localhost:8080", 403),
        (&local, &format!("http://{local}"), 403),
        ("venturedex.example:8080", "https://venturedex.example:8080", 403),
    ] {
        for site in [None, Some("same-origin")] {
            let mut headers = vec![("content-type", "application/x-www-form-urlencoded")];
            headers.extend([("host", host), ("origin", origin)]);
            headers.extend(site.map(|site| ("sec-fetch-site", site)));
            let reply = Browser::at(&server).send("POST", "/signin", &headers, &[("email", "none")]);
            assert_eq!(reply.status, status, "{host} {origin} {site:?}: {}", reply.text);
        }
    }
}

#[test]
fn invalid_forms_are_rejected() {
    let server = Server::bundled();
    let mut browser = Browser::at(&server);
    let own = browser.base.clone();
    let json = [("content-type", "application/json"), ("origin", own.as_str())];
    assert_eq!(browser.send("POST", "/signin", &json, &[]).status, 415);
    // The server closes this connection, so that the others are sent on their own.
    assert_eq!(Browser::at(&server).post("/signin", &[("email", &"x".repeat(20_000))]).status, 413);
    for email in ["", "ada", "ada@", "<b>@x.example", "ad\u{200b}a@x.example", "\u{430}da@x.example", "a@127.0.0.1"] {
        let reply = browser.post("/signup", &[("email", email), ("password", PASSWORD)]);
        assert_eq!(reply.status, 422, "{email}");
        assert!(reply.text.contains("Invalid e-mail address"), "{}", reply.text);
        assert!(!reply.text.contains("<b>"));
    }
    for password in ["", "short", "passwordpassword", "ada@example.com", "aaaaaaaaaaaaaaaa"] {
        let reply = browser.post("/signup", &[("email", "ada@example.com"), ("password", password)]);
        assert_eq!(reply.status, 422, "{password}");
        assert!(
            !reply.text.contains(&format!("value=\"{password}\"")) || ["", "ada@example.com"].contains(&password),
            "a password is shown again"
        );
    }
    Browser::signed_up(&server, "ada@example.com");
    let registered = browser.post("/signup", &[("email", "ada@example.com"), ("password", "another heron here")]);
    assert_eq!(registered.status, 422);
    assert!(registered.text.contains("sign in, otherwise use another"), "{}", registered.text);
    let reply = browser.send("PUT", "/account", &[], &[]);
    assert_eq!((reply.status, reply.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(browser.send("GET", "/signout", &[], &[]).header("allow"), "OPTIONS, POST");
}

#[test]
fn an_account_under_attack_is_rate_limited_even_with_the_right_password() {
    let server = Server::bundled();
    Browser::signed_up(&server, "ada@example.com");
    let mut browser = Browser::at(&server);
    let mut statuses = Vec::new();
    for _ in 0..11 {
        statuses.push(browser.post("/signin", &[("email", "ada@example.com"), ("password", "not that one")]).status);
    }
    assert_eq!(statuses[..10], [422; 10]);
    assert_eq!(statuses[10], 429);
    let reply = browser.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    assert_eq!(reply.status, 429);
    assert!(reply.header("retry-after").parse::<u64>().unwrap() > 60);
    assert!(reply.text.contains("wait"), "{}", reply.text);
}

#[test]
fn without_the_database_forms_are_503_and_known_keys_still_work() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (key, _) = browser.create_key("laptop");
    let ready = || browser.client(&key).get("/readyz").json();
    assert_eq!((&ready()["status"], &ready()["reason"]), (&"ready".into(), &serde_json::Value::Null));
    let (path, moved) = (server.data().join("venturedex.sqlite"), server.data().join("moved"));
    fs::rename(&path, &moved).unwrap();
    let reply = Browser::at(&server).post("/signup", &[("email", "bob@example.com"), ("password", PASSWORD)]);
    assert_eq!((reply.status, reply.header("retry-after")), (503, "60"), "{}", reply.text);
    assert!(reply.text.contains("Accounts cannot be used at the moment and nothing was changed"), "{}", reply.text);
    assert!(server.state.auth.refresh().is_err() && server.state.auth.flush(NOON).is_err());
    assert_eq!(browser.client(&key).get("/readyz").status, 200);
    assert_eq!(ready()["status"], "degraded");
    assert_eq!(ready()["reason"], "the account database was deleted or replaced");
    assert_eq!(browser.client(&key).get("/api/v3/vcs?limit=1").status, 200);
    fs::rename(&moved, &path).unwrap();
    server.state.auth.refresh().unwrap();
    server.state.auth.flush(NOON).unwrap();
    assert_eq!(ready()["status"], "ready");
    Browser::signed_up(&server, "bob@example.com");
}

#[test]
fn no_secret_is_stored_in_clear() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let (key, _) = browser.create_key("laptop");
    let token = browser.cookies["session"].clone();
    let bytes: SessionToken = token.parse().unwrap();
    browser.client(&key).get("/api/v3/usage");
    let mut bytes_checked = 0;
    for file in fs::read_dir(server.data()).unwrap() {
        let path = file.unwrap().path();
        let content = fs::read(&path).unwrap();
        bytes_checked += content.len();
        let raw = bytes.reveal();
        for secret in [key.as_bytes(), &key.as_bytes()[4..34], PASSWORD.as_bytes(), token.as_bytes(), raw.as_bytes()] {
            let found = content.windows(secret.len()).any(|window| window == secret);
            assert!(!found, "{} contains a secret", path.display());
        }
    }
    assert!(bytes_checked > 10_000);
}

#[test]
fn over_https_the_cookies_belong_to_the_host_only() {
    let server = Server::named("https://venturedex.example");
    let mut browser = Browser::at(&server);
    let headers = [("content-type", "application/x-www-form-urlencoded"), ("origin", "https://venturedex.example")];
    let form = [("email", "ada@example.com"), ("password", PASSWORD)];
    let reply = browser.send("POST", "/signup", &headers, &form);
    let cookies: Vec<&str> = reply.headers.get_all("set-cookie").iter().map(|value| value.to_str().unwrap()).collect();
    assert!(cookies[0].starts_with("__Host-session=") && cookies[1].starts_with("__Host-browser="), "{cookies:?}");
    for cookie in &cookies {
        assert!(cookie.contains("; HttpOnly; SameSite=Lax; Secure") && !cookie.contains("Domain"), "{cookie}");
    }
    assert_eq!(browser.get("/account").status, 200);
    let session = browser.cookies.remove("__Host-session").unwrap();
    browser.cookies.insert("session".to_owned(), session);
    assert_eq!(browser.get("/account").status, 303, "a cookie that another host could set is ignored");
}

#[test]
fn a_tier_set_by_the_operator_is_shown_at_once() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    server.state.auth.store().set_tier(&"ada@example.com".parse().unwrap(), Tier::Pro).unwrap();
    let page = browser.get("/account").text;
    assert!(page.contains("Pro tier: 5,000 requests per key per day, 10 keys"), "{page}");
    let keys = server.state.auth.store().keys(Some(AccountId(1)), server.state.today()).unwrap();
    assert!(keys.iter().all(|key| key.id != KeyId(0)));
}

#[test]
fn pages_and_sign_ups_are_limited_by_address() {
    let server = Server::allowing(7, 2);
    let mut browser = Browser::at(&server);
    let statuses: Vec<u16> = (0..3)
        .map(|number| {
            let email = format!("user{number}@example.com");
            browser.post("/signup", &[("email", &email), ("password", PASSWORD)]).status
        })
        .collect();
    assert_eq!(statuses, [303, 303, 429]);
    let visitor = server.anonymous();
    for path in ["/", "/vcs", "/docs", "/signin", "/no-such-page"] {
        let reply = visitor.send("GET", path, &[("accept", "text/html")]);
        assert!(reply.status == 200 || path == "/no-such-page", "{path}: {}", reply.status);
    }
    let refused = visitor.get("/people");
    assert_eq!((refused.status, refused.header("content-type")), (429, "text/html; charset=utf-8"));
    assert!((1..=60).contains(&refused.header("retry-after").parse::<u64>().unwrap()));
    assert!(refused.text.contains("Too many requests"), "{}", refused.text);
    // Another address has its own limit, and only pages are limited.
    assert_eq!(visitor.send("GET", "/people", &[("x-forwarded-for", "198.51.100.7")]).status, 200);
    for path in ["/assets/style.css", "/healthz", "/openapi/v3.json", "/robots.txt"] {
        assert_eq!(visitor.get(path).status, 200, "{path}");
    }
    assert_eq!(server.client(Tier::Free).get("/api/v3/vcs").status, 200);
}
