//! The state of the service in a benchmark, without proxies and with an empty cache.

use std::sync::Arc;

use ::service::State;
use ::service::alerts::Alerts;
use auth::AuthService;
use catalog::Catalog;
use release::ActiveRelease;
use transport::ResponseCache;
use transport::origin_policy::Hosts;
use transport::telemetry::AccessLog;

/// `url`: its address in links.
pub fn state(
    catalog: Catalog,
    auth: Arc<AuthService>,
    url: &str,
    clock: fn() -> i64,
    access_log: Option<AccessLog>,
) -> Arc<State> {
    Arc::new(State {
        releases: Arc::new(ActiveRelease::new(Arc::new(catalog), 1)),
        alerts: Arc::new(Alerts::new(auth.cursor_secret(), None)),
        auth,
        public_url: url.to_owned(),
        has_public_url: false,
        operator: Default::default(),
        well_known: Default::default(),
        response_cache: ResponseCache::new(64 << 20),
        memory: Default::default(),
        trusted_proxies: Vec::new(),
        clock,
        stopping: Default::default(),
        work: Default::default(),
        work_price: Default::default(),
        telemetry: Arc::new(transport::Telemetry::new(std::time::Duration::from_secs(1), access_log)),
        hosts: Hosts::new(url, false).expect("a URL"),
        bulk: Default::default(),
        index: None,
    })
}
