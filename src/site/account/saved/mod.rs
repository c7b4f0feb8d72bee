//! Saved searches and lists: their alerts, and where alerts are sent.

mod list;
mod one;
mod search;
pub(crate) mod view;
pub(super) mod webhooks;

pub(crate) use webhooks::WebhookRoute;

use askama::Template;
use http::StatusCode;

use crate::account::form::FormData;
use crate::account::saved::view::{AlertSummary, conditions, host_of};
use crate::account::{AccountReply, AccountRequest};
use crate::browse::Pager;
use crate::error_page::PageError;
use crate::format;
use crate::layout::PageLayout;
use auth::account::{KeyName, ParseKeyNameError};
use auth::watch::{Watch, WatchId};
use auth::{StoreError, Visitor};

/// Searches and lists per page.
const PER_PAGE: usize = 25;
/// Alerts of each search or list named in the overview.
const NEWEST: u32 = 3;

const SAVED: &str = "/account/saved";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SavedRoute {
    /// All searches and lists of the account; a form saves a search.
    All,
    NewSearch,
    NewList,
    One(WatchId, Action),
}

/// An action on a search or list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Show,
    Rename,
    /// Chooses where alerts are sent.
    Notify,
    /// Gives the feed another address.
    RenewFeed,
    /// Adds records to a list.
    Add,
    Remove,
    Download,
    Delete,
}

impl SavedRoute {
    /// Path segment after the id, label of the path, and action.
    const ACTIONS: [(&str, &str, Action); 8] = [
        ("", "/account/saved/{id}", Action::Show),
        ("name", "/account/saved/{id}/name", Action::Rename),
        ("notify", "/account/saved/{id}/notify", Action::Notify),
        ("feed", "/account/saved/{id}/feed", Action::RenewFeed),
        ("add", "/account/saved/{id}/add", Action::Add),
        ("remove", "/account/saved/{id}/remove", Action::Remove),
        ("records.csv", "/account/saved/{id}/records.csv", Action::Download),
        ("delete", "/account/saved/{id}/delete", Action::Delete),
    ];

    pub(super) fn parse(path: &str) -> Option<Self> {
        match path.strip_prefix(SAVED)? {
            "" => Some(Self::All),
            "/new" => Some(Self::NewSearch),
            "/list" => Some(Self::NewList),
            rest => {
                let (id, name) = split_number(rest)?;
                let (.., action) = Self::ACTIONS.into_iter().find(|(known, ..)| *known == name)?;
                Some(Self::One(WatchId(id), action))
            }
        }
    }

    pub(super) fn label(self) -> &'static str {
        match self {
            Self::All => SAVED,
            Self::NewSearch => "/account/saved/new",
            Self::NewList => "/account/saved/list",
            Self::One(_, action) => {
                let known = Self::ACTIONS.into_iter().find(|(.., known)| *known == action);
                known.map_or(SAVED, |(_, label, _)| label)
            }
        }
    }

    pub(super) fn is_read(self) -> bool {
        matches!(self, Self::All | Self::NewSearch | Self::NewList | Self::One(_, Action::Show | Action::Download))
    }

    pub(super) fn takes_forms(self) -> bool {
        !matches!(self, Self::NewSearch | Self::One(_, Action::Show | Action::Download))
    }

    pub(super) fn takes_files(self) -> bool {
        matches!(self, Self::NewList | Self::One(_, Action::Add | Action::Remove))
    }
}

/// Splits `/7/name` into the number and the rest.
fn split_number(rest: &str) -> Option<(i64, &str)> {
    let rest = rest.strip_prefix('/')?;
    let (number, name) = rest.split_once('/').unwrap_or((rest, ""));
    let id = number.parse().ok().filter(|id: &i64| id.to_string() == number)?;
    (!(name.is_empty() && rest.ends_with('/'))).then_some((id, name))
}

pub(super) async fn get_page(route: SavedRoute, request: AccountRequest<'_>) -> Result<AccountReply, AccountReply> {
    match route {
        SavedRoute::All => page(request).await,
        SavedRoute::NewSearch => search::page(request).await,
        SavedRoute::NewList => list::page(request).await,
        SavedRoute::One(id, Action::Download) => one::download(request, id).await,
        SavedRoute::One(id, _) => one::page(request, id).await,
    }
}

pub(super) async fn post_form(
    route: SavedRoute,
    request: AccountRequest<'_>,
    form: &FormData,
) -> Result<AccountReply, AccountReply> {
    match route {
        SavedRoute::All => search::save(request, form).await,
        SavedRoute::NewList => list::send(request, None, form).await,
        SavedRoute::One(id, Action::Add) => list::send(request, Some(id), form).await,
        SavedRoute::One(id, action) => one::post_form(request, id, action, form).await,
        SavedRoute::NewSearch => Err(PageError::UnknownPage.into()),
    }
}

#[derive(Template)]
#[template(path = "saved.html")]
struct SavedPage {
    layout: PageLayout,
    /// Such as `3 of 20`.
    count: String,
    rows: Vec<SavedRow>,
    pager: Pager,
    /// True if no release is published, so that there can be no alerts.
    is_bundled: bool,
}

struct SavedRow {
    id: i64,
    name: String,
    conditions: String,
    evaluated: String,
    problem: String,
    emails: bool,
    /// Host of its webhook; empty if it has none.
    webhook: String,
    alerts: Vec<AlertSummary>,
}

/// `GET /account/saved`.
async fn page(request: AccountRequest<'_>) -> Result<AccountReply, AccountReply> {
    let visitor = request.signed_in().await?;
    let state = request.page.state;
    let account = visitor.account.id;
    let page = query_number(request, "page").unwrap_or(1).max(1);
    let first = usize::try_from(page - 1).unwrap_or(usize::MAX).saturating_mul(PER_PAGE);
    let read = state.auth.blocking(move |service| {
        let store = service.store().watch_store();
        let watches = store.watches(account)?;
        let total = watches.len();
        let shown = watches.into_iter().skip(first).take(PER_PAGE);
        let shown = shown.map(|watch| {
            let alerts = store.alerts(watch.id, None, NEWEST)?;
            let alerts: Vec<AlertSummary> = alerts.iter().map(|alert| AlertSummary::new(&watch, alert)).collect();
            Ok((watch, alerts))
        });
        let shown = shown.collect::<Result<Vec<_>, StoreError>>()?;
        Ok((total, shown, store.webhooks(account)?))
    });
    let (total, shown, webhooks) = read.await?;
    let catalog = state.releases.current();
    let row = |(watch, alerts): (Watch, Vec<AlertSummary>)| SavedRow {
        id: watch.id.0,
        conditions: conditions(&catalog, &watch),
        evaluated: watch.evaluated.to_string(),
        problem: watch.problem.unwrap_or_default(),
        emails: watch.emails,
        webhook: webhooks
            .iter()
            .find(|webhook| Some(webhook.id) == watch.webhook)
            .map_or_else(String::new, |webhook| host_of(&webhook.url).to_owned()),
        name: watch.name.as_str().to_owned(),
        alerts,
    };
    let description = "Your saved searches and lists, and what is new.";
    let page = SavedPage {
        layout: request.layout(catalog.snapshot(), "Saved searches and lists", description),
        count: format!("{} of {}", format::number(total), format::number(visitor.account.tier.watches())),
        rows: shown.into_iter().map(row).collect(),
        pager: pager(SAVED, "page", page, total, PER_PAGE),
        is_bundled: catalog.is_bundled(),
    };
    Ok(AccountReply::Page(StatusCode::OK, page.render()?))
}

/// A numeric parameter of the page's query.
fn query_number(request: AccountRequest<'_>, name: &str) -> Option<u64> {
    query_value(request, name)?.trim().parse().ok()
}

fn query_value(request: AccountRequest<'_>, name: &str) -> Option<String> {
    let mut pairs = form_urlencoded::parse(request.page.query.as_bytes());
    pairs.find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// The pager for `total` rows.
fn pager(path: &str, name: &str, page: u64, total: usize, per_page: usize) -> Pager {
    let pages = total.div_ceil(per_page) as u64;
    let at = |page: u64| if page > 1 { format!("{path}?{name}={page}") } else { path.to_owned() };
    let previous = (page > 1).then(|| at((page - 1).min(pages.max(1))));
    let fields = Vec::new();
    Pager {
        page,
        pages,
        previous,
        next: (page < pages).then(|| at(page + 1)),
        path: path.to_owned(),
        name: name.to_owned(),
        fields,
    }
}

/// A search or list of the account; one of another account is reported as unknown.
async fn own_watch(request: AccountRequest<'_>, visitor: &Visitor, id: WatchId) -> Result<Watch, AccountReply> {
    let watch = request.page.state.auth.blocking(move |service| service.store().watch_store().watch(id)).await?;
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
