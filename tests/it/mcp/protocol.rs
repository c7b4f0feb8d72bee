//! The endpoint as clients of each protocol revision see it.

use bytes::Bytes;
use http::Request;
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde_json::{Value, json};
use venturedex::http::BodyTimeout;
use venturedex::mcp::Tool;

use super::ask::{Ask, ERAS, Era, ask, call, initialize};
use super::sample::endpoint;

/// What an answer must be: a result, the code of an error, or nothing (a notification was taken).
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Result,
    Error(i64),
    Nothing,
}

use Outcome::{Error, Nothing, Result as Done};

#[tokio::test]
async fn each_revision_gets_its_answers_and_each_fault_its_error() {
    let stats = || call("get_platform_stats", json!({}));
    let mut cases: Vec<(String, Ask, u16, Outcome)> = Vec::new();
    let mut case = |name: &str, ask: Ask, status, outcome| cases.push((name.to_owned(), ask, status, outcome));

    for era in ERAS {
        let modern = era == Era::July2026;
        // An unknown method is 404 from 2026-07-28 on, and 200 with an error before.
        let unknown = if modern { 404 } else { 200 };
        case(&format!("{era:?} tools/list"), ask(era, "tools/list", json!({})), 200, Done);
        case(&format!("{era:?} tools/call"), ask(era, "tools/call", stats()), 200, Done);
        let wrong = call("search_vcs", json!({ "limit": "many" }));
        case(&format!("{era:?} wrong argument"), ask(era, "tools/call", wrong), 200, Done);
        let nobody = call("search_firms", json!({}));
        case(&format!("{era:?} unknown tool"), ask(era, "tools/call", nobody), 200, Error(-32602));
        let listed = call("search_vcs", json!(["seed"]));
        case(&format!("{era:?} arguments as a list"), ask(era, "tools/call", listed), 200, Error(-32602));
        case(&format!("{era:?} cursor"), ask(era, "tools/list", json!({ "cursor": "x" })), 200, Error(-32602));
        case(&format!("{era:?} unknown method"), ask(era, "tools/run", json!({})), unknown, Error(-32601));
        for undeclared in ["prompts/list", "resources/list", "resources/templates/list", "logging/setLevel"] {
            let params = if undeclared == "logging/setLevel" { json!({ "level": "info" }) } else { json!({}) };
            case(&format!("{era:?} {undeclared}"), ask(era, undeclared, params), unknown, Error(-32601));
        }
        let (status, outcome) = if modern { (404, Error(-32601)) } else { (200, Done) };
        case(&format!("{era:?} ping"), ask(era, "ping", json!({})), status, outcome);
        if modern {
            let hello = ask(era, "initialize", initialize(era.version())).with("mcp-protocol-version", era.version());
            case("modern initialize", hello, 404, Error(-32601));
        } else {
            let hello = ask(era, "initialize", initialize(era.version()));
            case(&format!("{era:?} initialize"), hello, 200, Done);
            let ready = ask(era, "notifications/initialized", json!({})).replaced(r#""id":7,"#, "");
            case(&format!("{era:?} initialized"), ready, 202, Nothing);
        }
        let ask_list = || ask(era, "tools/list", json!({}));
        case(&format!("{era:?} broken JSON"), ask_list().body("{"), 400, Error(-32700));
        case(&format!("{era:?} batch"), ask_list().body(&format!("[{}]", ask_list().body)), 400, Error(-32600));
        case(&format!("{era:?} null id"), ask_list().replaced(r#""id":7"#, r#""id":null"#), 400, Error(-32600));
        case(&format!("{era:?} no jsonrpc"), ask_list().replaced(r#""jsonrpc":"2.0","#, ""), 400, Error(-32600));
        case(&format!("{era:?} too long"), ask_list().body(&" ".repeat(4_097)), 413, Error(-32600));
        case(&format!("{era:?} form"), ask_list().with("content-type", "text/plain"), 415, Error(-32600));
        case(&format!("{era:?} strange host"), ask_list().with("host", "evil.test"), 403, Error(-32600));
        case(&format!("{era:?} strange origin"), ask_list().with("origin", "http://evil.test"), 403, Error(-32600));
        case(&format!("{era:?} our origin"), ask_list().with("origin", "http://localhost:6274"), 200, Done);
        case(&format!("{era:?} wrong key"), ask_list().with("authorization", "Bearer vdx_wrong"), 401, Error(-32000));
        case(&format!("{era:?} other bearer"), ask_list().with("authorization", "Bearer abc"), 200, Done);
        case(&format!("{era:?} GET"), ask_list().by("GET"), 405, Error(-32600));
        case(&format!("{era:?} DELETE"), ask_list().by("DELETE"), 405, Error(-32600));
    }

    let bare = || ask(Era::ConnectionError, "tools/list", json!({}));
    case("params null", bare().body(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":null}"#), 200, Done);
    case(
        "params list",
        bare().body(r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":[]}"#),
        400,
        Error(-32602),
    );
    let extra = r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","x":1}"#;
    case("a field too many", bare().body(extra), 200, Done);
    case("a key twice", bare().body(r#"{"jsonrpc":"2.0","id":7,"id":7,"method":"tools/list"}"#), 200, Done);
    case("a response", bare().body(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#), 400, Error(-32600));
    case("text id", bare().replaced(r#""id":7"#, r#""id":"seven""#), 200, Done);
    case("charset", bare().with("content-type", "Application/JSON; charset=utf-8"), 200, Done);
    case("no content type", bare().without("content-type"), 415, Error(-32600));
    case("compressed", bare().with("content-encoding", "gzip"), 415, Error(-32600));
    for accept in ["*/*", "application/json", "text/event-stream", "application/*;q=0.1, text/html"] {
        case(accept, bare().with("accept", accept), 200, Done);
    }
    for accept in ["text/html", "application/json;q=0"] {
        case(accept, bare().with("accept", accept), 406, Error(-32600));
    }
    case("no host", bare().without("host"), 400, Error(-32600));
    for version in ["2024-11-05", "2030-01-01", "latest"] {
        case(version, bare().with("mcp-protocol-version", version), 400, Error(-32022));
    }
    for (version, header) in [("2025-06-18", "2025-06-18"), ("1999-01-01", "1999-01-01")] {
        let hello = ask(Era::ConnectionError, "initialize", initialize(version)).with("mcp-protocol-version", header);
        case(&format!("initialize {version} with header"), hello, 200, Done);
    }
    let torn =
        ask(Era::ConnectionError, "initialize", initialize("2025-06-18")).with("mcp-protocol-version", "2025-11-25");
    case("initialize with another header", torn, 400, Error(-32600));

    let modern = || ask(Era::July2026, "tools/call", stats());
    let discover = ask(Era::July2026, "server/discover", json!({}));
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
    case("modern without version", modern().without("mcp-protocol-version"), 400, Error(-32020));
    case("modern with another version", modern().with("mcp-protocol-version", "2025-11-25"), 400, Error(-32020));
    let future = modern().replaced("2026-07-28", "2030-01-01").with("mcp-protocol-version", "2030-01-01");
    case("a later revision", future, 400, Error(-32022));
    let silent = modern().replaced(r#""io.modelcontextprotocol/clientCapabilities":{},"#, "");
    case("modern without capabilities", silent, 400, Error(-32602));

    let (endpoint, _) = endpoint();
    assert!(cases.len() > 150, "{}", cases.len());
    for (name, ask, status, outcome) in cases {
        let reply = ask.send(&endpoint).await;
        assert_eq!(reply.status, status, "{name}: {:?}", reply.body);
        let told = if reply.body.is_empty() {
            Nothing
        } else {
            let answer = reply.json();
            assert_eq!(answer["jsonrpc"], "2.0", "{name}");
            assert_eq!(reply.header("content-type"), "application/json", "{name}");
            if status == 200 {
                let id = if name == "text id" { json!("seven") } else { json!(7) };
                assert_eq!(answer["id"], id, "{name}");
            }
            match answer.get("error") {
                Some(error) => {
                    assert!(error["message"].as_str().is_some_and(|message| message.len() > 3), "{name}: {error}");
                    Error(error["code"].as_i64().unwrap())
                }
                None => Done,
            }
        };
        assert_eq!(told, outcome, "{name}: {:?}", reply.body);
        for header in ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"] {
            assert_ne!(reply.header(header), "", "{name}: {header}");
        }
        assert_eq!(reply.header("x-snapshot"), "2026-11-20.1", "{name}");
        assert_eq!(reply.header("access-control-allow-origin"), "*", "{name}");
        assert_eq!(reply.header("allow") == "POST, OPTIONS", status == 405, "{name}");
    }
}

#[tokio::test]
async fn an_error_has_the_id_of_its_request_or_what_stands_for_none() {
    let (endpoint, _) = endpoint();
    let bare = ask(Era::ConnectionError, "tools/list", json!({}));
    let torn = bare.clone().replaced(r#""jsonrpc":"2.0","#, "").send(&endpoint).await.json();
    assert_eq!(torn["id"], 7);
    let unread = bare.body("{").send(&endpoint).await.json();
    assert_eq!(unread.get("id"), Some(&Value::Null));
    let modern = ask(Era::July2026, "tools/list", json!({})).body("{").send(&endpoint).await.json();
    assert_eq!(modern.get("id"), None);
}

#[tokio::test]
async fn every_result_of_the_newest_revision_says_what_it_is() {
    let (endpoint, _) = endpoint();
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", call("search_vcs", json!({}))),
        ("tools/call", call("search_vcs", json!({ "limit": -1 }))),
    ] {
        let result = ask(Era::July2026, method, params).send(&endpoint).await.json()["result"].clone();
        assert_eq!(result["resultType"], "complete", "{method}");
        assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "venturedex", "{method}");
        if method != "tools/call" {
            assert_eq!((&result["ttlMs"], &result["cacheScope"]), (&json!(3_600_000), &json!("public")), "{method}");
        }
    }
    let discovered = ask(Era::July2026, "server/discover", json!({})).send(&endpoint).await.json()["result"].clone();
    let versions = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    assert_eq!(discovered["supportedVersions"], json!(versions));
    assert_eq!(discovered["capabilities"], json!({ "tools": {} }));
}

#[tokio::test]
async fn older_revisions_get_no_fields_of_the_newest() {
    let (endpoint, _) = endpoint();
    for era in [Era::ConnectionError, Era::March2025, Era::June2025, Era::November2025] {
        let listed = ask(era, "tools/list", json!({})).send(&endpoint).await.json();
        assert_eq!(listed["result"].as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"], "{era:?}");
        let called = ask(era, "tools/call", call("search_vcs", json!({}))).send(&endpoint).await.json();
        let keys: Vec<_> = called["result"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["content", "isError", "structuredContent"], "{era:?}");
        let hello = ask(era, "initialize", initialize(era.version())).send(&endpoint).await.json();
        assert_eq!(hello["result"]["protocolVersion"], era.version(), "{era:?}");
        assert_eq!(hello["result"]["capabilities"], json!({ "tools": {} }), "{era:?}");
    }
    // A revision that is not spoken gets the newest that has a handshake.
    for version in ["2024-11-05", "2026-07-28", "2030-01-01"] {
        let hello = ask(Era::ConnectionError, "initialize", initialize(version)).send(&endpoint).await.json();
        assert_eq!(hello["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[tokio::test]
async fn six_tools_are_listed_the_same_each_time() {
    let (endpoint, _) = endpoint();
    let list = ask(Era::July2026, "tools/list", json!({}));
    let listed = list.send(&endpoint).await;
    assert_eq!(listed.body, list.send(&endpoint).await.body);
    assert!(listed.body.len() < 10_000, "{}", listed.body.len());
    let listed = listed.json();
    let tools = listed["result"]["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, Tool::ALL.map(Tool::name));
    for tool in tools {
        for field in ["title", "description", "inputSchema", "outputSchema"] {
            assert!(!tool[field].is_null(), "{field}");
        }
        assert_eq!(tool["annotations"]["readOnlyHint"], true);
        assert_eq!(tool["inputSchema"]["additionalProperties"], false);
    }
}

#[tokio::test]
async fn a_result_is_structured_and_the_same_as_text() {
    let (endpoint, _) = endpoint();
    for era in ERAS {
        for arguments in [json!({ "limit": 3 }), json!({ "query": "hostile" })] {
            let reply = ask(era, "tools/call", call("search_vcs", arguments.clone())).send(&endpoint).await;
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
async fn wrong_arguments_are_told_with_their_mend() {
    let (endpoint, _) = endpoint();
    for (arguments, words) in [
        (json!({ "stge": "seed" }), "`stge` is not an argument of search_vcs; did you mean `stage`?"),
        (json!({ "limit": "many" }), "`limit` must be a whole number"),
        (json!({ "query": "nowhere" }), "`sector` \"nowhere\" is not a sector"),
    ] {
        let params = call("search_vcs", arguments);
        let result = ask(Era::ConnectionError, "tools/call", params).send(&endpoint).await.json()["result"].clone();
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
    }
    for (method, words) in [
        ("tools/cal", "no method `tools/cal` here; did you mean `tools/call`?"),
        ("prompts/list", "no method `prompts/list` here"),
        ("resources/templates/list", "no method `resources/templates/list` here"),
        ("sampling/createMessage", "list them by tools/list"),
    ] {
        let refused = ask(Era::ConnectionError, method, json!({})).send(&endpoint).await.json();
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains(words), "{message}");
    }
    let nobody = ask(Era::ConnectionError, "tools/call", call("search_vc", json!({}))).send(&endpoint).await.json();
    let message = nobody["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("unknown tool `search_vc`; did you mean `search_vcs`?"), "{message}");
}

#[tokio::test]
async fn a_body_that_does_not_come_or_breaks_off_is_told() {
    let (endpoint, _) = endpoint();
    let torn: [(Box<dyn std::error::Error + Send + Sync>, u16); 2] =
        [(BodyTimeout.into(), 408), ("the connection broke".into(), 400)];
    for (error, status) in torn {
        let parts = [Ok(Frame::data(Bytes::from_static(b"{"))), Err(error)];
        let body = StreamBody::new(futures_util::stream::iter(parts));
        let request = Request::post("/api/mcp").header("host", "localhost").header("content-type", "application/json");
        let reply = Ask::exchange(request.body(body).unwrap(), &endpoint).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (status, &json!(-32600)));
    }
}

#[tokio::test]
async fn a_body_is_limited_while_it_comes() {
    let (endpoint, _) = endpoint();
    let parts = (0..100).map(|_| Ok::<_, std::convert::Infallible>(Frame::data(Bytes::from(vec![b' '; 100]))));
    let body = StreamBody::new(futures_util::stream::iter(parts));
    let request = Request::post("/api/mcp").header("host", "localhost").header("content-type", "application/json");
    assert_eq!(Ask::exchange(request.body(body).unwrap(), &endpoint).await.status, 413);
}
