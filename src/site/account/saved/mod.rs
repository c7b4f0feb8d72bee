//! Saved searches and lists: their alerts, and where alerts are sent.

mod list;
mod one;
mod search;
mod webhooks;
pub(crate) mod wording;

use askama::Template;

use crate::account::saved::wording::{conditions, count_in_words, host_of};
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::browse::Pager;
use crate::error_page::PageError;
use crate::layout::PageLayout;
use crate::routes::{PageRow, account_page};
use auth::account::{KeyName, ParseKeyNameError};
use auth::quota::WorkCaller;
use auth::watch::{Alert, Watch, WatchId};
use auth::{StoreError, Visitor};
use data::SnapshotVersion;
use service::alerts::save::NOT_A_NAME;
use view::format;
use view::link::Link;

const PER_PAGE: usize = 25;
/// Alerts of each search or list named in the overview.
const NEWEST: u32 = 3;

const SAVED: &str = "/account/saved";
const WEBHOOKS: &str = "/account/webhooks";

pub(super) const PAGES: &[PageRow] = &[
    account_page(SAVED).get(signed_in!(page)).post(signed_in!(search::save)),
    account_page("/account/saved/new").get(handler!(search::page)),
    account_page("/account/saved/list").get(handler!(list::page)).post(signed_in!(list::send, false)).takes_files(),
    account_page("/account/saved/{id}").get(signed_in!(one::page)),
    account_page("/account/saved/{id}/name").post(signed_in!(one::rename)),
    account_page("/account/saved/{id}/notify").post(signed_in!(one::notify)),
    account_page("/account/saved/{id}/feed").post(signed_in!(one::renew_feed)),
    account_page("/account/saved/{id}/add").post(signed_in!(list::send, true)).takes_files(),
    account_page("/account/saved/{id}/remove").post(signed_in!(one::remove)).takes_files(),
    account_page("/account/saved/{id}/records.csv").get(signed_in!(one::download)),
    account_page("/account/saved/{id}/delete").post(signed_in!(one::delete)),
    account_page(WEBHOOKS).get(signed_in!(webhooks::page)).post(signed_in!(webhooks::add)),
    account_page("/account/webhooks/{id}/secret").post(signed_in!(webhooks::reveal)),
    account_page("/account/webhooks/{id}/rotate").post(signed_in!(webhooks::rotate)),
    account_page("/account/webhooks/{id}/resume").post(signed_in!(webhooks::resume)),
    account_page("/account/webhooks/{id}/test").post(signed_in!(webhooks::test)),
    account_page("/account/webhooks/{id}/delete").post(signed_in!(webhooks::delete)),
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

async fn page(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
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
    AccountReply::shown(&SavedPage {
        layout: request.layout("Saved searches and lists", description),
        count: format!("{} of {}", format::number(total), format::number(visitor.account.tier.watches())),
        rows: shown.into_iter().map(row).collect(),
        pager: Pager::with_size(&Link::new(SAVED, Vec::new()), page, total as u64, PER_PAGE as u64),
        is_bundled: catalog.is_bundled(),
    })
}

fn query_number(request: AccountRequest<'_>, name: &str) -> Option<u64> {
    request.page.parameter(name)?.trim().parse().ok()
}

/// The search or list in the path; one of another account is reported as unknown.
async fn own_watch(request: AccountRequest<'_>, visitor: &Visitor) -> Result<Watch, AccountReply> {
    let id = WatchId(request.id);
    let watch = request.auth.blocking(move |service| service.store().watch(id)).await?;
    if watch.account == visitor.account.id { Ok(watch) } else { Err(PageError::UnknownPage.into()) }
}

/// Queues work that may search the catalog, and runs it when it is its turn.
pub(super) async fn run_in_turn<T>(request: AccountRequest<'_>, work: impl FnOnce() -> T) -> Result<T, AccountReply> {
    let (caller, meter) = (WorkCaller::Address(request.address), request.page.trace.work());
    request.page.state.work.run(caller, meter, work).await.map_err(|_| PageError::Overloaded.into())
}

/// The name of a search or list; the error is a message.
fn parse_name(request: AccountRequest<'_>) -> Result<KeyName, String> {
    request.form.text("name").parse().map_err(|_: ParseKeyNameError| NOT_A_NAME.to_owned())
}
