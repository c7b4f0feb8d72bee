//! The endpoint as clients of each protocol revision see it.

use bytes::Bytes;
use http::Request;
use http_body_util::StreamBody;
use hyper::body::Frame;
use mcp::Tool;
use serde_json::{Value, json};
use transport::BodyTimeout;

use super::endpoint::Endpoint;
use super::request::{ERAS, Era, TestRequest, call, initialize, request};

/// What a response must be: a result, the code of an error, or nothing (for a notification).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Result,
    Error(i64),
    Nothing,
}

use Outcome::{Error, Nothing, Result as Done};

#[tokio::test]
async fn each_revision_gets_its_results_and_each_error_its_code() {
    let stats = || call("get_platform_stats", json!({}));
    let mut cases: Vec<(String, TestRequest, u16, Outcome)> = Vec::new();
    let mut case =
        |name: &str, request: TestRequest, status, outcome| cases.push((name.to_owned(), request, status, outcome));

    for era in ERAS {
        let modern = era == Era::July2026;
        // An unknown method is 404 from 2026-07-28 on, and 200 with an error before.
        let unknown = if modern { 404 } else { 200 };
        case(&format!("{era:?} tools/list"), request(era, "tools/list", json!({})), 200, Done);
        case(&format!("{era:?} tools/call"), request(era, "tools/call", stats()), 200, Done);
        let wrong = call("search_vcs", json!({ "limit": "many" }));
        case(&format!("{era:?} wrong argument"), request(era, "tools/call", wrong), 200, Done);
        let unknown_tool = call("search_firms", json!({}));
        case(&format!("{era:?} unknown tool"), request(era, "tools/call", unknown_tool), 200, Error(-32602));
        let listed = call("search_vcs", json!(["seed"]));
        case(&format!("{era:?} arguments as a list"), request(era, "tools/call", listed), 200, Error(-32602));
        case(&format!("{era:?} cursor"), request(era, "tools/list", json!({ "cursor": "x" })), 200, Error(-32602));
        case(&format!("{era:?} unknown method"), request(era, "tools/run", json!({})), unknown, Error(-32601));
        for undeclared in ["resources/subscribe", "logging/setLevel"] {
            let params = if undeclared == "logging/setLevel" { json!({ "level": "info" }) } else { json!({}) };
            case(&format!("{era:?} {undeclared}"), request(era, undeclared, params), unknown, Error(-32601));
        }
        for list in ["prompts/list", "resources/list", "resources/templates/list"] {
            case(&format!("{era:?} {list}"), request(era, list, json!({})), 200, Done);
            case(&format!("{era:?} {list} cursor"), request(era, list, json!({ "cursor": "x" })), 200, Error(-32602));
        }
        let read = |uri: &str| request(era, "resources/read", json!({ "uri": uri }));
        for uri in ["venturedex://sectors", "venturedex://about", "venturedex://vcs/alder-capital"] {
            case(&format!("{era:?} {uri}"), read(uri), 200, Done);
        }
        for uri in ["venturedex://vcs/no-such-firm", "venturedex://vcs/", "https://example.com", ""] {
            let code = if modern { -32602 } else { -32002 };
            case(&format!("{era:?} {uri}"), read(uri), 200, Error(code));
        }
        case(&format!("{era:?} no uri"), request(era, "resources/read", json!({})), 200, Error(-32602));
        let prompt = |name: &str, arguments: Value| request(era, "prompts/get", call(name, arguments));
        case(&format!("{era:?} prompt"), prompt("prepare_meeting", json!({ "name": "Alder" })), 200, Done);
        for (name, arguments) in [
            ("prepare_meeting", json!({})),
            ("prepare_meeting", json!({ "name": " " })),
            ("prepare_meeting", json!({ "name": 7 })),
            ("prepare_meeting", json!({ "name": "a", "firm": "b" })),
            ("prepare_meeting", json!({ "name": "a".repeat(201) })),
            ("prepare_meetin", json!({ "name": "Alder" })),
        ] {
            case(&format!("{era:?} {name} {arguments}"), prompt(name, arguments), 200, Error(-32602));
        }
        let complete = |reference: Value, argument: Value| {
            request(era, "completion/complete", json!({ "ref": reference, "argument": argument }))
        };
        let template = json!({ "type": "ref/resource", "uri": "venturedex://vcs/{slug}" });
        let typed = json!({ "name": "slug", "value": "al" });
        case(&format!("{era:?} completion"), complete(template.clone(), typed.clone()), 200, Done);
        for (reference, argument) in [
            (json!({ "type": "ref/resource", "uri": "venturedex://sectors" }), typed.clone()),
            (json!({ "type": "ref/prompt", "name": "no_such_prompt" }), typed.clone()),
            (template.clone(), json!({ "name": "stage", "value": "" })),
            (template, json!({ "name": "slug" })),
            (json!("x"), typed),
        ] {
            let name = format!("{era:?} completion {reference} {argument}");
            case(&name, complete(reference, argument), 200, Error(-32602));
        }
        let (status, outcome) = if modern { (404, Error(-32601)) } else { (200, Done) };
        case(&format!("{era:?} ping"), request(era, "ping", json!({})), status, outcome);
        if modern {
            let handshake =
                request(era, "initialize", initialize(era.version())).with("mcp-protocol-version", era.version());
            case("modern initialize", handshake, 404, Error(-32601));
        } else {
            let handshake = request(era, "initialize", initialize(era.version()));
            case(&format!("{era:?} initialize"), handshake, 200, Done);
            let ready = request(era, "notifications/initialized", json!({})).replaced(r#""id":7,"#, "");
            case(&format!("{era:?} initialized"), ready, 202, Nothing);
        }
        let list = || request(era, "tools/list", json!({}));
        case(&format!("{era:?} broken JSON"), list().body("{"), 400, Error(-32700));
        case(&format!("{era:?} null id"), list().replaced(r#""id":7"#, r#""id":null"#), 400, Error(-32600));
        case(&format!("{era:?} no jsonrpc"), list().replaced(r#""jsonrpc":"2.0","#, ""), 400, Error(-32600));
        case(&format!("{era:?} too long"), list().body(&" ".repeat(4_097)), 413, Error(-32600));
        case(&format!("{era:?} form"), list().with("content-type", "text/plain"), 415, Error(-32600));
        case(&format!("{era:?} foreign host"), list().with("host", "evil.test"), 403, Error(-32600));
        case(&format!("{era:?} foreign origin"), list().with("origin", "http://evil.test"), 403, Error(-32600));
        case(&format!("{era:?} our origin"), list().with("origin", "http://localhost:6274"), 200, Done);
        case(&format!("{era:?} wrong key"), list().with("authorization", "Bearer vdx_wrong"), 401, Error(1401));
        case(&format!("{era:?} other bearer"), list().with("authorization", "Bearer abc"), 200, Done);
        case(&format!("{era:?} GET"), list().method("GET"), 405, Error(-32600));
        case(&format!("{era:?} DELETE"), list().method("DELETE"), 405, Error(-32600));
    }

    let minimal = || request(Era::Minimal, "tools/list", json!({}));
    case("params null", minimal().body(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":null}"#), 200, Done);
    case(
        "params list",
        minimal().body(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#),
        400,
        Error(-32602),
    );
    let extra = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","x":1}"#;
    case("an extra field", minimal().body(extra), 200, Done);
    case("a key twice", minimal().body(r#"{"jsonrpc":"2.0","id":7,"id":7,"method":"tools/list"}"#), 200, Done);
    case("a response", minimal().body(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), 400, Error(-32600));
    case("text id", minimal().replaced(r#""id":7"#, r#""id":"seven""#), 200, Done);
    case("charset", minimal().with("content-type", "Application/JSON; charset=utf-8"), 200, Done);
    case("no content type", minimal().without("content-type"), 415, Error(-32600));
    case("compressed", minimal().with("content-encoding", "gzip"), 415, Error(-32600));
    for accept in ["*/*", "application/json", "text/event-stream", "application/*;q=0.1, text/html"] {
        case(accept, minimal().with("accept", accept), 200, Done);
    }
    for accept in ["text/html", "application/json;q=0"] {
        case(accept, minimal().with("accept", accept), 406, Error(-32600));
    }
    case("no host", minimal().without("host"), 400, Error(-32600));
    for version in ["2024-11-05", "2030-01-01", "latest"] {
        case(version, minimal().with("mcp-protocol-version", version), 400, Error(-32022));
    }
    for (version, header) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "1999-01-01")] {
        let handshake = request(Era::Minimal, "initialize", initialize(version)).with("mcp-protocol-version", header);
        case(&format!("initialize {version} with header"), handshake, 200, Done);
    }
    let different =
        request(Era::Minimal, "initialize", initialize("2025-06-18")).with("mcp-protocol-version", "2025-11-25");
    case("initialize with another header", different, 400, Error(-32600));

    let modern = || request(Era::July2026, "tools/call", stats());
    let discover = request(Era::July2026, "server/discover", json!({}));
    case("discover", discover.clone(), 200, Done);
    case(
        "discover without metadata",
        discover.body(r#"{"jsonrpc":"2.0","id":7,"method":"server/discover"}"#),
        400,
        Error(-32602),
    );
    case("modern without method", modern().without("mcp-method"), 400, Error(-32020));
    case("modern with another method", modern().with("mcp-method", "tools/list"), 400, Error(-32020));
    case("modern without name", modern().without("mcp-name"), 400, Error(-32020));
    case("modern with another name", modern().with("mcp-name", "search_vcs"), 400, Error(-32020));
    let read = || request(Era::July2026, "resources/read", json!({ "uri": "venturedex://about" }));
    case("modern read without name", read().without("mcp-name"), 400, Error(-32020));
    case("modern read with another name", read().with("mcp-name", "venturedex://sectors"), 400, Error(-32020));
    case("modern without version", modern().without("mcp-protocol-version"), 400, Error(-32020));
    case("modern with another version", modern().with("mcp-protocol-version", "2025-11-25"), 400, Error(-32020));
    let other = modern().replaced("2026-07-28", "2030-01-01");
    case("modern with metadata of an unknown version", other, 400, Error(-32020));
    let future = modern().replaced("2026-07-28", "2030-01-01").with("mcp-protocol-version", "2030-01-01");
    case("a later revision", future, 400, Error(-32022));
    let incomplete = modern().replaced(r#""io.modelcontextprotocol/clientCapabilities":{},"#, "");
    case("modern without capabilities", incomplete, 400, Error(-32602));

    let endpoint = Endpoint::new();
    assert!(cases.len() > 150, "{}", cases.len());
    for (name, request, status, outcome) in cases {
        let reply = request.send(&endpoint).await;
        assert_eq!(reply.status, status, "{name}: {:?}", reply.body);
        let found = if reply.body.is_empty() {
            Nothing
        } else {
            let response = reply.json();
            assert_eq!(response["jsonrpc"], "2.0", "{name}");
            assert_eq!(reply.header("content-type"), "application/json", "{name}");
            if status == 200 {
                let id = if name == "text id" { json!("seven") } else { json!(7) };
                assert_eq!(response["id"], id, "{name}");
            }
            match response.get("error") {
                Some(error) => {
                    assert!(error["message"].as_str().is_some_and(|message| message.len() > 3), "{name}: {error}");
                    Error(error["code"].as_i64().unwrap())
                }
                None => Done,
            }
        };
        assert_eq!(found, outcome, "{name}: {:?}", reply.body);
        for header in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            assert_ne!(reply.header(header), "", "{name}: {header}");
        }
        assert_eq!(reply.header("x-snapshot"), "2026-11-20.1", "{name}");
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{name}");
        assert_eq!(reply.header("allow") == "POST, OPTIONS", status == 405, "{name}");
    }
}

#[tokio::test]
async fn an_error_has_the_id_of_its_request_or_the_placeholder_of_its_revision() {
    let endpoint = Endpoint::new();
    let minimal = request(Era::Minimal, "tools/list", json!({}));
    let incomplete = minimal.clone().replaced(r#""jsonrpc":"2.0","#, "").send(&endpoint).await.json();
    assert_eq!(incomplete["id"], 7);
    let unparsable = minimal.body("{").send(&endpoint).await.json();
    assert_eq!(unparsable.get("id"), Some(&Value::Null));
    let modern = request(Era::July2026, "tools/list", json!({})).body("{").send(&endpoint).await.json();
    assert_eq!(modern.get("id"), None);
}

#[tokio::test]
async fn results_of_the_newest_revision_are_tagged() {
    let endpoint = Endpoint::new();
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", call("search_vcs", json!({}))),
        ("tools/call", call("search_vcs", json!({ "limit": -1 }))),
    ] {
        let result = request(Era::July2026, method, params).send(&endpoint).await.json()["result"].clone();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "venturedex", "{method}");
        if method != "tools/call" {
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(3_600_000), &json!("public")), "{method}");
        }
    }
    let discovered =
        request(Era::July2026, "server/discover", json!({})).send(&endpoint).await.json()["result"].clone();
    let versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    assert_eq!(discovered["supportedVersions"], json!(versions));
    assert_eq!(discovered["capabilities"], json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} }));
}

#[tokio::test]
async fn older_revisions_get_no_fields_of_the_newest() {
    let endpoint = Endpoint::new();
    for era in [Era::Minimal, Era::March2025, Era::June2025, Era::November2025] {
        let listed = request(era, "tools/list", json!({})).send(&endpoint).await.json();
        assert_eq!(listed["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"], "{era:?}");
        let called = request(era, "tools/call", call("search_vcs", json!({}))).send(&endpoint).await.json();
        let keys: Vec<_> = called["result"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["content", "isError", "structuredContent"], "{era:?}");
        let handshake = request(era, "initialize", initialize(era.version())).send(&endpoint).await.json();
        assert_eq!(handshake["result"]["protocolVersion"], era.version(), "{era:?}");
        assert_eq!(
            handshake["result"]["capabilities"],
            json!({ "tools": {}, "resources": {}, "prompts": {}, "completions": {} }),
            "{era:?}"
        );
    }
    // For an unsupported revision the server proposes the newest with a handshake.
    for version in ["2024-11-05", "2026-07-28", "2030-01-01"] {
        let handshake = request(Era::Minimal, "initialize", initialize(version)).send(&endpoint).await.json();
        assert_eq!(handshake["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[tokio::test]
async fn the_six_tools_are_always_listed_the_same() {
    let endpoint = Endpoint::new();
    let list = request(Era::July2026, "tools/list", json!({}));
    let listed = list.send(&endpoint).await;
    assert_eq!(listed.body, list.send(&endpoint).await.body);
    let listed = listed.json();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, Tool::ALL.map(Tool::name));
    for tool in tools {
        for field in ["title", "description", "inputSchema", "outputSchema"] {
            assert!(!tool[field].is_null(), "{field}");
        }
        let annotations = json!({
            "readOnlyHint": true, "destructiveHint": false, "openWorldHint": false,
        });
        assert_eq!(tool["annotations"], annotations);
    }
}

#[tokio::test]
async fn a_result_is_the_same_as_text_and_as_structured_content() {
    let endpoint = Endpoint::new();
    let calls = Tool::ALL.map(|tool| match tool {
        Tool::GetVcProfile => (tool, json!({ "slug": "alder-capital" })),
        Tool::GetPlatformStats => (tool, json!({})),
        _ => (tool, json!({ "limit": 3 })),
    });
    for era in ERAS {
        for (tool, arguments) in &calls {
            let reply = request(era, "tools/call", call(tool.name(), arguments.clone())).send(&endpoint).await;
            let result = &reply.json()["result"];
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"], "{arguments}");
            assert!(
                String::from_utf8_lossy(&reply.body).contains(&format!("\"structuredContent\":{text}")),
                "{arguments}"
            );
            assert_eq!(result["isError"], false);
        }
    }
}

#[tokio::test]
async fn invalid_arguments_are_explained() {
    let endpoint = Endpoint::new();
    for (arguments, words) in [
        (json!({ "stge": "seed" }), "`stge` is not an argument of search_vcs; did you mean `stage`?"),
        (json!({ "limit": "many" }), "`limit` must be an integer"),
        (json!({ "sector": "fintec" }), "did you mean `fintech`?"),
    ] {
        let params = call("search_vcs", arguments);
        let result = request(Era::Minimal, "tools/call", params).send(&endpoint).await.json()["result"].clone();
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
    }
    for (method, words) in [
        ("tools/cal", "unknown method `tools/cal`; did you mean `tools/call`?"),
        ("prompts/lists", "did you mean `prompts/list`?"),
        ("sampling/createMessage", "unknown method `sampling/createMessage`"),
    ] {
        let unknown = request(Era::Minimal, method, json!({})).send(&endpoint).await.json();
        let message = unknown["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    let unknown_tool = request(Era::Minimal, "tools/call", call("search_vc", json!({}))).send(&endpoint).await.json();
    let message = unknown_tool["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("unknown tool `search_vc`; did you mean `search_vcs`?"), "{message}");
}

#[tokio::test]
async fn an_incomplete_body_is_an_error() {
    let endpoint = Endpoint::new();
    let errors: [(Box<dyn std::error::Error + Send + Sync>, u16); 2] =
        [(BodyTimeout.into(), 408), ("the connection broke".into(), 400)];
    for (error, status) in errors {
        let parts = [Ok(Frame::data(Bytes::from_static(b"{"))), Err(error)];
        let body = StreamBody::new(futures_util::stream::iter(parts));
        let request = Request::post("/api/mcp").header("host", "localhost").header("content-type", "application/json");
        let reply = TestRequest::exchange(request.body(body).unwrap(), &endpoint).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (status, &json!(-32600)));
    }
}

#[tokio::test]
async fn a_body_is_limited_while_it_is_received() {
    let endpoint = Endpoint::new();
    let parts = (0..100).map(|_| Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![b' '; 100]))));
    let body = StreamBody::new(futures_util::stream::iter(parts));
    let request = Request::post("/api/mcp").header("host", "localhost").header("content-type", "application/json");
    assert_eq!(TestRequest::exchange(request.body(body).unwrap(), &endpoint).await.status, 413);
}
