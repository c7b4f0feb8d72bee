//! Sessions of signed-in browsers.

use crate::StoreError;
use crate::account::AccountId;
use crate::session::{IDLE_SECONDS, ListedSession, MAX_SESSIONS, NewSession, Session, SessionDigest, SessionId};
use crate::sql::accounts::{self, read_account};
use crate::sql::{Sql, SqlError, params};

/// Sessions that have not expired at `?1` and were used after `?2`.
const VALID: &str = "sessions.expires_at > ?1 AND sessions.last_used_at > ?2";

/// Adds a session and ends the oldest ones beyond [`MAX_SESSIONS`]; an error if the account is blocked. The transaction
/// has locked the account.
pub(crate) fn add(sql: &dyn Sql, account: AccountId, session: &NewSession) -> Result<(), SqlError> {
    if accounts::by_id(sql, account)?.blocked_at.is_some() {
        return Err(StoreError::AccountBlocked.into());
    }
    let NewSession { digest, created_at, expires_at } = session;
    sql.execute(
        "INSERT INTO sessions (digest, account, created_at, last_used_at, authenticated_at, expires_at) \
         VALUES (?1, ?2, ?3, ?3, ?3, ?4)",
        &params![digest.bytes(), account.0, *created_at, *expires_at],
    )?;
    sql.execute(
        "DELETE FROM sessions WHERE account = ?1 AND id NOT IN \
         (SELECT id FROM sessions WHERE account = ?1 ORDER BY id DESC LIMIT ?2)",
        &params![account.0, MAX_SESSIONS],
    )?;
    Ok(())
}

pub(crate) fn one(sql: &dyn Sql, session: &SessionDigest, now: i64) -> Result<Option<Session>, SqlError> {
    let query = format!(
        "SELECT {}, sessions.created_at, sessions.last_used_at, sessions.authenticated_at, sessions.expires_at \
         FROM sessions JOIN accounts ON accounts.id = sessions.account WHERE sessions.digest = ?3 AND {VALID}",
        accounts::COLUMNS
    );
    sql.row(&query, &params![now, now - IDLE_SECONDS, session.bytes()], |row| {
        Ok(Session {
            account: read_account(row)?,
            created_at: row.get(10)?,
            last_used_at: row.get(11)?,
            authenticated_at: row.get(12)?,
            expires_at: row.get(13)?,
        })
    })
}

pub(crate) fn of_account(sql: &dyn Sql, account: AccountId, now: i64) -> Result<Vec<ListedSession>, SqlError> {
    let query = format!(
        "SELECT id, digest, created_at, last_used_at FROM sessions WHERE account = ?3 AND {VALID} ORDER BY id DESC"
    );
    sql.rows(&query, &params![now, now - IDLE_SECONDS, account.0], |row| {
        Ok(ListedSession {
            id: SessionId(row.get(0)?),
            digest: SessionDigest::from_bytes(row.get(1)?),
            created_at: row.get(2)?,
            last_used_at: row.get(3)?,
        })
    })
}

pub(crate) fn mark_used(sql: &dyn Sql, session: &SessionDigest, now: i64) -> Result<(), SqlError> {
    let update = "UPDATE sessions SET last_used_at = CASE WHEN last_used_at < ?1 THEN ?1 ELSE last_used_at END \
                  WHERE digest = ?2";
    sql.execute(update, &params![now, session.bytes()])?;
    Ok(())
}

pub(crate) fn mark_authenticated(sql: &dyn Sql, session: &SessionDigest, now: i64) -> Result<bool, SqlError> {
    let update = "UPDATE sessions SET authenticated_at = CASE WHEN authenticated_at < ?1 THEN ?1 ELSE authenticated_at \
                  END WHERE digest = ?2";
    Ok(sql.execute(update, &params![now, session.bytes()])? > 0)
}

pub(crate) fn end(sql: &dyn Sql, session: &SessionDigest) -> Result<bool, SqlError> {
    Ok(sql.execute("DELETE FROM sessions WHERE digest = ?1", &params![session.bytes()])? > 0)
}

pub(crate) fn end_of_account(sql: &dyn Sql, account: AccountId, session: SessionId) -> Result<bool, SqlError> {
    Ok(sql.execute("DELETE FROM sessions WHERE account = ?1 AND id = ?2", &params![account.0, session.0])? > 0)
}

pub(crate) fn end_all(sql: &dyn Sql, account: AccountId) -> Result<(), SqlError> {
    sql.execute("DELETE FROM sessions WHERE account = ?1", &params![account.0])?;
    Ok(())
}

pub(crate) fn end_expired(sql: &dyn Sql, now: i64) -> Result<usize, SqlError> {
    sql.execute(&format!("DELETE FROM sessions WHERE NOT ({VALID})"), &params![now, now - IDLE_SECONDS])
}
