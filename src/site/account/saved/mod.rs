//! Saved searches and lists: their alerts, and where alerts are sent.

mod list;
mod one;
mod search;
pub(crate) mod view;
mod webhooks;

use askama::Template;
use http::StatusCode;

use crate::account::form::FormData;
use crate::account::saved::view::{conditions, count_in_words, host_of};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::browse::Pager;
use crate::error_page::PageError;
use crate::format;
use crate::layout::PageLayout;
use crate::link::Link;
use crate::routes::{PageRow, account_page};
use auth::account::{KeyName, ParseKeyNameError};
use auth::watch::{Alert, Watch, WatchId, WebhookId};
use auth::{StoreError, Visitor};
use data::SnapshotVersion;

const PER_PAGE: usize = 25;
/// Alerts of each search or list named in the overview.
const NEWEST: u32 = 3;

const SAVED: &str = "/account/saved";
const WEBHOOKS: &str = "/account/webhooks";

pub(super) const PAGES: &[PageRow] = &[
    account_page(SAVED)
        .get(|request, _, _| Box::pin(page(request)))
        .post(|request, _, form| Box::pin(search::save(request, form))),
    account_page("/account/saved/new").get(|request, _, _| Box::pin(search::page(request))),
    account_page("/account/saved/list")
        .get(|request, _, _| Box::pin(list::page(request)))
        .post(|request, _, form| Box::pin(list::send(request, None, form)))
        .takes_files(),
    account_page("/account/saved/{id}").get(|request, [id, _], _| Box::pin(one::page(request, WatchId(id)))),
    account_page("/account/saved/{id}/name")
        .post(|request, [id, _], form| Box::pin(one::rename(request, WatchId(id), form))),
    account_page("/account/saved/{id}/notify")
        .post(|request, [id, _], form| Box::pin(one::notify(request, WatchId(id), form))),
    account_page("/account/saved/{id}/feed")
        .post(|request, [id, _], _| Box::pin(one::renew_feed(request, WatchId(id)))),
    account_page("/account/saved/{id}/add")
        .post(|request, [id, _], form| Box::pin(list::send(request, Some(WatchId(id)), form)))
        .takes_files(),
    account_page("/account/saved/{id}/remove")
        .post(|request, [id, _], form| Box::pin(one::remove(request, WatchId(id), form)))
        .takes_files(),
    account_page("/account/saved/{id}/records.csv")
        .get(|request, [id, _], _| Box::pin(one::download(request, WatchId(id)))),
    account_page("/account/saved/{id}/delete").post(|request, [id, _], _| Box::pin(one::delete(request, WatchId(id)))),
    account_page(WEBHOOKS)
        .get(|request, _, _| Box::pin(webhooks::page(request)))
        .post(|request, _, form| Box::pin(webhooks::add(request, form))),
    account_page("/account/webhooks/{id}/secret")
        .post(|request, [id, _], form| Box::pin(webhooks::reveal(request, WebhookId(id), form))),
    account_page("/account/webhooks/{id}/rotate")
        .post(|request, [id, _], form| Box::pin(webhooks::rotate(request, WebhookId(id), form))),
    account_page("/account/webhooks/{id}/resume")
        .post(|request, [id, _], _| Box::pin(webhooks::resume(request, WebhookId(id)))),
    account_page("/account/webhooks/{id}/test")
        .post(|request, [id, _], _| Box::pin(webhooks::test(request, WebhookId(id)))),
    account_page("/account/webhooks/{id}/delete")
        .post(|request, [id, _], _| Box::pin(webhooks::delete(request, WebhookId(id)))),
];

#[derive(Template)]
#[template(path = "saved.html")]
struct SavedPage {
    layout: PageLayout,
    count: String,
    rows: Vec<SavedRow>,
    pager: Pager,
    /// True if no release is published, so that there can be no alerts.
    is_bundled: bool,
}

struct SavedRow {
    watch: Watch,
    conditions: String,
    /// Host of its webhook; empty if it has none.
    webhook: String,
    /// Number, count in words and release of each.
    alerts: Vec<(i64, String, SnapshotVersion)>,
}

async fn page(request: AccountRequest<'_>) -> AccountResult {
    let visitor = request.signed_in().await?;
    let state = request.page.state;
    let account = visitor.account.id;
    let page = query_number(request, "page").unwrap_or(1).max(1);
    let first = usize::try_from(page - 1).unwrap_or(usize::MAX).saturating_mul(PER_PAGE);
    let read = state.auth.blocking(move |service| {
        let store = service.store();
        let watches = store.watches(account)?;
        let total = watches.len();
        let shown = watches.into_iter().skip(first).take(PER_PAGE);
        let shown = shown.map(|watch| {
            let alerts = store.alerts(watch.id, None, NEWEST)?;
            let summary = |alert: &Alert| (alert.id.0, count_in_words(&watch, alert), alert.version);
            let alerts: Vec<_> = alerts.iter().map(summary).collect();
            Ok((watch, alerts))
        });
        let shown = shown.collect::<Result<Vec<_>, StoreError>>()?;
        Ok((total, shown, store.webhooks(account)?))
    });
    let (total, shown, webhooks) = read.await?;
    let catalog = state.releases.current();
    let row = |(watch, alerts): (Watch, Vec<_>)| SavedRow {
        conditions: conditions(&catalog, &watch),
        webhook: webhooks
            .iter()
            .find(|webhook| Some(webhook.id) == watch.webhook)
            .map_or_else(String::new, |webhook| host_of(&webhook.url).to_owned()),
        watch,
        alerts,
    };
    let description = "Your saved searches and lists, and what is new.";
    let page = SavedPage {
        layout: request.layout("Saved searches and lists", description),
        count: format!("{} of {}", format::number(total), format::number(visitor.account.tier.watches())),
        rows: shown.into_iter().map(row).collect(),
        pager: Pager::with_size(&Link::new(SAVED, Vec::new()), page, total as u64, PER_PAGE as u64),
        is_bundled: catalog.is_bundled(),
    };
    Ok(AccountReply::Page(StatusCode::OK, page.render()?))
}

fn query_number(request: AccountRequest<'_>, name: &str) -> Option<u64> {
    query_value(request, name)?.trim().parse().ok()
}

fn query_value(request: AccountRequest<'_>, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(request.page.query.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// A search or list of the account; one of another account is reported as unknown.
async fn own_watch(request: AccountRequest<'_>, visitor: &Visitor, id: WatchId) -> Result<Watch, AccountReply> {
    let watch = request.page.state.auth.blocking(move |service| service.store().watch(id)).await?;
    if watch.account == visitor.account.id { Ok(watch) } else { Err(PageError::UnknownPage.into()) }
}

/// Queues work that may search the catalog, and runs it when it is its turn.
async fn run_in_turn<T>(request: AccountRequest<'_>, work: impl FnOnce() -> T) -> Result<T, AccountReply> {
    request.page.state.work.run(work).await.map_err(|_| PageError::Overloaded.into())
}

/// The name of a search or list; the error is a message.
fn parse_name(form: &FormData) -> Result<KeyName, String> {
    form.text("name").parse().map_err(|_: ParseKeyNameError| {
        "invalid name; use 1 to 100 visible characters on one line, and not an API key".to_owned()
    })
}
