//! What releases brought to searches and lists, and what of it is to be sent.

use std::collections::{BTreeSet, HashMap};

use rusqlite::{Connection, Row, Transaction, named_params};

use crate::account::{AccountId, Email};
use crate::rules::NEVER;
use crate::sqlite::rows::parsed;
use crate::sqlite::{SqliteError, watches, webhooks};
use crate::watch::{Alert, AlertId, Delivery, DeliveryId, DueDeliveries, Evaluation, Settled, WatchId, WebhookId};
use data::SnapshotVersion;

const ALERTS: &str = "SELECT alerts.id, alerts.watch, alerts.since, alerts.version, alerts.created_at, alerts.total, \
     alerts.entries, (SELECT group_concat(outcome, '; ') FROM outbox WHERE outbox.alert = alerts.id) FROM alerts";

fn read_alert(row: &Row<'_>) -> Result<Alert, rusqlite::Error> {
    Ok(Alert {
        id: AlertId(row.get(0)?),
        watch: WatchId(row.get(1)?),
        since: parsed(row, 2)?,
        version: parsed(row, 3)?,
        created_at: row.get(4)?,
        total: row.get(5)?,
        entries: row.get(6)?,
        outcome: row.get(7)?,
    })
}

pub(crate) fn of_watch(
    connection: &Connection,
    watch: WatchId,
    before: Option<AlertId>,
    limit: u32,
) -> Result<Vec<Alert>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!(
        "{ALERTS} WHERE alerts.watch = :watch AND alerts.id < :before ORDER BY alerts.id DESC LIMIT :limit"
    ))?;
    let before = before.map_or(i64::MAX, |before| before.0);
    let params = named_params! { ":watch": watch.0, ":before": before, ":limit": limit };
    Ok(statement.query_map(params, read_alert)?.collect::<Result<_, _>>()?)
}

pub(crate) fn of_account_after(
    connection: &Connection,
    account: AccountId,
    watch: Option<WatchId>,
    after: AlertId,
    limit: u32,
) -> Result<Vec<Alert>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!(
        "{ALERTS} WHERE alerts.watch IN (SELECT id FROM watches WHERE account = :account AND \
         id = ifnull(:watch, id)) AND alerts.id > :after \
         ORDER BY alerts.id LIMIT :limit"
    ))?;
    let watch = watch.map(|watch| watch.0);
    let params = named_params! { ":account": account.0, ":watch": watch, ":after": after.0, ":limit": limit };
    Ok(statement.query_map(params, read_alert)?.collect::<Result<_, _>>()?)
}

pub(crate) fn add_evaluations(
    transaction: &Transaction<'_>,
    version: SnapshotVersion,
    evaluations: &[Evaluation],
    now: i64,
) -> Result<usize, SqliteError> {
    let version = version.to_string();
    let mut update = transaction.prepare_cached(
        "UPDATE watches SET evaluated = ?, problem = ? WHERE id = ? AND evaluated = ? RETURNING account, emails, webhook",
    )?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO alerts (watch, since, version, created_at, total, entries) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
    )?;
    let mut deliver = transaction.prepare_cached(
        "INSERT INTO outbox (alert, account, webhook, due_at) VALUES (:alert, :account, :webhook, \
         CASE WHEN (SELECT stopped FROM webhooks WHERE id = :webhook) IS NULL THEN :now ELSE :never END)",
    )?;
    let mut count = 0;
    for evaluation in evaluations {
        let Evaluation { watch, evaluated, since, problem, news, moved } = evaluation;
        let changed = update.query_row((&version, problem, watch.0, evaluated.to_string()), |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, bool>(1)?, row.get::<_, Option<i64>>(2)?))
        });
        let (account, emails, webhook) = match changed {
            Ok(changed) => changed,
            Err(rusqlite::Error::QueryReturnedNoRows) => continue,
            Err(error) => return Err(error.into()),
        };
        move_listed(transaction, *watch, moved)?;
        let Some((total, entries)) = news else { continue };
        let values = (watch.0, since.to_string(), &version, now, *total, entries);
        let alert: i64 = insert.query_row(values, |row| row.get(0))?;
        count += 1;
        for receiver in emails.then_some(None).into_iter().chain(webhook.map(Some)) {
            let params = named_params! {
                ":alert": alert, ":account": account, ":webhook": receiver, ":now": now, ":never": NEVER,
            };
            deliver.execute(params)?;
        }
    }
    Ok(count)
}

fn move_listed(
    transaction: &Transaction<'_>,
    watch: WatchId,
    moved: &[(String, String)],
) -> Result<(), rusqlite::Error> {
    for (from, into) in moved {
        // The list may have the other one already.
        let sql = "UPDATE OR REPLACE listed SET record = ? WHERE watch = ? AND record = ?";
        transaction.prepare_cached(sql)?.execute((into, watch.0, from))?;
    }
    Ok(())
}

pub(crate) fn is_due(connection: &Connection, now: i64) -> Result<bool, rusqlite::Error> {
    let mut statement =
        connection.prepare_cached("SELECT EXISTS (SELECT 1 FROM outbox WHERE alert IS NOT NULL AND due_at <= ?)")?;
    statement.query_row([now], |row| row.get(0))
}

pub(crate) fn claim_due(
    transaction: &Transaction<'_>,
    now: i64,
    until: i64,
    receivers: usize,
    messages: u32,
) -> Result<Vec<DueDeliveries>, SqliteError> {
    let mut oldest = transaction.prepare_cached(
        "SELECT account, webhook FROM outbox WHERE alert IS NOT NULL AND due_at <= ? ORDER BY due_at, id",
    )?;
    let mut found: BTreeSet<(i64, Option<i64>)> = BTreeSet::new();
    let mut rows = oldest.query([now])?;
    while let Some(row) = rows.next()? {
        found.insert((row.get(0)?, row.get(1)?));
        if found.len() >= receivers {
            break;
        }
    }
    let mut emails: HashMap<i64, Option<Email>> = HashMap::new();
    found.into_iter().map(|receiver| claim_for(transaction, receiver, messages, now, until, &mut emails)).collect()
}

fn claim_for(
    transaction: &Transaction<'_>,
    (account, webhook): (i64, Option<i64>),
    messages: u32,
    now: i64,
    until: i64,
    emails: &mut HashMap<i64, Option<Email>>,
) -> Result<DueDeliveries, SqliteError> {
    let mut claim = transaction.prepare_cached(
        "UPDATE outbox SET due_at = :until, claimed = 1 WHERE id IN (SELECT id FROM outbox WHERE account = :account AND \
         webhook IS :webhook AND due_at <= :now ORDER BY id LIMIT :limit) RETURNING id, alert, attempts",
    )?;
    // Without a limit by e-mail, which is one for all.
    let limit = if webhook.is_some() { i64::from(messages) } else { -1 };
    let params =
        named_params! { ":limit": limit, ":until": until, ":account": account, ":webhook": webhook, ":now": now };
    let claimed = claim.query_map(params, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut claimed: Vec<(i64, i64, u32)> = claimed.collect::<Result<_, _>>()?;
    claimed.sort_unstable();
    let mut alert_of = transaction.prepare_cached(&format!("{ALERTS} WHERE alerts.id = ?"))?;
    let deliveries = claimed.into_iter().map(|(id, alert, attempts)| {
        let alert = alert_of.query_row([alert], read_alert)?;
        let watch = watches::one(transaction, alert.watch)?;
        Ok(Delivery { id: DeliveryId(id), watch, alert, attempts })
    });
    let deliveries: Vec<Delivery> = deliveries.collect::<Result<_, SqliteError>>()?;
    let account = AccountId(account);
    let webhook = webhook.map(|webhook| webhooks::of(transaction, account, WebhookId(webhook))).transpose()?;
    let email = match emails.get(&account.0) {
        Some(email) => email.clone(),
        None => {
            let sql = "SELECT email FROM accounts WHERE id = ? AND verified_at IS NOT NULL";
            let mut statement = transaction.prepare_cached(sql)?;
            let found = statement.query_map([account.0], |row| row.get(0))?.next().transpose()?;
            let email = found.map(Email::from_stored);
            emails.insert(account.0, email.clone());
            email
        }
    };
    Ok(DueDeliveries { account, email, webhook, deliveries })
}

pub(crate) fn settle(transaction: &Transaction<'_>, settled: &[Settled]) -> Result<(), SqliteError> {
    let mut update = transaction.prepare_cached(
        "UPDATE outbox SET outcome = ?, attempts = attempts + 1, due_at = ?, claimed = 0 WHERE id = ?",
    )?;
    let mut delete = transaction.prepare_cached("DELETE FROM outbox WHERE id = ? AND link IS NOT NULL")?;
    for Settled { id, outcome, due_at } in settled {
        update.execute((outcome, due_at, id.0))?;
        if due_at.is_none() {
            delete.execute([id.0])?;
        }
    }
    Ok(())
}

pub(crate) fn put_back(transaction: &Transaction<'_>, claimed: &[DeliveryId], now: i64) -> Result<(), SqliteError> {
    let sql = "UPDATE outbox SET due_at = ?, claimed = 0 WHERE id = ? AND claimed";
    let mut update = transaction.prepare_cached(sql)?;
    for id in claimed {
        update.execute((now, id.0))?;
    }
    Ok(())
}

pub(crate) fn put_off(transaction: &Transaction<'_>, webhook: WebhookId, due_at: i64) -> Result<(), SqliteError> {
    let sql = "UPDATE outbox SET due_at = ?1, claimed = 0 WHERE webhook = ?2 AND due_at < ?3";
    transaction.execute(sql, (due_at, webhook.0, NEVER))?;
    Ok(())
}

pub(crate) fn release_claims(transaction: &Transaction<'_>, now: i64) -> Result<usize, SqliteError> {
    Ok(transaction.execute("UPDATE outbox SET due_at = ?, claimed = 0 WHERE claimed", [now])?)
}

/// Deletes what is older than `before` (Unix seconds).
pub(crate) fn purge(transaction: &Transaction<'_>, before: i64) -> Result<usize, rusqlite::Error> {
    transaction.execute("DELETE FROM alerts WHERE created_at < ?", [before])
}
