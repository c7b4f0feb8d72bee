//! What is stored about an account, for its owner: the usage of its keys as CSV, everything as JSON. Secrets are left out:
//! passwords, keys, tokens of sessions and feeds, secrets of webhooks and of the authenticator app.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::account::{AccountRequest, CSV, Reply};
use auth::account::{Account, AccountId, KeyRecord};
use auth::session::ListedSession;
use auth::watch::{Alert, AlertId, Watch, Webhook};
use auth::{AuthService, DayUsage, StoreError, USAGE_DAYS, Visitor};
use catalog::flat::neutralized;
use data::{Date, rfc3339};

/// Alerts of one saved search or list: those of the 90 days for which they are stored.
const MAX_ALERTS: u32 = 10_000;

/// `GET /account/usage.csv`.
pub(crate) async fn usage(request: AccountRequest<'_>) -> Result<Reply, Reply> {
    let visitor = request.signed_in().await?;
    let usage = request.page.state.auth.usage(visitor.account.id, USAGE_DAYS as u16, request.now).await?;
    let mut csv = "day,key,name,requests\r\n".to_owned();
    for (index, day) in usage.days.iter().enumerate() {
        for key in usage.keys.iter().filter(|key| key.requests[index] > 0) {
            let name = neutralized(key.key.name.clone()).replace('"', "\"\"");
            csv.push_str(&format!("{day},{},\"{name}\",{}\r\n", key.key.id.0, key.requests[index]));
        }
        if usage.others[index] > 0 {
            csv.push_str(&format!("{day},,\"Earlier revoked keys\",{}\r\n", usage.others[index]));
        }
    }
    Ok(Reply::File("venturedex-usage.csv".to_owned(), CSV, csv.into_bytes()))
}

/// `GET /account/export.json`.
pub(crate) async fn everything(request: AccountRequest<'_>) -> Result<Reply, Reply> {
    let visitor = request.signed_in().await?;
    let (account, now) = (visitor.account.id, request.now);
    let stored = request.page.state.auth.blocking(move |service| Stored::of(service, account, now)).await?;
    let body = serde_json::to_vec_pretty(&stored.json(&visitor, now)).expect("texts and numbers have a JSON form");
    Ok(Reply::File("venturedex-account.json".to_owned(), "application/json", body))
}

/// What the store has of an account.
struct Stored {
    keys: Vec<KeyRecord>,
    usage: Vec<DayUsage>,
    sessions: Vec<ListedSession>,
    /// With the records of lists, and the alerts.
    watches: Vec<(Watch, Vec<String>, Vec<Alert>)>,
    webhooks: Vec<Webhook>,
    /// `None` if the log cannot be read now.
    audit: Option<Vec<Value>>,
}

impl Stored {
    fn of(service: &AuthService, account: AccountId, now: i64) -> Result<Self, StoreError> {
        let (store, watches) = (service.store(), service.store().watch_store());
        let today = Date::from_unix(now);
        let with_content = |watch: Watch| {
            let records = if watch.query.is_none() { watches.listed(watch.id)? } else { Vec::new() };
            let alerts = watches.alerts_after(account, Some(watch.id), AlertId(0), MAX_ALERTS)?;
            Ok((watch, records, alerts))
        };
        Ok(Self {
            keys: store.keys(Some(account), today)?,
            usage: store.usage_of(account, Date::from_days(today.days() - USAGE_DAYS), today)?,
            sessions: store.sessions(account, now)?,
            watches: watches.watches(account)?.into_iter().map(with_content).collect::<Result<_, StoreError>>()?,
            webhooks: watches.webhooks(account)?,
            audit: service.audit_lines(account).ok(),
        })
    }

    fn json(&self, visitor: &Visitor, now: i64) -> Value {
        let names: HashMap<_, _> = self.webhooks.iter().map(|webhook| (webhook.id, webhook.url.as_str())).collect();
        let session = |session: &ListedSession| {
            json!({
                "signed_in_at": rfc3339(session.created_at),
                "last_used_at": rfc3339(session.last_used_at),
                "is_current": session.digest == visitor.session,
            })
        };
        let webhook = |webhook: &Webhook| json!({ "url": webhook.url, "created_at": rfc3339(webhook.created_at), "stopped": webhook.stopped });
        json!({
            "exported_at": rfc3339(now),
            "account": of_account(&visitor.account),
            "keys": self.keys.iter().map(of_key).collect::<Vec<_>>(),
            "usage": self.usage.iter().map(of_usage).collect::<Vec<_>>(),
            "sessions": self.sessions.iter().map(session).collect::<Vec<_>>(),
            "saved": self.watches.iter().map(|(watch, records, alerts)| json!({
                "id": watch.id.0,
                "name": watch.name.as_str(),
                "table": watch.table.name(),
                "query": watch.query,
                "records": records,
                "created_at": rfc3339(watch.created_at),
                "by_email": watch.emails,
                "webhook": watch.webhook.and_then(|id| names.get(&id)),
                "alerts": alerts.iter().map(of_alert).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
            "webhooks": self.webhooks.iter().map(webhook).collect::<Vec<_>>(),
            "audit_log": self.audit,
        })
    }
}

fn of_account(account: &Account) -> Value {
    json!({
        "id": account.id.0,
        "email": account.email.to_string(),
        "tier": account.tier.name(),
        "created_at": rfc3339(account.created_at),
        "verified_at": account.verified_at.map(rfc3339),
        "blocked_at": account.blocked_at.map(rfc3339),
        "two_step_sign_in_since": account.totp_enabled_at.map(rfc3339),
        "recovery_codes_left": account.recovery_codes,
    })
}

fn of_key(key: &KeyRecord) -> Value {
    json!({
        "id": key.id.0,
        "name": key.name,
        "short_form": key.masked.to_string(),
        "created_at": rfc3339(key.created_at),
        "expires_at": key.expires_at.map(rfc3339),
        "revoked_at": key.revoked_at.map(rfc3339),
        "last_used_at": key.last_used_at.map(rfc3339),
    })
}

fn of_usage(usage: &DayUsage) -> Value {
    json!({ "day": usage.day.to_string(), "key": usage.key.0, "requests": usage.requests })
}

fn of_alert(alert: &Alert) -> Value {
    json!({
        "id": alert.id.0,
        "since": alert.since.to_string(),
        "version": alert.version.to_string(),
        "created_at": rfc3339(alert.created_at),
        "total": alert.total,
        "entries": serde_json::from_str::<Value>(&alert.entries).unwrap_or(Value::Null),
        "outcome": alert.outcome,
    })
}
