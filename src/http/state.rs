//! What all routes share.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;

use crate::auth::AuthService;
use crate::catalog::Catalog;
use crate::data::Date;
use crate::quota::{IpRange, client_address};
use crate::release::ActiveRelease;

use crate::http::Peer;
use crate::http::ResponseCache;

/// What all routes share: the releases, the callers, and the settings that answers depend on.
pub struct State {
    /// The releases that are served.
    pub live: Arc<ActiveRelease<Catalog>>,
    /// Accounts, keys and quotas.
    pub access: Arc<AuthService>,
    /// The address of the service in links, without a slash at the end.
    pub public_url: String,
    /// Answers that were made before.
    pub kept: ResponseCache,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpRange>,
    /// The time, in Unix seconds.
    pub clock: fn() -> i64,
}

impl State {
    /// The address of the client that sent a request, as far as trusted proxies tell it.
    #[must_use]
    pub fn client(&self, peer: Peer, headers: &HeaderMap) -> IpAddr {
        let forwarded: Vec<&str> =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
        client_address(peer.0.ip(), forwarded.into_iter(), &self.trusted_proxies)
    }

    /// Unix seconds now.
    #[must_use]
    pub fn now(&self) -> i64 {
        (self.clock)()
    }

    /// The UTC date now.
    #[must_use]
    pub fn today(&self) -> Date {
        Date::from_unix(self.now())
    }
}
