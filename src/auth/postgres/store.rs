//! What the store does in SQL: each method is one read or one transaction.

use crate::account::{Account, AccountId, Email, KeyName, KeyRecord, KeyRef, Rotation};
use crate::link::{LinkDigest, Purpose};
use crate::password::hash::PasswordHash;
use crate::postgres::{
    Durability, PostgresStore, Work, accounts, alerts, counters, deleted_keys, keys, links, service_secret, sessions,
    totp, usage,
};
use crate::quota::{AddedUsage, StoredUsage, Tier};
use crate::session::{ListedSession, NewSession, Session, SessionDigest, SessionId};
use crate::totp::RecoveryDigest;
use crate::watch::{ALERT_DAYS, WatchStore};
use crate::{
    ApiKey, Changes, CounterStore, Credentials, DayUsage, PasswordVersion, REVOKED_NAME_DAYS, RevokedKeys, Store,
    StoreError, StoreMeasurements, Totp, USAGE_DAYS,
};
use data::Date;

impl Store for PostgresStore {
    fn watch_store(&self) -> &dyn WatchStore {
        self
    }

    fn create_account(
        &self,
        email: &Email,
        tier: Tier,
        password: Option<&PasswordHash>,
        now: i64,
    ) -> Result<Account, StoreError> {
        self.change("create the account", |transaction| accounts::create(transaction, email, tier, password, now))
    }

    fn account(&self, email: &Email) -> Result<Account, StoreError> {
        self.look_up("read the account", |connection| accounts::by_email(connection, email))
    }

    fn account_by_id(&self, account: AccountId) -> Result<Account, StoreError> {
        self.look_up("read the account", |connection| accounts::by_id(connection, account))
    }

    fn verify_account(&self, account: AccountId, now: i64) -> Result<Account, StoreError> {
        self.change("verify the account", |transaction| accounts::verify(transaction, account, now))
    }

    fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.list("list the accounts", accounts::all)
    }

    fn set_tier(&self, email: &Email, tier: Tier) -> Result<Account, StoreError> {
        self.change("set the tier", |transaction| accounts::set_tier(transaction, email, tier))
    }

    fn set_operator(&self, account: AccountId, is_operator: bool) -> Result<Account, StoreError> {
        self.change("change the operators", |transaction| accounts::set_operator(transaction, account, is_operator))
    }

    fn set_blocked(&self, account: AccountId, is_blocked: bool, now: i64) -> Result<Account, StoreError> {
        self.change("block the account", |transaction| accounts::set_blocked(transaction, account, is_blocked, now))
    }

    fn find_accounts(&self, part: &str, start: u32, limit: u32) -> Result<(u32, Vec<Account>), StoreError> {
        self.list("list the accounts", |connection| accounts::find(connection, part, start, limit))
    }

    fn credentials(&self, email: &Email) -> Result<Credentials, StoreError> {
        self.look_up("read the password", |connection| accounts::credentials(connection, email))
    }

    fn set_password(
        &self,
        account: AccountId,
        version: Option<PasswordVersion>,
        password: &PasswordHash,
        session: Option<&NewSession>,
    ) -> Result<(), StoreError> {
        self.change("set the password", |transaction| {
            accounts::set_password(transaction, account, version, password, session)
        })
    }

    fn reset_password(
        &self,
        account: AccountId,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> Result<u32, StoreError> {
        self.change("set the password", |transaction| {
            accounts::reset_password(transaction, account, password, keeps_keys, now)
        })
    }

    fn rehash_password(
        &self,
        account: AccountId,
        version: PasswordVersion,
        password: &PasswordHash,
    ) -> Result<(), StoreError> {
        self.change("rehash the password", |transaction| {
            accounts::rehash_password(transaction, account, version, password)
        })
    }

    fn delete_account(&self, account: AccountId, version: Option<PasswordVersion>, now: i64) -> Result<(), StoreError> {
        self.change("delete the account", |transaction| accounts::delete(transaction, account, version, now))
    }

    fn add_session(
        &self,
        account: AccountId,
        version: PasswordVersion,
        session: &NewSession,
    ) -> Result<(), StoreError> {
        self.change("start the session", |transaction| accounts::add_session(transaction, account, version, session))
    }

    fn session(&self, session: &SessionDigest, now: i64) -> Result<Option<Session>, StoreError> {
        self.look_up("read the session", |connection| sessions::one(connection, session, now))
    }

    fn sessions(&self, account: AccountId, now: i64) -> Result<Vec<ListedSession>, StoreError> {
        self.list("list the sessions", |connection| sessions::of_account(connection, account, now))
    }

    fn session_used(&self, session: &SessionDigest, now: i64) -> Result<(), StoreError> {
        self.write(Durability::Normal, "write the use of the session", |transaction| {
            sessions::used(transaction, session, now)
        })
    }

    fn session_authenticated(&self, session: &SessionDigest, now: i64) -> Result<bool, StoreError> {
        self.change("confirm the session", |transaction| sessions::authenticated(transaction, session, now))
    }

    fn end_session_of(&self, account: AccountId, session: SessionId) -> Result<bool, StoreError> {
        self.change("end the session", |transaction| sessions::end_of_account(transaction, account, session))
    }

    fn end_session(&self, session: &SessionDigest) -> Result<bool, StoreError> {
        self.change("end the session", |transaction| sessions::end(transaction, session))
    }

    fn end_expired_sessions(&self, now: i64) -> Result<usize, StoreError> {
        self.change("end expired sessions", |transaction| sessions::end_expired(transaction, now))
    }

    fn add_link(
        &self,
        account: AccountId,
        purpose: Purpose,
        link: &LinkDigest,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        self.change("store the link", |transaction| links::add(transaction, account, purpose, link, expires_at))
    }

    fn account_of_link(&self, purpose: Purpose, link: &LinkDigest, now: i64) -> Result<Account, StoreError> {
        self.look_up("read the link", |connection| links::account(connection, purpose, link, now))
    }

    fn verify_by_link(&self, link: &LinkDigest, now: i64) -> Result<Account, StoreError> {
        self.change("verify the account", |transaction| links::verify(transaction, link, now))
    }

    fn reset_by_link(
        &self,
        link: &LinkDigest,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> Result<Account, StoreError> {
        self.change("set the password", |transaction| links::reset(transaction, link, password, keeps_keys, now))
    }

    fn totp(&self, account: AccountId) -> Result<Option<Totp>, StoreError> {
        self.look_up("read the second factor", |connection| totp::one(connection, account))
    }

    fn enable_totp(
        &self,
        account: AccountId,
        totp: &Totp,
        codes: &[RecoveryDigest],
        now: i64,
    ) -> Result<(), StoreError> {
        self.change("enable the second factor", |transaction| totp::enable(transaction, account, totp, codes, now))
    }

    fn accept_totp_step(&self, account: AccountId, step: i64) -> Result<bool, StoreError> {
        self.change("accept the code", |transaction| totp::accept_step(transaction, account, step))
    }

    fn use_recovery_code(&self, account: AccountId, code: &RecoveryDigest) -> Result<bool, StoreError> {
        self.change("use the recovery code", |transaction| totp::use_code(transaction, account, code))
    }

    fn renew_recovery_codes(&self, account: AccountId, codes: &[RecoveryDigest]) -> Result<(), StoreError> {
        self.change("renew the recovery codes", |transaction| totp::renew_codes(transaction, account, codes))
    }

    fn disable_totp(&self, account: AccountId, version: Option<PasswordVersion>) -> Result<bool, StoreError> {
        self.change("disable the second factor", |transaction| totp::disable(transaction, account, version))
    }

    fn create_key(
        &self,
        account: AccountId,
        name: &KeyName,
        key: &ApiKey,
        expires_at: Option<i64>,
        now: i64,
    ) -> Result<KeyRecord, StoreError> {
        self.change("create the key", |transaction| keys::create(transaction, account, name, key, expires_at, now))
    }

    fn rotate_key(
        &self,
        key: KeyRef,
        successor: &ApiKey,
        rotation: Rotation,
        now: i64,
    ) -> Result<(KeyRecord, KeyRecord), StoreError> {
        self.change("rotate the key", |transaction| keys::rotate(transaction, key, successor, rotation, now))
    }

    fn end_expired_keys(&self, now: i64) -> Result<usize, StoreError> {
        self.change("end expired keys", |transaction| keys::end_expired(transaction, now))
    }

    fn keys(&self, account: Option<AccountId>, today: Date) -> Result<Vec<KeyRecord>, StoreError> {
        self.list("list the keys", |connection| keys::all(connection, account, today))
    }

    fn recent_keys(&self, account: AccountId, revoked: RevokedKeys, today: Date) -> Result<Vec<KeyRecord>, StoreError> {
        self.list("list the keys", |connection| keys::recent(connection, account, revoked, today))
    }

    fn key(&self, key: KeyRef, today: Date) -> Result<KeyRecord, StoreError> {
        self.list("read the key", |connection| keys::one(connection, key, today))
    }

    fn revoke_key(&self, key: KeyRef, now: i64) -> Result<KeyRecord, StoreError> {
        self.change("revoke the key", |transaction| keys::revoke(transaction, key, now))
    }

    /// A connection always leads to the database that the next start would open.
    fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn changes(&self, since: i64) -> Result<Changes, StoreError> {
        self.read(Work::Short, "read the changed keys", |connection| keys::changes(connection, since))
    }

    fn counters(&self) -> Option<&dyn CounterStore> {
        Some(self)
    }

    fn measurements(&self) -> StoreMeasurements {
        self.calls.so_far()
    }

    fn usage(&self, day: Date) -> Result<Vec<StoredUsage>, StoreError> {
        self.list("read the usage", |connection| usage::of_day(connection, day))
    }

    fn usage_of(&self, account: AccountId, first: Date, last: Date) -> Result<Vec<DayUsage>, StoreError> {
        self.list("read the usage", |connection| usage::of_account(connection, account, first, last))
    }

    fn usage_by_day(&self, first: Date, last: Date) -> Result<Vec<(Date, u64)>, StoreError> {
        self.list("read the usage", |connection| usage::by_day(connection, first, last))
    }

    fn usage_by_account(&self, first: Date, last: Date) -> Result<Vec<(AccountId, u64)>, StoreError> {
        self.list("read the usage", |connection| usage::by_account(connection, first, last))
    }

    fn purge(&self, today: Date) -> Result<usize, StoreError> {
        let day = |age: i32| Date::from_days(today.days() - age);
        self.write(Durability::Normal, "delete old usage", |transaction| {
            let usage = usage::delete_before(transaction, day(USAGE_DAYS))? + deleted_keys::purge(transaction, today)?;
            let links = links::delete_expired(transaction, today.unix())?;
            let alerts = alerts::purge(transaction, day(ALERT_DAYS).unix())?;
            counters::purge(transaction, today)?;
            Ok(usage + links + alerts + keys::clear_names(transaction, day(REVOKED_NAME_DAYS).unix())?)
        })
    }

    fn add_usage(&self, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, StoreError> {
        self.write(Durability::Normal, "write the usage", |transaction| usage::add(transaction, added, now))
    }

    fn cursor_secret(&self, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
        self.change("store the cursor secret", |transaction| service_secret(transaction, fresh))
    }
}
