//! Every refusal has the form that was requested: a page for people, problem details for programs, never markup in a feed or file.

use auth::quota::Tier;
use serde_json::Value;
use service::{Access, Operator, SignUp};

use crate::server::access::all_paths;
use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{Client, Reply, Server, agent_without_redirects, one_of};
use crate::support::html::{Markup, parse};
use crate::support::program::Process;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// What clients send as `Accept`.
const FORMS: [&str; 7] = [
    BROWSER,
    "*/*",
    "application/json",
    "application/json, text/plain, */*",
    "text/csv",
    "application/atom+xml",
    "application/problem+json",
];

/// The forms in which a path is requested: the gate tries that of browsers and, in turns, a third of the others.
fn forms(number: usize) -> impl Iterator<Item = &'static str> {
    let others = FORMS.into_iter().filter(|form| *form != BROWSER);
    std::iter::once(BROWSER).chain(others.skip(number % one_of(3)).step_by(one_of(3)))
}

/// True for paths that are not read by people, whatever a client accepts.
fn is_for_programs(path: &str) -> bool {
    let path = path.split('?').next().unwrap();
    let name = path.rsplit('/').next().unwrap();
    let is_file = name.rsplit_once('.').is_some_and(|(_, extension)| {
        ["json", "csv", "md", "atom", "xml", "png", "svg", "txt", "ndjson", "gz", "parquet"].contains(&extension)
    });
    let services = [
        "/api",
        "/v1",
        "/v2",
        "/v3",
        "/data/",
        "/reconcile",
        "/suggest",
        "/.well-known/oauth",
        "/.well-known/mcp",
        "/.well-known/ai",
    ];
    is_file || services.iter().any(|service| path.starts_with(service))
}

/// Checks the form of a refusal.
fn check(path: &str, accept: &str, reply: &Reply) {
    let content_type = reply.header("content-type");
    let what = format!("{path} ({accept}): {} {content_type}\n{}", reply.status, reply.text);
    assert!(reply.status >= 400, "{what}");
    if accept == BROWSER && !is_for_programs(path) {
        assert!(content_type.starts_with("text/html") && reply.text.starts_with("<!doctype html>"), "{what}");
        assert!(!parse(&reply.text).texts("h1").is_empty(), "{what}");
        return;
    }
    if accept == "*/*" && content_type.starts_with("text/html") {
        assert!(!is_for_programs(path), "{what}");
        return;
    }
    assert!(!reply.text.contains("<html") && !reply.text.contains("<!doctype"), "{what}");
    // The MCP endpoint answers in JSON-RPC, the reconciliation service in its own JSON.
    assert!(["application/problem+json", "application/json"].contains(&content_type), "{what}");
    if content_type == "application/problem+json" {
        let problem: Value = reply.json();
        assert_eq!(problem["status"], reply.status, "{what}");
        for member in ["type", "title", "detail", "code", "request_id"] {
            assert!(problem[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {what}");
        }
    }
}

fn without_redirects(client: Client) -> Client {
    Client { agent: agent_without_redirects(), ..client }
}

#[test]
fn a_method_that_a_path_does_not_take_is_refused_in_the_form_of_the_request_on_every_route() {
    let server = Server::bundled();
    let client = without_redirects(server.client(Tier::Enterprise));
    let mut checked = 0;
    for (number, path) in all_paths(&server).into_iter().enumerate() {
        for accept in forms(number) {
            let reply = client.send("PUT", &path, &[("accept", accept)]);
            if reply.status != 404 {
                assert_eq!(reply.status, 405, "{path}: {}", reply.text);
                assert!(reply.header("allow").contains("OPTIONS"), "{path}: {:?}", reply.headers);
            }
            check(&path, accept, &reply);
            checked += 1;
        }
    }
    assert!(checked > 420 * forms(0).count(), "{checked}");
}

#[test]
fn a_path_or_record_that_does_not_exist_is_refused_in_the_form_of_the_request() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for path in [
        "/nothing",
        "/nothing.json",
        "/nothing.csv",
        "/nothing.atom",
        "/vcs/no-such-firm",
        "/vcs/no-such-firm.json",
        "/vcs/no-such-firm.md",
        "/vcs/no-such-firm.png",
        "/vcs/no-such-firm/reviews",
        "/vcs/no-such-firm/reviews.json",
        "/startups/nothing",
        "/startups/nothing.json",
        "/people/nobody",
        "/people/nobody.md",
        "/sectors/nothing",
        "/countries/zz",
        "/cities/nowhere",
        "/leaderboard.atom",
        "/alerts/nothing.atom",
        "/alerts/nothing.json",
        "/docs/nothing",
        "/sitemap-99.xml",
        "/reconcile/preview?id=nothing",
        "/data/latest/nothing.csv",
        "/.well-known/security.txt",
        "/.well-known/oauth-protected-resource",
        "/api/v3/nothing",
        "/api/v3/vcs/no-such-firm",
        "/api/nothing",
        "/v3/nothing.csv",
    ] {
        for accept in FORMS {
            let reply = client.send("GET", path, &[("accept", accept)]);
            // A client that accepts no JSON gets no JSON from the API, and no list either.
            assert!(matches!(reply.status, 404 | 406), "{path} ({accept}): {}", reply.status);
            check(path, accept, &reply);
        }
    }
    let near = client.get("/vcs/alder-capitl.json").json();
    assert_eq!((&near["code"], &near["did_you_mean"][0]), (&"not_found".into(), &"alder-capital".into()));
}

#[test]
fn invalid_values_are_refused_in_the_form_of_the_request() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for path in [
        "/rounds.atom?stage=x&country=DE",
        "/rounds/feed.json?stage=x",
        "/rounds.json?since=never",
        "/rounds.csv?since=never",
        "/rounds.md?min_amount_usd=many",
        "/api/v3/vcs?limit=x",
        "/api/v3/vcs.csv?stage=x",
    ] {
        for accept in FORMS {
            let reply = client.send("GET", path, &[("accept", accept)]);
            assert!(matches!(reply.status, 400 | 406), "{path} ({accept}): {} {}", reply.status, reply.text);
            check(path, accept, &reply);
        }
    }
    let refused = client.get("/rounds.csv?since=never").json();
    assert_eq!(refused["errors"][0]["parameter"], "since");
}

#[test]
fn a_private_service_refuses_strangers_in_the_form_of_the_request_on_every_route() {
    let server = Server::of_operator(Operator { access: Access::Key, sign_up: SignUp::Invite, ..Operator::default() });
    let stranger = without_redirects(server.anonymous());
    for (number, path) in all_paths(&server).into_iter().enumerate() {
        for accept in forms(number) {
            let reply = stranger.send("GET", &path, &[("accept", accept)]);
            match reply.status {
                303 => assert!(["/signin", "/account", "/", "/reset"].contains(&reply.header("location")), "{path}"),
                // A form says what is wrong with it, next to its fields.
                422 => {}
                400.. => check(&path, accept, &reply),
                _ => {}
            }
            assert!(reply.status != 303 || accept == BROWSER || path.contains("change-password"), "{path} ({accept})");
        }
    }
    // A key that a service for accounts does not take for pages.
    let server =
        Server::of_operator(Operator { access: Access::Accounts, sign_up: SignUp::Invite, ..Operator::default() });
    for path in ["/vcs", "/vcs.csv", "/rounds.atom", "/nothing"] {
        for accept in FORMS {
            let reply = server.client(Tier::Free).send("GET", path, &[("accept", accept)]);
            assert_eq!(reply.status, 403, "{path} ({accept})");
            check(path, accept, &reply);
        }
    }
    let closed = server.anonymous().send("GET", "/signup", &[("accept", "application/json")]);
    assert_eq!((closed.status, &closed.json()["code"]), (403, &"forbidden".into()));
}

#[test]
fn too_many_pages_are_refused_in_the_form_of_the_request_on_every_route() {
    let server = Server::allowing(1, 1);
    let client = without_redirects(server.anonymous());
    client.get("/docs");
    let mut refused = 0;
    for (number, path) in all_paths(&server).into_iter().enumerate() {
        for accept in forms(number) {
            let reply = client.send("GET", &path, &[("accept", accept)]);
            if reply.status == 429 {
                assert!(reply.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds > 0), "{path}");
                refused += 1;
            }
            if reply.status >= 400 && reply.status != 422 {
                check(&path, accept, &reply);
            }
        }
    }
    assert!(refused > 70 * forms(0).count(), "{refused}");
    assert_eq!(client.get("/vcs.json").json()["code"], "too_many_requests");
}

#[test]
fn a_body_that_is_too_large_or_of_another_type_is_refused_in_the_form_of_the_request() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let large = format!("\"{}\"", "x".repeat(3 << 20));
    for path in ["/resolve", "/api/v3/resolve", "/api/mcp"] {
        for accept in FORMS.into_iter().filter(|accept| path != "/api/mcp" || accept.contains("json")) {
            let reply = client.post_with(path, &large, &[("accept", accept)]);
            assert!(matches!(reply.status, 413 | 406), "{path} ({accept}): {}", reply.status);
            check(path, accept, &reply);
        }
    }
    for accept in FORMS {
        let reply = client.post_with("/signin", "{}", &[("accept", accept)]);
        assert_eq!(reply.status, 415, "{accept}");
        check("/signin", accept, &reply);
        let foreign = [("accept", accept), ("content-type", "application/x-www-form-urlencoded")];
        let reply = client.send("POST", "/signin", &foreign);
        assert_eq!(reply.status, 403, "{accept}");
        check("/signin", accept, &reply);
    }
}

#[test]
fn a_service_without_data_says_so_in_the_form_of_the_request() {
    let folder = tempfile::tempdir().unwrap();
    let index = folder.path().join("index");
    let words = ["--index", index.to_str().unwrap()];
    let server = Process::start(folder.path(), &words);
    let client = server.client("vdx_x");
    for path in ["/", "/vcs", "/vcs.csv", "/rounds.atom", "/vcs.json", "/signin", "/docs", "/api/v3/vcs", "/nothing"] {
        for accept in FORMS {
            let reply = client.send("GET", path, &[("accept", accept)]);
            assert_eq!(reply.status, 503, "{path} ({accept})");
            assert_eq!(reply.header("retry-after"), "5", "{path}");
            check(path, accept, &reply);
        }
    }
}

#[test]
fn whoever_opens_the_address_of_a_form_again_gets_to_its_page() {
    let server = Server::bundled();
    let mut browser = Browser::signed_up(&server, "ada@example.com");
    let mut found = 0;
    for (path, _) in site::all_paths() {
        let path = path
            .replace("{id}", "1")
            .replace("{key}", "1")
            .replace("{slug}", "x")
            .replace("{token}", "x")
            .replace("{version}", "2026-11-20.1");
        let plain = browser.send("GET", &path, &[("accept", "*/*")], &[]);
        if plain.status != 405 {
            continue;
        }
        found += 1;
        let reply = browser.send("GET", &path, &[("accept", BROWSER)], &[]);
        assert_eq!(reply.status, 303, "{path}: {}", reply.text);
        let page = browser.send("GET", reply.header("location"), &[("accept", BROWSER)], &[]);
        // Pages of operators do not exist for others.
        let is_there =
            matches!(page.status, 200 | 303) || path.starts_with("/admin") || path.starts_with("/account/saved");
        assert!(is_there, "{path} leads to {}: {}", reply.header("location"), page.status);
    }
    assert!(found > 15, "{found}");
    let location = |browser: &mut Browser, path| {
        browser.send("GET", path, &[("accept", BROWSER)], &[]).header("location").to_owned()
    };
    assert_eq!(location(&mut browser, "/account/keys"), "/account");
    assert_eq!(location(&mut browser, "/account/totp/setup"), "/account/totp");
    assert_eq!(location(&mut browser, "/signout"), "/");
    assert_eq!(location(&mut browser, "/admin/accounts/1/keys/1/revoke"), "/admin/accounts/1");
}

#[test]
fn parameters_that_a_page_or_its_twin_does_not_have_are_reported() {
    let server = Server::bundled();
    let client = server.anonymous();
    let catalog = server.state.releases.current();
    let slug = |table: data::Table| catalog.snapshot().slug(table, 0).to_owned();
    let (startup, person) = (slug(data::Table::Startups), slug(data::Table::People));
    let pages = [
        "/",
        "/vcs",
        "/startups",
        "/rounds",
        "/people",
        "/sectors",
        "/leaderboard",
        "/match",
        "/markets",
        "/sectors/fintech",
        "/countries/DE",
        "/cities/Berlin",
        "/compare",
        "/data",
        "/releases",
        "/resolve",
        "/vcs/alder-capital",
        "/vcs/alder-capital/reviews",
        &format!("/startups/{startup}"),
        &format!("/people/{person}"),
    ];
    for path in pages {
        let plain = client.get(path);
        assert!(!plain.text.contains("About this query"), "{path}");
        for _ in 0..2 {
            // The second answer is that of the cache.
            let reply = client.get(&format!("{path}?fo%3Co=1"));
            assert_eq!(reply.status, 200, "{path}");
            let page = parse(&reply.text);
            let notice = page.texts(".notice").join(" ");
            assert!(notice.contains("fo<o") || reply.header("x-warnings").contains("fo<o"), "{path}: {notice}");
            assert!(notice.contains("fo<o"), "{path}: {notice}");
        }
    }
    assert!(parse(&client.get("/compare?frim=a").text).texts(".notice").join(" ").contains("Did you mean “firm”?"));
    for path in ["/vcs.json", "/sectors.json", "/vcs/alder-capital.json", "/vcs/alder-capital/reviews.json"] {
        let warnings = &client.get(&format!("{path}?foo=1")).json()["meta"]["warnings"];
        assert_eq!(
            (&warnings[0]["code"], &warnings[0]["parameter"]),
            (&"unknown_parameter".into(), &"foo".into()),
            "{path}"
        );
    }
    for path in ["/vcs.md", "/vcs/alder-capital.md", "/people.md"] {
        assert!(client.get(&format!("{path}?foo=1")).text.contains("> unknown parameter"), "{path}");
    }
    for path in ["/vcs.csv", "/releases.atom", "/releases.json", "/suggest"] {
        let warnings = client.get(&format!("{path}?foo=1&q=a")).header("x-warnings").to_owned();
        assert!(warnings.contains("\"foo\""), "{path}: {warnings}");
    }
    assert_eq!(client.get("/suggest?q=a").header("x-warnings"), "");
    assert_eq!(client.get("/rounds.atom?foo=1").status, 400);
}

#[test]
fn forms_that_change_nothing_visible_redirect_so_that_reloading_sends_nothing_again() {
    let server = Server::bundled();
    server.state.auth.send_links_by(std::thread::current());
    let mut browser = Browser::at(&server);
    for path in ["/reset", "/signin/link"] {
        let reply = browser.post(path, &[("email", "ada@example.com")]);
        assert_eq!((reply.status, reply.header("location")), (303, format!("{path}?done=yes").as_str()));
        assert!(browser.get(&format!("{path}?done=yes")).text.contains("is on its way"));
    }
    let form = [("email", "ada@example.com"), ("password", PASSWORD)];
    assert_eq!(browser.post("/signup", &form).header("location"), "/account");
}
