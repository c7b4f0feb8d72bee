//! The endpoint as clients of each protocol revision see it.

use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use http::{HeaderValue, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};

use super::*;

const LIMIT: u32 = 100;

/// A release that answers what its `query` says.
struct Sample;

impl Release for Sample {
    fn snapshot(&self) -> &str {
        "2026-11-20.1"
    }

    fn answer(&self, call: &Call) -> Answer {
        let items = vec![r#"{"slug":"acme","name":"Acme"}"#; call.count("limit")];
        let search = Document::new().list("items", items).field("total", "12").field("snapshot", "\"2026-11-20.1\"");
        match call.value("q") {
            Some("panic") => panic!("a fault in a tool"),
            Some("broken") => Answer::Found("{".to_owned()),
            Some("nowhere") => Answer::Wrong(vec![Mistake {
                argument: "sector".to_owned(),
                detail: "\"nowhere\" is not a sector".to_owned(),
                did_you_mean: Vec::new(),
                accepted: Vec::new(),
            }]),
            _ => Answer::Found(search.text()),
        }
    }
}

impl Tools for Sample {
    fn current(&self) -> Arc<dyn Release> {
        Arc::new(Sample)
    }
}

/// A gate with one counter.
#[derive(Default)]
struct Counter(Arc<AtomicU32>);

impl Counter {
    fn headers(used: u32) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-ratelimit-limit", LIMIT.into());
        headers.insert("x-ratelimit-remaining", LIMIT.saturating_sub(used).into());
        headers.insert("x-ratelimit-reset", HeaderValue::from_static("1795305600"));
        headers
    }
}

impl Gate for Counter {
    fn admit(&self, request: &Parts, charged: bool) -> Admission {
        if request.headers.get("authorization").is_some_and(|key| key == "Bearer vdx_wrong") {
            let data = json!({ "code": "invalid_api_key" });
            let refusal = Fault::refused(StatusCode::UNAUTHORIZED, "the key is not valid".to_owned(), data);
            return Admission { headers: Self::headers(LIMIT), refusal: Some(refusal), refund: None };
        }
        let used = self.0.load(Ordering::Relaxed);
        if !charged {
            return Admission { headers: Self::headers(used), ..Admission::default() };
        }
        if used >= LIMIT {
            let data = json!({ "code": "quota_exceeded", "limit": LIMIT });
            let refusal = Fault::refused(StatusCode::TOO_MANY_REQUESTS, "the daily quota is used up".to_owned(), data);
            return Admission { headers: Self::headers(used), refusal: Some(refusal), refund: None };
        }
        let counter = Arc::clone(&self.0);
        let used = counter.fetch_add(1, Ordering::Relaxed) + 1;
        let refund = move || Self::headers(counter.fetch_sub(1, Ordering::Relaxed) - 1);
        Admission { headers: Self::headers(used), refusal: None, refund: Some(Box::new(refund)) }
    }
}

fn endpoint() -> (BoxedFilter<(Response,)>, Arc<AtomicU32>) {
    let used = Arc::new(AtomicU32::new(0));
    let settings = Settings { body_limit: 4_096, ..Settings::new("http://127.0.0.1:8080") };
    (routes(&settings, Arc::new(Sample), Arc::new(Counter(Arc::clone(&used)))).unwrap(), used)
}

/// A protocol revision, as its clients write requests.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Era {
    /// Nothing but a content type.
    Bare,
    March2025,
    June2025,
    November2025,
    July2026,
}

const ERAS: [Era; 5] = [Era::Bare, Era::March2025, Era::June2025, Era::November2025, Era::July2026];

impl Era {
    fn version(self) -> &'static str {
        match self {
            Self::Bare | Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }
}

/// A request to be made, with faults put in.
#[derive(Clone, Debug)]
struct Ask {
    method: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
}

fn ask(era: Era, method: &str, mut params: Value) -> Ask {
    let mut headers = vec![("host", "localhost:8080".to_owned()), ("content-type", "application/json".to_owned())];
    if era != Era::Bare {
        headers.push(("accept", "application/json, text/event-stream".to_owned()));
    }
    if !matches!(era, Era::Bare | Era::March2025) && method != "initialize" {
        headers.push(("mcp-protocol-version", era.version().to_owned()));
    }
    if era == Era::July2026 {
        headers.push(("mcp-method", method.to_owned()));
        if let Some(name) = params.get("name").and_then(Value::as_str) {
            headers.push(("mcp-name", name.to_owned()));
        }
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        });
    }
    let mut body = json!({ "jsonrpc": "2.0", "id": 7, "method": method });
    if params.as_object().is_some_and(|params| !params.is_empty()) {
        body["params"] = params;
    }
    Ask { method: "POST", headers, body: body.to_string() }
}

fn initialize(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

impl Ask {
    fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self
    }

    fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    fn replaced(mut self, from: &str, to: &str) -> Self {
        assert!(self.body.contains(from), "{} has no {from}", self.body);
        self.body = self.body.replace(from, to);
        self
    }

    fn by(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    async fn send(&self, endpoint: &BoxedFilter<(Response,)>) -> Reply {
        self.send_to("/api/mcp", endpoint).await
    }

    async fn send_to(&self, path: &str, endpoint: &BoxedFilter<(Response,)>) -> Reply {
        let mut request = Request::builder().method(self.method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(Bytes::from(self.body.clone()))).unwrap();
        let routes = TowerToHyperService::new(warp::service(endpoint.clone()));
        let Ok(answer) = routes.call(request).await;
        let (head, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply { status: head.status.as_u16(), headers: head.headers, body }
    }
}

#[derive(Debug)]
struct Reply {
    status: u16,
    headers: HeaderMap,
    body: Bytes,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

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
        if !modern {
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

    let bare = || ask(Era::Bare, "tools/list", json!({}));
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
        let hello = ask(Era::Bare, "initialize", initialize(version)).with("mcp-protocol-version", header);
        case(&format!("initialize {version} with header"), hello, 200, Done);
    }
    let torn = ask(Era::Bare, "initialize", initialize("2025-06-18")).with("mcp-protocol-version", "2025-11-25");
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
    let bare = ask(Era::Bare, "tools/list", json!({}));
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
    for era in [Era::Bare, Era::March2025, Era::June2025, Era::November2025] {
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
        let hello = ask(Era::Bare, "initialize", initialize(version)).send(&endpoint).await.json();
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
    let params = call("search_vcs", json!({ "limit": 3 }));
    let called = ask(Era::Bare, "tools/call", params).send(&endpoint).await.json();
    let result = &called["result"];
    let text = result["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), result["structuredContent"]);
    assert_eq!(result["structuredContent"]["items"].as_array().unwrap().len(), 3);
    assert_eq!(result["isError"], false);
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
        let result = ask(Era::Bare, "tools/call", params).send(&endpoint).await.json()["result"].clone();
        assert_eq!(result["isError"], true);
        assert_eq!(result.get("structuredContent"), None);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(words), "{text}");
    }
    let nobody = ask(Era::Bare, "tools/call", call("search_vc", json!({}))).send(&endpoint).await.json();
    let message = nobody["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("unknown tool `search_vc`; did you mean `search_vcs`?"), "{message}");
}

#[tokio::test]
async fn only_calls_of_tools_are_counted_and_faults_of_ours_are_given_back() {
    let (endpoint, used) = endpoint();
    for (ask, count) in [
        (ask(Era::Bare, "tools/list", json!({})), 0),
        (ask(Era::Bare, "initialize", initialize("2025-11-25")), 0),
        (ask(Era::Bare, "tools/call", call("search_vcs", json!({}))).replaced(r#""id":7,"#, ""), 0),
        (ask(Era::Bare, "tools/call", call("search_vcs", json!({}))).with("host", "evil.test"), 0),
        (ask(Era::Bare, "tools/call", call("search_vcs", json!({}))), 1),
        (ask(Era::Bare, "tools/call", call("search_vcs", json!({ "limit": 0 }))), 2),
        (ask(Era::Bare, "tools/call", call("no_such_tool", json!({}))), 3),
        (ask(Era::July2026, "tools/call", call("search_vcs", json!({}))), 4),
    ] {
        let reply = ask.send(&endpoint).await;
        assert_eq!(used.load(Ordering::Relaxed), count, "{ask:?}");
        assert_eq!(reply.header("x-ratelimit-remaining"), (LIMIT - count).to_string(), "{ask:?}");
    }
    for query in ["panic", "broken"] {
        let params = call("search_vcs", json!({ "query": query }));
        let reply = ask(Era::Bare, "tools/call", params).send(&endpoint).await;
        assert_eq!((reply.status, &reply.json()["error"]["code"]), (500, &json!(-32603)), "{query}");
        assert_eq!(reply.json()["id"], 7);
        assert_eq!(reply.header("x-ratelimit-remaining"), "96", "{query}");
    }
    assert_eq!(used.load(Ordering::Relaxed), 4);
}

#[tokio::test]
async fn a_used_up_quota_is_told_and_other_methods_stay_free() {
    let (endpoint, used) = endpoint();
    used.store(LIMIT - 1, Ordering::Relaxed);
    let ask_stats = ask(Era::Bare, "tools/call", call("get_platform_stats", json!({})));
    assert_eq!(ask_stats.send(&endpoint).await.status, 200);
    let refused = ask_stats.send(&endpoint).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("x-ratelimit-remaining"), "0");
    let error = refused.json();
    assert_eq!((&error["id"], &error["error"]["data"]["code"]), (&json!(7), &json!("quota_exceeded")));
    assert_eq!(ask(Era::Bare, "tools/list", json!({})).send(&endpoint).await.status, 200);
}

#[tokio::test]
async fn the_manifest_is_one_value_at_each_of_its_addresses() {
    let (endpoint, _) = endpoint();
    let get = ask(Era::Bare, "", json!({})).by("GET").body("");
    let manifest = get.send_to("/api/mcp/.well-known", &endpoint).await;
    assert_eq!((manifest.status, manifest.header("content-type")), (200, "application/json"));
    assert_eq!(manifest.header("access-control-allow-origin"), "*");
    assert_eq!(manifest.header("x-ratelimit-limit"), "100");
    let card = manifest.json();
    assert_eq!(card["endpoint"], "http://127.0.0.1:8080/api/mcp");
    assert_eq!(card["protocolVersions"], json!(["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"]));
    assert_eq!(card["limits"]["toolCallsPerDay"], 100);
    let listed = ask(Era::Bare, "tools/list", json!({})).send(&endpoint).await.json();
    assert_eq!(card["tools"], listed["result"]["tools"]);
    for path in ["/api/mcp/server-card", "/.well-known/mcp/server-card.json"] {
        assert_eq!(get.send_to(path, &endpoint).await.body, manifest.body, "{path}");
    }
    let known = get.clone().with("if-none-match", manifest.header("etag"));
    let known = known.send_to("/api/mcp/server-card", &endpoint).await;
    assert_eq!((known.status, known.body.len()), (304, 0));
    assert_eq!(known.header("etag"), manifest.header("etag"));
    let posted = get.clone().by("POST").send_to("/api/mcp/.well-known", &endpoint).await;
    assert_eq!((posted.status, posted.header("allow")), (405, "GET, HEAD, OPTIONS"));
    assert_eq!(get.send_to("/api/mcp/nothing", &endpoint).await.status, 404);
}

#[tokio::test]
async fn browsers_may_ask_before_they_call() {
    let (endpoint, _) = endpoint();
    let preflight = ask(Era::Bare, "", json!({})).by("OPTIONS").body("").with("origin", "https://inspector.test");
    let reply = preflight.send(&endpoint).await;
    assert_eq!((reply.status, reply.header("allow")), (204, "POST, OPTIONS"));
    assert!(reply.header("access-control-allow-headers").contains("MCP-Protocol-Version"));
    assert!(reply.header("access-control-expose-headers").contains("X-RateLimit-Remaining"));
}
