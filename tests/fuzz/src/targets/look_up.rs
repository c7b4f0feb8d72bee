//! Bodies of `POST /api/v3/resolve` and forms of `/reconcile`: each item has one answer.

use http::HeaderValue;
use serde_json::{Value, json};

use super::requests::ask;
use super::split;
use crate::support::harness::Reply;

const RESOLVE: &str = "/api/v3/resolve";

fn post(path: &str, content_type: &'static str, body: &[u8]) -> Reply {
    ask("POST", path, &[("content-type", HeaderValue::from_static(content_type))], body)
}

/// Items as JSON.
pub fn resolve_json(body: &[u8]) {
    let reply = post(RESOLVE, "application/json", body);
    let json = reply.json();
    if reply.status != 200 {
        assert!(json["code"].is_string() && json["detail"].is_string(), "{json}");
        return;
    }
    let sent: Value = serde_json::from_slice(body).expect("what was answered is JSON");
    let answers = json["data"].as_array().expect("a list");
    assert_eq!(answers.len(), sent["items"].as_array().map_or(0, Vec::len), "{json}");
    for answer in answers {
        let is_invalid = answer["status"] == "invalid";
        assert_eq!(answer["errors"] != json!([]), is_invalid, "{answer}");
        assert!(!is_invalid || answer["candidates"] == json!([]), "{answer}");
    }
}

/// Items as a table. A result that is sent again stays as it is.
pub fn resolve_csv(body: &[u8]) {
    let reply = post(RESOLVE, "text/csv", body);
    if reply.status != 200 {
        assert!(reply.json()["code"].is_string(), "{}", reply.text);
        return;
    }
    // Cells that are not UTF-8 come back as they are, and would be replaced here.
    if std::str::from_utf8(body).is_ok() {
        let again = post(RESOLVE, "text/csv", reply.text.as_bytes());
        assert_eq!((again.status, &again.text), (200, &reply.text));
    }
}

/// The first byte chooses a member of the form, the others are its value.
pub fn reconcile(bytes: &[u8]) {
    let (place, text) = split(bytes);
    let (name, text) = (["queries", "extend"][place % 2], String::from_utf8_lossy(text));
    let form = form_urlencoded::Serializer::new(String::new()).append_pair(name, &text).finish();
    let reply = post("/reconcile", "application/x-www-form-urlencoded", form.as_bytes());
    let json = reply.json();
    if reply.status != 200 {
        assert!(json["status"] == "error" && json["message"].is_string(), "{json}");
        return;
    }
    // Without a value it is the manifest.
    let Ok(Value::Object(sent)) = serde_json::from_str(&text) else {
        assert!(text.trim().is_empty() && json["versions"].is_array(), "{json}");
        return;
    };
    match name {
        "queries" => {
            let answers = json.as_object().expect("an object");
            assert!(answers.keys().eq(sent.keys()), "{json}");
            assert!(answers.values().all(|answer| answer["result"].is_array()), "{json}");
        }
        _ => {
            let (rows, meta) = (json["rows"].as_object().expect("an object"), json["meta"].as_array().expect("a list"));
            assert!(rows.values().all(|row| row.as_object().is_some_and(|row| row.len() <= meta.len())), "{json}");
        }
    }
}
