//! The front desk: what the web layer asks about every request.

pub mod accounts;
pub mod api_keys;
#[cfg(test)]
mod tests;

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::data::Date;

use crate::auth::SqliteStore;
use crate::auth::account::{AccountId, CounterId, KeyId};
use crate::auth::api_key_cache::ApiKeyCache;
use crate::auth::password::hasher::Hasher;
use crate::auth::{ApiKey, AuthError, KEY_PREFIX, MaskedKey, StoreError};
use crate::auth::{KeyState, Store};
use crate::quota::ClientCounter;
use crate::quota::Quota;
use crate::quota::RateLimitConfig;
use crate::quota::RetryAfter;
use crate::quota::Tier;
use crate::quota::client_pool::Client;
use crate::quota::rate_limits::RateLimits;
use crate::quota::{DailyCounter, KeyTally};

/// Who is calling: a key that was made here and is not revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The key's number.
    pub key: KeyId,
    /// The key's account; `None` for a key of this process only.
    pub account: Option<AccountId>,
    /// The account's tier when it was last looked at.
    pub tier: Tier,
    /// The key's first 8 and last 4 characters.
    pub shown: MaskedKey,
    counter: CounterId,
}

impl From<KeyState> for Caller {
    fn from(state: KeyState) -> Self {
        let KeyState { id, counter, account, tier, shown, .. } = state;
        Self { key: id, account, tier, shown, counter }
    }
}

impl Caller {
    fn tally(&self) -> KeyTally {
        KeyTally { key: self.key, counter: self.counter }
    }
}

/// Keys and quotas in memory, before their store.
///
/// [`AuthService::authenticate`], [`AuthService::take`] and their kin never wait. [`AuthService::open`], [`AuthService::refresh`] and
/// [`AuthService::flush`] block: a server calls the latter two from a blocking thread, every 250 ms and every 500 ms, and
/// `flush` once more at its end. What people do with their accounts waits on blocking threads of its own.
pub struct AuthService {
    store: Box<dyn Store>,
    keys: ApiKeyCache,
    meter: DailyCounter,
    addresses: ClientCounter,
    admission: RateLimits,
    hasher: Hasher,
    cursor_secret: [u8; 32],
    /// The mark up to which the store's changes are in `keys`; held while they are taken up.
    mark: Mutex<i64>,
    /// How many refreshes were begun.
    refreshes: AtomicU64,
    /// Held by the request that looks up an unknown key, while others wait for its answer.
    looking_up: tokio::sync::Mutex<()>,
    /// The day whose usage was last read from the store; held while usage is written.
    loaded: Mutex<Option<Date>>,
    /// The number that the next key of this process gets.
    next_demo: AtomicI64,
}

impl std::fmt::Debug for AuthService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Access")
    }
}

impl AuthService {
    /// Opens the store of the folder `data` (made where it is missing) and reads keys and the usage of the day of `now`
    /// (Unix seconds).
    ///
    /// # Errors
    /// Where the folder or its database cannot be used.
    pub fn open(data: &Path, now: i64) -> Result<Arc<Self>, StoreError> {
        Self::open_with(data, RateLimitConfig::default(), now)
    }

    /// The same with other allowances.
    ///
    /// # Errors
    /// Where the folder or its database cannot be used.
    pub fn open_with(data: &Path, allowances: RateLimitConfig, now: i64) -> Result<Arc<Self>, StoreError> {
        Self::over(Box::new(SqliteStore::open(data)?), allowances, now)
    }

    /// The same over any store.
    ///
    /// # Errors
    /// Where the store fails.
    pub fn over(store: Box<dyn Store>, allowances: RateLimitConfig, now: i64) -> Result<Arc<Self>, StoreError> {
        let cursor_secret = store.cursor_secret(random()?)?;
        let access = Self {
            store,
            keys: ApiKeyCache::default(),
            meter: DailyCounter::default(),
            addresses: ClientCounter::new(&random()?),
            admission: RateLimits::new(&random()?, allowances),
            hasher: Hasher::default(),
            cursor_secret,
            mark: Mutex::new(0),
            refreshes: AtomicU64::new(0),
            looking_up: tokio::sync::Mutex::new(()),
            loaded: Mutex::new(None),
            next_demo: AtomicI64::new(-1),
        };
        access.refresh()?;
        access.flush(now)?;
        Ok(Arc::new(access))
    }

    /// The store, for pages and operator commands; its calls block.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.store.as_ref()
    }

    /// Who is calling, by the value of the `Authorization` header.
    ///
    /// A key that another process made less than a refresh ago is [`AuthError::Invalid`] here:
    /// [`AuthService::authenticate_fresh`] looks again.
    ///
    /// # Errors
    /// Why there is no caller.
    pub fn authenticate(&self, authorization: Option<&str>) -> Result<Caller, AuthError> {
        let token = bearer(authorization)?.ok_or(AuthError::Malformed)?;
        let key: ApiKey = token.parse().map_err(|_| AuthError::Malformed)?;
        self.keys.find(&key).map(Caller::from)
    }

    /// The same, but an unknown key is looked for once more in the store before it is refused.
    ///
    /// The look-up runs on a blocking thread. All requests that wait for one share it, so that a flood of invented keys
    /// keeps at most one thread busy.
    ///
    /// # Errors
    /// Why there is no caller.
    pub async fn authenticate_fresh(self: &Arc<Self>, authorization: Option<&str>) -> Result<Caller, AuthError> {
        match self.authenticate(authorization) {
            Err(AuthError::Invalid) => {}
            decided => return decided,
        }
        let begun = self.refreshes.load(Ordering::Acquire);
        let turn = self.looking_up.lock().await;
        // A refresh that began after this request came has seen all that it could know of.
        if self.refreshes.load(Ordering::Acquire) == begun {
            let access = self.clone();
            // One that fails leaves the answer as it was; the server's own refresh reports what is wrong.
            let _ = tokio::task::spawn_blocking(move || access.refresh()).await;
        } else {
            // It may still be running.
            let access = self.clone();
            let _ = tokio::task::spawn_blocking(move || drop(access.mark.lock())).await;
        }
        drop(turn);
        self.authenticate(authorization)
    }

    /// Who is calling where no key is needed: a bearer that is no key of this service (does not begin with `vdx_`) is
    /// nobody, as is no header at all. With a key, the same as [`AuthService::authenticate_fresh`].
    ///
    /// # Errors
    /// Why a key that was sent is not admitted.
    pub async fn authenticate_optional(
        self: &Arc<Self>,
        authorization: Option<&str>,
    ) -> Result<Option<Caller>, AuthError> {
        if sends_key(authorization) { self.authenticate_fresh(authorization).await.map(Some) } else { Ok(None) }
    }

    /// Takes one request from the caller's quota of `today`.
    ///
    /// # Errors
    /// The quota as it stands, where it is used up.
    pub fn take(&self, caller: &Caller, today: Date) -> Result<Quota, Quota> {
        let taken = self.meter.take(caller.tally(), caller.tier.daily_limit(), today);
        taken.map(|quota| quota.with_tier(caller.tier)).map_err(|quota| quota.with_tier(caller.tier))
    }

    /// The caller's quota of `today` as it stands; takes nothing.
    #[must_use]
    pub fn peek(&self, caller: &Caller, today: Date) -> Quota {
        self.meter.peek(caller.counter, caller.tier.daily_limit(), today).with_tier(caller.tier)
    }

    /// Gives back one request that was taken on `day` (the `day` of its quota), and says how the quota stands then.
    pub fn give_back(&self, caller: &Caller, day: Date) -> Quota {
        self.meter.give_back(caller.tally(), caller.tier.daily_limit(), day).with_tier(caller.tier)
    }

    /// Takes one request of a client without a key from its `limit` of `today`.
    ///
    /// # Errors
    /// The quota as it stands, where it is used up.
    pub fn take_client(&self, client: Client<'_>, limit: u32, today: Date) -> Result<Quota, Quota> {
        self.addresses.take(client, limit, today)
    }

    /// The quota of a client without a key as it stands; takes nothing.
    #[must_use]
    pub fn peek_client(&self, client: Client<'_>, limit: u32, today: Date) -> Quota {
        self.addresses.peek(client, limit, today)
    }

    /// Gives back one request of a client without a key, taken on `day`.
    pub fn give_back_client(&self, client: Client<'_>, limit: u32, day: Date) -> Quota {
        self.addresses.give_back(client, limit, day)
    }

    /// Counts a page that `address` asks for at `now` (Unix seconds).
    ///
    /// # Errors
    /// When to come again, where the pages of this minute are used up.
    pub fn admit_page(&self, address: IpAddr, now: i64) -> Result<(), RetryAfter> {
        self.admission.page(address, now)
    }

    /// Makes a key that lives in this process's memory only, and returns it in full.
    ///
    /// # Errors
    /// [`StoreError::NoRandomness`].
    pub fn add_demo_key(&self, tier: Tier) -> Result<ApiKey, StoreError> {
        let key = ApiKey::from_seed(&random()?);
        let number = self.next_demo.fetch_sub(1, Ordering::Relaxed);
        self.keys.put(KeyState {
            id: KeyId(number),
            counter: CounterId(number),
            account: None,
            tier,
            revoked: false,
            digest: key.digest(),
            shown: key.shown(),
        });
        Ok(key)
    }

    /// The secret that signs cursors; the same for the life of the store.
    #[must_use]
    pub fn cursor_secret(&self) -> &[u8; 32] {
        &self.cursor_secret
    }

    /// Takes up keys that were made, revoked or given another tier, by whatever process. Cheap where nothing was.
    /// Returns how many keys changed.
    ///
    /// # Errors
    /// Where the store fails; what is in memory stays.
    pub fn refresh(&self) -> Result<usize, StoreError> {
        let mut mark = self.mark.lock().unwrap_or_else(PoisonError::into_inner);
        self.refreshes.fetch_add(1, Ordering::AcqRel);
        let changes = self.store.changes(*mark)?;
        let changed = changes.keys.len();
        changes.keys.into_iter().for_each(|state| self.keys.put(state));
        *mark = changes.mark;
        Ok(changed)
    }

    /// Writes the usage counted since the last time to the store, in one transaction. On the first call of a day (`now`
    /// in Unix seconds) it also drops the counters of days past, reads what the store knows of the day, and ends the
    /// sessions that have expired. Windows of
    /// throttles that are over are dropped each time.
    ///
    /// Returns how many counts were written.
    ///
    /// # Errors
    /// Where the store fails; nothing is lost, the next call writes it.
    pub fn flush(&self, now: i64) -> Result<usize, StoreError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let added = self.meter.to_write();
        if !added.is_empty() {
            match self.store.add_usage(&added, now) {
                Ok(totals) => self.meter.written(&added, &totals),
                Err(error) => {
                    self.meter.not_written(&added);
                    return Err(error);
                }
            }
        }
        let today = Date::from_unix(now);
        if *loaded != Some(today) {
            self.meter.drop_old(today);
            self.meter.load(today, self.store.usage(today)?);
            self.store.end_expired_sessions(now)?;
            *loaded = Some(today);
        }
        self.admission.forget(now);
        Ok(added.len())
    }
}

/// True where the `Authorization` header's value is meant as a key of this service, well-formed or not.
#[must_use]
pub fn sends_key(authorization: Option<&str>) -> bool {
    matches!(bearer(authorization), Ok(Some(token)) if token.starts_with(KEY_PREFIX))
}

/// The token of a `Bearer` header; `Ok(None)` where the header says something else.
fn bearer(authorization: Option<&str>) -> Result<Option<&str>, AuthError> {
    let header = authorization.map(str::trim).filter(|header| !header.is_empty()).ok_or(AuthError::Missing)?;
    let (scheme, token) = header.split_once(' ').unwrap_or((header, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return Ok(None);
    }
    Some(token.trim()).filter(|token| !token.is_empty()).map(Some).ok_or(AuthError::Missing)
}

fn random() -> Result<[u8; 32], StoreError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::NoRandomness(std::io::Error::other(error.to_string())))?;
    Ok(bytes)
}
