//! Accounts: sign-up, sign-in, keys and usage, as forms that need no script.
//!
//! Whatever changes something is a POST that was sent from a page of this site ([`origin`]) by whom the session's cookie
//! names. A record of another account is as unknown as one that never was. Nothing here may be kept by a cache.

pub mod cookie;
pub mod form;
pub mod keys;
pub mod origin;
pub mod overview;
pub mod sign;

use std::net::IpAddr;

use http::{Response, StatusCode};

use crate::auth::account::KeyId;
use crate::auth::{AccountError, Visitor};
use crate::data::Snapshot;
use crate::http::headers::{Caching, CommonHeaders, set};
use crate::site::layout::PageLayout;

use crate::site::account::form::FormData;
use crate::site::error_page::PageError;
use crate::site::{PageRequest, respond};

/// A page of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccountRoute {
    SignUp,
    SignIn,
    SignOut,
    Account,
    Keys,
    Revoke(KeyId),
    Password,
    Delete,
}

impl AccountRoute {
    pub(crate) fn of(path: &str) -> Option<Self> {
        Some(match path {
            "/signup" => Self::SignUp,
            "/signin" => Self::SignIn,
            "/signout" => Self::SignOut,
            "/account" => Self::Account,
            "/account/keys" => Self::Keys,
            "/account/password" => Self::Password,
            "/account/delete" => Self::Delete,
            _ => {
                let key = path.strip_prefix("/account/keys/")?.strip_suffix("/revoke")?;
                Self::Revoke(KeyId(key.parse().ok().filter(|id: &i64| id.to_string() == key)?))
            }
        })
    }

    /// Whether a form can be sent here.
    pub(crate) fn takes_forms(self) -> bool {
        self != Self::Account
    }

    /// Whether there is something to be read here.
    pub(crate) fn is_read(self) -> bool {
        !matches!(self, Self::SignOut | Self::Keys | Self::Password)
    }

    /// The value of `Allow`.
    pub(crate) fn methods(self) -> &'static str {
        match (self.is_read(), self.takes_forms()) {
            (true, true) => "GET, HEAD, POST",
            (true, false) => "GET, HEAD",
            _ => "POST",
        }
    }
}

/// What a page of an account answers.
pub(crate) enum Reply {
    /// A page with its status.
    Page(StatusCode, String),
    /// Another page, with a cookie where one is set or taken away.
    To(&'static str, Option<String>),
    /// The same, after what did not work.
    Failed(PageError),
}

impl From<PageError> for Reply {
    fn from(failure: PageError) -> Self {
        Self::Failed(failure)
    }
}

impl From<askama::Error> for Reply {
    fn from(_: askama::Error) -> Self {
        Self::Failed(PageError::Broken)
    }
}

impl From<AccountError> for Reply {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::SignedOut => Self::To("/signin", None),
            AccountError::NoSuchKey => Self::Failed(PageError::NoPage),
            error => Self::Failed(PageError::Refused(error)),
        }
    }
}

/// A request for a page of an account.
#[derive(Clone, Copy)]
pub(crate) struct AccountRequest<'a> {
    visit: PageRequest<'a>,
    /// Who asks.
    address: IpAddr,
    now: i64,
}

impl AccountRequest<'_> {
    fn frame(&self, snapshot: &Snapshot, title: &str, about: &str) -> PageLayout {
        // The data's licence does not cover what stands on these pages.
        PageLayout { release: None, ..PageLayout::of(snapshot, title, about, self.visit.path).unlisted() }
    }

    /// Who is signed in, if somebody is.
    async fn visitor(&self) -> Result<Option<Visitor>, Reply> {
        match cookie::token(self.visit) {
            None => Ok(None),
            Some(token) => Ok(self.visit.state.access.visitor(&token, self.now).await?),
        }
    }

    /// Who is signed in; others are led to the sign-in.
    async fn signed_in(&self) -> Result<Visitor, Reply> {
        self.visitor().await?.ok_or(Reply::To("/signin", None))
    }
}

/// Responds to a request for a page of an account; `form` is the body of a POST.
pub(crate) async fn answer(
    place: AccountRoute,
    visit: PageRequest<'_>,
    form: Option<FormData>,
    address: IpAddr,
) -> Response<Vec<u8>> {
    let asked = AccountRequest { visit, address, now: visit.state.now() };
    let reply = match form {
        None => read(place, asked).await,
        Some(_) if !origin::is_own(visit) => Err(PageError::ForeignForm.into()),
        Some(form) => change(place, asked, &form).await,
    };
    replied(visit, reply.unwrap_or_else(|reply| reply))
}

async fn read(place: AccountRoute, asked: AccountRequest<'_>) -> Result<Reply, Reply> {
    match place {
        AccountRoute::SignUp => sign::up_page(asked).await,
        AccountRoute::SignIn => sign::in_page(asked).await,
        AccountRoute::Account => overview::page(asked).await,
        AccountRoute::Revoke(key) => keys::revoke_page(asked, key).await,
        AccountRoute::Delete => overview::delete_page(asked).await,
        AccountRoute::SignOut | AccountRoute::Keys | AccountRoute::Password => Err(PageError::NoPage.into()),
    }
}

async fn change(place: AccountRoute, asked: AccountRequest<'_>, form: &FormData) -> Result<Reply, Reply> {
    match place {
        AccountRoute::SignUp => sign::up(asked, form).await,
        AccountRoute::SignIn => sign::r#in(asked, form).await,
        AccountRoute::SignOut => sign::out(asked).await,
        AccountRoute::Keys => keys::create(asked, form).await,
        AccountRoute::Revoke(key) => keys::revoke(asked, key).await,
        AccountRoute::Password => overview::change_password(asked, form).await,
        AccountRoute::Delete => overview::delete(asked, form).await,
        AccountRoute::Account => Err(PageError::NoPage.into()),
    }
}

fn replied(visit: PageRequest<'_>, reply: Reply) -> Response<Vec<u8>> {
    let mut response = match reply {
        Reply::Page(status, html) => respond(visit, status, html),
        Reply::To(path, cookie) => {
            let mut response = Response::new(Vec::new());
            *response.status_mut() = StatusCode::SEE_OTHER;
            set(response.headers_mut(), "location", path);
            if let Some(cookie) = cookie {
                set(response.headers_mut(), "set-cookie", &cookie);
            }
            crate::site::PAGE.write(response.headers_mut());
            response
        }
        Reply::Failed(failure) => crate::site::fail(&failure, &visit.state.live.current(), visit),
    };
    CommonHeaders { caching: Some(Caching::Never), ..CommonHeaders::default() }.write(response.headers_mut());
    response
}
