//! `GET /usage`: the caller's quota.

use serde::Serialize;

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
    }
}

pub(super) const ENDPOINT: Endpoint = Endpoint {
    is_cacheable: false,
    is_counted: false,
    ..Endpoint::new(Usage::DEFINITION, |url| parse_service(url, respond))
};

fn respond(request: &ApiRequest<'_>) -> Result<ApiResponse, Problem> {
    let quota = &request.quota;
    let usage = Usage {
        tier: quota.tier.map(|tier| tier.name()),
        limit: quota.limit,
        used: quota.used,
        remaining: quota.remaining,
        resets_at: rfc3339(quota.resets_at),
    };
    sorted_response::<Usage>(request, &usage, &[])
}
