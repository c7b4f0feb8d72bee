//! The page of one search or list: its alerts, their receivers, and the records of a list.

use askama::Template;

use crate::account::keys::SelectOption;
use crate::account::saved::wording::{self, AlertView, conditions, host_of};
use crate::account::saved::{SAVED, own_watch, parse_name, query_number};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult, CSV};
use crate::browse::Pager;
use crate::error_page::{PageError, sentence};
use crate::layout::PageLayout;
use auth::watch::{AlertId, Watch, WatchChange, Webhook, WebhookId};
use auth::{StoreError, Visitor};
use catalog::look_up::listed::csv_of;
use catalog::{Catalog, Resource};
use data::Table;
use service::alerts::{record_name, record_page};
use view::format;
use view::link::Link;

/// Alerts per page.
const ALERTS: u32 = 10;
/// Records shown per alert, unless the page shows a single alert.
const RECORDS: usize = 25;
/// Records of a list per page.
const LISTED: usize = 100;

#[derive(Template)]
#[template(path = "saved_one.html")]
struct OnePage {
    layout: PageLayout,
    watch: Watch,
    conditions: String,
    /// Path of the page that shows the results of a search; empty if there is none.
    href: String,
    /// API URL of a search; empty for a list.
    api: String,
    problem: String,
    alerts: Vec<AlertView>,
    is_single: bool,
    older: String,
    /// The reason for which no e-mail can be sent; empty if it can.
    no_mail: &'static str,
    webhooks: Vec<SelectOption>,
    feeds: [String; 2],
    /// Key, name and page of each; only the key if it is not in the release.
    records: Vec<(String, String, String)>,
    pager: Pager,
    error: String,
}

/// Parameters: `before` for earlier alerts, `alert` for all records of one alert, `page` for records of a list.
pub(super) async fn page(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let watch = own_watch(request, &visitor).await?;
    show(request, &visitor, watch, "").await
}

async fn show(request: AccountRequest<'_>, visitor: &Visitor, watch: Watch, error: &str) -> AccountResult {
    let state = request.page.state;
    let alert_id = |name| query_number(request, name).and_then(|id| i64::try_from(id).ok());
    let (before, single) = (alert_id("before").map(AlertId), alert_id("alert"));
    let stored = state.auth.blocking(move |service| {
        let store = service.store();
        let (first, limit, shown) = match single {
            Some(id) => (Some(AlertId(id.saturating_add(1))), 1, usize::MAX),
            None => (before, ALERTS + 1, RECORDS),
        };
        let mut alerts = store.alerts(watch.id, first, limit)?;
        alerts.retain(|alert| single.is_none_or(|id| alert.id.0 == id));
        let has_older = single.is_none() && alerts.len() > ALERTS as usize;
        alerts.truncate(ALERTS as usize);
        let older = alerts.last().filter(|_| has_older).map(|alert| alert.id);
        let views = alerts.into_iter().map(|alert| AlertView::new(&watch, alert, shown));
        let views = views.collect::<Result<Vec<_>, StoreError>>()?;
        let records = if watch.query.is_none() { store.listed(watch.id)? } else { Vec::new() };
        let webhooks = store.webhooks(watch.account)?;
        Ok((watch, views, older, records, webhooks))
    });
    let (watch, alerts, older, records, webhooks) = stored.await?;
    if single.is_some() && alerts.is_empty() {
        return Err(PageError::UnknownPage.into());
    }
    let catalog = state.releases.current();
    let path = format!("{SAVED}/{}", watch.id.0);
    let page = query_number(request, "page").unwrap_or(1).max(1);
    let first = usize::try_from(page - 1).unwrap_or(usize::MAX).saturating_mul(LISTED);
    let shown = records.iter().skip(first).take(LISTED);
    let list = Resource::of_table(watch.table).path();
    let mark = |query: &str| if query.is_empty() { String::new() } else { format!("?{query}") };
    let query = watch.query.as_deref();
    let token = state.alerts.secrets.feed_token(&watch);
    let page = OnePage {
        layout: request.layout(watch.name.as_str(), "A saved search or list, and what is new."),
        conditions: conditions(&catalog, &watch),
        href: query
            .filter(|_| watch.table != Table::Rounds)
            .map_or_else(String::new, |query| format!("/{list}{}", mark(query))),
        api: query.map_or_else(String::new, |query| request.page.api(&format!("{list}{}", mark(query)))),
        problem: sentence(watch.problem.as_deref().unwrap_or_default()),
        alerts,
        is_single: single.is_some(),
        older: older.map_or_else(String::new, |id| format!("{path}?before={}", id.0)),
        no_mail: match (state.auth.sends_mail(), visitor.account.verified_at) {
            (false, _) => "This service sends no e-mail.",
            (true, None) => "Your e-mail address is not verified: open the link that was sent to it.",
            (true, Some(_)) => "",
        },
        webhooks: webhooks.iter().map(|webhook| choice(webhook, watch.webhook)).collect(),
        feeds: ["atom", "json"].map(|extension| format!("{}/alerts/{token}.{extension}", state.public_url)),
        records: shown.map(|key| record(&catalog, watch.table, key)).collect(),
        pager: Pager::with_size(&Link::new(&path, Vec::new()), page, records.len() as u64, LISTED as u64),
        watch,
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

fn choice(webhook: &Webhook, chosen: Option<WebhookId>) -> SelectOption {
    SelectOption {
        value: webhook.id.0.to_string(),
        text: host_of(&webhook.url).to_owned(),
        is_selected: Some(webhook.id) == chosen,
    }
}

fn record(catalog: &Catalog, table: Table, key: &str) -> (String, String, String) {
    let snapshot = catalog.snapshot();
    let (name, page) = match catalog.find(table, key) {
        Some(row) => (record_name(snapshot, table, row), record_page(snapshot, table, row)),
        None => (String::new(), String::new()),
    };
    (key.to_owned(), name, page)
}

pub(super) async fn download(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let watch = own_watch(request, &visitor).await?;
    if watch.query.is_some() {
        return Err(PageError::UnknownPage.into());
    }
    let state = request.page.state;
    let keys = state.auth.blocking(move |service| service.store().listed(watch.id)).await?;
    let catalog = state.releases.current();
    let rows = keys.iter().map(|key| {
        let (key, name, page) = record(&catalog, watch.table, key);
        let page = if page.is_empty() { page } else { format!("{}{page}", state.public_url) };
        [key, name, page]
    });
    Ok(AccountReply::File(format!("list-{}.csv", request.id), CSV, csv_of(rows)))
}

pub(super) async fn rename(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let watch = own_watch(request, &visitor).await?;
    match parse_name(request) {
        Ok(name) => apply(request, &visitor, watch, WatchChange::Name(name)).await,
        Err(error) => show(request, &visitor, watch, &error).await,
    }
}

pub(super) async fn notify(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let watch = own_watch(request, &visitor).await?;
    let webhook = request.form.text("webhook");
    let chosen = webhook.parse().ok().map(WebhookId);
    if chosen.is_none() && !webhook.is_empty() {
        return show(request, &visitor, watch, &StoreError::NoSuchWebhook.to_string()).await;
    }
    let emails = !request.form.text("emails").is_empty();
    apply(request, &visitor, watch, WatchChange::Notify { emails, webhook: chosen }).await
}

pub(super) async fn renew_feed(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let watch = own_watch(request, &visitor).await?;
    apply(request, &visitor, watch, WatchChange::RenewFeed).await
}

pub(super) async fn remove(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let watch = own_watch(request, &visitor).await?;
    let records: Vec<String> = request.form.texts("record").into_iter().map(Into::into).collect();
    apply(request, &visitor, watch, WatchChange::Remove(records)).await
}

pub(super) async fn delete(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let watch = own_watch(request, &visitor).await?;
    request.auth.blocking(move |service| service.store().delete_watch(watch.account, watch.id)).await?;
    Ok(AccountReply::Redirect(SAVED.into(), Vec::new()))
}

async fn apply(request: AccountRequest<'_>, visitor: &Visitor, watch: Watch, change: WatchChange) -> AccountResult {
    let (account, id) = (visitor.account.id, watch.id);
    let changed = request.auth.blocking(move |service| service.store().change_watch(account, id, change));
    match changed.await {
        Ok(_) => Ok(AccountReply::Redirect(format!("{SAVED}/{}", id.0).into(), Vec::new())),
        Err(error) => show(request, visitor, watch, &form_error(error)?).await,
    }
}
