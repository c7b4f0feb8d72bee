//! The examples in the documents are responses of the service.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use api::openapi::{BASE, Examples, example_of};
use api::{Route, Version};
use auth::quota::{Tier, Tiers};
use serde_json::Value;
use transport::problem::{Code, Problem};

use super::{document, operation, request};
use crate::support::harness::{Client, Server, agent_without_redirects};
use crate::support::json_schema::{misfit_exactly, resolved};

/// Replaces a value that differs from run to run.
fn fixed(text: &str, name: &str, value: &str) -> String {
    let start = format!("\"{name}\":\"");
    let mut fixed = String::new();
    let mut rest = text;
    while let Some(place) = rest.find(&start) {
        let (before, after) = rest.split_at(place + start.len());
        fixed.push_str(before);
        fixed.push_str(value);
        rest = after.find('"').map_or("", |end| &after[end..]);
    }
    fixed + rest
}

fn steady(text: &str, base: &str) -> String {
    let text = fixed(&text.replace(base, BASE), "request_id", "6a213f5c00000001");
    fixed(&text, "next_cursor", "AYRRAAABAAAAYQzq6Gd3cXoCAAAAAAAAAAIAAAB2Y3M_sort-Kq0XdPu1w3SJm5xvTlRzAg")
}

fn responses(server: &Server) -> BTreeMap<String, String> {
    let client = server.client(Tier::Free);
    let saver = server.account_client(Tier::Pro);
    let mut responses = BTreeMap::new();
    for version in Version::ALL {
        for endpoint in Route::all(version) {
            let group_by = example_of(endpoint, "group_by", &server.state.releases.current());
            let query = match (endpoint.path, group_by) {
                (_, Some(group_by)) => format!("limit=2&group_by={group_by}"),
                ("suggest" | "ask", _) => "limit=3".to_owned(),
                _ if endpoint.list().is_some() => "limit=2".to_owned(),
                _ => String::new(),
            };
            let client = match endpoint.path {
                "usage" => &client,
                "saved" | "alerts" => &saver,
                _ => &server.client(Tier::Pro),
            };
            let reply = client.get(&request(server, version, endpoint, &query));
            assert_eq!(reply.status, 200, "{}", reply.text);
            let name = format!("{} {}", version.segment(), endpoint.operation);
            responses.insert(name, steady(&reply.text, &client.base));
        }
    }
    let mut problem = |status: u16, text: &str| responses.insert(status.to_string(), steady(text, &client.base));
    problem(400, &client.get("/api/v3/vcs?sector=fintec").text);
    let direct = Client { agent: agent_without_redirects(), ..client.clone() };
    problem(301, &direct.get("/api/v3/vcs/former-alder-capital").text);
    problem(401, &server.anonymous().get("/api/v3/vcs").text);
    problem(406, &client.send("GET", "/api/v3/vcs", &[("accept", "text/html")]).text);
    problem(412, &client.send("GET", "/api/v3/vcs", &[("if-match", "\"x\"")]).text);
    let (long, longer) = ("a".repeat(14_000), "a".repeat(28_000));
    problem(414, &client.get(&format!("/api/v3/vcs?q={longer}")).text);
    problem(431, &client.send("GET", &format!("/api/v3/vcs?q={long}"), &[("x-long", &longer)]).text);
    problem(403, &client.get("/api/v3/saved").text);
    problem(404, &client.get("/api/v3/vcs/kestrelfold-captal").text);
    while client.get("/api/v3/stats").status == 200 {}
    problem(429, &client.get("/api/v3/vcs").text);
    for (code, detail) in [
        (Code::CursorExpired, "snapshot 2026-11-13.1 has expired; restart without `cursor`"),
        (Code::InternalError, "something went wrong here"),
        (Code::Overloaded, "too many requests at once: try again in 1 second"),
    ] {
        let body = Problem::new(code, detail).body(&client.base, "/api/v3/vcs", "x");
        problem(code.status().as_u16(), &String::from_utf8(body).unwrap());
    }
    responses
}

#[test]
fn examples_are_responses_of_the_service() {
    let server = Server::with_tiers(Tiers::default());
    let responses: Vec<String> =
        responses(&server).into_iter().map(|(name, text)| format!("{}: {text}", Value::from(name))).collect();
    let text = format!("{{\n{}\n}}\n", responses.join(",\n"));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/api/openapi/examples.json");
    if std::env::var_os("VENTUREDEX_BLESS").is_some_and(|bless| bless == "1") {
        fs::write(&file, &text).unwrap();
    }
    assert!(
        fs::read_to_string(&file).unwrap() == text,
        "the responses have changed: check whether they should, then VENTUREDEX_BLESS=1 cargo test examples_are"
    );
}

#[test]
fn every_example_fits_its_schema() {
    let server = Server::bundled();
    let examples = Examples::bundled();
    for version in Version::ALL {
        let document = document(&server, version);
        for endpoint in Route::all(version) {
            let text = examples.text(version, endpoint).unwrap_or_else(|| panic!("{} has no example", endpoint.path));
            for (status, response) in operation(&document, endpoint)["responses"].as_object().unwrap() {
                let response = resolved(&document, response);
                for (kind, content) in response.get("content").and_then(Value::as_object).into_iter().flatten() {
                    // Files have the records of the JSON example.
                    if !kind.contains("json") || kind.ends_with("x-ndjson") {
                        continue;
                    }
                    let misfit = misfit_exactly(&document, &content["schema"], &content["example"], "");
                    assert_eq!(misfit, None, "{} {status} {kind}", endpoint.path);
                    if status == "200" {
                        let text = text.replace(BASE, &server.anonymous().base);
                        assert_eq!(content["example"], serde_json::from_str::<Value>(&text).unwrap());
                    }
                }
            }
        }
    }
}
