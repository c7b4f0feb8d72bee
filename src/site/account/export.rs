//! Export of an account for its owner: key usage as CSV, everything stored as JSON. Secrets are left out: passwords,
//! keys, tokens of sessions and feeds, secrets of webhooks and of the authenticator app.

use serde_json::{Value, json};

use crate::account::{AccountReply, AccountRequest, AccountResult, CSV};
use auth::account::{Account, KeyRecord};
use auth::firm::{Correction, FirmClaim};
use auth::review::StoredReview;
use auth::session::ListedSession;
use auth::watch::{Alert, AlertId, Watch, Webhook};
use auth::{AuthService, DayUsage, StoreError, USAGE_DAYS, Visitor};
use data::vocabulary::Vocabulary;
use data::{Date, formula, rfc3339};

/// Maximum number of alerts per saved search or list. Alerts are stored for 90 days.
const MAX_ALERTS: u32 = 10_000;

pub(crate) async fn usage(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let usage = request.auth.usage(visitor.account.id, USAGE_DAYS as u16, request.now).await?;
    let mut csv = "day,key,name,requests\r\n".to_owned();
    for (index, day) in usage.days.iter().enumerate() {
        for key in usage.keys.iter().filter(|key| key.requests[index] > 0) {
            let name = formula::neutralize(key.key.name.clone()).replace('"', "\"\"");
            csv.push_str(&format!("{day},{},\"{name}\",{}\r\n", key.key.id.0, key.requests[index]));
        }
        if usage.others[index] > 0 {
            csv.push_str(&format!("{day},,\"Earlier revoked keys\",{}\r\n", usage.others[index]));
        }
    }
    Ok(AccountReply::File("venturedex-usage.csv".to_owned(), CSV, csv.into_bytes()))
}

pub(crate) async fn everything(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let now = request.now;
    let stored = request.auth.blocking(move |service| account_export(service, &visitor, now)).await?;
    let body = serde_json::to_vec_pretty(&stored).expect("texts and numbers have a JSON form");
    Ok(AccountReply::File("venturedex-account.json".to_owned(), "application/json", body))
}

fn account_export(service: &AuthService, visitor: &Visitor, now: i64) -> Result<Value, StoreError> {
    let store = service.store();
    let (account, today) = (visitor.account.id, Date::from_unix(now));
    let keys = store.keys(Some(account), today)?;
    let usage = store.usage_of(account, Date::from_days(today.days() - USAGE_DAYS), today)?;
    let sessions = store.sessions(account, now)?;
    let webhooks = store.webhooks(account)?;
    let session_json = |session: &ListedSession| {
        json!({
            "signed_in_at": rfc3339(session.created_at),
            "last_used_at": rfc3339(session.last_used_at),
            "is_current": session.digest == visitor.session,
        })
    };
    let usage_json =
        |usage: &DayUsage| json!({ "day": usage.day.to_string(), "key": usage.key.0, "requests": usage.requests });
    let webhook_json = |webhook: &Webhook| json!({ "url": webhook.url, "created_at": rfc3339(webhook.created_at), "stopped": webhook.stopped });
    let watch_json = |watch: &Watch| {
        let records = if watch.query.is_none() { store.listed(watch.id)? } else { Vec::new() };
        let alerts = store.alerts_after(account, Some(watch.id), AlertId(0), MAX_ALERTS)?;
        let webhook = webhooks.iter().find(|webhook| Some(webhook.id) == watch.webhook);
        Ok(json!({
            "id": watch.id.0,
            "name": watch.name.as_str(),
            "table": watch.table.name(),
            "query": watch.query,
            "records": records,
            "created_at": rfc3339(watch.created_at),
            "by_email": watch.emails,
            "webhook": webhook.map(|webhook| &webhook.url),
            "alerts": alerts.iter().map(alert_json).collect::<Vec<_>>(),
        }))
    };
    let saved = store.watches(account)?.iter().map(watch_json).collect::<Result<Vec<Value>, StoreError>>()?;
    let reviews = store.reviews_of(account)?;
    let mut export = json!({
        "exported_at": rfc3339(now),
        "account": account_json(&visitor.account),
        "keys": keys.iter().map(key_json).collect::<Vec<_>>(),
        "usage": usage.iter().map(usage_json).collect::<Vec<_>>(),
        "sessions": sessions.iter().map(session_json).collect::<Vec<_>>(),
        "saved": saved,
        "webhooks": webhooks.iter().map(webhook_json).collect::<Vec<_>>(),
        // Null if the log cannot be read at the moment.
        "audit_log": service.audit_lines(account).ok(),
    });
    // A service that takes no reviews does not speak of them.
    let (claims, corrections) = (store.claims_of(account)?, store.corrections_of(account)?);
    let lists: [(&str, Vec<Value>); 3] = [
        ("reviews", reviews.iter().map(review_json).collect()),
        ("firms", claims.iter().map(claim_json).collect()),
        ("corrections", corrections.iter().map(correction_json).collect()),
    ];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        export[name] = list.into();
    }
    Ok(export)
}

fn claim_json(claim: &FirmClaim) -> Value {
    json!({ "vc": claim.firm, "claimed_at": rfc3339(claim.claimed_at), "by_email": claim.notifies })
}

fn correction_json(correction: &Correction) -> Value {
    json!({
        "vc": correction.firm,
        "field": correction.field,
        "value": correction.value,
        "source": correction.source,
        "state": correction.state.name(),
        "proposed_at": rfc3339(correction.proposed_at),
        "decided_at": correction.decided_at.map(rfc3339),
        "reason": correction.reason,
    })
}

fn review_json(review: &StoredReview) -> Value {
    let answers = &review.answers;
    json!({
        "id": review.public_id,
        "vc": review.firm,
        "state": review.state.name(),
        "role": answers.role.map(Vocabulary::name),
        "stage": answers.stage.map(Vocabulary::name),
        "contact_month": answers.contact_month,
        "rating": answers.rating,
        "responsiveness": answers.responsiveness,
        "fairness": answers.fairness,
        "value_add": answers.value_add,
        "ghosted": answers.ghosted,
        "title": answers.title,
        "body": answers.body,
        "proof": review.proof.name(),
        "created_at": rfc3339(review.created_at),
        "changed_at": rfc3339(review.changed_at),
        "submitted_at": review.submitted_at.map(rfc3339),
        "published_at": review.published_at.map(rfc3339),
        "disputed_at": review.disputed_at.map(rfc3339),
        "note_of_operator": review.note,
        "response": review.response,
        "reply_of_firm": review.reply,
    })
}

fn account_json(account: &Account) -> Value {
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

fn key_json(key: &KeyRecord) -> Value {
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

fn alert_json(alert: &Alert) -> Value {
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
