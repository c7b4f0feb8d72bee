//! Callers of the endpoint and their daily quota: by API key if one is sent, otherwise by client address.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header;
use serde_json::json;

use auth::QuotaSubject;
use auth::quota::{Allowance, Client, ClientPool, Denied, HUNDREDTHS, Quota, WorkCaller};
use data::number::counted;
use data::{Date, rfc3339};
use transport::problem::{Code, Problem};

use crate::tool::MAX_ITEMS;
use crate::{JsonRpcError, RpcResult};
use service::State;
use transport::RequestParts;
use transport::headers::authorization;
use transport::url::{KEY_IN_URL, has_key};

/// Number of remaining calls from which on results carry a note.
const FEW_CALLS: u32 = 10;

pub struct McpQuota {
    pub state: Arc<State>,
    pub daily_limit: u32,
    pub pools: Arc<[ClientPool]>,
}

pub(crate) struct Admission {
    /// The caller's quota after the request; zero if the caller is unknown.
    pub(crate) quota: Quota,
    /// The counted call, or the reason why the request is rejected.
    pub(crate) charge: RpcResult<Option<Charge>>,
}

pub(crate) struct Charge {
    subject: QuotaSubject,
    day: Date,
    /// What an address without a key was charged of what it has for all programs.
    of_programs: Option<(IpAddr, u32)>,
}

impl McpQuota {
    /// True if strangers may not even read which tools there are.
    pub(crate) fn is_private(&self) -> bool {
        self.state.operator.access.is_private()
    }

    /// True if tool calls without a key are refused, except those of pools.
    pub(crate) fn needs_key(&self) -> bool {
        self.is_private() || self.daily_limit == 0
    }

    /// Identifies the caller of a request and, if it is a call for so many `records`, counts it.
    pub(crate) async fn admit(&self, request: &RequestParts<'_>, records: Option<usize>) -> Admission {
        let (today, access) = (self.state.today(), &self.state.auth);
        let subject = match self.subject(request).await {
            Ok(QuotaSubject::Client(_, 0)) if records.is_some() => {
                return Admission { quota: Quota::zero(today), charge: Err(self.key_missing()) };
            }
            Ok(subject) => subject,
            Err(error) => return Admission { quota: Quota::zero(today), charge: Err(error) },
        };
        let Some(records) = records else {
            return Admission { quota: access.peek(subject, today), charge: Ok(None) };
        };
        let (quota, charge) = match access.take(subject.clone(), today) {
            Ok(quota) => self.charge_programs(subject, quota, records),
            Err(Denied::Unchecked(quota)) => (quota, Err(Problem::slow_down().into())),
            Err(Denied::Unknown(quota)) => (quota, Err(Problem::quota_unknown().into())),
            Err(Denied::Exceeded(quota)) => {
                let mut used_by_others = String::new();
                if let QuotaSubject::Key(caller) = &subject {
                    access.audit_quota(caller, || self.state.origin(request));
                    used_by_others = access.used_by_others(caller, &quota);
                }
                (quota, Err(self.exceeded(&quota, &used_by_others, &subject)))
            }
        };
        Admission { quota, charge }
    }

    /// Charges a counted call to what its address has for all programs.
    fn charge_programs(
        &self,
        subject: QuotaSubject,
        quota: Quota,
        records: usize,
    ) -> (Quota, RpcResult<Option<Charge>>) {
        let QuotaSubject::Client(Client::Address(address), calls) = subject else {
            return (quota, Ok(Some(Charge { subject, day: quota.day, of_programs: None })));
        };
        let state = &self.state;
        let (each, price) = self.price(calls, records);
        match state.auth.take_anonymous(address, price, quota.day) {
            Ok(programs) => {
                let left = programs.remaining.unwrap_or(0) / each;
                let remaining = quota.remaining.map(|remaining| remaining.min(left));
                let charge = Charge { subject, day: quota.day, of_programs: Some((address, price)) };
                (Quota { remaining, ..quota }, Ok(Some(charge)))
            }
            Err(denied) => {
                let before = state.auth.give_back(subject, quota.day);
                let problem = match denied {
                    Denied::Exceeded(left) => state.anonymous_exceeded(&left, price.div_ceil(HUNDREDTHS)),
                    Denied::Unchecked(_) => Problem::slow_down(),
                    Denied::Unknown(_) => Problem::quota_unknown(),
                };
                // Nothing is left, whatever the number of calls.
                (Quota { remaining: Some(0), ..before }, Err(problem.into()))
            }
        }
    }

    /// Hundredths of requests that a call costs at least, and those of a call for so many records. The calls of a day together
    /// cost what an address has, and a call of the most records one request.
    fn price(&self, calls: u32, records: usize) -> (u32, u32) {
        let each = (self.state.auth.tiers().anonymous.requests.saturating_mul(HUNDREDTHS) / calls.max(1)).max(1);
        let of_records = records.saturating_mul(HUNDREDTHS as usize).div_ceil(MAX_ITEMS);
        (each, each.max(u32::try_from(of_records).unwrap_or(u32::MAX)))
    }

    /// Counts the names that a completion may have for an address without a key.
    pub(crate) fn count_names(&self, request: &RequestParts<'_>, names: usize) -> RpcResult<()> {
        let state = &self.state;
        let has_key = state.auth.authenticate(authorization(request.headers), state.now()).is_ok();
        if has_key {
            return Ok(());
        }
        let (address, names) = (state.client(request.peer, request.headers), u32::try_from(names).unwrap_or(u32::MAX));
        let counted = state.auth.count_shown(Allowance::Names, address, names, state.today());
        counted.map_err(|quota| state.shown_exceeded(&quota).into())
    }

    /// The caller whose turn the work of a call waits for.
    pub(crate) fn work_caller(&self, request: &RequestParts<'_>, charge: Option<&Charge>) -> WorkCaller {
        match charge.map(|charge| &charge.subject) {
            Some(QuotaSubject::Key(caller)) => caller.of_work(),
            _ => WorkCaller::Address(self.state.client(request.peer, request.headers)),
        }
    }

    /// Charges what the work of a call costs above the call itself.
    pub(crate) fn charge_work(&self, charge: &Charge, work: Duration, quota: Quota) -> Quota {
        self.state.charge_work(&charge.subject, work, quota)
    }

    pub(crate) fn refund(&self, charge: Charge) -> Quota {
        if let Some((address, hundredths)) = charge.of_programs {
            self.state.auth.give_back_anonymous(address, hundredths, charge.day);
        }
        self.state.auth.give_back(charge.subject, charge.day)
    }

    async fn subject(&self, request: &RequestParts<'_>) -> RpcResult<QuotaSubject> {
        if has_key(request.path, request.query) {
            return Err(Problem::new(Code::KeyInUrl, KEY_IN_URL).into());
        }
        let authorization = request.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let address = self.state.client(request.peer, request.headers);
        match self.state.auth.authenticate_optional(authorization, address, self.state.now()).await {
            Ok(Some(caller)) => {
                request.trace.set_tier(caller.tier);
                return Ok(QuotaSubject::Key(caller));
            }
            Ok(None) if self.is_private() => return Err(self.key_missing()),
            Ok(None) => {}
            Err(error) => {
                self.state.auth.audit_rejected_key(error, || self.state.origin(request));
                return Err(Problem::from(error).into());
            }
        }
        Ok(match ClientPool::find(&self.pools, address) {
            Some(pool) => QuotaSubject::Client(pool.client(), pool.daily_limit),
            None => QuotaSubject::Client(Client::Address(address), self.daily_limit),
        })
    }

    fn key_missing(&self) -> JsonRpcError {
        let base = &self.state.public_url;
        let detail = format!("a key is required: create one at {base}/account and send `Authorization: Bearer <key>`");
        Problem::new(Code::MissingApiKey, detail).into()
    }

    fn exceeded(&self, quota: &Quota, used_by_others: &str, subject: &QuotaSubject) -> JsonRpcError {
        let resets_at = rfc3339(quota.resets_at);
        let limit = quota.limit.expect("only a limited quota can be exceeded");
        let mut message = format!("daily quota of {limit} tool calls exceeded{used_by_others}; resets at {resets_at}");
        if matches!(subject, QuotaSubject::Client(..)) {
            message.push_str(&format!(". {}", self.key_advice()));
        }
        let account = format!("{}/account", self.state.public_url);
        let data = json!({ "code": "quota_exceeded", "limit": limit, "resets_at": resets_at, "account_url": account });
        JsonRpcError::from(Problem::new(Code::QuotaExceeded, message)).with_data(data)
    }

    fn key_advice(&self) -> String {
        let base = &self.state.public_url;
        format!(
            "An API key has a quota of its own: create one at {base}/account and send `Authorization: Bearer <key>`"
        )
    }

    /// A note to the assistant if few calls are left after this one: some clients end their session at a 429.
    pub(crate) fn note(&self, quota: &Quota, charge: &Charge) -> Option<String> {
        let left = quota.remaining.filter(|left| *left <= FEW_CALLS)?;
        let (left, resets_at) = (counted(left, "tool call", "tool calls"), rfc3339(quota.resets_at));
        let mut note = format!("{left} left until {resets_at}");
        if matches!(charge.subject, QuotaSubject::Client(..)) {
            note.push_str(&format!(". {}", self.key_advice()));
        }
        Some(note)
    }
}
