//! The docs: pages without foreign resources, links and example requests that work, clients that work as described.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Instant;

use api::{MAX_LIMIT, MAX_PAID_LIMIT, Route, Version};
use auth::quota::Tier;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use catalog::params::{MAX_PARAMETERS, MAX_TEXT_CHARS, MAX_VALUES};
use data::Table;
use scraper::{ElementRef, Html};
use search::MAX_HITS;
use serde_json::{Value, json};
use service::{Access, Operator, ReviewAccess};
use site::CLIENTS;
use site::static_pages::StaticPages;
use transport::problem::Code;
use transport::server::Limits;

use crate::support::harness::{Server, catalog_of, copy_with_few_reviews, real_catalog, wants_all};
use crate::support::html::{Markup, parse, text_of};

fn pages() -> Vec<&'static str> {
    StaticPages::paths().filter(|path| path.starts_with("/docs") && !path.contains('.')).chain(["/"]).collect()
}

#[test]
fn the_documented_limits_are_the_actual_ones() {
    let page = parse(&Server::bundled().anonymous().get("/docs/limits").text);
    let rows = page.all("tr").into_iter().filter_map(|row| {
        let mut cells = row.texts("td").into_iter();
        Some((cells.next()?, cells.next()?))
    });
    let documented: BTreeMap<String, String> = rows.collect();
    let head = Limits::default().head_bytes;
    for (what, max) in [
        ("Records per page (limit)", MAX_LIMIT.to_string()),
        ("Records per page of v3, tiers pro and enterprise", "1,000".to_owned()),
        ("Values of a parameter", MAX_VALUES.to_string()),
        ("Parameters, including repeated ones", MAX_PARAMETERS.to_string()),
        ("Characters of a search text", MAX_TEXT_CHARS.to_string()),
        ("Records that a search ranks", "1,000 best matches (fewer for several words)".to_owned()),
        ("The URL", format!("{} KB", head / 4 * 3 / 1024)),
        ("The URL and all headers", format!("{} KB", head / 1024)),
    ] {
        assert_eq!(documented.get(what), Some(&max), "{what}: {documented:?}");
    }
    assert_eq!((MAX_HITS, MAX_PAID_LIMIT), (1_000, 1_000));
}

#[test]
fn every_page_loads_no_foreign_resource_and_its_links_work() {
    let reviews = ReviewAccess::Open;
    let server = Server::of_operator(Operator { reviews, ..Operator::default() });
    let client = server.anonymous();
    let mut anchors: BTreeSet<String> = BTreeSet::new();
    // With a page that has the link.
    let mut links: BTreeMap<String, String> = BTreeMap::new();
    for path in pages() {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'"), "{path}: {policy}");
        for forbidden in ["<script>", " style=", "<style", " onclick=", "javascript:", "@import"] {
            assert!(!reply.text.contains(forbidden), "{path} has {forbidden}");
        }
        let page = parse(&reply.text);
        for source in page.values("[src]", "src") {
            assert!(source.starts_with("/assets/"), "{path} loads {source}");
        }
        assert!(!reply.text.contains("{base}") && page.all("h1").len() == 1, "{path}");
        let ids = page.values("[id]", "id");
        let once: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), once.len(), "{path} has an anchor twice");
        anchors.extend(ids.iter().map(|id| format!("{path}#{id}")));
        for link in page.values("[href]", "href") {
            // The canonical address of the page is a whole one.
            let link = link.strip_prefix(client.base.as_str()).unwrap_or(link);
            let link = if link.starts_with('#') { format!("{path}{link}") } else { link.to_owned() };
            links.insert(link, path.to_owned());
        }
    }
    // Editors open these; a test of the page reads them.
    links.retain(|link, _| !["cursor:", "vscode:", "lmstudio:"].iter().any(|scheme| link.starts_with(scheme)));
    for (link, from) in &links {
        assert!(link.starts_with('/'), "{from} links to {link}");
        match link.split_once('#') {
            Some(_) => assert!(anchors.contains(link.as_str()), "{from} links to {link}, which does not exist"),
            None => assert_eq!(client.get(link).status, 200, "{from} links to {link}"),
        }
    }
}

#[test]
fn the_type_of_every_error_links_to_its_explanation() {
    let server = Server::bundled();
    let page = server.anonymous().get("/docs/errors").text;
    for code in Code::ALL {
        assert!(page.contains(&format!("id=\"{}\"", code.name())), "{}", code.name());
    }
}

#[test]
fn the_reference_of_older_versions_shows_every_endpoint_and_parameter() {
    let server = Server::bundled();
    for version in [Version::V1, Version::V2] {
        let page = parse(&server.anonymous().get(&format!("/docs/reference/{}", version.segment())).text);
        for endpoint in Route::all(version) {
            let heading = page.first(&format!("h3[id='{}']", endpoint.operation));
            let below = heading.next_siblings().filter_map(ElementRef::wrap);
            let below: Vec<ElementRef<'_>> = below.take_while(|part| part.value().name() != "h3").collect();
            let codes: BTreeSet<String> = below.iter().flat_map(|part| part.texts("code")).collect();
            let path = format!("/api/{}/{}", version.segment(), endpoint.path);
            assert!(codes.contains(&path), "{path}: {codes:?}");
            for name in endpoint.parameters(version) {
                assert!(codes.contains(name), "{path}: {name}");
            }
            let mut texts = below.iter().map(|part| text_of(*part));
            assert!(texts.any(|text| text.starts_with("{\n  \"data\": ")), "{path} has no example");
        }
        assert!(page.find("h3#list_vc_people").is_none());
    }
}

/// The addresses of the requests with curl on a page that send a key and only read.
fn curl_requests(page: &Html) -> Vec<String> {
    let mut requests = Vec::new();
    for code in page.texts("pre") {
        let code = format!("\n{code}");
        requests.extend(code.split("\ncurl ").skip(1).filter_map(|rest| curl_request(&shell_words(rest))));
    }
    requests
}

fn curl_request(words: &[String]) -> Option<String> {
    let (mut url, mut query, mut sends_key) = (None, form_urlencoded::Serializer::new(String::new()), false);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-G" => {}
            "-H" => sends_key |= words.next()? == "Authorization: Bearer $VENTUREDEX_KEY",
            // What `-d` sends needs no encoding, which `--data-urlencode` adds.
            "-d" | "--data-urlencode" => {
                let (name, value) = words.next()?.split_once('=')?;
                query.append_pair(name, value);
            }
            option if option.starts_with('-') => return None,
            word => url = Some(word.to_owned()),
        }
    }
    let (url, query) = (url.filter(|_| sends_key)?, query.finish());
    Some(if query.is_empty() { url } else { format!("{url}?{query}") })
}

/// The words of the first command of a shell.
fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (quote, char) {
            (Some(end), char) if char == end => quote = None,
            (None, '\'' | '"') => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (None, '\\') => {
                let escaped = chars.next().filter(|char| *char != '\n');
                escaped.into_iter().for_each(|char| word.get_or_insert_default().push(char));
            }
            (None, '\n') => break,
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

/// Sends every example request of the docs to the server that serves them.
fn send_requests_of_docs(server: &Server) {
    let client = server.account_client(Tier::Enterprise);
    let mut sent = 0;
    for path in pages() {
        let page = parse(&client.get(path).text);
        // Operators send some to servers on their own machines.
        for url in curl_requests(&page).into_iter().filter(|url| !url.starts_with("http://127.0.0.1:808")) {
            let request = url.strip_prefix(&client.base).unwrap_or_else(|| panic!("{path}: {url}"));
            let reply = client.get(request);
            // Data without reviews has none to show.
            if request.ends_with("/reviews/some-review") {
                assert_eq!(
                    (reply.status, client.list("/api/v3/reviews", &[]).json()["data"].clone()),
                    (404, json!([]))
                );
                continue;
            }
            assert_eq!(reply.status, 200, "{path}: {request}: {}", reply.text);
            // A common word may match more names than a search returns, the list of a record may be empty, and a field may
            // be unknown for most records; any other warning is a fault of the example.
            let meta = &reply.json()["meta"];
            let mut warnings = meta["warnings"].as_array().into_iter().flatten();
            let usual = ["total_capped", "no_match", "low_coverage"];
            // Sums and stages are of all rounds, and records of names like one may be the same.
            let is_usual = |warning: &Value| {
                usual.iter().any(|code| warning["code"] == *code)
                    || ["min_raised_usd", "stage", "q"].iter().any(|parameter| warning["parameter"] == *parameter)
            };
            assert!(warnings.all(is_usual), "{path}: {request}: {meta}");
            let searches = request.contains("?q=") && reply.json()["data"].as_array().is_some_and(Vec::is_empty);
            assert!(!searches, "{path}: {request} finds nothing");
            sent += 1;
        }
    }
    assert!(sent > 30, "{sent} requests were found");
}

#[test]
fn the_requests_in_the_docs_work() {
    send_requests_of_docs(&Server::bundled());
}

#[test]
fn the_requests_in_the_docs_work_with_real_data() {
    let Some(catalog) = real_catalog() else { return };
    send_requests_of_docs(&Server::of(catalog));
}

#[test]
fn the_requests_in_the_docs_name_records_of_the_release_that_is_served() {
    let server = Server::bundled();
    let first = server.state.releases.current().snapshot().slug(Table::Firms, 0).to_owned();
    let visitor = server.anonymous();
    let path = format!("/api/v3/vcs/{first} ");
    assert!(visitor.get("/docs/reference/get_vc").text.contains(&path));
    let folder = copy_with_few_reviews("2026-11-20.9");
    for entry in fs::read_dir(folder.path()).unwrap() {
        let file = entry.unwrap().path();
        fs::write(&file, fs::read_to_string(&file).unwrap().replace(&first, "another-slug")).unwrap();
    }
    server.state.releases.replace(Arc::new(catalog_of(folder.path())));
    let page = visitor.get("/docs/reference/get_vc").text;
    assert!(!page.contains(&path) && page.contains("/api/v3/vcs/another-slug "));
}

#[test]
fn links_to_editors_have_the_address_of_the_endpoint() {
    let page = Server::named("https://venturedex.example").anonymous().get("/docs/mcp").text;
    let parsed = parse(&page);
    let links = parsed.links();
    let parameters = |start: &str| {
        let query = links.iter().find_map(|link| link.strip_prefix(start)).unwrap();
        form_urlencoded::parse(query.as_bytes()).into_owned().collect::<Vec<(String, String)>>()
    };
    let url = "https://venturedex.example/api/mcp";
    for start in ["cursor://anysphere.cursor-deeplink/mcp/install?", "lmstudio://add_mcp?"] {
        let named = parameters(start);
        assert_eq!(named[0], ("name".to_owned(), "venturedex".to_owned()));
        let config = BASE64_STANDARD.decode(&named[1].1).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&config).unwrap(), json!({ "url": url }));
    }
    // One text without a name.
    let code: Value = serde_json::from_str(&parameters("vscode:mcp/install?")[0].0).unwrap();
    assert_eq!(code, json!({ "name": "venturedex", "type": "http", "url": url }));
    assert!(page.contains(&format!("claude mcp add --transport http venturedex {url}<")));
}

#[test]
fn links_to_editors_ask_for_the_key_of_a_private_service() {
    let server = Server::of_operator(Operator { access: Access::Key, ..Operator::default() });
    let page = parse(&server.account_client(Tier::Free).get("/docs/mcp").text);
    let links = page.links();
    let query = links.iter().find_map(|link| link.strip_prefix("vscode:mcp/install?")).unwrap();
    let (text, _) = form_urlencoded::parse(query.as_bytes()).next().unwrap();
    let code: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(code["headers"], json!({ "Authorization": "Bearer ${input:key}" }));
    assert_eq!((&code["inputs"][0]["id"], &code["inputs"][0]["password"]), (&json!("key"), &json!(true)));
    let cursor = links.iter().find_map(|link| link.strip_prefix("cursor://anysphere.cursor-deeplink/mcp/install?"));
    let config = form_urlencoded::parse(cursor.unwrap().as_bytes()).last().unwrap().1.into_owned();
    let config: Value = serde_json::from_slice(&BASE64_STANDARD.decode(config).unwrap()).unwrap();
    assert_eq!(config["headers"]["Authorization"], "Bearer ${env:VENTUREDEX_KEY}");
}

/// Whether a program is installed. If not, its test is skipped, or fails if all tests must run.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        assert!(!wants_all(), "`{program}` is not installed, but VENTUREDEX_TEST_ALL=1 requires it");
        eprintln!("skipped: `{program}` is not installed");
    }
    found
}

/// The slugs or ids that a client printed, in order.
fn names(printed: &[u8]) -> Vec<String> {
    let lines = std::str::from_utf8(printed).unwrap().lines();
    let records =
        lines.map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    records.map(|record| record.get("slug").or(record.get("id")).unwrap().as_str().unwrap().to_owned()).collect()
}

/// Runs a client as the docs say and compares what it prints with the list.
fn run(server: &Server, mut command: Command) {
    let client = server.client(Tier::Enterprise);
    command.env("VENTUREDEX_URL", &client.base).env("VENTUREDEX_KEY", client.key.as_deref().unwrap());
    let with = |arguments: &[&str]| {
        let mut again = Command::new(command.get_program());
        again.args(command.get_args()).args(arguments);
        again.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        again.output().unwrap()
    };
    let output = with(&["vcs", "stage=seed&country=DE"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names(&output.stdout), client.get("/api/v3/vcs?stage=seed&country=DE&limit=100").slugs());
    let output = with(&["funding-rounds", "sort=amount_usd"]);
    let printed = names(&output.stdout);
    let total = client.get("/api/v3/funding-rounds?limit=1").json()["pagination"]["total"].as_u64().unwrap();
    assert_eq!(printed.len() as u64, total);
    assert_eq!(printed.iter().collect::<BTreeSet<_>>().len() as u64, total, "a record was printed twice");
    let output = with(&["vcs", "sector=fintec"]);
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("unknown_value") && error.contains("did you mean `fintech`"), "{error}");
}

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/site/docs/clients");
    assert!(
        CLIENTS
            .iter()
            .any(|client| client.file == name && client.code == fs::read_to_string(folder.join(name)).unwrap())
    );
    folder.join(name)
}

fn interpreter(program: &str, name: &str) -> Command {
    let mut command = Command::new(program);
    // Under `faketime`, which is preloaded, `time.sleep` of Python fails; the date of a client does not matter.
    command.arg(file(name)).env_remove("LD_PRELOAD");
    command
}

#[test]
fn the_client_with_curl_pages_through_everything() {
    if has("curl") && has("jq") {
        run(&Server::bundled(), interpreter("sh", "page_through.sh"));
    }
}

#[test]
fn the_client_in_python_pages_through_everything() {
    if has("python3") {
        run(&Server::bundled(), interpreter("python3", "page_through.py"));
    }
}

#[test]
fn the_client_in_javascript_pages_through_everything() {
    if has("node") {
        run(&Server::bundled(), interpreter("node", "page_through.mjs"));
    }
}

/// The Rust client, compiled unchanged by `cargo test`.
fn compiled() -> Option<Command> {
    let programs = Path::new(env!("CARGO_BIN_EXE_venturedex")).parent().unwrap();
    let program = programs.join("examples").join(format!("page_through{}", std::env::consts::EXE_SUFFIX));
    assert!(file("page_through.rs").is_file());
    if !program.is_file() {
        assert!(!wants_all(), "{} is missing; `cargo test` without `--test` builds it", program.display());
        eprintln!("skipped: {} is built by `cargo test` without `--test`", program.display());
        return None;
    }
    Some(Command::new(program))
}

#[test]
fn the_client_in_rust_pages_through_everything() {
    if let Some(command) = compiled() {
        run(&Server::bundled(), command);
    }
}

/// Sends the given responses, one per connection, and returns the first line of each request.
fn scripted(responses: Vec<String>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut requests = Vec::new();
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            requests.push(lines.next().unwrap_or_default());
            while lines.next().is_some_and(|line| !line.is_empty()) {}
            stream.write_all(response.as_bytes()).unwrap();
        }
        requests
    });
    (address, thread)
}

fn response(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn clients_wait_for_retry_after_and_restart_if_a_cursor_has_expired() {
    let page = |rows: &str, cursor: &str| {
        let body = format!(r#"{{"data":[{rows}],"pagination":{{"next_cursor":{cursor}}}}}"#);
        response("200 OK", "", &body)
    };
    let problem = |status: u16, code: &str| format!(r#"{{"status":{status},"code":"{code}","detail":"x"}}"#);
    let responses = vec![
        page(r#"{"slug":"a"},{"slug":"b"}"#, "\"one\""),
        response("429 Too Many Requests", "retry-after: 1\r\n", &problem(429, "quota_exceeded")),
        response("503 Service Unavailable", "Retry-After: 1\r\n", &problem(503, "overloaded")),
        response("410 Gone", "", &problem(410, "cursor_expired")),
        page(r#"{"slug":"b"},{"slug":"c"}"#, "\"two\""),
        page(r#"{"slug":"d"}"#, "null"),
    ];
    let mut commands = Vec::new();
    if has("curl") && has("jq") {
        commands.push(interpreter("sh", "page_through.sh"));
    }
    if has("python3") {
        commands.push(interpreter("python3", "page_through.py"));
    }
    if has("node") {
        commands.push(interpreter("node", "page_through.mjs"));
    }
    commands.extend(compiled());
    // They wait at the same time.
    let check = |mut command: Command| {
        let (address, thread) = scripted(responses.clone());
        let began = Instant::now();
        let output = command.arg("vcs").env("VENTUREDEX_URL", address).env("VENTUREDEX_KEY", "vdx_x").output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(names(&output.stdout), ["a", "b", "c", "d"], "{command:?}");
        assert!(began.elapsed().as_millis() >= 2_000, "{command:?} did not wait");
        let requests = thread.join().unwrap();
        let cursors: Vec<&str> = requests
            .iter()
            .map(|line| line.split("cursor=").nth(1).map_or("", |rest| rest.split(['&', ' ']).next().unwrap()))
            .collect();
        assert_eq!(cursors, ["", "one", "one", "one", "", "two"], "{command:?}");
        // A client reports a quota that resets in hours instead of waiting for it.
        let long = response("429 Too Many Requests", "Retry-After: 40000\r\n", &problem(429, "quota_exceeded"));
        let (address, thread) = scripted(vec![long]);
        let output = command.env("VENTUREDEX_URL", address).output().unwrap();
        assert!(!output.status.success() && !output.stderr.is_empty(), "{command:?}");
        thread.join().unwrap();
    };
    std::thread::scope(|scope| {
        for command in commands {
            scope.spawn(|| check(command));
        }
    });
}

#[test]
fn the_files_of_the_clients_equal_the_page() {
    let server = Server::bundled();
    let shown = parse(&server.anonymous().get("/docs/clients").text).texts("pre");
    for client in &CLIENTS {
        let file = server.anonymous().get(&format!("/docs/clients/{}", client.file));
        assert_eq!((file.header("content-type"), file.text.as_str()), ("text/plain; charset=utf-8", client.code));
        assert!(shown.iter().any(|code| code == client.code.trim()), "{}", client.file);
    }
}
