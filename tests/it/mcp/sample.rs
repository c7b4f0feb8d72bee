//! What the endpoint's protocol is tested on: a release that answers what it is asked to, and a gate with one counter.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;
use venturedex::mcp::{
    Admission, Admitting, ArgError, JsonRpcError, McpAdmission, McpEndpoint, Release, Settings, ToolAnswer, ToolCall,
    ToolResult, Tools,
};

/// Calls a day that the counter admits.
pub const LIMIT: u32 = 100;

/// A release that answers what its `query` says.
pub struct Sample;

impl Release for Sample {
    fn snapshot(&self) -> &str {
        "2026-11-20.1"
    }

    fn answer(&self, call: &ToolCall) -> ToolAnswer {
        let items = vec![r#"{"slug":"acme","name":"Acme"}"#; call.count("limit")];
        let search = ToolResult::new().list("items", items).field("total", "12").field("snapshot", "\"2026-11-20.1\"");
        match call.value("q") {
            Some("panic") => panic!("a fault in a tool"),
            Some("hostile") => {
                ToolAnswer::Found(json!({ "items": [r#""structuredContent":null"#], "x": null }).to_string())
            }
            Some("nowhere") => ToolAnswer::Wrong(vec![ArgError {
                argument: "sector".to_owned(),
                detail: "\"nowhere\" is not a sector".to_owned(),
                did_you_mean: Vec::new(),
                accepted: Vec::new(),
            }]),
            _ => ToolAnswer::Found(search.text()),
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
pub struct Counter(pub Arc<AtomicU32>);

impl Counter {
    fn headers(used: u32) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert("x-ratelimit-limit", LIMIT.into());
        headers.insert("x-ratelimit-remaining", LIMIT.saturating_sub(used).into());
        headers.insert("x-ratelimit-reset", HeaderValue::from_static("1795305600"));
        headers
    }
}

impl McpAdmission for Counter {
    fn admit<'a>(&'a self, request: &'a Parts, charged: bool) -> Admitting<'a> {
        Box::pin(std::future::ready(self.decide(request, charged)))
    }
}

impl Counter {
    fn decide(&self, request: &Parts, charged: bool) -> Admission {
        if request.headers.get("authorization").is_some_and(|key| key == "Bearer vdx_wrong") {
            let data = json!({ "code": "invalid_api_key" });
            let refusal = JsonRpcError::refused(StatusCode::UNAUTHORIZED, "the key is not valid".to_owned(), data);
            return Admission { headers: Self::headers(LIMIT), refusal: Some(refusal), refund: None };
        }
        let used = self.0.load(Ordering::Relaxed);
        if !charged {
            return Admission { headers: Self::headers(used), ..Admission::default() };
        }
        if used >= LIMIT {
            let data = json!({ "code": "quota_exceeded", "limit": LIMIT });
            let refusal =
                JsonRpcError::refused(StatusCode::TOO_MANY_REQUESTS, "the daily quota is used up".to_owned(), data);
            return Admission { headers: Self::headers(used), refusal: Some(refusal), refund: None };
        }
        let counter = Arc::clone(&self.0);
        let used = counter.fetch_add(1, Ordering::Relaxed) + 1;
        let refund = move || Self::headers(counter.fetch_sub(1, Ordering::Relaxed) - 1);
        Admission { headers: Self::headers(used), refusal: None, refund: Some(Box::new(refund)) }
    }
}

/// The endpoint over the sample, and its counter.
pub fn endpoint() -> (McpEndpoint, Arc<AtomicU32>) {
    let used = Arc::new(AtomicU32::new(0));
    let settings = Settings { body_limit: 4_096, ..Settings::new("http://127.0.0.1:8080") };
    (McpEndpoint::new(&settings, Arc::new(Sample), Arc::new(Counter(Arc::clone(&used)))).unwrap(), used)
}
