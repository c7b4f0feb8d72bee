//! Who calls the tool endpoint, and what they have left: by key where one is sent, else by client address.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use serde_json::json;

use crate::auth::Subject;
use crate::quota::{Client, ClientPool, Quota};

use crate::http::Peer;
use crate::http::State;
use crate::http::headers::{instant, set, write_quota};
use crate::http::url::{HOLDS_KEY, holds_key};
use crate::mcp::{Admission, Admitting, JsonRpcError, McpAdmission};

/// The gate of the tool endpoint.
pub struct McpQuota {
    /// What all routes share.
    pub state: Arc<State>,
    /// Calls a day of a caller without a key.
    pub daily_limit: u32,
    /// Address ranges that count together.
    pub pools: Arc<[ClientPool]>,
}

impl McpQuota {
    async fn subject(&self, request: &Parts) -> Result<Subject, JsonRpcError> {
        if holds_key(request.uri.path(), request.uri.query().unwrap_or_default()) {
            let data = json!({ "code": "key_in_url" });
            return Err(JsonRpcError::refused(StatusCode::BAD_REQUEST, HOLDS_KEY.to_owned(), data));
        }
        let authorization = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match self.state.access.authenticate_optional(authorization).await {
            Ok(Some(caller)) => return Ok(Subject::Key(caller)),
            Ok(None) => {}
            Err(refused) => {
                let data = json!({ "code": refused.code() });
                return Err(JsonRpcError::refused(StatusCode::UNAUTHORIZED, refused.to_string(), data));
            }
        }
        let peer = *request.extensions.get::<Peer>().expect("the router adds the peer");
        let address = self.state.client(peer, &request.headers);
        Ok(match ClientPool::find(&self.pools, address) {
            Some(pool) => Subject::Client(pool.client(), pool.daily_limit()),
            None => Subject::Client(Client::Address(address), self.daily_limit),
        })
    }

    fn headers(&self, quota: &Quota) -> HeaderMap {
        let mut headers = HeaderMap::new();
        write_quota(&mut headers, quota, self.state.now());
        headers
    }

    fn exhausted(&self, quota: &Quota) -> Admission {
        let resets_at = instant(quota.resets_at);
        let limit = quota.limit.unwrap_or(0);
        let message = format!("daily quota of {limit} tool calls exceeded; resets at {resets_at}");
        let data = json!({ "code": "quota_exceeded", "limit": limit, "resets_at": resets_at });
        let mut headers = self.headers(quota);
        set(&mut headers, "retry-after", &quota.seconds_left(self.state.now()).max(1).to_string());
        let refusal = Some(JsonRpcError::refused(StatusCode::TOO_MANY_REQUESTS, message, data));
        Admission { headers, refusal, refund: None }
    }
}

impl McpAdmission for McpQuota {
    fn admit<'a>(&'a self, request: &'a Parts, charged: bool) -> Admitting<'a> {
        Box::pin(async move {
            let today = self.state.today();
            let subject = match self.subject(request).await {
                Ok(subject) => subject,
                Err(refusal) => {
                    let mut headers = self.headers(&Quota::zero(today));
                    if refusal.status == StatusCode::UNAUTHORIZED {
                        set(&mut headers, "www-authenticate", "Bearer");
                    }
                    return Admission { headers, refusal: Some(refusal), refund: None };
                }
            };
            if !charged {
                return Admission {
                    headers: self.headers(&self.state.access.peek(subject, today)),
                    refusal: None,
                    refund: None,
                };
            }
            match self.state.access.take(subject.clone(), today) {
                Ok(quota) => Admission {
                    headers: self.headers(&quota),
                    refusal: None,
                    refund: Some(self.refund(subject, quota)),
                },
                Err(quota) => self.exhausted(&quota),
            }
        })
    }
}

impl McpQuota {
    fn refund(&self, subject: Subject, taken: Quota) -> Box<dyn FnOnce() -> HeaderMap + Send> {
        let state = Arc::clone(&self.state);
        Box::new(move || {
            let quota = state.access.give_back(subject, taken.day);
            let mut headers = HeaderMap::new();
            write_quota(&mut headers, &quota, state.now());
            headers
        })
    }
}
