use std::net::IpAddr;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};
use std::time::Duration;

use http::HeaderMap;

use crate::alerts::Alerts;
use crate::well_known::WellKnown;
use crate::{BulkAccess, Operator};
use auth::audit::RequestOrigin;
use auth::quota::{FairQueue, IpRange, Quota, WorkPrice, client_address};
use auth::{AuthService, QuotaSubject};
use data::Date;
use platform::memory::MemoryBudget;
use release::{ActiveRelease, ReleaseStore};
use transport::origin_policy::Hosts;
use transport::{Peer, RequestParts, ResponseCache, Telemetry};

pub struct State {
    pub releases: Arc<ActiveRelease>,
    /// The folder of releases, if the server reads one.
    pub index: Option<ReleaseStore>,
    pub auth: Arc<AuthService>,
    pub hosts: Hosts,
    /// Public URL of the service, without a trailing slash.
    pub public_url: String,
    /// True if the operator chose `public_url`; otherwise it is the address on which the server listens.
    pub has_public_url: bool,
    pub operator: Operator,
    /// The operator's files below `/.well-known/`.
    pub well_known: WellKnown,
    pub alerts: Arc<Alerts>,
    pub bulk: BulkAccess,
    pub response_cache: ResponseCache,
    pub memory: MemoryBudget,
    pub telemetry: Arc<Telemetry>,
    /// Queue that runs searches, pages and tool calls.
    pub work: FairQueue,
    pub work_price: WorkPrice,
    pub trusted_proxies: Vec<IpRange>,
    /// The clock of the machine, in Unix seconds.
    pub clock: fn() -> i64,
    pub stopping: AtomicBool,
}

impl State {
    /// The address of a client; behind trusted proxies it comes from `X-Forwarded-For`.
    pub fn client(&self, peer: Peer, headers: &HeaderMap) -> IpAddr {
        let forwarded: Vec<&str> =
            headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok()).collect();
        if !forwarded.is_empty() && !self.trusted_proxies.iter().any(|range| range.contains(peer.0.ip())) {
            static WARNED: Once = Once::new();
            WARNED.call_once(|| {
                tracing::warn!(
                    "X-Forwarded-For comes from an address that is not in --trusted-proxies: if it is a proxy, its visitors \
                     count as one; the level debug shows the address (reported once)"
                );
                tracing::debug!("X-Forwarded-For comes from {}", peer.0.ip());
            });
        }
        client_address(peer.0.ip(), forwarded.into_iter(), &self.trusted_proxies)
    }

    /// Charges what the work of a counted request costs above what is charged already, and returns the quota after it.
    pub fn charge_work(&self, subject: &QuotaSubject, work: Duration, quota: Quota) -> Quota {
        let further = self.work_price.requests(work).saturating_sub(quota.cost);
        if quota.cost == 0 || further == 0 { quota } else { self.auth.take_for_work(subject, further, quota) }
    }

    pub fn origin(&self, request: &RequestParts<'_>) -> RequestOrigin {
        let address = self.client(request.peer, request.headers);
        RequestOrigin { request: request.id.to_string(), address }
    }

    /// The time to act by, in Unix seconds: see [`AuthService::now`].
    pub fn now(&self) -> i64 {
        self.auth.now((self.clock)())
    }

    pub fn today(&self) -> Date {
        Date::from_unix(self.now())
    }
}
