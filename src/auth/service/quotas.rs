//! Daily quotas: counted in memory, or, if several servers share the store, by leases.

use std::net::IpAddr;
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::quota::lease::LeasedCounters;
use crate::quota::lease::journal::{self, EarlierJournal, LeaseJournal};
use crate::quota::{
    Allowance, Client, ClientHasher, CountedKey, Denied, Grant, HUNDREDTHS, LeaseRequest, Quota, SharedCounter, Tier,
    Tiers, run_in_place,
};
use crate::{AuthService, Caller, CounterStore, QuotaSubject, Store, StoreError, StoreResult};
use data::Date;
use platform::metrics::Counter;

/// Time without leases after the store failed, so that requests do not wait for it one after the other.
const AWAY: Duration = Duration::from_secs(1);

/// Seconds without a report after which a server of the same data folder has ended, and so has its last call of the store.
/// They are counted by this server's monotonic clock.
const ENDED: i64 = 10;

/// Rows that pages may show for each name that may be suggested. An answer has few names, and a person who types gets many.
const ROWS_OF_NAME: u32 = 10;

/// Requests of a day for each error that does not count.
const ERRORS_OF_REQUESTS: u32 = 10;

/// Units of a limit that nobody reaches.
const UNBOUNDED: u32 = 1_000_000_000;

type Renewal = (SharedCounter, Date);

pub(super) struct SharedQuotas {
    store: Arc<dyn Store>,
    leases: LeasedCounters,
    /// The same on all servers.
    hasher: ClientHasher,
    away_until: Mutex<Option<Instant>>,
    renewals: Sender<Renewal>,
    /// Calls of the store that leased units, and calls that failed.
    leased: Counter,
    failed: Counter,
    /// Milliseconds by which the store's clock is ahead of this machine's.
    clock_ahead: AtomicI64,
    earlier: Mutex<Vec<EarlierServer>>,
    /// Units that earlier servers held, and that were given back.
    recovered: Counter,
}

/// A server that used the data folder before this one, and did not give back its leases.
struct EarlierServer {
    journal: EarlierJournal,
    /// Its last report, by the clock of the store, and when this server read it first, in monotonic seconds.
    seen: Option<(Option<i64>, i64)>,
}

impl SharedQuotas {
    /// Also returns the receiver for [`start_renewals`].
    pub(super) fn new(store: Arc<dyn Store>, secret: &[u8; 32]) -> (Self, Receiver<Renewal>) {
        let (renewals, received) = channel();
        let shared = Self {
            store,
            leases: LeasedCounters::default(),
            hasher: ClientHasher::new(secret).derived(b"daily counters"),
            away_until: Mutex::default(),
            renewals,
            leased: Counter::default(),
            failed: Counter::default(),
            clock_ahead: AtomicI64::new(0),
            earlier: Mutex::default(),
            recovered: Counter::default(),
        };
        (shared, received)
    }

    fn store(&self) -> &dyn CounterStore {
        self.store.counters().expect("quotas are shared in a store with counters")
    }

    /// Begins a journal in the data folder, and reads those of earlier servers.
    fn begin_journal(&self, data: &Path) -> std::io::Result<()> {
        // Without one, no journal is worth anything.
        let Some(boot) = journal::boot() else { return Ok(()) };
        let journals = EarlierJournal::read_all(data, &boot)?;
        self.leases.note_in(LeaseJournal::create(data, self.store().server(), &boot)?);
        let earlier = journals.into_iter().map(|journal| EarlierServer { journal, seen: None });
        self.earlier.lock().unwrap_or_else(PoisonError::into_inner).extend(earlier);
        Ok(())
    }

    /// Gives back what earlier servers held, each once it has not reported for [`ENDED`] seconds: a copy of a data folder may
    /// have the journal of a server that runs.
    fn settle(&self, passed: i64) -> StoreResult<()> {
        let mut earlier = self.earlier.lock().unwrap_or_else(PoisonError::into_inner);
        let mut index = 0;
        while let Some(EarlierServer { journal, seen }) = earlier.get_mut(index) {
            let report = self.store().last_report(journal.server)?;
            if seen.is_none_or(|(seen, _)| seen != report) {
                *seen = Some((report, passed));
            }
            if seen.is_none_or(|(_, since)| passed - since < ENDED) {
                index += 1;
                continue;
            }
            let units = self.store().settle(journal.server, &journal.spent)?;
            if units > 0 {
                tracing::info!("{units} units of quotas that a killed server held can be used again");
            }
            self.recovered.add(units);
            // If it stays, nothing is left to give back.
            let _ = std::fs::remove_file(&journal.path);
            earlier.swap_remove(index);
        }
        Ok(())
    }

    fn lease(&self, request: LeaseRequest) -> Option<Grant> {
        let away_until = || self.away_until.lock().unwrap_or_else(PoisonError::into_inner);
        if away_until().is_some_and(|until| Instant::now() < until) {
            return None;
        }
        let leased = run_in_place(|| self.store().lease(request));
        let calls = if leased.is_ok() { &self.leased } else { &self.failed };
        calls.add(1);
        *away_until() = leased.is_err().then(|| Instant::now() + AWAY);
        leased.ok()
    }

    /// The counters of a client on a day, the largest range first, with the limit of each.
    fn counters(&self, client: &Client, limit: u32, day: Date) -> Vec<(SharedCounter, u32)> {
        // The counts of two days cannot be linked.
        let hasher = self.hasher.derived(&day.days().to_le_bytes());
        let ranges = hasher.ranges(client);
        ranges.iter().flatten().map(|range| (SharedCounter::Client(range.hash), range.limit(limit))).collect()
    }

    /// If the store is away, the next request asks.
    fn renew(&self, renewal: Renewal) {
        self.leases.renew(renewal, |request| self.lease(request));
    }

    fn take(&self, counter: SharedCounter, requests: u32, limit: u32, day: Date) -> Result<Quota, Denied> {
        let taken = self.leases.take(counter, requests, limit, day, |request| self.lease(request))?;
        if taken.renews {
            // The thread ends with the service.
            let _ = self.renewals.send((counter, day));
        }
        Ok(taken.quota)
    }

    /// Takes units from each range of a client's address, or from none if one of them has too few left.
    fn take_for_client(&self, client: &Client, units: u32, limit: u32, day: Date) -> Result<Quota, Denied> {
        let counters = self.counters(client, limit, day);
        let mut quotas = Vec::with_capacity(counters.len());
        for (counter, of) in &counters {
            match self.take(*counter, units, *of, day) {
                Ok(quota) => quotas.push(quota),
                Err(denied) => {
                    for (counter, of) in &counters[..quotas.len()] {
                        self.leases.give_back(*counter, units, *of, day);
                    }
                    let left = denied.quota().remaining.unwrap_or(0).min(limit);
                    return Err(denied.with_quota(Quota::new(Some(limit), limit - left, day)));
                }
            }
        }
        Ok(client_quota(quotas, limit, day))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeaseCounts {
    pub leased: u64,
    pub failed: u64,
    /// Requests that were admitted while the store was away, without a lease.
    pub unleased: u64,
    /// Units of killed servers that were given back.
    pub recovered: u64,
}

impl AuthService {
    /// All are 0 if quotas are not shared.
    pub fn lease_counts(&self) -> LeaseCounts {
        let Some(shared) = &self.shared else { return LeaseCounts::default() };
        let SharedQuotas { leased, failed, leases, recovered, .. } = shared;
        LeaseCounts {
            leased: leased.get(),
            failed: failed.get(),
            unleased: leases.unleased.get(),
            recovered: recovered.get(),
        }
    }

    /// Notes in the data folder, which this server has locked, what it spends of leases, and gives back in the next flushes
    /// what earlier servers in this folder did not spend. Blocks. No effect if no other server uses the store.
    pub fn note_leases(&self, data: &Path) {
        if let Some(Err(error)) = self.shared.as_ref().map(|shared| shared.begin_journal(data)) {
            let data = data.display();
            tracing::warn!(
                "{data}: {error}: units of quotas that this server holds are lost until midnight if it is killed"
            );
        }
    }

    pub fn take(&self, subject: impl Into<QuotaSubject>, today: Date) -> Result<Quota, Denied> {
        match subject.into() {
            QuotaSubject::Key(caller) => self.take_several(&caller, 1, today),
            QuotaSubject::Client(client, limit) => {
                self.take_for_client(&client, 1, limit, today).map(|quota| quota.with_cost(1))
            }
        }
    }

    /// Takes units from the limit of a client: all of them, or none and an error if fewer are left.
    fn take_for_client(&self, client: &Client, units: u32, limit: u32, today: Date) -> Result<Quota, Denied> {
        let taken = match &self.shared {
            Some(shared) => shared.take_for_client(client, units, limit, today),
            None => self.client_counter.take(client, units, limit, today).map_err(Denied::Exceeded),
        };
        taken.inspect_err(|_| self.denied_clients.add(1))
    }

    fn give_back_for_client(&self, client: &Client, units: u32, limit: u32, day: Date) -> Quota {
        match &self.shared {
            Some(shared) => {
                let counters = shared.counters(client, limit, day).into_iter();
                client_quota(counters.map(|(counter, of)| shared.leases.give_back(counter, units, of, day)), limit, day)
            }
            None => self.client_counter.give_back(client, units, limit, day),
        }
    }

    pub fn tiers(&self) -> &Tiers {
        self.store.tiers()
    }

    /// Requests per day of a key of a tier; `None` if unlimited.
    pub(crate) fn daily_limit(&self, tier: Tier) -> Option<u32> {
        self.tiers().of(tier).requests
    }

    /// Takes hundredths of requests from what an address without a key, and its network, have for programs: all of them, or
    /// none. The quota is in hundredths, too.
    pub fn take_anonymous(&self, address: IpAddr, hundredths: u32, today: Date) -> Result<Quota, Denied> {
        let (client, limit) = self.programs_of(address);
        self.take_for_client(&client, hundredths, limit, today)
    }

    pub fn give_back_anonymous(&self, address: IpAddr, hundredths: u32, day: Date) -> Quota {
        let (client, limit) = self.programs_of(address);
        self.give_back_for_client(&client, hundredths, limit, day)
    }

    pub fn peek_anonymous(&self, address: IpAddr, today: Date) -> Quota {
        let (client, limit) = self.programs_of(address);
        self.peek(QuotaSubject::Client(client, limit), today)
    }

    fn programs_of(&self, address: IpAddr) -> (Client, u32) {
        let limit = self.limit_of(address, self.tiers().anonymous.requests.saturating_mul(HUNDREDTHS));
        (Client::Anonymous(Allowance::Programs, address), limit)
    }

    /// From now on, addresses of this machine have no limit of a day without a key. For a server that only its own machine reaches.
    pub fn spare_local(&self) {
        self.spares_local.store(true, Ordering::Relaxed);
    }

    fn limit_of(&self, address: IpAddr, limit: u32) -> u32 {
        if self.spares_local.load(Ordering::Relaxed) && address.is_loopback() { UNBOUNDED } else { limit }
    }

    /// Counts rows that a page shows, or names that are suggested, to an address without a key and to its network. Each server
    /// counts by itself.
    pub fn count_shown(&self, allowance: Allowance, address: IpAddr, count: u32, today: Date) -> Result<(), Quota> {
        let limit = match allowance {
            Allowance::Programs => self.programs_of(address).1,
            Allowance::Rows => self.limit_of(address, self.tiers().anonymous.rows),
            Allowance::Names => self.limit_of(address, self.tiers().anonymous.rows / ROWS_OF_NAME),
        };
        let taken = self.client_counter.take(&Client::Anonymous(allowance, address), count, limit, today);
        taken.map(drop).inspect_err(|_| self.denied_clients.add(1))
    }

    /// Gives back what a request with an error of the caller took, for the first tenth of the requests of a day. Errors yield
    /// nothing, so that nobody gets more by them. Each server counts by itself, from its start.
    pub fn forgive_error(&self, caller: &Caller, quota: Quota) -> Quota {
        let forgiven = self.daily_limit(caller.tier).map_or(0, |limit| limit / ERRORS_OF_REQUESTS);
        let counted = CountedKey { key: caller.key, counter: caller.counter };
        if quota.cost == 0 || self.forgiven_errors.take(counted, 1, Some(forgiven), quota.day).is_err() {
            return quota;
        }
        self.give_back_several(caller, quota.cost, quota.day)
    }

    /// Takes requests from the quota of `today`: all of them, or none and an error if fewer are left.
    pub fn take_several(&self, caller: &Caller, requests: u32, today: Date) -> Result<Quota, Denied> {
        let Caller { key, counter, tier, .. } = *caller;
        let counted = CountedKey { key, counter };
        let taken = match self.leased(caller) {
            Some((shared, limit)) => {
                // The usage of the key is written as without leases.
                shared.take(SharedCounter::Key(counter), requests, limit, today).inspect(|_| {
                    let _ = self.key_counter.take(counted, requests, None, today);
                })
            }
            None => self.key_counter.take(counted, requests, self.daily_limit(tier), today).map_err(Denied::Exceeded),
        };
        taken.map(|quota| quota.with_tier(tier).with_cost(requests)).map_err(|denied| {
            self.denied_keys.add(1);
            denied.with_quota(denied.quota().with_tier(tier))
        })
    }

    /// Charges work that is done already, as far as the quota lasts, and returns the quota after it. `quota` is the one after
    /// the requests that were charged for it before.
    pub fn take_for_work(&self, subject: &QuotaSubject, requests: u32, quota: Quota) -> Quota {
        let left = self.peek(subject.clone(), quota.day).remaining.unwrap_or(u32::MAX).min(requests);
        match subject {
            _ if left == 0 => quota,
            QuotaSubject::Key(caller) => match self.take_several(caller, left, quota.day) {
                Ok(after) => after.with_cost(quota.cost + left),
                Err(_) => quota,
            },
            QuotaSubject::Client(..) => (0..left).fold(quota, |quota, _| match self.take(subject.clone(), quota.day) {
                Ok(after) => after.with_cost(quota.cost + 1),
                Err(_) => quota,
            }),
        }
    }

    /// The shared counters and the limit of a caller. Demo keys and keys without a limit are counted by this server alone.
    fn leased(&self, caller: &Caller) -> Option<(&SharedQuotas, u32)> {
        self.shared.as_ref().zip(self.daily_limit(caller.tier)).filter(|_| caller.counter.0 >= 0)
    }

    pub fn peek(&self, subject: impl Into<QuotaSubject>, today: Date) -> Quota {
        match subject.into() {
            QuotaSubject::Key(caller) => {
                let Caller { counter, tier, .. } = caller;
                let counted = self.key_counter.peek(counter, self.daily_limit(tier), today);
                let shared = SharedCounter::Key(counter);
                let leased = self.leased(&caller).and_then(|(quotas, limit)| quotas.leases.peek(shared, limit, today));
                // Units leased by other servers may be unused; their counts are read when this server writes its own.
                leased.map_or(counted, |leased| Quota { used: counted.used, ..leased }).with_tier(tier)
            }
            QuotaSubject::Client(client, limit) => match &self.shared {
                Some(shared) => {
                    let counters = shared.counters(&client, limit, today).into_iter();
                    let known = counters.filter_map(|(counter, of)| shared.leases.peek(counter, of, today));
                    client_quota(known, limit, today)
                }
                None => self.client_counter.peek(&client, limit, today),
            },
        }
    }

    /// Addition to the message about a used-up quota: the requests of other keys that had the key's counter before.
    pub fn used_by_others(&self, caller: &Caller, quota: &Quota) -> String {
        // The counts of other servers are not known by key.
        if self.leased(caller).is_some() {
            return String::new();
        }
        match quota.used.saturating_sub(self.key_counter.used_by(caller.counter, caller.key, quota.day)) {
            0 => String::new(),
            others => format!(", {others} of them by other keys that this account replaced or deleted today"),
        }
    }

    /// Gives back one request that was taken on `day` (the `day` of its quota), and returns the quota after it.
    pub fn give_back(&self, subject: impl Into<QuotaSubject>, day: Date) -> Quota {
        match subject.into() {
            QuotaSubject::Key(caller) => self.give_back_several(&caller, 1, day),
            QuotaSubject::Client(client, limit) => self.give_back_for_client(&client, 1, limit, day),
        }
    }

    /// Gives back requests that were taken on `day`, and returns the quota after it.
    pub fn give_back_several(&self, caller: &Caller, requests: u32, day: Date) -> Quota {
        let Caller { key, counter, tier, .. } = *caller;
        let own = self.key_counter.give_back(CountedKey { key, counter }, requests, self.daily_limit(tier), day);
        let Some((shared, limit)) = self.leased(caller) else { return own.with_tier(tier) };
        shared.leases.give_back(SharedCounter::Key(counter), requests, limit, day).with_tier(tier)
    }

    /// Seconds by which the clock of the store is ahead; 0 if no other server uses it.
    pub fn clock_ahead(&self) -> i64 {
        self.shared.as_ref().map_or(0, |shared| shared.clock_ahead.load(Ordering::Relaxed).div_euclid(1_000))
    }

    /// Reports that this server runs, and notes by how much the clock of the store is ahead.
    pub(crate) fn compare_clocks(&self) -> StoreResult<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        let store_time = shared.store().report_running()?;
        let own_time = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64);
        shared.clock_ahead.store(store_time - own_time, Ordering::Relaxed);
        Ok(())
    }

    /// Gives back unused units of idle counters (`all`: of all), and settles what is owed.
    pub(super) fn end_leases(&self, today: Date, all: bool) -> StoreResult<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        for renewal in shared.leases.owing() {
            shared.renew(renewal);
        }
        shared.settle(self.time.passed())?;
        let unused = shared.leases.unused(today, all);
        let finished = shared.leases.finished();
        if unused.is_empty() && finished.is_empty() {
            return Ok(());
        }
        match shared.store().end_leases(&unused, &finished) {
            Ok(()) => shared.leases.forget(&finished),
            Err(error) => {
                // The store may have committed without an answer; then units would be spent twice. Those of a record come
                // back when it is finished.
                let is_undone = matches!(error, StoreError::Unreachable { .. } | StoreError::Busy);
                let unused: Vec<_> = unused.into_iter().filter(|unused| is_undone || unused.record.is_none()).collect();
                shared.leases.take_back(&unused);
                shared.leases.keep_finished(finished);
                return Err(error);
            }
        }
        Ok(())
    }
}

/// Quota of a client, from those of its ranges: the smallest remaining quota counts.
fn client_quota(ranges: impl IntoIterator<Item = Quota>, limit: u32, day: Date) -> Quota {
    let left = ranges.into_iter().filter_map(|quota| quota.remaining).min().unwrap_or(limit).min(limit);
    Quota::new(Some(limit), limit - left, day)
}

/// Starts the thread that renews leases for as long as there is a service.
pub(super) fn start_renewals(service: &Arc<AuthService>, renewals: Receiver<Renewal>) -> std::io::Result<()> {
    let service = Arc::downgrade(service);
    let run = move || {
        while let Ok(renewal) = renewals.recv() {
            let Some(service) = service.upgrade() else { return };
            service.shared.iter().for_each(|shared| shared.renew(renewal));
        }
    };
    std::thread::Builder::new().name("leases".to_owned()).spawn(run).map(drop)
}
