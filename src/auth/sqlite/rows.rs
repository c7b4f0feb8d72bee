//! The conversion of rows of accounts and keys.

use std::str::FromStr;

use rusqlite::Row;
use rusqlite::types::{FromSqlError, Type};

use crate::account::{Account, AccountId, CounterId, Email, KeyId, KeyRecord};
use crate::{KeyDigest, KeyState};

/// The ids of an account's active keys and of those revoked at `:since` or later: two ranges of one index, so that keys
/// revoked earlier are not visited.
pub(crate) const RECENT_KEYS: &str = "SELECT id FROM keys WHERE account = :account AND revoked_at IS NULL \
     UNION ALL SELECT id FROM keys WHERE account = :account AND revoked_at >= :since";

pub(crate) fn read_account(row: &Row<'_>) -> Result<Account, rusqlite::Error> {
    Ok(Account {
        id: AccountId(row.get(0)?),
        email: Email::from_stored(row.get(1)?),
        tier: parsed(row, 2)?,
        created_at: row.get(3)?,
        active_keys: row.get(4)?,
        verified_at: row.get(5)?,
        totp_enabled_at: row.get(6)?,
        recovery_codes: row.get(7)?,
        is_operator: row.get(8)?,
        blocked_at: row.get(9)?,
    })
}

pub(crate) fn read_key(row: &Row<'_>) -> Result<KeyRecord, rusqlite::Error> {
    Ok(KeyRecord {
        id: KeyId(row.get(0)?),
        account: AccountId(row.get(1)?),
        email: Email::from_stored(row.get(2)?),
        tier: parsed(row, 3)?,
        name: row.get(4)?,
        masked: parsed(row, 5)?,
        created_at: row.get(6)?,
        revoked_at: row.get(7)?,
        last_used_at: row.get(8)?,
        counter: CounterId(row.get(9)?),
        expires_at: row.get(10)?,
        used_today: 0,
    })
}

pub(crate) fn read_state(row: &Row<'_>) -> Result<KeyState, rusqlite::Error> {
    Ok(KeyState {
        id: KeyId(row.get(0)?),
        counter: CounterId(row.get(1)?),
        account: row.get::<_, Option<i64>>(2)?.map(AccountId),
        tier: parsed(row, 3)?,
        revoked: row.get(4)?,
        digest: KeyDigest::from_bytes(row.get(5)?),
        masked: parsed(row, 6)?,
        expires_at: row.get(7)?,
    })
}

pub(super) fn parsed<T>(row: &Row<'_>, column: usize) -> Result<T, rusqlite::Error>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text = row.get_ref(column)?.as_str().map_err(|error: FromSqlError| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })?;
    text.parse().map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}
