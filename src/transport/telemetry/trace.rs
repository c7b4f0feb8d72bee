use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use auth::quota::{Tier, WorkMeter};
use data::vocabulary::{Vocabulary, vocabulary};

/// Notes of the front ends about a request, for its log lines and the metrics. The first note of each kind stays.
#[derive(Debug, Default)]
pub struct RequestTrace {
    route: OnceLock<RouteLabel>,
    tier: OnceLock<Tier>,
    failure: OnceLock<String>,
    streams_body: AtomicBool,
    /// Unused by requests that take no turn.
    work: OnceLock<Arc<WorkMeter>>,
}

impl RequestTrace {
    pub fn set_route(&self, route: RouteLabel) {
        let _ = self.route.set(route);
    }

    pub fn set_tier(&self, tier: Tier) {
        let _ = self.tier.set(tier);
    }

    /// Notes the cause of a failure of the service; it must not contain anything that the client sent.
    pub fn set_failure(&self, failure: &impl fmt::Display) {
        let _ = self.failure.set(failure.to_string());
    }

    /// Notes that the body is processed while it arrives: the timeout applies to each wait for a chunk.
    pub fn set_streams_body(&self) {
        self.streams_body.store(true, Ordering::Relaxed);
    }

    pub(crate) fn streams_body(&self) -> bool {
        self.streams_body.load(Ordering::Relaxed)
    }

    /// The meter of its work, which a response that is made while it is sent shares.
    pub fn work(&self) -> &Arc<WorkMeter> {
        self.work.get_or_init(Arc::default)
    }

    /// Processor time of its work, and of the longest piece; `None` if it took no turn.
    pub(crate) fn measured_work(&self) -> Option<(Duration, Duration)> {
        self.work.get().map(|work| (work.total(), work.longest_piece()))
    }

    pub fn route(&self) -> RouteLabel {
        self.route.get().copied().unwrap_or(RouteLabel::UNKNOWN)
    }

    pub fn tier(&self) -> Option<Tier> {
        self.tier.get().copied()
    }

    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}

/// The route of a path, without the parts that differ between records; logs and metrics show it in place of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteLabel {
    pub group: RouteGroup,
    pub api: Option<Api>,
    /// A path such as `/vcs/{slug}`; for REST, relative to the version and without the leading slash.
    pub path: &'static str,
}

impl RouteLabel {
    pub(crate) const UNKNOWN: Self = Self::new(RouteGroup::Unknown, "unknown");

    pub const fn new(group: RouteGroup, path: &'static str) -> Self {
        Self { group, api: None, path }
    }
}

impl fmt::Display for RouteLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.api {
            Some(api) if api != Api::Mcp => write!(f, "/api/{}/{}", api.name(), self.path),
            _ => f.write_str(self.path),
        }
    }
}

vocabulary! {
    /// An interface with quotas per key.
    Api, "interface", {
        V1 = "v1",
        V2 = "v2",
        V3 = "v3",
        Mcp = "mcp",
    }
}

vocabulary! {
    /// Routes counted together in metrics.
    RouteGroup, "route group", {
        List = "rest_list",
        Record = "rest_record",
        /// Facets and aggregates.
        Counts = "rest_counts",
        /// All other REST routes, and REST errors without a route.
        Rest = "rest_other",
        Mcp = "mcp",
        Page = "page",
        Account = "account",
        /// The docs, the OpenAPI documents, style sheets, files below `/.well-known/`.
        Static = "static",
        Health = "health",
        Unknown = "unknown",
    }
}

impl RouteGroup {
    pub(crate) fn front_end(self) -> FrontEnd {
        match self {
            Self::List | Self::Record | Self::Counts | Self::Rest => FrontEnd::Rest,
            Self::Mcp => FrontEnd::Mcp,
            Self::Page => FrontEnd::Page,
            Self::Account => FrontEnd::Account,
            Self::Static | Self::Health | Self::Unknown => FrontEnd::Other,
        }
    }
}

vocabulary! {
    /// Route groups that share a duration metric.
    FrontEnd, "front end", {
        Rest = "rest",
        Mcp = "mcp",
        Page = "page",
        /// Separate from other pages, because most account pages hash a password.
        Account = "account",
        Other = "other",
    }
}
