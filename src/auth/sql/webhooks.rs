//! Webhooks that receive alerts.

use crate::account::AccountId;
use crate::sql::alerts::NEVER;
use crate::sql::{Sql, SqlResult, accounts, columns_of, params};
use crate::watch::{MAX_WEBHOOKS, Webhook, WebhookChange, WebhookId};
use crate::{Store, StoreError, StoreResult};

const WEBHOOKS: &str = "SELECT id, account, url, secret, previous_until, created_at, stopped FROM webhooks";

columns_of! { Webhook: id, account, url, secret, previous_until, created_at, stopped }

impl dyn Store + '_ {
    /// An address that the account has already is no error. [`StoreError::AccountGone`], [`StoreError::TooManyWebhooks`].
    pub fn add_webhook(&self, account: AccountId, url: &str, now: i64) -> StoreResult<Webhook> {
        self.change("add the webhook", |sql| {
            accounts::lock_version(sql, account, None)?;
            sql.execute(
                "INSERT INTO webhooks (account, url, created_at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
                &params![account.0, url, now],
            )?;
            let all = of_account(sql, account)?;
            if all.len() > MAX_WEBHOOKS as usize {
                return Err(StoreError::TooManyWebhooks.into());
            }
            Ok(all.into_iter().find(|webhook| webhook.url == url).ok_or(StoreError::NoSuchWebhook)?)
        })
    }

    /// The webhooks of an account, the oldest first.
    pub fn webhooks(&self, account: AccountId) -> StoreResult<Vec<Webhook>> {
        self.list("list the webhooks", |sql| of_account(sql, account))
    }

    /// [`StoreError::NoSuchWebhook`], also if it is another account's.
    pub fn change_webhook(&self, account: AccountId, id: WebhookId, change: WebhookChange<'_>) -> StoreResult<Webhook> {
        self.change("change the webhook", |sql| {
            accounts::lock(sql, account)?;
            find_owned(sql, account, id)?;
            let stop = |reason: Option<&str>, due_at: i64| {
                sql.execute("UPDATE webhooks SET stopped = ?1 WHERE id = ?2", &params![reason, id.0])?;
                let update = "UPDATE outbox SET due_at = ?1 WHERE webhook = ?2 AND due_at IS NOT NULL";
                sql.execute(update, &params![due_at, id.0])
            };
            match change {
                WebhookChange::RenewSecret { previous_until } => {
                    let update = "UPDATE webhooks SET secret = secret + 1, previous_until = ?1 WHERE id = ?2";
                    sql.execute(update, &params![previous_until, id.0])?
                }
                WebhookChange::Stop(reason) => stop(Some(reason), NEVER)?,
                WebhookChange::Resume { now } => {
                    let update = "UPDATE outbox SET attempts = 0 WHERE webhook = ?1 AND due_at IS NOT NULL";
                    sql.execute(update, &params![id.0])?;
                    stop(None, now)?
                }
            };
            find_owned(sql, account, id)
        })
    }

    /// Also deletes its due messages. False if the account has no such webhook.
    pub fn delete_webhook(&self, account: AccountId, webhook: WebhookId) -> StoreResult<bool> {
        self.change("delete the webhook", |sql| {
            accounts::lock(sql, account)?;
            Ok(sql.execute("DELETE FROM webhooks WHERE id = ?1 AND account = ?2", &params![webhook.0, account.0])? > 0)
        })
    }
}

fn of_account(sql: &dyn Sql, account: AccountId) -> SqlResult<Vec<Webhook>> {
    sql.rows(&format!("{WEBHOOKS} WHERE account = ?1 ORDER BY id"), &params![account.0])
}

pub(crate) fn find_owned(sql: &dyn Sql, account: AccountId, webhook: WebhookId) -> SqlResult<Webhook> {
    let query = format!("{WEBHOOKS} WHERE id = ?1 AND account = ?2");
    Ok(sql.row(&query, &params![webhook.0, account.0])?.ok_or(StoreError::NoSuchWebhook)?)
}
