//! Requests as clients of each protocol revision send them.

use std::io::Read;

use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyDataStream, BodyExt, Full};
use mcp::McpPath;
use serde_json::{Value, json};
use transport::{Peer, RequestIds, RequestParts, RequestTrace};

use super::endpoint::Endpoint;

/// The protocol revision of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Era {
    /// Sends only a content type.
    Minimal,
    March2025,
    June2025,
    November2025,
    July2026,
}

pub const ERAS: [Era; 5] = [Era::Minimal, Era::March2025, Era::June2025, Era::November2025, Era::July2026];

impl Era {
    pub fn version(self) -> &'static str {
        match self {
            Self::Minimal | Self::March2025 => "2025-03-26",
            Self::June2025 => "2025-06-18",
            Self::November2025 => "2025-11-25",
            Self::July2026 => "2026-07-28",
        }
    }
}

#[derive(Clone, Debug)]
pub struct TestRequest {
    pub method: &'static str,
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

pub fn request(era: Era, method: &str, mut params: Value) -> TestRequest {
    let mut headers = vec![("host", "localhost:8080".to_owned()), ("content-type", "application/json".to_owned())];
    if era != Era::Minimal {
        headers.push(("accept", "application/json, text/event-stream".to_owned()));
    }
    if !matches!(era, Era::Minimal | Era::March2025) && method != "initialize" {
        headers.push(("mcp-protocol-version", era.version().to_owned()));
    }
    if era == Era::July2026 {
        headers.push(("mcp-method", method.to_owned()));
        let named = if method == "resources/read" { "uri" } else { "name" };
        if let Some(name) = params.get(named).and_then(Value::as_str) {
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
    TestRequest { method: "POST", headers, body: body.to_string() }
}

pub fn initialize(version: &str) -> Value {
    json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } })
}

pub fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

impl TestRequest {
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(header, _)| *header != name);
        self
    }

    pub fn body(mut self, body: &str) -> Self {
        body.clone_into(&mut self.body);
        self
    }

    pub fn replaced(mut self, from: &str, to: &str) -> Self {
        assert!(self.body.contains(from), "{} has no {from}", self.body);
        self.body = self.body.replace(from, to);
        self
    }

    pub fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    pub async fn send(&self, endpoint: &Endpoint) -> Reply {
        self.send_to("/api/mcp", endpoint).await
    }

    pub async fn send_to(&self, path: &str, endpoint: &Endpoint) -> Reply {
        let mut request = Request::builder().method(self.method).uri(path);
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.body(Full::new(Bytes::from(self.body.clone()))).unwrap();
        Self::exchange(request, endpoint).await
    }

    pub async fn exchange<B>(request: Request<B>, endpoint: &Endpoint) -> Reply
    where
        B: hyper::body::Body<Data = Bytes> + Send + Sync + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let path = McpPath::parse(request.uri().path()).expect("a path of the endpoint");
        let (parts, body) = request.into_parts();
        let request = RequestParts {
            method: &parts.method,
            path: parts.uri.path(),
            query: parts.uri.query().unwrap_or(""),
            headers: &parts.headers,
            peer: Peer("192.0.2.1:5000".parse().unwrap()),
            id: RequestIds::default().next(),
            trace: &RequestTrace::default(),
        };
        let body = BodyDataStream::new(body.map_err(|error| BodyError(error.into())));
        let (head, body) = endpoint.mcp.respond(path, &request, body).await.into_parts();
        let is_packed = head.headers.get("content-encoding").is_some_and(|encoding| encoding == "gzip");
        let body = if is_packed { unpacked(&body) } else { body };
        Reply { status: head.status.as_u16(), headers: head.headers, body }
    }
}

fn unpacked(body: &[u8]) -> Bytes {
    let mut plain = Vec::new();
    flate2::read::GzDecoder::new(body).read_to_end(&mut plain).unwrap();
    plain.into()
}

/// Why a body ended early, as a server reports it.
#[derive(Debug, thiserror::Error)]
#[error("the body ended early")]
struct BodyError(#[source] Box<dyn std::error::Error + Send + Sync>);

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

impl Reply {
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.body))
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
