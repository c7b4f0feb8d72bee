use askama::Template;
use http::StatusCode;
use serde_json::json;

use crate::account::confirm::confirm;
use crate::account::saved::WEBHOOKS;
use crate::account::saved::wording::host_of;
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::admit_pages;
use crate::error_page::{PageError, sentence};
use crate::layout::PageLayout;
use auth::Visitor;
use auth::watch::{MAX_WEBHOOKS, Webhook, WebhookChange, WebhookId};
use data::rfc3339;
use service::alerts::webhook::{DeliveryOutcome, WebhookClient, WebhookMessage, WebhookUrl};
use view::format;

/// Seconds for which the previous secret also signs after a rotation.
const OVERLAP: i64 = 24 * 3_600;
/// Pages charged for a test message.
const TEST_PAGES: usize = 20;
const IS_OFF: &str = "the operator of this service has not turned webhooks on";

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage {
    layout: PageLayout,
    is_on: bool,
    /// Each with its host, its day, and the end of the time in which the previous secret also signs, or nothing.
    webhooks: Vec<(Webhook, String, String, String)>,
    url: String,
    success: String,
    error: String,
}

#[derive(Template)]
#[template(path = "webhook_secret.html")]
struct SecretPage {
    layout: PageLayout,
    url: String,
    secret: String,
    overlap_ends: String,
}

pub(super) async fn page(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    show(request, &visitor, "", Ok("")).await
}

/// `url` is the value of the form field; `message` is shown above it, as a success or an error.
async fn show(request: AccountRequest<'_>, visitor: &Visitor, url: &str, message: Result<&str, &str>) -> AccountResult {
    let error = message.err().unwrap_or_default();
    let row = |webhook: Webhook| {
        let (host, created) = (host_of(&webhook.url).to_owned(), format::day_of(webhook.created_at));
        let overlap_ends = overlap_ends(&webhook, request.now);
        (webhook, host, created, overlap_ends)
    };
    let page = WebhooksPage {
        layout: request.layout("Webhooks", "Servers of yours that alerts are sent to."),
        is_on: request.page.state.alerts.networks.is_some(),
        webhooks: webhooks(request, visitor).await?.into_iter().map(row).collect(),
        url: url.to_owned(),
        success: sentence(message.unwrap_or_default()),
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

async fn webhooks(request: AccountRequest<'_>, visitor: &Visitor) -> Result<Vec<Webhook>, AccountReply> {
    let account = visitor.account.id;
    Ok(request.auth.blocking(move |service| service.store().webhooks(account)).await?)
}

fn overlap_ends(webhook: &Webhook, now: i64) -> String {
    if webhook.previous_until > now { format::instant(webhook.previous_until) } else { String::new() }
}

fn secret_page(request: AccountRequest<'_>, webhook: &Webhook, status: StatusCode) -> AccountResult {
    let page = SecretPage {
        layout: request.layout("Secret of a webhook", "The secret that signs messages to a webhook."),
        url: webhook.url.clone(),
        secret: request.page.state.alerts.secrets.webhook_secret(webhook).reveal(),
        overlap_ends: overlap_ends(webhook, request.now),
    };
    Ok(AccountReply::Page(status, page.render()?))
}

async fn find(request: AccountRequest<'_>, visitor: &Visitor) -> Result<Webhook, AccountReply> {
    let all = webhooks(request, visitor).await?;
    all.into_iter().find(|webhook| webhook.id.0 == request.id).ok_or(PageError::UnknownPage.into())
}

pub(super) async fn reveal(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    confirm(request, &visitor, "see the secret of a webhook", &[]).await?;
    secret_page(request, &find(request, &visitor).await?, StatusCode::OK)
}

async fn change(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    change: WebhookChange<'static>,
) -> Result<Webhook, AccountReply> {
    let (account, id) = (visitor.account.id, WebhookId(request.id));
    let changed = request.auth.blocking(move |service| service.store().change_webhook(account, id, change));
    Ok(changed.await?)
}

pub(super) async fn rotate(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    confirm(request, &visitor, "rotate the secret of a webhook", &[]).await?;
    let previous_until = request.now.saturating_add(OVERLAP);
    let webhook = change(request, &visitor, WebhookChange::RenewSecret { previous_until }).await?;
    secret_page(request, &webhook, StatusCode::OK)
}

pub(super) async fn resume(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    change(request, &visitor, WebhookChange::Resume { now: request.now }).await?;
    Ok(AccountReply::Redirect(WEBHOOKS.into(), Vec::new()))
}

pub(super) async fn delete(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let (account, id) = (visitor.account.id, WebhookId(request.id));
    let deleted = request.auth.blocking(move |service| service.store().delete_webhook(account, id));
    match deleted.await? {
        true => Ok(AccountReply::Redirect(WEBHOOKS.into(), Vec::new())),
        false => Err(PageError::UnknownPage.into()),
    }
}

pub(super) async fn add(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let state = request.page.state;
    let text = request.form.text("url");
    let Some(networks) = &state.alerts.networks else {
        return show(request, &visitor, &text, Err(IS_OFF)).await;
    };
    let url = match WebhookUrl::parse(&text, networks) {
        Ok(url) => url,
        Err(error) => return show(request, &visitor, &text, Err(&error.to_string())).await,
    };
    confirm(request, &visitor, "add a webhook", &["url"]).await?;
    let (account, now) = (visitor.account.id, request.now);
    let added = state.auth.blocking(move |service| service.store().add_webhook(account, url.as_str(), now));
    match added.await {
        Ok(webhook) => secret_page(request, &webhook, StatusCode::CREATED),
        Err(error) => show(request, &visitor, &text, Err(&form_error(error)?)).await,
    }
}

/// Sends a test and waits. Charged as [`TEST_PAGES`] pages: it makes this server send a request to another one.
pub(super) async fn test(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let webhook = find(request, &visitor).await?;
    let state = request.page.state;
    let Some(networks) = state.alerts.networks.clone() else {
        return show(request, &visitor, "", Err(IS_OFF)).await;
    };
    admit_pages(request.page, request.address, TEST_PAGES)?;
    let (now, secret) = (request.now, state.alerts.secrets.webhook_secret(&webhook));
    let body = json!({
        "type": "test",
        "timestamp": rfc3339(now),
        "url": format!("{}{WEBHOOKS}", state.public_url),
        "data": {},
    });
    let send = move || {
        let url = WebhookUrl::parse(&webhook.url, &networks).map_err(|error| error.to_string())?;
        let id = format!("test_{}_{now}", webhook.id.0);
        let body = body.to_string();
        let message = WebhookMessage { id: &id, timestamp: now, body: body.as_bytes(), secrets: &[secret] };
        match WebhookClient::new(networks).send(&url, &message) {
            Ok(DeliveryOutcome::Delivered) => Ok(()),
            Ok(outcome) => Err(outcome.to_string()),
            Err(error) => Err(error.to_string()),
        }
    };
    let sent = state.auth.blocking(move |_| Ok(send()));
    match sent.await? {
        Ok(()) => show(request, &visitor, "", Ok("the test message was delivered")).await,
        Err(reason) => show(request, &visitor, "", Err(&format!("the test message was not delivered: {reason}"))).await,
    }
}
