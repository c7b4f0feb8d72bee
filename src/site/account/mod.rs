//! Account pages: sign-up, sign-in, keys and usage, as forms that work without a script.
//!
//! A change is a POST from a page of this site ([`origin`]) with the cookie of a session. A key of another account is
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
    /// The requests of each key and day, as CSV.
    Usage,
    /// What is stored about the account, as JSON.
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
    /// The colors of pages, which need no account.
    Theme,
    /// Saved searches and lists.
    Saved(SavedRoute),
    Webhooks(WebhookRoute),
    /// Of operators.
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

    pub fn of(path: &str) -> Option<Self> {
        if let Some((_, route)) = Self::BY_PATH.iter().find(|(known, _)| *known == path) {
            return Some(*route);
        }
        let number = |start, end| {
            let text = path.strip_prefix(start)?.strip_suffix(end)?;
            text.parse().ok().filter(|id: &i64| id.to_string() == text)
        };
        if let Some(route) = SavedRoute::of(path) {
            return Some(Self::Saved(route));
        }
        if let Some(route) = WebhookRoute::of(path) {
            return Some(Self::Webhooks(route));
        }
        if let Some(route) = AdminRoute::of(path) {
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

    /// Whether a form can be sent to this page.
    pub fn takes_forms(self) -> bool {
        match self {
            Self::Account | Self::Totp | Self::Key(_) | Self::Usage | Self::Export => false,
            Self::Saved(route) => route.takes_forms(),
            Self::Admin(route) => route.takes_forms(),
            _ => true,
        }
    }

    /// Whether its form may have a file, or the records of a list.
    pub fn takes_files(self) -> bool {
        matches!(self, Self::Saved(route) if route.takes_files())
    }

    /// Whether this page can be read with GET.
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

pub(crate) enum Reply {
    Page(StatusCode, String),
    /// A page with the cookies of another session.
    NewSession(String, Vec<String>),
    /// To another page, with the cookies that are set or removed.
    Redirect(Cow<'static, str>, Vec<String>),
    /// A file to download, with its name and type.
    File(String, &'static str, Vec<u8>),
    /// To the home page: the browser forgets the session, with the cookies that are removed.
    SignedOut(Vec<String>),
    Failed(PageError),
}

impl From<PageError> for Reply {
    fn from(error: PageError) -> Self {
        Self::Failed(error)
    }
}

impl From<askama::Error> for Reply {
    fn from(error: askama::Error) -> Self {
        Self::Failed(error.into())
    }
}

impl From<AccountError> for Reply {
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
        // The license of the data does not cover account pages, so they do not show the release.
        let layout = PageLayout::of(snapshot, title, description, self.page.path).not_indexed();
        PageLayout { release: None, ..layout.by(&self.page.state.operator) }
    }

    async fn visitor(&self) -> Result<Option<Visitor>, Reply> {
        match cookie::session(self.page) {
            None => Ok(None),
            Some(token) => Ok(self.page.state.auth.visitor(&token, self.now).await?),
        }
    }

    /// A redirect to the account page if an account is signed in.
    async fn not_signed_in(&self) -> Result<(), Reply> {
        match self.visitor().await? {
            Some(_) => Err(Reply::Redirect("/account".into(), Vec::new())),
            None => Ok(()),
        }
    }

    /// The account that is signed in, else a redirect to the sign-in page.
    async fn signed_in(&self) -> Result<Visitor, Reply> {
        self.visitor().await?.ok_or(Reply::Redirect("/signin".into(), Vec::new()))
    }

    /// The same; whoever signs in then comes back to this page.
    async fn signed_in_to_return(&self) -> Result<Visitor, Reply> {
        let to_return = || Reply::Redirect("/signin".into(), cookie::set_return(self.page));
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
        None => read(route, account_request).await,
        Some(_) if !origin::is_same(request) => Err(PageError::ForeignForm.into()),
        Some(form) => change(route, account_request, &form).await,
    };
    respond_with(request, reply.unwrap_or_else(|reply| reply))
}

async fn read(route: AccountRoute, request: AccountRequest<'_>) -> Result<Reply, Reply> {
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
        AccountRoute::Saved(route) => saved::read(route, request).await,
        AccountRoute::Webhooks(_) => saved::webhooks::page(request).await,
        AccountRoute::Admin(route) => admin::read(route, request).await,
        _ => Err(PageError::UnknownPage.into()),
    }
}

async fn change(route: AccountRoute, request: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
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
        AccountRoute::Saved(route) => saved::change(route, request, form).await,
        AccountRoute::Webhooks(route) => saved::webhooks::change(route, request, form).await,
        AccountRoute::Admin(route) => admin::change(route, request, form).await,
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

/// What a browser forgets when its session ends: pages that it kept for "back", and what scripts stored. Not `"cookies"`: that
/// would also delete those of other services under the same domain, and that of a known browser.
const CLEAR_SITE_DATA: &str = "\"cache\", \"storage\"";

fn respond_with(request: PageRequest<'_>, reply: Reply) -> Response<Vec<u8>> {
    let mut response = match reply {
        Reply::Page(status, html) => respond(request, status, html),
        Reply::NewSession(html, cookies) => with_cookies(respond(request, StatusCode::OK, html), &cookies),
        Reply::Redirect(path, cookies) => with_cookies(redirect(&path), &cookies),
        Reply::File(name, content_type, body) => {
            let mut response = crate::respond_with(request, StatusCode::OK, body, content_type);
            set(response.headers_mut(), "content-disposition", &format!("attachment; filename=\"{name}\""));
            response
        }
        Reply::SignedOut(cookies) => {
            let mut response = with_cookies(redirect("/"), &cookies);
            set(response.headers_mut(), "clear-site-data", CLEAR_SITE_DATA);
            response
        }
        Reply::Failed(error) => crate::fail(&error, &request.state.releases.current(), request),
    };
    CommonHeaders { caching: Some(Caching::Never), ..CommonHeaders::default() }.write(response.headers_mut());
    response
}
