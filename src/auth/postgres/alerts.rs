//! What releases brought to searches and lists, and what of it is to be sent.

use std::collections::{BTreeSet, HashMap};

use tokio_postgres::Row;

use crate::account::{AccountId, Email};
use crate::postgres::connection::{Connection, PostgresError, Transaction};
use crate::postgres::rows::{get, number, parsed, text};
use crate::postgres::{watches, webhooks};
use crate::rules::NEVER;
use crate::watch::{
    Alert, AlertId, Delivery, DeliveryId, DueDeliveries, Evaluation, Settled, Watch, WatchId, WebhookId,
};
use data::SnapshotVersion;

const ALERTS: &str = "SELECT alerts.id, alerts.watch, alerts.since, alerts.version, alerts.created_at, alerts.total, \
     alerts.entries, (SELECT string_agg(outcome, '; ' ORDER BY id) FROM outbox WHERE outbox.alert = alerts.id) \
     FROM alerts";

fn read_alert(row: &Row) -> Result<Alert, PostgresError> {
    Ok(Alert {
        id: AlertId(get(row, 0)?),
        watch: WatchId(get(row, 1)?),
        since: parsed(row, 2)?,
        version: parsed(row, 3)?,
        created_at: get(row, 4)?,
        total: number(row, 5)?,
        entries: get(row, 6)?,
        outcome: get(row, 7)?,
    })
}

pub(crate) fn of_watch(
    connection: &Connection,
    watch: WatchId,
    before: Option<AlertId>,
    limit: u32,
) -> Result<Vec<Alert>, PostgresError> {
    let sql = format!("{ALERTS} WHERE alerts.watch = $1 AND alerts.id < $2 ORDER BY alerts.id DESC LIMIT $3");
    let before = before.map_or(i64::MAX, |before| before.0);
    connection.rows(&sql, &[&watch.0, &before, &i64::from(limit)])?.iter().map(read_alert).collect()
}

pub(crate) fn of_account_after(
    connection: &Connection,
    account: AccountId,
    watch: Option<WatchId>,
    after: AlertId,
    limit: u32,
) -> Result<Vec<Alert>, PostgresError> {
    let sql = format!(
        "{ALERTS} WHERE alerts.watch IN (SELECT id FROM watches WHERE account = $1 AND id = coalesce($2, id)) \
         AND alerts.id > $3 ORDER BY alerts.id LIMIT $4"
    );
    let watch = watch.map(|watch| watch.0);
    connection.rows(&sql, &[&account.0, &watch, &after.0, &i64::from(limit)])?.iter().map(read_alert).collect()
}

pub(crate) fn add_evaluations(
    transaction: &Transaction<'_>,
    version: SnapshotVersion,
    evaluations: &[Evaluation],
    now: i64,
) -> Result<usize, PostgresError> {
    let ids: Vec<i64> = evaluations.iter().map(|evaluation| evaluation.watch.0).collect();
    // The numbers of an account's alerts are given in the order in which they commit.
    transaction.rows(
        "SELECT id FROM accounts WHERE id IN (SELECT account FROM watches WHERE id = ANY($1)) ORDER BY id \
         FOR NO KEY UPDATE",
        &[&ids],
    )?;
    let version = version.to_string();
    let evaluated: Vec<String> = evaluations.iter().map(|evaluation| evaluation.evaluated.to_string()).collect();
    let problems: Vec<_> = evaluations.iter().map(|evaluation| evaluation.problem.as_deref().map(text)).collect();
    let changed = transaction.rows(
        "UPDATE watches SET evaluated = $1, problem = done.problem \
         FROM unnest($2::bigint[], $3::text[], $4::text[]) WITH ORDINALITY AS done (watch, evaluated, problem, place) \
         WHERE watches.id = done.watch AND watches.evaluated = done.evaluated \
         RETURNING done.place - 1, watches.account, watches.emails, watches.webhook",
        &[&version, &ids, &evaluated, &problems],
    )?;
    let mut counted = Vec::with_capacity(changed.len());
    for row in &changed {
        let place: usize = number(row, 0)?;
        let evaluation = evaluations.get(place).ok_or_else(|| PostgresError::Data("an unknown place".to_owned()))?;
        counted.push((place, evaluation, row));
    }
    counted.sort_unstable_by_key(|(place, ..)| *place);
    for (_, evaluation, _) in &counted {
        move_listed(transaction, evaluation.watch, &evaluation.moved)?;
    }
    let news =
        counted.into_iter().filter_map(|(_, evaluation, row)| Some((evaluation, evaluation.news.as_ref()?, row)));
    let news: Vec<(&Evaluation, &(u32, String), &Row)> = news.collect();
    add_alerts(transaction, &version, &news, now)?;
    Ok(news.len())
}

/// Stores alerts, and what is to be sent of them. The rows are account, e-mails and webhook of the search, from the second column on.
fn add_alerts(
    transaction: &Transaction<'_>,
    version: &str,
    news: &[(&Evaluation, &(u32, String), &Row)],
    now: i64,
) -> Result<(), PostgresError> {
    let watches: Vec<i64> = news.iter().map(|(evaluation, ..)| evaluation.watch.0).collect();
    let since: Vec<String> = news.iter().map(|(evaluation, ..)| evaluation.since.to_string()).collect();
    let totals: Vec<i64> = news.iter().map(|(_, (total, _), _)| i64::from(*total)).collect();
    let entries: Vec<_> = news.iter().map(|(_, (_, entries), _)| text(entries)).collect();
    let added = transaction.rows(
        "INSERT INTO alerts (watch, since, version, created_at, total, entries) \
         SELECT watch, since, $1::text, $2::bigint, total, entries FROM unnest($3::bigint[], $4::text[], $5::bigint[], $6::text[]) \
         WITH ORDINALITY AS new (watch, since, total, entries, place) ORDER BY place RETURNING watch, id",
        &[&version, &now, &watches, &since, &totals, &entries],
    )?;
    let alerts: HashMap<i64, i64> =
        added.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect::<Result<_, PostgresError>>()?;
    let (mut of_alerts, mut accounts, mut receivers) = (Vec::new(), Vec::new(), Vec::new());
    for (evaluation, _, row) in news {
        let alert =
            alerts.get(&evaluation.watch.0).ok_or_else(|| PostgresError::Data("an alert is missing".to_owned()))?;
        let (account, webhook): (i64, Option<i64>) = (get(row, 1)?, get(row, 3)?);
        for receiver in get::<bool>(row, 2)?.then_some(None).into_iter().chain(webhook.map(Some)) {
            of_alerts.push(*alert);
            accounts.push(account);
            receivers.push(receiver);
        }
    }
    transaction.execute(
        "INSERT INTO outbox (alert, account, webhook, due_at) SELECT new.alert, new.account, new.webhook, \
         CASE WHEN webhooks.stopped IS NULL THEN $1::bigint ELSE $2::bigint END \
         FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) WITH ORDINALITY AS new (alert, account, webhook, place) \
         LEFT JOIN webhooks ON webhooks.id = new.webhook ORDER BY new.place",
        &[&now, &NEVER, &of_alerts, &accounts, &receivers],
    )?;
    Ok(())
}

fn move_listed(transaction: &Transaction<'_>, watch: WatchId, moved: &[(String, String)]) -> Result<(), PostgresError> {
    for (from, into) in moved {
        let sql = "DELETE FROM listed WHERE watch = $1 AND record = $2";
        if transaction.execute(sql, &[&watch.0, &text(from)])? > 0 {
            // The list may have the other one already.
            let sql = "INSERT INTO listed (watch, record) VALUES ($1, $2) ON CONFLICT DO NOTHING";
            transaction.execute(sql, &[&watch.0, &text(into)])?;
        }
    }
    Ok(())
}

pub(crate) fn is_due(connection: &Connection, now: i64) -> Result<bool, PostgresError> {
    get(&connection.one("SELECT EXISTS (SELECT 1 FROM outbox WHERE alert IS NOT NULL AND due_at <= $1)", &[&now])?, 0)
}

/// One server claims at a time.
pub(crate) fn lock_claims(transaction: &Transaction<'_>) -> Result<(), PostgresError> {
    transaction.one("SELECT pg_advisory_xact_lock(1447314777, hashtext(current_schema()))", &[]).map(drop)
}

pub(crate) fn claim_due(
    transaction: &Transaction<'_>,
    now: i64,
    until: i64,
    receivers: usize,
    messages: u32,
) -> Result<Vec<DueDeliveries>, PostgresError> {
    // What is due for a receiver is not divided between two servers, and so is in one e-mail.
    lock_claims(transaction)?;
    let oldest = transaction.rows(
        "SELECT account, webhook FROM (SELECT account, webhook, row_number() OVER (ORDER BY due_at, id) AS place \
         FROM outbox WHERE alert IS NOT NULL AND due_at <= $1) AS due GROUP BY account, webhook ORDER BY min(place) LIMIT $2",
        &[&now, &i64::try_from(receivers).unwrap_or(i64::MAX)],
    )?;
    let found: BTreeSet<(i64, Option<i64>)> =
        oldest.iter().map(|row| Ok((get(row, 0)?, get(row, 1)?))).collect::<Result<_, PostgresError>>()?;
    let mut emails: HashMap<i64, Option<Email>> = HashMap::new();
    let claims = found.into_iter().map(|receiver| claim_for(transaction, receiver, messages, now, until, &mut emails));
    // Between the two statements, what was due may have been deleted or stopped.
    claims.filter(|claim| claim.as_ref().map_or(true, |claim| !claim.deliveries.is_empty())).collect()
}

fn claim_for(
    transaction: &Transaction<'_>,
    (account, webhook): (i64, Option<i64>),
    messages: u32,
    now: i64,
    until: i64,
    emails: &mut HashMap<i64, Option<Email>>,
) -> Result<DueDeliveries, PostgresError> {
    // Without a limit by e-mail, which is one for all.
    let limit = webhook.map(|_| i64::from(messages));
    let claimed = transaction.rows(
        "UPDATE outbox SET due_at = $1, claimed = TRUE WHERE due_at <= $4 AND id IN (SELECT id FROM outbox \
         WHERE account = $2 AND webhook IS NOT DISTINCT FROM $3 AND due_at <= $4 ORDER BY id LIMIT $5 FOR UPDATE) \
         RETURNING id, alert, attempts",
        &[&until, &account, &webhook, &now, &limit],
    )?;
    let read = |row: &Row| Ok((get(row, 0)?, get(row, 1)?, number(row, 2)?));
    let mut claimed: Vec<(i64, i64, u32)> = claimed.iter().map(read).collect::<Result<_, PostgresError>>()?;
    claimed.sort_unstable();
    let account_id = AccountId(account);
    if claimed.is_empty() {
        return Ok(DueDeliveries { account: account_id, email: None, webhook: None, deliveries: Vec::new() });
    }
    let numbers: Vec<i64> = claimed.iter().map(|(_, alert, _)| *alert).collect();
    let alerts = transaction.rows(&format!("{ALERTS} WHERE alerts.id = ANY($1)"), &[&numbers])?;
    let alerts: Vec<Alert> = alerts.iter().map(read_alert).collect::<Result<_, _>>()?;
    let watched: Vec<i64> = alerts.iter().map(|alert| alert.watch.0).collect();
    let watches: HashMap<WatchId, Watch> =
        watches::several(transaction, &watched)?.into_iter().map(|watch| (watch.id, watch)).collect();
    let alerts: HashMap<i64, Alert> = alerts.into_iter().map(|alert| (alert.id.0, alert)).collect();
    let missing = || PostgresError::Data("an alert without its search".to_owned());
    let deliveries = claimed.into_iter().map(|(id, alert, attempts)| {
        let alert = alerts.get(&alert).ok_or_else(missing)?.clone();
        let watch = watches.get(&alert.watch).ok_or_else(missing)?.clone();
        Ok(Delivery { id: DeliveryId(id), watch, alert, attempts })
    });
    let deliveries: Vec<Delivery> = deliveries.collect::<Result<_, PostgresError>>()?;
    let webhook = webhook.map(|webhook| webhooks::of(transaction, account_id, WebhookId(webhook))).transpose()?;
    let email = match emails.get(&account) {
        Some(email) => email.clone(),
        None => {
            let sql = "SELECT email FROM accounts WHERE id = $1 AND verified_at IS NOT NULL";
            let found = transaction.row(sql, &[&account])?;
            let email = found.map(|row| get(&row, 0).map(Email::from_stored)).transpose()?;
            emails.insert(account, email.clone());
            email
        }
    };
    Ok(DueDeliveries { account: account_id, email, webhook, deliveries })
}

pub(crate) fn settle(transaction: &Transaction<'_>, settled: &[Settled]) -> Result<(), PostgresError> {
    for Settled { id, outcome, due_at } in settled {
        transaction.execute(
            "UPDATE outbox SET outcome = $1, attempts = attempts + 1, due_at = $2, claimed = FALSE WHERE id = $3",
            &[&text(outcome), due_at, &id.0],
        )?;
        if due_at.is_none() {
            transaction.execute("DELETE FROM outbox WHERE id = $1 AND link IS NOT NULL", &[&id.0])?;
        }
    }
    Ok(())
}

pub(crate) fn put_back(transaction: &Transaction<'_>, claimed: &[DeliveryId], now: i64) -> Result<(), PostgresError> {
    let claimed: Vec<i64> = claimed.iter().map(|id| id.0).collect();
    let sql = "UPDATE outbox SET due_at = $1, claimed = FALSE WHERE id = ANY($2) AND claimed";
    transaction.execute(sql, &[&now, &claimed]).map(drop)
}

pub(crate) fn put_off(transaction: &Transaction<'_>, webhook: WebhookId, due_at: i64) -> Result<(), PostgresError> {
    let sql = "UPDATE outbox SET due_at = $1, claimed = FALSE WHERE webhook = $2 AND due_at < $3";
    transaction.execute(sql, &[&due_at, &webhook.0, &NEVER])?;
    Ok(())
}

/// Deletes what is older than `before` (Unix seconds).
pub(crate) fn purge(transaction: &Transaction<'_>, before: i64) -> Result<usize, PostgresError> {
    transaction.execute("DELETE FROM alerts WHERE created_at < $1", &[&before])
}
