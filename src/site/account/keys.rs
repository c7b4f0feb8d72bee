use askama::Template;
use http::StatusCode;

use crate::account::confirm::confirm;
use crate::account::overview::{AccountMessages, DAYS, requests_chart, show};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use api::openapi::reference::ExampleRequest;
use api::openapi::snippets::{self, CodeSnippet};
use auth::account::{DEFAULT_OVERLAP_HOURS, KEY_DAYS, KeyId, KeyName, KeyRecord, OVERLAP_HOURS, Rotation, expiry};
use auth::{AccountError, NewKey, USAGE_DAYS, Visitor};
use view::charts::Bars;
use view::format;

#[derive(Template)]
#[template(path = "new_key.html")]
struct NewKeyPage {
    layout: PageLayout,
    created: NewKey,
    /// Expiry time of the key; empty if it does not expire.
    expires: String,
    /// End of acceptance of the rotated key; empty if no key was rotated.
    overlap_ends: String,
    snippets: Vec<CodeSnippet>,
}

#[derive(Template)]
#[template(path = "key.html")]
struct KeyPage {
    layout: PageLayout,
    key: KeyRecord,
    created: String,
    expires: String,
    first_used: String,
    last_used: String,
    used: String,
    chart: Bars,
    snippets: Vec<CodeSnippet>,
}

#[derive(Template)]
#[template(path = "rotate_key.html")]
struct RotatePage {
    layout: PageLayout,
    key: KeyRecord,
    last_used: String,
    overlaps: Vec<SelectOption>,
    lifetimes: Vec<SelectOption>,
    error: String,
}

pub(crate) struct SelectOption {
    pub(crate) value: String,
    pub(crate) text: String,
    pub(crate) is_selected: bool,
}

/// Lifetimes offered for a new key, in days; `selected` is added if it is not among them.
pub(crate) fn lifetimes(selected: Option<u32>) -> Vec<SelectOption> {
    let mut days: Vec<u32> = [7, 30, 90, 365].into_iter().chain(selected).collect();
    days.sort_unstable();
    days.dedup();
    let days = days.into_iter().map(|days| SelectOption {
        value: days.to_string(),
        text: format!("in {}", format::counted(days, "day", "days")),
        is_selected: selected == Some(days),
    });
    let never = SelectOption { value: String::new(), text: "never".to_owned(), is_selected: selected.is_none() };
    [never].into_iter().chain(days).collect()
}

fn overlaps() -> Vec<SelectOption> {
    let choice = |(hours, text): (u32, &str)| SelectOption {
        value: hours.to_string(),
        text: text.to_owned(),
        is_selected: hours == DEFAULT_OVERLAP_HOURS,
    };
    [(0, "ends now"), (1, "works for 1 more hour"), (24, "works for 24 more hours"), (168, "works for 7 more days")]
        .map(choice)
        .into()
}

/// Lifetime of a new key in days; `None` (an empty field) for a key that does not expire. The error is a message.
fn lifetime(request: AccountRequest<'_>) -> Result<Option<u32>, String> {
    let text = request.form.text("expires");
    let days = text.parse().ok().filter(|days| KEY_DAYS.contains(days));
    match text.is_empty() || days.is_some() {
        true => Ok(days),
        false => Err(format!("invalid number of days; use {} to {}", KEY_DAYS.start(), KEY_DAYS.end())),
    }
}

fn first_calls(base: &str, key: Option<&str>) -> Vec<CodeSnippet> {
    let query = [("q", "capital"), ("limit", "3")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let request = ExampleRequest { path: "/api/v3/vcs".to_owned(), query: query.into() };
    snippets::for_request(base, &request, key).into_iter().chain([snippets::mcp(base, key)]).collect()
}

fn last_used(key: &KeyRecord) -> String {
    key.last_used_at.map_or_else(|| "never used".to_owned(), |at| format!("last used {}", format::instant(at)))
}

#[derive(Template)]
#[template(path = "revoke_key.html")]
struct RevokePage {
    layout: PageLayout,
    key: KeyRecord,
    last_used: String,
}

pub(crate) async fn create(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    // The name may be a key, entered by mistake, so it is not repeated on the page.
    let name = request.form.text("name").parse::<KeyName>().map_err(|error| error.to_string());
    let (name, days) = match name.and_then(|name| Ok((name, lifetime(request)?))) {
        Ok(fields) => fields,
        Err(error) => return show(request, &visitor, AccountMessages::key_error(&error)).await,
    };
    confirm(request, &visitor, "create a key", &["name", "expires"]).await?;
    match request.auth.create_key(visitor.account.id, name, expiry(days, request.now), request.now).await {
        Ok(created) => new_key_page(request, created, None),
        Err(error) => show(request, &visitor, AccountMessages::key_error(&form_error(error)?)).await,
    }
}

fn new_key_page(request: AccountRequest<'_>, created: NewKey, rotated: Option<&KeyRecord>) -> AccountResult {
    let instant = |at: Option<i64>| at.map_or_else(String::new, format::instant);
    let page = NewKeyPage {
        layout: request.layout("Your new key", "A key that was just created."),
        expires: instant(created.record.expires_at),
        overlap_ends: instant(rotated.and_then(|rotated| rotated.expires_at)),
        snippets: first_calls(&request.page.state.public_url, Some(created.key.reveal())),
        created,
    };
    Ok(AccountReply::Page(StatusCode::CREATED, page.render()?))
}

pub(crate) async fn key_page(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let id = KeyId(request.id);
    let key = request.auth.active_key(visitor.account.id, id, request.now).await?;
    let usage = request.auth.usage(visitor.account.id, USAGE_DAYS as u16, request.now).await?;
    let of_key = usage.keys.iter().find(|usage| usage.key.id == id).ok_or(AccountError::NoSuchKey)?;
    let days = usage.days.iter().zip(of_key.requests.iter().copied().map(u64::from));
    let recent = days.skip(usage.days.len().saturating_sub(DAYS.into()));
    let first_used = usage.first_day(id).map_or_else(String::new, format::day);
    AccountReply::shown(&KeyPage {
        layout: request.layout(&key.name, "An API key and its usage."),
        created: format::instant(key.created_at),
        expires: key.expires_at.map_or_else(|| "never".to_owned(), format::instant),
        last_used: last_used_of(&key, !first_used.is_empty()),
        first_used,
        used: format::counted(of_key.today.used, "request", "requests"),
        chart: requests_chart(format!("Requests of this key in the last {DAYS} days"), recent),
        snippets: first_calls(&request.page.state.public_url, None),
        key,
    })
}

/// The time of a key's last use in words. It is stored some seconds after the request, hence "just now".
pub(crate) fn last_used_of(key: &KeyRecord, was_used: bool) -> String {
    match key.last_used_at {
        Some(at) => format::instant(at),
        None if was_used => "just now".to_owned(),
        None => "never".to_owned(),
    }
}

pub(crate) async fn show_rotation(request: AccountRequest<'_>, visitor: Visitor, error: &str) -> AccountResult {
    let key = request.auth.active_key(visitor.account.id, KeyId(request.id), request.now).await?;
    let page = RotatePage {
        layout: request.layout("Rotate a key", "Replace an API key by another."),
        last_used: last_used(&key),
        overlaps: overlaps(),
        lifetimes: lifetimes(key.lifetime()),
        key,
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

/// `POST /account/keys/{id}/rotate`: creates a successor and shows it once; the key ends after an overlap.
pub(crate) async fn rotate(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let hours = request.form.text("overlap").parse().ok().filter(|hours| OVERLAP_HOURS.contains(hours));
    let days = match lifetime(request) {
        Ok(days) => days,
        Err(error) => return show_rotation(request, visitor, &error).await,
    };
    confirm(request, &visitor, "rotate a key", &["overlap", "expires"]).await?;
    let rotation = Rotation::new(hours.unwrap_or(DEFAULT_OVERLAP_HOURS), days, request.now);
    match request.auth.rotate_key(visitor.account.id, KeyId(request.id), rotation, request.now).await {
        Ok((rotated, created)) => new_key_page(request, created, Some(&rotated)),
        Err(error) => show_rotation(request, visitor, &form_error(error)?).await,
    }
}

pub(crate) async fn revoke_page(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let key = request.auth.active_key(visitor.account.id, KeyId(request.id), request.now).await?;
    let layout = request.layout("Revoke a key", "Revoke an API key.");
    AccountReply::shown(&RevokePage { layout, last_used: last_used(&key), key })
}

pub(crate) async fn revoke(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    request.auth.revoke_key(visitor.account.id, KeyId(request.id), None, request.now).await?;
    Ok(AccountReply::Redirect("/account".into(), Vec::new()))
}
