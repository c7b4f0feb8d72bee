//! The docs: pages that load nothing from elsewhere, links that lead somewhere, clients that do what they say.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;
use venturedex::api::{MAX_LIMIT, Route, Version};
use venturedex::catalog::param_schema::{LONGEST_TEXT, MOST_PARAMETERS, MOST_VALUES};
use venturedex::http::problem::Code;
use venturedex::http::server::Limits;
use venturedex::quota::Tier;
use venturedex::search::MAX_HITS;
use venturedex::site::CLIENTS;
use venturedex::site::static_pages::StaticPages;

use crate::harness::{Server, wants_all};

/// The values of an attribute in a page.
fn attributes<'p>(page: &'p str, name: &str) -> Vec<&'p str> {
    let start = format!(" {name}=\"");
    page.split(start.as_str()).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

fn pages() -> Vec<&'static str> {
    StaticPages::paths().filter(|path| path.starts_with("/docs") && !path.contains('.')).chain(["/"]).collect()
}

#[test]
fn the_limits_that_are_told_are_those_that_hold() {
    let page = Server::bundled().anonymous().get("/docs/limits").text;
    let rows = page.split("<tr>").filter_map(|row| {
        let mut cells = row.split("<td>").skip(1).map(|cell| cell.split("</td>").next().unwrap_or_default());
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    });
    let told: std::collections::BTreeMap<String, String> = rows.collect();
    let head = Limits::default().head_bytes;
    for (what, most) in [
        ("Records a page (<code>limit</code>)", MAX_LIMIT.to_string()),
        ("Values of a parameter", MOST_VALUES.to_string()),
        ("Parameters, repeated ones counted each time", MOST_PARAMETERS.to_string()),
        ("Characters of a name that is searched for", LONGEST_TEXT.to_string()),
        ("Records that a search finds", "1,000, the best (fewer for several words)".to_owned()),
        ("The address", format!("{} KB", head / 4 * 3 / 1024)),
        ("The address and all headers", format!("{} KB", head / 1024)),
    ] {
        assert_eq!(told.get(what), Some(&most), "{what}: {told:?}");
    }
    assert_eq!(MAX_HITS, 1_000);
}

#[test]
fn every_page_loads_nothing_from_elsewhere_and_links_to_what_is_there() {
    let server = Server::bundled();
    let client = server.anonymous();
    let mut anchors: BTreeSet<String> = BTreeSet::new();
    let mut links: BTreeSet<(String, String)> = BTreeSet::new();
    for path in pages() {
        let reply = client.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        let policy = reply.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'self'"), "{path}: {policy}");
        for forbidden in ["<script>", " style=", "<style", " onclick=", "javascript:", "@import"] {
            assert!(!reply.text.contains(forbidden), "{path} has {forbidden}");
        }
        for source in attributes(&reply.text, "src") {
            assert!(source.starts_with("/assets/"), "{path} loads {source}");
        }
        assert!(!reply.text.contains("{base}") && reply.text.matches("<h1>").count() == 1, "{path}");
        let ids = attributes(&reply.text, "id");
        let once: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), once.len(), "{path} has an anchor twice");
        anchors.extend(ids.iter().map(|id| format!("{path}#{id}")));
        for link in attributes(&reply.text, "href") {
            let link = if link.starts_with('#') { format!("{path}{link}") } else { link.to_owned() };
            links.insert((path.to_owned(), link));
        }
    }
    for (from, link) in &links {
        assert!(link.starts_with('/'), "{from} links to {link}");
        match link.split_once('#') {
            Some(_) => assert!(anchors.contains(link), "{from} links to {link}, which is not there"),
            None => assert_eq!(client.get(link).status, 200, "{from} links to {link}"),
        }
    }
}

#[test]
fn the_type_of_every_error_leads_to_its_explanation() {
    let server = Server::bundled();
    let page = server.anonymous().get("/docs/errors").text;
    for code in Code::ALL {
        assert!(page.contains(&format!("id=\"{}\"", code.name())), "{}", code.name());
    }
}

#[test]
fn the_reference_shows_every_endpoint_and_parameter() {
    let server = Server::bundled();
    for version in Version::ALL {
        let page = server.anonymous().get(&format!("/docs/reference/{}", version.segment())).text;
        for endpoint in Route::of(version) {
            let start = page.find(&format!("<h3 id=\"{}\">", endpoint.operation)).unwrap();
            let section = page[start..].split("<h3 ").nth(1).unwrap();
            assert!(section.contains(&format!("/api/{}/{}<", version.segment(), endpoint.path)), "{}", endpoint.path);
            for name in endpoint.parameters(version) {
                assert!(section.contains(&format!("<code>{name}</code>")), "{}: {name}", endpoint.path);
            }
            assert!(section.contains("An answer"), "{} has no example", endpoint.path);
        }
        assert_eq!(page.matches("<h3 id=\"list_vc_people\">").count(), usize::from(version == Version::V3));
    }
}

#[test]
fn the_requests_in_the_docs_are_answered() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let mut asked = 0;
    for path in pages() {
        let page = client.get(path).text.replace("&amp;", "&").replace("&quot;", "\"");
        for rest in page.split("curl -H \"Authorization: Bearer $VENTUREDEX_KEY\" ").skip(1) {
            let address = &rest[1..];
            let end = address.find(rest.chars().next().unwrap()).unwrap();
            let request = address[..end].strip_prefix(&client.base).unwrap_or_else(|| panic!("{path}: {address}"));
            let reply = client.get(request);
            assert_eq!(reply.status, 200, "{path}: {request}: {}", reply.text);
            assert!(reply.json()["meta"].get("warnings").is_none(), "{path}: {request}: {}", reply.text);
            asked += 1;
        }
    }
    assert!(asked > 30, "{asked} requests were found");
}

/// Whether a program is there; where it is not the test is skipped, or fails where all tests must run.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    if !found {
        assert!(!wants_all(), "there is no `{program}`, and VENTUREDEX_TEST_ALL=1 wants it");
        eprintln!("skipped: there is no `{program}`");
    }
    found
}

/// The names in what a client printed, in order.
fn names(printed: &[u8]) -> Vec<String> {
    let lines = std::str::from_utf8(printed).unwrap().lines();
    let records =
        lines.map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|error| panic!("{error}: {line}")));
    records.map(|record| record.get("slug").or(record.get("id")).unwrap().as_str().unwrap().to_owned()).collect()
}

/// Runs a client as the docs say and holds what it prints against the list itself.
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
    let told = names(&output.stdout);
    let total = client.get("/api/v3/funding-rounds?limit=1").json()["pagination"]["total"].as_u64().unwrap();
    assert_eq!(told.len() as u64, total);
    assert_eq!(told.iter().collect::<BTreeSet<_>>().len() as u64, total, "a record came twice");
    let output = with(&["vcs", "sector=fintec"]);
    assert!(!output.status.success());
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(complaint.contains("unknown_value") && complaint.contains("did you mean `fintech`"), "{complaint}");
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

/// The Rust client, compiled as it stands by `cargo test`.
fn compiled() -> Option<Command> {
    let programs = Path::new(env!("CARGO_BIN_EXE_venturedex")).parent().unwrap();
    let program = programs.join("examples").join(format!("page_through{}", std::env::consts::EXE_SUFFIX));
    assert!(file("page_through.rs").is_file());
    if !program.is_file() {
        assert!(!wants_all(), "{} is missing: `cargo test` without `--test` builds it", program.display());
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

/// Answers one connection after the other as it is told to; gives back the first lines of the requests.
fn scripted(answers: Vec<String>) -> (String, std::thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut asked = Vec::new();
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            asked.push(lines.next().unwrap_or_default());
            while lines.next().is_some_and(|line| !line.is_empty()) {}
            stream.write_all(answer.as_bytes()).unwrap();
        }
        asked
    });
    (address, thread)
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}",
        body.len()
    )
}

#[test]
fn the_clients_wait_where_they_are_told_to_and_begin_again_where_a_cursor_has_expired() {
    let page = |rows: &str, cursor: &str| {
        let body = format!(r#"{{"data":[{rows}],"pagination":{{"next_cursor":{cursor}}}}}"#);
        answer("200 OK", "", &body)
    };
    let problem = |status: u16, code: &str| format!(r#"{{"status":{status},"code":"{code}","detail":"x"}}"#);
    let answers = vec![
        page(r#"{"slug":"a"},{"slug":"b"}"#, "\"one\""),
        answer("429 Too Many Requests", "retry-after: 1\r\n", &problem(429, "quota_exceeded")),
        answer("503 Service Unavailable", "Retry-After: 1\r\n", &problem(503, "overloaded")),
        answer("410 Gone", "", &problem(410, "cursor_expired")),
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
    for mut command in commands {
        let (address, thread) = scripted(answers.clone());
        let began = Instant::now();
        let output = command.arg("vcs").env("VENTUREDEX_URL", address).env("VENTUREDEX_KEY", "vdx_x").output().unwrap();
        assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(names(&output.stdout), ["a", "b", "c", "d"], "{command:?}");
        assert!(began.elapsed().as_millis() >= 2_000, "{command:?} did not wait");
        let asked = thread.join().unwrap();
        let cursors: Vec<&str> = asked
            .iter()
            .map(|line| line.split("cursor=").nth(1).map_or("", |rest| rest.split(['&', ' ']).next().unwrap()))
            .collect();
        assert_eq!(cursors, ["", "one", "one", "one", "", "two"], "{command:?}");
        // A quota that is used up for hours is told, not waited for.
        let long = answer("429 Too Many Requests", "Retry-After: 40000\r\n", &problem(429, "quota_exceeded"));
        let (address, thread) = scripted(vec![long]);
        let output = command.env("VENTUREDEX_URL", address).output().unwrap();
        assert!(!output.status.success() && !output.stderr.is_empty(), "{command:?}");
        thread.join().unwrap();
    }
}

#[test]
fn the_files_of_the_clients_are_what_the_page_shows() {
    let server = Server::bundled();
    let page = server.anonymous().get("/docs/clients").text;
    for client in &CLIENTS {
        let file = server.anonymous().get(&format!("/docs/clients/{}", client.file));
        assert_eq!((file.header("content-type"), file.text.as_str()), ("text/plain; charset=utf-8", client.code));
        let first = client.code.lines().find(|line| line.len() > 30).unwrap();
        assert!(page.contains(&first.replace('&', "&amp;").replace('"', "&quot;")), "{}", client.file);
    }
}
