//! A store whose calls fail: each with a chance that the simulator sets.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use auth::account::{Account, AccountId, Email, KeyName, KeyRecord, KeyRef, Rotation};
use auth::link::{LinkDigest, Purpose};
use auth::password::hash::PasswordHash;
use auth::quota::{AddedUsage, StoredUsage, Tier};
use auth::session::{ListedSession, NewSession, Session, SessionDigest, SessionId};
use auth::totp::RecoveryDigest;
use auth::watch::WatchStore;
use auth::{
    ApiKey, Credentials, DayUsage, KeyChanges, PasswordVersion, RevokedKeys, SqliteStore, Store, StoreError, Totp,
};
use data::Date;

use crate::harness::Numbers;

/// How often calls fail, in percent, and what decides.
pub struct Faults {
    pub percent: u64,
    pub numbers: Numbers,
    /// Calls so far.
    pub calls: u64,
}

/// A store that fails before it does anything.
pub struct FaultyStore {
    pub store: Arc<SqliteStore>,
    pub faults: Arc<Mutex<Faults>>,
}

impl FaultyStore {
    fn fail(&self) -> Result<(), StoreError> {
        let mut faults = self.faults.lock().unwrap();
        faults.calls += 1;
        let percent = faults.percent;
        if faults.numbers.upto(100) >= percent {
            return Ok(());
        }
        match faults.numbers.upto(8) {
            0 => std::thread::sleep(Duration::from_millis(1)),
            1..4 => return Err(StoreError::Busy),
            _ => {
                let source = io::Error::other("input/output error");
                return Err(StoreError::File { path: PathBuf::from("venturedex.sqlite"), source });
            }
        }
        Ok(())
    }
}

macro_rules! delegate {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Store for FaultyStore {
            fn watch_store(&self) -> &dyn WatchStore {
                &*self.store
            }

            $(fn $name(&self, $($argument: $type),*) -> Result<$result, StoreError> {
                self.fail()?;
                self.store.$name($($argument),*)
            })*
        }
    };
}

delegate! {
    fn create_account(email: &Email, tier: Tier, password: Option<&PasswordHash>, now: i64) -> Account;
    fn account(email: &Email) -> Account;
    fn account_by_id(account: AccountId) -> Account;
    fn set_operator(account: AccountId, is_operator: bool) -> Account;
    fn set_blocked(account: AccountId, is_blocked: bool, now: i64) -> Account;
    fn find_accounts(part: &str, start: u32, limit: u32) -> (u32, Vec<Account>);
    fn usage_by_day(first: Date, last: Date) -> Vec<(Date, u64)>;
    fn usage_by_account(first: Date, last: Date) -> Vec<(AccountId, u64)>;
    fn verify_account(account: AccountId, now: i64) -> Account;
    fn accounts() -> Vec<Account>;
    fn set_tier(email: &Email, tier: Tier) -> Account;
    fn credentials(email: &Email) -> Credentials;
    fn set_password(account: AccountId, version: Option<PasswordVersion>, password: &PasswordHash, session: Option<&NewSession>) -> ();
    fn reset_password(account: AccountId, password: &PasswordHash, keeps_keys: bool, now: i64) -> u32;
    fn rehash_password(account: AccountId, version: PasswordVersion, password: &PasswordHash) -> ();
    fn delete_account(account: AccountId, version: Option<PasswordVersion>, now: i64) -> ();
    fn add_session(account: AccountId, version: PasswordVersion, session: &NewSession) -> ();
    fn session(session: &SessionDigest, now: i64) -> Option<Session>;
    fn sessions(account: AccountId, now: i64) -> Vec<ListedSession>;
    fn session_used(session: &SessionDigest, now: i64) -> ();
    fn session_authenticated(session: &SessionDigest, now: i64) -> bool;
    fn end_session(session: &SessionDigest) -> bool;
    fn end_session_of(account: AccountId, session: SessionId) -> bool;
    fn end_expired_sessions(now: i64) -> usize;
    fn add_link(account: AccountId, purpose: Purpose, link: &LinkDigest, expires_at: i64) -> ();
    fn account_of_link(purpose: Purpose, link: &LinkDigest, now: i64) -> Account;
    fn verify_by_link(link: &LinkDigest, now: i64) -> Account;
    fn reset_by_link(link: &LinkDigest, password: &PasswordHash, keeps_keys: bool, now: i64) -> Account;
    fn totp(account: AccountId) -> Option<Totp>;
    fn enable_totp(account: AccountId, totp: &Totp, codes: &[RecoveryDigest], now: i64) -> ();
    fn accept_totp_step(account: AccountId, step: i64) -> bool;
    fn use_recovery_code(account: AccountId, code: &RecoveryDigest) -> bool;
    fn renew_recovery_codes(account: AccountId, codes: &[RecoveryDigest]) -> ();
    fn disable_totp(account: AccountId, version: Option<PasswordVersion>) -> bool;
    fn create_key(account: AccountId, name: &KeyName, key: &ApiKey, expires_at: Option<i64>, now: i64) -> KeyRecord;
    fn rotate_key(key: KeyRef, successor: &ApiKey, rotation: Rotation, now: i64) -> (KeyRecord, KeyRecord);
    fn end_expired_keys(now: i64) -> usize;
    fn keys(account: Option<AccountId>, today: Date) -> Vec<KeyRecord>;
    fn recent_keys(account: AccountId, revoked: RevokedKeys, today: Date) -> Vec<KeyRecord>;
    fn key(key: KeyRef, today: Date) -> KeyRecord;
    fn revoke_key(key: KeyRef, now: i64) -> KeyRecord;
    fn check() -> ();
    fn changes(since: i64) -> KeyChanges;
    fn usage(day: Date) -> Vec<StoredUsage>;
    fn usage_of(account: AccountId, first: Date, last: Date) -> Vec<DayUsage>;
    fn purge(today: Date) -> usize;
    fn add_usage(added: &[AddedUsage], now: i64) -> Vec<u32>;
    fn cursor_secret(fresh: [u8; 32]) -> [u8; 32];
}
