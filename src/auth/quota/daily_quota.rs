use crate::quota::{HUNDREDTHS, Tier};
use data::Date;

/// A caller's quota on one UTC day, after the current request. Rejected requests carry one too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Requests per day; `None` if unlimited.
    pub limit: Option<u32>,
    /// `None` if unlimited.
    pub remaining: Option<u32>,
    /// Requests counted on this day, including this one if it was admitted.
    pub used: u32,
    /// Day of the count, to be passed to [`AuthService::give_back`](crate::AuthService::give_back).
    pub day: Date,
    /// Unix seconds of the next 00:00 UTC.
    pub resets_at: i64,
    pub tier: Option<Tier>,
    /// Requests that this one costs, told in `X-Request-Cost`; 0 if it is not counted.
    pub cost: u32,
}

impl Quota {
    pub fn new(limit: Option<u32>, used: u32, day: Date) -> Self {
        Self {
            limit,
            remaining: limit.map(|limit| limit.saturating_sub(used)),
            used,
            day,
            resets_at: day.unix().saturating_add(86_400),
            tier: None,
            cost: 0,
        }
    }

    /// The quota of a request that is not authenticated: 0 of 0.
    pub fn zero(day: Date) -> Self {
        Self::new(Some(0), 0, day)
    }

    /// A quota in hundredths of requests as one in requests. What is left of one counts as none.
    pub fn in_requests(self) -> Self {
        let [limit, left] = [self.limit, self.remaining].map(|hundredths| hundredths.unwrap_or(0) / HUNDREDTHS);
        Self { tier: self.tier, cost: self.cost, ..Self::new(Some(limit), limit.saturating_sub(left), self.day) }
    }

    pub(crate) fn with_tier(self, tier: Tier) -> Self {
        Self { tier: Some(tier), ..self }
    }

    /// The quota after a request that costs `cost` in all.
    pub fn with_cost(self, cost: u32) -> Self {
        Self { cost, ..self }
    }

    /// Seconds from `now` (Unix) until the count resets; 0 if that time has passed.
    pub fn seconds_left(&self, now: i64) -> u64 {
        u64::try_from(self.resets_at.saturating_sub(now)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_resets_at_the_next_midnight() {
        let quota = Quota::new(Some(100), 43, "2026-11-21".parse().unwrap());
        assert_eq!((quota.remaining, quota.resets_at), (Some(57), 1_795_305_600));
        assert_eq!(quota.seconds_left(1_795_305_590), 10);
        assert_eq!(quota.seconds_left(1_795_305_601), 0);
    }

    #[test]
    fn nothing_remains_if_the_count_exceeds_a_lowered_limit() {
        let day = "2026-11-21".parse().unwrap();
        assert_eq!(Quota::new(Some(100), 3_000, day).remaining, Some(0));
        assert_eq!(Quota::new(None, 3_000, day).remaining, None);
        assert_eq!(Quota::zero(day).limit, Some(0));
    }
}
