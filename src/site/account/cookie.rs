//! The session's cookie.
//!
//! Over https it is `Secure` and bears the prefix `__Host-`, so that no other host and no plain connection can set it.

use http::header::COOKIE;

use crate::auth::NewSession;
use crate::auth::session::{SESSION_SECONDS, SessionToken};
use crate::http::State;

use crate::site::account::PageRequest;

/// The cookie's name, and what makes it safe, for a service at an address.
fn manner(state: &State) -> (&'static str, &'static str) {
    if state.public_url.starts_with("https://") {
        ("__Host-session", "; Path=/; HttpOnly; SameSite=Lax; Secure")
    } else {
        ("session", "; Path=/; HttpOnly; SameSite=Lax")
    }
}

/// The token that a request shows.
pub(crate) fn token(visit: PageRequest<'_>) -> Option<SessionToken> {
    let (name, _) = manner(visit.state);
    let sent = visit.headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = sent.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).and_then(|(_, token)| token.parse().ok())
}

/// The cookie of a session that was just begun.
pub(crate) fn begun(state: &State, session: &NewSession) -> String {
    let (name, safety) = manner(state);
    format!("{name}={}{safety}; Max-Age={SESSION_SECONDS}", session.token.reveal())
}

/// The cookie that takes away the one of a session.
pub(crate) fn ended(state: &State) -> String {
    let (name, safety) = manner(state);
    format!("{name}={safety}; Max-Age=0")
}
