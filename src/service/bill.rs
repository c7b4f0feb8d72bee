//! What a program pays for that reads pages in another form: twins, feeds, look-ups. With a key it is the key's quota, as on
//! REST; without one it is what its address and network have for a day.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::StatusCode;

use crate::State;
use auth::Caller;
use auth::audit::RequestOrigin;
use auth::quota::{Denied, HUNDREDTHS, NETWORK_MULTIPLE, Quota, WorkCaller};
use data::rfc3339;
use transport::RequestId;
use transport::problem::{Code, Problem, UsedUp};

#[derive(Clone, Copy, Debug)]
enum Payer {
    Key(Caller),
    Anonymous,
}

/// The bill of one request.
pub struct Bill {
    id: RequestId,
    address: IpAddr,
    payer: Payer,
    /// The quota after what is charged so far, or the one that refused it.
    quota: Mutex<Option<Quota>>,
}

impl Bill {
    /// `caller` is `None` for a client without a key.
    pub fn new(id: RequestId, address: IpAddr, caller: Option<Caller>) -> Self {
        let payer = caller.map_or(Payer::Anonymous, Payer::Key);
        Self { id, address, payer, quota: Mutex::default() }
    }

    pub fn has_key(&self) -> bool {
        matches!(self.payer, Payer::Key(_))
    }

    pub fn work_caller(&self) -> WorkCaller {
        match &self.payer {
            Payer::Key(caller) => caller.of_work(),
            Payer::Anonymous => WorkCaller::Address(self.address),
        }
    }

    /// `None` if nothing was charged or refused.
    pub fn quota(&self) -> Option<Quota> {
        *self.quota.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, quota: Quota) {
        *self.quota.lock().unwrap_or_else(PoisonError::into_inner) = Some(quota);
    }

    /// Raises the price of the request to `requests`; charges nothing if fewer are left.
    pub fn charge(&self, state: &State, requests: u32) -> Result<(), Problem> {
        let charged = self.quota().map_or(0, |quota| quota.cost);
        let further = requests.saturating_sub(charged);
        if further == 0 {
            return Ok(());
        }
        let today = self.quota().map_or_else(|| state.today(), |quota| quota.day);
        let taken = match &self.payer {
            Payer::Key(caller) => state.auth.take_several(caller, further, today),
            Payer::Anonymous => state.auth.take_anonymous(self.address, further.saturating_mul(HUNDREDTHS), today),
        };
        match taken {
            Ok(quota) => {
                self.note(self.in_requests(quota).with_cost(requests));
                Ok(())
            }
            Err(denied) => {
                self.note(self.in_requests(denied.quota()).with_cost(charged));
                Err(self.refusal(state, denied, further))
            }
        }
    }

    fn in_requests(&self, quota: Quota) -> Quota {
        if self.has_key() { quota } else { quota.in_requests() }
    }

    fn refusal(&self, state: &State, denied: Denied, needed: u32) -> Problem {
        match (&self.payer, denied) {
            (_, Denied::Unchecked(_)) => Problem::slow_down(),
            (_, Denied::Unknown(_)) => Problem::quota_unknown(),
            (Payer::Key(caller), Denied::Exceeded(quota)) => {
                let origin = || RequestOrigin { request: self.id.to_string(), address: self.address };
                state.auth.audit_quota(caller, origin);
                Problem::quota_exceeded(&quota, &state.auth.used_by_others(caller, &quota)).with_needed(needed)
            }
            (Payer::Anonymous, Denied::Exceeded(quota)) => state.anonymous_exceeded(&quota, needed),
        }
    }

    /// Charges what the work costs above what is charged already, as far as the quota lasts. The answer is there.
    pub fn charge_work(&self, state: &State, work: Duration) {
        let Some(quota) = self.quota().filter(|quota| quota.cost > 0) else { return };
        let further = state.work_price.requests(work).saturating_sub(quota.cost);
        let left = quota.remaining.unwrap_or(u32::MAX).min(further);
        if left > 0 {
            // Another request may have taken what was left.
            let _ = self.charge(state, quota.cost + left);
        }
    }

    /// Gives back what a response is not worth: one that says that nothing changed, and errors; errors of a caller with a key as
    /// on REST.
    pub fn settle(&self, state: &State, status: StatusCode) {
        let Some(quota) = self.quota().filter(|quota| quota.cost > 0 && !status.is_success()) else { return };
        let is_fault = status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS;
        let after = match &self.payer {
            Payer::Key(caller) if is_fault => state.auth.forgive_error(caller, quota),
            Payer::Key(caller) => state.auth.give_back_several(caller, quota.cost, quota.day),
            Payer::Anonymous => {
                let hundredths = quota.cost.saturating_mul(HUNDREDTHS);
                state.auth.give_back_anonymous(self.address, hundredths, quota.day).in_requests()
            }
        };
        self.note(after);
    }
}

impl State {
    /// The refusal of a client without a key that has too little left for `needed` requests. The quota is in hundredths.
    pub fn anonymous_exceeded(&self, quota: &Quota, needed: u32) -> Problem {
        let (base, requests) = (&self.public_url, self.auth.tiers().anonymous.requests);
        let (left, resets_at) = (quota.in_requests().remaining.unwrap_or(0), rfc3339(quota.resets_at));
        let detail = match requests {
            0 => {
                format!("programs need a key here: create one at {base}/account and send `Authorization: Bearer <key>`")
            }
            _ => format!(
                "without a key, programs have {requests} requests a day for each address and {} for its network; {left} are left, \
                 and this request counts as {needed}; a key has more: create one at {base}/account and send `Authorization: \
                 Bearer <key>`; the limit resets at {resets_at}",
                requests.saturating_mul(NETWORK_MULTIPLE)
            ),
        };
        let needed = Some(needed).filter(|needed| *needed > 1);
        let quota = Some(Box::new(UsedUp { limit: requests, resets_at, tier: None, needed }));
        Problem { quota, ..Problem::new(Code::QuotaExceeded, detail) }
    }

    /// The refusal of an address whose network has read as many rows, or names, as pages show in a day.
    pub fn shown_exceeded(&self, quota: &Quota) -> Problem {
        let base = &self.public_url;
        let detail = format!(
            "this address, or its network, has read as many rows of pages as one may in a day; programs read lists as files with a \
             key from {base}/account; the limit resets at {}",
            rfc3339(quota.resets_at)
        );
        Problem::new(Code::QuotaExceeded, detail)
    }
}
