//! Sessions of signed-in browsers.

use crate::account::AccountId;
use crate::session::{IDLE_SECONDS, ListedSession, MAX_SESSIONS, NewSession, SessionDigest, SessionId};
use crate::sql::{Sql, SqlResult, accounts, columns_of, params};
use crate::{Store, StoreError, StoreResult, Visitor};

/// Sessions that have not expired at `?1` and were used after `?2`.
const VALID: &str = "sessions.expires_at > ?1 AND sessions.last_used_at > ?2";

columns_of! { Visitor: account, session, created_at, last_used_at, authenticated_at, expires_at }

columns_of! { ListedSession: id, digest, created_at, last_used_at }

/// Adds a session to a locked account and ends the oldest beyond [`MAX_SESSIONS`]; an error if it is blocked.
pub(crate) fn add(sql: &dyn Sql, account: AccountId, session: &NewSession) -> SqlResult<()> {
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
    )
    .map(drop)
}

impl dyn Store + '_ {
    /// `None` if the session is unknown, has expired, or was not used for [`IDLE_SECONDS`].
    pub fn session(&self, session: &SessionDigest, now: i64) -> StoreResult<Option<Visitor>> {
        self.look_up("read the session", |sql| {
            let query = format!(
                "SELECT {}, sessions.digest, sessions.created_at, sessions.last_used_at, sessions.authenticated_at, \
                 sessions.expires_at FROM sessions JOIN accounts ON accounts.id = sessions.account \
                 WHERE sessions.digest = ?3 AND {VALID}",
                accounts::COLUMNS
            );
            sql.row(&query, &params![now, now - IDLE_SECONDS, session.bytes()])
        })
    }

    /// The valid sessions of an account, the newest first.
    pub fn sessions(&self, account: AccountId, now: i64) -> StoreResult<Vec<ListedSession>> {
        self.list("list the sessions", |sql| {
            let query = format!(
                "SELECT id, digest, created_at, last_used_at FROM sessions WHERE account = ?3 AND {VALID} \
                 ORDER BY id DESC"
            );
            sql.rows(&query, &params![now, now - IDLE_SECONDS, account.0])
        })
    }

    /// Sets `now` as the last use of a session.
    pub fn session_used(&self, session: &SessionDigest, now: i64) -> StoreResult<()> {
        self.change_quickly("write the use of the session", |sql| set_time(sql, "last_used_at", session, now).map(drop))
    }

    /// Notes that the password was entered in a session. False if there was none: a new password ended it.
    pub fn session_authenticated(&self, session: &SessionDigest, now: i64) -> StoreResult<bool> {
        self.change("confirm the session", |sql| set_time(sql, "authenticated_at", session, now))
    }

    /// False if there was no such session.
    pub fn end_session(&self, session: &SessionDigest) -> StoreResult<bool> {
        self.change("end the session", |sql| {
            Ok(sql.execute("DELETE FROM sessions WHERE digest = ?1", &params![session.bytes()])? > 0)
        })
    }

    /// False if the account has no such session.
    pub fn end_session_of(&self, account: AccountId, session: SessionId) -> StoreResult<bool> {
        self.change("end the session", |sql| {
            Ok(sql.execute("DELETE FROM sessions WHERE account = ?1 AND id = ?2", &params![account.0, session.0])? > 0)
        })
    }

    /// Deletes sessions that are no longer valid and returns their number.
    pub fn end_expired_sessions(&self, now: i64) -> StoreResult<usize> {
        self.change("end expired sessions", |sql| {
            sql.execute(&format!("DELETE FROM sessions WHERE NOT ({VALID})"), &params![now, now - IDLE_SECONDS])
        })
    }
}

/// Sets a time of a session, unless it has a later one; false if there is no such session.
fn set_time(sql: &dyn Sql, column: &str, session: &SessionDigest, now: i64) -> SqlResult<bool> {
    let later = format!("CASE WHEN {column} < ?1 THEN ?1 ELSE {column} END");
    let update = format!("UPDATE sessions SET {column} = {later} WHERE digest = ?2");
    Ok(sql.execute(&update, &params![now, session.bytes()])? > 0)
}

pub(crate) fn end_all(sql: &dyn Sql, account: AccountId) -> SqlResult<()> {
    sql.execute("DELETE FROM sessions WHERE account = ?1", &params![account.0]).map(drop)
}
