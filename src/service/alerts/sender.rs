//! Sends due messages of the outbox: alerts to webhooks, one e-mail per account for all of its alerts, and requested
//! links; and notices of reviews to firms.
//!
//! A message is claimed before sending and settled afterwards; after a crash in between it is sent again with the same
//! id. A link is created for each attempt and replaces the previous one, so that none is stored while it waits.

use std::slice;
use std::sync::Arc;

use serde_json::json;

use crate::alerts::entry::{AlertRecord, WatchKind, entries};
use crate::alerts::webhook::{DeliveryOutcome, WebhookClient, WebhookMessage, WebhookUrl};
use crate::alerts::{Alerts, Channel};
use auth::account::Email;
use auth::firm::DueNotice;
use auth::link_mail;
use auth::mail::{Mail, MailTransport, SmtpError};
use auth::watch::{Delivery, DeliveryId, DeliveryResult, DueDeliveries, DueLink, Webhook, WebhookChange};
use auth::{Store, StoreResult};
use data::parallel::{AfterFailure, try_in_parallel};
use data::rfc3339;

/// Receivers served concurrently.
const THREADS: usize = 8;
const RECEIVERS: usize = 32;
/// Messages per webhook and claim.
const MESSAGES: u32 = 10;
const LINKS: u32 = THREADS as u32;
/// Duration of a claim in seconds: longer than sending it can take, at ten seconds per message.
const CLAIM: i64 = 600;
/// Seconds between attempts, by Standard Webhooks; then the webhook is stopped. A link is retried until it expires.
const WAITS: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// Seconds until webhook messages are retried if the operator has turned webhooks off.
const LATER: i64 = 3_600;
/// Number of records listed in an e-mail.
const NAMED: usize = 10;
const SENT: &str = "sent";

type IsStopping<'a> = &'a (dyn Fn() -> bool + Sync);

pub struct AlertSender {
    alerts: Arc<Alerts>,
    client: Option<WebhookClient>,
    /// `None` if the operator has not set up e-mail.
    mail: Option<MailTransport>,
    /// Without a trailing slash.
    public_url: String,
    /// Current time in Unix seconds.
    clock: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl AlertSender {
    pub fn new(
        alerts: Arc<Alerts>,
        mail: Option<MailTransport>,
        public_url: String,
        clock: impl Fn() -> i64 + Send + Sync + 'static,
    ) -> Self {
        let client = alerts.networks.clone().map(WebhookClient::new);
        Self { alerts, client, mail, public_url, clock: Box::new(clock) }
    }

    /// Returns the number of delivered alerts. Blocks for some minutes if receivers are slow; stops if `is_stopping`.
    pub fn send_due(&self, store: &dyn Store, is_stopping: IsStopping<'_>) -> StoreResult<usize> {
        let mut delivered = 0;
        while !is_stopping() {
            let now = (self.clock)();
            let due = store.claim_due(now, now.saturating_add(CLAIM), RECEIVERS, MESSAGES)?;
            if due.is_empty() {
                break;
            }
            let sent = try_in_parallel(THREADS, &due, AfterFailure::GoOn, |due| self.send_to(store, due, is_stopping))?;
            delivered += sent.into_iter().sum::<usize>();
        }
        Ok(delivered)
    }

    fn send_to(&self, store: &dyn Store, due: &DueDeliveries, is_stopping: IsStopping<'_>) -> StoreResult<usize> {
        match &due.webhook {
            Some(webhook) => self.send_to_webhook(store, webhook, &due.deliveries, is_stopping),
            None if is_stopping() => {
                let claimed: Vec<DeliveryId> = due.deliveries.iter().map(|delivery| delivery.id).collect();
                store.put_back(&claimed, (self.clock)())?;
                Ok(0)
            }
            None => self.send_mail(store, due),
        }
    }

    /// Sends e-mails about approved reviews to those who speak for their firms; returns their number. Without a mail server they wait.
    pub fn send_review_notices(&self, store: &dyn Store, is_stopping: IsStopping<'_>) -> StoreResult<usize> {
        let Some(transport) = &self.mail else { return Ok(0) };
        let mut sent = 0;
        while !is_stopping() {
            let now = (self.clock)();
            let due = store.claim_notices(now, now.saturating_add(CLAIM), LINKS)?;
            if due.is_empty() {
                break;
            }
            for notice in &due {
                let outcome = transport.send(&write_notice(notice, transport.service(), &self.public_url));
                let wait = match &outcome {
                    Ok(()) => None,
                    Err(error) => {
                        tracing::warn!("the notice of a review to account {} is not sent: {error}", notice.account.0);
                        wait_after(error, notice.attempts)
                    }
                };
                sent += usize::from(outcome.is_ok());
                store.settle_notice(notice.id, wait.map(|wait| now.saturating_add(wait)))?;
            }
        }
        Ok(sent)
    }

    /// Returns the number of sent links; blocks and stops as [`Self::send_due`]. Without a mail server, links wait.
    pub fn send_links(&self, store: &dyn Store, is_stopping: IsStopping<'_>) -> StoreResult<usize> {
        let Some(transport) = &self.mail else { return Ok(0) };
        let mut sent = 0;
        while !is_stopping() {
            let now = (self.clock)();
            let until = now.saturating_add(CLAIM);
            let mut due = store.claim_links(now, until, LINKS)?;
            if due.is_empty() {
                break;
            }
            // Links of one account in sequence: only the last one is valid.
            due.sort_unstable_by_key(|link| (link.account.id, link.id));
            let by_account: Vec<&[DueLink]> = due.chunk_by(|a, b| a.account.id == b.account.id).collect();
            // Links still unsent after half of the claim are put back, so no two servers claim a link at once.
            let is_stopping = || is_stopping() || (self.clock)() > until - CLAIM / 2;
            let sent_links = try_in_parallel(THREADS, &by_account, AfterFailure::GoOn, |links| {
                self.send_links_of(store, transport, links, &is_stopping)
            })?;
            sent += sent_links.into_iter().sum::<usize>();
        }
        Ok(sent)
    }

    fn send_links_of(
        &self,
        store: &dyn Store,
        transport: &MailTransport,
        links: &[DueLink],
        is_stopping: IsStopping<'_>,
    ) -> StoreResult<usize> {
        let mut sent = 0;
        for (index, link) in links.iter().enumerate() {
            if is_stopping() {
                let claimed: Vec<DeliveryId> = links[index..].iter().map(|link| link.id).collect();
                store.put_back(&claimed, (self.clock)())?;
                break;
            }
            let result = self.send_link(store, transport, link)?;
            sent += usize::from(result.outcome == SENT);
            store.settle(&[result])?;
        }
        Ok(sent)
    }

    fn send_link(&self, store: &dyn Store, transport: &MailTransport, link: &DueLink) -> StoreResult<DeliveryResult> {
        let (now, account) = ((self.clock)(), link.account.id.0);
        let result = |outcome: &str, due_at| DeliveryResult { id: link.id, outcome: outcome.to_owned(), due_at };
        let expired = "it waited until its link would be invalid";
        if link.expires_at <= now {
            tracing::warn!("the e-mail to account {account} is not sent: {expired}");
            return Ok(result(expired, None));
        }
        let Some(mail) = link_mail(store, link, transport.service(), &self.public_url, now)? else {
            return Ok(result("nobody needs it", None));
        };
        let Err(error) = transport.send(&mail) else { return Ok(result(SENT, None)) };
        let wait = wait_after(&error, link.attempts);
        let due_at = wait.map(|wait| now.saturating_add(wait)).filter(|due_at| *due_at < link.expires_at);
        // Not an error of the service: visitors choose the address, also one that no server accepts.
        let yet = if due_at.is_some() { " yet" } else { "" };
        tracing::warn!("the e-mail to account {account} is not sent{yet}: {error}");
        Ok(result(&error.to_string(), due_at))
    }

    /// Sends messages in order; after a failure, the following ones wait together with the failed one.
    fn send_to_webhook(
        &self,
        store: &dyn Store,
        webhook: &Webhook,
        deliveries: &[Delivery],
        is_stopping: IsStopping<'_>,
    ) -> StoreResult<usize> {
        let (Some(client), Some(networks)) = (&self.client, &self.alerts.networks) else {
            store.put_off(webhook.id, (self.clock)().saturating_add(LATER))?;
            return Ok(0);
        };
        for (count, delivery) in deliveries.iter().enumerate() {
            let now = (self.clock)();
            if is_stopping() {
                store.put_off(webhook.id, now)?;
                return Ok(count);
            }
            let sent = WebhookUrl::parse(&webhook.url, networks).map_err(|error| error.to_string()).and_then(|url| {
                let body = webhook_body(delivery, &self.public_url).map_err(|error| error.to_string())?;
                let secrets = self.alerts.secrets.webhook_secrets(webhook, now);
                let id = format!("msg_{}", delivery.id.0);
                let message = WebhookMessage { id: &id, timestamp: now, body: &body, secrets: &secrets };
                client.send(&url, &message).map_err(|error| error.to_string())
            });
            self.alerts.counts.sent(Channel::Webhook, sent == Ok(DeliveryOutcome::Delivered));
            let (reason, wait) = match sent {
                Ok(DeliveryOutcome::Delivered) => {
                    settle(store, slice::from_ref(delivery), "webhook: delivered", None)?;
                    continue;
                }
                Ok(DeliveryOutcome::Gone) => (DeliveryOutcome::Gone.to_string(), None),
                Ok(outcome) => (outcome.to_string(), WAITS.get(delivery.attempts as usize)),
                Err(reason) => (reason, WAITS.get(delivery.attempts as usize)),
            };
            let due_at = now.saturating_add(wait.copied().unwrap_or(LATER));
            settle(store, slice::from_ref(delivery), &format!("webhook: {reason}"), Some(due_at))?;
            let account = webhook.account;
            match wait {
                Some(_) => {
                    tracing::info!("an alert of account {} is not delivered yet: {reason}", account.0);
                    store.put_off(webhook.id, due_at)?;
                }
                None => {
                    tracing::warn!("a webhook of account {} is stopped: {reason}", account.0);
                    store.change_webhook(account, webhook.id, WebhookChange::Stop(&reason))?;
                }
            }
            return Ok(count);
        }
        Ok(deliveries.len())
    }

    fn send_mail(&self, store: &dyn Store, due: &DueDeliveries) -> StoreResult<usize> {
        let now = (self.clock)();
        let DueDeliveries { account, deliveries, .. } = due;
        let (Some(transport), Some(email)) = (&self.mail, &due.email) else {
            let reason =
                if self.mail.is_some() { "your address is not verified" } else { "this service sends no e-mail" };
            settle(store, deliveries, &format!("e-mail: not sent, {reason}"), None)?;
            return Ok(0);
        };
        let mail = write_digest(email, due, transport.service(), &self.public_url)?;
        let sent = transport.send(&mail);
        self.alerts.counts.sent(Channel::Email, sent.is_ok());
        let (outcome, wait, delivered) = match sent {
            Ok(()) => ("e-mail: sent".to_owned(), None, 1),
            Err(error) => {
                let attempts = deliveries.iter().map(|delivery| delivery.attempts).max().unwrap_or(0);
                let wait = wait_after(&error, attempts);
                tracing::warn!("the alerts of account {} are not sent: {error}", account.0);
                (format!("e-mail: not sent, {error}"), wait, 0)
            }
        };
        let due_at = wait.map(|wait| now.saturating_add(wait));
        settle(store, deliveries, &outcome, due_at)?;
        Ok(delivered)
    }
}

/// Seconds until an e-mail is sent again; `None` if it never is.
fn wait_after(error: &SmtpError, attempts: u32) -> Option<i64> {
    WAITS.get(attempts as usize).copied().filter(|_| !error.is_permanent)
}

fn write_notice(notice: &DueNotice, service: &str, public_url: &str) -> Mail {
    let DueNotice { account, email, firm, review, .. } = notice;
    let text = format!(
        "Hello,\n\na review of the firm that you speak for at {service} was approved. It appears with the next release of the \
         data:\n\n{public_url}/vcs/{firm}/reviews?id={review}\n\nYou can answer it once, in public:\n\n\
         {public_url}/vcs/{firm}/reviews/{review}/reply\n\nTurn these e-mails off at {public_url}/account/firms\n"
    );
    let subject = format!("{service}: a new review of your firm");
    Mail { to: email.as_str().to_owned(), account: account.0, subject: subject.into(), text }
}

fn settle(store: &dyn Store, deliveries: &[Delivery], outcome: &str, due_at: Option<i64>) -> StoreResult<()> {
    let settle = |delivery: &Delivery| DeliveryResult { id: delivery.id, outcome: outcome.to_owned(), due_at };
    store.settle(&deliveries.iter().map(settle).collect::<Vec<_>>())
}

/// The body of a webhook message in the format of Standard Webhooks.
fn webhook_body(delivery: &Delivery, public_url: &str) -> StoreResult<Vec<u8>> {
    let Delivery { watch, alert, .. } = delivery;
    let body = json!({
        "type": format!("{}.alert", WatchKind::of(watch)),
        "timestamp": rfc3339(alert.created_at),
        "url": format!("{public_url}/account/saved/{}", watch.id.0),
        "data": AlertRecord::from_alert(watch, alert)?,
    });
    Ok(body.to_string().into_bytes())
}

fn write_digest(email: &Email, due: &DueDeliveries, service: &str, public_url: &str) -> StoreResult<Mail> {
    let mut text = format!("Hello,\n\nthere is news in what you saved at {service}.\n");
    for Delivery { watch, alert, .. } in &due.deliveries {
        let what = match (&watch.query, alert.total) {
            (Some(_), 1) => "1 new match".to_owned(),
            (Some(_), total) => format!("{total} new matches"),
            (None, 1) => "1 record changed".to_owned(),
            (None, total) => format!("{total} records changed"),
        };
        text.push_str(&format!("\n{}: {what} with the release {}\n", watch.name.as_str(), alert.version));
        let entries = entries(alert)?;
        for entry in entries.iter().take(NAMED) {
            let page = entry.page.as_ref().map_or(String::new(), |page| format!("\n    {public_url}{page}"));
            let reason = if watch.query.is_some() { String::new() } else { format!(" ({})", entry.reason) };
            text.push_str(&format!("  {}{reason}{page}\n", entry.name));
        }
        if alert.total as usize > NAMED {
            text.push_str("  and more\n");
        }
        text.push_str(&format!("  All of it: {public_url}/account/saved/{}\n", watch.id.0));
    }
    text.push_str(&format!(
        "\nYou get this because you chose e-mails for these searches and lists. Turn them off at {public_url}/account/saved\n"
    ));
    let subject = match due.deliveries.len() {
        1 => format!("{service}: news in a saved search or list"),
        count => format!("{service}: news in {count} saved searches and lists"),
    };
    Ok(Mail { to: email.as_str().to_owned(), account: due.account.0, subject: subject.into(), text })
}
