//! The account's page: its keys, their usage, its password, its end.

use askama::Template;
use http::StatusCode;

use crate::auth::password::{MAX_LENGTH, MIN_LENGTH, Password, Secret};
use crate::auth::{AccountUsage, KeyUsage, Visitor};
use crate::data::Date;
use crate::quota::Quota;
use crate::site::charts::{BarChart, Sparkline};
use crate::site::error_page::sentence;
use crate::site::format;
use crate::site::layout::PageLayout;

use crate::site::account::form::FormData;
use crate::site::account::sign::mendable;
use crate::site::account::{AccountRequest, Reply, cookie};

/// Days of the chart, today included.
const DAYS: u16 = 30;

/// What the forms of the page answer: what is wrong, or that it is done.
#[derive(Default)]
pub(crate) struct AccountNotes {
    /// Beside the form for a new key.
    pub key: String,
    /// Beside the form for a new password.
    pub password: String,
    /// At the top.
    pub done: &'static str,
}

#[derive(Template)]
#[template(path = "account.html")]
struct AccountPage {
    frame: PageLayout,
    email: String,
    tier: &'static str,
    limit: String,
    allowed: String,
    active: u32,
    may_add: bool,
    keys: Vec<KeyRow>,
    revoked: Vec<KeyRow>,
    resets_at: String,
    resets_in: String,
    chart: BarChart,
    /// The days with the requests of each key, for those who want the numbers.
    days: Vec<(String, Vec<u32>)>,
    notes: AccountNotes,
    shortest: usize,
    longest: usize,
}

struct KeyRow {
    id: i64,
    name: String,
    shown: String,
    created: String,
    last_used: String,
    used: String,
    /// What is left today, in words.
    left: String,
    sum: u64,
    spark: Sparkline,
}

#[derive(Template)]
#[template(path = "delete_account.html")]
struct DeletePage {
    frame: PageLayout,
    email: String,
    wrong: String,
}

impl KeyRow {
    fn new(usage: &KeyUsage) -> Self {
        let key = &usage.key;
        let counts: Vec<u64> = usage.requests.iter().copied().map(u64::from).collect();
        Self {
            id: key.id.0,
            name: key.name.clone(),
            shown: key.masked.to_string(),
            created: format::day_of(key.created_at),
            last_used: key.last_used_at.map_or_else(|| "never".to_owned(), format::instant),
            used: format::number(usage.today.used),
            left: usage.today.remaining.map_or_else(String::new, |left| format!("{} left", format::number(left))),
            sum: counts.iter().sum(),
            spark: Sparkline::new(&counts),
        }
    }
}

/// `GET /account`.
pub(crate) async fn page(asked: AccountRequest<'_>) -> Result<Reply, Reply> {
    let visitor = asked.signed_in().await?;
    show(asked, &visitor, StatusCode::OK, AccountNotes::default()).await
}

/// The page with what a form of it answers.
pub(crate) async fn show(
    asked: AccountRequest<'_>,
    visitor: &Visitor,
    status: StatusCode,
    notes: AccountNotes,
) -> Result<Reply, Reply> {
    let state = asked.visit.state;
    let usage = state.access.usage(visitor.account.id, DAYS, asked.now).await?;
    let catalog = state.live.current();
    let tier = visitor.account.tier;
    let is_active = |usage: &&KeyUsage| usage.key.revoked_at.is_none();
    let keys: Vec<KeyRow> = usage.keys.iter().filter(is_active).map(KeyRow::new).collect();
    let active = u32::try_from(keys.len()).unwrap_or(u32::MAX);
    let unlimited = |limit: Option<u32>| limit.map_or_else(|| "unlimited".to_owned(), format::number);
    let today = Quota::zero(Date::from_unix(asked.now));
    let left = today.seconds_left(asked.now);
    let page = AccountPage {
        frame: PageLayout {
            path: "/account".to_owned(),
            ..asked.frame(catalog.snapshot(), "Account", "Your keys and their usage.")
        },
        email: visitor.account.email.to_string(),
        tier: tier.name(),
        limit: unlimited(tier.daily_limit()),
        allowed: unlimited(tier.keys()),
        active,
        may_add: tier.keys().is_none_or(|most| active < most),
        keys,
        revoked: usage.keys.iter().filter(|usage| !is_active(usage)).map(KeyRow::new).collect(),
        resets_at: format::instant(today.resets_at),
        resets_in: format!("{} h {} min", left / 3_600, left / 60 % 60),
        chart: chart(&usage),
        days: days(&usage),
        notes,
        shortest: MIN_LENGTH,
        longest: MAX_LENGTH,
    };
    Ok(Reply::Page(status, page.render()?))
}

fn chart(usage: &AccountUsage) -> BarChart {
    let totals = usage.totals();
    let label = |day: &crate::data::Date| format::short_day(&day.to_string());
    let values: Vec<(String, u64)> = usage.days.iter().map(label).zip(totals.iter().copied()).collect();
    let sum: u64 = totals.iter().sum();
    let summary = format!("{} in {DAYS} days.", format::counted(sum, "request", "requests"));
    BarChart::new("Requests of all keys in the last 30 days", summary, ("Day (UTC)", "Requests"), &values)
}

fn days(usage: &AccountUsage) -> Vec<(String, Vec<u32>)> {
    let of_day = |(place, day): (usize, &Date)| {
        let active = usage.keys.iter().filter(|key| key.key.revoked_at.is_none());
        let revoked = usage.keys.iter().filter(|key| key.key.revoked_at.is_some());
        let counts = active.chain(revoked).map(|key| key.requests.get(place).copied().unwrap_or(0));
        (format::day(&day.to_string()), counts.collect())
    };
    usage.days.iter().enumerate().rev().map(of_day).collect()
}

/// `POST /account/password`: another password; all other sessions end.
pub(crate) async fn change_password(asked: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let visitor = asked.signed_in().await?;
    let wrong = |wrong: &str| AccountNotes { password: sentence(wrong), ..AccountNotes::default() };
    let new = match Password::new(&form.text("new"), &visitor.account.email) {
        Ok(new) => new,
        Err(weak) => return show(asked, &visitor, StatusCode::UNPROCESSABLE_ENTITY, wrong(&weak.to_string())).await,
    };
    let current = Secret::new(&form.text("current"));
    let access = &asked.visit.state.access;
    match access.change_password(&visitor, current, new, asked.address, asked.now).await {
        Ok(()) => {
            let done = "Your password is changed, and all other sessions are ended.";
            show(asked, &visitor, StatusCode::OK, AccountNotes { done, ..AccountNotes::default() }).await
        }
        Err(error) => {
            let (status, text) = mendable(error)?;
            show(asked, &visitor, status, wrong(&text)).await
        }
    }
}

/// `GET /account/delete`: asks whether it is meant.
pub(crate) async fn delete_page(asked: AccountRequest<'_>) -> Result<Reply, Reply> {
    let visitor = asked.signed_in().await?;
    ask_again(asked, &visitor, StatusCode::OK, String::new())
}

fn ask_again(asked: AccountRequest<'_>, visitor: &Visitor, status: StatusCode, wrong: String) -> Result<Reply, Reply> {
    let catalog = asked.visit.state.live.current();
    let page = DeletePage {
        frame: asked.frame(catalog.snapshot(), "Delete your account", "Deletes the account and revokes its keys."),
        email: visitor.account.email.to_string(),
        wrong,
    };
    Ok(Reply::Page(status, page.render()?))
}

/// `POST /account/delete`: the account is gone, its keys are refused.
pub(crate) async fn delete(asked: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    let visitor = asked.signed_in().await?;
    let password = Secret::new(&form.text("password"));
    match asked.visit.state.access.delete_account(&visitor, password, asked.address, asked.now).await {
        Ok(()) => Ok(Reply::To("/", Some(cookie::ended(asked.visit.state)))),
        Err(error) => {
            let (status, text) = mendable(error)?;
            ask_again(asked, &visitor, status, sentence(&text))
        }
    }
}
