//! Who calls the tool endpoint, and what they have left: by key where one is sent, else by client address.

use std::net::IpAddr;
use std::sync::Arc;

use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use serde_json::json;

use crate::access::pool::{Client, Pool};
use crate::access::{Caller, Quota};
use crate::dataset::Date;

use super::State;
use super::address::{HOLDS_KEY, holds_key};
use super::arrival::Peer;
use super::headers::{instant, set, write_quota};
use super::mcp::{Admission, Admitting, Fault, Gate};

/// The gate of the tool endpoint.
pub struct Callers {
    /// What all routes share.
    pub state: Arc<State>,
    /// Calls a day of a caller without a key.
    pub daily_limit: u32,
    /// Address ranges that count together.
    pub pools: Arc<[Pool]>,
}

/// Whose quota a request is counted on.
#[derive(Clone, Copy)]
enum Counted {
    Key(Caller),
    Address(IpAddr),
}

fn allowance(address: IpAddr, pools: &[Pool], daily_limit: u32) -> (Client<'_>, u32) {
    match Client::of(address, pools) {
        Client::Pool(pool) => (Client::Pool(pool), pool.daily_limit()),
        client @ Client::Address(_) => (client, daily_limit),
    }
}

impl Callers {
    async fn caller(&self, request: &Parts) -> Result<Counted, Fault> {
        if holds_key(request.uri.path(), request.uri.query().unwrap_or_default()) {
            let data = json!({ "code": "key_in_url" });
            return Err(Fault::refused(StatusCode::BAD_REQUEST, HOLDS_KEY.to_owned(), data));
        }
        let authorization = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match self.state.access.authenticate_optional(authorization).await {
            Ok(Some(caller)) => return Ok(Counted::Key(caller)),
            Ok(None) => {}
            Err(refused) => {
                let data = json!({ "code": refused.code() });
                return Err(Fault::refused(StatusCode::UNAUTHORIZED, refused.to_string(), data));
            }
        }
        let peer = request.extensions.get::<Peer>().copied();
        Ok(Counted::Address(self.state.client(peer, &request.headers)))
    }

    /// Who is counted for an address, and the calls a day that they have.
    fn of_address(&self, address: IpAddr) -> (Client<'_>, u32) {
        allowance(address, &self.pools, self.daily_limit)
    }

    fn peek(&self, counted: Counted, today: Date) -> Quota {
        match counted {
            Counted::Key(caller) => self.state.access.peek(&caller, today),
            Counted::Address(address) => {
                let (client, limit) = self.of_address(address);
                self.state.access.peek_client(client, limit, today)
            }
        }
    }

    fn take(&self, counted: Counted, today: Date) -> Result<Quota, Quota> {
        match counted {
            Counted::Key(caller) => self.state.access.take(&caller, today),
            Counted::Address(address) => {
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
        let refusal = Some(Fault::refused(StatusCode::TOO_MANY_REQUESTS, message, data));
        Admission { headers, refusal, refund: None }
    }
}

impl Gate for Callers {
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

impl Callers {
    fn refund(&self, counted: Counted, taken: Quota) -> Box<dyn FnOnce() -> HeaderMap + Send> {
        let (state, pools, limit) = (Arc::clone(&self.state), Arc::clone(&self.pools), self.daily_limit);
        Box::new(move || {
            let quota = match counted {
                Counted::Key(caller) => state.access.give_back(&caller, taken.day),
                Counted::Address(address) => {
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
