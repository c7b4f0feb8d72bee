//! Sessions of signed-in browsers.

use tokio_postgres::Row;

use crate::StoreError;
use crate::account::AccountId;
use crate::postgres::accounts;
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{bytes, get, read_account};
use crate::queries::ACCOUNTS;
use crate::session::{IDLE_SECONDS, ListedSession, MAX_SESSIONS, NewSession, Session, SessionDigest, SessionId};

/// Sessions that are not over at `$1`, which were used after `$2`.
const VALID: &str = "sessions.expires_at > $1 AND sessions.last_used_at > $2";

/// Adds a session unless the account, which the transaction has locked, is blocked; if it has more than [`MAX_SESSIONS`] then, the
/// oldest end.
pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    session: &NewSession,
) -> Result<(), PostgresError> {
    if accounts::by_id(transaction, account)?.blocked_at.is_some() {
        return Err(StoreError::AccountBlocked.into());
    }
    let NewSession { digest, created_at, expires_at } = session;
    transaction.execute(
        "INSERT INTO sessions (digest, account, created_at, last_used_at, authenticated_at, expires_at) \
         VALUES ($1, $2, $3, $3, $3, $4)",
        &[&digest.bytes().as_slice(), &account.0, created_at, expires_at],
    )?;
    transaction.execute(
        "DELETE FROM sessions WHERE account = $1 AND id NOT IN \
         (SELECT id FROM sessions WHERE account = $1 ORDER BY id DESC LIMIT $2)",
        &[&account.0, &i64::from(MAX_SESSIONS)],
    )?;
    Ok(())
}

pub(crate) fn one(
    connection: &Connection,
    session: &SessionDigest,
    now: i64,
) -> Result<Option<Session>, PostgresError> {
    let sql = format!(
        "SELECT account.*, sessions.created_at, sessions.last_used_at, sessions.authenticated_at, sessions.expires_at \
         FROM sessions JOIN LATERAL ({ACCOUNTS} WHERE accounts.id = sessions.account) AS account ON TRUE \
         WHERE sessions.digest = $3 AND {VALID}"
    );
    let read = |row: Row| {
        Ok(Session {
            account: read_account(&row)?,
            created_at: get(&row, 10)?,
            last_used_at: get(&row, 11)?,
            authenticated_at: get(&row, 12)?,
            expires_at: get(&row, 13)?,
        })
    };
    let digest = session.bytes().as_slice();
    connection.row(&sql, &[&now, &(now - IDLE_SECONDS), &digest])?.map(read).transpose()
}

pub(crate) fn of_account(
    connection: &Connection,
    account: AccountId,
    now: i64,
) -> Result<Vec<ListedSession>, PostgresError> {
    let sql = format!(
        "SELECT id, digest, created_at, last_used_at FROM sessions WHERE account = $3 AND {VALID} ORDER BY id DESC"
    );
    let listed = |row: &Row| {
        Ok(ListedSession {
            id: SessionId(get(row, 0)?),
            digest: SessionDigest::from_bytes(bytes(row, 1)?),
            created_at: get(row, 2)?,
            last_used_at: get(row, 3)?,
        })
    };
    connection.rows(&sql, &[&now, &(now - IDLE_SECONDS), &account.0])?.iter().map(listed).collect()
}

pub(crate) fn used(transaction: &Transaction<'_>, session: &SessionDigest, now: i64) -> Result<(), PostgresError> {
    let sql = "UPDATE sessions SET last_used_at = greatest(last_used_at, $1) WHERE digest = $2";
    transaction.execute(sql, &[&now, &session.bytes().as_slice()])?;
    Ok(())
}

pub(crate) fn authenticated(
    transaction: &Transaction<'_>,
    session: &SessionDigest,
    now: i64,
) -> Result<bool, PostgresError> {
    let sql = "UPDATE sessions SET authenticated_at = greatest(authenticated_at, $1) WHERE digest = $2";
    Ok(transaction.execute(sql, &[&now, &session.bytes().as_slice()])? > 0)
}

pub(crate) fn end(transaction: &Transaction<'_>, session: &SessionDigest) -> Result<bool, PostgresError> {
    Ok(transaction.execute("DELETE FROM sessions WHERE digest = $1", &[&session.bytes().as_slice()])? > 0)
}

pub(crate) fn end_of_account(
    transaction: &Transaction<'_>,
    account: AccountId,
    session: SessionId,
) -> Result<bool, PostgresError> {
    Ok(transaction.execute("DELETE FROM sessions WHERE account = $1 AND id = $2", &[&account.0, &session.0])? > 0)
}

pub(crate) fn end_all(transaction: &Transaction<'_>, account: AccountId) -> Result<(), PostgresError> {
    transaction.execute("DELETE FROM sessions WHERE account = $1", &[&account.0])?;
    Ok(())
}

pub(crate) fn end_expired(transaction: &Transaction<'_>, now: i64) -> Result<usize, PostgresError> {
    transaction.execute(&format!("DELETE FROM sessions WHERE NOT ({VALID})"), &[&now, &(now - IDLE_SECONDS)])
}
