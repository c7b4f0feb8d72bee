//! The keys of accounts that were deleted on the current day.
//!
//! A new account of the same address continues their counters, so that deleting an account and signing up again gives no new
//! quota. The address is stored as an HMAC only.

use rusqlite::{OptionalExtension, Transaction, named_params};

use crate::account::{AccountId, Email};
use crate::rules;
use crate::service::random;
use crate::sqlite::rows::RECENT_KEYS;
use crate::sqlite::{SqliteError, service_secret};
use data::Date;

/// Remembers the keys of an account that is being deleted `today`: active ones, and those revoked on this day.
pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    email: &Email,
    today: Date,
) -> Result<(), SqliteError> {
    let owner = owner(transaction, email)?;
    transaction.execute(
        &format!("INSERT INTO deleted_keys (day, key, owner) SELECT :day, id, :owner FROM ({RECENT_KEYS})"),
        named_params! { ":day": today.days(), ":owner": owner, ":account": account.0, ":since": today.unix() },
    )?;
    Ok(())
}

/// The most used counter of the accounts of this address that were deleted `today` which no key of `account` has.
pub(crate) fn free_counter(
    transaction: &Transaction<'_>,
    account: AccountId,
    email: &Email,
    today: Date,
) -> Result<Option<i64>, SqliteError> {
    let owner = owner(transaction, email)?;
    let found = transaction
        .prepare_cached(
            "SELECT keys.counter FROM deleted_keys CROSS JOIN keys ON keys.id = deleted_keys.key \
             LEFT JOIN usage ON usage.day = deleted_keys.day AND usage.key = deleted_keys.key \
             WHERE deleted_keys.owner = :owner AND deleted_keys.day = :day \
             AND keys.counter NOT IN (SELECT counter FROM keys WHERE account = :account) \
             GROUP BY keys.counter ORDER BY sum(usage.requests) DESC LIMIT 1",
        )?
        .query_row(named_params! { ":owner": owner, ":day": today.days(), ":account": account.0 }, |row| row.get(0));
    Ok(found.optional()?)
}

/// Deletes what is remembered of earlier days, and the usage of the keys.
pub(crate) fn purge(transaction: &Transaction<'_>, today: Date) -> Result<usize, rusqlite::Error> {
    let sql = "DELETE FROM usage WHERE (day, key) IN (SELECT day, key FROM deleted_keys WHERE day < ?)";
    let usage = transaction.execute(sql, [today.days()])?;
    Ok(usage + transaction.execute("DELETE FROM deleted_keys WHERE day < ?", [today.days()])?)
}

fn owner(transaction: &Transaction<'_>, email: &Email) -> Result<[u8; 32], SqliteError> {
    let secret = service_secret(transaction, random()?)?;
    Ok(rules::deleted_owner(&secret, email))
}
