//! Where alerts are sent to.

use tokio_postgres::Row;

use crate::StoreError;
use crate::account::AccountId;
use crate::postgres::accounts;
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{get, text};
use crate::queries::WEBHOOKS;
use crate::rules::{self, NEVER};
use crate::watch::{Webhook, WebhookChange, WebhookId};

fn read_webhook(row: &Row) -> Result<Webhook, PostgresError> {
    Ok(Webhook {
        id: WebhookId(get(row, 0)?),
        account: AccountId(get(row, 1)?),
        url: get(row, 2)?,
        secret: get(row, 3)?,
        previous_until: get(row, 4)?,
        created_at: get(row, 5)?,
        stopped: get(row, 6)?,
    })
}

pub(crate) fn add(
    transaction: &Transaction<'_>,
    account: AccountId,
    url: &str,
    now: i64,
) -> Result<Webhook, PostgresError> {
    accounts::lock(transaction, account)?;
    let url = text(url);
    transaction.execute(
        "INSERT INTO webhooks (account, url, created_at) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
        &[&account.0, &url, &now],
    )?;
    let all = of_account(transaction, account)?;
    rules::check_webhooks(all.len())?;
    Ok(all.into_iter().find(|webhook| webhook.url == url).ok_or(StoreError::NoSuchWebhook)?)
}

pub(crate) fn of_account(connection: &Connection, account: AccountId) -> Result<Vec<Webhook>, PostgresError> {
    let sql = format!("{WEBHOOKS} WHERE account = $1 ORDER BY id");
    connection.rows(&sql, &[&account.0])?.iter().map(read_webhook).collect()
}

/// A webhook of this account.
pub(crate) fn of(connection: &Connection, account: AccountId, webhook: WebhookId) -> Result<Webhook, PostgresError> {
    let found = connection.row(&format!("{WEBHOOKS} WHERE id = $1 AND account = $2"), &[&webhook.0, &account.0])?;
    read_webhook(&found.ok_or(StoreError::NoSuchWebhook)?)
}

pub(crate) fn change(
    transaction: &Transaction<'_>,
    account: AccountId,
    webhook: WebhookId,
    change: WebhookChange<'_>,
) -> Result<Webhook, PostgresError> {
    lock_account(transaction, account)?;
    of(transaction, account, webhook)?;
    let stop = |reason: Option<&str>, due_at: i64| {
        let reason = reason.map(text);
        transaction.execute("UPDATE webhooks SET stopped = $1 WHERE id = $2", &[&reason, &webhook.0])?;
        let sql = "UPDATE outbox SET due_at = $1 WHERE webhook = $2 AND due_at IS NOT NULL";
        transaction.execute(sql, &[&due_at, &webhook.0])
    };
    match change {
        WebhookChange::RenewSecret { previous_until } => {
            let sql = "UPDATE webhooks SET secret = secret + 1, previous_until = $1 WHERE id = $2";
            transaction.execute(sql, &[&previous_until, &webhook.0])?
        }
        WebhookChange::Stop(reason) => stop(Some(reason), NEVER)?,
        WebhookChange::Resume { now } => {
            let sql = "UPDATE outbox SET attempts = 0 WHERE webhook = $1 AND due_at IS NOT NULL";
            transaction.execute(sql, &[&webhook.0])?;
            stop(None, now)?
        }
    };
    of(transaction, account, webhook)
}

pub(crate) fn delete(
    transaction: &Transaction<'_>,
    account: AccountId,
    webhook: WebhookId,
) -> Result<bool, PostgresError> {
    let sql = "SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE";
    transaction.row(sql, &[&account.0])?;
    let sql = "DELETE FROM webhooks WHERE id = $1 AND account = $2";
    Ok(transaction.execute(sql, &[&webhook.0, &account.0])? > 0)
}

/// An account that is gone has no webhooks.
fn lock_account(transaction: &Transaction<'_>, account: AccountId) -> Result<(), PostgresError> {
    match accounts::lock(transaction, account) {
        Err(PostgresError::Rule(StoreError::AccountGone)) => Err(StoreError::NoSuchWebhook.into()),
        locked => locked.map(|_| ()),
    }
}
