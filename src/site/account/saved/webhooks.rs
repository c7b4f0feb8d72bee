//! The webhooks of an account, and their secrets.

use askama::Template;
use http::StatusCode;
use serde_json::json;

use crate::account::confirm::confirm;
use crate::account::form::FormData;
use crate::account::saved::split_number;
use crate::account::saved::view::host_of;
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest};
use crate::error_page::{PageError, sentence};
use crate::format;
use crate::layout::PageLayout;
use auth::Visitor;
use auth::watch::{MAX_WEBHOOKS, Webhook, WebhookChange, WebhookId};
use data::rfc3339;
use service::alerts::webhook::{DeliveryOutcome, WebhookClient, WebhookMessage, WebhookUrl};

const WEBHOOKS: &str = "/account/webhooks";
/// Seconds for which the previous secret also signs after a rotation.
const OVERLAP: i64 = 24 * 3_600;
/// Pages charged for a test message.
const TEST_PAGES: usize = 20;
const IS_OFF: &str = "the operator of this service has not turned webhooks on";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookRoute {
    /// All webhooks of the account; a form adds one.
    All,
    /// Shows the secret.
    Secret(WebhookId),
    Rotate(WebhookId),
    Resume(WebhookId),
    /// Sends a test message.
    Test(WebhookId),
    Delete(WebhookId),
}

impl WebhookRoute {
    pub(in crate::account) fn parse(path: &str) -> Option<Self> {
        let rest = path.strip_prefix(WEBHOOKS)?;
        if rest.is_empty() {
            return Some(Self::All);
        }
        let (id, name) = split_number(rest)?;
        let id = WebhookId(id);
        match name {
            "secret" => Some(Self::Secret(id)),
            "rotate" => Some(Self::Rotate(id)),
            "resume" => Some(Self::Resume(id)),
            "test" => Some(Self::Test(id)),
            "delete" => Some(Self::Delete(id)),
            _ => None,
        }
    }

    pub(in crate::account) fn label(self) -> &'static str {
        match self {
            Self::All => WEBHOOKS,
            Self::Secret(_) => "/account/webhooks/{id}/secret",
            Self::Rotate(_) => "/account/webhooks/{id}/rotate",
            Self::Resume(_) => "/account/webhooks/{id}/resume",
            Self::Test(_) => "/account/webhooks/{id}/test",
            Self::Delete(_) => "/account/webhooks/{id}/delete",
        }
    }
}

#[derive(Template)]
#[template(path = "webhooks.html")]
struct WebhooksPage {
    layout: PageLayout,
    /// True if the operator has turned webhooks on.
    is_on: bool,
    webhooks: Vec<WebhookRow>,
    max: u32,
    url: String,
    success: String,
    error: String,
}

struct WebhookRow {
    id: i64,
    host: String,
    url: String,
    created: String,
    /// End of the time in which the previous secret also signs; empty if it does not.
    overlap_ends: String,
    stopped: Option<String>,
}

#[derive(Template)]
#[template(path = "webhook_secret.html")]
struct SecretPage {
    layout: PageLayout,
    url: String,
    secret: String,
    overlap_ends: String,
}

/// `GET /account/webhooks`.
pub(in crate::account) async fn page(request: AccountRequest<'_>) -> Result<AccountReply, AccountReply> {
    let visitor = request.signed_in().await?;
    show(request, &visitor, "", Ok("")).await
}

/// `url` is the value of the form field; `message` is shown above it, as a success or an error.
async fn show(
    request: AccountRequest<'_>,
    visitor: &Visitor,
    url: &str,
    message: Result<&str, &str>,
) -> Result<AccountReply, AccountReply> {
    let error = message.err().unwrap_or_default();
    let state = request.page.state;
    let catalog = state.releases.current();
    let page = WebhooksPage {
        layout: request.layout(catalog.snapshot(), "Webhooks", "Servers of yours that alerts are sent to."),
        is_on: state.alerts.networks.is_some(),
        webhooks: webhooks(request, visitor).await?.iter().map(|webhook| row(webhook, request.now)).collect(),
        max: MAX_WEBHOOKS,
        url: url.to_owned(),
        success: sentence(message.unwrap_or_default()),
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

async fn webhooks(request: AccountRequest<'_>, visitor: &Visitor) -> Result<Vec<Webhook>, AccountReply> {
    let account = visitor.account.id;
    Ok(request.page.state.auth.blocking(move |service| service.store().watch_store().webhooks(account)).await?)
}

fn row(webhook: &Webhook, now: i64) -> WebhookRow {
    WebhookRow {
        id: webhook.id.0,
        host: host_of(&webhook.url).to_owned(),
        url: webhook.url.clone(),
        created: format::day_of(webhook.created_at),
        overlap_ends: overlap_ends(webhook, now),
        stopped: webhook.stopped.clone(),
    }
}

fn overlap_ends(webhook: &Webhook, now: i64) -> String {
    if webhook.previous_until > now { format::instant(webhook.previous_until) } else { String::new() }
}

fn secret_page(
    request: AccountRequest<'_>,
    webhook: &Webhook,
    status: StatusCode,
) -> Result<AccountReply, AccountReply> {
    let catalog = request.page.state.releases.current();
    let page = SecretPage {
        layout: request.layout(
            catalog.snapshot(),
            "Secret of a webhook",
            "The secret that signs messages to a webhook.",
        ),
        url: webhook.url.clone(),
        secret: request.page.state.alerts.secrets.webhook_secret(webhook).reveal(),
        overlap_ends: overlap_ends(webhook, request.now),
    };
    Ok(AccountReply::Page(status, page.render()?))
}

/// Handles the forms of the page.
pub(in crate::account) async fn post_form(
    route: WebhookRoute,
    request: AccountRequest<'_>,
    form: &FormData,
) -> Result<AccountReply, AccountReply> {
    let visitor = request.signed_in().await?;
    let (account, now) = (visitor.account.id, request.now);
    let auth = &request.page.state.auth;
    let (id, change) = match route {
        WebhookRoute::All => return add(request, &visitor, form).await,
        WebhookRoute::Secret(id) => {
            confirm(request, &visitor, form, "see the secret of a webhook", &[]).await?;
            let all = webhooks(request, &visitor).await?;
            let webhook = all.iter().find(|webhook| webhook.id == id).ok_or(PageError::UnknownPage)?;
            return secret_page(request, webhook, StatusCode::OK);
        }
        WebhookRoute::Test(id) => {
            let all = webhooks(request, &visitor).await?;
            let webhook = all.into_iter().find(|webhook| webhook.id == id).ok_or(PageError::UnknownPage)?;
            return test(request, &visitor, webhook).await;
        }
        WebhookRoute::Delete(id) => {
            let deleted = auth.blocking(move |service| service.store().watch_store().delete_webhook(account, id));
            return match deleted.await? {
                true => Ok(AccountReply::Redirect(WEBHOOKS.into(), Vec::new())),
                false => Err(PageError::UnknownPage.into()),
            };
        }
        WebhookRoute::Rotate(id) => {
            confirm(request, &visitor, form, "rotate the secret of a webhook", &[]).await?;
            (id, WebhookChange::RenewSecret { previous_until: now.saturating_add(OVERLAP) })
        }
        WebhookRoute::Resume(id) => (id, WebhookChange::Resume { now }),
    };
    let changed = auth.blocking(move |service| service.store().watch_store().change_webhook(account, id, change));
    let webhook = changed.await?;
    match route {
        WebhookRoute::Rotate(_) => secret_page(request, &webhook, StatusCode::OK),
        _ => Ok(AccountReply::Redirect(WEBHOOKS.into(), Vec::new())),
    }
}

/// `POST /account/webhooks`: adds a webhook and shows its secret.
async fn add(request: AccountRequest<'_>, visitor: &Visitor, form: &FormData) -> Result<AccountReply, AccountReply> {
    let state = request.page.state;
    let text = form.text("url");
    let Some(networks) = &state.alerts.networks else {
        return show(request, visitor, &text, Err(IS_OFF)).await;
    };
    let url = match WebhookUrl::parse(&text, networks) {
        Ok(url) => url,
        Err(error) => return show(request, visitor, &text, Err(&error.to_string())).await,
    };
    confirm(request, visitor, form, "add a webhook", &["url"]).await?;
    let (account, now) = (visitor.account.id, request.now);
    let added =
        state.auth.blocking(move |service| service.store().watch_store().add_webhook(account, url.as_str(), now));
    match added.await {
        Ok(webhook) => secret_page(request, &webhook, StatusCode::CREATED),
        Err(error) => show(request, visitor, &text, Err(&form_error(error)?)).await,
    }
}

/// `POST /account/webhooks/{id}/test`: sends a message and waits for the response. Charged as [`TEST_PAGES`] pages,
/// since it makes this server send requests to others.
async fn test(request: AccountRequest<'_>, visitor: &Visitor, webhook: Webhook) -> Result<AccountReply, AccountReply> {
    let state = request.page.state;
    let Some(networks) = state.alerts.networks.clone() else {
        return show(request, visitor, "", Err(IS_OFF)).await;
    };
    for _ in 1..TEST_PAGES {
        state.auth.admit_page(request.address, request.now).map_err(PageError::RateLimited)?;
    }
    let (now, secret) = (request.now, state.alerts.secrets.webhook_secret(&webhook));
    let body = json!({
        "type": "test",
        "timestamp": rfc3339(now),
        "url": format!("{}{WEBHOOKS}", state.public_url),
        "data": {},
    });
    let sent = state.auth.blocking(move |_| {
        let url = match WebhookUrl::parse(&webhook.url, &networks) {
            Ok(url) => url,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let id = format!("test_{}_{now}", webhook.id.0);
        let body = body.to_string();
        let message = WebhookMessage { id: &id, timestamp: now, body: body.as_bytes(), secrets: &[secret] };
        Ok(match WebhookClient::new(networks).send(&url, &message) {
            Ok(DeliveryOutcome::Delivered) => Ok(()),
            Ok(outcome) => Err(outcome.to_string()),
            Err(error) => Err(error.to_string()),
        })
    });
    match sent.await? {
        Ok(()) => show(request, visitor, "", Ok("the test message was delivered")).await,
        Err(reason) => show(request, visitor, "", Err(&format!("the test message was not delivered: {reason}"))).await,
    }
}
