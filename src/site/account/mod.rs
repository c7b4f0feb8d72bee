//! Account pages: sign-up, sign-in, keys and usage, as forms that work without a script.
//!
//! Changes are made by POST from a page of this site ([`origin`]) with a session cookie. A key of another account is
//! reported as unknown, like one that does not exist. No response may be cached.

pub(crate) mod admin;
mod confirm;
pub(super) mod cookie;
mod export;
pub mod form;
mod keys;
mod mail;
mod origin;
mod overview;
pub(super) mod saved;
mod sign;
mod theme;
mod totp;

use std::borrow::Cow;
use std::net::IpAddr;

use http::header::SET_COOKIE;
use http::{HeaderValue, Response, StatusCode};

pub(crate) use crate::account::admin::AdminRoute;
use crate::account::form::FormData;
pub(crate) use crate::account::saved::{SavedRoute, WebhookRoute};
use crate::error_page::PageError;
use crate::layout::PageLayout;
use crate::{PageRequest, redirect, respond};
use auth::account::KeyId;
use auth::session::SessionId;
use auth::{AccountError, StoreError, Visitor};
use data::Snapshot;
use transport::headers::{Caching, CommonHeaders, set};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountRoute {
    SignUp,
    SignIn,
    SignInCode,
    SignOut,
    Account,
    Keys,
    /// An active key.
    Key(KeyId),
    /// Requests by key and day, as CSV.
    Usage,
    /// Everything stored about the account, as JSON.
    Export,
    Revoke(KeyId),
    Rotate(KeyId),
    EndSession(SessionId),
    Password,
    Totp,
    TotpSetup,
    TotpEnable,
    TotpDisable,
    RecoveryCodes,
    SendVerification,
    Verify,
    RequestReset,
    Reset,
    Delete,
    /// The theme, which needs no account.
    Theme,
    /// Saved searches and lists.
    Saved(SavedRoute),
    Webhooks(WebhookRoute),
    /// Pages of operators.
    Admin(AdminRoute),
}

impl AccountRoute {
    /// The routes without a number, by path.
    const BY_PATH: [(&str, Self); 20] = [
        ("/signup", Self::SignUp),
        ("/signin", Self::SignIn),
        ("/signin/code", Self::SignInCode),
        ("/signout", Self::SignOut),
        ("/account", Self::Account),
        ("/account/keys", Self::Keys),
        ("/account/usage.csv", Self::Usage),
        ("/account/export.json", Self::Export),
        ("/account/password", Self::Password),
        ("/account/totp", Self::Totp),
        ("/account/totp/setup", Self::TotpSetup),
        ("/account/totp/enable", Self::TotpEnable),
        ("/account/totp/disable", Self::TotpDisable),
        ("/account/totp/codes", Self::RecoveryCodes),
        ("/account/verification", Self::SendVerification),
        ("/verify", Self::Verify),
        ("/reset", Self::RequestReset),
        ("/reset/password", Self::Reset),
        ("/account/delete", Self::Delete),
        ("/theme", Self::Theme),
    ];

    pub fn parse(path: &str) -> Option<Self> {
        if let Some((_, route)) = Self::BY_PATH.iter().find(|(known, _)| *known == path) {
            return Some(*route);
        }
        let number = |start, end| {
            let text = path.strip_prefix(start)?.strip_suffix(end)?;
            text.parse().ok().filter(|id: &i64| id.to_string() == text)
        };
        if let Some(route) = SavedRoute::parse(path) {
            return Some(Self::Saved(route));
        }
        if let Some(route) = WebhookRoute::parse(path) {
            return Some(Self::Webhooks(route));
        }
        if let Some(route) = AdminRoute::parse(path) {
            return Some(Self::Admin(route));
        }
        number("/account/keys/", "/revoke")
            .map(|id| Self::Revoke(KeyId(id)))
            .or_else(|| number("/account/keys/", "/rotate").map(|id| Self::Rotate(KeyId(id))))
            .or_else(|| number("/account/keys/", "").map(|id| Self::Key(KeyId(id))))
            .or_else(|| number("/account/sessions/", "/end").map(|id| Self::EndSession(SessionId(id))))
    }

    /// The path without its number.
    pub fn label(self) -> &'static str {
        match self {
            Self::Key(_) => "/account/keys/{id}",
            Self::Revoke(_) => "/account/keys/{id}/revoke",
            Self::Rotate(_) => "/account/keys/{id}/rotate",
            Self::EndSession(_) => "/account/sessions/{id}/end",
            Self::Saved(route) => route.label(),
            Self::Webhooks(route) => route.label(),
            Self::Admin(route) => route.label(),
            route => Self::BY_PATH.iter().find(|(_, known)| *known == route).map_or("/account", |(path, _)| path),
        }
    }

    /// True if the page accepts POST.
    pub fn takes_forms(self) -> bool {
        match self {
            Self::Account | Self::Totp | Self::Key(_) | Self::Usage | Self::Export => false,
            Self::Saved(route) => route.takes_forms(),
            Self::Admin(route) => route.takes_forms(),
            _ => true,
        }
    }

    /// True if the form may contain a file, or the records of a list.
    pub fn takes_files(self) -> bool {
        matches!(self, Self::Saved(route) if route.takes_files())
    }

    /// True if the page can be read with GET.
    pub fn is_read(self) -> bool {
        match self {
            Self::SignUp
            | Self::SignIn
            | Self::Account
            | Self::Key(_)
            | Self::Usage
            | Self::Export
            | Self::Revoke(_)
            | Self::Rotate(_)
            | Self::Totp
            | Self::Verify
            | Self::RequestReset
            | Self::Reset
            | Self::Delete => true,
            Self::Saved(route) => route.is_read(),
            Self::Webhooks(route) => route == WebhookRoute::All,
            Self::Admin(route) => route.is_read(),
            Self::SignInCode
            | Self::SignOut
            | Self::Keys
            | Self::EndSession(_)
            | Self::Password
            | Self::SendVerification
            | Self::TotpSetup
            | Self::TotpEnable
            | Self::TotpDisable
            | Self::RecoveryCodes
            | Self::Theme => false,
        }
    }

    /// The value of `Allow`.
    pub fn methods(self) -> &'static str {
        match (self.is_read(), self.takes_forms()) {
            (true, true) => "GET, HEAD, OPTIONS, POST",
            (true, false) => "GET, HEAD, OPTIONS",
            _ => "OPTIONS, POST",
        }
    }
}

pub(crate) enum AccountReply {
    Page(StatusCode, String),
    /// A page, and cookies of a new session.
    NewSession(String, Vec<String>),
    /// A redirect, with cookies to set or remove.
    Redirect(Cow<'static, str>, Vec<String>),
    /// A download: file name, content type, content.
    File(String, &'static str, Vec<u8>),
    /// A redirect to the home page that makes the browser forget the session, with cookies to remove.
    SignedOut(Vec<String>),
    Failed(PageError),
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
            AccountError::NoSuchKey | AccountError::Watch(StoreError::NoSuchWatch | StoreError::NoSuchWebhook) => {
                Self::Failed(PageError::UnknownPage)
            }
            error => Self::Failed(PageError::Account(error)),
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct AccountRequest<'a> {
    page: PageRequest<'a>,
    address: IpAddr,
    now: i64,
}

impl AccountRequest<'_> {
    fn layout(&self, snapshot: &Snapshot, title: &str, description: &str) -> PageLayout {
        // Account pages are not covered by the license of the data, so they do not show the release.
        let layout = PageLayout::new(snapshot, title, description, self.page.path).not_indexed();
        PageLayout { release: None, ..layout.with_operator(&self.page.state.operator) }
    }

    async fn visitor(&self) -> Result<Option<Visitor>, AccountReply> {
        match cookie::session(self.page) {
            None => Ok(None),
            Some(token) => Ok(self.page.state.auth.visitor(&token, self.now).await?),
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

/// The response to a request for an account page; `form` is the body of a POST.
pub async fn answer(
    route: AccountRoute,
    request: PageRequest<'_>,
    form: Option<FormData>,
    address: IpAddr,
) -> Response<Vec<u8>> {
    let account_request = AccountRequest { page: request, address, now: request.state.now() };
    let reply = match form {
        None => get_page(route, account_request).await,
        Some(_) if !origin::is_same(request) => Err(PageError::ForeignForm.into()),
        Some(form) => post_form(route, account_request, &form).await,
    };
    respond_with(request, reply.unwrap_or_else(|reply| reply))
}

async fn get_page(route: AccountRoute, request: AccountRequest<'_>) -> Result<AccountReply, AccountReply> {
    match route {
        AccountRoute::SignUp => sign::sign_up_page(request).await,
        AccountRoute::SignIn => sign::sign_in_page(request).await,
        AccountRoute::Account => overview::page(request).await,
        AccountRoute::Key(key) => keys::key_page(request, key).await,
        AccountRoute::Usage => export::usage(request).await,
        AccountRoute::Export => export::everything(request).await,
        AccountRoute::Revoke(key) => keys::revoke_page(request, key).await,
        AccountRoute::Rotate(key) => keys::rotate_page(request, key).await,
        AccountRoute::Totp => totp::page(request).await,
        AccountRoute::Verify => mail::verify_page(request),
        AccountRoute::RequestReset => mail::request_reset_page(request),
        AccountRoute::Reset => mail::reset_page(request).await,
        AccountRoute::Delete => overview::delete_page(request).await,
        AccountRoute::Saved(route) => saved::get_page(route, request).await,
        AccountRoute::Webhooks(_) => saved::webhooks::page(request).await,
        AccountRoute::Admin(route) => admin::get_page(route, request).await,
        _ => Err(PageError::UnknownPage.into()),
    }
}

async fn post_form(
    route: AccountRoute,
    request: AccountRequest<'_>,
    form: &FormData,
) -> Result<AccountReply, AccountReply> {
    match route {
        AccountRoute::SignUp => sign::sign_up(request, form).await,
        AccountRoute::SignIn => sign::sign_in(request, form).await,
        AccountRoute::SignOut => sign::sign_out(request).await,
        AccountRoute::Keys => keys::create(request, form).await,
        AccountRoute::Revoke(key) => keys::revoke(request, key).await,
        AccountRoute::Rotate(key) => keys::rotate(request, key, form).await,
        AccountRoute::EndSession(session) => overview::end_session(request, session).await,
        AccountRoute::Password => overview::change_password(request, form).await,
        AccountRoute::SignInCode => sign::sign_in_with_code(request, form).await,
        AccountRoute::TotpSetup => totp::set_up(request, form).await,
        AccountRoute::TotpEnable => totp::enable(request, form).await,
        AccountRoute::TotpDisable => totp::disable(request, form).await,
        AccountRoute::RecoveryCodes => totp::renew_codes(request, form).await,
        AccountRoute::SendVerification => mail::send_verification(request).await,
        AccountRoute::Verify => mail::verify(request, form).await,
        AccountRoute::RequestReset => mail::request_reset(request, form).await,
        AccountRoute::Reset => mail::reset(request, form).await,
        AccountRoute::Delete => overview::delete(request, form).await,
        AccountRoute::Theme => theme::choose(request, form),
        AccountRoute::Saved(route) => saved::post_form(route, request, form).await,
        AccountRoute::Webhooks(route) => saved::webhooks::post_form(route, request, form).await,
        AccountRoute::Admin(route) => admin::post_form(route, request, form).await,
        AccountRoute::Account
        | AccountRoute::Totp
        | AccountRoute::Key(_)
        | AccountRoute::Usage
        | AccountRoute::Export => Err(PageError::UnknownPage.into()),
    }
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
        AccountReply::NewSession(html, cookies) => with_cookies(respond(request, StatusCode::OK, html), &cookies),
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
