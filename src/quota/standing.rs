//! What is left of a day's requests.

use crate::data::Date;

use crate::quota::Tier;

/// A caller's standing on one UTC day, after the request that asked. Requests that are refused carry one too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Requests admitted per day; `None`: unlimited.
    pub limit: Option<u32>,
    /// Requests of this day that are left; `None`: unlimited.
    pub remaining: Option<u32>,
    /// Requests counted on this day, this one included where it was admitted.
    pub used: u32,
    /// The day that was counted on: what [`super::AuthService::give_back`] wants to know.
    pub day: Date,
    /// Unix seconds of the next 00:00 UTC, when the count starts anew.
    pub resets_at: i64,
    /// The tier of the key; `None` where the client address was counted, or nothing.
    pub tier: Option<Tier>,
}

impl Quota {
    /// The standing of a caller who has used `used` of `limit` on `day`.
    #[must_use]
    pub fn of(limit: Option<u32>, used: u32, day: Date) -> Self {
        Self {
            limit,
            remaining: limit.map(|limit| limit.saturating_sub(used)),
            used,
            day,
            resets_at: day.unix().saturating_add(86_400),
            tier: None,
        }
    }

    /// The standing of a caller without a key: 0 of 0.
    #[must_use]
    pub fn none(day: Date) -> Self {
        Self::of(Some(0), 0, day)
    }

    /// The same for a key of `tier`.
    #[must_use]
    pub fn with_tier(self, tier: Tier) -> Self {
        Self { tier: Some(tier), ..self }
    }

    /// Whole seconds from `now` (Unix) until the count starts anew; 0 once it has.
    #[must_use]
    pub fn seconds_left(&self, now: i64) -> u64 {
        u64::try_from(self.resets_at.saturating_sub(now)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_resets_at_the_next_midnight() {
        let quota = Quota::of(Some(100), 43, "2026-11-21".parse().unwrap());
        assert_eq!((quota.remaining, quota.resets_at), (Some(57), 1_795_305_600));
        assert_eq!(quota.seconds_left(1_795_305_590), 10);
        assert_eq!(quota.seconds_left(1_795_305_601), 0);
    }

    #[test]
    fn a_count_above_a_lowered_limit_leaves_nothing() {
        let day = "2026-11-21".parse().unwrap();
        assert_eq!(Quota::of(Some(100), 3_000, day).remaining, Some(0));
        assert_eq!(Quota::of(None, 3_000, day).remaining, None);
        assert_eq!(Quota::none(day).limit, Some(0));
    }
}
