//! `GET /usage`: the caller's quota, and the limits of all tiers.

use serde::Serialize;

use auth::quota::{Tier, TierLimits};
use data::field::{Model, model};
use data::rfc3339;
use transport::problem::Problem;

use crate::endpoint::{Endpoint, parse_service};
use crate::envelope::sorted_response;
use crate::{ApiRequest, ApiResponse};

model! {
    /// The quota of an API key.
    #[derive(Serialize)]
    struct Usage {
        /// The account's tier.
        tier: Option<&'static str> [one_of("Tier")],
        /// Requests per day; `null`: unlimited.
        limit: Option<u32>,
        /// Requests made today.
        used: u32,
        /// Requests left today; `null`: unlimited.
        remaining: Option<u32>,
        /// When the quota resets.
        resets_at: String [date_time],
        /// Keys that an account of the tier may have at a time; `null`: unlimited.
        keys: Option<u32>,
        /// The limits of all tiers, each with more than the one before, and first those of a client without a key.
        tiers: Vec<ServedTier>,
    }

    /// The limits of a tier.
    #[derive(Serialize)]
    struct ServedTier {
        /// `anonymous`, or the name of a tier.
        name: &'static str,
        /// Requests per day: of a key, or of programs at an address without one; `null`: unlimited.
        requests: Option<u32>,
        /// Keys of an account; `null`: unlimited.
        keys: Option<u32>,
    }
}

pub(super) const ENDPOINT: Endpoint = Endpoint {
    is_cacheable: false,
    is_counted: false,
    ..Endpoint::new(Usage::DEFINITION, |url| parse_service(url, respond))
};

fn respond(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let quota = &request.quota;
    let tiers = request.state.auth.tiers();
    let served = Tier::ALL.into_iter().map(|tier| {
        let TierLimits { requests, keys } = tiers.of(tier);
        ServedTier { name: tier.name(), requests, keys }
    });
    let anonymous = ServedTier { name: "anonymous", requests: Some(tiers.anonymous.requests), keys: Some(0) };
    let usage = Usage {
        tier: quota.tier.map(|tier| tier.name()),
        limit: quota.limit,
        used: quota.used,
        remaining: quota.remaining,
        resets_at: rfc3339(quota.resets_at),
        keys: quota.tier.and_then(|tier| tiers.of(tier).keys),
        tiers: [anonymous].into_iter().chain(served).collect(),
    };
    sorted_response::<Usage>(request, &usage, &[])
}
