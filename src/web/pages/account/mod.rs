//! Accounts: sign-up, sign-in, keys and usage, as forms that need no script.
//!
//! Whatever changes something is a POST that was sent from a page of this site ([`origin`]) by whom the session's cookie
//! names. A record of another account is as unknown as one that never was. Nothing here may be kept by a cache.

mod cookie;
mod form;
mod keys;
mod origin;
mod own;
mod sign;

use std::net::IpAddr;

use http::{HeaderMap, Response, StatusCode};

use crate::access::account::KeyId;
use crate::access::{AccountError, Visitor};
use crate::dataset::Snapshot;
use crate::web::frame::Frame;
use crate::web::headers::set;

pub use form::{Form, MOST_BYTES};

use super::failure::Failure;
use super::{Visit, respond};

/// A page of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    SignUp,
    SignIn,
    SignOut,
    Account,
    Keys,
    Revoke(KeyId),
    Password,
    Delete,
}

impl Place {
    fn of(path: &str) -> Option<Self> {
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
    fn takes_forms(self) -> bool {
        self != Self::Account
    }

    /// Whether there is something to be read here.
    fn is_read(self) -> bool {
        !matches!(self, Self::SignOut | Self::Keys | Self::Password)
    }
}

/// The methods that a path takes, as `Allow` names them; `None` where no page of an account has it.
#[must_use]
pub fn methods(path: &str) -> Option<&'static str> {
    let place = Place::of(path)?;
    Some(match (place.is_read(), place.takes_forms()) {
        (true, true) => "GET, HEAD, POST",
        (true, false) => "GET, HEAD",
        _ => "POST",
    })
}

/// Whether a form can be sent to a path.
#[must_use]
pub fn takes_forms(path: &str) -> bool {
    Place::of(path).is_some_and(Place::takes_forms)
}

/// What a page of an account answers.
enum Reply {
    /// A page with its status.
    Page(StatusCode, String),
    /// Another page, with a cookie where one is set or taken away.
    To(&'static str, Option<String>),
    /// The same, after what did not work.
    Failed(Failure),
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<askama::Error> for Reply {
    fn from(_: askama::Error) -> Self {
        Self::Failed(Failure::Broken)
    }
}

impl From<AccountError> for Reply {
    fn from(error: AccountError) -> Self {
        match error {
            AccountError::SignedOut => Self::To("/signin", None),
            AccountError::NoSuchKey => Self::Failed(Failure::NoPage),
            error => Self::Failed(Failure::Refused(error)),
        }
    }
}

/// A request for a page of an account.
#[derive(Clone, Copy)]
struct Asked<'a> {
    visit: Visit<'a>,
    /// Who asks.
    address: IpAddr,
    now: i64,
}

impl Asked<'_> {
    fn frame(&self, snapshot: &Snapshot, title: &str, about: &str) -> Frame {
        // The data's licence does not cover what stands on these pages.
        Frame { release: None, ..Frame::of(snapshot, title, about, self.visit.path).unlisted() }
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

/// Answers a request for a page of an account; `form` is what was sent, of a POST. `None` where no such page has its path,
/// or does not take the method.
pub async fn answer(visit: Visit<'_>, form: Option<Form>, address: IpAddr) -> Option<Response<Vec<u8>>> {
    let place = Place::of(visit.path)?;
    let fits = if form.is_some() { place.takes_forms() } else { place.is_read() };
    if !fits {
        return None;
    }
    let asked = Asked { visit, address, now: visit.state.now() };
    let reply = match form {
        None => read(place, asked).await,
        Some(_) if !origin::is_own(visit) => Err(Failure::ForeignForm.into()),
        Some(form) => change(place, asked, &form).await,
    };
    Some(replied(visit, reply.unwrap_or_else(|reply| reply)))
}

async fn read(place: Place, asked: Asked<'_>) -> Result<Reply, Reply> {
    match place {
        Place::SignUp => sign::up_page(asked).await,
        Place::SignIn => sign::in_page(asked).await,
        Place::Account => own::page(asked).await,
        Place::Revoke(key) => keys::revoke_page(asked, key).await,
        Place::Delete => own::delete_page(asked).await,
        Place::SignOut | Place::Keys | Place::Password => Err(Failure::NoPage.into()),
    }
}

async fn change(place: Place, asked: Asked<'_>, form: &Form) -> Result<Reply, Reply> {
    match place {
        Place::SignUp => sign::up(asked, form).await,
        Place::SignIn => sign::r#in(asked, form).await,
        Place::SignOut => sign::out(asked).await,
        Place::Keys => keys::create(asked, form).await,
        Place::Revoke(key) => keys::revoke(asked, key).await,
        Place::Password => own::change_password(asked, form).await,
        Place::Delete => own::delete(asked, form).await,
        Place::Account => Err(Failure::NoPage.into()),
    }
}

fn replied(visit: Visit<'_>, reply: Reply) -> Response<Vec<u8>> {
    let mut response = match reply {
        Reply::Page(status, html) => respond(visit, status, html),
        Reply::To(path, cookie) => {
            let mut response = Response::new(Vec::new());
            *response.status_mut() = StatusCode::SEE_OTHER;
            set(response.headers_mut(), "location", path);
            if let Some(cookie) = cookie {
                set(response.headers_mut(), "set-cookie", &cookie);
            }
            super::write_policy(response.headers_mut());
            response
        }
        Reply::Failed(failure) => super::fail(&failure, &visit.state.live.current(), visit),
    };
    let headers: &mut HeaderMap = response.headers_mut();
    set(headers, "cache-control", "no-store");
    response
}
