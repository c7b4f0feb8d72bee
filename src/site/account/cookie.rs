//! The session cookie. Over https it is `Secure` and has the prefix `__Host-`, so that neither another host nor an http
//! connection can set it.

use http::header::COOKIE;

use crate::auth::StartedSession;
use crate::auth::session::{SESSION_SECONDS, SessionToken};
use crate::http::State;
use crate::site::PageRequest;

fn name_and_attributes(state: &State) -> (&'static str, &'static str) {
    if state.public_url.starts_with("https://") {
        ("__Host-session", "; Path=/; HttpOnly; SameSite=Lax; Secure")
    } else {
        ("session", "; Path=/; HttpOnly; SameSite=Lax")
    }
}

pub(crate) fn token(request: PageRequest<'_>) -> Option<SessionToken> {
    let (name, _) = name_and_attributes(request.state);
    let values = request.headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = values.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(known, _)| *known == name).and_then(|(_, token)| token.parse().ok())
}

/// The `Set-Cookie` of a new session.
pub(crate) fn set(state: &State, session: &StartedSession) -> String {
    let (name, attributes) = name_and_attributes(state);
    format!("{name}={}{attributes}; Max-Age={SESSION_SECONDS}", session.token.reveal())
}

/// The `Set-Cookie` that removes the session cookie.
pub(crate) fn remove(state: &State) -> String {
    let (name, attributes) = name_and_attributes(state);
    format!("{name}={attributes}; Max-Age=0")
}
