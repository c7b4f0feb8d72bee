//! Keys of accounts deleted on the current day.
//!
//! A new account with the address, of which an HMAC is stored, continues their counters: it gets no new quota.

use crate::account::{AccountId, Email};
use crate::derived_secret::DerivedSecret;
use crate::service::random;
use crate::sql::keys::RECENT;
use crate::sql::{Sql, SqlResult, params, service_secret};
use data::Date;

/// Records the keys of an account that is being deleted `today`: active ones, and those revoked on this day.
pub(crate) fn add(sql: &dyn Sql, account: AccountId, email: &Email, today: Date) -> SqlResult<()> {
    let owner = hash_owner(sql, email)?;
    sql.execute(
        &format!(
            "INSERT INTO deleted_keys (day, key, owner) \
             SELECT CAST(?3 AS BIGINT), recent.id, ?4 FROM ({RECENT}) AS recent"
        ),
        &params![account.0, today.unix(), today.days(), &owner],
    )
    .map(drop)
}

/// The most used counter that no key of `account` has, among accounts of this address deleted `today`.
pub(crate) fn free_counter(sql: &dyn Sql, account: AccountId, email: &Email, today: Date) -> SqlResult<Option<i64>> {
    let owner = hash_owner(sql, email)?;
    sql.row(
        "SELECT keys.counter FROM deleted_keys CROSS JOIN keys \
         LEFT JOIN usage ON usage.day = deleted_keys.day AND usage.key = deleted_keys.key \
         WHERE deleted_keys.owner = ?1 AND deleted_keys.day = ?2 AND keys.id = deleted_keys.key \
         AND keys.counter NOT IN (SELECT counter FROM keys WHERE account = ?3) \
         GROUP BY keys.counter ORDER BY coalesce(sum(usage.requests), -1) DESC, keys.counter LIMIT 1",
        &params![&owner, today.days(), account.0],
    )
}

/// HMAC of the address of a deleted account, which is stored in its place.
fn hash_owner(sql: &dyn Sql, email: &Email) -> SqlResult<[u8; 32]> {
    let secret = service_secret(sql, random()?)?;
    Ok(DerivedSecret::new(&secret, "deleted accounts").tag(email.as_str().as_bytes()))
}
