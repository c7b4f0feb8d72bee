//! The conversion of rows, and of texts to be stored.

use std::borrow::Cow;
use std::str::FromStr;

use tokio_postgres::Row;
use tokio_postgres::types::FromSql;

use crate::account::{Account, AccountId, CounterId, Email, KeyId, KeyRecord};
use crate::postgres::connection::PostgresError;
use crate::{KeyDigest, KeyState};

/// The ids of an account's (`$1`) active keys and of those revoked at `$2` or later: two ranges of one index.
pub(crate) const RECENT_KEYS: &str = "SELECT id FROM keys WHERE account = $1 AND revoked_at IS NULL \
     UNION ALL SELECT id FROM keys WHERE account = $1 AND revoked_at >= $2";

pub(crate) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, PostgresError> {
    Ok(row.try_get(column)?)
}

/// A number that is stored as BIGINT.
pub(crate) fn number<T: TryFrom<i64>>(row: &Row, column: usize) -> Result<T, PostgresError> {
    let number: i64 = get(row, column)?;
    T::try_from(number).map_err(|_| PostgresError::Data(format!("{number} is out of range")))
}

pub(crate) fn bytes<const N: usize>(row: &Row, column: usize) -> Result<[u8; N], PostgresError> {
    opt_bytes(row, column)?.ok_or_else(|| PostgresError::Data("bytes are missing".to_owned()))
}

pub(crate) fn opt_bytes<const N: usize>(row: &Row, column: usize) -> Result<Option<[u8; N]>, PostgresError> {
    let bytes: Option<&[u8]> = get(row, column)?;
    let wrong = |_| PostgresError::Data(format!("not {N} bytes"));
    bytes.map(|bytes| bytes.try_into().map_err(wrong)).transpose()
}

pub(crate) fn parsed<T: FromStr<Err: std::fmt::Display>>(row: &Row, column: usize) -> Result<T, PostgresError> {
    let text: &str = get(row, column)?;
    text.parse().map_err(|error: T::Err| PostgresError::Data(error.to_string()))
}

/// PostgreSQL stores no NUL in texts; SQLite does.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

pub(crate) fn read_account(row: &Row) -> Result<Account, PostgresError> {
    Ok(Account {
        id: AccountId(get(row, 0)?),
        email: Email::from_stored(get(row, 1)?),
        tier: parsed(row, 2)?,
        created_at: get(row, 3)?,
        active_keys: number(row, 4)?,
        verified_at: get(row, 5)?,
        totp_enabled_at: get(row, 6)?,
        recovery_codes: number(row, 7)?,
        is_operator: get(row, 8)?,
        blocked_at: get(row, 9)?,
    })
}

pub(crate) fn read_key(row: &Row) -> Result<KeyRecord, PostgresError> {
    Ok(KeyRecord {
        id: KeyId(get(row, 0)?),
        account: AccountId(get(row, 1)?),
        email: Email::from_stored(get(row, 2)?),
        tier: parsed(row, 3)?,
        name: get(row, 4)?,
        masked: parsed(row, 5)?,
        created_at: get(row, 6)?,
        revoked_at: get(row, 7)?,
        last_used_at: get(row, 8)?,
        counter: CounterId(get(row, 9)?),
        expires_at: get(row, 10)?,
        used_today: 0,
    })
}

pub(crate) fn read_state(row: &Row) -> Result<KeyState, PostgresError> {
    Ok(KeyState {
        id: KeyId(get(row, 0)?),
        counter: CounterId(get(row, 1)?),
        account: get::<Option<i64>>(row, 2)?.map(AccountId),
        tier: parsed(row, 3)?,
        revoked: get(row, 4)?,
        digest: KeyDigest::from_bytes(bytes(row, 5)?),
        masked: parsed(row, 6)?,
        expires_at: get(row, 7)?,
    })
}
