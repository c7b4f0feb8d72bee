//! What all front ends share.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;

use crate::auth::AuthService;
use crate::catalog::Catalog;
use crate::data::Date;
use crate::http::{Peer, ResponseCache};
use crate::quota::{IpRange, client_address};
use crate::release::ActiveRelease;

/// What all front ends share: releases, accounts, and the settings that responses depend on.
pub struct State {
    /// The loaded releases.
    pub releases: Arc<ActiveRelease<Catalog>>,
    /// Accounts, keys and quotas.
    pub auth: Arc<AuthService>,
    /// The address of the service in links, without a slash at the end.
    pub public_url: String,
    /// Whom to tell about a vulnerability or a question of privacy, as a `mailto:` or `https:` URL.
    pub contact: Option<String>,
    /// Cached REST responses.
    pub response_cache: ResponseCache,
    /// Proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Vec<IpRange>,
    /// Returns Unix seconds.
    pub clock: fn() -> i64,
}

impl State {
    /// The address of a client, behind trusted proxies from `X-Forwarded-For`.
    pub(crate) fn client(&self, peer: Peer, headers: &HeaderMap) -> IpAddr {
        let forwarded: Vec<&str> =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
        client_address(peer.0.ip(), forwarded.into_iter(), &self.trusted_proxies)
    }

    /// Unix seconds.
    pub(crate) fn now(&self) -> i64 {
        (self.clock)()
    }

    /// The UTC date.
    pub fn today(&self) -> Date {
        Date::from_unix(self.now())
    }
}
