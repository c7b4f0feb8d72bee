//! The keys of accounts that were deleted on the current day.
//!
//! A new account of the same address continues their counters, so that deleting an account and signing up again gives no new
//! quota. The address is stored as an HMAC only.

use crate::account::{AccountId, Email};
use crate::postgres::connection::{PostgresError, Transaction};
use crate::postgres::rows::{RECENT_KEYS, get};
use crate::postgres::service_secret;
use crate::rules;
use crate::service::random;
use data::Date;

/// Remembers the keys of an account that is being deleted `today`: active ones, and those revoked on this day.
pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    email: &Email,
    today: Date,
) -> Result<(), PostgresError> {
    let owner = owner(transaction, email)?;
    transaction.execute(
        &format!("INSERT INTO deleted_keys (day, key, owner) SELECT $3, id, $4 FROM ({RECENT_KEYS}) AS recent"),
        &[&account.0, &today.unix(), &i64::from(today.days()), &owner.as_slice()],
    )?;
    Ok(())
}

/// The most used counter of the accounts of this address that were deleted `today` which no key of `account` has.
pub(crate) fn free_counter(
    transaction: &Transaction<'_>,
    account: AccountId,
    email: &Email,
    today: Date,
) -> Result<Option<i64>, PostgresError> {
    let owner = owner(transaction, email)?;
    let sql = "SELECT keys.counter FROM deleted_keys JOIN keys ON keys.id = deleted_keys.key \
         LEFT JOIN usage ON usage.day = deleted_keys.day AND usage.key = deleted_keys.key \
         WHERE deleted_keys.owner = $1 AND deleted_keys.day = $2 \
         AND NOT EXISTS (SELECT 1 FROM keys AS own WHERE own.account = $3 AND own.counter = keys.counter) \
         GROUP BY keys.counter ORDER BY coalesce(sum(usage.requests), -1) DESC, keys.counter LIMIT 1";
    let found = transaction.row(sql, &[&owner.as_slice(), &i64::from(today.days()), &account.0])?;
    found.map(|row| get(&row, 0)).transpose()
}

/// Deletes what is remembered of earlier days, and the usage of the keys.
pub(crate) fn purge(transaction: &Transaction<'_>, today: Date) -> Result<usize, PostgresError> {
    let today = i64::from(today.days());
    let sql = "DELETE FROM usage USING deleted_keys WHERE deleted_keys.day < $1 AND usage.day = deleted_keys.day AND \
               usage.key = deleted_keys.key";
    let usage = transaction.execute(sql, &[&today])?;
    Ok(usage + transaction.execute("DELETE FROM deleted_keys WHERE day < $1", &[&today])?)
}

fn owner(transaction: &Transaction<'_>, email: &Email) -> Result<[u8; 32], PostgresError> {
    let secret = service_secret(transaction, random()?)?;
    Ok(rules::deleted_owner(&secret, email))
}
