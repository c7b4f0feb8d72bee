//! Batches, which the revision 2025-03-26 has, arguments as JSON text, and paths near the endpoint.

use auth::quota::Tier;
use serde_json::{Value, json};

use crate::support::harness::{Client, Server};

fn post(client: &Client, body: &Value, headers: &[(&str, &str)]) -> (u16, Value) {
    let reply = client.post_with("/api/mcp", &body.to_string(), headers);
    (reply.status, serde_json::from_str(&reply.text).unwrap_or_default())
}

fn ping(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
}

fn stats(id: i64, arguments: Value) -> Value {
    let params = json!({ "name": "get_platform_stats", "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

#[test]
fn a_batch_has_a_response_to_each_request() {
    let server = Server::bundled();
    let client = server.anonymous();
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let handshake = json!({ "jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {} });
    let batch = json!([ping(1), ready, stats(2, json!({})), handshake, 7]);
    for headers in [&[][..], &[("mcp-protocol-version", "2025-03-26")]] {
        let (status, replies) = post(&client, &batch, headers);
        assert_eq!(status, 200, "{replies}");
        let ids: Vec<&Value> = replies.as_array().unwrap().iter().map(|reply| &reply["id"]).collect();
        assert_eq!(ids, [&json!(1), &json!(2), &json!(3), &Value::Null], "{replies}");
        assert_eq!(replies[1]["result"]["isError"], false, "{replies}");
        assert_eq!((&replies[2]["error"]["code"], &replies[3]["error"]["code"]), (&json!(-32600), &json!(-32600)));
    }
    assert_eq!(post(&client, &json!([ready]), &[]).0, 202);
    for (status, batch) in [(400, json!([])), (400, json!([7])), (400, json!(vec![ping(1); 51]))] {
        assert_eq!(post(&client, &batch, &[]).0, status, "{batch}");
    }
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let (status, reply) = post(&client, &batch, &[("mcp-protocol-version", version)]);
        assert_eq!((status, &reply["error"]["code"]), (400, &json!(-32600)), "{version}: {reply}");
    }
    let (status, reply) = post(&client, &batch, &[("authorization", "Bearer vdx_wrong")]);
    assert_eq!((status, &reply["error"]["code"]), (401, &json!(1401)), "{reply}");
}

#[test]
fn each_call_of_a_batch_counts() {
    let server = Server::bundled();
    let client = server.client(Tier::Free);
    let left = |reply: &crate::support::harness::Reply| reply.header("x-ratelimit-remaining").parse::<u32>().unwrap();
    let call = || stats(1, json!({}));
    let first = client.post("/api/mcp", &json!([call()]).to_string());
    let three = client.post("/api/mcp", &json!([call(), ping(1), call(), call()]).to_string());
    assert_eq!((left(&first) - left(&three), three.header("x-request-cost")), (3, "3"));
    while left(&client.post("/api/mcp", &call().to_string())) > 1 {}
    let last = client.post("/api/mcp", &json!([call(), call()]).to_string());
    let replies: Value = serde_json::from_str(&last.text).unwrap();
    assert_eq!((last.status, replies[0]["result"].is_object()), (200, true), "{replies}");
    assert_eq!(replies[1]["error"]["data"]["code"], "quota_exceeded", "{replies}");
    assert_eq!(client.post("/api/mcp", &json!([call(), call()]).to_string()).status, 429);
}

#[test]
fn arguments_may_be_json_text() {
    let server = Server::bundled();
    let client = server.anonymous();
    let call = |arguments: Value| {
        let params = json!({ "name": "search_vcs", "arguments": arguments });
        post(&client, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }), &[]).1
    };
    let plain = call(json!({ "stage": "seed", "limit": 2 }));
    assert_eq!(plain["result"]["structuredContent"]["items"].as_array().unwrap().len(), 2);
    assert_eq!(call(json!(r#"{"stage":"seed","limit":2}"#)), plain);
    for none in [json!(null), json!({}), json!([]), json!(""), json!("{}")] {
        assert_eq!(call(none.clone())["result"]["isError"], false, "{none}");
    }
    for other in [json!("seed"), json!("[1]"), json!([1]), json!(7), json!("{")] {
        assert_eq!(call(other.clone())["error"]["code"], -32602, "{other}");
    }
}

#[test]
fn groups_follow_limit_and_sort() {
    let server = Server::bundled();
    let client = server.anonymous();
    let groups = |arguments: Value| {
        let params = json!({ "name": "search_startups", "arguments": arguments });
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        post(&client, &call, &[]).1["result"]["structuredContent"].clone()
    };
    for (limit, count) in [(json!(3), 3), (json!(0), 20), (Value::Null, 20)] {
        let found = groups(json!({ "count_by": "city", "limit": limit }));
        assert_eq!(found["groups"][0]["values"].as_array().unwrap().len(), count, "{limit}");
    }
    let values = |by: &str, sort: &str| -> Vec<String> {
        let found = groups(json!({ "count_by": by, "sort": sort, "limit": 50 }));
        let values = found["groups"][0]["values"].as_array().unwrap().clone();
        values.iter().map(|group| group["value"].as_str().unwrap().to_owned()).collect()
    };
    for by in ["country", "status", "founded_year"] {
        let ascending = values(by, "value");
        assert!(ascending.is_sorted() && ascending.len() > 1, "{by}: {ascending:?}");
        let mut reversed = values(by, "-value");
        reversed.reverse();
        assert_eq!(reversed, ascending, "{by}");
    }
    assert_eq!(values("stage", "value")[0], "pre-seed");
    // No record of another kind has an empty part.
    let few = groups(json!({ "count_by": "status", "limit": 0 }));
    assert!(few["groups"][0].get("other").is_none_or(|other| other["count"] != 0), "{few}");
}

#[test]
fn fields_of_a_match_have_their_names_in_rest() {
    let server = Server::bundled();
    let arguments = json!({ "stage": "seed", "raise_usd": "1e+06", "fields": "slug,points,reasons", "limit": 1 });
    let params = json!({ "name": "search_vcs", "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let found = post(&server.anonymous(), &call, &[]).1["result"]["structuredContent"].clone();
    let fit = found["items"][0]["fit"].as_object().unwrap_or_else(|| panic!("{found}"));
    assert_eq!(fit.keys().collect::<Vec<_>>(), ["points", "reasons"]);
}

#[test]
fn no_path_near_the_endpoint_asks_for_a_key() {
    let server = Server::bundled();
    for client in [server.anonymous(), server.client(Tier::Free)] {
        for path in
            ["/api/mcp/sse", "/api/mcp/messages", "/api/mcpx", "/api/MCP", "/api/mcp/.well-known/x", "/api/v4/vcs"]
        {
            let reply = client.get(path);
            assert_eq!((reply.status, &reply.json()["code"]), (404, &json!("unknown_route")), "{path}");
            assert_eq!(reply.header("www-authenticate"), "", "{path}");
            assert!(!reply.header("x-ratelimit-limit").is_empty(), "{path}");
        }
    }
    assert_eq!(server.anonymous().get("/api/v3/nothing").status, 401);
}

#[test]
fn a_path_may_escape_what_needs_no_escape() {
    let server = Server::bundled();
    let client = server.client(Tier::Pro);
    for (escaped, plain) in [
        ("/api/v3/%76cs?limit=1", "/api/v3/vcs?limit=1"),
        ("/%61pi/v3/v%63s/alder%2Dcapital", "/api/v3/vcs/alder-capital"),
        ("/docs/p%61ging", "/docs/paging"),
        ("/api/%6Dcp/%2Ewell-known", "/api/mcp/.well-known"),
    ] {
        let (escaped, plain) = (client.get(escaped), client.get(plain));
        assert_eq!((escaped.status, &escaped.text), (200, &plain.text));
    }
    assert_eq!(client.get("/api/v3/vcs/alder%2Fcapital").status, 404);
}

#[test]
fn the_instructions_name_what_no_record_has() {
    let server = Server::bundled();
    let client = server.anonymous();
    let totals = post(&client, &stats(1, json!({})), &[]).1["result"]["structuredContent"].clone();
    let text = client.get("/api/mcp/.well-known").json()["instructions"].as_str().unwrap().to_owned();
    for (table, fields) in totals["coverage"].as_object().unwrap() {
        for (field, known) in fields.as_object().unwrap() {
            assert!(known != 0 || text.contains(field), "{field} of {table} is never known: {text}");
        }
    }
    let is_complete = totals["coverage"]
        .as_object()
        .unwrap()
        .values()
        .all(|fields| fields.as_object().unwrap().values().all(|known| known != 0));
    assert_eq!(text.contains("Never known"), !is_complete, "{text}");
}
