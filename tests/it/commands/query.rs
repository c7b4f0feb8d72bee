//! `venturedex query` next to the API itself, and against servers that misbehave.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::Path;
use std::thread;

use auth::quota::Tier;
use serde_json::Value;

use crate::api::changes::{FIRST, two_releases};
use crate::support::harness::{Client, Server};
use crate::support::program::{Ended, command};

fn query(base: &str, key: Option<&str>, words: &[&str]) -> Ended {
    let mut command = command(Path::new("unused"), &[&["query", "--url", base], words].concat());
    command.envs(key.map(|key| ("VENTUREDEX_KEY", key)));
    Ended::from(command.output().unwrap())
}

fn of(client: &Client, words: &[&str]) -> Ended {
    query(&client.base, client.key.as_deref(), words)
}

/// A server that sends each of these responses to one request; the lines of the requests are the result.
fn scripted(responses: &[&str]) -> (String, thread::JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let responses: Vec<String> = responses.iter().map(|response| response.replace('\n', "\r\n")).collect();
    let serve = move || {
        let mut lines = Vec::new();
        for response in responses {
            let (mut stream, _) = listener.accept().unwrap();
            let request = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            lines.extend(request.take_while(|line| !line.is_empty()));
            stream.write_all(response.as_bytes()).unwrap();
        }
        lines
    };
    (base, thread::spawn(serve))
}

#[test]
fn a_table_has_the_rows_of_the_list() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    let ended = of(&client, &["vcs", "country=DE", "fields=name,slug,score.value", "limit=7"]);
    let list = client.get("/api/v3/vcs?country=DE&limit=7&fields=name,slug,score.value").json();
    assert!(ended.err.contains(&format!("7 of {} rows", list["pagination"]["total"])), "{}", ended.err);
    let out = ended.ok();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0].split_whitespace().collect::<Vec<_>>(), ["name", "slug", "score.value"]);
    let rows = list["data"].as_array().unwrap();
    assert_eq!((lines.len(), rows.len()), (8, 7));
    for (line, row) in lines[1..].iter().zip(rows) {
        let slug: String = row["slug"].as_str().unwrap().chars().take(40).collect();
        let score = row["score"]["value"].as_i64().map(|score| score.to_string()).unwrap_or_default();
        assert!(line.contains(&slug) && line.trim_end().ends_with(&score), "{line}: {row}");
    }
    let record = of(&client, &["vcs/lunpentanza-ventures"]).ok();
    let founded = record.lines().find(|line| line.starts_with("founded_year ")).unwrap();
    assert_eq!(founded.split_whitespace().nth(1), Some("2024"));
}

#[test]
fn files_are_those_of_the_server_to_the_end_of_the_list() {
    let server = Server::bundled();
    let client = server.client(Tier::Enterprise);
    for (path, format) in [("startups", "csv"), ("people", "ndjson")] {
        let file = client.get(&format!("/api/v3/{path}.{format}?sort=name")).text;
        assert_eq!(of(&client, &[path, "sort=name", "--format", format]).ok(), file);
        assert!(file.lines().count() >= 2_000);
    }
    let json = of(&client, &["/api/v3/stats?snapshot=2026-11-20.1", "--format", "json"]).ok();
    assert_eq!(serde_json::from_str::<Value>(&json).unwrap()["data"]["firms"], 400);
}

#[test]
fn what_has_no_file_is_read_page_by_page() {
    let (_server, client) = two_releases();
    let from = format!("from={FIRST}");
    let lines = of(&client, &["changes", &from, "limit=50", "--format", "ndjson"]).ok();
    let total = client.get(&format!("/api/v3/changes?{from}")).json()["pagination"]["total"].as_u64().unwrap();
    let rows: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(total > 100 && rows.len() as u64 == total, "{} of {total}", rows.len());
    let csv = of(&client, &["changes", &from, "--format", "csv"]);
    assert!(csv.code == Some(1) && csv.err.contains("--format ndjson"), "{csv:?}");
}

#[test]
fn errors_say_how_to_correct_them() {
    let server = Server::bundled();
    let (client, anonymous) = (server.client(Tier::Free), server.anonymous());
    let unreachable = query("http://127.0.0.1:1", None, &["vcs"]);
    let not_an_address = query("example", None, &["vcs"]);
    for (ended, expected) in [
        (of(&client, &["vcs", "countri=DE"]), "did you mean `country`?"),
        (of(&client, &["firms"]), "v3 has no path `/firms`; did you mean `/vcs`?"),
        (of(&client, &["zebras"]), "v3 has no path `/zebras`: it has vcs, "),
        (of(&anonymous, &["vcs"]), "set VENTUREDEX_KEY"),
        (unreachable, "start the server with `venturedex serve`, or name another one with --url"),
        (not_an_address, "write it as https://host or http://host:port"),
        (of(&client, &["match", "--body", "missing.json"]), "missing.json: No such file"),
        (query(&client.base, Some("vdx_\nx"), &["vcs"]), "VENTUREDEX_KEY has characters that no key has"),
    ] {
        assert!(ended.code == Some(1) && ended.err.contains(expected) && ended.out.is_empty(), "{expected}: {ended:?}");
    }
    let parameter = of(&client, &["vcs", "country"]);
    assert!(parameter.code == Some(2) && parameter.err.contains("NAME=VALUE"), "{parameter:?}");
}

#[test]
fn an_incomplete_file_is_an_error() {
    for response in [
        "HTTP/1.1 200 OK\ncontent-type: text/csv\ntransfer-encoding: chunked\n\n5\nslug\n",
        "HTTP/1.1 200 OK\ncontent-type: text/csv\ncontent-length: 99\n\nslug\n",
    ] {
        let (base, _) = scripted(&[response]);
        let ended = query(&base, None, &["vcs", "--format", "csv"]);
        assert!(ended.code == Some(1) && ended.err.contains("the answer is incomplete"), "{response}: {ended:?}");
    }
}

#[test]
fn a_record_that_moved_is_followed_on_the_same_server_only() {
    let moved = "HTTP/1.1 301 Moved\nlocation: http://other.example/api/v3/vcs/kite\ncontent-length: 0\n\
                 connection: close\n\n";
    let record = "HTTP/1.1 200 OK\ncontent-type: application/json\ncontent-length: 24\nconnection: close\n\n\
                  {\"data\":{\"slug\":\"kite\"}}";
    let (base, requests) = scripted(&[moved, record]);
    let ended = query(&base, Some("vdx_key"), &["vcs/kyte"]);
    assert!(ended.err.contains("moved to /api/v3/vcs/kite"), "{}", ended.err);
    assert_eq!(ended.ok(), "slug  kite\n");
    let requests = requests.join().unwrap();
    let paths: Vec<&String> = requests.iter().filter(|line| line.starts_with("GET")).collect();
    assert_eq!(paths, ["GET /api/v3/vcs/kyte HTTP/1.1", "GET /api/v3/vcs/kite HTTP/1.1"]);
}

#[test]
fn a_busy_server_gets_the_request_again_after_its_time() {
    let busy = "HTTP/1.1 429 Too Many Requests\nretry-after: 1\ncontent-length: 0\nconnection: close\n\n";
    let late = busy.replace("retry-after: 1", "retry-after: 3600");
    let record = "HTTP/1.1 200 OK\ncontent-type: application/json\ncontent-length: 26\nconnection: close\n\n\
                  {\"data\":[{\"slug\":\"kite\"}]}";
    let (base, _) = scripted(&[busy, record]);
    assert_eq!(query(&base, None, &["vcs"]).ok(), "slug\nkite\n");
    let (base, _) = scripted(&[&late]);
    assert_eq!(query(&base, None, &["vcs"]).code, Some(1));
}

#[test]
fn control_characters_do_not_reach_the_terminal() {
    let body = r#"{"data":[{"slug":"\u001b[31mkite\u0007"}]}"#;
    let response = format!(
        "HTTP/1.1 200 OK\ncontent-type: application/json\ncontent-length: {}\nconnection: close\n\n{body}",
        body.len()
    );
    let (base, _) = scripted(&[&response]);
    assert_eq!(query(&base, None, &["vcs"]).ok(), "slug\n [31mkite\n");
}
