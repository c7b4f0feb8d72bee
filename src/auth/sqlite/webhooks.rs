//! Where alerts are sent to.

use rusqlite::{Connection, OptionalExtension, Row, Transaction};

use crate::StoreError;
use crate::account::AccountId;
use crate::queries::WEBHOOKS;
use crate::rules::{self, NEVER};
use crate::sqlite::{SqliteError, accounts};
use crate::watch::{Webhook, WebhookChange, WebhookId};

fn read_webhook(row: &Row<'_>) -> Result<Webhook, rusqlite::Error> {
    Ok(Webhook {
        id: WebhookId(row.get(0)?),
        account: AccountId(row.get(1)?),
        url: row.get(2)?,
        secret: row.get(3)?,
        previous_until: row.get(4)?,
        created_at: row.get(5)?,
        stopped: row.get(6)?,
    })
}

pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    url: &str,
    now: i64,
) -> Result<Webhook, SqliteError> {
    accounts::by_id(transaction, account)?;
    transaction.execute(
        "INSERT INTO webhooks (account, url, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (account.0, url, now),
    )?;
    let all = of_account(transaction, account)?;
    rules::check_webhooks(all.len())?;
    all.into_iter().find(|webhook| webhook.url == url).ok_or(SqliteError::Rule(StoreError::NoSuchWebhook))
}

pub(crate) fn of_account(connection: &Connection, account: AccountId) -> Result<Vec<Webhook>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{WEBHOOKS} WHERE account = ? ORDER BY id"))?;
    Ok(statement.query_map([account.0], read_webhook)?.collect::<Result<_, _>>()?)
}

/// A webhook of this account.
pub(crate) fn of(connection: &Connection, account: AccountId, webhook: WebhookId) -> Result<Webhook, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{WEBHOOKS} WHERE id = ? AND account = ?"))?;
    let found = statement.query_row((webhook.0, account.0), read_webhook).optional()?;
    found.ok_or(SqliteError::Rule(StoreError::NoSuchWebhook))
}

pub(crate) fn change(
    transaction: &Transaction<'_>,
    account: AccountId,
    webhook: WebhookId,
    change: WebhookChange<'_>,
) -> Result<Webhook, SqliteError> {
    of(transaction, account, webhook)?;
    let stop = |reason: Option<&str>, due_at: i64| {
        transaction.execute("UPDATE webhooks SET stopped = ? WHERE id = ?", (reason, webhook.0))?;
        let sql = "UPDATE outbox SET due_at = ? WHERE webhook = ? AND due_at IS NOT NULL";
        transaction.execute(sql, (due_at, webhook.0))
    };
    match change {
        WebhookChange::RenewSecret { previous_until } => {
            let sql = "UPDATE webhooks SET secret = secret + 1, previous_until = ? WHERE id = ?";
            transaction.execute(sql, (previous_until, webhook.0))?
        }
        WebhookChange::Stop(reason) => stop(Some(reason), NEVER)?,
        WebhookChange::Resume { now } => {
            let sql = "UPDATE outbox SET attempts = 0 WHERE webhook = ? AND due_at IS NOT NULL";
            transaction.execute(sql, [webhook.0])?;
            stop(None, now)?
        }
    };
    of(transaction, account, webhook)
}

pub(crate) fn delete(
    transaction: &Transaction<'_>,
    account: AccountId,
    webhook: WebhookId,
) -> Result<bool, rusqlite::Error> {
    Ok(transaction.execute("DELETE FROM webhooks WHERE id = ? AND account = ?", (webhook.0, account.0))? > 0)
}
