//! Alerts for searches and lists, and the messages that announce them.

use std::collections::BTreeSet;

use crate::account::AccountId;
use crate::sql::{Sql, SqlError, SqlResult, columns_of, params, watches, webhooks};
use crate::watch::{
    Alert, AlertId, Delivery, DeliveryId, DeliveryResult, DueDeliveries, Evaluation, WatchId, WebhookId,
};
use crate::{Store, StoreResult};
use data::SnapshotVersion;

/// Due time of the deliveries of a stopped webhook.
pub(crate) const NEVER: i64 = i64::MAX;

/// Smallest number of due messages read at a time to find their receivers.
const DUE_BATCH: i64 = 100;

const ALERTS: &str = "SELECT alerts.id, alerts.watch, alerts.since, alerts.version, alerts.created_at, alerts.total, \
     alerts.entries, (SELECT string_agg(outcome, '; ' ORDER BY id) FROM outbox WHERE outbox.alert = alerts.id) \
     FROM alerts";

columns_of! { Alert: id, watch, since, version, created_at, total, entries, outcome }

impl dyn Store + '_ {
    /// Stores evaluations of release `version`, their alerts and the messages to send, atomically; returns the number
    /// of alerts. An evaluation is left out if the search or list is gone or was evaluated in the meantime.
    pub fn add_evaluations(&self, version: SnapshotVersion, results: &[Evaluation], now: i64) -> StoreResult<usize> {
        self.change("store alerts", |sql| {
            // The lock makes the numbers of an account's alerts ascend in the order of commits.
            let watches: Vec<String> = results.iter().map(|evaluation| format!("[{}]", evaluation.watch.0)).collect();
            let owners = format!(
                "SELECT id FROM accounts WHERE id IN (SELECT account FROM watches WHERE id IN \
                 (SELECT CAST(value ->> 0 AS BIGINT) FROM {}(?1))) ORDER BY id",
                sql.json_elements()
            );
            sql.lock(&owners, &params![&format!("[{}]", watches.join(","))])?;
            let version = version.to_string();
            let expected: Vec<String> = results.iter().map(|evaluation| evaluation.evaluated.to_string()).collect();
            let changed: Vec<Option<(i64, bool, Option<i64>)>> = sql.row_each(
                "UPDATE watches SET evaluated = ?1, problem = ?2 WHERE id = ?3 AND evaluated = ?4 \
                 RETURNING account, emails, webhook",
                results.iter().zip(&expected).map(|(evaluation, expected)| {
                    params![&version, evaluation.problem.as_deref(), evaluation.watch.0, expected]
                }),
            )?;
            let mut news = Vec::new();
            for (evaluation, changed) in results.iter().zip(changed) {
                let Some(receivers) = changed else { continue };
                for (from, into) in &evaluation.moved {
                    // The list may have the other one already.
                    if sql.execute(watches::REMOVE_LISTED, &params![evaluation.watch.0, from])? > 0 {
                        sql.execute(watches::ADD_LISTED, &params![evaluation.watch.0, into])?;
                    }
                }
                if let Some((total, entries)) = &evaluation.news {
                    news.push((evaluation.watch, evaluation.since.to_string(), *total, entries, receivers));
                }
            }
            let alerts: Vec<Option<i64>> = sql.row_each(
                "INSERT INTO alerts (watch, since, version, created_at, total, entries) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id",
                news.iter()
                    .map(|(watch, since, total, entries, _)| params![watch.0, since, &version, now, *total, *entries]),
            )?;
            let messages = news.iter().zip(alerts).flat_map(|((.., (account, emails, webhook)), alert)| {
                let receivers = emails.then_some(None).into_iter().chain(webhook.map(Some));
                receivers.map(move |webhook| params![alert, *account, webhook, now, NEVER])
            });
            sql.execute_each(
                "INSERT INTO outbox (alert, account, webhook, due_at) SELECT CAST(?1 AS BIGINT), CAST(?2 AS BIGINT), \
                 CAST(?3 AS BIGINT), CASE WHEN (SELECT stopped FROM webhooks WHERE id = ?3) IS NULL \
                 THEN CAST(?4 AS BIGINT) ELSE CAST(?5 AS BIGINT) END",
                messages,
            )?;
            Ok(news.len())
        })
    }

    /// The alerts of a search or list before alert `before`, the newest first.
    pub fn alerts(&self, watch: WatchId, before: Option<AlertId>, limit: u32) -> StoreResult<Vec<Alert>> {
        self.list("list the alerts", |sql| {
            let query = format!("{ALERTS} WHERE alerts.watch = ?1 AND alerts.id < ?2 ORDER BY alerts.id DESC LIMIT ?3");
            let before = before.map_or(i64::MAX, |before| before.0);
            sql.rows(&query, &params![watch.0, before, limit])
        })
    }

    /// The alerts of all searches and lists of an account, or of one, after alert `after`, the oldest first.
    pub fn alerts_after(
        &self,
        account: AccountId,
        watch: Option<WatchId>,
        after: AlertId,
        limit: u32,
    ) -> StoreResult<Vec<Alert>> {
        self.list("list the alerts", |sql| {
            let query = format!(
                "{ALERTS} WHERE alerts.watch IN (SELECT id FROM watches WHERE account = ?1 AND id = coalesce(?2, id)) \
                 AND alerts.id > ?3 ORDER BY alerts.id LIMIT ?4"
            );
            sql.rows(&query, &params![account.0, watch.map(|watch| watch.0), after.0, limit])
        })
    }

    /// Claims messages that are due at `now`, for up to `receivers`: up to `messages` for each webhook, all for an
    /// e-mail. Nobody else gets them before `until` (Unix seconds).
    pub fn claim_due(&self, now: i64, until: i64, receivers: usize, messages: u32) -> StoreResult<Vec<DueDeliveries>> {
        if !self.has_due("alert", now)? {
            return Ok(Vec::new());
        }
        // After a crash of the machine, claimed messages are due again, as after a crash of the process.
        self.change_quickly("read what is to be sent", |sql| {
            // One server claims all messages of a receiver, so that one e-mail has them all.
            sql.lock_claims()?;
            let found = find_receivers(sql, now, receivers)?;
            let claims = found.into_iter().map(|receiver| claim_for(sql, receiver, messages, now, until));
            // Due messages may have been deleted or stopped between the two statements.
            claims.filter(|claim| claim.as_ref().map_or(true, |claim| !claim.deliveries.is_empty())).collect()
        })
    }

    /// True if an `alert` or `link` is due. Outside of a transaction, which would keep others from writing or claiming.
    pub(crate) fn has_due(&self, kind: &str, now: i64) -> StoreResult<bool> {
        self.list("read what is to be sent", |sql| {
            let query = format!("SELECT EXISTS (SELECT 1 FROM outbox WHERE {kind} IS NOT NULL AND due_at <= ?1)");
            sql.one(&query, &params![now])
        })
    }

    /// Makes claimed messages due at `now` and returns their number, for a starting server that is alone, as its lock
    /// of the data folder shows. In a store that several servers share, claims end by themselves.
    pub fn release_claims(&self, now: i64) -> StoreResult<usize> {
        // Other servers may be sending what they claimed. Claims of a killed one end by themselves.
        if self.counters().is_some() {
            return Ok(0);
        }
        self.change("read what is to be sent", |sql| {
            sql.execute("UPDATE outbox SET due_at = ?1, claimed = FALSE WHERE claimed", &params![now])
        })
    }

    /// Puts off the due messages of a webhook that is not stopped to `due_at` (Unix seconds).
    pub fn put_off(&self, webhook: WebhookId, due_at: i64) -> StoreResult<()> {
        self.change("put off what is to be sent", |sql| {
            let update = "UPDATE outbox SET due_at = ?1, claimed = FALSE WHERE webhook = ?2 AND due_at < ?3";
            sql.execute(update, &params![due_at, webhook.0, NEVER]).map(drop)
        })
    }

    /// Makes messages that were claimed and not tried due at `now`.
    pub fn put_back(&self, claimed: &[DeliveryId], now: i64) -> StoreResult<()> {
        self.change("put back what is to be sent", |sql| {
            let update = "UPDATE outbox SET due_at = ?1, claimed = FALSE WHERE id = ?2 AND claimed";
            sql.execute_each(update, claimed.iter().map(|id| params![now, id.0]))
        })
    }

    /// Stores the results of attempts. A link without a next attempt is deleted.
    pub fn settle(&self, settled: &[DeliveryResult]) -> StoreResult<()> {
        self.change("store what was sent", |sql| {
            sql.execute_each(
                "UPDATE outbox SET outcome = ?1, attempts = attempts + 1, due_at = ?2, claimed = FALSE WHERE id = ?3",
                settled.iter().map(|settled| params![&settled.outcome, settled.due_at, settled.id.0]),
            )?;
            let done = settled.iter().filter(|settled| settled.due_at.is_none());
            let delete = "DELETE FROM outbox WHERE id = ?1 AND link IS NOT NULL";
            sql.execute_each(delete, done.map(|settled| params![settled.id.0]))
        })
    }
}

/// An account and its webhook; `None` if it receives e-mails.
type AlertReceiver = (AccountId, Option<WebhookId>);

/// Receivers of the oldest due messages. Reads at most a constant factor more messages than it needs.
fn find_receivers(sql: &dyn Sql, now: i64, receivers: usize) -> SqlResult<BTreeSet<AlertReceiver>> {
    let mut found: BTreeSet<AlertReceiver> = BTreeSet::new();
    let mut last = (i64::MIN, i64::MIN);
    let mut limit = i64::try_from(receivers).unwrap_or(i64::MAX).max(DUE_BATCH);
    loop {
        let due: Vec<((i64, i64), AlertReceiver)> = sql.rows(
            "SELECT due_at, id, account, webhook FROM outbox WHERE alert IS NOT NULL AND due_at <= ?1 \
             AND due_at >= ?2 AND (due_at > ?2 OR id > ?3) ORDER BY due_at, id LIMIT ?4",
            &params![now, last.0, last.1, limit],
        )?;
        for (_, receiver) in &due {
            if found.len() >= receivers {
                return Ok(found);
            }
            found.insert(*receiver);
        }
        match due.last() {
            Some((place, _)) if due.len() as i64 == limit => last = *place,
            _ => return Ok(found),
        }
        limit = limit.saturating_mul(4);
    }
}

fn claim_for(sql: &dyn Sql, receiver: AlertReceiver, messages: u32, now: i64, until: i64) -> SqlResult<DueDeliveries> {
    let (account, webhook) = receiver;
    let claim = format!(
        "UPDATE outbox SET due_at = ?1, claimed = TRUE WHERE due_at <= ?4 AND id IN (SELECT id FROM outbox \
         WHERE account = ?2 AND webhook IS NOT DISTINCT FROM ?3 AND due_at <= ?4 ORDER BY id LIMIT ?5{}) \
         RETURNING id, alert, attempts",
        sql.for_update()
    );
    // No limit by e-mail: one e-mail has all messages.
    let limit = webhook.map_or(i64::MAX, |_| i64::from(messages));
    let params = params![until, account.0, webhook.map(|webhook| webhook.0), now, limit];
    let mut claimed: Vec<(DeliveryId, AlertId, u32)> = sql.rows(&claim, &params)?;
    claimed.sort_unstable();
    if claimed.is_empty() {
        return Ok(DueDeliveries { account, email: None, webhook: None, deliveries: Vec::new() });
    }
    let missing = || SqlError::Data("an alert without its search".to_owned());
    let query = format!("{ALERTS} WHERE alerts.id = ?1");
    let alerts: Vec<Option<Alert>> = sql.row_each(&query, claimed.iter().map(|(_, alert, _)| params![alert.0]))?;
    let alerts: Vec<Alert> = alerts.into_iter().collect::<Option<_>>().ok_or_else(missing)?;
    let watched: Vec<WatchId> = alerts.iter().map(|alert| alert.watch).collect();
    let watches = watches::several(sql, &watched)?;
    let deliveries = claimed.into_iter().zip(alerts).zip(watches).map(|(((id, _, attempts), alert), watch)| {
        Ok(Delivery { id, watch: watch.ok_or_else(missing)?, alert, attempts })
    });
    let deliveries: Vec<Delivery> = deliveries.collect::<SqlResult<_>>()?;
    let webhook = webhook.map(|webhook| webhooks::find_owned(sql, account, webhook)).transpose()?;
    let query = "SELECT email FROM accounts WHERE id = ?1 AND verified_at IS NOT NULL";
    let email = sql.row(query, &params![account.0])?;
    Ok(DueDeliveries { account, email, webhook, deliveries })
}
