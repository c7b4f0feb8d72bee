//! `POST /saved` and `DELETE /saved`: what the page of saved searches does, for programs.

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::support::browser::Browser;
use crate::support::harness::{Client, Reply, Server, code};

const PATH: &str = "/api/v3/saved";

fn operations(server: &Server) -> Value {
    server.anonymous().get("/openapi/v3.json").json()["paths"]["/saved"].clone()
}

fn saved(client: &Client) -> Vec<Value> {
    client.get(PATH).json()["data"].as_array().unwrap().clone()
}

fn faults(reply: &Reply) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let errors = reply.json()["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().map(|error| (text(&error["parameter"]), text(&error["code"]))).collect()
}

#[test]
fn a_program_saves_the_example_of_the_document_and_deletes_it() {
    let server = Server::bundled();
    let operations = operations(&server);
    let body = operations["post"]["requestBody"]["content"]["application/json"]["example"].to_string();
    assert_eq!(code(&server.client(Tier::Free).post(PATH, &body)), (403, "account_required".to_owned()));
    assert_eq!(code(&server.anonymous().post(PATH, &body)), (401, "missing_api_key".to_owned()));
    let mut ada = Browser::signed_up(&server, "ada@example.com");
    let (key, _) = ada.create_key("laptop");
    let client = ada.client(&key);
    assert_eq!(client.send("OPTIONS", PATH, &[]).header("allow"), "GET, HEAD, POST, DELETE, OPTIONS");
    let used = client.used();
    let reply = client.post(PATH, &body);
    assert_eq!((reply.status, reply.header("cache-control")), (200, "no-store"), "{}", reply.text);
    assert_eq!(client.used(), used + 1);
    let record = reply.json()["data"].clone();
    assert_eq!(saved(&client), std::slice::from_ref(&record));
    assert_eq!((&record["table"], &record["kind"]), (&json!("vcs"), &json!("search")));
    assert_eq!(record["query"], "stage=seed&country=DE");
    assert!(ada.get("/account/saved").text.contains("Seed firms in Germany"));

    let mut bob = Browser::signed_up(&server, "bob@example.com");
    let (key, _) = bob.create_key("laptop");
    let one = format!("{PATH}?id={}", record["id"]);
    let foreign = bob.client(&key).send("DELETE", &one, &[]);
    assert_eq!(faults(&foreign), [("id".to_owned(), "invalid_parameter".to_owned())]);
    let deleted = client.send("DELETE", &one, &[]);
    assert_eq!((deleted.status, &deleted.json()["data"]), (200, &record));
    assert_eq!(saved(&client), Vec::<Value>::new());
    assert_eq!(code(&client.send("DELETE", &one, &[])).0, 400, "it is gone");
    assert_eq!(operations["delete"]["parameters"][0]["name"], "id");
}

#[test]
fn what_cannot_be_saved_or_deleted_is_named() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Free);
    let before = saved(&client);
    for (body, expected) in [
        (json!({}), vec![("name", "invalid_parameter"), ("address", "invalid_parameter")]),
        (json!({ "name": "a", "address": "/vcs/alder-capital" }), vec![("address", "invalid_parameter")]),
        (json!({ "name": "a\nb", "address": "/vcs" }), vec![("name", "invalid_parameter")]),
        (
            json!({ "name": "a", "address": "/vcs?stage=sede&secter=fintech" }),
            vec![("stage", "unknown_value"), ("secter", "unknown_parameter")],
        ),
        (json!({ "name": "a", "adress": "/vcs" }), vec![("adress", "unknown_parameter")]),
        (json!({ "name": ["a"], "address": "/vcs" }), vec![("name", "invalid_parameter")]),
    ] {
        let reply = client.post(PATH, &body.to_string());
        let mut found = faults(&reply);
        found.sort();
        let mut expected: Vec<(String, String)> =
            expected.into_iter().map(|(name, code)| (name.to_owned(), code.to_owned())).collect();
        expected.sort();
        assert_eq!((reply.status, found), (400, expected), "{body}: {}", reply.text);
    }
    assert_eq!(code(&client.post(PATH, "{")), (400, "invalid_json".to_owned()));
    assert_eq!(code(&client.post(&format!("{PATH}?limit=1"), "{}")).0, 400);
    for query in ["", "?id=", "?id=x", "?id=99", "?id=1&id=2", "?id=1&limit=2"] {
        assert_eq!(code(&client.send("DELETE", &format!("{PATH}{query}"), &[])).0, 400, "{query}");
    }
    assert_eq!(code(&client.send("PUT", PATH, &[])).0, 405);
    assert_eq!(code(&client.post("/api/v2/saved", "{}")).0, 404, "only v3 has it");
    assert_eq!(saved(&client), before);
}

#[test]
fn the_maximum_of_the_tier_is_that_of_the_page() {
    let server = Server::bundled();
    let client = server.account_client(Tier::Free);
    let body = json!({ "name": "people", "address": "/api/v3/people.csv?kind=firm&limit=5" }).to_string();
    for _ in saved(&client).len()..Tier::Free.watches() as usize {
        assert_eq!(client.post(PATH, &body).status, 200);
    }
    let refused = client.post(PATH, &body);
    assert_eq!(code(&refused), (403, "forbidden".to_owned()));
    assert!(refused.text.contains("the maximum of your tier"), "{}", refused.text);
}
