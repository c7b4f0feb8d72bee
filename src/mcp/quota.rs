//! Who calls the tool endpoint, and what they have left: by key where one is sent, else by client address.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use serde_json::json;

use crate::auth::Caller;
use crate::data::Date;
use crate::quota::Quota;
use crate::quota::client_pool::{Client, ClientPool};

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

/// Whose quota a request is counted on.
#[derive(Clone, Copy)]
enum CountedClient {
    Key(Caller),
    Address(IpAddr),
}

fn allowance(address: IpAddr, pools: &[ClientPool], daily_limit: u32) -> (Client<'_>, u32) {
    match Client::of(address, pools) {
        Client::ClientPool(pool) => (Client::ClientPool(pool), pool.daily_limit()),
        client @ Client::Address(_) => (client, daily_limit),
    }
}

impl McpQuota {
    async fn caller(&self, request: &Parts) -> Result<CountedClient, JsonRpcError> {
        if holds_key(request.uri.path(), request.uri.query().unwrap_or_default()) {
            let data = json!({ "code": "key_in_url" });
            return Err(JsonRpcError::refused(StatusCode::BAD_REQUEST, HOLDS_KEY.to_owned(), data));
        }
        let authorization = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match self.state.access.authenticate_optional(authorization).await {
            Ok(Some(caller)) => return Ok(CountedClient::Key(caller)),
            Ok(None) => {}
            Err(refused) => {
                let data = json!({ "code": refused.code() });
                return Err(JsonRpcError::refused(StatusCode::UNAUTHORIZED, refused.to_string(), data));
            }
        }
        let peer = *request.extensions.get::<Peer>().expect("the router adds the peer");
        Ok(CountedClient::Address(self.state.client(peer, &request.headers)))
    }

    /// Who is counted for an address, and the calls a day that they have.
    fn of_address(&self, address: IpAddr) -> (Client<'_>, u32) {
        allowance(address, &self.pools, self.daily_limit)
    }

    fn peek(&self, counted: CountedClient, today: Date) -> Quota {
        match counted {
            CountedClient::Key(caller) => self.state.access.peek(&caller, today),
            CountedClient::Address(address) => {
                let (client, limit) = self.of_address(address);
                self.state.access.peek_client(client, limit, today)
            }
        }
    }

    fn take(&self, counted: CountedClient, today: Date) -> Result<Quota, Quota> {
        match counted {
            CountedClient::Key(caller) => self.state.access.take(&caller, today),
            CountedClient::Address(address) => {
                let (client, limit) = self.of_address(address);
                self.state.access.take_client(client, limit, today)
            }
        }
    }

    fn headers(&self, quota: &Quota) -> HeaderMap {
        let mut headers = HeaderMap::new();
        write_quota(&mut headers, quota, self.state.now());
        headers
    }

    fn used_up(&self, quota: &Quota) -> Admission {
        let resets_at = instant(quota.resets_at);
        let limit = quota.limit.unwrap_or(0);
        let message = format!("all {limit} tool calls of this day are used; it starts anew at {resets_at}");
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
            let counted = match self.caller(request).await {
                Ok(counted) => counted,
                Err(refusal) => {
                    let mut headers = self.headers(&Quota::none(today));
                    if refusal.status == StatusCode::UNAUTHORIZED {
                        set(&mut headers, "www-authenticate", "Bearer");
                    }
                    return Admission { headers, refusal: Some(refusal), refund: None };
                }
            };
            if !charged {
                return Admission { headers: self.headers(&self.peek(counted, today)), refusal: None, refund: None };
            }
            match self.take(counted, today) {
                Ok(quota) => Admission {
                    headers: self.headers(&quota),
                    refusal: None,
                    refund: Some(self.refund(counted, quota)),
                },
                Err(quota) => self.used_up(&quota),
            }
        })
    }
}

impl McpQuota {
    fn refund(&self, counted: CountedClient, taken: Quota) -> Box<dyn FnOnce() -> HeaderMap + Send> {
        let (state, pools, limit) = (Arc::clone(&self.state), Arc::clone(&self.pools), self.daily_limit);
        Box::new(move || {
            let quota = match counted {
                CountedClient::Key(caller) => state.access.give_back(&caller, taken.day),
                CountedClient::Address(address) => {
                    let (client, limit) = allowance(address, &pools, limit);
                    state.access.give_back_client(client, limit, taken.day)
                }
            };
            let mut headers = HeaderMap::new();
            write_quota(&mut headers, &quota, state.now());
            headers
        })
    }
}
