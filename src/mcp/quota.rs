//! Who calls the endpoint, and their daily quota: by API key if one is sent, otherwise by client address.

use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use serde_json::json;

use crate::auth::Subject;
use crate::data::Date;
use crate::quota::{Client, ClientPool, Quota};

use crate::http::Peer;
use crate::http::State;
use crate::http::headers::{rfc3339, set, write_quota};
use crate::http::url::{KEY_IN_URL, has_key};
use crate::mcp::JsonRpcError;
use crate::mcp::error::REJECTED;

/// Admits callers and counts their tool calls.
pub struct McpQuota {
    pub state: Arc<State>,
    /// Calls a day of a caller without a key.
    pub daily_limit: u32,
    /// Address ranges with a counter of their own.
    pub pools: Arc<[ClientPool]>,
}

/// The decision about one request.
pub(crate) struct Admission {
    /// `X-RateLimit-*` and related headers of the response.
    pub(crate) headers: HeaderMap,
    /// What was counted, or why the request is rejected.
    pub(crate) charge: Result<Option<Charge>, JsonRpcError>,
}

/// One counted call.
pub(crate) struct Charge {
    subject: Subject,
    day: Date,
}

impl McpQuota {
    /// Identifies the caller of a request and, if it is `charged`, counts it.
    pub(crate) async fn admit(&self, request: &Parts, charged: bool) -> Admission {
        let today = self.state.today();
        let subject = match self.subject(request).await {
            Ok(subject) => subject,
            Err(error) => {
                let mut headers = self.headers(&Quota::zero(today));
                if error.status == StatusCode::UNAUTHORIZED {
                    set(&mut headers, "www-authenticate", "Bearer");
                }
                return Admission { headers, charge: Err(error) };
            }
        };
        if !charged {
            let quota = self.state.auth.peek(subject, today);
            return Admission { headers: self.headers(&quota), charge: Ok(None) };
        }
        match self.state.auth.take(subject.clone(), today) {
            Ok(quota) => {
                Admission { headers: self.headers(&quota), charge: Ok(Some(Charge { subject, day: quota.day })) }
            }
            Err(quota) => self.exceeded(&quota),
        }
    }

    /// Takes back a counted call; returns the headers of the quota as it is then.
    pub(crate) fn refund(&self, charge: Charge) -> HeaderMap {
        self.headers(&self.state.auth.give_back(charge.subject, charge.day))
    }

    async fn subject(&self, request: &Parts) -> Result<Subject, JsonRpcError> {
        if has_key(request.uri.path(), request.uri.query().unwrap_or("")) {
            return Err(rejected(StatusCode::BAD_REQUEST, KEY_IN_URL).with_code("key_in_url"));
        }
        let authorization = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match self.state.auth.authenticate_optional(authorization).await {
            Ok(Some(caller)) => return Ok(Subject::Key(caller)),
            Ok(None) => {}
            Err(error) => return Err(rejected(StatusCode::UNAUTHORIZED, error.to_string()).with_code(error.code())),
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

    fn exceeded(&self, quota: &Quota) -> Admission {
        let resets_at = rfc3339(quota.resets_at);
        let limit = quota.limit.expect("only a limited quota can be exceeded");
        let message = format!("daily quota of {limit} tool calls exceeded; resets at {resets_at}");
        let data = json!({ "code": "quota_exceeded", "limit": limit, "resets_at": resets_at });
        let mut headers = self.headers(quota);
        set(&mut headers, "retry-after", &quota.seconds_left(self.state.now()).max(1).to_string());
        Admission { headers, charge: Err(rejected(StatusCode::TOO_MANY_REQUESTS, message).with_data(data)) }
    }
}

fn rejected(status: StatusCode, message: impl Into<std::borrow::Cow<'static, str>>) -> JsonRpcError {
    JsonRpcError::new(status, REJECTED, message)
}
