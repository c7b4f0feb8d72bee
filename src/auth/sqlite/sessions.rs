//! Sessions of signed-in browsers.

use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params};

use crate::StoreError;
use crate::account::AccountId;
use crate::queries::ACCOUNTS;
use crate::session::{IDLE_SECONDS, ListedSession, MAX_SESSIONS, NewSession, Session, SessionDigest, SessionId};
use crate::sqlite::rows::read_account;
use crate::sqlite::{SqliteError, accounts};

/// Sessions that are not over at `:now`.
const VALID: &str = "sessions.expires_at > :now AND sessions.last_used_at > :now - :idle";

/// Adds a session unless the account is blocked; if it has more than [`MAX_SESSIONS`] then, the oldest end.
pub(crate) fn add(transaction: &Transaction<'_>, account: AccountId, session: &NewSession) -> Result<(), SqliteError> {
    if accounts::by_id(transaction, account)?.blocked_at.is_some() {
        return Err(StoreError::AccountBlocked.into());
    }
    let NewSession { digest, created_at, expires_at } = session;
    transaction.execute(
        "INSERT INTO sessions (digest, account, created_at, last_used_at, authenticated_at, expires_at) \
         VALUES (?1, ?2, ?3, ?3, ?3, ?4)",
        (digest.bytes(), account.0, created_at, expires_at),
    )?;
    transaction.execute(
        "DELETE FROM sessions WHERE account = ?1 AND id NOT IN \
         (SELECT id FROM sessions WHERE account = ?1 ORDER BY id DESC LIMIT ?2)",
        (account.0, MAX_SESSIONS),
    )?;
    Ok(())
}

pub(crate) fn one(connection: &Connection, session: &SessionDigest, now: i64) -> Result<Option<Session>, SqliteError> {
    let sql = format!(
        "SELECT account.*, sessions.created_at, sessions.last_used_at, sessions.authenticated_at, \
         sessions.expires_at \
         FROM sessions JOIN ({ACCOUNTS}) AS account ON account.id = sessions.account \
         WHERE sessions.digest = :digest AND {VALID}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let params = named_params! { ":digest": session.bytes(), ":now": now, ":idle": IDLE_SECONDS };
    let found = statement.query_row(params, |row| {
        Ok(Session {
            account: read_account(row)?,
            created_at: row.get(10)?,
            last_used_at: row.get(11)?,
            authenticated_at: row.get(12)?,
            expires_at: row.get(13)?,
        })
    });
    Ok(found.optional()?)
}

pub(crate) fn of_account(
    connection: &Connection,
    account: AccountId,
    now: i64,
) -> Result<Vec<ListedSession>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT id, digest, created_at, last_used_at FROM sessions WHERE account = :account AND {VALID} ORDER BY id DESC"
    ))?;
    let listed = |row: &Row<'_>| {
        Ok(ListedSession {
            id: SessionId(row.get(0)?),
            digest: SessionDigest::from_bytes(row.get(1)?),
            created_at: row.get(2)?,
            last_used_at: row.get(3)?,
        })
    };
    let params = named_params! { ":account": account.0, ":now": now, ":idle": IDLE_SECONDS };
    Ok(statement.query_map(params, listed)?.collect::<Result<_, _>>()?)
}

pub(crate) fn used(transaction: &Transaction<'_>, session: &SessionDigest, now: i64) -> Result<(), SqliteError> {
    let sql = "UPDATE sessions SET last_used_at = max(last_used_at, ?) WHERE digest = ?";
    transaction.execute(sql, (now, session.bytes()))?;
    Ok(())
}

pub(crate) fn authenticated(
    transaction: &Transaction<'_>,
    session: &SessionDigest,
    now: i64,
) -> Result<bool, SqliteError> {
    let sql = "UPDATE sessions SET authenticated_at = max(authenticated_at, ?) WHERE digest = ?";
    Ok(transaction.execute(sql, (now, session.bytes()))? > 0)
}

pub(crate) fn end(transaction: &Transaction<'_>, session: &SessionDigest) -> Result<bool, SqliteError> {
    Ok(transaction.execute("DELETE FROM sessions WHERE digest = ?", [session.bytes()])? > 0)
}

pub(crate) fn end_of_account(
    transaction: &Transaction<'_>,
    account: AccountId,
    session: SessionId,
) -> Result<bool, SqliteError> {
    Ok(transaction.execute("DELETE FROM sessions WHERE account = ? AND id = ?", (account.0, session.0))? > 0)
}

pub(crate) fn end_all(transaction: &Transaction<'_>, account: AccountId) -> Result<(), SqliteError> {
    transaction.execute("DELETE FROM sessions WHERE account = ?", [account.0])?;
    Ok(())
}

pub(crate) fn end_expired(transaction: &Transaction<'_>, now: i64) -> Result<usize, SqliteError> {
    let params = named_params! { ":now": now, ":idle": IDLE_SECONDS };
    Ok(transaction.execute(&format!("DELETE FROM sessions WHERE NOT ({VALID})"), params)?)
}
