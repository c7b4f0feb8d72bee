//! Accounts, keys, sessions and usage: each method is one read or one transaction.

use crate::account::{Account, AccountId, Email, KeyName, KeyRecord, KeyRef, Rotation};
use crate::link::{LinkDigest, Purpose};
use crate::password::hash::PasswordHash;
use crate::quota::{AddedUsage, StoredUsage, Tier};
use crate::session::{ListedSession, NewSession, Session, SessionDigest, SessionId};
use crate::sql::{Database, accounts, alerts, deleted_keys, keys, links, service_secret, sessions, totp, usage};
use crate::totp::RecoveryDigest;
use crate::watch::{ALERT_DAYS, WatchStore};
use crate::{
    ApiKey, CounterStore, Credentials, DayUsage, KeyChanges, PasswordVersion, REVOKED_NAME_DAYS, RevokedKeys, Store,
    StoreError, StoreMeasurements, Totp, USAGE_DAYS,
};
use data::Date;

impl<D: Database> Store for D {
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
        self.change("create the account", |sql| accounts::create(sql, email, tier, password, now))
    }

    fn account(&self, email: &Email) -> Result<Account, StoreError> {
        self.look_up("read the account", |sql| accounts::by_email(sql, email))
    }

    fn account_by_id(&self, account: AccountId) -> Result<Account, StoreError> {
        self.look_up("read the account", |sql| accounts::by_id(sql, account))
    }

    fn verify_account(&self, account: AccountId, now: i64) -> Result<Account, StoreError> {
        self.change("verify the account", |sql| accounts::verify(sql, account, now))
    }

    fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        self.list("list the accounts", |sql| accounts::all(sql))
    }

    fn set_tier(&self, email: &Email, tier: Tier) -> Result<Account, StoreError> {
        self.change("set the tier", |sql| accounts::set_tier(sql, email, tier))
    }

    fn set_operator(&self, account: AccountId, is_operator: bool) -> Result<Account, StoreError> {
        self.change("change the operators", |sql| accounts::set_operator(sql, account, is_operator))
    }

    fn set_blocked(&self, account: AccountId, is_blocked: bool, now: i64) -> Result<Account, StoreError> {
        self.change("block the account", |sql| accounts::set_blocked(sql, account, is_blocked, now))
    }

    fn find_accounts(&self, part: &str, start: u32, limit: u32) -> Result<(u32, Vec<Account>), StoreError> {
        self.list("list the accounts", |sql| accounts::find(sql, part, start, limit))
    }

    fn credentials(&self, email: &Email) -> Result<Credentials, StoreError> {
        self.look_up("read the password", |sql| accounts::credentials(sql, email))
    }

    fn set_password(
        &self,
        account: AccountId,
        version: Option<PasswordVersion>,
        password: &PasswordHash,
        session: Option<&NewSession>,
    ) -> Result<(), StoreError> {
        self.change("set the password", |sql| accounts::set_password(sql, account, version, password, session))
    }

    fn reset_password(
        &self,
        account: AccountId,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> Result<u32, StoreError> {
        self.change("set the password", |sql| accounts::reset_password(sql, account, password, keeps_keys, now))
    }

    fn rehash_password(
        &self,
        account: AccountId,
        version: PasswordVersion,
        password: &PasswordHash,
    ) -> Result<(), StoreError> {
        self.change("rehash the password", |sql| accounts::rehash_password(sql, account, version, password))
    }

    fn delete_account(&self, account: AccountId, version: Option<PasswordVersion>, now: i64) -> Result<(), StoreError> {
        self.change("delete the account", |sql| accounts::delete(sql, account, version, now))?;
        self.erase_deleted();
        Ok(())
    }

    fn add_session(
        &self,
        account: AccountId,
        version: PasswordVersion,
        session: &NewSession,
    ) -> Result<(), StoreError> {
        self.change("start the session", |sql| accounts::add_session(sql, account, version, session))
    }

    fn session(&self, session: &SessionDigest, now: i64) -> Result<Option<Session>, StoreError> {
        self.look_up("read the session", |sql| sessions::one(sql, session, now))
    }

    fn sessions(&self, account: AccountId, now: i64) -> Result<Vec<ListedSession>, StoreError> {
        self.list("list the sessions", |sql| sessions::of_account(sql, account, now))
    }

    fn session_used(&self, session: &SessionDigest, now: i64) -> Result<(), StoreError> {
        self.change_quickly("write the use of the session", |sql| sessions::mark_used(sql, session, now))
    }

    fn session_authenticated(&self, session: &SessionDigest, now: i64) -> Result<bool, StoreError> {
        self.change("confirm the session", |sql| sessions::mark_authenticated(sql, session, now))
    }

    fn end_session_of(&self, account: AccountId, session: SessionId) -> Result<bool, StoreError> {
        self.change("end the session", |sql| sessions::end_of_account(sql, account, session))
    }

    fn end_session(&self, session: &SessionDigest) -> Result<bool, StoreError> {
        self.change("end the session", |sql| sessions::end(sql, session))
    }

    fn end_expired_sessions(&self, now: i64) -> Result<usize, StoreError> {
        self.change("end expired sessions", |sql| sessions::end_expired(sql, now))
    }

    fn add_link(
        &self,
        account: AccountId,
        purpose: Purpose,
        link: &LinkDigest,
        expires_at: i64,
    ) -> Result<(), StoreError> {
        self.change("store the link", |sql| links::add(sql, account, purpose, link, expires_at))
    }

    fn account_of_link(&self, purpose: Purpose, link: &LinkDigest, now: i64) -> Result<Account, StoreError> {
        self.look_up("read the link", |sql| links::account(sql, purpose, link, now))
    }

    fn verify_by_link(&self, link: &LinkDigest, now: i64) -> Result<Account, StoreError> {
        self.change("verify the account", |sql| links::verify(sql, link, now))
    }

    fn reset_by_link(
        &self,
        link: &LinkDigest,
        password: &PasswordHash,
        keeps_keys: bool,
        now: i64,
    ) -> Result<Account, StoreError> {
        self.change("set the password", |sql| links::reset(sql, link, password, keeps_keys, now))
    }

    fn totp(&self, account: AccountId) -> Result<Option<Totp>, StoreError> {
        self.look_up("read the second factor", |sql| totp::one(sql, account))
    }

    fn enable_totp(
        &self,
        account: AccountId,
        totp: &Totp,
        codes: &[RecoveryDigest],
        now: i64,
    ) -> Result<(), StoreError> {
        self.change("enable the second factor", |sql| totp::enable(sql, account, totp, codes, now))
    }

    fn accept_totp_step(&self, account: AccountId, step: i64) -> Result<bool, StoreError> {
        self.change("accept the code", |sql| totp::accept_step(sql, account, step))
    }

    fn use_recovery_code(&self, account: AccountId, code: &RecoveryDigest) -> Result<bool, StoreError> {
        self.change("use the recovery code", |sql| totp::use_code(sql, account, code))
    }

    fn renew_recovery_codes(&self, account: AccountId, codes: &[RecoveryDigest]) -> Result<(), StoreError> {
        self.change("renew the recovery codes", |sql| totp::renew_codes(sql, account, codes))
    }

    fn disable_totp(&self, account: AccountId, version: Option<PasswordVersion>) -> Result<bool, StoreError> {
        let disabled = self.change("disable the second factor", |sql| totp::disable(sql, account, version))?;
        self.erase_deleted();
        Ok(disabled)
    }

    fn create_key(
        &self,
        account: AccountId,
        name: &KeyName,
        key: &ApiKey,
        expires_at: Option<i64>,
        now: i64,
    ) -> Result<KeyRecord, StoreError> {
        self.change("create the key", |sql| keys::create(sql, account, name, key, expires_at, now))
    }

    fn rotate_key(
        &self,
        key: KeyRef,
        successor: &ApiKey,
        rotation: Rotation,
        now: i64,
    ) -> Result<(KeyRecord, KeyRecord), StoreError> {
        self.change("rotate the key", |sql| keys::rotate(sql, key, successor, rotation, now))
    }

    fn end_expired_keys(&self, now: i64) -> Result<usize, StoreError> {
        self.change("end expired keys", |sql| keys::end_expired(sql, now))
    }

    fn keys(&self, account: Option<AccountId>, today: Date) -> Result<Vec<KeyRecord>, StoreError> {
        self.list("list the keys", |sql| keys::all(sql, account, today))
    }

    fn recent_keys(&self, account: AccountId, revoked: RevokedKeys, today: Date) -> Result<Vec<KeyRecord>, StoreError> {
        self.list("list the keys", |sql| keys::recent(sql, account, revoked, today))
    }

    fn key(&self, key: KeyRef, today: Date) -> Result<KeyRecord, StoreError> {
        self.list("read the key", |sql| keys::one(sql, key, today))
    }

    fn revoke_key(&self, key: KeyRef, now: i64) -> Result<KeyRecord, StoreError> {
        self.change("revoke the key", |sql| keys::revoke(sql, key, now))
    }

    fn check(&self) -> Result<(), StoreError> {
        self.check_location()
    }

    fn changes(&self, since: i64) -> Result<KeyChanges, StoreError> {
        self.read_changes(since)
    }

    fn counters(&self) -> Option<&dyn CounterStore> {
        self.shared_counters()
    }

    fn measurements(&self) -> StoreMeasurements {
        self.calls().measurements()
    }

    fn usage(&self, day: Date) -> Result<Vec<StoredUsage>, StoreError> {
        self.list("read the usage", |sql| usage::of_day(sql, day))
    }

    fn usage_of(&self, account: AccountId, first: Date, last: Date) -> Result<Vec<DayUsage>, StoreError> {
        self.list("read the usage", |sql| usage::of_account(sql, account, first, last))
    }

    fn usage_by_day(&self, first: Date, last: Date) -> Result<Vec<(Date, u64)>, StoreError> {
        self.list("read the usage", |sql| usage::by_day(sql, first, last))
    }

    fn usage_by_account(&self, first: Date, last: Date) -> Result<Vec<(AccountId, u64)>, StoreError> {
        self.list("read the usage", |sql| usage::by_account(sql, first, last))
    }

    fn purge(&self, today: Date) -> Result<usize, StoreError> {
        let day = |age: i32| Date::from_days(today.days() - age);
        self.change_quickly("delete old usage", |sql| {
            let usage = usage::delete_before(sql, day(USAGE_DAYS))? + deleted_keys::purge(sql, today)?;
            let links = links::delete_expired(sql, today.unix())?;
            let alerts = alerts::purge(sql, day(ALERT_DAYS).unix())?;
            self.purge_counters(sql, today)?;
            Ok(usage + links + alerts + keys::clear_names(sql, day(REVOKED_NAME_DAYS).unix())?)
        })
    }

    fn add_usage(&self, added: &[AddedUsage], now: i64) -> Result<Vec<u32>, StoreError> {
        self.change_quickly("write the usage", |sql| usage::add(sql, added, now))
    }

    fn cursor_secret(&self, fresh: [u8; 32]) -> Result<[u8; 32], StoreError> {
        self.change("store the cursor secret", |sql| service_secret(sql, fresh))
    }
}
