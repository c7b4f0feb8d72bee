//! `POST /reviews`: the rules of the form, for programs.

use auth::quota::Tier;
use auth::review::ReviewState;
use serde_json::{Value, json};
use service::ReviewAccess;

use crate::reviews::{FORM, account, fields, taking, verified};
use crate::support::browser::Browser;
use crate::support::harness::{Reply, Server, code};

const PATH: &str = "/api/v3/reviews";

/// The example of the document.
fn example(server: &Server) -> Value {
    let document = server.anonymous().get("/openapi/v3.json").json();
    document["paths"]["/reviews"]["post"]["requestBody"]["content"]["application/json"]["example"].clone()
}

fn with(mut body: Value, field: &str, value: Value) -> String {
    body[field] = value;
    body.to_string()
}

fn parameters(reply: &Reply) -> Vec<String> {
    let errors = reply.json()["errors"].as_array().cloned().unwrap_or_default();
    errors.iter().map(|error| error["parameter"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn without_reviews_the_path_is_read_only() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let reply = client.post(PATH, "{}");
    assert_eq!((code(&reply).0, reply.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(client.send("OPTIONS", PATH, &[]).header("allow"), "GET, HEAD, OPTIONS");
    let document = server.anonymous().get("/openapi/v3.json").json();
    assert_eq!(document["paths"]["/reviews"]["post"], Value::Null);
}

#[test]
fn a_verified_account_submits_the_example_of_the_document_once() {
    let server = taking(ReviewAccess::Open);
    let body = example(&server);
    assert_eq!(code(&server.client(Tier::Free).post(PATH, &body.to_string())), (403, "account_required".to_owned()));
    assert_eq!(code(&server.anonymous().post(PATH, &body.to_string())), (401, "missing_api_key".to_owned()));
    let mut unverified = Browser::signed_up(&server, "eve@example.com");
    let (key, _) = unverified.create_key("laptop");
    let refused = unverified.client(&key).post(PATH, &body.to_string());
    assert_eq!(code(&refused), (403, "forbidden".to_owned()));
    assert!(refused.text.contains("verify the e-mail address"), "{}", refused.text);

    let mut ada = verified(&server, "ada@example.com");
    let (key, _) = ada.create_key("laptop");
    let client = ada.client(&key);
    assert_eq!(client.send("OPTIONS", PATH, &[]).header("allow"), "GET, HEAD, POST, OPTIONS");
    let used = client.used();
    let reply = client.post(PATH, &body.to_string());
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!((client.used() - used, reply.header("cache-control")), (1, "no-store"));
    let data = &reply.json()["data"];
    assert_eq!(
        (&data["vc"], &data["state"], &data["proof"]),
        (&json!("alder-capital"), &json!("submitted"), &json!("none"))
    );
    let stored = server.state.auth.store().reviews_of(account(&server, "ada@example.com")).unwrap().swap_remove(0);
    assert_eq!((data["id"].as_str(), stored.state), (Some(stored.public_id.as_str()), ReviewState::Submitted));
    assert_eq!((stored.answers.rating, stored.answers.fairness, stored.answers.ghosted), (Some(2), None, Some(false)));
    assert!(ada.get("/account/reviews/1").text.contains("Waits for the operator"));
    // Nothing of it is public, and the rules of the form hold.
    assert!(!client.get("/api/v3/vcs/alder-capital/reviews").text.contains(&stored.public_id));
    let again = client.post(PATH, &body.to_string());
    assert_eq!((code(&again), parameters(&again)), ((400, "invalid_parameter".to_owned()), vec!["vc".to_owned()]));
    assert_eq!(ada.post(FORM, &fields("submit", &[])).status, 422);
    assert_eq!(code(&client.post("/api/v2/reviews", &body.to_string())).0, 405, "only v3 takes reviews");
    let other = client.send("DELETE", PATH, &[]);
    assert_eq!((other.status, other.header("allow")), (405, "GET, HEAD, POST, OPTIONS"));
}

#[test]
fn all_faults_of_a_body_are_named() {
    let server = taking(ReviewAccess::Open);
    let body = example(&server);
    let mut ada = verified(&server, "ada@example.com");
    let (key, _) = ada.create_key("laptop");
    let client = ada.client(&key);
    let everything =
        client.post(PATH, r#"{"vc": "alder-capitol", "rating": 7, "contact_month": "2099-01", "stage": "late"}"#);
    assert_eq!(code(&everything).0, 400);
    let expected = ["vc", "role", "stage", "rating", "ghosted", "title", "body", "contact_month"];
    let mut named = parameters(&everything);
    named.sort();
    let mut expected = expected.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(named, expected);
    assert!(everything.text.contains("did you mean `alder-capital`?"), "{}", everything.text);
    for (body, status, fault) in [
        ("{", 400, "invalid_json"),
        ("[]", 400, "invalid_json"),
        (with(body.clone(), "ratting", 3.into()).as_str(), 400, "unknown_parameter"),
        (with(body.clone(), "body", json!(["x"])).as_str(), 400, "invalid_parameter"),
        (with(body.clone(), "rating", 2.5.into()).as_str(), 400, "invalid_parameter"),
        (with(body.clone(), "ghosted", "maybe".into()).as_str(), 400, "invalid_parameter"),
        (with(body.clone(), "body", "x".repeat(70_000).into()).as_str(), 413, "body_too_large"),
    ] {
        assert_eq!(code(&client.post(PATH, body)), (status, fault.to_owned()), "{}", &body[..body.len().min(80)]);
    }
    let typed = client.post_with(PATH, "a=1", &[("content-type", "text/plain")]);
    assert!(matches!(typed.status, 400 | 415), "{}", typed.text);
    assert_eq!(code(&client.post(&format!("{PATH}?limit=1"), &body.to_string())).0, 400);
    assert!(server.state.auth.store().reviews_of(account(&server, "ada@example.com")).unwrap().is_empty());
    let invite = taking(ReviewAccess::Invite);
    let mut ada = verified(&invite, "ada@example.com");
    let (key, _) = ada.create_key("laptop");
    assert_eq!(code(&ada.client(&key).post(PATH, &body.to_string())), (403, "forbidden".to_owned()));
}
