//! The account page: keys, usage, password, deletion.

use askama::Template;

use crate::account::keys::{SelectOption, last_used_of, lifetimes};
use crate::account::sign::{form_error, form_status};
use crate::account::{AccountReply, AccountRequest, AccountResult, cookie};
use crate::error_page::sentence;
use crate::layout::PageLayout;
use auth::account::{Account, KeyRecord};
use auth::password::{MAX_LENGTH, MIN_LENGTH, Password, Secret};
use auth::quota::Quota;
use auth::session::{ListedSession, SessionId};
use auth::{AccountUsage, KeyUsage, USAGE_DAYS, Visitor};
use data::Date;
use view::charts::{Bars, ChartHead, ChartItem, ChartUnit};
use view::format;

/// Days in the chart, including today.
pub(crate) const DAYS: u16 = 30;

#[derive(Default)]
pub(crate) struct AccountMessages {
    key_error: String,
    password_error: String,
    success: &'static str,
}

impl AccountMessages {
    pub(crate) fn key_error(message: &str) -> Self {
        Self { key_error: sentence(message), ..Self::default() }
    }

    fn password_error(message: &str) -> Self {
        Self { password_error: sentence(message), ..Self::default() }
    }
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage<'a> {
    layout: PageLayout,
    account: &'a Account,
    tier: &'static str,
    limit: String,
    max_keys: String,
    key_count: String,
    may_add: bool,
    keys: Vec<KeyUsageRow>,
    /// Revoked or expired.
    ended: Vec<KeyUsageRow>,
    resets_at: String,
    resets_in: String,
    chart: Bars,
    /// Requests per day by key; the last column is the sum of other keys if `has_others`.
    days: Vec<(String, Vec<u64>)>,
    has_others: bool,
    /// Id, start, last use; true for this one. Newest first.
    sessions: Vec<(i64, String, String, bool)>,
    lifetimes: Vec<SelectOption>,
    needs_verification: bool,
    takes_reviews: bool,
    /// Start date of two-step sign-in; empty if it is off.
    totp_enabled: String,
    messages: AccountMessages,
}

pub(crate) struct KeyUsageRow {
    pub(crate) record: KeyRecord,
    pub(crate) created: String,
    /// Day of the first request; empty if there was none.
    pub(crate) first_used: String,
    pub(crate) last_used: String,
    /// Expiry time; empty if the key does not expire.
    pub(crate) expires: String,
    /// True if a successor was created that is accepted as well.
    pub(crate) is_rotated: bool,
    pub(crate) used: String,
    /// Remaining requests today, in words; empty if unlimited.
    pub(crate) left: String,
    pub(crate) total: u64,
    pub(crate) sparkline: Bars,
}

#[derive(Template)]
#[template(path = "delete_account.html")]
struct DeletePage {
    layout: PageLayout,
    email: String,
    error: String,
}

impl KeyUsageRow {
    /// The rows of active keys, and of those that were revoked or have expired. `year` is the usage of all stored days.
    pub(crate) fn all(usage: &AccountUsage, year: &AccountUsage, now: i64) -> (Vec<Self>, Vec<Self>) {
        let (active, ended): (Vec<&KeyUsage>, Vec<&KeyUsage>) =
            usage.keys.iter().partition(|usage| usage.key.is_active(now));
        let is_successor = |other: &KeyRecord, key: &KeyRecord| other.counter == key.counter && other.id > key.id;
        let is_rotated = |key: &KeyRecord| active.iter().any(|other| is_successor(&other.key, key));
        let rows = active.iter().map(|usage| Self::new(usage, is_rotated(&usage.key), year)).collect();
        (rows, ended.into_iter().map(|usage| Self::new(usage, false, year)).collect())
    }

    fn new(usage: &KeyUsage, is_rotated: bool, year: &AccountUsage) -> Self {
        let key = &usage.key;
        let first_used = year.first_day(key.id).map_or_else(String::new, format::day);
        let counts: Vec<u64> = usage.requests.iter().copied().map(u64::from).collect();
        Self {
            record: key.clone(),
            created: format::day_of(key.created_at),
            last_used: last_used_of(key, !first_used.is_empty()),
            first_used,
            expires: key.expires_at.map_or_else(String::new, format::instant),
            is_rotated,
            used: format::number(usage.today.used),
            left: usage.today.remaining.map_or_else(String::new, |left| format!("{} left", format::number(left))),
            total: counts.iter().sum(),
            sparkline: Bars::spark(&counts),
        }
    }
}

pub(crate) async fn page(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    show(request, &visitor, AccountMessages::default()).await
}

pub(crate) async fn show(request: AccountRequest<'_>, visitor: &Visitor, messages: AccountMessages) -> AccountResult {
    let state = request.page.state;
    let status = form_status(&[messages.key_error.as_str(), &messages.password_error].concat());
    let usage = state.auth.usage(visitor.account.id, DAYS, request.now).await?;
    let year = state.auth.usage(visitor.account.id, USAGE_DAYS as u16, request.now).await?;
    let (account, now) = (visitor.account.id, request.now);
    let sessions = state.auth.blocking(move |auth| auth.store().sessions(account, now)).await?;
    let session_row = |session: &ListedSession| {
        let [created, last_used] = [session.created_at, session.last_used_at].map(format::instant);
        (session.id.0, created, last_used, session.digest == visitor.session)
    };
    let tier = visitor.account.tier;
    let limits = request.auth.tiers().of(tier);
    let (keys, ended) = KeyUsageRow::all(&usage, &year, request.now);
    // A rotated key and its successor count as one.
    let counted = keys.iter().filter(|key| !key.is_rotated).count();
    let counted = u32::try_from(counted).expect("an account has fewer than 2^32 keys");
    let unlimited = |limit: Option<u32>| limit.map_or_else(|| "unlimited".to_owned(), format::number);
    let today = Quota::zero(Date::from_unix(request.now));
    let left = today.seconds_left(request.now);
    let page = AccountPage {
        layout: PageLayout { path: "/account".to_owned(), ..request.layout("Account", "Your keys and their usage.") },
        account: &visitor.account,
        tier: tier.name(),
        limit: unlimited(limits.requests),
        max_keys: unlimited(limits.keys),
        key_count: limits.keys.map_or_else(|| counted.to_string(), |max| format!("{counted} of {max}")),
        may_add: limits.keys.is_none_or(|max| counted < max),
        keys,
        ended,
        resets_at: format::instant(today.resets_at),
        resets_in: format!("{} h {} min", left / 3_600, left / 60 % 60),
        chart: chart(&usage),
        days: days(&usage, request.now),
        has_others: has_others(&usage),
        sessions: sessions.iter().map(session_row).collect(),
        lifetimes: lifetimes(None),
        needs_verification: visitor.account.verified_at.is_none() && state.auth.sends_mail(),
        takes_reviews: state.operator.takes_reviews(),
        totp_enabled: visitor.account.totp_enabled_at.map_or_else(String::new, format::day_of),
        messages,
    };
    Ok(AccountReply::Page(status, page.render()?))
}

pub(crate) fn chart(usage: &AccountUsage) -> Bars {
    requests_chart(format!("Requests of all keys in the last {DAYS} days"), usage.days.iter().zip(usage.totals()))
}

pub(crate) fn requests_chart<'d>(title: String, days: impl Iterator<Item = (&'d Date, u64)>) -> Bars {
    let items: Vec<ChartItem> = days.map(|(day, count)| ChartItem::new(format::short_day(day), Some(count))).collect();
    let sum = items.iter().filter_map(|item| item.value).sum::<u64>();
    let summary = format!("{} in {DAYS} days.", format::counted(sum, "request", "requests"));
    let head = ChartHead::new("usage", title, summary);
    Bars::new(head, ["Day (UTC)", "Requests"], ChartUnit::Count("request", "requests"), items)
}

fn has_others(usage: &AccountUsage) -> bool {
    usage.others.iter().any(|requests| *requests > 0)
}

fn days(usage: &AccountUsage, now: i64) -> Vec<(String, Vec<u64>)> {
    let of_day = |(index, day): (usize, &Date)| {
        let active = usage.keys.iter().filter(|key| key.key.is_active(now));
        let ended = usage.keys.iter().filter(|key| !key.key.is_active(now));
        let counts = active.chain(ended).map(|key| u64::from(key.requests[index]));
        let others = has_others(usage).then(|| usage.others[index]);
        (format::day(day), counts.chain(others).collect())
    };
    usage.days.iter().enumerate().rev().map(of_day).collect()
}

/// `POST /account/password`: changes the password, ends all sessions, and starts another one.
pub(crate) async fn change_password(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let new = match Password::new(&request.form.secret("new"), &visitor.account.email) {
        Ok(new) => new,
        Err(weak) => return show(request, &visitor, AccountMessages::password_error(&weak.to_string())).await,
    };
    let current = Secret::new(&request.form.secret("current"));
    match request.auth.change_password(&visitor, current, new, request.now).await {
        Ok(started) => {
            let success = "Your password is changed, and all other sessions are ended.";
            let (session, expires_at) = (started.token.digest(), started.expires_at);
            let visitor = Visitor { session, authenticated_at: request.now, expires_at, ..visitor };
            let messages = AccountMessages { success, ..AccountMessages::default() };
            Ok(match show(request, &visitor, messages).await? {
                AccountReply::Page(_, html) => {
                    AccountReply::PageWithCookies(html, cookie::session_cookies(request.page.state, &started))
                }
                other => other,
            })
        }
        Err(error) => show(request, &visitor, AccountMessages::password_error(&form_error(error)?)).await,
    }
}

/// `POST /account/sessions/{id}/end`: ends a session of the account; no effect if there is no such session.
pub(crate) async fn end_session(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    request.auth.end_session(visitor.account.id, SessionId(request.id)).await?;
    Ok(AccountReply::Redirect("/account".into(), Vec::new()))
}

pub(crate) async fn confirm_deletion(request: AccountRequest<'_>, visitor: Visitor, error: &str) -> AccountResult {
    let page = DeletePage {
        layout: request.layout("Delete your account", "Delete your account and revoke its keys."),
        email: visitor.account.email.to_string(),
        error: sentence(error),
    };
    Ok(AccountReply::Page(form_status(error), page.render()?))
}

pub(crate) async fn delete(request: AccountRequest<'_>, visitor: Visitor) -> AccountResult {
    let password = Secret::new(&request.form.secret("password"));
    match request.auth.delete_account(&visitor, password, request.now).await {
        Ok(()) => Ok(AccountReply::SignedOut(cookie::remove(request.page.state, &[cookie::SESSION, cookie::BROWSER]))),
        Err(error) => confirm_deletion(request, visitor, &form_error(error)?).await,
    }
}
