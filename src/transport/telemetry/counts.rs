use crate::telemetry::{Api, FinishedRequest, FrontEnd, RouteGroup};
use auth::quota::Tier;
use data::vocabulary::{Vocabulary, vocabulary};
use platform::metrics::{Counter, Histogram, Observations, PerThread};

pub const STATUS_CLASSES: [&str; 4] = ["2xx", "3xx", "4xx", "5xx"];

/// Tiers of requests; `None` is a request without a key.
pub const TIERS: [Option<Tier>; 4] = [None, Some(Tier::Free), Some(Tier::Pro), Some(Tier::Enterprise)];
const _: () = assert!(TIERS.len() == Tier::ALL.len() + 1, "a request of a tier that is not listed would panic");

#[derive(Default)]
pub struct RequestCounts(PerThread<ThreadCounts>);

#[derive(Default)]
struct ThreadCounts {
    by_group: [[Counter; STATUS_CLASSES.len()]; RouteGroup::ALL.len()],
    by_api: [[Counter; TIERS.len()]; Api::ALL.len()],
    durations: [Histogram; FrontEnd::ALL.len()],
}

impl RequestCounts {
    pub(super) fn add(&self, request: &FinishedRequest<'_>) {
        let (counts, route) = (self.0.own(), request.trace.route());
        let class = usize::from(request.status.as_u16() / 100).clamp(2, 5) - 2;
        counts.by_group[route.group as usize][class].add(1);
        if let Some(api) = route.api {
            let tier = TIERS.iter().position(|known| *known == request.trace.tier());
            counts.by_api[api as usize][tier.expect("every tier is listed")].add(1);
        }
        counts.durations[route.group.front_end() as usize].observe(request.duration);
    }

    /// Number of requests per status class, in the order of [`STATUS_CLASSES`].
    pub fn by_status(&self, group: RouteGroup) -> [u64; STATUS_CLASSES.len()] {
        self.sum(|counts| &counts.by_group[group as usize])
    }

    /// Number of requests per tier, in the order of [`TIERS`].
    pub fn by_tier(&self, api: Api) -> [u64; TIERS.len()] {
        self.sum(|counts| &counts.by_api[api as usize])
    }

    pub fn durations(&self, front_end: FrontEnd) -> Observations {
        self.0.iter().map(|counts| counts.durations[front_end as usize].observations()).sum()
    }

    fn sum<const N: usize>(&self, counts_of: impl Fn(&ThreadCounts) -> &[Counter; N]) -> [u64; N] {
        let mut sums = [0; N];
        for counts in self.0.iter() {
            sums.iter_mut().zip(counts_of(counts)).for_each(|(sum, count)| *sum += count.get());
        }
        sums
    }
}

vocabulary! {
    /// Reason for not serving a connection, or serving it health checks only.
    Excess, "limit", {
        Total = "total",
        Address = "address",
        /// Even the reserve for 503 responses is full.
        Reserve = "reserve",
    }
}

#[derive(Debug, Default)]
pub struct ConnectionCounts {
    /// Connections served, including those that only got health checks.
    pub accepted: Counter,
    pub(crate) closed: Counter,
    /// Idle connections closed in favor of others.
    pub evicted: Counter,
    /// Connections that the system failed to hand over.
    pub failed: Counter,
    /// In the order of [`Excess`].
    pub refused: [Counter; Excess::ALL.len()],
}

impl ConnectionCounts {
    pub fn open(&self) -> u64 {
        // Read first: a connection that ends between the two loads was also accepted before the second.
        let closed = self.closed.get();
        self.accepted.get().saturating_sub(closed)
    }
}
