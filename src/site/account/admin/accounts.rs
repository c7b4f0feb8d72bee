//! The list of accounts, searchable by e-mail address, and the page of one account with its keys.

use askama::Template;

use crate::account::admin::confirmed;
use crate::account::overview::{DAYS, KeyUsageRow, chart};
use crate::account::sign::form_status;
use crate::account::{AccountReply, AccountRequest, AccountResult};
use crate::browse::{PER_PAGE, Pager, read_page};
use crate::error_page::{PageError, sentence};
use crate::layout::PageLayout;
use auth::account::{Account, AccountId, KeyId};
use auth::quota::Tier;
use auth::{AccountError, StoreError, USAGE_DAYS};
use service::ReviewAccess;
use view::charts::Bars;
use view::format;
use view::link::Link;

#[derive(Template)]
#[template(path = "admin_accounts.html")]
struct AccountsPage {
    layout: PageLayout,
    q: String,
    total: u32,
    /// Each with the day of its creation, and its requests in the chart.
    rows: Vec<(Account, String, u64)>,
    pager: Pager,
}

#[derive(Template)]
#[template(path = "admin_account.html")]
struct AdminAccountPage {
    layout: PageLayout,
    account: Account,
    created: String,
    /// Empty if it is unverified.
    verified: String,
    totp: String,
    /// Empty if it is not blocked.
    blocked: String,
    /// True if reviews are by invitation, so that an operator decides who writes them.
    invites_reviewers: bool,
    tiers: Vec<(&'static str, bool)>,
    chart: Bars,
    keys: Vec<KeyUsageRow>,
    ended: Vec<KeyUsageRow>,
    error: String,
}

/// `GET /admin/accounts`: accounts with `q` in their e-mail address.
pub(super) async fn list(request: AccountRequest<'_>) -> AccountResult {
    let (_, page) = read_page(request.page.query);
    let q = request.page.parameter("q").unwrap_or_default().trim().to_owned();
    let start = u32::try_from((page - 1).saturating_mul(PER_PAGE)).unwrap_or(u32::MAX);
    let (total, accounts) = request.auth.find_accounts(&q, start, PER_PAGE as u32).await?;
    let usage = request.auth.service_usage(DAYS, request.now).await?.accounts;
    let row = |account: Account| {
        let requests = usage.iter().find(|(id, _)| *id == account.id).map_or(0, |(_, requests)| *requests);
        let created = format::day_of(account.created_at);
        (account, created, requests)
    };
    let link = Link::new("/admin/accounts", Vec::new()).with("q", &q);
    AccountReply::shown(&AccountsPage {
        layout: request.layout("Accounts", "All accounts."),
        q,
        total,
        rows: accounts.into_iter().map(row).collect(),
        pager: Pager::new(&link, page, total.into()),
    })
}

async fn load_account(request: AccountRequest<'_>) -> Result<Account, AccountReply> {
    let found = request.auth.find_account(AccountId(request.id)).await?;
    found.ok_or(PageError::UnknownPage.into())
}

/// `GET /admin/accounts/{id}`; `error` is the reason for which a change was refused.
pub(super) async fn page(request: AccountRequest<'_>, error: &str) -> AccountResult {
    let account = load_account(request).await?;
    let usage = request.auth.usage(account.id, DAYS, request.now).await?;
    let year = request.auth.usage(account.id, USAGE_DAYS as u16, request.now).await?;
    let (keys, ended) = KeyUsageRow::all(&usage, &year, request.now);
    let layout = request.layout("Account", "An account with its keys.");
    let page = AdminAccountPage {
        layout: PageLayout { path: path_of(account.id), ..layout },
        created: format::day_of(account.created_at),
        verified: account.verified_at.map_or_else(String::new, format::day_of),
        totp: account.totp_enabled_at.map_or_else(String::new, format::day_of),
        blocked: account.blocked_at.map_or_else(String::new, format::day_of),
        invites_reviewers: request.page.state.operator.reviews == ReviewAccess::Invite,
        tiers: Tier::ALL.iter().map(|tier| (tier.name(), *tier == account.tier)).collect(),
        chart: chart(&usage),
        keys,
        ended,
        error: sentence(error),
        account,
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

fn path_of(account: AccountId) -> String {
    format!("/admin/accounts/{}", account.0)
}

fn back_to_account(account: AccountId) -> AccountResult {
    Ok(AccountReply::Redirect(path_of(account).into(), Vec::new()))
}

/// `POST /admin/accounts/{id}/tier`. As with the command, only a verified account can change its tier.
pub(super) async fn set_tier(request: AccountRequest<'_>) -> AccountResult {
    let operator = confirmed(request, "change the tier", &["tier"]).await?;
    let changed = load_account(request).await?;
    let Ok(tier) = request.form.text("tier").parse::<Tier>() else {
        return page(request, "choose one of the tiers").await;
    };
    if changed.verified_at.is_none() {
        let error = "the account is unverified: anybody could have signed up with this address; verify it first";
        return page(request, error).await;
    }
    match request.auth.set_tier_for(operator, &changed, tier).await {
        Ok(()) => back_to_account(changed.id),
        Err(AccountError::Store(error @ StoreError::TooManyKeys { .. })) => page(request, &error.to_string()).await,
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn verify(request: AccountRequest<'_>) -> AccountResult {
    let operator = confirmed(request, "verify the account", &[]).await?;
    let account = load_account(request).await?.id;
    request.auth.verify_for(operator, account, request.now).await?;
    back_to_account(account)
}

/// `POST /admin/accounts/{id}/reviewer`: lets the account review firms where that is by invitation, or no longer.
pub(super) async fn set_reviewer(request: AccountRequest<'_>) -> AccountResult {
    let operator = confirmed(request, "change who writes reviews", &["reviewer"]).await?;
    let account = load_account(request).await?.id;
    let is_reviewer = request.form.text("reviewer") == "1";
    request.auth.set_reviewer_for(operator, account, is_reviewer).await?;
    back_to_account(account)
}

/// `POST /admin/accounts/{id}/block` and `/unblock`. Operators cannot lock themselves out.
pub(super) async fn set_blocked(request: AccountRequest<'_>, is_blocked: bool) -> AccountResult {
    let purpose = if is_blocked { "block the account" } else { "unblock the account" };
    let operator = confirmed(request, purpose, &[]).await?;
    let account = load_account(request).await?.id;
    if is_blocked && account == operator {
        let error =
            "this is your own account; another operator, or the command `venturedex account block`, can block it";
        return page(request, error).await;
    }
    request.auth.set_blocked_for(operator, account, is_blocked, request.now).await?;
    back_to_account(account)
}

pub(super) async fn revoke_key(request: AccountRequest<'_>) -> AccountResult {
    let operator = confirmed(request, "revoke the key", &[]).await?;
    let account = load_account(request).await?.id;
    request.auth.revoke_key(account, KeyId(request.key), Some(operator), request.now).await?;
    back_to_account(account)
}
