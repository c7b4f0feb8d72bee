//! Authentication and quotas, decided from memory.

pub(crate) mod accounts;
pub(crate) mod api_keys;
pub(crate) mod mails;
pub(crate) mod operators;
mod quotas;
pub(crate) mod reviews;
pub(crate) mod second_factor;
pub(crate) mod sign_in_ticket;
pub(crate) mod steady_time;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::Thread;

use dashmap::DashMap;
use foldhash::fast::RandomState;
use once_cell::sync::OnceCell;
use zeroize::Zeroizing;

use crate::account::AccountId;
use crate::audit::{self, AuditEntry, AuditEvent, AuditLog, RequestOrigin};
use crate::derived_secret::DerivedSecret;
use crate::password::hasher::PasswordHasher;
use crate::quota::{Client, ClientCounter, ClientHasher, CounterId, DailyCounter, KeyId, QueueUsage, Tier, WorkCaller};
use crate::rate_limits::RateLimits;
use crate::service::quotas::SharedQuotas;
use crate::service::sign_in_ticket::SignInTickets;
use crate::service::steady_time::{MonotonicClock, SteadyTime, system_monotonic};
use crate::{
    AccountError, AccountResult, ApiKey, AuthError, KEY_PREFIX, KeyState, MaskedKey, RateLimitConfig, RetryAfter,
    Store, StoreError, StoreResult,
};
use data::Date;
use platform::metrics::Counter;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    pub key: KeyId,
    /// `None` for a demo key.
    pub account: Option<AccountId>,
    /// The account's tier at the last refresh.
    pub tier: Tier,
    pub masked: MaskedKey,
    counter: CounterId,
}

impl Caller {
    /// The caller whose turn work for it waits for.
    pub fn of_work(&self) -> WorkCaller {
        WorkCaller::Key(self.key, self.tier)
    }
}

/// Owner of the daily quota that a request counts on.
#[derive(Clone, Debug)]
pub enum QuotaSubject {
    Key(Caller),
    /// A client without a key, and its requests per day.
    Client(Client, u32),
}

impl From<&Caller> for QuotaSubject {
    fn from(caller: &Caller) -> Self {
        Self::Key(*caller)
    }
}

/// API keys and quotas in memory, accounts in the store.
///
/// Authentication and quotas wait for nothing except leases, if several servers share the store. [`AuthService::with_store`],
/// [`AuthService::refresh`] and [`AuthService::flush`] block: a server calls the latter two on a blocking thread, every
/// 250 ms and every 500 ms, and `flush` once more at shutdown. Account operations run on blocking threads of their own.
pub struct AuthService {
    store: Arc<dyn Store>,
    /// By the first half of the digest, which reveals nothing of unknown keys; the whole is compared in constant time.
    keys: DashMap<u128, KeyState, RandomState>,
    key_counter: DailyCounter,
    /// Errors of callers that did not count.
    forgiven_errors: DailyCounter,
    client_counter: ClientCounter,
    /// True if programs and people on this machine need no key.
    spares_local: AtomicBool,
    /// `None` if no other server uses the store.
    shared: Option<SharedQuotas>,
    rate_limits: RateLimits,
    hasher: PasswordHasher,
    cursor_secret: Zeroizing<[u8; 32]>,
    browser_secret: DerivedSecret,
    sign_in_secret: DerivedSecret,
    sign_in_tickets: SignInTickets,
    /// The last change of the store that is in `keys`; locked during a refresh.
    last_change: Mutex<i64>,
    refreshes: AtomicU64,
    /// Locked by the request that looks up an unknown key, while others wait for its result.
    key_lookup: tokio::sync::Mutex<()>,
    time: SteadyTime,
    /// Day of the usage that was last read from the store; locked while usage is written.
    loaded_day: Mutex<Option<Date>>,
    /// Day before which old data was last purged.
    purged_day: Mutex<Option<Date>>,
    next_demo_key: AtomicI64,
    /// Refused requests above the quota of a key, and of a client without one.
    denied_keys: Counter,
    denied_clients: Counter,
    /// Failure of the store at the last refresh, and at the last flush.
    refresh_failure: Mutex<Option<&'static str>>,
    flush_failure: Mutex<Option<&'static str>>,
    audit: OnceCell<AuditLog>,
    /// The thread that sends links by e-mail, if the operator has set it up.
    link_sender: OnceCell<Thread>,
}

impl AuthService {
    /// Loads the keys, and the usage of the day of `now` (Unix seconds).
    pub fn with_store(store: Box<dyn Store>, rate_limits: RateLimitConfig, now: i64) -> StoreResult<Arc<Self>> {
        Self::with_clock(store, rate_limits, now, system_monotonic())
    }

    /// As [`AuthService::with_store`], with another monotonic clock than that of the system.
    pub fn with_clock(
        store: Box<dyn Store>,
        rate_limits: RateLimitConfig,
        now: i64,
        monotonic: MonotonicClock,
    ) -> StoreResult<Arc<Self>> {
        let store: Arc<dyn Store> = store.into();
        let cursor_secret = Zeroizing::new(store.cursor_secret(random()?)?);
        let shared = store.counters().map(|_| SharedQuotas::new(Arc::clone(&store), &cursor_secret));
        let (shared, renewals) = shared.unzip();
        // The same on all servers that share the store.
        let limits_hasher = match &shared {
            Some(_) => ClientHasher::new(&cursor_secret).derived(b"rate limits"),
            None => ClientHasher::new(&random()?),
        };
        let service = Self {
            shared,
            store,
            keys: DashMap::default(),
            key_counter: DailyCounter::default(),
            forgiven_errors: DailyCounter::default(),
            client_counter: ClientCounter::new(&random()?),
            spares_local: AtomicBool::new(false),
            rate_limits: RateLimits::new(&limits_hasher, rate_limits),
            hasher: PasswordHasher::default(),
            browser_secret: DerivedSecret::new(&cursor_secret, "known browsers"),
            sign_in_secret: DerivedSecret::new(&cursor_secret, "second step of sign-ins"),
            sign_in_tickets: SignInTickets::new(DerivedSecret::new(&cursor_secret, "places of sign-ins")),
            cursor_secret,
            last_change: Mutex::new(0),
            refreshes: AtomicU64::new(0),
            key_lookup: tokio::sync::Mutex::new(()),
            time: SteadyTime::new(monotonic),
            loaded_day: Mutex::new(None),
            purged_day: Mutex::new(None),
            next_demo_key: AtomicI64::new(-1),
            denied_keys: Counter::default(),
            denied_clients: Counter::default(),
            refresh_failure: Mutex::default(),
            flush_failure: Mutex::default(),
            audit: OnceCell::new(),
            link_sender: OnceCell::new(),
        };
        service.refresh()?;
        service.compare_clocks()?;
        let now_of_store = now.saturating_add(service.clock_ahead());
        service.time.begin(now_of_store, service.store.steady_time(now_of_store)?);
        service.load_usage(Date::from_unix(service.now(now)))?;
        match service.flush(now) {
            // Known keys are accepted and pages served; the periodic flush tries again.
            Ok(_) | Err(StoreError::Full(_)) => {}
            Err(error) => return Err(error),
        }
        let service = Arc::new(service);
        if let Some(renewals) = renewals {
            quotas::start_renewals(&service, renewals).map_err(StoreError::Thread)?;
        }
        Ok(service)
    }

    /// Logs sign-ins, refusals and changes from now on; no effect if they are logged already.
    pub fn log_to(&self, audit: AuditLog) {
        let _ = self.audit.set(audit);
    }

    pub(crate) fn audit(&self, entry: AuditEntry, refusal: Option<&AccountError>) {
        if let Some(log) = self.audit.get() {
            log.write(entry, refusal);
        }
    }

    pub(crate) fn audited<T>(&self, entry: AuditEntry, result: AccountResult<T>) -> AccountResult<T> {
        self.audit(entry, result.as_ref().err());
        result
    }

    /// The lines of the audit log about an account, the oldest first; none if they are not kept in a file. It blocks.
    pub fn audit_lines(&self, account: AccountId) -> std::io::Result<Vec<serde_json::Value>> {
        let path = self.audit.get().and_then(|log| log.path.as_deref());
        path.map_or_else(|| Ok(Vec::new()), |path| audit::read_lines(path, account))
    }

    /// Logs that a caller's quota is used up, once for each key and day.
    pub fn audit_quota(&self, caller: &Caller, origin: impl FnOnce() -> RequestOrigin) {
        if let Some(log) = self.audit.get() {
            log.quota_reached(log.now(), caller.account, caller.key, origin);
        }
    }

    /// Logs a rejected key, if its client has sent several.
    pub fn audit_rejected_key(&self, error: AuthError, origin: impl FnOnce() -> RequestOrigin) {
        if let Some(log) = self.audit.get().filter(|_| !matches!(error, AuthError::Missing | AuthError::StoreAway)) {
            log.key_rejected(log.now(), error, &origin());
        }
    }

    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// Authenticates by the value of the `Authorization` header at `now` (Unix seconds). A key that is not in memory
    /// yet is [`AuthError::Invalid`]; [`AuthService::authenticate_fresh`] checks the store again.
    pub fn authenticate(&self, authorization: Option<&str>, now: i64) -> Result<Caller, AuthError> {
        let token = bearer_token(authorization)?.ok_or(AuthError::Malformed)?;
        let key: ApiKey = token.parse().map_err(|_| AuthError::Malformed)?;
        let digest = key.digest();
        let found = self.keys.get(&digest.first_half()).filter(|found| found.digest == digest);
        let KeyState { id, counter, account, tier, masked, revoked, expires_at, .. } =
            *found.ok_or(AuthError::Invalid)?;
        if revoked {
            return Err(AuthError::Revoked);
        }
        // A key expires without a change in the store.
        if expires_at.is_some_and(|end| end <= now) {
            return Err(AuthError::Expired);
        }
        Ok(Caller { key: id, account, tier, masked, counter })
    }

    /// Like [`AuthService::authenticate`], but looks up an unknown key in the store before it is rejected: another process
    /// may have created it just now. Without an answer of the store it is [`AuthError::StoreAway`].
    ///
    /// The look-up, on a blocking thread, is for all requests that wait: a flood of invented keys occupies one thread. The
    /// client at `address` gets a limited number of them per minute; further unknown keys are known with the next periodic
    /// refresh.
    pub async fn authenticate_fresh(
        self: &Arc<Self>,
        header: Option<&str>,
        address: IpAddr,
        now: i64,
    ) -> Result<Caller, AuthError> {
        match self.authenticate(header, now) {
            Err(AuthError::Invalid) => {}
            decided => return decided,
        }
        if self.rate_limits.unknown_keys.take_here(Client::Address(address), now).is_err() {
            let is_away = failure_of(&self.refresh_failure).is_some();
            return Err(if is_away { AuthError::StoreAway } else { AuthError::Invalid });
        }
        let refreshes = self.refreshes.load(Ordering::Acquire);
        let lookup = self.key_lookup.lock().await;
        let service = self.clone();
        let is_read = if self.refreshes.load(Ordering::Acquire) == refreshes {
            tokio::task::spawn_blocking(move || service.refresh().is_ok()).await
        } else {
            // A refresh that started after this request sees the key; wait until it is done.
            let is_read = move || {
                drop(service.last_change.lock());
                failure_of(&service.refresh_failure).is_none()
            };
            tokio::task::spawn_blocking(is_read).await
        };
        drop(lookup);
        // The task fails only if the server is shutting down.
        let is_read = is_read.unwrap_or(false);
        self.authenticate(header, now).map_err(|error| match error {
            AuthError::Invalid if !is_read => AuthError::StoreAway,
            error => error,
        })
    }

    /// Like [`AuthService::authenticate_fresh`], but a bearer token without `vdx_` is ignored, like a missing header.
    pub async fn authenticate_optional(
        self: &Arc<Self>,
        authorization: Option<&str>,
        address: IpAddr,
        now: i64,
    ) -> Result<Option<Caller>, AuthError> {
        match bearer_token(authorization) {
            Ok(Some(token)) if token.starts_with(KEY_PREFIX) => {
                self.authenticate_fresh(authorization, address, now).await.map(Some)
            }
            _ => Ok(None),
        }
    }

    pub fn denied(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let quotas = [("key", &self.denied_keys), ("client", &self.denied_clients)];
        quotas.map(|(name, count)| (name, count.get())).into_iter().chain(self.rate_limits.denied())
    }

    pub fn password_queue(&self) -> QueueUsage {
        self.hasher.queue.usage()
    }

    /// False if no pages at all are allowed.
    pub fn offers_pages(&self) -> bool {
        self.rate_limits.pages.limit > 0
    }

    /// Counts a page requested by `address` at `now` (Unix seconds); an error if the pages per minute are exceeded.
    pub fn admit_page(&self, address: IpAddr, now: i64) -> Result<(), RetryAfter> {
        self.rate_limits.pages.take_here(Client::Address(address), now).map(drop)
    }

    /// Creates a key that exists only in the memory of this process.
    pub fn add_demo_key(&self, tier: Tier) -> StoreResult<ApiKey> {
        let key = ApiKey::from_seed(&random()?);
        let number = self.next_demo_key.fetch_sub(1, Ordering::Relaxed);
        let (digest, masked) = (key.digest(), key.masked());
        let (id, counter) = (KeyId(number), CounterId(number));
        let state = KeyState { id, counter, account: None, tier, revoked: false, expires_at: None, digest, masked };
        self.keys.insert(digest.first_half(), state);
        Ok(key)
    }

    /// The secret that signs cursors; constant for the life of the store.
    pub fn cursor_secret(&self) -> &[u8; 32] {
        &self.cursor_secret
    }

    /// Loads keys that any process changed, and returns their number. If the store fails, the keys in memory remain.
    pub fn refresh(&self) -> StoreResult<usize> {
        note_failure(&self.refresh_failure, self.read_changes())
    }

    fn read_changes(&self) -> StoreResult<usize> {
        let mut last_change = self.last_change.lock().unwrap_or_else(PoisonError::into_inner);
        self.refreshes.fetch_add(1, Ordering::AcqRel);
        let changes = self.store.changes(*last_change)?;
        let changed = changes.keys.len();
        let mut moved = BTreeSet::new();
        for state in changes.keys {
            let before = self.keys.insert(state.digest.first_half(), state);
            let is_moved = before.is_some_and(|before| before.tier != state.tier);
            moved.extend(state.account.filter(|_| is_moved).map(|account| (account, state.tier)));
        }
        for (account, tier) in moved {
            self.audit(AuditEntry { tier: Some(tier), ..AuditEntry::new(AuditEvent::TierChange, Some(account)) }, None);
        }
        *last_change = changes.last;
        Ok(changed)
    }

    /// The time to act by when the clock of this machine shows `clock` (both in Unix seconds): by the clock of the store
    /// if several servers share one, and as [`steady_time`] says after a jump.
    pub fn now(&self, clock: i64) -> i64 {
        self.time.follow(clock.saturating_add(self.clock_ahead()))
    }

    /// Changes of the clock by more than a day that the monotonic clock contradicts.
    pub fn clock_jumps(&self) -> u64 {
        self.time.jumps()
    }

    /// Writes the usage counted since the last call to the store, in one transaction, and returns the number of counts.
    /// Removes expired rate limit windows. The first call of a day also drops the counters of past days, loads the
    /// stored usage of the day and of the days before and after it, and ends expired keys; the first after a day of the
    /// time of purges ends expired sessions, and purges data that is stored for a limited time. If the store fails, the
    /// next call writes again. `clock` is what the clock of this machine shows, in Unix seconds.
    pub fn flush(&self, clock: i64) -> StoreResult<usize> {
        self.flush_once(clock, false)
    }

    /// Flushes for the last time, and gives back this server's units of shared counters.
    pub fn close(&self, clock: i64) -> StoreResult<usize> {
        self.flush_once(clock, true)
    }

    fn flush_once(&self, clock: i64, is_last: bool) -> StoreResult<usize> {
        let flush = || -> StoreResult<usize> {
            self.compare_clocks()?;
            let now = self.now(clock);
            self.end_leases(Date::from_unix(now), is_last)?;
            let written = self.write_usage(now)?;
            self.purge(now, is_last)?;
            Ok(written)
        };
        note_failure(&self.flush_failure, flush())
    }

    /// Why usage cannot be stored or changes not be read; `None` if they can. Known keys are accepted regardless.
    pub fn degraded(&self) -> Option<&'static str> {
        failure_of(&self.refresh_failure).or_else(|| failure_of(&self.flush_failure))
    }

    fn write_usage(&self, now: i64) -> StoreResult<usize> {
        self.store.check()?;
        let mut loaded_day = self.loaded_day.lock().unwrap_or_else(PoisonError::into_inner);
        let added = self.key_counter.to_write();
        if !added.is_empty() {
            match self.store.add_usage(&added, now) {
                Ok(totals) => self.key_counter.written(&added, &totals),
                Err(error) => {
                    self.key_counter.not_written(&added);
                    return Err(error);
                }
            }
        }
        let today = Date::from_unix(now);
        if *loaded_day != Some(today) {
            self.key_counter.drop_old(today);
            self.forgiven_errors.forget_old(today);
            self.load_usage(today)?;
            // They are accepted again if the clock is set back.
            self.store.end_expired_keys(now)?;
            *loaded_day = Some(today);
        }
        self.rate_limits.remove_expired(now);
        Ok(added.len())
    }

    /// Deletes old data once in a day of the time of purges, and stores that time.
    fn purge(&self, now: i64, is_last: bool) -> StoreResult<()> {
        let purge_time = self.time.purge_time(now);
        let mut purged_day = self.purged_day.lock().unwrap_or_else(PoisonError::into_inner);
        let day = Date::from_unix(purge_time);
        if *purged_day != Some(day) {
            self.store.end_expired_sessions(purge_time)?;
            self.store.purge(day)?;
            *purged_day = Some(day);
        }
        if let Some(time) = self.time.to_store(is_last) {
            self.store.store_steady_time(time)?;
            self.time.set_stored(time);
        }
        Ok(())
    }

    fn load_usage(&self, today: Date) -> StoreResult<()> {
        // The day before and the day after, too: the clock may move back over midnight, or be slightly behind.
        for day in [-1, 0, 1].map(|days| Date::from_days(today.days() + days)) {
            self.key_counter.load(day, self.store.usage(day)?);
        }
        Ok(())
    }
}

fn note_failure<T>(failure: &Mutex<Option<&'static str>>, result: StoreResult<T>) -> StoreResult<T> {
    *failure.lock().unwrap_or_else(PoisonError::into_inner) = result.as_ref().err().map(StoreError::summary);
    result
}

fn failure_of(failure: &Mutex<Option<&'static str>>) -> Option<&'static str> {
    *failure.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `Ok(None)` if the header has another scheme.
fn bearer_token(authorization: Option<&str>) -> Result<Option<&str>, AuthError> {
    let header = authorization.map(str::trim).filter(|header| !header.is_empty()).ok_or(AuthError::Missing)?;
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    Some(token.trim()).filter(|token| !token.is_empty()).map(Some).ok_or(AuthError::Missing)
}

fn first_of_days(today: Date, days: u16) -> Date {
    Date::from_days(today.days() - i32::from(days.max(1)) + 1)
}

pub(crate) fn random<const N: usize>() -> StoreResult<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}
