//! What all routes share.

use std::sync::Arc;

use crate::access::Access;
use crate::catalog::{Catalog, Live};
use crate::dataset::Date;

use super::arrival::RequestIds;
use super::rest::Kept;

/// What all routes share: the releases, the callers, and the settings that answers depend on.
pub struct State {
    /// The releases that are served.
    pub live: Arc<Live<Catalog>>,
    /// Accounts, keys and quotas.
    pub access: Arc<Access>,
    /// The address of the service in links, without a slash at the end.
    pub public_url: String,
    /// Ids for requests that come without one (under test).
    pub ids: RequestIds,
    /// Answers that were made before.
    pub kept: Kept,
    /// The time, in Unix seconds.
    pub clock: fn() -> i64,
}

impl State {
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
