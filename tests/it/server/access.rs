//! Private services: what strangers get on every route, whom a key or a session lets in, invitations, licenses, limits of 0.

use std::process::Stdio;

use api::{Route, Version};
use auth::quota::Tier;
use data::Table;
use mcp::McpPath;
use serde_json::Value;
use service::{Access, Operator, SignUp};
use site::static_pages::StaticPages;

use crate::commands::backup::{indexer, text};
use crate::support::browser::{Browser, PASSWORD};
use crate::support::harness::{Client, Reply, Server, agent_without_redirects, code, one_of};
use crate::support::installation::small;
use crate::support::program::{Process, command, run};

/// What a private service shows to everybody: sign-in, health, files without data, and the texts that the law asks for.
const OPEN: [&str; 28] = [
    "/signup",
    "/signin",
    "/signin/code",
    "/signin/link",
    "/signin/open",
    "/signout",
    "/invitation",
    "/verify",
    "/reset",
    "/reset/password",
    "/theme",
    "/healthz",
    "/readyz",
    "/.well-known/security.txt",
    "/.well-known/change-password",
    "/.well-known/oauth-protected-resource",
    "/.well-known/oauth-protected-resource/api/mcp",
    "/docs/privacy",
    "/robots.txt",
    "/opensearch.xml",
    "/favicon.svg",
    "/favicon.ico",
    "/assets/style.css",
    "/assets/page.js",
    "/assets/inter-4.1.woff2",
    "/assets/docs.css",
    "/assets/playground.js",
    // Feeds of alerts, whose addresses are secrets.
    "/alerts/",
];

fn private(access: Access, sign_up: SignUp) -> Server {
    Server::of_operator(Operator { access, sign_up, ..Operator::default() })
}

/// Every path of the service, with records that exist in place of the placeholders.
pub(super) fn all_paths(server: &Server) -> Vec<String> {
    let catalog = server.state.releases.current();
    let version = catalog.version().to_string();
    let slug = |table: Table| catalog.snapshot().slug(table, 0).to_owned();
    let mut paths: Vec<String> = StaticPages::paths().map(str::to_owned).collect();
    for (path, twins) in site::all_paths() {
        let table = match path.trim_start_matches("/embed") {
            page if page.starts_with("/startups") => Table::Startups,
            page if page.starts_with("/people") => Table::People,
            page if page.starts_with("/sectors") => Table::Sectors,
            _ => Table::Firms,
        };
        let values = [
            ("{slug}", &*slug(table)),
            ("{code}", "DE"),
            ("{name}", "Berlin"),
            ("{stage}", "seed"),
            ("{version}", &*version),
        ];
        let numbers = [("{id}", "1"), ("{key}", "1"), ("{number}", "1"), ("{token}", "1-c2VjcmV0")];
        let path =
            values.into_iter().chain(numbers).fold(path.to_owned(), |path, (name, text)| path.replace(name, text));
        assert!(!path.contains('{'), "{path}");
        paths.extend(twins.iter().map(|twin| format!("{path}{twin}")));
        paths.push(path);
    }
    for version in Version::ALL {
        for route in Route::all(version) {
            let path = route.path_of(&slug(route.subject()));
            for base in ["/api/", "/"] {
                let path = format!("{base}{}/{path}", version.segment());
                paths.extend(["", ".csv", ".ndjson"].map(|format| format!("{path}{format}")));
            }
        }
    }
    for path in [McpPath::Endpoint, McpPath::Manifest, McpPath::Card, McpPath::Index, McpPath::Resource] {
        // A further path belongs into the list above.
        match path {
            McpPath::Endpoint | McpPath::Manifest | McpPath::Card | McpPath::Index | McpPath::Resource => {}
        }
        paths.push(path.label().to_owned());
    }
    paths.extend(["/data/latest/vcs.csv.gz".to_owned(), "/data/2026-01-01.1/vcs.parquet".to_owned()]);
    let others = [
        "/healthz",
        "/readyz",
        "/.well-known/security.txt",
        "/.well-known/change-password",
        "/.well-known/mcp/server-card.json",
        "/.well-known/oauth-protected-resource",
        "/api",
        "/api/v9/vcs",
        "/nothing",
        "/vcs.xml",
        "/vcs?limit=x",
        "/vcs.json?q=alder",
        "/vcs/no-such-firm",
    ];
    paths.extend(others.map(str::to_owned));
    paths
}

/// Names and numbers that only the data has.
fn secrets(server: &Server) -> Vec<String> {
    let catalog = server.state.releases.current();
    let snapshot = catalog.snapshot();
    let names = [Table::Firms, Table::Startups, Table::People]
        .into_iter()
        .flat_map(|table| (0..20).map(move |row| (table, row)))
        .map(|(table, row)| snapshot.name(table, row).to_owned());
    names.chain([snapshot.title().to_owned(), snapshot.version().to_string()]).collect()
}

fn without_redirects(client: Client) -> Client {
    Client { agent: agent_without_redirects(), ..client }
}

#[test]
fn a_stranger_of_a_private_service_finds_only_sign_in_health_and_legal_texts_on_every_route() {
    const REQUESTS: [(&str, &str); 7] = [
        ("GET", "*/*"),
        ("HEAD", "*/*"),
        ("GET", "text/html"),
        ("GET", "application/json"),
        ("POST", "*/*"),
        ("POST", "text/html"),
        ("PUT", "*/*"),
    ];
    for (turn, access) in [Access::Key, Access::Accounts].into_iter().enumerate() {
        let server = private(access, SignUp::Invite);
        let (stranger, secrets) = (without_redirects(server.anonymous()), secrets(&server));
        let mut refused = 0;
        for (number, path) in all_paths(&server).into_iter().enumerate() {
            let is_open = OPEN.contains(&&*path) || path.starts_with("/alerts/");
            // The gate makes a quarter of the requests of a path with each access, of the next path another one.
            for (method, accept) in REQUESTS.into_iter().skip((number + 2 * turn) % one_of(4)).step_by(one_of(4)) {
                let reply = stranger.send(method, &path, &[("accept", accept)]);
                let what = || format!("{access} {method} {path} ({accept}): {} {}", reply.status, reply.text);
                let is_readiness = path == "/readyz";
                let headers = reply.headers.values().filter_map(|value| value.to_str().ok());
                let answer = headers.chain([reply.text.as_str()]).collect::<Vec<_>>().join("\n");
                for secret in secrets.iter().filter(|secret| !is_readiness && !path.contains(secret.as_str())) {
                    assert!(!answer.contains(secret.as_str()), "{}\n{secret}", what());
                }
                assert!(!reply.header("cache-control").contains("public"), "{}", what());
                if is_open {
                    continue;
                }
                refused += 1;
                let is_to_sign_in = reply.status == 303 && reply.header("location") == "/signin";
                let is_refused = match reply.status {
                    401 => reply.header("www-authenticate").starts_with("Bearer"),
                    // Methods, media types and paths of programs are checked before the key; a body is not read.
                    400 | 404 | 405 | 415 | 431 => path.starts_with("/api") || path.starts_with("/v"),
                    _ => is_to_sign_in && accept == "text/html",
                };
                assert!(is_refused, "{}", what());
            }
        }
        assert!(refused > 2_000 / one_of(4), "{refused}");
        let documented = server.anonymous();
        for path in OPEN.iter().filter(|path| path.starts_with("/assets") || path.starts_with("/docs")) {
            assert_eq!(documented.get(path).status, 200, "{path}");
        }
        assert_eq!(documented.get("/robots.txt").text, "User-agent: *\nDisallow: /\n");
        // The sign-in page leads nowhere else.
        let page = documented.get("/signin").text;
        for link in ["/vcs", "/leaderboard", "/signup", "/docs/mcp", "/opensearch.xml", "/rounds.atom"] {
            assert!(!page.contains(&format!("href=\"{link}\"")), "{link}: {page}");
        }
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

#[test]
fn a_key_opens_pages_files_and_tools_and_its_answers_stay_out_of_shared_caches() {
    let server = private(Access::Key, SignUp::Invite);
    let client = server.client(Tier::Free);
    for path in
        ["/", "/vcs", "/vcs.json", "/vcs.csv", "/rounds.atom", "/vcs/alder-capital.png", "/docs", "/suggest?q=a"]
    {
        let reply = client.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
        assert!(!reply.header("cache-control").contains("public"), "{path}: {}", reply.header("cache-control"));
    }
    assert_eq!(client.get("/vcs/no-such-firm.json").status, 404);
    assert_eq!(client.get("/nothing").status, 404);
    assert_eq!(client.post("/api/mcp", INITIALIZE).status, 200);
    let wrong = Client { key: Some("vdx_0123456789012345678901234567890123450".to_owned()), ..client.clone() };
    let refused = wrong.send("GET", "/vcs", &[("accept", "text/html")]);
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer"), "{}", refused.text);
    assert_eq!(code(&wrong.get("/vcs")).0, 401);
}

#[test]
fn on_a_service_for_accounts_a_key_opens_the_api_and_tools_but_no_page() {
    let server = private(Access::Accounts, SignUp::Open);
    let client = server.client(Tier::Free);
    for path in ["/", "/vcs.json", "/rounds.atom", "/resolve", "/docs"] {
        let refused = client.get(path);
        assert_eq!(code(&refused), (403, "account_required".to_owned()), "{path}");
    }
    assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
    assert_eq!(client.post("/api/mcp", INITIALIZE).status, 200);
    // There are no bulk files in the bundled snapshot.
    assert_eq!(code(&client.get("/data/latest/vcs.parquet")), (404, "not_found".to_owned()));

    let mut browser = Browser::signed_up(&server, "ada@example.com");
    for path in ["/", "/vcs", "/vcs.json", "/rounds.atom", "/docs"] {
        let reply = browser.send("GET", path, &[], &[]);
        assert_eq!(reply.status, 200, "{path}: {}", reply.text);
    }
    assert!(browser.send("GET", "/vcs", &[], &[]).text.contains("href=\"/startups\""), "the menu is there");
    browser.post("/signout", &[]);
    assert_eq!(browser.send("GET", "/vcs.json", &[], &[]).status, 401);
}

#[test]
fn sign_in_returns_to_the_page_that_was_requested_and_to_no_other_host() {
    let server = private(Access::Accounts, SignUp::Open);
    Browser::signed_up(&server, "ada@example.com");
    let signed_in = |path: &str| {
        let mut browser = Browser::at(&server);
        let refused = browser.send("GET", path, &[("accept", "text/html")], &[]);
        assert_eq!((refused.status, refused.header("location")), (303, "/signin"), "{path}");
        let reply = browser.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
        assert_eq!(reply.status, 303);
        reply.header("location").to_owned()
    };
    assert_eq!(signed_in("/vcs?stage=seed"), "/vcs?stage=seed");
    assert_eq!(signed_in("/docs/search"), "/docs/search");
    assert_eq!(signed_in("/no-such-page"), "/account");
    assert_eq!(signed_in("//example.com/vcs"), "/account");
}

#[test]
fn clients_of_a_private_mcp_endpoint_learn_how_to_send_a_key() {
    let server = private(Access::Key, SignUp::Invite);
    let stranger = server.anonymous();
    let base = format!("http://{}", server.address);
    let metadata = format!("{base}/.well-known/oauth-protected-resource/api/mcp");
    for message in [INITIALIZE, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#] {
        let refused = stranger.post("/api/mcp", message);
        assert_eq!(refused.status, 401, "{}", refused.text);
        assert_eq!(refused.header("www-authenticate"), format!("Bearer resource_metadata=\"{metadata}\""));
        assert_eq!(refused.json()["error"]["data"]["code"], "missing_api_key");
    }
    let invalid = Client { key: Some("vdx_x".to_owned()), ..stranger.clone() }.post("/api/mcp", INITIALIZE);
    assert!(invalid.header("www-authenticate").ends_with("error=\"invalid_token\""), "{:?}", invalid.headers);
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/api/mcp"] {
        let described = stranger.get(path);
        assert_eq!((described.status, described.header("access-control-allow-origin")), (200, "*"));
        let described = described.json();
        assert_eq!(described["resource"], format!("{base}/api/mcp"));
        assert_eq!(described["bearer_methods_supported"], serde_json::json!(["header"]));
    }
    let manifest = server.client(Tier::Free).get("/api/mcp/.well-known").json();
    assert_eq!(manifest["authentication"]["required"], true);

    let server = Server::bundled();
    let open = server.anonymous();
    assert_eq!(open.get("/.well-known/oauth-protected-resource").status, 404);
    assert_eq!(open.post("/api/mcp", INITIALIZE).status, 200);
}

fn link_of(reply: &Value, base: &str) -> String {
    let link = reply["link"].as_str().unwrap();
    link.strip_prefix(base).unwrap_or_else(|| panic!("{link}")).to_owned()
}

fn invite(server: &Server, email: &str) -> Value {
    let ended = run(
        server.data(),
        &["account", "--json", "invite", "--email", email, "--public-url", "https://vd.example"],
        "",
    );
    serde_json::from_str(&ended.ok()).unwrap()
}

fn choose(browser: &mut Browser, link: &str, password: &str) -> Reply {
    let token = link.split_once("token=").unwrap().1;
    browser.post("/invitation", &[("token", token), ("new", password)])
}

#[test]
fn whoever_has_an_invitation_chooses_a_password_once_and_nobody_else_signs_up() {
    let server = private(Access::Accounts, SignUp::Invite);
    let mut browser = Browser::at(&server);
    let closed = browser.get("/signup");
    assert!(closed.status == 403 && closed.text.contains("by invitation"), "{}", closed.text);
    let form = [("email", "eve@example.com"), ("password", PASSWORD)];
    assert_eq!(browser.post("/signup", &form).status, 403);

    let invited = invite(&server, "ada@example.com");
    assert_eq!((&invited["email"], &invited["verified_at"]), (&"ada@example.com".into(), &Value::Null));
    let earlier = link_of(&invited, "https://vd.example");
    let link = link_of(&invite(&server, "ada@example.com"), "https://vd.example");
    assert_eq!(choose(&mut browser, &earlier, PASSWORD).status, 422, "the later link replaces it");
    let page = browser.get(&link);
    assert!(page.status == 200 && page.text.contains("ada@example.com"), "{}", page.text);
    assert_eq!(choose(&mut browser, &link, "short").status, 422);
    let reply = choose(&mut browser, &link, PASSWORD);
    assert_eq!((reply.status, reply.header("location")), (303, "/signin"), "{}", reply.text);
    assert_eq!(choose(&mut browser, &link, "seven quiet larks").status, 422, "it is used up");
    assert_eq!(browser.get(&link).status, 422);

    browser.post("/signin", &[("email", "ada@example.com"), ("password", PASSWORD)]);
    assert_eq!(browser.send("GET", "/vcs", &[], &[]).status, 200);
    assert!(!browser.get("/account").text.contains("is not verified"));
    let again = run(server.data(), &["account", "invite", "--email", "ada@example.com"], "");
    assert!(again.code == Some(1) && again.err.contains("ada@example.com"), "{}", again.err);
}

#[test]
fn without_sign_up_not_even_an_invitation_is_accepted() {
    let server = private(Access::Open, SignUp::Off);
    let link = link_of(&invite(&server, "ada@example.com"), "https://vd.example");
    let mut browser = Browser::at(&server);
    for path in ["/signup", &link] {
        let refused = browser.get(path);
        assert!(refused.status == 403 && refused.text.contains("does not offer sign-up"), "{}", refused.text);
    }
    assert_eq!(choose(&mut browser, &link, PASSWORD).status, 403);
    assert!(!server.anonymous().get("/vcs").text.contains("/signup"));
    assert!(Server::bundled().anonymous().get("/vcs").text.contains("/signup"));
}

#[test]
fn data_that_is_not_known_to_be_public_is_not_shown_to_other_machines_unless_the_operator_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let (data, index) = (folder.path().join("data"), folder.path().join("index"));
    indexer(&["build", "--dataset", text(&small()), "--index", text(&index), "--license", "LicenseRef-Own"]);
    let words = ["--index", text(&index), "--listen", "0.0.0.0:0"];
    for refused in [&[][..], &["--access", "key", "--sign-up", "open"], &["--sign-up", "off"]] {
        let output = command(&data, &[&words, refused].concat()).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{refused:?}: {err}");
        assert!(err.contains("`LicenseRef-Own`") && err.contains("--access") && err.contains("--may-publish"), "{err}");
    }
    let start = |words: &[&str]| Process::spawn(&mut command(&data, words), Stdio::inherit());
    for accepted in [&["--access", "accounts"][..], &["--access", "key"], &["--may-publish", "on"]] {
        start(&[&words, accepted].concat()).kill();
    }
    start(&["--index", text(&index), "--listen", "127.0.0.1:0"]).kill();

    let doctor = run(&data, &[&["doctor"], &words[..]].concat(), "").out;
    assert!(doctor.lines().any(|line| line.starts_with("PROBLEM") && line.contains("index.license")), "{doctor}");
    let doctor = run(&data, &[&["doctor", "--access", "key", "--sign-up", "open"], &words[..]].concat(), "").out;
    assert!(doctor.lines().any(|line| line.starts_with("warning") && line.contains("settings.access")), "{doctor}");
}

#[test]
fn a_limit_of_0_means_none() {
    let data = tempfile::tempdir().unwrap();
    let settings = ["--mcp-daily-limit", "0", "--pages-per-minute", "0", "--sign-ups-per-hour", "0"];
    let server = Process::start(data.path(), &settings);
    let stranger = Client { key: None, ..server.client("") };
    for path in ["/", "/vcs.json", "/signup", "/docs"] {
        assert_eq!(code(&stranger.get(path)), (404, "unknown_route".to_owned()), "{path}");
    }
    assert_eq!(stranger.get("/healthz").status, 200);
    assert_eq!(stranger.post("/api/mcp", INITIALIZE).status, 200);
    let call =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_platform_stats","arguments":{}}}"#;
    let refused = stranger.post("/api/mcp", call);
    assert_eq!((refused.status, &refused.json()["error"]["data"]["code"]), (401, &"missing_api_key".into()));
    assert!(refused.header("www-authenticate").contains("resource_metadata"), "{:?}", refused.headers);

    run(data.path(), &["account", "create", "--email", "ada@example.com"], "").ok();
    let key = run(data.path(), &["key", "create", "--email", "ada@example.com", "--name", "first"], "").ok();
    let client = server.client(key.trim());
    assert_eq!(client.get("/api/v3/vcs?limit=1").status, 200);
    assert_eq!(client.post("/api/mcp", call).status, 200);
}
