//! Account pages: sign-up, sign-in, keys and usage, as forms that work without a script.
//!
//! Changes are made by POST from a page of this site ([`origin`]) with a session cookie. A key of another account is
//! reported as unknown, like one that does not exist. No response may be cached.

/// An [`AccountHandler`] of an async function, with further arguments if any are given.
macro_rules! handler {
    ($respond:expr $(, $argument:expr)*) => {
        |request| Box::pin($respond(request $(, $argument)*))
    };
}

/// As `handler`, with the [`Visitor`] as the second argument; redirects to the sign-in page if none is signed in.
macro_rules! signed_in {
    ($respond:expr $(, $argument:expr)*) => {
        |request| Box::pin(async move { $respond(request, request.signed_in().await? $(, $argument)*).await })
    };
}

mod admin;
mod confirm;
pub(super) mod cookie;
mod export;
pub(super) mod form;
mod keys;
mod mail;
mod origin;
mod overview;
mod reviews;
pub(super) mod saved;
mod sign;
mod theme;
mod totp;

use std::borrow::Cow;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use askama::Template;
use bytes::Bytes;
use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderValue, Response, StatusCode};

use crate::error_page::PageError;
use crate::layout::PageLayout;
use crate::routes::{PageRow, PathValues, account_page};
use crate::{PageRequest, redirect, respond};
use auth::{AccountError, AuthService, RetryAfter, StoreError, Visitor};
use transport::headers::{Caching, CommonHeaders, set};
use transport::negotiation::has_content_type;
use view::form_data::FormData;

pub(crate) type AccountHandler = for<'a> fn(AccountRequest<'a>) -> AccountFuture<'a>;
pub(crate) type AccountFuture<'a> = Pin<Box<dyn Future<Output = AccountResult> + Send + 'a>>;
/// The reply of a page; as an error, one that ends its work early.
pub(crate) type AccountResult = Result<AccountReply, AccountReply>;

const PAGES: &[PageRow] = &[
    account_page("/signup").get(handler!(sign::sign_up_page)).post(handler!(sign::sign_up)).open(),
    account_page("/signin").get(handler!(sign::sign_in_page)).post(handler!(sign::sign_in)).open(),
    account_page("/signin/code").post(handler!(sign::sign_in_with_code)).open(),
    account_page("/signin/link").get(handler!(mail::request_link_page)).post(handler!(mail::request_link)).open(),
    account_page("/signin/open").get(handler!(mail::open_page)).post(handler!(mail::open)).open(),
    account_page("/signout").post(handler!(sign::sign_out)).open(),
    account_page("/account").get(signed_in!(overview::page)),
    account_page("/account/keys").post(signed_in!(keys::create)),
    account_page("/account/keys/{id}").get(signed_in!(keys::key_page)),
    account_page("/account/keys/{id}/revoke").get(signed_in!(keys::revoke_page)).post(signed_in!(keys::revoke)),
    account_page("/account/keys/{id}/rotate").get(signed_in!(keys::show_rotation, "")).post(signed_in!(keys::rotate)),
    account_page("/account/usage.csv").get(signed_in!(export::usage)),
    account_page("/account/export.json").get(signed_in!(export::everything)),
    account_page("/account/sessions/{id}/end").post(signed_in!(overview::end_session)),
    account_page("/account/password").post(signed_in!(overview::change_password)),
    account_page("/account/totp").get(signed_in!(totp::page)),
    account_page("/account/totp/setup").post(signed_in!(totp::set_up)),
    account_page("/account/totp/enable").post(signed_in!(totp::enable)),
    account_page("/account/totp/disable").post(signed_in!(totp::disable)),
    account_page("/account/totp/codes").post(signed_in!(totp::renew_codes)),
    account_page("/account/verification").post(handler!(mail::send_verification)),
    account_page("/invitation")
        .get(handler!(mail::reset_page, &mail::INVITED))
        .post(handler!(mail::reset, &mail::INVITED))
        .open(),
    account_page("/verify").get(handler!(mail::verify_page)).post(handler!(mail::verify)).open(),
    account_page("/reset").get(handler!(mail::request_reset_page)).post(handler!(mail::request_reset)).open(),
    account_page("/reset/password")
        .get(handler!(mail::reset_page, &mail::FORGOTTEN))
        .post(handler!(mail::reset, &mail::FORGOTTEN))
        .open(),
    account_page("/account/delete").get(signed_in!(overview::confirm_deletion, "")).post(signed_in!(overview::delete)),
    // The theme needs no account.
    account_page("/theme").post(handler!(theme::choose)).open(),
];

pub(crate) fn pages() -> impl Iterator<Item = &'static PageRow> {
    PAGES.iter().chain(saved::PAGES).chain(reviews::PAGES).chain(admin::PAGES)
}

pub(crate) enum AccountReply {
    Page(StatusCode, String),
    PageWithCookies(String, Vec<String>),
    Redirect(Cow<'static, str>, Vec<String>),
    /// A download: file name, content type, content.
    File(String, &'static str, Vec<u8>),
    /// A page for a request that the server was too busy for, and the seconds after which to try again.
    Busy(String, RetryAfter),
    /// A redirect to the home page that makes the browser forget the session, with cookies to remove.
    SignedOut(Vec<String>),
    Failed(PageError),
}

impl AccountReply {
    fn shown(page: &impl Template) -> AccountResult {
        Ok(Self::Page(StatusCode::OK, page.render()?))
    }
}

impl From<PageError> for AccountReply {
    fn from(error: PageError) -> Self {
        Self::Failed(error)
    }
}

impl From<askama::Error> for AccountReply {
    fn from(error: askama::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<AccountError> for AccountReply {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::SignedOut => Self::Redirect("/signin".into(), Vec::new()),
            AccountError::TotpChanged => Self::Redirect("/account".into(), Vec::new()),
            AccountError::NoSuchKey
            | AccountError::Watch(StoreError::NoSuchWatch | StoreError::NoSuchWebhook)
            | AccountError::Review(StoreError::NoSuchReview) => Self::Failed(PageError::UnknownPage),
            error => Self::Failed(PageError::Account(error)),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct AccountRequest<'a> {
    page: PageRequest<'a>,
    auth: &'a Arc<AuthService>,
    /// The texts in place of the placeholders of the path.
    values: PathValues<'a>,
    /// These texts as numbers; 0 if they are none.
    id: i64,
    key: i64,
    /// Empty for a request without one.
    form: &'a FormData,
    address: IpAddr,
    now: i64,
}

impl AccountRequest<'_> {
    /// Account pages are not covered by the license of the data, so they do not show the release.
    fn layout(&self, title: &str, description: &str) -> PageLayout {
        let is_invented = self.page.state.releases.current().snapshot().is_invented();
        let layout = PageLayout::plain(title, description, self.page.path, is_invented).not_indexed();
        layout.with_operator(&self.page.state.operator).closed_to(self.page)
    }

    async fn visitor(&self) -> Result<Option<Visitor>, AccountReply> {
        match cookie::find(self.page, cookie::SESSION) {
            None => Ok(None),
            Some(token) => Ok(self.auth.visitor(&token, self.now).await?),
        }
    }

    /// Redirects to the account page if an account is signed in.
    async fn not_signed_in(&self) -> Result<(), AccountReply> {
        match self.visitor().await? {
            Some(_) => Err(AccountReply::Redirect("/account".into(), Vec::new())),
            None => Ok(()),
        }
    }

    /// The signed-in account; otherwise redirects to the sign-in page.
    async fn signed_in(&self) -> Result<Visitor, AccountReply> {
        self.visitor().await?.ok_or(AccountReply::Redirect("/signin".into(), Vec::new()))
    }

    /// As [`Self::signed_in`], but sign-in returns to this page.
    async fn signed_in_to_return(&self) -> Result<Visitor, AccountReply> {
        let to_return = || AccountReply::Redirect("/signin".into(), cookie::return_cookies(self.page));
        self.visitor().await?.ok_or_else(to_return)
    }
}

/// True if the session of the request has not ended; the error is the response if the store does not answer.
pub async fn is_signed_in(request: PageRequest<'_>) -> Result<bool, Response<Vec<u8>>> {
    let Some(token) = cookie::find(request, cookie::SESSION) else { return Ok(false) };
    let found = request.state.auth.visitor(&token, request.state.now()).await;
    found.map(|visitor| visitor.is_some()).map_err(|error| respond_with(request, error.into()))
}

/// Redirects to the sign-in page, which returns to the page that was requested.
pub fn sign_in_to_return(request: PageRequest<'_>) -> Response<Vec<u8>> {
    respond_with(request, AccountReply::Redirect("/signin".into(), cookie::return_cookies(request)))
}

pub(crate) async fn answer(
    handle: AccountHandler,
    values: PathValues<'_>,
    request: PageRequest<'_>,
    form: Option<Bytes>,
    address: IpAddr,
) -> Response<Vec<u8>> {
    let is_foreign = form.is_some() && !origin::is_same(request);
    let form = FormData::new(form.unwrap_or_default(), has_content_type(request.headers, "multipart/form-data"));
    let [id, key]: [i64; 2] = values.map(|number| number.parse().unwrap_or_default());
    let (auth, now) = (&request.state.auth, request.state.now());
    let account_request = AccountRequest { page: request, auth, values, id, key, form: &form, address, now };
    let reply = if is_foreign { Err(PageError::ForeignForm.into()) } else { handle(account_request).await };
    respond_with(request, reply.unwrap_or_else(|reply| reply))
}

fn with_cookies(mut response: Response<Vec<u8>>, cookies: &[String]) -> Response<Vec<u8>> {
    for cookie in cookies {
        let value = HeaderValue::from_str(cookie).expect("names, attributes and base64 are visible ASCII");
        response.headers_mut().append(SET_COOKIE, value);
    }
    response
}

pub(crate) const CSV: &str = "text/csv; charset=utf-8; header=present";

/// `Clear-Site-Data` at sign-out: pages cached for "back", and data stored by scripts. Not `"cookies"`, which would
/// also delete cookies of other services under the same domain, and the cookie of the known browser.
const CLEAR_SITE_DATA: &str = "\"cache\", \"storage\"";

fn respond_with(request: PageRequest<'_>, reply: AccountReply) -> Response<Vec<u8>> {
    let mut response = match reply {
        AccountReply::Page(status, html) => respond(request, status, html),
        AccountReply::Busy(html, wait) => {
            let mut response = respond(request, StatusCode::SERVICE_UNAVAILABLE, html);
            set(response.headers_mut(), RETRY_AFTER, &wait.seconds.to_string());
            response
        }
        AccountReply::PageWithCookies(html, cookies) => with_cookies(respond(request, StatusCode::OK, html), &cookies),
        AccountReply::Redirect(path, cookies) => with_cookies(redirect(&path), &cookies),
        AccountReply::File(name, content_type, body) => {
            let mut response = crate::respond_with(request, StatusCode::OK, body, content_type);
            set(response.headers_mut(), "content-disposition", &format!("attachment; filename=\"{name}\""));
            response
        }
        AccountReply::SignedOut(cookies) => {
            let mut response = with_cookies(redirect("/"), &cookies);
            set(response.headers_mut(), "clear-site-data", CLEAR_SITE_DATA);
            response
        }
        AccountReply::Failed(error) => crate::fail(&error, &request.state.releases.current(), request),
    };
    CommonHeaders { caching: Some(Caching::Never), ..CommonHeaders::default() }.write(response.headers_mut());
    response
}
