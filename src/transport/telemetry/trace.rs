//! What the front ends find out about a request.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use auth::quota::Tier;

/// What the front ends note about a request for its lines in the logs and for the metrics. The first note of each kind stays.
#[derive(Debug, Default)]
pub struct RequestTrace {
    route: OnceLock<RouteLabel>,
    tier: OnceLock<Tier>,
    failure: OnceLock<String>,
    streams_body: AtomicBool,
}

impl RequestTrace {
    pub fn set_route(&self, route: RouteLabel) {
        let _ = self.route.set(route);
    }

    /// The tier of the caller's key.
    pub fn set_tier(&self, tier: Tier) {
        let _ = self.tier.set(tier);
    }

    /// Why the service failed, without anything that the client sent.
    pub fn set_failure(&self, failure: &impl fmt::Display) {
        let _ = self.failure.set(failure.to_string());
    }

    /// The body is processed while it arrives: each wait for a part of it is limited, not their sum.
    pub fn set_streams_body(&self) {
        self.streams_body.store(true, Ordering::Relaxed);
    }

    pub(crate) fn streams_body(&self) -> bool {
        self.streams_body.load(Ordering::Relaxed)
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

/// What a path leads to, without what differs between its records: what logs and metrics show of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteLabel {
    pub group: RouteGroup,
    pub api: Option<Api>,
    /// As `/vcs/{slug}`; of REST, below the version and without the slash.
    pub path: &'static str,
}

impl RouteLabel {
    pub(crate) const UNKNOWN: Self = Self::of(RouteGroup::Unknown, "unknown");

    pub const fn of(group: RouteGroup, path: &'static str) -> Self {
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

/// An interface with quotas by key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    V1,
    V2,
    V3,
    Mcp,
}

impl Api {
    pub const ALL: [Self; 4] = [Self::V1, Self::V2, Self::V3, Self::Mcp];

    pub fn name(self) -> &'static str {
        match self {
            Self::V1 => "v1",
            Self::V2 => "v2",
            Self::V3 => "v3",
            Self::Mcp => "mcp",
        }
    }
}

/// Routes that the metrics count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteGroup {
    List,
    Record,
    /// Facets and aggregates.
    Counts,
    /// What else REST has, and its errors without a route.
    Rest,
    Mcp,
    Page,
    Account,
    /// The docs, the OpenAPI documents, style sheets, files below `/.well-known/`.
    Static,
    Health,
    Unknown,
}

impl RouteGroup {
    pub const ALL: [Self; 10] = [
        Self::List,
        Self::Record,
        Self::Counts,
        Self::Rest,
        Self::Mcp,
        Self::Page,
        Self::Account,
        Self::Static,
        Self::Health,
        Self::Unknown,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::List => "rest_list",
            Self::Record => "rest_record",
            Self::Counts => "rest_counts",
            Self::Rest => "rest_other",
            Self::Mcp => "mcp",
            Self::Page => "page",
            Self::Account => "account",
            Self::Static => "static",
            Self::Health => "health",
            Self::Unknown => "unknown",
        }
    }

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

/// Route groups whose durations are measured together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    Rest,
    Mcp,
    Page,
    /// Apart from other pages, because most hash a password.
    Account,
    Other,
}

impl FrontEnd {
    pub const ALL: [Self; 5] = [Self::Rest, Self::Mcp, Self::Page, Self::Account, Self::Other];

    pub fn name(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Mcp => "mcp",
            Self::Page => "page",
            Self::Account => "account",
            Self::Other => "other",
        }
    }
}
